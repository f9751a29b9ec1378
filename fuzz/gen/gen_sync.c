/*
 * Threads that wait for each other: spinning, barriers; atomics, votes, choices.
 */
#include "fuzz/gen/generator.h"

static struct ast_expr *tid(struct gen *g)
{
    return gen_builtin(g, BUILTIN_TID);
}

/* ---- spinning ---- */

/* A fresh shared variable to wait on; an old one when there are many. */
static struct ast_var *flag_var(struct gen *g, uint32_t length)
{
    bool is_array = length > 1;
    for (uint32_t i = 0; i < g->flag_count && g->flag_count == GEN_ARRAYS; i++)
        if (g->flags[i]->is_array == is_array)
            return g->flags[i];
    struct ast_var *flag = gen_file_var(g, 'w', SPACE_SHARED, length, is_array);
    if (g->flag_count < GEN_ARRAYS)
        g->flags[g->flag_count++] = flag;
    return flag;
}

static struct ast_stm *wait(struct gen *g, struct ast_expr *condition)
{
    struct ast_stm *stm = gen_stm(g, STM_WHILE);
    stm->value = condition;
    stm->body = gen_stm(g, STM_SKIP);
    return stm;
}

static struct ast_stm *add_one(struct gen *g, struct ast_var *var)
{
    return gen_set(g, var, gen_binary_int(g, BINARY_ADD, ast_var_ref(g->arena, var), 1));
}

/* simt-correctness, Program 2: if (tid == 0) lock = 1; else while (lock != 1) ; or reversed. */
static void spin_flag(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct ast_var *flag = flag_var(g, 1);
    int32_t leader = (int32_t)gen_below(g, g->kernel->launch.threads);
    struct ast_stm *set = gen_set(g, flag, ast_int(g->arena, 1));
    struct ast_stm *waits = wait(g, gen_binary_int(g, BINARY_NE, ast_var_ref(g->arena, flag), 1));
    if (gen_chance(g, 50))
        gen_emit(g, place, list,
                 gen_if(g, gen_binary_int(g, BINARY_NE, tid(g), leader), waits, set));
    else
        gen_emit(g, place, list,
                 gen_if(g, gen_binary_int(g, BINARY_EQ, tid(g), leader), set, waits));
}

/* Program 3: while (lock != tid) ; .. lock = lock + 1; */
static void spin_turn(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct ast_var *turn = flag_var(g, 1);
    gen_emit(g, place, list,
             wait(g, gen_binary(g, BINARY_NE, ast_var_ref(g->arena, turn), tid(g))));
    if (!g->options->small)
        gen_assign(g, place, list);
    gen_emit(g, place, list, add_one(g, turn));
}

/* Program 4: while (next != threads) { if (tid == next) { .. next = next + 1; } else ; } */
static void spin_round(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct gen_place inside = gen_inside(place);
    struct ast_var *next = flag_var(g, 1);
    struct gen_list body;
    gen_list_init(&body);
    if (gen_chance(g, 60))
        gen_assign(g, &inside, &body);
    gen_emit(g, &inside, &body, add_one(g, next));
    struct ast_expr *mine = gen_binary(g, BINARY_EQ, tid(g), ast_var_ref(g->arena, next));
    struct ast_stm *stm = gen_stm(g, STM_WHILE);
    stm->value =
        gen_binary(g, BINARY_NE, ast_var_ref(g->arena, next), gen_builtin(g, BUILTIN_THREADS));
    stm->body = gen_block(g, gen_if(g, mine, body.head, NULL));
    gen_emit(g, place, list, stm);
}

/* done[tid] = 1; while (done[(tid + 1) % threads] == 0) ; */
static void spin_notify(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct ast_var *done = flag_var(g, g->kernel->launch.threads);
    int32_t step = done->is_array ? 1 + (int32_t)gen_below(g, 2) : 0;
    struct ast_expr *other = gen_binary(g, BINARY_REM, gen_binary_int(g, BINARY_ADD, tid(g), step),
                                        gen_builtin(g, BUILTIN_THREADS));
    struct ast_stm *set = gen_stm(g, STM_ASSIGN);
    set->target.var = done;
    set->target.index = done->is_array ? tid(g) : NULL;
    set->value = ast_int(g->arena, 1);
    struct ast_expr *read =
        done->is_array ? ast_index(g->arena, done, other) : ast_var_ref(g->arena, done);
    gen_emit(g, place, list, set);
    gen_emit(g, place, list, wait(g, gen_binary_int(g, BINARY_EQ, read, 0)));
}

static struct ast_stm *atomic_stm(struct gen *g, enum ast_atomic atomic, struct ast_var *place)
{
    struct ast_stm *stm = gen_stm(g, STM_ATOMIC);
    stm->atomic = atomic;
    stm->place.var = place;
    return stm;
}

/* do x = atomic_cas(lock, 0, 1); while (x != 0); .. atomic_exch(lock, 0); */
static void spin_lock(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct ast_var *lock = flag_var(g, 1), *old = gen_local(g, 'e');
    struct ast_stm *take = atomic_stm(g, ATOMIC_CAS, lock);
    take->target.var = old;
    take->arguments = ast_int(g->arena, 0);
    take->arguments->next = ast_int(g->arena, 1);
    struct ast_stm *loop = gen_stm(g, STM_DO);
    loop->value = gen_binary_int(g, BINARY_NE, ast_var_ref(g->arena, old), 0);
    loop->body = take;
    gen_emit(g, place, list, loop);
    gen_assign(g, place, list);
    struct ast_stm *release = atomic_stm(g, ATOMIC_EXCH, lock);
    release->arguments = ast_int(g->arena, 0);
    gen_emit(g, place, list, release);
}

void gen_spin(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    uint32_t banned = g->kernel->launch.threads == 1 ? GEN_BAN(SPIN, NOTIFY) : 0;
    switch (gen_pick(g, GROUP_SPIN, banned)) {
    case W_SPIN_TURN:
        spin_turn(g, place, list);
        break;
    case W_SPIN_ROUND:
        spin_round(g, place, list);
        break;
    case W_SPIN_NOTIFY:
        spin_notify(g, place, list);
        break;
    case W_SPIN_LOCK:
        spin_lock(g, place, list);
        break;
    default:
        spin_flag(g, place, list);
        break;
    }
}

/* ---- barriers ---- */

bool gen_may_wait(const struct gen *g, const struct gen_place *place)
{
    bool all_come = place->uniform && g->ends == 0 && g->exits == 0;
    bool anywhere = g->position == W_POSITION_DIVERGENT && !g->apart;
    return g->barriers > 0 && (all_come || anywhere);
}

bool gen_calm_loop(struct gen *g, const struct gen_place *place)
{
    return place->uniform && gen_may_wait(g, place) && gen_chance(g, g->wants_loop ? 90 : 30);
}

struct ast_expr *gen_some_threads(struct gen *g)
{
    if (g->position == W_POSITION_DIVERGENT)
        return gen_split(g);
    switch (gen_below(g, 3)) {
    case 0:
        return gen_binary_int(g, BINARY_EQ, gen_builtin(g, BUILTIN_BID), 0);
    case 1:
        return gen_binary_int(g, BINARY_EQ, gen_builtin(g, BUILTIN_WARP), 0);
    default:
        return gen_binary_int(g, BINARY_NE, gen_builtin(g, BUILTIN_WARP), 1);
    }
}

static void plain_barrier(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    g->barriers -= g->barriers > 0;
    g->wants_loop = false;
    gen_emit(g, place, list, gen_stm(g, STM_BARRIER));
}

/* A slot of one's own, written; between two barriers, a read of any. */
static void exchange(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    const struct gen_slot *slot = &g->shared[0];
    struct ast_stm *write = gen_stm(g, STM_ASSIGN), *read = gen_stm(g, STM_ASSIGN);
    write->target = (struct ast_lvalue){.var = slot->var, .index = gen_slot_index(g, slot)};
    write->value = gen_value(g);
    int32_t distance = 1 + (int32_t)gen_below(g, 3);
    struct ast_expr *index =
        gen_masked(g, slot->var, gen_binary_int(g, BINARY_ADD, tid(g), distance));
    read->target.var = gen_draw_private(g);
    read->op = ASSIGN_XOR;
    read->value = ast_index(g->arena, slot->var, index);
    gen_emit(g, place, list, write);
    plain_barrier(g, place, list);
    gen_emit(g, place, list, read);
    plain_barrier(g, place, list);
}

static void barrier_loop(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct gen_place inside = gen_inside(place);
    uint32_t trips = 1 + gen_below(g, 3);
    inside.times = place->times * trips;
    struct ast_var *counter = gen_open_counter(g);
    g->wants_loop = false;
    struct gen_list body;
    gen_list_init(&body);
    gen_assign(g, &inside, &body);
    if (g->communication == W_COMMUNICATION_PHASED)
        exchange(g, &inside, &body);
    else
        plain_barrier(g, &inside, &body);
    g->scope->counters_open--;
    struct ast_stm *loop = gen_stm(g, STM_FOR);
    loop->init = gen_set(g, counter, ast_int(g->arena, 0));
    loop->value = gen_binary_int(g, BINARY_LT, ast_var_ref(g->arena, counter), (int32_t)trips);
    loop->step = gen_set(g, counter, ast_int(g->arena, 1));
    loop->step->op = ASSIGN_ADD;
    loop->body = gen_block(g, body.head);
    gen_emit(g, place, list, loop);
}

static struct ast_stm *named(struct gen *g, enum ast_stm_kind kind, struct ast_expr *name,
                             int32_t count)
{
    struct ast_stm *stm = gen_stm(g, kind);
    stm->value = name;
    stm->second = ast_int(g->arena, count);
    return stm;
}

/* How many threads a named barrier is told to expect, of the `exact` that come. */
static int32_t named_count(struct gen *g, uint32_t exact)
{
    uint32_t warp = g->kernel->launch.warp;
    switch (gen_pick(g, GROUP_ARRIVALS, 0)) {
    case W_ARRIVALS_PARTIAL:
        return (int32_t)(warp < exact ? warp : exact);
    case W_ARRIVALS_WRONG:
        return (int32_t)(exact + (gen_chance(g, 50) ? warp : 1));
    default:
        return (int32_t)exact;
    }
}

/* The threads of one warp by themselves. */
static void barrier_warp(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    const struct ast_launch *launch = &g->kernel->launch;
    uint32_t lanes = launch->warp < launch->threads ? launch->warp : launch->threads;
    struct ast_expr *first = gen_binary_int(g, BINARY_EQ, gen_builtin(g, BUILTIN_WARP), 0);
    int32_t name = 1 + (int32_t)gen_below(g, 14), count = named_count(g, lanes);
    struct ast_stm *sync = named(g, STM_SYNC, ast_int(g->arena, name), count);
    uint32_t warps = (launch->threads + launch->warp - 1) / launch->warp;
    if (warps <= 14 && gen_chance(g, 30)) { /* each of them: the number is the warp's */
        sync->value = gen_binary_int(g, BINARY_ADD, gen_builtin(g, BUILTIN_WARP), 1);
        if (launch->threads % launch->warp == 0 && gen_chance(g, 50))
            sync->second = gen_builtin(g, BUILTIN_WARP_SIZE);
        gen_emit(g, place, list, sync);
        return;
    }
    gen_emit(g, place, list, gen_if(g, first, sync, NULL));
    g->left--;
}

/* if (tid < k) arrive(b, threads); else sync(b, threads); */
static void barrier_pair(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    const struct ast_launch *launch = &g->kernel->launch;
    int32_t name = 1 + (int32_t)gen_below(g, 15), count = named_count(g, launch->threads);
    struct ast_expr *producers = gen_chance(g, 70)
                                     ? gen_binary_int(g, BINARY_EQ, gen_builtin(g, BUILTIN_WARP), 0)
                                     : gen_condition(g);
    struct ast_stm *arrive = named(g, STM_ARRIVE, ast_int(g->arena, name), count);
    struct ast_stm *sync = named(g, STM_SYNC, ast_int(g->arena, name), count);
    if (g->shared_count > 0 && gen_has(g, FEATURE_RACY) && gen_chance(g, 35))
        gen_race_behind_arrival(g, arrive, sync);
    gen_emit(g, place, list, gen_if(g, producers, arrive, sync));
    g->left -= 2;
}

static struct ast_stm *call_of(struct gen *g, struct ast_function *function, struct ast_expr *depth)
{
    struct ast_stm *call = gen_stm(g, STM_CALL);
    call->function = function;
    call->arguments = function->parameter_count > 0 ? depth : NULL;
    return call;
}

/* A function's parameter, which is the first of its variables. */
static struct ast_var *depth_parameter(struct gen *g, struct gen_scope *scope)
{
    struct gen_scope *outer = g->scope;
    g->scope = scope;
    struct ast_var *depth = gen_local(g, 'p');
    g->scope = outer;
    depth->is_parameter = true;
    scope->function->parameter_count = 1;
    return depth;
}

/* if (depth > 0) f(depth - 1); else ..: calls of a function that calls itself are not inlined. */
static struct ast_stm *behind_recursion(struct gen *g, struct ast_function *function,
                                        struct ast_var *depth, struct ast_stm *rest)
{
    struct ast_expr *less = gen_binary_int(g, BINARY_SUB, ast_var_ref(g->arena, depth), 1);
    struct ast_expr *more = gen_binary_int(g, BINARY_GT, ast_var_ref(g->arena, depth), 0);
    return gen_if(g, more, call_of(g, function, less), rest);
}

/* Languages of others have no recursion. */
static bool draw_recursion(struct gen *g, uint32_t percent)
{
    return !(g->features & GEN_PORTABLE) && gen_chance(g, percent);
}

/* Behind all other functions, or in front of those that it calls. */
static void add_function(struct gen *g, struct ast_function *function)
{
    if (g->kernel->functions && !(g->features & GEN_PORTABLE) && gen_chance(g, 50)) {
        function->next = g->kernel->functions;
        g->kernel->functions = function;
        return;
    }
    *g->functions_end = function;
    g->functions_end = &function->next;
}

/* void f() { barrier(); }, or another function that calls it; or one that calls itself first. */
static struct ast_function *waiting_function(struct gen *g, struct ast_function *inner)
{
    struct ast_function *function = ARENA_NEW(g->arena, struct ast_function);
    function->name = gen_function_name(g);
    function->body = inner ? call_of(g, inner, ast_int(g->arena, 0)) : gen_stm(g, STM_BARRIER);
    if (draw_recursion(g, inner ? 80 : 60)) {
        struct gen_scope scope = {.function = function, .locals_end = &function->locals};
        function->body = behind_recursion(g, function, depth_parameter(g, &scope), function->body);
    }
    add_function(g, function);
    return function;
}

/* One barrier that is reached on several ways: a function's, whose calls stand apart. NULL: none. */
static struct ast_function *barrier_elsewhere(struct gen *g)
{
    if (g->alone || !gen_has(g, FEATURE_CALLS))
        return NULL;
    struct ast_function *function = waiting_function(g, NULL);
    for (uint32_t calls = (gen_below(g, 4) + 1) / 2; calls > 0; calls--)
        function = waiting_function(g, function);
    return function;
}

static void wait_or_call(struct gen *g, const struct gen_place *place, struct gen_list *list,
                         struct ast_function *function)
{
    if (!function) {
        plain_barrier(g, place, list);
        return;
    }
    struct ast_expr *depth = ast_int(g->arena, (int32_t)gen_below(g, 3) / 2);
    gen_emit(g, place, list, call_of(g, function, depth));
    g->cost += 10 * place->times;
    g->barriers -= g->barriers > 0;
}

/* if (some) f(); else f(); with the barrier in f: not the same one by its call string. */
static void barrier_calls(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct gen_place inside = gen_inside(place);
    struct ast_function *function = barrier_elsewhere(g);
    struct gen_list body, other;
    gen_list_init(&body);
    gen_list_init(&other);
    struct ast_expr *condition = gen_split(g);
    wait_or_call(g, &inside, &body, function);
    wait_or_call(g, &inside, &other, function);
    gen_emit(g, place, list, gen_if(g, condition, body.head, other.head));
}

static struct ast_stm *counting_loop(struct gen *g, struct ast_var *counter, struct ast_expr *trips,
                                     struct ast_stm *body)
{
    struct ast_stm *loop = gen_stm(g, STM_FOR);
    loop->init = gen_set(g, counter, ast_int(g->arena, 0));
    loop->value = gen_binary(g, BINARY_LT, ast_var_ref(g->arena, counter), trips);
    loop->step = gen_set(g, counter, ast_int(g->arena, 1));
    loop->step->op = ASSIGN_ADD;
    loop->body = gen_block(g, body);
    return loop;
}

/* Of all turns of a loop each number below `turns` once: which one in which turn depends on the thread. */
static struct ast_expr *other_each_turn(struct gen *g, struct ast_var *turn, int32_t turns)
{
    struct ast_expr *number = gen_builtin(g, gen_chance(g, 60) ? BUILTIN_TID : BUILTIN_WARP);
    struct ast_expr *i = ast_var_ref(g->arena, turn);
    if (turns == 3)
        return gen_binary_int(g, BINARY_REM, gen_binary(g, BINARY_ADD, number, i), turns);
    return gen_binary_int(g, BINARY_AND, gen_binary(g, BINARY_XOR, number, i), 1);
}

/* for (i = 0; i < 2; i++) for (j = 0; j < ((number ^ i) & 1) + k; j++) barrier(); all threads wait equally often, but
 * in other turns of the loop around: the first numbers of one meet the second ones of another. Or three turns, of 0, 1
 * and 2 waits. */
static void barrier_turns(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct gen_place outside = gen_inside(place), inside = gen_inside(&outside);
    struct ast_function *function = !g->alone && gen_chance(g, 55) ? barrier_elsewhere(g) : NULL;
    struct ast_var *i = gen_open_counter(g), *j = gen_open_counter(g);
    struct gen_list body, inner;
    gen_list_init(&body);
    gen_list_init(&inner);
    const int32_t turns = gen_has(g, FEATURE_ARITHMETIC) && gen_chance(g, 40) ? 3 : 2;
    outside.times = place->times * (uint32_t)turns;
    inside.times = place->times * 3 * ((uint32_t)turns - 1);
    g->cost += 12 * (uint32_t)turns * place->times;
    struct ast_expr *trips = other_each_turn(g, i, turns);
    uint32_t form = gen_below(g, 5);
    if (form < 2)
        trips = gen_binary_int(g, BINARY_ADD, trips, 1);
    wait_or_call(g, &inside, &inner, function);
    if (gen_chance(g, 40))
        gen_assign(g, &outside, &body);
    if (form == 2) /* or once a turn of the inner loop, in one turn of the outer one */
        inner.head = counting_loop(g, j, ast_int(g->arena, 2), inner.head);
    gen_emit(g, &outside, &body,
             form < 2 || form == 4 ? counting_loop(g, j, trips, inner.head)
                                   : gen_if(g, trips, inner.head, NULL));
    g->scope->counters_open -= 2;
    gen_emit(g, place, list, counting_loop(g, i, ast_int(g->arena, turns), body.head));
}

/* for (i = 0; i < 2; i++) f();  with  void f() { for (j ..) for (k ..) { barrier(); if (last && some) return; } }
 *
 * All threads wait equally often, but some leave all loops of f at once, and the others one loop after the other. In
 * the next turn they meet where each loop begins. */
static void barrier_left(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct ast_function *function = ARENA_NEW(g->arena, struct ast_function);
    struct gen_scope scope = {.function = function, .locals_end = &function->locals},
                     *outer = g->scope;
    struct gen_place inside = {.depth = 2, .times = 4 * place->times};
    uint32_t loops = 2 + gen_below(g, 2), trips = 1 + gen_below(g, 3);
    struct gen_list body, call;
    gen_list_init(&body);
    gen_list_init(&call);
    function->name = gen_function_name(g);
    g->scope = &scope;
    scope.values[scope.value_count++] = gen_scalar(g);
    for (uint32_t i = 0; i < loops; i++)
        gen_open_counter(g);
    plain_barrier(g, &inside, &body);
    struct ast_expr *leave = gen_split(g);
    if (trips > 1)
        leave = gen_binary(g, BINARY_LOGICAL_AND,
                           gen_binary_int(g, BINARY_EQ,
                                          ast_var_ref(g->arena, scope.counters[loops - 1]),
                                          (int32_t)trips - 1),
                           leave);
    gen_emit(g, &inside, &body, gen_if(g, leave, gen_stm(g, STM_RETURN), NULL));
    for (uint32_t i = loops; i-- > 0; trips = 1) {
        struct ast_expr *most = ast_int(g->arena, (int32_t)trips);
        body.head = counting_loop(g, scope.counters[i], most, body.head);
    }
    function->body = gen_block(g, body.head);
    g->scope = outer;
    *g->functions_end = function;
    g->functions_end = &function->next;
    g->cost += 40 * place->times;
    struct ast_var *turn = gen_open_counter(g);
    gen_emit(g, place, &call, call_of(g, function, NULL));
    if (gen_chance(g, 40))
        gen_assign(g, place, &call);
    g->scope->counters_open--;
    struct ast_expr *turns = ast_int(g->arena, gen_chance(g, 30) ? 3 : 2);
    gen_emit(g, place, list, counting_loop(g, turn, turns, call.head));
}

/* The same, or called, so that the loops are another frame's. */
static void barrier_phase(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    if (g->alone || !gen_has(g, FEATURE_CALLS) || !gen_chance(g, 35)) {
        barrier_turns(g, place, list);
        return;
    }
    struct ast_function *function = ARENA_NEW(g->arena, struct ast_function);
    struct gen_scope scope = {.function = function, .locals_end = &function->locals}, *outer;
    struct gen_list body;
    gen_list_init(&body);
    function->name = gen_function_name(g);
    struct ast_var *deep = draw_recursion(g, 50) ? depth_parameter(g, &scope) : NULL;
    outer = g->scope;
    g->scope = &scope;
    scope.values[scope.value_count++] = gen_scalar(g); /* for what stands between the loops */
    barrier_turns(g, place, &body);
    g->scope = outer;
    function->body = gen_block(g, body.head);
    if (deep)
        function->body = behind_recursion(g, function, deep, function->body);
    *g->functions_end = function;
    g->functions_end = &function->next;
    /* Each call begins its loops anew. */
    for (uint32_t calls = 1 + gen_below(g, 2); calls > 0; calls--) {
        struct ast_expr *depth = ast_int(g->arena, (int32_t)gen_below(g, 2));
        gen_emit(g, place, list, call_of(g, function, depth));
        g->cost += 10 * place->times;
        if (calls > 1 && gen_chance(g, 40))
            gen_assign(g, place, list);
    }
}

/* if (some) barrier(); [else another one;] */
static void some_wait(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct gen_place inside = gen_inside(place);
    struct gen_list body, other;
    gen_list_init(&body);
    gen_list_init(&other);
    struct ast_expr *condition = gen_some_threads(g);
    plain_barrier(g, &inside, &body);
    if (gen_chance(g, 25))
        plain_barrier(g, &inside, &other);
    gen_emit(g, place, list, gen_if(g, condition, body.head, other.head));
}

void gen_barrier(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    if (g->apart && !g->graph) {
        bool affords =
            gen_affords(g, place->times, 40) && g->scope->counters_open + 2 <= GEN_COUNTERS;
        bool loops = affords && gen_has(g, FEATURE_LOOPS);
        bool returns = loops && !g->alone && gen_has(g, FEATURE_CALLS);
        if (returns && gen_has(g, FEATURE_LOGIC) && gen_chance(g, 25))
            barrier_left(g, place, list);
        else if (loops && (g->alone || gen_chance(g, 50)))
            barrier_phase(g, place, list);
        else
            barrier_calls(g, place, list);
        g->barriers = 0;
        return;
    }
    if (!g->graph && place->uniform && g->position != W_POSITION_UNIFORM && gen_chance(g, 50)) {
        some_wait(g, place, list);
        return;
    }
    uint32_t banned = 0;
    bool exchanges = g->communication == W_COMMUNICATION_PHASED ||
                     g->communication == W_COMMUNICATION_NEIGHBOUR ||
                     g->communication == W_COMMUNICATION_RACY;
    if (!exchanges || g->shared_count == 0 || !place->uniform)
        banned |= GEN_BAN(BARRIER, EXCHANGE);
    if (!place->uniform || g->graph)
        banned |= GEN_BAN(BARRIER, LOOP);
    if (g->graph || g->rare != W_RARE_NAMED)
        banned |= GEN_BAN(BARRIER, WARP) | GEN_BAN(BARRIER, PAIR);
    bool in_loop = g->wants_loop && !(banned & GEN_BAN(BARRIER, LOOP)) && gen_has(g, FEATURE_LOOPS);
    switch (in_loop ? W_BARRIER_LOOP : gen_pick(g, GROUP_BARRIER, banned)) {
    case W_BARRIER_EXCHANGE:
        exchange(g, place, list);
        break;
    case W_BARRIER_LOOP:
        barrier_loop(g, place, list);
        break;
    case W_BARRIER_WARP:
        barrier_warp(g, place, list);
        break;
    case W_BARRIER_PAIR:
        barrier_pair(g, place, list);
        break;
    default:
        /* One that stands in a function, which all threads call. */
        if (place->uniform && !g->graph && !g->options->small && gen_chance(g, 12))
            wait_or_call(g, place, list, barrier_elsewhere(g));
        else
            plain_barrier(g, place, list);
        break;
    }
}

/* ---- atomics, votes, choices ---- */

/* What an atomic operation works with: a leaf as a rule. */
static struct ast_expr *operand(struct gen *g)
{
    return !g->options->small && gen_chance(g, 25) ? gen_value(g) : gen_leaf(g);
}

/* Where the old value goes: a private scalar as a rule, in block form always; elsewhere it is written in a step of its
 * own. */
static struct ast_lvalue old_value(struct gen *g)
{
    if (!g->graph && !g->options->small && gen_chance(g, 20))
        return gen_target(g);
    return (struct ast_lvalue){.var = gen_draw_private(g)};
}

/* x = number with a sign; [y =] atomic_op(x, ..), x private: nobody else sees it. */
static void private_atomic(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct ast_lvalue x = gen_own_target(g);
    struct ast_stm *stm = atomic_stm(g, (enum ast_atomic)gen_below(g, ATOMIC_COUNT), x.var);
    stm->place = x;
    int32_t less = (int32_t)gen_below(g, g->kernel->launch.threads + 1),
            most = (int32_t)gen_below(g, 4);
    if (!x.index && gen_chance(g, 60))
        gen_emit(g, place, list, gen_set(g, x.var, gen_binary_int(g, BINARY_SUB, tid(g), less)));
    stm->arguments = operand(g);
    if (gen_chance(g, 40))
        stm->arguments = gen_binary_int(g, BINARY_SUB, stm->arguments, most);
    if (stm->atomic == ATOMIC_CAS)
        stm->arguments->next = operand(g);
    if (gen_chance(g, 50))
        stm->target = old_value(g);
    gen_emit(g, place, list, stm);
}

/* Most kernels have one operation whose old value nobody takes: the order cannot be seen. */
void gen_atomic(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    if (g->private_atomics && (g->racy_count == 0 || gen_chance(g, 50))) {
        private_atomic(g, place, list);
        return;
    }
    struct ast_var *var = g->racy[gen_below(g, g->racy_count)];
    bool quiet = g->quiet_atomic != ATOMIC_COUNT;
    struct ast_stm *stm =
        atomic_stm(g, quiet ? g->quiet_atomic : (enum ast_atomic)gen_below(g, ATOMIC_COUNT), var);
    if (var->is_array)
        stm->place.index = gen_masked(g, var, gen_index_value(g));
    stm->arguments = operand(g);
    if (stm->atomic == ATOMIC_CAS)
        stm->arguments->next = operand(g);
    if (!quiet && gen_chance(g, 50))
        stm->target = old_value(g);
    if (gen_has(g, FEATURE_RACY) && gen_chance(g, g->options->small ? 20 : 5))
        gen_plain_access(g, place, list, stm);
    gen_emit(g, place, list, stm);
}

void gen_vote(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct ast_stm *stm = gen_stm(g, STM_VOTE);
    stm->vote = (enum ast_vote)gen_below(g, VOTE_COUNT);
    stm->target = old_value(g);
    stm->value = gen_condition(g);
    gen_emit(g, place, list, stm);
}

void gen_choice(struct gen *g, const struct gen_place *place, struct gen_list *list)
{
    struct ast_stm *stm = gen_stm(g, STM_HAVOC);
    stm->place = gen_target(g);
    gen_emit(g, place, list, stm);
}
