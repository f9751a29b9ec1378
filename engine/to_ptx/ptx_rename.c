#include "engine/to_ptx/ptx_rename.h"

#include "engine/ptx/ptx_scope.h"

#include <string.h>

enum { NAME_KEPT = 64 }; /* bytes of an old name that a new one starts with */

/* ---- the tag ---- */

#define TAG "_flow"

/* The longest run of x behind a TAG in a name, and one more; 0: there is no TAG. */
static void look_at(const char *name, uint32_t *needed)
{
    for (const char *at = strstr(name, TAG); at; at = strstr(at + 1, TAG)) {
        uint32_t run = (uint32_t)strspn(at + strlen(TAG), "x") + 1;
        *needed = run > *needed ? run : *needed;
    }
}

static void look_at_variables(const struct ptx_variable *var, uint32_t *needed)
{
    for (; var; var = var->next)
        look_at(var->name, needed);
}

static bool is_labelled(const struct ptx_statement *stm)
{
    return stm->kind == PTX_LABEL || stm->kind == PTX_BRANCH_TARGETS ||
           stm->kind == PTX_CALL_TARGETS || stm->kind == PTX_PROTOTYPE;
}

static void look_at_statements(const struct ptx_statement *stm, uint32_t *needed)
{
    for (; stm; stm = stm->next) {
        if (is_labelled(stm))
            look_at(stm->name, needed);
        else if (stm->kind == PTX_VARIABLE)
            look_at(stm->u.variable->name, needed);
        else if (stm->kind == PTX_BLOCK)
            look_at_statements(stm->u.block, needed);
    }
}

const char *ptx_unused_tag(struct arena *arena, const struct ptx_module *module)
{
    uint32_t run = 0;
    for (const struct ptx_item *item = module->items; item; item = item->next) {
        if (item->kind == PTX_ITEM_VARIABLE)
            look_at(item->u.variable->name, &run);
        else if (item->kind == PTX_ITEM_ALIAS)
            look_at(item->name, &run);
        if (item->kind != PTX_ITEM_FUNCTION)
            continue;
        look_at(item->u.function->name, &run);
        look_at_variables(item->u.function->returns, &run);
        look_at_variables(item->u.function->parameters, &run);
        look_at_statements(item->u.function->body, &run);
    }
    char *tag = arena_alloc(arena, strlen(TAG) + run + 1, 1);
    memcpy(tag, TAG, strlen(TAG));
    memset(tag + strlen(TAG), 'x', run);
    return tag;
}

/* ---- new names ---- */

const char *ptx_new_name(struct ptx_renaming *r, const char *base)
{
    size_t length = strlen(base);
    return arena_printf(r->arena, "%.*s%s%u", (int)(length > NAME_KEPT ? NAME_KEPT : length), base,
                        r->tag, ++r->counter);
}

/* A name that a range of this name's registers is told from by its end. */
static void rename_declaration(struct ptx_renaming *r, const void *declaration, const char *name,
                               bool is_range)
{
    bool is_new;
    uint32_t *place = ptx_map_add(&r->names, declaration, 0, &is_new);
    if (!is_new)
        return;
    const char *text = ptx_new_name(r, name);
    *place = r->names.count - 1;
    r->texts[*place] = is_range ? arena_printf(r->arena, "%s_", text) : text;
}

/* NULL: it keeps its name. */
static const char *name_given(const struct ptx_renaming *r, const void *declaration)
{
    const uint32_t *place = ptx_map_find(&r->names, declaration, 0);
    return place ? r->texts[*place] : NULL;
}

/* ---- the function's own names, in one scope ---- */

struct naming {
    struct ptx_renaming *renaming;
    struct ptx_scopes scopes;
};

static const void *declaration_of(const struct ptx_binding *b)
{
    return b->kind == PTX_TARGET_VARIABLE ? (const void *)b->target.variable
                                          : (const void *)b->target.statement;
}

static void declare(struct naming *n, const char *name, const struct ptx_binding *binding,
                    bool nested)
{
    uint32_t index;
    bool taken = nested && (binding->is_range || ptx_scope_find(&n->scopes, name, &index));
    if (taken)
        rename_declaration(n->renaming, declaration_of(binding), name, binding->is_range);
    else
        ptx_scope_declare(&n->scopes, name, binding);
}

static void declare_variable(struct naming *n, const struct ptx_variable *var, bool nested)
{
    struct ptx_binding binding = {.kind = PTX_TARGET_VARIABLE, .is_range = var->is_range};
    binding.target.variable = var;
    declare(n, var->name, &binding, nested);
}

static void declare_statements(struct naming *n, const struct ptx_statement *stm, bool nested)
{
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_VARIABLE)
            declare_variable(n, stm->u.variable, nested);
        if (!is_labelled(stm))
            continue;
        struct ptx_binding binding = {.kind = PTX_TARGET_STATEMENT};
        binding.target.statement = stm;
        declare(n, stm->name, &binding, nested);
    }
}

static void declare_nested(struct naming *n, const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next)
        if (stm->kind == PTX_BLOCK) {
            declare_statements(n, stm->u.block, true);
            declare_nested(n, stm->u.block);
        }
}

/* ---- names of the module that a declaration would take ---- */

static void check_use(struct naming *n, const struct ptx_operand *list)
{
    for (const struct ptx_operand *o = list; o; o = o->next) {
        uint32_t index;
        const struct ptx_binding *b = o->name ? ptx_scope_find(&n->scopes, o->name, &index) : NULL;
        bool same = b && ((o->target_kind == PTX_TARGET_VARIABLE &&
                           declaration_of(b) == (const void *)o->target.variable) ||
                          (o->target_kind == PTX_TARGET_STATEMENT &&
                           declaration_of(b) == (const void *)o->target.statement));
        bool renamed = (o->target_kind == PTX_TARGET_VARIABLE &&
                        name_given(n->renaming, o->target.variable)) ||
                       (o->target_kind == PTX_TARGET_STATEMENT &&
                        name_given(n->renaming, o->target.statement));
        if (b && !same && !renamed)
            rename_declaration(n->renaming, declaration_of(b),
                               b->kind == PTX_TARGET_VARIABLE ? b->target.variable->name
                                                              : b->target.statement->name,
                               b->is_range);
        check_use(n, o->items);
    }
}

static bool names_own(struct naming *n, const struct ptx_init *init)
{
    uint32_t index;
    for (; init; init = init->next)
        if ((init->name && ptx_scope_find(&n->scopes, init->name, &index)) ||
            names_own(n, init->items))
            return true;
    return false;
}

static void check_uses(struct naming *n, const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_INSTRUCTION) {
            check_use(n, stm->u.instruction.guard);
            check_use(n, stm->u.instruction.operands);
        } else if (stm->kind == PTX_BRANCH_TARGETS || stm->kind == PTX_CALL_TARGETS) {
            check_use(n, stm->u.targets);
        } else if (stm->kind == PTX_BLOCK) {
            check_uses(n, stm->u.block);
        } else if (stm->kind == PTX_VARIABLE && names_own(n, stm->u.variable->init)) {
            n->renaming->clash = stm->at.line;
        }
    }
}

static uint32_t count_declarations(const struct ptx_statement *stm)
{
    uint32_t count = 0;
    for (; stm; stm = stm->next)
        count += stm->kind == PTX_BLOCK ? count_declarations(stm->u.block)
                                        : stm->kind == PTX_VARIABLE || is_labelled(stm);
    return count;
}

struct ptx_renaming ptx_renaming_new(struct arena *arena, const struct ptx_function *function,
                                     const char *tag)
{
    struct ptx_renaming r = {.arena = arena, .tag = tag, .names = {.arena = arena}};
    struct naming n = {.renaming = &r};
    uint32_t count = count_declarations(function->body);
    for (const struct ptx_variable *var = function->returns; var; var = var->next)
        count++;
    for (const struct ptx_variable *var = function->parameters; var; var = var->next)
        count++;
    r.texts = ARENA_ARRAY(arena, const char *, count + 1);
    ptx_scopes_init(&n.scopes, arena);
    for (const struct ptx_variable *var = function->returns; var; var = var->next)
        declare_variable(&n, var, false);
    for (const struct ptx_variable *var = function->parameters; var; var = var->next)
        declare_variable(&n, var, false);
    declare_statements(&n, function->body, false);
    declare_nested(&n, function->body);
    check_uses(&n, function->body);
    return r;
}

/* ---- copies ---- */

static const char *new_name(const struct ptx_renaming *r, const struct ptx_operand *o)
{
    const void *declaration = NULL;
    if (o->target_kind == PTX_TARGET_VARIABLE)
        declaration = o->target.variable;
    else if (o->target_kind == PTX_TARGET_STATEMENT)
        declaration = o->target.statement;
    const char *name = declaration ? name_given(r, declaration) : NULL;
    if (!name)
        return o->name;
    bool is_range = o->target_kind == PTX_TARGET_VARIABLE && o->target.variable->is_range;
    return is_range ? arena_printf(r->arena, "%s%u", name, o->index) : name;
}

struct ptx_operand *ptx_copy_operands(const struct ptx_renaming *r, const struct ptx_operand *list)
{
    struct ptx_operand *first = NULL, **last = &first;
    for (const struct ptx_operand *o = list; o; o = o->next) {
        struct ptx_operand *copy = ARENA_NEW(r->arena, struct ptx_operand);
        *copy = *o;
        copy->name = new_name(r, o);
        copy->items = ptx_copy_operands(r, o->items);
        copy->next = NULL;
        copy->target_kind = PTX_TARGET_NONE;
        *last = copy;
        last = &copy->next;
    }
    return first;
}

static struct ptx_variable *copy_variable(const struct ptx_renaming *r,
                                          const struct ptx_variable *var)
{
    struct ptx_variable *copy = ARENA_NEW(r->arena, struct ptx_variable);
    const char *name = name_given(r, var);
    *copy = *var;
    copy->name = name ? name : var->name;
    copy->original = var;
    return copy;
}

struct ptx_statement *ptx_copy_statement(const struct ptx_renaming *r,
                                         const struct ptx_statement *stm)
{
    struct ptx_statement *copy = ARENA_NEW(r->arena, struct ptx_statement);
    *copy = *stm;
    copy->next = NULL;
    if (is_labelled(stm) && name_given(r, stm))
        copy->name = name_given(r, stm);
    if (stm->kind == PTX_INSTRUCTION) {
        copy->u.instruction.guard = ptx_copy_operands(r, stm->u.instruction.guard);
        copy->u.instruction.operands = ptx_copy_operands(r, stm->u.instruction.operands);
    } else if (stm->kind == PTX_BRANCH_TARGETS || stm->kind == PTX_CALL_TARGETS) {
        copy->u.targets = ptx_copy_operands(r, stm->u.targets);
    } else if (stm->kind == PTX_VARIABLE) {
        copy->u.variable = copy_variable(r, stm->u.variable);
    }
    return copy;
}

struct ptx_statement *ptx_copy_body(const struct ptx_renaming *r, const struct ptx_statement *body)
{
    struct ptx_statement *first = NULL, **last = &first;
    for (const struct ptx_statement *stm = body; stm; stm = stm->next) {
        *last = ptx_copy_statement(r, stm);
        if (stm->kind == PTX_BLOCK)
            (*last)->u.block = ptx_copy_body(r, stm->u.block);
        last = &(*last)->next;
    }
    return first;
}
