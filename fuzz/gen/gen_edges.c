/*
 * What stands at an edge: recursion at the limit of frames, indices that leave their arrays, accesses that a barrier's
 * own arrival races with, plain accesses beside atomic ones. See gen_expr.c on the order of draws.
 */
#include "engine/language/walk.h"
#include "fuzz/gen/generator.h"

/* Depths of f(depth) whose deepest frame is the last that there may be: the kernel's own, f(depth) .. f(0). */
enum { LAST_DEPTH = LIMIT_CALL_DEPTH - 2 };

/* How deep each thread goes: all to the last frame, some a few less, or one a frame further than all others; it goes
 * too far where indices may leave their arrays, too. */
static struct ast_expr *draw_depth(struct gen *g)
{
    struct ast_expr *last = ast_int(g->arena, LAST_DEPTH);
    switch (gen_below(g, 5)) {
    case 0:
    case 1:
        return last;
    case 2:
        return gen_binary(g, BINARY_SUB, last,
                          gen_binary_int(g, BINARY_AND, gen_builtin(g, BUILTIN_TID), 3));
    case 3:
        return gen_binary(g, BINARY_SUB, last,
                          gen_binary_int(g, BINARY_NE, gen_builtin(g, BUILTIN_WARP), 0));
    default:
        if (!gen_has(g, FEATURE_OOB))
            last->value--;
        return gen_binary(g, BINARY_ADD, last,
                          gen_binary_int(g, BINARY_EQ, gen_builtin(g, BUILTIN_TID),
                                         (int32_t)gen_below(g, g->kernel->launch.threads)));
    }
}

static struct ast_stm *call_with(struct gen *g, struct ast_function *function,
                                 struct ast_expr *depth)
{
    struct ast_stm *call = gen_stm(g, STM_CALL);
    call->function = function;
    call->arguments = depth;
    return call;
}

/* x = x * 3 + p; of a private variable of the kernel, which frames do not hide. */
static struct ast_stm *trace(struct gen *g, struct ast_var *x, struct ast_var *p)
{
    struct ast_expr *more = gen_binary_int(g, BINARY_MUL, ast_var_ref(g->arena, x), 3);
    return gen_set(g, x, gen_binary(g, BINARY_ADD, more, ast_var_ref(g->arena, p)));
}

/* f's own text: what it does before it calls itself, or behind. */
static struct ast_stm *deep_body(struct gen *g, struct ast_function *function, struct ast_var *x,
                                 struct ast_var *p)
{
    struct ast_expr *less = gen_binary_int(g, BINARY_SUB, ast_var_ref(g->arena, p), 1);
    struct ast_expr *more = gen_binary_int(g, BINARY_GT, ast_var_ref(g->arena, p), 0);
    struct ast_stm *deeper = gen_if(g, more, call_with(g, function, less), NULL);
    struct ast_stm *mark = trace(g, x, p);
    bool behind = gen_chance(g, 50);
    struct ast_stm *body = behind ? deeper : mark;
    ast_stm_append(&body, behind ? mark : deeper);
    return gen_block(g, body);
}

static struct ast_function *deep_function(struct gen *g, struct ast_var *x)
{
    struct ast_function *function = ARENA_NEW(g->arena, struct ast_function);
    struct gen_scope scope = {.function = function, .locals_end = &function->locals};
    struct gen_scope *outer = g->scope;
    g->scope = &scope;
    function->name = gen_function_name(g);
    struct ast_var *p = gen_local(g, 'p');
    p->is_parameter = true;
    function->parameter_count = 1;
    function->body = deep_body(g, function, x, p);
    g->scope = outer;
    *g->functions_end = function;
    g->functions_end = &function->next;
    return function;
}

/* void f(int p) { x = ..; if (p > 0) f(p - 1); }    [if (some)] f(depth); slot ^= x; */
struct ast_stm *gen_deep(struct gen *g)
{
    struct ast_var *x = gen_file_var(g, 'd', SPACE_PRIVATE, 1, false);
    struct ast_expr *depth = draw_depth(g); /* before the function: arguments have no order */
    struct ast_stm *stms = call_with(g, deep_function(g, x), depth);
    if (gen_chance(g, 40))
        stms = gen_if(g, gen_split(g), stms, NULL);
    struct ast_stm *show = gen_store_result(g);
    show->value = ast_var_ref(g->arena, x);
    ast_stm_append(&stms, show);
    return stms;
}

/* Behind an arrival nobody has waited: what it writes there, and what those read that the barrier released, race.
 *
 *     if (producers) { arrive; slot = ..; } else { sync; x = slot of another; }
 */
void gen_race_behind_arrival(struct gen *g, struct ast_stm *arrive, struct ast_stm *sync)
{
    const struct gen_slot *slot = &g->shared[0];
    struct ast_stm *write = gen_stm(g, STM_ASSIGN), *read = gen_stm(g, STM_ASSIGN);
    write->target = (struct ast_lvalue){.var = slot->var, .index = gen_slot_index(g, slot)};
    write->value = gen_value(g);
    struct ast_expr *other =
        gen_binary_int(g, BINARY_SUB, gen_builtin(g, BUILTIN_TID), (int32_t)g->kernel->launch.warp);
    read->target.var = gen_draw_private(g);
    read->op = ASSIGN_XOR;
    read->value = ast_index(g->arena, slot->var, gen_masked(g, slot->var, other));
    arrive->next = write;
    sync->next = read;
}

/* y = x; or x = ..; before an atomic operation on x: the same thread, so that only others race with it. */
void gen_plain_access(struct gen *g, const struct gen_place *place, struct gen_list *list,
                      const struct ast_stm *atomic)
{
    struct ast_var *var = atomic->place.var;
    struct ast_expr *index =
        atomic->place.index ? ast_expr_copy(g->arena, atomic->place.index) : NULL;
    struct ast_stm *stm = gen_stm(g, STM_ASSIGN);
    if (gen_chance(g, 50)) {
        stm->target = (struct ast_lvalue){.var = var, .index = index};
        stm->value = gen_leaf(g);
    } else {
        stm->target.var = gen_draw_private(g);
        stm->value = index ? ast_index(g->arena, var, index) : ast_var_ref(g->arena, var);
    }
    gen_emit(g, place, list, stm);
}

/* ---- an index that leaves its array ---- */

struct leaving {
    struct gen *g;
    uint32_t count, at; /* indices met; the one that leaves */
};

/* For one thread or for all, beyond the end or before the beginning; or the index is a number. */
static struct ast_expr *left_index(struct gen *g, struct ast_expr *index, const struct ast_var *var)
{
    const int32_t length = (int32_t)var->length;
    struct ast_expr *tid = gen_builtin(g, BUILTIN_TID);
    switch (gen_below(g, 5)) {
    case 0:
        return gen_binary_int(g, BINARY_ADD, index, length);
    case 1:
        return ast_int(g->arena, gen_chance(g, 50) ? length : -1);
    case 2:
        return gen_binary(
            g, BINARY_SUB, index,
            gen_binary_int(g, BINARY_MUL, gen_binary_int(g, BINARY_AND, tid, 1), length));
    default:
        return gen_binary(
            g, BINARY_ADD, index,
            gen_binary_int(
                g, BINARY_MUL,
                gen_binary_int(g, BINARY_EQ, tid, (int32_t)gen_below(g, g->kernel->launch.threads)),
                length));
    }
}

static void leave(struct leaving *x, struct ast_expr **index, const struct ast_var *var)
{
    if (x->count++ == x->at)
        *index = left_index(x->g, *index, var);
}

static void leave_expression(void *context, struct ast_expr *e)
{
    if (e->kind == EXPR_INDEX)
        leave(context, &e->a, e->var);
}

static void leave_place(void *context, struct ast_lvalue *place)
{
    if (place->index)
        leave(context, &place->index, place->var);
}

void gen_leave_array(struct gen *g)
{
    struct leaving x = {.g = g, .at = UINT32_MAX};
    const struct ast_change change = {
        .expression = leave_expression, .place = leave_place, .context = &x};
    ast_change_kernel(&change, g->kernel);
    if (x.count == 0)
        return;
    x.at = gen_below(g, x.count);
    x.count = 0;
    ast_change_kernel(&change, g->kernel);
}
