/*
 * race.h - data races: two accesses by different threads to one location of global or shared
 * memory, at least one of them a write, with nothing that orders them.
 *
 * Structured kernels without barriers have one interval: the whole execution. The detector keeps one
 * cell a location - the last writer, a reader, and another reader - which is enough to find out at
 * each access whether it conflicts with an earlier one, and to name both (field.md, "Cheapest exact
 * detector"). A cell is never cleared: each execution takes a new epoch.
 *
 * The log is the definition itself: all accesses of one execution, and the search for a conflicting
 * pair among them. The oracle `race` compares the two.
 */
#ifndef ORACLE_RACE_H
#define ORACLE_RACE_H

#include "engine/machine.h"

struct race_access {
    uint32_t thread;
    uint32_t stm;
    bool write;
};

struct race_witness {
    uint32_t address;
    struct race_access first, second; /* in the order of the execution */
};

struct race_cell {
    uint32_t epoch;
    uint16_t writer; /* thread + 1 of the last write, 0 = none: LIMIT_TOTAL_THREADS fits */
    uint16_t reader; /* the first thread that read */
    uint16_t other;  /* the latest thread but `reader` that read */
    uint16_t racy;   /* 1: raced in this execution */
    uint32_t write_stm, read_stm, other_stm; /* of the latest access of each */
};

struct race_detector {
    struct observer observer; /* put into a machine's chain */
    const struct program *program;
    struct race_cell *cells; /* a location of global and shared memory */
    uint32_t epoch;
    uint32_t racy_locations; /* of this execution */
    bool found;
    struct race_witness witness; /* of the first race of this execution */
    uint8_t *racy_stms; /* every statement that took part in a race, in any execution so far */
    uint8_t *racy_vars; /* a file-level variable: raced in any execution so far */
};

struct race_detector *race_new(struct arena *arena, const struct program *program);
void race_begin(struct race_detector *detector); /* a new execution */

/* ---- the definition, literally ---- */

struct race_log_entry {
    uint32_t address;
    struct race_access access;
};

struct race_log {
    struct observer observer;
    struct race_log_entry *entries;
    uint32_t count, capacity;
    bool overflow;   /* an execution with more accesses: nothing can be said */
    uint32_t *heads; /* scratch: hash table of addresses, entry + 1 of the latest access */
    uint32_t *before;
};

struct race_log *race_log_new(struct arena *arena, uint32_t capacity);
void race_log_begin(struct race_log *log);

struct race_log_result {
    bool complete; /* false: the log overflowed, or took too many comparisons */
    uint32_t racy_locations;
    bool found;
    uint32_t second; /* entry that completes the first race */
};

/* Looks for i < j with the same address, different threads and at least one write: all of them. */
struct race_log_result race_log_search(struct race_log *log);

/* Whether the detector's findings of the execution just ended are those of the log; otherwise *what
 * says what differs ("verdict", "locations", "witness"). */
bool race_log_agrees(const struct race_log *log, const struct race_log_result *expected,
                     const struct race_detector *detector, const char **what);

#endif
