/*
 * crs_text.h - a program in the catalogue's notation as a raw PTX kernel: one instruction each, so that
 * addresses are the same.
 */
#ifndef TESTS_UNIT_CRS_TEXT_H
#define TESTS_UNIT_CRS_TEXT_H

#include "tests/unit/shared/crs_notation.h"

#include <stdarg.h>

struct notation_text {
    char text[16384];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static inline void emit(struct notation_text *t,
                                                              const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    t->length +=
        (size_t)vsnprintf(t->text + t->length, sizeof t->text - t->length, format, arguments);
    va_end(arguments);
}

static inline bool notation_is_predicate(const struct notation *n, uint32_t reg)
{
    for (uint32_t pc = 1; pc <= n->op_count; pc++) {
        const struct notation_op *op = &n->ops[pc];
        if (op->guard == (int)reg || (op->kind == N_SETEQ && op->reg == (int)reg))
            return true;
    }
    return false;
}

static inline void emit_mask(struct notation_text *t, const bool *mask, uint32_t lanes)
{
    for (uint32_t lane = 0; lane < lanes; lane++)
        emit(t, "%d", mask[lane]);
}

static inline void emit_settings(struct notation_text *t, const struct notation *n)
{
    static const struct {
        char letter;
        const char *name;
    } types[] = {{'s', "sync"}, {'d', "div"}, {'c', "call"}, {'b', "brk"}};
    emit(t, "// simtfuzz: entry=k threads=%u warp=%u raw", (unsigned)n->lanes, (unsigned)n->lanes);
    for (uint32_t reg = 0; reg < n->reg_count; reg++) {
        emit(t, " reg:%s=", n->reg_names[reg]);
        for (uint32_t lane = 0; lane < n->lanes; lane++)
            emit(t, "%s%u", lane && !notation_is_predicate(n, reg) ? "," : "",
                 (unsigned)n->regs[reg][lane]);
    }
    for (uint32_t i = 0; i < n->token_count; i++) {
        const struct notation_token *token = &n->tokens[i];
        for (uint32_t k = 0; k < 4; k++)
            if (types[k].letter == token->type)
                emit(t, "%s%s,", i ? "+" : " stack=", types[k].name);
        emit_mask(t, token->mask, n->lanes);
        emit(t, ",%u", (unsigned)token->pc);
    }
    emit(t, "\n");
}

static inline void emit_op(struct notation_text *t, const struct notation *n, uint32_t pc)
{
    const struct notation_op *op = &n->ops[pc];
    const char *reg = op->reg < 0 ? NULL : n->reg_names[op->reg];
    static const char *const names[] = {
        [N_NOP] = "nop",   [N_SSY] = "ssy",     [N_PREBRK] = "preBrk", [N_PRERET] = "preRet",
        [N_SYNC] = "sync", [N_BREAK] = "break", [N_RET] = "ret",       [N_EXIT] = "exit",
        [N_BRA] = "bra",   [N_CALL] = "call"};
    emit(t, "L%u: ", (unsigned)pc);
    if (op->guard >= 0)
        emit(t, "@%s%s ", op->guard_not ? "!" : "", n->reg_names[op->guard]);
    switch (op->kind) {
    case N_NOP:
    case N_SYNC:
    case N_BREAK:
    case N_RET:
    case N_EXIT:
        emit(t, "%s;\n", names[op->kind]);
        break;
    case N_SSY:
    case N_PREBRK:
    case N_PRERET:
        emit(t, "%s L%u;\n", names[op->kind], (unsigned)op->a);
        break;
    case N_BRA:
    case N_CALL:
        if (reg)
            emit(t, "%s %s;\n", names[op->kind], reg);
        else
            emit(t, "%s L%u;\n", names[op->kind], (unsigned)op->a);
        break;
    case N_CAS:
        emit(t, "atom.global.cas.b32 %s, [L], %u, %u;\n", reg, (unsigned)op->a, (unsigned)op->b);
        break;
    case N_SETEQ:
        emit(t, "setp.eq.u32 %s, %s, %u;\n", reg, n->reg_names[op->a], (unsigned)op->b);
        break;
    case N_ST:
        emit(t, "st.global.u32 [L], %u;\n", (unsigned)op->a);
        break;
    }
}

static inline void notation_text(const struct notation *n, struct notation_text *t)
{
    t->length = 0;
    emit_settings(t, n);
    emit(t, ".version 7.8\n.target sm_70\n.address_size 64\n");
    emit(t, ".global .align 4 .u32 L = %u;\n.visible .entry k()\n{\n", (unsigned)n->memory);
    for (uint32_t reg = 0; reg < n->reg_count; reg++)
        emit(t, ".reg %s %s;\n", notation_is_predicate(n, reg) ? ".pred" : ".u32",
             n->reg_names[reg]);
    for (uint32_t pc = 1; pc <= n->op_count; pc++)
        emit_op(t, n, pc);
    emit(t, "}\n");
}

#endif
