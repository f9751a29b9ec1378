/*
 * searches_ways.c - ways through the graph of all states; and whether what a search shows for what it says - a tape to
 * each outcome, a lasso, a hang under a model - is such a way, or does lead there.
 */
#include "engine/machine/live.h"
#include "oracle/searches/searches_internal.h"

#include <string.h>

/* ---- ways ---- */

uint32_t searches_step(const struct searched *s, uint32_t state, uint32_t actor)
{
    uint32_t to = REF_ALL_NONE;
    for (uint32_t e = s->all.states[state].first_edge; e != REF_ALL_NONE;
         e = s->all.edges[e].other) {
        if (s->all.edges[e].actor != actor)
            continue;
        if (to != REF_ALL_NONE)
            return REF_ALL_NONE;
        to = s->all.edges[e].to;
    }
    return to;
}

bool searches_add_step(const struct searched *s, struct searched_way *way, uint32_t actor)
{
    uint32_t from = way->states[way->count], to = searches_step(s, from, actor);
    way->wrong = way->wrong || actor >= s->actors || !s->all.states[from].live[actor];
    if (to == REF_ALL_NONE || way->count == SEARCHES_WAY)
        return false;
    way->actors[way->count++] = actor;
    way->states[way->count] = to;
    return true;
}

struct searched_way searches_way_of(const struct searched *s, const struct tape *stem,
                                    const struct tape *loop)
{
    struct searched_way way = {.count = 0};
    bool follows = true;
    for (uint32_t i = 0; i < stem->count && follows; i++)
        follows = searches_add_step(s, &way, stem->entries[i]);
    for (uint32_t i = 0; i < loop->count && follows; i++)
        follows = searches_add_step(s, &way, loop->entries[i]);
    way.count = follows ? way.count : UINT32_MAX;
    return way;
}

/* Steps [stem, count) come back to their first state; who is treated fairly is the same in each state, somebody (but
 * for `unfair`), and steps or cannot step somewhere. */
bool searches_is_execution(const struct searched *s, enum progress_model model,
                           const struct searched_way *way, uint32_t stem)
{
    bool fair[REF_ALL_ACTORS] = {false}, settled[REF_ALL_ACTORS] = {false};
    bool some = model == PROGRESS_UNFAIR, same = true;
    uint32_t begun = 0;
    for (uint32_t i = 0; i <= way->count; i++) {
        uint32_t state = way->states[i];
        for (uint32_t u = 0; u < s->units.count && i >= stem; u++) {
            bool now = searches_treats_fairly(s, model, state, begun, u);
            same = same && (i == stem || fair[u] == now);
            fair[u] = now;
            some = some || now;
            settled[u] = settled[u] || !(s->units.live[state] >> u & 1) ||
                         (i < way->count && s->units.unit_of[way->actors[i]] == u);
        }
        if (i < way->count)
            begun |= 1u << s->units.unit_of[way->actors[i]];
    }
    for (uint32_t u = 0; u < s->units.count; u++)
        same = same && (!fair[u] || settled[u]);
    return same && some && stem < way->count && way->states[stem] == way->states[way->count];
}

/* ---- tapes, played to the letter ---- */

struct player {
    struct choices choices; /* first member: within a step */
    const struct tape *tape;
    uint32_t at;
    bool wrong;
};

static uint32_t play_choice(struct choices *choices, uint32_t n)
{
    struct player *p = (struct player *)choices;
    uint32_t entry = p->at < p->tape->count ? p->tape->entries[p->at++] : 0;
    uint32_t value = entry & ~(uint32_t)TAPE_INNER;
    p->wrong = p->wrong || !(entry & TAPE_INNER) || value >= n;
    return p->wrong ? 0 : value;
}

/* Who steps is noted. False: an entry is nobody's step, or a choice that the step does not have, or lacks. */
static bool play(struct machine *machine, const struct tape *tape, bool *steps)
{
    struct player p = {{NULL, play_choice, NULL}, tape, 0, false};
    while (p.at < tape->count && !p.wrong) {
        uint32_t actor = tape->entries[p.at++];
        p.wrong = (actor & TAPE_INNER) || machine_status(machine) != STATUS_RUNNING ||
                  !is_live(machine, actor);
        if (p.wrong)
            break;
        machine_step(machine, actor, &p.choices);
        machine->track.log_count = 0;
        if (actor < REF_ALL_ACTORS)
            steps[actor] = true;
    }
    return !p.wrong;
}

static bool shows_outcome(const struct searched *s, struct machine *machine,
                          const struct search_outcome *outcome)
{
    bool steps[REF_ALL_ACTORS] = {false};
    machine_reset(machine);
    return play(machine, outcome->tape, steps) && machine_status(machine) == outcome->status &&
           (!outcome->store || memcmp(machine->memory, outcome->store,
                                      s->program->private_base * sizeof *outcome->store) == 0);
}

/* The loop comes back; if it is said to be fair, all that can step where it begins step in it. */
static bool shows_lasso(const struct searched *s, struct machine *machine,
                        const struct search_result *found)
{
    bool steps[REF_ALL_ACTORS] = {false};
    uint32_t *saved = ARENA_ARRAY(s->arena, uint32_t, machine->block_words);
    machine_reset(machine);
    if (!play(machine, found->lasso_stem, steps))
        return false;
    memset(steps, 0, sizeof steps);
    machine_save(machine, saved);
    if (found->lasso_loop->count == 0 || !play(machine, found->lasso_loop, steps) ||
        !machine_equals(machine, saved))
        return false;
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        if (found->liveness == LIVENESS_FAIR_LASSO && machine->head->live[i] < REF_ALL_ACTORS &&
            !steps[machine->head->live[i]])
            return false;
    return true;
}

/* ---- hangs under models ---- */

/* An execution of the model; whom it treats fairly, who steps, who has not finished is as said. */
static bool shows_hang(const struct searched *s, enum progress_model model,
                       const struct progress_answer *said)
{
    const struct searched_way way = searches_way_of(s, said->stem, said->loop);
    unit_set fair = 0, stepped = 0, unfinished = 0;
    uint32_t stem = said->stem->count, begun = 0;
    if (way.count == UINT32_MAX)
        return !way.wrong;
    for (uint32_t i = 0; i < way.count; i++) {
        uint32_t unit = s->units.unit_of[way.actors[i]];
        begun |= i < stem ? 1u << unit : 0;
        stepped |= i < stem ? 0 : (unit_set)1 << unit;
    }
    for (uint32_t u = 0; u < s->units.count; u++) {
        uint32_t state = way.states[stem];
        fair |= (unit_set)searches_treats_fairly(s, model, state, begun, u) << u;
        unfinished |= (unit_set) !(s->units.final[state] >> u & 1) << u;
    }
    return searches_is_execution(s, model, &way, stem) && said->fair == fair &&
           said->stepped == stepped && said->unfinished == unfinished;
}

/* A state from which no group's steps lead to an end, and a loop from there. */
static bool shows_random(const struct searched *s, const struct progress_random *said)
{
    const struct searched_way way = searches_way_of(s, said->stem, said->loop);
    return way.count == UINT32_MAX
               ? !way.wrong
               : said->loop->count > 0 && way.states[said->stem->count] == way.states[way.count];
}

const char *searches_witnesses(const struct searched *s, const struct search_result *found)
{
    const struct subject_info *info = &subject_table[s->subject];
    struct machine *machine =
        search_machine_with(s->arena, info->vtable, s->program, &info->options);
    const char *differs = NULL;
    for (uint32_t i = 0; i < found->outcome_count && !differs; i++)
        if (found->outcomes[i].tape && !shows_outcome(s, machine, &found->outcomes[i]))
            differs = "outcome's tape";
    if (!differs && found->lasso_loop && !shows_lasso(s, machine, found))
        differs = "lasso's tapes";
    for (int m = 0; m < PROGRESS_MODEL_COUNT && !differs && s->all.states; m++)
        if (s->progress.answers[m].loop &&
            !shows_hang(s, (enum progress_model)m, &s->progress.answers[m]))
            differs = arena_printf(s->arena, "hang's tapes under %s", progress_table[m].name);
    if (!differs && s->progress.random.loop && !shows_random(s, &s->progress.random))
        differs = "hang's tapes under random";
    return differs;
}
