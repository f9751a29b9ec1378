/*
 * Loops, switches, jumps: what takes the lanes of a warp apart. See gen_expr.c on the order of draws.
 */
#include "fuzz/gen/generator.h"

#include "engine/base/invariant.h"

/* ---- loops ---- */

struct ast_var *gen_open_counter(struct gen *g)
{
    struct gen_scope *scope = g->scope;
    INVARIANT(scope->counters_open < GEN_COUNTERS);
    if (scope->counters_open == scope->counters_made)
        scope->counters[scope->counters_made++] = gen_local(g, 'i');
    return scope->counters[scope->counters_open++];
}

static struct ast_stm *count(struct gen *g, struct ast_var *counter, enum ast_assign_op op)
{
    struct ast_stm *stm = gen_set(g, counter, ast_int(g->arena, 1));
    stm->op = op;
    return stm;
}

static struct ast_stm *loop_stm(struct gen *g, enum ast_stm_kind kind, struct ast_expr *condition,
                                struct ast_stm *body)
{
    struct ast_stm *stm = gen_stm(g, kind);
    stm->value = condition;
    stm->body = gen_block(g, body);
    return stm;
}

/* A reasonable number that the budget allows. */
static uint32_t most_trips(const struct gen *g, const struct gen_place *place)
{
    uint32_t trips = g->options->small ? 2 : 9;
    while (trips > 1 && !gen_affords(g, place->times, GEN_TRIP_COST * trips))
        trips--;
    return trips;
}

/* The loop of a form around its body; what must stand before it goes to `before`. */
static struct ast_stm *assemble(struct gen *g, uint32_t form, struct ast_var *counter,
                                struct ast_expr *bound, struct ast_stm *body,
                                struct gen_list *before)
{
    struct ast_expr *i = ast_var_ref(g->arena, counter);
    struct ast_stm *start = gen_set(g, counter, ast_int(g->arena, 0));
    struct ast_stm *up = count(g, counter, ASSIGN_ADD), *loop;
    struct ast_expr *more = gen_binary(g, BINARY_LT, i, bound);
    switch (form) {
    case W_LOOP_WHILE:
        gen_append(before, start);
        up->next = body;
        return loop_stm(g, STM_WHILE, more, up);
    case W_LOOP_WHILE_LAST:
        gen_append(before, start);
        ast_stm_append(&body, up);
        return loop_stm(g, STM_WHILE, more, body);
    case W_LOOP_DO:
        gen_append(before, start);
        up->next = body;
        return loop_stm(g, STM_DO, more, up);
    case W_LOOP_DOWN:
        loop = loop_stm(g, STM_FOR, gen_binary_int(g, BINARY_GT, i, 0), body);
        start->value = bound;
        loop->init = start;
        loop->step = count(g, counter, ASSIGN_SUB);
        return loop;
    case W_LOOP_FOR_EVER: {
        struct ast_stm *leave =
            gen_if(g, gen_binary(g, BINARY_GE, i, bound), gen_stm(g, STM_BREAK), NULL);
        leave->next = body;
        loop = loop_stm(g, STM_FOR, NULL, leave);
        loop->init = start;
        loop->step = up;
        return loop;
    }
    case W_LOOP_WHILE_EVER: {
        struct ast_stm *leave =
            gen_if(g, gen_binary(g, BINARY_GT, i, bound), gen_stm(g, STM_BREAK), NULL);
        gen_append(before, start);
        up->next = leave;
        leave->next = body;
        return loop_stm(g, STM_WHILE, ast_int(g->arena, 1), up);
    }
    default:
        loop = loop_stm(g, STM_FOR, more, body);
        loop->init = start;
        loop->step = up;
        return loop;
    }
}

/* A break two levels up goes through a flag, as in C without labels. */
static void leave_outer(struct gen *g, struct gen_list *list, struct ast_var *flag)
{
    struct ast_expr *set = ast_var_ref(g->arena, flag);
    gen_append(list, gen_if(g, set, gen_stm(g, STM_BREAK), NULL));
}

/* Something else than counting, for the head of a `for`: one statement without parts; NULL: none. */
static struct ast_stm *head_part(struct gen *g, const struct gen_place *place)
{
    struct gen_list list;
    gen_list_init(&list);
    switch (gen_below(g, 5)) {
    case 0:
        if (gen_has(g, FEATURE_ATOMICS) && (g->racy_count > 0 || g->private_atomics))
            gen_atomic(g, place, &list);
        break;
    case 1:
        if (gen_has(g, FEATURE_CALLS) && g->left > 1 && gen_may_call(g, place))
            gen_call(g, place, &list);
        break;
    case 2:
        if (gen_has(g, FEATURE_ASSERTS))
            gen_assertion(g, place, &list);
        break;
    case 3:
        gen_assign(g, place, &list);
        break;
    default:
        break;
    }
    return list.head && !list.head->next ? list.head : NULL;
}

/* while (c) ..  as  for (S; c; T) .. */
static void use_head(struct gen *g, const struct gen_place *place, const struct gen_place *inside,
                     struct ast_stm *loop)
{
    loop->kind = STM_FOR;
    loop->init = head_part(g, place);
    loop->step = head_part(g, inside);
}

static bool may_add_condition(uint32_t form)
{
    return form == W_LOOP_FOR || form == W_LOOP_WHILE || form == W_LOOP_WHILE_LAST ||
           form == W_LOOP_DO;
}

void gen_loop(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    uint32_t trips = most_trips(g, place);
    uint32_t form = gen_pick(g, GROUP_LOOP, 0);
    bool calm = !g->options->small && gen_calm_loop(g, place);
    if (calm)
        trips = 1 + gen_below(g, trips < 3 ? trips : 3);
    struct ast_expr *bound = calm ? ast_int(g->arena, (int32_t)trips) : gen_trips(g, &trips);
    if (form == W_LOOP_DO && trips == 0)
        trips = 1;
    struct gen_loop loop = {.continues = form != W_LOOP_WHILE_LAST,
                            .calm = calm,
                            .in_loop = place->loop && !place->loop->calm && !place->in_switch};
    struct gen_place inside = gen_inside(place);
    inside.times = place->times * (trips ? trips : 1);
    inside.loop = &loop;
    inside.in_switch = false;
    inside.uniform = calm;
    inside.calm |= calm;
    /* Test and step of each trip, the last test, the start, the context that a thread pops; flags. */

    g->cost += place->times * (3 * trips + 5);
    g->left--;
    struct gen_list body;
    gen_list_init(&body);
    struct ast_var *counter = gen_open_counter(g);
    gen_statements(g, &inside, &body);
    struct ast_stm *stm = assemble(g, form, counter, bound, body.head, list);
    if (!calm && may_add_condition(form) && gen_has(g, FEATURE_LOGIC) && !g->options->small &&
        gen_chance(g, 18))
        stm->value = gen_binary(g, BINARY_LOGICAL_AND, stm->value, gen_condition(g));
    if (form == W_LOOP_WHILE && !calm && !g->options->small && gen_chance(g, 25))
        use_head(g, place, &inside, stm);
    g->scope->counters_open--;
    if (loop.escape)
        gen_append(list, gen_set(g, loop.escape, ast_int(g->arena, 0)));
    gen_append(list, stm);
    if (loop.escape)
        leave_outer(g, list, loop.escape);
}

/* ---- jumps ---- */

static struct ast_stm *jump_stm(struct gen *g, enum ast_stm_kind kind)
{
    if (kind == STM_RETURN || kind == STM_EXIT)
        g->ends++;
    g->exits += kind == STM_EXIT;
    struct ast_stm *stm = gen_stm(g, kind);
    if (kind == STM_RETURN && g->scope->function->returns_int)
        stm->value = gen_value(g);
    return stm;
}

/* Perhaps an assignment, then the jump. */
static struct ast_stm *jump_branch(struct gen *g, const struct gen_place *inside,
                                   enum ast_stm_kind kind)
{
    struct gen_list list;
    gen_list_init(&list);
    if (!g->options->small && gen_chance(g, 40))
        gen_assign(g, inside, &list);
    gen_emit(g, inside, &list, jump_stm(g, kind));
    return list.head;
}

/* if (c) .. jump; with an else only where the shape has one. */
static struct ast_stm *guarded(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct ast_stm *stm = gen_if(g, gen_condition(g), NULL, NULL);
    gen_emit(g, place, list, stm);
    return stm;
}

static void jump_both(struct gen *g, const struct gen_place *place, struct gen_list *list,
                      enum ast_stm_kind kind)
{
    struct gen_place inside = gen_inside(place);
    struct ast_stm *stm = guarded(g, place, list);
    stm->body = gen_block(g, jump_branch(g, &inside, kind));
    bool may_continue =
        place->loop && place->loop->continues && !place->loop->calm && kind == STM_BREAK;
    if (may_continue && gen_chance(g, 50))
        kind = STM_CONTINUE;
    stm->other = gen_block(g, jump_branch(g, &inside, kind));
    list->ended = true;
}

static void jump_nested(struct gen *g, const struct gen_place *place, struct gen_list *list,
                        enum ast_stm_kind kind)
{
    struct gen_place inside = gen_inside(place), innermost = gen_inside(&inside);
    struct gen_list body;
    gen_list_init(&body);
    struct ast_stm *outer = guarded(g, place, list);
    if (gen_chance(g, 50))
        gen_assign(g, &inside, &body);
    struct ast_stm *inner = guarded(g, &inside, &body);
    inner->body = gen_block(g, jump_branch(g, &innermost, kind));
    if (gen_chance(g, 50))
        gen_assign(g, &inside, &body);
    outer->body = gen_block(g, body.head);
}

/* Sets the flag that the outer loop tests after this one, and breaks. */
static void jump_levels(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct gen_place inside = gen_inside(place);
    if (!place->loop->escape)
        place->loop->escape = gen_local(g, 'e');
    struct ast_stm *stm = guarded(g, place, list);
    struct gen_list body;
    gen_list_init(&body);
    gen_emit(g, &inside, &body, gen_set(g, place->loop->escape, ast_int(g->arena, 1)));
    gen_emit(g, &inside, &body, gen_stm(g, STM_BREAK));
    stm->body = gen_block(g, body.head);
}

static struct ast_case *append_case(struct gen *g, struct ast_case ***end, int32_t value,
                                    struct ast_stm *body)
{
    struct ast_case *c = ARENA_NEW(g->arena, struct ast_case);
    c->value = value;
    c->body = body;
    **end = c;
    *end = &c->next;
    return c;
}

/* The jump in one case of a switch (a break leaves the switch), the next falls in or ends it. */
static void jump_in_switch(struct gen *g, const struct gen_place *place, struct gen_list *list,
                           enum ast_stm_kind kind)
{
    struct gen_place inside = gen_inside(place);
    inside.in_switch = true;
    struct ast_stm *stm = gen_stm(g, STM_SWITCH);
    struct ast_case **end = &stm->cases;
    stm->value = gen_select(g, 2u << gen_below(g, 2));
    gen_emit(g, place, list, stm);
    g->cost += place->times * 6;
    struct gen_list first, last;
    gen_list_init(&first);
    gen_list_init(&last);
    if (gen_chance(g, 50)) {
        gen_assign(g, &inside, &first);
        append_case(g, &end, 1, first.head);
    }
    append_case(g, &end, 0, jump_branch(g, &inside, kind));
    if (gen_chance(g, 60)) {
        gen_assign(g, &inside, &last);
        append_case(g, &end, 2, last.head)->is_default = gen_chance(g, 50);
    }
}

void gen_jump(struct gen *g, const struct gen_place *place, struct gen_list *list,
              enum ast_stm_kind kind)
{
    uint32_t banned = 0;
    if (place->depth == 0) /* everything after it would be dead */
        banned |= GEN_BAN(JUMP, BARE) | GEN_BAN(JUMP, BOTH);
    if (kind != STM_BREAK || place->in_switch || !place->loop->in_loop)
        banned |= GEN_BAN(JUMP, LEVELS);
    switch (gen_pick(g, GROUP_JUMP, banned)) {
    case W_JUMP_BARE:
        gen_emit(g, place, list, jump_stm(g, kind));
        list->ended = true;
        break;
    case W_JUMP_BOTH:
        jump_both(g, place, list, kind);
        break;
    case W_JUMP_SWITCH:
        jump_in_switch(g, place, list, kind);
        break;
    case W_JUMP_NESTED:
        jump_nested(g, place, list, kind);
        break;
    case W_JUMP_LEVELS:
        jump_levels(g, place, list);
        break;
    default: {
        struct gen_place inside = gen_inside(place);
        struct ast_stm *stm = guarded(g, place, list);
        stm->body = gen_block(g, jump_branch(g, &inside, kind));
        break;
    }
    }
}

/* ---- switch ---- */

static void end_case(struct gen *g, const struct gen_place *inside, struct gen_list *body,
                     enum ast_stm_kind kind, bool guard)
{
    if (body->ended)
        return;
    if (guard) {
        struct ast_stm *stm = guarded(g, inside, body);
        stm->body = jump_stm(g, kind);
        return;
    }
    gen_emit(g, inside, body, jump_stm(g, kind));
}

/* The case before, and what it cost. */
struct case_before {
    const struct ast_case *stm;
    uint32_t cost;
    int32_t left;
};

static void case_body(struct gen *g, const struct gen_place *inside, struct gen_list *body,
                      const struct case_before *before)
{
    uint32_t banned = 0;
    if (!inside->loop || inside->loop->calm || !inside->loop->continues)
        banned |= GEN_BAN(CASE, CONTINUE);
    if (inside->calm || (g->calls_open == 0 && g->ends >= GEN_ENDS))
        banned |= GEN_BAN(CASE, RETURN);
    if (!before->stm || before->left - g->left > GEN_COPY_MAX)
        banned |= GEN_BAN(CASE, SAME);
    uint32_t ending = gen_pick(g, GROUP_CASE, banned);
    if (ending == W_CASE_SAME) {
        body->head = gen_copy(g, before->stm->body, before->cost, before->left);
        return;
    }
    if (ending != W_CASE_EMPTY)
        gen_statements(g, inside, body);
    if (ending == W_CASE_BREAK)
        end_case(g, inside, body, STM_BREAK, false);
    if (ending == W_CASE_GUARDED_BREAK)
        end_case(g, inside, body, STM_BREAK, true);
    if (ending == W_CASE_CONTINUE)
        end_case(g, inside, body, STM_CONTINUE, gen_chance(g, 30));
    if (ending == W_CASE_RETURN)
        end_case(g, inside, body, STM_RETURN, gen_chance(g, 50));
}

void gen_switch(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct gen_place inside = gen_inside(place);
    inside.in_switch = true;
    inside.uniform = false;
    uint32_t count = 2u << gen_below(g, 2);
    struct ast_stm *stm = gen_stm(g, STM_SWITCH);
    struct ast_case **end = &stm->cases;
    struct case_before before = {0};
    stm->value = gen_select(g, count);
    int32_t least = 0; /* of the cases' values */
    if (!g->options->small && gen_chance(g, 15)) {
        least = 1 - (int32_t)gen_below(g, 4);
        stm->value = gen_binary_int(g, BINARY_ADD, stm->value, least);
    }
    gen_emit(g, place, list, stm);
    g->cost += place->times * (3 * count);
    bool descending = gen_chance(g, 20), has_default = gen_chance(g, 50);
    for (uint32_t i = 0; i < count + has_default; i++) {
        if (i < count && gen_chance(g, 12))
            continue;
        struct gen_list body;
        gen_list_init(&body);
        uint32_t cost = g->cost;
        int32_t left = g->left;
        case_body(g, &inside, &body, &before);
        int32_t value = least + (int32_t)(descending ? count - 1 - i : i);
        struct ast_case *c = append_case(g, &end, i < count ? value : 0, body.head);
        c->is_default = i == count;
        before = (struct case_before){.stm = c, .cost = cost, .left = left};
    }
    if (!stm->cases)
        append_case(g, &end, 0, NULL);
}
