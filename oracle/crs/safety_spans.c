#include "oracle/crs/safety_spans.h"

struct safety_spans *safety_spans_new(struct arena *arena, const struct ptx_code *code)
{
    if (code->span_count == 0)
        return NULL;
    struct safety_spans *spans = ARENA_NEW(arena, struct safety_spans);
    spans->code = code;
    spans->starting = ARENA_ARRAY(arena, uint32_t, code->count + 1);
    spans->next = ARENA_ARRAY(arena, uint32_t, code->span_count);
    spans->capacity = 2 * code->token_capacity + 64;
    for (uint32_t i = 0; i < code->span_count; i++) { /* inner ones come first */
        uint32_t *first = &spans->starting[code->spans[i].first];
        spans->next[i] = *first;
        *first = i + 1;
    }
    return spans;
}

void safety_open_new(struct arena *arena, const struct safety_spans *spans,
                     struct safety_open *open)
{
    open->entries = ARENA_ARRAY(arena, struct safety_entry, spans->capacity);
}

/* How deep in calls the warp is: the end of a statement may be reached in another activation first. */
static uint32_t calls(const struct crs_state *s, const struct crs_token *tokens)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->depth; i++)
        count += tokens[i].type == CRS_CALL;
    return count;
}

static enum safety_predicate leave(const struct safety_spans *spans, struct safety_open *open,
                                   const struct crs_state *s, const struct crs_token *tokens)
{
    while (open->count > 0) {
        const struct safety_entry *top = &open->entries[open->count - 1];
        if (top->depth <= s->depth) {
            if (spans->code->spans[top->span].end != s->pc || calls(s, tokens) > top->calls)
                return SAFETY_NONE;
            if (top->depth != s->depth)
                return SAFETY_NEUTRAL;
            if (s->active != (top->active & ~(s->broken | s->returned | s->exited)))
                return SAFETY_RECONV;
        }
        open->count--;
    }
    return SAFETY_NONE;
}

static void enter(const struct safety_spans *spans, struct safety_open *open,
                  const struct crs_state *s, const struct crs_token *tokens)
{
    for (uint32_t i = spans->starting[s->pc]; i; i = spans->next[i - 1]) {
        if (open->count == spans->capacity) {
            open->overflow = true;
            return;
        }
        open->entries[open->count++] =
            (struct safety_entry){i - 1, s->depth, calls(s, tokens), s->active};
    }
}

enum safety_predicate safety_arrive(const struct safety_spans *spans, struct safety_open *open,
                                    const struct crs_state *s, const struct crs_token *tokens)
{
    if (open->overflow || s->completed || s->active == 0 || s->pc >= spans->code->count)
        return SAFETY_NONE;
    enum safety_predicate failed = leave(spans, open, s, tokens);
    if (failed == SAFETY_NONE)
        enter(spans, open, s, tokens);
    return failed;
}
