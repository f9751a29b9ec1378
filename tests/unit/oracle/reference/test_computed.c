/*
 * Instructions by themselves: drawn ones compute what the reference says, and of those that are always asked none
 * differs.
 */
#include "oracle/reference/computed.h"

#include "tests/unit/shared/support.h"

enum { SEEDS = 4000 };

static void drawn_ones_agree(void **state)
{
    struct computed_differs differs;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        if (!computed_agrees(&test_arena, seed, &differs))
            fail_msg("seed %llu: %s of 0x%llx, 0x%llx, 0x%llx is 0x%llx, by the reference 0x%llx",
                     (unsigned long long)seed, differs.text, (unsigned long long)differs.sources[0],
                     (unsigned long long)differs.sources[1], (unsigned long long)differs.sources[2],
                     (unsigned long long)differs.engine, (unsigned long long)differs.reference);
}

static void none_of_the_list_differs(void **state)
{
    (void)state;
    for (uint32_t opcode = 0; opcode < PTX_OPCODE_COUNT; opcode++)
        assert_null(computed_fault(&test_arena, (enum ptx_opcode)opcode));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_ones_agree),
        cmocka_unit_test(none_of_the_list_differs),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
