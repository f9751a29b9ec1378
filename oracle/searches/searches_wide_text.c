/*
 * searches_wide_text.c - kernels of PTX for two warps, or blocks, whose accesses are of all widths and overlap by some
 * of their bytes: which steps depend on each other is told by words.
 */
#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "oracle/searches/searches_internal.h"

enum { GROUPS = 2, LENGTH = 3, ROOM = 16 /* bytes that are fought for */ };

struct wide {
    struct pcg rng;
    struct text out;
    bool grid;      /* a group is a block, else a warp */
    uint32_t lanes; /* of a group */
    /* Bytes from a lane's own place to the next one's: a word, or 64 words, which have one bit. */
    uint32_t stride;
    const char *space; /* of what is fought for: global, shared */
};

static uint32_t below(struct wide *w, uint32_t n)
{
    return pcg_below(&w->rng, n);
}

static const char *one_of(struct wide *w, const char *const *of, uint32_t count)
{
    return of[below(w, count)];
}

/* Of so many bytes, at a multiple of them; of one's own lane, or of all. */
static void put_address(struct wide *w, uint32_t bytes)
{
    uint32_t room = bytes < 4 ? 8 : ROOM;
    bool own = w->lanes > 1 && bytes <= 4 && below(w, 2);
    uint32_t at = below(w, room / bytes) * bytes;
    text_format(&w->out, "[%s+%u]", own ? "%l" : "%s",
                (unsigned)(own ? at % 8 / bytes * bytes : at));
}

/* For all lanes, for the first, or for all others. */
static const char *guard(struct wide *w)
{
    static const char *const guards[] = {"", "", "", "", "", "@%q ", "@!%q ", "@!%q "};
    return one_of(w, guards, w->lanes > 1 ? 8 : 6);
}

static void put_load(struct wide *w)
{
    static const char *const how[] = {"", "", "", ".volatile"};
    static const char *const narrow[] = {"u8", "s8", "u16", "s16", "u32"};
    static const uint32_t bytes[] = {1, 1, 2, 2, 4};
    const char *kind = one_of(w, how, 4);
    uint32_t which = below(w, 8);
    text_format(&w->out, "    %sld%s.%s", guard(w), kind, w->space);
    if (which < 5) {
        text_format(&w->out, ".%s %%b, ", narrow[which]);
        put_address(w, bytes[which]);
    } else if (which == 5) {
        text_put(&w->out, ".v2.u32 {%b, %c}, ");
        put_address(w, 8);
        text_put(&w->out, ";\n    mad.lo.u32 %b, %c, 3, %b");
    } else if (which == 6) {
        text_put(&w->out, ".v2.u16 {%h, %i}, ");
        put_address(w, 4);
        text_put(&w->out, ";\n    cvt.u32.u16 %b, %i");
    } else {
        text_put(&w->out, ".u64 %w, ");
        put_address(w, 8);
        text_put(&w->out, ";\n    cvt.u32.u64 %b, %w");
    }
    text_put(&w->out, ";\n    mad.lo.u32 %a, %a, 5, %b;\n");
}

static void put_store(struct wide *w)
{
    static const char *const narrow[] = {"u8", "u16", "u32"};
    uint32_t which = below(w, 6);
    text_format(&w->out, "    mov.u32 %%b, %u;\n", (unsigned)(1 + below(w, 3)));
    if (which == 5)
        text_put(&w->out, "    cvt.u64.u32 %w, %b;\n    shl.b64 %w, %w, 28;\n");
    text_format(&w->out, "    %sst.%s", guard(w), w->space);
    if (which < 3) {
        text_format(&w->out, ".%s ", narrow[which]);
        put_address(w, 1u << which);
        text_put(&w->out, below(w, 3) ? ", %b" : ", %a");
    } else if (which < 5) {
        text_put(&w->out, ".v2.u32 ");
        put_address(w, 8);
        text_put(&w->out, which == 3 ? ", {%a, %b}" : ", {%b, %b}");
    } else {
        text_put(&w->out, ".u64 ");
        put_address(w, 8);
        text_put(&w->out, ", %w");
    }
    text_put(&w->out, ";\n");
}

static void put_atomic(struct wide *w)
{
    static const char *const ops[] = {"add.u32", "exch.b32", "max.u32", "or.b32"};
    if (below(w, 4) == 0) {
        text_format(&w->out, "    mov.u64 %%w, 0x100000002;\n    atom.%s.%s %%w, ", w->space,
                    below(w, 2) ? "add.u64" : "exch.b64");
        put_address(w, 8);
        text_put(&w->out, ", %w;\n    cvt.u32.u64 %b, %w;\n    mad.lo.u32 %a, %a, 5, %b;\n");
        return;
    }
    text_format(&w->out, "    atom.%s.%s %%b, ", w->space, one_of(w, ops, 4));
    put_address(w, 4);
    text_format(&w->out, ", %u;\n    mad.lo.u32 %%a, %%a, 5, %%b;\n", (unsigned)(1 + below(w, 3)));
}

/* Of one's own, which only caches and their lines make others' business. */
static void put_local(struct wide *w)
{
    static const char *const accesses[] = {
        "ld.local.u32 %b, [%m];\n    mad.lo.u32 %a, %a, 5, %b",
        "ld.local.lu.u32 %b, [%m+4];\n    mad.lo.u32 %a, %a, 5, %b", "st.local.u32 [%m], %a",
        "st.local.u16 [%m+6], %a", "st.local.cs.u32 [%m+4], %a"};
    text_format(&w->out, "    %s;\n", one_of(w, accesses, 5));
}

static void put_accesses(struct wide *w, uint32_t group)
{
    text_format(&w->out, "T%u:\n", (unsigned)group);
    for (uint32_t count = 1 + below(w, LENGTH); count > 0; count--) {
        uint32_t which = below(w, 9);
        if (which == 8)
            put_local(w);
        else if (which < 3)
            put_load(w);
        else if (which < 6)
            put_store(w);
        else if (which < 7 || w->grid)
            put_atomic(w);
        else
            text_put(&w->out, "    bar.sync 0;\n");
    }
    text_put(&w->out, "    st.global.u32 [%o], %a;\n    exit;\n");
}

const char *searches_wide_text(struct arena *arena, uint64_t number)
{
    struct wide w = {.rng = pcg_derive(number, PCG_SCHEDULE, 79), .out = text_begin(arena)};
    w.grid = below(&w, 2);
    w.lanes = 1 + below(&w, 2);
    w.space = w.grid || below(&w, 2) ? "global" : "shared";
    w.stride = below(&w, 2) ? 4 : 256;
    text_format(
        &w.out,
        "// simtfuzz: threads=%u blocks=%u warp=%u\n.version 7.5\n.target sm_70\n.address_size 32\n"
        ".global .align 4 .u32 o[4];\n.%s .align 16 .b8 g[%d];\n.entry k()\n{\n"
        "    .reg .u32 %%a, %%b, %%c, %%s, %%l, %%m, %%o;\n    .local .align 8 .b8 m[8];\n    .reg "
        ".u16 %%h, %%i;\n    .reg .u64 %%w;\n"
        "    .reg .pred %%q, %%p;\n    mov.u32 %%a, 1;\n    mov.u32 %%s, g;\n    mov.u32 %%m, m;\n"
        "    mov.u32 %%l, %%tid.x;\n    mov.u32 %%b, %%ctaid.x;\n    mov.u32 %%o, o;\n"
        "    mad.lo.u32 %%c, %%b, %u, %%l;\n    mad.lo.u32 %%o, %%c, 4, %%o;\n"
        "    setp.ge.u32 %%p, %%c, %u;\n    and.b32 %%l, %%l, %u;\n    setp.eq.u32 %%q, %%l, 0;\n"
        "    mad.lo.u32 %%l, %%l, %u, %%s;\n    @%%p bra T1;\n",
        (unsigned)(w.grid ? w.lanes : GROUPS * w.lanes), (unsigned)(w.grid ? GROUPS : 1),
        (unsigned)w.lanes, w.space, w.stride == 4 ? ROOM : 272, (unsigned)w.lanes,
        (unsigned)w.lanes, (unsigned)(w.lanes - 1), (unsigned)w.stride);
    for (uint32_t group = 0; group < GROUPS; group++)
        put_accesses(&w, group);
    text_put(&w.out, "}\n");
    return w.out.bytes;
}
