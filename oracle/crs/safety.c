#include "oracle/crs/safety.h"

#include "engine/static/ptx_static.h"
#include "oracle/check/evidence.h"

#include <string.h>

/* ---- the program ---- */

static const struct ptx_op *op_at(const struct ptx_code *code, uint32_t pc)
{
    return pc - 1 < code->count - 1 ? &code->ops[pc] : NULL;
}

static bool same_guard(const struct ptx_op *a, const struct ptx_op *b)
{
    return a->guard.kind == b->guard.kind && a->guard.offset == b->guard.offset &&
           a->guard_not == b->guard_not;
}

/*  CHK.static  (a) `preRet L` is followed by a call with the same guard, L behind it; nothing else calls
 *              (b) ssy, preBrk and sync have no guard
 */
const char *safety_static(struct arena *arena, const struct ptx_code *code)
{
    bool after_pre_ret = false;
    for (uint32_t pc = 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc], *next = op_at(code, pc + 1);
        bool guarded = op->guard.kind != PTX_PLACE_NONE;
        if (guarded &&
            (op->exec == PTX_EXEC_SSY || op->exec == PTX_EXEC_PREBRK || op->exec == PTX_EXEC_SYNC))
            return arena_printf(arena, "a guarded ssy, preBrk or sync at line %u", op->line);
        if (op->exec == PTX_EXEC_CALL && !after_pre_ret)
            return arena_printf(arena, "a call without its preRet at line %u", op->line);
        after_pre_ret = op->exec == PTX_EXEC_PRERET;
        if (after_pre_ret &&
            (!next || next->exec != PTX_EXEC_CALL || !same_guard(op, next) || op->target != pc + 2))
            return arena_printf(arena, "a preRet that is no call's at line %u", op->line);
    }
    return NULL;
}

static bool starts_function(const struct ptx_code *code, uint32_t pc)
{
    for (uint32_t i = 0; i < code->function_count; i++)
        if (code->functions[i].entry == pc)
            return true;
    return false;
}

/* CHK.addr for one address that an instruction names. Raw kernels call labels. */
static bool good_address(const struct ptx_code *code, const struct ptx_op *op, uint32_t address)
{
    const struct ptx_op *to = op_at(code, address);
    if (!to)
        return false;
    if (op->exec == PTX_EXEC_CALL)
        return code->kernel->raw || starts_function(code, address);
    return to->function == op->function;
}

static bool good_addresses(const struct ptx_code *code, const struct ptx_op *op,
                           const struct safety_step *step)
{
    switch ((unsigned)op->exec) {
    case PTX_EXEC_BRA:
    case PTX_EXEC_CALL:
        if (!step->targets) /* the step has ended before */
            return true;
        for (lane_mask rest = step->executing; rest; rest &= rest - 1)
            if (!good_address(code, op, step->targets[__builtin_ctzll(rest)]))
                return false;
        return true;
    case PTX_EXEC_SSY:
    case PTX_EXEC_PREBRK:
    case PTX_EXEC_PRERET:
        return step->executing == 0 || good_address(code, op, op->target);
    default:
        return true;
    }
}

/* ---- a step ---- */

static enum safety_predicate hypothesis(const struct safety *s, const struct safety_warp *w,
                                        const struct ptx_op *op, const struct safety_step *step,
                                        bool printed)
{
    if (!good_addresses(s->program->ptx, op, step))
        return SAFETY_ADDR;
    return safety_stack(&w->state, w->tokens, step->exec, step->executing, printed);
}

/* Whether the step unwinds: sync, and what makes all active lanes leave. */
static bool unwinds(const struct safety_step *step)
{
    bool leaves =
        step->exec == PTX_EXEC_BREAK || step->exec == PTX_EXEC_RET || step->exec == PTX_EXEC_EXIT;
    return (step->exec == PTX_EXEC_SYNC && step->executing) ||
           (leaves && step->executing == step->active);
}

/* What is unwound: nobody is active, and those that have left are disabled. */
static struct crs_state unwound(const struct safety_warp *w, const struct safety_step *step)
{
    struct crs_state state = w->state;
    state.active = 0;
    if (step->exec == PTX_EXEC_BREAK)
        state.broken |= step->executing;
    if (step->exec == PTX_EXEC_RET)
        state.returned |= step->executing;
    if (step->exec == PTX_EXEC_EXIT)
        state.exited |= step->executing;
    return state;
}

/* An instruction without a flow action changes nothing of ς but the pc. */
static bool only_moved(const struct safety_warp *w, const struct crs_warp *now)
{
    const struct crs_state *a = &w->state, *b = now->state;
    return a->active == b->active && a->depth == b->depth && a->broken == b->broken &&
           a->returned == b->returned && a->exited == b->exited && b->pc == a->pc + 1;
}

/* chk_private, chk_kappa; between preRet and its call they say nothing. */
static enum safety_predicate private_stacks(const struct safety *s, const struct safety_warp *w,
                                            const struct crs_warp *now)
{
    const struct crs_state *state = now->state;
    const struct ptx_op *op = op_at(s->program->ptx, state->pc);
    if (s->printed || s->not_static || !op || op->exec == PTX_EXEC_CALL)
        return SAFETY_NONE;
    if (w->lanes->overflow ||
        !safety_lanes_private(w->lanes, now->tokens, state->depth, state->active))
        return SAFETY_PRIVATE;
    if (w->lanes->left_function || s->program->ptx->kernel->token_count > 0)
        return SAFETY_NONE;
    for (lane_mask rest = state->active; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        if (now->lanes->lane[lane].depth != w->lanes->calls[lane])
            return SAFETY_KAPPA;
    }
    return SAFETY_NONE;
}

/* thread-pc's lanes are where CHK.branch puts them; nobody looks at those that have exited. */
static bool same_pcs(const struct safety_warp *w, const struct crs_warp *now)
{
    for (uint32_t lane = 0; now->pcs && lane < w->lanes->count; lane++)
        if (now->pcs[lane] != w->lanes->pcs[lane])
            return false;
    return true;
}

static enum safety_predicate after_step(struct safety *s, struct safety_warp *w,
                                        const struct crs_warp *now, const struct safety_step *step,
                                        const char **theorem)
{
    const uint32_t *pcs = now->pcs ? now->pcs : w->lanes->pcs;
    *theorem = "Theorem 1";
    if (unwinds(step)) {
        struct crs_state start = unwound(w, step);
        s->unwinds++;
        if (safety_unwinds(&start, w->tokens, s->W, w->lanes->pcs))
            *theorem = w->state.depth - now->state->depth == 1 ? "Lemma 1" : "Lemma 2";
    }
    if (now->state->active == 0 && !now->state->completed)
        return SAFETY_COR_1;
    enum safety_predicate failed = safety_first(safety_state(now->state, now->tokens, s->W, pcs));
    if (failed != SAFETY_NONE)
        return failed;
    if (!same_pcs(w, now))
        return SAFETY_PCS;
    *theorem = "erratum 34";
    return private_stacks(s, w, now);
}

static void keep(struct safety_warp *w, const struct crs_warp *now)
{
    w->state = *now->state;
    memcpy(w->tokens, now->tokens, now->state->depth * sizeof *w->tokens);
}

static void fail(struct safety *s, enum safety_predicate predicate, const char *theorem,
                 const struct safety_step *step, const struct step_event *event,
                 const struct crs_warp *now)
{
    struct safety_failure *f = &s->failure;
    const struct safety_warp *w = &s->warps[event->actor];
    f->predicate = predicate;
    f->theorem = theorem;
    f->rule = event->rule;
    f->warp = event->actor;
    f->pc = step->pc;
    f->executing = step->executing;
    f->step = s->machine->steps;
    f->before = w->state;
    f->after = *now->state;
    memcpy(f->before_tokens, w->tokens, w->state.depth * sizeof *w->tokens);
    memcpy(f->after_tokens, now->tokens, now->state->depth * sizeof *now->tokens);
    s->over = true;
}

/* chk_kappa of the lanes about to call: they have pushed the entry, and have no frame for it yet. */
static bool frames_before_call(const struct safety *s, const struct safety_warp *w,
                               const struct safety_step *step, const struct crs_warp *now)
{
    if (s->not_static || s->program->ptx->kernel->token_count > 0 || w->lanes->left_function)
        return true;
    for (lane_mask rest = step->executing; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        if (now->lanes->lane[lane].depth + 1 != w->lanes->calls[lane])
            return false;
    }
    return true;
}

/* The execution has ended within the step; by RULE_NONE: before any rule. */
static void ended(struct safety *s, enum status status, const struct safety_step *step,
                  const struct step_event *event, const struct crs_warp *now)
{
    s->over = true;
    if (status != STATUS_STUCK)
        return;
    if (event->rule != RULE_NONE && unwinds(step))
        fail(s, SAFETY_COR_1, "Corollary 1", step, event, now);
    if (event->rule == RULE_NONE && step->exec == PTX_EXEC_CALL &&
        !frames_before_call(s, &s->warps[event->actor], step, now))
        fail(s, SAFETY_KAPPA, "erratum 34", step, event, now);
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct safety *s = context;
    struct safety_warp *w = &s->warps[event->actor];
    const struct crs_warp now = crs_warp(machine, event->actor);
    const struct ptx_op *op = op_at(machine->program->ptx, w->state.pc);
    enum status status = machine_status(machine);
    if (s->over || event->rule == RULE_BLK_END_BAR) /* that is the block's */
        return;
    struct safety_step step = {.active = w->state.active,
                               .executing = event->truth,
                               .targets = event->targets,
                               .pc = w->state.pc};
    if (!s->by_other_rules && op) {
        uint32_t depth = w->state.depth;
        uint32_t top = depth ? w->tokens[depth - 1].type : (uint32_t)PTX_STATIC_EMPTY;
        s->tops[w->state.pc] |= (uint8_t)PTX_STATIC_TOP(top);
    }
    if (!op) {
        fail(s, SAFETY_ADDR, "control-flow consistency", &step, event, &now);
        return;
    }
    step.exec = (enum ptx_exec)op->exec;
    step.address = op->target;
    s->steps++;
    if (ptx_is_flow(step.exec)) {
        enum safety_predicate bad = hypothesis(s, w, op, &step, s->printed);
        if (bad != SAFETY_NONE) {
            fail(s, bad, "control-flow consistency", &step, event, &now);
            return;
        }
        s->weaker |= s->printed && hypothesis(s, w, op, &step, false) != SAFETY_NONE;
    }
    if (status != STATUS_RUNNING && status != STATUS_TERMINATED) {
        ended(s, status, &step, event, &now);
        return;
    }
    const char *theorem = "Theorem 1";
    if (step.exec == PTX_EXEC_CALL && !s->not_static && !w->lanes->left_function &&
        !safety_lanes_paired(w->lanes, step.executing))
        s->not_static = "a call is entered otherwise than by its preRet";
    safety_lanes_step(w->lanes, &step, w->tokens, w->state.depth);
    safety_lanes_reset(w->lanes, &step, now.state->active);
    bool moved = !ptx_is_flow(step.exec) && only_moved(w, &now) && !now.pcs;
    enum safety_predicate failed = moved ? SAFETY_NONE : after_step(s, w, &now, &step, &theorem);
    if (failed == SAFETY_NONE && s->spans) {
        failed = safety_arrive(s->spans, &w->open, now.state, now.tokens);
        theorem = "Lemma N";
    }
    if (moved && failed == SAFETY_NONE) {
        w->state.pc = now.state->pc; /* act-cons: each active lane has moved by one, too */
        return;
    }
    if (failed != SAFETY_NONE) {
        fail(s, failed, theorem, &step, event, &now);
        return;
    }
    keep(w, &now);
}

/* ---- the observer ---- */

struct safety *safety_new(struct arena *arena, const struct program *program, bool printed)
{
    struct safety *s = ARENA_NEW(arena, struct safety);
    uint32_t capacity = program->ptx->token_capacity;
    s->observer = (struct observer){.context = s, .step = on_step};
    s->program = program;
    s->printed = printed;
    s->not_static = s->rules_broken = safety_static(arena, program->ptx);
    s->tops = ARENA_ARRAY(arena, uint8_t, program->ptx->count + 1);
    s->W = program->launch.warp == 64 ? ~(lane_mask)0 : ((lane_mask)1 << program->launch.warp) - 1;
    s->spans = safety_spans_new(arena, program->ptx);
    s->warps = ARENA_ARRAY(arena, struct safety_warp, program->warp_count);
    for (uint32_t i = 0; i < program->warp_count; i++) {
        s->warps[i].tokens = ARENA_ARRAY(arena, struct crs_token, capacity + 1);
        if (s->spans)
            safety_open_new(arena, s->spans, &s->warps[i].open);
        s->warps[i].lanes = safety_lanes_new(arena, program->launch.warp, capacity);
    }
    s->failure.before_tokens = ARENA_ARRAY(arena, struct crs_token, capacity + 1);
    s->failure.after_tokens = ARENA_ARRAY(arena, struct crs_token, capacity + 1);
    return s;
}

void safety_start(struct safety *s, const struct machine *machine)
{
    s->machine = machine;
    s->over = s->weaker = false;
    s->failure.predicate = SAFETY_NONE;
    for (uint32_t i = 0; i < s->program->warp_count; i++) {
        const struct crs_warp now = crs_warp(machine, i);
        keep(&s->warps[i], &now);
        safety_lanes_start(s->warps[i].lanes, now.state, now.tokens);
        s->warps[i].open.count = 0;
        s->warps[i].open.overflow = false;
        if (s->spans)
            (void)safety_arrive(s->spans, &s->warps[i].open, now.state, now.tokens);
    }
}
