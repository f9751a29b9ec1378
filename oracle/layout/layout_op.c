/*
 * layout_op.c - what an instruction is executed as, and its operands in order.
 */
#include "oracle/layout/layout_internal.h"

static const struct ptx_type u32 = {PTX_CLASS_INT, 32, false};
static const struct ptx_type predicate = {PTX_CLASS_PRED, 1, false};

static const struct ptx_instruction *instruction_of(const struct layout *l)
{
    return &l->op->statement->u.instruction;
}

static struct ptx_type type_of(const struct layout *l)
{
    return ptx_type_of((enum ptx_word)instruction_of(l)->words[PTX_SLOT_TYPE]);
}

static enum ptx_word word_of(const struct layout *l, enum ptx_slot slot)
{
    return (enum ptx_word)instruction_of(l)->words[slot];
}

static const struct ptx_operand *operand(const struct layout *l, uint32_t number)
{
    const struct ptx_operand *o = instruction_of(l)->operands;
    while (number-- > 0 && o)
        o = o->next;
    return o;
}

static void is(struct layout *l, bool holds, const char *what)
{
    if (!holds)
        layout_part(l, what);
}

/* ---- sources and results, one behind the other ---- */

struct filling {
    uint32_t sources, results;
};

static const struct ptx_place *next_place(struct layout *l, struct filling *f, bool is_result)
{
    static const struct ptx_place none;
    const uint32_t number = is_result ? f->results++ : f->sources++;
    if (number < (is_result ? PTX_CODE_RESULTS : PTX_CODE_SOURCES))
        return is_result ? &l->op->results[number] : &l->op->sources[number];
    layout_part(l, "number of operands");
    return &none;
}

/* Of 128 bits there are two, the lower half first. */
static void next_is(struct layout *l, struct filling *f, bool is_result,
                    const struct ptx_operand *o, struct ptx_type type)
{
    const bool is_first = !is_result && o->negated;
    const uint32_t number = f->sources;
    if (l->op->exec != PTX_EXEC_ROWS && !is_result && number < 8)
        is(l, (l->op->negated >> number & 1) == is_first, "negation");
    if (type.bits != 128) {
        layout_is(l, next_place(l, f, is_result), o, type, 0);
        return;
    }
    for (uint32_t half = 0; half < 2; half++) {
        const struct ptx_place *place = next_place(l, f, is_result);
        if (o->kind == PTX_OPERAND_SINK)
            is(l, place->kind == PTX_PLACE_NONE, "operand that is thrown away");
        else
            layout_is_register(l, l->function, place, o, half);
    }
}

static void are_done(struct layout *l, const struct filling *f)
{
    is(l, l->op->source_count == f->sources && l->op->result_count == f->results,
       "number of operands");
}

static uint32_t count_items(const struct ptx_operand *o)
{
    uint32_t count = 0;
    for (; o; o = o->next)
        count++;
    return count;
}

/* {a, b}, or one; how many elements. */
static uint32_t next_are(struct layout *l, struct filling *f, bool is_result,
                         const struct ptx_operand *o, struct ptx_type type)
{
    uint32_t count = 0;
    if (o->kind != PTX_OPERAND_VECTOR) {
        next_is(l, f, is_result, o, type);
        return type.bits == 128 ? 2 : 1;
    }
    for (o = o->items; o; o = o->next, count++)
        next_is(l, f, is_result, o, type);
    return type.bits == 128 ? 2 * count : count;
}

/* ---- what computes ---- */

/* The parts of a vector share the bits of the type; behind d|p comes a predicate. */
static void row_item(struct layout *l, struct filling *f, const struct ptx_operand *o,
                     const struct ptx_item_pattern *item)
{
    struct ptx_type type = item->type;
    if (item->kind == 'i')
        return;
    if (o->kind == PTX_OPERAND_PAIR) {
        next_is(l, f, true, o->items, type);
        next_is(l, f, true, o->items->next, predicate);
        return;
    }
    if (o->kind == PTX_OPERAND_VECTOR)
        type.bits = (uint8_t)(type.bits / count_items(o->items));
    next_are(l, f, item->is_result, o, type);
}

static void stack(struct layout *l, struct filling *f)
{
    const enum ptx_opcode opcode = (enum ptx_opcode)l->op->opcode;
    if (opcode != PTX_OP_ALLOCA && opcode != PTX_OP_STACKSAVE && opcode != PTX_OP_STACKRESTORE)
        return;
    const struct ptx_place *base = next_place(l, f, false);
    is(l, base->kind == PTX_PLACE_FRAME && base->bits == 32 && base->offset % 16 == 0, "stack");
    layout_is_own(l, next_place(l, f, false), LAYOUT_TAKEN);
    if (opcode != PTX_OP_STACKSAVE)
        layout_is_own(l, next_place(l, f, true), LAYOUT_TAKEN);
}

static void row(struct layout *l)
{
    const struct ptx_instruction *i = instruction_of(l);
    const enum ptx_opcode opcode = (enum ptx_opcode)l->op->opcode;
    const char *pattern = ptx_forms[i->form].operands;
    struct ptx_operand rank = {.kind = PTX_OPERAND_NAME,
                               .target_kind = PTX_TARGET_SPECIAL,
                               .target.special = PTX_SPECIAL_CLUSTER_CTARANK};
    struct ptx_item_pattern item;
    struct filling f = {0};
    is(l, l->op->exec == PTX_EXEC_ROWS && l->op->negated == 0, "kind");
    for (const struct ptx_operand *o = i->operands; o && ptx_item_next(&pattern, i->words, &item);
         o = o->next)
        row_item(l, &f, o, &item);
    if (opcode == PTX_OP_MAPA || opcode == PTX_OP_GETCTARANK)
        layout_is(l, next_place(l, &f, false), &rank, u32, 32);
    stack(l, &f);
    if (opcode == PTX_OP_ADDC || opcode == PTX_OP_SUBC || opcode == PTX_OP_MADC)
        layout_is_own(l, next_place(l, &f, false), LAYOUT_CARRY);
    if (word_of(l, PTX_SLOT_CC) != PTX_W_NONE)
        layout_is_own(l, next_place(l, &f, true), LAYOUT_CARRY);
    are_done(l, &f);
}

/* ---- memory ---- */

static void access(struct layout *l)
{
    const struct ptx_type type = type_of(l);
    is(l, l->op->bytes == (type.bits == 128 ? 8 : type.bits / 8u), "bytes");
    is(l, l->op->is_signed == (type.kind == PTX_CLASS_INT && type.is_signed), "sign");
    is(l, l->op->is_float == (type.kind == PTX_CLASS_FLOAT), "kind of numbers");
    is(l, l->op->is_whole == (type.bits == 128), "whole");
    is(l, l->op->is_volatile == (word_of(l, PTX_SLOT_SEM) == PTX_W_VOLATILE), "volatile");
}

/* As wide as the first register that is not thrown away. */
static uint32_t width_of(const struct ptx_operand *o)
{
    for (o = o->kind == PTX_OPERAND_VECTOR ? o->items : o; o; o = o->next)
        if (o->kind == PTX_OPERAND_NAME) {
            const uint32_t bits = ptx_type_of(o->target.variable->type).bits;
            return bits == 128 ? 0 : bits;
        }
    return 0;
}

static void load(struct layout *l)
{
    struct filling f = {.sources = 1};
    enum ptx_word space = word_of(l, PTX_SLOT_SPACE);
    if (l->op->opcode == PTX_OP_LDU && space == PTX_W_NONE && !layout_is_memory(operand(l, 1)))
        space = PTX_W_GLOBAL;
    is(l, l->op->exec == PTX_EXEC_LD, "kind");
    access(l);
    const struct ptx_operand *o = operand(l, 0);
    layout_is_address(l, l->op, operand(l, 1), space);
    is(l, next_are(l, &f, true, o, type_of(l)) == l->op->count, "elements");
    if (o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_NAME)
        is(l, l->op->width == width_of(o), "width");
    are_done(l, &f);
}

static void store(struct layout *l)
{
    struct filling f = {.sources = 1};
    is(l, l->op->exec == PTX_EXEC_ST, "kind");
    access(l);
    layout_is_address(l, l->op, operand(l, 0), word_of(l, PTX_SLOT_SPACE));
    is(l, next_are(l, &f, false, operand(l, 1), type_of(l)) == l->op->count, "elements");
    are_done(l, &f);
}

static void deed(struct layout *l)
{
    is(l, l->op->mode == word_of(l, PTX_SLOT_OP), "operation");
    is(l, l->op->atomic == ptx_atomic_find(word_of(l, PTX_SLOT_OP), word_of(l, PTX_SLOT_TYPE)),
       "operation");
}

static void atomic(struct layout *l)
{
    struct filling f = {.sources = 1};
    const bool has_result = l->op->opcode == PTX_OP_ATOM;
    const struct ptx_operand *address = operand(l, has_result);
    is(l, l->op->exec == PTX_EXEC_ATOM, "kind");
    access(l);
    deed(l);
    layout_is_address(l, l->op, address, word_of(l, PTX_SLOT_SPACE));
    if (has_result)
        next_are(l, &f, true, operand(l, 0), type_of(l));
    for (const struct ptx_operand *o = address->next; o; o = o->next)
        is(l, next_are(l, &f, false, o, type_of(l)) == l->op->count, "elements");
    are_done(l, &f);
}

/* ---- copies and mbarriers ---- */

static bool is_heard(const struct layout *l)
{
    return word_of(l, PTX_SLOT_SYNC) == PTX_W_MBARRIER_TX;
}

static void part(struct layout *l, uint32_t number, const struct ptx_operand *o, uint32_t bytes,
                 enum ptx_word space)
{
    const struct ptx_op *part = &l->op->parts[number];
    is(l, part->bytes == 4 && part->count == bytes / 4 && part->function == l->function,
       "part of a copy");
    layout_is_address(l, part, o, space);
}

static void copy(struct layout *l)
{
    struct filling f = {0};
    const uint32_t bytes = (uint32_t)operand(l, 2)->value;
    is(l, l->op->exec == PTX_EXEC_COPY && 4u * l->op->count == bytes, "kind");
    part(l, 0, operand(l, 0), bytes, PTX_W_SHARED);
    part(l, 1, operand(l, 1), bytes, PTX_W_GLOBAL);
    is(l, l->op->has_count == (operand(l, 3) != NULL), "bytes that are read");
    if (operand(l, 3))
        next_is(l, &f, false, operand(l, 3), u32);
    are_done(l, &f);
}

static void bulk(struct layout *l)
{
    struct filling f = {0};
    const bool heard = is_heard(l), from_global = heard && word_of(l, PTX_SLOT_NC) == PTX_W_GLOBAL;
    const enum ptx_word way = word_of(l, PTX_SLOT_PART);
    is(l, l->op->exec == PTX_EXEC_COPY_BULK && l->op->has_count == heard && l->op->width == way,
       "kind");
    part(l, 0, operand(l, 0), 16, heard ? PTX_W_SHARED : PTX_W_GLOBAL);
    part(l, 1, operand(l, 1), 16, from_global ? PTX_W_GLOBAL : PTX_W_SHARED);
    if (heard)
        part(l, 2, operand(l, 3), 8, PTX_W_SHARED);
    next_is(l, &f, false, operand(l, 2), u32);
    if (way == PTX_W_MULTICAST)
        next_is(l, &f, false, operand(l, 4), u32);
    if (way == PTX_W_REDUCE) {
        access(l);
        deed(l);
    } else {
        is(l, !l->op->atomic, "operation");
    }
    are_done(l, &f);
}

static void store_heard(struct layout *l)
{
    struct filling f = {0};
    is(l, l->op->exec == PTX_EXEC_COPY_BULK && l->op->has_count, "kind");
    access(l);
    deed(l);
    const uint32_t count = next_are(l, &f, false, operand(l, 1), type_of(l));
    is(l, count == l->op->count, "elements");
    part(l, 0, operand(l, 0), count * l->op->bytes, PTX_W_SHARED);
    part(l, 2, operand(l, 2), 8, PTX_W_SHARED);
    are_done(l, &f);
}

static void object(struct layout *l, const struct ptx_operand *o)
{
    is(l, l->op->bytes == 8 && l->op->count == 1, "bytes");
    layout_is_address(l, l->op, o, word_of(l, PTX_SLOT_SPACE));
}

static void asynchronous(struct layout *l)
{
    const bool is_bulk = word_of(l, PTX_SLOT_UNI) == PTX_W_BULK;
    switch ((int)instruction_of(l)->form) {
    case PTX_FORM_CP_ARRIVE:
        is(l, l->op->exec == PTX_EXEC_COPY_ARRIVE && l->op->mode == word_of(l, PTX_SLOT_NC),
           "kind");
        object(l, operand(l, 0));
        return;
    case PTX_FORM_CP_ASYNC:
        copy(l);
        return;
    case PTX_FORM_CP_COMMIT:
    case PTX_FORM_CP_BULK_COMMIT:
        is(l, l->op->exec == PTX_EXEC_COPY_COMMIT && l->op->mode == is_bulk, "kind");
        return;
    case PTX_FORM_CP_BULK_PREFETCH:
        is(l, l->op->exec == PTX_EXEC_NOP, "kind");
        return;
    case PTX_FORM_CP_WAIT:
    case PTX_FORM_CP_WAIT_ALL:
    case PTX_FORM_CP_BULK_WAIT:
        is(l, l->op->exec == PTX_EXEC_COPY_WAIT && l->op->mode == is_bulk, "kind");
        is(l, l->op->target == (operand(l, 0) ? (uint32_t)operand(l, 0)->value : UINT32_MAX),
           "groups");
        is(l, l->op->width == word_of(l, PTX_SLOT_NC), "what is waited for");
        return;
    default:
        bulk(l);
    }
}

/* An address is the first source, also where there is none. */
static void mbarrier(struct layout *l)
{
    const struct ptx_instruction *i = instruction_of(l);
    const char *pattern = ptx_forms[i->form].operands;
    struct ptx_item_pattern item;
    struct filling f = {.sources = 1};
    is(l, l->op->exec == PTX_EXEC_MBARRIER && l->op->mode == word_of(l, PTX_SLOT_SYNC), "kind");
    is(l, l->op->width == word_of(l, PTX_SLOT_MODE), "what is asked");
    is(l, l->op->has_count == (i->form == PTX_FORM_MBARRIER_ARRIVE_TX), "bytes that are expected");
    for (const struct ptx_operand *o = i->operands; o && ptx_item_next(&pattern, i->words, &item);
         o = o->next)
        if (item.kind == 'a')
            object(l, o);
        else
            next_is(l, &f, item.is_result, o, item.type);
    are_done(l, &f);
}

/* ---- the lanes together ---- */

static void plain(struct layout *l, struct filling *f)
{
    const struct ptx_instruction *i = instruction_of(l);
    const char *pattern = ptx_forms[i->form].operands;
    struct ptx_item_pattern item;
    for (const struct ptx_operand *o = i->operands; o && ptx_item_next(&pattern, i->words, &item);
         o = o->next)
        if (o->kind == PTX_OPERAND_PAIR) {
            next_is(l, f, true, o->items, item.type);
            next_is(l, f, true, o->items->next, predicate);
        } else {
            next_is(l, f, item.is_result, o, item.type);
        }
}

static void together(struct layout *l, enum ptx_exec exec, enum ptx_slot slot)
{
    struct filling f = {0};
    const struct ptx_type type = type_of(l);
    is(l, l->op->exec == exec && l->op->mode == word_of(l, slot), "kind");
    is(l, l->op->is_signed == (type.kind == PTX_CLASS_INT && type.is_signed), "sign");
    plain(l, &f);
    if (l->op->opcode == PTX_OP_ELECT) { /* all lanes of a mask have that mask, which they match */
        const struct ptx_place *a = &l->op->sources[0], *b = next_place(l, &f, false);
        is(l, a->kind == b->kind && a->bits == b->bits && a->offset == b->offset, "mask");
    }
    are_done(l, &f);
}

static void barrier(struct layout *l)
{
    const struct ptx_instruction *i = instruction_of(l);
    const enum ptx_word what = word_of(l, PTX_SLOT_SYNC);
    const bool is_red = what == PTX_W_RED;
    struct filling f = {0};
    const struct ptx_operand *number = operand(l, is_red), *count = number ? number->next : NULL;
    if (i->form == PTX_FORM_BARRIER_CLUSTER_ARRIVE || i->form == PTX_FORM_BARRIER_CLUSTER_WAIT) {
        is(l, l->op->exec == PTX_EXEC_CLUSTER && l->op->mode == what, "kind");
        return;
    }
    if (i->form == PTX_FORM_BAR_WARP) {
        is(l, l->op->exec == PTX_EXEC_BAR_WARP, "kind");
        plain(l, &f);
        are_done(l, &f);
        return;
    }
    const bool has_count = is_red ? count && count->next : count != NULL;
    is(l,
       l->op->exec == (is_red                 ? PTX_EXEC_BAR_RED
                       : what == PTX_W_ARRIVE ? PTX_EXEC_BAR_ARRIVE
                                              : PTX_EXEC_BAR_SYNC),
       "kind");
    is(l, l->op->has_count == has_count, "count of threads");
    if (is_red) {
        is(l, l->op->mode == word_of(l, PTX_SLOT_OP), "operation");
        next_is(l, &f, true, operand(l, 0), type_of(l));
    }
    next_is(l, &f, false, number, u32);
    if (has_count)
        next_is(l, &f, false, count, u32);
    else
        is(l, next_place(l, &f, false)->kind == PTX_PLACE_NONE, "count of threads");
    if (is_red)
        next_is(l, &f, false, has_count ? count->next : count, predicate);
    are_done(l, &f);
}

/* ---- matrices and textures ---- */

static void fragment(struct layout *l, enum ptx_matrix_part which, const struct ptx_operand *o,
                     struct ptx_type type)
{
    const struct ptx_place *place = l->op->matrix->place[which];
    const bool is_vector = o->kind == PTX_OPERAND_VECTOR;
    is(l, l->op->matrix->form.part[which].registers == (is_vector ? count_items(o->items) : 1),
       "registers of a matrix");
    for (o = is_vector ? o->items : o; o; o = is_vector ? o->next : NULL)
        layout_is(l, place++, o, type, 0);
}

static void matrix(struct layout *l)
{
    const struct ptx_instruction *i = instruction_of(l);
    const enum ptx_opcode opcode = (enum ptx_opcode)l->op->opcode;
    const enum ptx_word which = opcode == PTX_OP_WMMA ? word_of(l, PTX_SLOT_PART) : PTX_W_NONE;
    const bool stores = opcode == PTX_OP_STMATRIX || which == PTX_W_D;
    const bool loads = opcode == PTX_OP_LDMATRIX || (which != PTX_W_NONE && !stores);
    const char *pattern = ptx_forms[i->form].operands;
    struct ptx_item_pattern item;
    is(l,
       l->op->exec == (stores  ? PTX_EXEC_MATRIX_ST
                       : loads ? PTX_EXEC_MATRIX_LD
                               : PTX_EXEC_MMA) &&
           l->op->matrix,
       "kind");
    for (const struct ptx_operand *o = i->operands;
         o && l->op->matrix && ptx_item_next(&pattern, i->words, &item); o = o->next)
        if (item.kind == 'a') {
            layout_is_address(l, l->op, o, word_of(l, PTX_SLOT_SPACE));
        } else if (item.kind == 'A' || item.kind == 'B' || item.kind == 'C') {
            fragment(l,
                     item.kind == 'A'   ? PTX_MATRIX_A
                     : item.kind == 'B' ? PTX_MATRIX_B
                                        : PTX_MATRIX_C,
                     o, item.type);
        } else if (item.kind == 'd' && opcode == PTX_OP_MOVMATRIX) {
            fragment(l, item.is_result ? PTX_MATRIX_D : PTX_MATRIX_A, o, item.type);
        } else if (item.kind == 'd') {
            is(l, l->op->has_count, "stride");
            layout_is(l, &l->op->sources[1], o, item.type, 32);
        } else {
            fragment(l, PTX_MATRIX_D, o, item.type);
        }
}

/* A layer stands before the other coordinates, and is kept behind them. */
static void coordinates(struct layout *l, const struct ptx_operand *o, struct ptx_type type)
{
    static const struct ptx_type s32 = {PTX_CLASS_INT, 32, true};
    const enum ptx_word shape = word_of(l, PTX_SLOT_SHAPE);
    const uint32_t dimensions = shape == PTX_W_G3D                         ? 3
                                : shape == PTX_W_G2D || shape == PTX_W_A2D ? 2
                                                                           : 1;
    o = o->kind == PTX_OPERAND_VECTOR ? o->items : o;
    if (shape == PTX_W_A1D || shape == PTX_W_A2D) {
        layout_is(l, &l->op->sources[PTX_TEXEL_LAYER], o, s32, 32);
        o = o->next;
    }
    for (uint32_t d = 0; d < dimensions && o; d++, o = o->next)
        layout_is(l, &l->op->sources[PTX_TEXEL_X + d], o, type, 32);
}

static void texture(struct layout *l)
{
    const struct ptx_instruction *i = instruction_of(l);
    const char *pattern = ptx_forms[i->form].operands;
    struct ptx_item_pattern item;
    is(l, l->op->exec == (l->op->opcode == PTX_OP_SUST ? PTX_EXEC_SUST : PTX_EXEC_TEXTURE), "kind");
    is(l, l->op->mode == word_of(l, PTX_SLOT_MODE) && l->op->bytes == type_of(l).bits / 8,
       "what is asked");
    for (const struct ptx_operand *o = i->operands; o && ptx_item_next(&pattern, i->words, &item);
         o = o->next) {
        struct filling f = {.sources = PTX_TEXEL_VALUE};
        if (item.kind == 'a')
            layout_is_address(l, l->op, o, word_of(l, PTX_SLOT_SPACE));
        else if (item.kind == 'x')
            coordinates(l, o, item.type);
        else if (item.kind != 'u')
            is(l, next_are(l, &f, item.is_result, o, item.type) == l->op->count, "elements");
    }
}

/* ---- control flow ---- */

static void target(struct layout *l, enum ptx_exec exec)
{
    const struct ptx_operand *o = operand(l, 0);
    is(l, l->op->exec == exec, "kind");
    if (o->target_kind == PTX_TARGET_STATEMENT) {
        is(l, l->op->target == layout_label(l, o->target.statement) && l->op->target > 0, "target");
        return;
    }
    struct filling f = {0};
    next_is(l, &f, false, o, u32);
    is(l, l->op->target == 0 && l->op->table_count == 0, "target");
}

static void table(struct layout *l)
{
    struct filling f = {0};
    uint32_t count = 0;
    is(l, l->op->exec == PTX_EXEC_BRA && l->op->target == 0, "kind");
    next_is(l, &f, false, operand(l, 0), u32);
    for (const struct ptx_operand *o = operand(l, 1)->target.statement->u.targets; o;
         o = o->next, count++)
        if (count < l->op->table_count)
            is(l, l->code->table[l->op->table + count] == layout_label(l, o->target.statement),
               "target");
    is(l, l->op->table_count == count, "targets");
}

static enum ptx_exec of_return(const struct layout *l)
{
    return l->function == 0 && !l->code->kernel->raw ? PTX_EXEC_EXIT : PTX_EXEC_RET;
}

static bool reads_clock(const struct layout *l)
{
    const struct ptx_operand *o = operand(l, 1);
    return l->op->opcode == PTX_OP_MOV && o && o->target_kind == PTX_TARGET_SPECIAL &&
           (o->target.special == PTX_SPECIAL_CLOCK || o->target.special == PTX_SPECIAL_CLOCK_HI ||
            o->target.special == PTX_SPECIAL_CLOCK64 ||
            o->target.special == PTX_SPECIAL_GLOBALTIMER ||
            o->target.special == PTX_SPECIAL_GLOBALTIMER_LO ||
            o->target.special == PTX_SPECIAL_GLOBALTIMER_HI);
}

static void clock_or_row(struct layout *l)
{
    struct filling f = {0};
    if (!reads_clock(l)) {
        row(l);
        return;
    }
    is(l, l->op->exec == PTX_EXEC_CLOCK && l->op->mode == operand(l, 1)->target.special, "kind");
    next_is(l, &f, true, operand(l, 0), type_of(l));
}

static void instruction(struct layout *l)
{
    const struct ptx_instruction *i = instruction_of(l);
    switch ((int)ptx_forms[i->form].opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        load(l);
        return;
    case PTX_OP_ST:
        (is_heard(l) ? store_heard : store)(l);
        return;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        (is_heard(l) ? store_heard : atomic)(l);
        return;
    case PTX_OP_CP:
        asynchronous(l);
        return;
    case PTX_OP_MBARRIER:
        mbarrier(l);
        return;
    case PTX_OP_VOTE:
        together(l, PTX_EXEC_VOTE, PTX_SLOT_MODE);
        return;
    case PTX_OP_MATCH:
    case PTX_OP_ELECT:
        together(l, PTX_EXEC_MATCH, PTX_SLOT_MODE);
        return;
    case PTX_OP_SHFL:
        together(l, PTX_EXEC_SHFL, PTX_SLOT_MODE);
        return;
    case PTX_OP_REDUX:
        together(l, PTX_EXEC_REDUX, PTX_SLOT_OP);
        return;
    case PTX_OP_ACTIVEMASK:
        together(l, PTX_EXEC_ACTIVEMASK, PTX_SLOT_MODE);
        return;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
    case PTX_OP_MMA:
    case PTX_OP_WMMA:
        matrix(l);
        return;
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
    case PTX_OP_SULD:
    case PTX_OP_SUST:
        texture(l);
        return;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        barrier(l);
        return;
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE: /* of proxies, and of an mbarrier's making: nothing is late */
        is(l,
           l->op->exec == (i->form == PTX_FORM_FENCE_PROXY || i->form == PTX_FORM_FENCE_MBARRIER
                               ? PTX_EXEC_NOP
                               : PTX_EXEC_MEMBAR),
           "kind");
        is(l, l->op->mode == word_of(l, PTX_SLOT_SCOPE), "scope");
        return;
    case PTX_OP_BRA:
        target(l, PTX_EXEC_BRA);
        return;
    case PTX_OP_SSY:
        target(l, PTX_EXEC_SSY);
        return;
    case PTX_OP_PREBRK:
        target(l, PTX_EXEC_PREBRK);
        return;
    case PTX_OP_PRERET:
        target(l, PTX_EXEC_PRERET);
        return;
    case PTX_OP_BRX:
        table(l);
        return;
    case PTX_OP_CALL:
        layout_call(l);
        return;
    case PTX_OP_RET:
        is(l, l->op->exec == of_return(l), "kind");
        return;
    case PTX_OP_EXIT:
        is(l, l->op->exec == PTX_EXEC_EXIT, "kind");
        return;
    case PTX_OP_TRAP:
        is(l, l->op->exec == PTX_EXEC_TRAP, "kind");
        return;
    case PTX_OP_SYNC:
        is(l, l->op->exec == PTX_EXEC_SYNC, "kind");
        return;
    case PTX_OP_BREAK:
        is(l, l->op->exec == PTX_EXEC_BREAK, "kind");
        return;
    case PTX_OP_NOP:
    case PTX_OP_BRKPT:
    case PTX_OP_PMEVENT:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_SETMAXNREG:
    case PTX_OP_GRIDDEPCONTROL:
        is(l, l->op->exec == PTX_EXEC_NOP, "kind");
        return;
    default:
        clock_or_row(l);
    }
}

void layout_op(struct layout *l)
{
    const struct ptx_op *op = l->op;
    if (!op->statement) {
        is(l, op->exec == of_return(l) && op->line == 0 && op->guard.kind == PTX_PLACE_NONE,
           "end of a function");
        return;
    }
    const struct ptx_instruction *i = instruction_of(l);
    is(l, op->opcode == ptx_forms[i->form].opcode && op->line == op->statement->at.line,
       "instruction");
    if (i->guard)
        layout_is(l, &op->guard, i->guard, predicate, 32);
    else
        is(l, op->guard.kind == PTX_PLACE_NONE, "guard");
    is(l, op->guard_not == (i->guard && i->guard->negated), "guard");
    instruction(l);
}
