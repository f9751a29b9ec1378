/*
 * cta_barrier.c - the rules of named barriers in CTA semantics (catalogue named-barriers, section 2).
 *
 * In the rules: id the thread, P its commands, E who is enabled, B(b) = (I, A, n). full(b): |I| + |A| = n,
 * open(b): 0 < |I| + |A| < n, fresh(b): B(b) = ([], [], bot).
 *
 * While a barrier is full no thread may step (NB.cta_step, C-2), so its recycling comes within the step
 * that made it full: nothing else can happen in the block in between. With BLOCK_EAGER an error of a thread
 * that is at the barrier can (C-7).
 */
#include "engine/crs/cta_internal.h"

static uint32_t registered(const struct cta_barrier_state *B)
{
    return B->synced + B->arrived;
}

static bool is_full(const struct cta_barrier_state *B)
{
    return B->n > 0 && registered(B) == B->n;
}

/* ---- events ---- */

static uint32_t block_of(const struct cta_step *x)
{
    return x->id / x->m->program->launch.threads;
}

static void report(const struct cta_step *x, enum barrier_use_kind kind, uint32_t first_thread,
                   lane_mask mask)
{
    struct barrier_use use = {.kind = kind,
                              .block = block_of(x),
                              .barrier = x->b,
                              .count = x->B->n,
                              .generation = x->B->ended,
                              .first_thread = first_thread,
                              .mask = mask,
                              .stm = x->pc};
    observe_use(x->m, &use);
}

static void report_step(struct machine *machine, enum rule rule, uint32_t thread, uint32_t stm)
{
    machine->hits[rule]++;
    if (is_observed(machine)) {
        struct step_event event = {.rule = rule, .actor = thread, .stm = stm, .truth = 1};
        observe_step(machine, &event);
    }
}

/* ---- threads ---- */

/* What the first command of a generation sets. */
static void configure(struct cta_step *x)
{
    put(x->m, &x->B->n, x->n);
    put(x->m, &x->B->red, x->op->exec == PTX_EXEC_BAR_RED ? x->op->mode : PTX_W_NONE);
}

static void arrive(struct cta_step *x)
{
    put(x->m, &x->B->arrived, x->B->arrived + 1);
    put(x->m, &x->P->pc, x->pc + 1);
    if (is_observed(x->m))
        report(x, BARRIER_ARRIVES, x->id, 1);
}

static void sync(struct cta_step *x)
{
    struct machine_group *group = machine_group_of(x->m, x->id);
    put(x->m, &x->P->barrier, x->b + 1);
    put(x->m, &x->B->synced, x->B->synced + 1);
    put(x->m, &x->B->truths, x->B->truths + x->truth);
    machine_unlive(x->m, x->id);
    put(x->m, &group->waiting, group->waiting + 1);
    if (is_observed(x->m))
        report(x, BARRIER_SYNCS, x->id, 1);
}

/*  arrive_first      fresh(b)
 *      E, B, id, arrive b n; c  ~>  E, B[([], [id], n) / b], id, c
 */
static enum rule nb_arrive_first(struct cta_step *x)
{
    configure(x);
    arrive(x);
    return RULE_NB_ARRIVE_FIRST;
}

/*  arrive_next       B(b) = (I, A, n)      open(b)
 *      E, B, id, arrive b n; c  ~>  E, B[(I, A :: id, n) / b], id, c
 */
static enum rule nb_arrive_next(struct cta_step *x)
{
    arrive(x);
    return RULE_NB_ARRIVE_NEXT;
}

/*  sync_first        E(id)      fresh(b)
 *      E, B, id, sync b n; c  ~>  E[false / id], B[([id], [], n) / b], id, sync b n; c
 */
static enum rule nb_sync_first(struct cta_step *x)
{
    configure(x);
    sync(x);
    return RULE_NB_SYNC_FIRST;
}

/*  sync_next         E(id)      B(b) = (I, A, n)      open(b)
 *      E, B, id, sync b n; c  ~>  E[false / id], B[(I :: id, A, n) / b], id, sync b n; c
 */
static enum rule nb_sync_next(struct cta_step *x)
{
    sync(x);
    return RULE_NB_SYNC_NEXT;
}

/*  cta_err           a thread steps to err
 *      E, B, P_1 || .. || P_N  ~>  err, P_1 || .. || P_N
 */
static void nb_cta_err(struct cta_step *x, const char *why)
{
    x->m->hits[RULE_NB_CTA_ERR]++;
    x->m->fault_text = why;
    machine_fault(x->m, STATUS_BARRIER_ERROR, x->id, x->pc);
}

/*  sync_err_count, arrive_err_count      B(b) = (I, A, n)      n != bot (C-6)      n != m
 *      E, B, id, sync b m; c  ~>  err, id, sync b m; c                   (E(id); arrive: the same, C-8)
 */
static enum rule nb_sync_err_count(struct cta_step *x)
{
    nb_cta_err(x, "the barrier is configured for another number of threads");
    return RULE_NB_SYNC_ERR_COUNT;
}

static enum rule nb_arrive_err_count(struct cta_step *x)
{
    nb_cta_err(x, "the barrier is configured for another number of threads");
    return RULE_NB_ARRIVE_ERR_COUNT;
}

/*  sync_err_full, arrive_err_full        full(b)
 *      E, B, id, sync b n; c  ~>  err, id, sync b n; c                   (E(id); arrive: the same, C-8)
 */
static enum rule nb_sync_err_full(struct cta_step *x)
{
    nb_cta_err(x, "the barrier is full and not recycled yet");
    return RULE_NB_SYNC_ERR_FULL;
}

static enum rule nb_arrive_err_full(struct cta_step *x)
{
    nb_cta_err(x, "the barrier is full and not recycled yet");
    return RULE_NB_ARRIVE_ERR_FULL;
}

/* b and n of the thread's command. n = 0 is rejected (C-14); without a count it is all threads of the
 * block. NULL, or what is wrong. */
static const char *operands(struct cta_step *x)
{
    const struct ptx_op *op = x->op;
    uint64_t b = ptx_source(x->m, x->lanes, &op->sources[0], 0);
    uint64_t n = x->m->program->launch.threads;
    if (op->has_count)
        n = ptx_source(x->m, x->lanes, &op->sources[1], 0);
    if (op->exec == PTX_EXEC_BAR_RED) {
        bool truth = ptx_source(x->m, x->lanes, &op->sources[2], 0) != 0;
        x->truth = truth != ((op->negated >> 2 & 1) != 0);
    }
    if (b >= CTA_BARRIERS)
        return "the barrier's number is not below 16";
    if (n == 0 || n > UINT32_MAX)
        return "the barrier's thread count is 0";
    struct cta_barriers B = cta_barriers_at(x->m, block_of(x));
    x->b = (uint32_t)b;
    x->n = (uint32_t)n;
    x->B = cta_barrier_at(&B, x->b);
    return NULL;
}

/* [EXT] PTX leaves it undefined that bar.red and others meet at one barrier. */
static bool mixes(const struct cta_step *x)
{
    uint32_t red = x->op->exec == PTX_EXEC_BAR_RED ? x->op->mode : PTX_W_NONE;
    return x->B->n > 0 && x->B->red != red;
}

/* Which rule applies. */
static enum rule register_thread(struct cta_step *x)
{
    bool arrives = x->op->exec == PTX_EXEC_BAR_ARRIVE;
    if (x->B->n > 0 && x->B->n != x->n)
        return arrives ? nb_arrive_err_count(x) : nb_sync_err_count(x);
    if (mixes(x)) {
        ptx_stuck(x->m, x->id, x->pc,
                  "bar.red and another instruction, or another bar.red, "
                  "on one barrier");
        return RULE_NB_SYNC_NEXT;
    }
    if (is_full(x->B))
        return arrives ? nb_arrive_err_full(x) : nb_sync_err_full(x);
    if (registered(x->B) > 0)
        return arrives ? nb_arrive_next(x) : nb_sync_next(x);
    return arrives ? nb_arrive_first(x) : nb_sync_first(x);
}

enum rule cta_barrier_step(struct cta_step *x)
{
    const char *why = operands(x);
    if (x->m->program->ptx->has_async)
        ptx_async_touch(x->m, x->lanes, 1);
    if (!why)
        return register_thread(x);
    ptx_stuck(x->m, x->id, x->pc, why);
    return x->op->exec == PTX_EXEC_BAR_ARRIVE ? RULE_NB_ARRIVE_FIRST : RULE_NB_SYNC_FIRST;
}

/* ---- the block ---- */

static bool waits_at(const struct machine *machine, uint32_t thread, uint32_t b)
{
    return cta_state_at(machine, thread)->barrier == b + 1;
}

void cta_revive(struct machine *machine, struct machine_group *group, uint32_t count)
{
    struct machine_head *head = machine->head;
    uint32_t old = head->live_count, at = old;
    while (at > 0 && head->live[at - 1] >= group->first + group->count)
        at--;
    for (uint32_t i = old; i > at; i--)
        put(machine, &head->live[i - 1 + count], head->live[i - 1]);
    at += count;
    for (uint32_t thread = group->first + group->count; thread-- > group->first;) {
        if (cta_state_at(machine, thread)->barrier == 0 && !cta_has_ended(machine, thread))
            put(machine, &head->live[--at], thread);
    }
    put(machine, &head->live_count, old + count);
    put(machine, &group->live, group->live + count);
    put(machine, &group->waiting, group->waiting - count);
}

/* bar.red: what the threads of I get. */
static uint32_t reduction(const struct cta_barrier_state *B)
{
    return B->red == PTX_W_POPC ? B->truths
           : B->red == PTX_W_OR ? B->truths > 0
                                : B->truths == B->synced;
}

static void report_releases(const struct cta_step *x, const struct machine_group *group)
{
    for (uint32_t first = group->first; first < group->first + group->count; first += 64) {
        lane_mask mask = 0;
        for (uint32_t i = 0; i < 64 && first + i < group->first + group->count; i++)
            mask |= (lane_mask)waits_at(x->m, first + i, x->b) << i;
        if (mask)
            report(x, BARRIER_RELEASES, first, mask);
    }
    if (x->B->synced == group->count) {
        struct barrier_event event = {.block = block_of(x), .stm = x->pc, .all = true};
        observe_barrier(x->m, &event);
    }
}

/*  recycle           B(b) = (I, A, n)      full(b)      P_i = sync b n; P'_i  for i in I, P_i = P'_i  otherwise
 *      E, B, P_1 || .. || P_N  ~>  E[true / I], B[([], [], bot) / b], P'_1 || .. || P'_N
 */
static void nb_recycle(struct cta_step *x)
{
    struct machine *machine = x->m;
    struct cta_barrier_state *B = x->B;
    struct machine_group *group = machine_group_of(machine, x->id);
    uint32_t value = reduction(B), count = B->synced;
    if (is_observed(x->m))
        report_releases(x, group);
    for (uint32_t thread = group->first; thread < group->first + group->count; thread++) {
        struct cta_state *P = cta_state_at(machine, thread);
        if (!waits_at(machine, thread, x->b))
            continue;
        const struct ptx_op *op = &machine->program->ptx->ops[P->pc];
        if (op->exec == PTX_EXEC_BAR_RED)
            ptx_set_result(machine, cta_lanes_at(machine, thread), &op->results[0], 1, value);
        put(machine, &P->barrier, 0);
        put(machine, &P->pc, P->pc + 1);
    }
    put(machine, &B->n, 0);
    put(machine, &B->synced, 0);
    put(machine, &B->arrived, 0);
    put(machine, &B->red, PTX_W_NONE);
    put(machine, &B->truths, 0);
    if (is_observed(machine) && !is_tracked(machine))
        B->ended++;
    cta_revive(machine, group, count);
    report_step(machine, RULE_NB_RECYCLE, x->id, x->pc);
}

/* Whether the thread is at a sync or arrive of the full barrier: it can step to err. */
static bool can_err(const struct cta_step *x, uint32_t thread, struct cta_step *y)
{
    *y = cta_step_of(x->m, thread, x->choices);
    return y->P->pc != 0 && y->P->barrier == 0 && y->pc < x->m->program->ptx->count &&
           cta_is_barrier(y->op) && ptx_guard(x->m, y->lanes, y->pc, 1) && !operands(y) &&
           y->b == x->b && !(y->n == x->B->n && mixes(y));
}

/* BLOCK_EAGER: cta_err has no premise on barriers, so recycling competes with it. */
static bool errs_first(struct cta_step *x)
{
    struct machine_group *group = machine_group_of(x->m, x->id);
    struct cta_step y;
    uint32_t n = 1;
    for (uint32_t thread = group->first; thread < group->first + group->count; thread++)
        n += can_err(x, thread, &y);
    uint32_t picked = n >= 2 && x->choices ? x->choices->choose(x->choices, n) : 0;
    if (picked == 0)
        return false;
    for (uint32_t thread = group->first;; thread++)
        if (can_err(x, thread, &y) && --picked == 0)
            break;
    enum rule rule = register_thread(&y);
    report_step(x->m, rule, y.id, y.pc);
    return true;
}

void cta_barrier_settle(struct cta_step *x)
{
    if (!is_full(x->B))
        return;
    if ((x->m->options.block_options & BLOCK_EAGER) && errs_first(x))
        return;
    nb_recycle(x);
}
