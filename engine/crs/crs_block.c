/*
 * crs_block.c - thread blocks of warps: the thread rules of bar.*, the warp's comm, and the rules of 5.5.2.
 *
 * In the rules: beta is the block, omega a warp, theta a thread, chi the block's barriers, ws the warp
 * size. mbl := .cta is no state here: memory is sequentially consistent, so every access has been
 * performed when the barrier is reached.
 */
#include "engine/crs/crs_cluster.h"

static struct crs_state *state_of(const struct machine *machine, uint32_t warp)
{
    return crs_view(machine, warp).state;
}

static struct ptx_lanes *lanes_of(const struct machine *machine, uint32_t warp)
{
    return crs_view(machine, warp).lanes;
}

/* A block's part of machine->extra: the barriers, the lane sets, the counts of generations. */
struct block_layout {
    uint32_t ids, barriers, warps;
    uint32_t barrier_words, waiting_words, cluster, words;
};

static struct block_layout layout_of(const struct program *program)
{
    struct block_layout l = {.ids = program->ptx->barriers,
                             .barriers = program->ptx->barrier_count,
                             .warps = program->warps_per_block};
    l.barrier_words = l.barriers * (uint32_t)(sizeof(struct crs_barrier) / 4); /* even */
    l.waiting_words = l.barriers * l.warps * 2;
    l.cluster = l.barrier_words + l.waiting_words + l.barriers + l.barriers % 2;
    l.words = l.cluster + crs_cluster_words(program);
    return l;
}

uint32_t crs_barrier_words(const struct program *program)
{
    return layout_of(program).words * program->launch.blocks;
}

struct crs_barriers crs_barriers(const struct machine *machine, uint32_t block)
{
    struct block_layout l = layout_of(machine->program);
    uint32_t *words = (uint32_t *)machine->extra + (size_t)block * l.words;
    return (struct crs_barriers){
        .m = (struct machine *)(uintptr_t)machine,
        .ids = l.ids,
        .warps = l.warps,
        .warp_size = machine->program->launch.warp,
        .block_options = machine->options.block_options,
        .at = (struct crs_barrier *)words,
        .waiting = (lane_mask *)(words + l.barrier_words),
        .ended = words + l.barrier_words + l.waiting_words,
        .cluster_ended = words + l.cluster,
        .cluster = (struct crs_cluster_lanes *)(void *)(words + l.cluster + 2),
    };
}

/* ---- events ---- */

static void report(struct machine *machine, enum barrier_use_kind kind,
                   const struct crs_barriers *chi, uint32_t barid, uint32_t warp, lane_mask lanes,
                   uint32_t stm)
{
    struct barrier_use use = {
        .kind = kind,
        .block = warp / chi->warps,
        .barrier = barid,
        .count = crs_barrier_at(chi, barid)->tc,
        .generation = chi->ended[crs_barrier_index(chi, barid)],
        .first_thread = lanes_of(machine, warp)->first_thread,
        .mask = lanes,
        .stm = stm,
    };
    observe_use(machine, &use);
}

static uint32_t first_lane(lane_mask mask)
{
    return (uint32_t)__builtin_ctzll(mask);
}

/* The barrier instruction of a waiting warp: comm has moved its pc on. */
static uint32_t waiting_stm(const struct machine *machine, uint32_t warp)
{
    return state_of(machine, warp)->pc - 1;
}

/* ---- threads ---- */

/* What a lane's rule works on. */
struct bar_step {
    struct machine *m;
    const struct ptx_lanes *lanes;
    const struct ptx_op *op;
    struct crs_barrier_action *action;
};

/* ThreadCnt: the multiples of ws. Not: with BLOCK_LANES lanes are counted, and every number is one. */
static bool is_thread_count(const struct machine *m, uint64_t tc)
{
    return tc % m->program->launch.warp == 0 || m->options.block_options & BLOCK_LANES;
}

/* e in BarrierIdx, e' in ThreadCnt (0 is rejected, ERR.57). NULL, or why not. */
static const char *bar_operands(struct bar_step *x, uint32_t lane)
{
    const struct machine *m = x->m;
    uint64_t barid = ptx_source(m, x->lanes, &x->op->sources[0], lane) & UINT32_MAX;
    if (barid >= CRS_BARRIERS)
        return "the barrier's number is not below 16";
    x->action->barid[lane] = (uint32_t)barid;
    x->action->tc[lane] = 0;
    if (!x->op->has_count)
        return NULL;
    uint64_t tc = ptx_source(m, x->lanes, &x->op->sources[1], lane) & UINT32_MAX;
    if (tc == 0)
        return "the barrier's thread count is 0";
    if (!is_thread_count(m, tc))
        return "the barrier's thread count is no multiple of the warp size";
    x->action->tc[lane] = (uint32_t)tc;
    return NULL;
}

/*  bar_sync          E[[e]] in BarrierIdx     E[[e']] in ThreadCnt, or e' is not given
 *      <theta | bar.sync e e'?>  -- bar E[[e]] E[[e']] -->  theta with mbl = .cta
 */
static const char *blk_bar_sync(struct bar_step *x, uint32_t lane)
{
    return bar_operands(x, lane);
}

/*  bar_arrive        E[[e]] in BarrierIdx     E[[e']] in ThreadCnt
 *      <theta | bar.arrive e e'>  -- bar E[[e]] E[[e']] -->  theta
 */
static const char *blk_bar_arrive(struct bar_step *x, uint32_t lane)
{
    if (!x->op->has_count)
        return "bar.arrive without a thread count";
    return bar_operands(x, lane);
}

/*  bar_red (ERR.08)  E[[e]] in BarrierIdx     E[[e']] in ThreadCnt, or e' is not given
 *      <theta | bar.red br r e e'? e2>  -- bar E[[e]] E[[e']] r B[[e2]] -->  theta with mbl = .cta
 */
static const char *blk_bar_red(struct bar_step *x, uint32_t lane)
{
    bool truth = ptx_source(x->m, x->lanes, &x->op->sources[2], lane) != 0;
    if (truth != ((x->op->negated >> 2 & 1) != 0))
        x->action->truths |= (lane_mask)1 << lane;
    return bar_operands(x, lane);
}

static enum rule thread_rule(enum ptx_exec exec)
{
    return exec == PTX_EXEC_BAR_SYNC     ? RULE_BLK_BAR_SYNC
           : exec == PTX_EXEC_BAR_ARRIVE ? RULE_BLK_BAR_ARRIVE
                                         : RULE_BLK_BAR_RED;
}

/* Whether all lanes' actions are one, as nearly always: a constant names the barrier. */
static bool is_one_action(const struct ptx_op *op)
{
    return op->exec == PTX_EXEC_BAR_SYNC && op->sources[0].kind == PTX_PLACE_CONST &&
           !op->has_count;
}

/* The lanes' actions. NULL, or why one of them, *lane, has none. */
static const char *lane_actions(struct bar_step *x, uint32_t *lane)
{
    const char *why = NULL;
    const uint32_t first = first_lane(x->action->lanes);
    const bool one = is_one_action(x->op);
    for (lane_mask rest = x->action->lanes; rest && !why; rest &= rest - 1) {
        *lane = first_lane(rest);
        if (one && *lane != first) {
            x->action->barid[*lane] = x->action->barid[first];
            x->action->tc[*lane] = x->action->tc[first];
            continue;
        }
        if (x->action->type == PTX_EXEC_BAR_SYNC)
            why = blk_bar_sync(x, *lane);
        else if (x->action->type == PTX_EXEC_BAR_ARRIVE)
            why = blk_bar_arrive(x, *lane);
        else
            why = blk_bar_red(x, *lane);
    }
    return why;
}

uint32_t crs_missing_lane(const struct machine *machine, uint32_t warp, const struct ptx_op *op,
                          lane_mask executing)
{
    const struct ptx_instruction *instruction = &op->statement->u.instruction;
    bool aligned = op->opcode == PTX_OP_BAR || instruction->words[PTX_SLOT_ALIGNED] != PTX_W_NONE;
    lane_mask missing =
        ptx_all(lanes_of(machine, warp)) & ~state_of(machine, warp)->exited & ~executing;
    if (!(machine->options.block_options & BLOCK_ALIGNED) || !aligned || missing == 0)
        return 64;
    return first_lane(missing);
}

/* ---- warps, blocks ---- */

/* Threads that a barrier without a count waits for. As printed "the number of threads of the thread block"
 * in the text, "active warps times the warp size" in the rule: the rule (ERR.42). All
 * warps where completed ones count as arrived. */
static uint32_t default_count(const struct machine *machine, const struct machine_group *group)
{
    const struct ast_launch *launch = &machine->program->launch;
    uint32_t options = machine->options.block_options, count = 0;
    for (uint32_t warp = group->first; warp < group->first + group->count; warp++)
        if ((options & (BLOCK_ALL_WARPS | BLOCK_EXIT_ARRIVES)) ||
            !state_of(machine, warp)->completed)
            count += options & BLOCK_LANES ? lanes_of(machine, warp)->count : launch->warp;
    return count;
}

/*  comm              some lane has an action bar     barids: all that the lanes name
 *      <omega with pc>  -- (bar.sync | bar.red | bar.arrive) acts -->
 *      <omega with pc + 1, and barids to wait for (bar.arrive: none)>
 */
static void blk_comm(struct machine *machine, uint32_t warp,
                     const struct crs_barrier_action *action, const struct crs_barrier_infos *infos)
{
    struct crs_state *omega = state_of(machine, warp);
    struct machine_group *group = machine_group_of(machine, warp);
    machine->hits[RULE_BLK_COMM]++;
    if (action->type == PTX_EXEC_BAR_ARRIVE)
        return;
    uint32_t barids = 0;
    for (uint32_t i = 0; i < infos->count; i++)
        barids |= 1u << infos->items[i].barid;
    put(machine, &omega->waiting, barids);
    machine_unlive(machine, warp);
    put(machine, &group->waiting, group->waiting + 1);
}

/*  exec              tc = (active warps before the step) ws       chi' = updBar(chi, tc, wact) != bot
 *      <beta with chi, omegas>  ==>  <beta with chi', omegas'>
 */
static void blk_exec(struct machine *machine, uint32_t warp, uint32_t pc,
                     const struct crs_barrier_action *action)
{
    struct machine_group *group = machine_group_of(machine, warp);
    struct crs_barriers chi = crs_barriers(machine, (uint32_t)(group - machine->groups));
    struct crs_barrier_infos infos;
    machine->hits[RULE_BLK_EXEC]++;
    const char *why =
        crs_upd_bar(&chi, default_count(machine, group), group->finished, action, &infos);
    if (why) {
        uint32_t thread = lanes_of(machine, warp)->first_thread + first_lane(action->lanes);
        ptx_stuck(machine, thread, pc, why);
        return;
    }
    if (is_observed(machine))
        for (uint32_t i = 0; i < infos.count; i++)
            report(machine, action->type == PTX_EXEC_BAR_ARRIVE ? BARRIER_ARRIVES : BARRIER_SYNCS,
                   &chi, infos.items[i].barid, warp, infos.items[i].lanes, pc);
    blk_comm(machine, warp, action, &infos);
}

enum rule crs_barrier_step(struct machine *machine, uint32_t warp, uint32_t pc, lane_mask executing)
{
    const struct ptx_lanes *lanes = lanes_of(machine, warp);
    const struct ptx_op *op = &machine->program->ptx->ops[pc];
    struct crs_barrier_action action = {.type = (enum ptx_exec)op->exec,
                                        .red = op->exec == PTX_EXEC_BAR_RED ? op->mode : PTX_W_NONE,
                                        .warp = warp % machine->program->warps_per_block,
                                        .lanes = executing};
    struct bar_step x = {machine, lanes, op, &action};
    enum rule rule = thread_rule(action.type);
    uint32_t lane = crs_missing_lane(machine, warp, op, executing);
    if (lane < 64) {
        machine->fault_text = "the barrier is aligned, and a lane that has not exited is missing";
        machine_fault(machine, STATUS_BARRIER_DIVERGENCE, lanes->first_thread + lane, pc);
        return rule;
    }
    const char *why = lane_actions(&x, &lane);
    if (why)
        ptx_stuck(machine, lanes->first_thread + lane, pc, why);
    else
        blk_exec(machine, warp, pc, &action);
    return rule;
}

/*  compl             all warps are completed
 *      beta  ==>  beta, completed                             (barriers that are in use do not matter)
 */
static void blk_compl(struct machine *machine)
{
    machine->hits[RULE_BLK_COMPL]++;
}

void crs_barrier_retire(struct machine *machine, uint32_t warp)
{
    struct machine_group *group = machine_group_of(machine, warp);
    struct crs_barriers chi = crs_barriers(machine, (uint32_t)(group - machine->groups));
    if (machine->options.block_options & BLOCK_EXIT_ARRIVES)
        crs_exit_arrives(&chi);
    if (group->finished == group->count)
        blk_compl(machine);
}

/* ---- the end of a generation ---- */

/*  barAct            red != eps
 *      for each warp and each of its lanes that executed bar.red:  reg <- reduce(red, actions)
 */
static void blk_bar_act(struct machine *machine, const struct machine_group *group,
                        struct crs_barriers *chi, uint32_t barid)
{
    machine->hits[RULE_BLK_BAR_ACT]++;
    uint32_t value = crs_reduce(chi, crs_barrier_at(chi, barid));
    for (uint32_t w = 0; w < chi->warps; w++) {
        lane_mask lanes = *crs_barrier_waiting(chi, barid, w);
        uint32_t warp = group->first + w;
        if (lanes == 0)
            continue;
        const struct ptx_op *op = &machine->program->ptx->ops[waiting_stm(machine, warp)];
        if (op->results[0].kind != PTX_PLACE_NONE)
            ptx_set_result(machine, lanes_of(machine, warp), &op->results[0], lanes, value);
    }
}

/*  remBar
 *      for each warp:  barids := barids \ barid
 *
 *  A warp whose set is empty then can be scheduled again.
 */
static void blk_rem_bar(struct machine *machine, struct machine_group *group, uint32_t barid)
{
    machine->hits[RULE_BLK_REM_BAR]++;
    for (uint32_t warp = group->first; warp < group->first + group->count; warp++) {
        struct crs_state *omega = state_of(machine, warp);
        if (!(omega->waiting & 1u << barid))
            continue;
        put(machine, &omega->waiting, omega->waiting & ~(1u << barid));
        if (omega->waiting > 0)
            continue;
        put(machine, &group->waiting, group->waiting - 1);
        machine_relive(machine, warp);
    }
}

/* Whether every thread of the block waits at the barrier: then accesses before and after its end are
 * ordered. Threads that have exited need not, unless their whole warp has and the count is not the default
 * one: such a barrier does not know of them. */
static bool takes_all(const struct machine *machine, const struct machine_group *group,
                      const struct crs_barriers *chi, uint32_t barid)
{
    for (uint32_t w = 0; w < chi->warps; w++) {
        const struct crs_state *omega = state_of(machine, group->first + w);
        lane_mask present = ptx_all(lanes_of(machine, group->first + w)) & ~omega->exited;
        if (present & ~*crs_barrier_waiting(chi, barid, w))
            return false;
        if (omega->completed && !crs_barrier_at(chi, barid)->defaults)
            return false;
    }
    return true;
}

static void report_end(struct machine *machine, const struct machine_group *group,
                       const struct crs_barriers *chi, uint32_t barid, uint32_t stm)
{
    uint32_t block = (uint32_t)(group - machine->groups);
    for (uint32_t w = 0; w < chi->warps; w++) {
        lane_mask lanes = *crs_barrier_waiting(chi, barid, w);
        if (lanes)
            report(machine, BARRIER_RELEASES, chi, barid, group->first + w, lanes, stm);
    }
    if (takes_all(machine, group, chi, barid)) {
        struct barrier_event event = {.block = block, .stm = stm, .all = true};
        observe_barrier(machine, &event);
    }
}

static uint32_t stm_of_end(const struct machine *machine, const struct machine_group *group,
                           const struct crs_barriers *chi, uint32_t barid)
{
    for (uint32_t w = 0; w < chi->warps; w++)
        if (*crs_barrier_waiting(chi, barid, w))
            return waiting_stm(machine, group->first + w);
    return CODE_NONE; /* arrivals only */
}

/*  endBar            chi(barid) = (tc, ac, _, _), ac >= tc, beta active        (any such barid: ERR.58)
 *      beta  -- barAct(chi(barid)) -->  beta with chi[barid |-> eps], remBar(barid, omegas)
 */
static void blk_end_bar(struct machine *machine, uint32_t block, struct crs_barriers *chi,
                        uint32_t barid, uint32_t warp)
{
    struct machine_group *group = &machine->groups[block];
    uint32_t stm = stm_of_end(machine, group, chi, barid);
    if (crs_barrier_at(chi, barid)->red != PTX_W_NONE)
        blk_bar_act(machine, group, chi, barid);
    if (is_observed(machine))
        report_end(machine, group, chi, barid, stm);
    blk_rem_bar(machine, group, barid);
    crs_barrier_clear(chi, barid);
    machine->hits[RULE_BLK_END_BAR]++;
    if (is_observed(machine)) {
        struct step_event event = {.rule = RULE_BLK_END_BAR, .actor = warp, .stm = stm};
        observe_step(machine, &event);
    }
}

static uint32_t full_set(const struct crs_barriers *chi)
{
    uint32_t full = 0;
    for (uint32_t rest = chi->ids; rest; rest &= rest - 1) {
        uint32_t barid = (uint32_t)__builtin_ctz(rest);
        if (crs_barrier_full(crs_barrier_at(chi, barid)))
            full |= 1u << barid;
    }
    return full;
}

/* The n-th member of a set. */
static uint32_t member(uint32_t set, uint32_t n)
{
    while (n-- > 0)
        set &= set - 1;
    return (uint32_t)__builtin_ctz(set);
}

/* BLOCK_LATE: nothing, or a full barrier, is ended. When no warp of the block can step, nothing but
 * endBar can happen there: then it does. CRS_BARRIERS: nothing. */
static uint32_t choose_end(uint32_t full, bool must, struct choices *choices)
{
    uint32_t count = (uint32_t)__builtin_popcount(full), n = count + !must;
    uint32_t picked = n >= 2 && choices ? choices->choose(choices, n) : 0;
    return picked < count ? member(full, picked) : CRS_BARRIERS;
}

static void deadlock(struct machine *machine)
{
    uint32_t warp = 0;
    while (state_of(machine, warp)->waiting == 0)
        warp++;
    struct crs_barriers chi = crs_barriers(machine, warp / machine->program->warps_per_block);
    uint32_t barid = (uint32_t)__builtin_ctz(state_of(machine, warp)->waiting);
    lane_mask lanes = barid == CRS_CLUSTER_BARRIER
                          ? crs_cluster_waiting(machine, warp)
                          : *crs_barrier_waiting(&chi, barid, warp % chi.warps);
    machine_fault(machine, STATUS_DEADLOCK,
                  lanes_of(machine, warp)->first_thread + first_lane(lanes),
                  waiting_stm(machine, warp));
}

void crs_barrier_settle(struct machine *machine, uint32_t warp, struct choices *choices)
{
    struct machine_group *group = machine_group_of(machine, warp);
    uint32_t block = (uint32_t)(group - machine->groups);
    bool late = machine->options.block_options & BLOCK_LATE;
    if (machine->head->status != STATUS_RUNNING)
        return;
    if (machine->program->ptx->has_cluster_barrier)
        crs_cluster_settle(machine, warp);
    struct crs_barriers chi = crs_barriers(machine, block);
    for (uint32_t full; group->finished < group->count && (full = full_set(&chi)) != 0;) {
        bool must = !late || group->live == 0;
        uint32_t barid = late ? choose_end(full, must, choices) : member(full, 0);
        if (barid == CRS_BARRIERS)
            break;
        blk_end_bar(machine, block, &chi, barid, warp);
    }
    if (machine->head->live_count == 0)
        deadlock(machine);
}
