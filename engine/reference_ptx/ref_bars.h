/*
 * ref_bars.h - named barriers of a thread block, as lists: of warps (cuda-crs 5.5, BLK), and of threads
 * (named-barriers 2, NB).
 */
#ifndef ENGINE_REF_BARS_H
#define ENGINE_REF_BARS_H

#include "engine/language/ast.h"
#include "engine/machine/rules.h"
#include "engine/ptx/ptx.h"

enum { REF_BARRIERS = 16 };

/* One barrier of a block: of warps chi(b) = (tc, ac, red, actions), of threads B(b) = (I, A, n). */
struct ref_bar {
    uint32_t count;   /* tc, n: threads that it takes; 0: it is not in use */
    bool defaults;    /* tc is the default count */
    uint32_t arrived; /* ac: warp by warp; |I| + |A|: thread by thread */
    enum ptx_word red;
    bool *waits;  /* threads of the block that did bar.sync or bar.red: I */
    bool *truths; /* of these, whose predicate holds */
};

/* A block's, and how its launch is. */
struct ref_bars {
    uint32_t threads, warp;
    bool exit_arrives, all_warps,
        lanes; /* options of crs: OPT.exit_arrives, BAR.2m, the mutant of BAR.5 */
    struct ref_bar bar[REF_BARRIERS];
};

enum ref_bar_kind { REF_BAR_SYNC, REF_BAR_ARRIVE, REF_BAR_RED };

/* What the lanes of a warp, or one thread, do at barriers in one step. */
struct ref_bar_action {
    enum ref_bar_kind kind;
    enum ptx_word red; /* PTX_W_NONE, and, or, popc */
    bool has_count;
    uint32_t first;        /* thread of the block: of lane 0 */
    bool does[LIMIT_WARP]; /* lanes that execute it */
    uint64_t number[LIMIT_WARP], count[LIMIT_WARP];
    bool truth[LIMIT_WARP];
};

/* NULL, or memory is short. */
bool ref_bars_new(struct arena *arena, struct ref_bars *bars, const struct ast_launch *launch);
void ref_bars_clear(struct ref_bars *bars);

/* ---- warps ---- */

/* updBar: what a warp's action makes of the barriers; completed: of the warps of the block, before the step. waits: the
 * barriers that the warp waits for. NULL, or why there is no rule; *lane: the lane to name. */
const char *ref_warp_bars(struct ref_bars *bars, const struct ref_bar_action *action,
                          const bool *completed, bool waits[REF_BARRIERS], uint32_t *lane);
/* A warp that completes arrives everywhere (OPT.exit_arrives). */
void ref_warp_exits(struct ref_bars *bars);
/* Number n, from 0, of the barriers with ac >= tc, in their order; REF_BARRIERS: there are not so many. */
uint32_t ref_full_bar(const struct ref_bars *bars, uint32_t n);

/* ---- threads ---- */

/* sync b n, arrive b n: the rule. *why: it is to err, or there is none (*stuck). */
enum rule ref_thread_bar(struct ref_bars *bars, const struct ref_bar_action *action,
                         const char **why, bool *stuck);

/* ---- both ---- */

/* What bar.red gives those that wait. */
uint32_t ref_bar_reduced(const struct ref_bars *bars, uint32_t number);
/* endBar, recycle: not in use again. */
void ref_bar_end(struct ref_bars *bars, uint32_t number);

#endif
