/*
 * mutant_runtime.h - for the hunter: what is on, what was recorded.
 */
#ifndef MUTANT_RUNTIME_H
#define MUTANT_RUNTIME_H

#include "tests/mutation/auto/mutant.h"

#include <stdbool.h>
#include <stdint.h>

/* While recording: a byte a point, a byte a mutant, set by the run. A point that has been looked at `looks_max` times
 * (0: no such limit) and has not infected all of its mutants by then counts as if it had: a superset, that costs
 * little. */
struct mutant_record {
    uint8_t *reached, *infected;
    uint32_t looks_max, *looks; /* a point, from 0 on */
};

/* The original; all probes off. */
void mutant_all_off(void);
/* One more mutant is on. */
void mutant_switch_on(int mutant);
int mutant_point_of(int mutant);
/* From now on the run fills the record; mutants that are on stay on (and their points unrecorded).
 * NULL: no longer. Probes whose points have nothing more to tell are switched off by the run; this
 * switches them on again. */
void mutant_record(const struct mutant_record *record);

#endif
