/* The encoding, rule by rule: of each kernel a prover that has one rule wrong says something else. Faults of
 * tests/mutation/faults/prove.txt are planted against it. */
#include "engine/prove/prove.h"
#include "tests/unit/engine/prove/prove_solver.h"

#include <stdlib.h>

#define KERNEL(launch, text)                                                                       \
    "launch(" launch "); global int A[8]; shared int S[4] = {0, 1, 2, 3}; global input int n; "    \
    "private int i; kernel k() { " text " }"

struct saying {
    const char *name, *kernel;
    enum proof_goal goal;
    enum proof_verdict wanted;
};

static const struct saying rules[] = {
    {"tids differ", KERNEL("threads=4", "A[tid] = 1;"), GOAL_RACE, PROOF_PROVED},
    {"tids in one block only", KERNEL("threads=2, blocks=2", "A[tid] = 1;"), GOAL_RACE,
     PROOF_MODEL},
    {"a block's shared memory", KERNEL("threads=1, blocks=2", "S[0] = 1;"), GOAL_RACE,
     PROOF_PROVED},
    {"barriers of one block",
     KERNEL("threads=2, blocks=2",
            "if (bid == 0) { A[tid] = 1; } barrier(); if (bid == 1) { A[tid] = 2; }"),
     GOAL_RACE, PROOF_MODEL},
    {"the log is emptied", KERNEL("threads=4", "A[tid] = 1; barrier(); A[tid + 1 & 3] = 2;"),
     GOAL_RACE, PROOF_PROVED},
    {"who dies has accessed",
     KERNEL("threads=2", "if (tid == 0) { A[0] = 1; A[tid + 8] = 0; } if (tid == 1) { A[0] = 2; }"),
     GOAL_RACE, PROOF_MODEL},
    {"who dies accesses no more",
     KERNEL("threads=2", "A[tid * 9] = 1; A[tid + 1] = tid; i = A[2];"), GOAL_RACE, PROOF_PROVED},
    {"memory behind a barrier",
     KERNEL("threads=4", "S[tid] = 0; barrier(); A[S[tid + 1 & 3]] = 1;"), GOAL_RACE, PROOF_MODEL},
    {"own writes", KERNEL("threads=4", "S[tid] = tid; A[S[tid]] = 1;"), GOAL_RACE, PROOF_PROVED},
    {"a read and a write", KERNEL("threads=2", "if (tid == 0) { A[0] = 1; } i = A[0];"), GOAL_RACE,
     PROOF_MODEL},
    {"a read before a write", KERNEL("threads=2", "i = A[0]; if (tid == 0) { A[0] = 1; }"),
     GOAL_RACE, PROOF_MODEL},
    {"reads", KERNEL("threads=2", "i = A[0]; if (tid > 1) { A[0] = 1; }"), GOAL_RACE, PROOF_PROVED},
    {"an atomic and a read",
     KERNEL("threads=2", "atomic_add(A[0], 1); if (tid == 1) { i = A[0]; }"), GOAL_RACE,
     PROOF_MODEL},
    {"atomics", KERNEL("threads=2", "atomic_add(A[0], 1);"), GOAL_RACE, PROOF_PROVED},
    {"an atomic's result", KERNEL("threads=4", "i = atomic_add(A[0], 1); S[i & 3] = tid;"),
     GOAL_RACE, PROOF_MODEL},
    {"an operand that is not reached", KERNEL("threads=4", "i = tid > 3 && A[0] == 0; A[tid] = i;"),
     GOAL_RACE, PROOF_PROVED},
    {"inputs are one for both", KERNEL("threads=4", "if (n == tid) { A[0] = 1; }"), GOAL_RACE,
     PROOF_PROVED},
    {"earlier trips", KERNEL("threads=2", "for (i = 0; i < 9; i += 1) { A[i + tid & 7] = i; }"),
     GOAL_RACE, PROOF_MODEL},
    {"trips apart",
     KERNEL("threads=2", "for (i = 0; i < 9; i += 1) { A[i + tid & 7] = i; barrier(); }"),
     GOAL_RACE, PROOF_PROVED},
    {"words wrap", KERNEL("threads=6", "A[tid * 1073741824 / 1073741824 + 2] = tid;"), GOAL_RACE,
     PROOF_MODEL},
    {"any trip", KERNEL("threads=4", "for (i = tid; i < 8; i += 4) { A[i] = i; }"), GOAL_RACE,
     PROOF_PROVED},
    {"trips beyond",
     KERNEL("threads=2", "for (i = 0; i < 10; i += 1) { if (i == 8) { A[0] = tid; } }"), GOAL_RACE,
     PROOF_BOUNDED},
    {"behind a loop", KERNEL("threads=4", "for (i = 0; i < n; i += 1) { S[tid] = i; } A[0] = tid;"),
     GOAL_RACE, PROOF_MODEL},
    {"what loops have read",
     KERNEL("threads=4",
            "for (i = 0; i < 8; i += 1) { if (i > 4) { S[tid] = A[i]; } } A[tid + 4] = 1;"),
     GOAL_RACE, PROOF_BOUNDED},
    {"what loops have written",
     KERNEL("threads=4",
            "for (i = 0; i < 8; i += 1) { if (i > 4 && tid == 0) { A[i] = 1; } } i = A[tid + 4];"),
     GOAL_RACE, PROOF_BOUNDED},
    {"apart at a barrier", KERNEL("threads=2", "if (tid == 0) { barrier(); }"), GOAL_DIVERGENCE,
     PROOF_MODEL},
    {"together at a barrier", KERNEL("threads=2", "if (n == 0) { barrier(); }"), GOAL_DIVERGENCE,
     PROOF_PROVED},
    {"who ended at a barrier", KERNEL("threads=2", "if (tid == 0) { exit; } barrier();"),
     GOAL_DIVERGENCE, PROOF_MODEL},
    {"trips of a barrier", KERNEL("threads=2", "for (i = tid; i < 2; i += 1) { barrier(); }"),
     GOAL_DIVERGENCE, PROOF_MODEL},
    {"bounds", KERNEL("threads=4", "A[tid * 2 + 2] = 1;"), GOAL_BOUNDS, PROOF_MODEL},
    {"within bounds", KERNEL("threads=4", "A[tid * 2 + 1] = 1;"), GOAL_BOUNDS, PROOF_PROVED},
    {"asserts", KERNEL("threads=4", "assert(tid < 3);"), GOAL_ASSERTS, PROOF_MODEL},
};

/* Loops whose trips constants count: all of them are run, however they are left. */
static const struct saying counted[] = {
    {"the ninth trip",
     KERNEL("threads=2", "for (i = 0; i < 10; i += 1) { if (i == 8) { A[0] = tid; } }"), GOAL_RACE,
     PROOF_MODEL},
    {"no eleventh trip",
     KERNEL("threads=2", "for (i = 0; i < 10; i += 1) { if (i == 10) { A[0] = tid; } }"), GOAL_RACE,
     PROOF_PROVED},
    {"nobody counts them",
     KERNEL("threads=2", "for (i = 0; i < n; i += 1) { if (i == 40) { A[0] = tid; } }"), GOAL_RACE,
     PROOF_BOUNDED},
    {"some leave earlier",
     KERNEL("threads=2", "for (i = 0; i < 10; i += 1) { if (i == n) { break; } } "
                         "if (i == 7) { A[0] = tid; }"),
     GOAL_RACE, PROOF_MODEL},
    {"who comes to it counts",
     KERNEL("threads=2", "i = n; if (tid == 0) { for (i = 0; i < 9; i += 1) { A[i & 7] = i; } } "
                         "if (i < 9) { A[i & 7] = i; }"),
     GOAL_RACE, PROOF_MODEL},
    {"who has come to it ends",
     KERNEL("threads=2", "i = n; if (tid == 0) { for (i = 0; i < 9; i += 1) { A[i & 7] = i; } } "
                         "if (tid == 0 && i != 9) { A[0] = 1; } if (tid == 1) { A[n & 7] = 1; }"),
     GOAL_RACE, PROOF_MODEL},
    {"a loop in one that is cut",
     KERNEL("threads=2", "private int j; private int s; for (i = 0; i < n; i += 1) { s = 0; "
                         "for (j = 0; j < 5; j += 1) { s += 2; } A[s - 10 + tid] = i; }"),
     GOAL_RACE, PROOF_PROVED},
};

/* By unrolling, by invariants, and by integers. */
static void check_rules(const struct saying *list, size_t count, bool is_counted)
{
    for (size_t i = 0; i < count; i++) {
        const struct saying *rule = &list[i];
        struct forms *forms = forms_new(&test_arena, support_parse(rule->kernel));
        struct proof_options options = PROOF_DEFAULTS;
        struct proof_result result;
        options.counted = is_counted;
        prove_kernel(&test_arena, forms, &options, solver, &result);
        if (result.refused || result.answers[rule->goal].verdict != rule->wanted)
            fail_msg("%s: %s, not %s", rule->name,
                     result.refused ? result.refused
                                    : proof_verdict_names[result.answers[rule->goal].verdict],
                     proof_verdict_names[rule->wanted]);
    }
}

static void every_rule(void **state)
{
    (void)state;
    check_rules(rules, sizeof rules / sizeof rules[0], false);
    check_rules(counted, sizeof counted / sizeof counted[0], true);
}

/* Horn clauses say "safe" of no kernel that has a model. */
static void horn_clauses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const struct saying *rule = &rules[i];
        const char *reason = NULL;
        if (rule->wanted != PROOF_MODEL && rule->wanted != PROOF_BOUNDED)
            continue;
        const char *text =
            prove_horn_text(&test_arena, forms_new(&test_arena, support_parse(rule->kernel)),
                            &PROOF_DEFAULTS, &reason);
        assert_non_null(text);
        const char *end = strstr(text, "(check-sat)"); /* that is the solver's to ask */
        text = arena_strndup(&test_arena, text, (size_t)(end - text));
        if (solver_ask(solver, text, NULL, NULL, 0) == SOLVER_SAT)
            fail_msg("%s: safe, by Horn clauses", rule->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule),
                                       cmocka_unit_test(horn_clauses)};
    return RUN_WITH_SOLVER(tests);
}
