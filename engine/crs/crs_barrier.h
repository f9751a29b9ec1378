/*
 * crs_barrier.h - barriers of a thread block at the granularity of warps: section 5.5 of "The Model of
 * Computation of CUDA and its Formal Semantics" (catalogue cuda-crs, section 9). For crs and thread-pc.
 *
 * A warp that executes bar.sync, bar.red or bar.arrive emits one warp action; warps step one at a time
 * (BLK.seq), so a block step has at most one. When a barrier's arrivals reach its count, the
 * generation ends (endBar): at once, within the step, or - BLOCK_LATE - whenever the schedule says, by
 * a choice behind each step of a warp of the block, as the report's rule has it ("after a block step").
 *
 * A contradiction among a program's barriers is stuck; a sentence says which premise does not hold.
 */
#ifndef ENGINE_CRS_BARRIER_H
#define ENGINE_CRS_BARRIER_H

#include "engine/crs/crs.h"
#include "engine/machine/semantics.h"
#include "engine/program/ptx_code.h"

enum { CRS_BARRIERS = 16 }; /* NumBarrierIndices */

struct crs_cluster_lanes;

/* χ(barid) = (tc, ac, red, actions). Not in use (ε): all words 0. Of the list of actions stays what
 * reduce and barAct need. */
struct crs_barrier {
    uint32_t tc;       /* threads that it waits for; 0 = ε */
    uint32_t ac;       /* threads that have arrived, warp by warp */
    uint32_t red;      /* operation of bar.red, enum ptx_word; PTX_W_NONE */
    uint32_t defaults; /* tc is the block's default count */
    uint32_t lanes;    /* that executed bar.red */
    uint32_t truths;   /* of those, whose predicate holds */
};

/* The barriers of one block. In the machine's block of memory, but for the view itself. */
struct crs_barriers {
    struct machine *m; /* put only looks at it in a tracked machine */
    uint32_t ids;      /* set of the numbers that exist here; the arrays hold these only */
    uint32_t warps, warp_size;
    uint32_t block_options;
    struct crs_barrier *at;
    lane_mask *waiting;      /* [barrier][warp]: lanes that executed bar.sync or bar.red */
    uint32_t *ended;         /* generations that have ended; not counted in a tracked machine */
    uint32_t *cluster_ended; /* the same of the cluster's barrier, in its first block */
    struct crs_cluster_lanes *cluster; /* [warp]; only where has_cluster_barrier */
};

/* A warp's barrier action: (type, red, list of lane actions). */
struct crs_barrier_action {
    enum ptx_exec type; /* PTX_EXEC_BAR_SYNC, _ARRIVE, _RED */
    uint32_t red;
    uint32_t warp; /* in its block */
    lane_mask lanes, truths;
    uint32_t barid[64];
    uint32_t tc[64]; /* 0: ε */
};

/* One BarInfo: what the lanes of an action say of one barrier. */
struct crs_barrier_info {
    uint32_t barid, tc; /* tc 0: ε */
    enum ptx_exec type;
    uint32_t red;
    lane_mask lanes;
};

struct crs_barrier_infos {
    uint32_t count;
    struct crs_barrier_info items[CRS_BARRIERS];
};

static inline uint32_t crs_barrier_index(const struct crs_barriers *chi, uint32_t barid)
{
    return (uint32_t)__builtin_popcount(chi->ids & ((1u << barid) - 1));
}

static inline struct crs_barrier *crs_barrier_at(const struct crs_barriers *chi, uint32_t barid)
{
    return &chi->at[crs_barrier_index(chi, barid)];
}

static inline lane_mask *crs_barrier_waiting(const struct crs_barriers *chi, uint32_t barid,
                                             uint32_t warp)
{
    return &chi->waiting[crs_barrier_index(chi, barid) * chi->warps + warp];
}

/* ac ≥ tc: endBar applies. */
static inline bool crs_barrier_full(const struct crs_barrier *barrier)
{
    return barrier->tc > 0 && barrier->ac >= barrier->tc;
}

/* ---- the functions of 5.5.1 (crs_barrier.c) ---- */

/* NULL, or why it is ⊥. */
const char *crs_bar_info(struct crs_barriers *chi, const struct crs_barrier_action *action,
                         struct crs_barrier_infos *infos);
/* tc: the default count; completed: warps of the block that have ended. NULL, or why it is ⊥. */
const char *crs_prep_bar(struct crs_barriers *chi, uint32_t tc, uint32_t completed,
                         const struct crs_barrier_infos *infos);
void crs_upd_act(struct crs_barriers *chi, const struct crs_barrier_action *action,
                 const struct crs_barrier_infos *infos);
void crs_upd_arr_cnt(struct crs_barriers *chi, const struct crs_barrier_infos *infos);
/* *infos: what was added. NULL, or why it is ⊥. */
const char *crs_upd_bar(struct crs_barriers *chi, uint32_t tc, uint32_t completed,
                        const struct crs_barrier_action *action, struct crs_barrier_infos *infos);
uint32_t crs_reduce(struct crs_barriers *chi, const struct crs_barrier *barrier);
/* χ(barid) := ε. */
void crs_barrier_clear(struct crs_barriers *chi, uint32_t barid);
/* BLOCK_EXIT_ARRIVES: a warp that completes arrives at every barrier in use. */
void crs_exit_arrives(struct crs_barriers *chi);

/* ---- blocks of a machine (crs_block.c) ----
 *
 * The state of all blocks' barriers lies in front of the warps (crs_internal.h). A warp that waits has the
 * numbers of its barriers in crs_state.waiting and is not among the live actors.
 */

/* Words of the machine's block that the barriers of the grid take: an even number. */
uint32_t crs_barrier_words(const struct program *program);

/* bar.sync, bar.arrive, bar.red at pc, by these lanes of the warp (not empty): THR.bar_*, WRP.comm,
 * BLK.exec. The caller has set the warp's next pc, pc + 1. The warp may wait then; a fault ends the
 * execution. Returns the rule, which the caller counts and reports. */
enum rule crs_barrier_step(struct machine *machine, uint32_t warp, uint32_t pc,
                           lane_mask executing);

/* 64: nobody is missing. Not: with BLOCK_ALIGNED bar.*, barrier.*.aligned and barrier.cluster.*.aligned are for all
 * lanes of the warp that have not exited; the first one that is missing. */
uint32_t crs_missing_lane(const struct machine *machine, uint32_t warp, const struct ptx_op *op,
                          lane_mask executing);

/* The warp has completed and was retired: BLK.compl; with BLOCK_EXIT_ARRIVES it counts as arrived. */
void crs_barrier_retire(struct machine *machine, uint32_t warp);

/* The last thing of a step, after it was reported, of a program with barriers: ends generations (BLK.endBar;
 * wakes warps of the block, this one too), and finds a deadlock. To be called when the warp executed a
 * barrier instruction or completed; with BLOCK_LATE after every step. */
void crs_barrier_settle(struct machine *machine, uint32_t warp, struct choices *choices);

struct crs_barriers crs_barriers(const struct machine *machine, uint32_t block);

#endif
