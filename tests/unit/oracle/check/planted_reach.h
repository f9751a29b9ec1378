/*
 * planted_reach.h - which places of the oracles a planted fault leads to, for the search for faults (test_planted.c).
 *
 * A build whose oracles are compiled for it calls the functions below: a place is a branch that is taken so many times,
 * or a comparison that comes out so (less, by one, equal ...). In other builds nobody calls them, and there are no
 * places.
 *
 *     printf 'src:*oracle[/]*.c\nfun:*\n' > /tmp/oracles
 *     cover=-fsanitize-coverage
 *     cmake -S . -B build-reach -DCMAKE_C_COMPILER=clang-14 -DCMAKE_BUILD_TYPE=Release \
 *         -DCMAKE_C_FLAGS="$cover=inline-8bit-counters,trace-cmp $cover-allowlist=/tmp/oracles"
 *     cmake --build build-reach --target test_planted && SIMTFUZZ_PLANT=40 build-reach/tests/test_planted
 */
#ifndef TESTS_UNIT_PLANTED_REACH_H
#define TESTS_UNIT_PLANTED_REACH_H

#include "engine/base/pcg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { REACH_PLACES = 1 << 18, REACH_UNITS = 256 };

/* In memory that children share: the places of the fault at hand. */
static uint8_t *reach_places;

static struct {
    uint8_t *first, *end;
} reach_units[REACH_UNITS];
static uint32_t reach_unit_count;

static void reach_place(uint64_t place)
{
    if (reach_places)
        reach_places[pcg_splitmix(place) % REACH_PLACES] = 1;
}

static void reach_compared(const void *where, uint64_t a, uint64_t b, uint64_t half)
{
    uint64_t way = a == b ? 0 : a - b == 1 ? 1 : b - a == 1 ? 2 : a - b < half ? 3 : 4;
    if (reach_places)
        reach_place((uint64_t)(uintptr_t)where * 8 + way);
}

/* Counters of an object file. */
void __sanitizer_cov_8bit_counters_init(uint8_t *first, uint8_t *end);
void __sanitizer_cov_8bit_counters_init(uint8_t *first, uint8_t *end)
{
    for (uint32_t i = 0; i < reach_unit_count; i++)
        if (reach_units[i].first == first)
            return;
    if (first < end && reach_unit_count < REACH_UNITS) {
        reach_units[reach_unit_count].first = first;
        reach_units[reach_unit_count++].end = end;
    }
}

#define REACH_COMPARISON(name, type, half)                                                         \
    void __sanitizer_cov_trace_##name(type a, type b);                                             \
    void __sanitizer_cov_trace_##name(type a, type b)                                              \
    {                                                                                              \
        reach_compared(__builtin_return_address(0), a, b, half);                                   \
    }
REACH_COMPARISON(cmp1, uint8_t, 1 << 7)
REACH_COMPARISON(cmp2, uint16_t, 1 << 15)
REACH_COMPARISON(cmp4, uint32_t, (uint64_t)1 << 31)
REACH_COMPARISON(cmp8, uint64_t, (uint64_t)1 << 63)
REACH_COMPARISON(const_cmp1, uint8_t, 1 << 7)
REACH_COMPARISON(const_cmp2, uint16_t, 1 << 15)
REACH_COMPARISON(const_cmp4, uint32_t, (uint64_t)1 << 31)
REACH_COMPARISON(const_cmp8, uint64_t, (uint64_t)1 << 63)
#undef REACH_COMPARISON

void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases);
void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases)
{
    (void)value; /* its branches are counted */
    (void)cases;
}

/* Before a fault is tried, in its process. */
static void reach_begin(void)
{
    for (uint32_t u = 0; u < reach_unit_count; u++)
        memset(reach_units[u].first, 0, (size_t)(reach_units[u].end - reach_units[u].first));
}

/* Behind it: how often each branch was taken, roughly. */
static void reach_end(void)
{
    for (uint32_t u = 0; u < reach_unit_count; u++)
        for (uint8_t *c = reach_units[u].first; c < reach_units[u].end; c++)
            if (*c > 0)
                reach_place((uint64_t)(uintptr_t)c * 8 + (*c < 4 ? *c : *c < 16 ? 4 : 5) + 1);
}

#endif
