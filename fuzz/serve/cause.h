/*
 * cause.h - what a compiler's or driver's last words say about why it failed: the part that is the same for the same
 * fault, without addresses, numbers and file names.
 */
#ifndef FUZZ_SERVE_CAUSE_H
#define FUZZ_SERVE_CAUSE_H

#include "engine/base/arena.h"

#include <stdbool.h>

/* An assertion's text; else a fatal error's; else the innermost function of its own on a stack that it printed; else
 * its first error; else cause_none. */
const char *cause_of_log(struct arena *arena, const char *log);

extern const char cause_none[];

/* Whether it says itself that it is broken, whatever its exit status. */
bool cause_is_crash(const char *log);

#endif
