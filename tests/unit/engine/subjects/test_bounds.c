/*
 * Golden digests of searches that bounds cut off, at one place after the other: how far each comes - states,
 * transitions, steps, executions, bytes -, and what it says then. A line of tests/golden/bounds.txt is a small kernel
 * of the corpus; a column
 *
 *     counts    of whole searches, by each method, with and without what options leave out
 *     states    with room for n states, n = 0, 1, 2, ...
 *     steps     with n steps; depth: of one execution
 *     outcomes  with room for n outcomes
 *     bytes     the least memory with which a search is whole, or gets half way, or judges progress: exactly, by
 *               bisection
 *     progress  models one at a time, in one search, quickly, of other units
 *     random    groups at random, with n steps
 *
 * A bound that is off by one, or that is not looked at, says so here. Numbers of bytes change whenever a search keeps
 * things otherwise;
 *
 *     SIMTFUZZ_BLESS=1 build/tests/test_bounds
 *
 * writes the file anew.
 */
#include "tests/unit/shared/golden_table.h"
#include "tests/unit/shared/search_digests.h"

#include "engine/subjects/forms.h"

enum { STATES_MAX = 200, THREADS_MAX = 8 };

/* A machine to search, its progress, and whether its file's digests go without some searches. */
struct bounded {
    struct machine *machine;
    uint32_t *unit_of;
    bool no_executions; /* of PTX with barriers */
};

/* ---- one search ---- */

static struct search_options options_of(enum search_method method)
{
    struct search_options options = SEARCH_DEFAULTS;
    options.method = method;
    options.max_states = 4 * STATES_MAX;
    options.max_steps = 6000;
    options.max_depth = 300;
    return options;
}

/* What lies in the arena afterwards is gone. */
static void digest_one(uint64_t *digest, const struct bounded *b,
                       const struct search_options *options)
{
    size_t mark = arena_mark(&test_arena);
    digest_result(digest, search_run(&test_arena, b->machine, options));
    for (const struct progress *p = options->progress; p; p = p->next)
        digest_answers(digest, p);
    arena_release(&test_arena, mark);
}

static struct progress progress_of(const struct bounded *b, uint32_t units)
{
    return (struct progress){.unit_of = b->unit_of,
                             .unit_count = units,
                             .ask_random = b->machine->semantics->same_pc != NULL};
}

/* Units of `in_unit` actors that follow each other, or (`strided`) of every so many-th actor. */
static struct progress units_of(struct bounded *b, uint32_t in_unit, bool strided)
{
    uint32_t actors = b->machine->actor_count, count = (actors - 1) / in_unit + 1;
    b->unit_of = ARENA_ARRAY(&test_arena, uint32_t, actors);
    for (uint32_t i = 0; i < actors; i++)
        b->unit_of[i] = strided ? i % count : i / in_unit;
    return progress_of(b, count);
}

/* ---- columns ---- */

static uint64_t counts(struct bounded *b)
{
    uint64_t digest = 0;
    for (int method = SEARCH_AUTO; method <= (b->no_executions ? SEARCH_STATES : SEARCH_DPOR);
         method++) {
        struct search_options options = options_of((enum search_method)method);
        digest_one(&digest, b, &options);
    }
    for (uint32_t how = 1; how < 6; how++) {
        struct search_options options = options_of(SEARCH_STATES);
        options.no_races = how != 2;
        options.no_lasso = how != 1;
        options.merge_local = how == 3 || how == 4;
        options.hash_mask = how == 4 ? 0x3 : how == 5 ? 0xf00000007 : 0;
        digest_one(&digest, b, &options);
    }
    return digest;
}

static uint64_t states(struct bounded *b, const struct search_result *whole)
{
    uint64_t digest = 0;
    for (uint32_t n = 0; n <= whole->states + 1; n += n < 6 || n + 2 >= whole->states ? 1 : 5) {
        struct search_options options = options_of(n % 3 ? SEARCH_STATES : SEARCH_AUTO);
        options.max_states = n;
        digest_one(&digest, b, &options);
    }
    return digest;
}

static uint64_t steps(struct bounded *b, const struct search_result *whole,
                      enum search_method method)
{
    uint64_t digest = 0;
    for (uint64_t n = 0; n <= whole->steps + 1 && n < 1500;
         n += n < 4 || n + 2 >= whole->steps ? 1 : 1 + whole->steps / 8) {
        struct search_options options = options_of(method);
        options.max_steps = n;
        digest_one(&digest, b, &options);
    }
    return digest;
}

static uint64_t depths(struct bounded *b)
{
    uint64_t digest = 0;
    for (uint32_t n = 0; n < 14; n++) {
        struct search_options options = options_of((enum search_method)(n % 3));
        options.max_depth = n * n / 3;
        if (!b->no_executions || options.method == SEARCH_STATES)
            digest_one(&digest, b, &options);
    }
    return digest;
}

static uint64_t outcomes(struct bounded *b, const struct search_result *whole)
{
    uint64_t digest = 0;
    for (uint32_t n = 0; n <= whole->outcome_count + 1; n += n < 3 ? 1 : 2 + n) {
        struct search_options options = options_of(SEARCH_AUTO);
        options.max_outcomes = n;
        digest_one(&digest, b, &options);
    }
    return digest;
}

/* ---- bytes ---- */

enum goal { WHOLE, HALF, JUDGED, JUDGED_OBE, JUDGED_LOBE, RANDOM, RACES, EXECUTIONS, GOALS };

static bool gets_there(struct bounded *b, enum goal goal, const struct search_result *whole,
                       uint64_t bytes, uint64_t *digest)
{
    size_t mark = arena_mark(&test_arena);
    bool there = false;
    struct search_options options = options_of(goal == EXECUTIONS ? SEARCH_DPOR : SEARCH_STATES);
    struct progress progress = units_of(b, 1, false);
    progress.ask_random &= goal == RANDOM;
    progress_ask(&options, goal >= JUDGED && goal <= RANDOM ? &progress : NULL);
    options.no_lasso = goal >= JUDGED;
    options.no_races = goal != RACES && goal != EXECUTIONS;
    options.max_bytes = bytes;
    const struct search_result *result = search_run(&test_arena, b->machine, &options);
    switch (goal) {
    case WHOLE:
    case RACES:
    case EXECUTIONS:
        there = result->complete;
        break;
    case HALF:
        there = result->states > whole->states / 2;
        break;
    case JUDGED:
        there = progress.answers[PROGRESS_FAIR].verdict != PROGRESS_UNKNOWN;
        break;
    case JUDGED_OBE:
        there = progress.answers[PROGRESS_OBE].verdict != PROGRESS_UNKNOWN;
        break;
    case JUDGED_LOBE:
        there = progress.answers[PROGRESS_LOBE].verdict != PROGRESS_UNKNOWN;
        break;
    case RANDOM:
        there = progress.random.verdict != PROGRESS_UNKNOWN;
        break;
    case GOALS:
        break;
    }
    if (digest) {
        digest_result(digest, result);
        digest_word(digest, result->bytes);
        if (options.progress)
            digest_answers(digest, &progress);
    }
    arena_release(&test_arena, mark);
    return there;
}

/* The least number of bytes, and what is said with it and with one less. */
static void digest_least(uint64_t *digest, struct bounded *b, enum goal goal,
                         const struct search_result *whole)
{
    uint64_t low = 0, high = 8 << 20; /* there with high, not with low */
    if (!gets_there(b, goal, whole, high, digest))
        return;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (gets_there(b, goal, whole, middle, NULL))
            high = middle;
        else
            low = middle;
    }
    digest_word(digest, high);
    (void)gets_there(b, goal, whole, high, digest);
    (void)gets_there(b, goal, whole, low, digest);
}

static uint64_t bytes(struct bounded *b, const struct search_result *whole)
{
    uint64_t digest = 0;
    for (int goal = 0; goal < GOALS; goal++)
        if (goal != EXECUTIONS || !b->no_executions)
            digest_least(&digest, b, (enum goal)goal, whole);
    return digest;
}

/* ---- progress ---- */

static uint64_t models(struct bounded *b)
{
    uint64_t digest = 0;
    struct search_options options = options_of(SEARCH_STATES);
    for (uint32_t m = 1; m < 1u << PROGRESS_MODEL_COUNT; m = m < 32 ? 2 * m : m + 7) {
        struct progress progress = units_of(b, 1, false), other = units_of(b, 2, m & 1);
        progress.models = other.models = m;
        progress.next = &other;
        progress_ask(&options, &progress);
        digest_one(&digest, b, &options);
    }
    for (uint32_t quick = 1; quick <= 1u << 9; quick *= 8) {
        struct progress progress = units_of(b, 1 + quick % 3, true);
        progress.quick_states = quick;
        progress_ask(&options, &progress);
        digest_one(&digest, b, &options);
    }
    return digest;
}

/* Random groups are a search of their own, of as many steps: cut off where the first one is not, as local steps go with
 * others there. */
static uint64_t groups(struct bounded *b)
{
    uint64_t digest = 0, most = 1200;
    if (!b->machine->semantics->same_pc)
        return 0;
    for (uint32_t n = 0; n < 24; n++) {
        size_t mark = arena_mark(&test_arena);
        struct search_options options = options_of(SEARCH_STATES);
        struct progress progress = units_of(b, 1, false);
        progress_ask(&options, &progress);
        options.merge_local = options.no_races = options.no_lasso = true;
        options.max_steps = most;
        const struct search_result *result = search_run(&test_arena, b->machine, &options);
        digest_result(&digest, result);
        digest_answers(&digest, &progress);
        if (n == 0)
            most = result->steps - 1;
        most += 1 + most / 16 * (n > 4);
        arena_release(&test_arena, mark);
    }
    return digest;
}

/* ---- a kernel ---- */

static bool in_subject(struct golden_columns *columns, const char *name, struct forms *forms,
                       enum subject_id subject)
{
    const struct subject_info *info = &subject_table[subject];
    const struct program *program = forms_get(forms, info->program)->program;
    struct search_options options = options_of(SEARCH_STATES);
    char title[40];
    uint64_t digest;
    options.no_races = true;
    if (!program || machine_refuses(&test_arena, info->vtable, program))
        return false;
    struct bounded b = {.machine =
                            search_machine_with(&test_arena, info->vtable, program, &info->options),
                        .no_executions = program->ptx && program->ptx->barriers};
    const struct search_result *whole = search_run(&test_arena, b.machine, &options);
    if (!whole->complete || whole->states > STATES_MAX || whole->states < 3)
        return false;
#define COLUMN(text, value)                                                                        \
    snprintf(title, sizeof title, "%s:" text, name);                                               \
    digest = value;                                                                                \
    golden_put(columns, title, digest)
    COLUMN("counts", counts(&b));
    COLUMN("states", states(&b, whole));
    COLUMN("steps", steps(&b, whole, SEARCH_STATES));
    COLUMN("steps-dpor", b.no_executions ? 0 : steps(&b, whole, SEARCH_DPOR));
    COLUMN("depth", depths(&b));
    COLUMN("outcomes", outcomes(&b, whole));
    COLUMN("bytes", whole->states < 100 ? bytes(&b, whole) : 0);
    COLUMN("progress", models(&b));
    COLUMN("random", groups(&b));
    return true;
}

static bool make_columns(struct golden_columns *columns, const char *path)
{
    const struct ast_kernel *kernel = golden_kernel(path);
    if (kernel->launch.threads * kernel->launch.blocks > THREADS_MAX)
        return false;
    struct forms *forms = forms_new(&test_arena, kernel);
    switch (kernel->form) {
    case FORM_STRUCTURED:
        (void)in_subject(columns, "threads", forms, SUBJECT_THREADS);
        (void)in_subject(columns, "simt", forms, SUBJECT_SIMT);
        break;
    case FORM_BLOCKS:
        (void)in_subject(columns, "interleave", forms, SUBJECT_INTERLEAVE);
        break;
    case FORM_PTX:
        (void)in_subject(columns, "block", forms, SUBJECT_BLOCK);
        break;
    case FORM_LOCKSTEP:
        break;
    }
    return columns->count > 0;
}

static void bounds_are_what_they_were(void **state)
{
    (void)state;
    static const char *const patterns[] = {"papers/*.simt",    "papers/*/*.simt",
                                           "papers/*/*.ptx",   "progress/*.simt",
                                           "progress/*.ptx",   "regress/*.simt",
                                           "regress/*.ptx",    "rules/threads*.simt",
                                           "rules/block*.ptx", NULL};
    static const struct golden_table table = {SIMTFUZZ_SOURCE_DIR "/tests/golden/bounds.txt",
                                              patterns, make_columns};
    golden_check(&table, 100);
}

/* ---- memory ---- */

/* Where the tables are large that the small kernels of the corpus do not fill. */
static const char *const large[] = {
    /* accesses of many lanes, compared over the graph since there are atomics */
    ("launch(threads = 64, warp = 32); shared int x[1024], z; kernel k() { atomic_add(z, 1);"
     " x[tid] = 1; x[tid + 64] = 1; x[tid + 128] = 1; x[tid + 192] = 1; x[tid + 256] = 1;"
     " x[tid + 320] = 1; x[tid + 384] = 1; x[tid + 448] = 1; x[tid + 512] = 1; x[tid + 576] = 1;"
     " x[tid + 640] = 1; x[tid + 704] = 1; x[tid + 768] = 1; x[tid + 832] = 1; x[tid + 896] = 1;"
     " x[tid + 960] = 1; }"),
    /* states of many parts */
    ("launch(threads = 2, warp = 2); shared int x[80], n; kernel k() { private int i; while (i < "
     "20) {"
     " x[tid * 40 + i] = i; x[tid * 40 + 20 + i] = n; n = i; i = i + 1; } }"),
    /* many choices inside a step */
    ("launch(threads = 5, warp = 8); shared int x, y[5]; kernel k() { private int o; x = tid;"
     " o = atomic_exch(x, tid); y[o] = tid; y[tid] = o; }"),
    /* who has begun is not in the state */
    "launch(threads = 4, warp = 4); shared int x, y; kernel k() { while (x != 3) ; y = tid; }",
    "launch(threads = 3, warp = 1); shared int x; kernel k() { while (x < 200) x = x + tid; }",
};

/* Of the arena, at most. */
static uint64_t bytes_of(struct machine *machine, bool judges, uint64_t most, bool *whole)
{
    size_t mark = arena_mark(&test_arena);
    struct bounded b = {.machine = machine};
    struct progress progress = units_of(&b, 1, false);
    struct search_options options = SEARCH_DEFAULTS;
    options.method = SEARCH_STATES;
    options.max_bytes = most;
    options.max_states = 5000;
    options.max_steps = 20000;
    options.max_outcomes = 16; /* they come on top */
    progress_ask(&options, judges ? &progress : NULL);
    const struct search_result *result = search_run(&test_arena, machine, &options);
    uint64_t bytes = result->bytes;
    *whole = result->complete;
    arena_release(&test_arena, mark);
    return bytes;
}

/* With less memory than it would take a search takes no more than that, but for some KiB, and says that it is not
 * whole. */
static void searches_keep_to_their_memory(void **state)
{
    (void)state;
    enum { PARTS = 48, SLACK = 1 << 16 };
    for (uint32_t i = 0; i < sizeof large / sizeof *large; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct subject_info *info =
            &subject_table[i == 0 || i == 2 ? SUBJECT_SIMT : SUBJECT_THREADS];
        struct machine *machine =
            search_machine(&test_arena, info->vtable, support_program(large[i]), false);
        bool at_last, whole;
        uint64_t most = bytes_of(machine, i > 2, 64 << 20, &at_last);
        assert_true(most > 100000);
        for (uint64_t n = 0; n < PARTS; n++) {
            uint64_t given = most * n / PARTS, used = bytes_of(machine, i > 2, given, &whole);
            assert_true(used <= given + SLACK);
            assert_true(!whole || used > most / 2);
        }
        assert_true(bytes_of(machine, i > 2, 2 * most, &whole) <= most);
        assert_int_equal(whole, at_last);
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(searches_keep_to_their_memory, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(bounds_are_what_they_were, support_setup, support_teardown),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
