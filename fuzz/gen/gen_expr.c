/*
 * Expressions. The arguments of a C call are evaluated in no fixed order, so at most one of them may
 * draw: what draws twice goes through variables.
 */
#include "fuzz/gen/generator.h"

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

int32_t gen_small_int(struct gen *g, uint32_t bound)
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

const struct gen_slot *gen_draw_slot(struct gen *g)
{
    uint32_t i = gen_below(g, g->shared_count + g->global_count);
    return i < g->shared_count ? &g->shared[i] : &g->global[i - g->shared_count];
}

static struct ast_expr *value(struct gen *g, uint32_t depth);

struct ast_expr *gen_index_value(struct gen *g)
{
    if (g->options->small || g->reads_open == GEN_READS || !gen_chance(g, 15))
        return gen_leaf(g);
    g->reads_open++;
    struct ast_expr *any = value(g, 1);
    g->reads_open--;
    return any;
}

static struct ast_expr *read_slot(struct gen *g)
{
    const struct gen_slot *slot = gen_draw_slot(g);
    return ast_index(g->arena, slot->var, gen_slot_index(g, slot));
}

/* Some thread's slot, often not one's own. */
static struct ast_expr *read_neighbour(struct gen *g)
{
    const struct gen_slot *slot = gen_draw_slot(g);
    struct ast_expr *index = gen_thread(g, slot->var->space == SPACE_GLOBAL);
    switch (gen_below(g, 3)) {
    case 0:
        index = gen_binary_int(g, BINARY_ADD, index, 1 + (int32_t)gen_below(g, 3));
        break;
    case 1:
        index = gen_binary_int(g, BINARY_XOR, index, 1 << gen_below(g, 3));
        break;
    default:
        index = gen_index_value(g);
        break;
    }
    return ast_index(g->arena, slot->var, gen_masked(g, slot->var, index));
}

struct ast_expr *gen_read_racy(struct gen *g)
{
    struct ast_var *var = g->racy[gen_below(g, g->racy_count)];
    if (!var->is_array)
        return ast_var_ref(g->arena, var);
    return ast_index(g->arena, var, gen_masked(g, var, gen_index_value(g)));
}

struct ast_expr *gen_read_input(struct gen *g)
{
    struct ast_var *var = g->inputs[gen_below(g, g->input_count)];
    bool of_grid = var->space == SPACE_GLOBAL;
    struct ast_expr *index = gen_thread(g, of_grid);
    uint32_t threads = of_grid ? g->total_threads : g->kernel->launch.threads;
    if (gen_chance(g, 25))
        index = gen_masked(g, var, gen_index_value(g));
    else if (var->length < threads)
        index = gen_masked(g, var, index);
    return ast_index(g->arena, var, index);
}

static struct ast_expr *read_array(struct gen *g)
{
    bool local = g->scope->array;
    uint32_t i = gen_below(g, g->array_count + local);
    struct ast_var *var = i < g->array_count ? g->arrays[i] : g->scope->array;
    return ast_index(g->arena, var, gen_masked(g, var, gen_index_value(g)));
}

/* ---- values ---- */

struct ast_var *gen_draw_private(struct gen *g)
{
    const struct gen_scope *scope = g->scope;
    uint32_t guards = g->graph ? scope->temp_count : 0; /* each is set anew in front of its goto */
    uint32_t i = gen_below(g, scope->value_count + g->private_count + guards);
    if (i < scope->value_count)
        return scope->values[i];
    i -= scope->value_count;
    return i < g->private_count ? g->privates[i] : scope->temps[i - g->private_count];
}

uint32_t gen_counter_count(const struct gen *g)
{
    return g->scope->counters_open + (g->scope->depth != NULL);
}

struct ast_expr *gen_read_counter(struct gen *g)
{
    uint32_t i = gen_below(g, gen_counter_count(g));
    return ast_var_ref(g->arena,
                       i < g->scope->counters_open ? g->scope->counters[i] : g->scope->depth);
}

static struct ast_expr *constant(struct gen *g)
{
    static const int32_t edges[] = {-1, INT32_MAX, INT32_MIN, 31, 32, 33, 65535, -2, -3, -100};
    switch (gen_pick(g, GROUP_CONSTANT, 0)) {
    case W_CONSTANT_TINY:
        return ast_int(g->arena, gen_small_int(g, 4));
    case W_CONSTANT_SMALL:
        return ast_int(g->arena, (int32_t)gen_below(g, 80) - 16);
    case W_CONSTANT_BIT:
        return ast_int(g->arena, 1 << gen_below(g, 31));
    default:
        return ast_int(g->arena, edges[gen_below(g, 10)]);
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
    if (gen_counter_count(g) == 0)
        banned |= GEN_BAN(LEAF, COUNTER);
    if (g->input_count == 0)
        banned |= GEN_BAN(LEAF, INPUT);
    if (g->array_count == 0 && !g->scope->array)
        banned |= GEN_BAN(LEAF, ARRAY);
    if (g->communication != W_COMMUNICATION_NEIGHBOUR)
        banned |= GEN_BAN(LEAF, NEIGHBOUR);
    if (g->communication != W_COMMUNICATION_RACY)
        banned |= GEN_BAN(LEAF, RACY);
    if (g->own_only)
        banned |= GEN_BAN(LEAF, OWNED) | GEN_BAN(LEAF, INPUT) | GEN_BAN(LEAF, NEIGHBOUR) |
                  GEN_BAN(LEAF, RACY);
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
        expr = ast_var_ref(g->arena, gen_draw_private(g));
        break;
    case W_LEAF_BUILTIN:
        expr = builtin(g);
        break;
    case W_LEAF_COUNTER:
        expr = gen_read_counter(g);
        break;
    case W_LEAF_OWNED:
        expr = read_slot(g);
        break;
    case W_LEAF_INPUT:
        expr = gen_read_input(g);
        break;
    case W_LEAF_ARRAY:
        expr = read_array(g);
        break;
    case W_LEAF_NEIGHBOUR:
        expr = read_neighbour(g);
        break;
    case W_LEAF_RACY:
        expr = gen_read_racy(g);
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

struct ast_expr *gen_read(struct gen *g)
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

/* -1, and what is -1 or -2: for divisors, whose quotients then overflow or keep nothing but a sign. */
static struct ast_expr *minus_one(struct gen *g, struct ast_expr *b)
{
    if (b->kind == EXPR_INT || gen_chance(g, 50))
        return ast_int(g->arena, -1);
    return ast_unary(g->arena, UNARY_COMPLEMENT, low_bits(g, b, 1));
}

/* Around the width of a number: the last bit that is left, none. */
static struct ast_expr *at_the_width(struct gen *g, struct ast_expr *b)
{
    if (b->kind == EXPR_INT || gen_chance(g, 50))
        return ast_int(g->arena, 30 + (int32_t)gen_below(g, 3));
    return gen_binary_int(g, BINARY_ADD, low_bits(g, b, 3), 29);
}

static struct ast_expr *binary(struct gen *g, struct ast_expr *a, struct ast_expr *b)
{
    enum ast_binary op = binaries[gen_pick(g, GROUP_BINARY, 0) - W_BINARY_FIRST];
    if ((op == BINARY_DIV || op == BINARY_REM) && !g->options->small && gen_chance(g, 20))
        b = minus_one(g, b);
    if ((op == BINARY_SHL || op == BINARY_SHR) && !g->options->small && gen_chance(g, 30))
        b = at_the_width(g, b);
    return gen_binary(g, op, a, b);
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
        return binary(g, a, b);
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
