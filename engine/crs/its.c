/*
 * its.c - semantics_its: `block`, and instructions of a warp, as PTX has them since sm_70 (independent thread
 * scheduling). Each thread has a pc of its own; vote, shfl, match, redux .sync and bar.warp.sync wait until all lanes
 * that their mask names are at such an instruction with the same modifiers and the same mask, wherever in the program
 * that stands. Lanes that have ended are not waited for.
 *
 * In the rules: id the thread, E who is enabled, op.sync M the command with its modifiers and its mask, W(M) the
 * threads of id's warp that M names and that have not ended.
 */
#include "engine/crs/cta_internal.h"

static uint32_t lowest(lane_mask lanes)
{
    return (uint32_t)__builtin_ctzll(lanes);
}

/* ---- the threads of a warp ---- */

struct warp {
    uint32_t first; /* thread */
    uint32_t count;
};

static struct warp warp_of(const struct cta_step *x)
{
    const struct ast_launch *launch = &x->m->program->launch;
    uint32_t tid = x->id % launch->threads, lane = tid % launch->warp;
    uint32_t left = launch->threads - (tid - lane);
    return (struct warp){x->id - lane, left < launch->warp ? left : launch->warp};
}

static const struct ptx_op *op_of(const struct machine *machine, uint32_t thread)
{
    return &machine->program->ptx->ops[cta_state_at(machine, thread)->pc];
}

static bool waits(const struct machine *machine, uint32_t thread)
{
    return cta_state_at(machine, thread)->barrier == CTA_MEETS;
}

/* What names lanes; of an instruction of matrices, all are. */
static uint32_t mask_of(const struct machine *machine, uint32_t thread)
{
    const struct ptx_op *op = op_of(machine, thread);
    if (op->matrix)
        return UINT32_MAX;
    return (uint32_t)ptx_source(machine, cta_lanes_at(machine, thread), ptx_mask_of(op), 0);
}

/* The lanes that the thread's mask names. In warps of more than 32 lanes a bit names two of them. */
static lane_mask named_by(const struct machine *machine, uint32_t thread, uint32_t count)
{
    lane_mask named = mask_of(machine, thread);
    if (machine->program->launch.warp > 32)
        named |= named << 32;
    return named & (count == 64 ? ~(lane_mask)0 : ((lane_mask)1 << count) - 1);
}

/* The same instruction as far as its modifiers go; it may stand elsewhere, but those of matrices, which are
 * .aligned. */
static bool same_command(const struct ptx_op *a, const struct ptx_op *b)
{
    return a == b || (!a->matrix && a->opcode == b->opcode &&
                      memcmp(a->statement->u.instruction.words, b->statement->u.instruction.words,
                             sizeof a->statement->u.instruction.words) == 0);
}

/* ---- waiting ---- */

/*  wait              id in M      E(id)
 *      E, id, op.sync M; c  ~>  E[false / id], id, op.sync M; c
 *
 *  A lane that is not in its own mask is stuck: PTX leaves it undefined.
 */
enum rule its_wait(struct cta_step *x)
{
    const struct warp w = warp_of(x);
    struct machine_group *group = machine_group_of(x->m, x->id);
    if (!(named_by(x->m, x->id, w.count) >> (x->id - w.first) & 1)) {
        ptx_stuck(x->m, x->id, x->pc, "a lane is not in the mask of lanes that it names");
        return RULE_ITS_WAIT;
    }
    put(x->m, &x->P->barrier, CTA_MEETS);
    machine_unlive(x->m, x->id);
    put(x->m, &group->waiting, group->waiting + 1);
    x->waits_in_warp = true;
    return RULE_ITS_WAIT;
}

/* The lanes that wait as the thread does, if these are all that it waits for; else 0. Their masks are the same value
 * (PTX ISA 9.7.9.6), bits of lanes that are not there included. */
static lane_mask all_there(const struct machine *machine, const struct warp *w, uint32_t thread)
{
    const struct ptx_op *op = op_of(machine, thread);
    lane_mask named = named_by(machine, thread, w->count), here = 0;
    for (lane_mask rest = named; rest; rest &= rest - 1) {
        uint32_t other = w->first + lowest(rest);
        if (cta_has_ended(machine, other))
            continue;
        if (!waits(machine, other) || !same_command(op, op_of(machine, other)) ||
            mask_of(machine, other) != mask_of(machine, thread))
            return 0;
        here |= (lane_mask)1 << lowest(rest);
    }
    return here;
}

/* ---- meeting ---- */

struct operands {
    uint64_t a[LIMIT_WARP], b[LIMIT_WARP], c[LIMIT_WARP], d[LIMIT_WARP], p[LIMIT_WARP];
};

static void gather(const struct machine *machine, const struct warp *w, lane_mask lanes,
                   struct operands *values)
{
    for (lane_mask rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest(rest), thread = w->first + lane;
        const struct ptx_op *op = op_of(machine, thread);
        const struct ptx_lanes *own = cta_lanes_at(machine, thread);
        values->a[lane] = ptx_source(machine, own, &op->sources[0], 0);
        values->b[lane] = ptx_source(machine, own, &op->sources[1], 0);
        values->c[lane] = ptx_source(machine, own, &op->sources[2], 0);
        if (op->exec == PTX_EXEC_VOTE) /* each says for itself whether it is negated */
            values->a[lane] = (values->a[lane] != 0) != (op->negated & 1);
    }
}

/* What each of them gets; they go on. */
static void go_on(const struct cta_step *x, const struct warp *w, lane_mask lanes,
                  const struct operands *values)
{
    for (lane_mask rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest(rest), thread = w->first + lane;
        struct cta_state *P = cta_state_at(x->m, thread);
        const struct ptx_op *op = op_of(x->m, thread);
        struct ptx_lanes *own = cta_lanes_at(x->m, thread);
        ptx_set_result(x->m, own, &op->results[0], 1, values->d[lane]);
        ptx_set_result(x->m, own, &op->results[1], 1, values->p[lane]);
        put(x->m, &P->barrier, 0);
        put(x->m, &P->pc, P->pc + 1);
    }
}

static void tell_each_other(const struct cta_step *x, const struct warp *w, lane_mask lanes,
                            struct operands *values)
{
    struct ptx_op op = *op_of(x->m, w->first + lowest(lanes));
    struct ptx_meeting meeting = {.op = &op,
                                  .count = w->count,
                                  .executing = lanes,
                                  .a = values->a,
                                  .b = values->b,
                                  .c = values->c,
                                  .d = values->d,
                                  .p = values->p};
    op.negated = 0;
    gather(x->m, w, lanes, values);
    for (lane_mask rest = lanes; rest; rest &= rest - 1)
        meeting.with[lowest(rest)] = lanes;
    x->m->hits[ptx_meet(&meeting)]++;
}

static void report(const struct cta_step *x, enum rule rule, const struct warp *w, lane_mask lanes,
                   uint32_t pc)
{
    x->m->hits[rule]++;
    if (is_observed(x->m)) {
        struct step_event event = {.rule = rule,
                                   .actor = w->first + lowest(lanes),
                                   .stm = pc,
                                   .truth = 1,
                                   .first_thread = w->first,
                                   .met = lanes};
        observe_step(x->m, &event);
    }
}

/* An instruction of matrices, by all 32 lanes. False: it is undefined, or has ended the execution. */
static bool matrices(const struct cta_step *x, const struct warp *w, lane_mask lanes, uint32_t pc)
{
    struct ptx_seat seats[PTX_MATRIX_LANES];
    if (lanes != UINT32_MAX) {
        ptx_stuck(x->m, w->first + lowest(lanes), pc,
                  "not all 32 lanes of the warp execute the instruction");
        return false;
    }
    for (uint32_t lane = 0; lane < PTX_MATRIX_LANES; lane++)
        seats[lane] = (struct ptx_seat){cta_lanes_at(x->m, w->first + lane), 0};
    x->m->hits[ptx_matrix(x->m, op_of(x->m, w->first), pc, seats)]++;
    return machine_status(x->m) == STATUS_RUNNING;
}

/*  meet              W(M) != {}      for each i in W(M): not E(i), P_i = op.sync M; P'_i
 *      E, P_1 || .. || P_N  ~>  E[true / W(M)], P'_1 || .. || P'_N         P'_i = P_i for all others
 *
 *  with the results of op over W(M): PTX_VOTE_*, PTX_SHFL and the others.
 */
static void its_meet(struct cta_step *x, const struct warp *w, lane_mask lanes)
{
    uint32_t pc = cta_state_at(x->m, w->first + lowest(lanes))->pc;
    struct operands values = {.d = {0}};
    if (op_of(x->m, w->first + lowest(lanes))->matrix) {
        if (!matrices(x, w, lanes, pc)) {
            report(x, RULE_ITS_MEET, w, lanes, pc);
            return;
        }
    } else {
        tell_each_other(x, w, lanes, &values);
    }
    go_on(x, w, lanes, &values);
    cta_revive(x->m, machine_group_of(x->m, x->id), (uint32_t)__builtin_popcountll(lanes));
    report(x, RULE_ITS_MEET, w, lanes, pc);
}

/* A thread that has come completes its own meeting; one that has ended, any of its warp's. */
void its_settle(struct cta_step *x)
{
    const struct warp w = warp_of(x);
    if (machine_group_of(x->m, x->id)->waiting == 0)
        return;
    for (uint32_t thread = w.first;
         thread < w.first + w.count && machine_status(x->m) == STATUS_RUNNING; thread++) {
        if (!waits(x->m, thread) || (x->waits_in_warp && thread != x->id))
            continue;
        lane_mask lanes = all_there(x->m, &w, thread);
        if (lanes)
            its_meet(x, &w, lanes);
    }
}

/* ---- activemask ---- */

/* The lanes that stand where the thread stands, could execute its instruction now, and are of its function. */
static lane_mask beside(const struct cta_step *x, const struct warp *w)
{
    lane_mask lanes = 0;
    for (uint32_t lane = 0; lane < w->count; lane++) {
        uint32_t thread = w->first + lane;
        const struct cta_state *P = cta_state_at(x->m, thread);
        const struct ptx_lanes *own = cta_lanes_at(x->m, thread);
        if (P->pc == x->pc && P->barrier == 0 && own->lane[0].function == x->op->function &&
            ptx_guard(x->m, own, x->pc, 1))
            lanes |= (lane_mask)1 << lane;
    }
    return lanes;
}

/*  activemask        X: all threads of id's warp whose command this is, or {id}, as the schedule chooses
 *      E, P_i = activemask; P'_i for i in X  ~>  E, P'_i, r^ of each <- X
 */
enum rule its_activemask(struct cta_step *x)
{
    const struct warp w = warp_of(x);
    lane_mask own = (lane_mask)1 << (x->id - w.first), lanes = beside(x, &w);
    struct operands values = {.d = {0}};
    bool alone = lanes != own && x->choices && x->choices->choose(x->choices, 2) == 1;
    lanes = alone ? own : lanes;
    for (lane_mask rest = lanes; rest; rest &= rest - 1)
        values.d[lowest(rest)] = (uint32_t)lanes;
    go_on(x, &w, lanes, &values);
    report(x, RULE_PTX_ACTIVEMASK, &w, lanes, x->pc);
    return RULE_ITS_ACTIVEMASK;
}
