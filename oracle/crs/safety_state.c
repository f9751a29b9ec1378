#include "oracle/crs/safety_state.h"

const struct safety_info safety_table[SAFETY_PREDICATE_COUNT + 1] = {
    [SAFETY_ADDR] = {"addr", "branches stay in their function, calls go to the start of one"},
    [SAFETY_STACK_1] = {"stack-cons 1", "at a break there is a break token"},
    [SAFETY_STACK_2] = {"stack-cons 2", "at a ret there is a call token"},
    [SAFETY_STACK_3] = {"stack-cons 3", "at a sync the top is a sync or diverge token"},
    [SAFETY_STACK_4] = {"stack-cons 4",
                        "at a sync with a diverge token on top, the sync token below "
                        "holds the address behind the sync"},
    [SAFETY_STACK_5] = {"stack-cons 5",
                        "at a sync, the sync token on top holds the address behind it"},
    [SAFETY_STACK_6] = {"stack-cons 6",
                        "at a call, the call token on top holds the address behind it"},
    [SAFETY_INV_1] = {"inv-1", "an inactive lane that has not exited is in a token that wakes it"},
    [SAFETY_INV_2] = {"inv-2", "a lane is active, or all have exited"},
    [SAFETY_INV_3] = {"inv-3", "an active lane is in every token but diverge tokens"},
    [SAFETY_INV_4] = {"inv-4", "an inactive lane is in every token, but diverge tokens, below the "
                               "one that wakes it"},
    [SAFETY_INV_5] = {"inv-5", "an active lane is enabled"},
    [SAFETY_INV_6] = {"inv-6", "no token has an empty mask"},
    [SAFETY_INV_7] = {"inv-7", "a lane in a diverge token is inactive, enabled, and woken by it"},
    [SAFETY_ACT] = {"act-cons", "an active lane is where the warp is"},
    [SAFETY_INACT] = {"inact-cons", "an inactive lane is where the token that wakes it goes on"},
    [SAFETY_COR_1] = {"corollary-1", "a consistent state can be unwound"},
    [SAFETY_PCS] = {"thread-pc", "the lanes of thread-pc are where CHK.branch puts them"},
    [SAFETY_PRIVATE] = {"private", "the break and call tokens of an active lane are those that it "
                                   "pushed itself"},
    [SAFETY_KAPPA] = {"kappa", "an active lane has a frame for each call that it is in"},
    [SAFETY_NEUTRAL] = {"neutral", "the token stack behind a statement is that before it"},
    [SAFETY_RECONV] = {"reconv", "the active lanes behind a statement are those before it that are "
                                 "enabled"},
    [SAFETY_NONE] = {"none", ""},
};

static inline safety_set bit(bool fails, enum safety_predicate predicate)
{
    return (safety_set)fails << predicate;
}

/* Whether all lanes of a set have this pc. */
static inline bool all_at(lane_mask set, const uint32_t *pcs, uint32_t pc)
{
    for (; set; set &= set - 1)
        if (pcs[__builtin_ctzll(set)] != pc)
            return false;
    return true;
}

/* e, b, r: the inactive lanes whose token has not been seen yet, from the top, that are enabled or wait
 * for a break or a return; resolved: those whose token has been. */
safety_set safety_state(const struct crs_state *s, const struct crs_token *tokens, lane_mask W,
                        const uint32_t *pcs)
{
    const lane_mask A = s->active;
    lane_mask D = s->broken | s->returned | s->exited;
    lane_mask need = W & ~A & ~s->exited, resolved = 0;
    lane_mask e = need & ~D, b = need & s->broken, r = need & s->returned;
    safety_set failed = bit(A & D, SAFETY_INV_5) |
                        bit(A == 0 && (s->exited & W) != W, SAFETY_INV_2) |
                        bit(!all_at(A, pcs, s->pc), SAFETY_ACT);
    for (uint32_t i = s->depth; i-- > 0;) {
        const struct crs_token *t = &tokens[i];
        lane_mask hit = t->mask & e;
        failed |= bit(t->mask == 0, SAFETY_INV_6);
        switch ((enum crs_token_type)t->type) {
        case CRS_DIVERGE:
            failed |= bit((t->mask & ~e) != 0, SAFETY_INV_7);
            break;
        case CRS_BREAK:
            hit |= t->mask & b;
            break;
        case CRS_CALL:
            hit |= t->mask & r;
            break;
        case CRS_SYNC:
            break;
        }
        if (t->type != CRS_DIVERGE)
            failed |= bit((A & ~t->mask) != 0, SAFETY_INV_3) |
                      bit((resolved & ~t->mask) != 0, SAFETY_INV_4);
        failed |= bit(!all_at(hit, pcs, t->pc), SAFETY_INACT);
        e &= ~hit;
        b &= ~hit;
        r &= ~hit;
        resolved |= hit;
    }
    bool lost = (e | b | r) != 0;
    return failed | bit(lost, SAFETY_INV_1) | bit(lost, SAFETY_INACT);
}

bool safety_unwinds(const struct crs_state *s, const struct crs_token *tokens, lane_mask W,
                    const uint32_t *pcs)
{
    const safety_set premises =
        1u << SAFETY_INV_1 | 1u << SAFETY_INV_4 | 1u << SAFETY_INV_6 | 1u << SAFETY_INACT;
    return s->active == 0 && (s->exited & W) != W && !(safety_state(s, tokens, W, pcs) & premises);
}

static bool has_token(const struct crs_state *s, const struct crs_token *tokens,
                      enum crs_token_type type)
{
    for (uint32_t i = s->depth; i-- > 0;)
        if (tokens[i].type == type)
            return true;
    return false;
}

/* 4 as printed: the next token; 4': the first that is no diverge token. */
static bool sync_below(const struct crs_state *s, const struct crs_token *tokens, bool printed)
{
    uint32_t i = s->depth - 1;
    while (i > 0 && tokens[i - 1].type == CRS_DIVERGE && !printed)
        i--;
    if (i == 0 || tokens[i - 1].type != CRS_SYNC || tokens[i - 1].pc != s->pc + 1)
        return false;
    return !printed || ((tokens[s->depth - 1].mask | s->active) & ~tokens[i - 1].mask) == 0;
}

static enum safety_predicate sync_clause(const struct crs_state *s, const struct crs_token *tokens,
                                         bool printed)
{
    const struct crs_token *top = s->depth ? &tokens[s->depth - 1] : NULL;
    if (!top || (top->type != CRS_SYNC && top->type != CRS_DIVERGE))
        return SAFETY_STACK_3;
    if (top->type == CRS_DIVERGE)
        return sync_below(s, tokens, printed) ? SAFETY_NONE : SAFETY_STACK_4;
    return top->pc == s->pc + 1 ? SAFETY_NONE : SAFETY_STACK_5;
}

static bool call_token(const struct crs_state *s, const struct crs_token *tokens, bool printed)
{
    for (uint32_t i = s->depth; i-- > 0;) {
        if (tokens[i].type == CRS_CALL && tokens[i].pc == s->pc + 1)
            return true;
        if (!printed)
            break;
    }
    return false;
}

enum safety_predicate safety_stack(const struct crs_state *s, const struct crs_token *tokens,
                                   enum ptx_exec exec, lane_mask X, bool printed)
{
    if (X == 0)
        return SAFETY_NONE;
    if (exec == PTX_EXEC_BREAK)
        return has_token(s, tokens, CRS_BREAK) ? SAFETY_NONE : SAFETY_STACK_1;
    if (exec == PTX_EXEC_RET)
        return has_token(s, tokens, CRS_CALL) ? SAFETY_NONE : SAFETY_STACK_2;
    if (exec == PTX_EXEC_SYNC)
        return sync_clause(s, tokens, printed);
    if (exec == PTX_EXEC_CALL)
        return call_token(s, tokens, printed) ? SAFETY_NONE : SAFETY_STACK_6;
    return SAFETY_NONE;
}
