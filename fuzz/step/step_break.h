/*
 * step_break.h - where a run through an execution stops: at a line, a rule, a thread's step, a race, where threads
 * part, where a variable is written.
 */
#ifndef FUZZ_STEP_BREAK_H
#define FUZZ_STEP_BREAK_H

#include "fuzz/step/stepper.h"

enum step_break_kind {
    STEP_BREAK_LINE,
    STEP_BREAK_RULE,
    STEP_BREAK_THREAD,
    STEP_BREAK_RACE,
    STEP_BREAK_DIVERGENCE,
    STEP_BREAK_WATCH
};

struct step_break {
    enum step_break_kind kind;
    uint32_t number;     /* line, thread */
    const char *name;    /* rule; what is watched, "i,s[3]" */
    const uint8_t *hits; /* of a watch, and of a thread: a 1 for each step, from step 1 on */
};

enum { STEP_BREAKS = 16 };

struct step_breaks {
    uint32_t count;
    struct step_break all[STEP_BREAKS];
};

/* "line 9", "rule while_brk", "thread 3", "race", "divergence", "watch i,s[3]". NULL: *made is it; else what is wrong.
 * The stepper stays where it is. */
const char *step_break_parse(struct stepper *stepper, const char *text, struct step_break *made);
/* The same text back. */
const char *step_break_text(struct arena *arena, const struct step_break *it);

/* The next step (way 1), or the one before (-1), at which one of them stops; 0: none. */
uint64_t step_break_find(const struct stepper *stepper, const struct step_breaks *breaks, int way);

#endif
