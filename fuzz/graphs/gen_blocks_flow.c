/*
 * Branches, loops, switches and jumps of kernels in block form. See gen_expr.c on the order of draws.
 */
#include "fuzz/graphs/gen_blocks.h"

#include "engine/base/invariant.h"

/* ---- helpers ---- */

static void set(struct gen *g, const struct gen_place *place, struct ast_var *var,
                struct ast_expr *value)
{
    gen_emit(g, place, &g->graph->list, gen_set(g, var, value));
}

static struct ast_expr *read(struct gen *g, struct ast_var *var)
{
    return ast_var_ref(g->arena, var);
}

static void assign_maybe(struct gen *g, const struct gen_place *place, uint32_t percent)
{
    if (gen_chance(g, percent))
        gen_assign(g, place, &g->graph->list);
}

/* ---- branches ---- */

/* q = ..; in an arm that q has led to. */
static void assign_guard(struct gen *g, const struct gen_place *inside,
                         const struct ast_expr *holds)
{
    bool plain = holds && holds->kind == EXPR_VAR && !g->options->small;
    if (!plain || !gen_chance(g, 8))
        return;
    set(g, inside, holds->var, gen_leaf(g));
    if (gen_chance(g, 60))
        gen_assign(g, inside, &g->graph->list);
}

/* As a number is negated: not by another negation. */
static struct ast_expr *negation(struct gen *g, struct ast_expr *holds)
{
    bool is_negation = holds->kind == EXPR_UNARY && holds->unary == UNARY_NOT;
    return is_negation ? holds->a : ast_unary(g->arena, UNARY_NOT, holds);
}

/* q, with q = .. in front of the goto; or an expression of what the thread owns, which nothing changes in between; or
 * of memory (not WF.1). */
static struct ast_expr *guard_of_then(struct gen *g, const struct gen_place *place, uint32_t guard)
{
    if (guard == W_GUARD_DIRECT)
        return gen_own_condition(g);
    if (guard == W_GUARD_MEMORY)
        return gen_memory_condition(g);
    struct ast_var *temp = gen_temp(g);
    set(g, place, temp, gen_condition(g));
    return gen_guard(g, temp, false);
}

void gen_block_if(struct gen *g, const struct gen_place *place)
{
    struct gen_place inside = gen_inside(place);
    inside.uniform = false;
    uint32_t guard = gen_pick(g, GROUP_GUARD, 0), arms = gen_pick(g, GROUP_ARMS, 0);
    bool complement = guard != W_GUARD_FREE && guard != W_GUARD_OVERLAP;
    struct gen_label join = {.block = gen_block_new(g)};
    struct ast_block *then = gen_block_new(g), *other = gen_block_new(g);
    struct ast_expr *holds = guard == W_GUARD_FREE ? NULL : guard_of_then(g, place, guard);
    struct ast_expr *fails = complement ? negation(g, ast_expr_copy(g->arena, holds)) : NULL;
    gen_block_branch(g, then, other);
    gen_label_push(g, &join);
    gen_block_open(g, &inside, then, holds);
    struct ast_stm *const *first = g->graph->list.end;
    uint32_t cost = g->cost;
    int32_t left = g->left;
    if (arms == W_ARMS_COPY)
        gen_assign(g, &inside, &g->graph->list);
    struct ast_stm *copied = arms == W_ARMS_COPY ? gen_copy(g, *first, cost, left) : NULL;
    assign_guard(g, &inside, holds);
    gen_region(g, &inside);
    if (g->graph->open)
        gen_label_goto(g, &inside, &join);
    gen_block_open(g, &inside, other, fails);
    gen_append(&g->graph->list, copied);
    if (arms == W_ARMS_TWO)
        gen_region(g, &inside);
    if (g->graph->open)
        gen_label_goto(g, &inside, &join);
    gen_label_pop(g, place, &join);
}

/* ---- loops ---- */

struct cycle {
    struct ast_var *counter;
    struct ast_expr *bound;
    struct gen_place inside;
    struct gen_label head, after;
    bool calm; /* equal trips for all: no further conditions, no jumps */
};

/* counter op bound [&& condition] */
static struct ast_expr *again(struct gen *g, const struct cycle *cycle, enum ast_binary op)
{
    struct ast_expr *more =
        gen_binary(g, op, read(g, cycle->counter), ast_expr_copy(g->arena, cycle->bound));
    if (!cycle->calm && gen_has(g, FEATURE_LOGIC) && gen_chance(g, 12))
        more = gen_binary(g, BINARY_LOGICAL_AND, more, gen_condition(g));
    return more;
}

static void count(struct gen *g, const struct cycle *cycle)
{
    set(g, &cycle->inside, cycle->counter,
        gen_binary_int(g, BINARY_ADD, read(g, cycle->counter), 1));
}

/* H: i = i + 1; q = i <= n; goto B, X;   B: body; goto H;   X: */
static void cycle_head(struct gen *g, const struct gen_place *place, struct cycle *cycle)
{
    struct ast_block *body = gen_block_new(g), *leave = gen_block_new(g);
    struct ast_var *temp = gen_temp(g);
    gen_label_goto(g, place, &cycle->head);
    gen_label_push(g, &cycle->after);
    gen_label_push(g, &cycle->head);
    gen_block_open(g, &cycle->inside, cycle->head.block, NULL);
    count(g, cycle);
    assign_maybe(g, &cycle->inside, 20);
    set(g, &cycle->inside, temp, again(g, cycle, BINARY_LE));
    gen_block_branch(g, body, leave);
    gen_block_open(g, &cycle->inside, body, gen_guard(g, temp, false));
    gen_region(g, &cycle->inside);
    if (g->graph->open)
        gen_label_goto(g, &cycle->inside, &cycle->head);
    g->graph->label_count--; /* the head's block is there already */
    gen_block_open(g, place, leave, gen_guard(g, temp, true));
}

/* q = 0 < n; goto H, X;   H: [q] i = i + 1; body; q = i < n; goto H, X;   X: [!q] */
static void cycle_rotated(struct gen *g, const struct gen_place *place, struct cycle *cycle)
{
    struct ast_var *temp = gen_temp(g);
    bool negated = gen_chance(g, 30);
    struct gen_label leave = {
        .block = gen_block_new(g), .guard = temp, .negated = !negated, .used = true};
    cycle->head.guard = temp;
    cycle->head.negated = negated;
    cycle->head.more = again(g, cycle, BINARY_LT);
    cycle->head.otherwise = &leave;
    leave.otherwise = &cycle->head;
    gen_label_goto(g, place, &cycle->head);
    gen_label_push(g, &cycle->after);
    gen_label_push(g, &leave);
    gen_label_push(g, &cycle->head);
    gen_block_open(g, &cycle->inside, cycle->head.block, gen_guard(g, temp, negated));
    count(g, cycle);
    gen_region(g, &cycle->inside);
    if (g->graph->open)
        gen_label_goto(g, &cycle->inside, &cycle->head);
    g->graph->label_count--;
    gen_label_pop(g, place, &leave);
}

/* H: i = i + 1; body;   L: q = i < n; goto T, X;   T: [q] goto H;   X: [!q] */
static void cycle_latch(struct gen *g, const struct gen_place *place, struct cycle *cycle)
{
    struct gen_label latch = {.block = gen_block_new(g)};
    struct ast_block *back = gen_block_new(g), *leave = gen_block_new(g);
    struct ast_var *temp = gen_temp(g);
    gen_block_goto(g, cycle->head.block);
    gen_label_push(g, &cycle->after);
    gen_label_push(g, &latch);
    gen_block_open(g, &cycle->inside, cycle->head.block, NULL);
    count(g, cycle);
    gen_region(g, &cycle->inside);
    if (g->graph->open && (latch.used || gen_chance(g, 30)))
        gen_label_goto(g, &cycle->inside, &latch);
    if (g->graph->open)
        g->graph->label_count--;
    else
        gen_label_pop(g, &cycle->inside, &latch);
    if (!g->graph->open) /* every path has left the loop, which is none */
        return;
    set(g, &cycle->inside, temp, again(g, cycle, BINARY_LT));
    gen_block_branch(g, back, leave);
    gen_block_open(g, &cycle->inside, back, gen_guard(g, temp, false));
    assign_maybe(g, &cycle->inside, 30);
    gen_block_goto(g, cycle->head.block);
    gen_block_open(g, place, leave, gen_guard(g, temp, true));
}

/*
 * CK6: the last block of the inner loop is the last of the outer one too, whose head it may go to.
 *
 *     q = 1; goto H, Z;             Z: [!q] goto after
 *     H: [q] i = i + 1; p = i <= n; goto N0, X;
 *     N0: [p] goto N;               X: [!p]
 *     N: body; q = ..; goto H, B;   B: [!q] goto N
 *
 * The inner loop counts on in the outer one's counter, so both end together.
 */
static void cycle_shared(struct gen *g, const struct gen_place *place, struct cycle *cycle)
{
    struct ast_block *enter = gen_block_new(g), *leave = gen_block_new(g), *past = gen_block_new(g),
                     *inner = gen_block_new(g);
    struct ast_var *entry = gen_temp(g), *temp = gen_temp(g), *steps = gen_open_counter(g);
    struct gen_place inmost = gen_inside(&cycle->inside);
    inmost.times *= 2;
    cycle->head.guard = entry;
    cycle->after.used = true;
    set(g, place, entry, ast_int(g->arena, 1));
    gen_block_branch(g, cycle->head.block, past);
    gen_label_push(g, &cycle->after);
    gen_block_open(g, place, past, gen_guard(g, entry, true));
    gen_block_goto(g, cycle->after.block);
    gen_label_push(g, &cycle->head);
    gen_block_open(g, &cycle->inside, cycle->head.block, gen_guard(g, entry, false));
    count(g, cycle);
    set(g, &cycle->inside, steps, ast_int(g->arena, 0));
    set(g, &cycle->inside, temp, again(g, cycle, BINARY_LE));
    gen_block_branch(g, enter, leave);
    gen_block_open(g, &cycle->inside, enter, gen_guard(g, temp, false));
    assign_maybe(g, &cycle->inside, 30);
    gen_block_goto(g, inner);
    gen_block_open(g, &inmost, inner, NULL);
    set(g, &inmost, steps, gen_binary_int(g, BINARY_ADD, read(g, steps), 1));
    gen_region(g, &inmost);
    if (g->graph->open) {
        struct ast_block *back = gen_block_new(g);
        struct ast_expr *full = gen_binary_int(g, BINARY_GE, read(g, steps), 2);
        if (!cycle->calm)
            full = gen_binary(g, BINARY_LOGICAL_OR, full, gen_condition(g));
        set(g, &inmost, entry, full);
        gen_block_branch(g, cycle->head.block, back);
        gen_block_open(g, &inmost, back, gen_guard(g, entry, true));
        assign_maybe(g, &inmost, 50);
        gen_block_goto(g, inner);
    }
    g->scope->counters_open--;
    g->graph->label_count--;
    gen_block_open(g, place, leave, gen_guard(g, temp, true));
}

static void set_number(struct gen *g, const struct gen_place *place, struct ast_var *k, int32_t n)
{
    set(g, place, k, ast_int(g->arena, n));
}

static struct ast_expr *is(struct gen *g, struct ast_var *k, enum ast_binary op, int32_t n)
{
    return gen_binary_int(g, op, read(g, k), n);
}

/*
 * Three loops whose last block is one, N: their heads are O, H and N itself, behind B.
 *
 *     k = 2; goto O, Z;                        Z: [k < 2] goto after
 *     O: [k >= 2] i = i + 1; s = 0; p = i <= n; goto O0, X;        X: [!p]
 *     O0: [p] k = 1; goto H, W;                W: [k != 1] goto after
 *     H: [k == 1] s = s + 1; t = 0; goto N
 *     N: t = t + 1; body; k = t >= 2 || ..; k = k + (k && s >= 2); goto O, H, B;     B: [k <= 0] goto N
 */
static void cycle_three(struct gen *g, const struct gen_place *place, struct cycle *cycle)
{
    struct ast_block *enter = gen_block_new(g), *leave = gen_block_new(g), *past = gen_block_new(g),
                     *middle = gen_block_new(g), *never = gen_block_new(g),
                     *inner = gen_block_new(g);
    struct ast_var *k = gen_local(g, 'q'), *temp = gen_temp(g);
    struct ast_var *s = gen_open_counter(g), *t = gen_open_counter(g);
    struct gen_place inmost = gen_inside(&cycle->inside);
    inmost.times *= 4;
    cycle->after.used = true;
    set_number(g, place, k, 2);
    gen_block_branch(g, cycle->head.block, past);
    gen_label_push(g, &cycle->after);
    gen_block_open(g, place, past, is(g, k, BINARY_LT, 2));
    gen_block_goto(g, cycle->after.block);
    gen_block_open(g, &cycle->inside, cycle->head.block, is(g, k, BINARY_GE, 2));
    count(g, cycle);
    set_number(g, &cycle->inside, s, 0);
    set(g, &cycle->inside, temp, again(g, cycle, BINARY_LE));
    gen_block_branch(g, enter, leave);
    gen_block_open(g, &cycle->inside, enter, gen_guard(g, temp, false));
    set_number(g, &cycle->inside, k, 1);
    gen_block_branch(g, middle, never);
    gen_block_open(g, &cycle->inside, never, is(g, k, BINARY_NE, 1));
    gen_block_goto(g, cycle->after.block);
    gen_block_open(g, &cycle->inside, middle, is(g, k, BINARY_EQ, 1));
    set(g, &cycle->inside, s, is(g, s, BINARY_ADD, 1));
    set_number(g, &cycle->inside, t, 0);
    gen_block_goto(g, inner);
    gen_block_open(g, &inmost, inner, NULL);
    set(g, &inmost, t, is(g, t, BINARY_ADD, 1));
    gen_region(g, &inmost);
    if (g->graph->open) {
        struct ast_block *targets[] = {cycle->head.block, middle, gen_block_new(g)};
        struct ast_expr *out = gen_condition(g), *last;
        set(g, &inmost, k, gen_binary(g, BINARY_LOGICAL_OR, is(g, t, BINARY_GE, 2), out));
        last = gen_binary(g, BINARY_LOGICAL_AND, read(g, k), is(g, s, BINARY_GE, 2));
        set(g, &inmost, k, gen_binary(g, BINARY_ADD, read(g, k), last));
        gen_block_targets(g, targets, 3);
        gen_block_open(g, &inmost, targets[2], is(g, k, BINARY_LE, 0));
        gen_block_goto(g, inner);
    }
    g->scope->counters_open -= 2;
    gen_block_open(g, place, leave, gen_guard(g, temp, true));
}

static uint32_t most_trips(const struct gen *g, const struct gen_place *place)
{
    uint32_t trips = g->options->small ? 2 : 6;
    while (trips > 1 && !gen_affords(g, place->times, 2 * GEN_TRIP_COST * trips))
        trips--;
    return trips;
}

void gen_block_loop(struct gen *g, const struct gen_place *place)
{
    struct cycle cycle = {0};
    uint32_t outer_calm = g->graph->calm;
    uint32_t trips = most_trips(g, place), banned = 0;
    bool calm = gen_calm_loop(g, place);
    if (g->scope->counters_open + 2 > GEN_COUNTERS)
        banned |= GEN_BAN(CYCLE, SHARED);
    if (calm || g->scope->counters_open + 3 > GEN_COUNTERS ||
        !gen_affords(g, place->times, 8 * GEN_TRIP_COST * trips))
        banned |= GEN_BAN(CYCLE, THREE);
    uint32_t form = gen_pick(g, GROUP_CYCLE, banned);
    cycle.inside = gen_inside(place);
    cycle.inside.times = place->times * (trips + 1);
    if (calm) {
        trips = 1 + gen_below(g, trips < 3 ? trips : 3);
        cycle.bound = ast_int(g->arena, (int32_t)trips);
    } else {
        cycle.bound = gen_trips(g, &trips);
    }
    cycle.calm = calm;
    cycle.inside.uniform = place->uniform && calm;
    cycle.head.block = gen_block_new(g);
    cycle.after.block = gen_block_new(g);
    cycle.counter = gen_open_counter(g);
    set(g, place, cycle.counter, ast_int(g->arena, 0));
    if (calm)
        g->graph->calm = UINT32_MAX;
    else if (outer_calm == UINT32_MAX)
        g->graph->calm = g->graph->label_count; /* its own are not those of a calm loop */
    cycle.inside.calm |= calm;
    switch (form) {
    case W_CYCLE_ROTATED:
        cycle_rotated(g, place, &cycle);
        break;
    case W_CYCLE_LATCH:
        cycle_latch(g, place, &cycle);
        break;
    case W_CYCLE_SHARED:
        cycle_shared(g, place, &cycle);
        break;
    case W_CYCLE_THREE:
        cycle_three(g, place, &cycle);
        break;
    default:
        cycle_head(g, place, &cycle);
        break;
    }
    g->scope->counters_open--;
    g->graph->calm = outer_calm;
    if (g->graph->open && cycle.after.used) {
        assign_maybe(g, place, 30);
        gen_block_goto(g, cycle.after.block);
    }
    if (g->graph->open)
        g->graph->label_count--;
    else
        gen_label_pop(g, place, &cycle.after);
}

/* ---- switches ---- */

/* That the value is that of target i of n, the outer ones taking the rest of the numbers. */
static struct ast_expr *case_guard(struct gen *g, struct ast_var *temp, uint32_t i, uint32_t n)
{
    enum ast_binary op = i == 0 ? BINARY_LE : i + 1 == n ? BINARY_GE : BINARY_EQ;
    return gen_binary_int(g, op, read(g, temp), (int32_t)i);
}

/* goto with n targets; a case may fall through to the next one, whose second block it goes to. */
void gen_block_switch(struct gen *g, const struct gen_place *place)
{
    enum { CASES = 4 };
    struct gen_place inside = gen_inside(place);
    inside.uniform = false;
    uint32_t n = 3 + gen_below(g, CASES - 2);
    bool is_free = gen_has(g, FEATURE_CHOICES) && gen_chance(g, 10);
    struct ast_var *temp = is_free ? NULL : gen_temp(g);
    struct ast_block *cases[CASES];
    struct gen_label join = {.block = gen_block_new(g)}, bodies[CASES] = {0};
    if (temp)
        set(g, place, temp, gen_select(g, 4));
    for (uint32_t i = 0; i < n; i++) {
        cases[i] = gen_block_new(g);
        bodies[i].block = gen_block_new(g);
    }
    gen_block_targets(g, cases, n);
    gen_label_push(g, &join);
    for (uint32_t i = 0; i < n; i++) {
        gen_block_open(g, &inside, cases[i], temp ? case_guard(g, temp, i, n) : NULL);
        if (bodies[i].used) {
            gen_block_goto(g, bodies[i].block);
            gen_block_open(g, &inside, bodies[i].block, NULL);
        }
        if (!gen_chance(g, 15))
            gen_region(g, &inside);
        if (g->graph->open)
            gen_label_goto(g, &inside, i + 1 < n && gen_chance(g, 25) ? &bodies[i + 1] : &join);
    }
    gen_label_pop(g, place, &join);
}

/* ---- jumps ---- */

static struct gen_label *draw_label(struct gen *g, uint32_t leap)
{
    const struct gen_graph *graph = g->graph;
    uint32_t count = graph->label_count - graph->calm;
    INVARIANT(count > 0);
    uint32_t back = leap == W_LEAP_ANY ? gen_below(g, count) : 0;
    return graph->labels[graph->label_count - 1 - back];
}

void gen_block_jump(struct gen *g, const struct gen_place *place)
{
    uint32_t leap =
        gen_pick(g, GROUP_LEAP, g->ends >= GEN_ENDS || place->calm ? GEN_BAN(LEAP, END) : 0);
    struct gen_label end = {0};
    struct gen_label *label = leap == W_LEAP_END ? &end : draw_label(g, leap);
    g->ends += leap == W_LEAP_END;
    if (gen_chance(g, 20))
        gen_label_goto(g, place, label);
    else
        gen_label_maybe(g, place, label);
}

/* ---- barriers ---- */

void gen_block_barrier(struct gen *g, const struct gen_place *place)
{
    struct gen_place inside = gen_inside(place);
    bool some = place->uniform && g->position != W_POSITION_UNIFORM && gen_chance(g, 50);
    if (!some) {
        gen_barrier(g, place, &g->graph->list);
        return;
    }
    struct ast_var *temp = gen_temp(g);
    struct ast_block *wait = gen_block_new(g), *pass = gen_block_new(g), *join = gen_block_new(g);
    inside.uniform = false;
    set(g, place, temp, gen_some_threads(g));
    gen_block_branch(g, wait, pass);
    gen_block_open(g, &inside, wait, gen_guard(g, temp, false));
    gen_barrier(g, &inside, &g->graph->list);
    gen_block_goto(g, join);
    gen_block_open(g, &inside, pass, gen_guard(g, temp, true));
    if (gen_chance(g, 25))
        gen_barrier(g, &inside, &g->graph->list); /* another one than that of the others */
    gen_block_goto(g, join);
    gen_block_open(g, place, join, NULL);
}
