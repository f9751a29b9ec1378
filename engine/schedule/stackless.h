/*
 * stackless.h - warps without a stack: simt-correctness, 5.2 (SL.step).
 *
 *      Θ = schedule(ς)     Θ =/= {}     for all θ, θ' in Θ. ς(θ) = ς(θ')
 *      for all θ in Θ.  ς(θ), μ  ==>_θ  ς'(θ), μ_θ
 *      ------------------------------------------------------------------
 *      ς, μ  ==>  ς', merge(μ_θ)
 *
 * Each thread has a stack, or a pc, of its own; a schedule function chooses threads at one program counter,
 * and each of them takes a step. An assignment's read and its write are separate steps, so what a group
 * reads it reads before what it writes; merge overwrites what was written, and so a step of the group
 * is a step of each thread after the other, in any order (SL.sim). Therefore a stack-less warp is no machine
 * but a schedule of the thread semantics: this file chooses Θ, and hands its threads out one by one, in
 * ascending order. Atomics of a group are done one after the other, too.
 *
 * The schedule function keeps a state of its own: it never chooses a thread that is final or waits at
 * a barrier. The units of a grid, warps or blocks, take turns. Equal program counters: equal stacks, in
 * erased mode whatever the evaluated form x := v holds; in literal mode the value counts, too.
 */
#ifndef ENGINE_STACKLESS_H
#define ENGINE_STACKLESS_H

#include "engine/base/pcg.h"
#include "engine/machine/machine.h"

enum stackless_policy {
#define POLICY(id, name, unit, sentence) STACKLESS_##id,
#include "engine/kernel/stackless.def"
#undef POLICY
    STACKLESS_POLICY_COUNT
};

struct stackless_info {
    const char *name;
    bool over_block; /* groups are formed over the warps of a block */
    const char *sentence;
};

extern const struct stackless_info stackless_table[STACKLESS_POLICY_COUNT];

/* Under these every thread that can step does so again and again, when units take turns. */
enum { STACKLESS_FAIR = 5 };
extern const enum stackless_policy stackless_fair[STACKLESS_FAIR];

/* Those, and random ones (with probability 1). */
bool stackless_is_fair(enum stackless_policy policy);

static inline bool stackless_subdivides(enum stackless_policy policy)
{
    return policy >= STACKLESS_DWS && policy <= STACKLESS_DWS_NONE;
}

struct stackless_spec {
    enum stackless_policy policy;
    bool literal;    /* "same program counter" as printed */
    bool then_first; /* DWS: the other path of an unmarked branch runs first */
};

/* DWS: branches at which a warp splits. */
enum { STACKLESS_MARKS_IFS = 1, STACKLESS_MARKS_LOOPS = 2 };

/* DWS, of a thread. */
struct stackless_split {
    uint32_t region; /* the innermost one that it is in, + 1; 0: none */
    uint32_t turn;   /* 0: runs; else how many paths of its region's branch come first */
    uint32_t steps;  /* it is in the Θ that steps */
};

/* DWS: an unmarked branch whose paths have not met yet. */
struct stackless_region {
    uint32_t parent; /* the one around it, + 1 */
    uint32_t level;  /* paths meet below it, or at it where `place` is; 0: not in use */
    uint32_t place;  /* blocks, PTX: a statement, + 1 */
};

/* The schedule function. Its state - what decides what it does next, besides the machine's - are the words;
 * all the rest is fixed, or empty between picks. */
struct stackless {
    struct stackless_spec spec;
    struct pcg *rng;                     /* of RANDOM */
    uint32_t block_threads, block_units; /* of a block: threads; warps, or 1 */
    uint32_t unit_count, unit_threads;   /* the last warp of a block may have fewer */
    uint32_t lanes;
    uint32_t *words;
    uint32_t word_count, word_room;
    uint32_t *turn;   /* words: the unit that stepped last */
    uint32_t *chosen; /* words: how many of Θ are still to step, then their numbers, last first */
    uint32_t *last;   /* words, RR, ITS: of each unit, its thread that was chosen last, + 1 */
    uint32_t
        *held; /* words, ITS: the thread whose turn it is, and the statement of its step, + 1 */
    uint32_t *queue; /* words, OLDEST, DTime: the threads of each unit, longest waiting first */
    uint32_t
        *passed; /* words, DPdPri: of each thread: post-dominators, less the fewest in its unit */
    uint32_t *seen;    /* words, DPdPri: of each thread: statement of its last step, + 1 */
    uint32_t *stepped; /* words, DWS: statement of Θ's step, + 1, and its level */
    struct stackless_split *splits; /* words, DWS: a thread */
    struct stackless_region
        *regions;   /* words, DWS: as many as threads; of each unit at its threads */
    unsigned marks; /* DWS: STACKLESS_MARKS_... */
    uint32_t *
        meets; /* DWS, blocks and PTX. A branch: the statement where its paths meet, + 1; 0: none */
    uint8_t *leaves_loop; /* DWS. A branch: one of its paths leaves a loop */
    uint32_t *order;      /* MINPC, DPC. A statement: its place in the source */
    uint8_t *joins;       /* DPdPri. A statement: where the paths of a branch meet */
    uint32_t *members;    /* a group: how many */
    uint32_t *leader;     /* a group: its lowest thread */
    uint32_t *live;       /* threads of the unit at hand that can step */
    uint8_t *role;        /* a thread of the unit at hand */
    bool *taken;          /* a lane: taken by a thread of Θ */
};

/* Why the semantics has no stack-less warps ("its actors are no threads"), or NULL. */
const char *stackless_refuses(const struct semantics *semantics);

/* The schedule function in its initial state, for the machine in its initial state. */
struct stackless *stackless_new(struct arena *arena, const struct machine *machine,
                                const struct stackless_spec *spec, struct pcg *rng);

/* The thread to step next; one must be live. */
uint32_t stackless_pick(struct stackless *stackless, const struct machine *machine);

/* Whether the next pick chooses a Θ anew: SL.step begins. */
static inline bool stackless_between(const struct stackless *stackless)
{
    return stackless->chosen[0] == 0;
}

/* "minpc", "oldest:literal", "dws-loops:then-first". False: there is no such policy. */
bool stackless_parse(const char *text, struct stackless_spec *spec);
const char *stackless_name(struct arena *arena, const struct stackless_spec *spec);

#endif
