#include "oracle/verdicts/small.h"

#include <inttypes.h>

#include "engine/base/pcg.h"
#include "engine/base/text.h"

/*
 * In a form, a capital letter stands for something drawn: E an expression, I an index of s or g, mostly of the thread's
 * own element, V a private variable that anybody may write, B an operator.
 */
static const char *const statements[] = {"V = E",
                                         "V = E",
                                         "V = E",
                                         "s[I] = E",
                                         "s[I] = E",
                                         "g[I] = E",
                                         "g[I] = E",
                                         "a[E & 3] = E",
                                         "havoc(V)",
                                         "atomic_add(s[I], E)",
                                         "V = atomic_max(g[I], E)",
                                         "atomic_min(u, E)",
                                         "u = E",
                                         "V = u"};

/* Without a guard. */
static const char *const others[] = {"V += E",    "s[I] += E", "g[I] ^= E",
                                     "barrier()", "barrier()", "assert(E | 1)"};

static const char *const expressions[] = {
    "x",        "y",        "i",        "tid",         "lane",    "bid",     "threads",
    "a[E & 3]", "s[I]",     "g[I]",     "n[tid & 3]",  "u",       "(E B E)", "(E B E)",
    "(E B E)",  "(E && E)", "(E || E)", "(E ? E : E)", "-(E)",    "!E",      "~E",
    "1",        "2",        "0",        "7",           "(E B 3)", "(E % 4)", "(E >> 1)"};

static const char *const operators[] = {"+", "-", "*", "/",  "%", "<<", ">>", "&",
                                        "|", "^", "<", "<=", ">", ">=", "==", "!="};

enum { DEPTH = 3, ATOMS = 7 /* of the expressions, the first ones */ };

struct drawing {
    struct text out;
    struct pcg rng;
    uint32_t labels, left; /* statements that may still come */
    bool in_loop;
};

#define PICK(d, list) (list)[pcg_below(&(d)->rng, sizeof(list) / sizeof(list)[0])]

static void put_form(struct drawing *d, const char *form, uint32_t depth);

static void put_expression(struct drawing *d, uint32_t depth)
{
    put_form(d, depth == 0 ? expressions[pcg_below(&d->rng, ATOMS)] : PICK(d, expressions),
             depth ? depth - 1 : 0);
}

static void put_index(struct drawing *d, uint32_t depth)
{
    static const char *const
        own[] = {"tid", "tid", "tid", "(tid + 4)", "(tid + 4 * bid)", "(n[0] == 77 ? 9 : tid)"},
        *const any[] = {"(E & 7)", "(E & 3)", "(tid ^ 1)", "((tid + 1) & 7)", "E % 8"};
    put_form(d, pcg_below(&d->rng, 3) ? PICK(d, own) : PICK(d, any), depth ? depth - 1 : 0);
}

static void put_form(struct drawing *d, const char *form, uint32_t depth)
{
    static const char *const variables[] = {"x", "y", "x", "q"};
    for (const char *c = form; *c; c++)
        if (*c == 'E')
            put_expression(d, depth);
        else if (*c == 'I')
            put_index(d, depth);
        else if (*c == 'V')
            text_put(&d->out, PICK(d, variables));
        else if (*c == 'B')
            text_put(&d->out, PICK(d, operators));
        else
            text_put_bytes(&d->out, c, 1);
}

static void put_statement(struct drawing *d)
{
    bool plain = pcg_below(&d->rng, 5) == 0;
    put_form(d, plain ? PICK(d, others) : PICK(d, statements), DEPTH);
    if (!plain && pcg_below(&d->rng, 3) == 0)
        put_form(d, " if (E)", DEPTH);
    text_put(&d->out, ";\n");
}

static void put_some(struct drawing *d, uint32_t most);

/* if (E) .. else ..; or a choice, in which the second block is open to all: of P one guard must hold (WF.3). In a third
 * one go some who could go to the first one, or to the second. */
static void put_choice(struct drawing *d)
{
    static const char *const thirds[] = {"q", "!q", "x", "1"};
    uint32_t at = d->labels;
    bool free = pcg_below(&d->rng, 5) == 0, third = pcg_below(&d->rng, 4) == 0;
    d->labels += 4;
    put_form(d, "q = E;\n", DEPTH);
    text_format(&d->out, "goto B%" PRIu32 ", B%" PRIu32, at, at + 1);
    if (third)
        text_format(&d->out,
                    ", B%" PRIu32 ";\nB%" PRIu32 ": assume(%s);\ny = y + 1;\ngoto B%" PRIu32,
                    at + 3, at + 3, PICK(d, thirds), at + 2);
    text_format(&d->out, ";\nB%" PRIu32 ": assume(q);\n", at);
    put_some(d, 3);
    text_format(&d->out, "goto B%" PRIu32 ";\nB%" PRIu32 ":%s\n", at + 2, at + 1,
                free ? "" : " assume(!q);");
    put_some(d, 3);
    text_format(&d->out, "goto B%" PRIu32 ";\nB%" PRIu32 ":\n", at + 2, at + 2);
}

/* As many trips as constants, inputs or the thread say. */
static void put_loop(struct drawing *d)
{
    static const char *const bounds[] = {"2", "3", "(tid & 3)", "(n[0] & 3)", "(y & 3)"};
    uint32_t at = d->labels;
    d->labels += 3;
    text_format(&d->out,
                "i = 0;\ngoto B%" PRIu32 ";\nB%" PRIu32 ":\nq = i < %s;\ngoto B%" PRIu32
                ", B%" PRIu32 ";\nB%" PRIu32 ": assume(q);\n",
                at, at, PICK(d, bounds), at + 1, at + 2, at + 1);
    d->in_loop = true;
    put_some(d, 4);
    d->in_loop = false;
    text_format(&d->out, "i = i + 1;\ngoto B%" PRIu32 ";\nB%" PRIu32 ": assume(!q);\n", at, at + 2);
}

static void put_some(struct drawing *d, uint32_t most)
{
    for (uint32_t n = pcg_below(&d->rng, most) + 1; n > 0 && d->left > 0; n--) {
        uint32_t kind = pcg_below(&d->rng, 8);
        d->left--;
        if (kind == 0)
            put_choice(d);
        else if (kind == 1 && !d->in_loop)
            put_loop(d);
        else
            put_statement(d);
    }
}

const struct ast_kernel *small_blocks(struct arena *arena, uint64_t seed)
{
    struct drawing d = {.out = text_begin(arena), .left = 9};
    pcg_seed(&d.rng, seed, 1);
    uint32_t threads = 2 + pcg_below(&d.rng, 3), blocks = 1 + (pcg_below(&d.rng, 3) == 0);
    text_format(&d.out,
                "launch(threads=%" PRIu32 ", warp=2, blocks=%" PRIu32 ", seed=%" PRIu32
                ");\nshared int s[8] = {1, 2, -3, 4}; shared int u; global int g[8] = {0, 5};\n"
                "global input int n[4]; private int x; private int y = 3; private int q;\n"
                "private int i; private int a[4];\nkernel k() blocks {\nStart:\n",
                threads, blocks, pcg_next(&d.rng) & 0xffff);
    while (d.left > 0)
        put_some(&d, 4);
    text_put(&d.out, "goto End;\n}\n");
    return parse_printed(arena, d.out.bytes);
}
