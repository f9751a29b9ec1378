/*
 * texts_rows.c - instructions of any row of PTX's table, with any of their modifiers, in any order that the row leaves
 * open, and operands that fit, or of which one does not. What is read and printed has the tokens that were drawn, no
 * more and no fewer: which modifiers there are is counted, not looked up.
 */
#include "engine/ptx/ptx.h"
#include "oracle/drawn/drawn.h"
#include "oracle/texts/texts.h"

#include <stdlib.h>
#include <string.h>

#define END "\nret;\n}\n"
enum {
    CONSTANTS = 8,
    INSTRUCTIONS = 6,
    WRONG = 4 /* behind them, until one is wrong */,
    MODIFIERS = 16
};

struct row {
    struct drawn *d;
    uint8_t words[PTX_SLOT_COUNT];
    const char *modifiers[MODIFIERS]; /* in the order of the text */
    uint32_t count;
    struct text operands; /* as they are printed */
    bool may_err, wrong;  /* one of them shall not fit; does not */
};

static uint32_t below(struct row *r, uint32_t n)
{
    return drawn_below(r->d, n);
}

static bool once_in(struct row *r, uint32_t n)
{
    return drawn_once_in(r->d, n);
}

/* Whether what comes next does not fit: once, as a rule not at the first place. */
static bool errs(struct row *r)
{
    const bool is = r->may_err && !r->wrong && once_in(r, 3);
    r->wrong |= is;
    return is;
}

/* ---- modifiers ---- */

/* One of the words of a group. */
static void modifier(struct row *r, const struct ptx_group *group)
{
    uint32_t ways = 1, at = 0;
    for (size_t i = 0; i < group->length; i++)
        ways += group->words[i] == '|';
    const char *word = group->words;
    for (uint32_t way = below(r, ways); way > 0; at++)
        way -= word[at] == '|';
    word += at;
    const size_t left = group->length - at, length = strcspn(word, "| ");
    word = arena_strndup(r->d->arena, word, length < left ? length : left);
    r->words[group->slot] = (uint8_t)ptx_word_find(word, strlen(word));
    r->modifiers[r->count++] = word;
}

/* The next group of a pattern, `~?slot:word|word`, whose marks and words are read here: only which slot it is, where
 * the pattern does not name one, is the table's matter. */
static bool next_group(const char **pattern, struct ptx_group *group)
{
    const char *from = *pattern + strspn(*pattern, " "), *end = from + strcspn(from, " ");
    const size_t marks = strspn(from, "~?");
    if (!ptx_group_next(pattern, group))
        return false;
    group->floating = memchr(from, '~', marks) != NULL;
    group->optional = memchr(from, '?', marks) != NULL;
    group->words = from + marks;
    for (const char *c = from + marks; c < end; c++)
        if (*c == ':' && c[1] != ':' && c[-1] != ':')
            group->words = c + 1;
    group->length = (size_t)(end - group->words);
    return true;
}

/* Those that may stand anywhere stand in front of any other, or behind all. */
static void draw_modifiers(struct row *r, enum ptx_form form)
{
    const char *pattern = ptx_forms[form].modifiers;
    struct ptx_group floating[MODIFIERS], group;
    uint32_t waiting = 0;
    for (const char *at = pattern; next_group(&at, &group);)
        if (group.floating && !(group.optional && once_in(r, 2)))
            floating[waiting++] = group;
    for (bool more = true; more;) {
        while (waiting > 0 && once_in(r, 3))
            modifier(r, &floating[--waiting]);
        more = next_group(&pattern, &group);
        if (more && !group.floating && !(group.optional && once_in(r, 2)))
            modifier(r, &group);
    }
    while (waiting > 0)
        modifier(r, &floating[--waiting]);
}

/* ---- registers (PTX ISA 9.4, tables 25 to 27) ---- */

static const struct {
    const char *type;
    enum ptx_class kind;
    uint32_t bits;
} registers[] = {
    {"pred", PTX_CLASS_PRED, 1},  {"b16", PTX_CLASS_BITS, 16},  {"u16", PTX_CLASS_INT, 16},
    {"s16", PTX_CLASS_INT, 16},   {"f16", PTX_CLASS_FLOAT, 16}, {"b32", PTX_CLASS_BITS, 32},
    {"u32", PTX_CLASS_INT, 32},   {"s32", PTX_CLASS_INT, 32},   {"f32", PTX_CLASS_FLOAT, 32},
    {"b64", PTX_CLASS_BITS, 64},  {"u64", PTX_CLASS_INT, 64},   {"s64", PTX_CLASS_INT, 64},
    {"f64", PTX_CLASS_FLOAT, 64}, {"b128", PTX_CLASS_BITS, 128}};

enum { REGISTERS = sizeof registers / sizeof *registers, OF_A_TYPE = 3 };

static bool takes(const struct ptx_item_pattern *item, uint32_t at)
{
    const enum ptx_class own = registers[at].kind, kind = item->type.kind;
    if (own == PTX_CLASS_PRED || kind == PTX_CLASS_PRED)
        return own == kind;
    if (own != kind && own != PTX_CLASS_BITS && kind != PTX_CLASS_BITS)
        return false;
    const bool both_float = own == PTX_CLASS_FLOAT && kind == PTX_CLASS_FLOAT;
    return registers[at].bits == item->type.bits ||
           (item->relaxed && registers[at].bits > item->type.bits && !both_float);
}

/* The next token, and how it is printed. */
static void put(struct row *r, const char *token)
{
    drawn_token(r->d, token);
    text_put(&r->operands, token);
}

static void between(struct row *r)
{
    drawn_token(r->d, ",");
    text_put(&r->operands, ", ");
}

static const char *name_of(struct row *r, uint32_t at)
{
    return arena_printf(r->d->arena, "%%%s_%u", registers[at].type, (unsigned)below(r, OF_A_TYPE));
}

/* One of those that fit. */
static uint32_t drawn_fitting(struct row *r, const struct ptx_item_pattern *item)
{
    uint32_t at = below(r, REGISTERS);
    while (!takes(item, at))
        at = (at + 1) % REGISTERS;
    return at;
}

/* One that does not, although its size or its kind does. */
static uint32_t drawn_near(struct row *r, const struct ptx_item_pattern *item)
{
    uint32_t at = below(r, REGISTERS);
    while (takes(item, at) || (registers[at].kind != item->type.kind &&
                               registers[at].bits != item->type.bits && !once_in(r, REGISTERS)))
        at = (at + 1) % REGISTERS;
    return at;
}

/* Of a vector, by its place or its colour; once without, or of what is no vector. */
static void element(struct row *r, uint32_t at)
{
    static const char *const names[] = {"x", "y", "z", "w", "r", "g", "b", "a"};
    const uint32_t which = below(r, 8), is = once_in(r, 3) && errs(r) ? 1 + below(r, 2) : 0;
    const char *name = arena_printf(r->d->arena, is == 1 ? "%%%s_1" : "%%%s_v", registers[at].type);
    drawn_token(r->d, is == 2 ? name : arena_printf(r->d->arena, "%s.%s", name, names[which]));
    text_format(&r->operands, "%s.%s", name, names[which % 4]);
}

/* Or one that is negated where that may not be. */
static void reg(struct row *r, const struct ptx_item_pattern *item)
{
    const bool wrong = errs(r), is_truth = item->type.kind == PTX_CLASS_PRED;
    const bool negates = wrong && is_truth && !item->negatable;
    const uint32_t at = wrong && !negates ? drawn_near(r, item) : drawn_fitting(r, item);
    if (negates || (item->negatable && once_in(r, 3)))
        put(r, "!");
    if (!is_truth && registers[at].kind != PTX_CLASS_PRED && once_in(r, 8))
        element(r, at);
    else
        put(r, name_of(r, at));
}

static void integer(struct row *r, uint64_t value)
{
    drawn_spell(r->d, value);
    text_format(&r->operands, "%llu", (unsigned long long)value);
}

/* ---- operands ---- */

/* An integer where a float is wanted, or the other way round, does not fit. */
static void constant(struct row *r, const struct ptx_item_pattern *item)
{
    const bool is_float =
        (item->type.kind == PTX_CLASS_FLOAT) != (item->type.kind != PTX_CLASS_BITS && errs(r));
    if (!is_float)
        integer(r, below(r, 16));
    else if (once_in(r, 2))
        put(r, arena_printf(r->d->arena, "0f%08X", (unsigned)pcg_next(&r->d->rng)));
    else
        put(r, arena_printf(r->d->arena, "0d%08X%08X", (unsigned)pcg_next(&r->d->rng), 5u));
}

/* r|p where there may be two. */
static void value(struct row *r, const struct ptx_item_pattern *item)
{
    static const struct ptx_item_pattern truth = {.is_result = true,
                                                  .type = {PTX_CLASS_PRED, 1, false}};
    if (item->is_result ? item->sinkable && once_in(r, 4) : once_in(r, 64) && errs(r)) {
        put(r, "_");
    } else if (item->is_result ? once_in(r, 16) && errs(r) : once_in(r, 4)) {
        constant(r, item);
    } else {
        reg(r, item);
        if (!item->paired ? !once_in(r, 16) || !errs(r) : once_in(r, 2))
            return;
        put(r, "|");
        if (once_in(r, 3))
            put(r, "_");
        else
            reg(r, &truth);
    }
}

static void vector(struct row *r, struct ptx_item_pattern item, uint32_t count)
{
    count += once_in(r, 4) && errs(r);
    put(r, "{");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            between(r);
        reg(r, &item);
    }
    put(r, "}");
}

static bool has_word(const struct row *r, enum ptx_slot slot, const char *word)
{
    return r->words[slot] != PTX_W_NONE && strcmp(ptx_words[r->words[slot]], word) == 0;
}

static uint32_t elements(const struct row *r)
{
    return has_word(r, PTX_SLOT_VECTOR, "v2")   ? 2
           : has_word(r, PTX_SLOT_VECTOR, "v4") ? 4
           : has_word(r, PTX_SLOT_VECTOR, "v8") ? 8
                                                : 1;
}

/* A variable of the space, or, of a generic address, of one that has such; a register: in generic and global memory an
 * address has 64 bits, elsewhere 32 will do. */
static void base(struct row *r)
{
    static const char *const names[] = {"gv", "sv", "lv", "cv", "pv"};
    static const char *const spaces[] = {"global", "shared", "local", "const", "param"};
    static const char *const near[] = {"%u32_0", "%b32_1", "%f64_0", "%s16_2", "%pred_1"};
    static const struct ptx_item_pattern wide = {.type = {PTX_CLASS_INT, 64, false}},
                                         narrow = {.type = {PTX_CLASS_INT, 32, false}};
    enum { SPACES = sizeof spaces / sizeof *spaces, GENERIC = 3, NARROW = 2 };
    const bool is_named = r->words[PTX_SLOT_SPACE] != PTX_W_NONE, is_name = !once_in(r, 3);
    const char *space = ptx_words[r->words[PTX_SLOT_SPACE]];
    uint32_t at = below(r, GENERIC);
    for (uint32_t i = 0; is_named && i < SPACES; i++)
        at = strncmp(space, spaces[i], strlen(spaces[i])) == 0 ? i : at;
    const bool is_far = !is_named || at == 0, wrong = errs(r);
    if (is_name && wrong)
        at = is_named ? (at + 1 + below(r, SPACES - 1)) % SPACES : GENERIC + below(r, 2);
    if (is_name)
        put(r, names[at]);
    else if (wrong)
        put(r, near[is_far ? below(r, 5) : NARROW + below(r, 3)]);
    else
        put(r, name_of(r, drawn_fitting(r, is_far || once_in(r, 2) ? &wide : &narrow)));
}

/* [base + n], [n]. `open`: without what closes. */
static void address(struct row *r, bool open)
{
    const uint32_t by = below(r, 3);
    put(r, "[");
    if (once_in(r, 4)) {
        integer(r, 8 * by);
    } else {
        base(r);
        if (by > 0) {
            put(r, once_in(r, 2) ? "+" : "-");
            integer(r, by);
        }
    }
    if (!open)
        put(r, "]");
}

/* As many as the geometry has, the layer first, which is a number without a sign. */
static void coordinates(struct row *r, const struct ptx_item_pattern *item)
{
    const struct ptx_item_pattern layer = {.type = {PTX_CLASS_INT, 32, false}};
    const bool layered = has_word(r, PTX_SLOT_SHAPE, "a1d") || has_word(r, PTX_SLOT_SHAPE, "a2d");
    const uint32_t count = layered + (has_word(r, PTX_SLOT_SHAPE, "3d")    ? 3u
                                      : has_word(r, PTX_SLOT_SHAPE, "2d")  ? 2u
                                      : has_word(r, PTX_SLOT_SHAPE, "a2d") ? 2u
                                                                           : 1u);
    put(r, "{");
    for (uint32_t i = 0; i < (count == 3 && once_in(r, 2) ? 4 : count); i++) {
        if (i > 0)
            between(r);
        reg(r, i == 0 && layered ? &layer : item);
    }
    put(r, "}");
    put(r, "]");
}

/* What mov takes: as it is, or in parts that share its bits. */
static void moved(struct row *r, struct ptx_item_pattern item, bool may_be_parts)
{
    if (item.type.kind != PTX_CLASS_BITS || item.type.bits < 32 || !may_be_parts || once_in(r, 2)) {
        value(r, &item);
        return;
    }
    const uint32_t parts = item.type.bits == 64 && once_in(r, 2) ? 4 : 2;
    item.type.bits = (uint8_t)(item.type.bits / parts);
    vector(r, item, parts);
}

static void operand(struct row *r, enum ptx_form form, const struct ptx_item_pattern *item,
                    uint32_t place)
{
    static const struct ptx_item_pattern any = {.type = {PTX_CLASS_INT, 64, false}};
    uint32_t count;
    switch (item->kind) {
    case 'a':
        address(r, ptx_has_coordinates(ptx_forms[form].opcode));
        return;
    case 'x':
        coordinates(r, item);
        return;
    case 'k':
        put(r, name_of(r, drawn_fitting(r, item->type.kind == PTX_CLASS_NONE ? &any : item)));
        return;
    case 'l':
        put(r, "Here");
        return;
    case 'i':
    case 'b':
        if (item->kind == 'i' && errs(r))
            reg(r, &any);
        else
            integer(r, item->kind == 'b' && errs(r) ? 16 : below(r, 16));
        return;
    case 'm':
        moved(r, *item, place == 0);
        return;
    case 'v':
    case 'D':
    case 'A':
    case 'B':
    case 'C':
    case 'F':
        count =
            item->kind == 'v' ? elements(r) : ptx_fragment_registers(form, r->words, item->kind);
        if (count > 1 || (item->kind != 'v' && once_in(r, 2)))
            vector(r, *item, count);
        else
            value(r, item);
        return;
    default:
        value(r, item);
    }
}

/* The next item, whose marks, `?=_!` before its letter and `~|` behind it, are read here. */
static bool next_item(const char **pattern, const uint8_t *words, struct ptx_item_pattern *item)
{
    const char *from = *pattern + strspn(*pattern, " ");
    const size_t length = strcspn(from, " ");
    if (!ptx_item_next(pattern, words, item))
        return false;
    item->optional = memchr(from, '?', length) != NULL;
    item->is_result = memchr(from, '=', length) != NULL;
    item->sinkable = memchr(from, '_', length) != NULL;
    item->negatable = memchr(from, '!', length) != NULL;
    item->relaxed = memchr(from, '~', length) != NULL;
    item->paired = memchr(from, '|', length) != NULL;
    item->kind = from[strspn(from, "?=_!")];
    return true;
}

/* What is optional stands from the left on, as far as it is there. */
static void draw_operands(struct row *r, enum ptx_form form)
{
    const char *pattern = ptx_forms[form].operands;
    struct ptx_item_pattern item;
    uint32_t count = 0, extra = below(r, 2);
    bool is_open = false;
    while (next_item(&pattern, r->words, &item)) {
        is_open |= item.optional;
        if (item.optional && extra == 0)
            continue;
        extra -= item.optional;
        if (count > 0)
            between(r);
        operand(r, form, &item, count++);
    }
    if (count > 0 && !is_open && once_in(r, 8) && errs(r)) {
        between(r);
        integer(r, 1);
    }
}

/* ---- an instruction ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "@p mnemonic.b.a x, y;": with the modifiers in the order of the alphabet. */
static const char *sorted(struct arena *arena, const char *before, const char *const *modifiers,
                          uint32_t count, const char *rest)
{
    const char *list[MODIFIERS], *line = before;
    memcpy(list, modifiers, count * sizeof *list);
    qsort(list, count, sizeof *list, by_text);
    for (uint32_t i = 0; i < count; i++)
        line = arena_printf(arena, "%s.%s", line, list[i]);
    return arena_printf(arena, "%s%s", line, rest);
}

static bool is_drawn(enum ptx_form form)
{
    return ptx_forms[form].opcode != PTX_OP_CALL && ptx_forms[form].opcode != PTX_OP_BRX;
}

/* How it must be printed. */
static const char *instruction(struct row *r)
{
    static const struct ptx_item_pattern truth = {.negatable = true,
                                                  .type = {PTX_CLASS_PRED, 1, false}};
    struct arena *arena = r->d->arena;
    enum ptx_form form = (enum ptx_form)below(r, PTX_FORM_COUNT);
    while (!is_drawn(form))
        form = (enum ptx_form)below(r, PTX_FORM_COUNT);
    const char *mnemonic = ptx_mnemonics[ptx_forms[form].opcode], *text = mnemonic;
    memset(r->words, 0, sizeof r->words);
    r->count = 0;
    r->operands = text_begin(arena);
    draw_modifiers(r, form);
    if (once_in(r, 4)) {
        put(r, "@");
        reg(r, &truth);
        text_put(&r->operands, " ");
    }
    for (uint32_t i = 0; i < r->count; i++)
        text = arena_printf(arena, "%s.%s", text, r->modifiers[i]);
    drawn_token(r->d, text);
    const char *before = arena_printf(arena, "%s%s", r->operands.bytes, mnemonic);
    r->operands = text_begin(arena);
    draw_operands(r, form);
    drawn_token(r->d, ";");
    return sorted(arena, before, r->modifiers, r->count,
                  arena_printf(arena, "%s%s;", *r->operands.bytes ? " " : "", r->operands.bytes));
}

/* The same of what is printed. */
static const char *as_printed(struct arena *arena, const struct ptx_instruction *i)
{
    char *line = ptx_print_instruction(arena, i), *at = *line == '@' ? strchr(line, ' ') + 1 : line;
    char *rest = at + strcspn(at, " ;");
    const char *tail = arena_printf(arena, "%s", rest), *modifiers[MODIFIERS];
    uint32_t count = 0;
    *rest = '\0';
    for (at = strchr(at, '.'); at && count < MODIFIERS; at = strchr(at, '.')) {
        *at++ = '\0';
        modifiers[count++] = at;
    }
    return sorted(arena, line, modifiers, count, tail);
}

static const struct ptx_module *read_module(struct arena *arena, const char *text, const char **why)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "text", text, strlen(text));
    const struct ptx_module *module = ptx_parse(arena, text, strlen(text), diag);
    if (!module)
        *why = drawn_first_error(arena, diag);
    return module;
}

static const char *compare(struct arena *arena, const char *what, const char *text,
                           const uint64_t *values, const char *const *meant,
                           const struct ptx_module **module)
{
    const char *why;
    *module = read_module(arena, text, &why);
    if (!*module)
        return arena_printf(arena, "%s: refused, %s", what, why);
    const struct ptx_item *item = (*module)->items;
    for (; item->kind != PTX_ITEM_FUNCTION; item = item->next) {
        const struct ptx_init *init = item->u.variable->init ? item->u.variable->init->items : NULL;
        for (uint32_t i = 0; init; init = init->next, i++)
            if (i == CONSTANTS || init->value != values[i])
                return arena_printf(arena, "%s: constant %u is %llx where %llx is meant", what, i,
                                    (unsigned long long)init->value,
                                    (unsigned long long)values[i % CONSTANTS]);
    }
    uint32_t at = 0;
    for (const struct ptx_statement *s = item->u.function->body; s; s = s->next) {
        if (s->kind != PTX_INSTRUCTION || at == INSTRUCTIONS)
            continue;
        const char *differs =
            drawn_differ(arena, what, as_printed(arena, &s->u.instruction), meant[at++]);
        if (differs)
            return differs;
    }
    return at == INSTRUCTIONS ? NULL : arena_printf(arena, "%s: too few instructions", what);
}

/* A word's type is what its name says: a letter, bits, `x` how many. A pair of integers is one number without a sign of
 * its own, what no register has as it is are bits. */
static const char *of_type(struct row *r)
{
    static const char *const bits_alone[] = {"tf32", "b1",     "f32x2", "e4m3",
                                             "e5m2", "e4m3x2", "e5m2x2"};
    static const uint8_t so_many[] = {32, 32, 64, 8, 8, 16, 16};
    const enum ptx_word word = (enum ptx_word)below(r, PTX_WORD_COUNT);
    const char *name = word ? ptx_words[word] : "";
    const struct ptx_type type = ptx_type_of(word);
    const char letter = *name;
    char *end = (char *)(uintptr_t)name + (*name != '\0');
    uint32_t bits = (uint32_t)strtoul(end, &end, 10);
    if (letter == 'b' && strncmp(name, "bf16", 4) == 0)
        bits = (uint32_t)strtoul(name + 2, &end, 10);
    if (*end == 'x')
        bits *= (uint32_t)strtoul(end + 1, &end, 10);
    enum ptx_class kind = letter == 'f' || strncmp(name, "bf", 2) == 0 ? PTX_CLASS_FLOAT
                          : letter == 'b'                              ? PTX_CLASS_BITS
                                                                       : PTX_CLASS_INT;
    const bool known = bits > 0 && *end == '\0' && strchr("bsuf", letter);
    for (uint32_t i = 0; i < sizeof so_many; i++)
        if (strcmp(name, bits_alone[i]) == 0)
            return type.kind == PTX_CLASS_BITS && type.bits == so_many[i] ? NULL : name;
    if (!known)
        return NULL;
    return type.kind == kind && type.bits == bits &&
                   type.is_signed == (letter == 's' || kind == PTX_CLASS_FLOAT)
               ? NULL
               : name;
}

const char *texts_of_rows(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_ROWS);
    struct row r = {.d = &d};
    uint64_t values[CONSTANTS];
    const char *meant[INSTRUCTIONS], *differs;
    const struct ptx_module *module;
    *text = "";
    differs = of_type(&r);
    if (differs)
        return arena_printf(arena, "type: %s", differs);
    text_put(&d.text, ".version 8.6\n.target sm_90\n.address_size 64\n.global .b64 gv[8];\n"
                      ".shared .b64 sv[8];\n.const .b64 cv[8];\n.global .u64 values[] = {");
    for (uint32_t i = 0; i < CONSTANTS; i++) {
        drawn_token(&d, i ? "," : "");
        values[i] = drawn_constant(&d);
    }
    text_put(&d.text, "};\n.entry k(.param .b64 pv)\n{\n.local .b64 lv[8];\n");
    for (uint32_t i = 0; i < REGISTERS; i++)
        text_format(
            &d.text, i ? ".reg .%s %%%s_<%d>; .reg .v4 .%s %%%s_v;\n" : ".reg .%s %%%s_<%d>;\n",
            registers[i].type, registers[i].type, OF_A_TYPE, registers[i].type, registers[i].type);
    text_put(&d.text, "Here:\n");
    for (uint32_t i = 0; i < INSTRUCTIONS; i++)
        meant[i] = instruction(&r);
    *text = arena_printf(arena, "%s%s", d.text.bytes, END);
    if ((differs = compare(arena, "read", *text, values, meant, &module)))
        return differs;
    *text = ptx_print(arena, module);
    if ((differs = compare(arena, "printed", *text, values, meant, &module)))
        return differs;
    r.may_err = true;
    for (uint32_t i = 0; i < WRONG && !r.wrong; i++)
        (void)instruction(&r);
    *text = arena_printf(arena, "%s%s", d.text.bytes, END);
    return r.wrong && read_module(arena, *text, &differs) ? "taken: an operand that does not fit"
                                                          : NULL;
}
