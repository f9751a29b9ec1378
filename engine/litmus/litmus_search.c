/*
 * litmus_search.c - all states of a litmus test, and the outcomes of those in which it has ended.
 */
#include "engine/litmus/litmus_internal.h"

#include <stdlib.h>
#include <string.h>

struct litmus_walk {
    struct litmus_run run;
    struct litmus_state *states;
    uint32_t *table, mask;
    uint32_t count, limit;
    uint32_t successors; /* of the state at hand, other than itself */
    const struct litmus_state *from;
    uint32_t at; /* its number */
    bool full;
    struct litmus_result *result;
    struct step_to *ways; /* a state each, or NULL: nobody asks how it is come to */
    struct litmus_paths *paths;
};

struct step_to {
    uint32_t from;
    struct litmus_move move;
};

static uint64_t hash(const struct litmus_state *state)
{
    const unsigned char *bytes = (const unsigned char *)state;
    uint64_t h = 1469598103934665603U;
    for (size_t i = 0; i + 8 <= sizeof *state; i += 8) {
        uint64_t words;
        memcpy(&words, bytes + i, 8);
        h = (h ^ words) * 1099511628211U;
        h ^= h >> 29;
    }
    return h;
}

_Static_assert(sizeof(struct litmus_state) % 8 == 0, "hash() takes whole words");

static void add_state(struct litmus_walk *walk, const struct litmus_state *state,
                      struct step_to way)
{
    uint32_t at = (uint32_t)hash(state) & walk->mask;
    for (; walk->table[at]; at = (at + 1) & walk->mask)
        if (!memcmp(&walk->states[walk->table[at] - 1], state, sizeof *state))
            return;
    if (walk->count == walk->limit) {
        walk->full = true;
        return;
    }
    if (walk->ways)
        walk->ways[walk->count] = way;
    walk->states[walk->count++] = *state;
    walk->table[at] = walk->count;
}

void litmus_found(struct litmus_walk *walk, const struct litmus_state *state,
                  struct litmus_move move)
{
    if (!memcmp(walk->from, state, sizeof *state))
        return; /* a retry that changed nothing */
    walk->successors++;
    add_state(walk, state, (struct step_to){walk->at, move});
}

/* What a thread's own word holds, if it stands in the L1 only. */
static int dirty_local(const struct litmus_walk *walk, const struct litmus_state *state,
                       const struct litmus_observed *o, int value)
{
    if (o->is_register || litmus_space(o->number) != WORD_LOCAL)
        return value;
    uint32_t offset = o->number % 2;
    const struct litmus_line *line =
        &state->l1[walk->run.test->threads[o->thread].sm][LITMUS_GLOBALS + o->thread];
    return line->dmask >> offset & 1 ? line->vals[offset] : value;
}

/* The states are searched breadth first: no way to this one is shorter. */
static void keep_path(struct litmus_walk *walk, const int16_t *values)
{
    struct litmus_path *path = &walk->paths->of[walk->paths->count++];
    memcpy(path->values, values, sizeof path->values);
    path->count = 1;
    for (uint32_t i = walk->at; walk->ways[i].move.kind != MOVE_START; i = walk->ways[i].from)
        path->count++;
    path->moments = arena_alloc(walk->run.arena, path->count, sizeof *path->moments);
    for (uint32_t i = walk->at, k = path->count; k-- > 0; i = walk->ways[i].from)
        path->moments[k] = (struct litmus_moment){walk->ways[i].move, walk->states[i]};
}

static void ended(struct litmus_walk *walk, const struct litmus_state *state)
{
    const struct litmus_test *test = walk->run.test;
    int16_t values[LITMUS_OBSERVED] = {0};
    for (uint32_t i = 0; i < test->observed; i++) {
        const struct litmus_observed *o = &test->observe[i];
        int value =
            o->is_register ? state->actors[o->thread].regs[o->number] : state->words[o->number];
        values[i] = (int16_t)dirty_local(walk, state, o, value);
    }
    uint32_t known = walk->result->count;
    litmus_add_outcome(walk->run.arena, test, walk->result, values);
    if (walk->paths && walk->result->count > known && walk->paths->count < walk->paths->most)
        keep_path(walk, values);
}

static void expand(struct litmus_walk *walk, enum litmus_model model, uint32_t index)
{
    struct litmus_state state = walk->states[index];
    walk->from = &state;
    walk->at = index;
    walk->successors = 0;
    if (litmus_done(&walk->run, &state))
        ended(walk, &state);
    if (model == LITMUS_SC)
        litmus_sc_steps(&walk->run, &state, walk);
    else
        litmus_steps(&walk->run, &state, walk);
    if (!walk->successors && !litmus_done(&walk->run, &state))
        walk->result->dead++;
}

static struct litmus_options options_of(const struct litmus_test *test, enum litmus_model model)
{
    struct litmus_options o = test->options;
    if (model == LITMUS_LLH)
        o.poloc = o.loads_free = true;
    if (model == LITMUS_COHERENT)
        o.poloc = o.strong = o.before = true;
    return o;
}

static uint32_t vectors(const struct litmus_test *test)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < test->count; t++)
        for (uint32_t i = 0; i < test->threads[t].length; i++)
            count += test->threads[t].code[i].lanes > 1;
    return count;
}

/* Is this a way that the test's `split` knows to put lanes together? Two bits an instruction. */
static bool choice_counts(const struct litmus_run *run, enum litmus_model model, uint32_t choice,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t way = choice >> 2 * i & 3;
        bool apart = way == APART;
        if (way > APART || (model == LITMUS_SC && apart))
            return false;
        if (model != LITMUS_SC && run->o.split != SPLIT_ALL &&
            apart != (run->o.split == SPLIT_NONE))
            return false;
    }
    return true;
}

static void start_all(struct litmus_walk *walk, enum litmus_model model)
{
    uint32_t count = vectors(walk->run.test);
    for (uint32_t choice = 0; choice < 1U << 2 * count; choice++) {
        struct litmus_state state;
        memset(&state, 0, sizeof state);
        if (!choice_counts(&walk->run, model, choice, count))
            continue;
        state.choice = choice;
        litmus_start(&walk->run, &state);
        if (model != LITMUS_SC)
            litmus_settle(&walk->run, &state);
        add_state(walk, &state, (struct step_to){0, {MOVE_START, 0, 0}});
    }
}

static bool search(struct litmus_walk *walk, enum litmus_model model)
{
    uint32_t slots = 1;
    while (slots < 2 * walk->limit)
        slots *= 2;
    walk->mask = slots - 1;
    walk->states = malloc(walk->limit * sizeof *walk->states);
    walk->table = calloc(slots, sizeof *walk->table);
    walk->ways = walk->paths ? malloc(walk->limit * sizeof *walk->ways) : NULL;
    bool room = walk->states && walk->table && (walk->ways || !walk->paths);
    if (room) {
        start_all(walk, model);
        for (uint32_t i = 0; i < walk->count; i++)
            expand(walk, model, i);
    }
    free(walk->states);
    free(walk->table);
    free(walk->ways);
    walk->result->states = walk->count;
    return room && !walk->full;
}

bool litmus_run_paths(struct arena *arena, const struct litmus_test *test, enum litmus_model model,
                      uint32_t limit, struct litmus_result *result, struct litmus_paths *paths)
{
    struct litmus_test *lowered = ARENA_NEW(arena, struct litmus_test);
    memset(result, 0, sizeof *result);
    if (model != LITMUS_SC) {
        result->silent = litmus_lower(test, lowered);
        test = lowered;
    }
    if (result->silent)
        return true;
    struct litmus_walk walk = {.run = {arena, test, options_of(test, model)},
                               .limit = limit,
                               .result = result,
                               .paths = paths};
    if (paths) {
        paths->test = test;
        paths->words_a_line = walk.run.o.words_a_line;
        paths->of = arena_alloc(arena, paths->most, sizeof *paths->of);
    }
    return search(&walk, model);
}

bool litmus_run(struct arena *arena, const struct litmus_test *test, enum litmus_model model,
                uint32_t limit, struct litmus_result *result)
{
    return litmus_run_paths(arena, test, model, limit, result, NULL);
}
