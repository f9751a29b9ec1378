/* Searches of real kernels, under both semantics: the papers' programs, plain enumeration, and random
 * kernels small enough for it. */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/progress/lasso.h"
#include "engine/search/search.h"

static struct search_result *search(const char *text, enum subject_id subject,
                                    enum search_method method)
{
    const struct subject_info *info = &subject_table[subject];
    struct search_options options = SEARCH_DEFAULTS;
    options.method = method;
    struct machine *machine =
        search_machine(&test_arena, info->vtable, support_program(text), info->options.then_first);
    return search_run(&test_arena, machine, &options);
}

/* ---- what the papers say ---- */

/* INT.incr (simt-correctness, section 4.1): n threads end with any of 1 .. n, and with nothing else. */
static void increments(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 4; n++)
        for (int method = SEARCH_AUTO; method <= SEARCH_DPOR; method++) {
            const char *text = arena_printf(
                &test_arena,
                "launch(threads = %u, warp = %u); shared int x; kernel k() { x = x + 1; }", n, n);
            struct search_result *result =
                search(text, SUBJECT_THREADS, (enum search_method)method);
            uint32_t values = 0;
            assert_true(result->complete);
            assert_int_equal(result->outcome_count, n);
            for (uint32_t i = 0; i < n; i++) {
                assert_int_equal(result->outcomes[i].status, STATUS_TERMINATED);
                values |= 1u << *result->outcomes[i].store;
            }
            assert_int_equal(values, (1u << (n + 1)) - 2);
            assert_int_equal(result->race, n > 1);
            assert_int_equal(result->liveness, LIVENESS_ALL_TERMINATE);
            result = search(text, SUBJECT_SIMT, (enum search_method)method);
            assert_int_equal(result->outcome_count, 1);
            assert_int_equal(*result->outcomes[0].store, 1);
        }
}

/* SIMT.assign: every lane can win a conflicting write, and no other value appears. */
static void lanes_win(void **state)
{
    (void)state;
    const char *text = "launch(threads = 4, warp = 4); shared int x[2];"
                       "kernel k() { x[tid & 1] = tid; }";
    for (int method = SEARCH_STATES; method <= SEARCH_DPOR; method++) {
        struct search_result *result = search(text, SUBJECT_SIMT, (enum search_method)method);
        assert_true(result->complete);
        assert_false(result->race); /* one warp is one actor */
        assert_int_equal(result->outcome_count, 4);
        for (uint32_t i = 0; i < 4; i++) {
            const int32_t *x = result->outcomes[i].store;
            assert_true((x[0] == 0 || x[0] == 2) && (x[1] == 1 || x[1] == 3));
        }
    }
}

/* atomic^w: the lanes' operations come in any order. */
static void atomics_of_lanes(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint32_t outcomes;
    } cases[] = {
        {"atomic_add(x, tid);", 1},
        {"atomic_exch(x, tid);", 3},
        {"private int o; o = atomic_add(x, 1); y[o] = tid;", 6},
        {"private int o; o = atomic_cas(x, 0, tid + 1); y[tid] = o;", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = arena_printf(
            &test_arena, "launch(threads = 3, warp = 4); shared int x, y[3]; kernel k() { %s }",
            cases[i].body);
        struct search_result *result = search(text, SUBJECT_SIMT, SEARCH_STATES);
        assert_true(result->complete);
        assert_int_equal(result->outcome_count, cases[i].outcomes);
    }
}

static const char p2[] = "shared int lock; kernel k() {"
                         " if (tid == 0) lock = 1; else while (lock != 1) ; }";
static const char p2r[] = "shared int lock; kernel k() {"
                          " if (tid != 0) while (lock != 1) ; else lock = 1; }";
static const char p3[] = "shared int lock; kernel k() { while (lock != tid) ; lock = lock + 1; }";
static const char p4[] = "shared int next; kernel k() { while (next != threads) {"
                         " if (tid == next) next = next + 1; else ; } }";

/* The catalogue's section 10: the warp diverges or not by its branch order; interleaved, each program
 * ends under every fair schedule with one final store, and an unfair one runs for ever. The warp does
 * not choose anything, so its only infinite execution is fair. */
static void unfairness_programs(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool diverges, diverges_then_first, final_is_n;
    } rows[] = {{p2, true, false, false},
                {p2r, false, true, false},
                {p3, true, true, true},
                {p4, false, false, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint32_t n = 1; n <= 3; n++) {
            size_t mark = arena_mark(&test_arena);
            const char *text = arena_printf(&test_arena, "launch(threads = %u, warp = %u); %s", n,
                                            n, rows[i].body);
            struct search_result *result = search(text, SUBJECT_THREADS, SEARCH_AUTO);
            assert_true(result->complete);
            assert_int_equal(result->method, SEARCH_STATES);
            assert_int_equal(result->liveness,
                             n == 1 ? LIVENESS_ALL_TERMINATE : LIVENESS_UNFAIR_LASSO);
            assert_int_equal(result->outcome_count, 1);
            assert_int_equal(*result->outcomes[0].store, rows[i].final_is_n ? (int32_t)n : 1);
            for (int then = 0; then < 2; then++) {
                bool diverges = n > 1 && (then ? rows[i].diverges_then_first : rows[i].diverges);
                result = search(text, then ? SUBJECT_SIMT_THEN : SUBJECT_SIMT, SEARCH_AUTO);
                assert_true(result->complete);
                assert_int_equal(result->liveness,
                                 diverges ? LIVENESS_FAIR_LASSO : LIVENESS_ALL_TERMINATE);
                assert_int_equal(result->outcome_count, diverges ? 0 : 1);
            }
            arena_release(&test_arena, mark);
        }
}

/* The same verdicts from one execution each. */
static void lassos(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum subject_id subject;
        struct sched_spec spec;
        enum lasso_kind kind;
    } rows[] = {
        {p2, SUBJECT_SIMT, {.kind = SCHED_SEQUENTIAL}, LASSO_FAIR},
        {p2, SUBJECT_SIMT_THEN, {.kind = SCHED_SEQUENTIAL}, LASSO_NONE},
        {p3, SUBJECT_SIMT, {.kind = SCHED_SEQUENTIAL}, LASSO_FAIR},
        {p4, SUBJECT_SIMT, {.kind = SCHED_SEQUENTIAL}, LASSO_NONE},
        {p2, SUBJECT_THREADS, {.kind = SCHED_SEQUENTIAL}, LASSO_NONE},
        {p2, SUBJECT_THREADS, {.kind = SCHED_REVERSE}, LASSO_UNFAIR},
        {p2, SUBJECT_THREADS, {.kind = SCHED_STARVE, .victim = 0}, LASSO_UNFAIR},
        {p3, SUBJECT_THREADS, {.kind = SCHED_STARVE, .victim = 0}, LASSO_UNFAIR},
        {p4, SUBJECT_THREADS, {.kind = SCHED_STARVE, .victim = 0}, LASSO_UNFAIR},
        {p2, SUBJECT_THREADS, {.kind = SCHED_ROUND_ROBIN}, LASSO_NONE},
        {p3, SUBJECT_THREADS, {.kind = SCHED_ROUND_ROBIN}, LASSO_NONE},
        {p4, SUBJECT_THREADS, {.kind = SCHED_ROUND_ROBIN}, LASSO_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct subject_info *info = &subject_table[rows[i].subject];
        const struct machine_options options = {.then_first = info->options.then_first,
                                                .track = true};
        const char *text =
            arena_printf(&test_arena, "launch(threads = 4, warp = 4); %s", rows[i].body);
        struct machine *machine =
            machine_new(&test_arena, info->vtable, support_program(text), &options);
        assert_int_equal(lasso_run(&test_arena, machine, &rows[i].spec, 100000).kind, rows[i].kind);
    }
}

/* A random walk remembers more states than its first table has room for. */
static void long_walk(void **state)
{
    (void)state;
    const char *text = "launch(threads = 1, warp = 1); shared int x;"
                       "kernel k() { while (x < 500) x = x + 1; while (x > 0) ; }";
    const struct machine_options options = {.track = true};
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct machine *machine = machine_new(&test_arena, subject_table[SUBJECT_THREADS].vtable,
                                          support_program(text), &options);
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &test_arena);
    struct lasso lasso = lasso_random(&test_arena, machine, &scheduler.choices, 10000);
    assert_int_equal(lasso.kind, LASSO_FAIR);
    assert_true(lasso.stem > 1000);
}

/* ---- where tables are wider than a word ---- */

/* One step reads two words that DPOR's masks take for one: it sleeps until either is written. */
static void distant_words(void **state)
{
    (void)state;
    for (int method = SEARCH_STATES; method <= SEARCH_DPOR; method++) {
        struct search_result *result =
            search("launch(threads = 2, warp = 2); shared int x[65], r;"
                   "kernel k() { if (tid == 0) r = x[0] + x[64]; else x[64] = 1; }",
                   SUBJECT_THREADS, (enum search_method)method);
        assert_true(result->complete);
        assert_true(result->race);
        assert_int_equal(result->outcome_count, 2);
    }
}

/* Two threads, each of `own` writes of its own and of one to y, in front of them or behind: races of more accesses than
 * a word has bits. There is an atomic operation, so that they are looked for in the graph of states. */
static bool many_accesses_race(uint32_t own, bool same, bool in_front)
{
    const char *mine = in_front ? "y[0] = 1;" : "";
    const char *theirs = !in_front ? "" : same ? "y[0] = 1;" : "y[1] = 1;";
    for (uint32_t i = 0; i < own; i++) {
        mine = arena_printf(&test_arena, "%s x[%u] = 1;", mine, i);
        theirs = arena_printf(&test_arena, "%s x[%u] = 1;", theirs, own + i);
    }
    struct search_result *result =
        search(arena_printf(&test_arena,
                            "launch(threads = 2, warp = 2); shared int x[%u], y[2], z;"
                            "kernel k() { if (tid == 0) { %s%s } else { %s%s atomic_add(z, 1); } }",
                            2 * own, mine, in_front ? "" : " y[0] = 1;", theirs,
                            in_front ? ""
                            : same   ? " y[0] = 1;"
                                     : " y[1] = 1;"),
               SUBJECT_THREADS, SEARCH_STATES);
    assert_true(result->complete);
    return result->race;
}

/* The same with a barrier between what would race, in front of the own writes and behind them. */
static bool many_accesses_in_order(uint32_t own)
{
    const char *mine = "", *theirs = "";
    for (uint32_t i = 0; i < own; i++) {
        mine = arena_printf(&test_arena, "%s x[%u] = 1;", mine, i);
        theirs = arena_printf(&test_arena, "%s x[%u] = 1;", theirs, own + i);
    }
    struct search_result *result =
        search(arena_printf(&test_arena,
                            "launch(threads = 2, warp = 2); shared int x[%u], y, z; kernel k() {"
                            " if (tid == 0) y = 1; barrier();"
                            " if (tid == 0) { %s } else { %s atomic_add(z, 1); y = 2; } }",
                            2 * own, mine, theirs),
               SUBJECT_THREADS, SEARCH_STATES);
    assert_true(result->complete);
    return !result->race;
}

static void many_accesses(void **state)
{
    (void)state;
    for (uint32_t own = 30; own <= 33; own++) {
        assert_true(many_accesses_in_order(own));
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(many_accesses_race(own, i & 1, i & 2), i & 1);
    }
}

/* What a block did before its barrier races with what another does later, which an atomic operation tells it. */
static void barriers_of_another_block(void **state)
{
    (void)state;
    for (int method = SEARCH_STATES; method <= SEARCH_DPOR; method++) {
        struct search_result *result =
            search("launch(threads = 1, warp = 1, blocks = 2); global int x, y; private int a;"
                   "kernel k() { if (bid == 0) { x = 1; barrier(); atomic_add(y, 1); }"
                   " else { a = atomic_add(y, 0); if (a == 1) x = 2; } }",
                   SUBJECT_THREADS, (enum search_method)method);
        assert_true(result->complete);
        assert_true(result->race);
    }
}

static struct search_result *search_blocks(const char *text, enum search_method method)
{
    const char *reason = "";
    struct search_options options = SEARCH_DEFAULTS;
    const struct program *program = program_compile(&test_arena, support_parse(text), &reason);
    assert_non_null(program);
    options.method = method;
    return search_run(
        &test_arena,
        search_machine(&test_arena, subject_table[SUBJECT_INTERLEAVE].vtable, program, false),
        &options);
}

/* DPOR does not say that a kernel with loops ends, in block form neither (search.h). */
static void loops_of_blocks(void **state)
{
    (void)state;
    const char *text = "launch(threads = 2, warp = 2); private int i;"
                       "kernel k() blocks { Start: goto A; A: i = i + 1; goto B, C;"
                       " B: assume(i < 2); goto A; C: assume(i >= 2); goto End; }";
    for (int method = SEARCH_STATES; method <= SEARCH_DPOR; method++) {
        struct search_result *result = search_blocks(text, (enum search_method)method);
        assert_true(result->complete);
        assert_int_equal(result->liveness,
                         method == SEARCH_DPOR ? LIVENESS_UNKNOWN : LIVENESS_ALL_TERMINATE);
    }
}

/* Choosing accesses nothing (CFG.access), and another thread decides what can be chosen: each method finds it, also
 * where no access tells that two steps depend on each other. */
static void choices_by_memory(void **state)
{
    (void)state;
    static const struct {
        const char *blocks;
        uint32_t terminated; /* outcomes */
    } cases[] = {
        {"Start: p = tid; pick(p, 0 : p == 0 && x, 1 : p == 1 || !x); a[p] = 1; x = 1; goto End;",
         2},
        {"Start: goto A, B, C; A: assume(tid == 1); x = 1; goto End;"
         "B: assume(tid == 0 && x == 0); y = 1; goto End; C: assume(tid == 0 && x); y = 2; goto "
         "End;",
         2},
        {"Start: goto A, B; A: assume(tid == 1 || y); x = 1; goto End;"
         "B: assume(tid == 0); x = 2; goto End;",
         2}, /* nobody writes y: any method */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int method = SEARCH_AUTO; method <= SEARCH_DPOR; method++) {
            const char *text = arena_printf(&test_arena,
                                            "launch(threads = 2); shared int x, y, a[2]; private "
                                            "int p; kernel k() blocks { %s }",
                                            cases[i].blocks);
            struct search_result *result = search_blocks(text, (enum search_method)method);
            uint32_t terminated = 0;
            for (uint32_t k = 0; k < result->outcome_count; k++)
                terminated += result->outcomes[k].status == STATUS_TERMINATED;
            assert_true(result->complete);
            assert_int_equal(terminated, cases[i].terminated);
            assert_true(i == 2 || result->method == SEARCH_STATES);
        }
}

/* Nor that one with recursion does, whichever function it is. */
static void recursion(void **state)
{
    (void)state;
    const char *text =
        "launch(threads = 2, warp = 2); shared int x[2];"
        "int f(int n) { return n + 1; }"
        "int g(int n) { private int m; if (n > 0) { m = g(n - 1); return m; } return n; }"
        "kernel k() { private int i; i = f(tid); i = g(i); x[tid] = i; }";
    struct search_result *result = search(text, SUBJECT_THREADS, SEARCH_DPOR);
    assert_true(result->complete);
    assert_int_equal(result->liveness, LIVENESS_UNKNOWN);
}

/* The search for races takes the steps again and may spend them all: then nothing is left for another
 * method, whatever the numbers are. */
static void steps_are_spent_once(void **state)
{
    (void)state;
    const struct program *program =
        support_program("launch(threads = 2, warp = 2); shared int a; kernel k() { private int x;"
                        " do { do { x = atomic_exch(a, 1); } while (x == 0); x = atomic_exch(a, "
                        "0); } while (x == 0); }");
    for (uint64_t steps = 1; steps < 2000; steps += 13) {
        struct search_options options = SEARCH_DEFAULTS;
        struct machine *machine =
            search_machine(&test_arena, subject_table[SUBJECT_THREADS].vtable, program, false);
        options.max_steps = steps;
        options.max_depth = 20;
        struct search_result *result = search_run(&test_arena, machine, &options);
        assert_true(result->complete || result->cut);
        if (result->method == SEARCH_DPOR && result->steps >= steps)
            assert_string_equal(result->cut, "steps");
    }
}

/* A barrier orders its own block, whatever comes first: blocks race behind their barriers, and before them. */
static void blocks_race_behind_barriers(void **state)
{
    (void)state;
    static const char *const bodies[] = {"barrier(); if (tid == 0) g = bid;",
                                         "if (tid == 1) g = bid; barrier();",
                                         "if (bid) g = 1; barrier(); if (!bid) g = 2;"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (int method = SEARCH_STATES; method <= SEARCH_DPOR; method++) {
            const char *text = arena_printf(
                &test_arena,
                "launch(threads = 2, warp = 2, blocks = 2); global int g; kernel k() { %s }",
                bodies[i]);
            struct search_result *result =
                search(text, SUBJECT_THREADS, (enum search_method)method);
            assert_true(result->complete);
            assert_true(result->race);
        }
}

/* ---- many actors, long executions ---- */

static struct search_result *search_of(uint32_t threads, const char *body,
                                       enum search_method method, uint64_t states)
{
    struct search_options options = SEARCH_DEFAULTS;
    options.method = method;
    options.max_states = states;
    const struct program *program = support_program(arena_printf(
        &test_arena, "launch(threads = %u, warp = 1); shared int x[%u]; kernel k() { %s }", threads,
        threads, body));
    return search_run(&test_arena, search_machine(&test_arena, &semantics_threads, program, false),
                      &options);
}

/* Masks of actors have 64 bits; SEARCH_DPOR is for no more of them, and AUTO does not choose it then. */
static void as_many_actors_as_bits(void **state)
{
    (void)state;
    for (uint32_t threads = 62; threads <= 66; threads++) {
        size_t mark = arena_mark(&test_arena);
        struct search_result *result = search_of(threads, "x[tid] = 1;", SEARCH_DPOR, 10);
        assert_int_equal(result->complete, threads <= 64);
        assert_int_equal(result->executions, threads <= 64);
        assert_int_equal(result->outcome_count, threads <= 64);
        assert_int_equal(result->transitions, 0);
        if (threads > 64)
            assert_string_equal(result->cut, "actors");
        else
            assert_null(result->cut);
        /* the last two conflict */
        result = search_of(threads, "x[tid < threads - 2 ? tid : 0] = tid;", SEARCH_DPOR, 10);
        if (threads <= 64) {
            assert_true(result->race);
            assert_int_equal(result->outcome_count, 3);
        }
        result = search_of(threads, "x[tid] = 1;", SEARCH_AUTO, 10);
        assert_int_equal(result->complete, threads <= 64);
        if (threads <= 64)
            assert_int_equal(result->method, SEARCH_DPOR);
        arena_release(&test_arena, mark);
    }
}

/* Edges keep actors in a byte as long as they fit. */
static void actors_beyond_a_byte(void **state)
{
    (void)state;
    for (uint32_t threads = 254; threads <= 259; threads++) {
        size_t mark = arena_mark(&test_arena);
        struct search_result *result =
            search_of(threads, "assert(tid != threads - 1);", SEARCH_STATES, 3 * threads);
        assert_false(result->complete);
        assert_int_equal(result->outcome_count, 1);
        assert_int_equal(result->outcomes[0].status, STATUS_ASSERT_FAILS);
        for (uint32_t i = 0; i < result->outcomes[0].tape->count; i++)
            assert_int_equal(result->outcomes[0].tape->entries[i], threads - 1);
        arena_release(&test_arena, mark);
    }
}

/* An execution ends where the log of its steps is full, whatever the bound on depth. */
static void the_log_is_full(void **state)
{
    (void)state;
    const char *const text = "private int i; while (i < 100000) { i = i + 1; x[i & 0] = i; }";
    uint64_t before = 0;
    for (uint32_t depth = 1000; depth <= 1 << 20; depth *= 4) {
        size_t mark = arena_mark(&test_arena);
        struct search_options options = SEARCH_DEFAULTS;
        options.method = SEARCH_DPOR;
        options.max_depth = depth;
        options.max_bytes = 256 << 20;
        const struct program *program = support_program(arena_printf(
            &test_arena, "launch(threads = 1, warp = 1); shared int x[1]; kernel k() { %s }",
            text));
        struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
        struct search_result *result = search_run(&test_arena, machine, &options);
        assert_string_equal(result->cut, "depth");
        assert_true(result->steps == depth || (result->steps > 20000 && result->steps < 131072));
        assert_true(result->steps >= before);
        before = result->steps;
        arena_release(&test_arena, mark);
    }
    assert_in_range(before, 38000, 39000); /* of 2^17 words that change, three or four a step */
}

/* ---- against plain enumeration ---- */

enum { OUTCOMES_MAX = 512, CHOICES_MAX = 8, WORDS_MAX = 8 };

struct enumeration {
    struct choices choices; /* first member: an odometer over the choices inside one step */
    uint32_t value[CHOICES_MAX], radix[CHOICES_MAX], count, at;
    uint64_t executions;
    uint32_t outcome_count;
    struct {
        enum status status;
        int32_t store[WORDS_MAX];
    } outcomes[OUTCOMES_MAX];
};

static uint32_t odometer_choose(struct choices *choices, uint32_t n)
{
    struct enumeration *e = (struct enumeration *)choices;
    if (e->at == e->count) {
        assert_true(e->count < CHOICES_MAX);
        e->value[e->count] = 0;
        e->radix[e->count++] = n;
    }
    return e->value[e->at++];
}

static bool odometer_next(struct enumeration *e)
{
    e->at = 0;
    for (; e->count > 0; e->count--)
        if (++e->value[e->count - 1] < e->radix[e->count - 1])
            return true;
    return false;
}

static bool knows(const struct enumeration *e, enum status status, const int32_t *store,
                  uint32_t words)
{
    for (uint32_t i = 0; i < e->outcome_count; i++)
        if (e->outcomes[i].status == status &&
            (status != STATUS_TERMINATED || memcmp(e->outcomes[i].store, store, 4 * words) == 0))
            return true;
    return false;
}

static void note(struct enumeration *e, const struct machine *machine)
{
    uint32_t words = machine->program->private_base;
    enum status status = machine_status(machine);
    e->executions++;
    if (knows(e, status, machine->memory, words))
        return;
    assert_true(e->outcome_count < OUTCOMES_MAX && words <= WORDS_MAX);
    e->outcomes[e->outcome_count].status = status;
    memcpy(e->outcomes[e->outcome_count++].store, machine->memory, 4 * words);
}

/* False: more executions than anybody wants to wait for. */
static bool enumerate(struct enumeration *e, struct machine *machine, uint64_t most)
{
    if (machine_status(machine) != STATUS_RUNNING) {
        note(e, machine);
        return e->executions < most;
    }
    size_t mark = arena_mark(&test_arena);
    uint32_t *saved = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words);
    machine_save(machine, saved);
    for (uint32_t i = 0; i < machine->head->live_count; i++) {
        struct enumeration script = {.choices = {NULL, odometer_choose, NULL}};
        do {
            machine_step(machine, machine->head->live[i], &script.choices);
            if (!enumerate(e, machine, most))
                return false;
            machine_restore(machine, saved, 0);
        } while (odometer_next(&script));
    }
    arena_release(&test_arena, mark);
    return true;
}

static void check_witnesses(const struct program *program, enum subject_id subject,
                            const struct search_result *result)
{
    for (uint32_t i = 0; i < result->outcome_count; i++) {
        const struct search_outcome *outcome = &result->outcomes[i];
        struct machine *machine = support_machine(program, subject);
        const struct sched_spec spec = {.kind = SCHED_TAPE, .tape = outcome->tape};
        struct scheduler scheduler;
        sched_start(&scheduler, &spec, machine, &test_arena);
        assert_int_equal(machine_run(machine, &scheduler.choices, 10000, NULL), outcome->status);
        assert_int_equal(scheduler.drifts + scheduler.beyond, 0);
        if (outcome->store)
            assert_memory_equal(outcome->store, machine->memory, 4 * program->private_base);
    }
}

/* False: too large to enumerate. */
static bool agrees(const char *text, enum subject_id subject, uint64_t most)
{
    const struct subject_info *info = &subject_table[subject];
    const struct program *program = support_program(text);
    struct enumeration *e = ARENA_NEW(&test_arena, struct enumeration);
    if (!enumerate(e, support_machine(program, subject), most)) {
        if (most > 100000)
            print_error("too many executions: %s\n", text);
        return false;
    }
    for (int method = SEARCH_AUTO; method <= SEARCH_DPOR; method++) {
        struct search_options options = SEARCH_DEFAULTS;
        options.method = (enum search_method)method;
        struct machine *machine =
            search_machine(&test_arena, info->vtable, program, info->options.then_first);
        struct search_result *result = search_run(&test_arena, machine, &options);
        bool same = result->complete && result->outcome_count == e->outcome_count;
        for (uint32_t i = 0; same && i < result->outcome_count; i++)
            same = knows(e, result->outcomes[i].status, result->outcomes[i].store,
                         program->private_base);
        if (!same)
            print_error("%s: method %d: %u outcomes, not %u\n", text, method, result->outcome_count,
                        e->outcome_count);
        assert_true(same);
        check_witnesses(program, subject, result);
    }
    return true;
}

static void agree_with_enumeration(void **state)
{
    (void)state;
    static const struct {
        enum subject_id subject;
        const char *text;
    } rows[] = {
        {SUBJECT_THREADS, "launch(threads = 2, warp = 2); shared int x, y;"
                          "kernel k() { if (tid == 0) { x = 1; x = y; } else { y = 1; y = x; } }"},
        {SUBJECT_THREADS, "launch(threads = 2, warp = 2); shared int x, a[2];"
                          "kernel k() { a[x] = tid + 1; x = 1; }"},
        {SUBJECT_THREADS, "launch(threads = 2, warp = 2); shared int x;"
                          "kernel k() { x = tid + 1; assert(x != 2); x = 3; }"},
        {SUBJECT_THREADS, "launch(threads = 2, warp = 2); shared int x, a[2];"
                          "kernel k() { x = tid * 5; a[x] = 1; }"},
        {SUBJECT_THREADS,
         "launch(threads = 2, warp = 2);"
         "shared int x; void f() { private int l; l = x; x = l + tid + 1; } kernel k() { f(); }"},
        {SUBJECT_THREADS, "launch(threads = 2, warp = 1, blocks = 1); shared int x; global int g;"
                          "kernel k() { if (x) exit; x = 1; g = g + x; }"},
        {SUBJECT_SIMT, "launch(threads = 4, warp = 2); shared int x; kernel k() { x = x + lane; }"},
        {SUBJECT_SIMT, "launch(threads = 4, warp = 2); shared int x, y;"
                       "kernel k() { x = tid; y = x; }"},
        {SUBJECT_SIMT, "launch(threads = 2, warp = 2, blocks = 2); shared int x; global int g;"
                       "kernel k() { g = g + tid + bid; x = g; }"},
        {SUBJECT_SIMT_THEN, "launch(threads = 4, warp = 2); shared int x, a[3];"
                            "kernel k() { if (tid & 1) x = tid; else a[x] = 1; }"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t mark = arena_mark(&test_arena);
        assert_true(agrees(rows[i].text, rows[i].subject, 1000000));
        arena_release(&test_arena, mark);
    }
}

/* ---- random kernels ---- */

static const char *random_expr(struct pcg *rng)
{
    static const char *const leaves[] = {"tid", "x", "y", "a[tid & 1]", "p", "1", "2"};
    const char *left = leaves[pcg_below(rng, 7)], *right = leaves[pcg_below(rng, 7)];
    static const char *const operators[] = {"+", "^", "==", "&&", "<", "|"};
    if (pcg_below(rng, 2))
        return left;
    return arena_printf(&test_arena, "(%s %s %s)", left, operators[pcg_below(rng, 6)], right);
}

static const char *random_statement(struct pcg *rng, int depth)
{
    static const char *const places[] = {"x", "y", "a[tid & 1]", "a[x & 1]", "p", "a[x]"};
    uint32_t kind = pcg_below(rng, depth > 0 ? 10 : 7);
    if (kind == 6)
        return arena_printf(&test_arena, "assert(%s != 2);", random_expr(rng));
    if (kind < 6)
        return arena_printf(&test_arena, "%s = %s;", places[kind], random_expr(rng));
    const char *guard = random_expr(rng), *then = random_statement(rng, depth - 1);
    return arena_printf(&test_arena, "if (%s) %s else %s", guard, then,
                        pcg_below(rng, 2) ? random_statement(rng, depth - 1) : ";");
}

static void random_kernels(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(31, PCG_KERNEL, 0);
    uint32_t compared[2] = {0, 0};
    for (uint32_t round = 0; round < 240; round++) {
        size_t mark = arena_mark(&test_arena);
        bool warps = round % 2;
        const char *body = "";
        for (uint32_t i = 1 + pcg_below(&rng, warps ? 3 : 2); i > 0; i--)
            body = arena_printf(&test_arena, "%s %s", body, random_statement(&rng, 1));
        const char *text = arena_printf(&test_arena,
                                        "launch(threads = %d, warp = 2); shared int x, y, a[2]; "
                                        "private int p; kernel k() { %s }",
                                        warps ? 4 : 2, body);
        compared[warps] += agrees(text, warps ? SUBJECT_SIMT : SUBJECT_THREADS, 30000);
        arena_release(&test_arena, mark);
    }
    assert_true(compared[0] > 80 && compared[1] > 80);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

/* A split begins by the step of another one, which accesses nothing: partial orders of accesses do not tell. They made
 * a split step that was not there. */
static void splits_are_searched_by_states(void **state)
{
    (void)state;
    static const char text[] = "launch(threads = 2, warp = 2, blocks = 2); global int f, d;"
                               "kernel k() { private int e; if (bid * threads + tid == 3) { while "
                               "(f != 0) ; d = 1; f = 1; }"
                               " else { while (f == 0) ; e = d; f = 0; } }";
    for (int method = SEARCH_AUTO; method <= SEARCH_DPOR; method++) {
        struct search_result *result =
            search(text, SUBJECT_CONVERGENCE, (enum search_method)method);
        assert_true(result->complete);
        assert_int_equal(result->method, SEARCH_STATES);
        assert_int_equal(result->liveness, search(text, SUBJECT_THREADS, SEARCH_STATES)->liveness);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(increments),
        TEST(lanes_win),
        TEST(atomics_of_lanes),
        TEST(unfairness_programs),
        TEST(splits_are_searched_by_states),
        TEST(lassos),
        TEST(long_walk),
        TEST(distant_words),
        TEST(many_accesses),
        TEST(barriers_of_another_block),
        TEST(loops_of_blocks),
        TEST(choices_by_memory),
        TEST(recursion),
        TEST(steps_are_spent_once),
        TEST(blocks_race_behind_barriers),
        TEST(as_many_actors_as_bits),
        TEST(actors_beyond_a_byte),
        TEST(the_log_is_full),
        TEST(agree_with_enumeration),
        TEST(random_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
