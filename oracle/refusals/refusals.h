/*
 * refusals.h - texts in which one rule of a language is broken on purpose, which is known: the reader must refuse them,
 * at that place, for that reason, and for no other; and what keeps the rule must be taken. The texts are rows of
 * tables, a table a language.
 */
#ifndef ORACLE_REFUSALS_H
#define ORACLE_REFUSALS_H

#include "oracle/check/explore.h"

/*
 * A broken text. A mark ` stands before each place that is told of, and `told` has a line for each, in this order; one
 * that begins with "nowhere: " has no place, and no mark. `*65 (` is the text behind the blank 65 times, a # in it the
 * number of the copy, from 0. What is told of a line of the text (".. line 2") is meant as if nothing stood before it.
 * In half of the cases the broken text stands behind the right one, if that may stand twice, and `told` does not begin
 * with "alone: ".
 *
 * A row that tells nothing is a frame: the texts of the rows behind it stand in the place of its <>.
 */
struct refusal {
    const char *broken;
    const char *right; /* what may stand there instead, and is taken; NULL: not said */
    const char *told;
};

#define FRAME(text)                                                                                \
    {                                                                                              \
        text, NULL, NULL                                                                           \
    }

enum { REFUSALS_BEFORES = 6 };
/* What may stand before a text of a language without comments of several lines. */
extern const char *const refusals_blanks[REFUSALS_BEFORES];

struct refusals {
    const char *name;
    const struct refusal *rows;
    uint32_t count;
    uint32_t rare;   /* a row that is drawn is asked in one case of so many; 0: in each */
    bool lines_only; /* places are lines, in the first column */
    /* REFUSALS_BEFORES texts that mean nothing before a text; NULL: as in C */
    const char *const *befores;
    /* Reads a text as the language's reader does; true: it is taken. */
    bool (*read)(struct arena *arena, const char *text, size_t length, struct diag *diag);
};

extern const struct refusals refusals_language, refusals_assumptions, refusals_ptx,
    refusals_settings, refusals_litmus, refusals_litmus_ptx, refusals_host, refusals_forms,
    refusals_largest, refusals_programs, refusals_largest_programs, refusals_emitted,
    refusals_requirements, refusals_places;

/* The languages. */
extern const struct refusals *const refusals_tables[];
extern const uint32_t refusals_table_count;

/* The hook of oracle.h; class `text` of the oracle `metamorphic`. */
void refusals_judge(struct checking *checking);

/* What of a row is not as it says, "refused: ..", with blanks and remarks before it that `draw` chooses (0: none);
 * NULL: nothing. *text is it. Frames: NULL. */
const char *refusals_ask(struct arena *arena, const struct refusals *table, uint32_t row,
                         uint64_t draw, const char **text);

/* The forms of a kernel are there, and are read as they are printed, also where its names are as long as names may be,
 * or shorter by up to 3 characters, differently for each `less`. *text is the kernel with such names. */
const char *refusals_long_names(struct arena *arena, const struct ast_kernel *kernel, uint32_t less,
                                const char **text);

#endif
