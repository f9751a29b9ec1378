/*
 * executed.h - an execution of P by `interleave`, kept as a proof speaks of it: every access, what memory held when a
 * block passed a barrier, what each atomic found and left, and its races, by their definition (oracle/race/race.h).
 *
 * Up to the first read that completes a race nobody has seen what another thread did in the interval: until then, a
 * thread does what its own view says, whoever has raced by writing.
 */
#ifndef ORACLE_PROVE_EXECUTED_H
#define ORACLE_PROVE_EXECUTED_H

#include "oracle/race/race.h"

struct executed_atomic {
    uint32_t thread;
    int32_t found, left;
};

enum { EXECUTED_RACES = 64 };

/* Entries of the log. */
struct executed_race {
    uint32_t first, second;
};

struct executed {
    const struct program *program;
    uint32_t words;         /* of global and shared memory */
    const int32_t *initial; /* all of memory */
    const int32_t *final;   /* likewise */
    enum status status;
    uint32_t fault_thread; /* of an error */
    bool complete;         /* nothing was too much to be kept */
    struct race_log *log;
    uint32_t sure;       /* so many entries: the last one may be a read that completes a race */
    uint32_t race_count; /* among them; no more than there is room for */
    struct executed_race races[EXECUTED_RACES];
    uint32_t atomic_count;
    struct executed_atomic *atomics; /* in their order */
    const int32_t ***passed;         /* a block: a memory for each barrier that it passed */
    uint32_t *passed_count;          /* a block */
};

/* Of the program of P, under a schedule that the seed draws. */
const struct executed *executed_run(struct arena *arena, const struct program *program,
                                    uint64_t seed);

#endif
