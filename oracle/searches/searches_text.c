/*
 * searches_text.c - kernels whose executions have several ends: each thread has a few statements of its own.
 */
#include "engine/base/pcg.h"
#include "oracle/searches/searches.h"

enum { FLAGS, WAITING, ALIKE, MANNERS };

struct drawing {
    struct arena *arena;
    struct pcg rng;
    uint32_t manner; /* from MANNERS on: anything */
};

static uint32_t below(struct drawing *d, uint32_t n)
{
    return pcg_below(&d->rng, n);
}

static const char *word(struct drawing *d)
{
    return below(d, 2) ? "y" : "x";
}

/* One statement; so many may be within. Loops wait for a word. */
static const char *statement(struct drawing *d, uint32_t within)
{
    const char *w = word(d);
    uint32_t kind = below(d, within > 0 ? 15 : 11), c = below(d, 3);
    switch (kind) {
    case 0:
    case 1:
        return arena_printf(d->arena, "%s = %u;", w, c);
    case 2:
    case 3:
        return arena_printf(d->arena, "a = %s;", w);
    case 4:
        return arena_printf(d->arena, "%s = a;", w);
    case 5:
        return arena_printf(d->arena, "%s = %s + 1;", w, w);
    case 6:
        return arena_printf(d->arena, "a = atomic_add(%s, %u);", w, c);
    case 7:
        return arena_printf(d->arena, "a = atomic_exch(%s, %u);", w, c);
    case 8:
        return arena_printf(d->arena, "atomic_add(%s, 1);", w);
    case 9:
        return arena_printf(d->arena, "assert(%s != %u);", w, c + 1);
    case 10:
        return "exit;";
    case 11:
        return arena_printf(d->arena, "while (%s == %u) { }", w, c);
    case 12:
        return arena_printf(d->arena, "while (a == %u) { a = atomic_add(%s, 0); }", c, w);
    default:
        break;
    }
    const char *inner = statement(d, 0);
    return arena_printf(d->arena, "if (%s == %u) { %s }", kind == 13 ? w : "a", c, inner);
}

/* Atomics of y are flags, and x is what they keep apart, or do not. */
static const char *flagged(struct drawing *d)
{
    uint32_t c = below(d, 3);
    switch (below(d, 5)) {
    case 0:
        return arena_printf(d->arena, "x = %u;", c);
    case 1:
        return "a = x;";
    case 2:
        return "atomic_add(x, 1);";
    case 3:
        return arena_printf(d->arena, "atomic_add(y, %u);", 1 + c / 2);
    default:
        return "a = 0; while (a == 0) { a = atomic_add(y, 0); }";
    }
}

/* Threads that do little but wait for each other. */
static const char *waiting(struct drawing *d)
{
    const char *w = word(d), *v = *w == 'x' ? "y" : "x";
    switch (below(d, 4)) {
    case 0:
        return arena_printf(d->arena, "while (%s == 0) { }", w);
    case 1:
        return arena_printf(d->arena, "if (%s == 1) { while (%s == 0) { } }", w, v);
    default:
        return arena_printf(d->arena, "%s = 1;", w);
    }
}

/* Threads that do the same, told apart by whose turn was first. */
static const char *alike(struct drawing *d)
{
    switch (below(d, 6)) {
    case 0:
        return "while (y == 0) { }";
    case 1:
        return "if (a == 0) { while (y == 0) { } }";
    case 2:
        return arena_printf(d->arena, "if (a == %u) { y = 1; }", 1 + below(d, 2));
    case 3:
        return "a = atomic_add(x, 1);";
    default:
        return statement(d, 1);
    }
}

static const char *any_statement(struct drawing *d)
{
    switch (d->manner) {
    case FLAGS:
        return flagged(d);
    case WAITING:
        return waiting(d);
    case ALIKE:
        return alike(d);
    default:
        return statement(d, 1);
    }
}

static const char *list(struct drawing *d, uint32_t count)
{
    const char *text = "";
    for (uint32_t i = 0; i < count; i++) {
        const char *next = any_statement(d);
        text = arena_printf(d->arena, "%s %s", text, next);
    }
    return text;
}

/* A list for each thread: of four one statement, of two up to four. */
static const char *arms(struct drawing *d, uint32_t threads, uint32_t all)
{
    const char *text = "";
    for (uint32_t t = 0; t < all; t++) {
        const char *own = list(d, all == 4 ? 1 : all == 3 ? 1 + below(d, 2) : 2 + below(d, 3));
        const char *head =
            t + 1 == all ? "" : arena_printf(d->arena, "if (bid * %u + tid == %u) ", threads, t);
        text = arena_printf(d->arena, "%s%s%s{%s }", text, t ? " else " : "", head, own);
    }
    if (below(d, 3) == 0) {
        const char *rest = list(d, 1);
        text = arena_printf(d->arena, "%s barrier();%s", text, rest);
    }
    return text;
}

const char *searches_text(struct arena *arena, enum subject_id subject, uint64_t number)
{
    struct drawing d = {arena, pcg_derive(number, PCG_SCHEDULE, 77), 0};
    d.manner = below(&d, 6);
    bool grid = d.manner != ALIKE && below(&d, 4) == 0;
    uint32_t threads = grid ? 1 + below(&d, 2) : 2 + below(&d, 2), blocks = grid ? 2 : 1, warp = 1;
    if (d.manner == ALIKE)
        warp = threads;
    else if (subject == SUBJECT_SIMT)
        warp += below(&d, threads);
    const char *body =
        d.manner == ALIKE ? list(&d, 5 - threads) : arms(&d, threads, threads * blocks);
    return arena_printf(arena,
                        "launch(threads = %u, warp = %u, blocks = %u); %s int x, y; private int a; "
                        "kernel k() { %s }",
                        threads, warp, blocks, grid ? "global" : "shared", body);
}
