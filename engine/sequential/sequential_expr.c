/*
 * sequential_expr.c - expressions of one of the two threads; accesses that are logged and checked.
 */
#include "engine/sequential/sequential_internal.h"

#include <inttypes.h>

#define SAY(s, ...) arena_printf((s)->arena, __VA_ARGS__)

const char *const sequential_access_names[SEEN_KINDS] = {"READ", "WRITE", "ATOMIC"};

static bool is_boogie(const struct sequential *s)
{
    return s->style == SEQUENTIAL_BOOGIE;
}

/* ---- operators ---- */

const char *sequential_constant(const struct sequential *s, int32_t value)
{
    return is_boogie(s) ? SAY(s, "%" PRIu32 "bv32", (uint32_t)value) : SAY(s, "%" PRId32, value);
}

static const char *call(const struct sequential *s, const char *function, const char *a,
                        const char *b)
{
    return SAY(s, "%s(%s, %s)", function, a, b);
}

const char *sequential_compare(const struct sequential *s, enum ast_binary op, const char *a,
                               const char *b)
{
    static const char *const names[BINARY_COUNT] = {
        [BINARY_LT] = "bvslt", [BINARY_LE] = "bvsle", [BINARY_GT] = "bvsgt", [BINARY_GE] = "bvsge"};
    if (is_boogie(s) && names[op])
        return call(s, names[op], a, b);
    return SAY(s, "(%s %s %s)", a, ast_binary_names[op], b);
}

const char *sequential_apply(const struct sequential *s, enum ast_binary op, const char *a,
                             const char *b)
{
    static const char *const names[BINARY_COUNT] = {
        [BINARY_MUL] = "bvmul",  [BINARY_DIV] = "quotient", [BINARY_REM] = "bvsrem",
        [BINARY_ADD] = "bvadd",  [BINARY_SUB] = "bvsub",    [BINARY_SHL] = "bvshl",
        [BINARY_SHR] = "bvashr", [BINARY_AND] = "bvand",    [BINARY_XOR] = "bvxor",
        [BINARY_OR] = "bvor"};
    return is_boogie(s) ? call(s, names[op], a, b)
                        : SAY(s, "(%s %s %s)", a, ast_binary_names[op], b);
}

const char *sequential_below(const struct sequential *s, const char *a, const char *b)
{
    return is_boogie(s) ? call(s, "bvult", a, b) : SAY(s, "(0 <= %s && %s < %s)", a, a, b);
}

const char *sequential_rest(const struct sequential *s, const char *a, const char *b)
{
    return is_boogie(s) ? call(s, "bvurem", a, b) : SAY(s, "(%s %% %s)", a, b);
}

const char *sequential_quotient(const struct sequential *s, const char *a, const char *b)
{
    return is_boogie(s) ? call(s, "bvudiv", a, b) : SAY(s, "(%s / %s)", a, b);
}

/* ---- accesses ---- */

const char *sequential_variable(const struct evaluating *x, const struct ast_var *var)
{
    if (x->before && x->changed[var->mark])
        return SAY(x->s, "%s#%" PRIu32 "$%" PRIu32, var->name, x->before, x->k);
    return SAY(x->s, "%s$%" PRIu32, var->name, x->k);
}

static const char *still_enabled(const struct evaluating *x)
{
    return x->may_die ? SAY(x->s, "%s && !dies$%" PRIu32, x->enabled, x->k) : x->enabled;
}

/* What of thread 1 an access of thread 2 must not meet. */
static const char *conflicts(const struct sequential *s, const struct ast_var *var,
                             enum sequential_access kind)
{
    const char *a = var->name;
    if (kind == SEEN_READ)
        return SAY(s, "(WRITE_%s || ATOMIC_%s)", a, a);
    if (kind == SEEN_ATOMIC)
        return SAY(s, "(READ_%s || WRITE_%s)", a, a);
    return SAY(s, "(READ_%s || WRITE_%s || ATOMIC_%s)", a, a, a);
}

/* A launch of one thread has no pair: both are that thread, and nobody conflicts. */
static bool is_alone(const struct sequential *s)
{
    return s->kernel->launch.threads * s->kernel->launch.blocks == 1;
}

/* LOG of thread 1, CHECK of thread 2; of the tutorial as calls, of Boogie as what they do. */
void sequential_note_access(struct evaluating *x, const struct ast_var *var,
                            enum sequential_access kind, const char *index)
{
    struct sequential *s = x->s;
    const char *enabled = still_enabled(x), *name = sequential_access_names[kind];
    if (!s->written[var->mark] || x->quiet || (x->k == 2 && is_alone(s)))
        return;
    if (!is_boogie(s)) {
        sequential_line(s, "%s_%s_%s(%s, %s);", x->k == 1 ? "LOG" : "CHECK", name, var->name,
                        enabled, index);
        return;
    }
    if (x->k == 1)
        sequential_line(s, "%s_%s := %s_%s || (%s && %s == WO_%s);", name, var->name, name,
                        var->name, enabled, index, var->name);
    else
        sequential_line(s, "assert !(%s%s && %s == WO_%s && %s); // race", enabled,
                        var->space == SPACE_SHARED ? " && same" : "", index, var->name,
                        conflicts(s, var, kind));
}

const char *sequential_index(struct evaluating *x, const struct ast_var *var,
                             const struct ast_expr *index)
{
    struct sequential *s = x->s;
    if (!index)
        return sequential_constant(s, 0);
    const char *i = sequential_word(x, index);
    const char *length = sequential_constant(s, (int32_t)var->length);
    bool inside = index->kind == EXPR_INT && (uint32_t)index->value < var->length;
    if (inside || x->quiet)
        return i;
    sequential_line(s, "dies$%" PRIu32 " := dies$%" PRIu32 " || (%s && !%s);", x->k, x->k,
                    x->enabled, sequential_below(s, i, length));
    x->may_die = true;
    return i;
}

static const char *read(struct evaluating *x, const struct ast_expr *e)
{
    const char *index = sequential_index(x, e->var, e->kind == EXPR_INDEX ? e->a : NULL);
    if (sequential_is_memory(e->var))
        sequential_note_access(x, e->var, SEEN_READ, index);
    const char *name = sequential_variable(x, e->var);
    return e->kind == EXPR_INDEX ? SAY(x->s, "%s[%s]", name, index) : name;
}

/* ---- expressions ---- */

static const char *builtin(const struct evaluating *x, enum ast_builtin which)
{
    const struct sequential *s = x->s;
    const struct ast_launch *launch = &s->kernel->launch;
    const char *tid = SAY(s, "tid$%" PRIu32, x->k);
    const char *width = sequential_constant(s, (int32_t)launch->warp);
    switch (which) {
    case BUILTIN_TID:
        return tid;
    case BUILTIN_THREADS:
        return sequential_constant(s, (int32_t)launch->threads);
    case BUILTIN_LANE:
        return sequential_rest(s, tid, width);
    case BUILTIN_WARP:
        return sequential_quotient(s, tid, width);
    case BUILTIN_WARP_SIZE:
        return width;
    case BUILTIN_BID:
        return SAY(s, "bid$%" PRIu32, x->k);
    case BUILTIN_BLOCKS:
        return sequential_constant(s, (int32_t)launch->blocks);
    case BUILTIN_COUNT:
        break;
    }
    return "";
}

/* An operand that is evaluated under a condition only. */
static const char *under(struct evaluating *x, const char *condition, const struct ast_expr *e,
                         bool as_condition)
{
    struct sequential *s = x->s;
    struct evaluating inner = *x;
    if (!x->quiet) {
        const char *name = SAY(s, "e%" PRIu32, ++s->temporaries);
        text_format(&s->declare, "  var %s: bool;\n", name);
        sequential_line(s, "%s := %s && %s;", name, still_enabled(x), condition);
        inner.enabled = name;
    }
    const char *value = as_condition ? sequential_condition(&inner, e) : sequential_word(&inner, e);
    x->may_die |= inner.may_die;
    return value;
}

const char *sequential_condition(struct evaluating *x, const struct ast_expr *e)
{
    struct sequential *s = x->s;
    if (e->kind == EXPR_UNARY && e->unary == UNARY_NOT)
        return SAY(s, "!%s", sequential_condition(x, e->a));
    if (e->kind == EXPR_BINARY &&
        (e->binary == BINARY_LOGICAL_AND || e->binary == BINARY_LOGICAL_OR)) {
        bool is_and = e->binary == BINARY_LOGICAL_AND;
        const char *a = sequential_condition(x, e->a);
        const char *b = under(x, is_and ? a : SAY(s, "!%s", a), e->b, true);
        return SAY(s, "(%s %s %s)", a, is_and ? "&&" : "||", b);
    }
    if (e->kind == EXPR_BINARY && e->binary >= BINARY_LT && e->binary <= BINARY_NE) {
        const char *a = sequential_word(x, e->a);
        return sequential_compare(s, e->binary, a, sequential_word(x, e->b));
    }
    if (e->kind == EXPR_INT)
        return e->value ? "true" : "false";
    return SAY(s, "(%s != %s)", sequential_word(x, e), sequential_constant(s, 0));
}

static bool is_logical(const struct ast_expr *e)
{
    return (e->kind == EXPR_UNARY && e->unary == UNARY_NOT) ||
           (e->kind == EXPR_BINARY &&
            ((e->binary >= BINARY_LT && e->binary <= BINARY_NE) ||
             e->binary == BINARY_LOGICAL_AND || e->binary == BINARY_LOGICAL_OR));
}

static const char *choice(struct evaluating *x, const struct ast_expr *e)
{
    const struct sequential *s = x->s;
    const char *c = sequential_condition(x, e->a);
    const char *a = under(x, c, e->b, false);
    const char *b = under(x, SAY(s, "!%s", c), e->c, false);
    return SAY(s, "(if %s then %s else %s)", c, a, b);
}

const char *sequential_word(struct evaluating *x, const struct ast_expr *e)
{
    const struct sequential *s = x->s;
    if (is_logical(e))
        return SAY(s, "(if %s then %s else %s)", sequential_condition(x, e),
                   sequential_constant(s, 1), sequential_constant(s, 0));
    switch (e->kind) {
    case EXPR_INT:
        return sequential_constant(s, e->value);
    case EXPR_VAR:
    case EXPR_INDEX:
        return read(x, e);
    case EXPR_BUILTIN:
        return builtin(x, e->builtin);
    case EXPR_UNARY:
        return sequential_apply(s, e->unary == UNARY_NEG ? BINARY_SUB : BINARY_XOR,
                                sequential_constant(s, e->unary == UNARY_NEG ? 0 : -1),
                                sequential_word(x, e->a));
    case EXPR_BINARY: {
        const char *a = sequential_word(x, e->a);
        return sequential_apply(s, e->binary, a, sequential_word(x, e->b));
    }
    case EXPR_COND:
        return choice(x, e);
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    return "";
}
