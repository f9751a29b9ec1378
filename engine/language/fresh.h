/*
 * fresh.h - names that nothing else has: for the variables and blocks that lowerings and passes add.
 */
#ifndef ENGINE_FRESH_H
#define ENGINE_FRESH_H

#include "engine/language/ast.h"

/* A set of names; memory from the arena, the names themselves are not copied. */
struct fresh_names;

struct fresh_names *fresh_names_new(struct arena *arena);
/* All that the kernel has: variables, functions, blocks, its own. */
struct fresh_names *fresh_names_of(struct arena *arena, const struct ast_kernel *kernel);

void fresh_names_add(struct fresh_names *names, const char *name);
void fresh_names_add_vars(struct fresh_names *names, const struct ast_var *list);
/* The blocks of a function, and End. */
void fresh_names_add_blocks(struct fresh_names *names, const struct ast_function *function);

/* `base` if it is new, else base_2, base_3, .. (of a base_2 that was made so: base_3); within LIMIT_NAME,
 * in the arena, and now taken. */
const char *fresh_name(struct fresh_names *names, const char *base);

#endif
