/*
 * predicate_stm.c - statements: lockstep-cfg Table 1 (pi) and Table 3a (phi).
 *
 * act is v_active = B. `?:` and `||` do not evaluate what C would not (B-9). The statement that stands
 * for one of P carries its origin; what only prepares it (the havoc of v_havoc) is administrative.
 */
#include "engine/forms/predicate_internal.h"

#include "engine/base/invariant.h"

void transform_add(struct stm_list *list, struct ast_stm *stm)
{
    stm->next = NULL;
    if (list->last)
        list->last->next = stm;
    else
        list->first = stm;
    list->last = stm;
}

static struct ast_expr *compare_active(const struct transform *t, enum ast_binary op, uint32_t k)
{
    return ast_binary(t->arena, op, ast_var_ref(t->arena, t->active),
                      ast_int(t->arena, (int32_t)k));
}

struct ast_expr *active_is(const struct transform *t, uint32_t k)
{
    return compare_active(t, BINARY_EQ, k);
}

struct ast_expr *active_is_not(const struct transform *t, uint32_t k)
{
    return compare_active(t, BINARY_NE, k);
}

static struct ast_expr *reduction(const struct transform *t, enum ast_expr_kind kind,
                                  struct ast_expr *e)
{
    if (!t->lockstep)
        return e;
    struct ast_expr *all = ARENA_NEW(t->arena, struct ast_expr);
    all->kind = kind;
    all->a = e;
    return all;
}

struct ast_expr *for_all_threads(const struct transform *t, struct ast_expr *e)
{
    return reduction(t, EXPR_ALL, e);
}

struct ast_expr *for_some_thread(const struct transform *t, struct ast_expr *e)
{
    return reduction(t, EXPR_ANY, e);
}

struct ast_stm *predicated_assign(const struct transform *t, struct ast_var *v, struct ast_expr *e,
                                  struct location at)
{
    struct ast_expr *keep = ast_var_ref(t->arena, v);
    return ast_assign(t->arena, v, NULL, ast_cond(t->arena, active_is(t, t->block), e, keep), at);
}

/* act; for a statement of P that has a guard itself: act && guard. */
static struct ast_expr *act(const struct transform *t, struct ast_expr *guard)
{
    struct ast_expr *e = active_is(t, t->block);
    return guard ? ast_binary(t->arena, BINARY_LOGICAL_AND, e, guard) : e;
}

static bool is_shared(const struct ast_var *var)
{
    return var->space == SPACE_GLOBAL || var->space == SPACE_SHARED;
}

/*  PRED.assign           v := e            v := act ? e : v
 *                        A[i] := e         A[i] := e if (act)                              [EXT]
 *  LOCK.assign_priv      v private         <v_t> := <act_t ? phi_t(e) : v_t>
 *  LOCK.assign_shared    v, A[i] shared    v := psi<act_t, phi_t(e)>, written v = e if (act);
 */
static void pred_assign(struct transform *t, struct ast_stm *s, struct stm_list *list)
{
    bool psi = t->lockstep && is_shared(s->target.var);
    s->value = ast_assigned_value(t->arena, s);
    s->op = ASSIGN_SET;
    if (psi || s->target.index || s->guard)
        s->guard = act(t, s->guard);
    else
        s->value = ast_cond(t->arena, active_is(t, t->block), s->value,
                            ast_var_ref(t->arena, s->target.var));
    transform_add(list, s);
}

/*  PRED.barrier     barrier          barrier act
 *  PRED.atomic      [EXT]: one indivisible read and write of each enabled thread; also pick
 */
static void pred_guarded(struct transform *t, struct ast_stm *s, struct stm_list *list)
{
    s->guard = act(t, s->guard);
    transform_add(list, s);
}

/*  PRED.havoc                             havoc v        havoc v_havoc; v := act ? v_havoc : v
 *  LOCK.havoc_priv, LOCK.havoc_shared     havoc <v_havoc,t>; then as an assignment of v_havoc
 *
 *  A thread that is not enabled draws nothing (ORA.choice): the havoc has the guard, too.
 *  With a guard [EXT] pi has one statement, havoc v if (act && g): g may read what others write, and is read once.
 */
static void pred_havoc(struct transform *t, struct ast_stm *s, struct stm_list *list)
{
    if (s->guard && !t->lockstep) {
        pred_guarded(t, s, list);
        return;
    }
    if (!t->havoc)
        t->havoc = transform_new_local(t, "v_havoc");
    struct ast_stm *draw = ast_stm(t->arena, STM_HAVOC, s->at);
    draw->place = (struct ast_lvalue){.var = t->havoc, .at = s->at};
    draw->guard = act(t, s->guard ? ast_expr_copy(t->arena, s->guard) : NULL);
    transform_add(list, draw);
    struct ast_stm *take =
        ast_assign(t->arena, s->place.var, s->place.index, ast_var_ref(t->arena, t->havoc), s->at);
    take->guard = s->guard;
    take->origin = s->origin;
    pred_assign(t, take, list);
}

/*  PRED.assert, PRED.assume    assert e, assume e    assert act => e, assume act => e
 *  LOCK.assert, LOCK.assume                          assert /\_t (act_t => phi_t(e)), ..
 */
static void pred_condition(struct transform *t, struct ast_stm *s, struct stm_list *list)
{
    struct ast_expr *implies =
        ast_binary(t->arena, BINARY_LOGICAL_OR, active_is_not(t, t->block), s->value);
    s->value = for_all_threads(t, implies);
    transform_add(list, s);
}

/*  LOCK.barrier     barrier act      sync (\/_t act_t) => (/\_t act_t)
 */
static void lock_barrier(struct transform *t, struct ast_stm *s, struct stm_list *list)
{
    struct ast_expr *some = act(t, s->guard ? ast_expr_copy(t->arena, s->guard) : NULL);
    struct ast_expr *nobody = ast_unary(t->arena, UNARY_NOT, for_some_thread(t, some));
    struct ast_stm *sync = ast_stm(t->arena, STM_LOCKSYNC, s->at);
    sync->value =
        ast_binary(t->arena, BINARY_LOGICAL_OR, nobody, for_all_threads(t, act(t, s->guard)));
    sync->origin = s->origin;
    transform_add(list, sync);
}

static void refuse(const struct transform *t, const struct ast_stm *s)
{
    if (!*t->reason)
        *t->reason = arena_printf(t->arena, "no predicated form of '%s' at line %u",
                                  ast_stm_names[s->kind], (unsigned)s->at.line);
}

void transform_statement(struct transform *t, struct ast_stm *s, struct stm_list *list)
{
    switch (s->kind) {
    case STM_SKIP: /* PRED.skip: skip */
    case STM_MEMBAR:
        transform_add(list, s);
        return;
    case STM_ASSIGN:
        pred_assign(t, s, list);
        return;
    case STM_HAVOC:
        pred_havoc(t, s, list);
        return;
    case STM_ASSERT:
    case STM_ASSUME:
        pred_condition(t, s, list);
        return;
    case STM_BARRIER:
        if (t->lockstep)
            lock_barrier(t, s, list);
        else
            pred_guarded(t, s, list);
        return;
    case STM_ATOMIC:
    case STM_PICK:
        pred_guarded(t, s, list);
        return;
    case STM_CALL: /* its block's business */
    case STM_BLOCK:
    case STM_IF:
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
    case STM_SWITCH:
    case STM_BREAK:
    case STM_CONTINUE:
    case STM_RETURN:
    case STM_EXIT:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_VOTE:
    case STM_LOCKSYNC:
        refuse(t, s);
        return;
    case STM_KIND_COUNT:
        break;
    }
    invariant_fail("a statement of the language", __FILE__, __LINE__);
}
