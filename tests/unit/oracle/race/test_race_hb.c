/* The happens-before detector against the definition: the graph of all events of an execution, closed
 * transitively, on random event sequences that named barriers allow; and small cases by hand. */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "oracle/race/race_hb_log.h"

enum { NODES = 160, ACCESSES = 400, NAMES = 2, LANES_MAX = 3 };

/* ---- the definition ---- */

struct access {
    uint32_t node, thread, address, stm;
    int32_t value;
    enum access_kind kind;
};

struct graph {
    const struct program *program;
    struct race_hb_options options;
    uint32_t nodes;
    bool edge[NODES][NODES];
    uint32_t group[NODES], block[NODES];
    uint32_t last[16]; /* of a group, + 1 */
    uint32_t count;
    struct access accesses[ACCESSES];
    /* first race in the order of the execution */
    bool racy[64];
    uint32_t second; /* access + 1 that completes it */
};

static uint32_t add_node(struct graph *g, uint32_t group, uint32_t block)
{
    uint32_t node = g->nodes++;
    assert_true(node < NODES);
    g->group[node] = group;
    g->block[node] = block;
    if (g->last[group])
        g->edge[g->last[group] - 1][node] = true;
    g->last[group] = node + 1;
    return node;
}

static void close_graph(struct graph *g)
{
    for (uint32_t k = 0; k < g->nodes; k++)
        for (uint32_t i = 0; i < g->nodes; i++)
            for (uint32_t j = 0; g->edge[i][k] && j < g->nodes; j++)
                g->edge[i][j] |= g->edge[k][j];
}

static bool races(const struct graph *g, const struct access *a, const struct access *b)
{
    if (a->address != b->address || a->thread == b->thread)
        return false;
    if (a->kind == b->kind && a->kind != ACCESS_WRITE)
        return false;
    if (g->edge[a->node][b->node] || g->edge[b->node][a->node])
        return false;
    return !(g->options.same_value && a->kind == ACCESS_WRITE && b->kind == ACCESS_WRITE &&
             a->value == b->value);
}

static void find_races(struct graph *g)
{
    close_graph(g);
    for (uint32_t j = 0; j < g->count; j++)
        for (uint32_t i = 0; i < j; i++)
            if (races(g, &g->accesses[i], &g->accesses[j])) {
                g->racy[g->accesses[j].address] = true;
                if (!g->second)
                    g->second = j + 1;
            }
}

/* ---- a random execution: both are told of it ---- */

struct driver {
    struct pcg rng;
    struct graph graph;
    struct race_hb *hb;
    struct race_hb_log
        *log; /* the product's own definition; NULL: atomics_sync, which it does not know */
    uint64_t steps;
    uint32_t groups, group_lanes;
    bool waiting[16];
    struct {
        uint32_t generation, count, registered; /* threads */
        uint32_t members, nodes[NODES];         /* registered ones */
        bool syncs[NODES];
    } barriers[2][NAMES];
};

static uint32_t first_thread(const struct driver *d, uint32_t group)
{
    return group * d->group_lanes;
}

static uint32_t block_of(const struct driver *d, uint32_t group)
{
    return first_thread(d, group) / d->graph.program->launch.threads;
}

static lane_mask all_lanes(const struct driver *d)
{
    return ((lane_mask)1 << d->group_lanes) - 1;
}

static void tell_access(const struct observer *o, const struct access *a)
{
    if (a->kind == ACCESS_READ)
        o->read(o->context, a->thread, a->address, a->stm);
    else if (a->kind == ACCESS_WRITE)
        o->write(o->context, a->thread, a->address, a->value, a->stm);
    else
        o->atomic(o->context, a->thread, a->address, a->value, a->stm);
}

static void one_access(struct driver *d, const struct access *a)
{
    d->graph.accesses[d->graph.count++] = *a;
    tell_access(&d->hb->observer, a);
    if (d->log)
        tell_access(&d->log->observer, a);
}

/* Locations: 3 in global memory, then 2 in each block's shared memory. */
static uint32_t random_address(struct driver *d, uint32_t block)
{
    uint32_t address = pcg_below(&d->rng, 5);
    return address < 3 ? address : address + 2 * block;
}

static void access_step(struct driver *d, uint32_t group)
{
    struct graph *g = &d->graph;
    enum access_kind kind = (enum access_kind)pcg_below(&d->rng, 3);
    uint32_t node = add_node(g, group, block_of(d, group));
    uint32_t together = random_address(d, block_of(d, group));
    for (uint32_t lane = 0; lane < d->group_lanes; lane++) {
        struct access a = {.node = node, .thread = first_thread(d, group) + lane, .kind = kind};
        a.address = kind == ACCESS_ATOMIC ? together : random_address(d, block_of(d, group));
        a.value = (int32_t)pcg_below(&d->rng, 2);
        a.stm = pcg_below(&d->rng, 3);
        if (pcg_below(&d->rng, 2))
            one_access(d, &a);
    }
    for (uint32_t i = 0; i < g->count; i++)
        if (g->options.atomics_sync && kind == ACCESS_ATOMIC && g->accesses[i].node != node &&
            g->accesses[i].kind == ACCESS_ATOMIC && g->accesses[i].address == together &&
            g->accesses[g->count - 1].node == node)
            g->edge[g->accesses[i].node][node] = true;
}

static void use(struct driver *d, enum barrier_use_kind kind, uint32_t name, uint32_t group)
{
    const struct observer *o = &d->hb->observer;
    uint32_t block = block_of(d, group);
    const struct barrier_use event = {.kind = kind,
                                      .block = block,
                                      .barrier = name,
                                      .count = d->barriers[block][name].count,
                                      .generation = d->barriers[block][name].generation,
                                      .first_thread = first_thread(d, group),
                                      .mask = all_lanes(d)};
    o->use(o->context, NULL, &event);
    if (d->log)
        d->log->observer.use(d->log, NULL, &event);
}

/* The generation ends: each member is before what every waiting member does from now on. */
static void release(struct driver *d, uint32_t block, uint32_t name)
{
    struct graph *g = &d->graph;
    uint32_t members = d->barriers[block][name].members;
    for (uint32_t s = 0; s < members; s++) {
        if (!d->barriers[block][name].syncs[s])
            continue;
        uint32_t group = g->group[d->barriers[block][name].nodes[s]];
        uint32_t done = add_node(g, group, block);
        for (uint32_t p = 0; p < members; p++)
            g->edge[d->barriers[block][name].nodes[p]][done] = true;
        d->waiting[group] = false;
        use(d, BARRIER_RELEASES, name, group);
    }
    d->barriers[block][name].members = d->barriers[block][name].registered = 0;
    d->barriers[block][name].generation++;
}

static void barrier_step(struct driver *d, uint32_t group)
{
    struct graph *g = &d->graph;
    uint32_t block = block_of(d, group), name = pcg_below(&d->rng, NAMES);
    bool sync = pcg_below(&d->rng, 2);
    uint32_t member = d->barriers[block][name].members++;
    d->barriers[block][name].nodes[member] = add_node(g, group, block);
    d->barriers[block][name].syncs[member] = sync;
    d->waiting[group] = sync;
    use(d, sync ? BARRIER_SYNCS : BARRIER_ARRIVES, name, group);
    d->barriers[block][name].registered += d->group_lanes;
    if (d->barriers[block][name].registered >= d->barriers[block][name].count)
        release(d, block, name);
}

/* A barrier of all threads of a block; nobody may wait elsewhere. */
static void block_barrier(struct driver *d, uint32_t block)
{
    struct graph *g = &d->graph;
    const struct observer *o = &d->hb->observer;
    const struct barrier_event event = {.block = block, .all = true};
    uint32_t reached = g->nodes;
    for (uint32_t group = 0; group < d->groups; group++)
        if (block_of(d, group) == block && d->waiting[group])
            return;
    for (uint32_t group = 0; group < d->groups; group++)
        if (block_of(d, group) == block) {
            uint32_t node = add_node(g, group, block);
            for (uint32_t i = 0; i < reached; i++)
                g->edge[i][node] |= g->block[i] == block;
        }
    o->barrier(o->context, NULL, &event);
    if (d->log)
        d->log->observer.barrier(d->log, NULL, &event);
}

static void random_execution(struct driver *d, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        uint32_t group = pcg_below(&d->rng, d->groups);
        uint32_t what = pcg_below(&d->rng, 12);
        bool barrier = what == 0 || (what < 4 && d->hb->options.named);
        bool late = barrier && pcg_below(&d->rng, 2); /* it may tell of itself behind its step */
        if (d->waiting[group])
            continue;
        d->steps += late;
        if (what == 0)
            block_barrier(d, block_of(d, group));
        else if (barrier)
            barrier_step(d, group);
        else
            access_step(d, group);
        d->steps += !late;
    }
}

static void expect_agreement(struct driver *d)
{
    const struct graph *g = &d->graph;
    const struct race_witness *w = &d->hb->witness;
    uint32_t locations = 0;
    bool pair = false, asked = false;
    assert_false(d->hb->incomplete);
    assert_true(!d->log || (race_hb_log_differs(d->log, &asked) == NULL && asked));
    assert_int_equal(d->hb->found, g->second != 0);
    for (uint32_t address = 0; address < g->program->private_base; address++) {
        assert_int_equal(race_hb_is_racy(d->hb, address), g->racy[address]);
        locations += g->racy[address];
    }
    assert_int_equal(d->hb->racy_locations, locations);
    if (!g->second)
        return;
    const struct access *b = &g->accesses[g->second - 1];
    assert_int_equal(w->address, b->address);
    assert_int_equal(w->second.thread, b->thread);
    assert_int_equal(w->second.kind, b->kind);
    for (uint32_t i = 0; i + 1 < g->second; i++) {
        const struct access *a = &g->accesses[i];
        bool writes = a->kind == ACCESS_WRITE && b->kind == ACCESS_WRITE;
        pair |= races(g, a, b) && a->thread == w->first.thread && a->kind == w->first.kind &&
                a->stm == w->first.stm && w->same_value == (writes && a->value == b->value) &&
                w->simultaneous == (writes && a->node == b->node);
    }
    assert_true(pair);
}

static const struct {
    const char *kernel;
    uint32_t lanes;
    struct race_hb_options options;
} settings[] = {
    {"threads = 6, warp = 3, blocks = 2", 3, {.warps = true, .named = true}},
    {"threads = 6, warp = 3, blocks = 1", 3, {.warps = true, .named = true}},
    {"threads = 6, warp = 2, blocks = 1", 2, {.warps = true, .named = true, .same_value = true}},
    {"threads = 4, warp = 2, blocks = 2", 1, {.named = true}},
    {"threads = 4, warp = 4, blocks = 1", 1, {.named = true, .same_value = true}},
    {"threads = 4, warp = 2, blocks = 2", 2, {.warps = true, .named = true, .atomics_sync = true}},
    {"threads = 3, warp = 4, blocks = 2", 1, {.named = true, .atomics_sync = true}},
    {"threads = 3, warp = 4, blocks = 1", 1, {.atomics_sync = true, .same_value = true}},
    {"threads = 6, warp = 2, blocks = 2", 2, {.warps = true}},
    {"threads = 3, warp = 4, blocks = 3", 1, {.same_value = true}},
};

static void random_executions_agree(void **state)
{
    (void)state;
    static struct driver d;
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        char text[200];
        const char *reason = NULL;
        uint32_t racy = 0, clean = 0;
        (void)snprintf(text, sizeof text,
                       "launch(%s); global int g[3]; shared int s[2]; kernel k() "
                       "{ private int a; a = 1; a = 2; a = 3; }",
                       settings[s].kernel);
        const struct program *program = support_program(text);
        struct race_hb *hb = race_hb_new(&test_arena, program, &settings[s].options, &reason);
        assert_non_null(hb);
        struct race_hb_log *log =
            settings[s].options.atomics_sync ? NULL : race_hb_log_new(&test_arena, hb);
        for (uint32_t i = 0; i < 3000; i++) {
            memset(&d, 0, sizeof d);
            d.rng = pcg_derive(i, PCG_KERNEL, s);
            d.hb = hb;
            d.graph.program = program;
            d.graph.options = settings[s].options;
            d.group_lanes = settings[s].lanes;
            d.groups = program->total_threads / d.group_lanes;
            for (uint32_t b = 0; b < 2; b++)
                for (uint32_t n = 0; n < NAMES; n++)
                    d.barriers[b][n].count =
                        (1 + pcg_below(&d.rng, program->launch.threads / d.group_lanes)) *
                        d.group_lanes;
            race_hb_begin(hb, &d.steps);
            d.log = log;
            if (log)
                race_hb_log_begin(log, &d.steps);
            random_execution(&d, 4 + pcg_below(&d.rng, 28));
            find_races(&d.graph);
            expect_agreement(&d);
            racy += d.hb->found;
            clean += !d.hb->found;
        }
        assert_true(racy > 100 && clean > 100);
    }
}

/* The log speaks when a detector has missed a race, told of one, or names another pair. */
static void differences_are_told(void **state)
{
    (void)state;
    const struct race_hb_options options = {.named = true};
    const char *reason = NULL;
    const struct program *program = support_program(
        "launch(threads = 4, warp = 2); global int g[3]; kernel k() { g[0] = 1; g[1] = 2; }");
    struct race_hb *hb = race_hb_new(&test_arena, program, &options, &reason);
    struct race_hb_log *log = race_hb_log_new(&test_arena, hb);
    const struct access writes[] = {{.thread = 0, .kind = ACCESS_WRITE},
                                    {.thread = 1, .kind = ACCESS_WRITE},
                                    {.thread = 2, .kind = ACCESS_WRITE, .stm = 1}};
    uint64_t steps = 0;
    bool asked;
    for (uint32_t missed = 0; missed < 4; missed++) {
        race_hb_begin(hb, &steps);
        race_hb_log_begin(log, &steps);
        for (uint32_t i = 0; i < 3; i++, steps++) {
            tell_access(&log->observer, &writes[i]);
            if (i != missed)
                tell_access(&hb->observer, &writes[i]);
        }
        const char *what = race_hb_log_differs(log, &asked);
        assert_true(asked && (what == NULL) == (missed > 1));
        if (what)
            assert_string_equal(what, "witness");
    }
    race_hb_begin(hb, &steps);
    race_hb_log_begin(log, &steps);
    tell_access(&log->observer, &writes[0]);
    tell_access(&log->observer, &writes[1]);
    assert_string_equal(race_hb_log_differs(log, &asked), "verdict");
}

/* ---- room ---- */

static struct race_hb *detector(const char *launch, uint32_t words,
                                const struct race_hb_options *options)
{
    const char *reason = NULL;
    static uint64_t steps;
    const struct program *program = support_program(arena_printf(
        &test_arena, "launch(%s); global int g[%u]; kernel k() { g[0] = 1; }", launch, words));
    struct race_hb *hb = race_hb_new(&test_arena, program, options, &reason);
    assert_int_equal(hb == NULL, reason != NULL);
    if (hb)
        race_hb_begin(hb, &steps);
    return hb;
}

/* What each group knows of each other one has to fit: (groups + 16 barriers) scopes in 2^24 words. */
static void many_groups(void **state)
{
    (void)state;
    static const struct {
        const char *launch;
        struct race_hb_options options;
        bool fits;
    } rows[] = {
        {"threads = 1022, warp = 32, blocks = 4", {.atomics_sync = true}, true},
        {"threads = 1023, warp = 32, blocks = 4", {.atomics_sync = true}, false},
        {"threads = 1024, warp = 32, blocks = 4", {.atomics_sync = true}, false},
        {"threads = 1024, warp = 32, blocks = 4", {.atomics_sync = true, .warps = true}, true},
        {"threads = 1024, warp = 32, blocks = 4", {.named = true}, true},
        {"threads = 1024, warp = 32, blocks = 4", {.same_value = true}, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t mark = arena_mark(&test_arena);
        assert_int_equal(detector(rows[i].launch, 1, &rows[i].options) != NULL, rows[i].fits);
        arena_release(&test_arena, mark);
    }
}

/* Entries: four a location and 1,024. Reads by different threads are all kept, and those that are not say so. */
static void many_entries(void **state)
{
    (void)state;
    const struct race_hb_options options = {.named = true};
    for (uint32_t words = 1; words <= 3; words++) {
        size_t mark = arena_mark(&test_arena);
        struct race_hb *hb = detector("threads = 1024, warp = 32", words + 1, &options);
        uint32_t room = 4 * (words + 1) + 1024;
        const struct observer *o = &hb->observer;
        for (uint32_t i = 0; i < room; i++)
            o->read(o->context, i % 1024, i / 1024, 0);
        assert_false(hb->incomplete);
        o->read(o->context, room % 1024, room / 1024, 0);
        assert_true(hb->incomplete);
        assert_false(hb->found);
        /* A write is all that need be kept of its location where it came behind the reads; it races with them. */
        o->write(o->context, 5, 0, 1, 0);
        assert_true(hb->found);
        assert_int_equal(hb->racy_locations, 1);
        arena_release(&test_arena, mark);
    }
}

/* Of a thread's own writes two of different values are enough, however many follow: no room is lost, and both still
 * race with a third value's. */
static void many_values(void **state)
{
    (void)state;
    const struct race_hb_options options = {.same_value = true};
    struct race_hb *hb = detector("threads = 4, warp = 4", 2, &options);
    const struct observer *o = &hb->observer;
    for (int32_t i = 0; i < 5000; i++)
        o->write(o->context, 1, 0, i, 0);
    assert_true(!hb->incomplete && !hb->found);
    assert_in_range(hb->entry_count, 1, 4);
    o->write(o->context, 2, 0, 4999, 0);
    assert_true(hb->found);
}

/* Clocks of locations: 2^20 words in all. */
static void many_clocks(void **state)
{
    (void)state;
    const struct race_hb_options options = {.atomics_sync = true};
    for (uint32_t words = 254; words <= 260; words++) {
        size_t mark = arena_mark(&test_arena);
        struct race_hb *hb = detector("threads = 1022, warp = 32, blocks = 4", words, &options);
        const struct observer *o = &hb->observer;
        const uint32_t room = (1 << 20) / (4 * 1022);
        for (uint32_t i = 0; i < words && i < room; i++)
            o->atomic(o->context, i, i, 1, 0);
        assert_false(hb->incomplete);
        if (words > room) {
            o->atomic(o->context, room, 3, 1, 0); /* has one */
            assert_false(hb->incomplete);
            o->atomic(o->context, room, room, 1, 0);
            assert_true(hb->incomplete);
        }
        arena_release(&test_arena, mark);
    }
}

/* The log gives up after 200,000 comparisons: so many pairs of 633 reads of one word. */
static void many_comparisons(void **state)
{
    (void)state;
    const struct program *program =
        support_program("launch(threads = 4); shared int x[2]; kernel k() { x[0] = 1; }");
    struct race_log *log = race_log_new(&test_arena, program, 800);
    for (uint32_t count = 630; count <= 636; count++) {
        race_log_begin(log);
        for (uint32_t i = 0; i < count; i++)
            log->observer.read(log, i % 4, 0, 0);
        struct race_log_result result = race_log_search(log);
        assert_int_equal(result.complete, count * (count - 1) / 2 <= 200000);
        assert_false(result.found);
        log->observer.write(log, 1, 1, 0, 0); /* what is found before stays */
        log->observer.write(log, 2, 1, 0, 0);
        result = race_log_search(log);
        assert_int_equal(result.complete, count * (count - 1) / 2 + 1 <= 200000);
        assert_int_equal(result.found, result.complete);
    }
    race_log_begin(log);
    for (uint32_t i = 0; i <= 800; i++) {
        assert_false(log->overflow);
        log->observer.read(log, i % 4, i % 2, 0);
    }
    assert_true(log->overflow);
    assert_false(race_log_search(log).complete);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_executions_agree),
        cmocka_unit_test(differences_are_told),
        cmocka_unit_test(many_groups),
        cmocka_unit_test(many_entries),
        cmocka_unit_test(many_values),
        cmocka_unit_test(many_clocks),
        cmocka_unit_test(many_comparisons),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
