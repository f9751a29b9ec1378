/*
 * spelling.h - what somebody may have meant by a misspelt name.
 */
#ifndef ENGINE_SPELLING_H
#define ENGINE_SPELLING_H

#include <stdint.h>

enum { SPELLING_MAX = 64 };

/* How many single letters must be changed, added, left out or swapped with their neighbour; UINT32_MAX: a name
 * has more than SPELLING_MAX of them. */
uint32_t spelling_distance(const char *a, const char *b);

/* The nearest of the names, if it is near enough to be meant; NULL: none is. */
const char *spelling_nearest(const char *name, const char *const *names, uint32_t count);

#endif
