/*
 * ptx_draw.h - litmus tests of PTX, drawn as what they mean, and their texts.
 */
#ifndef FUZZ_PTX_DRAW_H
#define FUZZ_PTX_DRAW_H

#include "fuzz/laws/litmus_draw.h"

void litmus_draw_ptx(struct pcg *rng, struct drawn_test *test);
/* What follows from the instructions: numbers of registers, whom a barrier waits for, what is observed. */
void litmus_settle_ptx(struct drawn_test *test);
void litmus_drop_ptx(struct drawn_test *test, uint32_t thread, uint32_t at);

/* It writes a register. */
static inline bool ptx_has_result(const struct litmus_instruction *in)
{
    return in->op == LITMUS_LD || in->op == LITMUS_MOV || in->op == LITMUS_ADD ||
           (in->op > LITMUS_ST && in->op <= LITMUS_CAS && !in->no_result);
}

/* ptx_text.c. NULL: there is nothing to observe. */
const char *litmus_draw_ptx_text(struct arena *arena, const struct drawn_test *test);
/* What differs between a test and one that is meant; NULL: nothing does. */
const char *litmus_ptx_differs(const struct litmus_test *test, const struct litmus_test *meant);
/* Whether the condition is true of an outcome, by its definition. */
bool litmus_ptx_true(const struct litmus_condition *condition, const int16_t *values);

#endif
