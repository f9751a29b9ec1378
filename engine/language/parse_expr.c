#include "engine/language/parse_internal.h"

#include <string.h>

/* Every function gives the height of the tree it built, which is bounded (LIMIT_DEPTH) because every
 * later pass recurses over it. Its own recursion is bounded by `nesting`: a level of a tree that is
 * printed takes two at most, one for the operator and one for its parentheses. */
static struct ast_expr *parse_cond(struct parser *p, uint32_t *height);

static bool enter(struct parser *p)
{
    if (p->nesting < 2 * LIMIT_DEPTH) {
        p->nesting++;
        return true;
    }
    parser_stop(p, p->token.at, "expression is nested more than %d deep", LIMIT_DEPTH);
    return false;
}

static struct ast_expr *nested(struct parser *p, uint32_t *height)
{
    if (!enter(p))
        return NULL;
    struct ast_expr *expr = parse_cond(p, height);
    p->nesting--;
    return expr;
}

static uint32_t higher(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Counts an operator over operands of the given height, in shares of a level; NULL: refused. */
static struct ast_expr *grown(struct parser *p, struct ast_expr *expr, struct location at,
                              uint32_t operands, uint32_t *height)
{
    expr->at = at;
    *height = operands + LIMIT_CHAIN;
    if (*height > LIMIT_DEPTH * LIMIT_CHAIN)
        parser_stop(p, at, "expression is nested more than %d deep", LIMIT_DEPTH);
    return parser_count(p) ? expr : NULL;
}

static struct ast_expr *parse_number(struct parser *p, bool negative, struct location at,
                                     uint32_t *height)
{
    uint64_t value = p->token.number;
    if (value > UINT32_MAX) {
        parser_error(p, p->token.at, "number %s does not fit in 32 bits",
                     parser_show(p, &p->token));
        return NULL;
    }
    parser_advance(p);
    uint32_t bits = negative ? 0u - (uint32_t)value : (uint32_t)value;
    return grown(p, ast_int(p->arena, (int32_t)bits), at, 0, height);
}

/* A call in an expression would be a variable that nobody declared: say what it is instead. */
static bool is_call(struct parser *p)
{
    if (parser_find_variable(p) || !parser_next_is(p, "("))
        return false;
    parser_error(p, p->token.at,
                 "a call is a statement of its own, not part of an expression: x = %.*s(...);",
                 (int)(p->token.length < LIMIT_NAME ? p->token.length : LIMIT_NAME), p->token.text);
    return true;
}

/* all(e), any(e): words of the block forms only, and only before a parenthesis. */
static bool at_reduction(const struct parser *p)
{
    return p->form != FORM_STRUCTURED && !p->constant &&
           (parser_at(p, "all") || parser_at(p, "any")) && parser_next_is(p, "(");
}

static struct ast_expr *parse_reduction(struct parser *p, uint32_t *height)
{
    struct location at = p->token.at;
    enum ast_expr_kind kind = parser_at(p, "all") ? EXPR_ALL : EXPR_ANY;
    uint32_t inner = 0;
    parser_advance(p);
    parser_advance(p);
    struct ast_expr *operand = nested(p, &inner);
    if (!operand || !parser_expect(p, ")"))
        return NULL;
    struct ast_expr *expr = ARENA_NEW(p->arena, struct ast_expr);
    expr->kind = kind;
    expr->a = operand;
    return grown(p, expr, at, inner, height);
}

static struct ast_expr *parse_named(struct parser *p, uint32_t *height)
{
    struct location at = p->token.at;
    int builtin = parser_index(p, ast_builtin_names, BUILTIN_COUNT);
    if (p->constant && (builtin >= 0 || parser_at_name(p))) {
        parser_error(p, at, "%s is not a constant", parser_show(p, &p->token));
        return NULL;
    }
    if (builtin >= 0) {
        parser_advance(p);
        return grown(p, ast_builtin_ref(p->arena, (enum ast_builtin)builtin), at, 0, height);
    }
    if (!parser_at_name(p)) {
        parser_unexpected(p, "an expression");
        return NULL;
    }
    if (at_reduction(p))
        return parse_reduction(p, height);
    if (is_call(p))
        return NULL;
    struct ast_var *var = parser_variable(p);
    struct ast_expr *index = NULL;
    uint32_t inner = 0;
    bool indexed = parser_accept(p, "[");
    if (indexed && (!(index = nested(p, &inner)) || !parser_expect(p, "]")))
        return NULL;
    if (!var)
        return NULL;
    struct ast_expr *expr = indexed ? ast_index(p->arena, var, index) : ast_var_ref(p->arena, var);
    return grown(p, expr, at, inner, height);
}

static struct ast_expr *parse_primary(struct parser *p, uint32_t *height)
{
    if (p->token.kind == TOKEN_NUMBER)
        return parse_number(p, false, p->token.at, height);
    if (p->token.kind == TOKEN_NAME)
        return parse_named(p, height);
    if (parser_accept(p, "(")) {
        struct ast_expr *inner = nested(p, height);
        return inner && parser_expect(p, ")") ? inner : NULL;
    }
    parser_unexpected(p, "an expression");
    return NULL;
}

/* `-` right before a literal is part of it, so that every value has a literal. */
static struct ast_expr *parse_unary(struct parser *p, uint32_t *height)
{
    static const char *const names[] = {
        [UNARY_NEG] = "-", [UNARY_NOT] = "!", [UNARY_COMPLEMENT] = "~"};
    struct location at = p->token.at;
    int op = parser_index(p, names, 3);
    if (op < 0)
        return parse_primary(p, height);
    parser_advance(p);
    if (op == UNARY_NEG && p->token.kind == TOKEN_NUMBER)
        return parse_number(p, true, at, height);
    if (!enter(p))
        return NULL;
    struct ast_expr *operand = parse_unary(p, height);
    p->nesting--;
    if (!operand)
        return NULL;
    return grown(p, ast_unary(p->arena, (enum ast_unary)op, operand), at, *height, height);
}

/* Operators of at least the given level; those of one level group from the left. */
static struct ast_expr *parse_binary(struct parser *p, uint32_t level, uint32_t *height)
{
    struct ast_expr *left = parse_unary(p, height);
    while (left) {
        int op = parser_index(p, ast_binary_names, BINARY_COUNT);
        if (op < 0 || ast_binary_levels[op] < level)
            return left;
        uint32_t inner = 0;
        parser_advance(p);
        struct ast_expr *right = parse_binary(p, ast_binary_levels[op] + 1u, &inner);
        if (!right)
            return NULL;
        struct ast_expr *both = ast_binary(p->arena, (enum ast_binary)op, left, right);
        uint32_t link = *height - (LIMIT_CHAIN - 1); /* a + b + c: one more term is no level more */
        left = grown(p, both, left->at, higher(link, inner), height);
    }
    return NULL;
}

static struct ast_expr *parse_cond(struct parser *p, uint32_t *height)
{
    struct ast_expr *guard = parse_binary(p, 1, height);
    if (!guard || !parser_accept(p, "?"))
        return guard;
    uint32_t left = 0, right = 0;
    struct ast_expr *then = nested(p, &left);
    if (!then || !parser_expect(p, ":"))
        return NULL;
    struct ast_expr *other = nested(p, &right);
    if (!other)
        return NULL;
    return grown(p, ast_cond(p->arena, guard, then, other), guard->at,
                 higher(*height, higher(left, right)), height);
}

struct ast_expr *parser_expr(struct parser *p)
{
    uint32_t height = 0;
    p->nesting = 0;
    return parse_cond(p, &height);
}

/* ---- constants ---- */

bool parser_constant(struct parser *p, int32_t *value)
{
    size_t mark = arena_mark(p->arena);
    uint32_t nodes = p->nodes;
    p->constant = true;
    const struct ast_expr *expr = parser_expr(p);
    p->constant = false;
    if (expr)
        (void)ast_value(expr, NULL, NULL, value); /* names are refused while `constant` is set */
    arena_release(p->arena, mark);
    p->nodes = nodes;
    return expr != NULL;
}

bool parser_values(struct parser *p, int32_t **values, uint32_t *count)
{
    uint32_t capacity = 0;
    bool braces = parser_accept(p, "{");
    do {
        int32_t value;
        if (!parser_constant(p, &value))
            return false;
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 4;
            int32_t *more = ARENA_ARRAY(p->arena, int32_t, capacity);
            if (*count)
                memcpy(more, *values, *count * sizeof *more);
            *values = more;
        }
        (*values)[(*count)++] = value;
    } while (braces && parser_accept(p, ","));
    return !braces || parser_expect(p, "}");
}
