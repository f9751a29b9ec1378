/*
 * device_memory.c - who has the newest values of global memory.
 *
 * A grid's machine holds its regions in its own memory. As long as one grid alone steps, nothing is moved; when another
 * one steps, or the host, the values go back to the device's memory first.
 */
#include "engine/base/text.h"
#include "engine/device/device_internal.h"

#include <string.h>

static void move(struct device *device, const struct device_grid *grid, bool back)
{
    for (uint32_t i = 0; i < grid->region_count; i++) {
        const struct device_region *r = &grid->regions[i];
        int32_t *own = grid->machine->memory + r->word, *common = device->memory + r->base;
        memcpy(back ? common : own, back ? own : common, (size_t)4 * r->words);
    }
}

void device_settle_memory(struct device *device)
{
    if (device->holder)
        move(device, device->holder, true);
    if (device->holder && device->caches)
        cached_out(device, device->holder);
    device->holder = NULL;
}

void device_hold(struct device *device, struct device_grid *grid)
{
    if (device->holder == grid)
        return;
    device_settle_memory(device);
    move(device, grid, false);
    if (device->caches)
        cached_in(device, grid);
    if (device->flights)
        return; /* its machine changes nothing: operations do */
    device->holder = grid;
}

const char *device_outcome(struct arena *arena, struct device *device)
{
    const struct host_program *p = device->program;
    struct text text = text_begin(arena);
    device_settle_memory(device);
    for (uint32_t i = 0; i < p->observed_count; i++) {
        const struct host_array *a = &p->arrays[p->observed[i].array];
        const int32_t *memory = a->is_host ? device->host_memory : device->memory;
        text_format(&text, "%s%d", i ? "," : "", (int)memory[a->base + p->observed[i].word]);
    }
    return text.bytes;
}
