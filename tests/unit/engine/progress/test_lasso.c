/* Lassos: shortest stem and loop, who steps in it, against exhaustive search. */
#include "tests/unit/shared/support.h"

#include "engine/progress/lasso.h"

#include <stdlib.h>

#include "engine/search/search.h"
#include "tests/unit/shared/mock.h"

static struct machine *machine_of(const struct mock_program *mock)
{
    const struct machine_options options = {.track = true};
    return machine_new(&test_arena, &mock_semantics, &mock->program, &options);
}

/* Actor 0 waits for what actor 1 sets after two steps of its own. */
static struct mock_program *waiter(void)
{
    struct mock_program *mock = mock_new(&test_arena, 2, 1);
    mock_add(mock, 0, MOCK_NOP, 0, 0);
    mock_add(mock, 0, MOCK_UNTIL, 0, 1);
    mock_add(mock, 1, MOCK_NOP, 0, 0);
    mock_add(mock, 1, MOCK_NOP, 0, 0);
    mock_add(mock, 1, MOCK_SET, 0, 1);
    return mock;
}

/* Each waits for what the other does only afterwards. */
static struct mock_program *deadlock(void)
{
    struct mock_program *mock = mock_new(&test_arena, 2, 2);
    for (uint32_t i = 0; i < 2; i++) {
        mock_add(mock, i, MOCK_NOP, 0, 0);
        mock_add(mock, i, MOCK_UNTIL, i, 1);
        mock_add(mock, i, MOCK_SET, 1 - i, 1);
    }
    return mock;
}

static void policies(void **state)
{
    (void)state;
    static const struct {
        struct mock_program *(*program)(void);
        struct sched_spec spec;
        enum lasso_kind kind;
        uint64_t stem, loop;
        const char *stem_tape, *loop_tape;
    } rows[] = {
        {waiter, {.kind = SCHED_SEQUENTIAL}, LASSO_UNFAIR, 1, 1, "0", "0"},
        {waiter, {.kind = SCHED_REVERSE}, LASSO_NONE, 0, 0, NULL, NULL},
        {waiter, {.kind = SCHED_ROUND_ROBIN}, LASSO_NONE, 0, 0, NULL, NULL},
        {waiter, {.kind = SCHED_STARVE, .victim = 1}, LASSO_UNFAIR, 1, 1, "0", "0"},
        {waiter, {.kind = SCHED_STARVE, .victim = 0}, LASSO_NONE, 0, 0, NULL, NULL},
        {deadlock, {.kind = SCHED_SEQUENTIAL}, LASSO_UNFAIR, 1, 1, "0", "0"},
        {deadlock, {.kind = SCHED_REVERSE}, LASSO_UNFAIR, 1, 1, "1", "1"},
        {deadlock, {.kind = SCHED_ROUND_ROBIN}, LASSO_FAIR, 2, 2, "0 1", "0 1"},
        {deadlock,
         {.kind = SCHED_ROUND_ROBIN, .quantum = 3},
         LASSO_FAIR,
         4,
         6,
         "0*3 1",
         "1*2 0*3 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct machine *machine = machine_of(rows[i].program());
        struct lasso lasso = lasso_run(&test_arena, machine, &rows[i].spec, 1000);
        assert_int_equal(lasso.kind, rows[i].kind);
        assert_int_equal(lasso.stem, rows[i].stem);
        assert_int_equal(lasso.loop, rows[i].loop);
        if (lasso.kind == LASSO_NONE) {
            assert_int_equal(lasso.status, STATUS_TERMINATED);
            continue;
        }
        assert_int_equal(lasso.status, STATUS_NONTERMINATING);
        lasso_tapes(&test_arena, machine, &rows[i].spec, &lasso);
        assert_string_equal(tape_print(&test_arena, lasso.stem_tape), rows[i].stem_tape);
        assert_string_equal(tape_print(&test_arena, lasso.loop_tape), rows[i].loop_tape);
        for (uint32_t a = 0; a < 2; a++)
            assert_int_equal(lasso.stepped[a],
                             strchr(rows[i].loop_tape, (int)('0' + a)) != NULL && lasso.live[a]);
    }
}

/* The position of the policy is part of the state: with a quantum of 3 the machine's state repeats at
 * once, but the loop of the execution is longer. The budget decides whether it is found. */
static void budgets(void **state)
{
    (void)state;
    const struct sched_spec spec = {.kind = SCHED_ROUND_ROBIN, .quantum = 3};
    struct machine *machine = machine_of(deadlock());
    struct lasso lasso = lasso_run(&test_arena, machine, &spec, 5);
    assert_int_equal(lasso.kind, LASSO_UNKNOWN);
    assert_int_equal(lasso.status, STATUS_STEP_LIMIT);
    assert_int_equal(lasso_run(&test_arena, machine, &spec, 100).kind, LASSO_FAIR);
}

/* A machine with an undo log, however small, can be used as well. */
static void undo_log_stays_empty(void **state)
{
    (void)state;
    struct mock_program *mock = deadlock();
    const struct machine_options options = {.track = true, .undo_entries = 8};
    struct machine *machine = machine_new(&test_arena, &mock_semantics, &mock->program, &options);
    const struct sched_spec spec = {.kind = SCHED_ROUND_ROBIN, .quantum = 50};
    assert_int_equal(lasso_run(&test_arena, machine, &spec, 1000).kind, LASSO_FAIR);
    assert_int_equal(machine->track.log_count, 0);
}

static struct mock_program *random_program(struct pcg *rng)
{
    static const enum mock_kind kinds[] = {MOCK_NOP, MOCK_READ, MOCK_WRITE, MOCK_SET, MOCK_CHOOSE};
    struct mock_program *mock = mock_new(&test_arena, 3, 2);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 1 + pcg_below(rng, 4); j > 0; j--) {
            enum mock_kind kind = pcg_below(rng, 4) ? kinds[pcg_below(rng, 5)] : MOCK_UNTIL;
            mock_add(mock, i, kind, pcg_below(rng, 2),
                     kind == MOCK_CHOOSE ? 2 : (int32_t)pcg_below(rng, 3));
        }
    return mock;
}

/* Stem and loop, replayed: the state is the same before and after the loop, and no earlier. */
static void check_tapes(const struct mock_program *mock, const struct lasso *lasso)
{
    struct machine *machine = machine_of(mock);
    const struct tape *tapes[] = {lasso->stem_tape, lasso->loop_tape};
    const uint64_t lengths[] = {lasso->stem, lasso->loop};
    uint32_t *saved = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words), stepped = 0;
    for (int i = 0; i < 2; i++) {
        struct scheduler scheduler;
        const struct sched_spec spec = {.kind = SCHED_TAPE, .tape = tapes[i]};
        struct tape *ran = tape_new(&test_arena, 100000);
        machine_save(machine, saved);
        sched_start(&scheduler, &spec, machine, &test_arena);
        assert_int_equal(machine_run(machine, &scheduler.choices, lengths[i], ran),
                         STATUS_STEP_LIMIT);
        assert_int_equal(scheduler.drifts + scheduler.beyond, 0);
        assert_int_equal(scheduler.reader.next, tapes[i]->count);
        for (uint32_t j = stepped = 0; j < ran->count; j++)
            if (!(ran->entries[j] & TAPE_INNER))
                stepped |= 1u << ran->entries[j];
    }
    assert_true(machine_equals(machine, saved));
    bool fair = true;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(lasso->stepped[i], stepped >> i & 1);
        fair &= lasso->stepped[i] || !lasso->live[i];
    }
    assert_int_equal(lasso->kind, fair ? LASSO_FAIR : LASSO_UNFAIR);
}

/* What a policy or a walk does for ever, the graph of all states knows. */
static void agree_with_search(void **state)
{
    (void)state;
    static const struct sched_spec specs[] = {
        {.kind = SCHED_SEQUENTIAL},          {.kind = SCHED_REVERSE},
        {.kind = SCHED_ROUND_ROBIN},         {.kind = SCHED_ROUND_ROBIN, .quantum = 4},
        {.kind = SCHED_STARVE, .victim = 0}, {.kind = SCHED_STARVE, .victim = 2}};
    struct pcg rng = pcg_derive(21, PCG_KERNEL, 0);
    uint32_t kinds[4] = {0}, walks[4] = {0};
    for (uint32_t round = 0; round < 300; round++) {
        size_t mark = arena_mark(&test_arena);
        struct mock_program *mock = random_program(&rng);
        struct machine *searched =
            search_machine(&test_arena, &mock_semantics, &mock->program, false);
        struct search_options options = SEARCH_DEFAULTS;
        options.method = SEARCH_STATES;
        enum search_liveness liveness = search_run(&test_arena, searched, &options)->liveness;
        struct machine *machine = machine_of(mock);
        for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
            struct lasso lasso = lasso_run(&test_arena, machine, &specs[i], 10000);
            kinds[lasso.kind]++;
            assert_int_not_equal(lasso.kind, LASSO_UNKNOWN);
            if (lasso.kind == LASSO_FAIR)
                assert_int_equal(liveness, LIVENESS_FAIR_LASSO);
            if (lasso.kind == LASSO_UNFAIR) {
                assert_int_not_equal(specs[i].kind, SCHED_ROUND_ROBIN);
                assert_int_not_equal(liveness, LIVENESS_ALL_TERMINATE);
            }
            if (lasso.kind == LASSO_NONE)
                continue;
            lasso_tapes(&test_arena, machine, &specs[i], &lasso);
            check_tapes(mock, &lasso);
        }
        const struct sched_spec uniform = {.kind = SCHED_UNIFORM, .index = round};
        struct scheduler scheduler;
        sched_start(&scheduler, &uniform, machine, &test_arena);
        struct lasso lasso = lasso_random(&test_arena, machine, &scheduler.choices, 2000);
        walks[lasso.kind]++;
        if (lasso.kind == LASSO_FAIR)
            assert_int_equal(liveness, LIVENESS_FAIR_LASSO);
        if (liveness == LIVENESS_ALL_TERMINATE)
            assert_int_equal(lasso.kind, LASSO_NONE);
        /* A walk of 2000 steps ends, or goes round in a fair loop of these few states. */
        assert_true(lasso.kind == LASSO_NONE || lasso.kind == LASSO_FAIR);
        if (lasso.kind == LASSO_FAIR)
            check_tapes(mock, &lasso);
        arena_release(&test_arena, mark);
    }
    assert_true(kinds[LASSO_NONE] > 20 && kinds[LASSO_UNFAIR] > 20 && kinds[LASSO_FAIR] > 20);
    assert_true(walks[LASSO_NONE] > 20 && walks[LASSO_FAIR] > 20);
}

/* A walk that starves actor 1 finds only the unfair loop, under its budget. */
static void walk_reports_unfair(void **state)
{
    (void)state;
    struct mock_program *mock = waiter();
    struct machine *machine = machine_of(mock);
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &test_arena);
    struct lasso lasso = lasso_random(&test_arena, machine, &scheduler.choices, 50);
    assert_int_equal(lasso.kind, LASSO_UNFAIR);
    assert_int_equal(lasso.stem, 1);
    assert_int_equal(lasso.loop, 1);
    assert_int_equal(machine->steps >= 50, 1);
    sched_start(&scheduler, &spec, machine, &test_arena);
    assert_int_equal(lasso_random(&test_arena, machine, &scheduler.choices, 1).kind, LASSO_UNKNOWN);
}

static void count_step(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)thread;
    (void)address;
    (void)stm;
    ++*(uint64_t *)context;
}

/* Replays are not shown to observers. */
static void observers_see_each_step_once(void **state)
{
    (void)state;
    uint64_t reads = 0;
    const struct observer observer = {.context = &reads, .read = count_step};
    struct machine *machine = machine_of(deadlock());
    machine_observe(machine, &observer);
    const struct sched_spec spec = {.kind = SCHED_ROUND_ROBIN};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &test_arena);
    struct lasso lasso = lasso_random(&test_arena, machine, &scheduler.choices, 100);
    assert_int_equal(lasso.kind, LASSO_FAIR);
    assert_int_equal(reads, lasso.stem + lasso.loop - 2); /* all but two private steps */
    assert_ptr_equal(machine->options.observers, &observer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(policies),
        TEST(budgets),
        TEST(undo_log_stays_empty),
        TEST(agree_with_search),
        TEST(walk_reports_unfair),
        TEST(observers_see_each_step_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
