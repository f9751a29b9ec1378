/*
 * Statements: lists, assignments, if. See gen_expr.c on the order of draws.
 */
#include "fuzz/gen/generator.h"

static const struct location nowhere = {0};

struct ast_stm *gen_stm(struct gen *g, enum ast_stm_kind kind)
{
    return ast_stm(g->arena, kind, nowhere);
}

struct ast_stm *gen_set(struct gen *g, struct ast_var *var, struct ast_expr *value)
{
    return ast_assign(g->arena, var, NULL, value, nowhere);
}

/* Whether a statement may stand for a body without braces: others might take an else that is not
 * theirs. */
static bool stands_alone(const struct ast_stm *list)
{
    return list && !list->next && list->kind != STM_IF && list->kind != STM_WHILE &&
           list->kind != STM_FOR;
}

struct ast_stm *gen_block(struct gen *g, struct ast_stm *list)
{
    if (stands_alone(list))
        return list;
    struct ast_stm *block = gen_stm(g, STM_BLOCK);
    block->body = list;
    return block;
}

struct ast_stm *gen_if(struct gen *g, struct ast_expr *condition, struct ast_stm *body,
                       struct ast_stm *other)
{
    struct ast_stm *stm = gen_stm(g, STM_IF);
    stm->value = condition;
    stm->body = gen_block(g, body);
    stm->other = other ? gen_block(g, other) : NULL;
    return stm;
}

void gen_append(struct gen_list *list, struct ast_stm *stms)
{
    *list->end = stms;
    while (*list->end)
        list->end = &(*list->end)->next;
}

/* An assignment reads, then writes: two steps. */
void gen_emit(struct gen *g, const struct gen_place *place, struct gen_list *list,
              struct ast_stm *stm)
{
    g->left--;
    g->cost += place->times * (stm->kind == STM_ASSIGN ? 2 : 1);
    gen_append(list, stm);
}

/* ---- assignments ---- */

static struct ast_lvalue target_slot(struct gen *g)
{
    const struct gen_slot *slot = gen_draw_slot(g);
    return (struct ast_lvalue){.var = slot->var, .index = gen_slot_index(g, slot)};
}

static struct ast_lvalue target_element(struct gen *g, struct ast_var *var)
{
    struct ast_lvalue target = {.var = var};
    if (var->is_array)
        target.index = gen_masked(g, var, gen_index_value(g));
    return target;
}

/* One of a thread's own arrays; there is one. */
static struct ast_lvalue own_element(struct gen *g)
{
    uint32_t i = gen_below(g, g->array_count + (g->scope->array != NULL));
    return target_element(g, i < g->array_count ? g->arrays[i] : g->scope->array);
}

struct ast_lvalue gen_own_target(struct gen *g)
{
    bool arrays = g->array_count > 0 || g->scope->array;
    if (arrays && gen_chance(g, 20))
        return own_element(g);
    return (struct ast_lvalue){.var = gen_draw_private(g)};
}

struct ast_lvalue gen_target(struct gen *g)
{
    bool local = g->scope->array;
    uint32_t banned = 0;
    if (g->array_count + local == 0)
        banned |= GEN_BAN(TARGET, ARRAY);
    if (g->communication != W_COMMUNICATION_RACY)
        banned |= GEN_BAN(TARGET, RACY);
    switch (gen_pick(g, GROUP_TARGET, banned)) {
    case W_TARGET_OWNED:
        return target_slot(g);
    case W_TARGET_ARRAY:
        return own_element(g);
    case W_TARGET_RACY:
        return target_element(g, g->racy[gen_below(g, g->racy_count)]);
    default:
        return (struct ast_lvalue){.var = gen_draw_private(g)};
    }
}

void gen_assign(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    static const enum ast_assign_op ops[] = {
#define ITEM(item) [W_ASSIGN_##item - W_ASSIGN_FIRST] = ASSIGN_##item
        ITEM(SET), ITEM(ADD), ITEM(SUB), ITEM(XOR), ITEM(OR), ITEM(AND), ITEM(MUL),
#undef ITEM
    };
    struct ast_stm *stm = gen_stm(g, STM_ASSIGN);
    stm->target = gen_target(g);
    stm->op = ops[gen_pick(g, GROUP_ASSIGN, 0) - W_ASSIGN_FIRST];
    if (stm->op == ASSIGN_ADD || stm->op == ASSIGN_SUB)
        stm->value = !g->options->small && gen_chance(g, 40) ? gen_value(g) /* or ++, -- */
                                                             : ast_int(g->arena, 1);
    else
        stm->value = gen_value(g);
    gen_emit(g, place, list, stm);
}

/* An assert or assume whose condition may fail in `percent` of 100 cases. */
static void claim(struct gen *g, const struct gen_place *place, struct gen_list *list,
                  enum ast_stm_kind kind, uint32_t percent)
{
    struct ast_stm *stm = gen_stm(g, kind);
    if (gen_chance(g, percent)) {
        stm->value = gen_condition(g);
    } else if (g->scope->counters_open > 0 && gen_chance(g, 40)) {
        struct ast_var *counter = g->scope->counters[gen_below(g, g->scope->counters_open)];
        stm->value = gen_binary_int(g, BINARY_GE, ast_var_ref(g->arena, counter), 0);
    } else if (gen_chance(g, 50)) {
        stm->value = gen_binary_int(g, BINARY_LT, gen_select(g, 4), 4);
    } else {
        stm->value = gen_binary(g, BINARY_LT, gen_builtin(g, BUILTIN_LANE),
                                gen_builtin(g, BUILTIN_WARP_SIZE));
    }
    /* `invariant e;` in a loop, `requires e;` */
    bool may_annotate = !g->graph && !g->options->small && (kind == STM_ASSUME || place->loop);
    stm->annotation = may_annotate && gen_chance(g, 25);
    gen_emit(g, place, list, stm);
}

void gen_assertion(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    claim(g, place, list, STM_ASSERT, 4);
}

/* Where many fail, few executions end well. */
void gen_assumption(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    claim(g, place, list, STM_ASSUME, 25);
}

/* ---- if ---- */

/* A copy of the statements made since `cost` and `left` were so; NULL if they are many, since
 * copies of copies would soon be most of the kernel. */
struct ast_stm *gen_copy(struct gen *g, const struct ast_stm *from, uint32_t cost, int32_t left)
{
    if (left - g->left > GEN_COPY_MAX)
        return NULL;
    g->cost += g->cost - cost;
    g->left -= left - g->left;
    return ast_stm_list_copy(g->arena, from);
}

static void shared_tail(struct gen *g, const struct gen_place *inside, struct gen_list *body,
                        struct gen_list *other)
{
    struct gen_list tail;
    gen_list_init(&tail);
    uint32_t cost = g->cost;
    int32_t left = g->left;
    gen_statements(g, inside, &tail);
    gen_append(body, gen_copy(g, tail.head, cost, left));
    gen_append(other, tail.head);
}

static void if_statement(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct gen_place inside = gen_inside(place);
    struct gen_list body, other;
    gen_list_init(&body);
    gen_list_init(&other);
    inside.uniform = false;
    struct ast_stm *stm = gen_if(g, gen_condition(g), NULL, NULL);
    gen_emit(g, place, list, stm);
    uint32_t cost = g->cost;
    int32_t left = g->left;
    uint32_t branch = gen_pick(g, GROUP_ELSE, left < 2 ? GEN_BAN(ELSE, DIFFERENT) : 0);
    g->left -= branch == W_ELSE_DIFFERENT; /* kept for the other branch */
    if (branch != W_ELSE_EMPTY_THEN)
        gen_statements(g, &inside, &body);
    g->left += branch == W_ELSE_DIFFERENT;
    switch (branch) {
    case W_ELSE_COPY:
        gen_append(&other, gen_copy(g, body.head, cost, left));
        break;
    case W_ELSE_SHARED_TAIL:
        gen_statements(g, &inside, &other);
        shared_tail(g, &inside, &body, &other);
        break;
    case W_ELSE_DIFFERENT:
    case W_ELSE_EMPTY_THEN:
        gen_statements(g, &inside, &other);
        break;
    default:
        break;
    }
    stm->body = gen_block(g, body.head);
    stm->other = other.head ? gen_block(g, other.head) : NULL;
    list->ended |= body.ended && other.ended;
}

/* if (c) f(); [else h();] */
static void call_if(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct gen_place inside = gen_inside(place);
    struct gen_list body, other;
    gen_list_init(&body);
    gen_list_init(&other);
    inside.uniform = false;
    struct ast_expr *condition = gen_chance(g, 50) ? gen_split(g) : gen_condition(g);
    if (gen_chance(g, 35))
        condition = ast_unary(g->arena, UNARY_NOT, condition);
    if (!gen_call_alone(g, &inside, &body, NULL))
        return;
    if (gen_chance(g, 50))
        (void)gen_call_alone(g, &inside, &other, gen_chance(g, 75) ? body.head->function : NULL);
    gen_emit(g, place, list, gen_if(g, condition, body.head, other.head));
}

/* if (tid == 0) b = e; where nobody else writes b: a scalar of the block. */
static void lone_scalar(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    if (!g->beacon)
        g->beacon = gen_file_var(g, 'b', SPACE_SHARED, 1, false);
    struct ast_expr *condition = gen_binary_int(g, BINARY_EQ, gen_builtin(g, BUILTIN_TID), 0);
    struct ast_stm *set = gen_set(g, g->beacon, gen_leaf(g));
    gen_emit(g, place, list, gen_if(g, condition, set, NULL));
}

static void leader_if(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct ast_expr *tid = gen_builtin(g, BUILTIN_TID), *condition;
    switch (gen_pick(g, GROUP_LEADER, 0)) {
    case W_LEADER_WARP:
        condition = gen_binary_int(g, BINARY_EQ, gen_builtin(g, BUILTIN_LANE), 0);
        break;
    case W_LEADER_LAST:
        condition = gen_binary(g, BINARY_EQ, tid,
                               gen_binary_int(g, BINARY_SUB, gen_builtin(g, BUILTIN_THREADS), 1));
        break;
    case W_LEADER_FIRST_WARP:
        condition = gen_binary_int(g, BINARY_EQ, gen_builtin(g, BUILTIN_WARP), 0);
        break;
    case W_LEADER_GRID:
        condition = gen_binary_int(g, BINARY_EQ, gen_thread(g, true), 0);
        break;
    default:
        condition = gen_binary_int(g, BINARY_EQ, tid, 0);
        break;
    }
    struct gen_place inside = gen_inside(place);
    struct gen_list body, other;
    gen_list_init(&body);
    gen_list_init(&other);
    inside.uniform = false;
    struct ast_stm *stm = gen_if(g, condition, NULL, NULL);
    gen_emit(g, place, list, stm);
    gen_statements(g, &inside, &body);
    if (gen_chance(g, 15))
        gen_statements(g, &inside, &other);
    stm->body = gen_block(g, body.head);
    stm->other = other.head ? gen_block(g, other.head) : NULL;
}

/* ---- lists ---- */

/* Jumps that are illegal here; and where a thread may end: within nesting, since the statements
 * after an end for all threads would be dead, and not often. */
static uint32_t jump_bans(const struct gen *g, const struct gen_place *place)
{
    uint32_t banned = 0;
    bool in_main = g->calls_open == 0;
    if (in_main)
        banned |= GEN_BAN(STM, FUNCTION_RETURN) | GEN_BAN(STM, FUNCTION_EXIT);
    bool calm = place->loop && place->loop->calm;
    if (!place->in_switch && (!place->loop || calm))
        banned |= GEN_BAN(STM, BREAK);
    if (!place->loop || calm || !place->loop->continues)
        banned |= GEN_BAN(STM, CONTINUE);
    if (place->calm)
        banned |= GEN_BAN(STM, RETURN) | GEN_BAN(STM, FUNCTION_RETURN) | GEN_BAN(STM, EXIT) |
                  GEN_BAN(STM, FUNCTION_EXIT);
    if (g->calm_calls)
        banned |= GEN_BAN(STM, EXIT) | GEN_BAN(STM, FUNCTION_EXIT);
    /* Small kernels have bare jumps only: an if around them is a statement of its own. */
    if ((in_main && g->ends >= GEN_ENDS) || (g->options->small && place->depth == 0))
        banned |= GEN_BAN(STM, RETURN) | GEN_BAN(STM, EXIT);
    return banned;
}

static uint32_t statement_bans(const struct gen *g, const struct gen_place *place)
{
    uint32_t banned = jump_bans(g, place);
    bool affords = place->times == 1 || gen_affords(g, place->times, 4);
    if (place->depth >= g->max_depth || g->left < 2 || !affords)
        banned |= GEN_BAN(STM, IF) | GEN_BAN(STM, LEADER) | GEN_BAN(STM, LOOP) |
                  GEN_BAN(STM, SWITCH) | GEN_BAN(STM, SPIN);
    if (!gen_affords(g, place->times, GEN_TRIP_COST))
        banned |= GEN_BAN(STM, LOOP);
    if (g->left < 2 || !gen_may_call(g, place))
        banned |= GEN_BAN(STM, CALL) | GEN_BAN(STM, CALL_IF);
    if (g->racy_count == 0 && !g->private_atomics)
        banned |= GEN_BAN(STM, ATOMIC);
    if (!gen_may_wait(g, place))
        banned |= GEN_BAN(STM, BARRIER);
    if (g->rare != W_RARE_VOTES)
        banned |= GEN_BAN(STM, VOTE);
    if (g->rare != W_RARE_CHOICES)
        banned |= GEN_BAN(STM, CHOICE);
    if (g->rare != W_RARE_ASSUMES)
        banned |= GEN_BAN(STM, ASSUME);
    return banned;
}

static void simple(struct gen *g, const struct gen_place *place, struct gen_list *list,
                   enum ast_stm_kind kind)
{
    gen_emit(g, place, list, gen_stm(g, kind));
}

void gen_statement(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    switch (gen_pick(g, GROUP_STM, statement_bans(g, place))) {
    case W_STM_IF:
        if_statement(g, place, list);
        break;
    case W_STM_LEADER:
        if (gen_chance(g, 15))
            lone_scalar(g, place, list);
        else
            leader_if(g, place, list);
        break;
    case W_STM_LOOP:
        gen_loop(g, place, list);
        break;
    case W_STM_SWITCH:
        gen_switch(g, place, list);
        break;
    case W_STM_BREAK:
        gen_jump(g, place, list, STM_BREAK);
        break;
    case W_STM_CONTINUE:
        gen_jump(g, place, list, STM_CONTINUE);
        break;
    case W_STM_RETURN:
    case W_STM_FUNCTION_RETURN:
        gen_jump(g, place, list, STM_RETURN);
        break;
    case W_STM_EXIT:
    case W_STM_FUNCTION_EXIT:
        gen_jump(g, place, list, STM_EXIT);
        break;
    case W_STM_CALL:
        gen_call(g, place, list);
        break;
    case W_STM_CALL_IF:
        call_if(g, place, list);
        break;
    case W_STM_ASSERT:
        gen_assertion(g, place, list);
        break;
    case W_STM_SKIP:
        simple(g, place, list, STM_SKIP);
        break;
    case W_STM_MEMBAR:
        simple(g, place, list, STM_MEMBAR);
        break;
    case W_STM_SPIN:
        gen_spin(g, place, list);
        break;
    case W_STM_BARRIER:
        gen_barrier(g, place, list);
        break;
    case W_STM_ATOMIC:
        gen_atomic(g, place, list);
        break;
    case W_STM_VOTE:
        gen_vote(g, place, list);
        break;
    case W_STM_ASSUME:
        gen_assumption(g, place, list);
        break;
    case W_STM_CHOICE:
        gen_choice(g, place, list);
        break;
    default:
        gen_assign(g, place, list);
        break;
    }
}

/* Dead code after a jump is rare, but there. (Small kernels have it at the end of a body only, which
 * keeps those of different sizes different.) */
static bool goes_on(struct gen *g, const struct gen_list *list)
{
    return !list->ended || (!g->options->small && gen_chance(g, 10));
}

void gen_statements(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    /* Small kernels ask after each statement whether another one follows: a number drawn before, but
     * not reached, would give the enumerator the same kernel twice. */
    bool small = g->options->small;
    uint32_t count = small ? 0 : 1 + gen_below(g, 4);
    do {
        gen_statement(g, place, list);
        count--;
    } while (g->left > 0 && g->cost < g->budget && goes_on(g, list) &&
             (small ? gen_chance(g, 50) : count > 0));
}

void gen_body(struct gen *g, struct gen_list *list, bool uniform)
{
    struct gen_place place = {.times = 1, .uniform = uniform, .depth = !uniform};
    do {
        gen_statement(g, &place, list);
    } while (g->left > 0 && (g->options->small || goes_on(g, list)));
}
