#include "engine/ptx_static.h"

#include "engine/crs.h"
#include "engine/ptx_flow.h"
#include "engine/ptx_kernel_internal.h"

#include <string.h>

enum {
    MOST_STATES = 20000,
    MOST_TOKENS = 400,
    BASE = 255 /* type of the caller's call token */,
    MOVES = 4 /* from one register to another */
};

/* A stack: its top and what is below. Equal stacks are one object. */
struct stack {
    uint32_t type; /* enum crs_token_type, BASE */
    uint32_t pc;
    uint32_t depth;
    const struct stack *below; /* NULL: the empty stack, which has no token */
};

struct state {
    uint32_t pc;
    const struct stack *stack;
    struct state *next; /* still to be looked at */
};

struct targets {
    bool done, known;
    uint32_t count, *items; /* in the function */
};

struct checking {
    struct arena *arena;
    const struct ptx_flow *flow;
    uint32_t count;                           /* instructions 1 .. count */
    const struct ptx_statement **ops;         /* by address */
    struct ptx_map labels;                    /* label -> address */
    bool *labelled;                           /* an address: a label stands there */
    struct targets *targets;                  /* by address: of an indirect branch or call */
    const struct ptx_static_options *options; /* of the entry; none of other functions */
    const struct stack *empty;
    struct ptx_map stacks; /* (below, type and pc) -> items[..] */
    const struct stack **items;
    uint32_t item_room;
    struct ptx_map states; /* (stack, pc) */
    struct state *waiting;
    uint32_t most_states;
    struct ptx_static *result;
};

/* ---- results ---- */

static void note(struct ptx_static_fault *fault, enum ptx_static_clause clause, uint32_t line)
{
    if (fault->clause == PTX_STATIC_NONE)
        *fault = (struct ptx_static_fault){clause, line};
}

static uint32_t line_at(const struct checking *c, uint32_t pc)
{
    return pc >= 1 && pc <= c->count ? c->ops[pc]->at.line : c->flow->function->at.line;
}

static void found(struct checking *c, enum ptx_static_verdict verdict,
                  enum ptx_static_clause clause, uint32_t pc)
{
    struct ptx_static *r = c->result;
    bool worse = r->verdict == PTX_STATIC_CONSISTENT ||
                 (r->verdict == PTX_STATIC_UNKNOWN && verdict == PTX_STATIC_INCONSISTENT);
    if (worse) {
        r->verdict = verdict;
        r->why = (struct ptx_static_fault){clause, line_at(c, pc)};
    }
}

static void violated(struct checking *c, enum ptx_static_clause clause, uint32_t pc)
{
    found(c, PTX_STATIC_INCONSISTENT, clause, pc);
}

/* ---- stacks, states ---- */

static const struct stack *push(struct checking *c, const struct stack *below, uint32_t type,
                                uint32_t pc)
{
    bool is_new;
    uint32_t *place = ptx_map_add(&c->stacks, below, (uint64_t)type << 32 | pc, &is_new),
             number = *place;
    if (!is_new)
        return c->items[number];
    number = *place = c->stacks.count - 1;
    if (number == c->item_room) {
        const struct stack **more = ARENA_ARRAY(c->arena, const struct stack *, 2 * c->item_room);
        for (uint32_t i = 0; i < number; i++)
            more[i] = c->items[i];
        c->items = more;
        c->item_room *= 2;
    }
    struct stack *s = ARENA_NEW(c->arena, struct stack);
    *s = (struct stack){type, pc, below->depth + 1, below};
    c->items[number] = s;
    return s;
}

/* CHK.static (c), for sync tokens too: of what is called now, that is above the topmost call token. */
static bool holds_stale(const struct stack *s, uint32_t pc)
{
    for (; s->below && s->type != BASE && s->type != CRS_CALL; s = s->below)
        if (s->type != CRS_DIVERGE && s->pc == pc)
            return true;
    return false;
}

static void go(struct checking *c, uint32_t pc, const struct stack *stack)
{
    bool is_new;
    if (pc == 0 || pc > c->count) {
        violated(c, PTX_STATIC_ADDR, c->count);
        return;
    }
    if (stack->depth > MOST_TOKENS || c->states.count >= c->most_states) {
        found(c, PTX_STATIC_UNKNOWN, PTX_STATIC_GROWTH, pc);
        return;
    }
    ptx_map_add(&c->states, stack, pc, &is_new);
    if (!is_new)
        return;
    if (holds_stale(stack, pc))
        note(&c->result->rule, PTX_STATIC_C, line_at(c, pc));
    struct state *state = ARENA_NEW(c->arena, struct state);
    *state = (struct state){pc, stack, c->waiting};
    c->waiting = state;
}

static bool has_type(const struct stack *s, uint32_t type)
{
    for (; s->below; s = s->below)
        if (s->type == type || (type == CRS_CALL && s->type == BASE))
            return true;
    return false;
}

/* ---- instructions ---- */

static const struct ptx_instruction *instruction(const struct checking *c, uint32_t pc)
{
    return &c->ops[pc]->u.instruction;
}

static uint32_t label_address(const struct checking *c, const struct ptx_operand *o)
{
    const uint32_t *address = o->target_kind == PTX_TARGET_STATEMENT
                                  ? ptx_map_find(&c->labels, o->target.statement, 0)
                                  : NULL;
    return address ? *address : 0;
}

static bool same_guard(const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (!a || !b)
        return !a && !b;
    return a->kind == PTX_OPERAND_NAME && b->kind == PTX_OPERAND_NAME && a->negated == b->negated &&
           a->target_kind == PTX_TARGET_VARIABLE && b->target_kind == PTX_TARGET_VARIABLE &&
           a->target.variable == b->target.variable && a->index == b->index;
}

/* CHK.static (a) */
static bool is_pair(const struct checking *c, uint32_t pc)
{
    return pc + 2 <= c->count && ptx_statement_opcode(c->ops[pc]) == PTX_OP_PRERET &&
           ptx_statement_opcode(c->ops[pc + 1]) == PTX_OP_CALL && !c->labelled[pc + 1] &&
           same_guard(instruction(c, pc)->guard, instruction(c, pc + 1)->guard) &&
           label_address(c, instruction(c, pc)->operands) == pc + 2;
}

/* The lanes of a warp that are active have all left. */
static void unwind(struct checking *c, enum ptx_opcode why, const struct stack *s)
{
    for (; s->below && s->type != BASE; s = s->below) {
        go(c, s->pc, s->below);
        if (s->type == CRS_DIVERGE || (s->type == CRS_BREAK && why == PTX_OP_BREAK) ||
            (s->type == CRS_CALL && why == PTX_OP_RET))
            return; /* lanes of its mask wait here for sure */
    }
}

static void step_sync(struct checking *c, uint32_t pc, const struct stack *s)
{
    const struct stack *first = s;
    if (!s->below || (s->type != CRS_SYNC && s->type != CRS_DIVERGE)) {
        violated(c, PTX_STATIC_SC3, pc);
        return;
    }
    while (first->below && first->type == CRS_DIVERGE)
        first = first->below;
    if (!first->below || first->type != CRS_SYNC || first->pc != pc + 1) {
        violated(c, s->type == CRS_SYNC ? PTX_STATIC_SC5 : PTX_STATIC_SC4, pc);
        return;
    }
    if (s->type == CRS_DIVERGE && s->below != first)
        note(&c->result->four, PTX_STATIC_SC4, line_at(c, pc));
    go(c, s->pc, s->below);
}

static void step_leave(struct checking *c, uint32_t pc, enum ptx_opcode op, const struct stack *s)
{
    if (op == PTX_OP_BREAK && !has_type(s, CRS_BREAK)) {
        if (has_type(s, BASE))
            found(c, PTX_STATIC_UNKNOWN, PTX_STATIC_CALLER, pc);
        else
            violated(c, PTX_STATIC_SC1, pc);
    } else if (op == PTX_OP_RET && !has_type(s, CRS_CALL)) {
        violated(c, PTX_STATIC_SC2, pc);
    } else {
        unwind(c, op, s);
    }
}

/* To one of several targets, all lanes or some: those that do not go there come back or go on. */
static void branch_to(struct checking *c, uint32_t pc, uint32_t target, bool others,
                      const struct stack *s)
{
    go(c, target, s);
    if (instruction(c, pc)->guard && ptx_statement_opcode(c->ops[pc]) != PTX_OP_CALL)
        go(c, target, push(c, s, CRS_DIVERGE, pc + 1));
    if (others)
        go(c, target, push(c, s, CRS_DIVERGE, pc));
}

static bool same_register(const struct ptx_operand *o, const struct ptx_operand *reg)
{
    return o->kind == PTX_OPERAND_NAME && o->target_kind == PTX_TARGET_VARIABLE &&
           o->target.variable == reg->target.variable && o->index == reg->index;
}

/* The instruction may write it: results come first. */
static bool writes(const struct checking *c, uint32_t pc, const struct ptx_operand *reg)
{
    enum ptx_opcode op = ptx_statement_opcode(c->ops[pc]);
    const struct ptx_operand *o = instruction(c, pc)->operands;
    if (!o || op == PTX_OP_BRA || op == PTX_OP_BRX || (op == PTX_OP_CALL && !o->items))
        return false;
    for (const struct ptx_operand *item = o->items; item; item = item->next)
        if (same_register(item, reg))
            return true;
    return same_register(o, reg);
}

static bool is_code_address(const struct ptx_operand *o)
{
    return o->target_kind == PTX_TARGET_FUNCTION ||
           (o->target_kind == PTX_TARGET_STATEMENT && o->target.statement->kind == PTX_LABEL);
}

/* Registers that are looked at, each given the one before. */
struct chain {
    const struct ptx_operand *reg;
    const struct chain *before;
    uint32_t length;
};

static bool find_given(const struct checking *c, const struct chain *chain, bool loads,
                       bool *given);

static bool source_given(const struct checking *c, const struct ptx_operand *o,
                         const struct chain *chain, bool loads, bool *given)
{
    if (is_code_address(o)) {
        given[label_address(c, o)] = true;
        return true;
    }
    if (o->kind != PTX_OPERAND_NAME || o->target_kind != PTX_TARGET_VARIABLE ||
        o->target.variable->space != PTX_W_REG || chain->length == MOVES)
        return false;
    for (const struct chain *before = chain; before; before = before->before)
        if (same_register(o, before->reg))
            return true;
    struct chain more = {o, chain, chain->length + 1};
    return find_given(c, &more, loads, given);
}

/* What the instruction writes is an address of code, if it is mov or selp of such. */
static bool gives_code(const struct checking *c, uint32_t pc, const struct chain *chain, bool loads,
                       bool *given)
{
    enum ptx_opcode op = ptx_statement_opcode(c->ops[pc]);
    const struct ptx_operand *o = instruction(c, pc)->operands->next;
    uint32_t sources = op == PTX_OP_MOV ? 1 : op == PTX_OP_SELP ? 2 : 0;
    for (uint32_t i = 0; i < sources; i++, o = o->next)
        if (!source_given(c, o, chain, loads, given))
            return false;
    return sources > 0 || (loads && op == PTX_OP_LD);
}

/* All that a register is given: labels (in `given`) and functions; for a call, also what ld reads. False:
 * something else. */
static bool find_given(const struct checking *c, const struct chain *chain, bool loads, bool *given)
{
    for (uint32_t pc = 1; pc <= c->count; pc++)
        if (writes(c, pc, chain->reg) && !gives_code(c, pc, chain, loads, given))
            return false;
    for (uint32_t i = 0; i < c->options->register_count; i++) {
        const struct ptx_static_register *r = &c->options->registers[i];
        if (strcmp(r->name, chain->reg->name) == 0 && r->value <= c->count)
            given[r->value] = true;
    }
    return true;
}

static const struct targets *find_targets(struct checking *c, uint32_t pc,
                                          const struct ptx_operand *reg, bool loads)
{
    struct targets *t = &c->targets[pc];
    if (t->done)
        return t;
    bool *given = ARENA_ARRAY(c->arena, bool, c->count + 2);
    t->done = true;
    struct chain chain = {reg, NULL, 0};
    t->known = find_given(c, &chain, loads, given);
    t->items = ARENA_ARRAY(c->arena, uint32_t, c->count + 1);
    for (uint32_t to = 1; to <= c->count; to++)
        if (given[to])
            t->items[t->count++] = to;
    return t;
}

/* bra r, call r: to all addresses that the register may hold. */
static void go_to_targets(struct checking *c, uint32_t pc, const struct targets *t,
                          const struct stack *s)
{
    for (uint32_t i = 0; i < t->count; i++)
        branch_to(c, pc, t->items[i], t->count > 1, s);
}

static void step_bra(struct checking *c, uint32_t pc, const struct stack *s)
{
    const struct ptx_operand *o = instruction(c, pc)->operands;
    if (o->target_kind == PTX_TARGET_STATEMENT) {
        branch_to(c, pc, label_address(c, o), false, s);
        return;
    }
    const struct targets *t = find_targets(c, pc, o, false);
    if (t->known && t->count > 0)
        go_to_targets(c, pc, t, s);
    else
        found(c, PTX_STATIC_UNKNOWN, PTX_STATIC_TARGET, pc);
}

static void step_brx(struct checking *c, uint32_t pc, const struct stack *s)
{
    const struct ptx_statement *table = instruction(c, pc)->operands->next->target.statement;
    for (const struct ptx_operand *o = table->u.targets; o; o = o->next)
        branch_to(c, pc, label_address(c, o), table->u.targets->next != NULL, s);
}

/* A function is passed: its lanes come back behind the call, or have exited. */
static void step_call(struct checking *c, uint32_t pc, const struct stack *s)
{
    const struct ptx_operand *target = ptx_call_target(c->ops[pc]);
    bool is_label = target->target_kind == PTX_TARGET_STATEMENT;
    const struct targets *t =
        target->target_kind == PTX_TARGET_VARIABLE ? find_targets(c, pc, target, true) : NULL;
    if (!s->below || s->type != CRS_CALL || s->pc != pc + 1) {
        violated(c, PTX_STATIC_SC6, pc);
        return;
    }
    if (t && !t->known) {
        found(c, PTX_STATIC_UNKNOWN, PTX_STATIC_TARGET, pc);
        return;
    }
    if (is_label)
        branch_to(c, pc, label_address(c, target), false, s);
    else if (t)
        go_to_targets(c, pc, t, s);
    if (!is_label)
        unwind(c, PTX_OP_EXIT, s);
}

static void step_push(struct checking *c, uint32_t pc, uint32_t type, const struct stack *s)
{
    uint32_t address = label_address(c, instruction(c, pc)->operands);
    if (address == 0 || address > c->count)
        violated(c, PTX_STATIC_ADDR, pc);
    else
        go(c, pc + 1, push(c, s, type, address));
}

/* Some lanes execute the instruction. */
static void step(struct checking *c, uint32_t pc, const struct stack *s)
{
    enum ptx_opcode op = ptx_statement_opcode(c->ops[pc]);
    switch ((int)op) {
    case PTX_OP_SSY:
        step_push(c, pc, CRS_SYNC, s);
        return;
    case PTX_OP_PREBRK:
        step_push(c, pc, CRS_BREAK, s);
        return;
    case PTX_OP_PRERET:
        step_push(c, pc, CRS_CALL, s);
        return;
    case PTX_OP_SYNC:
        step_sync(c, pc, s);
        return;
    case PTX_OP_BREAK:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
        step_leave(c, pc, op, s);
        return;
    case PTX_OP_BRA:
        step_bra(c, pc, s);
        return;
    case PTX_OP_BRX:
        step_brx(c, pc, s);
        return;
    case PTX_OP_CALL:
        step_call(c, pc, s);
        return;
    case PTX_OP_TRAP:
        return;
    default:
        go(c, pc + 1, s);
    }
}

static void visit(struct checking *c, uint32_t pc, const struct stack *s)
{
    bool guarded = instruction(c, pc)->guard != NULL;
    bool paired = guarded && pc > 1 && is_pair(c, pc - 1); /* preRet has looked at the guard */
    step(c, pc, s);
    if (guarded && !paired)
        go(c, is_pair(c, pc) ? pc + 2 : pc + 1, s);
}

/* ---- functions ---- */

/* CHK.static (a), (b) */
static void check_rules(struct checking *c)
{
    for (uint32_t pc = 1; pc <= c->count; pc++) {
        enum ptx_opcode op = ptx_statement_opcode(c->ops[pc]);
        bool guarded = instruction(c, pc)->guard != NULL;
        if ((op == PTX_OP_PRERET && !is_pair(c, pc)) ||
            (op == PTX_OP_CALL && (pc == 1 || !is_pair(c, pc - 1))))
            note(&c->result->rule, PTX_STATIC_A, line_at(c, pc));
        if (guarded && (op == PTX_OP_SSY || op == PTX_OP_PREBRK || op == PTX_OP_SYNC))
            note(&c->result->rule, PTX_STATIC_B, line_at(c, pc));
    }
}

static void lay_out(struct checking *c)
{
    const struct ptx_flow *f = c->flow;
    bool is_new;
    c->ops = ARENA_ARRAY(c->arena, const struct ptx_statement *, f->statement_count + 2);
    c->labelled = ARENA_ARRAY(c->arena, bool, f->statement_count + 3);
    c->labels.arena = c->arena;
    for (uint32_t i = 0; i < f->statement_count; i++) {
        if (f->statements[i]->kind == PTX_INSTRUCTION)
            c->ops[++c->count] = f->statements[i];
        if (f->statements[i]->kind != PTX_LABEL)
            continue;
        *ptx_map_add(&c->labels, f->statements[i], 0, &is_new) = c->count + 1;
        c->labelled[c->count + 1] = true;
    }
}

static void check_function(struct arena *arena, const struct ptx_function *function, bool is_start,
                           const struct ptx_static_options *options, struct ptx_static *result)
{
    static const struct ptx_static_options none;
    struct stack empty = {0};
    struct checking c = {.arena = arena, .empty = &empty, .item_room = 64, .result = result};
    const char *reason;
    c.flow = ptx_flow_build(arena, function, &reason);
    if (!c.flow) {
        if (result->verdict == PTX_STATIC_CONSISTENT) {
            result->verdict = PTX_STATIC_UNKNOWN;
            note(&result->why, PTX_STATIC_GROWTH, function->at.line);
        }
        return;
    }
    c.items = ARENA_ARRAY(arena, const struct stack *, c.item_room);
    c.stacks.arena = c.states.arena = arena;
    lay_out(&c);
    c.most_states = options->most_states ? options->most_states : MOST_STATES + 8 * c.count;
    c.targets = ARENA_ARRAY(arena, struct targets, c.count + 2);
    c.options = is_start ? options : &none;
    for (uint32_t i = 0; i < c.options->register_count; i++)
        if (c.options->registers[i].value <= c.count)
            c.labelled[c.options->registers[i].value] = true;
    check_rules(&c);
    const struct stack *s = is_start ? c.empty : push(&c, c.empty, BASE, 0);
    for (uint32_t i = is_start ? options->token_count : 0; i-- > 0;)
        s = push(&c, s, options->tokens[i].type, options->tokens[i].pc);
    go(&c, 1, s);
    while (c.waiting && result->verdict != PTX_STATIC_INCONSISTENT) {
        struct state *state = c.waiting;
        c.waiting = state->next;
        visit(&c, state->pc, state->stack);
    }
    result->states += c.states.count;
}

struct ptx_static ptx_static_check(struct arena *arena, const struct ptx_module *module,
                                   const struct ptx_function *entry,
                                   const struct ptx_static_options *options)
{
    struct ptx_static result = {.verdict = PTX_STATIC_CONSISTENT};
    size_t mark = arena_mark(arena);
    struct ptx_reach reach;
    ptx_reach(arena, module, entry, &reach);
    for (uint32_t i = 0; i < reach.function_count; i++)
        check_function(arena, reach.functions[i], i == 0, options, &result);
    if (result.verdict != PTX_STATIC_CONSISTENT)
        result.four.clause = PTX_STATIC_NONE;
    arena_release(arena, mark);
    return result;
}

static bool is_predicate(const struct ptx_statement *stm, const char *name)
{
    for (; stm; stm = stm->next)
        if (stm->kind == PTX_VARIABLE && stm->u.variable->type == PTX_W_PRED &&
            strncmp(stm->u.variable->name, name, strlen(stm->u.variable->name)) == 0)
            return true;
    return false;
}

static void initial_registers(struct arena *arena, const struct ptx_kernel *k,
                              struct ptx_static_options *options)
{
    for (const struct ptx_values *v = k->registers; v; v = v->next) {
        struct ptx_values values = *v;
        if (is_predicate(k->entry->body, v->name) || !ptx_settings_values(arena, &values, false))
            continue;
        struct ptx_static_register *all =
            ARENA_ARRAY(arena, struct ptx_static_register, options->register_count + values.count);
        for (uint32_t i = 0; i < options->register_count; i++)
            all[i] = options->registers[i];
        for (uint32_t i = 0; i < values.count; i++)
            if (values.values[i] <= UINT32_MAX)
                all[options->register_count++] =
                    (struct ptx_static_register){v->name, (uint32_t)values.values[i]};
        options->registers = all;
    }
}

struct ptx_static ptx_static_kernel(struct arena *arena, const struct ast_kernel *kernel)
{
    const struct ptx_kernel *k = kernel->ptx;
    struct ptx_static_options options = {.token_count = k->token_count};
    size_t mark = arena_mark(arena);
    struct ptx_static_token *tokens =
        ARENA_ARRAY(arena, struct ptx_static_token, k->token_count + 1);
    for (uint32_t i = 0; i < k->token_count; i++)
        tokens[i] = (struct ptx_static_token){k->tokens[i].type, k->tokens[i].pc};
    options.tokens = tokens;
    initial_registers(arena, k, &options);
    struct ptx_static result = ptx_static_check(arena, k->module, k->entry, &options);
    arena_release(arena, mark);
    return result;
}

const char *ptx_static_text(enum ptx_static_clause clause)
{
    switch (clause) {
    case PTX_STATIC_NONE:
        return "";
    case PTX_STATIC_SC1:
        return "stack-cons 1: a break without a break token";
    case PTX_STATIC_SC2:
        return "stack-cons 2: a ret without a call token";
    case PTX_STATIC_SC3:
        return "stack-cons 3: a sync with neither a sync nor a diverge token on top";
    case PTX_STATIC_SC4:
        return "stack-cons 4: a sync whose diverge token is not above a sync token for it";
    case PTX_STATIC_SC5:
        return "stack-cons 5: a sync with the sync token of another one on top";
    case PTX_STATIC_SC6:
        return "stack-cons 6': a call without its call token on top";
    case PTX_STATIC_ADDR:
        return "CHK.addr: an address that is no instruction of the function";
    case PTX_STATIC_A:
        return "CHK.static a: preRet and call are not together";
    case PTX_STATIC_B:
        return "CHK.static b: a guarded ssy, preBrk or sync";
    case PTX_STATIC_C:
        return "CHK.static c: the address of a token that is still on the stack is reached";
    case PTX_STATIC_TARGET:
        return "the target of an indirect branch or call is not known";
    case PTX_STATIC_CALLER:
        return "a break out of the function";
    case PTX_STATIC_GROWTH:
        return "the token stack may grow without bound";
    }
    return "";
}
