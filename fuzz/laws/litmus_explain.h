/*
 * litmus_explain.h - why models of axioms have not an outcome: what is said against it, held against the definitions.
 */
#ifndef FUZZ_LITMUS_EXPLAIN_H
#define FUZZ_LITMUS_EXPLAIN_H

#include "engine/axiom/axiom.h"
#include "engine/reference_axiom/ref_axiom.h"

/* Of one of the outcomes of candidates that the model does not allow, where it has some. */
bool litmus_explains(struct arena *arena, const struct litmus_test *test, enum axiom_model model,
                     enum ref_axioms axioms, uint32_t limit);

#endif
