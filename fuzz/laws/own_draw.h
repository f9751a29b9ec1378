/*
 * own_draw.h - litmus tests about caches drawn as what their text means, over all that docs/memory.md lets a text say:
 * every keyword, name and bound. Whether such a test has an execution does not matter.
 */
#ifndef FUZZ_OWN_DRAW_H
#define FUZZ_OWN_DRAW_H

#include "fuzz/laws/litmus_draw.h"

void litmus_draw_own(struct pcg *rng, struct drawn_test *test);
const char *litmus_draw_own_text(struct arena *arena, const struct drawn_test *test);
/* What was read of it is what is meant, and so is what stands behind it in the text. */
bool litmus_own_is(struct arena *arena, const struct drawn_test *test, const char *text);
void litmus_drop_own(struct drawn_test *test, uint32_t thread, uint32_t at);

#endif
