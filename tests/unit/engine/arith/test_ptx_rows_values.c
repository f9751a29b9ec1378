/* What single instructions, as text, compute: PTX ISA's tables of special values, and what docs/ptx.md says about
 * the values that it leaves open. Atomics. */
#include "engine/arith/ptx_rows_internal.h"
#include "engine/base/pcg.h"
#include "engine/reference_ptx/ref_ptx.h"
#include "tests/unit/shared/ptx_text.h"

#include <math.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define NAN_32 0x7fffffff
#define NAN_64 0x7fffffffffffffff
#define INF_32 0x7f800000
#define MINUS_INF_32 0xff800000
#define MINUS_0 0x80000000

/* p: predicates, h: 16 bits, r: 32, q: 64, f: .f32, d: .f64. */
static const struct ptx_instruction *instruction_of(const char *text)
{
    const char *all = arena_printf(&arena,
                                   ".global .b32 v; .entry k() { .reg .pred p<4>; .reg .b16 h<8>; "
                                   ".reg .b32 r<8>; .reg .b64 q<8>; .reg .f32 f<8>; .reg .f64 d<8>;"
                                   "%s }",
                                   text);
    const struct ptx_statement *s = NULL;
    for (struct ptx_item *item = parse(all)->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION)
            s = item->u.function->body;
    while (s->kind != PTX_INSTRUCTION)
        s = s->next;
    return &s->u.instruction;
}

struct expectation {
    const char *text;
    uint64_t sources[PTX_ROW_SOURCES];
    uint64_t results[PTX_ROW_RESULTS];
};

static void computes(const struct expectation *e)
{
    size_t mark = arena_mark(&arena);
    struct ptx_row_op op;
    const char *reason;
    uint64_t sources[PTX_ROW_SOURCES] = {0}, results[PTX_ROW_RESULTS] = {0};
    if (!ptx_row_find(instruction_of(e->text), &op, &reason))
        fail_msg("%s: %s", e->text, reason);
    for (uint32_t i = 0; i < op.source_count; i++)
        memcpy(&sources[i], &e->sources[i], op.source_bits[i] / 8u);
    op.fn(1, (void *[]){&results[0], &results[1], &results[2], &results[3]},
          (const void *[]){&sources[0], &sources[1], &sources[2], &sources[3]}, op.immediate);
    for (uint32_t i = 0; i < op.result_count; i++)
        if (results[i] != e->results[i])
            fail_msg("%s: result %u is %llx, not %llx", e->text, i, (unsigned long long)results[i],
                     (unsigned long long)e->results[i]);
    for (uint32_t i = op.result_count; i < PTX_ROW_RESULTS; i++)
        assert_int_equal(e->results[i], 0);
    arena_release(&arena, mark);
}

static const struct expectation integers[] = {
    {"add.s32 r1, r2, r3;", {0x7fffffff, 1}, {0x80000000}},
    {"add.s16 h1, h2, h3;", {0xffff, 2}, {1}},
    {"add.sat.s32 r1, r2, r3;", {0x7fffffff, 1}, {0x7fffffff}},
    {"add.cc.u32 r1, r2, r3;", {0xffffffff, 1}, {0, 1}},
    {"addc.cc.u32 r1, r2, r3;", {0xffffffff, 0, 1}, {0, 1}},
    {"sub.cc.u32 r1, r2, r3;", {0, 1}, {0xffffffff, 1}},
    {"subc.u32 r1, r2, r3;", {5, 1, 1}, {3}},
    {"mul.hi.s32 r1, r2, r3;", {0xffffffff, 1}, {0xffffffff}},
    {"mul.wide.s32 q1, r2, r3;", {0xffffffff, 5}, {(uint64_t)-5}},
    {"mul.wide.u16 r1, h2, h3;", {0xffff, 0xffff}, {0xfffe0001}},
    {"mad.wide.u32 q1, r2, r3, q2;", {0xffffffff, 2, 3}, {0x200000001}},
    {"mul24.hi.s32 r1, r2, r3;", {0xffffff, 0xffffff}, {0}},
    {"div.u32 r1, r2, r3;", {7, 0}, {0xffffffff}},
    {"div.s16 h1, h2, h3;", {7, 0}, {0xffff}},
    {"rem.s64 q1, q2, q3;", {7, 0}, {UINT64_MAX}},
    {"div.s32 r1, r2, r3;", {0x80000000, 0xffffffff}, {0x80000000}},
    {"rem.s32 r1, r2, r3;", {0x80000000, 0xffffffff}, {0}},
    {"div.s32 r1, r2, r3;", {(uint32_t)-7, 2}, {(uint32_t)-3}},
    {"rem.s32 r1, r2, r3;", {(uint32_t)-7, 2}, {(uint32_t)-1}},
    {"abs.s32 r1, r2;", {0x80000000}, {0x80000000}},
    {"shl.b32 r1, r2, r3;", {1, 32}, {0}},
    {"shl.b64 q1, q2, r3;", {1, 63}, {(uint64_t)1 << 63}},
    {"shr.s32 r1, r2, r3;", {0x80000000, 100}, {0xffffffff}},
    {"shr.s16 h1, h2, r3;", {0x8000, 15}, {0xffff}},
    {"shr.u64 q1, q2, r3;", {UINT64_MAX, 64}, {0}},
    {"shf.l.clamp.b32 r1, r2, r3, r4;", {1, 2, 40}, {1}},
    {"shf.r.wrap.b32 r1, r2, r3, r4;", {1, 2, 33}, {0}},
    {"bfind.u32 r1, r2;", {0}, {0xffffffff}},
    {"bfind.shiftamt.s32 r1, r2;", {0xfffffffd}, {30}},
    {"clz.b64 r1, q2;", {0}, {64}},
    {"bfe.s32 r1, r2, r3, r4;", {0xf0, 4, 4}, {0xffffffff}},
    {"bfi.b32 r1, r2, r3, r4, r5;", {0xff, 0, 4, 4}, {0xf0}},
    {"fns.b32 r1, r2, r3, r4;", {0xaaaaaaaa, 3, 1}, {3}},
    {"fns.b32 r1, r2, r3, r4;", {0xaaaaaaaa, 3, (uint32_t)-1}, {3}},
    {"fns.b32 r1, r2, r3, r4;", {0xaaaaaaaa, 3, 0}, {3}},
    {"fns.b32 r1, r2, r3, r4;", {0xaaaaaaaa, 32, 1}, {0xffffffff}},
    {"bmsk.wrap.b32 r1, r2, r3;", {1, 2}, {6}},
    {"prmt.b32 r1, r2, r3, r4;", {0x33221180, 0x77665544, 0x7608}, {0x776680ff}},
    {"lop3.b32 r1, r2, r3, r4, 0xe8;", {0xc, 0xa, 0x9}, {0x8}},
    {"not.pred p1, p2;", {1}, {0}},
    {"cnot.b16 h1, h2;", {0}, {1}},
    {"dp4a.u32.s32 r1, r2, r3, r4;", {0xff, 0xff, 1}, {(uint32_t)-254}},
    {"dp2a.lo.s32.u32 r1, r2, r3, r4;", {0x0002ffff, 0x05060708, 1}, {1 - 8 + 14}},
    {"dp2a.hi.u32.s32 r1, r2, r3, r4;",
     {0x0002ffff, 0x05fe0708, 1},
     {(uint32_t)(1 - 2 * 65535 + 10)}},
    {"vabsdiff4.u32.u32.u32 r1, r2, r3, r4;", {0x05ff0010, 0x0900ff01, 7}, {0x04ffff0f}},
    {"vabsdiff4.s32.s32.u32.sat r1, r2, r3, r4;", {0x80057f81, 0xff047fff, 7}, {0x7f01007f}},
    {"vabsdiff4.u32.s32.s32.add r1, r2, r3, r4;",
     {0x80ff0001, 0x7f010002, 7},
     {7 + 1 + 0 + 2 + 255}},
    {"add.u16x2 r1, r2, r3;", {0xffff0001, 0x0001ffff}, {0}},
    {"add.s16x2 r1, r2, r3;", {0x7fff0001, 0x00010002}, {0x80000003}},
    {"min.s16x2 r1, r2, r3;", {0x8000ffff, 0x7fff0001}, {0x8000ffff}},
    {"min.u16x2 r1, r2, r3;", {0x8000ffff, 0x7fff0001}, {0x7fff0001}},
    {"max.s16x2.relu r1, r2, r3;", {0x8000ffff, 0xfffe0001}, {1}},
    {"min.relu.s32 r1, r2, r3;", {0xfffffffe, 5}, {0}},
    {"max.s32.relu r1, r2, r3;", {0x80000000, 5}, {5}},
};

static const struct expectation choices[] = {
    {"setp.lt.s32 p1|p2, r1, r2;", {0xffffffff, 0}, {1, 0}},
    {"setp.lt.u32 p1, r1, r2;", {0xffffffff, 0}, {0}},
    {"setp.lt.and.s32 p1|p2, r1, r2, !p3;", {0xffffffff, 0, 1}, {0, 0}},
    {"setp.lt.or.s32 p1|p2, r1, r2, p3;", {0xffffffff, 0, 0}, {1, 0}},
    {"setp.eq.xor.b64 p1|p2, q1, q2, p3;", {4, 4, 1}, {0, 1}},
    {"setp.ne.f32 p1, f1, f2;", {NAN_32, 0}, {0}},
    {"setp.neu.f32 p1, f1, f2;", {NAN_32, 0}, {1}},
    {"setp.eq.f32 p1, f1, f2;", {MINUS_0, 0}, {1}},
    {"setp.gt.f32 p1, f1, f2;", {1, 0}, {1}},
    {"setp.gt.ftz.f32 p1, f1, f2;", {1, 0}, {0}},
    {"set.ge.f32.s32 f1, r1, r2;", {1, 1}, {0x3f800000}},
    {"set.ge.u32.f64 r1, d1, d2;", {0, 0}, {0xffffffff}},
    {"selp.b16 h1, h2, h3, p1;", {5, 6, 0}, {6}},
    {"slct.f32.f32 f1, f2, f3, f4;", {1, 2, MINUS_0}, {1}},
    {"slct.b64.f32 q1, q2, q3, f4;", {1, 2, NAN_32}, {2}},
    {"slct.f32.f32 f1, f2, f3, f4;", {1, 2, 0x80000001}, {2}},
    {"slct.ftz.f32.f32 f1, f2, f3, f4;", {1, 2, 0x80000001}, {1}},
    {"mov.b64 q1, {r1, r2};", {1, 2}, {0x200000001}},
    {"mov.b64 {r1, r2}, q1;", {0x200000001}, {1, 2}},
    {"mov.b64 {r1, _}, q1;", {0x200000001}, {1, 2}},
    {"mov.b64 {h1, h2, h3, h4}, q1;", {0x4000300020001}, {1, 2, 3, 4}},
    {"mov.b32 r1, {h1, h2};", {0xffff, 2}, {0x2ffff}},
    {"mov.pred p1, p2;", {1}, {1}},
    {"mov.u16 h1, %laneid;", {0x10003}, {3}},
    {"cvta.shared.u64 q1, q2;", {0x10}, {0x10000000010}},
    {"cvta.to.shared.u64 q1, q2;", {0x10000000010}, {0x10}},
    {"cvta.shared.u32 r1, r2;", {0x10}, {0x70000010}},
    {"cvta.to.shared.u32 r1, r2;", {0x70000010}, {0x10}},
    {"cvta.to.global.u64 q1, q2;", {0x10010}, {0x10010}},
    {"isspacep.shared p1, q2;", {0x70000010}, {1}},
    {"isspacep.local p1, q2;", {0x70000010}, {0}},
    {"isspacep.shared p1, q2;", {0x100ffffffff}, {1}},
    {"isspacep.shared p1, q2;", {0x10100000000}, {0}},
    {"isspacep.global p1, q2;", {0x10100000000}, {1}},
    {"isspacep.global p1, q2;", {0x40000000000}, {1}},
};

static const struct expectation floats[] = {
    {"add.f32 f1, f2, f3;", {0x3f800000, 0x33800000}, {0x3f800000}},
    {"add.rp.f32 f1, f2, f3;", {0x3f800000, 0x33800000}, {0x3f800001}},
    {"add.rz.f32 f1, f2, f3;", {0x3f800000, 1}, {0x3f800000}},
    {"add.rm.f64 d1, d2, d3;", {0x3ff0000000000000, 0xbff0000000000000}, {(uint64_t)1 << 63}},
    {"add.f64 d1, d2, d3;", {0x3ff0000000000000, 0xbff0000000000000}, {0}},
    {"add.f32 f1, f2, f3;", {INF_32, MINUS_INF_32}, {NAN_32}},
    {"add.f32 f1, f2, f3;", {0x7f800001, 0}, {NAN_32}},
    {"add.f32 f1, f2, f3;", {1, 1}, {2}},
    {"add.ftz.f32 f1, f2, f3;", {1, 1}, {0}},
    {"add.ftz.f32 f1, f2, f3;", {0x80000001, 0x80000001}, {MINUS_0}},
    {"add.sat.f32 f1, f2, f3;", {0x3f800000, 0x3f800000}, {0x3f800000}},
    {"mul.sat.f32 f1, f2, f3;", {INF_32, 0}, {0}},
    {"mul.rz.f32 f1, f2, f3;", {0x7f7fffff, 0x7f7fffff}, {0x7f7fffff}},
    {"fma.rn.f32 f1, f2, f3, f4;", {0x3f800001, 0x3f800001, 0xbf800002}, {0x28800000}},
    {"fma.rn.f64 d1, d2, d3, d4;", {INT64_MAX, 0, 0}, {NAN_64}},
    {"div.rn.f32 f1, f2, f3;", {0x3f800000, 0}, {INF_32}},
    {"div.approx.f32 f1, f2, f3;", {0x3f800000, 0xfe900000}, {MINUS_0}},
    {"div.approx.f32 f1, f2, f3;", {INF_32, 0x7e900000}, {NAN_32}},
    {"div.full.f32 f1, f2, f3;", {0x3f800000, 0x7e800000}, {0x00800000}},
    {"rcp.approx.f32 f1, f2;", {MINUS_INF_32}, {MINUS_0}},
    {"rcp.approx.ftz.f32 f1, f2;", {0x80000001}, {MINUS_INF_32}},
    {"rcp.approx.ftz.f64 d1, d2;", {0x40080000deadbeef}, {0x3fd5555500000000}},
    {"rsqrt.approx.ftz.f64 d1, d2;", {0x8000000000000001}, {0xfff0000000000000}},
    {"rsqrt.approx.ftz.f64 d1, d2;", {NAN_64}, {0x7fffffff00000000}},
    {"rsqrt.approx.f32 f1, f2;", {0x40800000}, {0x3f000000}},
    {"rsqrt.approx.f32 f1, f2;", {MINUS_0}, {MINUS_INF_32}},
    {"sqrt.rn.f32 f1, f2;", {MINUS_0}, {MINUS_0}},
    {"sqrt.rn.f32 f1, f2;", {0xbf800000}, {NAN_32}},
    {"sin.approx.f32 f1, f2;", {MINUS_0}, {MINUS_0}},
    {"sin.approx.f32 f1, f2;", {INF_32}, {NAN_32}},
    {"cos.approx.f32 f1, f2;", {MINUS_0}, {0x3f800000}},
    {"lg2.approx.f32 f1, f2;", {0x41000000}, {0x40400000}},
    {"lg2.approx.f32 f1, f2;", {MINUS_0}, {MINUS_INF_32}},
    {"lg2.approx.f32 f1, f2;", {1}, {0xc3150000}},
    {"lg2.approx.ftz.f32 f1, f2;", {1}, {MINUS_INF_32}},
    {"lg2.approx.f32 f1, f2;", {0xbf800000}, {NAN_32}},
    {"ex2.approx.f32 f1, f2;", {MINUS_INF_32}, {0}},
    {"ex2.approx.f32 f1, f2;", {0xc3000000}, {0x00200000}},
    {"ex2.approx.ftz.f32 f1, f2;", {0xc3000000}, {0}},
    {"ex2.approx.f32 f1, f2;", {0x43000000}, {INF_32}},
    {"tanh.approx.f32 f1, f2;", {MINUS_INF_32}, {0xbf800000}},
    {"tanh.approx.f32 f1, f2;", {0x80000001}, {0x80000001}},
    {"tanh.approx.f16x2 r1, r2;", {0x7c008001}, {0x3c008001}},
    {"tanh.approx.bf16 h1, h2;", {0xff80}, {0xbf80}},
    {"ex2.approx.f16x2 r1, r2;", {0x4c00fc00}, {0x7c000000}},
    {"ex2.approx.f16 h1, h2;", {0xcc00}, {0x0100}},
    {"ex2.approx.ftz.bf16x2 r1, r2;", {0x7fc0c300}, {0x7fff0000}},
    {"min.f32 f1, f2, f3;", {0, MINUS_0}, {MINUS_0}},
    {"max.f32 f1, f2, f3;", {MINUS_0, 0}, {0}},
    {"min.f32 f1, f2, f3;", {0x7fc00000, 0x3f800000}, {0x3f800000}},
    {"min.NaN.f32 f1, f2, f3;", {0x7fc00000, 0x3f800000}, {NAN_32}},
    {"neg.f32 f1, f2;", {0xffc00000}, {NAN_32}},
    {"copysign.f32 f1, f2, f3;", {MINUS_0, 0x3f800000}, {0xbf800000}},
    {"testp.subnormal.f32 p1, f2;", {1}, {1}},
    {"testp.normal.f32 p1, f2;", {MINUS_0}, {1}},
};

static const struct expectation conversions[] = {
    {"cvt.u32.u16 r1, h1;", {0xffff}, {0xffff}},
    {"cvt.s32.s16 r1, h1;", {0xffff}, {0xffffffff}},
    {"cvt.s64.s8 q1, r1;", {0x80}, {0xffffffffffffff80}},
    {"cvt.u16.u32 h1, r1;", {0x12345678}, {0x5678}},
    {"cvt.s8.s32 h1, r1;", {0x180}, {0xff80}},
    {"cvt.s8.s32 q1, r1;", {0x180}, {0xffffffffffffff80}},
    {"cvt.u8.s32 r1, r2;", {0x180}, {0x80}},
    {"cvt.u32.s8 q1, r2;", {0x80}, {0xffffff80}},
    {"cvt.sat.u8.s32 r1, r2;", {0xffffffff}, {0}},
    {"cvt.sat.s8.u32 r1, r2;", {0xffffffff}, {0x7f}},
    {"cvt.sat.u32.s64 r1, q2;", {0x100000000}, {0xffffffff}},
    {"cvt.u32.u64 r1, q2;", {0x123456789}, {0x23456789}},
    {"cvt.rzi.s32.f32 r1, f1;", {0xbfc00000}, {0xffffffff}},
    {"cvt.rni.s32.f32 r1, f1;", {0x40200000}, {2}},
    {"cvt.rmi.s32.f32 r1, f1;", {0xbf000000}, {0xffffffff}},
    {"cvt.rzi.s32.f32 r1, f1;", {0x4f000000}, {0x7fffffff}},
    {"cvt.rzi.u32.f32 r1, f1;", {0xbf800000}, {0}},
    {"cvt.rzi.u8.f32 r1, f1;", {0x43fa0000}, {0xff}},
    {"cvt.rzi.s32.f32 r1, f1;", {NAN_32}, {0}},
    {"cvt.rzi.s64.f32 q1, f1;", {NAN_32}, {(uint64_t)1 << 63}},
    {"cvt.rzi.u32.f64 r1, d1;", {NAN_64}, {0x80000000}},
    {"cvt.rpi.u32.f32 r1, f1;", {1}, {1}},
    {"cvt.rpi.ftz.u32.f32 r1, f1;", {1}, {0}},
    {"cvt.rn.f32.s32 f1, r1;", {0x1000001}, {0x4b800000}},
    {"cvt.rp.f32.s32 f1, r1;", {0x1000001}, {0x4b800001}},
    {"cvt.rn.f64.u64 d1, q1;", {UINT64_MAX}, {0x43f0000000000000}},
    {"cvt.rn.f32.f64 f1, d1;", {0x36a0000000000000}, {1}},
    {"cvt.f64.f32 d1, f1;", {1}, {0x36a0000000000000}},
    {"cvt.rn.f16.f32 h1, f1;", {0x477ff000}, {0x7c00}},
    {"cvt.rz.f16.f32 h1, f1;", {0x477ff000}, {0x7bff}},
    {"cvt.f32.f16 f1, h1;", {1}, {0x33800000}},
    {"cvt.rn.bf16.f32 h1, f1;", {0x3f808000}, {0x3f80}},
    {"cvt.f32.bf16 f1, h1;", {0xff80}, {MINUS_INF_32}},
    {"cvt.sat.f32.f32 f1, f2;", {NAN_32}, {0}},
    {"cvt.rni.f32.f32 f1, f2;", {0xbe800000}, {MINUS_0}},
};

/* .f16: 1 is 3c00, 2 is 4000, 1.5 is 3e00; .bf16: 1 is 3f80, 2 is 4000, 3 is 4040. */
static const struct expectation halves[] = {
    {"add.f16x2 r1, r2, r3;", {0x3c004000, 0x38003c00}, {0x3e004200}},
    {"sub.f16x2 r1, r2, r3;", {0x40003c00, 0x3c003c00}, {0x3c000000}},
    {"mul.bf16x2 r1, r2, r3;", {0x40003f80, 0x40404000}, {0x40c04000}},
    {"add.f16 h1, h2, h3;", {0x7bff, 0x7bff}, {0x7c00}},
    {"add.sat.f16 h1, h2, h3;", {0x4000, 0x4000}, {0x3c00}},
    {"add.f16 h1, h2, h3;", {1, 0}, {1}},
    {"add.ftz.f16 h1, h2, h3;", {1, 0}, {0}},
    {"fma.rn.f16 h1, h2, h3, h4;", {0x3e00, 0x4000, 0x3800}, {0x4300}},
    {"fma.rn.relu.f16 h1, h2, h3, h4;", {0xbc00, 0x4000, 0x3800}, {0}},
    {"min.f16 h1, h2, h3;", {0x7e00, 0x3c00}, {0x3c00}},
    {"min.NaN.f16 h1, h2, h3;", {0x7e00, 0x3c00}, {0x7fff}},
    {"min.NaN.f16 h1, h2, h3;", {0x4000, 0x3c00}, {0x3c00}},
    {"max.NaN.bf16x2 r1, r2, r3;", {0x7fc03f80, 0x3f803f80}, {0x7fff3f80}},
    {"min.f16 h1, h2, h3;", {0, 0x8000}, {0x8000}},
    {"max.f16 h1, h2, h3;", {0x8000, 0}, {0}},
    {"abs.f16x2 r1, r2;", {0xbc003c00}, {0x3c003c00}},
    {"neg.bf16 h1, h2;", {0x3f80}, {0xbf80}},
    {"set.gt.u32.f16x2 r1, r2, r3;", {0x40003c00, 0x3c003c00}, {0xffff0000}},
    {"set.gtu.s32.bf16x2 r1, r2, r3;", {0x3f807fc0, 0x3f803f80}, {0x0000ffff}},
    {"set.lt.or.u32.f16x2 r1, r2, r3, p1;", {0x40003c00, 0x3c003c00, 1}, {UINT32_MAX}},
    {"set.gt.u32.f16 r1, h1, h2;", {0x4000, 0x3c00}, {UINT32_MAX}},
    {"set.gt.f16x2.f16x2 r1, r2, r3;", {0x40003c00, 0x3c003c00}, {0x3c000000}},
};

static void all_of(const struct expectation *expectations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        computes(&expectations[i]);
}

static void special_values(void **state)
{
    (void)state;
    all_of(integers, COUNT(integers));
    all_of(choices, COUNT(choices));
    all_of(floats, COUNT(floats));
    all_of(conversions, COUNT(conversions));
    all_of(halves, COUNT(halves));
}

static void refusals(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"ld.global.u32 r1, [v];", "ld"},
        {"bar.sync 0;", "bar"},
        {"ret;", "ret"},
        {"set.gt.u16.f16x2 h1, r1, r2;", "set of another type than its operands'"},
        {"setp.lo.s32 p1, r1, r2;", "lo, ls, hi, hs of a signed type"},
        {"cvt.f32.f64 f1, d1;", "cvt to a smaller floating-point type without a rounding"},
        {"cvt.rni.f32.f64 f1, d1;", "cvt to a whole number of another floating-point type"},
    };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct ptx_row_op op;
        const char *reason;
        assert_false(ptx_row_find(instruction_of(pairs[i][0]), &op, &reason));
        assert_string_equal(reason, pairs[i][1]);
    }
}

/* Products halfway between two numbers, with something tiny added: what rounding twice gets wrong. */
static void fused_ties(void **state)
{
    (void)state;
    struct pcg rng;
    struct {
        uint32_t a[64], b[64], c[64], d[64];
    } r;
    struct ptx_instruction instruction = *instruction_of("fma.rn.f32 f1, f2, f3, f4;");
    pcg_seed(&rng, 3, 3);
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < 64; i++) {
            float a = ldexpf((float)((pcg_next(&rng) & 0x7fffff) | 0x800001), -23);
            float b = ldexpf(3, (int)pcg_below(&rng, 5) - 2);
            float sign = pcg_below(&rng, 2) ? 1 : -1;
            float c = ldexpf(sign, -(int)pcg_below(&rng, 120) - 20);
            r.a[i] = bits_of_f32(pcg_below(&rng, 2) ? a : -a);
            r.b[i] = bits_of_f32(b);
            r.c[i] = bits_of_f32(c);
        }
        for (int isa = 0; isa < ROW_ISA_COUNT; isa++) {
            struct ptx_row_op op;
            const char *reason;
            if (!ptx_row_has_isa((enum row_isa)isa))
                continue;
            assert_true(ptx_row_find_for((enum row_isa)isa, &instruction, &op, &reason));
            op.fn(64, (void *[]){r.d, NULL, NULL, NULL}, (const void *[]){r.a, r.b, r.c, NULL},
                  op.immediate);
            for (int i = 0; i < 64; i++)
                assert_int_equal(r.d[i],
                                 bits_of_f32(fmaf(f32_of(r.a[i]), f32_of(r.b[i]), f32_of(r.c[i]))));
        }
    }
}

/* ---- atomics ---- */

static void atomics(void **state)
{
    (void)state;
    static const struct {
        enum ptx_word op, type;
        uint64_t old, b, c, result;
    } rows[] = {
        {PTX_W_ADD, PTX_W_U32, 0xffffffff, 2, 0, 1},
        {PTX_W_ADD, PTX_W_S32, 5, 0xffffffff, 0, 4},
        {PTX_W_ADD, PTX_W_U64, UINT64_MAX, 2, 0, 1},
        {PTX_W_ADD, PTX_W_F32, 0x3f800000, 0x3f800000, 0, 0x40000000},
        {PTX_W_ADD, PTX_W_F32, 1, 1, 0, 2},
        {PTX_W_ADD, PTX_W_F32, INF_32, MINUS_INF_32, 0, NAN_32},
        {PTX_W_ADD, PTX_W_F64, 0x3ff0000000000000, 0x3ff0000000000000, 0, 0x4000000000000000},
        {PTX_W_ADD, PTX_W_F64, NAN_64, 0, 0, NAN_64},
        {PTX_W_AND, PTX_W_B32, 12, 10, 0, 8},
        {PTX_W_AND, PTX_W_B64, 12, 10, 0, 8},
        {PTX_W_OR, PTX_W_B32, 12, 10, 0, 14},
        {PTX_W_OR, PTX_W_B64, 12, 10, 0, 14},
        {PTX_W_XOR, PTX_W_B32, 12, 10, 0, 6},
        {PTX_W_XOR, PTX_W_B64, 12, 10, 0, 6},
        {PTX_W_EXCH, PTX_W_B32, 12, 10, 0, 10},
        {PTX_W_EXCH, PTX_W_B64, 12, UINT64_MAX, 0, UINT64_MAX},
        {PTX_W_CAS, PTX_W_B16, 0x10007, 0x20007, 9, 9},
        {PTX_W_CAS, PTX_W_B16, 7, 8, 9, 7},
        {PTX_W_CAS, PTX_W_B32, 7, 7, 9, 9},
        {PTX_W_CAS, PTX_W_B64, UINT64_MAX, UINT64_MAX, 9, 9},
        {PTX_W_CAS, PTX_W_B64, (uint64_t)1 << 32, 0, 9, (uint64_t)1 << 32},
        {PTX_W_INC, PTX_W_U32, 3, 4, 0, 4},
        {PTX_W_INC, PTX_W_U32, 4, 4, 0, 0},
        {PTX_W_INC, PTX_W_U32, 5, 4, 0, 0},
        {PTX_W_DEC, PTX_W_U32, 3, 4, 0, 2},
        {PTX_W_DEC, PTX_W_U32, 0, 4, 0, 4},
        {PTX_W_DEC, PTX_W_U32, 5, 4, 0, 4},
        {PTX_W_MIN, PTX_W_U32, 0xffffffff, 1, 0, 1},
        {PTX_W_MIN, PTX_W_S32, 0xffffffff, 1, 0, 0xffffffff},
        {PTX_W_MIN, PTX_W_U64, UINT64_MAX, 1, 0, 1},
        {PTX_W_MIN, PTX_W_S64, UINT64_MAX, 1, 0, UINT64_MAX},
        {PTX_W_MAX, PTX_W_U32, 0xffffffff, 1, 0, 0xffffffff},
        {PTX_W_MAX, PTX_W_S32, 0xffffffff, 1, 0, 1},
        {PTX_W_MAX, PTX_W_U64, UINT64_MAX, 1, 0, UINT64_MAX},
        {PTX_W_MAX, PTX_W_S64, UINT64_MAX, 1, 0, 1},
        {PTX_W_MIN, PTX_W_F16, 0x3c00, 0xbc00, 0, 0xbc00},
        {PTX_W_MIN, PTX_W_F16, 0x0000, 0x8000, 0, 0x8000},
        {PTX_W_MIN, PTX_W_F16, 0x7e01, 0x7c00, 0, 0x7c00},
        {PTX_W_MAX, PTX_W_F16, 0x8000, 0x0000, 0, 0x0000},
        {PTX_W_MAX, PTX_W_F16X2, 0x80000001, 0x00008001, 0, 0x00000001},
        {PTX_W_MAX, PTX_W_BF16, 0x7f80, 0x7f7f, 0, 0x7f80},
        {PTX_W_MAX, PTX_W_BF16X2, 0xffffbf80, 0x7fc1c000, 0, 0x7fffbf80},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        ptx_atomic_fn *fn = ptx_atomic_find(rows[i].op, rows[i].type);
        assert_non_null(fn);
        uint64_t result = fn(rows[i].old, rows[i].b, rows[i].c);
        if (result != rows[i].result)
            fail_msg("atomic %zu (.%s.%s): %llx", i, ptx_words[rows[i].op], ptx_words[rows[i].type],
                     (unsigned long long)result);
        struct ptx_instruction instruction = {.operands = NULL};
        instruction.words[PTX_SLOT_OP] = (uint8_t)rows[i].op;
        instruction.words[PTX_SLOT_TYPE] = (uint8_t)rows[i].type;
        assert_true(ref_atomic_value(&instruction, rows[i].old, rows[i].b, rows[i].c, &result));
        if (result != rows[i].result)
            fail_msg("atomic %zu (.%s.%s), the reference: %llx", i, ptx_words[rows[i].op],
                     ptx_words[rows[i].type], (unsigned long long)result);
    }
    assert_null(ptx_atomic_find(PTX_W_MIN, PTX_W_F32));
    assert_null(ptx_atomic_find(PTX_W_POPC, PTX_W_U32));
}

static bool group_has(const char *pattern, enum ptx_slot slot, enum ptx_word word)
{
    struct ptx_group group;
    while (ptx_group_next(&pattern, &group))
        if (group.slot == slot && ptx_group_has(&group, ptx_words[word], strlen(ptx_words[word])))
            return true;
    return false;
}

/* Every operation and type that a form of atom or red allows has a function. */
static void every_atomic(void **state)
{
    (void)state;
    size_t found = 0;
    for (int form = 0; form < PTX_FORM_COUNT; form++) {
        const struct ptx_form_row *row = &ptx_forms[form];
        if (row->opcode != PTX_OP_ATOM && row->opcode != PTX_OP_RED)
            continue;
        for (int op = 1; op < PTX_WORD_COUNT; op++)
            for (int type = 1; type < PTX_WORD_COUNT; type++)
                if (group_has(row->modifiers, PTX_SLOT_OP, (enum ptx_word)op) &&
                    group_has(row->modifiers, PTX_SLOT_TYPE, (enum ptx_word)type) &&
                    type != PTX_W_B128) { /* of which two rows hold an operand */
                    assert_non_null(ptx_atomic_find((enum ptx_word)op, (enum ptx_word)type));
                    found++;
                }
    }
    assert_true(found > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_values), cmocka_unit_test(refusals),
        cmocka_unit_test(fused_ties),     cmocka_unit_test(atomics),
        cmocka_unit_test(every_atomic),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
