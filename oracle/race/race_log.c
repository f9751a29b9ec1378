/* race_log.c - the definition of a race, literally. */
#include "oracle/race/race.h"

#include <string.h>

/* Comparisons of one race_log_search: beyond, the log says nothing. */
enum { COMPARISONS_MAX = 200000 };

static void log_access(struct race_log *log, uint32_t address, struct race_access access,
                       int32_t value)
{
    if (log->count == log->capacity) {
        log->overflow = true;
        return;
    }
    uint32_t block = access.thread / log->program->launch.threads;
    log->entries[log->count++] =
        (struct race_log_entry){.address = address,
                                .access = access,
                                .block = block,
                                .interval = log->intervals[block],
                                .value = value,
                                .step = log->steps ? (uint32_t)*log->steps : log->step};
}

static void log_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    log_access(context, address, (struct race_access){thread, stm, ACCESS_READ}, 0);
}

static void log_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    log_access(context, address, (struct race_access){thread, stm, ACCESS_WRITE}, value);
}

static void log_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                       uint32_t stm)
{
    log_access(context, address, (struct race_access){thread, stm, ACCESS_ATOMIC}, value);
}

static void log_barrier(void *context, const struct machine *machine,
                        const struct barrier_event *event)
{
    (void)machine;
    struct race_log *log = context;
    if (event->all)
        log->intervals[event->block]++;
}

static void log_step(void *context, const struct machine *machine, const struct step_event *event)
{
    (void)machine;
    (void)event;
    ((struct race_log *)context)->step++;
}

struct race_log *race_log_new(struct arena *arena, const struct program *program, uint32_t capacity)
{
    struct race_log *log = ARENA_NEW(arena, struct race_log);
    log->observer = (struct observer){.context = log,
                                      .read = log_read,
                                      .write = log_write,
                                      .atomic = log_atomic,
                                      .barrier = log_barrier,
                                      .step = log_step};
    log->program = program;
    log->entries = arena_room(arena, capacity * sizeof *log->entries);
    log->intervals = ARENA_ARRAY(arena, uint32_t, program->launch.blocks);
    log->heads = arena_room(arena, (size_t)2 * capacity * sizeof *log->heads);
    log->before = arena_room(arena, capacity * sizeof *log->before);
    log->capacity = capacity;
    return log;
}

void race_log_watch(struct race_log *log, const struct machine *machine)
{
    log->steps = &machine->steps;
    log->observer.step = NULL;
}

void race_log_begin(struct race_log *log)
{
    log->count = 0;
    log->step = 0;
    log->overflow = false;
    memset(log->intervals, 0, log->program->launch.blocks * sizeof *log->intervals);
}

/*  Defs. 3.1, 4.1, for two accesses of one location:
 *
 *      t =/= t'      at least one writes (a write or an atomic), not both atomics
 *      not: both of one block with a barrier of it in between
 */
bool race_log_is_race(const struct race_log *log, const struct race_log_entry *a,
                      const struct race_log_entry *b)
{
    if (a->access.thread == b->access.thread)
        return false;
    if (a->access.kind == b->access.kind && a->access.kind != ACCESS_WRITE)
        return false;
    if (a->block == b->block && a->interval != b->interval)
        return false;
    return !(log->benign_same_value && a->access.kind == ACCESS_WRITE &&
             b->access.kind == ACCESS_WRITE && a->value == b->value);
}

/* The slot of an address in the hash table: its own, or the free one that it gets. */
static uint32_t *head_of(struct race_log *log, uint32_t slots, uint32_t address)
{
    uint32_t slot = (uint32_t)(((uint64_t)(address * 2654435769u) * slots) >> 32);
    while (log->heads[slot] && log->entries[log->heads[slot] - 1].address != address)
        slot = slot + 1 == slots ? 0 : slot + 1;
    return &log->heads[slot];
}

/* before[j]: entry + 1 of the access before j to its address; this bit says that the address has
 * raced, up to j. */
static const uint32_t RACED = 1u << 31;

struct race_log_result race_log_search(struct race_log *log)
{
    struct race_log_result result = {.complete = !log->overflow};
    uint32_t slots = 2 * log->count, comparisons = 0;
    if (!result.complete || log->count == 0)
        return result;
    memset(log->heads, 0, (size_t)slots * sizeof *log->heads);
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
            if (race_log_is_race(log, &log->entries[i - 1], &log->entries[j])) {
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

static bool is_entry(const struct race_log_entry *entry, const struct race_access *access)
{
    return entry->access.thread == access->thread && entry->access.stm == access->stm &&
           entry->access.kind == access->kind;
}

/* What the witness says about two writes. */
static bool says_of_writes(const struct race_log_entry *a, const struct race_log_entry *b,
                           const struct race_detector *detector)
{
    const struct race_witness *witness = &detector->witness;
    bool writes = a->access.kind == ACCESS_WRITE && b->access.kind == ACCESS_WRITE;
    return witness->same_value == (writes && a->value == b->value) &&
           witness->simultaneous == (writes && detector->steps && a->step == b->step);
}

/* Whether the witness is a pair of the log that completes the first race. */
static bool witness_is_first(const struct race_log *log, uint32_t second,
                             const struct race_detector *detector)
{
    const struct race_witness *witness = &detector->witness;
    const struct race_log_entry *b = &log->entries[second];
    if (b->address != witness->address || !is_entry(b, &witness->second))
        return false;
    for (uint32_t i = 0; i < second; i++) {
        const struct race_log_entry *a = &log->entries[i];
        if (a->address == b->address && race_log_is_race(log, a, b) &&
            is_entry(a, &witness->first) && says_of_writes(a, b, detector))
            return true;
    }
    return false;
}

/* As many locations as the log has, and all of those that it has. */
static bool same_locations(const struct race_log *log, const struct race_log_result *expected,
                           const struct race_detector *detector)
{
    for (uint32_t j = 0; j < log->count; j++)
        if ((log->before[j] & RACED) && !race_is_racy(detector, log->entries[j].address))
            return false;
    return expected->racy_locations == detector->racy_locations;
}

bool race_log_agrees(const struct race_log *log, const struct race_log_result *expected,
                     const struct race_detector *detector, const char **what)
{
    if (expected->found != detector->found)
        *what = "verdict";
    else if (!same_locations(log, expected, detector))
        *what = "locations";
    else if (expected->found && !witness_is_first(log, expected->second, detector))
        *what = "witness";
    else
        return true;
    return false;
}
