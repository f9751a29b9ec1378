#include "engine/progress/lasso.h"

#include "engine/base/invariant.h"
#include "engine/base/pool.h"
#include "engine/machine/live.h"

#include <string.h>

enum { NOBODY = INT32_MAX };

/* ---- recorded choices ---- */

/* The entries of a tape whose length is not known yet. */
struct record {
    struct arena *arena;
    struct pool entries;
};

static void record_start(struct record *record, struct arena *arena)
{
    *record = (struct record){.arena = arena, .entries = {.record = sizeof(uint32_t)}};
}

static void record_add(struct record *record, uint32_t entry)
{
    *(uint32_t *)pool_add(&record->entries, record->arena) = entry;
}

static uint32_t record_at(const struct record *record, uint32_t at)
{
    return *(uint32_t *)pool_at(&record->entries, at);
}

static const struct tape *record_tape(const struct record *record, uint32_t from, uint32_t to)
{
    struct tape *tape = tape_new(record->arena, to - from);
    for (uint32_t i = from; i < to; i++)
        tape_add(tape, record_at(record, i));
    return tape;
}

/* ---- deterministic policies ---- */

struct policy {
    struct choices choices; /* first member: inner choices */
    const struct sched_spec *spec;
    struct record *record;       /* or NULL */
    uint32_t current;            /* round robin, starve: who ran last; actor_count = nobody */
    uint32_t left;               /* round robin: steps of the quantum */
    struct stackless *stackless; /* or NULL */
    uint32_t *words;             /* its state, or a copy */
};

static uint32_t choose_first(struct choices *choices, uint32_t n)
{
    struct policy *policy = (struct policy *)choices;
    (void)n;
    if (policy->record)
        record_add(policy->record, TAPE_INNER);
    return 0;
}

static void policy_start(struct arena *arena, struct policy *policy, const struct sched_spec *spec,
                         const struct machine *machine)
{
    *policy = (struct policy){
        .choices = {NULL, choose_first, NULL}, .spec = spec, .current = machine->alternatives};
    if (spec->kind != SCHED_STACKLESS)
        return;
    policy->stackless = stackless_new(arena, machine, &spec->stackless, NULL);
    policy->words = policy->stackless->words;
}

/* `copy`, made by policy_copy, becomes as `policy` is. */
static void policy_save(const struct policy *policy, struct policy *copy)
{
    uint32_t *words = copy->words;
    *copy = *policy;
    copy->words = words;
    if (words)
        memcpy(words, policy->words, policy->stackless->word_count * sizeof *words);
}

static struct policy policy_copy(struct arena *arena, const struct policy *policy)
{
    struct policy copy = {.words = NULL};
    if (policy->stackless)
        copy.words = ARENA_ARRAY(arena, uint32_t, policy->stackless->word_count);
    policy_save(policy, &copy);
    return copy;
}

/* The next live actor after `actor` in cyclic order, `avoid` only when it is alone. */
static uint32_t next_live(const struct machine_head *head, uint32_t actor, uint32_t avoid)
{
    uint32_t first = NOBODY;
    for (uint32_t i = 0; i < head->live_count; i++) {
        uint32_t candidate = head->live[i];
        if (candidate == avoid)
            continue;
        if (candidate > actor)
            return candidate;
        first = first == NOBODY ? candidate : first;
    }
    return first == NOBODY ? avoid : first;
}

bool lasso_policy(const struct sched_spec *spec)
{
    if (spec->kind == SCHED_STACKLESS)
        return spec->stackless.policy != STACKLESS_RANDOM;
    return spec->kind == SCHED_SEQUENTIAL || spec->kind == SCHED_REVERSE ||
           spec->kind == SCHED_ROUND_ROBIN || spec->kind == SCHED_STARVE;
}

static uint32_t policy_actor(struct policy *policy, const struct machine *machine)
{
    const struct machine_head *head = machine->head;
    if (policy->spec->kind == SCHED_SEQUENTIAL)
        return head->live[0];
    if (policy->spec->kind == SCHED_REVERSE)
        return head->live[head->live_count - 1];
    if (policy->stackless)
        return stackless_pick(policy->stackless, machine);
    bool starves = policy->spec->kind == SCHED_STARVE;
    if (policy->left > 0 && is_live(machine, policy->current)) {
        policy->left--;
        return policy->current;
    }
    policy->current = next_live(head, policy->current, starves ? policy->spec->victim : NOBODY);
    policy->left = starves || policy->spec->quantum == 0 ? 0 : policy->spec->quantum - 1;
    return policy->current;
}

static uint32_t policy_step(struct policy *policy, struct machine *machine)
{
    uint32_t actor = policy_actor(policy, machine);
    if (policy->record)
        record_add(policy->record, actor);
    machine_step(machine, actor, &policy->choices);
    machine->track.log_count = 0;
    return actor;
}

static bool same_policy(const struct policy *a, const struct policy *b)
{
    return a->current == b->current && a->left == b->left &&
           (!a->stackless ||
            memcmp(a->words, b->words, a->stackless->word_count * sizeof *a->words) == 0);
}

/* ---- Brent ---- */

/* Brent, "An improved Monte Carlo factorization algorithm", BIT 20 (1980), section 3: one state is kept,
 * replaced after 1, 2, 4, ... steps; the loop's length when it comes back, 0 when it does not. */
static uint64_t find_loop(struct arena *arena, struct machine *machine, struct policy *policy,
                          uint64_t budget_steps)
{
    size_t mark = arena_mark(arena);
    uint32_t *saved = ARENA_ARRAY(arena, uint32_t, machine->block_words);
    struct policy saved_policy = policy_copy(arena, policy);
    uint64_t saved_hash = machine->track.hash, since = 0, power = 1, found = 0;
    machine_save(machine, saved);
    for (uint64_t step = 0; step < budget_steps && !found; step++) {
        if (machine_status(machine) != STATUS_RUNNING)
            break;
        policy_step(policy, machine);
        since++;
        if (machine->track.hash == saved_hash && same_policy(policy, &saved_policy) &&
            machine_equals(machine, saved)) {
            found = since;
        } else if (since == power) {
            machine_save(machine, saved);
            saved_hash = machine->track.hash;
            policy_save(policy, &saved_policy);
            power *= 2;
            since = 0;
        }
    }
    arena_release(arena, mark);
    return found;
}

/* Two machines, one a loop ahead: where they are in the same state first, the stem ends. */
static uint64_t find_stem(struct arena *arena, struct machine *machine, struct policy *policy,
                          uint64_t loop)
{
    struct machine_options options = machine->options;
    options.observers = NULL;
    options.undo_entries = 0;
    struct machine *behind = machine_new(arena, machine->semantics, machine->program, &options);
    struct policy policy_behind;
    uint64_t stem = 0;
    machine_reset(machine);
    policy_start(arena, policy, policy->spec, machine);
    policy_start(arena, &policy_behind, policy->spec, machine);
    for (uint64_t i = 0; i < loop; i++)
        policy_step(policy, machine);
    while (machine->track.hash != behind->track.hash || !same_policy(policy, &policy_behind) ||
           !machine_equals(machine, behind->block)) {
        policy_step(policy, machine);
        policy_step(&policy_behind, behind);
        stem++;
    }
    return stem;
}

static void judge(struct lasso *lasso, uint32_t actors)
{
    lasso->kind = LASSO_FAIR;
    lasso->status = STATUS_NONTERMINATING;
    for (uint32_t i = 0; i < actors; i++)
        if (lasso->live[i] && !lasso->stepped[i])
            lasso->kind = LASSO_UNFAIR;
}

static uint8_t *live_actors(struct arena *arena, const struct machine *machine)
{
    uint8_t *live = ARENA_ARRAY(arena, uint8_t, machine->alternatives);
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        live[machine->head->live[i]] = 1;
    return live;
}

struct lasso lasso_run(struct arena *arena, struct machine *machine, const struct sched_spec *spec,
                       uint64_t budget_steps)
{
    const struct observer *observers = machine->options.observers;
    struct lasso lasso = {.kind = LASSO_NONE};
    struct policy policy;
    INVARIANT(lasso_policy(spec) && machine->options.track);
    machine_reset(machine);
    policy_start(arena, &policy, spec, machine);
    lasso.loop = find_loop(arena, machine, &policy, budget_steps);
    lasso.status = machine_status(machine);
    if (lasso.loop == 0 && lasso.status != STATUS_RUNNING)
        return lasso;
    if (lasso.loop == 0) {
        lasso.kind = LASSO_UNKNOWN;
        lasso.status = STATUS_STEP_LIMIT;
        return lasso;
    }
    machine_observe(machine, NULL);
    lasso.stem = find_stem(arena, machine, &policy, lasso.loop);
    uint8_t *stepped = ARENA_ARRAY(arena, uint8_t, machine->alternatives);
    for (uint64_t i = 0; i < lasso.loop; i++)
        stepped[policy_step(&policy, machine)] = 1;
    lasso.live = live_actors(arena, machine);
    lasso.stepped = stepped;
    judge(&lasso, machine->alternatives);
    machine_observe(machine, observers);
    return lasso;
}

void lasso_tapes(struct arena *arena, struct machine *machine, const struct sched_spec *spec,
                 struct lasso *lasso)
{
    const struct observer *observers = machine->options.observers;
    struct policy policy;
    struct record record;
    record_start(&record, arena);
    machine_observe(machine, NULL);
    machine_reset(machine);
    policy_start(arena, &policy, spec, machine);
    policy.record = &record;
    for (uint64_t i = 0; i < lasso->stem; i++)
        policy_step(&policy, machine);
    uint32_t stem_entries = record.entries.count;
    for (uint64_t i = 0; i < lasso->loop; i++)
        policy_step(&policy, machine);
    lasso->stem_tape = record_tape(&record, 0, stem_entries);
    lasso->loop_tape = record_tape(&record, stem_entries, record.entries.count);
    machine_observe(machine, observers);
}

/* ---- random walks ---- */

struct visit {
    uint64_t hash;
    uint64_t step;    /* steps taken when the state was met first */
    uint32_t entries; /* of the record, then */
    bool used;
};

struct walk {
    struct choices choices; /* first member: inner choices, recorded or replayed */
    struct machine *machine;
    struct choices *inner;
    struct record record;
    uint32_t replay; /* next entry, while replaying */
    bool replaying;
    uint64_t step;
    uint64_t *last_step;  /* an actor: number of its last step, from 1 */
    struct visit *visits; /* open addressing by hash: the first state of each hash */
    uint32_t visit_mask, visit_count;
};

static uint32_t walk_choose(struct choices *choices, uint32_t n)
{
    struct walk *walk = (struct walk *)choices;
    if (walk->replaying)
        return record_at(&walk->record, walk->replay++) & ~(uint32_t)TAPE_INNER;
    uint32_t choice = walk->inner->choose(walk->inner, n);
    record_add(&walk->record, TAPE_INNER | choice);
    return choice;
}

static void walk_step(struct walk *walk)
{
    struct machine *machine = walk->machine;
    uint32_t actor = machine->head->live[walk->inner->pick(walk->inner, machine)];
    record_add(&walk->record, actor);
    machine_step(machine, actor, &walk->choices);
    machine->track.log_count = 0;
    walk->last_step[actor] = ++walk->step;
}

static void walk_replay(struct walk *walk, uint32_t until)
{
    while (walk->replay < until) {
        uint32_t actor = record_at(&walk->record, walk->replay++);
        machine_step(walk->machine, actor, &walk->choices);
        walk->machine->track.log_count = 0;
    }
}

/* Whether the state now is the one that was there when the record had `entries`; the machine is where it
 * was afterwards. */
static bool is_repeat(struct walk *walk, uint32_t entries)
{
    struct machine *machine = walk->machine;
    const struct observer *observers = machine->options.observers;
    struct arena *arena = walk->record.arena;
    size_t mark = arena_mark(arena);
    uint32_t *saved = ARENA_ARRAY(arena, uint32_t, machine->block_words);
    machine_observe(machine, NULL);
    machine_reset(machine);
    walk->replaying = true;
    walk->replay = 0;
    walk_replay(walk, entries);
    machine_save(machine, saved);
    walk_replay(walk, walk->record.entries.count);
    walk->replaying = false;
    machine_observe(machine, observers);
    bool equal = machine_equals(machine, saved);
    arena_release(arena, mark);
    return equal;
}

static struct visit *find_visit(const struct walk *walk, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & walk->visit_mask;
    while (walk->visits[at].used && walk->visits[at].hash != hash)
        at = (at + 1) & walk->visit_mask;
    return &walk->visits[at];
}

static void grow_visits(struct walk *walk)
{
    struct visit *old = walk->visits;
    uint32_t old_size = walk->visits ? walk->visit_mask + 1 : 0;
    walk->visit_mask = old_size ? 2 * old_size - 1 : 255;
    walk->visits = ARENA_ARRAY(walk->record.arena, struct visit, (size_t)walk->visit_mask + 1);
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].used)
            *find_visit(walk, old[i].hash) = old[i];
}

/* The first visit to the state now, or NULL when it is the first. */
static const struct visit *revisit(struct walk *walk)
{
    uint64_t hash = walk->machine->track.hash;
    if (2 * walk->visit_count >= walk->visit_mask)
        grow_visits(walk);
    struct visit *visit = find_visit(walk, hash);
    if (visit->used)
        return visit;
    *visit = (struct visit){hash, walk->step, walk->record.entries.count, true};
    walk->visit_count++;
    return NULL;
}

static bool all_stepped_since(const struct walk *walk, uint64_t step)
{
    const struct machine_head *head = walk->machine->head;
    for (uint32_t i = 0; i < head->live_count; i++)
        if (walk->last_step[head->live[i]] <= step)
            return false;
    return true;
}

static void take_loop(struct lasso *lasso, const struct walk *walk, const struct visit *from)
{
    const struct machine *machine = walk->machine;
    struct arena *arena = walk->record.arena;
    uint8_t *stepped = ARENA_ARRAY(arena, uint8_t, machine->alternatives);
    for (uint32_t i = 0; i < machine->alternatives; i++)
        stepped[i] = walk->last_step[i] > from->step;
    lasso->stem = from->step;
    lasso->loop = walk->step - from->step;
    lasso->live = live_actors(arena, machine);
    lasso->stepped = stepped;
    lasso->stem_tape = record_tape(&walk->record, 0, from->entries);
    lasso->loop_tape = record_tape(&walk->record, from->entries, walk->record.entries.count);
    judge(lasso, machine->alternatives);
}

/* The state now: a loop if it was there before. Only the first unfair one is of interest, so that the
 * walk is replayed at most twice (but for equal hashes of different states). */
static void look_back(struct walk *walk, struct lasso *lasso)
{
    const struct visit *from = revisit(walk);
    if (!from)
        return;
    bool fair = all_stepped_since(walk, from->step);
    if ((fair || lasso->loop == 0) && is_repeat(walk, from->entries))
        take_loop(lasso, walk, from);
}

struct lasso lasso_random(struct arena *arena, struct machine *machine, struct choices *choices,
                          uint64_t budget_steps)
{
    struct lasso lasso = {.kind = LASSO_UNKNOWN, .status = STATUS_STEP_LIMIT};
    struct walk walk = {
        .choices = {NULL, walk_choose, NULL},
        .machine = machine,
        .inner = choices,
        .last_step = ARENA_ARRAY(arena, uint64_t, machine->alternatives),
    };
    INVARIANT(machine->options.track);
    record_start(&walk.record, arena);
    machine_reset(machine);
    (void)revisit(&walk);
    while (machine_status(machine) == STATUS_RUNNING && lasso.kind != LASSO_FAIR &&
           walk.step < budget_steps) {
        walk_step(&walk);
        if (machine_status(machine) == STATUS_RUNNING)
            look_back(&walk, &lasso);
    }
    if (machine_status(machine) != STATUS_RUNNING) {
        lasso.kind = LASSO_NONE;
        lasso.status = machine_status(machine);
    }
    return lasso;
}
