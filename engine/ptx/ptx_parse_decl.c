#include "engine/ptx/ptx_parse_internal.h"

#include <string.h>

bool ptx_at_space(const struct ptx_parser *p)
{
    static const char *const spaces[] = {"reg", "param", "shared", "global", "const", "local"};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (ptx_at_dot(p, spaces[i]))
            return true;
    return false;
}

static bool is_alignment(uint32_t bytes)
{
    return bytes > 0 && (bytes & (bytes - 1)) == 0;
}

static bool parse_align(struct ptx_parser *p, uint32_t *align)
{
    struct location at = p->token.at;
    if (!ptx_number(p, 1 << 20, align))
        return false;
    if (!is_alignment(*align))
        ptx_error(p, at, "an alignment is a power of two");
    return true;
}

/* .attribute(.managed) */
static bool parse_managed(struct ptx_parser *p, struct ptx_variable *var)
{
    if (!ptx_expect(p, "("))
        return false;
    if (!ptx_accept_dot(p, "managed")) {
        ptx_unexpected(p, "'.managed'");
        return false;
    }
    var->is_managed = true;
    return ptx_expect(p, ")");
}

/* One of .align n, .v2, .v4, .ptr, the type; a space and an alignment behind .ptr are the pointer's. */
static bool parse_modifier(struct ptx_parser *p, struct ptx_variable *var)
{
    enum ptx_word word = ptx_at_word(p);
    if (ptx_accept_dot(p, "align"))
        return parse_align(p, var->is_pointer ? &var->pointer_align : &var->align);
    if (ptx_accept_dot(p, "attribute"))
        return parse_managed(p, var);
    if (ptx_accept_dot(p, "ptr")) {
        var->is_pointer = true;
        return true;
    }
    if (var->is_pointer && ptx_at_space(p)) {
        var->pointer_space = word;
    } else if (word == PTX_W_V2 || word == PTX_W_V4) {
        var->vector = word;
    } else if (ptx_type_of(word).kind != PTX_CLASS_NONE && var->type == PTX_W_NONE) {
        var->type = word;
    } else {
        ptx_error(p, p->token.at, "'.%.*s' is not supported in a declaration",
                  (int)(p->token.length > 40 ? 40 : p->token.length), p->token.text);
        return false;
    }
    ptx_advance(p);
    return true;
}

/* .space {modifier}, the part that several variables share. */
static bool parse_specifier(struct ptx_parser *p, struct ptx_variable *var)
{
    var->space = ptx_at_word(p);
    ptx_advance(p);
    while (p->token.kind == PTX_TOKEN_DOT)
        if (!parse_modifier(p, var))
            return false;
    if (var->type != PTX_W_NONE)
        return true;
    ptx_unexpected(p, "a type");
    return false;
}

static bool parse_dimensions(struct ptx_parser *p, struct ptx_variable *var)
{
    while (ptx_at(p, "[")) {
        struct location at = p->token.at;
        struct ptx_value size = {.kind = PTX_TOKEN_INTEGER};
        ptx_advance(p);
        if (!ptx_at(p, "]") && !ptx_constant(p, &size))
            return false;
        if (size.kind != PTX_TOKEN_INTEGER || size.bits > INT64_MAX)
            ptx_error(p, at, "this is no number of elements");
        if (var->dimension_count == PTX_LIMIT_DIMENSIONS) {
            ptx_error(p, at, "more than %d dimensions", PTX_LIMIT_DIMENSIONS);
            return false;
        }
        var->dimensions[var->dimension_count++] = size.bits;
        if (!ptx_expect(p, "]"))
            return false;
    }
    return true;
}

/* name, name<count>, name[n]..; what was shared is in *var already. */
static bool parse_declarator(struct ptx_parser *p, struct ptx_variable *var)
{
    var->at = p->token.at;
    var->name = ptx_name(p, "a name");
    if (!var->name)
        return false;
    if (ptx_accept(p, "<")) {
        var->is_range = true;
        if (var->space != PTX_W_REG)
            ptx_error(p, var->at, "only registers are declared as a range");
        if (!ptx_number(p, PTX_LIMIT_REGISTERS, &var->count) || !ptx_expect(p, ">"))
            return false;
    }
    if (!parse_dimensions(p, var))
        return false;
    if (!ptx_accept(p, "="))
        return true;
    var->init = ptx_initialiser(p);
    return var->init != NULL;
}

static struct ptx_variable *new_variable(struct ptx_parser *p, const struct ptx_variable *like)
{
    if (!ptx_count(p))
        return NULL;
    struct ptx_variable *var = ARENA_NEW(p->arena, struct ptx_variable);
    *var = *like;
    return var;
}

struct ptx_variable *ptx_variables(struct ptx_parser *p, enum ptx_linkage linkage)
{
    struct ptx_variable like = {.linkage = linkage}, *first = NULL, **last = &first;
    if (!parse_specifier(p, &like))
        return NULL;
    do {
        *last = new_variable(p, &like);
        if (!*last || !parse_declarator(p, *last))
            return NULL;
        last = &(*last)->next;
    } while (ptx_accept(p, ","));
    return first;
}

/* ---- functions ---- */

static bool parse_parameter(struct ptx_parser *p, struct ptx_variable **last)
{
    struct ptx_variable like = {.linkage = PTX_LINK_LOCAL};
    if (!ptx_at_dot(p, "param") && !ptx_at_dot(p, "reg")) {
        ptx_unexpected(p, "a parameter");
        return false;
    }
    if (!parse_specifier(p, &like))
        return false;
    *last = new_variable(p, &like);
    return *last && parse_declarator(p, *last);
}

bool ptx_parameters(struct ptx_parser *p, struct ptx_variable **list)
{
    if (!ptx_accept(p, "(") || ptx_accept(p, ")"))
        return true;
    do {
        if (!parse_parameter(p, list))
            return false;
        list = &(*list)->next;
    } while (ptx_accept(p, ","));
    return ptx_expect(p, ")");
}

const struct ptx_attribute_row ptx_attributes[PTX_ATTRIBUTE_COUNT] = {
    [PTX_MAXNTID] = {"maxntid", 3},
    [PTX_REQNTID] = {"reqntid", 3},
    [PTX_MINNCTAPERSM] = {"minnctapersm", 1},
    [PTX_MAXNCTAPERSM] = {"maxnctapersm", 1},
    [PTX_MAXNREG] = {"maxnreg", 1},
    [PTX_NORETURN] = {"noreturn", 0},
    [PTX_FUNCTION_PRAGMA] = {"pragma", 0},
    [PTX_EXPLICITCLUSTER] = {"explicitcluster", 0},
    [PTX_REQNCTAPERCLUSTER] = {"reqnctapercluster", 3},
    [PTX_MAXCLUSTERRANK] = {"maxclusterrank", 1},
};

/* .maxntid x, y, z; .noreturn; .pragma "text"; and so on. */
static bool parse_attribute(struct ptx_parser *p, struct ptx_attribute *attribute)
{
    int kind = 0;
    while (kind < PTX_ATTRIBUTE_COUNT && !ptx_at_dot(p, ptx_attributes[kind].name))
        kind++;
    if (kind == PTX_ATTRIBUTE_COUNT) {
        ptx_error(p, p->token.at, "'.%.*s' is not supported here",
                  (int)(p->token.length > 40 ? 40 : p->token.length), p->token.text);
        return false;
    }
    ptx_advance(p);
    attribute->kind = (enum ptx_attribute_kind)kind;
    if (kind == PTX_FUNCTION_PRAGMA) {
        attribute->text = ptx_string(p, "the text of a pragma");
        return attribute->text && ptx_expect(p, ";");
    }
    if (ptx_attributes[kind].most == 0)
        return true;
    do {
        if (!ptx_number(p, UINT32_MAX, &attribute->values[attribute->count++]))
            return false;
    } while (attribute->count < ptx_attributes[kind].most && ptx_accept(p, ","));
    return true;
}

static bool parse_attributes(struct ptx_parser *p, struct ptx_function *f)
{
    struct ptx_attribute **last = &f->attributes;
    while (p->token.kind == PTX_TOKEN_DOT) {
        if (!ptx_count(p))
            return false;
        *last = ARENA_NEW(p->arena, struct ptx_attribute);
        (*last)->at = p->token.at;
        if (!parse_attribute(p, *last))
            return false;
        last = &(*last)->next;
    }
    return true;
}

struct ptx_function *ptx_function(struct ptx_parser *p, enum ptx_linkage linkage, bool is_entry)
{
    if (!ptx_count(p))
        return NULL;
    struct ptx_function *f = ARENA_NEW(p->arena, struct ptx_function);
    f->linkage = linkage;
    f->is_entry = is_entry;
    if (!is_entry && !ptx_parameters(p, &f->returns))
        return NULL;
    f->at = p->token.at;
    f->name = ptx_name(p, "the name of a function");
    if (!f->name || !ptx_parameters(p, &f->parameters) || !parse_attributes(p, f))
        return NULL;
    if (ptx_accept(p, ";"))
        return f;
    f->has_body = true;
    const uint32_t before = p->diag->count;
    if (!ptx_expect(p, "{") || !ptx_block(p, &f->body))
        return NULL;
    if (p->some && !p->stopped)
        ptx_refuse_body(p->arena, f, p->diag, before);
    return f;
}
