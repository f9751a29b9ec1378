/*
 * trace_blocks.h - states of programs in block and lock-step form as text and JSON: what is left of
 * the block, then the frames with their loop counters, the topmost one first (of a vector program: how
 * many, if there are calls).
 *
 *     n = n + 1; goto Head, Done; <p 2> <k 0, 1>        Head: <k 3>        waits: barrier(); goto Head;
 */
#ifndef FUZZ_TRACE_BLOCKS_H
#define FUZZ_TRACE_BLOCKS_H

#include "fuzz/out/json.h"
#include "fuzz/trace/trace_text.h"

/* "goto Head, Done;", "return;" */
const char *trace_blocks_goto(struct arena *arena, const struct program *program,
                              const struct code_stm *stm);

/* An actor is a thread, or a vector program's block of threads. */
const char *trace_blocks_state(struct trace_text *text, uint32_t actor);
/* What its next step executes: a statement's head, "Head:", or "End". */
const char *trace_blocks_top(struct trace_text *text, uint32_t actor);
/* The block that it is in or about to enter; NULL at End. */
const char *trace_blocks_block(const struct trace_text *text, uint32_t actor);
/* Vector programs: a 1 for each component that the last step was enabled for. */
const char *trace_blocks_enabled(const struct trace_text *text, uint32_t actor);

/* The array of a thread's frames, the topmost one first: {"function", "call", "counters"}; of a vector
 * program the number of its frames. */
void trace_blocks_frames(struct trace_text *text, struct json *json, uint32_t actor);

#endif
