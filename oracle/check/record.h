/*
 * record.h - writing down the choices that an execution takes.
 */
#ifndef ORACLE_RECORD_H
#define ORACLE_RECORD_H

#include "engine/machine/machine.h"
#include "engine/schedule/tape.h"

/* Passes every choice on to `inner` and adds its answer to `tape`, which grows in the arena. */
struct recorder {
    struct choices choices; /* first member */
    struct choices *inner;
    struct tape *tape;
    struct arena *arena;
    uint64_t inner_choices; /* how often there was a choice inside a step */
};

void recorder_start(struct recorder *recorder, struct choices *inner, struct tape *tape,
                    struct arena *arena);

struct tape *record_copy(struct arena *arena, const struct tape *tape);

#endif
