#include "engine/static/ptx_static.h"

#include "engine/input/crs_tokens.h"
#include "engine/input/ptx_kernel.h"
#include "engine/static/ptx_stacks.h"
#include "engine/static/ptx_static_internal.h"

#include <string.h>

enum { MOST_STATES = 1 << 20 };

struct targets {
    bool done, known;
    uint32_t count, *items; /* in the function */
};

struct checking {
    struct arena *arena;
    const struct ptx_flow *flow;
    const struct ptx_symbols *symbols;
    struct ptx_static_code code;
    struct ptx_stacks stacks;
    struct targets *targets; /* by address: of an indirect branch or call */
    uint8_t *tops;           /* of the function, by address; or NULL */
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
    return pc >= 1 && pc <= c->code.count ? c->code.ops[pc]->at.line : c->flow->function->at.line;
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

/* ---- states ---- */

static void go(struct checking *c, uint32_t pc, struct ptx_token_node *top)
{
    if (pc == 0 || pc > c->code.count)
        violated(c, PTX_STATIC_ADDR, c->code.count);
    else
        ptx_stacks_go(&c->stacks, pc, top);
}

/* Pushes a token and goes on at pc. */
static void push(struct checking *c, struct ptx_token_node *top, uint32_t type, uint32_t address,
                 uint32_t pc)
{
    go(c, pc, ptx_stacks_push(&c->stacks, top, type, address, pc));
}

/* ---- instructions ---- */

static const struct ptx_instruction *instruction(const struct checking *c, uint32_t pc)
{
    return &c->code.ops[pc]->u.instruction;
}

static uint32_t label_address(const struct checking *c, const struct ptx_operand *o)
{
    return ptx_static_address(&c->code, o);
}

static bool same_guard(const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (!a || !b)
        return !a && !b;
    return a->kind == PTX_OPERAND_NAME && b->kind == PTX_OPERAND_NAME && a->negated == b->negated &&
           a->target_kind == PTX_TARGET_VARIABLE && b->target_kind == PTX_TARGET_VARIABLE &&
           a->target.variable == b->target.variable && a->index == b->index;
}

static bool is_call(const struct checking *c, uint32_t pc)
{
    return ptx_statement_opcode(c->code.ops[pc]) == PTX_OP_CALL &&
           !ptx_call_is_outside(c->symbols, c->code.ops[pc]);
}

/* CHK.static (a) */
static bool is_pair(const struct checking *c, uint32_t pc)
{
    return pc + 2 <= c->code.count && ptx_statement_opcode(c->code.ops[pc]) == PTX_OP_PRERET &&
           is_call(c, pc + 1) && !c->code.labelled[pc + 1] &&
           same_guard(instruction(c, pc)->guard, instruction(c, pc + 1)->guard) &&
           label_address(c, instruction(c, pc)->operands) == pc + 2;
}

static void step_sync(struct checking *c, uint32_t pc, struct ptx_token_node *top)
{
    if (top->type != CRS_SYNC && top->type != CRS_DIVERGE)
        violated(c, PTX_STATIC_SC3, pc);
    else if (top->type == CRS_SYNC && top->pc != pc + 1)
        violated(c, PTX_STATIC_SC5, pc);
    else
        ptx_stacks_pop(&c->stacks, top, PTX_POP_SYNC);
}

static void step_leave(struct checking *c, enum ptx_opcode op, struct ptx_token_node *top)
{
    ptx_stacks_pop(&c->stacks, top,
                   op == PTX_OP_BREAK ? PTX_POP_BREAK
                   : op == PTX_OP_RET ? PTX_POP_RET
                                      : PTX_POP_EXIT);
}

/* To one of several targets, all lanes or some: those that do not go there come back or go on. */
static void branch_to(struct checking *c, uint32_t pc, uint32_t target, bool others,
                      struct ptx_token_node *s)
{
    go(c, target, s);
    if (target == 0 || target > c->code.count)
        return;
    if (instruction(c, pc)->guard && ptx_statement_opcode(c->code.ops[pc]) != PTX_OP_CALL)
        push(c, s, CRS_DIVERGE, pc + 1, target);
    if (others)
        push(c, s, CRS_DIVERGE, pc, target);
}

static const struct targets *find_targets(struct checking *c, uint32_t pc,
                                          const struct ptx_operand *reg, bool loads)
{
    struct targets *t = &c->targets[pc];
    if (t->done)
        return t;
    bool *given = ARENA_ARRAY(c->arena, bool, c->code.count + 2);
    t->done = true;
    t->known = ptx_static_given(&c->code, pc, reg, loads, given);
    t->items = ARENA_ARRAY(c->arena, uint32_t, c->code.count + 1);
    for (uint32_t to = 1; to <= c->code.count + 1; to++) /* also a label at the end */
        if (given[to])
            t->items[t->count++] = to;
    return t;
}

/* bra r, call r: to all addresses that the register may hold. */
static void go_to_targets(struct checking *c, uint32_t pc, const struct targets *t,
                          struct ptx_token_node *s)
{
    for (uint32_t i = 0; i < t->count; i++)
        branch_to(c, pc, t->items[i], t->count > 1, s);
}

static void step_bra(struct checking *c, uint32_t pc, struct ptx_token_node *s)
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

static void step_brx(struct checking *c, uint32_t pc, struct ptx_token_node *s)
{
    const struct ptx_statement *table = instruction(c, pc)->operands->next->target.statement;
    for (const struct ptx_operand *o = table->u.targets; o; o = o->next)
        branch_to(c, pc, label_address(c, o), table->u.targets->next != NULL, s);
}

/* A function is passed: its lanes come back behind the call, or have exited. */
static void step_call(struct checking *c, uint32_t pc, struct ptx_token_node *s)
{
    const struct ptx_operand *target = ptx_call_target(c->code.ops[pc]);
    bool is_label = target->target_kind == PTX_TARGET_STATEMENT;
    const struct targets *t =
        target->target_kind == PTX_TARGET_VARIABLE ? find_targets(c, pc, target, true) : NULL;
    if (s->type != CRS_CALL || s->pc != pc + 1) {
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
        ptx_stacks_pop(&c->stacks, s, PTX_POP_EXIT);
}

static void step_push(struct checking *c, uint32_t pc, uint32_t type, struct ptx_token_node *s)
{
    uint32_t address = label_address(c, instruction(c, pc)->operands);
    if (address == 0 || address > c->code.count)
        violated(c, PTX_STATIC_ADDR, pc);
    else
        push(c, s, type, address, pc + 1);
}

/* Some lanes execute the instruction. */
static void step(struct checking *c, uint32_t pc, struct ptx_token_node *s)
{
    enum ptx_opcode op = ptx_statement_opcode(c->code.ops[pc]);
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
        step_leave(c, op, s);
        return;
    case PTX_OP_BRA:
        step_bra(c, pc, s);
        return;
    case PTX_OP_BRX:
        step_brx(c, pc, s);
        return;
    case PTX_OP_CALL:
        if (is_call(c, pc))
            step_call(c, pc, s);
        else
            go(c, pc + 1, s);
        return;
    case PTX_OP_TRAP:
        return;
    default:
        go(c, pc + 1, s);
    }
}

/* A function is entered above its call token, or above lanes that have yet to call another one. */
static void show_top(struct checking *c, uint32_t pc, const struct ptx_token_node *top)
{
    uint32_t tops = top->type == PTX_STACK_BOTTOM ? PTX_STATIC_TOP(PTX_STATIC_EMPTY)
                    : top->type == PTX_STACK_CALLER
                        ? PTX_STATIC_TOP(CRS_CALL) | PTX_STATIC_TOP(CRS_DIVERGE)
                        : PTX_STATIC_TOP(top->type);
    if (c->tops)
        c->tops[pc] |= (uint8_t)tops;
}

static void visit(struct checking *c, uint32_t pc, struct ptx_token_node *s)
{
    bool guarded = instruction(c, pc)->guard != NULL;
    bool paired = guarded && pc > 1 && is_pair(c, pc - 1); /* preRet has looked at the guard */
    show_top(c, pc, s);
    step(c, pc, s);
    if (guarded && is_pair(c, pc)) {
        show_top(c, pc + 1, s); /* where nobody's guard holds */
        go(c, pc + 2, s);
    } else if (guarded && !paired) {
        go(c, pc + 1, s);
    }
}

/* ---- functions ---- */

/* CHK.static (a), (b) */
static void check_rules(struct checking *c)
{
    for (uint32_t pc = 1; pc <= c->code.count; pc++) {
        enum ptx_opcode op = ptx_statement_opcode(c->code.ops[pc]);
        bool guarded = instruction(c, pc)->guard != NULL;
        if ((op == PTX_OP_PRERET && !is_pair(c, pc)) ||
            (is_call(c, pc) && (pc == 1 || !is_pair(c, pc - 1))))
            note(&c->result->rule, PTX_STATIC_A, line_at(c, pc));
        if (guarded && (op == PTX_OP_SSY || op == PTX_OP_PREBRK || op == PTX_OP_SYNC))
            note(&c->result->rule, PTX_STATIC_B, line_at(c, pc));
    }
}

static void lay_out(struct checking *c)
{
    const struct ptx_flow *f = c->flow;
    bool is_new;
    c->code.ops = ARENA_ARRAY(c->arena, const struct ptx_statement *, f->statement_count + 2);
    c->code.labelled = ARENA_ARRAY(c->arena, bool, f->statement_count + 3);
    c->code.labels.arena = c->arena;
    for (uint32_t i = 0; i < f->statement_count; i++) {
        if (f->statements[i]->kind == PTX_INSTRUCTION)
            c->code.ops[++c->code.count] = f->statements[i];
        if (f->statements[i]->kind != PTX_LABEL)
            continue;
        *ptx_map_add(&c->code.labels, f->statements[i], 0, &is_new) = c->code.count + 1;
        c->code.labelled[c->code.count + 1] = true;
    }
}

/* What the tokens below the top say, once all stacks are known. */
static void check_below(struct checking *c, const struct ptx_stack_state *state)
{
    uint32_t pc = state->pc;
    enum ptx_opcode op = ptx_statement_opcode(c->code.ops[pc]);
    bool strict = true;
    if (op == PTX_OP_SYNC && state->top->type == CRS_DIVERGE &&
        !ptx_stacks_sync_below(&c->stacks, state->top, pc + 1, &strict))
        violated(c, PTX_STATIC_SC4, pc);
    if (!strict)
        note(&c->result->four, PTX_STATIC_SC4, line_at(c, pc));
    if (op == PTX_OP_BREAK && ptx_stacks_lacks(&c->stacks, state->top, CRS_BREAK, PTX_STACK_BOTTOM))
        violated(c, PTX_STATIC_SC1, pc);
    else if (op == PTX_OP_BREAK &&
             ptx_stacks_lacks(&c->stacks, state->top, CRS_BREAK, PTX_STACK_CALLER))
        found(c, PTX_STATIC_UNKNOWN, PTX_STATIC_CALLER, pc);
    if (op == PTX_OP_RET && ptx_stacks_lacks(&c->stacks, state->top, CRS_CALL, PTX_STACK_BOTTOM))
        violated(c, PTX_STATIC_SC2, pc);
    if (ptx_stacks_holds(&c->stacks, state->top, pc))
        note(&c->result->rule, PTX_STATIC_C, line_at(c, pc));
}

static void follow(struct checking *c, const struct ptx_static_options *options, bool is_start)
{
    struct ptx_token_node *top =
        ptx_stacks_bottom(&c->stacks, is_start ? PTX_STACK_BOTTOM : PTX_STACK_CALLER);
    for (uint32_t i = is_start ? options->token_count : 0; i-- > 0;) {
        top = ptx_stacks_push(&c->stacks, top, options->tokens[i].type, options->tokens[i].pc,
                              c->code.count + 1 + i);
        top->given = true;
    }
    go(c, 1, top);
    const struct ptx_stack_state *state;
    while ((state = ptx_stacks_next(&c->stacks)))
        visit(c, state->pc, state->top);
    if (c->stacks.too_many)
        found(c, PTX_STATIC_UNKNOWN, PTX_STATIC_SIZE, 1);
    if (c->stacks.out_of_code)
        violated(c, PTX_STATIC_ADDR, c->code.count);
    for (state = c->stacks.first; state && !c->stacks.too_many; state = state->next)
        check_below(c, state);
}

static void check_function(struct arena *arena, const struct ptx_symbols *symbols,
                           const struct ptx_function *function, bool is_start,
                           const struct ptx_static_options *options, struct ptx_static *result)
{
    static const struct ptx_static_options none;
    struct checking c = {.arena = arena, .symbols = symbols, .result = result};
    const char *reason;
    c.flow = ptx_flow_build(arena, function, &reason);
    if (!c.flow) {
        if (result->verdict == PTX_STATIC_CONSISTENT) {
            result->verdict = PTX_STATIC_UNKNOWN;
            note(&result->why, PTX_STATIC_SIZE, function->at.line);
        }
        return;
    }
    lay_out(&c);
    if (options->tops && result->instructions + c.code.count < options->top_count)
        c.tops = options->tops + result->instructions;
    result->instructions += c.code.count + (options->ends && ptx_falls_through(function));
    ptx_stacks_init(&c.stacks, arena, c.code.count,
                    options->most_states ? options->most_states : MOST_STATES);
    c.targets = ARENA_ARRAY(arena, struct targets, c.code.count + 2);
    c.code.options = is_start ? options : &none;
    for (uint32_t i = 0; i < c.code.options->register_count; i++)
        if (c.code.options->registers[i].value <= c.code.count)
            c.code.labelled[c.code.options->registers[i].value] = true;
    check_rules(&c);
    follow(&c, options, is_start);
    result->states += c.stacks.states.count;
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
        check_function(arena, &reach.symbols, reach.functions[i], i == 0, options, &result);
    if (result.verdict != PTX_STATIC_CONSISTENT)
        result.four.clause = PTX_STATIC_NONE;
    arena_release(arena, mark);
    return result;
}

static void initial_registers(struct arena *arena, const struct ptx_kernel *k,
                              struct ptx_static_options *options)
{
    for (const struct ptx_values *v = k->registers; v; v = v->next) {
        struct ptx_values values = *v;
        uint32_t index;
        const struct ptx_variable *var = ptx_find_register(k->entry->body, v->name, &index);
        if (!var || var->type == PTX_W_PRED || !ptx_settings_values(arena, &values, false))
            continue;
        bool is_short = *var->name == '%' && *v->name != '%';
        const char *name = is_short ? arena_printf(arena, "%%%s", v->name) : v->name;
        struct ptx_static_register *all =
            ARENA_ARRAY(arena, struct ptx_static_register, options->register_count + values.count);
        for (uint32_t i = 0; i < options->register_count; i++)
            all[i] = options->registers[i];
        for (uint32_t i = 0; i < values.count; i++) {
            uint64_t value = values.values[i] < UINT32_MAX ? values.values[i] : UINT32_MAX;
            all[options->register_count++] = (struct ptx_static_register){name, (uint32_t)value};
        }
        options->registers = all;
    }
}

void ptx_static_start(struct arena *arena, const struct ptx_kernel *k,
                      struct ptx_static_options *options)
{
    struct ptx_static_token *tokens =
        ARENA_ARRAY(arena, struct ptx_static_token, k->token_count + 1);
    for (uint32_t i = 0; i < k->token_count; i++)
        tokens[i] = (struct ptx_static_token){k->tokens[i].type, k->tokens[i].pc};
    options->token_count = k->token_count;
    options->tokens = tokens;
    initial_registers(arena, k, options);
}

struct ptx_static ptx_static_kernel(struct arena *arena, const struct ast_kernel *kernel)
{
    const struct ptx_kernel *k = kernel->ptx;
    struct ptx_static_options options = {0};
    size_t mark = arena_mark(arena);
    ptx_static_start(arena, k, &options);
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
    case PTX_STATIC_SIZE:
        return "the function is too large";
    }
    return "";
}
