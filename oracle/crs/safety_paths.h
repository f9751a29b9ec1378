/*
 * safety_paths.h - the check of all paths (engine/static/ptx_static.h) of small programs that are drawn, against the
 * same by its definition (engine/reference_ptx/ref_paths.h): both ways, what it reports and what it does not.
 */
#ifndef ORACLE_SAFETY_PATHS_H
#define ORACLE_SAFETY_PATHS_H

#include "engine/base/arena.h"

#include <stdint.h>

struct ast_kernel;

struct paths_fault {
    const char *part;                /* what differs; NULL: nothing */
    const char *why;                 /* a sentence */
    const struct ast_kernel *kernel; /* that was drawn */
    uint32_t line;                   /* of it */
};

/* Tokens alone, put on each other and popped in any order (engine/static/ptx_stacks.h). */
struct paths_fault safety_stacks(struct arena *arena, uint64_t seed);

/* A whole program. */
struct paths_fault safety_paths(struct arena *arena, uint64_t seed);

#endif
