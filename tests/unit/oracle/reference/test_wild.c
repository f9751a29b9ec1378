/*
 * Small kernels over the whole grammar, under subjects and schedules that are drawn: the engine does what the reference
 * does, and every subject, and every way to end, is among what is drawn. SIMTFUZZ_WILD=N asks about N kernels.
 */
#include "oracle/reference/wild.h"

#include "tests/unit/shared/support.h"

#include <stdlib.h>

enum { NUMBERS = 3000 };

static void they_agree(void **state)
{
    uint32_t of_subject[SUBJECT_COUNT] = {0}, ends[STATUS_COUNT] = {0}, refused = 0, lost = 0;
    (void)state;
    const char *many = getenv("SIMTFUZZ_WILD");
    const uint64_t numbers = many ? strtoull(many, NULL, 10) : NUMBERS;
    for (uint64_t n = 1; n <= numbers; n++) {
        size_t mark = arena_mark(&test_arena);
        struct wild_run x;
        if (!wild_agrees(&test_arena, n, &x))
            fail_msg(
                "number %llu: `%s`, %s: %s, by the reference %s; %s\n%s", (unsigned long long)n,
                subject_table[x.subject].name, x.differs ? x.differs : x.follower->observable,
                x.differs ? "" : x.follower->engine_has, x.differs ? "" : x.follower->reference_has,
                x.transforms ? x.transforms : "as it is", x.text);
        refused += x.refused != NULL;
        if (x.follower) {
            of_subject[x.subject]++;
            ends[x.status]++;
            lost += x.follower->state != FOLLOW_ALONG;
        }
        arena_release(&test_arena, mark);
    }
    assert_true(refused < numbers / 3);
    assert_true(lost < numbers / 50);
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (subject_table[s].vtable && subject_table[s].role != SUBJECT_VARIANT &&
            of_subject[s] < 10)
            fail_msg("%u kernels of `%s`", (unsigned)of_subject[s], subject_table[s].name);
    static const enum status seen[] = {
        STATUS_TERMINATED, STATUS_ASSERT_FAILS, STATUS_BARRIER_DIVERGENCE, STATUS_OUT_OF_BOUNDS,
        STATUS_CALL_DEPTH, STATUS_INFEASIBLE,   STATUS_STEP_LIMIT};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        if (ends[seen[i]] == 0)
            fail_msg("none ends as %s", status_names[seen[i]]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(they_agree)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
