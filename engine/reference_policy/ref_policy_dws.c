/*
 * ref_policy_dws.c - dynamic warp subdivision (Meng et al., ISCA 2010; docs/progress.md).
 *
 * At a branch that is not marked the paths wait for each other as under a stack. Who took it together is a region,
 * until all have come to where its paths meet. Of several paths one runs, then the next.
 */
#include "engine/reference_policy/ref_policy_internal.h"

/* At a loop's exit the warp splits under `dws` and `dws-loops`, at another branch under `dws` and `dws-ifs`. */
static bool splits_at_loops(const struct ref_policy *p)
{
    return p->kind == REF_POLICY_DWS || p->kind == REF_POLICY_DWS_LOOPS;
}

static bool splits_at_ifs(const struct ref_policy *p)
{
    return p->kind == REF_POLICY_DWS || p->kind == REF_POLICY_DWS_IFS;
}

/* Where the paths of its region meet. */
static bool has_come(const struct ref_policy *p, uint32_t thread)
{
    const struct ref_spot *x = &p->spots[thread];
    if (p->region[thread] == REF_NOWHERE)
        return false;
    const struct ref_region *region = &p->regions[p->region[thread]];
    return x->height <= region->below || (x->height == region->below + 1 &&
                                          region->place != REF_NOWHERE && x->at == region->place);
}

bool ref_policy_may_run(const struct ref_policy *p, uint32_t thread)
{
    return p->turn[thread] == 0 && !has_come(p, thread);
}

/* NOWHERE: there is no room for one more. */
static uint32_t new_region(struct ref_policy *p, struct ref_span unit, uint32_t outer,
                           uint32_t below, uint32_t place)
{
    for (uint32_t i = unit.first; i < unit.end; i++) {
        if (!p->regions[i].there) {
            p->regions[i] = (struct ref_region){true, outer, below, place};
            return i;
        }
    }
    p->no_room = true;
    return REF_NOWHERE;
}

/* ---- the order of paths ---- */

/* Structured: else, then the then-part - who leaves a loop has come already -; blocks: as they stand in the text; PTX:
 * the branch that is taken, last what is behind it. */
static uint32_t path_of(const struct ref_policy *p, uint32_t thread)
{
    uint32_t at = p->spots[thread].at, path = at;
    if (p->view->structured)
        path = p->view->is_exit[p->branch] ? 0 : at == p->branch + 1;
    else if (p->view->falls_through && at == p->branch + 1)
        path = REF_NOWHERE;
    return p->then_first ? REF_NOWHERE - path : path;
}

/* How many other paths come before a thread's. */
static uint32_t paths_before(const struct ref_policy *p, struct ref_span unit, uint32_t thread)
{
    uint32_t count = 0;
    for (uint32_t t = unit.first; t < unit.end; t++) {
        bool first_of_path = p->stepped[t] && path_of(p, t) < path_of(p, thread);
        for (uint32_t u = unit.first; u < t && first_of_path; u++)
            first_of_path = !p->stepped[u] || path_of(p, u) != path_of(p, t);
        count += first_of_path;
    }
    return count;
}

/* Those of Θ that took it - the others have ended - went different ways at a branch that is not marked. */
static void part(struct ref_policy *p, struct ref_span unit)
{
    bool parted = false;
    uint32_t one = REF_NOWHERE;
    for (uint32_t t = unit.first; t < unit.end; t++) {
        p->stepped[t] = p->stepped[t] && !p->spots[t].ended;
        if (p->stepped[t] && one == REF_NOWHERE)
            one = t;
        parted = parted || (p->stepped[t] && !p->view->same_place(p->view->of, one, t, false));
    }
    if (parted && p->branch != REF_NOWHERE &&
        !(p->view->is_exit[p->branch] ? splits_at_loops(p) : splits_at_ifs(p))) {
        uint32_t place = p->view->structured ? REF_NOWHERE : p->view->meets[p->branch];
        uint32_t region = new_region(p, unit, p->region[one], p->height - 1, place);
        for (uint32_t t = unit.first; t < unit.end; t++) {
            if (p->stepped[t]) {
                p->turn[t] = paths_before(p, unit, t);
                p->region[t] = region;
            }
        }
    }
    for (uint32_t t = unit.first; t < unit.end; t++)
        p->stepped[t] = false;
}

/* ---- the end of a region ---- */

static uint32_t lowest_of(const struct ref_policy *p, struct ref_span unit, const bool *left)
{
    uint32_t lowest = REF_NOWHERE;
    for (uint32_t t = unit.first; t < unit.end; t++)
        if (left[t - unit.first] && p->spots[t].height < lowest)
            lowest = p->spots[t].height;
    return lowest;
}

/* Structured: some have left a loop or a function, the others have not. So the lower ones wait for these: where they
 * left a loop, only if exits of loops do not split. */
static void wait_for_others(struct ref_policy *p, struct ref_span unit, bool *left, uint32_t outer)
{
    for (;;) {
        uint32_t lowest = lowest_of(p, unit, left), other = REF_NOWHERE;
        for (uint32_t t = unit.first; t < unit.end; t++)
            if (left[t - unit.first] && p->spots[t].height > lowest)
                other = t;
        if (other == REF_NOWHERE)
            return;
        if (!splits_at_loops(p) || !p->view->loop_above(p->view->of, other, lowest)) {
            outer = new_region(p, unit, outer, lowest, REF_NOWHERE);
            for (uint32_t t = unit.first; t < unit.end; t++)
                if (left[t - unit.first])
                    p->region[t] = outer;
        }
        for (uint32_t t = unit.first; t < unit.end; t++)
            left[t - unit.first] = left[t - unit.first] && p->spots[t].height > lowest;
    }
}

static void end_region(struct ref_policy *p, struct ref_span unit, uint32_t region)
{
    bool left[LIMIT_THREADS] = {false};
    uint32_t outer = p->regions[region].outer;
    p->regions[region].there = false;
    for (uint32_t t = unit.first; t < unit.end; t++) {
        if (p->region[t] != region)
            continue;
        p->region[t] = outer;
        left[t - unit.first] = !p->spots[t].ended && !has_come(p, t);
    }
    if (p->view->structured)
        wait_for_others(p, unit, left, outer);
}

static bool holds_region(const struct ref_policy *p, struct ref_span unit, uint32_t region)
{
    for (uint32_t i = unit.first; i < unit.end; i++)
        if (p->regions[i].there && p->regions[i].outer == region)
            return true;
    return false;
}

/* The path whose turn it is has come to where paths meet, or ended: the next path's turn, or the region's end. Who
 * waits at a barrier holds up no other path, but the end. */
static bool go_on(struct ref_policy *p, struct ref_span unit, uint32_t region)
{
    uint32_t next = REF_NOWHERE;
    bool waits = false;
    for (uint32_t t = unit.first; t < unit.end; t++) {
        const struct ref_spot *x = &p->spots[t];
        if (p->region[t] != region || x->ended)
            continue;
        if (p->turn[t] > 0)
            next = p->turn[t] < next ? p->turn[t] : next;
        else if (!x->live)
            waits = true;
        else if (!has_come(p, t))
            return false;
    }
    if (next == REF_NOWHERE && waits)
        return false;
    for (uint32_t t = unit.first; t < unit.end; t++)
        if (p->region[t] == region && p->turn[t] == next)
            p->turn[t] = 0;
    if (next == REF_NOWHERE)
        end_region(p, unit, region);
    return true;
}

void ref_policy_split(struct ref_policy *p, struct ref_span unit)
{
    part(p, unit);
    for (bool changed = true; changed && !p->no_room;) {
        changed = false;
        for (uint32_t i = unit.first; i < unit.end; i++)
            if (p->regions[i].there && !holds_region(p, unit, i))
                changed |= go_on(p, unit, i);
    }
}

void ref_policy_merge_all(struct ref_policy *p, struct ref_span unit)
{
    for (uint32_t i = unit.first; i < unit.end; i++) {
        p->regions[i].there = false;
        p->region[i] = REF_NOWHERE;
        p->turn[i] = 0;
    }
}
