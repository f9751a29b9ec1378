/*
 * bits.h - sets of small numbers, a bit each, in words of 64: of blocks, statements, functions, threads.
 */
#ifndef ENGINE_BITS_H
#define ENGINE_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool bits_has(const uint64_t *set, uint64_t number)
{
    return set[number / 64] >> number % 64 & 1;
}

static inline void bits_add(uint64_t *set, uint64_t number)
{
    set[number / 64] |= (uint64_t)1 << number % 64;
}

static inline void bits_remove(uint64_t *set, uint64_t number)
{
    set[number / 64] &= ~((uint64_t)1 << number % 64);
}

#endif
