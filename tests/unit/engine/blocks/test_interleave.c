/*
 * The interleaving of block programs: the kernels of lockstep-cfg section 14 with their verdicts, by
 * exhaustive search; the ways to choose at a goto; calls, guards, pairs, barrier identity.
 */
#include "engine/blocks/interleave.h"
#include "engine/machine/choice.h"
#include "engine/search/search.h"
#include "tests/unit/shared/support.h"

static struct program *compile_with(const char *text, const struct program_options *options)
{
    const char *reason = NULL;
    struct program *program =
        program_compile_with(&test_arena, support_parse(text), options, &reason);
    if (!program)
        print_error("%s\n", reason);
    assert_non_null(program);
    return program;
}

static struct program *compile(const char *text)
{
    const struct program_options natural = {.appendix_loops = false};
    return compile_with(text, &natural);
}

static struct search_result *search_by(enum search_method method, const struct program *program,
                                       const struct machine_options *options)
{
    struct search_options bounds = SEARCH_DEFAULTS;
    bounds.method = method;
    struct machine *machine =
        search_machine_with(&test_arena, &semantics_interleave, program, options);
    return search_run(&test_arena, machine, &bounds);
}

static struct search_result *search(const struct program *program,
                                    const struct machine_options *options)
{
    return search_by(SEARCH_STATES, program, options);
}

static uint32_t count_status(const struct search_result *r, enum status status)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->outcome_count; i++)
        count += r->outcomes[i].status == status;
    return count;
}

/* ---- section 14 ---- */

static const char CK1[] = "launch(threads = 2); shared int v; private int t; kernel k() blocks {"
                          "Start: t = tid + 1; goto B1, B2;"
                          "B1: assume(t == 1); v = 4; assume(v == 5); goto End;"
                          "B2: assume(t != 1); v = 5; goto End; }";
static const char CK2[] = "launch(threads = %u); shared int v; private int t; kernel k() blocks {"
                          "Start: t = tid + 1; goto B1, B2;"
                          "B1: assume(t == 1); goto Start;"
                          "B2: assume(t != 1); v = 1; goto End; }";
static const char CK4[] =
    "launch(threads = 2); shared int out[2]; private int n; kernel k() blocks {"
    "Start: n = n + 1; goto B1, B2;"
    "B1: assume(n < 2 * (tid + 1)); goto Start;"
    "B2: assume(n >= 2 * (tid + 1)); out[tid] = n; goto End; }";
static const char CK7[] = "launch(threads = 2); private int i, j; kernel k() blocks {"
                          "Start: goto H; H: goto B, X; B: assume(i < 2); j = 0; goto I;"
                          "I: goto J, Z; J: assume(j < tid + 1); j++; goto I;"
                          "Z: assume(j >= tid + 1); barrier(); i++; goto H;"
                          "X: assume(i >= 2); goto Exit; Exit: barrier(); goto End; }";
static const char CK9[] =
    "launch(threads = %u); shared int sum[3] = {1, 2, 3}; private int temp, offset = 1;"
    "kernel k() blocks { Start: goto H; H: goto B, X;"
    "B: assume(offset <= tid); temp = sum[tid - offset]; barrier();"
    "   sum[tid] = sum[tid] + temp; barrier(); offset = offset * 2; goto H;"
    "X: assume(offset > tid); goto %s; }";
static const char CK12[] = "launch(threads = 2); shared int v; kernel k() blocks {"
                           "Start: barrier(); assert(v == 0); goto Exit;"
                           "Exit: barrier(); goto End; }";
static const char CK14[] = "launch(threads = 2); shared int v; kernel k() blocks {"
                           "Start: v = v + 1; goto End; }";
static const char CK15[] = "launch(threads = 2); private int n; void p(int d) blocks {"
                           "E: goto M, L; M: assume(d > 0); goto C; C: p(d - 1); goto R;"
                           "L: assume(d <= 0); barrier(); goto R; R: return; }"
                           "kernel k() blocks { Start: n = tid; goto C; C: p(n); goto X;"
                           "X: barrier(); goto End; }";
static const char CK16[] = "launch(threads = 3); private int c; kernel k() blocks {"
                           "Start: c = threads > %u; goto Y, N; Y: assume(c); barrier(); goto X;"
                           "N: assume(!c); goto X; X: barrier(); goto End; }";

static void assert_only(const struct search_result *r, enum status status, bool race)
{
    assert_true(r->complete);
    assert_int_equal(r->outcome_count, count_status(r, status));
    assert_true(r->outcome_count > 0);
    assert_int_equal(r->race, race);
}

static void ck1_some_executions_are_infeasible(void **state)
{
    (void)state;
    const struct machine_options options = {.track = true};
    const struct program *p = compile(CK1);
    const struct search_result *r = search(p, &options);
    assert_true(r->complete && r->race);
    assert_int_equal(r->outcome_count, 2);
    assert_int_equal(count_status(r, STATUS_INFEASIBLE), 1);
    for (uint32_t i = 0; i < 2; i++)
        if (r->outcomes[i].status == STATUS_TERMINATED)
            assert_int_equal(r->outcomes[i].store[support_address(p, "v")], 5);
}

static void ck2_is_infinite_and_races_from_three_threads_on(void **state)
{
    (void)state;
    const struct machine_options options = {.track = true};
    for (uint32_t threads = 2; threads <= 3; threads++) {
        const struct search_result *r =
            search(compile(arena_printf(&test_arena, CK2, (unsigned)threads)), &options);
        assert_true(r->complete);
        assert_int_equal(r->outcome_count, 0);
        assert_int_equal(r->race, threads == 3);
        assert_int_equal(r->liveness, LIVENESS_FAIR_LASSO);
    }
}

static void ck4_threads_leave_a_loop_one_by_one(void **state)
{
    (void)state;
    const struct machine_options options = {.track = true};
    const struct program *p = compile(CK4);
    const struct search_result *r = search(p, &options);
    static const int32_t out[] = {2, 4};
    assert_only(r, STATUS_TERMINATED, false);
    assert_int_equal(r->outcome_count, 1);
    assert_memory_equal(r->outcomes[0].store + support_address(p, "out"), out, sizeof out);
    assert_int_equal(r->liveness, LIVENESS_ALL_TERMINATE);
}

static void ck7_depends_on_what_a_loop_is(void **state)
{
    (void)state;
    const struct machine_options options = {.track = true};
    const struct program_options appendix = {.appendix_loops = true};
    assert_only(search(compile(CK7), &options), STATUS_TERMINATED, false);
    assert_only(search(compile_with(CK7, &appendix), &options), STATUS_BARRIER_DIVERGENCE, false);
}

static void ck9_ck10_a_thread_leaves_the_loop_of_a_barrier(void **state)
{
    (void)state;
    const struct machine_options options = {.track = true},
                                 printed = {.track = true, .barrier_f1 = true};
    for (uint32_t threads = 2; threads <= 3; threads++) {
        const char *with =
            arena_printf(&test_arena, CK9, (unsigned)threads, "Exit; Exit: barrier(); goto End");
        const char *without = arena_printf(&test_arena, CK9, (unsigned)threads, "End");
        assert_int_equal(count_status(search(compile(with), &options), STATUS_BARRIER_DIVERGENCE),
                         1);
        assert_only(search(compile(without), &options), STATUS_BARRIER_DIVERGENCE, false);
        assert_only(search(compile(without), &printed), STATUS_STUCK, false);
    }
}

static void ck12_and_ck16_are_clean(void **state)
{
    (void)state;
    const struct machine_options options = {.track = true};
    assert_only(search(compile(CK12), &options), STATUS_TERMINATED, false);
    for (uint32_t bound = 2; bound <= 3; bound++)
        assert_only(search(compile(arena_printf(&test_arena, CK16, (unsigned)bound)), &options),
                    STATUS_TERMINATED, false);
}

static void ck14_no_increment_is_lost(void **state)
{
    (void)state;
    const struct machine_options options = {.track = true};
    const struct search_result *r = search(compile(CK14), &options);
    assert_only(r, STATUS_TERMINATED, true);
    assert_int_equal(r->outcome_count, 1);
    assert_int_equal(r->outcomes[0].store[0], 2);
}

/* ---- barrier identity ---- */

static const struct {
    const char *text;
    enum status status;
} identities[] = {
    {CK15, STATUS_BARRIER_DIVERGENCE},
    /* One callee, two call sites. */
    {"launch(threads = 2); void p() blocks { E: barrier(); return; } kernel k() blocks {"
     "Start: goto A, B; A: assume(tid == 0); goto CA; CA: p(); goto X;"
     "B: assume(tid != 0); goto CB; CB: p(); goto X; X: goto End; }",
     STATUS_BARRIER_DIVERGENCE},
    /* One call site, another trip of the caller's loop: thread 1 skips its first call. */
    {"launch(threads = 2); private int i; void p() blocks { E: barrier(); return; }"
     "kernel k() blocks { Start: goto H; H: goto A, N, X;"
     "A: assume(i < 2 && (i > 0 || tid == 0)); goto C; C: p(); goto J;"
     "N: assume(i < 2 && i == 0 && tid != 0); goto J; J: i++; goto H;"
     "X: assume(i >= 2); goto End; }",
     STATUS_BARRIER_DIVERGENCE},
    /* The same trips: equal. */
    {"launch(threads = 2); private int i; void p() blocks { E: barrier(); return; }"
     "kernel k() blocks { Start: goto H; H: goto A, X; A: assume(i < 2); goto C; C: p(); goto J;"
     "J: i++; goto H; X: assume(i >= 2); goto End; }",
     STATUS_TERMINATED},
    /* After a common barrier in a loop one leaves it and comes back through the loop around. */
    {"launch(threads = 2); private int i, j; kernel k() blocks { Start: goto O; O: goto I, X;"
     "I: assume(i < 2); goto B, L; B: assume(j < 2 - (tid & i == 0)); barrier(); j++; goto I;"
     "L: assume(!(j < 2 - (tid & i == 0))); i++; j = 1; goto O;"
     "X: assume(i >= 2); goto End; }",
     STATUS_BARRIER_DIVERGENCE},
    /* Two barriers behind each other, and the last statement of a block. */
    {"launch(threads = 3); kernel k() blocks { Start: barrier(); barrier(); goto A;"
     "A: barrier(); goto End; }",
     STATUS_TERMINATED},
    /* Textually different barriers. */
    {"launch(threads = 2); kernel k() blocks { Start: goto A, B;"
     "A: assume(tid == 0); barrier(); goto End; B: assume(tid != 0); barrier(); goto End; }",
     STATUS_BARRIER_DIVERGENCE},
    /* Blocks of the grid do not wait for each other. */
    {"launch(threads = 1, blocks = 2); kernel k() blocks { Start: goto A, B;"
     "A: assume(bid == 0); barrier(); goto End; B: assume(bid != 0); goto End; }",
     STATUS_TERMINATED},
};

static void barriers_are_told_apart(void **state)
{
    (void)state;
    const struct machine_options options = {.track = true};
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        const struct search_result *r = search(compile(identities[i].text), &options);
        if (r->outcome_count != 1 || r->outcomes[0].status != identities[i].status)
            print_error("kernel %zu ends %s\n", i, status_names[r->outcomes[0].status]);
        assert_only(r, identities[i].status, false);
    }
}

/* A thread that waits for ever while another loops starves nobody: nothing lets it step. */
static void waiting_at_a_barrier_is_not_starving(void **state)
{
    (void)state;
    const struct machine_options options = {.track = true};
    static const struct {
        const char *text;
        enum search_liveness liveness;
    } cases[] = {
        {"launch(threads = 2); kernel k() blocks { Start: goto W, S; W: assume(tid == 0);"
         "barrier(); goto End; S: assume(tid != 0); goto L; L: goto L; }",
         LIVENESS_FAIR_LASSO},
        {"launch(threads = 2); kernel k() blocks { Start: goto L; L: barrier(); goto L; }",
         LIVENESS_FAIR_LASSO},
        {"launch(threads = 2); shared int f; kernel k() blocks { Start: goto W, S;"
         "W: assume(tid == 0); f = 1; barrier(); goto End;"
         "S: assume(tid != 0); goto L; L: goto M, N; M: assume(f == 0); goto L;"
         "N: assume(f != 0); barrier(); goto End; }",
         LIVENESS_UNFAIR_LASSO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct search_result *r = search(compile(cases[i].text), &options);
        assert_true(r->complete);
        assert_int_equal(r->liveness, cases[i].liveness);
    }
}

/* ---- choices ---- */

static bool has_outcome(const struct search_result *r, const struct search_outcome *o,
                        uint32_t words)
{
    for (uint32_t i = 0; i < r->outcome_count; i++) {
        const struct search_outcome *other = &r->outcomes[i];
        if (other->status == o->status &&
            (!o->store || memcmp(other->store, o->store, words * sizeof *o->store) == 0))
            return true;
    }
    return false;
}

/* Each outcome of `a` that is feasible is one of `b`. */
static void assert_within(const struct search_result *a, const struct search_result *b,
                          uint32_t words)
{
    for (uint32_t i = 0; i < a->outcome_count; i++)
        if (a->outcomes[i].status != STATUS_INFEASIBLE)
            assert_true(has_outcome(b, &a->outcomes[i], words));
}

/* Two threads through layers of blocks, each block before all of the next layer; the guards of a layer
 * cover everything. */
static const char *random_layers(struct pcg *rng)
{
    static const char *const statements[] = {"n = n + 1;",
                                             "x = x * 2 + n;",
                                             "c = (tid + n) & 1;",
                                             "havoc(c);",
                                             "n = x;",
                                             "pick(n, 1 : c, 2 : 1, 3 : !c);",
                                             "x = n if (c);",
                                             "barrier() if (c < 0);"};
    static const char *const guards[][3] = {
        {"c", "!c", ""}, {"n > 1", "n <= 1", ""}, {"", "", ""}, {"", "c", "!c"}, {"1", "", ""}};
    enum { LAYERS = 3 };
    char *text = arena_printf(&test_arena,
                              "launch(threads = 2, seed = %u); shared int x;"
                              "private int n, c; kernel k() blocks { Start: skip;",
                              (unsigned)pcg_below(rng, 1000));
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        const char *const *guard = guards[pcg_below(rng, 5)];
        uint32_t count = guard[2][0] || pcg_below(rng, 3) == 0 ? 3 : 2;
        text = arena_printf(&test_arena, "%s goto", text);
        for (uint32_t b = 0; b < count; b++)
            text = arena_printf(&test_arena, "%s%s L%u%c", text, b ? "," : "", (unsigned)layer,
                                (char)('a' + b));
        text = arena_printf(&test_arena, "%s;", text);
        for (uint32_t b = 0; b < count; b++) {
            text = arena_printf(&test_arena, "%s L%u%c: ", text, (unsigned)layer, (char)('a' + b));
            if (guard[b][0])
                text = arena_printf(&test_arena, "%sassume(%s); ", text, guard[b]);
            text = arena_printf(&test_arena, "%s%s goto J%u;", text, statements[pcg_below(rng, 8)],
                                (unsigned)layer);
        }
        text = arena_printf(&test_arena, "%s J%u: %s", text, (unsigned)layer,
                            pcg_below(rng, 3) ? statements[pcg_below(rng, 8)] : "barrier();");
    }
    return arena_printf(&test_arena, "%s goto End; }", text);
}

/* CFG.goto_guarded: the guarded goto reaches what the raw rule reaches, but for infeasible ends; and
 * the partial-order search finds what the search of all states finds. */
static void guarded_and_raw_gotos_reach_the_same(void **state)
{
    (void)state;
    const struct machine_options literal = {.literal = true},
                                 raw = {.literal = true, .raw_goto = true};
    struct pcg rng = pcg_derive(1, PCG_SCHEDULE, 3);
    uint32_t several = 0, infeasible = 0;
    for (uint32_t i = 0; i < 60; i++) {
        test_arena.used = 0;
        const struct program *p = compile(random_layers(&rng));
        const struct search_result *a = search(p, &raw), *b = search(p, &literal);
        assert_true(a->complete && b->complete);
        assert_within(a, b, p->private_base);
        assert_within(b, a, p->private_base);
        assert_int_equal(a->race, b->race);
        infeasible += count_status(a, STATUS_INFEASIBLE) > 0;
        assert_int_equal(count_status(b, STATUS_INFEASIBLE), 0);
        several += b->outcome_count > 1;
        const struct search_result *c = search_by(SEARCH_DPOR, p, &literal);
        assert_int_equal(c->outcome_count, b->outcome_count);
        assert_within(c, b, p->private_base);
        assert_int_equal(c->race, b->race);
    }
    assert_true(several >= 20);
    assert_true(infeasible >= 20);
}

/* Without havoc, a run by streams is one of the literal runs; every literal run has its seed. */
static void streams_cover_the_literal_choices(void **state)
{
    (void)state;
    static const char text[] =
        "launch(threads = 2); shared int out[2]; private int n; kernel k() blocks {"
        "Start: goto A, B, C; A: assume(tid == 0); n = 1; goto X; B: n = 2; goto X;"
        "C: assume(tid >= 0); n = 3; goto X; X: out[tid] = n; goto End; }";
    const struct machine_options options = {.track = true},
                                 literal = {.track = true, .literal = true};
    struct ast_kernel *kernel = support_parse(text);
    const char *reason = NULL;
    const struct search_result *all =
        search(program_compile(&test_arena, kernel, &reason), &literal);
    bool seen[6] = {false};
    assert_int_equal(all->outcome_count, 6);
    for (uint64_t seed = 0; seed < 64; seed++) {
        kernel->launch.seed = seed;
        const struct program *p = program_compile(&test_arena, kernel, &reason);
        const struct search_result *r = search(p, &options);
        assert_int_equal(r->outcome_count, 1); /* whatever the schedule */
        for (uint32_t i = 0; i < 6; i++)
            seen[i] |= memcmp(all->outcomes[i].store, r->outcomes[0].store, 8) == 0;
        assert_within(r, all, p->private_base);
    }
    for (uint32_t i = 0; i < 6; i++)
        assert_true(seen[i]);
}

/* Literally, havoc gives each of so many values: two where no number is asked for. */
static void literal_havoc_gives_all(void **state)
{
    (void)state;
    const struct program *p = compile("launch(threads = 1); shared int x, y; kernel k() blocks {"
                                      " Start: havoc(x); havoc(y); goto End; }");
    for (uint32_t values = 0; values <= 3; values++) {
        const struct machine_options options = {.literal = true, .havoc_values = values};
        uint32_t each = values ? values : 2;
        const struct search_result *r = search(p, &options);
        assert_true(r->complete);
        assert_int_equal(r->outcome_count, each * each);
    }
}

/* One feasible target takes no draw, and havoc takes one each. */
static void draws_are_counted_by_thread(void **state)
{
    (void)state;
    const struct program *p = compile(
        "launch(threads = 2); private int a, b; kernel k() blocks {"
        "Start: havoc(a) if (tid == 1); havoc(b); goto X, Y, Z; X: assume(tid == 0); goto End;"
        "Y: assume(tid == 1); goto End; Z: assume(tid == 1); goto End; }");
    const struct machine_options options = {.track = false};
    struct machine *m = machine_new(&test_arena, &semantics_interleave, p, &options);
    while (machine_status(m) == STATUS_RUNNING)
        machine_step(m, m->head->live[0], NULL);
    assert_int_equal(m->threads[0].choices, 1);
    assert_int_equal(m->threads[1].choices, 3);
    assert_int_equal(m->memory[p->private_base + 1], choice_value(0, 0, 0));
    assert_int_equal(m->memory[p->private_base + p->words[SPACE_PRIVATE]], choice_value(0, 1, 0));
}

/* The same targets, taken on another machine by interleave_goto, reach the same state. */
static void gotos_can_be_replayed(void **state)
{
    (void)state;
    const struct program *p =
        compile("launch(threads = 3); shared int s[3]; private int n; kernel k() blocks {"
                "Start: goto H; H: goto A, B, X; A: assume(n < 9); n += 1; goto J;"
                "B: assume(n < 9); n += 1; s[tid]++; goto J; J: barrier(); goto H;"
                "X: assume(n >= 9); goto End; }");
    const struct machine_options options = {.literal = true, .track = true};
    const struct machine_options streams = {.track = true};
    struct machine *a = machine_new(&test_arena, &semantics_interleave, p, &streams);
    struct machine *b = machine_new(&test_arena, &semantics_interleave, p, &options);
    uint32_t gotos = 0;
    while (machine_status(a) == STATUS_RUNNING) {
        uint32_t t = a->head->live[a->steps % a->head->live_count], pc = interleave_state(a, t)->pc;
        enum rule rule = machine_step(a, t, NULL);
        if (rule != RULE_INTK_GOTO) {
            assert_int_equal(machine_step(b, t, NULL), rule);
            continue;
        }
        const struct code_block *block = &p->blocks[p->stms[pc].block];
        uint32_t target = 0;
        while (p->targets[block->target_first + target] != interleave_block(a, t) &&
               target + 1 < block->target_count)
            target++;
        assert_int_equal(interleave_goto(b, t, target), RULE_INTK_GOTO);
        gotos++;
        assert_int_equal(interleave_block(a, t), interleave_block(b, t));
    }
    assert_true(gotos > 30);
    assert_int_equal(machine_status(b), machine_status(a));
    assert_int_equal(machine_store_hash(a), machine_store_hash(b));
    assert_int_equal(a->steps, b->steps);
}

/* ---- observation, pairs ---- */

struct counts {
    uint32_t reads, writes, atomics, barriers;
};

static void count_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)thread, (void)address, (void)stm;
    ((struct counts *)context)->reads++;
}

static void count_write(void *context, uint32_t thread, uint32_t address, int32_t value,
                        uint32_t stm)
{
    (void)thread, (void)address, (void)value, (void)stm;
    ((struct counts *)context)->writes++;
}

static void count_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                         uint32_t stm)
{
    (void)thread, (void)address, (void)value, (void)stm;
    ((struct counts *)context)->atomics++;
}

static void count_barrier(void *context, const struct machine *machine,
                          const struct barrier_event *event)
{
    (void)machine;
    assert_true(event->all);
    ((struct counts *)context)->barriers++;
}

/* CFG.access: what is evaluated and written; choosing a target reads nothing, a guarded statement that
 * is passed neither. */
static void accesses_are_those_of_the_statements(void **state)
{
    (void)state;
    const struct program *p =
        compile("launch(threads = 2, blocks = 2); shared int s, a[2]; private int r;"
                "kernel k() blocks { Start: a[tid] = s + a[tid] if (tid == 0); havoc(a[tid]);"
                "r = atomic_add(s, a[0]); barrier(); goto A, B; A: assume(a[0] >= 0); goto End;"
                "B: assume(a[0] < 0); goto End; }");
    struct counts counts = {0};
    const struct observer observer = {.context = &counts,
                                      .read = count_read,
                                      .write = count_write,
                                      .atomic = count_atomic,
                                      .barrier = count_barrier};
    const struct machine_options options = {.observers = &observer};
    struct machine *m = machine_new(&test_arena, &semantics_interleave, p, &options);
    while (machine_status(m) == STATUS_RUNNING)
        machine_step(m, m->head->live[0], NULL);
    assert_int_equal(machine_status(m), STATUS_TERMINATED);
    assert_int_equal(counts.reads, 2 * 2 + 4 + 4);
    assert_int_equal(counts.writes, 2 + 4);
    assert_int_equal(counts.atomics, 4);
    assert_int_equal(counts.barriers, 2);
}

static void set_to_seven(void *context, struct machine *machine, uint32_t block)
{
    (void)block;
    machine_poke(machine, *(const uint32_t *)context, 7);
}

/* C2.def: two threads alone, and what barriers do to shared memory: CK12 fails. */
static void pairs_run_alone_and_barriers_change_memory(void **state)
{
    (void)state;
    const struct program *p =
        compile("launch(threads = 4); shared int v, seen[4]; kernel k() blocks {"
                "Start: seen[tid] = 1; barrier(); assert(v == 0); goto End; }");
    uint32_t address = support_address(p, "v");
    const struct barrier_havoc havoc = {.havoc = set_to_seven, .context = &address};
    struct machine_options options = {.pair_count = 2, .pair = {1, 3}};
    static const int32_t seen[] = {0, 1, 0, 1};
    for (uint32_t i = 0; i < 2; i++) {
        options.barrier_havoc = i ? &havoc : NULL;
        struct machine *m = machine_new(&test_arena, &semantics_interleave, p, &options);
        assert_int_equal(m->head->live_count, 2);
        while (machine_status(m) == STATUS_RUNNING)
            machine_step(m, m->head->live[0], NULL);
        assert_int_equal(machine_status(m), i ? STATUS_ASSERT_FAILS : STATUS_TERMINATED);
        assert_memory_equal(m->memory + support_address(p, "seen"), seen, sizeof seen);
    }
}

static void errors_say_who_and_where(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum status status;
        uint32_t line;
    } cases[] = {
        {"shared int a[2]; kernel k() blocks { Start:\n a[tid + 2] = 1; goto End; }",
         STATUS_OUT_OF_BOUNDS, 2},
        {"shared int a[2]; kernel k() blocks { Start: goto A;\n A: assume(a[tid - 1]); goto End; }",
         STATUS_OUT_OF_BOUNDS, 2},
        {"shared int a[2]; private int r; void p(int d) blocks { E: return; } kernel k() blocks {"
         " Start: goto A;\n\n A: p(a[5]); goto B; B: goto End; }",
         STATUS_OUT_OF_BOUNDS, 3},
        {"void p() blocks { E: goto A;\n A: p(); goto B; B: return; } kernel k() blocks {"
         " Start: goto A; A: p(); goto B; B: goto End; }",
         STATUS_CALL_DEPTH, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct program *p = compile(cases[i].text);
        const struct machine_options options = {.track = true};
        struct machine *m = machine_new(&test_arena, &semantics_interleave, p, &options);
        while (machine_status(m) == STATUS_RUNNING)
            machine_step(m, m->head->live[0], NULL);
        assert_int_equal(machine_status(m), cases[i].status);
        assert_int_equal(m->head->fault_thread, 0);
        assert_int_equal(p->stms[m->head->fault_stm].line, cases[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ck1_some_executions_are_infeasible),
        cmocka_unit_test(ck2_is_infinite_and_races_from_three_threads_on),
        cmocka_unit_test(ck4_threads_leave_a_loop_one_by_one),
        cmocka_unit_test(ck7_depends_on_what_a_loop_is),
        cmocka_unit_test(ck9_ck10_a_thread_leaves_the_loop_of_a_barrier),
        cmocka_unit_test(ck12_and_ck16_are_clean),
        cmocka_unit_test(ck14_no_increment_is_lost),
        cmocka_unit_test(barriers_are_told_apart),
        cmocka_unit_test(waiting_at_a_barrier_is_not_starving),
        cmocka_unit_test(guarded_and_raw_gotos_reach_the_same),
        cmocka_unit_test(streams_cover_the_literal_choices),
        cmocka_unit_test(literal_havoc_gives_all),
        cmocka_unit_test(draws_are_counted_by_thread),
        cmocka_unit_test(gotos_can_be_replayed),
        cmocka_unit_test(accesses_are_those_of_the_statements),
        cmocka_unit_test(pairs_run_alone_and_barriers_change_memory),
        cmocka_unit_test(errors_say_who_and_where),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
