/*
 * follow_policy.c - executions of warps without a stack: who steps is the policy's choice, which the reference makes
 * once more (engine/reference_policy/ref_policy.h). Of PTX threads are as they are followed here, and the flow of a
 * function is that of its instructions.
 */
#include "engine/reference/ref_flow.h"
#include "engine/reference_policy/ref_policy.h"
#include "oracle/steps/follow_ptx.h"

enum { OPEN_DEPTH = 8, OPEN_STATES = 1 << 10, FLOW_NODES = 400 };

struct follow_policy {
    struct ref_policy *policy;
    const struct ref_view *view;
    struct ref_view of_ptx;
    bool no_flow; /* PTX: where its branches lead, or meet, is not known here */
    bool now;     /* the execution at hand follows a policy */
};

/* ---- threads of PTX ---- */

static struct ref_spot spot_of(const void *of, uint32_t thread)
{
    const struct follower *f = of;
    const struct follow_group *g = &f->ptx->groups[thread];
    bool some = !g->ended && g->pcs[0] > 0 && g->pcs[0] < f->ptx->code->count;
    uint32_t pc = some ? g->pcs[0] : REF_NOWHERE;
    return (struct ref_spot){.live = !g->ended && !follow_ptx_waits(g),
                             .ended = g->ended,
                             .at = pc,
                             .next = pc,
                             .height = g->depth[0] + 1};
}

static bool same_pc(const void *of, uint32_t thread, uint32_t other, bool literal)
{
    const struct follower *f = of;
    const struct follow_group *a = &f->ptx->groups[thread], *b = &f->ptx->groups[other];
    (void)literal; /* an instruction is one step */
    bool same =
        a->pcs[0] == b->pcs[0] && a->entry_count == b->entry_count && a->depth[0] == b->depth[0];
    for (uint32_t i = 0; same && i < a->entry_count; i++)
        same = a->entries[i].is_call == b->entries[i].is_call &&
               a->entries[i].pc == b->entries[i].pc && a->entries[i].depth == b->entries[i].depth;
    for (uint32_t i = 1; same && i <= a->depth[0]; i++)
        same = a->sites[i] == b->sites[i];
    return same;
}

/* ---- the flow of a function ---- */

/* At an instruction, with these preBrk open, the last one innermost. */
struct open_state {
    uint32_t pc, depth, open[OPEN_DEPTH];
};

struct flow {
    const struct ptx_code *code;
    uint32_t first, end; /* addresses; end: the node of the function's end */
    struct ref_flow *graph;
    struct open_state *states;
    uint32_t count;
    bool unknown;
};

static uint32_t node_of(const struct flow *x, uint32_t pc)
{
    return pc >= x->first && pc < x->end ? pc - x->first : x->end - x->first;
}

static bool same_state(const struct open_state *a, const struct open_state *b)
{
    bool same = a->pc == b->pc && a->depth == b->depth;
    for (uint32_t i = 0; same && i < a->depth; i++)
        same = a->open[i] == b->open[i];
    return same;
}

/* An edge, and the state behind it. */
static void go(struct flow *x, const struct open_state *from, uint32_t pc, uint32_t depth)
{
    struct open_state to = *from;
    to.pc = pc;
    to.depth = depth;
    ref_flow_add(x->graph, from->pc - x->first, node_of(x, pc));
    if (node_of(x, pc) == x->end - x->first)
        return;
    for (uint32_t i = 0; i < x->count; i++)
        if (same_state(&x->states[i], &to))
            return;
    if (x->count == OPEN_STATES)
        x->unknown = true;
    else
        x->states[x->count++] = to;
}

static void go_to_targets(struct flow *x, const struct open_state *s, const struct ptx_op *op)
{
    for (uint32_t i = 0; i < op->table_count; i++)
        go(x, s, x->code->table[op->table + i], s->depth);
    if (op->target)
        go(x, s, op->target, s->depth);
    else if (op->table_count == 0)
        go(x, s, 0, s->depth);
}

static void follow_state(struct flow *x, const struct open_state *s)
{
    const struct ptx_op *op = &x->code->ops[s->pc];
    struct open_state pushed = *s;
    switch ((int)op->exec) {
    case PTX_EXEC_BRA:
        go_to_targets(x, s, op);
        break;
    case PTX_EXEC_BREAK:
        go(x, s, s->depth ? x->code->ops[s->open[s->depth - 1]].target : 0,
           s->depth ? s->depth - 1 : 0);
        break;
    case PTX_EXEC_RET:
    case PTX_EXEC_EXIT:
    case PTX_EXEC_TRAP:
        go(x, s, 0, 0);
        break;
    case PTX_EXEC_PREBRK:
        x->unknown |= s->depth == OPEN_DEPTH;
        if (s->depth < OPEN_DEPTH)
            pushed.open[pushed.depth++] = s->pc;
        go(x, &pushed, s->pc + 1, pushed.depth);
        return;
    default:
        go(x, s, s->pc + 1, s->depth);
        return;
    }
    if (op->guard.kind != PTX_PLACE_NONE)
        go(x, s, s->pc + 1, s->depth);
}

/* Breaks that may leave several loops, as the ways there differ, are left to others. */
static bool breaks_differ(const struct flow *x)
{
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct open_state *a = &x->states[i], *b = &x->states[k];
            if (a->pc == b->pc && x->code->ops[a->pc].exec == PTX_EXEC_BREAK &&
                (a->depth == 0 ? 0 : a->open[a->depth - 1]) !=
                    (b->depth == 0 ? 0 : b->open[b->depth - 1]))
                return true;
        }
    return false;
}

static bool find_meetings(struct arena *arena, struct flow *x, uint32_t *meets, bool *is_exit,
                          bool *is_join)
{
    uint32_t count = x->end - x->first, *most = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t n = 0; n < count; n++)
        most[n] = 2 + x->code->ops[x->first + n].table_count;
    x->graph = ref_flow_new(arena, count + 1, most);
    x->states[0] = (struct open_state){.pc = x->first};
    x->count = 1;
    for (uint32_t i = 0; i < x->count; i++) {
        struct open_state s = x->states[i];
        follow_state(x, &s);
    }
    if (x->unknown || breaks_differ(x))
        return false;
    bool reducible = ref_flow_reducible(x->graph, arena);
    for (uint32_t n = 0; n < count; n++) {
        if (x->graph->next_count[n] > 1) {
            uint32_t meeting = ref_flow_post_dominator(x->graph, n);
            is_exit[x->first + n] = reducible && ref_flow_leaves_loop(x->graph, n);
            if (meeting < count) {
                meets[x->first + n] = x->first + meeting;
                is_join[x->first + meeting] = true;
            }
        }
        if (x->code->ops[x->first + n].exec == PTX_EXEC_CALL)
            meets[x->first + n] = x->first + n + 1;
    }
    return true;
}

static bool find_all_meetings(struct arena *arena, const struct ptx_code *code,
                              struct ref_view *view)
{
    uint32_t *meets = ARENA_ARRAY(arena, uint32_t, code->count);
    bool *is_exit = ARENA_ARRAY(arena, bool, code->count),
         *is_join = ARENA_ARRAY(arena, bool, code->count);
    struct flow x = {.code = code, .states = ARENA_ARRAY(arena, struct open_state, OPEN_STATES)};
    view->meets = meets;
    view->is_exit = is_exit;
    view->is_join = is_join;
    for (uint32_t pc = 0; pc < code->count; pc++)
        meets[pc] = REF_NOWHERE;
    for (uint32_t i = 0; i < code->function_count; i++) {
        x.first = code->functions[i].entry;
        x.end = code->functions[i].end;
        if (x.end - x.first > FLOW_NODES || !find_meetings(arena, &x, meets, is_exit, is_join))
            return false;
    }
    return true;
}

/* ---- an execution ---- */

static struct follow_policy *policy_new(struct follower *f, struct arena *arena)
{
    struct follow_policy *x = ARENA_NEW(arena, struct follow_policy);
    if (f->ptx) {
        x->of_ptx = (struct ref_view){.of = f,
                                      .spot = spot_of,
                                      .same_place = same_pc,
                                      .places = f->ptx->code->count,
                                      .falls_through = true};
        x->view = &x->of_ptx;
    } else {
        x->view = ref_view_new(arena, f->reference);
    }
    if (x->view)
        x->policy = ref_policy_new(arena, x->view, &f->program->launch);
    return x;
}

/* Who asks where paths meet. */
static bool asks_flow(enum ref_policy_kind kind)
{
    return (kind >= REF_POLICY_DWS && kind <= REF_POLICY_DWS_NONE) || kind == REF_POLICY_DWF_PDOM;
}

void follow_policy_leave(struct follower *f)
{
    if (f->policy)
        f->policy->now = false;
    follow_promise_leave(f);
}

void follow_obey(struct follower *f, struct arena *arena, const struct sched_spec *spec)
{
    enum ref_policy_kind kind = (enum ref_policy_kind)spec->stackless.policy;
    follow_policy_leave(f);
    if (f->state != FOLLOW_ALONG)
        return;
    if (spec->kind != SCHED_STACKLESS) {
        follow_promise_start(f, arena, spec);
        return;
    }
    if (!f->policy)
        f->policy = policy_new(f, arena);
    struct follow_policy *x = f->policy;
    if (!x->policy || x->no_flow)
        return;
    if (f->ptx && asks_flow(kind) && !x->of_ptx.meets) {
        x->no_flow = !find_all_meetings(arena, f->ptx->code, &x->of_ptx);
        if (x->no_flow)
            return;
    }
    ref_policy_start(x->policy, kind, spec->stackless.literal, spec->stackless.then_first);
    x->now = true;
}

void follow_compare_choice(struct follower *f, uint32_t actor)
{
    struct follow_policy *x = f->policy;
    follow_promise_step(f, actor);
    if (!x || !x->now)
        return;
    uint32_t expected = ref_policy_next(x->policy, actor);
    f->turn_known = expected != REF_NOWHERE;
    if (expected == REF_NOWHERE) {
        x->now = false;
    } else if (expected != actor) {
        f->against_policy = true;
        follow_part_numbers(f, "thread that steps", actor, expected);
    }
}
