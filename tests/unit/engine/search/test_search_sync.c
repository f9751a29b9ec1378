/*
 * Searches of kernels with barriers and atomics: all interleavings, enumerated without any reduction,
 * have the same outcomes and the same verdict on races, which is looked for literally, in the list of
 * all accesses of each execution.
 */
#include "engine/search/search.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/shared/many.h"
#include "tests/unit/shared/support.h"

enum { PATH_MAX = 256, OUTCOMES_MAX = 512, EXECUTIONS_MAX = 400000 };

struct seen {
    uint32_t address, actor, block, interval;
    enum access_kind kind;
};

/* All executions of one machine. */
struct enumeration {
    struct machine *machine;
    uint64_t executions;
    bool race, too_many;
    struct seen path[PATH_MAX];
    uint32_t path_count, first_of_step, actor;
    uint32_t intervals[LIMIT_BLOCKS];
    uint32_t outcome_count;
    struct {
        enum status status;
        const int32_t *store;
    } outcomes[OUTCOMES_MAX];
};

/* lockstep-cfg Defs. 3.1, 4.1, with atomics as docs/kernel-language.md has them. */
static bool races(const struct seen *a, const struct seen *b)
{
    bool conflict = a->address == b->address && a->actor != b->actor &&
                    !(a->kind == ACCESS_READ && b->kind == ACCESS_READ) &&
                    !(a->kind == ACCESS_ATOMIC && b->kind == ACCESS_ATOMIC);
    return conflict && (a->block != b->block || a->interval == b->interval);
}

static void note(struct enumeration *x, uint32_t address, enum access_kind kind)
{
    uint32_t block = x->actor / (x->machine->actor_count / x->machine->program->launch.blocks);
    assert_true(x->path_count < PATH_MAX);
    struct seen *now = &x->path[x->path_count++];
    *now = (struct seen){address, x->actor, block, x->intervals[block], kind};
    for (uint32_t i = 0; i < x->first_of_step; i++)
        x->race |= races(&x->path[i], now);
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)thread, (void)stm;
    note(context, address, ACCESS_READ);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)thread, (void)value, (void)stm;
    note(context, address, ACCESS_WRITE);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)thread, (void)value, (void)stm;
    note(context, address, ACCESS_ATOMIC);
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct enumeration *x = context;
    (void)machine;
    assert_true(event->all);
    x->intervals[event->block]++;
}

static bool in_outcomes(const struct enumeration *x, enum status status, const int32_t *store)
{
    size_t bytes = 4 * (size_t)x->machine->program->private_base;
    for (uint32_t i = 0; i < x->outcome_count; i++)
        if (x->outcomes[i].status == status &&
            (status != STATUS_TERMINATED || memcmp(x->outcomes[i].store, store, bytes) == 0))
            return true;
    return false;
}

static void note_end(struct enumeration *x)
{
    enum status status = machine_status(x->machine);
    size_t words = x->machine->program->private_base;
    x->executions++;
    x->too_many |= x->executions == EXECUTIONS_MAX;
    if (in_outcomes(x, status, x->machine->memory))
        return;
    int32_t *copy = ARENA_ARRAY(&test_arena, int32_t, words + 1);
    memcpy(copy, x->machine->memory, 4 * words);
    assert_true(x->outcome_count < OUTCOMES_MAX);
    x->outcomes[x->outcome_count].status = status;
    x->outcomes[x->outcome_count++].store = copy;
}

/* Choices inside a step: as many as are asked for, in the manner of an odometer. */
struct odometer {
    struct choices choices;
    uint32_t value[64], radix[64], count, at;
};

static uint32_t turn(struct choices *choices, uint32_t n)
{
    struct odometer *o = (struct odometer *)choices;
    if (o->at == o->count) {
        o->value[o->count] = 0;
        o->radix[o->count++] = n;
    }
    return o->value[o->at++];
}

static bool next_turn(struct odometer *o)
{
    while (o->count > 0 && ++o->value[o->count - 1] == o->radix[o->count - 1])
        o->count--;
    o->at = 0;
    return o->count > 0;
}

static void enumerate(struct enumeration *x)
{
    struct machine *machine = x->machine;
    if (x->too_many)
        return;
    if (machine_status(machine) != STATUS_RUNNING) {
        note_end(x);
        return;
    }
    uint32_t *saved = malloc((size_t)4 * machine->block_words);
    uint32_t intervals[LIMIT_BLOCKS], path_count = x->path_count;
    machine_save(machine, saved);
    memcpy(intervals, x->intervals, sizeof intervals);
    for (uint32_t i = 0; i < machine->head->live_count; i++) {
        struct odometer odometer = {.choices = {NULL, turn, NULL}};
        do {
            x->actor = machine->head->live[i];
            x->first_of_step = path_count;
            machine_step(machine, x->actor, &odometer.choices);
            enumerate(x);
            machine_restore(machine, saved, 0);
            memcpy(x->intervals, intervals, sizeof intervals);
            x->path_count = path_count;
        } while (next_turn(&odometer));
    }
    free(saved);
}

static struct enumeration *enumerate_all(const struct semantics *semantics,
                                         const struct program *program)
{
    struct enumeration *x = ARENA_NEW(&test_arena, struct enumeration);
    struct observer *observer = ARENA_NEW(&test_arena, struct observer);
    *observer = (struct observer){.context = x,
                                  .read = on_read,
                                  .write = on_write,
                                  .atomic = on_atomic,
                                  .barrier = on_barrier};
    const struct machine_options options = {.observers = observer};
    x->machine = machine_new(&test_arena, semantics, program, &options);
    enumerate(x);
    return x;
}

static void check_search(const struct enumeration *x, const struct semantics *semantics,
                         const struct program *program, enum search_method method, const char *text)
{
    struct search_options options = SEARCH_DEFAULTS;
    options.method = method;
    struct machine *machine = search_machine(&test_arena, semantics, program, false);
    const struct search_result *found = search_run(&test_arena, machine, &options);
    bool same = found->complete && found->outcome_count == x->outcome_count;
    for (uint32_t i = 0; i < found->outcome_count; i++)
        same &= in_outcomes(x, found->outcomes[i].status, found->outcomes[i].store);
    if (!same)
        fail_msg("%s, %s: %u outcomes of %u (%s)\n%s", semantics->name, search_method_names[method],
                 (unsigned)found->outcome_count, (unsigned)x->outcome_count,
                 found->cut ? found->cut : "not cut off", text);
    if (found->race != x->race)
        fail_msg("%s, %s: %s\n%s", semantics->name, search_method_names[method],
                 x->race ? "no race, but there is one" : "a race, but there is none", text);
    assert_true(found->liveness == LIVENESS_ALL_TERMINATE ||
                (found->method == SEARCH_DPOR && found->liveness == LIVENESS_UNKNOWN));
}

/* False: too many executions to enumerate. */
static bool check_kernel_text(const char *text, const struct semantics *semantics)
{
    const struct program *program = support_program(text);
    const struct enumeration *x = enumerate_all(semantics, program);
    if (x->too_many)
        return false;
    check_search(x, semantics, program, SEARCH_STATES, text);
    check_search(x, semantics, program, SEARCH_DPOR, text);
    check_search(x, semantics, program, SEARCH_AUTO, text);
    return true;
}

/* ---- random kernels ---- */

static const char *draw_statement(struct pcg *rng, uint32_t depth)
{
    static const char *const statements[] = {"x = tid + 1;",
                                             "p = x;",
                                             "y[tid] = p;",
                                             "p = y[1 - tid % 2];",
                                             "g = p;",
                                             "p = g;",
                                             "barrier();",
                                             "barrier();",
                                             "p = atomic_add(x, 1);",
                                             "atomic_max(g, tid);",
                                             "g = g + 1;",
                                             "atomic_exch(y[tid], 5);",
                                             "p = atomic_cas(g, 0, tid + 1);"};
    enum { COUNT = sizeof statements / sizeof *statements };
    uint32_t choice = pcg_below(rng, COUNT + (depth ? 2 : 0));
    if (choice < COUNT)
        return statements[choice];
    const char *guard = choice == COUNT ? "tid == 0" : "p";
    return arena_printf(&test_arena, "if (%s) { %s } else { %s }", guard, draw_statement(rng, 0),
                        draw_statement(rng, 0));
}

static void random_kernels_agree_with_enumeration(void **state)
{
    static const struct {
        uint32_t threads, warp, blocks, length;
        const struct semantics *semantics;
    } shapes[] = {{2, 1, 1, 4, &semantics_threads}, {3, 1, 1, 2, &semantics_threads},
                  {1, 1, 2, 4, &semantics_threads}, {2, 1, 2, 2, &semantics_threads},
                  {4, 2, 1, 3, &semantics_simt},    {2, 2, 2, 3, &semantics_simt}};
    struct pcg rng = pcg_derive(23, PCG_KERNEL, 0);
    uint32_t checked = 0, rounds = many(480);
    (void)state;
    for (uint32_t round = 0; round < rounds; round++) {
        size_t mark = arena_mark(&test_arena), s = round % (sizeof shapes / sizeof *shapes);
        const char *body = "";
        for (uint32_t i = 1 + pcg_below(&rng, shapes[s].length); i > 0; i--)
            body = arena_printf(&test_arena, "%s %s", body, draw_statement(&rng, 1));
        const char *text = arena_printf(
            &test_arena,
            "launch(threads = %u, warp = %u, blocks = %u); shared int x, y[4]; global int g;"
            " kernel k() { private int p; %s }",
            (unsigned)shapes[s].threads, (unsigned)shapes[s].warp, (unsigned)shapes[s].blocks,
            body);
        checked += check_kernel_text(text, shapes[s].semantics);
        arena_release(&test_arena, mark);
    }
    assert_true(checked > rounds / 2);
    printf("%u of %u kernels were small enough\n", (unsigned)checked, (unsigned)rounds);
}

/* Kernels in which one thing is at stake each. */
static void chosen_kernels_agree_with_enumeration(void **state)
{
    static const char *const texts[] = {
        /* a race that only a barrier interval shows: the atomics order the two accesses, always */
        "shared int x, f; kernel k() { private int p; if (tid == 0) { x = 1; atomic_exch(f, 1); }"
        " else { p = atomic_add(f, 0); if (p) p = x; } }",
        /* the same, a barrier between */
        "shared int x, f; kernel k() { private int p; if (tid == 0) { x = 1; atomic_exch(f, 1); }"
        " barrier(); if (tid) { p = atomic_add(f, 0); if (p) p = x; } }",
        /* waiting, ended and failing threads */
        "shared int x; kernel k() { if (tid == 0) barrier(); x = 1; }",
        "shared int x; kernel k() { if (tid == 0) barrier(); assert(x == 0); x = tid; }",
        "shared int x; kernel k() { x = tid; barrier(); assert(x == 1); barrier(); x = 2; }",
        "shared int x[2]; kernel k() { x[tid] = x[1 - tid]; barrier(); x[1 - tid] = x[tid]; }",
        "shared int x; kernel k() { atomic_add(x, 1); barrier(); assert(x == 2); }",
        "shared int x; kernel k() { atomic_add(x, 1); if (x == 2) barrier(); }",
        /* two orders to be reversed in one interval, after a release has been taken back */
        "shared int x; kernel k() { x = x + tid + 1; barrier(); x = x * 4 + tid; }",
        "shared int x; kernel k() { while (x == 0) { barrier(); x = 1; } }",
    };
    uint32_t warps = 0;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = arena_printf(&test_arena, "launch(threads = 2, warp = 1); %s", texts[i]);
        if (!check_kernel_text(text, &semantics_threads))
            fail_msg("too many executions: %s", text);
        warps += check_kernel_text(text, &semantics_simt);
    }
    assert_true(warps > 4); /* the others have too many executions: tokens are steps */
}

/* What the barrier orders is not reversed, and in which order threads arrive is not explored. */
static void a_barrier_leaves_one_trace(void **state)
{
    const struct program *program =
        support_program("launch(threads = 6, warp = 1); shared int y[6]; shared int z[6];"
                        " kernel k() { private int i; y[tid] = tid; barrier();"
                        " for (i = 0; i < 3; i++) { z[tid] = y[(tid + 1) % 6]; barrier();"
                        " y[tid] = z[(tid + 2) % 6]; barrier(); } }");
    struct search_options options = SEARCH_DEFAULTS;
    (void)state;
    options.method = SEARCH_DPOR;
    struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
    const struct search_result *found = search_run(&test_arena, machine, &options);
    assert_true(found->complete);
    struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct scheduler scheduler;
    machine = machine_new(&test_arena, &semantics_threads, program, &(struct machine_options){0});
    sched_start(&scheduler, &spec, machine, &test_arena);
    machine_run(machine, &scheduler.choices, 10000, NULL);
    assert_int_equal(found->executions, 1);
    assert_int_equal(found->steps, machine->steps); /* and nothing was begun in vain */
    assert_false(found->race);
    assert_int_equal(found->outcome_count, 1);
}

static enum search_liveness liveness_of(const char *text)
{
    const struct program *program = support_program(text);
    struct search_options options = SEARCH_DEFAULTS;
    options.method = SEARCH_STATES;
    struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
    const struct search_result *found = search_run(&test_arena, machine, &options);
    assert_true(found->complete);
    return found->liveness;
}

/* Who waits is not starved; whoever could step, and does not, is. */
static void waiting_is_fair(void **state)
{
    (void)state;
    assert_int_equal(liveness_of("launch(threads = 2, warp = 1); shared int x; kernel k() {"
                                 " if (tid == 0) { while (x == 0) ; } barrier(); x = 1; }"),
                     LIVENESS_FAIR_LASSO);
    assert_int_equal(liveness_of("launch(threads = 2, warp = 1); shared int x; kernel k() {"
                                 " if (tid == 0) { while (x == 0) ; } else x = 1; barrier(); }"),
                     LIVENESS_UNFAIR_LASSO);
    /* again and again released, never at an end; all take part */
    assert_int_equal(liveness_of("launch(threads = 2, warp = 1); kernel k() {"
                                 " while (1) barrier(); }"),
                     LIVENESS_FAIR_LASSO);
    /* the third one of the other block is starved, or ends it */
    assert_int_equal(liveness_of("launch(threads = 1, warp = 1, blocks = 2); global int x;"
                                 " kernel k() { if (bid) x = 1; else while (x == 0) barrier(); }"),
                     LIVENESS_UNFAIR_LASSO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_kernels_agree_with_enumeration),
        cmocka_unit_test(random_kernels_agree_with_enumeration),
        cmocka_unit_test(a_barrier_leaves_one_trace),
        cmocka_unit_test(waiting_is_fair),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
