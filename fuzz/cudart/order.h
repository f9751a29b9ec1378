/*
 * order.h - which operations come before which: told to the device, which keeps it (fuzz/exec/order.c), and looks
 * whether two that nothing orders access the same memory.
 *
 * A lane is what does its operations one after the other: the host, a stream, a chain of a graph's nodes; an event is
 * one that does none. What is done when the first stream or graph comes into being has come before all that follows.
 */
#ifndef FUZZ_ORDER_H
#define FUZZ_ORDER_H

#include "fuzz/cudart/cudart.h"

struct graph;

#define LANE_HOST ((uint64_t)0)
#define LANE_LEGACY ((uint64_t)1) /* the default stream that all threads share */

/* From now on there is something to tell. */
void order_start(void);

/* What comes next on `to` comes behind all that `from` has done, or knows of. */
void order_join(uint64_t to, uint64_t from);
void order_join_all(uint64_t to);
/* An event: it knows what `from` knows now, and nothing else. */
void order_record(uint64_t event, uint64_t from);

/* Whose the operations of this thread are that follow; who it was before. */
uint64_t order_enter(uint64_t lane);
uint64_t order_lane(void);

/* A lane of a graph that is launched from this one. */
uint64_t order_branch(uint64_t lane);

uint64_t lane_of_stream(cudaStream_t stream);
uint64_t lane_of_event(const struct event *event);
/* An event, too: its latest launch has ended. */
uint64_t lane_of_instance(const struct graph *instance);

/* Between device_enter and _leave: the operation copies bytes, or sets them. NULL: memory of the host's own. */
void order_touch(const char *function, const void *to, const void *from, size_t bytes);

#endif
