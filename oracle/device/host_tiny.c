#include "oracle/device/host_tiny.h"

#include "engine/base/text.h"

static uint32_t below(struct pcg *rng, uint32_t n)
{
    return pcg_below(rng, n);
}

/* Three programs of four have no block of two threads, and little of everything: a search comes to its end. */
struct size {
    bool ptx, alone;                          /* alone: one block, and nobody beside it */
    uint32_t statements, grid, block, whiles; /* most */
};

/* What most statements of a kernel are about: where few words are touched again and again, who comes first shows. */
enum subject { ANYTHING, ONE_WORD, SHARED_WORDS, LOCAL_WORDS, SUBJECTS };

static enum subject draw_subject(struct pcg *rng, const struct size *size)
{
    static const enum subject subjects[] = {ANYTHING,     ANYTHING,     ONE_WORD,
                                            SHARED_WORDS, SHARED_WORDS, LOCAL_WORDS};
    return size->alone && below(rng, 4) > 0 ? SHARED_WORDS : subjects[below(rng, 6)];
}

/* Of so many: one of the first ones that are about it, if there are some; or any. */
struct span {
    uint32_t first, end;
};

static uint32_t draw(struct pcg *rng, struct span span, uint32_t count)
{
    return span.end > 0 && below(rng, 4) > 0 ? span.first + below(rng, span.end - span.first)
                                             : below(rng, count);
}

static uint32_t draw_warp(struct pcg *rng)
{
    static const uint32_t warps[] = {1, 1, 1, 2, 2, 4};
    return warps[below(rng, 6)];
}

static void put_kernel(struct text *text, struct pcg *rng, const struct size *size, uint32_t number)
{
    static const char *const statements[] = {"x[0] = bid + 1;",
                                             "y[0] = x[0];",
                                             "v = x[0];",
                                             "v = atomic_add(x[0], 1);",
                                             "s[0] = tid + 3;",
                                             "s[tid % 2] = x[0] + 1;",
                                             "y[0] = s[1];",
                                             "v = v * 4 + s[0] + bid;",
                                             "v = atomic_add(s[1], 1);",
                                             "x[1] = v + 2;",
                                             "v = x[1];",
                                             "barrier();",
                                             "if (x[0] == 1)\n y[0] = 4;",
                                             "y[0] = v;",
                                             "v = v * 2 + tid;",
                                             "x[tid % 2] = tid + 1;",
                                             "x[v] = 6;" /* perhaps beyond its end */};
    static const struct span spans[SUBJECTS] = {[ONE_WORD] = {0, 4}, [SHARED_WORDS] = {4, 9}};
    const enum subject subject = draw_subject(rng, size);
    text_format(text,
                "kernel k%u\nlaunch(threads = 1, warp = %u);\nglobal int x[2];\nglobal int y[1];\n"
                "shared int s[2];\nprivate int v;\nkernel k%u() {\n",
                (unsigned)number, (unsigned)draw_warp(rng), (unsigned)number);
    for (uint32_t left = 1 + below(rng, size->statements); left > 0; left--)
        text_format(text, " %s\n",
                    statements[draw(rng, spans[subject], sizeof statements / sizeof *statements)]);
    if (below(rng, 6) == 0)
        text_put(text, " while (x[1] == 0)\n v = v;\n");
    text_put(text, subject == SHARED_WORDS ? " x[tid % 2] = v;\n}\nend\n" : "}\nend\n");
}

/* The same with accesses of all kinds. */
static void put_ptx(struct text *text, struct pcg *rng, const struct size *size, uint32_t number)
{
    static const char *const accesses[] = {
        "ld.global.ca.u32 %v, [%x]",
        "ld.global.cg.u32 %v, [%x]",
        "ld.volatile.global.u32 %v, [%x]",
        "ld.global.cs.u32 %v, [%x]",
        "ld.global.s32 %w, [%x]; shr.s64 %w, %w, 32; cvt.u32.s64 %v, %w",
        "st.global.u32 [%x], %b",
        "st.global.wt.u32 [%x], %v",
        "st.volatile.global.u32 [%x], %b",
        "st.global.s32 [%x], -2",
        "atom.global.add.u32 %v, [%x], 1",
        "atom.global.exch.b32 %v, [%x], 7",
        "@!%p atom.global.add.u32 %v, [%x], 2",
        "ld.shared.u32 %v, [s]",
        "ld.volatile.shared.u32 %v, [s+4]",
        "st.shared.u32 [s], %b",
        "st.shared.u32 [s+4], %b",
        "atom.shared.add.u32 %v, [s], 1",
        "st.local.u32 [w], %b",
        "ld.local.u32 %v, [w]",
        "ld.local.lu.u32 %v, [w]",
        "ld.global.ca.u32 %v, [%x+4]",
        "ld.global.cg.u32 %v, [%x+4]",
        "@%p ld.global.cg.u32 %v, [%x+4]",
        "ld.global.cv.u32 %v, [%x+4]",
        "st.global.cg.u32 [%x+4], %b",
        "st.global.u32 [%z], %b",
        "bar.sync 0",
        "bar.sync 0, 2",
        "bar.arrive 0, 2",
        "bar.red.popc.u32 %v, 0, %p",
        "setp.eq.u32 %p, %v, 0",
        "membar.gl",
        "membar.cta",
        "mad.lo.u32 %b, %v, 4, %b",
        "st.global.u32 [%x+8], %b" /* beyond its end */};
    static const struct span spans[SUBJECTS] = {
        [ONE_WORD] = {0, 12}, [SHARED_WORDS] = {12, 17}, [LOCAL_WORDS] = {17, 20}};
    const enum subject subject = draw_subject(rng, size);
    text_format(
        text,
        "kernel k%u\n// simtfuzz: warp=%u\n.version 7.5\n.target sm_70\n.address_size 64\n"
        ".entry k%u(.param .u64 p, .param .u64 q)\n{\n    .shared .u32 s[2];\n"
        "    .local .u32 w[1];\n"
        "    .reg .u64 %%x, %%y, %%w, %%z;\n    .reg .u32 %%v, %%b;\n    .reg .pred %%p;\n"
        "    ld.param.u64 %%x, [p];\n    ld.param.u64 %%y, [q];\n    mov.u32 %%b, %%ctaid.x;\n"
        "    mov.u32 %%v, %%tid.x;\n    mad.lo.u32 %%b, %%b, 2, %%v;\n"
        "    add.u32 %%b, %%b, 1;\n    and.b32 %%v, %%v, 1;\n    mad.wide.u32 %%z, %%v, 4, %%x;\n"
        "    mov.u32 %%v, 0;\n    setp.ne.u32 %%p, %%b, 1;\n",
        (unsigned)number, (unsigned)draw_warp(rng), (unsigned)number);
    for (uint32_t left = 1 + below(rng, size->statements); left > 0; left--)
        text_format(text, "    %s;\n    mad.lo.u32 %%b, %%b, 4, %%v;\n",
                    accesses[draw(rng, spans[subject], sizeof accesses / sizeof *accesses)]);
    text_format(text, "    st.global.u32 [%s], %%b;\n    exit;\n}\nend\n",
                subject == SHARED_WORDS ? "%z" : "%y");
}

static void put_launch(struct text *text, struct pcg *rng, uint32_t number, const char *stream,
                       const struct size *size, const char *x, const char *y)
{
    uint32_t kernel = below(rng, 2), grid = 1 + below(rng, size->grid);
    uint32_t block = 1 + below(rng, size->block);
    text_format(text, "launch l%u: k%u grid=%u block=%u %s=%s %s=%s%s\n", (unsigned)number,
                (unsigned)kernel, (unsigned)grid, (unsigned)block, size->ptx ? "0" : "x", x,
                size->ptx ? "1" : "y", y, stream);
}

/* While the host does this, others may have come far. */
static void put_while(struct text *text, struct pcg *rng, const struct size *size)
{
    for (uint32_t left = below(rng, size->whiles + 1); left > 0; left--)
        text_put(text, "set h[1] = 7\n");
}

/* Two launches, with something between. */
static void put_launches(struct text *text, struct pcg *rng, const struct size *size)
{
    static const char *const between[] = {"abort l0\n",
                                          "sync\n",
                                          "set a[1] = 5\n",
                                          "copy a -> h stream=s\n",
                                          "record e\nwait e stream=s\n",
                                          "",
                                          "",
                                          ""};
    bool both = below(rng, 3) > 0, other_stream = below(rng, 2);
    uint32_t what = below(rng, sizeof between / sizeof *between);
    put_launch(text, rng, 0, "", size, "a", "b");
    if (what == 0)
        put_while(text, rng, size);
    text_put(text, between[what]);
    if (both)
        put_launch(text, rng, 1, other_stream ? " stream=s" : "", size, "a", "b");
    if (both && what > 1 && below(rng, 4) == 0)
        text_format(text, "abort l%u\n", (unsigned)below(rng, 2));
}

/* One block of two threads, or four, whose order can be seen. */
static void put_block(struct text *text, struct pcg *rng, const struct size *size)
{
    const char *x = size->ptx ? "0" : "x", *y = size->ptx ? "1" : "y";
    text_format(text, "launch l0: k0 grid=1 block=%u %s=a %s=b\n", below(rng, 4) ? 2u : 4u, x, y);
}

/* Memory is given away while somebody may still write it, and given to others. */
static void put_freed(struct text *text, struct pcg *rng, const struct size *size)
{
    const char *y = below(rng, 2) ? "b" : "f";
    text_put(text, "buffer c[2]\nbuffer f[1]\n");
    put_launch(text, rng, 0, "", size, "c", y);
    put_while(text, rng, size);
    text_put(text, below(rng, 2) ? "abort l0\n" : below(rng, 2) ? "sync\n" : "");
    text_put(text, "free c now\nbuffer d[2] = {8, 9}\n");
    if (below(rng, 2))
        put_launch(text, rng, 1, below(rng, 2) ? " stream=s" : "", size, "d", "a");
    text_put(text, "copy d -> h\n");
}

/* A context goes with its grids and buffers, of which it may have freed some. */
static void put_destroyed(struct text *text, struct pcg *rng, const struct size *size)
{
    bool freed = below(rng, 2);
    text_put(text, "context o\nbuffer c[2]\nbuffer f[1]\n");
    put_launch(text, rng, 0, "", size, "c", "f");
    put_while(text, rng, size);
    text_put(text, freed ? "free f now\nbuffer g[1] = 6\n" : "");
    if (below(rng, 2))
        put_launch(text, rng, 1, "", size, "c", freed ? "g" : "f");
    put_while(text, rng, size);
    text_format(text, "destroy o now\nuse main\nbuffer d[2] = {8, 9}\n");
    put_launch(text, rng, 2, "", size, "d", "b");
    text_put(text, "copy d -> h\n");
}

const char *host_tiny(struct arena *arena, struct pcg *rng)
{
    struct text text = text_begin(arena);
    uint32_t scene = below(rng, 5);
    const bool small = below(rng, 4) > 0;
    const struct size size = {.ptx = below(rng, 2),
                              .alone = scene == 2,
                              .statements = small && scene != 2 ? 2 : 3,
                              .grid = small ? 2 : 3,
                              .block = small ? 1 : 2,
                              .whiles = small ? 1 : 5};
    for (uint32_t number = 0; number < 2; number++)
        if (size.ptx)
            put_ptx(&text, rng, &size, number);
        else
            put_kernel(&text, rng, &size, number);
    text_put(&text, "host h[2]\nbuffer a[2]\nbuffer b[1]\nstream s\nevent e\n");
    if (scene == 0)
        put_freed(&text, rng, &size);
    else if (scene == 1)
        put_destroyed(&text, rng, &size);
    else if (scene == 2)
        put_block(&text, rng, &size);
    else
        put_launches(&text, rng, &size);
    if (scene > 1 && below(rng, 3) == 0)
        text_put(&text, below(rng, 2) ? "sync\ncopy a -> h\n" : "copy a -> h stream=s\n");
    text_put(&text, "sync\nobserve a[0] a[1] b[0] h[0]\n");
    return text.bytes;
}

/* A profile, and each setting now and then otherwise. */
const char *host_tiny_settings(struct arena *arena, struct pcg *rng)
{
    static const char *const profiles[] = {"sc", "sc order=any", "printed", "llh", "coherent"};
    static const char *const more[] = {
        "drain=none",    "drain=block",  "flush=silent",      "flush=start",
        "order=any",     "order=stream", "occupancy=context", "occupancy=device",
        "switch=sticky", "switch=free",  "ends=keep",         "ends=drain",
        "flags=reset",   "flags=kept",   "frozen=yes",        "frozen=no",
        "pick=any",      "pick=lowest",  "grids=1",           "residency=crowded",
        "lines=1",       "lines=2",      "words=2",           "words=4",
        "lines=4"};
    /* Of what an SM has, so much that one or two blocks of two fit, or two of three. */
    static const char *const scarce[] = {" threads=2",    " threads=3", " registers=32",
                                         " registers=64", " shared=16", " shared=20"};
    uint32_t sms = 1 + below(rng, 2), blocks = 1 + below(rng, 3), count = below(rng, 3);
    const char *settings = arena_printf(arena, "%s sms=%u blocks=%u",
                                        profiles[below(rng, sizeof profiles / sizeof *profiles)],
                                        (unsigned)sms, (unsigned)blocks);
    if (below(rng, 4) == 0)
        settings = arena_printf(arena, "%s%s", settings,
                                scarce[below(rng, sizeof scarce / sizeof *scarce)]);
    for (; count > 0; count--)
        settings =
            arena_printf(arena, "%s %s", settings, more[below(rng, sizeof more / sizeof *more)]);
    return settings;
}
