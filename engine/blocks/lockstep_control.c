/*
 * lockstep_control.c - gotos, blocks, calls of the lock-step program: lockstep-cfg Fig. 4b, Fig. 8,
 * Table 6b.
 */
#include "engine/blocks/lockstep_internal.h"

/* Whether the target's leading assume holds; End has none. */
static bool is_feasible(struct lockstep_step *x, uint32_t target)
{
    const struct program *program = x->m->program;
    return x->m->options.raw_goto || target == BLOCK_END ||
           program->blocks[target].guard == CODE_NONE ||
           lockstep_holds(x, program->blocks[target].guard);
}

/* As interleave.c: a feasible target; none is: the first (its assume then ends the run). */
static uint32_t choose_target(struct lockstep_step *x, const uint32_t *targets, uint32_t count)
{
    uint32_t feasible = 0, at = 0;
    if (count == 1)
        return 0;
    for (uint32_t i = count; i-- > 0;) {
        if (is_feasible(x, targets[i])) {
            at = i;
            feasible++;
        }
    }
    uint32_t skip = feasible >= 2 ? lockstep_choose(x, x->threads[0], feasible) : 0;
    while (skip > 0) {
        at++;
        if (is_feasible(x, targets[at]))
            skip--;
    }
    return at;
}

/*  goto (CFG.goto_guarded; raw_goto: any i)       sigma(e_i), e_i the guard of B_i's leading assume
 *      <sigma, goto B_1, .., B_n>  ->  <sigma, B_i>
 *
 *  In phi(P) exactly one target is feasible (ORA.B9); a choice elsewhere is the first thread's.
 */
enum rule lock_goto(struct lockstep_step *x)
{
    const struct code_block *block = &x->m->program->blocks[x->s->block];
    const uint32_t *targets = &x->m->program->targets[block->target_first];
    uint32_t target = targets[choose_target(x, targets, block->target_count)];
    put(x->m, &x->L->pc, target == BLOCK_END ? PC_END : PC_BLOCK | target);
    return RULE_LOCK_GOTO;
}

/*  block
 *      <sigma, B>  ->  <sigma, body of B>
 */
enum rule lock_block(struct lockstep_step *x)
{
    uint32_t block = x->L->pc & ~PC_BLOCK;
    put(x->m, &x->L->pc, x->m->program->blocks[block].first);
    return RULE_LOCK_BLOCK;
}

/*  end
 *      <sigma, End>  ->  check mark
 */
enum rule lock_end(struct lockstep_step *x)
{
    put(x->m, &x->L->ended, 1);
    machine_retire(x->m, x->block);
    return RULE_LOCK_END;
}

/* The in-parameters of one component. False: the execution has ended. */
static bool eval_arguments(struct lockstep_step *x, uint32_t i)
{
    const struct program *program = x->m->program;
    const struct code_argument *ins = &program->arguments[x->s->second];
    const uint32_t count = program->functions[x->s->first].in_count;
    for (uint32_t k = 0; k < count; k++)
        if (!lockstep_component(x, i, ins[k].value, &x->scratch->arguments[i][k]))
            return false;
    return true;
}

/* The frame of one component, with them. */
static void enter_component(struct lockstep_step *x, uint32_t i)
{
    const struct program *program = x->m->program;
    const struct code_argument *ins = &program->arguments[x->s->second];
    const uint32_t callee = x->s->first, count = program->functions[callee].in_count;
    const uint32_t thread = x->threads[i];
    frame_push(x->m, thread, x->s->function, callee);
    for (uint32_t k = 0; k < count; k++)
        put_memory(x->m, x->m->threads[thread].base[SPACE_LOCAL] + ins[k].offset,
                   x->scratch->arguments[i][k]);
}

/*  LOCK.call (Fig. 8, Table 6b)       p(in: <v_t>, out: <w_t>) B_p
 *      <S, <x_t> := call p(<e_t>); b>  ->  <S . (<v_t |-> S(e_t)>, <x_t>, <w_t>, b), B_p>
 *
 *  All e_t are evaluated in S: all(..) and any(..) among them read every component's own frame.
 */
enum rule lock_call(struct lockstep_step *x)
{
    struct actor_state *L = x->L;
    if (L->frames == LIMIT_CALL_DEPTH) {
        lockstep_fault(x, STATUS_CALL_DEPTH, x->threads[0]);
        return RULE_LOCK_CALL;
    }
    for (uint32_t i = 0; i < x->count; i++)
        if (!eval_arguments(x, i))
            return RULE_LOCK_CALL;
    for (uint32_t i = 0; i < x->count; i++)
        enter_component(x, i);
    put(x->m, &L->calls[L->frames], x->number);
    put(x->m, &L->frames, L->frames + 1);
    put(x->m, &L->pc, PC_BLOCK | x->m->program->functions[x->s->first].entry);
    return RULE_LOCK_CALL;
}

/* Drops the frame of one component; its out-parameters go to the caller's variables. */
static void leave_component(struct lockstep_step *x, uint32_t thread, const struct code_stm *call)
{
    const struct program *program = x->m->program;
    const struct code_function *callee = &program->functions[call->first];
    const struct code_argument *outs = &program->arguments[call->second + callee->in_count];
    uint32_t *base = x->m->threads[thread].base;
    int32_t values[LIMIT_PARAMETERS];
    for (uint32_t k = 0; k < callee->out_count; k++)
        values[k] = x->m->memory[base[SPACE_LOCAL] + outs[k].offset];
    frame_pop(x->m, thread, call->function, call->first);
    for (uint32_t k = 0; k < callee->out_count; k++)
        put_memory(x->m, base[outs[k].target.space] + outs[k].target.offset, values[k]);
}

/*  return (Fig. 8)       x_t := S(w_t) in the caller's frame or globals
 *      <S . (tau, <x_t>, <w_t>, b), return>  ->  <S[x_t |-> tau(w_t)], b>
 */
enum rule lock_return(struct lockstep_step *x)
{
    struct actor_state *L = x->L;
    uint32_t number = L->calls[L->frames - 1];
    for (uint32_t i = 0; i < x->count; i++)
        leave_component(x, x->threads[i], &x->m->program->stms[number]);
    if (is_tracked(x->m))
        put(x->m, &L->calls[L->frames - 1], 0);
    put(x->m, &L->frames, L->frames - 1);
    put(x->m, &L->pc, number + 1);
    return RULE_LOCK_RETURN;
}
