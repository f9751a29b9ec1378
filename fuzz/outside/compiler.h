/*
 * compiler.h - compilers that make PTX: clang of any version, nvcc, or a command.
 *
 *     compiler:clang-16:-O2           OpenCL C
 *     compiler:clang-16:cuda:-O1      CUDA
 *     compiler:nvcc:-O3[:sm_90]       CUDA; -O0 to -O3 are cicc's
 *     compiler:my-cc -o {out} {in.cl} a command: {in.cl} (OpenCL C) or {in.cu} (CUDA) and {out} stand for files
 */
#ifndef FUZZ_OUTSIDE_COMPILER_H
#define FUZZ_OUTSIDE_COMPILER_H

#include "fuzz/outside/subject.h"

extern const struct outside_kind outside_compiler;

#endif
