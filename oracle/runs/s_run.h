/*
 * s_run.h - a small interpreter of the sequential text that two threads are printed as
 * (engine/sequential/sequential.h): of the tutorial's style, whose LOG_ and CHECK_ it knows, and of Boogie's. A loop,
 * which may make any number of trips, makes as many as what it assumes at its head allows. What is assigned to is
 * declared once; x#1$2 is what x$2 was before a loop, where an invariant names it.
 */
#ifndef ORACLE_S_RUN_H
#define ORACLE_S_RUN_H

#include <stdbool.h>
#include <stdint.h>

enum { S_CELLS = 512 /* a power of two */, S_ELEMENTS = 8, S_NAME = 24, S_DEPTH = 8 };

/* A word, a truth, or an array. */
struct s_value {
    int32_t word, element[S_ELEMENTS];
};

struct s_cell {
    char name[S_NAME];
    bool is_declared, is_assigned;
    struct s_value value;
};

enum s_end { S_PASSES, S_FAILS /* an assert */, S_IMPOSSIBLE /* an axiom, an assume */, S_UNKNOWN };

struct s_run {
    const char *at, *shared; /* shared: the array that threads of one block alone conflict about */
    struct s_cell cells[S_CELLS]; /* by a hash of the name */
    const char *bodies[S_DEPTH];  /* of what braces are around: a loop's first line; or NULL */
    uint32_t count, depth, steps;
    bool unknown; /* what the text says */
};

/* Variables that are not set are 0. */
void s_set(struct s_run *run, const char *name, int32_t word);
void s_set_element(struct s_run *run, const char *name, uint32_t element, int32_t word);
enum s_end s_run(struct s_run *run, const char *text);

#endif
