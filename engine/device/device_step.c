/*
 * device_step.c - what can happen in a state, and that it happens.
 */
#include "engine/device/device_flight.h"
#include "engine/device/device_internal.h"

#include "engine/base/invariant.h"
#include "engine/base/text.h"

static void offer(struct device *device, enum device_alternative_kind kind, uint32_t a, uint32_t b)
{
    INVARIANT(device->alternative_count < device->alternative_room);
    device->alternatives[device->alternative_count++] = (struct device_alternative){kind, a, b};
}

static void offer_grid(struct device *device, uint32_t number)
{
    struct device_grid *grid = &device->grids[number];
    const struct machine_head *head = grid->machine->head;
    uint32_t place;
    if (!device_runs(device, grid) || !device_context_steps(device, grid->context))
        return;
    if (device->caches)
        cached_look(device, grid);
    for (uint32_t sm = 0; sm < device->options.sms && device->grid_states[number].unissued; sm++)
        if (device_has_room(device, grid, sm, &place))
            offer(device, ALTERNATIVE_ISSUE, number, sm);
    for (uint32_t i = 0; i < head->live_count; i++)
        if (head->live[i] < grid->machine->actor_count &&
            device_warp_may(device, grid, head->live[i]))
            offer(device, ALTERNATIVE_WARP, number, head->live[i]);
}

/*  DE.frozen       memory moves by itself        as printed: only in a step of a context (ERR.88)
 */
static void offer_memory(struct device *device)
{
    const struct device_flights *flights = device->flights;
    if (device->options.frozen && device->head->alive == 0)
        return;
    for (uint32_t i = 0; i < FLIGHTS; i++)
        if (flights->flights[i].used)
            offer(device, ALTERNATIVE_MICRO, i, 0);
    for (uint32_t sm = 0; sm < device->options.sms; sm++)
        for (uint32_t word = 0; word < device->memory_words; word++)
            if (flight_line_valid(device, sm, word))
                offer(device, ALTERNATIVE_SILENT, sm, word);
}

/* With caches: also of grids that are over, whose operations go on. */
static void offer_caches(struct device *device, uint32_t number)
{
    struct device_grid *grid = &device->grids[number];
    const struct machine_head *head = grid->machine->head;
    if ((device->options.frozen && device->head->alive == 0) || !cached_moves(grid))
        return;
    cached_look(device, grid);
    for (uint32_t i = 0; i < head->live_count; i++) {
        uint32_t actor, place;
        if (caches_is_operation(grid->machine, head->live[i], &actor, &place))
            offer(device, ALTERNATIVE_MICRO, number, head->live[i]);
        else if (head->live[i] >= grid->machine->actor_count)
            offer(device, ALTERNATIVE_SILENT, number, head->live[i]);
    }
}

/*  MEM.perform, MEM.silent       a micro step of an operation of g, or a silent rule of an L1: cuda-crs 4 */
static void mem_move(struct device *device, struct device_alternative x, struct choices *choices)
{
    struct device_grid *grid = &device->grids[x.a];
    uint32_t actor, place;
    device_hold(device, grid);
    if (caches_is_operation(grid->machine, x.b, &actor, &place)) {
        uint32_t slot = actor / grid->program->warps_per_block;
        device->caches->late = device->slots[x.a][slot].used ? 0 : slot + 1;
    }
    machine_step(grid->machine, x.b, choices);
    if (device->caches->late)
        device_settle_memory(device);
    device_fired(device, x.kind == ALTERNATIVE_MICRO ? DEVICE_MEM_PERFORM : DEVICE_MEM_SILENT);
}

uint32_t device_look(struct device *device)
{
    device->alternative_count = 0;
    if (device->head->end != END_RUNNING)
        return 0;
    if (device_host_may(device))
        offer(device, ALTERNATIVE_HOST, 0, 0);
    for (uint32_t i = 0; i < device->head->host; i++)
        if (device_may_start(device, i))
            offer(device,
                  device->program->statements[i].kind == HOST_LAUNCH ? ALTERNATIVE_START
                                                                     : ALTERNATIVE_COPY,
                  i, 0);
    for (uint32_t i = 0; i < device->grid_count; i++)
        offer_grid(device, i);
    if (device->flights)
        offer_memory(device);
    for (uint32_t i = 0; device->caches && i < device->grid_count; i++)
        offer_caches(device, i);
    return device->alternative_count;
}

/* The context whose alternative it is becomes the one that steps. */
static void note_context(struct device *device, uint32_t context)
{
    device->head->context = device->options.sticky ? context + 1 : 0;
}

/* Whether the warp's step was the last one of its block. */
static bool block_is_over(const struct device *device, struct device_alternative x)
{
    const struct device_grid *grid = &device->grids[x.a];
    return crs_slot_done(grid->machine, x.b / grid->program->warps_per_block);
}

void device_step(struct device *device, struct device_alternative x, struct choices *choices)
{
    const struct host_statement *statements = device->program->statements;
    switch (x.kind) {
    case ALTERNATIVE_HOST:
        device_host_step(device);
        break;
    case ALTERNATIVE_START:
        note_context(device, statements[x.a].context);
        ctx_start(device, x.a);
        break;
    case ALTERNATIVE_COPY:
        note_context(device, statements[x.a].context);
        ctx_copy(device, x.a);
        break;
    case ALTERNATIVE_ISSUE:
        note_context(device, device->grids[x.a].context);
        grid_issue(device, &device->grids[x.a], x.b, choices);
        break;
    case ALTERNATIVE_WARP:
        note_context(device, device->grids[x.a].context);
        grid_exec(device, &device->grids[x.a], x.b, choices);
        break;
    case ALTERNATIVE_MICRO:
    case ALTERNATIVE_SILENT:
        if (device->caches)
            mem_move(device, x, choices);
        else if (x.kind == ALTERNATIVE_MICRO)
            mem_perform(device, x.a);
        else
            mem_silent(device, x.a, x.b);
        break;
    }
    device->steps++;
    if (x.kind == ALTERNATIVE_WARP && !block_is_over(device, x))
        return;
    device_complete(device);
    while (device_turns(device))
        ;
}

static bool all_over(const struct device *device)
{
    for (uint32_t i = 0; i < device->program->count; i++)
        if (host_is_queued(&device->program->statements[i]) && device->progress[i] != PROGRESS_DONE)
            return false;
    return device->head->host == device->program->count && flight_count(device) == 0;
}

enum device_end device_ended(struct device *device)
{
    if (device->head->end != END_RUNNING)
        return (enum device_end)device->head->end;
    if (all_over(device))
        return END_DONE;
    return device_look(device) ? END_RUNNING : END_STUCK;
}

/* ---- words ---- */

static const char *grid_text(struct arena *arena, const struct device *device, uint32_t number)
{
    const struct host_statement *s = &device->program->statements[device->grids[number].statement];
    return arena_printf(arena, "`%s` (line %u)", device->program->kernels[s->kernel].name,
                        (unsigned)s->at.line);
}

const char *device_alternative_text(struct arena *arena, struct device *device,
                                    struct device_alternative x)
{
    const struct device_grid *grid = &device->grids[x.a];
    switch (x.kind) {
    case ALTERNATIVE_HOST:
        return arena_printf(arena, "host, line %u: %s",
                            (unsigned)device->program->statements[device->head->host].at.line,
                            host_print_statement(arena, device->program, device->head->host));
    case ALTERNATIVE_START:
        return arena_printf(arena, "start %s", grid_text(arena, device, device->grid_of[x.a]));
    case ALTERNATIVE_COPY:
        return arena_printf(arena, "copy of line %u",
                            (unsigned)device->program->statements[x.a].at.line);
    case ALTERNATIVE_ISSUE:
        return arena_printf(arena, "a block of %s to SM %u", grid_text(arena, device, x.a),
                            (unsigned)x.b);
    case ALTERNATIVE_WARP:
        return arena_printf(arena, "warp %u of block %u of %s",
                            (unsigned)(x.b % grid->program->warps_per_block),
                            (unsigned)device->numbers[x.a][x.b / grid->program->warps_per_block],
                            grid_text(arena, device, x.a));
    case ALTERNATIVE_MICRO:
    case ALTERNATIVE_SILENT:
        if (device->caches)
            return arena_printf(
                arena, "%s of %s",
                grid->machine->semantics->environment_name(arena, grid->machine, x.b),
                grid_text(arena, device, x.a));
        if (x.kind == ALTERNATIVE_MICRO)
            return flight_text(arena, device, x.a);
        return arena_printf(arena, "SM %u drops a line", (unsigned)x.a);
    }
    return "";
}

const char *device_fault(struct arena *arena, struct device *device, uint32_t *line)
{
    const struct device_grid *grid = &device->grids[device->head->fault_grid];
    const struct machine *m = grid->machine;
    const struct host_statement *s = &device->program->statements[grid->statement];
    uint32_t thread = m->head->fault_thread, threads = m->program->launch.threads;
    uint32_t stm = m->head->fault_stm;
    *line = s->at.line;
    return arena_printf(
        arena, "%s: thread %u of block %u of `%s`%s%s%s%s", status_names[machine_status(m)],
        (unsigned)(thread % threads),
        (unsigned)device->numbers[device->head->fault_grid][thread / threads],
        device->program->kernels[s->kernel].name,
        stm < m->program->stm_count
            ? arena_printf(arena, " at its line %u", (unsigned)m->program->stms[stm].line)
            : "",
        m->fault_text ? ": " : "", m->fault_text ? m->fault_text : "", "");
}

const char *device_waits(struct arena *arena, struct device *device)
{
    const struct host_program *p = device->program;
    struct text text = text_begin(arena);
    if (device->head->host < p->count)
        text_format(&text, "the host waits in line %u",
                    (unsigned)p->statements[device->head->host].at.line);
    for (uint32_t i = 0; i < p->count; i++) {
        if (device->progress[i] == PROGRESS_NONE || device->progress[i] == PROGRESS_DONE)
            continue;
        text_format(&text, "%sthe %s of line %u", *text.bytes ? ", " : "",
                    host_kind_names[p->statements[i].kind], (unsigned)p->statements[i].at.line);
        uint32_t number = device->grid_of[i];
        if (device->progress[i] == PROGRESS_QUEUED)
            text_put(&text, " has not begun");
        else if (number != HOST_NONE)
            text_format(&text, " has %u blocks resident, %u not issued and %u completed of %u",
                        (unsigned)device->grid_states[number].resident,
                        (unsigned)device->grid_states[number].unissued,
                        (unsigned)device->grid_states[number].completed,
                        (unsigned)device->grids[number].blocks);
    }
    return text.bytes;
}
