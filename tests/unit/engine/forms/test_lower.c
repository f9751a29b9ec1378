/* Lowering: what stays. What each construct becomes: tests/cases/engine/forms. */
#include "engine/forms/lower.h"
#include "engine/input/input.h"
#include "tests/unit/shared/arena_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ast_kernel *parse(const char *text)
{
    struct diag diag;
    diag_init(&diag, "kernel", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    if (!kernel)
        fail_msg("%s in\n%s", diag.entries[0].text, text);
    return kernel;
}

/* Numbers of file-level variables decide what `input` memory holds: new ones come last. */
static void file_level_variables_keep_their_numbers(void **state)
{
    (void)state;
    const struct ast_kernel *source =
        parse("shared input int a; global int b; int f(int n) { return n; } kernel k() { f(1); }");
    const struct ast_var *old = source->vars, *copy = lower_core(&arena, source)->vars;
    for (; old; old = old->next, copy = copy->next) {
        assert_string_equal(old->name, copy->name);
        assert_ptr_not_equal(old, copy);
        assert_int_equal(old->is_input, copy->is_input);
    }
    assert_string_equal(copy->name, "arg1");
}

static void check_lines(const struct ast_stm *list, uint32_t first, uint32_t last)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        assert_in_range(stm->at.line, first, last);
        check_lines(stm->body, first, last);
        check_lines(stm->other, first, last);
    }
}

static void statements_keep_their_lines(void **state)
{
    (void)state;
    const struct ast_kernel *core = lower_core(
        &arena, parse("private int i, j;\nkernel k() {\nfor (i = 0; i < 3; i++) {\nif (j)\n"
                      "continue;\nswitch (j) {\ncase 1: break;\n}\nj += 1;\n}\n}\n"));
    check_lines(core->main->body, 3, 9);
    assert_int_equal(core->main->body->at.line, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_level_variables_keep_their_numbers),
        cmocka_unit_test(statements_keep_their_lines),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
