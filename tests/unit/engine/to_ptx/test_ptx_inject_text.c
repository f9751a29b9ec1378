/* How large what is injected may be. What injection writes, and refuses: tests/cases/engine/to_ptx. */
#include "engine/to_ptx/ptx_inject.h"
#include "tests/unit/shared/ptx_text.h"

static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 32\n"
    ".func f ()\n{ret;}\n.func halt ()\n.noreturn\n{trap;} .func outside ();\n";

/* Deep nesting is refused, long sequences are not. */
static void sizes(void **state)
{
    (void)state;
    for (int nested = 0; nested < 2; nested++) {
        enum { COUNT = 3000 };
        size_t mark = arena_mark(&arena);
        char *code = ARENA_ARRAY(&arena, char, COUNT * 64), *to = code;
        const char *reason = NULL;
        to += sprintf(to, "%s.entry k ()\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<4>;\n", head);
        for (int i = 0; i < COUNT; i++)
            to += nested ? sprintf(to, "@%%p1 bra L%d;\nmov.u32 %%r1, %d;\n", i, i)
                         : sprintf(to, "@%%p1 bra L%d;\nmov.u32 %%r1, %d;\nL%d:\n", i, i, i);
        for (int i = COUNT; nested && i-- > 0;)
            to += sprintf(to, "L%d: mov.u32 %%r1, %d;\n", i, i);
        sprintf(to, "}\n");
        const struct ptx_module *injected = ptx_inject(&arena, parse(code), &reason);
        if (nested)
            assert_string_equal(reason,
                                "control flow nested deeper than 2000 in the function at line 9");
        else
            assert_non_null(injected);
        arena_release(&arena, mark);
    }
}

/* Tables that many branches use make more edges than text. */
static void large_tables(void **state)
{
    (void)state;
    enum { LABELS = 2000, BRANCHES = 2000 };
    size_t mark = arena_mark(&arena);
    char *code = ARENA_ARRAY(&arena, char, LABELS * 64 + BRANCHES * 32), *to = code;
    const char *reason = NULL;
    to += sprintf(to, "%s.entry k ()\n{\n.reg .b32 %%r1;\nT: .branchtargets L0", head);
    for (int i = 1; i < LABELS; i++)
        to += sprintf(to, ", L%d", i);
    to += sprintf(to, ";\n");
    for (int i = 0; i < BRANCHES; i++)
        to += sprintf(to, "L%d: brx.idx %%r1, T;\n", i);
    sprintf(to, "}\n");
    assert_null(ptx_inject(&arena, parse(code), &reason));
    assert_string_equal(reason, "more than 131072 blocks, or 2097152 branch targets, in the "
                                "function at line 9");
    arena_release(&arena, mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(large_tables),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
