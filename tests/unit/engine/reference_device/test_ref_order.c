/* What is said of a host program before it runs: two accounts agree about programs of the corpus, and each pair of
 * statements and each buffer is looked at. */
#include "engine/reference_device/ref_order.h"
#include "tests/unit/shared/support.h"

#include <string.h>

static struct host_program *read_program(const char *name)
{
    struct diag diag;
    size_t length;
    const char *path = arena_printf(&test_arena, "%s/corpus/host/%s", SIMTFUZZ_SOURCE_DIR, name);
    diag_init(&diag, name, NULL, 0);
    const char *text = parse_read_file(&test_arena, path, &length, &diag);
    assert_non_null(text);
    struct host_program *p = host_parse(&test_arena, path, text, length, &diag);
    assert_non_null(p);
    return p;
}

static void check(const char *name)
{
    struct host_program *p = read_program(name);
    uint32_t at;
    assert_null(ref_order_differs(&test_arena, p, &at));
    for (uint32_t b = 0; b < p->count; b++)
        for (uint32_t a = 0; a < p->count; a++) {
            if (a == b)
                continue;
            p->before[b][a / 64] ^= (uint64_t)1 << a % 64;
            assert_non_null(ref_order_differs(&test_arena, p, &at));
            assert_int_equal(at, b);
            p->before[b][a / 64] ^= (uint64_t)1 << a % 64;
        }
    for (uint32_t k = 0; k < p->array_count; k++) {
        if (p->arrays[k].is_host)
            continue;
        p->arrays[k].base++;
        assert_non_null(ref_order_differs(&test_arena, p, &at));
        p->arrays[k].base--;
    }
}

static void orders(void **state)
{
    (void)state;
    check("double-buffer.host");
    check("last-block.host");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(orders)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
