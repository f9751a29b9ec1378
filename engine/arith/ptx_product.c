#include "engine/arith/ptx_product.h"

#include "engine/arith/ptx_rows_internal.h"

#include <math.h>

/* PTX ISA 9.7.14.5.1: product q is of the lanes 4q to 4q + 3, and of those 16 behind them: the upper half. */
static struct ptx_matrix_place place_of_four(const struct ptx_matrix_form *f,
                                             enum ptx_matrix_part part, uint32_t lane, uint32_t i)
{
    const uint32_t first = lane % 16 / 4 * 8, x = lane % 4, upper = lane / 16 * 4;
    if (part == PTX_MATRIX_A)
        return f->a_columns ? (struct ptx_matrix_place){first + upper + i, x}
                            : (struct ptx_matrix_place){first + upper + x, i};
    if (part == PTX_MATRIX_B)
        return f->b_columns ? (struct ptx_matrix_place){i, first + upper + x}
                            : (struct ptx_matrix_place){x, first + upper + i};
    if (f->part[part].type == PTX_W_F16)
        return (struct ptx_matrix_place){first + upper + x, i};
    return (struct ptx_matrix_place){first + upper + x % 2 + i % 4 / 2 * 2,
                                     i / 4 * 4 + x / 2 * 2 + i % 2};
}

/* PTX ISA 9.7.14.5, all shapes in one: a group of four lanes has one row of A, C and D, and one column of B. A register
 * holds `each` neighbours along k, or along n; of 16 rows the registers of the upper eight and of the lower eight take
 * turns. The accumulators have two neighbours in a row, in one register or in two. */
struct ptx_matrix_place ptx_matrix_place(const struct ptx_matrix_form *f, enum ptx_matrix_part part,
                                         uint32_t lane, uint32_t r, uint32_t e)
{
    const struct ptx_matrix_sizes *s = &f->part[part];
    uint32_t group = lane / 4, in_group = lane % 4, each = s->each;
    if (f->is_four)
        return place_of_four(f, part, lane, r * each + e);
    if (f->is_free && s->bits < 8) { /* whole words, one after the other */
        const uint32_t word = lane + PTX_MATRIX_LANES * r;
        const uint32_t across = part == PTX_MATRIX_A ? s->columns / each : s->columns;
        return part == PTX_MATRIX_A
                   ? (struct ptx_matrix_place){word / across, word % across * each + e}
                   : (struct ptx_matrix_place){word / across * each + e, word % across};
    }
    if (f->is_free) {
        uint32_t i = (lane + PTX_MATRIX_LANES * (r * each + e)) % ((uint32_t)s->rows * s->columns);
        return (struct ptx_matrix_place){i / s->columns, i % s->columns};
    }
    if (part == PTX_MATRIX_B)
        return (struct ptx_matrix_place){each * (4 * r + in_group) + e, group};
    if (part == PTX_MATRIX_A) {
        uint32_t halves = s->rows / 8;
        return (struct ptx_matrix_place){group + r % halves * 8,
                                         each * (4 * (r / halves) + in_group) + e};
    }
    uint32_t i = r * each + e;
    return (struct ptx_matrix_place){group + i / 2 * 8, 2 * in_group + i % 2};
}

/* ---- elements ---- */

static double half_value(uint32_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023, sign = bits >> 15 & 1 ? -1 : 1;
    if (exponent == 31)
        return fraction != 0 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25));
}

/* 4 digits of exponent, 3 of fraction; no infinities. */
static double eight_value(uint32_t bits)
{
    int exponent = bits >> 3 & 15;
    double fraction = bits & 7, sign = bits >> 7 & 1 ? -1 : 1;
    if ((bits & 0x7f) == 0x7f)
        return NAN;
    return sign * (exponent == 0 ? ldexp(fraction, -9) : ldexp(fraction + 8, exponent - 10));
}

static double number_of(enum ptx_word type, uint64_t bits)
{
    switch ((int)type) {
    case PTX_W_F16:
        return half_value((uint32_t)bits);
    case PTX_W_E4M3:
        return eight_value((uint32_t)bits);
    case PTX_W_E5M2:
        return half_value((uint32_t)bits << 8);
    case PTX_W_BF16:
        return f32_of(bits << 16);
    case PTX_W_TF32:
        return f32_of(bits & ~(uint64_t)0x1fff);
    case PTX_W_F32:
        return f32_of(bits);
    default:
        return f64_of(bits);
    }
}

static uint64_t bits_of(enum ptx_word type, double value)
{
    if (isnan(value))
        return type == PTX_W_F16   ? 0x7fff
               : type == PTX_W_F32 ? 0x7fffffff
                                   : (uint64_t)0x7fffffffffffffff;
    if (type == PTX_W_F64)
        return bits_of_f64(value);
    if (type == PTX_W_F32)
        return bits_of_f32((float)value);
    return soft_pack(soft_unpack(bits_of_f64(value), SOFT_F64), SOFT_F16, SOFT_NEAREST);
}

static int64_t integer_of(enum ptx_word type, uint64_t bits)
{
    struct ptx_type t = ptx_type_of(type);
    uint64_t sign = (uint64_t)1 << (t.bits - 1), value = bits & (2 * sign - 1);
    return t.is_signed && (value & sign) ? (int64_t)value - (int64_t)(2 * sign) : (int64_t)value;
}

/* ---- products ---- */

/* Of four products the column of B beside it. */
static uint32_t column_of_b(const struct ptx_matrix_form *f, uint32_t row, uint32_t column)
{
    return f->is_four ? row / 8 * 8 + column : column;
}

static void product_of_numbers(const struct ptx_matrix_form *f,
                               const uint64_t *const matrices[PTX_MATRIX_PARTS], uint64_t *d)
{
    const struct ptx_matrix_sizes *part = f->part;
    const uint32_t m = part[PTX_MATRIX_D].rows, n = part[PTX_MATRIX_D].columns;
    const bool is_fused = part[PTX_MATRIX_A].type == PTX_W_F64;
    double values[PTX_MATRIX_PARTS][PTX_MATRIX_MOST];
    for (uint32_t p = PTX_MATRIX_A; p < PTX_MATRIX_PARTS; p++)
        for (uint32_t i = 0; i < (uint32_t)part[p].rows * part[p].columns; i++)
            values[p][i] = number_of((enum ptx_word)part[p].type, matrices[p][i]);
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            double sum = values[PTX_MATRIX_C][row * n + column];
            for (uint32_t k = 0; k < f->k; k++) {
                double a = values[PTX_MATRIX_A][row * f->k + k];
                double b = values[PTX_MATRIX_B]
                                 [k * part[PTX_MATRIX_B].columns + column_of_b(f, row, column)];
                sum = is_fused ? fma(a, b, sum) : sum + a * b;
            }
            d[row * n + column] = bits_of((enum ptx_word)part[PTX_MATRIX_D].type, sum);
        }
}

static void product_of_integers(const struct ptx_matrix_form *f, bool saturates,
                                const uint64_t *const matrices[PTX_MATRIX_PARTS], uint64_t *d)
{
    const struct ptx_matrix_sizes *part = f->part;
    const uint32_t m = part[PTX_MATRIX_D].rows, n = part[PTX_MATRIX_D].columns;
    int64_t values[PTX_MATRIX_PARTS][PTX_MATRIX_MOST];
    for (uint32_t p = PTX_MATRIX_A; p < PTX_MATRIX_PARTS; p++)
        for (uint32_t i = 0; i < (uint32_t)part[p].rows * part[p].columns; i++)
            values[p][i] = integer_of((enum ptx_word)part[p].type, matrices[p][i]);
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            int64_t sum = values[PTX_MATRIX_C][row * n + column];
            for (uint32_t k = 0; k < f->k; k++)
                sum += values[PTX_MATRIX_A][row * f->k + k] * values[PTX_MATRIX_B][k * n + column];
            if (saturates)
                sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            d[row * n + column] = (uint32_t)sum;
        }
}

/* .b1: how many bits are set in the ands, or the exclusive ors, of a row's words and a column's. */
static void product_of_bits(const struct ptx_matrix_form *f, bool exclusive,
                            const uint64_t *const matrices[PTX_MATRIX_PARTS], uint64_t *d)
{
    const uint32_t m = f->part[PTX_MATRIX_D].rows, n = f->part[PTX_MATRIX_D].columns;
    for (uint32_t row = 0; row < m; row++)
        for (uint32_t column = 0; column < n; column++) {
            uint64_t sum = matrices[PTX_MATRIX_C][row * n + column];
            for (uint32_t k = 0; k < f->k; k++) {
                const uint64_t a = matrices[PTX_MATRIX_A][row * f->k + k];
                const uint64_t b = matrices[PTX_MATRIX_B][k * n + column];
                sum += (uint32_t)__builtin_popcountll(exclusive ? a ^ b : a & b);
            }
            d[row * n + column] = (uint32_t)sum;
        }
}

void ptx_product(const struct ptx_matrix_form *f, enum ptx_word how,
                 const uint64_t *const matrices[PTX_MATRIX_PARTS], uint64_t *d)
{
    const bool saturates = how == PTX_W_SATFINITE;
    if (f->part[PTX_MATRIX_A].type == PTX_W_B1)
        product_of_bits(f, how == PTX_W_XOR, matrices, d);
    else if (f->part[PTX_MATRIX_D].type == PTX_W_S32)
        product_of_integers(f, saturates, matrices, d);
    else
        product_of_numbers(f, matrices, d);
}
