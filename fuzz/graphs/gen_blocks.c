/*
 * Blocks, labels, regions. See gen_expr.c on the order of draws.
 */
#include "fuzz/graphs/gen_blocks.h"

#include "engine/base/invariant.h"

/* Steps of a thread that enters a block and leaves it: block, assume, goto. */
enum { BLOCK_COST = 3 };

/* ---- blocks ---- */

struct ast_block *gen_block_new(struct gen *g)
{
    struct ast_block *block = ARENA_NEW(g->arena, struct ast_block);
    block->name = arena_printf(g->arena, "B%u", ++g->block_names);
    return block;
}

void gen_block_open(struct gen *g, const struct gen_place *place, struct ast_block *block,
                    struct ast_expr *guard)
{
    struct gen_graph *graph = g->graph;
    INVARIANT(!graph->open);
    *graph->end = block;
    graph->end = &block->next;
    graph->count++;
    graph->open = block;
    gen_list_init(&graph->list);
    if (!guard && graph->explicit_1)
        guard = ast_int(g->arena, 1);
    if (guard) {
        struct ast_stm *stm = gen_stm(g, STM_ASSUME);
        stm->value = guard;
        gen_append(&graph->list, stm);
    }
    g->cost += BLOCK_COST * place->times;
}

void gen_block_targets(struct gen *g, struct ast_block *const *targets, uint32_t count)
{
    struct ast_block *block = g->graph->open;
    bool ends = count == 1 && !targets[0];
    block->body = g->graph->list.head;
    g->graph->open = NULL;
    if (ends && g->graph->function != g->kernel->main) {
        block->returns = true;
        return;
    }
    block->target_count = count;
    block->targets = ARENA_ARRAY(g->arena, struct ast_block *, count);
    for (uint32_t i = 0; i < count; i++)
        block->targets[i] = targets[i];
}

void gen_block_goto(struct gen *g, struct ast_block *target)
{
    gen_block_targets(g, &target, 1);
}

void gen_block_branch(struct gen *g, struct ast_block *a, struct ast_block *b)
{
    bool swapped = gen_chance(g, 30);
    struct ast_block *const targets[] = {swapped ? b : a, swapped ? a : b};
    gen_block_targets(g, targets, 2);
}

/* ---- guards ---- */

struct ast_var *gen_temp(struct gen *g)
{
    struct gen_scope *scope = g->scope;
    uint32_t i = scope->temp_count < GEN_TEMPS && !g->options->small ? gen_below(g, GEN_TEMPS) : 0;
    if (i < scope->temp_count)
        return scope->temps[i];
    if (scope->temp_count == GEN_TEMPS)
        return scope->temps[gen_below(g, GEN_TEMPS)];
    struct ast_var *temp = gen_local(g, 'q');
    scope->temps[scope->temp_count++] = temp;
    return temp;
}

struct ast_expr *gen_guard(struct gen *g, struct ast_var *var, bool negated)
{
    struct ast_expr *read = ast_var_ref(g->arena, var);
    return negated ? ast_unary(g->arena, UNARY_NOT, read) : read;
}

/* ---- labels ---- */

void gen_label_push(struct gen *g, struct gen_label *label)
{
    INVARIANT(g->graph->label_count < GEN_LABELS);
    g->graph->labels[g->graph->label_count++] = label;
}

void gen_label_pop(struct gen *g, const struct gen_place *place, struct gen_label *label)
{
    INVARIANT(g->graph->labels[g->graph->label_count - 1] == label);
    g->graph->label_count--;
    if (label->used)
        gen_block_open(g, place, label->block,
                       label->guard ? gen_guard(g, label->guard, label->negated) : NULL);
}

void gen_label_goto(struct gen *g, const struct gen_place *place, struct gen_label *label)
{
    label->used = true;
    if (!label->guard) {
        gen_block_goto(g, label->block);
        return;
    }
    struct ast_expr *value =
        label->more ? ast_expr_copy(g->arena, label->more) : ast_int(g->arena, 1);
    if (label->negated)
        value = ast_unary(g->arena, UNARY_NOT, value);
    gen_emit(g, place, &g->graph->list, gen_set(g, label->guard, value));
    if (label->otherwise) {
        label->otherwise->used = true;
        gen_block_branch(g, label->block, label->otherwise->block);
        return;
    }
    /* The other target is there for WF.3 only: nobody ever takes it. */
    struct ast_block *other = gen_block_new(g);
    gen_block_branch(g, label->block, other);
    gen_block_open(g, place, other, gen_guard(g, label->guard, !label->negated));
    gen_block_goto(g, NULL);
}

/* The guard decides: no block between. */
static void maybe_guarded(struct gen *g, const struct gen_place *place, struct gen_label *label)
{
    struct ast_block *on = gen_block_new(g);
    struct ast_expr *value = gen_condition(g);
    if (label->more)
        value = gen_binary(g, BINARY_LOGICAL_AND, ast_expr_copy(g->arena, label->more), value);
    if (label->negated)
        value = ast_unary(g->arena, UNARY_NOT, value);
    gen_emit(g, place, &g->graph->list, gen_set(g, label->guard, value));
    gen_block_branch(g, label->block, on);
    gen_block_open(g, place, on, gen_guard(g, label->guard, !label->negated));
}

/* A block of its own that is a barrier before End. */
static void barrier_before_end(struct gen *g, const struct gen_place *place)
{
    struct ast_block *last = gen_block_new(g);
    gen_block_goto(g, last);
    gen_block_open(g, place, last, NULL);
    g->barriers--;
    gen_emit(g, place, &g->graph->list, gen_stm(g, STM_BARRIER));
}

/* A block between takes those that go; or who goes is free. */
static void maybe_through(struct gen *g, const struct gen_place *place, struct gen_label *label)
{
    struct ast_block *on = gen_block_new(g);
    bool returns = !label->block && g->graph->function != g->kernel->main;
    uint32_t banned = GEN_BAN(GUARD, DIRECT) | GEN_BAN(GUARD, MEMORY);
    if (returns)
        banned |= GEN_BAN(GUARD, OVERLAP) | GEN_BAN(GUARD, FREE);
    uint32_t kind = gen_pick(g, GROUP_GUARD, banned);
    if (kind != W_GUARD_COMPLEMENT) {
        struct ast_var *temp = kind == W_GUARD_OVERLAP ? gen_temp(g) : NULL;
        if (temp)
            gen_emit(g, place, &g->graph->list, gen_set(g, temp, gen_condition(g)));
        gen_block_branch(g, label->block, on);
        gen_block_open(g, place, on, temp ? gen_guard(g, temp, false) : NULL);
        return;
    }
    struct ast_block *through = gen_block_new(g);
    struct ast_var *temp = gen_temp(g);
    gen_emit(g, place, &g->graph->list, gen_set(g, temp, gen_condition(g)));
    gen_block_branch(g, through, on);
    gen_block_open(g, place, through, gen_guard(g, temp, false));
    if (gen_chance(g, 40))
        gen_assign(g, place, &g->graph->list);
    if (!label->block && !returns && gen_may_wait(g, place) && gen_chance(g, 50))
        barrier_before_end(g, place);
    gen_block_goto(g, label->block);
    gen_block_open(g, place, on, gen_guard(g, temp, true));
}

void gen_label_maybe(struct gen *g, const struct gen_place *place, struct gen_label *label)
{
    label->used = true;
    if (label->guard)
        maybe_guarded(g, place, label);
    else
        maybe_through(g, place, label);
}

/* ---- regions ---- */

static uint32_t node_bans(const struct gen *g, const struct gen_place *place)
{
    const struct gen_graph *graph = g->graph;
    uint32_t banned = 0;
    bool affords = place->times == 1 || gen_affords(g, place->times, 4 * BLOCK_COST);
    if (place->depth >= g->max_depth || g->left < 2 || !affords)
        banned |= GEN_BAN(NODE, BRANCH) | GEN_BAN(NODE, LOOP) | GEN_BAN(NODE, SWITCH);
    if (!gen_affords(g, place->times, GEN_TRIP_COST * BLOCK_COST) ||
        graph->label_count + 4 > GEN_LABELS)
        banned |= GEN_BAN(NODE, LOOP);
    if (graph->label_count <= graph->calm || place->depth == 0)
        banned |= GEN_BAN(NODE, JUMP);
    if (graph->count > GEN_GRAPH_BLOCKS)
        banned |= GEN_BAN(NODE, BRANCH) | GEN_BAN(NODE, LOOP) | GEN_BAN(NODE, SWITCH) |
                  GEN_BAN(NODE, JUMP);
    if (g->racy_count == 0 && !g->private_atomics)
        banned |= GEN_BAN(NODE, ATOMIC);
    if (g->left < 2 || !gen_may_call(g, place))
        banned |= GEN_BAN(NODE, CALL);
    if (!gen_may_wait(g, place))
        banned |= GEN_BAN(NODE, BARRIER);
    if (g->rare != W_RARE_VOTES)
        banned |= GEN_BAN(NODE, VOTE);
    return banned;
}

/* pick(v, 1 : e, 0 : !e) or with further values; the last one is possible as a rule. */
static void pick(struct gen *g, const struct gen_place *place)
{
    struct ast_stm *stm = gen_stm(g, STM_PICK);
    struct ast_expr **end = &stm->arguments, *holds = NULL;
    uint32_t count = 2 + gen_below(g, 2), last = gen_below(g, 4);
    stm->target.var = gen_draw_private(g);
    for (uint32_t i = 0; i < count; i++) {
        *end = ast_int(g->arena, gen_small_int(g, 4));
        end = &(*end)->next;
        if (i + 1 < count)
            *end = holds = gen_condition(g);
        else
            *end = last == 0 ? ast_unary(g->arena, UNARY_NOT, ast_expr_copy(g->arena, holds))
                             : ast_int(g->arena, 1);
        end = &(*end)->next;
    }
    gen_emit(g, place, &g->graph->list, stm);
}

/* `statement if (guard)`: at a barrier one that is the same for all, unless threads may part there. */
static struct ast_expr *statement_guard(struct gen *g, const struct ast_stm *stm)
{
    bool meets = stm->kind == STM_BARRIER;
    if (meets && g->position != W_POSITION_DIVERGENT)
        return gen_binary_int(g, BINARY_GT, gen_builtin(g, BUILTIN_THREADS), 0);
    return gen_condition(g);
}

/* Some of the statements from here on get one. */
static void guard_some(struct gen *g, struct ast_stm *from)
{
    for (struct ast_stm *stm = from; stm; stm = stm->next) {
        bool guardable = stm->kind == STM_ASSIGN || stm->kind == STM_BARRIER ||
                         stm->kind == STM_HAVOC || stm->kind == STM_ATOMIC || stm->kind == STM_PICK;
        if (guardable && !stm->guard && gen_chance(g, 8))
            stm->guard = statement_guard(g, stm);
    }
}

static void node(struct gen *g, const struct gen_place *place)
{
    struct gen_list *list = &g->graph->list;
    struct ast_stm *const *first = list->end;
    switch (gen_pick(g, GROUP_NODE, node_bans(g, place))) {
    case W_NODE_BRANCH:
        gen_block_if(g, place);
        return;
    case W_NODE_LOOP:
        gen_block_loop(g, place);
        return;
    case W_NODE_SWITCH:
        gen_block_switch(g, place);
        return;
    case W_NODE_JUMP:
        gen_block_jump(g, place);
        return;
    case W_NODE_CALL:
        gen_block_call(g, place);
        return;
    case W_NODE_ASSERT:
        gen_assertion(g, place, list);
        break;
    case W_NODE_BARRIER:
        gen_block_barrier(g, place);
        break;
    case W_NODE_ATOMIC:
        gen_atomic(g, place, list);
        break;
    case W_NODE_HAVOC:
        gen_choice(g, place, list);
        break;
    case W_NODE_SKIP:
        gen_emit(g, place, list, gen_stm(g, STM_SKIP));
        break;
    case W_NODE_PICK:
        pick(g, place);
        break;
    case W_NODE_VOTE:
        gen_vote(g, place, list);
        break;
    case W_NODE_MEMBAR:
        gen_emit(g, place, list, gen_stm(g, STM_MEMBAR));
        break;
    default:
        gen_assign(g, place, list);
        break;
    }
    if (!g->options->enumerate)
        guard_some(g, *first);
}

void gen_region(struct gen *g, const struct gen_place *place)
{
    uint32_t count = 1 + gen_below(g, g->options->small ? 2 : 4);
    while (count-- > 0 && g->graph->open && g->left > 0 && g->cost < g->budget)
        node(g, place);
}

/* ---- the whole ---- */

/* Any order, but for the entry. */
static void shuffle(struct gen *g, struct gen_graph *graph)
{
    struct ast_block **blocks = ARENA_ARRAY(g->arena, struct ast_block *, graph->count);
    uint32_t count = 0;
    for (struct ast_block *b = graph->function->blocks; b; b = b->next)
        blocks[count++] = b;
    for (uint32_t i = count; i > 2; i--) {
        uint32_t other = 1 + gen_below(g, i - 1);
        struct ast_block *b = blocks[i - 1];
        blocks[i - 1] = blocks[other];
        blocks[other] = b;
    }
    for (uint32_t i = 0; i < count; i++)
        blocks[i]->next = i + 1 < count ? blocks[i + 1] : NULL;
}

/* Op-assignments are those of structured kernels; here x op= e is x = x op e. */
static void expand_op(struct gen *g, struct ast_stm *stm)
{
    if (stm->kind != STM_ASSIGN)
        return;
    stm->value = ast_assigned_value(g->arena, stm);
    stm->op = ASSIGN_SET;
}

void gen_blocks_finish(struct gen *g)
{
    struct gen_graph *graph = g->graph;
    for (struct ast_block *b = graph->function->blocks; b; b = b->next)
        for (struct ast_stm *stm = b->body; stm; stm = stm->next)
            expand_op(g, stm);
    if (gen_pick(g, GROUP_PLACING, 0) == W_PLACING_SHUFFLED)
        shuffle(g, graph);
}

/* The guard of one of the blocks; NULL: there is none. */
static struct ast_stm *draw_guard(struct gen *g, const struct gen_graph *graph)
{
    uint32_t count = 0, number;
    for (const struct ast_block *b = graph->function->blocks->next; b; b = b->next)
        count += b->body && b->body->kind == STM_ASSUME;
    if (count == 0)
        return NULL;
    number = gen_below(g, count);
    for (const struct ast_block *b = graph->function->blocks->next; b; b = b->next)
        if (b->body && b->body->kind == STM_ASSUME && number-- == 0)
            return b->body;
    return NULL;
}

static void add_flaw(struct gen *g, const struct gen_graph *graph)
{
    uint32_t flaw = gen_pick(g, GROUP_FLAW, 0);
    struct ast_stm *guard = flaw == W_FLAW_NONE ? NULL : draw_guard(g, graph);
    if (!guard)
        return;
    if (flaw == W_FLAW_SHARED)
        guard->value = gen_memory_condition(g);
    if (flaw == W_FLAW_UNCOVERED)
        guard->value = gen_binary(
            g, BINARY_LOGICAL_AND, guard->value,
            gen_binary_int(g, BINARY_LT, gen_builtin(g, BUILTIN_TID), (int32_t)gen_below(g, 3)));
    if (flaw == W_FLAW_MIDDLE) {
        struct ast_stm *stm = gen_stm(g, STM_ASSUME);
        stm->value = gen_condition(g);
        ast_stm_append(&guard, stm);
    }
}

void gen_blocks_main(struct gen *g)
{
    struct ast_function *function = g->kernel->main;
    struct gen_graph graph = {.function = function, .end = &function->blocks};
    struct gen_place place = {.times = 1, .uniform = true};
    struct ast_block *start = gen_block_new(g);
    start->name = "Start";
    g->graph = &graph;
    graph.explicit_1 = gen_chance(g, 50);
    gen_block_open(g, &place, start, NULL);
    do {
        gen_region(g, &place);
    } while (graph.open && g->left > 0 && g->cost < g->budget);
    if (graph.open && g->barriers > 0 && g->barriers <= 2 && gen_may_wait(g, &place))
        gen_block_barrier(g, &place);
    if (graph.open) {
        gen_append(&graph.list, gen_store_result(g));
        gen_block_goto(g, NULL);
    }
    add_flaw(g, &graph);
    gen_blocks_finish(g);
    g->graph = NULL;
}
