/* Operands of textures and surfaces, and of matrices that a warp has. */
#include "fuzz/rows/gen_rows_internal.h"

#include <inttypes.h>

/* ---- textures ---- */

/* How many sizes it has, and which geometry an instruction that fits has. */
static void draw_geometry(struct rows_gen *r, struct rows_texture *t, struct text *text)
{
    static const enum ptx_word plain[] = {PTX_W_G1D, PTX_W_G2D, PTX_W_G3D};
    static const enum ptx_word layers[] = {PTX_W_A1D, PTX_W_A2D};
    struct gen *g = r->g;
    uint32_t dimensions = 1 + gen_below(g, 3);
    bool layered = dimensions > 1 && gen_chance(g, 40);
    t->geometry = layered ? layers[dimensions - 2] : plain[dimensions - 1];
    for (uint32_t d = 0; d < dimensions; d++) {
        uint32_t size = 1 + gen_below(g, 8);
        text_format(text, "%s%" PRIu32, d ? "x" : ":", size);
        r->sizes = r->sizes ? r->sizes : size;
    }
    if (layered)
        text_put(text, ":layers");
    t->is_memory = dimensions == 1 && gen_chance(g, 25);
}

/* FORMAT:SIZE[:WORD..] */
static void draw_texture(struct rows_gen *r, struct rows_texture *t, struct text *text)
{
    static const char *const formats[] = {"u8", "s8", "u16", "s16", "f16", "u32", "s32", "f32"};
    static const char *const modes[] = {"clamp", "wrap", "mirror", "border"};
    static const char *const fills[] = {"iota", "random"};
    struct gen *g = r->g;
    uint32_t format = gen_below(g, 8), channels = gen_below(g, 3);
    text_format(text, "%s%s", formats[format], channels == 0 ? "" : channels == 1 ? "x2" : "x4");
    draw_geometry(r, t, text);
    bool unit = format < 4 && gen_chance(g, 60);
    t->is_float = format == 4 || format == 7 || unit;
    if (unit)
        text_put(text, ":unit");
    for (uint32_t d = gen_below(g, 4); d > 0; d--)
        text_format(text, ":%s", modes[gen_below(g, 4)]);
    if (t->is_memory)
        text_put(text, ":memory");
    else if (t->is_float && gen_chance(g, 60))
        text_put(text, ":linear");
    if (!t->is_memory && gen_chance(g, 60))
        text_put(text, ":normalized");
    if (gen_chance(g, 20)) /* as long as the longest row, or longer */
        text_format(text, ":pitch=%" PRIu32, 128 + 16 * gen_below(g, 3));
    text_format(text, ":%s", fills[gen_below(g, 2)]);
}

void rows_draw_textures(struct rows_gen *r)
{
    r->texture_count = 1 + gen_below(r->g, ROWS_TEXTURES);
    for (uint32_t i = 0; i < r->texture_count; i++) {
        struct text text = {.arena = r->g->arena};
        draw_texture(r, &r->textures[i], &text);
        PUT(r, " bind:t%" PRIu32 "=texture:%s", i, text.bytes);
    }
}

void rows_put_texture_parameters(struct rows_gen *r)
{
    for (uint32_t i = 0; i < r->texture_count; i++)
        PUT(r, ", .param .u64 t%" PRIu32, i);
}

void rows_put_handles(struct rows_gen *r)
{
    for (uint32_t i = 0; i < r->texture_count; i++)
        PUT(r, "\t.reg .b64 at%" PRIu32 ";\n\tld.param.u64 at%" PRIu32 ", [t%" PRIu32 "];\n", i, i,
            i);
}

static bool is_of_surface(const struct rows_making *m)
{
    enum ptx_opcode opcode = ptx_forms[m->i.form].opcode;
    return opcode == PTX_OP_SULD || opcode == PTX_OP_SUST;
}

/* Whether the ISA says what the instruction does with it. */
static bool fits(const struct rows_making *m, const struct rows_texture *t)
{
    const uint8_t *words = m->i.words;
    enum ptx_opcode opcode = ptx_forms[m->i.form].opcode;
    if (opcode == PTX_OP_TXQ || opcode == PTX_OP_SUQ)
        return true;
    if (words[PTX_SLOT_SHAPE] != t->geometry)
        return false;
    if (is_of_surface(m))
        return true;
    return (words[PTX_SLOT_TYPE] == PTX_W_F32) == t->is_float &&
           (!t->is_memory || words[PTX_SLOT_TYPE2] == PTX_W_S32);
}

/* One access in three that traps is made, since it ends most executions; of many, none that may end one. */
struct ptx_operand *rows_handle(struct rows_making *m)
{
    struct gen *g = m->r->g;
    uint32_t which = gen_below(g, m->r->texture_count);
    m->wrong |= !fits(m, &m->r->textures[which]) && !gen_chance(g, m->r->dense ? 0 : 1);
    m->wrong |= m->i.words[PTX_SLOT_WRAP] == PTX_W_TRAP && gen_chance(g, 66);
    m->wrong |= m->r->dense && is_of_surface(m) && gen_chance(g, 98);
    return rows_operand(m, PTX_OPERAND_ADDRESS, arena_printf(g->arena, "at%" PRIu32, which));
}

/* In texels, or, of a surface's first one, in bytes: seldom no multiple of what is accessed. */
static struct ptx_operand *coordinate(struct rows_making *m, bool is_float, bool in_bytes)
{
    struct ptx_operand *o = rows_register_of(m, 32);
    uint32_t bytes =
        rows_elements(m) * ptx_type_of((enum ptx_word)m->i.words[PTX_SLOT_TYPE]).bits / 8;
    rows_load(m, o, is_float ? ROWS_COORDINATES : ROWS_TEXELS);
    if (in_bytes && gen_chance(m->r->g, 95))
        text_format(&m->before, "\tmul.lo.s32 %s, %s, %" PRIu32 ";\n", o->name, o->name, bytes);
    return o;
}

/* A layer is first; three are written as four. */
struct ptx_operand *rows_coordinates(struct rows_making *m, const struct ptx_item_pattern *item)
{
    const bool layered = ptx_is_layered(m->i.words);
    const uint32_t count = ptx_dimensions(m->i.words) + layered;
    const bool is_float = item->type.kind == PTX_CLASS_FLOAT;
    const bool is_surface =
        m->i.words[PTX_SLOT_PART] == PTX_W_B && ptx_forms[m->i.form].opcode != PTX_OP_TLD4;
    if (count == 1)
        return coordinate(m, is_float, is_surface);
    struct ptx_operand *all = rows_operand(m, PTX_OPERAND_VECTOR, NULL), **end = &all->items;
    for (uint32_t i = 0; i < (count == 3 ? 4 : count); i++, end = &(*end)->next)
        *end = coordinate(m, is_float && !(layered && i == 0), is_surface && i == layered);
    return all;
}

/* ---- matrices ---- */

static bool is_wmma(const struct rows_making *m)
{
    return ptx_forms[m->i.form].opcode == PTX_OP_WMMA;
}

/* Of ldmatrix and stmatrix a row in the lane's own area; of wmma.load and wmma.store all of a matrix, somewhere in
 * those of all lanes. */
struct ptx_operand *rows_matrix_address(struct rows_making *m)
{
    struct gen *g = m->r->g;
    enum ptx_word space = (enum ptx_word)m->i.words[PTX_SLOT_SPACE];
    bool global = space == PTX_W_GLOBAL || (space == PTX_W_NONE && gen_chance(g, 50));
    struct ptx_operand *o;
    if (!is_wmma(m)) {
        const bool copied =
            m->r->copies && !m->r->called && gen_chance(g, 30); /* waited for or not */
        o = rows_operand(m, PTX_OPERAND_ADDRESS, space == PTX_W_NONE ? "gs" : copied ? "ka" : "sa");
        o->value = 16 * gen_below(g, ROWS_AREA / 16);
        return o;
    }
    text_format(&m->before, "\tmov.u64 e, %s;\n", global ? "out" : "shr");
    if (space == PTX_W_NONE && !global)
        text_put(&m->before, "\tcvta.shared.u64 e, e;\n");
    o = rows_operand(m, PTX_OPERAND_ADDRESS, "e");
    o->value = gen_chance(g, m->r->dense ? 0 : 3) ? 8 * gen_below(g, 64) : 32 * gen_below(g, 8);
    return o;
}

/* From one row, or column, to the next: with room between them; seldom less than they are long. */
struct ptx_operand *rows_matrix_stride(struct rows_making *m)
{
    struct gen *g = m->r->g;
    struct ptx_matrix_form f;
    ptx_matrix_form(m->i.form, m->i.words, &f);
    const struct ptx_matrix_sizes *s = &f.part[PTX_MATRIX_D];
    uint32_t length = f.by_columns ? s->rows : s->columns, more = 8 * gen_below(g, 3);
    const bool short_one = gen_chance(g, m->r->dense ? 0 : 2);
    return rows_integer(m, (short_one ? length - 1 : length + more) * f.packed);
}

static enum rows_pool pool_of_element(enum ptx_word type)
{
    return type == PTX_W_F16                           ? ROWS_F16
           : type == PTX_W_BF16                        ? ROWS_BF16
           : type == PTX_W_F64                         ? ROWS_F64
           : ptx_type_of(type).kind == PTX_CLASS_FLOAT ? ROWS_F32
                                                       : ROWS_INTEGERS;
}

/* A lane's part of a matrix. */
struct ptx_operand *rows_fragment(struct rows_making *m, const struct ptx_item_pattern *item)
{
    struct gen *g = m->r->g;
    struct ptx_matrix_form f;
    ptx_matrix_form(m->i.form, m->i.words, &f);
    enum ptx_matrix_part part = item->kind == 'A'   ? PTX_MATRIX_A
                                : item->kind == 'B' ? PTX_MATRIX_B
                                : item->kind == 'C' ? PTX_MATRIX_C
                                                    : PTX_MATRIX_D;
    uint32_t count = ptx_fragment_registers(m->i.form, m->i.words, item->kind);
    uint32_t bits = item->type.bits, all = 8, first = gen_below(g, all);
    struct ptx_operand *o = rows_operand(m, PTX_OPERAND_VECTOR, NULL), **end = &o->items;
    m->wrong |= count > all;
    for (uint32_t k = 0; k < count; k++, end = &(*end)->next) {
        *end = rows_register_number(m, bits, (first + k) % all);
        if (!item->is_result && gen_chance(g, 75))
            rows_load(m, *end, pool_of_element((enum ptx_word)f.part[part].type));
    }
    return o;
}
