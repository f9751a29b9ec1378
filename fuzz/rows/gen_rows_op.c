/* One instruction: a row of the table, its modifiers, its operands. */
#include "engine/arith/ptx_rows.h"
#include "engine/base/invariant.h"
#include "fuzz/rows/gen_rows_internal.h"

#include <string.h>

/* What an instruction of a row takes part in. */
enum sort {
    SORT_COMPUTES,
    SORT_LOADS,
    SORT_STORES,
    SORT_ATOMIC,
    SORT_WARP,
    SORT_BARRIER,
    SORT_NOTHING,  /* fences, hints */
    SORT_ELSEWHERE /* control flow, copies under way: made by other generators */
};

/* Forms that are drawn: those before the matrices, so that what the table has behind changes no case. */
enum { ROWS_FORMS = PTX_FORM_LDMATRIX_ANY };

static enum sort sort_of(enum ptx_form form)
{
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
        return SORT_NOTHING;
    case PTX_OP_CP:
    case PTX_OP_MBARRIER:
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_CALL:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT:
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

struct making {
    struct rows_gen *r;
    struct ptx_instruction i;
    enum sort sort;
    struct ptx_operand **end; /* of the operands */
    struct text before;       /* what loads them */
    const char *stored;       /* the register that an atomic operation's place holds */
    bool wrong;               /* no such instruction is made */
};

/* ---- registers ---- */

/* The declared ones, by their bits. */
static const struct ptx_variable *variable_of(uint32_t bits)
{
    static const struct ptx_variable variables[] = {
        {.name = "p", .space = PTX_W_REG, .type = PTX_W_PRED, .count = 4},
        {.name = "h", .space = PTX_W_REG, .type = PTX_W_B16, .count = 6},
        {.name = "r", .space = PTX_W_REG, .type = PTX_W_B32, .count = 8},
        {.name = "w", .space = PTX_W_REG, .type = PTX_W_B64, .count = 6}};
    return &variables[bits == 1 ? 0 : bits <= 16 ? 1 : bits == 32 ? 2 : 3];
}

static struct ptx_operand *operand(struct making *m, enum ptx_operand_kind kind, const char *name)
{
    struct ptx_operand *o = ARENA_NEW(m->r->g->arena, struct ptx_operand);
    o->kind = kind;
    o->name = name;
    return o;
}

static struct ptx_operand *register_number(struct making *m, uint32_t bits, uint32_t number)
{
    const struct ptx_variable *variable = variable_of(bits);
    struct ptx_operand *o =
        operand(m, PTX_OPERAND_NAME, arena_printf(m->r->g->arena, "%s%u", variable->name, number));
    o->target_kind = PTX_TARGET_VARIABLE;
    o->target.variable = variable;
    return o;
}

static struct ptx_operand *register_of(struct making *m, uint32_t bits)
{
    return register_number(m, bits, gen_below(m->r->g, variable_of(bits)->count));
}

/* Registers may be wider than the type. */
static uint32_t wider(struct making *m, uint32_t bits)
{
    static const uint32_t sizes[] = {16, 32, 64};
    uint32_t first = bits <= 16 ? 0 : bits == 32 ? 1 : 2;
    return sizes[gen_chance(m->r->g, 50) ? first : first + gen_below(m->r->g, 3 - first)];
}

/* ---- sources ---- */

static enum rows_pool pool_of(const struct making *m, const struct ptx_item_pattern *item)
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
        return ROWS_F32;
    case PTX_W_F64:
        return ROWS_F64;
    default:
        return gen_chance(m->r->g, 80) ? ROWS_INTEGERS
                                       : (enum rows_pool)gen_below(m->r->g, ROWS_POOLS);
    }
}

/* The lane's value of the table becomes the register's. */
static void load(struct making *m, const struct ptx_operand *o, enum rows_pool pool)
{
    uint32_t bytes = ptx_type_of(o->target.variable->type).bits / 8;
    uint32_t first = pool * ROWS_POOL + gen_below(m->r->g, ROWS_POOL - ROWS_STARTS + 1);
    uint32_t at = 8 * first + bytes * gen_below(m->r->g, 8 / bytes);
    text_format(&m->before, "\tld.const.b%u %s, [a+%u];\n", 8 * bytes, o->name, at);
}

static bool takes_constant(const struct ptx_type *type)
{
    return type->kind == PTX_CLASS_FLOAT ? type->bits > 16 : type->kind != PTX_CLASS_PRED;
}

static struct ptx_operand *constant_of(struct making *m, const struct ptx_item_pattern *item)
{
    bool is_float = item->type.kind == PTX_CLASS_FLOAT;
    struct ptx_operand *o = operand(m,
                                    !is_float               ? PTX_OPERAND_INTEGER
                                    : item->type.bits == 32 ? PTX_OPERAND_FLOAT32
                                                            : PTX_OPERAND_FLOAT64,
                                    NULL);
    uint64_t value = rows_value(m->r->g, pool_of(m, item)), bits = item->type.bits;
    o->value = bits < 64    ? value & (((uint64_t)1 << bits) - 1)
               : bits == 64 ? value
                            : 0; /* constants have 64 bits */
    return o;
}

static struct ptx_operand *source(struct making *m, const struct ptx_item_pattern *item)
{
    struct gen *g = m->r->g;
    bool constant = takes_constant(&item->type) && item->kind != 'k';
    if (constant && gen_chance(g, 20))
        return constant_of(m, item);
    if (m->stored && item->kind == 't' && gen_chance(g, 40)) {
        struct ptx_operand *o = register_of(m, item->type.bits);
        o->name = m->stored;
        return o;
    }
    uint32_t bits = item->kind == 'k' && item->type.kind == PTX_CLASS_NONE ? 32u << gen_below(g, 2)
                    : item->relaxed ? wider(m, item->type.bits)
                                    : item->type.bits;
    struct ptx_operand *o = register_of(m, bits);
    if (item->type.kind == PTX_CLASS_PRED)
        o->negated = item->negatable && gen_chance(g, 40);
    else if (gen_chance(g, 75))
        load(m, o, pool_of(m, item));
    return o;
}

/* ---- results ---- */

static struct ptx_operand *result(struct making *m, const struct ptx_item_pattern *item)
{
    struct gen *g = m->r->g;
    if (item->sinkable && gen_chance(g, 15))
        return operand(m, PTX_OPERAND_SINK, NULL);
    uint32_t bits = item->relaxed ? wider(m, item->type.bits) : item->type.bits;
    uint32_t number = gen_below(g, variable_of(bits)->count);
    struct ptx_operand *o = register_number(m, bits, number);
    if (!item->paired || gen_chance(g, 50))
        return o;
    uint32_t other = number + 1 + gen_below(g, variable_of(1)->count - 1);
    struct ptx_operand *pair = operand(m, PTX_OPERAND_PAIR, NULL);
    if (bits == 1 && gen_chance(g, 15))
        o = operand(m, PTX_OPERAND_SINK, NULL);
    pair->items = o;
    o->next = gen_chance(g, 15) ? operand(m, PTX_OPERAND_SINK, NULL)
                                : register_number(m, 1, other % variable_of(1)->count);
    return pair;
}

static struct ptx_operand *vector(struct making *m, const struct ptx_item_pattern *item,
                                  uint32_t count, uint32_t bits)
{
    struct ptx_operand *all = operand(m, PTX_OPERAND_VECTOR, NULL), **end = &all->items;
    uint32_t registers = variable_of(bits)->count, first = gen_below(m->r->g, registers);
    for (uint32_t k = 0; k < count; k++, end = &(*end)->next) {
        /* Two parts of a result are no one register: PTX does not say which of them it is. */
        *end = item->is_result && gen_chance(m->r->g, 10)
                   ? operand(m, PTX_OPERAND_SINK, NULL)
                   : register_number(m, bits, (first + k) % registers);
        if (!item->is_result && gen_chance(m->r->g, 75))
            load(m, *end, pool_of(m, item));
    }
    return all;
}

static uint32_t elements(const struct making *m)
{
    enum ptx_word word = (enum ptx_word)m->i.words[PTX_SLOT_VECTOR];
    return word == PTX_W_V2 ? 2 : word == PTX_W_V4 ? 4 : 1;
}

static struct ptx_operand *value(struct making *m, const struct ptx_item_pattern *item)
{
    return item->is_result ? result(m, item) : source(m, item);
}

/* What a lane, its warp, the launch are; clocks are read by mov only. */
static struct ptx_operand *special(struct making *m, uint32_t bits)
{
    enum ptx_special which = (enum ptx_special)gen_below(m->r->g, PTX_SPECIAL_COUNT);
    if (ptx_specials[which].bits != bits)
        return NULL;
    struct ptx_operand *o = operand(m, PTX_OPERAND_NAME, ptx_specials[which].name);
    o->element = ptx_specials[which].has_elements ? "xyz"[gen_below(m->r->g, 3)] : 0;
    o->target_kind = PTX_TARGET_SPECIAL;
    o->target.special = which;
    return o;
}

/* Of mov: all, or the parts of one side. */
static struct ptx_operand *moved(struct making *m, const struct ptx_item_pattern *item)
{
    struct gen *g = m->r->g;
    bool other = m->i.operands && m->i.operands->kind == PTX_OPERAND_VECTOR;
    bool is_number = item->type.kind == PTX_CLASS_INT || item->type.kind == PTX_CLASS_BITS;
    if (item->type.kind == PTX_CLASS_BITS && item->type.bits >= 32 && !other && gen_chance(g, 40)) {
        uint32_t parts = item->type.bits == 64 && gen_chance(g, 50) ? 4 : 2;
        return vector(m, item, parts, item->type.bits / parts);
    }
    struct ptx_operand *o = NULL;
    if (is_number && !item->is_result && !other && gen_chance(g, 30))
        o = special(m, item->type.bits);
    return o ? o : value(m, item);
}

/* ---- addresses ---- */

static uint32_t access_bytes(const struct making *m)
{
    uint32_t bits = ptx_type_of((enum ptx_word)m->i.words[PTX_SLOT_TYPE]).bits;
    return bits ? elements(m) * bits / 8 : 1;
}

/* A register that holds the address of the lane's own area in the space, or a variable's name. */
static const char *base_of(struct making *m)
{
    struct gen *g = m->r->g;
    switch ((int)m->i.words[PTX_SLOT_SPACE]) {
    case PTX_W_GLOBAL:
        return "ga";
    case PTX_W_SHARED:
    case PTX_W_SHARED_CTA:
    case PTX_W_SHARED_CLUSTER:
        return "sa";
    case PTX_W_LOCAL:
        return gen_chance(g, 50) ? "la" : "loc";
    case PTX_W_CONST:
        m->wrong |= m->sort != SORT_LOADS;
        return gen_chance(g, 50) ? "a" : "in";
    case PTX_W_PARAM_ENTRY:
        m->wrong |= m->sort != SORT_LOADS;
        return "box";
    case PTX_W_PARAM:
        return m->sort == SORT_LOADS && gen_chance(g, 50) ? "box" : "parcel";
    case PTX_W_PARAM_FUNC:
        return "parcel";
    default: {
        static const char *const generic[] = {"ga", "gs", "gl"};
        bool is_global = ptx_forms[m->i.form].opcode == PTX_OP_LDU; /* its only space */
        return generic[is_global ? 0 : gen_below(g, m->sort == SORT_ATOMIC ? 2 : 3)];
    }
    }
}

static struct ptx_operand *address(struct making *m)
{
    struct ptx_operand *o = operand(m, PTX_OPERAND_ADDRESS, base_of(m));
    uint32_t bytes = access_bytes(m);
    bool in_table = strcmp(o->name, "a") == 0;
    o->value = in_table ? 0 : bytes * gen_below(m->r->g, ROWS_AREA / bytes);
    m->wrong |= in_table && bytes > 8; /* lanes stand at multiples of 8 */
    return o;
}

/* What an atomic operation finds in its place; and cas, if it is lucky, what it expects. */
static void prepare_place(struct making *m, const struct ptx_operand *at)
{
    const struct ptx_item_pattern item = {
        .kind = 't', .type = ptx_type_of((enum ptx_word)m->i.words[PTX_SLOT_TYPE])};
    struct ptx_operand *o = register_of(m, item.type.bits);
    enum ptx_word space = (enum ptx_word)m->i.words[PTX_SLOT_SPACE];
    load(m, o, pool_of(m, &item));
    text_format(&m->before, "\tst%s%s.b%u [%s+%u], %s;\n", space ? "." : "",
                space ? ptx_words[space] : "", item.type.bits, at->name, (unsigned)at->value,
                o->name);
    m->stored = o->name;
}

/* ---- masks ---- */

static struct ptx_operand *integer(struct making *m, uint64_t value)
{
    struct ptx_operand *o = operand(m, PTX_OPERAND_INTEGER, NULL);
    o->value = value;
    return o;
}

static bool takes_mask(const struct making *m)
{
    return m->sort == SORT_WARP &&
           (m->i.words[PTX_SLOT_SYNC] == PTX_W_SYNC || m->i.form == PTX_FORM_BAR_WARP);
}

/* The lanes that come here: all of the warp where none has gone another way, or those of the lane's group; else those
 * that are here. */
static struct ptx_operand *mask(struct making *m)
{
    struct gen *g = m->r->g;
    if (m->r->apart || m->i.guard) {
        m->wrong |= m->r->g->kernel->launch.warp > 32;
        text_put(&m->before, "\t");
        if (m->i.guard)
            text_format(&m->before, "@%s%s ", m->i.guard->negated ? "!" : "", m->i.guard->name);
        text_put(&m->before, "activemask.b32 m;\n");
        return operand(m, PTX_OPERAND_NAME, "m");
    }
    uint32_t lanes;
    switch (gen_below(g, 16)) {
    case 0: /* some lanes name others who name less, or more */
        lanes = gen_below(g, 4);
        text_format(&m->before, "\tselp.b32 m, even, %s, p%u;\n", gen_chance(g, 50) ? "half" : "-1",
                    lanes);
        return operand(m, PTX_OPERAND_NAME, "m");
    case 1:
    case 2:
    case 3:
        return operand(m, PTX_OPERAND_NAME, "half");
    case 4:
    case 5:
    case 6:
        return operand(m, PTX_OPERAND_NAME, "even");
    default:
        return integer(m, UINT32_MAX);
    }
}

/* ---- barriers ---- */

/* One or two numbers from `first` on, by the lane. */
static struct ptx_operand *by_lane(struct making *m, const char *name, uint32_t first, bool two)
{
    text_format(&m->before, "\tand.b32 %s, t, %d;\n\tadd.u32 %s, %s, %u;\n", name, two, name, name,
                first);
    return operand(m, PTX_OPERAND_NAME, name);
}

static struct ptx_operand *barrier_number(struct making *m)
{
    struct gen *g = m->r->g;
    bool two;
    switch (gen_below(g, 9)) {
    case 0:
        return integer(m, 15 - gen_below(g, 2));
    case 1: /* 15 is the last number */
        two = gen_below(g, 2);
        return by_lane(m, "m", 15 + gen_below(g, 2), two);
    case 2:
        return by_lane(m, "m", gen_below(g, 3), true);
    default:
        return integer(m, gen_below(g, 3));
    }
}

/* All lanes, those of one warp or some, and wrong numbers. */
static struct ptx_operand *barrier_count(struct making *m)
{
    struct gen *g = m->r->g;
    uint32_t warp = g->kernel->launch.warp, all = rows_all_lanes(m->r);
    switch (gen_below(g, 12)) {
    case 0:
        return integer(m, warp * gen_below(g, all / warp + 2));
    case 1:
        return integer(m, all + gen_below(g, 3) - 1);
    case 2:
        return by_lane(m, "n", all, gen_below(g, 2));
    case 3:
    case 4:
    case 5:
        return integer(m, warp);
    default:
        return integer(m, all);
    }
}

/* ---- one instruction ---- */

static struct ptx_operand *made(struct making *m, const struct ptx_item_pattern *item, bool is_last)
{
    uint32_t parts = elements(m);
    struct ptx_operand *o;
    switch (item->kind) {
    case 'a':
        o = address(m);
        if (m->sort == SORT_ATOMIC)
            prepare_place(m, o);
        return o;
    case 'i':
        return integer(m, gen_below(m->r->g, m->sort == SORT_NOTHING ? 16 : 256));
    case 'b':
        return barrier_number(m);
    case 'd':
        if (m->sort == SORT_BARRIER)
            return barrier_count(m);
        return is_last && takes_mask(m) ? mask(m) : value(m, item);
    case 'm':
        return moved(m, item);
    case 'v':
        return parts > 1 ? vector(m, item, parts, wider(m, item->type.bits)) : value(m, item);
    default:
        return value(m, item);
    }
}

static void draw_words(struct making *m)
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

static void draw_operands(struct making *m)
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
static bool exists(const struct making *m)
{
    struct ptx_row_op op;
    const char *reason;
    bool alone =
        m->sort == SORT_WARP && ptx_forms[m->i.form].opcode != PTX_OP_ACTIVEMASK && !takes_mask(m);
    if (m->wrong || (alone && m->r->warps == ROWS_SYNC_ONLY))
        return false;
    if (m->sort == SORT_ATOMIC)
        return ptx_atomic_find((enum ptx_word)m->i.words[PTX_SLOT_OP],
                               (enum ptx_word)m->i.words[PTX_SLOT_TYPE]) != NULL;
    bool is_clock = ptx_forms[m->i.form].opcode == PTX_OP_MOV &&
                    m->i.operands->next->target_kind == PTX_TARGET_SPECIAL;
    return m->sort != SORT_COMPUTES || is_clock || ptx_row_find(&m->i, &op, &reason);
}

static bool is_wanted(const struct rows_gen *r, enum ptx_form form, enum rows_sorts sorts)
{
    enum sort sort = sort_of(form);
    if (sorts != ROWS_ANY)
        return sort == (sorts == ROWS_OF_WARPS ? SORT_WARP : SORT_BARRIER);
    return sort < SORT_BARRIER ? sort != SORT_WARP || r->warps != ROWS_NO_WARPS
                               : sort == SORT_NOTHING;
}

static enum ptx_form draw_form(struct rows_gen *r, enum rows_sorts sorts)
{
    enum ptx_form form;
    do {
        form = (enum ptx_form)gen_below(r->g, ROWS_FORMS);
    } while (!is_wanted(r, form, sorts));
    return form;
}

static void draw_instruction(struct making *m, enum rows_sorts sorts)
{
    struct gen *g = m->r->g;
    struct rows_gen *r = m->r;
    do {
        *m = (struct making){
            .r = r, .i = {.form = draw_form(r, sorts)}, .before = {.arena = g->arena}};
        m->sort = sort_of(m->i.form);
        if (gen_chance(g, 30)) {
            m->i.guard = register_of(m, 1);
            m->i.guard->negated = gen_chance(g, 40);
        }
        draw_words(m);
        draw_operands(m);
    } while (!exists(m));
}

/* addc, subc and madc read what an instruction before them left. */
static void put_carry(struct making *m)
{
    const struct ptx_item_pattern item = {.kind = 't', .type = {PTX_CLASS_INT, 32, false}};
    struct ptx_operand *a = register_of(m, 32), *b = register_of(m, 32);
    load(m, a, pool_of(m, &item));
    load(m, b, pool_of(m, &item));
    uint32_t result = gen_below(m->r->g, 8);
    text_format(&m->before, "\t%s.cc.u32 r%u, %s, %s;\n", gen_chance(m->r->g, 50) ? "add" : "sub",
                result, a->name, b->name);
}

void rows_put_instruction(struct rows_gen *r, enum rows_sorts sorts)
{
    struct making m = {.r = r};
    draw_instruction(&m, sorts);
    enum ptx_opcode opcode = ptx_forms[m.i.form].opcode;
    if (opcode == PTX_OP_ADDC || opcode == PTX_OP_SUBC || opcode == PTX_OP_MADC) {
        struct making carry = {.r = r, .before = {.arena = r->g->arena}};
        put_carry(&carry);
        text_put(&r->text, carry.before.bytes);
    }
    if (m.before.bytes)
        text_put(&r->text, m.before.bytes);
    text_format(&r->text, "\t%s\n", ptx_print_instruction(r->g->arena, &m.i));
}

void rows_put_guard(struct rows_gen *r, const char *behind)
{
    uint32_t number = gen_below(r->g, 4);
    text_format(&r->text, "\t@%sp%u %s", gen_chance(r->g, 40) ? "!" : "", number, behind);
}
