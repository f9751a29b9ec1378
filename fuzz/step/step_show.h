/*
 * step_show.h - what a stepper shows, as lines of text: the same for a screen and for a script.
 */
#ifndef FUZZ_STEP_SHOW_H
#define FUZZ_STEP_SHOW_H

#include "fuzz/step/stepper.h"

#include <stdio.h>

enum { STEP_LINES = 256 };

/* Lines of one part, in the stepper's scratch arena; `marked`: one that the step is about. */
struct step_lines {
    uint32_t count;
    const char *line[STEP_LINES];
    bool marked[STEP_LINES];
};

/* "step 8 of 17": and how it ends. */
const char *step_title(const struct stepper *stepper);
/* What the step did. */
void step_says(struct stepper *stepper, struct step_lines *lines);
/* The text around the line that was executed, so many rows; with the threads that come to a line next. */
void step_source(struct stepper *stepper, struct step_lines *lines, uint32_t rows);
/* A row a thread, a column a step, the last ones up to here. */
void step_lanes(struct stepper *stepper, struct step_lines *lines, uint32_t columns, uint32_t rows);
/* What the actor of the step has left to do, topmost first. */
void step_stack(struct stepper *stepper, struct step_lines *lines);
/* Global and shared memory, with who reads and writes. */
void step_memory(struct stepper *stepper, struct step_lines *lines);
/* What only threads see. */
void step_values(struct stepper *stepper, struct step_lines *lines);
/* The rule that fired. */
void step_rule(struct stepper *stepper, struct step_lines *lines);

/* The parts by name, as the commands have them. */
struct step_part {
    const char *name;
    void (*show)(struct stepper *stepper, struct step_lines *lines);
};
extern const struct step_part step_parts[]; /* ends with a NULL name */

#endif
