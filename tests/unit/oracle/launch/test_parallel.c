/* Blocks on several threads: the launch ends as on one, with the same memory, marks, steps and findings. */
#include "tests/unit/shared/support.h"

#include "engine/input/ptx_kernel.h"
#include "oracle/launch/launch.h"

static const char head[] =
    "// simtfuzz: entry=k blocks=10000x1x1/0+1 threads=256 bind:p=buffer:32768:iota\n"
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %q; .reg .b32 %t, %c, %i, %v, %o; "
    ".reg .b64 %a, %b;\nld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;\n"
    "mov.u32 %i, 0;\nL: add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 500; @%q bra L;\n"
    "mad.lo.u32 %v, %c, 256, %t; mul.wide.u32 %b, %v, 4; add.s64 %b, %a, %b;\n";

enum { BLOCKS = 27, WRITTEN = 7168 /* words of p */ }; /* three groups of eight, and three blocks */

static const struct {
    const char *what, *body;
    bool divided;
    enum launch_kind kind; /* of what is found; LAUNCH_KINDS: nothing */
} kernels[] = {
    {"each its own word", "st.global.u32 [%b], %v;\n", true, LAUNCH_KINDS},
    {"each its own half",
     "shr.u64 %b, %b, 1; shr.u64 %a, %a, 1; add.s64 %b, %b, %a;\n"
     "st.global.u16 [%b], %v;\n",
     true, LAUNCH_KINDS},
    {"reads what is there", "ld.global.u32 %o, [%b]; add.u32 %o, %o, %c; st.global.u32 [%b], %o;\n",
     true, LAUNCH_KINDS},
    {"a counter", "red.global.add.u32 [%a], %v;\n", true, LAUNCH_KINDS},
    {"a wide counter", "red.global.add.u64 [%a], %b;\n", true, LAUNCH_KINDS},
    {"a maximum", "red.global.max.s32 [%a+4], %v;\n", true, LAUNCH_KINDS},
    {"exclusive or", "atom.global.xor.b32 %o, [%a+8], %v;\n", true, LAUNCH_KINDS},
    {"the order can be told", "atom.global.exch.b32 %o, [%a+8], %v;\n", false, LAUNCH_KINDS},
    {"one word by all", "st.global.u32 [%a], %v;\n", true, LAUNCH_RACE},
    {"the first block's word, by the last one of the second group",
     "setp.eq.u32 %q, %c, 15; @%q ld.global.u32 %o, [%a]; st.global.u32 [%b], %v;\n", true,
     LAUNCH_RACE},
    {"the third group's word, by the second one's blocks",
     "setp.eq.u32 %q, %c, 15; @%q ld.global.u32 %o, [%a+20480]; st.global.u32 [%b], %v;\n", true,
     LAUNCH_RACE},
    {"a counter that the third group reads",
     "setp.eq.u32 %q, %c, 20; @%q ld.global.u32 %o, [%a]; @!%q red.global.add.u32 [%a], 1;\n", true,
     LAUNCH_RACE},
    {"outside, in the second group",
     "setp.eq.u32 %q, %c, 9; @%q add.s64 %b, %b, 100000; st.global.u32 [%b], %v;\n", true,
     LAUNCH_FAULT},
    {"goes round, in the third group", "setp.eq.u32 %q, %c, 17; R: @%q bra R;\n", true,
     LAUNCH_FAULT},
    {"what nobody wrote, in the third group",
     "setp.eq.u32 %q, %c, 17; @%q ld.global.u32 %o, [%a+32000]; st.global.u32 [%b], %v;\n", true,
     LAUNCH_UNWRITTEN},
};

static struct launch *run(const char *text, uint32_t workers)
{
    static const uint32_t grid[3] = {BLOCKS, 1, 1};
    const struct launch_options options = {.workers = workers};
    struct diag diag;
    const char *why = NULL;
    diag_init(&diag, "k", NULL, 0);
    struct ast_kernel *kernel = ptx_kernel_parse(&test_arena, text, strlen(text), &diag);
    assert_non_null(kernel);
    struct launch *launch = launch_new(&test_arena, kernel, grid, &options, &why);
    assert_non_null(launch);
    memset(launch->race->written, 0xf, WRITTEN);
    launch_run(launch, &options);
    return launch;
}

static void same_findings(const struct launch_race *a, const struct launch_race *b)
{
    const struct launch_finding *f = a->findings, *g = b->findings;
    for (; f && g; f = f->next, g = g->next) {
        assert_int_equal(f->kind, g->kind);
        assert_int_equal(f->count, g->count);
        assert_string_equal(f->text, g->text);
    }
    assert_null(f);
    assert_null(g);
}

static void same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        const char *text = arena_printf(&test_arena, "%s%sret;\n}\n", head, kernels[i].body);
        const struct launch *one = run(text, 1);
        const size_t words = one->program->shared_base;
        assert_false(one->divided);
        assert_int_equal(one->race->findings ? one->race->findings->kind : LAUNCH_KINDS,
                         kernels[i].kind);
        for (uint32_t workers = 2; workers <= 4; workers += 2) {
            const struct launch *more = run(text, workers);
            assert_int_equal(more->divided, kernels[i].kind == LAUNCH_KINDS && kernels[i].divided);
            assert_int_equal(more->status, one->status);
            assert_int_equal(more->steps, one->steps);
            assert_int_equal(more->blocks_done, one->blocks_done);
            assert_memory_equal(more->machine->memory, one->machine->memory, 4 * words);
            assert_memory_equal(more->race->written, one->race->written, words);
            same_findings(more->race, one->race);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
