/*
 * ptx_equal.h - whether two trees of PTX modules are the same, locations and resolved targets aside.
 */
#ifndef TESTS_PTX_EQUAL_H
#define TESTS_PTX_EQUAL_H

#include "engine/ptx/ptx.h"

#include <string.h>

static inline bool text_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static inline bool init_equal(const struct ptx_init *a, const struct ptx_init *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (a->kind != b->kind || a->value != b->value || a->generic != b->generic ||
            a->mask != b->mask || !text_equal(a->name, b->name) || !init_equal(a->items, b->items))
            return false;
    return a == b;
}

static inline bool ptx_variable_equal(const struct ptx_variable *a, const struct ptx_variable *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (!text_equal(a->name, b->name) || a->linkage != b->linkage || a->space != b->space ||
            a->type != b->type || a->vector != b->vector || a->align != b->align ||
            a->is_range != b->is_range || a->count != b->count ||
            a->dimension_count != b->dimension_count ||
            memcmp(a->dimensions, b->dimensions, sizeof a->dimensions) != 0 ||
            !init_equal(a->init, b->init) || a->is_pointer != b->is_pointer ||
            a->pointer_space != b->pointer_space || a->pointer_align != b->pointer_align)
            return false;
    return a == b;
}

static inline bool operand_equal(const struct ptx_operand *a, const struct ptx_operand *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (a->kind != b->kind || a->negated != b->negated || a->element != b->element ||
            a->value != b->value || !text_equal(a->name, b->name) ||
            !operand_equal(a->items, b->items))
            return false;
    return a == b;
}

static inline bool attribute_equal(const struct ptx_attribute *a, const struct ptx_attribute *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (a->kind != b->kind || a->count != b->count || !text_equal(a->text, b->text) ||
            memcmp(a->values, b->values, sizeof a->values) != 0)
            return false;
    return a == b;
}

static inline bool statement_equal(const struct ptx_statement *a, const struct ptx_statement *b);

static inline bool ptx_function_equal(const struct ptx_function *a, const struct ptx_function *b)
{
    return text_equal(a->name, b->name) && a->linkage == b->linkage && a->is_entry == b->is_entry &&
           a->has_body == b->has_body && ptx_variable_equal(a->returns, b->returns) &&
           ptx_variable_equal(a->parameters, b->parameters) &&
           attribute_equal(a->attributes, b->attributes) && statement_equal(a->body, b->body);
}

static inline bool loc_equal(const struct ptx_loc *a, const struct ptx_loc *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column &&
           a->is_inlined == b->is_inlined && text_equal(a->function, b->function) &&
           a->function_offset == b->function_offset && a->at_file == b->at_file &&
           a->at_line == b->at_line && a->at_column == b->at_column;
}

static inline bool content_equal(const struct ptx_statement *a, const struct ptx_statement *b)
{
    const struct ptx_instruction *i = &a->u.instruction, *j = &b->u.instruction;
    switch (a->kind) {
    case PTX_INSTRUCTION:
        return i->form == j->form && memcmp(i->words, j->words, sizeof i->words) == 0 &&
               operand_equal(i->guard, j->guard) && operand_equal(i->operands, j->operands);
    case PTX_VARIABLE:
        return ptx_variable_equal(a->u.variable, b->u.variable);
    case PTX_BLOCK:
        return statement_equal(a->u.block, b->u.block);
    case PTX_LOC:
        return loc_equal(&a->u.loc, &b->u.loc);
    case PTX_BRANCH_TARGETS:
    case PTX_CALL_TARGETS:
        return operand_equal(a->u.targets, b->u.targets);
    case PTX_PROTOTYPE:
        return ptx_function_equal(a->u.prototype, b->u.prototype);
    case PTX_LABEL:
    case PTX_PRAGMA:
        return true;
    }
    return false;
}

static inline bool statement_equal(const struct ptx_statement *a, const struct ptx_statement *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (a->kind != b->kind || !text_equal(a->name, b->name) || !content_equal(a, b))
            return false;
    return a == b;
}

static inline bool item_equal(const struct ptx_item *a, const struct ptx_item *b)
{
    if (a->kind != b->kind || !text_equal(a->name, b->name))
        return false;
    switch (a->kind) {
    case PTX_ITEM_VARIABLE:
        return ptx_variable_equal(a->u.variable, b->u.variable);
    case PTX_ITEM_FUNCTION:
        return ptx_function_equal(a->u.function, b->u.function);
    case PTX_ITEM_FILE:
        return a->u.file == b->u.file;
    case PTX_ITEM_ALIAS:
        return text_equal(a->u.aliasee, b->u.aliasee);
    case PTX_ITEM_PRAGMA:
        return true;
    }
    return false;
}

static inline bool ptx_module_equal(const struct ptx_module *a, const struct ptx_module *b)
{
    if (a->version_major != b->version_major || a->version_minor != b->version_minor ||
        a->address_size != b->address_size)
        return false;
    const struct ptx_name_list *s = a->targets, *t = b->targets;
    for (; s && t; s = s->next, t = t->next)
        if (!text_equal(s->name, t->name))
            return false;
    const struct ptx_item *i = a->items, *j = b->items;
    for (; i && j; i = i->next, j = j->next)
        if (!item_equal(i, j))
            return false;
    return s == t && i == j;
}

#endif
