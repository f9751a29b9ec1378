/*
 * race.h - data races: two accesses by different threads to one location of global or shared
 * memory, at least one of them a write, with nothing that orders them.
 *
 * Structured kernels without barriers have one interval: the whole execution. One word a location,
 * [epoch:32][writer:16][reader:16] (0 = none, 0xffff = several), is never cleared: each execution
 * takes a new epoch (field.md, "Cheapest exact detector").
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

struct race_detector {
    struct observer observer; /* put into a machine's chain */
    const struct program *program;
    uint64_t *words;                /* a location */
    uint32_t *write_stm, *read_stm; /* of the last write and read, for witnesses */
    uint32_t epoch;
    bool found;
    struct race_witness witness; /* of the first race of this execution */
    uint8_t *racy_stms; /* every statement that took part in a race, in any execution so far */
    uint8_t *racy_vars; /* a file-level variable: raced in any execution so far */
};

struct race_detector *race_new(struct arena *arena, const struct program *program);
void race_begin(struct race_detector *detector); /* a new execution */

#endif
