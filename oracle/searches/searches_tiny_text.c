/*
 * searches_tiny_text.c - the smallest kernels that can have several ends: two to four threads with hardly more than one
 * statement each, of all kinds of statements alike. In a larger kernel whatever a search takes wrongly is found again
 * by another way - a race by another pair of accesses, an end by another order; here there is often just one.
 */
#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "oracle/searches/searches.h"

struct tiny {
    struct pcg rng;
    struct text out;
    uint32_t focus; /* the place that every other access is of */
    bool barriers;
};

static uint32_t below(struct tiny *t, uint32_t n)
{
    return pcg_below(&t->rng, n);
}

static const char *place(struct tiny *t)
{
    static const char *const places[] = {"x", "y", "z[0]", "z[1]", "z[a & 1]", "x", "y"};
    return places[below(t, 2) ? t->focus : below(t, sizeof places / sizeof *places)];
}

/* Of @ a place is made, of # a small number. */
static void put_template(struct tiny *t, const char *template)
{
    for (; *template; template ++) {
        if (*template == '@')
            text_put(&t->out, place(t));
        else if (*template == '#')
            text_format(&t->out, "%u", (unsigned)below(t, 3));
        else
            text_format(&t->out, "%c", *template);
    }
    text_put(&t->out, " ");
}

static const char *one_of(struct tiny *t, const char *const *among, uint32_t count)
{
    return among[below(t, count)];
}

#define ONE_OF(t, among) one_of(t, among, sizeof(among) / sizeof *(among))

static void put_deed(struct tiny *t)
{
    static const char *const accesses[] = {"@ = #;",     "a = @;",    "@ = a;",    "@ = @ + 1;",
                                           "a = @ + a;", "z[a] = #;", "a = z[a];", "@ = @;"};
    /* A place that is read here is, perhaps, read nowhere else in the statement. */
    static const char *const parts[] = {
        "a = b ? 1 : @;", "a = b ? @ : #;", "@ = a ? # : @;", "a = @ ? 1 : 2;",
        "a = a && @;",    "a = b || @;",    "@ = @ || a;",    "a = -@ + #;",
        "a = !(@ < #);",  "z[@ & 1] = a;",  "a = z[@ & 1];",  "a = (b == # ? a : z[@ & 1]);"};
    static const char *const atomics[] = {"atomic_add(@, 1);",
                                          "a = atomic_add(@, #);",
                                          "a = atomic_exch(@, #);",
                                          "atomic_exch(@, a + 1);",
                                          "a = atomic_cas(@, #, a + 1);",
                                          "atomic_max(@, #);",
                                          "a = atomic_or(@, 2);",
                                          "atomic_add(@, a);"};
    static const char *const own[] = {"a = a + 1;", "a = #;", "havoc(a);",      "f();",
                                      "exit;",      "g();",   "assert(a < 2);", "assert(@ != #);",
                                      "a = tid;",   "b = a;"};
    uint32_t kind = below(t, t->barriers ? 8 : 7);
    put_template(t, kind < 2   ? ONE_OF(t, accesses)
                    : kind < 3 ? ONE_OF(t, parts)
                    : kind < 5 ? ONE_OF(t, atomics)
                    : kind < 7 ? ONE_OF(t, own)
                               : "barrier();");
}

static void put_controlled(struct tiny *t)
{
    static const char *const heads[] = {"if (@ == #) {",
                                        "if (a == #) {",
                                        "while (@ == #) {",
                                        "while (a < #) { a = a + 1;",
                                        "if (b == a) {",
                                        "do { a = atomic_add(@, 0);",
                                        "while (@ == 0) { b = 1 - b;",
                                        "if (a == 0 ? b : @) {",
                                        "if (a || @) {"};
    const char *head = ONE_OF(t, heads);
    put_template(t, head);
    if (below(t, 2))
        put_deed(t);
    if (head[0] == 'd')
        put_template(t, "} while (a == #);");
    else if (head[0] == 'i' && below(t, 3) == 0) {
        text_put(&t->out, "} else { ");
        put_deed(t);
        text_put(&t->out, "} ");
    } else
        text_put(&t->out, "} ");
}

static void put_deeds(struct tiny *t, uint32_t count)
{
    for (; count > 0; count--) {
        if (below(t, 3) == 0)
            put_controlled(t);
        else
            put_deed(t);
    }
}

/* ---- structured ---- */

struct shape {
    uint32_t actors, threads, blocks, warp;
};

static void put_launch(struct tiny *t, const struct shape *shape)
{
    text_format(
        &t->out,
        "launch(threads = %u, warp = %u, blocks = %u); %s int x, y, z[2]; private int a, b; ",
        (unsigned)shape->threads, (unsigned)shape->warp, (unsigned)shape->blocks,
        shape->blocks > 1 || below(t, 2) ? "global" : "shared");
}

static void put_arms(struct tiny *t, const struct shape *shape, uint32_t most)
{
    for (uint32_t i = 0; i < shape->actors; i++) {
        if (i + 1 < shape->actors)
            text_format(&t->out, "if (bid * %u + tid == %u) ", (unsigned)shape->threads,
                        (unsigned)i);
        text_put(&t->out, "{ ");
        put_deeds(t, shape->actors > 2 ? below(t, 2) : below(t, most + 1));
        text_put(&t->out, i + 1 < shape->actors ? "} else " : "} ");
    }
}

/* Who comes first, or second, waits for another who is like it: whether that one has begun is all that tells. */
static void put_turn(struct tiny *t)
{
    static const char *const turns[] = {
        "a = atomic_add(x, 1); if (a == #) { @ = 1; } else { while (@ == 0) { } }",
        "a = atomic_add(x, 1); if (a == #) { while (@ == #) { } }",
        "a = atomic_exch(@, 1); if (a == #) { while (@ == #) { } } @ = #;",
        /* In whose loop threads that are alike change their order, which goes by a, then b. */
        "b = atomic_add(x, 1); if (b == 0) { while (y == 0) { a = 1 - a; } } else { y = #; }",
        "b = atomic_add(x, 1); while (b == # && y == 0) { a = 1 - a; } y = 1;",
        "b = atomic_exch(x, 1); while (y == 0) { a = b - a; } @ = #;"};
    put_template(t, ONE_OF(t, turns));
}

static void put_structured(struct tiny *t, const struct shape *shape, uint32_t most)
{
    put_launch(t, shape);
    if (below(t, 48) == 0) { /* nothing but ends */
        text_put(&t->out, "kernel k() { }");
        return;
    }
    text_put(&t->out, "void f() { if (a == 0) { return; } ");
    const bool barriers = t->barriers;
    t->barriers = false; /* functions with barriers are beyond ref_all.h */
    put_deed(t);
    t->barriers = barriers;
    text_put(&t->out, "} void g() { a = a + 1; } kernel k() { ");
    if (below(t, 4) == 0)
        put_deed(t);
    const uint32_t alike = below(t, 8);
    if (alike == 0)
        put_turn(t);
    else if (alike < 3)
        put_deeds(t, shape->actors > 2 ? 1 : 1 + below(t, most));
    else
        put_arms(t, shape, most);
    if (t->barriers && below(t, 2))
        text_put(&t->out, "barrier(); ");
    if (below(t, 4) == 0)
        put_deed(t);
    text_put(&t->out, "}");
}

/* ---- in block form ---- */

/* Guards are of what the thread has for itself, or of what others write: then its gotos choose by memory. */
static void put_block_deed(struct tiny *t)
{
    static const char *const deeds[] = {"@ = #;",
                                        "a = @;",
                                        "@ = a;",
                                        "@ = @ + 1;",
                                        "@ = # if (a);",
                                        "a = @ if (!a);",
                                        "z[a] = 1;",
                                        "a = z[a];",
                                        "atomic_add(@, 1);",
                                        "a = atomic_add(@, #);",
                                        "a = atomic_exch(@, #);",
                                        "atomic_add(@, 1) if (a);",
                                        "p(@, a);",
                                        "p(a, b);",
                                        "a = a + 1;",
                                        "havoc(a);",
                                        "assert(a < 2);",
                                        "assume(a < 2);",
                                        "pick(a, 1 : 1, 2 : b == 0);",
                                        "pick(a, 0 : @ == 0, 1 : 1);",
                                        "skip;",
                                        "a = b ? 1 : @;",
                                        "@ = a ? # : @;",
                                        "a = b && @;",
                                        "a = @ if (b || @);",
                                        "a = tid;"};
    put_template(t, t->barriers && below(t, 6) == 0 ? "barrier();" : ONE_OF(t, deeds));
}

static void put_blocks(struct tiny *t, const struct shape *shape)
{
    static const char *const guards[] = {"a == 0", "a",           "b",     "@ == 0",
                                         "@ == #", "(b ? 1 : @)", "a || @"};
    put_launch(t, shape);
    text_put(&t->out,
             "void p(int v, out int o) blocks { P: o = v + 1; return; } kernel k() blocks { "
             "Start: ");
    if (below(t, 4) == 0)
        put_block_deed(t);
    text_put(&t->out, "goto T0, T1; ");
    for (unsigned i = 0; i < 2; i++) {
        const char *guard = ONE_OF(t, guards);
        uint32_t ways = below(t, 4);
        text_format(&t->out, "T%u: assume(%s == %u); ", i, shape->blocks > 1 ? "bid" : "tid", i);
        put_block_deed(t);
        if (ways < 2) {
            if (ways)
                put_block_deed(t);
            text_put(&t->out, "goto End; ");
            continue;
        }
        text_format(&t->out, "goto L%u, M%u; L%u: assume(", i, i, i);
        put_template(t, guard);
        text_put(&t->out, "); ");
        put_block_deed(t);
        text_format(&t->out,
                    ways == 2 ? "goto End; M%u: assume(!(" : "goto L%u, M%u; M%u: assume(!(", i, i,
                    i);
        put_template(t, guard);
        text_put(&t->out, ")); goto End; ");
    }
    text_put(&t->out, "}");
}

const char *searches_tiny_text(struct arena *arena, enum subject_id subject, uint64_t number)
{
    static const uint32_t sizes[] = {2, 2, 2, 2, 3, 3, 4};
    struct tiny t = {.rng = pcg_derive(number, PCG_SCHEDULE, 81), .out = text_begin(arena)};
    bool of_blocks = subject == SUBJECT_INTERLEAVE;
    struct shape shape = {.actors = of_blocks ? 2 : sizes[below(&t, 7)]};
    shape.blocks = shape.actors % 2 == 0 && below(&t, 3) == 0 ? 2 : 1;
    shape.threads = shape.actors / shape.blocks;
    shape.warp = 1 + below(&t, shape.threads);
    t.focus = below(&t, 5);
    t.barriers = below(&t, 3) == 0;
    if (of_blocks && below(&t, 4))
        put_blocks(&t, &shape);
    else
        put_structured(&t, &shape, of_blocks ? 1 : 2);
    return t.out.bytes;
}
