/*
 * ptx_static_targets.c - where an indirect branch goes: back from the branch to what wrote its register, as
 * long as control comes from the instruction before; from a label on, to all that writes the register.
 */
#include "engine/static/ptx_static_internal.h"

#include <string.h>

enum { MOST_LOOKS = 2000, MOST_MOVES = 200 };

struct search {
    const struct ptx_static_code *code;
    bool loads, *given;
    uint32_t looks; /* instructions that were looked at for what they give */
};

/* Registers that are looked at, each given the one before. */
struct chain {
    const struct ptx_operand *reg;
    bool everywhere; /* not only before one instruction */
    const struct chain *before;
    uint32_t length;
};

uint32_t ptx_static_address(const struct ptx_static_code *code, const struct ptx_operand *o)
{
    const uint32_t *address = o->target_kind == PTX_TARGET_STATEMENT
                                  ? ptx_map_find(&code->labels, o->target.statement, 0)
                                  : NULL;
    return address ? *address : 0;
}

static bool same_register(const struct ptx_operand *o, const struct ptx_operand *reg)
{
    return o->kind == PTX_OPERAND_NAME && o->target_kind == PTX_TARGET_VARIABLE &&
           o->target.variable == reg->target.variable && o->index == reg->index;
}

/* The instruction may write it: results come first. */
static bool writes(const struct ptx_static_code *code, uint32_t pc, const struct ptx_operand *reg)
{
    enum ptx_opcode op = ptx_statement_opcode(code->ops[pc]);
    const struct ptx_operand *o = code->ops[pc]->u.instruction.operands;
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

static bool look_before(struct search *s, uint32_t pc, const struct chain *chain);

static bool source_given(struct search *s, uint32_t pc, const struct ptx_operand *o,
                         const struct chain *chain)
{
    if (is_code_address(o)) {
        s->given[ptx_static_address(s->code, o)] = true;
        return true;
    }
    if (o->kind != PTX_OPERAND_NAME || o->target_kind != PTX_TARGET_VARIABLE ||
        o->target.variable->space != PTX_W_REG || chain->length == MOST_MOVES)
        return false;
    for (const struct chain *before = chain; before; before = before->before)
        if (before->everywhere && same_register(o, before->reg))
            return true;
    struct chain more = {o, false, chain, chain->length + 1};
    return look_before(s, pc, &more);
}

/* What the instruction writes is an address of code, if it is mov or selp of such. */
static bool gives_code(struct search *s, uint32_t pc, const struct chain *chain)
{
    enum ptx_opcode op = ptx_statement_opcode(s->code->ops[pc]);
    const struct ptx_operand *o = s->code->ops[pc]->u.instruction.operands->next;
    uint32_t sources = op == PTX_OP_MOV ? 1 : op == PTX_OP_SELP ? 2 : 0;
    if (s->looks++ == MOST_LOOKS)
        s->looks = MOST_LOOKS;
    if (s->looks == MOST_LOOKS)
        return false;
    for (uint32_t i = 0; i < sources; i++, o = o->next)
        if (!source_given(s, pc, o, chain))
            return false;
    return sources > 0 || (s->loads && op == PTX_OP_LD);
}

/* False: a number that is no address of the function. */
static bool take_initial(struct search *s, const struct ptx_operand *reg)
{
    for (uint32_t i = 0; i < s->code->options->register_count; i++) {
        const struct ptx_static_register *r = &s->code->options->registers[i];
        if (strcmp(r->name, reg->name) != 0)
            continue;
        if (r->value > s->code->count + 1)
            return false;
        s->given[r->value] = true;
    }
    return true;
}

static bool look_everywhere(struct search *s, const struct chain *chain)
{
    struct chain here = {chain->reg, true, chain->before, chain->length};
    for (uint32_t pc = 1; pc <= s->code->count; pc++)
        if (writes(s->code, pc, chain->reg) && !gives_code(s, pc, &here))
            return false;
    return take_initial(s, chain->reg);
}

/* Control comes from the instruction before, which is no call of a label. */
static bool comes_from(const struct ptx_static_code *code, uint32_t before)
{
    enum ptx_opcode op = ptx_statement_opcode(code->ops[before]);
    const struct ptx_operand *callee = ptx_call_target(code->ops[before]);
    return op != PTX_OP_BREAK && op != PTX_OP_SYNC && op != PTX_OP_RET && op != PTX_OP_EXIT &&
           op != PTX_OP_BRA && op != PTX_OP_BRX &&
           (!callee || callee->target_kind == PTX_TARGET_FUNCTION);
}

static bool look_before(struct search *s, uint32_t pc, const struct chain *chain)
{
    for (; pc > 1; pc--) {
        if (s->code->labelled[pc] || !comes_from(s->code, pc - 1))
            return look_everywhere(s, chain);
        if (!writes(s->code, pc - 1, chain->reg))
            continue;
        if (!gives_code(s, pc - 1, chain))
            return false;
        if (!s->code->ops[pc - 1]->u.instruction.guard)
            return true;
    }
    if (s->code->labelled[1])
        return look_everywhere(s, chain);
    return take_initial(s, chain->reg);
}

bool ptx_static_given(const struct ptx_static_code *code, uint32_t pc,
                      const struct ptx_operand *reg, bool loads, bool *given)
{
    struct search s = {.code = code, .loads = loads, .given = given};
    struct chain chain = {.reg = reg};
    return look_before(&s, pc, &chain);
}
