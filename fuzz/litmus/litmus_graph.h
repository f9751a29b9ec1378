/*
 * litmus_graph.h - the relations of an execution that are shown: on the page, and in pictures.
 */
#ifndef FUZZ_LITMUS_GRAPH_H
#define FUZZ_LITMUS_GRAPH_H

#include "engine/axiom/axiom.h"

enum { GRAPH_RELATIONS = 10, GRAPH_EDGES = GRAPH_RELATIONS * RELATION_EVENTS * RELATION_EVENTS };

struct graph_relation {
    const char *name;
    const struct relation *of;
};

/* po, rf, co, fr, rmw, dep, sync, sc, bar, cause. */
void graph_relations(const struct axiom_execution *x, struct graph_relation of[GRAPH_RELATIONS]);

/* Of po, co, fr and sc only what does not follow from the rest; no cause. How many. */
uint32_t graph_edges(const struct axiom_execution *x, struct axiom_edge *edges);

#endif
