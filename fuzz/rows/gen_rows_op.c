/* One instruction: a row of the table, its modifiers, its operands. */
#include "engine/arith/ptx_rows.h"
#include "engine/base/invariant.h"
#include "fuzz/rows/gen_rows_internal.h"

#include <inttypes.h>
#include <string.h>

/* Forms that are drawn, all: one that the table has behind them changes no case until it is counted here, and the
 * generator gets another number; test_gen_rows asks for it. */
enum {
    WAYS = 256, /* of an instruction's modifiers: more count as so many */
    ROWS_FORMS = PTX_FORM_WMMA_MMA_BITS + 1,
    ROWS_SPECIALS = PTX_SPECIAL_IS_EXPLICIT_CLUSTER + 1
};

static enum rows_sort sort_of(enum ptx_form form)
{
    if (form == PTX_FORM_BARRIER_CLUSTER_ARRIVE || form == PTX_FORM_BARRIER_CLUSTER_WAIT)
        return SORT_ELSEWHERE;
    if (form >= PTX_FORM_ST_ASYNC && form <= PTX_FORM_RED_ASYNC_LOGIC)
        return SORT_COPY;
    switch ((int)ptx_forms[form].opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        return SORT_LOADS;
    case PTX_OP_ST:
        return SORT_STORES;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return SORT_ATOMIC;
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_ACTIVEMASK:
    case PTX_OP_SHFL:
    case PTX_OP_ELECT:
        return SORT_WARP;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        return form == PTX_FORM_BAR_WARP ? SORT_WARP : SORT_BARRIER;
    case PTX_OP_PREFETCH:
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
    case PTX_OP_PMEVENT:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_NOP:
    case PTX_OP_BRKPT:
    case PTX_OP_PREFETCHU:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_SETMAXNREG:
    case PTX_OP_GRIDDEPCONTROL:
        return SORT_NOTHING;
    case PTX_OP_MBARRIER:
        return SORT_OBJECT;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
    case PTX_OP_MMA:
    case PTX_OP_WMMA:
        return SORT_MATRIX;
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
    case PTX_OP_SULD:
    case PTX_OP_SUST:
        return SORT_TEXTURE;
    case PTX_OP_MAPA:
    case PTX_OP_GETCTARANK:
        return SORT_CLUSTER;
    case PTX_OP_CP:
        return SORT_COPY;
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_CALL:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
    case PTX_OP_SSY:
    case PTX_OP_PREBRK:
    case PTX_OP_PRERET:
    case PTX_OP_SYNC:
    case PTX_OP_BREAK:
        return SORT_ELSEWHERE;
    default:
        return SORT_COMPUTES;
    }
}

/* ---- registers ---- */

/* The declared ones, by their bits. */
static const struct ptx_variable *variable_of(uint32_t bits)
{
    static const struct ptx_variable variables[] = {
        {.name = "p", .space = PTX_W_REG, .type = PTX_W_PRED, .count = 4},
        {.name = "h", .space = PTX_W_REG, .type = PTX_W_B16, .count = 8},
        {.name = "r", .space = PTX_W_REG, .type = PTX_W_B32, .count = 8},
        {.name = "w", .space = PTX_W_REG, .type = PTX_W_B64, .count = 8},
        {.name = "x", .space = PTX_W_REG, .type = PTX_W_B128, .count = 3}};
    return &variables[bits == 1 ? 0 : bits <= 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : 4];
}

struct ptx_operand *rows_operand(struct rows_making *m, enum ptx_operand_kind kind,
                                 const char *name)
{
    struct ptx_operand *o = ARENA_NEW(m->r->g->arena, struct ptx_operand);
    o->kind = kind;
    o->name = name;
    return o;
}

struct ptx_operand *rows_register_number(struct rows_making *m, uint32_t bits, uint32_t number)
{
    const struct ptx_variable *variable = variable_of(bits);
    struct ptx_operand *o = rows_operand(
        m, PTX_OPERAND_NAME, arena_printf(m->r->g->arena, "%s%u", variable->name, number));
    o->target_kind = PTX_TARGET_VARIABLE;
    o->target.variable = variable;
    return o;
}

struct ptx_operand *rows_register_of(struct rows_making *m, uint32_t bits)
{
    return rows_register_number(m, bits, gen_below(m->r->g, variable_of(bits)->count));
}

/* Registers may be wider than the type. */
static uint32_t wider(struct rows_making *m, uint32_t bits)
{
    static const uint32_t sizes[] = {16, 32, 64};
    uint32_t first = bits <= 16 ? 0 : bits == 32 ? 1 : 2;
    return sizes[gen_chance(m->r->g, 50) ? first : first + gen_below(m->r->g, 3 - first)];
}

struct ptx_operand *rows_integer(struct rows_making *m, uint64_t value)
{
    struct ptx_operand *o = rows_operand(m, PTX_OPERAND_INTEGER, NULL);
    o->value = value;
    return o;
}

/* ---- sources ---- */

enum rows_pool rows_pool_of(const struct rows_making *m, const struct ptx_item_pattern *item)
{
    enum ptx_word word =
        (enum ptx_word)m->i.words[item->kind == 'u' ? PTX_SLOT_TYPE2 : PTX_SLOT_TYPE];
    enum ptx_opcode opcode = ptx_forms[m->i.form].opcode;
    if (item->kind == 'k' || opcode == PTX_OP_CVTA)
        return ROWS_ADDRESSES;
    if (item->kind == 'd')
        return gen_chance(m->r->g, 70) ? ROWS_PLACES : ROWS_INTEGERS;
    switch ((int)word) {
    case PTX_W_F16:
    case PTX_W_F16X2:
        return ROWS_F16;
    case PTX_W_BF16:
    case PTX_W_BF16X2:
        return ROWS_BF16;
    case PTX_W_F32:
    case PTX_W_F32X2:
        return ROWS_F32;
    case PTX_W_F64:
        return ROWS_F64;
    default:
        return gen_chance(m->r->g, 80) ? ROWS_INTEGERS
                                       : (enum rows_pool)gen_below(m->r->g, ROWS_POOLS);
    }
}

/* The lane's value of the table becomes the register's. */
void rows_load(struct rows_making *m, const struct ptx_operand *o, enum rows_pool pool)
{
    uint32_t bytes = ptx_type_of(o->target.variable->type).bits / 8;
    if (bytes == 16) { /* of two halves: the table has words of 64 bits */
        rows_load(m, rows_register_number(m, 64, 6), pool);
        rows_load(m, rows_register_number(m, 64, 7), pool);
        text_format(&m->before, "\tmov.b128 %s, {w6, w7};\n", o->name);
        return;
    }
    uint32_t first = pool * ROWS_POOL + gen_below(m->r->g, ROWS_POOL - ROWS_STARTS + 1);
    uint32_t at = 8 * first + bytes * gen_below(m->r->g, 8 / bytes);
    text_format(&m->before, "\tld.const.b%u %s, [a+%u];\n", 8 * bytes, o->name, at);
}

static bool takes_constant(const struct ptx_type *type)
{
    return type->kind == PTX_CLASS_FLOAT ? type->bits > 16
                                         : type->kind != PTX_CLASS_PRED && type->bits < 128;
}

static struct ptx_operand *constant_of(struct rows_making *m, const struct ptx_item_pattern *item)
{
    bool is_float = item->type.kind == PTX_CLASS_FLOAT;
    struct ptx_operand *o = rows_operand(m,
                                         !is_float               ? PTX_OPERAND_INTEGER
                                         : item->type.bits == 32 ? PTX_OPERAND_FLOAT32
                                                                 : PTX_OPERAND_FLOAT64,
                                         NULL);
    uint64_t value = rows_value(m->r, rows_pool_of(m, item)), bits = item->type.bits;
    o->value = bits < 64 ? value & (((uint64_t)1 << bits) - 1) : value;
    return o;
}

/* Of 64 bits: what cvta, isspacep, mapa and getctarank ask about. */
static bool takes_address(const struct rows_making *m, const struct ptx_item_pattern *item)
{
    bool is_cvta = ptx_forms[m->i.form].opcode == PTX_OP_CVTA;
    return (item->kind == 'k' || is_cvta) && item->type.bits != 32;
}

/* The stack has 1,024 bytes: little, all, too much. */
static uint64_t stack_size(struct gen *g)
{
    static const uint32_t most[] = {40, 40, 40, 1025};
    return gen_chance(g, 10) ? 1022 + gen_below(g, 4) : gen_below(g, most[gen_below(g, 4)]);
}

static struct ptx_operand *source(struct rows_making *m, const struct ptx_item_pattern *item)
{
    struct gen *g = m->r->g;
    bool constant = takes_constant(&item->type) && item->kind != 'k';
    enum ptx_opcode opcode = ptx_forms[m->i.form].opcode;
    if (takes_address(m, item) && gen_chance(g, 75))
        return rows_known_address(m);
    if (opcode == PTX_OP_ALLOCA)
        return rows_integer(m, stack_size(g));
    if (opcode == PTX_OP_MAPA && item->kind == 'd' && gen_chance(g, 90))
        return rows_integer(m, gen_below(g, rows_cluster_size(m->r) + 1));
    if (constant && gen_chance(g, 20))
        return constant_of(m, item);
    if (m->stored && item->kind == 't' && gen_chance(g, 40)) {
        struct ptx_operand *o = rows_register_of(m, item->type.bits);
        o->name = m->stored;
        return o;
    }
    uint32_t bits = item->kind == 'k' && item->type.kind == PTX_CLASS_NONE ? 32u << gen_below(g, 2)
                    : item->relaxed ? wider(m, item->type.bits)
                                    : item->type.bits;
    struct ptx_operand *o = rows_register_of(m, bits);
    if (item->type.kind == PTX_CLASS_PRED)
        o->negated = item->negatable && gen_chance(g, 40);
    else if (gen_chance(g, 75))
        rows_load(m, o, rows_pool_of(m, item));
    return o;
}

/* ---- results ---- */

static struct ptx_operand *result(struct rows_making *m, const struct ptx_item_pattern *item)
{
    struct gen *g = m->r->g;
    if (item->sinkable && gen_chance(g, 15))
        return rows_operand(m, PTX_OPERAND_SINK, NULL);
    uint32_t bits = item->relaxed ? wider(m, item->type.bits) : item->type.bits;
    uint32_t number = gen_below(g, variable_of(bits)->count);
    struct ptx_operand *o = rows_register_number(m, bits, number);
    if (!item->paired || gen_chance(g, 50))
        return o;
    uint32_t other = number + 1 + gen_below(g, variable_of(1)->count - 1);
    struct ptx_operand *pair = rows_operand(m, PTX_OPERAND_PAIR, NULL);
    if (bits == 1 && gen_chance(g, 15))
        o = rows_operand(m, PTX_OPERAND_SINK, NULL);
    pair->items = o;
    o->next = gen_chance(g, 15) ? rows_operand(m, PTX_OPERAND_SINK, NULL)
                                : rows_register_number(m, 1, other % variable_of(1)->count);
    return pair;
}

struct ptx_operand *rows_vector(struct rows_making *m, const struct ptx_item_pattern *item,
                                uint32_t count, uint32_t bits)
{
    struct ptx_operand *all = rows_operand(m, PTX_OPERAND_VECTOR, NULL), **end = &all->items;
    uint32_t registers = variable_of(bits)->count, first = gen_below(m->r->g, registers);
    for (uint32_t k = 0; k < count; k++, end = &(*end)->next) {
        /* Two parts of a result are no one register: PTX does not say which of them it is. */
        *end = item->is_result && gen_chance(m->r->g, 20)
                   ? rows_operand(m, PTX_OPERAND_SINK, NULL)
                   : rows_register_number(m, bits, (first + k) % registers);
        if (!item->is_result && gen_chance(m->r->g, 75))
            rows_load(m, *end, rows_pool_of(m, item));
    }
    return all;
}

uint32_t rows_elements(const struct rows_making *m)
{
    enum ptx_word word = (enum ptx_word)m->i.words[PTX_SLOT_VECTOR];
    return word == PTX_W_V2 ? 2 : word == PTX_W_V4 ? 4 : word == PTX_W_V8 ? 8 : 1;
}

static struct ptx_operand *value(struct rows_making *m, const struct ptx_item_pattern *item)
{
    return item->is_result ? result(m, item) : source(m, item);
}

/* What a lane, its warp, the launch are; clocks are read by mov only. */
static struct ptx_operand *special(struct rows_making *m, uint32_t bits)
{
    enum ptx_special which = (enum ptx_special)gen_below(m->r->g, ROWS_SPECIALS);
    if (ptx_specials[which].bits != bits)
        return NULL;
    struct ptx_operand *o = rows_operand(m, PTX_OPERAND_NAME, ptx_specials[which].name);
    o->element = ptx_specials[which].has_elements ? "xyz"[gen_below(m->r->g, 3)] : 0;
    o->target_kind = PTX_TARGET_SPECIAL;
    o->target.special = which;
    return o;
}

/* Of mov: all, or the parts of one side. */
static struct ptx_operand *moved(struct rows_making *m, const struct ptx_item_pattern *item)
{
    struct gen *g = m->r->g;
    bool other = m->i.operands && m->i.operands->kind == PTX_OPERAND_VECTOR;
    bool is_number = item->type.kind != PTX_CLASS_FLOAT;
    if (item->type.kind == PTX_CLASS_BITS && item->type.bits >= 32 && !other && gen_chance(g, 40)) {
        uint32_t parts = item->type.bits == 64 && gen_chance(g, 50) ? 4 : 2;
        return rows_vector(m, item, parts, item->type.bits / parts);
    }
    struct ptx_operand *o = NULL;
    if (is_number && !item->is_result && !other && gen_chance(g, 30))
        o = special(m, item->type.bits);
    return o ? o : value(m, item);
}

/* ---- one instruction ---- */

static struct ptx_operand *made(struct rows_making *m, const struct ptx_item_pattern *item,
                                bool is_last)
{
    uint32_t parts = rows_elements(m), bits;
    struct ptx_operand *o = m->sort == SORT_COPY ? rows_copy_operand(m, item) : NULL;
    if (o)
        return o;
    switch (item->kind) {
    case 'a':
        o = rows_address(m);
        if (m->sort == SORT_ATOMIC && !m->at_bounds)
            rows_prepare_place(m, o);
        if (m->sort == SORT_OBJECT)
            rows_prepare_object(m, o);
        return o;
    case 'i':
        if (ptx_forms[m->i.form].opcode == PTX_OP_ALLOCA)
            return rows_integer(m, 1u << gen_below(m->r->g, 7));
        return rows_integer(m, gen_below(m->r->g, m->sort == SORT_NOTHING ? 16 : 256));
    case 'b':
        return rows_barrier_number(m);
    case 'd':
        if (m->sort == SORT_BARRIER)
            return rows_barrier_count(m);
        if (m->sort == SORT_OBJECT && !item->is_result)
            return rows_object_number(m);
        if (m->sort == SORT_MATRIX && item->optional)
            return rows_matrix_stride(m);
        return is_last && rows_takes_mask(m) ? rows_mask(m) : value(m, item);
    case 'm':
        return moved(m, item);
    case 'v':
        if (parts == 1)
            return value(m, item);
        bits = item->relaxed ? wider(m, item->type.bits) : item->type.bits;
        return rows_vector(m, item, parts, bits);
    case 't':
        if (m->sort == SORT_OBJECT)
            return rows_object_phase(m, item);
        return value(m, item);
    case 'x':
        return rows_coordinates(m, item);
    case 'D':
    case 'A':
    case 'B':
    case 'C':
    case 'F':
        return rows_fragment(m, item);
    default:
        return value(m, item);
    }
}

static void draw_words(struct rows_making *m)
{
    const char *modifiers = ptx_forms[m->i.form].modifiers;
    struct ptx_group group;
    while (ptx_group_next(&modifiers, &group)) {
        uint32_t count = 1;
        for (size_t k = 0; k < group.length; k++)
            count += group.words[k] == '|';
        if (group.optional && !gen_chance(m->r->g, 40))
            continue;
        const char *at = group.words;
        for (uint32_t skip = gen_below(m->r->g, count); skip > 0; skip--)
            at = strchr(at, '|') + 1;
        m->i.words[group.slot] = (uint8_t)ptx_word_find(at, strcspn(at, "| "));
    }
}

static void draw_operands(struct rows_making *m)
{
    const char *pattern = ptx_forms[m->i.form].operands;
    struct ptx_item_pattern item;
    m->end = &m->i.operands;
    while (ptx_item_next(&pattern, m->i.words, &item)) {
        if (item.optional && gen_chance(m->r->g, 40))
            continue;
        *m->end = made(m, &item, *pattern == '\0');
        m->end = &(*m->end)->next;
    }
}

/* The table of forms takes more than there are functions for. */
static bool exists(const struct rows_making *m)
{
    struct ptx_row_op op;
    const char *reason;
    bool alone = m->sort == SORT_WARP && ptx_forms[m->i.form].opcode != PTX_OP_ACTIVEMASK &&
                 !rows_takes_mask(m);
    if (m->wrong || (alone && m->r->warps == ROWS_SYNC_ONLY))
        return false;
    if (m->sort == SORT_ATOMIC)
        return m->i.words[PTX_SLOT_TYPE] == PTX_W_B128 ||
               ptx_atomic_find((enum ptx_word)m->i.words[PTX_SLOT_OP],
                               (enum ptx_word)m->i.words[PTX_SLOT_TYPE]) != NULL;
    bool is_clock = ptx_forms[m->i.form].opcode == PTX_OP_MOV &&
                    m->i.operands->next->target_kind == PTX_TARGET_SPECIAL;
    return (m->sort != SORT_COMPUTES && m->sort != SORT_CLUSTER) || is_clock ||
           ptx_row_find(&m->i, &op, &reason);
}

static bool is_wanted(const struct rows_gen *r, enum ptx_form form, enum rows_sorts sorts)
{
    enum rows_sort sort = sort_of(form);
    enum ptx_opcode opcode = ptx_forms[form].opcode;
    if (sorts == ROWS_AT_BOUNDS)
        return sort == SORT_LOADS || sort == SORT_STORES || sort == SORT_ATOMIC;
    static const enum rows_sort wanted[] = {
        [ROWS_OF_WARPS] = SORT_WARP,       [ROWS_OF_BARRIERS] = SORT_BARRIER,
        [ROWS_OF_OBJECTS] = SORT_OBJECT,   [ROWS_OF_MATRICES] = SORT_MATRIX,
        [ROWS_OF_TEXTURES] = SORT_TEXTURE, [ROWS_OF_ADDRESSES] = SORT_CLUSTER,
        [ROWS_OF_SUMS] = SORT_COMPUTES,    [ROWS_OF_COPIES] = SORT_COPY};
    if (sorts == ROWS_OF_ADDRESSES && (opcode == PTX_OP_CVTA || opcode == PTX_OP_ISSPACEP))
        return true;
    if (sorts != ROWS_ANY)
        return sort == wanted[sorts] && (sort != SORT_CLUSTER || r->cluster[0]);
    return sort < SORT_BARRIER ? sort != SORT_WARP || r->warps != ROWS_NO_WARPS
                               : sort == SORT_NOTHING;
}

/* Every second one of many kinds as often as it has ways: conversions have hundreds, each a function of its own. */
static enum ptx_form draw_form(struct rows_gen *r, enum rows_sorts sorts)
{
    const bool many = sorts == ROWS_ANY || sorts == ROWS_OF_SUMS || sorts == ROWS_OF_MATRICES;
    const bool by_ways = many && gen_chance(r->g, 50);
    enum ptx_form form;
    do {
        form = (enum ptx_form)gen_below(r->g, ROWS_FORMS);
    } while (!is_wanted(r, form, sorts) ||
             (by_ways && gen_below(r->g, WAYS) >= ptx_form_ways(form, WAYS)) ||
             (sorts == ROWS_OF_COPIES && form > PTX_FORM_CP_BULK_WAIT && gen_chance(r->g, 50)));
    return form;
}

static void draw_instruction(struct rows_making *m, enum rows_sorts sorts)
{
    struct gen *g = m->r->g;
    struct rows_gen *r = m->r;
    do {
        *m = (struct rows_making){
            .r = r, .i = {.form = draw_form(r, sorts)}, .before = {.arena = g->arena}};
        m->sort = sort_of(m->i.form);
        m->at_bounds = sorts == ROWS_AT_BOUNDS;
        if (gen_chance(g, m->sort != SORT_MATRIX ? 30 : r->dense ? 0 : 2)) {
            m->i.guard = rows_register_of(m, 1);
            m->i.guard->negated = gen_chance(g, 40);
        }
        draw_words(m);
        /* Of a function's parameter, which is local memory: of an entry's it is not. */
        if (r->called && m->i.form == PTX_FORM_ISSPACEP_ANY && gen_chance(g, 30))
            m->i.words[PTX_SLOT_SPACE] = PTX_W_PARAM;
        draw_operands(m);
    } while (!exists(m));
}

/* addc, subc and madc read what an instruction before them left. */
static void put_carry(struct rows_making *m)
{
    const struct ptx_item_pattern item = {.kind = 't', .type = {PTX_CLASS_INT, 32, false}};
    struct ptx_operand *a = rows_register_of(m, 32), *b = rows_register_of(m, 32);
    rows_load(m, a, rows_pool_of(m, &item));
    rows_load(m, b, rows_pool_of(m, &item));
    uint32_t result = gen_below(m->r->g, 8);
    text_format(&m->before, "\t%s.cc.u32 r%u, %s, %s;\n", gen_chance(m->r->g, 50) ? "add" : "sub",
                result, a->name, b->name);
}

/* What stackrestore takes off, most often: a piece behind what was saved. */
static void put_stack(struct rows_making *m)
{
    const struct ptx_operand *saved = m->i.operands;
    if (saved->kind != PTX_OPERAND_NAME || gen_chance(m->r->g, 15))
        return;
    const uint32_t bits = ptx_type_of(saved->target.variable->type).bits;
    text_format(&m->before, "\tstacksave.u%u %s;\n\talloca.u64 w5, %u;\n", bits, saved->name,
                (unsigned)stack_size(m->r->g));
}

void rows_put_instruction(struct rows_gen *r, enum rows_sorts sorts)
{
    struct rows_making m = {.r = r};
    draw_instruction(&m, sorts);
    enum ptx_opcode opcode = ptx_forms[m.i.form].opcode;
    if (opcode == PTX_OP_ADDC || opcode == PTX_OP_SUBC || opcode == PTX_OP_MADC) {
        struct rows_making carry = {.r = r, .before = {.arena = r->g->arena}};
        put_carry(&carry);
        text_put(&r->text, carry.before.bytes);
    }
    if (opcode == PTX_OP_STACKRESTORE)
        put_stack(&m);
    if (m.before.bytes)
        text_put(&r->text, m.before.bytes);
    text_format(&r->text, "\t%s\n", ptx_print_instruction(r->g->arena, &m.i));
}

void rows_put_form(struct rows_gen *r, enum ptx_form form)
{
    struct rows_making m = {.r = r, .i = {.form = form}};
    draw_words(&m);
    text_format(&r->text, "\t%s\n", ptx_print_instruction(r->g->arena, &m.i));
}

void rows_put_guard(struct rows_gen *r, const char *behind)
{
    uint32_t number = gen_below(r->g, 4);
    text_format(&r->text, "\t@%sp%u %s", gen_chance(r->g, 40) ? "!" : "", number, behind);
}
