/*
 * emitted_sequential.c - kernels whose accesses are known, printed as two threads in sequence and run as that text
 * says: of two threads and one element of each array an assert fails exactly if they race there, or come to barriers
 * apart. Some indices are outside: who has one does nothing more, and nobody who is at a barrier without him goes on.
 * Some statements stand in loops, whose trips are known as well: both threads make a trip together, as long as they do.
 * Half of the kernels are given as blocks, where who takes part is said by the statement's guard, by who comes to the
 * block, or by both.
 */
#include "engine/input/input.h"
#include "engine/reference/reference.h"
#include "engine/sequential/sequential.h"
#include "oracle/drawn/drawn.h"
#include "oracle/emitted/emitted.h"
#include "oracle/runs/s_run.h"

#include <stdio.h>
#include <string.h>

enum { STATEMENTS = 6, PAIRS = 8, PAIRS_OF_LOOPS = 2, LENGTH = 5, LOOPS = 2, TRIPS = 4 };

/* HAVOC writes; FETCH is an atomic whose result is written to the other array. Whose ASSERT or ASSUME fails ends. */
enum kind { READ, WRITE, ATOMIC, BARRIER, HAVOC, FETCH, ASSERT, ASSUME, KIND_COUNT };

/* Which element: `number`, that of the thread or of its block, the trip of the loop that it is in, where the thread is
 * in its launch, what a variable or an array begins with, what an input says - one of the grid, or one of the thread's
 * block; a word or an array -, what an element of an input says that is looked at under a condition only, or two bits
 * of an expression of the thread. */
enum own {
    OWN_NUMBER,
    OWN_THREAD,
    OWN_BLOCK,
    OWN_TRIP,
    OWN_PLACE,
    OWN_START,
    OWN_STARTS,
    OWN_GRID_INPUT,
    OWN_BLOCK_INPUT,
    OWN_GRID_WORD,
    OWN_BLOCK_WORD,
    OWN_UNDER,
    OWN_EXPRESSION,
    OWN_COUNT
};

/* A statement, of threads whose `tid`, `bid`, or trip is so, or of which what is looked at under a condition, or any
 * expression of the thread, is true. What is written may be looked at so, too. */
enum by { BY_THREAD, BY_BLOCK, BY_TRIP, BY_UNDER, BY_EXPRESSION, BY_NOTHING };
struct statement {
    enum kind kind;
    bool is_shared;
    enum by by;
    enum own own;
    uint32_t number, guard, expression;
    bool writes_under;
    uint32_t comes; /* this thread of a block alone comes there; LENGTH: all do */
    uint32_t ends;  /* of blocks: this thread's guard before it looks outside; LENGTH: nobody's */
};

/* Statements from .. to - 1 are its body, if there are any; it has `least` trips, and as many more as `by` says. */
struct loop {
    uint32_t from, to, least;
    enum by by;
};

enum { START = 2 }; /* what a private variable begins with */
static const uint32_t starts[] = {3, 1};

struct drawn_kernel {
    struct statement s[STATEMENTS];
    uint32_t count, threads, blocks, warp;
    bool of_blocks;
    struct loop loops[LOOPS]; /* the second one stands in the first one, or behind it */
};

/* What inputs hold: of the grid, of each block; the last element is the word's. */
enum { BLOCKS = 3, INPUTS = 2 };
struct inputs {
    uint32_t grid[INPUTS + 1], block[BLOCKS][INPUTS + 1];
};

struct thread {
    uint32_t tid, bid;
    uint32_t trip[LOOPS]; /* from 0 */
    const struct drawn_kernel *of;
};

static struct statement draw_statement(struct pcg *rng)
{
    struct statement s = {.kind = (enum kind)pcg_below(rng, KIND_COUNT)};
    s.is_shared = pcg_below(rng, 3) == 0;
    s.own = (enum own)pcg_below(rng, OWN_COUNT);
    s.number = pcg_below(rng, 2);
    if (s.own <= OWN_TRIP && pcg_below(rng, 12) == 0)
        s.number = LENGTH;
    s.by = (enum by)pcg_below(rng, BY_NOTHING);
    s.guard = pcg_below(rng, 2);
    if (pcg_below(rng, s.kind == BARRIER ? 6 : 3))
        s.by = BY_NOTHING;
    s.expression = pcg_next(rng);
    s.writes_under = pcg_below(rng, 4) == 0;
    s.comes = pcg_below(rng, s.kind == BARRIER ? 12 : 4) ? (uint32_t)LENGTH : pcg_below(rng, 3);
    s.ends = pcg_below(rng, 16) ? (uint32_t)LENGTH : pcg_below(rng, 3);
    return s;
}

static struct loop draw_loop(struct pcg *rng, uint32_t from, uint32_t to)
{
    struct loop l = {.from = from + pcg_below(rng, to - from + 1)};
    l.to = l.from + pcg_below(rng, to - l.from + 1);
    l.least = pcg_below(rng, 3);
    l.by = pcg_below(rng, 2) ? BY_NOTHING : (enum by)pcg_below(rng, BY_TRIP);
    return l;
}

static struct drawn_kernel draw_kernel(struct pcg *rng)
{
    struct drawn_kernel k = {.count = 1 + pcg_below(rng, STATEMENTS)};
    k.threads = 1 + pcg_below(rng, 3);
    k.blocks = 1 + pcg_below(rng, BLOCKS);
    k.warp = 1 + pcg_below(rng, 2);
    k.of_blocks = pcg_below(rng, 2);
    for (uint32_t i = 0; i < k.count; i++)
        k.s[i] = draw_statement(rng);
    const bool meet = pcg_below(rng, 2); /* half of the accesses are of the first one's element */
    for (uint32_t i = 1; i < k.count && meet; i++)
        if (pcg_below(rng, 2)) {
            k.s[i].is_shared = k.s[0].is_shared;
            k.s[i].own = k.s[0].own;
            k.s[i].number = k.s[0].number;
            k.s[i].expression = k.s[0].expression;
        }
    for (uint32_t i = 0; i < k.count && k.of_blocks; i++) /* some target must always do (WF.3) */
        k.s[i].kind = k.s[i].kind == ASSUME ? ASSERT : k.s[i].kind;
    if (pcg_below(rng, 2))
        return k;
    struct loop *l = k.loops;
    l[0] = draw_loop(rng, 0, k.count);
    const bool inside = pcg_below(rng, 2);
    l[1] = inside ? draw_loop(rng, l[0].from, l[0].to) : draw_loop(rng, l[0].to, k.count);
    return k;
}

/* ---- expressions ---- */

enum { PLACES = 7, OF_THREAD = 2 /* of the places: more often */ };

static uint32_t place_in_launch(struct thread t, uint32_t which, const char **name)
{
    static const char *const names[PLACES] = {"tid",       "bid",  "threads", "blocks",
                                              "warp_size", "lane", "warp"};
    const uint32_t is[PLACES] = {t.tid,
                                 t.bid,
                                 t.of->threads,
                                 t.of->blocks,
                                 t.of->warp,
                                 t.tid % t.of->warp,
                                 t.tid / t.of->warp};
    *name = names[which];
    return is[which];
}

static int32_t leaf(struct pcg *rng, struct thread t, struct text *text)
{
    const char *name;
    static const int32_t bounds[] = {0, 1, -1, 31, 32, INT32_MAX, INT32_MIN};
    const uint32_t kind = pcg_below(rng, 4), which = pcg_below(rng, PLACES + OF_THREAD);
    const int32_t any = (int32_t)pcg_next(rng), bound = bounds[pcg_below(rng, 7)];
    if (kind < 2) {
        const uint32_t is = place_in_launch(t, which % PLACES, &name);
        text_put(text, name);
        return (int32_t)is;
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
    const uint32_t shift = pcg_below(&rng, 2) ? 0 : pcg_below(&rng, 31);
    const int32_t value = expression(&rng, pcg_below(&rng, 3), t, &own);
    *text = arena_printf(arena, "%s >> %u & 3", own.bytes, (unsigned)shift);
    return (uint32_t)(value >> shift) & 3;
}

/* Any condition of the thread. */
static bool drawn_condition(struct arena *arena, const struct statement *s, struct thread t,
                            const char **text)
{
    struct pcg rng = pcg_derive(s->expression + 1, PCG_KERNEL, DRAWN_SEQUENTIALS);
    struct text own = text_begin(arena);
    const int32_t value = expression(&rng, pcg_below(&rng, 3), t, &own);
    *text = own.bytes;
    return value != 0;
}

/* h[at] is looked at by some threads; it is outside now and then. */
static uint32_t element_under(struct arena *arena, const struct statement *s, struct thread t,
                              const struct inputs *in, const char **text)
{
    const uint32_t bits = s->expression, form = bits % 4, tid = bits / 4 % 3,
                   at = bits / 16 % 4 ? s->number % INPUTS : INPUTS;
    const bool is = t.tid == tid, looks = form >= 2 ? !is : is;
    const uint32_t h = in->grid[at % INPUTS];
    *text = form == 0   ? arena_printf(arena, "tid == %u ? h[%u] : 1", tid, at)
            : form == 1 ? arena_printf(arena, "tid == %u && h[%u] == 1", tid, at)
            : form == 2 ? arena_printf(arena, "tid == %u || h[%u] == 1", tid, at)
                        : arena_printf(arena, "tid == %u ? 1 : h[%u]", tid, at);
    if (looks)
        return at == INPUTS ? LENGTH : form % 3 == 0 ? h : h == 1;
    return form != 1;
}

/* ---- statements ---- */

/* The innermost loop around statement i; LOOPS: none. */
static uint32_t loop_of(const struct drawn_kernel *k, uint32_t i)
{
    for (uint32_t l = LOOPS; l-- > 0;)
        if (i >= k->loops[l].from && i < k->loops[l].to)
            return l;
    return LOOPS;
}

/* Who takes part is said within the expression. */
static const char *write_choice(struct arena *arena, const struct statement *s, const char *who,
                                const char *place)
{
    return s->expression & 2   ? arena_printf(arena, "a = %s == %u ? %s : 0;", who, s->guard, place)
           : s->expression & 4 ? arena_printf(arena, "a = %s == %u && %s;", who, s->guard, place)
           : s->expression & 8
               ? arena_printf(arena, "a = %s != %u || %s;", who, s->guard, place)
               : arena_printf(arena, "a = %s != %u ? 0 : %s;", who, s->guard, place);
}

/* *who: the condition under which threads take part; NULL: all do. */
static const char *write_statement(struct arena *arena, const struct drawn_kernel *k, uint32_t i,
                                   const char **who)
{
    static const char *const own[OWN_COUNT] = {"",   "tid + ", "bid + ", "",     "", "b + ", "c[",
                                               "h[", "q[",     "n + ",   "m + ", "", ""};
    static const char *const trips[LOOPS + 1] = {"i", "j", "0"}, *const by[] = {"tid", "bid"};
    const struct statement *s = &k->s[i];
    const char *trip = trips[loop_of(k, i)];
    const struct thread any = {.of = k};
    const bool of_array =
        s->own == OWN_GRID_INPUT || s->own == OWN_BLOCK_INPUT || s->own == OWN_STARTS;
    const char *index = arena_printf(arena, "%s%u%s", own[s->own], s->number, of_array ? "]" : "");
    if (s->own == OWN_TRIP)
        index = arena_printf(arena, "%s + %u", trip, s->number);
    if (s->own == OWN_EXPRESSION)
        (void)drawn_element(arena, s, any, &index);
    const char *under, *name;
    (void)element_under(arena, s, any, &(struct inputs){0}, &under);
    if (s->own == OWN_UNDER)
        index = under;
    if (s->own == OWN_PLACE) {
        (void)place_in_launch(any, s->expression % PLACES, &name);
        index = arena_printf(arena, "%s + %u", name, s->number);
    }
    const char *place = arena_printf(arena, "%s[%s]", s->is_shared ? "s" : "g", index);
    const char *const texts[KIND_COUNT] = {
        [READ] = arena_printf(arena, "a = %s;", place),
        [WRITE] = arena_printf(arena, "%s = %s;", place, s->writes_under ? under : "1"),
        [ATOMIC] = arena_printf(arena, "atomic_add(%s, %s);", place, s->writes_under ? under : "1"),
        [BARRIER] = "barrier();",
        [HAVOC] = arena_printf(arena, "havoc(%s);", place),
        [ASSERT] = arena_printf(arena, "assert(%s);", under),
        [ASSUME] = arena_printf(arena, "assume(%s);", under),
        [FETCH] = arena_printf(arena, "%s[tid] = atomic_or(%s, %s);", s->is_shared ? "g" : "s",
                               place, s->writes_under ? under : "2")};
    *who = NULL;
    if (s->by == BY_NOTHING)
        return texts[s->kind];
    if (s->by == BY_EXPRESSION) {
        (void)drawn_condition(arena, s, any, who);
        return texts[s->kind];
    }
    if (s->kind == READ && s->by != BY_UNDER && s->expression & 1)
        return write_choice(arena, s, s->by == BY_TRIP ? trip : by[s->by], place);
    *who = s->by == BY_UNDER
               ? under
               : arena_printf(arena, "%s == %u", s->by == BY_TRIP ? trip : by[s->by], s->guard);
    return texts[s->kind];
}

/* `condition` decides who comes to what stands between this and `leave`. */
static void enter(struct text *out, uint32_t label, const char *condition)
{
    text_format(out, " d = %s; goto T%u, F%u; T%u: assume(d);", condition, label, label, label);
}

static void leave(struct text *out, uint32_t label)
{
    text_format(out, " goto N%u; F%u: assume(!d); goto N%u; N%u:", label, label, label, label);
}

/* Of a block's statements those with a value to write, and barriers, take guards. */
static void write_in_block(struct arena *arena, const struct drawn_kernel *k, uint32_t i,
                           struct text *out)
{
    const struct statement *s = &k->s[i];
    const char *who, *text = write_statement(arena, k, i, &who),
                     *comes = s->comes < LENGTH ? arena_printf(arena, "tid == %u", s->comes) : NULL;
    if (who && s->kind == ASSERT) {
        comes = comes ? arena_printf(arena, "%s && (%s)", comes, who) : who;
        who = NULL;
    }
    if (s->expression >> 8 & 1) /* two ways to the same place */
        text_format(out, " goto C%u, D%u; C%u: goto E%u; D%u: goto E%u; E%u:", i, i, i, i, i, i, i);
    if (s->ends < LENGTH)
        text_format(out, " d = tid == %u ? 2 : 1; goto G%u; G%u: assume(o[d] || !o[d]);", s->ends,
                    i, i);
    if (comes)
        enter(out, i, comes);
    text_format(out, " %.*s", (int)strlen(text) - 1, text);
    if (who)
        text_format(out, " if (%s)", who);
    text_put(out, ";");
    if (comes)
        leave(out, i);
}

static void write_structured(struct arena *arena, const struct drawn_kernel *k, uint32_t i,
                             struct text *out)
{
    const struct statement *s = &k->s[i];
    const char *who, *text = write_statement(arena, k, i, &who);
    if (s->comes < LENGTH)
        text_format(out, " if (tid == %u) {", s->comes);
    text_format(out, who ? " if (%s) { %s }" : "%s %s", who ? who : "", text);
    text_put(out, s->comes < LENGTH ? " }" : "");
}

static void begin_loop(const struct drawn_kernel *k, uint32_t l, const char *counter,
                       struct text *out)
{
    static const char *const more[] = {[BY_THREAD] = "tid", [BY_BLOCK] = "bid", [BY_NOTHING] = "0"};
    const struct loop *loop = &k->loops[l];
    const char *condition =
        arena_printf(out->arena, "%s < %u + %s", counter, loop->least, more[loop->by]);
    if (k->of_blocks)
        text_format(out, " %s = 0; goto H%u; H%u: d = %s; goto B%u, X%u; B%u: assume(d);", counter,
                    l, l, condition, l, l, l);
    else
        text_format(out, " %s = 0; while (%s) {", counter, condition);
}

static void end_loop(const struct drawn_kernel *k, uint32_t l, const char *counter,
                     struct text *out)
{
    text_format(out, " %s = %s + 1;", counter, counter);
    if (k->of_blocks)
        text_format(out, " goto H%u; X%u: assume(!d);", l, l);
    else
        text_put(out, " }");
}

/* Loops are begun and ended around their statements. */
static void write_body(struct arena *arena, const struct drawn_kernel *k, struct text *out)
{
    static const char *const counters[LOOPS] = {"i", "j"};
    for (uint32_t i = 0; i < k->count; i++) {
        for (uint32_t l = 0; l < LOOPS; l++)
            if (k->loops[l].from == i && k->loops[l].to > i)
                begin_loop(k, l, counters[l], out);
        if (k->of_blocks)
            write_in_block(arena, k, i, out);
        else
            write_structured(arena, k, i, out);
        for (uint32_t l = LOOPS; l-- > 0;)
            if (k->loops[l].to == i + 1 && k->loops[l].from <= i)
                end_loop(k, l, counters[l], out);
    }
}

static bool makes_access(enum kind kind)
{
    return kind != BARRIER && kind != ASSERT && kind != ASSUME;
}

static bool makes_trip(const struct loop *l, struct thread t, uint32_t trip)
{
    return trip < l->least + (l->by == BY_THREAD ? t.tid : l->by == BY_BLOCK ? t.bid : 0);
}

static uint32_t trip_at(const struct drawn_kernel *k, uint32_t i, struct thread t)
{
    const uint32_t l = loop_of(k, i);
    return l < LOOPS ? t.trip[l] : 0;
}

static bool looks_outside(const struct statement *s, struct thread t)
{
    return t.of->of_blocks && s->ends == t.tid;
}

/* Who is outside when that is looked at takes part, and ends there. */
static bool takes_part(struct arena *arena, uint32_t i, struct thread t, const struct inputs *in)
{
    const struct statement *s = &t.of->s[i];
    const char *text;
    const uint32_t under = element_under(arena, s, t, in, &text);
    const uint32_t is[] = {t.tid,
                           t.bid,
                           trip_at(t.of, i, t),
                           under ? s->guard : !s->guard,
                           drawn_condition(arena, s, t, &text) ? s->guard : !s->guard,
                           s->guard};
    for (uint32_t l = 0; l < LOOPS; l++)
        if (i >= t.of->loops[l].from && i < t.of->loops[l].to &&
            !makes_trip(&t.of->loops[l], t, t.trip[l]))
            return false;
    return looks_outside(s, t) ||
           ((s->comes == LENGTH || s->comes == t.tid) && is[s->by] == s->guard);
}

/* Whether the thread ends before it accesses anything: by looking whether it takes part, or at what it writes; or what
 * it claims is not so. */
static bool ends_before(struct arena *arena, uint32_t i, struct thread t, const struct inputs *in)
{
    const struct statement *s = &t.of->s[i];
    const char *text;
    const uint32_t under = element_under(arena, s, t, in, &text);
    const bool claims = s->kind == ASSERT || s->kind == ASSUME,
               gives = s->kind == WRITE || s->kind == ATOMIC || s->kind == FETCH,
               looks = claims || s->by == BY_UNDER || (gives && s->writes_under);
    return looks_outside(s, t) || (looks && under == LENGTH) || (claims && under == 0);
}

static uint32_t element_of(struct arena *arena, uint32_t i, struct thread t,
                           const struct inputs *in)
{
    const struct statement *s = &t.of->s[i];
    const char *text;
    switch (s->own) {
    case OWN_THREAD:
        return t.tid + s->number;
    case OWN_BLOCK:
        return t.bid + s->number;
    case OWN_TRIP:
        return trip_at(t.of, i, t) + s->number;
    case OWN_PLACE:
        return place_in_launch(t, s->expression % PLACES, &text) + s->number;
    case OWN_START:
        return START + s->number;
    case OWN_STARTS:
        return starts[s->number];
    case OWN_GRID_INPUT:
        return in->grid[s->number];
    case OWN_BLOCK_INPUT:
        return in->block[t.bid][s->number];
    case OWN_GRID_WORD:
        return in->grid[INPUTS] + s->number;
    case OWN_BLOCK_WORD:
        return in->block[t.bid][INPUTS] + s->number;
    case OWN_UNDER:
        return element_under(arena, s, t, in, &text);
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
};

/* What the two threads do, one after the other: an access or a barrier of each that takes part. */
struct deed {
    enum kind kind;
    bool is_shared, takes[2];
    uint32_t element[2];
};

enum { DEEDS = 2 * STATEMENTS * TRIPS * TRIPS };
struct deeds {
    struct deed all[DEEDS];
    uint32_t count;
};

static void add_deed(struct deeds *d, struct arena *arena, const struct question *q,
                     const struct thread both[2], uint32_t i)
{
    const struct statement *s = &both[0].of->s[i];
    struct deed *deed = &d->all[d->count++];
    *deed = (struct deed){.is_shared = s->is_shared};
    deed->kind = s->kind == FETCH ? ATOMIC : s->kind == HAVOC ? WRITE : s->kind;
    for (uint32_t k = 0; k < 2; k++) {
        deed->takes[k] = takes_part(arena, i, both[k], &q->in);
        if (makes_access(s->kind))
            deed->element[k] = element_of(arena, i, both[k], &q->in);
        if (ends_before(arena, i, both[k], &q->in))
            deed->element[k] = LENGTH;
    }
    if (s->kind != FETCH)
        return;
    struct deed *result = &d->all[d->count++];
    *result = (struct deed){.kind = WRITE, .is_shared = !s->is_shared};
    for (uint32_t k = 0; k < 2; k++) {
        result->takes[k] = deed->takes[k];
        result->element[k] = both[k].tid;
    }
}

/* Statements from .. to - 1, with the loops from number `loop` on, which are not entered yet. */
static void unroll(struct deeds *d, struct arena *arena, const struct question *q,
                   struct thread both[2], uint32_t from, uint32_t to, uint32_t loop)
{
    for (uint32_t i = from; i < to;) {
        uint32_t l = loop;
        while (l < LOOPS && !(both[0].of->loops[l].from == i && both[0].of->loops[l].to > i))
            l++;
        if (l == LOOPS) {
            add_deed(d, arena, q, both, i++);
            continue;
        }
        for (uint32_t trip = 0; trip < TRIPS; trip++) {
            both[0].trip[l] = both[1].trip[l] = trip;
            if (makes_trip(&both[0].of->loops[l], both[0], trip) ||
                makes_trip(&both[0].of->loops[l], both[1], trip))
                unroll(d, arena, q, both, i, both[0].of->loops[l].to, l + 1);
        }
        i = both[0].of->loops[l].to;
    }
}

/* The two accesses race, of one element of each array. */
static bool conflict(const struct deed *one, const struct deed *other, const struct question *q)
{
    bool atomics = one->kind == ATOMIC && other->kind == ATOMIC;
    bool reads = one->kind == READ && other->kind == READ;
    const uint32_t element = q->elements[one->is_shared];
    return one->is_shared == other->is_shared && !atomics && !reads &&
           (!one->is_shared || q->a.bid == q->b.bid) && one->takes[0] && other->takes[1] &&
           one->element[0] == element && other->element[1] == element;
}

/* The first deed in which the thread is outside of an array; `count`: none. */
static uint32_t dies_in(const struct deeds *d, uint32_t thread)
{
    uint32_t j = 0;
    while (j < d->count && (!d->all[j].takes[thread] || d->all[j].element[thread] < LENGTH))
        j++;
    return j;
}

/* An assert fails of a barrier that one alone of two threads of a block comes to; or of an access of the first, and one
 * of the second with it or behind it, with no barrier of both between. Where one is at a barrier and the other has died
 * the text has no execution; a barrier is at its end, too. */
static enum s_end ends(const struct deeds *d, const struct question *q)
{
    const struct deed *s = d->all;
    const uint32_t a_dies = dies_in(d, 0), b_dies = dies_in(d, 1);
    const bool one_block = q->a.bid == q->b.bid;
    uint32_t from = 0;
    for (uint32_t j = 0; j < d->count; j++) {
        const bool meets_a = s[j].takes[0] && j < a_dies, meets_b = s[j].takes[1] && j < b_dies;
        const bool barrier = s[j].kind == BARRIER && one_block;
        if (barrier && meets_a != meets_b)
            return j < a_dies && j < b_dies ? S_FAILS : S_IMPOSSIBLE;
        if (barrier && meets_a)
            from = j + 1;
        for (uint32_t i = from; i <= j && i < a_dies && j < b_dies && makes_access(s[j].kind); i++)
            if (makes_access(s[i].kind) && conflict(&s[i], &s[j], q))
                return S_FAILS;
    }
    return one_block && (a_dies < d->count) != (b_dies < d->count) ? S_IMPOSSIBLE : S_PASSES;
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
    for (uint32_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        s_set_element(r, "c$1", i, (int32_t)starts[i]);
        s_set_element(r, "c$2", i, (int32_t)starts[i]);
    }
    return s_run(r, text);
}

static struct thread draw_thread(struct pcg *rng, const struct drawn_kernel *k)
{
    uint32_t tid = pcg_below(rng, k->threads), bid = pcg_below(rng, k->blocks);
    return (struct thread){.tid = tid, .bid = bid, .of = k};
}

static void draw_inputs(struct pcg *rng, uint32_t in[INPUTS + 1])
{
    for (uint32_t i = 0; i < INPUTS + 1; i++)
        in[i] = pcg_below(rng, LENGTH - 1);
}

static struct question draw_question(struct pcg *rng, const struct drawn_kernel *k)
{
    struct question q = {.a = draw_thread(rng, k)};
    q.b = draw_thread(rng, k);
    q.elements[0] = pcg_below(rng, LENGTH - 1);
    q.elements[1] = pcg_below(rng, LENGTH - 1);
    draw_inputs(rng, q.in.grid);
    for (uint32_t b = 0; b < BLOCKS; b++)
        draw_inputs(rng, q.in.block[b]);
    return q;
}

/* Mostly an element that both access, the first one no later than the second one, or else that somebody does. */
static void aim(struct question *q, const struct deeds *d, struct pcg *rng)
{
    uint32_t found = 0;
    for (uint32_t j = 0; j < d->count; j++)
        for (uint32_t i = 0; i <= j; i++) {
            const struct deed *a = &d->all[i], *b = &d->all[j];
            if (makes_access(a->kind) && makes_access(b->kind) && a->is_shared == b->is_shared &&
                a->takes[0] && b->takes[1] && a->element[0] == b->element[1] &&
                a->element[0] < LENGTH && pcg_below(rng, ++found) == 0)
                q->elements[a->is_shared] = a->element[0];
        }
    const struct deed *deed = &d->all[pcg_below(rng, d->count + 1)];
    if ((found == 0 || pcg_below(rng, 4) == 0) && deed < d->all + d->count &&
        makes_access(deed->kind) && deed->element[0] < LENGTH)
        q->elements[deed->is_shared] = deed->element[pcg_below(rng, 2)] % LENGTH;
}

static const char *ask(struct arena *arena, const char *printed, struct question *q,
                       struct pcg *rng)
{
    struct thread both[2] = {q->a, q->b};
    struct deeds *d = ARENA_NEW(arena, struct deeds);
    unroll(d, arena, q, both, 0, q->a.of->count, 0);
    aim(q, d, rng);
    /* Beside nobody a thread is alone; else two are not one. */
    const bool is_alone = q->a.of->threads * q->a.of->blocks == 1,
               is_one = q->a.tid == q->b.tid && q->a.bid == q->b.bid;
    const enum s_end is = is_alone ? S_PASSES
                          : is_one ? S_IMPOSSIBLE
                                   : ends(d, q),
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
    const struct drawn_kernel k = draw_kernel(&rng);
    struct text out = text_begin(arena);
    const char *reason, *own = pcg_below(&rng, 2) ? " private int i, j;" : "";
    text_format(&out,
                "launch(threads = %u, warp = %u, blocks = %u); global int g[%d]; shared int s[%d]; "
                "global input int h[%d]; shared input int q[%d]; global input int n; "
                "shared input int m; global int c[%zu] = {%u, %u}; "
                "private int a, d, i, j, b = %d, o[2]; kernel k() %s{%s%s",
                k.threads, k.warp, k.blocks, LENGTH, LENGTH, INPUTS, INPUTS,
                sizeof starts / sizeof *starts, starts[0], starts[1], START,
                k.of_blocks ? "blocks " : "", own, k.of_blocks ? " Start:" : "");
    write_body(arena, &k, &out);
    text_put(&out, k.of_blocks ? " goto End; }" : " }");
    *text = out.bytes;
    enum sequential_style style = pcg_below(&rng, 2) ? SEQUENTIAL_TUTORIAL : SEQUENTIAL_BOOGIE;
    const char *printed =
        sequential_print(arena, forms_new(arena, parse_printed(arena, out.bytes)), style, &reason);
    if (!printed)
        return arena_printf(arena, "sequential: refused, %s", reason);
    for (uint32_t i = k.loops[0].to > 0 ? PAIRS_OF_LOOPS : PAIRS; i > 0; i--) {
        struct question q = draw_question(&rng, &k);
        const char *differs = ask(arena, printed, &q, &rng);
        if (differs)
            return differs;
    }
    return NULL;
}
