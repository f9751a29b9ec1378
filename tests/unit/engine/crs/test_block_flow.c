/*
 * semantics_block beside its barriers' rules: control flow of single threads with private stacks - code with and
 * without preBrk and preRet -, bar.red, events, several blocks, what it refuses, what ends it.
 */
#include "tests/unit/engine/crs/ptx_programs.h"

#define TWICE ".func (.reg .b32 %y) twice(.reg .b32 %x) {\n  add.u32 %y, %x, %x;\n  ret;\n}\n"
/* A callee that leaves a loop by ret, with a break entry open; and one that calls without preRet. */
#define LOOPS                                                                                      \
    ".func (.reg .b32 %y) loops(.reg .b32 %x) {\n  .reg .pred %p;\n  mov.u32 %y, %x;\n"            \
    "  preBrk E;\nH:\n  add.u32 %y, %y, 1;\n  setp.gt.u32 %p, %y, 9;\n  @%p ret;\n  bra H;\n"      \
    "E:\n  ret;\n}\n"
#define MIXED                                                                                      \
    ".func (.reg .b32 %y) mixed(.reg .b32 %x) {\n  .reg .b32 %z;\n"                                \
    "  call (%z), twice, (%x);\n  add.u32 %y, %z, 1;\n  ret;\n}\n"
#define COUNTS                                                                                     \
    ".func (.reg .b32 %y) counts(.reg .b32 %x) {\n  .reg .pred %p;\n  .reg .b32 %z;\n"             \
    "  mov.u32 %y, 0;\n  setp.eq.u32 %p, %x, 0;\n  @%p ret;\n  sub.u32 %z, %x, 1;\n"               \
    "  call (%y), counts, (%z);\n  add.u32 %y, %y, %x;\n  ret;\n}\n"

static void threads_go_their_ways(void **state)
{
    (void)state;
    static const struct {
        const char *name, *declarations, *body;
        int32_t out[2];
    } rows[] = {
        {"loop by bra",
         "",
         "H:\n  add.u32 %r, %r, 1;\n  setp.lt.u32 %p, %r, 6;\n  @%p bra H;\n" PTX_STORE,
         {6, 6}},
        {"loops by break",
         "",
         "  preBrk E;\nH:\n  add.u32 %r, %r, 1;\n  setp.gt.u32 %p, %r, 6;\n  @%p break;\n  bra H;\n"
         "E:\n" PTX_STORE,
         {7, 7}},
        {"call", TWICE, "  call (%r), twice, (%r);\n" PTX_STORE, {6, 8}},
        {"call with preRet",
         TWICE,
         "  preRet B;\n  call (%r), twice, (%r);\nB:\n" PTX_STORE,
         {6, 8}},
        {"call in a loop",
         TWICE,
         "  preBrk E;\nH:\n  preRet B;\n  call (%r), twice, (%r);\nB:\n  setp.gt.u32 %p, %r, 9;\n"
         "  @%p break;\n  bra H;\nE:\n" PTX_STORE,
         {12, 16}},
        {"ret out of a loop",
         LOOPS,
         "  preBrk E;\nH:\n  preRet B;\n  call (%r), loops, (%r);\nB:\n  break;\n  bra H;\nE:\n"
         "  add.u32 %r, %r, 100;\n" PTX_STORE,
         {110, 110}},
        {"ret out of a loop, without preRet",
         LOOPS,
         "  preBrk E;\n  call (%r), loops, (%r);\n  break;\n  mov.u32 %r, 0;\nE:\n"
         "  add.u32 %r, %r, 100;\n" PTX_STORE,
         {110, 110}},
        {"caller with, callee without",
         TWICE MIXED,
         "  preRet B;\n  call (%r), mixed, (%r);\nB:\n  add.u32 %r, %r, 100;\n" PTX_STORE,
         {107, 109}},
        {"recursion", COUNTS, "  call (%r), counts, (%r);\n" PTX_STORE, {6, 10}},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *declarations =
            arena_printf(&test_arena, ".shared .b32 out[2];\n%s", rows[i].declarations);
        const struct program *program = ptx_program_of(
            ptx_text_of("entry=k threads=2 warp=2 reg:%r=3,4", declarations, rows[i].body));
        const struct machine *machine = ptx_play(&semantics_block, program, NULL);
        assert_int_equal(machine_status(machine), STATUS_TERMINATED);
        const int32_t *out = machine->memory + support_address(program, "out");
        if (memcmp(out, rows[i].out, sizeof rows[i].out) != 0)
            fail_msg("%s: %d, %d", rows[i].name, (int)out[0], (int)out[1]);
    }
}

static void executions_end_as_they_must(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *declarations, *body;
        enum status status;
        const char *why; /* a part of fault_text */
    } rows[] = {
        {"", "", "  break;\n  exit;\n", STATUS_STUCK, "preBrk"},
        {"raw", "", "  ret;\n", STATUS_STUCK, "without a call"},
        {"", "", "  ret;\n", STATUS_TERMINATED, NULL},
        {"", "", "  trap;\n  exit;\n", STATUS_ASSERT_FAILS, NULL},
        {"raw reg:%r=99", "", "  bra %r;\n  exit;\n", STATUS_STUCK, "no instruction"},
        {"", "", "H:\n  preBrk E;\n  bra H;\nE:\n  exit;\n", STATUS_CALL_DEPTH, "limit"},
        {"reg:%r=16", "", "  bar.sync %r;\n  exit;\n", STATUS_STUCK, "16"},
        {"reg:%r=0", "", "  bar.sync 0, %r;\n  exit;\n", STATUS_STUCK, "count is 0"},
        {"blocks=2", "",
         "  mov.u32 %r, %ctaid.x;\n  setp.eq.u32 %p, %r, 0;\n  @%p bar.sync 0, 3;\n  exit;\n",
         STATUS_DEADLOCK, NULL},
        {"reg:%p=01", "",
         "  @%p bra B;\n  bar.sync 0;\n  exit;\nB:\n  bar.red.popc.u32 %r, 0, %p;\n  exit;\n",
         STATUS_STUCK, "bar.red"},
        {"", ".shared .b32 out[2];\n", "  st.shared.u32 [out+4096], %r;\n  exit;\n",
         STATUS_OUT_OF_BOUNDS, ""},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *settings =
            arena_printf(&test_arena, "entry=k threads=2 warp=2 %s", rows[i].settings);
        const struct machine *machine = ptx_play(
            &semantics_block,
            ptx_program_of(ptx_text_of(settings, rows[i].declarations, rows[i].body)), NULL);
        if (machine_status(machine) != rows[i].status)
            fail_msg("row %u: %s", (unsigned)i, status_names[machine_status(machine)]);
        if (rows[i].why) {
            assert_non_null(machine->fault_text);
            if (!strstr(machine->fault_text, rows[i].why))
                fail_msg("row %u: '%s'", (unsigned)i, machine->fault_text);
        }
    }
}

static void reductions_are_over_all_who_came(void **state)
{
    (void)state;
    static const struct {
        const char *command;
        int32_t out[4];
    } rows[] = {
        {"bar.red.popc.u32 %r, 0, %q;", {3, 3, 3, 3}},
        {"bar.red.popc.u32 %r, 0, !%q;", {1, 1, 1, 1}},
        {"@%p bar.red.popc.u32 %r, 2, 2, %q;", {2, 2, 77, 77}},
        {"bar.red.and.pred %q, 0, %q;\n  selp.u32 %r, 1, 0, %q;", {0, 0, 0, 0}},
        {"bar.red.or.pred %q, 0, %q;\n  selp.u32 %r, 1, 0, %q;", {1, 1, 1, 1}},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *body = arena_printf(&test_arena, "  %s\n%s", rows[i].command, PTX_STORE);
        const struct program *program = ptx_program_of(
            ptx_text_of("entry=k threads=4 blocks=2 warp=2 reg:%p=1100 reg:%q=1101 reg:%r=77",
                        ".shared .b32 out[4];\n", body));
        const struct machine *machine = ptx_play(&semantics_block, program, NULL);
        assert_int_equal(machine_status(machine), STATUS_TERMINATED);
        uint32_t out = support_address(program, "out");
        for (uint32_t block = 0; block < 2; block++)
            assert_memory_equal(machine->memory + out + block * program->words[SPACE_SHARED],
                                rows[i].out, sizeof rows[i].out);
    }
}

/* ---- events ---- */

struct heard {
    uint32_t arrives, syncs, releases; /* threads */
    uint32_t blocks[2];                /* barriers of all threads */
    uint32_t generations;              /* the highest + 1 */
};

static void on_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct heard *heard = context;
    uint32_t threads = (uint32_t)__builtin_popcountll(use->mask);
    assert_int_equal(use->first_thread / machine->program->launch.threads, use->block);
    heard->arrives += use->kind == BARRIER_ARRIVES ? threads : 0;
    heard->syncs += use->kind == BARRIER_SYNCS ? threads : 0;
    heard->releases += use->kind == BARRIER_RELEASES ? threads : 0;
    if (heard->generations <= use->generation)
        heard->generations = use->generation + 1;
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct heard *heard = context;
    (void)machine;
    assert_true(event->all);
    heard->blocks[event->block]++;
}

static void uses_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *body;
        struct heard heard;
    } rows[] = {
        {"threads=100 blocks=2",
         "  bar.sync 0;\n  bar.sync 0;\n  exit;\n",
         {0, 400, 400, {2, 2}, 2}},
        {"threads=2 reg:%p=01",
         "  @%p bra C;\n  bar.arrive 1, 2;\n  exit;\nC:\n  bar.sync 1, 2;\n  exit;\n",
         {1, 1, 1, {0, 0}, 1}},
        {"threads=2", "  bar.arrive 1, 1;\n  bar.sync 2, 2;\n  exit;\n", {2, 2, 2, {1, 0}, 2}},
        {"threads=3 reg:%p=001", "  @%p exit;\n  bar.sync 0, 2;\n  exit;\n", {0, 2, 2, {0, 0}, 1}},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heard heard = {.arrives = 0};
        const struct observer observer = {.context = &heard, .use = on_use, .barrier = on_barrier};
        const char *settings = arena_printf(&test_arena, "entry=k warp=32 %s", rows[i].settings);
        const struct machine *machine = ptx_play(
            &semantics_block, ptx_program_of(ptx_text_of(settings, "", rows[i].body)), &observer);
        assert_int_equal(machine_status(machine), STATUS_TERMINATED);
        assert_memory_equal(&heard, &rows[i].heard, sizeof heard);
    }
}

/* ---- what a thread alone cannot do ---- */

static void warp_instructions_are_refused(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "  vote.sync.any.pred %p, %q, 3;\n  exit;\n", "  activemask.b32 %r;\n  exit;\n",
        "  shfl.sync.bfly.b32 %r, %r, 1, 31, 3;\n  exit;\n", "  bar.warp.sync 3;\n  exit;\n"};
    for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const struct program *program =
            ptx_program_of(ptx_text_of("entry=k threads=2 warp=2", "", bodies[i]));
        const char *reason = machine_refuses(&test_arena, &semantics_block, program);
        assert_non_null(reason);
        assert_non_null(strstr(reason, "of a whole warp at line"));
        assert_null(machine_refuses(&test_arena, &semantics_crs, program));
    }
}

static void steps_are_undone(void **state)
{
    (void)state;
    const struct program *program = ptx_program_of(
        ptx_text_of("entry=k threads=3 warp=2 reg:%r=1,2,3", ".shared .b32 out[3];\n" TWICE LOOPS,
                    "  preBrk E;\nH:\n  preRet B;\n  call (%r), twice, (%r);\nB:\n"
                    "  bar.sync 0;\n  setp.gt.u32 %p, %r, 20;\n"
                    "  bar.red.and.pred %p, 1, %p;\n  @%p break;\n  bra H;\nE:\n" PTX_STORE));
    assert_true(ptx_play_undoing(&semantics_block, program) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_go_their_ways),
        cmocka_unit_test(executions_end_as_they_must),
        cmocka_unit_test(reductions_are_over_all_who_came),
        cmocka_unit_test(uses_are_reported),
        cmocka_unit_test(warp_instructions_are_refused),
        cmocka_unit_test(steps_are_undone),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
