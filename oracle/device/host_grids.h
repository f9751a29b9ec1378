/*
 * host_grids.h - the launches of a host program one by one, each with the memory that it begins with: races of its
 * threads, errors, reads outside of buffers (oracle/launch); and once more with one block resident at a time, each of
 * which finds its shared memory as the module has it, and which together leave the same memory.
 */
#ifndef ORACLE_HOST_GRIDS_H
#define ORACLE_HOST_GRIDS_H

#include "oracle/device/host_judge.h"

/* The launch of a grid that has just started; the device's memory is as it begins. True: a finding was added. */
bool host_grids_launch(struct arena *arena, struct device *device, struct device_grid *grid,
                       uint64_t budget, struct host_verdict *verdict);

#endif
