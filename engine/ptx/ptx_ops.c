#include "engine/ptx/ptx_ops.h"

#include "engine/base/invariant.h"

#include <string.h>

const struct ptx_form_row ptx_forms[PTX_FORM_COUNT] = {
#define PTX_FORM(opcode, name, modifiers, operands) {PTX_OP_##opcode, modifiers, operands},
#include "engine/ptx/ptx_ops.def"
};

const char *const ptx_mnemonics[PTX_OPCODE_COUNT] = {
#define PTX_OPCODE(id, mnemonic) mnemonic,
#include "engine/ptx/ptx_ops.def"
};

const char *const ptx_words[PTX_WORD_COUNT] = {
    "",
#define PTX_WORD(id, text, slot) text,
#include "engine/ptx/ptx_words.def"
};

static const uint8_t usual_slots[PTX_WORD_COUNT] = {
    0,
#define PTX_WORD(id, text, slot) PTX_SLOT_##slot,
#include "engine/ptx/ptx_words.def"
};

const struct ptx_special_row ptx_specials[PTX_SPECIAL_COUNT] = {
#define PTX_SPECIAL(id, text, bits, has_elements) {text, bits, has_elements},
#include "engine/ptx/ptx_special.def"
};

static const char *const slot_names[PTX_SLOT_COUNT] = {
#define X(id, name) #name,
    PTX_SLOTS(X)
#undef X
};

static bool same(const char *name, const char *text, size_t length)
{
    return strncmp(name, text, length) == 0 && name[length] == '\0';
}

/* The words are sorted: binary search. */
enum ptx_word ptx_word_find(const char *text, size_t length)
{
    size_t low = 1, high = PTX_WORD_COUNT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(ptx_words[middle], text, length);
        if (order == 0 && ptx_words[middle][length] == '\0')
            return (enum ptx_word)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return PTX_W_NONE;
}

enum ptx_opcode ptx_opcode_find(const char *text, size_t length)
{
    for (int i = 0; i < PTX_OPCODE_COUNT; i++)
        if (same(ptx_mnemonics[i], text, length))
            return (enum ptx_opcode)i;
    return PTX_OPCODE_COUNT;
}

enum ptx_special ptx_special_find(const char *name)
{
    for (int i = 0; i < PTX_SPECIAL_COUNT; i++)
        if (strcmp(ptx_specials[i].name, name) == 0)
            return (enum ptx_special)i;
    return PTX_SPECIAL_COUNT;
}

/* ---- types ---- */

#define BITS(n)                                                                                    \
    {                                                                                              \
        PTX_CLASS_BITS, n, false                                                                   \
    }
#define UNSIGNED(n)                                                                                \
    {                                                                                              \
        PTX_CLASS_INT, n, false                                                                    \
    }
#define SIGNED(n)                                                                                  \
    {                                                                                              \
        PTX_CLASS_INT, n, true                                                                     \
    }
#define FLOAT(n)                                                                                   \
    {                                                                                              \
        PTX_CLASS_FLOAT, n, true                                                                   \
    }

struct ptx_type ptx_type_of(enum ptx_word word)
{
    static const struct ptx_type types[PTX_WORD_COUNT] = {
        [PTX_W_PRED] = {PTX_CLASS_PRED, 1, false},
        [PTX_W_B8] = BITS(8),
        [PTX_W_B16] = BITS(16),
        [PTX_W_B32] = BITS(32),
        [PTX_W_B64] = BITS(64),
        [PTX_W_B128] = BITS(128),
        [PTX_W_U8] = UNSIGNED(8),
        [PTX_W_U16] = UNSIGNED(16),
        [PTX_W_U32] = UNSIGNED(32),
        [PTX_W_U64] = UNSIGNED(64),
        [PTX_W_S8] = SIGNED(8),
        [PTX_W_S16] = SIGNED(16),
        [PTX_W_S32] = SIGNED(32),
        [PTX_W_S64] = SIGNED(64),
        [PTX_W_U16X2] = UNSIGNED(32),
        [PTX_W_S16X2] = SIGNED(32),
        [PTX_W_F16] = FLOAT(16),
        [PTX_W_F16X2] = FLOAT(32),
        [PTX_W_BF16] = FLOAT(16),
        [PTX_W_BF16X2] = FLOAT(32),
        [PTX_W_F32] = FLOAT(32),
        [PTX_W_F32X2] = BITS(64),
        [PTX_W_F64] = FLOAT(64),
        [PTX_W_TF32] = BITS(32),
        [PTX_W_B1] = BITS(32), /* so many in a register */
        [PTX_W_E4M3] = BITS(8),
        [PTX_W_E5M2] = BITS(8),
        [PTX_W_E4M3X2] = BITS(16),
        [PTX_W_E5M2X2] = BITS(16),
        [PTX_W_TEXREF] = BITS(64),
        [PTX_W_SURFREF] = BITS(64),
        [PTX_W_S4] = SIGNED(4),
        [PTX_W_U4] = UNSIGNED(4),
    };
    return types[word];
}

/* ---- patterns ---- */

static enum ptx_slot find_slot(const char *text, size_t length)
{
    for (int i = 0; i < PTX_SLOT_COUNT; i++)
        if (same(slot_names[i], text, length))
            return (enum ptx_slot)i;
    invariant_fail("a slot of a pattern", __FILE__, __LINE__);
}

/* The colon of `slot:`; the words have colons too, but in pairs. */
static const char *slot_end(const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);
    return colon && colon[1] != ':' ? colon : NULL;
}

bool ptx_group_next(const char **pattern, struct ptx_group *group)
{
    const char *at = *pattern + strspn(*pattern, " ");
    if (*at == '\0')
        return false;
    *group = (struct ptx_group){.slot = PTX_SLOT_COUNT};
    for (; *at == '~' || *at == '?'; at++) {
        group->floating |= *at == '~';
        group->optional |= *at == '?';
    }
    size_t length = strcspn(at, " ");
    *pattern = at + length;
    const char *colon = slot_end(at, length);
    if (colon) {
        group->slot = find_slot(at, (size_t)(colon - at));
        length -= (size_t)(colon + 1 - at);
        at = colon + 1;
    } else {
        enum ptx_word first = ptx_word_find(at, strcspn(at, "| "));
        INVARIANT(first != PTX_W_NONE);
        group->slot = (enum ptx_slot)usual_slots[first];
    }
    group->words = at;
    group->length = length;
    return true;
}

uint32_t ptx_form_ways(enum ptx_form form, uint32_t most)
{
    const char *modifiers = ptx_forms[form].modifiers;
    struct ptx_group group;
    uint32_t ways = 1;
    while (ways < most && ptx_group_next(&modifiers, &group)) {
        uint32_t count = 1 + group.optional;
        for (size_t k = 0; k < group.length; k++)
            count += group.words[k] == '|';
        ways *= count;
    }
    return ways < most ? ways : most;
}

bool ptx_group_has(const struct ptx_group *group, const char *text, size_t length)
{
    const char *at = group->words, *end = at + group->length;
    while (at < end) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        size_t size = (size_t)((bar ? bar : end) - at);
        if (size == length && memcmp(at, text, length) == 0)
            return true;
        at += size + 1;
    }
    return false;
}

/* A register of a fragment of a matrix: small elements share one. */
static struct ptx_type type_of_fragment(enum ptx_word element)
{
    if (element == PTX_W_F32 || element == PTX_W_F64)
        return ptx_type_of(element);
    return (struct ptx_type)BITS(32);
}

static struct ptx_type type_of_kind(char kind, const uint8_t words[PTX_SLOT_COUNT])
{
    struct ptx_type type = ptx_type_of((enum ptx_word)words[PTX_SLOT_TYPE]);
    switch (kind) {
    case 'u':
        return ptx_type_of((enum ptx_word)words[PTX_SLOT_TYPE2]);
    case 'w':
        type.bits = (uint8_t)(type.bits * 2);
        return type;
    case 'd':
    case 'b':
        return (struct ptx_type)UNSIGNED(32);
    case 'D':
    case 'F':
        return type_of_fragment((enum ptx_word)words[PTX_SLOT_TYPE]);
    case 'A':
        return type_of_fragment((enum ptx_word)words[PTX_SLOT_TYPE2]);
    case 'B':
        return type_of_fragment((enum ptx_word)words[PTX_SLOT_TYPE3]);
    case 'C':
        return type_of_fragment((enum ptx_word)words[PTX_SLOT_TYPE4]);
    case 'x':
        return words[PTX_SLOT_TYPE2] ? ptx_type_of((enum ptx_word)words[PTX_SLOT_TYPE2])
                                     : (struct ptx_type)BITS(32);
    case 'h':
        return (struct ptx_type)BITS(64);
    case 'g':
        return (struct ptx_type)BITS(16);
    case 'p':
        return (struct ptx_type){PTX_CLASS_PRED, 1, false};
    case 't':
    case 'v':
    case 'm':
    case 'k':
        return type;
    default:
        return (struct ptx_type){PTX_CLASS_NONE, 0, false};
    }
}

bool ptx_item_next(const char **pattern, const uint8_t words[PTX_SLOT_COUNT],
                   struct ptx_item_pattern *item)
{
    const char *at = *pattern + strspn(*pattern, " ");
    if (*at == '\0')
        return false;
    *item = (struct ptx_item_pattern){.optional = false};
    for (; *at != '\0' && strchr("?=_!", *at); at++) {
        item->optional |= *at == '?';
        item->is_result |= *at == '=';
        item->sinkable |= *at == '_';
        item->negatable |= *at == '!';
    }
    item->kind = *at++;
    for (; *at == '~' || *at == '|'; at++) {
        item->relaxed |= *at == '~';
        item->paired |= *at == '|';
    }
    INVARIANT((*at == ' ' || *at == '\0') && strchr("tuwdbpvamkilTcDABCFxhg", item->kind));
    item->type = type_of_kind(item->kind, words);
    *pattern = at;
    return true;
}

/* ---- matrices ---- */

struct shape {
    uint8_t m, n, k;
};

static struct shape shape_of(enum ptx_word word)
{
    static const struct shape shapes[PTX_WORD_COUNT] = {
        [PTX_W_M8N8] = {8, 8, 0},         [PTX_W_M8N8K4] = {8, 8, 4},
        [PTX_W_M8N8K16] = {8, 8, 16},     [PTX_W_M8N8K32] = {8, 8, 32},
        [PTX_W_M16N8K4] = {16, 8, 4},     [PTX_W_M16N8K8] = {16, 8, 8},
        [PTX_W_M16N8K16] = {16, 8, 16},   [PTX_W_M16N8K32] = {16, 8, 32},
        [PTX_W_M16N8K64] = {16, 8, 64},   [PTX_W_M16N16K8] = {16, 16, 8},
        [PTX_W_M16N16K16] = {16, 16, 16}, [PTX_W_M32N8K16] = {32, 8, 16},
        [PTX_W_M8N32K16] = {8, 32, 16},   [PTX_W_M8N8K128] = {8, 8, 4},
        [PTX_W_M16N8K128] = {16, 8, 4},   [PTX_W_M16N8K256] = {16, 8, 8},
    };
    return shapes[word];
}

/* A and B of wmma's halves have eight registers, whatever their size. */
static struct ptx_matrix_sizes sizes_of(uint32_t rows, uint32_t columns, enum ptx_word type,
                                        bool is_wide)
{
    uint32_t bits = ptx_type_of(type).bits, each = bits >= 32 ? 1 : 32 / bits;
    uint32_t registers = rows * columns / PTX_MATRIX_LANES / each;
    return (struct ptx_matrix_sizes){.rows = (uint8_t)rows,
                                     .columns = (uint8_t)columns,
                                     .bits = (uint8_t)bits,
                                     .registers = (uint8_t)(is_wide ? PTX_FRAGMENT : registers),
                                     .each = (uint8_t)each,
                                     .type = (uint8_t)type};
}

static uint32_t matrices_of(enum ptx_word word)
{
    return word == PTX_W_X4 ? 4 : word == PTX_W_X2 ? 2 : 1;
}

/* wmma.load, wmma.store */
static struct ptx_matrix_sizes sizes_of_moved(struct shape s, enum ptx_word part,
                                              enum ptx_word type)
{
    bool is_factor = part == PTX_W_A || part == PTX_W_B;
    return sizes_of(part == PTX_W_B ? s.k : s.m, part == PTX_W_A ? s.k : s.n, type,
                    is_factor && type == PTX_W_F16);
}

void ptx_matrix_form(enum ptx_form form, const uint8_t words[PTX_SLOT_COUNT],
                     struct ptx_matrix_form *f)
{
    struct shape s = shape_of((enum ptx_word)words[PTX_SLOT_SHAPE]);
    enum ptx_opcode opcode = ptx_forms[form].opcode;
    enum ptx_word type = (enum ptx_word)words[PTX_SLOT_TYPE];
    enum ptx_word a = (enum ptx_word)words[PTX_SLOT_TYPE2],
                  b = (enum ptx_word)words[PTX_SLOT_TYPE3];
    bool is_half = form == PTX_FORM_WMMA_MMA_F16;
    *f = (struct ptx_matrix_form){.k = s.k, .packed = 1, .is_free = opcode == PTX_OP_WMMA};
    if (opcode != PTX_OP_MMA && opcode != PTX_OP_WMMA) {
        f->part[PTX_MATRIX_D] = sizes_of(8, 8, PTX_W_B16, false);
        f->part[PTX_MATRIX_D].registers =
            (uint8_t)matrices_of((enum ptx_word)words[PTX_SLOT_VECTOR]);
        if (opcode == PTX_OP_MOVMATRIX)
            f->part[PTX_MATRIX_A] = f->part[PTX_MATRIX_D];
        return;
    }
    if (words[PTX_SLOT_PART] != PTX_W_NONE) {
        f->by_columns = words[PTX_SLOT_LAYOUT] == PTX_W_COL;
        if (type == PTX_W_B1 || ptx_type_of(type).bits < 8) {
            f->packed = type == PTX_W_B1 ? 32 : 8;
            s.k = type == PTX_W_B1 ? s.k : s.k / 8; /* of bits, k counts words */
            type = PTX_W_B32;
        }
        f->part[PTX_MATRIX_D] = sizes_of_moved(s, (enum ptx_word)words[PTX_SLOT_PART], type);
        return;
    }
    if (form == PTX_FORM_MMA_FOUR) {
        f->is_four = true;
        f->a_columns = words[PTX_SLOT_LAYOUT] == PTX_W_COL;
        f->b_columns = words[PTX_SLOT_LAYOUT2] == PTX_W_COL;
        f->part[PTX_MATRIX_D] = sizes_of(4u * s.m, s.n, type, false);
        f->part[PTX_MATRIX_A] = sizes_of(4u * s.m, s.k, a, false);
        f->part[PTX_MATRIX_B] = sizes_of(s.k, 4u * s.n, b, false);
        f->part[PTX_MATRIX_C] =
            sizes_of(4u * s.m, s.n, (enum ptx_word)words[PTX_SLOT_TYPE4], false);
        return;
    }
    f->part[PTX_MATRIX_D] = sizes_of(s.m, s.n, type, false);
    f->part[PTX_MATRIX_A] = sizes_of(s.m, s.k, is_half ? PTX_W_F16 : a, is_half);
    f->part[PTX_MATRIX_B] = sizes_of(s.k, s.n, is_half ? PTX_W_F16 : b, is_half);
    f->part[PTX_MATRIX_C] = sizes_of(s.m, s.n, (enum ptx_word)words[PTX_SLOT_TYPE4], false);
}

uint32_t ptx_fragment_registers(enum ptx_form form, const uint8_t words[PTX_SLOT_COUNT], char kind)
{
    struct ptx_matrix_form f;
    ptx_matrix_form(form, words, &f);
    return f
        .part[kind == 'A'   ? PTX_MATRIX_A
              : kind == 'B' ? PTX_MATRIX_B
              : kind == 'C' ? PTX_MATRIX_C
                            : PTX_MATRIX_D]
        .registers;
}
