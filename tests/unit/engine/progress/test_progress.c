/* Progress models: the catalogue's programs, and random ones against the definitions executed literally, with
 * termination steps and a set of those that are done. */
#include "engine/progress/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/pcg.h"
#include "tests/unit/shared/mock.h"
#include "tests/unit/shared/support.h"

/* ---- the definitions ---- */

/* A machine's state, who has begun, who is done; all steps from there. */
struct naive_node {
    uint32_t *words;
    unit_set begun, done;
    uint32_t edge_count;
    struct {
        uint32_t unit, target;
    } edges[8];
};

enum { NAIVE_NODES = 6000 };

struct naive {
    struct machine *machine;
    const uint32_t *unit_of;
    uint32_t units;
    struct naive_node *nodes;
    uint32_t count;
};

static uint32_t naive_intern(struct naive *n, unit_set begun, unit_set done)
{
    const struct machine *m = n->machine;
    for (uint32_t i = 0; i < n->count; i++)
        if (n->nodes[i].begun == begun && n->nodes[i].done == done &&
            machine_equals(m, n->nodes[i].words))
            return i;
    assert_true(n->count < NAIVE_NODES);
    struct naive_node *node = &n->nodes[n->count];
    node->words = ARENA_ARRAY(&test_arena, uint32_t, m->block_words);
    node->begun = begun;
    node->done = done;
    machine_save(m, node->words);
    return n->count++;
}

static bool unit_is_live(const struct naive *n, uint32_t unit)
{
    const struct machine_head *head = n->machine->head;
    for (uint32_t i = 0; i < head->live_count; i++)
        if (n->unit_of[head->live[i]] == unit)
            return true;
    return false;
}

static void naive_edge(struct naive *n, uint32_t from, uint32_t unit, unit_set begun, unit_set done)
{
    uint32_t target = naive_intern(n, begun, done);
    struct naive_node *node = &n->nodes[from];
    node->edges[node->edge_count].unit = unit;
    node->edges[node->edge_count++].target = target;
}

static void naive_explore(struct naive *n)
{
    n->nodes = ARENA_ARRAY(&test_arena, struct naive_node, NAIVE_NODES);
    machine_reset(n->machine);
    naive_intern(n, 0, 0);
    for (uint32_t i = 0; i < n->count; i++) {
        const struct naive_node node = n->nodes[i];
        machine_restore(n->machine, node.words, 0);
        uint32_t live = n->machine->head->live_count;
        for (uint32_t k = 0; k < live; k++) {
            machine_restore(n->machine, node.words, 0);
            uint32_t actor = n->machine->head->live[k], unit = n->unit_of[actor];
            machine_step(n->machine, actor, NULL);
            naive_edge(n, i, unit, node.begun | (unit_set)1 << unit, node.done);
        }
        machine_restore(n->machine, node.words, 0);
        for (uint32_t u = 0; u < n->units; u++)
            if (!unit_is_live(n, u) && !(node.done >> u & 1)) /* the termination step */
                naive_edge(n, i, u, node.begun | (unit_set)1 << u, node.done | (unit_set)1 << u);
    }
}

static unit_set naive_fair(const struct naive *n, const struct naive_node *node,
                           enum progress_model model)
{
    unit_set F = 0;
    uint32_t lowest = 0, highest = 0;
    while (lowest < n->units && node->done >> lowest & 1)
        lowest++;
    for (uint32_t u = 0; u < n->units; u++)
        if (node->begun >> u & 1)
            highest = u + 1;
    for (uint32_t u = 0; u < n->units; u++) {
        bool begun = node->begun >> u & 1, fair = false;
        if (node->done >> u & 1)
            continue;
        switch (model) {
        case PROGRESS_UNFAIR:
        case PROGRESS_MODEL_COUNT:
            break;
        case PROGRESS_HSA:
            fair = u == lowest;
            break;
        case PROGRESS_OBE:
            fair = begun;
            break;
        case PROGRESS_HSA_OBE:
            fair = begun || u == lowest;
            break;
        case PROGRESS_LOBE:
            fair = u < highest;
            break;
        case PROGRESS_FAIR:
            fair = true;
            break;
        }
        F |= (unit_set)fair << u;
    }
    return F;
}

/* reaches[a * count + b]: by one step or more. */
static uint8_t *naive_closure(const struct naive *n)
{
    uint32_t count = n->count;
    uint8_t *reaches = ARENA_ARRAY(&test_arena, uint8_t, (size_t)count * count);
    uint32_t *stack = ARENA_ARRAY(&test_arena, uint32_t, count + 1);
    for (uint32_t a = 0; a < count; a++) {
        uint32_t depth = 0;
        stack[depth++] = a;
        while (depth > 0) {
            const struct naive_node *node = &n->nodes[stack[--depth]];
            for (uint32_t e = 0; e < node->edge_count; e++) {
                uint8_t *seen = &reaches[(size_t)a * count + node->edges[e].target];
                if (!*seen)
                    stack[depth++] = node->edges[e].target;
                *seen = 1;
            }
        }
    }
    return reaches;
}

static bool naive_weak(const struct naive *n, const uint8_t *reaches, enum progress_model model)
{
    for (uint32_t a = 0; a < n->count; a++) {
        if (!reaches[(size_t)a * n->count + a])
            continue;
        if (model == PROGRESS_UNFAIR)
            return false;
        unit_set F = naive_fair(n, &n->nodes[a], model), stepped = 0;
        bool constant = true;
        for (uint32_t b = 0; b < n->count; b++) {
            if (!reaches[(size_t)a * n->count + b] || !reaches[(size_t)b * n->count + a])
                continue;
            constant &= naive_fair(n, &n->nodes[b], model) == F;
            for (uint32_t e = 0; e < n->nodes[b].edge_count; e++)
                if (reaches[(size_t)n->nodes[b].edges[e].target * n->count + a])
                    stepped |= (unit_set)1 << n->nodes[b].edges[e].unit;
        }
        if (constant && F && (F & ~stepped) == 0)
            return false;
    }
    return true;
}

static bool naive_strong(const struct naive *n, enum progress_model model)
{
    uint8_t *good = ARENA_ARRAY(&test_arena, uint8_t, n->count);
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < n->count; i++) {
            const struct naive_node *node = &n->nodes[i];
            unit_set F = naive_fair(n, node, model);
            bool found = node->edge_count == 0 || F == 0;
            for (uint32_t e = 0; e < node->edge_count; e++) {
                const struct naive_node *target = &n->nodes[node->edges[e].target];
                bool terminates = target->done != node->done;
                if ((terminates || F >> node->edges[e].unit & 1) && good[node->edges[e].target])
                    found = true;
            }
            more |= found && !good[i];
            good[i] |= found;
        }
    }
    for (uint32_t i = 0; i < n->count; i++)
        if (!good[i])
            return false;
    return true;
}

/* ---- searches ---- */

static const struct progress *search_progress(struct machine *machine, const uint32_t *unit_of,
                                              uint32_t units, uint64_t states)
{
    struct progress *progress = ARENA_NEW(&test_arena, struct progress);
    struct search_options options = SEARCH_DEFAULTS;
    *progress = (struct progress){.unit_of = unit_of, .unit_count = units};
    options.method = SEARCH_STATES;
    options.max_states = states;
    progress_ask(&options, progress);
    search_run(&test_arena, machine, &options);
    return progress;
}

/* The witness is an execution of the model: the loop comes back, and who is in F steps. */
static void check_witness(struct machine *machine, const uint32_t *unit_of,
                          enum progress_model model, const struct progress_answer *answer)
{
    uint32_t *words = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words);
    unit_set stepped = 0;
    machine_reset(machine);
    for (uint32_t i = 0; i < answer->stem->count; i++)
        machine_step(machine, answer->stem->entries[i], NULL);
    machine_save(machine, words);
    assert_true(answer->loop->count > 0);
    for (uint32_t i = 0; i < answer->loop->count; i++) {
        machine_step(machine, answer->loop->entries[i], NULL);
        stepped |= (unit_set)1 << unit_of[answer->loop->entries[i]];
    }
    assert_true(machine_equals(machine, words));
    assert_true(stepped == answer->stepped);
    assert_true((answer->fair & ~stepped) == 0);
    assert_true(model == PROGRESS_UNFAIR || answer->fair != 0);
}

static void random_mock(struct mock_program **mock, struct pcg *rng, uint32_t actors)
{
    *mock = mock_new(&test_arena, actors, 2);
    for (uint32_t a = 0; a < actors; a++) {
        uint32_t ops = 1 + pcg_below(rng, 3);
        for (uint32_t i = 0; i < ops; i++) {
            static const enum mock_kind kinds[] = {MOCK_NOP, MOCK_SET, MOCK_SET, MOCK_SET,
                                                   MOCK_UNTIL};
            mock_add(*mock, a, kinds[pcg_below(rng, 5)], pcg_below(rng, 2),
                     (int32_t)pcg_below(rng, 2));
        }
    }
}

static void test_definitions(void **state)
{
    static const uint32_t each[] = {0, 1, 2}, pairs[] = {0, 0, 1}, others[] = {0, 1, 0};
    static const uint32_t *const unit_of[] = {each, pairs, others};
    static const uint32_t units[] = {3, 2, 2};
    uint32_t fails[PROGRESS_MODEL_COUNT] = {0}, strong_only[PROGRESS_MODEL_COUNT] = {0};
    struct pcg rng = pcg_derive(7, PCG_SCHEDULE, 0);
    (void)state;
    for (uint32_t round = 0; round < 1200; round++) {
        size_t mark = arena_mark(&test_arena);
        const struct machine_options options = {0};
        struct mock_program *mock;
        uint32_t which = round % 3;
        random_mock(&mock, &rng, 3);
        struct naive n = {.machine =
                              machine_new(&test_arena, &mock_semantics, &mock->program, &options),
                          .unit_of = unit_of[which],
                          .units = units[which]};
        struct machine *machine =
            search_machine(&test_arena, &mock_semantics, &mock->program, false);
        const struct progress *progress =
            search_progress(machine, unit_of[which], units[which], 1 << 18);
        naive_explore(&n);
        const uint8_t *reaches = naive_closure(&n);
        for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
            const struct progress_answer *answer = &progress->answers[m];
            bool weak = naive_weak(&n, reaches, (enum progress_model)m);
            assert_int_not_equal(answer->verdict, PROGRESS_UNKNOWN);
            assert_int_equal(answer->verdict == PROGRESS_ENDS, weak);
            if (m != PROGRESS_UNFAIR)
                assert_int_equal(answer->strong, naive_strong(&n, (enum progress_model)m));
            if (!weak)
                check_witness(n.machine, unit_of[which], (enum progress_model)m, answer);
            fails[m] += !weak;
            strong_only[m] += !weak && answer->strong;
        }
        /* What passes a model passes every model whose fair set includes it at each step. */
        static const enum progress_model includes[][2] = {
            {PROGRESS_UNFAIR, PROGRESS_HSA},  {PROGRESS_UNFAIR, PROGRESS_OBE},
            {PROGRESS_HSA, PROGRESS_HSA_OBE}, {PROGRESS_OBE, PROGRESS_HSA_OBE},
            {PROGRESS_OBE, PROGRESS_LOBE},    {PROGRESS_HSA_OBE, PROGRESS_FAIR},
            {PROGRESS_LOBE, PROGRESS_FAIR}};
        for (uint32_t i = 0; i < sizeof includes / sizeof *includes; i++)
            if (progress->answers[includes[i][0]].verdict == PROGRESS_ENDS)
                assert_int_equal(progress->answers[includes[i][1]].verdict, PROGRESS_ENDS);
        arena_release(&test_arena, mark);
    }
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        print_message("%s: %u hang, %u of them pass strongly\n", progress_table[m].name, fails[m],
                      strong_only[m]);
        assert_in_range(fails[m], 20, 1150);
    }
}

/* Units have an order, and numbers say no more than that: with others in between that nobody is of, up to the 64 there
 * may be, all answers are the same. One model at a time, too, and where other units are asked about in the same
 * search. */
static void test_units_far_apart(void **state)
{
    static const uint32_t near[] = {0, 1, 2, 3}, pairs[] = {0, 1, 1, 0};
    struct pcg rng = pcg_derive(9, PCG_SCHEDULE, 0);
    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        size_t mark = arena_mark(&test_arena);
        uint32_t actors = 2 + pcg_below(&rng, 3), far[4], at = 0;
        struct mock_program *mock;
        random_mock(&mock, &rng, actors);
        for (uint32_t i = 0; i < actors; i++)
            at = far[i] = i + 1 == actors && round % 2 ? 63 : at + 1 + pcg_below(&rng, 15);
        struct machine *machine =
            search_machine(&test_arena, &mock_semantics, &mock->program, false);
        const struct progress *a = search_progress(machine, near, actors, 1 << 18);
        struct progress beside = {.unit_of = pairs, .unit_count = 2};
        for (uint32_t which = 0; which < 2 + PROGRESS_MODEL_COUNT; which++) {
            struct progress b = {.unit_of = far, .unit_count = which ? 64 : far[actors - 1] + 1};
            struct search_options options = SEARCH_DEFAULTS;
            b.models = which < 2 ? 0 : 1u << (which - 2);
            b.next = which == 1 ? &beside : NULL;
            options.method = SEARCH_STATES;
            progress_ask(&options, &b);
            search_run(&test_arena, machine, &options);
            for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++) {
                const struct progress_answer *x = &a->answers[m], *y = &b.answers[m];
                if (b.models && !(b.models >> m & 1)) {
                    assert_int_equal(y->verdict, PROGRESS_UNKNOWN);
                    continue;
                }
                assert_int_equal(x->verdict, y->verdict);
                assert_int_equal(x->strong, y->strong);
                assert_int_equal(x->states, y->states);
                assert_int_equal(x->loop != NULL, y->loop != NULL);
                if (!x->loop)
                    continue;
                assert_string_equal(tape_print(&test_arena, x->stem),
                                    tape_print(&test_arena, y->stem));
                assert_string_equal(tape_print(&test_arena, x->loop),
                                    tape_print(&test_arena, y->loop));
                unit_set expected[3] = {0, 0, 0};
                for (uint32_t i = 0; i < actors; i++) {
                    expected[0] |= (x->fair >> i & 1) << far[i];
                    expected[1] |= (x->stepped >> i & 1) << far[i];
                    expected[2] |= (x->unfinished >> i & 1) << far[i];
                }
                assert_true(y->fair == expected[0] && y->stepped == expected[1] &&
                            y->unfinished == expected[2]);
            }
        }
        const struct progress *too_many = search_progress(machine, near, 65, 1 << 18);
        for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++)
            assert_int_equal(too_many->answers[m].verdict, PROGRESS_UNKNOWN);
        const struct progress *alone = search_progress(machine, pairs, 2, 1 << 18);
        for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++) {
            assert_int_equal(alone->answers[m].verdict, beside.answers[m].verdict);
            assert_int_equal(alone->answers[m].strong, beside.answers[m].strong);
        }
        arena_release(&test_arena, mark);
    }
}

/* Quickly: the verdicts without witnesses, of graphs that are small enough. */
static void test_quick(void **state)
{
    static const uint32_t each[] = {0, 1, 2};
    struct pcg rng = pcg_derive(10, PCG_SCHEDULE, 0);
    uint32_t known = 0, not_known = 0;
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        size_t mark = arena_mark(&test_arena);
        struct mock_program *mock;
        struct search_options options = SEARCH_DEFAULTS;
        random_mock(&mock, &rng, 3);
        struct machine *machine =
            search_machine(&test_arena, &mock_semantics, &mock->program, false);
        const struct progress *whole = search_progress(machine, each, 3, 1 << 18);
        for (uint32_t less = 0; less < 3; less++) {
            struct progress quick = {.unit_of = each, .unit_count = 3};
            uint32_t states = (uint32_t)whole->answers[PROGRESS_FAIR].states;
            quick.quick_states = states + 1 - less;
            options.method = SEARCH_STATES;
            progress_ask(&options, &quick);
            const struct search_result *result = search_run(&test_arena, machine, &options);
            assert_int_equal(result->states, states);
            bool judged = less < 2 || result->liveness == LIVENESS_ALL_TERMINATE;
            for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++) {
                const struct progress_answer *answer = &quick.answers[m];
                assert_int_equal(answer->verdict,
                                 judged ? whole->answers[m].verdict : PROGRESS_UNKNOWN);
                assert_null(answer->loop);
            }
            known += judged;
            not_known += !judged;
        }
        arena_release(&test_arena, mark);
    }
    assert_true(known > 50 && not_known > 50);
}

/* ---- kernels ---- */

static const struct {
    const char *what, *body;
    const char *verdicts; /* a model: e ends, m may hang, h hangs always */
} kernels[] = {
    /* unfair, hsa, obe, hsa-obe, lobe, fair */
    {"Program 2", "if (tid == 0) x = 1; else while (x != 1) ;", "memeee"},
    {"Program 3", "while (x != tid) ; x = x + 1;", "memeee"},
    {"waits for a higher one", "if (tid == 2) x = 1; else while (x != 1) ;", "mmmmme"},
    {"Program 4", "while (x != 3) { if (tid == x) x = x + 1; else ; }", "mmmmme"},
    {"a mutex", "private int old; old = 1; while (old != 0) old = atomic_cas(x, 0, 1); x = 0;",
     "mmeeee"},
    {"nobody sets it", "while (x == 0) ;", "hhhhhh"},
    {"each way", "if (tid == 0) x = 2; else if (x == 0) while (x != 1) ; else ;", "mmmmmm"},
    {"a barrier", "x = 1; barrier(); x = 2;", "eeeeee"},
};

static void test_kernels(void **state)
{
    static const uint32_t unit_of[] = {0, 1, 2};
    (void)state;
    for (uint32_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const char *text = arena_printf(&test_arena,
                                        "launch(threads = 3, warp = 3); shared int x;"
                                        " kernel k() { %s }",
                                        kernels[i].body);
        const struct program *program = support_program(text);
        struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
        const struct progress *progress = search_progress(machine, unit_of, 3, 1 << 18);
        char got[PROGRESS_MODEL_COUNT + 1] = "";
        for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
            got[m] = "?emh"[progress->answers[m].verdict];
        if (strcmp(got, kernels[i].verdicts) != 0)
            print_error("%s\n", kernels[i].what);
        assert_string_equal(got, kernels[i].verdicts);
    }
}

/* SL.pol.rand: who comes to the word first decides whether thread 1 spins for ever. */
static void test_random(void **state)
{
    static const struct {
        const char *body;
        enum progress_verdict verdict;
    } rows[] = {
        {"while (x != 3) { if (tid == x) x = x + 1; else ; }", PROGRESS_ENDS},
        {"while (x != tid) ; x = x + 1;", PROGRESS_ENDS},
        {"while (x == 0) ;", PROGRESS_HANGS},
        {"private int y; if (tid == 0) x = 1; else y = x; if (tid == 1 && y == 0) while (1) ;",
         PROGRESS_MAY_HANG},
    };
    static const uint32_t unit_of[] = {0, 1, 2};
    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = arena_printf(
            &test_arena, "launch(threads = 3, warp = 3); shared int x; kernel k() { %s }",
            rows[i].body);
        const struct program *program = support_program(text);
        struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
        struct progress progress = {.unit_of = unit_of, .unit_count = 3, .ask_random = true};
        struct search_options options = SEARCH_DEFAULTS;
        options.method = SEARCH_STATES;
        progress_ask(&options, &progress);
        search_run(&test_arena, machine, &options);
        assert_int_equal(progress.random.verdict, rows[i].verdict);
        if (rows[i].verdict == PROGRESS_ENDS)
            continue;
        uint32_t *words = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words);
        struct machine *again = support_machine(program, SUBJECT_THREADS);
        for (uint32_t k = 0; k < progress.random.stem->count; k++)
            machine_step(again, progress.random.stem->entries[k], NULL);
        machine_save(again, words);
        assert_true(progress.random.loop->count > 0);
        for (uint32_t k = 0; k < progress.random.loop->count; k++)
            machine_step(again, progress.random.loop->entries[k], NULL);
        assert_true(machine_equals(again, words));
    }
}

/* A bound says nothing. */
static void test_bound(void **state)
{
    static const uint32_t unit_of[] = {0, 1, 2};
    (void)state;
    const struct program *program =
        support_program("launch(threads = 3); shared int x; kernel k() { private int i;"
                        " for (i = 0; i < 50; i++) x = x + tid; }");
    struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
    const struct progress *progress = search_progress(machine, unit_of, 3, 1000);
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        assert_int_equal(progress->answers[m].verdict, PROGRESS_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_definitions, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_units_far_apart, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_quick, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_kernels, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_random, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_bound, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
