/*
 * order.h - whether something orders two operations of a program that access the same memory: launches, copies, sets.
 * What comes before what is told by fuzz/cudart/order.h; here a lane knows of each other one how much of it came
 * before (a vector of clocks), and each word of memory who wrote it last, and the last two lanes that read it. So no
 * race is told that is none, unless kernels order it by flags in memory; of more than two readers that are not ordered
 * one may be missed. Words of which an operation touches a part are left out.
 */
#ifndef FUZZ_EXEC_ORDER_H
#define FUZZ_EXEC_ORDER_H

#include "fuzz/exec/device.h"

void order_tell(struct device *device, const struct device_order *order);

/* A copy or a set is done. */
void order_touched(struct device *device, const struct device_touched *touched);

/* A launch is done: begins, then each buffer that it was given, then the end, which tells what was found. */
void order_launch_begin(struct device *device, const struct device_launch *launch,
                        const char *name);
void order_launch_region(struct device *device, const struct launch *launch,
                         const struct ptx_region *region, struct device_buffer *buffer);
void order_launch_end(struct device *device, struct arena *arena, const struct launch *launch);

void order_end(struct device *device);

#endif
