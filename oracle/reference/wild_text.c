/*
 * wild_text.c - small kernels over the whole grammar of the kernel language, in its three forms.
 *
 * What they compute means nothing. What a kernel may do wrong - leave an array, fail, go too deep, meet nobody - is
 * drawn seldom, so that most go on for some steps; loops count, but for some.
 */
#include "oracle/reference/wild.h"

#include "engine/base/pcg.h"
#include "engine/base/text.h"

enum { MOST_DEPTH = 3, NESTED = 3, BLOCKS = 6, COUNTERS = 3 };

/* Names that are visible in the kernel's body, and in a function's. */
static const char *const scalars[2][10] = {{"x", "y", "a", "b", "l", "a", "b", "l", "i0", "i1"},
                                           {"x", "y", "a", "p", "q", "r", "p", "r", "b", "q"}};
enum { SCALARS = 10, PRIVATE_FROM = 2 };

struct drawing {
    struct pcg rng;
    struct text out;
    enum ast_form form;
    uint32_t threads, warp;
    bool has_votes, has_named, has_barriers, has_functions, has_choices, is_rough, is_of_barriers;
    bool in_function, reduces;
    bool gives_two;  /* procedures do */
    bool is_crowded; /* numbers of variables and functions go beyond a word of bits */
    bool in_loop, breakable;
    uint32_t counters; /* of loops around */
    uint32_t left;     /* statements */
    uint32_t local;    /* elements of the function's array z; 0: it has none */
    uint32_t many;     /* elements of each thread's array w; 0: there is none */
};

static uint32_t below(struct drawing *d, uint32_t n)
{
    return pcg_below(&d->rng, n);
}

static bool once_in(struct drawing *d, uint32_t n)
{
    return below(d, n) == 0;
}

static void put(struct drawing *d, const char *piece)
{
    text_put(&d->out, piece);
}

/* ---- expressions ---- */

static void expression(struct drawing *d, uint32_t depth);

static void number(struct drawing *d)
{
    static const char *const bounds[] = {"-1", "31", "32",         "33",
                                         "7",  "-2", "2147483647", "(-2147483647 - 1)"};
    if (once_in(d, 6))
        put(d, bounds[below(d, 8)]);
    else
        text_format(&d->out, "%u", (unsigned)below(d, 4));
}

static const char *scalar(struct drawing *d, bool is_private)
{
    uint32_t from = is_private ? PRIVATE_FROM : 0;
    /* Of loops the counters are read, and seldom written. */
    uint32_t to = d->in_function ? SCALARS : SCALARS - 2;
    return scalars[d->in_function][from + below(d, to - from)];
}

/* Within the array, of so many elements, as a rule. */
static void index_of(struct drawing *d, uint32_t length)
{
    put(d, "[");
    uint32_t kind = below(d, d->is_rough ? 8 : 40);
    if (kind == 0) {
        expression(d, 1);
    } else if (kind % 2) {
        text_format(&d->out, "%u", (unsigned)(once_in(d, 3) ? length - 1 : below(d, length)));
    } else {
        put(d, "(");
        expression(d, 1);
        text_format(&d->out, ") & %u", (unsigned)(length - 1));
    }
    put(d, "]");
}

static void element(struct drawing *d)
{
    static const char *const arrays[] = {"g", "s", "c", "z", "z"};
    uint32_t which = below(d, d->local ? 5 : 3);
    const bool is_many = d->many && which == 2 && once_in(d, 2);
    put(d, is_many ? "w" : arrays[which]);
    index_of(d, is_many ? d->many : which > 2 ? d->local : which == 2 ? 2 : 4);
}

static void place(struct drawing *d)
{
    if (once_in(d, 3))
        element(d);
    else
        put(d, scalar(d, false));
}

static void leaf(struct drawing *d)
{
    static const char *const builtins[] = {"tid",  "tid",       "tid", "lane",  "threads",
                                           "warp", "warp_size", "bid", "blocks"};
    uint32_t kind = below(d, 9);
    if (kind < 2)
        number(d);
    else if (kind < 4)
        put(d, builtins[below(d, 9)]);
    else if (kind < 8)
        put(d, !d->in_function && once_in(d, 6) ? "i0" : scalar(d, false));
    else
        element(d);
}

static void binary(struct drawing *d, uint32_t depth)
{
    static const char *const operators[] = {"*", "/",  "%",  "+",  "-", "<<", ">>", "<",  "<=",
                                            ">", ">=", "==", "!=", "&", "^",  "|",  "&&", "||"};
    const char *op = operators[below(d, 18)];
    put(d, "(");
    expression(d, depth - 1);
    text_format(&d->out, " %s ", op);
    expression(d, depth - 1);
    put(d, ")");
}

static void expression(struct drawing *d, uint32_t depth)
{
    static const char *const unary[] = {"-", "!", "~"};
    uint32_t kind = depth == 0 ? 0 : below(d, d->form == FORM_LOCKSTEP && !d->reduces ? 10 : 8);
    if (kind < 3) {
        leaf(d);
    } else if (kind == 3) {
        text_format(&d->out, "%s(", unary[below(d, 3)]);
        expression(d, depth - 1);
        put(d, ")");
    } else if (kind == 4) {
        put(d, "(");
        expression(d, depth - 1);
        put(d, " ? ");
        expression(d, depth - 1);
        put(d, " : ");
        expression(d, depth - 1);
        put(d, ")");
    } else if (kind < 8) {
        binary(d, depth);
    } else {
        put(d, kind == 8 ? "all(" : "any(");
        d->reduces = true;
        expression(d, depth - 1);
        d->reduces = false;
        put(d, ")");
    }
}

static void any_expression(struct drawing *d)
{
    expression(d, below(d, MOST_DEPTH));
}

/* What tells some threads, or rounds, from others. */
static void condition(struct drawing *d)
{
    switch (below(d, 6)) {
    case 0:
        text_format(&d->out, "tid < %u", (unsigned)below(d, d->threads + 1));
        break;
    case 1:
        text_format(&d->out, "tid & %u", (unsigned)(1 + below(d, 3)));
        break;
    case 2:
        text_format(&d->out, "tid == %u", (unsigned)below(d, d->threads));
        break;
    default:
        any_expression(d);
        break;
    }
}

/* What holds, as a rule. */
static void claim(struct drawing *d)
{
    if (once_in(d, d->is_rough ? 3 : 12)) {
        condition(d);
        return;
    }
    put(d, "(");
    any_expression(d);
    put(d, once_in(d, 2) ? ") != 77" : ") < 100000");
}

/* ---- statements of all forms ---- */

static void guard(struct drawing *d)
{
    if (d->form == FORM_STRUCTURED || !once_in(d, 2))
        return;
    put(d, " if (");
    condition(d);
    put(d, ")");
}

static void assignment(struct drawing *d)
{
    static const char *const operators[] = {"+=", "-=", "*=", "^=", "|=", "&="};
    uint32_t kind = below(d, 8);
    place(d);
    if (kind == 0) {
        put(d, once_in(d, 2) ? "++" : "--");
        return;
    }
    text_format(&d->out, " %s ", kind < 3 ? operators[below(d, 6)] : "=");
    any_expression(d);
    if (kind >= 3)
        guard(d);
}

static void atomic(struct drawing *d)
{
    static const char *const names[] = {"add", "min", "max", "and", "or", "exch", "cas"};
    uint32_t op = below(d, 7);
    if (!once_in(d, 3)) { /* it goes into a variable, and seldom elsewhere */
        if (once_in(d, 24))
            place(d);
        else
            put(d, scalar(d, true));
        put(d, " = ");
    }
    text_format(&d->out, "atomic_%s(", names[op]);
    place(d);
    put(d, ", ");
    any_expression(d);
    if (op == 6) {
        put(d, ", ");
        any_expression(d);
    }
    put(d, ")");
    guard(d);
}

static void vote(struct drawing *d)
{
    static const char *const names[] = {"all", "any", "uni", "ballot"};
    place(d);
    text_format(&d->out, " = vote_%s(", names[below(d, 4)]);
    condition(d);
    put(d, ")");
}

static void pick(struct drawing *d)
{
    uint32_t count = 1 + below(d, 3);
    text_format(&d->out, "pick(%s", scalar(d, true));
    for (uint32_t i = 0; i < count; i++) {
        text_format(&d->out, ", %u : ", (unsigned)below(d, 4));
        condition(d);
    }
    put(d, ")");
    guard(d);
}

/* So many threads: all of the block, or of some warps. */
static void named(struct drawing *d)
{
    const uint32_t warps = (d->threads + d->warp - 1) / d->warp, number = below(d, 2);
    const bool arrives = once_in(d, 3);
    const uint32_t of = once_in(d, 3) ? 1 + below(d, warps) : warps;
    text_format(&d->out, "%s(%u, %u)", arrives ? "arrive" : "sync", (unsigned)number,
                (unsigned)(d->warp * of));
}

static void call(struct drawing *d)
{
    bool gives = once_in(d, 2);
    if (d->form == FORM_STRUCTURED && gives)
        text_format(&d->out, "%s = ", scalar(d, true));
    put(d, gives ? "f(" : "h(");
    any_expression(d);
    if (gives && d->gives_two) {
        put(d, d->in_function ? ", r, q" : once_in(d, 2) ? ", l, a" : ", a, l");
    } else if (gives) {
        put(d, ", ");
        any_expression(d);
        if (d->form != FORM_STRUCTURED)
            text_format(&d->out, ", %s", d->in_function ? "q" : once_in(d, 2) ? "l" : "a");
    }
    put(d, ")");
}

/* Threads, or warps, that come to one barrier by several ways: by calls, or in other trips of a loop around. */
static void barrier_by_ways(struct drawing *d)
{
    static const char *const sides[] = {"tid", "tid", "warp", "(tid / warp_size)"};
    const char *side = sides[below(d, 4)];
    if (d->has_functions && (d->counters == 0 || once_in(d, 2)))
        text_format(&d->out, "if (%s & 1) { h(1); } else { h(%u); } ", side, (unsigned)below(d, 4));
    else if (d->counters > 0)
        text_format(&d->out, "if ((%s + i%u) & 1) { barrier(); } ", side,
                    (unsigned)below(d, d->counters));
    else
        put(d, "barrier(); ");
}

/* One that parts have: `x = e`, without a semicolon. */
static void simple(struct drawing *d)
{
    switch (below(d, d->is_of_barriers ? 8 : 16)) {
    case 0:
        if (d->has_barriers && d->form == FORM_LOCKSTEP) {
            uint32_t kind = below(d, 4);
            put(d, kind == 0 ? "sync(any(" : kind == 1 ? "sync((" : "sync(all(");
            d->reduces = kind != 1;
            claim(d);
            d->reduces = false;
            put(d, "))");
        } else if (d->has_barriers) {
            put(d, "barrier()");
            guard(d);
        } else {
            put(d, "membar()");
        }
        break;
    case 1:
    case 2:
        atomic(d);
        break;
    case 3:
        if (!d->has_choices) {
            assignment(d);
            break;
        }
        put(d, "havoc(");
        place(d);
        put(d, ")");
        guard(d);
        break;
    case 4:
        if (d->has_votes && d->form == FORM_STRUCTURED)
            vote(d);
        else if (d->has_named && d->form == FORM_STRUCTURED)
            named(d);
        else if (d->form != FORM_STRUCTURED)
            pick(d);
        else
            assignment(d);
        break;
    case 5:
        put(d, d->has_choices && once_in(d, 2) ? "assume(" : "assert(");
        claim(d);
        put(d, ")");
        break;
    case 6:
    case 7:
        if (d->has_functions && (!d->in_function || once_in(d, 4)))
            call(d);
        else
            assignment(d);
        break;
    case 8:
        if (d->form != FORM_STRUCTURED)
            put(d, once_in(d, 2) ? "skip" : "membar()");
        else
            assignment(d);
        break;
    default:
        assignment(d);
        break;
    }
}

/* ---- structured ---- */

static void statement(struct drawing *d, uint32_t nested);

static void list(struct drawing *d, uint32_t most, uint32_t nested)
{
    put(d, "{ ");
    for (uint32_t i = below(d, most + 1); i > 0; i--)
        statement(d, nested);
    put(d, "} ");
}

static void loop(struct drawing *d, uint32_t nested)
{
    bool in_loop = d->in_loop, breakable = d->breakable, counts = !d->in_function;
    const char *i = d->counters == 0 ? "i0" : d->counters == 1 ? "i1" : "i2";
    uint32_t rounds = 1 + below(d, 3), kind = counts && d->counters < COUNTERS ? below(d, 7) : 6;
    d->in_loop = d->breakable = true;
    d->counters += counts;
    if (kind < 2) {
        text_format(&d->out, "for (%s = 0; %s < %u", i, i, (unsigned)rounds);
        if (kind == 1) {
            put(d, " && ");
            condition(d);
        }
        text_format(&d->out, "; %s++) ", i);
        list(d, 3, nested);
    } else if (kind < 4) {
        text_format(&d->out, "%s = 0; while (%s < %u + (tid & %u)) { %s++; ", i, i,
                    (unsigned)rounds, (unsigned)below(d, 2), i);
        list(d, 3, nested);
        put(d, "} ");
    } else if (kind < 6) {
        text_format(&d->out, "%s = 0; do { %s++; ", i, i);
        list(d, 3, nested);
        text_format(&d->out, "} while (%s < %u", i, (unsigned)rounds);
        if (kind == 5) {
            put(d, " && ");
            condition(d);
        }
        put(d, "); ");
    } else {
        put(d, "while (");
        condition(d);
        put(d, ") ");
        list(d, 3, nested);
    }
    d->counters -= counts;
    d->in_loop = in_loop;
    d->breakable = breakable;
}

static void choose(struct drawing *d, uint32_t nested)
{
    bool breakable = d->breakable;
    put(d, "switch (");
    condition(d);
    put(d, ") { ");
    d->breakable = true;
    for (uint32_t i = below(d, 2); i < 3; i += 1 + below(d, 2)) {
        text_format(&d->out, "case %u: ", (unsigned)i);
        list(d, 2, nested);
        if (once_in(d, 2))
            put(d, "break; ");
    }
    if (once_in(d, 2)) {
        put(d, "default: ");
        list(d, 2, nested);
    }
    put(d, "} ");
    d->breakable = breakable;
}

static void jump(struct drawing *d)
{
    uint32_t kind = below(d, 6);
    if (kind < 2 && d->breakable)
        put(d, "break; ");
    else if (kind < 4 && d->in_loop)
        put(d, "continue; ");
    else if (kind == 4 && once_in(d, 2))
        put(d, "exit; ");
    else if (!d->in_function)
        put(d, "return; ");
    else {
        put(d, "return r + ");
        expression(d, 1);
        put(d, "; ");
    }
}

/* Branches that are nothing but a call, which a lowering may make one call of. */
static void branch_of_calls(struct drawing *d)
{
    static const char *const calls[] = {"n(); ", "m(); ", "n(); ", "m(); ", "", "{ m(); } n(); "};
    const bool negated = once_in(d, 2);
    put(d, negated ? "if (!(" : "if (");
    condition(d);
    text_format(&d->out, negated ? ")) { %s}" : ") { %s}", calls[below(d, 6)]);
    text_format(&d->out, " else { %s} ", calls[below(d, 6)]);
}

/* Branches of nothing, one assignment or two, of what the thread has for itself. */
static void branch_of_assignments(struct drawing *d)
{
    const char *same = scalar(d, true);
    put(d, "if (");
    condition(d);
    put(d, ") {");
    for (uint32_t arm = 0; arm < 2; arm++) {
        for (uint32_t i = below(d, 3); i > 0; i--) {
            text_format(&d->out, " %s = ", once_in(d, 3) ? scalar(d, true) : same);
            expression(d, 1);
            put(d, ";");
        }
        put(d, arm ? " } " : " } else {");
    }
}

static void statement(struct drawing *d, uint32_t nested)
{
    uint32_t kind = below(d, 12);
    if (d->left == 0 || nested == 0)
        kind = 11;
    d->left -= d->left > 0;
    if (kind == 1 && d->has_functions && once_in(d, 4)) {
        branch_of_calls(d);
    } else if (kind == 2 && !once_in(d, 3)) {
        branch_of_assignments(d);
    } else if (kind < 3) {
        put(d, "if (");
        condition(d);
        put(d, ") ");
        list(d, 3, nested - 1);
        if (!once_in(d, 3)) {
            put(d, "else ");
            list(d, 3, nested - 1);
        }
    } else if (kind < 5) {
        loop(d, nested - 1);
    } else if (kind == 5) {
        choose(d, nested - 1);
    } else if (kind == 7 && d->has_barriers && !d->in_function) {
        barrier_by_ways(d);
    } else if (kind == 6) { /* seldom the way of all */
        put(d, "if (");
        condition(d);
        put(d, ") { ");
        jump(d);
        put(d, "} ");
    } else {
        simple(d);
        put(d, "; ");
    }
}

static void body(struct drawing *d)
{
    for (uint32_t i = 2 + below(d, 4); i > 0; i--)
        statement(d, NESTED);
}

/* Of few elements or, as a lowering may have it, of many; some, all or none have values. */
static uint32_t array_length(struct drawing *d)
{
    static const uint32_t lengths[] = {2, 4, 16, 17, 17, 33};
    return once_in(d, 2) ? lengths[below(d, 6)] : 0;
}

static void array(struct drawing *d, const char *name, uint32_t length)
{
    text_format(&d->out, "private int %s[%u]", name, (unsigned)length);
    uint32_t given = once_in(d, 2) ? (once_in(d, 2) ? length : 1 + below(d, length)) : 0;
    for (uint32_t i = 0; i < given; i++)
        text_format(&d->out, i ? ", %u" : " = {%u", (unsigned)(1 + below(d, 4)));
    put(d, given ? "}; " : "; ");
}

/* What the last element, and another one, begin with can be seen. */
static void look_at_array(struct drawing *d, const char *to, const char *name, uint32_t length)
{
    text_format(&d->out, "%s += %s[%u] + 5 * %s[%u]; ", to, name, (unsigned)(length - 1), name,
                (unsigned)below(d, length));
}

/* An array of every second function, which a frame that was used has to begin with. */
static void local_array(struct drawing *d, const char *to)
{
    d->local = array_length(d);
    if (!d->local)
        return;
    array(d, "z", d->local);
    if (once_in(d, 2))
        look_at_array(d, to, "z", d->local);
}

/* So deep as p says, which differs from lane to lane as a rule: some are in one call where others are in another, of
 * the same place or of two. */
static void recursion(struct drawing *d)
{
    const char *more = once_in(d, 2) ? "p & 3" : "p > 0 && p < 5";
    if (!once_in(d, 3))
        return;
    text_format(&d->out, "if (%s) { %s = f((p & 3) - 1, q + 1); r += q; } ", more,
                once_in(d, 2) ? "r" : "q");
    put(d, once_in(d, 3) ? "else { h(q); } " : "");
}

/* What each thread has at the end, where everybody sees it: registers, too. */
static void ending(struct drawing *d)
{
    if (once_in(d, 4))
        return;
    text_format(&d->out, "%s[tid & 3] = ((a * 5 + b) * 5 + l) * 5 + c[0] + 3 * c[1]; ",
                once_in(d, 2) ? "g" : "s");
    if (d->many)
        look_at_array(d, "x", "w", d->many);
}

/* So many that what stands behind has numbers around 64. */
static void crowd(struct drawing *d, const char *before, const char *behind)
{
    for (uint32_t i = d->is_crowded ? 60 + below(d, 6) : 0; i > 0; i--)
        text_format(&d->out, "%s o%s%u%s ", before, *before == 'v' ? "f" : "v", (unsigned)i,
                    behind);
}

static void structured(struct drawing *d)
{
    if (d->has_functions) {
        crowd(d, "void", "() { a++; }");
        d->in_function = true;
        d->left = 6;
        put(d, "int f(int p, int q) { private int r; ");
        local_array(d, "r");
        recursion(d);
        body(d);
        put(d, "return r; }\nvoid h(int p) { private int q, r = 1; ");
        local_array(d, "a");
        put(d, "r += p; ");
        d->left = 3;
        /* A function without a value returns none. */
        for (uint32_t i = 1 + below(d, 3); i > 0; i--)
            statement(d, 0);
        put(d, d->has_barriers && once_in(d, 2) ? "barrier(); " : "");
        put(d, once_in(d, 4) ? "if (p == 2) { exit; } " : "");
        put(d, once_in(d, 3) ? "if (p & 1) { return; } a += p; " : "a += r; ");
        put(d, "}\nvoid n() { a++; ");
        put(d, d->has_barriers && once_in(d, 3) ? "barrier(); " : "");
        put(d, "}\nvoid m() { b ^= x; }\n");
        d->in_function = false;
        d->local = 0;
    }
    d->left = 14;
    put(d, "kernel k() { private int l, i0, i1, i2; ");
    body(d);
    ending(d);
    put(d, !d->has_votes && once_in(d, 16) ? "y = vote_any(tid); }\n" : "}\n");
}

/* ---- blocks ---- */

/* What stands first in a block: most can be gone to. */
static void leading(struct drawing *d, uint32_t number)
{
    switch (below(d, 8)) {
    case 0:
    case 1:
        break;
    case 2:
        put(d, "assume(1); ");
        break;
    case 3:
        put(d, number % 2 ? "assume(a & 1); " : "assume(!(a & 1)); ");
        break;
    case 4:
        put(d, "assume(");
        condition(d);
        put(d, "); ");
        break;
    default:
        put(d, "assume(");
        claim(d);
        put(d, "); ");
        break;
    }
}

static void blocks(struct drawing *d, const char *exit_by)
{
    uint32_t count = 1 + below(d, BLOCKS - 1);
    for (uint32_t b = 0; b < count; b++) {
        text_format(&d->out, b || d->in_function ? "\nB%u: " : "\nStart: ", (unsigned)b);
        if (b && !(d->in_function && b + 1 == count))
            leading(d, b);
        /* A procedure's last block is empty, as the normal form has it, or has statements. */
        bool is_last = b + 1 == count, ends = is_last && (d->in_function || once_in(d, 2));
        for (uint32_t i = ends && d->in_function ? once_in(d, 4) : below(d, 4); i > 0; i--) {
            simple(d);
            put(d, "; ");
        }
        if (ends) {
            put(d, exit_by);
            continue;
        }
        /* Mostly on; back, to the first block that has a name, in some. */
        uint32_t targets = is_last ? 1 : 1 + below(d, 3), first = b + 1;
        put(d, "goto ");
        for (uint32_t t = 0; t < targets; t++) {
            uint32_t to = first + t;
            if (to >= count || (t > 0 && once_in(d, 4)))
                to = once_in(d, 3) ? 1 + below(d, count) : count;
            if (to >= count && d->in_function)
                to = count - 1;
            if (to >= count)
                put(d, t ? ", End" : "End");
            else
                text_format(&d->out, t ? ", B%u" : "B%u", (unsigned)to);
        }
        put(d, "; ");
    }
}

static void of_blocks(struct drawing *d)
{
    const char *form = d->form == FORM_BLOCKS ? "blocks" : "lockstep";
    if (d->has_functions) {
        d->in_function = true;
        d->gives_two = once_in(d, 2);
        text_format(&d->out, "void f(int p, %sint r, out int q) %s { ", d->gives_two ? "out " : "",
                    form);
        blocks(d, "return; ");
        text_format(&d->out, "}\nvoid h(int p) %s { private int q, r; ", form);
        blocks(d, "return; ");
        put(d, "}\n");
        d->in_function = false;
    }
    text_format(&d->out, "kernel k() %s { private int l, i0, i1; ", form);
    blocks(d, "goto End; ");
    put(d, "}\n");
}

/* ---- a kernel ---- */

static void initial(struct drawing *d, const char *name, uint32_t length)
{
    put(d, name);
    if (length)
        text_format(&d->out, "[%u]", (unsigned)length);
    if (once_in(d, 2))
        return;
    put(d, length ? " = {" : " = ");
    for (uint32_t i = 0; i < (length ? length : 1); i++)
        text_format(&d->out, i ? ", %u" : "%u", (unsigned)below(d, 4));
    put(d, length ? "}" : "");
}

static void variables(struct drawing *d)
{
    crowd(d, once_in(d, 2) ? "global int" : "private int", ";");
    put(d, "global int ");
    initial(d, "x", 0);
    put(d, "; shared int ");
    initial(d, "y", 0);
    put(d, ";\nglobal ");
    if (once_in(d, 3)) {
        put(d, "input int g[4];");
    } else {
        put(d, "int ");
        initial(d, "g", 4);
        put(d, ";");
    }
    put(d, " shared int ");
    initial(d, "s", 4);
    put(d, once_in(d, 3) ? ";\nprivate input int a;" : ";\nprivate int a;");
    put(d, " private int ");
    initial(d, "b", 0);
    put(d, ", ");
    initial(d, "c", 2);
    put(d, ";\n");
    d->many = d->form == FORM_STRUCTURED ? array_length(d) : 0;
    if (d->many)
        array(d, "w", d->many);
}

/* Few threads; one time in ten, warps of more than 32 lanes. */
static void launch(struct drawing *d, bool of_barriers)
{
    bool wide = once_in(d, 10);
    uint32_t blocks_count = once_in(d, 3) != of_barriers ? 2 : 1;
    d->warp = wide ? 33 + below(d, 32) : 1 + below(d, 6);
    d->threads = wide ? d->warp - below(d, 8) + (once_in(d, 4) ? 9 : 0) : 1 + below(d, 7);
    text_format(&d->out, "launch(threads = %u, warp = %u, blocks = %u, seed = %u);\n",
                (unsigned)d->threads, (unsigned)d->warp, (unsigned)(wide ? 1 : blocks_count),
                (unsigned)below(d, 1u << 16));
}

const char *wild_text(struct arena *arena, const struct wild_wish *wish, uint64_t number)
{
    struct drawing d = {.rng = pcg_derive(number, PCG_SCHEDULE, 83), .out = text_begin(arena)};
    d.form = wish->form;
    d.is_of_barriers = wish->of_barriers;
    d.has_votes = once_in(&d, 6);
    d.has_barriers = wish->of_barriers || once_in(&d, 2);
    d.has_functions = once_in(&d, 2);
    d.has_choices = wish->of_ptx ? once_in(&d, 24) : once_in(&d, 2);
    d.has_named = wish->of_ptx ? once_in(&d, wish->of_barriers ? 2 : 4) : once_in(&d, 24);
    d.is_rough = once_in(&d, 4);
    d.is_crowded = once_in(&d, 16);
    launch(&d, wish->of_barriers);
    variables(&d);
    if (d.form == FORM_STRUCTURED)
        structured(&d);
    else
        of_blocks(&d);
    return d.out.bytes;
}
