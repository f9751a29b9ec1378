/*
 * mutate_lists.c - mutators of statement lists, in every form of trees.
 */
#include "fuzz/mutate/mutate_internal.h"

/* Somewhere in the function; NULL: it has no list. */
static struct site *somewhere(struct mutation *m, const struct ast_function *function)
{
    struct sites *sites = mutate_sites(m, m->kernel, true);
    uint32_t count = 0;
    for (uint32_t i = 0; i < sites->count; i++)
        if (!function || sites->at[i].function == function)
            sites->at[count++] = sites->at[i];
    sites->count = count;
    return mutate_pick_site(m, sites);
}

/* A call of one of the donor's functions, its arguments values from here. */
static struct ast_stm *call_of_donor(struct mutation *m, struct ast_function *into)
{
    uint32_t count = 0;
    for (struct ast_function *f = m->donor->functions; f; f = f->next)
        count++;
    if (count == 0 || m->donor->form != FORM_STRUCTURED || m->kernel->form != FORM_STRUCTURED)
        return NULL;
    struct ast_function *f = m->donor->functions;
    for (uint32_t left = mutate_below(m, count); left > 0; left--)
        f = f->next;
    struct ast_stm *call = ast_stm(m->arena, STM_CALL, (struct location){0, 0});
    call->function = f;
    if (f->returns_int)
        call->target.var = mutate_new_local(m, into, "r");
    struct ast_expr **end = &call->arguments;
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        *end = ast_int(m->arena, (int32_t)mutate_below(m, 4)); /* a depth, perhaps: small */
        end = &(*end)->next;
    }
    return call;
}

bool mutate_splice(struct mutation *m)
{
    struct site *to = somewhere(m, NULL);
    if (!to)
        return false;
    struct ast_stm *list = mutate_chance(m, 15) ? call_of_donor(m, to->function) : NULL;
    if (!list) {
        struct site *from = mutate_pick_site(m, mutate_sites(m, m->donor, false));
        if (!from)
            return false;
        uint32_t wanted = 1 + mutate_below(m, MUTATE_RUN_MAX);
        list = mutate_copy_run(m, *from->slot, wanted);
    }
    mutate_adopt_list(m, to->function, list);
    edit_put(to->slot, list);
    return true;
}

bool mutate_duplicate(struct mutation *m)
{
    struct site *from = mutate_pick_site(m, mutate_sites(m, m->kernel, false));
    if (!from)
        return false;
    uint32_t count = mutate_run(m, from);
    if (count == 0)
        return false;
    struct ast_stm *list = mutate_copy_run(m, *from->slot, count);
    if (mutate_chance(m, 40)) {
        edit_put(from->slot, list);
        return true;
    }
    struct site *to = somewhere(m, NULL);
    mutate_adopt_list(m, to->function, list);
    edit_put(to->slot, list);
    return true;
}

bool mutate_move(struct mutation *m)
{
    struct site *from = mutate_pick_site(m, mutate_sites(m, m->kernel, false));
    uint32_t count = from ? mutate_run(m, from) : 0;
    if (count == 0)
        return false;
    const struct ast_function *function = from->function;
    struct ast_stm *list = edit_take(from->slot, count);
    edit_put(somewhere(m, function)->slot, list);
    return true;
}

bool mutate_exchange(struct mutation *m)
{
    struct site *site = mutate_pick_site(m, mutate_sites(m, m->kernel, false));
    uint32_t length = 0;
    for (const struct ast_stm *s = site ? *site->slot : NULL; s; s = s->next)
        length++;
    if (length < 2)
        return false;
    struct ast_stm **other = &(*site->slot)->next;
    for (uint32_t left = mutate_below(m, length - 1); left > 0; left--)
        other = &(*other)->next;
    struct ast_stm *second = edit_take(other, 1), *first = edit_take(site->slot, 1);
    struct ast_stm **place = other == &first->next ? site->slot : other;
    edit_put(place, first);
    edit_put(site->slot, second);
    return true;
}

bool mutate_delete(struct mutation *m)
{
    struct site *site = mutate_pick_site(m, mutate_sites(m, m->kernel, false));
    uint32_t count = site ? mutate_run(m, site) : 0;
    if (count > 0)
        edit_take(site->slot, count);
    return count > 0;
}

/* ---- new statements ---- */

static bool is_plain_private(const struct ast_var *var, const void *context)
{
    (void)context;
    return mutate_is_private(var) && !var->is_array && !var->mark;
}

static bool is_common(const struct ast_var *var, const void *context)
{
    (void)context;
    return !mutate_is_private(var);
}

static bool is_any(const struct ast_var *var, const void *context)
{
    (void)context;
    return !var->mark;
}

static struct ast_lvalue lvalue_of(struct mutation *m, struct ast_var *var)
{
    struct ast_lvalue lvalue = {.var = var};
    if (var && var->is_array) {
        static const enum ast_builtin who[] = {BUILTIN_TID, BUILTIN_LANE, BUILTIN_WARP};
        lvalue.index =
            ast_binary(m->arena, BINARY_REM, ast_builtin_ref(m->arena, who[mutate_below(m, 3)]),
                       ast_int(m->arena, (int32_t)var->length));
    }
    return lvalue;
}

static struct ast_stm *new_assignment(struct mutation *m, struct ast_function *f)
{
    struct ast_var *var = mutate_pick_var(m, f, is_any, NULL);
    if (!var)
        var = mutate_new_local(m, f, "n");
    struct ast_stm *stm = ast_stm(m->arena, STM_ASSIGN, (struct location){0, 0});
    stm->op = (enum ast_assign_op)mutate_below(m, ASSIGN_COUNT);
    stm->target = lvalue_of(m, var);
    stm->value = mutate_value(m, f);
    return stm;
}

static struct ast_stm *new_atomic(struct mutation *m, struct ast_function *f)
{
    struct ast_var *place = mutate_pick_var(m, f, is_common, NULL);
    if (!place)
        return NULL;
    struct ast_stm *stm = ast_stm(m->arena, STM_ATOMIC, (struct location){0, 0});
    stm->atomic = (enum ast_atomic)mutate_below(m, ATOMIC_COUNT);
    stm->place = lvalue_of(m, place);
    stm->arguments = mutate_value(m, f);
    if (stm->atomic == ATOMIC_CAS)
        stm->arguments->next = mutate_value(m, f);
    if (mutate_chance(m, 50))
        stm->target.var = mutate_pick_var(m, f, is_plain_private, NULL);
    return stm;
}

static struct ast_stm *new_statement(struct mutation *m, struct ast_function *f)
{
    enum { BARRIER, ASSIGNMENT, ATOMIC, FENCE, KINDS };
    static const uint16_t weights[KINDS] = {
        [BARRIER] = 4, [ASSIGNMENT] = 6, [ATOMIC] = 2, [FENCE] = 1};
    bool lockstep = m->kernel->form == FORM_LOCKSTEP;
    switch (source_weighted(m->choices, weights, KINDS)) {
    case BARRIER: {
        struct ast_stm *stm =
            ast_stm(m->arena, lockstep ? STM_LOCKSYNC : STM_BARRIER, (struct location){0, 0});
        stm->value = lockstep ? ast_int(m->arena, 1) : NULL;
        return stm;
    }
    case ATOMIC:
        return lockstep ? NULL : new_atomic(m, f);
    case FENCE:
        return lockstep ? NULL : ast_stm(m->arena, STM_MEMBAR, (struct location){0, 0});
    default:
        return new_assignment(m, f);
    }
}

bool mutate_insert(struct mutation *m)
{
    struct site *to = somewhere(m, NULL);
    struct ast_stm *stm = to ? new_statement(m, to->function) : NULL;
    if (stm)
        edit_put(to->slot, stm);
    return stm != NULL;
}
