/*
 * ref_texture.c - textures and surfaces as the CUDA C++ Programming Guide ("Texture Fetching") and PTX ISA 9.7.10,
 * 9.7.11 say it, and where they leave it open as an H200 was seen to do it (docs/ptx.md): first which bytes count, then
 * what they come to.
 */
#include "engine/reference_ptx/ref_ptx_internal.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

enum { STEPS = 256 /* of a weight between two texels */ };

static enum ptx_word word_of(const struct ref_texture_step *x, enum ptx_slot slot)
{
    return (enum ptx_word)x->instruction->words[slot];
}

static enum ptx_opcode opcode_of(const struct ref_texture_step *x)
{
    return ptx_forms[x->instruction->form].opcode;
}

static bool by_whole_numbers(const struct ref_texture_step *x)
{
    return word_of(x, PTX_SLOT_TYPE2) == PTX_W_S32;
}

static bool gives_floats(const struct ptx_texture *t)
{
    return t->unit || ptx_type_of(t->type).kind == PTX_CLASS_FLOAT;
}

/* ---- what is left undefined ---- */

static bool is_defined(const struct ref_texture_step *x)
{
    const struct ptx_texture *t = x->texture;
    const char *geometry = ptx_words[word_of(x, PTX_SLOT_SHAPE)];
    const bool layers = geometry[0] == 'a';
    const uint32_t dimensions = (uint32_t)(geometry[layers] - '0') + layers;
    if (layers != t->layered || dimensions != t->dimensions)
        return false;
    if (opcode_of(x) == PTX_OP_SULD || opcode_of(x) == PTX_OP_SUST)
        return true;
    return (word_of(x, PTX_SLOT_TYPE) == PTX_W_F32) == gives_floats(t) &&
           (!t->is_memory || by_whole_numbers(x));
}

/* ---- one axis: the texels that count and their weights, in 256ths ---- */

struct counted {
    uint32_t count;
    int64_t index[2]; /* -1: the border */
    int second;       /* what of the weight is the second one's */
};

/* Far coordinates are all alike, and even. */
static long double coordinate_of(uint64_t bits)
{
    long double c = ref_float_value(bits & 0xffffffffu, PTX_W_F32);
    return c != c || fabsl(c) < 0x1p-126L ? 0 : fminl(fmaxl(c, -0x1p30L), 0x1p30L);
}

/* Texel i, which may be one beyond an end, or far from it. */
static int64_t inside(const struct ref_texture_step *x, uint32_t axis, int64_t i)
{
    const struct ptx_texture *t = x->texture;
    const int64_t n = t->size[axis];
    if (by_whole_numbers(x) && !t->is_memory && t->dimensions == 1)
        return -1; /* on a GPU there is nothing */
    if (i >= 0 && i < n)
        return i;
    if (by_whole_numbers(x) || t->addressing[axis] == PTX_ADDRESS_BORDER)
        return -1;
    if (t->normalized && t->addressing[axis] == PTX_ADDRESS_WRAP)
        return (i % n + n) % n;
    return i < 0 ? 0 : n - 1;
}

/* A normalized coordinate keeps 21 bits, with long axes more. */
static long double kept(long double c, const struct ptx_texture *t)
{
    long double steps = 0x1p21L, most = 0;
    for (uint32_t a = 0; a < t->dimensions - t->layered; a++)
        most = fmaxl(most, t->size[a]);
    steps *= most > 65536 ? 4 : most > 8192 ? 2 : 1;
    return floorl(c * steps) / steps;
}

static struct counted along(const struct ref_texture_step *x, uint32_t axis, uint64_t bits,
                            bool between)
{
    const struct ptx_texture *t = x->texture;
    const enum ptx_addressing mode = t->addressing[axis];
    const bool repeats = t->normalized && (mode == PTX_ADDRESS_WRAP || mode == PTX_ADDRESS_MIRROR);
    if (by_whole_numbers(x))
        return (struct counted){1, {inside(x, axis, (int32_t)(uint32_t)bits), 0}, 0};
    long double at = coordinate_of(bits);
    bool reflected = false;
    if (t->normalized)
        at = kept(at, t);
    if (repeats) {
        reflected = mode == PTX_ADDRESS_MIRROR && fmodl(floorl(at), 2) != 0;
        at -= floorl(at);
    }
    if (t->normalized)
        at *= t->size[axis];
    struct counted a = {.count = between ? 2 : 1};
    const long double steps = between ? floorl((at - 0.5L) * STEPS + 0.5L) : floorl(at) * STEPS;
    const int64_t i = (int64_t)floorl(steps / STEPS);
    a.second = (int)(steps - (long double)i * STEPS);
    for (uint32_t k = 0; k < a.count; k++) {
        a.index[k] = inside(x, axis, i + k);
        if (reflected)
            a.index[k] = t->size[axis] - 1 - a.index[k];
    }
    if (mode != PTX_ADDRESS_BORDER && !repeats && a.index[0] == a.index[1])
        a.second = 0; /* clamped: one texel */
    return a;
}

/* ---- bytes ---- */

/* One channel of texel (i, j, k), with its weight in the result r. */
static void count_channel(struct ref_texture_step *x, uint32_t r, uint32_t channel, int64_t i,
                          int64_t j, int64_t k, int weight)
{
    const struct ptx_texture *t = x->texture;
    const uint64_t bytes = ptx_type_of(t->type).bits / 8u;
    if (i < 0 || j < 0 || k < 0 || channel >= t->channels) {
        x->nothing[r] = true;
        return;
    }
    const uint64_t row = (uint64_t)j + (uint64_t)k * t->size[1];
    x->reads[x->count++] = (struct ref_texel_read){
        .at = row * t->pitch + ((uint64_t)i * t->channels + channel) * bytes,
        .bytes = (uint32_t)bytes,
        .result = r,
        .slice = x->slice,
        .weight = weight};
}

static void find_axes(const struct ref_texture_step *x, bool between, struct counted axes[3])
{
    const struct ptx_texture *t = x->texture;
    const uint32_t last = t->dimensions - 1;
    for (uint32_t a = 0; a < 3; a++)
        axes[a] = (struct counted){.count = 1};
    for (uint32_t a = 0; a < t->dimensions - t->layered; a++)
        axes[a] = along(x, a, x->coordinate[a], between);
    if (t->layered) {
        const int64_t layer = (uint32_t)x->coordinate[2], most = (int64_t)t->size[last] - 1;
        axes[last].index[0] = layer <= most ? layer : by_whole_numbers(x) ? -1 : most;
    }
    if (between && t->dimensions == 1 && t->addressing[1] == PTX_ADDRESS_BORDER)
        axes[1] = (struct counted){2, {-1, 0}, STEPS / 2}; /* y = 0 of a single row */
}

static int share(int weight, int part)
{
    return (int)floorl((long double)weight * part / STEPS + 0.5L);
}

/* Slices share the whole weight, columns that of their slice, rows that of their column. */
static int weight_of(const struct counted axes[3], const uint32_t at[3])
{
    const int slice = at[2] ? axes[2].second : STEPS - axes[2].second;
    const int second_column = share(slice, axes[0].second);
    const int column = at[0] ? second_column : slice - second_column;
    const int near = share(column, at[0] ? axes[1].second : STEPS - axes[1].second);
    return at[0] == at[1] ? near : column - near;
}

/* A second texel is none where it is 0 steps off; another one counts even if its weight is rounded to 0. */
static bool is_around(const struct counted axes[3], const uint32_t at[3])
{
    for (int a = 0; a < 3; a++)
        if (at[a] == 1 && axes[a].second == 0)
            return false;
    return true;
}

static void fetch(struct ref_texture_step *x)
{
    struct counted axes[3];
    uint32_t at[3];
    x->blends = x->texture->filters && !by_whole_numbers(x);
    find_axes(x, x->blends, axes);
    for (uint32_t r = 0; r < 4; r++) {
        if (!x->wanted[r])
            continue;
        for (at[2] = 0; at[2] < axes[2].count; at[2]++)
            for (at[1] = 0; at[1] < axes[1].count; at[1]++)
                for (at[0] = 0; at[0] < axes[0].count; at[0]++) {
                    x->slice = at[2];
                    if (is_around(axes, at))
                        count_channel(x, r, r, axes[0].index[at[0]], axes[1].index[at[1]],
                                      axes[2].index[at[2]], weight_of(axes, at));
                }
    }
}

/* Counter-clockwise, from the texel at the lower left on. */
static void gather(struct ref_texture_step *x)
{
    const char *const channels = "rgba";
    const uint32_t channel =
        (uint32_t)(strchr(channels, ptx_words[word_of(x, PTX_SLOT_PART)][0]) - channels);
    struct counted axes[3];
    x->blends = x->texture->unit || x->texture->type == PTX_W_F16;
    find_axes(x, true, axes);
    const int64_t *i = axes[0].index, *j = axes[1].index, k = axes[2].index[0];
    count_channel(x, 0, channel, i[0], j[1], k, STEPS);
    count_channel(x, 1, channel, i[1], j[1], k, STEPS);
    count_channel(x, 2, channel, i[1], j[0], k, STEPS);
    count_channel(x, 3, channel, i[0], j[0], k, STEPS);
}

/* suld, sust: `values` of `bytes` each, from byte x of a row on. */
static void surface(struct ref_texture_step *x)
{
    const struct ptx_texture *t = x->texture;
    const uint32_t bytes = ptx_type_of(word_of(x, PTX_SLOT_TYPE)).bits / 8u;
    const int64_t all = (int64_t)bytes * x->values;
    const int64_t room[3] = {(int64_t)t->size[0] * t->channels * (ptx_type_of(t->type).bits / 8),
                             t->size[1], t->size[2]};
    int64_t at[3];
    for (uint32_t a = 0; a < 3; a++) {
        const bool is_layer = t->layered && a == t->dimensions - 1;
        const int64_t last = a == 0 ? room[0] - all : room[a] - 1;
        at[a] = a < t->dimensions ? (int32_t)(uint32_t)x->coordinate[is_layer ? 2 : a] : 0;
        if (at[a] >= 0 && at[a] <= last)
            continue;
        x->outside |= word_of(x, PTX_SLOT_WRAP) == PTX_W_TRAP || last < 0;
        if (x->outside || word_of(x, PTX_SLOT_WRAP) == PTX_W_ZERO)
            return;
        at[a] = at[a] < 0 ? 0 : a == 0 ? last - last % all : last;
    }
    x->undefined = at[0] % all != 0;
    for (uint32_t v = 0; v < x->values && !x->undefined; v++)
        x->reads[x->count++] = (struct ref_texel_read){
            .at = (uint64_t)(at[2] * t->size[1] + at[1]) * t->pitch + (uint64_t)at[0] + v * bytes,
            .bytes = bytes,
            .result = v};
}

void ref_texture_find(struct ref_texture_step *x)
{
    const enum ptx_opcode opcode = opcode_of(x);
    x->count = 0;
    x->undefined = x->outside = x->blends = false;
    x->slice = 0;
    memset(x->nothing, 0, sizeof x->nothing);
    if (opcode == PTX_OP_TXQ || opcode == PTX_OP_SUQ)
        return;
    x->undefined = !is_defined(x);
    if (x->undefined)
        return;
    if (opcode == PTX_OP_TEX)
        fetch(x);
    else if (opcode == PTX_OP_TLD4)
        gather(x);
    else
        surface(x);
}

/* ---- results ---- */

static int64_t signed_of(uint64_t value, uint32_t bits)
{
    const int64_t half = (int64_t)1 << (bits - 1);
    return (int64_t)value >= half ? (int64_t)value - 2 * half : (int64_t)value;
}

/* A channel as a float: of `unit` numbers a part of the greatest. */
static long double float_of(const struct ptx_texture *t, uint64_t value)
{
    const struct ptx_type type = ptx_type_of(t->type);
    if (type.kind == PTX_CLASS_FLOAT)
        return ref_float_value(value, t->type);
    const uint64_t most = ((uint64_t)1 << (type.bits - type.is_signed)) - 1;
    long double part = type.is_signed ? (long double)signed_of(value, type.bits) / most
                                      : (long double)value / most;
    part = part < -1 ? -1 : part;
    return ref_float_value(ref_float_bits(part, PTX_W_F32, FE_TONEAREST), PTX_W_F32);
}

static uint64_t query(const struct ref_texture_step *x)
{
    static const char *const names[] = {"width", "height", "depth"};
    uint32_t axis = 0;
    while (strcmp(names[axis], ptx_words[word_of(x, PTX_SLOT_MODE)]) != 0)
        axis++;
    return axis < x->texture->dimensions - x->texture->layered ? x->texture->size[axis] : 0;
}

/* ---- sums ---- */

/* To the nearest number of the format, halves away from zero. */
static long double rounded(long double value, int precision, int least)
{
    int exponent;
    if (value == 0 || value - value != 0)
        return value;
    frexpl(value, &exponent);
    const int last = (exponent - 1 < least ? least : exponent - 1) - precision + 1;
    return copysignl(ldexpl(floorl(ldexpl(fabsl(value), -last) + 0.5L), last), value);
}

/* Whether read i is one of the slice's for result r; its number. */
static bool is_of(const struct ref_texture_step *x, uint32_t i, uint32_t r, uint32_t slice,
                  long double *v)
{
    *v = ref_float_value(x->reads[i].value, x->texture->type);
    if (x->texture->type == PTX_W_F32 && fabsl(*v) < 0x1p-126L)
        *v = copysignl(0, *v);
    return x->reads[i].result == r && x->reads[i].slice == slice;
}

/* The texels of a slice: none counts below the fourth bit behind the last place of the greatest. */
static long double slice_sum(const struct ref_texture_step *x, uint32_t r, uint32_t slice,
                             int precision)
{
    long double sum = -0.0L, greatest = 0, v;
    int exponent;
    for (uint32_t i = 0; i < x->count; i++)
        if (is_of(x, i, r, slice, &v) && x->reads[i].weight > 0 && v - v == 0)
            greatest = fmaxl(greatest, fabsl(v));
    frexpl(greatest, &exponent);
    const int last = exponent - precision - 4;
    for (uint32_t i = 0; i < x->count; i++)
        if (is_of(x, i, r, slice, &v))
            sum += v - v == 0 ? ldexpl(truncl(ldexpl(v, -last)) * x->reads[i].weight / STEPS, last)
                              : v;
    return sum;
}

static bool is_sum(const struct ref_texture_step *x, uint32_t r, uint64_t got, uint64_t *about)
{
    const bool half = x->texture->type == PTX_W_F16;
    const long double a = slice_sum(x, r, 0, half ? 11 : 24),
                      b = slice_sum(x, r, 1, half ? 11 : 24);
    const long double both = x->nothing[r] ? a + b + 0.0L : a + b;
    const long double lost = fabsl(a) < fabsl(b) ? (b - both) + a : (a - both) + b;
    long double sum = rounded(both, half ? 11 : 24, half ? -14 : -126);
    if (!half && fabsl(sum) < 0x1p-126L)
        sum = copysignl(0, sum);
    *about = ref_float_bits(sum, PTX_W_F32, FE_TONEAREST);
    if (sum != sum)
        *about = half ? 0x7fffe000 : 0x7fffffff;
    const bool exact = sum - sum != 0 || lost == 0; /* else a tie may be none */
    return got == *about || (!exact && (got + 1 == *about || got == *about + 1));
}

/* Numbers of 16 bits are added; what s8 has is stretched to them afterwards. */
static uint64_t unit_sum(const struct ref_texture_step *x, uint32_t r)
{
    const struct ptx_type type = ptx_type_of(x->texture->type);
    const long double one = type.is_signed ? 32767 : 65535;
    long double sum = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        long double v = type.is_signed ? signed_of(x->reads[i].value, type.bits)
                                       : (long double)x->reads[i].value;
        if (x->reads[i].result != r)
            continue;
        v = type.bits == 8 ? v * (type.is_signed ? 256 : 257) : fmaxl(v, -one);
        sum += v * x->reads[i].weight / STEPS;
    }
    if (type.is_signed && type.bits == 8)
        sum += floorl(sum / 16) / 8 + floorl(sum / 4096) / 8;
    sum = floorl(sum + 0.5L);
    return ref_float_bits((sum < -one ? -one : sum) / one, PTX_W_F32, FE_TONEAREST);
}

static uint64_t alone(const struct ptx_texture *t, uint64_t value)
{
    const struct ptx_type type = ptx_type_of(t->type);
    const bool carries = t->type == PTX_W_F16 && (value & 0x7fff) > 0x7c00; /* a NaN */
    if (t->type == PTX_W_F32)
        return value;
    if (carries)
        return (value & 0x8000) << 16 | 0x7f800000 | (value & 0x3ff) << 13;
    if (gives_floats(t))
        return ref_float_bits(float_of(t, value), PTX_W_F32, FE_TONEAREST);
    return type.is_signed ? (uint32_t)signed_of(value, type.bits) : value;
}

bool ref_texture_may(const struct ref_texture_step *x, uint32_t r, uint64_t got, uint64_t *about)
{
    const enum ptx_opcode opcode = opcode_of(x);
    *about = opcode == PTX_OP_TXQ || opcode == PTX_OP_SUQ ? query(x) : 0;
    if (x->blends && !x->texture->unit)
        return is_sum(x, r, got, about);
    if (x->blends)
        *about = unit_sum(x, r);
    for (uint32_t i = 0; i < x->count && !x->blends; i++)
        if (x->reads[i].result == r)
            *about = opcode == PTX_OP_TEX || opcode == PTX_OP_TLD4
                         ? alone(x->texture, x->reads[i].value)
                         : x->reads[i].value;
    return got == *about;
}
