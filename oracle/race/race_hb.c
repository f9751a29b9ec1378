#include "oracle/race/race_hb.h"

#include "engine/base/inline.h"

#include <string.h>

#define HB_INLINE INLINED

enum { CLOCK_WORDS_MAX = 1 << 24, ENTRIES_MAX = 1 << 21, LOCATION_CLOCK_WORDS_MAX = 1 << 20 };

/* ---- who knows what ---- */

static uint32_t now(const struct race_hb *hb)
{
    return (uint32_t)*hb->steps;
}

static uint32_t block_of(const struct race_hb *hb, uint32_t group)
{
    return group / hb->block_groups;
}

/* Of a scope that is a block: where its numbers start. */
static uint32_t scope_first(const struct race_hb *hb, uint32_t group)
{
    return hb->scope == hb->groups ? 0 : block_of(hb, group) * hb->block_groups;
}

/* Group u knows all steps of g before this one. */
static uint32_t known(const struct race_hb *hb, uint32_t u, uint32_t g)
{
    bool near = block_of(hb, u) == block_of(hb, g);
    uint32_t floor = near ? hb->floors[block_of(hb, u)] : 0;
    if (!hb->known || (!near && hb->scope != hb->groups))
        return floor;
    uint32_t learnt = hb->known[(size_t)u * hb->scope + g - scope_first(hb, u)];
    return learnt > floor ? learnt : floor;
}

/* What u knows, and what it has done, to `clock`. */
static void tell(const struct race_hb *hb, uint32_t u, uint32_t *clock)
{
    uint32_t first = scope_first(hb, u);
    for (uint32_t i = 0; i < hb->scope; i++) {
        uint32_t k = known(hb, u, first + i);
        if (clock[i] < k)
            clock[i] = k;
    }
    clock[u - first] = hb->seen;
}

static void learn(struct race_hb *hb, uint32_t u, const uint32_t *clock)
{
    uint32_t *row = &hb->known[(size_t)u * hb->scope];
    for (uint32_t i = 0; i < hb->scope; i++)
        if (row[i] < clock[i])
            row[i] = clock[i];
}

/* ---- accesses ---- */

static bool conflict(const struct race_hb *hb, const struct race_hb_entry *a,
                     const struct race_hb_entry *b)
{
    if (a->thread == b->thread || (a->kind == b->kind && a->kind != ACCESS_WRITE))
        return false;
    return !(hb->options.same_value && a->kind == ACCESS_WRITE && b->kind == ACCESS_WRITE &&
             a->value == b->value);
}

/* Whatever conflicts with an access of kind a conflicts with one of kind b. With same_value a write may
 * conflict with a read and not with the write that followed it. */
static bool covers(const struct race_hb *hb, enum access_kind b, enum access_kind a)
{
    return a == b || (b == ACCESS_WRITE && !hb->options.same_value);
}

/* Whether a is before the access b that is made now. */
static bool before(const struct race_hb *hb, const struct race_hb_entry *a,
                   const struct race_hb_entry *b)
{
    uint32_t g = hb->group_of[a->thread], u = hb->group_of[b->thread];
    if (g == u)
        return a->step != b->step || a->thread == b->thread;
    return a->step < known(hb, u, g);
}

static void note(struct race_hb *hb, uint32_t address, const struct race_hb_entry *a,
                 const struct race_hb_entry *b)
{
    struct race_hb_cell *cell = &hb->cells[address];
    bool writes = a->kind == ACCESS_WRITE && b->kind == ACCESS_WRITE;
    hb->racy_stms[a->stm] = hb->racy_stms[b->stm] = 1;
    if (cell->racy == hb->execution)
        return;
    cell->racy = hb->execution;
    hb->racy_locations++;
    race_mark_variable(hb->program, address, hb->racy_vars);
    if (hb->found)
        return;
    hb->found = true;
    hb->witness = (struct race_witness){.address = address,
                                        .first = {a->thread, a->stm, a->kind},
                                        .second = {b->thread, b->stm, b->kind},
                                        .same_value = writes && a->value == b->value,
                                        .simultaneous = writes && a->step == b->step};
}

static void add_entry(struct race_hb *hb, struct race_hb_cell *cell,
                      const struct race_hb_entry *entry)
{
    uint32_t at = hb->free_entries;
    if (at) {
        hb->free_entries = hb->entries[at - 1].next;
    } else if (hb->entry_count < hb->entry_capacity) {
        at = ++hb->entry_count;
    } else {
        hb->incomplete = true;
        return;
    }
    hb->entries[at - 1] = *entry;
    hb->entries[at - 1].next = cell->list;
    cell->list = at;
}

/* What else of the list is needed beside a new access b. */
struct pruning {
    bool other_value;  /* same_value: an earlier write of b's group, of another value, is kept */
    bool found;        /* an access of b's kind is kept ... */
    uint32_t block;    /* ... of this block ... */
    bool found_second; /* ... and one of another block */
};

/* Whether b makes a superfluous: it covers a's kind, and a is before b, so what is unordered with a and
 * comes later is unordered with b. With same_value writes of two values find a partner for any third. */
static bool superfluous(const struct race_hb *hb, struct pruning *p, const struct race_hb_entry *a,
                        const struct race_hb_entry *b, bool ordered)
{
    bool own = hb->group_of[a->thread] == hb->group_of[b->thread];
    if (!covers(hb, b->kind, a->kind) || !(own || ordered))
        return false;
    if (!hb->options.same_value || a->kind != ACCESS_WRITE || a->value == b->value)
        return true;
    if (!own)
        return false;
    bool again = p->other_value;
    p->other_value = true;
    return again;
}

/* Two accesses of a kind of different blocks have a partner for any third of either: no more are needed,
 * as nothing orders blocks. */
static void see_blocks(const struct race_hb *hb, struct pruning *p, const struct race_hb_entry *a,
                       const struct race_hb_entry *b)
{
    uint32_t block = block_of(hb, hb->group_of[a->thread]);
    if (a->kind != b->kind)
        return;
    p->found_second |= p->found && p->block != block;
    p->found = true;
    p->block = block;
}

static void walk(struct race_hb *hb, uint32_t address, struct race_hb_cell *cell,
                 const struct race_hb_entry *b)
{
    struct pruning p = {0};
    for (uint32_t *link = &cell->list; *link;) {
        struct race_hb_entry *a = &hb->entries[*link - 1];
        bool ordered = before(hb, a, b);
        if (!ordered && conflict(hb, a, b))
            note(hb, address, a, b);
        if (superfluous(hb, &p, a, b, ordered)) {
            uint32_t at = *link;
            *link = a->next;
            a->next = hb->free_entries;
            hb->free_entries = at;
            continue;
        }
        see_blocks(hb, &p, a, b);
        link = &a->next;
    }
    if (!p.found_second || hb->options.atomics_sync)
        add_entry(hb, cell, b);
}

/* The list need not be walked: another lane of b's group has made an access of its kind in this step, which met the
 * same partners; or there is but one access, of b's group and before, that b covers. */
HB_INLINE bool is_known(const struct race_hb *hb, const struct race_hb_cell *cell,
                        const struct race_hb_entry *b)
{
    struct race_hb_entry *a = &hb->entries[cell->list - 1];
    if (hb->group_of[a->thread] != hb->group_of[b->thread])
        return false;
    if (a->step == b->step && a->kind == b->kind && b->kind != ACCESS_WRITE)
        return true;
    if (a->next || a->step == b->step || !covers(hb, b->kind, a->kind) ||
        (hb->options.same_value && b->kind == ACCESS_WRITE))
        return false;
    *a = *b;
    return true;
}

HB_INLINE void visit(struct race_hb *hb, uint32_t address, const struct race_hb_entry *b)
{
    struct race_hb_cell *cell = &hb->cells[address];
    hb->seen = b->step + 1;
    if (cell->execution != hb->execution) {
        cell->execution = hb->execution;
        cell->list = cell->clock = 0;
    }
    if (!cell->list || !is_known(hb, cell, b))
        walk(hb, address, cell, b);
}
HB_INLINE void see_row(struct race_hb *hb, const enum access_kind kind,
                       const struct access_row *row)
{
    struct race_hb_entry entry = {.stm = row->stm, .step = now(hb), .kind = kind};
    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t lane = row->order[i];
        entry.thread = row->first_thread + lane;
        for (uint32_t k = 0; k < row->span; k++) {
            entry.value = kind == ACCESS_WRITE ? access_row_value(row, lane, k) : 0;
            visit(hb, row->location[lane] + k, &entry);
        }
    }
}

static void on_row(void *context, enum access_kind kind, const struct access_row *row)
{
    switch (kind) {
    case ACCESS_READ:
        see_row(context, ACCESS_READ, row);
        break;
    case ACCESS_WRITE:
        see_row(context, ACCESS_WRITE, row);
        break;
    case ACCESS_ATOMIC:
        see_row(context, ACCESS_ATOMIC, row);
        break;
    }
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    struct race_hb *hb = context;
    const struct race_hb_entry entry = {
        .thread = thread, .stm = stm, .step = now(hb), .kind = ACCESS_READ};
    visit(hb, address, &entry);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    struct race_hb *hb = context;
    const struct race_hb_entry entry = {
        .thread = thread, .stm = stm, .step = now(hb), .value = value, .kind = ACCESS_WRITE};
    visit(hb, address, &entry);
}

/* The clock of a location, made when it is first asked for; NULL: there is no room. */
static uint32_t *location_clock(struct race_hb *hb, struct race_hb_cell *cell)
{
    if (!cell->clock) {
        if (hb->clock_count == hb->clock_capacity) {
            hb->incomplete = true;
            return NULL;
        }
        cell->clock = ++hb->clock_count;
        memset(&hb->clocks[(size_t)(cell->clock - 1) * hb->scope], 0,
               hb->scope * sizeof *hb->clocks);
    }
    return &hb->clocks[(size_t)(cell->clock - 1) * hb->scope];
}

/* Lanes of one atomic instruction come one after another. */
static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    struct race_hb *hb = context;
    struct race_hb_cell *cell = &hb->cells[address];
    uint32_t *clock = NULL;
    const struct race_hb_entry entry = {
        .thread = thread, .stm = stm, .step = now(hb), .kind = ACCESS_ATOMIC};
    if (hb->options.atomics_sync) {
        if (cell->execution != hb->execution)
            *cell = (struct race_hb_cell){.execution = hb->execution, .racy = cell->racy};
        clock = location_clock(hb, cell);
        if (clock)
            learn(hb, hb->group_of[thread], clock);
    }
    visit(hb, address, &entry);
    if (clock)
        tell(hb, hb->group_of[thread], clock);
}

/* ---- barriers ---- */

/* What one group of a block has learnt of other blocks, all of it know. */
static void share(struct race_hb *hb, uint32_t block)
{
    uint32_t first = block * hb->block_groups;
    memset(hb->shared, 0, hb->scope * sizeof *hb->shared);
    for (uint32_t i = 0; i < hb->block_groups; i++)
        tell(hb, first + i, hb->shared);
    for (uint32_t i = 0; i < hb->block_groups; i++)
        learn(hb, first + i, hb->shared);
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    (void)machine;
    struct race_hb *hb = context;
    if (!event->all)
        return;
    hb->floors[event->block] = hb->seen;
    if (hb->options.atomics_sync)
        share(hb, event->block);
}

static void on_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    (void)machine;
    struct race_hb *hb = context;
    if (use->barrier >= RACE_HB_BARRIERS)
        return; /* of a cluster: kernels of clusters are for the detector with scopes */
    uint32_t number = use->block * RACE_HB_BARRIERS + use->barrier, last = UINT32_MAX;
    struct race_hb_barrier *barrier = &hb->barriers[number];
    uint32_t *told = &hb->told[(size_t)number * hb->scope];
    if (!hb->known)
        return;
    if (use->kind != BARRIER_RELEASES &&
        (!barrier->used || barrier->generation != use->generation)) {
        *barrier = (struct race_hb_barrier){use->generation, true};
        memset(told, 0, hb->scope * sizeof *told);
    }
    for (lane_mask rest = use->mask; rest; rest &= rest - 1) {
        uint32_t group = hb->group_of[use->first_thread + (uint32_t)__builtin_ctzll(rest)];
        if (group == last)
            continue;
        last = group;
        if (use->kind == BARRIER_RELEASES)
            learn(hb, group, told);
        else
            tell(hb, group, told);
    }
}

/* ---- the detector ---- */

static void number_groups(struct race_hb *hb, struct arena *arena)
{
    const struct program *program = hb->program;
    uint32_t threads = program->launch.threads, warp = program->launch.warp;
    uint32_t *group_of = ARENA_ARRAY(arena, uint32_t, program->total_threads);
    hb->block_groups = hb->options.warps ? program->warps_per_block : threads;
    hb->groups = hb->block_groups * program->launch.blocks;
    hb->scope = hb->options.atomics_sync ? hb->groups : hb->block_groups;
    for (uint32_t i = 0; i < program->total_threads; i++)
        group_of[i] = hb->options.warps ? i / threads * hb->block_groups + i % threads / warp : i;
    hb->group_of = group_of;
}

static void make_clocks(struct race_hb *hb, struct arena *arena)
{
    uint32_t blocks = hb->program->launch.blocks, locations = hb->program->private_base;
    hb->known = ARENA_ARRAY(arena, uint32_t, (size_t)hb->groups * hb->scope);
    hb->barriers = ARENA_ARRAY(arena, struct race_hb_barrier, (size_t)blocks * RACE_HB_BARRIERS);
    hb->told = ARENA_ARRAY(arena, uint32_t, (size_t)blocks * RACE_HB_BARRIERS * hb->scope);
    if (!hb->options.atomics_sync)
        return;
    hb->shared = ARENA_ARRAY(arena, uint32_t, hb->scope);
    hb->clock_capacity = LOCATION_CLOCK_WORDS_MAX / hb->scope;
    if (hb->clock_capacity > locations)
        hb->clock_capacity = locations;
    hb->clocks = ARENA_ARRAY(arena, uint32_t, (size_t)hb->clock_capacity * hb->scope);
}

struct race_hb *race_hb_new(struct arena *arena, const struct program *program,
                            const struct race_hb_options *options, const char **reason)
{
    struct race_hb *hb = ARENA_NEW(arena, struct race_hb);
    uint32_t locations = program->private_base * program->units;
    hb->program = program;
    hb->options = *options;
    number_groups(hb, arena);
    bool clocks = options->named || options->atomics_sync;
    if (clocks && (uint64_t)(hb->groups + RACE_HB_BARRIERS) * hb->scope > CLOCK_WORDS_MAX) {
        *reason = "too many threads for happens-before with named barriers or atomics";
        return NULL;
    }
    hb->observer = (struct observer){.context = hb,
                                     .access_row = options->atomics_sync ? NULL : on_row,
                                     .read = on_read,
                                     .write = on_write,
                                     .atomic = on_atomic,
                                     .barrier = on_barrier,
                                     .use = clocks ? on_use : NULL};
    hb->floors = ARENA_ARRAY(arena, uint32_t, program->launch.blocks);
    if (clocks)
        make_clocks(hb, arena);
    hb->cells = ARENA_ARRAY(arena, struct race_hb_cell, locations);
    hb->entry_capacity = locations > ENTRIES_MAX / 4 ? ENTRIES_MAX : 4 * locations + 1024;
    hb->entries = ARENA_ARRAY(arena, struct race_hb_entry, hb->entry_capacity);
    hb->racy_stms = ARENA_ARRAY(arena, uint8_t, program->stm_count);
    hb->racy_vars = ARENA_ARRAY(arena, uint8_t, program->var_count);
    return hb;
}

void race_hb_begin(struct race_hb *hb, const uint64_t *steps)
{
    uint32_t blocks = hb->program->launch.blocks;
    hb->steps = steps;
    hb->execution++;
    hb->entry_count = hb->free_entries = hb->clock_count = 0;
    hb->incomplete = hb->found = false;
    hb->racy_locations = hb->seen = 0;
    memset(hb->floors, 0, blocks * sizeof *hb->floors);
    if (!hb->known)
        return;
    memset(hb->known, 0, (size_t)hb->groups * hb->scope * sizeof *hb->known);
    memset(hb->barriers, 0, (size_t)blocks * RACE_HB_BARRIERS * sizeof *hb->barriers);
}
