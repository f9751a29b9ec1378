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

/* The PTX that a compiler of this kind makes of a batch; NULL: the results say why not. */
const char *compiler_make_ptx(struct arena *arena, const struct outside_subject *subject,
                              const struct outside_settings *settings,
                              const struct outside_batch *batch, struct outside_result *results,
                              size_t *length);

#endif
