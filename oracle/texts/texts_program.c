/*
 * drawn_program.c - modules of several entries and functions, of variables whose initial values name others, and of
 * tables of functions; and beside each text who names whom. What an entry needs follows from that by the definition:
 * the least set that has all whom its members name, and, where a member calls an address that it may have from memory,
 * all variables that name functions. In some modules a few bodies are wrong: they name nobody, and an entry is refused
 * that needs one. Labels as of compiled structured kernels stand in the bodies, of spans that end or
 * stay open.
 */
#include "engine/input/ptx_kernel.h"
#include "engine/program/ptx_code.h"
#include "engine/ptx/ptx_reach.h"
#include "oracle/drawn/drawn.h"
#include "oracle/layout/layout.h"
#include "oracle/texts/texts.h"

#include <inttypes.h>
#include <string.h>

enum {
    FUNCTIONS = 9, /* the last ENTRIES of them are entries */
    ENTRIES = 3,
    VARIABLES = 6,
    NODES = FUNCTIONS + VARIABLES, /* variables of the module stand behind the functions */
    SPANS = 3,                     /* labels of them in a body; so many numbers */
    OWN = NODES,                   /* and behind them one variable of each body */
    ALL = OWN + FUNCTIONS
};

struct modules {
    struct drawn *d;
    uint32_t functions[FUNCTIONS]; /* as their bodies stand in the text */
    uint32_t variable_count;
    uint32_t names[ALL]; /* whom it names, as a set */
    bool calls_any[ALL]; /* an address that it may have from memory */
    bool has_own[ALL];   /* a variable in its body */
    bool has_dynamic;    /* the first variable is dynamic shared memory */
    uint32_t align[ALL];
    uint64_t bytes[ALL];          /* of variables */
    uint32_t settable;            /* variables that a setting may give words, as a set */
    uint32_t alias_of;            /* alias "g0" is this function; ALL: there is none */
    uint32_t labels;              /* so far */
    uint32_t refused;             /* functions whose bodies are wrong, as a set */
    const char *spans[FUNCTIONS]; /* "first-end " of each span that ends, counted in instructions */
};

static uint32_t below(struct modules *p, uint32_t n)
{
    return drawn_below(p->d, n);
}

static bool is_entry(uint32_t f)
{
    return f < FUNCTIONS && f >= FUNCTIONS - ENTRIES;
}

static const char *name_of(const struct modules *p, uint32_t node)
{
    const char *kind = node >= OWN ? "own" : node >= FUNCTIONS ? "v" : is_entry(node) ? "e" : "f";
    return arena_printf(p->d->arena, "%s%" PRIu32, kind, node);
}

#define PUT(p, ...) text_format(&(p)->d->text, __VA_ARGS__)

/* ---- functions: of every third one the same signature ---- */

static const struct {
    const char *results, *parameters, *call_results, *call_arguments, *prototype;
} signatures[] = {{"", "()", "", "", "_ ()"},
                  {"(.param .b32 r) ", " (.param .b64 a)", "(%r0), ", ", (%d1)",
                   "(.param .b32 _) _ (.param .b64 _)"},
                  {"", " (.param .b64 a)", "", ", (%d1)", "_ (.param .b64 _)"}};

static uint32_t any_function(struct modules *p)
{
    return below(p, FUNCTIONS - ENTRIES);
}

/* Its name, or that of its alias; the node at hand names it. */
static const char *put_name(struct modules *p, uint32_t who, uint32_t node)
{
    p->names[who] |= 1u << node;
    return node == p->alias_of && drawn_once_in(p->d, 2) ? "g0" : name_of(p, node);
}

static void put_call(struct modules *p, uint32_t who)
{
    const uint32_t f = any_function(p), kind = below(p, 4), number = p->labels++;
    const char *const results = signatures[f % 3].call_results, *const arguments =
                                                                    signatures[f % 3]
                                                                        .call_arguments;
    if (kind < 2) {
        const char *name = put_name(p, who, f);
        PUT(p, "\tcall%s %s%s%s;\n", kind ? ".uni" : "", results, name, arguments);
    } else if (kind == 2) {
        PUT(p, "L%" PRIu32 ": .calltargets %s", number, put_name(p, who, f));
        if (drawn_once_in(p->d, 2))
            PUT(p, ", %s", put_name(p, who, (f + 3) % (FUNCTIONS - ENTRIES)));
        PUT(p, ";\n\tcall %s%%d0%s, L%" PRIu32 ";\n", results, arguments, number);
    } else if (f % 3 == 0 && drawn_once_in(p->d, 2)) {
        PUT(p, "\tcall %%d0;\n");
        p->calls_any[who] = true;
    } else {
        PUT(p, "L%" PRIu32 ": .callprototype %s;\n\tcall %s%%d0%s, L%" PRIu32 ";\n", number,
            signatures[f % 3].prototype, results, arguments, number);
        p->calls_any[who] = true;
    }
}

static void put_statement(struct modules *p, uint32_t who)
{
    const bool nested = drawn_once_in(p->d, 4);
    const uint32_t kind = below(p, 4), variables = p->variable_count + p->has_own[who];
    PUT(p, nested ? "\t{\n" : "");
    if (kind == 0 && variables > 0) {
        const uint32_t v = below(p, variables);
        const char *name = put_name(p, who, v < p->variable_count ? FUNCTIONS + v : OWN + who);
        PUT(p, drawn_once_in(p->d, 2) ? "\tmov.u64 %%d0, %s;\n" : "\t@%%p0 mov.u64 %%d1, %s;\n",
            name);
    } else if (kind == 1) {
        PUT(p, "\tmov.u64 %%d0, %s;\n", put_name(p, who, any_function(p)));
    } else if (kind == 2) {
        put_call(p, who);
    } else {
        PUT(p, "\tadd.u64 %%d0, %%d0, 8;\n");
    }
    PUT(p, nested ? "\t}\n" : "");
}

/* Labels $S<n> and $E<n> before instruction `pc` of a body: a span ends where the last one that is open does. */
struct span_labels {
    uint32_t put[2], open[SPANS], first[SPANS],
        count; /* numbers of $S, of $E, as sets; and of the open ones */
};

static void put_label(struct modules *p, uint32_t f, struct span_labels *l, uint32_t pc)
{
    const uint32_t ends = below(p, 2), number = below(p, SPANS);
    if (l->put[ends] >> number & 1)
        return;
    l->put[ends] |= 1u << number;
    PUT(p, "$%s%" PRIu32 ":\n", ends ? "E" : "S", number);
    if (!ends) {
        l->open[l->count] = number;
        l->first[l->count++] = pc;
    } else if (l->count > 0 && l->open[l->count - 1] == number) {
        p->spans[f] = arena_printf(p->d->arena, "%s%" PRIu32 "-%" PRIu32 " ", p->spans[f],
                                   l->first[--l->count], pc);
    }
}

static void put_function(struct modules *p, uint32_t f)
{
    if (is_entry(f))
        PUT(p, ".visible .entry %s()\n", name_of(p, f));
    else
        PUT(p, ".func %s%s%s\n", signatures[f % 3].results, name_of(p, f),
            signatures[f % 3].parameters);
    PUT(p, "{\n\t.reg .pred %%p0;\n\t.reg .b32 %%r0;\n\t.reg .b64 "
           "%%d<2>;\n");
    p->has_own[f] = drawn_once_in(p->d, 3);
    if (p->has_own[f]) {
        p->bytes[OWN + f] = 4 + 4 * (uint64_t)below(p, 3);
        p->settable |= 1u << (OWN + f);
        PUT(p, "\t.shared .b32 %s[%" PRIu64 "];\n", name_of(p, OWN + f), p->bytes[OWN + f] / 4);
    }
    struct span_labels labels = {.count = 0};
    const uint32_t statements = below(p, 4);
    p->spans[f] = "";
    for (uint32_t i = 0; i < statements; i++) {
        put_label(p, f, &labels, i);
        put_statement(p, f);
        put_label(p, f, &labels, i + 1);
    }
    const bool nested = drawn_once_in(p->d, 3);
    PUT(p, nested ? "\t{\n" : "");
    if (nested)
        put_statement(p, f);
    if (p->refused >> f & 1) {
        PUT(p, f % 2 ? "\tmov.b32 %%r0, %%wrong%" PRIu32 ";\n" : "\twrong%" PRIu32 ";\n", f);
        p->names[f] = 0;
        p->calls_any[f] = false;
    }
    PUT(p, nested ? "\tret;\n\t}\n}\n" : "\tret;\n}\n");
}

/* ---- variables ---- */

/* A value: a number, a function, a variable that stands before, or a byte of the address of one. */
static void put_value(struct modules *p, uint32_t who, bool wide)
{
    const uint32_t kind = wide ? below(p, 4) : 0, before = who - FUNCTIONS;
    if (kind == 1) {
        PUT(p, "%s", put_name(p, who, any_function(p)));
    } else if (kind == 2 && before > 0) {
        const uint32_t node = FUNCTIONS + below(p, before), offset = 8 * below(p, 2);
        PUT(p, "%s+%" PRIu32, put_name(p, who, node), offset);
    } else {
        PUT(p, "%" PRIu32, below(p, 100));
    }
}

/* Beside each other or in lists of `inner` at most: how many lists there are, at least. */
static uint32_t put_values(struct modules *p, uint32_t who, bool wide, uint32_t inner)
{
    const bool in_lists = inner > 1 && drawn_once_in(p->d, 2);
    const uint32_t count = 1 + below(p, 9);
    for (uint32_t i = 0; i < count; i++) {
        PUT(p, "%s%s", i ? ", " : "", in_lists ? "{" : "");
        put_value(p, who, wide);
        if (in_lists && drawn_once_in(p->d, 2)) {
            PUT(p, ", ");
            put_value(p, who, wide);
        }
        PUT(p, in_lists ? "}" : "");
    }
    return in_lists ? count : (count + inner - 1) / inner;
}

static void put_dynamic(struct modules *p, uint32_t who)
{
    p->align[who] = 1u << below(p, 9);
    p->bytes[who] = 0;
    PUT(p, ".extern .shared .align %" PRIu32 " .b8 %s[];\n", p->align[who], name_of(p, who));
}

/* Its length may be what its initial values are: vectors, or arrays in arrays, as a whole. */
static void put_variable(struct modules *p, uint32_t who)
{
    static const struct {
        const char *vector, *rest;
        uint32_t inner;
    } shapes[] = {{"", "", 1}, {".v2 ", "", 2}, {".v4 ", "", 4}, {"", "[3]", 3}, {"", "[2][2]", 4}};
    static const char *const spaces[] = {".global", ".const", ".shared", ".local"};
    const uint32_t space = below(p, 4), shape = below(p, 5), length = below(p, 4);
    const bool wide = drawn_once_in(p->d, 2), has_values = space < 2 && drawn_once_in(p->d, 2);
    PUT(p, "%s %s%s %s[", spaces[space], shapes[shape].vector, wide ? ".b64" : ".u32",
        name_of(p, who));
    uint64_t rows = length + 1;
    if (!has_values) {
        PUT(p, "%" PRIu64 "]%s;\n", rows, shapes[shape].rest);
    } else {
        PUT(p, "]%s = {", shapes[shape].rest);
        rows = put_values(p, who, wide, shapes[shape].inner);
        PUT(p, "};\n");
    }
    p->settable |= space % 2 == 0 ? 1u << who : 0;
    p->align[who] = (shape < 3 ? shapes[shape].inner : 1) * (wide ? 8 : 4);
    p->bytes[who] = rows * shapes[shape].inner * (wide ? 8 : 4);
}

static void put_module(struct modules *p)
{
    PUT(p, "// simtfuzz: entry=%s", name_of(p, FUNCTIONS - 1));
    p->has_dynamic = drawn_once_in(p->d, 3);
    if (p->has_dynamic)
        PUT(p, " shared=%" PRIu32, 4 + 4 * below(p, 40));
    PUT(p, "\n.version 7.8\n.target sm_80\n.address_size 64\n");
    for (uint32_t f = 0; f < FUNCTIONS - ENTRIES; f++)
        PUT(p, ".func %s%s%s;\n", signatures[f % 3].results, name_of(p, f),
            signatures[f % 3].parameters);
    p->alias_of = drawn_once_in(p->d, 4) ? any_function(p) : ALL;
    if (p->alias_of < ALL)
        PUT(p, ".func %sg0%s;\n.alias g0, %s;\n", signatures[p->alias_of % 3].results,
            signatures[p->alias_of % 3].parameters, name_of(p, p->alias_of));
    if (p->has_dynamic)
        put_dynamic(p, FUNCTIONS + p->variable_count++);
    while (p->variable_count < VARIABLES && !drawn_once_in(p->d, 5))
        put_variable(p, FUNCTIONS + p->variable_count++);
    const uint32_t first = below(p, FUNCTIONS), step = 1 + 3 * below(p, 2);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        p->functions[i] = (first + step * i) % FUNCTIONS;
        put_function(p, p->functions[i]);
    }
}

/* ---- what an entry needs ---- */

static uint32_t needs_of(const struct modules *p, uint32_t entry)
{
    const uint32_t of_functions = (1u << FUNCTIONS) - 1;
    uint32_t set = 1u << entry, before;
    do {
        before = set;
        for (uint32_t n = 0; n < ALL; n++) {
            set |= before >> n & 1 ? p->names[n] : 0;
            for (uint32_t v = FUNCTIONS; v < NODES && before >> n & 1 && p->calls_any[n]; v++)
                set |= p->names[v] & of_functions ? 1u << v : 0;
        }
    } while (set != before);
    return set;
}

/* The functions that it needs: itself first, the others as their bodies stand. */
static uint32_t order_of(const struct modules *p, uint32_t entry, uint32_t order[FUNCTIONS])
{
    const uint32_t set = needs_of(p, entry);
    uint32_t count = 1;
    order[0] = entry;
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        if (p->functions[i] != entry && set >> p->functions[i] & 1)
            order[count++] = p->functions[i];
    return count;
}

static const char *meant(const struct modules *p, uint32_t entry)
{
    uint32_t order[FUNCTIONS];
    const uint32_t set = needs_of(p, entry), count = order_of(p, entry, order);
    struct text out = {.arena = p->d->arena};
    for (uint32_t i = 0; i < count; i++)
        text_format(&out, "%s ", name_of(p, order[i]));
    for (uint32_t v = FUNCTIONS; v < NODES + count; v++) {
        const uint32_t node = v < NODES ? v : OWN + order[v - NODES];
        if (set >> node & 1)
            text_format(&out, "%s %" PRIu64 " ", name_of(p, node), p->bytes[node]);
    }
    return out.bytes;
}

static const char *found(struct arena *arena, const struct ptx_module *module, const char *entry)
{
    struct ptx_reach reach;
    struct text out = {.arena = arena};
    ptx_reach(arena, module, ptx_find_entry(module, entry), &reach);
    for (uint32_t i = 0; i < reach.function_count; i++)
        text_format(&out, "%s ", reach.functions[i]->name);
    for (uint32_t i = 0; i < reach.variable_count; i++)
        text_format(&out, "%s %" PRIu64 " ", reach.variables[i]->name,
                    ptx_memory_bytes(reach.variables[i]));
    return out.bytes;
}

/* The bodies of the module, or those that an entry leaves of them. */
static const char *bodies(const struct modules *p, uint32_t set)
{
    struct text out = text_begin(p->d->arena);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        if (set >> p->functions[i] & 1)
            text_format(&out, "%s ", name_of(p, p->functions[i]));
    return out.bytes;
}

static const char *bodies_found(struct arena *arena, const struct ptx_module *module)
{
    struct text out = text_begin(arena);
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && item->u.function->has_body)
            text_format(&out, "%s ", item->u.function->name);
    return out.bytes;
}

static const char *of_entry(const struct modules *p, const struct ptx_module *module, uint32_t e)
{
    struct arena *arena = p->d->arena;
    const char *name = name_of(p, e), *all = meant(p, e);
    const char *differs = drawn_differ(arena, "needed", found(arena, module, name), all);
    const struct ptx_module *part = ptx_part(arena, module, ptx_find_entry(module, name));
    if (!differs)
        differs = drawn_differ(arena, "part", bodies_found(arena, part),
                               bodies(p, p->alias_of < ALL ? UINT32_MAX : needs_of(p, e)));
    return differs ? differs : drawn_differ(arena, "needed of it", found(arena, part, name), all);
}

/* Where regions lie: ascending and apart, each as its type asks; frames where vectors of 16 bytes may lie. */
static bool is_laid_out(const struct modules *p, const struct ptx_regions *regions)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *region = &regions->items[i];
        for (uint32_t v = FUNCTIONS; v < NODES; v++)
            if (strcmp(region->name, name_of(p, v)) == 0 && region->address % p->align[v] != 0)
                return false;
        if (region->address < end)
            return false;
        end = region->address + region->bytes;
    }
    return true;
}

/* Of each function that is compiled, where its spans lie. */
static const char *of_spans(const struct modules *p, const struct ptx_code *code)
{
    struct text is = text_begin(p->d->arena), all = text_begin(p->d->arena);
    uint32_t span = 0;
    for (uint32_t i = 0; i < code->function_count; i++) {
        const uint32_t entry = code->functions[i].entry, next = i + 1 < code->function_count
                                                                    ? code->functions[i + 1].entry
                                                                    : code->count;
        const char *name = code->functions[i].function->name;
        text_format(&is, "%s ", name);
        for (; span < code->span_count && code->spans[span].end < next; span++)
            text_format(&is, "%" PRId64 "-%" PRIu32 " ", (int64_t)code->spans[span].first - entry,
                        code->spans[span].end - entry);
        for (uint32_t f = 0; f < FUNCTIONS; f++)
            if (strcmp(name_of(p, f), name) == 0)
                text_format(&all, "%s %s", name, p->spans[f]);
    }
    return drawn_differ(p->d->arena, "spans", is.bytes, all.bytes);
}

static const char *of_layout(const struct modules *p, const struct ast_kernel *kernel)
{
    const char *why = "";
    const struct program *program = program_compile(p->d->arena, kernel, &why);
    const struct ptx_code *code = program ? program->ptx : NULL;
    const bool good = code && is_laid_out(p, &code->global) && is_laid_out(p, &code->shared) &&
                      is_laid_out(p, &code->constant) && is_laid_out(p, &code->local) &&
                      code->frame_local_base % 16 == 0;
    const char *differs = good ? layout_differs(p->d->arena, program, true) : NULL;
    if (differs)
        return arena_printf(p->d->arena, "laid out, %s", differs);
    if (good)
        return of_spans(p, code);
    return arena_printf(p->d->arena,
                        "layout: variables lie in each other, or not as their types ask; %s", why);
}

/* What is told of the module when it is asked for this entry: of the first function that it needs, and that is wrong.
 */
static const char *told_of(const struct modules *p, uint32_t entry)
{
    uint32_t order[FUNCTIONS], i = 0;
    const uint32_t count = order_of(p, entry, order);
    while (i < count && !(p->refused >> order[i] & 1))
        i++;
    return i == count
               ? ""
               : arena_printf(p->d->arena,
                              order[i] % 2 ? "'%%wrong%" PRIu32 "' is not declared"
                                           : "instruction 'wrong%" PRIu32 "' is not supported",
                              order[i]);
}

static const char *of_refused(struct modules *p, const char *text)
{
    struct arena *arena = p->d->arena;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *differs = NULL;
    for (uint32_t e = FUNCTIONS - ENTRIES; e < FUNCTIONS && !differs; e++) {
        diag_init(diag, "text", text, strlen(text));
        const char *settings = arena_printf(arena, "entry=%s", name_of(p, e));
        const struct ast_kernel *kernel =
            ptx_kernel_parse_with(arena, text, strlen(text), settings, diag);
        differs =
            drawn_differ(arena, "refused", kernel ? "" : diag->entries[0].text, told_of(p, e));
        if (!differs && diag->count > 1)
            differs = "refused: more is told than is wrong";
        if (!differs && kernel)
            differs = of_entry(p, kernel->ptx->module, e);
    }
    return differs;
}

/* Blocks, and, in front of all, the first words of some variables that the entry needs. */
static const char *with_settings(struct modules *p)
{
    struct text out = text_begin(p->d->arena);
    text_format(&out, "// simtfuzz: blocks=%" PRIu32, 1 + below(p, 3));
    const uint32_t set = p->refused ? 0 : needs_of(p, FUNCTIONS - 1) & p->settable;
    for (uint32_t v = FUNCTIONS; v < ALL; v++) {
        if (!(set >> v & 1) || below(p, 3))
            continue;
        text_format(&out, " init:%s=%" PRIu32, name_of(p, v), 1 + below(p, 1000));
        for (uint64_t i = 1; i < p->bytes[v] / 4 && below(p, 3); i++)
            text_format(&out, ",%" PRIu32, 1 + below(p, 1000));
    }
    text_format(&out, "\n%s", p->d->text.bytes);
    return out.bytes;
}

const char *texts_of_program(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_PROGRAMS);
    struct modules p = {.d = &d};
    const char *why, *differs = NULL;
    for (uint32_t n = drawn_once_in(&d, 3) ? 1 + below(&p, 3) : 0; n > 0; n--)
        p.refused |= 1u << below(&p, FUNCTIONS);
    put_module(&p);
    *text = with_settings(&p);
    if (p.refused)
        return of_refused(&p, *text);
    const struct ast_kernel *kernel = drawn_read(arena, *text, &why);
    if (!kernel)
        return arena_printf(arena, "read: refused, %s", why);
    for (uint32_t e = FUNCTIONS - ENTRIES; e < FUNCTIONS && !differs; e++)
        differs = of_entry(&p, kernel->ptx->module, e);
    return differs ? differs : of_layout(&p, kernel);
}
