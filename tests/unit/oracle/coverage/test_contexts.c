/* In which contexts rules fire: a pair is there exactly when its thing happened, and none that is called impossible. */
#include "tests/unit/shared/support.h"

#include "fuzz/case/case.h"
#include "oracle/check/check.h"
#include "oracle/coverage/contexts.h"

static struct contexts seen;

static void watch(const struct ast_kernel *kernel, struct check_options options)
{
    options.contexts = &seen;
    check_kernel(&test_arena, kernel, &options, ARENA_NEW(&test_arena, struct check_result));
}

static enum context context_of(const char *name)
{
    for (uint32_t k = 0; k < CONTEXT_COUNT; k++)
        if (strcmp(context_table[k].name, name) == 0)
            return (enum context)k;
    fail_msg("no context is called %s", name);
    return CONTEXT_COUNT;
}

#define LOOP                                                                                       \
    "launch(threads = 4, warp = 2); shared int x[4];"                                              \
    "private int i; kernel k() { for (i = 0; i < 2; i += 1) { if (tid & 1) x[tid] = i; } }"
#define TWO_BARRIERS                                                                               \
    "launch(threads = 4, warp = 2); shared int x[4];"                                              \
    "kernel k() { barrier(); x[tid] = 1; barrier(); }"
#define CALL                                                                                       \
    "launch(threads = 2, warp = 2); shared int x[2]; void f() { x[tid] = 1; } kernel k() { f(); }"
#define ATOMIC "launch(threads = 2, warp = 2); shared int x; kernel k() { atomic_add(x, 1); }"

static const struct {
    const char *kernel;
    enum rule rule;
    const char *context;
    bool happens;
} table[] = {
    {LOOP, RULE_SIMT_ASSIGN, "lanes:some", true},
    {LOOP, RULE_SIMT_ASSIGN, "history:again", true},
    {LOOP, RULE_SIMT_ASSIGN, "stack:sync", true},
    {LOOP, RULE_SIMT_ASSIGN, "history:barrier", false},
    {LOOP, RULE_SIMT_IF, "stack:break", true},
    {LOOP, RULE_CRS_BRA_GUARD, "stack:sync", true},
    {LOOP, RULE_THR_ASSIGN_WR, "history:ended", true},
    {LOOP, RULE_SIMT_ASSIGN, "history:function", false},
    {TWO_BARRIERS, RULE_THR_BARRIER_REACH, "history:barrier", true},
    {TWO_BARRIERS, RULE_THR_BARRIER_REACH, "barrier:others", true},
    {TWO_BARRIERS, RULE_THR_ASSIGN_RD, "neighbour:barrier", true},
    {TWO_BARRIERS, RULE_SIMT_ASSIGN, "lanes:some", false},
    {CALL, RULE_SIMT_ASSIGN, "history:function", true},
    {CALL, RULE_SIMT_CALL, "history:function", false},
    {CALL, RULE_PTX_ST, "stack:call", true},
    {ATOMIC, RULE_THR_ATOMIC, "neighbour:none", true},
    {ATOMIC, RULE_THR_ATOMIC, "neighbour:access", false},
};

static void a_pair_is_there_when_it_happened(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        memset(&seen, 0, sizeof seen);
        watch(support_parse(table[i].kernel), CHECK_DEFAULTS);
        bool there = seen.of[table[i].rule] >> context_of(table[i].context) & 1;
        if (there != table[i].happens)
            fail_msg("row %zu: %s.%s %s", i, rule_table[table[i].rule].semantics,
                     rule_table[table[i].rule].name, table[i].context);
    }
}

/* Nor do generated cases show what is called impossible. */
static void impossible_pairs_do_not_happen(void **state)
{
    (void)state;
    const struct gen_options gen = GEN_DEFAULTS;
    size_t mark = arena_mark(&test_arena);
    memset(&seen, 0, sizeof seen);
    for (uint64_t number = 0; number < 150; number++) {
        struct fuzz_case c;
        case_of_campaign(&c, 7, number, &gen, &CHECK_DEFAULTS);
        watch(case_kernel(&test_arena, &c, NULL), c.check);
        arena_release(&test_arena, mark);
    }
    uint32_t reached = 0;
    for (uint32_t r = 0; r < RULE_COUNT; r++)
        for (uint32_t rest = seen.of[r]; rest; rest &= rest - 1, reached++) {
            enum context context = (enum context)__builtin_ctz(rest);
            const char *why = context_impossible((enum rule)r, context);
            if (why)
                fail_msg("%s.%s %s, though %s", rule_table[r].semantics, rule_table[r].name,
                         context_table[context].name, why);
        }
    assert_true(reached > 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_is_there_when_it_happened),
        cmocka_unit_test(impossible_pairs_do_not_happen),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
