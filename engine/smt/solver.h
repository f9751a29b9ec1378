/*
 * solver.h - an SMT solver: a program that reads SMT-LIB 2 from its standard input and answers on its
 * standard output, as `z3 -in` does.
 *
 * The solver is a child of ours that lives for many queries. Each query is a text of its own, behind a
 * `(reset)`: it says everything that it is about, so that the text alone repeats it. Nothing that a solver
 * prints is believed but `sat`, `unsat`, `unknown` and values in the form asked for; a solver that is absent,
 * dies, hangs, or prints anything else gives SOLVER_FAILED with the reason, and is started again for the
 * next query. Whenever it is started it has to answer two questions whose answers are known, so that one
 * that always says the same proves nothing. After a few failures in a row it is not asked any more.
 *
 * A solver that has spent its budget on several questions is not asked any more either, so that a kernel takes a
 * bounded time: one solver, one kernel.
 *
 * A reset takes everything with it, so that answers are the same whether a child was asked before or not.
 *
 * A second solver may be asked whenever the first says `unsat`, the answer that no values vouch for: if it
 * says `sat`, one of them is wrong, and nothing is believed.
 */
#ifndef ENGINE_SMT_SOLVER_H
#define ENGINE_SMT_SOLVER_H

#include "engine/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct solver;

/* Children that outlive their solvers: who asks about many kernels, one after the other, starts a program once. Begins
 * as zeros, and is of one thread. */
enum { SOLVER_KEPT = 2 };
struct solver_keeper {
    struct solver_child {
        int process;         /* 0: none */
        const char *command; /* lives longer */
        int in, out;         /* its standard input; its standard output and error */
        int queries;         /* that it was asked so far */
    } kept[SOLVER_KEPT];
};

enum solver_answer { SOLVER_SAT, SOLVER_UNSAT, SOLVER_UNKNOWN, SOLVER_FAILED };
extern const char *const solver_answer_names[]; /* sat unsat unknown failed */

#define SOLVER_COMMAND "z3 -in" /* the usual one */

struct solver_options {
    const char *command; /* words separated by blanks; the first is looked for on the search path */
    uint64_t budget;  /* of one query, in the solver's own resource units (z3: rlimit); 0: none */
    uint32_t seconds; /* that a query may take at most, whatever its budget: it hangs */
    const char *dump; /* a folder that each query is written to, or NULL */
    uint32_t
        questions; /* that it is asked at most, so that a kernel takes a bounded time; 0: any */
    const char *second;           /* the command of a second solver, or NULL */
    struct solver_keeper *keeper; /* of children for the next solver; or NULL */
};

enum { SOLVER_NO_VALUE = 2 };
enum { SOLVER_SECONDS = 60, SOLVER_BUDGET = 2000000 };

/* Does not start it yet. Lives in the arena; solver_end ends the child, or gives it to the keeper. */
struct solver *solver_new(struct arena *arena, const struct solver_options *options);
void solver_end(struct solver *solver);
void solver_keeper_end(struct solver_keeper *keeper);

/* Whether the formula (declarations and assertions) can be true. SOLVER_SAT: `values`, when it is not
 * NULL, is filled for `count` names of terms in the text: of a Boolean 0 or 1, of a word its bits. Where the
 * solver gives a term instead of a value (it may be true or false): SOLVER_NO_VALUE. */
enum solver_answer solver_ask(struct solver *solver, const char *formula, const char *const *names,
                              uint32_t *values, uint32_t count);

/* The same of an answer that is there already, as a solver prints it. */
enum solver_answer solver_read(struct solver *solver, const char *answer, const char *const *names,
                               uint32_t *values, uint32_t count);

/* Whether it is asked no more: what it would be told need not be said. */
bool solver_is_spent(const struct solver *solver);

/* Whether it takes Horn clauses: `sat` says that there are invariants. */
bool solver_knows_horn(const struct solver *solver);

/* Why the last query was not answered with sat or unsat: a sentence; lives as long as the solver. */
const char *solver_reason(const struct solver *solver);

/* What was asked so far. */
struct solver_counts {
    uint32_t queries, sat, unsat, unknown, failed, starts;
    uint32_t confirmed, unconfirmed; /* of unsat: by the second solver; it did not know */
    uint32_t disagreed;              /* the second said sat */
    bool no_budget;                  /* it knows no resource limit: only its time is limited */
};
struct solver_counts solver_counts(const struct solver *solver);

#endif
