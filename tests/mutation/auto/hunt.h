/*
 * hunt.h - what the hunter's files share: hunt.c (processes, the command line), hunt_choose.c (which mutants),
 * hunt_table.c (the lines of the table).
 */
#ifndef HUNT_H
#define HUNT_H

#include "tests/mutation/auto/trials.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

enum { SEEDS_MAX = 16, JOBS_MAX = 64, NAME_BYTES = 512, NOTE_BYTES = 160, ONLY_MAX = 64 };

struct options {
    uint32_t cases, seeds, jobs, sample, draw, patience; /* 0: none */
    const char *only[ONLY_MAX];
    uint32_t only_count;
    const char *corpus, *canaries, *units, *output, *names;
    bool list, blind, reach;
};

enum found {
    FOUND_NOT,
    FOUND_ORACLE,
    FOUND_CRASH,
    FOUND_HANG,
    FOUND_CANARY,
    FOUND_CORPUS,
    FOUND_UNIT,
    FOUND_SLOW,
    FOUND_NOTHING
};

/* What a mutant is asked after its campaigns, in this order. */
enum later { LATER_CANARIES, LATER_CORPUS, LATER_UNITS, LATER_COUNT };

/* Of one campaign of a mutant, or of what is asked later. */
struct hunted {
    enum found found;
    uint32_t trial;   /* that it was found in */
    uint32_t oracles; /* that spoke, or were silent about a canary */
    uint64_t steps;
    int64_t triggered; /* case; -1: none */
    char note[NOTE_BYTES];
};

/* A mutant in work: the phases are its campaigns, then what is asked later. */
struct job {
    int mutant;
    uint32_t phase, trial; /* where the child is */
    struct hunted outcomes[SEEDS_MAX + LATER_COUNT];
};

struct slot {
    pid_t child; /* 0: free */
    size_t index;
    FILE *words; /* of the child: standard error */
};

struct unit_order {
    uint32_t infected, trial; /* how many mutants the trial infects */
    bool golden;
};

struct hunt {
    struct options options;
    struct trials trials;
    int *mutants; /* to hunt */
    size_t count, written;
    struct job **done; /* a mutant; NULL: not yet */
    struct slot slots[JOBS_MAX];
    struct job *shared; /* a slot */
    struct unit_order *unit_order;
    uint32_t units;
    FILE *out;
};

static inline bool hunt_detected(const struct hunted *o)
{
    return o->found != FOUND_NOT && o->found != FOUND_SLOW && o->found != FOUND_NOTHING;
}

/* Fills in hunt->mutants: as the options ask, without those that are in the output. False: reported. */
bool hunt_choose(struct hunt *hunt);

/* Writes the lines of what is done, in the order of the mutants. */
void hunt_write_done(struct hunt *hunt);

/* --reach: in how many trials each mutant is infected. */
void hunt_write_reach(const struct hunt *hunt);

#endif
