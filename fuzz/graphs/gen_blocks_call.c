/*
 * Procedures of kernels in block form (lockstep-cfg App. B.2): in- and out-parameters, recursion that
 * counts an in-parameter down. Made when they are first called, as functions are (gen_call.c).
 */
#include "fuzz/graphs/gen_blocks.h"

static struct ast_var *add_parameter(struct gen *g, char prefix, bool is_out)
{
    struct ast_var *parameter = gen_local(g, prefix);
    parameter->is_parameter = true;
    parameter->is_out = is_out;
    g->scope->function->parameter_count++;
    return parameter;
}

static void declare(struct gen *g, uint32_t kind)
{
    struct gen_scope *scope = g->scope;
    uint32_t ins = gen_below(g, 3), outs = gen_below(g, 3), locals = gen_below(g, 2);
    bool outs_first = gen_chance(g, 30);
    if (kind == W_FUNCTION_RECURSIVE)
        scope->depth = add_parameter(g, 'p', false);
    for (uint32_t i = 0; i < ins + outs; i++) {
        bool is_out = outs_first ? i < outs : i >= ins;
        scope->values[scope->value_count++] = add_parameter(g, is_out ? 'o' : 'p', is_out);
    }
    if (scope->value_count == 0 && g->private_count == 0)
        locals = 1;
    for (uint32_t i = 0; i < locals; i++) {
        struct ast_var *local = gen_scalar(g);
        scope->values[scope->value_count++] = local;
    }
    gen_local_array(g);
}

static bool is_taken(const struct ast_stm *call, const struct ast_var *var)
{
    for (const struct ast_expr *out = call->outs; out; out = out->next)
        if (out->var == var)
            return true;
    return false;
}

/* A private scalar that takes an out-parameter; each its own. */
static struct ast_expr *draw_out(struct gen *g, const struct ast_stm *call)
{
    struct ast_var *var = gen_draw_private(g);
    for (uint32_t i = 0; i < g->scope->value_count && is_taken(call, var); i++)
        var = g->scope->values[i];
    if (is_taken(call, var))
        var = gen_scalar(g);
    return ast_var_ref(g->arena, var);
}

static struct ast_stm *call_stm(struct gen *g, struct ast_function *function,
                                struct ast_expr *depth)
{
    struct ast_stm *stm = gen_stm(g, STM_CALL);
    struct ast_expr **in = &stm->arguments, **out = &stm->outs;
    stm->function = function;
    const struct ast_var *parameter = function->locals;
    for (uint32_t i = 0; i < function->parameter_count; i++, parameter = parameter->next) {
        struct ast_expr ***end = parameter->is_out ? &out : &in;
        **end = parameter->is_out ? draw_out(g, stm) : depth ? depth : gen_value(g);
        *end = &(**end)->next;
        if (!parameter->is_out)
            depth = NULL; /* it is the first one */
    }
    return stm;
}

/* In the open block, or alone in a block (PROC.norm). */
static void emit_call(struct gen *g, const struct gen_place *place, struct ast_stm *call)
{
    bool alone = gen_chance(g, 50);
    if (alone) {
        struct ast_block *block = gen_block_new(g);
        gen_block_goto(g, block);
        gen_block_open(g, place, block, NULL);
    }
    gen_emit(g, place, &g->graph->list, call);
    if (alone) {
        struct ast_block *block = gen_block_new(g);
        gen_block_goto(g, block);
        gen_block_open(g, place, block, NULL);
    }
}

/* ---- recursion ---- */

static void call_itself(struct gen *g, const struct gen_place *place)
{
    struct ast_expr *less =
        gen_binary_int(g, BINARY_SUB, ast_var_ref(g->arena, g->scope->depth), 1);
    emit_call(g, place, call_stm(g, g->scope->function, less));
}

/* q = depth > 0; goto R, N;   R: [q] calls; goto J;   N: [!q] goto J;   J: */
static void recurse(struct gen *g, const struct gen_place *place, uint32_t kind)
{
    struct ast_block *calls = gen_block_new(g), *none = gen_block_new(g), *join = gen_block_new(g);
    struct ast_var *temp = gen_temp(g);
    struct ast_expr *more = gen_binary_int(g, BINARY_GT, ast_var_ref(g->arena, g->scope->depth), 0);
    if (gen_has(g, FEATURE_LOGIC) && gen_chance(g, 35))
        more = gen_binary(g, BINARY_LOGICAL_AND, more, gen_condition(g));
    gen_emit(g, place, &g->graph->list, gen_set(g, temp, more));
    gen_block_branch(g, calls, none);
    gen_block_open(g, place, calls, gen_guard(g, temp, false));
    call_itself(g, place);
    if (kind == W_RECURSE_TWICE)
        call_itself(g, place);
    gen_block_goto(g, join);
    gen_block_open(g, place, none, gen_guard(g, temp, true));
    gen_block_goto(g, join);
    gen_block_open(g, place, join, NULL);
}

/* ---- making a procedure ---- */

static void make_body(struct gen *g, struct gen_callee *callee, uint32_t kind)
{
    struct gen_place place = {.times = 1, .depth = 1};
    struct gen_graph *graph = g->graph;
    uint32_t calls = 1;
    gen_block_open(g, &place, gen_block_new(g), NULL);
    while (graph->open && g->left > 0 && g->cost < g->budget)
        gen_region(g, &place);
    if (graph->open && kind == W_FUNCTION_RECURSIVE) {
        uint32_t recursion = gen_pick(g, GROUP_RECURSE, GEN_BAN(RECURSE, BRANCHES));
        callee->max_depth = recursion == W_RECURSE_TWICE ? 1 : GEN_RECURSION;
        calls = recursion == W_RECURSE_TWICE ? 3 : GEN_RECURSION + 1;
        recurse(g, &place, recursion);
        if (gen_chance(g, 50))
            gen_assign(g, &place, &graph->list);
    }
    if (graph->open)
        gen_block_goto(g, NULL);
    gen_blocks_finish(g);
    callee->cost = calls * (g->cost + 2 * callee->function->parameter_count + 3);
}

static const struct gen_callee *make_procedure(struct gen *g, uint32_t budget)
{
    struct gen outer = *g;
    int32_t share = gen_draw_share(g);
    struct ast_function *function = ARENA_NEW(g->arena, struct ast_function);
    struct gen_scope scope = {.function = function, .locals_end = &function->locals};
    struct gen_graph graph = {.function = function, .end = &function->blocks};
    struct gen_callee callee = {.function = function};
    uint32_t kind = gen_pick(g, GROUP_FUNCTION, 0);
    g->scope = &scope;
    g->graph = &graph;
    graph.explicit_1 = outer.graph->explicit_1;
    g->calls_open++;
    g->cost = g->ends = 0;
    g->budget = kind == W_FUNCTION_RECURSIVE ? budget / (GEN_RECURSION + 1) : budget;
    g->left = share;
    function->name = gen_function_name(g);
    declare(g, kind);
    make_body(g, &callee, kind);
    *g->functions_end = function;
    g->functions_end = &function->next;
    g->scope = outer.scope;
    g->graph = outer.graph;
    g->calls_open--;
    g->cost = outer.cost;
    g->ends = outer.ends;
    g->budget = outer.budget;
    g->left = outer.left - share;
    g->callees[g->callee_count] = callee;
    return &g->callees[g->callee_count++];
}

void gen_block_call(struct gen *g, const struct gen_place *place)
{
    const struct gen_callee *callees[GEN_FUNCTIONS], *callee;
    uint32_t count = gen_callees(g, place, callees), room = gen_room_to_make(g, place);
    uint32_t i = gen_below(g, count + (room > 0));
    callee = i < count ? callees[i] : make_procedure(g, room);
    struct ast_expr *depth = callee->max_depth ? gen_start_depth(g, callee) : NULL;
    emit_call(g, place, call_stm(g, callee->function, depth));
    g->cost += place->times * callee->cost;
}
