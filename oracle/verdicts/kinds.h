/*
 * kinds.h - which accesses of PTX a proof takes for strong, which race with each other as little as atomics do, by what
 * is printed of the instructions.
 */
#ifndef ORACLE_VERDICTS_KINDS_H
#define ORACLE_VERDICTS_KINDS_H

#include "engine/duo/lift.h"

/* An access that is noted as another kind; NULL: none. */
const char *kinds_differ(struct arena *arena, const struct lift *lift);

#endif
