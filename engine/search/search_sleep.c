/*
 * search_sleep.c - SEARCH_SLEEP: depth-first over states, with sleep sets.
 *
 * Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", 1996, chapter 5. Who has stepped from
 * a state sleeps in what the others lead to from there, until a step comes that its own depends on: what it would find
 * there is found by its own step first and the other's after it. So each state is reached, and fewer steps are taken;
 * where the machine lets some steps go first (R1 of caches), each in which the execution is over. A state is known with
 * who slept in it; reached again with fewer asleep, those that are awake now are made up for. Which steps depend on
 * each other the semantics says (semantics.touches); where it does not, nobody sleeps.
 *
 * A state is known by its hash, of 64 bits, and by nothing else: it takes 16 bytes, and two states of n are
 * taken for one with a probability of n^2 / 2^65.
 *
 * A sleeper has the bit of its number modulo 64. In a state in which two that can step have one bit, nobody sleeps.
 */
#include "engine/base/invariant.h"
#include "engine/base/stop.h"
#include "engine/search/search_internal.h"

/* hash 0: unused. */
struct visit {
    uint64_t hash, asleep;
};

/* A state on the current path, and the step that is being taken from it. */
struct moment {
    uint64_t asleep, left; /* left: who steps from here, and has not yet */
    uint64_t behind;       /* who sleeps behind the step at hand */
    uint32_t number;       /* whose step that is; SEARCH_NONE: nobody's yet */
    uint32_t log_mark;     /* of the state itself */
    uint32_t first_inner;  /* the choices in the step */
};

struct sleeping {
    struct search *search;
    struct visit *visits;
    uint32_t mask, known;
    struct pool moments; /* struct moment */
    struct pool inner;   /* struct script_choice, of the path */
};

static uint64_t bit(uint32_t number)
{
    return (uint64_t)1 << number % 64;
}

/* ---- states that are known ---- */

static struct visit *find(const struct sleeping *s, uint64_t hash)
{
    uint32_t at = (uint32_t)(hash >> 7) & s->mask;
    while (s->visits[at].hash && s->visits[at].hash != hash)
        at = (at + 1) & s->mask;
    return &s->visits[at];
}

static bool grow(struct sleeping *s)
{
    struct search *search = s->search;
    uint32_t slots = s->visits ? 2 * (s->mask + 1) : 1024;
    const struct visit *old = s->visits;
    if (search->arena->used + slots * sizeof *old > search->byte_limit) {
        search_cut(search, "bytes");
        return false;
    }
    uint32_t before = old ? s->mask + 1 : 0;
    s->visits = ARENA_ARRAY(search->arena, struct visit, slots);
    s->mask = slots - 1;
    for (uint32_t i = 0; i < before; i++)
        if (old[i].hash)
            *find(s, old[i].hash) = old[i];
    return true;
}

/* Who can step, as bits; 0: two of them have one. */
static uint64_t live_bits(const struct machine *machine)
{
    const struct machine_head *head = machine->head;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < head->live_count; i++) {
        if (bits & bit(head->live[i]))
            return 0;
        bits |= bit(head->live[i]);
    }
    return bits;
}

/* The state's visit, a new one if need be: its hash is 0 then. NULL: a bound. */
static struct visit *visit_of(struct sleeping *s, uint64_t hash)
{
    struct search *search = s->search;
    if (s->known * 2 > s->mask && !grow(s))
        return NULL;
    struct visit *visit = find(s, hash);
    if (!visit->hash && s->known == search->options->max_states) {
        search_cut(search, "states");
        return NULL;
    }
    s->known += !visit->hash;
    return visit;
}

/* The machine's state becomes the last of the path, if somebody is to step from it. False: nobody, or a bound. */
static bool enter(struct sleeping *s, uint64_t asleep)
{
    const struct machine *machine = s->search->machine;
    bool runs = machine_status(machine) == STATUS_RUNNING;
    uint64_t live = runs ? live_bits(machine) : 0;
    uint64_t hash = machine->track.hash ? machine->track.hash : 1;
    struct visit *visit = visit_of(s, hash);
    if (!visit)
        return false;
    struct moment moment = {.asleep = asleep & live,
                            .left = live   ? live & ~asleep
                                    : runs ? UINT64_MAX
                                           : 0,
                            .number = SEARCH_NONE,
                            .log_mark = machine->track.log_count,
                            .first_inner = s->inner.count};
    s->search->result->ends += !visit->hash && !runs;
    if (visit->hash) {
        moment.left = visit->asleep & ~moment.asleep;
        moment.asleep &= visit->asleep;
    }
    *visit = (struct visit){hash, moment.asleep};
    if (moment.left)
        *(struct moment *)pool_add(&s->moments, s->search->arena) = moment;
    return moment.left != 0;
}

/* ---- steps ---- */

static struct moment *last(const struct sleeping *s)
{
    return pool_at(&s->moments, s->moments.count - 1);
}

static void keep_script(struct sleeping *s)
{
    const struct script *script = &s->search->script;
    s->inner.count = last(s)->first_inner;
    for (uint32_t i = 0; i < script->count; i++)
        *(struct script_choice *)pool_add(&s->inner, s->search->arena) = script->list[i];
}

static void load_script(struct sleeping *s)
{
    struct script *script = &s->search->script;
    script_start(script);
    for (uint32_t i = last(s)->first_inner; i < s->inner.count; i++)
        script->list[script->count++] = *(struct script_choice *)pool_at(&s->inner, i);
}

/* Of those that sleep here, who still does behind a step of `number`. */
static uint64_t asleep_behind(const struct machine *machine, uint64_t asleep, uint32_t number)
{
    const struct machine_head *head = machine->head;
    struct touches own, other;
    uint64_t still = 0;
    if (!asleep || !machine->semantics->touches)
        return 0;
    machine->semantics->touches(machine, number, &own);
    for (uint32_t i = 0; i < head->live_count; i++) {
        if (!(asleep & bit(head->live[i])))
            continue;
        machine->semantics->touches(machine, head->live[i], &other);
        still |= touches_meet(&own, &other) ? 0 : bit(head->live[i]);
    }
    return still;
}

/* The next one whose step is to be taken; SEARCH_NONE: all have been. Where nobody may sleep numbers are taken as they
 * come. */
static uint32_t next_number(const struct machine *machine, const struct moment *moment)
{
    const struct machine_head *head = machine->head;
    bool in_order = live_bits(machine) == 0, past = moment->number == SEARCH_NONE;
    for (uint32_t i = 0; i < head->live_count; i++) {
        if (in_order ? past : (moment->left & bit(head->live[i])) != 0)
            return head->live[i];
        past |= head->live[i] == moment->number;
    }
    return SEARCH_NONE;
}

/* The same step with other choices inside, or the next one's. False: nothing is left here. */
static bool next_step(struct sleeping *s)
{
    struct machine *machine = s->search->machine;
    struct moment *moment = last(s);
    if (moment->number != SEARCH_NONE) {
        load_script(s);
        if (script_next(&s->search->script))
            return true;
        if (live_bits(machine))
            moment->asleep |= bit(moment->number);
    }
    s->inner.count = moment->first_inner;
    moment->number = next_number(machine, moment);
    if (moment->number == SEARCH_NONE)
        return false;
    moment->left &= ~bit(moment->number);
    moment->behind = asleep_behind(machine, moment->asleep, moment->number);
    script_start(&s->search->script);
    return true;
}

static bool within_bounds(struct sleeping *s)
{
    struct search *search = s->search;
    const struct track *track = &search->machine->track;
    const char *stopped = stop_reason(search->options->stop);
    if (stopped)
        search_cut(search, stopped);
    else if (search->result->steps == search->step_limit)
        search_cut(search, "steps");
    else if (s->moments.count > search->options->max_depth ||
             track->log_count + search->step_entries > track->log_capacity) {
        search_cut(search, "depth");
        search->result->cut_depth = s->moments.count - 1;
    } else if (search->arena->used > search->byte_limit)
        search_cut(search, "bytes");
    return search->result->complete;
}

static struct tape *path(const struct sleeping *s)
{
    struct tape *tape = tape_new(s->search->arena, s->moments.count + s->inner.count);
    for (uint32_t i = 0; i < s->moments.count; i++) {
        const struct moment *moment = pool_at(&s->moments, i);
        bool is_last = i + 1 == s->moments.count;
        uint32_t end =
            is_last ? s->inner.count : ((struct moment *)pool_at(&s->moments, i + 1))->first_inner;
        tape_add(tape, moment->number);
        for (uint32_t k = moment->first_inner; k < end; k++)
            tape_add(tape,
                     TAPE_INNER | ((const struct script_choice *)pool_at(&s->inner, k))->value);
    }
    return tape;
}

static void note_outcome(struct sleeping *s)
{
    bool is_new;
    uint32_t outcome = search_outcome(s->search, &is_new);
    if (is_new)
        s->search->result->outcomes[outcome].tape = path(s);
}

static void take_step(struct sleeping *s)
{
    struct search *search = s->search;
    struct moment *moment = last(s);
    uint64_t behind = moment->behind;
    machine_step(search->machine, moment->number, &search->script.choices);
    search->result->steps++;
    keep_script(s);
    if (machine_status(search->machine) != STATUS_RUNNING)
        note_outcome(s);
    if (!enter(s, behind))
        machine_undo(search->machine, last(s)->log_mark);
}

void search_sleep(struct search *search)
{
    struct sleeping s = {.search = search,
                         .moments = {.record = sizeof(struct moment)},
                         .inner = {.record = sizeof(struct script_choice)}};
    if (machine_status(search->machine) != STATUS_RUNNING)
        note_outcome(&s);
    if (grow(&s))
        (void)enter(&s, 0);
    while (s.moments.count > 0 && search->result->complete) {
        if (next_step(&s)) {
            if (within_bounds(&s))
                take_step(&s);
            continue;
        }
        s.moments.count--;
        if (s.moments.count > 0)
            machine_undo(search->machine, last(&s)->log_mark);
    }
    search->result->states += s.known;
    search->result->transitions += search->result->steps;
    search_note_bytes(search);
}
