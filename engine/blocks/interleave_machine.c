/*
 * interleave_machine.c - semantics_interleave as a machine: where the state of a thread lies, how it starts, what
 * schedulers and barriers ask. Its rules are interleave.c.
 */
#include "engine/blocks/interleave_internal.h"
#include "engine/machine/symmetry.h"

enum rule interleave_goto(struct machine *machine, uint32_t thread, uint32_t target)
{
    static enum rule (*const variants[])(struct machine *, uint32_t, uint32_t) =
        STEP_TABLE(interleave_goto);
    return variants[step_variant(machine)](machine, thread, target);
}

const struct block_thread *interleave_state(const struct machine *machine, uint32_t thread)
{
    return state_of(machine, thread);
}

uint32_t interleave_block(const struct machine *machine, uint32_t thread)
{
    uint32_t pc = state_of(machine, thread)->pc;
    if (pc == PC_END)
        return CODE_NONE;
    return pc & PC_BLOCK ? pc & ~PC_BLOCK : machine->program->stms[pc].block;
}

static void layout(const struct machine *machine, struct lane_layout *layout)
{
    const struct program *program = machine->program;
    uint32_t stride = thread_stride(program);
    layout_words(layout, &(struct lane_words){.threads = program->total_threads,
                                              .word = layout_place(machine, machine->extra),
                                              .stride = stride,
                                              .words = stride});
}

static uint32_t extra_words(const struct program *program)
{
    return program->total_threads * thread_stride(program);
}

static uint32_t actor_count(const struct program *program)
{
    return program->total_threads;
}

/* INTK.init: all threads at Start. */
static void init(struct machine *machine)
{
    const struct code_function *kernel = &machine->program->functions[0];
    for (uint32_t t = 0; t < machine->program->total_threads; t++) {
        struct block_thread *T = state_of(machine, t);
        T->pc = PC_BLOCK | kernel->entry;
        T->frames = 1;
        T->words = FRAME_HEAD_WORDS + kernel->counters;
        T->stack[0] = CODE_NONE;
    }
}

static uint32_t next_stm(const struct machine *machine, uint32_t actor)
{
    uint32_t pc = state_of(machine, actor)->pc;
    return pc & PC_BLOCK ? CODE_NONE : pc;
}

/* In the block before End that is not in the text, waiting at its barrier or not, or at End. */
static bool past_text(const struct machine *machine, uint32_t actor)
{
    uint32_t block = interleave_block(machine, actor);
    return block == CODE_NONE || machine->program->blocks[block].added;
}

static uint32_t control(const struct machine *machine, uint32_t actor)
{
    uint32_t pc = state_of(machine, actor)->pc;
    if (pc == PC_END)
        return CODE_NONE;
    return pc & PC_BLOCK ? machine->program->blocks[pc & ~PC_BLOCK].first : pc;
}

/* The pc, and the call statements of all frames. */
static bool same_pc(const struct machine *machine, uint32_t actor, uint32_t other, bool literal)
{
    const struct block_thread *a = state_of(machine, actor), *b = state_of(machine, other);
    (void)literal; /* an assignment is one step */
    if (a->pc != b->pc || a->words != b->words || a->frames != b->frames)
        return false;
    for (uint32_t at = 0; at < a->words;) {
        const struct block_frame *frame = (const struct block_frame *)(a->stack + at);
        if (frame->call != ((const struct block_frame *)(b->stack + at))->call)
            return false;
        at += FRAME_HEAD_WORDS + machine->program->functions[frame->function].counters;
    }
    return true;
}

static uint32_t level(const struct machine *machine, uint32_t actor)
{
    return state_of(machine, actor)->frames;
}

static void footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes)
{
    uint32_t stm = next_stm(machine, actor);
    *reads = stm == CODE_NONE ? 0 : machine->program->stms[stm].reads;
    *writes = stm == CODE_NONE ? 0 : machine->program->stms[stm].writes;
}

/* CFG.bv.*: the barrier, and call and counters of every frame. */
static bool same_barrier(const struct machine *machine, uint32_t actor, uint32_t other)
{
    const struct block_thread *a = state_of(machine, actor), *b = state_of(machine, other);
    return a->pc == b->pc && a->words == b->words &&
           memcmp(a->stack, b->stack, a->words * sizeof *a->stack) == 0;
}

/*  Counters start from 0 again: equal in all threads now, and only compared. That loses nothing for
 *  natural loops: who leaves one of them and comes back has passed the head of one around it, whose
 *  counter tells them apart. App. A's loops do not nest, so they go on counting.
 */
static void pass_barrier(struct machine *machine, uint32_t actor)
{
    const struct program *program = machine->program;
    struct block_thread *T = state_of(machine, actor);
    put(machine, &T->waiting, 0);
    put(machine, &T->pc, T->pc + 1);
    for (uint32_t at = 0; at < T->words && !program->appendix_loops;) {
        struct block_frame *frame = (struct block_frame *)(T->stack + at);
        uint32_t counters = program->functions[frame->function].counters;
        for (uint32_t i = 0; i < counters; i++)
            put(machine, &frame->counters[i], 0);
        at += FRAME_HEAD_WORDS + counters;
    }
}

const struct semantics semantics_interleave = {
    .name = "interleave",
    .form = FORM_BLOCKS,
    .actors = ACTORS_THREADS,
    .kinds = 1u << CODE_SKIP | 1u << CODE_ASSIGN | 1u << CODE_HAVOC | 1u << CODE_ATOMIC |
             1u << CODE_PICK | 1u << CODE_ASSERT | 1u << CODE_ASSUME | 1u << CODE_BARRIER |
             1u << CODE_GOTO | 1u << CODE_CALL | 1u << CODE_END_CALL,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .init = init,
    .layout = layout,
    .step = STEP_TABLE(interleave_step),
    .footprint = footprint,
    .next_stm = next_stm,
    .past_text = past_text,
    .control = control,
    .same_pc = same_pc,
    .level = level,
    .same_barrier = same_barrier,
    .pass_barrier = pass_barrier,
    .barrier_rule = RULE_INTK_BARRIER_S,
    .divergence_rule = RULE_INTK_BARRIER_F,
};
