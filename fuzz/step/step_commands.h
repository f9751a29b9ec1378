/*
 * step_commands.h - the words by which one goes through an execution: of a script (`--commands`), of the line at the
 * foot of the screen.
 */
#ifndef FUZZ_STEP_COMMANDS_H
#define FUZZ_STEP_COMMANDS_H

#include "fuzz/step/step_break.h"
#include "fuzz/step/step_show.h"

#include <stdio.h>

struct step_session {
    struct stepper *stepper;
    struct step_breaks breaks;
    bool ended;
};

/* One command. What it shows goes to `out`, NULL: nowhere, only the stepper moves. NULL: done; otherwise a message:
 * what is wrong, or that there is no such step. */
const char *step_command(struct step_session *session, const char *text, FILE *out);

/* Commands, one a line or separated by ';'. Every command is printed, and what it shows. False: the first one that is
 * wrong ended it, and was named. */
bool step_commands(struct step_session *session, const char *text, FILE *out);

/* What there is, a line each. */
void step_commands_help(FILE *out);

#endif
