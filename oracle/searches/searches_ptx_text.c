/*
 * searches_ptx_text.c - a list of accesses for each of a few threads, as a kernel of PTX and as a structured one: both
 * have the same executions where memory is sequentially consistent, as each access is one step.
 */
#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "oracle/searches/searches_internal.h"

enum { THREADS = 2, LENGTH = 3, PLACES = 2 /* behind them a word for what each thread has read */ };

enum deed { DEED_LOAD, DEED_STORE, DEED_STORE_READ, DEED_ADD, DEED_EXCH, DEED_FENCE, DEED_BARRIER };

struct access {
    enum deed deed;
    uint32_t place, value, how; /* how: which of the ways to write it */
};

struct accesses {
    bool grid; /* a block a thread, so that barriers are of one */
    uint32_t length[THREADS];
    struct access of[THREADS][LENGTH];
};

static struct access draw_access(struct pcg *rng, bool grid)
{
    static const enum deed deeds[] = {DEED_LOAD,  DEED_LOAD,   DEED_LOAD, DEED_STORE,
                                      DEED_STORE, DEED_ADD,    DEED_EXCH, DEED_STORE_READ,
                                      DEED_FENCE, DEED_BARRIER};
    uint32_t among = sizeof deeds / sizeof *deeds - (grid ? 1 : 0);
    struct access a = {.deed = deeds[pcg_below(rng, among)]};
    a.place = pcg_below(rng, PLACES);
    a.value = 1 + pcg_below(rng, 2);
    a.how = pcg_below(rng, 8);
    return a;
}

static struct accesses draw_accesses(struct pcg *rng)
{
    struct accesses all = {.grid = pcg_below(rng, 2)};
    for (uint32_t t = 0; t < THREADS; t++) {
        all.length[t] = 1 + pcg_below(rng, LENGTH);
        for (uint32_t i = 0; i < all.length[t]; i++)
            all.of[t][i] = draw_access(rng, all.grid);
    }
    return all;
}

/* ---- structured ---- */

static void put_structured(struct text *out, const struct access *a)
{
    static const char *const places[PLACES] = {"x", "y"};
    const char *place = places[a->place];
    switch (a->deed) {
    case DEED_LOAD:
        text_format(out, "a = a * 4 + %s; ", place);
        break;
    case DEED_STORE:
        text_format(out, "%s = %u; ", place, (unsigned)a->value);
        break;
    case DEED_STORE_READ:
        text_format(out, "%s = a; ", place);
        break;
    case DEED_ADD:
        text_format(out, "b = atomic_add(%s, %u); a = a * 4 + b; ", place, (unsigned)a->value);
        break;
    case DEED_EXCH:
        text_format(out, "b = atomic_exch(%s, %u); a = a * 4 + b; ", place, (unsigned)a->value);
        break;
    case DEED_FENCE:
        break;
    case DEED_BARRIER:
        text_put(out, "barrier(); ");
        break;
    }
}

static const char *structured(struct arena *arena, const struct accesses *all)
{
    struct text out = text_begin(arena);
    text_format(
        &out,
        "launch(threads = %d, warp = 1, blocks = %d); global int x, y, o[%d]; private int a, b; "
        "kernel k() { ",
        all->grid ? 1 : THREADS, all->grid ? THREADS : 1, THREADS);
    for (uint32_t t = 0; t < THREADS; t++) {
        text_format(&out, t ? "else { " : "if (bid + tid == 0) { ");
        for (uint32_t i = 0; i < all->length[t]; i++)
            put_structured(&out, &all->of[t][i]);
        text_format(&out, "o[%u] = a; } ", (unsigned)t);
    }
    text_put(&out, "}");
    return out.bytes;
}

/* ---- PTX ---- */

static void put_ptx(struct text *out, const struct access *a)
{
    static const char *const loads[] = {"ld.global",    "ld.global.ca", "ld.global.cg",
                                        "ld.global.cs", "ld.global.cv", "ld.volatile.global",
                                        "ld.global",    "ld.global.ca"};
    static const char *const stores[] = {"st.global",    "st.global.wb", "st.global.cg",
                                         "st.global.cs", "st.global.wt", "st.volatile.global",
                                         "st.global",    "st.global.wb"};
    static const char *const fences[] = {"membar.cta", "membar.gl", "membar.sys", "membar.gl"};
    static const char *const use = "    mad.lo.u32 %a, %a, 4, %b;\n";
    unsigned byte = 4 * a->place, value = a->value;
    switch (a->deed) {
    case DEED_LOAD:
        text_format(out, "    %s.u32 %%b, [g+%u];\n%s", loads[a->how], byte, use);
        break;
    case DEED_STORE:
        text_format(out, "    %s.u32 [g+%u], %u;\n", stores[a->how], byte, value);
        break;
    case DEED_STORE_READ:
        text_format(out, "    %s.u32 [g+%u], %%a;\n", stores[a->how], byte);
        break;
    case DEED_ADD:
        text_format(out, "    atom.global.add.u32 %%b, [g+%u], %u;\n%s", byte, value, use);
        break;
    case DEED_EXCH:
        text_format(out, "    atom.global.exch.b32 %%b, [g+%u], %u;\n%s", byte, value, use);
        break;
    case DEED_FENCE:
        text_format(out, "    %s;\n", fences[a->how % 4]);
        break;
    case DEED_BARRIER:
        text_put(out, "    bar.sync 0;\n");
        break;
    }
}

static const char *ptx(struct arena *arena, const struct accesses *all)
{
    struct text out = text_begin(arena);
    text_format(
        &out,
        "// simtfuzz: threads=%d blocks=%d warp=1\n.version 7.5\n.target sm_70\n.address_size 32\n"
        ".global .align 32 .u32 g[%d];\n.entry k()\n{\n    .reg .u32 %%a, %%b;\n    .reg .pred "
        "%%q;\n"
        "    mov.u32 %%a, 0;\n    mov.u32 %%b, %s;\n    setp.eq.u32 %%q, %%b, 0;\n    @%%q bra "
        "T0;\n"
        "    bra T1;\n",
        all->grid ? 1 : THREADS, all->grid ? THREADS : 1, PLACES + THREADS,
        all->grid ? "%ctaid.x" : "%tid.x");
    for (uint32_t t = 0; t < THREADS; t++) {
        text_format(&out, "T%u:\n", (unsigned)t);
        for (uint32_t i = 0; i < all->length[t]; i++)
            put_ptx(&out, &all->of[t][i]);
        text_format(&out, "    st.global.u32 [g+%u], %%a;\n    exit;\n",
                    (unsigned)(4 * (PLACES + t)));
    }
    text_put(&out, "}\n");
    return out.bytes;
}

void searches_access_texts(struct arena *arena, uint64_t number, const char **of_threads,
                           const char **of_ptx)
{
    struct pcg rng = pcg_derive(number, PCG_SCHEDULE, 78);
    const struct accesses all = draw_accesses(&rng);
    *of_threads = structured(arena, &all);
    *of_ptx = ptx(arena, &all);
}
