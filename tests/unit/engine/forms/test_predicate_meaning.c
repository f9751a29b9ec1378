/* What pi(P) does: Lemmas B.6 and B.7 statement by statement on random stores, Theorem 5.5 on one thread,
 * and the results of whole kernels under `interleave`. */
#include "engine/input/input.h"
#include "tests/unit/shared/blocks.h"

#include "engine/forms/normalise.h"
#include "fuzz/generate/generate.h"
#include "oracle/race/race.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { STORES = 30, KERNELS = 1500, BUDGET = 200000 };

/* ---- Lemmas B.6, B.7 ---- */

static const char *const statements[] = {
    "p = q + x;",
    "x = q;",
    "x = x + 1;",
    "a[q] = p;",
    "b[q & 1] = a[p];",
    "havoc(p);",
    "havoc(x);",
    "havoc(a[q]);",
    "assert(x > p);",
    "assume(p);",
    "assume(a[q] != 2);",
    ";",
    "p = atomic_add(x, q);",
    "atomic_cas(a[p], x, q);",
    "p = x if (q);",
    "havoc(p) if (q > 1);",
};

/* The same values, 0 to 4, in the variables of the file level of both machines. */
static void randomise(struct machine *a, struct machine *b, uint64_t seed)
{
    struct pcg rng = pcg_derive(seed, PCG_INPUT, 0);
    for (uint32_t i = 0; i < a->program->frame_base; i++)
        a->memory[i] = b->memory[i] = (int32_t)pcg_below(&rng, 5);
}

static void compare_states(const struct machine *a, const struct machine *b, const char *text)
{
    uint32_t words = a->program->frame_base;
    bool drew_alike =
        a->threads[0].choices == b->threads[0].choices ||
        machine_status(a) == STATUS_OUT_OF_BOUNDS; /* the index comes after the draw */
    if (machine_status(a) != machine_status(b) || !drew_alike ||
        memcmp(a->memory, b->memory, words * sizeof *a->memory) != 0)
        fail_msg("%s: %s and %s", text, status_names[machine_status(a)],
                 status_names[machine_status(b)]);
}

static const char *one_statement(const char *statement, uint64_t seed)
{
    return arena_printf(&test_arena,
                        "launch(threads = 1, seed = %u); shared int x, a[4];\n"
                        "private int p, q, b[2]; kernel k() blocks { Start: %s goto End; }",
                        (unsigned)seed, statement);
}

/* pi of the statement where v_active = B, or another block; and the statement, or skip. */
static void statement_lemma(const char *statement, uint64_t seed, bool active, uint32_t *statuses)
{
    const char *text = one_statement(statement, seed);
    const char *plain = one_statement(active ? statement : ";", seed);
    const struct machine_options options = {0};
    struct ast_kernel *pi = blocks_transform(support_parse(text), BLOCKS_PI, &BLOCKS_DEFAULTS);
    struct ast_stm *enter = pi->main->blocks->body;
    assert_string_equal(enter->target.var->name, "v_active");
    if (!active)
        enter->value->value = 99;
    struct machine *s = blocks_machine(blocks_program(plain, BLOCKS_P, NULL), &options);
    struct machine *t = blocks_machine(blocks_compile(pi), &options);
    randomise(s, t, seed);
    blocks_run(s, 0, BUDGET);
    blocks_run(t, 0, BUDGET);
    statuses[machine_status(s)]++;
    compare_states(s, t, text);
}

static void lemmas_b6_b7(void **state)
{
    (void)state;
    uint32_t statuses[STATUS_COUNT] = {0};
    for (size_t i = 0; i < COUNT(statements); i++)
        for (uint32_t seed = 0; seed < STORES; seed++) {
            statement_lemma(statements[i], seed, true, statuses);
            statement_lemma(statements[i], seed, false, statuses);
        }
    assert_true(statuses[STATUS_TERMINATED] > 0 && statuses[STATUS_ASSERT_FAILS] > 0);
    assert_true(statuses[STATUS_INFEASIBLE] > 0 && statuses[STATUS_OUT_OF_BOUNDS] > 0);
}

/* ---- Theorem 5.5 ---- */

enum { CHANGES_MAX = 4096 };

/* The labels restricted to the shared variables, without repetitions (Def. 5.4): what changes. */
struct changes {
    const struct machine *machine;
    int32_t *before;
    uint32_t count;
    struct {
        uint32_t address;
        int32_t value;
    } items[CHANGES_MAX];
};

static void on_change(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    struct changes *c = context;
    (void)thread;
    (void)stm;
    if (c->before[address] == value || c->count == CHANGES_MAX)
        return;
    c->before[address] = value;
    c->items[c->count].address = address;
    c->items[c->count++].value = value;
}

/* The execution of one thread; its status. */
static enum status run_changes(const struct program *program, struct changes *c)
{
    const struct observer observer = {.context = c, .write = on_change, .atomic = on_change};
    const struct machine_options options = {.observers = &observer};
    struct machine *machine = blocks_machine(program, &options);
    c->count = 0;
    c->before = ARENA_ARRAY(&test_arena, int32_t, program->private_base);
    memcpy(c->before, machine->memory, program->private_base * sizeof *c->before);
    return blocks_run(machine, 0, BUDGET);
}

static struct program *number(const struct ast_kernel *kernel, uint32_t threads)
{
    const char *reason = NULL;
    struct ast_kernel *P = normalise(&test_arena, kernel, NORMALISE_ALL, &reason);
    assert_non_null(P);
    if (threads) {
        P->launch.threads = threads;
        P->launch.blocks = 1;
    }
    return program_compile(&test_arena, P, &reason);
}

static const struct program *pi_of(const struct program *P, uint64_t order_seed)
{
    const struct predicate_options options = {.order_seed = order_seed};
    const char *reason = NULL;
    struct ast_kernel *pi = predicate(&test_arena, P->core, &options, &reason);
    if (!pi)
        fail_msg("%s", reason);
    return blocks_compile(pi);
}

static const struct ast_kernel *random_kernel(uint32_t i)
{
    struct gen_options options = GEN_DEFAULTS;
    const char *error_at;
    assert_true(gen_parse_features("all,-votes", &options.features, &error_at));
    const struct ast_kernel *kernel = gen_case(&test_arena, 55, i, &options);
    return kernel->form == FORM_BLOCKS ? kernel : NULL;
}

static void theorem_5_5(void **state)
{
    (void)state;
    static struct changes s, t;
    uint32_t ended = 0, failed = 0;
    for (uint32_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = random_kernel(i);
        const struct program *P = kernel ? number(kernel, 1) : NULL;
        enum status status = P ? run_changes(P, &s) : STATUS_STEP_LIMIT;
        if (status != STATUS_STEP_LIMIT) {
            const struct program *pi = pi_of(P, i % 4);
            if (run_changes(pi, &t) != status || s.count != t.count ||
                memcmp(s.items, t.items, s.count * sizeof *s.items) != 0)
                fail_msg("%s\n%s", status_names[status], print_kernel(&test_arena, P->core));
            ended += status == STATUS_TERMINATED;
            failed += status != STATUS_TERMINATED;
        }
        arena_release(&test_arena, mark);
    }
    print_message("%u terminated, %u failed\n", ended, failed);
    assert_true(ended > KERNELS / 10 && failed > 5);
}

/* ---- results ---- */

/* No race and no error in one execution: then every semantics ends in the same store (ORA.52), unless
 * atomics tell who came first. */
static bool is_clean(const struct program *P)
{
    const struct machine_options options = {0};
    struct machine *machine = blocks_machine(P, &options);
    struct race_detector *races = race_new(&test_arena, P);
    if (P->has_atomics)
        return false;
    race_begin(races);
    machine_observe(machine, &races->observer);
    return blocks_run(machine, 0, 10 * BUDGET) == STATUS_TERMINATED && !races->found;
}

static void results(void **state)
{
    (void)state;
    const struct machine_options options = {0};
    uint32_t compared = 0;
    for (uint32_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = random_kernel(i);
        const struct program *P = kernel ? number(kernel, 0) : NULL;
        if (P && is_clean(P) && P->total_threads <= 32) {
            struct machine *s = blocks_machine(P, &options);
            struct machine *t = blocks_machine(pi_of(P, i % 4), &options);
            enum status first = blocks_run(s, 1 + i, 10 * BUDGET);
            enum status second = blocks_run(t, 1 + i, 40 * BUDGET);
            if (first != STATUS_TERMINATED || second != STATUS_TERMINATED ||
                memcmp(s->memory, t->memory, P->private_base * sizeof *s->memory) != 0)
                fail_msg("%s, pi: %s\n%s", status_names[first], status_names[second],
                         print_kernel(&test_arena, P->core));
            compared++;
        }
        arena_release(&test_arena, mark);
    }
    print_message("%u compared\n", compared);
    assert_true(compared > 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(lemmas_b6_b7), TEST(theorem_5_5), TEST(results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
