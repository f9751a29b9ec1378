/*
 * trace_private.h - what a step changes that only its threads see: private and local variables, registers.
 *
 *     i = 3                     a thread; all lanes that executed the step have this value
 *     i = <0, 1, 1, 0>          a value a lane, lane 0 first
 *     i = <0, -, 2, ..., 31>    - for a lane that did not execute it, or whose element is as it was; long lists are cut
 */
#ifndef FUZZ_TRACE_PRIVATE_H
#define FUZZ_TRACE_PRIVATE_H

#include "engine/program/ptx_code.h"
#include "fuzz/out/json.h"
#include "fuzz/trace/trace_text.h"

enum { TRACE_PRIVATE_MAX = 8 };

/* One place: a variable, an element of an array, a register; a value for each lane of `lanes`. */
struct trace_place {
    const char *name;
    lane_mask executed, lanes; /* lanes of the step; those of them that the place is about */
    bool is_float, is_wide;
    uint64_t values[LIMIT_WARP];
};

struct trace_private {
    const struct machine *machine;
    int32_t *before; /* private memory before the step; structured kernels and blocks */
    uint32_t count;
    struct trace_place places[TRACE_PRIVATE_MAX];
};

/* Looks at the machine as it starts. */
void trace_private_start(struct trace_private *p, struct arena *arena,
                         const struct machine *machine);
/* What the step changed: p->places. To be called behind every step. */
void trace_private_see(struct trace_private *p, const struct trace_text *text,
                       const struct step_event *event);

/* All places, "i = 3, j = <0, 1>"; NULL: none. */
const char *trace_private_text(const struct trace_private *p, struct arena *arena);
/* [["i", [3, null, 4]], ..]: a value a lane */
void trace_private_json(const struct trace_private *p, struct json *json);

#endif
