/*
 * hunt.h - a campaign against outside implementations: valid kernels in batches, every answer compared with the one
 * final store; what differs is run again alone, without optimisation, and under each knob, and then reported.
 */
#ifndef FUZZ_HUNT_HUNT_H
#define FUZZ_HUNT_HUNT_H

#include "fuzz/generate/generate.h"
#include "fuzz/hunt/minimise.h"
#include "fuzz/outside/known.h"

enum { HUNT_SUBJECTS_MAX = 128 };

struct hunt_finding;
struct hunt_summary;

/* Whether a database has a finding already. */
enum hunt_had {
    HUNT_NEW,
    HUNT_BEFORE, /* an earlier campaign found it */
    HUNT_HERE    /* this one did, before it was interrupted, or in another process */
};

/* Who is told what; NULL: nobody. */
struct hunt_listener {
    void *context;
    /* Of a wrong kernel, as it was confirmed: HUNT_NEW has it made small and handed to `found`. */
    enum hunt_had (*had)(void *context, const struct hunt_finding *finding);
    void (*found)(void *context, const struct hunt_finding *finding);
    /* One like an earlier one, or of a known fault. */
    void (*seen)(void *context, const struct hunt_finding *finding, enum hunt_had had);
    /* So many cases of this worker's are done, from its first on. */
    void (*batch)(void *context, const struct hunt_summary *summary, uint64_t done);
};

struct hunt_options {
    uint64_t seed, first;
    uint64_t cases;   /* 0: as time allows */
    uint64_t time_ms; /* 0: as many as `cases` */
    struct gen_options gen;
    const struct ast_kernel *kernel; /* instead of generated ones; or NULL */
    bool as_it_is;                   /* nothing is added that stores private variables */
    uint32_t batch;                  /* kernels of a text */
    uint32_t worker, workers;        /* batches are dealt out in turn; workers 0: there is one */
    uint64_t done;                   /* so many of this worker's cases were done before */
    bool by_time; /* batches are dealt out so that all implementations get the same CPU time */
    bool fixed_knobs;
    uint32_t knobs; /* of all kernels, if fixed */
    struct outside_subject *const *subjects;
    uint32_t subject_count;
    const struct outside_subject *second; /* asked about findings beside these; NULL: nobody */
    struct outside_settings settings;
    bool ignore_known; /* faults of the register are neither avoided nor known */
    uint32_t minimise; /* candidates for each finding, at most; 0: findings stay as they are */
};

/* A finding, confirmed: the kernel alone shows it again. What it points to lasts until the call returns. */
struct hunt_finding {
    uint64_t number; /* of the case */
    const struct outside_subject *subject;
    const struct outside_expected *expected;
    const struct ast_kernel *kernel; /* the small one, if there is one */
    uint32_t knobs;
    struct trial trial;
    struct attribution attribution;
    const char *text;             /* in the language of the subject */
    const char *signature;        /* equal for the same fault, as far as we can tell */
    const char *observable;       /* its last part */
    const char *known;            /* the fault of the register that it is; NULL: none */
    const char *vanishes;         /* under what: "unoptimised,+opaque-switches" */
    const char *command;          /* of a compiler, on kernel.cl or kernel.cu; "": there is none */
    const struct ast_kernel *raw; /* as generated */
    struct minimised minimised;   /* kernel NULL: it was not */
    const char *second; /* what the other implementations say: "agree: a, b; disagree: c" */
};

struct hunt_count {
    uint64_t kernels, trials[TRIAL_VERDICT_COUNT];
    uint64_t repeated;    /* findings like an earlier one of this implementation: only counted */
    uint64_t known;       /* that vanish under the avoidance of a known fault */
    uint64_t unconfirmed; /* wrong in a batch, right alone, or not twice the same */
    uint64_t us;          /* wall clock spent in it */
    uint64_t cpu_us;      /* CPU time of its processes */
    uint64_t own_us;      /* ... of ours: texts, messages, PTX that we run, comparing */
    /* Of each known fault: how often it was seen, and kernels that ran without its avoidance. */
    uint64_t known_seen[KNOWN_MOST], known_chances[KNOWN_MOST];
    char unknown[160]; /* the first cause of one that is unknown */
};

struct hunt_summary {
    uint64_t cases, valid;
    uint64_t our_us;     /* generating and validating */
    uint64_t our_cpu_us; /* the same in CPU time */
    struct hunt_count counts[HUNT_SUBJECTS_MAX];
    uint32_t reason_count;
    struct {
        char text[64];
        uint64_t count;
    } reasons[24]; /* why kernels were not valid */
    uint64_t findings;
};

void hunt_run(const struct hunt_options *options, struct hunt_summary *summary,
              const struct hunt_listener *listener);

/* What several workers did. */
void hunt_add_summary(struct hunt_summary *sum, const struct hunt_summary *more);

#endif
