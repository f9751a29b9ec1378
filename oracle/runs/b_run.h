/*
 * b_run.h - a small interpreter of kernels that are written as `blocks` (docs/protocol.md), whose threads run one
 * after the other.
 */
#ifndef ORACLE_B_RUN_H
#define ORACLE_B_RUN_H

#include "oracle/runs/c_run.h"

/* Runs the kernel; NULL: it has ended, and launch->memory is what it leaves. Otherwise why not. */
const char *b_run(const char *text, const struct c_launch *launch);

#endif
