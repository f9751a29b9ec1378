/*
 * axiom_internal.h - from threads to candidate executions.
 */
#ifndef ENGINE_AXIOM_INTERNAL_H
#define ENGINE_AXIOM_INTERNAL_H

#include "engine/axiom/axiom.h"

/* One way through one thread. `reads` and `writes`: pairs of a word and a value, a bit each (axiom_trace.c). */
struct axiom_trace {
    uint32_t count;
    uint64_t reads, writes;
    int16_t regs[LITMUS_REGISTERS];
    struct axiom_event events[AXIOM_EVENTS];
};

struct axiom_traces {
    struct axiom_trace *of[LITMUS_THREADS];
    uint32_t count[LITMUS_THREADS];
    uint64_t first;      /* the pairs that stand in memory at the beginning */
    bool cut;            /* a loop went round more than AXIOM_ROUNDS times */
    const char *trouble; /* why there is no answer */
};

struct axiom_traces axiom_all_traces(struct arena *arena, const struct litmus_test *test);

/* Ways to share the uses of barriers among their turns; calls `then` for each. */
typedef void axiom_then(struct axiom_execution *x, void *context);
void axiom_barriers(struct axiom_execution *x, axiom_then *then, void *context);

/* Fills po, loc, rmw, dep and strong, which are the same for all rf. */
void axiom_fixed(struct axiom_execution *x);

/* What a model says before, and once, writes are ordered. axiom_causes() fills `forced`: pairs of co that must be. */
bool axiom_thin_air(const struct axiom_execution *x);
bool axiom_causes(struct axiom_execution *x, enum axiom_model model);
bool axiom_allowed(const struct axiom_execution *x, enum axiom_model model);

/* Relations of the models that must have no circle (axiom_models.c). */
struct relation axiom_per_location(const struct axiom_execution *x, enum axiom_model model);
struct relation axiom_fenced(const struct axiom_execution *x, enum litmus_scope scope);
struct relation axiom_within(const struct axiom_execution *x, enum litmus_scope scope);

/* The axiom that the execution, which the model does not allow, breaks first, and its circle; the execution is not
 * copied. False: none is found. */
bool axiom_explain(const struct axiom_execution *x, enum axiom_model model,
                   struct axiom_refusal *refusal);

#endif
