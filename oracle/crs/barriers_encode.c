/*
 * barriers_encode.c - the warp-synchronous encoding (NB.ws) of a log's commands, executed once: after each command
 * of every thread of warp w stands `sync beta_w W`. All threads of a warp have as many commands: those that
 * have fewer wait for the others.
 */
#include "oracle/crs/barriers_internal.h"

#include <stdlib.h>
#include <string.h>

struct encoded {
    struct nb_room *room;
    struct nb_log *log;
    const struct nb_analysis *a;
    uint32_t *round;      /* a warp's first thread: command that its threads are at */
    bool *registered;     /* a thread: it has done that command, or registered */
    uint32_t *synced;     /* a barrier: registrations of its generation */
    enum nb_encoding end; /* NB_ENCODED as long as nothing is wrong */
};

static uint32_t *told_of(const struct encoded *x, uint32_t barrier)
{
    return &x->room->told[(size_t)barrier * x->room->block];
}

static struct nb_event *command(const struct encoded *x, uint32_t thread, uint32_t index)
{
    const struct nb_room *room = x->room;
    uint32_t at = room->starts[thread] + index;
    return at < room->starts[thread + 1] ? &x->log->events[room->lists[at]] : NULL;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void encode_access(struct encoded *x, struct nb_event *e)
{
    uint32_t *head = &x->room->heads[e->at];
    for (uint32_t i = *head; i; i = x->log->events[i - 1].before) {
        const struct nb_event *earlier = &x->log->events[i - 1];
        if (!nb_conflict(x->room, earlier, e))
            continue;
        uint64_t key = nb_pair(earlier, e);
        if (!bsearch(&key, x->a->pairs, x->a->pair_count, sizeof key, compare_keys))
            x->end = NB_ENCODING_RACES;
    }
    e->before = *head;
    *head = (uint32_t)(e - x->log->events) + 1;
}

/* recycle: those that wait go on. */
static void encode_recycle(struct encoded *x, uint32_t barrier)
{
    struct nb_room *room = x->room;
    uint32_t first = barrier / 16 * room->block;
    for (uint32_t thread = first; thread < first + room->block; thread++) {
        uint32_t warp = thread - (thread - first) % room->program->launch.warp;
        const struct nb_event *e = command(x, thread, x->round[warp]);
        if (!room->waits[thread] || e->at != barrier)
            continue;
        room->waits[thread] = false;
        nb_join(nb_clock(room, thread), told_of(x, barrier), room->block);
        nb_clock(room, thread)[thread - first] = 2 * e->index + 2;
    }
    memset(told_of(x, barrier), 0, room->block * sizeof *room->told);
    x->synced[barrier] = 0;
    room->last[barrier]++; /* generations that have ended */
}

static void encode_use(struct encoded *x, const struct nb_event *e)
{
    struct nb_room *room = x->room;
    uint32_t *clock = nb_clock(room, e->thread);
    clock[e->thread % room->block] = 2 * e->index + 1;
    nb_join(told_of(x, e->at), clock, room->block);
    if (room->last[e->at] != e->generation)
        x->end = NB_ENCODING_GENERATION;
    room->waits[e->thread] = e->kind == NB_SYNC;
    if (e->kind == NB_ARRIVE)
        clock[e->thread % room->block] = 2 * e->index + 2;
    if (++x->synced[e->at] == e->count)
        encode_recycle(x, e->at);
}

/* The threads of a warp do what they can of their round; whether one did something. */
static bool encode_warp(struct encoded *x, uint32_t first, uint32_t count)
{
    struct nb_room *room = x->room;
    uint32_t round = x->round[first];
    bool moved = false, all = true, more = false;
    for (uint32_t t = first; t < first + count; t++) {
        struct nb_event *e = command(x, t, round);
        if (!x->registered[t] && e) {
            if (e->kind == NB_ARRIVE || e->kind == NB_SYNC)
                encode_use(x, e);
            else
                encode_access(x, e);
            if (e->kind < NB_ARRIVE)
                nb_clock(room, t)[t % room->block] = 2 * e->index + 2;
            moved = true;
        }
        x->registered[t] = true;
    }
    for (uint32_t t = first; t < first + count; t++) {
        all &= !room->waits[t];
        more |= command(x, t, round + 1) != NULL;
    }
    if (!all || !more)
        return moved;
    /* sync beta_w W: everybody knows what anybody does */
    uint32_t *told = &room->told[(size_t)room->barriers * room->block];
    memset(told, 0, room->block * sizeof *told);
    for (uint32_t t = first; t < first + count; t++)
        nb_join(told, nb_clock(room, t), room->block);
    for (uint32_t t = first; t < first + count; t++) {
        nb_join(nb_clock(room, t), told, room->block);
        x->registered[t] = false;
    }
    x->round[first]++;
    return true;
}

/* Events of each thread, in order; releases are none of its commands. */
static void list_commands(struct nb_room *room, const struct nb_log *log)
{
    uint32_t threads = room->program->total_threads, at = 0;
    for (uint32_t t = 0; t <= threads; t++) {
        room->starts[t] = at;
        at += t < threads ? log->commands[t] : 0;
    }
    for (uint32_t i = 0; i < log->count; i++) {
        const struct nb_event *e = &log->events[i];
        if (e->kind != NB_RELEASE)
            room->lists[room->starts[e->thread] + e->index] = i;
    }
}

static bool all_done(const struct encoded *x)
{
    const struct program *program = x->room->program;
    for (uint32_t t = 0; t < program->total_threads; t++) {
        uint32_t tid = t % program->launch.threads;
        uint32_t first = t - tid % program->launch.warp;
        if (x->room->waits[t] || command(x, t, x->round[first] + 1))
            return false;
    }
    return true;
}

enum nb_encoding nb_encode(struct nb_room *room, struct nb_log *log,
                           const struct nb_analysis *analysis)
{
    const struct program *program = room->program;
    uint32_t threads = program->total_threads, warp = program->launch.warp;
    struct encoded x = {.room = room,
                        .log = log,
                        .a = analysis,
                        .round = room->next,
                        .synced = room->next + threads,
                        .registered = room->registered,
                        .end = NB_ENCODED};
    nb_clear(room);
    list_commands(room, log);
    memset(room->next, 0, (threads + room->barriers) * sizeof *room->next);
    memset(room->waits, 0, threads * sizeof *room->waits);
    memset(room->registered, 0, threads * sizeof *room->registered);
    for (bool moved = true; moved && x.end == NB_ENCODED;) {
        moved = false;
        for (uint32_t block = 0; block < threads; block += room->block)
            for (uint32_t tid = 0; tid < room->block; tid += warp)
                moved |= encode_warp(&x, block + tid,
                                     room->block - tid < warp ? room->block - tid : warp);
    }
    return x.end == NB_ENCODED && !all_done(&x) ? NB_ENCODING_STUCK : x.end;
}
