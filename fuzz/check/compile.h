/*
 * compile.h - a source of CUDA C or OpenCL C as PTX with line information, by the compiler that is there: nvcc, or
 * clang.
 */
#ifndef FUZZ_COMPILE_H
#define FUZZ_COMPILE_H

#include "engine/base/arena.h"

#include <stdbool.h>

/* Whether the file is such a source, by its name: .cu, .cl. */
bool compile_is_source(const char *path);

/* Writes FOLDER/kernel.ptx, whose path is returned. `command` (NULL: the compiler that is there) is run by a shell,
 * with the source, -o and the output behind it. NULL: *why, what the compiler said. */
const char *compile_to_ptx(struct arena *arena, const char *path, const char *command,
                           const char *folder, const char **why);

#endif
