/*
 * print.h - a tree back to text. print(parse(x)) is a fixpoint: what is printed parses to an equal
 * tree and prints the same again. Parentheses are the fewest that C's precedences need.
 */
#ifndef ENGINE_PRINT_H
#define ENGINE_PRINT_H

#include "engine/language/ast.h"

/* The whole kernel as text, zero-terminated, in the arena. Of any kernel: print_kernel (input.h). */
char *language_print(struct arena *arena, const struct ast_kernel *kernel);

/* Claims as the head comments of PTX have them: "// expect crs: deadlock" and so on, a line each. */
char *print_expect_comments(struct arena *arena, const struct ast_expect *expects);

/* What a kernel's file says of its termination matrix, a line a statement: "expect progress: ends *;", of PTX a
 * comment. */
char *print_progress(struct arena *arena, const struct ast_kernel *kernel,
                     const struct ast_progress *progress);

/* One expression; one statement's head on one line, as traces show it ("if (tid == 0) ...",
 * "while (i > 0) ...", "x = x + 1;"). */
char *print_expr(struct arena *arena, const struct ast_expr *expr);
char *print_stm_head(struct arena *arena, const struct ast_stm *stm);

#endif
