/*
 * ptx_textures.c - how textures and surfaces are written in settings: FORMAT:SIZE[:WORD..], f32x4:64x32:wrap:linear.
 */
#include "engine/input/ptx_kernel_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 28 /* texels */, ROW = 16 /* bytes that a pitch is a multiple of */ };

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* f32, u8x4 */
static bool read_format(struct ptx_texture *t, const char *text, size_t length)
{
    static const enum ptx_word types[] = {PTX_W_U8,  PTX_W_S8,  PTX_W_U16, PTX_W_S16,
                                          PTX_W_F16, PTX_W_U32, PTX_W_S32, PTX_W_F32};
    const char *x = memchr(text, 'x', length);
    const size_t size = x ? (size_t)(x - text) : length;
    t->type = PTX_W_NONE;
    t->channels = 1;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (is_word(text, size, ptx_words[types[i]]))
            t->type = types[i];
    if (x && length == size + 2)
        t->channels = (uint32_t)(x[1] - '0');
    return t->type != PTX_W_NONE && (!x || length == size + 2) &&
           (t->channels == 1 || t->channels == 2 || t->channels == 4);
}

/* 64, 64x32, 8x8x4 */
static bool read_size(struct ptx_texture *t, const char *text, size_t length)
{
    const char *end = text + length;
    t->size[0] = t->size[1] = t->size[2] = 1;
    for (t->dimensions = 0; t->dimensions < 3; text++) {
        char *next;
        unsigned long value = strtoul(text, &next, 10);
        if (next == text || *text == '-' || value == 0 || value > MOST)
            return false;
        t->size[t->dimensions++] = (uint32_t)value;
        text = next;
        if (text == end || *text != 'x')
            return text == end && (uint64_t)t->size[0] * t->size[1] <= MOST &&
                   (uint64_t)t->size[0] * t->size[1] * t->size[2] <= MOST;
    }
    return false;
}

/* The first addressing mode is that of all dimensions, the second that of all but the first .. */
static bool read_addressing(struct ptx_texture *t, const char *text, size_t length, uint32_t *given)
{
    static const char *const names[] = {[PTX_ADDRESS_CLAMP] = "clamp",
                                        [PTX_ADDRESS_WRAP] = "wrap",
                                        [PTX_ADDRESS_MIRROR] = "mirror",
                                        [PTX_ADDRESS_BORDER] = "border"};
    for (uint32_t mode = 0; mode < sizeof names / sizeof names[0]; mode++) {
        if (!is_word(text, length, names[mode]))
            continue;
        for (uint32_t d = *given; d < 3; d++)
            t->addressing[d] = (enum ptx_addressing)mode;
        (*given)++;
        return *given <= 3;
    }
    return false;
}

static bool read_pitch(struct ptx_texture *t, const char *text, size_t length)
{
    static const char key[] = "pitch=";
    char *end;
    if (length < sizeof key || memcmp(text, key, sizeof key - 1) != 0)
        return false;
    unsigned long value = strtoul(text + sizeof key - 1, &end, 10);
    t->pitch = (uint32_t)value;
    return end == text + length && value % ROW == 0 && value <= UINT32_MAX;
}

static bool read_flag(struct ptx_texture *t, const char *text, size_t length)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"linear", &t->filters},
                 {"normalized", &t->normalized},
                 {"unit", &t->unit},
                 {"layers", &t->layered},
                 {"memory", &t->is_memory}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (is_word(text, length, flags[i].name))
            return *flags[i].flag = true;
    return false;
}

uint32_t ptx_texel_bytes(const struct ptx_texture *t)
{
    return t->channels * ptx_type_of(t->type).bits / 8;
}

uint64_t ptx_texture_bytes(const struct ptx_texture *t)
{
    return (uint64_t)t->pitch * ((uint64_t)t->size[1] * t->size[2] - 1) +
           (uint64_t)t->size[0] * ptx_texel_bytes(t);
}

static const char *check(struct ptx_texture *t)
{
    const uint64_t row = (uint64_t)t->size[0] * ptx_texel_bytes(t);
    if (row > UINT32_MAX / 2)
        return "a row of the texture has more than 2147483647 bytes";
    if (t->pitch == 0)
        t->pitch = (uint32_t)(row + ROW - 1) / ROW * ROW;
    if (t->pitch < row)
        return "a row of the texture is longer than its pitch";
    if (t->is_memory && (t->dimensions > 1 || t->filters || t->normalized))
        return "linear memory has one dimension, whole coordinates and no filter";
    if (t->layered && t->dimensions == 1)
        return "the last of two or three sizes is that of the layers";
    if (t->filters && t->type != PTX_W_F32 && t->type != PTX_W_F16 && !t->unit)
        return "only what is read as floating point is filtered: f16, f32, or 'unit'";
    if (t->unit && (ptx_type_of(t->type).kind == PTX_CLASS_FLOAT || ptx_type_of(t->type).bits > 16))
        return "'unit' is for whole numbers of 8 or 16 bits";
    if (ptx_texture_bytes(t) > (uint64_t)LIMIT_PLACED_WORDS * 4)
        return "the texture has more than 1073741824 bytes";
    return NULL;
}

const char *ptx_texture_read(struct ptx_texture *t, const char **text)
{
    uint32_t modes = 0;
    size_t length = strcspn(*text, ":");
    if (!read_format(t, *text, length))
        return "a texture is FORMAT:SIZE[:WORD..], the format u8, s8, u16, s16, f16, u32, s32 or "
               "f32, with x2 or x4";
    *text += length + ((*text)[length] == ':');
    length = strcspn(*text, ":");
    if (!read_size(t, *text, length))
        return "a texture has 1 to 3 sizes, as 64x32, and up to 268435456 texels";
    for (*text += length; **text == ':'; *text += length + 1) {
        length = strcspn(*text + 1, ":");
        if (!read_addressing(t, *text + 1, length, &modes) && !read_pitch(t, *text + 1, length) &&
            !read_flag(t, *text + 1, length))
            break;
    }
    return check(t);
}
