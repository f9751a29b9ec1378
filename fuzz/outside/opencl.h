/*
 * opencl.h - OpenCL platforms, and anybody's program that speaks the protocol, as subjects.
 *
 *     opencl:pocl[:OPTION]...        the platform whose name holds "pocl"; -OPTION goes to its compiler, NAME=VALUE into
 *                                    its environment
 *     exec:COMMAND                   a program that speaks docs/protocol.md on its standard input and output
 */
#ifndef FUZZ_OUTSIDE_OPENCL_H
#define FUZZ_OUTSIDE_OPENCL_H

#include "fuzz/outside/subject.h"

extern const struct outside_kind outside_opencl;
extern const struct outside_kind outside_exec;

#endif
