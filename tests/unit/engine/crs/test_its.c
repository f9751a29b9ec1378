/*
 * semantics_its: threads of a warp with pcs of their own. Who waits for whom, what those that have met tell each
 * other - as the lanes of `crs` do where lanes meet there, too -, that steps are undone, what it refuses.
 */
#include "tests/unit/engine/crs/ptx_programs.h"

#define OUT ".shared .b32 out[8];\n"

struct row {
    const char *name, *settings, *body;
    enum status its, crs;
};

/* %r is the number of the thread, %p holds for thread 0. */
static void who_waits_for_whom(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"two places, one mask", "threads=2 warp=2 reg:%r=0,1 reg:%p=10",
         "  @%p bra A;\n  bar.warp.sync 3;\n  bra E;\nA:\n  bar.warp.sync 3;\nE:\n" PTX_STORE,
         STATUS_TERMINATED, STATUS_STUCK},
        {"two masks", "threads=2 warp=2 reg:%r=0,1 reg:%p=10",
         "  @%p bra A;\n  bar.warp.sync 3;\n  bra E;\nA:\n  bar.warp.sync 1;\nE:\n" PTX_STORE,
         STATUS_TERMINATED, STATUS_STUCK},
        {"a mask without oneself", "threads=2 warp=2 reg:%r=0,1 reg:%p=10",
         "  bar.warp.sync 1;\n" PTX_STORE, STATUS_STUCK, STATUS_STUCK},
        {"another instruction", "threads=2 warp=2 reg:%r=0,1 reg:%p=10",
         "  @%p bra A;\n  bar.warp.sync 3;\n  bra E;\nA:\n  vote.sync.any.pred %p, %p, 3;\nE:\n"
         "  bar.sync 0;\n" PTX_STORE,
         STATUS_DEADLOCK, STATUS_STUCK},
        {"another modifier", "threads=2 warp=2 reg:%r=0,1 reg:%p=10",
         "  @%p bra A;\n  vote.sync.all.pred %p, %p, 3;\n  bra E;\nA:\n"
         "  vote.sync.any.pred %p, %p, 3;\nE:\n  bar.sync 0;\n" PTX_STORE,
         STATUS_DEADLOCK, STATUS_STUCK},
        {"masks that differ, by more than who has ended",
         "threads=3 warp=4 reg:%r=3,7,7 reg:%p=001", "  @%p exit;\n  bar.warp.sync %r;\n" PTX_STORE,
         STATUS_DEADLOCK, STATUS_STUCK},
        {"who ends is not waited for", "threads=4 warp=4 reg:%r=0,1,2,3 reg:%p=1000",
         "  @%p exit;\n  bar.warp.sync 15;\n" PTX_STORE, STATUS_TERMINATED, STATUS_TERMINATED},
        {"a warp that is not full", "threads=3 warp=4 reg:%r=0,1,2 reg:%p=100",
         "  bar.warp.sync 15;\n" PTX_STORE, STATUS_TERMINATED, STATUS_TERMINATED},
        {"only its own warp", "threads=4 warp=2 reg:%r=0,1,2,3 reg:%p=1010",
         "  @%p bra A;\n  bar.warp.sync 3;\n  bra E;\nA:\n  bar.warp.sync 3;\nE:\n" PTX_STORE,
         STATUS_TERMINATED, STATUS_STUCK},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *settings = arena_printf(&test_arena, "entry=k %s", rows[i].settings);
        const struct program *program = ptx_program_of(ptx_text_of(settings, OUT, rows[i].body));
        enum status its = machine_status(ptx_play(&semantics_its, program, NULL));
        if (its != rows[i].its)
            fail_msg("%s: %s", rows[i].name, status_names[its]);
    }
}

/* Where all lanes come together, it says what `crs` says. */
static void they_tell_each_other_the_same(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "  vote.sync.ballot.b32 %r, %p, 15;\n" PTX_STORE,
        "  vote.sync.ballot.b32 %r, !%p, 15;\n" PTX_STORE,
        "  vote.sync.all.pred %p, !%p, 15;\n  selp.u32 %r, 5, 6, %p;\n" PTX_STORE,
        "  vote.sync.uni.pred %p, %p, 15;\n  selp.u32 %r, 5, 6, %p;\n" PTX_STORE,
        "  shfl.sync.bfly.b32 %r, %r, 1, 31, 15;\n" PTX_STORE,
        "  shfl.sync.down.b32 %r|%p, %r, 1, 31, 15;\n  selp.u32 %r, %r, 77, %p;\n" PTX_STORE,
        "  shfl.sync.idx.b32 %r, %r, 2, 0x1c1f, 15;\n" PTX_STORE,
        "  match.any.sync.b32 %r, %r, 15;\n" PTX_STORE,
        "  match.all.sync.b32 %r|%p, 3, 15;\n" PTX_STORE,
        "  redux.sync.add.s32 %r, %r, 15;\n" PTX_STORE,
        "  redux.sync.xor.b32 %r, %r, 15;\n" PTX_STORE,
        "  activemask.b32 %r;\n" PTX_STORE,
    };
    for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const struct program *program = ptx_program_of(
            ptx_text_of("entry=k threads=4 warp=4 reg:%r=4,9,9,7 reg:%p=0110", OUT, bodies[i]));
        const struct machine *a = ptx_play(&semantics_its, program, NULL),
                             *b = ptx_play(&semantics_crs, program, NULL);
        assert_int_equal(machine_status(a), STATUS_TERMINATED);
        assert_int_equal(machine_status(b), STATUS_TERMINATED);
        assert_memory_equal(a->memory, b->memory, 8 * sizeof *a->memory);
    }
}

/* Matrices need all 32 lanes: who waits when the others of the warp have ended meets once, and that is the end. */
static void matrices_without_all_lanes_end_it_once(void **state)
{
    (void)state;
    const struct program *program =
        ptx_program_of(ptx_text_of("entry=k threads=4 warp=32 reg:%r=0,1,2,3 reg:%p=0011", "",
                                   "  @%p exit;\n  mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
                                   "{%r, %s}, {%r}, {%r}, {%r, %r};\n  exit;\n"));
    const struct machine *m = ptx_play(&semantics_its, program, NULL);
    assert_int_equal(machine_status(m), STATUS_STUCK);
    assert_int_equal(m->head->fault_thread, 0);
    assert_int_equal(m->hits[RULE_ITS_MEET], 1);
}

static void instructions_without_sync_are_refused(void **state)
{
    (void)state;
    const struct program *program = ptx_program_of(
        ptx_text_of("entry=k threads=2 warp=2", "", "  nop;\n  vote.any.pred %p, %p;\n  exit;\n"));
    const char *reason = machine_refuses(&test_arena, &semantics_its, program);
    assert_non_null(reason);
    assert_non_null(strstr(reason, "'vote' without .sync at line"));
}

static void steps_are_undone(void **state)
{
    (void)state;
    const struct program *program = ptx_program_of(
        ptx_text_of("entry=k threads=4 warp=4 reg:%r=0,1,2,3 reg:%p=1010", OUT,
                    "H:\n  @%p bra A;\n  shfl.sync.bfly.b32 %s, %r, 1, 31, 15;\n  bra E;\nA:\n"
                    "  shfl.sync.bfly.b32 %s, %r, 1, 31, 15;\nE:\n  add.u32 %r, %r, %s;\n"
                    "  setp.lt.u32 %q, %r, 40;\n  @%q bra H;\n" PTX_STORE));
    assert_true(ptx_play_undoing(&semantics_its, program) > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_whom),
        cmocka_unit_test(they_tell_each_other_the_same),
        cmocka_unit_test(matrices_without_all_lanes_end_it_once),
        cmocka_unit_test(instructions_without_sync_are_refused),
        cmocka_unit_test(steps_are_undone),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
