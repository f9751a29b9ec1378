/*
 * ref_blocks.c - lockstep-cfg Fig. 4 and 8, section 4: threads that run the blocks of a graph.
 *
 * Loops are those of their definition (ref_flow.h; CFG.loop, B-2), every loop counts its trips, and the counters of a
 * thread are never put back: two threads are at one barrier when their frames, calls and counters are the same
 * (CFG.bv).
 */
#include "engine/reference/ref_flow.h"
#include "engine/reference/ref_internal.h"

enum { BLOCKS_MAX = 512 };

/* ---- graphs ---- */

struct graph {
    const struct ast_function *function;
    uint32_t count;
    const struct ast_block **blocks;
    uint32_t loop_count;
    uint32_t *heads; /* of each loop */
    bool *members;   /* of loop l: members[l * count + block] */
};

struct ref_graphs {
    uint32_t count;
    struct graph *graphs; /* of the kernel, then of each function */
};

static uint32_t place_of(const struct graph *g, const struct ast_block *block)
{
    uint32_t i = 0;
    while (g->blocks[i] != block)
        i++;
    return i;
}

/* Behind the blocks comes End. */
static struct ref_flow *flow_of(const struct graph *g, struct arena *arena)
{
    uint32_t most[BLOCKS_MAX + 1] = {0};
    for (uint32_t b = 0; b < g->count; b++)
        most[b] = g->blocks[b]->target_count;
    struct ref_flow *flow = ref_flow_new(arena, g->count + 1, most);
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t i = 0; i < most[b]; i++) {
            const struct ast_block *to = g->blocks[b]->targets[i];
            ref_flow_add(flow, b, to ? place_of(g, to) : g->count);
        }
    return flow;
}

/* App. A as it stands (B-2): what the head dominates, and from where it is reached, by whatever way. */
static bool in_wide_loop(struct ref_flow *flow, uint32_t head, uint32_t block)
{
    return ref_flow_dominates(flow, head, block) &&
           ref_flow_reaches(flow, block, head, REF_FLOW_NONE);
}

static bool graph_new(struct graph *g, struct arena *arena, const struct ast_function *function,
                      bool appendix)
{
    *g = (struct graph){.function = function};
    for (const struct ast_block *b = function->blocks; b; b = b->next)
        g->count++;
    if (g->count > BLOCKS_MAX)
        return false;
    g->blocks = arena_alloc(arena, g->count + 1, sizeof *g->blocks);
    g->heads = ARENA_ARRAY(arena, uint32_t, g->count + 1);
    g->members = ARENA_ARRAY(arena, bool, (size_t)g->count * g->count + 1);
    uint32_t i = 0;
    for (const struct ast_block *b = function->blocks; b; b = b->next)
        g->blocks[i++] = b;
    struct ref_flow *flow = flow_of(g, arena);
    for (uint32_t head = 0; head < g->count; head++) {
        if (!ref_flow_heads(flow, head))
            continue;
        bool *members = g->members + (size_t)g->loop_count * g->count;
        for (i = 0; i < g->count; i++)
            members[i] = appendix ? in_wide_loop(flow, head, i) : ref_flow_in_loop(flow, head, i);
        g->heads[g->loop_count++] = head;
    }
    return true;
}

bool ref_graphs_new(struct ref *r, struct arena *arena, const char **why)
{
    uint32_t count = 1, i = 1;
    for (const struct ast_function *f = r->kernel->functions; f; f = f->next)
        count++;
    r->graphs = ARENA_NEW(arena, struct ref_graphs);
    r->graphs->count = count;
    r->graphs->graphs = ARENA_ARRAY(arena, struct graph, count);
    bool fits = graph_new(&r->graphs->graphs[0], arena, r->kernel->main, r->options.appendix);
    for (const struct ast_function *f = r->kernel->functions; f && fits; f = f->next, i++)
        fits = graph_new(&r->graphs->graphs[i], arena, f, r->options.appendix);
    if (!fits)
        *why = "more blocks than the reference has room for";
    return fits;
}

static const struct graph *graph_of(const struct ref *r, const struct ast_function *function)
{
    uint32_t i = 0;
    while (r->graphs->graphs[i].function != function)
        i++;
    return &r->graphs->graphs[i];
}

uint32_t ref_loop_count(const struct ref *r, const struct ast_function *function)
{
    return r->graphs ? graph_of(r, function)->loop_count : 0;
}

bool ref_loop_waits(const struct ref *r, const struct ast_function *function, uint32_t loop)
{
    const struct graph *g = graph_of(r, function);
    for (uint32_t b = 0; b < g->count; b++)
        for (const struct ast_stm *s = g->blocks[b]->body; s; s = s->next)
            if (s->kind == STM_BARRIER && g->members[(size_t)loop * g->count + b])
                return true;
    return false;
}

/* ---- choosing ---- */

/* Whether a guard holds, so that what it guards may be chosen. Choosing accesses nothing (CFG.access); what cannot be
 * evaluated may be chosen, and fails where it stands. */
bool ref_may_choose(struct ref *r, uint32_t thread, const struct ast_expr *guard)
{
    uint32_t accesses = r->access_count;
    bool holds = ref_value(r, thread, guard) != 0 || r->end == REF_OUT_OF_BOUNDS;
    r->access_count = accesses;
    r->end = REF_RUNNING;
    return holds;
}

/* One of the possibilities that are marked: none is: the first; one: no choice is made. */
uint32_t ref_choose_marked(struct ref *r, uint32_t thread, const bool *marked, uint32_t count)
{
    uint32_t places[LIMIT_LABELS], found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (marked[i])
            places[found++] = i;
    if (found == 0)
        return 0;
    return places[found == 1 ? 0 : ref_choice_index(r, thread, found)];
}

/* The condition of the assume at the start of a block; NULL: there is none. */
const struct ast_expr *ref_leading_assume(const struct ast_block *block)
{
    const struct ast_stm *first = block ? block->body : NULL;
    return first && first->kind == STM_ASSUME ? first->value : NULL;
}

/* The value of pick(v, k1 : e1, .., kn : en). */
int32_t ref_picked(struct ref *r, uint32_t thread, const struct ast_stm *s)
{
    bool marked[LIMIT_LABELS];
    int32_t values[LIMIT_LABELS];
    uint32_t count = 0;
    for (const struct ast_expr *e = s->arguments; e; e = e->next->next, count++) {
        values[count] = e->value;
        marked[count] = ref_may_choose(r, thread, e->next);
    }
    return values[ref_choose_marked(r, thread, marked, count)];
}

/* ---- procedures: Fig. 8 ---- */

/* The values of the in-parameters, in the caller; false: one is out of bounds. */
bool ref_arguments(struct ref *r, uint32_t thread, const struct ast_stm *s, int32_t *values)
{
    for (const struct ast_expr *e = s->arguments; e; e = e->next)
        *values++ = ref_value(r, thread, e);
    return !ref_failed(r);
}

/* False: there is no room. */
bool ref_enter_with(struct ref *r, uint32_t thread, const struct ast_stm *s, const int32_t *values)
{
    ref_enter(r, thread, s->function, s);
    if (r->unknown)
        return false;
    for (const struct ast_var *v = s->function->locals; v; v = v->next)
        if (v->is_parameter && !v->is_out)
            *ref_local(r->threads[thread].frames, v) = *values++;
    return true;
}

/* The out-parameters go to the caller's variables. The call that is left. */
const struct ast_stm *ref_leave_with(struct ref *r, uint32_t thread)
{
    const struct ref_frame *gone = r->threads[thread].frames;
    const struct ast_stm *call = gone->call;
    int32_t values[LIMIT_PARAMETERS];
    uint32_t count = 0;
    for (const struct ast_var *v = gone->function->locals; v; v = v->next)
        if (v->is_out)
            values[count++] = *ref_local(gone, v);
    ref_leave(r, thread);
    count = 0;
    for (const struct ast_expr *e = call->outs; e; e = e->next)
        *ref_cell_of(r, thread, e->var, 0).word = values[count++];
    return call;
}

static bool stands_in(const struct ast_block *block, const struct ast_stm *stm)
{
    const struct ast_stm *s = block->body;
    while (s && s != stm)
        s = s->next;
    return s != NULL;
}

/* The block of the function in which the statement stands. */
const struct ast_block *ref_block_with(const struct ast_function *function,
                                       const struct ast_stm *stm)
{
    const struct ast_block *block = function->blocks;
    while (!stands_in(block, stm))
        block = block->next;
    return block;
}

/* <x := call p(e); b>  ==>  <B_p>, the caller's b is left for the return */
static enum rule call(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_actor *x = &r->actors[t];
    int32_t values[LIMIT_PARAMETERS];
    if (r->threads[t].depth == LIMIT_CALL_DEPTH) {
        ref_fail(r, REF_CALL_DEPTH, t);
        return RULE_INTK_CALL;
    }
    if (!ref_arguments(r, t, s, values) || !ref_enter_with(r, t, s, values))
        return RULE_INTK_CALL;
    x->block = s->function->blocks;
    x->inside = false;
    return RULE_INTK_CALL;
}

static enum rule leave(struct ref *r, uint32_t t)
{
    struct ref_actor *x = &r->actors[t];
    const struct ast_stm *call = ref_leave_with(r, t);
    x->block = ref_block_with(r->threads[t].frames->function, call);
    x->next = call->next;
    return RULE_INTK_RETURN;
}

/* ---- statements: Fig. 4a ---- */

static enum rule assign(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    int32_t value;
    struct ref_cell cell = ref_assigned(r, t, s, &value);
    if (cell.word)
        ref_write(r, t, &cell, value);
    return RULE_INTK_ASSIGN;
}

static enum rule havoc(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_cell cell = ref_place(r, t, &s->place);
    if (cell.word)
        ref_write(r, t, &cell, ref_choice_value(r, t));
    return RULE_INTK_HAVOC;
}

static enum rule atomic(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_operands operands;
    if (ref_operands(r, t, s, &operands))
        ref_atomic(r, t, s, &operands);
    return RULE_INTK_ATOMIC;
}

static enum rule pick(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    int32_t value = ref_picked(r, t, s);
    *ref_cell_of(r, t, s->target.var, 0).word = value;
    return RULE_INTK_PICK;
}

static enum rule check(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    bool is_assert = s->kind == STM_ASSERT, v = ref_value(r, t, s->value) != 0;
    if (!v)
        ref_fail(r, is_assert ? REF_ASSERT_FAILS : REF_INFEASIBLE, t);
    if (is_assert)
        return v ? RULE_INTK_ASSERT_T : RULE_INTK_ASSERT_F;
    return v ? RULE_INTK_ASSUME_T : RULE_INTK_ASSUME_F;
}

/* What control passes: seq_B. */
static enum rule statement(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    switch ((int)s->kind) { /* of block form; all others are not known here */
    case STM_SKIP:
    case STM_MEMBAR:
        return RULE_INTK_SKIP;
    case STM_ASSIGN:
        return assign(r, t, s);
    case STM_HAVOC:
        return havoc(r, t, s);
    case STM_ATOMIC:
        return atomic(r, t, s);
    case STM_PICK:
        return pick(r, t, s);
    case STM_ASSERT:
    case STM_ASSUME:
        return check(r, t, s);
    default:
        return ref_unknown(r, ast_stm_names[s->kind]);
    }
}

/* ---- threads: Fig. 4b ---- */

/* GOTO: a target whose leading assume holds. Loops that are left count from 0 again. */
static enum rule jump(struct ref *r, uint32_t t)
{
    struct ref_actor *x = &r->actors[t];
    const struct graph *g = graph_of(r, r->threads[t].frames->function);
    bool marked[LIMIT_LABELS];
    uint32_t count = x->block->target_count, one = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_expr *guard = ref_leading_assume(x->block->targets[i]);
        marked[i] = !guard || count == 1 || r->options.raw_goto || ref_may_choose(r, t, guard);
    }
    if (count > 1)
        one = ref_choose_marked(r, t, marked, count);
    const struct ast_block *to = x->block->targets[one];
    for (uint32_t l = 0; l < g->loop_count; l++)
        if (!to || !g->members[(size_t)l * g->count + place_of(g, to)])
            r->threads[t].frames->trips[l] = 0;
    x->block = to;
    x->inside = false;
    return RULE_INTK_GOTO;
}

/* BLOCK, END */
static enum rule enter(struct ref *r, uint32_t t)
{
    struct ref_actor *x = &r->actors[t];
    if (!x->block) {
        x->ended = true;
        return RULE_INTK_END;
    }
    const struct graph *g = graph_of(r, r->threads[t].frames->function);
    for (uint32_t l = 0; l < g->loop_count; l++)
        if (g->blocks[g->heads[l]] == x->block)
            r->threads[t].frames->trips[l]++;
    x->inside = true;
    x->next = x->block->body;
    return RULE_INTK_BLOCK;
}

static enum rule guarded(struct ref *r, uint32_t t, const struct ast_stm *s)
{
    struct ref_actor *x = &r->actors[t];
    bool acts = !s->guard || ref_value(r, t, s->guard) != 0;
    if (ref_failed(r))
        return RULE_INTK_DISABLED;
    if (acts && s->kind == STM_BARRIER) {
        x->waits = true;
        return RULE_INTK_BARRIER;
    }
    if (acts && s->kind == STM_CALL)
        return call(r, t, s);
    enum rule rule = acts                     ? statement(r, t, s)
                     : s->kind == STM_BARRIER ? RULE_INTK_BARRIER_SKIP
                                              : RULE_INTK_DISABLED;
    if (!ref_failed(r))
        x->next = s->next;
    return rule;
}

enum rule ref_blocks_step(struct ref *r, uint32_t t)
{
    struct ref_actor *x = &r->actors[t];
    if (!x->inside)
        return enter(r, t);
    if (x->next)
        return guarded(r, t, x->next);
    return x->block->returns ? leave(r, t) : jump(r, t);
}

void ref_blocks_start(struct ref *r)
{
    for (uint32_t t = 0; t < r->thread_count; t++) {
        ref_enter(r, t, r->kernel->main, NULL);
        r->actors[t].block = r->kernel->main->blocks;
    }
}

/* ---- barriers: section 4 ---- */

/* Two threads that wait: at the same statement, in equal frames. */
bool ref_blocks_together(const struct ref *r, uint32_t a, uint32_t b)
{
    const struct ref_frame *f = r->threads[a].frames, *g = r->threads[b].frames;
    if (r->actors[a].next != r->actors[b].next)
        return false;
    for (; f && g; f = f->below, g = g->below)
        if (f->function != g->function || f->call != g->call ||
            memcmp(f->trips, g->trips, ref_loop_count(r, f->function) * sizeof *f->trips) != 0)
            return false;
    return f == g;
}
