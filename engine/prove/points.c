/*
 * points.c - no proof of nothing: that the places which a proof is about are reached under what it assumes.
 *
 * Loops cut at invariants allow everything that loops run some trips do, and more. So a barrier, a loop's
 * head, or the end that some pair of threads reaches within some trips is reached with cuts, too - or
 * what is assumed excludes real executions, and a proof under it says nothing about them.
 */
#include "engine/prove/inference.h"

#include <inttypes.h>

/* In any trip. */
static term reached_at(struct duo *duo, uint32_t key)
{
    term any = TERM_FALSE;
    for (uint32_t i = 0; i < duo->points.count; i++) {
        const struct point *point = &GROWN(duo->points, struct point)[i];
        if (point->key == key)
            any = term_or(&duo->terms, any, point->reached);
    }
    return any;
}

static bool is_first(const struct duo *duo, uint32_t i)
{
    const struct point *points = GROWN(duo->points, struct point);
    for (uint32_t n = 0; n < i; n++)
        if (points[n].key == points[i].key)
            return false;
    return true;
}

/* Whether a pair may reach it; a solver that does not know excludes nothing. */
static bool may_reach(struct duo *duo, struct solver *solver, uint32_t key)
{
    return duo_ask(duo, solver, reached_at(duo, key), NULL, NULL, 0) != SOLVER_UNSAT;
}

static bool does_reach(struct duo *duo, struct solver *solver, uint32_t key)
{
    return duo_ask(duo, solver, reached_at(duo, key), NULL, NULL, 0) == SOLVER_SAT;
}

static bool lose(struct duo *cut, const struct point *point, const char **reason)
{
    *reason = arena_printf(cut->arena,
                           "what is assumed of the loops excludes that %s at line %" PRIu32
                           " is reached, which it is: no proof would mean anything",
                           point->what, point->at.line);
    return false;
}

/* All points of the unrolled run: one that the cuts have not even met is lost as well. */
bool points_agree(struct duo *cut, struct duo *unrolled, struct solver *solver,
                  uint32_t *unreachable, const char **reason)
{
    for (uint32_t i = 0; i < unrolled->points.count; i++) {
        struct point point = GROWN(unrolled->points, struct point)[i];
        if (!is_first(unrolled, i) || may_reach(cut, solver, point.key))
            continue;
        if (does_reach(unrolled, solver, point.key))
            return lose(cut, &point, reason);
        ++*unreachable;
    }
    return true;
}

/* As clauses: they are safe although they say that somebody is there. */
static bool is_never(struct duo *cut, struct solver *solver, uint32_t key)
{
    struct text text = text_begin(cut->arena);
    horn_print_reached(&text, cut, reached_at(cut, key));
    return solver_ask(solver, text.bytes, NULL, NULL, 0) == SOLVER_SAT;
}

bool points_reached(struct duo *cut, struct duo *unrolled, struct solver *solver,
                    const char **reason)
{
    for (uint32_t i = 0; i < unrolled->points.count; i++) {
        struct point point = GROWN(unrolled->points, struct point)[i];
        if (is_first(unrolled, i) && is_never(cut, solver, point.key) &&
            does_reach(unrolled, solver, point.key))
            return lose(cut, &point, reason);
    }
    return true;
}
