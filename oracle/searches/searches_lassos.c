/*
 * searches_lassos.c - infinite executions that are drawn, as a stem and a loop of actors on the graph of all states:
 * what the searches for lassos say of them, and what they find themselves, by definition (progress.def, lasso.h).
 */
#include "engine/base/pcg.h"
#include "engine/machine/live.h"
#include "engine/progress/fair_lasso.h"
#include "engine/progress/lasso.h"
#include "engine/schedule/sched.h"
#include "engine/search/search.h"
#include "oracle/searches/searches_internal.h"

#include <string.h>

enum {
    STEPS = SEARCHES_WAY / 2,
    WALKS = 3,
    LASSOS = 6 /* of a walk that are asked about */,
    FAIR_STEPS = 1500,
    LONGER = 8
};

/* ---- lassos that are drawn ---- */

/* A walk, of a few who step more often than others. */
struct walker {
    struct choices choices; /* first member */
    struct pcg rng;
    uint32_t often; /* bit a of actor a */
    struct searched_way *way;
};

static uint32_t walk_pick(struct choices *choices, const struct machine *machine)
{
    struct walker *w = (struct walker *)choices;
    const struct machine_head *head = machine->head;
    uint32_t at = pcg_below(&w->rng, head->live_count);
    for (uint32_t i = 0; i < 4 && !(w->often >> head->live[at] & 1); i++)
        at = pcg_below(&w->rng, head->live_count);
    if (w->way->count < SEARCHES_WAY)
        w->way->actors[w->way->count++] = head->live[at];
    return at;
}

static uint32_t walk_choose(struct choices *choices, uint32_t n)
{
    (void)choices;
    (void)n;
    return 0;
}

/* From the actors that stepped, the states; less, where there is a choice within a step. */
static void find_states(const struct searched *s, struct searched_way *way)
{
    uint32_t count = way->count;
    way->count = 0;
    way->states[0] = 0;
    while (way->count < count && searches_add_step(s, way, way->actors[way->count]))
        ;
}

static const struct tape *tape_of(struct arena *arena, const struct searched_way *way,
                                  uint32_t from, uint32_t to)
{
    struct tape *tape = tape_new(arena, to - from);
    for (uint32_t i = from; i < to; i++)
        tape_add(tape, way->actors[i]);
    return tape;
}

static const char *ask_models(const struct searched *s, struct machine *machine,
                              const struct searched_way *way, uint32_t stem)
{
    const struct fair_units units = {s->units.unit_of, s->units.count};
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        enum progress_model model = (enum progress_model)m;
        bool is = searches_is_execution(s, model, way, stem);
        if (fair_lasso_is(s->arena, machine, &units, model, tape_of(s->arena, way, 0, stem),
                          tape_of(s->arena, way, stem, way->count)) != is)
            return arena_printf(s->arena, "lasso: %s under %s", is ? "refused" : "taken",
                                progress_table[m].name);
    }
    return NULL;
}

/* The loop once more behind itself: who steps in it has begun then. False: no room. */
static bool go_round(const struct searched *s, const struct searched_way *walk, uint32_t from,
                     uint32_t to, struct searched_way *way)
{
    *way = *walk;
    way->count = to;
    for (uint32_t i = from; i < to; i++)
        (void)searches_add_step(s, way, walk->actors[i]);
    return way->count == 2 * to - from;
}

/* Loops that the walk closes, and those once more behind themselves. */
static const char *ask_walk(const struct searched *s, struct machine *machine,
                            const struct searched_way *walk)
{
    uint32_t asked = 0;
    for (uint32_t to = 1; to <= walk->count && to <= STEPS; to++)
        for (uint32_t from = 0; from < to; from++) {
            struct searched_way way = *walk;
            if (walk->states[from] != walk->states[to] || asked++ >= LASSOS)
                continue;
            way.count = to;
            const char *differs = ask_models(s, machine, &way, from);
            if (!differs && go_round(s, walk, from, to, &way))
                differs = ask_models(s, machine, &way, to);
            if (differs)
                return differs;
        }
    return NULL;
}

/* The longest loop to the last state that the walk comes to again is made shorter, under each model. */
static const char *shorten_walk(const struct searched *s, struct machine *machine,
                                const struct searched_way *walk)
{
    const char *differs = NULL;
    struct searched_way way;
    uint32_t to = walk->count < STEPS ? walk->count : STEPS, from = 0;
    for (; to > 0; to--) {
        for (from = 0; walk->states[from] != walk->states[to];)
            from++;
        if (from < to)
            break;
    }
    if (to == 0 || !go_round(s, walk, from, to, &way))
        return NULL;
    for (int m = 0; m < PROGRESS_MODEL_COUNT && !differs; m++)
        if (searches_is_execution(s, (enum progress_model)m, &way, to))
            differs =
                searches_shorten(s, machine, (enum progress_model)m, tape_of(s->arena, &way, 0, to),
                                 tape_of(s->arena, &way, to, way.count));
    return differs;
}

/* ---- lassos that are found ---- */

static bool steps_in(const struct searched_way *way, uint32_t actor, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (way->actors[i] == actor)
            return true;
    return false;
}

/* Whether every live actor steps in [from, to); live is who can step at its end. */
static bool all_step(const struct searched *s, const struct searched_way *way, uint32_t from,
                     uint32_t to)
{
    for (uint32_t a = 0; a < s->actors; a++)
        if (s->all.states[way->states[to]].live[a] && !steps_in(way, a, from, to))
            return false;
    return true;
}

/* What lasso_random says of the walk: a fair loop as soon as there is one, else the first one, if any. */
static const char *ask_random(const struct searched *s, const struct searched_way *walk,
                              const struct lasso *said)
{
    bool over = s->all.states[walk->states[walk->count]].over, some = false;
    uint32_t first = 0, length = 0;
    for (uint32_t to = 1; to <= walk->count; to++) {
        uint32_t from = 0;
        while (walk->states[from] != walk->states[to])
            from++;
        if (from == to)
            continue;
        if (all_step(s, walk, from, to))
            return said->kind == LASSO_FAIR && said->stem == from && said->loop == to - from
                       ? NULL
                       : "lasso: fair loop missed";
        first = some ? first : from;
        length = some ? length : to - from;
        some = true;
    }
    return said->kind == (over   ? LASSO_NONE
                          : some ? LASSO_UNFAIR
                                 : LASSO_UNKNOWN) &&
                   said->stem == first && said->loop == length
               ? NULL
               : "lasso: a walk's loop";
}

/* A policy's loop: it comes back, and who steps in it, and who could, is as said. */
static const char *ask_policy(const struct searched *s, const struct searched_way *way,
                              const struct lasso *said)
{
    uint32_t stem = (uint32_t)said->stem;
    if (way->wrong)
        return "lasso: a policy's step that cannot be";
    if (way->count == UINT32_MAX)
        return NULL; /* a choice within a step, or too long */
    if (way->states[stem] != way->states[way->count])
        return "lasso: loop that does not come back";
    for (uint32_t a = 0; a < s->actors; a++)
        if (steps_in(way, a, stem, way->count) != said->stepped[a] ||
            s->all.states[way->states[stem]].live[a] != said->live[a])
            return "lasso: who steps in a policy's loop";
    return all_step(s, way, stem, way->count) == (said->kind == LASSO_FAIR)
               ? NULL
               : "lasso: kind of a policy's loop";
}

/* Whether a scheduler of the policy goes round in the loop once more when it has been round. */
static bool goes_round(const struct searched *s, const struct sched_spec *policy,
                       const struct lasso *said)
{
    const struct subject_info *subject = &subject_table[s->subject];
    struct machine *machine = machine_new(s->arena, subject->vtable, s->program, &subject->options);
    uint64_t steps = said->stem + 2 * said->loop;
    struct tape *tape = tape_new(s->arena, (uint32_t)(4 * steps));
    struct scheduler scheduler;
    sched_start(&scheduler, policy, machine, s->arena);
    (void)machine_run(machine, &scheduler.choices, steps, tape);
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct tape *of = i < said->stem ? said->stem_tape : said->loop_tape;
        uint32_t at = i < said->stem ? i : (uint32_t)((i - said->stem) % said->loop);
        if ((tape->entries[i] & TAPE_INNER) || (of->entries[at] & TAPE_INNER))
            return true; /* the loop takes the first choice, the scheduler any */
        if (tape->entries[i] != of->entries[at])
            return false;
    }
    return tape->count == steps;
}

static struct sched_spec draw_policy(const struct searched *s, uint32_t drawn)
{
    static const enum sched_kind kinds[] = {SCHED_SEQUENTIAL, SCHED_REVERSE, SCHED_ROUND_ROBIN};
    const struct semantics *semantics = subject_table[s->subject].vtable;
    struct sched_spec policy = {.kind = kinds[drawn / 2 % 3], .quantum = 1 + drawn / 8 % 3};
    enum stackless_policy without_stack =
        (enum stackless_policy)(drawn / 2 % STACKLESS_POLICY_COUNT);
    if (drawn % 2 && !stackless_refuses(semantics) && without_stack != STACKLESS_RANDOM) {
        policy.kind = SCHED_STACKLESS;
        policy.stackless = (struct stackless_spec){
            .policy = without_stack,
            .then_first = stackless_subdivides(without_stack) && drawn / 128 % 2};
    }
    return policy;
}

/* With more steps a loop may be found, but none that the fewer steps sufficed for: the state that is kept is replaced
 * after 1, 2, 4, .. steps, so three times stem and loop are enough (Brent). */
static const char *ask_longer(const struct searched *s, struct machine *machine,
                              const struct sched_spec *policy)
{
    const struct lasso lasso = lasso_run(s->arena, machine, policy, (uint64_t)LONGER * STEPS);
    bool found = lasso.kind == LASSO_FAIR || lasso.kind == LASSO_UNFAIR;
    return found && 3 * (lasso.stem + lasso.loop) + 3 <= STEPS
               ? "lasso: a policy's loop is given up early"
               : NULL;
}

static const char *ask_policies(const struct searched *s, struct machine *machine, uint32_t drawn)
{
    struct sched_spec policy = draw_policy(s, drawn);
    if (drawn / 256 % 4 == 0)
        policy = (struct sched_spec){.kind = SCHED_STARVE, .victim = drawn / 1024 % s->actors};
    struct lasso lasso = lasso_run(s->arena, machine, &policy, STEPS);
    if (lasso.kind == LASSO_UNKNOWN)
        return ask_longer(s, machine, &policy);
    if (lasso.kind == LASSO_NONE)
        return NULL;
    lasso_tapes(s->arena, machine, &policy, &lasso);
    struct searched_way way = searches_way_of(s, lasso.stem_tape, lasso.loop_tape);
    const char *differs = ask_policy(s, &way, &lasso);
    if (!differs && policy.kind != SCHED_STARVE && !goes_round(s, &policy, &lasso))
        differs = "lasso: a policy goes another way";
    return differs;
}

/* What the sampled search shows is an execution of the model. */
static const char *ask_samples(const struct searched *s, struct machine *machine, uint64_t seed)
{
    const struct fair_units units = {s->units.unit_of, s->units.count};
    struct fair_options options = FAIR_DEFAULTS;
    options.seed = seed;
    options.budget_steps = FAIR_STEPS;
    struct fair_result found =
        fair_lasso_search(s->arena, machine, &units, (1u << PROGRESS_MODEL_COUNT) - 1, &options);
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        if (!found.answers[m].found && found.steps < FAIR_STEPS && s->actors > 1)
            return "lasso: a sampled search gives up early";
        if (!found.answers[m].found)
            continue;
        struct searched_way way = searches_way_of(s, found.answers[m].stem, found.answers[m].loop);
        if (way.wrong ||
            (way.count != UINT32_MAX &&
             !searches_is_execution(s, (enum progress_model)m, &way, found.answers[m].stem->count)))
            return arena_printf(s->arena, "lasso: found under %s", progress_table[m].name);
    }
    return NULL;
}

const char *searches_lassos(const struct searched *s)
{
    const struct subject_info *subject = &subject_table[s->subject];
    struct machine *machine =
        search_machine_with(s->arena, subject->vtable, s->program, &subject->options);
    struct pcg rng = pcg_derive(s->all.state_count, PCG_SCHEDULE, s->all.edge_count);
    const char *differs = NULL;
    for (uint32_t i = 0; i < WALKS && !differs; i++) {
        struct searched_way walk = {.count = 0};
        struct walker walker = {{walk_pick, walk_choose, NULL}, rng, 0, &walk};
        walker.often = 1 + pcg_below(&walker.rng, (1u << s->actors) - 1);
        struct lasso said = lasso_random(s->arena, machine, &walker.choices, STEPS);
        uint32_t steps = walk.count;
        if ((said.kind == LASSO_UNKNOWN || said.kind == LASSO_UNFAIR) && steps < STEPS)
            return "lasso: a walk is given up early";
        rng = walker.rng;
        find_states(s, &walk);
        if (walk.wrong)
            differs = "lasso: a walk's step that cannot be";
        else if (walk.count == steps)
            differs = ask_random(s, &walk, &said);
        if (!differs)
            differs = ask_walk(s, machine, &walk);
        if (!differs && i == 0)
            differs = shorten_walk(s, machine, &walk);
    }
    if (!differs)
        differs = ask_policies(s, machine, pcg_next(&rng));
    return differs ? differs : ask_samples(s, machine, pcg_next64(&rng));
}
