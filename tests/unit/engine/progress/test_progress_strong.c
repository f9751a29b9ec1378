/* Strong fairness where units wait at barriers: verdicts of drawn kernels against the definition executed literally,
 * and the law that follows from it: who ends if weakly fair ends if strongly fair. */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/machine/live.h"
#include "engine/progress/progress.h"

enum { THREADS = 3, NODES = 4000, EDGES = 4 };

/* A state, and who has begun. */
struct node {
    uint32_t *words;
    unit_set begun, unfinished;
    uint32_t count;
    struct {
        uint32_t actor, target;
    } edges[EDGES];
};

struct graph_of {
    struct machine *machine;
    struct node *nodes;
    uint32_t count;
};

static uint32_t intern(struct graph_of *g, unit_set begun)
{
    const struct machine *m = g->machine;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i].begun == begun && machine_equals(m, g->nodes[i].words))
            return i;
    assert_true(g->count < NODES);
    struct node *node = &g->nodes[g->count];
    *node =
        (struct node){.begun = begun, .words = ARENA_ARRAY(&test_arena, uint32_t, m->block_words)};
    machine_save(m, node->words);
    for (uint32_t t = 0; t < THREADS; t++)
        node->unfinished |= (unit_set)!is_finished(m, t) << t;
    return g->count++;
}

static void explore(struct graph_of *g)
{
    g->nodes = ARENA_ARRAY(&test_arena, struct node, NODES);
    machine_reset(g->machine);
    intern(g, 0);
    for (uint32_t i = 0; i < g->count; i++) {
        machine_restore(g->machine, g->nodes[i].words, 0);
        bool running = machine_status(g->machine) == STATUS_RUNNING;
        uint32_t live = running ? g->machine->head->live_count : 0;
        for (uint32_t k = 0; k < live; k++) {
            machine_restore(g->machine, g->nodes[i].words, 0);
            uint32_t actor = g->machine->head->live[k];
            machine_step(g->machine, actor, NULL);
            uint32_t target = intern(g, g->nodes[i].begun | (unit_set)1 << actor);
            struct node *node = &g->nodes[i];
            node->edges[node->count].actor = actor;
            node->edges[node->count++].target = target;
        }
    }
}

static unit_set fair(const struct node *node, enum progress_model model)
{
    unit_set lowest = node->unfinished & -node->unfinished;
    unit_set below = node->begun | node->begun >> 1 | node->begun >> 2;
    const unit_set sets[PROGRESS_MODEL_COUNT] = {
        [PROGRESS_HSA] = lowest,
        [PROGRESS_OBE] = node->begun & node->unfinished,
        [PROGRESS_HSA_OBE] = (node->begun & node->unfinished) | lowest,
        [PROGRESS_LOBE] = below & node->unfinished,
        [PROGRESS_FAIR] = node->unfinished,
    };
    return sets[model];
}

/* Nodes of `in` that are reached from `a` by one step or more within `in`. */
static void reach(const struct graph_of *g, const uint8_t *in, uint32_t a, bool back, uint8_t *seen)
{
    bool more = true;
    memset(seen, 0, g->count);
    while (more) {
        more = false;
        for (uint32_t i = 0; i < g->count; i++)
            for (uint32_t e = 0; in[i] && e < g->nodes[i].count; e++) {
                uint32_t to = g->nodes[i].edges[e].target, from = back ? to : i;
                uint32_t other = back ? i : to;
                if (!in[to] || !(from == a || seen[from]) || seen[other])
                    continue;
                seen[other] = 1;
                more = true;
            }
    }
}

/* Whether an execution can go round through `a` for ever and take each step of F that it can: take from all nodes those
 * that do not come from it and back, and those from which F leads out, until nothing is left to take. */
static bool is_trap(const struct graph_of *g, uint32_t a, enum progress_model model)
{
    uint8_t *in = ARENA_ARRAY(&test_arena, uint8_t, g->count);
    uint8_t *to = ARENA_ARRAY(&test_arena, uint8_t, g->count);
    uint8_t *back = ARENA_ARRAY(&test_arena, uint8_t, g->count);
    bool more = true;
    memset(in, 1, g->count);
    while (more && in[a]) {
        more = false;
        reach(g, in, a, false, to);
        reach(g, in, a, true, back);
        for (uint32_t i = 0; i < g->count; i++) {
            bool stays = in[i] && to[i] && back[i];
            unit_set F = fair(&g->nodes[i], model);
            for (uint32_t e = 0; e < g->nodes[i].count; e++)
                stays &= !(F >> g->nodes[i].edges[e].actor & 1) || in[g->nodes[i].edges[e].target];
            more |= in[i] && !stays;
            in[i] = stays;
        }
    }
    return in[a];
}

static bool ends_strongly(const struct graph_of *g, enum progress_model model)
{
    bool trap = false;
    for (uint32_t a = 0; a < g->count && !trap; a++) {
        size_t mark = arena_mark(&test_arena);
        trap = is_trap(g, a, model);
        arena_release(&test_arena, mark);
    }
    return !trap;
}

/* A few statements, each of some threads; barriers mostly of all. */
static const char *draw_body(struct pcg *rng)
{
    static const char *const guards[] = {"",
                                         "if (tid == 0) ",
                                         "if (tid == 1) ",
                                         "if (tid) ",
                                         "if (tid == 2) ",
                                         "if (tid != 1) ",
                                         "if (tid < 2) "};
    static const char *const statements[] = {
        "x = 1;",
        "x = 0;",
        "while (x == 0) ;",
        "while (x) ;",
        "while (x == 0) barrier();",
        "do { if (x) break; barrier(); } while (1);",
        "if (tid == 0) while (s == 0) x = !x; else if (tid == 1) { while (x == 0) ; s = 1; }",
        "while (tid || x == 0) { if (tid == 1) x = !x; barrier(); }",
        "if (tid) while (s == 0) x = !x; else { while (x == 0) ; s = 1; }"};
    const char *body = "";
    for (uint32_t i = 1 + pcg_below(rng, 3); i > 0; i--) {
        bool barrier = pcg_below(rng, 3) == 0;
        body = arena_printf(&test_arena, "%s %s%s", body,
                            guards[barrier && pcg_below(rng, 2) ? 0 : pcg_below(rng, 7)],
                            barrier ? "barrier();" : statements[pcg_below(rng, 9)]);
    }
    return body;
}

static struct {
    uint32_t asked, strongly, not_strongly;
} seen;

static void compare(const char *text)
{
    static const uint32_t unit_of[] = {0, 1, 2};
    const struct program *program = support_program(text);
    struct progress progress = {.unit_of = unit_of, .unit_count = THREADS};
    struct search_options options = SEARCH_DEFAULTS;
    options.method = SEARCH_STATES;
    options.max_states = 600;
    progress_ask(&options, &progress);
    struct machine *machine = search_machine(&test_arena, &semantics_threads, program, false);
    struct graph_of g = {.machine = support_machine(program, SUBJECT_THREADS)};
    if (!search_run(&test_arena, machine, &options)->complete)
        return;
    explore(&g);
    seen.asked++;
    for (int m = PROGRESS_HSA; m < PROGRESS_MODEL_COUNT; m++) {
        const struct progress_answer *answer = &progress.answers[m];
        if (answer->strong != ends_strongly(&g, (enum progress_model)m))
            fail_msg("%s: %s", progress_table[m].name, text);
        if (answer->verdict == PROGRESS_ENDS)
            assert_true(answer->strong);
        seen.strongly += answer->strong && answer->verdict != PROGRESS_ENDS;
        seen.not_strongly += !answer->strong;
    }
}

static const char *kernel_of(const char *body)
{
    return arena_printf(&test_arena,
                        "launch(threads = 3, warp = 3); shared int x, s; kernel k() { %s }", body);
}

static void test_waiting(void **state)
{
    enum { DRAWN = 180 };
    static const char *const bodies[] = {
        /* Where thread 0 waits, nobody whom hsa must let run can step; round that there is a way out. */
        "while (tid || x == 0) { if (tid == 1) x = !x; barrier(); }",
        /* There is none: nobody must let 2 run, which 1 waits for. */
        "if (tid == 1) while (x == 0) ; if (tid == 2) x = 1; barrier();",
    };
    struct pcg rng = pcg_derive(19, PCG_SCHEDULE, 0);
    (void)state;
    for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        compare(kernel_of(bodies[i]));
    assert_int_equal(seen.asked, sizeof bodies / sizeof *bodies);
    for (uint32_t i = 0; i < DRAWN; i++) {
        size_t mark = arena_mark(&test_arena);
        compare(kernel_of(draw_body(&rng)));
        arena_release(&test_arena, mark);
    }
    print_message("%u kernels: %u verdicts hang and end strongly, %u do not\n", seen.asked,
                  seen.strongly, seen.not_strongly);
    assert_true(seen.asked > DRAWN / 3 && seen.strongly >= 5 && seen.not_strongly > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_waiting, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
