/*
 * hunt.h - a campaign against outside implementations: valid kernels in batches, every answer compared with the one
 * final store; what differs is run again alone, without optimisation, and under each knob, and then reported.
 */
#ifndef FUZZ_OUTSIDE_HUNT_H
#define FUZZ_OUTSIDE_HUNT_H

#include "fuzz/gen/gen.h"
#include "fuzz/outside/minimise.h"

enum { HUNT_SUBJECTS_MAX = 32 };

struct hunt_options {
    uint64_t seed, first;
    uint64_t cases;   /* 0: as time allows */
    uint64_t time_ms; /* 0: as many as `cases` */
    struct gen_options gen;
    const struct ast_kernel *kernel; /* instead of generated ones; or NULL */
    uint32_t batch;                  /* kernels of a text */
    bool fixed_knobs;
    uint32_t knobs; /* of all kernels, if fixed */
    struct outside_subject *const *subjects;
    uint32_t subject_count;
    struct outside_settings settings;
    uint32_t minimise; /* candidates for each finding, at most; 0: findings stay as they are */
};

/* A finding, confirmed: the kernel alone shows it again. What it points to lasts until the call returns. */
struct hunt_finding {
    uint64_t number; /* of the case */
    const struct outside_subject *subject;
    const struct outside_expected *expected;
    const struct ast_kernel *kernel; /* as generated */
    uint32_t knobs;
    struct trial trial;
    struct attribution attribution;
    const char *text;           /* in the language of the subject */
    const char *signature;      /* equal for the same fault, as far as we can tell */
    struct minimised minimised; /* kernel NULL: it was not */
    const char *second;         /* what the other implementations say: "agree: a, b; disagree: c" */
};

struct hunt_count {
    uint64_t kernels, trials[TRIAL_VERDICT_COUNT];
    uint64_t repeated;    /* findings like an earlier one of this implementation: only counted */
    uint64_t known;       /* that vanish under the avoidance of a known fault */
    uint64_t unconfirmed; /* wrong in a batch, right alone, or not twice the same */
    uint64_t us;          /* wall clock spent in it */
    char unknown[160];    /* the first cause of one that is unknown */
};

struct hunt_summary {
    uint64_t cases, valid;
    uint64_t our_us; /* generating, validating, emitting */
    struct hunt_count counts[HUNT_SUBJECTS_MAX];
    uint32_t reason_count;
    struct {
        char text[64];
        uint64_t count;
    } reasons[24]; /* why kernels were not valid */
    uint64_t findings;
};

/* Calls `found` for each finding. */
void hunt_run(const struct hunt_options *options, struct hunt_summary *summary,
              void (*found)(void *context, const struct hunt_finding *finding), void *context);

#endif
