/*
 * Kernels whose threads' paths are known beforehand ("fleshing"): a random reducible graph whose
 * every branch reads the thread's next direction from a table, and whose blocks write their numbers
 * down. What must be written follows from the table alone, without any semantics: the kernel says it
 * in an expectation.
 *
 * Exactly the reducible graphs grow from a single node by T1 and T2 of Hecht and Ullman backwards: a
 * node gets an edge to itself, or is split into two, the second of which only the first goes to.
 */
#include "fuzz/graphs/gen_blocks.h"

#include "engine/base/invariant.h"

enum {
    NODES_MAX = 24,
    TARGETS_MAX = 4,
    NODE_END = NODES_MAX, /* as a target */
    WALK_MAX = 24,        /* nodes of a path; from there it takes the shortest way to the end ... */
    PATH_MAX = WALK_MAX + NODES_MAX,
    WORDS_MAX = 600, /* of the expectation, where paths are written in full */
};

struct flesh_node {
    uint32_t count, targets[TARGETS_MAX];
    uint32_t distance; /* edges to the end, at least */
    uint32_t sources;  /* edges to it */
    struct ast_block *block;
};

struct flesh {
    struct flesh_node nodes[NODES_MAX];
    uint32_t count;
    uint32_t threads;                      /* of the grid */
    uint32_t *lengths, *directions_count;  /* a thread */
    uint32_t *paths, *directions;          /* PATH_MAX a thread */
    uint32_t longest, most_directions;     /* of any thread; at least 1 */
    bool in_full;                          /* paths are written in full, not hashed */
    struct ast_var *table, *trace;         /* global */
    struct ast_var *next, *written, *temp; /* private: read and written so far; the direction */
};

/* ---- the graph ---- */

static bool goes_to(const struct flesh_node *node, uint32_t target)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->targets[i] == target)
            return true;
    return false;
}

static void add_target(struct flesh_node *node, uint32_t target)
{
    INVARIANT(node->count < TARGETS_MAX);
    node->targets[node->count++] = target;
}

/* Each target of the first goes to the first, the second, or both. */
static void split(struct gen *g, struct flesh *f, uint32_t n)
{
    struct flesh_node *node = &f->nodes[n], *second = &f->nodes[f->count], old = *node;
    node->count = 0;
    add_target(node, f->count++);
    for (uint32_t i = 0; i < old.count; i++) {
        uint32_t who = gen_below(g, 4);
        bool last = i + 1 == old.count && second->count == 0;
        bool full = node->count == TARGETS_MAX;
        if ((who == 0 || who == 3) && !full)
            add_target(node, old.targets[i]);
        if (who != 0 || full || last)
            add_target(second, old.targets[i]);
    }
}

static void grow(struct gen *g, struct flesh *f)
{
    uint32_t steps = 2 + gen_below(g, 2 * NODES_MAX);
    f->count = 1;
    add_target(&f->nodes[0], NODE_END);
    for (uint32_t i = 0; i < steps && f->count < NODES_MAX; i++) {
        uint32_t n = gen_below(g, f->count);
        struct flesh_node *node = &f->nodes[n];
        if (gen_chance(g, 35) && node->count < TARGETS_MAX && !goes_to(node, n))
            add_target(node, n);
        else
            split(g, f, n);
    }
    for (uint32_t n = 0; n < f->count; n++)
        for (uint32_t i = 0; i < f->nodes[n].count; i++)
            if (f->nodes[n].targets[i] != NODE_END)
                f->nodes[f->nodes[n].targets[i]].sources++;
}

static uint32_t distance_of(const struct flesh *f, uint32_t target)
{
    return target == NODE_END ? 0 : f->nodes[target].distance;
}

static void measure(struct flesh *f)
{
    for (uint32_t n = 0; n < f->count; n++)
        f->nodes[n].distance = NODES_MAX + 1;
    for (uint32_t round = 0; round < f->count; round++)
        for (uint32_t n = 0; n < f->count; n++)
            for (uint32_t i = 0; i < f->nodes[n].count; i++) {
                uint32_t distance = 1 + distance_of(f, f->nodes[n].targets[i]);
                if (distance < f->nodes[n].distance)
                    f->nodes[n].distance = distance;
            }
}

/* ---- the paths ---- */

static uint32_t shortest(const struct flesh *f, const struct flesh_node *node)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < node->count; i++)
        if (distance_of(f, node->targets[i]) < distance_of(f, node->targets[best]))
            best = i;
    return best;
}

static void walk(struct gen *g, struct flesh *f, uint32_t thread)
{
    uint32_t *path = &f->paths[thread * PATH_MAX], *directions = &f->directions[thread * PATH_MAX];
    uint32_t most = gen_below(g, WALK_MAX), length = 0, taken = 0, n = 0;
    while (n != NODE_END) {
        const struct flesh_node *node = &f->nodes[n];
        INVARIANT(length < PATH_MAX);
        path[length++] = n;
        uint32_t direction = length > most ? shortest(f, node) : gen_below(g, node->count);
        if (node->count > 1)
            directions[taken++] = direction;
        n = node->targets[direction];
    }
    f->lengths[thread] = length;
    f->directions_count[thread] = taken;
    f->longest = length > f->longest ? length : f->longest;
    f->most_directions = taken > f->most_directions ? taken : f->most_directions;
}

static void walk_all(struct gen *g, struct flesh *f)
{
    f->threads = g->total_threads;
    f->lengths = ARENA_ARRAY(g->arena, uint32_t, f->threads);
    f->directions_count = ARENA_ARRAY(g->arena, uint32_t, f->threads);
    f->paths = ARENA_ARRAY(g->arena, uint32_t, f->threads * PATH_MAX);
    f->directions = ARENA_ARRAY(g->arena, uint32_t, f->threads * PATH_MAX);
    f->longest = f->most_directions = 1;
    for (uint32_t thread = 0; thread < f->threads; thread++)
        walk(g, f, thread);
    f->in_full = f->threads * f->longest <= WORDS_MAX && gen_chance(g, 60);
}

/* ---- what must be written ---- */

enum { HASH_FACTOR = 31 };

static void expect_trace(struct gen *g, const struct flesh *f)
{
    struct ast_expect *expect = ARENA_NEW(g->arena, struct ast_expect);
    expect->claim = CLAIM_FINAL;
    expect->var = f->trace;
    expect->value_count = f->trace->length;
    expect->values = ARENA_ARRAY(g->arena, int32_t, f->trace->length);
    for (uint32_t thread = 0; thread < f->threads; thread++)
        for (uint32_t i = 0; i < f->lengths[thread]; i++) {
            int32_t number = 1 + (int32_t)f->paths[thread * PATH_MAX + i];
            int32_t *hash = &expect->values[thread];
            if (f->in_full)
                expect->values[thread * f->longest + i] = number;
            else
                *hash = ast_eval_binary(BINARY_ADD, ast_eval_binary(BINARY_MUL, *hash, HASH_FACTOR),
                                        number);
        }
    g->kernel->expects = expect;
}

static void declare(struct gen *g, struct flesh *f)
{
    f->table = gen_file_var(g, 'd', SPACE_GLOBAL, f->threads * f->most_directions, true);
    f->table->init_count = f->table->length;
    f->table->init = ARENA_ARRAY(g->arena, int32_t, f->table->length);
    for (uint32_t thread = 0; thread < f->threads; thread++)
        for (uint32_t i = 0; i < f->directions_count[thread]; i++)
            f->table->init[thread * f->most_directions + i] =
                (int32_t)f->directions[thread * PATH_MAX + i];
    uint32_t words = f->in_full ? f->longest : 1;
    f->trace = gen_file_var(g, 't', SPACE_GLOBAL, f->threads * words, true);
    f->next = gen_local(g, 'n');
    f->written = gen_local(g, 'n');
    f->temp = gen_local(g, 'q');
}

/* ---- the blocks ---- */

/* thread * words + number */
static struct ast_expr *row(struct gen *g, uint32_t words, struct ast_var *number)
{
    struct ast_expr *index = gen_thread(g, true);
    if (words > 1)
        index = gen_binary_int(g, BINARY_MUL, index, (int32_t)words);
    if (number)
        index = gen_binary(g, BINARY_ADD, index, ast_var_ref(g->arena, number));
    return index;
}

static void emit(struct gen *g, struct ast_stm *stm)
{
    gen_append(&g->graph->list, stm);
}

static void add_one(struct gen *g, struct ast_var *var)
{
    emit(g, gen_set(g, var, gen_binary_int(g, BINARY_ADD, ast_var_ref(g->arena, var), 1)));
}

static void write_down(struct gen *g, const struct flesh *f, uint32_t n)
{
    struct ast_stm *stm = gen_stm(g, STM_ASSIGN);
    stm->target.var = f->trace;
    if (f->in_full) {
        stm->target.index = row(g, f->longest, f->written);
        stm->value = ast_int(g->arena, 1 + (int32_t)n);
    } else {
        struct ast_expr *hash = ast_index(g->arena, f->trace, row(g, 1, NULL));
        stm->target.index = row(g, 1, NULL);
        stm->value = gen_binary_int(g, BINARY_ADD, gen_binary_int(g, BINARY_MUL, hash, HASH_FACTOR),
                                    1 + (int32_t)n);
    }
    emit(g, stm);
    if (f->in_full)
        add_one(g, f->written);
}

static struct ast_block *block_of(const struct flesh *f, uint32_t target)
{
    return target == NODE_END ? NULL : f->nodes[target].block;
}

/* That direction i of n was read. */
static struct ast_expr *direction_guard(struct gen *g, const struct flesh *f, uint32_t i,
                                        uint32_t n)
{
    if (n == 2)
        return gen_guard(g, f->temp, i == 0);
    enum ast_binary op = i == 0 ? BINARY_LE : i + 1 == n ? BINARY_GE : BINARY_EQ;
    return gen_binary_int(g, op, ast_var_ref(g->arena, f->temp), (int32_t)i);
}

/* Whether an edge has a block of its own, with the guard: where its target has other sources. */
static bool stands_between(const struct flesh *f, uint32_t target)
{
    return target == NODE_END || target == 0 || f->nodes[target].sources > 1;
}

/* The guard of a node that one edge of a branch goes to; NULL: none. */
static struct ast_expr *entry_guard(struct gen *g, const struct flesh *f, uint32_t target)
{
    for (uint32_t n = 0; n < f->count && !stands_between(f, target); n++)
        for (uint32_t i = 0; f->nodes[n].count > 1 && i < f->nodes[n].count; i++)
            if (f->nodes[n].targets[i] == target)
                return direction_guard(g, f, i, f->nodes[n].count);
    return NULL;
}

static void leave_node(struct gen *g, const struct flesh *f, const struct gen_place *place,
                       const struct flesh_node *node)
{
    struct ast_block *targets[TARGETS_MAX];
    if (node->count == 1) {
        gen_block_goto(g, block_of(f, node->targets[0]));
        return;
    }
    emit(g,
         gen_set(g, f->temp, ast_index(g->arena, f->table, row(g, f->most_directions, f->next))));
    add_one(g, f->next);
    for (uint32_t i = 0; i < node->count; i++)
        targets[i] =
            stands_between(f, node->targets[i]) ? gen_block_new(g) : block_of(f, node->targets[i]);
    gen_block_targets(g, targets, node->count);
    for (uint32_t i = 0; i < node->count; i++)
        if (stands_between(f, node->targets[i])) {
            gen_block_open(g, place, targets[i], direction_guard(g, f, i, node->count));
            gen_block_goto(g, block_of(f, node->targets[i]));
        }
}

void gen_directions_main(struct gen *g)
{
    struct flesh *f = ARENA_NEW(g->arena, struct flesh);
    struct ast_function *function = g->kernel->main;
    struct gen_graph graph = {.function = function, .end = &function->blocks};
    struct gen_place place = {.times = 1};
    g->graph = &graph;
    g->features &= ~(1u << FEATURE_OOB); /* it would end before its trace is written */
    graph.explicit_1 = gen_chance(g, 50);
    grow(g, f);
    measure(f);
    walk_all(g, f);
    declare(g, f);
    expect_trace(g, f);
    for (uint32_t n = 0; n < f->count; n++)
        f->nodes[n].block = gen_block_new(g);
    f->nodes[0].block->name = "Start";
    for (uint32_t n = 0; n < f->count; n++) {
        gen_block_open(g, &place, f->nodes[n].block, entry_guard(g, f, n));
        write_down(g, f, n);
        if (gen_chance(g, 20))
            gen_assign(g, &place, &graph.list);
        leave_node(g, f, &place, &f->nodes[n]);
    }
    gen_blocks_finish(g);
    g->graph = NULL;
}
