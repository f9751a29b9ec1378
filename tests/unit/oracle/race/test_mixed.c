/*
 * Golden digests of random small kernels - of one block or two, with barriers, atomics, loops that wait, exits,
 * assertions, steps with choices -, each searched with other bounds and options, run by other schedulers, and watched
 * by all race detectors. A line of tests/golden/mixed.txt is the number of the first of some kernels, and
 *
 *     searches  states, executions, outcomes, liveness, races; whole, and with bounds drawn at random
 *     progress  all models, of units of one or two actors
 *     lassos    of policies, of random walks, of samples
 *     races     each detector's verdicts, witnesses, statements and variables, after some executions
 *
 *     SIMTFUZZ_BLESS=1 build/tests/test_mixed
 *
 * writes the file anew.
 */
#include "tests/unit/shared/golden_lines.h"
#include "tests/unit/shared/search_digests.h"

#include "engine/progress/fair_lasso.h"
#include "oracle/race/race.h"
#include "oracle/race/race_hb.h"

enum { LINES = 40, TOGETHER = 10 };

/* ---- random kernels ---- */

struct text {
    struct pcg rng;
    char bytes[1 << 12];
    size_t length;
};

static uint32_t below(struct text *t, uint32_t bound)
{
    return pcg_below(&t->rng, bound);
}

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->bytes + t->length, sizeof t->bytes - t->length, format, args);
    va_end(args);
    assert_true(n >= 0 && t->length + (size_t)n < sizeof t->bytes);
    t->length += (size_t)n;
}

static void say_value(struct text *t)
{
    static const char *const leaves[] = {"tid", "x", "g[0]", "a[tid & 1]", "p", "1", "bid", "g[1]"};
    static const char *const operators[] = {"+", "^", "==", "&&", "<", "-"};
    uint32_t left =
        below(t, 8); /* one after the other: the order of arguments is the compiler's affair */
    uint32_t right = below(t, 8);
    uint32_t operator= below(t, 12);
    if (operator> 5)
        say(t, "%s", leaves[left]);
    else
        say(t, "(%s %s %s)", leaves[left], operators[operator], leaves[right]);
}

static void say_statements(struct text *t, uint32_t count, uint32_t depth, bool in_loop);

static void say_nested(struct text *t, uint32_t depth)
{
    static const char *const waits[] = {"x != tid", "g[0] != 1", "x == 0", "a[0] == 0", "g[1] < 2"};
    uint32_t kind = below(t, 4);
    uint32_t wait = below(t, 5);
    switch (kind) {
    case 0:
        say(t, "while (%s) %s", waits[wait], below(t, 2) ? ";\n" : "p = p ^ 1;\n");
        return;
    case 1:
        say(t, "while (p < %u) { p = p + 1; ", 1 + below(t, 2));
        say_statements(t, 1, depth - 1, true);
        say(t, "}\n");
        return;
    default:
        say(t, "if (");
        say_value(t);
        say(t, ") { ");
        say_statements(t, 1 + below(t, 2), depth - 1, false);
        say(t, "} else { ");
        say_statements(t, below(t, 2), depth - 1, false);
        say(t, "}\n");
    }
}

static void say_statement(struct text *t, uint32_t depth, bool in_loop)
{
    static const char *const places[] = {"x", "g[0]", "a[tid & 1]", "a[x & 1]", "p", "g[1]"};
    static const char *const calls[] = {"atomic_add(x, 1);",        "p = atomic_add(g[0], 1);",
                                        "p = atomic_exch(x, tid);", "atomic_exch(g[1], 1);",
                                        "p = atomic_cas(x, 0, 1);", "atomic_max(g[0], tid);"};
    uint32_t kind = below(t, depth > 0 ? 14 : 11);
    if (kind > 10) {
        say_nested(t, depth);
    } else if (kind == 10) {
        say(t, "%s\n", calls[below(t, 6)]);
    } else if (kind == 9 && !in_loop) {
        say(t, "barrier();\n");
    } else if (kind == 8) {
        static const char *const rare[] = {"exit;", "assert(x != 2);", "assert(g[0] < 2);"};
        say(t, "%s\n", below(t, 3) ? ";" : rare[below(t, 3)]);
    } else {
        say(t, "%s = ", places[below(t, 6)]);
        say_value(t);
        say(t, ";\n");
    }
}

static void say_statements(struct text *t, uint32_t count, uint32_t depth, bool in_loop)
{
    while (count-- > 0)
        say_statement(t, depth, in_loop);
}

static void say_kernel(struct text *t, uint64_t number)
{
    static const char *const launches[] = {
        "threads = 2, warp = 2", "threads = 2, warp = 1", "threads = 1, warp = 1, blocks = 2",
        "threads = 3, warp = 2", "threads = 4, warp = 2", "threads = 2, warp = 2, blocks = 2"};
    *t = (struct text){.rng = pcg_derive(number, PCG_KERNEL, 11)};
    uint32_t launch = below(t, 6);
    say(t,
        "launch(%s); shared int x, a[2]; global int g[2]; kernel k() { private int p; p = tid;\n",
        launches[launch]);
    if (below(t, 4) == 0)
        say(t, "if (tid == 0) ");
    say_statements(t, 1 + below(t, launch < 3 ? 4 : 2), 2, false);
    say(t, "}\n");
}

/* ---- searches ---- */

struct digests {
    uint64_t searches, progress, lassos, races;
};

static struct search_options options_of(enum search_method method)
{
    struct search_options options = SEARCH_DEFAULTS;
    options.method = method;
    options.max_states = 300;
    options.max_steps = 1500;
    options.max_depth = 100;
    return options;
}

static void search(uint64_t *digest, struct machine *machine, struct text *t)
{
    for (uint32_t i = 0; i < 8; i++) {
        size_t mark = arena_mark(&test_arena);
        struct search_options options = options_of((enum search_method)(i % 3));
        if (i == 3)
            options.max_states = below(t, 60);
        if (i == 4)
            options.max_steps = below(t, 200);
        if (i == 5 || i == 6)
            options.max_depth = below(t, 20);
        if (i == 7)
            options.max_outcomes = below(t, 4);
        options.hash_mask = i == 3 ? 1 : 0;
        options.no_lasso = i == 6;
        options.no_races = i == 4;
        const struct search_result *result = search_run(&test_arena, machine, &options);
        digest_result(digest, result);
        for (uint32_t k = 0; k < result->outcome_count; k++)
            if (result->outcomes[k].store)
                digest_words(digest, (const uint32_t *)result->outcomes[k].store,
                             machine->program->private_base);
        arena_release(&test_arena, mark);
    }
}

static void ask_progress(uint64_t *digest, struct machine *machine, struct text *t)
{
    uint32_t *unit_of = ARENA_ARRAY(&test_arena, uint32_t, machine->actor_count);
    for (uint32_t in_unit = 1; in_unit <= 2; in_unit++) {
        size_t mark = arena_mark(&test_arena);
        struct search_options options = options_of(SEARCH_STATES);
        struct progress progress = {.unit_of = unit_of,
                                    .unit_count = (machine->actor_count - 1) / in_unit + 1,
                                    .ask_random = machine->semantics->same_pc != NULL};
        for (uint32_t i = 0; i < machine->actor_count; i++)
            unit_of[i] = i / in_unit;
        options.no_races = options.no_lasso = options.merge_local = below(t, 2);
        progress_ask(&options, &progress);
        digest_result(digest, search_run(&test_arena, machine, &options));
        digest_answers(digest, &progress);
        arena_release(&test_arena, mark);
    }
}

/* ---- lassos ---- */

static struct sched_spec drawn_spec(struct text *t, const struct machine *machine)
{
    static const enum sched_kind kinds[] = {SCHED_SEQUENTIAL, SCHED_REVERSE, SCHED_ROUND_ROBIN,
                                            SCHED_STARVE,     SCHED_UNIFORM, SCHED_UNFAIR_FAIR,
                                            SCHED_PCT,        SCHED_POS};
    struct sched_spec spec = {.kind = kinds[below(t, 8)]};
    spec.seed = below(t, 100);
    spec.index = below(t, 9);
    spec.depth = 1 + below(t, 5);
    spec.quantum = below(t, 4);
    spec.victim = below(t, machine->actor_count);
    spec.prefix = below(t, 20);
    return spec;
}

static void find_lassos(uint64_t *digest, struct machine *machine, struct text *t)
{
    for (uint32_t i = 0; i < 8; i++) {
        size_t mark = arena_mark(&test_arena);
        struct sched_spec spec = drawn_spec(t, machine);
        struct scheduler scheduler;
        if (lasso_policy(&spec)) {
            struct lasso lasso = lasso_run(&test_arena, machine, &spec, 20 + below(t, 200));
            if (lasso.loop > 0)
                lasso_tapes(&test_arena, machine, &spec, &lasso);
            digest_lasso(digest, machine, &lasso);
        }
        machine_reset(machine);
        sched_start(&scheduler, &spec, machine, &test_arena);
        struct lasso lasso =
            lasso_random(&test_arena, machine, &scheduler.choices, 20 + below(t, 200));
        digest_lasso(digest, machine, &lasso);
        arena_release(&test_arena, mark);
    }
    uint32_t *unit_of = ARENA_ARRAY(&test_arena, uint32_t, machine->actor_count);
    for (uint32_t i = 0; i < machine->actor_count; i++)
        unit_of[i] = i;
    struct fair_units units = {unit_of, machine->actor_count};
    struct fair_options options = FAIR_DEFAULTS;
    options.seed = below(t, 1000);
    options.budget_steps = 200 + below(t, 3000);
    struct fair_result result =
        fair_lasso_search(&test_arena, machine, &units, 1 + below(t, 63), &options);
    digest_word(digest, result.samples);
    digest_word(digest, result.steps);
    for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        digest_word(digest, (uint64_t)result.answers[m].found << 32 | result.answers[m].sample);
        digest_entries(digest, result.answers[m].stem);
        digest_entries(digest, result.answers[m].loop);
    }
}

/* ---- races ---- */

static void digest_witness(uint64_t *digest, const struct race_witness *w)
{
    const uint64_t words[] = {w->address,     w->first.thread,  w->first.stm,
                              w->first.kind,  w->second.thread, w->second.stm,
                              w->second.kind, w->same_value,    w->simultaneous};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        digest_word(digest, words[i]);
}

static void digest_marks(uint64_t *digest, const struct program *program, const uint8_t *stms,
                         const uint8_t *vars)
{
    for (uint32_t i = 0; i < program->stm_count; i++)
        digest_word(digest, stms[i]);
    for (uint32_t i = 0; i < program->var_count; i++)
        digest_word(digest, vars[i]);
}

static void look_for_races(uint64_t *digest, struct machine *machine, struct text *t)
{
    const struct program *program = machine->program;
    const char *reason = NULL;
    struct race_detector *detector = race_new(&test_arena, program);
    struct race_log *log = race_log_new(&test_arena, program, 150);
    uint32_t bits = below(t, 16);
    const struct race_hb_options options = {
        .warps = bits & 1, .named = bits & 2, .same_value = bits & 4, .atomics_sync = bits & 8};
    struct race_hb *hb = race_hb_new(&test_arena, program, &options, &reason);
    assert_non_null(hb);
    detector->benign_same_value = log->benign_same_value = below(t, 2);
    detector->observer.next = &log->observer;
    log->observer.next = &hb->observer;
    if (below(t, 2)) {
        race_watch(detector, machine);
        race_log_watch(log, machine);
    }
    for (uint32_t run = 0; run < 6; run++) {
        size_t mark = arena_mark(&test_arena);
        struct sched_spec spec = drawn_spec(t, machine);
        struct scheduler scheduler;
        race_begin(detector);
        race_log_begin(log);
        race_hb_begin(hb, &machine->steps);
        machine_observe(machine, &detector->observer);
        machine_reset(machine);
        sched_start(&scheduler, &spec, machine, &test_arena);
        digest_word(digest, machine_run(machine, &scheduler.choices, 120, NULL));
        machine_observe(machine, NULL);
        const struct race_log_result found = race_log_search(log);
        digest_word(digest, (uint64_t)found.complete << 1 | found.found);
        digest_word(digest, (uint64_t)found.racy_locations << 32 | found.second);
        digest_word(digest, (uint64_t)detector->racy_locations << 32 | hb->racy_locations);
        digest_word(digest, detector->found);
        digest_word(digest, (uint64_t)hb->found << 1 | hb->incomplete);
        if (detector->found)
            digest_witness(digest, &detector->witness);
        if (hb->found)
            digest_witness(digest, &hb->witness);
        arena_release(&test_arena, mark);
    }
    digest_marks(digest, program, detector->racy_stms, detector->racy_vars);
    digest_marks(digest, program, hb->racy_stms, hb->racy_vars);
}

/* ---- a kernel ---- */

static void look_at(struct digests *d, uint64_t number)
{
    static struct text text;
    size_t mark = arena_mark(&test_arena);
    say_kernel(&text, number);
    const struct program *program = support_program(text.bytes);
    const enum subject_id subject = number % 3 ? SUBJECT_THREADS : SUBJECT_SIMT;
    const struct subject_info *info = &subject_table[subject];
    struct machine *machine =
        search_machine_with(&test_arena, info->vtable, program, &info->options);
    search(&d->searches, machine, &text);
    ask_progress(&d->progress, machine, &text);
    find_lassos(&d->lassos, machine, &text);
    look_for_races(&d->races, machine, &text);
    arena_release(&test_arena, mark);
}

/* ---- the table ---- */

static uint32_t line_of(char line[GOLDEN_LINES_BYTES], uint64_t first)
{
    struct digests d = {0, 0, 0, 0};
    for (uint64_t n = first; n < first + TOGETHER; n++)
        look_at(&d, n);
    (void)snprintf(line, GOLDEN_LINES_BYTES, "%llu %016llx %016llx %016llx %016llx\n",
                   (unsigned long long)first, (unsigned long long)d.searches,
                   (unsigned long long)d.progress, (unsigned long long)d.lassos,
                   (unsigned long long)d.races);
    return TOGETHER;
}

static void kernels_are_what_they_were(void **state)
{
    (void)state;
    static const struct golden_lines lines = {SIMTFUZZ_SOURCE_DIR "/tests/golden/mixed.txt", LINES,
                                              TOGETHER, line_of};
    (void)golden_check_lines(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kernels_are_what_they_were, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests_name("mixed", tests, NULL, NULL);
}
