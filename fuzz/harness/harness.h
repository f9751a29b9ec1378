/*
 * harness.h - what the harnesses of the forms share. Each harness is a libFuzzer target: bytes in, all
 * oracles asked, an abort with the command that shows it when one of them speaks.
 *
 * The bytes are one of two things:
 * - text: a kernel as people write it, up to a NUL or the end; what is behind the NUL, at most 8 bytes,
 *   is the seed of the schedules. Corpora of kernels are text, and what the custom mutator makes of text
 *   is text.
 * - choices of the generator: any other bytes, and texts that do not parse or are of another form. Every
 *   input is a kernel.
 *
 * The environment variable SIMTFUZZ_CHECK says how kernels are checked, as a case's text does:
 * "schedules=2 budget=5000 subjects=crs,crs:target-next oracles=result". With SIMTFUZZ_KNOWN set, known
 * divergences (docs/errata.md, and what a subject with a switch shows) abort, too.
 */
#ifndef FUZZ_HARNESS_H
#define FUZZ_HARNESS_H

#include "fuzz/gen/gen.h"
#include "oracle/check/check.h"

#include <stddef.h>

/* What a harness is: defined once in each. */
struct harness_target {
    const char *name;   /* fuzz-<name> */
    enum ast_form form; /* of its texts */
    bool raw, compiled; /* FORM_PTX: which of the two it takes */
    /* The kernel that the bytes choose; NULL: none, it does not exist in this form. */
    struct ast_kernel *(*generate)(struct arena *arena, struct source *choices);
};

extern const struct harness_target harness_target;

struct harness_input {
    struct ast_kernel *kernel; /* NULL: nothing to do */
    bool is_text;
    size_t text_length; /* of text, without what is behind it */
    uint64_t seed;      /* of schedules */
    uint32_t lot;       /* a hash of the bytes */
};

/* Whether bytes look like the text of a kernel: how they begin. */
bool harness_is_text(const uint8_t *data, size_t size);

/* The text's kernel, of whatever form; NULL: it does not parse. */
struct ast_kernel *harness_parse(struct arena *arena, const char *text, size_t length);

/* Whether a kernel is small enough for a harness, and of the target's form. */
bool harness_takes(const struct ast_kernel *kernel);

void harness_read(struct arena *arena, const uint8_t *data, size_t size,
                  struct harness_input *input);

/* The harness's arena, one a process; NULL: the system refuses. */
struct arena *harness_arena(void);

/* Settings for the check: the harness's own, changed by SIMTFUZZ_CHECK. Ends the process when that is
 * malformed. */
const struct check_options *harness_options(void);

/* Where divergences are written: the folder, or prefix, of -artifact_prefix=. */
void harness_set_prefix(const char *prefix);

/* Asks about the input; writes and prints a divergence, and aborts. */
void harness_ask(struct arena *arena, const struct harness_input *input);

/* Texts of kernels seen lately, for mutators that want a second one. */
void harness_remember(const struct harness_input *input, const uint8_t *data);
/* One of them; NULL: there is none. */
struct ast_kernel *harness_donor(struct arena *arena, struct source *choices);

/* libFuzzer's. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2,
                                 size_t size2, uint8_t *out, size_t max_out_size,
                                 unsigned int seed);

#endif
