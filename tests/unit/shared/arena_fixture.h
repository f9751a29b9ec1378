/*
 * arena_fixture.h - for tests that need no more than an arena: set up once a program, 4 GiB of addresses.
 */
#ifndef TESTS_UNIT_ARENA_FIXTURE_H
#define TESTS_UNIT_ARENA_FIXTURE_H

#include "engine/base/arena.h"

static struct arena arena;

static inline int setup(void **state)
{
    (void)state;
    return arena_init(&arena, (size_t)4 << 30);
}

static inline int teardown(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

#endif
