/*
 * opencl_library.h - functions of OpenCL C that no compiler brings along for PTX, as text that is put before a kernel.
 */
#ifndef FUZZ_OPENCL_LIBRARY_H
#define FUZZ_OPENCL_LIBRARY_H

/* Work-items, barriers, atomics. */
extern const char opencl_items[];
/* sqrt, exp, min, clamp, dot, any, sign .. , and the macros that name them: a kernel's own function of such a name is
 * in their way. */
extern const char opencl_mathematics[], opencl_names[];

#endif
