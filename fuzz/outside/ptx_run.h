/*
 * ptx_run.h - PTX that an outside compiler made, run in our own crs, thread-pc and block.
 */
#ifndef FUZZ_OUTSIDE_PTX_RUN_H
#define FUZZ_OUTSIDE_PTX_RUN_H

#include "fuzz/outside/subject.h"

/* Each kernel of the batch: its entry of the module. */
void outside_run_ptx(struct arena *arena, const char *text, size_t length,
                     const struct outside_batch *batch, struct outside_result *results);

#endif
