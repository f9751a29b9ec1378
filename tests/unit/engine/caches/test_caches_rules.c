/* One small program a rule of the caches: its outcomes are exactly these as long as the rule is as it is. Programs of
 * the spec's table of mutants ("X." there) and of our own; caches may have a line only, and an L2 of their own. Which
 * fault each is for stands beside it: tests/mutation/faults/caches.txt. */
#include "tests/unit/engine/caches/litmus_machine.h"

static void nothing(struct memory_options *o)
{
    (void)o;
}

/* R1 off: what writes and releases registers is a step of its own. */
static void lazy(struct memory_options *o)
{
    o->lazy = true;
}

/* R1 off: a warp that can issue waits for its turn. */
static void in_turns(struct memory_options *o)
{
    o->eager = false;
}

/* An L2 of its own, with room for all. */
static void full(struct memory_options *o)
{
    o->full = true;
    o->l2_lines = 12;
}

static void full_lazy(struct memory_options *o)
{
    full(o);
    o->lazy = true;
}

/* ... for one line. */
static void one_line_l2(struct memory_options *o)
{
    o->full = true;
    o->l2_lines = 1;
}

static void one_line_l1(struct memory_options *o)
{
    o->lines = 1;
}

static const struct {
    const char *fault, *test, *outcomes;
    void (*change)(struct memory_options *);
} rules[] = {
    {"MM.12", "thread 0: st.wb x 1; mb.gl; st.wb y 3\nobserve x y", "13", one_line_l2},
    {"MM.17", "option W=2\ninit y 3\nthread 0: st.wb x 1\nobserve x y", "13", full},
    {"MM.16", "option W=2\ninit y 3\nthread 0: st.wb x 1\nthread 1: ld.cg r1 y\nobserve x 1:r1",
     "13", full},
    {"MM.22", "thread 0: ld.ca r1 x\nthread 0: ld.vol r2 x\nobserve 0:r1 1:r2", "00", in_turns},
    {"MM.24", "init x 1\nthread 0: ld.cg r1 x; st.wb y r1\nobserve y", "1", lazy},
    {"MM.25", "thread 0: mov r1 1; st.wb x r1; mov r1 2; st.wb y r1\nobserve x y", "12", nothing},
    {"MM.27", "thread 0: st.wb x,x 1,2\nobserve x", "1 2", nothing},
    {"MM.31", "thread 0: st.wb x 1; mb.gl; st.wb x 1; mb.gl; ld.cg r1 x\nobserve 0:r1 x", "11",
     full},
    {"MM.32",
     "thread 0: st.wb l0 1; wait; ld.ca r1 l0\nthread 0: st.wb l0 2; wait; ld.ca r1 l0\n"
     "observe 0:r1 1:r1",
     "12", nothing},
    {"MM.33", "thread 0: st.wb x 1; bar; st.wb x 2\nthread 0: bar\nobserve x", "2", nothing},
    {"MM.35", "thread 0: atom.cas r1 x 1 5\nobserve x", "0", nothing},
    {"MM.36", "thread 0: st.wb x 1; mb.gl; ld.cg r1 x\nobserve 0:r1", "1", full},
    {"MM.38", "warm 0 x\nthread 0: ld.ca r1 x\nobserve 0:r1", "0", full_lazy},
    {"MM.42", "thread 0: ld.cg r0 x; use r0; st.wt x 1; mb.gl; ld.cg r1 x\nobserve 0:r1", "1",
     full},
    {"MM.44", "thread 0: st.wb l0 1; wait; ld.cg r1 l0\nobserve 0:r1", "1", nothing},
    {"MM.45",
     "thread 0: ld.ca r1 x\nthread 0: ld.ca r2 x\nthread 0: ld.ca r3 y\n"
     "observe 0:r1 1:r2 2:r3",
     "000", one_line_l1},
    {"MM.46", "option W=2\nthread 0: st.wb x 1\nthread 1: ld.cg r1 y\nobserve 1:r1", "0", full},
};

static const char *outcomes_of(const struct litmus_result *r)
{
    const char *text = "";
    for (uint32_t i = 0; i < r->count; i++)
        text = arena_printf(&test_arena, "%s%s%s", text, i ? " " : "", r->outcomes[i]);
    return text;
}

static void test_rules(void **state)
{
    uint32_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *text =
            arena_printf(&test_arena, "test %s\n%s\nsc\nmore\n", rules[i].fault, rules[i].test);
        struct litmus_reader reader = {text, 1};
        struct litmus_test *test = ARENA_NEW(&test_arena, struct litmus_test);
        struct collecting x;
        struct diag diag;
        diag_init(&diag, rules[i].fault, text, strlen(text));
        if (!litmus_next(&test_arena, &reader, test, &diag))
            diag_print(&diag, stderr);
        assert_int_equal(diag.count, 0);
        struct memory_options options = litmus_memory(test, LITMUS_PRINTED);
        rules[i].change(&options);
        uint32_t states = run(test, &x, &test_arena, &options);
        const char *outcomes = outcomes_of(&x.result);
        if (states > 0 && !x.dead && !x.broken && strcmp(outcomes, rules[i].outcomes) == 0)
            continue;
        print_error("%s: {%s} instead of {%s}, %u states, %u dead, %u broken\n%s\n", rules[i].fault,
                    outcomes, rules[i].outcomes, (unsigned)states, (unsigned)x.dead,
                    (unsigned)x.broken, rules[i].test);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rules, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
