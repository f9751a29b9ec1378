/* Models that no execution shows, told to the pair engine: it shows them as they are, and not with other values. */
#include "oracle/prove/guided.h"
#include "oracle/prove/judge.h"
#include "tests/unit/shared/support.h"

#include <stdlib.h>

#define KERNEL(text)                                                                               \
    "launch(threads=4, blocks=2); shared int S[4]; global int A[8]; private int i; kernel k() "    \
    "{ " text " }"

struct told {
    enum proof_goal goal;
    const char *kernel;
};

/* The second barrier's memory is another than the first one's; a loop's trip has its own. */
static const struct told kernels[] = {
    {GOAL_RACE, KERNEL("S[tid] = 1; barrier(); if (S[tid ^ 1] == 3) { S[0] = tid; }")},
    {GOAL_DIVERGENCE, KERNEL("S[tid] = 1; barrier(); if (S[tid ^ 1] == 3) { barrier(); }")},
    {GOAL_RACE, KERNEL("S[tid] = 1; barrier(); i = S[0]; barrier(); if (S[0] == i + 2 && i == 5) "
                       "{ S[3] = tid; }")},
    {GOAL_RACE, KERNEL("for (i = 0; i < 3; i += 1) { S[tid] = 1; barrier(); "
                       "if (i == 1 && S[2] == 4) { S[0] = tid; } barrier(); }")},
    {GOAL_ASSERTS, KERNEL("S[tid] = 1; barrier(); assert(S[tid ^ 1] == 1);")},
    {GOAL_BOUNDS, KERNEL("S[tid] = 1; barrier(); A[S[tid ^ 1] + tid] = 1;")},
};

static void set_all(const struct proof_model *model, int32_t value)
{
    for (uint32_t i = 0; i < model->interval_count; i++)
        for (uint32_t v = 0; v < model->intervals[i].var_count; v++)
            for (uint32_t n = 0; n < model->intervals[i].vars[v].var->length; n++)
                model->intervals[i].vars[v].values[n] = value;
}

static void models(void **state)
{
    const struct solver_options solver_options = {
        .command = SOLVER_COMMAND, .budget = SOLVER_BUDGET, .seconds = SOLVER_SECONDS};
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        const struct ast_kernel *kernel = support_parse(kernels[i].kernel);
        struct solver *solver = solver_new(&test_arena, &solver_options);
        struct prove_outcome outcome;
        prove_judge(&test_arena, kernel, &PROOF_DEFAULTS, solver, 0, &outcome);
        solver_end(solver);
        const struct goal_outcome *goal = &outcome.goals[kernels[i].goal];
        const struct proof_model *model = outcome.result.answers[kernels[i].goal].model;
        if (goal->verdict != SAYS_ALARM || !strstr(goal->why, "the two threads alone do"))
            fail_msg("kernel %zu: %s: %s", i, prove_verdict_names[goal->verdict], goal->why);
        assert_int_equal(guided_run(&test_arena, kernel, model), GUIDED_SHOWN);
        set_all(model, 1); /* planted: another memory than the solver's */
        assert_int_equal(guided_run(&test_arena, kernel, model), GUIDED_CLEAN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models)};
    if (system("command -v z3 >/dev/null") != 0) {
        puts("z3 is not installed: nothing is tested");
        return 0;
    }
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
