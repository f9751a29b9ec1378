/* pi(P) and phi(P): where each statement comes from, orders, guards on shared variables. Tables 1 to 6 of lockstep-cfg
 * row by row, Figs. 5 and 7, what is refused: tests/cases/engine/forms. */
#include "engine/input/input.h"
#include "tests/unit/shared/blocks.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *transformed(const char *text, enum blocks_form form,
                               const struct predicate_options *options)
{
    return print_kernel(&test_arena, blocks_transform(support_parse(text), form, options));
}

/* ---- origins, orders ---- */

static uint32_t count_origin(const struct ast_kernel *kernel, uint32_t origin)
{
    uint32_t count = 0;
    for (const struct ast_block *b = kernel->main->blocks; b; b = b->next)
        for (const struct ast_stm *s = b->body; s; s = s->next)
            count += s->origin == origin;
    return count;
}

/* Every statement of P stands in its block, once; every other one is administrative. */
static void origins(void **state)
{
    (void)state;
    for (int form = BLOCKS_PI; form <= BLOCKS_PHI; form++) {
        const char *text = "shared int x; private int p; kernel k() blocks {\n"
                           "Start: havoc(p); x = 1; goto B; B: barrier(); havoc(x); goto B, End; }";
        struct ast_kernel *kernel = support_parse(text);
        const struct program *P = blocks_compile(kernel);
        const struct ast_kernel *result =
            blocks_transform(kernel, (enum blocks_form)form, &BLOCKS_DEFAULTS);
        for (uint32_t i = 0; i < P->stm_count; i++)
            assert_int_equal(count_origin(result, 1 + i), P->stms[i].kind == CODE_GOTO ? 0 : 1);
        for (const struct ast_block *b = result->main->blocks; b; b = b->next)
            for (const struct ast_stm *s = b->body; s; s = s->next)
                if (s->origin)
                    assert_int_equal(b->origin, 1 + P->stms[s->origin - 1].block);
    }
}

/* The blocks of P in the result, in its order. */
static void orders(void **state)
{
    (void)state;
    const char *text =
        "private int p; kernel k() blocks { Start: goto A, B, C; A: goto J; B: goto J;\n"
        "C: goto J; J: goto End; }";
    bool seen[4] = {false};
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct predicate_options options = {.order_seed = seed};
        const struct ast_kernel *result =
            blocks_transform(support_parse(text), BLOCKS_PHI, &options);
        uint32_t order[8], n = 0;
        for (const struct ast_block *b = result->main->blocks; b; b = b->next)
            if (b->origin)
                order[n++] = b->origin;
        assert_int_equal(n, 5);
        assert_true(order[0] == 1 && order[4] == 5);
        assert_int_equal(order[1] + order[2] + order[3], 2 + 3 + 4);
        assert_true(seed != 0 || (order[1] == 2 && order[2] == 3));
        seen[order[1] - 1] = true;
    }
    assert_true(seen[1] && seen[2] && seen[3]);
}

/* What a guard on shared variables says when its block is chosen, need not hold when it is reduced: it is in no early
 * assume. */
static void shared_guards_are_late(void **state)
{
    (void)state;
    static const char *const guards[] = {"p", "x", "a[0]"};
    uint32_t counts[COUNT(guards)] = {0};
    for (uint32_t i = 0; i < COUNT(guards); i++) {
        const char *guard = arena_printf(&test_arena, "%s == 7", guards[i]);
        const char *text = transformed(
            arena_printf(&test_arena,
                         "shared int x, a[2]; private int p; kernel k() blocks { Start: goto T, F;"
                         "T: assume(%s); goto End; F: assume(1); goto End; }",
                         guard),
            BLOCKS_PI, &BLOCKS_DEFAULTS);
        for (const char *at = text; (at = strstr(at, guard)); at++)
            counts[i]++;
    }
    assert_int_equal(counts[1], counts[0] - 1);
    assert_int_equal(counts[2], counts[0] - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(origins),
        TEST(orders),
        TEST(shared_guards_are_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
