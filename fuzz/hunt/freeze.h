/*
 * freeze.h - a kernel whose values at first are written out. Drawn ones depend on which variables stand before a
 * variable (engine/language/initial.h): taking one away would change all others, and a fault with them.
 */
#ifndef FUZZ_HUNT_FREEZE_H
#define FUZZ_HUNT_FREEZE_H

#include "engine/language/ast.h"

/* A copy: drawn values are initialisers; where threads have different ones, a global array from which each takes its
 * own when it starts. Shared ones that differ between blocks stay drawn. */
struct ast_kernel *freeze_inputs(struct arena *arena, const struct ast_kernel *kernel);

#endif
