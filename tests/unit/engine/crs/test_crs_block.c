/*
 * Barriers of thread blocks of warps (engine/crs/crs_block.c): BAR.1-11 of the catalogue (cuda-crs, section 9), each
 * with its set of outcomes over all schedules; ends of generations at once, and at any time.
 */
#include "tests/unit/engine/crs/ptx_programs.h"

enum {
    COMPLETED = 1 << STATUS_TERMINATED,
    DEADLOCK = 1 << STATUS_DEADLOCK,
    STUCK = 1 << STATUS_STUCK,
    DIVERGENCE = 1 << STATUS_BARRIER_DIVERGENCE
};

#define ARMS                                                                                       \
    "  ssy E;\n  @%p bra T;\n  bar.sync 0;\n  bra J;\nT:\n  bar.sync 0;\nJ:\n  sync;\nE:\n  "      \
    "exit;\n"
#define SOME_EXIT "  @%p exit;\n  bar.sync 0;\n  exit;\n"

static const struct bar_row {
    const char *id;
    const char *settings; /* warp=2 and a block of so many threads */
    const char *body;
    uint32_t options;
    uint32_t outcomes;
} bar_rows[] = {
    {"BAR.1", "threads=4", "  bar.sync 0;\n  exit;\n", 0, COMPLETED},
    {"BAR.2", "threads=4 reg:%p=1011", ARMS, 0, COMPLETED | DEADLOCK},
    {"BAR.2m", "threads=4 reg:%p=1011", ARMS, BLOCK_ALL_WARPS, DEADLOCK},
    {"BAR.2h", "threads=4 reg:%p=1011", ARMS, BLOCK_EXIT_ARRIVES, COMPLETED},
    {"BAR.3 one warp", "threads=2 reg:%p=10", ARMS, 0, COMPLETED},
    {"BAR.3 two warps", "threads=4 reg:%p=1001", ARMS, 0, COMPLETED},
    {"BAR.4", "threads=4 reg:%p=1100", SOME_EXIT, 0, COMPLETED | DEADLOCK},
    {"BAR.4 exit arrives", "threads=4 reg:%p=1100", SOME_EXIT, BLOCK_EXIT_ARRIVES, COMPLETED},
    {"BAR.5", "threads=4 reg:%p=1010", SOME_EXIT, 0, COMPLETED},
    {"BAR.5 lanes", "threads=4 reg:%p=1010", SOME_EXIT, BLOCK_LANES, DEADLOCK},
    {"BAR.7", "threads=4 reg:%p=0011",
     "  @%p bra C;\n  bar.arrive 1, 4;\n  exit;\nC:\n  bar.sync 1, 4;\n  exit;\n", 0, COMPLETED},
    {"BAR.8", "threads=4 reg:%p=0011",
     "  @%p bra C;\n  bar.red.popc.u32 %r, 0, %q;\n  exit;\nC:\n  bar.sync 0;\n  exit;\n", 0,
     STUCK},
    {"BAR.9", "threads=4 reg:%r=0,1,0,1", "  bar.sync %r;\n  exit;\n", 0, COMPLETED},
    {"BAR.9 one id", "threads=4 reg:%r=0,1,0,0", "  bar.sync %r;\n  exit;\n", 0, DEADLOCK},
    {"BAR.10", "threads=4", "  bar.sync 0, 2;\n  exit;\n", 0, COMPLETED},
    {"BAR.11 8 and 4", "threads=4 reg:%r=8,8,4,4", "  bar.sync 0, %r;\n  exit;\n", 0, STUCK},
    {"BAR.11 2 and 4", "threads=4 reg:%r=2,2,4,4", "  bar.sync 0, %r;\n  exit;\n", 0,
     STUCK | DEADLOCK},
    /* ERR.41: one barrier with a count and without, and sync with arrive; in either order. */
    {"ERR.41 default and explicit", "threads=4 reg:%p=0011",
     "  @%p bra C;\n  bar.sync 0;\n  exit;\nC:\n  bar.sync 0, 4;\n  exit;\n", 0, COMPLETED},
    /* ERR.57, THR.bar_sync: what is no BarrierIdx, no ThreadCnt. */
    {"count 0", "threads=2 reg:%r=0", "  bar.sync 0, %r;\n  exit;\n", 0, STUCK},
    {"count 3", "threads=2 reg:%r=3", "  bar.sync 0, %r;\n  exit;\n", 0, STUCK},
    {"number 16", "threads=2 reg:%r=16", "  bar.sync %r;\n  exit;\n", 0, STUCK},
    {"number 15", "threads=2 reg:%r=15", "  bar.sync %r;\n  exit;\n", 0, COMPLETED},
    /* BLK.barInfo within one action; lanes that name different barriers need not agree. */
    {"two counts", "threads=2 reg:%r=2,4", "  bar.sync 0, %r;\n  exit;\n", 0, STUCK},
    {"two counts apart", "threads=4 reg:%r=2,4,2,4 reg:%s=0,1,2,1", "  bar.sync %s, %r;\n  exit;\n",
     0, COMPLETED},
    /* A barrier with all guards false is no arrival. */
    {"all false", "threads=4 reg:%p=0011", "  @%p bar.sync 0;\n  exit;\n", 0, COMPLETED | DEADLOCK},
    /* Underpopulated: a warp of one lane counts as a warp. */
    {"three threads", "threads=3", "  bar.sync 0, 4;\n  exit;\n", 0, COMPLETED},
    {"three threads, default", "threads=3", "  bar.sync 0;\n  exit;\n", 0, COMPLETED},
    {"three threads, lanes", "threads=3", "  bar.sync 0;\n  exit;\n", BLOCK_LANES, COMPLETED},
    /* Barriers are the block's own. */
    {"two blocks", "threads=4 blocks=2 reg:%p=0011",
     "  @%p bra C;\n  bar.arrive 1, 4;\n  exit;\nC:\n  bar.sync 1, 4;\n  exit;\n", 0, COMPLETED},
    {"one of two blocks waits for ever", "threads=4 blocks=2",
     "  mov.u32 %r, %ctaid.x;\n  setp.eq.u32 %p, %r, 0;\n  @%p bar.sync 0, 8;\n  exit;\n", 0,
     DEADLOCK},
    /* PTX's own rule: bar is aligned. Lanes that have exited need not come. */
    {"aligned, exited", "threads=4 reg:%p=1010", SOME_EXIT, BLOCK_ALIGNED, COMPLETED},
    {"aligned, guard", "threads=2 reg:%p=10", "  @%p bar.sync 0;\n  exit;\n", BLOCK_ALIGNED,
     DIVERGENCE},
    {"aligned, arms", "threads=2 reg:%p=10", ARMS, BLOCK_ALIGNED, DIVERGENCE},
    {"aligned, barrier", "threads=2 reg:%p=10", "  @%p barrier.sync 0;\n  exit;\n", BLOCK_ALIGNED,
     COMPLETED},
    {"aligned, barrier.aligned", "threads=2 reg:%p=10", "  @%p barrier.sync.aligned 0;\n  exit;\n",
     BLOCK_ALIGNED, DIVERGENCE},
};

static void barrier_tests_of_the_catalogue(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof bar_rows / sizeof *bar_rows; i++) {
        const struct bar_row *row = &bar_rows[i];
        size_t mark = arena_mark(&test_arena);
        const char *settings = arena_printf(&test_arena, "warp=2 %s", row->settings);
        const struct program *program = ptx_program_of(ptx_text_of(settings, "", row->body));
        assert_statuses(row->id, ptx_outcomes(&semantics_crs, program, row->options),
                        row->outcomes);
        assert_statuses(row->id, ptx_outcomes(&semantics_crs, program, row->options | BLOCK_LATE),
                        row->outcomes);
        assert_statuses(row->id, ptx_outcomes(&semantics_thread_pc, program, row->options),
                        row->outcomes);
        arena_release(&test_arena, mark);
    }
}

/* The end of a generation is seen: what comes late meets the old one. */
static void late_ends_are_more_behaviours(void **state)
{
    (void)state;
    static const struct bar_row rows[] = {
        {"arrive twice", "threads=2", "  bar.arrive 0, 2;\n  bar.arrive 0, 4;\n  exit;\n", 0,
         COMPLETED},
        {"arrive twice, late", "threads=2", "  bar.arrive 0, 2;\n  bar.arrive 0, 4;\n  exit;\n",
         BLOCK_LATE, COMPLETED | STUCK},
        /* Of three arrivals for two, the third may be the first's generation's, or wait alone. */
        {"over-arrival", "threads=6", "  bar.sync 0, 4;\n  exit;\n", 0, DEADLOCK},
        {"over-arrival, late", "threads=6", "  bar.sync 0, 4;\n  exit;\n", BLOCK_LATE,
         DEADLOCK | COMPLETED},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *settings = arena_printf(&test_arena, "warp=2 %s", rows[i].settings);
        const struct program *program = ptx_program_of(ptx_text_of(settings, "", rows[i].body));
        assert_statuses(rows[i].id, ptx_outcomes(&semantics_crs, program, rows[i].options),
                        rows[i].outcomes);
    }
}

/* BAR.6, and the other reductions: final values of out, one a thread. */
static void reductions_reach_the_lanes_that_executed(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        const char *command;
        int32_t out[4];
    } rows[] = {
        {"reg:%p=1011 reg:%q=1101", "@%p bar.red.popc.u32 %r, 0, %q;", {2, 77, 2, 2}},
        {"reg:%p=1011 reg:%q=1101", "@%p bar.red.popc.u32 %r, 0, !%q;", {1, 77, 1, 1}},
        {"reg:%p=1111 reg:%q=1111", "bar.red.popc.u32 %r, 3, 4, %q;", {4, 4, 4, 4}},
        {"reg:%p=1111 reg:%q=1101",
         "bar.red.and.pred %q, 0, %q;\n  selp.u32 %r, 1, 0, %q;",
         {0, 0, 0, 0}},
        {"reg:%p=1111 reg:%q=0100",
         "bar.red.or.pred %q, 0, %q;\n  selp.u32 %r, 1, 0, %q;",
         {1, 1, 1, 1}},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *settings =
            arena_printf(&test_arena, "warp=2 threads=4 reg:%%r=77 %s", rows[i].settings);
        const char *body = arena_printf(&test_arena,
                                        "  %s\n  mov.u32 %%s, %%tid.x;\n  shl.b32 %%s, %%s, 2;\n"
                                        "  mov.u32 %%t, out;\n  add.u32 %%t, %%t, %%s;\n"
                                        "  st.shared.u32 [%%t], %%r;\n  exit;\n",
                                        rows[i].command);
        const struct program *program =
            ptx_program_of(ptx_text_of(settings, ".shared .b32 out[4];\n", body));
        struct machine *machine = search_machine(&test_arena, &semantics_crs, program, false);
        struct search_options options = SEARCH_DEFAULTS;
        options.method = SEARCH_STATES;
        const struct search_result *result = search_run(&test_arena, machine, &options);
        assert_true(result->complete);
        assert_int_equal(result->outcome_count, 1);
        assert_int_equal(result->outcomes[0].status, STATUS_TERMINATED);
        assert_memory_equal(result->outcomes[0].store + support_address(program, "out"),
                            rows[i].out, sizeof rows[i].out);
    }
}

/* ---- events ---- */

struct heard {
    uint32_t count;
    struct barrier_use uses[64];
    uint32_t barriers; /* all threads of the block */
};

static void on_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct heard *heard = context;
    (void)machine;
    assert_true(heard->count < 64);
    heard->uses[heard->count++] = *use;
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct heard *heard = context;
    (void)machine;
    assert_true(event->all);
    heard->barriers++;
}

static void listen(struct heard *heard, const struct program *program, uint32_t options)
{
    const struct observer observer = {.context = heard, .use = on_use, .barrier = on_barrier};
    struct machine_options with = {.block_options = options, .observers = &observer};
    struct machine *machine = machine_new(&test_arena, &semantics_crs, program, &with);
    struct scheduler scheduler;
    struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    *heard = (struct heard){.count = 0};
    sched_start(&scheduler, &spec, machine, &test_arena);
    machine_run(machine, &scheduler.choices, 1000, NULL);
}

static void uses_are_reported(void **state)
{
    (void)state;
    struct heard heard;
    listen(&heard,
           ptx_program_of(ptx_text_of("warp=2 threads=4 reg:%p=0011", "",
                                      "  @%p bra C;\n  bar.arrive 1, 4;\n  bar.sync 0;\n  exit;\n"
                                      "C:\n  bar.sync 1, 4;\n  bar.sync 0;\n  exit;\n")),
           0);
    static const struct barrier_use expected[] = {
        {BARRIER_ARRIVES, 0, 1, 4, 0, 0, 3, 2}, {BARRIER_SYNCS, 0, 0, 4, 0, 0, 3, 3},
        {BARRIER_SYNCS, 0, 1, 4, 0, 2, 3, 5},   {BARRIER_RELEASES, 0, 1, 4, 0, 2, 3, 5},
        {BARRIER_SYNCS, 0, 0, 4, 0, 2, 3, 6},   {BARRIER_RELEASES, 0, 0, 4, 0, 0, 3, 3},
        {BARRIER_RELEASES, 0, 0, 4, 0, 2, 3, 3}};
    assert_int_equal(heard.count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        const struct barrier_use *a = &heard.uses[i], *b = &expected[i];
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->barrier, b->barrier);
        assert_int_equal(a->count, b->count);
        assert_int_equal(a->generation, b->generation);
        assert_int_equal(a->first_thread, b->first_thread);
        assert_int_equal(a->mask, b->mask);
        assert_int_equal(a->stm, b->stm);
    }
    assert_int_equal(heard.barriers, 1); /* barrier 0 takes all threads, barrier 1 does not */
}

static void a_barrier_of_all_threads_is_one_for_detectors(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *body;
        uint32_t uses, barriers;
    } rows[] = {
        {"threads=4", "  bar.sync 0;\n  bar.sync 0;\n  exit;\n", 8, 2},
        {"threads=4", "  bar.sync 3, 4;\n  exit;\n", 4, 1},
        {"threads=4 reg:%p=1010", SOME_EXIT, 4, 1}, /* lanes have exited */
        {"threads=4 reg:%p=1100", SOME_EXIT, 2, 1}, /* a warp has: the count leaves it out */
        {"threads=4 reg:%p=1100", "  @%p exit;\n  bar.sync 0, 2;\n  exit;\n", 2, 0},
        {"threads=4 reg:%p=1110", "  @%p bar.sync 0;\n  exit;\n", 4, 0}, /* a lane is missing */
        {"threads=2 reg:%p=10", ARMS, 4, 0},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heard heard;
        const char *settings = arena_printf(&test_arena, "warp=2 %s", rows[i].settings);
        listen(&heard, ptx_program_of(ptx_text_of(settings, "", rows[i].body)), 0);
        assert_int_equal(heard.count, rows[i].uses);
        assert_int_equal(heard.barriers, rows[i].barriers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barrier_tests_of_the_catalogue),
        cmocka_unit_test(late_ends_are_more_behaviours),
        cmocka_unit_test(reductions_reach_the_lanes_that_executed),
        cmocka_unit_test(uses_are_reported),
        cmocka_unit_test(a_barrier_of_all_threads_is_one_for_detectors),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
