/* stackless_internal.h - what the files of stackless.h share. */
#ifndef ENGINE_STACKLESS_INTERNAL_H
#define ENGINE_STACKLESS_INTERNAL_H

#include "engine/stackless.h"

/* Fills in what the policy asks of the program: order, joins. */
void stackless_find_places(struct stackless *stackless, struct arena *arena,
                           const struct program *program);

#endif
