/*
 * searches_text.c - kernels whose executions have several ends: each thread has a few statements of its own.
 */
#include "engine/base/pcg.h"
#include "oracle/searches/searches.h"

enum { FLAGS, WAITING, ALIKE, PHASES, MESSAGE, ROUNDS, MANNERS };

struct drawing {
    struct arena *arena;
    struct pcg rng;
    uint32_t manner;    /* from MANNERS on: anything */
    const char *focus;  /* the word that most is about */
    bool careful, owns; /* PHASES: x is one thread's in each, this one's; all do atomics of y */
};

static uint32_t below(struct drawing *d, uint32_t n)
{
    return pcg_below(&d->rng, n);
}

static const char *word(struct drawing *d)
{
    return below(d, 2) ? "y" : "x";
}

/* An operation at the bounds of numbers: the reference's arithmetic is its own. */
static const char *arithmetic(struct drawing *d, const char *w)
{
    static const char *const operators[] = {"<<", "<<", ">>", ">>", "/", "%", "*",
                                            "-",  "+",  "&",  "^",  "|", "<", ">="};
    static const char *const bounds[] = {"31", "31", "32",         "30",
                                         "-1", "0",  "2147483647", "(-2147483647 - 1)"};
    static const char *const operands[] = {
        "1", "a", "x", "y", "-1", "2147483647", "(-2147483647 - 1)"};
    const char *op = operators[below(d, sizeof operators / sizeof *operators)];
    const char *left = operands[below(d, sizeof operands / sizeof *operands)];
    const char *right = bounds[below(d, sizeof bounds / sizeof *bounds)];
    return arena_printf(d->arena, "%s = %s %s %s;", w, left, op, right);
}

/* One statement; so many may be within. Loops wait for a word. */
static const char *statement(struct drawing *d, uint32_t within)
{
    const char *w = word(d);
    if (below(d, 6) == 0)
        return below(d, 4) ? arithmetic(d, w) : "havoc(a);";
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

/* Threads that do little but wait for each other, or end at once. */
static const char *waiting(struct drawing *d)
{
    const char *w = word(d), *v = *w == 'x' ? "y" : "x";
    switch (below(d, 5)) {
    case 0:
        return arena_printf(d->arena, "while (%s == 0) { }", w);
    case 1:
        return arena_printf(d->arena, "if (%s == 1) { while (%s == 0) { } }", w, v);
    case 2:
        return "exit;";
    default:
        return arena_printf(d->arena, "%s = 1;", w);
    }
}

/* One waits for the last of the others. */
static const char *wait_for_last(struct drawing *d)
{
    uint32_t who = below(d, 3), last = below(d, 2);
    return arena_printf(d->arena,
                        "if (tid == %u) { while (y == 0) { } } else { a = atomic_add(x, 1); if (a "
                        "== %u) { y = 1; } }",
                        who, last);
}

/* Threads that do the same, told apart by whose turn was first: one of them, or each; or all but one of them. */
static const char *alike(struct drawing *d)
{
    const char *w = word(d);
    switch (below(d, 20)) {
    case 19:
        return wait_for_last(d);
    case 17:
    case 18:
        return arena_printf(d->arena, "if (tid == %u) { %s = a; }", below(d, 3), w);
    case 16:
        return arena_printf(d->arena,
                            "a = atomic_add(x, 1); if (a == %u) { y = 1; } else { while (y == 0) "
                            "{ } }",
                            below(d, 3));
    case 0:
        return "while (y == 0) { }";
    case 1:
        return "if (a == 0) { while (y == 0) { } }";
    case 2:
        return arena_printf(d->arena, "if (a == %u) { y = 1; }", 1 + below(d, 2));
    case 3:
    case 4:
        return "a = atomic_add(x, 1);";
    case 5:
    case 6:
        return arena_printf(d->arena, "a = atomic_exch(%s, 1);", w);
    case 7:
    case 8:
    case 9:
        return arena_printf(d->arena, "a = atomic_add(%s, a + 1);", w);
    case 10:
        return arena_printf(d->arena, "%s = %s * 2 + a;", w, w);
    case 11:
        return arena_printf(d->arena, "a = (tid == %u);", below(d, 3));
    case 12:
    case 13:
        return "f();";
    default:
        return statement(d, 1);
    }
}

/* Threads with a barrier between what they do: few of them access what others do. */
static const char *phase(struct drawing *d)
{
    static const char *const by_owner[] = {"x = 1;", "a = x;", "x = a + 1;", "atomic_add(y, 1);"},
                             *const by_all[] = {"atomic_add(y, 1);", "a = atomic_add(y, 1);",
                                                "a = atomic_exch(y, a + 1);", "a = a + 1;"};
    const char *w = word(d);
    if (d->careful)
        return d->owns && below(d, 4) ? by_owner[below(d, 4)] : by_all[below(d, 4)];
    switch (below(d, 8)) {
    case 0:
        return arena_printf(d->arena, "%s = %u;", w, 1 + below(d, 2));
    case 1:
        return arena_printf(d->arena, "a = %s;", w);
    case 2:
        return arena_printf(d->arena, "atomic_add(%s, 1);", w);
    case 3:
        return arena_printf(d->arena, "if (a == 0) { %s = 1; }", w);
    case 4:
        return arena_printf(d->arena, "while (%s == 0) { barrier(); }", w);
    case 5:
        return arena_printf(d->arena, "while (a < 2) { a = a + 1; barrier(); }");
    default:
        return "a = a + 1;";
    }
}

/* Of threads that meet at a barrier again and again: what one writes takes others out of a loop, or keeps them in. */
static const char *in_rounds(struct drawing *d)
{
    const char *w = word(d), *v = *w == 'x' ? "y" : "x";
    uint32_t c = below(d, 2);
    switch (below(d, 8)) {
    case 0:
    case 1:
        return arena_printf(d->arena, "%s = %u;", w, c);
    case 2:
        return arena_printf(d->arena, "while (%s == %u) { }", w, c);
    case 3:
        return arena_printf(d->arena, "while (%s == %u) { %s = %u; }", w, c, v, below(d, 2));
    case 4:
    case 5:
        return arena_printf(d->arena, "if (%s == %u) { %s = %u; }", w, c, v, below(d, 2));
    case 6:
        return arena_printf(d->arena, "if (%s == %u) { exit; }", w, c);
    default:
        return arena_printf(d->arena, "%s = 1 - %s;", w, w);
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
    case PHASES:
        return phase(d);
    case ROUNDS:
        return in_rounds(d);
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

/* Of four threads one, of two up to four; less where there is as much again behind a barrier. */
static uint32_t statements_of(struct drawing *d, uint32_t threads)
{
    if (d->manner == ROUNDS)
        return threads > 2 ? below(d, 2) : below(d, 4);
    if (threads == 4 || (threads == 3 && d->manner == WAITING))
        return 1;
    return threads == 3 || d->manner == PHASES ? 1 + below(d, 2) : 2 + below(d, 3);
}

/* A list for each thread. */
static const char *own_arms(struct drawing *d, uint32_t threads, uint32_t all)
{
    const char *text = "";
    uint32_t owner = below(d, all);
    for (uint32_t t = 0; t < all; t++) {
        d->owns = t == owner;
        const char *own = list(d, statements_of(d, all));
        const char *head =
            t + 1 == all ? "" : arena_printf(d->arena, "if (bid * %u + tid == %u) ", threads, t);
        text = arena_printf(d->arena, "%s%s%s{%s }", text, t ? " else " : "", head, own);
    }
    return text;
}

/* In a block of its own who comes to a barrier passes it: so it orders nothing for others. */
static const char *alone(struct drawing *d, bool grid)
{
    return grid && below(d, 2) ? "barrier(); " : "";
}

/* One accesses a word and says so, and the other waits for that and accesses it: what atomics and barriers order, and
 * what they do not. */
static const char *message(struct drawing *d, bool grid)
{
    static const char *const accesses[] = {"x = 1; ", "x = 2; ", "a = x; ", "atomic_add(x, 1); ",
                                           ""},
                             *const says[] = {"atomic_add(y, 1); ", "atomic_exch(y, 1); ",
                                              "y = 1; "},
                             *const waits[] = {"a = 0; while (a == 0) { a = atomic_add(y, 0); } ",
                                               "a = atomic_add(y, 0); ", "while (y == 0) { } "};
    const char *first = accesses[below(d, 4)], *more = accesses[below(d, 5)], *one = alone(d, grid),
               *said = says[below(d, 3)], *waited = waits[below(d, 3)], *other = alone(d, grid),
               *last = accesses[below(d, 4)], *behind = accesses[below(d, 5)];
    return arena_printf(d->arena, "if (bid + tid == 0) { %s%s%s%s} else { %s%s%s%s}", first, one,
                        more, said, waited, other, last, behind);
}

/* One looks at x and says by y what it saw, and another moves x. Then that one ends if it is told; or the first leaves
 * if it has said so, and the other has not taken that back. Whoever is treated fairly waits at the barrier, and it is
 * the other who may not be able to go round for ever. */
static const char *told_to_end(struct drawing *d)
{
    static const char *const moves[] = {"x = 1; ", "x = 0; ", "x = 1 - x; ", "y = 0; ", ""};
    uint32_t c = below(d, 2), usual = below(d, 2);
    const char *one = below(d, 2) ? arena_printf(d->arena, "y = (x == %u); ", c)
                                  : arena_printf(d->arena, "if (x == %u) { y = 1; } ", c);
    const char *first = moves[usual ? c : below(d, 5)], *last = moves[usual ? 1 - c : below(d, 5)];
    if (below(d, 3) == 0)
        return arena_printf(d->arena,
                            "if (tid == 0) { %s} else { %sif (y == 1) { exit; } %s} barrier();",
                            one, first, last);
    const char *back = usual ? "y = 0; " : moves[below(d, 5)];
    return arena_printf(d->arena,
                        "if (tid == 0) { %s} else { %s%s} barrier(); if (tid == 0) { a = y; } "
                        "else { %s}%s",
                        one, first, last, back, usual || below(d, 2) ? " barrier();" : "");
}

/* All go round while a word says so, with a barrier in each round, at its end, or in between. */
static const char *rounds(struct drawing *d, uint32_t threads, uint32_t all)
{
    static const char *const whiles[] = {"x", "y", "a"};
    const char *w = whiles[below(d, 3)];
    if (all == 2 && below(d, 2))
        return arena_printf(d->arena, "while (a == 0) { %s }", told_to_end(d));
    const char *first = own_arms(d, threads, all);
    const char *rest = below(d, 3) == 0 ? own_arms(d, threads, all) : "";
    return arena_printf(d->arena, "while (%s == 0) {%s barrier();%s }", w, first, rest);
}

static const char *arms(struct drawing *d, uint32_t threads, uint32_t all)
{
    const char *text = own_arms(d, threads, all);
    if (d->manner == PHASES) {
        uint32_t phases = all > 2 ? 1 : d->careful ? 2 : 1 + below(d, 2);
        for (; phases > 0; phases--) {
            const char *rest = own_arms(d, threads, all);
            text = arena_printf(d->arena, "%s barrier(); %s", text, rest);
        }
        return text;
    }
    if (below(d, d->manner == WAITING ? 2 : 3) == 0) {
        const char *rest = list(d, 1);
        text = arena_printf(d->arena, "%s barrier();%s", text, rest);
    }
    return text;
}

/* ---- in block form ---- */

/* What a guard or a value reads: words, elements, what decides which of them is read. */
static const char *read_of(struct drawing *d)
{
    if (below(d, 2))
        return d->focus;
    static const char *const reads[] = {"x",        "y",        "z[0]",           "z[1]",
                                        "z[a & 1]", "x + z[1]", "(x ? y : z[0])", "(y && z[1])"};
    return reads[below(d, sizeof reads / sizeof *reads)];
}

static const char *block_statement(struct drawing *d)
{
    static const char *const places[] = {"x", "y", "z[0]", "z[1]", "z[a & 1]"};
    const char *place = below(d, 2) ? d->focus : places[below(d, 5)];
    const char *read = read_of(d);
    uint32_t c = below(d, 3);
    switch (below(d, 7)) {
    case 0:
        return arena_printf(d->arena, "a = %s;", read);
    case 1:
        return arena_printf(d->arena, "%s = a;", place);
    case 2:
        return arena_printf(d->arena, "a = atomic_add(%s, %u);", place, c);
    case 3:
        return arena_printf(d->arena, "%s = %u if (%s);", place, c, read);
    case 4:
        return arena_printf(d->arena, "p(%s, a);", read);
    default:
        return arena_printf(d->arena, "%s = %u;", place, c);
    }
}

/* A thread's own blocks: statements, a choice by what memory holds, and behind one side of it another statement, an
 * end, or the same choice again. */
static const char *own_blocks(struct drawing *d, uint32_t thread, bool chooses)
{
    const char *first = block_statement(d), *one = block_statement(d), *guard = read_of(d);
    uint32_t c = below(d, 2), rest = below(d, 4);
    if (!chooses)
        return arena_printf(d->arena, "T%u: assume(tid == %u); %s %s goto End; ", thread, thread,
                            first, one);
    const char *other = rest == 0 ? "" : block_statement(d);
    const char *to = rest == 0 ? arena_printf(d->arena, "Y%u, N%u", thread, thread) : "End";
    return arena_printf(d->arena,
                        "T%u: assume(tid == %u); %s goto Y%u, N%u; Y%u: assume(%s == %u); %s goto "
                        "End; N%u: assume(%s != %u); %s goto %s; ",
                        thread, thread, below(d, 2) ? first : "", thread, thread, thread, guard, c,
                        one, thread, guard, c, other, to);
}

/* Which way a thread goes may depend on what others write: the goto reads without an access. */
static const char *blocks(struct drawing *d)
{
    uint32_t threads = 2 + (below(d, 3) == 0), chooser = below(d, threads);
    static const char *const words[] = {"x", "y", "z[0]", "z[1]"};
    const char *list = "", *names = "";
    d->focus = words[below(d, 4)];
    for (uint32_t t = 0; t < threads; t++) {
        const char *own = own_blocks(d, t, t == chooser || (threads == 2 && below(d, 3) == 0));
        list = arena_printf(d->arena, "%s%s", list, own);
        names = arena_printf(d->arena, "%s%sT%u", names, t ? ", " : "", t);
    }
    return arena_printf(d->arena,
                        "launch(threads = %u, warp = 1, blocks = 1); %s int x, y, z[2]; private "
                        "int a; void p(int v, out int o) blocks { P: o = v + 1; return; } kernel "
                        "k() blocks { Start: goto %s; %s}",
                        threads, below(d, 2) ? "global" : "shared", names, list);
}

static bool step_together(enum subject_id subject)
{
    return subject == SUBJECT_SIMT || subject == SUBJECT_LOCKSTEP;
}

/* A function that some return from, and others do not yet. */
static const char *function_alike(struct drawing *d)
{
    const char *w = word(d);
    uint32_t c = below(d, 2);
    return below(d, 2)
               ? arena_printf(d->arena,
                              "void f() { if (a == %u) { return; } a = atomic_add(%s, a + 1); } ",
                              c, w)
               : arena_printf(d->arena,
                              "void f() { if (a == %u) { return; } %s = %s * 2 + 1; a = 0; } ", c,
                              w, w);
}

/* Threads that step together have few states. What each has found shows in the end, though not whose it is. */
static const char *all_alike(struct drawing *d, enum subject_id subject, uint32_t threads,
                             uint32_t all)
{
    uint32_t count = step_together(subject) ? 3 + below(d, 3) : 5 - all;
    if (threads == 3 && below(d, 4) == 0)
        return arena_printf(d->arena, "%s atomic_add(s, a);", wait_for_last(d));
    const char *apart = below(d, 2) ? arena_printf(d->arena, " a = (tid == %u);", threads - 1) : "";
    return arena_printf(d->arena, "%s%s atomic_add(s, a * a * 7 + a);", apart, list(d, count));
}

const char *searches_text(struct arena *arena, enum subject_id subject, uint64_t number)
{
    struct drawing d = {.arena = arena, .rng = pcg_derive(number, PCG_SCHEDULE, 77)};
    if (subject == SUBJECT_INTERLEAVE && below(&d, 2))
        return blocks(&d);
    d.manner = below(&d, MANNERS + 3);
    if (step_together(subject) && below(&d, 2))
        d.manner = ALIKE;
    d.careful = below(&d, 2);
    bool grid = d.manner == MESSAGE ? below(&d, 4) > 0 : below(&d, 4) == 0;
    uint32_t threads = grid ? 1 + below(&d, 2) : 2 + below(&d, 2), blocks = grid ? 2 : 1, warp = 1;
    if (d.manner == MESSAGE)
        threads = grid ? 1 : 2;
    if (d.manner == ALIKE)
        warp = threads;
    else if (subject == SUBJECT_SIMT || subject == SUBJECT_THREADS)
        warp += below(&d, threads);
    const char *function = d.manner == ALIKE ? function_alike(&d) : "";
    const char *body = d.manner == ALIKE     ? all_alike(&d, subject, threads, threads * blocks)
                       : d.manner == MESSAGE ? message(&d, grid)
                       : d.manner == ROUNDS  ? rounds(&d, threads, threads * blocks)
                                             : arms(&d, threads, threads * blocks);
    return arena_printf(
        arena,
        "launch(threads = %u, warp = %u, blocks = %u); %s int x, y%s; private int a; %s"
        "kernel k() { %s }",
        threads, warp, blocks, grid ? "global" : "shared", d.manner == ALIKE ? ", s" : "", function,
        body);
}
