/*
 * predicate_internal.h - what the two transformations share: predicate.c makes blocks and kernels
 * (Tables 2 to 6), predicate_stm.c statements (Tables 1 and 3a).
 */
#ifndef ENGINE_PREDICATE_INTERNAL_H
#define ENGINE_PREDICATE_INTERNAL_H

#include "engine/forms/cfg.h"
#include "engine/forms/predicate.h"

struct transform {
    struct arena *arena;
    const struct predicate_options *options;
    bool lockstep; /* phi; otherwise pi */
    struct ast_kernel *kernel;
    const char **reason; /* *reason != NULL: given up */

    /* Of the function at hand. */
    struct ast_function *function;
    struct ast_var *active, *next;
    struct ast_var *havoc;                  /* NULL: not needed so far */
    struct ast_var *outs[LIMIT_PARAMETERS]; /* phi: x_out; NULL: not needed so far */
    uint32_t block; /* number of the block B at hand, in P; act: v_active = B */
};

struct stm_list {
    struct ast_stm *first, *last;
};

void transform_add(struct stm_list *list, struct ast_stm *stm);

/* A name that nothing has which the function at hand can name. */
const char *transform_fresh_name(const struct transform *t, const char *stem);

/* A private scalar of the function at hand. */
struct ast_var *transform_new_local(struct transform *t, const char *stem);

/* v_active = k, v_active != k. */
struct ast_expr *active_is(const struct transform *t, uint32_t k);
struct ast_expr *active_is_not(const struct transform *t, uint32_t k);

/* phi: the conjunction, disjunction over all threads; pi: e itself. */
struct ast_expr *for_all_threads(const struct transform *t, struct ast_expr *e);
struct ast_expr *for_some_thread(const struct transform *t, struct ast_expr *e);

/* v := act ? e : v */
struct ast_stm *predicated_assign(const struct transform *t, struct ast_var *v, struct ast_expr *e,
                                  struct location at);

/* pi(s) or phi(s), appended to the list. The tree of s is used up. */
void transform_statement(struct transform *t, struct ast_stm *s, struct stm_list *list);

#endif
