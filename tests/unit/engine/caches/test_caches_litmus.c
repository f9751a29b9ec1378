/*
 * The litmus tests of corpus/litmus/caches.litmus as kernels in PTX, run by `crs` with caches: the machine has exactly
 * the outcomes of engine/litmus, in each profile; and the same without the reductions R1, R2 and R3.
 */
#include "tests/unit/engine/caches/litmus_machine.h"
#include "tests/unit/shared/many.h"

static bool same(const struct litmus_result *a, const struct litmus_result *b)
{
    bool equal = a->count == b->count;
    for (uint32_t i = 0; i < a->count && equal; i++)
        equal = strcmp(a->outcomes[i], b->outcomes[i]) == 0;
    return equal;
}

static void tell(const char *what, const struct litmus_result *r)
{
    print_error("  %s:", what);
    for (uint32_t i = 0; i < r->count; i++)
        print_error(" %s", r->outcomes[i]);
    print_error("\n");
}

static const char *read_tests(void)
{
    static char text[1 << 17];
    FILE *file = fopen(SIMTFUZZ_SOURCE_DIR "/corpus/litmus/caches.litmus", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

struct count {
    uint32_t tests, states, different, dead, cut, broken;
};

static void compare(const struct litmus_test *test, enum litmus_model model,
                    struct memory_options *o, struct count *count)
{
    struct litmus_result expected;
    struct collecting x;
    assert_true(litmus_run(&test_arena, test, model, LIMIT, &expected));
    uint32_t states = run(test, &x, &test_arena, o);
    count->tests++;
    count->states += states;
    count->cut += states == 0;
    count->dead += x.dead;
    count->broken += x.broken;
    if (!states || (same(&expected, &x.result) && x.dead == 0))
        return;
    count->different++;
    print_error("%s under %s: %u states, %u dead\n", test->name, litmus_model_names[model],
                (unsigned)states, (unsigned)x.dead);
    tell("expected", &expected);
    tell("machine", &x.result);
}

static void all_tests(enum litmus_model model, void (*change)(struct memory_options *),
                      uint32_t every, struct count *count)
{
    const char *text = read_tests();
    struct litmus_reader reader = {text, 1};
    struct diag diag;
    uint32_t number = 0;
    for (;;) {
        struct litmus_test *test = ARENA_NEW(&test_arena, struct litmus_test);
        size_t mark = arena_mark(&test_arena);
        diag_init(&diag, "caches.litmus", text, strlen(text));
        if (!litmus_next(&test_arena, &reader, test, &diag))
            break;
        if (number++ % every == 0) {
            struct memory_options o = litmus_memory(test, model);
            if (change)
                change(&o);
            compare(test, model, &o, count);
        }
        (void)mark;
    }
}

static void test_profiles(void **state)
{
    (void)state;
    for (enum litmus_model m = LITMUS_PRINTED; m <= LITMUS_COHERENT; m++) {
        struct count count = {0};
        all_tests(m, NULL, 1, &count);
        print_message("%s: %u tests, %u states, %u different\n", litmus_model_names[m],
                      (unsigned)count.tests, (unsigned)count.states, (unsigned)count.different);
        assert_int_equal(count.tests, 131);
        assert_int_equal(count.cut, 0);
        assert_int_equal(count.different, 0);
        assert_int_equal(count.broken, 0);
    }
}

static void without_r1(struct memory_options *o)
{
    o->lazy = true;
}

static void without_r2(struct memory_options *o)
{
    o->full = true;
    o->l2_lines = 12;
}

static void without_r3(struct memory_options *o)
{
    o->flush = true;
}

static void without_any(struct memory_options *o)
{
    without_r1(o);
    without_r2(o);
    without_r3(o);
}

/* Who can issue waits for its turn: states multiply by what registers do meanwhile. */
static void not_eager(struct memory_options *o)
{
    o->eager = false;
}

/* R1, R2, R3 leave the outcomes as they are, one by one and all together. */
static void test_reductions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*change)(struct memory_options *);
        enum litmus_model model;
        uint32_t every;
    } runs[] = {{"R1: registers", without_r1, LITMUS_PRINTED, 1},
                {"R1: issue", not_eager, LITMUS_PRINTED, 6},
                {"R2", without_r2, LITMUS_PRINTED, 1},
                {"R3", without_r3, LITMUS_PRINTED, 1},
                {"all", without_any, LITMUS_PRINTED, 2},
                {"all", without_any, LITMUS_COHERENT, 3}};
    for (uint32_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct count count = {0};
        uint32_t every = many_whole() ? runs[i].every : 3 * runs[i].every;
        all_tests(runs[i].model, runs[i].change, every, &count);
        print_message("without %s, %s: %u tests, %u states, %u different, %u cut off\n",
                      runs[i].name, litmus_model_names[runs[i].model], (unsigned)count.tests,
                      (unsigned)count.states, (unsigned)count.different, (unsigned)count.cut);
        assert_true(count.tests >= 131 / every && count.cut <= 1);
        assert_int_equal(count.different, 0);
        assert_int_equal(count.broken, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_profiles, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_reductions, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
