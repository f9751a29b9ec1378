#include "engine/pairs/tutorial.h"

#include "engine/base/invariant.h"
#include "engine/machine/choice.h"
#include "engine/pairs/tutorial_internal.h"

const char *const tutorial_verdict_names[TUTORIAL_VERDICT_COUNT] = {
    [TUTORIAL_CLEAN] = "clean",           [TUTORIAL_RACE] = "race",
    [TUTORIAL_DIVERGENCE] = "divergence", [TUTORIAL_ASSERT] = "assert_fails",
    [TUTORIAL_BOUNDS] = "out_of_bounds",  [TUTORIAL_BUDGET] = "step_limit"};

/*
 * The translated program has one control flow for both threads: what it has yet to do is a stack of
 * lists, each under its predicate pair P, and of loops. In round-robin order one flow runs both
 * threads. In sequential order each thread has a flow of its own, the other being disabled all along,
 * and a flow waits at a barrier that its thread is enabled for.
 */
struct pair_entry {
    uint32_t stm;  /* first statement of a list; the while of a loop */
    bool loop;     /* the guard is next, for another turn */
    uint32_t P;    /* the predicate pair; a loop's Q */
    uint32_t turn; /* of a loop */
};

struct pair_flow {
    struct pair_entry *stack;
    uint32_t depth;
    uint32_t threads;    /* that it runs */
    uint32_t waiting_at; /* barrier statement, CODE_NONE: at none */
};

void pair_stop(struct pair_run *run, enum tutorial_verdict verdict, uint32_t stm, uint32_t i)
{
    run->stopped = true;
    run->result.verdict = verdict;
    run->result.first_stm = CODE_NONE;
    run->result.second_stm = stm;
    run->result.thread = run->threads[i].thread;
}

static void push(struct pair_flow *flow, uint32_t stm, uint32_t P)
{
    flow->stack[flow->depth++] = (struct pair_entry){.stm = stm, .P = P};
}

/* ---- rules ---- */

/*  TT.seq          S;T, predicate P
 *      translate(S, P); translate(T, P)
 */
static void tt_seq(struct pair_run *run, struct pair_flow *flow, uint32_t T, uint32_t P)
{
    pair_fire(run, RULE_TT_SEQ);
    push(flow, T, P);
}

/*  TT.assign       x = e, predicate P
 *      x$i := P$i ? e$i : x$i,   i = 1, 2
 */
static void tt_assign(struct pair_run *run, uint32_t P, const uint32_t x[2], const int32_t e[2])
{
    pair_fire(run, RULE_TT_ASSIGN);
    for (uint32_t i = 0; i < 2; i++)
        if (P >> i & 1)
            run->memory[x[i]] = e[i];
}

/*  TT.write        A[e] = x, predicate P
 *      LOG_WRITE_A(P$1, e$1); CHECK_WRITE_A(P$2, e$2)
 */
static void tt_write(struct pair_run *run, uint32_t P, const struct code_place *A,
                     const uint32_t e[2], const int32_t x[2], uint32_t stm)
{
    pair_fire(run, RULE_TT_WRITE);
    for (uint32_t i = 0; i < 2; i++) {
        const struct pair_access access = {A->var, e[i], stm};
        if ((P >> i & 1) && !pair_write(run, i, &access, x[i]))
            return;
    }
}

static void assign(struct pair_run *run, uint32_t number, uint32_t P)
{
    const struct code_stm *stm = &run->program->stms[number];
    uint32_t address[2] = {0, 0};
    int32_t value[2] = {0, 0};
    if (!pair_eval_place(run, &stm->place, P, number, address) ||
        !pair_eval(run, stm->value, P, number, value))
        return;
    if (stm->place.space == SPACE_PRIVATE || stm->place.space == SPACE_LOCAL)
        tt_assign(run, P, address, value);
    else
        tt_write(run, P, &stm->place, address, value, number);
}

/* The threads of P whose guard holds: P$i and e$i. e$i is evaluated for P only (TT.lazy). */
static bool guard(struct pair_run *run, uint32_t number, uint32_t P, uint32_t *Q)
{
    int32_t e[2] = {0, 0};
    if (!pair_eval(run, run->program->stms[number].value, P, number, e))
        return false;
    *Q = P & ((e[0] != 0 ? PAIR_S : 0u) | (e[1] != 0 ? PAIR_T : 0u));
    return true;
}

/*  TT.if           if (e) S else T, predicate P, fresh Q, R
 *      Q$i := P$i and e$i;  R$i := P$i and not e$i;  translate(S, Q); translate(T, R)
 */
static void tt_if(struct pair_run *run, struct pair_flow *flow, uint32_t number, uint32_t P)
{
    const struct code_stm *stm = &run->program->stms[number];
    uint32_t Q;
    pair_fire(run, RULE_TT_IF);
    if (!guard(run, number, P, &Q))
        return;
    push(flow, stm->second, P & ~Q);
    push(flow, stm->first, Q);
}

/*  TT.while        while (e) S, predicate P, fresh Q
 *      Q$i := P$i and e$i;  while (Q$1 or Q$2) { translate(S, Q); Q$i := Q$i and e$i }
 *
 *  from one evaluation of the guard to the next; P is Q when a turn has been taken.
 */
static void tt_while(struct pair_run *run, struct pair_flow *flow, uint32_t number, uint32_t P,
                     uint32_t turn)
{
    uint32_t Q;
    pair_fire(run, RULE_TT_WHILE);
    if (!guard(run, number, P, &Q) || Q == PAIR_NONE)
        return;
    flow->stack[flow->depth++] =
        (struct pair_entry){.stm = number, .loop = true, .P = Q, .turn = turn};
    push(flow, run->program->stms[number].first, Q);
}

static void diverge(struct pair_run *run, uint32_t first, uint32_t second)
{
    run->stopped = true;
    run->result.verdict = TUTORIAL_DIVERGENCE;
    run->result.first_stm = first;
    run->result.second_stm = second;
}

/*  TT.bar          barrier(), predicate P:   barrier(P$1, P$2) =
 *      assert P$1 = P$2;  if not P$1 return;  assume no access is logged   [the log is emptied: D-3]
 *      [mode bar: every shared variable := *]
 *
 *  A flow of one thread waits for the other instead.
 */
static void tt_bar(struct pair_run *run, struct pair_flow *flow, uint32_t number, uint32_t P)
{
    pair_fire(run, RULE_TT_BAR);
    if (P == PAIR_NONE)
        return;
    if (flow->threads != PAIR_BOTH)
        flow->waiting_at = number;
    else if (P == PAIR_BOTH)
        pair_pass_barrier(run);
    else
        diverge(run, P & PAIR_S ? number : CODE_NONE, P & PAIR_T ? number : CODE_NONE);
}

/*  TT.assert [EXT] assert(e), predicate P
 *      assert P$i ==> e$i,   i = 1, 2
 */
static void tt_assert(struct pair_run *run, uint32_t number, uint32_t P)
{
    uint32_t Q;
    pair_fire(run, RULE_TT_ASSERT);
    if (guard(run, number, P, &Q) && Q != P)
        pair_stop(run, TUTORIAL_ASSERT, number, P & ~Q & PAIR_S ? 0 : 1);
}

/*  TT.havoc [EXT]  havoc(x), havoc(A[e]), predicate P
 *      y$i := P$i ? * : y$i;  then x = y, A[e] = y   [the choice of the thread: choice.h]
 */
static void tt_havoc(struct pair_run *run, uint32_t number, uint32_t P)
{
    const struct code_stm *stm = &run->program->stms[number];
    uint32_t address[2] = {0, 0};
    int32_t y[2] = {0, 0};
    pair_fire(run, RULE_TT_HAVOC);
    if (!pair_eval_place(run, &stm->place, P, number, address))
        return;
    for (uint32_t i = 0; i < 2; i++) {
        struct pair_thread *thread = &run->threads[i];
        if (P >> i & 1)
            y[i] = choice_value(run->program->launch.seed, thread->thread, thread->choices++);
    }
    if (stm->place.space == SPACE_PRIVATE || stm->place.space == SPACE_LOCAL)
        tt_assign(run, P, address, y);
    else
        tt_write(run, P, &stm->place, address, y, number);
}

/* ---- the translated program, run ---- */

static void statement(struct pair_run *run, struct pair_flow *flow, uint32_t number, uint32_t P)
{
    const struct code_stm *stm = &run->program->stms[number];
    if (!stm->last)
        tt_seq(run, flow, number + 1, P);
    switch (stm->kind) {
    case CODE_SKIP:
        return;
    case CODE_ASSIGN:
        assign(run, number, P);
        return;
    case CODE_IF:
        tt_if(run, flow, number, P);
        return;
    case CODE_WHILE:
        tt_while(run, flow, number, P, 0);
        return;
    case CODE_BARRIER:
        tt_bar(run, flow, number, P);
        return;
    case CODE_ASSERT:
        tt_assert(run, number, P);
        return;
    case CODE_HAVOC:
        tt_havoc(run, number, P);
        return;
    case CODE_BREAK:
    case CODE_CALL:
    case CODE_RETURN:
    case CODE_EXIT:
    case CODE_ASSUME:
    case CODE_ATOMIC:
    case CODE_VOTE:
    case CODE_GOTO:
    case CODE_END_CALL:
    case CODE_PICK:
    case CODE_LOCKSYNC:
    case CODE_PTX:
        break;
    }
    invariant_fail("the translation applies", __FILE__, __LINE__);
}

/* Runs a flow to its end, or to a barrier that it waits at. */
static void run_flow(struct pair_run *run, struct pair_flow *flow)
{
    flow->waiting_at = CODE_NONE;
    while (!run->stopped && flow->depth > 0 && flow->waiting_at == CODE_NONE) {
        struct pair_entry entry = flow->stack[--flow->depth];
        if (run->result.steps++ == run->options->budget_steps)
            pair_stop(run, TUTORIAL_BUDGET, entry.stm, 0);
        else if (entry.loop)
            tt_while(run, flow, entry.stm, entry.P, entry.turn + 1);
        else
            statement(run, flow, entry.stm, entry.P);
    }
}

/* Whether the flows wait in the same turn of the same loops. They have the same control flow, so the
 * stacks say where they are. */
static bool same_instance(const struct pair_flow *s, const struct pair_flow *t)
{
    bool same = s->waiting_at == t->waiting_at && s->depth == t->depth;
    for (uint32_t i = 0; same && i < s->depth; i++)
        same = s->stack[i].stm == t->stack[i].stm && s->stack[i].turn == t->stack[i].turn;
    return same;
}

static struct pair_flow *flow_new(struct arena *arena, const struct program *program,
                                  uint32_t threads)
{
    struct pair_flow *flow = ARENA_NEW(arena, struct pair_flow);
    /* For each entry that a thread's stack may hold, here up to three: rest, else-path or loop. */
    flow->stack = ARENA_ARRAY(arena, struct pair_entry, 3 * (size_t)program->stack_depth + 3);
    flow->threads = threads;
    push(flow, program->functions[0].body, threads);
    return flow;
}

static void run_sequential(struct arena *arena, struct pair_run *run)
{
    struct pair_flow *s = flow_new(arena, run->program, PAIR_S);
    struct pair_flow *t = flow_new(arena, run->program, PAIR_T);
    for (;;) {
        run_flow(run, s);
        run_flow(run, t);
        if (run->stopped || (s->waiting_at == CODE_NONE && t->waiting_at == CODE_NONE))
            return;
        if (!same_instance(s, t)) {
            diverge(run, s->waiting_at, t->waiting_at);
            return;
        }
        pair_pass_barrier(run);
    }
}

static struct pair_thread thread_start(const struct program *program, uint32_t thread)
{
    uint32_t block = thread / program->launch.threads;
    struct pair_thread result = {.thread = thread};
    result.base[SPACE_SHARED] = program->shared_base + block * program->words[SPACE_SHARED];
    result.base[SPACE_PRIVATE] = program->private_base + thread * program->words[SPACE_PRIVATE];
    result.base[SPACE_LOCAL] = program->frame_base + thread * program->words[SPACE_LOCAL];
    for (uint32_t b = 0; b < BUILTIN_COUNT; b++)
        result.builtin[b] = program_builtin(program, thread, (enum ast_builtin)b);
    return result;
}

struct tutorial_result tutorial_run(struct arena *arena, const struct program *core, uint32_t s,
                                    uint32_t t, const struct tutorial_options *options,
                                    uint64_t *hits)
{
    INVARIANT(s != t && s / core->launch.threads == t / core->launch.threads); /* TT.pre */
    size_t mark = arena_mark(arena);
    struct pair_run run = {.program = core, .options = options, .hits = hits};
    if (!hits)
        run.hits = ARENA_ARRAY(arena, uint64_t, RULE_COUNT + 1);
    run.result.first_stm = run.result.second_stm = CODE_NONE;
    run.memory = options->memory;
    if (!run.memory)
        run.memory = ARENA_ARRAY(arena, int32_t, core->memory_words);
    program_init_memory(core, run.memory);
    run.threads[0] = thread_start(core, s);
    run.threads[1] = thread_start(core, t);
    pair_log_start(arena, &run);
    if (options->order == TUTORIAL_SEQUENTIAL)
        run_sequential(arena, &run);
    else
        run_flow(&run, flow_new(arena, core, PAIR_BOTH));
    arena_release(arena, mark);
    return run.result;
}

/* ---- when it applies ---- */

/* TT.lang, with assert and havoc. */
static bool translates(enum code_kind kind)
{
    const uint32_t kinds = 1u << CODE_SKIP | 1u << CODE_ASSIGN | 1u << CODE_IF | 1u << CODE_WHILE |
                           1u << CODE_BARRIER | 1u << CODE_ASSERT | 1u << CODE_HAVOC;
    return kinds >> kind & 1;
}

bool tutorial_applies(struct arena *arena, const struct program *core, const char **reason)
{
    if (core->form != FORM_STRUCTURED) {
        *reason = "not a structured kernel";
        return false;
    }
    if (core->launch.threads < 2) {
        *reason = "a block has no two threads";
        return false;
    }
    for (uint32_t i = 0; i < core->stm_count; i++) {
        const struct code_stm *stm = &core->stms[i];
        if (translates(stm->kind))
            continue;
        *reason = arena_printf(arena, "%s at line %u", ast_stm_names[stm->source->kind], stm->line);
        return false;
    }
    return true;
}
