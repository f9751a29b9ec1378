/*
 * transform_internal.h - what transformations are made of beside edits: walks over expressions, facts about
 * statements, new variables and conditions.
 */
#ifndef ENGINE_TRANSFORM_INTERNAL_H
#define ENGINE_TRANSFORM_INTERNAL_H

#include "engine/rewrite/edit.h"
#include "engine/rewrite/transform.h"

#define TRANSFORM(id, function, ...) void function(struct edit *edit);
#include "engine/rewrite/transforms.def"
#undef TRANSFORM

/* ---- walks ---- */

/* The first expression of a statement is a condition, or another; ends likewise. Not in the leading assume of
 * blocks, nor counts of named barriers. */
typedef void transform_visit_expr(struct edit *edit, struct ast_expr **slot, bool condition);
void transform_walk_exprs(struct edit *edit, transform_visit_expr *visit);

/* ---- facts ---- */

struct transform_facts {
    bool breaks, continues; /* that leave the statements */
    bool returns, exits;
    bool meets; /* barriers, also named ones, and votes: also in functions that it calls */
    bool calls, choices, atomics;
    bool loops; /* while, do, for */
};

/* Of a list, or (single) of its first statement. */
struct transform_facts transform_facts(const struct edit *edit, const struct ast_stm *list,
                                       bool single);

/* Whether the statements mention the variable at all; whether they may change it. */
bool transform_changes(const struct ast_stm *list, const struct ast_var *var);

/* ---- parts ---- */

/* A new file-level scalar that nobody writes: private, shared or global. */
struct ast_var *transform_memory(struct edit *edit, enum ast_space space, int32_t value);

/* A condition with this value in every thread, though it does not look so: an opaque one, from memory that
 * nobody writes, from builtins (uniform: from those that all threads of a block share). */
struct ast_expr *transform_known(struct edit *edit, bool value, bool uniform);

/* A condition that is some value or other: the same in all threads of a block, or not. */
struct ast_expr *transform_selection(struct edit *edit, bool uniform);

struct ast_stm *transform_if(struct edit *edit, struct ast_expr *condition,
                             struct ast_stm *then_list, struct ast_stm *else_list,
                             struct location at);
#endif
