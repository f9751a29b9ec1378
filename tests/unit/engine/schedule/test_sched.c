/* Schedulers: order, fairness, distributions, replay, names, the portfolio. */
#include "engine/schedule/sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/shared/mock.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    return arena_init(&arena, 64 << 20);
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static struct machine *machine_of(const struct mock_program *mock)
{
    const struct machine_options options = {0};
    return machine_new(&arena, &mock_semantics, &mock->program, &options);
}

/* n actors of `steps` private steps each. */
static struct machine *idlers(uint32_t n, uint32_t steps)
{
    struct mock_program *mock = mock_new(&arena, n, 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < steps; j++)
            mock_add(mock, i, MOCK_NOP, 0, 0);
    return machine_of(mock);
}

static const char *run_text(struct machine *machine, const struct sched_spec *spec, uint64_t budget)
{
    struct scheduler scheduler;
    struct tape *tape = tape_new(&arena, 4096);
    sched_start(&scheduler, spec, machine, &arena);
    machine_run(machine, &scheduler.choices, budget, tape);
    return tape_print(&arena, tape);
}

static void fixed_orders(void **state)
{
    (void)state;
    static const struct {
        struct sched_spec spec;
        const char *tape;
    } rows[] = {
        {{.kind = SCHED_SEQUENTIAL}, "0*3 1*3 2*3"},
        {{.kind = SCHED_REVERSE}, "2*3 1*3 0*3"},
        {{.kind = SCHED_ROUND_ROBIN}, "0 1 2 0 1 2 0 1 2"},
        {{.kind = SCHED_ROUND_ROBIN, .quantum = 2}, "0*2 1*2 2*2 0 1 2"},
        {{.kind = SCHED_ROUND_ROBIN, .quantum = 5}, "0*3 1*3 2*3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(run_text(idlers(3, 3), &rows[i].spec, 100), rows[i].tape);
}

/* Every kind: the run ends, takes as many steps as there are, and is a function of its spec. */
static void all_kinds_terminate_and_repeat(void **state)
{
    (void)state;
    static const uint8_t selected[] = {1};
    static const uint32_t counts[] = {5, 5, 5, 5, 5};
    struct tape *tape = tape_new(&arena, 4);
    tape_add(tape, 2);
    for (int k = 0; k < SCHED_KIND_COUNT; k++) {
        struct sched_spec spec = {.kind = (enum sched_kind)k,
                                  .seed = 3,
                                  .index = 9,
                                  .depth = 3,
                                  .victim = 1,
                                  .prefix = 7,
                                  .selected = selected,
                                  .selected_counts = counts,
                                  .tape = tape};
        if (spec.kind == SCHED_STACKLESS) /* of threads in warps: test_stackless */
            continue;
        struct machine *machine = idlers(5, 5);
        const char *first = run_text(machine, &spec, 1000);
        assert_int_equal(machine_status(machine), STATUS_TERMINATED);
        assert_int_equal(machine->steps, 25);
        assert_string_equal(run_text(idlers(5, 5), &spec, 1000), first);
    }
}

static void budget_is_exact(void **state)
{
    (void)state;
    struct machine *machine = idlers(3, 3);
    struct scheduler scheduler;
    const struct sched_spec spec = {.kind = SCHED_UNIFORM};
    sched_start(&scheduler, &spec, machine, &arena);
    assert_int_equal(machine_run(machine, &scheduler.choices, 8, NULL), STATUS_STEP_LIMIT);
    assert_int_equal(machine->steps, 8);
    assert_int_equal(machine_run(machine, &scheduler.choices, 1, NULL), STATUS_TERMINATED);
    assert_int_equal(machine_run(machine, &scheduler.choices, 0, NULL), STATUS_TERMINATED);
}

/* The recorded run and the fast loops make the same choices. */
static void recording_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t index = 0; index < 40; index++) {
        struct sched_spec spec = sched_portfolio(1, index, 3, 0);
        int32_t finals[2];
        for (int record = 0; record < 2; record++) {
            struct mock_program *mock = mock_new(&arena, 3, 1);
            for (uint32_t i = 0; i < 3; i++)
                for (int32_t j = 0; j < 4; j++) {
                    mock_add(mock, i, MOCK_READ, 0, 0);
                    mock_add(mock, i, MOCK_WRITE, 0, (int32_t)i * 16 + j);
                }
            struct machine *machine = machine_of(mock);
            struct scheduler scheduler;
            sched_start(&scheduler, &spec, machine, &arena);
            machine_run(machine, &scheduler.choices, 100, record ? tape_new(&arena, 100) : NULL);
            finals[record] = machine->memory[0];
        }
        assert_int_equal(finals[0], finals[1]);
    }
}

static void starves_the_victim(void **state)
{
    (void)state;
    for (uint32_t victim = 0; victim < 4; victim++) {
        const struct sched_spec spec = {.kind = SCHED_STARVE, .victim = victim, .index = victim};
        const char *text = run_text(idlers(4, 6), &spec, 100);
        const char *tail = arena_printf(&arena, " %u*6", victim);
        assert_string_equal(text + strlen(text) - strlen(tail), tail);
        assert_null(strstr(arena_printf(&arena, " %.*s", (int)(strlen(text) - strlen(tail)), text),
                           arena_printf(&arena, " %u", victim)));
    }
}

/* After the prefix everybody steps once in any `live` consecutive picks. */
static void unfair_prefix_then_fair(void **state)
{
    (void)state;
    for (uint64_t index = 0; index < 50; index++) {
        const struct sched_spec spec = {.kind = SCHED_UNFAIR_FAIR, .prefix = 20, .index = index};
        struct mock_program *mock = mock_new(&arena, 4, 1);
        for (uint32_t i = 0; i < 4; i++)
            mock_add(mock, i, MOCK_FOREVER, 0, 0);
        struct machine *machine = machine_of(mock);
        struct scheduler scheduler;
        struct tape *tape = tape_new(&arena, 64);
        sched_start(&scheduler, &spec, machine, &arena);
        assert_int_equal(machine_run(machine, &scheduler.choices, 60, tape), STATUS_STEP_LIMIT);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < 20; i++)
            seen |= 1u << tape->entries[i];
        assert_true(seen != 0xf);
        for (uint32_t i = 20; i + 4 <= 60; i++) {
            seen = 0;
            for (uint32_t j = i; j < i + 4; j++)
                seen |= 1u << tape->entries[j];
            assert_int_equal(seen, 0xf);
        }
    }
}

/* Depth 1 never preempts; depth d preempts at most d - 1 times. */
static void pct_preempts_at_change_points(void **state)
{
    (void)state;
    for (uint32_t depth = 1; depth <= 5; depth++) {
        uint32_t most = 0;
        for (uint64_t index = 0; index < 300; index++) {
            const struct sched_spec spec = {
                .kind = SCHED_PCT, .depth = depth, .index = index, .length_estimate = 24};
            struct machine *machine = idlers(4, 6);
            struct scheduler scheduler;
            struct tape *tape = tape_new(&arena, 32);
            sched_start(&scheduler, &spec, machine, &arena);
            assert_int_equal(scheduler.change_count, depth - 1);
            machine_run(machine, &scheduler.choices, 100, tape);
            uint32_t switches = tape_context_switches(tape);
            assert_in_range(switches, 3, 3 + depth - 1);
            most = switches > most ? switches : most;
        }
        assert_int_equal(most, 3 + depth - 1);
    }
}

/* Actor 0 reads x and writes it back; actor 1 writes it between, and nowhere else among 30 other
 * steps: depth 3 finds it at least as often as the bound says. */
/* As many points as there are steps: every step is one, whatever is drawn. */
static void pct_change_points_are_distinct(void **state)
{
    (void)state;
    struct mock_program *mock = mock_new(&arena, 2, 1);
    mock_add(mock, 0, MOCK_NOP, 0, 0);
    struct machine *machine = machine_of(mock);
    for (uint64_t index = 0; index < 20; index++) {
        const struct sched_spec spec = {
            .kind = SCHED_PCT, .index = index, .depth = 5, .length_estimate = 4};
        struct scheduler scheduler;
        sched_start(&scheduler, &spec, machine, &arena);
        assert_int_equal(scheduler.change_count, 4);
        for (uint64_t i = 0; i < 4; i++)
            assert_true(scheduler.change_points[i] >> 3 == i + 1);
    }
}

static void pct_keeps_its_promise(void **state)
{
    (void)state;
    struct mock_program *mock = mock_new(&arena, 2, 3);
    for (uint32_t i = 0; i < 14; i++) {
        mock_add(mock, 0, MOCK_NOP, 0, 0);
        mock_add(mock, 1, MOCK_NOP, 0, 0);
    }
    mock_add(mock, 0, MOCK_READ, 0, 0);
    mock_add(mock, 0, MOCK_WRITE, 1, 0);
    mock_add(mock, 1, MOCK_SET, 0, 1); /* the bug: read of 0 happens before, write of it after */
    mock_add(mock, 1, MOCK_READ, 1, 0);
    struct machine *machine = machine_of(mock);
    uint32_t hits = 0, runs = 4000;
    for (uint64_t index = 0; index < runs; index++) {
        size_t mark = arena_mark(&arena);
        const struct sched_spec spec = {
            .kind = SCHED_PCT, .depth = 3, .index = index, .length_estimate = 32};
        struct scheduler scheduler;
        struct tape *tape = tape_new(&arena, 64);
        machine_reset(machine);
        sched_start(&scheduler, &spec, machine, &arena);
        machine_run(machine, &scheduler.choices, 100, tape);
        uint32_t position[2][16], count[2] = {0, 0};
        for (uint32_t i = 0; i < tape->count; i++)
            position[tape->entries[i]][count[tape->entries[i]]++] = i;
        hits += position[0][14] < position[1][14] && position[1][14] < position[0][15];
        arena_release(&arena, mark);
    }
    assert_true((double)hits / runs >= sched_pct_bound(2, 32, 3));
}

/* Two actors that each write one word once, one of them after many private steps: partial-order
 * sampling gives both orders the same chance, a uniform walk does not. */
static uint32_t late_first(enum sched_kind kind, uint32_t runs)
{
    static const uint8_t selected[] = {0, 1};
    static const uint32_t counts[] = {1, 1};
    struct mock_program *mock = mock_new(&arena, 2, 1);
    mock_add(mock, 0, MOCK_SET, 0, 1);
    for (int i = 0; i < 12; i++)
        mock_add(mock, 1, MOCK_NOP, 0, 0);
    mock_add(mock, 1, MOCK_SET, 0, 2);
    struct machine *machine = machine_of(mock);
    uint32_t hits = 0;
    for (uint64_t index = 0; index < runs; index++) {
        size_t mark = arena_mark(&arena);
        const struct sched_spec spec = {
            .kind = kind, .index = index, .selected = selected, .selected_counts = counts};
        struct scheduler scheduler;
        machine_reset(machine);
        sched_start(&scheduler, &spec, machine, &arena);
        machine_run(machine, &scheduler.choices, 100, NULL);
        hits += machine->memory[0] == 1;
        arena_release(&arena, mark);
    }
    return hits;
}

static void surw_is_uniform_over_selected_orders(void **state)
{
    (void)state;
    assert_in_range(late_first(SCHED_SURW, 4000), 1850, 2150);
    assert_in_range(late_first(SCHED_UNIFORM, 4000), 0, 100);
}

/* All 20 orders of 3 + 3 selected steps, each about as often, whatever stands between them. */
static void surw_counts_orders(void **state)
{
    (void)state;
    static const uint8_t selected[] = {0, 1};
    static const uint32_t counts[] = {3, 3};
    struct mock_program *mock = mock_new(&arena, 2, 1);
    for (uint32_t i = 0; i < 3; i++)
        mock_add(mock, 0, MOCK_READ, 0, 0);
    for (uint32_t i = 0; i < 9; i++)
        mock_add(mock, 1, i % 3 == 1 ? MOCK_READ : MOCK_NOP, 0, 0);
    struct machine *machine = machine_of(mock);
    uint32_t seen[64] = {0}, distinct = 0;
    for (uint64_t index = 0; index < 8000; index++) {
        size_t mark = arena_mark(&arena);
        const struct sched_spec spec = {
            .kind = SCHED_SURW, .index = index, .selected = selected, .selected_counts = counts};
        struct scheduler scheduler;
        struct tape *tape = tape_new(&arena, 32);
        machine_reset(machine);
        sched_start(&scheduler, &spec, machine, &arena);
        machine_run(machine, &scheduler.choices, 100, tape);
        uint32_t order = 0, ones = 0;
        for (uint32_t i = 0; i < tape->count; i++)
            if (tape->entries[i] == 0)
                order <<= 1;
            else if (ones++ % 3 == 1)
                order = order << 1 | 1;
        seen[order]++;
        arena_release(&arena, mark);
    }
    for (uint32_t i = 0; i < 64; i++) {
        distinct += seen[i] > 0;
        if (seen[i] > 0)
            assert_in_range(seen[i], 320, 480); /* 400 +- 4 standard deviations */
    }
    assert_int_equal(distinct, 20);
}

/* Who waits for ever for a selected step of its own does not hold up the others for ever. */
static void surw_gives_up_on_spinners(void **state)
{
    (void)state;
    static const uint8_t selected[] = {0, 1};
    static const uint32_t counts[] = {1000, 1};
    struct mock_program *mock = mock_new(&arena, 2, 1);
    mock_add(mock, 0, MOCK_FOREVER, 0, 0);
    mock_add(mock, 1, MOCK_SET, 0, 5);
    struct machine *machine = machine_of(mock);
    const struct sched_spec spec = {
        .kind = SCHED_SURW, .selected = selected, .selected_counts = counts};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &arena);
    machine_run(machine, &scheduler.choices, 10000000, NULL);
    assert_int_equal(machine->memory[0], 5);
}

/* Two conflicting pairs: POS draws anew after each conflict, so all four combinations are likely. */
static void pos_mixes_orders(void **state)
{
    (void)state;
    struct mock_program *mock = mock_new(&arena, 2, 2);
    for (uint32_t actor = 0; actor < 2; actor++)
        for (uint32_t word = 0; word < 2; word++)
            mock_add(mock, actor, MOCK_SET, word, (int32_t)actor);
    struct machine *machine = machine_of(mock);
    uint32_t seen[4] = {0};
    for (uint64_t index = 0; index < 4000; index++) {
        size_t mark = arena_mark(&arena);
        const struct sched_spec spec = {.kind = SCHED_POS, .index = index};
        struct scheduler scheduler;
        machine_reset(machine);
        sched_start(&scheduler, &spec, machine, &arena);
        machine_run(machine, &scheduler.choices, 100, NULL);
        seen[machine->memory[0] * 2 + machine->memory[1]]++;
        arena_release(&arena, mark);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(seen[i], 500, 2000);
}

static struct mock_program *choosers(void)
{
    struct mock_program *mock = mock_new(&arena, 3, 4);
    for (uint32_t i = 0; i < 3; i++) {
        mock_add(mock, i, MOCK_READ, 3, 0);
        mock_add(mock, i, MOCK_CHOOSE, i, 5);
        mock_add(mock, i, MOCK_WRITE, 3, 1 + (int32_t)i);
    }
    return mock;
}

/* A recorded tape gives the same bytes, under whatever scheduler it was recorded. */
/* How often, of the runs in which actor 0 goes first, actor 1 goes before actor 2, in thousandths. */
static uint32_t second_after_first(enum sched_kind kind, enum mock_kind second)
{
    struct mock_program *mock = mock_new(&arena, 3, 1);
    mock_add(mock, 0, MOCK_SET, 0, 1);
    mock_add(mock, 1, second, 0, 0);
    mock_add(mock, 2, MOCK_NOP, 0, 0);
    struct machine *machine = machine_of(mock);
    uint32_t first = 0, hits = 0;
    for (uint64_t index = 0; index < 6000; index++) {
        size_t mark = arena_mark(&arena);
        const struct sched_spec spec = {.kind = kind, .index = index};
        struct scheduler scheduler;
        struct tape *tape = tape_new(&arena, 8);
        machine_reset(machine);
        sched_start(&scheduler, &spec, machine, &arena);
        machine_run(machine, &scheduler.choices, 100, tape);
        assert_int_equal(tape->count, 3);
        first += tape->entries[0] == 0;
        hits += tape->entries[0] == 0 && tape->entries[1] == 1;
        arena_release(&arena, mark);
    }
    assert_in_range(first, 1850, 2150);
    return hits * 1000 / first;
}

/* What was written is read by a step that draws anew: it is ahead of one that lost the first draw. */
static void pos_draws_anew_behind_a_race(void **state)
{
    (void)state;
    assert_in_range(second_after_first(SCHED_POS, MOCK_READ), 590, 660); /* 5/8 */
    assert_in_range(second_after_first(SCHED_POS, MOCK_NOP), 465, 535);
    assert_in_range(second_after_first(SCHED_UNIFORM, MOCK_READ), 465, 535);
}

static void tapes_replay(void **state)
{
    (void)state;
    for (uint64_t index = 0; index < 60; index++) {
        struct sched_spec spec = sched_portfolio(5, index, 3, 0);
        struct machine *machine = machine_of(choosers()), *again = machine_of(choosers());
        struct scheduler scheduler;
        struct tape *tape = tape_new(&arena, 100);
        sched_start(&scheduler, &spec, machine, &arena);
        machine_run(machine, &scheduler.choices, 100, tape);
        const struct sched_spec replay = {.kind = SCHED_TAPE, .tape = tape};
        sched_start(&scheduler, &replay, again, &arena);
        machine_run(again, &scheduler.choices, 100, NULL);
        assert_int_equal(scheduler.drifts, 0);
        assert_int_equal(scheduler.beyond, 0);
        assert_int_equal(scheduler.first_drift, tape->count);
        assert_memory_equal(machine->block, again->block, 4 * machine->block_words);
    }
}

static void tapes_drift(void **state)
{
    (void)state;
    static const struct {
        const char *tape, *ran;
        uint64_t drifts, first, beyond;
    } rows[] = {
        {"0*3 7 1", "0*3 1*3 2*3", 1, 3, 4},  /* nobody has number 7: the lowest live runs */
        {"1*4", "1*3 0*3 2*3", 1, 3, 5},      /* 1 is final */
        {"0 !3 0 0", "0*3 1*3 2*3", 1, 1, 6}, /* no choice inside a private step */
        {"", "0*3 1*3 2*3", 0, 0, 9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t column;
        struct tape *tape = tape_parse(&arena, rows[i].tape, &column);
        struct machine *machine = idlers(3, 3);
        struct scheduler scheduler;
        struct tape *ran = tape_new(&arena, 64);
        const struct sched_spec spec = {.kind = SCHED_TAPE, .tape = tape};
        sched_start(&scheduler, &spec, machine, &arena);
        machine_run(machine, &scheduler.choices, 100, ran);
        assert_string_equal(tape_print(&arena, ran), rows[i].ran);
        assert_int_equal(scheduler.drifts, rows[i].drifts);
        assert_int_equal(scheduler.first_drift, rows[i].first);
        assert_int_equal(scheduler.beyond, rows[i].beyond);
    }
}

/* An inner choice that is missing, or too large, drifts and is 0. */
static void tapes_drift_inside(void **state)
{
    (void)state;
    static const struct {
        const char *tape;
        uint64_t drifts, first;
        int32_t chosen;
    } rows[] = {{"0 0 !4 0", 0, 4, 4}, {"0 0 0", 1, 2, 0}, {"0 0 !5 0", 1, 2, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t column;
        struct machine *machine = machine_of(choosers());
        struct scheduler scheduler;
        const struct sched_spec spec = {.kind = SCHED_TAPE,
                                        .tape = tape_parse(&arena, rows[i].tape, &column)};
        sched_start(&scheduler, &spec, machine, &arena);
        machine_run(machine, &scheduler.choices, 3, NULL);
        assert_int_equal(scheduler.drifts, rows[i].drifts);
        assert_int_equal(scheduler.first_drift, rows[i].first);
        assert_int_equal(machine->memory[0], rows[i].chosen);
    }
}

static void names(void **state)
{
    (void)state;
    static const char *const same[] = {"uniform",  "pct:3",      "pct:5",     "pos",
                                       "surw",     "rr",         "rr:4",      "reverse",
                                       "starve:2", "unfair:100", "sequential"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        struct sched_spec spec = {0};
        assert_true(sched_parse(same[i], &spec));
        assert_string_equal(sched_name(&arena, &spec), same[i]);
    }
    struct sched_spec spec = {.kind = SCHED_POS};
    static const char *const wrong[] = {"",     "unifor", "pct:0",    "pct:6",
                                        "pct:", "pct:3x", "rr:0",     "pos:1",
                                        "tape", "tape:",  "uniform:", "starve:-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(sched_parse(wrong[i], &spec));
        assert_int_equal(spec.kind, SCHED_POS);
    }
    assert_true(sched_parse("tape:x", &spec));
    assert_int_equal(spec.kind, SCHED_TAPE);
}

static void portfolio(void **state)
{
    (void)state;
    uint32_t kinds = 0, victims = 0, depths = 0;
    for (uint64_t index = 0; index < 100; index++) {
        struct sched_spec spec = sched_portfolio(1, index, 3, index % 2 == 0 ? PORTFOLIO_SURW : 0);
        kinds |= 1u << spec.kind;
        if (spec.kind == SCHED_STARVE)
            victims |= 1u << spec.victim;
        if (spec.kind == SCHED_PCT)
            depths |= 1u << spec.depth;
        assert_true(spec.kind != SCHED_SURW || index % 2 == 0);
    }
    assert_int_equal(kinds,
                     (1u << SCHED_KIND_COUNT) - 1 - (1u << SCHED_TAPE) - (1u << SCHED_STACKLESS));
    assert_int_equal(victims, 7);
    assert_int_equal(depths, 0x3e);
    assert_int_equal(sched_portfolio(1, 0, 3, PORTFOLIO_SURW).kind, SCHED_SEQUENTIAL);
}

/* Threads: two in each cycle of eleven are warps without a stack, under any policy; the others stay. */
static void portfolio_of_threads(void **state)
{
    (void)state;
    uint32_t policies = 0, literal = 0, then_first = 0, fair = 0, count = 0;
    for (uint64_t index = 0; index < 4 + 11 * 60; index++) {
        struct sched_spec spec = sched_portfolio(1, index, 3, PORTFOLIO_STACKLESS);
        struct sched_spec other = sched_portfolio(1, index, 3, 0);
        if (spec.kind != SCHED_STACKLESS) {
            assert_int_equal(spec.kind, other.kind);
            continue;
        }
        count++;
        policies |= 1u << spec.stackless.policy;
        literal += spec.stackless.literal;
        then_first += spec.stackless.then_first;
        fair += sched_is_fair(&spec);
        assert_true(stackless_subdivides(spec.stackless.policy) || !spec.stackless.then_first);
    }
    assert_int_equal(count, 120);
    assert_int_equal(policies, (1u << STACKLESS_POLICY_COUNT) - 1);
    assert_in_range(literal, 1, 60);
    assert_in_range(then_first, 1, 60);
    assert_in_range(fair, 20, 80);
    assert_int_not_equal(sched_portfolio(1, 7, 3, PORTFOLIO_STACKLESS).stackless.policy,
                         sched_portfolio(2, 7, 3, PORTFOLIO_STACKLESS).stackless.policy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fixed_orders),
        TEST(all_kinds_terminate_and_repeat),
        TEST(budget_is_exact),
        TEST(recording_changes_nothing),
        TEST(starves_the_victim),
        TEST(unfair_prefix_then_fair),
        TEST(pct_preempts_at_change_points),
        TEST(pct_change_points_are_distinct),
        TEST(pct_keeps_its_promise),
        TEST(surw_is_uniform_over_selected_orders),
        TEST(surw_counts_orders),
        TEST(surw_gives_up_on_spinners),
        TEST(pos_mixes_orders),
        TEST(pos_draws_anew_behind_a_race),
        TEST(tapes_replay),
        TEST(tapes_drift),
        TEST(tapes_drift_inside),
        TEST(names),
        TEST(portfolio),
        TEST(portfolio_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
