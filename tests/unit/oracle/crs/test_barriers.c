/*
 * The oracle `barriers` on straight-line programs (catalogue named-barriers, section 4): what one execution's
 * log says - well-synchronised, races - against all executions, of random programs of two and three threads and
 * of the golden ones. The machine is a few lines here.
 */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/program/ptx_code.h"
#include "oracle/crs/barriers.h"

enum { THREADS_MAX = 4, COMMANDS = 5, NAMES = 2, PLACES = 2 };

struct command {
    char kind; /* r w A S; 0: the end */
    uint32_t at, count;
};

struct programs {
    uint32_t threads;
    struct command of[THREADS_MAX][COMMANDS + 1];
};

struct barrier {
    uint32_t n, arrived, synced, generation;
};

struct state {
    uint32_t pc[THREADS_MAX];
    bool blocked[THREADS_MAX];
    struct barrier barriers[NAMES];
    uint32_t generations[THREADS_MAX][COMMANDS]; /* of each use, + 1 */
};

enum came_out { DONE, ERROR, DEADLOCK };

/* What all executions do. */
struct all {
    bool outcomes[3], dangling, several;
    bool seen;
    uint32_t generations[THREADS_MAX][COMMANDS];
    uint64_t executions;
};

/* ---- rules; the log, where there is one, hears of them ---- */

static void tell_use(const struct observer *o, enum barrier_use_kind kind, const struct barrier *b,
                     uint32_t name, uint32_t thread)
{
    const struct barrier_use use = {.kind = kind,
                                    .barrier = name,
                                    .count = b->n,
                                    .generation = b->generation,
                                    .first_thread = thread,
                                    .mask = 1};
    if (o)
        o->use(o->context, NULL, &use);
}

static void recycle(const struct programs *p, struct state *s, uint32_t name,
                    const struct observer *o)
{
    struct barrier *b = &s->barriers[name];
    for (uint32_t t = 0; t < p->threads; t++)
        if (s->blocked[t] && p->of[t][s->pc[t]].at == name) {
            tell_use(o, BARRIER_RELEASES, b, name, t);
            s->blocked[t] = false;
            s->pc[t]++;
        }
    *b = (struct barrier){.generation = b->generation + 1};
}

/* False: err. */
static bool use(const struct programs *p, struct state *s, uint32_t t, const struct observer *o)
{
    const struct command *c = &p->of[t][s->pc[t]];
    struct barrier *b = &s->barriers[c->at];
    if (b->n && b->n != c->count)
        return false;
    b->n = c->count;
    s->generations[t][s->pc[t]] = b->generation + 1;
    tell_use(o, c->kind == 'A' ? BARRIER_ARRIVES : BARRIER_SYNCS, b, c->at, t);
    if (c->kind == 'A') {
        b->arrived++;
        s->pc[t]++;
    } else {
        b->synced++;
        s->blocked[t] = true;
    }
    if (b->arrived + b->synced == b->n)
        recycle(p, s, c->at, o);
    return true;
}

static bool step(const struct programs *p, struct state *s, uint32_t t, const struct observer *o)
{
    const struct command *c = &p->of[t][s->pc[t]];
    if (c->kind == 'A' || c->kind == 'S')
        return use(p, s, t, o);
    if (o && c->kind == 'r')
        o->read(o->context, t, c->at, 0);
    else if (o)
        o->write(o->context, t, c->at, 0, 0);
    s->pc[t]++;
    return true;
}

static bool can_step(const struct programs *p, const struct state *s, uint32_t t)
{
    return !s->blocked[t] && p->of[t][s->pc[t]].kind;
}

static enum came_out end_of(const struct programs *p, const struct state *s)
{
    for (uint32_t t = 0; t < p->threads; t++)
        if (p->of[t][s->pc[t]].kind)
            return DEADLOCK;
    return DONE;
}

static bool dangles(const struct state *s)
{
    for (uint32_t b = 0; b < NAMES; b++)
        if (s->barriers[b].n)
            return true;
    return false;
}

static void end(struct all *all, const struct programs *p, const struct state *s, bool error)
{
    enum came_out outcome = error ? ERROR : end_of(p, s);
    all->outcomes[outcome] = true;
    all->executions++;
    if (outcome != DONE)
        return;
    all->dangling |= dangles(s);
    all->several |=
        all->seen && memcmp(all->generations, s->generations, sizeof all->generations) != 0;
    memcpy(all->generations, s->generations, sizeof all->generations);
    all->seen = true;
}

static void explore(struct all *all, const struct programs *p, const struct state *s)
{
    bool stepped = false;
    for (uint32_t t = 0; t < p->threads; t++) {
        struct state next = *s;
        if (!can_step(p, s, t))
            continue;
        stepped = true;
        if (step(p, &next, t, NULL))
            explore(all, p, &next);
        else
            end(all, p, &next, true);
    }
    if (!stepped)
        end(all, p, s, false);
}

/* One execution, logged; threads in a random order. */
static enum came_out run(const struct programs *p, struct pcg *rng, struct nb_log *log)
{
    struct state s = {0};
    nb_log_begin(log);
    for (;;) {
        uint32_t live[THREADS_MAX], count = 0;
        for (uint32_t t = 0; t < p->threads; t++)
            if (can_step(p, &s, t))
                live[count++] = t;
        if (count == 0)
            return end_of(p, &s);
        if (!step(p, &s, live[pcg_below(rng, count)], &log->observer))
            return ERROR;
    }
}

/* ---- what the oracle says of one execution, against all ---- */

struct tools {
    struct nb_log *log;
    struct nb_room *room;
    struct nb_analysis a, b;
};

static struct tools make_tools(uint32_t threads, uint32_t warp)
{
    char text[120];
    (void)snprintf(text, sizeof text,
                   "launch(threads = %u, warp = %u); shared int g[2]; kernel k() { }",
                   (unsigned)threads, (unsigned)warp);
    const struct program *program = support_program(text);
    struct tools tools = {
        nb_log_new(&test_arena, program), nb_room_new(&test_arena, program), {0}, {0}};
    tools.a.pairs = ARENA_ARRAY(&test_arena, uint64_t, NB_PAIRS);
    tools.b.pairs = ARENA_ARRAY(&test_arena, uint64_t, NB_PAIRS);
    return tools;
}

static bool well_synchronised(const struct nb_analysis *a)
{
    return a->complete && a->recycled && !a->dangling;
}

/* Whether the first execution ends as that of a well-synchronised program; it does exactly if all end so, with
 * one map of generations; then all have the same races. */
static bool judge(const struct programs *p, struct tools *tools, struct pcg *rng)
{
    struct all all = {0};
    struct state start = {0};
    explore(&all, p, &start);
    bool well = run(p, rng, tools->log) == DONE;
    if (well) {
        nb_analyse(tools->room, tools->log, &tools->a);
        assert_true(tools->a.complete);
        well = well_synchronised(&tools->a);
    }
    bool same = !all.outcomes[ERROR] && !all.outcomes[DEADLOCK] && !all.dangling && !all.several;
    assert_int_equal(well, same);
    for (uint32_t i = 0; well && i < 3; i++) {
        assert_int_equal(run(p, rng, tools->log), DONE);
        nb_analyse(tools->room, tools->log, &tools->b);
        assert_true(well_synchronised(&tools->b));
        assert_true(tools->a.map == tools->b.map && tools->a.accesses == tools->b.accesses);
        assert_int_equal(tools->a.pair_count, tools->b.pair_count);
        assert_memory_equal(tools->a.pairs, tools->b.pairs,
                            tools->a.pair_count * sizeof *tools->a.pairs);
        enum nb_encoding encoded = nb_encode(tools->room, tools->log, &tools->b);
        assert_true(encoded == NB_ENCODED || encoded == NB_ENCODING_STUCK);
    }
    return well;
}

static void one_execution_tells_of_all(void **state)
{
    (void)state;
    for (uint32_t threads = 2; threads <= 3; threads++) {
        struct tools tools = make_tools(threads, threads);
        uint32_t well = 0, racy = 0, used = 0;
        for (uint32_t i = 0; i < 6000; i++) {
            struct pcg rng = pcg_derive(i, PCG_KERNEL, threads);
            struct programs p = {.threads = threads};
            for (uint32_t t = 0; t < threads; t++) {
                uint32_t length = 1 + pcg_below(&rng, threads == 2 ? COMMANDS : 3);
                for (uint32_t k = 0; k < length; k++) {
                    struct command *c = &p.of[t][k];
                    c->kind = "rwASSS"[pcg_below(&rng, 6)];
                    c->at = pcg_below(&rng, 2);
                    c->count = pcg_below(&rng, 4) ? 2 : 1 + pcg_below(&rng, threads);
                }
            }
            bool good = judge(&p, &tools, &rng);
            well += good;
            racy += good && tools.a.pair_count > 0;
            used += good && tools.a.uses > 2;
        }
        assert_true(well > 100 && racy > 30 && used > 30);
    }
}

/* ---- the golden programs: threads separated by | ---- */

static const struct {
    const char *id, *text;
    bool well, race_free;
} golden[] = {
    {"NB.K1", "w0 A02 | S02 r0", true, true},
    {"NB.K2", "A02 A02 | S02 S02", false, true},
    {"NB.K3", "A02 S12 A02 | S02 A12 S02", true, true},
    {"NB.K4", "S02 S12 | S12 S02", false, true},
    {"NB.K5", "S02 | S03 | S03", false, true},
    {"NB.K6", "S03 | S03 | ", false, true},
    {"NB.K7", "S02 | S02 | S02", false, true},
    {"NB.K8", "S02 | S02 | S02 | S02", false, true},
    {"NB.K9", "A02 | ", false, true},
    {"NB.K10", "A02 A02", true, true},
    {"NB.K11", "S01", true, true},
    {"NB.K12", "A01 A01", true, true},
    {"NB.K13", "S03 | S03 | S03", true, true},
    {"arrivals order nobody behind them", "A02 r0 | w0 S02", true, false},
    {"an arrival is before the release", "w0 A02 w1 | S02 r0 r1", true, false},
    {"a sync is before the other's release", "w0 S02 | S02 r0", true, true},
};

static void parse(const char *text, struct programs *p)
{
    uint32_t k = 0;
    *p = (struct programs){.threads = 1};
    for (const char *c = text; *c; c++) {
        if (*c == '|') {
            p->threads++;
            k = 0;
        }
        if (!strchr("rwAS", *c))
            continue;
        struct command *command = &p->of[p->threads - 1][k++];
        command->kind = *c;
        command->at = (uint32_t)(*++c - '0');
        if (command->kind == 'A' || command->kind == 'S')
            command->count = (uint32_t)(*++c - '0');
    }
}

static void golden_programs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        struct programs p;
        struct pcg rng = pcg_derive(i, PCG_KERNEL, 0);
        parse(golden[i].text, &p);
        struct tools tools = make_tools(p.threads, p.threads);
        bool well = judge(&p, &tools, &rng);
        if (well != golden[i].well || (well && (tools.a.pair_count == 0) != golden[i].race_free))
            print_error("%s\n", golden[i].id);
        assert_int_equal(well, golden[i].well);
        if (well)
            assert_int_equal(tools.a.pair_count == 0, golden[i].race_free);
    }
}

/* The encoding orders commands of different numbers, and those of one number stay apart. */
static void the_encoding_orders_a_warp(void **state)
{
    (void)state;
    struct tools tools = make_tools(2, 2);
    struct programs p;
    struct pcg rng = pcg_derive(1, PCG_KERNEL, 0);
    parse("w0 w1 | w1 r0", &p);
    assert_true(judge(&p, &tools, &rng));
    assert_int_equal(tools.a.pair_count, 2);
    tools.a.pair_count = 0; /* all races are gone: both pairs are of different numbers */
    assert_int_equal(nb_encode(tools.room, tools.log, &tools.a), NB_ENCODED);
    parse("w0 | w0", &p);
    assert_true(judge(&p, &tools, &rng));
    tools.a.pair_count = 0;
    assert_int_equal(nb_encode(tools.room, tools.log, &tools.a), NB_ENCODING_RACES);
    parse("S02 r1 | r1 A02", &p); /* the encoding introduces a deadlock */
    assert_true(judge(&p, &tools, &rng));
    assert_int_equal(nb_encode(tools.room, tools.log, &tools.a), NB_ENCODING_STUCK);
}

/* The same behind arrivals, which tell a warp nothing of what their threads do next: wrong versions count their
 * commands in another way. */
static void the_encoding_counts_arrivals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum nb_encoding encoding; /* with all races gone */
    } rows[] = {
        {"A02 w0 | A12 w0", NB_ENCODING_RACES},
        {"A02 w0 | A12 r1 r0", NB_ENCODED},
        {"r1 A02 w0 | r1 A12 w0", NB_ENCODING_RACES},
        {"r1 A02 w0 | r1 A12 r1 r0", NB_ENCODED},
        {"r1 r1 A02 w0 | r1 r1 A12 r0", NB_ENCODING_RACES},
        {"r1 r1 w0 A02 | r1 r1 A12 r0", NB_ENCODED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools tools = make_tools(2, 2);
        struct programs p;
        struct pcg rng = pcg_derive(1, PCG_KERNEL, i);
        parse(rows[i].text, &p);
        assert_int_equal(run(&p, &rng, tools.log), DONE);
        nb_analyse(tools.room, tools.log, &tools.a);
        tools.a.pair_count = 0;
        if (nb_encode(tools.room, tools.log, &tools.a) != rows[i].encoding)
            fail_msg("%s", rows[i].text);
    }
}

/* Only the machine of single threads, where there are barriers, and only when asked. */
static void who_is_watched(void **state)
{
    (void)state;
    static const struct {
        enum subject_id subject;
        unsigned oracles;
        uint32_t barriers;
        bool watched;
    } rows[] = {
        {SUBJECT_BLOCK, 1u << ORACLE_BARRIERS, 1, true},
        {SUBJECT_BLOCK, 1u << ORACLE_BARRIERS | 1u << ORACLE_RACE, 2, true},
        {SUBJECT_BLOCK, 1u << ORACLE_BARRIERS, 0, false},
        {SUBJECT_BLOCK, 0, 1, false},
        {SUBJECT_BLOCK, ~(1u << ORACLE_BARRIERS), 1, false},
        {SUBJECT_CRS, 1u << ORACLE_BARRIERS, 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ptx_code code = {.barriers = rows[i].barriers};
        struct program program = {.ptx = &code};
        struct check_options options = {.oracles = rows[i].oracles};
        struct checking c = {.options = &options};
        c.subjects[rows[i].subject].program = &program;
        assert_int_equal(barriers_watches(&c, rows[i].subject), rows[i].watched);
    }
}

/* An arrive orders what the thread does itself, nothing of other warps. */
static void the_encoding_keeps_warps_apart(void **state)
{
    (void)state;
    static const char *const texts[] = {"w0 | A02 r0", "A02 r0 | w0", "A02 A12 w0 | w0"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tools tools = make_tools(2, 1);
        struct programs p;
        struct pcg rng = pcg_derive(1, PCG_KERNEL, i);
        parse(texts[i], &p);
        assert_int_equal(run(&p, &rng, tools.log), DONE);
        nb_analyse(tools.room, tools.log, &tools.a);
        assert_int_equal(tools.a.pair_count, 1);
        tools.a.pair_count = 0;
        assert_int_equal(nb_encode(tools.room, tools.log, &tools.a), NB_ENCODING_RACES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_execution_tells_of_all),
        cmocka_unit_test(golden_programs),
        cmocka_unit_test(the_encoding_orders_a_warp),
        cmocka_unit_test(the_encoding_keeps_warps_apart),
        cmocka_unit_test(the_encoding_counts_arrivals),
        cmocka_unit_test(who_is_watched),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
