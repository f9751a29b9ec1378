/*
 * Conditions, and what switches and loops look at: by which the lanes of a warp part, or only seem to.
 * See gen_expr.c on the order of draws.
 */
#include "fuzz/gen/generator.h"

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
        return gen_binary_int(g, BINARY_EQ, tid, gen_small_int(g, 2));
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
    struct ast_expr *counter = gen_read_counter(g);
    if (g->options->small)
        return gen_binary_int(g, BINARY_EQ, counter, gen_small_int(g, 2));
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

/* A value compared with a number below 0, or one that it passes on the way down. */
static struct ast_expr *compare_below(struct gen *g, struct ast_expr *a)
{
    static const int32_t bounds[] = {-1, 0, -2, INT32_MIN, INT32_MAX};
    int32_t less = 1 + (int32_t)gen_below(g, 4), b = bounds[gen_below(g, 5)];
    if (gen_chance(g, 60))
        a = gen_binary_int(g, BINARY_SUB, a, less);
    return compare(g, a, ast_int(g->arena, b));
}

static struct ast_expr *condition_memory(struct gen *g)
{
    struct ast_expr *read = gen_read(g);
    if (g->options->small)
        return read;
    if (gen_chance(g, 30))
        return compare(g, read, gen_leaf(g));
    if (gen_chance(g, 30))
        return compare_below(g, read);
    return compare_int(g, read, 4);
}

static struct ast_expr *condition_direction(struct gen *g)
{
    struct ast_expr *read = gen_read_input(g);
    if (gen_counter_count(g) > 0 && gen_chance(g, 40))
        read = gen_binary(g, BINARY_SHR, read, gen_read_counter(g));
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

/* A number as it is: it holds where it isn't 0, a negative one too. */
static struct ast_expr *condition_number(struct gen *g)
{
    struct ast_expr *tid = gen_builtin(g, BUILTIN_TID), *lane = gen_builtin(g, BUILTIN_LANE);
    struct ast_expr *leaf;
    switch (gen_below(g, 5)) {
    case 0:
        return gen_read(g);
    case 1:
        return gen_binary_int(g, BINARY_SUB, tid,
                              (int32_t)gen_below(g, g->kernel->launch.threads + 1));
    case 2:
        return ast_unary(g->arena, UNARY_NEG, gen_binary_int(g, BINARY_AND, lane, 1));
    case 3:
        return gen_binary_int(g, BINARY_SUB, gen_binary_int(g, BINARY_AND, lane, 3),
                              1 + (int32_t)gen_below(g, 3));
    default:
        leaf = gen_leaf(g); /* drawn before the constant: arguments have no order in C */
        return gen_binary(g, BINARY_SUB, ast_int(g->arena, (int32_t)gen_below(g, 4)), leaf);
    }
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

/* Conditions in it are others. */
static struct ast_expr *condition_value(struct gen *g)
{
    g->in_condition = true;
    struct ast_expr *any = gen_value(g);
    g->in_condition = false;
    return any;
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
    if (gen_counter_count(g) == 0)
        banned |= GEN_BAN(CONDITION, COUNTER);
    if (g->input_count == 0)
        banned |= GEN_BAN(CONDITION, DIRECTION);
    if (!long_input(g))
        banned |= GEN_BAN(CONDITION, GUARDED_READ);
    if (g->own_only || g->reads_open == GEN_READS)
        banned |= GEN_BAN(CONDITION, DIRECTION) | GEN_BAN(CONDITION, GUARDED_READ);
    if (g->in_condition)
        banned |= GEN_BAN(CONDITION, VALUE);
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
    case W_CONDITION_NUMBER:
        return condition_number(g);
    case W_CONDITION_GUARDED_READ:
        return condition_guarded_read(g);
    case W_CONDITION_LOGICAL:
        return condition_logical(g);
    case W_CONDITION_VALUE:
        return condition_value(g);
    default:
        return condition_tid(g);
    }
}

/* One in twelve is negated as a whole. */
static struct ast_expr *perhaps_negated(struct gen *g, struct ast_expr *holds)
{
    return !g->options->small && gen_chance(g, 8) ? ast_unary(g->arena, UNARY_NOT, holds) : holds;
}

struct ast_expr *gen_condition(struct gen *g)
{
    return perhaps_negated(g, condition(g, 0));
}

struct ast_expr *gen_split(struct gen *g)
{
    return perhaps_negated(g, condition(g, GEN_BAN(CONDITION, UNIFORM) |
                                               GEN_BAN(CONDITION, DISGUISED) |
                                               GEN_BAN(CONDITION, LOGICAL)));
}

struct ast_expr *gen_own_condition(struct gen *g)
{
    g->own_only = true;
    struct ast_expr *holds = gen_condition(g);
    g->own_only = false;
    return holds;
}

struct ast_expr *gen_memory_condition(struct gen *g)
{
    bool racy = g->racy_count > 0 && gen_chance(g, 75);
    struct ast_expr *read = racy ? gen_read_racy(g) : gen_read(g);
    return compare_int(g, read, g->options->small ? 2 : 4);
}

/* ---- what switches and loops look at ---- */

struct ast_expr *gen_select(struct gen *g, uint32_t count)
{
    uint32_t banned = 0;
    if (gen_counter_count(g) == 0)
        banned |= GEN_BAN(SELECT, COUNTER);
    if (g->input_count == 0)
        banned |= GEN_BAN(SELECT, DIRECTION);
    struct ast_expr *expr;
    switch (gen_pick(g, GROUP_SELECT, banned)) {
    case W_SELECT_COUNTER:
        expr = gen_read_counter(g);
        break;
    case W_SELECT_MEMORY:
        expr = gen_read(g);
        break;
    case W_SELECT_DIRECTION:
        expr = gen_read_input(g);
        break;
    case W_SELECT_UNIFORM:
        expr = gen_builtin(g, gen_chance(g, 50) ? BUILTIN_WARP : BUILTIN_BID);
        break;
    case W_SELECT_VALUE:
        expr = gen_value(g);
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
