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
/* convert_*_sat, _rte and the like to integers of up to 32 bits; work_group_reduce, _scan, _broadcast, _all, _any. */
extern const char opencl_conversions[], opencl_groups[];

#endif
