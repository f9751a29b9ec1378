#include "engine/ptx/ptx_check_internal.h"

#include <string.h>

enum { SHOWN = 100, PTX_BARRIERS = 16 };

/* ---- names ---- */

static int shown(const char *name)
{
    size_t length = strlen(name);
    return (int)(length > SHOWN ? SHOWN : length);
}

/* As many bytes as cooperative_groups/details/memory.h counts on. */
#define RESERVED(n)                                                                                \
    {                                                                                              \
        .name = "%reserved_smem_offset_" #n, .space = PTX_W_SHARED, .type = PTX_W_B8, .align = 16, \
        .dimension_count = 1, .dimensions = {288},                                                 \
    }
const struct ptx_variable ptx_reserved[PTX_RESERVED] = {RESERVED(0), RESERVED(1)};
#undef RESERVED

static const struct ptx_variable *reserved(const char *name)
{
    for (uint32_t i = 0; i < PTX_RESERVED; i++)
        if (strcmp(ptx_reserved[i].name, name) == 0)
            return &ptx_reserved[i];
    return NULL;
}

bool ptx_resolve(struct ptx_checker *c, struct ptx_operand *o)
{
    const struct ptx_binding *b = ptx_scope_find(&c->scopes, o->name, &o->index);
    if (b) {
        o->target_kind = b->kind;
        if (b->kind == PTX_TARGET_VARIABLE)
            o->target.variable = b->target.variable;
        else if (b->kind == PTX_TARGET_FUNCTION)
            o->target.function = b->target.function;
        else
            o->target.statement = b->target.statement;
        return true;
    }
    enum ptx_special special = ptx_special_find(o->name);
    if (special != PTX_SPECIAL_COUNT) {
        o->target_kind = PTX_TARGET_SPECIAL;
        o->target.special = special;
        return true;
    }
    const struct ptx_variable *variable = reserved(o->name);
    if (variable) {
        o->target_kind = PTX_TARGET_VARIABLE;
        o->target.variable = variable;
        return true;
    }
    diag_error(c->diag, o->at, "'%.*s' is not declared", shown(o->name), o->name);
    return false;
}

static bool is_register(const struct ptx_operand *o)
{
    return o->target_kind == PTX_TARGET_VARIABLE && o->target.variable->space == PTX_W_REG;
}

/* Has an address: a variable in memory, a function, a label. */
static bool is_symbol(const struct ptx_operand *o)
{
    return o->target_kind == PTX_TARGET_FUNCTION ||
           (o->target_kind == PTX_TARGET_STATEMENT && o->target.statement->kind == PTX_LABEL) ||
           (o->target_kind == PTX_TARGET_VARIABLE && o->target.variable->space != PTX_W_REG);
}

/* ---- types ---- */

static const char *type_name(struct ptx_type type)
{
    static const char *const names[][5] = {
        [PTX_CLASS_NONE] = {"?", "?", "?", "?", "?"},
        [PTX_CLASS_PRED] = {".pred", ".pred", ".pred", ".pred", ".pred"},
        [PTX_CLASS_BITS] = {".b8", ".b16", ".b32", ".b64", ".b128"},
        [PTX_CLASS_INT] = {".u8/.s8", ".u16/.s16", ".u32/.s32", ".u64/.s64", "?"},
        [PTX_CLASS_FLOAT] = {"?", ".f16", ".f32", ".f64", "?"},
    };
    int size = type.bits <= 8    ? 0
               : type.bits == 16 ? 1
               : type.bits == 32 ? 2
               : type.bits == 64 ? 3
                                 : 4;
    return names[type.kind][size];
}

/* Whether a register of one type can stand where another is wanted (PTX ISA 9.4, tables 25-27). Bits
 * go with all of the same size. Where the instruction allows wider registers: bits in all larger ones,
 * integers also in larger integers, floating point only in larger bits. */
static bool fits(struct ptx_type reg, struct ptx_type wanted, bool relaxed)
{
    if (reg.kind == PTX_CLASS_PRED || wanted.kind == PTX_CLASS_PRED)
        return reg.kind == wanted.kind;
    bool alike =
        reg.kind == PTX_CLASS_BITS || wanted.kind == PTX_CLASS_BITS || reg.kind == wanted.kind;
    if (!alike)
        return false;
    if (reg.bits == wanted.bits)
        return true;
    bool is_float = reg.kind == PTX_CLASS_FLOAT && wanted.kind == PTX_CLASS_FLOAT;
    return relaxed && reg.bits > wanted.bits && !is_float;
}

static bool is_address_type(struct ptx_type type)
{
    return (type.kind == PTX_CLASS_INT || type.kind == PTX_CLASS_BITS) && type.bits >= 32 &&
           type.bits <= 64;
}

/* ---- operands that are values ---- */

static void complain(struct ptx_checker *c, const struct ptx_operand *o, const char *wanted)
{
    diag_error(c->diag, o->at, "%s is wanted here", wanted);
}

static void check_register(struct ptx_checker *c, const struct ptx_operand *o,
                           const struct ptx_item_pattern *item)
{
    const struct ptx_variable *var = o->target.variable;
    struct ptx_type type = ptx_type_of(var->type);
    if ((var->vector != PTX_W_NONE) != (o->element != 0))
        diag_error(c->diag, o->at, "'%.*s' is %s", shown(o->name), o->name,
                   o->element ? "no vector" : "a vector: one element of it is wanted here");
    else if (!fits(type, item->type, item->relaxed))
        diag_error(c->diag, o->at, "'%.*s' is declared %s, %s is wanted here", shown(o->name),
                   o->name, type_name(type), type_name(item->type));
    else if (o->value != 0)
        diag_error(c->diag, o->at, "a register plus a constant is no operand here");
    else if (o->negated && !(item->negatable && item->type.kind == PTX_CLASS_PRED))
        diag_error(c->diag, o->at, "no '!' is allowed here");
}

/* Special registers are read by mov and cvt, with their own size, or as 16 bits of 32 (PTX ISA 10). */
static void check_special(struct ptx_checker *c, const struct ptx_operand *o,
                          const struct ptx_item_pattern *item)
{
    const struct ptx_special_row *row = &ptx_specials[o->target.special];
    bool is_number = row->bits == 1
                         ? item->type.kind == PTX_CLASS_PRED
                         : item->type.kind == PTX_CLASS_INT || item->type.kind == PTX_CLASS_BITS;
    bool is_constant = o->target.special == PTX_SPECIAL_WARP_SZ;
    bool is_size = item->type.bits == row->bits || (item->type.bits == 16 && row->bits == 32);
    if (item->is_result)
        diag_error(c->diag, o->at, "'%s' cannot be written", row->name);
    else if (row->has_elements != (o->element != 0))
        diag_error(c->diag, o->at, "'%s' %s", row->name,
                   row->has_elements ? "is a vector: write .x, .y or .z" : "is no vector");
    else if (!is_number || o->negated || o->value != 0 || (!is_size && !is_constant))
        diag_error(c->diag, o->at, "'%s' is an integer of %d bits", row->name, row->bits);
    else if (!is_constant && c->opcode != PTX_OP_MOV && c->opcode != PTX_OP_CVT)
        diag_error(c->diag, o->at, "'%s' is read by mov and cvt only", row->name);
}

/* Functions are constants everywhere; variables and, as in the report's 5.2, labels only for mov. */
static void check_symbol(struct ptx_checker *c, const struct ptx_operand *o,
                         const struct ptx_item_pattern *item)
{
    bool is_global =
        o->target_kind == PTX_TARGET_VARIABLE && o->target.variable->space == PTX_W_GLOBAL;
    if (!is_address_type(item->type) || o->negated)
        diag_error(c->diag, o->at, "'%.*s' is an address, %s is wanted here", shown(o->name),
                   o->name, type_name(item->type));
    else if (o->target_kind != PTX_TARGET_FUNCTION && c->opcode != PTX_OP_MOV)
        diag_error(c->diag, o->at, "the address of '%.*s' is taken by mov or cvta only",
                   shown(o->name), o->name);
    else if (is_global && item->type.bits < c->module->address_size)
        diag_error(c->diag, o->at, "the address of '%.*s' has %u bits", shown(o->name), o->name,
                   c->module->address_size);
}

static void check_named(struct ptx_checker *c, struct ptx_operand *o,
                        const struct ptx_item_pattern *item)
{
    if (!ptx_resolve(c, o))
        return;
    if (is_register(o))
        check_register(c, o, item);
    else if (o->target_kind == PTX_TARGET_SPECIAL)
        check_special(c, o, item);
    else if (item->is_result || !is_symbol(o) || o->element)
        complain(c, o, item->is_result ? "a register" : "a register or constant");
    else
        check_symbol(c, o, item);
}

/* Constants: integers where integers, bits or predicates are; 0f and 0d also where bits of their size
 * are; decimal and 0d numbers are rounded to single precision where that is wanted (PTX ISA 4.5.2). */
static bool constant_fits(enum ptx_operand_kind kind, struct ptx_type type)
{
    if (kind == PTX_OPERAND_INTEGER)
        return type.kind != PTX_CLASS_FLOAT;
    if (type.kind == PTX_CLASS_FLOAT)
        return true;
    return type.kind == PTX_CLASS_BITS && type.bits == (kind == PTX_OPERAND_FLOAT32 ? 32 : 64);
}

static void check_value(struct ptx_checker *c, struct ptx_operand *o,
                        const struct ptx_item_pattern *item);

/* d|p: p may be thrown away, d too if it is a predicate. */
static void check_pair(struct ptx_checker *c, const struct ptx_operand *o,
                       const struct ptx_item_pattern *item)
{
    static const struct ptx_item_pattern predicate = {
        .is_result = true, .sinkable = true, .kind = 'p', .type = {PTX_CLASS_PRED, 1, false}};
    struct ptx_item_pattern first = *item;
    first.sinkable |= item->type.kind == PTX_CLASS_PRED;
    if (!item->paired) {
        complain(c, o, "one register");
        return;
    }
    check_value(c, o->items, &first);
    check_value(c, o->items->next, &predicate);
}

static void check_value(struct ptx_checker *c, struct ptx_operand *o,
                        const struct ptx_item_pattern *item)
{
    switch (o->kind) {
    case PTX_OPERAND_NAME:
        check_named(c, o, item);
        return;
    case PTX_OPERAND_SINK:
        if (!item->sinkable)
            complain(c, o, item->is_result ? "a register" : "a register or constant");
        return;
    case PTX_OPERAND_INTEGER:
    case PTX_OPERAND_FLOAT32:
    case PTX_OPERAND_FLOAT64:
        if (item->is_result)
            complain(c, o, "a register");
        else if (!constant_fits(o->kind, item->type))
            diag_error(c->diag, o->at, "this constant is no %s", type_name(item->type));
        return;
    case PTX_OPERAND_PAIR:
        check_pair(c, o, item);
        return;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_LIST:
        complain(c, o, item->is_result ? "a register" : "a register or constant");
        return;
    }
}

static uint32_t count_items(const struct ptx_operand *items)
{
    uint32_t count = 0;
    for (; items; items = items->next)
        count++;
    return count;
}

static void check_items(struct ptx_checker *c, const struct ptx_operand *vector,
                        const struct ptx_item_pattern *item)
{
    struct ptx_item_pattern part = *item;
    part.sinkable = item->is_result;
    for (struct ptx_operand *o = vector->items; o; o = o->next)
        check_value(c, o, &part);
}

static uint32_t vector_count(const struct ptx_instruction *i, const struct ptx_item_pattern *item)
{
    enum ptx_word vector = (enum ptx_word)i->words[PTX_SLOT_VECTOR];
    if (item->kind != 'v')
        return ptx_fragment_registers(i->form, i->words, item->kind);
    return vector == PTX_W_V2 ? 2 : vector == PTX_W_V4 ? 4 : vector == PTX_W_V8 ? 8 : 1;
}

/* Of ld and st: one, or as many as .v2 or .v4 says; of matrices, as many as hold a lane's part. */
static void check_vector(struct ptx_checker *c, struct ptx_operand *o,
                         const struct ptx_item_pattern *item, uint32_t wanted)
{
    if (wanted == 1 && o->kind != PTX_OPERAND_VECTOR)
        check_value(c, o, item);
    else if (o->kind != PTX_OPERAND_VECTOR || count_items(o->items) != wanted)
        diag_error(c->diag, o->at, "%u operand%s in braces %s wanted here", wanted,
                   wanted > 1 ? "s" : "", wanted > 1 ? "are" : "is");
    else
        check_items(c, o, item);
}

/* As many as the geometry has, a layer first; three are written as four. */
static void check_coordinates(struct ptx_checker *c, const struct ptx_instruction *i,
                              struct ptx_operand *o, const struct ptx_item_pattern *item)
{
    const bool layered = ptx_is_layered(i->words);
    const uint32_t wanted = ptx_dimensions(i->words) + layered;
    const uint32_t count = o->kind == PTX_OPERAND_VECTOR ? count_items(o->items) : 1;
    struct ptx_item_pattern part = *item;
    if (count != wanted && !(wanted == 3 && count == 4)) {
        diag_error(c->diag, o->at, "%u coordinate%s wanted here", wanted,
                   wanted > 1 ? "s are" : " is");
        return;
    }
    if (layered)
        part.type = (struct ptx_type){PTX_CLASS_INT, 32, false};
    for (o = o->kind == PTX_OPERAND_VECTOR ? o->items : o; o; o = count > 1 ? o->next : NULL) {
        check_value(c, o, &part);
        part.type = item->type;
    }
}

/* mov.b64 {lo, hi}, x; mov.b64 x, {lo, hi}: the parts share the bits. */
static void check_move(struct ptx_checker *c, struct ptx_operand *o,
                       const struct ptx_item_pattern *item)
{
    if (o->kind != PTX_OPERAND_VECTOR) {
        check_value(c, o, item);
        return;
    }
    uint32_t count = count_items(o->items);
    struct ptx_item_pattern part = *item;
    if (item->type.kind != PTX_CLASS_BITS || (count != 2 && count != 4) ||
        item->type.bits / count < 8) {
        diag_error(c->diag, o->at, "%s is not moved as %u parts", type_name(item->type), count);
        return;
    }
    part.type.bits = (uint8_t)(item->type.bits / count);
    check_items(c, o, &part);
}

/* ---- addresses ---- */

/* The space without what says which part of it. */
static enum ptx_word plain_space(enum ptx_word space)
{
    switch ((int)space) {
    case PTX_W_PARAM_ENTRY:
    case PTX_W_PARAM_FUNC:
        return PTX_W_PARAM;
    case PTX_W_SHARED_CTA:
    case PTX_W_SHARED_CLUSTER:
        return PTX_W_SHARED;
    default:
        return space;
    }
}

/* In generic and global memory an address has all its bits; elsewhere 32 will do. */
static void check_base(struct ptx_checker *c, const struct ptx_operand *o, enum ptx_word space)
{
    const struct ptx_variable *var = o->target.variable;
    struct ptx_type type = ptx_type_of(var->type);
    bool is_far = space == PTX_W_NONE || space == PTX_W_GLOBAL;
    if (var->vector != PTX_W_NONE || !is_address_type(type))
        diag_error(c->diag, o->at, "'%.*s' is declared %s, an address is wanted here",
                   shown(o->name), o->name, type_name(type));
    else if (is_far && type.bits < c->module->address_size)
        diag_error(c->diag, o->at, "'%.*s' has %u bits, an address has %u", shown(o->name), o->name,
                   type.bits, c->module->address_size);
}

/* Constants and parameters have no generic address that a name would stand for. */
static bool has_generic_address(enum ptx_word space)
{
    return space == PTX_W_GLOBAL || space == PTX_W_SHARED || space == PTX_W_LOCAL;
}

static void check_address(struct ptx_checker *c, struct ptx_operand *o, enum ptx_word space)
{
    if (o->kind != PTX_OPERAND_ADDRESS) {
        complain(c, o, "an address in brackets");
        return;
    }
    if (!o->name || !ptx_resolve(c, o))
        return;
    if (is_register(o)) {
        check_base(c, o, space);
    } else if (o->target_kind != PTX_TARGET_VARIABLE) {
        complain(c, o, "the address of a variable");
    } else if (space == PTX_W_NONE && !has_generic_address(o->target.variable->space)) {
        diag_error(c->diag, o->at, "'%.*s' is in .%s, which the instruction must name",
                   shown(o->name), o->name, ptx_words[o->target.variable->space]);
    } else if (space != PTX_W_NONE && o->target.variable->space != plain_space(space)) {
        diag_error(c->diag, o->at, "'%.*s' is in .%s, the instruction accesses .%s", shown(o->name),
                   o->name, ptx_words[o->target.variable->space], ptx_words[space]);
    }
}

/* Of cvta and isspacep: a register with an address; for cvta, which has a type, also a variable. */
static void check_pointer(struct ptx_checker *c, struct ptx_operand *o,
                          const struct ptx_item_pattern *item)
{
    bool is_typed = item->type.kind != PTX_CLASS_NONE;
    if (o->kind == PTX_OPERAND_INTEGER && is_typed)
        return;
    if (o->kind != PTX_OPERAND_NAME) {
        complain(c, o, "an address");
        return;
    }
    if (!ptx_resolve(c, o))
        return;
    bool good = is_typed && is_symbol(o);
    if (is_register(o)) {
        struct ptx_type type = ptx_type_of(o->target.variable->type);
        good = is_address_type(type) && (!is_typed || fits(type, item->type, false)) &&
               o->value == 0 && o->target.variable->vector == PTX_W_NONE;
    }
    if (!good || o->negated || o->element)
        complain(c, o, "an address");
}

/* ---- targets ---- */

static void check_label(struct ptx_checker *c, struct ptx_operand *o)
{
    if (o->kind != PTX_OPERAND_NAME) {
        complain(c, o, "a label");
        return;
    }
    if (!ptx_resolve(c, o))
        return;
    bool is_label =
        o->target_kind == PTX_TARGET_STATEMENT && o->target.statement->kind == PTX_LABEL;
    bool is_indirect = is_register(o) && is_address_type(ptx_type_of(o->target.variable->type)) &&
                       o->target.variable->vector == PTX_W_NONE;
    if ((!is_label && !is_indirect) || o->negated || o->element || o->value != 0)
        complain(c, o, "a label");
}

static void check_target_list(struct ptx_checker *c, struct ptx_operand *o)
{
    if (o->kind != PTX_OPERAND_NAME) {
        complain(c, o, "a list of branch targets");
        return;
    }
    if (ptx_resolve(c, o) && (o->target_kind != PTX_TARGET_STATEMENT ||
                              o->target.statement->kind != PTX_BRANCH_TARGETS || o->value != 0))
        complain(c, o, "a list of branch targets");
}

/* ---- instructions ---- */

static void check_operand(struct ptx_checker *c, const struct ptx_instruction *instruction,
                          struct ptx_operand *o, const struct ptx_item_pattern *item)
{
    switch (item->kind) {
    case 'a':
        check_address(c, o, (enum ptx_word)instruction->words[PTX_SLOT_SPACE]);
        return;
    case 'k':
        check_pointer(c, o, item);
        return;
    case 'l':
        check_label(c, o);
        return;
    case 'T':
        check_target_list(c, o);
        return;
    case 'm':
        check_move(c, o, item);
        return;
    case 'x':
        check_coordinates(c, instruction, o, item);
        return;
    case 'v':
    case 'D':
    case 'A':
    case 'B':
    case 'C':
    case 'F':
        check_vector(c, o, item, vector_count(instruction, item));
        return;
    case 'b':
        check_value(c, o, item);
        if (o->kind == PTX_OPERAND_INTEGER && o->value >= PTX_BARRIERS)
            diag_error(c->diag, o->at, "barriers have the numbers 0 to %d", PTX_BARRIERS - 1);
        return;
    case 'i':
        if (o->kind != PTX_OPERAND_INTEGER)
            complain(c, o, "an integer constant");
        return;
    default:
        check_value(c, o, item);
    }
}

static void count_pattern(const struct ptx_instruction *i, uint32_t *least, uint32_t *most)
{
    const char *pattern = ptx_forms[i->form].operands;
    struct ptx_item_pattern item;
    *least = *most = 0;
    while (ptx_item_next(&pattern, i->words, &item)) {
        *least += !item.optional;
        *most += 1;
    }
}

/* What is optional is there when there are operands enough. */
static void check_operands(struct ptx_checker *c, struct ptx_instruction *i, struct location at)
{
    uint32_t least, most, count = count_items(i->operands);
    const char *pattern = ptx_forms[i->form].operands;
    const char *mnemonic = ptx_mnemonics[ptx_forms[i->form].opcode];
    count_pattern(i, &least, &most);
    if (count < least || count > most) {
        if (least == most)
            diag_error(c->diag, at, "'%s' takes %u operand%s here, not %u", mnemonic, least,
                       least == 1 ? "" : "s", count);
        else
            diag_error(c->diag, at, "'%s' takes %u to %u operands here, not %u", mnemonic, least,
                       most, count);
        return;
    }
    uint32_t extra = count - least;
    struct ptx_item_pattern item;
    for (struct ptx_operand *o = i->operands; o && ptx_item_next(&pattern, i->words, &item);) {
        if (item.optional && extra == 0)
            continue;
        extra -= item.optional;
        check_operand(c, i, o, &item);
        o = o->next;
    }
}

void ptx_check_instruction(struct ptx_checker *c, struct ptx_instruction *i, struct location at)
{
    static const struct ptx_item_pattern predicate = {
        .negatable = true, .kind = 'p', .type = {PTX_CLASS_PRED, 1, false}};
    c->opcode = ptx_forms[i->form].opcode;
    if (i->guard)
        check_value(c, i->guard, &predicate);
    if (c->opcode == PTX_OP_CALL)
        ptx_check_call(c, i->operands, at);
    else
        check_operands(c, i, at);
}
