#include "engine/arith/ptx_rows.h"

#include "engine/arith/ptx_rows_internal.h"
#include "engine/base/invariant.h"

enum row_type row_type_of(enum ptx_word word)
{
    struct ptx_type type = ptx_type_of(word);
    bool is_signed = type.kind == PTX_CLASS_INT && type.is_signed;
    switch (type.bits) {
    case 16:
        return is_signed ? ROW_S16 : ROW_U16;
    case 64:
        return is_signed ? ROW_S64 : ROW_U64;
    default:
        return is_signed ? ROW_S32 : ROW_U32;
    }
}

uint32_t ptx_row_bits_of(const struct ptx_operand *operand, uint32_t bits)
{
    if (operand->kind != PTX_OPERAND_NAME)
        return bits;
    if (operand->target_kind == PTX_TARGET_SPECIAL)
        return ptx_specials[operand->target.special].bits;
    if (operand->target_kind == PTX_TARGET_VARIABLE && operand->target.variable->space == PTX_W_REG)
        return ptx_type_of(operand->target.variable->type).bits;
    return bits;
}

/* ---- operands ---- */

static uint8_t element_bits(uint32_t bits)
{
    return bits == 64 ? 64 : 32;
}

static void add_operand(struct ptx_row_op *op, bool is_result, uint32_t bits)
{
    if (is_result) {
        INVARIANT(op->result_count < PTX_ROW_RESULTS);
        op->result_bits[op->result_count++] = element_bits(bits);
    } else {
        INVARIANT(op->source_count < PTX_ROW_SOURCES);
        op->source_bits[op->source_count++] = element_bits(bits);
    }
}

static void add_parts(struct ptx_row_op *op, const struct ptx_operand *vector,
                      const struct ptx_item_pattern *item)
{
    for (const struct ptx_operand *o = vector->items; o; o = o->next)
        add_operand(op, item->is_result, item->type.bits == 128 ? 64 : 32);
}

/* Types say how large the elements are; where registers may be wider, they do. */
static void add_item(struct ptx_row_op *op, const struct ptx_operand *operand,
                     const struct ptx_item_pattern *item)
{
    bool by_register = item->relaxed || item->kind == 'k';
    if (item->kind == 'i') {
        op->immediate = (uint32_t)operand->value;
    } else if (operand->kind == PTX_OPERAND_VECTOR) {
        add_parts(op, operand, item);
    } else {
        uint32_t bits = item->type.kind == PTX_CLASS_NONE ? 64 : item->type.bits;
        if (bits == 128) /* two rows */
            add_operand(op, item->is_result, bits = 64);
        add_operand(op, item->is_result, by_register ? ptx_row_bits_of(operand, bits) : bits);
        if (operand->kind == PTX_OPERAND_PAIR)
            add_operand(op, true, 32);
    }
}

static void add_operands(const struct ptx_instruction *instruction, struct ptx_row_op *op)
{
    const char *pattern = ptx_forms[instruction->form].operands;
    const struct ptx_operand *operand = instruction->operands;
    struct ptx_item_pattern item;
    for (; operand && ptx_item_next(&pattern, instruction->words, &item); operand = operand->next)
        add_item(op, operand, &item);
    if (op->has_rank)
        add_operand(op, false, 32);
    if (op->has_stack) {
        add_operand(op, false, 32);
        add_operand(op, false, 32);
    }
    if (op->has_stack && ptx_forms[instruction->form].opcode != PTX_OP_STACKSAVE)
        add_operand(op, true, 32);
    if (op->reads_carry)
        add_operand(op, false, 32);
    if (op->writes_carry)
        add_operand(op, true, 32);
}

/* ---- look-up ---- */

bool ptx_row_has_isa(enum row_isa isa)
{
#ifdef SIMTFUZZ_X86
    if (isa == ROW_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return isa == ROW_BASELINE;
}

static ptx_row_fn *find(enum row_isa isa, const struct ptx_instruction *instruction,
                        uint32_t *immediate, const char **reason)
{
    static row_finder *const finders[][ROW_ISA_COUNT] = {
#ifdef SIMTFUZZ_X86
#define X(family) {ptx_row_find_##family, ptx_row_find_##family##_avx2},
#else
#define X(family) {ptx_row_find_##family},
#endif
        PTX_ROW_FAMILIES(X)
#undef X
    };
    ptx_row_fn *fn = NULL;
    for (size_t i = 0; i < sizeof finders / sizeof finders[0] && !fn && !*reason; i++)
        fn = finders[i][isa](instruction, immediate, reason);
    return fn;
}

bool ptx_row_find_for(enum row_isa isa, const struct ptx_instruction *instruction,
                      struct ptx_row_op *op, const char **reason)
{
    enum ptx_opcode opcode = ptx_forms[instruction->form].opcode;
    *reason = NULL;
    *op = (struct ptx_row_op){.immediate = 0};
    op->fn = find(isa, instruction, &op->immediate, reason);
    if (!op->fn) {
        if (!*reason)
            *reason = ptx_mnemonics[opcode];
        return false;
    }
    op->reads_carry = opcode == PTX_OP_ADDC || opcode == PTX_OP_SUBC || opcode == PTX_OP_MADC;
    op->writes_carry = instruction->words[PTX_SLOT_CC] != PTX_W_NONE;
    op->has_rank = opcode == PTX_OP_MAPA || opcode == PTX_OP_GETCTARANK;
    op->has_stack =
        opcode == PTX_OP_ALLOCA || opcode == PTX_OP_STACKSAVE || opcode == PTX_OP_STACKRESTORE;
    add_operands(instruction, op);
    return true;
}

bool ptx_row_find(const struct ptx_instruction *instruction, struct ptx_row_op *op,
                  const char **reason)
{
    enum row_isa isa = ptx_row_has_isa(ROW_AVX2) ? ROW_AVX2 : ROW_BASELINE;
    return ptx_row_find_for(isa, instruction, op, reason);
}
