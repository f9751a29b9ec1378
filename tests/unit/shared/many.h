/*
 * many.h - of cases that are drawn, or taken one by one from a list, a part by day and all every night (.ci/night): the
 * tests that ask this have the label `sampled`.
 */
#ifndef TESTS_UNIT_MANY_H
#define TESTS_UNIT_MANY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline bool many_whole(void)
{
    return getenv("SIMTFUZZ_WHOLE") != NULL;
}

/* Of so many an eighth. */
static inline uint32_t many(uint32_t all)
{
    return many_whole() ? all : all / 8;
}

/* Whether the case of this number is asked: every eighth is. */
static inline bool many_has(uint64_t number)
{
    return many_whole() || number % 8 == 0;
}

#endif
