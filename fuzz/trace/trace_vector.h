/*
 * trace_vector.h - the vectors that a step of a lock-step program writes: "temp = <0, 1, 2, 3>".
 */
#ifndef FUZZ_TRACE_VECTOR_H
#define FUZZ_TRACE_VECTOR_H

#include "engine/machine/observer.h"
#include "fuzz/out/json.h"
#include "fuzz/trace/trace_text.h"

/* The private scalar that the step has written, after it: its name and the components; NULL: none. */
const char *trace_vector(struct trace_text *text, const struct step_event *event);

/* The key "vector": {"variable", "values"} or null. */
void trace_vector_json(struct trace_text *text, struct json *json, const struct step_event *event);

#endif
