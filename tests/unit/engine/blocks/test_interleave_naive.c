/*
 * The interleaving of block programs against a second, naive stepper: Fig. 4 and 8 of lockstep-cfg on
 * the tree itself. Loops are found by their definition, every loop counts, and barrier variables are
 * never put back; no code, no offsets, no marks. Every step must fire the same rule, every thread must
 * be in the same block, and memory must be the same.
 */
#include "engine/blocks/interleave.h"
#include "engine/machine/choice.h"
#include "fuzz/gen/gen.h"
#include "tests/unit/shared/support.h"

enum { KERNELS = 600, STEPS = 2500, BLOCKS_MAX = 512 };

/* ---- graphs, by definition ---- */

struct graph {
    const struct ast_function *function;
    uint32_t count;
    const struct ast_block *blocks[BLOCKS_MAX];
    uint32_t loop_count;
    uint32_t heads[BLOCKS_MAX];
    bool (*members)[BLOCKS_MAX]; /* of each loop */
};

static uint32_t place_of(const struct graph *g, const struct ast_block *block)
{
    uint32_t i = 0;
    while (g->blocks[i] != block)
        i++;
    return i;
}

/* Marks what `from` reaches without passing `avoid`. */
static void reach(const struct graph *g, uint32_t from, uint32_t avoid, bool *seen)
{
    if (from == avoid || seen[from])
        return;
    seen[from] = true;
    for (uint32_t i = 0; i < g->blocks[from]->target_count; i++)
        if (g->blocks[from]->targets[i])
            reach(g, place_of(g, g->blocks[from]->targets[i]), avoid, seen);
}

static bool reaches(const struct graph *g, uint32_t from, uint32_t to, uint32_t avoid)
{
    bool seen[BLOCKS_MAX] = {false};
    reach(g, from, avoid, seen);
    return seen[to];
}

static bool dominates(const struct graph *g, uint32_t a, uint32_t b)
{
    return a == b || !reaches(g, 0, b, a);
}

/* CFG.loop (B-2). */
static void find_loop(struct graph *g, uint32_t head)
{
    bool found = false, *members = g->members[g->loop_count];
    for (uint32_t s = 0; s < g->count; s++)
        for (uint32_t i = 0; i < g->blocks[s]->target_count; i++) {
            if (g->blocks[s]->targets[i] != g->blocks[head] || !dominates(g, head, s))
                continue;
            found = members[head] = true;
            for (uint32_t b = 0; b < g->count; b++)
                members[b] |= b != head && reaches(g, b, s, head);
        }
    if (found)
        g->heads[g->loop_count++] = head;
}

static struct graph *graph_of(struct arena *arena, const struct ast_function *function)
{
    struct graph *g = ARENA_NEW(arena, struct graph);
    g->function = function;
    for (const struct ast_block *b = function->blocks; b; b = b->next)
        g->blocks[g->count++] = b;
    g->members = arena_alloc(arena, g->count + 1, sizeof *g->members);
    for (uint32_t h = 0; h < g->count; h++)
        find_loop(g, h);
    return g;
}

/* ---- state ---- */

struct frame {
    const struct graph *graph;
    int32_t **values;
    uint32_t *counters; /* a loop */
    const struct ast_stm *call;
    struct frame *below;
};

struct thread {
    struct frame *frame;
    const struct ast_block *block; /* NULL: End */
    const struct ast_stm *next;    /* NULL: the goto */
    bool inside;                   /* false: about to enter the block */
    bool waiting, ended;
    uint32_t draws;
};

struct naive {
    struct arena *arena;
    const struct program *program; /* where variables lie, and nothing else */
    struct graph **graphs;
    uint32_t graph_count;
    int32_t *memory;
    struct thread *threads;
    const char *error;
};

static const struct graph *naive_graph(const struct naive *n, const struct ast_function *f)
{
    uint32_t i = 0;
    while (n->graphs[i]->function != f)
        i++;
    return n->graphs[i];
}

static struct frame *frame_new(struct naive *n, const struct ast_function *f,
                               const struct ast_stm *call, struct frame *below)
{
    uint32_t count = 0, i = 0;
    for (const struct ast_var *v = f->locals; v; v = v->next)
        count++;
    struct frame *frame = ARENA_NEW(n->arena, struct frame);
    frame->graph = naive_graph(n, f);
    frame->call = call;
    frame->below = below;
    frame->counters = ARENA_ARRAY(n->arena, uint32_t, frame->graph->loop_count);
    frame->values = ARENA_ARRAY(n->arena, int32_t *, count);
    for (const struct ast_var *v = f->locals; v; v = v->next, i++) {
        frame->values[i] = ARENA_ARRAY(n->arena, int32_t, v->length);
        for (uint32_t k = 0; k < v->init_count; k++)
            frame->values[i][k] = v->init[k];
    }
    return frame;
}

static int32_t *cell(struct naive *n, uint32_t t, const struct ast_var *var, uint32_t element)
{
    const struct program *p = n->program;
    uint32_t i = 0;
    if (var->space == SPACE_LOCAL) {
        const struct frame *frame = n->threads[t].frame;
        for (const struct ast_var *v = frame->graph->function->locals; v != var; v = v->next)
            i++;
        return &frame->values[i][element];
    }
    while (p->vars[i].ast != var)
        i++;
    uint32_t base = var->space == SPACE_SHARED
                        ? p->shared_base + t / p->launch.threads * p->words[SPACE_SHARED]
                    : var->space == SPACE_PRIVATE ? p->private_base + t * p->words[SPACE_PRIVATE]
                                                  : 0;
    return &n->memory[base + p->vars[i].offset + element];
}

/* ---- expressions ---- */

static int32_t value_of(struct naive *n, uint32_t t, const struct ast_expr *e);

static int32_t *place(struct naive *n, uint32_t t, const struct ast_var *var,
                      const struct ast_expr *index)
{
    int32_t i = index ? value_of(n, t, index) : 0;
    if (!n->error && (i < 0 || (uint32_t)i >= var->length))
        n->error = "out_of_bounds";
    return n->error ? NULL : cell(n, t, var, (uint32_t)i);
}

static int32_t value_of(struct naive *n, uint32_t t, const struct ast_expr *e)
{
    const int32_t *from;
    int32_t a;
    if (n->error)
        return 0;
    switch (e->kind) {
    case EXPR_INT:
        return e->value;
    case EXPR_VAR:
    case EXPR_INDEX:
        from = place(n, t, e->var, e->kind == EXPR_INDEX ? e->a : NULL);
        return from ? *from : 0;
    case EXPR_BUILTIN:
        return program_builtin(n->program, t, e->builtin);
    case EXPR_UNARY:
        return ast_eval_unary(e->unary, value_of(n, t, e->a));
    case EXPR_BINARY:
        a = value_of(n, t, e->a);
        if (e->binary == BINARY_LOGICAL_AND)
            return a ? value_of(n, t, e->b) != 0 : 0;
        if (e->binary == BINARY_LOGICAL_OR)
            return a ? 1 : value_of(n, t, e->b) != 0;
        return ast_eval_binary(e->binary, a, value_of(n, t, e->b));
    case EXPR_COND:
        return value_of(n, t, value_of(n, t, e->a) ? e->b : e->c);
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    fail_msg("no expression of block form");
    return 0;
}

/* Whether a guard holds, or cannot be evaluated (then what it guards reports it). */
static bool holds(struct naive *n, uint32_t t, const struct ast_expr *guard)
{
    bool truth = value_of(n, t, guard) || n->error;
    n->error = NULL;
    return truth;
}

static uint32_t draw(struct naive *n, uint32_t t, uint32_t count)
{
    return choice_index(n->program->launch.seed, t, n->threads[t].draws++, count);
}

/* Number k of the possibilities that are marked; none marked: the first; one: no draw. */
static uint32_t draw_marked(struct naive *n, uint32_t t, const bool *marked, uint32_t count)
{
    uint32_t places[LIMIT_LABELS], found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (marked[i])
            places[found++] = i;
    return found == 0 ? 0 : places[found == 1 ? 0 : draw(n, t, found)];
}

/* ---- statements ---- */

static enum rule naive_atomic(struct naive *n, uint32_t t, const struct ast_stm *s)
{
    int32_t *at = place(n, t, s->place.var, s->place.index), b = 0;
    int32_t a = value_of(n, t, s->arguments);
    if (s->arguments->next)
        b = value_of(n, t, s->arguments->next);
    if (n->error)
        return RULE_INTK_ATOMIC;
    int32_t old = *at;
    const int32_t after[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = ast_eval_binary(BINARY_ADD, old, a),
        [ATOMIC_MIN] = a < old ? a : old,
        [ATOMIC_MAX] = a > old ? a : old,
        [ATOMIC_AND] = old & a,
        [ATOMIC_OR] = old | a,
        [ATOMIC_EXCH] = a,
        [ATOMIC_CAS] = old == a ? b : old,
    };
    *at = after[s->atomic];
    if (s->target.var)
        *cell(n, t, s->target.var, 0) = old;
    return RULE_INTK_ATOMIC;
}

static enum rule naive_assign(struct naive *n, uint32_t t, const struct ast_stm *s)
{
    static const enum ast_binary binary[ASSIGN_COUNT] = {
        [ASSIGN_ADD] = BINARY_ADD, [ASSIGN_SUB] = BINARY_SUB, [ASSIGN_MUL] = BINARY_MUL,
        [ASSIGN_XOR] = BINARY_XOR, [ASSIGN_OR] = BINARY_OR,   [ASSIGN_AND] = BINARY_AND};
    int32_t *at = place(n, t, s->target.var, s->target.index);
    int32_t v = value_of(n, t, s->value);
    if (!n->error)
        *at = s->op == ASSIGN_SET ? v : ast_eval_binary(binary[s->op], *at, v);
    return RULE_INTK_ASSIGN;
}

static enum rule naive_pick(struct naive *n, uint32_t t, const struct ast_stm *s)
{
    bool marked[LIMIT_LABELS];
    int32_t values[LIMIT_LABELS];
    uint32_t count = 0;
    for (const struct ast_expr *e = s->arguments; e; e = e->next->next, count++) {
        values[count] = e->value;
        marked[count] = holds(n, t, e->next);
    }
    *cell(n, t, s->target.var, 0) = values[draw_marked(n, t, marked, count)];
    return RULE_INTK_PICK;
}

static enum rule naive_call(struct naive *n, uint32_t t, const struct ast_stm *s)
{
    struct thread *x = &n->threads[t];
    uint32_t depth = 0;
    for (const struct frame *f = x->frame; f; f = f->below)
        depth++;
    if (depth == LIMIT_CALL_DEPTH) {
        n->error = "call_depth";
        return RULE_INTK_CALL;
    }
    struct frame *frame = frame_new(n, s->function, s, x->frame);
    const struct ast_expr *e = s->arguments;
    uint32_t i = 0;
    for (const struct ast_var *v = s->function->locals; v; v = v->next, i++) {
        if (!v->is_parameter || v->is_out)
            continue;
        frame->values[i][0] = value_of(n, t, e);
        e = e->next;
    }
    if (n->error)
        return RULE_INTK_CALL;
    x->frame = frame;
    x->block = s->function->blocks;
    x->inside = false;
    return RULE_INTK_CALL;
}

static bool in_block(const struct ast_block *block, const struct ast_stm *stm)
{
    const struct ast_stm *s = block->body;
    while (s && s != stm)
        s = s->next;
    return s != NULL;
}

static enum rule naive_return(struct naive *n, uint32_t t)
{
    struct thread *x = &n->threads[t];
    const struct frame *gone = x->frame;
    const struct ast_expr *e = gone->call->outs;
    uint32_t i = 0;
    x->frame = gone->below;
    for (const struct ast_var *v = gone->graph->function->locals; v; v = v->next, i++) {
        if (!v->is_out)
            continue;
        *cell(n, t, e->var, 0) = gone->values[i][0];
        e = e->next;
    }
    x->next = gone->call->next;
    x->block = x->frame->graph->function->blocks;
    while (!in_block(x->block, gone->call))
        x->block = x->block->next;
    return RULE_INTK_RETURN;
}

static enum rule naive_goto(struct naive *n, uint32_t t)
{
    struct thread *x = &n->threads[t];
    bool marked[LIMIT_LABELS];
    uint32_t count = x->block->target_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_block *target = x->block->targets[i];
        const struct ast_stm *first = target ? target->body : NULL;
        marked[i] = !first || first->kind != STM_ASSUME || holds(n, t, first->value);
    }
    const struct ast_block *to = x->block->targets[draw_marked(n, t, marked, count)];
    const struct graph *g = x->frame->graph;
    for (uint32_t l = 0; l < g->loop_count; l++)
        if (!to || !g->members[l][place_of(g, to)])
            x->frame->counters[l] = 0;
    x->block = to;
    x->inside = false;
    return RULE_INTK_GOTO;
}

/* A statement that control passes. */
static enum rule naive_statement(struct naive *n, uint32_t t, const struct ast_stm *s)
{
    int32_t v, *at;
    switch ((int)s->kind) { /* those of block form; the default is for all others */
    case STM_SKIP:
    case STM_MEMBAR:
        return RULE_INTK_SKIP;
    case STM_ASSIGN:
        return naive_assign(n, t, s);
    case STM_HAVOC:
        at = place(n, t, s->place.var, s->place.index);
        if (!n->error)
            *at = choice_value(n->program->launch.seed, t, n->threads[t].draws++);
        return RULE_INTK_HAVOC;
    case STM_ATOMIC:
        return naive_atomic(n, t, s);
    case STM_PICK:
        return naive_pick(n, t, s);
    case STM_ASSERT:
    case STM_ASSUME:
        v = value_of(n, t, s->value);
        if (!n->error && !v)
            n->error = s->kind == STM_ASSERT ? "assert_fails" : "infeasible";
        if (s->kind == STM_ASSERT)
            return v ? RULE_INTK_ASSERT_T : RULE_INTK_ASSERT_F;
        return v ? RULE_INTK_ASSUME_T : RULE_INTK_ASSUME_F;
    default:
        fail_msg("statement kind %d is not of block form", (int)s->kind);
        return RULE_NONE;
    }
}

/* ---- barriers ---- */

static bool same_frames(const struct frame *a, const struct frame *b)
{
    for (; a && b; a = a->below, b = b->below)
        if (a->call != b->call || a->graph != b->graph ||
            memcmp(a->counters, b->counters, a->graph->loop_count * sizeof *a->counters) != 0)
            return false;
    return a == b;
}

/* barrier_S or barrier_F, if no thread of the block can step. */
static void naive_settle(struct naive *n, uint32_t t)
{
    uint32_t size = n->program->launch.threads, first = t / size * size, waiting = 0;
    const struct thread *x = &n->threads[first];
    bool same = true;
    for (uint32_t i = first; i < first + size; i++) {
        if (!n->threads[i].waiting && !n->threads[i].ended)
            return;
        waiting += n->threads[i].waiting;
        same = same && n->threads[i].waiting && n->threads[i].next == x->next &&
               same_frames(n->threads[i].frame, x->frame);
    }
    if (!same && waiting > 0)
        n->error = "barrier_divergence";
    for (uint32_t i = first; same && i < first + size; i++) {
        n->threads[i].waiting = false;
        n->threads[i].next = n->threads[i].next->next;
    }
}

/* ---- Fig. 4b ---- */

static enum rule naive_enter(struct naive *n, uint32_t t)
{
    struct thread *x = &n->threads[t];
    if (!x->block) {
        x->ended = true;
        naive_settle(n, t);
        return RULE_INTK_END;
    }
    const struct graph *g = x->frame->graph;
    for (uint32_t l = 0; l < g->loop_count; l++)
        x->frame->counters[l] += g->blocks[g->heads[l]] == x->block;
    x->inside = true;
    x->next = x->block->body;
    return RULE_INTK_BLOCK;
}

static enum rule naive_step(struct naive *n, uint32_t t)
{
    struct thread *x = &n->threads[t];
    const struct ast_stm *s = x->next;
    if (!x->inside)
        return naive_enter(n, t);
    if (!s)
        return x->block->returns ? naive_return(n, t) : naive_goto(n, t);
    bool enabled = !s->guard || value_of(n, t, s->guard);
    if (n->error)
        return RULE_INTK_DISABLED;
    if (enabled && s->kind == STM_BARRIER) {
        x->waiting = true;
        naive_settle(n, t);
        return RULE_INTK_BARRIER;
    }
    if (enabled && s->kind == STM_CALL)
        return naive_call(n, t, s);
    x->next = s->next;
    if (enabled)
        return naive_statement(n, t, s);
    return s->kind == STM_BARRIER ? RULE_INTK_BARRIER_SKIP : RULE_INTK_DISABLED;
}

/* ---- the comparison ---- */

static struct naive *naive_new(struct arena *arena, const struct program *program)
{
    struct naive *n = ARENA_NEW(arena, struct naive);
    const struct ast_kernel *k = program->core;
    n->arena = arena;
    n->program = program;
    n->memory = ARENA_ARRAY(arena, int32_t, program->memory_words);
    program_init_memory(program, n->memory);
    n->threads = ARENA_ARRAY(arena, struct thread, program->total_threads);
    n->graphs = ARENA_ARRAY(arena, struct graph *, program->function_count);
    for (const struct ast_function *f = k->main; f; f = f == k->main ? k->functions : f->next)
        n->graphs[n->graph_count++] = graph_of(arena, f);
    for (uint32_t t = 0; t < program->total_threads; t++) {
        n->threads[t].frame = frame_new(n, k->main, NULL, NULL);
        n->threads[t].block = k->main->blocks;
    }
    return n;
}

static void assert_same_thread(const struct naive *n, const struct machine *m, uint32_t t)
{
    const struct thread *x = &n->threads[t];
    const struct block_thread *T = interleave_state(m, t);
    uint32_t block = interleave_block(m, t), frames = 0;
    for (const struct frame *f = x->frame; f; f = f->below)
        frames++;
    assert_int_equal(T->ended, x->ended);
    assert_int_equal(T->waiting, x->waiting);
    assert_int_equal(T->frames, frames);
    assert_int_equal(m->threads[t].choices, x->draws);
    if (x->block)
        assert_string_equal(n->program->blocks[block].name, x->block->name);
    else
        assert_int_equal(block, CODE_NONE);
}

/* One execution; how it ended. */
static enum status compare(struct arena *arena, const struct program *program, uint64_t seed,
                           uint64_t *hits)
{
    struct naive *n = naive_new(arena, program);
    struct machine_options options = {.track = seed % 2};
    struct machine *m = machine_new(arena, &semantics_interleave, program, &options);
    struct pcg rng = pcg_derive(seed, PCG_SCHEDULE, 11);
    for (uint64_t steps = 0; steps < STEPS && machine_status(m) == STATUS_RUNNING; steps++) {
        uint32_t t = m->head->live[pcg_below(&rng, m->head->live_count)];
        enum rule rule = machine_step(m, t, NULL), expected = naive_step(n, t);
        if (n->error) {
            assert_string_equal(n->error, status_names[machine_status(m)]);
            break;
        }
        assert_string_equal(rule_table[rule].name, rule_table[expected].name);
        uint32_t first = t / program->launch.threads * program->launch.threads;
        for (uint32_t i = first; i < first + program->launch.threads; i++)
            assert_same_thread(n, m, i);
    }
    if (!n->error)
        assert_true(machine_status(m) == STATUS_RUNNING || machine_status(m) == STATUS_TERMINATED);
    assert_memory_equal(n->memory, m->memory, program->frame_base * sizeof(int32_t));
    for (uint32_t r = 0; r < RULE_COUNT; r++)
        hits[r] += m->hits[r];
    return machine_status(m);
}

/* ---- what the generator avoids: guards, barriers and picks anywhere ---- */

static struct ast_expr *random_guard(struct arena *arena, struct pcg *rng)
{
    struct ast_expr *tid = ast_builtin_ref(arena, BUILTIN_TID);
    struct ast_expr *c = ast_int(arena, (int32_t)pcg_below(rng, 4));
    static const enum ast_binary ops[] = {BINARY_AND, BINARY_NE, BINARY_LT, BINARY_GE};
    return ast_binary(arena, ops[pcg_below(rng, 4)], tid, c);
}

static struct ast_var *a_private(struct ast_kernel *kernel)
{
    struct ast_var *var = kernel->vars;
    while (var && (var->space != SPACE_PRIVATE || var->is_array))
        var = var->next;
    return var;
}

static struct ast_stm *random_stm(struct arena *arena, struct ast_kernel *kernel, struct pcg *rng)
{
    struct ast_var *var = a_private(kernel);
    if (!var || pcg_below(rng, 3) > 0)
        return ast_stm(arena, STM_BARRIER, (struct location){1, 1});
    struct ast_stm *pick = ast_stm(arena, STM_PICK, (struct location){1, 1});
    struct ast_expr **end = &pick->arguments;
    pick->target.var = var;
    for (uint32_t i = 0, count = 1 + pcg_below(rng, 3); i < count; i++) {
        *end = ast_int(arena, (int32_t)i);
        (*end)->next = random_guard(arena, rng);
        end = &(*end)->next->next;
    }
    return pick;
}

static bool may_be_guarded(const struct ast_stm *stm)
{
    return stm->kind == STM_ASSIGN || stm->kind == STM_BARRIER || stm->kind == STM_HAVOC ||
           stm->kind == STM_ATOMIC || stm->kind == STM_PICK;
}

/* Also other guards of blocks: not all well-formed. Kernels whose number is odd keep their meaning. */
static void disturb(struct arena *arena, struct ast_kernel *kernel, uint64_t number)
{
    struct pcg rng = pcg_derive(number, PCG_SCHEDULE, 12);
    for (struct ast_function *f = kernel->main; f;
         f = f == kernel->main ? kernel->functions : f->next)
        for (struct ast_block *b = f->blocks; b; b = b->next)
            for (struct ast_stm *s = b->body; s; s = s->next) {
                if (pcg_below(&rng, 12) == 0 && s->kind != STM_CALL) {
                    struct ast_stm *more = random_stm(arena, kernel, &rng);
                    more->next = s->next;
                    s->next = more;
                }
                if (may_be_guarded(s) && pcg_below(&rng, 8) == 0)
                    s->guard = random_guard(arena, &rng);
                if (s->kind == STM_ASSUME && pcg_below(&rng, 40) == 0)
                    s->value = random_guard(arena, &rng);
            }
}

/* Barriers below several frames, in loops of callers and callees; recursion to a depth that is the
 * thread's own, or without end; choices. */
static const char *const procedures[] = {
    "launch(threads = 3, blocks = 2); shared int s[3]; private int i, n, c, r;"
    "void p(int a, out int b) blocks { private int k;"
    "  E: goto H; H: goto B, X; B: assume(k < a); s[tid] = k; barrier(); k++; goto H;"
    "  X: assume(k >= a); b = k + a; goto R; R: return; }"
    "kernel k() blocks { Start: havoc(c); c = c & 1; c = 1 if (bid == 0); goto H;"
    "  H: goto A, B, X; A: assume(n < 3); goto C; B: assume(n < 3 && c == 0); goto D;"
    "  C: p(n, r); goto J; D: p(n, r); goto J; J: n++; goto H;"
    "  X: assume(n >= 3); s[tid] = r; goto End; }",
    "launch(threads = 4); shared int s[4]; private int i, r;"
    "void f(int d, out int v) blocks { private int w; E: barrier() if (d == 1); goto M, B;"
    "  M: assume(d > 0); goto C; C: f(d - 1, w); goto U; U: v = w + d; goto R;"
    "  B: assume(d <= 0); v = 100; goto R; R: return; }"
    "kernel k() blocks { Start: i = tid & 1; havoc(r); r = r & 7; goto P, Q;"
    "  P: assume(r > 0); i = r; goto C; Q: assume(r <= 0); goto C;"
    "  C: f(i + 1, r); goto X; X: s[tid] = r; goto End; }",
    "launch(threads = 2); private int r; void g(int d, out int v) blocks {"
    "  E: goto C; C: g(d + 1, v); goto R; R: return; }"
    "kernel k() blocks { Start: goto A, B; A: g(0, r); goto End;"
    "  B: assume(1); r = r * 5; goto End; }",
};

static void compare_procedures(uint64_t *hits)
{
    uint32_t ends[STATUS_COUNT] = {0};
    for (uint64_t seed = 0; seed < 300; seed++) {
        const char *reason = NULL;
        test_arena.used = 0;
        struct ast_kernel *kernel = support_parse(procedures[seed % 3]);
        kernel->launch.seed = seed;
        struct program *program = program_compile(&test_arena, kernel, &reason);
        assert_non_null(program);
        ends[compare(&test_arena, program, seed, hits)]++;
    }
    assert_true(ends[STATUS_TERMINATED] > 10);
    assert_true(ends[STATUS_BARRIER_DIVERGENCE] > 10);
    assert_true(ends[STATUS_CALL_DEPTH] > 10);
}

static void the_engine_agrees_with_the_naive_stepper(void **state)
{
    (void)state;
    uint64_t hits[RULE_COUNT] = {0};
    uint32_t ends[STATUS_COUNT] = {0}, compiled = 0;
    struct gen_options options = {.fixed = false};
    options.features = (1u << FEATURE_COUNT) - 1;
    options.features &= ~(1u << FEATURE_VOTES | 1u << FEATURE_NAMED | 1u << FEATURE_SPIN);
    for (uint64_t number = 0; compiled < KERNELS; number++) {
        const char *reason = NULL;
        test_arena.used = 0;
        struct ast_kernel *kernel = gen_case(&test_arena, 0xb10c, number, &options);
        if (kernel->form != FORM_BLOCKS)
            continue;
        if (number % 2 == 0)
            disturb(&test_arena, kernel, number);
        struct program *program = program_compile(&test_arena, kernel, &reason);
        if (!program)
            print_error("%s\n", reason);
        assert_non_null(program);
        assert_null(machine_refuses(&test_arena, &semantics_interleave, program));
        compiled++;
        ends[compare(&test_arena, program, number, hits)]++;
    }
    compare_procedures(hits);
    for (uint32_t r = 0; r < RULE_COUNT; r++)
        if (strcmp(rule_table[r].semantics, "interleave") == 0 && hits[r] == 0)
            fail_msg("rule %s was not compared", rule_table[r].name);
    assert_true(ends[STATUS_TERMINATED] > KERNELS / 4);
    assert_true(ends[STATUS_BARRIER_DIVERGENCE] > KERNELS / 20);
    assert_true(ends[STATUS_INFEASIBLE] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_engine_agrees_with_the_naive_stepper),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
