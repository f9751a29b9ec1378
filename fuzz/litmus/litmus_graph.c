#include "fuzz/litmus/litmus_graph.h"

#include <string.h>

enum { SHOWN = GRAPH_RELATIONS - 1 }; /* not cause, the last */

void graph_relations(const struct axiom_execution *x, struct graph_relation of[GRAPH_RELATIONS])
{
    const struct graph_relation all[GRAPH_RELATIONS] = {
        {"po", &x->po},        {"rf", &x->rf},       {"co", &x->co},     {"fr", &x->fr},
        {"rmw", &x->rmw},      {"dep", &x->dep},     {"sync", &x->sync}, {"sc", &x->sc},
        {"bar", &x->barriers}, {"cause", &x->cause},
    };
    memcpy(of, all, sizeof all);
}

static bool is_order(const char *name)
{
    return !strcmp(name, "po") || !strcmp(name, "co") || !strcmp(name, "fr") || !strcmp(name, "sc");
}

/* Whether a to b follows from what the relation has beside it; fr from an earlier fr, and co. */
static bool follows(const struct axiom_execution *x, const struct graph_relation *r, uint32_t a,
                    uint32_t b)
{
    const struct relation *second = strcmp(r->name, "fr") == 0 ? &x->co : r->of;
    for (uint32_t c = 0; c < x->count; c++)
        if (c != a && c != b && related(r->of, a, c) && related(second, c, b))
            return true;
    return false;
}

uint32_t graph_edges(const struct axiom_execution *x, struct axiom_edge *edges)
{
    struct graph_relation relations[GRAPH_RELATIONS];
    uint32_t count = 0;
    graph_relations(x, relations);
    for (uint32_t i = 0; i < SHOWN; i++)
        for (uint32_t a = 0; a < x->count; a++)
            for (uint32_t b = 0; b < x->count; b++)
                if (related(relations[i].of, a, b) &&
                    (!is_order(relations[i].name) || !follows(x, &relations[i], a, b)))
                    edges[count++] = (struct axiom_edge){relations[i].name, (uint8_t)a, (uint8_t)b};
    return count;
}
