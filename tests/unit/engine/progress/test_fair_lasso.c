/* Sampled search for hangs: what it finds is an execution of the model, by a check of its own; it never contradicts
 * the graph of all states, and finds most of what that knows. */
#include "engine/progress/fair_lasso.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/pcg.h"
#include "fuzz/generate/generate.h"
#include "tests/unit/shared/mock.h"
#include "tests/unit/shared/support.h"
#include "tests/unit/shared/tape_player.h"

enum { ALL_MODELS = (1 << PROGRESS_MODEL_COUNT) - 1 };

/* ---- the definition, once more ---- */

/* Of a state: a unit is unfinished, can step. */
struct looked {
    bool *unfinished, *can_step;
};

static void look(const struct machine *machine, const struct fair_units *units,
                 const struct looked *l)
{
    memset(l->can_step, 0, units->count);
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        l->can_step[units->unit_of[machine->head->live[i]]] = true;
    memcpy(l->unfinished, l->can_step, units->count);
    for (uint32_t i = 0; i < machine->actor_count; i++)
        l->unfinished[units->unit_of[i]] |= machine->semantics->next_stm(machine, i) != CODE_NONE;
}

static bool unit_is_fair(const struct looked *l, uint32_t units, enum progress_model model,
                         const bool *begun, uint32_t unit)
{
    bool lowest = true, below = false;
    if (!l->unfinished[unit])
        return false;
    for (uint32_t u = 0; u < unit && lowest; u++)
        lowest = !l->unfinished[u];
    for (uint32_t u = unit; u < units && !below; u++)
        below = begun[u];
    switch (model) {
    case PROGRESS_UNFAIR:
    case PROGRESS_MODEL_COUNT:
        return false;
    case PROGRESS_HSA:
        return lowest;
    case PROGRESS_OBE:
        return begun[unit];
    case PROGRESS_HSA_OBE:
        return lowest || begun[unit];
    case PROGRESS_LOBE:
        return below;
    case PROGRESS_FAIR:
        return true;
    }
    return false;
}

static void play_step(struct machine *machine, struct player *player)
{
    uint32_t actor = player->tape->entries[player->at++];
    bool live = false;
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        live |= machine->head->live[i] == actor;
    assert_true(live);
    machine_step(machine, actor, &player->choices);
}

/* `machine` is not the one that was searched. */
static void check_witness(struct machine *machine, const struct fair_units *units,
                          enum progress_model model, const struct fair_answer *answer)
{
    size_t mark = arena_mark(&test_arena);
    uint32_t *words = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words);
    bool *begun = ARENA_ARRAY(&test_arena, bool, units->count);
    bool *fair = ARENA_ARRAY(&test_arena, bool, units->count);
    bool *good = ARENA_ARRAY(&test_arena, bool, units->count);
    const struct looked l = {ARENA_ARRAY(&test_arena, bool, units->count),
                             ARENA_ARRAY(&test_arena, bool, units->count)};
    struct player player = {{NULL, play_inner, NULL}, answer->stem, 0};
    bool some = false;
    machine_reset(machine);
    while (player.at < answer->stem->count) {
        begun[units->unit_of[answer->stem->entries[player.at]]] = true;
        play_step(machine, &player);
    }
    assert_int_equal(machine_status(machine), STATUS_RUNNING);
    machine_save(machine, words);
    look(machine, units, &l);
    for (uint32_t u = 0; u < units->count; u++)
        some |= fair[u] = unit_is_fair(&l, units->count, model, begun, u);
    player.tape = answer->loop;
    player.at = 0;
    assert_true(answer->loop->count > 0);
    while (player.at < answer->loop->count) {
        look(machine, units, &l);
        for (uint32_t u = 0; u < units->count; u++) {
            assert_int_equal(unit_is_fair(&l, units->count, model, begun, u), fair[u]);
            good[u] |= !l.can_step[u];
        }
        uint32_t unit = units->unit_of[answer->loop->entries[player.at]];
        good[unit] = begun[unit] = true;
        play_step(machine, &player);
    }
    assert_true(machine_equals(machine, words));
    assert_true(some || model == PROGRESS_UNFAIR);
    look(machine, units, &l);
    for (uint32_t u = 0; u < units->count; u++) {
        assert_int_equal(unit_is_fair(&l, units->count, model, begun, u), fair[u]);
        assert_true(good[u] || !fair[u]);
    }
    arena_release(&test_arena, mark);
}

/* ---- against the graph of all states ---- */

struct figures {
    uint32_t hangs[PROGRESS_MODEL_COUNT], found[PROGRESS_MODEL_COUNT];
    uint64_t stem[2], loop[2]; /* entries of the shortest ones, and of those that were found */
};

/* Both searches of one machine. */
static void compare(struct machine *machine, struct machine *plain, const struct fair_units *units,
                    uint64_t seed, struct figures *figures)
{
    struct progress progress = {.unit_of = units->unit_of, .unit_count = units->count};
    struct search_options search = SEARCH_DEFAULTS;
    struct fair_options options = FAIR_DEFAULTS;
    search.method = SEARCH_STATES;
    progress_ask(&search, &progress);
    search.max_states = 6000;
    options.seed = seed;
    options.budget_steps = 1 << 16;
    search_run(&test_arena, machine, &search);
    struct fair_result result =
        fair_lasso_search(&test_arena, machine, units, ALL_MODELS, &options);
    assert_null(result.stopped);
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        const struct progress_answer *exact = &progress.answers[m];
        const struct fair_answer *sampled = &result.answers[m];
        if (exact->verdict == PROGRESS_UNKNOWN)
            continue;
        figures->hangs[m] += exact->verdict >= PROGRESS_MAY_HANG;
        figures->found[m] += sampled->found;
        if (!sampled->found)
            continue;
        assert_true(exact->verdict >= PROGRESS_MAY_HANG);
        check_witness(plain, units, (enum progress_model)m, sampled);
        assert_true(fair_lasso_is(&test_arena, machine, units, (enum progress_model)m,
                                  sampled->stem, sampled->loop));
        figures->stem[0] += exact->stem->count;
        figures->loop[0] += exact->loop->count;
        figures->stem[1] += sampled->stem->count;
        figures->loop[1] += sampled->loop->count;
    }
}

static void print_figures(const struct figures *f, uint32_t at_least_percent)
{
    uint32_t hangs = 0, found = 0;
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        print_message("%s: %u of %u hangs found\n", progress_table[m].name, f->found[m],
                      f->hangs[m]);
        hangs += f->hangs[m];
        found += f->found[m];
    }
    print_message("stems %lu, shortest %lu; loops %lu, shortest %lu\n", (unsigned long)f->stem[1],
                  (unsigned long)f->stem[0], (unsigned long)f->loop[1], (unsigned long)f->loop[0]);
    assert_true(hangs > 100);
    assert_true(100 * found >= at_least_percent * hangs);
    assert_true(f->stem[1] < 3 * f->stem[0]);
    assert_true(10 * f->loop[1] < 12 * f->loop[0]);
}

static struct mock_program *random_mock(struct pcg *rng, uint32_t actors)
{
    static const enum mock_kind kinds[] = {MOCK_NOP,   MOCK_SET,  MOCK_SET,   MOCK_SET,
                                           MOCK_UNTIL, MOCK_READ, MOCK_WRITE, MOCK_CHOOSE};
    struct mock_program *mock = mock_new(&test_arena, actors, 2);
    for (uint32_t a = 0; a < actors; a++)
        for (uint32_t i = 1 + pcg_below(rng, 4); i > 0; i--) {
            enum mock_kind kind = kinds[pcg_below(rng, 8)];
            mock_add(mock, a, kind, pcg_below(rng, 2),
                     kind == MOCK_CHOOSE ? 2 : (int32_t)pcg_below(rng, 2));
        }
    return mock;
}

static void test_random_programs(void **state)
{
    static const uint32_t each[] = {0, 1, 2, 3}, pairs[] = {0, 0, 1, 1}, others[] = {0, 1, 0, 2};
    static const struct fair_units units[] = {{each, 4}, {pairs, 2}, {others, 3}};
    struct figures figures = {0};
    struct pcg rng = pcg_derive(11, PCG_SCHEDULE, 0);
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        size_t mark = arena_mark(&test_arena);
        const struct machine_options options = {0};
        struct mock_program *mock = random_mock(&rng, 4);
        struct machine *machine =
            search_machine(&test_arena, &mock_semantics, &mock->program, false);
        struct machine *plain = machine_new(&test_arena, &mock_semantics, &mock->program, &options);
        compare(machine, plain, &units[round % 3], round, &figures);
        arena_release(&test_arena, mark);
    }
    print_figures(&figures, 99);
}

/* ---- kernels about waiting ---- */

static const struct program *program_of(struct ast_kernel *kernel)
{
    const char *reason = NULL;
    const struct program *program =
        program_compile(&test_arena, lower_core(&test_arena, kernel), &reason);
    return program && !machine_refuses(&test_arena, &semantics_threads, program) ? program : NULL;
}

static uint32_t *one_each(uint32_t count, uint32_t per_unit)
{
    uint32_t *unit_of = ARENA_ARRAY(&test_arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        unit_of[i] = i / per_unit;
    return unit_of;
}

static void test_spinning_kernels(void **state)
{
    const struct machine_options options = {.track = true};
    struct gen_options spin = GEN_DEFAULTS;
    struct figures figures = {0};
    uint32_t compared = 0;
    (void)state;
    spin.small = spin.spin = true;
    for (uint64_t number = 0; number < 150; number++) {
        size_t mark = arena_mark(&test_arena);
        const struct program *program = program_of(gen_case(&test_arena, 3, number, &spin));
        if (program && program->total_threads <= 6) {
            uint32_t threads = program->total_threads, warp = program->launch.warp;
            bool pairs = number % 3 == 0 && warp > 1 && program->launch.threads % warp == 0;
            const struct fair_units units = {one_each(threads, pairs ? warp : 1),
                                             pairs ? program->warp_count : threads};
            compare(search_machine(&test_arena, &semantics_threads, program, false),
                    machine_new(&test_arena, &semantics_threads, program, &options), &units, number,
                    &figures);
            compared++;
        }
        arena_release(&test_arena, mark);
    }
    print_message("%u kernels\n", compared);
    assert_true(compared > 80);
    print_figures(&figures, 90);
}

/* Many threads, whose graphs are out of reach; what must be found, and what must not: unfair, hsa, obe, hsa-obe,
 * lobe, fair. */
static const struct {
    const char *what, *body;
    const char *verdicts; /* m: found; e: it ends, so nothing is found; ?: either */
} large[] = {
    {"Program 2", "if (tid == 0) x = 1; else while (x != 1) ;", "memeee"},
    {"waits for the highest", "if (tid == threads - 1) x = 1; else while (x != 1) ;", "mmmmme"},
    {"nobody sets it", "while (x == 0) ;", "mmmmmm"},
    {"the last one waits for nobody", "if (tid == threads - 1) while (x == 0) ;", "mmmmmm"},
    {"a mutex", "private int old; old = 1; while (old != 0) old = atomic_cas(x, 0, 1); x = 0;",
     "m?eeee"},
    {"a barrier by hand", "atomic_add(x, 1); while (x != threads) ;", "mmmmme"},
    {"a barrier that one leaves out", "if (tid != 3) barrier(); while (x == 0 && tid == 3) ;",
     "mmmmmm"},
};

static void test_large_kernels(void **state)
{
    static const uint32_t threads[] = {65, 130, 300};
    (void)state;
    for (uint32_t i = 0; i < sizeof large / sizeof *large * 3; i++) {
        size_t mark = arena_mark(&test_arena);
        uint32_t count = threads[i % 3];
        const char *text = arena_printf(
            &test_arena, "launch(threads = %u, warp = 32); shared int x; kernel k() { %s }", count,
            large[i / 3].body);
        const struct program *program = support_program(text);
        const struct machine_options options = {.track = true};
        const struct fair_units units = {one_each(count, 1), count};
        struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
        struct machine *plain = machine_new(&test_arena, &semantics_threads, program, &options);
        struct fair_options sampling = FAIR_DEFAULTS;
        sampling.budget_steps = 1 << 17;
        struct fair_result result =
            fair_lasso_search(&test_arena, machine, &units, ALL_MODELS, &sampling);
        for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
            bool found = result.answers[m].found;
            char wanted = large[i / 3].verdicts[m];
            if (wanted != '?' && found != (wanted == 'm'))
                fail_msg("%s, %u threads, %s: %d", large[i / 3].what, count, progress_table[m].name,
                         found);
            if (found)
                check_witness(plain, &units, (enum progress_model)m, &result.answers[m]);
        }
        arena_release(&test_arena, mark);
    }
}

/* ---- the rest of the contract ---- */

static void test_same_seed(void **state)
{
    const char *text = "launch(threads = 70); shared int x; kernel k()"
                       " { if (tid == 9) x = 1; else while (x != 1) ; }";
    const char *tapes[3][2];
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        const struct program *program = support_program(text);
        const struct fair_units units = {one_each(70, 1), 70};
        struct fair_options sampling = {.seed = i / 2, .budget_steps = 1 << 18};
        struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
        struct fair_result result =
            fair_lasso_search(&test_arena, machine, &units, 1u << PROGRESS_UNFAIR, &sampling);
        assert_true(result.answers[PROGRESS_UNFAIR].found);
        assert_false(result.answers[PROGRESS_HSA].found); /* nobody asked */
        tapes[i][0] = tape_print(&test_arena, result.answers[PROGRESS_UNFAIR].stem);
        tapes[i][1] = tape_print(&test_arena, result.answers[PROGRESS_UNFAIR].loop);
    }
    assert_string_equal(tapes[0][0], tapes[1][0]);
    assert_string_equal(tapes[0][1], tapes[1][1]);
    assert_true(strcmp(tapes[0][0], tapes[2][0]) != 0 || strcmp(tapes[0][1], tapes[2][1]) != 0);
}

static void test_budget_and_stop(void **state)
{
    static const uint32_t unit_of[] = {0, 1};
    const struct fair_units units = {unit_of, 2};
    struct mock_program *mock = mock_new(&test_arena, 2, 1);
    volatile sig_atomic_t stop = 1;
    struct fair_options sampling = {.budget_steps = 5000};
    (void)state;
    mock_add(mock, 0, MOCK_UNTIL, 0, 1);
    mock_add(mock, 1, MOCK_SET, 0, 1);
    struct machine *machine = search_machine(&test_arena, &mock_semantics, &mock->program, false);
    struct fair_result result =
        fair_lasso_search(&test_arena, machine, &units, 1u << PROGRESS_FAIR, &sampling);
    assert_false(result.answers[PROGRESS_FAIR].found);
    assert_in_range(result.steps, 5000, 15000);
    sampling.stop = &stop;
    result = fair_lasso_search(&test_arena, machine, &units, ALL_MODELS, &sampling);
    assert_non_null(result.stopped);
    assert_int_equal(result.samples, 0);
    sampling.budget_steps = 0;
    sampling.stop = NULL;
    result = fair_lasso_search(&test_arena, machine, &units, ALL_MODELS, &sampling);
    assert_null(result.stopped);
    assert_int_equal(result.samples, 0);
}

/* One that never comes back to a state: a sample runs as long as there is room for its path, and no longer than the
 * budget. */
static void test_room(void **state)
{
    static const uint32_t unit_of[] = {0};
    static const struct {
        uint64_t budget, least, most; /* of steps */
    } rows[] = {
        {10, 10, 40},
        {500, 500, 4700},
        {5000, 5000, 5700},
        {(1 << 19) - 300, (1 << 19) - 300, (1 << 19) + 400},
        {1 << 20, (1 << 20) - 600, (1 << 20) + 40},
        {1 << 22, (1 << 20) - 600, (1 << 20) + 40},
        {UINT64_MAX / 4, (1 << 20) - 600, (1 << 20) + 40},
    };
    const struct fair_units units = {unit_of, 1};
    const struct program *program = support_program(
        "launch(threads = 1, warp = 1); shared int x; kernel k() { while (1) x = x + 1; }");
    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t mark = arena_mark(&test_arena);
        struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
        struct fair_options sampling = {.seed = 1, .budget_steps = rows[i].budget};
        struct fair_result result =
            fair_lasso_search(&test_arena, machine, &units, ALL_MODELS, &sampling);
        for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++)
            assert_false(result.answers[m].found);
        assert_in_range(result.steps, rows[i].least, rows[i].most);
        assert_int_equal(result.samples, 1);
        arena_release(&test_arena, mark);
    }
}

/* What is no witness, each clause of the definition at a time: actor 0 waits for ever, actor 1 for what actor 2
 * sets, actor 3 is at its end after one step. */
static void test_definition(void **state)
{
    static const uint32_t unit_of[] = {0, 1, 2, 3};
    const struct fair_units units = {unit_of, 4};
    static const struct {
        const char *stem, *loop, *models; /* unfair, hsa, obe, hsa-obe, lobe, fair: x is one */
    } rows[] = {
        {"0", "0", "xxxxx-"},       /* actors 1 to 3 have not begun */
        {"", "0", "xx-x--"},        /* actor 0 begins in the loop */
        {"0", "1", "x-----"},       /* actor 0 must step; actor 1 begins in the loop */
        {"0 1", "1", "x-----"},     /* actor 0 must step */
        {"0 1", "0", "xx----"},     /* actor 1 must step, but for hsa */
        {"0 1", "0 1", "xxxxx-"},   /* ... */
        {"1", "1", "x-x---"},       /* obe: actor 0 has not begun */
        {"1", "0 1", "xx-xx-"},     /* ... begins in the loop; F of lobe has it already */
        {"3", "0", "xx-x--"},       /* actor 3 has begun and ended: F of obe is empty */
        {"3 0 1 2", "0", "xx----"}, /* actor 1 can go on: it has not ended */
        {"3 2 1 0", "0", "xxxxxx"}, /* all others have */
        {"0", "0 3", "------"},     /* the state is another */
        {"3 3", "0", "------"},     /* actor 3 cannot step twice */
        {"0", "", "------"},
    };
    struct mock_program *mock = mock_new(&test_arena, 4, 2);
    (void)state;
    mock_add(mock, 0, MOCK_FOREVER, 0, 0);
    mock_add(mock, 1, MOCK_UNTIL, 0, 1);
    mock_add(mock, 2, MOCK_SET, 0, 1);
    mock_add(mock, 3, MOCK_NOP, 0, 0);
    struct machine *machine = search_machine(&test_arena, &mock_semantics, &mock->program, false);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t column;
        const struct tape *stem = tape_parse(&test_arena, rows[i].stem, &column);
        const struct tape *loop = tape_parse(&test_arena, rows[i].loop, &column);
        for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
            bool is =
                fair_lasso_is(&test_arena, machine, &units, (enum progress_model)m, stem, loop);
            if (is != (rows[i].models[m] == 'x'))
                fail_msg("'%s' '%s': %s", rows[i].stem, rows[i].loop, progress_table[m].name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_programs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_spinning_kernels, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_large_kernels, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_same_seed, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_budget_and_stop, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_room, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_definition, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
