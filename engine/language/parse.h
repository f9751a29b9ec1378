/*
 * parse.h - the text of a kernel (.simt) to its tree.
 *
 * A hand-written recursive-descent parser. All errors of a text are collected, with line and column;
 * depth, counts and bytes are bounded (ast.h, LIMIT_*); no input crashes, hangs or takes unbounded
 * memory.
 */
#ifndef ENGINE_PARSE_H
#define ENGINE_PARSE_H

#include "engine/language/ast.h"

/* No text takes more of an arena than this; PTX takes more (PTX_ARENA_BYTES). */
enum { PARSE_ARENA_BYTES = 32 << 20 };

/* The words that are no names. */
extern const char *const parse_keywords[];
extern const uint32_t parse_keyword_count;

/* Parses `length` bytes of `text`, which is no PTX. Returns the kernel, in `arena`, or NULL with at least
 * one error in `diag` (which must have been initialised with this text). */
struct ast_kernel *language_parse(struct arena *arena, const char *text, size_t length,
                                  struct diag *diag);

/* Whether ast_check refuses the tree, and only because it is larger than the language allows (LIMIT_..). */
bool language_is_too_large(const struct ast_kernel *kernel);

/* Makes assume(text) the first statement of a structured kernel. False: an error in `diag`. */
bool language_assume(struct arena *arena, struct ast_kernel *kernel, const char *text,
                     struct diag *diag);

/* The claims of a kernel given as PTX: `length` bytes of a comment line, at `at`, behind the word
 * `expect`: ": race_free, terminates", " crs: deadlock". Appends to the kernel's, as group number
 * `group`; errors go to diag. */
void parse_expect_comment(struct arena *arena, struct ast_kernel *kernel, const char *text,
                          size_t length, struct location at, uint32_t group, struct diag *diag);

#endif
