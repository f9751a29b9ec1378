/*
 * litmus_explain.h - why models of axioms have not an outcome: what is said against it, held against the definitions.
 */
#ifndef FUZZ_LITMUS_EXPLAIN_H
#define FUZZ_LITMUS_EXPLAIN_H

#include "engine/axiom/axiom.h"
#include "engine/reference_axiom/ref_axiom.h"

/* Of one of the outcomes of candidates that the model does not allow, where it has some; and of its execution, and of
 * one that is allowed, that each of its relations is what the definitions say, pair by pair. */
bool litmus_explains(struct arena *arena, const struct litmus_test *test, enum axiom_model model,
                     enum ref_axioms axioms, uint32_t limit, const struct litmus_result *allowed);

#endif
