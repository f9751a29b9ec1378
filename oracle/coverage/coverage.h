/*
 * coverage.h - what happened in a case, as a map of counters: coverage.
 *
 * A feature is a counter of the map with the power of two that it has reached: rules that fired, pairs of
 * consecutive rules of one thread or warp, shapes of token stacks, patterns of masks, barriers, races,
 * statuses, verdicts. Each kind has a domain of its own (coverage.def), so that a rich one does not drown
 * another. A feature's number is fixed for one build; its name - "pair simt.if -> simt.while" - keeps its
 * meaning.
 *
 * check_kernel fills the map that check_options.coverage points to, from an observer in the first
 * COVERAGE_EXECUTIONS executions of each subject and from what it knows of all. It adds: the caller clears.
 * A map is a function of (kernel, options), as the result is; it changes nothing of the result.
 */
#ifndef ORACLE_COVERAGE_H
#define ORACLE_COVERAGE_H

#include "engine/schedule/sched.h"
#include "oracle/check/verdict.h"

enum {
    COVERAGE_EXECUTIONS = 1,
    COVERAGE_BUCKETS = 8, /* 1, 2-3, 4-7, .. 64-127, 128 and more */

    COVERAGE_SIMT_RULES = RULE_SIMT_BARRIER_F - RULE_SIMT_SKIP + 1,
    COVERAGE_CRS_RULES = RULE_PTX_BAR_WARP - RULE_CRS_NEXT + 1,
    COVERAGE_LOCKSTEP_RULES = RULE_LOCK_RETURN - RULE_LOCK_SKIP + 1,
    COVERAGE_SHAPES = 1 + 4 + 16 + 64, /* the top tokens of a stack: at most three, of four kinds */
    COVERAGE_DEPTHS = 16,
    COVERAGE_ACTIVES = 4,                      /* none, one, some, all */
    COVERAGE_MASKS = COVERAGE_ACTIVES * 8 * 4, /* active, kinds of disabled, topmost token */
    COVERAGE_GENERATIONS = 4,
    COVERAGE_BARRIERS = (2 + 3 * 2 * 2) * COVERAGE_GENERATIONS,
    COVERAGE_RACES = 3 * 3 * 3 * 8, /* accesses, distance of threads, three properties */
    COVERAGE_OUTCOMES = 4 * 2 * 2,
    COVERAGE_REASONS = 16,
    COVERAGE_SUBJECTS = 0 /* the ordinary ones, first in the table */
#define SUBJECT(id, name, semantics, program, role, ...) +(SUBJECT_##role == SUBJECT_ORDINARY)
#include "engine/subjects/subject.def"
#undef SUBJECT
};

enum coverage_domain {
#define COVERAGE(id, name, count, sentence) COVERAGE_##id,
#include "oracle/coverage/coverage.def"
#undef COVERAGE
    COVERAGE_DOMAIN_COUNT
};

enum {
    COVERAGE_COUNT = 0 /* counters in all domains */
#define COVERAGE(id, name, count, sentence) +(count)
#include "oracle/coverage/coverage.def"
#undef COVERAGE
};

struct coverage_info {
    const char *name, *sentence;
    uint32_t first, count; /* its counters */
};

extern const struct coverage_info coverage_table[COVERAGE_DOMAIN_COUNT];

/* Counters stop at 255. Bytes, so that libFuzzer can take the map as its extra counters. */
struct coverage {
    uint8_t count[COVERAGE_COUNT];
};

void coverage_clear(struct coverage *coverage);

/* A feature: counter * COVERAGE_BUCKETS + bucket. */
static inline uint32_t coverage_bucket(uint8_t count) /* of a count above 0 */
{
    return 31u - (uint32_t)__builtin_clz(count);
}

/* The features of a map, ascending; at most `capacity` are written. Returns how many there are. */
uint32_t coverage_list(const struct coverage *coverage, uint32_t *list, uint32_t capacity);

static inline uint32_t coverage_counter(uint32_t feature)
{
    return feature / COVERAGE_BUCKETS;
}

/* Of a counter. */
enum coverage_domain coverage_domain_of(uint32_t counter);

/* "pair simt.if -> simt.while", "simt-stack simt.break: sync brk call": the counter's, without bucket. */
const char *coverage_name(struct arena *arena, uint32_t counter);

/* ---- the hooks of oracle.h ---- */

struct checking;
struct execution;

void coverage_prepare(struct checking *checking);
/* The observer for an execution of the subject, `behind` after it; or `behind`: this one is not watched. */
const struct observer *coverage_begin(struct checking *checking, enum subject_id subject,
                                      const struct observer *behind);
/* An execution has ended, watched or not. */
void coverage_end(struct checking *checking, const struct execution *execution);
/* The check is over. */
void coverage_judge(struct checking *checking);

#endif
