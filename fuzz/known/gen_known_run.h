/*
 * gen_known_run.h - the execution of a program with a known result: gen_known_run.c each thread's statements,
 * gen_known_together.c what threads do together.
 */
#ifndef FUZZ_GEN_KNOWN_RUN_H
#define FUZZ_GEN_KNOWN_RUN_H

#include "fuzz/known/gen_known.h"

/* Of a call, for all threads that are in it. */
struct known_frame {
    uint64_t registers[KNOWN_CLASSES][KNOWN_REGISTERS][KNOWN_THREADS];
    uint8_t local[KNOWN_THREADS][KNOWN_AREA], local_too[KNOWN_THREADS][KNOWN_AREA];
    uint32_t depth[KNOWN_THREADS]; /* the parameter that recursion counts down */
    uint32_t trail[KNOWN_THREADS]; /* of nodes that are noted */
    known_mask returned;
};

struct known_execution {
    struct known_program *p;
    known_mask exited;
    uint8_t shared[KNOWN_THREADS][KNOWN_AREA];
};

#define KNOWN_EACH(t, mask)                                                                        \
    for (known_mask rest_ = (mask); rest_; rest_ &= rest_ - 1)                                     \
        for (uint32_t t = (uint32_t)__builtin_ctzll(rest_), once_ = 1; once_; once_ = 0)

uint64_t known_get(const struct known_frame *f, const struct known_operand *o, uint32_t t);
void known_set(struct known_frame *f, const struct known_operand *o, uint32_t t, uint64_t value);

/* The thread's bytes in a state space. */
uint8_t *known_area(struct known_execution *r, struct known_frame *f, enum known_space space,
                    uint32_t t);
uint64_t known_peek(const uint8_t *at, uint32_t bytes);
void known_poke(uint8_t *at, uint32_t bytes, uint64_t value);

/* Nodes of threads together: KNOWN_EXCHANGE, _PAIR, _SUBSET, _REDUCE, _ATOMIC, _OWN, _WARP, _FLAW (KNOWN_SEVERAL);
 * mask: who takes part. */
void known_run_together(struct known_execution *r, struct known_frame *f,
                        const struct known_node *n, known_mask mask);

#endif
