/*
 * safety_spans.h - compound statements of compiled code while it runs (catalogue cuda-crs 14.5; Lemma N).
 *
 *     CHK.neutral    at the end of a statement the token stack is that at its latest entry with that stack
 *     CHK.reconv     and the active lanes are those of the entry that are enabled
 *
 * An entry is open until its end, or until the stack falls below its own: then all of its lanes have left the
 * statement by break, return or exit.
 */
#ifndef ORACLE_SAFETY_SPANS_H
#define ORACLE_SAFETY_SPANS_H

#include "engine/program/ptx_code.h"
#include "oracle/crs/safety_state.h"

struct safety_entry {
    uint32_t span, depth, calls; /* tokens, and those of calls */
    lane_mask active;
};

struct safety_spans { /* of a program */
    const struct ptx_code *code;
    uint32_t *starting; /* an address: span + 1, the outermost that starts here ... */
    uint32_t *next;     /* ... and, a span, the next one within */
    uint32_t capacity;  /* of the entries of a warp */
};

struct safety_open { /* of a warp */
    struct safety_entry *entries;
    uint32_t count;
    bool overflow; /* there was no room: nothing more is said */
};

/* NULL: the code has no spans. */
struct safety_spans *safety_spans_new(struct arena *arena, const struct ptx_code *code);
void safety_open_new(struct arena *arena, const struct safety_spans *spans,
                     struct safety_open *open);

/* The warp has got to state s (at the start, too): SAFETY_NEUTRAL, SAFETY_RECONV, or SAFETY_NONE. */
enum safety_predicate safety_arrive(const struct safety_spans *spans, struct safety_open *open,
                                    const struct crs_state *s, const struct crs_token *tokens);

#endif
