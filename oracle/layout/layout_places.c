/*
 * layout_places.c - what a place stands for: one register, one constant, one variable, and whether that fits what other
 * instructions said.
 */
#include "engine/ptx/ptx_reach.h"
#include "oracle/layout/layout_internal.h"

#include <string.h>

/* ---- registers ---- */

static bool is_same(const struct layout_row *a, const struct layout_row *b)
{
    return a->what == b->what && a->index == b->index && a->element == b->element &&
           a->half == b->half;
}

/* The row is this, and no other row of the function is. */
static bool takes(struct layout *l, uint32_t function, const struct ptx_place *place,
                  const struct layout_row *row)
{
    const struct ptx_rows *count = &l->code->functions[function].rows;
    const uint32_t all = place->bits == 64 ? count->wide : count->narrow;
    struct layout_row *rows = place->bits == 64 ? l->wide[function] : l->narrow[function];
    if (place->kind != PTX_PLACE_REGISTER || place->offset >= all)
        return false;
    if (rows[place->offset].what)
        return is_same(&rows[place->offset], row);
    for (uint32_t i = 0; i < all; i++)
        if (is_same(&rows[i], row))
            return false;
    rows[place->offset] = *row;
    return true;
}

void layout_is_register(struct layout *l, uint32_t function, const struct ptx_place *place,
                        const struct ptx_operand *o, uint32_t half)
{
    const struct ptx_variable *var = o->target.variable;
    const struct layout_row row = {
        .what = var, .index = o->index, .element = o->element, .half = half};
    const uint32_t bits = ptx_type_of(var->type).bits >= 64 ? 64 : 32;
    if (place->bits != bits || !takes(l, function, place, &row))
        layout_part(l, "register");
}

/* What has no name in the text. */
static const char own_names[2];

bool layout_is_taken(const struct layout_row *row)
{
    return row->what == &own_names[LAYOUT_TAKEN];
}

bool layout_is_carry(const struct layout_row *row)
{
    return row->what == &own_names[LAYOUT_CARRY];
}

void layout_is_own(struct layout *l, const struct ptx_place *place, uint32_t which)
{
    const struct layout_row row = {.what = &own_names[which]};
    if (place->bits != 32 || !takes(l, l->function, place, &row))
        layout_part(l, which == LAYOUT_CARRY ? "carry" : "stack");
}

/* ---- constants ---- */

void layout_is_value(struct layout *l, const struct ptx_place *place, uint64_t value, uint32_t bits)
{
    const uint32_t *row = l->code->constant_rows + place->offset;
    const uint32_t each = bits == 64 ? 2 : 1, count = l->code->stride;
    if (place->kind != PTX_PLACE_CONST || place->bits != bits ||
        place->offset + each * count > l->code->constant_words) {
        layout_part(l, "constant");
        return;
    }
    for (uint32_t i = 0; i < each * count; i++)
        if (row[i] != (uint32_t)(value >> (i % each * 32))) {
            layout_part(l, "constant");
            return;
        }
}

static uint64_t rounded(const struct ptx_operand *o, struct ptx_type type)
{
    union {
        uint64_t bits;
        double number;
    } d = {o->value};
    union {
        uint32_t bits;
        float number;
    } s = {(uint32_t)o->value};
    if (type.kind != PTX_CLASS_FLOAT || type.bits == (o->kind == PTX_OPERAND_FLOAT32 ? 32 : 64))
        return o->value;
    if (o->kind == PTX_OPERAND_FLOAT32)
        d.number = (double)s.number;
    else
        s.number = (float)d.number;
    return o->kind == PTX_OPERAND_FLOAT32 ? d.bits : s.bits;
}

static uint64_t constant(const struct ptx_operand *o, struct ptx_type type)
{
    if (o->kind != PTX_OPERAND_INTEGER)
        return rounded(o, type);
    if (type.kind == PTX_CLASS_PRED)
        return o->value != 0;
    return type.bits < 64 ? o->value % ((uint64_t)1 << type.bits) : o->value;
}

/* ---- special registers: what all threads find there alike ---- */

static uint64_t of_three(const uint32_t sizes[3], char element)
{
    return element == 'w' ? 0 : sizes[element - 'x'];
}

static uint64_t clusters(const struct layout *l, char element)
{
    const uint32_t i = (uint32_t)(element - 'x');
    return element == 'w'
               ? 0
               : (l->grid[i] + l->code->kernel->cluster[i] - 1) / l->code->kernel->cluster[i];
}

static bool same_for_all(const struct layout *l, enum ptx_special special, char element,
                         uint64_t *value)
{
    const struct ptx_kernel *ptx = l->code->kernel;
    const uint64_t grid = ptx_grid_address(ptx);
    *value = 0;
    switch ((int)special) {
    case PTX_SPECIAL_NTID:
        *value = of_three(l->block, element);
        return true;
    case PTX_SPECIAL_NCTAID:
        *value = of_three(l->grid, element);
        return true;
    case PTX_SPECIAL_NCLUSTERID:
        *value = clusters(l, element);
        return true;
    case PTX_SPECIAL_CLUSTER_NCTAID:
        *value = of_three(ptx->cluster, element);
        return true;
    case PTX_SPECIAL_CLUSTER_NCTARANK:
        *value = (uint64_t)ptx->cluster[0] * ptx->cluster[1] * ptx->cluster[2];
        return true;
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        *value = ptx->cluster_given;
        return true;
    case PTX_SPECIAL_NWARPID:
        *value =
            (l->program->launch.threads + l->program->launch.warp - 1) / l->program->launch.warp;
        return true;
    case PTX_SPECIAL_WARP_SZ:
        *value = l->program->launch.warp;
        return true;
    case PTX_SPECIAL_NSMID:
        *value = 1;
        return true;
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        *value = ptx->shared_bytes;
        return true;
    case PTX_SPECIAL_TOTAL_SMEM_SIZE:
        for (uint32_t i = 0; i < l->code->shared.count; i++)
            *value += l->code->shared.items[i].bytes;
        return true;
    case PTX_SPECIAL_ENVREG1:
        *value = grid >> 32;
        return true;
    case PTX_SPECIAL_ENVREG2:
        *value = (uint32_t)grid;
        return true;
    case PTX_SPECIAL_SMID:
    case PTX_SPECIAL_GRIDID:
    case PTX_SPECIAL_ENVREG0:
    case PTX_SPECIAL_ENVREG3:
    case PTX_SPECIAL_ENVREG4:
    case PTX_SPECIAL_ENVREG5:
    case PTX_SPECIAL_ENVREG6:
        return true;
    default:
        return element == 'w';
    }
}

static void is_special(struct layout *l, const struct ptx_place *place, const struct ptx_operand *o,
                       uint32_t bits)
{
    uint64_t value;
    if (same_for_all(l, o->target.special, o->element, &value))
        layout_is_value(l, place, value, bits);
    else if (place->kind != PTX_PLACE_SPECIAL || place->bits != bits ||
             place->offset >= l->code->special_count ||
             l->code->specials[place->offset].special != o->target.special ||
             l->code->specials[place->offset].element != o->element)
        layout_part(l, "special register");
}

/* ---- variables ---- */

bool layout_is_memory(const struct ptx_operand *o)
{
    return o->name && o->target_kind == PTX_TARGET_VARIABLE &&
           o->target.variable->space != PTX_W_REG;
}

uint64_t layout_bytes(const struct ptx_variable *var)
{
    uint64_t bytes = ptx_type_of(var->type).bits / 8u;
    bytes *= var->vector == PTX_W_V2 ? 2 : var->vector == PTX_W_V4 ? 4 : 1;
    if (var->dimension_count > 0 && var->dimensions[0] == 0 && var->init)
        return ptx_memory_bytes(var); /* which drawn modules ask about (oracle/texts) */
    for (uint32_t i = 0; i < var->dimension_count; i++)
        bytes *= var->dimensions[i];
    return bytes;
}

/* As large as what it is made of, 4 at least; .align may ask for more. */
uint32_t layout_align(const struct ptx_variable *var)
{
    const uint32_t whole = ptx_type_of(var->type).bits / 8u *
                           (var->vector == PTX_W_V2   ? 2u
                            : var->vector == PTX_W_V4 ? 4u
                                                      : 1u);
    const uint32_t align = whole > var->align ? whole : var->align;
    return align < 4 ? 4 : align;
}

static bool is_in(const struct ptx_variable *list, const struct ptx_variable *var)
{
    for (; list; list = list->next)
        if (list == var)
            return true;
    return false;
}

/* Local and .param variables of functions lie in frames, others of the module, and parameters of the entry, do not. */
static bool is_of_frame(const struct layout *l, const struct ptx_variable *var)
{
    if (var->space == PTX_W_PARAM)
        return !is_in(l->code->functions[0].function->parameters, var);
    bool of_module = var->space != PTX_W_LOCAL;
    for (const struct ptx_item *item = l->code->module->items; item && !of_module;
         item = item->next)
        of_module = item->kind == PTX_ITEM_VARIABLE && item->u.variable == var;
    return !of_module;
}

static const struct ptx_regions *regions_of(const struct layout *l, const struct ptx_variable *var,
                                            uint32_t function)
{
    if (function != LAYOUT_MODULE)
        return &l->code->functions[function].locals;
    return var->space == PTX_W_GLOBAL   ? &l->code->global
           : var->space == PTX_W_SHARED ? &l->code->shared
           : var->space == PTX_W_LOCAL  ? &l->code->local
                                        : &l->code->constant;
}

/* Behind the first one all shared memory without a length is at one place. */
static bool is_region(const struct layout *l, const struct ptx_variable *var, uint32_t function,
                      uint64_t address)
{
    const struct ptx_regions *regions = regions_of(l, var, function);
    const bool dynamic = var->space == PTX_W_SHARED && layout_bytes(var) == 0;
    for (uint32_t i = 0; i < regions->count; i++)
        if (regions->items[i].address == address &&
            (dynamic || strcmp(regions->items[i].name, var->name) == 0))
            return regions->items[i].bytes ==
                       (dynamic ? l->code->kernel->shared_bytes : layout_bytes(var)) &&
                   address % layout_align(var) == 0;
    return false;
}

static bool begins_at(struct layout *l, const struct ptx_variable *var, uint32_t function,
                      uint64_t address)
{
    const bool dynamic = var->space == PTX_W_SHARED && layout_bytes(var) == 0;
    for (const struct layout_home *h = l->homes; h; h = h->next) {
        if (h->var == var && h->function == function)
            return h->address == address;
        if (!dynamic && h->function == function && h->address == address &&
            regions_of(l, h->var, function) == regions_of(l, var, function))
            return false;
    }
    struct layout_home *home = ARENA_NEW(l->arena, struct layout_home);
    *home = (struct layout_home){var, function, address, l->homes};
    l->homes = home;
    return is_region(l, var, function, address);
}

void layout_in_frame(struct layout *l, uint32_t function, const struct ptx_variable *var,
                     uint64_t byte)
{
    const uint32_t align = layout_align(var);
    if (!begins_at(l, var, function, byte) ||
        l->code->functions[function].frame_bytes % align != 0 ||
        l->code->frame_local_base % align != 0)
        layout_part(l, "place in a frame");
}

/* mov, cvta, an argument: the address as a value. */
static void is_pointer(struct layout *l, const struct ptx_place *place, const struct ptx_operand *o,
                       uint32_t bits)
{
    const struct ptx_variable *var = o->target.variable;
    if (is_of_frame(l, var)) {
        if (place->kind != PTX_PLACE_FRAME || place->bits != bits)
            layout_part(l, "address in a frame");
        else
            layout_in_frame(l, l->function, var, place->offset - (uint32_t)o->value);
        return;
    }
    if (place->kind != PTX_PLACE_CONST || place->bits != bits) {
        layout_part(l, "address");
        return;
    }
    const uint32_t *row = l->code->constant_rows + place->offset;
    const uint64_t value = bits == 64 ? row[0] | (uint64_t)row[1] << 32 : row[0];
    const uint64_t address = bits == 64 ? value - o->value : (uint32_t)(value - o->value);
    layout_is_value(l, place, value, bits);
    if (!begins_at(l, var, LAYOUT_MODULE, address))
        layout_part(l, "address");
}

static enum ptx_word space_of_variable(const struct layout *l, const struct ptx_variable *var)
{
    if (var->space == PTX_W_PARAM)
        return is_of_frame(l, var) ? PTX_W_LOCAL : PTX_W_CONST;
    return var->space;
}

static enum ptx_word space_of_word(const struct layout *l, enum ptx_word space)
{
    switch ((int)space) {
    case PTX_W_SHARED_CTA:
    case PTX_W_SHARED_CLUSTER:
        return PTX_W_SHARED;
    case PTX_W_PARAM_ENTRY:
        return PTX_W_CONST;
    case PTX_W_PARAM_FUNC:
        return PTX_W_LOCAL;
    case PTX_W_PARAM:
        return l->function == 0 ? PTX_W_CONST : PTX_W_LOCAL;
    default:
        return space;
    }
}

void layout_is_address(struct layout *l, const struct ptx_op *op, const struct ptx_operand *o,
                       enum ptx_word space)
{
    const bool is_memory = layout_is_memory(o), is_register = o->name && !is_memory;
    const enum ptx_word wanted =
        is_memory ? space_of_variable(l, o->target.variable) : space_of_word(l, space);
    const struct ptx_place *base = &op->sources[0];
    const bool narrow = (wanted != PTX_W_NONE && wanted != PTX_W_GLOBAL) ||
                        (is_register && ptx_type_of(o->target.variable->type).bits < 64);
    const uint64_t mask = narrow ? UINT32_MAX : UINT64_MAX;
    if (op->space != wanted)
        layout_part(l, "space of an address");
    if (is_register)
        layout_is_register(l, l->function, base, o, 0);
    if (is_memory && is_of_frame(l, o->target.variable)) {
        if (base->kind != PTX_PLACE_FRAME || op->offset != (o->value & mask))
            layout_part(l, "address in a frame");
        else
            layout_in_frame(l, l->function, o->target.variable, base->offset);
        return;
    }
    if (!is_register && base->kind != PTX_PLACE_NONE)
        layout_part(l, "address");
    else if (is_memory
                 ? !begins_at(l, o->target.variable, LAYOUT_MODULE, (op->offset - o->value) & mask)
                 : op->offset != (o->value & mask))
        layout_part(l, "address");
}

/* ---- labels and functions ---- */

uint32_t layout_label(const struct layout *l, const struct ptx_statement *statement)
{
    for (const struct layout_label *label = l->labels; label; label = label->next)
        if (label->statement == statement)
            return label->pc;
    return 0;
}

static const struct ptx_item *item_of(const struct layout *l, const char *name)
{
    const struct ptx_item *found = NULL;
    for (const struct ptx_item *item = l->code->module->items; item; item = item->next) {
        const bool body = item->kind == PTX_ITEM_FUNCTION && item->u.function->has_body;
        const bool alias = item->kind == PTX_ITEM_ALIAS;
        if ((body && strcmp(item->u.function->name, name) == 0) ||
            (alias && !found && strcmp(item->name, name) == 0))
            found = item;
    }
    return found;
}

uint32_t layout_callee(const struct layout *l, const struct ptx_function *f)
{
    const struct ptx_item *item = item_of(l, f->name);
    for (uint32_t i = 0; item && item->kind == PTX_ITEM_ALIAS && i < 16; i++)
        item = item_of(l, item->u.aliasee);
    for (uint32_t i = 0; item && i < l->code->function_count; i++)
        if (l->code->functions[i].function == item->u.function)
            return i;
    return LAYOUT_MODULE;
}

/* ---- operands ---- */

static void is_named(struct layout *l, const struct ptx_place *place, const struct ptx_operand *o,
                     uint32_t bits)
{
    uint32_t number;
    switch (o->target_kind) {
    case PTX_TARGET_VARIABLE:
        if (layout_is_memory(o))
            is_pointer(l, place, o, bits);
        else
            layout_is_register(l, l->function, place, o, 0);
        return;
    case PTX_TARGET_SPECIAL:
        is_special(l, place, o, bits);
        return;
    case PTX_TARGET_FUNCTION:
        number = layout_callee(l, o->target.function);
        layout_is_value(l, place,
                        number == LAYOUT_MODULE ? 0 : l->code->functions[number].entry + o->value,
                        bits);
        return;
    case PTX_TARGET_STATEMENT:
        layout_is_value(l, place, layout_label(l, o->target.statement) + o->value, bits);
        return;
    case PTX_TARGET_NONE:
        break;
    }
    layout_part(l, "operand");
}

void layout_is(struct layout *l, const struct ptx_place *place, const struct ptx_operand *o,
               struct ptx_type type, uint32_t bits)
{
    const uint32_t element = bits ? bits : type.bits == 64 ? 64 : 32;
    if (o->kind == PTX_OPERAND_SINK) {
        if (place->kind != PTX_PLACE_NONE)
            layout_part(l, "operand that is thrown away");
    } else if (o->kind == PTX_OPERAND_NAME) {
        is_named(l, place, o, element);
    } else {
        layout_is_value(l, place, element == 64 ? constant(o, type) : (uint32_t)constant(o, type),
                        element);
    }
}
