/*
 * mutate_flow.c - mutators of structured control flow.
 */
#include "fuzz/mutate/mutate_internal.h"

static const struct location NOWHERE = {0, 0};

static struct ast_stm *block_of(struct mutation *m, struct ast_stm *list)
{
    struct ast_stm *block = ast_stm(m->arena, STM_BLOCK, NOWHERE);
    block->body = list;
    return block;
}

static struct ast_stm *control(struct mutation *m, enum ast_stm_kind kind, struct ast_expr *value,
                               struct ast_stm *body)
{
    struct ast_stm *stm = ast_stm(m->arena, kind, NOWHERE);
    stm->value = value;
    stm->body = block_of(m, body);
    return stm;
}

/* ---- around statements ---- */

static struct ast_stm *wrap_in_if(struct mutation *m, struct site *site, struct ast_stm *list)
{
    struct ast_stm *stm = control(m, STM_IF, mutate_condition(m, site->function), list);
    if (mutate_chance(m, 25))
        stm->other = block_of(m, ast_stm_list_copy(m->arena, list));
    return stm;
}

/* n = 0; while (n < trips) { n++; list } with an n of its own. */
static struct ast_stm *wrap_in_loop(struct mutation *m, struct site *site, struct ast_stm *list)
{
    struct ast_var *n = mutate_new_local(m, site->function, "n");
    struct ast_expr *trips = ast_int(m->arena, 1 + (int32_t)mutate_below(m, 3));
    if (mutate_chance(m, 40))
        trips =
            ast_binary(m->arena, BINARY_AND, mutate_value(m, site->function), ast_int(m->arena, 3));
    struct ast_stm *start = ast_assign(m->arena, n, NULL, ast_int(m->arena, 0), NOWHERE);
    struct ast_stm *step = ast_assign(m->arena, n, NULL, ast_int(m->arena, 1), NOWHERE);
    step->op = ASSIGN_ADD;
    step->next = list;
    struct ast_expr *more = ast_binary(m->arena, BINARY_LT, ast_var_ref(m->arena, n), trips);
    start->next = control(m, mutate_chance(m, 30) ? STM_DO : STM_WHILE, more, step);
    return start;
}

static struct ast_stm *wrap_in_switch(struct mutation *m, struct site *site, struct ast_stm *list)
{
    struct ast_stm *stm = ast_stm(m->arena, STM_SWITCH, NOWHERE);
    stm->value =
        ast_binary(m->arena, BINARY_AND, mutate_value(m, site->function), ast_int(m->arena, 3));
    struct ast_case **end = &stm->cases;
    uint32_t count = 1 + mutate_below(m, 3);
    for (uint32_t i = 0; i < count; i++) {
        struct ast_case *c = ARENA_NEW(m->arena, struct ast_case);
        c->value = (int32_t)i;
        c->body = i == 0 ? list : ast_stm_list_copy(m->arena, list);
        if (mutate_chance(m, 50))
            ast_stm_append(&c->body, ast_stm(m->arena, STM_BREAK, NOWHERE));
        *end = c;
        end = &c->next;
    }
    return stm;
}

bool mutate_wrap(struct mutation *m)
{
    enum { IF, LOOP, SWITCH, BLOCK, KINDS };
    static const uint16_t weights[KINDS] = {[IF] = 10, [LOOP] = 6, [SWITCH] = 4, [BLOCK] = 1};
    struct site *site = mutate_pick_site(m, mutate_sites(m, m->kernel, false));
    uint32_t count = site && site->depth < MUTATE_DEPTH_MAX ? mutate_run(m, site) : 0;
    if (count == 0)
        return false;
    struct ast_stm *list = edit_take(site->slot, count);
    switch (source_weighted(m->choices, weights, KINDS)) {
    case LOOP:
        list = wrap_in_loop(m, site, list);
        break;
    case SWITCH:
        list = wrap_in_switch(m, site, list);
        break;
    case BLOCK:
        list = block_of(m, list);
        break;
    default:
        list = wrap_in_if(m, site, list);
        break;
    }
    edit_put(site->slot, list);
    return true;
}

static bool has_body(const struct ast_stm *stm)
{
    return stm->body || stm->cases;
}

/* for (a; b; c) S: a S; an if: one of its branches, or both; a switch: one case, or all. */
bool mutate_flatten(struct mutation *m)
{
    struct site *site = mutate_pick_where(m, mutate_sites(m, m->kernel, false), has_body);
    if (!site)
        return false;
    struct ast_stm *s = *site->slot, *list = s->init;
    bool first = mutate_chance(m, 50), second = mutate_chance(m, 50);
    if (s->kind == STM_BLOCK || (s->body && (first || !s->other)))
        ast_stm_append(&list, s->kind == STM_BLOCK ? s->body : s->body->body);
    if (s->other && (second || !first))
        ast_stm_append(&list, s->other->body);
    for (struct ast_case *c = s->cases; c; c = c->next)
        if (mutate_chance(m, 50))
            ast_stm_append(&list, c->body);
    edit_splice(site->slot, list);
    return true;
}

/* ---- branches ---- */

static bool is_if(const struct ast_stm *stm)
{
    return stm->kind == STM_IF;
}

static bool has_branches(const struct ast_stm *stm)
{
    return stm->kind == STM_IF || (stm->kind == STM_SWITCH && stm->cases && stm->cases->next);
}

static void copy_case(struct mutation *m, struct ast_stm *stm)
{
    uint32_t count = 0;
    for (const struct ast_case *c = stm->cases; c; c = c->next)
        count++;
    struct ast_case *from = stm->cases, *to = stm->cases;
    for (uint32_t left = mutate_below(m, count); left > 0; left--)
        from = from->next;
    for (uint32_t left = mutate_below(m, count); left > 0; left--)
        to = to->next;
    to->body = ast_stm_list_copy(m->arena, from->body);
}

bool mutate_copy_branch(struct mutation *m)
{
    struct site *site = mutate_pick_where(m, mutate_sites(m, m->kernel, false), has_branches);
    if (!site)
        return false;
    struct ast_stm *s = *site->slot;
    if (s->kind == STM_SWITCH)
        copy_case(m, s);
    else if (s->other && mutate_chance(m, 40))
        s->body = block_of(m, ast_stm_list_copy(m->arena, s->other->body));
    else
        s->other = block_of(m, ast_stm_list_copy(m->arena, s->body->body));
    return true;
}

bool mutate_negate(struct mutation *m)
{
    struct site *site = mutate_pick_where(m, mutate_sites(m, m->kernel, false), is_if);
    if (!site)
        return false;
    struct ast_stm *s = *site->slot;
    if (mutate_chance(m, 50)) {
        s->value = ast_unary(m->arena, UNARY_NOT, s->value);
        return true;
    }
    struct ast_stm *body = s->body;
    s->body = s->other ? s->other : block_of(m, NULL);
    s->other = body;
    return true;
}

/* if (c) jump; where it may jump. */
bool mutate_jump(struct mutation *m)
{
    struct site *site = mutate_pick_site(m, mutate_sites(m, m->kernel, true));
    if (!site)
        return false;
    enum ast_stm_kind kinds[4];
    uint32_t count = 0;
    if (site->breakable)
        kinds[count++] = STM_BREAK;
    if (site->in_loop)
        kinds[count++] = STM_CONTINUE;
    if (count == 0 || mutate_chance(m, 25))
        kinds[count++] = STM_RETURN;
    if (mutate_chance(m, 12))
        kinds[count++] = STM_EXIT;
    struct ast_stm *jump = ast_stm(m->arena, kinds[mutate_below(m, count)], NOWHERE);
    edit_put(site->slot, control(m, STM_IF, mutate_condition(m, site->function), jump));
    return true;
}
