/* Floating point of 16 bits, one or two in a register (PTX ISA 9.7.4): .f16, .bf16, .f16x2, .bf16x2. Sums, differences
 * and products are those of .f32, rounded once more, which changes nothing: .f32 has more than twice the digits and two
 * (Figueroa, "When is double rounding innocuous?", 1995). Fused ones are computed with integers (ptx_soft.h). */
#include "engine/arith/ptx_rows_internal.h"
#include "engine/arith/ptx_soft.h"

/* immediate: the operation, then flags. */
enum {
    HALF_OPERATION = 0xff,
    HALF_BF16 = 1 << 8,
    HALF_FTZ = 1 << 9,
    HALF_SAT = 1 << 10,
    HALF_RELU = 1 << 11,
    HALF_NAN = 1 << 12,    /* min, max: a NaN if one operand is */
    HALF_PACKED = 1 << 13, /* two in a register */
    HALF_ZERO = 1 << 14    /* cvt: rounded to zero */
};

enum operation { ADD, SUB, MUL, FMA, ABS, NEG, MIN, MAX };

static inline uint32_t widen(uint32_t h, uint32_t how)
{
    return how & HALF_BF16 ? result_f32(f32_of(h << 16)) : widen_f16(h);
}

static inline uint32_t narrow(uint32_t bits, uint32_t how)
{
    return how & HALF_BF16 ? narrow_bf16(bits) : narrow_f16(bits);
}

static inline uint32_t infinity_of(uint32_t how)
{
    return how & HALF_BF16 ? 0x7f80 : 0x7c00;
}

static inline bool is_nan(uint32_t h, uint32_t how)
{
    return (h & 0x7fff) > infinity_of(how);
}

/* Subnormal numbers as zeros with their sign. */
static inline uint32_t flushed(uint32_t h, uint32_t how)
{
    uint32_t least = how & HALF_BF16 ? 0x80 : 0x400;
    return how & HALF_FTZ && (h & 0x7fff) < least ? h & 0x8000 : h;
}

static inline uint32_t written(uint32_t h, uint32_t how)
{
    uint32_t one = how & HALF_BF16 ? 0x3f80 : 0x3c00;
    h = is_nan(h, how) ? 0x7fff : flushed(h, how);
    if (how & HALF_SAT)
        return h <= one ? h : h <= infinity_of(how) ? one : 0;
    return how & HALF_RELU && h & 0x8000 ? 0 : h;
}

static inline uint32_t fused(uint32_t a, uint32_t b, uint32_t c, uint32_t how)
{
    enum soft_format_name format = how & HALF_BF16 ? SOFT_BF16 : SOFT_F16;
    struct soft product = soft_multiply(soft_unpack(a, format), soft_unpack(b, format));
    struct soft sum = soft_add(product, soft_unpack(c, format), SOFT_NEAREST);
    return (uint32_t)soft_pack(sum, format, SOFT_NEAREST);
}

/* -0 < +0; a NaN is the result only if both are or, with .NaN, if one is. */
static inline uint32_t least(uint32_t a, uint32_t b, uint32_t how, bool greatest)
{
    const float x = f32_of(widen(a, how)), y = f32_of(widen(b, how));
    if (is_nan(a, how) || is_nan(b, how))
        return how & HALF_NAN || (is_nan(a, how) && is_nan(b, how)) ? 0x7fff
               : is_nan(a, how)                                     ? b
                                                                    : a;
    bool first = greatest ? x > y || (x >= y && !(a & 0x8000)) : x < y || (x <= y && (a & 0x8000));
    return first ? a : b;
}

static inline uint32_t compute(uint32_t a, uint32_t b, uint32_t c, uint32_t how)
{
    a = flushed(a & 0xffff, how);
    b = flushed(b & 0xffff, how);
    c = flushed(c & 0xffff, how);
    const float x = f32_of(widen(a, how)), y = f32_of(widen(b, how));
    switch ((enum operation)(how & HALF_OPERATION)) {
    case ADD:
        return written(narrow(result_f32(x + y), how), how);
    case SUB:
        return written(narrow(result_f32(x - y), how), how);
    case MUL:
        return written(narrow(result_f32(x * y), how), how);
    case FMA:
        return written(fused(a, b, c, how), how);
    case ABS:
        return is_nan(a, how) ? 0x7fff : a & 0x7fff;
    case NEG:
        return is_nan(a, how) ? 0x7fff : a ^ 0x8000;
    case MIN:
        return least(a, b, how, false);
    case MAX:
        return least(a, b, how, true);
    }
    return 0;
}

static inline uint32_t compute_all(uint32_t a, uint32_t b, uint32_t c, uint32_t how)
{
    uint32_t low = compute(a, b, c, how);
    return how & HALF_PACKED ? low | compute(a >> 16, b >> 16, c >> 16, how) << 16 : low;
}

ROW1(half_1, row32, row32, compute_all(x, 0, 0, immediate))
ROW2(half_2, row32, row32, row32, compute_all(x, y, 0, immediate))
ROW3(half_3, row32, row32, row32, row32, compute_all(x, y, z, immediate))

/* cvt of two .f32: the first one becomes the upper half. */
static inline uint32_t narrowed(uint32_t bits, uint32_t how)
{
    enum soft_format_name format = how & HALF_BF16 ? SOFT_BF16 : SOFT_F16;
    uint32_t h = how & HALF_ZERO
                     ? (uint32_t)soft_pack(soft_unpack(bits, SOFT_F32), format, SOFT_ZERO)
                     : narrow(bits, how);
    return written(h, how);
}

ROW2(pack, row32, row32, row32, narrowed(x, immediate) << 16 | narrowed(y, immediate))

/* ---- comparison ---- */

static inline bool holds(enum ptx_word word, float x, float y)
{
    const bool unordered = x != x || y != y;
    switch ((int)word) {
    case PTX_W_EQ:
        return x >= y && x <= y;
    case PTX_W_NE:
        return x < y || x > y;
    case PTX_W_LT:
        return x < y;
    case PTX_W_LE:
        return x <= y;
    case PTX_W_GT:
        return x > y;
    case PTX_W_GE:
        return x >= y;
    case PTX_W_EQU:
        return unordered || (x >= y && x <= y);
    case PTX_W_NEU:
        return unordered || x < y || x > y;
    case PTX_W_LTU:
        return unordered || x < y;
    case PTX_W_LEU:
        return unordered || x <= y;
    case PTX_W_GTU:
        return unordered || x > y;
    case PTX_W_GEU:
        return unordered || x >= y;
    case PTX_W_NUM:
        return !unordered;
    default:
        return unordered;
    }
}

/* immediate: the comparison, then HALF_BF16, HALF_FTZ, HALF_PACKED, then these. */
enum {
    COMPARE_AND = 1 << 16,
    COMPARE_OR = 1 << 17,
    COMPARE_XOR = 1 << 18,
    COMPARE_NOT = 1 << 19,
    COMPARE_PAIR = 1 << 20,
    SET_HALVES = 1 << 21 /* set: 1.0 in the halves' own type */
};

static inline uint32_t combined(uint32_t t, uint32_t c, uint32_t how)
{
    return how & COMPARE_AND ? t & c : how & COMPARE_OR ? t | c : how & COMPARE_XOR ? t ^ c : t;
}

static inline uint32_t compared(uint32_t a, uint32_t b, uint32_t how)
{
    a = flushed(a & 0xffff, how);
    b = flushed(b & 0xffff, how);
    return holds((enum ptx_word)(how & HALF_OPERATION), f32_of(widen(a, how)),
                 f32_of(widen(b, how)));
}

/* Of two halves: d is about the lower ones, p about the upper ones. */
static void setp(ROW_ARGUMENTS)
{
    const row32 *a = sources[0], *b = sources[1];
    const row32 *predicate = immediate & (COMPARE_AND | COMPARE_OR | COMPARE_XOR) ? sources[2] : a;
    row32 *d = results[0], *p = results[1];
    LANES (i) {
        const uint32_t x = a[i], y = b[i];
        const uint32_t c = (predicate[i] != 0) ^ ((immediate & COMPARE_NOT) != 0);
        const uint32_t t = compared(x, y, immediate);
        const uint32_t other =
            immediate & HALF_PACKED ? compared(x >> 16, y >> 16, immediate) : t ^ 1;
        d[i] = combined(t, c, immediate);
        if (immediate & COMPARE_PAIR)
            p[i] = combined(other, c, immediate);
    }
}

static inline uint32_t one_of(uint32_t how)
{
    return how & HALF_BF16 ? 0x3f80 : 0x3c00;
}

/* What is true is all ones, or 1.0: of two halves, in each half. */
static void set(ROW_ARGUMENTS)
{
    const row32 *a = sources[0], *b = sources[1];
    const row32 *predicate = immediate & (COMPARE_AND | COMPARE_OR | COMPARE_XOR) ? sources[2] : a;
    row32 *d = results[0];
    LANES (i) {
        const uint32_t x = a[i], y = b[i];
        const uint32_t c = (predicate[i] != 0) ^ ((immediate & COMPARE_NOT) != 0);
        const uint32_t low = combined(compared(x, y, immediate), c, immediate);
        const uint32_t high = combined(compared(x >> 16, y >> 16, immediate), c, immediate);
        const uint32_t truth = immediate & SET_HALVES ? one_of(immediate) : 0xffff;
        d[i] = immediate & HALF_PACKED ? low * truth | high * truth << 16 : low * truth;
    }
}

static void set_word(ROW_ARGUMENTS)
{
    row32 *d = results[0];
    set(lanes, results, sources, immediate & ~(uint32_t)SET_HALVES);
    LANES (i)
        d[i] = d[i] ? UINT32_MAX : 0;
}

/* ---- which function ---- */

static bool is_bf16(enum ptx_word word)
{
    return word == PTX_W_BF16 || word == PTX_W_BF16X2;
}

static uint32_t flags_of(const uint8_t words[PTX_SLOT_COUNT], enum ptx_word type)
{
    return (is_bf16(type) ? HALF_BF16 : 0) |
           (type == PTX_W_F16X2 || type == PTX_W_BF16X2 ? HALF_PACKED : 0) |
           (words[PTX_SLOT_FTZ] ? HALF_FTZ : 0) |
           (words[PTX_SLOT_SAT] == PTX_W_SAT ? HALF_SAT : 0) |
           (words[PTX_SLOT_SAT] == PTX_W_RELU ? HALF_RELU : 0) |
           (words[PTX_SLOT_NAN] ? HALF_NAN : 0) |
           (words[PTX_SLOT_ROUND] == PTX_W_RZ ? HALF_ZERO : 0);
}

static ptx_row_fn *find_compare(const struct ptx_instruction *instruction, bool is_set,
                                uint32_t *immediate, const char **reason)
{
    const uint8_t *words = instruction->words;
    enum ptx_word to = (enum ptx_word)words[PTX_SLOT_TYPE], op = (enum ptx_word)words[PTX_SLOT_OP];
    enum ptx_word type = is_set ? (enum ptx_word)words[PTX_SLOT_TYPE2] : to;
    *immediate = words[PTX_SLOT_CMP] | flags_of(words, type) |
                 (op == PTX_W_AND   ? COMPARE_AND
                  : op == PTX_W_OR  ? COMPARE_OR
                  : op == PTX_W_XOR ? COMPARE_XOR
                                    : 0);
    if (op && instruction->operands->next->next->next->negated)
        *immediate |= COMPARE_NOT;
    if (instruction->operands->kind == PTX_OPERAND_PAIR)
        *immediate |= COMPARE_PAIR;
    if (!is_set)
        return setp;
    const bool is_number = ptx_type_of(to).kind != PTX_CLASS_FLOAT;
    const bool is_packed = (*immediate & HALF_PACKED) != 0, is_word = ptx_type_of(to).bits == 32;
    if (is_number ? is_packed && !is_word : to != type) {
        *reason = "set of another type than its operands'";
        return NULL;
    }
    if (!is_number)
        *immediate |= SET_HALVES;
    return is_number && is_word && !is_packed ? set_word : set;
}

static const struct {
    enum ptx_form form;
    enum operation operation;
    ptx_row_fn *fn;
} rows[] = {
    {PTX_FORM_ADD_F16, ADD, half_2}, {PTX_FORM_ADD_BF16, ADD, half_2},
    {PTX_FORM_SUB_F16, SUB, half_2}, {PTX_FORM_SUB_BF16, SUB, half_2},
    {PTX_FORM_MUL_F16, MUL, half_2}, {PTX_FORM_MUL_BF16, MUL, half_2},
    {PTX_FORM_FMA_F16, FMA, half_3}, {PTX_FORM_FMA_BF16, FMA, half_3},
    {PTX_FORM_ABS_F16, ABS, half_1}, {PTX_FORM_ABS_BF16, ABS, half_1},
    {PTX_FORM_NEG_F16, NEG, half_1}, {PTX_FORM_NEG_BF16, NEG, half_1},
    {PTX_FORM_MIN_F16, MIN, half_2}, {PTX_FORM_MIN_BF16, MIN, half_2},
    {PTX_FORM_MAX_F16, MAX, half_2}, {PTX_FORM_MAX_BF16, MAX, half_2},
};

ROW_FINDER(half)
{
    switch ((int)instruction->form) {
    case PTX_FORM_SET_HALF:
    case PTX_FORM_SET_HALF_BOOL:
        return find_compare(instruction, true, immediate, reason);
    case PTX_FORM_SETP_HALF:
    case PTX_FORM_SETP_HALF_BOOL:
        return find_compare(instruction, false, immediate, reason);
    case PTX_FORM_CVT_PACK:
        *immediate = flags_of(instruction->words, (enum ptx_word)instruction->words[PTX_SLOT_TYPE]);
        return pack;
    default:
        break;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].form == instruction->form) {
            *immediate =
                rows[i].operation |
                flags_of(instruction->words, (enum ptx_word)instruction->words[PTX_SLOT_TYPE]);
            return rows[i].fn;
        }
    return NULL;
}
