/*
 * Schedulers, lassos and searches at their limits: counts that do not fit, change points as many as steps, patience to
 * the step, and who is told to stop.
 */
#include "engine/machine/live.h"
#include "engine/progress/fair_lasso.h"
#include "engine/schedule/sched.h"
#include "engine/search/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/shared/mock.h"
#include "tests/unit/shared/support.h"

static const char *run_text(struct machine *machine, const struct sched_spec *spec, uint64_t budget)
{
    struct scheduler scheduler;
    struct tape *tape = tape_new(&test_arena, (uint32_t)budget * 2);
    machine_reset(machine);
    sched_start(&scheduler, spec, machine, &test_arena);
    machine_run(machine, &scheduler.choices, budget, tape);
    return tape_print(&test_arena, tape);
}

static struct machine *machine_of(const struct mock_program *mock)
{
    const struct machine_options options = {0};
    return machine_new(&test_arena, &mock_semantics, &mock->program, &options);
}

/* ---- SURW ---- */

/* Counts whose sum would not fit 32 bits are as many as fit; what is below is left as it is. */
static void surw_counts_that_do_not_fit(void **state)
{
    (void)state;
    static const uint8_t selected[] = {0, 1};
    for (uint32_t actors = 2; actors <= MOCK_ACTORS; actors++) {
        const uint32_t most = UINT32_MAX / 2 / actors;
        const uint32_t same[] = {most,           most + 1, UINT32_MAX,
                                 UINT32_MAX - 1, 1u << 31, UINT32_MAX / 2};
        struct mock_program *mock = mock_new(&test_arena, actors, 2);
        for (uint32_t a = 0; a < actors; a++)
            for (uint32_t i = 0; i < 6; i++)
                mock_add(mock, a, i % 2 ? MOCK_NOP : MOCK_READ, a % 2, 0);
        struct machine *machine = machine_of(mock);
        for (uint64_t index = 0; index < 12; index++) {
            const char *expected = NULL;
            for (uint32_t i = 0; i < sizeof same / sizeof *same; i++) {
                uint32_t counts[MOCK_ACTORS];
                for (uint32_t a = 0; a < actors; a++)
                    counts[a] = a == index % actors ? 1 + most / 2 : same[i];
                const struct sched_spec spec = {.kind = SCHED_SURW,
                                                .index = index,
                                                .selected = selected,
                                                .selected_counts = counts};
                const char *tape = run_text(machine, &spec, 100);
                expected = expected ? expected : tape;
                assert_string_equal(tape, expected);
            }
        }
    }
}

/* How likely an actor is the first to take a selected step: as its count is to all counts. */
static void surw_draws_by_counts(void **state)
{
    (void)state;
    static const uint8_t selected[] = {0, 1};
    static const uint32_t counts[][3] = {{1, 1, 1}, {1, 2, 3}, {4, 0, 0}, {0, 5, 5}, {7, 1, 0}};
    enum { RUNS = 3000 };
    struct mock_program *mock = mock_new(&test_arena, 3, 1);
    for (uint32_t a = 0; a < 3; a++)
        for (uint32_t i = 0; i < 8; i++)
            mock_add(mock, a, i == 0 ? MOCK_NOP : MOCK_READ, 0, 0);
    struct machine *machine = machine_of(mock);
    for (uint32_t row = 0; row < sizeof counts / sizeof *counts; row++) {
        uint32_t first[3] = {0, 0, 0}, sum = counts[row][0] + counts[row][1] + counts[row][2];
        for (uint64_t index = 0; index < RUNS; index++) {
            size_t mark = arena_mark(&test_arena);
            const struct sched_spec spec = {.kind = SCHED_SURW,
                                            .seed = 2,
                                            .index = index,
                                            .selected = selected,
                                            .selected_counts = counts[row]};
            struct scheduler scheduler;
            struct tape *tape = tape_new(&test_arena, 64);
            uint32_t steps[3] = {0, 0, 0};
            machine_reset(machine);
            sched_start(&scheduler, &spec, machine, &test_arena);
            machine_run(machine, &scheduler.choices, 30, tape);
            for (uint32_t i = 0; i < tape->count; i++)
                if (steps[tape->entries[i]]++ == 1) {
                    first[tape->entries[i]]++;
                    break;
                }
            arena_release(&test_arena, mark);
        }
        /* Who stands before a selected step has one left at least: that counts for those with 0, later. */
        for (uint32_t a = 0; a < 3; a++) {
            double expected = (double)RUNS * counts[row][a] / sum;
            assert_true(first[a] > expected - 150 && first[a] < expected + 150);
        }
    }
}

/* An actor that spins is intended for 256 picks a live actor, and not one more: then the others may get their turn. */
static void surw_patience(void **state)
{
    (void)state;
    static const uint8_t selected[] = {0, 1};
    static const uint32_t counts[] = {1, 1, 1, 1};
    for (uint32_t actors = 2; actors <= 4; actors++) {
        enum { AT_ONCE = 40, RUNS = 300 }; /* who is intended at the start steps soon */
        uint32_t patience = 256 * actors + 1, least = UINT32_MAX, later = 0;
        struct mock_program *mock = mock_new(&test_arena, actors, 1);
        mock_add(mock, 0, MOCK_FOREVER, 0, 0);
        for (uint32_t a = 1; a < actors; a++)
            mock_add(mock, a, MOCK_SET, 0, 1);
        struct machine *machine = machine_of(mock);
        for (uint64_t index = 0; index < RUNS; index++) {
            size_t mark = arena_mark(&test_arena);
            const struct sched_spec spec = {.kind = SCHED_SURW,
                                            .index = index,
                                            .selected = selected,
                                            .selected_counts = counts};
            struct scheduler scheduler;
            struct tape *tape = tape_new(&test_arena, patience + AT_ONCE);
            uint32_t first = 0;
            machine_reset(machine);
            sched_start(&scheduler, &spec, machine, &test_arena);
            machine_run(machine, &scheduler.choices, patience + AT_ONCE, tape);
            while (first < tape->count && tape->entries[first] == 0)
                first++;
            if (first > AT_ONCE && first < tape->count) {
                least = first < least ? first : least;
                later++;
            }
            arena_release(&test_arena, mark);
        }
        assert_true(later > 20);
        assert_int_equal(least, patience);
    }
}

/* ---- PCT ---- */

/* No more change points than steps; as many as there may be, wherever they are; in order. */
static void pct_change_points(void **state)
{
    (void)state;
    struct mock_program *mock = mock_new(&test_arena, 3, 1);
    for (uint32_t a = 0; a < 3; a++)
        mock_add(mock, a, MOCK_NOP, 0, 0);
    struct machine *machine = machine_of(mock);
    for (uint32_t depth = 1; depth <= 5; depth++)
        for (uint64_t length = 0; length <= 9; length++)
            for (uint64_t index = 0; index < 8; index++) {
                const uint64_t lengths[] = {1, 2, 3, 4, 5, 9, UINT32_MAX, 1ull << 40, 0, 256};
                const struct sched_spec spec = {.kind = SCHED_PCT,
                                                .index = index,
                                                .depth = depth,
                                                .length_estimate = lengths[length]};
                struct scheduler s, other;
                uint64_t k = lengths[length] ? lengths[length] : 256;
                sched_start(&s, &spec, machine, &test_arena);
                assert_int_equal(s.change_count, depth - 1 < k ? depth - 1 : k);
                uint32_t drawn = 0;
                for (uint32_t i = 0; i < s.change_count; i++) {
                    uint64_t point = s.change_points[i] >> 3;
                    assert_true(point >= 1 && point <= k);
                    assert_true(i == 0 || point > s.change_points[i - 1] >> 3);
                    drawn |= 1u << (s.change_points[i] & 7);
                }
                assert_int_equal(drawn, (2u << s.change_count) - 2); /* priorities 1, 2, .. */
                uint32_t priorities = 0;
                for (uint32_t a = 0; a < 3; a++)
                    priorities |= 1u << s.priority[a];
                assert_int_equal(priorities, 7u << depth);
                if (length != 7 && length != 8)
                    continue;
                struct sched_spec same = spec; /* what does not fit; what is not known */
                same.length_estimate = length == 7 ? UINT32_MAX : 256;
                sched_start(&other, &same, machine, &test_arena);
                assert_memory_equal(s.change_points, other.change_points, sizeof s.change_points);
            }
}

/* ---- stopping ---- */

static volatile sig_atomic_t stopped;
static uint64_t steps_left, steps_after;

static enum rule counted(enum rule rule)
{
    steps_after += stopped != 0;
    if (steps_left > 0 && --steps_left == 0)
        stopped = 1;
    return rule;
}

static enum rule counted_step(struct machine *m, uint32_t actor, struct choices *choices)
{
    return counted(mock_step(m, actor, choices));
}

static struct semantics counting(void)
{
    struct semantics semantics = mock_semantics;
    for (size_t i = 0; i < sizeof semantics.step / sizeof *semantics.step; i++)
        semantics.step[i] = counted_step;
    return semantics;
}

static struct mock_program *waiting_program(void)
{
    struct mock_program *mock = mock_new(&test_arena, 4, 2);
    for (uint32_t a = 0; a < 4; a++)
        for (uint32_t i = 0; i < 3; i++)
            mock_add(mock, a, MOCK_SET, (a + i) % 2, (int32_t)(a + i));
    mock_add(mock, 0, MOCK_UNTIL, 0, 9);
    mock_add(mock, 1, MOCK_UNTIL, 1, 3);
    return mock;
}

/* A search is told to stop at any of its steps, and ends there. */
static void searches_stop(void **state)
{
    (void)state;
    const struct semantics semantics = counting();
    struct mock_program *mock = waiting_program();
    struct machine *machine = search_machine(&test_arena, &semantics, &mock->program, false);
    struct search_options options = SEARCH_DEFAULTS;
    options.method = SEARCH_STATES;
    options.stop = &stopped;
    stopped = 0;
    steps_left = 0;
    uint64_t whole = search_run(&test_arena, machine, &options)->steps;
    assert_true(whole > 300);
    for (uint64_t n = 1; n < whole; n += 1 + n / 4) {
        size_t mark = arena_mark(&test_arena);
        stopped = 0;
        steps_left = n;
        steps_after = 0;
        const struct search_result *result = search_run(&test_arena, machine, &options);
        assert_false(result->complete);
        assert_string_equal(result->cut, "interrupted");
        assert_true(result->steps <= n);
        assert_int_equal(result->liveness == LIVENESS_ALL_TERMINATE, false);
        arena_release(&test_arena, mark);
    }
}

/* Samples, too, and what makes a witness shorter: after that, one more trial at most. */
static void samples_stop(void **state)
{
    (void)state;
    static const uint32_t unit_of[] = {0, 1, 2, 3};
    const struct fair_units units = {unit_of, 4};
    const struct semantics semantics = counting();
    struct mock_program *mock = waiting_program();
    struct machine *machine = search_machine(&test_arena, &semantics, &mock->program, false);
    uint32_t stops = 0, finds = 0;
    uint64_t most = 0;
    for (uint64_t n = 1; n < 40000; n += 1 + n / 6) {
        size_t mark = arena_mark(&test_arena);
        const struct fair_options options = {.seed = n, .budget_steps = 30000, .stop = &stopped};
        stopped = 0;
        steps_left = n;
        steps_after = 0;
        struct fair_result result = fair_lasso_search(&test_arena, machine, &units,
                                                      (1u << PROGRESS_MODEL_COUNT) - 1, &options);
        uint64_t after = steps_after;
        bool open = false;
        for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
            const struct fair_answer *a = &result.answers[m];
            open |= !a->found;
            finds += a->found;
            if (a->found)
                assert_true(fair_lasso_is(&test_arena, machine, &units, (enum progress_model)m,
                                          a->stem, a->loop));
        }
        assert_int_equal(result.stopped != NULL, stopped && open);
        stops += result.stopped != NULL;
        most = after > most ? after : most;
        arena_release(&test_arena, mark);
    }
    assert_true(most < 12000);
    assert_true(stops > 5 && finds > 50);
}

/* ---- actors ---- */

/* Whose thread it is, counted: of machines of threads, of warps, of which the last of a block may be short, of
 * blocks. */
static void actors_of_threads(void **state)
{
    (void)state;
    for (uint32_t blocks = 1; blocks <= 4; blocks++)
        for (uint32_t threads = 1; threads <= 12; threads++)
            for (uint32_t warp = 1; warp <= 8; warp++) {
                struct program program = {
                    .launch = {.threads = threads, .warp = warp, .blocks = blocks},
                    .total_threads = blocks * threads,
                    .warps_per_block = (threads + warp - 1) / warp};
                struct machine machine = {.program = &program};
                uint32_t warps = 0;
                for (uint32_t block = 0, t = 0; block < blocks; block++)
                    for (uint32_t i = 0; i < threads; i++, t++) {
                        warps += i % warp == 0;
                        machine.actor_count = blocks * threads;
                        assert_int_equal(actor_of(&machine, t), t);
                        machine.actor_count = blocks;
                        if (threads > 1)
                            assert_int_equal(actor_of(&machine, t), block);
                        machine.actor_count = blocks * program.warps_per_block;
                        if (program.warps_per_block > 1)
                            assert_int_equal(actor_of(&machine, t), warps - 1);
                    }
            }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(surw_counts_that_do_not_fit), TEST(surw_draws_by_counts), TEST(surw_patience),
        TEST(pct_change_points),           TEST(searches_stop),        TEST(samples_stop),
        TEST(actors_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
