/*
 * texts_settings.c - the settings of a kernel given as PTX, in any order, twice, in several goes: those of the text,
 * those of the command line, and those that are set later, with which another entry may be chosen. Beside them stands
 * what is set at last, each setting once; a text that says only that must be the same kernel, in words.
 */
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "oracle/drawn/drawn.h"
#include "oracle/drawn/words.h"
#include "oracle/texts/texts.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLAIN = 8, /* settings of which the last one counts */
    NAMED = 3, /* names of registers, of memory */
    PARAMETERS = 4,
    STRUCT_WORDS = 7,
    FIELDS = 6 /* of one go */
};

/* k's parameters, and j's in another order: a struct of 28 bytes, a pointer, a number, a struct. */
static const char *const parameters[2][PARAMETERS] = {{"st", "p", "n", "q"}, {"q", "st", "n", "p"}};
static const char module[] = ".version 7.8\n.target sm_80\n.address_size 64\n.shared .b32 sh[8];\n"
                             ".entry k(.param .align 8 .b8 st[28], .param .u64 p, .param .s32 n, "
                             ".param .align 8 .b8 q[28])\n"
                             "{ .reg .b32 r, s; .reg .pred t; mov.b32 r, sh; ret; }\n"
                             ".entry j(.param .align 8 .b8 q[28], .param .align 8 .b8 st[28], "
                             ".param .s32 n, .param .u64 p)\n"
                             "{ .reg .b32 r, s; .reg .pred t; mov.b32 s, sh; ret; }\n";

struct memory {
    const char *name, *rest; /* BYTES[:FILL] */
    uint64_t address;
};

/* A parameter: not bound, bound to a text, or to words. */
struct bound {
    const char *text;
    uint32_t count, words[STRUCT_WORDS]; /* once one of them is set there are all */
};

/* What is set at last. */
struct set {
    uint32_t entry;
    const char *plain[PLAIN];
    bool raw;
    uint32_t lines, sets;
    struct bound bound[PARAMETERS]; /* of the entry, in k's order of names */
    uint32_t register_count, memory_count, init;
    struct {
        const char *name, *text;
    } registers[NAMED];
    struct memory memory[16];
    const char *first; /* init:sh */
};

struct going {
    struct drawn *d;
    struct set set;
    struct text go;
    struct field { /* of this go: they count behind all that is bound as a whole */
        uint32_t parameter, word, count, words[2];
        const char *called, *buffer, *name;
    } fields[FIELDS];
    uint32_t field_count;
};

static uint32_t below(struct going *g, uint32_t n)
{
    return drawn_below(g->d, n);
}

static const char *said(struct going *g, const char *setting)
{
    text_format(&g->go, " %s", setting);
    return setting;
}

static uint32_t a_word(struct going *g)
{
    static const uint32_t ends[] = {0, 1, INT32_MAX, 0x80000000, UINT32_MAX};
    return below(g, 2) ? ends[below(g, 5)] : pcg_next(&g->d->rng);
}

/* ---- one setting ---- */

static void plain(struct going *g)
{
    struct arena *arena = g->d->arena;
    const uint32_t a = 1 + below(g, 4), b = 1 + below(g, 4), kind = below(g, PLAIN);
    const char *text = "";
    switch (kind) {
    case 0:
        text = arena_printf(arena, below(g, 2) ? "threads=%ux%u" : "threads=%u", a, b);
        break;
    case 1:
        text = below(g, 2)
                   ? arena_printf(arena, "blocks=%ux%u", a, b)
                   : arena_printf(arena, "blocks=%ux%u/%u+%u", a + 1, b, a, 1 + below(g, b));
        break;
    case 2:
        text = arena_printf(arena, "warp=%u", 1 + below(g, LIMIT_WARP));
        break;
    case 3:
        text = arena_printf(arena, "seed=0x%x", below(g, 1000));
        break;
    case 4:
        text = arena_printf(arena, "shared=%u", below(g, 3) * 64);
        break;
    case 5:
        text = arena_printf(arena, "stack=sync,1%s,%u%s", below(g, 2) ? "01" : "", a,
                            below(g, 2) ? "+div,11,3+call,1,2" : "");
        break;
    case 6:
        text = "cluster=1";
        break;
    default:
        g->set.first =
            said(g, arena_printf(arena, below(g, 2) ? "init:sh=%u" : "init:sh=%u,%u,7", a, b));
        return;
    }
    g->set.plain[kind] = said(g, text);
}

static void caches(struct going *g)
{
    const uint32_t lines = 4u << below(g, 2), sets = 1u << below(g, 3);
    const bool has_lines = g->set.lines == 0 || below(g, 2), has_sets = below(g, 2);
    if (!has_lines && !has_sets)
        return;
    text_put(&g->go, " caches=");
    if (has_lines)
        text_format(&g->go, "lines=%u%s", lines, has_sets ? "," : "");
    if (has_sets)
        text_format(&g->go, "sets=%u", sets);
    g->set.lines = has_lines ? lines : g->set.lines;
    g->set.sets = has_sets ? sets : g->set.sets;
}

static void a_register(struct going *g)
{
    static const char *const names[NAMED] = {"r", "s", "t"};
    const uint32_t name = below(g, NAMED);
    uint32_t i = 0;
    const char *text = name == 2 ? "1" : arena_printf(g->d->arena, "%u", below(g, 100));
    for (uint32_t n = below(g, below(g, 3) ? 3 : 70); n > 0; n--)
        text = arena_printf(g->d->arena, name == 2 ? "%s%u" : "%s,%u", text, below(g, 2));
    while (i < g->set.register_count && strcmp(g->set.registers[i].name, names[name]) != 0)
        i++;
    g->set.register_count += i == g->set.register_count;
    g->set.registers[i].name = names[name];
    g->set.registers[i].text = text;
    text_format(&g->go, " reg:%s=%s", names[name], text);
}

static const char *a_buffer(struct going *g)
{
    static const char *const fills[] = {"", ":zero", ":iota", ":random", ":all:-2"};
    return arena_printf(g->d->arena, "%u%s", 4 + 4 * below(g, 64), fills[below(g, 5)]);
}

static uint32_t find_memory(const struct set *s, const char *name)
{
    uint32_t i = 0;
    while (i < s->memory_count && strcmp(s->memory[i].name, name) != 0)
        i++;
    return i;
}

static void put_memory(struct set *s, const char *name, uint64_t address, const char *rest)
{
    const uint32_t i = find_memory(s, name);
    s->memory_count += i == s->memory_count;
    s->memory[i] = (struct memory){name, rest, address};
}

static void memory(struct going *g)
{
    const uint64_t address = (0x100u + 16 * below(g, 100)) << 12;
    const char *rest = a_buffer(g);
    text_format(&g->go, " memory:m=0x%llx:%s", (unsigned long long)address, rest);
    put_memory(&g->set, "m", address, rest);
}

/* The parameter by its name, or by its number. */
static const char *called(struct going *g, uint32_t parameter)
{
    const char *name = parameters[0][parameter];
    uint32_t number = 0;
    while (strcmp(parameters[g->set.entry][number], name) != 0)
        number++;
    return below(g, 2) ? name : arena_printf(g->d->arena, "%u", number);
}

/* The last one that is called so; who is called by a name and by a number counts twice. */
static struct field *new_field(struct going *g, const char *name)
{
    uint32_t i = 0;
    while (i < g->field_count && strcmp(g->fields[i].called, name) != 0)
        i++;
    if (i < g->field_count)
        memmove(&g->fields[i], &g->fields[i + 1], (--g->field_count - i) * sizeof *g->fields);
    if (g->field_count == FIELDS)
        return NULL;
    g->fields[g->field_count].called = name;
    return &g->fields[g->field_count++];
}

static void field(struct going *g, uint32_t parameter)
{
    const uint32_t kind = below(g, 5), count = kind < 3 ? 1 : 2;
    const uint32_t word = below(g, STRUCT_WORDS + 1 - count), low = a_word(g);
    const char *name = arena_printf(g->d->arena, "%s.%u", called(g, parameter), 4 * word);
    struct field *f = new_field(g, name);
    if (!f)
        return;
    *f = (struct field){parameter, word, count, {low, 0}, name, NULL, NULL};
    text_format(&g->go, " bind:%s=", name);
    if (kind == 0) {
        text_format(&g->go, "%u", low);
    } else if (kind == 1) {
        text_format(&g->go, "-%u", low & INT32_MAX);
        f->words[0] = 0 - (low & INT32_MAX);
    } else if (kind == 2) {
        text_put(&g->go, "f:1.5");
        f->words[0] = 0x3fc00000;
    } else if (kind == 3) {
        f->words[1] = 1 + below(g, 1000);
        text_format(&g->go, "%llu", (unsigned long long)f->words[1] << 32 | low);
    } else {
        f->buffer = a_buffer(g);
        f->name = arena_printf(g->d->arena, "%s_%u", parameters[0][parameter], 4 * word);
        text_format(&g->go, "buffer:%s", f->buffer);
    }
}

/* All of a struct, by its name, or some of its words. */
static void a_struct(struct going *g, uint32_t parameter)
{
    struct bound *b = &g->set.bound[parameter];
    if (below(g, 4) > 0) {
        field(g, parameter);
        return;
    }
    *b = (struct bound){.count = 1 + below(g, STRUCT_WORDS)};
    text_format(&g->go, " bind:%s=words:", parameters[0][parameter]);
    for (uint32_t i = 0; i < b->count; i++) {
        b->words[i] = a_word(g);
        text_format(&g->go, "%s%u", i ? "," : "", b->words[i]);
    }
}

static void bind(struct going *g)
{
    const uint32_t parameter = below(g, PARAMETERS);
    if (parameter == 0 || parameter == 3) {
        a_struct(g, parameter);
        return;
    }
    const bool is_buffer = parameter == 1 && below(g, 2);
    const char *value =
        is_buffer ? arena_printf(g->d->arena, "buffer:%s", a_buffer(g))
                  : arena_printf(g->d->arena, "%s%u", below(g, 2) ? "-" : "", below(g, 99));
    g->set.bound[parameter].text = value;
    text_format(&g->go, " bind:%s=%s", called(g, parameter), value);
}

/* ---- a go ---- */

/* Where a pointer of a struct leads: behind all that was placed from 0x600000000000 on, each 2^40 behind the last. */
static uint64_t place(const struct set *s, const char *name)
{
    const uint32_t found = find_memory(s, name);
    uint64_t address = 0x600000000000;
    for (uint32_t i = 0; i < s->memory_count; i++)
        if (s->memory[i].address >= address)
            address = s->memory[i].address + ((uint64_t)1 << 40);
    return found < s->memory_count ? s->memory[found].address : address;
}

static void set_fields(struct going *g)
{
    for (uint32_t i = 0; i < g->field_count; i++) {
        struct bound *b = &g->set.bound[g->fields[i].parameter];
        uint32_t *words = g->fields[i].words;
        if (g->fields[i].buffer) {
            const uint64_t address = place(&g->set, g->fields[i].name);
            put_memory(&g->set, g->fields[i].name, address, g->fields[i].buffer);
            words[0] = (uint32_t)address;
            words[1] = (uint32_t)(address >> 32);
        }
        b->count = STRUCT_WORDS;
        for (uint32_t k = 0; k < g->fields[i].count; k++)
            b->words[g->fields[i].word + k] = words[k];
    }
    g->field_count = 0;
}

/* So many settings; with `anew` first the other entry, whose parameters and registers are its own. */
static const char *draw_go(struct going *g, uint32_t count, bool anew)
{
    g->go = text_begin(g->d->arena);
    if (anew) {
        g->set.entry = 1 - g->set.entry;
        memset(g->set.bound, 0, sizeof g->set.bound);
        g->set.register_count = 0;
        text_format(&g->go, " entry=%s", g->set.entry ? "j" : "k");
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t kind = below(g, anew ? 3 : 7);
        if (kind == 0)
            caches(g);
        else if (kind == 1 && below(g, 3) == 0)
            memory(g);
        else if (kind <= 2)
            plain(g);
        else if (kind == 3)
            a_register(g);
        else
            bind(g);
    }
    if (!anew && below(g, 6) == 0) {
        text_put(&g->go, " raw");
        g->set.raw = true;
    }
    return g->go.bytes;
}

/* ---- what is set at last ---- */

static void put_bound(struct text *out, const struct set *s)
{
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        const struct bound *b = &s->bound[i];
        const char *name = parameters[0][i];
        if (b->text)
            text_format(out, " bind:%s=%s", name, b->text);
        for (uint32_t k = 0; k < b->count; k++)
            if (k == 0)
                text_format(out, " bind:%s=words:%u", name, b->words[k]);
            else
                text_format(out, ",%u", b->words[k]);
    }
}

static const char *text_of(struct drawn *d, const struct set *s)
{
    struct text out = text_begin(d->arena);
    text_format(&out, "// simtfuzz: entry=%s%s", s->entry ? "j" : "k", s->raw ? " raw" : "");
    for (uint32_t i = 0; i < PLAIN; i++)
        text_format(&out, "%s%s", s->plain[i] ? " " : "", s->plain[i] ? s->plain[i] : "");
    if (s->first)
        text_format(&out, " %s", s->first);
    if (s->lines)
        text_format(&out, " caches=lines=%u", s->lines);
    if (s->sets)
        text_format(&out, ",sets=%u", s->sets);
    for (uint32_t i = 0; i < s->register_count; i++)
        text_format(&out, " reg:%s=%s", s->registers[i].name, s->registers[i].text);
    for (uint32_t i = 0; i < s->memory_count; i++)
        text_format(&out, " memory:%s=0x%llx:%s", s->memory[i].name,
                    (unsigned long long)s->memory[i].address, s->memory[i].rest);
    put_bound(&out, s);
    text_format(&out, "\n%s", module);
    return out.bytes;
}

/* Without the words of the module, of which only what an entry reaches may have been read. */
static const char *settings_of(struct arena *arena, const struct ast_kernel *kernel)
{
    const char *words = words_of_kernel(arena, kernel);
    const char *end = strstr(words, "version ");
    return arena_strndup(arena, words, end ? (size_t)(end - words) : strlen(words));
}

/* ---- sizes of caches ---- */

/* What one item of them says: the field's value; 0: it is wrong. */
static uint32_t size_of(uint32_t name, const char *value)
{
    static const char *const policies[] = {"any", "first", "lowest"};
    static const uint32_t most[] = {1024, 8, 1024, 64};
    char *end;
    for (uint32_t i = 0; name == 4 && i < 3; i++)
        if (strcmp(value, policies[i]) == 0)
            return 1 + i;
    const unsigned long number = strtoul(value, &end, 10);
    const bool is_power = number == 1 || number == 2 || number == 4 || number == 8;
    const bool good = name < 4 && *end == '\0' && number <= most[name] && (name != 1 || is_power);
    return good ? (uint32_t)number : 0;
}

/* Up to four items, on top of lines that may be there: the first that is wrong is told of, or that they do not go
 * together; else each field is what was said of it. */
static const char *of_cache_sizes(struct drawn *d)
{
    static const char *const names[] = {"lines", "words", "sets", "sms", "policy"};
    static const char *const values[] = {"0",  "1",    "2",    "3",  "4", "8",   "16",    "64",
                                         "65", "1024", "1025", "4a", "a", "any", "first", "lowest"};
    static const char *const wrong[] = {
        "'lines' of a cache must be 1 to 1024", "'words' of a cache line must be 1, 2, 4 or 8",
        "'sets' of a cache must be 1 to 1024", "'sms' must be 1 to 64",
        "'policy' of a cache must be any, first or lowest"};
    uint32_t at_last[5] = {drawn_once_in(d, 2) ? 0 : 8}, given[5] = {0};
    struct cache_sizes sizes = {.lines = at_last[0]};
    struct text text = text_begin(d->arena);
    const char *told = NULL;
    for (uint32_t i = 0, count = 1 + drawn_below(d, 4); i < count; i++) {
        const uint32_t name = drawn_below(d, 5), kind = drawn_below(d, 4);
        const char *value = values[kind == 0   ? drawn_below(d, 16)
                                   : name == 4 ? 13 + drawn_below(d, 3)
                                               : 1 + drawn_below(d, 5)];
        const uint32_t size = size_of(name, value);
        text_format(&text, "%s%s=%s", i ? "," : "", names[name], value);
        if (!told && given[name])
            told = arena_printf(d->arena, "'%s' is given twice", names[name]);
        else if (!told && size == 0)
            told = wrong[name];
        given[name] = size;
        at_last[name] = size;
    }
    if (!told && at_last[2] > 1 && (at_last[0] == 0 || at_last[0] % at_last[2] != 0))
        told = "'sets' of a cache must divide its 'lines', which must be given";
    const char *is = cache_sizes_read(d->arena, &sizes, text.bytes);
    const char *differs = drawn_differ(d->arena, "sizes", is ? is : "", told ? told : "");
    const uint32_t fields[5] = {sizes.lines, sizes.words, sizes.sets, sizes.sms, sizes.policy};
    if (!differs && !told && memcmp(fields, at_last, sizeof fields) != 0)
        differs = "sizes: a field is not what it was said to be";
    return differs ? arena_printf(d->arena, "%s, of %s", differs, text.bytes) : NULL;
}

const char *texts_of_settings(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_SETTINGS);
    struct going g = {.d = &d};
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *why, *differs = of_cache_sizes(&d);
    *text = "";
    if (differs)
        return differs;
    g.set.entry = below(&g, 2);
    text_format(&d.text, "// simtfuzz: entry=%s\n", g.set.entry ? "j" : "k");
    for (uint32_t n = below(&g, 3); n > 0; n--)
        text_format(&d.text, "// simtfuzz:%s\n", draw_go(&g, 1 + below(&g, 5), false));
    text_put(&d.text, module);
    *text = d.text.bytes;
    diag_init(diag, "settings", d.text.bytes, d.text.length);
    struct ast_kernel *kernel =
        ptx_kernel_parse_with(arena, d.text.bytes, d.text.length,
                              below(&g, 2) ? draw_go(&g, below(&g, 4), false) : NULL, diag);
    set_fields(&g);
    for (uint32_t n = below(&g, 4); kernel && n > 0; n--) {
        const char *go = draw_go(&g, below(&g, 4), below(&g, 3) == 0);
        text_format(&d.text, "// set:%s\n", go);
        set_fields(&g);
        if (!ptx_kernel_set(arena, kernel, go, diag))
            kernel = NULL;
    }
    *text = d.text.bytes;
    if (!kernel)
        return arena_printf(arena, "settings: refused, %s", drawn_first_error(arena, diag));
    const char *at_last = text_of(&d, &g.set);
    const struct ast_kernel *meant = drawn_read(arena, at_last, &why);
    if (!meant)
        return arena_printf(arena, "settings: refused as they are at last, %s", why);
    return drawn_differ(arena, "settings", settings_of(arena, kernel), settings_of(arena, meant));
}
