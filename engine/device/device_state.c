/*
 * device_state.c - copies of the whole state of a device.
 */
#include "engine/device/device_internal.h"

#include <string.h>

/* The words of a grid's machine that are state: all but the global memory, which the device has. */
static size_t machine_words(const struct device_grid *grid)
{
    return grid->machine->block_words - grid->program->shared_base;
}

static void pack(const struct device_grid *grid, uint32_t *words, bool back)
{
    uint32_t *block = grid->machine->block;
    size_t before = (size_t)((const uint32_t *)grid->machine->memory - block);
    size_t skip = before + grid->program->shared_base;
    size_t behind = grid->machine->block_words - skip;
    memcpy(back ? block : words, back ? words : block, 4 * before);
    memcpy(back ? block + skip : words + before, back ? words + before : block + skip, 4 * behind);
}

size_t device_state_words(const struct device *device)
{
    size_t words = device->words;
    for (uint32_t i = 0; i < device->grid_count; i++)
        words += machine_words(&device->grids[i]);
    return words;
}

void device_save(struct device *device, uint32_t *words)
{
    for (uint32_t i = 0; device->caches && i < device->grid_count; i++)
        cached_look(device, &device->grids[i]); /* one state, one list of who can step */
    device_settle_memory(device);
    memcpy(words, device->block, 4 * device->words);
    words += device->words;
    for (uint32_t i = 0; i < device->grid_count; i++) {
        pack(&device->grids[i], words, false);
        words += machine_words(&device->grids[i]);
    }
}

void device_load(struct device *device, uint32_t *words)
{
    memcpy(device->block, words, 4 * device->words);
    device->holder = NULL;
    words += device->words;
    for (uint32_t i = 0; i < device->grid_count; i++) {
        pack(&device->grids[i], words, true);
        words += machine_words(&device->grids[i]);
    }
}
