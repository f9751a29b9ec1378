/*
 * interrupt.h - SIGINT, SIGTERM and SIGHUP for commands that keep what they have so far.
 */
#ifndef FUZZ_CLI_INTERRUPT_H
#define FUZZ_CLI_INTERRUPT_H

#include <signal.h>

/* Set by the first signal; whoever searches looks at it and ends. */
extern volatile sig_atomic_t interrupted;

/* From now on the first of the signals sets `interrupted`, the second one ends the process. */
void interrupt_catch(void);

#endif
