/*
 * ptx_texture.c - textures and surfaces: tex, tld4, txq, suld, sust, suq (PTX ISA 9.7.10, 9.7.11; CUDA C++ Programming
 * Guide, Texture Fetching). Texels lie in global memory, row after row; a handle says where, and how coordinates are
 * read. The lanes that execute come one after the other, the lowest first; each channel of a texel is an access of 1, 2
 * or 4 bytes. A texel is not read where the place is no part of the way towards it.
 */
#include "engine/lanes/ptx_exec_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "engine/arith/ptx_filter.h"

enum {
    AXES = 3,
    CHANNELS = 4,
    FAR = 40 /* bits of a coordinate that is not normalized: beyond all are alike */,
    FARTHEST = 62 /* of one that repeats: it is a multiple of 2 there */
};

/* The texels of one axis that count; negative: outside, where all is 0. */
struct axis {
    int64_t at[2];
    uint32_t second; /* 256ths that are the second one's */
};

struct texture_step {
    struct ptx_step *x;
    const struct ptx_code_texture *t;
    const uint8_t *words;
    uint32_t lane;
};

static bool stuck(const struct texture_step *s, const char *why)
{
    ptx_stuck(s->x->m, s->x->lanes->first_thread + s->lane, s->x->pc, why);
    return false;
}

static uint64_t source(const struct texture_step *s, uint32_t number)
{
    return ptx_source(s->x->m, s->x->lanes, &s->x->op->sources[number], s->lane);
}

/* ---- handles ---- */

/* What the lane's handle is of. False: nothing, the execution has ended. */
static bool find_texture(struct texture_step *s)
{
    const struct ptx_code *code = s->x->code;
    const uint64_t handle = source(s, 0) + s->x->op->offset;
    for (uint32_t i = 0; i < code->texture_count; i++)
        if (code->textures[i].handle == handle) {
            s->t = &code->textures[i];
            return true;
        }
    struct ptx_scratch *scratch = s->x->scratch;
    snprintf(scratch->text, PTX_TEXT, "0x%llx is the handle of no texture or surface",
             (unsigned long long)handle);
    s->x->m->fault = (struct machine_fault){.address = handle};
    s->x->m->fault_text = scratch->text;
    machine_fault(s->x->m, STATUS_OUT_OF_BOUNDS, s->x->lanes->first_thread + s->lane, s->x->pc);
    return false;
}

/* The ISA leaves a fetch of another geometry, or of another kind of numbers, undefined. */
static bool fits(const struct texture_step *s)
{
    const struct ptx_texture *t = s->t->what;
    const bool layered = ptx_is_layered(s->words);
    if (layered != t->layered)
        return stuck(s, layered ? "the texture has no layers" : "the texture has layers");
    if (ptx_dimensions(s->words) + layered != t->dimensions)
        return stuck(s, "the texture has another number of dimensions");
    return true;
}

static bool is_read_as_float(const struct ptx_texture *t)
{
    return t->unit || t->type == PTX_W_F16 || t->type == PTX_W_F32;
}

static bool fetches(const struct texture_step *s)
{
    const bool wants_float = s->words[PTX_SLOT_TYPE] == PTX_W_F32;
    if (wants_float != is_read_as_float(s->t->what))
        return stuck(s, wants_float ? "the texture holds whole numbers, floats are wanted"
                                    : "the texture holds floats, whole numbers are wanted");
    if (s->t->what->is_memory && s->words[PTX_SLOT_TYPE2] != PTX_W_S32)
        return stuck(s, "linear memory is fetched by whole numbers");
    return fits(s);
}

/* ---- coordinates ---- */

static int64_t clamped(int64_t i, int64_t count)
{
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

/* Where texel i of an axis is found; negative: outside. In a mirrored copy texels are counted from the other end. */
static int64_t fold(enum ptx_addressing mode, bool mirrored, int64_t i, int64_t count)
{
    if (mode == PTX_ADDRESS_BORDER)
        return i < count ? i : -1;
    if (mode == PTX_ADDRESS_WRAP)
        return i < 0 ? i + count : i >= count ? i - count : i;
    return mirrored ? count - 1 - clamped(i, count) : clamped(i, count);
}

/* Wrapping and mirroring are for normalized coordinates; others are clamped. By whole numbers there are no modes:
 * outside all is 0 (as on an H200; PTX does not say). */
static enum ptx_addressing mode_of(const struct ptx_texture *t, uint32_t d, bool whole)
{
    enum ptx_addressing mode = t->addressing[d];
    if (whole)
        return PTX_ADDRESS_BORDER;
    return !t->normalized && mode != PTX_ADDRESS_BORDER ? PTX_ADDRESS_CLAMP : mode;
}

/* floor(c * 2^bits), up to 2^`most`; of a NaN 0. Subnormal numbers are 0. */
static int64_t in_parts(float c, int bits, int most)
{
    const double parts = floor(ldexp(fabsf(c) >= FLT_MIN ? (double)c : 0, bits));
    return (int64_t)fmin(fmax(parts, -ldexp(1, most)), ldexp(1, most));
}

/* Bits behind the point of a normalized coordinate: what an H200 has, by the texture's longest axis. */
static int bits_of(const struct ptx_texture *t)
{
    uint32_t longest = 0;
    for (uint32_t d = 0; d < t->dimensions - t->layered; d++)
        longest = t->size[d] > longest ? t->size[d] : longest;
    return longest <= 1 << 13 ? 21 : longest <= 1 << 16 ? 22 : 23;
}

struct place {
    int64_t i;
    uint32_t part; /* 256ths from texel i to the next one */
    bool mirrored; /* in a copy that is */
};

/*  c' = floor(c 2^b) / 2^b        b = 21; 22 where an axis has more than 2^13 texels, 23 where one has more than 2^16;
 *                                 of wrap and mirror what c' is in its copy
 *  x  = c' n, or c where coordinates are not normalized
 *  nearest   i = floor(x)
 *  between   x - 0.5 in 256ths, to the nearest, halves up: i whole texels and `part` of the next one
 *            (as an H200 does it)
 */
static struct place find_place(const struct ptx_texture *t, enum ptx_addressing mode, uint32_t d,
                               float c, bool between)
{
    struct place p = {0};
    int bits = t->normalized ? bits_of(t) : FILTER_BITS + 1;
    const bool repeats = mode == PTX_ADDRESS_WRAP || mode == PTX_ADDRESS_MIRROR;
    int64_t x = in_parts(c, bits, repeats ? FARTHEST : t->normalized ? bits + 1 : FAR);
    if (repeats) {
        p.mirrored = mode == PTX_ADDRESS_MIRROR && (x >> bits & 1);
        x &= ((int64_t)1 << bits) - 1;
    }
    if (t->normalized)
        x *= t->size[d];
    if (between) {
        bits -= FILTER_BITS;
        x = (x - ((int64_t)FILTER_ONE << bits >> 1) + ((int64_t)1 << bits >> 1)) >> bits;
        p.part = (uint32_t)x % FILTER_ONE;
        bits = FILTER_BITS;
    }
    p.i = x >> bits;
    return p;
}

/* Two that are the same texel because of clamping are one. By whole numbers a single row is found in linear memory
 * alone. */
static struct axis find_axis(const struct texture_step *s, uint32_t d, bool between)
{
    const struct ptx_texture *t = s->t->what;
    const bool whole = s->words[PTX_SLOT_TYPE2] == PTX_W_S32;
    const enum ptx_addressing mode = mode_of(t, d, whole);
    const uint32_t bits = (uint32_t)source(s, PTX_TEXEL_X + d);
    float c;
    if (whole && t->dimensions == 1 && !t->is_memory)
        return (struct axis){{-1}, 0};
    if (whole)
        return (struct axis){{fold(mode, false, (int32_t)bits, t->size[d])}, 0};
    memcpy(&c, &bits, sizeof c);
    const struct place p = find_place(t, mode, d, c, between);
    const int64_t first = fold(mode, p.mirrored, p.i, t->size[d]);
    const int64_t second = between ? fold(mode, p.mirrored, p.i + 1, t->size[d]) : first;
    return (struct axis){{first, second},
                         mode == PTX_ADDRESS_CLAMP && first == second ? 0 : p.part};
}

/* A number of a layer is unsigned, and clamped; by whole coordinates there is nothing behind the last one. */
static struct axis find_layer(const struct texture_step *s, uint32_t d)
{
    const int64_t layer = (uint32_t)source(s, PTX_TEXEL_LAYER), count = s->t->what->size[d];
    const bool whole = s->words[PTX_SLOT_TYPE2] == PTX_W_S32;
    return (struct axis){{whole && layer >= count ? -1 : clamped(layer, count)}, 0};
}

/* Between texels a row is fetched with y = 0, half-way between it and what lies before it, which is 0 where y has a
 * border. */
static struct axis find_missing(const struct ptx_texture *t, uint32_t d, bool between)
{
    const bool halves =
        between && t->dimensions == 1 && d == 1 && t->addressing[1] == PTX_ADDRESS_BORDER;
    return halves ? (struct axis){{-1, 0}, FILTER_ONE / 2} : (struct axis){{0}, 0};
}

static void find_axes(const struct texture_step *s, bool between, struct axis axes[AXES])
{
    const struct ptx_texture *t = s->t->what;
    for (uint32_t d = 0; d < AXES; d++)
        axes[d] = d >= t->dimensions                     ? find_missing(t, d, between)
                  : t->layered && d == t->dimensions - 1 ? find_layer(s, d)
                                                         : find_axis(s, d, between);
}

/* ---- texels ---- */

/* The byte of memory at an address of global memory, where `bytes` are accessed. False: there are none, the execution
 * has ended. */
static bool find_byte(const struct texture_step *s, enum ptx_access_kind kind, uint64_t address,
                      uint32_t bytes, uint32_t *byte)
{
    const struct ptx_op part = {.space = PTX_W_GLOBAL};
    struct ptx_step y = *s->x;
    struct ptx_access a = {.x = &y, .kind = kind, .bytes = bytes};
    y.op = &part;
    if (!ptx_place_at(&a, s->lane, address))
        return false;
    *byte = y.scratch->byte[s->lane];
    return true;
}

static bool read_bytes(const struct texture_step *s, uint64_t address, uint32_t bytes,
                       uint64_t *value)
{
    struct ptx_step *x = s->x;
    uint32_t byte;
    if (!find_byte(s, PTX_ACCESS_LD, address, bytes, &byte))
        return false;
    *value = ptx_fetch((const uint32_t *)x->m->memory, byte, bytes);
    ptx_tell_lane(x->m, x->lanes, s->lane, ACCESS_READ, x->pc, byte, bytes, 0);
    return true;
}

static bool write_bytes(const struct texture_step *s, uint64_t address, uint32_t bytes,
                        uint64_t value)
{
    struct ptx_step *x = s->x;
    uint32_t byte;
    if (!find_byte(s, PTX_ACCESS_ST, address, bytes, &byte))
        return false;
    value = ptx_low_bits(value, bytes);
    ptx_store(x->m, byte, bytes, value);
    ptx_tell_lane(x->m, x->lanes, s->lane, ACCESS_WRITE, x->pc, byte, bytes, value);
    return true;
}

/* Where row j of slice k begins. */
static uint64_t row_address(const struct texture_step *s, int64_t j, int64_t k)
{
    const struct ptx_texture *t = s->t->what;
    return s->t->address + ((uint64_t)k * t->size[1] + (uint64_t)j) * t->pitch;
}

/* One channel of the texel; 0 outside, and of channels that are not there. */
static bool read_channel(const struct texture_step *s, const int64_t at[AXES], uint32_t channel,
                         uint64_t *value)
{
    const struct ptx_texture *t = s->t->what;
    const uint32_t bytes = ptx_type_of(t->type).bits / 8u;
    *value = 0;
    if (channel >= t->channels || at[0] < 0 || at[1] < 0 || at[2] < 0)
        return true;
    const uint64_t first = (uint64_t)at[0] * ptx_texel_bytes(t) + channel * bytes;
    return read_bytes(s, row_address(s, at[1], at[2]) + first, bytes, value);
}

static int32_t as_signed(uint64_t value, uint32_t bits)
{
    return (int32_t)((uint32_t)value << (32 - bits)) >> (32 - bits);
}

/* v / 255, or v / 127 but not below -1, and so on. */
static uint64_t unit_bits(const struct ptx_type type, uint64_t value)
{
    const int64_t one = ((int64_t)1 << (type.bits - type.is_signed)) - 1;
    return ptx_filter_unit(type.is_signed ? as_signed(value, type.bits) : (int64_t)value, one);
}

/* What lies in the register, of a texel alone: floats keep their bits. */
static uint64_t as_result(const struct ptx_texture *t, uint64_t value)
{
    const struct ptx_type type = ptx_type_of(t->type);
    if (t->unit)
        return unit_bits(type, value);
    if (t->type == PTX_W_F16)
        return ptx_filter_half(value);
    return type.is_signed && t->type != PTX_W_F32 ? (uint32_t)as_signed(value, type.bits) : value;
}

/* The weighted sum of up to 8 texels. */
static bool blend(const struct texture_step *s, const struct axis axes[AXES], uint32_t channel,
                  uint64_t *result)
{
    const uint32_t second[AXES] = {axes[0].second, axes[1].second, axes[2].second};
    uint64_t texels[FILTER_TEXELS];
    for (uint32_t n = 0; n < FILTER_TEXELS; n++) {
        const int64_t at[AXES] = {axes[0].at[n & 1], axes[1].at[n >> 1 & 1], axes[2].at[n >> 2]};
        if (ptx_filter_has(second, n) && !read_channel(s, at, channel, &texels[n]))
            return false;
    }
    *result = ptx_filter_sum(s->t->what->type, texels, second);
    return true;
}

/* A texel alone, but as the filter has it: that of s8 is not as exact, and NaNs of f16 are one. */
static uint64_t as_gathered(const struct ptx_texture *t, uint64_t texel)
{
    static const uint32_t none[AXES] = {0};
    const uint64_t texels[FILTER_TEXELS] = {texel};
    return t->unit || t->type == PTX_W_F16 ? ptx_filter_sum(t->type, texels, none)
                                           : as_result(t, texel);
}

/* ---- tex, tld4, txq, suq ---- */

/*  tex       [handle, (x, y, z)]      d <- T[i, j, k], or the weighted sum of the texels around (x, y, z)
 */
static bool texture_fetch(const struct texture_step *s, uint64_t results[PTX_CODE_RESULTS])
{
    struct axis axes[AXES];
    const bool between = s->t->what->filters && s->words[PTX_SLOT_TYPE2] != PTX_W_S32;
    if (!fetches(s))
        return false;
    find_axes(s, between, axes);
    const int64_t at[AXES] = {axes[0].at[0], axes[1].at[0], axes[2].at[0]};
    for (uint32_t c = 0; c < CHANNELS; c++) {
        if (s->x->op->results[c].kind == PTX_PLACE_NONE)
            continue;
        if (!(between ? blend(s, axes, c, &results[c]) : read_channel(s, at, c, &results[c])))
            return false;
        if (!between)
            results[c] = as_result(s->t->what, results[c]);
    }
    return true;
}

/*  tld4      d <- channel of T[i, j + 1], T[i + 1, j + 1], T[i + 1, j], T[i, j], those around (x, y)
 */
static bool texture_gather(const struct texture_step *s, uint64_t results[PTX_CODE_RESULTS])
{
    static const uint8_t corners[CHANNELS][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const enum ptx_word channel = (enum ptx_word)s->words[PTX_SLOT_PART];
    const uint32_t c = channel == PTX_W_R ? 0 : channel == PTX_W_G ? 1 : channel == PTX_W_B ? 2 : 3;
    struct axis axes[AXES];
    if (!fetches(s))
        return false;
    find_axes(s, true, axes);
    for (uint32_t r = 0; r < CHANNELS; r++) {
        const int64_t at[AXES] = {axes[0].at[corners[r][0]], axes[1].at[corners[r][1]],
                                  axes[2].at[0]};
        if (!read_channel(s, at, c, &results[r]))
            return false;
        results[r] = as_gathered(s->t->what, results[r]);
    }
    return true;
}

/*  txq, suq  d <- the width, height or depth in texels; of an axis that is not there 0
 */
static bool texture_query(const struct texture_step *s, uint64_t results[PTX_CODE_RESULTS])
{
    const enum ptx_word what = (enum ptx_word)s->words[PTX_SLOT_MODE];
    const uint32_t d = what == PTX_W_WIDTH ? 0 : what == PTX_W_HEIGHT ? 1 : 2;
    const struct ptx_texture *t = s->t->what;
    results[0] = d < t->dimensions - t->layered ? t->size[d] : 0;
    return true;
}

/* ---- suld, sust ---- */

/* Where an access of a surface goes. */
enum { SURFACE_FAULT, SURFACE_NOWHERE, SURFACE_INSIDE };

static int say_outside(const struct texture_step *s, const char *axis, int64_t at, uint64_t count)
{
    struct ptx_step *x = s->x;
    const uint32_t bytes = (uint32_t)x->op->bytes * x->op->count;
    snprintf(x->scratch->text, PTX_TEXT,
             "%s of %u bytes of the surface %.80s: %s %lld, it has %llu",
             x->op->exec == PTX_EXEC_SUST ? "write" : "read", bytes, s->t->name, axis,
             (long long)at, (unsigned long long)count);
    x->m->fault =
        (struct machine_fault){.bytes = bytes, .variable = s->t->name, .offset = at, .size = count};
    x->m->fault_text = x->scratch->text;
    machine_fault(x->m, STATUS_OUT_OF_BOUNDS, x->lanes->first_thread + s->lane, x->pc);
    return SURFACE_FAULT;
}

/* .trap, .zero and .clamp say what happens outside. x counts bytes, and must be a multiple of those that are
 * accessed. */
static int find_surface(const struct texture_step *s, uint64_t *address)
{
    static const char *const names[AXES] = {"byte", "row", "slice"};
    const struct ptx_texture *t = s->t->what;
    const int64_t bytes = (int64_t)s->x->op->bytes * s->x->op->count;
    const enum ptx_word mode = (enum ptx_word)s->words[PTX_SLOT_WRAP];
    int64_t at[AXES] = {0};
    for (uint32_t d = 0; d < t->dimensions; d++) {
        const bool is_layer = t->layered && d == t->dimensions - 1;
        const int64_t count = d == 0 ? (int64_t)t->size[0] * ptx_texel_bytes(t) : t->size[d];
        const int64_t last = d == 0 ? count - bytes : count - 1;
        at[d] = (int32_t)source(s, is_layer ? PTX_TEXEL_LAYER : PTX_TEXEL_X + d);
        if (at[d] >= 0 && at[d] <= last)
            continue;
        if (mode == PTX_W_TRAP || last < 0)
            return say_outside(s, is_layer ? "layer" : names[d], at[d], (uint64_t)count);
        if (mode == PTX_W_ZERO)
            return SURFACE_NOWHERE;
        at[d] = at[d] < 0 ? 0 : d == 0 ? last / bytes * bytes : last;
    }
    if (at[0] % bytes != 0) {
        (void)stuck(s, "the byte of the surface is no multiple of what is accessed");
        return SURFACE_FAULT;
    }
    *address = row_address(s, at[1], at[2]) + (uint64_t)at[0];
    return SURFACE_INSIDE;
}

/*  suld.b    [handle, (x, y, z)]      d <- the bytes from byte x of row y of slice z on
 */
static bool texture_suld(const struct texture_step *s, uint64_t results[PTX_CODE_RESULTS])
{
    const struct ptx_op *op = s->x->op;
    uint64_t address = 0;
    const int where = fits(s) ? find_surface(s, &address) : SURFACE_FAULT;
    for (uint32_t e = 0; e < op->count && where != SURFACE_FAULT; e++) {
        results[e] = 0;
        if (where == SURFACE_INSIDE &&
            !read_bytes(s, address + e * op->bytes, op->bytes, &results[e]))
            return false;
    }
    return where != SURFACE_FAULT;
}

/*  sust.b    [handle, (x, y, z)], v   the bytes from byte x of row y of slice z on <- v
 */
static bool texture_sust(const struct texture_step *s, uint64_t results[PTX_CODE_RESULTS])
{
    const struct ptx_op *op = s->x->op;
    uint64_t address = 0;
    const int where = fits(s) ? find_surface(s, &address) : SURFACE_FAULT;
    (void)results;
    for (uint32_t e = 0; e < op->count && where == SURFACE_INSIDE; e++)
        if (!write_bytes(s, address + e * op->bytes, op->bytes, source(s, PTX_TEXEL_VALUE + e)))
            return false;
    return where != SURFACE_FAULT;
}

/* ---- one step ---- */

static const struct texture_rule {
    enum ptx_opcode opcode;
    enum rule rule;
    bool (*does)(const struct texture_step *, uint64_t results[PTX_CODE_RESULTS]);
} rules[] = {{PTX_OP_TEX, RULE_TEXTURE_FETCH, texture_fetch},
             {PTX_OP_TLD4, RULE_TEXTURE_GATHER, texture_gather},
             {PTX_OP_SULD, RULE_TEXTURE_SULD, texture_suld},
             {PTX_OP_SUST, RULE_TEXTURE_SUST, texture_sust},
             {PTX_OP_TXQ, RULE_TEXTURE_QUERY, texture_query},
             {PTX_OP_SUQ, RULE_TEXTURE_QUERY, texture_query}};

enum rule ptx_texture_step(struct ptx_step *x)
{
    struct texture_step s = {.x = x, .words = x->op->statement->u.instruction.words};
    const struct texture_rule *r = rules;
    while (r->opcode != (enum ptx_opcode)x->op->opcode)
        r++;
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint64_t results[PTX_CODE_RESULTS] = {0};
        s.lane = lowest_lane(rest);
        if (!find_texture(&s) || !r->does(&s, results))
            break;
        for (uint32_t i = 0; i < x->op->result_count; i++)
            ptx_set_result(x->m, x->lanes, &x->op->results[i], (lane_mask)1 << s.lane, results[i]);
    }
    return r->rule;
}
