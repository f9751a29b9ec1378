/*
 * recorded.h - a launch that was recorded on a device (`record`): what the device left, beside what the execution here
 * left.
 */
#ifndef FUZZ_RECORDED_H
#define FUZZ_RECORDED_H

#include "oracle/launch/launch.h"

/* Behind the run. A sentence; NULL: the kernel has no `result:`. A difference that neither a race, nor the order of
 * atomics, nor an approximation explains is added to the launch's findings (LAUNCH_DIFFERS). */
const char *recorded_compare(struct launch *launch);

#endif
