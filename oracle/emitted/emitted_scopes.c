/*
 * emitted_scopes.c - PTX whose scopes use few names again and again: registers, ranges of them, variables in shared and
 * local memory, labels and a function's own hide each other, and what the thread computes is known as it is drawn.
 * Whoever gives a name to another declaration, or lays two variables in one place, computes something else: the reader,
 * injection, which has one scope and names all declarations anew, and the layout of memory.
 */
#include "oracle/drawn/drawn.h"
#include "oracle/emitted/emitted.h"
#include "oracle/runs/ptx_run.h"

#include <inttypes.h>

enum { FAMILIES = 2, DEPTH = 3, STEPS = 3, MEMBERS = 2, OTHERS = 2, NUMBERS = 12 };

/* Of each family a scope declares one thing: `.reg a1`, `.reg a<2>`, a1 in memory. */
enum declared {
    DECLARED_NOTHING,
    DECLARED_REGISTER,
    DECLARED_RANGE,
    DECLARED_SHARED,
    DECLARED_LOCAL
};

struct declaration {
    enum declared what;
    uint32_t member; /* of the family: a0 or a1; of a range both are there */
    uint32_t align;
    uint32_t values[MEMBERS];
};

struct scope {
    struct scope *around;
    struct declaration of[FAMILIES];
    uint32_t labels; /* a bit each */
};

struct scopes {
    struct drawn *d;
    struct scope *innermost;
    uint32_t depth, sum;
    bool dead; /* what is written is not run */
    bool has_function;
    uint32_t of_function; /* what it returns */
};

#define PUT(s, ...) text_format(&(s)->d->text, __VA_ARGS__)

static uint32_t below(struct scopes *s, uint32_t n)
{
    return drawn_below(s->d, n);
}

static uint32_t number(struct scopes *s)
{
    return (uint32_t)pcg_next(&s->d->rng);
}

/* ---- names ---- */

static bool has(const struct declaration *d, uint32_t member)
{
    return d->what == DECLARED_RANGE || (d->what != DECLARED_NOTHING && d->member == member);
}

/* The declaration that a name is of: that of the innermost scope that has one. NULL: none has. */
static struct declaration *find(const struct scopes *s, uint32_t family, uint32_t member)
{
    struct scope *scope = s->innermost;
    while (scope && !has(&scope->of[family], member))
        scope = scope->around;
    return scope ? &scope->of[family] : NULL;
}

static const char *name_of(const struct scopes *s, uint32_t family, uint32_t member)
{
    return arena_printf(s->d->arena, "%c%" PRIu32, (int)('a' + family), member);
}

static bool is_memory(const struct declaration *d)
{
    return d->what >= DECLARED_SHARED;
}

static const char *space_of(const struct declaration *d)
{
    return d->what == DECLARED_SHARED ? "shared" : "local";
}

/* ---- statements ---- */

/* sum = 31 sum + value */
static void add_value(struct scopes *s, const char *what, uint32_t value)
{
    PUT(s, "\tmad.lo.u32 %%sum, %%sum, 31, %s;\n", what);
    if (!s->dead)
        s->sum = s->sum * 31 + value;
}

static void add_name(struct scopes *s, const struct declaration *d, const char *name,
                     uint32_t member)
{
    if (is_memory(d))
        PUT(s, "\tld.%s.u32 %%t, [%s];\n", space_of(d), name);
    add_value(s, is_memory(d) ? "%t" : name, d->values[member]);
}

static void set_name(struct scopes *s, struct declaration *d, const char *name, uint32_t member)
{
    const uint32_t value = number(s);
    if (is_memory(d))
        PUT(s, "\tst.%s.u32 [%s], %" PRIu32 ";\n", space_of(d), name, value);
    else
        PUT(s, "\tmov.u32 %s, %" PRIu32 ";\n", name, value);
    if (!s->dead)
        d->values[member] = value;
}

/* Where it lies it is aligned as it wants. */
static void add_rest(struct scopes *s, const char *name, uint32_t align)
{
    PUT(s, "\tmov.u32 %%t, %s;\n\tand.b32 %%t, %%t, %" PRIu32 ";\n", name, align - 1);
    add_value(s, "%t", 0);
}

static void use(struct scopes *s)
{
    const uint32_t family = below(s, FAMILIES), member = below(s, MEMBERS), kind = below(s, 5);
    struct declaration *d = find(s, family, member);
    const char *name = name_of(s, family, member);
    if (!d)
        return;
    if (kind == 0 && is_memory(d))
        add_rest(s, name, d->align);
    else if (kind < 3)
        set_name(s, d, name, member);
    else
        add_name(s, d, name, member);
}

static void statements(struct scopes *s);

/* A branch to a label behind what is skipped if it is taken; a label of that name may be around, or within. */
static void skip(struct scopes *s)
{
    const uint32_t label = below(s, 2), taken = below(s, 2), guarded = below(s, 3);
    const bool dead = s->dead;
    if (s->innermost->labels >> label & 1)
        return;
    s->innermost->labels |= 1u << label;
    if (guarded)
        PUT(s, "\tsetp.%s.u32 %%p, %%sum, %" PRIu32 ";\n\t@%s%%p bra L%" PRIu32 ";\n",
            guarded == 1 ? "eq" : "ne", s->sum, (guarded == 1) == taken ? "" : "!", label);
    else
        PUT(s, "\tbra L%" PRIu32 ";\n", label);
    s->dead |= taken || !guarded;
    statements(s);
    s->dead = dead;
    PUT(s, "L%" PRIu32 ":\n", label);
}

static void declare(struct scopes *s, uint32_t family)
{
    struct declaration *d = &s->innermost->of[family];
    d->what = (enum declared)below(s, DECLARED_LOCAL + 1);
    d->member = below(s, MEMBERS);
    d->align = 4u << below(s, 8);
    const char *name = name_of(s, family, d->member);
    if (d->what == DECLARED_REGISTER)
        PUT(s, "\t.reg .u32 %s;\n", name);
    else if (d->what == DECLARED_RANGE)
        PUT(s, "\t.reg .u32 %c<%d>;\n", (int)('a' + family), MEMBERS);
    else if (is_memory(d))
        PUT(s, "\t.%s .align %" PRIu32 " .u32 %s;\n", space_of(d), d->align, name);
}

static void block(struct scopes *s)
{
    struct scope own = {.around = s->innermost};
    s->innermost = &own;
    PUT(s, "\t{\n");
    for (uint32_t f = 0; f < FAMILIES; f++)
        declare(s, f);
    for (uint32_t f = 0; f < FAMILIES; f++)
        for (uint32_t m = 0; m < MEMBERS; m++)
            if (has(&own.of[f], m))
                set_name(s, &own.of[f], name_of(s, f, m), m);
    statements(s);
    PUT(s, "\t}\n");
    s->innermost = own.around;
}

static void statements(struct scopes *s)
{
    if (s->depth == DEPTH)
        return;
    s->depth++;
    for (uint32_t i = 1 + below(s, STEPS); i > 0; i--) {
        const uint32_t kind = below(s, 8);
        if (kind < 3) {
            block(s);
        } else if (kind == 3) {
            skip(s);
        } else if (kind == 4 && s->has_function) {
            PUT(s, "\tcall (%%t), f;\n");
            add_value(s, "%t", s->of_function);
        }
        use(s);
        use(s);
    }
    s->depth--;
}

/* `sum` is what is left behind the last statement. The outermost scope is that of the body, in `around`. */
static void body(struct scopes *s, struct scope *around)
{
    struct scope own = {.around = around};
    s->innermost = &own;
    s->sum = 0;
    PUT(s, "\t.reg .u32 %%t;\n\t.reg .pred %%p;\n\tmov.u32 %%sum, 0;\n");
    for (uint32_t f = 0; around && f < FAMILIES; f++)
        set_name(s, &around->of[f], name_of(s, f, around->of[f].member), around->of[f].member);
    block(s);
    block(s);
    statements(s);
    s->innermost = around;
}

/* It has variables of its own alone: those of the module hold what its callers left. */
static void function(struct scopes *s)
{
    PUT(s, ".func (.reg .u32 %%sum) f ()\n{\n");
    body(s, NULL);
    PUT(s, "\tret;\n}\n");
    s->of_function = s->sum;
    s->has_function = true;
}

/* Variables of the module that are named as injection names declarations anew: a name, _flow, a number. */
static void others(struct scopes *s, const char **names)
{
    for (uint32_t i = 0; i < OTHERS; i++) {
        names[i] = arena_printf(s->d->arena, "%s_flow%s%" PRIu32,
                                name_of(s, below(s, FAMILIES), below(s, MEMBERS)),
                                i == 0 ? "" : "x", 1 + below(s, NUMBERS));
        PUT(s, ".shared .u32 %s;\n", names[i]);
    }
}

/* Returns what the entry stores. */
static uint32_t draw(struct scopes *s)
{
    struct scope module = {0};
    const char *names[OTHERS];
    uint32_t values[OTHERS];
    const uint32_t dynamic = below(s, 2) ? 4u << below(s, 9) : 0;
    PUT(s, ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (uint32_t f = 0; f < FAMILIES; f++) {
        struct declaration *d = &module.of[f];
        d->what = DECLARED_SHARED;
        d->member = below(s, MEMBERS);
        d->align = 4u << below(s, 8);
        PUT(s, ".shared .align %" PRIu32 " .u32 %s;\n", module.of[f].align,
            name_of(s, f, module.of[f].member));
    }
    others(s, names);
    if (dynamic)
        PUT(s, ".extern .shared .align %" PRIu32 " .b8 dynamic[];\n", dynamic);
    if (below(s, 2))
        function(s);
    PUT(s, ".entry k(.param .u64 out)\n{\n\t.reg .u32 %%sum;\n\t.reg .u64 %%d;\n");
    for (uint32_t i = 0; i < OTHERS; i++) {
        values[i] = number(s);
        PUT(s, "\tst.shared.u32 [%s], %" PRIu32 ";\n", names[i], values[i]);
    }
    body(s, &module);
    for (uint32_t i = 0; i < OTHERS; i++) {
        PUT(s, "\tld.shared.u32 %%t, [%s];\n", names[i]);
        add_value(s, "%t", values[i]);
    }
    if (dynamic)
        add_rest(s, "dynamic", dynamic);
    PUT(s, "\tld.param.u64 %%d, [out];\n\tst.global.u32 [%%d], %%sum;\n\tret;\n}\n");
    return s->sum;
}

const char *emitted_scopes(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_SCOPES);
    struct scopes s = {.d = &d};
    const uint32_t meant = draw(&s);
    *text = d.text.bytes;
    return ptx_run(arena, "scopes", d.text.bytes, &meant, 1);
}
