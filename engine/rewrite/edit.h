/*
 * edit.h - the vocabulary in which kernels are changed: what transformations, mutators and the reducer share. An edit
 * walks over a kernel, counts the places where it could act, and acts at one of them.
 */
#ifndef ENGINE_EDIT_H
#define ENGINE_EDIT_H

#include "engine/language/fresh.h"

/* An edit in the making: it acts at the place whose number is `target`. */
struct edit {
    struct arena *arena;
    struct ast_kernel *kernel;     /* a copy of its own, changed in place; all bodies are blocks */
    struct ast_function *function; /* that the walk is in */
    struct fresh_names *names;     /* NULL: nothing is taken yet */
    uint32_t target, seen;         /* places met so far */
    uint32_t number;               /* the choices that are left */
};

/* Whether the place just met is the one to act at. */
static inline bool edit_here(struct edit *edit)
{
    return edit->seen++ == edit->target;
}

/* Whether the edit has been made: the walk must end, what it stands on may be gone. */
static inline bool edit_done(const struct edit *edit)
{
    return edit->seen > edit->target;
}

/* One of n >= 1; 0 is the simplest. */
static inline uint32_t edit_choose(struct edit *edit, uint32_t n)
{
    uint32_t choice = edit->number % n;
    edit->number /= n;
    return choice;
}

/* ---- walks ---- */

struct edit_place {
    bool in_loop, breakable; /* continue, break are legal */
};

typedef void edit_visit_list(struct edit *edit, struct ast_stm **list, struct edit_place place);

/* Every statement list, outer ones first, the kernel before its functions; of blocks their bodies. Ends when the
 * edit is done. */
void edit_walk_lists(struct edit *edit, edit_visit_list *visit);

/* ---- lists taken apart and put together ---- */

uint32_t edit_length(const struct ast_stm *list);
/* The list without its first `count` statements is left in *slot; the first ones are returned, the last of them
 * without a next; NULL: count is 0. */
struct ast_stm *edit_take(struct ast_stm **slot, uint32_t count);
/* Puts statements before what stands in *slot. */
void edit_put(struct ast_stm **slot, struct ast_stm *list);
/* Puts them in the place of the statement at *slot. */
void edit_splice(struct ast_stm **slot, struct ast_stm *list);

/* { list } */
struct ast_stm *edit_block(struct edit *edit, struct ast_stm *list);

/* ---- names ---- */

/* Like `base`, and nobody else's in the kernel. */
const char *edit_name(struct edit *edit, const char *base);
/* A new private scalar of the function that the walk is in. */
struct ast_var *edit_local(struct edit *edit, const char *base);

/* ---- graphs of blocks ---- */

uint32_t edit_edges_to(const struct ast_function *f, const struct ast_block *block);
/* The block ends as `other` does. */
void edit_end_as(struct edit *edit, struct ast_block *block, const struct ast_block *other);
void edit_drop_unreachable(struct ast_kernel *kernel);
/* Whether the graph of each function that has one is reducible. */
bool edit_is_reducible(struct arena *arena, const struct ast_kernel *kernel);

/* ---- whole kernels ---- */

/* Every body of an if or a loop a block, so that all statements lie in lists; nothing else changes. */
void edit_normalise(struct arena *arena, struct ast_kernel *kernel);

/* A kernel of FORM_PTX from its own text: the tree is nobody else's, its names are resolved. NULL: it is malformed. */
struct ast_kernel *edit_reread(struct arena *arena, const struct ast_kernel *kernel);

#endif
