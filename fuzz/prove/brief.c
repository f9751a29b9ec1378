#include "fuzz/prove/brief.h"

#include "oracle/prove/judge.h"

static const char *text_of(struct arena *arena, const struct prove_outcome *outcome)
{
    enum outcome_verdict verdict = prove_headline(outcome);
    if (verdict == SAYS_PROVED)
        return arena_printf(arena,
                            "proved: no input and no schedule of this launch makes threads race "
                            "(%s) or part at a barrier (%s)",
                            outcome->goals[GOAL_RACE].why, outcome->goals[GOAL_DIVERGENCE].why);
    enum proof_goal goal =
        outcome->goals[GOAL_RACE].verdict == verdict ? GOAL_RACE : GOAL_DIVERGENCE;
    const char *word = verdict == SAYS_REFUTED ? "refuted" : "not proved";
    return arena_printf(arena, "%s: %s: %s", word, proof_goal_names[goal],
                        outcome->goals[goal].why);
}

const char *prove_brief(struct arena *arena, const struct ast_kernel *kernel, uint32_t budget_share)
{
    const struct solver_options options = {.command = SOLVER_COMMAND,
                                           .budget = SOLVER_BUDGET / budget_share,
                                           .seconds = SOLVER_SECONDS};
    struct solver *solver = solver_new(arena, &options);
    struct prove_outcome outcome;
    prove_judge(arena, kernel, &PROOF_DEFAULTS, solver, 0, &outcome);
    solver_end(solver);
    return text_of(arena, &outcome);
}
