/*
 * host_divergence.h - what is wrong with the verdict of a host program that was made, and what names it in a database.
 *
 * The oracle is `host`. The class is the kind of check's first finding, or `missed` (a race that is known was not
 * told), `unreadable`, `endless`, `search` (searches of a tiny program do not fit together); the rule is the statement
 * of the finding's line. A case is a text:
 *
 *     host seed=0x1 case=7 schedules=2 races=0 device=order=any sms=1
 */
#ifndef FUZZ_HOST_DIVERGENCE_H
#define FUZZ_HOST_DIVERGENCE_H

#include "fuzz/programs/host_reduce.h"

struct host_divergence {
    const char *class; /* NULL: the verdict is the one that is known */
    const char *word;  /* "launch"; "" */
    const char *signature;
    uint32_t line;
    const char *text;
};

/* Of a program that has a race, or none. `read`: it could be judged. */
struct host_divergence host_divergence_of(struct arena *arena, const char *program, bool races,
                                          bool read, const struct host_verdict *verdict);

struct host_case {
    uint64_t seed, number;
    uint32_t schedules;
    bool races;
    bool tiny;          /* races=2: its searches are compared, on this device; it may have races */
    const char *device; /* settings behind those of the program; "" */
};

/* A case's executions are followed on few devices: which, its seed and number draw. */
void host_follow_drawn(struct host_judge_options *options, uint64_t seed, uint64_t number);

/* What is wrong with the program of a case. */
struct host_divergence host_case_divergence(struct arena *arena, const struct host_case *c,
                                            const char *program, uint64_t *steps);
/* What is its cause (docs/signatures.md): the first statement that an execution does otherwise than the reference, all
 * devices asked; or else the class, wherever it is told. */
const char *host_case_cause(struct arena *arena, const struct host_case *c, const char *program,
                            const char *class);
/* As JSON. */
const char *host_divergence_evidence(struct arena *arena, const struct host_divergence *d,
                                     const struct host_case *c);
/* Whether there is something that a smaller program keeps: not where its own expectations are all that says that it is
 * wrong, and lines that are left out make them wrong. */
bool host_can_be_small(const char *class, const struct host_case *c);
uint32_t host_lines(const char *program);

const char *host_case_print(struct arena *arena, const struct host_case *c);
/* False: it is none. */
bool host_case_parse(struct arena *arena, const char *text, struct host_case *c);

#endif
