#include "fuzz/trace/trace_blocks.h"

#include "engine/blocks/interleave.h"
#include "engine/blocks/lockstep.h"

#include <inttypes.h>

const char *trace_blocks_goto(struct arena *arena, const struct program *program,
                              const struct code_stm *stm)
{
    const struct code_block *block = &program->blocks[stm->block];
    const char *text = "goto";
    if (block->target_count == 0)
        return "return;";
    for (uint32_t i = 0; i < block->target_count; i++) {
        uint32_t target = program->targets[block->target_first + i];
        text = arena_printf(arena, "%s%s %s", text, i ? "," : "",
                            target == BLOCK_END ? "End" : program->blocks[target].name);
    }
    return arena_printf(arena, "%s;", text);
}

/* The frames of a thread, the kernel's first. */
static uint32_t find_frames(const struct program *program, const struct block_thread *T,
                            const struct block_frame *frames[LIMIT_CALL_DEPTH])
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < T->words; count++) {
        frames[count] = (const struct block_frame *)(T->stack + at);
        at += (uint32_t)(sizeof(struct block_frame) / sizeof *T->stack) +
              program->functions[frames[count]->function].counters;
    }
    return count;
}

static const char *frame_text(struct trace_text *text, const struct block_frame *frame)
{
    const struct code_function *function = &text->machine->program->functions[frame->function];
    const char *counters = "";
    for (uint32_t i = 0; i < function->counters; i++)
        counters =
            arena_printf(text->arena, "%s%s%" PRIu32, counters, i ? ", " : " ", frame->counters[i]);
    return arena_printf(text->arena, "<%s%s>", function->name, counters);
}

/* Frames are shown where there is something to see: calls, or loops that count. */
static void add_frames(struct trace_text *text, struct text *pieces, uint32_t thread)
{
    const struct program *program = text->machine->program;
    const struct block_frame *frames[LIMIT_CALL_DEPTH];
    uint32_t count = find_frames(program, interleave_state(text->machine, thread), frames);
    if (count == 1 && program->functions[0].counters == 0)
        return;
    while (count > 0)
        trace_add_piece(pieces, frame_text(text, frames[--count]));
}

/* The same of a thread and of a vector program. */
struct control {
    uint32_t pc;
    bool ended, waiting;
};

static struct control control_of(const struct trace_text *text, uint32_t actor)
{
    if (text->view == TRACE_VECTORS) {
        struct lockstep_state state = lockstep_state(text->machine, actor);
        return (struct control){.pc = state.pc, .ended = state.ended != 0};
    }
    const struct block_thread *T = interleave_state(text->machine, actor);
    return (struct control){.pc = T->pc, .ended = T->ended != 0, .waiting = T->waiting != 0};
}

static void add_calls(struct trace_text *text, struct text *pieces, uint32_t actor)
{
    uint32_t frames = lockstep_state(text->machine, actor).frames;
    if (frames > 1)
        trace_add_piece(pieces, arena_printf(text->arena, "<%" PRIu32 " frames>", frames));
}

const char *trace_blocks_state(struct trace_text *text, uint32_t actor)
{
    struct control control = control_of(text, actor);
    struct text pieces = {.arena = text->arena};
    if (control.ended)
        return "eps";
    if (control.waiting)
        trace_add_piece(&pieces, "waits:");
    if (control.pc & PC_BLOCK)
        trace_add_piece(&pieces, trace_blocks_top(text, actor));
    else
        trace_add_slice(text, &pieces, control.pc);
    if (text->view == TRACE_VECTORS)
        add_calls(text, &pieces, actor);
    else
        add_frames(text, &pieces, actor);
    return pieces.bytes;
}

const char *trace_blocks_top(struct trace_text *text, uint32_t actor)
{
    uint32_t pc = control_of(text, actor).pc;
    if (pc == PC_END)
        return "End";
    return pc & PC_BLOCK ? arena_printf(text->arena,
                                        "%s:", text->machine->program->blocks[pc & ~PC_BLOCK].name)
                         : text->heads[pc];
}

const char *trace_blocks_block(const struct trace_text *text, uint32_t actor)
{
    const struct program *program = text->machine->program;
    uint32_t pc = control_of(text, actor).pc;
    if (pc == PC_END)
        return NULL;
    return program->blocks[pc & PC_BLOCK ? pc & ~PC_BLOCK : program->stms[pc].block].name;
}

const char *trace_blocks_enabled(const struct trace_text *text, uint32_t actor)
{
    const uint32_t *threads;
    uint32_t count = lockstep_threads(text->machine, actor, &threads);
    const uint8_t *enabled = lockstep_enabled(text->machine);
    char *digits = ARENA_ARRAY(text->arena, char, count + 1);
    for (uint32_t i = 0; i < count; i++)
        digits[i] = enabled[i] ? '1' : '0';
    return digits;
}

void trace_blocks_frames(struct trace_text *text, struct json *json, uint32_t actor)
{
    if (text->view == TRACE_VECTORS) {
        json_u64(json, lockstep_state(text->machine, actor).frames);
        return;
    }
    const struct program *program = text->machine->program;
    const struct block_frame *frames[LIMIT_CALL_DEPTH];
    const struct block_thread *T = interleave_state(text->machine, actor);
    json_array_begin(json);
    for (uint32_t i = T->ended ? 0 : find_frames(program, T, frames); i-- > 0;) {
        json_object_begin(json);
        json_key_string(json, "function", program->functions[frames[i]->function].name);
        json_key(json, "call");
        if (frames[i]->call == CODE_NONE)
            json_null(json);
        else
            json_u64(json, frames[i]->call);
        json_key_array_begin(json, "counters");
        for (uint32_t c = 0; c < program->functions[frames[i]->function].counters; c++)
            json_u64(json, frames[i]->counters[c]);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}
