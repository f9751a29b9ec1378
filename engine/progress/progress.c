/*
 * progress.c - verdicts, from the components of the graph of states with who has begun.
 *
 * Who has begun only grows, and units do not come back, so F is constant in a strongly connected component,
 * under every model: one search for components answers all. They are found from the last on: what can be
 * reached from a component is known when it is found.
 */
#include "engine/progress/progress.h"

#include "engine/base/invariant.h"
#include "engine/progress/progress_internal.h"

#include <string.h>

const struct progress_info progress_table[PROGRESS_MODEL_COUNT] = {
#define MODEL(id, name, sentence) [PROGRESS_##id] = {name, sentence},
#include "engine/kernel/progress.def"
#undef MODEL
};

const enum progress_model progress_inclusions[PROGRESS_INCLUSIONS][2] = {
    {PROGRESS_UNFAIR, PROGRESS_HSA},  {PROGRESS_UNFAIR, PROGRESS_OBE},
    {PROGRESS_HSA, PROGRESS_HSA_OBE}, {PROGRESS_OBE, PROGRESS_HSA_OBE},
    {PROGRESS_OBE, PROGRESS_LOBE},    {PROGRESS_HSA_OBE, PROGRESS_FAIR},
    {PROGRESS_LOBE, PROGRESS_FAIR},
};

const char *const progress_verdict_names[] = {
    [PROGRESS_UNKNOWN] = "unknown at bound",
    [PROGRESS_ENDS] = "ends always",
    [PROGRESS_MAY_HANG] = "may hang",
    [PROGRESS_HANGS] = "hangs always",
};

struct judging {
    struct product *p;
    model_set asked;
    struct strong strong;
    /* The first component in which each model has an execution; first is SEARCH_NONE: there is none. */
    struct component hangs[PROGRESS_MODEL_COUNT];
};

/* ---- F ---- */

static unit_set lowest_of(unit_set set)
{
    return set & -set;
}

/* Units 0 .. count - 1. */
static unit_set below(uint64_t count)
{
    return count >= 64 ? ~(unit_set)0 : ((unit_set)1 << count) - 1;
}

/* The number of the highest + 1; 0: there is none. */
static uint32_t top_of(unit_set set)
{
    return set ? 64 - (uint32_t)__builtin_clzll(set) : 0;
}

INLINED unit_set fair_set(unit_set unfinished, unit_set begun, enum progress_model model)
{
    switch (model) {
    case PROGRESS_UNFAIR:
        return 0;
    case PROGRESS_HSA:
        return lowest_of(unfinished);
    case PROGRESS_OBE:
        return begun & unfinished;
    case PROGRESS_HSA_OBE:
        return (begun & unfinished) | lowest_of(unfinished);
    case PROGRESS_LOBE:
        return unfinished & below(top_of(begun));
    case PROGRESS_FAIR:
        return unfinished;
    case PROGRESS_MODEL_COUNT:
        break;
    }
    invariant_fail("a model is one of the table", __FILE__, __LINE__);
}

static unit_set fair_at(const struct product *p, uint32_t node, enum progress_model model)
{
    return fair_set(product_units(p, node)->unfinished, p->begun[node], model);
}

/* ---- weak fairness ---- */

/* Whether the component has an infinite execution of the model. */
static bool is_execution(const struct product *p, const struct component *c,
                         enum progress_model model)
{
    /* Never empty but of UNFAIR: who steps in a component has begun, and does not finish. */
    unit_set F = fair_at(p, c->first, model);
    return (F & ~(c->stepped | c->blocked)) == 0;
}

static struct component judge_weakly(struct judging *j, uint32_t root, uint32_t from)
{
    const struct product *p = j->p;
    struct component c = {.first = root};
    for (uint32_t i = from; i < p->c.stack_count; i++) {
        uint32_t node = p->c.stack[i];
        c.first = node < c.first ? node : c.first;
        c.blocked |= ~product_units(p, node)->enabled;
        for (uint32_t e = p->first_edge[node]; e < p->first_edge[node + 1]; e++) {
            if (!components_same(&p->c, p->targets[e], root))
                continue;
            c.cyclic = true;
            c.stepped |= (unit_set)1 << p->units[e];
        }
    }
    for (int m = 0; c.cyclic && m < PROGRESS_MODEL_COUNT; m++)
        if (j->asked >> m & 1 && c.first < j->hangs[m].first &&
            is_execution(p, &c, (enum progress_model)m))
            j->hangs[m] = c;
    return c;
}

/* ---- components ---- */

static void judge(void *context, uint32_t root, uint32_t from)
{
    struct judging *j = context;
    const struct component c = judge_weakly(j, root, from);
    if (!c.cyclic || !j->strong.pass)
        return;
    unit_set F[PROGRESS_MODEL_COUNT];
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        F[m] = fair_at(j->p, root, (enum progress_model)m);
    strong_judge(&j->strong, root, from, F);
}

static uint32_t first_of(const void *context, uint32_t node)
{
    return ((const struct judging *)context)->p->first_edge[node];
}

static uint32_t end_of(const void *context, uint32_t node)
{
    return first_of(context, node + 1);
}

static uint32_t target_of(const void *context, uint32_t edge)
{
    return ((const struct judging *)context)->p->targets[edge];
}

/* ---- models ---- */

static void take_answer(const struct judging *j, enum progress_model model,
                        struct progress_answer *answer)
{
    const struct component *hang = &j->hangs[model];
    answer->states = j->p->node_count;
    answer->verdict = PROGRESS_ENDS;
    answer->strong = j->strong.pass & 1u << model;
    if (hang->first == SEARCH_NONE)
        return;
    answer->verdict = j->p->some_end ? PROGRESS_MAY_HANG : PROGRESS_HANGS;
    if (j->p->progress->quick_states == 0 && !j->p->graph->symmetry)
        progress_witness(j->p, hang, fair_at(j->p, hang->first, model), answer);
}

static void answer_models(struct product *p, struct progress *progress, model_set asked)
{
    struct judging j = {.p = p, .asked = asked};
    if (progress->quick_states == 0 &&
        !strong_start(&j.strong, p, asked & ~(1u << PROGRESS_UNFAIR)))
        return;
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        j.hangs[m].first = SEARCH_NONE;
    components_visit(&p->c, 0, &j, first_of, end_of, target_of,
                     judge); /* all are reached from it */
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        if (asked >> m & 1)
            take_answer(&j, (enum progress_model)m, &progress->answers[m]);
}

static void answer_on_products(struct graph *graph, struct progress *progress)
{
    const model_set OBE = 1u << PROGRESS_OBE | 1u << PROGRESS_HSA_OBE, LOBE = 1u << PROGRESS_LOBE;
    model_set asked = progress->models ? progress->models : MODELS_ALL;
    struct product of_states = {.graph = graph, .progress = progress};
    if (!product_of_states(&of_states))
        return;
    answer_models(&of_states, progress, of_states.says_begun ? asked : asked & ~(OBE | LOBE));
    for (uint32_t lobe = 0; lobe < 2 && !of_states.says_begun; lobe++) {
        struct product p = {.graph = graph, .progress = progress, .lower_too = lobe};
        model_set models = asked & (lobe ? LOBE : OBE);
        if (models && product_of_nodes(&p, &of_states))
            answer_models(&p, progress, models);
    }
}

static void answer(struct graph *graph, struct progress *progress)
{
    struct search *search = graph->search;
    bool quick = progress->quick_states > 0;
    memset(progress->answers, 0, sizeof progress->answers);
    if (!search->result->complete || progress->unit_count > PROGRESS_UNITS_MAX)
        return;
    if (quick && search->result->liveness == LIVENESS_ALL_TERMINATE) {
        for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
            progress->answers[m].verdict = PROGRESS_ENDS;
        return;
    }
    if (quick && graph->states.count > progress->quick_states)
        return;
    size_t mark = arena_mark(search->arena);
    if (graph->symmetry && progress->unit_count == search->machine->actor_count)
        progress_of_quotient(graph, progress);
    else
        answer_on_products(graph, progress);
    search_note_bytes(search);
    if (quick) /* no witnesses lie there */
        arena_release(search->arena, mark);
}

void graph_progress(struct graph *graph)
{
    for (struct progress *p = graph->search->options->progress; p; p = p->next)
        answer(graph, p);
    for (struct progress *p = graph->search->options->progress; p; p = p->next)
        if (p->ask_random)
            search_random(graph->search, p);
}
