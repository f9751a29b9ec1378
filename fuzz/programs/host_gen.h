/*
 * host_gen.h - random host programs whose verdict is known: work in several streams and contexts over a few buffers,
 * which events and synchronisations order, and what each buffer holds at the end. In one program of four one wait is
 * left out that nothing else stands in for: it has a race.
 *
 * What is ordered is told here by clocks of streams, as the program is made; engine/host closes a relation over its
 * statements. So each is a check of the other.
 */
#ifndef FUZZ_HOST_GEN_H
#define FUZZ_HOST_GEN_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct host_made {
    const char *text;
    bool races;      /* a wait was left out */
    const char *why; /* which */
};

/* A function of its arguments. */
struct host_made host_gen(struct arena *arena, uint64_t seed, uint64_t number);

#endif
