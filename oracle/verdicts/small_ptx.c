#include "oracle/verdicts/small.h"

#include <inttypes.h>
#include <string.h>

#include "engine/base/pcg.h"
#include "engine/base/text.h"

/*
 * Registers: r0 is tid, r1 the thread's number in the grid, r8 a loop's counter; d0, d1 are where g and s are, d7 an
 * address; p4 is a loop's. The others take anything.
 *
 * In a form, a capital letter stands for something drawn: registers R, D, H, P that are written, of 32, 64, 16 bits, of
 * predicates; S a register or a number, T, E, I, Q registers that are read, of 32, 32 (no number), 64, 16 bits, of
 * predicates; N a number below 33; Y a sign, C a comparison, B a connective.
 */
static const char *const forms[] = {
    "add.Y32 R, S, S;",
    "sub.Y32 R, S, S;",
    "mul.lo.Y32 R, S, S;",
    "mul.hi.Y32 R, S, S;",
    "mul.wide.Y32 D, S, S;",
    "mad.lo.Y32 R, S, S, S;",
    "mad.hi.Y32 R, S, S, S;",
    "mad.wide.Y32 D, S, S, E;",
    "div.Y32 R, S, S;",
    "rem.Y32 R, S, S;",
    "min.Y32 R, S, S;",
    "max.Y32 R, S, S;",
    "abs.s32 R, S;",
    "neg.s32 R, S;",
    "add.Y64 D, E, E;",
    "sub.Y64 D, E, E;",
    "mul.lo.Y64 D, E, E;",
    "mul.hi.Y64 D, E, E;",
    "div.Y64 D, E, E;",
    "rem.Y64 D, E, E;",
    "min.Y64 D, E, E;",
    "max.Y64 D, E, E;",
    "abs.s64 D, E;",
    "neg.s64 D, E;",
    "add.Y16 H, I, I;",
    "sub.Y16 H, I, I;",
    "mul.lo.Y16 H, I, I;",
    "mul.hi.Y16 H, I, I;",
    "mul.wide.Y16 R, I, I;",
    "mad.lo.Y16 H, I, I, I;",
    "mad.wide.Y16 R, I, I, S;",
    "div.Y16 H, I, I;",
    "rem.Y16 H, I, I;",
    "min.Y16 H, I, I;",
    "max.Y16 H, I, I;",
    "abs.s16 H, I;",
    "neg.s16 H, I;",
    "B.b32 R, S, S;",
    "B.b64 D, E, E;",
    "B.b16 H, I, I;",
    "B.pred P, Q, Q;",
    "not.b32 R, S;",
    "not.b64 D, E;",
    "not.b16 H, I;",
    "not.pred P, Q;",
    "cnot.b32 R, S;",
    "cnot.b64 D, E;",
    "cnot.b16 H, I;",
    "lop3.b32 R, S, S, S, 0xN;",
    "shl.b32 R, S, S;",
    "shl.b32 R, S, N;",
    "shr.Y32 R, S, S;",
    "shr.Y32 R, S, N;",
    "shl.b64 D, E, S;",
    "shl.b64 D, E, N;",
    "shr.Y64 D, E, S;",
    "shr.Y64 D, E, N;",
    "shl.b16 H, I, S;",
    "shr.Y16 H, I, S;",
    "shr.Y16 H, I, N;",
    "shf.l.wrap.b32 R, S, S, S;",
    "shf.r.wrap.b32 R, S, S, S;",
    "shf.l.clamp.b32 R, S, S, S;",
    "shf.r.clamp.b32 R, S, S, S;",
    "bfe.Y32 R, S, N, N;",
    "bfe.Y32 R, S, S, S;",
    "popc.b32 R, S;",
    "setp.C.Y32 P, S, S;",
    "setp.C.Y32 p0|p1, S, S;",
    "setp.C.B.Y32 p1|p2, S, S, Q;",
    "setp.C.B.Y32 p2|p0, S, S, !Q;",
    "setp.C.Y64 P, E, E;",
    "setp.C.B.Y64 p0|p2, E, E, Q;",
    "setp.C.Y16 P, I, I;",
    "setp.C.B.Y16 p1|p0, I, I, !Q;",
    "set.C.u32.Y32 R, S, S;",
    "set.C.s32.Y64 R, E, E;",
    "set.C.B.u32.Y32 R, S, S, Q;",
    "set.C.B.u32.Y32 R, S, S, !Q;",
    "selp.b32 R, S, S, Q;",
    "selp.b64 D, E, E, Q;",
    "selp.Y16 H, I, I, Q;",
    "slct.b32.s32 R, S, S, S;",
    "mov.u32 R, S;",
    "mov.u32 R, %laneid;",
    "mov.u32 R, %warpid;",
    "mov.u32 R, %tid.x;",
    "mov.u32 R, %tid.y;",
    "mov.u32 R, %ctaid.x;",
    "mov.u32 R, %ctaid.y;",
    "mov.u32 R, %lanemask_lt;",
    "mov.u32 R, %lanemask_ge;",
    "mov.u32 R, %lanemask_gt;",
    "mov.u32 R, %lanemask_eq;",
    "mov.u32 R, %lanemask_le;",
    "mov.u64 D, E;",
    "mov.b64 D, {T, T};",
    "mov.b64 {r2, r3}, E;",
    "mov.b64 {r5, r4}, E;",
    "mov.b32 {h0, h1}, T;",
    "mov.b32 R, {I, I};",
    "mov.b128 q0, {E, E};",
    "mov.b128 {d3, d2}, q0;",
    "mov.b128 {d4, d5}, q1;",
    "cvt.Y64.Y32 D, T;",
    "cvt.Y32.Y64 R, E;",
    "cvt.Y16.Y32 H, T;",
    "cvt.Y32.Y16 R, I;",
    "cvt.Y64.Y16 D, I;",
    "cvt.Y16.Y64 H, E;",
    "cvt.Y32.Y8 R, T;",
    "cvt.Y64.Y8 D, T;",
    "cvt.Y8.Y32 R, T;",
    "cvt.Y8.Y16 H, I;",
    "cvt.Y32.Y32 R, T;",
    "cvt.rn.f32.s32 R, T;",
};

/* At an address that is a multiple of the bytes given. */
static const struct {
    const char *text;
    uint32_t bytes;
} accesses[] = {{"ldX.Y32 R, A;", 4},
                {"ldX.Y32 D, A;", 4},
                {"ldX.Y8 R, A;", 1},
                {"ldX.Y8 H, A;", 1},
                {"ldX.Y16 R, A;", 2},
                {"ldX.Y16 H, A;", 2},
                {"ldX.Y16 D, A;", 2},
                {"ldX.Y64 D, A;", 8},
                {"ldX.v2.u32 {r2, r3}, A;", 8},
                {"ldX.v4.u32 {r2, r3, r4, r5}, A;", 16},
                {"ldX.v4.s8 {r2, r3, r4, r5}, A;", 4},
                {"ldX.v2.u64 {d2, d3}, A;", 16},
                {"ldX.v2.s16 {h0, h1}, A;", 4},
                {"ld.volatileX.u32 R, A;", 4},
                {"stX.u32 A, S;", 4},
                {"stX.u32 A, S;", 4},
                {"stX.u8 A, T;", 1},
                {"stX.u16 A, I;", 2},
                {"stX.u64 A, E;", 8},
                {"stX.v2.u32 A, {T, T};", 8},
                {"stX.v4.u32 A, {T, T, T, T};", 16},
                {"stX.v2.u64 A, {E, E};", 16},
                {"stX.v4.u8 A, {T, T, T, T};", 4},
                {"stX.v2.u16 A, {I, I};", 4},
                {"ldX.b128 q0, A;", 16},
                {"stX.b128 A, q1;", 16},
                {"atomX.add.u32 R, A, S;", 4},
                {"atomX.min.s32 R, A, S;", 4},
                {"atomX.exch.b32 R, A, S;", 4},
                {"atomX.cas.b32 R, A, S, S;", 4},
                {"redX.max.u32 A, S;", 4},
                {"atomX.add.u64 D, A, E;", 8},
                {"atomX.cas.b64 D, A, E, E;", 8},
                {"redX.min.s64 A, E;", 8},
                {"atomX.exch.b128 q1, A, q0;", 16},
                {"atomX.cas.b128 q0, A, q1, q0;", 16}};

/* Strong ones, and such as look like them. */
static const struct {
    const char *text;
    uint32_t bytes;
} strong_accesses[] = {{"ld.volatileX.u32 R, A;", 4},
                       {"ld.relaxed.gpuX.u32 R, A;", 4},
                       {"ld.acquire.sysX.u32 R, A;", 4},
                       {"ld.acquire.gpuX.u64 D, A;", 8},
                       {"ld.relaxed.ctaX.u32 R, A;", 4},
                       {"ld.relaxed.clusterX.u32 R, A;", 4},
                       {"ld.volatileX.v2.u32 {r2, r3}, A;", 8},
                       {"ld.weakX.u32 R, A;", 4},
                       {"ld.volatileX.u8 R, A;", 1},
                       {"st.volatileX.u32 A, S;", 4},
                       {"st.relaxed.gpuX.u32 A, S;", 4},
                       {"st.release.sysX.u32 A, T;", 4},
                       {"st.release.gpuX.u64 A, E;", 8},
                       {"st.relaxed.ctaX.u32 A, S;", 4},
                       {"st.volatileX.v2.u32 A, {T, T};", 8},
                       {"st.weakX.u32 A, S;", 4},
                       {"ld.relaxed.sysX.v2.u32 {r2, r3}, A;", 8}};

enum { GLOBAL = 224, SHARED = 64, LOCAL = 8 /* words */ };

struct drawing {
    struct text out;
    struct pcg rng;
    uint32_t labels, left; /* statements that may still come */
    bool in_loop;
    uint32_t atomic;   /* bytes of its atomics: others than of one size are refused */
    bool strong;       /* half of its accesses are strong, or look so */
    const char *space; /* of the access at hand: ".global" */
    const char *base;  /* what its address is counted from */
    uint32_t offset;
};

#define PICK(d, list) (list)[pcg_below(&(d)->rng, sizeof(list) / sizeof(list)[0])]

static void put_source(struct drawing *d)
{
    static const int32_t numbers[] = {0,  1,   2,  3,  5,  7,     8,        31,
                                      32, 255, -1, -2, -7, 65537, INT32_MAX};
    if (pcg_below(&d->rng, 3) == 0)
        text_format(&d->out, "%" PRId32, PICK(d, numbers));
    else
        text_format(&d->out, "r%" PRIu32, pcg_below(&d->rng, 8));
}

static void put_letter(struct drawing *d, char letter)
{
    static const char *const compares[] = {"eq", "ne", "lt", "le", "gt", "ge"},
                             *const connectives[] = {"and", "or", "xor"};
    static const struct {
        const char *letters;
        char name;
        uint32_t first, count;
    } registers[] = {{"R", 'r', 2, 6},
                     {"DE", 'd', 2, 5},
                     {"HI", 'h', 0, 3},
                     {"PQ", 'p', 0, 3},
                     {"T", 'r', 0, 8}};
    for (uint32_t i = 0; i < sizeof registers / sizeof registers[0]; i++)
        if (strchr(registers[i].letters, letter)) {
            text_format(&d->out, "%c%" PRIu32, registers[i].name,
                        registers[i].first + pcg_below(&d->rng, registers[i].count));
            return;
        }
    switch (letter) {
    case 'S':
        put_source(d);
        return;
    case 'N':
        text_format(&d->out, "%" PRIu32, pcg_below(&d->rng, 33));
        return;
    case 'Y':
        text_put(&d->out, pcg_below(&d->rng, 2) ? "u" : "s");
        return;
    case 'C':
        text_put(&d->out, PICK(d, compares));
        return;
    case 'B':
        text_put(&d->out, PICK(d, connectives));
        return;
    case 'X':
        text_put(&d->out, d->space);
        return;
    case 'A':
        text_format(&d->out, "[%s+%" PRIu32 "]", d->base, d->offset);
        return;
    default:
        text_put_bytes(&d->out, &letter, 1);
    }
}

static void put_predicate(struct drawing *d)
{
    uint32_t number = pcg_below(&d->rng, 3), negated = pcg_below(&d->rng, 2);
    text_format(&d->out, "@%sp%" PRIu32 " ", negated ? "!" : "", number);
}

static void put_guard(struct drawing *d)
{
    text_put(&d->out, "\t");
    if (pcg_below(&d->rng, 5) == 0)
        put_predicate(d);
}

static void put_form(struct drawing *d, const char *form)
{
    put_guard(d);
    for (const char *c = form; *c; c++)
        put_letter(d, *c);
    text_put(&d->out, "\n");
}

/* The address as one of all spaces; or with bits that no address in shared memory keeps. */
static void put_cast(struct drawing *d, bool global)
{
    uint32_t kind = pcg_below(&d->rng, 8);
    if (kind < 2) {
        text_format(&d->out, "\tcvta%s.u64 d7, d7;\n", d->space);
        d->space = "";
    } else if (kind == 2) {
        text_format(&d->out, "\tadd.s64 d7, d7, %s;\n", global ? "0" : "4294967296");
    }
}

static uint32_t draw_access(struct drawing *d)
{
    uint32_t n;
    bool is_atomic;
    do {
        n = pcg_below(&d->rng, sizeof accesses / sizeof accesses[0]);
        is_atomic = accesses[n].text[0] == 'a' || accesses[n].text[0] == 'r';
    } while (is_atomic && accesses[n].bytes != d->atomic);
    return n;
}

/* In the thread's own memory, of the module or of the entry. */
static void put_local(struct drawing *d)
{
    uint32_t n;
    do
        n = pcg_below(&d->rng, sizeof accesses / sizeof accesses[0]);
    while (accesses[n].text[0] == 'a' || accesses[n].text[0] == 'r');
    d->space = ".local";
    d->base = pcg_below(&d->rng, 2) ? "l" : "e";
    d->offset = pcg_below(&d->rng, LOCAL * 4 / accesses[n].bytes) * accesses[n].bytes;
    put_form(d, accesses[n].text);
}

/* Mostly at a place of the thread's own; else where another thread may be. */
static void put_access(struct drawing *d)
{
    if (pcg_below(&d->rng, 8) == 0) {
        put_local(d);
        return;
    }
    d->base = "d7";
    bool is_strong = d->strong && pcg_below(&d->rng, 2);
    uint32_t n = is_strong ? pcg_below(&d->rng, sizeof strong_accesses / sizeof strong_accesses[0])
                           : draw_access(d);
    bool global = pcg_below(&d->rng, 2), own = pcg_below(&d->rng, 4) > 0;
    uint32_t stride = 16u << pcg_below(&d->rng, 2);
    uint32_t bytes = is_strong ? strong_accesses[n].bytes : accesses[n].bytes;
    d->space = global ? ".global" : ".shared";
    d->offset = pcg_below(&d->rng, 16 / bytes + (pcg_below(&d->rng, 4) == 0)) * bytes;
    d->offset += pcg_below(&d->rng, 24) == 0 ? bytes / 2 : 0;
    if (pcg_below(&d->rng, 24) == 0) { /* at the end of the variable, or behind it */
        d->offset =
            (uint32_t)(global ? GLOBAL : SHARED) * 4 + bytes * pcg_below(&d->rng, 2) - bytes;
        text_format(&d->out, "\tmov.u64 d7, d%d;\n", !global);
    } else if (own)
        text_format(&d->out, "\tmad.wide.u32 d7, r%d, %" PRIu32 ", d%d;\n", global, stride,
                    !global);
    else
        text_format(&d->out,
                    "\tand.b32 r7, r%" PRIu32 ", 7;\n\tmad.wide.u32 d7, r7, %" PRIu32 ", d%d;\n",
                    pcg_below(&d->rng, 8), bytes, !global);
    put_cast(d, global);
    put_form(d, is_strong ? strong_accesses[n].text : accesses[n].text);
}

static void put_some(struct drawing *d, uint32_t most);

static void put_branch(struct drawing *d)
{
    uint32_t label = d->labels++;
    text_put(&d->out, "\t");
    put_predicate(d);
    text_format(&d->out, "bra L%" PRIu32 ";\n", label);
    put_some(d, 4);
    text_format(&d->out, "L%" PRIu32 ":\n", label);
}

/* Into three blocks, the second one of which goes on into the third. */
static void put_table(struct drawing *d)
{
    uint32_t label = d->labels;
    d->labels += 4;
    text_format(&d->out,
                "\trem.u32 r7, r%" PRIu32 ", 3;\nW%" PRIu32 ": .branchtargets L%" PRIu32
                ", L%" PRIu32 ", L%" PRIu32 ";\n\tbrx.idx r7, W%" PRIu32 ";\nL%" PRIu32 ":\n",
                pcg_below(&d->rng, 8), label, label, label + 1, label + 2, label, label);
    put_some(d, 2);
    text_format(&d->out, "\tbra L%" PRIu32 ";\nL%" PRIu32 ":\n", label + 3, label + 1);
    put_some(d, 2);
    text_format(&d->out, "L%" PRIu32 ":\n", label + 2);
    put_some(d, 2);
    text_format(&d->out, "L%" PRIu32 ":\n", label + 3);
}

/* Threads make trips of their own, or all the same. */
static void put_loop(struct drawing *d)
{
    uint32_t label = d->labels++;
    if (pcg_below(&d->rng, 2))
        text_put(&d->out, "\tand.b32 r9, r0, 3;\n");
    else
        text_format(&d->out, "\tmov.u32 r9, %" PRIu32 ";\n", pcg_below(&d->rng, 4));
    text_format(&d->out, "\tmov.u32 r8, 0;\nL%" PRIu32 ":\n", label);
    d->in_loop = true;
    put_some(d, 4);
    d->in_loop = false;
    text_format(&d->out,
                "\tadd.u32 r8, r8, 1;\n\tsetp.lt.u32 p3, r8, r9;\n\t@p3 bra L%" PRIu32 ";\n",
                label);
}

static void put_statement(struct drawing *d)
{
    switch (pcg_below(&d->rng, 24)) {
    case 0:
    case 1:
        put_branch(d);
        return;
    case 2:
        put_table(d);
        return;
    case 3:
        if (!d->in_loop)
            put_loop(d);
        return;
    case 4:
        text_put(&d->out, "\tbar.sync 0;\n");
        return;
    case 5:
        if (pcg_below(&d->rng, 8) == 0)
            put_form(d, pcg_below(&d->rng, 4) ? "exit;" : "trap;");
        return;
    case 6:
    case 7:
    case 8:
    case 9:
        put_access(d);
        return;
    default:
        put_form(d, PICK(d, forms));
    }
}

static void put_some(struct drawing *d, uint32_t most)
{
    for (uint32_t n = pcg_below(&d->rng, most) + 1; n > 0 && d->left > 0; n--) {
        d->left--;
        put_statement(d);
    }
}

/* Of any size. */
static int32_t any_word(struct drawing *d)
{
    int32_t bits = (int32_t)pcg_next(&d->rng);
    return bits >> pcg_below(&d->rng, 32);
}

/* What threads begin with is different words. Numbers of threads and blocks go along x, then along y. */
static void put_start(struct drawing *d, const uint32_t *threads, uint32_t width)
{
    text_format(&d->out,
                "\tmov.u32 r0, %%tid.x;\n\tmov.u32 r1, %%tid.y;\n\tmad.lo.u32 r0, r1, %" PRIu32
                ", r0;\n\tmov.u32 r1, %%ctaid.x;\n\tmov.u32 r2, %%ctaid.y;\n\tmad.lo.u32 r1, r2, "
                "%" PRIu32 ", r1;\n\tmad.lo.u32 r1, r1, %" PRIu32
                ", r0;\n\tmov.u64 d0, g;\n\tmov.u64 d1, s;\n",
                threads[0], width, threads[0] * threads[1]);
    for (uint32_t i = 2; i < 8; i++) {
        int32_t added = any_word(d);
        uint32_t factor = pcg_next(&d->rng);
        factor >>= pcg_below(&d->rng, 32);
        text_format(&d->out, "\tmad.lo.u32 r%" PRIu32 ", r1, %" PRId32 ", %" PRId32 ";\n", i,
                    (int32_t)factor, added);
    }
    for (uint32_t i = 2; i < 7; i++)
        text_format(&d->out, "\tmul.wide.s32 d%" PRIu32 ", r%" PRIu32 ", %" PRId32 ";\n", i, i,
                    any_word(d));
    text_put(&d->out, "\tmov.b128 q0, {d2, d3};\n\tmov.b128 q1, {d4, d5};\n");
    for (uint32_t i = 0; i < 3; i++)
        text_format(&d->out,
                    "\tcvt.u16.u32 h%" PRIu32 ", r%" PRIu32 ";\n\tsetp.lt.s32 p%" PRIu32
                    ", r%" PRIu32 ", r%" PRIu32 ";\n",
                    i, i + 2, i, i + 2, i + 5);
}

const struct ast_kernel *small_ptx(struct arena *arena, uint64_t seed)
{
    static const uint32_t shapes[][2] = {{2, 1}, {3, 1}, {4, 1}, {5, 1}, {2, 2}, {3, 2}, {1, 3}},
                          grids[][2] = {{1, 1}, {1, 1}, {1, 1}, {2, 1}, {1, 2}, {2, 2}};
    struct drawing d = {.out = text_begin(arena), .left = 20};
    pcg_seed(&d.rng, seed, 1);
    d.atomic = pcg_below(&d.rng, 4) ? 4 : pcg_below(&d.rng, 6) ? 8 : 16;
    d.strong = pcg_below(&d.rng, 4) == 0;
    const uint32_t *threads = PICK(&d, shapes), *blocks = PICK(&d, grids);
    text_format(&d.out,
                "// simtfuzz: entry=k blocks=%" PRIu32 "x%" PRIu32 " threads=%" PRIu32 "x%" PRIu32
                " warp=%" PRIu32
                "\n.version 8.4\n.target sm_90\n.address_size 64\n.global .align 16 .u32 "
                "g[%d] = {1, 2, 0x80000000, 0xffff, 5};\n.shared .align 16 .u32 s[%d];\n.local "
                ".align 16 .u32 l[%d];\n.entry k()\n{\n"
                "\t.local .align 16 .u32 e[%d];\n\t.reg .pred p<4>;\n\t.reg .b16 h<3>;\n\t.reg "
                ".b32 r<10>;\n\t.reg .b64 "
                "d<8>;\n\t.reg .b128 q<2>;\n",
                blocks[0], blocks[1], threads[0], threads[1], 2 + pcg_below(&d.rng, 3), GLOBAL,
                SHARED, LOCAL, LOCAL);
    put_start(&d, threads, blocks[0]);
    while (d.left > 0)
        put_some(&d, 4);
    text_put(&d.out, "\texit;\n}\n");
    return parse_printed(arena, d.out.bytes);
}
