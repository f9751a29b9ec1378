/* The lock-step machine: its rules one by one, the paper's kernels and counterexamples (CK1 .. CK8) as
 * phi(P), what observers see. */
#include "tests/unit/blocks.h"

#include "engine/lockstep.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

enum { BUDGET = 20000 };

/* A machine of phi(P), or of a kernel that is in lock-step form already. */
static struct machine *vector_machine(const char *text, const struct predicate_options *options,
                                      const struct machine_options *machine_options)
{
    struct ast_kernel *kernel = support_parse(text);
    if (kernel->form == FORM_BLOCKS)
        kernel = blocks_transform(kernel, BLOCKS_PHI, options);
    return blocks_machine(blocks_compile(kernel), machine_options);
}

static struct machine *machine_of(const char *text)
{
    const struct machine_options options = {0};
    return vector_machine(text, &BLOCKS_DEFAULTS, &options);
}

static int32_t word(const struct machine *machine, const char *name, uint32_t element)
{
    return machine->memory[support_address(machine->program, name) + element];
}

/* ---- rules ---- */

struct rule_row {
    enum rule rule;
    const char *text;
    enum status status;
    int32_t x; /* of the shared variable x, at the end */
};

#define VECTOR                                                                                     \
    "launch(threads = 4, warp = 4); shared int x, a[4]; private int p, q, b[2];\n"                 \
    "kernel k() lockstep { "

static const struct rule_row rule_rows[] = {
    {RULE_LOCK_SKIP, VECTOR "Start: ; x = 1; goto End; }", STATUS_TERMINATED, 1},
    {RULE_LOCK_VEC_ASSIGN,
     VECTOR
     "Start: p = tid; p = tid == 3 ? p + 5 : 0; b[1] = p if (tid == 3); x = b[1] if (tid == 3);"
     "goto End; }",
     STATUS_TERMINATED, 8},
    /* all reads before all writes */
    {RULE_LOCK_PSI_T,
     VECTOR "Start: a[tid] = tid; a[(tid + 1) % 4] = a[tid]; x = a[0]; goto End; }",
     STATUS_TERMINATED, 3},
    {RULE_LOCK_PSI_T, VECTOR "Start: x = tid + 10 if (tid < 3); goto End; }", STATUS_TERMINATED,
     12},
    {RULE_LOCK_PSI_F, VECTOR "Start: x = 7; x = 1 if (tid > 3); goto End; }", STATUS_TERMINATED, 7},
    {RULE_LOCK_VEC_HAVOC,
     VECTOR "Start: havoc(p) if (tid == 0); assert(all(tid == 0 || p == 0));"
            "x = 2; goto End; }",
     STATUS_TERMINATED, 2},
    {RULE_LOCK_PICK,
     VECTOR "Start: pick(p, 5 : tid == 2, 6 : tid != 2); x = p if (tid == 2); goto End; }",
     STATUS_TERMINATED, 5},
    {RULE_LOCK_ATOMIC,
     VECTOR "Start: p = atomic_add(x, tid + 1) if (tid > 0); a[tid] = p; goto End; }",
     STATUS_TERMINATED, 9},
    {RULE_LOCK_ASSERT_T, VECTOR "Start: assert(all(p == 0)); goto End; }", STATUS_TERMINATED, 0},
    {RULE_LOCK_ASSERT_F, VECTOR "Start: assert(all(tid < 2)); goto End; }", STATUS_ASSERT_FAILS, 0},
    {RULE_LOCK_ASSUME_T, VECTOR "Start: assume(any(tid == 2)); x = 1; goto End; }",
     STATUS_TERMINATED, 1},
    {RULE_LOCK_ASSUME_F, VECTOR "Start: assume(any(tid > 3)); x = 1; goto End; }",
     STATUS_INFEASIBLE, 0},
    {RULE_LOCK_SYNC_T, VECTOR "Start: sync(!any(tid > 3) || all(tid > 3)); x = 1; goto End; }",
     STATUS_TERMINATED, 1},
    {RULE_LOCK_SYNC_F, VECTOR "Start: sync(!any(tid > 2) || all(tid > 2)); x = 1; goto End; }",
     STATUS_BARRIER_DIVERGENCE, 0},
    /* the conjunction, where a condition is not about all threads */
    {RULE_LOCK_ASSERT_F, VECTOR "Start: assert(tid != 2); goto End; }", STATUS_ASSERT_FAILS, 0},
    {RULE_LOCK_GOTO,
     VECTOR "Start: goto A, B; A: assume(all(tid == 0)); goto End;"
            "B: assume(!all(tid == 0)); x = 3; goto End; }",
     STATUS_TERMINATED, 3},
    {RULE_LOCK_BLOCK, VECTOR "Start: goto A; A: x = 4; goto End; }", STATUS_TERMINATED, 4},
    {RULE_LOCK_END, VECTOR "Start: goto End; }", STATUS_TERMINATED, 0},
    {RULE_LOCK_SKIP, VECTOR "Start: x = a[p + tid] if (tid < 4); ; a[tid + 1] = 1; goto End; }",
     STATUS_OUT_OF_BOUNDS, 0},
};

/* Over all tests: every rule is fired. */
static uint64_t all_hits[RULE_COUNT];

static void add_hits(const struct machine *machine)
{
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        all_hits[i] += machine->hits[i];
}

static void rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rule_rows); i++) {
        struct machine *m = machine_of(rule_rows[i].text);
        enum status status = blocks_run(m, 0, BUDGET);
        if (status != rule_rows[i].status || m->hits[rule_rows[i].rule] == 0 ||
            word(m, "x", 0) != rule_rows[i].x)
            fail_msg("%s: %s, x = %d", rule_rows[i].text, status_names[status], word(m, "x", 0));
        add_hits(m);
    }
}

static const char recursion[] =
    "launch(threads = 4, warp = 4); shared int out[4]; private int y;\n"
    "void sum(int n, out int r) lockstep { private int s;\n"
    "  E: goto F, R; F: assume(any(n > 0)); sum(n > 0 ? n - 1 : 0, s);\n"
    "  r = n > 0 ? s + n : 0; goto X; R: assume(!any(n > 0)); goto X; X: return; }\n"
    "kernel k() lockstep { Start: sum(tid + 3, y); out[tid] = y; goto End; }";

static const char endless[] = "void f() lockstep { E: f(); return; }\n"
                              "kernel k() lockstep { Start: f(); goto End; }";

static void calls(void **state)
{
    (void)state;
    struct machine *m = machine_of(
        "launch(threads = 4, warp = 4); shared int x[4]; private int y;\n"
        "void f(int a, out int r, int b, out int s) lockstep { E: r = a - b; s = a * b; return; }\n"
        "void g(int a, out int r) lockstep { private int u; E: f(a, r, 2, u); r = r + 100 * u; "
        "return; }\n"
        "kernel k() lockstep { Start: g(tid + 3, y); x[tid] = y; goto End; }");
    assert_int_equal(blocks_run(m, 0, BUDGET), STATUS_TERMINATED);
    for (uint32_t t = 0; t < 4; t++)
        assert_int_equal(word(m, "x", t), (int32_t)(t + 1 + 200 * (t + 3)));
    add_hits(m);
    assert_int_equal(m->hits[RULE_LOCK_CALL], 2);
    assert_int_equal(m->hits[RULE_LOCK_RETURN], 2);
    assert_int_equal(lockstep_state(m, 0).frames, 1);
    assert_int_equal(lockstep_state(m, 0).ended, 1);
    m = machine_of(recursion);
    assert_int_equal(blocks_run(m, 0, BUDGET), STATUS_TERMINATED);
    for (uint32_t t = 0; t < 4; t++)
        assert_int_equal(word(m, "out", t), (int32_t)((t + 3) * (t + 4) / 2));
    assert_int_equal(blocks_run(machine_of(endless), 0, BUDGET), STATUS_CALL_DEPTH);
}

static void every_rule_fires(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        if (strcmp(rule_table[i].semantics, "lockstep") == 0 && all_hits[i] == 0)
            fail_msg("no test fires %s", rule_table[i].name);
}

/* ---- the paper's kernels ---- */

static void scan(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        const char *text = arena_printf(
            &test_arena, "launch(threads = %u); global int sum[8] = {1, 2, 3, 4, 5};\n%s",
            (unsigned)threads, BLOCKS_SCAN);
        struct machine *m = machine_of(text);
        int32_t sum = 0;
        assert_int_equal(blocks_run(m, 0, BUDGET), STATUS_TERMINATED);
        for (uint32_t i = 0; i < threads; i++) {
            sum += i < 5 ? (int32_t)i + 1 : 0;
            assert_int_equal(word(m, "sum", i), sum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(rules), TEST(calls), TEST(every_rule_fires),
                                       TEST(scan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
