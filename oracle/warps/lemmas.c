#include "oracle/warps/lemmas.h"

const struct lemma_info lemma_table[LEMMA_COUNT] = {
    [LEMMA_NONE] = {"none", ""},
    [LEMMA_1_1] = {"lemma-1.1", "below a div token stand statements, then a sync token whose mask "
                                "holds the div's (Lemma 1(1))"},
    [LEMMA_1_2] = {"lemma-1.2", "a continuing loop stands on a brk token whose mask holds the "
                                "active lanes (Lemma 1(2))"},
    [LEMMA_1_3] = {"lemma-1.3", "the mask of a token other than div lies within that of the next "
                                "such token below (Lemma 1(3))"},
    [LEMMA_1_4] = {"lemma-1.4", "the active lanes are apart from every div mask and within every "
                                "other token's (Lemma 1(4))"},
    [LEMMA_INV0] = {"inv0", "an active lane has the disable state 0"},
    [LEMMA_2] = {"lemma-2", "a token activates an inactive lane exactly when enable says so "
                            "(Lemma 2)"},
    [LEMMA_ENABLE] = {"enable", "a popped token leaves enable(Delta, token) (section 3.3)"},
    [LEMMA_3] = {"lemma-3", "a step leaves the projections of inactive lanes as they are "
                            "(Lemma 3)"},
    [LEMMA_4] = {"lemma-4", "an assignment takes two thread steps for each active lane (Lemma 4)"},
    [LEMMA_5] = {"lemma-5", "a step other than assign takes at most one thread step for each "
                            "active lane (Lemma 5)"},
    [LEMMA_DET] = {"det", "exactly one rule applies to a configuration (SIMT.det)"},
};

/*
 *  enable(Delta1, t_M) = ({ theta in M | Delta2(theta) = 0 }, Delta2)
 *      where Delta2 = Delta1[{ theta in M | awaits(Delta1(theta), t) } |-> 0]
 */
struct lemma_enabled lemma_enable(const struct warp_state *warp, enum entry_kind token,
                                  lane_mask mask)
{
    struct lemma_enabled result = {0, warp->delta_b, warp->delta_r, warp->delta_e};
    if (token == ENTRY_BRK)
        result.b &= ~mask;
    if (token == ENTRY_CALL)
        result.r &= ~mask;
    result.theta = mask & ~(result.b | result.r | result.e);
    return result;
}

/* { theta | actToken_theta(t_M, Delta(theta)) } */
static lane_mask act_token(const struct warp_state *warp, enum entry_kind token, lane_mask mask)
{
    lane_mask b = mask & warp->delta_b, r = mask & warp->delta_r, e = mask & warp->delta_e;
    lane_mask result = 0;
    if (simt_awaits('0', token))
        result |= mask & ~(warp->delta_b | warp->delta_r | warp->delta_e);
    if (b && simt_awaits('b', token))
        result |= b;
    if (r && simt_awaits('r', token))
        result |= r;
    if (e && simt_awaits('e', token))
        result |= e;
    return result;
}

static bool within(lane_mask inner, lane_mask outer)
{
    return (inner & ~outer) == 0;
}

/* What has been seen below the entry at hand. */
struct below {
    bool token, other; /* a token; one that is no div */
    enum entry_kind kind;
    lane_mask mask, other_mask;
    uint32_t statements; /* since that token */
};

static enum lemma check_token(const struct warp_state *warp, uint32_t i, struct below *below)
{
    enum entry_kind kind = entry_kind(warp->stack[i]);
    lane_mask M = warp->masks[i];
    if (kind == ENTRY_DIV) {
        if (!below->token || below->kind != ENTRY_SYNC || below->statements == 0 ||
            !within(M, below->mask))
            return LEMMA_1_1;
        if (warp->theta & M)
            return LEMMA_1_4;
    } else {
        if (below->other && !within(M, below->other_mask))
            return LEMMA_1_3;
        if (!within(warp->theta, M))
            return LEMMA_1_4;
        below->other = true;
        below->other_mask = M;
    }
    lane_mask enabled = lemma_enable(warp, kind, M).theta;
    if ((act_token(warp, kind, M) ^ enabled) & ~warp->theta)
        return LEMMA_2;
    below->token = true;
    below->kind = kind;
    below->mask = M;
    below->statements = 0;
    return LEMMA_NONE;
}

enum lemma lemmas_state(const struct warp_state *warp)
{
    struct below below = {0};
    if (warp->theta & (warp->delta_b | warp->delta_r | warp->delta_e))
        return LEMMA_INV0;
    for (uint32_t i = 0; i < warp->depth; i++) {
        enum entry_kind kind = entry_kind(warp->stack[i]);
        if (kind == ENTRY_CONT &&
            (below.statements != 0 || !below.token || below.kind != ENTRY_BRK ||
             (i + 1 == warp->depth && !within(warp->theta, below.mask))))
            return LEMMA_1_2;
        if (kind <= ENTRY_CONT) {
            below.statements++;
            continue;
        }
        enum lemma lemma = check_token(warp, i, &below);
        if (lemma != LEMMA_NONE)
            return lemma;
    }
    return LEMMA_NONE;
}

struct lemma_before lemmas_before(const struct warp_state *warp)
{
    struct lemma_before before = {.warp = *warp};
    if (warp->depth) {
        before.top = warp->stack[warp->depth - 1];
        before.top_mask = warp->masks[warp->depth - 1];
    }
    return before;
}

static lane_mask all_lanes(const struct warp_state *warp)
{
    return warp->lanes == 64 ? ~(lane_mask)0 : ((lane_mask)1 << warp->lanes) - 1;
}

enum rule lemmas_rule(const struct program *program, const struct lemma_before *before,
                      bool then_first)
{
    enum entry_kind kind = entry_kind(before->top);
    if (kind > ENTRY_CONT)
        return RULE_SIMT_TOKEN;
    if (before->warp.theta == 0)
        return RULE_SIMT_INACT;
    if (kind == ENTRY_CONT)
        return RULE_SIMT_WHILE_CONT;
    switch (program->stms[entry_number(before->top)].kind) {
    case CODE_SKIP:
        return RULE_SIMT_SKIP;
    case CODE_ASSIGN:
        return RULE_SIMT_ASSIGN;
    case CODE_IF:
        return then_first ? RULE_SIMT_IF_THEN : RULE_SIMT_IF;
    case CODE_WHILE:
        return RULE_SIMT_WHILE;
    case CODE_BREAK:
        return RULE_SIMT_BREAK;
    case CODE_CALL:
        return RULE_SIMT_CALL;
    case CODE_RETURN:
        return RULE_SIMT_RETURN;
    case CODE_EXIT:
        return RULE_SIMT_EXIT;
    case CODE_ASSERT:
        return RULE_SIMT_ASSERT;
    case CODE_ASSUME:
        return RULE_SIMT_ASSUME;
    case CODE_HAVOC:
        return RULE_SIMT_HAVOC;
    case CODE_ATOMIC:
        return RULE_SIMT_ATOMIC;
    case CODE_VOTE:
        return RULE_SIMT_VOTE;
    case CODE_BARRIER:
        return before->warp.theta == all_lanes(&before->warp) ? RULE_SIMT_BARRIER_REACH
                                                              : RULE_SIMT_BARRIER_DIV;
    case CODE_GOTO:
    case CODE_END_CALL:
    case CODE_PICK:
    case CODE_LOCKSYNC:
    case CODE_PTX:
        break;
    }
    return RULE_NONE;
}

enum lemma lemmas_token(const struct lemma_before *before, const struct warp_state *after)
{
    struct lemma_enabled expected =
        lemma_enable(&before->warp, entry_kind(before->top), before->top_mask);
    bool same = after->theta == expected.theta && after->delta_b == expected.b &&
                after->delta_r == expected.r && after->delta_e == expected.e;
    return same ? LEMMA_NONE : LEMMA_ENABLE;
}

enum lemma lemmas_step_count(enum rule rule, uint32_t total, uint32_t most, bool strict)
{
    if (rule == RULE_SIMT_ASSIGN)
        return total >= 1 && most == 2 ? LEMMA_NONE : LEMMA_4;
    uint32_t allowed = rule == RULE_SIMT_WHILE_CONT && !strict ? 2 : 1;
    return most <= allowed ? LEMMA_NONE : LEMMA_5;
}
