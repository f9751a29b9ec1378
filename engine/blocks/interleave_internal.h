/*
 * interleave_internal.h - what the rules of a thread in block form work on: its state, its frames. For interleave.c
 * and interleave_machine.c.
 */
#ifndef ENGINE_INTERLEAVE_INTERNAL_H
#define ENGINE_INTERLEAVE_INTERNAL_H

#include "engine/blocks/interleave.h"
#include "engine/machine/semantics.h"

enum {
    THREAD_HEAD_WORDS = sizeof(struct block_thread) / 4,
    FRAME_HEAD_WORDS = sizeof(struct block_frame) / 4
};

/* What a rule works on. */
struct intk_step {
    struct machine *m;
    struct block_thread *T;
    uint32_t t;               /* the thread's number */
    uint32_t number;          /* its next statement's */
    const struct code_stm *s; /* the statement */
    struct choices *choices;
    bool truth;   /* of an assert's, assume's or barrier's condition, or a guard */
    bool stopped; /* the thread waits now, or has ended */
};

static inline uint32_t thread_stride(const struct program *program)
{
    return THREAD_HEAD_WORDS + program->stack_depth;
}

STEP_INLINE struct block_thread *state_of(const struct machine *machine, uint32_t thread)
{
    return (struct block_thread *)((uint32_t *)machine->extra +
                                   (size_t)thread * thread_stride(machine->program));
}

/* The topmost frame, of an activation of `function`. */
STEP_INLINE struct block_frame *top_frame(const struct intk_step *x, uint32_t function)
{
    uint32_t words = FRAME_HEAD_WORDS + x->m->program->functions[function].counters;
    return (struct block_frame *)(x->T->stack + x->T->words - words);
}

/* CFG.seq_B: s; b becomes b. */
STEP_INLINE void advance(struct intk_step *x)
{
    put(x->m, &x->T->pc, x->number + 1);
}

STEP_DECLARE(interleave_step);
#define INTERLEAVE_GOTO(variant)                                                                   \
    enum rule interleave_goto_##variant(struct machine *machine, uint32_t thread, uint32_t target)
INTERLEAVE_GOTO(0);
INTERLEAVE_GOTO(1);
INTERLEAVE_GOTO(2);
INTERLEAVE_GOTO(3);

#endif
