/*
 * stackless_places.c - what policies ask of a program: the order of its statements in the source, and where the
 * paths of a branch meet. That is behind an if or a loop, or at the loop's guard where a path of its body
 * ends; of blocks and PTX, at the branch's immediate post-dominator.
 */
#include "engine/program/ptx_code.h"
#include "engine/schedule/stackless_internal.h"
#include "engine/to_ptx/ptx_graph.h"

/* ---- structured ---- */

/* A list and what is within, in the order of the text; true: the list ends with an if or a loop, so that its
 * end is where paths meet. `after`: its first statement is where they meet. */
struct numbering {
    const struct program *program;
    struct stackless *stackless;
    uint32_t next;
};

static bool number_list(struct numbering *n, uint32_t first)
{
    bool after = false;
    for (uint32_t i = first;; i++) {
        const struct code_stm *stm = &n->program->stms[i];
        n->stackless->order[i] = n->next++;
        n->stackless->joins[i] |= after;
        after = stm->kind == CODE_IF || stm->kind == CODE_WHILE;
        if (stm->kind == CODE_IF) {
            number_list(n, stm->first);
            number_list(n, stm->second);
        } else if (stm->kind == CODE_WHILE && number_list(n, stm->first)) {
            n->stackless->joins[i] = true; /* the paths of the body meet at its guard */
        }
        if (stm->last)
            return after;
    }
}

/* ---- blocks and PTX: the graph of a function, its end the last node ---- */

/* Nodes are the function's blocks, or its instructions. */
struct flow {
    const struct program *program;
    struct ptx_graph graph;
    uint32_t first;  /* node 0: a block's number, or an address */
    uint32_t *open;  /* PTX. A node: the preBrk that is open there, an address; 0: none */
    uint32_t *below; /* a preBrk: the one open around it */
};

/* What is no place of the function, as the address of a token that is none, ends the path. */
static void add_edge(struct flow *f, uint32_t node, uint32_t target)
{
    struct ptx_graph *g = &f->graph;
    if (target >= g->count)
        target = g->count - 1;
    for (uint32_t e = g->next_first[node]; e < g->edges; e++)
        if (g->next[e] == target)
            return;
    g->next[g->edges++] = target;
}

static void block_edges(struct flow *f, uint32_t node)
{
    const struct code_block *block = &f->program->blocks[f->first + node];
    uint32_t end = f->graph.count - 1;
    for (uint32_t i = 0; i < block->target_count; i++) {
        uint32_t target = f->program->targets[block->target_first + i];
        add_edge(f, node, target == BLOCK_END ? end : target - f->first);
    }
    if (block->target_count == 0)
        add_edge(f, node, end);
}

/* A branch to a register may go anywhere: what is known is that it ends the path. */
static void branch_edges(struct flow *f, uint32_t node, const struct ptx_op *op)
{
    const struct ptx_code *code = f->program->ptx;
    for (uint32_t i = 0; i < op->table_count; i++)
        add_edge(f, node, code->table[op->table + i] - f->first);
    if (op->target)
        add_edge(f, node, op->target - f->first);
    else if (op->table_count == 0)
        add_edge(f, node, f->graph.count - 1);
}

/* Where the innermost open preBrk says. */
static uint32_t break_target(const struct flow *f, uint32_t node)
{
    uint32_t open = f->open[node];
    return open ? f->program->ptx->ops[open].target - f->first : f->graph.count - 1;
}

static void instruction_edges(struct flow *f, uint32_t node)
{
    const struct ptx_op *op = &f->program->ptx->ops[f->first + node];
    uint32_t end = f->graph.count - 1;
    bool goes_on = op->guard.kind != PTX_PLACE_NONE;
    if (op->exec == PTX_EXEC_BRA)
        branch_edges(f, node, op);
    else if (op->exec == PTX_EXEC_BREAK)
        add_edge(f, node, break_target(f, node));
    else if (op->exec == PTX_EXEC_RET || op->exec == PTX_EXEC_EXIT || op->exec == PTX_EXEC_TRAP)
        add_edge(f, node, end);
    else
        goes_on = true;
    if (goes_on) /* behind the last instruction is the end */
        add_edge(f, node, node + 1);
}

/* The preBrk that is open at each instruction, on the first way there that is found. */
static void find_open(struct flow *f, struct arena *arena, uint32_t count)
{
    const struct ptx_op *ops = f->program->ptx->ops;
    uint32_t *stack = ARENA_ARRAY(arena, uint32_t, count + 1), depth = 0;
    uint8_t *seen = ARENA_ARRAY(arena, uint8_t, count + 1);
    f->open = ARENA_ARRAY(arena, uint32_t, count + 1);
    f->below = ARENA_ARRAY(arena, uint32_t, count + 1);
    stack[depth++] = 0;
    seen[0] = seen[count] = true;
    while (depth > 0) {
        uint32_t node = stack[--depth], open = f->open[node];
        if (ops[f->first + node].exec == PTX_EXEC_PREBRK) {
            f->below[node] = open;
            open = f->first + node;
        }
        f->graph.next_first[node] = f->graph.edges = 0;
        instruction_edges(f, node);
        for (uint32_t e = 0; e < f->graph.edges; e++) {
            uint32_t next = f->graph.next[e];
            if (seen[next])
                continue;
            bool breaks = ops[f->first + node].exec == PTX_EXEC_BREAK && open != 0 &&
                          next == break_target(f, node);
            f->open[next] = breaks ? f->below[open - f->first] : open;
            seen[next] = true;
            stack[depth++] = next;
        }
    }
    f->graph.edges = 0;
}

/* The statement where control is when it comes to a node. */
static uint32_t first_of(const struct flow *f, uint32_t node)
{
    return f->program->ptx ? f->first + node : f->program->blocks[f->first + node].first;
}

/* The statement that branches. */
static uint32_t last_of(const struct flow *f, uint32_t node)
{
    uint32_t stm = first_of(f, node);
    while (!f->program->ptx && !f->program->stms[stm].last)
        stm++;
    return stm;
}

static void take_branch(struct stackless *s, const struct flow *f, uint32_t node)
{
    const struct ptx_graph *g = &f->graph;
    uint32_t meets = g->post_dominator[node], loop = PTX_GRAPH_NONE;
    if (meets < g->count - 1 && s->joins)
        s->joins[first_of(f, meets)] = true;
    if (!s->meets)
        return;
    if (meets < g->count - 1)
        s->meets[last_of(f, node)] = first_of(f, meets) + 1;
    if (g->reducible)
        loop = g->loop[node];
    for (uint32_t e = g->next_first[node]; e < g->next_first[node + 1]; e++)
        if (loop != PTX_GRAPH_NONE && !ptx_graph_in_loop(g, loop, g->next[e]))
            s->leaves_loop[last_of(f, node)] = true;
}

static void look_at_function(struct stackless *s, struct arena *arena, struct flow *f,
                             uint32_t count, uint32_t edges)
{
    struct ptx_graph *g = &f->graph;
    size_t mark = arena_mark(arena);
    *g = (struct ptx_graph){.count = count + 1,
                            .next_first = ARENA_ARRAY(arena, uint32_t, count + 2),
                            .next = ARENA_ARRAY(arena, uint32_t, edges)};
    if (f->program->ptx)
        find_open(f, arena, count);
    for (uint32_t n = 0; n < count; n++) {
        g->next_first[n] = g->edges;
        if (f->program->ptx)
            instruction_edges(f, n);
        else
            block_edges(f, n);
    }
    g->next_first[count] = g->next_first[count + 1] = g->edges;
    ptx_graph_analyse(arena, g);
    for (uint32_t n = 0; n < count; n++)
        if (g->next_first[n + 1] - g->next_first[n] > 1)
            take_branch(s, f, n);
    for (uint32_t n = 0; s->meets && f->program->ptx && n < count; n++)
        if (f->program->ptx->ops[f->first + n].exec == PTX_EXEC_CALL) /* some may go past it */
            s->meets[f->first + n] = f->first + n + 2;
    arena_release(arena, mark);
}

static void find_in_functions(struct stackless *s, struct arena *arena,
                              const struct program *program)
{
    struct flow f = {.program = program};
    const struct ptx_code *code = program->ptx;
    for (uint32_t i = 0; code && i < code->function_count; i++) {
        const struct ptx_code_function *function = &code->functions[i];
        uint32_t edges = 0;
        for (uint32_t pc = function->entry; pc < function->end; pc++)
            edges += 2 + code->ops[pc].table_count;
        f.first = function->entry;
        look_at_function(s, arena, &f, function->end - function->entry, edges);
    }
    for (uint32_t first = 0, end; !code && first < program->block_count; first = end) {
        uint32_t edges = 0;
        for (end = first; end < program->block_count &&
                          program->blocks[end].function == program->blocks[first].function;
             end++)
            edges += 1 + program->blocks[end].target_count;
        f.first = first;
        look_at_function(s, arena, &f, end - first, edges);
    }
}

void stackless_find_places(struct stackless *s, struct arena *arena, const struct program *program)
{
    enum stackless_policy policy = s->spec.policy;
    bool structured = program->form == FORM_STRUCTURED;
    bool pdom = policy == STACKLESS_DWF_PDOM;
    uint32_t count = program->stm_count;
    if (policy == STACKLESS_MINPC || policy == STACKLESS_DWF_PC || (structured && pdom))
        s->order = ARENA_ARRAY(arena, uint32_t, count);
    if (s->order || pdom)
        s->joins = ARENA_ARRAY(arena, uint8_t, count);
    if (s->splits) {
        s->meets = ARENA_ARRAY(arena, uint32_t, count);
        s->leaves_loop = ARENA_ARRAY(arena, uint8_t, count);
    }
    for (uint32_t i = 0; s->order && i < count; i++)
        s->order[i] = i;
    for (uint32_t i = 0; s->leaves_loop && structured && i < count; i++)
        s->leaves_loop[i] = program->stms[i].kind == CODE_WHILE;
    if (s->order && structured) {
        struct numbering n = {program, s, 0};
        for (uint32_t f = 0; f < program->function_count; f++)
            number_list(&n, program->functions[f].body);
    } else if (!structured && (pdom || s->splits)) {
        find_in_functions(s, arena, program);
    }
}
