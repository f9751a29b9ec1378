/*
 * crs_internal.h - how the state of semantics_crs and semantics_thread_pc lies in the machine's block:
 * machine.extra holds the barriers of all blocks (crs_barrier_words), then the warps, one stride each. For
 * crs.c, thread_pc.c, crs_barrier.c.
 */
#ifndef ENGINE_CRS_INTERNAL_H
#define ENGINE_CRS_INTERNAL_H

#include "engine/crs/crs_barrier.h"
#include "engine/crs/crs_branch.h"

/* A warp, in the order in which its parts lie. */
struct crs_view {
    struct crs_state *state;
    struct crs_token *tokens; /* ptx_code.token_capacity */
    uint32_t *pcs;            /* thread-pc: a lane, warp size rounded up to even; crs: NULL */
    struct ptx_lanes *lanes;
};

/* machine.scratch: what a step needs beside the state, and where the warps lie. */
struct crs_scratch {
    struct ptx_scratch ptx;
    uint32_t first, stride; /* words of machine.extra: of warp 0; from one warp to the next */
};

static inline uint32_t crs_pcs_words(const struct program *program)
{
    return (program->launch.warp + 1) & ~1u;
}

static inline uint32_t crs_warp_stride(const struct program *program, bool has_pcs)
{
    return (uint32_t)sizeof(struct crs_state) / 4 +
           program->ptx->token_capacity * (uint32_t)sizeof(struct crs_token) / 4 +
           (has_pcs ? crs_pcs_words(program) : 0) + ptx_lanes_words(program, program->launch.warp);
}

STEP_INLINE struct crs_view crs_view_at(const struct machine *machine, uint32_t warp, bool has_pcs)
{
    const struct program *program = machine->program;
    const struct crs_scratch *at = machine->scratch;
    uint32_t *words = (uint32_t *)machine->extra + at->first + (size_t)warp * at->stride;
    struct crs_view x = {.state = (struct crs_state *)words};
    x.tokens = (struct crs_token *)(x.state + 1);
    words = (uint32_t *)(x.tokens + program->ptx->token_capacity);
    if (has_pcs) {
        x.pcs = words;
        words += crs_pcs_words(program);
    }
    x.lanes = (struct ptx_lanes *)words;
    return x;
}

static inline struct crs_view crs_view(const struct machine *machine, uint32_t warp)
{
    return crs_view_at(machine, warp, machine->semantics->has_pcs);
}

/* All lanes of a warp, dummies too. */
static inline lane_mask crs_all_lanes(const struct program *program)
{
    uint32_t width = program->launch.warp;
    return width == 64 ? ~(lane_mask)0 : ((lane_mask)1 << width) - 1;
}

/* crs.c, for both semantics: the warps at the start; how many; the footprint of one step. */
void crs_init(struct machine *machine);
uint32_t crs_actor_count(const struct program *program);
void crs_footprint_at(const struct machine *machine, uint32_t warp, uint32_t pc, lane_mask active,
                      uint64_t *reads, uint64_t *writes);

STEP_DECLARE(crs_step);
STEP_DECLARE(thread_pc_step);

#endif
