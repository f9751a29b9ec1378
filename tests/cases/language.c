/* The kernel language: how kernels are printed. */
#include "tests/cases/cases.h"

#include "engine/input/input.h"
#include "engine/language/print.h"
#include "tests/unit/engine/language/parse_text.h"
#include "tests/unit/engine/language/tree_equal.h"

static size_t begin_case(void)
{
    if (!arena.base)
        assert_int_equal(setup(NULL), 0);
    return arena_mark(&arena);
}

/* The printed kernel; it is read as an equal tree, and printed the same again. */
static const char *print_again(const struct ast_kernel *kernel)
{
    const char *text = print_kernel(&arena, kernel);
    const struct ast_kernel *again = parse(text);
    if (!kernel_equal(kernel, again))
        fail_msg("another tree after: %s", text);
    assert_string_equal(print_kernel(&arena, again), text);
    return text;
}

/* The kernel; `value`: of its first statement; `head`: its first statement in a line, as traces show it. */
static void print(const char *options, const char *input, struct text *out)
{
    size_t mark = begin_case();
    const struct ast_kernel *kernel = parse(input);
    const char *text = print_again(kernel);
    if (cases_option(options, "value"))
        text_put(out, print_expr(&arena, kernel->main->body->value));
    else if (cases_option(options, "head"))
        text_put(out, print_stm_head(&arena, kernel->main->body));
    else
        text_put(out, text);
    arena_release(&arena, mark);
}

const struct cases_command cases_language[] = {{"print", print}, {NULL, NULL}};
