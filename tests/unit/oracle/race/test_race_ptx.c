/* Race verdicts of kernels given as PTX: in lock-step, thread by thread, with named barriers, with atomics that
 * order, with writes of one value. */
#include "tests/unit/shared/support.h"

#include "engine/input/ptx_kernel.h"
#include "oracle/check/check.h"

#define KERNEL(settings, body)                                                                     \
    "// simtfuzz: entry=k " settings "\n"                                                          \
    ".version 7.8\n.target sm_70\n.address_size 64\n.shared .align 4 .u32 s[8];\n"                 \
    ".global .align 4 .u32 g = 0;\n.global .align 4 .u32 h = 0;\n"                                 \
    ".visible .entry k()\n{\n.reg .pred p; .reg .u32 t, a, v, w; .reg .u64 x, y;\n"                \
    "mov.u32 t, %tid.x; shl.b32 a, t, 2; mov.u32 v, s; add.u32 a, a, v; mov.u64 x, g; "            \
    "mov.u64 y, h;\nsetp.eq.u32 p, t, 0;\n" body "exit;\n}\n"

enum { SAME = 1, SYNC = 2 };

static const struct {
    const char *what, *text;
    unsigned options;
    bool crs, block;
} kernels[] = {
    {"a lane reads what its neighbour has written",
     KERNEL("threads=2 warp=2", "st.shared.u32 [a], t; xor.b32 a, a, 4; ld.shared.u32 v, [a];\n"),
     0, false, true},
    {"... in another warp",
     KERNEL("threads=2 warp=1", "st.shared.u32 [a], t; xor.b32 a, a, 4; ld.shared.u32 v, [a];\n"),
     0, true, true},
    {"... behind a barrier",
     KERNEL("threads=2 warp=1",
            "st.shared.u32 [a], t; xor.b32 a, a, 4; bar.sync 0; ld.shared.u32 v, [a];\n"),
     0, false, false},
    {"lanes of one store", KERNEL("threads=2 warp=2", "st.shared.u32 [s], t;\n"), 0, true, true},
    {"... of one value", KERNEL("threads=2 warp=2", "st.shared.u32 [s], 7;\n"), 0, true, true},
    {"... of one value, allowed", KERNEL("threads=2 warp=2", "st.shared.u32 [s], 7;\n"), SAME,
     false, false},
    {"... of two values, allowed", KERNEL("threads=2 warp=2", "st.shared.u32 [s], t;\n"), SAME,
     true, true},
    {"a value written and read",
     KERNEL("threads=2 warp=1", "@p st.shared.u32 [s], 7; @!p ld.shared.u32 v, [s];\n"), SAME, true,
     true},
    {"atomics", KERNEL("threads=2 warp=1", "atom.global.add.u32 v, [x], 1;\n"), 0, false, false},
    {"a producer and a consumer",
     KERNEL("threads=2 warp=1", "@!p bra B;\nst.shared.u32 [s], 1;\nbar.arrive 1, 2;\nexit;\n"
                                "B: bar.sync 1, 2;\nld.shared.u32 v, [s];\n"),
     0, false, false},
    {"the other way round",
     KERNEL("threads=2 warp=1", "@!p bra B;\nbar.arrive 1, 2;\nst.shared.u32 [s], 1;\nexit;\n"
                                "B: ld.shared.u32 v, [s];\nbar.sync 1, 2;\n"),
     0, true, true},
    {"what the producer does behind its arrival",
     KERNEL("threads=2 warp=1",
            "@!p bra B;\nst.shared.u32 [s], 1;\nbar.arrive 1, 2;\nst.shared.u32 [s+4], 1;\nexit;\n"
            "B: bar.sync 1, 2;\nld.shared.u32 v, [s+4];\n"),
     0, true, true},
    {"a lock, thread by thread",
     KERNEL("threads=2 warp=1",
            "L: atom.global.cas.b32 v, [x], 0, 1;\nsetp.ne.u32 p, v, 0;\n@p bra L;\n"
            "ld.global.u32 w, [y]; add.u32 w, w, 1; st.global.u32 [y], w;\n"
            "atom.global.exch.b32 v, [x], 0;\n"),
     0, true, true},
    {"a lock that orders",
     KERNEL("threads=2 warp=1",
            "L: atom.global.cas.b32 v, [x], 0, 1;\nsetp.ne.u32 p, v, 0;\n@p bra L;\n"
            "ld.global.u32 w, [y]; add.u32 w, w, 1; st.global.u32 [y], w;\n"
            "atom.global.exch.b32 v, [x], 0;\n"),
     SYNC, false, false},
    {"a lock that orders blocks",
     KERNEL("threads=1 warp=1 blocks=2",
            "L: atom.global.cas.b32 v, [x], 0, 1;\nsetp.ne.u32 p, v, 0;\n@p bra L;\n"
            "ld.global.u32 w, [y]; add.u32 w, w, 1; st.global.u32 [y], w;\n"
            "atom.global.exch.b32 v, [x], 0;\n"),
     SYNC, false, false},
    {"another lock orders nothing",
     KERNEL("threads=2 warp=1",
            "selp.b64 x, x, y, p;\natom.global.exch.b32 v, [x], 1;\n"
            "ld.shared.u32 w, [s]; st.shared.u32 [s], w;\natom.global.exch.b32 v, [x], 0;\n"),
     SYNC, true, true},
};

static void verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct check_options options = CHECK_DEFAULTS;
        struct diag diag;
        const char *text = kernels[i].text;
        diag_init(&diag, "test.ptx", text, strlen(text));
        struct ast_kernel *kernel = ptx_kernel_parse(&test_arena, text, strlen(text), &diag);
        if (!kernel)
            diag_print(&diag, stderr);
        assert_non_null(kernel);
        options.same_value = kernels[i].options & SAME;
        options.atomics_sync = kernels[i].options & SYNC;
        struct check_result *r = ARENA_NEW(&test_arena, struct check_result);
        check_kernel(&test_arena, kernel, &options, r);
        const struct check_run *crs = &r->runs[SUBJECT_CRS], *block = &r->runs[SUBJECT_BLOCK];
        if (crs->race != kernels[i].crs || block->race != kernels[i].block || crs->reason)
            print_error("%s: %d %d %s\n", kernels[i].what, crs->race, block->race,
                        crs->reason ? crs->reason : "");
        assert_int_equal(check_divergences(r, false), 0);
        assert_int_equal(crs->race, kernels[i].crs);
        assert_int_equal(r->runs[SUBJECT_THREAD_PC].race, kernels[i].crs);
        assert_int_equal(block->race, kernels[i].block);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(verdicts, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
