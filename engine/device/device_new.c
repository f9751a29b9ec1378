/*
 * device_new.c - a device for a host program: its launches laid out, and where its state lies.
 */
#include "engine/device/device_internal.h"

#include "engine/device/device_flight.h"

#include <string.h>

const struct device_rule_info device_rules[DEVICE_RULE_COUNT] = {
#define DEVICE_RULE(id, name, source) {name, source},
#include "engine/device/device_rules.def"
#undef DEVICE_RULE
};

/* ---- launches ---- */

static bool make_grids(struct device *device, struct diag *diag)
{
    const struct host_program *p = device->program;
    device->grid_of = ARENA_ARRAY(device->arena, uint32_t, p->count + 1);
    device->grids = ARENA_ARRAY(device->arena, struct device_grid, p->count + 1);
    for (uint32_t i = 0; i < p->count; i++) {
        device->grid_of[i] = HOST_NONE;
        if (p->statements[i].kind != HOST_LAUNCH)
            continue;
        struct device_grid *grid = &device->grids[device->grid_count];
        grid->statement = i;
        grid->context = p->statements[i].context;
        device_compile(device, grid, diag);
        device->grid_of[i] = device->grid_count++;
        if (diag->count > 0)
            return false;
    }
    return true;
}

static void empty_slots(const struct device *device, const struct device_grid *grid)
{
    for (uint32_t slot = 0; slot < grid->slots; slot++) {
        if (device->caches)
            caches_slot_empty(grid->machine, slot);
        else
            crs_slot_empty(grid->machine, slot);
    }
}

static bool make_machines(struct device *device, struct diag *diag)
{
    struct machine_options options = {.block_options = BLOCK_ALIGNED};
    bool cached = device->options.inflight && device->options.caches;
    if (cached)
        device->caches = ARENA_NEW(device->arena, struct device_caches);
    if (cached && !cached_options(device, &options.memory, diag))
        return false;
    for (uint32_t i = 0; i < device->grid_count; i++) {
        struct device_grid *grid = &device->grids[i];
        grid->machine = machine_new(device->arena, cached ? &semantics_crs_caches : &semantics_crs,
                                    grid->program, &options);
        empty_slots(device, grid);
    }
    return true;
}

/* ---- state ---- */

static bool in_any_order(const struct device *device, const struct device_grid *grid)
{
    return device->options.any_block && grid->blocks <= ANY_BLOCKS;
}

/* `words` more of the state, an even number of them; in the first round only counted. */
static void *take(struct device *device, size_t words)
{
    uint32_t *at = device->block ? device->block + device->words : NULL;
    device->words += (words + 1) & ~(size_t)1;
    return at;
}

static void lay_out(struct device *device)
{
    const struct host_program *p = device->program;
    device->words = 0;
    device->head = take(device, sizeof *device->head / 4);
    device->progress = take(device, p->count);
    device->grid_states = take(device, device->grid_count * sizeof *device->grid_states / 4);
    for (uint32_t i = 0; i < device->grid_count; i++) {
        struct device_grid *grid = &device->grids[i];
        device->slots[i] = take(device, grid->slots * sizeof **device->slots / 4);
        device->numbers[i] = take(device, grid->slots);
        device->unissued[i] =
            in_any_order(device, grid) ? take(device, (grid->blocks + 63) / 64 * 2) : NULL;
    }
    device->memory = take(device, device->memory_words);
    device->host_memory = take(device, p->host_words);
    if (device->caches) {
        uint32_t places = device->options.sms * device->options.blocks;
        size_t lines = (size_t)device->options.sms * device->options.lines;
        device->caches->shared_words = cached_shared_words(device);
        device->caches->lines = take(device, lines * sizeof(struct device_cached_line) / 4);
        device->caches->shared = take(device, (size_t)places * device->caches->shared_words);
        device->caches->locks = take(device, device->caches->shared_words ? places : 0);
    }
    if (!device->flights)
        return;
    uint32_t places = device->options.sms * device->options.blocks;
    device->flights->flights = take(device, FLIGHTS * sizeof(struct device_flight) / 4);
    device->flights->lines =
        take(device, device->options.sms * FLIGHT_WORDS * sizeof(struct device_line) / 4);
    device->flights->shared = take(device, places * FLIGHT_SHARED);
}

static void make_state(struct device *device)
{
    uint32_t grids = device->grid_count + 1;
    device->slots = arena_alloc(device->arena, grids, sizeof *device->slots);
    device->unissued = arena_alloc(device->arena, grids, sizeof *device->unissued);
    device->numbers = arena_alloc(device->arena, grids, sizeof *device->numbers);
    lay_out(device);
    device->block = ARENA_ARRAY(device->arena, uint32_t, device->words + 1);
    device->initial = ARENA_ARRAY(device->arena, uint32_t, device->words + 1);
    lay_out(device);
    device->head->alive = 1;
    if (device->variables)
        memcpy(device->memory + device->program->device_words, device->variables,
               (size_t)4 * (device->memory_words - device->program->device_words));
    for (uint32_t i = 0; i < device->program->array_count; i++) {
        const struct host_array *a = &device->program->arrays[i];
        for (uint32_t w = 0; a->is_host && w < a->words; w++)
            device->host_memory[a->base + w] = host_value(&a->values, w);
    }
    memcpy(device->initial, device->block, 4 * device->words);
}

static uint32_t alternatives_most(const struct device *device)
{
    uint32_t most = 1 + 2 * device->program->count;
    for (uint32_t i = 0; i < device->grid_count; i++)
        most += device->options.sms + device->grids[i].machine->alternatives;
    if (device->flights)
        most += FLIGHTS + device->options.sms * FLIGHT_WORDS;
    return most;
}

static bool make_flights(struct device *device, struct diag *diag)
{
    device->flights = ARENA_NEW(device->arena, struct device_flights);
    for (uint32_t i = 0; i < device->grid_count; i++) {
        const char *why = flight_refuses(device->arena, device, &device->grids[i]);
        if (why) {
            diag_error(diag, device->program->statements[device->grids[i].statement].at, "%s", why);
            return false;
        }
    }
    return true;
}

struct device *device_new(struct arena *arena, const struct host_program *program,
                          const struct device_options *options, struct diag *diag)
{
    struct device *device = ARENA_NEW(arena, struct device);
    device->arena = arena;
    device->program = program;
    device->options = *options;
    device->memory_words = program->device_words;
    if (!make_grids(device, diag))
        return NULL;
    if (!make_machines(device, diag))
        return NULL;
    bool in_phases = device->options.inflight && !device->caches && device->grid_count > 0;
    if (in_phases && !make_flights(device, diag))
        return NULL;
    make_state(device);
    if (device->flights)
        flight_make(device);
    device->kept = arena_room(arena, 8 * device_state_words(device));
    device->expectations = ARENA_ARRAY(arena, struct device_expectation, program->count + 1);
    device->alternative_room = alternatives_most(device);
    device->alternatives = ARENA_ARRAY(arena, struct device_alternative, device->alternative_room);
    for (uint32_t i = 0; i < device->grid_count; i++)
        crs_slot_numbers(device->grids[i].machine, device->numbers[i]);
    return device;
}

/* The machine begins anew: it may have ended in a fault, with operations under way, and what blocks have left where
 * others will lie is a part of its state. */
static void reset_grid(const struct device *device, const struct device_grid *grid)
{
    machine_reset(grid->machine);
    empty_slots(device, grid);
}

void device_reset(struct device *device)
{
    device->holder = NULL;
    memcpy(device->block, device->initial, 4 * device->words);
    for (uint32_t i = 0; i < device->grid_count; i++)
        reset_grid(device, &device->grids[i]);
    for (uint32_t i = 0; i < device->program->count; i++)
        device->expectations[i] = (struct device_expectation){.asked = false};
    device->steps = 0;
}
