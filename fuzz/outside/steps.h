/*
 * steps.h - what an implementation says of its steps (docs/protocol.md), held against what must be true of any.
 *
 *     memory   a read gives what the steps before it left there, and the memory at the end is what all of them left
 *     race     two threads do not use one word, one of them writing, unless a barrier that both passed lies between
 *     effects  each thread writes, and has atomics on, the words that it does in our semantics, in that order, the same
 *              values
 *
 * A valid kernel has no race and one memory at the end, so each thread reads the same values in every execution, and
 * does the same. What an atomic leaves depends on the others' order; the word does not.
 */
#ifndef FUZZ_OUTSIDE_STEPS_H
#define FUZZ_OUTSIDE_STEPS_H

#include "fuzz/outside/subject.h"
#include "fuzz/outside/valid.h"

/* What is wrong with them: words that are the same for the same fault. *detail says more. NULL: nothing. */
const char *steps_judge(struct arena *arena, const struct outside_expected *expected,
                        const struct outside_result *result, const char **detail);

#endif
