/*
 * threads_machine.c - semantics_threads as a machine: where the state of a thread lies, how it starts, what schedulers
 * and barriers ask. Its rules are threads.c.
 */
#include "engine/machine/symmetry.h"
#include "engine/warps/threads_internal.h"

#include <stddef.h>

const struct thread_state *threads_state(const struct machine *machine, uint32_t thread)
{
    return state_of(machine, thread);
}

static void layout(const struct machine *machine, struct lane_layout *layout)
{
    const struct program *program = machine->program;
    struct lane_words words = {.threads = program->total_threads,
                               .word = layout_place(machine, machine->extra),
                               .stride = thread_stride(program)};
    const uint32_t head = offsetof(struct thread_state, address) / 4;
    words.words = head;
    layout_words(layout, &words);
    words.words = words.stride - head - 1;
    words.word += head + 1;
    layout_words(layout, &words);
    words.word--;
    words.words = 1;
    words.kind = LANE_ADDRESS;
    layout_words(layout, &words);
}

static uint32_t extra_words(const struct program *program)
{
    return program->total_threads * thread_stride(program);
}

static uint32_t actor_count(const struct program *program)
{
    return program->total_threads;
}

/* INT.init: every thread starts with P call. */
static void init(struct machine *machine)
{
    for (uint32_t t = 0; t < machine->program->total_threads; t++) {
        struct thread_state *T = state_of(machine, t);
        T->calls = 1;
        T->depth = 2;
        T->stack[0] = entry_call(0, 0);
        T->stack[1] = entry_make(ENTRY_STM, machine->program->functions[0].body);
    }
}

static uint32_t next_stm(const struct machine *machine, uint32_t actor)
{
    const struct thread_state *T = state_of(machine, actor);
    if (T->depth == 0)
        return CODE_NONE;
    stack_entry top = T->stack[T->depth - 1];
    return entry_kind(top) <= ENTRY_CONT ? entry_number(top) : CODE_NONE;
}

static uint32_t control(const struct machine *machine, uint32_t actor)
{
    const struct thread_state *T = state_of(machine, actor);
    uint32_t at = T->depth;
    while (at > 0 && entry_kind(T->stack[at - 1]) > ENTRY_CONT)
        at--;
    return at > 0 ? entry_number(T->stack[at - 1]) : CODE_NONE;
}

/* ς(θ) = ς(θ'): the stacks, with the evaluated form on top, or not. */
static bool same_pc(const struct machine *machine, uint32_t actor, uint32_t other, bool literal)
{
    const struct thread_state *T = state_of(machine, actor), *U = state_of(machine, other);
    if (T->depth != U->depth || T->pending != U->pending ||
        memcmp(T->stack, U->stack, T->depth * sizeof *T->stack) != 0)
        return false;
    return !literal || (T->address == U->address && T->value == U->value);
}

static uint32_t level(const struct machine *machine, uint32_t actor)
{
    return state_of(machine, actor)->depth;
}

static void footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes)
{
    uint32_t number = next_stm(machine, actor);
    *reads = *writes = 0;
    if (number == CODE_NONE)
        return;
    const struct code_stm *stm = &machine->program->stms[number];
    bool pending = state_of(machine, actor)->pending;
    if (!pending)
        *reads = stm->reads;
    if (pending || stm->kind != CODE_ASSIGN) /* an assignment's read is a step of its own */
        *writes = stm->writes;
}

/* CFG.bv: equal stacks (the barrier on top, the same nesting and calls below), equal trips of the
 * loops on them, equal sites of the calls. */
static bool same_barrier(const struct machine *machine, uint32_t actor, uint32_t other)
{
    const struct thread_state *T = state_of(machine, actor), *U = state_of(machine, other);
    uint32_t beta = machine->program->stack_depth;
    return T->depth == U->depth && memcmp(T->stack, U->stack, T->depth * sizeof *T->stack) == 0 &&
           memcmp(T->stack + beta, U->stack + beta, T->depth * sizeof *T->stack) == 0;
}

static void pass_barrier(struct machine *machine, uint32_t actor)
{
    struct thread_step x = {.m = machine, .T = state_of(machine, actor), .theta = actor};
    x.number = entry_number(x.T->stack[x.T->depth - 1]);
    x.s = &machine->program->stms[x.number];
    advance(&x);
    for (uint32_t i = 0; i < x.T->depth; i++)
        if (entry_kind(x.T->stack[i]) == ENTRY_CONT)
            put(machine, &x.T->stack[machine->program->stack_depth + i], 0);
}

const struct semantics semantics_threads = {
    .name = "threads",
    .form = FORM_STRUCTURED,
    .actors = ACTORS_THREADS,
    .kinds =
        CODE_KINDS_CORE | 1 << CODE_ASSUME | 1 << CODE_HAVOC | 1 << CODE_ATOMIC | 1 << CODE_BARRIER,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .init = init,
    .layout = layout,
    .step = STEP_TABLE(threads_step),
    .footprint = footprint,
    .next_stm = next_stm,
    .control = control,
    .same_pc = same_pc,
    .level = level,
    .same_barrier = same_barrier,
    .pass_barrier = pass_barrier,
    .barrier_rule = RULE_THR_BARRIER_S,
    .divergence_rule = RULE_THR_BARRIER_F,
};
