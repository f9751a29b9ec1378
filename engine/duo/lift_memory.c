/*
 * lift_memory.c - ld, st, atom, red: an access is one of each variable that its address may lie in, where it does.
 */
#include "engine/duo/lift.h"

#include <inttypes.h>

/* An access, and a place that it may lie in. */
struct placing {
    struct lifting *x;
    const struct lift_place *place;
    uint32_t bytes; /* of all elements */
    term offset;    /* from the place's start, 64 bits */
    term enabled;   /* it lies there */
};

/* ---- addresses ---- */

/* 64 bits; sums wrap where the address does (ptx_address_mask). */
static term address_of(struct lifting *x)
{
    struct terms *t = &x->duo->terms;
    const struct ptx_op *op = x->op;
    const struct ptx_place *base = &op->sources[0];
    if (base->kind == PTX_PLACE_NONE)
        return term_long(t, (int64_t)op->offset);
    term value = lift_value(x, base);
    if (base->bits != 64)
        return term_unsigned(
            t, term_binary(t, BINARY_ADD, value, term_word(t, (int32_t)(uint32_t)op->offset)));
    term sum = term_binary(t, BINARY_ADD, value, term_long(t, (int64_t)op->offset));
    return ptx_address_mask(op) == UINT64_MAX ? sum : term_unsigned(t, term_low(t, sum));
}

static term is_multiple(struct terms *t, term address, uint32_t bytes)
{
    term rest = term_binary(t, BINARY_AND, address, term_long(t, (int64_t)bytes - 1));
    return term_eq(t, rest, term_long(t, 0));
}

/* Where it cannot be done there, it is out of bounds. */
static bool may_lie(const struct lifting *x, const struct lift_place *place)
{
    bool reads = x->op->exec == PTX_EXEC_LD, atomic = x->op->exec == PTX_EXEC_ATOM;
    if (!lift_allows(x->lift, x->pc, (uint32_t)(place - x->lift->places)))
        return false;
    return !(place->space == PTX_W_CONST && !reads) && !(place->space == PTX_W_LOCAL && atomic);
}

static struct placing put(struct lifting *x, const struct lift_place *place, term address,
                          term active)
{
    struct terms *t = &x->duo->terms;
    struct placing p = {.x = x, .place = place, .bytes = (uint32_t)x->op->bytes * x->op->count};
    uint64_t start = place->address + (x->op->space == PTX_W_NONE ? place->window : 0);
    int64_t room = (int64_t)place->region->bytes - p.bytes + 1;
    p.offset = term_binary(t, BINARY_SUB, address, term_long(t, (int64_t)start));
    p.enabled = room <= 0 ? (term)TERM_FALSE
                          : term_and(t, active, term_below(t, p.offset, term_long(t, room)));
    return p;
}

/* ---- elements ---- */

/* The number of the location, or of the word, that holds a byte of the place. */
static term unit_of(struct terms *t, term offset, uint32_t bytes)
{
    uint32_t shift = bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
    return term_low(t, term_lshr(t, offset, term_long(t, shift)));
}

static term word_of(const struct placing *p, uint32_t byte)
{
    struct terms *t = &p->x->duo->terms;
    term word = unit_of(t, p->offset, 4);
    return term_binary(t, BINARY_ADD, word, term_word(t, (int32_t)(p->place->word + byte / 4)));
}

/* How far an element of less than 32 bits is from the lowest bit of its word. */
static term shift_of(const struct placing *p, uint32_t byte)
{
    struct terms *t = &p->x->duo->terms;
    term at = term_binary(t, BINARY_ADD, term_low(t, p->offset), term_word(t, (int32_t)byte));
    term in_word = term_binary(t, BINARY_AND, at, term_word(t, 3));
    return term_binary(t, BINARY_SHL, in_word, term_word(t, 3));
}

/* Of less than 32 bits: the word's number for a byte that need not be a multiple of 4. */
static term word_around(const struct placing *p, uint32_t byte)
{
    struct terms *t = &p->x->duo->terms;
    term at = term_binary(t, BINARY_ADD, p->offset, term_long(t, byte));
    return term_binary(t, BINARY_ADD, unit_of(t, at, 4), term_word(t, (int32_t)p->place->word));
}

static term *held(const struct placing *p)
{
    return &p->x->state[slot_var(p->x->duo, p->place->var, p->x->k)];
}

/* An element as it lies in memory: 32 bits, or 64 of 8 bytes. */
static term fetch(const struct placing *p, uint32_t byte)
{
    struct terms *t = &p->x->duo->terms;
    uint32_t bytes = p->x->op->bytes;
    term memory = *held(p);
    if (bytes >= 4) {
        term low = term_select(t, memory, word_of(p, byte));
        return bytes == 4 ? low : term_joined(t, low, term_select(t, memory, word_of(p, byte + 4)));
    }
    term word = term_select(t, memory, word_around(p, byte));
    term moved = term_lshr(t, word, shift_of(p, byte));
    return term_binary(t, BINARY_AND, moved, term_word(t, bytes == 1 ? 0xff : 0xffff));
}

static void store_word(const struct placing *p, term index, term value)
{
    struct terms *t = &p->x->duo->terms;
    term *memory = held(p);
    *memory = term_ite(t, p->enabled, term_store(t, *memory, index, value), *memory);
}

static void store(const struct placing *p, uint32_t byte, term value)
{
    struct terms *t = &p->x->duo->terms;
    uint32_t bytes = p->x->op->bytes;
    bool is_wide = term_of(t, value)->sort == SORT_LONG;
    if (bytes >= 4) {
        store_word(p, word_of(p, byte), is_wide ? term_low(t, value) : value);
        if (bytes == 8)
            store_word(p, word_of(p, byte + 4), is_wide ? term_high(t, value) : term_word(t, 0));
        return;
    }
    term index = word_around(p, byte), shift = shift_of(p, byte);
    term all = term_word(t, bytes == 1 ? 0xff : 0xffff);
    term mask = term_binary(t, BINARY_SHL, all, shift);
    term part = term_binary(t, BINARY_AND, is_wide ? term_low(t, value) : value, all);
    term rest = term_binary(t, BINARY_AND, term_select(t, *held(p), index),
                            term_unary(t, UNARY_COMPLEMENT, mask));
    store_word(p, index, term_binary(t, BINARY_OR, rest, term_binary(t, BINARY_SHL, part, shift)));
}

/* ---- who else accesses it ---- */

static void tell(const struct placing *p)
{
    struct lifting *x = p->x;
    uint32_t each = 4 / x->duo->units;
    struct access_seen access = {.var = p->place->var,
                                 .index = unit_of(&x->duo->terms, p->offset, each),
                                 .enabled = p->enabled,
                                 .count = p->bytes / each,
                                 .kind = (uint8_t)lift_log_kind(x->lift, x->op)};
    x->lift->touched[x->pc] |= (uint64_t)1 << (p->place - x->lift->places);
    if (is_memory(access.var))
        duo_access(x->duo, x->state, x->k, &access, x->at);
}

/* A strong read may meet another thread's write without a race: it gives that, or what the thread sees. */
static term forgotten(const struct placing *p, const struct ptx_place *result, term seen)
{
    struct duo *duo = p->x->duo;
    const struct ast_var *var = p->place->var;
    bool strong = lift_log_kind(p->x->lift, p->x->op) == LOG_STRONG_READ;
    if (!is_memory(var) || !duo->written[var->mark] ||
        !(strong || duo->options->memory == PROOF_ADVERSARY))
        return seen;
    term anything = lift_anything(p->x, result);
    if (!strong)
        return anything;
    term met = lift_make(p->x, SORT_BOOL, "another thread's write", LIFT_MET);
    return term_ite(&duo->terms, met, anything, seen);
}

/* ---- instructions ---- */

/* As it lies in its register. */
static term extended(struct lifting *x, const struct ptx_place *result, term value)
{
    struct terms *t = &x->duo->terms;
    const struct ptx_op *op = x->op;
    bool is_wide = result->bits == 64;
    if (op->bytes == 8)
        return is_wide ? value : term_low(t, value);
    if (op->is_signed && op->bytes < 4) {
        term up = term_word(t, 32 - 8 * op->bytes);
        value = term_binary(t, BINARY_SHR, term_binary(t, BINARY_SHL, value, up), up);
    }
    if (op->is_signed && op->width == 16)
        value = term_binary(t, BINARY_AND, value, term_word(t, 0xffff));
    if (!is_wide)
        return value;
    return op->is_signed && op->width != 16 ? term_signed(t, value) : term_unsigned(t, value);
}

static void note_read(const struct placing *p, term value)
{
    struct duo *duo = p->x->duo;
    struct read_seen read = {
        .var = p->place->var, .index = word_around(p, 0), .value = value, .at = p->x->at};
    if (is_memory(read.var) && duo->written[read.var->mark])
        grown_add(duo->arena, &duo->reads, &read, sizeof read);
}

static void load(const struct placing *p)
{
    struct lifting *x = p->x;
    struct terms *t = &x->duo->terms;
    for (uint32_t e = 0; e < x->op->count; e++) {
        const struct ptx_place *result = &x->op->results[e];
        if (result->kind != PTX_PLACE_REGISTER)
            continue;
        term value = forgotten(p, result, extended(x, result, fetch(p, e * x->op->bytes)));
        note_read(p, value);
        x->loaded[e] = x->loaded[e] ? term_ite(t, p->enabled, value, x->loaded[e]) : value;
    }
}

static void store_all(const struct placing *p)
{
    struct lifting *x = p->x;
    for (uint32_t e = 0; e < x->op->count; e++)
        store(p, e * x->op->bytes, lift_value(x, &x->op->sources[1 + e]));
}

/* Any thread may have come before: nothing is known of the old value, nor of the new one. */
static void change(const struct placing *p)
{
    struct lifting *x = p->x;
    const struct ptx_place any = {.kind = PTX_PLACE_REGISTER, .bits = x->op->bytes == 8 ? 64 : 32};
    const struct ptx_place *result = &x->op->results[0];
    store(p, 0, lift_anything(x, &any));
    if (x->op->result_count > 0 && result->kind == PTX_PLACE_REGISTER)
        x->loaded[0] = lift_anything(x, result);
}

static void act(const struct placing *p)
{
    tell(p);
    if (p->x->op->exec == PTX_EXEC_LD)
        load(p);
    else if (p->x->op->exec == PTX_EXEC_ST)
        store_all(p);
    else
        change(p);
}

/* A parameter of the entry, or another constant whose address is known: a number. */
static bool load_constant(struct lifting *x, term address)
{
    struct terms *t = &x->duo->terms;
    const struct ptx_op *op = x->op;
    int64_t at;
    if (op->exec != PTX_EXEC_LD || op->space != PTX_W_CONST || !term_is_number(t, address, &at))
        return false;
    for (uint32_t i = 0; i < x->lift->place_count; i++) {
        const struct lift_place *place = &x->lift->places[i];
        uint64_t offset = (uint64_t)at - place->address;
        if (place->space != PTX_W_CONST || offset >= place->region->bytes)
            continue;
        const uint8_t *bytes =
            (const uint8_t *)x->lift->code->constants + (uint64_t)place->word * 4;
        if (offset % (op->bytes * op->count) ||
            offset + op->bytes * op->count > place->region->bytes)
            return false;
        for (uint32_t e = 0; e < op->count; e++, offset += op->bytes) {
            uint64_t value = 0;
            for (uint32_t k = op->bytes; k-- > 0;)
                value = value << 8 | bytes[offset + k];
            term number = op->bytes == 8 ? term_long(t, (int64_t)value)
                                         : term_word(t, (int32_t)(uint32_t)value);
            lift_set(x, &op->results[e], extended(x, &op->results[e], number));
        }
        return true;
    }
    return false;
}

term lift_access(struct lifting *x)
{
    struct terms *t = &x->duo->terms;
    term address = address_of(x), somewhere = TERM_FALSE;
    term good =
        term_and(t, x->active, is_multiple(t, address, (uint32_t)x->op->bytes * x->op->count));
    if (load_constant(x, address))
        return x->active;
    for (uint32_t i = 0; i < x->lift->place_count; i++) {
        if (!may_lie(x, &x->lift->places[i]))
            continue;
        struct placing p = put(x, &x->lift->places[i], address, good);
        somewhere = term_or(t, somewhere, p.enabled);
        if (p.enabled != TERM_FALSE)
            act(&p);
    }
    for (uint32_t e = 0; e < PTX_CODE_RESULTS; e++)
        if (x->loaded[e])
            lift_set(x, &x->op->results[e], x->loaded[e]);
    duo_oblige(x->duo, x->state, x->k,
               &(struct obligation){.goal = GOAL_BOUNDS,
                                    .wrong = term_and(t, x->active, term_not(t, somewhere)),
                                    .at = x->at});
    return somewhere;
}
