/*
 * features.h - what happened in a case, as a map of counters: coverage.
 *
 * A feature is a counter of the map with the power of two that it has reached: rules that fired, pairs of
 * consecutive rules of one thread or warp, shapes of token stacks, patterns of masks, barriers, races,
 * statuses, verdicts. Each kind has a domain of its own (features.def), so that a rich one does not drown
 * another. A feature's number is fixed for one build; its name - "pair simt.if -> simt.while" - keeps its
 * meaning.
 *
 * check_kernel fills the map that check_options.features points to, from an observer in the first
 * FEATURES_EXECUTIONS executions of each subject and from what it knows of all. It adds: the caller clears.
 * A map is a function of (kernel, options), as the result is; it changes nothing of the result.
 */
#ifndef ORACLE_FEATURES_H
#define ORACLE_FEATURES_H

#include "engine/schedule/sched.h"
#include "oracle/check/verdict.h"

enum {
    FEATURES_EXECUTIONS = 1,
    FEATURES_BUCKETS = 8, /* 1, 2-3, 4-7, .. 64-127, 128 and more */

    FEATURES_SIMT_RULES = RULE_SIMT_BARRIER_F - RULE_SIMT_SKIP + 1,
    FEATURES_CRS_RULES = RULE_PTX_BAR_WARP - RULE_CRS_NEXT + 1,
    FEATURES_LOCKSTEP_RULES = RULE_LOCK_RETURN - RULE_LOCK_SKIP + 1,
    FEATURES_SHAPES = 1 + 4 + 16 + 64, /* the top tokens of a stack: at most three, of four kinds */
    FEATURES_DEPTHS = 16,
    FEATURES_ACTIVES = 4,                      /* none, one, some, all */
    FEATURES_MASKS = FEATURES_ACTIVES * 8 * 4, /* active, kinds of disabled, topmost token */
    FEATURES_GENERATIONS = 4,
    FEATURES_BARRIERS = (2 + 3 * 2 * 2) * FEATURES_GENERATIONS,
    FEATURES_RACES = 3 * 3 * 3 * 8, /* accesses, distance of threads, three properties */
    FEATURES_OUTCOMES = 4 * 2 * 2,
    FEATURES_REASONS = 16,
    FEATURES_SUBJECTS = 0 /* the ordinary ones, first in the table */
#define SUBJECT(id, name, semantics, program, role, ...) +(SUBJECT_##role == SUBJECT_ORDINARY)
#include "engine/subjects/subject.def"
#undef SUBJECT
};

enum features_domain {
#define FEATURES(id, name, count, sentence) FEATURES_##id,
#include "oracle/coverage/features.def"
#undef FEATURES
    FEATURES_DOMAIN_COUNT
};

enum {
    FEATURES_COUNT = 0 /* counters in all domains */
#define FEATURES(id, name, count, sentence) +(count)
#include "oracle/coverage/features.def"
#undef FEATURES
};

struct features_info {
    const char *name, *sentence;
    uint32_t first, count; /* its counters */
};

extern const struct features_info features_table[FEATURES_DOMAIN_COUNT];

/* Counters stop at 255. Bytes, so that libFuzzer can take the map as its extra counters. */
struct features {
    uint8_t count[FEATURES_COUNT];
};

void features_clear(struct features *features);

/* A feature: counter * FEATURES_BUCKETS + bucket. */
static inline uint32_t features_bucket(uint8_t count) /* of a count above 0 */
{
    return 31u - (uint32_t)__builtin_clz(count);
}

/* The features of a map, ascending; at most `capacity` are written. Returns how many there are. */
uint32_t features_list(const struct features *features, uint32_t *list, uint32_t capacity);

static inline uint32_t features_counter(uint32_t feature)
{
    return feature / FEATURES_BUCKETS;
}

/* Of a counter. */
enum features_domain features_domain_of(uint32_t counter);

/* "pair simt.if -> simt.while", "simt-stack simt.break: sync brk call": the counter's, without bucket. */
const char *features_name(struct arena *arena, uint32_t counter);

/* ---- the hooks of oracle.h ---- */

struct checking;
struct execution;

void features_prepare(struct checking *checking);
/* The observer for an execution of the subject, `behind` after it; or `behind`: this one is not watched. */
const struct observer *features_begin(struct checking *checking, enum subject_id subject,
                                      const struct observer *behind);
/* An execution has ended, watched or not. */
void features_end(struct checking *checking, const struct execution *execution);
/* The check is over. */
void features_judge(struct checking *checking);

#endif
