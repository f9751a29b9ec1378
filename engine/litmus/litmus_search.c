/*
 * litmus_search.c - all states of a litmus test, and the outcomes of those in which it has ended.
 */
#include "engine/base/text.h"
#include "engine/litmus/litmus_internal.h"

#include <stdlib.h>
#include <string.h>

const char *const litmus_model_names[LITMUS_MODELS] = {"sc", "printed", "llh", "coherent"};

struct litmus_walk {
    struct litmus_run run;
    struct litmus_state *states;
    uint32_t *table, mask;
    uint32_t count, limit;
    uint32_t successors; /* of the state at hand, other than itself */
    const struct litmus_state *from;
    bool full;
    struct litmus_result *result;
};

static uint64_t hash(const struct litmus_state *state)
{
    const unsigned char *bytes = (const unsigned char *)state;
    uint64_t h = 1469598103934665603U;
    for (size_t i = 0; i + 4 <= sizeof *state; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, 4);
        h = (h ^ word) * 1099511628211U;
        h ^= h >> 29;
    }
    return h;
}

_Static_assert(sizeof(struct litmus_state) % 4 == 0, "hash() takes whole words");

static void add_state(struct litmus_walk *walk, const struct litmus_state *state)
{
    uint32_t at = (uint32_t)hash(state) & walk->mask;
    for (; walk->table[at]; at = (at + 1) & walk->mask)
        if (!memcmp(&walk->states[walk->table[at] - 1], state, sizeof *state))
            return;
    if (walk->count == walk->limit) {
        walk->full = true;
        return;
    }
    walk->states[walk->count++] = *state;
    walk->table[at] = walk->count;
}

void litmus_found(struct litmus_walk *walk, const struct litmus_state *state)
{
    if (!memcmp(walk->from, state, sizeof *state))
        return; /* a retry that changed nothing */
    walk->successors++;
    add_state(walk, state);
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

/* One digit a value that is below ten; longer ones in parentheses. */
static char *outcome(const struct litmus_walk *walk, const struct litmus_state *state)
{
    const struct litmus_test *test = walk->run.test;
    struct text text = text_begin(walk->run.arena);
    for (uint32_t i = 0; i < test->observed; i++) {
        const struct litmus_observed *o = &test->observe[i];
        int value =
            o->is_register ? state->actors[o->thread].regs[o->number] : state->words[o->number];
        value = dirty_local(walk, state, o, value);
        text_format(&text, value >= 0 && value < 10 ? "%d" : "(%d)", value);
    }
    return text.bytes;
}

static void add_outcome(struct litmus_walk *walk, const struct litmus_state *state)
{
    struct litmus_result *r = walk->result;
    char *made = outcome(walk, state);
    uint32_t at = 0;
    while (at < r->count && strcmp(r->outcomes[at], made) < 0)
        at++;
    if (at < r->count && !strcmp(r->outcomes[at], made))
        return;
    char **more = arena_alloc(walk->run.arena, r->count + 1, sizeof *more);
    for (uint32_t i = 0; i <= r->count; i++)
        more[i] = i < at ? r->outcomes[i] : i == at ? made : r->outcomes[i - 1];
    r->outcomes = more;
    r->count++;
}

static void expand(struct litmus_walk *walk, enum litmus_model model, uint32_t index)
{
    struct litmus_state state = walk->states[index];
    walk->from = &state;
    walk->successors = 0;
    if (litmus_done(&walk->run, &state))
        add_outcome(walk, &state);
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
        add_state(walk, &state);
    }
}

bool litmus_run(struct arena *arena, const struct litmus_test *test, enum litmus_model model,
                uint32_t limit, struct litmus_result *result)
{
    uint32_t slots = 1;
    while (slots < 2 * limit)
        slots *= 2;
    struct litmus_walk walk = {.run = {arena, test, options_of(test, model)}, .limit = limit};
    memset(result, 0, sizeof *result);
    walk.result = result;
    walk.mask = slots - 1;
    walk.states = malloc(limit * sizeof *walk.states);
    walk.table = calloc(slots, sizeof *walk.table);
    if (walk.states && walk.table) {
        start_all(&walk, model);
        for (uint32_t i = 0; i < walk.count; i++)
            expand(&walk, model, i);
    }
    bool whole = walk.states && walk.table && !walk.full;
    free(walk.states);
    free(walk.table);
    result->states = walk.count;
    return whole;
}

static uint32_t words_in(const char *text)
{
    uint32_t count = 0;
    for (const char *p = text; *p; p++)
        count += *p != ' ' && (p == text || p[-1] == ' ');
    return count;
}

static bool among(const char *outcome, const char *list)
{
    size_t length = strlen(outcome);
    for (const char *p = list; (p = strstr(p, outcome)); p++)
        if ((p == list || p[-1] == ' ') && (p[length] == ' ' || !p[length]))
            return true;
    return false;
}

static bool has(const struct litmus_result *set, const char *outcome)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (!strcmp(set->outcomes[i], outcome))
            return true;
    return false;
}

static bool sc_expected(const char *list, const struct litmus_result *sc)
{
    if (!strncmp(list, "count ", 6))
        return strtoul(list + 6, NULL, 10) == sc->count;
    for (uint32_t i = 0; i < sc->count; i++)
        if (!among(sc->outcomes[i], list))
            return false;
    return words_in(list) == sc->count;
}

bool litmus_expected(const struct litmus_test *test, const struct litmus_result *sc,
                     const struct litmus_result *model)
{
    const char *more = test->more ? test->more : "";
    uint32_t extra = 0;
    if (test->sc && !sc_expected(test->sc, sc))
        return false;
    for (uint32_t i = 0; i < sc->count; i++)
        if (!has(model, sc->outcomes[i]))
            return false;
    for (uint32_t i = 0; i < model->count; i++)
        if (!has(sc, model->outcomes[i])) {
            extra++;
            if (!among(model->outcomes[i], more))
                return false;
        }
    return extra == words_in(more) && !sc->dead && !model->dead;
}
