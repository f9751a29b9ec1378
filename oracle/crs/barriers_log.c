/* barriers_log.c - one execution's commands, and what their happens-before says (NB.hb, NB.recycle_ok, NB.race). */
#include "oracle/crs/barriers_internal.h"

#include "engine/base/pcg.h"

#include <stdlib.h>
#include <string.h>

enum { BARRIERS = 16, INDEX_BITS = 14, COMPARISONS_MAX = 1 << 20 };

/* ---- the observer ---- */

static void log_event(struct nb_log *log, const struct nb_event *event)
{
    if (log->count == log->capacity || log->commands[event->thread] >> INDEX_BITS) {
        log->overflow = true;
        return;
    }
    struct nb_event *e = &log->events[log->count++];
    *e = *event;
    e->index = log->commands[event->thread];
    if (event->kind == NB_RELEASE)
        e->index--; /* of the sync, the thread's latest command */
    else
        log->commands[event->thread]++;
}

static void log_access(struct nb_log *log, uint32_t thread, uint32_t address, uint32_t stm,
                       enum nb_kind kind)
{
    const struct nb_event event = {.thread = thread, .at = address, .stm = stm, .kind = kind};
    log_event(log, &event);
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    log_access(context, thread, address, stm, NB_READ);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    log_access(context, thread, address, stm, NB_WRITE);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    log_access(context, thread, address, stm, NB_ATOMIC);
}

static void on_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    static const enum nb_kind kinds[] = {
        [BARRIER_ARRIVES] = NB_ARRIVE, [BARRIER_SYNCS] = NB_SYNC, [BARRIER_RELEASES] = NB_RELEASE};
    struct nb_log *log = context;
    (void)machine;
    if (use->barrier >= BARRIERS) /* of a cluster */
        return;
    for (lane_mask rest = use->mask; rest; rest &= rest - 1) {
        const struct nb_event event = {.thread =
                                           use->first_thread + (uint32_t)__builtin_ctzll(rest),
                                       .at = use->block * BARRIERS + use->barrier,
                                       .generation = use->generation,
                                       .count = use->count,
                                       .stm = use->stm,
                                       .kind = kinds[use->kind]};
        log_event(log, &event);
    }
}

struct nb_log *nb_log_new(struct arena *arena, const struct program *program)
{
    if (program->launch.threads > NB_THREADS || program->total_threads > 4 * NB_THREADS)
        return NULL;
    struct nb_log *log = ARENA_NEW(arena, struct nb_log);
    log->observer = (struct observer){
        .context = log, .read = on_read, .write = on_write, .atomic = on_atomic, .use = on_use};
    log->program = program;
    log->capacity = NB_EVENTS;
    log->events = arena_room(arena, log->capacity * sizeof *log->events);
    log->commands = ARENA_ARRAY(arena, uint32_t, program->total_threads);
    return log;
}

void nb_log_begin(struct nb_log *log)
{
    log->count = 0;
    log->overflow = false;
    memset(log->commands, 0, log->program->total_threads * sizeof *log->commands);
}

struct nb_room *nb_room_new(struct arena *arena, const struct program *program)
{
    struct nb_room *room = ARENA_NEW(arena, struct nb_room);
    uint32_t threads = program->total_threads;
    room->program = program;
    room->block = program->launch.threads;
    room->barriers = BARRIERS * program->launch.blocks;
    room->clocks = ARENA_ARRAY(arena, uint32_t, (size_t)threads * room->block);
    room->told = ARENA_ARRAY(arena, uint32_t, ((size_t)room->barriers + 1) * room->block);
    room->heads = ARENA_ARRAY(arena, uint32_t, (size_t)program->private_base * program->units);
    room->last = ARENA_ARRAY(arena, uint32_t, room->barriers);
    room->next = ARENA_ARRAY(arena, uint32_t, threads + room->barriers);
    room->lists = ARENA_ARRAY(arena, uint32_t, NB_EVENTS);
    room->starts = ARENA_ARRAY(arena, uint32_t, threads + 1);
    room->waits = ARENA_ARRAY(arena, bool, threads);
    room->registered = ARENA_ARRAY(arena, bool, threads);
    return room;
}

/* ---- clocks: node 2k + 1 is reg of a thread's command k, 2k + 2 its done ---- */

uint32_t *nb_clock(const struct nb_room *room, uint32_t thread)
{
    return &room->clocks[(size_t)thread * room->block];
}

void nb_join(uint32_t *into, const uint32_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (into[i] < from[i])
            into[i] = from[i];
}

void nb_clear(struct nb_room *room)
{
    const struct program *program = room->program;
    memset(room->clocks, 0, (size_t)program->total_threads * room->block * sizeof *room->clocks);
    memset(room->told, 0, (size_t)room->barriers * room->block * sizeof *room->told);
    memset(room->heads, 0, (size_t)program->private_base * program->units * sizeof *room->heads);
    memset(room->last, 0, room->barriers * sizeof *room->last);
}

/* Whether the command a is done before thread u does anything from now on. */
static bool done_before(const struct nb_room *room, const struct nb_event *a, uint32_t u)
{
    if (a->thread == u)
        return true;
    return a->thread / room->block == u / room->block &&
           nb_clock(room, u)[a->thread % room->block] >= 2 * a->index + 2;
}

bool nb_conflict(const struct nb_room *room, const struct nb_event *a, const struct nb_event *b)
{
    bool kinds = a->kind != b->kind || a->kind == NB_WRITE;
    return kinds && !done_before(room, a, b->thread);
}

uint64_t nb_pair(const struct nb_event *a, const struct nb_event *b)
{
    uint64_t x = (uint64_t)a->thread << INDEX_BITS | a->index;
    uint64_t y = (uint64_t)b->thread << INDEX_BITS | b->index;
    return x < y ? x << 32 | y : y << 32 | x;
}

static enum access_kind access_of(enum nb_kind kind)
{
    return kind == NB_READ ? ACCESS_READ : kind == NB_WRITE ? ACCESS_WRITE : ACCESS_ATOMIC;
}

/* ---- one pass ---- */

struct pass {
    struct nb_room *room;
    struct nb_log *log;
    struct nb_analysis *a;
    uint32_t comparisons;
};

static void see_access(struct pass *p, struct nb_event *e)
{
    uint32_t *head = &p->room->heads[e->at];
    struct nb_analysis *a = p->a;
    for (uint32_t i = *head; i; i = p->log->events[i - 1].before) {
        const struct nb_event *earlier = &p->log->events[i - 1];
        if (++p->comparisons > COMPARISONS_MAX) {
            a->complete = false;
            return;
        }
        if (!nb_conflict(p->room, earlier, e))
            continue;
        if (a->pair_count == 0) {
            a->race[0] =
                (struct race_access){earlier->thread, earlier->stm, access_of(earlier->kind)};
            a->race[1] = (struct race_access){e->thread, e->stm, access_of(e->kind)};
            a->location = e->at;
        }
        if (a->pair_count == NB_PAIRS) {
            a->complete = false;
            return;
        }
        a->pairs[a->pair_count++] = nb_pair(earlier, e);
    }
    e->before = *head;
    *head = (uint32_t)(e - p->log->events) + 1;
}

/* NB.recycle_ok: all that registered in the generation before are before this registration. */
static void see_recycling(struct pass *p, const struct nb_event *e, uint32_t from)
{
    const uint32_t *clock = nb_clock(p->room, e->thread);
    for (uint32_t i = from; i; i = p->log->events[i - 1].before) {
        const struct nb_event *earlier = &p->log->events[i - 1];
        if (earlier->generation + 1 < e->generation || ++p->comparisons > COMPARISONS_MAX)
            break;
        bool before = earlier->thread == e->thread ||
                      clock[earlier->thread % p->room->block] >= 2 * earlier->index + 1;
        if (earlier->generation + 1 != e->generation || before || !p->a->recycled)
            continue;
        p->a->recycled = false;
        p->a->first = i - 1;
        p->a->second = (uint32_t)(e - p->log->events);
    }
    p->a->complete &= p->comparisons <= COMPARISONS_MAX;
}

static void see_registration(struct pass *p, struct nb_event *e)
{
    struct nb_room *room = p->room;
    uint32_t *last = &room->last[e->at];
    uint32_t *told = &room->told[(size_t)e->at * room->block];
    const struct nb_event *previous = *last ? &p->log->events[*last - 1] : NULL;
    if (previous && previous->generation != e->generation)
        memset(told, 0, room->block * sizeof *told);
    p->a->uses++;
    p->a->generations += !previous || previous->generation != e->generation;
    p->a->whole_blocks &= e->kind == NB_SYNC && e->count == room->block;
    see_recycling(p, e, *last);
    nb_clock(room, e->thread)[e->thread % room->block] = 2 * e->index + 1;
    nb_join(told, nb_clock(room, e->thread), room->block);
    e->before = *last;
    *last = (uint32_t)(e - p->log->events) + 1;
}

static void see_hashes(struct nb_analysis *a, const struct nb_event *e)
{
    uint64_t barrier = e->kind >= NB_ARRIVE;
    uint64_t command =
        pcg_splitmix((uint64_t)e->thread << 32 | (uint64_t)e->index << 8 | (uint64_t)e->kind);
    if (barrier) {
        command = pcg_splitmix(command ^ ((uint64_t)e->at << 32 | e->count));
        a->map += pcg_splitmix(command ^ e->generation);
    }
    a->commands += command;
    a->accesses += pcg_splitmix(command ^ (barrier ? 0 : e->at + 1));
}

/* Of each barrier's last generation: half-filled? And of all: a sync in each? */
static void see_generations(struct pass *p)
{
    for (uint32_t b = 0; b < p->room->barriers; b++) {
        uint32_t last = p->room->last[b], members = 0;
        if (!last)
            continue;
        uint32_t generation = p->log->events[last - 1].generation;
        bool sync = false;
        for (uint32_t i = last, newest = generation; i; i = p->log->events[i - 1].before) {
            const struct nb_event *e = &p->log->events[i - 1];
            if (e->generation != newest) {
                p->a->syncs &= sync;
                newest = e->generation;
                sync = false;
            }
            sync |= e->kind == NB_SYNC;
            members += e->generation == generation;
        }
        p->a->syncs &= sync;
        p->a->dangling |= members < p->log->events[last - 1].count;
    }
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void nb_analyse(struct nb_room *room, struct nb_log *log, struct nb_analysis *analysis)
{
    uint64_t *pairs = analysis->pairs;
    *analysis = (struct nb_analysis){.complete = !log->overflow,
                                     .whole_blocks = true,
                                     .syncs = true,
                                     .recycled = true,
                                     .pairs = pairs};
    struct pass p = {.room = room, .log = log, .a = analysis};
    nb_clear(room);
    for (uint32_t i = 0; i < log->count && analysis->complete; i++) {
        struct nb_event *e = &log->events[i];
        uint32_t *clock = nb_clock(room, e->thread);
        if (e->kind == NB_RELEASE) {
            nb_join(clock, &room->told[(size_t)e->at * room->block], room->block);
            clock[e->thread % room->block] = 2 * e->index + 2;
            continue;
        }
        see_hashes(analysis, e);
        if (e->kind == NB_ARRIVE || e->kind == NB_SYNC)
            see_registration(&p, e);
        else
            see_access(&p, e);
        if (e->kind != NB_SYNC)
            clock[e->thread % room->block] = 2 * e->index + 2;
    }
    see_generations(&p);
    qsort(pairs, analysis->pair_count, sizeof *pairs, ascending);
}
