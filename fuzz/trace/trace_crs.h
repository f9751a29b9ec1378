/*
 * trace_crs.h - states of the PTX machines as text and JSON: of a warp what the tables of cuda-crs
 * (figures 5.2 to 5.4) show - pc, alpha, delta and the token stack, top first -, of a thread of
 * `block` where it stands.
 *
 *     (diverge,01,4) (sync,11,8)
 */
#ifndef FUZZ_TRACE_CRS_H
#define FUZZ_TRACE_CRS_H

#include "fuzz/out/json.h"
#include "fuzz/trace/trace_text.h"

/* The token stack of a warp, with the barriers that it waits for; where a thread stands. */
const char *trace_crs_stack(struct trace_text *text, uint32_t actor);
/* The instruction that comes next: "@!%p1 bra L2;" */
const char *trace_crs_top(struct trace_text *text, uint32_t actor);
/* Of a warp. */
const char *trace_crs_active(struct trace_text *text, uint32_t warp);
const char *trace_crs_disabled(struct trace_text *text, uint32_t warp);
/* thread-pc: the lanes' own, "5 5 -": - of one that has ended; NULL for `crs`. */
const char *trace_crs_pcs(struct trace_text *text, uint32_t warp);

/* "stack": [["div", "0111", 4], ..] of a warp; [] of a thread. */
void trace_crs_json_stack(struct trace_text *text, struct json *json, uint32_t actor);

#endif
