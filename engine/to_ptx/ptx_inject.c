/*
 * ptx_inject.c - functions and modules: their declarations (LOAD.T7) and their new code.
 */
#include "engine/to_ptx/ptx_inject.h"

#include "engine/to_ptx/ptx_inject_internal.h"

/* ---- functions ---- */

/* Of all blocks; tables of branches are written anew. */
static void put_declarations(struct injecting *j, const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_BLOCK)
            put_declarations(j, stm->u.block);
        else if (stm->kind == PTX_VARIABLE || stm->kind == PTX_CALL_TARGETS ||
                 stm->kind == PTX_PROTOTYPE)
            ptx_inject_put(j, ptx_copy_statement(j->renaming, stm));
    }
}

static void put_register(struct injecting *j, const char *name, enum ptx_word type)
{
    if (!name)
        return;
    struct ptx_variable *var = ARENA_NEW(j->arena, struct ptx_variable);
    var->name = name;
    var->at = j->flow->function->at;
    var->space = PTX_W_REG;
    var->type = type;
    j->at = var->at;
    ptx_inject_new(j, PTX_VARIABLE, NULL)->u.variable = var;
}

static void find_locs(struct injecting *j)
{
    const struct ptx_flow *f = j->flow;
    const struct ptx_statement *loc = NULL;
    j->loc_at = ARENA_ARRAY(j->arena, const struct ptx_statement *, f->graph.count);
    for (uint32_t b = 0; b < f->graph.count; b++) {
        j->loc_at[b] = loc;
        for (uint32_t i = f->blocks[b].first; i < f->blocks[b].end; i++)
            if (f->statements[i]->kind == PTX_LOC)
                loc = f->statements[i];
    }
}

static bool has_branch_unit(const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next)
        if (ptx_statement_is_branch_unit(stm) ||
            (stm->kind == PTX_BLOCK && has_branch_unit(stm->u.block)))
            return true;
    return false;
}

/* An instruction that takes the address of a label, or calls it: who jumps there is not known. */
static const struct ptx_statement *takes_label(const struct ptx_flow *f)
{
    for (uint32_t i = 0; i < f->statement_count; i++) {
        const struct ptx_operand *callee = ptx_call_target(f->statements[i]);
        if (callee && callee->target_kind == PTX_TARGET_STATEMENT)
            return f->statements[i];
        if (ptx_statement_opcode(f->statements[i]) != PTX_OP_MOV)
            continue;
        const struct ptx_operand *o = f->statements[i]->u.instruction.operands;
        for (; o; o = o->next)
            if (o->target_kind == PTX_TARGET_STATEMENT)
                return f->statements[i];
    }
    return NULL;
}

/* The new body; false: *reason. */
static bool inject_body(struct arena *arena, const struct ptx_symbols *symbols,
                        const struct ptx_function *function, struct ptx_renaming *renaming,
                        struct ptx_statement **body, const char **reason)
{
    struct injecting j = {
        .arena = arena, .symbols = symbols, .renaming = renaming, .is_entry = function->is_entry};
    struct ptx_statement *code = NULL;
    j.flow = ptx_flow_build(arena, function, reason);
    if (!j.flow)
        return false;
    const struct ptx_statement *taken = takes_label(j.flow);
    if (taken || renaming->clash) {
        *reason =
            taken ? arena_printf(arena, "the address of a label is used at line %u", taken->at.line)
                  : arena_printf(arena,
                                 "an initial value with the address of a variable of the "
                                 "function at line %u",
                                 renaming->clash);
        return false;
    }
    const struct ptx_shapes *shapes = ptx_structure(arena, j.flow, reason);
    if (!shapes)
        return false;
    find_locs(&j);
    j.side_label = ARENA_ARRAY(arena, const char *, j.flow->graph.count);
    j.last = &code;
    ptx_inject_code(&j, shapes);
    j.last = body;
    put_declarations(&j, function->body);
    put_register(&j, j.exit_name, PTX_W_B32);
    put_register(&j, j.leave_name, PTX_W_PRED);
    *j.last = code;
    return true;
}

static struct ptx_function *inject_function(struct arena *arena, const struct ptx_symbols *symbols,
                                            const struct ptx_function *function, const char *tag,
                                            const char **reason)
{
    struct ptx_function *copy = ARENA_NEW(arena, struct ptx_function);
    *copy = *function;
    if (!function->has_body)
        return copy;
    copy->body = NULL;
    if (has_branch_unit(function->body)) {
        struct ptx_renaming same = {.arena = arena, .tag = tag};
        copy->body = ptx_copy_body(&same, function->body);
        return copy;
    }
    struct ptx_renaming renaming = ptx_renaming_new(arena, function, tag);
    return inject_body(arena, symbols, function, &renaming, &copy->body, reason) ? copy : NULL;
}

/* Resolves the names of the new tree. */
static bool resolve(struct arena *arena, struct ptx_module *module, const char **reason)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "injected", NULL, 0);
    if (ptx_check(arena, module, diag))
        return true;
    *reason = arena_printf(arena, "injection: %s at line %u", diag->entries[0].text,
                           diag->entries[0].at.line);
    return false;
}

static bool is_done(const struct ptx_module *module)
{
    const struct ptx_item *item = module->items;
    while (item && (item->kind != PTX_ITEM_FUNCTION || !item->u.function->has_body ||
                    has_branch_unit(item->u.function->body)))
        item = item->next;
    return !item;
}

bool ptx_has_branch_unit(const struct ptx_module *module)
{
    const struct ptx_item *item = module->items;
    while (item && (item->kind != PTX_ITEM_FUNCTION || !has_branch_unit(item->u.function->body)))
        item = item->next;
    return item != NULL;
}

const struct ptx_module *ptx_inject(struct arena *arena, const struct ptx_module *module,
                                    const char **reason)
{
    if (is_done(module))
        return module;
    struct ptx_module *copy = ARENA_NEW(arena, struct ptx_module);
    const char *tag = ptx_unused_tag(arena, module);
    struct ptx_symbols symbols;
    ptx_symbols_init(&symbols, arena, module);
    *copy = *module;
    struct ptx_item **last = &copy->items;
    for (const struct ptx_item *item = module->items; item; item = item->next) {
        *last = ARENA_NEW(arena, struct ptx_item);
        **last = *item;
        if (item->kind == PTX_ITEM_FUNCTION) {
            (*last)->u.function = inject_function(arena, &symbols, item->u.function, tag, reason);
            if (!(*last)->u.function)
                return NULL;
        }
        last = &(*last)->next;
    }
    *last = NULL;
    return resolve(arena, copy, reason) ? copy : NULL;
}
