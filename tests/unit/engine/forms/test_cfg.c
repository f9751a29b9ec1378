/*
 * Graphs of functions in block form against brute force by the definitions: dominators, reducibility,
 * natural loops, sort orders. The loops and orders of the paper's kernels: tests/cases/engine/forms.
 */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/forms/cfg.h"

#include <stdlib.h>

/* ---- graphs ---- */

enum { NODES = 12 };

struct graph {
    uint32_t count;
    bool edge[NODES][NODES + 1]; /* [count]: to End */
};

static void add_target(struct ast_block *block, struct ast_block *target)
{
    block->targets[block->target_count++] = target;
}

/* The graph as a function; a block without successor goes to End. */
static struct ast_function *function_of(const struct graph *g)
{
    struct ast_function *function = ARENA_NEW(&test_arena, struct ast_function);
    struct ast_block *blocks = ARENA_ARRAY(&test_arena, struct ast_block, g->count);
    for (uint32_t b = 0; b < g->count; b++) {
        blocks[b].name = arena_printf(&test_arena, "B%u", (unsigned)b);
        blocks[b].at = (struct location){b + 1, 1};
        blocks[b].next = b + 1 < g->count ? &blocks[b + 1] : NULL;
        blocks[b].targets = ARENA_ARRAY(&test_arena, struct ast_block *, NODES + 1);
        for (uint32_t t = 0; t < g->count; t++)
            if (g->edge[b][t])
                add_target(&blocks[b], &blocks[t]);
        if (g->edge[b][g->count] || blocks[b].target_count == 0)
            add_target(&blocks[b], NULL);
    }
    function->blocks = blocks;
    return function;
}

static struct graph random_graph(struct pcg *rng)
{
    struct graph g = {.count = 1 + pcg_below(rng, NODES)};
    for (uint32_t b = 1; b < g.count; b++)
        g.edge[pcg_below(rng, b)][b] = true;
    for (uint32_t extra = pcg_below(rng, 2 * g.count); extra > 0; extra--)
        g.edge[pcg_below(rng, g.count)][pcg_below(rng, g.count + 1)] = true;
    return g;
}

/* Reducible by construction: from one node, by undoing the interval reductions T1 (drop a self loop) and
 * T2 (merge a node into its only predecessor). */
static struct graph reducible_graph(struct pcg *rng)
{
    struct graph g = {.count = 1};
    uint32_t wanted = 1 + pcg_below(rng, NODES);
    while (g.count < wanted) {
        uint32_t from = pcg_below(rng, g.count), node = g.count++;
        if (pcg_below(rng, 3) == 0)
            g.edge[from][from] = true;
        for (uint32_t t = 0; t < node; t++)
            if (g.edge[from][t] && pcg_below(rng, 2)) {
                g.edge[node][t] = true;
                if (pcg_below(rng, 2))
                    g.edge[from][t] = false;
            }
        g.edge[from][node] = true;
    }
    /* Not the order of construction, but the entry stays the first. */
    uint32_t name[NODES];
    for (uint32_t b = 0; b < g.count; b++)
        name[b] = b;
    for (uint32_t b = g.count; b-- > 2;) {
        uint32_t other = 1 + pcg_below(rng, b), swap = name[b];
        name[b] = name[other];
        name[other] = swap;
    }
    struct graph named = {.count = g.count};
    for (uint32_t b = 0; b < g.count; b++)
        for (uint32_t t = 0; t < g.count; t++)
            named.edge[name[b]][name[t]] = g.edge[b][t];
    return named;
}

/* ---- brute force ---- */

/* Whether there is a path of at least one edge without the node `without`. */
static bool path(const struct graph *g, uint32_t from, uint32_t to, uint32_t without)
{
    bool seen[NODES] = {false};
    for (uint32_t round = 0; round < g->count; round++)
        for (uint32_t b = 0; b < g->count; b++)
            for (uint32_t t = 0; t < g->count; t++)
                if ((b == from || seen[b]) && b != without && t != without && g->edge[b][t])
                    seen[t] = true;
    return seen[to];
}

static bool dominates(const struct graph *g, uint32_t a, uint32_t b)
{
    return a == b || a == 0 || (b != 0 && !path(g, 0, b, a));
}

static struct graph without_back_edges(const struct graph *g)
{
    struct graph result = *g;
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t t = 0; t < g->count; t++)
            if (dominates(g, t, b))
                result.edge[b][t] = false;
    return result;
}

static bool acyclic(const struct graph *g)
{
    for (uint32_t b = 0; b < g->count; b++)
        if (path(g, b, b, NODES))
            return false;
    return true;
}

static bool all_reachable(const struct graph *g)
{
    for (uint32_t b = 1; b < g->count; b++)
        if (!path(g, 0, b, NODES))
            return false;
    return true;
}

/* CFG.loop: the head, and what reaches the source of a back edge without passing the head. */
static bool in_loop(const struct graph *g, uint32_t head, uint32_t node)
{
    bool found = false, is_head = false;
    for (uint32_t b = 0; b < g->count; b++)
        if (g->edge[b][head] && dominates(g, head, b)) {
            is_head = true;
            found |= node == head || node == b || path(g, node, b, head);
        }
    return is_head && found;
}

/* PRED.sort.1 and PRED.sort.2, word by word. */
static bool order_valid(const struct graph *g, const uint32_t *position)
{
    struct graph forward = without_back_edges(g);
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t c = 0; c < g->count; c++)
            if (b != c && path(&forward, b, c, NODES) && position[b] > position[c])
                return false;
    for (uint32_t head = 0; head < g->count; head++) {
        bool member[NODES] = {false};
        for (uint32_t b = 0; b < g->count; b++)
            member[b] = in_loop(g, head, b);
        for (uint32_t b = 0; b < g->count; b++)
            for (uint32_t d = 0; d < g->count; d++)
                for (uint32_t c = 0; c < g->count; c++)
                    if (member[b] && member[d] && !member[c] && position[b] <= position[c] &&
                        position[c] <= position[d])
                        return false;
    }
    return true;
}

/* ---- properties ---- */

static void check_loops(const struct graph *g, const struct cfg *cfg)
{
    uint32_t heads = 0;
    for (uint32_t head = 0; head < g->count; head++)
        heads += in_loop(g, head, head);
    assert_int_equal(cfg->loop_count, heads);
    for (uint32_t i = 0; i < cfg->loop_count; i++) {
        for (uint32_t b = 0; b < g->count; b++)
            assert_int_equal(cfg_in_loop(cfg, i, b), in_loop(g, cfg->loops[i].head, b));
        /* The parent is the smallest of the loops around it, and stands later. */
        uint32_t parent = CFG_NO_LOOP, least = NODES + 1;
        for (uint32_t j = 0; j < cfg->loop_count; j++) {
            uint32_t size = 0;
            for (uint32_t b = 0; b < g->count; b++)
                size += cfg_in_loop(cfg, j, b);
            if (j == i || !cfg_in_loop(cfg, j, cfg->loops[i].head) || size >= least)
                continue;
            least = size;
            parent = j;
            assert_true(j > i);
        }
        assert_int_equal(cfg->loops[i].parent, parent);
    }
    for (uint32_t b = 0; b < g->count; b++) {
        uint32_t first = 0;
        while (first < cfg->loop_count && !in_loop(g, cfg->loops[first].head, b))
            first++;
        assert_int_equal(cfg->innermost[b], first < cfg->loop_count ? first : CFG_NO_LOOP);
    }
}

static void check_sort(const struct graph *g, struct cfg *cfg, uint64_t seed)
{
    uint32_t identity[NODES];
    for (uint32_t b = 0; b < g->count; b++)
        identity[b] = b;
    cfg_sort(&test_arena, cfg, 0);
    assert_true(cfg_order_valid(cfg));
    assert_true(order_valid(g, cfg->position));
    if (order_valid(g, identity))
        assert_memory_equal(cfg->order, identity, g->count * sizeof *identity);
    cfg_sort(&test_arena, cfg, seed);
    assert_true(cfg_order_valid(cfg));
    assert_true(order_valid(g, cfg->position));
}

/* Any permutation: the validator says what the definition says. */
static void check_validator(const struct graph *g, struct cfg *cfg, struct pcg *rng)
{
    for (uint32_t times = 0; times < 3; times++) {
        uint32_t a = pcg_below(rng, g->count), b = pcg_below(rng, g->count);
        uint32_t swap = cfg->order[a];
        cfg->order[a] = cfg->order[b];
        cfg->order[b] = swap;
        cfg->position[cfg->order[a]] = a;
        cfg->position[cfg->order[b]] = b;
        assert_int_equal(cfg_order_valid(cfg), order_valid(g, cfg->position));
    }
    if (g->count > 1) { /* a block twice, another one nowhere */
        uint32_t last = cfg->order[g->count - 1];
        cfg->order[g->count - 1] = cfg->order[0];
        assert_false(cfg_order_valid(cfg));
        cfg->order[g->count - 1] = last;
    }
}

/* What the message names is an edge into a cycle through the head, past the head, which does not
 * dominate the cycle. */
static void check_irreducible(const struct graph *g, const char *reason, struct location at)
{
    unsigned from, to, head;
    assert_int_equal(sscanf(reason,
                            "irreducible: the edge from 'B%u' to 'B%u' enters a loop past its "
                            "head 'B%u'",
                            &from, &to, &head),
                     3);
    assert_true(g->edge[from][to]);
    assert_int_equal(at.line, from + 1);
    assert_int_not_equal(to, head);
    assert_true(path(g, head, to, NODES) && path(g, to, head, NODES));
    assert_false(dominates(g, head, to));
    assert_false(dominates(g, head, from));
}

static void test_random(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(3, PCG_KERNEL, 0);
    uint32_t reducible = 0, irreducible = 0, valid_swaps = 0;
    for (uint32_t round = 0; round < 1500; round++) {
        size_t mark = arena_mark(&test_arena);
        bool constructed = round % 2;
        struct graph g = constructed ? reducible_graph(&rng) : random_graph(&rng);
        const char *reason = NULL;
        struct location at = {0, 0};
        struct cfg *cfg = cfg_build(&test_arena, function_of(&g), &reason, &at);
        struct graph forward = without_back_edges(&g);
        assert_true(all_reachable(&g));
        assert_int_equal(cfg != NULL, acyclic(&forward));
        if (constructed)
            assert_non_null(cfg);
        if (cfg) {
            reducible++;
            for (uint32_t a = 0; a < g.count; a++)
                for (uint32_t b = 0; b < g.count; b++)
                    assert_int_equal(cfg_dominates(cfg, a, b), dominates(&g, a, b));
            check_loops(&g, cfg);
            check_sort(&g, cfg, round + 1);
            check_validator(&g, cfg, &rng);
            valid_swaps += cfg_order_valid(cfg);
        } else {
            irreducible++;
            check_irreducible(&g, reason, at);
        }
        arena_release(&test_arena, mark);
    }
    assert_true(reducible > 900 && irreducible > 150 && valid_swaps > 75);
}

static void test_unreachable(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(4, PCG_KERNEL, 0);
    uint32_t unreachable = 0;
    for (uint32_t round = 0; round < 500; round++) {
        struct graph g = random_graph(&rng);
        uint32_t cut = pcg_below(&rng, g.count);
        for (uint32_t b = 0; b < g.count; b++)
            g.edge[b][cut] = false;
        uint32_t first = 1;
        while (first < g.count && path(&g, 0, first, NODES))
            first++;
        const char *reason = NULL;
        struct location at = {0, 0};
        struct cfg *cfg = cfg_build(&test_arena, function_of(&g), &reason, &at);
        if (first == g.count)
            continue;
        unreachable++;
        assert_null(cfg);
        assert_string_equal(
            reason,
            arena_printf(&test_arena, "block 'B%u' is not reachable from 'B0'", (unsigned)first));
        assert_int_equal(at.line, first + 1);
    }
    assert_true(unreachable > 200);
}

/* ---- kernels ---- */

static struct cfg *cfg_of(const char *text)
{
    const char *reason = NULL;
    struct location at;
    struct cfg *cfg = cfg_build(&test_arena, support_parse(text)->main, &reason, &at);
    if (!cfg)
        print_error("%s\n", reason);
    assert_non_null(cfg);
    return cfg;
}

/* The names of the blocks in order. */
static const char *order_of(const struct cfg *cfg)
{
    const char *text = "";
    for (uint32_t place = 0; place < cfg->count; place++)
        text = arena_printf(&test_arena, "%s%s%s", text, place ? " " : "",
                            cfg->blocks[cfg->order[place]]->name);
    return text;
}

/* Fig. 3, its blocks in the order given. */
static const char *fig3(const char *const blocks[10])
{
    const char *text = "shared int sum[8]; private int offset, temp; kernel fig3() blocks {\n";
    for (uint32_t i = 0; i < 10; i++)
        text = arena_printf(&test_arena, "%s%s\n", text, blocks[i]);
    return arena_printf(&test_arena, "%s}\n", text);
}

#define FIG3_START "Start: offset = 1; goto W, W_end;"
#define FIG3_W "W: assume(offset < threads); goto I1, J1;"
#define FIG3_I1 "I1: assume(tid >= offset); temp = sum[tid - offset]; goto B1;"
#define FIG3_J1 "J1: assume(tid < offset); goto B1;"
#define FIG3_B1 "B1: barrier(); goto I2, J2;"
#define FIG3_I2 "I2: assume(tid >= offset); sum[tid] = sum[tid] + temp; goto B2;"
#define FIG3_J2 "J2: assume(tid < offset); goto B2;"
#define FIG3_B2 "B2: barrier(); goto W_last;"
#define FIG3_LAST "W_last: offset = 2 * offset; goto W, W_end;"
#define FIG3_END "W_end: assume(offset >= threads); goto End;"

/* Whatever the ties. */
static void test_fig3(void **state)
{
    (void)state;
    const char *printed[10] = {FIG3_START, FIG3_W,  FIG3_I1, FIG3_J1,   FIG3_B1,
                               FIG3_I2,    FIG3_J2, FIG3_B2, FIG3_LAST, FIG3_END};
    struct cfg *cfg = cfg_of(fig3(printed));
    static const char *const orders[] = {
        "Start W I1 J1 B1 I2 J2 B2 W_last W_end", "Start W J1 I1 B1 I2 J2 B2 W_last W_end",
        "Start W I1 J1 B1 J2 I2 B2 W_last W_end", "Start W J1 I1 B1 J2 I2 B2 W_last W_end"};
    uint32_t seen[4] = {0};
    for (uint64_t seed = 1; seed <= 64; seed++) {
        uint32_t i = 0;
        cfg_sort(&test_arena, cfg, seed);
        while (i < 4 && strcmp(order_of(cfg), orders[i]) != 0)
            i++;
        assert_in_range(i, 0, 3);
        seen[i]++;
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
}

/* A return stands last, also behind a loop that never gets to it, and whatever the ties. */
static void test_return_last(void **state)
{
    (void)state;
    const struct ast_kernel *kernel =
        support_parse("void p() blocks {\n"
                      "S: goto R, L, A;\n"
                      "R: return;\n"
                      "A: goto R;\n"
                      "L: goto M;\n"
                      "M: goto L;\n"
                      "}\n"
                      "kernel k() blocks { Start: p(); goto End; }\n");
    const char *reason;
    struct location at;
    for (uint64_t seed = 1; seed < 50; seed++) {
        struct cfg *cfg = cfg_build(&test_arena, kernel->functions, &reason, &at);
        cfg_sort(&test_arena, cfg, seed);
        assert_true(cfg_order_valid(cfg));
        assert_string_equal(cfg->blocks[cfg->order[4]]->name, "R");
    }
}

/* ---- size ---- */

/* LIMIT_LABELS blocks: loops nested as deep as there are blocks, each left from the last block; and a
 * chain of short loops. */
static void test_large(void **state)
{
    (void)state;
    enum { COUNT = LIMIT_LABELS };
    for (uint32_t shape = 0; shape < 2; shape++) {
        struct ast_function function = {.name = "large"};
        struct ast_block *blocks = ARENA_ARRAY(&test_arena, struct ast_block, COUNT);
        for (uint32_t b = 0; b < COUNT; b++) {
            bool tail = shape == 1 ? b % 3 == 2 : b >= COUNT / 2;
            uint32_t head = shape == 1 ? b - 2 : COUNT - 1 - b;
            blocks[b].name = arena_printf(&test_arena, "B%u", (unsigned)b);
            blocks[b].targets = ARENA_ARRAY(&test_arena, struct ast_block *, 2);
            blocks[b].next = b + 1 < COUNT ? &blocks[b + 1] : NULL;
            add_target(&blocks[b], blocks[b].next);
            if (tail)
                add_target(&blocks[b], &blocks[head]);
        }
        function.blocks = blocks;
        const char *reason;
        struct location at;
        struct cfg *cfg = cfg_build(&test_arena, &function, &reason, &at);
        assert_non_null(cfg);
        assert_int_equal(cfg->loop_count, shape == 1 ? COUNT / 3 : COUNT / 2);
        cfg_sort(&test_arena, cfg, 0);
        assert_true(cfg_order_valid(cfg));
        for (uint32_t b = 0; b < COUNT; b++)
            assert_int_equal(cfg->order[b], b);
        cfg_sort(&test_arena, cfg, 7);
        assert_true(cfg_order_valid(cfg));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),      cmocka_unit_test(test_unreachable),
        cmocka_unit_test(test_fig3),        cmocka_unit_test(test_large),
        cmocka_unit_test(test_return_last),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
