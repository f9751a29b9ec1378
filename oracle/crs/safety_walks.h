/*
 * safety_walks.h - what the check of all paths says of a program, against runs of its branch-unit instructions alone
 * whose guards are drawn.
 */
#ifndef ORACLE_SAFETY_WALKS_H
#define ORACLE_SAFETY_WALKS_H

#include "engine/program/program.h"
#include "engine/program/ptx_code.h"

/* Of a program that is said to be consistent, with these tops of stacks (ptx_static_options.tops). *why: what a run
 * shows that contradicts it, at this line; NULL: none does. */
uint32_t safety_walk(struct arena *arena, const struct program *program, const uint8_t *tops,
                     uint64_t seed, const char **why);

#endif
