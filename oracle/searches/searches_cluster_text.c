/*
 * searches_cluster_text.c - a cluster of two blocks of one thread, which access each other's shared memory, in phases
 * that the cluster's barrier ends: a kernel of PTX, and a structured one, of one block of two threads, which has the
 * same executions. Where a block goes on between its arrival and its wait, or there are two clusters, the second is
 * missing.
 */
#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "oracle/searches/searches_internal.h"

enum { PHASES = 2, BLOCKS = 2 };

struct cluster_texts {
    struct pcg rng;
    struct text ptx, arm; /* arm: of the structured one, of the block at hand */
    bool split;           /* what is behind a barrier comes between its arrival and its wait */
    uint32_t rank;
};

static uint32_t below(struct cluster_texts *c, uint32_t n)
{
    return pcg_below(&c->rng, n);
}

/* The word of the block with that rank, which is x or y; the own one by its own address, too. */
static void put_access(struct cluster_texts *c)
{
    uint32_t rank = below(c, BLOCKS), value = 1 + below(c, 2);
    bool own = rank == c->rank && below(c, 2);
    const char *place = rank ? "y" : "x",
               *at = own    ? "s"
                     : rank ? "%y"
                            : "%x",
               *space = own ? "shared" : "shared::cluster";
    switch (below(c, 6)) {
    case 0:
    case 1:
        text_format(&c->arm, "a = a * 4 + %s; ", place);
        text_format(&c->ptx, "    ld.%s.u32 %%b, [%s];\n    mad.lo.u32 %%a, %%a, 4, %%b;\n", space,
                    at);
        return;
    case 2:
        text_format(&c->arm, "%s = %u; ", place, (unsigned)value);
        text_format(&c->ptx, "    st.%s.u32 [%s], %u;\n", space, at, (unsigned)value);
        return;
    case 3:
        text_format(&c->arm, "%s = a; ", place);
        text_format(&c->ptx, "    st.%s.u32 [%s], %%a;\n", space, at);
        return;
    default:
        text_format(&c->arm, "b = atomic_add(%s, %u); a = a * 4 + b; ", place, (unsigned)value);
        text_format(&c->ptx,
                    "    atom.%s.add.u32 %%b, [%s], %u;\n    mad.lo.u32 %%a, %%a, 4, %%b;\n", space,
                    at, (unsigned)value);
        return;
    }
}

/* What a block does, in PTX; what it does in each phase, in `arms`. */
static void put_block(struct cluster_texts *c, struct arena *arena, uint32_t phases, uint32_t most,
                      const char *arms[PHASES])
{
    bool waits = false;
    text_format(&c->ptx, "T%u:\n", (unsigned)c->rank);
    for (uint32_t p = 0; p < phases; p++) {
        c->arm = text_begin(arena);
        for (uint32_t count = 1 + below(c, most); count > 0; count--) {
            put_access(c);
            if (waits)
                text_put(&c->ptx, "    barrier.cluster.wait;\n");
            waits = false;
        }
        text_put(&c->arm, "");
        arms[p] = c->arm.bytes;
        text_put(&c->ptx, "    barrier.cluster.arrive;\n");
        waits = c->split && p + 1 < phases;
        if (!waits)
            text_put(&c->ptx, "    barrier.cluster.wait;\n");
    }
    text_put(&c->ptx, "    st.global.u32 [%o], %a;\n    exit;\n");
}

void searches_cluster_texts(struct arena *arena, uint64_t number, const char **of_threads,
                            const char **of_ptx)
{
    struct cluster_texts c = {.rng = pcg_derive(number, PCG_SCHEDULE, 80),
                              .ptx = text_begin(arena)};
    const char *arms[BLOCKS][PHASES], *text;
    uint32_t clusters = 1 + (below(&c, 4) == 0);
    uint32_t phases = clusters > 1 ? 1 : 1 + below(&c, PHASES), most = clusters > 1 ? 1 : 2;
    c.split = below(&c, 3) == 0;
    text_format(
        &c.ptx,
        "// simtfuzz: threads=1 blocks=%u warp=1 cluster=%d\n.version 8.0\n.target sm_90\n"
        ".address_size 32\n.global .align 4 .u32 o[%u];\n.shared .align 4 .u32 s;\n"
        ".entry k()\n{\n    .reg .u32 %%a, %%b, %%x, %%y, %%o;\n    .reg .pred %%q;\n"
        "    mov.u32 %%a, 0;\n    mov.u32 %%b, s;\n    mapa.shared::cluster.u32 %%x, %%b, 0;\n"
        "    mapa.shared::cluster.u32 %%y, %%b, 1;\n    mov.u32 %%o, o;\n"
        "    mov.u32 %%b, %%ctaid.x;\n    mad.lo.u32 %%o, %%b, 4, %%o;\n"
        "    mov.u32 %%b, %%cluster_ctarank;\n    setp.eq.u32 %%q, %%b, 1;\n    @%%q bra T1;\n",
        (unsigned)(BLOCKS * clusters), BLOCKS, (unsigned)(BLOCKS * clusters));
    for (c.rank = 0; c.rank < BLOCKS; c.rank++)
        put_block(&c, arena, phases, most, arms[c.rank]);
    text_put(&c.ptx, "}\n");
    *of_ptx = c.ptx.bytes;
    *of_threads = NULL;
    if (c.split || clusters > 1)
        return;
    text = arena_printf(arena,
                        "launch(threads = %d, warp = 1, blocks = 1); global int o[%d]; "
                        "shared int x, y; private int a, b; kernel k() { ",
                        BLOCKS, BLOCKS);
    for (uint32_t p = 0; p < phases; p++)
        text = arena_printf(arena, "%sif (tid == 0) { %s} else { %s} barrier(); ", text, arms[0][p],
                            arms[1][p]);
    *of_threads = arena_printf(arena, "%so[tid] = a; }", text);
}
