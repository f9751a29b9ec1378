/*
 * sched.c - one pick function a kind, and the run loop.
 *
 * Every pick returns an index into the ascending list of live actors. What a pick needs of an actor
 * other than the one that stepped last is kept from pick to pick: a step changes only its own actor's
 * next step, and the list when its actor leaves it - it waits at a barrier, or is final - and when it
 * releases its block: then all actors of the block are there, with new next steps. So a list that has
 * grown means a release of the block whose actor stepped last, or of its cluster; a block of one actor waits for nobody
 * but its cluster.
 */
#include "engine/schedule/sched.h"

#include "engine/base/inline.h"
#include "engine/base/invariant.h"
#include "engine/machine/live.h"
#include "engine/program/ptx_code.h"

enum {
    NO_ACTOR = INT32_MAX,
    PCT_LENGTH_DEFAULT = 256, /* k, when no run has been measured yet */
    SURW_PATIENCE = 256 /* picks a live actor without a selected step, then another is intended */
};

static struct scheduler *self_of(struct choices *choices)
{
    return (struct scheduler *)choices;
}

static uint32_t choose_uniform(struct choices *choices, uint32_t n)
{
    return pcg_below(&self_of(choices)->rng, n);
}

/* ---- fixed orders ---- */

static uint32_t pick_sequential(struct choices *choices, const struct machine *machine)
{
    (void)choices;
    (void)machine;
    return 0;
}

static uint32_t pick_reverse(struct choices *choices, const struct machine *machine)
{
    (void)choices;
    return machine->head->live_count - 1;
}

static uint32_t pick_round_robin(struct choices *choices, const struct machine *machine)
{
    struct scheduler *s = self_of(choices);
    if (s->budget > 0 && live_at(machine, s->index, s->current)) {
        s->budget--;
        return s->index;
    }
    uint32_t next = s->current == NO_ACTOR ? 0 : live_from(machine, s->current);
    if (s->budget > 0 && live_at(machine, next, s->current)) { /* others came in before it */
        s->budget--;
        s->index = next;
        return next;
    }
    next += s->current != NO_ACTOR && live_at(machine, next, s->current);
    s->index = next < machine->head->live_count ? next : 0;
    s->current = machine->head->live[s->index];
    s->budget = s->spec.quantum - 1;
    return s->index;
}

/* ---- uniform, starving ---- */

static uint32_t pick_uniform(struct choices *choices, const struct machine *machine)
{
    return pcg_below(&self_of(choices)->rng, machine->head->live_count);
}

static uint32_t pick_starve(struct choices *choices, const struct machine *machine)
{
    struct scheduler *s = self_of(choices);
    uint32_t count = machine->head->live_count;
    if (count == 1)
        return 0;
    if (!live_at(machine, s->index, s->current))
        s->index = live_from(machine, s->current);
    if (!live_at(machine, s->index, s->current)) /* the victim waits or is final */
        return pcg_below(&s->rng, count);
    uint32_t index = pcg_below(&s->rng, count - 1);
    return index + (index >= s->index);
}

/* Index of a live actor that is not starved, uniformly; NO_ACTOR when all are. */
static uint32_t draw_fed(struct scheduler *s, const struct machine *machine)
{
    const struct machine_head *head = machine->head;
    uint32_t fed = 0, index = 0;
    for (uint32_t i = 0; i < head->live_count; i++)
        fed += !s->flags[head->live[i]];
    if (fed == 0)
        return NO_ACTOR;
    for (uint32_t n = pcg_below(&s->rng, fed);; index++)
        if (!s->flags[head->live[index]] && n-- == 0)
            return index;
}

static uint32_t pick_unfair_fair(struct choices *choices, const struct machine *machine)
{
    struct scheduler *s = self_of(choices);
    if (s->budget > 0) {
        uint32_t fed = draw_fed(s, machine);
        s->budget = fed == NO_ACTOR ? 0 : s->budget - 1;
        if (fed != NO_ACTOR)
            return fed;
    }
    for (;;) {
        uint32_t actor = s->priority[s->current];
        s->current = s->current + 1 < s->actor_count ? s->current + 1 : 0;
        uint32_t index = live_from(machine, actor);
        if (live_at(machine, index, actor))
            return index;
    }
}

/* ---- PCT ---- */

static uint32_t highest_priority(const struct scheduler *s, const struct machine *machine)
{
    const struct machine_head *head = machine->head;
    uint32_t best = 0;
    for (uint32_t i = 1; i < head->live_count; i++)
        if (s->priority[head->live[i]] > s->priority[head->live[best]])
            best = i;
    return best;
}

/* Burckhardt et al., ASPLOS 2010, section 3: the live actor of highest priority runs; when the
 * execution reaches change point k_i, the actor about to run gets priority i, below all initial ones.
 * Priorities change nowhere else, so the actor that runs keeps running until then. */
static uint32_t pick_pct(struct choices *choices, const struct machine *machine)
{
    struct scheduler *s = self_of(choices);
    if (s->live_seen != machine->head->live_count || !live_at(machine, s->index, s->current)) {
        s->index = highest_priority(s, machine);
        s->live_seen = machine->head->live_count;
    }
    s->picks++;
    while (s->change_next < s->change_count && s->change_points[s->change_next] >> 3 == s->picks) {
        s->priority[machine->head->live[s->index]] =
            (uint32_t)(s->change_points[s->change_next++] & 7);
        s->index = highest_priority(s, machine);
    }
    s->current = machine->head->live[s->index];
    return s->index;
}

/* depth - 1 distinct points of 1..k; the i-th drawn carries priority i (i < depth <= 5). */
static void draw_change_points(struct scheduler *s)
{
    uint64_t k = s->spec.length_estimate ? s->spec.length_estimate : PCT_LENGTH_DEFAULT;
    uint32_t count = s->spec.depth - 1;
    if (k > UINT32_MAX)
        k = UINT32_MAX;
    if (count > k)
        count = (uint32_t)k;
    while (s->change_count < count) {
        uint64_t point = 1 + (uint64_t)pcg_below(&s->rng, (uint32_t)k);
        uint32_t at = 0;
        while (at < s->change_count && s->change_points[at] >> 3 < point)
            at++;
        if (at < s->change_count && s->change_points[at] >> 3 == point)
            continue;
        for (uint32_t i = s->change_count; i > at; i--)
            s->change_points[i] = s->change_points[i - 1];
        s->change_count++;
        s->change_points[at] = (point << 3) | s->change_count;
    }
}

/* ---- partial-order sampling ---- */

static void pos_renew(struct scheduler *s, const struct machine *machine, uint32_t actor)
{
    s->priority[actor] = pcg_next(&s->rng);
    machine->semantics->footprint(machine, actor, &s->reads[actor], &s->writes[actor]);
}

/* Whether the step since the last pick released its block; the live actors are counted anew. */
static bool has_grown(struct scheduler *s, const struct machine *machine)
{
    uint32_t before = s->live_seen;
    s->live_seen = machine->head->live_count;
    return s->live_seen > before;
}

/* The live actors of a block, from the returned index up to *end; all, where the barrier of a cluster may have released
 * some of other blocks. */
static uint32_t live_group(const struct machine *machine, uint32_t actor, uint32_t *end)
{
    const struct program *program = machine->program;
    bool clusters = program->form == FORM_PTX && program->ptx->has_cluster_barrier;
    uint32_t each = machine->actor_count / (clusters ? 1 : program->launch.blocks);
    uint32_t first = actor / each * each;
    *end = live_from(machine, first + each);
    return live_from(machine, first);
}

/* Yuan et al., CAV 2018, algorithm 2 (POS): the pending step of highest priority runs; then its actor's
 * next step, and all pending steps that race with the one taken, draw anew. */
static uint32_t pick_pos(struct choices *choices, const struct machine *machine)
{
    struct scheduler *s = self_of(choices);
    const struct machine_head *head = machine->head;
    if (s->last == NO_ACTOR) {
        for (uint32_t i = 0; i < head->live_count; i++)
            pos_renew(s, machine, head->live[i]);
        (void)has_grown(s, machine);
    } else {
        uint64_t reads = s->reads[s->last], writes = s->writes[s->last];
        if (has_grown(s, machine)) {
            uint32_t end, i = live_group(machine, s->last, &end);
            while (i < end)
                pos_renew(s, machine, head->live[i++]);
        } else if (live_at(machine, s->index, s->last)) {
            pos_renew(s, machine, s->last);
        }
        for (uint32_t i = 0; (reads | writes) && i < head->live_count; i++) {
            uint32_t other = head->live[i];
            if (other != s->last &&
                ((writes & (s->reads[other] | s->writes[other])) | (reads & s->writes[other])))
                s->priority[other] = pcg_next(&s->rng);
        }
    }
    s->index = highest_priority(s, machine);
    s->last = head->live[s->index];
    return s->index;
}

/* ---- selectively uniform random walk ---- */

static void surw_look(struct scheduler *s, const struct machine *machine, uint32_t actor)
{
    uint32_t stm = machine->semantics->next_stm(machine, actor);
    bool selected = stm != CODE_NONE && s->spec.selected[stm];
    s->flags[actor] = selected;
    /* The counts are estimates: who stands before a selected step has at least that one left. */
    if (selected && s->remaining[actor] == 0)
        s->remaining[actor] = 1;
}

/* The actor that takes the next selected step: with probability proportional to what is left. */
static void surw_intend(struct scheduler *s, const struct machine *machine)
{
    const struct machine_head *head = machine->head;
    uint32_t total = 0, i = 0;
    for (uint32_t j = 0; j < head->live_count; j++)
        total += s->remaining[head->live[j]];
    s->current = NO_ACTOR;
    s->budget = SURW_PATIENCE * head->live_count;
    if (total == 0)
        return;
    uint32_t draw = pcg_below(&s->rng, total);
    while (draw >= s->remaining[head->live[i]])
        draw -= s->remaining[head->live[i++]];
    s->current = head->live[i];
}

static bool surw_may_step(const struct scheduler *s, uint32_t actor)
{
    return !s->flags[actor] || s->current == NO_ACTOR || actor == s->current;
}

/* What the step taken since the last pick means. */
static void surw_account(struct scheduler *s, const struct machine *machine)
{
    uint32_t last = s->last;
    bool selected = s->flags[last];
    if (selected)
        s->remaining[last]--;
    if (has_grown(s, machine)) {
        uint32_t end, i = live_group(machine, last, &end);
        while (i < end)
            surw_look(s, machine, machine->head->live[i++]);
    } else if (live_at(machine, s->index, last)) {
        surw_look(s, machine, last);
    } else if (machine->semantics->next_stm(machine, last) == CODE_NONE) {
        s->remaining[last] = 0; /* final; one that waits is back when its block is released */
    }
    bool gone =
        s->current != NO_ACTOR && !live_at(machine, live_from(machine, s->current), s->current);
    if (selected || gone || s->budget-- == 0)
        surw_intend(s, machine);
}

/* Zhao et al., "Selectively Uniform Concurrency Testing", ASPLOS 2025, algorithm 2: one actor is
 * intended to take the next selected step; the others may take any number of steps that are not
 * selected before it (a uniform walk), but wait in front of selected ones. An actor that is intended
 * in vain (the counts are estimates, and it may spin) is given up after a while, so that a run in
 * which the others could go on is not stuck. */
static uint32_t pick_surw(struct choices *choices, const struct machine *machine)
{
    struct scheduler *s = self_of(choices);
    const struct machine_head *head = machine->head;
    if (s->picks++ == 0) {
        for (uint32_t i = 0; i < head->live_count; i++)
            surw_look(s, machine, head->live[i]);
        (void)has_grown(s, machine);
        surw_intend(s, machine);
    } else {
        surw_account(s, machine);
    }
    uint32_t free_count = 0, index = 0;
    for (uint32_t i = 0; i < head->live_count; i++)
        free_count += surw_may_step(s, head->live[i]);
    /* The intended actor is live and may step, so there is one. */
    for (uint32_t n = pcg_below(&s->rng, free_count);; index++)
        if (surw_may_step(s, head->live[index]) && n-- == 0)
            break;
    s->index = index;
    s->last = head->live[index];
    return index;
}

/* ---- warps without a stack ---- */

static uint32_t pick_stackless(struct choices *choices, const struct machine *machine)
{
    return live_from(machine, stackless_pick(self_of(choices)->stackless, machine));
}

/* ---- tape ---- */

static void tape_drift(struct scheduler *s, uint32_t at)
{
    if (s->drifts++ == 0)
        s->first_drift = at;
}

static uint32_t pick_tape(struct choices *choices, const struct machine *machine)
{
    struct scheduler *s = self_of(choices);
    const struct tape *tape = s->reader.tape;
    while (s->reader.next < tape->count && (tape->entries[s->reader.next] & TAPE_INNER))
        tape_drift(s, s->reader.next++);
    if (s->reader.next == tape->count) {
        s->beyond++;
        return 0;
    }
    uint32_t at = s->reader.next++, actor = tape->entries[at];
    uint32_t index = live_from(machine, actor);
    if (live_at(machine, index, actor))
        return index;
    tape_drift(s, at);
    return 0;
}

static uint32_t choose_tape(struct choices *choices, uint32_t n)
{
    struct scheduler *s = self_of(choices);
    const struct tape *tape = s->reader.tape;
    if (s->reader.next == tape->count) {
        s->beyond++;
        return 0;
    }
    uint32_t at = s->reader.next, entry = tape->entries[at];
    if (entry & TAPE_INNER) {
        s->reader.next++;
        if ((entry & ~(uint32_t)TAPE_INNER) < n)
            return entry & ~(uint32_t)TAPE_INNER;
    }
    tape_drift(s, at);
    return 0;
}

/* ---- starting ---- */

/* A random permutation of first .. first + actor_count - 1 as priorities (Fisher and Yates). */
static void shuffle_priorities(struct scheduler *s, uint32_t first)
{
    for (uint32_t i = 0; i < s->actor_count; i++) {
        uint32_t j = pcg_below(&s->rng, i + 1);
        s->priority[i] = s->priority[j];
        s->priority[j] = first + i;
    }
}

/* A random set of actors to starve: not empty and, with two actors or more, not all of them. */
static void draw_starved(struct scheduler *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->actor_count; i++) {
        s->flags[i] = (uint8_t)pcg_below(&s->rng, 2);
        count += s->flags[i];
    }
    if (count == 0)
        s->flags[pcg_below(&s->rng, s->actor_count)] = 1;
    else if (count == s->actor_count)
        s->flags[pcg_below(&s->rng, s->actor_count)] = 0;
}

static void start_surw(struct scheduler *s, const struct machine *machine, struct arena *arena)
{
    INVARIANT(s->spec.selected && s->spec.selected_counts);
    s->flags = ARENA_ARRAY(arena, uint8_t, s->actor_count);
    s->remaining = ARENA_ARRAY(arena, uint32_t, s->actor_count);
    for (uint32_t i = 0; i < machine->actor_count; i++) {
        uint32_t count = s->spec.selected_counts[i];
        const uint32_t most = UINT32_MAX / 2 / s->actor_count; /* their sum fits 32 bits */
        s->remaining[i] = count < most ? count : most;
    }
}

static void start_kind(struct scheduler *s, const struct machine *machine, struct arena *arena)
{
    switch (s->spec.kind) {
    case SCHED_SEQUENTIAL:
    case SCHED_REVERSE:
    case SCHED_UNIFORM:
    case SCHED_KIND_COUNT:
        break;
    case SCHED_ROUND_ROBIN:
        s->spec.quantum += s->spec.quantum == 0;
        break;
    case SCHED_PCT:
        INVARIANT(s->spec.depth >= 1 && s->spec.depth <= 5);
        s->priority = ARENA_ARRAY(arena, uint32_t, s->actor_count);
        shuffle_priorities(s, s->spec.depth);
        draw_change_points(s);
        break;
    case SCHED_POS:
        s->priority = ARENA_ARRAY(arena, uint32_t, s->actor_count);
        s->reads = ARENA_ARRAY(arena, uint64_t, s->actor_count);
        s->writes = ARENA_ARRAY(arena, uint64_t, s->actor_count);
        break;
    case SCHED_SURW:
        start_surw(s, machine, arena);
        break;
    case SCHED_STARVE:
        s->current = s->spec.victim;
        s->index = s->spec.victim;
        break;
    case SCHED_UNFAIR_FAIR:
        s->priority = ARENA_ARRAY(arena, uint32_t, s->actor_count);
        s->flags = ARENA_ARRAY(arena, uint8_t, s->actor_count);
        draw_starved(s);
        shuffle_priorities(s, 0);
        s->current = 0;
        s->budget = s->spec.prefix;
        break;
    case SCHED_STACKLESS:
        s->stackless = stackless_new(arena, machine, &s->spec.stackless, &s->rng);
        break;
    case SCHED_TAPE:
        s->reader.tape = s->spec.tape;
        s->first_drift = s->spec.tape->count;
        break;
    }
}

void sched_start(struct scheduler *scheduler, const struct sched_spec *spec,
                 const struct machine *machine, struct arena *arena)
{
    static uint32_t (*const picks[SCHED_KIND_COUNT])(struct choices *, const struct machine *) = {
        [SCHED_SEQUENTIAL] = pick_sequential,
        [SCHED_REVERSE] = pick_reverse,
        [SCHED_ROUND_ROBIN] = pick_round_robin,
        [SCHED_UNIFORM] = pick_uniform,
        [SCHED_PCT] = pick_pct,
        [SCHED_POS] = pick_pos,
        [SCHED_SURW] = pick_surw,
        [SCHED_STARVE] = pick_starve,
        [SCHED_UNFAIR_FAIR] = pick_unfair_fair,
        [SCHED_STACKLESS] = pick_stackless,
        [SCHED_TAPE] = pick_tape,
    };
    INVARIANT((unsigned)spec->kind < SCHED_KIND_COUNT);
    *scheduler = (struct scheduler){
        .choices = {.pick = picks[spec->kind],
                    .choose = spec->kind == SCHED_TAPE ? choose_tape : choose_uniform},
        .spec = *spec,
        .rng = pcg_derive(spec->seed, PCG_SCHEDULE, spec->index),
        .actor_count = machine->alternatives,
        .current = NO_ACTOR,
        .last = NO_ACTOR,
    };
    start_kind(scheduler, machine, arena);
}

/* ---- running ---- */

/* `pick` is a constant wherever this is inlined, so that it is inlined in turn: an indirect call a
 * step costs about as much as a draw. */
INLINED enum status run_loop(struct machine *machine, struct choices *choices,
                             uint64_t budget_steps,
                             uint32_t (*pick)(struct choices *, const struct machine *))
{
    const struct machine_head *head = machine->head;
    for (; head->status == STATUS_RUNNING; budget_steps--) {
        if (budget_steps == 0)
            return STATUS_STEP_LIMIT;
        machine_step(machine, head->live[pick(choices, machine)], choices);
    }
    return (enum status)head->status;
}

struct recorder {
    struct choices choices; /* first member */
    struct choices *inner;
    struct tape *tape;
};

static uint32_t record_choose(struct choices *choices, uint32_t n)
{
    struct recorder *recorder = (struct recorder *)choices;
    uint32_t choice = recorder->inner->choose(recorder->inner, n);
    tape_add(recorder->tape, TAPE_INNER | choice);
    return choice;
}

static uint32_t record_pick(struct choices *choices, const struct machine *machine)
{
    struct recorder *recorder = (struct recorder *)choices;
    uint32_t index = recorder->inner->pick(recorder->inner, machine);
    tape_add(recorder->tape, machine->head->live[index]);
    return index;
}

/* Choices whose number observers hear of. */
struct told_choices {
    struct choices choices; /* first member */
    struct choices *inner;
    const struct observer *observers;
};

static bool tell_choice(const struct observer *observers, uint32_t n, uint32_t choice)
{
    bool heard = false;
    for (const struct observer *o = observers; o; o = o->next) {
        if (o->chosen)
            o->chosen(o->context, n, choice);
        heard |= o->chosen != NULL;
    }
    return heard;
}

static uint32_t told_choose(struct choices *choices, uint32_t n)
{
    struct told_choices *told = (struct told_choices *)choices;
    uint32_t choice = told->inner->choose(told->inner, n);
    tell_choice(told->observers, n, choice);
    return choice;
}

static uint32_t told_choose_of(struct choices *choices, uint32_t n, const uint32_t *values,
                               uint32_t count)
{
    struct told_choices *told = (struct told_choices *)choices;
    uint32_t choice = told->inner->choose_of(told->inner, n, values, count);
    tell_choice(told->observers, n, choice);
    return choice;
}

static uint32_t told_pick(struct choices *choices, const struct machine *machine)
{
    struct told_choices *told = (struct told_choices *)choices;
    uint32_t index = told->inner->pick(told->inner, machine);
    for (const struct observer *o = told->observers; o; o = o->next)
        if (o->picked)
            o->picked(o->context, machine, machine->head->live[index]);
    return index;
}

enum status machine_run(struct machine *machine, struct choices *choices, uint64_t budget_steps,
                        struct tape *record)
{
    struct told_choices told = {
        {told_pick, told_choose, choices->choose_of ? told_choose_of : NULL},
        choices,
        machine->options.observers};
    if (tell_choice(machine->options.observers, 1, 0))
        choices = &told.choices;
    if (record) {
        struct recorder recorder = {{record_pick, record_choose, NULL}, choices, record};
        return run_loop(machine, &recorder.choices, budget_steps, record_pick);
    }
    if (choices->pick == pick_uniform)
        return run_loop(machine, choices, budget_steps, pick_uniform);
    if (choices->pick == pick_sequential)
        return run_loop(machine, choices, budget_steps, pick_sequential);
    if (choices->pick == pick_pct)
        return run_loop(machine, choices, budget_steps, pick_pct);
    return run_loop(machine, choices, budget_steps, choices->pick);
}
