/*
 * progress_internal.h - between progress.c (models, verdicts), progress_strong.c (strong fairness), progress_product.c
 * (what they are judged on) and progress_witness.c.
 *
 * The product: a node is a state with the units that have begun on the way there. Mostly the state says who they are;
 * then the nodes are the states, for all models. So they are for models that do not ask who has begun.
 */
#ifndef ENGINE_PROGRESS_INTERNAL_H
#define ENGINE_PROGRESS_INTERNAL_H

#include "engine/base/components.h"
#include "engine/progress/progress.h"
#include "engine/search/search_states.h"

/* What is asked of the machine, once a state. */
struct state_units {
    unit_set unfinished, enabled; /* enabled: an actor of the unit can step */
    bool ended;                   /* terminated, or an error; or all have finished their text */
};

/* Sets of models: bit m of model m. */
typedef uint32_t model_set;

enum { MODELS_ALL = (1 << PROGRESS_MODEL_COUNT) - 1 };

struct product {
    struct graph *graph;
    const struct progress *progress;
    bool says_begun; /* each state, and p->begun has it */
    /* A node's `begun` holds the units below one that has begun, too: all that LOBE asks. */
    bool lower_too;
    struct pool classes; /* struct state_units: few are different */
    bool some_end;
    uint32_t node_count;
    uint32_t *class_of; /* a node */
    unit_set *begun;    /* a node: units that have stepped */
    uint32_t *states;   /* a node: its state; NULL: the nodes are the states */
    uint32_t *parents;  /* likewise: on the shortest way there, by its first edge that leads here */
    uint32_t *first_edge; /* a node, and behind the last: in the order of the state's edges */
    uint32_t *targets;    /* an edge: a node */
    uint8_t *units;       /* an edge: whose step it is */
    struct components c;
    uint32_t *spare; /* two words a node, for witnesses */
};

static inline const struct state_units *product_units(const struct product *p, uint32_t node)
{
    return pool_at(&p->classes, p->class_of[node]);
}

static inline uint32_t product_state(const struct product *p, uint32_t node)
{
    return p->states ? p->states[node] : node;
}

/* What a component has: of a hang under a model. */
struct component {
    uint32_t first; /* its node that was found first */
    bool cyclic;
    unit_set stepped; /* units with an edge in it */
    unit_set blocked; /* units that cannot step in one of its nodes */
};

/* Whether every strongly fair execution ends (progress_strong.c). */
struct strong {
    const struct product *p;
    model_set pass; /* under which no component that was looked at holds one for ever */
    uint8_t
        *leaves; /* a node: model_set, under which steps of units of F lead out of its component */
    struct components inner; /* of what is left of a component; only where units may wait */
    bool some_wait;          /* in some state */
    bool left;               /* something has been taken out of it */
    uint32_t root;           /* a node of the component */
    uint32_t model;
    unit_set F;
};

/* False: no room. */
bool strong_start(struct strong *strong, const struct product *product, model_set asked);

/* Looks at a component with a cycle, which p->c.stack[from ..] holds; F of it, a model. */
void strong_judge(struct strong *strong, uint32_t root, uint32_t from,
                  const unit_set F[PROGRESS_MODEL_COUNT]);

/* Whether the arena has room for so many bytes. */
bool product_has_room(const struct product *product, uint64_t bytes);

/* Of the graph and `progress`, with room for components: the nodes are the states. False: no room. */
bool product_of_states(struct product *product);

/* The same, with lower_too as it is given: the nodes are states with who has begun. */
bool product_of_nodes(struct product *product, const struct product *of_states);

/* Models of threads, of a graph up to permutations of threads, each a unit (progress_quotient.c): no witnesses. */
void progress_of_quotient(struct graph *graph, struct progress *progress);

/* Fills in the answer's stem, loop and sets: of the component, in which F is `fair`. The components are known, and
 * their stacks are used. */
void progress_witness(struct product *product, const struct component *component, unit_set fair,
                      struct progress_answer *answer);

/* Answers progress.random, by a search of its own: the last thing that is done with a graph (progress_random.c). */
void search_random(const struct search *search, struct progress *progress);

#endif
