/*
 * Expressions. The arguments of a C call are evaluated in no fixed order, so at most one of them may
 * draw: what draws twice goes through variables.
 */
#include "fuzz/gen_internal.h"

struct ast_expr *gen_binary(struct gen *g, enum ast_binary op, struct ast_expr *a,
                            struct ast_expr *b)
{
    return ast_binary(g->arena, op, a, b);
}

struct ast_expr *gen_binary_int(struct gen *g, enum ast_binary op, struct ast_expr *a, int32_t b)
{
    return ast_binary(g->arena, op, a, ast_int(g->arena, b));
}

struct ast_expr *gen_builtin(struct gen *g, enum ast_builtin builtin)
{
    return ast_builtin_ref(g->arena, builtin);
}

struct ast_expr *gen_thread(struct gen *g, bool of_grid)
{
    struct ast_expr *tid = gen_builtin(g, BUILTIN_TID);
    if (!of_grid || g->kernel->launch.blocks == 1)
        return tid;
    return gen_binary(
        g, BINARY_ADD,
        gen_binary(g, BINARY_MUL, gen_builtin(g, BUILTIN_BID), gen_builtin(g, BUILTIN_THREADS)),
        tid);
}

/* Below `bound`, small mode keeps to 0 and 1. */
static int32_t small_int(struct gen *g, uint32_t bound)
{
    return (int32_t)gen_below(g, g->options->small ? 2 : bound);
}

/* Items of the table to what they stand for. */
#define ITEM(group, item) [W_##group##_##item - W_##group##_FIRST] = group##_##item
static const enum ast_unary unaries[] = {
    ITEM(UNARY, NEG),
    ITEM(UNARY, NOT),
    ITEM(UNARY, COMPLEMENT),
};
static const enum ast_binary binaries[] = {
    ITEM(BINARY, ADD), ITEM(BINARY, SUB), ITEM(BINARY, AND), ITEM(BINARY, XOR),
    ITEM(BINARY, OR),  ITEM(BINARY, LT),  ITEM(BINARY, LE),  ITEM(BINARY, GT),
    ITEM(BINARY, GE),  ITEM(BINARY, EQ),  ITEM(BINARY, NE),  ITEM(BINARY, MUL),
    ITEM(BINARY, DIV), ITEM(BINARY, REM), ITEM(BINARY, SHL), ITEM(BINARY, SHR),
};
static const enum ast_builtin builtins[] = {
    ITEM(BUILTIN, TID),     ITEM(BUILTIN, LANE),      ITEM(BUILTIN, WARP),   ITEM(BUILTIN, BID),
    ITEM(BUILTIN, THREADS), ITEM(BUILTIN, WARP_SIZE), ITEM(BUILTIN, BLOCKS),
};
#undef ITEM

/* ---- indices ---- */

/* value & mask; a constant by itself. */
static struct ast_expr *low_bits(struct gen *g, struct ast_expr *value, int32_t mask)
{
    if (value->kind != EXPR_INT)
        return gen_binary_int(g, BINARY_AND, value, mask);
    value->value &= mask;
    return value;
}

/* A permutation of the threads' numbers: different threads, different elements. */
struct ast_expr *gen_slot_index(struct gen *g, const struct gen_slot *slot)
{
    bool of_grid = slot->var->space == SPACE_GLOBAL;
    int32_t threads = (int32_t)(of_grid ? g->total_threads : g->kernel->launch.threads);
    int32_t length = (int32_t)(slot->wide ? slot->var->length / 2 : slot->var->length);
    int32_t constant = (int32_t)slot->constant;
    struct ast_expr *index = gen_thread(g, of_grid);
    switch (slot->permute) {
    case W_PERMUTE_REVERSE:
        index = gen_binary(g, BINARY_SUB, ast_int(g->arena, threads - 1), index);
        break;
    case W_PERMUTE_XOR: /* below the power of two, as both are */
        index = gen_binary_int(g, BINARY_XOR, index, constant);
        break;
    case W_PERMUTE_ROTATE:
        index =
            gen_binary_int(g, BINARY_REM, gen_binary_int(g, BINARY_ADD, index, constant), threads);
        break;
    case W_PERMUTE_SCALE: /* an odd factor is invertible modulo a power of two */
        index = gen_binary_int(g, BINARY_AND, gen_binary_int(g, BINARY_MUL, index, constant | 1),
                               length - 1);
        break;
    default:
        break;
    }
    if (!slot->wide)
        return index;
    struct ast_expr *half = low_bits(g, gen_leaf(g), 1);
    return gen_binary(g, BINARY_ADD, gen_binary_int(g, BINARY_MUL, index, 2), half);
}

struct ast_expr *gen_masked(struct gen *g, const struct ast_var *var, struct ast_expr *value)
{
    if (gen_has(g, FEATURE_OOB) && gen_chance(g, 2))
        return value;
    return low_bits(g, value, (int32_t)var->length - 1);
}

static struct ast_expr *read_slot(struct gen *g)
{
    uint32_t i = gen_below(g, g->shared_count + g->global_count);
    const struct gen_slot *slot =
        i < g->shared_count ? &g->shared[i] : &g->global[i - g->shared_count];
    return ast_index(g->arena, slot->var, gen_slot_index(g, slot));
}

/* Some thread's slot, often not one's own. */
static struct ast_expr *read_neighbour(struct gen *g)
{
    uint32_t i = gen_below(g, g->shared_count + g->global_count);
    const struct gen_slot *slot =
        i < g->shared_count ? &g->shared[i] : &g->global[i - g->shared_count];
    struct ast_expr *index = gen_thread(g, slot->var->space == SPACE_GLOBAL);
    switch (gen_below(g, 3)) {
    case 0:
        index = gen_binary_int(g, BINARY_ADD, index, 1 + (int32_t)gen_below(g, 3));
        break;
    case 1:
        index = gen_binary_int(g, BINARY_XOR, index, 1 << gen_below(g, 3));
        break;
    default:
        index = gen_leaf(g);
        break;
    }
    return ast_index(g->arena, slot->var, gen_masked(g, slot->var, index));
}

static struct ast_expr *read_racy(struct gen *g)
{
    struct ast_var *var = g->racy[gen_below(g, g->racy_count)];
    if (!var->is_array)
        return ast_var_ref(g->arena, var);
    return ast_index(g->arena, var, gen_masked(g, var, gen_leaf(g)));
}

static struct ast_expr *read_input(struct gen *g)
{
    struct ast_var *var = g->inputs[gen_below(g, g->input_count)];
    bool of_grid = var->space == SPACE_GLOBAL;
    struct ast_expr *index = gen_thread(g, of_grid);
    uint32_t threads = of_grid ? g->total_threads : g->kernel->launch.threads;
    if (gen_chance(g, 25))
        index = gen_masked(g, var, gen_leaf(g));
    else if (var->length < threads)
        index = gen_masked(g, var, index);
    return ast_index(g->arena, var, index);
}

static struct ast_expr *read_array(struct gen *g)
{
    bool local = g->scope->array;
    uint32_t i = gen_below(g, g->array_count + local);
    struct ast_var *var = i < g->array_count ? g->arrays[i] : g->scope->array;
    return ast_index(g->arena, var, gen_masked(g, var, gen_leaf(g)));
}

/* ---- values ---- */

static struct ast_expr *read_private(struct gen *g)
{
    uint32_t i = gen_below(g, g->scope->value_count + g->private_count);
    return ast_var_ref(g->arena, i < g->scope->value_count
                                     ? g->scope->values[i]
                                     : g->privates[i - g->scope->value_count]);
}

static uint32_t counter_count(const struct gen *g)
{
    return g->scope->counters_open + (g->scope->depth != NULL);
}

static struct ast_expr *read_counter(struct gen *g)
{
    uint32_t i = gen_below(g, counter_count(g));
    return ast_var_ref(g->arena,
                       i < g->scope->counters_open ? g->scope->counters[i] : g->scope->depth);
}

static struct ast_expr *constant(struct gen *g)
{
    static const int32_t edges[] = {-1, INT32_MAX, INT32_MIN, 31, 32, 33, 65535, -2};
    switch (gen_pick(g, GROUP_CONSTANT, 0)) {
    case W_CONSTANT_TINY:
        return ast_int(g->arena, small_int(g, 4));
    case W_CONSTANT_SMALL:
        return ast_int(g->arena, (int32_t)gen_below(g, 80) - 16);
    case W_CONSTANT_BIT:
        return ast_int(g->arena, 1 << gen_below(g, 31));
    default:
        return ast_int(g->arena, edges[gen_below(g, 8)]);
    }
}

static struct ast_expr *builtin(struct gen *g)
{
    return gen_builtin(g, builtins[gen_pick(g, GROUP_BUILTIN, 0) - W_BUILTIN_FIRST]);
}

/* The leaves that this place has nothing for. */
static uint32_t leaf_bans(const struct gen *g)
{
    uint32_t banned = 0;
    if (counter_count(g) == 0)
        banned |= GEN_BAN(LEAF, COUNTER);
    if (g->input_count == 0)
        banned |= GEN_BAN(LEAF, INPUT);
    if (g->array_count == 0 && !g->scope->array)
        banned |= GEN_BAN(LEAF, ARRAY);
    if (g->communication != W_COMMUNICATION_NEIGHBOUR)
        banned |= GEN_BAN(LEAF, NEIGHBOUR);
    if (g->communication != W_COMMUNICATION_RACY)
        banned |= GEN_BAN(LEAF, RACY);
    return banned;
}

/* Indices are leaves themselves; GEN_READS of them are nested at most. */
static struct ast_expr *leaf(struct gen *g, uint32_t banned)
{
    if (g->reads_open == GEN_READS)
        banned |= GEN_BAN(LEAF, OWNED) | GEN_BAN(LEAF, INPUT) | GEN_BAN(LEAF, ARRAY) |
                  GEN_BAN(LEAF, NEIGHBOUR) | GEN_BAN(LEAF, RACY);
    struct ast_expr *expr = NULL;
    g->reads_open++;
    switch (gen_pick(g, GROUP_LEAF, banned | leaf_bans(g))) {
    case W_LEAF_PRIVATE:
        expr = read_private(g);
        break;
    case W_LEAF_BUILTIN:
        expr = builtin(g);
        break;
    case W_LEAF_COUNTER:
        expr = read_counter(g);
        break;
    case W_LEAF_OWNED:
        expr = read_slot(g);
        break;
    case W_LEAF_INPUT:
        expr = read_input(g);
        break;
    case W_LEAF_ARRAY:
        expr = read_array(g);
        break;
    case W_LEAF_NEIGHBOUR:
        expr = read_neighbour(g);
        break;
    case W_LEAF_RACY:
        expr = read_racy(g);
        break;
    default:
        expr = constant(g);
        break;
    }
    g->reads_open--;
    return expr;
}

struct ast_expr *gen_leaf(struct gen *g)
{
    return leaf(g, 0);
}

/* Something that is in memory. */
static struct ast_expr *gen_read(struct gen *g)
{
    return leaf(g, GEN_BAN(LEAF, CONSTANT) | GEN_BAN(LEAF, BUILTIN) | GEN_BAN(LEAF, COUNTER));
}

/* As the parser: a minus before a number belongs to the number. */
static struct ast_expr *unary(struct gen *g, enum ast_unary op, struct ast_expr *a)
{
    if (op != UNARY_NEG || a->kind != EXPR_INT)
        return ast_unary(g->arena, op, a);
    a->value = ast_eval_unary(op, a->value);
    return a;
}

static struct ast_expr *value(struct gen *g, uint32_t depth)
{
    if (depth == 0)
        return gen_leaf(g);
    struct ast_expr *a, *b;
    switch (gen_pick(g, GROUP_EXPR, 0)) {
    case W_EXPR_BINARY:
        a = value(g, depth - 1);
        b = value(g, depth - 1);
        return gen_binary(g, binaries[gen_pick(g, GROUP_BINARY, 0) - W_BINARY_FIRST], a, b);
    case W_EXPR_UNARY:
        a = value(g, depth - 1);
        return unary(g, unaries[gen_pick(g, GROUP_UNARY, 0) - W_UNARY_FIRST], a);
    case W_EXPR_CHOICE:
        a = value(g, depth - 1);
        b = value(g, depth - 1);
        return ast_cond(g->arena, gen_condition(g), a, b);
    case W_EXPR_LOGICAL:
        a = value(g, depth - 1);
        b = value(g, depth - 1);
        return gen_binary(g, gen_chance(g, 50) ? BINARY_LOGICAL_OR : BINARY_LOGICAL_AND, a, b);
    default:
        return gen_leaf(g);
    }
}

struct ast_expr *gen_value(struct gen *g)
{
    return value(g, 2);
}

/* ---- conditions ---- */

static struct ast_expr *compare(struct gen *g, struct ast_expr *a, struct ast_expr *b)
{
    static const enum ast_binary ops[] = {BINARY_EQ, BINARY_LT, BINARY_GE,
                                          BINARY_NE, BINARY_GT, BINARY_LE};
    return gen_binary(g, ops[gen_below(g, 6)], a, b);
}

static struct ast_expr *compare_int(struct gen *g, struct ast_expr *a, uint32_t bound)
{
    int32_t b = (int32_t)gen_below(g, bound);
    return compare(g, a, ast_int(g->arena, b));
}

static struct ast_expr *condition_tid(struct gen *g)
{
    const struct ast_launch *launch = &g->kernel->launch;
    struct ast_expr *tid = gen_builtin(g, BUILTIN_TID), *lane = gen_builtin(g, BUILTIN_LANE);
    if (g->options->small)
        return gen_binary_int(g, BINARY_EQ, tid, small_int(g, 2));
    switch (gen_below(g, 7)) {
    case 0:
        return gen_binary_int(g, BINARY_EQ, tid, (int32_t)gen_below(g, launch->threads));
    case 1:
        return compare_int(g, tid, launch->threads + 1);
    case 2:
        return gen_binary_int(g, BINARY_AND, tid, 1);
    case 3:
        return gen_binary_int(g, BINARY_EQ, gen_binary_int(g, BINARY_REM, tid, 3),
                              (int32_t)gen_below(g, 3));
    case 4:
        return compare_int(g, lane, launch->warp);
    case 5:
        return gen_binary_int(g, BINARY_EQ, gen_binary_int(g, BINARY_AND, lane, 3),
                              (int32_t)gen_below(g, 4));
    default:
        return compare_int(g, gen_thread(g, true), g->total_threads);
    }
}

static struct ast_expr *condition_lane_mask(struct gen *g)
{
    uint32_t width = g->kernel->launch.warp < 30 ? g->kernel->launch.warp : 30;
    int32_t mask = (int32_t)gen_below(g, 1u << width);
    struct ast_expr *lane = gen_builtin(g, gen_chance(g, 25) ? BUILTIN_TID : BUILTIN_LANE);
    return gen_binary_int(g, BINARY_AND, gen_binary(g, BINARY_SHR, ast_int(g->arena, mask), lane),
                          1);
}

static struct ast_expr *condition_counter(struct gen *g)
{
    struct ast_expr *counter = read_counter(g);
    if (g->options->small)
        return gen_binary_int(g, BINARY_EQ, counter, small_int(g, 2));
    switch (gen_below(g, 5)) {
    case 0:
        return compare_int(g, counter, 4);
    case 1:
        return compare(g, counter, gen_builtin(g, BUILTIN_TID));
    case 2:
        return compare(g, counter, gen_builtin(g, BUILTIN_LANE));
    case 3:
        return gen_binary_int(g, BINARY_AND,
                              gen_binary(g, BINARY_ADD, counter, gen_builtin(g, BUILTIN_TID)), 1);
    default:
        return gen_binary_int(g, BINARY_AND, counter, 1);
    }
}

static struct ast_expr *condition_uniform(struct gen *g)
{
    switch (gen_below(g, 4)) {
    case 0:
        return ast_int(g->arena, (int32_t)gen_below(g, 2));
    case 1:
        return compare_int(g, gen_builtin(g, BUILTIN_BID), 2);
    case 2:
        return compare_int(g, gen_builtin(g, BUILTIN_THREADS), 16);
    default:
        return compare_int(g, gen_builtin(g, BUILTIN_WARP_SIZE), 9);
    }
}

/* Looks divergent, is not. */
static struct ast_expr *condition_disguised(struct gen *g)
{
    struct ast_expr *tid = gen_builtin(g, BUILTIN_TID), *lane = gen_builtin(g, BUILTIN_LANE);
    switch (gen_below(g, 6)) {
    case 0:
        return gen_binary_int(g, BINARY_GE, tid, 0);
    case 1:
        return gen_binary(g, BINARY_LT, tid, gen_builtin(g, BUILTIN_THREADS));
    case 2:
        return gen_binary(g, BINARY_GE, lane, gen_builtin(g, BUILTIN_WARP_SIZE));
    case 3:
        return gen_binary(g, BINARY_XOR, tid, gen_builtin(g, BUILTIN_TID));
    case 4:
        return gen_binary_int(g, BINARY_LT, gen_binary_int(g, BINARY_AND, lane, 1), 2);
    default:
        return gen_binary(g, BINARY_EQ, gen_binary(g, BINARY_SUB, tid, lane),
                          gen_binary(g, BINARY_MUL, gen_builtin(g, BUILTIN_WARP),
                                     gen_builtin(g, BUILTIN_WARP_SIZE)));
    }
}

static struct ast_expr *condition_memory(struct gen *g)
{
    struct ast_expr *read = gen_read(g);
    if (g->options->small)
        return read;
    if (gen_chance(g, 30))
        return compare(g, read, gen_leaf(g));
    return compare_int(g, read, 4);
}

static struct ast_expr *condition_direction(struct gen *g)
{
    struct ast_expr *read = read_input(g);
    if (counter_count(g) > 0 && gen_chance(g, 40))
        read = gen_binary(g, BINARY_SHR, read, read_counter(g));
    return gen_binary_int(g, BINARY_AND, read, 1);
}

/* An input with an element for each thread of the block, or NULL. */
static struct ast_var *long_input(const struct gen *g)
{
    for (uint32_t i = 0; i < g->input_count; i++)
        if (g->inputs[i]->length >= g->kernel->launch.threads)
            return g->inputs[i];
    return NULL;
}

/* The read is out of bounds for a thread that must not evaluate it. */
static struct ast_expr *condition_guarded_read(struct gen *g)
{
    struct ast_var *var = long_input(g);
    struct ast_expr *tid = gen_builtin(g, BUILTIN_TID);
    bool after = gen_chance(g, 40);
    struct ast_expr *index = gen_binary_int(g, after ? BINARY_ADD : BINARY_SUB, tid, 1);
    struct ast_expr *read = compare_int(g, ast_index(g->arena, var, index), 4);
    tid = gen_builtin(g, BUILTIN_TID);
    if (after) {
        int32_t length = (int32_t)g->kernel->launch.threads;
        return gen_binary(g, BINARY_LOGICAL_AND, gen_binary_int(g, BINARY_LT, tid, length - 1),
                          read);
    }
    if (gen_chance(g, 50))
        return gen_binary(g, BINARY_LOGICAL_OR, gen_binary_int(g, BINARY_EQ, tid, 0), read);
    return gen_binary(g, BINARY_LOGICAL_AND, gen_binary_int(g, BINARY_GT, tid, 0), read);
}

static struct ast_expr *condition(struct gen *g, uint32_t banned);

static struct ast_expr *condition_logical(struct gen *g)
{
    struct ast_expr *a = condition(g, GEN_BAN(CONDITION, LOGICAL));
    struct ast_expr *b = condition(g, GEN_BAN(CONDITION, LOGICAL));
    switch (gen_below(g, 3)) {
    case 0:
        return gen_binary(g, BINARY_LOGICAL_AND, a, b);
    case 1:
        return gen_binary(g, BINARY_LOGICAL_OR, a, b);
    default:
        return gen_binary(g, BINARY_LOGICAL_AND, ast_unary(g->arena, UNARY_NOT, a), b);
    }
}

static struct ast_expr *condition(struct gen *g, uint32_t banned)
{
    if (counter_count(g) == 0)
        banned |= GEN_BAN(CONDITION, COUNTER);
    if (g->input_count == 0)
        banned |= GEN_BAN(CONDITION, DIRECTION);
    if (!long_input(g))
        banned |= GEN_BAN(CONDITION, GUARDED_READ);
    switch (gen_pick(g, GROUP_CONDITION, banned)) {
    case W_CONDITION_LANE_MASK:
        return condition_lane_mask(g);
    case W_CONDITION_COUNTER:
        return condition_counter(g);
    case W_CONDITION_UNIFORM:
        return condition_uniform(g);
    case W_CONDITION_DISGUISED:
        return condition_disguised(g);
    case W_CONDITION_MEMORY:
        return condition_memory(g);
    case W_CONDITION_DIRECTION:
        return condition_direction(g);
    case W_CONDITION_GUARDED_READ:
        return condition_guarded_read(g);
    case W_CONDITION_LOGICAL:
        return condition_logical(g);
    default:
        return condition_tid(g);
    }
}

struct ast_expr *gen_condition(struct gen *g)
{
    return condition(g, 0);
}

struct ast_expr *gen_split(struct gen *g)
{
    return condition(g, GEN_BAN(CONDITION, UNIFORM) | GEN_BAN(CONDITION, DISGUISED) |
                            GEN_BAN(CONDITION, LOGICAL));
}

/* ---- what switches and loops look at ---- */

struct ast_expr *gen_select(struct gen *g, uint32_t count)
{
    uint32_t banned = 0;
    if (counter_count(g) == 0)
        banned |= GEN_BAN(SELECT, COUNTER);
    if (g->input_count == 0)
        banned |= GEN_BAN(SELECT, DIRECTION);
    struct ast_expr *expr;
    switch (gen_pick(g, GROUP_SELECT, banned)) {
    case W_SELECT_COUNTER:
        expr = read_counter(g);
        break;
    case W_SELECT_MEMORY:
        expr = gen_read(g);
        break;
    case W_SELECT_DIRECTION:
        expr = read_input(g);
        break;
    case W_SELECT_UNIFORM:
        expr = gen_builtin(g, gen_chance(g, 50) ? BUILTIN_WARP : BUILTIN_BID);
        break;
    default:
        expr = gen_builtin(g, gen_chance(g, 30) ? BUILTIN_LANE : BUILTIN_TID);
        if (gen_chance(g, 30))
            expr = gen_binary_int(g, BINARY_SHR, expr, 1);
        break;
    }
    return gen_binary_int(g, BINARY_AND, expr, (int32_t)count - 1);
}

/* Different for the lanes of a warp, where that has several. */
static struct ast_expr *trips_lane(struct gen *g, uint32_t *trips)
{
    const struct ast_launch *launch = &g->kernel->launch;
    uint32_t most = *trips, threads = launch->threads;
    uint32_t lanes = launch->warp < threads ? launch->warp : threads;
    struct ast_expr *tid = gen_builtin(g, BUILTIN_TID), *lane = gen_builtin(g, BUILTIN_LANE);
    uint32_t form = g->options->small ? 0 : gen_below(g, 5);
    if (form == 0 && threads - 1 <= most) {
        *trips = threads - 1;
        return tid;
    }
    if (form <= 1 && lanes - 1 <= most) {
        *trips = lanes - 1;
        return lane;
    }
    *trips = most >= 3 && !g->options->small ? 3 : 1;
    struct ast_expr *number = gen_binary_int(g, BINARY_AND, form & 1 ? tid : lane, (int32_t)*trips);
    if (form == 4)
        return gen_binary(g, BINARY_SUB, ast_int(g->arena, (int32_t)*trips), number);
    return number;
}

static struct ast_expr *trips_constant(struct gen *g, uint32_t trips)
{
    return ast_int(g->arena, (int32_t)trips);
}

struct ast_expr *gen_trips(struct gen *g, uint32_t *trips)
{
    uint32_t most = *trips, warp = g->kernel->launch.warp;
    uint32_t banned = 0;
    if (most < 2)
        banned |= GEN_BAN(TRIPS, TWO);
    if (most < 3)
        banned |= GEN_BAN(TRIPS, FEW);
    if (warp + 1 > most)
        banned |= GEN_BAN(TRIPS, WARP);
    switch (gen_pick(g, GROUP_TRIPS, banned)) {
    case W_TRIPS_ZERO:
        *trips = 0;
        return trips_constant(g, 0);
    case W_TRIPS_TWO:
        *trips = 2;
        return trips_constant(g, 2);
    case W_TRIPS_FEW:
        *trips = 3 + gen_below(g, most < 5 ? most - 2 : 3);
        return trips_constant(g, *trips);
    case W_TRIPS_WARP:
        *trips = warp + 1;
        return gen_binary_int(g, BINARY_ADD, gen_builtin(g, BUILTIN_WARP_SIZE), 1);
    case W_TRIPS_LANE:
        return trips_lane(g, trips);
    case W_TRIPS_MEMORY:
        *trips = most >= 3 ? 3 : 1;
        return gen_binary_int(g, BINARY_AND, gen_read(g), (int32_t)*trips);
    default:
        *trips = 1;
        return trips_constant(g, 1);
    }
}
