/*
 * annotate.h - what a kernel says of itself for proofs: `requires e;` (an assume), `invariant e;` (an assert).
 *
 * Every semantics executes them as the statements that they are. Proofs take an invariant as a guess about the
 * loop around it, and what is required as given; a launch that breaks a requirement is no launch of the kernel.
 */
#ifndef ENGINE_ANNOTATE_H
#define ENGINE_ANNOTATE_H

#include "engine/language/ast.h"

/* The first statement `requires e` at the kernel's start whose e is about constants of the launch only (threads,
 * blocks, warp_size) and does not hold for the launch; NULL: there is none. */
const struct ast_stm *annotate_broken(const struct ast_kernel *kernel);

/* Whether it is one that the launch meets, whatever else is so. */
bool annotate_is_met(const struct ast_kernel *kernel, const struct ast_stm *stm);

/* Calls `each` for every annotation of the kernel, in the order of the text. */
typedef void annotate_each(void *context, const struct ast_stm *stm);
void annotate_visit(const struct ast_kernel *kernel, annotate_each *each, void *context);

#endif
