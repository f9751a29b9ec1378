/*
 * ptx_warp_ops.c - instructions that pass values between the lanes of a warp: vote, shfl, match, redux,
 * activemask, bar.warp.sync.
 *
 * Only lanes that execute the instruction take part. A .sync form waits for the lanes that its mask
 * names; a warp with one pc has nothing to wait for, so that lanes which are named, have not exited and do
 * not execute it leave it stuck. (Threads with pcs of their own do wait: its.c.) In warps of more than 32 lanes a
 * mask's bit i names the lanes i and i + 32.
 */
#include "engine/lanes/ptx_exec_internal.h"

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

/* The lanes of a .sync's mask operand are all there: executing, or exited, or none of the warp; and those of one mask
 * have equal ones. named: by lane. False: stuck. */
static bool are_named(struct ptx_step *x, const struct ptx_place *mask, lane_mask exited,
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

/* ---- what they tell each other ---- */

/* The bits of lanes as registers have them: of lanes 0 to 31 of the warp. */
static uint32_t bits_of(const struct ptx_meeting *t, lane_mask lanes)
{
    return (uint32_t)(lanes << t->first);
}

/* Also of a vote that is stuck, which no lane takes part in. */
static enum rule rule_of_vote(const struct ptx_op *op)
{
    switch ((uint32_t)op->mode) {
    case PTX_W_ALL:
        return RULE_PTX_VOTE_ALL;
    case PTX_W_ANY:
        return RULE_PTX_VOTE_ANY;
    case PTX_W_UNI:
        return RULE_PTX_VOTE_UNI;
    default:
        return RULE_PTX_VOTE_BALLOT;
    }
}

/*  VOTE.*      A = { theta in X | B[[e]] theta },  v = A = X (all), A != {} (any), either of A = X, A = {}
 *              (uni), bit wl of each theta in A (ballot)
 *      X, vote r e      r^ of each theta in X <- v
 */
static enum rule ptx_vote(struct ptx_meeting *t)
{
    lane_mask A = 0;
    for (lane_mask rest = t->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        A |= (lane_mask)((t->a[lane] != 0) != (t->op->negated & 1)) << lane;
    }
    for (lane_mask rest = t->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        lane_mask X = t->with[lane], yes = A & X;
        switch ((uint32_t)t->op->mode) {
        case PTX_W_ALL:
            t->d[lane] = yes == X;
            break;
        case PTX_W_ANY:
            t->d[lane] = yes != 0;
            break;
        case PTX_W_UNI:
            t->d[lane] = yes == X || yes == 0;
            break;
        case PTX_W_BALLOT:
            t->d[lane] = bits_of(t, yes);
            break;
        }
    }
    return rule_of_vote(t->op);
}

/* activemask [EXT]: the lanes that execute it. */
static enum rule ptx_activemask(struct ptx_meeting *t)
{
    for (lane_mask rest = t->executing; rest; rest &= rest - 1)
        t->d[lowest_lane(rest)] = bits_of(t, t->executing);
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
static enum rule ptx_shfl(struct ptx_meeting *t)
{
    for (lane_mask rest = t->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), source;
        bool in_range = shfl_source((enum ptx_word)t->op->mode, t->first + lane,
                                    (uint32_t)t->b[lane], (uint32_t)t->c[lane], &source);
        source -= t->first; /* far beyond all lanes if it is before them */
        bool takes_part = source < t->count && (t->with[lane] >> source & 1);
        t->d[lane] = t->a[takes_part ? source : lane];
        t->p[lane] = in_range;
    }
    return RULE_PTX_SHFL;
}

/* match [EXT]: any - the lanes with the same value; all - all lanes if they have one value, else none, and
 * whether they have. */
static enum rule ptx_match(struct ptx_meeting *t)
{
    for (lane_mask rest = t->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        lane_mask same = 0;
        for (lane_mask others = t->with[lane]; others; others &= others - 1) {
            uint32_t other = lowest_lane(others);
            same |= (lane_mask)(t->a[other] == t->a[lane]) << other;
        }
        bool all = same == t->with[lane];
        if (t->op->mode == PTX_W_ALL && !all)
            same = 0;
        t->d[lane] = bits_of(t, same);
        t->p[lane] = all;
    }
    return RULE_PTX_MATCH;
}

/* elect [EXT]: the lowest of the lanes that take part; its number, and whether a lane is it. */
static enum rule ptx_elect(struct ptx_meeting *t)
{
    for (lane_mask rest = t->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), leader = lowest_lane(t->with[lane]);
        t->d[lane] = t->first + leader;
        t->p[lane] = lane == leader;
    }
    return RULE_PTX_ELECT;
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

#define NAN_32 0x7fffffffu

/* A float as a number that is ordered as floats are, -0 below +0. */
static uint32_t rank(uint32_t bits)
{
    return bits >> 31 ? ~bits : bits | 0x80000000;
}

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* Of .f32: NaNs are left out unless .NaN asks for them; the result is one then, and where there is nothing else. */
static uint32_t reduce_floats(const struct ptx_meeting *t, lane_mask lanes)
{
    const uint8_t *words = t->op->statement->u.instruction.words;
    const bool is_most = t->op->mode == PTX_W_MAX, any_nan = words[PTX_SLOT_NAN] != PTX_W_NONE;
    const uint32_t kept = words[PTX_SLOT_MODE] == PTX_W_ABS ? 0x7fffffff : UINT32_MAX;
    uint32_t value = NAN_32;
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t a = (uint32_t)t->a[lowest_lane(lanes)] & kept;
        if (is_nan(a) && any_nan)
            return NAN_32;
        if (!is_nan(a) && (is_nan(value) || (rank(a) > rank(value)) == is_most))
            value = a;
    }
    return value;
}

/* redux [EXT]: the operation over the values of all lanes that take part. */
static enum rule ptx_redux(struct ptx_meeting *t)
{
    for (lane_mask rest = t->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (t->op->statement->u.instruction.form == PTX_FORM_REDUX_F32) {
            t->d[lane] = reduce_floats(t, t->with[lane]);
            continue;
        }
        uint32_t value = (uint32_t)t->a[lowest_lane(t->with[lane])];
        for (lane_mask others = t->with[lane] & (t->with[lane] - 1); others; others &= others - 1)
            value = reduce((enum ptx_word)t->op->mode, t->op->is_signed, value,
                           (uint32_t)t->a[lowest_lane(others)]);
        t->d[lane] = value;
    }
    return RULE_PTX_REDUX;
}

/* bar.warp.sync [EXT]: nothing is told. */
static enum rule ptx_bar_warp(void)
{
    return RULE_PTX_BAR_WARP;
}

enum rule ptx_meet(struct ptx_meeting *t)
{
    switch ((unsigned)t->op->exec) {
    case PTX_EXEC_VOTE:
        return ptx_vote(t);
    case PTX_EXEC_ACTIVEMASK:
        return ptx_activemask(t);
    case PTX_EXEC_SHFL:
        return ptx_shfl(t);
    case PTX_EXEC_MATCH:
        return t->op->opcode == PTX_OP_ELECT ? ptx_elect(t) : ptx_match(t);
    case PTX_EXEC_REDUX:
        return ptx_redux(t);
    default:
        return ptx_bar_warp();
    }
}

/* ---- lanes of one group ---- */

const struct ptx_place *ptx_mask_of(const struct ptx_op *op)
{
    switch ((unsigned)op->exec) {
    case PTX_EXEC_BAR_WARP:
        return &op->sources[0];
    case PTX_EXEC_SHFL:
        return &op->sources[3];
    case PTX_EXEC_ACTIVEMASK:
        return &op->sources[PTX_CODE_SOURCES - 1]; /* there is none */
    default:
        return &op->sources[1];
    }
}

/* The lanes of X that take part with each lane: those of its mask, if it has one. */
static bool partners(struct ptx_step *x, lane_mask exited, lane_mask with[LIMIT_WARP])
{
    const struct ptx_place *mask = ptx_mask_of(x->op);
    if (mask->kind != PTX_PLACE_NONE)
        return are_named(x, mask, exited, with);
    for (lane_mask rest = x->executing; rest; rest &= rest - 1)
        with[lowest_lane(rest)] = x->executing;
    return true;
}

/* A result by lane, as its registers have it. */
static void commit(struct ptx_step *x, uint32_t result, uint64_t *row)
{
    const struct ptx_place *place = &x->op->results[result];
    uint32_t *narrow = (uint32_t *)row;
    for (lane_mask rest = place->bits == 64 ? 0 : x->executing; rest; rest &= rest - 1)
        narrow[lowest_lane(rest)] = (uint32_t)row[lowest_lane(rest)];
    ptx_commit(x, place, row);
}

enum rule ptx_together(struct ptx_step *x, lane_mask exited)
{
    struct ptx_meeting t = {.op = x->op,
                            .first = first_laneid(x),
                            .count = x->lanes->count,
                            .executing = x->executing,
                            .d = x->scratch->results[0],
                            .p = x->scratch->results[1]};
    const bool tells = x->op->exec != PTX_EXEC_BAR_WARP && x->op->exec != PTX_EXEC_ACTIVEMASK;
    t.a = tells ? ptx_wide_row(x, &x->op->sources[0], 0) : NULL;
    t.b = x->op->exec == PTX_EXEC_SHFL ? ptx_wide_row(x, &x->op->sources[1], 1) : NULL;
    t.c = x->op->exec == PTX_EXEC_SHFL ? ptx_wide_row(x, &x->op->sources[2], 2) : NULL;
    if (!partners(x, exited, t.with)) {
        memset(t.with, 0, sizeof t.with);
        t.executing = 0;
        return ptx_meet(&t);
    }
    enum rule rule = ptx_meet(&t);
    commit(x, 0, t.d);
    commit(x, 1, t.p);
    return rule;
}
