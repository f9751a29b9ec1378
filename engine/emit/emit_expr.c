/*
 * emit_expr.c - expressions: each is written as the type that is wanted, so that no operation has a value that the
 * language leaves open. Everything is in parentheses: precedence is not what is tested.
 */
#include "engine/emit/emit_internal.h"

#include "engine/language/walk.h"

#include <string.h>

/* A choice whose values are read from memory: the one that is not chosen must not be. WGSL's own choice reads both. */
static bool is_lazy(const struct emitter *e, const struct ast_expr *x)
{
    return e->dialect->is_wgsl && (ast_reads_shared(x->b) || ast_reads_shared(x->c));
}

/* The type in which an expression is written before it is converted. */
static enum emit_type natural_type(const struct emitter *e, const struct ast_expr *x,
                                   enum emit_type want)
{
    switch (x->kind) {
    case EXPR_VAR:
    case EXPR_INDEX:
        return emit_type_of(e, x->var);
    case EXPR_BUILTIN:
        return TYPE_INT;
    case EXPR_UNARY:
        return x->unary == UNARY_NOT ? TYPE_BOOL : TYPE_UINT;
    case EXPR_BINARY:
        switch (x->binary) {
        case BINARY_MUL:
        case BINARY_ADD:
        case BINARY_SUB:
        case BINARY_SHL:
        case BINARY_AND:
        case BINARY_XOR:
        case BINARY_OR:
            return TYPE_UINT;
        case BINARY_DIV:
        case BINARY_REM:
        case BINARY_SHR:
            return TYPE_INT;
        case BINARY_LT:
        case BINARY_LE:
        case BINARY_GT:
        case BINARY_GE:
        case BINARY_EQ:
        case BINARY_NE:
        case BINARY_LOGICAL_AND:
        case BINARY_LOGICAL_OR:
            break;
        }
        return TYPE_BOOL;
    case EXPR_INT:
    case EXPR_COND:
        if (is_lazy(e, x))
            return TYPE_INT;
        break;
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    return want == TYPE_UINT || want == TYPE_ULONG ? TYPE_UINT : TYPE_INT;
}

static void put_literal(struct emitter *e, int32_t value, enum emit_type type)
{
    if (type == TYPE_UINT)
        text_format(e->out, "%uu", (unsigned)value);
    else if (value == INT32_MIN)
        text_put(e->out, "(-2147483647 - 1)");
    else
        text_format(e->out, value < 0 ? "(%d)" : "%d", (int)value);
}

static void put_builtin(struct emitter *e, enum ast_builtin builtin)
{
    const struct emit_dialect *d = e->dialect;
    const struct ast_launch *launch = &e->kernel->launch;
    bool fixed = emit_has(e, EMIT_KNOB_FIXED_SIZE);
    switch (builtin) {
    case BUILTIN_TID:
        text_format(e->out, "%s(%s)", d->casts[TYPE_INT], d->thread);
        return;
    case BUILTIN_BID:
        text_format(e->out, "%s(%s)", d->casts[TYPE_INT], d->block);
        return;
    case BUILTIN_LANE:
        text_format(e->out, "%s(%s %% %uu)", d->casts[TYPE_INT], d->thread, (unsigned)launch->warp);
        return;
    case BUILTIN_WARP:
        text_format(e->out, "%s(%s / %uu)", d->casts[TYPE_INT], d->thread, (unsigned)launch->warp);
        return;
    case BUILTIN_THREADS:
        if (!fixed) {
            text_format(e->out, "%s(", d->casts[TYPE_INT]);
            if (d->is_wgsl)
                text_format(e->out, "k%u_", (unsigned)e->number);
            text_format(e->out, "%s)", d->threads);
            return;
        }
        put_literal(e, (int32_t)launch->threads, TYPE_INT);
        return;
    case BUILTIN_BLOCKS:
        if (!fixed) {
            text_format(e->out, "%s(%s)", d->casts[TYPE_INT], d->blocks);
            return;
        }
        put_literal(e, (int32_t)launch->blocks, TYPE_INT);
        return;
    case BUILTIN_WARP_SIZE:
        put_literal(e, (int32_t)launch->warp, TYPE_INT);
        return;
    case BUILTIN_COUNT:
        break;
    }
}

static void put_unary(struct emitter *e, const struct ast_expr *x)
{
    static const char *const signs[] = {[UNARY_NEG] = "(0u - ", [UNARY_COMPLEMENT] = "(~"};
    if (x->unary == UNARY_NOT) {
        text_put(e->out, "(!");
        emit_expr(e, x->a, TYPE_BOOL);
    } else {
        text_put(e->out, signs[x->unary]);
        emit_expr(e, x->a, TYPE_UINT);
    }
    text_put(e->out, ")");
}

static void put_operands(struct emitter *e, const struct ast_expr *x, enum emit_type type)
{
    text_put(e->out, "(");
    emit_expr(e, x->a, type);
    text_format(e->out, " %s ", ast_binary_names[x->binary]);
    emit_expr(e, x->b, type);
    text_put(e->out, ")");
}

static void put_call(struct emitter *e, const char *name, const struct ast_expr *x,
                     enum emit_type a, enum emit_type b)
{
    text_format(e->out, "%s(", name);
    emit_expr(e, x->a, a);
    text_put(e->out, ", ");
    emit_expr(e, x->b, b);
    text_put(e->out, ")");
}

/* A right operand with which the language's own operator says the same. */
static bool is_plain(const struct ast_expr *b, bool shifts)
{
    if (b->kind != EXPR_INT)
        return false;
    return shifts ? b->value >= 0 && b->value < 32 : b->value != 0 && b->value != -1;
}

static void put_shift(struct emitter *e, const struct ast_expr *x, enum emit_type type)
{
    text_put(e->out, "(");
    emit_expr(e, x->a, type);
    text_format(e->out, " %s %uu)", ast_binary_names[x->binary], (unsigned)x->b->value);
}

/* Functions that compute the same in floats, and in integers of 8 and 16 bits. */
static const struct {
    const char *in_floats, *narrow;
    enum emit_type type; /* of the operands */
    bool swapped;
} other_ways[BINARY_COUNT] = {
    [BINARY_ADD] = {"sf_fadd", "sf_nadd", TYPE_UINT, false},
    [BINARY_SUB] = {"sf_fsub", NULL, TYPE_UINT, false},
    [BINARY_MUL] = {"sf_fmul", "sf_nmul", TYPE_UINT, false},
    [BINARY_XOR] = {NULL, "sf_nxor", TYPE_UINT, false},
    [BINARY_LT] = {"sf_fless", "sf_nless", TYPE_INT, false},
    [BINARY_GT] = {"sf_fless", "sf_nless", TYPE_INT, true},
};

static bool has_helper(const struct emitter *e, const char *name)
{
    for (uint32_t i = 0; name && i < EMIT_HELPERS && e->dialect->helpers[i].name; i++)
        if (strcmp(e->dialect->helpers[i].name, name) == 0)
            return true;
    return false;
}

/* Every third operation; false: it is written as it is. */
static bool put_other_way(struct emitter *e, const struct ast_expr *x)
{
    enum { SHARE = 3 };
    const char *name = emit_has(e, EMIT_KNOB_FLOATS) ? other_ways[x->binary].in_floats : NULL;
    if (emit_has(e, EMIT_KNOB_NARROW) && (!name || e->others % 2))
        name = other_ways[x->binary].narrow;
    if (!has_helper(e, name) || e->others++ % SHARE != 0)
        return false;
    struct ast_expr call = *x;
    call.a = other_ways[x->binary].swapped ? x->b : x->a;
    call.b = other_ways[x->binary].swapped ? x->a : x->b;
    put_call(e, name, &call, other_ways[x->binary].type, other_ways[x->binary].type);
    return true;
}

static void put_binary(struct emitter *e, const struct ast_expr *x)
{
    if (put_other_way(e, x))
        return;
    switch (x->binary) {
    case BINARY_MUL:
    case BINARY_ADD:
    case BINARY_SUB:
    case BINARY_AND:
    case BINARY_XOR:
    case BINARY_OR:
        put_operands(e, x, TYPE_UINT);
        return;
    case BINARY_DIV:
    case BINARY_REM:
        if (is_plain(x->b, false) && (x->binary == BINARY_DIV || e->dialect->has_signed_remainder))
            put_operands(e, x, TYPE_INT);
        else
            put_call(e, x->binary == BINARY_DIV ? "sf_div" : "sf_rem", x, TYPE_INT, TYPE_INT);
        return;
    case BINARY_SHL:
        if (is_plain(x->b, true))
            put_shift(e, x, TYPE_UINT);
        else
            put_call(e, "sf_shl", x, TYPE_UINT, TYPE_UINT);
        return;
    case BINARY_SHR:
        if (is_plain(x->b, true))
            put_shift(e, x, TYPE_INT);
        else
            put_call(e, "sf_shr", x, TYPE_INT, TYPE_UINT);
        return;
    case BINARY_LT:
    case BINARY_LE:
    case BINARY_GT:
    case BINARY_GE:
    case BINARY_EQ:
    case BINARY_NE:
        put_operands(e, x, TYPE_INT);
        return;
    case BINARY_LOGICAL_AND:
    case BINARY_LOGICAL_OR:
        put_operands(e, x, TYPE_BOOL);
        return;
    }
}

/* select(c, b, a), or, since && and || do not evaluate what does not count,
 * sf_take((a && sf_put(&t, b)) || sf_put(&t, c), &t). */
static void put_choice(struct emitter *e, const struct ast_expr *x, enum emit_type type)
{
    const unsigned number = e->number, choice = e->choices;
    if (!is_lazy(e, x)) {
        text_put(e->out, "select(");
        emit_expr(e, x->c, type);
        text_put(e->out, ", ");
        emit_expr(e, x->b, type);
        text_put(e->out, ", ");
        emit_expr(e, x->a, TYPE_BOOL);
        text_put(e->out, ")");
        return;
    }
    e->choices++;
    text_put(e->out, "sf_take((");
    emit_expr(e, x->a, TYPE_BOOL);
    text_format(e->out, " && sf_put(&k%u_t%u, ", number, choice);
    emit_expr(e, x->b, TYPE_INT);
    text_format(e->out, ")) || sf_put(&k%u_t%u, ", number, choice);
    emit_expr(e, x->c, TYPE_INT);
    text_format(e->out, "), &k%u_t%u)", number, choice);
}

static void put_natural(struct emitter *e, const struct ast_expr *x, enum emit_type type)
{
    switch (x->kind) {
    case EXPR_INT:
        put_literal(e, x->value, type);
        return;
    case EXPR_VAR:
    case EXPR_INDEX: {
        struct ast_lvalue place = {.var = x->var, .index = x->kind == EXPR_INDEX ? x->a : NULL};
        bool is_atomic = emit_is_atomic(e, x->var);
        text_put(e->out, is_atomic ? "atomicLoad(&" : "");
        emit_lvalue(e, &place);
        text_put(e->out, is_atomic ? ")" : "");
        return;
    }
    case EXPR_BUILTIN:
        put_builtin(e, x->builtin);
        return;
    case EXPR_UNARY:
        put_unary(e, x);
        return;
    case EXPR_BINARY:
        put_binary(e, x);
        return;
    case EXPR_COND:
        if (e->dialect->is_wgsl) {
            put_choice(e, x, type);
            return;
        }
        text_put(e->out, "(");
        emit_expr(e, x->a, TYPE_BOOL);
        text_put(e->out, " ? ");
        emit_expr(e, x->b, type);
        text_put(e->out, " : ");
        emit_expr(e, x->c, type);
        text_put(e->out, ")");
        return;
    case EXPR_ALL:
    case EXPR_ANY:
        emit_refuse(e, "%s has no 'all' and 'any' of the lock-step form", e->dialect->name);
        return;
    }
}

/* 64-bit variables hold the value extended as they are signed: a 32-bit value first. */
static enum emit_type narrow(enum emit_type type)
{
    return type == TYPE_LONG ? TYPE_INT : type == TYPE_ULONG ? TYPE_UINT : type;
}

static bool is_constant(struct emitter *e, const struct ast_expr *x, int32_t *value);

static bool constant_leaf(void *context, const struct ast_expr *x, int32_t *value)
{
    struct emitter *e = context;
    const struct ast_launch *launch = &e->kernel->launch;
    int32_t a;
    if (x->kind == EXPR_BUILTIN) {
        *value = (int32_t)(x->builtin == BUILTIN_WARP_SIZE ? launch->warp
                           : x->builtin == BUILTIN_BLOCKS  ? launch->blocks
                                                           : launch->threads);
        return x->builtin == BUILTIN_WARP_SIZE ||
               (emit_has(e, EMIT_KNOB_FIXED_SIZE) &&
                (x->builtin == BUILTIN_BLOCKS || x->builtin == BUILTIN_THREADS));
    }
    if (x->kind != EXPR_VAR && x->kind != EXPR_INDEX)
        return false;
    const struct emit_place *place =
        x->var->space == SPACE_GLOBAL ? emit_place_of(e, x->var) : NULL;
    if (!place || !place->is_table)
        return false;
    if (x->kind == EXPR_VAR)
        a = 0;
    else if (!is_constant(e, x->a, &a) || a < 0 || (uint32_t)a >= x->var->length)
        return false;
    *value = e->initial[place->offset + (uint32_t)a];
    return true;
}

/* The value of an expression that WGSL would evaluate when it reads the text, where it refuses what does not fit. */
static bool is_constant(struct emitter *e, const struct ast_expr *x, int32_t *value)
{
    return ast_value(x, constant_leaf, e, value);
}

void emit_expr(struct emitter *e, const struct ast_expr *x, enum emit_type want)
{
    struct ast_expr constant = {.kind = EXPR_INT, .at = x->at};
    if (e->dialect->is_wgsl && is_constant(e, x, &constant.value))
        x = &constant;
    enum emit_type type = natural_type(e, x, want);
    if (type == want) {
        put_natural(e, x, type);
        return;
    }
    if (want == TYPE_BOOL) {
        text_put(e->out, "(");
        if (type == TYPE_LONG || type == TYPE_ULONG)
            emit_expr(e, x, narrow(type));
        else
            put_natural(e, x, type);
        text_put(e->out, type == TYPE_UINT || type == TYPE_ULONG ? " != 0u)" : " != 0)");
        return;
    }
    text_format(e->out, "%s(", e->dialect->casts[want]);
    if (want != narrow(want) && type != narrow(want))
        emit_expr(e, x, narrow(want));
    else
        put_natural(e, x, type);
    text_put(e->out, ")");
}

/* mem[base + index] */
static void put_word(struct emitter *e, const char *base, const struct ast_expr *index)
{
    text_format(e->out, "%s[%s", emit_memory(e), base);
    if (index) {
        text_put(e->out, " + ");
        emit_expr(e, index, TYPE_INT);
    }
    text_put(e->out, "]");
}

/* Some languages refuse what lies outside of its array even where no thread comes: so none has it. */
void emit_lvalue(struct emitter *e, const struct ast_lvalue *lvalue)
{
    int32_t index;
    if (lvalue->index && is_constant(e, lvalue->index, &index) &&
        (index < 0 || (uint32_t)index >= lvalue->var->length))
        emit_refuse(e, "%s has no element %d of '%s'", e->dialect->name, (int)index,
                    lvalue->var->name);
    const char *base = emit_base(e, lvalue->var);
    if (base) {
        put_word(e, base, lvalue->index);
        return;
    }
    emit_var(e, lvalue->var);
    if (lvalue->index) {
        text_put(e->out, "[");
        emit_expr(e, lvalue->index, TYPE_INT);
        text_put(e->out, "]");
    } else if (lvalue->var->space == SPACE_GLOBAL || lvalue->var->space == SPACE_SHARED) {
        text_put(e->out, "[0]");
    }
}

/* The form with the expression in place of each @. */
static void put_form(struct emitter *e, const char *form, const struct ast_expr *expr,
                     enum emit_type type)
{
    for (; *form; form++)
        if (*form == '@')
            emit_expr(e, expr, type);
        else
            text_put_bytes(e->out, form, 1);
}

/* Each time another of the language's votes. */
static void put_vote(struct emitter *e, const struct ast_expr *expr)
{
    uint32_t count = 0;
    while (e->dialect->votes[count])
        count++;
    put_form(e, e->dialect->votes[e->votes++ % count], expr, TYPE_BOOL);
}

static void put_truth(struct emitter *e, const struct ast_expr *expr)
{
    if (emit_has(e, EMIT_KNOB_VOTES) && e->dialect->votes)
        put_vote(e, expr);
    else
        emit_expr(e, expr, TYPE_BOOL);
}

/* Every third value comes from the lane itself. */
void emit_value(struct emitter *e, const struct ast_expr *expr, enum emit_type type)
{
    enum { SHARE = 3 };
    if (emit_has(e, EMIT_KNOB_VOTES) && e->dialect->shuffle && type == narrow(type) &&
        e->votes++ % SHARE == 0)
        put_form(e, e->dialect->shuffle, expr, type);
    else
        emit_expr(e, expr, type);
}

void emit_condition(struct emitter *e, const struct ast_expr *expr)
{
    if (!emit_has(e, EMIT_KNOB_OPAQUE_CONDITIONS)) {
        put_truth(e, expr);
        return;
    }
    bool is_wgsl = e->dialect->is_wgsl;
    text_put(e->out, is_wgsl ? "(select(0, 1, " : "((");
    put_truth(e, expr);
    text_put(e->out, is_wgsl ? ") != " : " ? 1 : 0) != ");
    emit_zero(e, ZERO_OF_CONDITIONS);
    text_put(e->out, ")");
}
