/*
 * rehearse.c - guesses that a run of the two threads shows to be false: they are dropped before a solver is asked.
 *
 * The terms of P are evaluated for drawn inputs, threads and watched locations, trip after trip: what a loop changes
 * is at the head what it was before the loop, then what it was after the last trip. All that is met so can be met,
 * so no set of guesses that Houdini could keep contains one that is false there: the result is the same.
 */
#include "engine/prove/inference.h"

#include <string.h>

#include "engine/base/pcg.h"
#include "engine/smt/term_value.h"

enum {
    TRACES_MAX = 64,
    TRACES_QUIET = 10, /* in a row in which nothing was dropped: it is enough */
    TRIPS_MAX = 20,
    DRAWS_MAX = 16,           /* of a launch that meets what is assumed */
    EVALUATIONS_MAX = 1 << 24 /* of terms, in all */
};

/* Terms in an order in which they can be evaluated. */
struct cone {
    term *list;
    uint32_t count;
};

struct cut_cones {
    struct cone entry; /* the state before the loop */
    struct cone latch; /* after a trip, and what is accessed in it: without `entry` */
    struct cone guess; /* the candidates, and who is at the head: likewise */
};

struct rehearsal {
    struct duo *duo;
    struct terms *t;
    struct term_values values;
    struct cut_cones *cones;
    struct cone assumed;
    struct pcg rng;
    int64_t *aimed; /* a variable: a location that thread 1 has accessed; -1: none */
    uint64_t evaluations;
    bool dropped;
};

static struct loop_cut *cut_at(const struct rehearsal *r, uint32_t i)
{
    return GROWN(r->duo->cuts, struct loop_cut *)[i];
}

/* Thread k is at the head. */
static const term *head_of(const struct rehearsal *r, const struct loop_cut *cut, uint32_t k)
{
    return &cut->head[slot_at(r->duo, r->duo->cfg->loops[cut->loop].head, k)];
}

/* ---- what is evaluated ---- */

/* The terms marked in `seen` and all below them, but for those in `known`. */
static struct cone cone_of(struct rehearsal *r, uint8_t *seen, const uint8_t *known)
{
    struct cone cone = {.list = NULL};
    uint32_t total = r->t->count, count = 0;
    term last = total - 1;
    while (last > 0 && !seen[last])
        last--;
    term_mark_cone(r->t, last, seen);
    for (term t = 1; t < total; t++)
        count += seen[t] && !(known && known[t]);
    cone.list = ARENA_ARRAY(r->duo->arena, term, count + 1);
    for (term t = 1; t < total; t++)
        if (seen[t] && !(known && known[t]))
            cone.list[cone.count++] = t;
    return cone;
}

static void mark_state(const struct rehearsal *r, const struct loop_cut *cut, const term *state,
                       uint8_t *seen)
{
    for (uint32_t i = 0; i < cut->symbol_count; i++)
        seen[state[cut->symbol_slots[i]]] = 1;
    seen[state[slot_path(r->duo)]] = 1;
}

static void find_cones(struct rehearsal *r, uint32_t i)
{
    const struct loop_cut *cut = cut_at(r, i);
    uint8_t *before = ARENA_ARRAY(r->duo->arena, uint8_t, r->t->count);
    uint8_t *after = ARENA_ARRAY(r->duo->arena, uint8_t, r->t->count);
    uint8_t *guess = ARENA_ARRAY(r->duo->arena, uint8_t, r->t->count);
    mark_state(r, cut, cut->entry, before);
    before[cut->in[0]] = before[cut->in[1]] = 1;
    r->cones[i].entry = cone_of(r, before, NULL);
    mark_state(r, cut, cut->latch, after);
    for (uint32_t n = cut->access_first; n < cut->access_end; n++) {
        const struct access_seen *access = &GROWN(r->duo->accesses, struct access_seen)[n];
        after[access->index] = after[access->enabled] = 1;
    }
    r->cones[i].latch = cone_of(r, after, before);
    for (uint32_t n = 0; n < cut->candidate_count; n++)
        guess[cut->candidates[n].holds] = 1;
    guess[*head_of(r, cut, 0)] = guess[*head_of(r, cut, 1)] = 1;
    r->cones[i].guess = cone_of(r, guess, before);
}

static void evaluate(struct rehearsal *r, const struct cone *cone)
{
    term_values_find(r->t, &r->values, cone->list, cone->count);
    r->evaluations += cone->count;
}

static bool is_true(const struct rehearsal *r, term t)
{
    return r->values.words[t] != 0;
}

/* ---- what is drawn ---- */

static void draw(struct rehearsal *r, term symbol)
{
    term_value_draw(r->t, &r->values, symbol, pcg_next64(&r->rng));
}

static bool draw_launch(struct rehearsal *r)
{
    const term *assumed = GROWN(r->duo->assumptions, term);
    bool holds = true;
    for (term t = 1; t < r->t->count; t++)
        if (term_of(r->t, t)->op == TERM_SYMBOL)
            draw(r, t);
    for (uint32_t i = 0; i < r->duo->cuts.count; i++)
        r->values.words[cut_at(r, i)->invariant] = 1;
    for (uint32_t i = 0; i < r->duo->var_count; i++)
        if (r->aimed[i] >= 0)
            r->values.words[r->duo->watched[i]] = r->aimed[i];
    evaluate(r, &r->assumed);
    for (uint32_t i = 0; i < r->duo->assumptions.count; i++)
        holds = holds && is_true(r, assumed[i]);
    return holds;
}

/* What a trip makes up is new in each trip. */
static void draw_trip(struct rehearsal *r, const struct loop_cut *cut)
{
    for (uint32_t i = 0; i < r->duo->fresh.count; i++) {
        term symbol = GROWN(r->duo->fresh, term)[i];
        if (symbol > cut->invariant && symbol < cut->end)
            draw(r, symbol);
    }
}

/* ---- a trace ---- */

static void enter_head(struct rehearsal *r, const struct loop_cut *cut, const term *state)
{
    int64_t *words = ARENA_ARRAY(r->duo->arena, int64_t, cut->symbol_count + 1);
    const struct term_array **arrays =
        ARENA_ARRAY(r->duo->arena, const struct term_array *, cut->symbol_count + 1);
    for (uint32_t i = 0; i < cut->symbol_count; i++) {
        words[i] = r->values.words[state[cut->symbol_slots[i]]];
        arrays[i] = r->values.arrays[state[cut->symbol_slots[i]]];
    }
    for (uint32_t i = 0; i < cut->symbol_count; i++) {
        r->values.words[cut->symbols[i]] = words[i];
        r->values.arrays[cut->symbols[i]] = arrays[i];
    }
}

static void drop_false(struct rehearsal *r, uint32_t i)
{
    struct loop_cut *cut = cut_at(r, i);
    evaluate(r, &r->cones[i].guess);
    for (uint32_t n = 0; n < cut->candidate_count; n++) {
        struct candidate *c = &cut->candidates[n];
        if (!c->kept || is_true(r, c->holds))
            continue;
        c->kept = false;
        r->dropped = true;
    }
}

/* Some location that thread 1 accesses is watched in the next trace. */
static void aim(struct rehearsal *r, const struct loop_cut *cut)
{
    for (uint32_t n = cut->access_first; n < cut->access_end; n++) {
        const struct access_seen *access = &GROWN(r->duo->accesses, struct access_seen)[n];
        int64_t index = r->values.words[access->index];
        uint32_t mark = access->var->mark;
        if (is_true(r, access->enabled) && index >= 0 &&
            index < (int64_t)access->var->length * r->duo->units &&
            (r->aimed[mark] < 0 || pcg_below(&r->rng, 4) == 0))
            r->aimed[mark] = index;
    }
}

static bool somebody_in(const struct rehearsal *r, const struct loop_cut *cut)
{
    return is_true(r, *head_of(r, cut, 0)) || is_true(r, *head_of(r, cut, 1));
}

static bool run_cut(struct rehearsal *r, uint32_t i);

/* The loops in it come first: they stand before it. */
static bool run_trip(struct rehearsal *r, uint32_t i)
{
    const struct loop_cut *cut = cut_at(r, i);
    draw_trip(r, cut);
    for (uint32_t n = 0; n < i; n++)
        if (r->duo->cfg->loops[cut_at(r, n)->loop].parent == cut->loop && !run_cut(r, n))
            return false;
    evaluate(r, &r->cones[i].latch);
    aim(r, cut);
    return is_true(r, cut->latch[slot_path(r->duo)]);
}

/* False: the path ends. */
static bool run_cut(struct rehearsal *r, uint32_t i)
{
    const struct loop_cut *cut = cut_at(r, i);
    evaluate(r, &r->cones[i].entry);
    if (!is_true(r, cut->entry[slot_path(r->duo)]))
        return false;
    enter_head(r, cut, cut->entry);
    drop_false(r, i);
    for (uint32_t trip = 0; trip < TRIPS_MAX; trip++) {
        if (!somebody_in(r, cut) || r->evaluations > EVALUATIONS_MAX)
            return true;
        if (!run_trip(r, i))
            return false;
        enter_head(r, cut, cut->latch);
        drop_false(r, i);
    }
    return true;
}

static void run_trace(struct rehearsal *r)
{
    bool goes_on = false;
    for (uint32_t n = 0; n < DRAWS_MAX && !goes_on; n++)
        goes_on = draw_launch(r);
    for (uint32_t i = 0; i < r->duo->cuts.count && goes_on; i++)
        if (r->duo->cfg->loops[cut_at(r, i)->loop].parent == CFG_NO_LOOP)
            goes_on = run_cut(r, i);
}

void rehearse(struct duo *duo)
{
    struct rehearsal r = {.duo = duo, .t = &duo->terms};
    uint32_t quiet = 0;
    uint8_t *seen = ARENA_ARRAY(duo->arena, uint8_t, duo->terms.count);
    if (duo->cuts.count == 0)
        return;
    term_values_init(&r.values, duo->arena, duo->terms.count);
    pcg_seed(&r.rng, pcg_splitmix(duo->terms.count), 1);
    r.cones = ARENA_ARRAY(duo->arena, struct cut_cones, duo->cuts.count);
    r.aimed = ARENA_ARRAY(duo->arena, int64_t, duo->var_count + 1);
    for (uint32_t i = 0; i < duo->assumptions.count; i++)
        seen[GROWN(duo->assumptions, term)[i]] = 1;
    r.assumed = cone_of(&r, seen, NULL);
    for (uint32_t i = 0; i < duo->cuts.count; i++)
        find_cones(&r, i);
    for (uint32_t n = 0; n < TRACES_MAX && quiet < TRACES_QUIET && r.evaluations < EVALUATIONS_MAX;
         n++) {
        size_t mark = arena_mark(duo->arena);
        for (uint32_t i = 0; n % 2 == 0 && i < duo->var_count; i++)
            r.aimed[i] = -1;
        r.dropped = false;
        run_trace(&r);
        quiet = r.dropped ? 0 : quiet + 1;
        arena_release(duo->arena, mark);
    }
}
