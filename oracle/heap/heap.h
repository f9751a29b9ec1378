/*
 * heap.h - malloc and free of kernels, held against a plain list of what is whose.
 *
 * A kernel is drawn, beside the case's own: threads that take memory, give it back, write and read it, one after
 * another or all at once; some twice, behind its end, or where nobody has it. It is launched over a small heap. Then
 * the list is made from what malloc returned, in the order of the text, and says what malloc may return, what must be
 * told and in which words, what reads find, and what is never freed.
 */
#ifndef ORACLE_HEAP_H
#define ORACLE_HEAP_H

#include "oracle/check/explore.h"

enum { HEAP_SHARE = 6 }; /* one case in so many */

/* The hook of oracle.h; class `heap` of the oracle `reference`. */
void heap_judge(struct checking *checking);

/* What of drawn kernel number so is not as the list says, "class: how"; NULL: nothing. *text is it. */
const char *heap_of_kernel(struct arena *arena, uint64_t number, const char **text);

#endif
