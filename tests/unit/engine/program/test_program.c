/* Programs: that what is laid out means what the tree says, and what only trees made by hand or by a loop ask for.
 * How kernels are laid out is printed in tests/cases/engine/program. */
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/machine/machine.h"
#include "engine/program/program.h"
#include "engine/warps/threads.h"
#include "tests/unit/shared/arena_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- small trees by hand ---- */

static const struct location nowhere = {0};

static struct ast_function *function_new(const char *name)
{
    struct ast_function *function = ARENA_NEW(&arena, struct ast_function);
    function->name = name;
    return function;
}

static struct ast_kernel *kernel_new(uint32_t threads, uint32_t warp, uint32_t blocks)
{
    struct ast_kernel *kernel = ARENA_NEW(&arena, struct ast_kernel);
    kernel->name = "k";
    kernel->launch = (struct ast_launch){.threads = threads, .warp = warp, .blocks = blocks};
    kernel->main = function_new("k");
    return kernel;
}

static struct ast_function *function_add(struct ast_kernel *kernel, const char *name)
{
    struct ast_function **end = &kernel->functions;
    while (*end)
        end = &(*end)->next;
    return *end = function_new(name);
}

static struct ast_var *scalar(struct ast_kernel *kernel, const char *name, enum ast_space space)
{
    struct ast_var *var = ast_var(&arena, name, space, 1, false);
    ast_var_append(&kernel->vars, var);
    return var;
}

static struct ast_var *array(struct ast_kernel *kernel, const char *name, enum ast_space space,
                             uint32_t length)
{
    struct ast_var *var = ast_var(&arena, name, space, length, true);
    ast_var_append(&kernel->vars, var);
    return var;
}

static struct ast_stm *simple(enum ast_stm_kind kind)
{
    return ast_stm(&arena, kind, nowhere);
}

static struct ast_stm *loop(struct ast_expr *guard, struct ast_stm *body)
{
    struct ast_stm *stm = simple(STM_WHILE);
    stm->value = guard;
    stm->body = body;
    return stm;
}

static struct ast_stm *call(struct ast_function *function)
{
    struct ast_stm *stm = simple(STM_CALL);
    stm->function = function;
    return stm;
}

static struct program *compile(const struct ast_kernel *kernel)
{
    const char *reason = NULL;
    struct program *program = program_compile(&arena, kernel, &reason);
    if (!program)
        fail_msg("refused: %s", reason);
    return program;
}

static const char *refusal(const struct ast_kernel *kernel)
{
    const char *reason = NULL;
    assert_null(program_compile(&arena, kernel, &reason));
    assert_non_null(reason);
    return reason;
}

/* ---- statements ---- */

static void unsupported_statements_are_named(void **state)
{
    (void)state;
    static const enum ast_stm_kind kinds[] = {STM_SYNC, STM_ARRIVE, STM_PICK, STM_LOCKSYNC};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct ast_kernel *kernel = kernel_new(1, 1, 1);
        kernel->main->body =
            loop(ast_int(&arena, 1), ast_stm(&arena, kinds[i], (struct location){3, 5}));
        assert_string_equal(
            refusal(kernel),
            arena_printf(&arena, "unsupported statement '%s' at line 3", ast_stm_names[kinds[i]]));
    }
    /* Calls pass nothing any more, neither way. */
    for (int way = 0; way < 2; way++) {
        struct ast_kernel *kernel = kernel_new(1, 1, 1);
        struct ast_var *x = scalar(kernel, "x", SPACE_PRIVATE);
        kernel->main->body = call(kernel->main);
        kernel->main->body->at = (struct location){3, 5};
        if (way)
            kernel->main->body->target.var = x;
        else
            kernel->main->body->arguments = ast_int(&arena, 1);
        assert_string_equal(refusal(kernel), "unsupported statement 'call' at line 3");
    }
    struct ast_kernel *kernel = kernel_new(1, 1, 1);
    kernel->main->body = simple(STM_MEMBAR);
    assert_int_equal(compile(kernel)->stms[0].kind, CODE_SKIP);
}

/* A statement that compiles is run only by semantics that have a rule for it. */
static void semantics_refuse_what_they_have_no_rule_for(void **state)
{
    (void)state;
    struct ast_kernel *kernel = kernel_new(1, 1, 1);
    struct semantics skips = {.name = "skips", .kinds = 1u << CODE_SKIP};
    kernel->main->body = simple(STM_SKIP);
    assert_null(machine_refuses(&arena, &skips, compile(kernel)));
    kernel->main->body = ast_stm(&arena, STM_BARRIER, (struct location){3, 5});
    assert_string_equal(machine_refuses(&arena, &skips, compile(kernel)),
                        "unsupported statement 'barrier' at line 3");
    skips.kinds |= 1u << CODE_BARRIER;
    assert_null(machine_refuses(&arena, &skips, compile(kernel)));
    struct semantics blocks = {.name = "blocks", .form = FORM_BLOCKS, .kinds = skips.kinds};
    assert_string_equal(machine_refuses(&arena, &blocks, compile(kernel)),
                        "a program in structured form, which 'blocks' does not execute");
}

/* ---- expressions ---- */

/* What an expression reads, in order: the second, naive evaluator, straight from the tree. */
struct reads {
    const int32_t *memory;
    uint32_t log[256];
    uint32_t count;
    bool fault;
};

static int32_t tree_eval(const struct ast_expr *e, struct reads *reads, const uint32_t *offsets)
{
    int32_t a;
    switch (e->kind) {
    case EXPR_INT:
        return e->value;
    case EXPR_VAR:
    case EXPR_INDEX: {
        uint32_t index = e->kind == EXPR_INDEX ? (uint32_t)tree_eval(e->a, reads, offsets) : 0;
        if (reads->fault || index >= e->var->length) {
            reads->fault = true;
            return 0;
        }
        uint32_t address = offsets[e->var->mark] + index;
        if (reads->count < 256)
            reads->log[reads->count++] = address;
        return reads->memory[address];
    }
    case EXPR_BUILTIN:
        return 0; /* one thread: tid is all that is drawn */
    case EXPR_UNARY:
        return ast_eval_unary(e->unary, tree_eval(e->a, reads, offsets));
    case EXPR_BINARY:
        a = tree_eval(e->a, reads, offsets);
        if (reads->fault)
            return 0;
        if (e->binary == BINARY_LOGICAL_AND)
            return a && tree_eval(e->b, reads, offsets);
        if (e->binary == BINARY_LOGICAL_OR)
            return a || tree_eval(e->b, reads, offsets);
        return ast_eval_binary(e->binary, a, tree_eval(e->b, reads, offsets));
    case EXPR_COND:
        a = tree_eval(e->a, reads, offsets);
        if (reads->fault)
            return 0;
        return tree_eval(a ? e->b : e->c, reads, offsets);
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    return 0;
}

static struct ast_expr *draw_expr(struct pcg *rng, const struct ast_kernel *kernel, uint32_t depth)
{
    uint32_t shape = pcg_below(rng, depth == 0 ? 3 : 10);
    struct ast_var *x = kernel->vars, *a = x->next;
    switch (shape) {
    case 0:
        return ast_int(&arena, (int32_t)pcg_below(rng, 5) - 1);
    case 1:
        return ast_var_ref(&arena, x);
    case 2:
        return ast_builtin_ref(&arena, BUILTIN_TID);
    case 3:
        return ast_index(&arena, a, draw_expr(rng, kernel, depth - 1));
    case 4:
        return ast_unary(&arena, (enum ast_unary)pcg_below(rng, 3),
                         draw_expr(rng, kernel, depth - 1));
    case 5: {
        struct ast_expr *guard = draw_expr(rng, kernel, depth - 1);
        struct ast_expr *yes = draw_expr(rng, kernel, depth - 1);
        return ast_cond(&arena, guard, yes, draw_expr(rng, kernel, depth - 1));
    }
    default: {
        struct ast_expr *left = draw_expr(rng, kernel, depth - 1);
        return ast_binary(&arena, (enum ast_binary)pcg_below(rng, BINARY_COUNT), left,
                          draw_expr(rng, kernel, depth - 1));
    }
    }
}

static void log_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)thread, (void)stm;
    struct reads *reads = context;
    if (reads->count < 256)
        reads->log[reads->count++] = address;
}

static uint32_t pick_first(struct choices *choices, const struct machine *machine)
{
    (void)choices, (void)machine;
    return 0;
}

static uint32_t choose_first(struct choices *choices, uint32_t n)
{
    (void)choices, (void)n;
    return 0;
}

static struct choices first_choices = {.pick = pick_first, .choose = choose_first};

/* Random expressions: the code reads the same addresses in the same order, faults or gives the same
 * value as a walk over the tree. */
static void expression_code_means_the_tree(void **state)
{
    (void)state;
    uint32_t faults = 0;
    for (uint32_t n = 0; n < 2000; n++) {
        size_t mark = arena_mark(&arena);
        struct pcg rng = pcg_derive(7, PCG_KERNEL, n);
        struct ast_kernel *kernel = kernel_new(1, 1, 1);
        struct ast_var *x = scalar(kernel, "x", SPACE_GLOBAL);
        array(kernel, "a", SPACE_SHARED, 4)->init = (int32_t[]){1, -1, 3, 0};
        x->next->init_count = 4;
        struct ast_var *result = scalar(kernel, "result", SPACE_GLOBAL);
        struct ast_expr *expr = draw_expr(&rng, kernel, 1 + pcg_below(&rng, 5));
        kernel->main->body = ast_assign(&arena, result, NULL, expr, nowhere);
        const struct program *program = compile(kernel);

        struct reads code = {0}, tree = {0};
        struct observer observer = {.context = &code, .read = log_read};
        struct machine_options options = {.observers = &observer};
        struct machine *machine = machine_new(&arena, &semantics_threads, program, &options);
        const uint32_t offsets[] = {0, program->shared_base, 1};
        int32_t *memory = ARENA_ARRAY(&arena, int32_t, program->memory_words);
        memcpy(memory, machine->memory, program->memory_words * sizeof *memory);
        tree.memory = memory;
        int32_t expected = tree_eval(expr, &tree, offsets);
        while (machine_status(machine) == STATUS_RUNNING)
            machine_step(machine, 0, &first_choices);

        assert_int_equal(machine_status(machine),
                         tree.fault ? STATUS_OUT_OF_BOUNDS : STATUS_TERMINATED);
        assert_int_equal(code.count, tree.count);
        assert_memory_equal(code.log, tree.log, code.count * sizeof code.log[0]);
        if (!tree.fault)
            assert_int_equal(machine->memory[1], expected);
        faults += tree.fault;
        arena_release(&arena, mark);
    }
    assert_in_range(faults, 30, 1900);
}

static void expressions_too_deep_are_refused(void **state)
{
    (void)state;
    struct ast_kernel *kernel = kernel_new(1, 1, 1);
    struct ast_var *x = scalar(kernel, "x", SPACE_GLOBAL);
    struct ast_expr *right = ast_var_ref(&arena, x);
    for (int i = 0; i < 1000; i++)
        right = ast_binary(&arena, BINARY_ADD, ast_var_ref(&arena, x), right);
    kernel->main->body = ast_assign(&arena, x, NULL, right, nowhere);
    assert_non_null(strstr(refusal(kernel), "expression"));
}

/* ---- memory ---- */

static int32_t *initial_memory(const struct program *program)
{
    int32_t *memory = ARENA_ARRAY(&arena, int32_t, program->memory_words);
    memset(memory, 0xee, program->memory_words * sizeof *memory);
    program_init_memory(program, memory);
    return memory;
}

static void inputs_depend_on_seed_and_number_only(void **state)
{
    (void)state;
    struct ast_kernel *one = kernel_new(2, 2, 2), *two = kernel_new(2, 2, 2);
    one->launch.seed = two->launch.seed = 99;
    scalar(one, "x", SPACE_GLOBAL);
    array(one, "in", SPACE_SHARED, 64)->is_input = true;
    array(two, "other", SPACE_SHARED, 5)->is_input = true;
    array(two, "in", SPACE_SHARED, 64)->is_input = true;
    scalar(two, "more", SPACE_GLOBAL)->is_input = true;
    one->main->body = two->main->body = simple(STM_SKIP);
    const struct program *a = compile(one), *b = compile(two);
    const int32_t *in_a = initial_memory(a) + a->shared_base;
    const int32_t *in_b = initial_memory(b) + b->shared_base + 5;
    assert_memory_equal(in_a, in_b, 64 * sizeof *in_a);
    assert_memory_not_equal(in_a, in_a + 64, 64 * sizeof *in_a); /* drawn for each block */
    assert_int_equal(in_a[-1], 0);
    uint32_t small = 0;
    for (int i = 0; i < 128; i++)
        small += in_a[i] >= -4 && in_a[i] <= 12;
    assert_in_range(small, 90, 127);
    one->launch.seed = 100;
    const struct program *c = compile(one);
    assert_memory_not_equal(in_a, initial_memory(c) + c->shared_base, 64 * sizeof *in_a);
}

static void too_much_memory_is_refused(void **state)
{
    (void)state;
    struct ast_kernel *kernel = kernel_new(1024, 32, 4);
    for (int i = 0; i < 300; i++)
        array(kernel, arena_printf(&arena, "a%d", i), SPACE_PRIVATE, LIMIT_ARRAY);
    kernel->main->body = simple(STM_SKIP);
    assert_string_equal(refusal(kernel), "needs 80530636800 words of memory, limit 4194304");

    kernel = kernel_new(64, 32, 1);
    struct ast_function *f = function_add(kernel, "f");
    ast_var_append(&f->locals, ast_var(&arena, "a", SPACE_LOCAL, 3000, true));
    kernel->main->body = call(f);
    assert_int_equal(compile(kernel)->words[SPACE_LOCAL], 3000);
    f->body = call(f); /* 31 frames under the kernel's */
    assert_string_equal(refusal(kernel), "needs 5952000 words of memory, limit 4194304");

    kernel = kernel_new(1, 1, 1);
    for (int i = 0; i < 100; i++)
        ast_var_append(&kernel->main->locals, ast_var(&arena, "a", SPACE_LOCAL, LIMIT_ARRAY, true));
    assert_non_null(strstr(refusal(kernel), "limit 4194304"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsupported_statements_are_named),
        cmocka_unit_test(semantics_refuse_what_they_have_no_rule_for),
        cmocka_unit_test(expression_code_means_the_tree),
        cmocka_unit_test(expressions_too_deep_are_refused),
        cmocka_unit_test(inputs_depend_on_seed_and_number_only),
        cmocka_unit_test(too_much_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
