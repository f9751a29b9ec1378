/*
 * footprint.h - what a statement may access, by its text: reducing searches and schedules go by what the program says
 * of it, so that where this is wrong they are, too.
 */
#ifndef ORACLE_SEARCHES_FOOTPRINT_H
#define ORACLE_SEARCHES_FOOTPRINT_H

struct arena;
struct program;

#define FOOTPRINT "what a statement may access"

/* A statement of the program reads or writes other variables than are told of it: FOOTPRINT ": at line 3"; or NULL. */
const char *footprint_differs(struct arena *arena, const struct program *program);

#endif
