/* PTX: how it is printed, what structured kernels become, what is injected. */
#include "tests/cases/cases.h"

#include "engine/to_ptx/ptx_inject.h"
#include "tests/unit/shared/lowered_ptx.h"
#include "tests/unit/shared/ptx_text.h"

static size_t begin_case(void)
{
    if (!arena.base)
        assert_int_equal(setup(NULL), 0);
    return arena_mark(&arena);
}

/* The lines between two others, without tabs in front. */
static void put_lines(struct text *out, const char *at, const char *end)
{
    while (at < end) {
        const char *line = strchr(at, '\n') + 1;
        at += strspn(at, "\t");
        if (strncmp(at, ".loc ", 5) != 0 || line == end)
            text_put_bytes(out, at, (size_t)(line - at));
        at = line;
    }
}

/* The module; `last`: the last statement before the label L alone. */
static void print(const char *options, const char *input, struct text *out)
{
    size_t mark = begin_case();
    const char *printed = round_trip(parse(input));
    const char *end = strstr(printed, "\nL:\n");
    if (!cases_option(options, "last") || !end) {
        text_put(out, printed);
    } else {
        const char *begin = end;
        while (begin[-1] != '\n')
            begin--;
        put_lines(out, begin, end + 1);
    }
    arena_release(&arena, mark);
}

/* What the branch unit's instructions become in the entry k: its body behind the registers; or why not. The module
 * stays as it was; `whole`: the module, and what is injected already stays as it is. */
static void inject(const char *options, const char *input, struct text *out)
{
    static const char own[] = "\n{\n\t.reg .pred %p<4>;\n\t.reg .b32 %r<4>;\n";
    size_t mark = begin_case();
    const char *reason = NULL;
    const struct ptx_module *module = parse(input);
    const char *before = round_trip(module);
    const struct ptx_module *injected = ptx_inject(&arena, module, &reason);
    assert_string_equal(round_trip(module), before);
    if (injected) {
        const char *printed = round_trip(injected), *start = strstr(printed, own);
        assert_true(cases_option(options, "whole") || start);
        if (cases_option(options, "whole")) {
            text_put(out, printed);
            assert_string_equal(ptx_print(&arena, ptx_inject(&arena, injected, &reason)), printed);
        } else {
            put_lines(out, start + sizeof own - 1, strstr(start, "\n}") + 1);
        }
    } else {
        text_format(out, "refused: %s\n", reason);
    }
    arena_release(&arena, mark);
}

/* ---- structured kernels and kernels in block form ---- */

/* "subject:claim variable" of each claim that is carried over. */
static void put_claims(struct text *out, const struct ast_expect *claims)
{
    if (!claims)
        text_put(out, "none");
    for (const struct ast_expect *e = claims; e; e = e->next)
        text_format(out, "%s%s:%s%s%s", out->length ? " " : "", e->subject ? e->subject : "*",
                    ast_claim_names[e->claim], e->var ? " " : "", e->var ? e->var->name : "");
}

/* `body`: what the entry does behind its declarations. Lines of .loc aside. */
static void put_module(const char *options, struct text *out, const char *printed)
{
    const char *entry = strstr(printed, ".entry"), *start = entry ? strstr(entry, "{\n") : NULL;
    assert_non_null(start);
    if (!cases_option(options, "body")) {
        put_lines(out, printed, printed + strlen(printed));
        return;
    }
    start += 2;
    while (strncmp(start, "\t.reg", 5) == 0)
        start = strchr(start, '\n') + 1;
    put_lines(out, start, strstr(start, "\n}") + 1);
}

/* The module that a kernel becomes; `claims`: its claims. What holds of all of them: lowered_ptx.h. */
static void to_ptx(const char *options, const char *input, struct text *out)
{
    const char *reason = NULL;
    struct lowered_ptx lowered;
    begin_case();
    if (!test_arena.base)
        assert_int_equal(support_setup(NULL), 0);
    size_t mark = arena_mark(&test_arena);
    const struct ast_kernel *kernel = support_parse(input);
    if (!lower_ptx_module(&test_arena, kernel, &lowered, &reason)) {
        text_format(out, "refused: %s\n", reason);
    } else {
        lower_and_compare(kernel);
        if (cases_option(options, "claims"))
            put_claims(out, lowered.expects);
        else
            put_module(options, out, ptx_print(&test_arena, lowered.module));
    }
    arena_release(&test_arena, mark);
}

const struct cases_command cases_ptx[] = {
    {"ptx", print}, {"inject", inject}, {"to-ptx", to_ptx}, {NULL, NULL}};
