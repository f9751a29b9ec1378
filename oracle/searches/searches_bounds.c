/*
 * searches_bounds.c - bounds that cut searches off: by what was counted, and by searches with bounds that are just
 * enough, or one too few.
 */
#include "oracle/searches/searches_bounds.h"

#include "engine/machine/semantics.h"
#include "engine/program/ptx_code.h"
#include "oracle/searches/searches_internal.h"

#include <string.h>

/* ---- what was counted ---- */

/* Tables double, and some room is kept: who gives up has had an eighth of the bytes, but for so many. */
enum { SHARE = 8, KEPT_BYTES = 2 << 20, MOST_ACTORS = 64, LOG_ENTRIES = 1 << 17 };

static bool bytes_are_used(const struct search_result *found, const struct search_options *how,
                           const struct machine *machine, size_t free_bytes)
{
    const struct program *program = machine->program;
    uint64_t limit = how->max_bytes < free_bytes / 2 ? how->max_bytes : free_bytes / 2;
    uint64_t words = machine->block_words + (uint64_t)program->private_base * program->units;
    /* For each word 64 bytes at most are had before the first state. */
    uint64_t used = found->cut_bytes + 64 * words;
    /* Races with atomics: to each state a set of all accesses is kept (search_race.c), of which no step has more than
     * 32 on average. */
    if (program->has_atomics && !how->no_races)
        used += found->states * (found->transitions * 32 / 8);
    return SHARE * used + KEPT_BYTES >= limit;
}

static bool depth_is_reached(const struct search_result *found, const struct search_options *how,
                             const struct machine *machine)
{
    uint64_t entries =
        4 * (uint64_t)machine->block_words + 64; /* of the log, that a step may take */
    return found->cut_depth >= how->max_depth ||
           (found->method != SEARCH_STATES && (found->cut_depth + 1) * entries >= LOG_ENTRIES);
}

static bool is_reached(const struct search_result *found, const struct search_options *how,
                       const struct machine *machine, size_t free_bytes)
{
    const char *cut = found->cut;
    if (strcmp(cut, "states") == 0)
        return found->states >= how->max_states;
    if (strcmp(cut, "bytes") == 0)
        return bytes_are_used(found, how, machine, free_bytes);
    if (strcmp(cut, "steps") == 0)
        return found->steps >= how->max_steps;
    if (strcmp(cut, "depth") == 0)
        return depth_is_reached(found, how, machine);
    if (strcmp(cut, "outcomes") == 0)
        return found->outcome_count >= how->max_outcomes;
    if (strcmp(cut, "actors") == 0)
        return machine->actor_count > MOST_ACTORS;
    return how->stop && (strcmp(cut, "interrupted") == 0 || strcmp(cut, "time") == 0);
}

/* Where reduction may not be taken (search.h). */
static bool needs_states(const struct machine *machine)
{
    const struct program *program = machine->program;
    return machine->semantics->environment || machine->semantics->unseen_order ||
           (program->form == FORM_PTX ? program->ptx->barriers > 0
                                      : program_chooses_by_memory(program));
}

const char *searches_gave_up(const struct search_result *found, const struct search_options *how,
                             const struct machine *machine, size_t free_bytes)
{
    bool refused = how->method == SEARCH_DPOR && found->method == SEARCH_STATES;
    if ((how->method != SEARCH_AUTO && found->method != how->method &&
         !(refused && needs_states(machine))) ||
        (found->method == SEARCH_DPOR && needs_states(machine)))
        return "the method that was taken";
    if (!found->complete && !found->cut)
        return "gave up by no bound";
    return found->cut && !is_reached(found, how, machine, free_bytes)
               ? "gave up before it came to the bound"
               : NULL;
}

/* ---- bounds that are just enough ---- */

static const struct search_result *run(const struct searched *s, const struct search_options *how)
{
    const struct subject_info *info = &subject_table[s->subject];
    struct machine *machine =
        search_machine_with(s->arena, info->vtable, s->program, &info->options);
    return search_run(s->arena, machine, how);
}

static bool is_cut(const struct search_result *found, const char *cut, uint64_t counted,
                   uint64_t limit)
{
    return found->cut && strcmp(found->cut, cut) == 0 && counted == limit;
}

/* Steps on the shortest way to the state that is farthest from the start, of those from which steps lead on. */
static uint32_t depth_of(const struct searched *s)
{
    uint32_t *depth = ARENA_ARRAY(s->arena, uint32_t, s->all.state_count), most = 0;
    uint32_t *queue = ARENA_ARRAY(s->arena, uint32_t, s->all.state_count), count = 1;
    for (uint32_t i = 0; i < s->all.state_count; i++)
        depth[i] = REF_ALL_NONE;
    depth[0] = queue[0] = 0;
    for (uint32_t at = 0; at < count; at++) {
        const struct ref_all_state *state = &s->all.states[queue[at]];
        most = state->over ? most : depth[queue[at]];
        for (uint32_t e = state->first_edge; e != REF_ALL_NONE; e = s->all.edges[e].other) {
            uint32_t to = s->all.edges[e].to;
            if (depth[to] != REF_ALL_NONE)
                continue;
            depth[to] = depth[queue[at]] + 1;
            queue[count++] = to;
        }
    }
    return most;
}

/* All is found with the bound, and that bound cuts off with one less. */
static const char *states_of(const struct searched *s, struct search_options *how)
{
    how->max_states = s->all.state_count;
    if (run(s, how)->cut)
        return "states that are enough";
    how->max_states--;
    const struct search_result *less = run(s, how);
    return s->all.state_count == 1 || is_cut(less, "states", less->states, how->max_states)
               ? NULL
               : "a state too few";
}

static const char *steps_of(const struct searched *s, struct search_options *how)
{
    how->max_steps = run(s, how)->steps;
    if (how->max_steps == 0)
        return NULL;
    if (run(s, how)->cut)
        return "steps that are enough";
    how->max_steps--;
    const struct search_result *less = run(s, how);
    return is_cut(less, "steps", less->steps, how->max_steps) ? NULL : "a step too few";
}

static const char *outcomes_of(const struct searched *s, struct search_options *how)
{
    how->max_outcomes = s->all.outcome_count;
    if (run(s, how)->cut)
        return "outcomes that are enough";
    if (how->max_outcomes-- < 2)
        return NULL;
    const struct search_result *less = run(s, how);
    return is_cut(less, "outcomes", less->outcome_count, how->max_outcomes) ? NULL
                                                                            : "an outcome too few";
}

static const char *depth_bound_of(const struct searched *s, struct search_options *how)
{
    how->method = SEARCH_STATES;
    how->max_depth = depth_of(s) + 1;
    if (run(s, how)->cut)
        return "a depth that is enough";
    how->max_depth--;
    const struct search_result *less = run(s, how);
    return how->max_depth == 0 || is_cut(less, "depth", less->cut_depth, how->max_depth)
               ? NULL
               : "a depth too small";
}

const char *searches_bounds(const struct searched *s, const struct search_options *enough)
{
    static const char *(*const asked[])(const struct searched *s, struct search_options *how) = {
        states_of, steps_of, outcomes_of, depth_bound_of};
    const uint32_t kinds = sizeof asked / sizeof *asked;
    struct search_options how = *enough;
    uint32_t draw = s->all.state_count + s->all.edge_count;
    how.method = draw / kinds % 2 ? SEARCH_SLEEP : SEARCH_STATES;
    how.no_races = how.no_lasso = true;
    const char *differs = asked[draw % kinds](s, &how);
    return differs
               ? arena_printf(s->arena, "%s: bound: %s", search_method_names[how.method], differs)
               : NULL;
}
