/* Theorems C.2 and C.3 of lockstep-cfg and their reading by the tutorial, with nothing sampled: of kernels
 * whose shared store has four states, every pair of threads runs with every sequence of stores that its
 * barriers may leave. */
#include "tests/unit/shared/block_forms.h"

#include "engine/base/pcg.h"
#include "engine/pairs/tutorial.h"
#include "oracle/race/race.h"

enum {
    THREADS = 3,
    WORDS = 2,           /* of shared memory, 0 or 1 each */
    STORES = 1 << WORDS, /* that a barrier may leave */
    BARRIERS = 3,        /* at most two of the kernel's, and the final one */
    SEQUENCES = STORES * STORES * STORES,
    KERNELS = 1500,
    BUDGET = 10000
};

/* ---- kernels ---- */

struct text {
    struct pcg rng;
    char bytes[2048];
    size_t length;
    uint32_t barriers;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(w->bytes + w->length, sizeof w->bytes - w->length, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && w->length + (size_t)n < sizeof w->bytes);
    w->length += (size_t)n;
}

#define ANY(w, ...)                                                                                \
    ((const char *const[]){__VA_ARGS__}[pcg_below(                                                 \
        &(w)->rng, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))])

static void put_statements(struct text *w, uint32_t count, uint32_t depth)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t roll = pcg_below(&w->rng, 20);
        if (roll < 2 && depth > 0) {
            put(w, "if (%s) { ", ANY(w, "tid == 0", "tid < 2", "x", "x == tid"));
            put_statements(w, 1 + pcg_below(&w->rng, 2), depth - 1);
            put(w, "} ");
        } else if (roll < 8 && w->barriers < BARRIERS - 1) {
            w->barriers++;
            put(w, "barrier(); ");
        } else if (roll < 12) {
            put(w, "x = A[%s]; ", ANY(w, "0", "1", "0", "1", "tid & 1", "x & 1"));
        } else if (roll == 12) {
            put(w, "assert(%s); ", ANY(w, "x < 2", "x == 0", "tid < 3"));
        } else { /* mostly one thread alone */
            put(w, "if (%s) A[%s] = (%s) & 1; ",
                ANY(w, "tid == 0", "tid == 1", "tid == 2", "x && tid < 2", "x && tid == 1"),
                ANY(w, "0", "1", "tid & 1", "x & 1"), ANY(w, "tid", "x", "x + 1", "1", "1", "0"));
        }
    }
}

static const char *random_text(uint64_t number)
{
    struct text *w = ARENA_NEW(&test_arena, struct text);
    pcg_seed(&w->rng, pcg_splitmix(number), 41);
    put(w,
        "launch(threads = %d, warp = %d); shared int A[%d] = {0, 1}; private int x;\n"
        "kernel k() { ",
        THREADS, THREADS, WORDS);
    if (pcg_below(&w->rng, 4) == 0) { /* all come to know what one has written */
        uint32_t word = pcg_below(&w->rng, WORDS);
        put(w, "if (tid == %u) A[%u] = %u; barrier(); x = A[%u]; barrier(); ",
            pcg_below(&w->rng, THREADS), word, pcg_below(&w->rng, 2), word);
        w->barriers = 2;
    }
    put_statements(w, 3 + pcg_below(&w->rng, 4), 2);
    put(w, "}");
    return w->bytes;
}

/* ---- runs ---- */

/* What barrier number i of an execution leaves in A. */
struct sequence {
    uint32_t number; /* STORES^BARRIERS of them */
    uint32_t passed;
    bool keep; /* nothing is havocked */
    uint32_t address;
};

static int32_t havoc_value(const struct sequence *q, uint32_t barrier, uint32_t word)
{
    uint32_t store = q->number;
    for (uint32_t i = 0; i < barrier; i++)
        store /= STORES;
    return (int32_t)(store % STORES >> word & 1);
}

static void havoc(void *context, struct machine *machine, uint32_t block)
{
    struct sequence *q = context;
    (void)block;
    assert_true(q->passed < BARRIERS);
    for (uint32_t word = 0; word < WORDS && !q->keep; word++)
        machine_poke(machine, q->address + word, havoc_value(q, q->passed, word));
    q->passed++;
}

/* Whether an execution of the program, or of a pair of its threads, has a race or an error. */
static bool is_dirty(const struct program *program, const uint32_t *pair, struct sequence *q)
{
    const struct barrier_havoc barrier_havoc = {.havoc = havoc, .context = q};
    struct machine_options options = {0};
    struct race_detector *races = race_new(&test_arena, program);
    if (pair) {
        options.pair_count = 2;
        memcpy(options.pair, pair, sizeof options.pair);
        options.barrier_havoc = &barrier_havoc;
        q->passed = 0;
        q->address = program->shared_base;
    }
    options.observers = &races->observer;
    const struct semantics *semantics =
        program->form == FORM_LOCKSTEP ? &semantics_lockstep : &semantics_interleave;
    struct machine *machine = machine_new(&test_arena, semantics, program, &options);
    race_begin(races);
    for (uint32_t n = 0; n < BUDGET && machine_status(machine) == STATUS_RUNNING; n++)
        machine_step(machine, machine->head->live[0], NULL);
    assert_int_not_equal(machine_status(machine), STATUS_RUNNING);
    return races->found || machine_status(machine) != STATUS_TERMINATED;
}

/* The translation, both orders of the pair. */
static bool is_translation_dirty(const struct program *core, const uint32_t *pair,
                                 const struct sequence *q)
{
    int32_t words[BARRIERS][WORDS];
    const int32_t *stores[BARRIERS];
    assert_true(core->shared_base == 0 && core->private_base == WORDS);
    for (uint32_t i = 0; i < BARRIERS; i++) {
        stores[i] = words[i];
        for (uint32_t word = 0; word < WORDS; word++)
            words[i][word] = havoc_value(q, i, word);
    }
    const struct tutorial_options options = {.shared = q->keep ? TUTORIAL_KEEP : TUTORIAL_BAR,
                                             .budget_steps = BUDGET,
                                             .stores = stores,
                                             .store_count = BARRIERS};
    for (uint32_t order = 0; order < 2; order++) {
        struct tutorial_result result =
            tutorial_run(&test_arena, core, pair[order], pair[1 - order], &options, NULL);
        assert_int_not_equal(result.verdict, TUTORIAL_BUDGET);
        if (result.verdict != TUTORIAL_CLEAN)
            return true;
    }
    return false;
}

struct verdicts {
    bool kernel;                         /* P is not clean */
    bool any, any_lock, any_translation; /* some pair is not, with some sequence */
};

static struct verdicts judge(const char *text, bool keep)
{
    const struct program *core = support_program(text);
    struct block_forms forms = block_forms(core, 0);
    struct verdicts v = {.kernel = is_dirty(forms.blocks, NULL, NULL)};
    for (uint32_t s = 0; s < THREADS; s++)
        for (uint32_t t = s + 1; t < THREADS; t++)
            for (uint32_t number = 0; number < (keep ? 1 : SEQUENCES); number++) {
                size_t mark = arena_mark(&test_arena);
                struct sequence q = {.number = number, .keep = keep};
                const uint32_t pair[2] = {s, t};
                bool interleaved = is_dirty(forms.blocks, pair, &q);
                bool locked = is_dirty(forms.lockstep, pair, &q);
                bool translated = is_translation_dirty(core, pair, &q);
                /* Thm. 5.2 for P_{s,t}, and ORA.TT.phi. */
                if (interleaved != locked || locked != translated)
                    fail_msg("pair %u, %u, stores %u: %d %d %d\n%s", s, t, number, interleaved,
                             locked, translated, text);
                v.any |= interleaved;
                v.any_lock |= locked;
                v.any_translation |= translated;
                arena_release(&test_arena, mark);
            }
    return v;
}

/* ---- the theorems ---- */

/* All pairs clean, whatever the barriers leave: then the kernel is. */
static void pairs_are_enough(void **state)
{
    (void)state;
    uint32_t dirty = 0, clean = 0, alarms = 0;
    for (uint32_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        const char *text = random_text(i);
        struct verdicts v = judge(text, false);
        if (v.kernel && !(v.any && v.any_lock && v.any_translation))
            fail_msg("every pair is clean, the kernel is not:\n%s", text);
        dirty += v.kernel;
        clean += !v.kernel && !v.any;
        alarms += !v.kernel && v.any;
        arena_release(&test_arena, mark);
    }
    print_message("%u not clean; %u clean with all pairs; %u false alarms\n", dirty, clean, alarms);
    assert_true(dirty > 50 && clean > 20 && alarms > 0);
}

/* The same without havoc must fail: stores that only a third thread brings about are missed (TT.K9). */
static void keeping_the_store_is_unsound(void **state)
{
    (void)state;
    uint32_t missed = 0;
    for (uint32_t i = 0; i < 6 * KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        struct verdicts v = judge(random_text(i), true);
        missed += v.kernel && !v.any;
        arena_release(&test_arena, mark);
    }
    print_message("%u missed\n", missed);
    assert_true(missed > 3);
}

/* By hand: one of each kind. */
static void known_kernels(void **state)
{
    (void)state;
    static const char head[] =
        "launch(threads = 3, warp = 3); shared int A[2] = {0, 1}; private int x;\n"
        "kernel k() { ";
    static const struct {
        const char *body;
        struct verdicts bar, keep;
    } rows[] = {
        /* third thread's flag: race of 0 and 1 */
        {"if (tid == 2) A[0] = 1; barrier(); x = A[0]; barrier(); if (x && tid < 2) A[1] = 1; }",
         {true, true, true, true},
         {true, false, false, false}},
        /* CK12 */
        {"if (tid == 0) A[0] = 0; barrier(); assert(A[0] == 0); }",
         {false, true, true, true},
         {false, false, false, false}},
        {"if (tid == 1) barrier(); }", {true, true, true, true}, {true, true, true, true}},
        {"x = A[tid & 1]; barrier(); if (tid == 0) A[0] = x; }",
         {false, false, false, false},
         {false, false, false, false}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = arena_printf(&test_arena, "%s%s", head, rows[i].body);
        struct verdicts bar = judge(text, false), keep = judge(text, true);
        assert_memory_equal(&bar, &rows[i].bar, sizeof bar);
        assert_memory_equal(&keep, &rows[i].keep, sizeof keep);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(known_kernels), TEST(pairs_are_enough),
                                       TEST(keeping_the_store_is_unsound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
