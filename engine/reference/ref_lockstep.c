/*
 * ref_lockstep.c - lockstep-cfg Tables 3, 6, Fig. 6: one thread over vectors. A block of threads is one actor; the
 * component of thread t of a private variable is t's copy of it.
 *
 * act_t: the statement's guard holds for t. Everything is read before anything is written; what is not enabled is not
 * evaluated (B-9).
 */
#include "engine/reference/ref_internal.h"

/* What a rule works on: the threads of the block, and for whom the guard holds. */
struct vector {
    uint32_t first, count;
    bool acts[LIMIT_THREADS];
};

void ref_lockstep_start(struct ref *r)
{
    for (uint32_t t = 0; t < r->thread_count; t++)
        ref_enter(r, t, r->kernel->main, NULL);
    for (uint32_t b = 0; b < r->actor_count; b++)
        r->actors[b].block = r->kernel->main->blocks;
}

/* Whether the expression has one value for all threads: it is about shared variables, and all(..), any(..). */
static bool is_uniform(const struct ast_expr *e)
{
    if (!e || e->kind == EXPR_ALL || e->kind == EXPR_ANY)
        return true;
    if (e->kind == EXPR_BUILTIN)
        return false;
    if ((e->kind == EXPR_VAR || e->kind == EXPR_INDEX) && e->var->space > SPACE_SHARED)
        return false;
    return is_uniform(e->a) && is_uniform(e->b) && is_uniform(e->c);
}

/* A condition of the vector program: of an expression over private variables, its conjunction. */
static bool condition(struct ref *r, const struct vector *x, const struct ast_expr *e)
{
    uint32_t count = is_uniform(e) ? 1 : x->count;
    bool holds = true;
    for (uint32_t t = x->first; t < x->first + count; t++) {
        bool one = ref_value(r, t, e) != 0;
        holds = holds && one;
    }
    return holds && !ref_failed(r);
}

static uint32_t find_acting(struct ref *r, struct vector *x, const struct ast_stm *s)
{
    uint32_t acting = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        x->acts[i] = !s->guard || ref_value(r, x->first + i, s->guard) != 0;
        acting += x->acts[i];
    }
    return acting;
}

/* The acting threads write, or do their atomics, in an order that is told. */
static bool is_order(struct ref *r, const struct vector *x, const struct ref_told *told)
{
    uint32_t threads[LIMIT_THREADS], count = 0;
    for (uint32_t i = 0; i < x->count; i++)
        if (x->acts[i])
            threads[count++] = x->first + i;
    if (!ref_is_order(told, threads, count))
        r->misled = "the threads that write are not those whose guard holds, each once";
    return !r->misled;
}

/* <v_t> := <act_t ? e_t : v_t> (vec_assign); v := psi<act_t, e_t> (psi_T, psi_F) */
static enum rule assign(struct ref *r, struct vector *x, const struct ast_stm *s,
                        const struct ref_told *told)
{
    struct ref_cell cells[LIMIT_THREADS];
    int32_t values[LIMIT_THREADS];
    uint32_t acting = find_acting(r, x, s);
    enum rule rule = s->target.var->space > SPACE_SHARED ? RULE_LOCK_VEC_ASSIGN
                     : acting > 0                        ? RULE_LOCK_PSI_T
                                                         : RULE_LOCK_PSI_F;
    if (ref_failed(r))
        return RULE_LOCK_VEC_ASSIGN; /* a guard is out of bounds: of a vector, as yet */
    for (uint32_t i = 0; i < x->count; i++)
        if (x->acts[i])
            cells[i] = ref_assigned(r, x->first + i, s, &values[i]);
    if (ref_failed(r) || !is_order(r, x, told))
        return rule;
    ref_ways_to_write(r, told->order, told->count, x->first, cells, values);
    for (uint32_t i = 0; i < told->count; i++) {
        uint32_t at = told->order[i] - x->first;
        ref_write(r, told->order[i], &cells[at], values[at]);
    }
    return rule;
}

static enum rule havoc(struct ref *r, struct vector *x, const struct ast_stm *s,
                       const struct ref_told *told)
{
    struct ref_cell cells[LIMIT_THREADS];
    (void)find_acting(r, x, s);
    for (uint32_t i = 0; i < x->count; i++)
        if (x->acts[i])
            cells[i] = ref_place(r, x->first + i, &s->place);
    if (ref_failed(r) || !is_order(r, x, told))
        return RULE_LOCK_VEC_HAVOC;
    for (uint32_t i = 0; i < told->count; i++)
        ref_write(r, told->order[i], &cells[told->order[i] - x->first],
                  ref_choice_value(r, told->order[i]));
    return RULE_LOCK_VEC_HAVOC;
}

static enum rule pick(struct ref *r, struct vector *x, const struct ast_stm *s)
{
    int32_t values[LIMIT_THREADS];
    (void)find_acting(r, x, s);
    for (uint32_t i = 0; i < x->count && !ref_failed(r); i++)
        if (x->acts[i])
            values[i] = ref_picked(r, x->first + i, s);
    for (uint32_t i = 0; i < x->count && !ref_failed(r); i++)
        if (x->acts[i])
            *ref_cell_of(r, x->first + i, s->target.var, 0).word = values[i];
    return RULE_LOCK_PICK;
}

static enum rule atomics(struct ref *r, struct vector *x, const struct ast_stm *s,
                         const struct ref_told *told)
{
    struct ref_operands operands[LIMIT_THREADS];
    (void)find_acting(r, x, s);
    for (uint32_t i = 0; i < x->count; i++)
        if (x->acts[i])
            (void)ref_operands(r, x->first + i, s, &operands[i]);
    if (ref_failed(r) || !is_order(r, x, told))
        return RULE_LOCK_ATOMIC;
    ref_ways_of(r, s, told->order, told->count, x->first, operands);
    for (uint32_t i = 0; i < told->count; i++)
        ref_atomic(r, told->order[i], s, &operands[told->order[i] - x->first]);
    return RULE_LOCK_ATOMIC;
}

/* assert e, assume e, sync e: b goes on, or the execution ends */
static enum rule check(struct ref *r, const struct vector *x, const struct ast_stm *s)
{
    bool holds = condition(r, x, s->value);
    if (s->kind == STM_ASSERT) {
        if (!holds)
            ref_fail(r, REF_ASSERT_FAILS, x->first);
        return holds ? RULE_LOCK_ASSERT_T : RULE_LOCK_ASSERT_F;
    }
    if (s->kind == STM_ASSUME) {
        if (!holds)
            ref_fail(r, REF_INFEASIBLE, x->first);
        return holds ? RULE_LOCK_ASSUME_T : RULE_LOCK_ASSUME_F;
    }
    if (!holds)
        ref_fail(r, REF_BARRIER_DIVERGENCE, x->first);
    return holds ? RULE_LOCK_SYNC_T : RULE_LOCK_SYNC_F;
}

/* <x_t> := call p(<e_t>): a frame for each component */
static enum rule call(struct ref *r, const struct vector *x, struct ref_actor *a,
                      const struct ast_stm *s)
{
    if (r->threads[x->first].depth == LIMIT_CALL_DEPTH) {
        ref_fail(r, REF_CALL_DEPTH, x->first);
        return RULE_LOCK_CALL;
    }
    int32_t values[LIMIT_THREADS][LIMIT_PARAMETERS];
    for (uint32_t i = 0; i < x->count; i++)
        if (!ref_arguments(r, x->first + i, s, values[i]))
            return RULE_LOCK_CALL;
    for (uint32_t i = 0; i < x->count; i++)
        if (!ref_enter_with(r, x->first + i, s, values[i]))
            return RULE_LOCK_CALL;
    a->block = s->function->blocks;
    a->inside = false;
    return RULE_LOCK_CALL;
}

static enum rule leave(struct ref *r, const struct vector *x, struct ref_actor *a)
{
    const struct ast_stm *from = NULL;
    for (uint32_t i = 0; i < x->count; i++)
        from = ref_leave_with(r, x->first + i);
    a->block = ref_block_with(r->threads[x->first].frames->function, from);
    a->next = from->next;
    return RULE_LOCK_RETURN;
}

/* A target whose leading assume holds for the vector; of several, the first thread chooses. */
static enum rule jump(struct ref *r, const struct vector *x, struct ref_actor *a)
{
    bool marked[LIMIT_LABELS];
    uint32_t count = a->block->target_count, one = 0;
    for (uint32_t i = 0; i < count && count > 1; i++) {
        const struct ast_expr *guard = ref_leading_assume(a->block->targets[i]);
        uint32_t threads = guard && is_uniform(guard) ? 1 : x->count;
        marked[i] = true;
        for (uint32_t k = 0; k < threads && guard; k++)
            marked[i] = marked[i] && ref_may_choose(r, x->first + k, guard);
    }
    if (count > 1)
        one = ref_choose_marked(r, x->first, marked, count);
    a->block = a->block->targets[one];
    a->inside = false;
    return RULE_LOCK_GOTO;
}

static enum rule statement(struct ref *r, struct vector *x, const struct ast_stm *s,
                           const struct ref_told *told)
{
    switch ((int)s->kind) { /* of the lock-step form; all others are not known here */
    case STM_SKIP:
    case STM_MEMBAR:
        return RULE_LOCK_SKIP;
    case STM_ASSIGN:
        return assign(r, x, s, told);
    case STM_HAVOC:
        return havoc(r, x, s, told);
    case STM_PICK:
        return pick(r, x, s);
    case STM_ATOMIC:
        return atomics(r, x, s, told);
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_LOCKSYNC:
        return check(r, x, s);
    default:
        return ref_unknown(r, ast_stm_names[s->kind]);
    }
}

static enum rule enter(struct ref_actor *a)
{
    if (!a->block) {
        a->ended = true;
        return RULE_LOCK_END;
    }
    a->inside = true;
    a->next = a->block->body;
    return RULE_LOCK_BLOCK;
}

/* Whether the thread takes part in what comes next: of a block that picks, whoever the guard of its last pick is for,
 * else whoever the statement's guard is for. Looking accesses nothing; who has no value takes no part. */
bool ref_lockstep_enabled(struct ref *r, uint32_t block, uint32_t thread)
{
    const struct ref_actor *a = &r->actors[block];
    const struct ast_expr *guard = NULL;
    const uint32_t accesses = r->access_count;
    if (!a->inside)
        return true;
    for (const struct ast_stm *s = a->block->body; s; s = s->next)
        if (s->kind == STM_PICK)
            guard = s->guard;
    if (!guard && a->next)
        guard = a->next->guard;
    const bool holds = !guard || ref_value(r, thread, guard) != 0;
    r->access_count = accesses;
    r->end = REF_RUNNING;
    return holds;
}

enum rule ref_lockstep_step(struct ref *r, uint32_t block, const struct ref_told *told)
{
    struct ref_actor *a = &r->actors[block];
    const struct ast_stm *s = a->next;
    struct vector x = {.first = block * r->kernel->launch.threads,
                       .count = r->kernel->launch.threads};
    if (!a->inside)
        return enter(a);
    if (!s)
        return a->block->returns ? leave(r, &x, a) : jump(r, &x, a);
    if (s->kind == STM_CALL)
        return call(r, &x, a, s);
    enum rule rule = statement(r, &x, s, told);
    if (!ref_failed(r))
        a->next = s->next;
    return rule;
}
