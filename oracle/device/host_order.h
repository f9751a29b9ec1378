/*
 * host_order.h - two statements of a host program that access one word of global memory, one of them to write it, and
 * that nothing orders: no stream, no event, no synchronisation.
 *
 * What is found does not depend on the schedule that is watched, as long as the grids' accesses do not: the order is
 * that of host_ends_before. A word keeps its last plain write, four reads and four atomics of which none ends before
 * another; more at a time may be missed.
 */
#ifndef ORACLE_HOST_ORDER_H
#define ORACLE_HOST_ORDER_H

#include "oracle/device/host_judge.h"

struct host_order;

/* Watches the device's executions from now on. */
struct host_order *host_order_watch(struct arena *arena, struct device *device);
/* Adds what was found to the verdict. */
void host_order_tell(struct host_order *order, struct host_verdict *verdict);
void host_order_leave(struct host_order *order);

#endif
