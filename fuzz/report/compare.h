/*
 * compare.h - the two executions of a divergence side by side: a finding's case run again, and where the
 * two part.
 *
 * A side is an execution as a picture has it: rows are steps, columns are the threads of the grid.
 */
#ifndef FUZZ_REPORT_COMPARE_H
#define FUZZ_REPORT_COMPARE_H

#include "engine/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    COMPARE_LANES_MAX = 64, /* threads shown */
    COMPARE_STEPS_MAX = 400 /* steps kept of an execution */
};

struct side_step {
    uint64_t number; /* from 1 */
    const char *actor;
    const char *rule;
    const char *executed;
    const char *writes; /* NULL: none */
    const char *stack;  /* of the actor, after the step */
    uint32_t line;      /* 0 = none */
    /* After the step a letter a thread: 'x' executed, 'a' active, 'b', 'r', 'e' disabled, '.' not active,
     * ' ' of another actor. */
    char lanes[COMPARE_LANES_MAX + 1];
};

struct side {
    const char *subject;
    const char *schedule; /* how the choices were made */
    uint32_t lanes;       /* threads shown */
    uint32_t threads;     /* that there are */
    uint32_t warp;        /* lanes of a warp: where to rule a line between columns */
    uint32_t step_count;
    const struct side_step *steps;
    uint64_t total; /* steps that were taken */
    const char *ended;
    uint32_t parts; /* index of the step at which they part; step_count: not known */
};

struct comparison {
    struct side sides[2]; /* the finding's subject, the one that it is compared with */
    const char *parting;  /* one sentence: where they part, and who says so; NULL: not known */
};

#endif
