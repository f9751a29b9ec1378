#include "fuzz/trace/trace_crs.h"

#include "engine/crs/crs.h"

#include <inttypes.h>

static const struct {
    const char *word; /* as the tables of the paper have it */
    const char *json;
} tokens[] = {
    [CRS_SYNC] = {"sync", "sync"},
    [CRS_DIVERGE] = {"diverge", "div"},
    [CRS_CALL] = {"call", "call"},
    [CRS_BREAK] = {"break", "brk"},
};

static const char *thread_place(struct trace_text *text, uint32_t thread)
{
    struct cta_thread at = cta_thread(text->machine, thread);
    if (at.pc == 0)
        return "ended";
    if (at.barrier >= 0)
        return arena_printf(text->arena, "waits at barrier %" PRId32, at.barrier);
    return arena_printf(text->arena, "pc %" PRIu32, at.pc);
}

/* The barriers of a set: "waits for 0, 3". */
static const char *waiting(struct trace_text *text, uint32_t set)
{
    const char *list = "";
    for (uint32_t b = 0; b < 32; b++)
        if (set >> b & 1)
            list = arena_printf(text->arena, "%s%s%" PRIu32, list, *list ? ", " : "", b);
    return arena_printf(text->arena, "waits for %s", list);
}

const char *trace_crs_stack(struct trace_text *text, uint32_t actor)
{
    if (text->view == TRACE_CTA)
        return thread_place(text, actor);
    struct crs_warp warp = crs_warp(text->machine, actor);
    struct text pieces = {.arena = text->arena};
    for (uint32_t i = warp.state->depth; i-- > 0;) {
        const struct crs_token *token = &warp.tokens[i];
        trace_add_piece(&pieces,
                        arena_printf(text->arena, "(%s,%s,%" PRIu32 ")", tokens[token->type].word,
                                     trace_mask(text, token->mask, warp.lanes->count), token->pc));
    }
    if (warp.state->waiting)
        trace_add_piece(&pieces, waiting(text, warp.state->waiting));
    return pieces.bytes ? pieces.bytes : "eps";
}

const char *trace_crs_top(struct trace_text *text, uint32_t actor)
{
    uint32_t pc = text->machine->semantics->next_stm(text->machine, actor);
    return pc > 0 && pc < text->machine->program->stm_count ? text->heads[pc] : "";
}

const char *trace_crs_active(struct trace_text *text, uint32_t warp)
{
    struct crs_warp w = crs_warp(text->machine, warp);
    return trace_mask(text, w.state->active, w.lanes->count);
}

const char *trace_crs_disabled(struct trace_text *text, uint32_t warp)
{
    struct crs_warp w = crs_warp(text->machine, warp);
    char *states = ARENA_ARRAY(text->arena, char, w.lanes->count + 1);
    for (uint32_t i = 0; i < w.lanes->count; i++)
        states[i] = w.state->broken >> i & 1     ? 'b'
                    : w.state->returned >> i & 1 ? 'r'
                    : w.state->exited >> i & 1   ? 'e'
                                                 : '0';
    return states;
}

const char *trace_crs_pcs(struct trace_text *text, uint32_t warp)
{
    struct crs_warp w = crs_warp(text->machine, warp);
    struct text pieces = {.arena = text->arena};
    if (!w.pcs)
        return NULL;
    for (uint32_t i = 0; i < w.lanes->count; i++)
        trace_add_piece(&pieces, w.pcs[i] ? arena_printf(text->arena, "%" PRIu32, w.pcs[i]) : "-");
    return pieces.bytes;
}

void trace_crs_json_stack(struct trace_text *text, struct json *json, uint32_t actor)
{
    json_array_begin(json);
    if (text->view == TRACE_CRS) {
        struct crs_warp warp = crs_warp(text->machine, actor);
        for (uint32_t i = warp.state->depth; i-- > 0;) {
            const struct crs_token *token = &warp.tokens[i];
            json_array_begin(json);
            json_string(json, tokens[token->type].json);
            json_string(json, trace_mask(text, token->mask, warp.lanes->count));
            json_u64(json, token->pc);
            json_array_end(json);
        }
    }
    json_array_end(json);
}
