/*
 * drawn_layout.c - modules that are laid out and never run: instructions drawn over the whole table of forms, with
 * operands of every kind; variables of every space, type, vector, alignment and shape, whose initial values are numbers
 * and addresses, whole or in parts; functions whose parameters lie in registers and in memory, called by name, through
 * lists and through prototypes; scopes that use names again; buffers of any length; places of sources. What is laid out
 * is held against the text (oracle/layout); some are printed and read again.
 */
#include "engine/input/input.h"
#include "oracle/drawn/drawn.h"
#include "oracle/drawn/words.h"
#include "oracle/layout/layout.h"
#include "oracle/texts/texts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GLOBALS = 6, FUNCTIONS = 3, LABELS = 4, LOCALS = 2, PARAMETERS = 3, PRINTED = 4 };

struct drawn_layout {
    struct drawn *d;
    uint32_t address_size, global_count;
    enum ptx_word spaces[GLOBALS];
    bool dynamic[GLOBALS];
    uint32_t function; /* at hand: 0, and FUNCTIONS is the entry */
    uint32_t shapes[FUNCTIONS + 1][PARAMETERS], parameter_count[FUNCTIONS + 1],
        result[FUNCTIONS + 1];
    uint32_t numbers; /* of labels that lists and prototypes have */
};

#define PUT(p, ...) text_format(&(p)->d->text, __VA_ARGS__)

static uint32_t below(struct drawn_layout *p, uint32_t n)
{
    return drawn_below(p->d, n);
}

static bool once_in(struct drawn_layout *p, uint32_t n)
{
    return drawn_once_in(p->d, n);
}

/* ---- what parameters are: in a register, or in memory ---- */

enum { IN_REGISTERS = 3 };
static const struct {
    const char *text, *type; /* the name stands for % */
    uint32_t bits;           /* 0: bytes */
} shapes[] = {{".reg .b32 %s", ".reg .b32 _", 32},
              {".reg .b64 %s", ".reg .b64 _", 64},
              {".reg .pred %s", ".reg .pred _", 1},
              {".param .b32 %s", ".param .b32 _", 32},
              {".param .b64 %s", ".param .b64 _", 64},
              {".param .align 8 .b8 %s[12]", ".param .align 8 .b8 _[12]", 0},
              {".param .align 16 .b8 %s[12]", ".param .align 16 .b8 _[12]", 0},
              {".param .b16 %s", ".param .b16 _", 16}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void put_shape(struct drawn_layout *p, uint32_t shape, const char *name)
{
    const char *text = name ? shapes[shape].text : shapes[shape].type, *at = strstr(text, "%s");
    if (at)
        PUT(p, "%.*s%s%s", (int)(at - text), text, name, at + 2);
    else
        PUT(p, "%s", text);
}

/* (results) name (parameters); name NULL: of a prototype. */
static void put_signature(struct drawn_layout *p, uint32_t f, const char *name)
{
    if (p->result[f] < SHAPES) {
        PUT(p, "(");
        put_shape(p, p->result[f], name ? "back" : NULL);
        PUT(p, ") ");
    }
    PUT(p, "%s (", name ? name : "_");
    for (uint32_t i = 0; i < p->parameter_count[f]; i++) {
        PUT(p, i ? ", " : "");
        put_shape(p, p->shapes[f][i], name ? arena_printf(p->d->arena, "a%" PRIu32, i) : NULL);
    }
    PUT(p, ")");
}

/* ---- operands ---- */

/* p<4> h<4> r<4> w<4> x<2>, and elements of v. */
static const char *register_of(struct drawn_layout *p, uint32_t bits)
{
    const uint32_t n = below(p, 4);
    if (bits == 32 && once_in(p, 6))
        return arena_printf(p->d->arena, "v.%c", "xyzw"[n]);
    return arena_printf(p->d->arena, "%s%" PRIu32,
                        bits == 1    ? "p"
                        : bits <= 16 ? "h"
                        : bits == 32 ? "r"
                        : bits == 64 ? "w"
                                     : "x",
                        bits == 128 ? n % 2 : n);
}

static const char *offset(struct drawn_layout *p)
{
    const uint32_t by = below(p, 40);
    return once_in(p, 2) ? ""
                         : arena_printf(p->d->arena, once_in(p, 4) ? "-%" PRIu32 : "+%" PRIu32, by);
}

/* A variable of one of these spaces that the function sees; NULL: there is none. */
static const char *variable_in(struct drawn_layout *p, enum ptx_word space)
{
    const uint32_t first = below(p, GLOBALS + 1);
    const bool is_entry = p->function == FUNCTIONS;
    if (space == PTX_W_PARAM) {
        const uint32_t count = p->parameter_count[p->function], i = count ? below(p, count) : 0;
        if (is_entry || count == 0 || shapes[p->shapes[p->function][i]].text[1] == 'r')
            return is_entry && count ? arena_printf(p->d->arena, "a%" PRIu32, i)
                   : is_entry        ? NULL
                                     : "own";
        return arena_printf(p->d->arena, "a%" PRIu32, i);
    }
    if (space == PTX_W_LOCAL && once_in(p, 2))
        return arena_printf(p->d->arena, "l%" PRIu32, below(p, LOCALS));
    for (uint32_t k = 0; k < p->global_count; k++) {
        const uint32_t i = (first + k) % p->global_count;
        if (p->spaces[i] == space)
            return arena_printf(p->d->arena, "g%" PRIu32, i);
    }
    return NULL;
}

static enum ptx_word plain(struct drawn_layout *p, enum ptx_word space)
{
    static const enum ptx_word generic[] = {PTX_W_GLOBAL, PTX_W_SHARED, PTX_W_LOCAL};
    switch ((int)space) {
    case PTX_W_NONE:
        return generic[below(p, 3)];
    case PTX_W_SHARED_CTA:
    case PTX_W_SHARED_CLUSTER:
        return PTX_W_SHARED;
    case PTX_W_PARAM_ENTRY:
    case PTX_W_PARAM_FUNC:
        return PTX_W_PARAM;
    default:
        return space;
    }
}

static const char *address(struct drawn_layout *p, enum ptx_word space)
{
    const enum ptx_word own = plain(p, space);
    const char *name = once_in(p, 3) ? NULL : variable_in(p, own);
    const bool far = space == PTX_W_NONE || space == PTX_W_GLOBAL;
    if (own == PTX_W_PARAM && !name)
        name = p->function == FUNCTIONS ? NULL : "own";
    if (!name && once_in(p, 8))
        return arena_printf(p->d->arena, "[%" PRIu32 "]", 8 * below(p, 100));
    if (!name)
        name = register_of(p, far && p->address_size == 64 ? 64 : 32u << below(p, 2));
    return arena_printf(p->d->arena, "[%s%s]", name, offset(p));
}

static const char *number(struct drawn_layout *p, struct ptx_type type)
{
    static const char *const floats[] = {"1.5", "-2.25e3", "0f3FC00000", "0d3FF8000000000000",
                                         "0f80000001"};
    if (type.kind == PTX_CLASS_PRED)
        return once_in(p, 2) ? "1" : "0";
    if (type.kind == PTX_CLASS_FLOAT && type.bits >= 32)
        return floats[below(p, 5)];
    static const char *const numbers[] = {
        "0", "-1", "255", "0x8000", "-32769", "0xffffffff", "0x123456789abcdef0", "7U"};
    return numbers[below(p, 8)];
}

/* Also addresses and special registers, of mov. */
static const char *moved(struct drawn_layout *p, struct ptx_type type)
{
    static const char *const specials[] = {
        "%tid.x",   "%ntid.y",      "%ntid.w",  "%nctaid.z", "%laneid",
        "%nwarpid", "WARP_SZ",      "%nsmid",   "%smid",     "%total_smem_size",
        "%envreg2", "%warpid",      "%ctaid.y", "%clock",    "%dynamic_smem_size",
        "%envreg0", "%lanemask_le", "%nctaid.x"};
    static const enum ptx_word anywhere[] = {PTX_W_GLOBAL, PTX_W_SHARED, PTX_W_LOCAL, PTX_W_CONST,
                                             PTX_W_PARAM};
    const enum ptx_word space = anywhere[below(p, 5)];
    if (type.kind == PTX_CLASS_FLOAT || type.bits < 32 || type.bits > 64)
        return NULL;
    const uint32_t kind = below(p, 5);
    if (kind == 0 && type.bits == 32)
        return specials[below(p, sizeof specials / sizeof *specials)];
    if (kind == 1)
        return arena_printf(p->d->arena, "f%" PRIu32, below(p, FUNCTIONS));
    if (kind == 2 && p->function == FUNCTIONS)
        return arena_printf(p->d->arena, "L%" PRIu32, below(p, LABELS));
    const char *name = kind < 3 || type.bits < p->address_size ? NULL : variable_in(p, space);
    return name ? arena_printf(p->d->arena, "%s%s", name, once_in(p, 2) ? "+4" : "") : NULL;
}

static const char *value(struct drawn_layout *p, const struct ptx_item_pattern *item,
                         struct ptx_type type)
{
    static const uint32_t sizes[] = {16, 32, 64};
    const uint32_t first = type.bits <= 16 ? 0 : type.bits == 32 ? 1 : 2;
    const bool wider =
        item->relaxed && type.kind != PTX_CLASS_FLOAT && type.bits > 1 && type.bits <= 64;
    const uint32_t bits = wider ? sizes[first + below(p, 3 - first)] : type.bits;
    if (item->is_result && item->sinkable && once_in(p, 4))
        return "_";
    if (!item->is_result && type.bits <= 64 && once_in(p, 4) &&
        !(type.kind == PTX_CLASS_FLOAT && type.bits < 32))
        return number(p, type);
    const char *name = register_of(p, bits);
    return item->negatable && type.kind == PTX_CLASS_PRED && once_in(p, 3)
               ? arena_printf(p->d->arena, "!%s", name)
               : name;
}

static const char *vector(struct drawn_layout *p, const struct ptx_item_pattern *item,
                          struct ptx_type type, uint32_t count)
{
    const char *all = "{";
    struct ptx_item_pattern part = *item;
    part.sinkable = item->is_result && item->kind == 'v';
    part.negatable = false;
    for (uint32_t i = 0; i < count; i++)
        all = arena_printf(p->d->arena, "%s%s%s", all, i ? ", " : "", value(p, &part, type));
    return arena_printf(p->d->arena, "%s}", all);
}

/* NULL: a form with such operands is not drawn. */
static const char *operand(struct drawn_layout *p, enum ptx_form form, const uint8_t *words,
                           const struct ptx_item_pattern *item)
{
    const enum ptx_word vectors = (enum ptx_word)words[PTX_SLOT_VECTOR];
    const uint32_t elements = vectors == PTX_W_V2   ? 2
                              : vectors == PTX_W_V4 ? 4
                              : vectors == PTX_W_V8 ? 8
                                                    : 1;
    struct ptx_type type = item->type;
    const char *move = NULL;
    switch (item->kind) {
    case 'a':
        return address(p, (enum ptx_word)words[PTX_SLOT_SPACE]);
    case 'i':
        return arena_printf(p->d->arena, "%" PRIu32,
                            ptx_forms[form].opcode == PTX_OP_CP ? 16 : 1u << below(p, 3));
    case 'b':
        return once_in(p, 4) ? register_of(p, 32)
                             : arena_printf(p->d->arena, "%" PRIu32, below(p, 16));
    case 'k':
        return register_of(p, type.kind == PTX_CLASS_NONE ? p->address_size : type.bits);
    case 'l':
        return arena_printf(p->d->arena, "L%" PRIu32, below(p, LABELS));
    case 'D':
    case 'A':
    case 'B':
    case 'C':
    case 'F':
        return ptx_fragment_registers(form, words, item->kind) == 1
                   ? value(p, item, type)
                   : vector(p, item, type, ptx_fragment_registers(form, words, item->kind));
    case 'v':
        return elements > 1 ? vector(p, item, type, elements) : value(p, item, type);
    case 'm':
        if (!item->is_result && ptx_forms[form].opcode == PTX_OP_MOV)
            move = moved(p, type);
        return move ? move : value(p, item, type);
    case 'c':
    case 'T':
    case 'x':
        return NULL;
    default:
        break;
    }
    const char *one = value(p, item, type);
    return item->paired && once_in(p, 2) && *one != '_'
               ? arena_printf(p->d->arena, "%s|%s", one, register_of(p, 1))
               : one;
}

/* ---- instructions ---- */

static const char *modifiers(struct drawn_layout *p, enum ptx_form form,
                             uint8_t words[PTX_SLOT_COUNT])
{
    const char *pattern = ptx_forms[form].modifiers, *text = "";
    struct ptx_group group;
    while (ptx_group_next(&pattern, &group)) {
        uint32_t count = 1;
        for (size_t k = 0; k < group.length; k++)
            count += group.words[k] == '|';
        if (group.optional && !once_in(p, 3))
            continue;
        const char *at = group.words;
        for (uint32_t skip = below(p, count); skip > 0; skip--)
            at = strchr(at, '|') + 1;
        const size_t length = strcspn(at, "| ");
        words[group.slot] = (uint8_t)ptx_word_find(at, length);
        text = arena_printf(p->d->arena, "%s.%.*s", text, (int)length, at);
    }
    return text;
}

/* The instructions of the branch unit change what is asked of the others, and nobody writes them. */
static bool is_left_out(enum ptx_opcode opcode)
{
    switch ((int)opcode) {
    case PTX_OP_CALL:
    case PTX_OP_BRX:
    case PTX_OP_SSY:
    case PTX_OP_PREBRK:
    case PTX_OP_PRERET:
    case PTX_OP_SYNC:
    case PTX_OP_BREAK:
        return true;
    default:
        return false;
    }
}

/* "add.u32 r1, r0, 7"; NULL: nothing this time. */
static const char *instruction(struct drawn_layout *p, enum ptx_form form)
{
    uint8_t words[PTX_SLOT_COUNT] = {0};
    const char *text = arena_printf(p->d->arena, "%s%s", ptx_mnemonics[ptx_forms[form].opcode],
                                    modifiers(p, form, words));
    const char *pattern = ptx_forms[form].operands;
    struct ptx_item_pattern item;
    bool some = false;
    while (ptx_item_next(&pattern, words, &item)) {
        if (item.optional && !once_in(p, 2))
            continue;
        const char *o = operand(p, form, words, &item);
        if (!o)
            return NULL;
        text = arena_printf(p->d->arena, "%s%s%s", text, some ? ", " : " ", o);
        some = true;
    }
    return text;
}

static void put_guard(struct drawn_layout *p)
{
    if (once_in(p, 4))
        PUT(p, "@%sp%" PRIu32 " ", once_in(p, 2) ? "!" : "", below(p, 4));
}

/* A form of the table, each opcode as often, but for those whose operands are of most kinds. */
static enum ptx_form any_form(struct drawn_layout *p)
{
    static const enum ptx_opcode often[] = {PTX_OP_MOV, PTX_OP_MOV,  PTX_OP_LD,
                                            PTX_OP_ST,  PTX_OP_ATOM, PTX_OP_CVTA,
                                            PTX_OP_BAR, PTX_OP_ADDC, PTX_OP_CP};
    const uint32_t any = below(p, PTX_OPCODE_COUNT), some = below(p, sizeof often / sizeof *often);
    const enum ptx_opcode opcode = once_in(p, 3) ? often[some] : (enum ptx_opcode)any;
    enum ptx_form found = PTX_FORM_COUNT;
    for (uint32_t form = 0, count = 0; form < PTX_FORM_COUNT; form++)
        if (ptx_forms[form].opcode == opcode && !is_left_out(opcode) && below(p, ++count) == 0)
            found = (enum ptx_form)form;
    return found;
}

static void put_instruction(struct drawn_layout *p)
{
    const enum ptx_form form = any_form(p);
    const char *text = form < PTX_FORM_COUNT ? instruction(p, form) : NULL;
    if (!text)
        return;
    PUT(p, "\t");
    put_guard(p);
    PUT(p, "%s;\n", text);
}

/* ---- calls ---- */

/* What a parameter of this shape is given, or gives back. */
static const char *argument(struct drawn_layout *p, uint32_t shape, bool is_result)
{
    static const struct ptx_type integers[] = {{PTX_CLASS_INT, 32, false},
                                               {PTX_CLASS_INT, 64, false}};
    if (is_result && once_in(p, 4))
        return "_";
    if (shapes[shape].bits == 0)
        return "own";
    if (shapes[shape].bits == 32 && once_in(p, 3))
        return "own32";
    if (!is_result && shapes[shape].bits >= 32 && once_in(p, 4))
        return number(p, integers[shapes[shape].bits == 64]);
    if (!is_result && shapes[shape].bits == 64 && once_in(p, 4))
        return arena_printf(p->d->arena, "l%" PRIu32, below(p, LOCALS));
    const char *name = register_of(p, shapes[shape].bits);
    return *name == 'v' ? "r0" : name;
}

static void put_call(struct drawn_layout *p)
{
    const uint32_t f = below(p, FUNCTIONS), kind = below(p, 4), number = p->numbers++;
    const char *target =
        kind < 2 ? arena_printf(p->d->arena, once_in(p, 6) ? "other%" PRIu32 : "f%" PRIu32, f)
                 : register_of(p, 32u << below(p, 2));
    if (kind == 2)
        PUT(p, "\tT%" PRIu32 ": .calltargets f%" PRIu32 ";\n", number, f);
    if (kind == 3) {
        PUT(p, "\tT%" PRIu32 ": .callprototype ", number);
        put_signature(p, f, NULL);
        PUT(p, ";\n");
    }
    PUT(p, "\t");
    put_guard(p);
    PUT(p, "call%s ", once_in(p, 3) ? ".uni" : "");
    if (p->result[f] < SHAPES)
        PUT(p, "(%s), ", argument(p, p->result[f], true));
    PUT(p, "%s", *target == 'v' ? "r0" : target);
    for (uint32_t i = 0; i < p->parameter_count[f]; i++)
        PUT(p, "%s%s", i ? ", " : ", (", argument(p, p->shapes[f][i], false));
    PUT(p, p->parameter_count[f] ? ")" : "");
    if (kind > 1)
        PUT(p, ", T%" PRIu32, number);
    PUT(p, ";\n");
}

/* Functions without a body that everybody has. */
static void put_outside(struct drawn_layout *p)
{
    static const char *const calls[] = {"(r0), vprintf, (w0, w1)", "(own32), vprintf, (w0, w2)",
                                        "(w1), malloc, (w0)", "free, (w3)"};
    PUT(p, "\tcall %s;\n", calls[below(p, 4)]);
}

static void put_branch(struct drawn_layout *p)
{
    const uint32_t number = p->numbers++, count = 1 + below(p, 3);
    PUT(p, "\tT%" PRIu32 ": .branchtargets ", number);
    for (uint32_t i = 0; i < count; i++)
        PUT(p, "%sL%" PRIu32, i ? ", " : "", below(p, LABELS));
    PUT(p, ";\n\t");
    put_guard(p);
    PUT(p, "brx.idx %s, T%" PRIu32 ";\n", once_in(p, 2) ? "r1" : "r2", number);
}

/* ---- functions ---- */

static void put_place(struct drawn_layout *p)
{
    PUT(p, "\t.loc %" PRIu32 " %" PRIu32 " 3", 1 + below(p, 3), 1 + below(p, 50));
    if (once_in(p, 2))
        PUT(p, ", function_name name, inlined_at %" PRIu32 " %" PRIu32 " 5", 1 + below(p, 3),
            1 + below(p, 50));
    PUT(p, "\n");
}

static void put_locals(struct drawn_layout *p)
{
    static const char *const types[] = {".b8", ".u16", ".b32", ".f64", ".v2 .u32", ".v4 .f32"};
    for (uint32_t i = 0; i < LOCALS; i++)
        PUT(p, "\t.local .align %" PRIu32 " %s l%" PRIu32 "[%" PRIu32 "];\n", 1u << below(p, 6),
            types[below(p, 6)], i, 1 + below(p, 9));
}

static void put_statements(struct drawn_layout *p, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t kind = below(p, 16);
        if (kind == 0)
            put_place(p);
        else if (kind < 3 && p->function != FUNCTIONS)
            PUT(p, "\t%sret;\n", once_in(p, 2) ? "@p0 " : "");
        else if (kind < 5)
            put_call(p);
        else if (kind == 5 && once_in(p, 2))
            put_outside(p);
        else if (kind == 5)
            put_branch(p);
        else
            put_instruction(p);
    }
}

/* Behind each of the labels some; within braces names are used again. */
static void put_body(struct drawn_layout *p)
{
    PUT(p, "{\n\t.reg .pred p<4>;\n\t.reg .b16 h<4>;\n\t.reg .b32 r<4>;\n\t.reg .b64 w<4>;\n\t.reg "
           ".b128 x<2>;\n"
           "\t.reg .v4 .b32 v;\n\t.param .align 16 .b8 own[12];\n\t.param .b32 own32;\n");
    put_locals(p);
    for (uint32_t i = 0; i < LABELS; i++) {
        const bool nested = once_in(p, 3);
        PUT(p, nested ? "{\n" : "");
        if (nested && once_in(p, 2))
            put_locals(p);
        if (nested && once_in(p, 2))
            PUT(p, "\t.reg .b32 r<4>;\n\t.shared .b32 g%" PRIu32 "[2];\n", below(p, GLOBALS));
        put_statements(p, 1 + below(p, 4));
        PUT(p, nested ? "}\n" : "");
        PUT(p, "L%" PRIu32 ":\n", i);
    }
    put_statements(p, below(p, 3));
    PUT(p, once_in(p, 2) ? "\tret;\n}\n" : "}\n");
}

static void draw_signatures(struct drawn_layout *p)
{
    for (uint32_t f = 0; f <= FUNCTIONS; f++) {
        const bool same = f > 0 && f < FUNCTIONS && once_in(p, 2);
        p->parameter_count[f] = same ? p->parameter_count[f - 1] : below(p, PARAMETERS + 1);
        p->result[f] = same                              ? p->result[f - 1]
                       : once_in(p, 2) || f == FUNCTIONS ? SHAPES
                                                         : below(p, SHAPES);
        for (uint32_t i = 0; i < p->parameter_count[f]; i++)
            p->shapes[f][i] = same && !once_in(p, 4) ? p->shapes[f - 1][i]
                              : f == FUNCTIONS ? IN_REGISTERS + below(p, SHAPES - IN_REGISTERS)
                                               : below(p, SHAPES);
    }
}

/* ---- variables ---- */

static void put_first(struct drawn_layout *p, uint32_t who, const char *type)
{
    static const char *const floats[] = {"1.5", "0f3FC00000", "0d3FF8000000000000", "-2"};
    static const char *const numbers[] = {"1", "-2", "0x7f", "3 * 5", "250"};
    const bool is_float = strchr(type, 'f') != NULL, wide = strstr(type, "64") != NULL;
    const uint32_t kind = is_float ? 0 : below(p, 4), other = who ? below(p, who) : 0;
    const bool can = who && !p->dynamic[other] && p->spaces[other] != PTX_W_LOCAL;
    if (kind == 1 && wide && can)
        PUT(p, once_in(p, 2) ? "g%" PRIu32 : "generic(g%" PRIu32 ")", other);
    else if (kind == 2 && wide && can)
        PUT(p, "g%" PRIu32 "+%" PRIu32, other, below(p, 9));
    else if (kind == 1 && strcmp(type, ".u8") == 0 && can)
        PUT(p, once_in(p, 2) ? "%s(g%" PRIu32 ")" : "%s(generic(g%" PRIu32 "))",
            once_in(p, 2) ? "0xFF" : "0xFF00", other);
    else if (kind == 3 && wide)
        PUT(p, "f%" PRIu32, below(p, FUNCTIONS));
    else
        PUT(p, "%s", is_float || once_in(p, 12) ? floats[below(p, 4)] : numbers[below(p, 5)]);
}

/* A row of so many, or some of them; of rows in rows either braces or none. */
static void put_row(struct drawn_layout *p, uint32_t who, const char *type, const uint32_t *sizes,
                    uint32_t depth)
{
    const uint32_t most = depth ? *sizes : 1, count = 1 + below(p, most);
    PUT(p, "{");
    for (uint32_t i = 0; i < count; i++) {
        PUT(p, i ? ", " : "");
        if (depth > 1 && once_in(p, 2))
            put_row(p, who, type, sizes + 1, depth - 1);
        else
            put_first(p, who, type);
    }
    PUT(p, "}");
}

static void put_variable(struct drawn_layout *p, uint32_t who)
{
    static const enum ptx_word spaces[] = {PTX_W_GLOBAL, PTX_W_CONST, PTX_W_SHARED, PTX_W_LOCAL};
    static const char *const types[] = {".b8",  ".u8",  ".s16", ".b32",
                                        ".f32", ".u64", ".b64", ".f64"};
    static const char *const vectors[] = {"", "", ".v2 ", ".v4 "};
    const uint32_t space = below(p, 4), vector = below(p, 4), dimensions = below(p, 4);
    const char *type = types[below(p, 8)];
    uint32_t sizes[4] = {1 + below(p, 4), 1 + below(p, 3), 1 + below(p, 3)};
    const bool has_first = space < 2 && once_in(p, 2),
               open = has_first && dimensions > 0 && once_in(p, 3);
    p->spaces[who] = spaces[space];
    p->dynamic[who] = space == 2 && once_in(p, 4);
    if (p->dynamic[who]) {
        PUT(p, ".extern .shared .align %" PRIu32 " %s g%" PRIu32 "[];\n", 1u << below(p, 8), type,
            who);
        return;
    }
    PUT(p, ".%s ", ptx_words[spaces[space]]);
    if (once_in(p, 2))
        PUT(p, ".align %" PRIu32 " ", 1u << below(p, 8));
    PUT(p, "%s%s g%" PRIu32, vectors[vector], type, who);
    for (uint32_t i = 0; i < dimensions; i++)
        if (open && i == 0)
            PUT(p, "[]");
        else
            PUT(p, "[%" PRIu32 "]", sizes[i]);
    if (has_first) {
        uint32_t depth = dimensions;
        if (vector > 1)
            sizes[depth++] = vector > 2 ? 4 : 2;
        PUT(p, " = ");
        if (depth > 0)
            put_row(p, who, type, sizes, depth);
        else
            put_first(p, who, type);
    }
    PUT(p, ";\n");
}

/* ---- the module ---- */

static void put_settings(struct drawn_layout *p)
{
    static const char *const fills[] = {"", ":iota", ":random", ":zero", ":7"};
    PUT(p,
        "// simtfuzz: entry=k blocks=%" PRIu32 "x%" PRIu32 " threads=%" PRIu32 "x%" PRIu32
        " warp=32 seed=0x%" PRIx32 " shared=%" PRIu32,
        1 + below(p, 2), 1 + below(p, 2), 1 + below(p, 20), 1 + below(p, 3), below(p, 1000),
        4 * below(p, 9));
    for (uint32_t i = 0; i < p->parameter_count[FUNCTIONS]; i++) {
        const uint32_t bits = shapes[p->shapes[FUNCTIONS][i]].bits, kind = below(p, 4);
        if (bits == 0 || kind == 0)
            PUT(p, bits ? " bind:a%" PRIu32 "=9" : " bind:a%" PRIu32 "=words:1,2,3", i);
        else if (bits >= p->address_size || (bits == 32 && kind == 1))
            PUT(p, " bind:a%" PRIu32 "=%s:%" PRIu32 "%s", i, once_in(p, 4) ? "shared" : "buffer",
                4 + below(p, 40), fills[below(p, 5)]);
    }
    PUT(p,
        "\n.version 8.6\n.target sm_90\n.address_size %" PRIu32
        "\n.file 1 \"dir/a.cu\"\n.file 2 \"/usr/include/b.h\"\n.file 3 \"c.cu\"\n",
        p->address_size);
}

static void put_module(struct drawn_layout *p)
{
    p->address_size = once_in(p, 4) ? 32 : 64;
    draw_signatures(p);
    put_settings(p);
    PUT(p, ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
           ".extern .func (.param .b64 r) malloc (.param .b64 a);\n.extern .func free (.param .b64 "
           "a);\n");
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        for (uint32_t other = 0; other < 2; other++) {
            PUT(p, ".func ");
            put_signature(p, f,
                          arena_printf(p->d->arena, other ? "other%" PRIu32 : "f%" PRIu32, f));
            PUT(p, ";\n");
            if (other)
                PUT(p, ".alias other%" PRIu32 ", f%" PRIu32 ";\n", f, f);
        }
    while (p->global_count < GLOBALS)
        put_variable(p, p->global_count++);
    for (p->function = 0; p->function <= FUNCTIONS; p->function++) {
        const bool is_entry = p->function == FUNCTIONS;
        PUT(p, is_entry ? ".visible .entry " : ".func ");
        put_signature(p, p->function,
                      is_entry ? "k" : arena_printf(p->d->arena, "f%" PRIu32, p->function));
        PUT(p, "\n");
        put_body(p);
    }
}

/* ---- what is left of it ---- */

/* The statement in this line goes. False: it is none. */
static bool remove_line(char *text, uint32_t line)
{
    for (; line > 1 && text; line--) {
        text = strchr(text, '\n');
        text += text != NULL;
    }
    if (!text || *text != '\t')
        return false;
    for (; *text && *text != '\n'; text++)
        *text = ' ';
    return true;
}

static bool remove_refused(char *text, const struct diag *diag)
{
    bool good = diag->count > 0;
    for (uint32_t i = 0; i < diag->count && i < DIAG_MAX && good; i++)
        good = remove_line(text, diag->entries[i].at.line);
    return good;
}

/* Some statements nobody takes, as operands do not fit each other; those go. NULL: more is wrong than that. */
static const struct program *compiled(struct arena *arena, char *text,
                                      const struct ast_kernel **kernel)
{
    enum { ROUNDS = 12 };
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct diag *diag = ARENA_NEW(arena, struct diag);
        diag_init(diag, "text", text, strlen(text));
        *kernel = parse_kernel(arena, text, strlen(text), diag);
        const char *why = "", *line;
        const struct program *program = *kernel ? program_compile(arena, *kernel, &why) : NULL;
        if (program)
            return program;
        if (!*kernel && !remove_refused(text, diag))
            return NULL;
        line = *kernel ? strstr(why, "line ") : NULL;
        if (*kernel && (!line || !remove_line(text, (uint32_t)strtoul(line + 5, NULL, 10))))
            return NULL;
    }
    return NULL;
}

const char *texts_of_layout(struct arena *arena, uint64_t number, const char **text, bool *taken)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_LAYOUTS);
    struct drawn_layout p = {.d = &d};
    put_module(&p);
    *text = d.text.bytes;
    const struct ast_kernel *kernel;
    const struct program *program = compiled(arena, d.text.bytes, &kernel);
    const char *differs = program ? layout_differs(arena, program, true) : NULL, *why;
    *taken = program != NULL;
    if (differs)
        return arena_printf(arena, "laid out, %s", differs);
    if (!program || !once_in(&p, PRINTED))
        return NULL;
    const struct ast_kernel *again = drawn_read(arena, print_kernel(arena, kernel), &why);
    return again ? drawn_differ(arena, "printed", words_of_kernel(arena, again),
                                words_of_kernel(arena, kernel))
                 : arena_printf(arena, "printed: refused, %s", why);
}
