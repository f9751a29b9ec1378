/*
 * lockstep.c - the lock-step program, run by one thread over vectors: conditions, and which rule
 * applies. lockstep_internal.h says how to read the rules.
 */
#include "engine/blocks/lockstep_internal.h"

static struct actor_state *state_of(const struct machine *machine, uint32_t block)
{
    return (struct actor_state *)machine->extra + block;
}

struct lockstep_state lockstep_state(const struct machine *machine, uint32_t block)
{
    const struct actor_state *L = state_of(machine, block);
    return (struct lockstep_state){.pc = L->pc, .frames = L->frames, .ended = L->ended};
}

uint32_t lockstep_threads(const struct machine *machine, uint32_t block, const uint32_t **threads)
{
    const struct lockstep_scratch *scratch = machine->scratch;
    uint32_t each = machine->program->launch.threads;
    *threads = scratch->threads + block * each;
    return machine->options.pair_count ? machine->options.pair_count : each;
}

const uint8_t *lockstep_enabled(const struct machine *machine)
{
    return ((const struct lockstep_scratch *)machine->scratch)->enabled;
}

uint32_t lockstep_last_write_order(const struct machine *machine, const uint32_t **threads)
{
    const struct lockstep_scratch *scratch = machine->scratch;
    *threads = scratch->order;
    return scratch->order_count;
}

/* ---- expressions ---- */

/* What nearly every guard is (predicate.h): a local variable compared with a constant. */
static bool is_local_test(const struct code_expr_op *op)
{
    return op[0].op == OP_LOCAL && op[1].op == OP_BINARY_INT + BINARY_EQ && op[2].op == OP_END;
}

STEP_INLINE uint32_t eval_values(struct machine *machine, const uint32_t *threads, uint32_t count,
                                 uint32_t expr, uint32_t stm, int32_t *values, const bool seen)
{
    for (uint32_t i = 0; i < count; i++)
        if (!eval_seen(machine, threads[i], expr, stm, &values[i], seen))
            return i;
    return count;
}

uint32_t lockstep_values(struct machine *machine, const uint32_t *threads, uint32_t count,
                         uint32_t expr, uint32_t stm, int32_t *values)
{
    const struct code_expr_op *op = &machine->program->ops[expr];
    const struct lockstep_scratch *scratch = machine->scratch;
    if (is_observed(machine) && !scratch->quiet && !is_local_test(op))
        return eval_values(machine, threads, count, expr, stm, values, true);
    if (!is_local_test(op))
        return eval_values(machine, threads, count, expr, stm, values, false);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t address = machine->threads[threads[i]].base[SPACE_LOCAL] + (uint32_t)op[0].a;
        values[i] = machine->memory[address] == op[1].a;
    }
    return count;
}

static bool reduce(struct machine *machine, uint32_t thread, const struct code_expr_op *op,
                   uint32_t stm, int32_t *result)
{
    struct lockstep_scratch *scratch = machine->scratch;
    bool any = op->space != 0, all_hold = true, one_holds = false;
    const uint32_t *threads;
    uint32_t count = lockstep_threads(machine, thread / machine->program->launch.threads, &threads);
    int32_t values[LIMIT_THREADS];
    uint32_t known = lockstep_values(machine, threads, count, (uint32_t)op->a, stm, values);
    const bool quiet = scratch->quiet;
    for (uint32_t i = 0; i < known; i++) {
        if (values[i] == 0 && !any && !quiet && scratch->breaks == CODE_NONE)
            scratch->breaks = threads[i];
        all_hold &= values[i] != 0;
        one_holds |= values[i] != 0;
    }
    if (known < count) {
        if (!quiet)
            scratch->fault = threads[known];
        return false;
    }
    scratch->nobody |= any && !quiet && !one_holds;
    *result = any ? one_holds : all_hold;
    return true;
}

void lockstep_component_fault(struct lockstep_step *x, uint32_t i)
{
    uint32_t inner = x->scratch->fault;
    lockstep_fault(x, STATUS_OUT_OF_BOUNDS, inner != CODE_NONE ? inner : x->threads[i]);
}

bool lockstep_component(struct lockstep_step *x, uint32_t i, uint32_t expr, int32_t *v)
{
    if (lockstep_values(x->m, x->threads + i, 1, expr, x->number, v) == 1)
        return true;
    lockstep_component_fault(x, i);
    return false;
}

/* Whether all threads give the expression one value: it is about shared variables and reductions. */
static bool is_uniform(const struct program *program, uint32_t expr)
{
    const struct code_expr_op *op = &program->ops[expr];
    for (; op->op != OP_END; op++)
        if (op->op == OP_PRIVATE || op->op == OP_LOCAL || op->op == OP_BUILTIN ||
            (op->op == OP_INDEX && op->space > SPACE_SHARED))
            return false;
    return true;
}

enum truth lockstep_condition(struct lockstep_step *x, uint32_t expr)
{
    uint32_t count = is_uniform(x->m->program, expr) ? 1 : x->count;
    bool holds = true;
    for (uint32_t i = 0; i < count; i++) {
        int32_t v;
        if (!lockstep_component(x, i, expr, &v))
            return TRUTH_FAULT;
        if (v == 0 && x->scratch->breaks == CODE_NONE)
            x->scratch->breaks = x->threads[i];
        holds &= v != 0;
    }
    return holds ? TRUTH_TRUE : TRUTH_FALSE;
}

/* The component's value, without an access; false: an index lies outside of its array. */
static bool eval_quiet(struct lockstep_step *x, uint32_t i, uint32_t expr, int32_t *v)
{
    x->scratch->quiet = true;
    bool known = eval_seen(x->m, x->threads[i], expr, x->number, v, false);
    x->scratch->quiet = false;
    return known;
}

bool lockstep_feasible(struct lockstep_step *x, uint32_t i, uint32_t guard)
{
    int32_t v;
    return !eval_quiet(x, i, guard, &v) || v != 0;
}

bool lockstep_holds(struct lockstep_step *x, uint32_t guard)
{
    uint32_t count = is_uniform(x->m->program, guard) ? 1 : x->count;
    for (uint32_t i = 0; i < count; i++)
        if (!lockstep_feasible(x, i, guard))
            return false;
    return true;
}

uint32_t lockstep_breaking_thread(const struct lockstep_step *x)
{
    uint32_t thread = x->scratch->breaks;
    return thread != CODE_NONE ? thread : x->threads[0];
}

/* act_t of all components. How many; CODE_NONE: the execution has ended. */
static uint32_t eval_guard(struct lockstep_step *x)
{
    int32_t values[LIMIT_THREADS];
    uint32_t acting = 0;
    if (x->s->guard == CODE_NONE) {
        memset(x->scratch->acts, 1, x->count);
        return x->count;
    }
    uint32_t known = lockstep_values(x->m, x->threads, x->count, x->s->guard, x->number, values);
    if (known < x->count) {
        lockstep_component_fault(x, known);
        return CODE_NONE;
    }
    for (uint32_t i = 0; i < x->count; i++) {
        x->scratch->acts[i] = values[i] != 0;
        acting += values[i] != 0;
    }
    return acting;
}

uint32_t lockstep_choose(struct lockstep_step *x, uint32_t thread, uint32_t n)
{
    struct thread_context *context = &x->m->threads[thread];
    if (x->m->options.literal)
        return x->choices ? x->choices->choose(x->choices, n) : 0;
    uint32_t one = choice_index(x->m->program->launch.seed, thread, context->choices, n);
    put(x->m, &context->choices, context->choices + 1);
    return one;
}

/* ---- who is enabled ---- */

/* The guard of a block's pick is v_active = B for the block's B (predicate.h); blocks without one -
 * the entry, B_back, B_exit - are everybody's. */
static uint32_t act_of_block(const struct program *program, struct lockstep_scratch *scratch,
                             uint32_t block)
{
    if (scratch->act_block == block)
        return scratch->act;
    scratch->act_block = block;
    scratch->act = CODE_NONE;
    const struct code_stm *stm = &program->stms[program->blocks[block].first];
    for (;; stm++) {
        if (stm->kind == CODE_PICK)
            scratch->act = stm->guard;
        if (stm->last)
            return scratch->act;
    }
}

static void find_enabled(struct lockstep_step *x)
{
    struct lockstep_scratch *scratch = x->scratch;
    uint32_t act = act_of_block(x->m->program, scratch, x->s->block);
    if (act == CODE_NONE)
        act = x->s->guard;
    for (uint32_t i = 0; i < x->count; i++) {
        int32_t v = 1;
        bool known = act == CODE_NONE || eval_quiet(x, i, act, &v);
        scratch->enabled[i] = known && v != 0;
    }
}

/* ---- rules: skip and conditions ---- */

/*  skip
 *      <sigma, skip; b>  ->  <sigma, b>
 */
static enum rule lock_skip(struct lockstep_step *x)
{
    lockstep_advance(x);
    return RULE_LOCK_SKIP;
}

/*  LOCK.assert_T       sigma(e)                LOCK.assert_F       not sigma(e)
 *      <sigma, assert e; b>  ->  <sigma, b>        <sigma, assert e; b>  ->  E
 */
static enum rule lock_assert_t(struct lockstep_step *x)
{
    lockstep_advance(x);
    return RULE_LOCK_ASSERT_T;
}

static enum rule lock_assert_f(struct lockstep_step *x)
{
    lockstep_fault(x, STATUS_ASSERT_FAILS, lockstep_breaking_thread(x));
    return RULE_LOCK_ASSERT_F;
}

/*  LOCK.assume_T       sigma(e)                LOCK.assume_F       not sigma(e)
 *      <sigma, assume e; b>  ->  <sigma, b>        <sigma, assume e; b>  ->  _|_
 */
static enum rule lock_assume_t(struct lockstep_step *x)
{
    lockstep_advance(x);
    return RULE_LOCK_ASSUME_T;
}

static enum rule lock_assume_f(struct lockstep_step *x)
{
    lockstep_fault(x, STATUS_INFEASIBLE, lockstep_breaking_thread(x));
    return RULE_LOCK_ASSUME_F;
}

/* Whether a sync that holds ends a barrier interval: where nobody took part - the any of its condition is false - this
 * is BARRIER_SKIP in P (B-13).
 * Not: with vacuous_sync it ends one there, too. */
static bool ends_interval(const struct lockstep_step *x)
{
    return !x->scratch->nobody || x->m->options.vacuous_sync;
}

/*  LOCK.sync_T       sigma(e)
 *      <sigma, sync e; b>  ->  <sigma, b>
 *
 *  A barrier interval ends where everybody took part: ends_interval.
 */
static enum rule lock_sync_t(struct lockstep_step *x)
{
    const struct barrier_havoc *havoc = x->m->options.barrier_havoc;
    bool everybody = !x->scratch->nobody, ends = ends_interval(x);
    lockstep_advance(x);
    if (everybody && havoc)
        havoc->havoc(havoc->context, x->m, x->block);
    if (is_observed(x->m)) {
        struct barrier_event event = {.block = x->block, .stm = x->number};
        event.all = ends;
        observe_barrier(x->m, &event);
    }
    return RULE_LOCK_SYNC_T;
}

/*  LOCK.sync_F       not sigma(e)
 *      <sigma, sync e; b>  ->  E
 */
static enum rule lock_sync_f(struct lockstep_step *x)
{
    lockstep_fault(x, STATUS_BARRIER_DIVERGENCE, lockstep_breaking_thread(x));
    return RULE_LOCK_SYNC_F;
}

/* ---- which rule applies ---- */

static enum rule step_condition(struct lockstep_step *x, enum rule if_fault)
{
    enum truth truth = lockstep_condition(x, x->s->value);
    if (truth == TRUTH_FAULT)
        return if_fault;
    if (if_fault == RULE_LOCK_SYNC_F)
        return truth == TRUTH_TRUE ? lock_sync_t(x) : lock_sync_f(x);
    if (if_fault == RULE_LOCK_ASSERT_F)
        return truth == TRUTH_TRUE ? lock_assert_t(x) : lock_assert_f(x);
    return truth == TRUTH_TRUE ? lock_assume_t(x) : lock_assume_f(x);
}

/* A statement that acts for the threads whose guard holds. */
static enum rule step_guarded(struct lockstep_step *x, enum rule rule)
{
    uint32_t acting = eval_guard(x);
    if (acting == CODE_NONE)
        return rule;
    if (rule == RULE_LOCK_VEC_HAVOC)
        return lock_vec_havoc(x);
    if (rule == RULE_LOCK_PICK)
        return lock_pick(x);
    if (rule == RULE_LOCK_ATOMIC)
        return lock_atomic(x);
    if (x->s->place.space > SPACE_SHARED)
        return lock_vec_assign(x);
    return acting > 0 ? lock_psi_t(x) : lock_psi_f(x);
}

static enum rule step_statement(struct lockstep_step *x)
{
    switch (x->s->kind) {
    case CODE_SKIP:
        return lock_skip(x);
    case CODE_ASSIGN:
        return step_guarded(x, RULE_LOCK_VEC_ASSIGN);
    case CODE_HAVOC:
        return step_guarded(x, RULE_LOCK_VEC_HAVOC);
    case CODE_PICK:
        return step_guarded(x, RULE_LOCK_PICK);
    case CODE_ATOMIC:
        return step_guarded(x, RULE_LOCK_ATOMIC);
    case CODE_ASSERT:
        return step_condition(x, RULE_LOCK_ASSERT_F);
    case CODE_ASSUME:
        return step_condition(x, RULE_LOCK_ASSUME_F);
    case CODE_LOCKSYNC:
        return step_condition(x, RULE_LOCK_SYNC_F);
    case CODE_GOTO:
        return lock_goto(x);
    case CODE_CALL:
        return lock_call(x);
    case CODE_END_CALL:
        return lock_return(x);
    case CODE_IF:
    case CODE_WHILE:
    case CODE_BREAK:
    case CODE_RETURN:
    case CODE_EXIT:
    case CODE_VOTE:
    case CODE_BARRIER:
    case CODE_PTX:
        break;
    }
    return RULE_NONE;
}

/* The first 64 components that are enabled. */
static lane_mask enabled_mask(const struct lockstep_step *x)
{
    lane_mask mask = 0;
    for (uint32_t i = 0; i < x->count && i < 64; i++)
        mask |= (lane_mask)x->scratch->enabled[i] << i;
    return mask;
}

static enum rule select_rule(struct lockstep_step *x, struct step_event *event)
{
    struct lockstep_scratch *scratch = x->scratch;
    scratch->order_count = 0;
    scratch->fault = scratch->breaks = CODE_NONE;
    scratch->nobody = false;
    if (x->L->pc == PC_END || (x->L->pc & PC_BLOCK)) {
        memset(scratch->enabled, 1, x->count);
        event->active = x->m->sees_steps ? enabled_mask(x) : 0;
        return x->L->pc == PC_END ? lock_end(x) : lock_block(x);
    }
    x->number = event->stm = x->L->pc;
    x->s = &x->m->program->stms[x->number];
    if (x->m->sees_steps) {
        find_enabled(x);
        event->active = enabled_mask(x);
    }
    return step_statement(x);
}

static enum rule step(struct machine *machine, uint32_t block, struct choices *choices)
{
    struct lockstep_step x = {.m = machine,
                              .L = state_of(machine, block),
                              .scratch = machine->scratch,
                              .number = CODE_NONE,
                              .block = block,
                              .choices = choices};
    struct step_event event = {.actor = block, .stm = CODE_NONE};
    x.count = lockstep_threads(machine, block, &x.threads);
    event.rule = select_rule(&x, &event);
    machine->hits[event.rule]++;
    machine->steps++;
    if (is_observed(machine))
        observe_step(machine, &event);
    return event.rule;
}

static uint32_t extra_words(const struct program *program)
{
    return program->launch.blocks * (uint32_t)sizeof(struct actor_state) / 4;
}

static uint32_t actor_count(const struct program *program)
{
    return program->launch.blocks;
}

/* Beside its variables nothing belongs to a thread. */
static void layout(const struct machine *machine, struct lane_layout *layout)
{
    (void)machine;
    (void)layout;
}

/* The vector of a block: its threads, of P_{s,t} the two. */
static void init_components(const struct machine *machine)
{
    struct lockstep_scratch *scratch = machine->scratch;
    const struct machine_options *options = &machine->options;
    uint32_t each = machine->program->launch.threads;
    for (uint32_t t = 0; t < machine->program->total_threads; t++)
        scratch->threads[t] = t;
    for (uint32_t i = 0; i < options->pair_count; i++)
        scratch->threads[options->pair[0] / each * each + i] = options->pair[i];
    scratch->act_block = CODE_NONE;
}

static void init(struct machine *machine)
{
    init_components(machine);
    for (uint32_t b = 0; b < machine->actor_count; b++) {
        struct actor_state *L = state_of(machine, b);
        L->pc = PC_BLOCK | machine->program->functions[0].entry;
        L->frames = 1;
    }
}

static uint32_t next_stm(const struct machine *machine, uint32_t actor)
{
    uint32_t pc = state_of(machine, actor)->pc;
    return pc == PC_END || (pc & PC_BLOCK) ? CODE_NONE : pc;
}

static void footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes)
{
    uint32_t stm = next_stm(machine, actor);
    *reads = stm == CODE_NONE ? 0 : machine->program->stms[stm].reads;
    *writes = stm == CODE_NONE ? 0 : machine->program->stms[stm].writes;
}

const struct semantics semantics_lockstep = {
    .name = "lockstep",
    .form = FORM_LOCKSTEP,
    .actors = ACTORS_BLOCKS,
    .kinds = 1 << CODE_SKIP | 1 << CODE_ASSIGN | 1 << CODE_HAVOC | 1 << CODE_PICK |
             1 << CODE_ATOMIC | 1 << CODE_ASSERT | 1 << CODE_ASSUME | 1 << CODE_LOCKSYNC |
             1 << CODE_GOTO | 1 << CODE_CALL | 1 << CODE_END_CALL,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .scratch_bytes = sizeof(struct lockstep_scratch),
    .init = init,
    .layout = layout,
    .step = {step, step, step, step},
    .reduce = reduce,
    .footprint = footprint,
    .next_stm = next_stm,
};
