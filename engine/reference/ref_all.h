/*
 * ref_all.h - all executions of a small kernel, without any reduction: every actor that can step does so from every
 * state, with every order of the lanes that write. What is found are the states, the steps between them, how executions
 * end, and whether some execution has a race (lockstep-cfg Defs. 3.1, 4.1): the accesses that it has had are part of
 * what is told apart until there is one.
 *
 * Not for REF_SPLITS, nor for kernels that call functions with barriers. Of a loop with a barrier its trips since the
 * block's last release are a part of the state: all who pass have had as many, and nothing but a barrier compares them.
 */
#ifndef ENGINE_REF_ALL_H
#define ENGINE_REF_ALL_H

#include "engine/reference/reference.h"

#define REF_ALL_NONE UINT32_MAX

enum { REF_ALL_ACTORS = 4, REF_ALL_LANES = 3, REF_ALL_WORDS = 8 };

struct ref_all_state {
    const unsigned char *key;
    uint32_t key_bytes;
    bool over, live[REF_ALL_ACTORS];
    bool final
        [REF_ALL_ACTORS]; /* nothing is left to do of the text: REF_INTERLEAVE: a barrier before End may be */
    /* REF_THREADS: at one program counter with it are those of these bits (simt-correctness 5.2) */
    uint32_t at_place_of[REF_ALL_ACTORS];
    struct ref_all_accesses *seen; /* with these it has been come to */
    uint32_t first_edge;           /* that leads on; REF_ALL_NONE */
    struct ref_all_state *next;    /* of those with one sum */
};

struct ref_all_edge {
    uint32_t actor, to;
    uint32_t reads,
        writes;        /* words of global and shared memory, bit w of word w; an atomic does both */
    uint32_t released; /* the block whose barrier ends with the step, + 1 */
    uint32_t other;    /* from the same state; REF_ALL_NONE */
};

struct ref_all_outcome {
    enum ref_end end;
    const int32_t *store; /* of REF_TERMINATED: global and shared memory */
};

struct ref_all {
    struct ref_all_state *states; /* the first is the start */
    struct ref_all_edge *edges;
    struct ref_all_outcome *outcomes;
    uint32_t state_count, edge_count, outcome_count, words;
    bool race, own_choices; /* own_choices: a thread has made one */
    const char
        *cut; /* it is not all: "states", "depth", .., or what the reference does not know; NULL */
};

/* Fills in all but what bounds cut off: so many states. The reference is left in any state. */
void ref_all(struct arena *arena, struct ref *r, const int32_t *inputs, uint32_t most_states,
             struct ref_all *all);

#endif
