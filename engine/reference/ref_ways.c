/*
 * ref_ways.c - in how many ways a step may end, at least. Of the threads that write one place together, any may be the
 * last (assign^w, psi_T, MEM.nd.5); atomics of one place are done in any order (LOCK.atomic, MEM.nd.6, ERR.47). Two ways
 * for each place where memory or a result shows the order.
 */
#include "engine/reference/reference.h"

static const uint64_t most = (uint64_t)1 << 32; /* more is not counted */

uint64_t ref_ways_of_writes(const struct ref_one_write *x, uint32_t count)
{
    uint64_t ways = 1;
    for (uint32_t i = 0; i < count; i++) {
        bool is_first = true, differs = false;
        for (uint32_t k = 0; k < count; k++) {
            is_first = is_first && (k >= i || x[k].place != x[i].place);
            differs = differs || (x[k].place == x[i].place && x[k].value != x[i].value);
        }
        if (is_first && differs && ways < most)
            ways *= 2;
    }
    return ways;
}

/* All atomics of a place, one after another, from the first or from the last one on: what each finds, and what is left. */
static uint64_t in_turn(const struct ref_one_atomic *x, uint32_t count, uint32_t place_of,
                        bool backwards, const struct ref_atomics *all, uint64_t *found)
{
    uint64_t value = x[place_of].before;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = backwards ? count - 1 - i : i;
        if (x[k].place != x[place_of].place)
            continue;
        found[k] = value;
        value = all->after(all->what, value, x[k].b, x[k].c);
    }
    return value;
}

uint64_t ref_ways_of_atomics(const struct ref_one_atomic *x, uint32_t count,
                             const struct ref_atomics *all)
{
    uint64_t ways = 1, forwards[LIMIT_THREADS], backwards[LIMIT_THREADS];
    for (uint32_t i = 0; i < count; i++) {
        bool is_first = true, differs;
        for (uint32_t k = 0; k < i; k++)
            is_first = is_first && x[k].place != x[i].place;
        if (!is_first)
            continue;
        differs = in_turn(x, count, i, false, all, forwards) !=
                  in_turn(x, count, i, true, all, backwards);
        for (uint32_t k = i; k < count && all->shows_found; k++)
            differs = differs || (x[k].place == x[i].place && forwards[k] != backwards[k]);
        if (differs && ways < most)
            ways *= 2;
    }
    return ways;
}
