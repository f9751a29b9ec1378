/*
 * trace_filter.h - which steps of an execution a trace shows. All steps are taken; filters hide rows.
 */
#ifndef FUZZ_TRACE_FILTER_H
#define FUZZ_TRACE_FILTER_H

#include "engine/machine/machine.h"
#include "fuzz/trace/trace_text.h"

#include <stdbool.h>

struct trace_filter {
    const char *warp;  /* "3" through the grid, "1.0" the first of block 1; NULL: all */
    const char *lines; /* "4", "4-9", "4-9,12"; NULL: all */
    const char *rules; /* "if,token"; NULL: all */
    const char *watch; /* "i,s[3],%r1": steps that write one of these; NULL: all */
};

static inline bool trace_filters(const struct trace_filter *filter)
{
    return filter->warp || filter->lines || filter->rules || filter->watch;
}

/* What is wrong with a filter's text, for a message; NULL: nothing. */
const char *trace_filter_refuses(const struct trace_filter *filter, struct arena *arena,
                                 const struct program *program);

/* Whether the filters but `watch` let the step pass. */
bool trace_filter_wants(const struct trace_filter *filter, const struct machine *machine,
                        enum trace_view view, const struct step_event *event);
/* Whether `name` - "s[3]", "i", "%r1" - is watched: itself, or the array that it is an element of. */
bool trace_filter_watches(const struct trace_filter *filter, const char *name);

#endif
