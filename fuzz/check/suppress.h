/*
 * suppress.h - findings that somebody has looked at and does not want to hear of again, by kind and line of the source.
 *
 *     # a comment
 *     race       sum.cu:12
 *     unwritten  vendor.h:*
 *     *          legacy.cu:*
 *
 * In both, * stands for anything. A place is that of the end of a path: sum.cu:12 is also src/sum.cu:12.
 */
#ifndef FUZZ_SUPPRESS_H
#define FUZZ_SUPPRESS_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct suppressions;

/* NULL: what is wrong was written to `complain`, with the line. */
const struct suppressions *suppress_read(struct arena *arena, const char *path, FILE *complain);

/* Whether a line matches the kind and one of the sources ("path/sum.cu:12"; NULL: none). Of a finding without any
 * source only the place * does. False where `suppressions` is NULL. */
bool suppress_matches(const struct suppressions *suppressions, const char *kind,
                      const char *const *sources, uint32_t count);

#endif
