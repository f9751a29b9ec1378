/*
 * step_caches.h - the part `caches` of a stepper, and what a step wrote to memory when an operation did.
 */
#ifndef FUZZ_STEP_CACHES_H
#define FUZZ_STEP_CACHES_H

#include "fuzz/step/step_show.h"

/* The operations under way, and what each L1 holds. */
void step_caches(struct stepper *stepper, struct step_lines *lines);

/* "memory: x = 1": of a machine over caches, what has changed in this step; NULL: nothing, or there are none. */
const char *step_caches_written(const struct stepper *stepper);

#endif
