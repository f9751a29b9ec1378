/* Direction-driven kernels: their expectation against a naive run of each thread by itself. */
#include "engine/input/input.h"
#include "tests/unit/shared/support.h"

#include "fuzz/generate/generate.h"
#include "fuzz/graphs/gen_blocks.h"

#include <stdio.h>

enum { STEPS_MAX = 5000 };

/* One thread after the other: the trace of a thread depends on nothing that another one writes. */
struct naive {
    const struct ast_kernel *kernel;
    int32_t **memory; /* of a variable, by its mark: all copies of it */
    int32_t tid, bid;
};

static uint32_t copy_of(const struct naive *n, const struct ast_var *var)
{
    const struct ast_launch *launch = &n->kernel->launch;
    if (var->space == SPACE_GLOBAL)
        return 0;
    uint32_t block = (uint32_t)n->bid;
    return var->space == SPACE_SHARED ? block : block * launch->threads + (uint32_t)n->tid;
}

static void add_vars(struct naive *n, struct ast_var *list, uint32_t *count)
{
    const struct ast_launch *launch = &n->kernel->launch;
    for (struct ast_var *var = list; var; var = var->next) {
        uint32_t copies = launch->threads * launch->blocks;
        var->mark = (*count)++;
        n->memory[var->mark] = ARENA_ARRAY(&test_arena, int32_t, copies * var->length);
        for (uint32_t i = 0; i < copies; i++)
            for (uint32_t k = 0; k < var->init_count; k++)
                n->memory[var->mark][i * var->length + k] = var->init[k];
    }
}

static int32_t *cell(const struct naive *n, const struct ast_var *var, int32_t index)
{
    assert_in_range(index, 0, var->length - 1);
    return &n->memory[var->mark][copy_of(n, var) * var->length + (uint32_t)index];
}

static int32_t builtin(const struct naive *n, enum ast_builtin which)
{
    const struct ast_launch *launch = &n->kernel->launch;
    int32_t warp = (int32_t)launch->warp;
    const int32_t values[BUILTIN_COUNT] = {
        [BUILTIN_TID] = n->tid,
        [BUILTIN_THREADS] = (int32_t)launch->threads,
        [BUILTIN_LANE] = n->tid % warp,
        [BUILTIN_WARP] = n->tid / warp,
        [BUILTIN_WARP_SIZE] = warp,
        [BUILTIN_BID] = n->bid,
        [BUILTIN_BLOCKS] = (int32_t)launch->blocks,
    };
    return values[which];
}

static int32_t eval(const struct naive *n, const struct ast_expr *e)
{
    switch (e->kind) {
    case EXPR_INT:
        return e->value;
    case EXPR_VAR:
        return *cell(n, e->var, 0);
    case EXPR_INDEX:
        return *cell(n, e->var, eval(n, e->a));
    case EXPR_BUILTIN:
        return builtin(n, e->builtin);
    case EXPR_UNARY:
        return ast_eval_unary(e->unary, eval(n, e->a));
    case EXPR_BINARY:
        if (e->binary == BINARY_LOGICAL_AND)
            return eval(n, e->a) && eval(n, e->b);
        if (e->binary == BINARY_LOGICAL_OR)
            return eval(n, e->a) || eval(n, e->b);
        return ast_eval_binary(e->binary, eval(n, e->a), eval(n, e->b));
    case EXPR_COND:
        return eval(n, e->a) ? eval(n, e->b) : eval(n, e->c);
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    fail_msg("not an expression of the block form");
    return 0;
}

/* The one target whose guard holds. */
static const struct ast_block *go(const struct naive *n, const struct ast_block *block)
{
    const struct ast_block *taken = NULL;
    uint32_t possible = 0;
    for (uint32_t i = 0; i < block->target_count; i++) {
        const struct ast_block *target = block->targets[i];
        bool guarded = target && target->body && target->body->kind == STM_ASSUME;
        if (guarded && eval(n, target->body->value) == 0)
            continue;
        possible++;
        taken = target;
    }
    assert_int_equal(possible, 1);
    return taken;
}

static void run_thread(const struct naive *n)
{
    uint32_t steps = 0;
    for (const struct ast_block *b = n->kernel->main->blocks; b; b = go(n, b))
        for (const struct ast_stm *s = b->body; s; s = s->next) {
            assert_true(steps++ < STEPS_MAX);
            if (s->kind != STM_ASSIGN)
                continue;
            assert_int_equal(s->op, ASSIGN_SET);
            int32_t value = eval(n, s->value);
            *cell(n, s->target.var, s->target.index ? eval(n, s->target.index) : 0) = value;
        }
}

static bool meets_its_expectation(const struct ast_kernel *kernel)
{
    struct naive n = {.kernel = kernel};
    uint32_t count = 0;
    n.memory = ARENA_ARRAY(&test_arena, int32_t *, 2 * LIMIT_VARIABLES);
    add_vars(&n, kernel->vars, &count);
    add_vars(&n, kernel->main->locals, &count);
    for (n.bid = 0; n.bid < (int32_t)kernel->launch.blocks; n.bid++)
        for (n.tid = 0; n.tid < (int32_t)kernel->launch.threads; n.tid++)
            run_thread(&n);
    const struct ast_expect *expect = kernel->expects;
    assert_int_equal(expect->claim, CLAIM_FINAL);
    assert_int_equal(expect->var->space, SPACE_GLOBAL);
    return memcmp(n.memory[expect->var->mark], expect->values,
                  expect->value_count * sizeof *expect->values) == 0;
}

static void follow(const char *features)
{
    struct gen_options options = GEN_DEFAULTS;
    const char *error_at;
    assert_true(gen_parse_features(features, &options.features, &error_at));
    uint32_t kernels = 0, in_full = 0, loops = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        size_t mark = arena_mark(&test_arena);
        struct ast_kernel *kernel = gen_case(&test_arena, 41, i, &options);
        if (kernel->form == FORM_BLOCKS) {
            if (!meets_its_expectation(kernel))
                fail_msg("%s", print_kernel(&test_arena, kernel));
            const struct ast_expect *expect = kernel->expects;
            uint32_t threads = kernel->launch.threads * kernel->launch.blocks;
            kernels++;
            in_full += expect->value_count > threads;
            for (uint32_t k = 1; expect->value_count > threads && k < expect->value_count; k++)
                loops += expect->values[k] != 0 && expect->values[k] == expect->values[k - 1];
            /* Another trace is another one. */
            expect->values[expect->value_count / 2] ^= 1;
            assert_false(meets_its_expectation(kernel));
        }
        arena_release(&test_arena, mark);
    }
    assert_in_range(kernels, 200, 600);
    assert_in_range(in_full, kernels / 5, kernels);
    assert_true(loops > 100);
}

static void directions_lead_where_the_kernel_says(void **state)
{
    (void)state;
    follow("-graphs,directions");
    follow("none,directions,oob,arrays,inputs,blocks"); /* no index is outside in these */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_lead_where_the_kernel_says),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
