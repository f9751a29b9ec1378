#include "oracle/warps/projection.h"

/* ---- Table 5, literally ---- */

struct projecting {
    const struct warp_state *warp;
    uint32_t theta;     /* the lane */
    stack_entry *stack; /* what has been produced, topmost first */
    uint32_t count;
};

static void pi_not_theta(struct projecting *p, uint32_t W, char delta);

/*
 *  pi_theta(eps,      delta) = eps
 *  pi_theta(s W,      delta) = s pi_theta(W, delta)
 *  pi_theta(call_M W, delta) = call pi_theta(W, delta)
 *  pi_theta(brk_M W,  delta) = brk pi_theta(W, delta)
 *  pi_theta(sync_M W, delta) = pi_theta(W, delta)
 *  pi_theta(div_M W,  delta) = pi_not_theta(W, delta)
 *
 *  W is the number of entries left: its topmost is stack[W - 1].
 */
static void pi_theta(struct projecting *p, uint32_t W, char delta)
{
    if (W == 0)
        return;
    stack_entry top = p->warp->stack[W - 1];
    switch (entry_kind(top)) {
    case ENTRY_STM:
    case ENTRY_CONT:
    case ENTRY_CALL:
    case ENTRY_BRK:
        p->stack[p->count++] = top;
        pi_theta(p, W - 1, delta);
        return;
    case ENTRY_SYNC:
        pi_theta(p, W - 1, delta);
        return;
    case ENTRY_DIV:
        pi_not_theta(p, W - 1, delta);
        return;
    }
}

/* actToken_theta(t_M, delta)  <=>  theta in M and awaits(delta, t) */
static bool act_token(const struct projecting *p, uint32_t token, char delta)
{
    return ((p->warp->masks[token] >> p->theta) & 1) != 0 &&
           simt_awaits(delta, entry_kind(p->warp->stack[token]));
}

/*
 *  pi_not_theta(eps,   delta) = eps
 *  pi_not_theta(s W,   delta) = pi_not_theta(W, delta)
 *  pi_not_theta(tau W, delta) = pi_theta(W, 0)              actToken_theta(tau, delta)
 *                               pi_not_theta(W, delta)      otherwise
 */
static void pi_not_theta(struct projecting *p, uint32_t W, char delta)
{
    if (W == 0)
        return;
    enum entry_kind kind = entry_kind(p->warp->stack[W - 1]);
    if (kind != ENTRY_STM && kind != ENTRY_CONT && act_token(p, W - 1, delta))
        pi_theta(p, W - 1, '0');
    else
        pi_not_theta(p, W - 1, delta);
}

uint32_t projection_lane(const struct warp_state *warp, uint32_t lane, stack_entry *stack)
{
    struct projecting p = {.warp = warp, .theta = lane, .stack = stack};
    char delta = simt_disable_state(warp, lane);
    if ((warp->theta >> lane) & 1)
        pi_theta(&p, warp->depth, delta);
    else
        pi_not_theta(&p, warp->depth, delta);
    for (uint32_t i = 0; i < p.count / 2; i++) {
        stack_entry entry = stack[i];
        stack[i] = stack[p.count - 1 - i];
        stack[p.count - 1 - i] = entry;
    }
    return p.count;
}

/* ---- all lanes in one pass ---- */

struct comparing {
    const struct thread_state *T[LIMIT_WARP];
    uint32_t left[LIMIT_WARP]; /* entries of T not yet matched */
    lane_mask in, out;         /* lanes now in pi_theta, in pi_not_theta */
    lane_mask b, r, e;         /* their delta */
    lane_mask differ;          /* found out already: in neither */
};

/* Every lane of `in` produces this entry. */
static void produce(struct comparing *c, stack_entry entry)
{
    for (lane_mask rest = c->in; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        if (c->left[lane] == 0 || c->T[lane]->stack[c->left[lane] - 1] != entry) {
            c->differ |= rest & -rest;
            c->in &= ~(rest & -rest);
        } else {
            c->left[lane]--;
        }
    }
}

/* The lanes of `out` that the token activates; their delta becomes 0. */
static lane_mask activated(struct comparing *c, enum entry_kind token, lane_mask mask)
{
    lane_mask waiting = 0, out = c->out & mask;
    if (simt_awaits('0', token))
        waiting |= out & ~(c->b | c->r | c->e);
    if ((out & c->b) && simt_awaits('b', token))
        waiting |= out & c->b;
    if ((out & c->r) && simt_awaits('r', token))
        waiting |= out & c->r;
    if ((out & c->e) && simt_awaits('e', token))
        waiting |= out & c->e;
    c->b &= ~waiting;
    c->r &= ~waiting;
    c->e &= ~waiting;
    return waiting;
}

static void pass_token(struct comparing *c, stack_entry token, lane_mask mask)
{
    enum entry_kind kind = entry_kind(token);
    if (kind == ENTRY_CALL || kind == ENTRY_BRK)
        produce(c, token);
    lane_mask woken = c->out & mask ? activated(c, kind, mask) : 0;
    c->out &= ~woken;
    if (kind == ENTRY_DIV) {
        c->out |= c->in;
        c->in = 0;
    }
    c->in |= woken;
}

lane_mask projection_compare(const struct warp_state *warp, const struct machine *threads)
{
    struct comparing c;
    lane_mask all = projection_all_lanes(warp);
    for (uint32_t lane = 0; lane < warp->lanes; lane++) {
        c.T[lane] = threads_state(threads, warp->first_thread + lane);
        c.left[lane] = c.T[lane]->depth;
    }
    c.in = warp->theta;
    c.out = all & ~warp->theta;
    c.b = warp->delta_b;
    c.r = warp->delta_r;
    c.e = warp->delta_e;
    c.differ = 0;
    for (uint32_t i = warp->depth; i-- > 0;) {
        stack_entry entry = warp->stack[i];
        if (entry_kind(entry) <= ENTRY_CONT)
            produce(&c, entry);
        else
            pass_token(&c, entry, warp->masks[i]);
    }
    for (lane_mask rest = all & ~c.differ; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        if (c.left[lane] != 0 || c.T[lane]->pending)
            c.differ |= rest & -rest;
    }
    return c.differ;
}
