/*
 * emitted.h - what is written of kernels for others - compilers, drivers, provers - against what the kernels do: small
 * kernels are drawn, written, and the texts are run by interpreters that know nothing of the writers.
 */
#ifndef ORACLE_EMITTED_H
#define ORACLE_EMITTED_H

#include "oracle/check/explore.h"

enum {
    EMITTED_KERNEL_SHARE = 4,     /* kernels are written in C or PTX in one case of so many */
    EMITTED_SEQUENTIAL_SHARE = 2, /* likewise, two threads are printed as a sequential program */
    EMITTED_SCOPES_SHARE = 4,     /* likewise, PTX declares few names in many scopes */
    EMITTED_VALUES_SHARE = 4,     /* likewise, PTX has operands of every kind */
    EMITTED_GUESSES_SHARE = 16,   /* likewise, guesses of the sequential program are listed */
    EMITTED_FILLS_SHARE = 16,     /* likewise, PTX reads buffers byte by byte */
    EMITTED_CLAIMS_SHARE = 8, /* likewise, claims are carried over to what is made of a kernel */
    EMITTED_LISTS_SHARE = 8   /* likewise, lists of steps and of knobs are read */
};

/* The hook of oracle.h; class `text` of the oracle `metamorphic`. */
void emitted_judge(struct checking *checking);

/* ---- for tests ---- */

/* What kernel number so leaves otherwise when it is written in OpenCL C, CUDA C, GLSL or PTX, and run as that language
 * says; NULL: nothing. *text is both. */
const char *emitted_kernel(struct arena *arena, uint64_t number, const char **text);
/* What the sequential program of kernel number so says otherwise of two of its threads than their accesses do. */
const char *emitted_sequential(struct arena *arena, uint64_t number, const char **text);
/* Which guesses for Boogie of the loop of kernel number so are none, or are missing. */
const char *emitted_guesses(struct arena *arena, uint64_t number, const char **text);
/* What PTX number so computes otherwise than was drawn, of names that hide each other. */
const char *emitted_scopes(struct arena *arena, uint64_t number, const char **text);
/* The same of operands of every kind, of jumps, and of what buffers are filled with. */
const char *emitted_values(struct arena *arena, uint64_t number, const char **text);
const char *emitted_jumps(struct arena *arena, uint64_t number, const char **text);
const char *emitted_fills(struct arena *arena, uint64_t number, const char **text);

/* Which claims of kernel number so are not those of what is made of it. */
const char *emitted_claims(struct arena *arena, uint64_t number, const char **text);
/* What a list of transformations, or of knobs, says otherwise than was drawn. */
const char *emitted_lists(struct arena *arena, uint64_t number, const char **text);

#endif
