/*
 * served.h - what lives in a worker, as subjects: OpenCL platforms, Vulkan devices, browsers, NVIDIA's driver, and
 * anybody's program that speaks the protocol.
 *
 *     opencl:pocl[:OPTION]...        the platform whose name holds "pocl"; -OPTION goes to its compiler, NAME=VALUE
 *                                    into its environment
 *     vulkan[:DEVICE][:OPTION]...    the device whose name holds the text, or "lavapipe", "swiftshader"
 *     webgpu[:BROWSER]               a browser's, by the name of its program
 *     cuda[:jit=0..4][:device=N][:via=COMPILER]   the driver's compiler of PTX at a level, and a GPU (cuda.c)
 *     exec:COMMAND                   a program that speaks docs/protocol.md on its standard input and output
 */
#ifndef FUZZ_OUTSIDE_SERVED_H
#define FUZZ_OUTSIDE_SERVED_H

#include "fuzz/outside/subject.h"

extern const struct outside_kind outside_opencl;
extern const struct outside_kind outside_vulkan, outside_webgpu;
extern const struct outside_kind outside_cuda;
extern const struct outside_kind outside_exec;

/* What stands in the environment of a platform's process by its name alone ("vulkan:lavapipe:..."), as far as it is
 * installed: "VARIABLE=VALUE ...", each with a blank behind it. A program that is to show what a worker showed needs
 * the same: other platforms in one process change what happens (PoCL, for one, catches SIGFPE). */
const char *served_environment(struct arena *arena, const char *name);

#endif
