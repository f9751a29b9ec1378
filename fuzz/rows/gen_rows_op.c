/* One instruction: a row of the table, its modifiers, its operands. */
#include "engine/arith/ptx_rows.h"
#include "engine/base/invariant.h"
#include "fuzz/rows/gen_rows_internal.h"

#include <inttypes.h>
#include <string.h>

/* What an instruction of a row takes part in. */
enum sort {
    SORT_COMPUTES,
    SORT_LOADS,
    SORT_STORES,
    SORT_ATOMIC,
    SORT_WARP,
    SORT_BARRIER,
    SORT_OBJECT,   /* of an mbarrier */
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
    case PTX_OP_MBARRIER:
        return SORT_OBJECT;
    case PTX_OP_CP:
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
    bool at_bounds;           /* of a variable */
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
    enum ptx_special which = (enum ptx_special)gen_below(m->r->g, PTX_SPECIAL_WARP_SZ + 1);
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

/* Of the spaces that an access may name, the variables whose bounds are looked for; NULL: none. */
static const char *bounded_variable(struct making *m, const char **space)
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
static int32_t draw_bound(struct making *m, uint32_t bytes)
{
    struct gen *g = m->r->g;
    uint32_t element = bytes / elements(m), bound = m->r->bound;
    int32_t fits = (int32_t)((bound - bytes) / bytes * bytes);
    switch (gen_below(g, 8)) {
    case 0:
        return 0;
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
static struct ptx_operand *address_at_bounds(struct making *m)
{
    struct gen *g = m->r->g;
    const char *space, *variable = bounded_variable(m, &space);
    uint32_t bytes = access_bytes(m), element = bytes / elements(m), most = m->r->bound - bytes;
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
        m->i.guard = register_number(m, 1, 3);
        m->i.guard->negated = gen_chance(g, 20);
    }
    text_format(&m->before, "\tadd.s64 e, e, -%" PRIu32 ";\n", offset);
    if (space)
        text_format(&m->before, "\tcvta.%s.u64 e, e;\n", space);
    struct ptx_operand *o = operand(m, PTX_OPERAND_ADDRESS, "e");
    o->value = offset;
    return o;
}

/* An mbarrier of the lane, or of its warp. */
static struct ptx_operand *address_of_object(struct making *m)
{
    bool common = gen_chance(m->r->g, 40), generic = m->i.words[PTX_SLOT_SPACE] == PTX_W_NONE;
    return operand(m, PTX_OPERAND_ADDRESS, common ? generic ? "gc" : "mc" : generic ? "go" : "mo");
}

static struct ptx_operand *address(struct making *m)
{
    if (m->sort == SORT_OBJECT)
        return address_of_object(m);
    if (m->at_bounds)
        return address_at_bounds(m);
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

/* One or two numbers, `first` and one that is `more`, by the lane. */
static struct ptx_operand *by_lane(struct making *m, const char *name, uint32_t first, int32_t more)
{
    text_format(&m->before, "\tand.b32 %s, t, 1;\n\tmad.lo.s32 %s, %s, %d, %u;\n", name, name, name,
                (int)more, first);
    return operand(m, PTX_OPERAND_NAME, name);
}

static struct ptx_operand *barrier_number(struct making *m)
{
    struct gen *g = m->r->g;
    uint32_t first;
    switch (gen_below(g, 10)) {
    case 0:
        return integer(m, 15 - gen_below(g, 2));
    case 1: /* 15 is the last number */
        first = 15 + gen_below(g, 2);
        return by_lane(m, "m", first, (int32_t)gen_below(g, 2));
    case 2:
        return by_lane(m, "m", gen_below(g, 3), 1);
    case 3: /* the first lane names the greatest */
        first = 1 + gen_below(g, 15);
        return by_lane(m, "m", first, -1 - (int32_t)gen_below(g, first));
    default:
        return integer(m, gen_below(g, 3));
    }
}

/* All lanes, those of one warp or some, and wrong numbers. */
static struct ptx_operand *barrier_count(struct making *m)
{
    struct gen *g = m->r->g;
    uint32_t warp = g->kernel->launch.warp, all = rows_all_lanes(m->r), first;
    switch (gen_below(g, 13)) {
    case 0:
        return integer(m, warp * gen_below(g, all / warp + 2));
    case 1:
        return integer(m, all + gen_below(g, 3) - 1);
    case 2:
        return by_lane(m, "n", all, (int32_t)gen_below(g, 2));
    case 3: /* the first lane gives the greatest, of whole warps or not */
        first = gen_chance(g, 50) ? all : all + warp;
        return by_lane(m, "n", first, -(int32_t)(gen_chance(g, 60) ? warp : 1));
    case 4:
    case 5:
    case 6:
        return integer(m, warp);
    default:
        return integer(m, all);
    }
}

/* ---- mbarriers ---- */

/* Arrivals and transactions that an object has room for, phases; seldom what is undefined. */
static struct ptx_operand *object_number(struct making *m)
{
    struct gen *g = m->r->g;
    switch ((int)m->i.form) {
    case PTX_FORM_MBARRIER_INIT:
        return integer(m, 1 + gen_below(g, 3) * gen_below(g, 3));
    case PTX_FORM_MBARRIER_ARRIVE_TX:
    case PTX_FORM_MBARRIER_TX:
        return integer(m, gen_chance(g, 5) ? (1u << 20) - gen_below(g, 2) : 4 * gen_below(g, 3));
    case PTX_FORM_MBARRIER_TEST_PARITY:
    case PTX_FORM_MBARRIER_TRY_PARITY:
        return integer(m, gen_below(g, gen_chance(g, 10) ? 4 : 2));
    default:
        return integer(m, gen_chance(g, 5) ? 0 : 1 + gen_below(g, 10) / 9);
    }
}

/* A phase that an arrival has told, or any. */
static struct ptx_operand *object_phase(struct making *m, const struct ptx_item_pattern *item)
{
    return item->is_result && gen_chance(m->r->g, 15)
               ? operand(m, PTX_OPERAND_SINK, NULL)
               : register_number(m, 64, gen_chance(m->r->g, 80) ? 0 : 1);
}

/* What is there is made invalid before it is made anew; and what was made invalid is seldom drawn. */
static void prepare_object(struct making *m, const struct ptx_operand *at)
{
    struct gen *g = m->r->g;
    bool kept = gen_chance(g, 90);
    m->wrong |= m->i.form == PTX_FORM_MBARRIER_INVAL && kept;
    m->wrong |= m->i.words[PTX_SLOT_SYNC] == PTX_W_ARRIVE_DROP && gen_chance(g, 70);
    if (m->i.form == PTX_FORM_MBARRIER_INIT && kept) {
        const char *sign = m->i.guard && m->i.guard->negated ? "!" : "";
        const char *guard =
            m->i.guard ? arena_printf(g->arena, "@%s%s ", sign, m->i.guard->name) : "";
        text_format(&m->before, "\t%smbarrier.inval.b64 [%s];\n", guard,
                    at->name[1] == 'c' ? "gc" : "go");
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
        if (m->sort == SORT_ATOMIC && !m->at_bounds)
            prepare_place(m, o);
        if (m->sort == SORT_OBJECT)
            prepare_object(m, o);
        return o;
    case 'i':
        return integer(m, gen_below(m->r->g, m->sort == SORT_NOTHING ? 16 : 256));
    case 'b':
        return barrier_number(m);
    case 'd':
        if (m->sort == SORT_BARRIER)
            return barrier_count(m);
        if (m->sort == SORT_OBJECT && !item->is_result)
            return object_number(m);
        return is_last && takes_mask(m) ? mask(m) : value(m, item);
    case 'm':
        return moved(m, item);
    case 'v':
        return parts > 1 ? vector(m, item, parts, wider(m, item->type.bits)) : value(m, item);
    case 't':
        if (m->sort == SORT_OBJECT)
            return object_phase(m, item);
        return value(m, item);
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
    if (sorts == ROWS_AT_BOUNDS)
        return sort == SORT_LOADS || sort == SORT_STORES || sort == SORT_ATOMIC;
    if (sorts != ROWS_ANY)
        return sort == (sorts == ROWS_OF_WARPS     ? SORT_WARP
                        : sorts == ROWS_OF_OBJECTS ? SORT_OBJECT
                                                   : SORT_BARRIER);
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
        m->at_bounds = sorts == ROWS_AT_BOUNDS;
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
