/*
 * Structured kernels to blocks (the shapes, what is refused: tests/cases/engine/forms): generated kernels under all
 * options: what comes out parses, is well-formed, stands in a valid order, and does the same. The meaning is that of an
 * interpreter that walks the blocks, one thread after another.
 */
#include "tests/unit/shared/block_order.h"
#include "tests/unit/shared/many.h"

#include "engine/base/pcg.h"
#include "engine/forms/lower_cfg.h"
#include "engine/forms/normalise.h"
#include "engine/input/input.h"
#include "engine/language/print.h"
#include "engine/program/program.h"
#include "fuzz/generate/generate.h"

/* ---- the interpreter ---- */

struct interpreter {
    const struct program
        *program; /* of the core kernel: places of file-level variables, builtins */
    int32_t *memory;
    uint32_t thread;
    int32_t *frame; /* marks of locals are places in it */
    uint32_t depth;
    uint64_t budget;
    enum status status;
};

static bool stop(struct interpreter *in, enum status status)
{
    if (in->status == STATUS_RUNNING)
        in->status = status;
    return false;
}

static int32_t *variable(const struct interpreter *in, const struct ast_var *var)
{
    const struct program *p = in->program;
    uint32_t bid = in->thread / p->launch.threads;
    if (var->space == SPACE_LOCAL)
        return in->frame + var->mark;
    const uint32_t base[] = {[SPACE_GLOBAL] = 0,
                             [SPACE_SHARED] = p->shared_base + bid * p->words[SPACE_SHARED],
                             [SPACE_PRIVATE] =
                                 p->private_base + in->thread * p->words[SPACE_PRIVATE]};
    return in->memory + base[var->space] + p->vars[var->mark].offset;
}

static int32_t *element(struct interpreter *in, const struct ast_var *var, int32_t index)
{
    static int32_t nothing;
    nothing = 0;
    if (in->status == STATUS_RUNNING && (uint32_t)index < var->length)
        return variable(in, var) + index;
    stop(in, STATUS_OUT_OF_BOUNDS);
    return &nothing;
}

static int32_t value_of(struct interpreter *in, const struct ast_expr *e)
{
    int32_t a;
    switch (e->kind) {
    case EXPR_INT:
        return e->value;
    case EXPR_VAR:
        return *variable(in, e->var);
    case EXPR_INDEX:
        a = value_of(in, e->a);
        return *element(in, e->var, a);
    case EXPR_BUILTIN:
        return program_builtin(in->program, in->thread, e->builtin);
    case EXPR_UNARY:
        return ast_eval_unary(e->unary, value_of(in, e->a));
    case EXPR_BINARY:
        a = value_of(in, e->a);
        if (e->binary == BINARY_LOGICAL_AND)
            return a ? value_of(in, e->b) != 0 : 0;
        if (e->binary == BINARY_LOGICAL_OR)
            return a ? 1 : value_of(in, e->b) != 0;
        return ast_eval_binary(e->binary, a, value_of(in, e->b));
    case EXPR_COND:
        return value_of(in, e->a) ? value_of(in, e->b) : value_of(in, e->c);
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    fail_msg("an expression of the lock-step form");
    return 0;
}

static bool run_function(struct interpreter *in, const struct ast_function *function);

/* False: the thread goes no further. */
static bool run_stm(struct interpreter *in, const struct ast_stm *stm)
{
    if (stm->kind == STM_SKIP)
        return true;
    if (stm->kind == STM_CALL)
        return run_function(in, stm->function);
    int32_t value = value_of(in, stm->value);
    if (stm->kind == STM_ASSERT && !value)
        return stop(in, STATUS_ASSERT_FAILS);
    if (stm->kind == STM_ASSUME && !value)
        return stop(in, STATUS_INFEASIBLE);
    if (stm->kind == STM_ASSIGN) {
        int32_t index = stm->target.index ? value_of(in, stm->target.index) : 0;
        *element(in, stm->target.var, index) = value;
    } else if (stm->kind != STM_ASSERT && stm->kind != STM_ASSUME) {
        fail_msg("a statement that the generator does not make here");
    }
    return in->status == STATUS_RUNNING;
}

static const struct ast_block *chosen(struct interpreter *in, const struct ast_block *block)
{
    for (uint32_t i = 0; i < block->target_count; i++) {
        const struct ast_block *target = block->targets[i];
        if (!target || !target->body || target->body->kind != STM_ASSUME ||
            value_of(in, target->body->value))
            return target;
    }
    stop(in, STATUS_INFEASIBLE);
    return NULL;
}

static bool run_function(struct interpreter *in, const struct ast_function *function)
{
    uint32_t words = 0;
    int32_t *caller = in->frame;
    if (in->depth == LIMIT_CALL_DEPTH)
        return stop(in, STATUS_CALL_DEPTH);
    for (struct ast_var *var = function->locals; var; var = var->next) {
        var->mark = words;
        words += var->length;
    }
    in->frame = ARENA_ARRAY(&test_arena, int32_t, words);
    in->depth++;
    for (const struct ast_var *var = function->locals; var; var = var->next)
        for (uint32_t i = 0; i < var->init_count; i++)
            in->frame[var->mark + i] = var->init[i];
    const struct ast_block *block = function->blocks;
    bool returned = false;
    while (block && !returned) {
        if (in->budget-- == 0)
            return stop(in, STATUS_STEP_LIMIT);
        for (const struct ast_stm *stm = block->body; stm; stm = stm->next)
            if (!run_stm(in, stm))
                return false;
        returned = block->returns;
        block = returned ? NULL : chosen(in, block);
    }
    in->frame = caller;
    in->depth--;
    return returned;
}

/* One thread after another; the status of the whole. */
static enum status interpret(const struct ast_kernel *kernel, const struct program *program,
                             int32_t *memory)
{
    struct interpreter in = {
        .program = program, .memory = memory, .budget = 100000, .status = STATUS_RUNNING};
    uint32_t number = 0;
    for (struct ast_var *var = kernel->vars; var; var = var->next)
        var->mark = number++;
    for (in.thread = 0; in.thread < program->total_threads; in.thread++) {
        in.depth = 0;
        run_function(&in, kernel->main);
        if (in.status != STATUS_RUNNING)
            return in.status;
    }
    return STATUS_TERMINATED;
}

/* ---- the structured kernel ---- */

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

/* `threads`, one thread after another; *memory afterwards. */
static enum status execute(const struct program *program, const int32_t **memory)
{
    struct machine_options options = {.then_first = false};
    struct choices choices = {.pick = pick_first, .choose = choose_first};
    struct machine *machine = machine_new(&test_arena, &semantics_threads, program, &options);
    while (machine_status(machine) == STATUS_RUNNING && machine->steps < 100000)
        machine_step(machine, machine->head->live[0], &choices);
    *memory = machine->memory;
    return machine_status(machine);
}

/* ---- properties ---- */

static struct lower_cfg_options options_of(uint32_t bits)
{
    return (struct lower_cfg_options){.anchored = bits & 1,
                                      .then_first = bits & 2,
                                      .logic_blocks = bits & 4,
                                      .keep_calls = bits & 8};
}

static void check_form(const struct ast_kernel *kernel, const char *source)
{
    const char *reason = NULL;
    struct location at;
    const char *text = print_kernel(&test_arena, kernel);
    struct ast_kernel *parsed = support_parse(text);
    assert_string_equal(print_kernel(&test_arena, parsed), text);
    if (well_formed(&test_arena, parsed, &reason, &at) != WELL_FORMED)
        fail_msg("%s\n%s\nof\n%s", reason, text, source);
    block_order_check(kernel->main);
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        block_order_check(f);
}

/* Normalised: still the same, and normal. */
static struct ast_kernel *check_normalised(const struct ast_kernel *kernel)
{
    const char *reason = NULL;
    struct ast_kernel *once = normalise(&test_arena, kernel, NORMALISE_ALL, &reason);
    if (!once) {
        assert_non_null(strstr(reason, "more than 1024 blocks"));
        return NULL;
    }
    struct ast_kernel *twice = normalise(&test_arena, once, NORMALISE_ALL, &reason);
    assert_non_null(twice);
    assert_string_equal(print_kernel(&test_arena, once), print_kernel(&test_arena, twice));
    return once;
}

static void compare(const struct ast_kernel *lowered, const struct program *program,
                    enum status expected, const int32_t *memory, const char *source)
{
    int32_t *found = ARENA_ARRAY(&test_arena, int32_t, program->memory_words);
    program_init_memory(program, found);
    enum status status = interpret(lowered, program, found);
    if (status == STATUS_STEP_LIMIT || (status == expected && status == STATUS_CALL_DEPTH))
        return;
    if (status != expected || memcmp(found, memory, program->frame_base * sizeof *found) != 0)
        fail_msg("%s, expected %s\n%s\nof\n%s", status_names[status], status_names[expected],
                 print_kernel(&test_arena, lowered), source);
}

static void test_generated(void **state)
{
    (void)state;
    enum { KERNELS = 1000 };
    uint32_t compared = 0, refused = 0, procedures = 0;
    struct gen_options gen = GEN_DEFAULTS;
    const char *error_at;
    assert_true(gen_parse_features(
        "-barriers,-atomics,-votes,-choices,-assumes,-graphs,-directions,-crs,-known",
        &gen.features, &error_at));
    for (uint64_t number = 0; number < many(KERNELS); number++) {
        size_t mark = arena_mark(&test_arena);
        const char *reason = NULL;
        struct ast_kernel *kernel = gen_case(&test_arena, 17, number, &gen);
        struct ast_kernel *core = lower_core(&test_arena, kernel);
        const char *source = print_kernel(&test_arena, core);
        struct program *program = program_compile(&test_arena, core, &reason);
        assert_non_null(program);
        const int32_t *memory;
        enum status expected = execute(program, &memory);
        for (uint32_t i = 0; i < 3; i++) {
            struct lower_cfg_options options = options_of((uint32_t)number + 5 * i);
            struct ast_kernel *lowered = lower_cfg(&test_arena, core, &options, &reason);
            assert_string_equal(print_kernel(&test_arena, core), source);
            if (!lowered) {
                assert_true(strstr(reason, "exit in a procedure at line") ||
                            strcmp(reason, "more than 1024 blocks") == 0);
                refused++;
                continue;
            }
            check_form(lowered, source);
            procedures += lowered->functions != NULL;
            const struct ast_kernel *normal = check_normalised(lowered);
            if (normal)
                check_form(normal, source);
            /* Inlined functions have no frames to run out of. */
            if (expected == STATUS_RUNNING || expected == STATUS_CALL_DEPTH)
                continue;
            compare(lowered, program, expected, memory, source);
            compared++;
        }
        arena_release(&test_arena, mark);
    }
    print_message("%u compared, %u with procedures, %u refused\n", compared, procedures, refused);
    assert_true(compared > 2 * many(KERNELS) && refused < many(KERNELS) / 2 &&
                procedures > many(300));
}

/* ---- shapes ---- */

static struct ast_kernel *lower_text(const char *text, uint32_t bits, const char **reason)
{
    struct lower_cfg_options options = options_of(bits);
    struct ast_kernel *core = lower_core(&test_arena, support_parse(text));
    return lower_cfg(&test_arena, core, &options, reason);
}

enum { KEEP_CALLS = 8 };

/* CK11: the path of the break is part of the loop exactly when it is anchored. */
static void test_ck11(void **state)
{
    (void)state;
    static const char text[] =
        "shared int s; kernel ck11() { private int i;\n"
        "while (i < 2) { i++; if (tid == 0) {\n s = s + 1; break; } s = s * 2; } }";
    for (uint32_t anchored = 0; anchored < 2; anchored++) {
        const char *reason = NULL;
        struct location at;
        const struct ast_kernel *kernel = lower_text(text, anchored, &reason);
        const struct cfg *cfg = cfg_build(&test_arena, kernel->main, &reason, &at);
        assert_int_equal(cfg->loop_count, 1);
        for (uint32_t b = 0; b < cfg->count; b++)
            if (strcmp(cfg->blocks[b]->name, "then2") == 0)
                assert_int_equal(cfg_in_loop(cfg, 0, b), anchored);
    }
}

/* Kernels that just fit before they are lowered. */
static void test_limits(void **state)
{
    (void)state;
    const char *reason = NULL;
    const char *deep = "x";
    for (uint32_t i = 1; i < LIMIT_DEPTH; i++)
        deep = arena_printf(&test_arena, "~%s", deep);
    const char *text;
    assert_null(
        lower_text(arena_printf(&test_arena, "shared int x; kernel k() {\n while (%s) ; }", deep),
                   0, &reason));
    assert_string_equal(reason, "expression is nested more than 200 deep at line 2");
    text = "launch(threads = 1024);\n"
           "void f() { private int a[60]; a[0] = 1; }\n"
           "void g() { private int a[60]; a[0] = 1; }\n"
           "void h() { private int a[10]; f(); g(); if (a[0]) h(); }\n"
           "kernel k() { h(); }";
    assert_null(lower_text(text, 0, &reason));
    assert_string_equal(reason, "variables and frames of all threads take 4292608 words, "
                                "more than 4194304 at line 1");
    assert_non_null(lower_text(text, KEEP_CALLS, &reason));
    /* private variables count for each thread, too: 2500 words beside 32 frames of 54 */
    for (uint32_t words = 100; words <= 2500; words += 2400) {
        text = arena_printf(&test_arena,
                            "launch(threads = 1024); private int p[%u];\n"
                            "void f() { private int a[14]; a[0] = 1; }\n"
                            "void g() { private int a[14]; a[0] = 1; }\n"
                            "void h() { private int a[25]; f(); g(); if (a[0]) h(); }\n"
                            "kernel k() { h(); }",
                            (unsigned)words);
        assert_non_null(lower_text(text, KEEP_CALLS, &reason));
        assert_int_equal(lower_text(text, 0, &reason) == NULL, words == 2500);
    }
    assert_non_null(strstr(reason, "variables and frames of all threads take"));
    text = "void pick() { pick(); }\nkernel k() { pick(); }";
    assert_null(lower_text(text, 0, &reason));
    assert_non_null(strstr(reason, "no procedure is named 'pick'"));
}

/* Each function calls the one before twice: inlining doubles, and ends with the limit in good time. */
static void test_explosion(void **state)
{
    (void)state;
    static const char *const bodies[] = {"x = x + 1;", "if (x) x = 1;"};
    static const char *const reasons[] = {
        "more than 65536 statements, expressions and declarations", "more than 1024 blocks"};
    for (uint32_t i = 0; i < 2; i++) {
        const char *reason = NULL;
        const char *text = arena_printf(&test_arena, "shared int x; void f0() { %s }\n", bodies[i]);
        for (uint32_t f = 1; f < 200; f++)
            text = arena_printf(&test_arena, "%svoid f%u() { f%u(); f%u(); }\n", text, (unsigned)f,
                                (unsigned)f - 1, (unsigned)f - 1);
        text = arena_printf(&test_arena, "%skernel k() { f199(); }", text);
        assert_null(lower_text(text, 0, &reason));
        assert_string_equal(reason, reasons[i]);
        assert_non_null(lower_text(text, KEEP_CALLS, &reason));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ck11),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_explosion),
        cmocka_unit_test(test_generated),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
