/* Comparison and selection (PTX ISA 9.7.6). */
#include "engine/arith/ptx_rows_internal.h"

/* ---- one comparison ---- */

#define COMPARE_WORDS(X)                                                                           \
    X(EQ)                                                                                          \
    X(NE)                                                                                          \
    X(LT)                                                                                          \
    X(LE)                                                                                          \
    X(GT)                                                                                          \
    X(GE)                                                                                          \
    X(LO) X(LS) X(HI) X(HS) X(EQU) X(NEU) X(LTU) X(LEU) X(GTU) X(GEU) X(NUM) X(NAN)

enum compare {
#define X(word) COMPARE_##word,
    COMPARE_WORDS(X)
#undef X
        COMPARE_COUNT
};

/* Behind the integers. */
enum { KIND_F32 = ROW_TYPES, KIND_F32_FTZ, KIND_F64, KIND_COUNT };

static inline float f32_flushed(uint32_t bits)
{
    return f32_of(flush_f32(bits));
}

#define COMPARE(op, kind, E, T, of, expr)                                                          \
    static void op##_##kind(ROW_ARGUMENTS)                                                         \
    {                                                                                              \
        row32 *d = results[0];                                                                     \
        const E *x = sources[0], *y = sources[1];                                                  \
        (void)immediate;                                                                           \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const T a = of(x[i]), b = of(y[i]);                                                    \
            d[i] = (uint32_t)(expr);                                                               \
        }                                                                                          \
    }

#define INTEGERS(op, expr)                                                                         \
    COMPARE(op, u16, row32, uint16_t, (uint16_t), expr)                                            \
    COMPARE(op, s16, row32, int16_t, (int16_t), expr)                                              \
    COMPARE(op, u32, row32, uint32_t, (uint32_t), expr)                                            \
    COMPARE(op, s32, row32, int32_t, (int32_t), expr)                                              \
    COMPARE(op, u64, row64, uint64_t, (uint64_t), expr)                                            \
    COMPARE(op, s64, row64, int64_t, (int64_t), expr)

#define FLOATS(op, expr)                                                                           \
    COMPARE(op, f32, row32, float, f32_of, expr)                                                   \
    COMPARE(op, ftz, row32, float, f32_flushed, expr)                                              \
    COMPARE(op, f64, row64, double, f64_of, expr)

#define BOTH(op, expr_int, expr_float) INTEGERS(op, expr_int) FLOATS(op, expr_float)

/* Of floating-point numbers: false if one is a NaN; with `u`, true. */
BOTH(eq, a == b, a == b)
BOTH(ne, a != b, (a < b) | (a > b))
BOTH(lt, a < b, a < b)
BOTH(le, a <= b, a <= b)
BOTH(gt, a > b, a > b)
BOTH(ge, a >= b, a >= b)
FLOATS(equ, !((a < b) | (a > b)))
FLOATS(neu, a != b)
FLOATS(ltu, !(a >= b))
FLOATS(leu, !(a > b))
FLOATS(gtu, !(a <= b))
FLOATS(geu, !(a < b))
FLOATS(num, (a == a) & (b == b))
FLOATS(nan, (a != a) | (b != b))

#define ROW_FLOATS(op) [KIND_F32] = op##_f32, [KIND_F32_FTZ] = op##_ftz, [KIND_F64] = op##_f64
#define ROW_SIGNED(op) [ROW_S16] = op##_s16, [ROW_S32] = op##_s32, [ROW_S64] = op##_s64
#define ROW_UNSIGNED(op) [ROW_U16] = op##_u16, [ROW_U32] = op##_u32, [ROW_U64] = op##_u64

static ptx_row_fn *const compares[COMPARE_COUNT][KIND_COUNT] = {
    [COMPARE_EQ] = {ROW_SIGNED(eq), ROW_UNSIGNED(eq), ROW_FLOATS(eq)},
    [COMPARE_NE] = {ROW_SIGNED(ne), ROW_UNSIGNED(ne), ROW_FLOATS(ne)},
    [COMPARE_LT] = {ROW_SIGNED(lt), ROW_UNSIGNED(lt), ROW_FLOATS(lt)},
    [COMPARE_LE] = {ROW_SIGNED(le), ROW_UNSIGNED(le), ROW_FLOATS(le)},
    [COMPARE_GT] = {ROW_SIGNED(gt), ROW_UNSIGNED(gt), ROW_FLOATS(gt)},
    [COMPARE_GE] = {ROW_SIGNED(ge), ROW_UNSIGNED(ge), ROW_FLOATS(ge)},
    [COMPARE_LO] = {ROW_UNSIGNED(lt)},
    [COMPARE_LS] = {ROW_UNSIGNED(le)},
    [COMPARE_HI] = {ROW_UNSIGNED(gt)},
    [COMPARE_HS] = {ROW_UNSIGNED(ge)},
    [COMPARE_EQU] = {ROW_FLOATS(equ)},
    [COMPARE_NEU] = {ROW_FLOATS(neu)},
    [COMPARE_LTU] = {ROW_FLOATS(ltu)},
    [COMPARE_LEU] = {ROW_FLOATS(leu)},
    [COMPARE_GTU] = {ROW_FLOATS(gtu)},
    [COMPARE_GEU] = {ROW_FLOATS(geu)},
    [COMPARE_NUM] = {ROW_FLOATS(num)},
    [COMPARE_NAN] = {ROW_FLOATS(nan)},
};

/* ---- comparison and what is made of it ---- */

/* immediate: the comparison, then flags. */
enum {
    COMBINE_COMPARE = 0xff,
    COMBINE_KIND_SHIFT = 8,
    COMBINE_KIND = 0xff << COMBINE_KIND_SHIFT,
    COMBINE_AND = 1 << 16,
    COMBINE_OR = 1 << 17,
    COMBINE_XOR = 1 << 18,
    COMBINE_NOT = 1 << 19, /* the predicate operand is negated */
    COMBINE_PAIR = 1 << 20,
    COMBINE_BOOLEAN = COMBINE_AND | COMBINE_OR | COMBINE_XOR
};

static void compare_lanes(ROW_ARGUMENTS)
{
    compares[immediate & COMBINE_COMPARE][(immediate & COMBINE_KIND) >> COMBINE_KIND_SHIFT](
        lanes, results, sources, 0);
}

/* t and c, t or c, t xor c, or t; bits 0 only. */
static inline uint32_t combine(uint32_t t, uint32_t c, uint32_t sum, uint32_t product)
{
    return ((t ^ c) & sum) ^ (t & c & product);
}

/* d|p = (a cmp b) op c: p has the comparison's opposite. */
static void setp_combined(ROW_ARGUMENTS)
{
    row32 found[PTX_ROW_LANES], none[PTX_ROW_LANES] = {0};
    bool has_c = immediate & COMBINE_BOOLEAN, is_pair = immediate & COMBINE_PAIR;
    const row32 *predicate = has_c ? sources[2] : none;
    row32 *d = results[0], *p = is_pair ? results[1] : found;
    /* or is t ^ c ^ tc */
    uint32_t sum = !(immediate & COMBINE_AND), product = !(immediate & COMBINE_XOR);
    uint32_t negated = (immediate & COMBINE_NOT) != 0;
    compare_lanes(lanes, (void *const[PTX_ROW_RESULTS]){found}, sources, immediate);
    VECTORISE
    LANES (i) {
        const uint32_t t = found[i], c = (predicate[i] != 0) ^ negated;
        d[i] = combine(t, c, sum, product);
        p[i] = combine(t ^ 1, c, sum, product);
    }
}

static void set_combined(ROW_ARGUMENTS)
{
    row32 *d = results[0];
    setp_combined(lanes, results, sources, immediate & ~(uint32_t)COMBINE_PAIR);
    VECTORISE
    LANES (i)
        d[i] = 0 - d[i];
}

/* Of type .f32: 1.0. */
static void set_f32_combined(ROW_ARGUMENTS)
{
    row32 *d = results[0];
    setp_combined(lanes, results, sources, immediate & ~(uint32_t)COMBINE_PAIR);
    VECTORISE
    LANES (i)
        d[i] = d[i] ? 0x3f800000 : 0;
}

static enum compare compare_of(enum ptx_word word)
{
    static const uint8_t found[PTX_WORD_COUNT] = {
#define X(word) [PTX_W_##word] = COMPARE_##word,
        COMPARE_WORDS(X)
#undef X
    };
    return (enum compare)found[word];
}

static uint32_t kind_of(enum ptx_word word, bool ftz)
{
    if (word == PTX_W_F32)
        return ftz ? KIND_F32_FTZ : KIND_F32;
    return word == PTX_W_F64 ? KIND_F64 : row_type_of(word);
}

static uint32_t combine_flags(const struct ptx_instruction *instruction)
{
    const struct ptx_operand *operands = instruction->operands;
    enum ptx_word op = (enum ptx_word)instruction->words[PTX_SLOT_OP];
    uint32_t flags = op == PTX_W_AND   ? COMBINE_AND
                     : op == PTX_W_OR  ? COMBINE_OR
                     : op == PTX_W_XOR ? COMBINE_XOR
                                       : 0;
    if (flags && operands->next->next->next->negated)
        flags |= COMBINE_NOT;
    return operands->kind == PTX_OPERAND_PAIR ? flags | COMBINE_PAIR : flags;
}

static ptx_row_fn *find_compare(const struct ptx_instruction *instruction, bool is_set,
                                uint32_t *immediate, const char **reason)
{
    const uint8_t *words = instruction->words;
    enum compare compare = compare_of((enum ptx_word)words[PTX_SLOT_CMP]);
    uint32_t kind = kind_of((enum ptx_word)words[is_set ? PTX_SLOT_TYPE2 : PTX_SLOT_TYPE],
                            words[PTX_SLOT_FTZ] != PTX_W_NONE);
    uint32_t flags = combine_flags(instruction);
    if (!compares[compare][kind]) {
        *reason = "lo, ls, hi, hs of a signed type";
        return NULL;
    }
    *immediate = compare | kind << COMBINE_KIND_SHIFT | flags;
    if (is_set)
        return words[PTX_SLOT_TYPE] == PTX_W_F32 ? set_f32_combined : set_combined;
    return flags ? setp_combined : compares[compare][kind];
}

/* ---- selection ---- */

/* A subnormal number is -0 when it is flushed, and -0 >= 0. */
static inline bool at_least_zero(uint32_t c)
{
    return c <= 0x7f800000 || c == 0x80000000;
}

static inline bool at_least_zero_flushed(uint32_t c)
{
    return c <= 0x7f800000 || (c & 0xff800000) == 0x80000000;
}

#define SELECT(op, condition)                                                                      \
    ROW3(op##_16, row32, row32, row32, row32, (uint16_t)((condition) ? x : y))                     \
    ROW3(op##_32, row32, row32, row32, row32, (condition) ? x : y)                                 \
    ROW3(op##_64, row64, row64, row64, row32, (condition) ? x : y)                                 \
    static row_table op = {[ROW_U16] = op##_16, [ROW_S16] = op##_16, [ROW_U32] = op##_32,          \
                           [ROW_S32] = op##_32, [ROW_U64] = op##_64, [ROW_S64] = op##_64};

SELECT(selp, z != 0)
SELECT(slct_s32, (int32_t)z >= 0)
SELECT(slct_f32, at_least_zero(z))
SELECT(slct_ftz, at_least_zero_flushed(z))

ROW_FINDER(compare)
{
    enum row_type type = row_type_of((enum ptx_word)instruction->words[PTX_SLOT_TYPE]);
    bool ftz = instruction->words[PTX_SLOT_FTZ] != PTX_W_NONE;
    switch ((int)instruction->form) {
    case PTX_FORM_SET_INT:
    case PTX_FORM_SET_BITS:
    case PTX_FORM_SET_FLOAT:
    case PTX_FORM_SET_INT_BOOL:
    case PTX_FORM_SET_BITS_BOOL:
    case PTX_FORM_SET_FLOAT_BOOL:
        return find_compare(instruction, true, immediate, reason);
    case PTX_FORM_SETP_INT:
    case PTX_FORM_SETP_BITS:
    case PTX_FORM_SETP_FLOAT:
    case PTX_FORM_SETP_INT_BOOL:
    case PTX_FORM_SETP_BITS_BOOL:
    case PTX_FORM_SETP_FLOAT_BOOL:
        return find_compare(instruction, false, immediate, reason);
    case PTX_FORM_SELP_ANY:
        return selp[type];
    case PTX_FORM_SLCT_INT:
        return slct_s32[type];
    case PTX_FORM_SLCT_FLOAT:
        return ftz ? slct_ftz[type] : slct_f32[type];
    default:
        return NULL;
    }
}
