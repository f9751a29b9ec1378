/* cvt (PTX ISA 9.7.9.21). Registers may be wider than the types: the source's low bits count; a whole number
 * is extended to its register as its type says. */
#include "engine/arith/ptx_rows_internal.h"

#include <math.h>

/* ---- between integers: what one extension does ---- */

/* L: the low bits, signed or not; immediate: mask of the result's register, if it has up to 32 bits. */
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

/* ---- any conversion, a lane at a time ---- */

/* immediate: the two types, 8 bits each: an integer's size and sign, or a format; bits of the result's register;
 * flags. */
enum {
    CONVERT_SIZE = 0x7f, /* or the format, or the register's */
    CONVERT_SIGNED = 0x80,
    CONVERT_TO = 8,
    CONVERT_REGISTER = 16,
    CONVERT_ROUNDING = 24,
    CONVERT_SAT = 1 << 26,
    CONVERT_FTZ = 1 << 27, /* of what is .f32 */
    CONVERT_WHOLE = 1 << 28
};

static inline uint64_t extend(uint64_t x, uint32_t bits, bool is_signed)
{
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t sign = is_signed ? (uint64_t)1 << (bits - 1) : 0;
    return ((x & mask) ^ sign) - sign;
}

/* As it lies in its register. */
static inline uint64_t store_integer(uint64_t value, uint32_t how)
{
    uint32_t to = how >> CONVERT_TO;
    uint64_t extended = extend(value, to & CONVERT_SIZE, to & CONVERT_SIGNED);
    return extend(extended, how >> CONVERT_REGISTER & CONVERT_SIZE, false);
}

static inline uint64_t load_integer(uint64_t x, uint32_t how)
{
    return extend(x, how & CONVERT_SIZE, how & CONVERT_SIGNED);
}

/* The nearest number of the type. */
static inline uint64_t saturate(int128 value, uint32_t bits, bool is_signed)
{
    int128 one = 1, most = is_signed ? (one << (bits - 1)) - 1 : (one << bits) - 1;
    int128 least = is_signed ? -most - 1 : 0;
    return (uint64_t)(value > most ? most : value < least ? least : value);
}

static uint64_t integer_to_integer(uint64_t x, uint32_t how)
{
    uint32_t to = how >> CONVERT_TO;
    uint64_t value = load_integer(x, how);
    if (how & CONVERT_SAT) {
        int128 number = how & CONVERT_SIGNED ? (int128)(int64_t)value : (int128)value;
        value = saturate(number, to & CONVERT_SIZE, to & CONVERT_SIGNED);
    }
    return store_integer(value, how);
}

static inline enum soft_rounding rounding_in(uint32_t how)
{
    return (enum soft_rounding)(how >> CONVERT_ROUNDING & 3);
}

static inline uint64_t load_float(uint64_t x, enum soft_format_name format, uint32_t how)
{
    x = extend(x, soft_formats[format].bits, false);
    return how & CONVERT_FTZ && format == SOFT_F32 ? soft_flush(x, format) : x;
}

static inline uint64_t store_float(struct soft value, uint32_t how)
{
    enum soft_format_name to = (enum soft_format_name)(how >> CONVERT_TO & CONVERT_SIZE);
    uint64_t bits = soft_pack(value, to, rounding_in(how));
    bits = how & CONVERT_FTZ && to == SOFT_F32 ? soft_flush(bits, to) : bits;
    return how & CONVERT_SAT ? soft_saturate(bits, to) : bits;
}

static uint64_t integer_to_float(uint64_t x, uint32_t how)
{
    return store_float(soft_of_integer(load_integer(x, how), how & CONVERT_SIGNED), how);
}

/* Of a NaN 0 or, if one of the types has 64 bits, the result's highest bit alone. */
static uint64_t float_to_integer(uint64_t x, uint32_t how)
{
    enum soft_format_name from = (enum soft_format_name)(how & CONVERT_SIZE);
    uint32_t to = how >> CONVERT_TO, bits = to & CONVERT_SIZE;
    uint64_t nan = bits == 64 || from == SOFT_F64 ? (uint64_t)1 << (bits - 1) : 0;
    struct soft value = soft_unpack(load_float(x, from, how), from);
    return store_integer(soft_to_integer(value, bits, to & CONVERT_SIGNED, rounding_in(how), nan),
                         how);
}

static uint64_t float_to_float(uint64_t x, uint32_t how)
{
    enum soft_format_name from = (enum soft_format_name)(how & CONVERT_SIZE);
    struct soft value = soft_unpack(load_float(x, from, how), from);
    if (how & CONVERT_WHOLE)
        value = soft_round(value, rounding_in(how));
    return store_float(value, how);
}

#define ANY(fn)                                                                                    \
    ROW1(fn##_32_32, row32, row32, fn(x, immediate))                                               \
    ROW1(fn##_32_64, row32, row64, fn(x, immediate))                                               \
    ROW1(fn##_64_32, row64, row32, fn(x, immediate))                                               \
    ROW1(fn##_64_64, row64, row64, fn(x, immediate))                                               \
    static ptx_row_fn *const fn##_rows[2][2] = {{fn##_32_32, fn##_32_64}, {fn##_64_32, fn##_64_64}};

ANY(integer_to_integer)
ANY(integer_to_float)
ANY(float_to_integer)
ANY(float_to_float)

/* ---- what the machine converts, as often as kernels want it ---- */

ROW1(f32_of_s32, row32, row32, bits_of_f32((float)(int32_t)x))
ROW1(f32_of_u32, row32, row32, bits_of_f32((float)(uint32_t)x))
ROW1(f32_of_s64, row32, row64, bits_of_f32((float)(int64_t)x))
ROW1(f32_of_u64, row32, row64, bits_of_f32((float)(uint64_t)x))
ROW1(f64_of_s32, row64, row32, bits_of_f64((int32_t)x))
ROW1(f64_of_u32, row64, row32, bits_of_f64((uint32_t)x))
ROW1(f64_of_s64, row64, row64, bits_of_f64((double)(int64_t)x))
ROW1(f64_of_u64, row64, row64, bits_of_f64((double)(uint64_t)x))

/* As it is, and .ftz. */
#define WITH_FTZ(name, D, expr_of)                                                                 \
    ROW1(name, D, row32, expr_of(f32_of(x)))                                                       \
    ROW1(name##_ftz, D, row32, expr_of(f32_of(flush_f32(x))))

WITH_FTZ(f64_of_f32, row64, result_f64)
WITH_FTZ(f32_of_f32, row32, result_f32)
#define FLOOR(x) result_f32(floorf(x))
#define CEILING(x) result_f32(ceilf(x))
#define TRUNCATED(x) result_f32(truncf(x))
#define NEAREST(x) result_f32(rintf(x))
WITH_FTZ(f32_floor, row32, FLOOR)
WITH_FTZ(f32_ceiling, row32, CEILING)
WITH_FTZ(f32_truncated, row32, TRUNCATED)
WITH_FTZ(f32_nearest, row32, NEAREST)
ROW1(f32_of_f64, row32, row64, result_f32((float)f64_of(x)))
ROW1(f32_of_f64_ftz, row32, row64, flush_f32(result_f32((float)f64_of(x))))
ROW1(f64_of_f64, row64, row64, result_f64(f64_of(x)))

ROW1(f32_of_f16, row32, row32, widen_f16((uint16_t)x))
ROW1(f32_of_bf16, row32, row32, result_f32(f32_of(x << 16)))
ROW1(f32_of_bf16_ftz, row32, row32, result_f32(f32_of(flush_f32(x << 16))))
ROW1(f16_of_f32, row32, row32, narrow_f16(x))
ROW1(bf16_of_f32, row32, row32, narrow_bf16(x))
ROW1(bf16_of_f32_ftz, row32, row32, narrow_bf16(flush_f32(x)))

/* Truncated; the conversion itself never overflows. */
static inline uint32_t truncate_s32(double x, uint32_t nan)
{
    const double bounded = x > -0x1p31 ? (x < 0x1.fffffffcp30 ? x : 0x1.fffffffcp30) : -0x1p31;
    const uint32_t value = (uint32_t)(int32_t)bounded;
    return x == x ? value : nan;
}

static inline uint32_t truncate_u32(double x, uint32_t nan)
{
    const double bounded = x > 0 ? (x < 0x1.fffffffep31 ? x : 0x1.fffffffep31) : 0;
    const uint32_t value = (uint32_t)(int64_t)bounded;
    return x == x ? value : nan;
}

#define S32(x) truncate_s32(x, 0)
#define U32(x) truncate_u32(x, 0)
#define S32_FLOOR(x) truncate_s32(floorf(x), 0)
#define S32_CEILING(x) truncate_s32(ceilf(x), 0)
#define S32_NEAREST(x) truncate_s32(rintf(x), 0)
WITH_FTZ(s32_of_f32, row32, S32)
WITH_FTZ(u32_of_f32, row32, U32)
WITH_FTZ(s32_floor, row32, S32_FLOOR)
WITH_FTZ(s32_ceiling, row32, S32_CEILING)
WITH_FTZ(s32_nearest, row32, S32_NEAREST)
ROW1(s32_of_f64, row32, row64, truncate_s32(f64_of(x), 0x80000000))
ROW1(u32_of_f64, row32, row64, truncate_u32(f64_of(x), 0x80000000))

static ptx_row_fn *find_usual(const uint8_t words[PTX_SLOT_COUNT], bool to_64, bool from_64)
{
    static const struct {
        enum ptx_word to, from, round;
        ptx_row_fn *fn, *ftz;
    } rows[] = {
        {PTX_W_F32, PTX_W_S32, PTX_W_RN, f32_of_s32, f32_of_s32},
        {PTX_W_F32, PTX_W_U32, PTX_W_RN, f32_of_u32, f32_of_u32},
        {PTX_W_F32, PTX_W_S64, PTX_W_RN, f32_of_s64, f32_of_s64},
        {PTX_W_F32, PTX_W_U64, PTX_W_RN, f32_of_u64, f32_of_u64},
        {PTX_W_F64, PTX_W_S32, PTX_W_RN, f64_of_s32, f64_of_s32},
        {PTX_W_F64, PTX_W_U32, PTX_W_RN, f64_of_u32, f64_of_u32},
        {PTX_W_F64, PTX_W_S64, PTX_W_RN, f64_of_s64, f64_of_s64},
        {PTX_W_F64, PTX_W_U64, PTX_W_RN, f64_of_u64, f64_of_u64},
        {PTX_W_F64, PTX_W_F32, PTX_W_NONE, f64_of_f32, f64_of_f32_ftz},
        {PTX_W_F32, PTX_W_F64, PTX_W_RN, f32_of_f64, f32_of_f64_ftz},
        {PTX_W_F32, PTX_W_F32, PTX_W_NONE, f32_of_f32, f32_of_f32_ftz},
        {PTX_W_F64, PTX_W_F64, PTX_W_NONE, f64_of_f64, f64_of_f64},
        {PTX_W_F32, PTX_W_F16, PTX_W_NONE, f32_of_f16, f32_of_f16},
        {PTX_W_F32, PTX_W_BF16, PTX_W_NONE, f32_of_bf16, f32_of_bf16_ftz},
        {PTX_W_F16, PTX_W_F32, PTX_W_RN, f16_of_f32, f16_of_f32},
        {PTX_W_BF16, PTX_W_F32, PTX_W_RN, bf16_of_f32, bf16_of_f32_ftz},
        {PTX_W_F32, PTX_W_F32, PTX_W_RMI, f32_floor, f32_floor_ftz},
        {PTX_W_F32, PTX_W_F32, PTX_W_RPI, f32_ceiling, f32_ceiling_ftz},
        {PTX_W_F32, PTX_W_F32, PTX_W_RZI, f32_truncated, f32_truncated_ftz},
        {PTX_W_F32, PTX_W_F32, PTX_W_RNI, f32_nearest, f32_nearest_ftz},
        {PTX_W_S32, PTX_W_F32, PTX_W_RZI, s32_of_f32, s32_of_f32_ftz},
        {PTX_W_U32, PTX_W_F32, PTX_W_RZI, u32_of_f32, u32_of_f32_ftz},
        {PTX_W_S32, PTX_W_F32, PTX_W_RMI, s32_floor, s32_floor_ftz},
        {PTX_W_S32, PTX_W_F32, PTX_W_RPI, s32_ceiling, s32_ceiling_ftz},
        {PTX_W_S32, PTX_W_F32, PTX_W_RNI, s32_nearest, s32_nearest_ftz},
        {PTX_W_S32, PTX_W_F64, PTX_W_RZI, s32_of_f64, s32_of_f64},
        {PTX_W_U32, PTX_W_F64, PTX_W_RZI, u32_of_f64, u32_of_f64},
    };
    enum ptx_word to = (enum ptx_word)words[PTX_SLOT_TYPE];
    enum ptx_word from = (enum ptx_word)words[PTX_SLOT_TYPE2];
    if (words[PTX_SLOT_SAT] || to_64 != (ptx_type_of(to).bits == 64) ||
        from_64 != (ptx_type_of(from).bits == 64))
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].to == to && rows[i].from == from &&
            rows[i].round == (enum ptx_word)words[PTX_SLOT_ROUND])
            return words[PTX_SLOT_FTZ] ? rows[i].ftz : rows[i].fn;
    return NULL;
}

/* ---- which ---- */

/* Everything that the general functions want to know. */
static uint32_t describe(const uint8_t words[PTX_SLOT_COUNT], uint32_t register_bits)
{
    uint32_t how = 0;
    for (int i = 0; i < 2; i++) {
        enum ptx_word word = (enum ptx_word)words[i ? PTX_SLOT_TYPE : PTX_SLOT_TYPE2];
        struct ptx_type type = ptx_type_of(word);
        bool is_float = type.kind == PTX_CLASS_FLOAT;
        uint32_t side = is_float ? (uint32_t)soft_format_of(word)
                                 : type.bits | (type.is_signed ? CONVERT_SIGNED : 0u);
        how |= side << (i ? CONVERT_TO : 0);
    }
    enum ptx_word round = (enum ptx_word)words[PTX_SLOT_ROUND];
    bool is_whole =
        round == PTX_W_RNI || round == PTX_W_RZI || round == PTX_W_RMI || round == PTX_W_RPI;
    return how | register_bits << CONVERT_REGISTER |
           (uint32_t)soft_rounding_of(round) << CONVERT_ROUNDING |
           (words[PTX_SLOT_SAT] ? CONVERT_SAT : 0u) | (words[PTX_SLOT_FTZ] ? CONVERT_FTZ : 0u) |
           (is_whole ? CONVERT_WHOLE : 0u);
}

static ptx_row_fn *find_integer(const uint8_t words[PTX_SLOT_COUNT], uint32_t register_bits,
                                bool from_64, uint32_t *immediate)
{
    struct ptx_type to = ptx_type_of((enum ptx_word)words[PTX_SLOT_TYPE]);
    struct ptx_type from = ptx_type_of((enum ptx_word)words[PTX_SLOT_TYPE2]);
    bool narrows = to.bits <= from.bits, is_full = register_bits == to.bits;
    if (words[PTX_SLOT_SAT] || !(narrows || is_full || to.is_signed == from.is_signed))
        return integer_to_integer_rows[register_bits == 64][from_64];
    *immediate = register_bits < 32 ? (1u << register_bits) - 1 : UINT32_MAX;
    return find_extension(narrows ? to.bits : from.bits, narrows ? to.is_signed : from.is_signed,
                          register_bits == 64, from_64);
}

/* What PTX wants to be said, or not to be said: a whole number only in the same type, and a rounding wherever
 * digits may be lost. */
static const char *refuse(const uint8_t words[PTX_SLOT_COUNT], uint32_t how)
{
    enum ptx_word to = (enum ptx_word)words[PTX_SLOT_TYPE];
    enum ptx_word from = (enum ptx_word)words[PTX_SLOT_TYPE2];
    const struct soft_format *f = &soft_formats[soft_format_of(to)];
    const struct soft_format *g = &soft_formats[soft_format_of(from)];
    if (how & CONVERT_WHOLE && to != from)
        return "cvt to a whole number of another floating-point type";
    if (!words[PTX_SLOT_ROUND] && (f->precision < g->precision || f->exponent < g->exponent))
        return "cvt to a smaller floating-point type without a rounding";
    return NULL;
}

/* tf32: a float without its lower 13 bits. immediate: the rounding; rna: ties away from zero. */
static inline uint32_t round_tf32(uint32_t x, uint32_t rounding)
{
    uint32_t size = x & 0x7fffffff, up = rounding == PTX_W_RNA ? 0x1000 : 0;
    if (rounding == PTX_W_RN)
        up = 0xfff + (x >> 13 & 1);
    return size > 0x7f800000 ? 0x7fffffff : size == 0x7f800000 ? x : (x + up) & ~(uint32_t)0x1fff;
}

ROW1(to_tf32, row32, row32, round_tf32(x, immediate))

/* ---- e4m3: no infinities, one NaN; e5m2: as f16, with two digits behind the point ---- */

enum { EIGHT_E4M3 = 1, EIGHT_RELU = 2, EIGHT_NAN = 0x7f, EIGHT_SIGN = 0x80 };

/* To the nearest, ties to even; what is greater than the greatest number becomes that. */
static uint32_t to_eight(struct soft a, uint32_t how)
{
    const bool e4m3 = how & EIGHT_E4M3;
    const uint32_t most = e4m3 ? 0x7e : 0x7b, sign = a.is_negative ? EIGHT_SIGN : 0;
    const int32_t places = e4m3 ? 3 : 2,
                  least = e4m3 ? -6 : -14; /* exponent of the least normal number */
    if (a.kind == SOFT_NAN)
        return EIGHT_NAN;
    if (a.kind == SOFT_INFINITE || a.digits == 0)
        return a.kind == SOFT_INFINITE ? sign | most : sign;
    const int32_t top = soft_top(a);
    const int32_t scale = top < least ? least : top;
    if (top > 15)
        return sign | most;
    a.exponent -= scale - places;
    a = soft_round(a, SOFT_NEAREST);
    const uint32_t bits =
        ((uint32_t)(scale - least) << places) + (uint32_t)(a.digits << a.exponent);
    return sign | (bits < most ? bits : most);
}

static uint32_t from_eight(uint32_t x, uint32_t how)
{
    struct soft a = soft_unpack(x << 8 & 0xffff, SOFT_F16); /* e5m2 */
    const uint32_t field = x >> 3 & 15;
    if (how & EIGHT_E4M3)
        a = (struct soft){.kind = (x & 0x7f) == EIGHT_NAN ? SOFT_NAN : SOFT_FINITE,
                          .is_negative = x >> 7 & 1,
                          .digits = (x & 7) | (field ? 8 : 0),
                          .exponent = (int32_t)(field ? field : 1) - 10};
    const bool is_cut = how & EIGHT_RELU && a.is_negative && a.kind != SOFT_NAN;
    return is_cut ? 0 : (uint32_t)soft_pack(a, SOFT_F16, SOFT_NEAREST);
}

static inline uint32_t eight_of(uint64_t bits, enum soft_format_name format, uint32_t how)
{
    return to_eight(soft_unpack(bits, format), how);
}

ROW2(eights_pack, row32, row32, row32,
     eight_of(x, SOFT_F32, immediate) << 8 | eight_of(y, SOFT_F32, immediate))
ROW1(eights_narrow, row32, row32,
     eight_of(x >> 16, SOFT_F16, immediate) << 8 | eight_of(x & 0xffff, SOFT_F16, immediate))
ROW1(eights_widen, row32, row32,
     from_eight(x >> 8 & 0xff, immediate) << 16 | from_eight(x & 0xff, immediate))

static ptx_row_fn *find_eights(const struct ptx_instruction *i, uint32_t *immediate)
{
    const uint8_t *words = i->words;
    const bool e4m3 = words[PTX_SLOT_TYPE] == PTX_W_E4M3X2 || words[PTX_SLOT_TYPE2] == PTX_W_E4M3X2;
    ptx_row_fn *fn = i->form == PTX_FORM_CVT_EIGHTS_PACK     ? eights_pack
                     : i->form == PTX_FORM_CVT_EIGHTS_NARROW ? eights_narrow
                     : i->form == PTX_FORM_CVT_EIGHTS_WIDEN  ? eights_widen
                                                             : NULL;
    if (fn)
        *immediate = (e4m3 ? EIGHT_E4M3 : 0) | (words[PTX_SLOT_SAT] == PTX_W_RELU ? EIGHT_RELU : 0);
    return fn;
}

ROW_FINDER(convert)
{
    if (instruction->form == PTX_FORM_CVT_TF32) {
        *immediate = instruction->words[PTX_SLOT_ROUND];
        return to_tf32;
    }
    ptx_row_fn *eights = find_eights(instruction, immediate);
    if (eights)
        return eights;
    if (ptx_forms[instruction->form].opcode != PTX_OP_CVT || instruction->form == PTX_FORM_CVT_PACK)
        return NULL;
    const uint8_t *words = instruction->words;
    const struct ptx_operand *result = instruction->operands;
    uint32_t to_bits = ptx_type_of((enum ptx_word)words[PTX_SLOT_TYPE]).bits;
    uint32_t from_bits = ptx_type_of((enum ptx_word)words[PTX_SLOT_TYPE2]).bits;
    uint32_t register_bits = ptx_row_bits_of(result, to_bits);
    bool to_64 = register_bits == 64, from_64 = ptx_row_bits_of(result->next, from_bits) == 64;
    ptx_row_fn *usual = find_usual(words, to_64, from_64);
    if (usual)
        return usual;
    *immediate = describe(words, register_bits);
    switch ((int)instruction->form) {
    case PTX_FORM_CVT_INT_INT:
        return find_integer(words, register_bits, from_64, immediate);
    case PTX_FORM_CVT_INT_FLOAT:
        return float_to_integer_rows[to_64][from_64];
    case PTX_FORM_CVT_FLOAT_INT:
        return integer_to_float_rows[to_64][from_64];
    default:
        *reason = refuse(words, *immediate);
        return *reason ? NULL : float_to_float_rows[to_64][from_64];
    }
}
