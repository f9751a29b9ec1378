/*
 * wanted.h - numbers for a kernel's parameters with which branches go ways that no execution has taken, by a solver.
 */
#ifndef FUZZ_WANTED_H
#define FUZZ_WANTED_H

#include "fuzz/grid/branches.h"

enum { WANTED_PARAMETERS = 32, WANTED_MOST = 32 };

/* One launch: what is set are numbers of parameters, the others may be anything. */
struct wanted {
    uint32_t set; /* a bit a parameter */
    int32_t values[WANTED_PARAMETERS];
};

/* What the solver (solver.h) says of ways that are not taken: of a branch whose predicate is computed from parameters
 * of 32 bits, and from %tid and the like, which have their limits; where it stands behind branches that have to be
 * passed, from these, too. At most WANTED_MOST; 0 where no solver is installed. */
uint32_t wanted_find(struct arena *arena, const struct ptx_function *entry,
                     const struct branches *branches, struct wanted wanted[WANTED_MOST]);

#endif
