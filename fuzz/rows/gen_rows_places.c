/* Where an instruction accesses memory: the lane's areas, bounds of variables, textures, matrices. */
#include "fuzz/rows/gen_rows_internal.h"

#include <inttypes.h>
#include <string.h>

/* ---- addresses ---- */

static uint32_t access_bytes(const struct rows_making *m)
{
    uint32_t bits = ptx_type_of((enum ptx_word)m->i.words[PTX_SLOT_TYPE]).bits;
    return bits ? rows_elements(m) * bits / 8 : 1;
}

static bool has_neighbours(const struct rows_gen *r)
{
    return r->cluster[0] > 0 && !r->called;
}

/* A register that holds the address of the lane's own area in the space, or a variable's name. */
static const char *base_of(struct rows_making *m)
{
    struct gen *g = m->r->g;
    const bool copied = m->r->copies && !m->r->called && gen_chance(g, 3); /* waited for or not */
    switch ((int)m->i.words[PTX_SLOT_SPACE]) {
    case PTX_W_GLOBAL:
        return copied ? "kg" : "ga";
    case PTX_W_SHARED:
    case PTX_W_SHARED_CTA:
        return copied ? "ka" : "sa";
    case PTX_W_SHARED_CLUSTER:
        return has_neighbours(m->r) && gen_chance(g, 60) ? "ca" : "sa";
    case PTX_W_LOCAL:
        if (m->r->called && gen_chance(g, 40))
            return "lu";
        return gen_chance(g, 50) ? "la" : "loc";
    case PTX_W_CONST:
        m->wrong |= m->sort != SORT_LOADS;
        return gen_chance(g, 50) ? "a" : "in";
    case PTX_W_PARAM_ENTRY:
        m->wrong |= m->sort != SORT_LOADS || m->r->called;
        return "box";
    case PTX_W_PARAM:
        m->wrong |= m->sort != SORT_LOADS && m->r->called;
        return m->sort == SORT_LOADS && !m->r->called && gen_chance(g, 50) ? "box" : "parcel";
    case PTX_W_PARAM_FUNC:
        m->wrong |= m->sort != SORT_LOADS && m->r->called;
        return "parcel";
    default: {
        static const char *const generic[] = {"ga", "gs", "cg", "gl"};
        bool is_global = ptx_forms[m->i.form].opcode == PTX_OP_LDU; /* its only space */
        uint32_t which = gen_below(g, m->sort == SORT_ATOMIC ? 3 : 4);
        if (which == 3 && !is_global && m->r->called && gen_chance(g, 50))
            return "gu";
        return generic[is_global ? 0 : which == 2 && !has_neighbours(m->r) ? 1 : which];
    }
    }
}

/* Of the spaces that an access may name, the variables whose bounds are looked for; NULL: none. */
static const char *bounded_variable(struct rows_making *m, const char **space)
{
    static const char *const generic[] = {"global", "shared", "local", "const"};
    static const char *const names[] = {"bg", "bs", "bl", "bc"};
    uint32_t which = gen_below(m->r->g, 4);
    bool is_global = ptx_forms[m->i.form].opcode == PTX_OP_LDU; /* its only space */
    *space = NULL;
    switch ((int)m->i.words[PTX_SLOT_SPACE]) {
    case PTX_W_GLOBAL:
        return names[0];
    case PTX_W_SHARED:
    case PTX_W_SHARED_CTA:
    case PTX_W_SHARED_CLUSTER:
        return names[1];
    case PTX_W_LOCAL:
        return names[2];
    case PTX_W_CONST:
        return names[3];
    case PTX_W_NONE:
        *space = generic[is_global ? 0 : which];
        return names[is_global ? 0 : which];
    default:
        return NULL;
    }
}

/* From the variable's beginning: around it, or around its end, aligned as the access is, as its elements are, or
 * not. */
static int32_t draw_bound(struct rows_making *m, uint32_t bytes)
{
    struct gen *g = m->r->g;
    uint32_t element = bytes / rows_elements(m), bound = m->r->bound;
    int32_t fits = (int32_t)((bound - bytes) / bytes * bytes);
    switch (gen_below(g, 9)) {
    case 0:
        return 0;
    case 6: /* aligned as half of it is */
        return (int32_t)(bytes > 1 ? bytes / 2 : 1);
    case 1:
        return -(int32_t)(gen_chance(g, 50) ? bytes : element);
    case 2:
        return (int32_t)(bound - element);
    case 3:
        return (int32_t)element;
    case 4:
        return (int32_t)(bound / bytes * bytes);
    case 5:
        return fits + (int32_t)bytes;
    default:
        return fits;
    }
}

/* In register `e`: one lane stands at a bound, the others there, too, or at a distance. In one of three cases lanes
 * that are outside, or those that are inside, are disabled. */
static struct ptx_operand *address_at_bounds(struct rows_making *m)
{
    struct gen *g = m->r->g;
    const char *space, *variable = bounded_variable(m, &space);
    uint32_t bytes = access_bytes(m), element = bytes / rows_elements(m),
             most = m->r->bound - bytes;
    uint32_t steps[] = {0, 0, bytes, element}, step = steps[gen_below(g, 4)];
    int32_t lane = (int32_t)gen_below(g, g->kernel->launch.warp);
    int32_t at = draw_bound(m, bytes) - lane * (int32_t)step;
    uint32_t offset = bytes * gen_below(g, 3);
    m->wrong |= !variable || bytes > m->r->bound;
    text_format(&m->before,
                "\tmov.u64 base, %s;\n\tmad.wide.s32 e, t, %" PRIu32 ", base;\n"
                "\tadd.s64 e, e, %" PRId32 ";\n",
                variable ? variable : "bg", step, at);
    if (gen_chance(g, 33)) {
        text_format(&m->before, "\tsub.u64 base, e, base;\n\tsetp.le.u64 p3, base, %" PRIu32 ";\n",
                    most);
        m->i.guard = rows_register_number(m, 1, 3);
        m->i.guard->negated = gen_chance(g, 20);
    }
    text_format(&m->before, "\tadd.s64 e, e, -%" PRIu32 ";\n", offset);
    if (space)
        text_format(&m->before, "\tcvta.%s.u64 e, e;\n", space);
    struct ptx_operand *o = rows_operand(m, PTX_OPERAND_ADDRESS, "e");
    o->value = offset;
    return o;
}

/* An mbarrier of the lane, or of its warp. */
static struct ptx_operand *address_of_object(struct rows_making *m)
{
    bool common = gen_chance(m->r->g, 40), generic = m->i.words[PTX_SLOT_SPACE] == PTX_W_NONE;
    return rows_operand(m, PTX_OPERAND_ADDRESS,
                        common    ? generic ? "gc" : "mc"
                        : generic ? "go"
                                  : "mo");
}

struct ptx_operand *rows_address(struct rows_making *m)
{
    if (m->sort == SORT_OBJECT)
        return address_of_object(m);
    if (m->sort == SORT_TEXTURE)
        return rows_handle(m);
    if (m->sort == SORT_MATRIX)
        return rows_matrix_address(m);
    if (m->at_bounds)
        return address_at_bounds(m);
    struct ptx_operand *o = rows_operand(m, PTX_OPERAND_ADDRESS, base_of(m));
    uint32_t bytes = access_bytes(m);
    bool in_table = strcmp(o->name, "a") == 0;
    o->value = in_table ? 0 : bytes * gen_below(m->r->g, ROWS_AREA / bytes);
    m->wrong |= in_table && bytes > 8; /* lanes stand at multiples of 8 */
    return o;
}

void rows_prepare_place(struct rows_making *m, const struct ptx_operand *at)
{
    const struct ptx_item_pattern item = {
        .kind = 't', .type = ptx_type_of((enum ptx_word)m->i.words[PTX_SLOT_TYPE])};
    enum ptx_word space = (enum ptx_word)m->i.words[PTX_SLOT_SPACE];
    for (uint32_t e = 0; e < rows_elements(m); e++) {
        struct ptx_operand *o = rows_register_of(m, item.type.bits);
        rows_load(m, o, rows_pool_of(m, &item));
        text_format(&m->before, "\tst%s%s.b%u [%s+%u], %s;\n", space ? "." : "",
                    space ? ptx_words[space] : "", item.type.bits, at->name,
                    (unsigned)at->value + e * item.type.bits / 8, o->name);
        m->stored = o->name;
    }
}

/* What cvta, isspacep, mapa and getctarank take; of a function its parameter more often. */
struct ptx_operand *rows_known_address(struct rows_making *m)
{
    static const char *const names[] = {"ga", "sa", "la", "gs", "gl", "pa",
                                        "pg", "ca", "cg", "ca", "cg"};
    struct ptx_operand *o = rows_register_number(m, 64, 0);
    uint32_t which = gen_below(m->r->g, has_neighbours(m->r) ? 11 : 7);
    o->name = m->r->called && gen_chance(m->r->g, 40) ? "pg" : names[which];
    return o;
}
