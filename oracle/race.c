#include "oracle/race.h"

#include <string.h>

/* Comparisons of one race_log_search: beyond, the log says nothing. */
enum { COMPARISONS_MAX = 200000 };

static void mark_variable(struct race_detector *detector, uint32_t address)
{
    const struct program *program = detector->program;
    const struct ast_var *var = program_locate(program, address).var;
    for (uint32_t i = 0; i < program->var_count; i++)
        if (program->vars[i].ast == var)
            detector->racy_vars[i] = 1;
}

static void note_race(struct race_detector *detector, uint32_t address, struct race_cell *cell,
                      struct race_access first, struct race_access second)
{
    detector->racy_stms[first.stm] = 1;
    detector->racy_stms[second.stm] = 1;
    if (cell->racy)
        return;
    cell->racy = 1;
    detector->racy_locations++;
    mark_variable(detector, address);
    if (detector->found)
        return;
    detector->found = true;
    detector->witness = (struct race_witness){address, first, second};
}

static struct race_cell *cell_of(struct race_detector *detector, uint32_t address)
{
    struct race_cell *cell = &detector->cells[address];
    if (cell->epoch != detector->epoch)
        *cell = (struct race_cell){.epoch = detector->epoch};
    return cell;
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    struct race_detector *detector = context;
    struct race_cell *cell = cell_of(detector, address);
    uint16_t id = (uint16_t)(thread + 1);
    if (cell->writer && cell->writer != id)
        note_race(detector, address, cell,
                  (struct race_access){cell->writer - 1u, cell->write_stm, true},
                  (struct race_access){thread, stm, false});
    if (cell->reader == 0 || cell->reader == id) {
        cell->reader = id;
        cell->read_stm = stm;
    } else {
        cell->other = id;
        cell->other_stm = stm;
    }
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value; /* two writes of the same value race all the same */
    struct race_detector *detector = context;
    struct race_cell *cell = cell_of(detector, address);
    uint16_t id = (uint16_t)(thread + 1);
    struct race_access access = {thread, stm, true};
    if (cell->writer && cell->writer != id)
        note_race(detector, address, cell,
                  (struct race_access){cell->writer - 1u, cell->write_stm, true}, access);
    else if (cell->reader && cell->reader != id)
        note_race(detector, address, cell,
                  (struct race_access){cell->reader - 1u, cell->read_stm, false}, access);
    else if (cell->other && cell->other != id)
        note_race(detector, address, cell,
                  (struct race_access){cell->other - 1u, cell->other_stm, false}, access);
    cell->writer = id;
    cell->write_stm = stm;
}

struct race_detector *race_new(struct arena *arena, const struct program *program)
{
    struct race_detector *detector = ARENA_NEW(arena, struct race_detector);
    detector->observer = (struct observer){.context = detector, .read = on_read, .write = on_write};
    detector->program = program;
    detector->cells = ARENA_ARRAY(arena, struct race_cell, program->private_base);
    detector->racy_stms = ARENA_ARRAY(arena, uint8_t, program->stm_count);
    detector->racy_vars = ARENA_ARRAY(arena, uint8_t, program->var_count);
    return detector;
}

void race_begin(struct race_detector *detector)
{
    detector->epoch++;
    detector->found = false;
    detector->racy_locations = 0;
}

/* ---- the definition, literally ---- */

static void log_access(struct race_log *log, uint32_t address, struct race_access access)
{
    if (log->count == log->capacity) {
        log->overflow = true;
        return;
    }
    log->entries[log->count++] = (struct race_log_entry){address, access};
}

static void log_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    log_access(context, address, (struct race_access){thread, stm, false});
}

static void log_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    log_access(context, address, (struct race_access){thread, stm, true});
}

struct race_log *race_log_new(struct arena *arena, uint32_t capacity)
{
    struct race_log *log = ARENA_NEW(arena, struct race_log);
    log->observer = (struct observer){.context = log, .read = log_read, .write = log_write};
    log->entries = ARENA_ARRAY(arena, struct race_log_entry, capacity);
    log->heads = ARENA_ARRAY(arena, uint32_t, (size_t)2 * capacity);
    log->before = ARENA_ARRAY(arena, uint32_t, capacity);
    log->capacity = capacity;
    return log;
}

void race_log_begin(struct race_log *log)
{
    log->count = 0;
    log->overflow = false;
}

static bool conflict(const struct race_log_entry *a, const struct race_log_entry *b)
{
    return a->access.thread != b->access.thread && (a->access.write || b->access.write);
}

/* The slot of an address in the hash table: its own, or the free one that it gets. */
static uint32_t *head_of(struct race_log *log, uint32_t slots, uint32_t address)
{
    uint32_t slot = (uint32_t)(((uint64_t)(address * 2654435769u) * slots) >> 32);
    while (log->heads[slot] && log->entries[log->heads[slot] - 1].address != address)
        slot = slot + 1 == slots ? 0 : slot + 1;
    return &log->heads[slot];
}

struct race_log_result race_log_search(struct race_log *log)
{
    struct race_log_result result = {.complete = !log->overflow};
    uint32_t slots = 2 * log->count, comparisons = 0;
    if (!result.complete || log->count == 0)
        return result;
    memset(log->heads, 0, (size_t)slots * sizeof *log->heads);
    /* before[j]: entry + 1 of the access before j to its address; the top bit says that the address
     * has raced already. */
    static const uint32_t RACED = 1u << 31;
    for (uint32_t j = 0; j < log->count; j++) {
        uint32_t *head = head_of(log, slots, log->entries[j].address);
        uint32_t i = *head ? log->before[*head - 1] & RACED : 0;
        log->before[j] = *head | i;
        *head = j + 1;
        if (i)
            continue;
        for (i = log->before[j]; i; i = log->before[i - 1]) {
            if (++comparisons > COMPARISONS_MAX) {
                result.complete = false;
                return result;
            }
            if (conflict(&log->entries[i - 1], &log->entries[j])) {
                log->before[j] |= RACED;
                result.racy_locations++;
                if (!result.found)
                    result.second = j;
                result.found = true;
                break;
            }
        }
    }
    return result;
}

/* Whether the witness is a pair of the log that completes the first race. */
static bool witness_is_first(const struct race_log *log, uint32_t second,
                             const struct race_witness *witness)
{
    const struct race_log_entry *b = &log->entries[second];
    if (b->address != witness->address || b->access.thread != witness->second.thread ||
        b->access.stm != witness->second.stm || b->access.write != witness->second.write)
        return false;
    for (uint32_t i = 0; i < second; i++) {
        const struct race_log_entry *a = &log->entries[i];
        if (a->address == b->address && conflict(a, b) &&
            a->access.thread == witness->first.thread && a->access.stm == witness->first.stm &&
            a->access.write == witness->first.write)
            return true;
    }
    return false;
}

bool race_log_agrees(const struct race_log *log, const struct race_log_result *expected,
                     const struct race_detector *detector, const char **what)
{
    if (expected->found != detector->found)
        *what = "verdict";
    else if (expected->racy_locations != detector->racy_locations)
        *what = "locations";
    else if (expected->found && !witness_is_first(log, expected->second, &detector->witness))
        *what = "witness";
    else
        return true;
    return false;
}
