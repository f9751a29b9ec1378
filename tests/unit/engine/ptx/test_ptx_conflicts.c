/*
 * Lanes of one instruction that write one place, and atomics of several lanes (engine/lanes/ptx_memory.c): MEM.nd.5,
 * MEM.nd.6 of catalogue cuda-crs.
 */
#include "tests/unit/shared/ptx_kernels.h"

/* Choices from a list; 0 when it has ended. */
struct test_choices {
    struct choices choices;
    uint32_t count, at;
    uint32_t given[256], bound[256];
};

static uint32_t test_choose(struct choices *choices, uint32_t n)
{
    struct test_choices *list = (struct test_choices *)choices;
    uint32_t given = list->at < list->count ? list->given[list->at] % n : 0;
    assert_true(n >= 2 && list->at < 256);
    list->bound[list->at++] = n;
    return given;
}

#define WRITES                                                                                     \
    KERNEL(                                                                                        \
        WORDS,                                                                                     \
        "shr.u32 %r2, %r0, 2; mul.wide.u32 %d2, %r2, 4; mov.u64 %d3, w; add.u64 %d2, %d2, %d3;\n"  \
        "st.global.u32 [%d2], %r0; ld.global.u32 %r1, [%d2];")

static void test_conflicts(void **state)
{
    (void)state;
    static const struct {
        uint32_t given[2], out[LANES];
    } rows[] = {
        {{0, 0}, {0, 0, 0, 0, 4, 4, 4, 4}},
        {{3, 3}, {3, 3, 3, 3, 7, 7, 7, 7}},
        {{2, 1}, {2, 2, 2, 2, 5, 5, 5, 5}},
    };
    const struct program *program = test_compile(WRITES);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct test_choices list = {.choices = {.choose = test_choose},
                                    .count = 2,
                                    .given = {rows[i].given[0], rows[i].given[1]}};
        struct machine *machine = test_machine(program, i & 1);
        test_run(machine, &list.choices);
        assert_int_equal(list.at, 2);
        assert_int_equal(list.bound[0], 4);
        assert_memory_equal(test_words(machine, "out"), rows[i].out, sizeof rows[i].out);
    }
    struct machine *machine = test_machine(program, false); /* nobody chooses: the last lane */
    test_run(machine, NULL);
    assert_memory_equal(test_words(machine, "out"), rows[1].out, sizeof rows[1].out);
}

/* Equal values are no choice; the elements of a vector are written one by one. */
static void test_conflicts_of_values(void **state)
{
    (void)state;
    struct test_choices list = {.choices = {.choose = test_choose}, .count = 2, .given = {1, 6}};
    struct machine *machine = test_machine(
        test_compile(KERNEL(WORDS, "st.global.u32 [w], 5; ld.global.u32 %r1, [w];")), false);
    test_run(machine, &list.choices);
    assert_int_equal(list.at, 0);
    machine = test_machine(
        test_compile(KERNEL(
            WORDS,
            "add.u32 %r2, %r0, 50; st.global.v2.u32 [w], {%r0, %r2}; ld.global.u32 %r1, [w];")),
        false);
    test_run(machine, &list.choices);
    assert_int_equal(list.at, 2);
    assert_int_equal(test_words(machine, "w")[0], 1);
    assert_int_equal(test_words(machine, "w")[1], 56);
}

#define EXCHANGES KERNEL(WORDS, "add.u32 %r2, %r0, 100; atom.global.exch.b32 %r1, [w], %r2;")

/* Atomics in a chosen order: all of them are performed. */
static void test_atomic_order(void **state)
{
    (void)state;
    struct test_choices list = {
        .choices = {.choose = test_choose}, .count = 7, .given = {7, 6, 5, 4, 3, 2, 1}};
    struct machine *machine = test_machine(test_compile(EXCHANGES), false);
    test_run(machine, &list.choices);
    static const uint32_t out[LANES] = {101, 102, 103, 104, 105, 106, 107, 10};
    assert_int_equal(list.at, 7);
    assert_memory_equal(test_words(machine, "out"), out, sizeof out);
    assert_int_equal(test_words(machine, "w")[0], 100);
    static const uint32_t mixed[7] = {2, 0, 3, 1};
    memcpy(list.given, mixed, sizeof mixed); /* lanes 2, 0, 5, 3, 1, 4, 6, 7 */
    list.at = 0;
    machine = test_machine(test_compile(EXCHANGES), true);
    test_run(machine, &list.choices);
    static const uint32_t then[LANES] = {102, 103, 10, 105, 101, 100, 104, 106};
    assert_memory_equal(test_words(machine, "out"), then, sizeof then);
    assert_int_equal(test_words(machine, "w")[0], 107);
    list.at = 0; /* nobody can tell: no choice */
    machine = test_machine(test_compile(KERNEL(WORDS, "red.global.max.s32 [w], %r0;")), false);
    test_run(machine, &list.choices);
    assert_int_equal(list.at, 0);
    machine = test_machine(
        test_compile(KERNEL(WORDS, "mov.f32 %f1, 0f3f800000; red.global.add.f32 [w], %f1;")),
        false);
    test_run(machine, &list.choices);
    assert_int_equal(list.at, 7);
}

/* ---- atomics against what they should do ---- */

#define ATOMICS                                                                                    \
    KERNEL(WORDS, "mul.lo.u32 %r2, %r0, 0x30000001; add.u32 %r2, %r2, 9; and.b32 %r4, %r0, 1;\n"   \
                  "mul.wide.u32 %d2, %r4, 4; mov.u64 %d3, w; add.u64 %d2, %d2, %d3;\n"             \
                  "atom.global.OPERATION;")

/* What a place holds then. */
static uint32_t naive_atomic(const char *op, uint32_t o, uint32_t v, uint32_t c)
{
    if (strcmp(op, "and.b32") == 0)
        return o & v;
    if (strcmp(op, "or.b32") == 0)
        return o | v;
    if (strcmp(op, "xor.b32") == 0)
        return o ^ v;
    if (strcmp(op, "exch.b32") == 0)
        return v;
    if (strcmp(op, "cas.b32") == 0)
        return o == v ? c : o;
    if (strcmp(op, "add.u32") == 0 || strcmp(op, "add.s32") == 0)
        return o + v;
    if (strcmp(op, "inc.u32") == 0)
        return o >= v ? 0 : o + 1;
    if (strcmp(op, "dec.u32") == 0)
        return o == 0 || o > v ? v : o - 1;
    if (strcmp(op, "min.u32") == 0)
        return o < v ? o : v;
    if (strcmp(op, "max.u32") == 0)
        return o > v ? o : v;
    if (strcmp(op, "min.s32") == 0)
        return (int32_t)o < (int32_t)v ? o : v;
    assert_string_equal(op, "max.s32");
    return (int32_t)o > (int32_t)v ? o : v;
}

static void test_atomics(void **state)
{
    (void)state;
    static const char *const ops[] = {"and.b32", "or.b32",  "xor.b32", "exch.b32", "cas.b32",
                                      "add.u32", "add.s32", "inc.u32", "dec.u32",  "min.u32",
                                      "max.u32", "min.s32", "max.s32"};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        size_t mark = arena_mark(&test_arena);
        const char *text = ATOMICS, *at = strstr(text, "OPERATION");
        text = arena_printf(&test_arena, "%.*s%s %%r1, [%%d2], %%r2%s%s", (int)(at - text), text,
                            ops[i], strcmp(ops[i], "cas.b32") == 0 ? ", %r0" : "",
                            at + strlen("OPERATION"));
        struct machine *machine = test_machine(test_compile(text), false);
        test_run(machine, NULL);
        uint32_t w[2] = {10, 11};
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t *place = &w[lane & 1];
            if (test_words(machine, "out")[lane] != *place)
                fail_msg("%s: lane %u", ops[i], (unsigned)lane);
            *place = naive_atomic(ops[i], *place, lane * 0x30000001u + 9, lane);
        }
        assert_memory_equal(test_words(machine, "w"), w, sizeof w);
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_conflicts_of_values),
        cmocka_unit_test(test_atomic_order),
        cmocka_unit_test(test_atomics),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
