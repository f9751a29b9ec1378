/*
 * known.h - faults that are known already: what is found again is told by the avoidance under which it vanishes, and
 * most cases run under that avoidance, so that what else there is can be seen.
 */
#ifndef FUZZ_OUTSIDE_KNOWN_H
#define FUZZ_OUTSIDE_KNOWN_H

#include "fuzz/outside/trial.h"

enum { KNOWN_MOST = 32 };

/* How many there are; what is said of one. */
uint32_t known_count(void);
const char *known_id(uint32_t number);
const char *known_sentence(uint32_t number);
/* KNOWN_MOST: there is none of this name. */
uint32_t known_number(const char *id);
/* Whether a kernel with these knobs may show it: it is one of this implementation, and not avoided. */
bool known_may_show(uint32_t number, const struct outside_subject *subject, uint32_t knobs);

/* What says what the register has it say, or else a wrong value or a crash without a message, that vanishes under the
 * avoidance of a known fault of this implementation and version: its id. NULL: it is new. */
const char *known_find(const struct outside_subject *subject, uint32_t knobs,
                       const struct trial *trial, const struct attribution *attribution);

/* The knobs of a case for this implementation: all avoidances of its known faults are on, but in one case of eight. */
uint32_t known_avoid(const struct outside_subject *subject, uint32_t knobs, uint64_t number);

/* Whether a known fault of the implementation says what this one says; known_find tells whether it is that. */
bool known_has_cause(const struct outside_subject *subject, const struct trial *trial);

#endif
