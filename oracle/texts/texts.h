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
    TEXTS_PROGRAMS_SHARE = 4, /* modules of several entries are divided in one case of so many */
    TEXTS_LAYOUT_SHARE = 2,   /* likewise, modules are laid out */
    TEXTS_MISTAKES = 3,       /* of a case */
    TEXTS_HOST_SHARE = 4,     /* likewise, a host program is read */
    TEXTS_BASE_SHARE = 16,    /* likewise, errors of a text are told, and an arena is used */
    TEXTS_LAUNCH_SHARE =
        8, /* likewise, an entry is launched; its parameters are taken for something */
    TEXTS_FORMS_SHARE = 8 /* likewise, the programs of the case are printed and read */
};

/* The hook of oracle.h; class `text` of the oracle `metamorphic`. */
void texts_judge(struct checking *checking);

/* ---- what all have who draw texts beside a case ---- */

/* The number of a case's draws. */
uint64_t texts_number(const struct checking *checking);
/* Where the byte of this number stands. */
struct location texts_place(const char *text, size_t at);
/* "class: how" of this text is a divergence; drawn: the text has nothing to do with the case's kernel. */
struct divergence *texts_report(struct checking *checking, const char *text, const char *differs,
                                bool drawn);

/* ---- for tests ---- */

/* What of text number so is not as it was drawn; NULL: nothing. *text is it. In the kernel language, or PTX. */
const char *texts_of_kernel(struct arena *arena, uint64_t number, const char **text);
const char *texts_of_ptx(struct arena *arena, uint64_t number, const char **text);
/* The same of a host program. */
const char *texts_of_host(struct arena *arena, uint64_t number, const char **text);
/* What errors of text number so, or objects of an arena, are otherwise than their headers say. */
const char *texts_of_base(struct arena *arena, uint64_t number, const char **text);
/* What an entry of module number so needs otherwise than who names whom says. */
const char *texts_of_program(struct arena *arena, uint64_t number, const char **text);
/* What is not told of a kernel with a mistake. */
const char *texts_of_mistake(struct arena *arena, uint64_t number, const char **text);
/* What instructions of any row, as they are read and printed, say otherwise than they were drawn. */
const char *texts_of_rows(struct arena *arena, uint64_t number, const char **text);
/* What the launch of an entry is otherwise than its settings say; which of its parameters are taken for something else
 * than its text says. */
const char *texts_of_launch(struct arena *arena, uint64_t number, const char **text);
/* The same of settings that stand in any order, twice, in several goes. */
const char *texts_of_settings(struct arena *arena, uint64_t number, const char **text);
const char *texts_of_assumed(struct arena *arena, uint64_t number, const char **text);
/* What of module number so is laid out otherwise than it says. *taken: it is laid out. */
const char *texts_of_layout(struct arena *arena, uint64_t number, const char **text, bool *taken);

#endif
