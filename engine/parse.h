/*
 * parse.h - the text of a kernel (.simt) to its tree.
 *
 * A hand-written recursive-descent parser. All errors of a text are collected, with line and column;
 * depth, counts and bytes are bounded (ast.h, LIMIT_*); no input crashes, hangs or takes unbounded
 * memory.
 */
#ifndef ENGINE_PARSE_H
#define ENGINE_PARSE_H

#include "engine/ast.h"

/* No text takes more of an arena than this. */
enum { PARSE_ARENA_BYTES = 32 << 20 };

/* Parses `length` bytes of `text`. Returns the kernel, in `arena`, or NULL with at least one error
 * in `diag` (which must have been initialised with this text). */
struct ast_kernel *parse_kernel(struct arena *arena, const char *text, size_t length,
                                struct diag *diag);

/* Reads a whole file (at most LIMIT_SOURCE_BYTES) into the arena. NULL: message in diag. */
char *parse_read_file(struct arena *arena, const char *path, size_t *length, struct diag *diag);

/* The same for a text of another kind: at most `most` bytes. */
char *parse_read_bytes(struct arena *arena, const char *path, size_t most, size_t *length,
                       struct diag *diag);

#endif
