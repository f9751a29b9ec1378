/*
 * trace_internal.h - what trace.c and trace_json.c share: an execution that is being printed.
 */
#ifndef FUZZ_TRACE_INTERNAL_H
#define FUZZ_TRACE_INTERNAL_H

#include "fuzz/out/json.h"
#include "fuzz/out/table.h"
#include "fuzz/trace/trace.h"
#include "fuzz/trace/trace_private.h"
#include "fuzz/trace/trace_text.h"

enum { WRITES_MAX = 128 };

struct written {
    uint32_t address;
    int32_t value;
};

struct tracer {
    struct observer observer;
    struct arena *arena;
    const struct machine *machine;
    struct trace_text text;
    struct table table;
    struct json json;
    enum trace_view view;
    const struct trace_options *options;
    bool any_writes;
    uint64_t shown; /* steps that filters let pass */
    struct trace_private own;
    const char **tops;   /* an actor: what its next step executes */
    const char **blocks; /* and where, in a block program */
    uint64_t steps;
    uint32_t write_count;
    struct written writes[WRITES_MAX]; /* to global and shared memory, of the current step */
};

/* The actor in words of the launch: "7"; with several blocks "1.0", the first of block 1. */
const char *trace_actor(const struct tracer *t, uint32_t actor);
/* What the actor did; the end of a barrier is none of its steps: the barrier instruction then. */
const char *trace_executed(const struct tracer *t, const struct step_event *event);

/* The step as a line of JSON. */
void trace_print_json(struct tracer *t, const struct step_event *event);
void trace_print_environment(struct tracer *t, const struct step_event *event, const char *name);

#endif
