/*
 * reduce_ptx.c - kernels of FORM_PTX: what the reducer does to a module and its settings. The kernel that
 * an edit changes came from text of its own (edit_reread), so its tree is nobody else's.
 */
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "fuzz/reduce/reduce_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The tree was parsed for this edit alone. */
static struct ptx_module *module_of(struct edit *edit)
{
    return (struct ptx_module *)(uintptr_t)edit->kernel->ptx->module;
}

/* ---- instructions ---- */

typedef void visit_statement(struct ptx_statement *statement, void *context);

static void walk_statements(struct ptx_statement *list, visit_statement *visit, void *context)
{
    for (struct ptx_statement *s = list; s; s = s->next) {
        visit(s, context);
        if (s->kind == PTX_BLOCK)
            walk_statements(s->u.block, visit, context);
    }
}

static void walk_module(struct ptx_module *module, visit_statement *visit, void *context)
{
    for (struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION)
            walk_statements(item->u.function->body, visit, context);
}

static void count_instruction(struct ptx_statement *s, void *context)
{
    *(uint32_t *)context += s->kind == PTX_INSTRUCTION;
}

/* Instructions number first .. first + count - 1 of the module become nothing. */
struct removal {
    uint32_t first, count, seen;
};

static void remove_instruction(struct ptx_statement *s, void *context)
{
    struct removal *r = context;
    if (s->kind != PTX_INSTRUCTION)
        return;
    uint32_t number = r->seen++;
    if (number < r->first || number >= r->first + r->count)
        return;
    s->kind = PTX_PRAGMA; /* dropped below */
    s->name = NULL;
}

static void drop_marked(struct ptx_statement **list)
{
    while (*list) {
        if ((*list)->kind == PTX_PRAGMA && !(*list)->name) {
            *list = (*list)->next;
            continue;
        }
        if ((*list)->kind == PTX_BLOCK)
            drop_marked(&(*list)->u.block);
        list = &(*list)->next;
    }
}

static void drop_marked_of(struct ptx_module *module)
{
    for (struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION)
            drop_marked(&item->u.function->body);
}

bool reduce_ptx_set(struct edit *edit, const char *settings)
{
    struct diag *diag = ARENA_NEW(edit->arena, struct diag);
    diag_init(diag, "candidate", NULL, 0);
    return ptx_kernel_set(edit->arena, edit->kernel, settings, diag);
}

struct target_search {
    const char *name;
    bool found;
};

static void find_target(struct ptx_statement *s, void *context)
{
    struct target_search *search = context;
    if (s->kind != PTX_INSTRUCTION)
        return;
    enum ptx_opcode opcode = ptx_forms[s->u.instruction.form].opcode;
    const struct ptx_operand *target = s->u.instruction.operands;
    if ((opcode == PTX_OP_BRA || opcode == PTX_OP_CALL) && target && target->name &&
        strcmp(target->name, search->name) == 0)
        search->found = true;
}

bool reduce_ptx_holds_addresses(struct edit *edit, const char *name)
{
    struct target_search search = {.name = name};
    walk_module(module_of(edit), find_target, &search);
    return search.found;
}

/* Raw kernels: addresses (from 1) behind the removed instructions move up. */
static void move_addresses(struct edit *edit, const struct removal *removal)
{
    for (const struct ptx_values *v = edit->kernel->ptx->registers; v; v = v->next) {
        if (!reduce_ptx_holds_addresses(edit, v->name))
            continue;
        const char *text = "";
        for (const char *at = v->text; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] != 0)) {
            uint64_t address = strtoull(at, NULL, 0);
            uint64_t before = address > 0 ? address - 1 : 0; /* instructions in front of it */
            if (before > removal->first)
                address -= before - removal->first < removal->count ? before - removal->first
                                                                    : removal->count;
            text = arena_printf(edit->arena, "%s%s%" PRIu64, text, *text ? "," : "", address);
        }
        reduce_ptx_set(edit, arena_printf(edit->arena, "reg:%s=%s", v->name, text));
    }
}

static void pass_instructions(struct edit *edit)
{
    uint32_t total = 0;
    walk_module(module_of(edit), count_instruction, &total);
    for (uint32_t size = total / 2; size > 0; size /= 2)
        for (uint32_t first = 0; first < total; first += size) {
            if (!edit_here(edit))
                continue;
            struct removal removal = {.first = first, .count = size};
            if (edit->kernel->ptx->raw)
                move_addresses(edit, &removal);
            walk_module(module_of(edit), remove_instruction, &removal);
            drop_marked_of(module_of(edit));
            return;
        }
}

static void drop_guard(struct ptx_statement *s, void *context)
{
    struct edit *edit = context;
    if (s->kind != PTX_INSTRUCTION || !s->u.instruction.guard || edit_done(edit))
        return;
    if (edit_here(edit))
        s->u.instruction.guard = NULL;
    else if (s->u.instruction.guard->negated && edit_here(edit))
        s->u.instruction.guard->negated = false;
}

static void pass_guards(struct edit *edit)
{
    walk_module(module_of(edit), drop_guard, edit);
}

/* ---- what is not executed ---- */

struct uses {
    const char *name;
    bool found;
};

static void search_operand(const struct ptx_operand *operand, struct uses *uses)
{
    for (; operand && !uses->found; operand = operand->next) {
        uses->found = operand->name && strcmp(operand->name, uses->name) == 0;
        if (operand->items)
            search_operand(operand->items, uses);
    }
}

static void search_statement(struct ptx_statement *s, void *context)
{
    struct uses *uses = context;
    if (s->kind == PTX_INSTRUCTION) {
        if (s->u.instruction.guard)
            search_operand(s->u.instruction.guard, uses);
        search_operand(s->u.instruction.operands, uses);
    } else if (s->kind == PTX_BRANCH_TARGETS || s->kind == PTX_CALL_TARGETS) {
        search_operand(s->u.targets, uses);
    }
}

static bool is_used(struct edit *edit, const char *name)
{
    struct uses uses = {.name = name};
    walk_module(module_of(edit), search_statement, &uses);
    return uses.found;
}

/* Labels and lists that nobody names, places in a source, pragmas. */
static bool is_idle(struct edit *edit, const struct ptx_statement *s)
{
    switch (s->kind) {
    case PTX_LOC:
    case PTX_PRAGMA:
        return true;
    case PTX_LABEL:
    case PTX_BRANCH_TARGETS:
    case PTX_CALL_TARGETS:
    case PTX_PROTOTYPE:
        return !is_used(edit, s->name);
    case PTX_VARIABLE:
        return !s->u.variable->is_range && !is_used(edit, s->u.variable->name);
    case PTX_BLOCK:
        return !s->u.block;
    case PTX_INSTRUCTION:
        break;
    }
    return false;
}

static uint32_t drop_idle(struct edit *edit, struct ptx_statement **list)
{
    uint32_t dropped = 0;
    while (*list) {
        if ((*list)->kind == PTX_BLOCK)
            dropped += drop_idle(edit, &(*list)->u.block);
        bool idle = is_idle(edit, *list);
        dropped += idle;
        if (idle)
            *list = (*list)->next;
        else
            list = &(*list)->next;
    }
    return dropped;
}

/* Everything of the kind at once: one candidate that nearly always holds. */
static void pass_idle(struct edit *edit)
{
    if (edit->target > 0)
        return;
    uint32_t dropped = 0;
    for (struct ptx_item *item = module_of(edit)->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION)
            dropped += drop_idle(edit, &item->u.function->body);
    if (dropped > 0)
        edit_here(edit);
}

/* Items that the entry does not need. */
static void pass_items(struct edit *edit)
{
    struct ptx_item **list = &module_of(edit)->items;
    while (*list && !edit_done(edit)) {
        struct ptx_item *item = *list;
        bool is_entry =
            item->kind == PTX_ITEM_FUNCTION && item->u.function == edit->kernel->ptx->entry;
        if (!is_entry && edit_here(edit))
            *list = item->next;
        else
            list = &item->next;
    }
}

/* ---- operands ---- */

static void shrink_operand(struct edit *edit, struct ptx_operand *operand)
{
    for (; operand && !edit_done(edit); operand = operand->next) {
        shrink_operand(edit, operand->items);
        if (edit_done(edit))
            return;
        bool is_address = operand->kind == PTX_OPERAND_ADDRESS;
        if ((operand->kind == PTX_OPERAND_INTEGER || is_address) && operand->value != 0 &&
            (!is_address || operand->name) && edit_here(edit)) {
            operand->value = 0;
        } else if (operand->kind == PTX_OPERAND_INTEGER && operand->value > 1 && edit_here(edit)) {
            operand->value = 1;
        } else if (operand->kind == PTX_OPERAND_NAME && operand->negated && edit_here(edit)) {
            operand->negated = false;
        } else if (operand->kind == PTX_OPERAND_NAME && edit_here(edit)) {
            operand->kind = PTX_OPERAND_INTEGER; /* of a destination or a label: malformed */
            operand->name = NULL;
            operand->element = 0;
            operand->value = 0;
        }
    }
}

static const struct ptx_variable *module_variable(struct edit *edit, const char *name)
{
    for (const struct ptx_item *item = module_of(edit)->items; item; item = item->next)
        if (item->kind == PTX_ITEM_VARIABLE && (!name || strcmp(item->u.variable->name, name) == 0))
            return item->u.variable;
    return NULL;
}

/* An address that is computed becomes that of the first variable. */
static void place_address(struct edit *edit, struct ptx_operand *operand)
{
    const struct ptx_variable *first = module_variable(edit, NULL);
    for (; first && operand && !edit_done(edit); operand = operand->next)
        if (operand->kind == PTX_OPERAND_ADDRESS && operand->name &&
            !module_variable(edit, operand->name) && edit_here(edit)) {
            operand->name = first->name;
            operand->value = 0;
        }
}

static void operands_of(struct ptx_statement *s, void *context)
{
    struct edit *edit = context;
    if (s->kind == PTX_INSTRUCTION && !edit_done(edit))
        place_address(edit, s->u.instruction.operands);
    if (s->kind == PTX_INSTRUCTION && !edit_done(edit))
        shrink_operand(edit, s->u.instruction.operands);
}

static void pass_operands(struct edit *edit)
{
    walk_module(module_of(edit), operands_of, edit);
}

/* ---- labels ---- */

struct relabelling {
    const char *from, *to;
};

static void relabel_operand(struct ptx_operand *operand, const struct relabelling *names)
{
    for (; operand; operand = operand->next) {
        if (operand->name && strcmp(operand->name, names->from) == 0)
            operand->name = names->to;
        relabel_operand(operand->items, names);
    }
}

static void relabel(struct ptx_statement *s, void *context)
{
    if (s->kind == PTX_INSTRUCTION)
        relabel_operand(s->u.instruction.operands, context);
    else if (s->kind == PTX_BRANCH_TARGETS || s->kind == PTX_CALL_TARGETS)
        relabel_operand(s->u.targets, context);
}

/* Two labels of one place become one. */
static void pass_labels(struct edit *edit)
{
    for (struct ptx_item *item = module_of(edit)->items; item; item = item->next) {
        if (item->kind != PTX_ITEM_FUNCTION)
            continue;
        for (struct ptx_statement *s = item->u.function->body; s; s = s->next) {
            struct ptx_statement *next = s->next;
            if (s->kind != PTX_LABEL || !next || next->kind != PTX_LABEL || !edit_here(edit))
                continue;
            struct relabelling names = {next->name, s->name};
            walk_statements(item->u.function->body, relabel, &names);
            s->next = next->next;
            return;
        }
    }
}

/* ---- declarations ---- */

static void shrink_variable(struct edit *edit, struct ptx_variable *v)
{
    if (v->init && edit_here(edit)) {
        v->init = NULL;
        return;
    }
    for (uint32_t i = 0; i < v->dimension_count; i++)
        for (uint64_t size = 1; size <= v->dimensions[i] / 2; size *= 4)
            if (edit_here(edit)) {
                v->dimensions[i] = size;
                return;
            }
}

static void pass_variables(struct edit *edit)
{
    for (struct ptx_item *item = module_of(edit)->items; item && !edit_done(edit);
         item = item->next)
        if (item->kind == PTX_ITEM_VARIABLE)
            shrink_variable(edit, item->u.variable);
}

/* A parameter of the entry goes, with what is bound to it; malformed when it is read. */
static void pass_parameters(struct edit *edit)
{
    struct ptx_function *entry = (struct ptx_function *)(uintptr_t)edit->kernel->ptx->entry;
    for (struct ptx_variable **p = &entry->parameters; *p; p = &(*p)->next) {
        if (!edit_here(edit))
            continue;
        for (struct ptx_bind **b = &edit->kernel->ptx->binds; *b;)
            if (strcmp((*b)->parameter, (*p)->name) == 0)
                *b = (*b)->next;
            else
                b = &(*b)->next;
        *p = (*p)->next;
        return;
    }
}

/* A raw program is nothing for other tools: its head says nothing. Then it is given as if it were not raw,
 * which spares the exit at its end. */
static void pass_head(struct edit *edit)
{
    struct ptx_module *module = module_of(edit);
    if (!edit->kernel->ptx->raw)
        return;
    bool has_head = module->version_major || module->targets || module->address_size;
    if (has_head && edit_here(edit)) {
        module->version_major = module->version_minor = module->address_size = 0;
        module->targets = NULL;
    } else if (!edit_done(edit) && edit_here(edit)) {
        edit->kernel->ptx->raw = false;
    }
}

const struct reduce_pass reduce_ptx_passes[] = {
    {"expectations", reduce_expects},
    {"instructions", pass_instructions},
    {"launch", reduce_ptx_launch},
    {"guards", pass_guards},
    {"values", reduce_ptx_values},
    {"idle", pass_idle},
    {"items", pass_items},
    {"parameters", pass_parameters},
    {"variables", pass_variables},
    {"operands", pass_operands},
    {"labels", pass_labels},
    {"head", pass_head},
};
const uint32_t reduce_ptx_pass_count = sizeof reduce_ptx_passes / sizeof reduce_ptx_passes[0];
