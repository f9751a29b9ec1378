/* Trees: arithmetic of the language, deep copies, size, what ast_check accepts. */
#include "engine/input/input.h"
#include "engine/language/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void binary_values(void **state)
{
    (void)state;
    static const struct {
        enum ast_binary op;
        int32_t a, b, value;
    } table[] = {
        {BINARY_MUL, 65536, 65536, 0},
        {BINARY_MUL, INT32_MIN, -1, INT32_MIN},
        {BINARY_DIV, 7, -2, -3},
        {BINARY_DIV, -7, 2, -3},
        {BINARY_DIV, 7, 0, 0},
        {BINARY_DIV, INT32_MIN, -1, INT32_MIN},
        {BINARY_REM, -7, 2, -1},
        {BINARY_REM, 7, 0, 7},
        {BINARY_REM, INT32_MIN, 0, INT32_MIN},
        {BINARY_REM, INT32_MIN, -1, 0},
        {BINARY_ADD, INT32_MAX, 1, INT32_MIN},
        {BINARY_SUB, INT32_MIN, 1, INT32_MAX},
        {BINARY_SHL, 1, 31, INT32_MIN},
        {BINARY_SHL, 1, 32, 0},
        {BINARY_SHL, -1, -1, 0},
        {BINARY_SHR, -8, 1, -4},
        {BINARY_SHR, -8, 31, -1},
        {BINARY_SHR, -8, 32, -1},
        {BINARY_SHR, -8, -1, -1},
        {BINARY_SHR, 8, 32, 0},
        {BINARY_SHR, INT32_MIN, 31, -1},
        {BINARY_LT, -1, 0, 1},
        {BINARY_LE, 0, 0, 1},
        {BINARY_GT, -1, 0, 0},
        {BINARY_GE, 0, 0, 1},
        {BINARY_EQ, 3, 3, 1},
        {BINARY_NE, 3, 3, 0},
        {BINARY_AND, 12, 10, 8},
        {BINARY_XOR, 12, 10, 6},
        {BINARY_OR, 12, 10, 14},
        {BINARY_LOGICAL_AND, 2, 4, 1},
        {BINARY_LOGICAL_AND, 2, 0, 0},
        {BINARY_LOGICAL_OR, 0, 4, 1},
        {BINARY_LOGICAL_OR, 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        if (ast_eval_binary(table[i].op, table[i].a, table[i].b) != table[i].value)
            fail_msg("%d %s %d is not %d", table[i].a, ast_binary_names[table[i].op], table[i].b,
                     table[i].value);
    assert_int_equal(ast_eval_unary(UNARY_NEG, INT32_MIN), INT32_MIN);
    assert_int_equal(ast_eval_unary(UNARY_NEG, 5), -5);
    assert_int_equal(ast_eval_unary(UNARY_NOT, 5), 0);
    assert_int_equal(ast_eval_unary(UNARY_NOT, 0), 1);
    assert_int_equal(ast_eval_unary(UNARY_COMPLEMENT, 5), -6);
}

static void names_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < SPACE_COUNT; i++)
        assert_non_null(ast_space_names[i]);
    for (size_t i = 0; i < BUILTIN_COUNT; i++)
        assert_non_null(ast_builtin_names[i]);
    for (size_t i = 0; i < BINARY_COUNT; i++)
        assert_non_null(ast_binary_names[i]);
    for (size_t i = 0; i < ASSIGN_COUNT; i++)
        assert_non_null(ast_assign_names[i]);
    for (size_t i = 0; i < ATOMIC_COUNT; i++)
        assert_non_null(ast_atomic_names[i]);
    for (size_t i = 0; i < VOTE_COUNT; i++)
        assert_non_null(ast_vote_names[i]);
    for (size_t i = 0; i < CLAIM_COUNT; i++)
        assert_non_null(ast_claim_names[i]);
    for (size_t i = 0; i < STM_KIND_COUNT; i++)
        assert_non_null(ast_stm_names[i]);
}

/* ---- a kernel by hand:  shared int x[2]; int f(int p) { return p; }
 *                         kernel k() { private int v; v = f(x[tid]); while (1) { break; } } ---- */

struct sample {
    struct ast_kernel *kernel;
    struct ast_var *x, *p, *v;
    struct ast_function *f;
    struct ast_stm *call, *loop, *leave;
};

static const struct location nowhere;

static struct sample sample_new(struct arena *arena)
{
    struct sample s = {.kernel = ARENA_NEW(arena, struct ast_kernel)};
    s.x = ast_var(arena, "x", SPACE_SHARED, 2, true);
    s.p = ast_var(arena, "p", SPACE_LOCAL, 1, false);
    s.p->is_parameter = true;
    s.v = ast_var(arena, "v", SPACE_LOCAL, 1, false);
    s.f = ARENA_NEW(arena, struct ast_function);
    s.f->name = "f";
    s.f->returns_int = true;
    s.f->parameter_count = 1;
    s.f->locals = s.p;
    s.f->body = ast_stm(arena, STM_RETURN, nowhere);
    s.f->body->value = ast_var_ref(arena, s.p);
    s.call = ast_stm(arena, STM_CALL, nowhere);
    s.call->function = s.f;
    s.call->target.var = s.v;
    s.call->arguments = ast_index(arena, s.x, ast_builtin_ref(arena, BUILTIN_TID));
    s.loop = ast_stm(arena, STM_WHILE, nowhere);
    s.loop->value = ast_int(arena, 1);
    s.loop->body = ast_stm(arena, STM_BLOCK, nowhere);
    s.leave = ast_stm(arena, STM_BREAK, nowhere);
    ast_stm_append(&s.loop->body->body, s.leave);
    s.kernel->name = "k";
    s.kernel->launch = AST_DEFAULT_LAUNCH;
    ast_var_append(&s.kernel->vars, s.x);
    s.kernel->functions = s.f;
    s.kernel->main = ARENA_NEW(arena, struct ast_function);
    s.kernel->main->name = "k";
    s.kernel->main->locals = s.v;
    ast_stm_append(&s.kernel->main->body, s.call);
    ast_stm_append(&s.kernel->main->body, s.loop);
    s.kernel->expects = ARENA_NEW(arena, struct ast_expect);
    s.kernel->expects->claim = CLAIM_RACE;
    s.kernel->expects->var = s.x;
    return s;
}

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    return arena_init(&arena, 16 << 20);
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static void copy_is_deep_and_rewired(void **state)
{
    (void)state;
    struct sample s = sample_new(&arena);
    s.x->init_count = 1;
    s.x->init = ARENA_ARRAY(&arena, int32_t, 1);
    struct ast_kernel *copy = ast_kernel_copy(&arena, s.kernel);
    assert_ptr_not_equal(copy->vars, s.x);
    assert_ptr_not_equal(copy->vars->init, s.x->init);
    assert_ptr_not_equal(copy->functions, s.f);
    assert_ptr_equal(copy->functions->body->value->var, copy->functions->locals);
    struct ast_stm *call = copy->main->body;
    assert_ptr_equal(call->function, copy->functions);
    assert_ptr_equal(call->target.var, copy->main->locals);
    assert_ptr_equal(call->arguments->var, copy->vars);
    assert_ptr_equal(copy->expects->var, copy->vars);
    assert_ptr_not_equal(call->next, s.loop);
    assert_int_equal(ast_kernel_size(copy), 4);
    assert_true(ast_check(copy, NULL));
    struct ast_expr *expr = ast_expr_copy(&arena, s.call->arguments);
    assert_ptr_not_equal(expr, s.call->arguments);
    assert_ptr_equal(expr->var, s.x);
    struct ast_stm *list = ast_stm_list_copy(&arena, s.call);
    assert_ptr_equal(list->function, s.f);
    assert_ptr_not_equal(list->next->body, s.loop->body);
}

static void copy_rewires_blocks(void **state)
{
    (void)state;
    struct ast_kernel *kernel = ARENA_NEW(&arena, struct ast_kernel);
    kernel->name = "k";
    kernel->form = FORM_BLOCKS;
    kernel->launch = AST_DEFAULT_LAUNCH;
    kernel->main = ARENA_NEW(&arena, struct ast_function);
    kernel->main->name = "k";
    struct ast_block *start = ARENA_NEW(&arena, struct ast_block);
    struct ast_block *other = ARENA_NEW(&arena, struct ast_block);
    start->name = "Start";
    start->next = other;
    other->name = "L";
    other->target_count = 1;
    other->targets = ARENA_ARRAY(&arena, struct ast_block *, 1);
    start->target_count = 2;
    start->targets = ARENA_ARRAY(&arena, struct ast_block *, 2);
    start->targets[0] = other;
    kernel->main->blocks = start;
    struct ast_kernel *copy = ast_kernel_copy(&arena, kernel);
    assert_ptr_not_equal(copy->main->blocks->next, other);
    assert_ptr_equal(copy->main->blocks->targets[0], copy->main->blocks->next);
    assert_null(copy->main->blocks->targets[1]);
    assert_true(ast_check(copy, NULL));
    copy->main->blocks->body = ast_stm(&arena, STM_EXIT, nowhere);
    assert_false(ast_check(copy, NULL));
    copy->main->blocks->body = NULL;
    copy->main->blocks->targets[0] = other;
    assert_false(ast_check(copy, NULL));
}

/* ---- each rule of ast_check, broken once ---- */

static void break_outside(struct sample *s)
{
    ast_stm_append(&s->kernel->main->body, ast_stm(&arena, STM_BREAK, nowhere));
}
static void continue_outside(struct sample *s)
{
    ast_stm_append(&s->kernel->main->body, ast_stm(&arena, STM_CONTINUE, nowhere));
}
static void kernel_returns_value(struct sample *s)
{
    struct ast_stm *stm = ast_stm(&arena, STM_RETURN, nowhere);
    stm->value = ast_int(&arena, 1);
    ast_stm_append(&s->kernel->main->body, stm);
}
static void function_returns_nothing(struct sample *s)
{
    s->f->body->value = NULL;
}
static void void_as_value(struct sample *s)
{
    s->f->returns_int = false;
    s->f->body->value = NULL;
}
static void value_into_shared(struct sample *s)
{
    s->call->target.var = s->x;
    s->call->target.index = ast_int(&arena, 0);
}
static void missing_argument(struct sample *s)
{
    s->call->arguments = NULL;
}
static void array_without_index(struct sample *s)
{
    s->call->arguments->kind = EXPR_VAR;
}
static void scalar_with_index(struct sample *s)
{
    s->call->target.index = ast_int(&arena, 0);
}
static void foreign_variable(struct sample *s)
{
    s->call->arguments->var = ast_var(&arena, "y", SPACE_SHARED, 2, true);
}
static void other_functions_local(struct sample *s)
{
    s->call->target.var = s->p;
}
static void foreign_function(struct sample *s)
{
    struct ast_function *f = ARENA_NEW(&arena, struct ast_function);
    *f = *s->f;
    s->call->function = f;
}
static void too_many_threads(struct sample *s)
{
    s->kernel->launch.threads = LIMIT_THREADS + 1;
}
static void too_many_in_all(struct sample *s)
{
    s->kernel->launch.threads = LIMIT_THREADS;
    s->kernel->launch.blocks = LIMIT_BLOCKS;
}
static void no_warp(struct sample *s)
{
    s->kernel->launch.warp = 0;
}
static void too_much_memory(struct sample *s)
{
    s->kernel->launch.threads = LIMIT_THREADS;
    ast_var_append(&s->kernel->vars, ast_var(&arena, "big", SPACE_PRIVATE, LIMIT_ARRAY, true));
}
static void duplicate_name(struct sample *s)
{
    ast_var_append(&s->kernel->vars, ast_var(&arena, "x", SPACE_GLOBAL, 1, false));
}
static void name_of_function(struct sample *s)
{
    ast_var_append(&s->kernel->vars, ast_var(&arena, "f", SPACE_GLOBAL, 1, false));
}
static void loop_without_body(struct sample *s)
{
    s->loop->body = NULL;
}
static void guard_missing(struct sample *s)
{
    s->loop->value = NULL;
}
static void deep_expression(struct sample *s)
{
    for (int i = 0; i < LIMIT_DEPTH; i++)
        s->loop->value = ast_unary(&arena, UNARY_NOT, s->loop->value);
}
static void deep_statements(struct sample *s)
{
    for (int i = 0; i < LIMIT_DEPTH; i++) {
        struct ast_stm *block = ast_stm(&arena, STM_BLOCK, nowhere);
        block->body = s->kernel->main->body;
        s->kernel->main->body = block;
    }
}
static void duplicate_case(struct sample *s)
{
    s->loop->kind = STM_SWITCH;
    s->loop->body = NULL;
    s->loop->cases = ARENA_NEW(&arena, struct ast_case);
    s->loop->cases->next = ARENA_NEW(&arena, struct ast_case);
}
static void compound_in_for_head(struct sample *s)
{
    s->loop->kind = STM_FOR;
    s->loop->init = ast_stm(&arena, STM_EXIT, nowhere);
}
static void private_in_expectation(struct sample *s)
{
    s->kernel->expects->var = s->v;
}

static void check_finds_each_fault(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(struct sample *);
        const char *message;
    } table[] = {
        {break_outside, "'break' outside of a loop or switch"},
        {continue_outside, "'continue' outside of a loop"},
        {kernel_returns_value, "a kernel returns no value"},
        {function_returns_nothing, "function 'f' must return a value"},
        {void_as_value, "function 'f' returns no value"},
        {value_into_shared, "the value of a call goes only into a private variable; 'x' is shared"},
        {missing_argument, "function 'f' takes 1 argument, not 0"},
        {array_without_index, "array 'x' is used without an index"},
        {scalar_with_index, "'v' is not an array"},
        {foreign_variable, "'y' is not a variable that is visible here"},
        {other_functions_local, "'p' is not a variable that is visible here"},
        {foreign_function, "call of something that is not a function of this kernel"},
        {too_many_threads, "'threads' must be 1 to 1024"},
        {too_many_in_all, "1024 threads in 64 blocks are more than 4096"},
        {no_warp, "'warp' must be 1 to 64"},
        {too_much_memory,
         "variables and frames of all threads take 67142658 words, more than 4194304"},
        {duplicate_name, "'x' is already declared in this scope"},
        {name_of_function, "'f' is already declared as a variable"},
        {loop_without_body, "'while' needs one statement here"},
        {guard_missing, "expression is missing from 'while'"},
        {deep_expression, "expression is nested more than 200 deep"},
        {deep_statements, "statements are nested more than 200 deep"},
        {duplicate_case, "duplicate case value 0"},
        {compound_in_for_head, "'exit' cannot stand in the head of a 'for'"},
        {private_in_expectation, "'v' is not a shared or global variable"},
    };
    static struct diag diag;
    for (size_t i = 0; i < COUNT(table); i++) {
        struct sample s = sample_new(&arena);
        diag_init(&diag, "tree", NULL, 0);
        assert_true(ast_check(s.kernel, &diag));
        table[i].spoil(&s);
        assert_false(ast_check(s.kernel, &diag));
        assert_string_equal(diag.entries[0].text, table[i].message);
        assert_false(ast_check(s.kernel, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_values),
        cmocka_unit_test(names_are_complete),
        cmocka_unit_test_setup_teardown(copy_is_deep_and_rewired, setup, teardown),
        cmocka_unit_test_setup_teardown(copy_rewires_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(check_finds_each_fault, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
