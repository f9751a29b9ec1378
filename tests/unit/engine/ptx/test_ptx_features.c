/*
 * What PTX may say and compilers seldom do, each against a naive reading: special registers of launches in three
 * dimensions, reductions and votes of warps of any size, parameters and results in registers and in memory,
 * functions from outside, initialisers of all kinds, operands of all kinds.
 */
#include "engine/base/text.h"
#include "engine/crs/crs.h"
#include "engine/input/input.h"
#include "engine/ptx/ptx_reach.h"
#include "tests/unit/shared/ptx_kernels.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- special registers ---- */

enum { THREADS = 12, BLOCKS = 12, WARP = 5 };

struct thread { /* of a block of 3x2x2, in a grid of 2x3x2 */
    uint32_t tid[3], ctaid[3], number, laneid, block;
};

static uint32_t below(const struct thread *t)
{
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < t->laneid; lane++)
        mask |= 1u << lane;
    return mask;
}

static uint32_t above(const struct thread *t)
{
    uint32_t mask = 0;
    for (uint32_t lane = t->laneid + 1; lane < 32; lane++)
        mask |= 1u << lane;
    return mask;
}

static uint32_t self(const struct thread *t)
{
    return 1u << t->laneid;
}

static const struct special {
    const char *name;
    uint32_t (*value)(const struct thread *t); /* NULL: number is the value */
    uint32_t number;
    uint32_t of, element; /* 1: tid, 2: ctaid */
} specials[] = {
    {"%tid.x", NULL, 0, 1, 0},
    {"%tid.y", NULL, 0, 1, 1},
    {"%tid.z", NULL, 0, 1, 2},
    {"%tid.w", NULL, 0, 0, 0},
    {"%ntid.x", NULL, 3, 0, 0},
    {"%ntid.y", NULL, 2, 0, 0},
    {"%ntid.z", NULL, 2, 0, 0},
    {"%ntid.w", NULL, 0, 0, 0},
    {"%ctaid.x", NULL, 0, 2, 0},
    {"%ctaid.y", NULL, 0, 2, 1},
    {"%ctaid.z", NULL, 0, 2, 2},
    {"%ctaid.w", NULL, 0, 0, 0},
    {"%nctaid.x", NULL, 2, 0, 0},
    {"%nctaid.y", NULL, 3, 0, 0},
    {"%nctaid.z", NULL, 2, 0, 0},
    {"%nctaid.w", NULL, 0, 0, 0},
    {"%nwarpid", NULL, 3, 0, 0},
    {"%smid", NULL, 0, 0, 0},
    {"%nsmid", NULL, 1, 0, 0},
    {"%gridid", NULL, 0, 0, 0},
    {"%lanemask_eq", self, 0, 0, 0},
    {"%lanemask_lt", below, 0, 0, 0},
    {"%lanemask_gt", above, 0, 0, 0},
    {"%total_smem_size", NULL, 12 + 40 + 10, 0, 0},
    {"%dynamic_smem_size", NULL, 40, 0, 0},
    {"%envreg0", NULL, 0, 0, 0},
    {"%envreg6", NULL, 0, 0, 0},
    {"WARP_SZ", NULL, WARP, 0, 0},
};

enum { SPECIALS = sizeof specials / sizeof *specials };

static uint32_t special_of(const struct special *s, const struct thread *t)
{
    if (s->value)
        return s->value(t);
    return s->of == 1 ? t->tid[s->element] : s->of == 2 ? t->ctaid[s->element] : s->number;
}

static const char *special_kernel(void)
{
    struct text text = text_begin(&test_arena);
    text_format(&text, "// simtfuzz: entry=k threads=3x2x2 blocks=2x3x2 warp=%d shared=40\n", WARP);
    text_format(&text,
                MODULE ".global .u32 out[%d];\n.shared .u32 a[3];\n.shared .b8 c[10];\n"
                       ".extern .shared .b8 dynamic[];\n.visible .entry k()\n{\n.reg .b32 %%r<9>; "
                       ".reg .b64 %%d<9>;\n",
                THREADS * BLOCKS * (SPECIALS + 6));
    /* The place of a thread's words is known by counting, from what is tested here, too: a wrong one shows. */
    static const struct {
        const char *name;
        uint32_t times;
    } digits[] = {{"%ctaid.z", 1}, {"%ctaid.y", 3}, {"%ctaid.x", 2},
                  {"%tid.z", 2},   {"%tid.y", 2},   {"%tid.x", 3}};
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++)
        text_format(&text, "mov.u32 %%r2, %s; mad.lo.u32 %%r1, %%r1, %u, %%r2;\n", digits[i].name,
                    digits[i].times);
    text_format(&text, "mul.lo.u32 %%r1, %%r1, %d; mul.wide.u32 %%d1, %%r1, 4;\n", SPECIALS + 6);
    text_put(&text, "mov.u64 %d2, out; add.u64 %d1, %d1, %d2; mov.u64 %d3, dynamic;\n");
    text_put(&text, "mov.u32 %r3, a; mov.u32 %r3, c;\n");
    for (uint32_t i = 0; i < SPECIALS; i++) {
        bool wide = strcmp(specials[i].name, "%gridid") == 0;
        text_format(&text, "mov.u%d %s2, %s; st.global.u32 [%%d1+%u], %%r2;\n", wide ? 64 : 32,
                    wide ? "%d" : "%r", specials[i].name, 4 * i);
    }
    static const char *const rest[] = {"%laneid", "%warpid", "%lanemask_le", "%lanemask_ge"};
    for (uint32_t i = 0; i < 4; i++)
        text_format(&text, "mov.u32 %%r2, %s; st.global.u32 [%%d1+%u], %%r2;\n", rest[i],
                    4 * (SPECIALS + i));
    /* as an operand of another size, and of an instruction that computes */
    text_format(
        &text,
        "mov.u64 %%d4, %%gridid; cvt.u64.u32 %%d4, %%tid.y; st.global.u64 [%%d1+%u], %%d4;\n",
        4 * (SPECIALS + 4));
    text_put(&text, "ret;\n}\n");
    return text.bytes;
}

static void special_registers(void **state)
{
    (void)state;
    struct machine *machine = test_machine(test_compile(special_kernel()), false);
    if (test_run(machine, NULL) != STATUS_TERMINATED)
        fail_msg("%s", machine->fault_text);
    const uint32_t *out = test_words(machine, "out");
    for (uint32_t number = 0; number < THREADS * BLOCKS; number++, out += SPECIALS + 6) {
        uint32_t tid = number % THREADS, block = number / THREADS;
        const struct thread t = {.tid = {tid % 3, tid / 3 % 2, tid / 6},
                                 .ctaid = {block % 2, block / 2 % 3, block / 6},
                                 .number = number,
                                 .laneid = tid % WARP,
                                 .block = block};
        for (uint32_t i = 0; i < SPECIALS; i++)
            if (out[i] != (i == 19 ? out[i - 1] : special_of(&specials[i], &t)))
                fail_msg("thread %u: %s is %u, not %u", number, specials[i].name, out[i],
                         special_of(&specials[i], &t));
        assert_int_equal(out[SPECIALS], t.laneid);
        assert_int_equal(out[SPECIALS + 1], tid / WARP);
        assert_int_equal(out[SPECIALS + 2], below(&t) | self(&t));
        assert_int_equal(out[SPECIALS + 3], above(&t) | self(&t));
        assert_int_equal(out[SPECIALS + 4], t.tid[1]);
        assert_int_equal(out[SPECIALS + 5], 0);
    }
}

/* ---- between lanes ---- */

static uint32_t value_of(uint32_t lane)
{
    static const uint32_t values[] = {
        0x80000000u, 7, 0xffffffffu, 0, 0x7fffffffu, 12, 0x0f0f0f0fu, 12, 0x80000001u, 3, 1};
    return values[lane * 7 % 11];
}

static uint32_t reduced(uint32_t op, uint32_t a, uint32_t b)
{
    switch (op) {
    case 0:
    case 1:
        return a + b;
    case 2:
        return a < b ? a : b;
    case 3:
        return a > b ? a : b;
    case 4:
        return (int32_t)a < (int32_t)b ? a : b;
    case 5:
        return (int32_t)a > (int32_t)b ? a : b;
    case 6:
        return a & b;
    case 7:
        return a | b;
    default:
        return a ^ b;
    }
}

static const char *const reductions[] = {"add.u32", "add.s32", "min.u32", "max.u32", "min.s32",
                                         "max.s32", "and.b32", "or.b32",  "xor.b32"};

enum { REDUCTIONS = sizeof reductions / sizeof *reductions, WORDS_EACH = REDUCTIONS + 5 };

/* A warp: each operation over all lanes, those of two masks, votes of both kinds, activemask. Of lanes beyond 32
 * a mask has no bits of their own: bit i names i and i + 32. */
static const char *between_kernel(uint32_t lanes, uint32_t mask)
{
    struct text text = text_begin(&test_arena);
    text_format(&text, "// simtfuzz: entry=k threads=%u warp=%u\n", lanes, lanes);
    text_format(&text, MODULE ".global .u32 in[64] = {");
    for (uint32_t lane = 0; lane < 64; lane++)
        text_format(&text, "%s%u", lane ? ", " : "", value_of(lane));
    text_format(&text, "};\n.global .u32 out[%d];\n", 64 * WORDS_EACH);
    text_put(&text, ".visible .entry k()\n{\n" REGISTERS);
    text_put(&text, "mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; mov.u64 %d2, in;\n"
                    "add.u64 %d2, %d2, %d1; ld.global.u32 %r1, [%d2]; mov.u64 %d3, out;\n");
    text_format(&text, "mul.wide.u32 %%d1, %%r0, %d; add.u64 %%d3, %%d3, %%d1;\n", 4 * WORDS_EACH);
    text_format(&text,
                "and.b32 %%r3, %%r0, 31; mov.u32 %%r4, 1; shl.b32 %%r4, %%r4, %%r3; and.b32 "
                "%%r5, %%r4, %u; setp.ne.u32 %%p1, %%r5, 0; selp.u32 %%r6, %u, %u, %%p1;\n",
                mask, mask, ~mask);
    for (uint32_t i = 0; i < REDUCTIONS; i++)
        text_format(&text, "redux.sync.%s %%r2, %%r1, %%r6; st.global.u32 [%%d3+%u], %%r2;\n",
                    reductions[i], 4 * i);
    text_format(&text,
                "setp.lt.s32 %%p2, %%r1, 12; vote.sync.ballot.b32 %%r2, %%p2, %%r6; st.global.u32 "
                "[%%d3+%d], %%r2;\n",
                4 * REDUCTIONS);
    text_format(&text,
                "vote.sync.any.pred %%p3, %%p2, %%r6; selp.u32 %%r2, 1, 0, %%p3; st.global.u32 "
                "[%%d3+%d], %%r2;\n",
                4 * REDUCTIONS + 4);
    text_format(&text,
                "match.any.sync.b32 %%r2, %%r1, %%r6; st.global.u32 [%%d3+%d], %%r2;\n"
                "activemask.b32 %%r2; st.global.u32 [%%d3+%d], %%r2;\n"
                "@%%p1 activemask.b32 %%r2; @%%p1 st.global.u32 [%%d3+%d], %%r2;\nexit;\n}\n",
                4 * REDUCTIONS + 8, 4 * REDUCTIONS + 12, 4 * REDUCTIONS + 16);
    return text.bytes;
}

static void check_lane(const uint32_t *out, uint32_t lane, uint32_t lanes, uint32_t mask)
{
    uint32_t ballot = 0, any = 0, match = 0, active = 0, guarded = 0;
    bool first = true, side = mask >> lane % 32 & 1;
    uint32_t totals[REDUCTIONS] = {0};
    for (uint32_t other = 0; other < lanes; other++) {
        uint32_t value = value_of(other);
        uint32_t bit = other < 32 ? 1u << other : 0;
        active |= bit;
        guarded |= (mask >> other % 32 & 1) ? bit : 0;
        if ((mask >> other % 32 & 1) != side)
            continue;
        for (uint32_t op = 0; op < REDUCTIONS; op++)
            totals[op] = first ? value : reduced(op, totals[op], value);
        first = false;
        ballot |= (int32_t)value < 12 ? bit : 0;
        any |= (int32_t)value < 12;
        match |= value == value_of(lane) ? bit : 0;
    }
    for (uint32_t op = 0; op < REDUCTIONS; op++)
        if (out[op] != totals[op])
            fail_msg("%s of %u lanes, mask 0x%x: lane %u has 0x%x, not 0x%x", reductions[op], lanes,
                     mask, lane, out[op], totals[op]);
    assert_int_equal(out[REDUCTIONS], ballot);
    assert_int_equal(out[REDUCTIONS + 1], any);
    assert_int_equal(out[REDUCTIONS + 2], match);
    assert_int_equal(out[REDUCTIONS + 3], active);
    assert_int_equal(out[REDUCTIONS + 4], side ? guarded : 0);
}

static void between_lanes(void **state)
{
    static const uint32_t sizes[] = {1, 2, 7, 31, 32, 33, 40, 64};
    static const uint32_t masks[] = {0xffffffffu, 0x55555555u, 0x00ffff01u, 1, 0x80000000u};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
            size_t mark = arena_mark(&test_arena);
            struct machine *machine =
                test_machine(test_compile(between_kernel(sizes[s], masks[m])), false);
            if (test_run(machine, NULL) != STATUS_TERMINATED)
                fail_msg("%s", machine->fault_text);
            for (uint32_t lane = 0; lane < sizes[s]; lane++)
                check_lane(test_words(machine, "out") + lane * WORDS_EACH, lane, sizes[s],
                           masks[m]);
            arena_release(&test_arena, mark);
        }
}

/* ---- what ends in out, as in test_ptx_exec.c ---- */

struct kernel_row {
    const char *name, *text;
    uint32_t out[LANES];
};

#define TAKES(formal, body)                                                                        \
    ".func (.reg .b32 y) f(" formal ") {\n.reg .b32 %r<4>; .reg .b64 %d<4>;\n" body " ret; }\n"
#define GIVES(formal, body)                                                                        \
    ".func (" formal ") f(.reg .b32 x) {\n.reg .b32 %r<4>; .reg .b64 %d<4>;\n" body " ret; }\n"

static const struct kernel_row kernels[] = {
    /* parameters: register to memory, memory to register, constants, addresses, each size */
    {"a register for .param .b32",
     KERNEL(TAKES(".param .b32 p", "ld.param.b32 y, [p];"),
            "add.u32 %r2, %r0, 0x12345678; call (%r1), f, (%r2);"),
     {0x12345678, 0x12345679, 0x1234567a, 0x1234567b, 0x1234567c, 0x1234567d, 0x1234567e,
      0x1234567f}},
    {"a register for .param .b16",
     KERNEL(TAKES(".param .b16 p", "ld.param.u16 y, [p];"),
            "mov.u32 %r2, 0x8765fedc; cvt.u16.u32 %h1, %r2; call (%r1), f, (%h1);"),
     ALL(0xfedc)},
    {"a register for .param .b64",
     KERNEL(TAKES(".param .b64 p", "ld.param.u8 y, [p+7]; ld.param.u8 %r1, [p+4]; shl.b32 %r1, "
                                   "%r1, 8; or.b32 y, y, %r1;"),
            "mov.u64 %d2, 0x1122334455667788; call (%r1), f, (%d2);"),
     ALL(0x4411)},
    {"a constant for .param .b32",
     KERNEL(TAKES(".param .b32 p", "ld.param.b32 y, [p];"), "call (%r1), f, (0x89abcdef);"),
     ALL(0x89abcdef)},
    {"a constant for .reg .b32",
     KERNEL(TAKES(".reg .b32 p", "mov.b32 y, p;"), "call (%r1), f, (77);"), ALL(77)},
    {"memory for .reg .b32",
     KERNEL(TAKES(".reg .b32 p", "mov.b32 y, p;"),
            "{ .param .b32 q; st.param.b32 [q], 0xa1b2c3d4; call (%r1), f, (q); }"),
     ALL(0xa1b2c3d4)},
    {"memory for .reg .b64",
     KERNEL(TAKES(".reg .b64 p", "shr.u64 %d1, p, 24; cvt.u32.u64 y, %d1;"),
            "{ .param .b64 q; st.param.b64 [q], 0x1122334455667788; call (%r1), f, (q); }"),
     ALL(0x22334455)},
    {"memory of other bytes behind it",
     KERNEL(
         TAKES(".reg .b16 p, .param .b8 c, .reg .b32 e", "cvt.u32.u16 y, p; ld.param.u8 %r1, [c]; "
                                                         "shl.b32 %r1, %r1, 16; or.b32 y, y, %r1; "
                                                         "shl.b32 %r1, e, 24; or.b32 y, y, %r1;"),
         "{ .param .b16 q; .param .b8 c; .param .b32 e; st.param.b16 [q], 0x1234; st.param.b8 [c], "
         "0x56; st.param.b32 [e], 0x78; call (%r1), f, (q, c, e); }"),
     ALL(0x78561234)},
    {"an array of bytes",
     KERNEL(TAKES(".param .align 4 .b8 p[12]", "ld.param.b32 y, [p+8]; ld.param.u8 %r1, [p+3]; "
                                               "add.u32 y, y, %r1;"),
            "{ .param .align 4 .b8 q[12]; st.param.b32 [q+8], %r0; st.param.b8 [q+3], 100; call "
            "(%r1), "
            "f, (q); }"),
     {100, 101, 102, 103, 104, 105, 106, 107}},
    {"several of both kinds",
     KERNEL(TAKES(".reg .b32 a, .param .b32 b, .reg .b64 c, .param .b64 d, .reg .b32 e",
                  "ld.param.b32 %r1, [b]; ld.param.b64 %d1, [d]; cvt.u32.u64 %r2, %d1; cvt.u32.u64 "
                  "%r3, c; mul.lo.u32 y, a, 10; add.u32 y, y, %r1; mul.lo.u32 y, y, 10; add.u32 y, "
                  "y, %r3; mul.lo.u32 y, y, 10; add.u32 y, y, %r2; mul.lo.u32 y, y, 10; add.u32 y, "
                  "y, e;"),
            "mov.u32 %r2, 1; mov.u32 %r3, 2; mov.u64 %d2, 3; mov.u64 %d3, 4; mov.u32 %r4, 5; call "
            "(%r1), f, (%r2, %r3, %d2, %d3, %r4);"),
     ALL(12345)},
    {"a predicate",
     KERNEL(TAKES(".reg .pred p", "selp.u32 y, 11, 22, p;"),
            "setp.gt.u32 %p1, %r0, 4; call (%r1), f, (%p1);"),
     {22, 22, 22, 22, 22, 11, 11, 11}},
    /* results */
    {"a result in memory for a register",
     KERNEL(GIVES(".param .b32 y", "add.u32 %r1, x, 0x10203040; st.param.b32 [y], %r1;"),
            "call (%r1), f, (%r0);"),
     {0x10203040, 0x10203041, 0x10203042, 0x10203043, 0x10203044, 0x10203045, 0x10203046,
      0x10203047}},
    {"a result in a register for memory",
     KERNEL(GIVES(".reg .b32 y", "add.u32 y, x, 0x10203040;"),
            "{ .param .b32 q; call (q), f, (%r0); ld.param.b32 %r1, [q]; }"),
     {0x10203040, 0x10203041, 0x10203042, 0x10203043, 0x10203044, 0x10203045, 0x10203046,
      0x10203047}},
    {"a result of 64 bits in a register for memory",
     KERNEL(GIVES(".reg .b64 y", "mov.u64 y, 0x0102030405060708;"),
            "{ .param .b64 q; call (q), f, (%r0); ld.param.u8 %r1, [q+6]; ld.param.u8 %r2, [q+1]; "
            "shl.b32 %r2, %r2, 8; or.b32 %r1, %r1, %r2; }"),
     ALL(0x0702)},
    {"a result of bytes",
     KERNEL(GIVES(".param .align 4 .b8 y[8]", "st.param.b32 [y+4], x; st.param.b32 [y], 5;"),
            "{ .param .align 4 .b8 q[8]; call (q), f, (%r0); ld.param.b32 %r1, [q+4]; }"),
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"a result thrown away",
     KERNEL(GIVES(".reg .b32 y", "add.u32 y, x, 9;"), "mov.u32 %r1, 3; call (_), f, (%r0);"),
     ALL(3)},
    {"several results",
     KERNEL(GIVES(".reg .b32 y, .reg .b64 z, .param .b32 w",
                  "mov.u32 y, 1; mov.u64 z, 2; st.param.b32 [w], 3;"),
            "call (%r2, %d2, %r3), f, (%r0); cvt.u32.u64 %r4, %d2; mul.lo.u32 %r1, %r2, 100; "
            "mul.lo.u32 %r4, %r4, 10; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r3;"),
     ALL(123)},
    {"a predicate as a result",
     KERNEL(GIVES(".reg .pred y", "setp.lt.u32 y, x, 3;"),
            "call (%p1), f, (%r0); selp.u32 %r1, 5, 6, %p1;"),
     {5, 5, 5, 6, 6, 6, 6, 6}},
    /* functions from outside */
    {"a result of malloc in a register",
     KERNEL(
         ".extern .func (.reg .b64 p) malloc(.reg .b64 n);\n",
         "mov.u64 %d2, 5; call (%d2), malloc, (%d2); cvt.u32.u64 %r1, %d2; add.u32 %r1, %r1, 6;"),
     ALL(6)},
    {"a result of printf in a register",
     KERNEL(
         ".extern .func (.reg .b32 p) printf(.reg .b64 f, .reg .b64 v);\n",
         "mov.u32 %r1, 5; setp.lt.u32 %p1, %r0, 3; mov.u64 %d2, 0; @%p1 call (%r1), printf, (%d2, "
         "%d2);"),
     {0, 0, 0, 5, 5, 5, 5, 5}},
    {"a result of vprintf in memory",
     KERNEL(
         ".extern .func (.param .b32 p) vprintf(.param .b64 f, .param .b64 v);\n",
         "{ .param .b32 q; .param .b64 a; .param .b64 b; st.param.b64 [a], 0; st.param.b64 [b], 0; "
         "call (q), vprintf, (a, b); ld.param.b32 %r1, [q]; add.u32 %r1, %r1, 2; }"),
     ALL(2)},
    {"free",
     KERNEL(".extern .func free(.reg .b64 p);\n",
            "mov.u64 %d2, 0; call free, (%d2); mov.u32 %r1, 4;"),
     ALL(4)},
    /* operands */
    {"a float constant as .f32", KERNEL("", "mov.f32 %f1, 0f3fc00000; mov.b32 %r1, %f1;"),
     ALL(0x3fc00000)},
    {"a double constant as .f32", KERNEL("", "mov.f32 %f1, 0d3ff8000000000000; mov.b32 %r1, %f1;"),
     ALL(0x3fc00000)},
    {"a float constant as .f64",
     KERNEL("", "mov.f64 %e1, 0f3fc00000; mov.b64 %d2, %e1; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r1, "
                "%d2;"),
     ALL(0x3ff80000)},
    {"a double constant as .f64",
     KERNEL("", "mov.f64 %e1, 0dc000000000000123; mov.b64 %d2, %e1; cvt.u32.u64 %r1, %d2; shr.u64 "
                "%d2, %d2, 32; cvt.u32.u64 %r2, %d2; xor.b32 %r1, %r1, %r2;"),
     ALL(0xc0000123)},
    {"a decimal constant", KERNEL("", "add.f32 %f1, %f1, 2.5; mov.b32 %r1, %f1;"), ALL(0x40200000)},
    {"an integer constant is cut", KERNEL("", "mov.u16 %h1, 0x12345; cvt.u32.u16 %r1, %h1;"),
     ALL(0x2345)},
    {"a negative constant of 64 bits",
     KERNEL("", "mov.s64 %d2, -2; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r1, %d2;"), ALL(0xffffffff)},
    {"a predicate constant",
     KERNEL("",
            "mov.pred %p1, 1; mov.pred %p2, 0; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2; "
            "shl.b32 %r2, %r2, 4; or.b32 %r1, %r1, %r2;"),
     ALL(1)},
    {"a special register of 64 bits", KERNEL("", "mov.u64 %d2, %gridid; cvt.u32.u64 %r1, %d2;"),
     ALL(0)},
    {"an address and a number", KERNEL(WORDS, "mov.u64 %d2, w+8; ld.global.u32 %r1, [%d2+4];"),
     ALL(13)},
    {"a local address and a number",
     KERNEL("",
            ".local .align 8 .b8 first[8]; .local .align 4 .b8 l[12]; st.local.u32 [first+4], 1; "
            "st.local.u32 [l+8], %r0; mov.u64 %d2, l+4; ld.local.u32 %r1, [%d2+4];"),
     {0, 1, 2, 3, 4, 5, 6, 7}},
    {"a vector register",
     KERNEL("", ".reg .v4 .b32 %v; mov.u32 %v.x, 1; mov.u32 %v.y, 20; mov.u32 %v.z, 300; mov.u32 "
                "%v.w, 4000; add.u32 %r1, %v.x, %v.y; add.u32 %r1, %r1, %v.z; add.u32 %r1, %r1, "
                "%v.w;"),
     ALL(4321)},
    {"a parameter's bits", KERNEL("", "ld.param.u16 %h1, [n+2]; cvt.u32.u16 %r1, %h1;"),
     ALL(0x8765)},
};

static void what_kernels_leave(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        size_t mark = arena_mark(&test_arena);
        struct machine *machine = test_machine(test_compile(kernels[i].text), false);
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

/* ---- atomics that commute ---- */

static const struct {
    const char *text; /* behind red.global or atom.global */
    const char *operands;
    bool gives, commutes; /* with itself */
} atomics[] = {
    {"red.global.add.u32", "[g], %r0", false, true},
    {"red.global.add.s32", "[g], %r0", false, true},
    {"red.global.add.u64", "[g], %d2", false, true},
    {"red.global.min.u32", "[g], %r0", false, true},
    {"red.global.min.s32", "[g], %r0", false, true},
    {"red.global.max.u32", "[g], %r0", false, true},
    {"red.global.max.s64", "[g], %d2", false, true},
    {"red.global.and.b32", "[g], %r0", false, true},
    {"red.global.or.b32", "[g], %r0", false, true},
    {"red.global.xor.b64", "[g], %d2", false, true},
    {"red.global.add.f32", "[g], %f1", false, false},
    {"red.global.inc.u32", "[g], %r0", false, false},
    {"red.global.dec.u32", "[g], %r0", false, false},
    {"atom.global.add.u32", "%r2, [g], %r0", true, false},
    {"atom.global.and.b32", "%r2, [g], %r0", true, false},
    {"atom.global.exch.b32", "%r2, [g], %r0", true, false},
    {"atom.global.exch.b32", "_, [g], %r0", false, false},
    {"atom.global.cas.b32", "%r2, [g], %r0, %r1", true, false},
    {"atom.global.cas.b32", "_, [g], %r0, %r1", false, false},
};

/* Two atomics commute if they are the same, of integers, and nobody learns the old value. */
static void atomics_that_commute(void **state)
{
    enum { COUNT = sizeof atomics / sizeof *atomics };
    (void)state;
    for (uint32_t n = 0; n < COUNT * COUNT; n++) {
        size_t mark = arena_mark(&test_arena);
        uint32_t i = n % COUNT, j = n / COUNT;
        const char *text =
            arena_printf(&test_arena, "%s%s%s %s; %s %s; ld.global.u32 %%r1, [g]; exit;\n}\n",
                         SETTINGS MODULE ".global .align 8 .b8 g[8];\n", ENTRY, atomics[i].text,
                         atomics[i].operands, atomics[j].text, atomics[j].operands);
        bool wanted = i == j && atomics[i].commutes;
        if (program_atomics_commute(test_compile(text)) != wanted)
            fail_msg("%s, %s", atomics[i].text, atomics[j].text);
        arena_release(&test_arena, mark);
    }
    assert_true(program_atomics_commute(test_compile(KERNEL(WORDS, "st.global.u32 [w], 1;"))));
    assert_true(program_atomics_commute(
        test_compile(KERNEL(WORDS, "atom.global.add.u32 _, [w], 1; red.global.add.u32 [w], 2;"))));
}

/* ---- initialisers ---- */

#define OTHERS                                                                                     \
    ".global .align 4 .b8 g[8];\n.const .align 4 .b8 c[8];\n.shared .align 4 .b8 s[8];\n"          \
    ".func f() { ret; }\n"

static const struct {
    const char *declaration; /* of v */
    uint32_t count;
    uint32_t words[8];
} initialisers[] = {
    {".global .u32 v[3] = {1, 2};", 3, {1, 2, 0}},
    {".global .u8 v[6] = {1, 2, 255, 4, 5};", 2, {0x04ff0201, 5}},
    {".global .s16 v[3] = {-1, 2, -3};", 2, {0x0002ffff, 0xfffd}},
    {".global .u64 v[2] = {0x1122334455667788, 9};", 4, {0x55667788, 0x11223344, 9, 0}},
    {".global .u32 v = 7;", 1, {7}},
    {".global .u32 v[] = {7, 8, 9};", 3, {7, 8, 9}},
    {".global .u32 v[2][2] = {{1, 2}, {3, 4}};", 4, {1, 2, 3, 4}},
    {".global .u32 v[2][2] = {{1}, {3, 4}};", 4, {1, 0, 3, 4}},
    {".global .u8 v[2][2][3] = {{{1}, {2, 3}}, {{4, 5, 6}}};", 3, {0x02000001, 0x05040003, 6}},
    {".global .v2 .u32 v[2] = {{1, 2}, {3}};", 4, {1, 2, 3, 0}},
    {".global .v4 .u8 v[2] = {{1, 2, 3}, {5, 6, 7, 8}};", 2, {0x00030201, 0x08070605}},
    {".global .v4 .u32 v = {1, 2, 3, 4};", 4, {1, 2, 3, 4}},
    {".global .v2 .u16 v[2][2] = {{{1, 2}, {3, 4}}, {{5, 6}}};",
     4,
     {0x00020001, 0x00040003, 0x00060005, 0}},
    {".global .f32 v[3] = {1.5, 0f40200000, 0dbff8000000000000};",
     3,
     {0x3fc00000, 0x40200000, 0xbfc00000}},
    {".global .f64 v[3] = {1.5, 0f40200000, 0dbff8000000000001};",
     6,
     {0, 0x3ff80000, 0, 0x40040000, 1, 0xbff80000}},
    {".global .b32 v[1] = {0f40200000};", 1, {0x40200000}},
    {".global .u64 v[2] = {g, g+4};", 4, {0x10000, 0x400, 0x10004, 0x400}},
    {".global .u32 v[2] = {g+8, g};", 2, {0x10008, 0x10000}},
    {".global .u64 v[3] = {generic(g)+1, generic(c), generic(s)+2};",
     6,
     {0x10001, 0x400, 0x100, 0x300, 0x102, 0x100}},
    {".global .u32 v[2] = {c, s};", 2, {0x100, 0x100}},
    {".global .u8 v[4] = {0xff(g), 0xff00(g), 0xff0000(g), 5};", 1, {0x05010000}},
    {".global .u8 v[2] = {0xff00(g+0x234), 0xff(g+0x234)};", 1, {0x3402}},
    {".global .u64 v[1] = {f};", 2, {5, 0}},
};

static void initial_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof initialisers / sizeof initialisers[0]; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct program *program = test_compile(arena_printf(
            &test_arena,
            "// simtfuzz: entry=k threads=1 warp=1\n" MODULE OTHERS
            "%s\n.visible .entry k() { .reg .b64 %%d<9>; .reg .b32 %%r<9>; mov.u64 %%d1, v;\n"
            "mov.u64 %%d2, g; call f; ret; }\n",
            initialisers[i].declaration));
        const int32_t *words = program->ptx->initial + support_address(program, "v");
        for (uint32_t k = 0; k < initialisers[i].count; k++)
            if ((uint32_t)words[k] != initialisers[i].words[k])
                fail_msg("%s: word %u is 0x%x, not 0x%x", initialisers[i].declaration, k,
                         (uint32_t)words[k], initialisers[i].words[k]);
        arena_release(&test_arena, mark);
    }
}

/* ---- buffers ---- */

static void buffers_hold_files(void **state)
{
    char path[] = "simtfuzz-buffer-XXXXXX"; /* below the folder of the text */
    const uint8_t bytes[] = {1, 2, 3, 4, 0xff, 0x80, 7};
    int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, sizeof bytes), sizeof bytes);
    for (uint32_t length = 5; length <= 10; length++) {
        const struct program *program = test_compile(arena_printf(
            &test_arena,
            "// simtfuzz: entry=k threads=1 bind:a=buffer:8:iota bind:b=buffer:%u:file:%s\n" MODULE
            ".visible .entry k(.param .u64 a, .param .u64 b) { ret; }\n",
            length, path));
        uint32_t at = support_address(program, "b");
        assert_int_equal(program->ptx->initial[support_address(program, "a") + 1], 1);
        assert_int_equal(program->private_base, 2 + (length + 3) / 4);
        for (uint32_t byte = 0; byte < (length + 3) / 4 * 4; byte++) {
            uint32_t word = (uint32_t)program->ptx->initial[at + byte / 4];
            uint32_t wanted = byte < length && byte < sizeof bytes ? bytes[byte] : 0;
            assert_int_equal(word >> byte % 4 * 8 & 0xff, wanted);
        }
    }
    close(file);
    unlink(path);
}

/* ---- what raw kernels start with ---- */

/* Tokens are given top first; registers by lane. */
static void raw_kernels_start(void **state)
{
    (void)state;
    const struct program *program =
        test_compile("// simtfuzz: entry=k threads=7 warp=4 raw reg:d=0x1122334455667788,2,3,4 "
                     "reg:r=5 reg:p=1010\n"
                     "// simtfuzz: stack=sync,11111,3+call,0111,2+brk,1,1\n" MODULE
                     ".visible .entry k() {\n.reg .b64 d; .reg .b32 r; .reg .pred p;\n.reg .b32 x; "
                     "add.u32 x, r, 1;\n"
                     "nop; selp.u32 x, 1, 0, p; cvt.u32.u64 x, d; exit;\n}\n");
    static const struct crs_token tokens[] = {
        {CRS_BREAK, 1, 1}, {CRS_CALL, 2, 0xe}, {CRS_SYNC, 3, 0xf}};
    const struct machine_options none = {.track = false};
    struct machine *machine = machine_new(&test_arena, &semantics_crs, program, &none);
    for (uint32_t warp = 0; warp < 2; warp++) {
        const struct crs_warp w = crs_warp(machine, warp);
        assert_int_equal(w.state->depth, 3);
        assert_int_equal(w.state->active, warp ? 7 : 0xf);
        assert_int_equal(w.state->exited, warp ? 8 : 0);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(w.tokens[i].type, tokens[i].type);
            assert_int_equal(w.tokens[i].pc, tokens[i].pc);
            assert_int_equal(w.tokens[i].mask, tokens[i].mask & (warp ? 7 : 0xf));
        }
        for (uint32_t i = 0; i < program->ptx->register_count; i++) {
            const struct ptx_place *place = &program->ptx->registers[i].place;
            for (uint32_t lane = 0; lane < (warp ? 3 : 4); lane++) {
                uint64_t value = ptx_source(machine, w.lanes, place, lane);
                uint64_t wanted = i == 0   ? (lane ? lane + 1 : 0x1122334455667788u)
                                  : i == 1 ? 5
                                           : 1 - lane % 2;
                assert_true(value == wanted);
            }
        }
    }
}

/* ---- one entry of many ---- */

/* What an entry does not reach is left out; with an alias, which goes by name, everything stays. */
static void parts_are_what_an_entry_reaches(void **state)
{
    (void)state;
    static const char text[] =
        MODULE ".global .b32 a;\n"
               ".func g() { ret; }\n.func f() { call g; ret; }\n.func h() { ret; }\n"
               ".visible .entry k() { call f; ret; }\n.visible .entry m() { call h; ret; }\n";
    const char *const texts[] = {text, arena_printf(&test_arena, "%s.alias z, h;\n", text)};
    for (uint32_t aliases = 0; aliases < 2; aliases++) {
        struct diag *diag = ARENA_NEW(&test_arena, struct diag);
        diag_init(diag, "text", texts[aliases], strlen(texts[aliases]));
        const struct ptx_module *module =
            ptx_parse(&test_arena, texts[aliases], strlen(texts[aliases]), diag);
        assert_non_null(module);
        const struct ptx_function *entry = ptx_find_entry(module, "k");
        assert_non_null(entry);
        assert_null(ptx_find_entry(module, "f"));
        const char *part = ptx_print(&test_arena, ptx_part(&test_arena, module, entry));
        assert_non_null(strstr(part, ".global .b32 a"));
        assert_non_null(strstr(part, "call f") && strstr(part, ".func g") ? part : NULL);
        assert_int_equal(strstr(part, ".func h") != NULL, aliases);
        assert_int_equal(strstr(part, ".entry m") != NULL, aliases);
    }
}

/* %reserved_smem_offset_0 and _1 are there once where they are named, and are others where they are declared. */
static void reserved_names_may_be_declared(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "mov.u32 r, %reserved_smem_offset_1; mov.u32 r, %reserved_smem_offset_1;",
        "{ .shared .b32 %reserved_smem_offset_0; mov.u32 r, %reserved_smem_offset_0; }\n"
        "{ .shared .b32 %reserved_smem_offset_0; mov.u32 r, %reserved_smem_offset_0; }\n"
        "{ .shared .b32 %reserved_smem_offset_0; mov.u32 r, %reserved_smem_offset_0; }\n"
        "mov.u32 r, %reserved_smem_offset_0;"};
    static const uint32_t wanted[] = {1, 4};
    for (uint32_t i = 0; i < 2; i++) {
        const char *text = arena_printf(
            &test_arena, MODULE ".visible .entry k() { .reg .b32 r; %s ret; }", bodies[i]);
        struct diag *diag = ARENA_NEW(&test_arena, struct diag);
        diag_init(diag, "text", text, strlen(text));
        const struct ptx_module *module = ptx_parse(&test_arena, text, strlen(text), diag);
        struct ptx_reach reach;
        assert_non_null(module);
        ptx_reach(&test_arena, module, ptx_find_entry(module, "k"), &reach);
        assert_int_equal(reach.variable_count, wanted[i]);
        assert_int_equal(ptx_memory_bytes(reach.variables[wanted[i] - 1]), 288);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(special_registers, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(between_lanes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(what_kernels_leave, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(atomics_that_commute, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(initial_values, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(buffers_hold_files, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(raw_kernels_start, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(parts_are_what_an_entry_reaches, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(reserved_names_may_be_declared, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
