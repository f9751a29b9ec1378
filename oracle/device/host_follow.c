/*
 * host_follow.c - the reference is told what the device did.
 */
#include "oracle/device/host_follow_internal.h"

#include <string.h>

enum {
    STEPS_FOLLOWED = 1 << 14,
    TEXTS_SHARE = 8,     /* so many steps one is asked of that tells what it is */
    PLACED_MOST = 1 << 8 /* words of buffers whose places are asked about */
};

void follow_tell_of(struct host_follow *f, uint32_t statement, const char *text)
{
    const struct host_program *p = f->device->program;
    if (f->text)
        return;
    f->lost = true;
    f->text = text;
    f->line = p->count ? p->statements[statement < p->count ? statement : p->count - 1].at.line : 1;
}

void follow_tell(struct host_follow *f, const char *text)
{
    follow_tell_of(f, f->device->head->host, text);
}

static uint32_t slot_of(const struct host_follow *f, struct device_alternative warp)
{
    return warp.b / f->device->grids[warp.a].program->warps_per_block;
}

uint32_t follow_word(const struct device_grid *grid, uint32_t word)
{
    for (uint32_t i = 0; i < grid->region_count; i++)
        if (word - grid->regions[i].word < grid->regions[i].words)
            return grid->regions[i].base + word - grid->regions[i].word;
    return HOST_NONE;
}

static const struct ptx_op *next_op(const struct host_follow *f, uint32_t grid, uint32_t actor)
{
    const struct machine *m = f->device->grids[grid].machine;
    uint32_t pc = m->semantics->next_stm(m, actor);
    return pc == CODE_NONE ? NULL : &m->program->ptx->ops[pc];
}

const struct ptx_instruction *follow_next(const struct host_follow *f, uint32_t grid,
                                          uint32_t actor)
{
    const struct ptx_op *op = next_op(f, grid, actor);
    return op && op->statement ? &op->statement->u.instruction : NULL;
}

/* ---- what a warp accesses ---- */

/* A part of a word: with bytes and halves locations are smaller. */
static void write_part(struct host_follow *f, uint32_t word, uint32_t part, uint32_t bits,
                       int32_t value)
{
    uint32_t mask = bits == 32 ? UINT32_MAX : ((1u << bits) - 1) << part * bits;
    uint32_t *at = (uint32_t *)&f->ref->memory[word];
    *at = (*at & ~mask) | (((uint32_t)value << part * bits) & mask);
}

static void reach(struct host_follow *f, const struct device_grid *grid, enum access_kind kind,
                  const struct access_row *row, uint32_t lane)
{
    const struct program *program = grid->program;
    uint32_t word = row->location[lane], slot = slot_of(f, f->step);
    if (f->reach_count == REF_FLIGHTS) {
        follow_tell(f, "a warp accesses more than may be under way");
        return;
    }
    struct ref_reach *x = &f->reach[f->reach_count++];
    *x = (struct ref_reach){.is_shared = word >= program->shared_base, .lane = lane};
    x->word = x->is_shared ? word - program->shared_base - slot * program->words[SPACE_SHARED]
                           : follow_word(grid, word);
    if (kind == ACCESS_WRITE)
        x->b = (uint32_t)row->value[lane];
    if (kind == ACCESS_ATOMIC) {
        x->b = (uint32_t)f->operands[lane][0];
        x->c = (uint32_t)f->operands[lane][1];
    }
}

static void write_row(struct host_follow *f, const struct device_grid *grid,
                      const struct access_row *row, uint32_t lane)
{
    const uint32_t units = grid->program->units;
    for (uint32_t k = 0; k < row->span; k++) {
        uint32_t at = row->location[lane] + k, word = at / units;
        word = word < grid->program->shared_base ? follow_word(grid, word) : HOST_NONE;
        if (word != HOST_NONE)
            write_part(f, word, at % units, row->bits, access_row_value(row, lane, k));
    }
}

static void see_row(void *context, enum access_kind kind, const struct access_row *row)
{
    const struct follow_observer *o = context;
    struct host_follow *f = o->follow;
    const struct device_grid *grid = &f->device->grids[o->grid];
    for (uint32_t i = 0; i < row->count && !f->lost; i++) {
        if (f->device->flights)
            reach(f, grid, kind, row, row->order[i]);
        else if (kind != ACCESS_READ && !f->cached)
            write_row(f, grid, row, row->order[i]);
    }
}

/* ---- the step that was taken ---- */

static uint32_t ended_warps(const struct machine *m, uint32_t slot)
{
    uint32_t count = 0, warps = m->program->warps_per_block;
    for (uint32_t w = 0; w < warps; w++)
        count += crs_warp(m, slot * warps + w).state->completed != 0;
    return count;
}

/* Behind the step, before the device gives the slot away. */
static void see_machine(void *context, const struct machine *m, const struct step_event *event)
{
    const struct follow_observer *o = context;
    o->follow->ended = ended_warps(m, event->actor / m->program->warps_per_block);
}

static void take_warp(struct host_follow *f)
{
    const struct device_grid *grid = &f->device->grids[f->step.a];
    uint32_t slot = slot_of(f, f->step);
    struct ref_block *block = ref_block_in(f->ref, f->step.a, slot);
    f->ref->current = f->ref->settings.sticky ? grid->context : HOST_NONE;
    if (!block) {
        follow_tell(f, "a warp steps whose block is not resident");
        return;
    }
    if (f->instruction && f->device->flights &&
        !ref_get_under_way(f->ref, f->step.a, slot, f->step.b % grid->program->warps_per_block,
                           f->instruction, f->reach, f->reach_count))
        return;
    if (f->cached)
        follow_cached_warp(f);
    block->ended = f->ended;
    ref_close(f->ref);
}

static uint32_t slot_of_issue(const struct host_follow *f, uint32_t grid)
{
    for (uint32_t slot = 0; slot < f->device->grids[grid].slots; slot++)
        if (f->device->slots[grid][slot].used && !ref_block_in(f->ref, grid, slot))
            return slot;
    return HOST_NONE;
}

/* The n-th of those that were not issued. */
static uint32_t nth_block(const struct host_follow *f, uint32_t grid, uint32_t n)
{
    const struct ref_grid *g = &f->ref->grids[grid];
    for (uint32_t b = 0; b < g->layout.blocks; b++)
        if (g->blocks[b].where == REF_UNSCHEDULED && n-- == 0)
            return b;
    return HOST_NONE;
}

static void take_issue(struct host_follow *f)
{
    uint32_t grid = f->step.a, slot = slot_of_issue(f, grid);
    if (slot == HOST_NONE) {
        follow_tell(f, "a block was issued, and no slot has one more");
        return;
    }
    /* One block that is left is no choice, nor is any of a large grid. */
    uint32_t left = f->ref->settings.pick_any ? ref_count(f->ref, grid, REF_UNSCHEDULED) : 0;
    if (f->ways != (left > 1 && f->device->unissued[grid] ? left : 0)) {
        follow_tell(f, arena_printf(f->arena, "a block is issued, one of %u, and %u are left",
                                    (unsigned)f->ways, (unsigned)left));
        return;
    }
    if (f->has_turns && f->ways > 0 &&
        f->device->numbers[grid][slot] != nth_block(f, grid, f->way)) {
        follow_tell(f, "another block is issued than the schedule has drawn");
        return;
    }
    if (f->cached)
        follow_cached_arrive(f, grid, slot);
    ref_resident(f->ref, grid, f->step.b, f->device->numbers[grid][slot], slot);
    if (f->ref->wrong)
        follow_tell(f, arena_printf(f->arena, "a block is issued: %s", f->ref->wrong));
    else
        follow_compare_block(f, grid, slot);
}

static void take_micro(struct host_follow *f)
{
    int32_t found = 0;
    f->performed = f->ref->flights[f->operation];
    ref_perform(f->ref, f->operation, &found);
    follow_compare_register(f, found);
}

static void take_step(struct host_follow *f)
{
    switch (f->step.kind) {
    case ALTERNATIVE_HOST:
        ref_host(f->ref);
        if (f->cached)
            follow_cached_leave(f);
        break;
    case ALTERNATIVE_START:
    case ALTERNATIVE_COPY:
        if (f->cached && f->step.kind == ALTERNATIVE_START && f->ref->settings.flush)
            follow_cached_flush(f);
        ref_begin(f->ref, f->step.a);
        break;
    case ALTERNATIVE_ISSUE:
        take_issue(f);
        break;
    case ALTERNATIVE_WARP:
        take_warp(f);
        break;
    case ALTERNATIVE_MICRO:
    case ALTERNATIVE_SILENT:
        if (f->cached)
            follow_cached_move(f);
        else if (f->step.kind == ALTERNATIVE_MICRO)
            take_micro(f);
        else
            ref_drop(f->ref, f->step.a, f->step.b);
        break;
    }
}

/* Nothing but a warp's registers changes where it steps again and again: it is compared when somebody else steps. */
static void finish(struct host_follow *f, bool goes_on)
{
    if (!f->begun || f->lost)
        return;
    f->begun = false;
    take_step(f);
    if (!f->lost && !goes_on)
        follow_compare_state(f);
}

/* ---- the step that is next ---- */

/* b and c of an atomic, as the registers have them before it is issued. */
static void take_operands(struct host_follow *f, struct device_alternative x)
{
    const struct ptx_op *op = next_op(f, x.a, x.b);
    const struct machine *m = f->device->grids[x.a].machine;
    const struct ptx_lanes *lanes = crs_warp(m, x.b).lanes;
    memset(f->operands, 0, sizeof f->operands);
    for (uint32_t lane = 0; op && op->exec == PTX_EXEC_ATOM && lane < lanes->count; lane++)
        for (uint32_t i = 0; i < 2; i++)
            if (op->sources[1 + i].kind != PTX_PLACE_NONE)
                f->operands[lane][i] = ptx_source(m, lanes, &op->sources[1 + i], lane);
}

static void begin(struct host_follow *f, struct device_alternative x)
{
    f->begun = true;
    f->step = x;
    f->reach_count = 0;
    if (x.kind == ALTERNATIVE_WARP && f->device->flights) {
        f->instruction = follow_next(f, x.a, x.b);
        take_operands(f, x);
    }
    if (f->cached)
        follow_cached_begin(f);
    else if (x.kind == ALTERNATIVE_MICRO)
        f->operation = follow_operation(f, x.a);
}

static void see_step(void *context, struct device_alternative x, enum device_rule rule)
{
    struct host_follow *f = context;
    bool goes_on = f->begun && x.kind == ALTERNATIVE_WARP && f->step.kind == x.kind &&
                   f->step.a == x.a && f->step.b == x.b && !f->device->flights;
    (void)rule;
    finish(f, goes_on);
    if (++f->steps > STEPS_FOLLOWED)
        f->lost = true;
    if (!f->lost && !goes_on)
        follow_compare_alternatives(f);
    if (f->has_turns && f->steps > 1)
        ref_turns_over(&f->turns);
    if (!f->lost && f->has_turns)
        follow_turn(f, x);
    if (!f->lost && f->steps % TEXTS_SHARE == 0)
        follow_compare_text(f, x);
    f->ways = 0;
    if (!f->lost)
        begin(f, x);
}

static void see_choice(void *context, uint32_t n)
{
    struct host_follow *f = context;
    uint32_t way = f->has_turns ? ref_turns_choose(&f->turns, n) : 0;
    f->way = f->ways ? f->way : way;
    f->ways = f->ways ? f->ways : n;
}

/* ---- making ---- */

static struct ref_settings settings_of(const struct device_options *o)
{
    return (struct ref_settings){.sms = o->sms,
                                 .blocks = o->blocks,
                                 .threads = o->threads,
                                 .registers = o->registers,
                                 .shared = o->shared,
                                 .grids = o->grids,
                                 .lines = o->lines,
                                 .words = o->words,
                                 .inflight = o->inflight,
                                 .drain = o->drain,
                                 .flush = o->flush,
                                 .order_stream = o->ordered,
                                 .device_wide = o->whole,
                                 .sticky = o->sticky,
                                 .ends_drain = o->ends_drain,
                                 .reset_flags = o->reset_flags,
                                 .frozen = o->frozen,
                                 .pick_any = o->any_block,
                                 .crowded = o->crowded,
                                 .cached = o->caches,
                                 .loads_free = o->loads_free,
                                 .in_order = o->poloc,
                                 .fenced_barriers = o->before};
}

const char *host_settings_differ(struct arena *arena, const char *words)
{
    struct device_options options = DEVICE_SC;
    struct ref_settings expected;
    const char *why;
    if (!device_set(arena, &options, words, &why))
        return "settings are refused";
    if (!ref_settings_read(words, &expected))
        return "settings are not known";
    struct ref_settings settings = settings_of(&options);
    return ref_settings_differ(&settings, &expected);
}

static struct ref_launch layout_of(const struct device_grid *grid)
{
    const struct program *program = grid->program;
    const struct ast_launch *launch = &program->launch;
    return (struct ref_launch){.statement = grid->statement,
                               .blocks = grid->blocks,
                               .threads = launch->threads,
                               .warps = program->warps_per_block,
                               .lanes =
                                   launch->threads < launch->warp ? launch->threads : launch->warp,
                               .registers = grid->registers,
                               .shared_bytes = grid->shared_bytes,
                               .shared = program->ptx->initial + program->shared_base,
                               .shared_words = program->words[SPACE_SHARED],
                               .private_words = follow_private_words(grid)};
}

struct host_follow *host_follow_watch(struct arena *arena, struct device *device)
{
    const struct ref_settings settings = settings_of(&device->options);
    struct ref_launch *layouts = ARENA_ARRAY(arena, struct ref_launch, device->grid_count + 1);
    struct host_follow *f = ARENA_NEW(arena, struct host_follow);
    for (uint32_t i = 0; i < device->grid_count; i++)
        layouts[i] = layout_of(&device->grids[i]);
    *f = (struct host_follow){.arena = arena, .device = device};
    f->ref = ref_device_new(arena, device->program, &settings, layouts, device->grid_count,
                            device->memory_words);
    if (!f->ref || (device->caches && !follow_cached_new(f)))
        return NULL;
    f->observers = ARENA_ARRAY(arena, struct follow_observer, device->grid_count + 1);
    f->watcher = (struct device_watcher){.context = f, .step = see_step, .chosen = see_choice};
    device->watcher = &f->watcher;
    for (uint32_t i = 0; i < device->grid_count; i++) {
        struct follow_observer *o = &f->observers[i];
        struct machine *machine = device->grids[i].machine;
        *o = (struct follow_observer){.observer = {.context = o,
                                                   .access_row = see_row,
                                                   .step = see_machine,
                                                   .next = machine->options.observers},
                                      .follow = f,
                                      .grid = i};
        machine_observe(machine, &o->observer);
    }
    return f;
}

static void compare_places(struct host_follow *f)
{
    const struct host_program *p = f->device->program;
    for (uint32_t a = 0; a < p->array_count && p->device_words <= PLACED_MOST; a++) {
        const struct host_array *x = &p->arrays[a];
        const uint32_t place = x->is_host ? x->base : ref_buffer_place(p, a);
        if (x->base != place)
            follow_tell(f, arena_printf(f->arena, "buffer '%s' is at word %u, not %u", x->name,
                                        (unsigned)x->base, (unsigned)place));
    }
}

void host_follow_start(struct host_follow *f)
{
    f->begun = f->lost = f->has_turns = false;
    f->text = NULL;
    f->steps = 0;
    ref_device_start(f->ref, f->device->memory);
    compare_places(f);
    if (f->cached)
        follow_cached_start(f);
}

const char *host_follow_end(struct host_follow *f, enum device_end end, uint32_t *line)
{
    finish(f, false);
    if (!f->lost && end == END_STUCK)
        follow_compare_alternatives(f);
    if (!f->lost)
        follow_compare_end(f, end);
    if (!f->lost && (end == END_DONE) != ref_is_over(f->ref) && end != END_FAULT)
        follow_tell(f, end == END_DONE ? "the program is over, and something is left to do"
                                       : "the program is over, and goes on");
    *line = f->line;
    return f->text;
}

enum device_end host_follow_run(struct device *device, struct host_follow *f,
                                struct device_schedule *schedule, const char **differs,
                                uint32_t *line)
{
    device_reset(device);
    if (f) {
        host_follow_start(f);
        host_follow_schedule(f, schedule);
    }
    enum device_end end = device_execute(device, schedule);
    *differs = f ? host_follow_end(f, end, line) : NULL;
    return end;
}

void host_follow_leave(struct host_follow *f)
{
    for (uint32_t i = 0; i < f->device->grid_count; i++)
        machine_observe(f->device->grids[i].machine, f->observers[i].observer.next);
    f->device->watcher = NULL;
}
