/*
 * litmus_words.h - litmus tests as pictures and pages show them, against a second account.
 */
#ifndef FUZZ_LITMUS_WORDS_H
#define FUZZ_LITMUS_WORDS_H

#include "engine/base/arena.h"
#include "engine/litmus/litmus.h"

/* Each instruction and each word of the test is shown as it is. */
bool litmus_shows_itself(struct arena *arena, const struct litmus_test *test);

/* What the test states of its outcomes is taken where it says these sets, and nowhere else. */
bool litmus_sets_state_themselves(struct arena *arena, const struct litmus_test *test,
                                  const struct litmus_result *sc,
                                  const struct litmus_result *model);

#endif
