/*
 * follow_promise.c - what each schedule promises of who steps (engine/schedule/sched.h), asked of every step of an
 * execution:
 *
 *     sequential, reverse    nobody lower, higher can step
 *     round robin            who stepped last goes on for its quantum, then comes the next one that can, in a circle
 *     starve                 the victim steps only if nobody else can
 *     unfair:N               behind N steps: nobody steps twice while somebody else could all the time, and did not
 *     pct:d                  whoever has passed somebody by stays before him, but for d - 1 changes of one actor each
 *
 * Uniform walks, POS and SURW promise nothing of a single execution; a tape is held to what it says by whoever replays
 * it. Not asked: unfair:N and pct:d of more than 32 actors, and machines whose actors have several alternatives.
 */
#include "oracle/follow/follow_ptx.h"

#include <string.h>

enum { PROMISE_ACTORS = 32 };
#define NOBODY UINT32_MAX

struct follow_promise {
    struct sched_spec spec;
    bool now;
    uint32_t last, run; /* who stepped last; round robin: so many steps of its quantum */
    uint64_t steps;
    uint32_t changes; /* pct: of priorities, that were seen */
    /* unfair: b has been able to step since a stepped; pct: a has stepped where b could */
    bool before[PROMISE_ACTORS][PROMISE_ACTORS];
};

static bool can_step(const struct follower *f, uint32_t actor)
{
    if (f->reference)
        return ref_is_live(f->reference, actor);
    return !f->ptx->groups[actor].ended && !follow_ptx_waits(&f->ptx->groups[actor]);
}

/* The first that can, from an actor on, in a circle. */
static uint32_t next_from(const struct follower *f, uint32_t from)
{
    uint32_t count = f->machine->actor_count;
    for (uint32_t i = 0; i < count; i++)
        if (can_step(f, (from + i) % count))
            return (from + i) % count;
    return NOBODY;
}

static uint32_t highest(const struct follower *f)
{
    for (uint32_t i = f->machine->actor_count; i-- > 0;)
        if (can_step(f, i))
            return i;
    return NOBODY;
}

static uint32_t in_turn(const struct follower *f, struct follow_promise *p)
{
    uint32_t quantum = p->spec.quantum ? p->spec.quantum : 1;
    bool goes_on = p->last != NOBODY && p->run < quantum && can_step(f, p->last);
    p->run = goes_on ? p->run + 1 : 1;
    return goes_on ? p->last : next_from(f, p->last == NOBODY ? 0 : p->last + 1);
}

/* Somebody who has been passed over although he could step all the time since the actor's last step. */
static uint32_t overdue(const struct follower *f, struct follow_promise *p, uint32_t actor)
{
    uint32_t count = f->machine->actor_count, found = NOBODY;
    if (p->steps <= p->spec.prefix)
        return NOBODY;
    for (uint32_t b = 0; b < count; b++) {
        bool able = can_step(f, b);
        for (uint32_t a = 0; a < count; a++)
            p->before[a][b] = p->before[a][b] && able && b != actor;
        if (p->before[actor][b] && found == NOBODY)
            found = b;
        p->before[actor][b] = able && b != actor;
    }
    return found;
}

/*
 * Somebody who would have come first, where nothing may change any more. What has changed since is the priority of
 * those who had passed the actor by, or his alone: behind a second change it may be higher than behind the first.
 */
static uint32_t preferred(const struct follower *f, struct follow_promise *p, uint32_t actor)
{
    uint32_t count = f->machine->actor_count, found = NOBODY;
    for (uint32_t x = 0; x < count; x++) {
        if (x == actor || !can_step(f, x))
            continue;
        if (p->before[x][actor]) {
            memset(p->before[x], 0, sizeof p->before[x]);
            found = x;
        }
        p->before[actor][x] = true;
    }
    if (found == NOBODY)
        return NOBODY;
    for (uint32_t x = 0; x < count; x++)
        p->before[x][actor] = false;
    return ++p->changes >= p->spec.depth ? found : NOBODY;
}

/* Whom the schedule should have taken; the actor itself: it may. */
static uint32_t expected(const struct follower *f, struct follow_promise *p, uint32_t actor)
{
    uint32_t other = actor;
    switch ((int)p->spec.kind) {
    case SCHED_SEQUENTIAL:
        return next_from(f, 0);
    case SCHED_REVERSE:
        return highest(f);
    case SCHED_ROUND_ROBIN:
        return in_turn(f, p);
    case SCHED_STARVE:
        return actor == p->spec.victim ? next_from(f, actor + 1) : actor;
    case SCHED_UNFAIR_FAIR:
        other = overdue(f, p, actor);
        break;
    case SCHED_PCT:
        other = preferred(f, p, actor);
        break;
    }
    return other == NOBODY ? actor : other;
}

void follow_promise_start(struct follower *f, struct arena *arena, const struct sched_spec *spec)
{
    bool pairs = spec->kind == SCHED_UNFAIR_FAIR || spec->kind == SCHED_PCT;
    if (!f->promise)
        f->promise = ARENA_NEW(arena, struct follow_promise);
    struct follow_promise *p = f->promise;
    p->spec = *spec;
    p->now = !f->caches && f->machine->alternatives == f->machine->actor_count &&
             !(pairs && f->machine->actor_count > PROMISE_ACTORS);
    p->last = NOBODY;
    p->run = p->changes = 0;
    p->steps = 0;
    if (pairs)
        memset(p->before, 0, sizeof p->before);
}

void follow_promise_leave(struct follower *f)
{
    if (f->promise)
        f->promise->now = false;
}

void follow_promise_step(struct follower *f, uint32_t actor)
{
    struct follow_promise *p = f->promise;
    if (!p || !p->now)
        return;
    p->steps++;
    uint32_t other = expected(f, p, actor);
    p->last = actor;
    if (other == actor)
        return;
    f->against_policy = true;
    follow_part_numbers(f, "actor that steps", actor, other);
}
