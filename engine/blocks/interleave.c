/*
 * interleave.c - lockstep-cfg Fig. 4a-4d and 8: statements, threads, the kernel, barriers, procedures.
 *
 * In the rules: sigma is the shared store, sigma_t the thread's; b the statements that are left of
 * its block, goto last; beta the counters of its topmost frame. The kernel's rules (Fig. 4c, B-4) are
 * the machine: thread_B is machine_step, thread_T machine_retire, thread_EI machine_fault, termination
 * the last machine_retire; barrier_S and barrier_F are barrier.c.
 */
#include "engine/blocks/interleave_internal.h"
#include "engine/machine/barrier.h"

STEP_INLINE enum rule out_of_bounds(struct intk_step *x, enum rule rule)
{
    machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->t, x->number);
    return rule;
}

/* ---- choices ---- */

/* One of n >= 2: the next draw of the thread's own stream, or in literal mode the scheduler's. */
STEP_INLINE uint32_t choose(struct intk_step *x, uint32_t n)
{
    struct thread_context *context = &x->m->threads[x->t];
    if (x->m->options.literal)
        return x->choices ? x->choices->choose(x->choices, n) : 0;
    uint32_t made = context->choices;
    put(x->m, &context->choices, made + 1);
    return choice_index(x->m->program->launch.seed, x->t, made, n);
}

/* Whether the guard holds, so that what it guards may be chosen. Choosing accesses nothing
 * (CFG.access); a guard whose index is outside is chosen, and faults where it stands. */
STEP_INLINE bool feasible(struct intk_step *x, uint32_t guard)
{
    int32_t value;
    return guard == CODE_NONE || !eval_seen(x->m, x->t, guard, x->number, &value, false) || value;
}

STEP_INLINE uint32_t target_guard(const struct program *program, uint32_t target)
{
    return target == BLOCK_END ? CODE_NONE : program->blocks[target].guard;
}

/* CFG.goto_guarded: one of the n targets whose leading assume holds; none holds: the first (its
 * assume then ends the run). With raw_goto any target. */
STEP_INLINE uint32_t pick_target(struct intk_step *x, const uint32_t *targets, uint32_t count)
{
    const struct program *program = x->m->program;
    if (count == 1)
        return 0;
    if (x->m->options.raw_goto)
        return choose(x, count);
    uint32_t first = 0, n = 0;
    for (uint32_t i = count; i-- > 0;) {
        if (feasible(x, target_guard(program, targets[i]))) {
            first = i;
            n++;
        }
    }
    uint32_t skip = n >= 2 ? choose(x, n) : 0;
    for (uint32_t i = first; skip > 0;) {
        i++;
        if (feasible(x, target_guard(program, targets[i]))) {
            first = i;
            skip--;
        }
    }
    return first;
}

/* The same for the values of a pick; its guards are no assumes that would come after a raw choice. */
STEP_INLINE int32_t pick_value(struct intk_step *x)
{
    const struct code_pick *picks = &x->m->program->picks[x->s->first];
    uint32_t count = x->s->second, n = 0, at = 0;
    for (uint32_t i = count; i-- > 0;) {
        if (feasible(x, picks[i].guard)) {
            at = i;
            n++;
        }
    }
    uint32_t skip = n >= 2 ? choose(x, n) : 0;
    while (skip > 0)
        if (feasible(x, picks[++at].guard))
            skip--;
    return picks[at].value;
}

/* ---- statements: Fig. 4a ---- */

/*  ASSIGN (CFG.assign: one atomic step that reads and writes)
 *      <sigma, sigma_t, v := e>  ==>  (sigma, sigma_t)[v |-> (sigma, sigma_t)(e)]
 */
STEP_INLINE enum rule intk_assign(struct intk_step *x)
{
    uint32_t address;
    int32_t value;
    if (!eval_place(x->m, x->t, x->s, x->number, &address) ||
        !eval(x->m, x->t, x->s->value, x->number, &value))
        return out_of_bounds(x, RULE_INTK_ASSIGN);
    put_memory(x->m, address, value);
    if (is_observed(x->m) && x->s->place.space <= SPACE_SHARED)
        observe_write(x->m, x->t, address, value, x->number);
    advance(x);
    return RULE_INTK_ASSIGN;
}

/*  HAVOC         val in D
 *      <sigma, sigma_t, havoc v>  ==>  (sigma, sigma_t)[v |-> val]
 */
STEP_INLINE enum rule intk_havoc(struct intk_step *x)
{
    uint32_t address;
    if (!eval_place(x->m, x->t, x->s, x->number, &address))
        return out_of_bounds(x, RULE_INTK_HAVOC);
    int32_t value = next_havoc(x->m, x->t, x->choices);
    put_memory(x->m, address, value);
    if (is_observed(x->m) && x->s->place.space <= SPACE_SHARED)
        observe_write(x->m, x->t, address, value, x->number);
    advance(x);
    return RULE_INTK_HAVOC;
}

/*  ASSERT_T      (sigma, sigma_t)(e)                 ASSERT_F      not (sigma, sigma_t)(e)
 *      <sigma, sigma_t, assert e>  ==>  (sigma, sigma_t)         <sigma, sigma_t, assert e>  ==>  E
 */
STEP_INLINE enum rule intk_assert_t(struct intk_step *x)
{
    advance(x);
    return RULE_INTK_ASSERT_T;
}

STEP_INLINE enum rule intk_assert_f(struct intk_step *x)
{
    machine_fault(x->m, STATUS_ASSERT_FAILS, x->t, x->number);
    return RULE_INTK_ASSERT_F;
}

/*  ASSUME_T      (sigma, sigma_t)(e)                 ASSUME_F      not (sigma, sigma_t)(e)
 *      <sigma, sigma_t, assume e>  ==>  (sigma, sigma_t)         <sigma, sigma_t, assume e>  ==>  bottom
 */
STEP_INLINE enum rule intk_assume_t(struct intk_step *x)
{
    advance(x);
    return RULE_INTK_ASSUME_T;
}

STEP_INLINE enum rule intk_assume_f(struct intk_step *x)
{
    machine_fault(x->m, STATUS_INFEASIBLE, x->t, x->number);
    return RULE_INTK_ASSUME_F;
}

/*  SKIP
 *      <sigma, sigma_t, skip>  ==>  (sigma, sigma_t)
 */
STEP_INLINE enum rule intk_skip(struct intk_step *x)
{
    advance(x);
    return RULE_INTK_SKIP;
}

/*  DISABLED [EXT: guarded statements]       not (sigma, sigma_t)(g)
 *      <sigma, sigma_t, s if (g)>  ==>  (sigma, sigma_t)          (what Table 1 makes of act = false)
 */
STEP_INLINE enum rule intk_disabled(struct intk_step *x)
{
    advance(x);
    return RULE_INTK_DISABLED;
}

/*  ATOMIC [EXT]      one indivisible step
 *      <sigma, sigma_t, x := op(v, e)>  ==>  (sigma, sigma_t)[x |-> sigma(v)][v |-> op(sigma(v), e)]
 */
STEP_INLINE enum rule intk_atomic(struct intk_step *x)
{
    struct atomic_operands operands;
    if (!eval_atomic_operands(x->m, x->t, x->s, x->number, &operands))
        return out_of_bounds(x, RULE_INTK_ATOMIC);
    apply_atomic(x->m, x->t, x->s, x->number, &operands);
    advance(x);
    return RULE_INTK_ATOMIC;
}

/*  PICK (PRED.setnext, PRED.early)       e_i holds, or none of e_1 .. e_n does
 *      <sigma, sigma_t, v :in { k_1 | e_1, .., k_n | e_n }>  ==>  (sigma, sigma_t)[v |-> k_i]
 */
STEP_INLINE enum rule intk_pick(struct intk_step *x)
{
    int32_t value = pick_value(x);
    put_memory(x->m, x->m->threads[x->t].base[x->s->place.space] + x->s->place.offset, value);
    advance(x);
    return RULE_INTK_PICK;
}

/* ---- threads: Fig. 4b ---- */

/* v_L of every loop that the thread leaves is 0 again (CFG.bv.loop). */
STEP_INLINE void leave_loops(struct intk_step *x, uint32_t target)
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
            put(x->m, &frame->counters[i], 0);
}

/*  GOTO          1 <= i <= n
 *      <sigma, sigma_t, goto B_1, .., B_n>  ==>  <sigma, sigma_t, B_i>
 */
STEP_INLINE enum rule intk_goto(struct intk_step *x, uint32_t i)
{
    const struct program *program = x->m->program;
    uint32_t target = program->targets[program->blocks[x->s->block].target_first + i];
    leave_loops(x, target);
    put(x->m, &x->T->pc, target == BLOCK_END ? PC_END : PC_BLOCK | target);
    return RULE_INTK_GOTO;
}

/*  BLOCK         ss = statements of B                (v_L + 1 where B is the head of L: CFG.bv.loop)
 *      <sigma, sigma_t, B>  ==>  <sigma, sigma_t, ss>
 */
STEP_INLINE enum rule intk_block(struct intk_step *x)
{
    const struct code_block *block = &x->m->program->blocks[x->T->pc & ~PC_BLOCK];
    for (uint64_t heads = block->heads, i = 0; heads; heads >>= 1, i++) {
        uint32_t *v_L = &top_frame(x, block->function)->counters[i];
        if (heads & 1)
            put(x->m, v_L, *v_L + 1);
    }
    put(x->m, &x->T->pc, block->first);
    return RULE_INTK_BLOCK;
}

/*  END
 *      <sigma, sigma_t, End>  ==>  check mark
 */
STEP_INLINE enum rule intk_end(struct intk_step *x)
{
    put(x->m, &x->T->ended, 1);
    x->stopped = true;
    return RULE_INTK_END;
}

/* ---- barriers: section 4 ---- */

/*  BARRIER (CFG.bv.bar)      (sigma, sigma_t)(e)
 *      <sigma, sigma_t, barrier e; b>:  v_barrier := its number; only barrier_S moves the thread on
 */
STEP_INLINE enum rule intk_barrier(struct intk_step *x)
{
    put(x->m, &x->T->waiting, 1);
    x->stopped = true;
    return RULE_INTK_BARRIER;
}

/*  BARRIER_SKIP      not (sigma, sigma_t)(e)
 *      <sigma, sigma_t, barrier e; b>  ==>  <sigma, sigma_t, b>
 */
STEP_INLINE enum rule intk_barrier_skip(struct intk_step *x)
{
    advance(x);
    return RULE_INTK_BARRIER_SKIP;
}

/* ---- procedures: Fig. 8 ---- */

STEP_INLINE void push_frame(struct intk_step *x)
{
    struct block_thread *T = x->T;
    const struct code_function *callee = &x->m->program->functions[x->s->first];
    uint32_t *words = T->stack + T->words;
    put(x->m, &words[0], x->number);
    put(x->m, &words[1], x->s->first);
    for (uint32_t i = 0; i < callee->counters; i++)
        put(x->m, &words[FRAME_HEAD_WORDS + i], 0);
    put(x->m, &T->words, T->words + FRAME_HEAD_WORDS + callee->counters);
    put(x->m, &T->frames, T->frames + 1);
}

/*  CALL          w = values of e in (sigma, sigma_t); a fresh store with v_in |-> w, other locals initial
 *      <sigma, F :: <sigma_t, x := call p(e); b>>  ==>  <sigma, F :: <sigma_t, x, b> :: <tau_t, B_p>>
 */
STEP_INLINE enum rule intk_call(struct intk_step *x)
{
    const struct program *program = x->m->program;
    const struct code_function *callee = &program->functions[x->s->first];
    const struct code_argument *ins = &program->arguments[x->s->second];
    int32_t values[LIMIT_PARAMETERS];
    if (x->T->frames == LIMIT_CALL_DEPTH) {
        machine_fault(x->m, STATUS_CALL_DEPTH, x->t, x->number);
        return RULE_INTK_CALL;
    }
    for (uint32_t i = 0; i < callee->in_count; i++)
        if (!eval(x->m, x->t, ins[i].value, x->number, &values[i]))
            return out_of_bounds(x, RULE_INTK_CALL);
    frame_push(x->m, x->t, x->s->function, x->s->first);
    for (uint32_t i = 0; i < callee->in_count; i++)
        put_memory(x->m, x->m->threads[x->t].base[SPACE_LOCAL] + ins[i].offset, values[i]);
    push_frame(x);
    put(x->m, &x->T->pc, PC_BLOCK | callee->entry);
    return RULE_INTK_CALL;
}

/*  RETURN        w = values of v_out in tau_t
 *      <sigma, F :: <sigma_t, x, b> :: <tau_t, return>>  ==>  <sigma, F :: <sigma_t[x |-> w], b>>
 */
STEP_INLINE enum rule intk_return(struct intk_step *x)
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
    frame_pop(x->m, x->t, program->stms[call].function, x->s->function);
    for (uint32_t i = 0; i < callee->out_count; i++)
        put_memory(x->m, bases[outs[i].target.space] + outs[i].target.offset, values[i]);
    if (is_tracked(x->m))
        for (uint32_t i = 1; i <= words; i++)
            put(x->m, &x->T->stack[x->T->words - i], 0);
    put(x->m, &x->T->words, x->T->words - words);
    put(x->m, &x->T->frames, x->T->frames - 1);
    put(x->m, &x->T->pc, call + 1);
    return RULE_INTK_RETURN;
}

/* ---- which rule applies ---- */

/* The condition of an assert or assume; false: an index is outside. */
STEP_INLINE bool condition(struct intk_step *x)
{
    int32_t value;
    if (!eval(x->m, x->t, x->s->value, x->number, &value))
        return false;
    x->truth = value != 0;
    return true;
}

STEP_INLINE enum rule select_statement(struct intk_step *x)
{
    const struct program *program = x->m->program;
    const struct code_block *block;
    switch (x->s->kind) {
    case CODE_SKIP:
        return intk_skip(x);
    case CODE_ASSIGN:
        return intk_assign(x);
    case CODE_HAVOC:
        return intk_havoc(x);
    case CODE_ATOMIC:
        return intk_atomic(x);
    case CODE_PICK:
        return intk_pick(x);
    case CODE_ASSERT:
        if (!condition(x))
            return out_of_bounds(x, RULE_INTK_ASSERT_F);
        return x->truth ? intk_assert_t(x) : intk_assert_f(x);
    case CODE_ASSUME:
        if (!condition(x))
            return out_of_bounds(x, RULE_INTK_ASSUME_F);
        return x->truth ? intk_assume_t(x) : intk_assume_f(x);
    case CODE_BARRIER:
        return intk_barrier(x);
    case CODE_GOTO:
        block = &program->blocks[x->s->block];
        return intk_goto(
            x, pick_target(x, &program->targets[block->target_first], block->target_count));
    case CODE_CALL:
        return intk_call(x);
    case CODE_END_CALL:
        return intk_return(x);
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
STEP_INLINE enum rule select_guarded(struct intk_step *x)
{
    int32_t guard = 1;
    if (x->s->guard != CODE_NONE) {
        if (!eval(x->m, x->t, x->s->guard, x->number, &guard))
            return out_of_bounds(x, RULE_INTK_DISABLED);
        x->truth = guard != 0;
    }
    if (guard)
        return select_statement(x);
    return x->s->kind == CODE_BARRIER ? intk_barrier_skip(x) : intk_disabled(x);
}

STEP_INLINE enum rule select_rule(struct intk_step *x)
{
    uint32_t pc = x->T->pc;
    if (pc & PC_BLOCK)
        return pc == PC_END ? intk_end(x) : intk_block(x);
    x->number = pc;
    x->s = &x->m->program->stms[pc];
    return select_guarded(x);
}

/* What follows every rule: the thread leaves the live ones if it has stopped, the step is seen, and
 * the block goes past its barrier if it was the last. */
STEP_INLINE void finish(struct intk_step *x, enum rule rule)
{
    struct machine *machine = x->m;
    machine->hits[rule]++;
    machine->steps++;
    if (x->stopped && x->T->ended)
        machine_retire(machine, x->t);
    else if (x->stopped)
        barrier_wait(machine, x->t);
    if (is_observed(x->m)) {
        struct step_event event = {
            .rule = rule, .actor = x->t, .stm = x->number, .truth = x->truth};
        observe_step(machine, &event);
    }
    if (x->stopped)
        barrier_settle(machine, x->t);
}

enum rule STEP_NAME(interleave_step)(struct machine *machine, uint32_t thread,
                                     struct choices *choices)
{
    struct intk_step x = {.m = machine,
                          .T = state_of(machine, thread),
                          .t = thread,
                          .number = CODE_NONE,
                          .choices = choices};
    enum rule rule = select_rule(&x);
    finish(&x, rule);
    return rule;
}

/* interleave_goto, in this variant. */
enum rule STEP_NAME(interleave_goto)(struct machine *machine, uint32_t thread, uint32_t target)
{
    struct block_thread *T = state_of(machine, thread);
    struct intk_step x = {.m = machine, .T = T, .t = thread, .number = T->pc};
    INVARIANT(!(T->pc & PC_BLOCK));
    x.s = &machine->program->stms[T->pc];
    INVARIANT(x.s->kind == CODE_GOTO);
    INVARIANT(target < machine->program->blocks[x.s->block].target_count);
    enum rule rule = intk_goto(&x, target);
    finish(&x, rule);
    return rule;
}
