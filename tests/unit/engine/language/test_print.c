/* Printing: text -> tree -> text is a fixpoint with equal trees. Canonical texts: tests/cases/engine/language. */
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/language/print.h"
#include "tests/unit/engine/language/parse_text.h"
#include "tests/unit/engine/language/tree_equal.h"

#include <dirent.h>
#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The tree prints to a text that parses to an equal tree and prints the same. */
static const char *round_trip(const struct ast_kernel *kernel)
{
    const char *text = print_kernel(&arena, kernel);
    const struct ast_kernel *again = parse(text);
    if (!kernel_equal(kernel, again))
        fail_msg("another tree after: %s", text);
    assert_string_equal(print_kernel(&arena, again), text);
    return text;
}

/* ---- every kernel of the corpus ---- */

static uint32_t round_trip_folder(const char *folder)
{
    uint32_t kernels = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        size_t mark = arena_mark(&arena), length = 0;
        const char *path = arena_printf(&arena, "%s/%s", folder, entry->d_name);
        const char *dot = strrchr(entry->d_name, '.');
        if (entry->d_name[0] != '.' && !dot)
            kernels += round_trip_folder(path);
        if (dot && strcmp(dot, ".simt") == 0) {
            const char *text = parse_read_file(&arena, path, &length, &diag);
            assert_non_null(text);
            round_trip(parse(text));
            kernels++;
        }
        arena_release(&arena, mark);
    }
    if (entries)
        closedir(entries);
    return kernels;
}

static void corpus(void **state)
{
    (void)state;
    assert_true(round_trip_folder(SIMTFUZZ_SOURCE_DIR "/corpus") > 0);
}

/* ---- trees that no text gave: random, within the limits ---- */

struct maker {
    struct pcg rng;
    struct ast_var *scalars[2], *array;
};

static struct ast_expr *make_expr(struct maker *m, uint32_t depth)
{
    static const int32_t values[] = {0, 1, -1, 7, INT32_MIN, INT32_MAX};
    switch (depth == 0 ? pcg_below(&m->rng, 3) : pcg_below(&m->rng, 9)) {
    case 0:
        return ast_int(&arena, values[pcg_below(&m->rng, COUNT(values))]);
    case 1:
        return ast_var_ref(&arena, m->scalars[pcg_below(&m->rng, 2)]);
    case 2:
        return ast_builtin_ref(&arena, (enum ast_builtin)pcg_below(&m->rng, BUILTIN_COUNT));
    case 3:
        return ast_index(&arena, m->array, make_expr(m, depth - 1));
    case 4:
    case 5:
        return ast_unary(&arena, (enum ast_unary)pcg_below(&m->rng, 3), make_expr(m, depth - 1));
    case 6:
        return ast_cond(&arena, make_expr(m, depth - 1), make_expr(m, depth - 1),
                        make_expr(m, depth - 1));
    default:
        return ast_binary(&arena, (enum ast_binary)pcg_below(&m->rng, BINARY_COUNT),
                          make_expr(m, depth - 1), make_expr(m, depth - 1));
    }
}

static struct ast_stm *make_stms(struct maker *m, uint32_t depth);

static struct ast_stm *make_part(struct maker *m, uint32_t depth)
{
    struct ast_stm *list = make_stms(m, depth);
    if (list && !list->next && pcg_below(&m->rng, 2))
        return list;
    struct ast_stm *block = ast_stm(&arena, STM_BLOCK, (struct location){0, 0});
    block->body = list;
    return block;
}

static struct ast_stm *make_stm(struct maker *m, uint32_t depth)
{
    static const enum ast_stm_kind kinds[] = {STM_SKIP,  STM_ASSIGN, STM_BLOCK, STM_IF,
                                              STM_WHILE, STM_DO,     STM_SWITCH};
    enum ast_stm_kind kind = kinds[depth == 0 ? pcg_below(&m->rng, 2) : pcg_below(&m->rng, 7)];
    struct ast_stm *stm = ast_stm(&arena, kind, (struct location){0, 0});
    if (kind == STM_ASSIGN) {
        stm->op = (enum ast_assign_op)pcg_below(&m->rng, ASSIGN_COUNT);
        stm->target.var = m->scalars[0];
    }
    if (kind == STM_BLOCK)
        stm->body = make_stms(m, depth - 1);
    else if (kind != STM_SKIP)
        stm->value = make_expr(m, 3);
    if (kind == STM_IF || kind == STM_WHILE || kind == STM_DO)
        stm->body = make_part(m, depth - 1);
    if (kind == STM_IF && pcg_below(&m->rng, 2))
        stm->other = make_part(m, depth - 1);
    if (kind == STM_SWITCH) {
        stm->cases = ARENA_NEW(&arena, struct ast_case);
        stm->cases->is_default = pcg_below(&m->rng, 2);
        stm->cases->body = make_stms(m, depth - 1);
    }
    return stm;
}

static struct ast_stm *make_stms(struct maker *m, uint32_t depth)
{
    struct ast_stm *list = NULL;
    for (uint32_t n = pcg_below(&m->rng, 3); n > 0; n--)
        ast_stm_append(&list, make_stm(m, depth));
    return list;
}

static struct ast_kernel *make_kernel(struct maker *m)
{
    struct ast_kernel *kernel = ARENA_NEW(&arena, struct ast_kernel);
    m->scalars[0] = ast_var(&arena, "x", SPACE_SHARED, 1, false);
    m->scalars[1] = ast_var(&arena, "y", SPACE_GLOBAL, 1, false);
    m->array = ast_var(&arena, "v", SPACE_PRIVATE, 4, true);
    kernel->name = "k";
    kernel->launch = AST_DEFAULT_LAUNCH;
    ast_var_append(&kernel->vars, m->scalars[0]);
    ast_var_append(&kernel->vars, m->scalars[1]);
    ast_var_append(&kernel->vars, m->array);
    kernel->main = ARENA_NEW(&arena, struct ast_function);
    kernel->main->name = "k";
    return kernel;
}

static void random_trees(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        size_t mark = arena_mark(&arena);
        struct maker m = {.rng = pcg_derive(7, PCG_KERNEL, i)};
        struct ast_kernel *kernel = make_kernel(&m);
        kernel->main->body = make_stms(&m, 4);
        struct ast_stm *last =
            ast_assign(&arena, m.scalars[0], NULL, make_expr(&m, 5), (struct location){0, 0});
        ast_stm_append(&kernel->main->body, last);
        assert_true(ast_check(kernel, NULL));
        round_trip(kernel);
        arena_release(&arena, mark);
    }
}

/* The deepest trees that are legal print to texts that are legal. */
static void deepest_trees(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < 8; kind++) {
        struct maker m = {.rng = pcg_derive(7, PCG_KERNEL, kind)};
        struct ast_kernel *kernel = make_kernel(&m);
        struct ast_expr *expr = ast_var_ref(&arena, m.scalars[0]);
        struct ast_stm *body = ast_stm(&arena, STM_SKIP, (struct location){0, 0});
        for (uint32_t i = 1; i < LIMIT_DEPTH; i++) {
            struct ast_expr *leaf = ast_int(&arena, 3), *other = ast_int(&arena, 5);
            struct ast_expr *const shapes[] = {
                ast_unary(&arena, UNARY_NEG, expr),
                ast_binary(&arena, BINARY_SUB, leaf, expr),
                ast_binary(&arena, BINARY_SUB, expr, leaf),
                ast_cond(&arena, expr, leaf, other),
                ast_cond(&arena, leaf, expr, other),
                ast_cond(&arena, leaf, other, expr),
                ast_index(&arena, m.array, expr),
                i % 2 ? ast_cond(&arena, expr, leaf, other) : ast_unary(&arena, UNARY_NEG, expr),
            };
            expr = shapes[kind];
            struct ast_stm *outer = ast_stm(&arena,
                                            kind < 3   ? STM_IF
                                            : kind < 6 ? STM_DO
                                                       : STM_BLOCK,
                                            body->at);
            outer->value = kind < 6 ? ast_int(&arena, 1) : NULL;
            outer->body = body;
            if (kind == 1) {
                outer->body = ast_stm(&arena, STM_SKIP, body->at);
                outer->other = body;
            }
            body = outer;
        }
        kernel->main->body = body;
        struct ast_stm *last =
            ast_assign(&arena, m.scalars[0], NULL, expr, (struct location){0, 0});
        ast_stm_append(&kernel->main->body, last);
        assert_true(ast_check(kernel, NULL));
        round_trip(kernel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(corpus, setup, teardown),
        cmocka_unit_test_setup_teardown(random_trees, setup, teardown),
        cmocka_unit_test_setup_teardown(deepest_trees, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
