/*
 * texts.h - what is read and printed, against what a text says. Kernels of campaigns are printed before they are read,
 * and by generators that make what they need: what a printer leaves out is missed by nobody, and most of the grammar is
 * never seen. So texts are drawn over the whole grammar, with what they say in words (drawn.h, words.h); they are read,
 * copied, printed and read again, and never run.
 */
#ifndef ORACLE_TEXTS_H
#define ORACLE_TEXTS_H

#include "oracle/check/explore.h"

enum {
    TEXTS_EMITTED_SHARE = 4,   /* kernels are written in C in one case of so many */
    TEXTS_PROGRAMS_SHARE = 4,  /* likewise, modules of several entries are divided */
    TEXTS_FORMS_SHARE = 8,     /* likewise, the programs of the case are printed and read */
    TEXTS_SEQUENTIAL_SHARE = 4 /* likewise, two threads are printed as a sequential program */
};

/* The hook of oracle.h; class `text` of the oracle `metamorphic`. */
void texts_judge(struct checking *checking);

/* ---- for tests ---- */

/* What of text number so is not as it was drawn; NULL: nothing. *text is it. In the kernel language, or PTX. */
const char *texts_of_kernel(struct arena *arena, uint64_t number, const char **text);
const char *texts_of_ptx(struct arena *arena, uint64_t number, const char **text);
/* What an entry of module number so needs otherwise than who names whom says. */
const char *texts_of_program(struct arena *arena, uint64_t number, const char **text);
/* What kernel number so leaves otherwise when it is written in OpenCL C or CUDA C, and run as C says. */
const char *texts_emitted(struct arena *arena, uint64_t number, const char **text);
/* What the sequential program of kernel number so says otherwise of two of its threads than their accesses do. */
const char *texts_sequential(struct arena *arena, uint64_t number, const char **text);

#endif
