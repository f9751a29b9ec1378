/*
 * trace_text.h - states as text: stacks, masks, statements, memory.
 *
 *     simt      j = b[tid]; while (i > 0) ... <sync 0111> while° (i > 0) ... <brk 1111> <call 1111>
 *     threads   b[1] := 4; return; <call> return; <call>
 */
#ifndef FUZZ_TRACE_TEXT_H
#define FUZZ_TRACE_TEXT_H

#include "engine/base/text.h"
#include "engine/warps/simt.h"
#include "engine/warps/threads.h"

/* What an actor's state looks like. */
enum trace_view {
    TRACE_THREADS,
    TRACE_WARPS,
    TRACE_BLOCKS,
    TRACE_VECTORS,
    TRACE_CRS, /* warps of a PTX machine */
    TRACE_CTA  /* threads of `block` */
};

static inline bool trace_is_ptx(enum trace_view view)
{
    return view == TRACE_CRS || view == TRACE_CTA;
}

static inline bool trace_is_blocks(enum trace_view view)
{
    return view == TRACE_BLOCKS || view == TRACE_VECTORS;
}

/* Of a machine, by what it runs. */
enum trace_view trace_view_of(const struct machine *machine);

/* Text of one execution; all strings are made in `arena`. */
struct trace_text {
    struct arena *arena;
    const struct machine *machine;
    enum trace_view view;
    const char **heads; /* a statement */
};

void trace_text_start(struct trace_text *text, struct arena *arena, const struct machine *machine,
                      enum trace_view view);

/* Lane 0 leftmost. */
const char *trace_mask(struct trace_text *text, lane_mask mask, uint32_t lanes);
/* The disable mask: 0, b, r, e for each lane. */
const char *trace_disabled(struct trace_text *text, const struct warp_state *warp);
/* The whole stack of an actor, topmost on the left; "eps" when it is empty. */
const char *trace_stack(struct trace_text *text, uint32_t actor);
/* What the actor's next step executes: the topmost statement's head, or the topmost token. */
const char *trace_top(struct trace_text *text, uint32_t actor);

/* Entries of an actor's stack, topmost last, with the masks of tokens (NULL for threads). */
struct trace_entries {
    uint32_t depth;
    const stack_entry *stack;
    const lane_mask *masks;
    uint32_t lanes;
};
/* Of a structured program. */
struct trace_entries trace_entries(const struct machine *machine, bool warps, uint32_t actor);
/* "stm", "cont", "brk", "call", "div", "sync" */
extern const char *const trace_entry_names[];

/* Adds a piece; pieces are joined by spaces. */
void trace_add_piece(struct text *pieces, const char *piece);
/* The rest of a list from a statement on. */
void trace_add_slice(struct trace_text *text, struct text *pieces, uint32_t stm);

/* "{0, 1, 1, 4}" or "4": a file-level variable's values; one list for each block or thread where
 * there are several copies. Long lists are cut. */
const char *trace_values(struct trace_text *text, uint32_t var);

#endif
