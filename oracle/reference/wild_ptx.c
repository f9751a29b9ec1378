/*
 * wild_ptx.c - small programs of PTX whose instructions are drawn one by one: branches to anywhere, barriers of any
 * number, instructions of lanes together, in warps of up to 64 lanes; half of them raw, the branch unit's instructions
 * in any order. Most get stuck, or wait for ever, behind some steps. A third have a function, which is called at
 * several places and calls itself, so deep as a lane's number says: lanes of one instruction are in several frames,
 * where raw tokens bring them there.
 */
#include "oracle/reference/wild.h"

#include "engine/base/pcg.h"
#include "engine/base/text.h"

enum { MOST = 14, FUEL = 6 };

struct drawing {
    struct pcg rng;
    struct text out;
    bool raw, of_barriers, has_function, in_function;
    uint32_t threads, warp, count, at;
};

static uint32_t below(struct drawing *d, uint32_t n)
{
    return pcg_below(&d->rng, n);
}

static bool once_in(struct drawing *d, uint32_t n)
{
    return below(d, n) == 0;
}

static void put(struct drawing *d, const char *piece)
{
    text_put(&d->out, piece);
}

/* Mostly ahead. */
static uint32_t label(struct drawing *d)
{
    return once_in(d, 5) ? below(d, d->count + 1) : d->at + 1 + below(d, d->count - d->at);
}

static const char *guard(struct drawing *d)
{
    static const char *const guards[] = {"", "", "", "@p0 ", "@!p0 ", "@p1 ", "@!p1 ", "@f "};
    return guards[below(d, 8)];
}

/* All lanes; those of one side of p0, or of p1; any. */
static const char *mask(struct drawing *d)
{
    static const char *const masks[] = {"0xffffffff", "0xffffffff", "0x55555555", "0xaaaaaaaa",
                                        "m",          "3",          "0xfffffffc", "n"};
    return masks[below(d, 8)];
}

/* Of lanes together. */
static void together(struct drawing *d)
{
    static const char *const ops[] = {"vote.sync.all.pred f, p1, %s;",
                                      "vote.sync.any.pred f, !p1, %s;",
                                      "vote.sync.uni.pred p1, f, %s;",
                                      "vote.sync.ballot.b32 a, p0, %s;",
                                      "shfl.sync.idx.b32 a|f, b, 1, 31, %s;",
                                      "shfl.sync.down.b32 a, b, 1, 31, %s;",
                                      "shfl.sync.bfly.b32 b, a, 3, 0x1c03, %s;",
                                      "match.any.sync.b32 a, b, %s;",
                                      "match.all.sync.b32 a|f, b, %s;",
                                      "redux.sync.add.u32 a, b, %s;",
                                      "redux.sync.max.s32 b, a, %s;",
                                      "bar.warp.sync %s;",
                                      "bar.warp.sync %s;"};
    const char *names = mask(d);
    if (once_in(d, 6)) {
        put(d, "activemask.b32 a;");
        return;
    }
    const char *op = ops[below(d, sizeof ops / sizeof *ops)];
    for (; *op; op++)
        if (op[0] == '%' && op[1] == 's') {
            put(d, names);
            op++;
        } else {
            text_put_bytes(&d->out, op, 1);
        }
}

static void barrier(struct drawing *d)
{
    const uint32_t warps = (d->threads + d->warp - 1) / d->warp, number = below(d, 2);
    const uint32_t threads = once_in(d, 8)
                                 ? 1 + below(d, d->threads)
                                 : d->warp * (once_in(d, 3) ? 1 + below(d, warps) : warps);
    switch (below(d, 6)) {
    case 0:
        text_format(&d->out, "bar.arrive %u, %u;", (unsigned)number, (unsigned)threads);
        break;
    case 1:
        text_format(&d->out, "bar.red.popc.u32 a, %u, %u, p1;", (unsigned)number,
                    (unsigned)threads);
        break;
    case 2:
        text_format(&d->out, "bar.red.%s.pred f, %u, p1;", once_in(d, 2) ? "and" : "or",
                    (unsigned)number);
        break;
    case 3:
        text_format(&d->out, "barrier.sync %u, %u;", (unsigned)number, (unsigned)threads);
        break;
    default:
        text_format(&d->out, "bar.sync %u;", (unsigned)number);
        break;
    }
}

static void access_memory(struct drawing *d)
{
    static const char *const ops[] = {
        "st.global.u32 [o], a;",           "st.global.u32 [o+4], b;",
        "ld.global.u32 b, [o];",           "ld.global.u32 a, [s];",
        "st.global.u32 [s], a;",           "atom.global.add.u32 a, [o], 1;",
        "atom.global.exch.b32 b, [s], a;", "red.global.max.u32 [o+4], a;"};
    put(d, ops[below(d, 8)]);
}

static void compute(struct drawing *d)
{
    static const char *const ops[] = {"add.u32 a, a, 1;",       "xor.b32 b, b, a;",
                                      "not.pred p0, p0;",       "setp.gt.u32 p1, a, b;",
                                      "mad.lo.u32 a, a, 3, t;", "selp.u32 b, a, t, p0;"};
    put(d, ops[below(d, 6)]);
}

static void branch_unit(struct drawing *d)
{
    static const char *const pushes[] = {"ssy", "preBrk", "preRet"};
    const uint32_t kind = below(d, 9), first = label(d), second = label(d);
    if (kind < 3)
        text_format(&d->out, "%s L%u;", pushes[kind], (unsigned)first);
    else if (kind < 7)
        put(d, kind < 5 ? "sync;" : kind == 5 ? "break;" : "ret;");
    else if (kind == 7)
        text_format(&d->out, "call L%u;", (unsigned)first);
    else
        text_format(&d->out, "mov.u32 c, L%u;\n\t@p1 mov.u32 c, L%u;\n\t%s c;", (unsigned)first,
                    (unsigned)second, d->at % 3 ? "bra" : "call");
}

/* In the function only while there is fuel; there it stands in front of what lanes do together, as a rule. */
static void call(struct drawing *d)
{
    static const char *const counts[] = {"n", "t", "1", "a"};
    const char *who = d->in_function ? "@f " : guard(d);
    if (d->in_function)
        put(d, "\tsub.s32 n, n, 1;\n\tsetp.gt.s32 f, n, 0;\n");
    if (d->raw)
        text_format(&d->out, "\t%spreRet L%u;\n", who, (unsigned)d->at + 1);
    text_format(&d->out, "\t%scall (%s), fn, (%s, %s);\n", who, d->in_function ? "b" : "a",
                once_in(d, 2) ? "a" : "b", counts[d->in_function ? 0 : below(d, 4)]);
}

static void instruction(struct drawing *d)
{
    const uint32_t kind = below(d, 16);
    text_format(&d->out, "L%u:\n", (unsigned)d->at);
    if (kind < 3 || (kind < 5 && !d->raw)) {
        /* Back only while there is fuel. */
        const char *who = once_in(d, 3) ? "@f " : guard(d);
        text_format(&d->out, "\tsub.s32 n, n, 1;\n\tsetp.gt.s32 f, n, 0;\n\t%sbra L%u;\n", who,
                    (unsigned)label(d));
        return;
    }
    if (d->has_function && (kind == 5 || (d->in_function && d->at == 0))) {
        call(d);
        return;
    }
    put(d, "\t");
    put(d, guard(d));
    if (kind < 8 && d->raw)
        branch_unit(d);
    else if (kind < 8 || (d->of_barriers && kind < 11))
        barrier(d);
    else if (kind < 11)
        together(d);
    else if (kind < 13)
        access_memory(d);
    else if (kind < 15)
        compute(d);
    else
        put(d, once_in(d, 4) ? "trap;" : "exit;");
    put(d, "\n");
}

/* A token that each warp starts with, of some lanes, and of one more than a short warp has. */
static void given(struct drawing *d)
{
    static const char *const kinds[] = {"sync", "div", "call", "brk"};
    text_format(&d->out, " stack=%s,", kinds[below(d, 4)]);
    for (uint32_t lane = 0; lane < d->warp; lane++)
        put(d, once_in(d, 2) ? "1" : "0");
    text_format(&d->out, ",%u", (unsigned)(12 + below(d, 2 * d->count)));
}

/* What each frame begins with. */
static void registers(struct drawing *d, uint32_t fuel, uint32_t lanes)
{
    put(d, d->in_function ? "\t.reg .u32 b, c, m, t, s, o;\n"
                          : "\t.reg .u32 a, b, c, n, m, t, s, o;\n");
    put(d, "\t.reg .pred p0, p1, f;\n\tmov.u32 t, %tid.x;\n");
    if (!d->in_function)
        text_format(&d->out, "\tmov.u32 n, %u;\n\tmov.u32 a, t;\n", (unsigned)fuel);
    text_format(&d->out,
                "\tmov.u32 m, %u;\n\tmov.u32 o, out;\n\tmov.u32 s, mine;\n"
                "\tmad.lo.u32 s, t, 4, s;\n\tand.b32 b, t, 1;\n\tsetp.eq.u32 p0, b, 0;\n"
                "\tsetp.lt.u32 p1, t, %u;\n\tsetp.eq.u32 f, t, 0;\n",
                (unsigned)lanes, (unsigned)below(d, d->threads + 1));
}

static void function(struct drawing *d, uint32_t lanes)
{
    const uint32_t count = d->count;
    d->in_function = true;
    d->count = 2 + below(d, 5);
    put(d, ".func (.reg .u32 r) fn(.reg .u32 a, .reg .u32 n)\n{\n");
    registers(d, 0, lanes);
    for (d->at = 0; d->at < d->count; d->at++)
        instruction(d);
    text_format(&d->out, "L%u:\n\tadd.u32 r, a, b;\n\tret;\n}\n", (unsigned)d->count);
    d->count = count;
    d->in_function = false;
}

const char *wild_ptx(struct arena *arena, bool of_barriers, uint64_t number)
{
    struct drawing d = {.rng = pcg_derive(number, PCG_SCHEDULE, 97), .out = text_begin(arena)};
    const bool wide = once_in(&d, 6);
    d.raw = once_in(&d, 2);
    d.of_barriers = of_barriers;
    d.warp = wide ? 33 + below(&d, 32) : 1 + below(&d, 6);
    d.threads = wide ? d.warp - below(&d, 8) : 1 + below(&d, 9);
    d.count = 3 + below(&d, MOST);
    const uint32_t fuel = 1 + below(&d, FUEL), lanes = pcg_next(&d.rng);
    d.has_function = once_in(&d, 3);
    text_format(&d.out, "// simtfuzz: threads=%u warp=%u blocks=%u%s", (unsigned)d.threads,
                (unsigned)d.warp, wide ? 1u : 1 + below(&d, 2), d.raw ? " raw" : "");
    if (d.raw && once_in(&d, 2))
        given(&d);
    put(&d, "\n.version 8.0\n.target sm_90\n.address_size 32\n"
            ".global .align 4 .u32 out[2];\n.global .align 4 .u32 mine[128];\n");
    if (d.has_function)
        function(&d, lanes);
    put(&d, ".entry k()\n{\n");
    registers(&d, fuel, lanes);
    for (d.at = 0; d.at < d.count; d.at++)
        instruction(&d);
    text_format(&d.out, "L%u:\n\texit;\n}\n", (unsigned)d.count);
    return d.out.bytes;
}
