/*
 * models.h - models of unrolled loops, where the solver's values are drawn term by term.
 */
#ifndef ORACLE_VERDICTS_MODELS_H
#define ORACLE_VERDICTS_MODELS_H

#include "engine/duo/lift.h"
#include "engine/prove/prove.h"

/* What a solver whose answers are drawn says that a term is: of a number the number itself. */
uint32_t models_value(uint64_t seed, const struct duo *duo, term t);

/* Obligation number `which` of the `count` that were asked about is true: what is wrong of the model, or NULL. */
const char *models_wrong(struct arena *arena, uint64_t seed, struct duo *duo,
                         const struct obligation *of, uint32_t count, uint32_t which,
                         const struct proof_model *model);

#endif
