/*
 * emit.h - structured kernels as source texts in the languages that GPU compilers and drivers take: one emitter, a
 * table of dialects (emit_dialect.c).
 *
 * What comes out has no undefined behaviour: arithmetic is unsigned, division and shifts are guarded, comparisons are
 * of numbers of a known sign, truth values are compared with 0. A kernel must be valid (docs/outside.md): every
 * execution ends, without a race, out-of-bounds index or barrier divergence; then every implementation must leave the
 * same memory.
 *
 * Memory. An emitted kernel has one parameter, `mem`, a buffer of 32-bit words. It holds what the kernel's memory holds
 * at first, in the order that every form of the kernel has: global variables, then each block's shared ones; behind
 * these the drawn values of private variables, thread by thread, and two last words that are 0 (for opaque
 * conditions and switches).
 * When the kernel ends, the words of global and shared memory are in the same places. Shared variables that lie in
 * the implementation's own shared memory are read from the buffer at first, and written back behind a barrier.
 *
 * The same function of (kernel, dialect, knobs) on every machine.
 */
#ifndef ENGINE_EMIT_H
#define ENGINE_EMIT_H

#include "engine/base/text.h"
#include "engine/language/ast.h"

/* Ways to say the same in another form; each is drawn for a case, or named on the command line. */
enum emit_knob {
#define KNOB(id, name, percent, sentence) EMIT_KNOB_##id,
#include "engine/emit/knobs.def"
#undef KNOB
    EMIT_KNOB_COUNT
};

#define EMIT_KNOB(id) (1u << EMIT_KNOB_##id)

enum emit_language {
#define DIALECT(id, name, sentence) EMIT_##id,
#include "engine/emit/dialects.def"
#undef DIALECT
    EMIT_LANGUAGE_COUNT
};

extern const char *const emit_language_names[EMIT_LANGUAGE_COUNT]; /* "opencl", "cuda", "ptx" */
extern const char *const emit_knob_names[EMIT_KNOB_COUNT];
extern const char *const emit_knob_sentences[EMIT_KNOB_COUNT];

/* False: there is no such language. */
bool emit_find_language(const char *name, enum emit_language *language);

/* Drawn: a function of the seed and the number of the case. */
uint32_t emit_draw_knobs(uint64_t seed, uint64_t number);
/* "outlined,opaque-switches"; "none". */
char *emit_print_knobs(struct arena *arena, uint32_t knobs);
/* A list as it is printed; false: *error_at is the item that is wrong. */
bool emit_parse_knobs(const char *text, uint32_t *knobs, const char **error_at);

/* What runs an emitted kernel has to know. */
struct emitted {
    const char *entry; /* its name in the text */
    uint32_t threads, blocks;
    uint32_t words;         /* of the buffer */
    uint32_t result_words;  /* the first ones: global memory and each block's shared memory */
    const int32_t *initial; /* `words` words */
};

/* A text: a head with what its kernels call, then these. */
char *emit_text(struct arena *arena, enum emit_language language, const char *kernels);

/* Adds a structured kernel to a text; `number` keeps its names apart from those of others in the same text. False:
 * *reason says what the language cannot express ("opencl has no recursion: function 'f' at line 3"); the text is then
 * as it was. Writes the marks of the kernel's variables and functions. */
bool emit_kernel(struct text *text, struct ast_kernel *kernel, enum emit_language language,
                 uint32_t knobs, uint32_t number, struct emitted *emitted, const char **reason);

/* ---- expose.c ---- */

/* A copy of a structured kernel that shows more: at every end of a thread its private variables go to an array of its
 * own in global memory, and every loop of the kernel's body adds to a sum what the variables hold after each trip. A
 * valid kernel stays valid. */
struct ast_kernel *emit_expose(struct arena *arena, const struct ast_kernel *kernel);

#endif
