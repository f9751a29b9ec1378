/*
 * executed.h - an execution of P by `interleave`, of PTX by `block`, kept as a proof speaks of it: every access, what
 * memory held when a block passed a barrier, what each atomic found and left, of PTX what each instruction gave, and
 * its races, by their definition (oracle/race/race.h).
 *
 * Up to the first read that completes a race nobody has seen what another thread did in the interval: until then, a
 * thread does what its own view says, whoever has raced by writing.
 */
#ifndef ORACLE_PROVE_EXECUTED_H
#define ORACLE_PROVE_EXECUTED_H

#include "engine/program/ptx_code.h"
#include "oracle/race/race.h"

struct executed_atomic {
    uint32_t thread;
    int32_t found, left;
};

/* An instruction of PTX that a thread has done: all but branches. */
struct executed_op {
    uint32_t thread, pc;
    uint32_t entries; /* of the log, by then */
    uint64_t results[PTX_CODE_RESULTS];
    uint64_t left; /* an atomic: in memory */
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
    uint32_t known;      /* entries, without that one */
    uint32_t race_count; /* among them; no more than there is room for */
    struct executed_race races[EXECUTED_RACES];
    uint32_t atomic_count;
    struct executed_atomic *atomics; /* in their order */
    uint32_t op_count;
    struct executed_op *ops; /* in their order; of PTX */
    const int32_t ***passed; /* a block: a memory for each barrier that it passed */
    uint32_t *passed_count;  /* a block */
};

/* Of the program of P, or of PTX, under a schedule that the seed draws. */
const struct executed *executed_run(struct arena *arena, const struct program *program,
                                    uint64_t seed);

#endif
