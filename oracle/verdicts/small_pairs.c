#include "oracle/verdicts/small.h"

#include <inttypes.h>

#include "engine/base/pcg.h"
#include "engine/base/text.h"

/*
 * What two threads can do to each other, in as few statements as it takes: accesses of each kind, in front of a barrier
 * and behind it, of all threads or of one, once or in trips. In a form, A stands for an element, C for a condition of
 * one of the threads, S for more statements.
 */
static const char *const accesses[] = {"A = 5;",
                                       "x = A;",
                                       "A += 1;",
                                       "x = x + A;",
                                       "atomic_add(A, 1);",
                                       "x = atomic_max(A, 2);",
                                       "havoc(A);",
                                       "A = A + x;",
                                       "x = m[tid & 1];",
                                       "membar();"},
                         *const strong[] = {"st.SPACE.u32 A, r2;",
                                            "st.SPACE.u32 A, r2;",
                                            "ld.SPACE.u32 r2, A;",
                                            "ld.SPACE.u32 r2, A;",
                                            "ld.volatile.SPACE.u32 r2, A;",
                                            "st.volatile.SPACE.u32 A, r2;",
                                            "ld.relaxed.gpu.SPACE.u32 r2, A;",
                                            "st.relaxed.cta.SPACE.u32 A, r2;",
                                            "atom.SPACE.add.u32 r2, A, 1;",
                                            "red.SPACE.max.u32 A, 3;",
                                            "membar.gl;"},
                         *const elements[] = {"s[0]",        "s[0]", "s[tid]", "s[1]",
                                              "g[0]",        "g[0]", "g[tid]", "s[m[1] & 3]",
                                              "g[m[0] & 3]", "u"};

enum { ITEMS = 4 };

struct drawing {
    struct text out;
    struct pcg rng;
    bool is_ptx, is_global; /* where what is accessed in PTX lies */
    uint32_t labels, left, threads;
    bool in_loop;
};

#define PICK(d, list) (list)[pcg_below(&(d)->rng, sizeof(list) / sizeof(list)[0])]

static void put_some(struct drawing *d, uint32_t most);

/* Of PTX: d2 is where the variable is, d3 the thread's own element. */
static void put_access(struct drawing *d)
{
    static const char *const places[] = {"[d2]", "[d2]", "[d3]", "[d2+4]"};
    const char *form = d->is_ptx ? PICK(d, strong) : PICK(d, accesses);
    const char *place = d->is_ptx ? PICK(d, places) : PICK(d, elements);
    for (const char *c = form; *c; c++)
        if (*c == 'A')
            text_put(&d->out, place);
        else if (d->is_ptx && c[0] == 'S' && c[1] == 'P') {
            text_put(&d->out, d->is_global ? "global" : "shared");
            c += 4;
        } else
            text_put_bytes(&d->out, c, 1);
    text_put(&d->out, "\n");
}

/* Only one thread does it, or all but one. */
static void put_if(struct drawing *d)
{
    const uint32_t one = pcg_below(&d->rng, d->threads), label = d->labels++;
    const bool others = pcg_below(&d->rng, 3) == 0;
    if (d->is_ptx)
        text_format(&d->out, "setp.%s.u32 p0, r0, %" PRIu32 ";\n@p0 bra L%" PRIu32 ";\n",
                    others ? "eq" : "ne", one, label);
    else
        text_format(&d->out, "if (tid %s %" PRIu32 ") {\n", others ? "!=" : "==", one);
    put_access(d);
    if (d->is_ptx)
        text_format(&d->out, "L%" PRIu32 ":\n", label);
    else
        text_put(&d->out, "}\n");
}

static void put_loop(struct drawing *d)
{
    const uint32_t label = d->labels++, trips = 2 + pcg_below(&d->rng, 2);
    d->in_loop = true;
    if (d->is_ptx)
        text_format(&d->out, "mov.u32 r3, 0;\nL%" PRIu32 ":\n", label);
    else
        text_format(&d->out, "for (i = 0; i < %" PRIu32 "; i++) {\n", trips);
    put_some(d, 3);
    if (d->is_ptx)
        text_format(&d->out,
                    "add.u32 r3, r3, 1;\nsetp.lt.u32 p1, r3, %" PRIu32 ";\n@p1 bra L%" PRIu32 ";\n",
                    trips, label);
    else
        text_put(&d->out, "}\n");
    d->in_loop = false;
}

static void put_some(struct drawing *d, uint32_t most)
{
    for (uint32_t n = 1 + pcg_below(&d->rng, most); n > 0 && d->left > 0; n--) {
        const uint32_t kind = pcg_below(&d->rng, 8);
        d->left--;
        if (kind < 2)
            text_put(&d->out, d->is_ptx ? "bar.sync 0;\n" : "barrier();\n");
        else if (kind < 4)
            put_if(d);
        else if (kind == 4 && !d->in_loop)
            put_loop(d);
        else
            put_access(d);
    }
}

const struct ast_kernel *small_pairs(struct arena *arena, uint64_t seed)
{
    struct drawing d = {.out = text_begin(arena), .left = 2 + ITEMS};
    pcg_seed(&d.rng, seed, 1);
    d.is_ptx = pcg_below(&d.rng, 2);
    d.is_global = pcg_below(&d.rng, 2);
    d.threads = 2 + (pcg_below(&d.rng, 3) == 0);
    const uint32_t blocks = 1 + (pcg_below(&d.rng, 4) == 0);
    if (d.is_ptx)
        text_format(&d.out,
                    "// simtfuzz: entry=k blocks=%" PRIu32 " threads=%" PRIu32
                    " warp=2\n.version 8.4\n.target sm_90\n.address_size 64\n.global .u32 g[4] = "
                    "{7};\n.shared .u32 s[4];\n.entry k()\n{\n.reg .pred p<2>;\n.reg .b32 "
                    "r<4>;\n.reg .b64 d<4>;\nmov.u32 r0, %%tid.x;\nmov.u32 r2, 9;\nmov.u64 d2, "
                    "%s;\nmad.wide.u32 d3, r0, 4, d2;\n",
                    blocks, d.threads, d.is_global ? "g" : "s");
    else
        text_format(&d.out,
                    "launch(threads=%" PRIu32 ", warp=2, blocks=%" PRIu32 ", seed=%" PRIu32
                    ");\nshared int s[4], u; global int g[4] = {7}; shared input int m[2]; private "
                    "int x, i;\nkernel k() "
                    "{\n",
                    d.threads, blocks, pcg_next(&d.rng) & 0xffff);
    while (d.left > 0)
        put_some(&d, ITEMS);
    text_put(&d.out, d.is_ptx ? "exit;\n}\n" : "}\n");
    return parse_printed(arena, d.out.bytes);
}
