#include "oracle/verdicts/small.h"

#include <inttypes.h>

#include "engine/base/pcg.h"
#include "engine/base/text.h"

/*
 * In a form, a capital letter stands for something drawn: V the loop's own variable, A an element of g or s, mostly one
 * of the thread's own, B how far a loop goes, K how many trips a thread makes before it leaves, C a condition, E a
 * value, O an operator, N a number, S more statements; Z a loop in it.
 */
static const char *const loops[] = {
    "for (V = tid; V < 16; V += threads) { S }",
    "for (V = 0; V < B; V += 1) { S }",
    "for (V = tid; V < 16; V += N) { S }",
    "V = B; while (V > 0) { S V -= 1; }",
    "for (V = 4 * tid; V < 4 * tid + 4; V += 1) { S }",
    "for (V = 1; V < 16; V = V << 1) { S }",
    "for (V = B; V > 0; V = V >> 1) { S barrier(); }",
    "V = 0; while (V < B) { V += N; if (C) break; S }",
    "V = tid; while (V < 16) { V += threads; if (C) continue; S }",
    "V = 0; while (V < B) { V += 1; if (V > K) { A = E; barrier(); break; } S }",
    "if (C) { for (V = 0; V < B; V += 1) { S } }",

    "for (V = 0; V < B; V += 1) { S barrier(); S barrier(); }",
    "for (V = 0; V < 3; V += 1) { Z }"};

/* No square has this bit. */
static const char *const unreached = "if (n[0] * n[0] & 2) { for (V = 0; V < B; V += 1) { S } }";

static const char *const statements[] = {"A = E;",
                                         "A = E;",
                                         "A = E;",
                                         "x = A;",
                                         "x = x + N;",
                                         "y = y + V;",
                                         "x = E;",
                                         "if (C) { A = E; }",
                                         "if (C) x += N;",
                                         "y = y - N;",
                                         "invariant V >= 0;",
                                         "invariant y <= 9;",
                                         "atomic_add(u, E);"};

static const char *const elements[] = {"g[V]",
                                       "g[V]",
                                       "g[V]",
                                       "g[V & 15]",
                                       "g[tid]",
                                       "s[tid]",
                                       "s[V & 15]",
                                       "g[V + 16]",
                                       "s[tid ^ 1]",
                                       "g[s[tid ^ 1] & 15]",
                                       "g[s[tid ^ 1] & 15]"};

static const char *const values[] = {"V", "x", "y",   "tid",     "N",      "n[1]",
                                     "V", "x", "tid", "(y O N)", "(x O V)"};

static const char *const operators[] = {"&", "^", "|", "<<",    ">>",
                                        "%", "/", "*", "& 1 +", "^ -1 +"};

static const char *const bounds[] = {"4", "7", "16", "threads", "(n[1] & 7)", "(tid & 3)"};

static const char *const lasts[] = {"1", "tid", "(tid & 1)", "(n[1] & 1)"};

static const char *const conditions[] = {"tid & 1",  "tid == 0", "V < x",           "x == N",
                                         "n[3] & 1", "tid < N",  "s[tid ^ 1] == N", "u == N"};

enum { STATEMENTS = 2 /* of a loop */, INNER = 4 /* of the loops, the first ones */ };

struct drawing {
    struct text out;
    struct pcg rng;
    uint32_t loops; /* that stand around */
    uint32_t left;  /* statements that may still come */
};

#define PICK(d, list) (list)[pcg_below(&(d)->rng, sizeof(list) / sizeof(list)[0])]

static void put_form(struct drawing *d, const char *form);

static void put_loop(struct drawing *d)
{
    d->loops++;
    put_form(d, d->loops > 1 ? loops[pcg_below(&d->rng, INNER)] : PICK(d, loops));
    d->loops--;
}

static void put_some(struct drawing *d)
{
    for (uint32_t n = 1 + pcg_below(&d->rng, 2); n > 0 && d->left > 0; n--, d->left--)
        put_form(d, PICK(d, statements));
}

static void put_letter(struct drawing *d, char letter)
{
    static const char *const variables[] = {"x", "i", "j", "k"};
    switch (letter) {
    case 'V':
        text_put(&d->out, variables[d->loops]);
        return;
    case 'A':
        put_form(d, PICK(d, elements));
        return;
    case 'B':
        text_put(&d->out, PICK(d, bounds));
        return;
    case 'C':
        put_form(d, PICK(d, conditions));
        return;
    case 'E':
        put_form(d, PICK(d, values));
        return;
    case 'K':
        text_put(&d->out, PICK(d, lasts));
        return;
    case 'O':
        text_put(&d->out, PICK(d, operators));
        return;
    case 'N':
        text_format(&d->out, "%" PRIu32, 1 + pcg_below(&d->rng, 6));
        return;
    case 'S':
        put_some(d);
        return;
    case 'Z':
        put_loop(d);
        return;
    default:
        text_put_bytes(&d->out, &letter, 1);
    }
}

static void put_form(struct drawing *d, const char *form)
{
    for (const char *c = form; *c; c++)
        put_letter(d, *c);
    text_put(&d->out, " ");
}

static void put_unreached(struct drawing *d)
{
    d->loops++;
    put_form(d, unreached);
    d->loops--;
}

const struct ast_kernel *small_loops(struct arena *arena, uint64_t seed)
{
    struct drawing d = {.out = text_begin(arena)};
    pcg_seed(&d.rng, seed, 1);
    uint32_t threads = 2 + pcg_below(&d.rng, 3), blocks = 1 + (pcg_below(&d.rng, 4) == 0);
    text_format(&d.out,
                "launch(threads=%" PRIu32 ", warp=2, blocks=%" PRIu32 ", seed=%" PRIu32
                ");\nshared int s[16]; shared int u; global int g[32] = {3, 1, 2};\nglobal input "
                "int n[4]; private int x = 1; private int y;\nprivate int i; "
                "private int j; private int k;\nkernel k0() {\n",
                threads, blocks, pcg_next(&d.rng) & 0xffff);
    if (pcg_below(&d.rng, 3) == 0)
        text_put(&d.out,
                 pcg_below(&d.rng, 3) ? "s[tid] = tid; u = 1; barrier(); " : "s[tid] = tid; ");
    d.left = STATEMENTS;
    if (pcg_below(&d.rng, 4) == 0)
        put_unreached(&d);
    else
        put_loop(&d);
    if (pcg_below(&d.rng, 2))
        text_put(&d.out, "barrier(); ");
    text_put(&d.out, "g[tid] = x;\n}\n");
    return parse_printed(arena, d.out.bytes);
}
