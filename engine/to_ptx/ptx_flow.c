#include "engine/to_ptx/ptx_flow.h"

/* ---- about instructions ---- */

enum ptx_opcode ptx_statement_opcode(const struct ptx_statement *stm)
{
    return stm->kind == PTX_INSTRUCTION ? ptx_forms[stm->u.instruction.form].opcode
                                        : PTX_OPCODE_COUNT;
}

bool ptx_statement_is_branch_unit(const struct ptx_statement *stm)
{
    enum ptx_opcode op = ptx_statement_opcode(stm);
    return op == PTX_OP_SSY || op == PTX_OP_PREBRK || op == PTX_OP_PRERET || op == PTX_OP_SYNC ||
           op == PTX_OP_BREAK;
}

const struct ptx_operand *ptx_call_target(const struct ptx_statement *stm)
{
    if (ptx_statement_opcode(stm) != PTX_OP_CALL)
        return NULL;
    const struct ptx_operand *o = stm->u.instruction.operands;
    return o && o->kind == PTX_OPERAND_LIST ? o->next : o;
}

bool ptx_call_returns(const struct ptx_statement *call)
{
    const struct ptx_operand *target = ptx_call_target(call);
    if (target->target_kind != PTX_TARGET_FUNCTION)
        return true;
    const struct ptx_attribute *a = target->target.function->attributes;
    while (a && a->kind != PTX_NORETURN)
        a = a->next;
    return !a;
}

bool ptx_call_is_outside(const struct ptx_symbols *symbols, const struct ptx_statement *call)
{
    const struct ptx_operand *target = ptx_call_target(call);
    return target && target->target_kind == PTX_TARGET_FUNCTION &&
           !ptx_definition(symbols, target->target.function);
}

/* The last statement that counts: an instruction or a label; blocks are looked into. */
static const struct ptx_statement *last_statement(const struct ptx_statement *stm)
{
    const struct ptx_statement *last = NULL;
    for (; stm; stm = stm->next) {
        const struct ptx_statement *inner =
            stm->kind == PTX_BLOCK ? last_statement(stm->u.block) : NULL;
        if (stm->kind == PTX_INSTRUCTION || stm->kind == PTX_LABEL)
            last = stm;
        last = inner ? inner : last;
    }
    return last;
}

bool ptx_falls_through(const struct ptx_function *f)
{
    const struct ptx_statement *last = last_statement(f->body);
    if (!last || last->kind != PTX_INSTRUCTION || last->u.instruction.guard)
        return true;
    enum ptx_opcode opcode = ptx_forms[last->u.instruction.form].opcode;
    return opcode != PTX_OP_RET && opcode != PTX_OP_EXIT && opcode != PTX_OP_BRA &&
           opcode != PTX_OP_BRX && opcode != PTX_OP_TRAP;
}

/* ---- blocks ---- */

static uint32_t count_statements(const struct ptx_statement *stm)
{
    uint32_t count = 0;
    for (; stm; stm = stm->next)
        count += stm->kind == PTX_BLOCK ? count_statements(stm->u.block) : 1;
    return count;
}

static void line_up(struct ptx_flow *f, const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_BLOCK)
            line_up(f, stm->u.block);
        else if (stm->kind == PTX_INSTRUCTION || stm->kind == PTX_LABEL || stm->kind == PTX_LOC ||
                 stm->kind == PTX_PRAGMA)
            f->statements[f->statement_count++] = stm;
    }
}

static bool is_branch(enum ptx_opcode op)
{
    return op == PTX_OP_BRA || op == PTX_OP_BRX;
}

/* Nobody who executes it goes on to the next statement. */
static bool ends_path(const struct ptx_statement *stm)
{
    enum ptx_opcode op = ptx_statement_opcode(stm);
    if (op == PTX_OPCODE_COUNT || stm->u.instruction.guard)
        return false;
    return is_branch(op) || op == PTX_OP_RET || op == PTX_OP_EXIT || op == PTX_OP_TRAP ||
           op == PTX_OP_BREAK || op == PTX_OP_SYNC || (op == PTX_OP_CALL && !ptx_call_returns(stm));
}

static bool ends_block(const struct ptx_statement *stm)
{
    return ends_path(stm) || is_branch(ptx_statement_opcode(stm));
}

/* Labels in a row start one block. */
static bool starts_block(const struct ptx_flow *f, uint32_t i)
{
    return i == 0 || ends_block(f->statements[i - 1]) ||
           (f->statements[i]->kind == PTX_LABEL && f->statements[i - 1]->kind != PTX_LABEL);
}

static bool divide(struct arena *arena, struct ptx_flow *f)
{
    uint32_t blocks = 0, block = 0;
    bool is_new;
    for (uint32_t i = 0; i < f->statement_count; i++)
        blocks += starts_block(f, i);
    /* Who does not take a branch at the end goes off it: a block without statements. */
    uint32_t n = f->statement_count;
    bool falls_off = n > 0 && ends_block(f->statements[n - 1]) && !ends_path(f->statements[n - 1]);
    blocks += falls_off;
    f->graph.count = blocks ? blocks : 1;
    if (f->graph.count > PTX_FLOW_BLOCKS)
        return false;
    f->blocks = ARENA_ARRAY(arena, struct ptx_flow_block, f->graph.count);
    f->block_of.arena = arena;
    for (uint32_t i = 0; i < f->statement_count; i++) {
        const struct ptx_statement *stm = f->statements[i];
        if (starts_block(f, i))
            f->blocks[block++].first = i;
        f->blocks[block - 1].end = i + 1;
        if (ends_block(stm))
            f->blocks[block - 1].terminator = stm;
        if (stm->kind == PTX_LABEL)
            *ptx_map_add(&f->block_of, stm, 0, &is_new) = block - 1;
    }
    if (falls_off)
        f->blocks[block] = (struct ptx_flow_block){n, n, NULL};
    return true;
}

/* ---- edges ---- */

static uint32_t count_targets(const struct ptx_statement *stm)
{
    uint32_t count = 1;
    if (ptx_statement_opcode(stm) == PTX_OP_BRX) {
        const struct ptx_operand *table = stm->u.instruction.operands->next;
        for (const struct ptx_operand *o = table->target.statement->u.targets; o; o = o->next)
            count++;
    }
    return count;
}

/* stamp[target] == block: there is such an edge already. */
static void add_edge(struct ptx_flow *f, uint32_t *stamp, uint32_t block, uint32_t target)
{
    struct ptx_graph *g = &f->graph;
    if (stamp[target] == block + 1)
        return;
    stamp[target] = block + 1;
    g->next[g->edges++] = target;
}

static void add_targets(struct ptx_flow *f, uint32_t *stamp, uint32_t block,
                        const struct ptx_statement *stm)
{
    const struct ptx_operand *o = stm->u.instruction.operands;
    bool is_table = ptx_statement_opcode(stm) == PTX_OP_BRX;
    if (is_table)
        o = o->next->target.statement->u.targets;
    for (; o; o = is_table ? o->next : NULL) {
        if (o->target_kind == PTX_TARGET_STATEMENT)
            add_edge(f, stamp, block, ptx_flow_block_at(f, o->target.statement));
        else if (!f->indirect)
            f->indirect = stm;
    }
}

static bool connect(struct arena *arena, struct ptx_flow *f)
{
    struct ptx_graph *g = &f->graph;
    uint32_t edges = 0;
    for (uint32_t b = 0; b < g->count && edges <= PTX_FLOW_EDGES; b++)
        edges += 1 + (f->blocks[b].terminator ? count_targets(f->blocks[b].terminator) : 0);
    if (edges > PTX_FLOW_EDGES)
        return false;
    g->next_first = ARENA_ARRAY(arena, uint32_t, g->count + 1);
    g->next = ARENA_ARRAY(arena, uint32_t, edges + 1);
    uint32_t *stamp = ARENA_ARRAY(arena, uint32_t, g->count);
    for (uint32_t b = 0; b < g->count; b++) {
        const struct ptx_statement *stm = f->blocks[b].terminator;
        g->next_first[b] = g->edges;
        if (b + 1 < g->count && (!stm || !ends_path(stm)))
            add_edge(f, stamp, b, b + 1);
        if (stm && is_branch(ptx_statement_opcode(stm)))
            add_targets(f, stamp, b, stm);
    }
    g->next_first[g->count] = g->edges;
    return true;
}

struct ptx_flow *ptx_flow_build(struct arena *arena, const struct ptx_function *function,
                                const char **reason)
{
    struct ptx_flow *f = ARENA_NEW(arena, struct ptx_flow);
    f->function = function;
    f->statements =
        ARENA_ARRAY(arena, const struct ptx_statement *, count_statements(function->body) + 1);
    line_up(f, function->body);
    if (!divide(arena, f) || !connect(arena, f)) {
        *reason = arena_printf(
            arena, "more than %d blocks, or %d branch targets, in the function at line %u",
            PTX_FLOW_BLOCKS, PTX_FLOW_EDGES, function->at.line);
        return NULL;
    }
    ptx_graph_analyse(arena, &f->graph);
    return f;
}

uint32_t ptx_flow_block_at(const struct ptx_flow *flow, const struct ptx_statement *label)
{
    return *ptx_map_find(&flow->block_of, label, 0);
}

uint32_t ptx_flow_line(const struct ptx_flow *flow, uint32_t block)
{
    const struct ptx_flow_block *b = &flow->blocks[block];
    for (uint32_t i = b->first; i < b->end; i++)
        if (flow->statements[i]->at.line)
            return flow->statements[i]->at.line;
    return flow->function->at.line;
}
