/*
 * term_value.h - terms evaluated: what each is where symbols have the values given.
 */
#ifndef ENGINE_SMT_TERM_VALUE_H
#define ENGINE_SMT_TERM_VALUE_H

#include "engine/smt/term.h"

/* An array's elements: what was stored last, on top of the elements below; below all each is one of `elements`, or
 * drawn by the seed, or is `value`. */
struct term_array {
    const struct term_array *below;
    uint64_t seed; /* 0: none */
    int32_t index, value;
    const int32_t *elements; /* element_count of them; or NULL */
    uint32_t element_count;
};

int32_t term_array_element(const struct term_array *array, int32_t index);

/* By terms: a Boolean is 0 or 1, a word stands with its sign; arrays live in the arena. */
struct term_values {
    struct arena *arena;
    int64_t *words;
    const struct term_array **arrays;
};

void term_values_init(struct term_values *values, struct arena *arena, uint32_t count);

/* A word that depends on the seed only: mostly a small one. */
int32_t term_drawn_word(uint64_t seed);

/* A symbol's value drawn by the seed: of a limited one below its limit. */
void term_value_draw(const struct terms *terms, struct term_values *values, term symbol,
                     uint64_t seed);

/* The terms of the list, whose operands have values or stand earlier in it; symbols keep theirs. */
void term_values_find(const struct terms *terms, struct term_values *values, const term *list,
                      uint32_t count);

#endif
