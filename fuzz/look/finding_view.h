/*
 * finding_view.h - the executions of a finding as a page that can be stepped (fuzz/view): those of its comparison.
 */
#ifndef FUZZ_FINDING_VIEW_H
#define FUZZ_FINDING_VIEW_H

#include "fuzz/report/compare.h"

#include <stdio.h>

enum { FINDING_VIEW_STEPS = 1 << 15 }; /* taken of each execution */

/* The page, of the kernel whose text is given; `name` is what it is called: "finding 3". False: *why. */
bool finding_view_write(struct arena *arena, struct arena *scratch, const char *name,
                        const struct comparison *comparison, const char *kernel, FILE *out,
                        const char **why);

#endif
