/*
 * emitted_sequential.c - kernels whose accesses are known, printed as two threads in sequence and run as that text
 * says: of two threads and one element of each array an assert fails exactly if they race there, or come to barriers
 * apart. Some indices are outside: who has one does nothing more, and nobody who is at a barrier without him goes on.
 */
#include "engine/input/input.h"
#include "engine/reference/reference.h"
#include "engine/sequential/sequential.h"
#include "oracle/emitted/emitted.h"
#include "oracle/emitted/s_run.h"
#include "oracle/texts/drawn.h"

#include <stdio.h>

enum { STATEMENTS = 6, PAIRS = 12, LENGTH = 5 };

enum kind { READ, WRITE, ATOMIC, BARRIER };

/* Which element: `number`, that of the thread or of its block, what an input says - one of the grid, or one of the
 * thread's block; a word or an array -, or two bits of an expression of the thread. */
enum own {
    OWN_NUMBER,
    OWN_THREAD,
    OWN_BLOCK,
    OWN_GRID_INPUT,
    OWN_BLOCK_INPUT,
    OWN_GRID_WORD,
    OWN_BLOCK_WORD,
    OWN_EXPRESSION,
    OWN_COUNT
};

/* A statement, of threads whose `tid`, or `bid`, is so. */
struct statement {
    enum kind kind;
    bool is_shared, by_block;
    enum own own;
    uint32_t number, guard;
    uint64_t expression;
};

enum { NO_GUARD = 9 };

/* What inputs hold: of the grid, of each block; the last element is the word's. */
enum { BLOCKS = 3, INPUTS = 2 };
struct inputs {
    uint32_t grid[INPUTS + 1], block[BLOCKS][INPUTS + 1];
};

struct thread {
    uint32_t tid, bid;
};

static struct statement draw_statement(struct pcg *rng)
{
    struct statement s = {.kind = (enum kind)pcg_below(rng, BARRIER + 1)};
    s.is_shared = pcg_below(rng, 3) == 0;
    s.own = (enum own)pcg_below(rng, OWN_COUNT);
    s.number = pcg_below(rng, 2);
    if (s.own <= OWN_BLOCK && pcg_below(rng, 12) == 0)
        s.number = LENGTH;
    s.by_block = pcg_below(rng, 2) == 0;
    s.guard = pcg_below(rng, s.kind == BARRIER ? 6 : 3) ? NO_GUARD : pcg_below(rng, 2);
    s.expression = pcg_next(rng);
    return s;
}

/* ---- expressions ---- */

static int32_t leaf(struct pcg *rng, struct thread t, struct text *text)
{
    static const int32_t bounds[] = {0, 1, -1, 31, 32, INT32_MAX, INT32_MIN};
    const uint32_t kind = pcg_below(rng, 4);
    const int32_t any = (int32_t)pcg_next(rng), bound = bounds[pcg_below(rng, 7)];
    if (kind < 2) {
        text_put(text, kind ? "tid" : "bid");
        return (int32_t)(kind ? t.tid : t.bid);
    }
    text_format(text, "%d", (int)(kind == 2 ? any : bound));
    return kind == 2 ? any : bound;
}

/* Writes the expression that is drawn; returns what it is in this thread. */
static int32_t expression(struct pcg *rng, uint32_t depth, struct thread t, struct text *text)
{
    static const char *const unary[] = {
        [UNARY_NEG] = "-", [UNARY_NOT] = "!", [UNARY_COMPLEMENT] = "~"};
    const uint32_t kind = depth ? pcg_below(rng, 8) : 0, op = pcg_below(rng, BINARY_COUNT);
    if (kind == 0)
        return leaf(rng, t, text);
    text_format(text, "%s(", kind < 3 ? unary[op % 3] : "");
    int32_t a = expression(rng, depth - 1, t, text), b = 0, c = 0;
    if (kind >= 3) {
        text_format(text, " %s ", kind == 3 ? "?" : drawn_operators[op].token);
        b = expression(rng, depth - 1, t, text);
    }
    if (kind == 3) {
        text_put(text, " : ");
        c = expression(rng, depth - 1, t, text);
    }
    text_put(text, ")");
    if (kind >= 3)
        return kind == 3 ? (a ? b : c) : ref_binary((enum ast_binary)op, a, b);
    return ref_unary((enum ast_unary)(op % 3), a);
}

/* Two of its bits, any. */
static uint32_t drawn_element(struct arena *arena, const struct statement *s, struct thread t,
                              const char **text)
{
    struct pcg rng = pcg_derive(s->expression, PCG_KERNEL, DRAWN_SEQUENTIALS);
    struct text own = text_begin(arena);
    const uint32_t shift = pcg_below(&rng, 31);
    const int32_t value = expression(&rng, 2, t, &own);
    *text = arena_printf(arena, "%s >> %u & 3", own.bytes, (unsigned)shift);
    return (uint32_t)(value >> shift) & 3;
}

/* ---- statements ---- */

static const char *write_statement(struct arena *arena, const struct statement *s)
{
    static const char *const own[OWN_COUNT] = {"",   "tid + ", "bid + ", "h[",
                                               "q[", "n + ",   "m + ",   ""};
    const bool of_array = s->own == OWN_GRID_INPUT || s->own == OWN_BLOCK_INPUT;
    const char *index = arena_printf(arena, "%s%u%s", own[s->own], s->number, of_array ? "]" : "");
    if (s->own == OWN_EXPRESSION)
        (void)drawn_element(arena, s, (struct thread){0, 0}, &index);
    const char *place = arena_printf(arena, "%s[%s]", s->is_shared ? "s" : "g", index);
    const char *text = s->kind == READ     ? arena_printf(arena, "a = %s;", place)
                       : s->kind == WRITE  ? arena_printf(arena, "%s = 1;", place)
                       : s->kind == ATOMIC ? arena_printf(arena, "atomic_add(%s, 1);", place)
                                           : "barrier();";
    if (s->guard == NO_GUARD)
        return text;
    return arena_printf(arena, "if (%s == %u) { %s }", s->by_block ? "bid" : "tid", s->guard, text);
}

static bool takes_part(const struct statement *s, struct thread t)
{
    return s->guard == NO_GUARD || (s->by_block ? t.bid : t.tid) == s->guard;
}

static uint32_t element_of(struct arena *arena, const struct statement *s, struct thread t,
                           const struct inputs *in)
{
    const char *text;
    switch (s->own) {
    case OWN_THREAD:
        return t.tid + s->number;
    case OWN_BLOCK:
        return t.bid + s->number;
    case OWN_GRID_INPUT:
        return in->grid[s->number];
    case OWN_BLOCK_INPUT:
        return in->block[t.bid][s->number];
    case OWN_GRID_WORD:
        return in->grid[INPUTS] + s->number;
    case OWN_BLOCK_WORD:
        return in->block[t.bid][INPUTS] + s->number;
    case OWN_EXPRESSION:
        return drawn_element(arena, s, t, &text);
    case OWN_NUMBER:
    case OWN_COUNT:
        break;
    }
    return s->number;
}

/* Two threads, an element of each array, the inputs. */
struct question {
    struct thread a, b;
    uint32_t elements[2];
    struct inputs in;
    struct arena *arena;
};

static bool touches(const struct statement *s, struct thread t, const struct question *q)
{
    return takes_part(s, t) && element_of(q->arena, s, t, &q->in) == q->elements[s->is_shared];
}

/* The two accesses race, of one element of each array. */
static bool conflict(const struct statement *s, const struct statement *other,
                     const struct question *q)
{
    bool atomics = s->kind == ATOMIC && other->kind == ATOMIC;
    bool reads = s->kind == READ && other->kind == READ;
    return s->is_shared == other->is_shared && !atomics && !reads &&
           (!s->is_shared || q->a.bid == q->b.bid) && touches(s, q->a, q) &&
           touches(other, q->b, q);
}

/* The first statement in which the thread is outside of an array; `count`: none. */
static uint32_t dies_in(const struct statement *s, uint32_t count, struct thread t,
                        const struct question *q)
{
    uint32_t j = 0;
    while (j < count && (s[j].kind == BARRIER || !takes_part(&s[j], t) ||
                         element_of(q->arena, &s[j], t, &q->in) < LENGTH))
        j++;
    return j;
}

/* An assert fails of a barrier that one alone of two threads of a block comes to; or of an access of the first, and one
 * of the second with it or behind it, with no barrier of both between. Where one is at a barrier and the other has died
 * the text has no execution; a barrier is at its end, too. */
static enum s_end ends(const struct statement *s, uint32_t count, const struct question *q)
{
    const struct thread a = q->a, b = q->b;
    const uint32_t a_dies = dies_in(s, count, a, q), b_dies = dies_in(s, count, b, q);
    uint32_t from = 0;
    for (uint32_t j = 0; j < count; j++) {
        const bool meets_a = takes_part(&s[j], a) && j < a_dies;
        const bool meets_b = takes_part(&s[j], b) && j < b_dies;
        const bool barrier = s[j].kind == BARRIER && a.bid == b.bid;
        if (barrier && meets_a != meets_b)
            return j < a_dies && j < b_dies ? S_FAILS : S_IMPOSSIBLE;
        if (barrier && meets_a)
            from = j + 1;
        for (uint32_t i = from; i <= j && i < a_dies && j < b_dies && s[j].kind != BARRIER; i++)
            if (s[i].kind != BARRIER && conflict(&s[i], &s[j], q))
                return S_FAILS;
    }
    return a.bid == b.bid && (a_dies < count) != (b_dies < count) ? S_IMPOSSIBLE : S_PASSES;
}

/* What an input of a thread holds before the text has said what the two share. */
static void set_inputs(struct s_run *r, const char *thread, const char *array, const char *word,
                       const uint32_t in[INPUTS + 1])
{
    char name[S_NAME];
    for (uint32_t i = 0; i < INPUTS; i++) {
        snprintf(name, sizeof name, "%s%s", array, thread);
        s_set_element(r, name, i, (int32_t)in[i]);
    }
    snprintf(name, sizeof name, "%s%s", word, thread);
    s_set(r, name, (int32_t)in[INPUTS]);
}

/* The second thread's inputs are others, but for what the text takes from them: its own block's. */
static enum s_end run(struct arena *arena, const char *text, const struct question *q)
{
    struct s_run *r = ARENA_NEW(arena, struct s_run);
    static const uint32_t others[INPUTS + 1] = {5, 6, 7};
    r->count = 0;
    r->unknown = false;
    r->shared = "s";
    s_set(r, "tid$1", (int32_t)q->a.tid);
    s_set(r, "bid$1", (int32_t)q->a.bid);
    s_set(r, "tid$2", (int32_t)q->b.tid);
    s_set(r, "bid$2", (int32_t)q->b.bid);
    s_set(r, "same", q->a.bid == q->b.bid);
    s_set(r, "WO_g", (int32_t)q->elements[0]);
    s_set(r, "WO_s", (int32_t)q->elements[1]);
    set_inputs(r, "$1", "h", "n", q->in.grid);
    set_inputs(r, "$2", "h", "n", others);
    set_inputs(r, "$1", "q", "m", q->in.block[q->a.bid]);
    set_inputs(r, "$2", "q", "m", q->a.bid == q->b.bid ? others : q->in.block[q->b.bid]);
    return s_run(r, text);
}

static struct thread draw_thread(struct pcg *rng, uint32_t threads, uint32_t blocks)
{
    uint32_t tid = pcg_below(rng, threads), bid = pcg_below(rng, blocks);
    return (struct thread){tid, bid};
}

static void draw_inputs(struct pcg *rng, uint32_t in[INPUTS + 1])
{
    for (uint32_t i = 0; i < INPUTS + 1; i++)
        in[i] = pcg_below(rng, LENGTH - 1);
}

static struct question draw_question(struct pcg *rng, uint32_t threads, uint32_t blocks)
{
    struct question q = {.a = draw_thread(rng, threads, blocks)};
    q.b = draw_thread(rng, threads, blocks);
    q.elements[0] = pcg_below(rng, LENGTH - 1);
    q.elements[1] = pcg_below(rng, LENGTH - 1);
    draw_inputs(rng, q.in.grid);
    for (uint32_t b = 0; b < BLOCKS; b++)
        draw_inputs(rng, q.in.block[b]);
    return q;
}

static const char *ask(struct arena *arena, const char *printed, const struct statement *s,
                       uint32_t count, const struct question *q)
{
    enum s_end is = q->a.tid == q->b.tid && q->a.bid == q->b.bid ? S_IMPOSSIBLE : ends(s, count, q),
               end = run(arena, printed, q);
    if (end == is)
        return NULL;
    return arena_printf(arena,
                        "sequential: %s, of threads %u of block %u and %u of block %u, "
                        "elements %u and %u",
                        end == S_FAILS     ? "an assert fails that holds"
                        : end == S_PASSES  ? "an assert holds that fails"
                        : end == S_UNKNOWN ? "the text cannot be read"
                                           : "an assumption is wrong",
                        q->a.tid, q->a.bid, q->b.tid, q->b.bid, q->elements[0], q->elements[1]);
}

const char *emitted_sequential(struct arena *arena, uint64_t number, const char **text)
{
    struct pcg rng = pcg_derive(number, PCG_KERNEL, DRAWN_SEQUENTIALS);
    struct statement s[STATEMENTS];
    uint32_t count = 1 + pcg_below(&rng, STATEMENTS), threads = 1 + pcg_below(&rng, 3);
    uint32_t blocks = 1 + pcg_below(&rng, BLOCKS);
    threads += threads * blocks == 1;
    const char *kernel = arena_printf(
                   arena,
                   "launch(threads = %u, warp = 1, blocks = %u); global int g[%d]; "
                   "shared int s[%d]; global input int h[%d]; shared input int q[%d]; "
                   "global input int n; shared input int m; private int a; kernel k() {",
                   threads, blocks, LENGTH, LENGTH, INPUTS, INPUTS),
               *reason;
    for (uint32_t i = 0; i < count; i++) {
        s[i] = draw_statement(&rng);
        kernel = arena_printf(arena, "%s %s", kernel, write_statement(arena, &s[i]));
    }
    *text = kernel = arena_printf(arena, "%s }", kernel);
    enum sequential_style style = pcg_below(&rng, 2) ? SEQUENTIAL_TUTORIAL : SEQUENTIAL_BOOGIE;
    const char *printed =
        sequential_print(arena, forms_new(arena, parse_printed(arena, kernel)), style, &reason);
    if (!printed)
        return arena_printf(arena, "sequential: refused, %s", reason);
    for (uint32_t i = 0; i < PAIRS; i++) {
        struct question q = draw_question(&rng, threads, blocks);
        q.arena = arena;
        const char *differs = ask(arena, printed, s, count, &q);
        if (differs)
            return differs;
    }
    return NULL;
}
