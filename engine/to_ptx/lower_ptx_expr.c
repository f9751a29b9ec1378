/*
 * lower_ptx_expr.c - instructions, values, places in memory.
 */
#include "engine/base/invariant.h"
#include "engine/to_ptx/lower_ptx_internal.h"

/* ---- instructions ---- */

struct ptx_statement *lp_statement(struct ptx_lowering *l, enum ptx_statement_kind kind)
{
    struct ptx_statement *stm = ARENA_NEW(l->arena, struct ptx_statement);
    stm->kind = kind;
    stm->at = l->at;
    *l->code.end = stm;
    l->code.end = &stm->next;
    return stm;
}

struct ptx_instruction *lp_emit(struct ptx_lowering *l, enum ptx_form form, enum ptx_word type)
{
    struct ptx_instruction *i = &lp_statement(l, PTX_INSTRUCTION)->u.instruction;
    i->form = form;
    i->words[PTX_SLOT_TYPE] = (uint8_t)type;
    l->operand_end = &i->operands;
    return i;
}

/* prefix, number in decimal */
static const char *numbered(struct ptx_lowering *l, const char prefix[2], uint32_t number)
{
    char digits[10], *name = arena_alloc(l->arena, 16, 1);
    size_t count = 0, length = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    name[length++] = prefix[0];
    name[length++] = prefix[1];
    while (count > 0)
        name[length++] = digits[--count];
    return name;
}

static struct ptx_operand *new_operand(struct ptx_lowering *l, enum ptx_operand_kind kind)
{
    struct ptx_operand *o = ARENA_NEW(l->arena, struct ptx_operand);
    o->kind = kind;
    o->at = l->at;
    return o;
}

static struct ptx_operand *add_operand(struct ptx_lowering *l, enum ptx_operand_kind kind)
{
    struct ptx_operand *o = new_operand(l, kind);
    *l->operand_end = o;
    l->operand_end = &o->next;
    return o;
}

static void name_register(struct ptx_lowering *l, struct ptx_operand *o, enum value_kind kind,
                          uint32_t number)
{
    static const char prefixes[][2] = {"%p", "%r", "%b"};
    o->name = numbered(l, prefixes[kind], number);
    o->target_kind = PTX_TARGET_VARIABLE;
    o->target.variable = l->registers_of[kind];
    o->index = number;
}

static void name_variable(struct ptx_operand *o, const struct ptx_variable *var)
{
    o->name = var->name;
    o->target_kind = PTX_TARGET_VARIABLE;
    o->target.variable = var;
}

void lp_arg(struct ptx_lowering *l, struct value value)
{
    INVARIANT(value.kind != VALUE_NONE);
    if (value.kind == VALUE_INT)
        add_operand(l, PTX_OPERAND_INTEGER)->value = (uint64_t)(int64_t)value.number;
    else
        name_register(l, add_operand(l, PTX_OPERAND_NAME), value.kind, (uint32_t)value.number);
}

static void name_predicate(struct ptx_lowering *l, struct ptx_operand *o,
                           struct predicate predicate)
{
    name_register(l, o, 0, predicate.number);
    o->negated = predicate.negated;
}

void lp_arg_predicate(struct ptx_lowering *l, struct predicate predicate)
{
    name_predicate(l, add_operand(l, PTX_OPERAND_NAME), predicate);
}

void lp_guard(struct ptx_lowering *l, struct ptx_instruction *i, struct predicate guard)
{
    i->guard = new_operand(l, PTX_OPERAND_NAME);
    name_predicate(l, i->guard, guard);
}

void lp_arg_sink(struct ptx_lowering *l)
{
    add_operand(l, PTX_OPERAND_SINK);
}

void lp_arg_list(struct ptx_lowering *l, const struct value *values, uint32_t count)
{
    struct ptx_operand *list = add_operand(l, PTX_OPERAND_LIST);
    l->operand_end = &list->items;
    for (uint32_t i = 0; i < count; i++)
        lp_arg(l, values[i]);
    l->operand_end = &list->next;
}

void lp_arg_label(struct ptx_lowering *l, const struct ptx_statement *label)
{
    struct ptx_operand *o = add_operand(l, PTX_OPERAND_NAME);
    o->name = label->name;
    o->target_kind = PTX_TARGET_STATEMENT;
    o->target.statement = label;
}

void lp_arg_function(struct ptx_lowering *l, const struct ast_function *f)
{
    struct ptx_operand *o = add_operand(l, PTX_OPERAND_NAME);
    o->name = f->name;
    o->target_kind = PTX_TARGET_FUNCTION;
    o->target.function = l->functions[f->mark];
}

void lp_arg_variable(struct ptx_lowering *l, const struct ptx_variable *var)
{
    name_variable(add_operand(l, PTX_OPERAND_NAME), var);
}

void lp_arg_special(struct ptx_lowering *l, enum ptx_special special)
{
    struct ptx_operand *o = add_operand(l, PTX_OPERAND_NAME);
    o->name = ptx_specials[special].name;
    o->element = ptx_specials[special].has_elements ? 'x' : 0;
    o->target_kind = PTX_TARGET_SPECIAL;
    o->target.special = special;
}

void lp_arg_address(struct ptx_lowering *l, const struct ptx_variable *var, struct value base,
                    uint64_t offset)
{
    struct ptx_operand *o = add_operand(l, PTX_OPERAND_ADDRESS);
    o->value = offset;
    if (base.kind != VALUE_NONE)
        name_register(l, o, base.kind, (uint32_t)base.number);
    else if (var)
        name_variable(o, var);
}

void lp_three(struct ptx_lowering *l, enum ptx_form form, enum ptx_word type, struct value d,
              struct value a, struct value b)
{
    (void)lp_emit(l, form, type);
    lp_arg(l, d);
    lp_arg(l, a);
    lp_arg(l, b);
}

void lp_move(struct ptx_lowering *l, struct value d, struct value a)
{
    (void)lp_emit(l, PTX_FORM_MOV_ANY, PTX_W_B32);
    lp_arg(l, d);
    lp_arg(l, a);
}

static struct ptx_statement *new_label(struct ptx_lowering *l, const char *name)
{
    struct ptx_statement *label = ARENA_NEW(l->arena, struct ptx_statement);
    label->kind = PTX_LABEL;
    label->name = name;
    return label;
}

struct ptx_statement *lp_new_label(struct ptx_lowering *l, char letter, uint32_t number)
{
    return new_label(l, numbered(l, (char[2]){'$', letter}, number));
}

struct ptx_statement *lp_new_case_label(struct ptx_lowering *l, uint32_t number, uint32_t part)
{
    return new_label(l, arena_printf(l->arena, "$C%u_%u", (unsigned)number, (unsigned)part));
}

void lp_place_label(struct ptx_lowering *l, struct ptx_statement *label)
{
    label->at = l->at;
    *l->code.end = label;
    l->code.end = &label->next;
}

struct ptx_variable *lp_variable(struct ptx_lowering *l, const char *name, enum ptx_word space,
                                 enum ptx_word type)
{
    struct ptx_variable *var = ARENA_NEW(l->arena, struct ptx_variable);
    var->name = name;
    var->at = l->at;
    var->space = space;
    var->type = type;
    return var;
}

/* ---- registers ---- */

struct value lp_temporary(struct ptx_lowering *l)
{
    struct value d = lp_reg(l->registers++);
    if (l->registers > l->most_registers)
        l->most_registers = l->registers;
    return d;
}

uint32_t lp_predicate(struct ptx_lowering *l)
{
    uint32_t p = l->predicates++;
    if (l->predicates > l->most_predicates)
        l->most_predicates = l->predicates;
    return p;
}

struct value lp_held(struct ptx_lowering *l)
{
    return (struct value){VALUE_HELD, (int32_t)l->held++};
}

/* Set in the prologue: lower_ptx.c. */
static struct value builtin_value(struct ptx_lowering *l, enum ast_builtin builtin)
{
    if (builtin == BUILTIN_WARP_SIZE)
        return lp_int((int32_t)l->kernel->launch.warp);
    if (l->builtins[builtin] < 0)
        l->builtins[builtin] = lp_held(l).number;
    return (struct value){VALUE_HELD, l->builtins[builtin]};
}

/* ---- places ---- */

/* In no space is there anything at it, and it is a multiple of 4. */
enum { INVALID_ADDRESS = -4 };

struct home *lp_home(struct ptx_lowering *l, const struct ast_var *var)
{
    struct home *home = &l->homes[var->mark];
    home->used = true;
    return home;
}

static struct value base_of(struct ptx_lowering *l, struct home *home)
{
    if (home->base < 0)
        home->base = lp_held(l).number;
    return (struct value){VALUE_HELD, home->base};
}

/*  setp.lt.u32 p, i, length;  mad.lo.s32 a, i, 4, base;  selp.b32 a, a, -4, p; */
static struct place indexed(struct ptx_lowering *l, struct home *home, const struct ast_expr *index)
{
    struct value i = lp_eval(l, index);
    if (i.kind == VALUE_INT && i.number >= 0 && (uint32_t)i.number < home->var->length)
        return (struct place){home, lp_none(), false, (uint64_t)i.number * 4};
    if (i.kind == VALUE_INT)
        return (struct place){home, lp_none(), true, (uint32_t)INVALID_ADDRESS};
    uint32_t inside = lp_predicate(l);
    struct value address = lp_temporary(l);
    lp_emit(l, PTX_FORM_SETP_INT, PTX_W_U32)->words[PTX_SLOT_CMP] = PTX_W_LT;
    lp_arg_predicate(l, (struct predicate){inside, false});
    lp_arg(l, i);
    lp_arg(l, lp_int((int32_t)home->var->length));
    struct value base = base_of(l, home);
    lp_emit(l, PTX_FORM_MAD_INT, PTX_W_S32)->words[PTX_SLOT_MODE] = PTX_W_LO;
    lp_arg(l, address);
    lp_arg(l, i);
    lp_arg(l, lp_int(4));
    lp_arg(l, base);
    lp_three(l, PTX_FORM_SELP_ANY, PTX_W_B32, address, address, lp_int(INVALID_ADDRESS));
    lp_arg_predicate(l, (struct predicate){inside, false});
    return (struct place){home, address, false, 0};
}

struct place lp_place(struct ptx_lowering *l, const struct ast_lvalue *target)
{
    struct home *home = &l->homes[target->var->mark];
    struct place place =
        target->index ? indexed(l, home, target->index) : (struct place){home, lp_none(), false, 0};
    home->used |= !place.invalid;
    return place;
}

void lp_arg_place(struct ptx_lowering *l, const struct place *place)
{
    lp_arg_address(l, place->invalid ? NULL : place->home->variable, place->base, place->offset);
}

void lp_load_into(struct ptx_lowering *l, const struct place *place, struct value d)
{
    if (place->home->kind == HOME_REGISTER) {
        lp_move(l, d, lp_reg(place->home->reg));
        return;
    }
    lp_emit(l, PTX_FORM_LD_WEAK, PTX_W_B32)->words[PTX_SLOT_SPACE] = (uint8_t)place->home->space;
    lp_arg(l, d);
    lp_arg_place(l, place);
}

struct value lp_load(struct ptx_lowering *l, const struct place *place)
{
    if (place->home->kind == HOME_REGISTER)
        return lp_reg(place->home->reg);
    struct value d = lp_temporary(l);
    lp_load_into(l, place, d);
    return d;
}

void lp_store(struct ptx_lowering *l, const struct place *place, struct value value)
{
    if (place->home->kind == HOME_REGISTER) {
        lp_move(l, lp_reg(place->home->reg), value);
        return;
    }
    lp_emit(l, PTX_FORM_ST_WEAK, PTX_W_B32)->words[PTX_SLOT_SPACE] = (uint8_t)place->home->space;
    lp_arg_place(l, place);
    lp_arg(l, value);
}

/* ---- conditions ---- */

bool lp_reads_memory(const struct ast_expr *e)
{
    if (!e)
        return false;
    if (e->kind == EXPR_INDEX)
        return true;
    if (e->kind == EXPR_VAR)
        return e->var->space == SPACE_GLOBAL || e->var->space == SPACE_SHARED;
    return lp_reads_memory(e->a) || lp_reads_memory(e->b) || lp_reads_memory(e->c);
}

static bool comparison(enum ast_binary op, enum ptx_word *word)
{
    static const uint8_t words[BINARY_COUNT] = {
        [BINARY_LT] = PTX_W_LT, [BINARY_LE] = PTX_W_LE, [BINARY_GT] = PTX_W_GT,
        [BINARY_GE] = PTX_W_GE, [BINARY_EQ] = PTX_W_EQ, [BINARY_NE] = PTX_W_NE};
    *word = (enum ptx_word)words[op];
    return words[op] != PTX_W_NONE;
}

static void compare(struct ptx_lowering *l, uint32_t p, enum ptx_word word, struct value a,
                    struct value b)
{
    lp_emit(l, PTX_FORM_SETP_INT, PTX_W_S32)->words[PTX_SLOT_CMP] = (uint8_t)word;
    lp_arg_predicate(l, (struct predicate){p, false});
    lp_arg(l, a);
    lp_arg(l, b);
}

/* p := a */
static void set_predicate(struct ptx_lowering *l, uint32_t p, struct predicate a)
{
    (void)lp_emit(l, a.negated ? PTX_FORM_NOT_BITS : PTX_FORM_MOV_ANY, PTX_W_PRED);
    lp_arg_predicate(l, (struct predicate){p, false});
    lp_arg_predicate(l, (struct predicate){a.number, false});
}

static uint32_t plain(struct ptx_lowering *l, struct predicate a)
{
    if (!a.negated)
        return a.number;
    uint32_t p = lp_predicate(l);
    set_predicate(l, p, a);
    return p;
}

/* ssy E; .. J: sync; E:  around what only some lanes evaluate; nothing of it in plain PTX but J. */
struct region {
    struct ptx_statement *join, *end;
};

static struct region begin_region(struct ptx_lowering *l, uint32_t number)
{
    struct region region = {lp_new_label(l, 'J', number), lp_new_label(l, 'E', number)};
    if (!l->plain) {
        (void)lp_emit(l, PTX_FORM_SSY_ANY, PTX_W_NONE);
        lp_arg_label(l, region.end);
    }
    return region;
}

static void end_region(struct ptx_lowering *l, struct region region)
{
    lp_place_label(l, region.join);
    if (l->plain)
        return;
    (void)lp_emit(l, PTX_FORM_SYNC_ANY, PTX_W_NONE);
    lp_place_label(l, region.end);
}

/*  CMP.and     the second operand where the first does not decide
 *      q := a;  ssy E;  @!q bra J  (||: @q bra J);  q := b;  J: sync;  E:
 */
static struct predicate short_circuit(struct ptx_lowering *l, const struct ast_expr *e, bool is_and)
{
    uint32_t number = l->labels++, q = plain(l, lp_condition(l, e->a));
    struct region region = begin_region(l, number);
    lp_guard(l, lp_emit(l, PTX_FORM_BRA_ANY, PTX_W_NONE), (struct predicate){q, is_and});
    lp_arg_label(l, region.join);
    set_predicate(l, q, lp_condition(l, e->b));
    end_region(l, region);
    return (struct predicate){q, false};
}

static struct predicate logical(struct ptx_lowering *l, const struct ast_expr *e, bool is_and)
{
    if (lp_reads_memory(e->b))
        return short_circuit(l, e, is_and);
    uint32_t a = plain(l, lp_condition(l, e->a));
    uint32_t b = plain(l, lp_condition(l, e->b));
    uint32_t p = lp_predicate(l);
    (void)lp_emit(l, is_and ? PTX_FORM_AND_BITS : PTX_FORM_OR_BITS, PTX_W_PRED);
    lp_arg_predicate(l, (struct predicate){p, false});
    lp_arg_predicate(l, (struct predicate){a, false});
    lp_arg_predicate(l, (struct predicate){b, false});
    return (struct predicate){p, false};
}

/* A predicate of its own, which nothing else uses. */
struct predicate lp_condition(struct ptx_lowering *l, const struct ast_expr *e)
{
    enum ptx_word word = PTX_W_NE;
    if (e->kind == EXPR_UNARY && e->unary == UNARY_NOT) {
        struct predicate p = lp_condition(l, e->a);
        p.negated = !p.negated;
        return p;
    }
    if (e->kind == EXPR_BINARY &&
        (e->binary == BINARY_LOGICAL_AND || e->binary == BINARY_LOGICAL_OR))
        return logical(l, e, e->binary == BINARY_LOGICAL_AND);
    bool compares = e->kind == EXPR_BINARY && comparison(e->binary, &word);
    struct value a = lp_eval(l, compares ? e->a : e);
    struct value b = compares ? lp_eval(l, e->b) : lp_int(0);
    uint32_t p = lp_predicate(l);
    compare(l, p, compares ? word : PTX_W_NE, a, b);
    return (struct predicate){p, false};
}

/* ---- values ---- */

/* d := p ? a : b */
static void select_value(struct ptx_lowering *l, struct value d, struct value a, struct value b,
                         struct predicate p)
{
    lp_three(l, PTX_FORM_SELP_ANY, PTX_W_B32, d, p.negated ? b : a, p.negated ? a : b);
    lp_arg_predicate(l, (struct predicate){p.number, false});
}

static void one(struct ptx_lowering *l, enum ptx_form form, enum ptx_word type, struct value d,
                struct value a)
{
    (void)lp_emit(l, form, type);
    lp_arg(l, d);
    lp_arg(l, a);
}

/* Division by what may be 0 or -1 divides by 1, and then puts things right: a / 0 == 0, a / -1 == -a,
 * a % 0 == a, a % -1 == 0. */
static void divide(struct ptx_lowering *l, bool is_rem, struct value d, struct value a,
                   struct value b)
{
    enum ptx_form form = is_rem ? PTX_FORM_REM_INT : PTX_FORM_DIV_INT;
    if (b.kind == VALUE_INT && b.number != 0 && b.number != -1) {
        lp_three(l, form, PTX_W_S32, d, a, b);
        return;
    }
    struct predicate zero = {lp_predicate(l), false}, minus = {lp_predicate(l), false};
    struct value divisor = lp_temporary(l), result = lp_temporary(l);
    compare(l, zero.number, PTX_W_EQ, b, lp_int(0));
    compare(l, minus.number, PTX_W_EQ, b, lp_int(-1));
    select_value(l, divisor, lp_int(1), b, zero);
    select_value(l, divisor, lp_int(1), divisor, minus);
    lp_three(l, form, PTX_W_S32, result, a, divisor);
    if (!is_rem) {
        one(l, PTX_FORM_NEG_INT, PTX_W_S32, divisor, a);
        select_value(l, result, divisor, result, minus);
    }
    select_value(l, d, is_rem ? a : lp_int(0), result, zero);
}

static void arithmetic(struct ptx_lowering *l, const struct ast_expr *e, struct value d)
{
    struct value a = lp_eval(l, e->a), b = lp_eval(l, e->b);
    switch (e->binary) {
    case BINARY_MUL:
        lp_emit(l, PTX_FORM_MUL_INT, PTX_W_S32)->words[PTX_SLOT_MODE] = PTX_W_LO;
        lp_arg(l, d);
        lp_arg(l, a);
        lp_arg(l, b);
        return;
    case BINARY_DIV:
        divide(l, false, d, a, b);
        return;
    case BINARY_REM:
        divide(l, true, d, a, b);
        return;
    case BINARY_ADD:
        lp_three(l, PTX_FORM_ADD_INT, PTX_W_S32, d, a, b);
        return;
    case BINARY_SUB:
        lp_three(l, PTX_FORM_SUB_INT, PTX_W_S32, d, a, b);
        return;
    case BINARY_SHL:
        lp_three(l, PTX_FORM_SHL_BITS, PTX_W_B32, d, a, b);
        return;
    case BINARY_SHR:
        lp_three(l, PTX_FORM_SHR_ANY, PTX_W_S32, d, a, b);
        return;
    case BINARY_AND:
        lp_three(l, PTX_FORM_AND_BITS, PTX_W_B32, d, a, b);
        return;
    case BINARY_XOR:
        lp_three(l, PTX_FORM_XOR_BITS, PTX_W_B32, d, a, b);
        return;
    case BINARY_OR:
        lp_three(l, PTX_FORM_OR_BITS, PTX_W_B32, d, a, b);
        return;
    case BINARY_LT:
    case BINARY_LE:
    case BINARY_GT:
    case BINARY_GE:
    case BINARY_EQ:
    case BINARY_NE:
    case BINARY_LOGICAL_AND:
    case BINARY_LOGICAL_OR:
        break;
    }
    invariant_fail("an operation on numbers", __FILE__, __LINE__);
}

/*  c ? a : b  as CMP.if on the value
 *      p := c;  ssy E;  @p bra T;  d := b;  bra J;  T: d := a;  J: sync;  E:
 */
static void conditional(struct ptx_lowering *l, const struct ast_expr *e, struct value d)
{
    struct predicate p = lp_condition(l, e->a);
    if (!lp_reads_memory(e->b) && !lp_reads_memory(e->c)) {
        struct value a = lp_eval(l, e->b), b = lp_eval(l, e->c);
        select_value(l, d, a, b, p);
        return;
    }
    uint32_t number = l->labels++;
    struct ptx_statement *then = lp_new_label(l, 'T', number);
    struct region region = begin_region(l, number);
    lp_guard(l, lp_emit(l, PTX_FORM_BRA_ANY, PTX_W_NONE), p);
    lp_arg_label(l, then);
    lp_eval_into(l, e->c, d);
    (void)lp_emit(l, PTX_FORM_BRA_ANY, PTX_W_NONE);
    lp_arg_label(l, region.join);
    lp_place_label(l, then);
    lp_eval_into(l, e->b, d);
    end_region(l, region);
}

static bool is_truth(const struct ast_expr *e)
{
    enum ptx_word word;
    if (e->kind == EXPR_UNARY)
        return e->unary == UNARY_NOT;
    return e->kind == EXPR_BINARY &&
           (comparison(e->binary, &word) || e->binary == BINARY_LOGICAL_AND ||
            e->binary == BINARY_LOGICAL_OR);
}

static struct place place_of(struct ptx_lowering *l, const struct ast_expr *e)
{
    struct ast_lvalue target = {.var = e->var, .index = e->kind == EXPR_INDEX ? e->a : NULL};
    return lp_place(l, &target);
}

void lp_eval_into(struct ptx_lowering *l, const struct ast_expr *e, struct value d)
{
    if (is_truth(e)) {
        struct predicate p = lp_condition(l, e);
        select_value(l, d, lp_int(1), lp_int(0), p);
        return;
    }
    switch (e->kind) {
    case EXPR_INT:
        lp_move(l, d, lp_int(e->value));
        return;
    case EXPR_VAR:
    case EXPR_INDEX: {
        struct place place = place_of(l, e);
        lp_load_into(l, &place, d);
        return;
    }
    case EXPR_BUILTIN:
        lp_move(l, d, builtin_value(l, e->builtin));
        return;
    case EXPR_UNARY: {
        struct value a = lp_eval(l, e->a);
        bool is_neg = e->unary == UNARY_NEG;
        one(l, is_neg ? PTX_FORM_NEG_INT : PTX_FORM_NOT_BITS, is_neg ? PTX_W_S32 : PTX_W_B32, d, a);
        return;
    }
    case EXPR_BINARY:
        arithmetic(l, e, d);
        return;
    case EXPR_COND:
        conditional(l, e, d);
        return;
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    invariant_fail("an expression of a structured kernel", __FILE__, __LINE__);
}

struct value lp_eval(struct ptx_lowering *l, const struct ast_expr *e)
{
    if (e->kind == EXPR_INT)
        return lp_int(e->value);
    if (e->kind == EXPR_BUILTIN)
        return builtin_value(l, e->builtin);
    if (e->kind == EXPR_VAR) {
        struct place place = place_of(l, e);
        return lp_load(l, &place);
    }
    struct value d = lp_temporary(l);
    lp_eval_into(l, e, d);
    return d;
}
