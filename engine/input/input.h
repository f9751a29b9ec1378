/*
 * input.h - a text to a kernel and back, whichever language it is written in: the kernel language
 * (language/parse.h) or PTX (ptx_kernel.h). What everybody above calls.
 */
#ifndef ENGINE_INPUT_H
#define ENGINE_INPUT_H

#include "engine/kernel/kernel.h"

/* Parses `length` bytes of `text`; PTX, if it is that (ptx_is_ptx). Returns the kernel, in `arena`, or
 * NULL with at least one error in `diag` (which must have been initialised with this text). */
struct ast_kernel *parse_kernel(struct arena *arena, const char *text, size_t length,
                                struct diag *diag);

/* The kernel of a text that print_kernel wrote: what we print parses. */
struct ast_kernel *parse_printed(struct arena *arena, const char *text);

/* Reads a whole file (at most LIMIT_SOURCE_BYTES) into the arena; "-" is standard input. NULL: message in diag. */
char *parse_read_file(struct arena *arena, const char *path, size_t *length, struct diag *diag);

/* The same for a text of another kind: at most `most` bytes. */
char *parse_read_bytes(struct arena *arena, const char *path, size_t most, size_t *length,
                       struct diag *diag);

/* The whole kernel as text, zero-terminated, in the arena. */
char *print_kernel(struct arena *arena, const struct ast_kernel *kernel);

/* A deep copy: no node shared with the original, but for the module and the settings of a kernel given
 * as PTX, which nobody changes. */
struct ast_kernel *ast_kernel_copy(struct arena *arena, const struct ast_kernel *kernel);

/* Statements of the kernel and its functions, not counting STM_BLOCK and STM_SKIP; instructions of PTX. */
uint32_t ast_kernel_size(const struct ast_kernel *kernel);

#endif
