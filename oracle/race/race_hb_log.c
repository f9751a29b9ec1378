#include "oracle/race/race_hb_log.h"
#include "engine/base/bits.h"

#include <string.h>

/* Comparisons of accesses, of one execution: beyond, nothing is said. */
enum { COMPARISONS_MAX = 200000 };

/* ---- nodes ---- */

static void add_past(struct race_hb_log *log, uint32_t node, const uint64_t *set)
{
    for (uint32_t i = 0; i < HB_LOG_WORDS; i++)
        log->past[node][i] |= set[i];
}

/* Node `earlier`, and all before it, come before `node`. */
static void comes_before(struct race_hb_log *log, uint32_t earlier, uint32_t node)
{
    add_past(log, node, log->past[earlier]);
    bits_add(log->past[node], earlier);
}

/* A node, behind all that the group has done; HB_LOG_NODES: there is no room. */
static uint32_t add_node(struct race_hb_log *log, uint32_t group)
{
    if (log->nodes == HB_LOG_NODES) {
        log->overflow = true;
        return HB_LOG_NODES;
    }
    uint32_t node = log->nodes++;
    memset(log->past[node], 0, sizeof log->past[node]);
    if (log->last[group])
        comes_before(log, log->last[group] - 1, node);
    log->last[group] = node + 1;
    log->step_of_last[group] = 0;
    return node;
}

/* ---- accesses ---- */

/* What a group accesses in one step is simultaneous: one node. */
static uint32_t node_of_access(struct race_hb_log *log, uint32_t group)
{
    if (log->step_of_last[group] == *log->steps + 1)
        return log->last[group] - 1;
    uint32_t node = add_node(log, group);
    log->step_of_last[group] = *log->steps + 1;
    return node;
}

static void see(struct race_hb_log *log, enum access_kind kind, uint32_t thread, uint32_t address,
                int32_t value, uint32_t stm)
{
    log->overflow |= log->count == HB_LOG_ACCESSES;
    if (log->overflow)
        return;
    uint32_t node = node_of_access(log, log->detector->group_of[thread]);
    log->accesses[log->count] = (struct hb_log_access){.node = node,
                                                       .thread = thread,
                                                       .stm = stm,
                                                       .address = address,
                                                       .kind = kind,
                                                       .value = value,
                                                       .earlier = log->latest[address]};
    log->latest[address] = ++log->count;
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    see(context, ACCESS_READ, thread, address, 0, stm);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    see(context, ACCESS_WRITE, thread, address, value, stm);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    see(context, ACCESS_ATOMIC, thread, address, value, stm);
}

/* ---- barriers ---- */

/* The end of a barrier that all of the block took part in. */
static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct race_hb_log *log = context;
    uint32_t groups = log->detector->block_groups, first = event->block * groups;
    (void)machine;
    if (!event->all || log->overflow)
        return;
    uint32_t node = add_node(log, first);
    for (uint32_t g = first + 1; g < first + groups && node < HB_LOG_NODES; g++) {
        if (log->last[g])
            comes_before(log, log->last[g] - 1, node);
        log->last[g] = node + 1;
        log->step_of_last[g] = 0;
    }
}

/* A generation of arrivals alone releases nobody, so that its number alone tells it from the next one. */
static void registers(struct race_hb_log *log, struct hb_log_generation *generation,
                      uint32_t number, uint32_t node)
{
    if (generation->ended || generation->number != number)
        *generation = (struct hb_log_generation){.number = number};
    for (uint32_t i = 0; i < HB_LOG_WORDS; i++)
        generation->told[i] |= log->past[node][i];
    bits_add(generation->told, node);
}

static void on_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct race_hb_log *log = context;
    if (use->barrier >= RACE_HB_BARRIERS)
        return;
    struct hb_log_generation *generation =
        &log->generations[use->block * RACE_HB_BARRIERS + use->barrier];
    uint32_t seen = UINT32_MAX;
    (void)machine;
    for (uint32_t l = 0; l < 64 && !log->overflow; l++) {
        if (!(use->mask >> l & 1) || log->detector->group_of[use->first_thread + l] == seen)
            continue;
        seen = log->detector->group_of[use->first_thread + l];
        uint32_t node = add_node(log, seen);
        if (node == HB_LOG_NODES)
            return;
        if (use->kind != BARRIER_RELEASES)
            registers(log, generation, use->generation, node);
        else
            add_past(log, node, generation->told);
    }
    generation->ended |= use->kind == BARRIER_RELEASES;
}

/* ---- an execution ---- */

struct race_hb_log *race_hb_log_new(struct arena *arena, const struct race_hb *detector)
{
    struct race_hb_log *log = ARENA_NEW(arena, struct race_hb_log);
    const struct program *program = detector->program;
    uint32_t locations = program->private_base * program->units;
    log->detector = detector;
    log->observer = (struct observer){.context = log,
                                      .read = on_read,
                                      .write = on_write,
                                      .atomic = on_atomic,
                                      .barrier = on_barrier,
                                      .use = detector->options.named ? on_use : NULL};
    log->accesses = arena_room(arena, HB_LOG_ACCESSES * sizeof *log->accesses);
    log->past = arena_room(arena, HB_LOG_NODES * sizeof *log->past);
    log->last = ARENA_ARRAY(arena, uint32_t, detector->groups);
    log->step_of_last = ARENA_ARRAY(arena, uint64_t, detector->groups);
    log->generations = ARENA_ARRAY(arena, struct hb_log_generation,
                                   (size_t)program->launch.blocks * RACE_HB_BARRIERS);
    log->latest = ARENA_ARRAY(arena, uint32_t, locations);
    log->racy = ARENA_ARRAY(arena, uint8_t, locations);
    return log;
}

/* Of locations, only those that the execution before has accessed are cleared: arrays may be large. */
void race_hb_log_begin(struct race_hb_log *log, const uint64_t *steps)
{
    const struct race_hb *hb = log->detector;
    uint32_t barriers = hb->program->launch.blocks * RACE_HB_BARRIERS;
    for (uint32_t i = 0; i < log->count; i++)
        log->latest[log->accesses[i].address] = log->racy[log->accesses[i].address] = 0;
    log->steps = steps;
    log->count = log->nodes = 0;
    log->overflow = false;
    memset(log->last, 0, hb->groups * sizeof *log->last);
    memset(log->step_of_last, 0, hb->groups * sizeof *log->step_of_last);
    memset(log->generations, 0, (size_t)barriers * sizeof *log->generations);
}

/* ---- races ---- */

/*  NB.race, of two accesses of one location, a first:
 *
 *      t =/= t'      at least one writes (a write or an atomic), not both atomics      not a -> b
 */
static bool is_race(const struct race_hb_log *log, const struct hb_log_access *a,
                    const struct hb_log_access *b)
{
    bool writes = a->kind == ACCESS_WRITE && b->kind == ACCESS_WRITE;
    if (a->thread == b->thread || (a->kind == b->kind && !writes))
        return false;
    if (bits_has(log->past[b->node], a->node))
        return false;
    return !(log->detector->options.same_value && writes && a->value == b->value);
}

/* Marks the locations that race; *second: the access that completes the first race, + 1. False: too many accesses. */
static bool find_races(struct race_hb_log *log, uint32_t *second)
{
    uint32_t comparisons = 0;
    *second = 0;
    for (uint32_t j = 0; j < log->count; j++) {
        const struct hb_log_access *b = &log->accesses[j];
        for (uint32_t i = b->earlier; i && !log->racy[b->address];
             i = log->accesses[i - 1].earlier) {
            if (++comparisons > COMPARISONS_MAX)
                return false;
            log->racy[b->address] = is_race(log, &log->accesses[i - 1], b);
            if (log->racy[b->address] && !*second)
                *second = j + 1;
        }
    }
    return true;
}

static bool is_access(const struct hb_log_access *a, const struct race_access *access)
{
    return a->thread == access->thread && a->stm == access->stm && a->kind == access->kind;
}

/* Whether the detector's witness is a race that this access completes. */
static bool completes(const struct race_hb_log *log, const struct hb_log_access *b)
{
    const struct race_witness *witness = &log->detector->witness;
    if (b->address != witness->address || !is_access(b, &witness->second))
        return false;
    for (uint32_t i = b->earlier; i; i = log->accesses[i - 1].earlier) {
        const struct hb_log_access *a = &log->accesses[i - 1];
        bool writes = a->kind == ACCESS_WRITE && b->kind == ACCESS_WRITE;
        if (is_access(a, &witness->first) && is_race(log, a, b) &&
            witness->same_value == (writes && a->value == b->value))
            return true;
    }
    return false;
}

const char *race_hb_log_differs(struct race_hb_log *log, bool *asked)
{
    const struct race_hb *hb = log->detector;
    uint32_t second, racy = 0;
    *asked = !log->overflow && !hb->incomplete && find_races(log, &second);
    if (!*asked)
        return NULL;
    if (hb->found != (second > 0))
        return "verdict";
    for (uint32_t j = 0; j < log->count; j++) {
        const struct hb_log_access *a = &log->accesses[j];
        if (log->racy[a->address] && !race_hb_is_racy(hb, a->address))
            return "locations";
        racy += log->racy[a->address] && log->latest[a->address] == j + 1;
    }
    if (racy != hb->racy_locations)
        return "locations";
    return second && !completes(log, &log->accesses[second - 1]) ? "witness" : NULL;
}
