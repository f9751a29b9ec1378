/*
 * drawn_module.c - kernels given as PTX: settings, and a module whose names hide each other in nested blocks, single
 * registers and ranges. What a name means, and which register an operand takes, is told here once more.
 */
#include "engine/ptx/ptx.h"
#include "oracle/drawn/drawn.h"
#include "oracle/drawn/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DECLARED = 48, DEEP = 3 };

/* A register, or range of registers, or a variable in memory. */
struct declared {
    const char *name;
    enum ptx_word space, type;
    uint32_t range; /* 0: none */
    uint32_t number, depth;
};

struct module {
    struct drawn *d;
    struct declared list[DECLARED]; /* what is visible: outer scopes first */
    uint32_t count, depth, numbers;
    uint32_t labels[2]; /* their numbers: at the function's start and end */
    bool is_numbered[2];
    bool may_err, wrong; /* one operand is to be refused; has been drawn */
};

static void put(struct module *m, const char *token)
{
    drawn_token(m->d, token);
}

static void say(struct module *m, const char *word)
{
    drawn_word(m->d, word);
}

static uint32_t below(struct module *m, uint32_t n)
{
    return drawn_below(m->d, n);
}

static bool once_in(struct module *m, uint32_t n)
{
    return drawn_once_in(m->d, n);
}

static void say_number(struct module *m, uint64_t value)
{
    text_format(&m->d->words, "%" PRIx64 " ", value);
}

static void say_told(struct module *m, uint32_t number)
{
    text_format(&m->d->words, "v%u ", number);
}

/* Where a predicate might stand, `!` is its own. */
static uint64_t number_of_operand(struct module *m)
{
    bool plain = once_in(m, 2);
    put(m, plain ? "" : "(");
    uint64_t value = plain ? drawn_literal(m->d) : drawn_constant(m->d);
    put(m, plain ? "" : ")");
    return value;
}

/* ---- names (PTX ISA 5.4): the innermost scope counts, and a range is as if each of its names were declared ---- */

static bool covers(const struct declared *x, const char *name, uint32_t *index)
{
    size_t length = strlen(x->name);
    *index = 0;
    if (x->range == 0)
        return strcmp(x->name, name) == 0;
    const char *digits = name + length;
    if (strncmp(x->name, name, length) != 0 || *digits == '\0' || strlen(digits) > 4 ||
        strspn(digits, "0123456789") != strlen(digits) || (digits[0] == '0' && digits[1]))
        return false;
    for (; *digits; digits++)
        *index = *index * 10 + (uint32_t)(*digits - '0');
    return *index < x->range;
}

static const struct declared *meaning(const struct module *m, const char *name)
{
    const struct declared *best = NULL;
    uint32_t index;
    for (uint32_t i = 0; i < m->count; i++)
        if (covers(&m->list[i], name, &index) && (!best || m->list[i].depth > best->depth))
            best = &m->list[i];
    return best;
}

static void full_name(const struct declared *x, uint32_t index, char name[32])
{
    if (x->range)
        snprintf(name, 32, "%s%u", x->name, (unsigned)index);
    else
        snprintf(name, 32, "%s", x->name);
}

/* Whether the scope at hand has a name of x already. */
static bool clashes(const struct module *m, const struct declared *x)
{
    char name[32];
    uint32_t index;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct declared *y = &m->list[i];
        size_t length = strlen(x->name), other = strlen(y->name);
        if (y->depth != m->depth || strncmp(x->name, y->name, length < other ? length : other) != 0)
            continue;
        if (strcmp(x->name, y->name) == 0)
            return true;
        for (uint32_t k = 0; k < (x->range ? x->range : 1); k++) {
            full_name(x, k, name);
            if (covers(y, name, &index))
                return true;
        }
    }
    return false;
}

/* What has just been said. */
static void declare(struct module *m, struct declared x)
{
    x.depth = m->depth;
    x.number = m->numbers++;
    m->list[m->count++] = x;
}

/* ---- which register an operand takes (PTX ISA 9.4) ---- */

enum sort { TRUTH, BITS, INTEGER, FLOAT };

static enum sort sort_of(enum ptx_word type)
{
    const char *word = words_of_ptx_type(type);
    return *word == 't' ? TRUTH : *word == 'b' ? BITS : *word == 'f' ? FLOAT : INTEGER;
}

static uint32_t bits_of(enum ptx_word type)
{
    const char *word = words_of_ptx_type(type);
    return strstr(word, "16") ? 16 : strstr(word, "32") ? 32 : strstr(word, "64") ? 64 : 1;
}

static bool takes(enum sort sort, uint32_t bits, bool wider, enum ptx_word type)
{
    enum sort own = sort_of(type);
    uint32_t size = bits_of(type);
    if (sort == TRUTH || own == TRUTH)
        return sort == own;
    if (size < bits || (size > bits && !wider))
        return false;
    if (size > bits && sort == FLOAT)
        return own == BITS;
    return own == sort || own == BITS || sort == BITS;
}

/* ---- operands ---- */

/*
 * An operand of a shape: [=][!][~][|]SORT BITS [xN], for instance "=~i32", "!p", "=p|", "b32x2". Sorts: p, b, i, f; s
 * what an integer is, or a special register; a an address of global, h of shared memory, 0 none; n a number below 16; l
 * label.
 */
struct slot {
    bool result, negatable, wider, paired;
    char kind;
    uint32_t bits, count;
};

static const char *next_slot(const char *at, struct slot *slot)
{
    *slot = (struct slot){.count = 1};
    for (; strchr("=!~", *at); at++) {
        slot->result |= *at == '=';
        slot->negatable |= *at == '!';
        slot->wider |= *at == '~';
    }
    slot->kind = *at++;
    for (; *at >= '0' && *at <= '9'; at++)
        slot->bits = slot->bits * 10 + (uint32_t)(*at - '0');
    for (; *at == '|'; at++)
        slot->paired = true;
    if (*at == 'x') {
        slot->count = (uint32_t)(at[1] - '0');
        at += 2;
    }
    return *at == ' ' ? at + 1 : at;
}

static enum sort wanted(const struct slot *slot)
{
    return slot->kind == 'p'   ? TRUTH
           : slot->kind == 'b' ? BITS
           : slot->kind == 'f' ? FLOAT
                               : INTEGER;
}

/* A register that it takes, or, once in a text that is to be refused, one that it does not. */
static void reg(struct module *m, const struct slot *slot)
{
    uint32_t first = below(m, m->count);
    bool err = m->may_err && !m->wrong && once_in(m, 4);
    for (uint32_t k = 0; k < m->count; k++) {
        const struct declared *x = &m->list[(first + k) % m->count];
        char name[32];
        uint32_t index = x->range ? below(m, x->range) : 0;
        if (x->space != PTX_W_REG || takes(wanted(slot), slot->bits, slot->wider, x->type) == err)
            continue;
        full_name(x, index, name);
        if (meaning(m, name) != x)
            continue;
        if (slot->negatable && once_in(m, 3)) {
            put(m, "!");
            say(m, "not");
        }
        put(m, name);
        say_told(m, x->number);
        say_number(m, index);
        m->wrong |= err;
        return;
    }
}

static void special(struct module *m, const struct slot *slot)
{
    static const char *const names[] = {"%tid.x",  "%ntid.y", "%ctaid.z",     "%nctaid.x",
                                        "%laneid", "%warpid", "%lanemask_lt", "%clock"};
    static const char *const words[] = {"tid part x ",    "ntid part y ", "ctaid part z ",
                                        "nctaid part x ", "laneid ",      "warpid ",
                                        "lanemask_lt ",   "clock "};
    uint32_t at = below(m, sizeof names / sizeof *names);
    say(m, "name");
    if (slot->bits == 64) {
        put(m, once_in(m, 2) ? "%clock64" : "%globaltimer");
        say(m, m->d->text.bytes[m->d->text.length - 1] == '4' ? "clock64" : "globaltimer");
        return;
    }
    put(m, names[at]);
    text_put(&m->d->words, words[at]);
}

static void float_number(struct module *m)
{
    uint32_t word = pcg_next(&m->d->rng), kind = below(m, 3);
    if (kind == 0) {
        put(m, arena_printf(m->d->arena, "0f%08" PRIX32, word));
        say(m, "float32");
        say_number(m, word);
    } else if (kind == 1) {
        uint64_t more = pcg_next64(&m->d->rng);
        put(m, arena_printf(m->d->arena, "0d%016" PRIx64, more));
        say(m, "float64");
        say_number(m, more);
    } else {
        put(m, word % 2 ? "-2.5" : "1.5e3");
        say(m, "float64");
        say_number(m, word % 2 ? 0xc004000000000000u : 0x4097700000000000u);
    }
}

static void value(struct module *m, const struct slot *slot)
{
    bool is_constant = !slot->result && slot->kind != 'p' && once_in(m, 4);
    if (slot->kind == 's' && once_in(m, 2)) {
        special(m, slot);
    } else if (is_constant && slot->kind == 'f') {
        float_number(m);
    } else if (is_constant) {
        say(m, "number");
        say_number(m, number_of_operand(m));
    } else {
        say(m, "name");
        reg(m, slot);
    }
}

static void pair(struct module *m, const struct slot *slot)
{
    const struct slot truth = {.result = true, .kind = 'p', .bits = 1, .count = 1};
    say(m, "with {");
    value(m, slot);
    put(m, "|");
    if (once_in(m, 3)) {
        put(m, "_");
        say(m, "nowhere");
    } else {
        value(m, &truth);
    }
    say(m, "}");
}

static void vector(struct module *m, const struct slot *slot)
{
    struct slot part = *slot;
    part.count = 1;
    say(m, "vector {");
    put(m, "{");
    for (uint32_t i = 0; i < slot->count; i++) {
        put(m, i ? "," : "");
        say(m, "name");
        reg(m, &part);
    }
    put(m, "}");
    say(m, "}");
}

/* +n, -n behind a name. */
static void offset(struct module *m)
{
    uint64_t sum = 0;
    for (uint32_t i = below(m, 3); i > 0; i--) {
        bool minus = once_in(m, 3);
        uint32_t by = below(m, 64);
        put(m, minus ? "-" : "+");
        drawn_spell(m->d, by);
        sum += minus ? 0 - (uint64_t)by : by;
    }
    if (sum)
        say_number(m, sum);
}

static void address(struct module *m, const struct slot *slot)
{
    const bool may_err = m->may_err, narrow = slot->kind == 'h' && once_in(m, 2);
    const struct slot base = {.kind = 'i', .bits = narrow ? 32 : 64, .count = 1};
    enum ptx_word space = slot->kind == 'a' ? PTX_W_GLOBAL : PTX_W_SHARED;
    const struct declared *x = NULL;
    for (uint32_t i = 0; i < m->count && once_in(m, 2); i++)
        if (m->list[i].space == space && meaning(m, m->list[i].name) == &m->list[i])
            x = &m->list[i];
    put(m, "[");
    say(m, "at");
    if (x) {
        put(m, x->name);
        say_told(m, x->number);
        say_number(m, 0);
        offset(m);
    } else if (once_in(m, 6)) {
        say_number(m, drawn_constant(m->d));
    } else {
        m->may_err = false;
        reg(m, &base);
        m->may_err = may_err;
        offset(m);
    }
    put(m, "]");
}

/* Has the number of when it is named first. */
static void label(struct module *m, uint32_t at)
{
    put(m, at ? "Last" : "First");
    if (!m->is_numbered[at])
        m->labels[at] = m->numbers++;
    m->is_numbered[at] = true;
    say_told(m, m->labels[at]);
}

static void operand(struct module *m, const struct slot *slot)
{
    if (slot->kind == 'a' || slot->kind == 'h') {
        address(m, slot);
    } else if (slot->kind == 'n') {
        uint32_t barrier = below(m, 16);
        drawn_spell(m->d, barrier);
        say(m, "number");
        say_number(m, barrier);
    } else if (slot->kind == 'l') {
        say(m, "name");
        label(m, below(m, 2));
    } else if (slot->count > 1) {
        vector(m, slot);
    } else if (slot->paired && once_in(m, 2)) {
        pair(m, slot);
    } else {
        value(m, slot);
    }
}

/* ---- instructions ---- */

/* Modifiers in words: types first, then as ptx_ops.h lists the slots. */
static const struct {
    const char *text, *words, *operands;
} shapes[] = {
    {"add.u32", "add unsigned32", "=i32 i32 i32"},
    {"sub.s64", "sub signed64", "=i64 i64 i64"},
    {"mul.lo.s32", "mul signed32 lo", "=i32 i32 i32"},
    {"mul.wide.u32", "mul unsigned32 wide", "=i64 i32 i32"},
    {"mad.hi.u32", "mad unsigned32 hi", "=i32 i32 i32 i32"},
    {"min.u16", "min unsigned16", "=i16 i16 i16"},
    {"and.b32", "and bits32", "=b32 b32 b32"},
    {"xor.pred", "xor truth", "=p1 p1 p1"},
    {"shl.b64", "shl bits64", "=b64 b64 i32"},
    {"not.b16", "not bits16", "=b16 b16"},
    {"add.rz.ftz.f32", "add float32 rz ftz", "=f32 f32 f32"},
    {"fma.rn.f64", "fma float64 rn", "=f64 f64 f64 f64"},
    {"mov.u32", "mov unsigned32", "=i32 s32"},
    {"mov.u16", "mov unsigned16", "=i16 s16"},
    {"mov.u64", "mov unsigned64", "=i64 s64"},
    {"mov.f32", "mov float32", "=f32 f32"},
    {"mov.pred", "mov truth", "=p1 p1"},
    {"mov.b64", "mov bits64", "=b64 b32x2"},
    {"mov.b32", "mov bits32", "=b16x2 b32"},
    {"cvt.u16.u32", "cvt unsigned16 unsigned32", "=~i16 ~s32"},
    {"cvt.s64.s16", "cvt signed64 signed16", "=~i64 ~s16"},
    {"cvt.rn.f32.s32", "cvt float32 signed32 rn", "=~f32 ~i32"},
    {"cvt.rzi.sat.u32.f32", "cvt unsigned32 float32 rzi sat", "=~i32 ~f32"},
    {"setp.lt.s32", "setp signed32 lt", "=p1| i32 i32"},
    {"setp.ne.and.u64", "setp unsigned64 and ne", "=p1| i64 i64 !p1"},
    {"selp.b32", "selp bits32", "=b32 b32 b32 p1"},
    {"ld.global.u16", "ld unsigned16 of-grid", "=~i16 a"},
    {"ld.volatile.shared.f32", "ld float32 of-block volatile", "=~f32 h"},
    {"ld.global.v2.f32", "ld float32 of-grid pair", "=~f32x2 a"},
    {"st.global.cg.b32", "st bits32 of-grid cg", "a ~b32"},
    {"st.shared.v4.u32", "st unsigned32 of-block four", "h ~i32x4"},
    {"atom.global.add.u32", "atom unsigned32 add of-grid", "=i32 a i32"},
    {"red.shared.max.s32", "red signed32 max of-block", "h i32"},
    {"bar.sync", "bar sync", "n"},
    {"shfl.sync.bfly.b32", "shfl bits32 bfly sync", "=b32| b32 i32 i32 i32"},
    {"vote.sync.ballot.b32", "vote bits32 ballot sync", "=b32 !p1 i32"},
    {"bfe.u32", "bfe unsigned32", "=i32 i32 i32 i32"},
    {"cvta.to.global.u64", "cvta unsigned64 to of-grid", "=i64 i64"},
    {"bra", "bra", "l"},
    {"bra.uni", "bra uni", "l"},
    {"exit", "exit", ""},
};

static void instruction(struct module *m)
{
    const struct slot truth = {.kind = 'p', .bits = 1, .count = 1, .negatable = true};
    uint32_t at = below(m, sizeof shapes / sizeof *shapes), count = 0;
    say(m, "do");
    if (once_in(m, 4)) {
        put(m, "@");
        say(m, "name");
        reg(m, &truth);
    }
    put(m, shapes[at].text);
    say(m, shapes[at].words);
    say(m, "{");
    for (const char *next = shapes[at].operands; *next; count++) {
        struct slot slot;
        put(m, count ? "," : "");
        next = next_slot(next, &slot);
        operand(m, &slot);
    }
    say(m, "}");
    put(m, ";");
}

/* ---- declarations ---- */

static const enum ptx_word types[] = {PTX_W_PRED, PTX_W_B16, PTX_W_U16, PTX_W_S16,
                                      PTX_W_B32,  PTX_W_U32, PTX_W_S32, PTX_W_F32,
                                      PTX_W_B64,  PTX_W_U64, PTX_W_S64, PTX_W_F64};
static const char *const type_tokens[] = {".pred", ".b16", ".u16", ".s16", ".b32", ".u32",
                                          ".s32",  ".f32", ".b64", ".u64", ".s64", ".f64"};

static void say_variable(struct module *m, enum ptx_word space, enum ptx_word type,
                         enum ptx_word vector, uint32_t linkage, uint32_t align)
{
    say(m, "variable");
    say_told(m, m->numbers);
    say(m, words_of_ptx_type(space));
    say(m, words_of_ptx_type(type));
    say(m, words_of_ptx_type(vector));
    text_format(&m->d->words, "linkage%u align%u ", linkage, align);
}

/* .align N, or nothing: 0. */
static uint32_t alignment(struct module *m)
{
    uint32_t align = once_in(m, 2) ? 1u << below(m, 6) : 0;
    if (align) {
        put(m, ".align");
        drawn_spell(m->d, align);
    }
    return align;
}

static void one_register(struct module *m, enum ptx_word type, const char *name, uint32_t range)
{
    struct declared x = {.name = name, .space = PTX_W_REG, .type = type, .range = range};
    put(m, name);
    say_variable(m, PTX_W_REG, type, PTX_W_NONE, 0, 0);
    if (range) {
        put(m, "<");
        drawn_spell(m->d, range);
        put(m, ">");
        say_number(m, range);
    }
    say(m, "{ }");
    declare(m, x);
}

static void registers(struct module *m)
{
    static const char *const pool[] = {"%r", "%r1", "%r12", "%rd", "%p", "%f",   "x",  "x1",
                                       "$a", "_b",  "%h_",  "_$",  "%$", "$L_1", "%_0"};
    uint32_t type = below(m, sizeof types / sizeof *types), some = 0;
    for (uint32_t k = 1 + below(m, 3); k > 0; k--) {
        uint32_t at = below(m, sizeof pool / sizeof *pool);
        bool is_range = !once_in(m, 3);
        uint32_t range = is_range ? 1 + below(m, 24) : 0;
        const struct declared x = {.name = pool[at], .range = range};
        if (m->count >= DECLARED || clashes(m, &x))
            continue;
        put(m, some ? "," : ".reg");
        put(m, some++ ? "" : type_tokens[type]);
        one_register(m, types[type], pool[at], range);
    }
    put(m, some ? ";" : "");
}

/* One of each type, under names that nothing hides. */
static void base_registers(struct module *m)
{
    for (uint32_t type = 0; type < sizeof types / sizeof *types; type++) {
        put(m, ".reg");
        put(m, type_tokens[type]);
        one_register(m, types[type], arena_printf(m->d->arena, "%%base%c", 'a' + (int)type),
                     1 + type % 3);
        put(m, ";");
    }
}

static void initial_value(struct module *m, enum ptx_word type)
{
    if (sort_of(type) == FLOAT) {
        float_number(m);
        return;
    }
    say(m, "number");
    say_number(m, drawn_constant(m->d));
}

static void first_values(struct module *m, enum ptx_word type, uint32_t length)
{
    put(m, "=");
    put(m, length ? "{" : "");
    say(m, length ? "{" : "");
    initial_value(m, type);
    if (length > 1) {
        put(m, ",");
        initial_value(m, type);
    }
    put(m, length ? "}" : "");
    say(m, length ? "}" : "");
}

/* [2][3], or none; of what has initial values one, which may be left to them. Returns the first, or 1 where it is. */
static uint32_t dimensions(struct module *m, bool first_values)
{
    uint32_t count = first_values ? below(m, 2) : below(m, 4), length = 0;
    bool open = first_values && once_in(m, 3);
    say(m, "{");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = 1 + below(m, 4);
        put(m, "[");
        if (!open)
            drawn_spell(m->d, size);
        put(m, "]");
        say_number(m, open ? 0 : size);
        length = i ? length : size;
    }
    say(m, "}");
    return length;
}

/* Of the module. */
static void memory_variable(struct module *m, enum ptx_word space, const char *name)
{
    static const char *const linkages[] = {"", ".visible", ".weak", ".extern", ".common"};
    uint32_t type = 1 + below(m, sizeof types / sizeof *types - 1);
    uint32_t linkage = once_in(m, 2) ? below(m, 5) : 0;
    bool first = space != PTX_W_SHARED && once_in(m, 2), managed = once_in(m, 6);
    enum ptx_word vector = first || once_in(m, 2) ? PTX_W_NONE
                           : once_in(m, 2)        ? PTX_W_V2
                                                  : PTX_W_V4;
    put(m, linkages[linkage]);
    put(m, space == PTX_W_GLOBAL ? ".global" : space == PTX_W_CONST ? ".const" : ".shared");
    if (managed) {
        put(m, ".attribute");
        put(m, "(");
        put(m, ".managed");
        put(m, ")");
    }
    uint32_t align = alignment(m);
    put(m, vector == PTX_W_V2 ? ".v2" : vector == PTX_W_V4 ? ".v4" : "");
    put(m, type_tokens[type]);
    put(m, name);
    say_variable(m, space, types[type], vector, linkage, align);
    say(m, name);
    say(m, managed ? "managed" : "");
    uint32_t length = dimensions(m, first);
    if (first)
        first_values(m, types[type], length);
    put(m, ";");
    declare(m, (struct declared){.name = name, .space = space, .type = types[type]});
}

/* ---- statements ---- */

static void statements(struct module *m, uint32_t count);

static void nested(struct module *m)
{
    uint32_t visible = m->count;
    put(m, "{");
    say(m, "{");
    m->depth++;
    registers(m);
    statements(m, 5);
    m->depth--;
    m->count = visible;
    put(m, "}");
    say(m, "}");
}

static void place(struct module *m)
{
    uint32_t line = 1 + below(m, 99), column = below(m, 99);
    put(m, ".loc");
    put(m, "1");
    drawn_spell(m->d, line);
    drawn_spell(m->d, column);
    text_format(&m->d->words, "line 1 %u %u ", line, column);
    if (once_in(m, 2))
        return;
    put(m, ",");
    put(m, "function_name");
    put(m, "$info");
    uint64_t by = below(m, 2);
    if (by) {
        put(m, "+");
        drawn_spell(m->d, by);
    }
    put(m, ",");
    put(m, "inlined_at");
    put(m, "2");
    drawn_spell(m->d, column);
    drawn_spell(m->d, line);
    text_format(&m->d->words, "of $info %" PRIx64 " into 2 %u %u ", by, column, line);
}

static void statements(struct module *m, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = below(m, 16);
        if (kind < 2 && m->depth < DEEP) {
            nested(m);
        } else if (kind < 4) {
            registers(m);
        } else if (kind == 4) {
            place(m);
        } else if (kind == 5) {
            put(m, ".pragma");
            put(m, "\"nounroll\"");
            put(m, ";");
            say(m, "pragma nounroll");
        } else {
            instruction(m);
        }
    }
}

/* ---- the module ---- */

/* So many numbers. */
static void attribute(struct module *m, const char *token, enum ptx_attribute_kind kind,
                      uint32_t count)
{
    put(m, token);
    text_format(&m->d->words, "attribute%d - ", (int)kind);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = (i ? 1 : 256) * (1 + below(m, 4));
        put(m, i ? "," : "");
        drawn_spell(m->d, number);
        say_number(m, number);
    }
}

static void attributes(struct module *m)
{
    if (once_in(m, 3))
        attribute(m, ".minnctapersm", PTX_MINNCTAPERSM, 1);
    if (once_in(m, 2))
        attribute(m, ".maxntid", PTX_MAXNTID, 1 + below(m, 3));
    if (once_in(m, 5))
        attribute(m, ".maxnreg", PTX_MAXNREG, 1);
    if (once_in(m, 5))
        attribute(m, ".noreturn", PTX_NORETURN, 0);
    if (once_in(m, 5)) {
        put(m, ".pragma");
        put(m, "\"a b\"");
        put(m, ";");
        text_format(&m->d->words, "attribute%d a b ", (int)PTX_FUNCTION_PRAGMA);
    }
    if (once_in(m, 5))
        attribute(m, ".maxnctapersm", PTX_MAXNCTAPERSM, 1);
}

/* .ptr, the space that it points into, and how far what lies there is aligned. */
static void pointer(struct module *m)
{
    bool global = once_in(m, 2);
    put(m, ".ptr");
    put(m, global ? ".global" : "");
    say(m, global ? "pointer of-grid" : "pointer -");
    text_format(&m->d->words, "%u ", alignment(m));
}

static void parameters(struct module *m, uint32_t count)
{
    put(m, "(");
    say(m, "( ) (");
    for (uint32_t i = 0; i < count; i++) {
        const char *name = arena_printf(m->d->arena, "k_param_%u", i);
        const bool wide = i % 2 == 0;
        put(m, i ? "," : "");
        put(m, ".param");
        uint32_t align = alignment(m);
        put(m, wide ? ".u64" : ".s32");
        say_variable(m, PTX_W_PARAM, wide ? PTX_W_U64 : PTX_W_S32, PTX_W_NONE, 0, align);
        say(m, name);
        if (wide && once_in(m, 3))
            pointer(m);
        put(m, name);
        say(m, "{ }");
        declare(m, (struct declared){.name = name, .space = PTX_W_PARAM});
    }
    put(m, ")");
    say(m, ")");
}

static void entry(struct module *m, uint32_t parameter_count)
{
    put(m, ".visible");
    put(m, ".entry");
    put(m, "k");
    say(m, "entry linkage1 k");
    m->depth++;
    parameters(m, parameter_count);
    attributes(m);
    say(m, "body {");
    put(m, "{");
    base_registers(m);
    say(m, "label");
    label(m, 0);
    put(m, ":");
    statements(m, 12);
    say(m, "label");
    label(m, 1);
    put(m, ":");
    put(m, "ret");
    put(m, ";");
    say(m, "do ret { }");
    put(m, "}");
    say(m, "}");
    m->depth--;
}

/* What stands in a module beside its variables and functions. */
static void outside(struct module *m)
{
    if (once_in(m, 3)) {
        put(m, ".file");
        put(m, "7");
        put(m, "\"dir/x y.cu\"");
        say(m, "file 7 dir/x y.cu");
    }
    if (once_in(m, 5)) {
        put(m, ".pragma");
        put(m, "\"c\"");
        put(m, ";");
        say(m, "pragma c");
    }
}

bool texts_draw_ptx(struct drawn *d)
{
    static const char *const names[] = {"x", "x1", "$a", "_b"};
    struct module m = {.d = d, .may_err = drawn_once_in(d, 4)};
    uint32_t first = drawn_below(d, 4), parameter_count = drawn_below(d, 4);
    bool is_wrong;
    const char *claims = drawn_settings(d, parameter_count, &is_wrong);
    put(&m, ".version");
    put(&m, "7.8");
    put(&m, ".target");
    put(&m, "sm_80");
    bool debug = once_in(&m, 4);
    put(&m, debug ? "," : "");
    put(&m, debug ? "debug" : "");
    put(&m, ".address_size");
    put(&m, "64");
    say(&m, "version 7 8 address 64 for sm_80");
    say(&m, debug ? "for debug" : "");
    outside(&m);
    for (uint32_t i = drawn_below(d, 4); i > 0; i--) {
        const enum ptx_word spaces[] = {PTX_W_GLOBAL, PTX_W_CONST, PTX_W_SHARED};
        enum ptx_word space = spaces[drawn_below(d, 3)];
        memory_variable(&m, space, names[(first + i) % 4]);
    }
    entry(&m, parameter_count);
    text_format(&d->words, "%swithin 0 ", claims);
    return m.wrong || is_wrong;
}
