/* The lock-step machine: its rules one by one, the paper's kernels and counterexamples (CK1 .. CK8) as
 * phi(P), what observers see. */
#include "tests/unit/shared/blocks.h"

#include "engine/blocks/lockstep.h"

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
    /* of several targets those without a guard are feasible */
    {RULE_LOCK_GOTO,
     VECTOR "Start: goto A, B; A: x = 1; goto End; B: assume(x == 7); x = 2; goto End; }",
     STATUS_TERMINATED, 1},
    {RULE_LOCK_GOTO,
     VECTOR "Start: goto A, B; A: assume(x == 7); x = 2; goto End; B: x = 1; goto End; }",
     STATUS_TERMINATED, 1},
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

/* ---- races: a plain log of accesses ---- */

enum { LOCATIONS = 64 };

struct access_log {
    uint64_t readers[LOCATIONS], writers[LOCATIONS]; /* bit t: thread t, in this interval */
    uint32_t syncs, vacuous;
    bool race;
};

static void note(struct access_log *log, uint32_t address)
{
    uint64_t w = log->writers[address], all = w | log->readers[address];
    log->race |= w != 0 && (all & (all - 1)) != 0;
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    struct access_log *log = context;
    (void)stm;
    assert_true(address < LOCATIONS && thread < 64);
    log->readers[address] |= (uint64_t)1 << thread;
    note(log, address);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    struct access_log *log = context;
    (void)value;
    (void)stm;
    assert_true(address < LOCATIONS && thread < 64);
    log->writers[address] |= (uint64_t)1 << thread;
    note(log, address);
}

/* Who hears of steps is told who is enabled. */
static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    (void)context;
    (void)machine;
    assert_true(event->active != 0);
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct access_log *log = context;
    assert_int_equal(machine->program->stms[event->stm].kind, CODE_LOCKSYNC);
    log->syncs++;
    log->vacuous += !event->all;
    if (event->all)
        for (uint32_t i = 0; i < LOCATIONS; i++)
            log->readers[i] = log->writers[i] = 0;
}

/* ---- the counterexamples of the catalogue's section 14 ---- */

#define CK1                                                                                        \
    "launch(threads = 3); shared int v; kernel ck1() blocks { Start: goto B1, B2;"                 \
    "B1: assume(tid == 0); v = 4; assume(v == 5); goto End; B2: assume(tid != 0); v = 5; goto "    \
    "End; }"
#define CK2                                                                                        \
    "launch(threads = 3); shared int v; kernel ck2() blocks { Start: goto S; S: goto B1, B2;"      \
    "B1: assume(tid == 0); goto S; B2: assume(tid != 0); v = 1; goto End; }"
#define CK3                                                                                        \
    "kernel ck3() blocks { Start: goto B1, B2; B1: assume(1); barrier(); goto End;"                \
    "B2: assume(0); goto End; }"
#define CK4                                                                                        \
    "launch(threads = 2); shared int out[2]; kernel ck4() blocks { private int n;"                 \
    "Start: assume(1); n = n + 1; goto B1, B2; B1: assume(n < 2 * (tid + 1)); goto Start;"         \
    "B2: assume(n >= 2 * (tid + 1)); out[tid] = n; goto End; }"
#define CK5                                                                                        \
    "launch(threads = 2); shared int v; kernel ck5() blocks { private int x; Start: goto W, N;"    \
    "W: assume(tid == 0); v = 7; goto J; N: assume(tid != 0); goto J; J: goto P, Q;"               \
    "P: assume(0); barrier(); goto K; Q: assume(1); goto K; K: goto R1, R2;"                       \
    "R1: assume(tid == 0); goto End; R2: assume(tid != 0); x = v; goto End; }"
#define CK6                                                                                        \
    "launch(threads = 2); shared int out[2]; kernel ck6() blocks { private int q, i, j, w;"        \
    "Start: q = 1; goto h; h: assume(q == 1); i++; j = 0; goto nn, x; nn: assume(i <= 2); goto n;" \
    "n: assume(1); j++; goto c; c: assume(1); q = j >= tid + 1 + i; goto h, B;"                    \
    "B: assume(q == 0); w++; goto n; x: assume(i > 2); out[tid] = w; goto End; }"
#define CK7                                                                                        \
    "launch(threads = 2); kernel ck7() blocks { private int i, j; Start: goto O;"                  \
    "O: assume(i < 2); j = 0; goto W, L; W: assume(j < tid + 1); j++; goto W, L;"                  \
    "L: assume(j >= tid + 1); barrier(); i++; goto O, X; X: assume(i >= 2); barrier(); goto End; " \
    "}"
#define CK9                                                                                        \
    "launch(threads = 4); shared int sum[4]; kernel ck9() blocks { private int offset, temp;"      \
    "Start: offset = 1; goto W, X; W: assume(offset <= tid); temp = sum[tid - offset]; barrier();" \
    "sum[tid] = sum[tid] + temp; barrier(); offset = 2 * offset; goto W, X;"                       \
    "X: assume(offset > tid); goto End; }"
#define CK14                                                                                       \
    "launch(threads = 2); shared int v; kernel ck14() blocks { Start: v = v + 1; goto End; }"
#define CK15                                                                                       \
    "launch(threads = 2); void p(int n) blocks { E: assume(1); goto F, G; F: assume(n > 0);"       \
    "goto C; C: p(n - 1); goto G2; G: assume(n <= 0); goto G2; G2: assume(1); barrier(); goto R;"  \
    "R: return; } kernel ck15() blocks { Start: goto C; C: p(tid); goto D; D: goto End; }"

struct counterexample {
    const char *name, *text;
    struct predicate_options options;
    struct machine_options machine;
    enum status status;
    bool race;
    uint32_t values;
    const char *variable;
    int32_t value[2];
};

static const struct counterexample counterexamples[] = {
    {"CK1", CK1, {0}, {0}, STATUS_INFEASIBLE, false, 0, NULL, {0}},
    {"CK1, another order", CK1, {.order_seed = 3}, {0}, STATUS_INFEASIBLE, false, 0, NULL, {0}},
    {"CK2", CK2, {0}, {0}, STATUS_STEP_LIMIT, false, 0, NULL, {0}},
    {"CK3", CK3, {0}, {0}, STATUS_TERMINATED, false, 0, NULL, {0}},
    {"CK4", CK4, {0}, {0}, STATUS_TERMINATED, false, 2, "out", {2, 4}},
    {"CK4 as printed (B-12)",
     CK4,
     {.entry_in_start = true},
     {0},
     STATUS_TERMINATED,
     false,
     2,
     "out",
     {4, 4}},
    {"CK5", CK5, {0}, {0}, STATUS_TERMINATED, true, 0, NULL, {0}},
    {"CK5 with any sync (B-13)",
     CK5,
     {0},
     {.vacuous_sync = true},
     STATUS_TERMINATED,
     false,
     0,
     NULL,
     {0}},
    {"CK6", CK6, {0}, {0}, STATUS_TERMINATED, false, 2, "out", {3, 5}},
    {"CK6 with one loop (B-11)",
     CK6,
     {.one_loop = true},
     {0},
     STATUS_TERMINATED,
     false,
     2,
     "out",
     {0, 0}},
    {"CK7", CK7, {0}, {0}, STATUS_TERMINATED, false, 0, NULL, {0}},
    {"CK9", CK9, {0}, {0}, STATUS_BARRIER_DIVERGENCE, false, 0, NULL, {0}},
    {"CK14", CK14, {0}, {0}, STATUS_TERMINATED, true, 1, "v", {1}},
    {"CK15", CK15, {0}, {0}, STATUS_BARRIER_DIVERGENCE, false, 0, NULL, {0}},
};

static void counterexample(const struct counterexample *c)
{
    struct access_log log = {.race = false};
    const struct observer observer = {
        .context = &log, .read = on_read, .write = on_write, .barrier = on_barrier};
    struct machine_options options = c->machine;
    options.observers = &observer;
    struct machine *m = vector_machine(c->text, &c->options, &options);
    enum status status = blocks_run(m, 0, BUDGET);
    bool race = log.race && status != STATUS_INFEASIBLE; /* Def. 4.1 */
    if (status != c->status || race != c->race)
        fail_msg("%s: %s%s", c->name, status_names[status], race ? ", race" : "");
    for (uint32_t i = 0; i < c->values; i++)
        if (word(m, c->variable, i) != c->value[i])
            fail_msg("%s: %s[%u] = %d", c->name, c->variable, i, word(m, c->variable, i));
}

static void counterexamples_of_section_14(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(counterexamples); i++)
        counterexample(&counterexamples[i]);
}

/* CK3 and CK8 (B-10): without the early assumes some choices end in a sync that fails; with them
 * none does. */
static void early_assumes(void **state)
{
    (void)state;
    const char *kernels[] = {CK3, "global int sum[4]; " BLOCKS_SCAN};
    for (size_t k = 0; k < COUNT(kernels); k++) {
        uint32_t diverging = 0;
        for (uint32_t seed = 0; seed < 40; seed++) {
            const char *text = arena_printf(&test_arena, "launch(threads = 4, seed = %u); %s",
                                            (unsigned)seed, kernels[k]);
            const struct predicate_options no_early = {.no_early = true};
            const struct machine_options options = {0};
            assert_int_equal(blocks_run(machine_of(text), 0, BUDGET), STATUS_TERMINATED);
            diverging += blocks_run(vector_machine(text, &no_early, &options), 0, BUDGET) ==
                         STATUS_BARRIER_DIVERGENCE;
        }
        assert_true(diverging > 0);
    }
}

/* ---- P_{s,t}: CK12 ---- */

static void havoc_v(void *context, struct machine *machine, uint32_t block)
{
    uint32_t *count = context;
    ++*count;
    assert_int_equal(block, 1);
    machine_poke(machine, support_address(machine->program, "v") + 1, 5);
}

static void pairs(void **state)
{
    (void)state;
    const char *text = "launch(threads = 3, blocks = 2); shared int v; global int n;\n"
                       "kernel ck12() blocks { Start: atomic_add(n, tid + 1); barrier();\n"
                       "assert(v == 0); goto End; }";
    uint32_t count = 0;
    const struct barrier_havoc havoc = {.havoc = havoc_v, .context = &count};
    struct machine_options options = {.pair_count = 2, .pair = {3, 5}};
    struct machine *m = vector_machine(text, &BLOCKS_DEFAULTS, &options);
    const uint32_t *threads;
    assert_int_equal(lockstep_threads(m, 1, &threads), 2);
    assert_true(threads[0] == 3 && threads[1] == 5);
    assert_int_equal(blocks_run(m, 0, BUDGET), STATUS_TERMINATED);
    assert_int_equal(word(m, "n", 0), 1 + 3);
    options.barrier_havoc = &havoc;
    m = vector_machine(text, &BLOCKS_DEFAULTS, &options);
    assert_int_equal(blocks_run(m, 0, BUDGET), STATUS_ASSERT_FAILS);
    assert_int_equal(m->head->fault_thread, 3);
    assert_int_equal(count, 1);
}

/* ---- whose fault ends an execution ---- */

/* The lowest thread that fails at the first statement at which one does, and what it did. */
static void faults_are_of_a_thread(void **state)
{
    (void)state;
    static const struct {
        const char *statements; /* of Start; one thread, t, is told apart */
        enum status status;
    } cases[] = {
        {"p[t ? 9 : 0] = 1; goto End;", STATUS_OUT_OF_BOUNDS},
        {"p[t ? -1 : 3] = 1; goto End;", STATUS_OUT_OF_BOUNDS},
        {"x = p[t ? 4 : 3]; goto End;", STATUS_OUT_OF_BOUNDS},
        {"x = s[t ? 8 : 7]; goto End;", STATUS_OUT_OF_BOUNDS},
        {"s[t ? 8 : tid] = 1; goto End;", STATUS_OUT_OF_BOUNDS},
        {"g[t ? -5 : tid] = 1; goto End;", STATUS_OUT_OF_BOUNDS},
        {"p[0] = s[t ? 8 : tid]; goto End;", STATUS_OUT_OF_BOUNDS},
        {"x = 1 if (p[t ? 4 : 0]); goto End;", STATUS_OUT_OF_BOUNDS},
        {"s[tid] = 1 if (p[t ? 4 : 0]); goto End;", STATUS_OUT_OF_BOUNDS},
        {"x = s[8] if (t); goto End;", STATUS_OUT_OF_BOUNDS},
        {"p[4] = 1 if (t); goto End;", STATUS_OUT_OF_BOUNDS},
        {"x = atomic_add(s[t ? 8 : 0], 1); goto End;", STATUS_OUT_OF_BOUNDS},
        {"atomic_add(s[0], p[t ? 4 : 0]); goto End;", STATUS_OUT_OF_BOUNDS},
        {"x = atomic_cas(s[0], 1, p[t ? 4 : 0]); goto End;", STATUS_OUT_OF_BOUNDS},
        {"havoc(p[t ? 4 : 0]); goto End;", STATUS_OUT_OF_BOUNDS},
        {"havoc(s[t ? 8 : 0]); goto End;", STATUS_OUT_OF_BOUNDS},
        {"assert(!t); goto End;", STATUS_ASSERT_FAILS},
        {"assert(p[t ? 4 : 0] == 0); goto End;", STATUS_OUT_OF_BOUNDS},
        {"assume(1); assume(!t); goto End;", STATUS_INFEASIBLE},
        {"assume(1); assume(p[t ? 4 : 0] == 0); goto End;", STATUS_OUT_OF_BOUNDS},
        {"goto A, B; A: assume(t); assert(0); goto End; B: assume(!t); goto End;",
         STATUS_ASSERT_FAILS},
        {"goto A, B; A: assume(t); goto C; C: x = s[9]; goto End; B: assume(!t); goto End;",
         STATUS_OUT_OF_BOUNDS},
        {"goto A, B; A: assume(t); goto End; B: assume(!t); barrier(); goto End;",
         STATUS_BARRIER_DIVERGENCE},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (uint32_t who = 0; who < 8; who++) {
            size_t mark = arena_mark(&test_arena);
            const struct machine_options options = {0};
            const char *text = arena_printf(
                &test_arena,
                "launch(threads = 4, blocks = 2); shared int s[8]; global int g[8]; private int t, "
                "p[4], x; kernel k() blocks { Start: t = bid * 4 + tid == %u; goto T; T: "
                "assume(1); "
                "%s }",
                (unsigned)who, cases[i].statements);
            struct machine *m = vector_machine(text, &BLOCKS_DEFAULTS, &options);
            enum status status = blocks_run(m, 0, BUDGET);
            bool anybody = status == STATUS_BARRIER_DIVERGENCE;
            uint32_t thread = m->head->fault_thread;
            if (status != cases[i].status || (anybody ? thread / 4 != who / 4 : thread != who))
                fail_msg("%s: thread %u, %s of %u", cases[i].statements, who, status_names[status],
                         thread);
            arena_release(&test_arena, mark);
        }
}

/* ---- psi: who wins, who is seen to write ---- */

struct chooser {
    struct choices choices; /* first */
    uint32_t asked, most, answer;
};

static uint32_t answer(struct choices *choices, uint32_t n)
{
    struct chooser *c = (struct chooser *)choices;
    c->asked++;
    c->most = n;
    return c->answer;
}

static void winners(void **state)
{
    (void)state;
    const char *text = VECTOR "Start: a[tid / 2] = tid + 10 if (tid != 1); x = 3 if (tid > 1);"
                              "goto End; }";
    for (uint32_t winner = 0; winner < 2; winner++) {
        struct access_log log = {.race = false};
        const struct observer observer = {
            .context = &log, .read = on_read, .write = on_write, .step = on_step};
        const struct machine_options options = {.observers = &observer};
        struct machine *m = vector_machine(text, &BLOCKS_DEFAULTS, &options);
        struct chooser chooser = {.choices.choose = answer, .answer = winner};
        const uint32_t *order;
        machine_step(m, 0, &chooser.choices);
        machine_step(m, 0, &chooser.choices);
        assert_true(chooser.asked == 1 && chooser.most == 2);
        assert_int_equal(word(m, "a", 0), 10);
        assert_int_equal(word(m, "a", 1), (int32_t)(12 + winner));
        assert_int_equal(lockstep_last_write_order(m, &order), 3);
        assert_true(order[0] == 0 && order[1] == 3 - winner && order[2] == 2 + winner);
        assert_memory_equal(lockstep_enabled(m), "\1\0\1\1", 4);
        assert_true(log.race);
        machine_step(m, 0, &chooser.choices); /* equal values: nothing to choose */
        assert_true(chooser.asked == 1 && word(m, "x", 0) == 3);
    }
}

/* A condition that no thread evaluates otherwise is read once; one of their own, by all. */
static void uniform_conditions_are_read_once(void **state)
{
    (void)state;
    static const struct {
        const char *condition;
        uint64_t readers; /* of a[0] */
    } cases[] = {
        {"a[0] == 0", 1},        {"a[x] == 0", 1},       {"tid >= a[0]", 15}, {"b[a[0]] == 0", 15},
        {"a[tid * 0] == 0", 15}, {"any(a[0] == 0)", 15}, {"p == a[0]", 15},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct access_log log = {.race = false};
        const struct observer observer = {.context = &log, .read = on_read};
        const struct machine_options options = {.observers = &observer};
        struct machine *m = vector_machine(
            arena_printf(&test_arena, VECTOR "Start: assert(%s); goto End; }", cases[i].condition),
            &BLOCKS_DEFAULTS, &options);
        assert_int_equal(blocks_run(m, 0, BUDGET), STATUS_TERMINATED);
        if (log.readers[support_address(m->program, "a")] != cases[i].readers)
            fail_msg("%s", cases[i].condition);
    }
}

/* Who may be chosen is asked without an access, also within all and any. */
static void choosing_accesses_nothing(void **state)
{
    (void)state;
    static const char *const kernels[] = {
        "Start: pick(p, 1 : any(x == 7)); p = 1; x = 1 if (tid == 0); goto End; }",
        "Start: x = 1 if (tid == 0); goto A, B; A: assume(any(x == 7)); goto End; B: goto End; }"};
    for (size_t i = 0; i < COUNT(kernels); i++) {
        struct access_log log = {.race = false};
        const struct observer observer = {.context = &log, .read = on_read, .step = on_step};
        const struct machine_options options = {.observers = &observer};
        struct machine *m = vector_machine(arena_printf(&test_arena, VECTOR "%s", kernels[i]),
                                           &BLOCKS_DEFAULTS, &options);
        assert_int_equal(blocks_run(m, 0, BUDGET), STATUS_TERMINATED);
        assert_int_equal(log.readers[support_address(m->program, "x")], 0);
    }
}

/* all and any among a call's arguments are about the callers' frames, whoever has entered. */
static void arguments_are_read_before_a_frame_is_entered(void **state)
{
    (void)state;
    struct machine *m = machine_of(
        "launch(threads = 4); shared int x; private int p;\n"
        "void f(int n, out int r) lockstep { private int q; E: q = 9; r = n; goto D; D: return; }\n"
        "kernel k() lockstep { private int l; Start: l = tid; f(all(l == tid), p);"
        "x = p if (tid == 3); goto End; }");
    assert_int_equal(blocks_run(m, 0, BUDGET), STATUS_TERMINATED);
    assert_int_equal(word(m, "x", 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(choosing_accesses_nothing),
        TEST(arguments_are_read_before_a_frame_is_entered),
        TEST(rules),
        TEST(calls),
        TEST(every_rule_fires),
        TEST(scan),
        TEST(counterexamples_of_section_14),
        TEST(early_assumes),
        TEST(faults_are_of_a_thread),
        TEST(pairs),
        TEST(winners),
        TEST(uniform_conditions_are_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
