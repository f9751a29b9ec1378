/*
 * launch_print.h - what the threads of a launch print: vprintf, as CUDA's kernels call it.
 */
#ifndef ORACLE_LAUNCH_PRINT_H
#define ORACLE_LAUNCH_PRINT_H

#include "engine/machine/machine.h"
#include "engine/program/ptx_code.h"

enum { LAUNCH_PRINT_BYTES = 1 << 20 }; /* as CUDA's buffer by default */

struct launch_print {
    struct observer observer;
    char *text; /* of LAUNCH_PRINT_BYTES */
    size_t length;
    uint64_t dropped; /* calls for which there was no room */
};

/* NULL: the program prints nothing. */
struct launch_print *launch_print_new(struct arena *arena, const struct program *program);

#endif
