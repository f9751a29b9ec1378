/*
 * ref_matrix.c - matrices in the registers of a warp (PTX ISA 9.7.14), shape by shape as the ISA writes it: groupID is
 * the lane by 4, threadID_in_group the rest, i the element.
 *
 * Where elements of wmma lie the ISA leaves open; this is what docs/ptx.md says. Floating-point sums are rounded and
 * ordered as nobody says: the reference knows the least precision that is asked for, and so bounds.
 */
#include "engine/reference_ptx/ref_ptx_internal.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>

static enum ptx_word word(const struct ptx_instruction *i, enum ptx_slot slot)
{
    return (enum ptx_word)i->words[slot];
}

static enum ptx_opcode opcode_of(const struct ptx_instruction *i)
{
    return ptx_forms[i->form].opcode;
}

/* ---- sizes ---- */

/* The type of a part's elements; wmma.mma of halves does not say A's and B's. */
static enum ptx_word element(const struct ptx_instruction *i, enum ref_matrix_part part)
{
    enum ptx_word a = word(i, PTX_SLOT_TYPE2), b = word(i, PTX_SLOT_TYPE3);
    switch ((int)part) {
    case REF_MATRIX_A:
        return a != PTX_W_NONE ? a : PTX_W_F16;
    case REF_MATRIX_B:
        return b != PTX_W_NONE ? b : PTX_W_F16;
    case REF_MATRIX_C:
        return word(i, PTX_SLOT_TYPE4);
    default:
        return word(i, PTX_SLOT_TYPE);
    }
}

/* wmma.load and wmma.store say which matrix they move. */
static enum ref_matrix_part moved(const struct ptx_instruction *i, enum ref_matrix_part part)
{
    switch ((int)word(i, PTX_SLOT_PART)) {
    case PTX_W_A:
        return REF_MATRIX_A;
    case PTX_W_B:
        return REF_MATRIX_B;
    case PTX_W_C:
        return REF_MATRIX_C;
    default:
        return part;
    }
}

static uint32_t bits_of(enum ptx_word type)
{
    return ptx_type_of(type).bits;
}

/* mma.m8n8k4 of halves: four products. */
static bool is_four(const struct ptx_instruction *i)
{
    return opcode_of(i) == PTX_OP_MMA && word(i, PTX_SLOT_SHAPE) == PTX_W_M8N8K4 &&
           word(i, PTX_SLOT_TYPE2) == PTX_W_F16;
}

struct ref_matrix_sizes ref_matrix_sizes(const struct ptx_instruction *i, enum ref_matrix_part part)
{
    bool loads = word(i, PTX_SLOT_PART) != PTX_W_NONE;
    enum ptx_word type = loads ? word(i, PTX_SLOT_TYPE) : element(i, part);
    enum ref_matrix_part which = moved(i, part);
    unsigned m = 0, n = 0, k = 0;
    sscanf(ptx_words[word(i, PTX_SLOT_SHAPE)], "m%un%uk%u", &m, &n, &k);
    k /= word(i, PTX_SLOT_TYPE2) == PTX_W_B1 ? 32 : 1; /* words */
    if (loads && bits_of(type) < 8) { /* wmma.load: words of eight elements, or of 32 */
        k /= 8;
        type = PTX_W_B32;
    } else if (loads && type == PTX_W_B1) {
        k /= 32;
        type = PTX_W_B32;
    }
    if (is_four(i)) {
        m *= 4; /* one below the other; of B, one beside the other */
        n *= which == REF_MATRIX_B ? 4 : 1;
    }
    struct ref_matrix_sizes s = {.part = part,
                                 .rows = which == REF_MATRIX_B ? k : m,
                                 .columns = which == REF_MATRIX_A ? k : n,
                                 .bits = bits_of(type)};
    s.each = s.bits < 32 ? 32 / s.bits : 1;
    s.registers = s.rows * s.columns / 32 / s.each;
    /* Table of 9.7.14.4.1: of .f16 "a vector expression of eight .f16x2 registers", for all shapes. */
    if (opcode_of(i) == PTX_OP_WMMA && type == PTX_W_F16 &&
        (which == REF_MATRIX_A || which == REF_MATRIX_B))
        s.registers = 8;
    return s;
}

/* ---- where ---- */

struct ref_matrix_at ref_matrix_half(uint32_t lane, uint32_t k, bool transposed)
{
    struct ref_matrix_at at = {lane / 4, lane % 4 * 2 + k};
    return transposed ? (struct ref_matrix_at){at.column, at.row} : at;
}

static struct ref_matrix_at at_of_a(enum ptx_word shape, uint32_t bits, uint32_t lane, uint32_t i)
{
    uint32_t group = lane / 4, in_group = lane % 4;
    switch ((int)shape) {
    case PTX_W_M8N8K4:
    case PTX_W_M8N8K128: /* of bits: whole words of 32 */
        return (struct ref_matrix_at){group, in_group};
    case PTX_W_M8N8K16:
        return (struct ref_matrix_at){group, in_group * 4 + (i & 3)};
    case PTX_W_M8N8K32:
        return (struct ref_matrix_at){group, in_group * 8 + (i & 7)};
    case PTX_W_M16N8K4:
    case PTX_W_M16N8K128:
        return (struct ref_matrix_at){i == 0 ? group : group + 8, in_group};
    case PTX_W_M16N8K256:
    case PTX_W_M16N8K8:
        if (bits == 16)
            return (struct ref_matrix_at){i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
        return (struct ref_matrix_at){i == 0 || i == 2 ? group : group + 8,
                                      i < 2 ? in_group : in_group + 4};
    case PTX_W_M16N8K16:
        if (bits == 16)
            return (struct ref_matrix_at){i < 2 || (4 <= i && i < 6) ? group : group + 8,
                                          in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
        if (bits == 8)
            return (struct ref_matrix_at){i < 4 ? group : group + 8, in_group * 4 + (i & 3)};
        return (struct ref_matrix_at){i % 2 == 0 ? group : group + 8,
                                      i % 2 == 0 ? i * 2 + in_group : i * 2 - 2 + in_group};
    case PTX_W_M16N8K32:
        if (bits == 8)
            return (struct ref_matrix_at){i < 4 || (8 <= i && i < 12) ? group : group + 8,
                                          in_group * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
        return (struct ref_matrix_at){i < 8 ? group : group + 8, in_group * 8 + (i & 7)};
    default:
        return (struct ref_matrix_at){i < 8 || (16 <= i && i < 24) ? group : group + 8,
                                      in_group * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
    }
}

static struct ref_matrix_at at_of_b(enum ptx_word shape, uint32_t bits, uint32_t lane, uint32_t i)
{
    uint32_t group = lane / 4, in_group = lane % 4;
    switch ((int)shape) {
    case PTX_W_M8N8K4:
    case PTX_W_M16N8K4:
    case PTX_W_M8N8K128:
    case PTX_W_M16N8K128:
        return (struct ref_matrix_at){in_group, group};
    case PTX_W_M8N8K16:
        return (struct ref_matrix_at){in_group * 4 + (i & 3), group};
    case PTX_W_M8N8K32:
        return (struct ref_matrix_at){in_group * 8 + (i & 7), group};
    case PTX_W_M16N8K256:
    case PTX_W_M16N8K8:
        if (bits == 16)
            return (struct ref_matrix_at){in_group * 2 + i, group};
        return (struct ref_matrix_at){i == 0 ? in_group : in_group + 4, group};
    case PTX_W_M16N8K16:
        if (bits == 16)
            return (struct ref_matrix_at){in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
        if (bits == 8)
            return (struct ref_matrix_at){in_group * 4 + (i & 3), group};
        return (struct ref_matrix_at){in_group + i * 4, group};
    case PTX_W_M16N8K32:
        if (bits == 8)
            return (struct ref_matrix_at){in_group * 4 + (i & 3) + (i >= 4 ? 16 : 0), group};
        return (struct ref_matrix_at){in_group * 8 + (i & 7), group};
    default:
        return (struct ref_matrix_at){in_group * 8 + (i & 7) + (i >= 8 ? 32 : 0), group};
    }
}

static struct ref_matrix_at at_of_c(uint32_t lane, uint32_t i)
{
    return (struct ref_matrix_at){i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)};
}

/* 9.7.14.5.1, "MMA computation" 1 to 4: threads 0-3 and 16-19, 4-7 and 20-23, 8-11 and 24-27, 12-15 and 28-31. */
static struct ref_matrix_at at_of_four(const struct ptx_instruction *instruction,
                                       const struct ref_matrix_sizes *s, uint32_t lane, uint32_t i)
{
    const bool low = lane < 16;
    const uint32_t computation = (low ? lane : lane - 16) / 4;
    struct ref_matrix_at at;
    if (s->part == REF_MATRIX_A) {
        at = word(instruction, PTX_SLOT_LAYOUT) == PTX_W_ROW
                 ? (struct ref_matrix_at){low ? lane % 4 : lane % 4 + 4, i}
                 : (struct ref_matrix_at){low ? i % 4 : i % 4 + 4, lane % 4};
    } else if (s->part == REF_MATRIX_B) {
        at = word(instruction, PTX_SLOT_LAYOUT2) == PTX_W_ROW
                 ? (struct ref_matrix_at){lane % 4, low ? i : i + 4}
                 : (struct ref_matrix_at){i, low ? lane % 4 : lane % 4 + 4};
        at.column += 8 * computation;
        return at;
    } else if (s->bits == 16) {
        at = (struct ref_matrix_at){low ? lane % 4 : lane % 4 + 4, i};
    } else {
        const uint32_t x = (lane & 1) + (i & 2);
        at = (struct ref_matrix_at){low ? x : x + 4, (i & 4) + (lane & 2) + (i & 1)};
    }
    at.row += 8 * computation;
    return at;
}

/* wmma of 4 bits: lane l has word l of A and of B, as a matrix of words counted row after row. */
static struct ref_matrix_at at_of_nibble(const struct ref_matrix_sizes *s, uint32_t lane,
                                         uint32_t i)
{
    return s->part == REF_MATRIX_A ? (struct ref_matrix_at){lane / 4, lane % 4 * 8 + i}
                                   : (struct ref_matrix_at){lane / 8 * 8 + i, lane % 8};
}

struct ref_matrix_at ref_matrix_at(const struct ptx_instruction *instruction,
                                   const struct ref_matrix_sizes *s, uint32_t lane, uint32_t i)
{
    enum ptx_word shape = word(instruction, PTX_SLOT_SHAPE);
    uint32_t number = (lane + 32 * i) % (s->rows * s->columns);
    if (is_four(instruction))
        return at_of_four(instruction, s, lane, i);
    if (opcode_of(instruction) == PTX_OP_WMMA && s->bits == 4)
        return at_of_nibble(s, lane, i);
    if (opcode_of(instruction) == PTX_OP_WMMA)
        return (struct ref_matrix_at){number / s->columns, number % s->columns};
    return s->part == REF_MATRIX_A   ? at_of_a(shape, s->bits, lane, i)
           : s->part == REF_MATRIX_B ? at_of_b(shape, s->bits, lane, i)
                                     : at_of_c(lane, i);
}

/* ---- products ---- */

void ref_product_begin(struct ref_product *x, const struct ptx_instruction *instruction)
{
    x->instruction = instruction;
    for (int part = REF_MATRIX_A; part < REF_MATRIX_PARTS; part++)
        x->sizes[part] = ref_matrix_sizes(instruction, (enum ref_matrix_part)part);
}

/* Element e of a register. */
static uint64_t element_bits(const struct ref_matrix_sizes *s, uint64_t value, uint32_t e)
{
    return value >> e * s->bits & ref_ones(s->bits);
}

void ref_product_give(struct ref_product *x, enum ref_matrix_part part, uint32_t lane, uint32_t r,
                      uint64_t value)
{
    const struct ref_matrix_sizes *s = &x->sizes[part];
    for (uint32_t e = 0; e < s->each; e++) {
        struct ref_matrix_at at = ref_matrix_at(x->instruction, s, lane, r * s->each + e);
        x->matrix[part][at.row * s->columns + at.column] = element_bits(s, value, e);
    }
}

static uint64_t find(const struct ref_product *x, enum ref_matrix_part part, uint32_t row,
                     uint32_t column)
{
    return x->matrix[part][row * x->sizes[part].columns + column];
}

static int64_t whole(enum ptx_word type, uint64_t bits)
{
    struct ptx_type t = ptx_type_of(type);
    int64_t value = (int64_t)bits;
    return t.is_signed && value >= (int64_t)1 << (t.bits - 1) ? value - ((int64_t)1 << t.bits)
                                                              : value;
}

static long double number(enum ptx_word type, uint64_t bits)
{
    if (type == PTX_W_TF32)
        return ref_float_value(bits - bits % 0x2000, PTX_W_F32);
    if (type == PTX_W_E4M3 || type == PTX_W_E5M2)
        return ref_eight_value((uint32_t)bits, type == PTX_W_E4M3);
    return ref_float_value(bits, type);
}

/* What is added up: the sum, the sum of sizes, and the least power of two that all summands are multiples of. */
struct sum {
    long double value, size; /* infinite summands have no size */
    int unit;
};

static void add(struct sum *sum, long double x)
{
    int exponent;
    long double digits = frexpl(fabsl(x), &exponent);
    sum->value += x;
    if (!isfinite(x) || x == 0)
        return;
    sum->size += fabsl(x);
    while (digits != floorl(digits)) {
        digits *= 2;
        exponent--;
    }
    while (fmodl(digits, 2) == 0) {
        digits /= 2;
        exponent++;
    }
    sum->unit = exponent < sum->unit ? exponent : sum->unit;
}

/* Whether a sum may be this number of the type: itself where every partial sum is one of the type's numbers, in
 * whatever order; else as far from it as one rounding of the size of all summands for each of them. */
static bool may_be(const struct sum *sum, uint32_t count, enum ptx_word type, uint64_t got)
{
    struct ref_shape f = ref_shape_of(type);
    long double x = ref_float_value(got, type);
    if (isnan(sum->value))
        return isnan(x);
    if (sum->size > ldexpl(2 - ldexpl(1, 1 - f.precision), f.exponent))
        return true; /* beyond the greatest number a partial sum may be infinite */
    if (isinf(sum->value))
        return x == sum->value;
    const int smallest = 2 - f.exponent - f.precision;
    const long double least = ldexpl(1, smallest);
    if (sum->unit >= smallest && sum->size <= ldexpl(1, sum->unit + f.precision))
        return x == sum->value;
    return fabsl(x - sum->value) <= (count + 1) * (ldexpl(sum->size, 1 - f.precision) + least);
}

/* Of .f64 the order is told, and each step is a fused multiply-add: there is one result. */
static bool double_is(const struct ref_product *x, struct ref_matrix_at at, uint64_t got,
                      uint64_t *about)
{
    double sum = (double)ref_float_value(find(x, REF_MATRIX_C, at.row, at.column), PTX_W_F64);
    for (uint32_t k = 0; k < x->sizes[REF_MATRIX_A].columns; k++)
        sum = fma((double)ref_float_value(find(x, REF_MATRIX_A, at.row, k), PTX_W_F64),
                  (double)ref_float_value(find(x, REF_MATRIX_B, k, at.column), PTX_W_F64), sum);
    *about = ref_float_bits((long double)sum, PTX_W_F64, FE_TONEAREST);
    return got == *about;
}

static bool number_may(const struct ref_product *x, struct ref_matrix_at at, uint64_t got,
                       uint64_t *about)
{
    const struct ptx_instruction *i = x->instruction;
    enum ptx_word a = element(i, REF_MATRIX_A), b = element(i, REF_MATRIX_B);
    enum ptx_word type = element(i, REF_MATRIX_D);
    uint32_t count = x->sizes[REF_MATRIX_A].columns;
    struct sum sum = {.unit = INT32_MAX / 2};
    if (type == PTX_W_F64)
        return double_is(x, at, got, about);
    add(&sum, number(element(i, REF_MATRIX_C), find(x, REF_MATRIX_C, at.row, at.column)));
    for (uint32_t k = 0; k < count; k++)
        add(&sum, number(a, find(x, REF_MATRIX_A, at.row, k)) *
                      number(b, find(x, REF_MATRIX_B, k,
                                     is_four(i) ? at.row / 8 * 8 + at.column : at.column)));
    *about = ref_float_bits(type == PTX_W_F32 ? (long double)(float)sum.value : sum.value, type,
                            FE_TONEAREST);
    return may_be(&sum, count, type, got);
}

/* Bit by bit: how often both are set, or one is. */
static uint64_t bits_are(const struct ref_product *x, struct ref_matrix_at at)
{
    const bool both = word(x->instruction, PTX_SLOT_OP) == PTX_W_AND;
    uint64_t sum = find(x, REF_MATRIX_C, at.row, at.column);
    for (uint32_t k = 0; k < x->sizes[REF_MATRIX_A].columns; k++)
        for (uint32_t bit = 0; bit < 32; bit++) {
            bool a = find(x, REF_MATRIX_A, at.row, k) >> bit & 1;
            bool b = find(x, REF_MATRIX_B, k, at.column) >> bit & 1;
            sum += both ? a && b : a != b;
        }
    return sum & ref_ones(32);
}

static uint64_t integer_is(const struct ref_product *x, struct ref_matrix_at at)
{
    const struct ptx_instruction *i = x->instruction;
    enum ptx_word a = element(i, REF_MATRIX_A), b = element(i, REF_MATRIX_B);
    uint32_t count = x->sizes[REF_MATRIX_A].columns;
    int64_t sum = whole(PTX_W_S32, find(x, REF_MATRIX_C, at.row, at.column));
    for (uint32_t k = 0; k < count; k++)
        sum += whole(a, find(x, REF_MATRIX_A, at.row, k)) *
               whole(b, find(x, REF_MATRIX_B, k, at.column));
    if (word(i, PTX_SLOT_SAT) == PTX_W_SATFINITE && sum > INT32_MAX)
        sum = INT32_MAX;
    if (word(i, PTX_SLOT_SAT) == PTX_W_SATFINITE && sum < INT32_MIN)
        sum = INT32_MIN;
    return (uint64_t)sum & ref_ones(32);
}

bool ref_product_may(const struct ref_product *x, uint32_t lane, uint32_t r, uint64_t got,
                     uint64_t *about)
{
    const struct ref_matrix_sizes *s = &x->sizes[REF_MATRIX_D];
    bool may = true;
    for (uint32_t e = 0; e < s->each && may; e++) {
        struct ref_matrix_at at = ref_matrix_at(x->instruction, s, lane, r * s->each + e);
        uint64_t one = element_bits(s, got, e);
        if (element(x->instruction, REF_MATRIX_D) != PTX_W_S32) {
            may = number_may(x, at, one, about);
            continue;
        }
        *about =
            element(x->instruction, REF_MATRIX_A) == PTX_W_B1 ? bits_are(x, at) : integer_is(x, at);
        may = *about == one;
    }
    return may;
}

/* ---- cvt to tf32 ---- */

/* A float of 11 digits: rounded to the nearest, ties away from zero or to even, or towards zero. */
void ref_tf32(struct ref_computing *r)
{
    long double x = ref_float_value(r->s[0], PTX_W_F32);
    int e = isfinite(x) && x != 0 ? ilogbl(x) : 0;
    e = e < -126 ? -126 : e;
    long double digits = ldexpl(x, 10 - e);
    if (ref_word_of(r, PTX_SLOT_ROUND) == PTX_W_RNA)
        digits = copysignl(floorl(fabsl(digits) + 0.5L), digits);
    else if (isfinite(x))
        digits = ref_whole(digits, ref_fe_rounding(ref_word_of(r, PTX_SLOT_ROUND)));
    r->d[0] = ref_float_bits(ldexpl(digits, e - 10), PTX_W_F32, FE_TONEAREST);
}
