/*
 * trace.h - one execution, step by step: a table as the papers print theirs, or JSON lines.
 *
 * A row is the state after a step (simt-correctness, Example 2), with what the step executed. The
 * text is a function of (program, options): golden tests compare it byte for byte.
 */
#ifndef FUZZ_TRACE_H
#define FUZZ_TRACE_H

#include "engine/schedule/sched.h"
#include "engine/subjects/subject.h"
#include "fuzz/trace/trace_filter.h"

#include <stdio.h>

struct trace_options {
    enum subject_id subject;
    struct sched_spec schedule;
    uint64_t max_steps;
    bool json;
    uint32_t width; /* characters of a line of the table at most; 0: as many as it takes */
    struct trace_filter filter;
    /* A last line says whether the literal semantics makes the same steps. */
    bool against_reference;
};

/* Runs and prints; returns how the execution ended (STATUS_STEP_LIMIT: max_steps were taken). */
enum status trace_run(struct arena *arena, const struct program *program,
                      const struct trace_options *options, FILE *out);

/* What some schedules know beforehand, by executions that nobody sees: PCT how long executions are, SURW which
 * statements race and how often each actor comes to them. */
void trace_survey(struct arena *arena, struct machine *machine, struct sched_spec *spec,
                  uint64_t max_steps);

#endif
