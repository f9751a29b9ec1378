/* Warps without a stack: the catalogue's verdict table (simt-structured, section 11) in all forms, and SL.step
 * executed literally. */
#include "tests/unit/shared/support.h"

#include "engine/progress/lasso.h"
#include "engine/warps/threads.h"
#include "oracle/check/explore.h"

enum { PROGRAMS = 4, SIZES = 4 };

static const char *const programs[PROGRAMS] = {
    "if (tid == 0) lock = 1; else while (lock != 1) ;",
    "if (tid != 0) while (lock != 1) ; else lock = 1;",
    "while (lock != tid) ; lock = lock + 1;",
    "while (lock != n) { if (tid == lock) lock = lock + 1; else ; }",
};

static const uint32_t sizes[SIZES] = {2, 3, 4, 8};

static const char *text_of(uint32_t program, uint32_t n)
{
    return arena_printf(&test_arena,
                        "launch(threads = %u, warp = %u); shared int lock; private int n;"
                        " kernel k() { n = %u; %s }",
                        n, n, n, programs[program]);
}

/* A column a size: h halts, d diverges. Of its, which is fair, and of dpdpri the catalogue says nothing: behind
 * Program 3's loop thread 0 has passed a post-dominator, those that spin have not. Of dws it says the first and
 * the last rows; P2 needs its if to split, or the right path first, P3 its loop. */
enum { IN_BLOCKS = 1, IN_PTX = 2 };
#define H "hhhh"
#define D "dddd"

static const struct {
    const char *policy;
    const char *verdicts[PROGRAMS];
    /* Forms in which the other path of an if comes first: Programs 2 and 2 reversed change places. Blocks and PTX
     * made by simtfuzz have the else-part first, and the branch to the then-part is the one that is taken. */
    unsigned other_first;
} table[] = {
    {"minpc", {H, D, D, H}, IN_BLOCKS | IN_PTX},
    {"oldest", {H, H, H, H}, 0},
    {"rr", {H, H, H, H}, 0},
    {"majority", {"hddd", "hddd", "hddd", D}, 0},
    {"minority", {H, H, H, "dhhh"}, 0},
    {"its", {H, H, H, H}, 0},
    {"dpdpri", {H, H, D, H}, 0},
    {"dws", {H, H, H, H}, 0},
    {"dws-loops", {D, H, H, H}, IN_PTX},
    {"dws-loops:then-first", {H, D, H, H}, IN_PTX},
    {"dws-ifs", {H, H, D, H}, 0},
    {"dws-none", {D, H, D, H}, IN_PTX},
    {"dws-none:then-first", {H, D, D, H}, IN_PTX},
};

static char verdict(const struct program *program, const struct semantics *semantics,
                    const char *policy)
{
    const struct machine_options options = {.track = true};
    struct machine *machine = machine_new(&test_arena, semantics, program, &options);
    struct sched_spec spec = {.kind = SCHED_STACKLESS};
    assert_true(stackless_parse(policy, &spec.stackless));
    struct lasso lasso = lasso_run(&test_arena, machine, &spec, 100000);
    assert_int_not_equal(lasso.kind, LASSO_UNKNOWN);
    if (lasso.kind == LASSO_NONE)
        assert_int_equal(lasso.status, STATUS_TERMINATED);
    return lasso.kind == LASSO_NONE ? 'h' : 'd';
}

static void check_table(enum program_id form, const struct semantics *semantics, unsigned layout)
{
    for (uint32_t p = 0; p < PROGRAMS; p++) {
        for (uint32_t i = 0; i < SIZES; i++) {
            struct forms *forms = forms_new(&test_arena, support_parse(text_of(p, sizes[i])));
            const struct program *program = forms_get(forms, form)->program;
            assert_non_null(program);
            for (uint32_t r = 0; r < sizeof table / sizeof *table; r++) {
                char expected = table[r].verdicts[p][i];
                if ((layout & table[r].other_first) && p < 2)
                    expected = table[r].verdicts[1 - p][i];
                if (verdict(program, semantics, table[r].policy) != expected)
                    fail_msg("%s: program %u, %u threads", table[r].policy, p, sizes[i]);
            }
        }
    }
}

static void test_verdicts(void **state)
{
    (void)state;
    check_table(PROGRAM_CORE, &semantics_threads, 0);
    check_table(PROGRAM_BLOCKS, &semantics_interleave, IN_BLOCKS);
    check_table(PROGRAM_PTX, &semantics_block, IN_PTX);
}

/* ---- SL.step, executed literally ---- */

static const char RICH[] =
    "launch(threads = 5, blocks = 2, warp = 4); global int g; shared int a[4], b; private int p;"
    "int f(int k) { private int r; if (k <= 0) { return 1; } r = f(k - 1); return k + r; }"
    "kernel k() { private int i; p = f(tid % 3); for (i = 0; i < tid + 2; i++) {"
    " if ((i + tid) % 3 == 0) { a[i % 4] = p + b; if (i == 3) break; } else { b = tid; g = i; } }"
    " barrier(); while (a[tid % 4] > i) { a[tid % 4] = a[tid % 4] - 1; } g = b; }";

/* Everybody in Θ steps from the same μ: its stack, its frame and what it wrote are kept; then all are put
 * together, over old μ, in ascending order. */
struct literal {
    struct machine *machine;
    uint32_t *before, *after, *merged;
};

static void put_words(struct literal *l, const void *first, size_t words)
{
    size_t at = (size_t)((const uint32_t *)first - l->machine->block);
    memcpy(l->merged + at, l->machine->block + at, words * sizeof *l->merged);
}

/* Words of one thread's own. */
static void put_own(struct literal *l, uint32_t thread)
{
    const struct machine *m = l->machine;
    const struct program *program = m->program;
    put_words(
        l, threads_state(m, thread),
        (size_t)((const uint32_t *)threads_state(m, 1) - (const uint32_t *)threads_state(m, 0)));
    put_words(l, &m->threads[thread], sizeof *m->threads / 4);
    put_words(l, m->memory + m->threads[thread].base[SPACE_PRIVATE], program->words[SPACE_PRIVATE]);
    put_words(l, m->memory + program->frame_base + thread * program->words[SPACE_LOCAL],
              program->words[SPACE_LOCAL]);
}

static void step_alone(struct literal *l, uint32_t thread)
{
    struct machine *m = l->machine;
    machine_restore(m, l->before, 0);
    const struct thread_state *T = threads_state(m, thread);
    bool writes = T->pending;
    uint32_t address = T->address;
    machine_step(m, thread, NULL);
    put_own(l, thread);
    if (writes && address < m->program->private_base)
        put_words(l, m->memory + address, 1);
}

static uint32_t group_steps(const char *text, const char *policy, bool literally)
{
    struct machine *machine = support_machine(support_program(text), SUBJECT_THREADS);
    struct stackless_spec spec;
    struct pcg rng = pcg_derive(1, PCG_SCHEDULE, 0);
    struct literal l = {machine, ARENA_ARRAY(&test_arena, uint32_t, machine->block_words),
                        ARENA_ARRAY(&test_arena, uint32_t, machine->block_words),
                        ARENA_ARRAY(&test_arena, uint32_t, machine->block_words)};
    assert_true(stackless_parse(policy, &spec));
    struct stackless *warps = stackless_new(&test_arena, machine, &spec, &rng);
    uint32_t count = 0;
    while (machine_status(machine) == STATUS_RUNNING && count < 3000) {
        uint32_t theta[16], size = 0, live = machine->head->live_count;
        machine_save(machine, l.before);
        do {
            theta[size] = stackless_pick(warps, machine);
            machine_step(machine, theta[size++], NULL);
        } while (!stackless_between(warps));
        count++;
        /* A barrier's release or a thread's end changes what belongs to no single thread. */
        if (!literally || machine_status(machine) != STATUS_RUNNING ||
            machine->head->live_count != live)
            continue;
        machine_save(machine, l.after);
        memcpy(l.merged, l.before, machine->block_words * sizeof *l.merged);
        for (uint32_t i = 0; i < size; i++)
            step_alone(&l, theta[i]);
        assert_memory_equal(l.merged, l.after, machine->block_words * sizeof *l.merged);
        machine_restore(machine, l.after, 0);
    }
    assert_int_equal(machine_status(machine), STATUS_TERMINATED);
    return count;
}

static void test_literal_steps(void **state)
{
    (void)state;
    for (int p = 0; p < STACKLESS_POLICY_COUNT; p++) {
        const char *name = stackless_table[p].name;
        assert_in_range(group_steps(RICH, name, true), 50, 2000);
        assert_in_range(group_steps(RICH, arena_printf(&test_arena, "%s:literal", name), true), 50,
                        2000);
    }
}

/* 5 group steps against 11. */
static void test_erased_and_literal(void **state)
{
    static const char TEXT[] = "launch(threads = 4, warp = 4); private int p, q;"
                               " kernel k() { p = tid; q = p; }";
    (void)state;
    assert_int_equal(group_steps(TEXT, "oldest", true), 5);
    assert_int_equal(group_steps(TEXT, "oldest:literal", true), 11);
}

/* ---- whose turn it is ---- */

static const char *picks(const char *text, const char *policy, uint32_t count)
{
    struct machine *machine = support_machine(support_program(text), SUBJECT_THREADS);
    struct stackless_spec spec;
    assert_true(stackless_parse(policy, &spec));
    struct stackless *warps = stackless_new(&test_arena, machine, &spec, NULL);
    const char *all = "";
    for (uint32_t i = 0; i < count && machine_status(machine) == STATUS_RUNNING;) {
        uint32_t thread = stackless_pick(warps, machine);
        machine_step(machine, thread, NULL);
        bool ends = stackless_between(warps);
        i += ends;
        all = arena_printf(&test_arena, "%s%u%s", all, thread, ends ? " " : "");
    }
    return all;
}

static void test_units(void **state)
{
    static const char TEXT[] = "launch(threads = 5, blocks = 2, warp = 2); private int p;"
                               " kernel k() { if (tid == 1) ; else p = 1; p = 2; }";
    (void)state;
    /* Warps of two threads, the last of a block of one; they take turns. */
    assert_string_equal(picks(TEXT, "oldest", 6), "01 23 4 56 78 9 ");
    /* A block's threads, one a lane of two: after the branch 0 and 3 make a warp. */
    assert_string_equal(picks(TEXT, "dtime", 9), "01 56 23 78 4 9 03 58 1 ");
    assert_string_equal(picks(TEXT, "dmaj", 9), "01 56 23 78 03 58 03 58 03 ");
    assert_string_equal(picks(TEXT, "dmin", 9), "01 56 0 5 0 5 0 5 0 ");
}

/* A turn is an instruction: an assignment's read and write, a statement and the contexts behind it. */
static void test_independent_threads(void **state)
{
    static const char TEXT[] = "launch(threads = 5, warp = 3); private int p;"
                               " kernel k() { p = tid; while (p < 1) { p = 1; } }";
    (void)state;
    assert_string_equal(picks(TEXT, "its", 99), "0 0 3 3 1 1 4 4 2 2 3 3 0 4 4 1 1 2 2 0 0 0 0 0 ");
    assert_string_equal(picks(TEXT, "rr", 7), "012 34 012 34 012 34 0 ");
}

/* Thread 0 has passed where the paths of the branch meet when it is about to read p: thread 1 has not, and is
 * let run until it has. */
static void test_post_dominators(void **state)
{
    static const char TEXT[] = "launch(threads = 2); private int p; kernel k() {"
                               " if (tid == 0) ; else { p = 1; p = 2; } p = 3; p = 4; }";
    (void)state;
    assert_string_equal(picks(TEXT, "dpdpri", 12), "01 0 0 1 1 1 1 1 01 01 01 01 ");
    assert_string_equal(picks(TEXT, "dmaj", 9), "01 0 0 0 0 0 0 1 1 ");
}

/* A warp that has more lanes than its block threads is one of so many lanes. */
static void test_wide_warps(void **state)
{
    (void)state;
    for (int p = 0; p < STACKLESS_POLICY_COUNT; p++) {
        const char *text = text_of(3, 3), *policy = stackless_table[p].name;
        const char *wide =
            arena_printf(&test_arena, "launch(threads = 3, warp = 62);%s", strchr(text, ';') + 1);
        if (p != STACKLESS_RANDOM)
            assert_string_equal(picks(wide, policy, 60), picks(text, policy, 60));
    }
}

/* Checks ask threads under these schedules, too, and no warps. */
static void test_checked(void **state)
{
    (void)state;
    struct check_result result = {.runs[0].schedules = 0};
    struct check_options options = CHECK_DEFAULTS;
    uint32_t seen[SUBJECT_COUNT] = {0};
    for (options.seed = 0; options.seed < 24; options.seed++) {
        struct checking c = {.arena = &test_arena,
                             .options = &options,
                             .kernel = support_parse(RICH),
                             .result = &result};
        c.forms = forms_new(&test_arena, c.kernel);
        explore_prepare(&c);
        for (int s = SUBJECT_THREADS; s <= SUBJECT_BLOCK; s++)
            if (explore_runs(&c, (enum subject_id)s))
                explore_subject(&c, (enum subject_id)s);
        for (uint32_t i = 0; i < c.execution_count; i++)
            seen[c.executions[i]->subject] += c.executions[i]->spec.kind == SCHED_STACKLESS;
    }
    assert_int_equal(seen[SUBJECT_THREADS], 48);
    assert_in_range(seen[SUBJECT_INTERLEAVE], 1, 24);
    assert_int_equal(seen[SUBJECT_SIMT] + seen[SUBJECT_CRS] + seen[SUBJECT_LOCKSTEP], 0);
}

static void test_names(void **state)
{
    (void)state;
    struct sched_spec spec;
    assert_true(sched_parse("stackless:dpdpri:literal", &spec));
    assert_string_equal(sched_name(&test_arena, &spec), "stackless:dpdpri:literal");
    assert_true(sched_parse("stackless:rr", &spec));
    assert_string_equal(sched_name(&test_arena, &spec), "stackless:rr");
    assert_false(sched_parse("stackless", &spec));
    assert_false(sched_parse("stackless:", &spec));
    assert_false(sched_parse("stackless:fifo", &spec));
    assert_false(sched_parse("stackless:rr:erased", &spec));
    assert_string_equal(stackless_refuses(&semantics_simt), "its actors are no threads");
    assert_null(stackless_refuses(&semantics_block));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_verdicts, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_literal_steps, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_erased_and_literal, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_units, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_independent_threads, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_post_dominators, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_wide_warps, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_checked, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_names, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
