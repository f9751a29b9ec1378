/*
 * initial.h - what a variable's memory holds before a kernel runs, the same in every form and semantics.
 */
#ifndef ENGINE_INITIAL_H
#define ENGINE_INITIAL_H

#include "engine/language/ast.h"

/* The initial values of a file-level variable, `number` in the order of declaration: all its copies,
 * `stride` words apart. Nothing is written where it has neither values nor draws. */
void language_init_variable(const struct ast_var *var, uint32_t number, uint64_t seed,
                            int32_t *first, uint32_t stride, uint32_t copies);

#endif
