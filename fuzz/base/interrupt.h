/*
 * interrupt.h - SIGINT, SIGTERM and SIGHUP for commands that keep what they have so far.
 */
#ifndef FUZZ_CLI_INTERRUPT_H
#define FUZZ_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Set by the first signal; whoever searches looks at it and ends. */
extern volatile sig_atomic_t interrupted;

/* From now on the first of the signals sets `interrupted`, the second one ends the process. */
void interrupt_catch(void);

/* What searches look at: 0, STOP_INTERRUPTED or STOP_TIME (engine/base/stop.h). */
extern volatile sig_atomic_t interrupt_stop;

/* From now on `interrupt_stop` says so once the time is over, or a signal came; 0: there is no limit. */
void interrupt_after(uint64_t milliseconds);

/* A part of the work begins: it may have 1/share of the time that is left, and then `interrupt_stop` is set until
 * the next one begins. So one that goes on for ever leaves time for what comes behind it. */
void interrupt_part(uint32_t share);

/* Whether the time of interrupt_after is over. */
bool interrupt_time_over(void);

#endif
