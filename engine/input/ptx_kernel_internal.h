/*
 * ptx_kernel_internal.h - what the files of PTX kernels share: ptx_settings.c (the words of the settings),
 * ptx_kernel.c (what they mean for a module), ptx_assume.c, ptx_kernel_text.c (reading and printing).
 */
#ifndef ENGINE_PTX_KERNEL_INTERNAL_H
#define ENGINE_PTX_KERNEL_INTERNAL_H

#include "engine/input/ptx_kernel.h"

enum { PTX_LIMIT_SETTINGS = 4096 /* words of a text; lines of claims */ };

struct ptx_settings {
    struct arena *arena;
    struct diag *diag;
    struct ast_kernel *kernel; /* changed by the words */
    const char *entry;         /* the last one named, NULL: none */
    struct location entry_at;
    uint32_t words; /* read so far */
    bool from_head; /* of the text itself, which may come from anybody */
};

/* Reads the words of `length` bytes, which stand at `at`; errors go to diag. */
void ptx_settings_read(struct ptx_settings *s, const char *text, size_t length, struct location at);

/* The bits that the text of a bind gives a parameter of this type: "-1", "0x10", "f:1.5". False: it fits
 * not. */
bool ptx_settings_value(const char *text, const struct ptx_variable *parameter, uint64_t *bits);

/* FORMAT:SIZE[:WORD..] (ptx_textures.c); *text is behind it then. NULL, or what is wrong. */
const char *ptx_texture_read(struct ptx_texture *texture, const char **text);

/* bind:p.8=VALUE of struct parameters: becomes words of the struct, and memory (ptx_fields.c). */
void ptx_bind_fields(struct arena *arena, struct ptx_kernel *ptx, struct diag *diag);

/* A kernel of this module with the launch that is the default. */
struct ast_kernel *ptx_kernel_of(struct arena *arena, const struct ptx_module *module);

/* What the settings mean for the module: entry, launch, variables, parameters. False: errors in diag. */
bool ptx_kernel_build(struct ptx_settings *s);

enum { PTX_POINTERS_MOST = 64 };

/* Bit k: parameter k holds an address in shared memory, in constant memory, the handle of a texture or surface, as far
 * as can be seen; of the first 64. */
struct ptx_pointers {
    uint64_t shared, constant, textures;
    struct ptx_texture
        texture[PTX_POINTERS_MOST]; /* one that the instructions which take it can read */
};
struct ptx_pointers ptx_assume_pointers(struct arena *arena, const struct ptx_function *entry);

#endif
