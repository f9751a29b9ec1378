/*
 * emitted_jumps.c - PTX whose basic blocks jump about: forward to any block, into loops at their head, out of several
 * at once, back while there is fuel, by tables, to the end from anywhere. What lanes compute says where they go, and is
 * known by a walk over the drawn graph. Injection must find regions, loops and sides that leave them in any of these.
 */
#include "oracle/drawn/drawn.h"
#include "oracle/emitted/emitted.h"
#include "oracle/runs/ptx_run.h"

#include <inttypes.h>

enum { BLOCKS = 14, LOOPS = 4, TARGETS = 3, FUEL = 24, LANES = 4 };

enum leaves {
    LEAVES_NEXT,
    LEAVES_JUMP,
    LEAVES_BRANCH,
    LEAVES_BACK,
    LEAVES_TABLE,
    LEAVES_RETURN,
    LEAVES_MAYBE,
    LEAVES
};

struct block {
    enum leaves how;
    uint32_t number; /* that goes into the sum */
    uint32_t bit;    /* of the sum, which says whether */
    bool negated;    /* where it is not set */
    uint32_t calls;  /* the function that does nothing before it leaves; FUNCTIONS or more: none */
    bool by_call;    /* it returns by a call that does not */
    uint32_t count;  /* of targets; block `count` of the graph is the end */
    uint32_t targets[TARGETS];
};

struct graph {
    struct drawn *d;
    uint32_t count, loops, first[LOOPS], last[LOOPS];
    struct block blocks[BLOCKS];
    enum ending { ENDS_RETURN, ENDS_FALLING, ENDS_LABEL, ENDS_INNER, ENDINGS } ending;
};

/* Functions that do nothing, and end in every way. */
static const char *const functions[] = {"",
                                        "\tF:\n",
                                        "\t.reg .u32 %r;\n\tmov.u32 %r, 1;\n",
                                        "\tbra F;\nF:\n",
                                        "\t.reg .pred %p;\n\tsetp.eq.u32 %p, 1, 1;\n\t@%p ret;\n",
                                        "\tret;\n",
                                        "\t{\n\tF:\n\t}\n",
                                        "\tssy S;\n\tsync;\nS:\n\tret;\n"};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

#define PUT(g, ...) text_format(&(g)->d->text, __VA_ARGS__)

static uint32_t below(struct graph *g, uint32_t n)
{
    return drawn_below(g->d, n);
}

/* ---- the graph ---- */

static bool is_within(const struct graph *g, uint32_t loop, uint32_t block)
{
    return block >= g->first[loop] && block <= g->last[loop];
}

/* Loops lie within each other, or apart. */
static void draw_loop(struct graph *g)
{
    const uint32_t first = below(g, g->count), last = first + below(g, g->count - first);
    for (uint32_t l = 0; l < g->loops; l++)
        if (is_within(g, l, first) != is_within(g, l, last) || first == g->first[l])
            return;
    g->first[g->loops] = first;
    g->last[g->loops++] = last;
}

/* Into a loop one comes by its first block alone. */
static bool may_go(const struct graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t l = 0; l < g->loops; l++)
        if (is_within(g, l, to) && !is_within(g, l, from) && to != g->first[l])
            return false;
    return true;
}

/* The next block is always one. */
static uint32_t forward(struct graph *g, uint32_t from)
{
    const uint32_t to = from + 1 + below(g, g->count - from);
    return may_go(g, from, to) ? to : from + 1;
}

/* The first block of a loop around it; itself and no loop: there is none. */
static uint32_t back(struct graph *g, uint32_t from)
{
    uint32_t number = below(g, LOOPS);
    for (uint32_t i = 0; i < g->loops; i++, number++)
        if (is_within(g, number % g->loops, from))
            return g->first[number % g->loops];
    return g->count;
}

static void draw_block(struct graph *g, uint32_t at)
{
    struct block *b = &g->blocks[at];
    b->how = (enum leaves)below(g, LEAVES);
    b->number = (uint32_t)pcg_next(&g->d->rng);
    b->bit = below(g, 32);
    b->negated = below(g, 2);
    b->calls = below(g, 3 * FUNCTIONS);
    b->by_call = b->how == LEAVES_RETURN && below(g, 2);
    b->count = b->how == LEAVES_TABLE ? 1 + below(g, TARGETS) : 1;
    for (uint32_t t = 0; t < b->count; t++)
        b->targets[t] = forward(g, at);
    if (b->how == LEAVES_BACK)
        b->targets[0] = back(g, at);
    if (b->how == LEAVES_BACK && b->targets[0] == g->count)
        b->how = LEAVES_BRANCH;
}

static void draw(struct graph *g)
{
    g->count = 3 + below(g, BLOCKS - 2);
    g->ending = (enum ending)below(g, ENDINGS);
    for (uint32_t i = 0; i < LOOPS; i++)
        draw_loop(g);
    for (uint32_t i = 0; i < g->count; i++)
        draw_block(g, i);
}

/* ---- as text ---- */

static void put_block(struct graph *g, uint32_t at)
{
    const struct block *b = &g->blocks[at];
    const char *guard = b->negated ? "!" : "";
    PUT(g, "L%" PRIu32 ":\n\tmad.lo.u32 %%sum, %%sum, 31, %" PRIu32 ";\n", at, b->number);
    if (b->calls < FUNCTIONS)
        PUT(g, "\tcall f%" PRIu32 ";\n", b->calls);
    if (b->how == LEAVES_NEXT)
        return;
    if (b->how == LEAVES_JUMP) {
        PUT(g, "\tbra L%" PRIu32 ";\n", b->targets[0]);
        return;
    }
    PUT(g, "\tshr.u32 %%t, %%sum, %" PRIu32 ";\n", b->bit);
    if (b->how == LEAVES_TABLE) {
        PUT(g, "\trem.u32 %%t, %%t, %" PRIu32 ";\nT%" PRIu32 ": .branchtargets", b->count, at);
        for (uint32_t t = 0; t < b->count; t++)
            PUT(g, t ? ", L%" PRIu32 : " L%" PRIu32, b->targets[t]);
        PUT(g, ";\n\tbrx.idx %%t, T%" PRIu32 ";\n", at);
        return;
    }
    PUT(g, "\tand.b32 %%t, %%t, 1;\n\tsetp.ne.u32 %%p, %%t, 0;\n");
    if (b->how == LEAVES_BACK)
        PUT(g, "\tadd.u32 %%fuel, %%fuel, 1;\n\tsetp.lt.and.u32 %%p, %%fuel, %d, %s%%p;\n", FUEL,
            guard);
    if (b->how == LEAVES_BACK)
        PUT(g, "\t@%%p bra L%" PRIu32 ";\n", b->targets[0]);
    else if (b->how == LEAVES_BRANCH)
        PUT(g, "\t@%s%%p bra L%" PRIu32 ";\n", guard, b->targets[0]);
    else if (b->by_call)
        PUT(g, "\tst.global.u32 [%%d], %%sum;\n\tcall stop;\n");
    else if (g->ending == ENDS_LABEL && b->number & 2)
        PUT(g, "\tst.global.u32 [%%d], %%sum;\n\t%s%s%sbra LE;\n",
            b->how == LEAVES_MAYBE ? "@" : "", b->how == LEAVES_MAYBE ? guard : "",
            b->how == LEAVES_MAYBE ? "%p " : "");
    else
        PUT(g, "\tst.global.u32 [%%d], %%sum;\n\t%s%s%s%s;\n", b->how == LEAVES_MAYBE ? "@" : "",
            b->how == LEAVES_MAYBE ? guard : "", b->how == LEAVES_MAYBE ? "%p " : "",
            b->number & 1 ? "ret" : "exit");
}

static void put(struct graph *g)
{
    static const char *const ends[] = {[ENDS_RETURN] = "\tret;\n",
                                       [ENDS_FALLING] = "",
                                       [ENDS_LABEL] = "LE:\n",
                                       [ENDS_INNER] = "\t{\n\tmov.u32 %t, 0;\n\t}\n"};
    PUT(g,
        ".version 8.0\n.target sm_80\n.address_size 64\n.func stop() .noreturn\n{\n\texit;\n}\n");
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        PUT(g, ".func f%" PRIu32 "()\n{\n%s}\n", f, functions[f]);
    PUT(g, ".entry k(.param .u64 out)\n{\n\t.reg .u32 %%sum, %%t, %%fuel;\n\t.reg .u64 %%d, %%e;\n"
           "\t.reg .pred %%p;\n\tmov.u32 %%t, %%tid.x;\n"
           "\tld.param.u64 %%d, [out];\n\tmul.wide.u32 %%e, %%t, 4;\n\tadd.u64 %%d, %%d, %%e;\n"
           "\tmul.lo.u32 %%sum, %%t, 0x9e3779b1;\n\tmov.u32 %%fuel, 0;\n");
    for (uint32_t i = 0; i < g->count; i++)
        put_block(g, i);
    PUT(g, "L%" PRIu32 ":\n\tst.global.u32 [%%d], %%sum;\n%s}\n", g->count, ends[g->ending]);
}

/* ---- where a lane goes ---- */

static uint32_t walk(const struct graph *g, uint32_t lane)
{
    uint32_t sum = lane * 0x9e3779b1u, fuel = 0, at = 0;
    while (at < g->count) {
        const struct block *b = &g->blocks[at];
        sum = sum * 31 + b->number;
        const uint32_t rest = sum >> b->bit;
        const bool holds = (rest & 1) != b->negated;
        const bool goes = b->how == LEAVES_JUMP || (b->how == LEAVES_BRANCH && holds) ||
                          (b->how == LEAVES_BACK && ++fuel < FUEL && holds);
        if (b->how == LEAVES_RETURN || (b->how == LEAVES_MAYBE && holds))
            break;
        at = b->how == LEAVES_TABLE ? b->targets[rest % b->count] : goes ? b->targets[0] : at + 1;
    }
    return sum;
}

const char *emitted_jumps(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_JUMPS);
    struct graph *g = ARENA_NEW(arena, struct graph);
    uint32_t meant[LANES];
    g->d = &d;
    draw(g);
    put(g);
    for (uint32_t lane = 0; lane < LANES; lane++)
        meant[lane] = walk(g, lane);
    *text = d.text.bytes;
    return ptx_run(arena, "jumps", d.text.bytes, meant, LANES);
}
