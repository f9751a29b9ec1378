#include "oracle/graphs/graphs.h"

#include "engine/input/input.h"
#include "engine/reference/ref_flow.h"
#include "engine/to_ptx/ptx_flow.h"
#include "oracle/check/evidence.h"

enum { GRAPHS_SEED = 23 /* tells this draw from others */ };

static struct ref_flow *new_flow(struct arena *arena, uint32_t count, const uint32_t *first)
{
    uint32_t *most = ARENA_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t n = 0; n < count; n++)
        most[n] = first[n + 1] - first[n];
    return ref_flow_new(arena, count, most);
}

/* ---- PTX ---- */

/* The node's innermost loop, all that it is in, and whether it heads one. */
static bool same_loops(struct ref_flow *g, const struct ptx_graph *graph, uint32_t node)
{
    uint32_t head = ref_flow_innermost(g, node), loop = graph->loop[node], around = 0;
    for (uint32_t l = 0; l < graph->loop_count; l++) {
        bool in = ref_flow_in_loop(g, graph->loops[l].header, node);
        if (in != ptx_graph_in_loop(graph, l, node))
            return false;
        around += in;
    }
    return head == (loop == PTX_GRAPH_NONE ? REF_FLOW_NONE : graph->loops[loop].header) &&
           (loop == PTX_GRAPH_NONE || graph->loops[loop].depth == around) &&
           ref_flow_heads(g, node) == (ptx_graph_headed(graph, node) != PTX_GRAPH_NONE);
}

static const char *compare_node(struct ref_flow *g, const struct ptx_graph *graph, uint32_t node)
{
    bool reached = ref_flow_reaches(g, 0, node, REF_FLOW_NONE);
    if (reached != (graph->place[node] != PTX_GRAPH_NONE))
        return "reached";
    if (!reached)
        return NULL;
    if (graph->dominator[node] != ref_flow_dominator(g, node))
        return "dominator";
    if (graph->post_dominator[node] != ref_flow_post_dominator(g, node))
        return "post-dominator";
    for (uint32_t by = 0; by < g->count; by++)
        if (ptx_graph_dominates(graph, by, node) != (by == node || ref_flow_dominates(g, by, node)))
            return "dominates";
    bool ends = false;
    for (uint32_t to = 0; to < g->count && !ends; to++)
        ends = g->next_count[to] == 0 && ref_flow_reaches(g, node, to, REF_FLOW_NONE);
    if (graph->reaches_end[node] != ends)
        return "reaches an end";
    return graph->reducible && !same_loops(g, graph, node) ? "loop" : NULL;
}

/* The edge that is told of goes back, as there is a way around, and not to a head. */
static bool is_bad_edge(struct ref_flow *g, const struct ptx_graph *graph)
{
    bool found = false;
    for (uint32_t i = 0; i < g->next_count[graph->bad_from]; i++)
        found |= g->next[graph->bad_from][i] == graph->bad_to;
    return found && ref_flow_reaches(g, graph->bad_to, graph->bad_from, REF_FLOW_NONE) &&
           !ref_flow_is_back(g, graph->bad_from, graph->bad_to);
}

const char *graphs_of_ptx(struct arena *arena, const struct ptx_graph *graph)
{
    struct ref_flow *g = new_flow(arena, graph->count, graph->next_first);
    const char *differs = NULL;
    for (uint32_t n = 0; n < graph->count; n++)
        for (uint32_t e = graph->next_first[n]; e < graph->next_first[n + 1]; e++)
            ref_flow_add(g, n, graph->next[e]);
    if (ref_flow_reducible(g, arena) != graph->reducible)
        return "reducible";
    if (!graph->reducible && !is_bad_edge(g, graph))
        return "edge into a loop";
    for (uint32_t n = 0; n < graph->count && !differs; n++)
        differs = compare_node(g, graph, n);
    return differs;
}

/* Half of the edges go on: kernels have graphs of few shapes, and hardly one that is not reducible. */
struct ptx_graph *graphs_drawn(struct arena *arena, struct pcg *rng)
{
    struct ptx_graph *g = ARENA_NEW(arena, struct ptx_graph);
    g->count = 2 + pcg_below(rng, GRAPHS_DRAWN_NODES - 1);
    g->next_first = ARENA_ARRAY(arena, uint32_t, g->count + 1);
    g->next = ARENA_ARRAY(arena, uint32_t, 2 * g->count);
    for (uint32_t n = 0; n < g->count; n++) {
        uint32_t to = pcg_below(rng, g->count), other = pcg_below(rng, g->count);
        g->next_first[n] = g->edges;
        if (pcg_below(rng, 8) == 0)
            continue;
        g->next[g->edges++] = n + 1 < g->count && pcg_below(rng, 3) ? n + 1 : to;
        if (other != g->next[g->edges - 1] && pcg_below(rng, 2))
            g->next[g->edges++] = other;
    }
    g->next_first[g->count] = g->edges;
    ptx_graph_analyse(arena, g);
    return g;
}

/* ---- blocks ---- */

static const char *compare_block(struct ref_flow *g, const struct cfg *cfg, uint32_t block)
{
    uint32_t head = ref_flow_innermost(g, block), loop = cfg->innermost[block];
    if (block > 0 && cfg->dominator[block] != ref_flow_dominator(g, block))
        return "dominator";
    if (head != (loop == CFG_NO_LOOP ? REF_FLOW_NONE : cfg->loops[loop].head))
        return "loop";
    for (uint32_t l = 0; l < cfg->loop_count; l++)
        if (cfg_in_loop(cfg, l, block) != ref_flow_in_loop(g, cfg->loops[l].head, block))
            return "loop";
    return NULL;
}

/* PRED.sort.1: edges that are no back edges go on; .2: between two blocks of a loop stand its blocks only. */
static bool is_sorted(struct ref_flow *g, const struct cfg *cfg)
{
    for (uint32_t n = 0; n < g->count; n++)
        for (uint32_t i = 0; i < g->next_count[n]; i++)
            if (cfg->position[g->next[n][i]] <= cfg->position[n] &&
                !ref_flow_is_back(g, n, g->next[n][i]))
                return false;
    for (uint32_t l = 0; l < cfg->loop_count; l++) {
        uint32_t changes = 0;
        for (uint32_t place = 0; place < cfg->count; place++) {
            bool in = ref_flow_in_loop(g, cfg->loops[l].head, cfg->order[place]);
            bool before =
                place > 0 && ref_flow_in_loop(g, cfg->loops[l].head, cfg->order[place - 1]);
            changes += in && !before;
        }
        if (changes != 1)
            return false;
    }
    return true;
}

const char *graphs_of_blocks(struct arena *arena, const struct cfg *cfg)
{
    struct ref_flow *g = new_flow(arena, cfg->count, cfg->target_first);
    const char *differs = NULL;
    uint32_t heads = 0;
    for (uint32_t n = 0; n < cfg->count; n++)
        for (uint32_t e = cfg->target_first[n]; e < cfg->target_first[n + 1]; e++)
            if (cfg->targets[e] != CFG_EXIT)
                ref_flow_add(g, n, cfg->targets[e]);
    if (!ref_flow_reducible(g, arena))
        return "reducible";
    for (uint32_t n = 0; n < cfg->count && !differs; n++) {
        heads += ref_flow_heads(g, n);
        differs = compare_block(g, cfg, n);
    }
    if (!differs && heads != cfg->loop_count)
        differs = "loop";
    return differs ? differs : is_sorted(g, cfg) ? NULL : "order";
}

/* ---- the oracle ---- */

static void report(struct checking *c, const char *function, const char *differs)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "function", function);
    evidence_string(&e, "differs", differs);
    *d = (struct divergence){.oracle = ORACLE_ORDER,
                             .class_name = "graph",
                             .rule = RULE_NONE,
                             .observable = differs,
                             .part = "",
                             .subject = SUBJECT_INTERLEAVE,
                             .evidence = evidence_close(&e)};
    d->summary =
        arena_printf(c->arena, "of the graph of `%s`, not as it is defined: %s", function, differs);
    answer_diverge(&c->result->answers[ORACLE_ORDER], d);
}

/* A copy: the marks of the tree that runs are its program's. */
static void judge_blocks(struct checking *c, const struct ast_kernel *given)
{
    const struct ast_kernel *kernel = ast_kernel_copy(c->arena, given);
    const char *reason;
    struct location at;
    for (const struct ast_function *f = kernel->main; f;
         f = f == kernel->main ? kernel->functions : f->next) {
        struct cfg *cfg = cfg_build(c->arena, f, &reason, &at);
        if (!cfg || cfg->count > GRAPHS_NODES)
            continue;
        cfg_sort(c->arena, cfg, c->options->seed % 2 ? c->options->seed : 0);
        const char *differs = graphs_of_blocks(c->arena, cfg);
        if (!differs)
            differs = graphs_normal_form(c->arena, f, f == kernel->main);
        if (differs)
            report(c, f->name ? f->name : "k", differs);
    }
}

static void judge_ptx(struct checking *c)
{
    const struct program *program = c->subjects[SUBJECT_BLOCK].program;
    const char *reason;
    for (uint32_t i = 0; program && i < program->ptx->function_count; i++) {
        const struct ptx_function *f = program->ptx->functions[i].function;
        const struct ptx_flow *flow = ptx_flow_build(c->arena, f, &reason);
        const char *differs = flow && flow->graph.count <= GRAPHS_NODES
                                  ? graphs_of_ptx(c->arena, &flow->graph)
                                  : NULL;
        if (differs)
            report(c, f->name, differs);
    }
}

/* A few functions that are drawn for it: kernels of campaigns are mostly in normal form before. And graphs. */
static void judge_drawn(struct checking *c)
{
    struct pcg rng = pcg_derive(c->options->seed + GRAPHS_SEED, PCG_ORDER, 0);
    for (uint32_t i = 0; i < GRAPHS_DRAWN; i++) {
        const char *differs = graphs_of_ptx(c->arena, graphs_drawn(c->arena, &rng));
        if (differs)
            report(c, "of no kernel", differs);
    }
    for (uint64_t i = 0; i < GRAPHS_DRAWN; i++) {
        bool taken;
        const char *text = graphs_text(c->arena, c->options->seed * GRAPHS_DRAWN + i);
        const char *differs = graphs_normalised(c->arena, text, &taken);
        if (differs)
            report(c, text, differs);
    }
}

void graphs_judge(struct checking *c)
{
    uint64_t seed = c->options->seed;
    if (seed != 0 && pcg_splitmix(seed + GRAPHS_SEED) % GRAPHS_SHARE != 0)
        return;
    const struct form *blocks = forms_get(c->forms, PROGRAM_BLOCKS); /* is kept */
    size_t mark = arena_mark(c->arena);
    const char *refused = graphs_refused(c->arena, c->forms);
    if (refused)
        report(c, "k", refused);
    if (blocks->kernel)
        judge_blocks(c, blocks->kernel);
    judge_ptx(c);
    if (seed != 0)
        judge_drawn(c);
    if (c->result->answers[ORACLE_ORDER].verdict != VERDICT_DIVERGE)
        arena_release(c->arena, mark);
}
