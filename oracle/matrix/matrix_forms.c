/*
 * matrix_forms.c - one kernel in several forms: when its termination matrix must be the same in two of them.
 *
 * Forms differ in the steps that they cut a statement into. Structured, an expression is evaluated in one step, and its
 * value written in another one; in blocks an assignment is one step; in PTX each access is one. Where no statement
 * accesses twice what others write, each has one step that anybody else can see, in all forms, and local ones around
 * it; local steps change no verdict (engine/search/search_local.c).
 */
#include "engine/program/ptx_code.h"
#include "oracle/matrix/matrix_internal.h"

const enum subject_id matrix_thread_subjects[MATRIX_FORMS] = {SUBJECT_THREADS, SUBJECT_INTERLEAVE,
                                                              SUBJECT_BLOCK};

bool matrix_has_barriers(const struct program *program)
{
    if (program->form == FORM_PTX)
        return program->ptx->barriers;
    bool found = false;
    for (uint32_t i = 0; i < program->stm_count; i++) {
        const struct code_stm *stm = &program->stms[i];
        bool added = stm->block != CODE_NONE && program->blocks[stm->block].added;
        found |= stm->kind == CODE_BARRIER && !added;
    }
    return found;
}

/* ---- accesses of a statement ---- */

/* Variables that others may write, as in code_stm. */
static uint64_t written(const struct program *program)
{
    uint64_t writes = 0;
    for (uint32_t i = 0; i < program->stm_count; i++)
        writes |= program->stms[i].writes;
    return writes;
}

static uint32_t reads_of(const struct program *program, uint32_t expr, uint64_t vars)
{
    uint32_t count = 0;
    if (expr == CODE_NONE)
        return 0;
    for (const struct code_expr_op *op = &program->ops[expr]; op->op != OP_END; op++) {
        bool reads = op->op == OP_GLOBAL || op->op == OP_SHARED ||
                     (op->op == OP_INDEX && op->space <= SPACE_SHARED);
        count += reads && (vars >> (op->var < 63 ? op->var : 63) & 1);
    }
    return count;
}

static uint32_t reads_of_call(const struct program *program, const struct code_stm *stm,
                              uint64_t vars)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->functions[stm->first].in_count; i++)
        count += reads_of(program, program->arguments[stm->second + i].value, vars);
    return count;
}

static uint32_t accesses_of(const struct program *program, const struct code_stm *stm,
                            uint64_t vars)
{
    uint32_t count = reads_of(program, stm->value, vars) + reads_of(program, stm->guard, vars) +
                     reads_of(program, stm->argument, vars) +
                     reads_of(program, stm->place.index, vars);
    if (stm->kind == CODE_CALL)
        count += reads_of_call(program, stm, vars);
    return count + (stm->writes != 0);
}

/* Whether no statement has two steps that others can see. */
static bool is_fine(const struct program *program)
{
    uint64_t vars = written(program);
    if (program_chooses_by_memory(program))
        return false;
    for (uint32_t i = 0; i < program->stm_count; i++)
        if (accesses_of(program, &program->stms[i], vars) > 1)
            return false;
    return true;
}

bool matrix_forms_agree(struct forms *forms, enum subject_id subject, enum subject_id other)
{
    const struct program *blocks =
        forms_get(forms, subject_table[SUBJECT_INTERLEAVE].program)->program;
    bool ptx = subject == SUBJECT_BLOCK || other == SUBJECT_BLOCK;
    /* A barrier of PTX lets pass what ends in barrier_divergence elsewhere. */
    return blocks && is_fine(blocks) && !(ptx && matrix_has_barriers(blocks));
}
