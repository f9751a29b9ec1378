/*
 * lift_compute.c - what instructions compute, as terms: those that addresses and branches are made of. The others
 * give anything. Values lie in words of 32 and 64 bits as ptx_rows.h says: of 16 bits and fewer with zeros.
 */
#include "engine/duo/lift.h"

struct computing {
    struct lifting *x;
    struct terms *t;
    const struct ptx_instruction *i;
    struct ptx_type type;
    term a, b, c; /* the operands, as the type says (arguments) */
};

/* ---- sizes ---- */

static term number(const struct computing *m, int64_t value)
{
    return m->type.bits == 64 ? term_long(m->t, value) : term_word(m->t, (int32_t)value);
}

static term binary(const struct computing *m, enum ast_binary op, term a, term b)
{
    return term_binary(m->t, op, a, b);
}

/* The low bits of a word of 32, with zeros or the sign above. */
static term cut_off(struct terms *t, term value, struct ptx_type type)
{
    if (type.bits >= 32)
        return value;
    if (!type.is_signed)
        return term_binary(t, BINARY_AND, value, term_word(t, (int32_t)((1u << type.bits) - 1)));
    term up = term_word(t, 32 - type.bits);
    return term_binary(t, BINARY_SHR, term_binary(t, BINARY_SHL, value, up), up);
}

static term zeroed(const struct computing *m, term value)
{
    const struct ptx_type plain = {PTX_CLASS_INT, m->type.bits, false};
    return cut_off(m->t, value, plain);
}

/* ---- sums, products, quotients ---- */

static term product_wide(const struct computing *m)
{
    struct terms *t = m->t;
    if (m->type.bits < 32)
        return term_binary(t, BINARY_MUL, m->a, m->b);
    term a = m->type.is_signed ? term_signed(t, m->a) : term_unsigned(t, m->a);
    term b = m->type.is_signed ? term_signed(t, m->b) : term_unsigned(t, m->b);
    return term_binary(t, BINARY_MUL, a, b);
}

/* The upper half; TERM_NONE: not of 64 bits. */
static term product_high(const struct computing *m)
{
    struct terms *t = m->t;
    if (m->type.bits == 64)
        return TERM_NONE;
    if (m->type.bits == 32)
        return term_high(t, product_wide(m));
    return term_lshr(t, product_wide(m), term_word(t, m->type.bits));
}

/* x / 0 is all ones. */
static term quotient(const struct computing *m)
{
    struct terms *t = m->t;
    if (!m->type.is_signed)
        return term_udiv(t, m->a, m->b);
    return term_ite(t, term_eq(t, m->b, number(m, 0)), number(m, -1),
                    binary(m, BINARY_DIV, m->a, m->b));
}

static term rest(const struct computing *m)
{
    struct terms *t = m->t;
    term of = m->type.is_signed ? binary(m, BINARY_REM, m->a, m->b) : term_urem(t, m->a, m->b);
    return term_ite(t, term_eq(t, m->b, number(m, 0)), number(m, -1), of);
}

static term less(const struct computing *m, term a, term b)
{
    return m->type.is_signed ? term_less(m->t, a, b) : term_below(m->t, a, b);
}

static term absolute(const struct computing *m)
{
    return term_ite(m->t, term_less(m->t, m->a, number(m, 0)), term_unary(m->t, UNARY_NEG, m->a),
                    m->a);
}

static term arithmetic(const struct computing *m)
{
    struct terms *t = m->t;
    bool is_lo = m->i->words[PTX_SLOT_MODE] == PTX_W_LO;
    term product;
    switch ((int)m->i->form) {
    case PTX_FORM_ADD_INT:
        return binary(m, BINARY_ADD, m->a, m->b);
    case PTX_FORM_SUB_INT:
        return binary(m, BINARY_SUB, m->a, m->b);
    case PTX_FORM_MUL_INT:
        return is_lo ? binary(m, BINARY_MUL, m->a, m->b) : product_high(m);
    case PTX_FORM_MAD_INT:
        product = is_lo ? binary(m, BINARY_MUL, m->a, m->b) : product_high(m);
        return product ? binary(m, BINARY_ADD, product, m->c) : (term)TERM_NONE;
    case PTX_FORM_MUL_WIDE:
        return product_wide(m);
    case PTX_FORM_MAD_WIDE:
        return binary(m, BINARY_ADD, product_wide(m), m->c);
    case PTX_FORM_DIV_INT:
        return quotient(m);
    case PTX_FORM_REM_INT:
        return rest(m);
    case PTX_FORM_MIN_INT:
        return term_ite(t, less(m, m->a, m->b), m->a, m->b);
    case PTX_FORM_MAX_INT:
        return term_ite(t, less(m, m->a, m->b), m->b, m->a);
    case PTX_FORM_ABS_INT:
        return absolute(m);
    case PTX_FORM_NEG_INT:
        return term_unary(t, UNARY_NEG, m->a);
    default:
        return TERM_NONE;
    }
}

/* ---- logic, shifts ---- */

/* The table's bit 4a + 2b + c is the result for these bits. */
static term lop3(const struct computing *m)
{
    term any = number(m, 0);
    for (uint32_t row = 0; row < 8; row++) {
        term of[3] = {m->a, m->b, m->c};
        if (!(m->x->op->row.immediate >> row & 1))
            continue;
        for (uint32_t k = 0; k < 3; k++)
            if (!(row >> (2 - k) & 1))
                of[k] = term_unary(m->t, UNARY_COMPLEMENT, of[k]);
        any = binary(m, BINARY_OR, any,
                     binary(m, BINARY_AND, binary(m, BINARY_AND, of[0], of[1]), of[2]));
    }
    return any;
}

/* By an amount of 32 bits; by the width or more everything goes. */
static term shifted(const struct computing *m, bool left)
{
    struct terms *t = m->t;
    term by = m->type.bits == 64 ? term_unsigned(t, m->b) : m->b;
    if (left)
        return binary(m, BINARY_SHL, m->a, by);
    return m->type.is_signed ? binary(m, BINARY_SHR, m->a, by) : term_lshr(t, m->a, by);
}

/* high:low, shifted by the low five bits of the amount. */
static term funnel(const struct computing *m)
{
    struct terms *t = m->t;
    term both = term_joined(t, m->a, m->b), by = m->c;
    if (m->i->words[PTX_SLOT_WRAP] != PTX_W_WRAP)
        return TERM_NONE;
    by = term_unsigned(t, term_binary(t, BINARY_AND, by, term_word(t, 31)));
    if (m->i->words[PTX_SLOT_MODE] == PTX_W_R)
        return term_low(t, term_lshr(t, both, by));
    return term_high(t, term_binary(t, BINARY_SHL, both, by));
}

/* Of 32 bits, at a known place of known length. */
static term field(const struct computing *m)
{
    struct terms *t = m->t;
    int64_t place, length;
    if (m->type.bits != 32 || !term_is_number(t, m->b, &place) ||
        !term_is_number(t, m->c, &length) || place < 0 || length < 1 || place + length > 32)
        return TERM_NONE;
    term up = term_binary(t, BINARY_SHL, m->a, term_word(t, (int32_t)(32 - place - length)));
    term down = term_word(t, (int32_t)(32 - length));
    return m->type.is_signed ? term_binary(t, BINARY_SHR, up, down) : term_lshr(t, up, down);
}

static term logic(const struct computing *m)
{
    struct terms *t = m->t;
    bool is_pred = m->type.kind == PTX_CLASS_PRED;
    switch ((int)m->i->form) {
    case PTX_FORM_AND_BITS:
        return binary(m, BINARY_AND, m->a, m->b);
    case PTX_FORM_OR_BITS:
        return binary(m, BINARY_OR, m->a, m->b);
    case PTX_FORM_XOR_BITS:
        return binary(m, BINARY_XOR, m->a, m->b);
    case PTX_FORM_NOT_BITS:
        return is_pred ? term_unary(t, UNARY_NOT, m->a) : term_unary(t, UNARY_COMPLEMENT, m->a);
    case PTX_FORM_CNOT_BITS:
        return term_ite(t, term_holds(t, m->a), number(m, 0), number(m, 1));
    case PTX_FORM_LOP3_BITS:
        return lop3(m);
    case PTX_FORM_SHL_BITS:
        return shifted(m, true);
    case PTX_FORM_SHR_ANY:
        return shifted(m, false);
    case PTX_FORM_SHF_BITS:
        return funnel(m);
    case PTX_FORM_BFE_INT:
        return field(m);
    default:
        return TERM_NONE;
    }
}

/* ---- comparison, selection ---- */

static term compared(const struct computing *m)
{
    struct terms *t = m->t;
    switch ((int)m->i->words[PTX_SLOT_CMP]) {
    case PTX_W_EQ:
        return term_eq(t, m->a, m->b);
    case PTX_W_NE:
        return term_not(t, term_eq(t, m->a, m->b));
    case PTX_W_LT:
    case PTX_W_LO:
        return less(m, m->a, m->b);
    case PTX_W_LE:
    case PTX_W_LS:
        return term_not(t, less(m, m->b, m->a));
    case PTX_W_GT:
    case PTX_W_HI:
        return less(m, m->b, m->a);
    case PTX_W_GE:
    case PTX_W_HS:
        return term_not(t, less(m, m->a, m->b));
    default:
        return TERM_NONE;
    }
}

/* (a cmp b) op c */
static term combined(const struct computing *m, term found)
{
    struct terms *t = m->t;
    const struct ptx_operand *c = m->i->operands->next->next->next;
    if (!c)
        return found;
    term other = term_holds(t, m->c);
    other = c->negated ? term_not(t, other) : other;
    switch ((int)m->i->words[PTX_SLOT_OP]) {
    case PTX_W_AND:
        return term_and(t, found, other);
    case PTX_W_OR:
        return term_or(t, found, other);
    default:
        return term_not(t, term_eq(t, found, other));
    }
}

static void note_test(const struct computing *m)
{
    struct test_seen test = {.k = m->x->k, .a = m->a, .b = m->b, .is_unsigned = !m->type.is_signed};
    grown_add(m->x->duo->arena, &m->x->duo->tests, &test, sizeof test);
}

/* setp, with one or two results. */
static bool compare(const struct computing *m)
{
    const struct ptx_op *op = m->x->op;
    struct terms *t = m->t;
    term found = compared(m);
    if (!found)
        return false;
    note_test(m);
    term first = term_as_word(t, combined(m, found));
    term second = term_as_word(t, combined(m, term_not(t, found)));
    lift_set(m->x, &op->results[0], first);
    if (op->result_count > 1)
        lift_set(m->x, &op->results[1], second);
    return true;
}

/* set: of whole numbers, all ones. */
static term set(const struct computing *m)
{
    term found = compared(m);
    if (!found || m->i->words[PTX_SLOT_TYPE] == PTX_W_F32)
        return TERM_NONE;
    return term_unary(m->t, UNARY_NEG, term_as_word(m->t, combined(m, found)));
}

static term selected(const struct computing *m)
{
    struct terms *t = m->t;
    if (m->i->form == PTX_FORM_SELP_ANY)
        return term_ite(t, term_holds(t, m->c), m->a, m->b);
    return term_ite(t, term_less(t, m->c, term_word(t, 0)), m->b, m->a);
}

/* ---- moves, sizes, windows ---- */

/* Of one register; of two halves of 64 bits. */
static bool move(const struct computing *m)
{
    const struct ptx_op *op = m->x->op;
    struct terms *t = m->t;
    if (op->result_count == 1 && op->source_count == 1) {
        lift_set(m->x, &op->results[0], zeroed(m, m->a));
        return true;
    }
    if (m->type.bits != 64 || op->result_count + op->source_count != 3)
        return false;
    if (op->source_count == 2) {
        lift_set(m->x, &op->results[0], term_joined(t, m->a, lift_value(m->x, &op->sources[1])));
        return true;
    }
    term low = term_low(t, m->a), high = term_high(t, m->a);
    lift_set(m->x, &op->results[0], low);
    lift_set(m->x, &op->results[1], high);
    return true;
}

/* Bits of the register, which may be more than the type has. */
static uint32_t declared_bits(const struct computing *m)
{
    const struct ptx_operand *result = m->i->operands;
    return result->target_kind == PTX_TARGET_VARIABLE
               ? ptx_type_of(result->target.variable->type).bits
               : m->type.bits;
}

/* Between whole numbers: the source as its type says, then as the result's says, then as the register is. */
static term converted(const struct computing *m)
{
    struct terms *t = m->t;
    const struct ptx_type from = ptx_type_of((enum ptx_word)m->i->words[PTX_SLOT_TYPE2]);
    const struct ptx_type held = {PTX_CLASS_INT, (uint8_t)declared_bits(m), false};
    term value = lift_value(m->x, &m->x->op->sources[0]);
    if (m->i->words[PTX_SLOT_SAT])
        return TERM_NONE;
    if (from.bits < 64)
        value = cut_off(t, term_of(t, value)->sort == SORT_LONG ? term_low(t, value) : value, from);
    if (m->type.bits == 64) {
        if (from.bits == 64)
            return value;
        return from.is_signed ? term_signed(t, value) : term_unsigned(t, value);
    }
    value = cut_off(t, from.bits == 64 ? term_low(t, value) : value, m->type);
    if (m->x->op->results[0].bits != 64)
        return cut_off(t, value, held);
    return m->type.is_signed ? term_signed(t, value) : term_unsigned(t, value);
}

/* The space's window, in this kernel of 64-bit addresses. */
static term moved(const struct computing *m, bool up)
{
    uint64_t base = ptx_window_base((enum ptx_window)m->x->op->row.immediate, m->type.bits == 64);
    return binary(m, up ? BINARY_ADD : BINARY_SUB, m->a, number(m, (int64_t)base));
}

/* ---- all of them ---- */

/* Amounts of shifts, predicates, and what is twice as wide are not of the type. */
static bool is_of_type(const struct computing *m, uint32_t number)
{
    int form = (int)m->i->form;
    if (number == 2)
        return form == PTX_FORM_MAD_INT;
    return number == 0 || (form != PTX_FORM_SHL_BITS && form != PTX_FORM_SHR_ANY);
}

/* An operand, as its type says. */
static term argument(const struct computing *m, uint32_t number)
{
    const struct ptx_op *op = m->x->op;
    if (number >= op->source_count)
        return TERM_NONE;
    term value = lift_value(m->x, &op->sources[number]);
    bool narrow = m->type.kind != PTX_CLASS_PRED && is_of_type(m, number);
    return narrow && term_of(m->t, value)->sort == SORT_WORD ? cut_off(m->t, value, m->type)
                                                             : value;
}

/* The operands of set are of the second type. */
static bool of_second_type(enum ptx_form form)
{
    return form == PTX_FORM_SET_INT || form == PTX_FORM_SET_BITS || form == PTX_FORM_SET_INT_BOOL ||
           form == PTX_FORM_SET_BITS_BOOL;
}

static void take_arguments(struct computing *m)
{
    bool second = of_second_type(m->i->form);
    m->type = ptx_type_of((enum ptx_word)m->i->words[second ? PTX_SLOT_TYPE2 : PTX_SLOT_TYPE]);
    m->a = argument(m, 0);
    m->b = argument(m, 1);
    m->c = argument(m, 2);
}

/* The value of the only result; TERM_NONE: anything. */
static term result(const struct computing *m)
{
    switch ((int)m->i->form) {
    case PTX_FORM_SET_INT:
    case PTX_FORM_SET_BITS:
    case PTX_FORM_SET_INT_BOOL:
    case PTX_FORM_SET_BITS_BOOL:
        return set(m);
    case PTX_FORM_SELP_ANY:
    case PTX_FORM_SLCT_INT:
        return zeroed(m, selected(m));
    case PTX_FORM_CVT_INT_INT:
        return converted(m);
    case PTX_FORM_CVTA_FROM:
        return moved(m, true);
    case PTX_FORM_CVTA_TO:
        return moved(m, false);
    default:
        break;
    }
    term value = arithmetic(m);
    value = value ? value : logic(m);
    bool wide = m->i->form == PTX_FORM_MUL_WIDE || m->i->form == PTX_FORM_MAD_WIDE;
    return value && !wide && m->type.kind != PTX_CLASS_PRED ? zeroed(m, value) : value;
}

static bool computes(struct computing *m)
{
    switch ((int)m->i->form) {
    case PTX_FORM_SETP_INT:
    case PTX_FORM_SETP_BITS:
    case PTX_FORM_SETP_INT_BOOL:
    case PTX_FORM_SETP_BITS_BOOL:
        return compare(m);
    case PTX_FORM_MOV_ANY:
        return move(m);
    default:
        break;
    }
    term value = result(m);
    if (value)
        lift_set(m->x, &m->x->op->results[0], value);
    return value != TERM_NONE;
}

void lift_compute(struct lifting *x)
{
    struct computing m = {.x = x, .t = &x->duo->terms};
    const struct ptx_op *op = x->op;
    if (op->statement && op->opcode != PTX_OP_CALL) {
        m.i = &op->statement->u.instruction;
        take_arguments(&m);
        if (computes(&m))
            return;
    }
    for (uint32_t i = 0; i < op->result_count; i++)
        lift_set(x, &op->results[i], lift_anything(x, &op->results[i]));
}
