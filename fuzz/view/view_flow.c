/*
 * view_flow.c - the control-flow graph of a program, statement by statement: which statement may follow which. The page
 * joins statements into blocks, and draws who took which edge.
 *
 *     flow      statement, statement that may follow or -1 (the function ends), kind, ...
 *     functions the first statement of each
 */
#include "engine/program/ptx_code.h"
#include "fuzz/view/view_internal.h"

#include <inttypes.h>

/* Kinds of edges: what decides for it. */
enum flow_edge { FLOW_NEXT, FLOW_HOLDS, FLOW_FAILS };

#define FLOW_END UINT32_MAX

struct flow {
    const struct program *program;
    FILE *out;
    bool any;
};

static void put_edge(struct flow *flow, uint32_t from, uint32_t to, enum flow_edge kind)
{
    fprintf(flow->out, "%s%" PRIu32 ",%" PRId64 ",%d", flow->any ? "," : "", from,
            to == FLOW_END ? (int64_t)-1 : (int64_t)to, (int)kind);
    flow->any = true;
}

/* ---- structured ---- */

static void put_list(struct flow *flow, uint32_t first, uint32_t behind, uint32_t loop_end);

/* Behind the statement comes `next`; behind the innermost loop around it, `loop_end`. */
static void put_statement(struct flow *flow, uint32_t i, uint32_t next, uint32_t loop_end)
{
    const struct code_stm *stm = &flow->program->stms[i];
    enum code_kind kind = stm->kind;
    if (kind == CODE_IF || kind == CODE_WHILE) {
        put_edge(flow, i, stm->first, FLOW_HOLDS);
        put_edge(flow, i, kind == CODE_IF ? stm->second : next, FLOW_FAILS);
        put_list(flow, stm->first, kind == CODE_IF ? next : i, kind == CODE_IF ? loop_end : next);
        if (kind == CODE_IF)
            put_list(flow, stm->second, next, loop_end);
    } else if (kind == CODE_BREAK) {
        put_edge(flow, i, loop_end, FLOW_NEXT);
    } else {
        bool leaves = kind == CODE_RETURN || kind == CODE_EXIT;
        put_edge(flow, i, leaves ? FLOW_END : next, FLOW_NEXT);
    }
}

static void put_list(struct flow *flow, uint32_t first, uint32_t behind, uint32_t loop_end)
{
    const struct code_stm *stms = flow->program->stms;
    for (uint32_t i = first;; i++) {
        put_statement(flow, i, stms[i].last ? behind : i + 1, loop_end);
        if (stms[i].last)
            return;
    }
}

/* ---- blocks ---- */

static void put_blocks(struct flow *flow)
{
    const struct program *p = flow->program;
    for (uint32_t i = 0; i < p->stm_count; i++) {
        const struct code_stm *stm = &p->stms[i];
        if (stm->kind == CODE_END_CALL || (stm->last && stm->kind != CODE_GOTO))
            put_edge(flow, i, FLOW_END, FLOW_NEXT);
        else if (stm->kind != CODE_GOTO)
            put_edge(flow, i, i + 1, FLOW_NEXT);
        if (stm->kind != CODE_GOTO)
            continue;
        const struct code_block *block = &p->blocks[stm->block];
        for (uint32_t k = 0; k < block->target_count; k++) {
            uint32_t target = p->targets[block->target_first + k];
            put_edge(flow, i, target == BLOCK_END ? FLOW_END : p->blocks[target].first, FLOW_NEXT);
        }
    }
}

/* ---- PTX ---- */

/* Where the branch leads besides to the next instruction: a table's addresses, or one; 0: a register says it. */
static void put_targets(struct flow *flow, uint32_t pc, const struct ptx_op *op)
{
    const struct ptx_code *ptx = flow->program->ptx;
    enum flow_edge kind = op->guard.kind == PTX_PLACE_NONE ? FLOW_NEXT : FLOW_HOLDS;
    for (uint32_t k = 0; k < op->table_count; k++)
        put_edge(flow, pc, ptx->table[op->table + k], kind);
    if (op->table_count == 0 && op->target > 0)
        put_edge(flow, pc, op->target, kind);
}

static void put_ptx(struct flow *flow)
{
    const struct ptx_code *ptx = flow->program->ptx;
    for (uint32_t pc = 1; pc < ptx->count; pc++) {
        const struct ptx_op *op = &ptx->ops[pc];
        bool leaves = op->exec == PTX_EXEC_RET || op->exec == PTX_EXEC_EXIT;
        bool turns = leaves || op->exec == PTX_EXEC_BRA || op->exec == PTX_EXEC_BREAK;
        bool guarded = op->guard.kind != PTX_PLACE_NONE;
        if (op->exec == PTX_EXEC_BRA)
            put_targets(flow, pc, op);
        if (leaves)
            put_edge(flow, pc, FLOW_END, guarded ? FLOW_HOLDS : FLOW_NEXT);
        if ((!turns || guarded) && pc + 1 < ptx->functions[op->function].end)
            put_edge(flow, pc, pc + 1, turns ? FLOW_FAILS : FLOW_NEXT);
    }
}

/* ---- all ---- */

static uint32_t entry_of(const struct program *program, uint32_t function)
{
    const struct code_function *f = &program->functions[function];
    if (program->form == FORM_PTX)
        return program->ptx->functions[function].entry;
    return f->body == CODE_NONE ? program->blocks[f->entry].first : f->body;
}

static uint32_t function_count(const struct program *program)
{
    return program->form == FORM_PTX ? program->ptx->function_count : program->function_count;
}

void view_print_flow(const struct program *program, FILE *out)
{
    struct flow flow = {.program = program, .out = out};
    uint32_t count = function_count(program);
    fputs("\"flow\": [", out);
    for (uint32_t i = 0; i < count && program->form == FORM_STRUCTURED; i++)
        put_list(&flow, program->functions[i].body, FLOW_END, FLOW_END);
    if (program->form == FORM_PTX)
        put_ptx(&flow);
    else if (program->form != FORM_STRUCTURED)
        put_blocks(&flow);
    fputs("], \"functions\": [", out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%" PRIu32, i ? "," : "", entry_of(program, i));
    fputs("]", out);
}
