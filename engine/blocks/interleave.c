/*
 * interleave.c - lockstep-cfg Fig. 4a-4d and 8: statements, threads, the kernel, barriers, procedures.
 *
 * In the rules: sigma is the shared store, sigma_t the thread's; b the statements that are left of
 * its block, goto last; beta the counters of its topmost frame. The kernel's rules (Fig. 4c, B-4) are
 * the machine: thread_B is machine_step, thread_T machine_retire, thread_EI machine_fault, termination
 * the last machine_retire; barrier_S and barrier_F are barrier.c.
 */
#include "engine/blocks/interleave.h"

#include "engine/machine/barrier.h"
#include "engine/machine/semantics.h"
#include "engine/machine/symmetry.h"

enum {
    THREAD_HEAD_WORDS = sizeof(struct block_thread) / 4,
    FRAME_HEAD_WORDS = sizeof(struct block_frame) / 4
};

/* What a rule works on. */
struct intk_step {
    struct machine *m;
    struct block_thread *T;
    uint32_t t;               /* the thread's number */
    uint32_t number;          /* its next statement's */
    const struct code_stm *s; /* the statement */
    struct choices *choices;
    bool truth;   /* of an assert's, assume's or barrier's condition, or a guard */
    bool stopped; /* the thread waits now, or has ended */
};

static uint32_t thread_stride(const struct program *program)
{
    return THREAD_HEAD_WORDS + program->stack_depth;
}

STEP_INLINE struct block_thread *state_of(const struct machine *machine, uint32_t thread)
{
    return (struct block_thread *)((uint32_t *)machine->extra +
                                   (size_t)thread * thread_stride(machine->program));
}

const struct block_thread *interleave_state(const struct machine *machine, uint32_t thread)
{
    return state_of(machine, thread);
}

uint32_t interleave_block(const struct machine *machine, uint32_t thread)
{
    uint32_t pc = state_of(machine, thread)->pc;
    if (pc == PC_END)
        return CODE_NONE;
    return pc & PC_BLOCK ? pc & ~PC_BLOCK : machine->program->stms[pc].block;
}

/* The topmost frame, of an activation of `function`. */
STEP_INLINE struct block_frame *top_frame(const struct intk_step *x, uint32_t function)
{
    uint32_t words = FRAME_HEAD_WORDS + x->m->program->functions[function].counters;
    return (struct block_frame *)(x->T->stack + x->T->words - words);
}

/* CFG.seq_B: s; b becomes b. */
STEP_INLINE void advance(struct intk_step *x, const unsigned mode)
{
    put(x->m, &x->T->pc, x->number + 1, mode);
}

STEP_INLINE enum rule out_of_bounds(struct intk_step *x, enum rule rule, const unsigned mode)
{
    machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->t, x->number, mode);
    return rule;
}

/* ---- choices ---- */

/* One of n >= 2: the next draw of the thread's own stream, or in literal mode the scheduler's. */
STEP_INLINE uint32_t choose(struct intk_step *x, uint32_t n, const unsigned mode)
{
    struct thread_context *context = &x->m->threads[x->t];
    if (x->m->options.literal)
        return x->choices ? x->choices->choose(x->choices, n) : 0;
    uint32_t made = context->choices;
    put(x->m, &context->choices, made + 1, mode);
    return choice_index(x->m->program->launch.seed, x->t, made, n);
}

/* Whether the guard holds, so that what it guards may be chosen. Choosing accesses nothing
 * (CFG.access); a guard whose index is outside is chosen, and faults where it stands. */
STEP_INLINE bool feasible(struct intk_step *x, uint32_t guard, const unsigned mode)
{
    int32_t value;
    return guard == CODE_NONE ||
           !eval(x->m, x->t, guard, x->number, &value, mode & ~(unsigned)MACHINE_OBSERVED) || value;
}

STEP_INLINE uint32_t target_guard(const struct program *program, uint32_t target)
{
    return target == BLOCK_END ? CODE_NONE : program->blocks[target].guard;
}

/* CFG.goto_guarded: one of the n targets whose leading assume holds; none holds: the first (its
 * assume then ends the run). With raw_goto any target. */
STEP_INLINE uint32_t pick_target(struct intk_step *x, const uint32_t *targets, uint32_t count,
                                 const unsigned mode)
{
    const struct program *program = x->m->program;
    if (count == 1)
        return 0;
    if (x->m->options.raw_goto)
        return choose(x, count, mode);
    uint32_t first = 0, n = 0;
    for (uint32_t i = count; i-- > 0;) {
        if (feasible(x, target_guard(program, targets[i]), mode)) {
            first = i;
            n++;
        }
    }
    uint32_t skip = n >= 2 ? choose(x, n, mode) : 0;
    for (uint32_t i = first; skip > 0;) {
        i++;
        if (feasible(x, target_guard(program, targets[i]), mode)) {
            first = i;
            skip--;
        }
    }
    return first;
}

/* The same for the values of a pick; its guards are no assumes that would come after a raw choice. */
STEP_INLINE int32_t pick_value(struct intk_step *x, const unsigned mode)
{
    const struct code_pick *picks = &x->m->program->picks[x->s->first];
    uint32_t count = x->s->second, n = 0, at = 0;
    for (uint32_t i = count; i-- > 0;) {
        if (feasible(x, picks[i].guard, mode)) {
            at = i;
            n++;
        }
    }
    uint32_t skip = n >= 2 ? choose(x, n, mode) : 0;
    while (skip > 0)
        if (feasible(x, picks[++at].guard, mode))
            skip--;
    return picks[at].value;
}

/* ---- statements: Fig. 4a ---- */

/*  ASSIGN (CFG.assign: one atomic step that reads and writes)
 *      <sigma, sigma_t, v := e>  ==>  (sigma, sigma_t)[v |-> (sigma, sigma_t)(e)]
 */
STEP_INLINE enum rule intk_assign(struct intk_step *x, const unsigned mode)
{
    uint32_t address;
    int32_t value;
    if (!eval_place(x->m, x->t, x->s, x->number, &address, mode) ||
        !eval(x->m, x->t, x->s->value, x->number, &value, mode))
        return out_of_bounds(x, RULE_INTK_ASSIGN, mode);
    put_memory(x->m, address, value, mode);
    if ((mode & MACHINE_OBSERVED) && x->s->place.space <= SPACE_SHARED)
        observe_write(x->m, x->t, address, value, x->number);
    advance(x, mode);
    return RULE_INTK_ASSIGN;
}

/*  HAVOC         val in D
 *      <sigma, sigma_t, havoc v>  ==>  (sigma, sigma_t)[v |-> val]
 */
STEP_INLINE enum rule intk_havoc(struct intk_step *x, const unsigned mode)
{
    uint32_t address;
    if (!eval_place(x->m, x->t, x->s, x->number, &address, mode))
        return out_of_bounds(x, RULE_INTK_HAVOC, mode);
    int32_t value = next_havoc(x->m, x->t, x->choices, mode);
    put_memory(x->m, address, value, mode);
    if ((mode & MACHINE_OBSERVED) && x->s->place.space <= SPACE_SHARED)
        observe_write(x->m, x->t, address, value, x->number);
    advance(x, mode);
    return RULE_INTK_HAVOC;
}

/*  ASSERT_T      (sigma, sigma_t)(e)                 ASSERT_F      not (sigma, sigma_t)(e)
 *      <sigma, sigma_t, assert e>  ==>  (sigma, sigma_t)         <sigma, sigma_t, assert e>  ==>  E
 */
STEP_INLINE enum rule intk_assert_t(struct intk_step *x, const unsigned mode)
{
    advance(x, mode);
    return RULE_INTK_ASSERT_T;
}

STEP_INLINE enum rule intk_assert_f(struct intk_step *x, const unsigned mode)
{
    machine_fault(x->m, STATUS_ASSERT_FAILS, x->t, x->number, mode);
    return RULE_INTK_ASSERT_F;
}

/*  ASSUME_T      (sigma, sigma_t)(e)                 ASSUME_F      not (sigma, sigma_t)(e)
 *      <sigma, sigma_t, assume e>  ==>  (sigma, sigma_t)         <sigma, sigma_t, assume e>  ==>  bottom
 */
STEP_INLINE enum rule intk_assume_t(struct intk_step *x, const unsigned mode)
{
    advance(x, mode);
    return RULE_INTK_ASSUME_T;
}

STEP_INLINE enum rule intk_assume_f(struct intk_step *x, const unsigned mode)
{
    machine_fault(x->m, STATUS_INFEASIBLE, x->t, x->number, mode);
    return RULE_INTK_ASSUME_F;
}

/*  SKIP
 *      <sigma, sigma_t, skip>  ==>  (sigma, sigma_t)
 */
STEP_INLINE enum rule intk_skip(struct intk_step *x, const unsigned mode)
{
    advance(x, mode);
    return RULE_INTK_SKIP;
}

/*  DISABLED [EXT: guarded statements]       not (sigma, sigma_t)(g)
 *      <sigma, sigma_t, s if (g)>  ==>  (sigma, sigma_t)          (what Table 1 makes of act = false)
 */
STEP_INLINE enum rule intk_disabled(struct intk_step *x, const unsigned mode)
{
    advance(x, mode);
    return RULE_INTK_DISABLED;
}

/*  ATOMIC [EXT]      one indivisible step
 *      <sigma, sigma_t, x := op(v, e)>  ==>  (sigma, sigma_t)[x |-> sigma(v)][v |-> op(sigma(v), e)]
 */
STEP_INLINE enum rule intk_atomic(struct intk_step *x, const unsigned mode)
{
    struct atomic_operands operands;
    if (!eval_atomic_operands(x->m, x->t, x->s, x->number, &operands, mode))
        return out_of_bounds(x, RULE_INTK_ATOMIC, mode);
    apply_atomic(x->m, x->t, x->s, x->number, &operands, mode);
    advance(x, mode);
    return RULE_INTK_ATOMIC;
}

/*  PICK (PRED.setnext, PRED.early)       e_i holds, or none of e_1 .. e_n does
 *      <sigma, sigma_t, v :in { k_1 | e_1, .., k_n | e_n }>  ==>  (sigma, sigma_t)[v |-> k_i]
 */
STEP_INLINE enum rule intk_pick(struct intk_step *x, const unsigned mode)
{
    int32_t value = pick_value(x, mode);
    put_memory(x->m, x->m->threads[x->t].base[x->s->place.space] + x->s->place.offset, value, mode);
    advance(x, mode);
    return RULE_INTK_PICK;
}

/* ---- threads: Fig. 4b ---- */

/* v_L of every loop that the thread leaves is 0 again (CFG.bv.loop). */
STEP_INLINE void leave_loops(struct intk_step *x, uint32_t target, const unsigned mode)
{
    const struct program *program = x->m->program;
    uint64_t left = program->blocks[x->s->block].loops;
    if (target != BLOCK_END)
        left &= ~program->blocks[target].loops;
    if (left == 0)
        return;
    struct block_frame *frame = top_frame(x, x->s->function);
    for (uint32_t i = 0; left; left >>= 1, i++)
        if (left & 1)
            put(x->m, &frame->counters[i], 0, mode);
}

/*  GOTO          1 <= i <= n
 *      <sigma, sigma_t, goto B_1, .., B_n>  ==>  <sigma, sigma_t, B_i>
 */
STEP_INLINE enum rule intk_goto(struct intk_step *x, uint32_t i, const unsigned mode)
{
    const struct program *program = x->m->program;
    uint32_t target = program->targets[program->blocks[x->s->block].target_first + i];
    leave_loops(x, target, mode);
    put(x->m, &x->T->pc, target == BLOCK_END ? PC_END : PC_BLOCK | target, mode);
    return RULE_INTK_GOTO;
}

/*  BLOCK         ss = statements of B                (v_L + 1 where B is the head of L: CFG.bv.loop)
 *      <sigma, sigma_t, B>  ==>  <sigma, sigma_t, ss>
 */
STEP_INLINE enum rule intk_block(struct intk_step *x, const unsigned mode)
{
    const struct code_block *block = &x->m->program->blocks[x->T->pc & ~PC_BLOCK];
    for (uint64_t heads = block->heads, i = 0; heads; heads >>= 1, i++) {
        uint32_t *v_L = &top_frame(x, block->function)->counters[i];
        if (heads & 1)
            put(x->m, v_L, *v_L + 1, mode);
    }
    put(x->m, &x->T->pc, block->first, mode);
    return RULE_INTK_BLOCK;
}

/*  END
 *      <sigma, sigma_t, End>  ==>  check mark
 */
STEP_INLINE enum rule intk_end(struct intk_step *x, const unsigned mode)
{
    put(x->m, &x->T->ended, 1, mode);
    x->stopped = true;
    return RULE_INTK_END;
}

/* ---- barriers: section 4 ---- */

/*  BARRIER (CFG.bv.bar)      (sigma, sigma_t)(e)
 *      <sigma, sigma_t, barrier e; b>:  v_barrier := its number; only barrier_S moves the thread on
 */
STEP_INLINE enum rule intk_barrier(struct intk_step *x, const unsigned mode)
{
    put(x->m, &x->T->waiting, 1, mode);
    x->stopped = true;
    return RULE_INTK_BARRIER;
}

/*  BARRIER_SKIP      not (sigma, sigma_t)(e)
 *      <sigma, sigma_t, barrier e; b>  ==>  <sigma, sigma_t, b>
 */
STEP_INLINE enum rule intk_barrier_skip(struct intk_step *x, const unsigned mode)
{
    advance(x, mode);
    return RULE_INTK_BARRIER_SKIP;
}

/* ---- procedures: Fig. 8 ---- */

STEP_INLINE void push_frame(struct intk_step *x, const unsigned mode)
{
    struct block_thread *T = x->T;
    const struct code_function *callee = &x->m->program->functions[x->s->first];
    uint32_t *words = T->stack + T->words;
    put(x->m, &words[0], x->number, mode);
    put(x->m, &words[1], x->s->first, mode);
    for (uint32_t i = 0; i < callee->counters; i++)
        put(x->m, &words[FRAME_HEAD_WORDS + i], 0, mode);
    put(x->m, &T->words, T->words + FRAME_HEAD_WORDS + callee->counters, mode);
    put(x->m, &T->frames, T->frames + 1, mode);
}

/*  CALL          w = values of e in (sigma, sigma_t); a fresh store with v_in |-> w, other locals initial
 *      <sigma, F :: <sigma_t, x := call p(e); b>>  ==>  <sigma, F :: <sigma_t, x, b> :: <tau_t, B_p>>
 */
STEP_INLINE enum rule intk_call(struct intk_step *x, const unsigned mode)
{
    const struct program *program = x->m->program;
    const struct code_function *callee = &program->functions[x->s->first];
    const struct code_argument *ins = &program->arguments[x->s->second];
    int32_t values[LIMIT_PARAMETERS];
    if (x->T->frames == LIMIT_CALL_DEPTH) {
        machine_fault(x->m, STATUS_CALL_DEPTH, x->t, x->number, mode);
        return RULE_INTK_CALL;
    }
    for (uint32_t i = 0; i < callee->in_count; i++)
        if (!eval(x->m, x->t, ins[i].value, x->number, &values[i], mode))
            return out_of_bounds(x, RULE_INTK_CALL, mode);
    frame_push(x->m, x->t, x->s->function, x->s->first, mode);
    for (uint32_t i = 0; i < callee->in_count; i++)
        put_memory(x->m, x->m->threads[x->t].base[SPACE_LOCAL] + ins[i].offset, values[i], mode);
    push_frame(x, mode);
    put(x->m, &x->T->pc, PC_BLOCK | callee->entry, mode);
    return RULE_INTK_CALL;
}

/*  RETURN        w = values of v_out in tau_t
 *      <sigma, F :: <sigma_t, x, b> :: <tau_t, return>>  ==>  <sigma, F :: <sigma_t[x |-> w], b>>
 */
STEP_INLINE enum rule intk_return(struct intk_step *x, const unsigned mode)
{
    const struct program *program = x->m->program;
    const struct code_function *callee = &program->functions[x->s->function];
    struct block_frame *frame = top_frame(x, x->s->function);
    uint32_t call = frame->call, words = FRAME_HEAD_WORDS + callee->counters;
    const uint32_t *bases = x->m->threads[x->t].base;
    const struct code_argument *outs =
        &program->arguments[program->stms[call].second + callee->in_count];
    int32_t values[LIMIT_PARAMETERS];
    for (uint32_t i = 0; i < callee->out_count; i++)
        values[i] = x->m->memory[bases[SPACE_LOCAL] + outs[i].offset];
    frame_pop(x->m, x->t, program->stms[call].function, x->s->function, mode);
    for (uint32_t i = 0; i < callee->out_count; i++)
        put_memory(x->m, bases[outs[i].target.space] + outs[i].target.offset, values[i], mode);
    if (mode & MACHINE_TRACKED)
        for (uint32_t i = 1; i <= words; i++)
            put(x->m, &x->T->stack[x->T->words - i], 0, mode);
    put(x->m, &x->T->words, x->T->words - words, mode);
    put(x->m, &x->T->frames, x->T->frames - 1, mode);
    put(x->m, &x->T->pc, call + 1, mode);
    return RULE_INTK_RETURN;
}

/* ---- which rule applies ---- */

/* The condition of an assert or assume; false: an index is outside. */
STEP_INLINE bool condition(struct intk_step *x, const unsigned mode)
{
    int32_t value;
    if (!eval(x->m, x->t, x->s->value, x->number, &value, mode))
        return false;
    x->truth = value != 0;
    return true;
}

STEP_INLINE enum rule select_statement(struct intk_step *x, const unsigned mode)
{
    const struct program *program = x->m->program;
    const struct code_block *block;
    switch (x->s->kind) {
    case CODE_SKIP:
        return intk_skip(x, mode);
    case CODE_ASSIGN:
        return intk_assign(x, mode);
    case CODE_HAVOC:
        return intk_havoc(x, mode);
    case CODE_ATOMIC:
        return intk_atomic(x, mode);
    case CODE_PICK:
        return intk_pick(x, mode);
    case CODE_ASSERT:
        if (!condition(x, mode))
            return out_of_bounds(x, RULE_INTK_ASSERT_F, mode);
        return x->truth ? intk_assert_t(x, mode) : intk_assert_f(x, mode);
    case CODE_ASSUME:
        if (!condition(x, mode))
            return out_of_bounds(x, RULE_INTK_ASSUME_F, mode);
        return x->truth ? intk_assume_t(x, mode) : intk_assume_f(x, mode);
    case CODE_BARRIER:
        return intk_barrier(x, mode);
    case CODE_GOTO:
        block = &program->blocks[x->s->block];
        return intk_goto(
            x, pick_target(x, &program->targets[block->target_first], block->target_count, mode),
            mode);
    case CODE_CALL:
        return intk_call(x, mode);
    case CODE_END_CALL:
        return intk_return(x, mode);
    case CODE_IF:
    case CODE_WHILE:
    case CODE_BREAK:
    case CODE_RETURN:
    case CODE_EXIT:
    case CODE_VOTE:
    case CODE_LOCKSYNC:
    case CODE_PTX:
        break;
    }
    return RULE_NONE;
}

/* A guard comes first. */
STEP_INLINE enum rule select_guarded(struct intk_step *x, const unsigned mode)
{
    int32_t guard;
    if (x->s->guard == CODE_NONE)
        return select_statement(x, mode);
    if (!eval(x->m, x->t, x->s->guard, x->number, &guard, mode))
        return out_of_bounds(x, RULE_INTK_DISABLED, mode);
    x->truth = guard != 0;
    if (guard)
        return select_statement(x, mode);
    return x->s->kind == CODE_BARRIER ? intk_barrier_skip(x, mode) : intk_disabled(x, mode);
}

STEP_INLINE enum rule select_rule(struct intk_step *x, const unsigned mode)
{
    uint32_t pc = x->T->pc;
    if (pc & PC_BLOCK)
        return pc == PC_END ? intk_end(x, mode) : intk_block(x, mode);
    x->number = pc;
    x->s = &x->m->program->stms[pc];
    return select_guarded(x, mode);
}

/* What follows every rule: the thread leaves the live ones if it has stopped, the step is seen, and
 * the block goes past its barrier if it was the last. */
STEP_INLINE void finish(struct intk_step *x, enum rule rule, const unsigned mode)
{
    struct machine *machine = x->m;
    machine->hits[rule]++;
    machine->steps++;
    if (x->stopped && x->T->ended)
        machine_retire(machine, x->t, mode & MACHINE_TRACKED);
    else if (x->stopped)
        barrier_wait(machine, x->t, mode);
    if (mode & MACHINE_OBSERVED) {
        struct step_event event = {
            .rule = rule, .actor = x->t, .stm = x->number, .truth = x->truth};
        observe_step(machine, &event);
    }
    if (x->stopped)
        barrier_settle(machine, x->t, mode);
}

STEP_INLINE enum rule step_mode(struct machine *machine, uint32_t thread, struct choices *choices,
                                const unsigned mode)
{
    struct intk_step x = {.m = machine,
                          .T = state_of(machine, thread),
                          .t = thread,
                          .number = CODE_NONE,
                          .choices = choices};
    enum rule rule = select_rule(&x, mode);
    finish(&x, rule, mode);
    return rule;
}

STEP_VARIANTS(step_mode)

enum rule interleave_goto(struct machine *machine, uint32_t thread, uint32_t target)
{
    const unsigned mode = (machine->options.observers ? MACHINE_OBSERVED : 0u) |
                          (machine->options.track ? MACHINE_TRACKED : 0u);
    struct block_thread *T = state_of(machine, thread);
    struct intk_step x = {.m = machine, .T = T, .t = thread, .number = T->pc};
    INVARIANT(!(T->pc & PC_BLOCK));
    x.s = &machine->program->stms[T->pc];
    INVARIANT(x.s->kind == CODE_GOTO);
    INVARIANT(target < machine->program->blocks[x.s->block].target_count);
    enum rule rule = intk_goto(&x, target, mode);
    finish(&x, rule, mode);
    return rule;
}

/* ---- the semantics ---- */

static void layout(const struct machine *machine, struct lane_layout *layout)
{
    const struct program *program = machine->program;
    uint32_t stride = thread_stride(program);
    layout_words(layout, &(struct lane_words){.threads = program->total_threads,
                                              .word = layout_place(machine, machine->extra),
                                              .stride = stride,
                                              .words = stride});
}

static uint32_t extra_words(const struct program *program)
{
    return program->total_threads * thread_stride(program);
}

static uint32_t actor_count(const struct program *program)
{
    return program->total_threads;
}

/* INTK.init: all threads at Start. */
static void init(struct machine *machine)
{
    const struct code_function *kernel = &machine->program->functions[0];
    for (uint32_t t = 0; t < machine->program->total_threads; t++) {
        struct block_thread *T = state_of(machine, t);
        T->pc = PC_BLOCK | kernel->entry;
        T->frames = 1;
        T->words = FRAME_HEAD_WORDS + kernel->counters;
        T->stack[0] = CODE_NONE;
    }
}

static uint32_t next_stm(const struct machine *machine, uint32_t actor)
{
    uint32_t pc = state_of(machine, actor)->pc;
    return pc & PC_BLOCK ? CODE_NONE : pc;
}

/* In the block before End that is not in the text, waiting at its barrier or not, or at End. */
static bool past_text(const struct machine *machine, uint32_t actor)
{
    uint32_t block = interleave_block(machine, actor);
    return block == CODE_NONE || machine->program->blocks[block].added;
}

static uint32_t control(const struct machine *machine, uint32_t actor)
{
    uint32_t pc = state_of(machine, actor)->pc;
    if (pc == PC_END)
        return CODE_NONE;
    return pc & PC_BLOCK ? machine->program->blocks[pc & ~PC_BLOCK].first : pc;
}

/* The pc, and the call statements of all frames. */
static bool same_pc(const struct machine *machine, uint32_t actor, uint32_t other, bool literal)
{
    const struct block_thread *a = state_of(machine, actor), *b = state_of(machine, other);
    (void)literal; /* an assignment is one step */
    if (a->pc != b->pc || a->words != b->words || a->frames != b->frames)
        return false;
    for (uint32_t at = 0; at < a->words;) {
        const struct block_frame *frame = (const struct block_frame *)(a->stack + at);
        if (frame->call != ((const struct block_frame *)(b->stack + at))->call)
            return false;
        at += FRAME_HEAD_WORDS + machine->program->functions[frame->function].counters;
    }
    return true;
}

static uint32_t level(const struct machine *machine, uint32_t actor)
{
    return state_of(machine, actor)->frames;
}

static void footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes)
{
    uint32_t stm = next_stm(machine, actor);
    *reads = stm == CODE_NONE ? 0 : machine->program->stms[stm].reads;
    *writes = stm == CODE_NONE ? 0 : machine->program->stms[stm].writes;
}

/* CFG.bv.*: the barrier, and call and counters of every frame. */
static bool same_barrier(const struct machine *machine, uint32_t actor, uint32_t other)
{
    const struct block_thread *a = state_of(machine, actor), *b = state_of(machine, other);
    return a->pc == b->pc && a->words == b->words &&
           memcmp(a->stack, b->stack, a->words * sizeof *a->stack) == 0;
}

/*  Counters start from 0 again: equal in all threads now, and only compared. That loses nothing for
 *  natural loops: who leaves one of them and comes back has passed the head of one around it, whose
 *  counter tells them apart. App. A's loops do not nest, so they go on counting.
 */
static void pass_barrier(struct machine *machine, uint32_t actor, unsigned mode)
{
    const struct program *program = machine->program;
    struct block_thread *T = state_of(machine, actor);
    put(machine, &T->waiting, 0, mode);
    put(machine, &T->pc, T->pc + 1, mode);
    for (uint32_t at = 0; at < T->words && !program->appendix_loops;) {
        struct block_frame *frame = (struct block_frame *)(T->stack + at);
        uint32_t counters = program->functions[frame->function].counters;
        for (uint32_t i = 0; i < counters; i++)
            put(machine, &frame->counters[i], 0, mode);
        at += FRAME_HEAD_WORDS + counters;
    }
}

const struct semantics semantics_interleave = {
    .name = "interleave",
    .form = FORM_BLOCKS,
    .kinds = 1u << CODE_SKIP | 1u << CODE_ASSIGN | 1u << CODE_HAVOC | 1u << CODE_ATOMIC |
             1u << CODE_PICK | 1u << CODE_ASSERT | 1u << CODE_ASSUME | 1u << CODE_BARRIER |
             1u << CODE_GOTO | 1u << CODE_CALL | 1u << CODE_END_CALL,
    .extra_words = extra_words,
    .actor_count = actor_count,
    .init = init,
    .layout = layout,
    .step = {step_plain, step_observed, step_tracked, step_both},
    .footprint = footprint,
    .next_stm = next_stm,
    .past_text = past_text,
    .control = control,
    .same_pc = same_pc,
    .level = level,
    .same_barrier = same_barrier,
    .pass_barrier = pass_barrier,
    .barrier_rule = RULE_INTK_BARRIER_S,
    .divergence_rule = RULE_INTK_BARRIER_F,
};
