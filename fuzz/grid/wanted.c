/*
 * Terms of registers, from the top of the text to its bottom: a register has its term where it was written once, or
 * between its write and the next label. What else it may hold, what memory holds, and what is not of 32 bits, is not
 * known.
 */
#include "fuzz/grid/wanted.h"

#include "engine/smt/solver.h"
#include "engine/smt/term.h"
#include "fuzz/grid/registers.h"

enum { TERMS = 1 << 14, PASSED = 16, BLOCK_MOST = 1024 };

struct computed {
    uint32_t writes;
    term value; /* TERM_NONE: not known */
    uint32_t stretch;
};

struct finder {
    struct arena *arena;
    struct terms terms;
    struct registers registers;
    const struct ptx_function *entry;
    const struct branches *branches;
    struct solver *solver;
    struct wanted *wanted;
    uint32_t count, stretch;
    bool counts; /* the first time: how often registers are written */
    term parameters[WANTED_PARAMETERS];
    term limits; /* of what has some */
    /* Branches that were passed, to labels that are still to come. */
    uint32_t passed;
    struct {
        uint32_t until; /* line */
        term condition;
    } passing[PASSED];
};

/* ---- terms ---- */

static term special(struct finder *f, const struct ptx_operand *o)
{
    const char *name = ptx_specials[o->target.special].name;
    if (o->element)
        name = arena_printf(f->arena, "%s.%c", name, o->element);
    const term t = term_limited(&f->terms, arena_printf(f->arena, "s_%s", name + 1), BLOCK_MOST);
    f->limits = term_and(&f->terms, f->limits, term_limit_of(&f->terms, t));
    return t;
}

static term value_of(struct finder *f, const struct ptx_operand *o)
{
    const struct computed *c = registers_at(&f->registers, o, sizeof *c);
    if (o->kind == PTX_OPERAND_INTEGER)
        return term_word(&f->terms, (int32_t)(uint32_t)o->value);
    if (o->target_kind == PTX_TARGET_SPECIAL && ptx_specials[o->target.special].bits == 32)
        return special(f, o);
    if (!c || (c->writes > 1 && c->stretch != f->stretch))
        return TERM_NONE;
    return c->value;
}

static term parameter(struct finder *f, const struct ptx_operand *from)
{
    uint32_t number = 0;
    for (const struct ptx_variable *p = f->entry->parameters; p && number < WANTED_PARAMETERS;
         p = p->next, number++)
        if (from->target_kind == PTX_TARGET_VARIABLE && from->target.variable == p &&
            p->dimension_count == 0)
            return f->parameters[number] =
                       term_symbol(&f->terms, SORT_WORD, arena_printf(f->arena, "p%u", number));
    return TERM_NONE;
}

static term shifted(struct finder *f, const struct ptx_instruction *i, bool left, term a, term by)
{
    int32_t n;
    if (!term_is_constant(&f->terms, by, &n) || n < 0 || n > 31)
        return TERM_NONE;
    if (left)
        return term_binary(&f->terms, BINARY_SHL, a, by);
    return ptx_type_of((enum ptx_word)i->words[PTX_SLOT_TYPE]).is_signed
               ? term_binary(&f->terms, BINARY_SHR, a, by)
               : term_lshr(&f->terms, a, by);
}

/* a < b of whole numbers, as the type has it. */
static term less(struct finder *f, const struct ptx_instruction *i, term a, term b)
{
    return ptx_type_of((enum ptx_word)i->words[PTX_SLOT_TYPE]).is_signed
               ? term_less(&f->terms, a, b)
               : term_below(&f->terms, a, b);
}

static term compared(struct finder *f, const struct ptx_instruction *i, term a, term b)
{
    switch ((uint32_t)i->words[PTX_SLOT_CMP]) {
    case PTX_W_EQ:
        return term_eq(&f->terms, a, b);
    case PTX_W_NE:
        return term_not(&f->terms, term_eq(&f->terms, a, b));
    case PTX_W_LT:
    case PTX_W_LO:
        return less(f, i, a, b);
    case PTX_W_GE:
    case PTX_W_HS:
        return term_not(&f->terms, less(f, i, a, b));
    case PTX_W_GT:
    case PTX_W_HI:
        return less(f, i, b, a);
    case PTX_W_LE:
    case PTX_W_LS:
        return term_not(&f->terms, less(f, i, b, a));
    }
    return TERM_NONE;
}

static term both(struct finder *f, const struct ptx_instruction *i, term a, term b)
{
    const bool is_bool = term_of(&f->terms, a)->sort == SORT_BOOL;
    switch ((int)ptx_forms[i->form].opcode) {
    case PTX_OP_ADD:
        return term_binary(&f->terms, BINARY_ADD, a, b);
    case PTX_OP_SUB:
        return term_binary(&f->terms, BINARY_SUB, a, b);
    case PTX_OP_MUL:
        return i->words[PTX_SLOT_MODE] == PTX_W_LO ? term_binary(&f->terms, BINARY_MUL, a, b)
                                                   : TERM_NONE;
    case PTX_OP_AND:
        return is_bool ? term_and(&f->terms, a, b) : term_binary(&f->terms, BINARY_AND, a, b);
    case PTX_OP_OR:
        return is_bool ? term_or(&f->terms, a, b) : term_binary(&f->terms, BINARY_OR, a, b);
    case PTX_OP_XOR:
        return is_bool ? term_not(&f->terms, term_eq(&f->terms, a, b))
                       : term_binary(&f->terms, BINARY_XOR, a, b);
    case PTX_OP_SHL:
        return shifted(f, i, true, a, b);
    case PTX_OP_SHR:
        return shifted(f, i, false, a, b);
    case PTX_OP_MIN:
        return term_ite(&f->terms, less(f, i, a, b), a, b);
    case PTX_OP_MAX:
        return term_ite(&f->terms, less(f, i, a, b), b, a);
    case PTX_OP_SETP:
        return compared(f, i, a, b);
    }
    return TERM_NONE;
}

static bool is_of_words(const struct ptx_instruction *i)
{
    const struct ptx_type type = ptx_type_of((enum ptx_word)i->words[PTX_SLOT_TYPE]);
    return type.kind == PTX_CLASS_PRED || (type.bits == 32 && type.kind != PTX_CLASS_FLOAT);
}

static term result(struct finder *f, const struct ptx_instruction *i, const struct ptx_operand *a)
{
    const struct ptx_operand *b = a->next, *c = b ? b->next : NULL;
    const int opcode = (int)ptx_forms[i->form].opcode;
    if (!is_of_words(i))
        return TERM_NONE;
    if (opcode == PTX_OP_LD)
        return i->words[PTX_SLOT_SPACE] == PTX_W_PARAM ? parameter(f, a) : TERM_NONE;
    const term x = value_of(f, a), y = b ? value_of(f, b) : TERM_NONE;
    if (opcode == PTX_OP_MOV)
        return x;
    if (opcode == PTX_OP_NOT && x)
        return term_of(&f->terms, x)->sort == SORT_BOOL
                   ? term_not(&f->terms, x)
                   : term_unary(&f->terms, UNARY_COMPLEMENT, x);
    if (!x || !y || term_of(&f->terms, x)->sort != term_of(&f->terms, y)->sort)
        return TERM_NONE;
    const term z = c ? value_of(f, c) : TERM_NONE;
    if (opcode == PTX_OP_MAD)
        return z && i->words[PTX_SLOT_MODE] == PTX_W_LO
                   ? term_binary(&f->terms, BINARY_ADD, term_binary(&f->terms, BINARY_MUL, x, y), z)
                   : TERM_NONE;
    if (opcode == PTX_OP_SELP)
        return z ? term_ite(&f->terms, z, x, y) : TERM_NONE;
    return c ? TERM_NONE : both(f, i, x, y);
}

/* ---- branches ---- */

static void ask(struct finder *f, term condition)
{
    struct wanted *w = &f->wanted[f->count];
    const char *names[WANTED_PARAMETERS];
    term mentioned[WANTED_PARAMETERS];
    uint32_t values[WANTED_PARAMETERS], numbers[WANTED_PARAMETERS], count = 0;
    uint8_t *seen = ARENA_ARRAY(f->arena, uint8_t, f->terms.count);
    struct text text = text_begin(f->arena);
    term_mark_cone(&f->terms, condition, seen);
    for (uint32_t p = 0; p < WANTED_PARAMETERS; p++)
        if (f->parameters[p] && seen[f->parameters[p]]) {
            mentioned[count] = f->parameters[p];
            names[count] = term_of(&f->terms, f->parameters[p])->name;
            numbers[count++] = p;
        }
    const term roots[] = {condition, f->limits};
    if (count == 0 || f->count == WANTED_MOST || f->terms.full)
        return;
    term_print(&text, &f->terms, roots, 2, mentioned, count, NULL, 0);
    if (solver_ask(f->solver, text.bytes, names, values, count) != SOLVER_SAT)
        return;
    *w = (struct wanted){.set = 0};
    for (uint32_t i = 0; i < count; i++) {
        w->set |= 1u << numbers[i];
        w->values[numbers[i]] = (int32_t)values[i];
    }
    f->count++;
}

static void branch(struct finder *f, const struct ptx_instruction *i, uint32_t line)
{
    const struct ptx_operand *to = i->operands;
    const bool known = to && to->target_kind == PTX_TARGET_STATEMENT;
    term p = i->guard ? value_of(f, i->guard) : TERM_NONE, before = term_bool(true);
    if (p && i->guard->negated)
        p = term_not(&f->terms, p);
    if (!i->guard) {
        f->passed = 0; /* what follows is come to by labels alone */
        return;
    }
    for (uint32_t k = 0; k < f->passed; k++)
        before = term_and(&f->terms, before, f->passing[k].condition);
    if (p && branches_want(f->branches, line, true))
        ask(f, term_and(&f->terms, before, p));
    if (p && branches_want(f->branches, line, false))
        ask(f, term_and(&f->terms, before, term_not(&f->terms, p)));
    if (p && known && to->target.statement->at.line > line && f->passed < PASSED) {
        f->passing[f->passed].until = to->target.statement->at.line;
        f->passing[f->passed++].condition = term_not(&f->terms, p);
    }
}

static void pass_label(struct finder *f, uint32_t line)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->passed; k++)
        if (f->passing[k].until > line)
            f->passing[kept++] = f->passing[k];
    f->passed = kept;
    f->stretch++;
}

/* ---- the text ---- */

static void write(struct finder *f, const struct ptx_instruction *i, const struct ptx_operand *o,
                  term value)
{
    struct computed *c = registers_at(&f->registers, o, sizeof *c);
    if (!c)
        return;
    if (f->counts) {
        c->writes++;
        return;
    }
    c->value = i->guard ? TERM_NONE : value;
    c->stretch = f->stretch;
}

static void execute(struct finder *f, const struct ptx_instruction *i, uint32_t line)
{
    const struct ptx_operand *first = i->operands;
    const int opcode = (int)ptx_forms[i->form].opcode;
    if (opcode == PTX_OP_BRA && !f->counts)
        branch(f, i, line);
    if ((opcode == PTX_OP_RET || opcode == PTX_OP_EXIT) && !i->guard)
        f->passed = 0;
    if (!first || !first->next || opcode == PTX_OP_ST)
        return;
    if (first->kind == PTX_OPERAND_VECTOR || first->kind == PTX_OPERAND_PAIR)
        for (const struct ptx_operand *o = first->items; o; o = o->next)
            write(f, i, o, TERM_NONE);
    else
        write(f, i, first, f->counts ? TERM_NONE : result(f, i, first->next));
}

static void go_over(struct finder *f, const struct ptx_statement *list)
{
    for (; list; list = list->next) {
        if (list->kind == PTX_LABEL)
            pass_label(f, list->at.line);
        if (list->kind == PTX_BLOCK)
            go_over(f, list->u.block);
        else if (list->kind == PTX_INSTRUCTION)
            execute(f, &list->u.instruction, list->at.line);
    }
}

uint32_t wanted_find(struct arena *arena, const struct ptx_function *entry,
                     const struct branches *branches, struct wanted wanted[WANTED_MOST])
{
    const struct solver_options options = {
        .command = SOLVER_COMMAND, .budget = SOLVER_BUDGET / 16, .seconds = SOLVER_SECONDS};
    struct finder f = {.arena = arena,
                       .registers.numbers.arena = arena,
                       .entry = entry,
                       .branches = branches,
                       .wanted = wanted,
                       .counts = true};
    f.solver = solver_new(arena, &options);
    terms_init(&f.terms, arena, TERMS);
    f.limits = term_bool(true);
    go_over(&f, entry->body);
    f.counts = false;
    go_over(&f, entry->body);
    solver_end(f.solver);
    return f.count;
}
