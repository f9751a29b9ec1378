/*
 * follow_promise.c - what each schedule promises of who steps (engine/schedule/sched.h), asked of every step of an
 * execution:
 *
 *     sequential, reverse    nobody lower, higher can step
 *     round robin            who stepped last goes on for its quantum, then comes the next one that can, in a circle
 *
 * What schedules that draw do is follow_walks.c; a tape is held to what it says by whoever replays it. Machines whose
 * actors have several alternatives are not asked about.
 */
#include "oracle/steps/follow_ptx.h"

#define NOBODY UINT32_MAX

struct follow_promise {
    struct sched_spec spec;
    bool now;
    uint32_t next;      /* whom it takes, if it draws and that is known; NOBODY */
    uint32_t last, run; /* who stepped last; round robin: so many steps of its quantum */
};

bool follow_can_step(const struct follower *f, uint32_t actor)
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
        if (follow_can_step(f, (from + i) % count))
            return (from + i) % count;
    return NOBODY;
}

static uint32_t highest(const struct follower *f)
{
    for (uint32_t i = f->machine->actor_count; i-- > 0;)
        if (follow_can_step(f, i))
            return i;
    return NOBODY;
}

static uint32_t in_turn(const struct follower *f, struct follow_promise *p)
{
    uint32_t quantum = p->spec.quantum ? p->spec.quantum : 1;
    bool goes_on = p->last != NOBODY && p->run < quantum && follow_can_step(f, p->last);
    p->run = goes_on ? p->run + 1 : 1;
    return goes_on ? p->last : next_from(f, p->last == NOBODY ? 0 : p->last + 1);
}

/* Whom the schedule should have taken; NOBODY: that is not known. */
static uint32_t expected(struct follower *f, struct follow_promise *p)
{
    switch ((int)p->spec.kind) {
    case SCHED_SEQUENTIAL:
        return next_from(f, 0);
    case SCHED_REVERSE:
        return highest(f);
    case SCHED_ROUND_ROBIN:
        return in_turn(f, p);
    }
    return p->next;
}

void follow_promise_start(struct follower *f, struct arena *arena, const struct sched_spec *spec)
{
    if (!f->promise)
        f->promise = ARENA_NEW(arena, struct follow_promise);
    struct follow_promise *p = f->promise;
    p->spec = *spec;
    p->now = !f->caches && f->machine->alternatives == f->machine->actor_count;
    p->last = p->next = NOBODY;
    p->run = 0;
    if (p->now)
        follow_walk_start(f, arena, spec);
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
    uint32_t other = expected(f, p);
    p->last = actor;
    p->next = NOBODY;
    f->turn_known = other != NOBODY;
    if (other == NOBODY || other == actor)
        return;
    f->against_policy = true;
    follow_part_numbers(f, "actor that steps", actor, other);
}

/* Before the step: the machine says what the next steps access. */
void follow_promise_pick(struct follower *f)
{
    struct follow_promise *p = f->promise;
    if (p && p->now && f->state == FOLLOW_ALONG)
        p->next = follow_walk_next(f);
}

void follow_promise_choice(struct follower *f, uint32_t n, uint32_t choice)
{
    struct follow_promise *p = f->promise;
    if (!p || !p->now || n < 2 || f->state != FOLLOW_ALONG)
        return;
    uint32_t other = follow_walk_choice(f, n);
    if (other == NOBODY || other == choice)
        return;
    f->against_policy = true;
    follow_part_numbers(f, "choice that is drawn", choice, other);
}
