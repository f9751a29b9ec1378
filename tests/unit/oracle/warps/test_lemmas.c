/* Lemmas 1 to 5: helper functions, predicates on configurations made by hand, erratum A-4. */
#include "tests/unit/shared/support.h"

#include "engine/warps/threads.h"
#include "oracle/warps/lemmas.h"
#include "oracle/warps/projection.h"
#include "oracle/warps/simulation.h"

/* SIMT.awaits: all entries of the truth table, and e [EXT], which awaits nothing. */
static void test_awaits(void **state)
{
    (void)state;
    static const struct {
        char delta;
        bool div, sync, brk, call;
    } table[] = {{'0', true, true, true, true},
                 {'b', false, false, true, false},
                 {'r', false, false, false, true},
                 {'e', false, false, false, false}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(simt_awaits(table[i].delta, ENTRY_DIV), table[i].div);
        assert_int_equal(simt_awaits(table[i].delta, ENTRY_SYNC), table[i].sync);
        assert_int_equal(simt_awaits(table[i].delta, ENTRY_BRK), table[i].brk);
        assert_int_equal(simt_awaits(table[i].delta, ENTRY_CALL), table[i].call);
    }
}

/* SIMT.enable: lanes outside the mask are untouched, the result lies in it. */
static void test_enable(void **state)
{
    (void)state;
    static const enum entry_kind tokens[] = {ENTRY_DIV, ENTRY_SYNC, ENTRY_BRK, ENTRY_CALL};
    for (uint32_t deltas = 0; deltas < 256; deltas++)
        for (uint32_t mask = 0; mask < 16; mask++)
            for (uint32_t t = 0; t < 4; t++) {
                struct warp_state warp = {.lanes = 4};
                for (uint32_t lane = 0; lane < 4; lane++) {
                    lane_mask bit = (lane_mask)1 << lane;
                    switch ((deltas >> (2 * lane)) & 3) {
                    case 1:
                        warp.delta_b |= bit;
                        break;
                    case 2:
                        warp.delta_r |= bit;
                        break;
                    case 3:
                        warp.delta_e |= bit;
                        break;
                    default:
                        break;
                    }
                }
                struct lemma_enabled after = lemma_enable(&warp, tokens[t], mask);
                for (uint32_t lane = 0; lane < 4; lane++) {
                    char delta = simt_disable_state(&warp, lane);
                    bool in = (mask >> lane) & 1;
                    bool zero = delta == '0' || (in && simt_awaits(delta, tokens[t]));
                    bool b = (after.b >> lane) & 1, r = (after.r >> lane) & 1;
                    assert_int_equal(!(b || r || ((after.e >> lane) & 1)), zero);
                    assert_int_equal((after.theta >> lane) & 1, in && zero);
                }
            }
}

/* Configurations that break one lemma each; the first is sound. Entries from the bottom. */
static const struct broken {
    const char *what;
    enum lemma lemma;
    lane_mask theta, b, r, e;
    uint32_t depth;
    enum entry_kind kinds[6];
    lane_mask masks[6];
} broken[] = {
    {"sound",
     LEMMA_NONE,
     2,
     4,
     8,
     0,
     6,
     {ENTRY_CALL, ENTRY_BRK, ENTRY_CONT, ENTRY_SYNC, ENTRY_STM, ENTRY_DIV},
     {15, 7, 0, 3, 0, 1}},
    {"no statement below div",
     LEMMA_1_1,
     2,
     0,
     0,
     0,
     3,
     {ENTRY_CALL, ENTRY_SYNC, ENTRY_DIV},
     {15, 15, 1}},
    {"no sync below div", LEMMA_1_1, 2, 0, 0, 0, 3, {ENTRY_CALL, ENTRY_STM, ENTRY_DIV}, {15, 0, 1}},
    {"div mask outside sync's",
     LEMMA_1_1,
     2,
     0,
     0,
     0,
     4,
     {ENTRY_CALL, ENTRY_SYNC, ENTRY_STM, ENTRY_DIV},
     {15, 3, 0, 4}},
    {"loop without brk", LEMMA_1_2, 2, 0, 0, 0, 2, {ENTRY_CALL, ENTRY_CONT}, {15, 0}},
    {"statement between loop and brk",
     LEMMA_1_2,
     2,
     0,
     0,
     0,
     4,
     {ENTRY_CALL, ENTRY_BRK, ENTRY_STM, ENTRY_CONT},
     {15, 15, 0, 0}},
    {"masks grow upwards",
     LEMMA_1_3,
     2,
     0,
     0,
     0,
     3,
     {ENTRY_CALL, ENTRY_BRK, ENTRY_CALL},
     {15, 3, 7}},
    {"active lane in a div mask",
     LEMMA_1_4,
     3,
     0,
     0,
     0,
     4,
     {ENTRY_CALL, ENTRY_SYNC, ENTRY_STM, ENTRY_DIV},
     {15, 3, 0, 1}},
    {"active lane outside a token", LEMMA_1_4, 6, 0, 0, 0, 2, {ENTRY_CALL, ENTRY_BRK}, {15, 3}},
    {"active lane disabled", LEMMA_INV0, 2, 2, 0, 0, 1, {ENTRY_CALL}, {15}},
    {"active lane has exited", LEMMA_INV0, 2, 0, 0, 2, 1, {ENTRY_CALL}, {15}},
};

static void test_predicates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const struct broken *x = &broken[i];
        stack_entry stack[6];
        for (uint32_t k = 0; k < x->depth; k++)
            stack[k] = entry_make(x->kinds[k], 0);
        struct warp_state warp = {.theta = x->theta,
                                  .delta_b = x->b,
                                  .delta_r = x->r,
                                  .delta_e = x->e,
                                  .depth = x->depth,
                                  .stack = stack,
                                  .masks = x->masks,
                                  .lanes = 4};
        enum lemma lemma = lemmas_state(&warp);
        if (lemma != x->lemma)
            print_error("%s: %s\n", x->what, lemma_table[lemma].name);
        assert_int_equal(lemma, x->lemma);
    }
}

static void test_step_counts(void **state)
{
    (void)state;
    assert_int_equal(lemmas_step_count(RULE_SIMT_ASSIGN, 4, 2, true), LEMMA_NONE);
    assert_int_equal(lemmas_step_count(RULE_SIMT_ASSIGN, 0, 0, false), LEMMA_4);
    assert_int_equal(lemmas_step_count(RULE_SIMT_WHILE_CONT, 4, 2, false), LEMMA_NONE);
    assert_int_equal(lemmas_step_count(RULE_SIMT_WHILE_CONT, 4, 2, true), LEMMA_5);
    assert_int_equal(lemmas_step_count(RULE_SIMT_WHILE_CONT, 9, 3, false), LEMMA_5);
    assert_int_equal(lemmas_step_count(RULE_SIMT_WHILE, 4, 2, false), LEMMA_5);
    assert_int_equal(lemmas_step_count(RULE_SIMT_TOKEN, 0, 0, true), LEMMA_NONE);
}

static void test_token_transition(void **state)
{
    (void)state;
    stack_entry stack[] = {entry_make(ENTRY_BRK, 0)};
    lane_mask masks[] = {7};
    struct warp_state warp = {.theta = 1,
                              .delta_b = 2,
                              .delta_r = 4,
                              .depth = 1,
                              .stack = stack,
                              .masks = masks,
                              .lanes = 4};
    struct lemma_before before = lemmas_before(&warp);
    struct warp_state after = warp;
    after.theta = 3;
    after.delta_b = 0;
    assert_int_equal(lemmas_token(&before, &after), LEMMA_NONE);
    after.theta = 7; /* the lane that returned must not come back */
    assert_int_equal(lemmas_token(&before, &after), LEMMA_ENABLE);
    after.theta = 3;
    after.delta_r = 0;
    assert_int_equal(lemmas_token(&before, &after), LEMMA_ENABLE);
}

/* Lemma 3 literally: over each transition of the kernel, every inactive lane keeps its projection. */
static void test_lemma_3_literally(void **state)
{
    (void)state;
    struct program *program = support_program(
        "shared int x; void f() { if (tid & 1) return; else x = tid; }"
        "kernel k() { private int i = 0; while (i < 4) { i++; if (i > tid) break; else f(); } }");
    struct machine *warps = support_machine(program, SUBJECT_SIMT);
    struct sched_spec spec = {.kind = SCHED_UNIFORM};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, warps, &test_arena);
    uint32_t compared = 0;
    while (machine_status(warps) == STATUS_RUNNING) {
        stack_entry before[4][64], after[64];
        uint32_t depth[4];
        struct warp_state warp = simt_state(warps, 0);
        for (uint32_t lane = 0; lane < 4; lane++)
            depth[lane] = projection_lane(&warp, lane, before[lane]);
        lane_mask theta = warp.theta;
        machine_step(warps, 0, &scheduler.choices);
        warp = simt_state(warps, 0);
        for (uint32_t lane = 0; lane < 4; lane++) {
            if ((theta >> lane) & 1)
                continue;
            assert_int_equal(projection_lane(&warp, lane, after), depth[lane]);
            assert_memory_equal(after, before[lane], depth[lane] * sizeof *after);
            compared++;
        }
    }
    assert_true(compared > 50);
}

static void co_simulate(struct simulation *simulation, enum subject_id subject)
{
    struct sched_spec spec = {.kind = SCHED_UNIFORM};
    struct scheduler scheduler;
    simulation_begin(simulation, subject);
    sched_start(&scheduler, &spec, simulation->warps, &test_arena);
    (void)simulation_run(simulation, &scheduler.choices, 10000);
}

/* Erratum A-4: as printed, Lemma 5 fails where a continuing loop ends, there only, and is known. */
static void test_erratum_a4(void **state)
{
    (void)state;
    struct program *program =
        support_program("kernel k() {\n  private int i = 0;\n  while (i < tid)\n    i++;\n}");
    struct simulation *simulation =
        simulation_new(&test_arena, support_machine(program, SUBJECT_SIMT),
                       support_machine(program, SUBJECT_THREADS));
    struct answer simulated = {0}, lemmas = {0};
    simulation->answer = &simulated;
    simulation->lemmas = &lemmas;
    co_simulate(simulation, SUBJECT_SIMT);
    assert_null(lemmas.divergence);
    simulation->strict = true;
    co_simulate(simulation, SUBJECT_SIMT);
    assert_null(simulated.divergence);
    assert_int_equal(lemmas.verdict, VERDICT_DIVERGE);
    const struct divergence *d = lemmas.divergence;
    assert_string_equal(divergence_signature(&test_arena, d),
                        "lemmas|lemma-5|simt.while_cont|thread steps");
    assert_string_equal(d->known, "A-4");
    assert_int_equal(d->line, 3);
    assert_null(d->next);
}

/* A kernel without a loop that continues agrees with Lemma 5 as printed. */
static void test_strict_without_loops(void **state)
{
    (void)state;
    struct program *program = support_program(
        "shared int x; kernel k() { if (tid < 2) x = 1; else while (x == 7) x = 2; }");
    struct simulation *simulation =
        simulation_new(&test_arena, support_machine(program, SUBJECT_SIMT),
                       support_machine(program, SUBJECT_THREADS));
    struct answer lemmas = {0};
    simulation->lemmas = &lemmas;
    simulation->strict = true;
    co_simulate(simulation, SUBJECT_SIMT);
    co_simulate(simulation, SUBJECT_SIMT_THEN);
    assert_null(lemmas.divergence);
}

/* L205: a lane that has returned on the else-path is not brought back by the call and return of
 * another function that the then-path executes, nor by the sync below. */
static void test_returned_lane_stays(void **state)
{
    (void)state;
    struct program *program = support_program("shared int x[4];\n"
                                              "void g() { x[tid] += 10; return; }\n"
                                              "void f() {\n"
                                              "  if (tid != 1) g(); else return;\n"
                                              "  x[tid] += 1;\n"
                                              "}\n"
                                              "kernel k() { f(); x[tid] += 100; }");
    struct machine *warps = support_machine(program, SUBJECT_SIMT);
    struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, warps, &test_arena);
    bool returned = false;
    uint32_t calls_seen = 0;
    while (machine_status(warps) == STATUS_RUNNING) {
        struct warp_state before = simt_state(warps, 0);
        stack_entry top = before.stack[before.depth - 1];
        machine_step(warps, 0, &scheduler.choices);
        struct warp_state after = simt_state(warps, 0);
        returned |= (after.delta_r & 2) != 0;
        if (!returned || entry_kind(top) <= ENTRY_CONT)
            continue;
        bool last = entry_kind(top) == ENTRY_CALL && before.calls == 2; /* f's own token */
        calls_seen += entry_kind(top) == ENTRY_CALL;
        if (before.calls > 2)
            assert_true((after.delta_r & 2) && !(after.theta & 2));
        else if (last)
            assert_true((after.theta & 2) && !(after.delta_r & 2));
    }
    assert_true(returned && calls_seen == 3);
    static const int32_t expected[] = {111, 100, 111, 111};
    assert_memory_equal(warps->memory + support_address(program, "x"), expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_awaits),
        cmocka_unit_test(test_enable),
        cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_step_counts),
        cmocka_unit_test(test_token_transition),
        cmocka_unit_test_setup_teardown(test_lemma_3_literally, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_erratum_a4, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_strict_without_loops, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_returned_lane_stays, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
