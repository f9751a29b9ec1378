/*
 * witness.h - the hang under an execution model as the execution to look at.
 */
#ifndef FUZZ_WITNESS_H
#define FUZZ_WITNESS_H

#include "fuzz/look/chosen.h"

/* `view --witness MODEL`: subject, schedule and loop of that row of the kernel's termination matrix. False:
 * reported. */
bool witness_choose(struct cli *cli, struct chosen *chosen);

#endif
