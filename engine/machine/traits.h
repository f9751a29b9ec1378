/*
 * traits.h - what a semantics says of itself: a table of functions and traits, one instance each. Nobody outside of a
 * semantics' room asks which one it is; docs/extending.md adds one.
 */
#ifndef ENGINE_MACHINE_TRAITS_H
#define ENGINE_MACHINE_TRAITS_H

#include "engine/base/arena.h"
#include "engine/machine/observer.h"
#include "engine/program/program.h"

struct choices;     /* machine.h */
struct lane_layout; /* symmetry.h */
struct machine;     /* state.h */
struct machine_options;

/* What steps. */
enum actors {
    ACTORS_THREADS,
    ACTORS_WARPS,
    ACTORS_BLOCKS /* the threads of a block as one vector */
};

/* What a warp keeps of its lanes that wait. */
enum warp_stack {
    STACK_NONE, /* nothing that others look into */
    STACK_SIMT, /* tokens among the statements, simt-correctness Table 2: simt.h says them */
    STACK_CRS   /* the branch unit's token stack, cuda-crs 5.4: crs.h says them */
};

/* Entries as engine/warps/stack.h has them, topmost last; masks: of the tokens among them, for so many lanes; or
 * NULL. */
struct actor_stack {
    uint32_t depth;
    const uint32_t *stack;
    const lane_mask *masks;
    uint32_t lanes;
};

/* What steps beside the actors: alternatives, with numbers from actor_count on, and the words of their state, which lie
 * behind the extra words. */
struct machine_environment {
    uint32_t alternatives, words;
};

/* What a step may touch, as bits that stand for parts of the state: two steps of different actors are independent
 * unless one writes what the other reads or writes. Then they can change places, and neither makes the other possible
 * or not. */
enum { TOUCHES = 3 };
struct touches {
    uint64_t reads[TOUCHES], writes[TOUCHES];
};

static inline bool touches_meet(const struct touches *a, const struct touches *b)
{
    uint64_t met = 0;
    for (uint32_t i = 0; i < TOUCHES; i++)
        met |= (a->writes[i] & (b->reads[i] | b->writes[i])) | (a->reads[i] & b->writes[i]);
    return met != 0;
}

struct semantics {
    const char *name;
    enum ast_form form; /* of the programs that it runs */
    enum actors actors;
    enum warp_stack stack;
    bool has_pcs; /* warps whose lanes have a program counter each */
    /* Actors begin, or go on, by steps of others that access nothing: splits, lanes that meet. */
    bool unseen_order;
    uint32_t kinds; /* statements that it has rules for: bits 1u << enum code_kind */
    /* Why it does not run the program, although it has a rule for each statement; NULL: it does. The function may be
     * NULL. */
    const char *(*refuses)(struct arena *arena, const struct program *program);
    /* An actor's state in a line, for traces, in the arena. NULL: fuzz/trace knows how. */
    const char *(*describe)(struct arena *arena, const struct machine *machine, uint32_t actor);
    /* An actor's stack, of structured programs, for those who look into it. NULL: they know where it lies. */
    struct actor_stack (*stack_of)(const struct machine *machine, uint32_t actor);
    /* The same with a memory that is sequentially consistent; NULL: it is this one. */
    const struct semantics *plain;
    /* What steps beside the actors, by its number ("operation of warp 3", "L1 of SM 0"), in the arena. */
    const char *(*environment_name)(struct arena *arena, const struct machine *machine,
                                    uint32_t number);
    /* Words of state beyond head, memory and thread contexts. */
    uint32_t (*extra_words)(const struct program *program);
    uint32_t (*actor_count)(const struct program *program);
    /* NULL: nothing steps but the actors. */
    struct machine_environment (*environment)(const struct program *program,
                                              const struct machine_options *options);
    size_t scratch_bytes;                  /* room that a step needs beside the state */
    void (*init)(struct machine *machine); /* extra state; head and memory are ready */
    /* What of the extra state belongs to one thread (symmetry.h); NULL: it is not known. */
    void (*layout)(const struct machine *machine, struct lane_layout *layout);
    enum rule (*step[4])(struct machine *, uint32_t, struct choices *); /* by MACHINE_* bits */
    /* Of the lock-step form: all(e), any(e) over the components of the thread's block, 0 or 1. False: a fault. */
    bool (*reduce)(struct machine *machine, uint32_t thread, const struct code_expr_op *op,
                   uint32_t stm, int32_t *result);
    /* Variables of global and shared memory that the actor's next step may read and write, as in
     * code_stm. */
    void (*footprint)(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes);
    /* What the next step of a live number touches, in the state at hand, whatever it chooses. NULL: nobody knows. */
    void (*touches)(const struct machine *machine, uint32_t number, struct touches *touches);
    /* Statement that the actor's next step executes; CODE_NONE for tokens, contexts, inact. */
    uint32_t (*next_stm)(const struct machine *machine, uint32_t actor);
    /* Whether the actor has finished its text, though it may have steps left that are not in it: a barrier that the
     * normal form adds (CFG.final), and what stands behind it. NULL: there are none (live.h, is_finished). */
    bool (*past_text)(const struct machine *machine, uint32_t actor);
    /* Threads (NULL: the actors are warps). The statement that control is at, below contexts; CODE_NONE
     * at the end. Whether two threads are at one program counter: equal stacks, or pcs and frames
     * (simt-correctness, 5.2); not literal: whatever value an evaluated assignment holds. */
    uint32_t (*control)(const struct machine *machine, uint32_t actor);
    bool (*same_pc)(const struct machine *machine, uint32_t actor, uint32_t other, bool literal);
    /* Entries on its stack, or frames. */
    uint32_t (*level)(const struct machine *machine, uint32_t actor);
    /* Barriers. Whether two waiting actors of one block are at the same barrier with the same barrier
     * variables (CFG.bv.*); NULL: the semantics has no waiting actors. */
    bool (*same_barrier)(const struct machine *machine, uint32_t actor, uint32_t other);
    /* The actor goes past the barrier at which it waits; barrier variables count from 0 again, in all
     * frames: they were equal in all threads, and only differences are ever looked at, so states that
     * differ in them alone are the same. */
    void (*pass_barrier)(struct machine *machine, uint32_t actor);
    enum rule barrier_rule;    /* what fires when a block is released */
    enum rule divergence_rule; /* and when it cannot be: the execution ends */
};

enum { MACHINE_OBSERVED = 1, MACHINE_TRACKED = 2 }; /* bits of the step variants */

#endif
