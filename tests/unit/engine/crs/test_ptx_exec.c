/*
 * One PTX instruction after the other (engine/lanes/ptx_exec.c, ptx_address.c, ptx_memory.c, ptx_warp_ops.c,
 * ptx_frames.c): catalogue cuda-crs 5, 6, 7.3.
 */
#include "tests/unit/shared/ptx_kernels.h"

/* ---- what ends in out ---- */

struct kernel_row {
    const char *name, *text;
    uint32_t out[LANES];
};

static const struct kernel_row kernels[] = {
    {"a constant", KERNEL("", "mov.u32 %r1, 7;"), ALL(7)},
    {"the lane, of masks", KERNEL("", "mov.u32 %r1, %laneid;"), {0, 1, 2, 3, 4, 5, 6, 7}},
    {"a guard",
     KERNEL("", "setp.lt.u32 %p1, %r0, 3; @%p1 mov.u32 %r1, 5; @!%p1 mov.u32 %r1, 6;"),
     {5, 5, 5, 6, 6, 6, 6, 6}},
    {"registers start at 0", KERNEL("", ""), ALL(0)},
    {"a parameter", KERNEL("", "ld.param.u32 %r1, [n];"), ALL(0x87654321)},
    {"a parameter's bytes", KERNEL("", "ld.param.u8 %r1, [n+2];"), ALL(0x65)},
    {"ld.u8", KERNEL(BYTES, "ld.global.u8 %r1, [g+1];"), ALL(130)},
    {"ld.s8", KERNEL(BYTES, "ld.global.s8 %r1, [g+1];"), ALL(0xffffff82)},
    {"ld.b8 of the lane",
     KERNEL(
         BYTES,
         "mov.u64 %d2, g; cvt.u64.u32 %d3, %r0; add.u64 %d2, %d2, %d3; ld.global.u8 %r1, [%d2];"),
     {1, 130, 3, 4, 255, 254, 253, 252}},
    {"ld.u16", KERNEL(BYTES, "ld.global.u16 %r1, [g+4];"), ALL(0xfeff)},
    {"ld.s16", KERNEL(BYTES, "ld.global.s16 %r1, [g+6];"), ALL(0xfffffcfd)},
    {"ld.s8 into 16 bits", KERNEL(BYTES, "ld.global.s8 %h1, [g+1]; cvt.u32.u16 %r1, %h1;"),
     ALL(0xff82)},
    {"ld.u32", KERNEL(BYTES, "ld.global.u32 %r1, [g+4];"), ALL(0xfcfdfeff)},
    {"ld.s32 into 64 bits",
     KERNEL(BYTES, "ld.global.s32 %d2, [g+4]; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r1, %d2;"),
     ALL(0xffffffff)},
    {"ld.u32 into 64 bits",
     KERNEL(BYTES, "ld.global.u32 %d2, [g+4]; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r1, %d2;"),
     ALL(0)},
    {"ld.u64, high word",
     KERNEL(BYTES, "ld.global.u64 %d2, [g]; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r1, %d2;"),
     ALL(0xfcfdfeff)},
    {"ld.v2", KERNEL(WORDS, "ld.global.v2.u32 {%r2, %r1}, [w+8];"), ALL(13)},
    {"ld.v4", KERNEL(WORDS, "ld.global.v4.u32 {%r2, %r3, %r4, %r1}, [w+16];"), ALL(17)},
    {"ld.v2.u64", KERNEL(WORDS, "ld.global.v2.u64 {%d2, %d3}, [w]; cvt.u32.u64 %r1, %d3;"),
     ALL(12)},
    {"ld.v4.u8", KERNEL(BYTES, "ld.global.v4.u8 {%r2, %r1, %r3, %r4}, [g+4];"), ALL(254)},
    {"a row of words",
     KERNEL(WORDS, "mul.wide.u32 %d2, %r0, 4; mov.u64 %d3, w; add.u64 %d2, %d2, %d3; ld.global.u32 "
                   "%r1, [%d2];"),
     {10, 11, 12, 13, 14, 15, 16, 17}},
    {"a row backwards",
     KERNEL(WORDS, "mul.wide.u32 %d2, %r0, 4; mov.u64 %d3, w; sub.u64 %d2, %d3, %d2; ld.global.u32 "
                   "%r1, [%d2+28];"),
     {17, 16, 15, 14, 13, 12, 11, 10}},
    {"a row, some lanes",
     KERNEL(WORDS, "mul.wide.u32 %d2, %r0, 4; mov.u64 %d3, w; add.u64 %d2, %d2, %d3; setp.gt.u32 "
                   "%p1, %r0, 5;\n"
                   "@%p1 ld.global.u32 %r1, [%d2];"),
     {0, 0, 0, 0, 0, 0, 16, 17}},
    {"st.u8 keeps the rest", KERNEL(WORDS, "st.global.u8 [w+1], 0xabcd; ld.global.u32 %r1, [w];"),
     ALL(0xcd0a)},
    {"st.u16 keeps the rest",
     KERNEL(WORDS, "mov.u32 %r2, 0x12345678; st.global.u16 [w+2], %r2; ld.global.u32 %r1, [w];"),
     ALL(0x5678000a)},
    {"st.u64",
     KERNEL(
         WORDS,
         "mov.u64 %d2, 0x1122334455667788; st.global.u64 [w+8], %d2; ld.global.u32 %r1, [w+12];"),
     ALL(0x11223344)},
    {"st.v4",
     KERNEL(WORDS, "mov.u32 %r2, 1; mov.u32 %r3, 2; mov.u32 %r4, 3; mov.u32 %r5, 4;\n"
                   "st.global.v4.u32 [w], {%r2, %r3, %r4, %r5}; ld.global.u32 %r1, [w+8];"),
     ALL(3)},
    {"st.v2.u8",
     KERNEL(WORDS, "mov.u32 %r2, 1; mov.u32 %r3, 2; st.global.v2.u8 [w+2], {%r2, %r3}; "
                   "ld.global.u32 %r1, [w];"),
     ALL(0x0201000a)},
    {"shared memory between lanes",
     KERNEL(".shared .align 4 .u32 s[8];\n",
            "mov.u32 %r2, s; shl.b32 %r3, %r0, 2; add.u32 %r3, %r3, %r2; mul.lo.u32 %r4, %r0, 3;\n"
            "st.shared.u32 [%r3], %r4; xor.b32 %r3, %r3, 4; ld.shared.u32 %r1, [%r3];"),
     {3, 0, 9, 6, 15, 12, 21, 18}},
    {"local memory is each lane's",
     KERNEL("", ".local .align 4 .b8 l[16]; st.local.u32 [l+4], %r0; ld.local.u32 %r1, [l+4];"),
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"local memory of the module",
     KERNEL(".local .align 4 .u32 m[4];\n", "st.local.u32 [m+8], %r0; ld.local.u32 %r1, [m+8];"),
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"local memory, lanes at different places",
     KERNEL("", ".local .align 4 .b8 l[32]; mov.u64 %d2, l; mul.wide.u32 %d3, %r0, 4; add.u64 %d2, "
                "%d2, %d3;\n"
                "st.local.u32 [%d2], 9; setp.lt.u32 %p1, %r0, 4; @%p1 ld.local.u32 %r1, [l+8];"),
     {0, 0, 9, 0, 0, 0, 0, 0}},
    {"constants", KERNEL(".const .align 4 .u32 c[2] = {5, 6};\n", "ld.const.u32 %r1, [c+4];"),
     ALL(6)},
    {"generic address of shared memory",
     KERNEL(".shared .align 4 .u32 s[8];\n", "mov.u64 %d2, s; cvta.shared.u64 %d2, %d2; "
                                             "mul.wide.u32 %d3, %r0, 4; add.u64 %d2, %d2, %d3;\n"
                                             "st.u32 [%d2], %r0; ld.u32 %r1, [%d2];"),
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"generic address of local memory",
     KERNEL("", ".local .align 8 .b8 l[16]; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; st.u32 "
                "[%d2+12], %r0;\n"
                "ld.local.u32 %r1, [l+12];"),
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"generic address of constants",
     KERNEL(".const .align 4 .u32 c[2] = {5, 6};\n",
            "mov.u64 %d2, c; cvta.const.u64 %d2, %d2; ld.u32 %r1, [%d2];"),
     ALL(5)},
    {"generic addresses of two spaces",
     KERNEL(".shared .align 4 .u32 s[8];\n" WORDS,
            ".local .align 4 .u32 l; st.local.u32 [l], 3; st.shared.u32 [s], 4; mov.u64 %d2, l; "
            "cvta.local.u64 %d2, %d2;\n"
            "mov.u64 %d3, s; cvta.shared.u64 %d3, %d3; mov.u64 %d4, w; setp.lt.u32 %p1, %r0, 2; "
            "setp.gt.u32 %p2, %r0, 5;\n"
            "selp.u64 %d5, %d2, %d3, %p1; selp.u64 %d5, %d4, %d5, %p2; ld.u32 %r1, [%d5];"),
     {3, 3, 4, 4, 4, 4, 10, 10}},
    {"back from generic",
     KERNEL(".shared .align 4 .u32 s[8];\n",
            "st.shared.u32 [s+4], 8; mov.u64 %d2, s; cvta.shared.u64 %d2, %d2; cvta.to.shared.u64 "
            "%d2, %d2;\n"
            "ld.shared.u32 %r1, [%d2+4];"),
     ALL(8)},
    {"volatile and relaxed",
     KERNEL(WORDS, "st.volatile.global.u32 [w], 4; st.relaxed.gpu.global.u32 [w+4], 5; "
                   "ld.volatile.global.u32 %r2, [w];\n"
                   "ld.acquire.gpu.global.u32 %r3, [w+4]; add.u32 %r1, %r2, %r3; membar.gl;"),
     ALL(9)},
    {"red", KERNEL(WORDS, "red.global.add.u32 [w], %r0; ld.global.u32 %r1, [w];"), ALL(38)},
    {"atom gives old values",
     KERNEL(WORDS, "atom.global.add.u32 %r1, [w], 2;"),
     {10, 12, 14, 16, 18, 20, 22, 24}},
    {"atom on shared memory",
     KERNEL(".shared .align 8 .u64 s;\n", "atom.shared.add.u64 %d2, [s], 3; cvt.u32.u64 %r1, %d2;"),
     {0, 3, 6, 9, 12, 15, 18, 21}},
    {"cas",
     KERNEL(WORDS, "add.u32 %r2, %r0, 10; atom.global.cas.b32 %r1, [w], %r2, 13;"),
     {10, 13, 13, 13, 13, 13, 13, 13}},
    {"vote.all",
     KERNEL("",
            "setp.lt.u32 %p1, %r0, 8; vote.sync.all.pred %p2, %p1, 0xff; selp.u32 %r1, 1, 0, %p2;"),
     ALL(1)},
    {"vote.any, negated",
     KERNEL(
         "",
         "setp.lt.u32 %p1, %r0, 8; vote.sync.any.pred %p2, !%p1, 0xff; selp.u32 %r1, 1, 0, %p2;"),
     ALL(0)},
    {"ballot of some",
     KERNEL("", "setp.gt.u32 %p1, %r0, 1; setp.ne.u32 %p2, %r0, 4; @%p1 vote.ballot.b32 %r1, %p2;"),
     {0, 0, 0xec, 0xec, 0xec, 0xec, 0xec, 0xec}},
    {"activemask",
     KERNEL("", "setp.gt.u32 %p1, %r0, 1; @%p1 activemask.b32 %r1;"),
     {0, 0, 0xfc, 0xfc, 0xfc, 0xfc, 0xfc, 0xfc}},
    {"shfl",
     KERNEL("", "mul.lo.u32 %r2, %r0, 5; shfl.sync.bfly.b32 %r1, %r2, 1, 31, 0xff;"),
     {5, 0, 15, 10, 25, 20, 35, 30}},
    {"match.any",
     KERNEL("", "and.b32 %r2, %r0, 1; match.any.sync.b32 %r1, %r2, 0xff;"),
     {0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa}},
    {"redux", KERNEL("", "redux.sync.add.u32 %r1, %r0, 0xff;"), ALL(28)},
    {"masks of two halves",
     KERNEL("", "setp.lt.u32 %p1, %r0, 4; selp.u32 %r2, 0xf, 0xf0, %p1; redux.sync.max.u32 %r1, "
                "%r0, %r2;"),
     {3, 3, 3, 3, 7, 7, 7, 7}},
    {"bar.warp.sync", KERNEL("", "bar.warp.sync 0xffffffff; mov.u32 %r1, 1;"), ALL(1)},
    {"call, parameter and result in registers",
     KERNEL(".func (.reg .u32 y) twice(.reg .u32 x) { add.u32 y, x, x; ret; }\n",
            "call (%r1), twice, (%r0);"),
     {0, 2, 4, 6, 8, 10, 12, 14}},
    {"call, parameters in memory",
     KERNEL(".func (.param .b32 y) sum(.param .b64 a, .param .b32 b) {\n"
            ".reg .b64 %d<2>; .reg .b32 %r<4>; ld.param.u64 %d1, [a]; ld.param.u32 %r1, [b]; "
            "cvt.u32.u64 %r2, %d1;\n"
            "add.u32 %r3, %r1, %r2; st.param.b32 [y], %r3; ret; }\n",
            "{ .param .b64 p0; .param .b32 p1; .param .b32 q; cvt.u64.u32 %d2, %r0; st.param.b64 "
            "[p0], %d2;\n"
            "st.param.b32 [p1], 100; call.uni (q), sum, (p0, p1); ld.param.b32 %r1, [q]; }"),
     {100, 101, 102, 103, 104, 105, 106, 107}},
    {"recursion",
     KERNEL(".func (.reg .u32 y) sum(.reg .u32 x) { .reg .pred p; .reg .u32 t; setp.eq.u32 p, x, "
            "0; mov.u32 y, 0; @p ret;\n"
            "sub.u32 t, x, 1; call (y), sum, (t); add.u32 y, y, x; ret; }\n",
            "mov.u32 %r2, 5; call (%r1), sum, (%r2);"),
     ALL(15)},
    {"locals of each frame",
     KERNEL(".func (.reg .u32 y) sum(.reg .u32 x) { .local .u32 l; .reg .pred p; .reg .u32 t; "
            "st.local.u32 [l], x;\n"
            "setp.eq.u32 p, x, 0; mov.u32 y, 0; @p ret; sub.u32 t, x, 1; call (y), sum, (t); "
            "ld.local.u32 t, [l];\n"
            "add.u32 y, y, t; ret; }\n",
            "mov.u32 %r2, 4; call (%r1), sum, (%r2);"),
     ALL(10)},
    {"a pointer to the caller's local",
     KERNEL(".func set(.reg .u64 a) { st.u32 [a], 77; ret; }\n",
            ".local .align 4 .b8 l[8]; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; add.u64 %d2, %d2, "
            "4; call set, (%d2);\n"
            "ld.local.u32 %r1, [l+4];"),
     ALL(77)},
    {"an indirect call",
     KERNEL(".func (.reg .u32 y) inc(.reg .u32 x) { add.u32 y, x, 1; ret; }\n",
            "mov.u64 %d2, inc; P: .callprototype (.reg .u32 _) _ (.reg .u32 _); call (%r1), %d2, "
            "(%r0), P;"),
     {1, 2, 3, 4, 5, 6, 7, 8}},
    {"a frame starts at 0 again",
     KERNEL(".func (.reg .u32 y) count(.reg .u32 x) { .reg .u32 c; .local .u32 l; .reg .u64 w; "
            "add.u32 c, c, 1; add.u64 w, w, 16;\n"
            "cvt.u32.u64 y, w; add.u32 y, y, c; ld.local.u32 c, [l]; add.u32 y, y, c; st.local.u32 "
            "[l], 256; ret; }\n",
            "call (%r1), count, (%r0); call (%r1), count, (%r0);"),
     ALL(17)},
    {"redux, where lanes have ended",
     KERNEL("", "setp.gt.u32 %p1, %r0, 3; @%p1 exit; redux.sync.add.u32 %r1, %r0, 0xff;"),
     {6, 6, 6, 6, 0, 0, 0, 0}},
    {"brx.idx",
     KERNEL("", "mov.u32 %r2, 1; T: .branchtargets A, B; brx.idx %r2, T; A: mov.u32 %r1, 1; bra C; "
                "B: mov.u32 %r1, 2; C:"),
     ALL(2)},
};

/* Whether what a lane computes depends on the others. */
static bool is_together(const char *name)
{
    static const char *const words[] = {"between lanes", "vote",  "ballot", "activemask",
                                        "shfl",          "match", "redux",  "masks",
                                        "red",           "atom",  "cas"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

/* Lanes in one warp, in several of which the last is smaller, each alone. */
static void run_kernels(const char *warp)
{
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        if (warp && is_together(kernels[i].name))
            continue;
        size_t mark = arena_mark(&test_arena);
        struct machine *machine = test_machine(test_compile_with(kernels[i].text, warp), false);
        if (test_run(machine, NULL) != STATUS_TERMINATED)
            fail_msg("%s: %s, %s", kernels[i].name, status_names[machine_status(machine)],
                     machine->fault_text ? machine->fault_text : "");
        const uint32_t *out = test_words(machine, "out");
        for (uint32_t lane = 0; lane < LANES; lane++)
            if (out[lane] != kernels[i].out[lane])
                fail_msg("%s: lane %u has 0x%x, not 0x%x", kernels[i].name, (unsigned)lane,
                         (unsigned)out[lane], (unsigned)kernels[i].out[lane]);
        arena_release(&test_arena, mark);
    }
}

static void test_kernels(void **state)
{
    (void)state;
    run_kernels(NULL);
    run_kernels("warp=3");
    run_kernels("warp=1");
}

/* ---- tracked machines: the same states, with a hash, and back again ---- */

static uint64_t hash_anew(const struct machine *machine)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < machine->block_words; i++)
        hash ^= track_mix(i, machine->block[i]);
    return hash;
}

static void test_tracked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct program *program = test_compile(kernels[i].text);
        struct machine *plain = test_machine(program, false);
        struct machine *tracked = test_machine(program, true);
        while (plain->head->status == STATUS_RUNNING) {
            machine_step(plain, 0, NULL);
            machine_step(tracked, 0, NULL);
            if (!machine_equals(plain, tracked->block))
                fail_msg("%s: states differ behind step %u", kernels[i].name,
                         (unsigned)plain->steps);
            assert_true(tracked->track.hash == hash_anew(tracked));
        }
        machine_undo(tracked, 0);
        if (!machine_equals(tracked, tracked->initial))
            fail_msg("%s: undoing does not lead to the start", kernels[i].name);
        assert_true(tracked->track.hash == tracked->initial_hash);
        arena_release(&test_arena, mark);
    }
}

/* ---- faults ---- */

struct fault_row {
    const char *text;
    enum status status;
    uint32_t thread;
    const char *says; /* a part of the fault's text */
};

#define LOCAL_WALK                                                                                 \
    ".local .align 4 .b8 l[16]; mov.u64 %d2, l; mul.wide.u32 %d3, %r0, 4; add.u64 %d2, %d2, "      \
    "%d3;\n"
#define RECURSION ".func f() { call f; ret; }\n"

static const struct fault_row faults[] = {
    {KERNEL(WORDS, "ld.global.u32 %r1, [w+32];"), STATUS_OUT_OF_BOUNDS, 0,
     ": byte 32 of w, which has 32 bytes"},
    {KERNEL(WORDS, "mov.u64 %d2, w; ld.global.u32 %r1, [%d2-4];"), STATUS_OUT_OF_BOUNDS, 0,
     "read of 4 bytes at global address 0x"},
    {KERNEL(WORDS, "st.global.u32 [%d1+240], 1;"), STATUS_OUT_OF_BOUNDS, 4,
     ": byte 256 of out, which has 256 bytes"},
    {KERNEL(WORDS, "add.u64 %d2, %d1, 240; st.u32 [%d2], 1;"), STATUS_OUT_OF_BOUNDS, 4,
     "write of 4 bytes at generic address 0x"},
    {KERNEL(WORDS, "ld.global.u16 %r1, [w+1];"), STATUS_OUT_OF_BOUNDS, 0, ": not a multiple of 2"},
    {KERNEL(WORDS, "ld.global.v2.u32 {%r1, %r2}, [w+4];"), STATUS_OUT_OF_BOUNDS, 0,
     ": not a multiple of 8"},
    {KERNEL(".global .align 8 .b8 g[12];\n", "ld.global.u64 %d2, [g+8];"), STATUS_OUT_OF_BOUNDS, 0,
     "read of 8 bytes"},
    {KERNEL("", "mov.u64 %d2, 0; ld.global.u32 %r1, [%d2];"), STATUS_OUT_OF_BOUNDS, 0,
     "at global address 0x0: a null pointer"},
    {KERNEL("", "mov.u64 %d2, 0x123456789abcdef0; ld.u32 %r1, [%d2];"), STATUS_OUT_OF_BOUNDS, 0,
     "at generic address 0x123456789abcdef0"},
    {KERNEL("", "mov.u64 %d2, 0; ld.shared.u32 %r1, [%d2];"), STATUS_OUT_OF_BOUNDS, 0,
     "no variable of shared memory is near"},
    {KERNEL(".const .align 4 .u32 c = 5;\n",
            "mov.u64 %d2, c; cvta.const.u64 %d2, %d2; st.u32 [%d2], 1;"),
     STATUS_OUT_OF_BOUNDS, 0, "constants and parameters cannot be written"},
    {KERNEL("",
            ".local .u32 l; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; atom.add.u32 %r1, [%d2], 1;"),
     STATUS_OUT_OF_BOUNDS, 0, "no atomics in local memory"},
    {KERNEL("", LOCAL_WALK "ld.local.u32 %r1, [%d2];"), STATUS_OUT_OF_BOUNDS, 4,
     "read of 4 bytes at local address 0x"},
    {KERNEL("",
            LOCAL_WALK "cvta.local.u64 %d2, %d2; setp.gt.u32 %p1, %r0, 5; @%p1 st.u8 [%d2], 1;"),
     STATUS_OUT_OF_BOUNDS, 6, ": byte 24 of l, which has 16 bytes"},
    {KERNEL("", "setp.eq.u32 %p1, %r0, 3; mov.u64 %d2, 0; @%p1 atom.global.add.u32 %r1, [%d2], 1;"),
     STATUS_OUT_OF_BOUNDS, 3, "atomic of 4 bytes at global address 0x0"},
    {KERNEL("", "setp.eq.u32 %p1, %r0, 3; vote.sync.all.pred %p2, %p1, 0x7f;"), STATUS_STUCK, 7,
     "a lane is not in the mask of lanes that it names"},
    {KERNEL("", "setp.eq.u32 %p1, %r0, 3; @%p1 shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xc;"),
     STATUS_STUCK, 3, "the mask names lanes that do not execute the instruction"},
    {KERNEL(
         "",
         "setp.eq.u32 %p1, %r0, 0; selp.u32 %r2, 1, 0xff, %p1; redux.sync.add.u32 %r1, %r0, %r2;"),
     STATUS_STUCK, 1, "lanes that name each other have different masks"},
    {KERNEL("", "mov.u32 %r2, 2; T: .branchtargets A, A; brx.idx %r2, T; A:"), STATUS_STUCK, 0,
     "the index of brx.idx"},
    {KERNEL(WORDS, "mul.wide.u32 %d2, %r0, 2; mov.u64 %d3, w; add.u64 %d2, %d2, %d3; ld.global.u32 "
                   "%r1, [%d2];"),
     STATUS_OUT_OF_BOUNDS, 1, ": not a multiple of 4"},
    {KERNEL(WORDS, "mul.wide.u32 %d2, %r0, 6; mov.u64 %d3, w; add.u64 %d2, %d2, %d3; setp.gt.u32 "
                   "%p1, %r0, 1;\n"
                   "@%p1 ld.global.u32 %r1, [%d2];"),
     STATUS_OUT_OF_BOUNDS, 3, ": not a multiple of 4"},
    {KERNEL(WORDS, "setp.gt.u32 %p1, %r0, 1; @%p1 st.global.u32 [%d1+236], 1;"),
     STATUS_OUT_OF_BOUNDS, 5, ": byte 256 of out, which has 256 bytes"},
    {KERNEL(".func (.reg .u32 y) inc(.reg .u32 x) { add.u32 y, x, 1; ret; }\n",
            "mov.u64 %d2, inc; P: .callprototype _ (.reg .u64 _); call %d2, (%d2), P;"),
     STATUS_STUCK, 0, "the function called takes or returns something else"},
    {KERNEL("", "mov.u64 %d2, 3; P: .callprototype _ (.reg .u64 _); call %d2, (%d2), P;"),
     STATUS_STUCK, 0, "no function starts at the target of the call"},
    {KERNEL(RECURSION, "call f;"), STATUS_CALL_DEPTH, 0, "more calls of a lane than the limit"},
};

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        size_t mark = arena_mark(&test_arena);
        struct machine *machine = test_machine(test_compile(faults[i].text), false);
        enum status status = test_run(machine, NULL);
        const char *text = machine->fault_text ? machine->fault_text : "";
        if (status != faults[i].status || machine->head->fault_thread != faults[i].thread ||
            (faults[i].says && !strstr(text, faults[i].says)))
            fail_msg("row %u: %s of thread %u, '%s', not '%s'", (unsigned)i, status_names[status],
                     (unsigned)machine->head->fault_thread, text, faults[i].says);
        arena_release(&test_arena, mark);
    }
}

/* A fault changes nothing but the status. */
static void test_fault_is_clean(void **state)
{
    (void)state;
    struct machine *machine = test_machine(test_compile(faults[2].text), true);
    test_run(machine, NULL);
    const uint32_t *out = test_words(machine, "out");
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], 0);
}

/* As many frames as there may be, and not one more. */
static void test_call_depth(void **state)
{
    (void)state;
    struct machine *machine = test_machine(test_compile(KERNEL(RECURSION, "call f;")), false);
    assert_int_equal(test_run(machine, NULL), STATUS_CALL_DEPTH);
    assert_int_equal(test_lanes(machine, 0)->lane[0].depth, LIMIT_CALL_DEPTH - 1);
}

/* A signed byte in a register of 16 bits has no other bits set: equal values are equal states. */
static void test_sixteen_bits(void **state)
{
    (void)state;
    const struct program *program =
        test_compile(KERNEL(BYTES, "ld.global.s8 %h1, [g+1]; mov.u16 %h2, 0xff82;"));
    struct machine *machine = test_machine(program, false);
    test_run(machine, NULL);
    for (uint32_t pc = 1; pc < program->ptx->count; pc++) {
        const struct ptx_op *op = &program->ptx->ops[pc];
        if (op->exec == PTX_EXEC_LD && op->bytes == 1)
            assert_int_equal(ptx_source(machine, test_lanes(machine, 0), &op->results[0], 0),
                             0xff82);
    }
}

/* Which variables the next access may touch: what schedulers and searches go by. */
static void test_footprints(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *reads[2], *writes[2];
    } rows[] = {
        {KERNEL(WORDS, "ld.global.u32 %r1, [w+4];"), {"w"}, {NULL}},
        {KERNEL(WORDS, "st.global.u32 [w+4], 1;"), {NULL}, {"w"}},
        {KERNEL(WORDS, "atom.global.add.u32 %r1, [w+4], 1;"), {"w"}, {"w"}},
        {KERNEL(WORDS, "mov.u64 %d2, w; setp.lt.u32 %p1, %r0, 3; selp.u64 %d2, %d2, %d1, %p1; "
                       "ld.u32 %r1, [%d2];"),
         {"w", "out"},
         {NULL}},
        {KERNEL(WORDS, "mov.u64 %d2, w; setp.lt.u32 %p1, %r0, 3; selp.u64 %d2, %d2, %d1, %p1; @%p1 "
                       "ld.u32 %r1, [%d2];"),
         {"w"},
         {NULL}},
        {KERNEL(WORDS, ".local .u32 l; st.local.u32 [l], 1;"), {NULL}, {NULL}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct machine *machine = test_machine(test_compile(rows[i].text), false);
        const struct ptx_code *code = machine->program->ptx;
        uint32_t last = code->count - 3; /* before the store to out and exit */
        while (test_warp(machine, 0)->pc != last)
            machine_step(machine, 0, NULL);
        uint64_t reads, writes, bits[2] = {0, 0};
        for (uint32_t v = 0; v < machine->program->var_count; v++)
            for (uint32_t k = 0; k < 2; k++) {
                const char *name = machine->program->vars[v].ast->name;
                bits[0] |= (uint64_t)(rows[i].reads[k] && strcmp(rows[i].reads[k], name) == 0) << v;
                bits[1] |= (uint64_t)(rows[i].writes[k] && strcmp(rows[i].writes[k], name) == 0)
                           << v;
            }
        struct ptx_lanes *lanes = test_lanes(machine, 0);
        ptx_footprint(machine, lanes, last, ptx_guard(machine, lanes, last, 0xff), &reads, &writes);
        if (reads != bits[0] || writes != bits[1])
            fail_msg("row %u: 0x%llx, 0x%llx", (unsigned)i, (unsigned long long)reads,
                     (unsigned long long)writes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),    cmocka_unit_test(test_tracked),
        cmocka_unit_test(test_faults),     cmocka_unit_test(test_fault_is_clean),
        cmocka_unit_test(test_call_depth), cmocka_unit_test(test_sixteen_bits),
        cmocka_unit_test(test_footprints),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
