/*
 * transform_internal.h - what transformations are made of: places, choices, facts about statements, new
 * variables and conditions.
 */
#ifndef ENGINE_TRANSFORM_INTERNAL_H
#define ENGINE_TRANSFORM_INTERNAL_H

#include "engine/language/fresh.h"
#include "engine/rewrite/transform.h"

/* A transformation in the making: it walks over the kernel, counts the places where it could act, and acts
 * at the one whose number is `target`. */
struct transform_edit {
    struct arena *arena;
    struct ast_kernel *kernel;     /* a copy of its own, changed in place; all bodies are blocks */
    struct ast_function *function; /* that the walk is in */
    struct fresh_names *names;     /* NULL: nothing is taken yet */
    uint32_t target, seen;
    uint32_t number; /* the choices that are left */
};

static inline bool transform_here(struct transform_edit *edit)
{
    return edit->seen++ == edit->target;
}

static inline bool transform_done(const struct transform_edit *edit)
{
    return edit->seen > edit->target;
}

/* One of n >= 1; 0 is the simplest. */
static inline uint32_t transform_choose(struct transform_edit *edit, uint32_t n)
{
    uint32_t choice = edit->number % n;
    edit->number /= n;
    return choice;
}

#define TRANSFORM(id, function, ...) void function(struct transform_edit *edit);
#include "engine/rewrite/transforms.def"
#undef TRANSFORM

/* ---- walks ---- */

struct transform_place {
    bool in_loop, breakable; /* continue, break are legal */
};

typedef void transform_visit(struct transform_edit *edit, struct ast_stm **list,
                             struct transform_place place);

/* Every statement list, outer ones first, the kernel before its functions; of blocks their bodies. Ends when the
 * edit is done. */
void transform_walk_lists(struct transform_edit *edit, transform_visit *visit);

/* The first expression of a statement is a condition, or another; ends likewise. Not in the leading assume of
 * blocks, nor counts of named barriers. */
typedef void transform_visit_expr(struct transform_edit *edit, struct ast_expr **slot,
                                  bool condition);
void transform_walk_exprs(struct transform_edit *edit, transform_visit_expr *visit);

/* ---- facts ---- */

struct transform_facts {
    bool breaks, continues; /* that leave the statements */
    bool returns, exits;
    bool meets; /* barriers, also named ones, and votes: also in functions that it calls */
    bool calls, choices, atomics;
    bool loops; /* while, do, for */
};

/* Of a list, or (single) of its first statement. */
struct transform_facts transform_facts(const struct transform_edit *edit,
                                       const struct ast_stm *list, bool single);

/* Whether the statements mention the variable at all; whether they may change it. */
bool transform_changes(const struct ast_stm *list, const struct ast_var *var);

/* ---- parts ---- */

/* A new private scalar of the function that the walk is in. */
struct ast_var *transform_local(struct transform_edit *edit, const char *name);
/* A new file-level scalar that nobody writes: private, shared or global. */
struct ast_var *transform_memory(struct transform_edit *edit, enum ast_space space, int32_t value);
const char *transform_name(struct transform_edit *edit, const char *base);

/* A condition with this value in every thread, though it does not look so: an opaque one, from memory that
 * nobody writes, from builtins (uniform: from those that all threads of a block share). */
struct ast_expr *transform_known(struct transform_edit *edit, bool value, bool uniform);

/* A condition that is some value or other: the same in all threads of a block, or not. */
struct ast_expr *transform_selection(struct transform_edit *edit, bool uniform);

/* { list } */
struct ast_stm *transform_block(struct transform_edit *edit, struct ast_stm *list);
struct ast_stm *transform_if(struct transform_edit *edit, struct ast_expr *condition,
                             struct ast_stm *then_list, struct ast_stm *else_list,
                             struct location at);
/* The list without its first `count` statements is left in *slot; the first ones are returned. */
struct ast_stm *transform_take(struct ast_stm **slot, uint32_t count);
/* Puts statements before what stands in *slot. */
void transform_put(struct ast_stm **slot, struct ast_stm *list);

uint32_t transform_length(const struct ast_stm *list);

#endif
