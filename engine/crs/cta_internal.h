/*
 * cta_internal.h - the state of semantics_block, for block.c and cta_barrier.c: machine.extra holds the
 * barriers of all blocks, then the threads, one stride each.
 *
 * A state of the paper is s = (E, B). E(i) = false iff thread i's `barrier` is not 0; it is at its sync then,
 * and belongs to that barrier's list I, and to no other. So of B(b) = (I, A, n) only the lengths of the
 * lists and n are kept: what the rules ask for. A thread may be in A twice.
 */
#ifndef ENGINE_CTA_INTERNAL_H
#define ENGINE_CTA_INTERNAL_H

#include "engine/crs/crs.h"
#include "engine/lanes/ptx_exec.h"
#include "engine/machine/live.h"
#include "engine/machine/semantics.h"

enum {
    CTA_BARRIERS = 16,
    CTA_MEETS = CTA_BARRIERS + 1 /* cta_state.barrier: waits for lanes of its warp */
};

struct cta_barrier_state {
    uint32_t n;       /* 0: ⊥, not configured */
    uint32_t synced;  /* |I| */
    uint32_t arrived; /* |A| */
    uint32_t red;     /* bar.red: enum ptx_word; PTX_W_NONE */
    uint32_t truths;  /* bar.red: threads of I whose predicate holds */
    uint32_t ended;   /* generations; not counted in a tracked machine */
};

enum cta_entry_type { CTA_BREAK, CTA_CALL };

/* The private stack of CHK.oracle: what preBrk and preRet push. */
struct cta_entry {
    uint32_t pc;
    uint32_t type;  /* enum cta_entry_type */
    uint32_t depth; /* of the frames when it was pushed */
    uint32_t unused;
};

struct cta_state {
    uint32_t pc;      /* 0: ended */
    uint32_t barrier; /* that it is blocked at, + 1; 0: enabled */
    uint32_t entry_count;
    uint32_t unused;
    struct cta_entry entries[]; /* ptx_code.token_capacity; then its ptx_lanes */
};

/* The barriers of a block. */
struct cta_barriers {
    uint32_t ids; /* set of the numbers that exist; `at` holds these only */
    struct cta_barrier_state *at;
};

static inline struct cta_barriers cta_barriers_at(const struct machine *machine, uint32_t block)
{
    const struct ptx_code *code = machine->program->ptx;
    struct cta_barrier_state *first = machine->extra;
    return (struct cta_barriers){code->barriers, first + block * code->barrier_count};
}

static inline struct cta_barrier_state *cta_barrier_at(const struct cta_barriers *B, uint32_t b)
{
    return &B->at[__builtin_popcount(B->ids & ((1u << b) - 1))];
}

static inline uint32_t cta_barrier_words(const struct program *program)
{
    return program->launch.blocks * program->ptx->barrier_count *
           (uint32_t)(sizeof(struct cta_barrier_state) / 4);
}

static inline uint32_t cta_thread_stride(const struct program *program)
{
    return (uint32_t)((sizeof(struct cta_state) +
                       program->ptx->token_capacity * sizeof(struct cta_entry)) /
                      4) +
           ptx_lanes_words(program, 1);
}

static inline struct cta_state *cta_state_at(const struct machine *machine, uint32_t thread)
{
    return (struct cta_state *)((uint32_t *)machine->extra + cta_barrier_words(machine->program) +
                                (size_t)thread * cta_thread_stride(machine->program));
}

static inline struct ptx_lanes *cta_lanes_at(const struct machine *machine, uint32_t thread)
{
    return (struct ptx_lanes *)(cta_state_at(machine, thread)->entries +
                                machine->program->ptx->token_capacity);
}

/* What a rule works on. */
struct cta_step {
    struct machine *m;
    struct cta_state *P;
    struct ptx_lanes *lanes;
    const struct ptx_op *op;
    uint32_t id;                 /* the thread's number in the grid */
    uint32_t pc;                 /* of its command */
    uint32_t b, n;               /* sync b n, arrive b n */
    struct cta_barrier_state *B; /* of b */
    bool truth;                  /* bar.red: the thread's predicate */
    bool waits_in_warp;          /* its: it has come to a .sync instruction */
    struct choices *choices;
};

static inline struct cta_step cta_step_of(struct machine *machine, uint32_t thread,
                                          struct choices *choices)
{
    struct cta_step x = {.m = machine,
                         .P = cta_state_at(machine, thread),
                         .lanes = cta_lanes_at(machine, thread),
                         .id = thread,
                         .choices = choices};
    x.pc = x.P->pc;
    x.op = &machine->program->ptx->ops[x.pc];
    return x;
}

static inline bool cta_is_barrier(const struct ptx_op *op)
{
    return op->exec >= PTX_EXEC_BAR_SYNC && op->exec <= PTX_EXEC_BAR_RED;
}

/* The pc of the thread's next instruction; CODE_NONE: there is none. */
uint32_t cta_next(const struct machine *machine, uint32_t actor);

/* ---- cta_barrier.c ---- */

/* sync b n, arrive b n: the thread's command is a bar.sync, bar.red or bar.arrive whose guard holds. */
enum rule cta_barrier_step(struct cta_step *x);

/* What the block does behind a step of the thread that registered at a barrier: the barrier's recycling, if
 * it is full; with BLOCK_EAGER, or an error of a thread that is at it. */
void cta_barrier_settle(struct cta_step *x);

/* A thread that has ended is at address 0; so is one that has jumped there, which is stuck in its next step. */
static inline bool cta_has_ended(const struct machine *machine, uint32_t thread)
{
    return cta_state_at(machine, thread)->pc == 0 && !is_live(machine, thread);
}

/* Threads of the group that wait no more are live again, in their places among the live actors: `count` of them. */
void cta_revive(struct machine *machine, struct machine_group *group, uint32_t count);

/* ---- its.c ---- */

/* A .sync instruction whose guard holds: the thread waits. */
enum rule its_wait(struct cta_step *x);

/* activemask: the thread alone, or with all that stand there. */
enum rule its_activemask(struct cta_step *x);

/* Behind a step of a thread that waits in its warp, or has ended: lanes that are all there go on. */
void its_settle(struct cta_step *x);

STEP_DECLARE(block_step);

#endif
