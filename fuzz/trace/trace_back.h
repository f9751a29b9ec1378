/*
 * trace_back.h - a trace that a campaign prints, read again: each line names the step that was taken, and the
 * execution's tape, printed and parsed, prints the same trace, byte for byte. Asked of a share of a campaign's cases,
 * beside read_back.h.
 */
#ifndef FUZZ_TRACE_BACK_H
#define FUZZ_TRACE_BACK_H

#include "engine/base/arena.h"
#include "engine/kernel/kernel.h"

#include <stdint.h>
#include <stdio.h>

enum { TRACE_BACK_KEPT = 1 << 18 };

/* A stream that keeps the beginning of what is written and mixes all of it into one number. One for a thread, opened
 * once: cases need no memory but their arena's, and traces give back what they take of it step by step. */
struct trace_back {
    FILE *out;
    struct arena arena;
    char *bytes; /* TRACE_BACK_KEPT of them, with the final zero */
    size_t kept;
    uint64_t hash;
};

/* False, with errno: the system refuses. */
bool trace_back_open(struct trace_back *back);
void trace_back_close(struct trace_back *back);

/* NULL: everything reads back; or what does not: "trace text" - a line does not name the step -, "trace" - another one
 * is printed. Which subject's execution it is, and its schedule, are drawn by `seed`. */
const char *trace_back(struct trace_back *back, struct arena *arena,
                       const struct ast_kernel *kernel, uint64_t seed);

#endif
