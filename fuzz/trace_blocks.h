/*
 * trace_blocks.h - states of block programs as text and JSON: what is left of the block, then the
 * frames with their loop counters, the topmost one first.
 *
 *     n = n + 1; goto Head, Done; <p 2> <k 0, 1>        Head: <k 3>        waits: barrier(); goto Head;
 */
#ifndef FUZZ_TRACE_BLOCKS_H
#define FUZZ_TRACE_BLOCKS_H

#include "fuzz/json.h"
#include "fuzz/trace_text.h"

/* "goto Head, Done;", "return;" */
const char *trace_blocks_goto(struct arena *arena, const struct program *program,
                              const struct code_stm *stm);

const char *trace_blocks_state(struct trace_text *text, uint32_t thread);
/* What the thread's next step executes: a statement's head, "Head:", or "End". */
const char *trace_blocks_top(struct trace_text *text, uint32_t thread);
/* The block that the thread is in or about to enter; NULL at End. */
const char *trace_blocks_block(const struct trace_text *text, uint32_t thread);

/* The array of frames, the topmost one first: {"function", "call", "counters"}. */
void trace_blocks_frames(struct trace_text *text, struct json *json, uint32_t thread);

#endif
