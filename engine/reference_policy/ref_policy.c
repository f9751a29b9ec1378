#include "engine/reference_policy/ref_policy_internal.h"

#include <string.h>

static bool is_over_block(enum ref_policy_kind kind)
{
    enum { WARP, BLOCK };
    switch (kind) {
#define POLICY(id, name, unit, sentence)                                                           \
    case REF_POLICY_##id:                                                                          \
        return (int)(unit) == BLOCK;
#include "engine/kernel/stackless.def"
#undef POLICY
    }
    return false;
}

struct ref_policy *ref_policy_new(struct arena *arena, const struct ref_view *view,
                                  const struct ast_launch *launch)
{
    struct ref_policy *p = ARENA_NEW(arena, struct ref_policy);
    uint32_t n = launch->blocks * launch->threads;
    p->view = view;
    p->launch = launch;
    p->threads = n;
    p->group = ARENA_ARRAY(arena, uint32_t, n);
    p->since = ARENA_ARRAY(arena, uint64_t, n);
    p->last = ARENA_ARRAY(arena, uint32_t, n);
    p->passed = ARENA_ARRAY(arena, uint32_t, n);
    p->seen = ARENA_ARRAY(arena, uint32_t, n);
    p->region = ARENA_ARRAY(arena, uint32_t, n);
    p->turn = ARENA_ARRAY(arena, uint32_t, n);
    p->regions = ARENA_ARRAY(arena, struct ref_region, n);
    p->stepped = ARENA_ARRAY(arena, bool, n);
    p->spots = ARENA_ARRAY(arena, struct ref_spot, n);
    return p;
}

/* A warp, the last of a block perhaps smaller; or a block. */
static struct ref_span span_of(const struct ref_policy *p, uint32_t unit)
{
    uint32_t size = p->over_block ? p->launch->threads : p->launch->warp;
    uint32_t a_block = (p->launch->threads + size - 1) / size;
    uint32_t block = unit / a_block * p->launch->threads, first = block + unit % a_block * size;
    uint32_t end = first + size, block_end = block + p->launch->threads;
    return (struct ref_span){first, end < block_end ? end : block_end};
}

void ref_policy_start(struct ref_policy *p, enum ref_policy_kind kind, bool literal,
                      bool then_first)
{
    p->kind = kind;
    p->literal = literal;
    p->then_first = then_first;
    p->over_block = is_over_block(kind);
    p->splits = kind >= REF_POLICY_DWS && kind <= REF_POLICY_DWS_NONE;
    p->no_room = false;
    p->group_count = p->group_at = 0;
    p->now = 0;
    p->held = p->branch = REF_NOWHERE;
    for (p->unit_count = 0; span_of(p, p->unit_count).first < p->threads; p->unit_count++)
        ;
    p->unit = p->unit_count - 1;
    for (uint32_t t = 0; t < p->threads; t++) {
        p->since[t] = 0;
        p->passed[t] = p->turn[t] = 0;
        p->last[t] = p->seen[t] = p->region[t] = REF_NOWHERE;
        p->regions[t].there = p->stepped[t] = false;
    }
}

/* ---- Θ = schedule(ς) ---- */

static bool may_step(const struct ref_policy *p, uint32_t thread)
{
    return p->spots[thread].live && (!p->splits || ref_policy_may_run(p, thread));
}

/* At one program counter, and of one split. */
static bool together(const struct ref_policy *p, uint32_t thread, uint32_t other)
{
    return (!p->splits || p->region[thread] == p->region[other]) &&
           p->view->same_place(p->view->of, thread, other, p->literal);
}

static uint32_t size_of_group(const struct ref_policy *p, struct ref_span unit, uint32_t thread)
{
    uint32_t size = 0;
    for (uint32_t t = unit.first; t < unit.end; t++)
        size += may_step(p, t) && together(p, thread, t);
    return size;
}

/* What the policy wants small, of a thread. */
static uint64_t rank_of(const struct ref_policy *p, struct ref_span unit, uint32_t thread)
{
    switch (p->kind) {
    case REF_POLICY_MINPC:
    case REF_POLICY_DWF_PC:
        return p->spots[thread].at;
    case REF_POLICY_MAJORITY:
    case REF_POLICY_DWF_MAJORITY:
        return p->threads - size_of_group(p, unit, thread);
    case REF_POLICY_MINORITY:
    case REF_POLICY_DWF_MINORITY:
        return size_of_group(p, unit, thread);
    case REF_POLICY_DWF_PDOM:
        return p->passed[thread];
    case REF_POLICY_RR:
    case REF_POLICY_ITS: { /* in a circle, behind who was last */
        uint32_t last = p->last[p->unit];
        return last != REF_NOWHERE && thread <= last ? p->threads + thread : thread;
    }
    case REF_POLICY_OLDEST:
    case REF_POLICY_DWF_TIME:
    case REF_POLICY_DWS:
    case REF_POLICY_DWS_LOOPS:
    case REF_POLICY_DWS_IFS:
    case REF_POLICY_DWS_NONE:
        return p->since[thread];
    case REF_POLICY_RANDOM:
        break;
    }
    return 0;
}

/* The lowest thread of those that the policy wants most. Chance: who is told, if it may be. */
static uint32_t leader_of(const struct ref_policy *p, struct ref_span unit, uint32_t told)
{
    uint32_t best = REF_NOWHERE;
    uint64_t least = 0;
    for (uint32_t t = unit.first; t < unit.end; t++) {
        if (!may_step(p, t))
            continue;
        if (p->kind == REF_POLICY_RANDOM && t == told)
            return t;
        uint64_t rank = rank_of(p, unit, t);
        if (best == REF_NOWHERE || rank < least) {
            best = t;
            least = rank;
        }
    }
    return best;
}

/* Whether somebody of its lane, in another warp, goes before it. */
static bool lane_is_taken(const struct ref_policy *p, struct ref_span unit, uint32_t leader,
                          uint32_t thread)
{
    for (uint32_t t = unit.first + (thread - unit.first) % p->launch->warp; t < unit.end;
         t += p->launch->warp) {
        bool earlier = p->kind == REF_POLICY_DWF_TIME && p->since[t] != p->since[thread]
                           ? p->since[t] < p->since[thread]
                           : t < thread;
        if (earlier && may_step(p, t) && together(p, leader, t))
            return true;
    }
    return false;
}

static void form_group(struct ref_policy *p, struct ref_span unit, uint32_t leader)
{
    p->group_count = p->group_at = 0;
    for (uint32_t t = unit.first; t < unit.end; t++)
        if (may_step(p, t) && together(p, leader, t) &&
            (!p->over_block || !lane_is_taken(p, unit, leader, t)))
            p->group[p->group_count++] = t;
    p->now++;
    for (uint32_t i = 0; i < p->group_count; i++)
        p->since[p->group[i]] = p->now;
}

/* DPdPri: who comes to a join has passed one more, but counts it once while it stays there. Only differences matter;
 * who cannot step has the fewest. */
static void count_joins(struct ref_policy *p, struct ref_span unit)
{
    uint32_t fewest = REF_NOWHERE;
    for (uint32_t i = 0; i < p->group_count; i++) {
        uint32_t t = p->group[i], next = p->spots[t].next;
        if (next != REF_NOWHERE && p->view->is_join[next] && p->seen[t] != next)
            p->passed[t]++;
        p->seen[t] = next;
    }
    for (uint32_t t = unit.first; t < unit.end; t++)
        if (p->spots[t].live && p->passed[t] < fewest)
            fewest = p->passed[t];
    for (uint32_t t = unit.first; t < unit.end; t++)
        p->passed[t] = p->spots[t].live ? p->passed[t] - fewest : 0;
}

static void remember_step(struct ref_policy *p)
{
    for (uint32_t i = 0; i < p->group_count; i++)
        p->stepped[p->group[i]] = true;
    p->branch = p->spots[p->group[0]].next;
    p->height = p->spots[p->group[0]].height;
}

static bool any(const struct ref_policy *p, struct ref_span unit,
                bool (*may)(const struct ref_policy *, uint32_t))
{
    for (uint32_t t = unit.first; t < unit.end; t++)
        if (may(p, t))
            return true;
    return false;
}

static bool is_live(const struct ref_policy *p, uint32_t thread)
{
    return p->spots[thread].live;
}

/* Units take turns; one of which nobody can step is passed. */
static struct ref_span next_unit(struct ref_policy *p)
{
    struct ref_span unit;
    do {
        p->unit = p->unit + 1 < p->unit_count ? p->unit + 1 : 0;
        unit = span_of(p, p->unit);
    } while (!any(p, unit, is_live));
    return unit;
}

static void schedule(struct ref_policy *p, uint32_t told)
{
    if (p->splits)
        ref_policy_split(p, span_of(p, p->unit));
    struct ref_span unit = next_unit(p);
    if (p->splits && !any(p, unit, may_step))
        ref_policy_merge_all(p, unit);
    uint32_t leader = leader_of(p, unit, told);
    p->last[p->unit] = leader;
    form_group(p, unit, leader);
    if (p->kind == REF_POLICY_DWF_PDOM)
        count_joins(p, unit);
    if (p->splits)
        remember_step(p);
}

/* ITS: a thread alone, for an instruction: until its assignment has written, and past what is no instruction. */
static uint32_t alone(struct ref_policy *p)
{
    const struct ref_spot *held = p->held == REF_NOWHERE ? NULL : &p->spots[p->held];
    if (!held || !held->live || (held->next != REF_NOWHERE && !held->begun)) {
        struct ref_span unit = next_unit(p);
        p->held = p->last[p->unit] = leader_of(p, unit, REF_NOWHERE);
    }
    return p->held;
}

static void look(struct ref_policy *p)
{
    for (uint32_t t = 0; t < p->threads; t++)
        p->spots[t] = p->view->spot(p->view->of, t);
}

uint32_t ref_policy_next(struct ref_policy *p, uint32_t told)
{
    if (p->kind == REF_POLICY_ITS) {
        look(p);
        return alone(p);
    }
    for (;;) {
        /* Later threads are looked at again: a step of another may have ended them. */
        while (p->group_at < p->group_count) {
            uint32_t t = p->group[p->group_at++];
            if (p->view->spot(p->view->of, t).live)
                return t;
        }
        look(p);
        schedule(p, told);
        if (p->no_room)
            return REF_NOWHERE;
    }
}
