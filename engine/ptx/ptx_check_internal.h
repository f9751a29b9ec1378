/*
 * ptx_check_internal.h - what the files of the PTX checker share.
 */
#ifndef ENGINE_PTX_CHECK_INTERNAL_H
#define ENGINE_PTX_CHECK_INTERNAL_H

#include "engine/ptx/ptx_scope.h"

struct ptx_checker {
    struct ptx_scopes scopes;
    struct diag *diag;
    const struct ptx_module *module;
    bool some;              /* ptx_parse_some */
    enum ptx_opcode opcode; /* of the instruction being checked */
};

/* ---- ptx_check_operand.c ---- */

/* What the name of an operand means, kept in it; NULL and reported: nothing. */
bool ptx_resolve(struct ptx_checker *c, struct ptx_operand *operand);

/* The operands of an instruction, and its guard, against its form. */
void ptx_check_instruction(struct ptx_checker *c, struct ptx_instruction *instruction,
                           struct location at);

/* ---- ptx_check_call.c ---- */

void ptx_check_call(struct ptx_checker *c, struct ptx_operand *operands, struct location at);

#endif
