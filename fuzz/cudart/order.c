#include "fuzz/cudart/order.h"

#include <stdatomic.h>
#include <string.h>

enum { BRANCHES = 20 }; /* bits: chains of a graph */
#define LANE_EVENT ((uint64_t)1 << 63)

static atomic_bool is_told; /* nothing else is handed over by it */
static __thread uint64_t current, branches;

static void tell(enum device_order_kind kind, uint64_t to, uint64_t from)
{
    const struct device_order order = {.kind = kind, .to = to, .from = from};
    if (!atomic_load_explicit(&is_told, memory_order_relaxed) || !device_enter())
        return;
    device_tell(DEVICE_ORDER, &order, sizeof order, NULL, 0);
    device_leave();
}

void order_start(void)
{
    atomic_store_explicit(&is_told, true, memory_order_relaxed);
}

void order_join(uint64_t to, uint64_t from)
{
    tell(DEVICE_ORDER_JOIN, to, from);
}

void order_join_all(uint64_t to)
{
    tell(DEVICE_ORDER_JOIN_ALL, to, 0);
}

void order_record(uint64_t event, uint64_t from)
{
    tell(DEVICE_ORDER_RECORD, event, from);
}

uint64_t order_enter(uint64_t lane)
{
    const uint64_t before = current;
    current = lane;
    branches = lane >> BRANCHES ? branches : 0;
    return before;
}

uint64_t order_lane(void)
{
    return current;
}

uint64_t order_branch(uint64_t lane)
{
    const uint64_t stream = lane >> BRANCHES ? lane >> BRANCHES : lane;
    return stream << BRANCHES | (++branches & ((1u << BRANCHES) - 1));
}

uint64_t lane_of_stream(cudaStream_t stream)
{
    return stream ? (uint64_t)(uintptr_t)stream : LANE_LEGACY;
}

uint64_t lane_of_event(const struct event *event)
{
    return LANE_EVENT | (uint64_t)(uintptr_t)event;
}

uint64_t lane_of_instance(const struct graph *instance)
{
    return LANE_EVENT | (uint64_t)(uintptr_t)instance;
}

void order_touch(const char *function, const void *to, const void *from, size_t bytes)
{
    struct device_touched touched = {.lane = current,
                                     .to = (uint64_t)(uintptr_t)to,
                                     .from = (uint64_t)(uintptr_t)from,
                                     .bytes = bytes};
    if (!atomic_load_explicit(&is_told, memory_order_relaxed))
        return;
    strncpy(touched.name, function ? function : "a node of a graph", sizeof touched.name - 1);
    host_frames(&touched.stack);
    device_tell(DEVICE_TOUCHED, &touched,
                offsetof(struct device_touched, stack.frames) +
                    touched.stack.count * sizeof touched.stack.frames[0],
                NULL, 0);
}
