/*
 * ptx_mini.h - control flow of PTX functions, executed without the engine's machines: threads one by one
 * through code without branch-unit instructions, and a warp under a branch unit written from the report's
 * rules (5.4.1), as small as they allow. Data is not executed: guards and table indices are drawn by a
 * hash of lane, block and visit. A block k starts with `mov.u32 %m, k`.
 */
#ifndef TESTS_UNIT_PTX_MINI_H
#define TESTS_UNIT_PTX_MINI_H

#include "engine/to_ptx/ptx_flow.h"

#include <stdio.h>
#include <string.h>

enum {
    MINI_LANES = 8,
    MINI_OPS = 1 << 14,
    MINI_BLOCKS = 512,
    MINI_TOKENS = 4096,
    MINI_TRACE = 400
};

struct mini_op {
    enum ptx_opcode code;
    const struct ptx_instruction *i;
    uint32_t target; /* bra, ssy, preBrk, preRet, direct call */
    uint32_t table[32], table_count;
    uint32_t line;
};

struct mini_program {
    uint32_t count; /* ops[1 .. count) */
    struct mini_op ops[MINI_OPS];
    uint32_t functions[64], function_count; /* entries of functions, in the order of the text */
    uint32_t entry;
};

/* One lane's run. */
struct mini_lane {
    uint32_t lane, budget;
    uint64_t seed;
    uint32_t visits[MINI_BLOCKS], trace[MINI_TRACE], length;
    uint64_t drawn[MINI_BLOCKS];
    uint32_t exit_to;
    bool leave;
};

/* ---- assembling ---- */

static inline const struct ptx_statement *mini_statement(const struct ptx_operand *o)
{
    return o->target_kind == PTX_TARGET_STATEMENT ? o->target.statement : NULL;
}

struct mini_names {
    const void *node[MINI_OPS];
    uint32_t address[MINI_OPS], count;
};

static inline uint32_t mini_address(const struct mini_names *names, const void *node)
{
    if (!node)
        return 0;
    for (uint32_t n = 0; n < names->count; n++)
        if (names->node[n] == node)
            return names->address[n];
    return 0;
}

static inline void mini_lay(struct mini_program *p, struct mini_names *names,
                            const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_BLOCK)
            mini_lay(p, names, stm->u.block);
        if (stm->kind == PTX_LABEL) {
            names->node[names->count] = stm;
            names->address[names->count++] = p->count;
        }
        if (stm->kind != PTX_INSTRUCTION)
            continue;
        p->ops[p->count++] = (struct mini_op){
            .code = ptx_statement_opcode(stm), .i = &stm->u.instruction, .line = stm->at.line};
    }
}

static inline void mini_targets(struct mini_op *op, const struct mini_names *names)
{
    const struct ptx_operand *o = op->i->operands;
    switch ((int)op->code) {
    case PTX_OP_BRA:
    case PTX_OP_SSY:
    case PTX_OP_PREBRK:
    case PTX_OP_PRERET:
        op->target = mini_address(names, mini_statement(o));
        return;
    case PTX_OP_BRX:
        for (o = mini_statement(o->next)->u.targets; o; o = o->next)
            op->table[op->table_count++] = mini_address(names, mini_statement(o));
        return;
    case PTX_OP_CALL:
        o = o->kind == PTX_OPERAND_LIST ? o->next : o;
        if (o->target_kind == PTX_TARGET_FUNCTION)
            op->target = mini_address(names, o->target.function);
        else
            op->target = mini_address(names, mini_statement(o));
        return;
    default:
        return;
    }
}

/* The end of a function that has no instruction there is an implicit ret. */
static inline void mini_assemble(struct mini_program *p, const struct ptx_module *module)
{
    static struct mini_names names;
    static const struct ptx_instruction ret = {.form = PTX_FORM_RET_ANY};
    p->count = 1;
    p->function_count = p->entry = names.count = 0;
    for (const struct ptx_item *item = module->items; item; item = item->next) {
        if (item->kind != PTX_ITEM_FUNCTION || !item->u.function->has_body)
            continue;
        names.node[names.count] = item->u.function;
        names.address[names.count++] = p->count;
        if (item->u.function->is_entry)
            p->entry = p->count;
        else
            p->functions[p->function_count++] = p->count;
        mini_lay(p, &names, item->u.function->body);
        p->ops[p->count++] = (struct mini_op){.code = PTX_OP_RET, .i = &ret};
    }
    for (uint32_t pc = 1; pc < p->count; pc++)
        mini_targets(&p->ops[pc], &names);
}

/* ---- decisions ---- */

static inline uint64_t mini_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline void mini_marker(struct mini_lane *l, uint32_t block)
{
    if (l->length < MINI_TRACE)
        l->trace[l->length] = block;
    l->length++;
    uint32_t visit = l->visits[block]++;
    l->drawn[block] = mini_mix(mini_mix(l->seed + block * 977u + visit) + l->lane * 0x9e3779b9u);
}

/* Of a register by its first letter: p q c predicates, s: the budget is used up; i table index, f function
 * index; exit, leave: what injected code writes. */
static inline uint64_t mini_value(const struct mini_lane *l, const struct ptx_operand *o)
{
    const char *name = o->target.variable->name;
    if (strncmp(name, "%exit", 5) == 0)
        return l->exit_to;
    if (strncmp(name, "%leave", 6) == 0)
        return l->leave;
    uint64_t drawn = l->drawn[o->index];
    switch (name[1]) {
    case 'p':
        return drawn & 1;
    case 'q':
        return (drawn >> 8 & 7) == 0;
    case 'c':
        return drawn >> 12 & 1;
    case 's':
        return l->length >= l->budget;
    case 'i':
        return drawn >> 20 & 3;
    default:
        return drawn >> 28 & 0xff;
    }
}

static inline bool mini_guard(const struct mini_lane *l, const struct mini_op *op)
{
    const struct ptx_operand *g = op->i->guard;
    return !g || (mini_value(l, g) != 0) != g->negated;
}

/* bra, brx, call */
static inline uint32_t mini_target(const struct mini_program *p, const struct mini_lane *l,
                                   const struct mini_op *op)
{
    if (op->code == PTX_OP_BRX)
        return op->table[mini_value(l, op->i->operands) % op->table_count];
    if (op->code == PTX_OP_CALL && op->target == 0) {
        const struct ptx_operand *o = op->i->operands;
        return p->functions[mini_value(l, o) % p->function_count];
    }
    return op->target;
}

/* mov, setp */
static inline void mini_compute(struct mini_lane *l, const struct mini_op *op)
{
    const struct ptx_operand *o = op->i->operands;
    if (op->code == PTX_OP_MOV && strcmp(o->name, "%m") == 0)
        mini_marker(l, (uint32_t)o->next->value);
    else if (op->code == PTX_OP_MOV && strncmp(o->name, "%exit", 5) == 0)
        l->exit_to = (uint32_t)o->next->value;
    else if (op->code == PTX_OP_SETP && strncmp(o->name, "%leave", 6) == 0)
        l->leave = mini_value(l, o->next) != o->next->next->value;
}

/* ---- threads ---- */

/* False: more steps or frames than the budget allows for. */
static inline bool mini_thread(const struct mini_program *p, struct mini_lane *l)
{
    static uint32_t frames[MINI_TOKENS];
    uint32_t depth = 0, pc = p->entry;
    for (uint32_t steps = 0; steps < 100000; steps++) {
        const struct mini_op *op = &p->ops[pc];
        bool on = mini_guard(l, op);
        if (!on) {
            pc++;
            continue;
        }
        switch ((int)op->code) {
        case PTX_OP_BRA:
        case PTX_OP_BRX:
            pc = mini_target(p, l, op);
            break;
        case PTX_OP_CALL:
            if (depth == MINI_TOKENS)
                return false;
            frames[depth++] = pc + 1;
            pc = mini_target(p, l, op);
            break;
        case PTX_OP_RET:
            if (depth == 0)
                return true;
            pc = frames[--depth];
            break;
        case PTX_OP_EXIT:
        case PTX_OP_TRAP:
            return true;
        default:
            mini_compute(l, op);
            pc++;
        }
    }
    return false;
}

/* ---- the branch unit ---- */

struct mini_token {
    char type; /* s d c b */
    uint32_t mask, pc;
};

struct mini_warp {
    const struct mini_program *p;
    uint32_t pc, active, broken, returned, exited, all;
    struct mini_token tokens[MINI_TOKENS]; /* bottom first */
    uint32_t depth, deepest;
    bool completed;
    uint64_t seed; /* which of several targets */
    struct mini_lane *lanes;
    /* CHK.oracle: what each lane pushed and has not left. */
    struct mini_token private[MINI_LANES][MINI_TOKENS];
    uint32_t private_depth[MINI_LANES];
    bool four_weak; /* check 4' only */
    char wrong[200];
    char own_wrong[200]; /* of the lanes' own stacks */
};

static inline void mini_say(const struct mini_warp *w, char place[200], const char *what)
{
    if (!place[0])
        snprintf(place, 200, "%.150s at %u (line %u)", what, (unsigned)w->pc,
                 (unsigned)w->p->ops[w->pc].line);
}

static inline void mini_wrong(struct mini_warp *w, const char *what)
{
    mini_say(w, w->wrong, what);
}

static inline void mini_push(struct mini_warp *w, char type, uint32_t mask, uint32_t pc)
{
    if (w->depth == MINI_TOKENS) {
        mini_wrong(w, "token stack overflow");
        return;
    }
    w->tokens[w->depth++] = (struct mini_token){type, mask, pc};
    w->deepest = w->depth > w->deepest ? w->depth : w->deepest;
}

/* Until some lane is active. */
static inline void mini_unwind(struct mini_warp *w)
{
    w->active = 0;
    while (w->active == 0) {
        if (w->depth == 0) {
            w->completed = true;
            if (w->exited != w->all)
                mini_wrong(w, "lanes wait for nothing");
            return;
        }
        struct mini_token t = w->tokens[--w->depth];
        w->pc = t.pc;
        if (t.type == 'c')
            w->returned &= ~t.mask;
        if (t.type == 'b')
            w->broken &= ~t.mask;
        w->active = t.mask & ~(w->broken | w->returned | w->exited);
    }
}

/* stack-cons 1-5, 6', read where some lane executes; and (4) as printed. */
static inline void mini_consistent(struct mini_warp *w, const struct mini_op *op)
{
    const struct mini_token *top = w->depth > 0 ? &w->tokens[w->depth - 1] : NULL;
    const struct mini_token *below = w->depth > 1 ? top - 1 : NULL;
    while (w->four_weak && below > w->tokens && below->type == 'd')
        below--;
    bool has_break = false, has_call = false;
    for (uint32_t i = 0; i < w->depth; i++) {
        has_break |= w->tokens[i].type == 'b';
        has_call |= w->tokens[i].type == 'c';
    }
    switch ((int)op->code) {
    case PTX_OP_BREAK:
        if (!has_break)
            mini_wrong(w, "stack-cons 1");
        return;
    case PTX_OP_RET:
        if (!has_call)
            mini_wrong(w, "stack-cons 2");
        return;
    case PTX_OP_SYNC:
        if (!top || (top->type != 's' && top->type != 'd'))
            mini_wrong(w, "stack-cons 3");
        else if (top->type == 'd' && (!below || below->type != 's' || below->pc != w->pc + 1 ||
                                      ((top->mask | w->active) & ~below->mask) != 0))
            mini_wrong(w, "stack-cons 4");
        else if (top->type == 's' && top->pc != w->pc + 1)
            mini_wrong(w, "stack-cons 5");
        return;
    case PTX_OP_CALL:
        if (!top || top->type != 'c' || top->pc != w->pc + 1)
            mini_wrong(w, "stack-cons 6'");
        return;
    default:
        return;
    }
}

static inline void mini_private(struct mini_warp *w, const struct mini_op *op, uint32_t executing)
{
    for (uint32_t l = 0; l < MINI_LANES; l++) {
        if (!(executing >> l & 1))
            continue;
        uint32_t *depth = &w->private_depth[l];
        char type = op->code == PTX_OP_PREBRK || op->code == PTX_OP_BREAK ? 'b' : 'c';
        if (op->code == PTX_OP_PREBRK || op->code == PTX_OP_PRERET)
            w->private[l][(*depth)++] = (struct mini_token){type, 0, op->target};
        else if (op->code == PTX_OP_BREAK || op->code == PTX_OP_RET)
            while (*depth > 0 && w->private[l][--*depth].type != type)
                ;
    }
}

/* The stack's break and call tokens with an active lane are what it pushed. */
static inline void mini_check_private(struct mini_warp *w)
{
    if (w->completed || w->p->ops[w->pc].code == PTX_OP_CALL)
        return;
    for (uint32_t l = 0; l < MINI_LANES; l++) {
        if (!(w->active >> l & 1))
            continue;
        uint32_t at = 0;
        bool same = true;
        for (uint32_t i = 0; i < w->depth && same; i++) {
            const struct mini_token *t = &w->tokens[i];
            if ((t->type != 'b' && t->type != 'c') || !(t->mask >> l & 1))
                continue;
            same = at < w->private_depth[l] && w->private[l][at].type == t->type &&
                   w->private[l][at].pc == t->pc;
            at++;
        }
        if (!same || at != w->private_depth[l])
            mini_say(w, w->own_wrong, "the lane's own stack is another one");
    }
}

static inline void mini_branch(struct mini_warp *w, const struct mini_op *op, uint32_t executing)
{
    uint32_t targets[MINI_LANES], first = 0, distinct = 0;
    for (uint32_t l = 0; l < MINI_LANES; l++)
        if (executing >> l & 1)
            targets[l] = mini_target(w->p, &w->lanes[l], op);
    for (uint32_t l = 0; l < MINI_LANES; l++) {
        bool is_new = executing >> l & 1;
        for (uint32_t k = 0; k < l && is_new; k++)
            is_new = !(executing >> k & 1) || targets[k] != targets[l];
        distinct += is_new;
        w->seed = mini_mix(w->seed + l);
        if (is_new && (distinct == 1 || w->seed % distinct == 0))
            first = targets[l];
    }
    uint32_t taken = 0;
    for (uint32_t l = 0; l < MINI_LANES; l++)
        taken |= (executing >> l & 1 && targets[l] == first ? 1u : 0u) << l;
    uint32_t rest = w->active & ~taken;
    bool call = op->code == PTX_OP_CALL;
    if (distinct > 1)
        mini_push(w, 'd', rest, w->pc);
    else if (rest && !call)
        mini_push(w, 'd', rest, w->pc + 1);
    w->active = taken;
    w->pc = first;
}

static inline void mini_leave(struct mini_warp *w, uint32_t *why, uint32_t executing)
{
    *why |= executing;
    bool all = executing == w->active;
    w->active &= ~executing;
    if (all)
        mini_unwind(w);
    else
        w->pc++;
}

/* One step. Returns the lanes that executed. */
static inline uint32_t mini_step(struct mini_warp *w)
{
    const struct mini_op *op = &w->p->ops[w->pc];
    uint32_t executing = 0;
    for (uint32_t l = 0; l < MINI_LANES; l++)
        executing |= (w->active >> l & 1 && mini_guard(&w->lanes[l], op) ? 1u : 0u) << l;
    if (!executing) {
        w->pc++;
        return 0;
    }
    mini_consistent(w, op);
    mini_private(w, op, executing);
    switch ((int)op->code) {
    case PTX_OP_SSY:
    case PTX_OP_PREBRK:
    case PTX_OP_PRERET:
        mini_push(w,
                  op->code == PTX_OP_SSY      ? 's'
                  : op->code == PTX_OP_PREBRK ? 'b'
                                              : 'c',
                  w->active, op->target);
        w->pc++;
        break;
    case PTX_OP_SYNC:
        mini_unwind(w);
        break;
    case PTX_OP_BREAK:
        mini_leave(w, &w->broken, executing);
        break;
    case PTX_OP_RET:
        mini_leave(w, &w->returned, executing);
        break;
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
        mini_leave(w, &w->exited, executing);
        break;
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_CALL:
        mini_branch(w, op, executing);
        break;
    default:
        for (uint32_t l = 0; l < MINI_LANES; l++)
            if (executing >> l & 1)
                mini_compute(&w->lanes[l], op);
        w->pc++;
    }
    mini_check_private(w);
    return executing;
}

static inline void mini_warp_init(struct mini_warp *w, const struct mini_program *p,
                                  struct mini_lane *lanes, uint32_t count, uint64_t seed)
{
    w->p = p;
    w->pc = p->entry;
    w->all = w->active = (1u << count) - 1;
    w->broken = w->returned = w->exited = 0;
    w->depth = w->deepest = 0;
    w->completed = false;
    w->seed = seed;
    w->lanes = lanes;
    memset(w->private_depth, 0, sizeof w->private_depth);
    w->wrong[0] = w->own_wrong[0] = 0;
    w->four_weak = false;
}

#endif
