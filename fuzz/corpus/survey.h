/*
 * survey.h - many kernels about waiting (gen_spin.h), each under every execution model: how many end, which
 * kernels tell two models apart, and whether an implication among models is broken by any.
 *
 * Sums over distinct kernels, by a hash of their texts: the same with any number of workers.
 */
#ifndef FUZZ_SURVEY_H
#define FUZZ_SURVEY_H

#include "fuzz/generate/generate.h"
#include "oracle/matrix/matrix.h"

enum { SURVEY_MODELS = 128 }; /* all units' */

struct survey_options {
    struct gen_options gen;
    struct matrix_options matrix; /* matrix.stop: not 0 ends it, with what was found */
    uint64_t seed, cases;         /* 0: all of an enumeration */
    uint32_t jobs;
    /* Told by the first worker after each of its kernels how many distinct ones were begun; or NULL. */
    void (*tell)(void *context, uint64_t kernels);
    void *tell_context;
};

/* "threads obe", as model_of and unit_of have it. */
struct survey_model {
    uint64_t endings[ENDING_COUNT]; /* kernels */
};

struct survey_result {
    uint64_t cases, kernels;      /* of these distinct */
    uint64_t states, most_states; /* of single threads, all kernels' together; the most of one */
    struct survey_model models[SURVEY_MODELS];
    /* Kernels that always end under the first, and may hang under the second. */
    uint64_t apart[SURVEY_MODELS][SURVEY_MODELS];
    uint64_t classes[MATRIX_CLASS_COUNT]; /* kernels whose rows differ so */
    uint64_t broken;                      /* kernels with an implication that does not hold */
    uint64_t broken_case;                 /* the first of them */
    char broken_text[200];                /* which */
};

/* The index of a model: of a unit, by its place in matrix_model_names. */
static inline uint32_t survey_index(enum matrix_unit unit, uint32_t model)
{
    return unit * matrix_model_count + model;
}

/* False: the system refuses memory or threads. */
bool survey_run(const struct survey_options *options, struct survey_result *result);

#endif
