/*
 * Functions, made when they are first called: a callee is finished before the function that calls
 * it, so that its cost is known, and stands before it in the text.
 */
#include "fuzz/gen/generator.h"

/* Frames: at most GEN_FUNCTIONS recursions of GEN_RECURSION + 1 frames, in one of them another function's between any
 * two, and the kernel's own, below LIMIT_CALL_DEPTH. */
enum { GEN_CALLS_OPEN = 3 };

_Static_assert(GEN_FUNCTIONS *(GEN_RECURSION + 1) + GEN_RECURSION + 1 <= LIMIT_CALL_DEPTH,
               "frames of a thread");

static struct ast_var *add_parameter(struct gen *g)
{
    struct ast_var *parameter = gen_local(g, 'p');
    parameter->is_parameter = true;
    g->scope->function->parameter_count++;
    return parameter;
}

/* int a; int b;  b = a;  ..  a = value;  - what b gets is 0 in each call, unless a frame is taken for a fresh one. */
static void stale_locals(struct gen *g, struct gen_list *list)
{
    struct gen_scope *scope = g->scope;
    struct gen_place place = {.depth = 1, .times = 1};
    struct ast_var *a = gen_scalar(g), *b = gen_scalar(g);
    struct ast_expr *first = ast_var_ref(g->arena, a);
    if (gen_chance(g, 40))
        first = gen_binary_int(g, BINARY_ADD, first, 1);
    gen_emit(g, &place, list, gen_set(g, b, first));
    scope->values[scope->value_count++] = b;
    scope->values[scope->value_count++] = a;
}

/* int a; int b; int c;  b = a;  c = b;  a = 5;  slot ^= c;  - the first statements copy what the frame holds before
 * anything is assigned to it, which is 0 in each call, then leave something there. */
static void copy_locals(struct gen *g, struct gen_list *list)
{
    struct gen_scope *scope = g->scope;
    struct gen_place place = {.depth = 1, .times = 1};
    struct ast_var *a = gen_scalar(g), *b = gen_scalar(g), *shown = b;
    struct ast_stm *show = gen_store_result(g);
    struct ast_expr *left = ast_int(g->arena, 1 + (int32_t)gen_below(g, 8));
    if (g->private_count > 0 && gen_chance(g, 25))
        left = ast_var_ref(g->arena, g->privates[0]);
    scope->values[scope->value_count++] = b;
    scope->values[scope->value_count++] = a;
    gen_emit(g, &place, list, gen_set(g, b, ast_var_ref(g->arena, a)));
    if (gen_chance(g, 40)) {
        shown = scope->values[scope->value_count++] = gen_scalar(g);
        gen_emit(g, &place, list, gen_set(g, shown, ast_var_ref(g->arena, b)));
    }
    gen_emit(g, &place, list, gen_set(g, a, left));
    show->value = ast_var_ref(g->arena, shown);
    gen_emit(g, &place, list, show);
}

/* Something that the next call must not find. */
static void leave_behind(struct gen *g, struct gen_list *list)
{
    struct gen_place place = {.depth = 1, .times = 1};
    struct gen_scope *scope = g->scope;
    struct ast_var *a = scope->values[scope->value_count - 1];
    struct ast_expr *value = gen_value(g);
    gen_emit(g, &place, list,
             gen_set(g, a, gen_binary(g, BINARY_ADD, value, gen_builtin(g, BUILTIN_TID))));
}

/* alone: without parameters. */
static void declare(struct gen *g, uint32_t kind, bool alone)
{
    struct gen_scope *scope = g->scope;
    if (kind == W_FUNCTION_RECURSIVE)
        scope->depth = add_parameter(g);
    uint32_t parameters = g->options->small || alone ? 0 : gen_below(g, 3);
    for (uint32_t i = 0; i < parameters; i++)
        scope->values[scope->value_count++] = add_parameter(g);
    /* The result of a call of itself needs a place; so do statements. */
    uint32_t locals = g->options->small ? 0 : gen_below(g, 2);
    if (scope->value_count == 0 && locals == 0 && g->private_count == 0)
        locals = 1;
    for (uint32_t i = 0; i < locals; i++) {
        struct ast_var *value = gen_scalar(g);
        scope->values[scope->value_count++] = value;
    }
    gen_local_array(g);
}

static struct ast_stm *call_stm(struct gen *g, struct ast_function *function,
                                struct ast_expr *depth)
{
    struct ast_stm *stm = gen_stm(g, STM_CALL);
    struct ast_expr **end = &stm->arguments;
    stm->function = function;
    if (depth) {
        *end = depth;
        end = &depth->next;
    }
    for (uint32_t i = depth != NULL; i < function->parameter_count; i++) {
        *end = gen_value(g);
        end = &(*end)->next;
    }
    if (function->returns_int && gen_chance(g, 85))
        stm->target = gen_own_target(g);
    return stm;
}

/* ---- recursion ---- */

/* int relay(int p, ..) { int r; r = f(p, ..); return r; } */
static struct ast_function *make_relay(struct gen *g, struct ast_function *to)
{
    struct ast_function *relay = ARENA_NEW(g->arena, struct ast_function);
    struct gen_scope scope = {.function = relay, .locals_end = &relay->locals}, *outer = g->scope;
    struct ast_stm *call = gen_stm(g, STM_CALL), *result;
    struct ast_expr **end = &call->arguments;
    relay->name = gen_function_name(g);
    relay->returns_int = to->returns_int;
    g->scope = &scope;
    for (uint32_t i = 0; i < to->parameter_count; i++) {
        *end = ast_var_ref(g->arena, add_parameter(g));
        end = &(*end)->next;
    }
    call->function = to;
    relay->body = call;
    if (to->returns_int) {
        call->target.var = gen_scalar(g);
        result = call->next = gen_stm(g, STM_RETURN);
        result->value = ast_var_ref(g->arena, call->target.var);
    }
    g->scope = outer;
    *g->functions_end = relay;
    g->functions_end = &relay->next;
    return relay;
}

/* By itself, or by another function that calls it. */
static struct ast_stm *call_itself(struct gen *g)
{
    struct ast_expr *less =
        gen_binary_int(g, BINARY_SUB, ast_var_ref(g->arena, g->scope->depth), 1);
    struct ast_function *function = g->scope->function;
    if (!g->options->small && !g->relays && gen_chance(g, 20)) {
        g->relays = true;
        g->cost += 2 * function->parameter_count + 6;
        function = make_relay(g, function);
    }
    return call_stm(g, function, less);
}

/* if (depth > 0 [&& ..]) with one call, one in each branch of an if, or two one after the other. */
static void recurse(struct gen *g, uint32_t kind, struct gen_list *list)
{
    struct gen_place place = {.depth = 1, .times = 1};
    struct ast_expr *more = gen_binary_int(g, BINARY_GT, ast_var_ref(g->arena, g->scope->depth), 0);
    if (gen_has(g, FEATURE_LOGIC) && gen_chance(g, 35))
        more = gen_binary(g, BINARY_LOGICAL_AND, more, gen_condition(g));
    struct ast_stm *stm = gen_if(g, more, NULL, NULL), *first = call_itself(g);
    struct gen_list body;
    gen_list_init(&body);
    gen_emit(g, &place, list, stm);
    switch (kind) {
    case W_RECURSE_BRANCHES: {
        struct ast_stm *other = call_itself(g);
        gen_emit(g, &place, &body, gen_if(g, gen_condition(g), first, other));
        break;
    }
    case W_RECURSE_TWICE:
        gen_emit(g, &place, &body, first);
        if (gen_chance(g, 50))
            gen_assign(g, &place, &body);
        gen_emit(g, &place, &body, call_itself(g));
        break;
    default:
        gen_emit(g, &place, &body, first);
        break;
    }
    stm->body = gen_block(g, body.head);
}

/* ---- making a function ---- */

static void make_body(struct gen *g, struct gen_callee *callee, uint32_t kind)
{
    struct ast_function *function = g->scope->function;
    struct gen_list list;
    gen_list_init(&list);
    uint32_t calls = 1;
    bool stale = !g->options->small && gen_chance(g, 20);
    if (stale)
        stale_locals(g, &list);
    else if (!g->options->small && gen_chance(g, 12))
        copy_locals(g, &list);
    gen_body(g, &list, false);
    if (kind == W_FUNCTION_RECURSIVE) {
        uint32_t recursion = gen_pick(g, GROUP_RECURSE, 0);
        callee->max_depth = recursion == W_RECURSE_TWICE ? 1 : GEN_RECURSION;
        calls = recursion == W_RECURSE_TWICE ? 3 : GEN_RECURSION + 1;
        recurse(g, recursion, &list);
        if (gen_chance(g, 50)) {
            g->left = 1 + (int32_t)gen_below(g, 2);
            gen_body(g, &list, false);
        }
    }
    if (stale && !list.ended)
        leave_behind(g, &list);
    if (function->returns_int) {
        struct ast_stm *result = gen_stm(g, STM_RETURN);
        result->value = gen_value(g);
        struct gen_place place = {.times = 1};
        gen_emit(g, &place, &list, result);
    }
    function->body = list.head;
    callee->cost = calls * (g->cost + 2 * function->parameter_count + 3);
}

int32_t gen_draw_share(struct gen *g)
{
    if (g->options->small)
        return 1;
    uint32_t most = (uint32_t)g->left / 3;
    return 1 + (int32_t)gen_below(g, most < 3 ? 3 : most > 12 ? 12 : most);
}

/* Within `budget` thread steps, all its recursion included. calm: no thread ends in it. alone: without parameters and
 * result. */
static const struct gen_callee *make_function(struct gen *g, uint32_t budget, bool calm, bool alone)
{
    struct gen_scope *outer = g->scope;
    uint32_t outer_cost = g->cost, outer_budget = g->budget, outer_ends = g->ends;
    const uint32_t exits = g->exits;
    int32_t outer_left = g->left, share = gen_draw_share(g);
    struct ast_function *function = ARENA_NEW(g->arena, struct ast_function);
    struct gen_scope scope = {.function = function, .locals_end = &function->locals};
    struct gen_callee callee = {.function = function};
    uint32_t kind = alone ? W_FUNCTION_VOID : gen_pick(g, GROUP_FUNCTION, 0);
    function->returns_int =
        kind == W_FUNCTION_INT || (kind == W_FUNCTION_RECURSIVE && gen_chance(g, 60));
    g->scope = &scope;
    g->calls_open++;
    g->calm_calls += calm;
    g->cost = g->ends = 0;
    g->budget = kind == W_FUNCTION_RECURSIVE ? budget / (GEN_RECURSION + 1) : budget;
    g->left = share;
    function->name = gen_function_name(g);
    declare(g, kind, alone);
    make_body(g, &callee, kind);
    *g->functions_end = function;
    g->functions_end = &function->next;
    g->scope = outer;
    g->calls_open--;
    g->calm_calls -= calm;
    callee.exits = g->exits > exits;
    g->cost = outer_cost;
    g->budget = outer_budget;
    g->ends = outer_ends;
    g->left = outer_left - share;
    g->callees[g->callee_count] = callee;
    return &g->callees[g->callee_count++];
}

/* ---- calls ---- */

uint32_t gen_room_to_make(const struct gen *g, const struct gen_place *place)
{
    bool full = g->callee_count + g->calls_open == GEN_FUNCTIONS ||
                g->calls_open == GEN_CALLS_OPEN ||
                (g->options->small && g->callee_count + g->calls_open > 0);
    if (full || !gen_affords(g, place->times, 24))
        return 0;
    return (g->budget - g->cost) / place->times / 2;
}

uint32_t gen_callees(const struct gen *g, const struct gen_place *place,
                     const struct gen_callee **callees)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->callee_count; i++)
        if (gen_affords(g, place->times, g->callees[i].cost) &&
            !(g->callees[i].exits && (place->calm || g->calm_calls)))
            callees[count++] = &g->callees[i];
    return count;
}

bool gen_may_call(const struct gen *g, const struct gen_place *place)
{
    const struct gen_callee *callees[GEN_FUNCTIONS];
    return gen_room_to_make(g, place) > 0 || gen_callees(g, place, callees) > 0;
}

static const struct gen_callee *choose(struct gen *g, const struct gen_place *place)
{
    const struct gen_callee *callees[GEN_FUNCTIONS];
    uint32_t count = gen_callees(g, place, callees), room = gen_room_to_make(g, place);
    uint32_t i = gen_below(g, count + (room > 0));
    return i < count ? callees[i] : make_function(g, room, place->calm, false);
}

struct ast_expr *gen_start_depth(struct gen *g, const struct gen_callee *callee)
{
    int32_t most = (int32_t)callee->max_depth;
    if (gen_chance(g, 50))
        return gen_binary_int(g, BINARY_AND, gen_builtin(g, BUILTIN_TID), most);
    return ast_int(g->arena, (int32_t)gen_below(g, callee->max_depth + 1));
}

void gen_call(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    const struct gen_callee *callee = choose(g, place);
    do { /* twice now and then: a frame is fresh at each call */
        struct ast_expr *depth = callee->max_depth ? gen_start_depth(g, callee) : NULL;
        gen_emit(g, place, list, call_stm(g, callee->function, depth));
        g->cost += place->times * callee->cost;
        g->exits += callee->exits;
    } while (!g->options->small && g->left > 0 && gen_affords(g, place->times, callee->cost) &&
             gen_chance(g, 25));
}

bool gen_call_alone(struct gen *g, const struct gen_place *place, struct gen_list *list,
                    const struct ast_function *but)
{
    const struct gen_callee *callees[GEN_FUNCTIONS], *alone[GEN_FUNCTIONS];
    uint32_t count = gen_callees(g, place, callees), fit = 0;
    for (uint32_t i = 0; i < count; i++)
        if (callees[i]->function->parameter_count == 0 && !callees[i]->function->returns_int &&
            callees[i]->function != but)
            alone[fit++] = callees[i];
    uint32_t room = gen_room_to_make(g, place);
    bool makes = !g->options->small && room > 0 && g->left > 0 && (fit == 0 || gen_chance(g, 40));
    if (fit == 0 && !makes)
        return false;
    const struct gen_callee *callee =
        makes ? make_function(g, room, place->calm, true) : alone[gen_below(g, fit)];
    gen_emit(g, place, list, call_stm(g, callee->function, NULL));
    g->cost += place->times * callee->cost;
    g->exits += callee->exits;
    return true;
}
