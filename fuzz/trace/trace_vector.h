/*
 * trace_vector.h - the vectors that a step of a lock-step program writes: "temp = <0, 1, 2, 3>".
 */
#ifndef FUZZ_TRACE_VECTOR_H
#define FUZZ_TRACE_VECTOR_H

#include "engine/machine/observer.h"
#include "fuzz/out/json.h"
#include "fuzz/trace/trace_text.h"

/* A private scalar that a step has written in every component. */
struct trace_vector {
    const char *name;
    const struct code_place *place;
    uint32_t count; /* components */
    const uint32_t *threads;
};

/* False: the step writes none. */
bool trace_vector_see(const struct trace_text *text, const struct step_event *event,
                      struct trace_vector *vector);
/* Component i, after the step. */
int32_t trace_vector_component(const struct trace_text *text, const struct trace_vector *vector,
                               uint32_t i);

/* The private scalar that the step has written, after it: its name and the components; NULL: none. */
const char *trace_vector(struct trace_text *text, const struct step_event *event);

/* The key "vector": {"variable", "values"} or null. */
void trace_vector_json(struct trace_text *text, struct json *json, const struct step_event *event);

#endif
