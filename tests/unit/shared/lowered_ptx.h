/*
 * lowered_ptx.h - what holds of each structured kernel that is compiled to PTX: the names are resolved as the checker
 * resolves them, the text is read again as the same module, and variables start and lie as in the core program.
 */
#ifndef TESTS_UNIT_LOWERED_PTX_H
#define TESTS_UNIT_LOWERED_PTX_H

#include "engine/program/program.h"
#include "engine/to_ptx/lower_ptx.h"
#include "tests/unit/shared/ptx_equal.h"
#include "tests/unit/shared/support.h"

enum { OPERANDS = 1 << 17 };

/* ---- targets ---- */

struct target {
    enum ptx_target_kind kind;
    uint32_t index;
    const void *node;
};

struct targets {
    uint32_t count;
    struct target items[OPERANDS];
};

static inline void collect_operand(struct targets *t, const struct ptx_operand *o)
{
    if (!o)
        return;
    const void *node = o->target_kind == PTX_TARGET_VARIABLE    ? (const void *)o->target.variable
                       : o->target_kind == PTX_TARGET_FUNCTION  ? (const void *)o->target.function
                       : o->target_kind == PTX_TARGET_STATEMENT ? (const void *)o->target.statement
                                                                : NULL;
    bool is_range = o->target_kind == PTX_TARGET_VARIABLE && o->target.variable->is_range;
    assert_true(t->count < OPERANDS);
    t->items[t->count++] = (struct target){o->target_kind, is_range ? o->index : 0, node};
    for (const struct ptx_operand *item = o->items; item; item = item->next)
        collect_operand(t, item);
}

static inline void collect(struct targets *t, const struct ptx_module *module)
{
    t->count = 0;
    for (const struct ptx_item *item = module->items; item; item = item->next) {
        if (item->kind != PTX_ITEM_FUNCTION)
            continue;
        for (const struct ptx_statement *s = item->u.function->body; s; s = s->next) {
            if (s->kind != PTX_INSTRUCTION)
                continue;
            collect_operand(t, s->u.instruction.guard);
            for (const struct ptx_operand *o = s->u.instruction.operands; o; o = o->next)
                collect_operand(t, o);
        }
    }
}

static inline void compare_with_the_checker(struct lowered_ptx *lowered)
{
    static struct targets ours, theirs;
    struct diag diag;
    diag_init(&diag, "lowered", NULL, 0);
    collect(&ours, lowered->module);
    bool good = ptx_check(&test_arena, (struct ptx_module *)(uintptr_t)lowered->module, &diag);
    if (!good) {
        print_error("%s", ptx_print(&test_arena, lowered->module));
        diag_print(&diag, stderr);
    }
    assert_true(good);
    collect(&theirs, lowered->module);
    assert_int_equal(ours.count, theirs.count);
    for (uint32_t i = 0; i < ours.count; i++) {
        assert_int_equal(ours.items[i].kind, theirs.items[i].kind);
        assert_int_equal(ours.items[i].index, theirs.items[i].index);
        assert_ptr_equal(ours.items[i].node, theirs.items[i].node);
    }
}

static inline void compare_with_the_text(const struct lowered_ptx *lowered)
{
    struct diag diag;
    const char *text = ptx_print(&test_arena, lowered->module);
    diag_init(&diag, "lowered.ptx", text, strlen(text));
    struct ptx_module *again = ptx_parse(&test_arena, text, strlen(text), &diag);
    if (!again)
        diag_print(&diag, stderr);
    assert_non_null(again);
    assert_true(ptx_module_equal(lowered->module, again));
}

/* ---- memory ---- */

static inline void compare_with_the_core(const struct ast_kernel *kernel)
{
    const char *reason = NULL;
    struct ast_kernel *core = kernel->form == FORM_BLOCKS ? ast_kernel_copy(&test_arena, kernel)
                                                          : lower_core(&test_arena, kernel);
    struct program *program = program_compile(&test_arena, core, &reason);
    struct ast_kernel *ptx = lower_ptx(&test_arena, kernel, &reason);
    assert_non_null(ptx);
    if (!program)
        return;
    int32_t *memory = ARENA_ARRAY(&test_arena, int32_t, program->memory_words);
    const int32_t *initial = lower_ptx_initial(&test_arena, kernel);
    program_init_memory(program, memory);
    assert_memory_equal(memory, initial, program->private_base * sizeof *memory);
    const struct ast_var *var = ptx->vars;
    for (int space = SPACE_GLOBAL; space <= SPACE_SHARED; space++)
        for (uint32_t i = 0; i < program->var_count; i++) {
            if ((int)program->vars[i].ast->space != space)
                continue;
            assert_non_null(var);
            assert_string_equal(var->name, program->vars[i].ast->name);
            assert_int_equal(var->length, program->vars[i].ast->length);
            var = var->next;
        }
    assert_null(var);
    assert_int_equal(ptx->launch.threads, kernel->launch.threads);
    assert_int_equal(ptx->launch.blocks, kernel->launch.blocks);
    assert_int_equal(ptx->launch.warp, kernel->launch.warp);
    assert_true(ptx->launch.seed == kernel->launch.seed);
}

static inline void lower_and_compare(const struct ast_kernel *kernel)
{
    struct lowered_ptx lowered;
    const char *reason = NULL;
    if (!lower_ptx_module(&test_arena, kernel, &lowered, &reason)) {
        assert_true(strstr(reason, "unsupported statement") ||
                    (kernel->form == FORM_BLOCKS && strncmp(reason, "a g", 3) == 0));
        return;
    }
    compare_with_the_checker(&lowered);
    compare_with_the_text(&lowered);
    compare_with_the_core(kernel);
}

#endif
