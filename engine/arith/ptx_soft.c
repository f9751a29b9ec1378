#include "engine/arith/ptx_soft.h"

const struct soft_format soft_formats[] = {
    [SOFT_F16] = {16, 11, 15},
    [SOFT_BF16] = {16, 8, 127},
    [SOFT_F32] = {32, 24, 127},
    [SOFT_F64] = {64, 53, 1023},
};

enum soft_format_name soft_format_of(enum ptx_word word)
{
    return word == PTX_W_F16    ? SOFT_F16
           : word == PTX_W_BF16 ? SOFT_BF16
           : word == PTX_W_F32  ? SOFT_F32
                                : SOFT_F64;
}

enum soft_rounding soft_rounding_of(enum ptx_word word)
{
    switch ((int)word) {
    case PTX_W_RZ:
    case PTX_W_RZI:
        return SOFT_ZERO;
    case PTX_W_RM:
    case PTX_W_RMI:
        return SOFT_DOWN;
    case PTX_W_RP:
    case PTX_W_RPI:
        return SOFT_UP;
    default:
        return SOFT_NEAREST;
    }
}

/* ---- digits ---- */

/* Place of the highest bit; digits are not 0. */
static int32_t top_of(uint128 digits)
{
    uint64_t high = (uint64_t)(digits >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)digits);
}

int32_t soft_top(struct soft a)
{
    return a.exponent + top_of(a.digits);
}

/* Moves the highest bit up to `top`. */
static void normalise(struct soft *a, int32_t top)
{
    int32_t shift = top - top_of(a->digits);
    a->digits <<= shift;
    a->exponent -= shift;
}

/* What is shifted out sets the lowest digit. */
static uint128 shift_right_odd(uint128 digits, int32_t shift)
{
    if (shift == 0)
        return digits;
    if (shift > 127)
        return digits != 0;
    uint128 lost = digits << (128 - shift);
    return digits >> shift | (lost != 0);
}

static uint128 shift_right_rounded(uint128 digits, int32_t shift, bool is_negative,
                                   enum soft_rounding rounding)
{
    uint128 kept = shift > 127 ? 0 : digits >> shift;
    uint128 lost = shift > 127 ? (uint128)(digits != 0) : shift ? digits << (128 - shift) : 0;
    uint128 half = (uint128)1 << 127;
    bool up = false;
    switch (rounding) {
    case SOFT_NEAREST:
        up = lost > half || (lost == half && (kept & 1));
        break;
    case SOFT_ZERO:
        break;
    case SOFT_DOWN:
        up = is_negative && lost;
        break;
    case SOFT_UP:
        up = !is_negative && lost;
        break;
    }
    return kept + up;
}

/* ---- bits ---- */

struct soft soft_unpack(uint64_t bits, enum soft_format_name name)
{
    const struct soft_format *f = &soft_formats[name];
    int32_t shift = f->precision - 1;
    uint64_t fraction = bits & (((uint64_t)1 << shift) - 1);
    int32_t field = (int32_t)(bits >> shift & (uint64_t)(2 * f->exponent + 1));
    struct soft a = {.is_negative = bits >> (f->bits - 1) & 1};
    if (field == 2 * f->exponent + 1) {
        a.kind = fraction ? SOFT_NAN : SOFT_INFINITE;
        return a;
    }
    a.digits = field ? fraction | (uint64_t)1 << shift : fraction;
    a.exponent = (field ? field : 1) - f->exponent - shift;
    return a;
}

static uint64_t overflow(uint64_t infinity, bool is_negative, enum soft_rounding rounding)
{
    bool is_infinite = rounding == SOFT_NEAREST || rounding == (is_negative ? SOFT_DOWN : SOFT_UP);
    return is_infinite ? infinity : infinity - 1;
}

static uint64_t infinity_of(const struct soft_format *f)
{
    return (uint64_t)(2 * f->exponent + 1) << (f->precision - 1);
}

/* The exponent's field grows by one with the leading digit, which subnormal numbers do not have, and with the
 * one that rounding up may carry into. */
static uint64_t pack_digits(struct soft a, const struct soft_format *f, enum soft_rounding rounding)
{
    int32_t top = soft_top(a), least = 1 - f->exponent;
    int32_t scale = top < least ? least : top; /* exponent of the leading digit */
    int32_t shift = scale - (f->precision - 1) - a.exponent;
    uint128 digits = shift < 0 ? a.digits << -shift
                               : shift_right_rounded(a.digits, shift, a.is_negative, rounding);
    uint64_t bits = ((uint64_t)(scale - least) << (f->precision - 1)) + (uint64_t)digits;
    return bits < infinity_of(f) ? bits : overflow(infinity_of(f), a.is_negative, rounding);
}

uint64_t soft_pack(struct soft a, enum soft_format_name name, enum soft_rounding rounding)
{
    const struct soft_format *f = &soft_formats[name];
    uint64_t sign = (uint64_t)1 << (f->bits - 1), bits = 0;
    if (a.kind == SOFT_NAN)
        return sign - 1;
    if (a.kind == SOFT_INFINITE)
        bits = infinity_of(f);
    else if (a.digits)
        bits = pack_digits(a, f, rounding);
    return a.is_negative ? sign | bits : bits;
}

/* ---- arithmetic ---- */

static struct soft not_a_number(void)
{
    return (struct soft){.kind = SOFT_NAN};
}

static struct soft infinity(bool is_negative)
{
    return (struct soft){.kind = SOFT_INFINITE, .is_negative = is_negative};
}

static struct soft zero(bool is_negative)
{
    return (struct soft){.is_negative = is_negative};
}

static bool is_zero(struct soft a)
{
    return a.kind == SOFT_FINITE && a.digits == 0;
}

struct soft soft_negate(struct soft a)
{
    a.is_negative = !a.is_negative;
    return a;
}

/* Neither is 0. Products have 106 digits at most: what is lost of the smaller number is lost far below the
 * places that count. */
static struct soft add_finite(struct soft a, struct soft b, enum soft_rounding rounding)
{
    normalise(&a, 124);
    normalise(&b, 124);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.digits < b.digits)) {
        struct soft other = a;
        a = b;
        b = other;
    }
    uint128 smaller = shift_right_odd(b.digits, a.exponent - b.exponent);
    if (a.is_negative == b.is_negative)
        a.digits += smaller;
    else if (a.digits == smaller)
        return zero(rounding == SOFT_DOWN);
    else
        a.digits -= smaller;
    return a;
}

struct soft soft_add(struct soft a, struct soft b, enum soft_rounding rounding)
{
    if (a.kind == SOFT_NAN || b.kind == SOFT_NAN)
        return not_a_number();
    if (a.kind == SOFT_INFINITE && b.kind == SOFT_INFINITE)
        return a.is_negative == b.is_negative ? a : not_a_number();
    if (a.kind == SOFT_INFINITE || b.kind == SOFT_INFINITE)
        return a.kind == SOFT_INFINITE ? a : b;
    if (is_zero(a) && is_zero(b))
        return a.is_negative == b.is_negative ? a : zero(rounding == SOFT_DOWN);
    if (is_zero(a) || is_zero(b))
        return is_zero(a) ? b : a;
    return add_finite(a, b, rounding);
}

struct soft soft_multiply(struct soft a, struct soft b)
{
    bool is_negative = a.is_negative != b.is_negative;
    if (a.kind == SOFT_NAN || b.kind == SOFT_NAN)
        return not_a_number();
    if (a.kind == SOFT_INFINITE || b.kind == SOFT_INFINITE)
        return is_zero(a) || is_zero(b) ? not_a_number() : infinity(is_negative);
    return (struct soft){.is_negative = is_negative,
                         .exponent = a.exponent + b.exponent,
                         .digits = a.digits * b.digits};
}

struct soft soft_divide(struct soft a, struct soft b)
{
    bool is_negative = a.is_negative != b.is_negative;
    if (a.kind == SOFT_NAN || b.kind == SOFT_NAN || (is_zero(a) && is_zero(b)) ||
        (a.kind == SOFT_INFINITE && b.kind == SOFT_INFINITE))
        return not_a_number();
    if (a.kind == SOFT_INFINITE || is_zero(b))
        return infinity(is_negative);
    if (is_zero(a) || b.kind == SOFT_INFINITE)
        return zero(is_negative);
    normalise(&a, 124);
    normalise(&b, 60);
    uint128 quotient = a.digits / b.digits, rest = a.digits % b.digits;
    return (struct soft){.is_negative = is_negative,
                         .exponent = a.exponent - b.exponent - 1,
                         .digits = quotient << 1 | (rest != 0)};
}

/* The greatest number whose square is not above n < 2^126, a digit at a time. */
static uint128 whole_root(uint128 n)
{
    uint128 root = 0;
    for (int place = 62; place >= 0; place--) {
        uint128 next = root | (uint128)1 << place;
        if (next * next <= n)
            root = next;
    }
    return root;
}

struct soft soft_root(struct soft a)
{
    if (a.kind == SOFT_NAN || is_zero(a))
        return a;
    if (a.is_negative)
        return not_a_number();
    if (a.kind == SOFT_INFINITE)
        return a;
    normalise(&a, 124);
    if (a.exponent % 2 != 0)
        normalise(&a, 125);
    uint128 root = whole_root(a.digits);
    a.exponent = a.exponent / 2 - 1;
    a.digits = root << 1 | (root * root != a.digits);
    return a;
}

/* ---- whole numbers ---- */

struct soft soft_round(struct soft a, enum soft_rounding rounding)
{
    if (a.kind != SOFT_FINITE || a.exponent >= 0)
        return a;
    a.digits = shift_right_rounded(a.digits, -a.exponent, a.is_negative, rounding);
    a.exponent = 0;
    return a;
}

struct soft soft_of_integer(uint64_t value, bool is_signed)
{
    bool is_negative = is_signed && value >> 63;
    return (struct soft){.is_negative = is_negative, .digits = is_negative ? 0 - value : value};
}

uint64_t soft_to_integer(struct soft a, uint32_t bits, bool is_signed, enum soft_rounding rounding,
                         uint64_t nan_value)
{
    uint64_t ones = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t most = is_signed ? ones >> 1 : ones, least = is_signed ? most + 1 : 0;
    uint64_t bound = a.is_negative ? least : most; /* both are sizes */
    if (a.kind == SOFT_NAN)
        return nan_value;
    a = soft_round(a, rounding);
    bool is_large = a.kind == SOFT_INFINITE || (a.digits && soft_top(a) > 64);
    uint64_t size = bound;
    if (!is_large && a.digits << a.exponent <= bound)
        size = (uint64_t)(a.digits << a.exponent);
    return (a.is_negative ? 0 - size : size) & ones;
}
