#include "oracle/reference/computed.h"

#include "engine/arith/ptx_rows.h"
#include "engine/base/arena.h"
#include "engine/base/pcg.h"
#include "engine/reference_ptx/ref_ptx.h"

#include <stdatomic.h>
#include <string.h>

enum {
    OPERANDS = 24,
    LANES = 32,
    WAYS = 12,  /* in which the list has each form, or as many as the form has, .. */
    MANY = 256, /* .. up to this: more ways of an instruction's modifiers count as so many */
    TRIES = 64
};

/* What an element of a source holds: a value of this type, in a register of so many bits. */
struct kind {
    enum ptx_word word;
    struct ptx_type type;
    bool is_place; /* a count, a position, a mask */
    uint32_t bits;
};

struct drawing {
    struct pcg rng;
    struct ptx_instruction i;
    struct ptx_operand operands[OPERANDS];
    struct kind kinds[PTX_ROW_SOURCES];
    uint32_t operand_count, source_count;
    bool is_too_large;
    uint64_t s[PTX_ROW_SOURCES][LANES];
};

static bool chance(struct drawing *d, uint32_t percent)
{
    return pcg_below(&d->rng, 100) < percent;
}

/* ---- the instruction ---- */

static const struct ptx_variable *variable_of(uint32_t bits)
{
    static const struct ptx_variable variables[] = {
        {.name = "p", .space = PTX_W_REG, .type = PTX_W_PRED, .count = 1},
        {.name = "h", .space = PTX_W_REG, .type = PTX_W_B16, .count = 1},
        {.name = "r", .space = PTX_W_REG, .type = PTX_W_B32, .count = 1},
        {.name = "w", .space = PTX_W_REG, .type = PTX_W_B64, .count = 1},
        {.name = "x", .space = PTX_W_REG, .type = PTX_W_B128, .count = 1}};
    return &variables[bits == 1 ? 0 : bits <= 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : 4];
}

static struct ptx_operand *operand(struct drawing *d, enum ptx_operand_kind kind)
{
    d->is_too_large |= d->operand_count == OPERANDS;
    struct ptx_operand *o = &d->operands[d->is_too_large ? 0 : d->operand_count++];
    *o = (struct ptx_operand){.kind = kind};
    return o;
}

static struct ptx_operand *register_of(struct drawing *d, uint32_t bits)
{
    struct ptx_operand *o = operand(d, PTX_OPERAND_NAME);
    o->name = variable_of(bits)->name;
    o->target_kind = PTX_TARGET_VARIABLE;
    o->target.variable = variable_of(bits);
    return o;
}

static void note_source(struct drawing *d, const struct ptx_item_pattern *item, uint32_t bits)
{
    const enum ptx_slot slot = item->kind == 'u' ? PTX_SLOT_TYPE2 : PTX_SLOT_TYPE;
    if (item->is_result)
        return;
    d->is_too_large |= d->source_count == PTX_ROW_SOURCES;
    if (!d->is_too_large)
        d->kinds[d->source_count++] = (struct kind){.word = (enum ptx_word)d->i.words[slot],
                                                    .type = item->type,
                                                    .is_place = item->kind == 'd',
                                                    .bits = bits};
}

static uint32_t register_bits(struct drawing *d, const struct ptx_item_pattern *item)
{
    static const uint32_t sizes[] = {16, 32, 64};
    const uint32_t bits = item->type.bits, first = bits <= 16 ? 0 : bits == 32 ? 1 : 2;
    if (item->kind == 'k' && item->type.kind == PTX_CLASS_NONE)
        return 32u << pcg_below(&d->rng, 2);
    return item->relaxed && chance(d, 50) ? sizes[first + pcg_below(&d->rng, 3 - first)] : bits;
}

/* Of mov: one side may be in parts. */
static struct ptx_operand *parts(struct drawing *d, const struct ptx_item_pattern *item)
{
    const uint32_t count = item->type.bits == 64 && chance(d, 50) ? 4 : 2,
                   bits = item->type.bits / count;
    struct ptx_operand *all = operand(d, PTX_OPERAND_VECTOR), **end = &all->items;
    for (uint32_t k = 0; k < count; k++, end = &(*end)->next) {
        *end = register_of(d, bits);
        note_source(d, item, bits);
    }
    return all;
}

static struct ptx_operand *drawn_operand(struct drawing *d, const struct ptx_item_pattern *item)
{
    const bool in_parts = d->i.operands && d->i.operands->kind == PTX_OPERAND_VECTOR;
    if (item->kind == 'i') {
        struct ptx_operand *number = operand(d, PTX_OPERAND_INTEGER);
        number->value = pcg_below(&d->rng, 256);
        return number;
    }
    if (item->kind == 'm' && item->type.kind == PTX_CLASS_BITS && item->type.bits >= 32 &&
        !in_parts && chance(d, 40))
        return parts(d, item);
    const uint32_t bits = register_bits(d, item);
    struct ptx_operand *o = register_of(d, bits);
    note_source(d, item, bits);
    if (bits == 128)
        note_source(d, item, bits);
    if (item->type.kind == PTX_CLASS_PRED && !item->is_result)
        o->negated = item->negatable && chance(d, 40);
    if (!item->paired || chance(d, 50))
        return o;
    struct ptx_operand *pair = operand(d, PTX_OPERAND_PAIR);
    pair->items = o;
    o->next = register_of(d, 1);
    return pair;
}

static void draw_words(struct drawing *d)
{
    const char *modifiers = ptx_forms[d->i.form].modifiers;
    struct ptx_group group;
    while (ptx_group_next(&modifiers, &group)) {
        uint32_t count = 1;
        for (size_t k = 0; k < group.length; k++)
            count += group.words[k] == '|';
        if (group.optional && !chance(d, 40))
            continue;
        const char *at = group.words;
        for (uint32_t skip = pcg_below(&d->rng, count); skip > 0; skip--)
            at = strchr(at, '|') + 1;
        d->i.words[group.slot] = (uint8_t)ptx_word_find(at, strcspn(at, "| "));
    }
}

static void draw_operands(struct drawing *d)
{
    const char *pattern = ptx_forms[d->i.form].operands;
    struct ptx_operand **end = &d->i.operands;
    struct ptx_item_pattern item;
    while (ptx_item_next(&pattern, d->i.words, &item)) {
        if (item.optional && chance(d, 40))
            continue;
        *end = drawn_operand(d, &item);
        end = &(*end)->next;
    }
}

static bool is_atomic(enum ptx_form form)
{
    return ptx_forms[form].opcode == PTX_OP_ATOM || ptx_forms[form].opcode == PTX_OP_RED;
}

static void draw(struct drawing *d, enum ptx_form form)
{
    d->i = (struct ptx_instruction){.form = form};
    d->operand_count = d->source_count = 0;
    d->is_too_large = false;
    draw_words(d);
    if (!is_atomic(form))
        draw_operands(d);
}

/* ---- values ---- */

/* 0, 1, -1, what lies around a power of two or its negative; anything. */
static uint64_t integer(struct drawing *d, uint32_t bits)
{
    const uint64_t all = UINT64_MAX >> (64 - bits);
    if (chance(d, 25))
        return pcg_next64(&d->rng) & all;
    const uint32_t k = chance(d, 50) ? bits - 1 : pcg_below(&d->rng, bits);
    const uint64_t value = (chance(d, 30) ? 0 : (uint64_t)1 << k) + pcg_below(&d->rng, 3) - 1;
    return (chance(d, 30) ? 0 - value : value) & all;
}

static uint64_t place(struct drawing *d)
{
    static const uint32_t ends[] = {8, 16, 32, 64, 128, 256};
    uint64_t value = chance(d, 50) ? pcg_below(&d->rng, 34)
                                   : ends[pcg_below(&d->rng, 6)] + pcg_below(&d->rng, 3) - 1;
    if (chance(d, 20))
        value = (value & 31) | (uint64_t)pcg_below(&d->rng, 32) << 8;
    return chance(d, 10) ? 0 - value : value;
}

/* Zeros, subnormal numbers, numbers around 1, halves, the bounds of integers, the largest ones, infinities, NaNs. */
static uint64_t number(struct drawing *d, uint32_t bits, uint32_t digits)
{
    static const uint32_t sizes[] = {0, 1, 7, 8, 15, 16, 24, 31, 32, 63, 64};
    const uint32_t bias = (1u << (bits - 2 - digits)) - 1, most = 2 * bias + 1;
    const uint64_t all = ((uint64_t)1 << digits) - 1, any = pcg_next64(&d->rng) & all;
    uint32_t field = bias + sizes[pcg_below(&d->rng, 11)];
    switch (pcg_below(&d->rng, 8)) {
    case 0:
        field = 0;
        break;
    case 1:
        field = 1 + pcg_below(&d->rng, 2);
        break;
    case 2:
        field = most - pcg_below(&d->rng, 3);
        break;
    case 3:
        field = pcg_below(&d->rng, most);
        break;
    default:
        field -= pcg_below(&d->rng, 4);
    }
    const uint64_t fractions[] = {0,
                                  0,
                                  all,
                                  (uint64_t)1 << pcg_below(&d->rng, digits),
                                  any & all << pcg_below(&d->rng, digits),
                                  any};
    const uint64_t fraction = fractions[pcg_below(&d->rng, 6)],
                   sign = (uint64_t)pcg_below(&d->rng, 2) << (bits - 1);
    return sign | (uint64_t)(field > most ? most : field) << digits | fraction;
}

static uint64_t numbers(struct drawing *d, uint32_t bits, uint32_t digits)
{
    uint64_t value = 0;
    for (uint32_t at = 0; at < 64; at += bits)
        value |= number(d, bits, digits) << at;
    return value;
}

static uint64_t value_of(struct drawing *d, const struct kind *kind)
{
    if (kind->type.kind == PTX_CLASS_PRED)
        return pcg_below(&d->rng, 2);
    if (kind->is_place && chance(d, 70))
        return place(d);
    switch ((int)kind->word) {
    case PTX_W_F16:
    case PTX_W_F16X2:
        return numbers(d, 16, 10);
    case PTX_W_BF16:
    case PTX_W_BF16X2:
        return numbers(d, 16, 7);
    case PTX_W_F32:
    case PTX_W_F32X2:
        return numbers(d, 32, 23);
    case PTX_W_F64:
        return number(d, 64, 52);
    default:
        break;
    }
    static const uint32_t sizes[] = {8, 16, 32, 64};
    const uint32_t bits = sizes[pcg_below(&d->rng, 4)];
    uint64_t value = 0;
    for (uint32_t at = 0; at < 64; at += bits)
        value |= integer(d, bits) << at;
    return value;
}

/* Some lanes have twice what they have, or what it is but for its sign or its last digit: what cancels, what is equal.
 */
static void draw_lane(struct drawing *d, uint32_t lane)
{
    for (uint32_t k = 0; k < d->source_count; k++) {
        const struct kind *kind = &d->kinds[k];
        uint64_t value = value_of(d, kind);
        if (k > 0 && kind->word == d->kinds[0].word && kind->type.kind != PTX_CLASS_PRED &&
            chance(d, 15))
            value = d->s[0][lane] ^ (chance(d, 50) ? 0 : (uint64_t)1 << (chance(d, 50) ? 0 : 31));
        d->s[k][lane] = kind->bits >= 64 ? value : value & (((uint64_t)1 << kind->bits) - 1);
    }
}

/* ---- what it computes ---- */

static void tell(struct computed_differs *differs, const struct drawing *d, uint32_t lane,
                 uint64_t engine, uint64_t reference)
{
    *differs = (struct computed_differs){.opcode = ptx_forms[d->i.form].opcode,
                                         .source_count = d->source_count,
                                         .engine = engine,
                                         .reference = reference};
    for (uint32_t k = 0; k < d->source_count; k++)
        differs->sources[k] = d->s[k][lane];
}

/* The lanes of a row, as ptx_rows.h has them. */
static void fill(void *row, const uint64_t *values, uint32_t bits)
{
    for (uint32_t l = 0; l < LANES; l++) {
        const uint32_t narrow = (uint32_t)values[l];
        if (bits == 64)
            memcpy((char *)row + 8 * (size_t)l, &values[l], 8);
        else
            memcpy((char *)row + 4 * (size_t)l, &narrow, 4);
    }
}

static uint64_t element(const void *row, uint32_t lane, uint32_t bits)
{
    uint64_t wide;
    uint32_t narrow;
    memcpy(&wide, (const char *)row + 8 * (size_t)lane, 8);
    memcpy(&narrow, (const char *)row + 4 * (size_t)lane, 4);
    return bits == 64 ? wide : narrow;
}

static bool row_agrees(struct drawing *d, const struct ptx_row_op *op,
                       struct computed_differs *differs)
{
    uint64_t sources[PTX_ROW_SOURCES][LANES] = {0}, results[PTX_ROW_RESULTS][2 * LANES] = {0};
    const void *given[PTX_ROW_SOURCES];
    void *made[PTX_ROW_RESULTS];
    for (uint32_t k = 0; k < PTX_ROW_SOURCES; k++) {
        fill(sources[k], d->s[k], k < op->source_count ? op->source_bits[k] : 64);
        given[k] = sources[k];
    }
    for (uint32_t k = 0; k < PTX_ROW_RESULTS; k++)
        made[k] = results[k];
    const uint32_t lanes = LANES - pcg_below(&d->rng, 8);
    op->fn(lanes, made, given, op->immediate);
    for (uint32_t l = 0; l < lanes; l++) {
        struct ref_computing r = {.instruction = &d->i,
                                  .source_count = op->source_count,
                                  .result_count = op->result_count,
                                  .immediate = op->immediate,
                                  .reads_carry = op->reads_carry,
                                  .writes_carry = op->writes_carry};
        for (uint32_t k = 0; k < op->source_count; k++) {
            r.source_bits[k] = op->source_bits[k];
            r.s[k] = element(sources[k], l, op->source_bits[k]);
        }
        memcpy(r.result_bits, op->result_bits, op->result_count);
        ref_compute(&r);
        for (uint32_t k = 0; k < op->result_count; k++) {
            const uint64_t got = element(results[k], l, op->result_bits[k]);
            if (ref_is_result(&r, k, got))
                continue;
            tell(differs, d, l, got, r.d[k]);
            return false;
        }
    }
    return true;
}

static bool atomic_agrees(struct drawing *d, ptx_atomic_fn *fn, struct computed_differs *differs)
{
    const struct ptx_type type = ptx_type_of((enum ptx_word)d->i.words[PTX_SLOT_TYPE]);
    const uint64_t all = UINT64_MAX >> (64 - type.bits);
    for (uint32_t l = 0; l < LANES; l++) {
        const uint64_t old = d->s[0][l], b = d->s[1][l], c = d->s[2][l];
        uint64_t left = 0;
        if (!ref_atomic_value(&d->i, old, b, c, &left))
            return true;
        const uint64_t got = fn(old, b, c) & all;
        if (got == (left & all))
            continue;
        tell(differs, d, l, got, left & all);
        return false;
    }
    return true;
}

/* What is drawn is an instruction with a function. */
static bool find(struct drawing *d, enum row_isa isa, struct ptx_row_op *op, ptx_atomic_fn **fn)
{
    const char *reason;
    *fn = NULL;
    if (is_atomic(d->i.form)) {
        const enum ptx_word word = (enum ptx_word)d->i.words[PTX_SLOT_TYPE];
        const struct ptx_type type = ptx_type_of(word);
        *fn = word == PTX_W_B128 ? NULL
                                 : ptx_atomic_find((enum ptx_word)d->i.words[PTX_SLOT_OP], word);
        d->source_count = 3;
        for (uint32_t k = 0; k < 3; k++)
            d->kinds[k] = (struct kind){.word = word, .type = type, .bits = type.bits};
        return *fn;
    }
    /* Where a block or a stack lies is asked by programs. */
    if (d->is_too_large || !ptx_row_find_for(isa, &d->i, op, &reason) || op->has_rank ||
        op->has_stack)
        return false;
    if (op->reads_carry && d->source_count < PTX_ROW_SOURCES)
        d->kinds[d->source_count++] =
            (struct kind){.type = {.kind = PTX_CLASS_PRED, .bits = 1}, .bits = 32};
    return op->source_count == d->source_count;
}

static bool agrees(struct drawing *d, const struct ptx_row_op *op, ptx_atomic_fn *fn,
                   struct computed_differs *differs)
{
    for (uint32_t lane = 0; lane < LANES; lane++)
        draw_lane(d, lane);
    return fn ? atomic_agrees(d, fn, differs) : row_agrees(d, op, differs);
}

static enum row_isa drawn_isa(struct drawing *d)
{
    const enum row_isa isa = (enum row_isa)pcg_below(&d->rng, ROW_ISA_COUNT);
    return ptx_row_has_isa(isa) ? isa : ROW_BASELINE;
}

static const char *text_of(struct arena *arena, const struct ptx_instruction *i)
{
    struct ptx_instruction bare = {.form = i->form};
    memcpy(bare.words, i->words, sizeof bare.words);
    const char *printed = ptx_print_instruction(arena, &bare);
    return arena_strndup(arena, printed, strcspn(printed, " ;"));
}

/* Every second one of many forms as often as it has ways: conversions have hundreds. */
static enum ptx_form draw_form(struct drawing *d)
{
    const bool by_ways = chance(d, 50);
    enum ptx_form form;
    do {
        form = (enum ptx_form)pcg_below(&d->rng, PTX_FORM_COUNT);
    } while (by_ways && pcg_below(&d->rng, MANY) >= ptx_form_ways(form, MANY));
    return form;
}

bool computed_agrees(struct arena *arena, uint64_t seed, struct computed_differs *differs)
{
    struct drawing d = {.i = {.form = PTX_FORM_COUNT}};
    struct ptx_row_op op;
    ptx_atomic_fn *fn;
    pcg_seed(&d.rng, seed, 0);
    for (uint32_t tries = 0; tries < TRIES; tries++) {
        draw(&d, draw_form(&d));
        if (!find(&d, drawn_isa(&d), &op, &fn))
            continue;
        if (agrees(&d, &op, fn, differs))
            return true;
        differs->text = text_of(arena, &d.i);
        return false;
    }
    return true;
}

/* ---- the list ---- */

static void draw_listed(struct drawing *d, uint32_t form, uint32_t way)
{
    pcg_seed(&d->rng, form, way);
    draw(d, (enum ptx_form)form);
}

static bool listed_agrees(uint32_t form, uint32_t way)
{
    struct drawing d = {.i = {.form = PTX_FORM_COUNT}};
    struct computed_differs differs;
    struct ptx_row_op op;
    ptx_atomic_fn *fn;
    draw_listed(&d, form, way);
    return !find(&d, drawn_isa(&d), &op, &fn) || agrees(&d, &op, fn, &differs);
}

/* What the list says of the program at hand. It is the same for all who ask, so that it does not matter who of several
 * workers has put it here. */
static struct {
    _Atomic bool is_known;
    _Atomic bool differs[PTX_OPCODE_COUNT];
    _Atomic uint32_t first, way, forms;
} list;

static void ask_list(void)
{
    uint32_t forms = 0, first = PTX_FORM_COUNT, first_way = 0;
    for (uint32_t form = 0; form < PTX_FORM_COUNT; form++) {
        const uint32_t own = ptx_form_ways((enum ptx_form)form, MANY),
                       ways = own > WAYS ? own : WAYS;
        for (uint32_t way = 0; way < ways; way++) {
            if (listed_agrees(form, way))
                continue;
            if (forms == 0) {
                first = form;
                first_way = way;
            }
            forms++;
            atomic_store_explicit(&list.differs[ptx_forms[form].opcode], true,
                                  memory_order_relaxed);
            break;
        }
    }
    atomic_store_explicit(&list.first, first, memory_order_relaxed);
    atomic_store_explicit(&list.way, first_way, memory_order_relaxed);
    atomic_store_explicit(&list.forms, forms, memory_order_relaxed);
    /* who sees that it is known sees it all */
    atomic_store_explicit(&list.is_known, true, memory_order_release);
}

const char *computed_fault(struct arena *arena, enum ptx_opcode opcode)
{
    struct drawing d = {.i = {.form = PTX_FORM_COUNT}};
    if (!atomic_load_explicit(&list.is_known, memory_order_acquire))
        ask_list();
    if (!atomic_load_explicit(&list.differs[opcode], memory_order_relaxed))
        return NULL;
    const uint32_t forms = atomic_load_explicit(&list.forms, memory_order_relaxed);
    draw_listed(&d, atomic_load_explicit(&list.first, memory_order_relaxed),
                atomic_load_explicit(&list.way, memory_order_relaxed));
    const char *text = text_of(arena, &d.i);
    return forms == 1 ? text : arena_printf(arena, "%s and %u others", text, forms - 1);
}
