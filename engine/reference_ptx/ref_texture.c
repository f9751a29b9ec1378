/*
 * ref_texture.c - textures and surfaces as the CUDA C++ Programming Guide ("Texture Fetching") and PTX ISA 9.7.10,
 * 9.7.11 say it: first which bytes count, then what they come to.
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
    int weight[2];
};

/* Further away all places are alike. */
static long double near(long double c)
{
    return fminl(fmaxl(c, -0x1p60L), 0x1p60L);
}

static long double coordinate_of(uint64_t bits)
{
    long double c = ref_float_value(bits & 0xffffffffu, PTX_W_F32);
    return c != c ? 0 : near(c);
}

/* x as a number of texels, inside the texture if it wraps or is mirrored. */
static long double texels(const struct ptx_texture *t, uint32_t axis, long double c)
{
    if (!t->normalized)
        return c;
    if (t->addressing[axis] == PTX_ADDRESS_WRAP)
        c = fminl(c - floorl(c), nextafterl(1, 0)); /* below 1, however little is missing */
    if (t->addressing[axis] == PTX_ADDRESS_MIRROR) {
        long double pair = c / 2 - floorl(c / 2); /* two copies: one, and its reflection */
        c = pair < 0.5L ? 2 * pair : 2 - 2 * pair;
    }
    return near(c * t->size[axis]);
}

/* Texel i, which may be one beyond an end, or far from it. */
static int64_t inside(const struct ref_texture_step *x, uint32_t axis, int64_t i)
{
    const struct ptx_texture *t = x->texture;
    const int64_t n = t->size[axis];
    const bool repeats = t->normalized && !by_whole_numbers(x);
    if (i >= 0 && i < n)
        return i;
    if (t->is_memory || t->addressing[axis] == PTX_ADDRESS_BORDER)
        return -1;
    if (repeats && t->addressing[axis] == PTX_ADDRESS_WRAP)
        return (i % n + n) % n;
    return i < 0 ? 0 : n - 1;
}

static struct counted along(const struct ref_texture_step *x, uint32_t axis, uint64_t bits,
                            bool between)
{
    struct counted a = {.count = 1, .weight = {STEPS}};
    if (by_whole_numbers(x)) {
        a.index[0] = inside(x, axis, (int32_t)(uint32_t)bits);
        return a;
    }
    long double at = texels(x->texture, axis, coordinate_of(bits));
    if (!between) {
        a.index[0] = inside(x, axis, (int64_t)floorl(at));
        return a;
    }
    at -= 0.5L;
    const int64_t i = (int64_t)floorl(at);
    const int second = (int)floorl((at - (long double)i) * STEPS + 0.5L);
    return (struct counted){.count = 2,
                            .index = {inside(x, axis, i), inside(x, axis, i + 1)},
                            .weight = {STEPS - second, second}};
}

/* ---- bytes ---- */

/* One channel of texel (i, j, k), with its weight in the result r. */
static void count_channel(struct ref_texture_step *x, uint32_t r, uint32_t channel, int64_t i,
                          int64_t j, int64_t k, long double weight)
{
    const struct ptx_texture *t = x->texture;
    const uint64_t bytes = ptx_type_of(t->type).bits / 8u;
    if (i < 0 || j < 0 || k < 0 || channel >= t->channels)
        return;
    const uint64_t row = (uint64_t)j + (uint64_t)k * t->size[1];
    x->reads[x->count++] = (struct ref_texel_read){
        .at = row * t->pitch + ((uint64_t)i * t->channels + channel) * bytes,
        .bytes = (uint32_t)bytes,
        .result = r,
        .weight = weight};
}

static void find_axes(const struct ref_texture_step *x, bool between, struct counted axes[3])
{
    const struct ptx_texture *t = x->texture;
    const uint32_t last = t->dimensions - 1;
    for (uint32_t a = 0; a < 3; a++)
        axes[a] = (struct counted){.count = 1, .weight = {STEPS}};
    for (uint32_t a = 0; a < t->dimensions - t->layered; a++)
        axes[a] = along(x, a, x->coordinate[a], between);
    if (t->layered) {
        const uint32_t layer = (uint32_t)x->coordinate[2], most = (uint32_t)t->size[last] - 1;
        axes[last].index[0] = layer > most ? most : layer;
    }
}

static void fetch(struct ref_texture_step *x)
{
    struct counted axes[3];
    x->blends = x->texture->filters && !by_whole_numbers(x);
    find_axes(x, x->blends, axes);
    for (uint32_t r = 0; r < 4; r++) {
        if (!x->wanted[r])
            continue;
        for (uint32_t k = 0; k < axes[2].count; k++)
            for (uint32_t j = 0; j < axes[1].count; j++)
                for (uint32_t i = 0; i < axes[0].count; i++) {
                    const long double weight = (long double)axes[0].weight[i] * axes[1].weight[j] *
                                               axes[2].weight[k] / STEPS / STEPS / STEPS;
                    if (weight > 0)
                        count_channel(x, r, r, axes[0].index[i], axes[1].index[j], axes[2].index[k],
                                      weight);
                }
    }
}

/* A GPU's ways, of which PTX says nothing: a second texel of all the weight is the first one; in mirrored copies the
 * texels come as they do there. */
static void as_gathered(const struct ref_texture_step *x, uint32_t axis, struct counted *a)
{
    const struct ptx_texture *t = x->texture;
    const long double c = coordinate_of(x->coordinate[axis]);
    const bool mirrored =
        t->normalized && t->addressing[axis] == PTX_ADDRESS_MIRROR && c / 2 - floorl(c / 2) >= 0.5L;
    if (a->weight[1] == STEPS) {
        const int64_t next = (int64_t)floorl(texels(t, axis, c) - 0.5L) + 1;
        a->index[0] = inside(x, axis, next);
        a->index[1] = inside(x, axis, next + 1);
    }
    const int64_t first = a->index[mirrored], second = a->index[!mirrored];
    a->index[0] = first;
    a->index[1] = second;
}

/* Counter-clockwise, from the texel at the lower left on. */
static void gather(struct ref_texture_step *x)
{
    const char *const channels = "rgba";
    const uint32_t channel =
        (uint32_t)(strchr(channels, ptx_words[word_of(x, PTX_SLOT_PART)][0]) - channels);
    struct counted axes[3];
    find_axes(x, true, axes);
    for (uint32_t a = 0; a < x->texture->dimensions - x->texture->layered; a++)
        as_gathered(x, a, &axes[a]);
    const int64_t *i = axes[0].index, *j = axes[1].index, k = axes[2].index[0];
    count_channel(x, 0, channel, i[0], j[1], k, 1);
    count_channel(x, 1, channel, i[1], j[1], k, 1);
    count_channel(x, 2, channel, i[1], j[0], k, 1);
    count_channel(x, 3, channel, i[0], j[0], k, 1);
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
            .result = v,
            .weight = 1};
}

void ref_texture_find(struct ref_texture_step *x)
{
    const enum ptx_opcode opcode = opcode_of(x);
    x->count = 0;
    x->undefined = x->outside = x->blends = false;
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

static bool is_near(uint64_t got, long double sum)
{
    const long double value = ref_float_value(got, PTX_W_F32);
    if (sum != sum)
        return value != value;
    return value == sum || fabsl(value - sum) <= fabsl(sum) * 0x1p-23L + 0x1p-149L ||
           got == ref_float_bits(sum, PTX_W_F32, FE_TONEAREST);
}

bool ref_texture_may(const struct ref_texture_step *x, uint32_t r, uint64_t got, uint64_t *about)
{
    const struct ptx_texture *t = x->texture;
    const struct ptx_type type = ptx_type_of(t->type);
    const bool is_fetch = opcode_of(x) == PTX_OP_TEX || opcode_of(x) == PTX_OP_TLD4;
    long double sum = 0;
    *about = opcode_of(x) == PTX_OP_TXQ || opcode_of(x) == PTX_OP_SUQ ? query(x) : 0;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct ref_texel_read *read = &x->reads[i];
        if (read->result != r)
            continue;
        if (x->blends)
            sum += read->weight * float_of(t, read->value);
        else if (is_fetch && gives_floats(t) && t->type != PTX_W_F32)
            *about = ref_float_bits(float_of(t, read->value), PTX_W_F32, FE_TONEAREST);
        else if (is_fetch && type.is_signed && type.kind == PTX_CLASS_INT)
            *about = (uint32_t)signed_of(read->value, type.bits);
        else
            *about = read->value;
    }
    if (x->blends)
        *about = ref_float_bits(sum, PTX_W_F32, FE_TONEAREST);
    return x->blends ? is_near(got, sum) : got == *about;
}
