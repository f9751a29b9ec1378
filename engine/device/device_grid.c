/*
 * device_grid.c - rules of grids: blocks are issued to multiprocessors, step, and are over.
 */
#include "engine/device/device_internal.h"

#include "engine/base/bits.h"
#include "engine/device/device_flight.h"

#include <string.h>

/* ---- what an SM holds ---- */

struct holding {
    uint32_t blocks, threads, registers, shared;
    uint64_t places; /* a bit each */
};

/* What the SM holds, in the eyes of a context: of all grids, or of its own (ERR.86). */
static struct holding holding_of(const struct device *device, uint32_t sm, uint32_t context)
{
    struct holding h = {0};
    for (uint32_t i = 0; i < device->grid_count; i++) {
        const struct device_grid *grid = &device->grids[i];
        bool idle = device->grid_states[i].resident == 0 &&
                    device->progress[grid->statement] != PROGRESS_ENDING;
        if (idle || (!device->options.whole && grid->context != context))
            continue;
        for (uint32_t s = 0; s < grid->slots; s++) {
            const struct device_slot_state *slot = &device->slots[i][s];
            if (!slot->used || slot->sm != sm)
                continue;
            h.blocks++;
            h.threads += grid->program->launch.threads;
            h.registers += grid->registers;
            h.shared += grid->shared_bytes;
            h.places |= (uint64_t)1 << slot->place;
        }
    }
    return h;
}

static bool is_empty(const struct device *device, const struct device_grid *grid, uint32_t *slot)
{
    const struct device_slot_state *slots = device->slots[device_grid_number(device, grid)];
    for (*slot = 0; *slot < grid->slots; ++*slot)
        if (!slots[*slot].used)
            return true;
    return false;
}

bool device_has_room(const struct device *device, const struct device_grid *grid, uint32_t sm,
                     uint32_t *place)
{
    const struct device_options *o = &device->options;
    uint32_t slot;
    *place = 0;
    if (!is_empty(device, grid, &slot))
        return false;
    if (o->crowded)
        return true;
    struct holding h = holding_of(device, sm, grid->context);
    while (*place < o->blocks && h.places >> *place & 1)
        ++*place;
    return *place < o->blocks && h.blocks < o->blocks &&
           h.threads + grid->program->launch.threads <= o->threads &&
           h.registers + grid->registers <= o->registers &&
           h.shared + grid->shared_bytes <= o->shared;
}

void device_slot_empty(struct device *device, struct device_grid *grid, uint32_t slot)
{
    if (device->caches) {
        device_settle_memory(device); /* what it leaves at its place */
        device_hold(device, grid);
        caches_slot_empty(grid->machine, slot);
        cached_shared_in(device, grid); /* its operations go on in the shared memory of its place */
    } else {
        crs_slot_empty(grid->machine, slot);
    }
}

/* ---- issue ---- */

/* The n-th block that was not issued. */
static uint32_t unissued_block(const uint64_t *set, uint32_t n)
{
    for (uint32_t w = 0;; w++) {
        uint32_t count = (uint32_t)__builtin_popcountll(set[w]);
        if (n >= count) {
            n -= count;
            continue;
        }
        uint64_t rest = set[w];
        for (; n; n--)
            rest &= rest - 1;
        return 64 * w + (uint32_t)__builtin_ctzll(rest);
    }
}

static uint32_t take_block(struct device *device, const struct device_grid *grid,
                           struct choices *choices)
{
    uint32_t number = device_grid_number(device, grid);
    struct device_grid_state *state = &device->grid_states[number];
    uint64_t *set = device->unissued[number];
    uint32_t block = state->next;
    if (set) {
        uint32_t left = state->unissued;
        block = unissued_block(set, left > 1 ? choices->choose(choices, left) : 0);
        bits_remove(set, block);
    } else {
        state->next++;
    }
    state->unissued--;
    return block;
}

/*  GR.issue        g running, b of g not issued, m has room for b: blocks, threads, registers, shared memory
 *      <g, b unscheduled>  ==>  <g, b active on m>        each warp at its entry, shared memory as the module has it
 *
 *  Which block, of which grid, to which SM is chosen.
 */
void grid_issue(struct device *device, struct device_grid *grid, uint32_t sm,
                struct choices *choices)
{
    uint32_t number = device_grid_number(device, grid), slot, place;
    device_has_room(device, grid, sm, &place);
    is_empty(device, grid, &slot);
    if (device->caches) {
        device_settle_memory(device);
        slot = cached_slot(device, grid, sm, place);
    }
    device->numbers[number][slot] = take_block(device, grid, choices);
    device->slots[number][slot] = (struct device_slot_state){.used = 1, .sm = sm, .place = place};
    device->grid_states[number].resident++;
    if (device->caches) {
        device_hold(device, grid); /* with what others have locked at the place */
        caches_slot_start(grid->machine, slot, sm, device->options.reset_flags);
    } else {
        crs_slot_start(grid->machine, slot);
    }
    flight_arrive(device, grid, slot);
    device_fired(device, DEVICE_GRID_ISSUE);
}

/*  GR.exec         g running, a warp of a resident block of g can step, c steps
 *      <g, eta>  ==>  <g', eta'>                by the rules of `crs`
 */
void grid_exec(struct device *device, struct device_grid *grid, uint32_t actor,
               struct choices *choices)
{
    device_hold(device, grid);
    if (device->flights)
        mem_issue(device, grid, actor, choices);
    else
        machine_step(grid->machine, actor, choices);
    device_fired(device, DEVICE_GRID_EXEC);
    enum status status = machine_status(grid->machine);
    if (status != STATUS_RUNNING && status != STATUS_TERMINATED) {
        device->head->end = END_FAULT;
        device->head->fault_grid = device_grid_number(device, grid);
    }
}

/* ---- completion ---- */

/* Nobody has the slot; with caches operations that are under way know by it at which place they are. */
static void leave_slot(struct device *device, const struct device_grid *grid, uint32_t slot)
{
    uint32_t number = device_grid_number(device, grid);
    if (device->caches && caches_slot_pending(grid->machine, slot, false))
        device->slots[number][slot].used = 0;
    else
        device->slots[number][slot] = (struct device_slot_state){.used = 0};
    device->numbers[number][slot] = 0;
}

/*  GR.compl        all warps of b have completed, no operation of b is under way (as printed: not asked, ERR.83)
 *      <g, b active on m>  ==>  <g, b completed>            b's place on m is free
 */
static void block_compl(struct device *device, struct device_grid *grid, uint32_t slot)
{
    uint32_t number = device_grid_number(device, grid);
    device_slot_empty(device, grid, slot);
    leave_slot(device, grid, slot);
    device->grid_states[number].resident--;
    device->grid_states[number].completed++;
    device_fired(device, DEVICE_BLOCK_COMPL);
}

/*  GR.compl        all blocks of g are completed
 *      <c, g active>  ==>  <c, g completed>                 `completed g` to the host
 */
static void grid_compl(struct device *device, struct device_grid *grid)
{
    device->progress[grid->statement] = PROGRESS_DONE;
    device_fired(device, DEVICE_GRID_COMPL);
}

static bool is_over(const struct device *device, const struct device_grid *grid, uint32_t slot)
{
    return device->slots[device_grid_number(device, grid)][slot].used &&
           crs_slot_done(grid->machine, slot) &&
           !(device->options.drain && flight_slot_pending(device, grid, slot)) &&
           !(device->caches && caches_slot_pending(grid->machine, slot, true));
}

static void complete_grid(struct device *device, struct device_grid *grid)
{
    uint32_t number = device_grid_number(device, grid);
    for (uint32_t slot = 0; slot < grid->slots; slot++)
        if (is_over(device, grid, slot))
            block_compl(device, grid, slot);
    if (device->grid_states[number].completed == grid->blocks)
        grid_compl(device, grid);
}

void device_complete(struct device *device)
{
    for (uint32_t i = 0; i < device->grid_count && device->head->end == END_RUNNING; i++) {
        struct device_grid *grid = &device->grids[i];
        if (device_runs(device, grid))
            complete_grid(device, grid);
        if (device->progress[grid->statement] == PROGRESS_ENDING && !flight_pending(device, grid))
            device_vanish(device, grid);
    }
}

void device_vanish(struct device *device, struct device_grid *grid)
{
    uint32_t number = device_grid_number(device, grid);
    bool stays = device->options.ends_drain && flight_pending(device, grid);
    if (device->holder == grid)
        device_settle_memory(device);
    for (uint32_t slot = 0; slot < grid->slots; slot++) {
        if (device->slots[number][slot].used)
            device_slot_empty(device, grid, slot);
        if (!stays)
            leave_slot(device, grid, slot);
    }
    device->grid_states[number] = (struct device_grid_state){.unissued = 0};
    device->progress[grid->statement] = stays ? PROGRESS_ENDING : PROGRESS_DONE;
}
