/*
 * pcg.h - all randomness of simtfuzz: PCG32 (XSH-RR 64/32), one stream for each purpose of a case.
 *
 * Melissa O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for
 * Random Number Generation" (2014). Golden: seed 42, stream 54 gives a15c02b7 7b47f409 ba1d3330.
 * A raw case number is never a seed: it passes through SplitMix64 first (pcg_derive).
 */
#ifndef ENGINE_PCG_H
#define ENGINE_PCG_H

#include <stdint.h>

struct pcg {
    uint64_t state;
    uint64_t increment; /* odd */
};

static inline uint32_t pcg_next(struct pcg *rng)
{
    uint64_t old = rng->state;
    rng->state = old * 6364136223846793005u + rng->increment;
    uint32_t xorshifted = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t rotation = (uint32_t)(old >> 59);
    return (xorshifted >> rotation) | (xorshifted << ((32 - rotation) & 31));
}

static inline void pcg_seed(struct pcg *rng, uint64_t seed, uint64_t stream)
{
    rng->state = 0;
    rng->increment = (stream << 1) | 1;
    (void)pcg_next(rng);
    rng->state += seed;
    (void)pcg_next(rng);
}

/* Uniform in [0, bound), bound >= 1 (Lemire, "Fast Random Integer Generation in an Interval"). */
static inline uint32_t pcg_below(struct pcg *rng, uint32_t bound)
{
    uint64_t product = (uint64_t)pcg_next(rng) * bound;
    uint32_t low = (uint32_t)product;
    if (low < bound) {
        uint32_t threshold = -bound % bound;
        while (low < threshold) {
            product = (uint64_t)pcg_next(rng) * bound;
            low = (uint32_t)product;
        }
    }
    return (uint32_t)(product >> 32);
}

static inline uint64_t pcg_next64(struct pcg *rng)
{
    uint64_t high = pcg_next(rng);
    return (high << 32) | pcg_next(rng);
}

/* SplitMix64's output function: a bijection that spreads consecutive numbers. */
static inline uint64_t pcg_splitmix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* What a random stream is for; part of its name, so that no two purposes share draws. */
enum pcg_purpose {
    PCG_KERNEL,   /* the generator's choices */
    PCG_INPUT,    /* `input` memory */
    PCG_SCHEDULE, /* scheduler choices; index = number of the schedule */
    PCG_CHOICE,   /* havoc and goto; index = thread */
    PCG_REDUCE,
    PCG_MUTATE,
    PCG_ORDER, /* ties in a sort order of blocks */
    PCG_TRANSFORM,
    PCG_KNOBS /* of emitted texts */
};

/* The stream of one purpose (and index within it) under a seed. */
static inline struct pcg pcg_derive(uint64_t seed, enum pcg_purpose purpose, uint64_t index)
{
    struct pcg rng;
    pcg_seed(&rng, pcg_splitmix(seed ^ pcg_splitmix(index)),
             pcg_splitmix(index + 0x100000000u * ((uint64_t)purpose + 1)));
    return rng;
}

#endif
