/*
 * words.h - a tree told in words: each node's kind, then its parts, in braces where there may be any number of them.
 * No precedence, no blanks that matter: two trees have the same words exactly if they mean the same. Nothing of the
 * language's own tables and printers is used, so that what they have wrong shows.
 */
#ifndef ORACLE_WORDS_H
#define ORACLE_WORDS_H

#include "engine/base/text.h"
#include "engine/language/ast.h"
#include "engine/ptx/ptx_ops.h"

const char *words_of_kernel(struct arena *arena, const struct ast_kernel *kernel);

/* ---- words_ptx.c ---- */

/* Of a kernel given as PTX: settings and module. */
void words_put_ptx(struct text *out, const struct ast_kernel *kernel);
/* Of a type, a space, a modifier. */
const char *words_of_ptx_type(enum ptx_word word);

/* ---- words.c ---- */

/* What operations are called in words; by the enums of ast.h. */
extern const char *const words_of_unary[];
extern const char *const words_of_binary[BINARY_COUNT];
extern const char *const words_of_assignment[ASSIGN_COUNT];
extern const char *const words_of_atomic[ATOMIC_COUNT];
extern const char *const words_of_vote[VOTE_COUNT];
extern const char *const words_of_builtin[BUILTIN_COUNT];
extern const char *const words_of_space[SPACE_COUNT];
extern const char *const words_of_claim[CLAIM_COUNT];

#endif
