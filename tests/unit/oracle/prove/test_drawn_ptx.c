/* Drawn kernels in PTX parse, and what formulas say of them is what executions do. */
#include "oracle/prove/drawn_ptx.h"

#include "engine/input/input.h"
#include "oracle/prove/follow.h"
#include "tests/unit/shared/support.h"

enum { KERNELS = 400 };

static void followed(void **state)
{
    uint32_t count = 0;
    (void)state;
    for (uint64_t seed = 0; seed < KERNELS; seed++) {
        uint32_t pairs = 0;
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = drawn_ptx(&test_arena, seed);
        struct follow_fault fault =
            follow_executions(&test_arena, forms_new(&test_arena, kernel),
                              (struct follow_claims){.cut = NULL}, seed, &pairs);
        if (fault.what)
            fail_msg("%s: %s\n%s", fault.what, fault.why,
                     print_kernel(&test_arena, kernel));
        count += pairs > 0;
        arena_release(&test_arena, mark);
    }
    assert_true(count > KERNELS * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(followed)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
