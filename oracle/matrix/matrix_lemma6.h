/*
 * matrix_lemma6.h - what Lemma 6 (lemma6.h) says in the termination matrix: rows of the structured program end
 * where its hypothesis is proven, whatever the number of states.
 */
#ifndef ORACLE_MATRIX_LEMMA6_H
#define ORACLE_MATRIX_LEMMA6_H

#include "engine/subjects/forms.h"
#include "oracle/lemma6/lemma6.h"

enum matrix_hypothesis { HYPOTHESIS_HOLDS, HYPOTHESIS_FAILS, HYPOTHESIS_UNKNOWN };

extern const char *const matrix_hypothesis_names[]; /* "holds", "fails", "unknown" */

struct matrix_lemma6 {
    enum matrix_hypothesis hypothesis;
    struct lemma6 proof;
    struct lemma6_refutation refutation;
    uint32_t line; /* of the loop of a refutation; 0: it reads nothing shared */
    const char *sentence;
    const char *broken; /* both proven and refuted: a fault of simtfuzz */
};

/* NULL: the kernel is not structured. refute_steps: 0: many. */
const struct matrix_lemma6 *matrix_lemma6(struct forms *forms, uint64_t max_steps,
                                          uint64_t refute_steps, uint64_t seed);

/* Why executions of the subject end, or NULL: the lemma does not say that they do. */
const char *matrix_lemma6_ends(struct arena *arena, const struct matrix_lemma6 *lemma,
                               enum subject_id subject);

#endif
