/*
 * dpor.c - SEARCH_DPOR: one execution of each Mazurkiewicz trace, roughly.
 *
 * Flanagan and Godefroid, "Dynamic Partial-Order Reduction for Model Checking Software", POPL 2005,
 * with what Abdulla, Aronsson, Jonsson and Sagonas, "Optimal Dynamic Partial Order Reduction", POPL
 * 2014, made of it: races are looked for when a step has been taken, from what it really accessed, and
 * backtracking points are source sets (their algorithm 1), with Godefroid's sleep sets.
 *
 * Two steps depend on each other iff they belong to one actor, or access one word of global or shared
 * memory and one of them writes (an atomic does both).
 *
 * A barrier's release comes within the step of the last actor to stop, whoever that is, so it is an
 * event of its own here: it happens after all that the block's actors have done, and before all that
 * they do next; its clock is the join of theirs. The arrivals are independent: their order is not
 * explored. What was not released cannot have happened without one of the arrivals, so a release is not
 * reversed with anything. An actor that waits is not enabled.
 * An error is not an end here: it ends its actor, as a step that only
 * reads. The other actors go on, since what they would have done need not depend on it; so every error
 * that some execution has is found, and only executions without one have a final store.
 */
#include "engine/search/search_internal.h"

#include "engine/base/invariant.h"
#include "engine/base/stop.h"

#include <string.h>

enum { DPOR_ACTORS = 64 };

typedef uint64_t actor_mask; /* bit k = actor k */

struct access {
    uint32_t address;
    uint32_t event;     /* depth of its node */
    uint32_t previous;  /* access of this word: number + 1 */
    bool write, atomic; /* an atomic writes, too */
};

/* Accesses of a step: (address << 1) | write, in the pool `lists`. */
struct access_list {
    uint32_t first, count;
    uint64_t reads, writes; /* bit address % 64: two lists without a common bit are independent */
};

/* An actor that need not step before something dependent on its next step has happened. */
struct sleeper {
    uint32_t actor;
    struct access_list list;
};

/* A state on the current execution, and the step (event) that is being taken from it. */
struct node {
    actor_mask live;   /* that can step: neither final nor ended by an error */
    actor_mask failed; /* ended by an error */
    actor_mask backtrack, sleep;
    uint32_t first_sleeper, first_list, first_access,
        first_inner; /* what lies above is not older */
    uint32_t log_mark;
    uint32_t actor;          /* SEARCH_NONE: none chosen yet */
    uint32_t local;          /* number of the event among its actor's, from 1 */
    uint32_t earlier;        /* the actor's event before this one: depth + 1 */
    bool fails;              /* the event is an error */
    uint32_t released;       /* block that the event released + 1 */
    uint32_t release_before; /* the block's release before that one */
    struct access_list list; /* of the event, over all its inner choices so far */
};

struct dpor {
    struct search *search;
    uint32_t actors;
    uint32_t depth; /* of the topmost node */
    struct pool nodes;
    struct pool clocks;   /* an event: of each actor, how many events happen before it or are it */
    struct pool joins;    /* an event that released a block: the clock of the release */
    struct pool accesses; /* of all events, in order */
    struct pool lists, sleepers;
    struct pool inner;              /* struct script_choice */
    uint32_t *heads;                /* a word: its last access, number + 1 */
    uint32_t last[DPOR_ACTORS];     /* event of each actor: depth + 1 */
    uint32_t release[LIMIT_BLOCKS]; /* latest of each block: its event's depth + 1 */
    uint32_t released;              /* block that the step at hand released + 1 */
    size_t used_at_start;           /* of the arena */
};

static struct node *node_at(const struct dpor *d, uint32_t depth)
{
    return pool_at(&d->nodes, depth);
}

static uint32_t *clock_at(const struct dpor *d, uint32_t depth)
{
    return pool_at(&d->clocks, depth);
}

static struct access *access_at(const struct dpor *d, uint32_t number)
{
    return pool_at(&d->accesses, number);
}

static actor_mask bit(uint32_t actor)
{
    return (actor_mask)1 << actor;
}

static uint32_t lowest_actor(actor_mask mask)
{
    return (uint32_t)__builtin_ctzll(mask);
}

/* ---- what a step accesses ---- */

static bool in_list(const struct dpor *d, const struct access_list *list, uint32_t item)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (*(uint32_t *)pool_at(&d->lists, list->first + i) == item)
            return true;
    return false;
}

static void add_access(struct dpor *d, uint32_t address, bool write, bool atomic)
{
    struct access_list *list = &node_at(d, d->depth)->list;
    uint64_t *mask = write ? &list->writes : &list->reads;
    uint32_t item = (address << 1) | write;
    *(struct access *)pool_add(&d->accesses, d->search->arena) =
        (struct access){.address = address, .event = d->depth, .write = write, .atomic = atomic};
    if ((*mask & bit(address % 64)) && in_list(d, list, item))
        return;
    *mask |= bit(address % 64);
    *(uint32_t *)pool_add(&d->lists, d->search->arena) = item;
    list->count++;
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)thread;
    (void)stm;
    add_access(context, address, false, false);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)thread;
    (void)value;
    (void)stm;
    add_access(context, address, true, false);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)thread;
    (void)value;
    (void)stm;
    add_access(context, address, true, true);
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct dpor *d = context;
    (void)machine;
    d->released = event->block + 1;
}

static uint32_t block_of(const struct dpor *d, uint32_t actor)
{
    return actor / (d->actors / d->search->machine->program->launch.blocks);
}

static bool depend(const struct dpor *d, const struct access_list *a, const struct access_list *b)
{
    if (!((a->writes & (b->reads | b->writes)) | (a->reads & b->writes)))
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t x = *(uint32_t *)pool_at(&d->lists, a->first + i);
        for (uint32_t j = 0; j < b->count; j++) {
            uint32_t y = *(uint32_t *)pool_at(&d->lists, b->first + j);
            if (x >> 1 == y >> 1 && ((x | y) & 1))
                return true;
        }
    }
    return false;
}

/* ---- races and backtracking points ---- */

/* Whether event e happens before the event with that clock. */
static bool before(const struct dpor *d, uint32_t e, const uint32_t *clock)
{
    const struct node *node = node_at(d, e);
    return clock[node->actor] >= node->local;
}

/* Actors of which no event in `first` (their first ones in a sequence) happens before `clock`. */
static bool nothing_before(const uint32_t *first, actor_mask there, const uint32_t *clock)
{
    for (; there; there &= there - 1) {
        uint32_t actor = lowest_actor(there);
        if (clock[actor] >= first[actor])
            return false;
    }
    return true;
}

/*
 * The initials of v = notdep(e, E) . p, where E ends before event `now` of actor p: the actors whose
 * first event in v has none of v before it. `clock` is what is known of now's clock: all events of v
 * that happen before it.
 */
static actor_mask initials(const struct dpor *d, uint32_t e, uint32_t now, const uint32_t *clock)
{
    uint32_t first[DPOR_ACTORS];
    actor_mask there = 0, initial = 0;
    for (uint32_t i = e + 1; i <= now; i++) {
        uint32_t actor = node_at(d, i)->actor;
        const uint32_t *own = i < now ? clock_at(d, i) : clock;
        if ((i < now && before(d, e, own)) || (there & bit(actor)))
            continue;
        if (nothing_before(first, there, own))
            initial |= bit(actor);
        there |= bit(actor);
        first[actor] = node_at(d, i)->local;
    }
    return initial;
}

/* Events e and `now` race: from the state before e, some execution must start with an initial of what
 * leads to `now` without e. Sleeping ones have been explored elsewhere. */
static void reverse_race(struct dpor *d, uint32_t e, uint32_t now, const uint32_t *clock)
{
    struct node *node = node_at(d, e);
    actor_mask initial = initials(d, e, now, clock);
    uint32_t actor = node_at(d, now)->actor;
    if (initial & (node->backtrack | node->sleep))
        return;
    node->backtrack |= initial & bit(actor) ? bit(actor) : bit(lowest_actor(initial));
}

/* Of each other actor, the latest event that `now` depends on through some word: `events`, as depths
 * in descending order; returns how many. */
static uint32_t find_dependent(const struct dpor *d, uint32_t now, uint32_t *events)
{
    const struct node *node = node_at(d, now);
    uint32_t latest[DPOR_ACTORS] = {0}, count = 0;
    for (uint32_t i = node->first_access; i < d->accesses.count; i++) {
        const struct access *mine = access_at(d, i);
        for (uint32_t at = d->heads[mine->address]; at; at = access_at(d, at - 1)->previous) {
            const struct access *other = access_at(d, at - 1);
            uint32_t actor = node_at(d, other->event)->actor;
            if ((other->write || mine->write) && latest[actor] <= other->event)
                latest[actor] = other->event + 1;
            if (other->write) /* it happens after all accesses before it */
                break;
        }
    }
    latest[node->actor] = 0;
    for (uint32_t actor = 0; actor < d->actors; actor++) {
        uint32_t j = count;
        if (latest[actor] == 0)
            continue;
        for (count++; j > 0 && events[j - 1] < latest[actor] - 1; j--)
            events[j] = events[j - 1];
        events[j] = latest[actor] - 1;
    }
    return count;
}

/* Whether the access `mine`, of the event just taken, and an earlier one are a race of the program
 * (lockstep-cfg Defs. 3.1, 4.1): no release of a common block lies between. */
static bool is_race(const struct dpor *d, const struct access *mine, const struct access *other)
{
    uint32_t actor = node_at(d, mine->event)->actor, them = node_at(d, other->event)->actor;
    uint32_t block = block_of(d, actor);
    bool conflict = (mine->write || other->write) && !(mine->atomic && other->atomic);
    bool ordered = block == block_of(d, them) && other->event < d->release[block];
    return actor != them && conflict && !ordered;
}

/* A plain write is as far as one need look back: what raced with it, has been found, and all else before
 * it is ordered before the event just taken if it is. */
static bool finds_race(const struct dpor *d, uint32_t now)
{
    for (uint32_t i = node_at(d, now)->first_access; i < d->accesses.count; i++) {
        const struct access *mine = access_at(d, i);
        for (uint32_t at = d->heads[mine->address]; at; at = access_at(d, at - 1)->previous) {
            const struct access *other = access_at(d, at - 1);
            if (is_race(d, mine, other))
                return true;
            if (other->write && !other->atomic)
                break;
        }
    }
    return false;
}

static void join(const struct dpor *d, uint32_t *clock, const uint32_t *other)
{
    for (uint32_t actor = 0; actor < d->actors; actor++)
        if (other[actor] > clock[actor])
            clock[actor] = other[actor];
}

/* What the actor knows before its event at `node`: its event before, or the release that came since. */
static void start_clock(const struct dpor *d, const struct node *node, uint32_t *clock)
{
    uint32_t release = d->release[block_of(d, node->actor)];
    if (release > 0 && release >= node->earlier)
        memcpy(clock, pool_at(&d->joins, release - 1), d->actors * sizeof *clock);
    else if (node->earlier)
        memcpy(clock, clock_at(d, node->earlier - 1), d->actors * sizeof *clock);
    else
        memset(clock, 0, d->actors * sizeof *clock);
}

/* The event just taken has released a block. */
static void add_release(struct dpor *d)
{
    struct node *node = node_at(d, d->depth);
    uint32_t block = d->released - 1, *clock = pool_at(&d->joins, d->depth);
    node->released = d->released;
    node->release_before = d->release[block];
    memcpy(clock, clock_at(d, d->depth), d->actors * sizeof *clock);
    for (uint32_t actor = 0; actor < d->actors; actor++)
        if (block_of(d, actor) == block && d->last[actor])
            join(d, clock, clock_at(d, d->last[actor] - 1));
    d->release[block] = d->depth + 1;
}

/* The clock of the event just taken, and the races that it closes: those dependent events that do not
 * happen before it through another one. */
static void analyse(struct dpor *d)
{
    struct node *node = node_at(d, d->depth);
    uint32_t *clock = clock_at(d, d->depth), events[DPOR_ACTORS];
    uint32_t count = find_dependent(d, d->depth, events);
    d->search->result->race = d->search->result->race || finds_race(d, d->depth);
    start_clock(d, node, clock);
    for (uint32_t i = 0; i < count; i++) {
        if (before(d, events[i], clock))
            continue;
        reverse_race(d, events[i], d->depth, clock);
        join(d, clock, clock_at(d, events[i]));
    }
    clock[node->actor] = node->local;
    node->released = 0;
    if (d->released)
        add_release(d);
}

/* ---- taking steps ---- */

static void load_script(struct dpor *d)
{
    struct script *script = &d->search->script;
    const struct node *node = node_at(d, d->depth);
    script_start(script);
    for (uint32_t i = node->first_inner; i < d->inner.count; i++)
        script->list[script->count++] = *(struct script_choice *)pool_at(&d->inner, i);
}

static void keep_script(struct dpor *d)
{
    const struct script *script = &d->search->script;
    d->inner.count = node_at(d, d->depth)->first_inner;
    for (uint32_t i = 0; i < script->count; i++)
        *(struct script_choice *)pool_add(&d->inner, d->search->arena) = script->list[i];
}

/* The execution up to the topmost event; earlier errors are left out, so that it goes on. */
static struct tape *current_tape(const struct dpor *d)
{
    struct tape *tape = tape_new(d->search->arena, d->depth + 1 + d->inner.count);
    for (uint32_t i = 0; i <= d->depth; i++) {
        const struct node *node = node_at(d, i);
        uint32_t end = i < d->depth ? node_at(d, i + 1)->first_inner : d->inner.count;
        if (node->fails && i < d->depth)
            continue;
        tape_add(tape, node->actor);
        for (uint32_t j = node->first_inner; j < end; j++)
            tape_add(tape,
                     TAPE_INNER | ((const struct script_choice *)pool_at(&d->inner, j))->value);
    }
    return tape;
}

static void note_outcome(struct dpor *d)
{
    bool is_new;
    uint32_t outcome = search_outcome(d->search, &is_new);
    if (is_new)
        d->search->result->outcomes[outcome].tape = current_tape(d);
}

static bool within_bounds(struct dpor *d)
{
    enum { STEP_BYTES = 1 << 20 }; /* more than one step's accesses take */
    struct search *search = d->search;
    const struct track *track = &search->machine->track;
    /* Every table may double at once, and no more than what they hold is added. */
    size_t used = search->arena->used;
    const char *stopped = stop_reason(search->options->stop);
    if (stopped)
        search_cut(search, stopped);
    else if (search->result->steps >=
             search->step_limit) /* looking for races may have gone beyond */
        search_cut(search, "steps");
    else if (d->depth == search->options->max_depth ||
             track->log_count + search->step_entries > track->log_capacity) {
        search_cut(search, "depth");
        search->result->cut_depth = d->depth;
    } else if (used + (used - d->used_at_start) + STEP_BYTES > search->byte_limit)
        search_cut(search, "bytes");
    return search->result->complete;
}

/* The chosen actor steps from the topmost node, with the inner choices kept there. */
static void take_step(struct dpor *d)
{
    struct node *node = node_at(d, d->depth);
    struct machine *machine = d->search->machine;
    d->search->result->steps++;
    node->earlier = d->last[node->actor];
    node->local = node->earlier ? node_at(d, node->earlier - 1)->local + 1 : 1;
    load_script(d);
    d->released = 0;
    machine_step(machine, node->actor, &d->search->script.choices);
    keep_script(d);
    analyse(d);
    for (uint32_t i = node->first_access; i < d->accesses.count; i++) {
        struct access *access = access_at(d, i);
        access->previous = d->heads[access->address];
        d->heads[access->address] = i + 1;
    }
    d->last[node->actor] = d->depth + 1;
    enum status status = machine_status(machine);
    node->fails = status != STATUS_RUNNING && status != STATUS_TERMINATED;
    if (status != STATUS_RUNNING)
        note_outcome(d);
    if (node->fails)
        machine_undo(machine, node->log_mark);
}

static void take_back(struct dpor *d)
{
    struct node *node = node_at(d, d->depth);
    while (d->accesses.count > node->first_access) {
        const struct access *access = access_at(d, --d->accesses.count);
        d->heads[access->address] = access->previous;
    }
    d->last[node->actor] = node->earlier;
    if (node->released)
        d->release[node->released - 1] = node->release_before;
    machine_undo(d->search->machine, node->log_mark);
}

/* ---- the tree ---- */

static actor_mask live_mask(const struct machine *machine)
{
    actor_mask mask = 0;
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        mask |= bit(machine->head->live[i]);
    return mask;
}

static void add_sleeper(struct dpor *d, struct node *node, const struct sleeper *sleeper)
{
    node->sleep |= bit(sleeper->actor);
    *(struct sleeper *)pool_add(&d->sleepers, d->search->arena) = *sleeper;
}

/* The node after the topmost event (`parent` NULL: the initial one). */
static void add_node(struct dpor *d, const struct node *parent)
{
    struct arena *arena = d->search->arena;
    if (parent)
        d->depth++;
    if (d->depth == d->nodes.count) {
        pool_add(&d->nodes, arena);
        pool_add(&d->clocks, arena);
        pool_add(&d->joins, arena);
    }
    struct node *node = node_at(d, d->depth);
    *node = (struct node){
        .failed = parent ? parent->failed | (parent->fails ? bit(parent->actor) : 0) : 0,
        .first_sleeper = d->sleepers.count,
        .first_list = d->lists.count,
        .first_access = d->accesses.count,
        .first_inner = d->inner.count,
        .log_mark = d->search->machine->track.log_count,
        .actor = SEARCH_NONE,
    };
    node->live = live_mask(d->search->machine) & ~node->failed;
    for (uint32_t i = parent ? parent->first_sleeper : 0; i < node->first_sleeper; i++) {
        const struct sleeper *sleeper = pool_at(&d->sleepers, i);
        if (!depend(d, &sleeper->list, &parent->list))
            add_sleeper(d, node, sleeper);
    }
    if (node->live & ~node->sleep)
        node->backtrack = bit(lowest_actor(node->live & ~node->sleep));
    if (node->live == 0)
        d->search->result->executions++;
}

static void drop_node(struct dpor *d)
{
    const struct node *node = node_at(d, d->depth);
    d->sleepers.count = node->first_sleeper;
    d->lists.count = node->first_list;
    d->inner.count = node->first_inner;
}

/* Chooses what the topmost node does next: the same step with other inner choices, or else another
 * actor; the one before sleeps then. False: nothing is left. */
static bool next_step(struct dpor *d)
{
    struct node *node = node_at(d, d->depth);
    if (node->actor != SEARCH_NONE) {
        load_script(d);
        if (script_next(&d->search->script)) {
            keep_script(d);
            return true;
        }
        const struct sleeper sleeper = {node->actor, node->list};
        add_sleeper(d, node, &sleeper);
    }
    actor_mask open = node->backtrack & ~node->sleep;
    if (open == 0)
        return false;
    node->actor = lowest_actor(open);
    node->list = (struct access_list){.first = d->lists.count};
    d->inner.count = node->first_inner;
    return true;
}

void search_dpor(struct search *search)
{
    struct machine *machine = search->machine;
    if (machine->actor_count > DPOR_ACTORS) {
        search_cut(search, "actors");
        return;
    }
    struct dpor d = {
        .search = search,
        .actors = machine->actor_count,
        .nodes = {.record = sizeof(struct node)},
        .clocks = {.record = machine->actor_count * sizeof(uint32_t)},
        .joins = {.record = machine->actor_count * sizeof(uint32_t)},
        .accesses = {.record = sizeof(struct access)},
        .lists = {.record = sizeof(uint32_t)},
        .sleepers = {.record = sizeof(struct sleeper)},
        .inner = {.record = sizeof(struct script_choice)},
        .heads = ARENA_ARRAY(search->arena, uint32_t, search_locations(machine->program)),
        .used_at_start = search->arena->used,
    };
    const struct observer observer = {.context = &d,
                                      .read = on_read,
                                      .write = on_write,
                                      .atomic = on_atomic,
                                      .barrier = on_barrier};
    if (machine_status(machine) != STATUS_RUNNING) {
        bool is_new;
        uint32_t outcome = search_outcome(search, &is_new);
        if (is_new)
            search->result->outcomes[outcome].tape = tape_new(search->arena, 0);
        search->result->executions++;
        return;
    }
    machine_observe(machine, &observer);
    add_node(&d, NULL);
    for (;;) {
        if (next_step(&d)) {
            if (!within_bounds(&d))
                break;
            take_step(&d);
            add_node(&d, node_at(&d, d.depth));
            continue;
        }
        drop_node(&d);
        if (d.depth-- == 0)
            break;
        take_back(&d);
    }
    machine_observe(machine, NULL);
}
