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

/* Of each family a scope declares one thing: `.reg a1`, `.reg a<2>`, `.reg .pred a1`, a1 in memory. */
enum declared {
    DECLARED_NOTHING,
    DECLARED_REGISTER,
    DECLARED_RANGE,
    DECLARED_PREDICATE,
    DECLARED_SHARED,
    DECLARED_LOCAL,
    DECLARED
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
    uint32_t labels; /* a bit each: L0, L1, tables T0, T1 */
};

struct scopes {
    struct drawn *d;
    struct scope *innermost;
    uint32_t depth, sum;
    bool dead;                            /* what is written is not run */
    bool listed;                          /* registers stand in vectors alone */
    const char *function;                 /* its name, of a family; NULL: there is none */
    uint32_t family, member, of_function; /* that name, and what it returns */
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

/* In a list: of a vector, of what a call hands over, or gives back. */
static void add_listed(struct scopes *s, const char *name, uint32_t value)
{
    PUT(s, "\tmov.b64 %%w, {%s, %s};\n\tmov.b64 {%%t, _}, %%w;\n", name, below(s, 2) ? name : "0");
    add_value(s, "%t", value);
}

static void set_listed(struct scopes *s, const char *name, uint32_t value)
{
    PUT(s, "\tmov.b64 %%w, %" PRIu32 ";\n\tmov.b64 {%s, _}, %%w;\n", value, name);
}

static void call_listed(struct scopes *s, struct declaration *d, const char *name, uint32_t member)
{
    const uint32_t value = number(s);
    if (below(s, 2)) {
        PUT(s, "\tcall (%%t), %s, (%s);\n", s->function, name);
        add_value(s, "%t", s->of_function + d->values[member]);
    } else {
        PUT(s, "\tcall (%s), %s, (%" PRIu32 ");\n", name, s->function, value);
        d->values[member] = s->dead ? d->values[member] : s->of_function + value;
    }
}

static void add_name(struct scopes *s, const struct declaration *d, const char *name,
                     uint32_t member)
{
    const uint32_t value = d->values[member];
    if (d->what == DECLARED_PREDICATE) {
        const bool negated = below(s, 2);
        PUT(s, "\tmov.u32 %%t, 5;\n\t@%s%s mov.u32 %%t, 7;\n", negated ? "!" : "", name);
        add_value(s, "%t", (value != 0) != negated ? 7 : 5);
        return;
    }
    if (!is_memory(d) && s->listed) {
        add_listed(s, name, value);
        return;
    }
    if (is_memory(d))
        PUT(s, "\tld.%s.u32 %%t, [%s%s];\n", space_of(d), name, below(s, 2) ? "+0" : "");
    add_value(s, is_memory(d) ? "%t" : name, value);
}

static void set_name(struct scopes *s, struct declaration *d, const char *name, uint32_t member)
{
    const bool is_predicate = d->what == DECLARED_PREDICATE;
    const uint32_t value = is_predicate ? below(s, 2) : number(s);
    if (is_predicate)
        PUT(s, "\tsetp.ne.u32 %s, %" PRIu32 ", 0;\n", name, value);
    else if (is_memory(d))
        PUT(s, "\tst.%s.u32 [%s], %" PRIu32 ";\n", space_of(d), name, value);
    else if (s->listed)
        set_listed(s, name, value);
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
    const uint32_t family = below(s, FAMILIES), member = below(s, MEMBERS), kind = below(s, 7);
    struct declaration *d = find(s, family, member);
    const char *name = name_of(s, family, member);
    if (!d)
        return;
    const bool is_register = d->what == DECLARED_REGISTER || d->what == DECLARED_RANGE;
    const bool calls = s->function && !find(s, s->family, s->member);
    if (kind == 5 && is_register && calls)
        call_listed(s, d, name, member);
    else if (kind == 6 && is_register)
        add_listed(s, name, d->values[member]);
    else if (kind == 0 && is_memory(d))
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
    const uint32_t label = below(s, 2), table = 2 + below(s, 2), taken = below(s, 2);
    const uint32_t guarded = below(s, 4);
    const bool dead = s->dead;
    if (s->innermost->labels >> label & 1 || s->innermost->labels >> table & 1)
        return;
    s->innermost->labels |= 1u << label;
    if (guarded == 3) {
        s->innermost->labels |= 1u << table;
        PUT(s,
            "T%" PRIu32 ": .branchtargets L%" PRIu32 ";\n\tmov.u32 %%t, 0;\n"
            "\tbrx.idx %%t, T%" PRIu32 ";\n",
            table, label, table);
    } else if (guarded) {
        PUT(s, "\tsetp.%s.u32 %%p, %%sum, %" PRIu32 ";\n\t@%s%%p bra L%" PRIu32 ";\n",
            guarded == 1 ? "eq" : "ne", s->sum, (guarded == 1) == taken ? "" : "!", label);
    } else {
        PUT(s, "\tbra L%" PRIu32 ";\n", label);
    }
    s->dead |= taken || guarded % 3 == 0;
    statements(s);
    s->dead = dead;
    PUT(s, "L%" PRIu32 ":\n", label);
}

static void put_declaration(struct scopes *s, const struct declaration *d, uint32_t family)
{
    const char *name = name_of(s, family, d->member);
    if (d->what == DECLARED_REGISTER || d->what == DECLARED_PREDICATE)
        PUT(s, "\t.reg %s %s;\n", d->what == DECLARED_REGISTER ? ".u32" : ".pred", name);
    else if (d->what == DECLARED_RANGE)
        PUT(s, "\t.reg .u32 %c<%d>;\n", (int)('a' + family), MEMBERS);
    else if (is_memory(d))
        PUT(s, "\t.%s .align %" PRIu32 " .u32 %s;\n", space_of(d), d->align, name);
}

static void declare(struct scopes *s, uint32_t family)
{
    struct declaration *d = &s->innermost->of[family];
    d->what = (enum declared)below(s, DECLARED);
    d->member = below(s, MEMBERS);
    d->align = 4u << below(s, 8);
    put_declaration(s, d, family);
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
        } else if (kind == 4 && s->function && !find(s, s->family, s->member)) {
            PUT(s, "\tcall (%%t), %s, (1);\n", s->function);
            add_value(s, "%t", s->of_function + 1);
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
    PUT(s, "\t.reg .u32 %%t;\n\t.reg .u64 %%w;\n\t.reg .pred %%p;\n\tmov.u32 %%sum, 0;\n");
    for (uint32_t f = 0; around && f < FAMILIES; f++)
        for (uint32_t m = 0; m < MEMBERS; m++)
            if (has(&around->of[f], m))
                set_name(s, &around->of[f], name_of(s, f, m), m);
    block(s);
    block(s);
    statements(s);
    s->innermost = around;
}

/* It has variables of its own alone: those of the module hold what its callers left. It adds to what it is given, and
 * has the family's name that the module has not. */
static void function(struct scopes *s, const struct scope *module)
{
    s->family = below(s, FAMILIES);
    if (module->of[s->family].what == DECLARED_RANGE)
        return;
    s->member = 1 - module->of[s->family].member;
    const char *name = name_of(s, s->family, s->member);
    PUT(s, ".func (.reg .u32 %%sum) %s (.reg .u32 %%given)\n{\n", name);
    body(s, NULL);
    PUT(s, "\tadd.u32 %%sum, %%sum, %%given;\n\tret;\n}\n");
    s->of_function = s->sum;
    s->function = name;
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
        d->what = below(s, 2) ? DECLARED_SHARED : (enum declared)(1 + below(s, DECLARED_SHARED));
        d->member = below(s, MEMBERS);
        d->align = 4u << below(s, 8);
        put_declaration(s, d, f);
    }
    others(s, names);
    if (dynamic)
        PUT(s, ".extern .shared .align %" PRIu32 " .b8 dynamic[];\n", dynamic);
    if (below(s, 2))
        function(s, &module);
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
    struct scopes s = {.d = &d, .listed = drawn_once_in(&d, 3)};
    const uint32_t meant = draw(&s);
    *text = d.text.bytes;
    return ptx_run(arena, "scopes", d.text.bytes, &meant, 1);
}
