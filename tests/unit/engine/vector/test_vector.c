#include "tests/unit/shared/support.h"

#include "engine/vector/vector.h"

static const struct program *compile(const char *text)
{
    const char *reason = NULL;
    const struct program *program = program_compile(&test_arena, support_parse(text), &reason);
    if (!program)
        fail_msg("%s", reason);
    return program;
}

static struct vector_run *make(const struct program *program, enum vector_isa isa)
{
    struct vector_options options = {.isa = isa, .races = true, .privates = true};
    const char *reason = NULL;
    struct vector_run *run = vector_new(&test_arena, program, &options, &reason);
    if (!run)
        fail_msg("%s", reason);
    return run;
}

/* ---- kernels with known results ---- */

struct expected {
    const char *text;
    enum status status;
    bool race;
    const char *variable; /* its first elements, once the execution has ended */
    int32_t values[4];
    uint32_t count;
};

static const struct expected cases[] = {
    /* CK4, B-12 */
    {"launch(threads = 2); shared int out[2]; private int n; kernel k() blocks {"
     "Start: goto S;"
     "S: n = n + 1; goto B1, B2;"
     "B1: assume(n < 2 * (tid + 1)); goto S;"
     "B2: assume(n >= 2 * (tid + 1)); out[tid] = n; goto End; }",
     STATUS_TERMINATED,
     false,
     "out",
     {2, 4},
     2},
    /* CK6, B-11: B is last of two loops */
    {"launch(threads = 2); shared int out[2]; private int q, i, j, w; kernel k() blocks {"
     "Start: q = 1; goto h;"
     "h: assume(q == 1); i++; j = 0; goto nn, x;"
     "nn: assume(i <= 2); goto n;"
     "n: assume(1); j++; goto c;"
     "c: assume(1); q = j >= tid + 1 + i; goto h, B;"
     "B: assume(q == 0); w++; goto n;"
     "x: assume(i > 2); out[tid] = w; goto End; }",
     STATUS_TERMINATED,
     false,
     "out",
     {3, 5},
     2},
    /* CK5, B-13: a sync that nobody takes part in separates nothing */
    {"launch(threads = 2); shared int v; private int x; kernel k() blocks {"
     "Start: goto W, N; W: assume(tid == 0); v = 7; goto J; N: assume(tid != 0); goto J;"
     "J: goto P, Q; P: assume(0); barrier(); goto K; Q: assume(1); goto K;"
     "K: goto R1, R2; R1: assume(tid == 0); goto End; R2: assume(tid != 0); x = v; goto End; }",
     STATUS_TERMINATED,
     true,
     "v",
     {7},
     1},
    /* CK14: psi, all enabled threads write */
    {"launch(threads = 2); shared int v; kernel k() blocks { Start: v = v + 1; goto End; }",
     STATUS_TERMINATED,
     true,
     "v",
     {1},
     1},
    {"launch(threads = 4); shared int v; kernel k() blocks { Start: v = tid; goto End; }",
     STATUS_TERMINATED,
     true,
     "v",
     {3},
     1},
    /* a barrier orders; and does not */
    {"launch(threads = 4); shared int a[4], b[4]; kernel k() blocks {"
     "Start: a[tid] = tid * 10; barrier(); b[tid] = a[(tid + 1) % 4]; goto End; }",
     STATUS_TERMINATED,
     false,
     "b",
     {10, 20, 30, 0},
     4},
    {"launch(threads = 4); shared int a[4], b[4]; kernel k() blocks {"
     "Start: a[tid] = tid * 10; b[tid] = a[(tid + 1) % 4]; goto End; }",
     STATUS_TERMINATED,
     true,
     "b",
     {10, 20, 30, 0},
     4},
    {"launch(threads = 2); kernel k() blocks { Start: goto A, B; A: assume(tid == 0); barrier();"
     "goto End; B: assume(tid != 0); goto End; }",
     STATUS_BARRIER_DIVERGENCE,
     false,
     NULL,
     {0},
     0},
    /* faults of enabled threads only */
    {"launch(threads = 4); shared int a[2]; kernel k() blocks { Start: goto A, B;"
     "A: assume(tid < 2); a[tid] = 5; goto End; B: assume(tid >= 2); goto End; }",
     STATUS_TERMINATED,
     false,
     "a",
     {5, 5},
     2},
    {"launch(threads = 4); shared int a[2]; kernel k() blocks { Start: a[tid] = 5; goto End; }",
     STATUS_OUT_OF_BOUNDS,
     false,
     NULL,
     {0},
     0},
    {"launch(threads = 4); shared int a[2] = {3, 4}, r[4]; kernel k() blocks {"
     "Start: r[tid] = tid < 2 && a[tid] == 4 ? 9 : tid; goto End; }",
     STATUS_TERMINATED,
     false,
     "r",
     {0, 9, 2, 3},
     4},
    {"launch(threads = 4); kernel k() blocks { Start: assert(tid != 2); goto End; }",
     STATUS_ASSERT_FAILS,
     false,
     NULL,
     {0},
     0},
    {"launch(threads = 4); kernel k() blocks { Start: assume(tid != 2); goto End; }",
     STATUS_INFEASIBLE,
     false,
     NULL,
     {0},
     0},
    /* guards, op=, private arrays, atomics */
    {"launch(threads = 4); shared int c, r[4]; private int p[3], o; kernel k() blocks {"
     "Start: p[tid % 3] += 2; p[1] = 7 if (tid & 1); o = atomic_add(c, tid + 1);"
     "r[tid] = p[1] * 100 + o; goto End; }",
     STATUS_TERMINATED,
     false,
     "r",
     {0, 701, 3, 706},
     4},
    {"launch(threads = 4); shared int c = 3, r[4]; private int o; kernel k() blocks {"
     "Start: o = atomic_cas(c, 3, 8); r[tid] = o; goto End; }",
     STATUS_TERMINATED,
     false,
     "r",
     {3, 8, 8, 8},
     4},
    /* procedures: parameters, locals fresh, recursion to another depth in each thread */
    {"launch(threads = 4); shared int r[4]; void sum(int n, out int s) blocks { private int m;"
     "E: m = m + 1; goto Z, M; Z: assume(n == 0); s = 0; goto X; M: assume(n != 0); goto C;"
     "C: sum(n - 1, s); goto D; D: s = s + n * m; goto X; X: return; }"
     "kernel k() blocks { private int s; Start: sum(tid, s); goto T; T: r[tid] = s; goto End; }",
     STATUS_TERMINATED,
     false,
     "r",
     {0, 1, 3, 6},
     4},
    {"launch(threads = 2); void f() blocks { E: f(); goto X; X: return; }"
     "kernel k() blocks { Start: f(); goto End; }",
     STATUS_CALL_DEPTH,
     false,
     NULL,
     {0},
     0},
};

static void known_results(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct expected *e = &cases[i];

        const struct program *program = compile(e->text);
        for (uint32_t isa = 0; isa <= vector_best_isa(); isa++) {
            struct vector_run *run = make(program, (enum vector_isa)isa);
            for (int again = 0; again < 2; again++) { /* nothing is left over */
                struct vector_result result = vector_execute(run, 100000);
                if (result.status != e->status || result.race != e->race)
                    fail_msg("case %zu, %s: %s, race %d", i, vector_isa_names[isa],
                             status_names[result.status], result.race);
                for (uint32_t k = 0; k < e->count; k++)
                    assert_int_equal(vector_memory(run)[support_address(program, e->variable) + k],
                                     e->values[k]);
            }
        }
    }
}

static void endless_loops_meet_the_budget(void **state)
{
    (void)state;
    struct vector_run *run = make(compile("launch(threads = 3); private int i; kernel k() blocks {"
                                          "Start: goto W; W: assume(1); i = i + 1; goto W; }"),
                                  vector_best_isa());
    struct vector_result result = vector_execute(run, 1000);
    assert_int_equal(result.status, STATUS_STEP_LIMIT);
    assert_in_range(result.lane_steps, 1001, 1100);
}

/* Blocks are ordered by nothing: global memory written by two of them is a race, shared is not. */
static void blocks_race_on_global_memory(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool race;
    } kernels[] = {
        {"launch(threads = 2, blocks = 2); shared int s[2]; kernel k() blocks {"
         "Start: s[tid] = 1; goto End; }",
         false},
        {"launch(threads = 1, blocks = 2); global int g; kernel k() blocks {"
         "Start: g = 1; goto End; }",
         true},
        {"launch(threads = 1, blocks = 2); global int g; kernel k() blocks {"
         "Start: barrier(); g = 1; barrier(); goto End; }",
         true},
        {"launch(threads = 1, blocks = 3); global int g; private int x; kernel k() blocks {"
         "Start: x = g; goto End; }",
         false},
        {"launch(threads = 1, blocks = 3); global int g; private int x; kernel k() blocks {"
         "Start: atomic_add(g, 1); goto End; }",
         false},
        {"launch(threads = 1, blocks = 3); global int g; private int x; kernel k() blocks {"
         "Start: goto A, B; A: assume(bid == 0); x = g; goto End;"
         "B: assume(bid != 0); goto C, D; C: assume(bid == 2); atomic_add(g, 1); goto End;"
         "D: assume(bid != 2); goto End; }",
         true},
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        struct vector_run *run = make(compile(kernels[i].text), vector_best_isa());
        struct vector_result result = vector_execute(run, 10000);
        assert_int_equal(result.status, STATUS_TERMINATED);
        if (result.race != kernels[i].race)
            fail_msg("kernel %zu: race %d", i, result.race);
    }
}

/* ---- who races with whom, where ---- */

static const char *const accesses[] = {"p = v[1];", "v[1] = 5;", "atomic_add(v[1], 3);"};

/* One thread's access in line 2, then another one's in line 4; a barrier between them, or none. */
static const char *pair_kernel(uint32_t first, uint32_t second, uint32_t kinds, bool is_global,
                               bool barrier)
{
    return arena_printf(&test_arena,
                        "launch(threads = 3, blocks = 2); %s int v[2]; private int n, p; kernel "
                        "k() blocks { Start: n = "
                        "bid * 3 + tid; goto T; T: goto A, B; A: assume(n == %u);\n%s\n goto J; B: "
                        "assume(n != %u); goto "
                        "J; J: %s goto K; K: goto C, D; D: assume(n != %u); goto End; C: assume(n "
                        "== %u);\n%s\n goto "
                        "End; }",
                        is_global ? "global" : "shared", (unsigned)first, accesses[kinds % 3],
                        (unsigned)first, barrier ? "barrier();" : "", (unsigned)second,
                        (unsigned)second, accesses[kinds / 3]);
}

static void races_have_names(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 6 * 6 * 9 * 4; n++) {
        uint32_t first = n % 6, second = n / 6 % 6, kinds = n / 36 % 9;
        bool is_global = n / 324 & 1, barrier = n / 648;
        if (first == second)
            continue;
        size_t mark = arena_mark(&test_arena);
        const struct program *program =
            compile(pair_kernel(first, second, kinds, is_global, barrier));
        bool together = first / 3 == second / 3;
        bool conflict = kinds != 0 && kinds != 8; /* two reads, two atomics */
        bool wanted = conflict && (together ? !barrier : is_global);
        for (uint32_t isa = 0; isa <= vector_best_isa(); isa++) {
            struct vector_run *run = make(program, (enum vector_isa)isa);
            const struct vector_result r = vector_execute(run, 10000);
            assert_int_equal(r.status, STATUS_TERMINATED);
            /* blocks run one after the other: the first of them is seen first */
            bool turned = !together && first > second;
            if (r.race != wanted)
                fail_msg("%u %u %u %d %d", first, second, kinds, is_global, barrier);
            if (!wanted)
                continue;
            assert_int_equal(r.race_first, turned ? second : first);
            assert_int_equal(r.race_second, turned ? first : second);
            assert_int_equal(program->stms[r.race_first_stm].line, turned ? 4 : 2);
            assert_int_equal(program->stms[r.race_second_stm].line, turned ? 2 : 4);
            uint32_t v = support_address(program, "v") + 1;
            assert_int_equal(r.race_address, is_global ? v : v + first / 3 * 2);
        }
        arena_release(&test_arena, mark);
    }
}

/* Recursion without an end is a fault of the lowest thread that goes on, in the block at hand. */
static void endless_recursion(void **state)
{
    (void)state;
    for (uint32_t who = 0; who < 6; who++) {
        const char *text = arena_printf(&test_arena,
                                        "launch(threads = 3, blocks = 2); void f(int n) blocks { "
                                        "E: goto A, B; A: assume(n > 0); f(n "
                                        "- 1); goto R; B: assume(n <= 0); goto R; R: return; } "
                                        "kernel k() blocks { Start: goto C; C: "
                                        "f(bid * 3 + tid >= %u ? 100 : 3); goto End; }",
                                        (unsigned)who);
        for (uint32_t isa = 0; isa <= vector_best_isa(); isa++) {
            struct vector_run *run = make(compile(text), (enum vector_isa)isa);
            const struct vector_result r = vector_execute(run, 100000);
            assert_int_equal(r.status, STATUS_CALL_DEPTH);
            assert_int_equal(r.fault_thread, who);
        }
    }
}

static void refusals_have_a_reason(void **state)
{
    (void)state;
    const struct program *program =
        compile("launch(threads = 2); shared int g; kernel k() blocks {"
                "Start: goto A, B; A: assume(g); goto End; B: assume(!g); goto End; }");
    struct vector_options options = {.isa = VECTOR_BASELINE};
    const char *reason = NULL;
    assert_null(vector_new(&test_arena, program, &options, &reason));
    assert_string_equal(reason, "the guard of block 'A' reads shared memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(known_results, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(endless_loops_meet_the_budget, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(blocks_race_on_global_memory, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(races_have_names, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(endless_recursion, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(refusals_have_a_reason, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
