/*
 * device_context.c - rules of contexts: what waits in streams, and whose turn it is.
 */
#include "engine/device/device_internal.h"

#include "engine/base/bits.h"
#include "engine/device/device_flight.h"

#include <string.h>

static bool is_over(const struct device *device, uint32_t statement)
{
    return device->progress[statement] == PROGRESS_DONE;
}

bool device_context_alive(const struct device *device, uint32_t context)
{
    return device->head->alive >> context & 1;
}

static bool has_grids(const struct device *device, uint32_t context)
{
    for (uint32_t i = 0; i < device->grid_count; i++)
        if (device->grids[i].context == context && device_runs(device, &device->grids[i]))
            return true;
    return false;
}

/*  DE.switch       free: any context steps at any time       sticky: one is left only when it has no grids
 */
bool device_context_steps(const struct device *device, uint32_t context)
{
    uint32_t current = device->head->context;
    if (!device_context_alive(device, context))
        return false;
    return !device->options.sticky || current == 0 || current - 1 == context ||
           !has_grids(device, current - 1);
}

/* Whether all that stands above it in its stream is over. */
static bool is_first(const struct device *device, uint32_t statement)
{
    const struct host_program *p = device->program;
    for (uint32_t i = 0; i < statement; i++)
        if (host_is_queued(&p->statements[i]) &&
            p->statements[i].stream == p->statements[statement].stream && !is_over(device, i))
            return false;
    return true;
}

static uint32_t running_grids(const struct device *device, uint32_t context)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < device->grid_count; i++)
        count += device->grids[i].context == context && device_runs(device, &device->grids[i]);
    return count;
}

bool device_may_start(struct device *device, uint32_t statement)
{
    const struct host_statement *s = &device->program->statements[statement];
    if (device->progress[statement] != PROGRESS_QUEUED || !device_context_steps(device, s->context))
        return false;
    if (s->kind == HOST_LAUNCH && device->caches && device->options.flush && cached_pinned(device))
        return false; /* a line that is waited for cannot go: CX.flush comes later */
    if (s->kind == HOST_COPY)
        return is_first(device, statement);
    return s->kind == HOST_LAUNCH && (!device->options.ordered || is_first(device, statement)) &&
           running_grids(device, s->context) < device->options.grids;
}

/*  CX.flush        a grid starts                   every line of global memory in every L1 goes (ERR.84)
 *
 *  As printed this is left to the silent rule, which may never apply.
 */
static void ctx_flush(struct device *device)
{
    flight_flush(device);
    device_fired(device, DEVICE_CTX_FLUSH);
}

/*  CX.start        `start s` waits in c; order=stream: all of s's stream above s is over;
 *                  fewer than NumConKernels grids
 *      <c>  ==>  <c, g>                    g of s, all of its blocks unscheduled
 *
 *  As printed (order=any) messages are a multiset: two launches start in either order (CX.msgs).
 */
void ctx_start(struct device *device, uint32_t statement)
{
    uint32_t number = device->grid_of[statement];
    const struct device_grid *grid = &device->grids[number];
    device->progress[statement] = PROGRESS_RUNNING;
    device->grid_states[number] = (struct device_grid_state){.unissued = grid->blocks};
    for (uint32_t b = 0; device->unissued[number] && b < grid->blocks; b++)
        bits_add(device->unissued[number], b);
    device_fired(device, DEVICE_CTX_START);
    if (device->options.flush)
        ctx_flush(device);
}

static int32_t *words_of(struct device *device, const struct host_array *array)
{
    return (array->is_host ? device->host_memory : device->memory) + array->base;
}

static void see(struct device *device, uint32_t statement, uint32_t array, uint32_t from,
                uint32_t count, bool writes)
{
    device_seen(device, statement, &device->program->arrays[array], from, count, writes);
}

/*  CX.copy         all of s's stream above s is over; a copy without a stream: it is the host's turn, too
 *      <eta>  ==>  <eta[to |-> eta(from)]>                 as L2 has it; no L1 is looked at
 */
void ctx_copy(struct device *device, uint32_t statement)
{
    const struct host_statement *s = &device->program->statements[statement];
    const struct host_array *from = &device->program->arrays[s->array],
                            *to = &device->program->arrays[s->to];
    device_settle_memory(device);
    memmove(words_of(device, to) + s->into, words_of(device, from) + s->from, (size_t)4 * s->count);
    see(device, statement, s->array, s->from, s->count, false);
    see(device, statement, s->to, s->into, s->count, true);
    device->progress[statement] = PROGRESS_DONE;
    device_fired(device, DEVICE_CTX_COPY);
}

/*  CX.stream       s a record, all of its stream above it is over
 *      <s queued>  ==>  <s done>
 */
static bool ctx_record(struct device *device, uint32_t statement)
{
    if (!is_first(device, statement))
        return false;
    device->progress[statement] = PROGRESS_DONE;
    device_fired(device, DEVICE_CTX_RECORD);
    return true;
}

/*  CX.stream       s a wait for an event, whose record is done; all of its stream above it is over
 *      <s queued>  ==>  <s done>
 */
static bool ctx_wait(struct device *device, uint32_t statement)
{
    if (!is_first(device, statement) ||
        !is_over(device, device->program->statements[statement].target))
        return false;
    device->progress[statement] = PROGRESS_DONE;
    device_fired(device, DEVICE_CTX_WAIT);
    return true;
}

bool device_turns(struct device *device)
{
    bool any = false;
    for (uint32_t i = 0; i < device->head->host; i++) {
        enum host_kind kind = device->program->statements[i].kind;
        if (device->progress[i] != PROGRESS_QUEUED)
            continue;
        if (kind == HOST_RECORD)
            any |= ctx_record(device, i);
        if (kind == HOST_WAIT)
            any |= ctx_wait(device, i);
    }
    return any;
}

/*  CX.abort        `abort g` in c
 *      <c, g>  ==>  <c>                    g's blocks vanish; its operations go on, unless ends=drain waits for them
 *                                          (ERR.89)
 */
void ctx_abort(struct device *device, uint32_t statement)
{
    uint32_t number = device->grid_of[statement];
    if (!is_over(device, statement))
        device_vanish(device, &device->grids[number]);
    device_fired(device, DEVICE_CTX_ABORT);
}
