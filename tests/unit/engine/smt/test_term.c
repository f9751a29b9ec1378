/* Formulas mean what the language's arithmetic says (eval_ops.h): a solver is asked about values at edges. */
#include "engine/base/pcg.h"
#include "engine/language/eval_ops.h"
#include "engine/smt/solver.h"
#include "engine/smt/term_value.h"
#include "tests/unit/shared/support.h"

#include <inttypes.h>
#include <stdlib.h>

static const int32_t values[] = {
    INT32_MIN, INT32_MIN + 1, -32, -7, -2, -1, 0, 1, 2, 3, 5, 31, 32, 33, 64, INT32_MAX};
enum { VALUES = sizeof values / sizeof values[0] };

static struct terms terms;
static struct solver *solver;

/* A symbol that a root says to have this value: nothing is known of it when terms are built. */
static term hidden(uint32_t i, term *roots)
{
    term symbol = term_symbol(&terms, SORT_WORD, arena_printf(&test_arena, "x%" PRIu32, i));
    roots[i] = term_eq(&terms, symbol, term_word(&terms, values[i]));
    return symbol;
}

static enum solver_answer ask(const term *roots, uint32_t count)
{
    struct text text = text_begin(&test_arena);
    term_print(&text, &terms, roots, count, NULL, 0, NULL, 0);
    return solver_ask(solver, text.bytes, NULL, NULL, 0);
}

/* All operators, of values, of a value that is hidden and one that is not, of two hidden ones. */
static term wrong_somewhere(const term *symbols)
{
    term wrong = TERM_FALSE;
    for (int op = 0; op < BINARY_COUNT; op++)
        for (uint32_t i = 0; i < VALUES; i++)
            for (uint32_t j = 0; j < VALUES; j++) {
                term value =
                    term_word(&terms, eval_binary((enum ast_binary)op, values[i], values[j]));
                term x = term_word(&terms, values[i]), y = term_word(&terms, values[j]);
                const term made[] = {
                    term_binary(&terms, (enum ast_binary)op, symbols[i], symbols[j]),
                    term_binary(&terms, (enum ast_binary)op, symbols[i], y),
                    term_binary(&terms, (enum ast_binary)op, x, symbols[j])};
                assert_int_equal(term_binary(&terms, (enum ast_binary)op, x, y), value);
                for (int n = 0; n < 3; n++)
                    wrong =
                        term_or(&terms, wrong, term_not(&terms, term_eq(&terms, made[n], value)));
            }
    return wrong;
}

static void arithmetic(void **state)
{
    (void)state;
    term roots[VALUES + 1], symbols[VALUES];
    for (uint32_t i = 0; i < VALUES; i++)
        symbols[i] = hidden(i, roots);
    assert_int_equal(ask(roots, VALUES), SOLVER_SAT);
    roots[VALUES] = wrong_somewhere(symbols);
    assert_false(terms.full);
    assert_int_equal(ask(roots, VALUES + 1), SOLVER_UNSAT);
}

/* Words of 64 bits made of two of 32, and words of 32 made of these. */
enum { WIDE_SHAPES = 24 };

static term wide_shape(uint32_t n, term x, term y)
{
    static const enum ast_binary ops[] = {BINARY_ADD, BINARY_SUB, BINARY_MUL, BINARY_DIV,
                                          BINARY_REM, BINARY_SHL, BINARY_SHR, BINARY_AND,
                                          BINARY_XOR, BINARY_OR};
    term a = n & 1 ? term_signed(&terms, x) : term_unsigned(&terms, x);
    term b = n & 1 ? term_unsigned(&terms, y) : term_signed(&terms, y);
    term by_4 = term_binary(&terms, BINARY_MUL, a, term_long(&terms, 4));
    term two = term_long(&terms, 2);
    switch (n / 2) {
    case 10:
        return n & 1 ? term_lshr(&terms, a, b) : term_udiv(&terms, a, b);
    case 11: /* an element of an address: (x * 4 + y * 8 + 12) / 4 */
        b = term_binary(&terms, BINARY_MUL, b, term_long(&terms, 8));
        a = term_binary(&terms, BINARY_ADD,
                        term_binary(&terms, BINARY_ADD, by_4, term_long(&terms, 12)), b);
        return term_lshr(&terms, a, two);
    default:
        return term_binary(&terms, ops[n / 2], a, b);
    }
}

/* What builders make of ranges and sizes is what a solver makes of the same of hidden words, and of numbers. */
static void sizes(void **state)
{
    (void)state;
    term roots[VALUES + 1], symbols[VALUES], wrong = TERM_FALSE;
    for (uint32_t i = 0; i < VALUES; i++)
        symbols[i] = hidden(i, roots);
    for (uint32_t n = 0; n < WIDE_SHAPES; n++)
        for (uint32_t i = 0; i < VALUES; i += 2)
            for (uint32_t j = n % 2; j < VALUES; j += 2) {
                term x = term_word(&terms, values[i]), y = term_word(&terms, values[j]);
                term known = wide_shape(n, x, y), made = wide_shape(n, symbols[i], symbols[j]);
                term same = term_and(
                    &terms, term_eq(&terms, term_low(&terms, made), term_low(&terms, known)),
                    term_eq(&terms, term_high(&terms, made), term_high(&terms, known)));
                term again = term_joined(&terms, term_low(&terms, made), term_high(&terms, made));
                assert_true(n / 2 == 10 || term_of(&terms, known)->op == TERM_CONSTANT);
                wrong = term_or(&terms, wrong, term_not(&terms, same));
                wrong = term_or(&terms, wrong, term_not(&terms, term_eq(&terms, again, made)));
            }
    roots[VALUES] = wrong;
    assert_false(terms.full);
    assert_int_equal(ask(roots, VALUES), SOLVER_SAT);
    assert_int_equal(ask(roots, VALUES + 1), SOLVER_UNSAT);
}

/* What a builder makes of Booleans is what they mean: all of three, in all shapes of two operators. */
static term shape(uint32_t n, const term *b)
{
    term x = n & 1 ? term_and(&terms, b[0], b[1]) : term_or(&terms, b[0], b[1]);
    term y = n & 2 ? b[2] : term_not(&terms, b[n & 4 ? 0 : 2]);
    term z = n & 8 ? term_or(&terms, b[1], y) : term_and(&terms, term_not(&terms, b[0]), y);
    term left = n & 16 ? term_not(&terms, x) : x;
    return n & 32 ? term_and(&terms, left, z)
                  : term_ite(&terms, left, z, n & 64 ? term_or(&terms, x, y) : b[0]);
}

static void booleans(void **state)
{
    (void)state;
    term symbols[3], constants[3], made, from[3];
    for (uint32_t i = 0; i < 3; i++)
        from[i] = symbols[i] =
            term_symbol(&terms, SORT_BOOL, arena_printf(&test_arena, "b%" PRIu32, i));
    for (uint32_t n = 0; n < 128; n++)
        for (uint32_t row = 0; row < 8; row++) {
            for (uint32_t i = 0; i < 3; i++)
                constants[i] = term_bool(row >> i & 1);
            term whole = shape(n, symbols);
            term_replace_all(&terms, from, constants, 3, &whole, &made, 1);
            assert_int_equal(made, shape(n, constants));
        }
}

/* ---- children that are kept ---- */

enum { KERNELS = 3 };

/* A child that was asked before answers as one that was not, and is started once; one that fails is not kept. */
static void children_are_kept(void **state)
{
    (void)state;
    static const char *const formula =
        "(declare-fun |x| () (_ BitVec 32))\n(assert (= (bvmul |x| #x00000003) #x0000000f))\n";
    static const char *const name[] = {"|x|"};
    struct solver_keeper keeper = {{{0}}};
    struct solver_options options = {.command = SOLVER_COMMAND,
                                     .budget = SOLVER_BUDGET,
                                     .seconds = SOLVER_SECONDS,
                                     .keeper = &keeper};
    for (uint32_t i = 0; i < KERNELS; i++) {
        struct solver *asked = solver_new(&test_arena, &options);
        uint32_t value = 0;
        assert_int_equal(solver_ask(asked, formula, name, &value, 1), SOLVER_SAT);
        assert_int_equal(value, 5);
        assert_int_equal(solver_counts(asked).starts, i == 0);
        solver_end(asked);
        assert_true(keeper.kept[0].process > 0);
    }
    struct solver *failing = solver_new(&test_arena, &options);
    assert_int_equal(solver_ask(failing, "(assert |nothing|)\n", NULL, NULL, 0), SOLVER_FAILED);
    solver_end(failing);
    assert_int_equal(keeper.kept[0].process, 0);
    solver_keeper_end(&keeper);
}

static int start(void **state)
{
    static const struct solver_options options = {
        .command = SOLVER_COMMAND, .budget = 0, .seconds = SOLVER_SECONDS};
    if (support_setup(state) != 0)
        return 1;
    terms_init(&terms, &test_arena, TERMS_LIMIT);
    solver = solver_new(&test_arena, &options);
    return 0;
}

static int stop(void **state)
{
    solver_end(solver);
    return support_teardown(state);
}

/* ---- what simplifies ---- */

enum { NAMES = 5, FORMULAS = 1500, POOL = 24 };

/* A formula, and where it holds: a bit for each assignment of the names. */
struct formula {
    term t;
    uint32_t truth;
};

static uint32_t truth_of(const term *names, term t)
{
    struct term_values found;
    uint32_t truth = 0;
    uint8_t *seen = ARENA_ARRAY(&test_arena, uint8_t, terms.count);
    term *list = ARENA_ARRAY(&test_arena, term, terms.count);
    uint32_t count = 0;
    term_values_init(&found, &test_arena, terms.count);
    term_mark_cone(&terms, t, seen);
    for (term n = 1; n <= t; n++)
        if (seen[n])
            list[count++] = n;
    for (uint32_t row = 0; row < 1u << NAMES; row++) {
        for (uint32_t i = 0; i < NAMES; i++)
            found.words[names[i]] = row >> i & 1;
        term_values_find(&terms, &found, list, count);
        truth |= (uint32_t)(found.words[t] != 0) << row;
    }
    return truth;
}

static struct formula combined(struct pcg *rng, const struct formula *pool)
{
    const struct formula a = pool[pcg_below(rng, POOL)], b = pool[pcg_below(rng, POOL)];
    switch (pcg_below(rng, 5)) {
    case 0:
        return (struct formula){term_not(&terms, a.t), ~a.truth};
    case 1:
    case 2:
        return (struct formula){term_and(&terms, a.t, b.t), a.truth & b.truth};
    default:
        return (struct formula){term_or(&terms, a.t, b.t), a.truth | b.truth};
    }
}

/* Choices that a formula decides, where it holds. */
static void check_under(const term *names, struct formula given, struct formula first,
                        struct formula second)
{
    term inner = term_ite(&terms, second.t, term_word(&terms, 2), term_word(&terms, 3));
    term value = term_ite(&terms, first.t, term_word(&terms, 1), inner);
    for (int32_t n = 1; n <= 3; n++) {
        term before = term_eq(&terms, value, term_word(&terms, n));
        term after = term_eq(&terms, term_under(&terms, given.t, value), term_word(&terms, n));
        assert_int_equal(truth_of(names, before) & given.truth,
                         truth_of(names, after) & given.truth);
    }
}

static void formulas(void **state)
{
    struct formula pool[POOL];
    struct pcg rng;
    term names[NAMES];
    (void)state;
    terms_init(&terms, &test_arena, TERMS_LIMIT);
    pcg_seed(&rng, 24, 1);
    for (uint32_t i = 0; i < NAMES; i++)
        names[i] = term_symbol(&terms, SORT_BOOL, arena_printf(&test_arena, "n%u", i));
    for (uint32_t i = 0; i < POOL; i++)
        pool[i] = (struct formula){names[i % NAMES], truth_of(names, names[i % NAMES])};
    for (uint32_t i = 0; i < FORMULAS; i++) {
        struct formula made = combined(&rng, pool);
        assert_int_equal(truth_of(names, made.t), made.truth);
        if (i % 8 == 0)
            check_under(names, made, pool[pcg_below(&rng, POOL)], pool[pcg_below(&rng, POOL)]);
        /* One that holds always, or never, makes nothing of interest. */
        uint32_t at = pcg_below(&rng, POOL);
        pool[at] = made.truth && ~made.truth && pcg_below(&rng, 4)
                       ? made
                       : (struct formula){names[at % NAMES], truth_of(names, names[at % NAMES])};
    }
}

int main(void)
{
    const struct CMUnitTest always[] = {cmocka_unit_test(booleans), cmocka_unit_test(formulas)};
    const struct CMUnitTest solved[] = {cmocka_unit_test(booleans), cmocka_unit_test(arithmetic),
                                        cmocka_unit_test(sizes), cmocka_unit_test(formulas),
                                        cmocka_unit_test(children_are_kept)};
    if (system("command -v z3 >/dev/null") != 0) /* asked for nothing else */
        return cmocka_run_group_tests(always, start, stop);
    return cmocka_run_group_tests(solved, start, stop);
}
