/*
 * tutorial.h - the two-thread translation of the GPUVerify tutorial, run: docs/catalogue.md
 * (two-thread-verification), sections 2 to 4.
 *
 * For a core kernel (lower.h) with barriers, without break, return, exit, calls, assume, atomics and
 * votes, and an ordered pair (s, t) of threads of one block: both run in lock-step under predicates
 * P$1, P$2; s logs its accesses (TT.log_read, TT.log_write), t checks its own against the log
 * (TT.check_read, TT.check_write); a barrier asserts P$1 = P$2, empties the log (D-3) and makes
 * shared state arbitrary.
 *
 * The tutorial wants every load in a statement of its own, x = A[e] (D-2). Here expressions read in
 * the middle; it comes to the same: both threads evaluate an expression together, operation by
 * operation, and each read is logged and checked where it stands; the guard of a loop is evaluated
 * again at the end of its body. Only where one of the threads does not come by (an operand that C
 * does not evaluate) is it left out: the predicate that the normalised program would have there.
 * A scalar in shared or global memory is an array of length 1. What is disabled is not evaluated
 * (TT.lazy).
 */
#ifndef ENGINE_TUTORIAL_H
#define ENGINE_TUTORIAL_H

#include "engine/program/program.h"

enum tutorial_shared {
    TUTORIAL_KEEP, /* the store is carried over barriers: unsound, for the demonstration only */
    TUTORIAL_BAR,  /* all shared state havocked at each barrier (003 C.1) */
    TUTORIAL_ADV   /* every read returns an arbitrary value (the slides) */
};

/* What the (*) of LOG_X_A(en, off): if en and (*) { .. } comes to, an interval. */
enum tutorial_log {
    TUTORIAL_FULL,     /* all offsets are kept: no nondeterminism */
    TUTORIAL_COIN,     /* a coin for each access; the latest that it favours is kept, an array */
    TUTORIAL_RESERVOIR /* one access an array, each with equal chance */
};

enum tutorial_order {
    TUTORIAL_ROUND_ROBIN, /* LOG_1; CHECK_2 for each access: finds conflicts with accesses of s that
                             stand no later than t's; both (s,t) and (t,s) are needed (D-1) */
    TUTORIAL_SEQUENTIAL   /* s runs the whole interval, then t: finds all (with a full log) */
};

struct tutorial_options {
    enum tutorial_shared shared;
    enum tutorial_log log;
    enum tutorial_order order;
    uint64_t seed; /* of coins and havocs; thread choices come from the launch's seed (choice.h) */
    uint64_t budget_steps; /* statements and loop guards */
    /* Guided havoc (ORA.C2.guided): bar: global and shared memory (program.private_base words) after
     * barrier number i is stores[i]. Barriers from store_count on: drawn. */
    const int32_t *const *stores;
    uint32_t store_count;
    int32_t *memory; /* where memory lies, core->memory_words; NULL: in the arena */
};

enum tutorial_verdict {
    TUTORIAL_CLEAN,
    TUTORIAL_RACE,
    TUTORIAL_DIVERGENCE,
    TUTORIAL_ASSERT,
    TUTORIAL_BOUNDS,
    TUTORIAL_BUDGET,
    TUTORIAL_VERDICT_COUNT
};
extern const char *const tutorial_verdict_names[TUTORIAL_VERDICT_COUNT];

struct tutorial_result {
    enum tutorial_verdict verdict;
    uint32_t address; /* race */
    bool first_write, second_write;
    /* Race: logged and checked access; divergence: the barriers that s and t wait at, CODE_NONE for
     * one that waits at none; assertion, bounds: `second_stm` is where. */
    uint32_t first_stm, second_stm;
    uint32_t thread; /* assertion, bounds: whose */
    uint64_t steps;
    uint32_t barriers; /* passed */
};

/* Whether the translation applies; otherwise *reason ("break at line 3"). */
bool tutorial_applies(struct arena *arena, const struct program *core, const char **reason);

/* One run of the ordered pair (s, t): threads of one block, numbers in the grid. `hits` (RULE_COUNT
 * + 1 counters) is added to, unless NULL. Takes scratch from the arena and gives it back. */
struct tutorial_result tutorial_run(struct arena *arena, const struct program *core, uint32_t s,
                                    uint32_t t, const struct tutorial_options *options,
                                    uint64_t *hits);

#endif
