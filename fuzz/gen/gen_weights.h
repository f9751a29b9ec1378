/*
 * gen_weights.h - weights of the generator's decisions other than those of features.def.
 *
 * A percentage a row of the table, named as it is there: "stm.loop", "warp.8"; and one a feature, which all
 * rows of the feature are multiplied by: "loops". 100 changes nothing; 0 does not exist, since what is never
 * to be made is a feature less. So whatever the weights are, the same kernels are possible.
 *
 * Weights are part of a case: with others, the same seed and number are another kernel.
 */
#ifndef FUZZ_GEN_WEIGHTS_H
#define FUZZ_GEN_WEIGHTS_H

#include "fuzz/gen/gen.h"

enum { GEN_WEIGHT_MAX = 10000 }; /* per cent */

/* All at 100. */
struct gen_weights *gen_weights_new(struct arena *arena);

struct gen_weights *gen_weights_copy(struct arena *arena, const struct gen_weights *weights);

/* False: there is no such name, or the percentage is not from 1 to GEN_WEIGHT_MAX. */
bool gen_weights_set(struct gen_weights *weights, const char *name, size_t length,
                     uint64_t percent);
/* "200", "200%"; 0: that is none. */
uint32_t gen_weights_percent(const char *text, size_t length);

/* Those that are not 100: "loops:200,stm.call:50"; "" when there are none. NULL: as well. */
char *gen_weights_print(struct arena *arena, const struct gen_weights *weights);
/* A list as it is printed. *weights: NULL for "". False: *error_at is the item that is wrong. */
bool gen_weights_parse(struct arena *arena, const char *text, const struct gen_weights **weights,
                       const char **error_at);

/* All names, those of features first; NULL behind the last. */
const char *gen_weight_name(struct arena *arena, uint32_t index);
/* What it is at: per cent. NULL: 100. */
uint32_t gen_weight_percent(const struct gen_weights *weights, uint32_t index);
/* The number in features.def; 0 of a feature. */
uint32_t gen_weight_default(uint32_t index);

#endif
