#include "fuzz/trace/trace_text.h"

#include "engine/language/print.h"
#include "engine/program/ptx_code.h"
#include "fuzz/trace/trace_blocks.h"
#include "fuzz/trace/trace_crs.h"

#include <inttypes.h>
#include <string.h>

enum {
    SLICE_HEADS_MAX = 4, /* statements of one slice that are written out */
    VALUES_MAX = 64,     /* values of one variable */
    VALUE_WIDTH = 14,    /* bytes that one value takes at most, with its separators */
};

const char *const trace_entry_names[] = {
    [ENTRY_STM] = "stm",   [ENTRY_CONT] = "cont", [ENTRY_BRK] = "brk",
    [ENTRY_CALL] = "call", [ENTRY_DIV] = "div",   [ENTRY_SYNC] = "sync",
};

static const char *statement_head(struct arena *arena, const struct program *program, uint32_t i)
{
    const struct code_stm *stm = &program->stms[i];
    if (program->form == FORM_PTX)
        return i == 0 ? "" : ptx_op_text(arena, program->ptx, i);
    return stm->source ? print_stm_head(arena, stm->source)
                       : trace_blocks_goto(arena, program, stm);
}

enum trace_view trace_view_of(const struct machine *machine)
{
    switch (machine->program->form) {
    case FORM_PTX:
        return machine->semantics->actors == ACTORS_THREADS ? TRACE_CTA : TRACE_CRS;
    case FORM_BLOCKS:
        return TRACE_BLOCKS;
    case FORM_LOCKSTEP:
        return TRACE_VECTORS;
    case FORM_STRUCTURED:
        break;
    }
    return machine->semantics->actors == ACTORS_WARPS ? TRACE_WARPS : TRACE_THREADS;
}

void trace_text_start(struct trace_text *text, struct arena *arena, const struct machine *machine,
                      enum trace_view view)
{
    const struct program *program = machine->program;
    *text = (struct trace_text){.arena = arena, .machine = machine, .view = view};
    text->heads = ARENA_ARRAY(arena, const char *, program->stm_count);
    for (uint32_t i = 0; i < program->stm_count; i++)
        text->heads[i] = statement_head(arena, program, i);
}

const char *trace_mask(struct trace_text *text, lane_mask mask, uint32_t lanes)
{
    char *digits = ARENA_ARRAY(text->arena, char, lanes + 1);
    for (uint32_t i = 0; i < lanes; i++)
        digits[i] = mask >> i & 1 ? '1' : '0';
    return digits;
}

const char *trace_disabled(struct trace_text *text, const struct warp_state *warp)
{
    char *states = ARENA_ARRAY(text->arena, char, warp->lanes + 1);
    for (uint32_t i = 0; i < warp->lanes; i++)
        states[i] = simt_disable_state(warp, i);
    return states;
}

struct trace_entries trace_entries(const struct machine *machine, bool warps, uint32_t actor)
{
    if (machine->semantics->stack_of) {
        struct actor_stack stack = machine->semantics->stack_of(machine, actor);
        return (struct trace_entries){stack.depth, stack.stack, stack.masks, stack.lanes};
    }
    if (warps) {
        struct warp_state warp = simt_state(machine, actor);
        return (struct trace_entries){warp.depth, warp.stack, warp.masks, warp.lanes};
    }
    const struct thread_state *thread = threads_state(machine, actor);
    return (struct trace_entries){thread->depth, thread->stack, NULL, 0};
}

void trace_add_piece(struct text *pieces, const char *piece)
{
    if (pieces->length > 0)
        text_put(pieces, " ");
    text_put(pieces, piece);
}

void trace_add_slice(struct trace_text *text, struct text *pieces, uint32_t stm)
{
    const struct code_stm *stms = text->machine->program->stms;
    for (uint32_t count = 0;; stm++, count++) {
        if (count == SLICE_HEADS_MAX) {
            trace_add_piece(pieces, "...");
            return;
        }
        trace_add_piece(pieces, text->heads[stm]);
        if (stms[stm].last)
            return;
    }
}

/* The evaluated assignment x := v of erratum A-2. */
static const char *pending(struct trace_text *text, uint32_t thread)
{
    const struct machine *machine = text->machine;
    const struct thread_state *state = threads_state(machine, thread);
    uint32_t number = entry_number(state->stack[state->depth - 1]);
    const struct code_stm *stm = &machine->program->stms[number];
    const char *name = stm->source->target.var->name;
    int32_t value = (int32_t)state->value;
    if (stm->place.index == CODE_NONE)
        return arena_printf(text->arena, "%s := %" PRId32 ";", name, value);
    uint32_t first = machine->threads[thread].base[stm->place.space] + stm->place.offset;
    return arena_printf(text->arena, "%s[%" PRIu32 "] := %" PRId32 ";", name,
                        state->address - first, value);
}

static bool is_pending(const struct trace_text *text, uint32_t actor)
{
    return text->view == TRACE_THREADS && !text->machine->semantics->stack_of &&
           threads_state(text->machine, actor)->pending;
}

/* "while° (i > 0) ...": the continuing loop. */
static const char *continuing(struct trace_text *text, uint32_t stm)
{
    const char *loop = text->heads[stm];
    size_t keyword = strlen("while");
    if (strncmp(loop, "while", keyword) != 0)
        return loop;
    return arena_printf(text->arena, "while\u00b0%s", loop + keyword);
}

static const char *token(struct trace_text *text, const struct trace_entries *entries, uint32_t i)
{
    const char *name = trace_entry_names[entry_kind(entries->stack[i])];
    if (!entries->masks)
        return arena_printf(text->arena, "<%s>", name);
    return arena_printf(text->arena, "<%s %s>", name,
                        trace_mask(text, entries->masks[i], entries->lanes));
}

static void add_entry(struct trace_text *text, struct text *pieces,
                      const struct trace_entries *entries, uint32_t i)
{
    uint32_t number = entry_number(entries->stack[i]);
    switch (entry_kind(entries->stack[i])) {
    case ENTRY_STM:
        trace_add_slice(text, pieces, number);
        break;
    case ENTRY_CONT:
        trace_add_piece(pieces, continuing(text, number));
        break;
    case ENTRY_BRK:
    case ENTRY_CALL:
    case ENTRY_DIV:
    case ENTRY_SYNC:
        trace_add_piece(pieces, token(text, entries, i));
        break;
    }
}

const char *trace_stack(struct trace_text *text, uint32_t actor)
{
    const struct machine *machine = text->machine;
    if (machine->semantics->describe)
        return machine->semantics->describe(text->arena, machine, actor);
    if (trace_is_ptx(text->view))
        return trace_crs_stack(text, actor);
    if (trace_is_blocks(text->view))
        return trace_blocks_state(text, actor);
    struct trace_entries entries = trace_entries(text->machine, text->view == TRACE_WARPS, actor);
    struct text pieces = {.arena = text->arena};
    uint32_t i = entries.depth;
    if (i == 0)
        return "eps";
    if (is_pending(text, actor)) {
        i--;
        trace_add_piece(&pieces, pending(text, actor));
        uint32_t stm = entry_number(entries.stack[i]);
        if (!text->machine->program->stms[stm].last)
            trace_add_slice(text, &pieces, stm + 1);
    }
    while (i > 0)
        add_entry(text, &pieces, &entries, --i);
    return pieces.bytes;
}

const char *trace_top(struct trace_text *text, uint32_t actor)
{
    if (trace_is_ptx(text->view))
        return trace_crs_top(text, actor);
    if (trace_is_blocks(text->view))
        return trace_blocks_top(text, actor);
    struct trace_entries entries = trace_entries(text->machine, text->view == TRACE_WARPS, actor);
    if (entries.depth == 0)
        return "";
    if (is_pending(text, actor))
        return pending(text, actor);
    uint32_t top = entries.depth - 1;
    uint32_t number = entry_number(entries.stack[top]);
    switch (entry_kind(entries.stack[top])) {
    case ENTRY_STM:
        return text->heads[number];
    case ENTRY_CONT:
        return continuing(text, number);
    case ENTRY_BRK:
    case ENTRY_CALL:
    case ENTRY_DIV:
    case ENTRY_SYNC:
        break;
    }
    return token(text, &entries, top);
}

/* One copy of a variable: "4" or "{0, 1}"; *budget values are left to print. */
static size_t print_copy(char *out, const int32_t *values, const struct ast_var *var,
                         uint32_t *budget)
{
    size_t length = 0;
    if (!var->is_array) {
        *budget -= *budget > 0;
        return (size_t)sprintf(out, "%" PRId32, values[0]);
    }
    length += (size_t)sprintf(out, "{");
    for (uint32_t i = 0; i < var->length; i++) {
        if (*budget == 0) {
            length += (size_t)sprintf(out + length, "%s...", i ? ", " : "");
            break;
        }
        length += (size_t)sprintf(out + length, "%s%" PRId32, i ? ", " : "", values[i]);
        --*budget;
    }
    return length + (size_t)sprintf(out + length, "}");
}

const char *trace_values(struct trace_text *text, uint32_t var)
{
    const struct program *program = text->machine->program;
    const struct code_var *code = &program->vars[var];
    enum ast_space space = code->ast->space;
    uint32_t threads = program->launch.threads;
    uint32_t copies = space == SPACE_GLOBAL   ? 1
                      : space == SPACE_SHARED ? program->launch.blocks
                                              : program->total_threads;
    uint32_t budget = VALUES_MAX;
    char *out = ARENA_ARRAY(text->arena, char, VALUE_WIDTH *(2 * VALUES_MAX + 4));
    size_t length = 0;
    if (copies > 1)
        length += (size_t)sprintf(out, "{");
    for (uint32_t i = 0; i < copies; i++) {
        if (budget == 0) {
            length += (size_t)sprintf(out + length, ", ...");
            break;
        }
        uint32_t thread = space == SPACE_SHARED ? i * threads : i;
        uint32_t base = text->machine->threads[thread].base[space] + code->offset;
        length += (size_t)sprintf(out + length, "%s", i ? ", " : "");
        length += print_copy(out + length, text->machine->memory + base, code->ast, &budget);
    }
    if (copies > 1)
        sprintf(out + length, "}");
    return out;
}
