/* What observers are told of accesses over caches, and what they must not be. */
#include "engine/reference_caches/ref_caches.h"

#include "tests/unit/shared/support.h"

/* Two lanes store to word 4, and lane 1 stays; lane 2 to word 8, in an operation of its own. */
static struct ref_operation operations[] = {{.line = 16,
                                             .bytes = 4,
                                             .count = 1,
                                             .lanes = {true, true},
                                             .writes = {false, true},
                                             .byte = {16, 16},
                                             .values = {{0}, {7}}},
                                            {.line = 32,
                                             .bytes = 4,
                                             .count = 1,
                                             .lanes = {[2] = true},
                                             .writes = {[2] = true},
                                             .byte = {[2] = 32},
                                             .values = {[2] = {9}}}};

static const struct {
    const char *what;
    bool right;
    uint32_t count;
    struct ref_access heard[3];
} rows[] = {
    {"as it is", true, 3, {{REF_WRITE, 10, 4, 5}, {REF_WRITE, 11, 4, 7}, {REF_WRITE, 12, 8, 9}}},
    {"who does not stay is told last",
     false,
     3,
     {{REF_WRITE, 11, 4, 7}, {REF_WRITE, 10, 4, 5}, {REF_WRITE, 12, 8, 9}}},
    {"another place first",
     true,
     3,
     {{REF_WRITE, 12, 8, 9}, {REF_WRITE, 10, 4, 5}, {REF_WRITE, 11, 4, 7}}},
    {"one is missing", false, 2, {{REF_WRITE, 10, 4, 5}, {REF_WRITE, 11, 4, 7}}},
    {"one is told twice",
     false,
     3,
     {{REF_WRITE, 11, 4, 7}, {REF_WRITE, 11, 4, 7}, {REF_WRITE, 12, 8, 9}}},
    {"another value",
     false,
     3,
     {{REF_WRITE, 10, 4, 5}, {REF_WRITE, 11, 4, 6}, {REF_WRITE, 12, 8, 9}}},
    {"another word",
     false,
     3,
     {{REF_WRITE, 10, 4, 5}, {REF_WRITE, 11, 5, 7}, {REF_WRITE, 12, 8, 9}}},
    {"another kind",
     false,
     3,
     {{REF_WRITE, 10, 4, 5}, {REF_READ, 11, 4, 7}, {REF_WRITE, 12, 8, 9}}},
    {"a thread that does nothing",
     false,
     3,
     {{REF_WRITE, 10, 4, 5}, {REF_WRITE, 13, 4, 7}, {REF_WRITE, 12, 8, 9}}}};

static void told(void **state)
{
    (void)state;
    struct ref_caches m = {.private_bytes = 64, .operations = operations, .operation_count = 2};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ref_telling telling = {REF_WRITE, rows[i].heard, rows[i].count, 1, 10};
        if (ref_are_told(&m, 0, &telling) != rows[i].right)
            fail_msg("%s", rows[i].what);
    }
    m.private_bytes = 0; /* nobody hears of local memory */
    const struct ref_telling nothing = {REF_WRITE, rows[0].heard, 0, 1, 10};
    assert_true(ref_are_told(&m, 0, &nothing));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(told)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
