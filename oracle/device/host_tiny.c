#include "oracle/device/host_tiny.h"

#include "engine/base/text.h"

static uint32_t below(struct pcg *rng, uint32_t n)
{
    return pcg_below(rng, n);
}

static void put_kernel(struct text *text, struct pcg *rng, uint32_t number)
{
    static const char *const statements[] = {"x[0] = bid + 1;",
                                             "y[0] = x[0];",
                                             "x[1] = v + 2;",
                                             "v = x[1];",
                                             "v = atomic_add(x[0], 1);",
                                             "s[0] = tid + 3;",
                                             "y[0] = s[0];",
                                             "v = s[0] + bid;",
                                             "barrier();",
                                             "if (x[0] == 1)\n y[0] = 4;",
                                             "y[0] = v;",
                                             "v = v * 2 + tid;"};
    text_format(text,
                "kernel k%u\nlaunch(threads = 1);\nglobal int x[2];\nglobal int y[1];\n"
                "shared int s[1];\nprivate int v;\nkernel k%u() {\n",
                (unsigned)number, (unsigned)number);
    for (uint32_t left = 1 + below(rng, 3); left > 0; left--)
        text_format(text, " %s\n", statements[below(rng, sizeof statements / sizeof *statements)]);
    if (below(rng, 6) == 0)
        text_put(text, " while (x[1] == 0)\n v = v;\n");
    text_put(text, "}\nend\n");
}

/* The same with accesses of all kinds. */
static void put_ptx(struct text *text, struct pcg *rng, uint32_t number)
{
    static const char *const accesses[] = {"ld.global.ca.u32 %v, [%x]",
                                           "ld.global.ca.u32 %v, [%x+4]",
                                           "ld.global.cg.u32 %v, [%x]",
                                           "ld.global.cg.u32 %v, [%x+4]",
                                           "ld.volatile.global.u32 %v, [%x]",
                                           "ld.global.cv.u32 %v, [%x+4]",
                                           "ld.global.cs.u32 %v, [%x]",
                                           "st.global.u32 [%x], %b",
                                           "st.global.cg.u32 [%x+4], %b",
                                           "st.global.wt.u32 [%x], %v",
                                           "st.volatile.global.u32 [%x], %b",
                                           "atom.global.add.u32 %v, [%x], 1",
                                           "atom.global.exch.b32 %v, [%x], 7",
                                           "membar.gl",
                                           "membar.cta",
                                           "mad.lo.u32 %b, %v, 4, %b"};
    text_format(
        text,
        "kernel k%u\n.version 7.5\n.target sm_70\n.address_size 64\n"
        ".entry k%u(.param .u64 p, .param .u64 q)\n{\n    .reg .u64 %%x, %%y;\n    .reg .u32 %%v, "
        "%%b;\n"
        "    ld.param.u64 %%x, [p];\n    ld.param.u64 %%y, [q];\n    mov.u32 %%b, %%ctaid.x;\n"
        "    add.u32 %%b, %%b, 1;\n    mov.u32 %%v, 0;\n",
        (unsigned)number, (unsigned)number);
    for (uint32_t left = 1 + below(rng, 3); left > 0; left--)
        text_format(text, "    %s;\n    mad.lo.u32 %%b, %%b, 4, %%v;\n",
                    accesses[below(rng, sizeof accesses / sizeof *accesses)]);
    text_put(text, "    st.global.u32 [%y], %b;\n    exit;\n}\nend\n");
}

static void put_launch(struct text *text, struct pcg *rng, uint32_t number, bool in_stream,
                       bool ptx)
{
    uint32_t kernel = below(rng, 2), grid = 1 + below(rng, 2), block = 1 + (below(rng, 4) == 0);
    text_format(text, "launch l%u: k%u grid=%u block=%u %s%s\n", (unsigned)number, (unsigned)kernel,
                (unsigned)grid, (unsigned)block, ptx ? "0=a 1=b" : "x=a y=b",
                in_stream ? " stream=s" : "");
}

const char *host_tiny(struct arena *arena, struct pcg *rng)
{
    static const char *const between[] = {"abort l0\n",
                                          "sync\n",
                                          "set a[1] = 5\n",
                                          "copy a -> h stream=s\n",
                                          "record e\nwait e stream=s\n",
                                          "",
                                          "",
                                          ""};
    struct text text = text_begin(arena);
    bool both = below(rng, 3) > 0, other_stream = below(rng, 2), ptx = below(rng, 2);
    for (uint32_t number = 0; number < 2; number++)
        if (ptx)
            put_ptx(&text, rng, number);
        else
            put_kernel(&text, rng, number);
    text_put(&text, "host h[2]\nbuffer a[2]\nbuffer b[1]\nstream s\nevent e\n");
    put_launch(&text, rng, 0, false, ptx);
    text_put(&text, between[below(rng, sizeof between / sizeof *between)]);
    if (both)
        put_launch(&text, rng, 1, other_stream, ptx);
    if (below(rng, 3) == 0)
        text_put(&text, below(rng, 2) ? "sync\ncopy a -> h\n" : "copy a -> h stream=s\n");
    text_put(&text, "sync\nobserve a[0] a[1] b[0] h[0]\n");
    return text.bytes;
}

const char *host_tiny_settings(struct arena *arena, struct pcg *rng)
{
    static const char *const profiles[] = {"sc", "sc order=any", "printed", "llh", "coherent"};
    static const char *const more[] = {
        "", " pick=any", " flags=reset", " occupancy=context", " ends=keep", " drain=none"};
    const char *profile = profiles[below(rng, sizeof profiles / sizeof *profiles)];
    uint32_t sms = 1 + below(rng, 2), blocks = 1 + below(rng, 2);
    return arena_printf(arena, "%s sms=%u blocks=%u%s", profile, (unsigned)sms, (unsigned)blocks,
                        more[below(rng, sizeof more / sizeof *more)]);
}
