#include "fuzz/prove/claims.h"

#include "engine/language/ast.h"
#include "oracle/check/expect.h"

#include <string.h>

/* The goal that a claim is about, and the verdict that it wants; false: proofs say nothing of it. */
static bool wants(enum ast_claim claim, enum proof_goal *goal, enum outcome_verdict *verdict)
{
    static const struct {
        enum ast_claim claim;
        enum proof_goal goal;
        enum outcome_verdict verdict;
    } table[] = {{CLAIM_RACE_FREE, GOAL_RACE, SAYS_PROVED},
                 {CLAIM_RACE, GOAL_RACE, SAYS_REFUTED},
                 {CLAIM_BARRIER_DIVERGENCE, GOAL_DIVERGENCE, SAYS_REFUTED},
                 {CLAIM_OUT_OF_BOUNDS, GOAL_BOUNDS, SAYS_REFUTED},
                 {CLAIM_ASSERT_FAILS, GOAL_ASSERTS, SAYS_REFUTED}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        *goal = table[i].goal;
        *verdict = table[i].verdict;
        if (table[i].claim == claim)
            return true;
    }
    return false;
}

/* NULL: it is met. */
static const char *judge(struct arena *arena, const struct ast_expect *expect,
                         const struct prove_outcome *outcome)
{
    enum proof_goal goal;
    enum outcome_verdict verdict;
    const char *name = ast_claim_names[expect->claim];
    if (!wants(expect->claim, &goal, &verdict))
        return arena_printf(arena, "proofs say nothing of '%s'", name);
    const struct goal_outcome *is = &outcome->goals[goal];
    const struct proof_model *model = outcome->result.answers[goal].model;
    if (is->verdict != verdict)
        return arena_printf(arena, "expected %s, and %s is %s", name, prove_goal_titles[goal],
                            prove_verdict_names[is->verdict]);
    if (expect->var && model && strcmp(expect->var->name, model->var) != 0)
        return arena_printf(arena, "expected %s %s, and the race is on %s", name, expect->var->name,
                            model->var);
    return NULL;
}

struct prove_claims prove_claims_judge(struct arena *arena, const struct ast_kernel *kernel,
                                       const struct prove_outcome *outcome, bool any)
{
    struct prove_claims claims = {0};
    for (const struct ast_expect *e = kernel->expects; e; e = e->next) {
        bool of_any;
        if (!expect_is_of_proof(e, &of_any) || of_any != any)
            continue;
        claims.count++;
        if (!claims.why)
            claims.why = judge(arena, e, outcome);
    }
    return claims;
}
