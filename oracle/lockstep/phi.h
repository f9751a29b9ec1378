/*
 * phi.h - the oracle `phi`: X.simt_phi (docs/catalogue.md, "Between the papers"). A warp and the lock-step program of
 * the anchored blocks, in the sort order that follows the warp's (S2C.order, S2C.anchor), do the same:
 * statement by statement, racy or not, halting or not.
 *
 * An event is a step that evaluates or does something for some lanes: an assignment, the guard of an if
 * or a while, assert, assume, havoc, an atomic, a barrier, `;`. Both make the same sequence of events:
 *
 *     the statement (of the core), the lanes that are active, what they access, the memory after it
 *
 * Everything else - tokens, breaks, calls; gotos, what phi assumes, blocks that nobody is in - happens
 * between events and changes nothing that both have. Winners of conflicting writes are the highest
 * lanes, atomics come in ascending order, in both.
 */
#ifndef ORACLE_PHI_H
#define ORACLE_PHI_H

#include "oracle/check/explore.h"
#include "oracle/lockstep/image.h"

struct phi_event {
    uint32_t stm; /* of the core; CODE_NONE: there was none, the actor has ended or met an error */
    lane_mask lanes;
    enum rule rule;
};

struct phi_trace {
    struct arena *arena;
    struct machine *warp, *phi;
    struct answer *answer;   /* NULL: not asked */
    const uint32_t *core_of; /* a statement of phi: of the core, or CODE_NONE */
    enum subject_id subject; /* simt or simt:then-first */
    struct image_accesses warp_accesses, phi_accesses;
    struct observer enabling; /* of phi's steps */
    lane_mask enabled;        /* for which the last one was */
    uint64_t events, steps;   /* of this execution; steps of both */
    bool lost;                /* a divergence was found */
};

/* `warp` runs the core with a warp a block, `phi` the lock-step form of `p`, the anchored blocks; p's
 * statements say by origin which one of the core they are. */
struct phi_trace *phi_trace_new(struct arena *arena, struct machine *warp, struct machine *phi,
                                const struct program *p);

/* One execution, thread block by thread block, until it ends, or `budget_steps` are spent. */
enum status phi_trace_run(struct phi_trace *trace, uint64_t budget_steps);

void phi_judge(struct checking *checking);
/* The kernel with a warp as large as a block, if its own is smaller. */
struct ast_kernel *phi_besides(struct arena *arena, const struct ast_kernel *kernel,
                               const struct check_options *options);

#endif
