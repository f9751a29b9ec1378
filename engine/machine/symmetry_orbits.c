/*
 * symmetry_orbits.c - which threads may change places, from the program's text and the initial state.
 *
 * What is computed from a number of the thread is looked at where it leaves the sight of this file: `tid == 0` as a
 * value that is the same for all threads but 0, any other use of a number as the number itself.
 */
#include "engine/language/eval_ops.h"
#include "engine/machine/symmetry_internal.h"
#include "engine/program/ptx_code.h"

/* ---- text that tells lanes apart whoever they are ---- */

static bool ptx_has_orbits(const struct ptx_code *code)
{
    if (code->special_count > 0)
        return false;
    for (uint32_t pc = 1; pc < code->count; pc++)
        if (ptx_exec_is(code->ops[pc].exec, PTX_TELLS))
            return false;
    return true;
}

bool symmetry_has_orbits(const struct program *program)
{
    if (program->launch.warp == 1 || program->launch.threads == 1)
        return false;
    if (program->form == FORM_PTX)
        return ptx_has_orbits(program->ptx);
    for (uint32_t i = 0; i < program->stm_count; i++)
        if (program->stms[i].kind == CODE_VOTE && program->stms[i].vote == VOTE_BALLOT)
            return false;
    return true;
}

/* ---- what numbers of threads are used for ---- */

/* What is seen of the builtin at ops[at]: of one that is compared with a number, the result. */
static int32_t seen_at(const struct program *program, uint32_t at, uint32_t thread)
{
    const struct code_expr_op *op = &program->ops[at], *next = op + 1;
    int32_t value = program_builtin(program, thread, (enum ast_builtin)op->a);
    if (at + 1 < program->op_count && next->op >= OP_BINARY_INT &&
        next->op < OP_BINARY_INT + BINARY_COUNT)
        return eval_binary((enum ast_binary)(next->op - OP_BINARY_INT), value, next->a);
    return value;
}

static bool text_alike(const struct program *program, uint32_t thread, uint32_t other)
{
    for (uint32_t i = 0; i < program->op_count; i++)
        if (program->ops[i].op == OP_BUILTIN &&
            seen_at(program, i, thread) != seen_at(program, i, other))
            return false;
    return true;
}

static uint32_t warp_of(const struct program *program, uint32_t thread)
{
    uint32_t threads = program->launch.threads;
    return thread / threads * program->warps_per_block + thread % threads / program->launch.warp;
}

bool symmetry_find_orbits(struct symmetry *symmetry, const struct machine *machine)
{
    const struct program *program = machine->program;
    bool found = false;
    for (uint32_t t = 0; t < program->total_threads; t++) {
        uint32_t other = t;
        while (other > 0 && warp_of(program, other - 1) == warp_of(program, t))
            other--;
        symmetry->orbit[t] = t;
        for (; other < t && symmetry->orbit[t] == t; other++)
            if (symmetry->orbit[other] == other && text_alike(program, other, t) &&
                symmetry_compare(symmetry, machine, other, t) == 0)
                symmetry->orbit[t] = other;
        found |= symmetry->orbit[t] != t;
    }
    return found;
}
