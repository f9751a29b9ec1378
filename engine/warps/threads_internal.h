/*
 * threads_internal.h - what the rules of a thread work on: its state, its stack. For threads.c and threads_machine.c.
 */
#ifndef ENGINE_THREADS_INTERNAL_H
#define ENGINE_THREADS_INTERNAL_H

#include "engine/base/invariant.h"
#include "engine/machine/semantics.h"
#include "engine/warps/threads.h"

enum { THREAD_HEAD_WORDS = sizeof(struct thread_state) / 4 };

static inline uint32_t thread_stride(const struct program *program)
{
    uint32_t words_an_entry = program->barrier_count > 0 ? 2 : 1;
    return THREAD_HEAD_WORDS + words_an_entry * program->stack_depth;
}

/* What a rule works on. */
struct thread_step {
    struct machine *m;
    struct thread_state *T;
    uint32_t theta;           /* the thread's number */
    const struct code_stm *s; /* statement on top, if any */
    uint32_t number;          /* its number */
    struct choices *choices;
};

STEP_INLINE struct thread_state *state_of(const struct machine *machine, uint32_t thread)
{
    return (struct thread_state *)((uint32_t *)machine->extra +
                                   (size_t)thread * thread_stride(machine->program));
}

/* beta of the topmost entry (threads.h); in programs with barriers only. */
STEP_INLINE uint32_t *beta_of_top(const struct thread_step *x)
{
    return &x->T->stack[x->m->program->stack_depth + x->T->depth - 1];
}

STEP_INLINE void push(struct thread_step *x, stack_entry entry)
{
    INVARIANT(x->T->depth < x->m->program->stack_depth);
    put(x->m, &x->T->stack[x->T->depth], entry);
    put(x->m, &x->T->depth, x->T->depth + 1);
    if (x->m->program->barrier_count > 0)
        put(x->m, beta_of_top(x), 0);
}

/* Pops the topmost entry; a call context takes its frame along. */
STEP_INLINE void pop(struct thread_step *x)
{
    struct thread_state *T = x->T;
    stack_entry entry = T->stack[T->depth - 1];
    if (is_tracked(x->m)) {
        put(x->m, &T->stack[T->depth - 1], 0);
        if (x->m->program->barrier_count > 0)
            put(x->m, beta_of_top(x), 0);
    }
    put(x->m, &T->depth, T->depth - 1);
    if (entry_kind(entry) == ENTRY_CALL) {
        put(x->m, &T->calls, T->calls - 1);
        if (T->calls > 0)
            frame_pop(x->m, x->theta, entry_caller(entry), entry_callee(entry));
    }
}

/* s T becomes T: the slice on top loses its first statement. */
STEP_INLINE void advance(struct thread_step *x)
{
    if (x->s->last)
        pop(x);
    else
        put(x->m, &x->T->stack[x->T->depth - 1], entry_make(ENTRY_STM, x->number + 1));
}

STEP_DECLARE(threads_step);

#endif
