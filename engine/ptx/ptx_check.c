#include "engine/ptx/ptx_check_internal.h"
#include "engine/ptx/ptx_parse_internal.h"

#include <string.h>

static void check_block(struct ptx_checker *c, struct ptx_statement *first);

/* ---- declarations ---- */

static void declare(struct ptx_checker *c, const char *name, const struct ptx_binding *binding)
{
    const struct ptx_binding *other = ptx_scope_declare(&c->scopes, name, binding);
    if (other)
        diag_error(c->diag, binding->at, "'%.100s' is declared already, in line %u", name,
                   other->at.line);
}

static void check_init(struct ptx_checker *c, const struct ptx_init *init)
{
    uint32_t index;
    if (init->kind == PTX_INIT_LIST) {
        for (const struct ptx_init *item = init->items; item; item = item->next)
            check_init(c, item);
        return;
    }
    if (init->kind != PTX_INIT_ADDRESS)
        return;
    const struct ptx_binding *b = ptx_scope_find(&c->scopes, init->name, &index);
    if (!b)
        diag_error(c->diag, init->at, "'%.100s' is not declared", init->name);
    else if (b->kind != PTX_TARGET_FUNCTION &&
             (b->kind != PTX_TARGET_VARIABLE || b->target.variable->space == PTX_W_REG))
        diag_error(c->diag, init->at, "'%.100s' has no address that is known here", init->name);
}

/* How many scalars an initialiser gives. */
static uint64_t count_init(const struct ptx_init *init)
{
    if (init->kind != PTX_INIT_LIST)
        return 1;
    uint64_t count = 0;
    for (const struct ptx_init *item = init->items; item; item = item->next)
        count += count_init(item);
    return count;
}

static uint64_t count_elements(const struct ptx_variable *var)
{
    uint64_t count = var->vector == PTX_W_V2 ? 2 : var->vector == PTX_W_V4 ? 4 : 1;
    for (uint32_t i = 0; i < var->dimension_count; i++)
        count *= var->dimensions[i];
    return count;
}

/* Only the first dimension may be left to the initialiser, or to the launch. */
static bool check_dimensions(struct ptx_checker *c, const struct ptx_variable *var)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < var->dimension_count; i++) {
        if (var->dimensions[i] == 0 && i > 0) {
            diag_error(c->diag, var->at, "only the first dimension can be left out");
            return false;
        }
        if (var->dimensions[i] > 0 && count > PTX_LIMIT_ELEMENTS / var->dimensions[i]) {
            diag_error(c->diag, var->at, "an array has at most %llu elements",
                       (unsigned long long)PTX_LIMIT_ELEMENTS);
            return false;
        }
        count *= var->dimensions[i] ? var->dimensions[i] : 1;
    }
    return true;
}

static void check_variable(struct ptx_checker *c, const struct ptx_variable *var)
{
    bool is_register = var->space == PTX_W_REG;
    if (!check_dimensions(c, var))
        return;
    if (is_register && (var->dimension_count > 0 || var->init))
        diag_error(c->diag, var->at, "registers have neither elements nor initial values");
    else if (!is_register && var->type == PTX_W_PRED)
        diag_error(c->diag, var->at, "predicates are registers");
    else if (var->init &&
             (var->space == PTX_W_SHARED || var->space == PTX_W_LOCAL || var->space == PTX_W_PARAM))
        diag_error(c->diag, var->at, "a variable in .%s has no initial value",
                   ptx_words[var->space]);
    else if (var->init && count_elements(var) > 0 && count_init(var->init) > count_elements(var))
        diag_error(c->diag, var->at, "more initial values than elements");
    if (var->init)
        check_init(c, var->init);
}

static void declare_variable(struct ptx_checker *c, const struct ptx_variable *var)
{
    struct ptx_binding binding = {
        .kind = PTX_TARGET_VARIABLE, .at = var->at, .is_range = var->is_range};
    binding.target.variable = var;
    check_variable(c, var);
    declare(c, var->name, &binding);
}

/* ---- statements ---- */

static bool is_labelled(const struct ptx_statement *stm)
{
    return stm->kind == PTX_LABEL || stm->kind == PTX_BRANCH_TARGETS ||
           stm->kind == PTX_CALL_TARGETS || stm->kind == PTX_PROTOTYPE;
}

static void declare_labels(struct ptx_checker *c, const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next) {
        if (!is_labelled(stm))
            continue;
        struct ptx_binding binding = {.kind = PTX_TARGET_STATEMENT, .at = stm->at};
        binding.target.statement = stm;
        declare(c, stm->name, &binding);
    }
}

static void check_targets(struct ptx_checker *c, const struct ptx_statement *stm)
{
    bool labels = stm->kind == PTX_BRANCH_TARGETS;
    for (struct ptx_operand *o = stm->u.targets; o; o = o->next) {
        if (!ptx_resolve(c, o))
            continue;
        bool good = labels ? o->target_kind == PTX_TARGET_STATEMENT &&
                                 o->target.statement->kind == PTX_LABEL
                           : o->target_kind == PTX_TARGET_FUNCTION;
        if (!good)
            diag_error(c->diag, o->at, "%s is wanted here", labels ? "a label" : "a function");
    }
}

static void check_statement(struct ptx_checker *c, struct ptx_statement *stm)
{
    switch (stm->kind) {
    case PTX_INSTRUCTION:
        ptx_check_instruction(c, &stm->u.instruction, stm->at);
        return;
    case PTX_VARIABLE:
        declare_variable(c, stm->u.variable);
        return;
    case PTX_BLOCK:
        ptx_scope_open(&c->scopes);
        check_block(c, stm->u.block);
        ptx_scope_close(&c->scopes, c->diag);
        return;
    case PTX_BRANCH_TARGETS:
    case PTX_CALL_TARGETS:
        check_targets(c, stm);
        return;
    case PTX_LABEL:
    case PTX_LOC:
    case PTX_PRAGMA:
    case PTX_PROTOTYPE:
        return;
    }
}

static void check_block(struct ptx_checker *c, struct ptx_statement *first)
{
    declare_labels(c, first);
    for (struct ptx_statement *stm = first; stm; stm = stm->next)
        check_statement(c, stm);
}

/* ---- functions ---- */

static bool same_parameters(const struct ptx_variable *a, const struct ptx_variable *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (ptx_variable_bytes(a) != ptx_variable_bytes(b) || a->space != b->space)
            return false;
    return a == b;
}

/* Declared again: the same, and only once with a body. */
static void check_again(struct ptx_checker *c, const struct ptx_function *f,
                        const struct ptx_binding *other)
{
    const struct ptx_function *before = other->target.function;
    if (other->kind != PTX_TARGET_FUNCTION || (f->has_body && before != f))
        diag_error(c->diag, f->at, "'%.100s' is declared already, in line %u", f->name,
                   other->at.line);
    else if (f->is_entry != before->is_entry || !same_parameters(f->returns, before->returns) ||
             !same_parameters(f->parameters, before->parameters))
        diag_error(c->diag, f->at, "'%.100s' is declared with other parameters in line %u", f->name,
                   other->at.line);
}

/* Callers see the definition, wherever it stands. */
static void declare_function(struct ptx_checker *c, const struct ptx_function *f)
{
    const struct ptx_function *definition = ptx_scope_entry(&c->scopes, f->name)->definition;
    struct ptx_binding binding = {.kind = PTX_TARGET_FUNCTION, .at = f->at};
    binding.target.function = definition ? definition : f;
    const struct ptx_binding *other = ptx_scope_declare(&c->scopes, f->name, &binding);
    if (other) {
        check_again(c, f, other);
    } else if (definition && definition != f) {
        binding.at = definition->at;
        check_again(c, f, &binding);
    }
}

static void check_function(struct ptx_checker *c, struct ptx_function *f)
{
    declare_function(c, f);
    if (!f->has_body)
        return;
    const uint32_t before = c->diag->count;
    ptx_scope_open(&c->scopes);
    for (const struct ptx_variable *var = f->returns; var; var = var->next)
        declare_variable(c, var);
    for (const struct ptx_variable *var = f->parameters; var; var = var->next)
        declare_variable(c, var);
    check_block(c, f->body);
    ptx_scope_close(&c->scopes, c->diag);
    if (c->some)
        ptx_refuse_body(c->scopes.arena, f, c->diag, before);
}

static void check_alias(struct ptx_checker *c, const struct ptx_item *item)
{
    uint32_t index;
    const struct ptx_binding *b = ptx_scope_find(&c->scopes, item->u.aliasee, &index);
    if (!b || b->kind != PTX_TARGET_FUNCTION)
        diag_error(c->diag, item->at, "'%.100s' is no function", item->u.aliasee);
}

static void check_item(struct ptx_checker *c, const struct ptx_item *item)
{
    switch (item->kind) {
    case PTX_ITEM_VARIABLE:
        declare_variable(c, item->u.variable);
        return;
    case PTX_ITEM_FUNCTION:
        check_function(c, item->u.function);
        return;
    case PTX_ITEM_ALIAS:
        check_alias(c, item);
        return;
    case PTX_ITEM_FILE:
    case PTX_ITEM_PRAGMA:
        return;
    }
}

bool ptx_check(struct arena *arena, struct ptx_module *module, struct diag *diag)
{
    return ptx_check_items(arena, module, diag, false);
}

bool ptx_check_items(struct arena *arena, struct ptx_module *module, struct diag *diag, bool some)
{
    uint32_t before = diag->count;
    struct ptx_checker c = {.diag = diag, .module = module, .some = some};
    ptx_scopes_init(&c.scopes, arena);
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && item->u.function->has_body) {
            struct ptx_entry *entry = ptx_scope_entry(&c.scopes, item->u.function->name);
            entry->definition = entry->definition ? entry->definition : item->u.function;
        }
    for (const struct ptx_item *item = module->items; item; item = item->next)
        check_item(&c, item);
    ptx_scope_close(&c.scopes, diag);
    return diag->count == before;
}
