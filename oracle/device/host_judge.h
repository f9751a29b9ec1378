/*
 * host_judge.h - what is said of a host program: one execution that is watched, and others on other devices and under
 * other schedules, which must come to the same (docs/host.md).
 *
 *     res       a program whose work is in order, and whose grids are free of races, has one result: on few and many
 *               multiprocessors, with one block resident or many, in whatever order blocks, streams and contexts go on
 *     forward   a program that ends where its blocks are resident together, and not where one is at a time, relies on
 *               co-residency: this is told, and is no failure
 */
#ifndef ORACLE_HOST_JUDGE_H
#define ORACLE_HOST_JUDGE_H

#include "engine/device/device.h"

enum host_kind_of_finding {
    FINDING_RACE,        /* two statements access a word, and nothing orders them */
    FINDING_GRID,        /* of a launch: a race of its threads, an error */
    FINDING_EXPECTATION, /* what the program expects does not hold */
    FINDING_FAULT,       /* a grid ended in an error */
    FINDING_STUCK,       /* nothing can step, and the program is not over */
    FINDING_HANG,        /* it goes round for ever */
    FINDING_RESULT,      /* another schedule, or device: another result */
    FINDING_CLAIM,       /* `claim`: the search found something else */
    FINDING_UNKNOWN,     /* the bound on steps, or on states, was reached */
    FINDING_REFERENCE,   /* the device and its second account differ (host_follow.h) */
    FINDING_FORWARD,     /* told only: it relies on co-residency */
    FINDING_KINDS
};

extern const char *const host_finding_names[FINDING_KINDS]; /* "race", .. */

struct host_finding {
    enum host_kind_of_finding kind;
    uint32_t line;
    const char *text;
    struct host_finding *next;
};

/* Which executions a second account follows (host_follow.h). */
enum host_followed {
    FOLLOW_ALL, /* those on the usual devices but for the first, and some on the devices of host_followed.c */
    FOLLOW_DRAWN, /* of one usual device, and of one more: follow_seed draws them */
    FOLLOW_NONE
};

struct host_judge_options {
    struct device_options device;
    uint64_t seed;
    uint32_t schedules;   /* random ones, on each device */
    uint64_t budget;      /* steps of one execution */
    uint64_t states;      /* of a search */
    const char *settings; /* of the device, behind what the program says; NULL: none */
    bool no_claims, no_launches;
    enum host_followed followed;
    uint64_t follow_seed;
};

extern const struct host_judge_options HOST_JUDGE_DEFAULTS;

struct host_verdict {
    struct host_finding *findings, **last;
    uint32_t count; /* of findings that fail */
    uint32_t launches, devices, executions, claims;
    uint64_t steps, blocks, states;
    const char *not_compared; /* why results were not; NULL: they were */
    bool ended;               /* the first execution */
};

/* False: the device refuses the program, errors in diag. */
bool host_judge(struct arena *arena, const struct host_program *program,
                const struct host_judge_options *options, struct host_verdict *verdict,
                struct diag *diag);

/* Adds what is not there yet. */
void host_add(struct arena *arena, struct host_verdict *verdict, enum host_kind_of_finding kind,
              uint32_t line, const char *text);

#endif
