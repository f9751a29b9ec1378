/*
 * goals.h - what is asked of two threads, and under which assumptions.
 */
#ifndef ENGINE_DUO_GOALS_H
#define ENGINE_DUO_GOALS_H

#include "engine/smt/solver.h"
#include "engine/smt/term.h"
#include "engine/subjects/forms.h"

/* What may go wrong; each is answered on its own. An answer is about executions up to the first race or barrier
 * divergence, since nobody knows what happens behind one: so no goal is proved while one of these two is open,
 * unless the kernel has nothing that could go wrong in this way. */
enum proof_goal { GOAL_RACE, GOAL_DIVERGENCE, GOAL_BOUNDS, GOAL_ASSERTS, GOAL_COUNT };
extern const char *const proof_goal_names[GOAL_COUNT];

enum proof_memory {
    PROOF_BARRIER, /* a thread sees its own writes; a barrier makes memory arbitrary (lockstep-cfg C.1) */
    PROOF_ADVERSARY /* every read of memory that is written gives an arbitrary value (the tutorial) */
};

struct duo;

/* Who answers in a solver's place (oracle/verdicts): whether `question` is possible, of this walk; SAT with values of
 * what is wanted. */
struct proof_answers {
    enum solver_answer (*say)(struct proof_answers *own, const struct duo *duo, term question,
                              const term *wanted, uint32_t *values, uint32_t count);
};

struct proof_options {
    /* Any number of threads from the one to the other; threads_to 0: what the kernel's launch says. */
    uint32_t threads_from, threads_to;
    enum proof_memory memory;
    bool assume_invariants; /* `invariant e` is taken as given, not shown */
    bool file_inputs;       /* `input` memory holds what the kernel's seed draws, not anything */
    uint32_t unroll;        /* trips of each loop tried before invariants are looked for; 0: none */
    uint64_t order;         /* 0, or a seed: candidates in another order (the result is the same) */
    bool invariants;        /* loops by invariants; otherwise by unrolling only */
    bool counted; /* loops that constants end after a few trips are run, and neither cut nor left */
    bool rehearsed; /* guesses that drawn runs show to be false are not asked about */
    bool integers;  /* what is open is asked as Horn clauses over integers, if the solver can */
    struct proof_answers *answers; /* NULL: the solver's */
};

extern const struct proof_options PROOF_DEFAULTS;

/* P as two threads run it: of what is handled only. NULL: *reason. */
const struct ast_kernel *duo_program(struct arena *arena, struct forms *forms, const char **reason);

#endif
