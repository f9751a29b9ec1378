/*
 * tutorial.h - the two-thread translation of the GPUVerify tutorial, run: catalogue D
 * (two-thread-verification).
 *
 * For a core kernel (lower.h) with barriers, without break, return, exit and calls, and an ordered
 * pair (s, t) of threads: both run in lock-step under predicates P$1, P$2; s logs its accesses, t checks
 * its own against the log (TT.log_*, TT.check_*); a barrier asserts P$1 = P$2, resets the log (D-3) and
 * makes shared state arbitrary.
 */
#ifndef ENGINE_TUTORIAL_H
#define ENGINE_TUTORIAL_H

#include "engine/program.h"

enum tutorial_shared {
    TUTORIAL_KEEP, /* the store is carried over barriers: unsound, for the demonstration only */
    TUTORIAL_BAR,  /* all shared state havocked at each barrier (003 C.1) */
    TUTORIAL_ADV   /* every read returns an arbitrary value (the slides) */
};
enum tutorial_log { TUTORIAL_FULL, TUTORIAL_COIN, TUTORIAL_RESERVOIR };
enum tutorial_order { TUTORIAL_ROUND_ROBIN, TUTORIAL_SEQUENTIAL };

struct tutorial_options {
    enum tutorial_shared shared;
    enum tutorial_log log;
    enum tutorial_order order;
    uint64_t seed; /* of coins and havocs; thread choices come from the launch's seed (choice.h) */
    uint64_t budget_steps;
    /* Guided havoc (ORA.C2.guided): bar: global and shared memory after barrier number i of the real
     * run is stores[i]; NULL: drawn. */
    const int32_t *const *stores;
    uint32_t store_count;
};

enum tutorial_verdict {
    TUTORIAL_CLEAN,
    TUTORIAL_RACE,
    TUTORIAL_DIVERGENCE,
    TUTORIAL_ASSERT,
    TUTORIAL_BOUNDS,
    TUTORIAL_BUDGET
};
extern const char *const tutorial_verdict_names[];

struct tutorial_result {
    enum tutorial_verdict verdict;
    uint32_t address; /* race */
    bool first_write, second_write;
    uint32_t first_stm, second_stm; /* race: logged and checked access; divergence: the barrier */
    uint64_t steps;
    uint32_t barriers;
};

/* Whether the translation applies; otherwise *reason ("break at line 3"). */
bool tutorial_applies(struct arena *arena, const struct program *core, const char **reason);

struct tutorial_result tutorial_run(struct arena *arena, const struct program *core, uint32_t s,
                                    uint32_t t, const struct tutorial_options *options);

#endif
