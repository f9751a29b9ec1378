/*
 * searches_short.c - what makes lassos small: it must go on until nothing of what it tries can be left out, by a plain
 * enumeration of all that might be, on the graph of all states.
 */
#include "engine/progress/fair_lasso.h"
#include "oracle/searches/searches_internal.h"

#include <string.h>

enum { SHORTEN_STEPS = 20000 };

/* An execution of a model: the steps of a way, from `stem` on again and again. */
struct lasso_way {
    const struct searched *s;
    enum progress_model model;
    struct searched_way way;
    uint32_t stem;
};

/* The execution of the steps, where those of actors that cannot step are left out, is shorter and one of the model. */
static bool would_do(const struct lasso_way *l, const uint32_t *actors, uint32_t count,
                     uint32_t stem)
{
    struct searched_way way = {.count = 0};
    uint32_t stem_steps = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == stem)
            stem_steps = way.count;
        if (l->s->all.states[way.states[way.count]].live[actors[i]] &&
            !searches_add_step(l->s, &way, actors[i]))
            return false; /* a choice within a step */
    }
    return stem < count && way.count < l->way.count &&
           searches_is_execution(l->s, l->model, &way, stem_steps);
}

/* Without the steps that are left out. */
static bool without(const struct lasso_way *l, const bool *out)
{
    uint32_t actors[SEARCHES_WAY], count = 0, stem = 0;
    for (uint32_t i = 0; i < l->way.count; i++) {
        if (i == l->stem)
            stem = count;
        if (!out[i])
            actors[count++] = l->way.actors[i];
    }
    return would_do(l, actors, count, stem);
}

/* Steps [from, to). */
static bool without_part(const struct lasso_way *l, uint32_t from, uint32_t to)
{
    bool out[SEARCHES_WAY] = {false};
    for (uint32_t i = from; i < to; i++)
        out[i] = true;
    return without(l, out);
}

/* All steps of the actor in the first `end`. */
static bool without_actor(const struct lasso_way *l, uint32_t actor, uint32_t end)
{
    bool out[SEARCHES_WAY] = {false};
    for (uint32_t i = 0; i < end; i++)
        out[i] = l->way.actors[i] == actor;
    return without(l, out);
}

/* From each state of the stem on as from when the execution is there last; the loop begins where that comes to it. */
static bool without_rounds(const struct lasso_way *l)
{
    uint32_t actors[SEARCHES_WAY], count = 0, at = 0, stem;
    while (at < l->stem) {
        uint32_t last = l->way.count - 1;
        while (l->way.states[last] != l->way.states[at])
            last--;
        if (last == at)
            actors[count++] = l->way.actors[at++];
        else
            at = last;
    }
    stem = count;
    for (uint32_t i = 0; i < l->way.count - l->stem; i++)
        actors[count++] = l->way.actors[l->stem + (at - l->stem + i) % (l->way.count - l->stem)];
    return would_do(l, actors, count, stem);
}

/* What can be left out; NULL: nothing. */
static const char *left_over(const struct lasso_way *l)
{
    for (uint32_t i = 0; i < l->way.count; i++)
        if (without_part(l, i, i + 1))
            return "a step";
    for (uint32_t a = 0; a < l->s->actors; a++)
        if (without_actor(l, a, l->way.count) || without_actor(l, a, l->stem))
            return "an actor";
    for (uint32_t from = l->stem; from < l->way.count; from++)
        for (uint32_t to = from + 1; to <= l->way.count; to++)
            if (l->way.states[from] == l->way.states[to] && without_part(l, from, to))
                return "a loop in the loop";
    return without_rounds(l) ? "what the stem goes round" : NULL;
}

const char *searches_shorten(const struct searched *s, struct machine *machine,
                             enum progress_model model, const struct tape *stem,
                             const struct tape *loop)
{
    const struct fair_units units = {s->units.unit_of, s->units.count};
    uint32_t before = stem->count + loop->count;
    bool whole = fair_lasso_shorten(s->arena, machine, &units, model, &stem, &loop, SHORTEN_STEPS);
    struct lasso_way l = {s, model, searches_way_of(s, stem, loop), stem->count};
    if (l.way.count == UINT32_MAX)
        return l.way.wrong ? "lasso: shortened, a step that cannot be" : NULL;
    if (l.way.count > before || !searches_is_execution(s, model, &l.way, l.stem))
        return arena_printf(s->arena, "lasso: shortened under %s", progress_table[model].name);
    const char *more = whole ? left_over(&l) : NULL;
    return more ? arena_printf(s->arena, "lasso: short but for %s under %s", more,
                               progress_table[model].name)
                : NULL;
}
