/*
 * source.h - where the generator's choices come from: one generator, three sources.
 *
 * - random: a PCG stream (campaigns);
 * - bytes: a buffer (libFuzzer; every buffer is a valid case, exhausted bytes give choice 0);
 * - enumerator: all choice sequences in order (exhaustive small kernels, as TigerBeetle's exhaustigen).
 *
 * Choice 0 is always the simplest, so that shorter and smaller sequences mean smaller kernels.
 */
#ifndef FUZZ_SOURCE_H
#define FUZZ_SOURCE_H

#include "engine/base/arena.h"
#include "engine/base/pcg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum source_kind { SOURCE_RANDOM, SOURCE_BYTES, SOURCE_ENUMERATE };

enum { SOURCE_ENUMERATE_MAX = 256 };

struct source {
    enum source_kind kind;
    struct pcg rng;
    const uint8_t *bytes;
    size_t length, next;
    uint32_t value[SOURCE_ENUMERATE_MAX], bound[SOURCE_ENUMERATE_MAX];
    uint32_t depth, used; /* enumerator: choices of the sequence, consumed so far */
    bool overflow;        /* enumerator: a sequence was longer than SOURCE_ENUMERATE_MAX */
};

void source_random(struct source *source, uint64_t seed, uint64_t index);
void source_bytes(struct source *source, const uint8_t *bytes, size_t length);
void source_enumerate(struct source *source);

/* Uniform in [0, bound) for random; bound >= 1. A bound of 1 draws nothing. */
uint32_t source_below(struct source *source, uint32_t bound);

/* Index of a weight, drawn in proportion to the weights (at least one is positive). */
uint32_t source_weighted(struct source *source, const uint16_t *weights, uint32_t count);

/* True in `percent` of 100 draws; choice 0 is false. The enumerator sees both answers once, and as
 * source_weighted each positive weight once: proportions would only repeat sequences. */
bool source_chance(struct source *source, uint32_t percent);

/* Enumerator: to the next sequence; false when all have been seen. */
bool source_advance(struct source *source);

#endif
