/*
 * tape_player.h - for tests: an execution by a tape (tape.h), actor by actor; choices inside a step come from it too.
 */
#ifndef TESTS_UNIT_TAPE_PLAYER_H
#define TESTS_UNIT_TAPE_PLAYER_H

#include "tests/unit/shared/support.h"

struct player {
    struct choices choices; /* first member */
    const struct tape *tape;
    uint32_t at;
};

/* The tape's next entry is a choice inside of a step, among n. */
static inline uint32_t play_inner(struct choices *choices, uint32_t n)
{
    struct player *player = (struct player *)choices;
    assert_true(player->at < player->tape->count);
    uint32_t entry = player->tape->entries[player->at++];
    assert_true(entry & TAPE_INNER);
    assert_true((entry & ~(uint32_t)TAPE_INNER) < n);
    return entry & ~(uint32_t)TAPE_INNER;
}

#endif
