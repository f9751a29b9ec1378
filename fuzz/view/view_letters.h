/*
 * view_letters.h - how the threads of an actor stand, a letter each:
 *
 *     a  can run     .  set aside: its warp runs others first     b r e  disabled by break, return, exit
 *     w  waits at a barrier of the block     c  waits at a convergence barrier of its warp     f  has ended
 *     m  waits for its memory operations
 */
#ifndef FUZZ_VIEW_LETTERS_H
#define FUZZ_VIEW_LETTERS_H

#include "fuzz/trace/trace_text.h"

/* The threads of an actor: how many, from which number in the grid on. */
uint32_t view_threads(const struct trace_text *text, uint32_t actor, uint32_t *first);

/* A letter for each of them. */
void view_letters(struct trace_text *text, uint32_t actor, char *letters);

/* Threads that took part in a step, after it: a 1 for each of them from *first on. */
const char *view_ran(struct trace_text *text, const struct step_event *event, uint32_t *first);

#endif
