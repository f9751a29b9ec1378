/*
 * ptx_memory.c - ld, st, atom: what is read, who writes last, what observers hear.
 *
 * An instruction first finds the places of all executing lanes; a lane whose place does not exist ends
 * the execution before anything is read or written. Memory is sequentially consistent: volatile, relaxed,
 * acquire and release accesses are ordinary ones. What they order is oracle/scoped's matter.
 */
#include "engine/lanes/ptx_exec_internal.h"
#include "engine/machine/symmetry.h"

/* Appends to scratch->order; returns how many it holds then. */
static uint32_t order_lanes(struct ptx_step *x, lane_mask lanes, uint32_t n)
{
    if (n == 0 && lanes == ptx_all(x->lanes)) {
        for (uint32_t i = 0; i < LIMIT_WARP; i++)
            x->scratch->order[i] = (uint8_t)i;
        return x->lanes->count;
    }
    for (lane_mask rest = lanes; rest; rest &= rest - 1)
        x->scratch->order[n++] = (uint8_t)lowest_lane(rest);
    return n;
}

/* ---- what observers hear ---- */

static void tell(const struct ptx_access *a, const struct access_row *row)
{
    static const enum access_kind kinds[] = {[PTX_ACCESS_LD] = ACCESS_READ,
                                             [PTX_ACCESS_ST] = ACCESS_WRITE,
                                             [PTX_ACCESS_ATOM] = ACCESS_ATOMIC};
    for (const struct observer *o = a->x->m->options.observers; o; o = o->next) {
        if (o->access_row)
            o->access_row(o->context, kinds[a->kind], row);
        else
            access_row_each(o, kinds[a->kind], row);
    }
}

/* Tells observers of element e's accesses, of scratch->order's n lanes; values: what was written. */
static void tell_row(const struct ptx_access *a, uint32_t e, uint32_t n, const uint64_t *values)
{
    struct ptx_step *x = a->x;
    struct ptx_scratch *s = x->scratch;
    uint32_t units = x->m->program->units, each = 4 / units;
    if (!a->observed)
        return;
    struct access_row row = {.first_thread = x->lanes->first_thread,
                             .stm = x->pc,
                             .span = x->op->bytes / each,
                             .bits = 8 * each,
                             .order = s->order,
                             .location = s->location,
                             .value = values};
    uint8_t kept[LIMIT_WARP];
    if (a->observed != x->executing) { /* generic addresses of several spaces */
        uint32_t all = n;
        n = 0;
        for (uint32_t i = 0; i < all; i++)
            if (a->observed >> s->order[i] & 1)
                kept[n++] = s->order[i];
        row.order = kept;
    }
    row.count = n;
    row.run = a->run && row.span == 1 && x->op->count == 1 && a->kind != PTX_ACCESS_ATOM;
    const uint32_t more = e * x->op->bytes, shift = each == 4 ? 2 : each == 2 ? 1 : 0;
    for (uint32_t i = 0; i < x->lanes->count; i++)
        s->location[i] = (s->byte[i] + more) >> shift;
    tell(a, &row);
}

/* ---- ld ---- */

/* The value as it lies in the register (ptx_rows.h). */
STEP_INLINE uint64_t extend(const struct ptx_op *op, uint64_t value, const uint32_t bytes)
{
    if (!op->is_signed || bytes == 8)
        return value;
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    value = (value ^ sign) - sign;
    return op->width == 16 ? value & 0xffff : value;
}

uint64_t ptx_loaded(const struct ptx_op *op, uint64_t value)
{
    return extend(op, value, op->bytes);
}

/* Element e of all executing lanes into scratch->results. */
STEP_INLINE void load(const struct ptx_access *a, uint32_t e, const uint32_t bytes)
{
    struct ptx_step *x = a->x;
    const uint32_t *memory = (const uint32_t *)x->m->memory, more = e * bytes;
    uint64_t *wide = x->scratch->results[e];
    uint32_t *narrow = (uint32_t *)wide;
    const bool is_wide = x->op->results[e].bits == 64;
    for (lane_mask rest = x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        const uint32_t *words = a->constants >> lane & 1 ? x->code->constants : memory;
        uint64_t value = ptx_fetch(words, x->scratch->byte[lane] + more, bytes);
        value = extend(x->op, value, bytes);
        if (is_wide)
            wide[lane] = value;
        else
            narrow[lane] = (uint32_t)value;
    }
}

static void load_element(const struct ptx_access *a, uint32_t e)
{
    switch (a->x->op->bytes) {
    case 1:
        load(a, e, 1);
        break;
    case 2:
        load(a, e, 2);
        break;
    case 4:
        load(a, e, 4);
        break;
    case 8:
        load(a, e, 8);
        break;
    }
}

/* What compilers aim at, all lanes together: words in a row, or one for all, or anywhere. */
static bool load_full(const struct ptx_access *a)
{
    struct ptx_step *x = a->x;
    const uint32_t *restrict byte = x->scratch->byte, count = x->lanes->count;
    const uint32_t *restrict memory =
        a->constants ? x->code->constants : (const uint32_t *)x->m->memory;
    uint32_t *restrict row = (uint32_t *)x->scratch->results[0];
    const bool is_word = x->op->bytes == 4 && x->op->results[0].bits == 32;
    if (x->op->count > 1 || x->executing != ptx_all(x->lanes) ||
        (a->constants && a->constants != x->executing))
        return false;
    if (a->run && (is_word || (x->op->bytes == 8 && x->op->results[0].bits == 64))) {
        ptx_commit(x, &x->op->results[0], memory + byte[0] / 4);
        return true;
    }
    if (!is_word)
        return false;
    if (a->same)
        for (uint32_t i = 0, value = memory[byte[0] / 4]; i < count; i++)
            row[i] = value;
    else
        for (uint32_t i = 0; i < count; i++)
            row[i] = memory[byte[i] / 4];
    ptx_commit(x, &x->op->results[0], row);
    return true;
}

/*  THR.ld      a = E[[e]]
 *      <theta | ld ss r [e]>  ->  theta        r^ <- mu_ss(a), all lanes in the same mu
 */
enum rule ptx_ld(struct ptx_step *x)
{
    struct ptx_access a = {.x = x, .kind = PTX_ACCESS_LD};
    if (!ptx_places(&a) || (x->code->has_async && ptx_async_hits(&a)))
        return RULE_PTX_LD;
    if (!load_full(&a)) {
        for (uint32_t e = 0; e < x->op->count; e++)
            load_element(&a, e);
        for (uint32_t e = 0; e < x->op->count; e++)
            ptx_commit(x, &x->op->results[e], x->scratch->results[e]);
    }
    if (is_observed(x->m))
        for (uint32_t e = 0; e < x->op->count; e++)
            tell_row(&a, e, order_lanes(x, x->executing, 0), NULL);
    return RULE_PTX_LD;
}

/* ---- the order of writes ---- */

enum { CONFLICT_SLOTS = 2 * LIMIT_WARP };

/* Chains the lanes with one place (scratch->next); returns the lanes that start a chain of two or more. */
static lane_mask find_conflicts(const struct ptx_access *a)
{
    struct ptx_scratch *s = a->x->scratch;
    uint8_t last[LIMIT_WARP];
    lane_mask conflicts = 0;
    if (a->distinct)
        return 0;
    memset(s->slot, 0, sizeof s->slot);
    for (lane_mask rest = a->x->executing; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), byte = s->byte[lane];
        uint32_t slot = (byte * 2654435769u) >> 25;
        while (s->slot[slot] && s->byte[s->slot[slot] - 1] != byte)
            slot = (slot + 1) % CONFLICT_SLOTS;
        s->next[lane] = 0;
        if (!s->slot[slot]) {
            s->slot[slot] = (uint8_t)(lane + 1);
            continue;
        }
        uint32_t first = s->slot[slot] - 1u;
        s->next[conflicts >> first & 1 ? last[first] : first] = (uint8_t)(lane + 1);
        conflicts |= (lane_mask)1 << first;
        last[first] = (uint8_t)lane;
    }
    return conflicts;
}

/* The one that writes last of a chain is chosen where the values differ. */
static uint32_t choose_winner(struct ptx_step *x, uint32_t first, const uint64_t *values)
{
    const uint8_t *next = x->scratch->next;
    uint32_t count = 1, last = first;
    bool differ = false;
    for (uint32_t lane = next[first]; lane; lane = next[lane - 1]) {
        last = lane - 1;
        differ |= values[last] != values[first];
        count++;
    }
    if (!differ || !x->choices)
        return last;
    uint32_t winner = first;
    for (uint32_t skip = x->choices->choose(x->choices, count); skip; skip--)
        winner = next[winner] - 1u;
    return winner;
}

/* ---- st ---- */

STEP_INLINE void store_lanes(struct ptx_step *x, uint32_t e, uint32_t n, const uint64_t *values,
                             const uint32_t bytes)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = x->scratch->order[i];
        ptx_store(x->m, x->scratch->byte[lane] + e * bytes, bytes, values[lane]);
    }
}

/* One element: ascending, but winners of conflicts come last, so that each place keeps their value. */
static void store_element(struct ptx_access *a, uint32_t e, lane_mask conflicts)
{
    struct ptx_step *x = a->x;
    const uint64_t *row = ptx_wide_row(x, &x->op->sources[1 + e], 1);
    uint64_t *values = x->scratch->results[0];
    lane_mask winners = 0;
    for (uint32_t i = 0; i < x->lanes->count; i++)
        values[i] = ptx_low_bits(row[i], x->op->bytes);
    for (lane_mask rest = conflicts; rest; rest &= rest - 1)
        winners |= (lane_mask)1 << choose_winner(x, lowest_lane(rest), values);
    uint32_t n = order_lanes(x, x->executing & ~winners, 0);
    n = order_lanes(x, winners, n);
    if (x->op->bytes == 4 && !is_tracked(x->m))
        store_lanes(x, e, n, values, 4);
    else
        store_lanes(x, e, n, values, x->op->bytes);
    if (is_observed(x->m))
        tell_row(a, e, n, values);
}

static bool store_run(const struct ptx_access *a)
{
    struct ptx_step *x = a->x;
    const struct ptx_place *place = &x->op->sources[1];
    if (!a->run || x->op->count > 1 || x->op->bytes < 4 || 8u * x->op->bytes != place->bits ||
        is_tracked(x->m))
        return false;
    memcpy(x->m->memory + x->scratch->byte[0] / 4, ptx_row(x, place, 1),
           (size_t)x->op->bytes * x->lanes->count);
    if (is_observed(x->m))
        tell_row(a, 0, order_lanes(x, x->executing, 0), ptx_wide_row(x, place, 1));
    return true;
}

/*  THR.st      a_i = E[[e]] of theta_i, v_i = E[[src]] of theta_i; theta_1 .. theta_n an arbitrary order of X
 *      <theta | st ss [e] src>  ->  theta      mu[a_1 |-> v_1] .. [a_n |-> v_n]
 *
 *  MEM.nd.5: who writes a place last is chosen. The elements of a vector are separate writes.
 */
enum rule ptx_st(struct ptx_step *x)
{
    struct ptx_access a = {.x = x, .kind = PTX_ACCESS_ST};
    if (!ptx_places(&a) || (x->code->has_async && ptx_async_hits(&a)) || store_run(&a))
        return RULE_PTX_ST;
    lane_mask conflicts = find_conflicts(&a);
    for (uint32_t e = 0; e < x->op->count; e++)
        store_element(&a, e, conflicts);
    return RULE_PTX_ST;
}

/* ---- atom, red ---- */

/* Nobody can tell in which order lanes did this on one place: it commutes with itself, and nobody asks
 * for the old value. Floating-point addition does not associate. */
static bool order_is_hidden(const struct ptx_op *op)
{
    enum ptx_word type = (enum ptx_word)op->statement->u.instruction.words[PTX_SLOT_TYPE];
    for (uint32_t e = 0; e < op->count; e++)
        if (op->results[e].kind != PTX_PLACE_NONE)
            return false;
    switch ((uint32_t)op->mode) {
    case PTX_W_ADD:
        return ptx_type_of(type).kind != PTX_CLASS_FLOAT;
    case PTX_W_MIN:
    case PTX_W_MAX:
    case PTX_W_AND:
    case PTX_W_OR:
    case PTX_W_XOR:
        return true;
    }
    return false; /* exch, cas, inc, dec */
}

uint64_t ptx_atomic_value(const struct ptx_op *op, uint64_t old, uint64_t b, uint64_t c)
{
    return ptx_low_bits(op->atomic(old, ptx_low_bits(b, op->bytes), ptx_low_bits(c, op->bytes)),
                        op->bytes);
}

/* What all lanes do to element e: b, c of a compare-and-swap. */
struct deed {
    const uint64_t *b, *c;
};

static struct deed deed_of(struct ptx_step *x, uint32_t e)
{
    const struct ptx_op *op = x->op;
    const uint64_t *b = ptx_wide_row(x, &op->sources[1 + e], 1);
    const bool swaps = op->mode == PTX_W_CAS;
    return (struct deed){b, swaps ? ptx_wide_row(x, &op->sources[1 + op->count + e], 2) : b};
}

/* Which of the lanes, which hit one location, may change places (symmetry_classes). */
static void find_classes(struct ptx_step *x, uint32_t e, const uint8_t *lanes, uint32_t count,
                         uint16_t *classes)
{
    const struct ptx_op *op = x->op;
    const struct deed deed = deed_of(x, e);
    const uint64_t *b = deed.b, *c = deed.c;
    uint32_t threads[LIMIT_WARP];
    bool hidden = !op->is_whole;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = lanes[i], byte = x->scratch->byte[lane] + e * op->bytes;
        uint64_t old = ptx_fetch((const uint32_t *)x->m->memory, byte, op->bytes);
        threads[i] = x->lanes->first_thread + lane;
        hidden = hidden && ptx_atomic_value(op, old, b[lane], c[lane]) == old;
    }
    symmetry_classes(x->m, threads, count, hidden, classes);
}

/* The lanes chained from `first` go in an order that is chosen, one lane after another, at the places
 * in the order that they have between them. */
static void shuffle_chain(struct ptx_step *x, uint32_t e, uint32_t first)
{
    uint8_t lanes[LIMIT_WARP], places[LIMIT_WARP];
    uint8_t *order = x->scratch->order;
    uint32_t count = 0;
    for (uint32_t lane = first + 1; lane; lane = x->scratch->next[lane - 1])
        lanes[count++] = (uint8_t)(lane - 1);
    for (uint32_t i = 0, at = 0; at < count; i++)
        if (order[i] == lanes[at])
            places[at++] = (uint8_t)i;
    uint16_t classes[LIMIT_WARP] = {0};
    if (x->m->options.symmetry)
        find_classes(x, e, lanes, count, classes);
    for (uint32_t i = 0; i < count; i++)
        order[places[i]] = (uint8_t)symmetry_take_lane(x->m, x->choices, lanes, classes, count - i);
}

enum {
    LEFT = 5
}; /* scratch->sources from here on, behind those of all operands: what is left in memory */

static void set_old(struct ptx_step *x, uint32_t e, uint32_t lane, uint64_t old)
{
    if (x->op->results[e].bits == 64)
        x->scratch->results[e][lane] = old;
    else
        ((uint32_t *)x->scratch->results[e])[lane] = (uint32_t)old;
}

/* Each lane's indivisible read and write of element e, in scratch->order: old values into scratch->results[e], new
 * ones into scratch->sources[LEFT]. */
static void do_atomics(struct ptx_step *x, uint32_t e, uint32_t n)
{
    const struct ptx_op *op = x->op;
    const struct deed deed = deed_of(x, e);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = x->scratch->order[i], byte = x->scratch->byte[lane] + e * op->bytes;
        uint64_t old = ptx_fetch((const uint32_t *)x->m->memory, byte, op->bytes);
        uint64_t value = ptx_atomic_value(op, old, deed.b[lane], deed.c[lane]);
        ptx_store(x->m, byte, op->bytes, value);
        x->scratch->sources[LEFT][lane] = value;
        set_old(x, e, lane, old);
    }
}

/* The same of exch and cas of 128 bits, whose halves go together; of both halves what was there, and is left. */
static void do_wholes(struct ptx_step *x, uint32_t n)
{
    const struct ptx_op *op = x->op;
    const uint64_t *operands[4] = {NULL};
    const bool swaps = op->mode == PTX_W_CAS;
    for (uint32_t k = 0; k < (swaps ? 4 : 2); k++)
        operands[k] = ptx_wide_row(x, &op->sources[1 + k], 1 + k);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t lane = x->scratch->order[i], byte = x->scratch->byte[lane];
        bool writes = true;
        for (uint32_t k = 0; k < 2; k++) {
            uint64_t old = ptx_fetch((const uint32_t *)x->m->memory, byte + 8 * k, 8);
            set_old(x, k, lane, old);
            x->scratch->sources[LEFT + k][lane] = old;
            writes = writes && (!swaps || old == operands[k][lane]);
        }
        for (uint32_t k = 0; k < 2 && writes; k++) {
            uint64_t value = operands[swaps ? 2 + k : k][lane];
            ptx_store(x->m, byte + 8 * k, 8, value);
            x->scratch->sources[LEFT + k][lane] = value;
        }
    }
}

/*  THR.atom    theta_1 .. theta_n an arbitrary order of X, mu_0 = mu, a_i = E[[e1]], b_i = E[[e2]], c_i = E[[e3]]
 *              of theta_i, old_i = mu_(i-1)(a_i), mu_i = mu_(i-1)[a_i |-> op(old_i, b_i, c_i)]
 *      <theta | atom ss op r [e1] e2 e3>  ->  theta      r^ of theta_i <- old_i, mu_n
 *
 *  MEM.nd.6, ERR.47: all are performed, in an order that is chosen; of a vector each element in one of its own.
 *  128 bits are one value, though they are told, and have registers, as two halves.
 */
enum rule ptx_atom(struct ptx_step *x)
{
    const struct ptx_op *op = x->op;
    const enum rule rule = op->opcode == PTX_OP_RED ? RULE_PTX_RED : RULE_PTX_ATOM;
    struct ptx_access a = {.x = x, .kind = PTX_ACCESS_ATOM};
    if (!ptx_places(&a) || (x->code->has_async && ptx_async_hits(&a)))
        return rule;
    const lane_mask conflicts = x->choices && !order_is_hidden(op) ? find_conflicts(&a) : 0;
    for (uint32_t e = 0; e < (op->is_whole ? 1 : op->count); e++) {
        uint32_t n = order_lanes(x, x->executing, 0);
        for (lane_mask rest = conflicts; rest; rest &= rest - 1)
            shuffle_chain(x, e, lowest_lane(rest));
        if (op->is_whole)
            do_wholes(x, n);
        else
            do_atomics(x, e, n);
        for (uint32_t k = 0; k < (op->is_whole ? 2 : 1) && is_observed(x->m); k++)
            tell_row(&a, e + k, n, x->scratch->sources[LEFT + k]);
    }
    for (uint32_t e = 0; e < op->count; e++)
        ptx_commit(x, &op->results[e], x->scratch->results[e]);
    return rule;
}

/* ---- requests to another memory ---- */

/* Constants and entry parameters are no state: what is read of them is there at once. */
static void read_constants(const struct ptx_access *a)
{
    struct ptx_step *x = a->x;
    const struct ptx_op *op = x->op;
    for (lane_mask rest = a->constants; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        for (uint32_t e = 0; e < op->count; e++) {
            uint32_t byte = x->scratch->byte[lane] + e * op->bytes;
            uint64_t value = 0;
            memcpy(&value, (const char *)x->code->constants + byte, op->bytes);
            ptx_set_result(x->m, x->lanes, &op->results[e], (lane_mask)1 << lane,
                           ptx_loaded(op, value));
        }
    }
}

/* MEM.nd.5: of the lanes that write one place, all but the one that is chosen. */
static lane_mask find_losers(const struct ptx_access *a)
{
    struct ptx_step *x = a->x;
    lane_mask losers = 0;
    if (a->kind != PTX_ACCESS_ST)
        return 0;
    const uint64_t *values = ptx_wide_row(x, &x->op->sources[1], 1);
    for (lane_mask rest = find_conflicts(a); rest; rest &= rest - 1) {
        uint32_t first = lowest_lane(rest);
        uint32_t winner = choose_winner(x, first, values);
        for (uint32_t lane = first + 1; lane; lane = x->scratch->next[lane - 1])
            if (lane - 1 != winner)
                losers |= (lane_mask)1 << (lane - 1);
    }
    return losers;
}

/* Observers hear of the accesses now, in the order of the program. What an atomic writes is not known yet: they hear
 * its operand. */
static void tell_all(const struct ptx_access *a, lane_mask losers)
{
    struct ptx_step *x = a->x;
    const struct ptx_op *op = x->op;
    uint32_t n = 0;
    if (!is_observed(x->m))
        return;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (lane_mask rest = x->executing & (pass ? ~losers : losers); rest; rest &= rest - 1)
            x->scratch->order[n++] = (uint8_t)lowest_lane(rest);
    for (uint32_t e = 0; e < op->count; e++) {
        const uint64_t *values =
            a->kind == PTX_ACCESS_LD ? NULL : ptx_wide_row(x, &op->sources[1 + e], 1);
        tell_row(a, e, n, values);
    }
}

enum rule ptx_ask(struct ptx_step *x, enum ptx_access_kind kind)
{
    static const enum rule rules[] = {[PTX_ACCESS_LD] = RULE_PTX_LD,
                                      [PTX_ACCESS_ST] = RULE_PTX_ST,
                                      [PTX_ACCESS_ATOM] = RULE_PTX_ATOM};
    struct ptx_access a = {.x = x, .kind = kind};
    enum rule rule = x->op->opcode == PTX_OP_RED ? RULE_PTX_RED : rules[kind];
    if (!ptx_places(&a))
        return rule;
    lane_mask losers = find_losers(&a);
    tell_all(&a, losers);
    read_constants(&a);
    struct ptx_request request = {.machine = x->m,
                                  .lanes = x->lanes,
                                  .op = x->op,
                                  .pc = x->pc,
                                  .kind = kind,
                                  .executing = x->executing & ~a.constants,
                                  .losers = losers,
                                  .byte = x->scratch->byte,
                                  .choices = x->choices};
    if (request.executing)
        x->m->memory_model->issue(&request);
    return rule;
}

lane_mask ptx_places_now(struct machine *machine, struct ptx_lanes *lanes, uint32_t pc,
                         lane_mask executing, const uint32_t **byte)
{
    const struct ptx_code *code = machine->program->ptx;
    const struct ptx_op *op = &code->ops[pc];
    struct ptx_step x = {.m = machine,
                         .code = code,
                         .op = op,
                         .lanes = lanes,
                         .file = ptx_file(code, lanes),
                         .pc = pc,
                         .executing = executing,
                         .one_frame = lanes->uniform,
                         .rows = lanes->lane[lowest_lane(executing)].rows,
                         .scratch = machine->scratch};
    struct ptx_access a = {.x = &x,
                           .kind = op->exec == PTX_EXEC_LD   ? PTX_ACCESS_LD
                                   : op->exec == PTX_EXEC_ST ? PTX_ACCESS_ST
                                                             : PTX_ACCESS_ATOM};
    uint32_t lane;
    for (lane_mask rest = executing; rest; rest &= rest - 1) /* ptx_enter will say so */
        if (lanes->lane[lowest_lane(rest)].function != op->function)
            return 0;
    *byte = x.scratch->byte;
    return ptx_find_places(&a, &lane) ? executing & ~a.constants : 0;
}
