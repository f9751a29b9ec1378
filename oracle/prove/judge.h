/*
 * judge.h - what `prove` says of a kernel: answers of the engine, models run, proofs compared with executions.
 */
#ifndef ORACLE_PROVE_JUDGE_H
#define ORACLE_PROVE_JUDGE_H

#include "oracle/prove/replay.h"

/* From the best to the worst. */
enum outcome_verdict {
    SAYS_PROVED,
    SAYS_BOUNDED,
    SAYS_UNKNOWN,
    SAYS_ALARM,
    SAYS_REFUTED,
    SAYS_WRONG, /* a fault of simtfuzz: an execution shows what was proved not to be, or nothing shows
                    * what a model without made-up values says */
    SAYS_COUNT
};
extern const char *const prove_verdict_names[SAYS_COUNT];
extern const char *const prove_goal_titles[GOAL_COUNT];

/* What shows that something here is at fault: SAYS_WRONG. */
enum outcome_fault {
    FAULT_NOT,
    FAULT_UNSOUND, /* an execution shows what was proved not to be */
    FAULT_REPLAY   /* no execution shows a model in which no value is made up */
};

struct goal_outcome {
    enum outcome_verdict verdict;
    const char *why;
    enum outcome_fault fault;
};

struct prove_outcome {
    struct proof_result result;
    struct goal_outcome goals[GOAL_COUNT];
    /* The kernel with the inputs of the first model that an execution shows, or NULL. */
    const struct ast_kernel *shown;
};

/* Proves the kernel, replays what is refuted, and compares what is proved with `runs` executions of each
 * subject (0: none), under several inputs where they are anything. */
void prove_judge(struct arena *arena, const struct ast_kernel *kernel,
                 const struct proof_options *options, struct solver *solver, uint32_t runs,
                 struct prove_outcome *outcome);

/* Holds what is proved against executions of the kernel under the input seed given (proof_executions, or those of
 * a check): what they show turns a proof into SAYS_WRONG. */
void prove_compare(struct arena *arena, struct prove_outcome *outcome, const struct check_run *runs,
                   uint64_t seed);

/* The worst of races and divergence; of the others only what shows a fault of ours. */
enum outcome_verdict prove_headline(const struct prove_outcome *outcome);

#endif
