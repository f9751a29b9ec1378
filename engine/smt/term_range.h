/*
 * term_range.h - what is known of a word from its operands: between which values it lies, which of its lowest bits
 * are 0. For engine/smt/ only.
 */
#ifndef ENGINE_TERM_RANGE_H
#define ENGINE_TERM_RANGE_H

#include "engine/smt/term.h"

/* Fills in least, most, zeros of a node whose operands have theirs. */
void term_set_range(const struct terms *terms, struct term_node *node);

/* Whether a sum, difference or product may be no word of its size, so that it wraps. */
bool term_may_wrap(const struct terms *terms, const struct term_node *node);

/* Whether the value is one that is known to be possible: of arrays nothing is known. */
bool term_is_within(const struct terms *terms, term t, int64_t value);

/* Two words whose ranges have nothing in common, or of which one is a number that has a lowest bit where the
 * other has none. */
bool term_is_never_equal(const struct terms *terms, term a, term b);

#endif
