/*
 * clock.h - time, for budgets, progress and the dates of campaigns; never for a result.
 */
#ifndef FUZZ_CLOCK_H
#define FUZZ_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* For what takes less than a millisecond. */
static inline uint64_t clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static inline uint64_t clock_monotonic_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

static inline uint64_t clock_monotonic_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

/* Unix time. */
static inline uint64_t clock_unix_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

#endif
