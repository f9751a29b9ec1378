/*
 * step_screen.h - the stepper on the whole terminal: 80x24 and more, with keys.
 */
#ifndef FUZZ_STEP_SCREEN_H
#define FUZZ_STEP_SCREEN_H

#include "fuzz/step/step_commands.h"

/* Until the person ends it. False: there is no terminal that can show it. */
bool step_screen(struct step_session *session);

#endif
