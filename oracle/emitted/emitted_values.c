/*
 * emitted_values.c - PTX of one thread whose operands are of every kind - registers wider than what is loaded, vectors
 * with elements left out, addresses in registers with offsets of either sign, numbers and floats of another width,
 * predicates as numbers, registers taken apart and put together, arguments and results of calls, also through an
 * address -, and beside each what it is. So what a program of instructions takes from which place is not believed of
 * the compiler, but known.
 */
#include "oracle/drawn/drawn.h"
#include "oracle/emitted/emitted.h"
#include "oracle/runs/ptx_run.h"

#include <inttypes.h>

enum { BYTES = 32, STEPS = 14, PARAMETERS = 3, ELEMENTS = 4 };

/* All bytes of variables of the module and of the entry, two of each space. */
static const char *const spaces[] = {"shared", "local", "global", "const"};
enum { SHARED, LOCAL, GLOBAL, CONST, SPACES };

struct values {
    struct drawn *d;
    uint8_t bytes[SPACES][2][BYTES];
    uint32_t sum;
    uint32_t parameters, sizes[PARAMETERS], result; /* of the function, log2 of bytes */
    bool is_array[PARAMETERS];
    uint64_t factors[PARAMETERS];
};

#define PUT(s, ...) text_format(&(s)->d->text, __VA_ARGS__)

static uint32_t below(struct values *s, uint32_t n)
{
    return drawn_below(s->d, n);
}

/* Of few bits, or many. */
static uint64_t any(struct values *s)
{
    uint64_t value = pcg_next(&s->d->rng);
    if (below(s, 2))
        value = value << 32 | pcg_next(&s->d->rng);
    return value;
}

static uint64_t cut(uint64_t value, uint32_t bits)
{
    return bits == 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

/* What an integer of so many bits is as one of 64. */
static uint64_t extend(uint64_t value, uint32_t bits, bool is_signed)
{
    const uint64_t low = cut(value, bits), sign = (uint64_t)1 << (bits - 1);
    return is_signed ? (low ^ sign) - sign : low;
}

/* ---- what is known goes into the sum ---- */

static void add(struct values *s, uint64_t value)
{
    PUT(s, "\tmad.lo.u32 %%sum, %%sum, 31, %%t;\n");
    s->sum = s->sum * 31 + (uint32_t)value;
}

/* A register of 16, 32 or 64 bits: %h, %r, %w with a number. */
static char letter(uint32_t bits)
{
    return bits == 16 ? 'h' : bits == 32 ? 'r' : 'w';
}

static void add_register(struct values *s, uint32_t bits, uint32_t number, uint64_t value)
{
    if (bits == 64) {
        PUT(s, "\tmov.b64 {%%t, %%u}, %%w%" PRIu32 ";\n", number);
        add(s, value);
        PUT(s, "\tmov.b32 %%t, %%u;\n");
        value >>= 32;
    } else {
        PUT(s,
            bits == 16 ? "\tcvt.u32.u16 %%t, %%h%" PRIu32 ";\n"
                       : "\tmov.b32 %%t, %%r%" PRIu32 ";\n",
            number);
    }
    add(s, cut(value, bits == 16 ? 16 : 32));
    if (bits == 16) { /* as a number, too */
        PUT(s,
            "\tsetp.eq.s16 %%q, %%h%" PRIu32 ", %d;\n\tselp.b16 %%h9, %%h%" PRIu32
            ", 3, %%q;\n\tmov.b32 %%t, {%%h9, %%h9};\n",
            number, (int16_t)value, number);
        add(s, cut(value, 16) * 0x10001);
    }
}

static void set_register(struct values *s, uint32_t bits, uint32_t number, uint64_t value)
{
    PUT(s, "\tmov.b%" PRIu32 " %%%c%" PRIu32 ", ", bits, letter(bits), number);
    if (below(s, 2))
        PUT(s, "0x%" PRIx64 ";\n", cut(value, bits));
    else
        PUT(s, "%" PRId64 ";\n", (int64_t)extend(value, bits, true));
}

/* ---- loads and stores ---- */

struct access {
    uint32_t space, variable, at; /* the first byte */
    uint32_t bits, count;         /* of an element; elements */
    const char *address;
};

/* [name+at], or from a register that stands before it or behind it. */
static struct access draw_access(struct values *s, bool writes)
{
    struct access a = {.space = below(s, writes ? CONST : SPACES)};
    a.variable = below(s, 2);
    a.bits = 8u << below(s, 4);
    a.count = 1u << below(s, 3);
    while (a.bits * a.count > 128)
        a.count /= 2;
    const uint32_t size = a.bits / 8 * a.count;
    a.at = below(s, BYTES / size) * size;
    const char *name = arena_printf(s->d->arena, "%s_%" PRIu32, spaces[a.space], a.variable);
    const uint32_t from = below(s, BYTES);
    a.address = arena_printf(s->d->arena, "[%s+%" PRIu32 "]", name, a.at);
    if (below(s, 2)) {
        PUT(s, "\tmov.u64 %%a, %s;\n\tadd.s64 %%a, %%a, %" PRIu32 ";\n", name, from);
        a.address = arena_printf(s->d->arena, "[%%a+%d]", (int)a.at - (int)from);
    }
    return a;
}

static uint64_t load(const struct values *s, const struct access *a, uint32_t element)
{
    const uint8_t *from = &s->bytes[a->space][a->variable][a->at + element * a->bits / 8];
    uint64_t value = 0;
    for (uint32_t i = a->bits / 8; i-- > 0;)
        value = value << 8 | from[i];
    return value;
}

static void store(struct values *s, const struct access *a, uint32_t element, uint64_t value)
{
    uint8_t *to = &s->bytes[a->space][a->variable][a->at + element * a->bits / 8];
    for (uint32_t i = 0; i < a->bits / 8; i++, value >>= 8)
        to[i] = (uint8_t)value;
}

/* ".shared.v2.s16": of a load, .u, .s or .b; what is stored says the same. */
static bool put_type(struct values *s, const char *name, const struct access *a)
{
    static const char signs[] = "usb";
    const uint32_t sign = below(s, 3);
    PUT(s, "\t%s.%s%s.%c%" PRIu32 " ", name, spaces[a->space],
        a->count == 4   ? ".v4"
        : a->count == 2 ? ".v2"
                        : "",
        signs[sign], a->bits);
    return signs[sign] == 's';
}

/* Registers at least as wide as the elements: 0 is in the first; elements that are left out have no register. */
static uint32_t draw_width(struct values *s, uint32_t bits)
{
    uint32_t width = 16u << below(s, 3);
    return width < bits ? bits : width;
}

static void put_elements(struct values *s, const struct access *a, uint32_t width, uint32_t left)
{
    PUT(s, a->count > 1 ? "{" : "");
    for (uint32_t i = 0; i < a->count; i++)
        if (left >> i & 1)
            PUT(s, i ? ", _" : "_");
        else
            PUT(s, i ? ", %%%c%" PRIu32 : "%%%c%" PRIu32, letter(width), i);
    PUT(s, a->count > 1 ? "}" : "");
}

static void draw_load(struct values *s)
{
    const struct access a = draw_access(s, false);
    const uint32_t width = draw_width(s, a.bits);
    const uint32_t all = (1u << a.count) - 1, left = a.count > 1 ? below(s, all) : 0;
    const bool is_signed = put_type(s, "ld", &a);
    put_elements(s, &a, width, left);
    PUT(s, ", %s;\n", a.address);
    for (uint32_t i = 0; i < a.count; i++)
        if (!(left >> i & 1))
            add_register(s, width, i, cut(extend(load(s, &a, i), a.bits, is_signed), width));
}

static void draw_store(struct values *s)
{
    uint64_t values[ELEMENTS];
    const struct access a = draw_access(s, true);
    const uint32_t width = draw_width(s, a.bits);
    for (uint32_t i = 0; i < a.count; i++) {
        values[i] = any(s);
        set_register(s, width, i, values[i]);
    }
    (void)put_type(s, "st", &a);
    PUT(s, "%s, ", a.address);
    put_elements(s, &a, width, 0);
    PUT(s, ";\n");
    for (uint32_t i = 0; i < a.count; i++)
        store(s, &a, i, values[i]);
}

/* ---- operands ---- */

/* A float of one width where an instruction wants the other; its bits are those of the number. */
static void draw_float(struct values *s)
{
    static const struct {
        uint32_t single;
        uint64_t two;
    } floats[] = {{0x3f800000, 0x3ff0000000000000}, {0xc0490000, 0xc009200000000000},
                  {0x00800000, 0x3810000000000000}, {0x80000000, 0x8000000000000000},
                  {0x7f800000, 0x7ff0000000000000}, {0x42f60000, 0x405ec00000000000}};
    const uint32_t i = below(s, 6), of_double = below(s, 2);
    PUT(s, "\tmov.f%s %%%s, ", of_double ? "64" : "32", of_double ? "g" : "f");
    if (below(s, 2))
        PUT(s, "0f%08" PRIX32 ";\n", floats[i].single);
    else
        PUT(s, "0d%016" PRIX64 ";\n", floats[i].two);
    PUT(s, of_double ? "\tmov.b64 %%w0, %%g;\n" : "\tmov.b32 %%r0, %%f;\n");
    add_register(s, of_double ? 64 : 32, 0, of_double ? floats[i].two : floats[i].single);
}

/* Numbers are predicates that hold, but 0; a guard may be turned round, and so may what setp combines with. */
static void draw_predicate(struct values *s)
{
    static const int numbers[] = {0, 1, 2, -1, 4, 256};
    const uint32_t i = below(s, 6), negated = below(s, 2), combined = below(s, 2);
    const bool is = numbers[i] != 0, taken = is != (negated != 0);
    PUT(s, "\tmov.pred %%p, %d;\n\tmov.u32 %%t, 5;\n\t@%s%%p mov.u32 %%t, 9;\n", numbers[i],
        negated ? "!" : "");
    add(s, taken ? 9 : 5);
    const uint32_t a = below(s, 3), b = below(s, 3);
    PUT(s,
        "\tmov.u32 %%r0, %" PRIu32 ";\n\tsetp.lt.%s.u32 %%q|%%z, %%r0, %" PRIu32 ", %s%%p;\n"
        "\tselp.u32 %%t, 1, 0, %%q;\n\tselp.u32 %%u, 2, 0, %%z;\n\tadd.u32 %%t, %%t, %%u;\n",
        a, combined ? "and" : "or", b, negated ? "!" : "");
    const bool less = a < b, not_less = !less;
    add(s, combined ? (uint64_t)((less && taken) + 2 * (not_less && taken))
                    : (uint64_t)((less || taken) + 2 * (not_less || taken)));
}

/* A register put together of others, and taken apart, with elements left out. */
static void draw_parts(struct values *s)
{
    const uint32_t count = 2u << below(s, 2), part = 16u << below(s, count == 4 ? 1 : 2);
    const uint32_t bits = part * count, left = below(s, (1u << count) - 1);
    const struct access a = {.bits = part, .count = count};
    uint64_t values[ELEMENTS];
    for (uint32_t i = 0; i < count; i++) {
        values[i] = cut(any(s), part);
        set_register(s, part, i, values[i]);
    }
    PUT(s, "\tmov.b%" PRIu32 " %%%c9, ", bits, letter(bits));
    put_elements(s, &a, part, 0);
    PUT(s, ";\n\tmov.b%" PRIu32 " ", bits);
    put_elements(s, &a, part, left);
    PUT(s, ", %%%c9;\n", letter(bits));
    for (uint32_t i = 0; i < count; i++)
        if (!(left >> i & 1))
            add_register(s, part, i, values[i]);
}

static void draw_special(struct values *s)
{
    static const struct {
        const char *name;
        uint32_t is;
    } specials[] = {{"%dynamic_smem_size", PTX_RUN_DYNAMIC},
                    {"%ntid.x", 1},
                    {"%ntid.z", 1},
                    {"%tid.x", 0},
                    {"%tid.y", 0},
                    {"%nctaid.y", 1},
                    {"%ctaid.x", 0},
                    {"%nwarpid", 1},
                    {"%lanemask_eq", 1},
                    {"%lanemask_gt", 0xfffffffe},
                    {"%nctaid.x", 1},
                    {"%warpid", 0}};
    const uint32_t i = below(s, sizeof specials / sizeof *specials);
    PUT(s, "\tmov.u32 %%t, %s;\n", specials[i].name);
    add(s, specials[i].is);
}

/* ---- a function: the sum of its parameters, times a number each ---- */

static uint32_t bits_of(const struct values *s, uint32_t i)
{
    return s->is_array[i] ? 64 : 8u << s->sizes[i];
}

/* With the names of what is passed in parentheses, or as a prototype has them. */
static void put_parameters(struct values *s, const char *first)
{
    PUT(s, "(");
    for (uint32_t i = 0; i < s->parameters; i++) {
        PUT(s, i ? ", " : "");
        const char *name =
            first[0] == '_' ? first : arena_printf(s->d->arena, "%s%" PRIu32, first, i);
        if (s->is_array[i])
            PUT(s, ".param .align 8 .b8 %s[8]", name);
        else
            PUT(s, ".param .b%" PRIu32 " %s", bits_of(s, i), name);
    }
    PUT(s, ")");
}

static void function(struct values *s)
{
    s->parameters = 1 + below(s, PARAMETERS);
    s->result = 2 + below(s, 2);
    for (uint32_t i = 0; i < s->parameters; i++) {
        s->sizes[i] = below(s, 4);
        s->is_array[i] = below(s, 4) == 0;
        s->factors[i] = any(s) | 1;
    }
    PUT(s, ".func (.param .b%" PRIu32 " out) f ", 8u << s->result);
    put_parameters(s, "p");
    PUT(s, "\n{\n\t.reg .b64 %%w<2>;\n\tmov.u64 %%w0, 0;\n");
    for (uint32_t i = 0; i < s->parameters; i++)
        PUT(s,
            "\tld.param.u%" PRIu32 " %%w1, [p%" PRIu32 "];\n\tmad.lo.u64 %%w0, %%w1, 0x%" PRIx64
            ", %%w0;\n",
            bits_of(s, i), i, s->factors[i]);
    PUT(s, "\tst.param.b%" PRIu32 " [out], %%w0;\n\tret;\n}\n", 8u << s->result);
}

static void draw_call(struct values *s)
{
    uint64_t sum = 0;
    const bool indirect = below(s, 2);
    PUT(s, "\t{\n\t.param .b%" PRIu32 " back;\n", 8u << s->result);
    for (uint32_t i = 0; i < s->parameters; i++)
        if (s->is_array[i])
            PUT(s, "\t.param .align 8 .b8 give%" PRIu32 "[8];\n", i);
        else
            PUT(s, "\t.param .b%" PRIu32 " give%" PRIu32 ";\n", bits_of(s, i), i);
    for (uint32_t i = 0; i < s->parameters; i++) {
        const uint64_t value = any(s);
        const uint32_t width = draw_width(s, bits_of(s, i));
        set_register(s, width, 0, value);
        PUT(s, "\tst.param.b%" PRIu32 " [give%" PRIu32 "], %%%c0;\n", bits_of(s, i), i,
            letter(width));
        sum += cut(value, bits_of(s, i)) * s->factors[i];
    }
    if (indirect) {
        PUT(s, "\tmov.u64 %%a, f;\nproto: .callprototype (.param .b%" PRIu32 " _) _ ",
            8u << s->result);
        put_parameters(s, "_");
        PUT(s, ";\n");
    }
    PUT(s, "\tcall (back), %s, (", indirect ? "%a" : "f");
    for (uint32_t i = 0; i < s->parameters; i++)
        PUT(s, i ? ", give%" PRIu32 : "give%" PRIu32, i);
    PUT(s, ")%s;\n\tld.param.b%" PRIu32 " %%%c1, [back];\n\t}\n", indirect ? ", proto" : "",
        8u << s->result, letter(8u << s->result));
    add_register(s, 8u << s->result, 1, sum);
}

/* ---- the module ---- */

/* Bytes that the text gives a variable, some of them; those that it does not are 0. */
static void put_initial(struct values *s, uint32_t space, uint32_t variable)
{
    const uint32_t count = 1 + below(s, BYTES);
    PUT(s, ".%s .align 16 .b8 %s_%" PRIu32 "[%d] = {", spaces[space], spaces[space], variable,
        BYTES);
    for (uint32_t i = 0; i < count; i++) {
        s->bytes[space][variable][i] = (uint8_t)any(s);
        PUT(s, i ? ", %u" : "%u", (unsigned)s->bytes[space][variable][i]);
    }
    PUT(s, "};\n");
}

/* Shared and local memory hold nothing that is known: it is written before it is read. */
static void put_written(struct values *s, uint32_t space, uint32_t variable)
{
    for (uint32_t i = 0; i < BYTES; i += 8) {
        const uint64_t value = any(s);
        const struct access a = {.space = space, .variable = variable, .at = i, .bits = 64};
        set_register(s, 64, 0, value);
        PUT(s, "\tst.%s.b64 [%s_%" PRIu32 "+%" PRIu32 "], %%w0;\n", spaces[space], spaces[space],
            variable, i);
        store(s, &a, 0, value);
    }
}

/* Functions of the device's runtime give 0 where nobody has them, whatever was there. */
static void draw_outside(struct values *s)
{
    const uint32_t kind = below(s, 3);
    set_register(s, kind == 2 ? 64 : 32, 0, any(s));
    if (kind == 0)
        PUT(s, "\tcall (%%r0), vprintf, (%%a, %%w1);\n");
    else if (kind == 1)
        PUT(s, "\tcall (%%r0), printf, (%%a);\n");
    else
        PUT(s, "\tcall (%%w0), malloc, (%%w1);\n");
    add_register(s, kind == 2 ? 64 : 32, 0, 0);
}

static void draw(struct values *s)
{
    static void (*const kinds[])(struct values *) = {
        draw_load,      draw_load,  draw_load,    draw_store, draw_store,  draw_float,
        draw_predicate, draw_parts, draw_special, draw_call,  draw_outside};
    PUT(s, ".version 8.5\n.target sm_90\n.address_size 64\n"
           ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
           ".extern .func (.param .b32 r) printf(.param .b64 a);\n"
           ".extern .func (.param .b64 r) malloc(.param .b64 a);\n");
    for (uint32_t v = 0; v < 2; v++) {
        put_initial(s, GLOBAL, v);
        put_initial(s, CONST, v);
        PUT(s, ".shared .align 16 .b8 shared_%" PRIu32 "[%d];\n", v, BYTES);
    }
    function(s);
    PUT(s, ".entry k(.param .u64 out)\n{\n\t.reg .b16 %%h<10>;\n\t.reg .b32 %%sum, %%t, %%u, "
           "%%r<10>;\n\t.reg .b64 %%a, %%w<10>;\n\t.reg .f32 %%f;\n\t.reg .f64 %%g;\n"
           "\t.reg .pred %%p, %%q, %%z;\n");
    for (uint32_t v = 0; v < 2; v++)
        PUT(s, "\t.local .align 16 .b8 local_%" PRIu32 "[%d];\n", v, BYTES);
    PUT(s, "\tmov.u32 %%sum, 0;\n");
    for (uint32_t v = 0; v < 2; v++) {
        put_written(s, SHARED, v);
        put_written(s, LOCAL, v);
    }
    for (uint32_t i = 1 + below(s, STEPS); i > 0; i--)
        kinds[below(s, sizeof kinds / sizeof *kinds)](s);
    PUT(s, "\tld.param.u64 %%a, [out];\n\tst.global.u32 [%%a], %%sum;\n\tret;\n}\n");
}

const char *emitted_values(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_VALUES);
    struct values *s = ARENA_NEW(arena, struct values);
    s->d = &d;
    draw(s);
    *text = d.text.bytes;
    return ptx_run(arena, "values", d.text.bytes, &s->sum, 1);
}
