/*
 * ast_check_internal.h - what the files of ast_check share.
 */
#ifndef ENGINE_AST_CHECK_INTERNAL_H
#define ENGINE_AST_CHECK_INTERNAL_H

#include "engine/language/ast.h"

struct check {
    const struct ast_kernel *kernel;
    const struct ast_function *function; /* whose statements are walked */
    struct diag *diag;
    uint32_t errors, limits; /* of these, limits of the language's size that are passed */
    bool in_reduction;       /* the expression stands in an all() or any() */
};

/* A rule of the language is broken; a limit of its size is passed (LIMIT_..). */
void check_fail(struct check *check, struct location at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void check_limit(struct check *check, struct location at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- ast_check_stm.c ---- */

bool check_in_vars(const struct ast_var *list, const struct ast_var *var);

/* The statements of a structured body. */
void check_body(struct check *check, const struct ast_stm *list);

/* A statement of a block. */
void check_block_stm(struct check *check, const struct ast_stm *stm);

#endif
