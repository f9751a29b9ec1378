/*
 * ptx_warp_ops.c - instructions that pass values between the lanes of a warp: vote, shfl, match, redux,
 * activemask, bar.warp.sync.
 *
 * Only lanes that execute the instruction take part. A .sync form waits for the lanes that its mask
 * names; a warp with one pc has nothing to wait for, so that lanes which are named, have not exited and do
 * not execute it leave it stuck. In warps of more than 32 lanes a mask's bit i names the lanes i and i + 32.
 */
#include "engine/crs/ptx_exec_internal.h"

/* Lanes by their number in the warp: a group of one thread is a lane of its warp too. */
static uint32_t first_laneid(const struct ptx_step *x)
{
    return ptx_tid(x->m->program, x->lanes, 0) % x->m->program->launch.warp;
}

/* The lanes of a warp that a mask operand names. */
static lane_mask named_lanes(const struct ptx_step *x, uint64_t mask)
{
    lane_mask named = (uint32_t)mask;
    if (x->m->program->launch.warp > 32)
        named |= named << 32;
    return named >> first_laneid(x) & ptx_all(x->lanes);
}

bool ptx_named(struct ptx_step *x, const struct ptx_place *mask, lane_mask exited,
               lane_mask named[LIMIT_WARP])
{
    const char *why = NULL;
    uint32_t at = 0;
    for (lane_mask rest = x->executing; rest && !why; rest &= rest - 1) {
        at = lowest_lane(rest);
        lane_mask lanes = named_lanes(x, ptx_source(x->m, x->lanes, mask, at));
        named[at] = lanes & x->executing;
        if (!(lanes >> at & 1))
            why = "a lane is not in the mask of lanes that it names";
        else if (lanes & ~exited & ~x->executing)
            why = "the mask names lanes that do not execute the instruction";
    }
    for (lane_mask rest = x->executing; rest && !why; rest &= rest - 1) {
        at = lowest_lane(rest);
        for (lane_mask others = named[at]; others && !why; others &= others - 1)
            if (named[lowest_lane(others)] != named[at])
                why = "lanes that name each other have different masks";
    }
    if (why)
        ptx_stuck(x->m, x->lanes->first_thread + at, x->pc, why);
    return !why;
}

/* The lanes of X that take part with each lane: those of its mask, if it has one. */
static bool partners(struct ptx_step *x, const struct ptx_place *mask, lane_mask exited,
                     lane_mask with[LIMIT_WARP])
{
    if (mask->kind != PTX_PLACE_NONE)
        return ptx_named(x, mask, exited, with);
    for (lane_mask rest = x->executing; rest; rest &= rest - 1)
        with[lowest_lane(rest)] = x->executing;
    return true;
}

/* The result by lane. */
STEP_INLINE void set_lane(struct ptx_step *x, uint32_t result, uint32_t lane, uint64_t value)
{
    if (x->op->results[result].bits == 64)
        x->scratch->results[result][lane] = value;
    else
        ((uint32_t *)x->scratch->results[result])[lane] = (uint32_t)value;
}

/*  VOTE.*      A = { theta in X | B[[e]] theta },  v = A = X (all), A != {} (any), either of A = X, A = {}
 *              (uni), bit wl of each theta in A (ballot)
 *      X, vote r e      r^ of each theta in X <- v
 */
static enum rule vote(struct ptx_step *x, const lane_mask *with, lane_mask A)
{
    enum rule rule = RULE_PTX_VOTE_BALLOT;
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        lane_mask X = with[lane], yes = A & X;
        switch ((uint32_t)x->op->mode) {
        case PTX_W_ALL:
            rule = RULE_PTX_VOTE_ALL;
            set_lane(x, 0, lane, yes == X);
            break;
        case PTX_W_ANY:
            rule = RULE_PTX_VOTE_ANY;
            set_lane(x, 0, lane, yes != 0);
            break;
        case PTX_W_UNI:
            rule = RULE_PTX_VOTE_UNI;
            set_lane(x, 0, lane, yes == X || yes == 0);
            break;
        case PTX_W_BALLOT:
            set_lane(x, 0, lane, (uint32_t)(yes << first_laneid(x)));
            break;
        }
    }
    return rule;
}

enum rule ptx_vote(struct ptx_step *x, lane_mask exited)
{
    lane_mask A = 0, with[LIMIT_WARP];
    const uint64_t *predicate = ptx_wide_row(x, &x->op->sources[0], 0);
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        A |= (lane_mask)((predicate[lane] != 0) != (x->op->negated & 1)) << lane;
    }
    bool all_there = partners(x, &x->op->sources[1], exited, with);
    if (!all_there)
        memset(with, 0, sizeof with);
    enum rule rule = vote(x, with, A);
    if (all_there)
        ptx_commit(x, &x->op->results[0], x->scratch->results[0]);
    return rule;
}

/* activemask [EXT]: the lanes that execute it. */
enum rule ptx_activemask(struct ptx_step *x)
{
    for (lane_mask rest = x->executing; rest; rest &= rest - 1)
        set_lane(x, 0, lowest_lane(rest), (uint32_t)(x->executing << first_laneid(x)));
    ptx_commit(x, &x->op->results[0], x->scratch->results[0]);
    return RULE_PTX_ACTIVEMASK;
}

/* The lane that shfl reads (PTX ISA, 9.7.9.6), within the 32 lanes around it. False: out of range, that
 * is the lane itself. */
static bool shfl_source(enum ptx_word mode, uint32_t lane, uint32_t b, uint32_t c, uint32_t *source)
{
    uint32_t base = lane & ~31u, l = lane & 31, bval = b & 31;
    uint32_t cval = c & 31, mask = c >> 8 & 31;
    uint32_t most = (l & mask) | (cval & ~mask), least = l & mask, j = l;
    bool in_range = false;
    switch ((uint32_t)mode) {
    case PTX_W_UP:
        j = l - bval;
        in_range = (int32_t)j >= (int32_t)most;
        break;
    case PTX_W_DOWN:
        j = l + bval;
        in_range = j <= most;
        break;
    case PTX_W_BFLY:
        j = l ^ bval;
        in_range = j <= most;
        break;
    case PTX_W_IDX:
        j = least | (bval & ~mask);
        in_range = j <= most;
        break;
    }
    *source = base + (in_range ? j : l);
    return in_range;
}

/* shfl [EXT]. A source lane that does not take part gives an undefined value in PTX; here the lane keeps
 * its own. */
enum rule ptx_shfl(struct ptx_step *x, lane_mask exited)
{
    lane_mask with[LIMIT_WARP];
    if (!partners(x, &x->op->sources[3], exited, with))
        return RULE_PTX_SHFL;
    const uint64_t *a = ptx_wide_row(x, &x->op->sources[0], 0);
    const uint64_t *b = ptx_wide_row(x, &x->op->sources[1], 1);
    const uint64_t *c = ptx_wide_row(x, &x->op->sources[2], 2);
    uint32_t first = first_laneid(x);
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), source;
        bool in_range = shfl_source((enum ptx_word)x->op->mode, first + lane, (uint32_t)b[lane],
                                    (uint32_t)c[lane], &source);
        source -= first; /* far beyond all lanes if it is before them */
        bool takes_part = source < x->lanes->count && (with[lane] >> source & 1);
        set_lane(x, 0, lane, a[takes_part ? source : lane]);
        set_lane(x, 1, lane, in_range);
    }
    ptx_commit(x, &x->op->results[0], x->scratch->results[0]);
    ptx_commit(x, &x->op->results[1], x->scratch->results[1]);
    return RULE_PTX_SHFL;
}

/* match [EXT]: any - the lanes with the same value; all - all lanes if they have one value, else none, and
 * whether they have. */
enum rule ptx_match(struct ptx_step *x, lane_mask exited)
{
    lane_mask with[LIMIT_WARP];
    if (!partners(x, &x->op->sources[1], exited, with))
        return RULE_PTX_MATCH;
    const uint64_t *a = ptx_wide_row(x, &x->op->sources[0], 0);
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        lane_mask same = 0;
        for (lane_mask others = with[lane]; others; others &= others - 1) {
            uint32_t other = lowest_lane(others);
            same |= (lane_mask)(a[other] == a[lane]) << other;
        }
        bool all = same == with[lane];
        if (x->op->mode == PTX_W_ALL && !all)
            same = 0;
        set_lane(x, 0, lane, (uint32_t)(same << first_laneid(x)));
        set_lane(x, 1, lane, all);
    }
    ptx_commit(x, &x->op->results[0], x->scratch->results[0]);
    ptx_commit(x, &x->op->results[1], x->scratch->results[1]);
    return RULE_PTX_MATCH;
}

static uint32_t reduce(enum ptx_word op, bool is_signed, uint32_t a, uint32_t b)
{
    switch ((uint32_t)op) {
    case PTX_W_ADD:
        return a + b;
    case PTX_W_MIN:
        return (is_signed ? (int32_t)a < (int32_t)b : a < b) ? a : b;
    case PTX_W_MAX:
        return (is_signed ? (int32_t)a > (int32_t)b : a > b) ? a : b;
    case PTX_W_AND:
        return a & b;
    case PTX_W_OR:
        return a | b;
    case PTX_W_XOR:
        return a ^ b;
    }
    return 0;
}

/* redux [EXT]: the operation over the values of all lanes that take part. */
enum rule ptx_redux(struct ptx_step *x, lane_mask exited)
{
    lane_mask with[LIMIT_WARP];
    if (!partners(x, &x->op->sources[1], exited, with))
        return RULE_PTX_REDUX;
    const uint64_t *a = ptx_wide_row(x, &x->op->sources[0], 0);
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        uint32_t value = (uint32_t)a[lowest_lane(with[lane])];
        for (lane_mask others = with[lane] & (with[lane] - 1); others; others &= others - 1)
            value = reduce((enum ptx_word)x->op->mode, x->op->is_signed, value,
                           (uint32_t)a[lowest_lane(others)]);
        set_lane(x, 0, lane, value);
    }
    ptx_commit(x, &x->op->results[0], x->scratch->results[0]);
    return RULE_PTX_REDUX;
}

/* bar.warp.sync [EXT] */
enum rule ptx_bar_warp(struct ptx_step *x, lane_mask exited)
{
    lane_mask named[LIMIT_WARP];
    (void)ptx_named(x, &x->op->sources[0], exited, named);
    return RULE_PTX_BAR_WARP;
}
