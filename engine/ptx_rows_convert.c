/* cvt between integers (PTX ISA 9.7.9.21). Registers may be wider than the types: the source's low bits
 * count, the result is extended to its register as its type says. */
#include "engine/ptx_rows_internal.h"

/* ---- what one extension does ---- */

/* L: the low bits, signed or not; mask: the result's register, of 16 or 32 bits. */
#define EXTEND(name, L)                                                                            \
    ROW1(name##_32_32, row32, row32, (uint32_t)(L)x &immediate)                                    \
    ROW1(name##_32_64, row32, row64, (uint32_t)(L)x &immediate)                                    \
    ROW1(name##_64_32, row64, row32, (uint64_t)(L)x)                                               \
    ROW1(name##_64_64, row64, row64, (uint64_t)(L)x)                                               \
    static ptx_row_fn *const name[2][2] = {{name##_32_32, name##_32_64},                           \
                                           {name##_64_32, name##_64_64}};

EXTEND(extend_u8, uint8_t)
EXTEND(extend_s8, int8_t)
EXTEND(extend_u16, uint16_t)
EXTEND(extend_s16, int16_t)
EXTEND(extend_u32, uint32_t)
EXTEND(extend_s32, int32_t)
EXTEND(extend_u64, uint64_t)

static ptx_row_fn *find_extension(uint32_t bits, bool is_signed, bool to_64, bool from_64)
{
    switch (bits) {
    case 8:
        return (is_signed ? extend_s8 : extend_u8)[to_64][from_64];
    case 16:
        return (is_signed ? extend_s16 : extend_u16)[to_64][from_64];
    case 32:
        return (is_signed ? extend_s32 : extend_u32)[to_64][from_64];
    default:
        return extend_u64[to_64][from_64];
    }
}

/* ---- the others: saturation, or two extensions ---- */

/* immediate: from and to, as bits and sign; whether to saturate; bits of the result's register. */
enum {
    CONVERT_BITS = 0x7f,
    CONVERT_SIGNED = 0x80,
    CONVERT_TO = 8,
    CONVERT_REGISTER = 16,
    CONVERT_SAT = 1 << 24
};

static inline uint64_t extend(uint64_t x, uint32_t bits, bool is_signed)
{
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t sign = is_signed ? (uint64_t)1 << (bits - 1) : 0;
    return ((x & mask) ^ sign) - sign;
}

/* The nearest number of the type; `value` is of 65 bits at most. */
static inline uint64_t saturate(int128 value, uint32_t bits, bool is_signed)
{
    int128 one = 1, most = is_signed ? (one << (bits - 1)) - 1 : (one << bits) - 1;
    int128 least = is_signed ? -most - 1 : 0;
    return (uint64_t)(value > most ? most : value < least ? least : value);
}

static inline uint64_t convert(uint64_t x, uint32_t how)
{
    uint32_t from = how & CONVERT_BITS, to = how >> CONVERT_TO & CONVERT_BITS;
    bool from_signed = how & CONVERT_SIGNED, to_signed = how >> CONVERT_TO & CONVERT_SIGNED;
    uint64_t value = extend(x, from, from_signed);
    if (how & CONVERT_SAT)
        value = saturate(from_signed ? (int128)(int64_t)value : (int128)value, to, to_signed);
    return extend(extend(value, to, to_signed), how >> CONVERT_REGISTER & CONVERT_BITS, false);
}

ROW1(convert_32_32, row32, row32, convert(x, immediate))
ROW1(convert_32_64, row32, row64, convert(x, immediate))
ROW1(convert_64_32, row64, row32, convert(x, immediate))
ROW1(convert_64_64, row64, row64, convert(x, immediate))

ptx_row_fn *ptx_row_convert(const struct ptx_instruction *instruction, uint32_t *immediate,
                            const char **reason)
{
    static ptx_row_fn *const converts[2][2] = {{convert_32_32, convert_32_64},
                                               {convert_64_32, convert_64_64}};
    const struct ptx_operand *result = instruction->operands, *source = result->next;
    struct ptx_type to = ptx_type_of((enum ptx_word)instruction->words[PTX_SLOT_TYPE]);
    struct ptx_type from = ptx_type_of((enum ptx_word)instruction->words[PTX_SLOT_TYPE2]);
    uint32_t result_bits = ptx_row_bits_of(result, to.bits);
    bool to_64 = result_bits == 64, from_64 = ptx_row_bits_of(source, from.bits) == 64;
    bool sat = instruction->words[PTX_SLOT_SAT] != PTX_W_NONE;
    if (instruction->form != PTX_FORM_CVT_INT_INT) {
        *reason = "cvt of floating point";
        return NULL;
    }
    bool narrows = to.bits <= from.bits;
    if (!sat && (narrows || result_bits == to.bits || to.is_signed == from.is_signed)) {
        uint32_t bits = narrows ? to.bits : from.bits;
        *immediate = result_bits == 16 ? 0xffff : result_bits == 8 ? 0xff : UINT32_MAX;
        return find_extension(bits, narrows ? to.is_signed : from.is_signed, to_64, from_64);
    }
    *immediate = from.bits | (from.is_signed ? CONVERT_SIGNED : 0u) |
                 (to.bits | (to.is_signed ? CONVERT_SIGNED : 0u)) << CONVERT_TO |
                 result_bits << CONVERT_REGISTER | (sat ? CONVERT_SAT : 0u);
    return converts[to_64][from_64];
}
