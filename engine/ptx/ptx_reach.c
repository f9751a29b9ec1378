#include "engine/ptx/ptx_reach.h"

#include "engine/base/invariant.h"
#include "engine/ptx/ptx_check_internal.h"

#include <string.h>

/* ---- maps ---- */

struct ptx_map_entry {
    const void *key; /* NULL: free */
    uint64_t sub;
    uint32_t value;
};

enum { FIRST_CAPACITY = 64 };

static struct ptx_map_entry *map_place(const struct ptx_map *map, const void *key, uint64_t sub)
{
    uint64_t hash =
        ((uint64_t)(uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u ^ sub * 0xbf58476d1ce4e5b9u;
    uint32_t at = (uint32_t)(hash >> 32 ^ hash >> 11) & (map->capacity - 1);
    while (map->entries[at].key && (map->entries[at].key != key || map->entries[at].sub != sub))
        at = (at + 1) & (map->capacity - 1);
    return &map->entries[at];
}

static void map_grow(struct ptx_map *map)
{
    struct ptx_map old = *map;
    map->capacity = old.capacity ? old.capacity * 2 : FIRST_CAPACITY;
    map->entries = ARENA_ARRAY(map->arena, struct ptx_map_entry, map->capacity);
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.entries[i].key)
            *map_place(map, old.entries[i].key, old.entries[i].sub) = old.entries[i];
}

uint32_t *ptx_map_add(struct ptx_map *map, const void *key, uint64_t sub, bool *is_new)
{
    if (map->count * 2 >= map->capacity)
        map_grow(map);
    struct ptx_map_entry *entry = map_place(map, key, sub);
    *is_new = !entry->key;
    if (*is_new) {
        entry->key = key;
        entry->sub = sub;
        map->count++;
    }
    return &entry->value;
}

const uint32_t *ptx_map_find(const struct ptx_map *map, const void *key, uint64_t sub)
{
    if (map->capacity == 0)
        return NULL;
    const struct ptx_map_entry *entry = map_place(map, key, sub);
    return entry->key ? &entry->value : NULL;
}

/* ---- names ---- */

static const char *symbol_name(const struct ptx_item *item)
{
    switch (item->kind) {
    case PTX_ITEM_VARIABLE:
        return item->u.variable->name;
    case PTX_ITEM_FUNCTION:
        return item->u.function->name;
    case PTX_ITEM_ALIAS:
        return item->name;
    case PTX_ITEM_FILE:
    case PTX_ITEM_PRAGMA:
        break;
    }
    return NULL;
}

/* A definition hides an alias, an alias a declaration. */
static int symbol_rank(const struct ptx_item *item)
{
    if (item->kind == PTX_ITEM_FUNCTION)
        return item->u.function->has_body ? 2 : 0;
    return 1;
}

/* FNV-1a. */
static uint32_t hash_name(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

static const struct ptx_item **symbol_place(const struct ptx_symbols *symbols, const char *name)
{
    uint32_t at = hash_name(name) & (symbols->capacity - 1);
    while (symbols->items[at] && strcmp(symbol_name(symbols->items[at]), name) != 0)
        at = (at + 1) & (symbols->capacity - 1);
    return &symbols->items[at];
}

void ptx_symbols_init(struct ptx_symbols *symbols, struct arena *arena,
                      const struct ptx_module *module)
{
    uint32_t count = 0;
    for (const struct ptx_item *item = module->items; item; item = item->next)
        count += symbol_name(item) != NULL;
    for (symbols->capacity = 16; symbols->capacity < 2 * count;)
        symbols->capacity *= 2;
    symbols->items = ARENA_ARRAY(arena, const struct ptx_item *, symbols->capacity);
    for (const struct ptx_item *item = module->items; item; item = item->next) {
        const char *name = symbol_name(item);
        const struct ptx_item **place = name ? symbol_place(symbols, name) : NULL;
        if (place && (!*place || symbol_rank(item) > symbol_rank(*place)))
            *place = item;
    }
}

const struct ptx_item *ptx_symbol(const struct ptx_symbols *symbols, const char *name)
{
    return *symbol_place(symbols, name);
}

/* An alias may name an alias; a circle of them ends nowhere. */
const struct ptx_function *ptx_symbol_function(const struct ptx_symbols *symbols, const char *name)
{
    enum { ALIASES = 16 };
    for (int i = 0; i < ALIASES; i++) {
        const struct ptx_item *item = ptx_symbol(symbols, name);
        if (!item || item->kind == PTX_ITEM_VARIABLE)
            return NULL;
        if (item->kind == PTX_ITEM_FUNCTION)
            return item->u.function;
        name = item->u.aliasee;
    }
    return NULL;
}

const struct ptx_function *ptx_definition(const struct ptx_symbols *symbols,
                                          const struct ptx_function *f)
{
    const struct ptx_function *named = f->has_body ? f : ptx_symbol_function(symbols, f->name);
    return named && named->has_body ? named : NULL;
}

/* ---- what is reached ---- */

struct reacher {
    struct ptx_reach *reach;
    struct ptx_map seen;
    /* Functions whose bodies, variables whose initial values are still to be read, or were. */
    const struct ptx_function **functions;
    const struct ptx_variable **variables;
    uint32_t function_count, variable_count, reserved_count;
    const struct ptx_variable *reserved[PTX_RESERVED]; /* no item of the module declares them */
    bool calls_any; /* by an address, which may come from memory that another kernel wrote */
};

static void reach_function(struct reacher *r, const struct ptx_function *f)
{
    bool is_new;
    const struct ptx_function *definition = ptx_definition(&r->reach->symbols, f);
    if (!definition)
        return;
    ptx_map_add(&r->seen, definition, 0, &is_new);
    if (is_new)
        r->functions[r->function_count++] = definition;
}

static bool is_reserved(const struct ptx_variable *var)
{
    return var == &ptx_reserved[0] || var == &ptx_reserved[1];
}

static void reach_variable(struct reacher *r, const struct ptx_variable *var)
{
    bool is_new;
    if (var->space == PTX_W_REG || var->space == PTX_W_PARAM)
        return;
    ptx_map_add(&r->seen, var, 0, &is_new);
    if (is_new && is_reserved(var))
        r->reserved[r->reserved_count++] = var;
    if (is_new && var->init)
        r->variables[r->variable_count++] = var;
}

static void reach_operand(struct reacher *r, const struct ptx_operand *o)
{
    for (; o; o = o->next) {
        if (o->target_kind == PTX_TARGET_FUNCTION)
            reach_function(r, o->target.function);
        else if (o->target_kind == PTX_TARGET_VARIABLE)
            reach_variable(r, o->target.variable);
        reach_operand(r, o->items);
    }
}

/* A call by an address, without a list of what it may be. */
static bool calls_any(const struct ptx_instruction *i)
{
    struct ptx_call_operands call;
    if (ptx_forms[i->form].opcode != PTX_OP_CALL || !ptx_call_divide(i->operands, &call))
        return false;
    return call.target->target_kind == PTX_TARGET_VARIABLE &&
           !(call.signature && call.signature->target_kind == PTX_TARGET_STATEMENT &&
             call.signature->target.statement->kind == PTX_CALL_TARGETS);
}

static void reach_statements(struct reacher *r, const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_INSTRUCTION) {
            reach_operand(r, stm->u.instruction.operands);
            r->calls_any |= calls_any(&stm->u.instruction);
        } else if (stm->kind == PTX_CALL_TARGETS)
            reach_operand(r, stm->u.targets);
        else if (stm->kind == PTX_BLOCK)
            reach_statements(r, stm->u.block);
    }
}

static void reach_init(struct reacher *r, const struct ptx_init *init)
{
    for (; init; init = init->next) {
        reach_init(r, init->items);
        if (init->kind != PTX_INIT_ADDRESS)
            continue;
        const struct ptx_item *item = ptx_symbol(&r->reach->symbols, init->name);
        const struct ptx_function *f = ptx_symbol_function(&r->reach->symbols, init->name);
        if (f)
            reach_function(r, f);
        else if (item && item->kind == PTX_ITEM_VARIABLE)
            reach_variable(r, item->u.variable);
    }
}

static bool names_function(const struct reacher *r, const struct ptx_init *init)
{
    for (; init; init = init->next) {
        if ((init->kind == PTX_INIT_ADDRESS &&
             ptx_symbol_function(&r->reach->symbols, init->name)) ||
            names_function(r, init->items))
            return true;
    }
    return false;
}

/* Tables of functions: the objects that hold their addresses were made by another kernel, perhaps. */
static void reach_tables(struct reacher *r, const struct ptx_module *module)
{
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_VARIABLE && names_function(r, item->u.variable->init))
            reach_variable(r, item->u.variable);
    r->calls_any = false;
}

static bool is_seen(const struct reacher *r, const void *key)
{
    return ptx_map_find(&r->seen, key, 0) != NULL;
}

/* The variables of a body that have one address for all its calls. */
static uint32_t body_variables(const struct reacher *r, const struct ptx_statement *stm,
                               const struct ptx_variable **list)
{
    uint32_t count = 0;
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_BLOCK) {
            count += body_variables(r, stm->u.block, list ? list + count : NULL);
            continue;
        }
        const struct ptx_variable *var = stm->kind == PTX_VARIABLE ? stm->u.variable : NULL;
        if (!var || var->space == PTX_W_LOCAL || !is_seen(r, var))
            continue;
        if (list)
            list[count] = var;
        count++;
    }
    return count;
}

static void list_functions(struct reacher *r, struct arena *arena, const struct ptx_module *module,
                           const struct ptx_function *entry)
{
    struct ptx_reach *reach = r->reach;
    reach->functions = ARENA_ARRAY(arena, const struct ptx_function *, r->function_count);
    reach->functions[reach->function_count++] = entry;
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && item->u.function != entry &&
            item->u.function->has_body && is_seen(r, item->u.function))
            reach->functions[reach->function_count++] = item->u.function;
}

static void list_variables(struct reacher *r, struct arena *arena, const struct ptx_module *module)
{
    struct ptx_reach *reach = r->reach;
    uint32_t count = 0;
    for (const struct ptx_item *item = module->items; item; item = item->next)
        count += item->kind == PTX_ITEM_VARIABLE && is_seen(r, item->u.variable);
    for (uint32_t f = 0; f < reach->function_count; f++)
        count += body_variables(r, reach->functions[f]->body, NULL);
    reach->variables = ARENA_ARRAY(arena, const struct ptx_variable *, count + r->reserved_count);
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_VARIABLE && is_seen(r, item->u.variable))
            reach->variables[reach->variable_count++] = item->u.variable;
    for (uint32_t f = 0; f < reach->function_count; f++)
        reach->variable_count +=
            body_variables(r, reach->functions[f]->body, reach->variables + reach->variable_count);
    for (uint32_t i = 0; i < r->reserved_count; i++)
        reach->variables[reach->variable_count++] = r->reserved[i];
}

static uint32_t count_initialised(const struct ptx_statement *stm)
{
    uint32_t count = 0;
    for (; stm; stm = stm->next)
        count += stm->kind == PTX_BLOCK      ? count_initialised(stm->u.block)
                 : stm->kind == PTX_VARIABLE ? stm->u.variable->init != NULL
                                             : 0;
    return count;
}

void ptx_reach(struct arena *arena, const struct ptx_module *module,
               const struct ptx_function *entry, struct ptx_reach *reach)
{
    uint32_t functions = 1, variables = 0;
    INVARIANT(entry->has_body);
    *reach = (struct ptx_reach){.function_count = 0};
    ptx_symbols_init(&reach->symbols, arena, module);
    for (const struct ptx_item *item = module->items; item; item = item->next) {
        functions += item->kind == PTX_ITEM_FUNCTION;
        variables += item->kind == PTX_ITEM_VARIABLE   ? item->u.variable->init != NULL
                     : item->kind == PTX_ITEM_FUNCTION ? count_initialised(item->u.function->body)
                                                       : 0;
    }
    struct reacher r = {.reach = reach,
                        .seen.arena = arena,
                        .functions = ARENA_ARRAY(arena, const struct ptx_function *, functions),
                        .variables = ARENA_ARRAY(arena, const struct ptx_variable *, variables)};
    reach_function(&r, entry);
    for (uint32_t f = 0, v = 0; f < r.function_count || v < r.variable_count || r.calls_any;) {
        if (f < r.function_count)
            reach_statements(&r, r.functions[f++]->body);
        else if (v < r.variable_count)
            reach_init(&r, r.variables[v++]->init);
        else
            reach_tables(&r, module);
    }
    list_functions(&r, arena, module, entry);
    list_variables(&r, arena, module);
}

/* ---- a part of a module ---- */

const struct ptx_function *ptx_find_entry(const struct ptx_module *module, const char *name)
{
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && item->u.function->is_entry &&
            item->u.function->has_body && strcmp(item->u.function->name, name) == 0)
            return item->u.function;
    return NULL;
}

static bool is_reached(const struct ptx_reach *reach, const struct ptx_function *f)
{
    for (uint32_t i = 0; i < reach->function_count; i++)
        if (reach->functions[i] == f)
            return true;
    return false;
}

bool ptx_reach_refused(const struct ptx_reach *reach, struct diag *diag)
{
    uint32_t i = 0;
    while (i < reach->function_count && !reach->functions[i]->refused)
        i++;
    for (uint32_t e = 0; i < reach->function_count && e < reach->functions[i]->refused_count; e++)
        diag_error(diag, reach->functions[i]->refused[e].at, "%s",
                   reach->functions[i]->refused[e].text);
    return i < reach->function_count;
}

const struct ptx_module *ptx_part(struct arena *arena, const struct ptx_module *module,
                                  const struct ptx_function *entry)
{
    struct ptx_module *part = ARENA_NEW(arena, struct ptx_module);
    struct ptx_reach reach;
    ptx_reach(arena, module, entry, &reach);
    *part = *module;
    struct ptx_item **last = &part->items;
    for (const struct ptx_item *item = module->items; item; item = item->next) {
        if (item->kind == PTX_ITEM_ALIAS) /* by name, which is nobody's target: all stays */
            return module;
        if (item->kind == PTX_ITEM_FUNCTION && item->u.function->has_body &&
            !is_reached(&reach, item->u.function))
            continue;
        *last = ARENA_NEW(arena, struct ptx_item);
        **last = *item;
        last = &(*last)->next;
    }
    *last = NULL;
    return part;
}

/* ---- sizes ---- */

uint64_t ptx_memory_bytes(const struct ptx_variable *var)
{
    struct ptx_variable sized = *var;
    if (var->dimension_count == 0 || var->dimensions[0] != 0 || !var->init)
        return ptx_variable_bytes(var);
    uint64_t items = 0, inner = 1;
    bool nested = false;
    for (const struct ptx_init *item = var->init->items; item; item = item->next, items++)
        nested |= item->kind == PTX_INIT_LIST;
    for (uint32_t i = 1; i < var->dimension_count && !nested; i++)
        inner *= var->dimensions[i] ? var->dimensions[i] : 1;
    if (var->vector != PTX_W_NONE && !nested)
        inner *= var->vector == PTX_W_V2 ? 2 : 4;
    sized.dimensions[0] = (items + inner - 1) / inner;
    return ptx_variable_bytes(&sized);
}

/* ---- files ---- */

const char *ptx_file_name(const struct ptx_module *module, uint32_t number)
{
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FILE && item->u.file == number)
            return item->name;
    return NULL;
}

bool ptx_is_library(const struct ptx_module *module, uint32_t file)
{
    const char *name = ptx_file_name(module, file);
    return name && strstr(name, "/include/");
}
