/*
 * c_run.h - a text in OpenCL C, CUDA C or GLSL, as engine/emit writes it, run as C says: thread by thread, one after
 * the other. What the language leaves open - shifts by the width, signed overflow, a division by 0, an element
 * outside - ends it with a name.
 */
#ifndef ORACLE_EMITTED_C_RUN_H
#define ORACLE_EMITTED_C_RUN_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct c_launch {
    const char *entry;
    uint32_t threads, blocks;
    int32_t *memory; /* the kernel's one parameter; `words` of them */
    uint32_t words;
    bool open_rests; /* GLSL: what a rest is of negative numbers is left open */
};

/* NULL: all threads have ended. Otherwise what is undefined, or what the text has that is not known here. */
const char *c_run(struct arena *arena, const char *text, const struct c_launch *launch);

#endif
