#include "engine/ptx/ptx_parse_internal.h"

#include <string.h>

/* ---- .version, .target, .address_size ---- */

/* 7.8 was read as a number; its text is what counts. */
static bool parse_version(struct ptx_parser *p)
{
    const struct ptx_token *t = &p->token;
    uint32_t parts[2] = {0, 0}, part = 0;
    bool good = t->kind == PTX_TOKEN_FLOAT64 && t->length <= 8;
    for (uint32_t i = 0; good && i < t->length; i++) {
        if (t->text[i] == '.')
            part++;
        else if (t->text[i] >= '0' && t->text[i] <= '9')
            parts[part] = parts[part] * 10 + (uint32_t)(t->text[i] - '0');
        else
            good = false;
    }
    if (!good) {
        ptx_unexpected(p, "a version such as 7.8");
        return false;
    }
    p->module->version_major = parts[0];
    p->module->version_minor = parts[1];
    ptx_advance(p);
    return true;
}

static bool parse_module_targets(struct ptx_parser *p)
{
    struct ptx_name_list **last = &p->module->targets;
    *last = NULL;
    do {
        if (!ptx_count(p))
            return false;
        *last = ARENA_NEW(p->arena, struct ptx_name_list);
        (*last)->name = ptx_name(p, "a target such as sm_80");
        if (!(*last)->name) {
            *last = NULL;
            return false;
        }
        last = &(*last)->next;
    } while (ptx_accept(p, ","));
    return true;
}

static bool parse_address_size(struct ptx_parser *p)
{
    struct location at = p->token.at;
    if (!ptx_number(p, 64, &p->module->address_size))
        return false;
    if (p->module->address_size == 32 || p->module->address_size == 64)
        return true;
    ptx_error(p, at, "addresses have 32 or 64 bits");
    return false;
}

/* ---- items ---- */

/* "folder" "file" of DWARF 5: one path. */
static const char *join_path(struct ptx_parser *p, const char *folder, const char *file)
{
    if (folder[0] == '\0' || file[0] == '/')
        return file;
    return arena_printf(p->arena, "%s/%s", folder, file);
}

/* .file number ["folder"] "path" [, time, size] */
static bool parse_file(struct ptx_parser *p, struct ptx_item *item)
{
    uint32_t ignored;
    item->kind = PTX_ITEM_FILE;
    if (!ptx_number(p, UINT32_MAX, &item->u.file))
        return false;
    item->name = ptx_string(p, "the name of a file");
    if (item->name && p->token.kind == PTX_TOKEN_STRING) {
        const char *file = ptx_string(p, "the name of a file");
        item->name = file ? join_path(p, item->name, file) : NULL;
    }
    if (!item->name)
        return false;
    while (ptx_accept(p, ","))
        if (!ptx_number(p, UINT32_MAX, &ignored))
            return false;
    return true;
}

static bool parse_pragma(struct ptx_parser *p, struct ptx_item *item)
{
    item->kind = PTX_ITEM_PRAGMA;
    item->name = ptx_string(p, "the text of a pragma");
    return item->name && ptx_expect(p, ";");
}

static bool parse_alias(struct ptx_parser *p, struct ptx_item *item)
{
    item->kind = PTX_ITEM_ALIAS;
    item->name = ptx_name(p, "the name of a function");
    if (!item->name || !ptx_expect(p, ","))
        return false;
    item->u.aliasee = ptx_name(p, "the name of a function");
    return item->u.aliasee && ptx_expect(p, ";");
}

/* .section name { .. }: debugging data, which is not kept. */
static bool skip_section(struct ptx_parser *p)
{
    ptx_advance(p);
    if (p->token.kind != PTX_TOKEN_DOT && p->token.kind != PTX_TOKEN_NAME) {
        ptx_unexpected(p, "the name of a section");
        return false;
    }
    ptx_advance(p);
    if (!ptx_expect(p, "{"))
        return false;
    for (uint32_t depth = 1; depth > 0; ptx_advance(p)) {
        if (p->token.kind == PTX_TOKEN_END) {
            ptx_unexpected(p, "'}'");
            return false;
        }
        depth += ptx_at(p, "{");
        depth -= ptx_at(p, "}");
    }
    return true;
}

static enum ptx_linkage parse_linkage(struct ptx_parser *p)
{
    static const char *const names[] = {
        [PTX_LINK_VISIBLE] = "visible",
        [PTX_LINK_WEAK] = "weak",
        [PTX_LINK_EXTERN] = "extern",
        [PTX_LINK_COMMON] = "common",
    };
    for (int i = PTX_LINK_VISIBLE; i <= PTX_LINK_COMMON; i++)
        if (ptx_accept_dot(p, names[i]))
            return (enum ptx_linkage)i;
    return PTX_LINK_LOCAL;
}

static bool parse_definition(struct ptx_parser *p, struct ptx_item *item)
{
    enum ptx_linkage linkage = parse_linkage(p);
    if (ptx_at_space(p)) {
        item->kind = PTX_ITEM_VARIABLE;
        item->u.variable = ptx_variables(p, linkage);
        return item->u.variable && ptx_expect(p, ";");
    }
    item->kind = PTX_ITEM_FUNCTION;
    bool is_entry = ptx_at_dot(p, "entry");
    if (!is_entry && !ptx_at_dot(p, "func")) {
        ptx_unexpected(p, "a function or variable");
        return false;
    }
    ptx_advance(p);
    item->u.function = ptx_function(p, linkage, is_entry);
    return item->u.function != NULL;
}

static bool parse_item(struct ptx_parser *p, struct ptx_item *item)
{
    item->at = p->token.at;
    if (ptx_accept_dot(p, "file"))
        return parse_file(p, item);
    if (ptx_accept_dot(p, "pragma"))
        return parse_pragma(p, item);
    if (ptx_accept_dot(p, "alias"))
        return parse_alias(p, item);
    return parse_definition(p, item);
}

/* `.global .u32 a, b;` is two items, one a variable. */
static struct ptx_item **split_variables(struct ptx_parser *p, struct ptx_item *item)
{
    struct ptx_variable *var = item->u.variable;
    while (var->next && ptx_count(p)) {
        struct ptx_item *more = ARENA_NEW(p->arena, struct ptx_item);
        more->kind = PTX_ITEM_VARIABLE;
        more->u.variable = var->next;
        more->at = var->next->at;
        var->next = NULL;
        var = more->u.variable;
        item->next = more;
        item = more;
    }
    return &item->next;
}

/* Behind the next semicolon or closing brace outside braces. */
static void skip_item(struct ptx_parser *p)
{
    ptx_skip_statement(p);
    ptx_accept(p, "}");
}

static bool parse_header(struct ptx_parser *p, bool *ok)
{
    if (ptx_accept_dot(p, "version"))
        *ok = parse_version(p);
    else if (ptx_accept_dot(p, "target"))
        *ok = parse_module_targets(p);
    else if (ptx_accept_dot(p, "address_size"))
        *ok = parse_address_size(p);
    else if (ptx_at_dot(p, "section"))
        *ok = skip_section(p);
    else
        return false;
    return true;
}

static void parse_module(struct ptx_parser *p)
{
    struct ptx_item **last = &p->module->items;
    while (p->token.kind != PTX_TOKEN_END) {
        bool ok = true;
        if (ptx_accept(p, ";") || parse_header(p, &ok)) {
            if (!ok)
                skip_item(p);
            continue;
        }
        if (!ptx_count(p))
            return;
        struct ptx_item *item = ARENA_NEW(p->arena, struct ptx_item);
        if (!parse_item(p, item)) {
            skip_item(p);
            continue;
        }
        *last = item;
        last = item->kind == PTX_ITEM_VARIABLE ? split_variables(p, item) : &item->next;
    }
}

void ptx_refuse_body(struct arena *arena, struct ptx_function *f, struct diag *diag,
                     uint32_t before)
{
    if (diag->count == 0 || before > 0) /* the module itself is wrong */
        return;
    f->refused_count = diag->count < PTX_REFUSED_MOST ? diag->count : PTX_REFUSED_MOST;
    struct diag_entry *errors = ARENA_ARRAY(arena, struct diag_entry, f->refused_count);
    memcpy(errors, diag->entries, f->refused_count * sizeof *errors);
    f->refused = errors;
    f->body = NULL;
    diag->count = 0;
}

static struct ptx_module *parse(struct arena *arena, const char *text, size_t length,
                                struct diag *diag, bool some)
{
    if (length > PTX_LIMIT_SOURCE_BYTES) {
        diag_error(diag, (struct location){0, 0}, "text is longer than %d bytes",
                   PTX_LIMIT_SOURCE_BYTES);
        return NULL;
    }
    uint32_t before = diag->count;
    struct ptx_module *module = ARENA_NEW(arena, struct ptx_module);
    struct ptx_parser p = {.arena = arena, .diag = diag, .module = module, .some = some};
    reader_init(&p.lexer, text, length, diag);
    ptx_advance(&p);
    parse_module(&p);
    if (!p.stopped && diag->count == before)
        ptx_check_items(arena, module, diag, some);
    return diag->count == before ? module : NULL;
}

struct ptx_module *ptx_parse(struct arena *arena, const char *text, size_t length,
                             struct diag *diag)
{
    return parse(arena, text, length, diag, false);
}

struct ptx_module *ptx_parse_some(struct arena *arena, const char *text, size_t length,
                                  struct diag *diag)
{
    return parse(arena, text, length, diag, true);
}
