/*
 * device_internal.h - what the files of the device share.
 *
 * In the rules: c is a context, s a statement of the host, g a grid, b a block, m an SM, eta the memory.
 */
#ifndef ENGINE_DEVICE_INTERNAL_H
#define ENGINE_DEVICE_INTERNAL_H

#include "engine/crs/crs.h"
#include "engine/device/device_caches.h"
#include "engine/device/device_flight.h"

enum { ANY_BLOCKS = 4096 }; /* more are issued in their order, whatever `pick` says */

/* ---- device_compile.c ---- */

/* The kernel of a launch, laid out for so many resident blocks. False: errors in diag. */
bool device_compile(struct device *device, struct device_grid *grid, struct diag *diag);

/* ---- device_memory.c ---- */

/* The grid's machine gets the newest values of what it reaches. */
void device_hold(struct device *device, struct device_grid *grid);

/* ---- device_state.c ---- */

size_t device_state_words(const struct device *device);
void device_save(struct device *device, uint32_t *words);
void device_load(struct device *device, uint32_t *words);

/* ---- device_grid.c ---- */

static inline uint32_t device_grid_number(const struct device *device,
                                          const struct device_grid *grid)
{
    return (uint32_t)(grid - device->grids);
}

static inline bool device_runs(const struct device *device, const struct device_grid *grid)
{
    return device->progress[grid->statement] == PROGRESS_RUNNING;
}

/* Whether an SM has room for one more block of the grid; *place: of it in the SM. */
bool device_has_room(const struct device *device, const struct device_grid *grid, uint32_t sm,
                     uint32_t *place);
/* The block of a slot vanishes. */
void device_slot_empty(struct device *device, struct device_grid *grid, uint32_t slot);
void grid_issue(struct device *device, struct device_grid *grid, uint32_t sm,
                struct choices *choices);
void grid_exec(struct device *device, struct device_grid *grid, uint32_t actor,
               struct choices *choices);
/* Blocks and grids that are over. */
void device_complete(struct device *device);
/* The grid's blocks vanish. */
void device_vanish(struct device *device, struct device_grid *grid);

/* ---- device_context.c ---- */

bool device_may_start(struct device *device, uint32_t statement);
void ctx_start(struct device *device, uint32_t statement);
void ctx_copy(struct device *device, uint32_t statement);
/* Records and waits whose turn has come. True: there was one. */
bool device_turns(struct device *device);
void ctx_abort(struct device *device, uint32_t statement);
bool device_context_alive(const struct device *device, uint32_t context);
/* Whether the context may step now: of a sticky device one at a time. */
bool device_context_steps(const struct device *device, uint32_t context);

/* ---- device_host.c ---- */

bool device_host_may(const struct device *device);
void device_host_step(struct device *device);

/* Whether the warp's next instruction can be issued: what it needs is not under way. */
static inline bool device_warp_may(const struct device *device, const struct device_grid *grid,
                                   uint32_t actor)
{
    return !device->flights || flight_may(device, grid, actor);
}

static inline void device_fired(struct device *device, enum device_rule rule)
{
    device->hits[rule]++;
}

/* Words of the host stand behind those of the device. */
static inline void device_seen(struct device *device, uint32_t statement,
                               const struct host_array *array, uint32_t from, uint32_t words,
                               bool writes)
{
    const struct device_watcher *w = device->watcher;
    uint32_t base = array->base + from + (array->is_host ? device->memory_words : 0);
    if (w && w->access)
        w->access(w->context, statement, base, words, writes);
}

#endif
