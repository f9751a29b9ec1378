/*
 * device_host.c - what the host does: one statement after the other.
 */
#include "engine/device/device_internal.h"

#include "engine/device/device_flight.h"

#include <string.h>

/* ---- waiting ---- */

static bool stream_is_over(const struct device *device, uint32_t before, uint32_t context,
                           uint32_t stream)
{
    const struct host_program *p = device->program;
    for (uint32_t i = 0; i < before; i++) {
        const struct host_statement *s = &p->statements[i];
        bool concerned = host_is_queued(s) && s->context == context &&
                         (stream == HOST_NONE || s->stream == stream);
        if (concerned && device->progress[i] != PROGRESS_DONE)
            return false;
    }
    return true;
}

static bool is_ending(const struct device *device, uint32_t context)
{
    for (uint32_t i = 0; i < device->grid_count; i++)
        if (device->grids[i].context == context &&
            device->progress[device->grids[i].statement] == PROGRESS_ENDING)
            return true;
    return false;
}

/* Nothing of the context runs, or waits in a stream. */
static bool is_idle(const struct device *device, uint32_t context)
{
    return stream_is_over(device, device->head->host, context, HOST_NONE);
}

/* ends=drain: the host waits for operations of what it has ended, or is about to give away. */
static bool is_draining(const struct device *device, const struct host_statement *s)
{
    if (!device->options.ends_drain)
        return false;
    if (s->kind == HOST_FREE) {
        const struct host_array *a = &device->program->arrays[s->array];
        if (flight_words_pending(device, a->base, a->words))
            return true;
    }
    if (s->kind == HOST_DESTROY && is_idle(device, s->context) &&
        flight_context_pending(device, s->context))
        return true;
    return is_ending(device, s->context);
}

bool device_host_may(const struct device *device)
{
    const struct host_program *p = device->program;
    uint32_t at = device->head->host;
    if (at == p->count)
        return false;
    const struct host_statement *s = &p->statements[at];
    if (is_draining(device, s))
        return false;
    if (s->kind == HOST_SYNC && s->event != HOST_NONE)
        return device->progress[s->target] == PROGRESS_DONE;
    if (s->kind == HOST_SYNC)
        return stream_is_over(device, at, s->context, s->stream);
    if (s->kind == HOST_COPY && !s->has_stream && device->options.ordered)
        return stream_is_over(device, at, s->context, s->stream);
    return true;
}

/* ---- the rules ---- */

/*  DE.create       cid fresh
 *      <D>  ==>  <D, c>                    without grids and pages
 */
static void dev_create(struct device *device, const struct host_statement *s)
{
    device->head->alive |= 1u << s->context;
    device_fired(device, DEVICE_DEV_CREATE);
}

/*  DE.destroy      c a context
 *      <D, c>  ==>  <D>                    its grids vanish, its pages may be others'; its operations go on, unless
 *                                          ends=drain waits for them (ERR.89); the last one, too (ERR.88)
 */
static bool dev_destroy(struct device *device, const struct host_statement *s)
{
    const struct host_program *p = device->program;
    for (uint32_t i = 0; i < device->grid_count; i++)
        if (device->grids[i].context == s->context && device_runs(device, &device->grids[i]))
            device_vanish(device, &device->grids[i]);
    for (uint32_t i = 0; i < device->head->host; i++)
        if (p->statements[i].context == s->context && host_is_queued(&p->statements[i]) &&
            device->progress[i] != PROGRESS_ENDING)
            device->progress[i] = PROGRESS_DONE;
    if (device->options.ends_drain && flight_context_pending(device, s->context))
        return false;
    device->head->alive &= ~(1u << s->context);
    device_fired(device, DEVICE_DEV_DESTROY);
    return true;
}

static int32_t *words_of(struct device *device, const struct host_array *array)
{
    return (array->is_host ? device->host_memory : device->memory) + array->base;
}

/*  HO.allocate     pages that no context has
 *      <c>  ==>  <c, a |-> pages>          with the values that the program gives
 */
static void host_allocate(struct device *device, const struct host_statement *s)
{
    const struct host_array *a = &device->program->arrays[s->array];
    device_settle_memory(device);
    for (uint32_t i = 0; i < a->words; i++)
        device->memory[a->base + i] = host_value(&a->values, i);
    device_seen(device, device->head->host, a, 0, a->words, true);
    device_fired(device, DEVICE_HOST_ALLOCATE);
}

static void host_release(struct device *device)
{
    device_fired(device, DEVICE_HOST_RELEASE);
}

/*  CX.copy         the host writes
 *      <eta>  ==>  <eta[a |-> v]>          DRAM and the line in L2; no L1
 */
static void host_poke(struct device *device, const struct host_statement *s)
{
    const struct host_array *a = &device->program->arrays[s->array];
    int32_t *words = words_of(device, a) + s->from;
    device_settle_memory(device);
    for (uint32_t i = 0; i < s->count; i++)
        words[i] = host_value(&s->values, i);
    device_seen(device, device->head->host, a, s->from, s->count, true);
    device_fired(device, DEVICE_HOST_POKE);
}

/*  HO.launch       the host's next statement is a launch (or another thing for a stream)
 *      <.., host s, in>  ==>  <.., host s + 1, `start s` :: in>
 */
static void host_launch(struct device *device, const struct host_statement *s, uint32_t at)
{
    device->progress[at] = PROGRESS_QUEUED;
    device_fired(device, s->kind == HOST_LAUNCH ? DEVICE_HOST_LAUNCH : DEVICE_HOST_QUEUE);
}

/*  CX.wait         `completed g` for all that is waited for
 *      <.., host s>  ==>  <.., host s + 1>                  orders nothing by itself where blocks do not drain (ERR.83)
 */
static void host_sync(struct device *device)
{
    device_fired(device, DEVICE_HOST_SYNC);
}

static bool value_fits(const struct host_statement *s, uint32_t i, int32_t value)
{
    if (!s->any)
        return host_value(&s->values, i) == value;
    for (uint32_t k = 0; k < s->values.count; k++)
        if (s->values.list[k] == value)
            return true;
    return false;
}

/*  HO.expect       the host reads words of a               as CX.copy does
 *      <.., host s>  ==>  <.., host s + 1>                  whether they are what the program says is kept
 */
static void host_expect(struct device *device, const struct host_statement *s, uint32_t at)
{
    const struct host_array *a = &device->program->arrays[s->array];
    struct device_expectation *e = &device->expectations[at];
    device_settle_memory(device);
    const int32_t *words = words_of(device, a) + s->from;
    *e = (struct device_expectation){.asked = true, .holds = true};
    for (uint32_t i = 0; i < s->count && e->holds; i++) {
        e->holds = value_fits(s, i, words[i]);
        e->word = s->from + i;
        e->value = words[i];
    }
    if (!e->holds && device->head->failed == 0)
        device->head->failed = at + 1;
    device_seen(device, at, a, s->from, s->count, false);
    device_fired(device, DEVICE_HOST_PEEK);
    device_fired(device, DEVICE_HOST_EXPECT);
}

void device_host_step(struct device *device)
{
    uint32_t at = device->head->host;
    const struct host_statement *s = &device->program->statements[at];
    switch (s->kind) {
    case HOST_CONTEXT:
        dev_create(device, s);
        break;
    case HOST_USE:
    case HOST_KIND_COUNT:
        break;
    case HOST_BUFFER:
        host_allocate(device, s);
        break;
    case HOST_FREE:
        host_release(device);
        break;
    case HOST_COPY:
        if (s->has_stream)
            host_launch(device, s, at);
        else
            ctx_copy(device, at);
        break;
    case HOST_SET:
        host_poke(device, s);
        break;
    case HOST_LAUNCH:
    case HOST_RECORD:
    case HOST_WAIT:
        host_launch(device, s, at);
        break;
    case HOST_SYNC:
        host_sync(device);
        break;
    case HOST_ABORT:
        ctx_abort(device, s->target);
        break;
    case HOST_DESTROY:
        if (!dev_destroy(device, s))
            return;
        break;
    case HOST_EXPECT:
        host_expect(device, s, at);
        break;
    }
    device->head->host++;
}
