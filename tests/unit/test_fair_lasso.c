/* Sampled search for hangs: what it finds is an execution of the model, by a check of its own; it never contradicts
 * the graph of all states, and finds most of what that knows. */
#include "engine/fair_lasso.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/pcg.h"
#include "tests/unit/mock.h"
#include "tests/unit/support.h"

enum { ALL_MODELS = (1 << PROGRESS_MODEL_COUNT) - 1 };

/* ---- the definition, once more ---- */

struct player {
    struct choices choices; /* first member */
    const struct tape *tape;
    uint32_t at;
};

static uint32_t play_inner(struct choices *choices, uint32_t n)
{
    struct player *player = (struct player *)choices;
    assert_true(player->at < player->tape->count);
    uint32_t entry = player->tape->entries[player->at++];
    assert_true(entry & TAPE_INNER);
    assert_true((entry & ~(uint32_t)TAPE_INNER) < n);
    return entry & ~(uint32_t)TAPE_INNER;
}

static bool unit_can_step(const struct machine *machine, const struct fair_units *units,
                          uint32_t unit)
{
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        if (units->unit_of[machine->head->live[i]] == unit)
            return true;
    return false;
}

static bool unit_is_unfinished(const struct machine *machine, const struct fair_units *units,
                               uint32_t unit)
{
    for (uint32_t i = 0; i < machine->actor_count; i++)
        if (units->unit_of[i] == unit && machine->semantics->next_stm(machine, i) != CODE_NONE)
            return true;
    return unit_can_step(machine, units, unit);
}

static bool unit_is_fair(const struct machine *machine, const struct fair_units *units,
                         enum progress_model model, const bool *begun, uint32_t unit)
{
    bool lowest = true, below = false;
    if (!unit_is_unfinished(machine, units, unit))
        return false;
    for (uint32_t u = 0; u < unit; u++)
        lowest &= !unit_is_unfinished(machine, units, u);
    for (uint32_t u = unit; u < units->count; u++)
        below |= begun[u];
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

/* `machine` neither tracks nor is the one that was searched. */
static void check_witness(struct machine *machine, const struct fair_units *units,
                          enum progress_model model, const struct fair_answer *answer)
{
    size_t mark = arena_mark(&test_arena);
    uint32_t *words = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words);
    bool *begun = ARENA_ARRAY(&test_arena, bool, units->count);
    bool *fair = ARENA_ARRAY(&test_arena, bool, units->count);
    bool *good = ARENA_ARRAY(&test_arena, bool, units->count);
    struct player player = {{NULL, play_inner}, answer->stem, 0};
    bool some = false;
    machine_reset(machine);
    while (player.at < answer->stem->count) {
        begun[units->unit_of[answer->stem->entries[player.at]]] = true;
        play_step(machine, &player);
    }
    assert_int_equal(machine_status(machine), STATUS_RUNNING);
    machine_save(machine, words);
    for (uint32_t u = 0; u < units->count; u++)
        some |= fair[u] = unit_is_fair(machine, units, model, begun, u);
    player.tape = answer->loop;
    player.at = 0;
    assert_true(answer->loop->count > 0);
    while (player.at < answer->loop->count) {
        for (uint32_t u = 0; u < units->count; u++) {
            assert_int_equal(unit_is_fair(machine, units, model, begun, u), fair[u]);
            good[u] |= !unit_can_step(machine, units, u);
        }
        uint32_t unit = units->unit_of[answer->loop->entries[player.at]];
        good[unit] = begun[unit] = true;
        play_step(machine, &player);
    }
    assert_true(machine_equals(machine, words));
    assert_true(some || model == PROGRESS_UNFAIR);
    for (uint32_t u = 0; u < units->count; u++) {
        assert_int_equal(unit_is_fair(machine, units, model, begun, u), fair[u]);
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
    search.progress = &progress;
    options.seed = seed;
    options.budget_steps = 1 << 16;
    search_run(&test_arena, machine, &search);
    struct fair_result result =
        fair_lasso_search(&test_arena, machine, units, ALL_MODELS, &options);
    assert_false(result.stopped);
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        const struct progress_answer *exact = &progress.answers[m];
        const struct fair_answer *sampled = &result.answers[m];
        assert_int_not_equal(exact->verdict, PROGRESS_UNKNOWN);
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
    assert_true(hangs > 200);
    assert_true(100 * found >= at_least_percent * hangs);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_programs, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
