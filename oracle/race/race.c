#include "oracle/race/race.h"

#include "engine/base/inline.h"

#include <string.h>

#define RACE_INLINE INLINED

const char *const race_why_names[] = {[RACE_UNORDERED] = "unordered",
                                      [RACE_PLAIN_FLAG] = "plain flag",
                                      [RACE_MISSING_FENCE] = "missing fence",
                                      [RACE_NARROW_SCOPE] = "scope too narrow"};

const char *const race_access_names[] = {
    [ACCESS_READ] = "read", [ACCESS_WRITE] = "write", [ACCESS_ATOMIC] = "atomic"};

void race_mark_variable(const struct program *program, uint32_t address, uint8_t *racy_vars)
{
    const struct ast_var *var = program_locate(program, address).var;
    for (uint32_t i = 0; i < program->var_count; i++)
        if (program->vars[i].ast == var)
            racy_vars[i] = 1;
}

/* ---- an access, and the earlier one that it races with ---- */

struct seen {
    struct race_access access;
    uint32_t address;
    int32_t value; /* of a write */
    uint32_t step;
};

static void note_race(struct race_detector *detector, const struct race_cell *cell,
                      enum access_kind kind, uint32_t slot, const struct seen *seen)
{
    struct race_cell *location = &detector->cells[seen->address];
    struct race_access first = {cell->thread[kind][slot] - 1u, cell->stm[kind][slot], kind};
    bool writes = kind == ACCESS_WRITE && seen->access.kind == ACCESS_WRITE;
    detector->racy_stms[first.stm] = 1;
    detector->racy_stms[seen->access.stm] = 1;
    if (location->racy == detector->execution)
        return;
    location->racy = detector->execution;
    detector->racy_locations++;
    race_mark_variable(detector->program, seen->address, detector->racy_vars);
    if (detector->found)
        return;
    detector->found = true;
    detector->witness = (struct race_witness){
        .address = seen->address,
        .first = first,
        .second = seen->access,
        .same_value = writes && cell->value[slot] == seen->value,
        .simultaneous = writes && detector->steps && cell->step[slot] == seen->step};
}

/* Looks for a partner among the accesses of one kind; `grid`: in another block. */
RACE_INLINE bool race_with(struct race_detector *detector, const struct race_cell *cell,
                           enum access_kind kind, const struct seen *seen, const bool grid)
{
    bool may_be_benign =
        detector->benign_same_value && kind == ACCESS_WRITE && seen->access.kind == ACCESS_WRITE;
    for (uint32_t slot = 0; slot < RACE_SLOTS && cell->thread[kind][slot]; slot++) {
        uint32_t thread = cell->thread[kind][slot] - 1u;
        if (grid ? detector->block_of[thread] == detector->block_of[seen->access.thread]
                 : thread == seen->access.thread)
            continue;
        if (may_be_benign && cell->value[slot] == seen->value)
            continue;
        note_race(detector, cell, kind, slot, seen);
        return true;
    }
    return false;
}

/* Which slot the access belongs into: that of its thread (or block), else the second. */
RACE_INLINE uint32_t slot_of(const struct race_detector *detector, const struct race_cell *cell,
                             const struct seen *seen, const bool grid)
{
    uint16_t first = cell->thread[seen->access.kind][0];
    if (first == 0)
        return 0;
    if (grid ? detector->block_of[first - 1] != detector->block_of[seen->access.thread]
             : first != seen->access.thread + 1)
        return 1;
    return seen->access.kind == ACCESS_WRITE && detector->benign_same_value &&
           cell->value[0] != seen->value;
}

RACE_INLINE void visit(struct race_detector *detector, struct race_cell *cell, uint32_t epoch,
                       const struct seen *seen, const bool grid)
{
    const enum access_kind kind = seen->access.kind;
    if (cell->epoch != epoch) {
        cell->epoch = epoch;
        memset(cell->thread, 0, sizeof cell->thread);
    } else if (!race_with(detector, cell, ACCESS_WRITE, seen, grid) &&
               !(kind != ACCESS_READ && race_with(detector, cell, ACCESS_READ, seen, grid)) &&
               kind != ACCESS_ATOMIC) {
        race_with(detector, cell, ACCESS_ATOMIC, seen, grid);
    }
    uint32_t slot = slot_of(detector, cell, seen, grid);
    cell->thread[kind][slot] = (uint16_t)(seen->access.thread + 1);
    cell->stm[kind][slot] = seen->access.stm;
    if (kind == ACCESS_WRITE) {
        cell->value[slot] = seen->value;
        cell->step[slot] = seen->step;
    }
}

RACE_INLINE void see(struct race_detector *detector, const struct seen *seen, const bool several)
{
    uint32_t block = several ? detector->block_of[seen->access.thread] : 0;
    if (several && seen->address < detector->program->shared_base * detector->program->units)
        visit(detector, &detector->grid[seen->address], detector->execution_epoch, seen, true);
    visit(detector, &detector->cells[seen->address], detector->epochs[block], seen, false);
}

/* ---- the observer: a set of functions for one block, another for several ---- */

RACE_INLINE void see_read(struct race_detector *detector, uint32_t thread, uint32_t address,
                          uint32_t stm, const bool several)
{
    const struct seen seen = {.access = {thread, stm, ACCESS_READ}, .address = address};
    see(detector, &seen, several);
}

RACE_INLINE void see_write(struct race_detector *detector, uint32_t thread, uint32_t address,
                           int32_t value, uint32_t stm, const bool several)
{
    const struct seen seen = {.access = {thread, stm, ACCESS_WRITE},
                              .address = address,
                              .value = value,
                              .step = detector->steps ? (uint32_t)*detector->steps : 0};
    see(detector, &seen, several);
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    see_read(context, thread, address, stm, false);
}

static void on_read_several(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    see_read(context, thread, address, stm, true);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    see_write(context, thread, address, value, stm, false);
}

static void on_write_several(void *context, uint32_t thread, uint32_t address, int32_t value,
                             uint32_t stm)
{
    see_write(context, thread, address, value, stm, true);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    struct race_detector *detector = context;
    const struct seen seen = {.access = {thread, stm, ACCESS_ATOMIC}, .address = address};
    see(detector, &seen, detector->grid != NULL);
}

RACE_INLINE void see_row(struct race_detector *detector, const enum access_kind kind,
                         const struct access_row *row, const bool several)
{
    uint32_t step = detector->steps ? (uint32_t)*detector->steps : 0;
    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t lane = row->order[i];
        struct seen seen = {.access = {row->first_thread + lane, row->stm, kind}, .step = step};
        for (uint32_t k = 0; k < row->span; k++) {
            seen.address = row->location[lane] + k;
            seen.value = kind == ACCESS_WRITE ? access_row_value(row, lane, k) : 0;
            see(detector, &seen, several);
        }
    }
}

RACE_INLINE void see_rows(struct race_detector *detector, enum access_kind kind,
                          const struct access_row *row, const bool several)
{
    switch (kind) {
    case ACCESS_READ:
        see_row(detector, ACCESS_READ, row, several);
        break;
    case ACCESS_WRITE:
        see_row(detector, ACCESS_WRITE, row, several);
        break;
    case ACCESS_ATOMIC:
        see_row(detector, ACCESS_ATOMIC, row, several);
        break;
    }
}

static void on_row(void *context, enum access_kind kind, const struct access_row *row)
{
    see_rows(context, kind, row, false);
}

static void on_row_several(void *context, enum access_kind kind, const struct access_row *row)
{
    see_rows(context, kind, row, true);
}

/* An interval of the block ends (CFG.barrier_S). A sync that nobody took part in ends none (B-13). */
static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    (void)machine;
    struct race_detector *detector = context;
    if (event->all)
        detector->epochs[event->block] = ++detector->epoch;
}

static size_t race_locations(uint32_t words, const struct program *program)
{
    return (size_t)words * program->units;
}

struct race_detector *race_new(struct arena *arena, const struct program *program)
{
    struct race_detector *detector = ARENA_NEW(arena, struct race_detector);
    uint32_t blocks = program->launch.blocks;
    uint16_t *block_of = ARENA_ARRAY(arena, uint16_t, program->total_threads);
    for (uint32_t i = 0; i < program->total_threads; i++)
        block_of[i] = (uint16_t)(i / program->launch.threads);
    detector->observer = (struct observer){.context = detector,
                                           .access_row = blocks > 1 ? on_row_several : on_row,
                                           .read = blocks > 1 ? on_read_several : on_read,
                                           .write = blocks > 1 ? on_write_several : on_write,
                                           .atomic = on_atomic,
                                           .barrier = on_barrier};
    detector->program = program;
    detector->block_of = block_of;
    detector->epochs = ARENA_ARRAY(arena, uint32_t, blocks);
    detector->cells =
        ARENA_ARRAY(arena, struct race_cell, race_locations(program->private_base, program));
    if (blocks > 1)
        detector->grid =
            ARENA_ARRAY(arena, struct race_cell, race_locations(program->shared_base, program));
    detector->racy_stms = ARENA_ARRAY(arena, uint8_t, program->stm_count);
    detector->racy_vars = ARENA_ARRAY(arena, uint8_t, program->var_count);
    return detector;
}

/* No epoch may come back: long before they run out, they start again with empty cells. */
static void renew_epochs(struct race_detector *detector)
{
    const struct program *program = detector->program;
    memset(detector->cells, 0,
           race_locations(program->private_base, program) * sizeof *detector->cells);
    if (detector->grid)
        memset(detector->grid, 0,
               race_locations(program->shared_base, program) * sizeof *detector->grid);
    detector->epoch = 0;
    detector->execution = 0;
}

void race_begin(struct race_detector *detector)
{
    if (detector->epoch >= UINT32_MAX / 2)
        renew_epochs(detector);
    detector->execution++;
    detector->execution_epoch = ++detector->epoch;
    for (uint32_t block = 0; block < detector->program->launch.blocks; block++)
        detector->epochs[block] = ++detector->epoch;
    detector->found = false;
    detector->racy_locations = 0;
}
