/*
 * c_run.h - a text in OpenCL C, CUDA C, GLSL or WGSL, as engine/emit writes it, run as these languages say: the threads
 * of a block one after the other, from barrier to barrier. What the language leaves open or refuses - shifts by the
 * width, signed overflow, a division by 0, an element outside, a variable that is not set, a barrier that not all come
 * to, in GLSL and WGSL a number as a truth value, in WGSL operands of two types - ends it with a name.
 */
#ifndef ORACLE_C_RUN_H
#define ORACLE_C_RUN_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct c_launch {
    const char *entry;
    uint32_t threads, blocks;
    int32_t *memory; /* the kernel's one parameter; `words` of them */
    uint32_t words;
    bool is_glsl, is_wgsl;
    bool backwards; /* the last thread runs first */
};

/* NULL: all threads have ended. Otherwise what is undefined, or what the text has that is not known here. */
const char *c_run(struct arena *arena, const char *text, const struct c_launch *launch);

#endif
