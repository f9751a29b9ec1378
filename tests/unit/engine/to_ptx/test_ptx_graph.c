/*
 * Dominators, post-dominators and loops of random graphs, against their definitions: a node dominates another one if
 * that is not reached without it; a loop is what comes back to its header. All graphs of three nodes, and many of up to
 * twelve.
 */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/to_ptx/ptx_graph.h"

enum { NODES = 12, END = NODES };

/* A graph as a matrix; node `count` is the end, which nodes without successors lead to. */
struct naive {
    uint32_t count;
    bool edge[NODES + 1][NODES + 1];
};

/* What is reached from a node, or (back) what reaches it, without ever being at `without`. */
static void reach(const struct naive *n, uint32_t from, uint32_t without, bool back,
                  bool reached[NODES + 1])
{
    uint32_t stack[NODES + 1], depth = 0;
    memset(reached, 0, (NODES + 1) * sizeof *reached);
    if (from == without)
        return;
    reached[from] = true;
    stack[depth++] = from;
    while (depth > 0) {
        uint32_t node = stack[--depth];
        for (uint32_t to = 0; to <= n->count; to++) {
            bool edge = back ? n->edge[to][node] : n->edge[node][to];
            if (!edge || to == without || reached[to])
                continue;
            reached[to] = true;
            stack[depth++] = to;
        }
    }
}

/* dominates[a][b], of nodes that are reached from the root; back: the end is the root, against the edges. */
static void find_dominators(const struct naive *n, uint32_t root, bool back,
                            bool dominates[NODES + 1][NODES + 1])
{
    bool reached[NODES + 1], without[NODES + 1];
    reach(n, root, UINT32_MAX, back, reached);
    for (uint32_t a = 0; a <= n->count; a++) {
        reach(n, root, a, back, without);
        for (uint32_t b = 0; b <= n->count; b++)
            dominates[a][b] = reached[a] && reached[b] && !without[b];
    }
}

/* The strict dominator that all others dominate; `none`: there is none. */
static uint32_t immediate(const struct naive *n, bool dominates[NODES + 1][NODES + 1], uint32_t b,
                          uint32_t none)
{
    for (uint32_t a = 0; a <= n->count; a++) {
        bool nearest = a != b && dominates[a][b];
        for (uint32_t c = 0; nearest && c <= n->count; c++)
            nearest = c == b || !dominates[c][b] || dominates[c][a];
        if (nearest)
            return a;
    }
    return none;
}

/* Without back edges - their targets dominate their sources - no cycle is left. */
static bool is_reducible(const struct naive *n, bool dominates[NODES + 1][NODES + 1])
{
    struct naive forward = *n;
    bool reached[NODES + 1], from_there[NODES + 1];
    reach(n, 0, UINT32_MAX, false, reached);
    for (uint32_t a = 0; a <= n->count; a++)
        for (uint32_t b = 0; b <= n->count; b++)
            forward.edge[a][b] &= reached[a] && !dominates[b][a];
    for (uint32_t a = 0; a <= n->count; a++)
        for (uint32_t b = 0; b <= n->count; b++) {
            if (!forward.edge[a][b])
                continue;
            reach(&forward, b, UINT32_MAX, false, from_there);
            if (from_there[a])
                return false;
        }
    return true;
}

/* The header, and all that comes to one of its latches without it. Empty: it heads no loop. */
static bool loop_of(const struct naive *n, bool dominates[NODES + 1][NODES + 1], uint32_t header,
                    bool in[NODES + 1])
{
    bool any = false, comes[NODES + 1];
    memset(in, 0, (NODES + 1) * sizeof *in);
    for (uint32_t latch = 0; latch < n->count; latch++) {
        if (!n->edge[latch][header] || !dominates[header][latch])
            continue;
        any = true;
        reach(n, latch, header, true, comes);
        for (uint32_t node = 0; node < n->count; node++)
            in[node] |= comes[node] && dominates[header][node];
    }
    in[header] = any;
    return any;
}

static uint32_t size_of(const bool in[NODES + 1])
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < NODES; i++)
        size += in[i];
    return size;
}

/* ---- a graph ---- */

static struct ptx_graph *analyse(const struct naive *n)
{
    struct ptx_graph *g = ARENA_NEW(&test_arena, struct ptx_graph);
    g->count = n->count;
    g->next_first = ARENA_ARRAY(&test_arena, uint32_t, n->count + 1);
    g->next = ARENA_ARRAY(&test_arena, uint32_t, NODES * NODES + 1);
    for (uint32_t a = 0; a < n->count; a++) {
        g->next_first[a] = g->edges;
        for (uint32_t b = 0; b < n->count; b++)
            if (n->edge[a][b])
                g->next[g->edges++] = b;
    }
    g->next_first[n->count] = g->edges;
    ptx_graph_analyse(&test_arena, g);
    return g;
}

static void check_order(const struct naive *n, const struct ptx_graph *g)
{
    bool reached[NODES + 1];
    uint32_t count = 0;
    reach(n, 0, UINT32_MAX, false, reached);
    for (uint32_t a = 0; a < n->count; a++) {
        assert_int_equal(g->place[a] != PTX_GRAPH_NONE, reached[a]);
        count += reached[a];
        if (reached[a]) {
            assert_true(g->place[a] < n->count);
            assert_int_equal(g->order[g->place[a]], a);
        }
        uint32_t from = 0;
        for (uint32_t b = 0; b < n->count; b++) /* predecessors that are reached */
            from += reached[b] && n->edge[b][a];
        assert_int_equal(g->back_first[a + 1] - g->back_first[a], from);
        for (uint32_t e = g->back_first[a]; e < g->back_first[a + 1]; e++) {
            assert_true(n->edge[g->back[e]][a] && reached[g->back[e]]);
            for (uint32_t other = g->back_first[a]; other < e; other++)
                assert_int_not_equal(g->back[other], g->back[e]);
        }
    }
    assert_int_equal(g->reached, count);
    assert_int_equal(g->order[0], 0);
    /* A reverse postorder: an edge goes forward, unless its target comes back to its source. */
    for (uint32_t a = 0; a < n->count; a++)
        for (uint32_t b = 0; reached[a] && b < n->count; b++) {
            bool from_there[NODES + 1];
            reach(n, b, UINT32_MAX, false, from_there);
            if (n->edge[a][b] && !from_there[a])
                assert_true(g->place[a] < g->place[b]);
        }
}

static void check_loops(const struct naive *n, const struct ptx_graph *g,
                        bool dominates[NODES + 1][NODES + 1])
{
    static bool in[NODES][NODES + 1]; /* by header */
    bool heads[NODES];
    uint32_t loops = 0;
    for (uint32_t h = 0; h < n->count; h++)
        loops += heads[h] = loop_of(n, dominates, h, in[h]);
    assert_int_equal(g->loop_count, loops);
    for (uint32_t a = 0; a < n->count; a++) {
        uint32_t best = PTX_GRAPH_NONE, depth = 0, headed = ptx_graph_headed(g, a);
        for (uint32_t h = 0; h < n->count; h++) {
            if (!heads[h] || !in[h][a])
                continue;
            depth++;
            if (best == PTX_GRAPH_NONE || size_of(in[h]) < size_of(in[best]))
                best = h;
        }
        assert_int_equal(g->loop[a] == PTX_GRAPH_NONE, best == PTX_GRAPH_NONE);
        assert_int_equal(headed != PTX_GRAPH_NONE, heads[a]);
        if (best == PTX_GRAPH_NONE)
            continue;
        const struct ptx_graph_loop *loop = &g->loops[g->loop[a]];
        assert_int_equal(loop->header, best);
        assert_int_equal(loop->depth, depth);
        assert_int_equal(loop->parent == PTX_GRAPH_NONE, depth == 1);
        if (heads[a])
            assert_int_equal(headed, g->loop[a]);
    }
    for (uint32_t l = 0; l < g->loop_count; l++) {
        uint32_t header = g->loops[l].header, parent = g->loops[l].parent;
        assert_true(heads[header]);
        for (uint32_t a = 0; a < n->count; a++)
            assert_int_equal(ptx_graph_in_loop(g, l, a), in[header][a]);
        if (parent == PTX_GRAPH_NONE)
            continue;
        assert_true(parent > l); /* inner ones before the ones around them */
        assert_true(in[g->loops[parent].header][header]);
        assert_int_equal(g->loops[parent].depth + 1, g->loops[l].depth);
    }
}

struct kinds {
    uint32_t reducible, not, nested, no_end;
};

static void check(const struct naive *n, struct kinds *kinds)
{
    static bool dominates[NODES + 1][NODES + 1], post[NODES + 1][NODES + 1];
    struct naive ended = *n;
    bool reached[NODES + 1], ends[NODES + 1];
    const struct ptx_graph *g = analyse(n);
    check_order(n, g);
    find_dominators(n, 0, false, dominates);
    reach(n, 0, UINT32_MAX, false, reached);
    for (uint32_t a = 0; a < n->count; a++) { /* what is not reached has no say */
        ended.edge[a][n->count] = reached[a];
        for (uint32_t b = 0; b < n->count; b++) {
            ended.edge[a][n->count] &= !n->edge[a][b];
            ended.edge[a][b] &= reached[a];
        }
    }
    reach(&ended, n->count, UINT32_MAX, true, ends);
    find_dominators(&ended, n->count, true, post);
    for (uint32_t a = 0; a < n->count; a++) {
        uint32_t above = reached[a] ? immediate(n, dominates, a, PTX_GRAPH_NONE) : PTX_GRAPH_NONE;
        uint32_t behind = ends[a] ? immediate(&ended, post, a, PTX_GRAPH_NONE) : PTX_GRAPH_NONE;
        assert_int_equal(g->dominator[a], above);
        assert_int_equal(g->post_dominator[a], behind == n->count ? PTX_GRAPH_NONE : behind);
        assert_int_equal(g->reaches_end[a], ends[a]);
        kinds->no_end += reached[a] && !ends[a];
        for (uint32_t b = 0; b < n->count; b++)
            assert_int_equal(ptx_graph_dominates(g, a, b), dominates[a][b]);
    }
    bool reducible = is_reducible(n, dominates);
    assert_int_equal(g->reducible, reducible);
    kinds->reducible += reducible;
    kinds->not += !reducible;
    if (reducible) {
        check_loops(n, g, dominates);
        for (uint32_t l = 0; l < g->loop_count; l++)
            kinds->nested += g->loops[l].depth > 2;
    } else {
        assert_true(n->edge[g->bad_from][g->bad_to]);
        assert_false(dominates[g->bad_to][g->bad_from]);
        assert_true(g->place[g->bad_to] <= g->place[g->bad_from]);
    }
}

/* ---- graphs ---- */

static void all_of_three_nodes(void **state)
{
    (void)state;
    struct kinds kinds = {0};
    for (uint32_t bits = 0; bits < 1u << 9; bits++) {
        size_t mark = arena_mark(&test_arena);
        struct naive n = {.count = 3};
        for (uint32_t i = 0; i < 9; i++)
            n.edge[i / 3][i % 3] = bits >> i & 1;
        check(&n, &kinds);
        arena_release(&test_arena, mark);
    }
    assert_true(kinds.reducible > 100 && kinds.not > 10);
}

/* Few edges; or those of a program: forward, and back to where one came from. */
static void random_graph(struct pcg *rng, struct naive *n)
{
    *n = (struct naive){.count = 1 + pcg_below(rng, NODES)};
    uint32_t out = 1 + pcg_below(rng, 3);
    bool in_order = pcg_below(rng, 2);
    for (uint32_t a = 0; a < n->count; a++)
        for (uint32_t i = pcg_below(rng, out + 1); i > 0; i--) {
            uint32_t to = pcg_below(rng, n->count);
            if (in_order && to <= a && pcg_below(rng, 3))
                to = a + 1 < n->count ? a + 1 : a;
            n->edge[a][to] = true;
        }
    for (uint32_t a = 0; in_order && a + 1 < n->count; a++)
        if (pcg_below(rng, 8))
            n->edge[a][a + 1] = true;
}

static void random_ones(void **state)
{
    (void)state;
    struct pcg rng = pcg_derive(5, PCG_KERNEL, 0);
    struct kinds kinds = {0};
    for (uint32_t i = 0; i < 6000; i++) {
        size_t mark = arena_mark(&test_arena);
        struct naive n;
        random_graph(&rng, &n);
        check(&n, &kinds);
        arena_release(&test_arena, mark);
    }
    assert_true(kinds.reducible > 1000 && kinds.not > 500);
    assert_true(kinds.nested > 100 && kinds.no_end > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_of_three_nodes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(random_ones, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
