/*
 * race.h - data races, for every subject: lockstep-cfg Defs. 3.1 and 4.1 (CFG.race, LOCK.race), with
 * atomics as docs/kernel-language.md has them.
 *
 * Two accesses of one location of global or shared memory conflict when different threads make them,
 * at least one is a write or an atomic, and not both are atomics. A conflicting pair is a race, in
 * whatever order it comes, unless both threads are of one block and a barrier that all of that block
 * took part in lies between. Blocks are never ordered by each other's barriers; atomics order nothing.
 * Lanes of one lock-step statement are different threads. Two writes of one value race too, unless
 * benign_same_value is set.
 *
 * The detector keeps one cell a location; docs/measured.md, "Race detection". A cell is never
 * cleared: each execution, and each barrier of a block, takes a new epoch. Why little is enough:
 * before the first race at a location, the accesses of one interval are all by one thread, or all
 * reads, or all atomics; so for each kind one thread and another one tell whether a new access has a
 * conflicting partner. And before it, a location that two blocks use is only read or only used by
 * atomics, where each new access that conflicts conflicts with one of another block; so what one
 * block did in its interval matters only as long as no other block comes by. Hence, with several
 * blocks, global memory has a second cell a location, in which blocks take the place of threads, and
 * which barriers leave alone. With benign_same_value the writes of one interval may also be of one
 * value; two of them that differ in thread or value tell whether a third conflicts.
 *
 * The log is the definition itself: all accesses of one execution with the intervals of their blocks,
 * and the search for a conflicting pair among them. The oracle `race` compares the two.
 */
#ifndef ORACLE_RACE_H
#define ORACLE_RACE_H

#include "engine/machine/machine.h"

extern const char *const race_access_names[]; /* by access_kind: "read", "write", "atomic" */

struct race_access {
    uint32_t thread;
    uint32_t stm;
    enum access_kind kind;
};

/* Why two accesses of a race are not ordered by PTX's memory model (oracle/scoped). */
enum race_why {
    RACE_UNORDERED,  /* nothing is there that might */
    RACE_PLAIN_FLAG, /* a flag says so, but an access of it is plain */
    RACE_MISSING_FENCE, /* a flag says so, by strong accesses; no release before it, or no acquire behind */
    RACE_NARROW_SCOPE /* a scope does not reach the other thread */
};

extern const char *const race_why_names[]; /* by race_why: "plain flag" .. */

struct race_cause {
    enum race_why why;
    bool by_flag;               /* a flag: written and read so, by the threads of the race */
    uint32_t flag, write, read; /* its address, the statements */
    uint32_t stm;               /* the plain access; what has the narrow scope; else CODE_NONE */
    bool at_reader;             /* missing: behind the read of the flag, not before its write */
};

struct race_witness {
    uint32_t address;
    struct race_cause cause;
    struct race_access first, second; /* in the order of the execution */
    bool same_value;                  /* two writes, of one value */
    bool simultaneous; /* two writes, by threads of one step: of one lock-step statement */
};

enum { RACE_SLOTS = 2 }; /* a kind: some thread, and the latest of the others */

struct race_cell {
    uint32_t epoch;                 /* of the slots; those of another epoch are empty */
    uint16_t thread[3][RACE_SLOTS]; /* by access_kind; + 1, 0 = none: LIMIT_TOTAL_THREADS fits */
    uint32_t stm[3][RACE_SLOTS];    /* of its latest access */
    int32_t value[RACE_SLOTS];      /* of writes */
    uint32_t step[RACE_SLOTS];      /* of writes */
    uint32_t racy;                  /* number of the execution in which it raced last */
};

struct race_detector {
    struct observer observer; /* put into a machine's chain */
    const struct program *program;
    bool benign_same_value;   /* two writes of the same value in one interval are no race */
    const uint64_t *steps;    /* of the machine (race_watch); NULL: no writes are simultaneous */
    struct race_cell *cells;  /* a location of global and shared memory */
    struct race_cell *grid;   /* a location of global memory; NULL: there is one block */
    const uint16_t *block_of; /* a thread */
    uint32_t *epochs;         /* a block: of its interval */
    uint32_t epoch;           /* the latest one given out */
    uint32_t execution_epoch; /* of `grid` */
    uint32_t execution;       /* number, from 1 */
    uint32_t racy_locations;  /* of this execution */
    bool found;
    struct race_witness witness; /* of the first race of this execution */
    uint8_t *racy_stms; /* every statement that took part in a race, in any execution so far */
    uint8_t *racy_vars; /* a file-level variable: raced in any execution so far */
};

/* Marks the variable at an address. */
void race_mark_variable(const struct program *program, uint32_t address, uint8_t *racy_vars);

struct race_detector *race_new(struct arena *arena, const struct program *program);
void race_begin(struct race_detector *detector); /* a new execution */

/* The executions from now on are this machine's. */
static inline void race_watch(struct race_detector *detector, const struct machine *machine)
{
    detector->steps = &machine->steps;
}

/* Whether a location raced in this execution. */
static inline bool race_is_racy(const struct race_detector *detector, uint32_t address)
{
    return detector->cells[address].racy == detector->execution;
}

/* ---- the definition, literally ---- */

struct race_log_entry {
    uint32_t address;
    struct race_access access;
    uint32_t block, interval; /* how many barriers its block has passed */
    int32_t value;            /* of a write */
    uint32_t step;            /* how many steps came before */
};

struct race_log {
    struct observer observer;
    const struct program *program;
    bool benign_same_value;
    struct race_log_entry *entries;
    uint32_t count, capacity;
    bool overflow;         /* an execution with more accesses: nothing can be said */
    uint32_t *intervals;   /* a block */
    uint32_t step;         /* counted by itself ... */
    const uint64_t *steps; /* ... or the machine's (race_log_watch) */
    uint32_t *heads;       /* scratch: hash table of addresses, entry + 1 of the latest access */
    uint32_t *before;
};

struct race_log *race_log_new(struct arena *arena, const struct program *program,
                              uint32_t capacity);
void race_log_begin(struct race_log *log);
/* From now on the log takes the number of a step from the machine that it observes, and hears of none:
 * steps that nobody hears of are cheaper. Before machine_observe. */
void race_log_watch(struct race_log *log, const struct machine *machine);

struct race_log_result {
    bool complete; /* false: the log overflowed, or took too many comparisons */
    uint32_t racy_locations;
    bool found;
    uint32_t second; /* entry that completes the first race */
};

/* Defs. 3.1, 4.1, for two accesses of one location. */
bool race_log_is_race(const struct race_log *log, const struct race_log_entry *a,
                      const struct race_log_entry *b);

/* Looks for i < j that make a race: for all locations. */
struct race_log_result race_log_search(struct race_log *log);

/* Whether the detector's findings of the execution just ended are those of the log; otherwise *what
 * says what differs ("verdict", "locations", "witness"). After race_log_search. */
bool race_log_agrees(const struct race_log *log, const struct race_log_result *expected,
                     const struct race_detector *detector, const char **what);

#endif
