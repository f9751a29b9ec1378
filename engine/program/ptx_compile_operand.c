#include "engine/program/ptx_compile_internal.h"

#include <string.h>

enum { SHOWN = 80 };

/* ---- constants ---- */

/* A row of 32-bit elements takes `stride` words, one of 64-bit elements twice as many: stride is even, so
 * that every row starts at a multiple of 8 bytes. */
struct ptx_place ptx_build_constant(struct ptx_builder *b, uint64_t value, bool is_wide)
{
    struct ptx_code *code = b->code;
    bool is_new;
    value = is_wide ? value : (uint32_t)value;
    uint32_t *offset = ptx_map_add(&b->constants, is_wide ? (const void *)code : b, value, &is_new);
    if (is_new) {
        struct ptx_constant *constant = ARENA_NEW(b->arena, struct ptx_constant);
        *constant = (struct ptx_constant){.value = value,
                                          .offset = code->constant_words,
                                          .is_wide = is_wide,
                                          .next = b->constant_list};
        b->constant_list = constant;
        *offset = code->constant_words;
        code->constant_words += is_wide ? 2 * code->stride : code->stride;
    }
    if (code->constant_words > PTX_LIMIT_CONSTANT_WORDS)
        ptx_build_fail(b, "too many different constants");
    return (struct ptx_place){
        .kind = PTX_PLACE_CONST, .bits = is_wide ? 64 : 32, .offset = *offset};
}

void ptx_build_constant_rows(struct ptx_builder *b)
{
    struct ptx_code *code = b->code;
    code->constant_rows = ARENA_ARRAY(b->arena, uint32_t, code->constant_words);
    for (const struct ptx_constant *c = b->constant_list; c; c = c->next)
        for (uint32_t i = 0; i < code->stride; i++)
            if (c->is_wide)
                memcpy(&code->constant_rows[c->offset + 2 * i], &c->value, sizeof c->value);
            else
                code->constant_rows[c->offset + i] = (uint32_t)c->value;
}

static uint64_t float_bits(const struct ptx_operand *o, struct ptx_type type)
{
    uint64_t bits = o->value;
    uint32_t word = (uint32_t)bits;
    float single;
    double number;
    if (type.kind != PTX_CLASS_FLOAT)
        return bits;
    if (o->kind == PTX_OPERAND_FLOAT64 && type.bits == 32) {
        memcpy(&number, &bits, sizeof number);
        single = (float)number;
        memcpy(&word, &single, sizeof word);
        return word;
    }
    if (o->kind == PTX_OPERAND_FLOAT32 && type.bits == 64) {
        memcpy(&single, &word, sizeof single);
        number = single;
        memcpy(&bits, &number, sizeof bits);
    }
    return bits;
}

static uint64_t integer_bits(const struct ptx_operand *o, struct ptx_type type)
{
    if (type.kind == PTX_CLASS_PRED)
        return o->value != 0;
    return type.bits > 0 && type.bits < 64 ? o->value & (((uint64_t)1 << type.bits) - 1) : o->value;
}

/* ---- special registers ---- */

static uint32_t component(char element, const uint32_t sizes[3])
{
    return element == 'x' ? sizes[0] : element == 'y' ? sizes[1] : element == 'z' ? sizes[2] : 0;
}

static uint32_t shared_bytes(const struct ptx_builder *b)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < b->code->shared.count; i++)
        bytes += b->code->shared.items[i].bytes;
    return bytes;
}

/* What is the same for all threads. */
static bool special_constant(const struct ptx_builder *b, enum ptx_special special, char element,
                             uint64_t *value)
{
    uint32_t clusters[3];
    *value = 0;
    switch ((int)special) {
    case PTX_SPECIAL_NTID:
        *value = component(element, b->block);
        return true;
    case PTX_SPECIAL_NCTAID:
        *value = component(element, b->grid);
        return true;
    case PTX_SPECIAL_NWARPID:
        *value = b->program->warps_per_block;
        return true;
    case PTX_SPECIAL_WARP_SZ:
        *value = b->program->launch.warp;
        return true;
    case PTX_SPECIAL_NSMID:
        *value = 1;
        return true;
    case PTX_SPECIAL_TOTAL_SMEM_SIZE:
        *value = shared_bytes(b);
        return true;
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        *value = b->ptx->shared_bytes;
        return true;
    case PTX_SPECIAL_NCLUSTERID:
        for (uint32_t i = 0; i < 3; i++)
            clusters[i] = (b->grid[i] + b->ptx->cluster[i] - 1) / b->ptx->cluster[i];
        *value = component(element, clusters);
        return true;
    case PTX_SPECIAL_CLUSTER_NCTAID:
        *value = component(element, b->ptx->cluster);
        return true;
    case PTX_SPECIAL_CLUSTER_NCTARANK:
        *value = ptx_cluster_size(b->ptx);
        return true;
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        *value = b->ptx->cluster_given;
        return true;
    case PTX_SPECIAL_ENVREG1:
        *value = ptx_grid_address(b->ptx) >> 32;
        return true;
    case PTX_SPECIAL_ENVREG2:
        *value = ptx_grid_address(b->ptx) & UINT32_MAX;
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

bool ptx_is_clock(enum ptx_special special)
{
    return special == PTX_SPECIAL_CLOCK || special == PTX_SPECIAL_CLOCK_HI ||
           special == PTX_SPECIAL_CLOCK64 || special == PTX_SPECIAL_GLOBALTIMER ||
           special == PTX_SPECIAL_GLOBALTIMER_LO || special == PTX_SPECIAL_GLOBALTIMER_HI;
}

struct ptx_place ptx_build_special(struct ptx_builder *b, enum ptx_special special, char element,
                                   uint32_t bits)
{
    struct ptx_code *code = b->code;
    uint64_t value;
    bool is_new;
    if (ptx_is_clock(special)) {
        ptx_build_fail(b, "unsupported special register '%s'", ptx_specials[special].name);
        return (struct ptx_place){.kind = PTX_PLACE_NONE};
    }
    if (special_constant(b, special, element, &value))
        return ptx_build_constant(b, value, bits == 64);
    uint32_t *number =
        ptx_map_add(&b->specials, b, (uint64_t)special << 8 | (uint8_t)element, &is_new);
    if (is_new) {
        *number = code->special_count++;
        code->specials[*number].special = special;
        code->specials[*number].element = element;
    }
    return (struct ptx_place){.kind = PTX_PLACE_SPECIAL, .bits = (uint8_t)bits, .offset = *number};
}

/* ---- names ---- */

uint32_t ptx_build_label(struct ptx_builder *b, const struct ptx_statement *label)
{
    const uint32_t *address = ptx_map_find(&b->labels, label, 0);
    if (!address) {
        ptx_build_fail(b, "'%.80s' is no label with an address", label->name);
        return 0;
    }
    return *address;
}

uint32_t ptx_build_entry(struct ptx_builder *b, const struct ptx_function *f)
{
    const struct ptx_function *definition = ptx_definition(&b->reach.symbols, f);
    const uint32_t *number = definition ? ptx_map_find(&b->function_numbers, definition, 0) : NULL;
    if (!number) {
        ptx_build_fail(b, "function '%.80s' has no body", f->name);
        return 0;
    }
    return b->code->functions[*number].entry;
}

static bool is_memory(const struct ptx_operand *o)
{
    return o->target_kind == PTX_TARGET_VARIABLE && o->target.variable->space != PTX_W_REG;
}

/* Where a variable with an address is; those of frames are given a place when they are first asked for. */
static enum ptx_home find_home(struct ptx_builder *b, const struct ptx_variable *var,
                               uint64_t *address)
{
    const uint32_t *home = ptx_build_find_home(b, var);
    if (home) {
        *address = b->home_list[*home].address;
        return b->home_list[*home].home;
    }
    *address = 0;
    if (var->space == PTX_W_LOCAL || var->space == PTX_W_PARAM)
        *address = ptx_build_frame_byte(b, var);
    else
        ptx_build_fail(b, "the address of '%.*s' is not known", SHOWN, var->name);
    return PTX_HOME_FRAME;
}

static struct ptx_place place_variable(struct ptx_builder *b, const struct ptx_operand *o,
                                       uint32_t bits)
{
    uint64_t address;
    if (find_home(b, o->target.variable, &address) != PTX_HOME_FRAME)
        return ptx_build_constant(b, address + o->value, bits == 64);
    return (struct ptx_place){
        .kind = PTX_PLACE_FRAME, .bits = (uint8_t)bits, .offset = (uint32_t)(address + o->value)};
}

static struct ptx_place place_name(struct ptx_builder *b, const struct ptx_operand *o,
                                   uint32_t bits)
{
    switch (o->target_kind) {
    case PTX_TARGET_VARIABLE:
        return is_memory(o) ? place_variable(b, o, bits) : ptx_build_register(b, o);
    case PTX_TARGET_SPECIAL:
        return ptx_build_special(b, o->target.special, o->element, bits);
    case PTX_TARGET_FUNCTION:
        return ptx_build_constant(b, ptx_build_entry(b, o->target.function) + o->value, bits == 64);
    case PTX_TARGET_STATEMENT:
        return ptx_build_constant(b, ptx_build_label(b, o->target.statement) + o->value,
                                  bits == 64);
    case PTX_TARGET_NONE:
        break;
    }
    ptx_build_fail(b, "'%.*s' is not resolved", SHOWN, o->name);
    return (struct ptx_place){.kind = PTX_PLACE_NONE};
}

struct ptx_place ptx_build_place(struct ptx_builder *b, const struct ptx_operand *o,
                                 struct ptx_type type, uint32_t bits)
{
    struct ptx_place place = {.kind = PTX_PLACE_NONE};
    uint32_t element = bits ? bits : type.bits == 64 ? 64 : 32;
    switch (o->kind) {
    case PTX_OPERAND_NAME:
        place = place_name(b, o, element);
        break;
    case PTX_OPERAND_INTEGER:
        return ptx_build_constant(b, integer_bits(o, type), element == 64);
    case PTX_OPERAND_FLOAT32:
    case PTX_OPERAND_FLOAT64:
        if (type.kind == PTX_CLASS_FLOAT && type.bits == 16)
            ptx_build_fail(b, "unsupported constant of half precision");
        return ptx_build_constant(b, float_bits(o, type), element == 64);
    case PTX_OPERAND_SINK:
        return place;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_LIST:
    case PTX_OPERAND_PAIR:
        ptx_build_fail(b, "unsupported operand");
        return place;
    }
    if (bits && place.bits != bits)
        ptx_build_fail(b, "unsupported size of operand '%.*s'", SHOWN, o->name);
    return place;
}

/* ---- addresses ---- */

/* .param of a register: an entry's parameters are constants, all others lie in frames. */
static enum ptx_word space_of(const struct ptx_builder *b, const struct ptx_instruction *i,
                              const struct ptx_operand *o)
{
    enum ptx_word space = (enum ptx_word)i->words[PTX_SLOT_SPACE];
    switch ((int)space) {
    case PTX_W_SHARED_CTA:
    case PTX_W_SHARED_CLUSTER:
        return PTX_W_SHARED;
    case PTX_W_PARAM_ENTRY:
        return PTX_W_CONST;
    case PTX_W_PARAM_FUNC:
        return PTX_W_LOCAL;
    case PTX_W_PARAM:
        return ptx_is_entry(b) ? PTX_W_CONST : PTX_W_LOCAL;
    case PTX_W_NONE:
        return o->name && is_memory(o) ? o->target.variable->space : PTX_W_NONE;
    default:
        return space;
    }
}

/* [variable+n] */
static void place_address(struct ptx_builder *b, struct ptx_op *op, const struct ptx_operand *o)
{
    static const enum ptx_word spaces[] = {[PTX_HOME_GLOBAL] = PTX_W_GLOBAL,
                                           [PTX_HOME_SHARED] = PTX_W_SHARED,
                                           [PTX_HOME_CONST] = PTX_W_CONST,
                                           [PTX_HOME_LOCAL] = PTX_W_LOCAL,
                                           [PTX_HOME_FRAME] = PTX_W_LOCAL};
    uint64_t address;
    enum ptx_home home = find_home(b, o->target.variable, &address);
    op->space = (uint8_t)spaces[home];
    if (home == PTX_HOME_FRAME)
        op->sources[0] =
            (struct ptx_place){.kind = PTX_PLACE_FRAME, .bits = 64, .offset = (uint32_t)address};
    else
        op->offset += address;
}

void ptx_build_address(struct ptx_builder *b, struct ptx_op *op,
                       const struct ptx_instruction *instruction, const struct ptx_operand *o)
{
    op->space = (uint8_t)space_of(b, instruction, o);
    op->offset = o->value;
    if (o->name && is_memory(o))
        place_address(b, op, o);
    else if (o->name)
        op->sources[0] = ptx_build_register(b, o);
    op->offset &= ptx_address_mask(op);
}
