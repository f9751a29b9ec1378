/*
 * launch_quick.c - the quick way of launch_race.h: accesses that meet nobody, which nearly all are.
 *
 * Plain accesses and atomics, of a word, where barriers alone order threads. What lanes in a row do to locations in a
 * row is one access, of which compilers make loops of vectors; otherwise lanes go one by one. A race is found here if
 * and only if it is found in the general way (launch_race.c); who is kept of several readers may differ.
 */
#include "oracle/launch/launch_internal.h"

#include "engine/base/inline.h"

#include <string.h>

enum { ALL_BYTES = 0xf, RUN_LEAST = 4 };

struct quick {
    struct launch_chunk_slots *global, *shared;
    struct launch_slot *const *rows;
    uint8_t *written, *chunks;
    uint32_t threads, global_locations;
    uint32_t block_first;   /* of the block: its first thread + 1 */
    uint32_t block_floor;   /* what its threads did before is known to all of them */
    struct launch_slot now; /* the access, of the first lane in question */
};

/* Lanes in a row, at locations in a row. What goes over from global into shared memory is taken for global, where no
 * less is unknown. */
struct stretch {
    uint32_t location, count, place; /* in its memory */
    bool shared;
    struct launch_slots *kept; /* of its chunk, where the first location is number `at` */
    uint32_t at;
};

/* In words whose highest bit says true, as vectors compute them fastest: no unsigned comparisons, no bools. */
INLINED uint32_t differ(uint32_t a, uint32_t b)
{
    return (a ^ b) | (0 - (a ^ b));
}

INLINED uint32_t is_inside(const struct quick *q, uint32_t who)
{
    const uint32_t number = who - q->block_first;
    return ~number & (number - q->threads);
}

/* A launch has no 2^31 barriers. */
INLINED uint32_t is_late(const struct quick *q, uint32_t time)
{
    return ~(time - q->block_floor);
}

/* Whether a thread of the block did it, after the block's last barrier. */
INLINED uint32_t is_recent(const struct quick *q, uint32_t who, uint32_t time)
{
    return is_inside(q, who) & is_late(q, time);
}

/* Whether what somebody did is unknown to the thread of this number + 1: others of the block did it after its last
 * barrier, or it was another block, but in shared memory: that one is gone. */
INLINED uint32_t is_unknown(const struct quick *q, uint32_t who, uint32_t time, uint32_t thread,
                            bool shared)
{
    return differ(who, thread) &
           (shared ? is_recent(q, who, time)
                   : differ(who, 0) & (is_late(q, time) | ~is_inside(q, who)));
}

INLINED bool are_unknown_there(const struct quick *q, enum launch_kept what,
                               const struct stretch *s, const bool shared)
{
    const uint32_t *restrict who = s->kept[what].thread + s->at;
    const uint32_t *restrict time = s->kept[what].time + s->at;
    uint32_t unknown = 0;
    for (uint32_t i = 0; i < s->count; i++)
        unknown |= is_unknown(q, who[i], time[i], q->now.thread + i, shared);
    return unknown >> 31;
}

INLINED bool are_unknown(const struct quick *q, enum launch_kept what, const struct stretch *s)
{
    return s->shared ? are_unknown_there(q, what, s, true) : are_unknown_there(q, what, s, false);
}

INLINED bool are_there(const uint32_t *thread, uint32_t count)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < count; i++)
        any |= thread[i];
    return any != 0;
}

/* Strong accesses that are not all by this block, whose scopes hold each other's threads. */
INLINED bool are_far(const struct quick *q, const struct stretch *s)
{
    const uint32_t *restrict last = s->kept[LAUNCH_STRONG].thread + s->at;
    const uint32_t *restrict other = s->kept[LAUNCH_STRONG_BLOCK].thread + s->at;
    uint32_t far = 0;
    for (uint32_t i = 0; i < s->count; i++)
        far |= (last[i] != 0) & ((last[i] - q->block_first >= q->threads) | (other[i] != 0));
    return far && !s->shared;
}

/* A stretch lies in one chunk of global memory, or in shared memory, of which this is never said. */
INLINED bool are_all_written(const struct quick *q, const struct stretch *s)
{
    return q->chunks[s->location / LAUNCH_CHUNK] & LAUNCH_WRITTEN;
}

INLINED bool are_unwritten(const struct quick *q, const struct stretch *s)
{
    uint8_t bytes = ALL_BYTES;
    if (!q->written || are_all_written(q, s))
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        bytes &= q->written[s->location + i];
    return bytes != ALL_BYTES;
}

/* Whether somebody's strong access is unknown, or may be. */
INLINED bool meet_strong(const struct quick *q, const struct stretch *s,
                         const enum access_kind kind)
{
    const uint8_t either = q->chunks[s->location / LAUNCH_CHUNK] |
                           q->chunks[(s->location + s->count - 1) / LAUNCH_CHUNK];
    if (!(either & LAUNCH_STRONGLY))
        return false;
    if (kind != ACCESS_READ && are_there(s->kept[LAUNCH_STRONG_READ].thread + s->at, s->count))
        return true;
    return kind == ACCESS_ATOMIC ? are_far(q, s)
                                 : are_there(s->kept[LAUNCH_STRONG].thread + s->at, s->count);
}

/* Whether one of them may meet somebody. */
INLINED bool may_meet(const struct quick *q, const struct stretch *s, const enum access_kind kind)
{
    if ((kind != ACCESS_WRITE && are_unwritten(q, s)) || meet_strong(q, s, kind))
        return true;
    if (are_unknown(q, LAUNCH_WRITE, s))
        return true;
    return kind != ACCESS_READ &&
           (are_unknown(q, LAUNCH_READ, s) || are_unknown(q, LAUNCH_READ_THREAD, s) ||
            are_unknown(q, LAUNCH_READ_BLOCK, s));
}

/* Whether two threads have read each of them, one of the block's, since its last barrier, and another one since then:
 * who comes after both comes after a third one that reads now. */
INLINED bool are_read(const struct quick *q, const struct stretch *s)
{
    const uint32_t *restrict who = s->kept[LAUNCH_READ_THREAD].thread + s->at;
    const uint32_t *restrict when = s->kept[LAUNCH_READ_THREAD].time + s->at;
    uint32_t read = UINT32_MAX;
    for (uint32_t i = 0; i < s->count; i++)
        read &= is_recent(q, who[i], when[i]);
    return read >> 31;
}

/* The last ones of LAUNCH_READ or LAUNCH_STRONG that stay beside the new ones: those of another thread, of another
 * block. */
INLINED void push(const struct quick *q, const enum launch_kept what, const struct stretch *s)
{
    struct launch_slots *last = &s->kept[what], *thread = &s->kept[what + 1],
                        *block = &s->kept[what + 2];
    for (uint32_t i = 0, l = s->at; i < s->count; i++, l++) {
        const uint32_t who = last->thread[l], self = q->now.thread + i;
        if (!(what == LAUNCH_READ ? is_unknown(q, who, last->time[l], self, s->shared) >> 31
                                  : who != 0 && who != self))
            continue;
        thread->thread[l] = who;
        thread->time[l] = last->time[l];
        thread->stm[l] = last->stm[l];
        if (who - q->block_first < q->threads)
            continue;
        block->thread[l] = who;
        block->time[l] = last->time[l];
        block->stm[l] = last->stm[l];
    }
}

INLINED void put_now(const struct quick *q, const enum launch_kept what, const struct stretch *s)
{
    uint32_t *restrict thread = s->kept[what].thread + s->at;
    uint32_t *restrict time = s->kept[what].time + s->at;
    uint32_t *restrict stm = s->kept[what].stm + s->at;
    for (uint32_t i = 0; i < s->count; i++) {
        thread[i] = q->now.thread + i;
        time[i] = q->now.time;
        stm[i] = q->now.stm;
    }
}

INLINED void touch(const struct quick *q, const struct stretch *s, const enum access_kind kind)
{
    const uint8_t how = kind == ACCESS_ATOMIC ? LAUNCH_TOUCHED | LAUNCH_STRONGLY : LAUNCH_TOUCHED;
    q->chunks[s->location / LAUNCH_CHUNK] |= how;
    q->chunks[(s->location + s->count - 1) / LAUNCH_CHUNK] |= how;
    if (kind == ACCESS_WRITE && q->written && !are_all_written(q, s))
        memset(q->written + s->location, ALL_BYTES, s->count);
}

/* ---- rows (launch_race.h) ---- */

INLINED void open_rows(const struct quick *q, const struct stretch *s)
{
    if (s->shared)
        return;
    for (uint32_t r = s->place / LAUNCH_ROW; r <= (s->place + s->count - 1) / LAUNCH_ROW; r++)
        for (enum launch_kept what = 0; what <= LAUNCH_READ; what++)
            if (q->rows[what][r].thread != LAUNCH_OPEN)
                launch_open(&s->kept[what], &q->rows[what][r], r * LAUNCH_ROW % LAUNCH_CHUNK);
}

/* Who did it is of one warp, so what is unknown of one location is unknown of all. An open row's is. */
INLINED bool is_row_unknown(const struct quick *q, const struct launch_slot *row, uint32_t thread)
{
    return row->thread == LAUNCH_OPEN || is_unknown(q, row->thread, row->time, thread, false) >> 31;
}

/* A stretch of whole rows, read or written, where nobody is met and nothing but the last ones need be known. False:
 * nothing was done. */
INLINED bool visit_rows(const struct quick *q, const struct stretch *s, const enum access_kind kind)
{
    if (s->shared || s->place % LAUNCH_ROW != 0 || s->count % LAUNCH_ROW != 0 ||
        kind == ACCESS_ATOMIC)
        return false;
    const uint32_t count = s->count / LAUNCH_ROW;
    struct launch_slot *writes = q->rows[LAUNCH_WRITE] + s->place / LAUNCH_ROW,
                       *reads = q->rows[LAUNCH_READ] + s->place / LAUNCH_ROW;
    for (uint32_t r = 0; r < count; r++)
        if (is_row_unknown(q, &writes[r], q->now.thread + r * LAUNCH_ROW) ||
            is_row_unknown(q, &reads[r], q->now.thread + r * LAUNCH_ROW))
            return false;
    if ((kind == ACCESS_READ && are_unwritten(q, s)) || meet_strong(q, s, kind))
        return false;
    touch(q, s, kind);
    for (uint32_t r = 0; r < count; r++) {
        struct launch_slot *row = kind == ACCESS_READ ? &reads[r] : &writes[r];
        *row = q->now;
        row->thread += r * LAUNCH_ROW;
    }
    return true;
}

/* False: nothing was done. */
INLINED bool visit(const struct quick *q, const struct stretch *s, const enum access_kind kind)
{
    open_rows(q, s);
    if (may_meet(q, s, kind))
        return false;
    touch(q, s, kind);
    if (kind == ACCESS_READ && are_unknown(q, LAUNCH_READ, s)) {
        if (are_read(q, s))
            return true;
        push(q, LAUNCH_READ, s);
    }
    if (kind == ACCESS_ATOMIC)
        push(q, LAUNCH_STRONG, s);
    put_now(q,
            kind == ACCESS_READ    ? LAUNCH_READ
            : kind == ACCESS_WRITE ? LAUNCH_WRITE
                                   : LAUNCH_STRONG,
            s);
    return true;
}

/* How many lanes from the i-th on stand in a row, at locations in a row. */
INLINED uint32_t run_at(const struct access_row *row, uint32_t i)
{
    const uint32_t lane = row->order[i], location = row->location[lane];
    uint32_t n = 1;
    if (row->run)
        return row->count - i;
    while (i + n < row->count && row->order[i + n] == lane + n &&
           row->location[lane + n] == location + n)
        n++;
    return n;
}

/* How many lanes behind the i-th, which met nobody, read the same location, less two, which are remembered: whom the
 * others meet is not decided by who they are. */
INLINED uint32_t alike(const struct access_row *row, uint32_t i)
{
    uint32_t end = i + 1, location = row->location[row->order[i]];
    while (end < row->count && row->location[row->order[end]] == location)
        end++;
    return end - i > 3 ? end - i - 3 : 0;
}

INLINED struct stretch stretch_at(const struct quick *q, uint32_t location)
{
    const bool shared = location >= q->global_locations;
    const uint32_t place = location - (shared ? q->global_locations : 0);
    return (struct stretch){.location = location,
                            .count = 1,
                            .place = place,
                            .shared = shared,
                            .kept = (shared ? q->shared : q->global)[place / LAUNCH_CHUNK].kept,
                            .at = place % LAUNCH_CHUNK};
}

/* Of so many locations in a row those that lie in its memory and in its chunk. */
INLINED uint32_t within(const struct quick *q, const struct stretch *s, uint32_t count)
{
    const uint32_t chunk = LAUNCH_CHUNK - s->at;
    const uint32_t memory = s->shared ? UINT32_MAX : q->global_locations - s->location;
    const uint32_t most = chunk < memory ? chunk : memory;
    return count < most ? count : most;
}

INLINED uint32_t go(struct quick *q, const struct access_row *row, uint32_t i,
                    const enum access_kind kind)
{
    const uint32_t first = q->now.thread;
    for (uint32_t one_by_one = 0; i < row->count; i++) {
        const uint32_t lane = row->order[i];
        struct stretch s = stretch_at(q, row->location[lane]);
        q->now.thread = first + lane;
        if (i >= one_by_one) {
            s.count = within(q, &s, run_at(row, i));
            one_by_one = i + s.count;
            if (s.count >= RUN_LEAST && (visit_rows(q, &s, kind) || visit(q, &s, kind))) {
                i += s.count - 1;
                continue;
            }
            s.count = 1;
        }
        if (!visit(q, &s, kind))
            break;
        if (kind == ACCESS_READ && s.kept[LAUNCH_WRITE].thread[s.at] != q->now.thread)
            i += alike(row, i);
    }
    return i;
}

uint32_t launch_go_quickly(const struct launch_race *race, enum access_kind kind,
                           const struct access_row *row, uint32_t i)
{
    const struct ast_launch *launch = &race->program->launch;
    const uint32_t resident = row->first_thread / launch->threads;
    const struct sync_block *block = &race->sync.block[resident];
    struct quick q = {.global = race->global,
                      .shared = race->shared,
                      .written = race->written,
                      .rows = race->rows,
                      .chunks = race->chunks,
                      .threads = launch->threads,
                      .global_locations = race->global_locations,
                      .block_first = (race->first_block + resident) * launch->threads + 1,
                      .block_floor = block->floor,
                      .now = {.thread = race->first_block * launch->threads + row->first_thread + 1,
                              .time = block->clock,
                              .stm = row->stm}};
    return kind == ACCESS_READ    ? go(&q, row, i, ACCESS_READ)
           : kind == ACCESS_WRITE ? go(&q, row, i, ACCESS_WRITE)
                                  : go(&q, row, i, ACCESS_ATOMIC);
}
