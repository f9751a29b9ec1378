/*
 * ptx_rows_internal.h - how the functions over rows are written: one macro use an operation, which
 * makes a function for each type and a table of them. For engine/ptx/ptx_rows*.c only.
 */
#ifndef ENGINE_PTX_ROWS_INTERNAL_H
#define ENGINE_PTX_ROWS_INTERNAL_H

#include "engine/arith/ptx_rows.h"
#include "engine/arith/ptx_soft.h"

#include <string.h>

/* A row is bytes of the machine's block, seen as elements. */
typedef uint32_t row32 __attribute__((may_alias));
typedef uint64_t row64 __attribute__((may_alias));

/* What tells the functions of an operation apart: the size of bits and moves, sign of integers. */
enum row_type { ROW_U16, ROW_S16, ROW_U32, ROW_S32, ROW_U64, ROW_S64, ROW_TYPES };

/* .b16 is ROW_U16 and so on, .pred and .f32 are ROW_U32, .f64 is ROW_U64. */
enum row_type row_type_of(enum ptx_word word);

typedef ptx_row_fn *const row_table[ROW_TYPES];

#define LANES(i) for (uint32_t i = 0; i < lanes; i++)

/* Rows are the same or do not overlap. Not every loop can be vectorised: no warning then. */
#if defined(__clang__)
#define VECTORISE _Pragma("clang loop vectorize(assume_safety)")
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define VECTORISE _Pragma("GCC ivdep")
#endif

#define ROW_ARGUMENTS                                                                              \
    uint32_t lanes, void *const results[PTX_ROW_RESULTS],                                          \
        const void *const sources[PTX_ROW_SOURCES], uint32_t immediate

/* Functions of one, two, three, four sources x, y, z, w, which are elements as they lie in the rows. */
#define ROW1(name, D, A, expr)                                                                     \
    static void name(ROW_ARGUMENTS)                                                                \
    {                                                                                              \
        D *d = results[0];                                                                         \
        const A *a0 = sources[0];                                                                  \
        (void)immediate;                                                                           \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const A x = a0[i];                                                                     \
            d[i] = (D)(expr);                                                                      \
        }                                                                                          \
    }

#define ROW2(name, D, A, B, expr)                                                                  \
    static void name(ROW_ARGUMENTS)                                                                \
    {                                                                                              \
        D *d = results[0];                                                                         \
        const A *a0 = sources[0];                                                                  \
        const B *a1 = sources[1];                                                                  \
        (void)immediate;                                                                           \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const A x = a0[i];                                                                     \
            const B y = a1[i];                                                                     \
            d[i] = (D)(expr);                                                                      \
        }                                                                                          \
    }

#define ROW3(name, D, A, B, C, expr)                                                               \
    static void name(ROW_ARGUMENTS)                                                                \
    {                                                                                              \
        D *d = results[0];                                                                         \
        const A *a0 = sources[0];                                                                  \
        const B *a1 = sources[1];                                                                  \
        const C *a2 = sources[2];                                                                  \
        (void)immediate;                                                                           \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const A x = a0[i];                                                                     \
            const B y = a1[i];                                                                     \
            const C z = a2[i];                                                                     \
            d[i] = (D)(expr);                                                                      \
        }                                                                                          \
    }

#define ROW4(name, D, A, B, C, E, expr)                                                            \
    static void name(ROW_ARGUMENTS)                                                                \
    {                                                                                              \
        D *d = results[0];                                                                         \
        const A *a0 = sources[0];                                                                  \
        const B *a1 = sources[1];                                                                  \
        const C *a2 = sources[2];                                                                  \
        const E *a3 = sources[3];                                                                  \
        (void)immediate;                                                                           \
        VECTORISE                                                                                  \
        LANES (i) {                                                                                \
            const A x = a0[i];                                                                     \
            const B y = a1[i];                                                                     \
            const C z = a2[i];                                                                     \
            const E w = a3[i];                                                                     \
            d[i] = (D)(expr);                                                                      \
        }                                                                                          \
    }

/* ---- floating point ---- */

static inline float f32_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static inline double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t bits_of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Subnormal numbers as zeros with their sign. */
static inline uint32_t flush_f32(uint32_t bits)
{
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/* As results are written: one NaN only. */
static inline uint32_t result_f32(float value)
{
    return value == value ? bits_of_f32(value) : 0x7fffffff;
}

static inline uint64_t result_f64(double value)
{
    return value == value ? bits_of_f64(value) : 0x7fffffffffffffff;
}

/* In [+0, 1]; 0 for a NaN. */
static inline uint32_t saturate_f32(uint32_t bits)
{
    return bits <= 0x3f800000 ? bits : bits <= 0x7f800000 ? 0x3f800000 : 0;
}

/* Fraction and exponent moved to their places; the scale makes the exponent right, of subnormal numbers too. */
static inline uint32_t widen_f16(uint32_t h)
{
    const uint32_t sign = (h & 0x8000) << 16, size = (h & 0x7fff) << 13;
    const uint32_t finite = bits_of_f32(f32_of(size) * 0x1p112f);
    const uint32_t other = (h & 0x3ff) ? 0x7fffffff : sign | 0x7f800000;
    return (h & 0x7c00) == 0x7c00 ? other : sign | finite;
}

/* Subnormal results: a sum with 1/2 has the same last place. Others: half a place is added, less one unit if the last
 * digit is even, and what is below is cut. */
static inline uint32_t narrow_f16(uint32_t x)
{
    const uint32_t sign = x >> 16 & 0x8000, size = x & 0x7fffffff;
    const uint32_t small = bits_of_f32(f32_of(size) + 0.5f) - 0x3f000000;
    const uint32_t normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    const uint32_t finite = size < 0x38800000 ? small : normal;
    const uint32_t all = size >= 0x477ff000 ? 0x7c00 : finite;
    return size > 0x7f800000 ? 0x7fff : sign | all;
}

static inline uint32_t narrow_bf16(uint32_t x)
{
    const bool is_nan = (x & 0x7fffffff) > 0x7f800000;
    return is_nan ? 0x7fff : (x + 0x7fff + (x >> 16 & 1)) >> 16;
}

/* ---- finders ---- */

/* Each of these files is compiled for every instruction set, under its name: ROW_ISA is nothing, or _avx2. */
#define PTX_ROW_FAMILIES(X)                                                                        \
    X(arithmetic)                                                                                  \
    X(bits)                                                                                        \
    X(compare)                                                                                     \
    X(move)                                                                                        \
    X(convert)                                                                                     \
    X(float)                                                                                       \
    X(approximate)                                                                                 \
    X(carry)                                                                                       \
    X(half)

#ifndef ROW_ISA
#define ROW_ISA
#endif
#define ROW_JOIN_(family, isa) ptx_row_find_##family##isa
#define ROW_JOIN(family, isa) ROW_JOIN_(family, isa)
#define ROW_FINDER(family)                                                                         \
    ptx_row_fn *ROW_JOIN(family, ROW_ISA)(const struct ptx_instruction *instruction,               \
                                          uint32_t *immediate, const char **reason)

/* NULL: the form is not of this family or, with *reason set, has no function. */
typedef ptx_row_fn *row_finder(const struct ptx_instruction *instruction, uint32_t *immediate,
                               const char **reason);
#define X(family) row_finder ptx_row_find_##family, ptx_row_find_##family##_avx2;
PTX_ROW_FAMILIES(X)
#undef X

/* Bits of the register or special register that an operand names, or else `bits`. */
uint32_t ptx_row_bits_of(const struct ptx_operand *operand, uint32_t bits);

#endif
