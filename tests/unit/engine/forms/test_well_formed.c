/*
 * Def. 5.1's WF.3 and guards_decide (engine/forms/well_formed.c) against a naive reading: guards that combine
 * comparisons with constants by trying all values that could matter, others by the two shapes that are known.
 */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/forms/normalise.h"

enum { GUARDS_MAX = 4, ROUNDS = 6000 };

static struct ast_kernel *kernel;
static struct ast_block *blocks[GUARDS_MAX]; /* the targets of Start */
static struct ast_var *p, *q, *r;
static struct ast_expr *one;

static int setup(void **state)
{
    static const char text[] =
        "launch(threads = 5, warp = 4, blocks = 3); private int p, q, r[3]; kernel k() blocks {"
        "Start: goto A, B, C, D; A: assume(1); goto End; B: assume(1); goto End;"
        "C: assume(1); goto End; D: assume(1); goto End; }";
    if (support_setup(state) != 0)
        return -1;
    kernel = support_parse(text);
    p = kernel->vars;
    q = p->next;
    r = q->next;
    one = ast_int(&test_arena, 1);
    for (uint32_t i = 0; i < GUARDS_MAX; i++)
        blocks[i] = kernel->main->blocks->targets[i];
    return 0;
}

static enum well_formed verdict_of(struct ast_expr *const *guards, uint32_t count)
{
    const char *reason = NULL;
    struct location at;
    for (uint32_t i = 0; i < GUARDS_MAX; i++)
        blocks[i]->body->value = i < count ? guards[i] : one;
    kernel->main->blocks->target_count = count;
    return well_formed(&test_arena, kernel, &reason, &at);
}

static bool decides(struct ast_expr *const *guards, uint32_t count)
{
    return guards_decide(&kernel->launch, (const struct ast_expr *const *)guards, count);
}

/* ---- shapes ---- */

static struct ast_expr *expr_of(const char *text)
{
    const char *source = arena_printf(
        &test_arena, "private int p, q, r[3]; kernel k() blocks { Start: assume(%s); goto End; }",
        text);
    struct ast_kernel *parsed = support_parse(source);
    return parsed->main->blocks->body->value;
}

/* The same tree over the variables of `kernel`. */
static struct ast_expr *moved(struct ast_expr *e)
{
    if (!e)
        return NULL;
    e->a = moved(e->a);
    e->b = moved(e->b);
    e->c = moved(e->c);
    if (e->kind == EXPR_VAR || e->kind == EXPR_INDEX)
        e->var = *e->var->name == 'p' ? p : *e->var->name == 'q' ? q : r;
    return e;
}

/* Each two of these differ in one place or more; none is a comparison with a constant. */
static const char *const shapes[] = {
    "p + q",        "p + p",        "q + q",         "p - q",        "p * q",        "p / q",
    "p % q",        "p & q",        "p | q",         "p ^ q",        "p << q",       "p >> q",
    "p + 1",        "p + 2",        "1 + p",         "p + tid",      "p + lane",     "p + warp",
    "p + bid",      "p + threads",  "p + warp_size", "p + blocks",   "r[0]",         "r[1]",
    "r[p]",         "r[q]",         "r[r[0]]",       "r[r[1]]",      "-p",           "-q",
    "~p",           "~q",           "p ? q : r[0]",  "q ? q : r[0]", "p ? p : r[0]", "p ? q : r[1]",
    "p ? r[0] : q", "(p + q) * 2",  "(p + q) * 3",   "(p - q) * 2",  "p < q",        "p <= q",
    "p == q",       "r[0] + p < q", "r[0] + q < q",  "r[0] + p < p", "(p < q) + 1",  "p && q + 1",
    "p || q + 1",   "q && q + 1",
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* e and !f cover everything where e is f; of others nothing is known. */
static void negations_are_of_the_same_expression(void **state)
{
    struct ast_expr *exprs[SHAPES];
    (void)state;
    for (uint32_t i = 0; i < SHAPES; i++)
        exprs[i] = moved(expr_of(shapes[i]));
    for (uint32_t i = 0; i < SHAPES; i++)
        for (uint32_t j = 0; j < SHAPES; j++) {
            struct ast_expr *copy = ast_expr_copy(&test_arena, exprs[j]);
            struct ast_expr *guards[] = {exprs[i], ast_unary(&test_arena, UNARY_NOT, copy)};
            struct ast_expr *turned[] = {guards[1], guards[0]};
            enum well_formed wanted = i == j ? WELL_FORMED : WELL_FORMED_UNKNOWN;
            if (verdict_of(guards, 2) != wanted || verdict_of(turned, 2) != wanted ||
                decides(guards, 2) != (i == j) || decides(turned, 2) != (i == j))
                fail_msg("%s and !(%s)", shapes[i], shapes[j]);
        }
}

/* Of e and f the comparison holds: where they are less, equal, greater. */
static uint32_t holds_where(enum ast_binary op, bool exchanged)
{
    uint32_t places = 0;
    for (int32_t order = -1; order <= 1; order++)
        if (ast_eval_binary(op, exchanged ? -order : order, 0))
            places |= 1u << (order + 1);
    return places;
}

/* Two comparisons of the same operands, exchanged or not, negated both or not. */
static void comparisons_that_are_opposites(void **state)
{
    static const enum ast_binary ops[] = {BINARY_LT, BINARY_LE, BINARY_GT,
                                          BINARY_GE, BINARY_EQ, BINARY_NE};
    struct ast_expr *operands[] = {moved(expr_of("p + q")), moved(expr_of("r[0]")),
                                   moved(expr_of("r[1]"))};
    (void)state;
    for (uint32_t n = 0; n < 6 * 6 * 18; n++) {
        enum ast_binary first = ops[n % 6], second = ops[n / 6 % 6];
        uint32_t left = n / 36 % 3, right = n / 108 % 3;
        bool negated = n / 324;
        struct ast_expr *guards[] = {
            ast_binary(&test_arena, first, operands[0], operands[1]),
            ast_binary(&test_arena, second, operands[left], operands[right])};
        bool same = left == 0 && right == 1, exchanged = left == 1 && right == 0;
        bool opposite = (same || exchanged) &&
                        (holds_where(first, false) ^ holds_where(second, exchanged)) == 7;
        for (uint32_t i = 0; i < 2 && negated; i++)
            guards[i] = ast_unary(&test_arena, UNARY_NOT, guards[i]);
        enum well_formed wanted = opposite ? WELL_FORMED : WELL_FORMED_UNKNOWN;
        if (verdict_of(guards, 2) != wanted || decides(guards, 2) != opposite)
            fail_msg("%u: %s and %s", n, ast_binary_names[first], ast_binary_names[second]);
    }
}

/* Any two of several. */
static void opposites_among_others(void **state)
{
    struct ast_expr *same = moved(expr_of("p + q")), *other = moved(expr_of("p * q"));
    (void)state;
    for (uint32_t i = 0; i < GUARDS_MAX; i++)
        for (uint32_t j = 0; j < GUARDS_MAX; j++) {
            struct ast_expr *guards[] = {other, other, other, other};
            guards[i] = same;
            guards[j] = ast_unary(&test_arena, UNARY_NOT, same);
            enum well_formed wanted = i == j ? WELL_FORMED_UNKNOWN : WELL_FORMED;
            assert_int_equal(verdict_of(guards, GUARDS_MAX), wanted);
            assert_false(decides(guards, GUARDS_MAX));
        }
}

/* ---- values ---- */

static struct pcg rng;

static int32_t some_constant(void)
{
    static const int32_t edges[] = {INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1, 0, -1, 1};
    return pcg_below(&rng, 4) ? (int32_t)pcg_below(&rng, 8) - 2 : edges[pcg_below(&rng, 7)];
}

static struct ast_expr *some_scalar(struct ast_expr *const *scalars, uint32_t count)
{
    return ast_expr_copy(&test_arena, scalars[pcg_below(&rng, count)]);
}

static struct ast_expr *some_guard(struct ast_expr *const *scalars, uint32_t count, uint32_t depth)
{
    static const enum ast_binary ops[] = {BINARY_LT, BINARY_LE, BINARY_GT,
                                          BINARY_GE, BINARY_EQ, BINARY_NE};
    uint32_t kind = pcg_below(&rng, depth > 0 ? 10 : 6);
    struct ast_expr *a = NULL;
    if (kind == 0)
        return some_scalar(scalars, count);
    if (kind < 6) {
        a = some_scalar(scalars, count);
        struct ast_expr *b = ast_int(&test_arena, some_constant());
        bool exchanged = pcg_below(&rng, 3) == 0;
        return ast_binary(&test_arena, ops[pcg_below(&rng, 6)], exchanged ? b : a,
                          exchanged ? a : b);
    }
    a = some_guard(scalars, count, depth - 1);
    if (kind == 6)
        return ast_unary(&test_arena, UNARY_NOT, a);
    if (kind == 7 && pcg_below(&rng, 4) == 0)
        a = ast_int(&test_arena, (int32_t)pcg_below(&rng, 2));
    return ast_binary(&test_arena, kind == 8 ? BINARY_LOGICAL_AND : BINARY_LOGICAL_OR, a,
                      some_guard(scalars, count, depth - 1));
}

static bool is_scalar(const struct ast_expr *e, const struct ast_expr *scalar)
{
    return e->kind == scalar->kind &&
           (e->kind == EXPR_VAR ? e->var == scalar->var : e->builtin == scalar->builtin);
}

static int32_t value_of(const struct ast_expr *e, struct ast_expr *const *scalars,
                        const int32_t *values)
{
    if (e->kind == EXPR_INT)
        return e->value;
    if (e->kind == EXPR_VAR || e->kind == EXPR_BUILTIN)
        return values[!is_scalar(e, scalars[0])];
    int32_t a = value_of(e->a, scalars, values);
    return e->kind == EXPR_UNARY ? ast_eval_unary(e->unary, a)
                                 : ast_eval_binary(e->binary, a, value_of(e->b, scalars, values));
}

static uint32_t values_of(const struct ast_expr *scalar, int32_t *values)
{
    uint32_t count = 0;
    if (scalar->kind == EXPR_VAR) {
        for (int32_t i = -5; i <= 8; i++)
            values[count++] = i;
        for (int32_t i = 0; i < 4; i++) {
            values[count++] = INT32_MIN + i;
            values[count++] = INT32_MAX - i;
        }
        return count;
    }
    static const int32_t most[BUILTIN_COUNT] = {
        [BUILTIN_TID] = 4, [BUILTIN_LANE] = 3, [BUILTIN_WARP] = 1, [BUILTIN_BID] = 2};
    int32_t only = scalar->builtin == BUILTIN_THREADS     ? 5
                   : scalar->builtin == BUILTIN_WARP_SIZE ? 4
                                                          : 3;
    if (most[scalar->builtin] == 0) {
        values[0] = only;
        return 1;
    }
    for (int32_t i = 0; i <= most[scalar->builtin]; i++)
        values[count++] = i;
    return count;
}

static void naive(struct ast_expr *const *guards, uint32_t count, struct ast_expr *const *scalars,
                  uint32_t *least, uint32_t *most)
{
    int32_t first[32], second[32];
    uint32_t firsts = values_of(scalars[0], first), seconds = values_of(scalars[1], second);
    *least = UINT32_MAX;
    *most = 0;
    for (uint32_t i = 0; i < firsts * seconds; i++) {
        const int32_t values[] = {first[i % firsts], second[i / firsts]};
        uint32_t holding = 0;
        for (uint32_t g = 0; g < count; g++)
            holding += value_of(guards[g], scalars, values) != 0;
        *least = holding < *least ? holding : *least;
        *most = holding > *most ? holding : *most;
    }
}

static bool reads(const struct ast_expr *e, const struct ast_expr *scalar)
{
    return e && (is_scalar(e, scalar) || reads(e->a, scalar) || reads(e->b, scalar));
}

static bool any_reads(struct ast_expr *const *guards, uint32_t count, const struct ast_expr *scalar)
{
    for (uint32_t i = 0; i < count; i++)
        if (reads(guards[i], scalar))
            return true;
    return false;
}

/* Two scalars: variables, builtins. That two builtins depend on each other is not looked into: unless all
 * combinations are covered, nothing is known. */
static void guards_on_scalars(void **state)
{
    uint32_t seen[3] = {0}, decided = 0;
    (void)state;
    pcg_seed(&rng, 5, 1);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        size_t mark = arena_mark(&test_arena);
        struct ast_expr *choices[2 + BUILTIN_COUNT] = {ast_var_ref(&test_arena, p),
                                                       ast_var_ref(&test_arena, q)};
        for (uint32_t i = 0; i < BUILTIN_COUNT; i++)
            choices[2 + i] = ast_builtin_ref(&test_arena, (enum ast_builtin)i);
        uint32_t first = pcg_below(&rng, 2 + BUILTIN_COUNT);
        uint32_t second = pcg_below(&rng, 1 + BUILTIN_COUNT);
        struct ast_expr *scalars[] = {choices[first], choices[second + (second >= first)]};
        struct ast_expr *guards[GUARDS_MAX];
        uint32_t count = 1 + pcg_below(&rng, GUARDS_MAX), least, most;
        uint32_t used = 1 + pcg_below(&rng, 2);
        for (uint32_t i = 0; i < count; i++)
            guards[i] = some_guard(scalars, used, 2);
        naive(guards, count, scalars, &least, &most);
        bool builtins = any_reads(guards, count, scalars[0]) &&
                        any_reads(guards, count, scalars[1]) && scalars[0]->kind == EXPR_BUILTIN &&
                        scalars[1]->kind == EXPR_BUILTIN;
        enum well_formed wanted = least > 0  ? WELL_FORMED
                                  : builtins ? WELL_FORMED_UNKNOWN
                                             : ILL_FORMED;
        assert_int_equal(verdict_of(guards, count), wanted);
        assert_int_equal(decides(guards, count), least == 1 && most == 1);
        seen[wanted]++;
        decided += least == 1 && most == 1;
        arena_release(&test_arena, mark);
    }
    assert_true(seen[WELL_FORMED] > 500 && seen[WELL_FORMED_UNKNOWN] > 100);
    assert_true(seen[ILL_FORMED] > 500 && decided > 500);
}

/* p == 0 || p == 1 || .. and its negation by parts: 32 constants of a scalar are tried, no more. */
static struct ast_expr *one_of(uint32_t constants)
{
    struct ast_expr *result = NULL;
    for (uint32_t i = 0; i < constants; i++) {
        struct ast_expr *e = ast_binary(&test_arena, BINARY_EQ, ast_var_ref(&test_arena, p),
                                        ast_int(&test_arena, (int32_t)i));
        result = result ? ast_binary(&test_arena, BINARY_LOGICAL_OR, result, e) : e;
    }
    return result;
}

static void bounds_of_what_is_tried(void **state)
{
    (void)state;
    struct ast_expr *guards[] = {one_of(30), moved(expr_of("p < 0")), moved(expr_of("p > 29"))};
    assert_int_equal(verdict_of(guards, 3), WELL_FORMED);
    assert_true(decides(guards, 3));
    assert_int_equal(verdict_of(guards, 2), ILL_FORMED);
    guards[0] = one_of(31);
    assert_int_equal(verdict_of(guards, 3), WELL_FORMED_UNKNOWN);
    assert_false(decides(guards, 3));
    struct ast_expr *three[] = {moved(expr_of("p == 0 || q == 0")), moved(expr_of("tid < 9"))};
    assert_int_equal(verdict_of(three, 2), WELL_FORMED_UNKNOWN);
    struct ast_expr *array[] = {moved(expr_of("r[0] == 0")), moved(expr_of("r[0] == 1"))};
    assert_int_equal(verdict_of(array, 2), WELL_FORMED_UNKNOWN);
    struct ast_expr *constants[] = {moved(expr_of("0")), moved(expr_of("0 || 0"))};
    assert_int_equal(verdict_of(constants, 1), ILL_FORMED);
    assert_int_equal(verdict_of(constants, 2), ILL_FORMED);
    constants[0] = moved(expr_of("-3"));
    assert_int_equal(verdict_of(constants, 2), WELL_FORMED);
    constants[1] = moved(expr_of("p + q"));
    assert_int_equal(verdict_of(constants, 2), WELL_FORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(negations_are_of_the_same_expression, setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(comparisons_that_are_opposites, setup, support_teardown),
        cmocka_unit_test_setup_teardown(opposites_among_others, setup, support_teardown),
        cmocka_unit_test_setup_teardown(guards_on_scalars, setup, support_teardown),
        cmocka_unit_test_setup_teardown(bounds_of_what_is_tried, setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
