/*
 * How executions of PTX end that do not end well, under warps, under warps whose lanes have pcs of their own, and under
 * threads: the kind, whose fault it is, and the sentence that says which premise is missing.
 */
#include "tests/unit/shared/support.h"

#include "engine/subjects/forms.h"

/* Rows: four threads, two warps. %t is the thread, %p1 holds in thread 0, %p2 in thread 3. */
#define HEAD                                                                                       \
    ".version 7.0\n.target sm_70\n.address_size 64\n.shared .align 4 .u32 s[4];\n"                 \
    ".global .align 4 .u32 g[4];\n.const .align 4 .u32 c[4];\n"

struct ending {
    enum status status;
    uint32_t thread;
    const char *says;
};

#define SAME(...)                                                                                  \
    {__VA_ARGS__}, {__VA_ARGS__},                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct {
    const char *settings, *body;
    struct ending crs, thread_pc, block;
} rows[] = {
    {"", "mov.u32 %r1, 16; bar.sync %r1;",
     SAME(STATUS_STUCK, 0, "the barrier's number is not below 16")},
    {"", "mov.u32 %r1, 16; @%p2 bar.sync %r1;",
     SAME(STATUS_STUCK, 3, "the barrier's number is not below 16")},
    {"", "mov.u32 %r1, 0; @%p2 bar.sync 1, %r1;",
     SAME(STATUS_STUCK, 3, "the barrier's thread count is 0")},
    {"",
     "mov.u32 %r1, 3; @%p2 bar.sync 1, %r1;",
     {STATUS_STUCK, 3, "the barrier's thread count is no multiple of the warp size"},
     {STATUS_STUCK, 3, "the barrier's thread count is no multiple of the warp size"},
     {STATUS_DEADLOCK, 3, ""}},
    {"",
     "bar.arrive 1, 4; bar.sync 1, 2;",
     {STATUS_STUCK, 0, "the barrier is in use with another thread count (prepBar)"},
     {STATUS_STUCK, 0, "the barrier is in use with another thread count (prepBar)"},
     {STATUS_BARRIER_ERROR, 0, "the barrier is configured for another number of threads"}},
    {"",
     "@%p1 bar.sync 1, 4; @!%p1 bar.sync 1, 2;",
     {STATUS_STUCK, 2, "the barrier is in use with another thread count (prepBar)"},
     {STATUS_STUCK, 2, "the barrier is in use with another thread count (prepBar)"},
     {STATUS_BARRIER_ERROR, 1, "the barrier is configured for another number of threads"}},
    {"",
     "@%p1 bar.sync 1, 2; @%p2 bar.sync 1, 4; @%p1 bar.sync 1, 4;",
     {STATUS_TERMINATED, 0, ""},
     {STATUS_TERMINATED, 0, ""},
     {STATUS_BARRIER_ERROR, 3, "the barrier is configured for another number of threads"}},
    {"",
     "@%p1 bar.red.and.pred %p3, 1, %p1; @%p2 bar.sync 1;",
     {STATUS_STUCK, 3, "bar.red and bar.sync or bar.arrive on one barrier (prepBar)"},
     {STATUS_STUCK, 3, "bar.red and bar.sync or bar.arrive on one barrier (prepBar)"},
     {STATUS_STUCK, 3, "bar.red and another instruction, or another bar.red, on one barrier"}},
    {"",
     "@%p1 bar.red.and.pred %p3, 1, %p1; @%p2 bar.red.or.pred %p3, 1, %p1;",
     {STATUS_STUCK, 3, "the barrier is in use with another reduction (prepBar)"},
     {STATUS_STUCK, 3, "the barrier is in use with another reduction (prepBar)"},
     {STATUS_STUCK, 3, "bar.red and another instruction, or another bar.red, on one barrier"}},
    {"",
     "selp.u32 %r1, 2, 4, %p1; bar.sync 1, %r1;",
     {STATUS_STUCK, 0, "lanes of one barrier instruction give different thread counts (barInfo)"},
     {STATUS_STUCK, 0, "lanes of one barrier instruction give different thread counts (barInfo)"},
     {STATUS_BARRIER_ERROR, 1, "the barrier is configured for another number of threads"}},
    {"", "@%p1 bar.sync 3;", SAME(STATUS_DEADLOCK, 0, "")},
    {"", "@%p1 bar.sync 3, 4;", SAME(STATUS_DEADLOCK, 0, "")},
    {"raw",
     "break;",
     {STATUS_STUCK, 0, "lanes wait for a break or a return and the token stack is empty"},
     {STATUS_STUCK, 0, "a lane leaves a loop or a function, and there is no token of one"},
     {STATUS_STUCK, 0, "break without a preBrk that is open"}},
    {"raw",
     "@%p1 break;",
     {STATUS_STUCK, 1, "lanes wait for a break or a return and the token stack is empty"},
     {STATUS_STUCK, 0, "a lane leaves a loop or a function, and there is no token of one"},
     {STATUS_STUCK, 0, "break without a preBrk that is open"}},
    {"raw",
     "ret;",
     {STATUS_STUCK, 0, "lanes wait for a break or a return and the token stack is empty"},
     {STATUS_STUCK, 0, "a lane leaves a loop or a function, and there is no token of one"},
     {STATUS_STUCK, 0, "ret without a call"}},
    {"raw",
     "@%p2 ret;",
     {STATUS_STUCK, 2, "lanes wait for a break or a return and the token stack is empty"},
     {STATUS_STUCK, 3, "a lane leaves a loop or a function, and there is no token of one"},
     {STATUS_STUCK, 3, "ret without a call"}},
    {"raw",
     "sync;",
     {STATUS_STUCK, 0, "lanes wait for a break or a return and the token stack is empty"},
     {STATUS_STUCK, 0, "lanes wait for a break or a return and the token stack is empty"},
     {STATUS_TERMINATED, 0, ""}},
    {"raw", "ssy L; @%p2 sync; L:", SAME(STATUS_TERMINATED, 0, "")},
    {"raw",
     "mov.u32 %r1, 99; bra %r1;",
     {STATUS_STUCK, 0, "the program counter is at no instruction"},
     {STATUS_STUCK, 0, "the program counter is at no instruction"},
     {STATUS_STUCK, 0, "there is no instruction at the thread's address"}},
    {"raw",
     "mov.u32 %r1, 99; @%p2 bra %r1;",
     {STATUS_STUCK, 3, "the program counter is at no instruction"},
     {STATUS_STUCK, 3, "the program counter is at no instruction"},
     {STATUS_STUCK, 3, "there is no instruction at the thread's address"}},
    {"raw",
     "mov.u32 %r1, 0; @%p2 bra %r1;",
     {STATUS_STUCK, 3, "the program counter is at no instruction"},
     {STATUS_STUCK, 3, "the program counter is at no instruction"},
     {STATUS_STUCK, 3, "there is no instruction at the thread's address"}},
    {"raw", "mov.u32 %r1, 0; call %r1;",
     SAME(STATUS_STUCK, 0, "no function starts at the target of the call")},
    {"", "T: .branchtargets A, B; brx.idx %t, T; A: nop; B:",
     SAME(STATUS_STUCK, 2, "the index of brx.idx is not below the number of its targets")},
    {"", "ld.shared.u32 %r1, [s+16];",
     SAME(STATUS_OUT_OF_BOUNDS, 0,
          "read of 4 bytes at shared address 0x110: byte 16 of s, which has 16 bytes")},
    /* A 32-bit register and a constant are added in 32 bits. */
    {"", "mov.u32 %r1, s; sub.u32 %r1, %r1, 272; ld.shared.u32 %r1, [%r1+272];",
     SAME(STATUS_TERMINATED, 0, "")},
    {"", "@%p2 st.shared.u32 [s+18], 1;",
     SAME(STATUS_OUT_OF_BOUNDS, 3,
          "write of 4 bytes at shared address 0x112: not a multiple of 4")},
    {"", "@%p2 st.global.u16 [g+3], 1;",
     SAME(STATUS_OUT_OF_BOUNDS, 3,
          "write of 2 bytes at global address 0x40000010003: not a multiple of 2")},
    {"", "@%p2 st.global.v2.u32 [g+12], {%t, %t};",
     SAME(STATUS_OUT_OF_BOUNDS, 3,
          "write of 8 bytes at global address 0x4000001000c: not a multiple of 8")},
    {"", "@%p2 ld.const.u32 %r1, [c-4];",
     SAME(STATUS_OUT_OF_BOUNDS, 3,
          "read of 4 bytes at const address 0xfc: byte -4 of c, which has 16 bytes")},
    {"", "@%p2 atom.global.add.u32 %r1, [g+400], 1;",
     SAME(STATUS_OUT_OF_BOUNDS, 3,
          "atomic of 4 bytes at global address 0x40000010190: byte 400 of g, which has 16 bytes")},
    {"", "mov.u64 %d1, 5; @%p2 ld.u32 %r1, [%d1];",
     SAME(STATUS_OUT_OF_BOUNDS, 3, "read of 4 bytes at generic address 0x5: not a multiple of 4")},
    {"", "mov.u64 %d1, c; cvta.const.u64 %d1, %d1; @%p2 st.u32 [%d1], 1;",
     SAME(STATUS_OUT_OF_BOUNDS, 3,
          "write of 4 bytes at generic address 0x30000000100: constants and parameters cannot be "
          "written")},
    {"", ".local .u32 l; mov.u64 %d1, l; cvta.local.u64 %d1, %d1; @%p2 atom.add.u32 %r1, [%d1], 1;",
     SAME(STATUS_OUT_OF_BOUNDS, 3,
          "atomic of 4 bytes at generic address 0x20000000000: no atomics in local memory")},
    {"", "@%p2 ld.local.u32 %r1, [4];",
     SAME(STATUS_OUT_OF_BOUNDS, 3,
          "read of 4 bytes at local address 0x4: no variable of local memory is near")},
    {"", "vote.sync.all.pred %p3, %p1, 2;",
     SAME(STATUS_STUCK, 0, "a lane is not in the mask of lanes that it names")},
    {"", "vote.sync.all.pred %p3, %p1, 1;",
     SAME(STATUS_STUCK, 1, "a lane is not in the mask of lanes that it names")},
    {"",
     "@%p2 vote.sync.all.pred %p3, %p1, 3;",
     {STATUS_STUCK, 3, "the mask names lanes that do not execute the instruction"},
     {STATUS_STUCK, 3, "the mask names lanes that do not execute the instruction"},
     {STATUS_TERMINATED, 0, ""}},
    {"", "add.u32 %r1, %t, 1; redux.sync.add.u32 %r1, %t, %r1;",
     SAME(STATUS_STUCK, 3, "a lane is not in the mask of lanes that it names")},
    {"", "trap;", SAME(STATUS_ASSERT_FAILS, 0, "")},
    {"", "@%p2 trap;", SAME(STATUS_ASSERT_FAILS, 3, "")},
    {"", "L: bra L;", SAME(STATUS_STEP_LIMIT, 0, "")},
};

enum { ROWS = sizeof rows / sizeof *rows };

static struct ending ending_of(struct forms *forms, enum subject_id id)
{
    const struct subject_info *subject = &subject_table[id];
    const struct form *form = forms_get(forms, subject->program);
    const struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct scheduler scheduler;
    if (!form->program)
        return (struct ending){STATUS_UNSUPPORTED, 0, form->reason};
    struct machine *machine =
        machine_new(&test_arena, subject->vtable, form->program, &subject->options);
    sched_start(&scheduler, &spec, machine, &test_arena);
    enum status status = machine_run(machine, &scheduler.choices, 2000, NULL);
    return (struct ending){status, machine->head->fault_thread,
                           machine->fault_text ? machine->fault_text : ""};
}

static void check_ending(const char *body, const char *subject, struct ending found,
                         struct ending wanted)
{
    bool fails = wanted.status != STATUS_TERMINATED && wanted.status != STATUS_STEP_LIMIT;
    if (found.status != wanted.status || (fails && found.thread != wanted.thread) ||
        strcmp(found.says, wanted.says) != 0)
        fail_msg("%s, %s: {%s, %u, \"%s\"}", body, subject, status_names[found.status],
                 found.thread, found.says);
}

static void how_executions_end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        size_t mark = arena_mark(&test_arena);
        struct forms *forms =
            forms_new(&test_arena,
                      support_parse(arena_printf(&test_arena,
                                                 "// simtfuzz: entry=k threads=4 warp=2 %s\n" HEAD
                                                 ".visible .entry k() {\n.reg .pred %%p<4>; .reg "
                                                 ".b32 %%r<4>; .reg .b32 %%t; .reg .b64 "
                                                 "%%d<4>;\nmov.u32 %%t, %%tid.x; setp.eq.u32 %%p1, "
                                                 "%%t, 0; setp.eq.u32 %%p2, %%t, 3;\n%s\n"
                                                 "exit; }\n",
                                                 rows[i].settings, rows[i].body)));
        check_ending(rows[i].body, "crs", ending_of(forms, SUBJECT_CRS), rows[i].crs);
        check_ending(rows[i].body, "thread-pc", ending_of(forms, SUBJECT_THREAD_PC),
                     rows[i].thread_pc);
        check_ending(rows[i].body, "block", ending_of(forms, SUBJECT_BLOCK), rows[i].block);
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(how_executions_end, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
