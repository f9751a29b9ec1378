/*
 * safety.h - the oracle `safety`: chapter 6 of cuda-crs (Theorem 1, Lemmas 1 and 2, Corollaries 1 and 2) on
 * the executions of `crs` and `thread-pc`.
 *
 * An observer keeps, for each warp, ς as it was before the step and its lanes as threads with a pc and a
 * private stack of their own (safety_lanes.h). Before each step it looks whether the program is control-flow
 * consistent there - stack consistency and addresses, the theorem's hypothesis -, after it at the invariants,
 * act-cons, inact-cons and the private stacks; where the warp unwinds, at Lemmas 1 and 2. The hypothesis is
 * about the program: where it fails the theorem says nothing, and the execution is not looked at any
 * further - unless the code was made by simtfuzz, which then made it wrong, or the rules are a variant's and
 * `crs` has run the kernel consistently.
 *
 * as printed (`safety:printed`): stack-cons 4 and 6 as the report has them; Theorem 1 then fails (ERR.30).
 *
 * Nothing is allocated in a step.
 */
#ifndef ORACLE_SAFETY_H
#define ORACLE_SAFETY_H

#include "oracle/check/explore.h"
#include "oracle/crs/safety_lanes.h"
#include "oracle/crs/safety_spans.h"

/* One warp, as it was before the step at hand. */
struct safety_warp {
    struct crs_state state;
    struct crs_token *tokens;
    struct safety_lanes *lanes;
    struct safety_open open; /* statements that it is in */
};

struct safety_failure {
    enum safety_predicate predicate; /* SAFETY_NONE: none */
    const char *theorem;             /* what says that it holds */
    enum rule rule;
    uint32_t warp, pc;
    lane_mask executing;
    uint64_t step;
    struct crs_state before, after;
    struct crs_token *before_tokens, *after_tokens;
};

struct safety {
    struct observer observer;
    const struct program *program;
    struct safety_warp *warps;
    lane_mask W;
    bool printed;
    struct safety_spans *spans; /* NULL: nobody says where statements lie */
    const char *not_static;     /* CHK.static fails: private stacks say nothing; or NULL */
    const char *rules_broken;   /* the first of (a), (b) that is, or NULL */
    /* What was on top of the stack before each instruction: PTX_STATIC_TOP, by address. */
    uint8_t *tops;
    /* The execution at hand. */
    const struct machine *machine;
    bool over;           /* nothing is looked at any more */
    bool by_other_rules; /* of a variant: nothing is learned about the program */
    bool weaker;         /* printed: 6' has failed where 6 as printed holds (ERR.30) */
    struct safety_failure failure;
    /* All executions. */
    uint64_t steps, unwinds;
    bool consistent;          /* `crs` has been run, and the program was control-flow consistent */
    const char *inconsistent; /* why the theorem says nothing about the kernel, or NULL */
    uint32_t inconsistent_line;
    bool goes_anywhere; /* .. a call or branch through a register that leads nowhere */
};

/* Whether the branch-unit instructions that run are those of the kernel given: it need not be control-flow
 * consistent then. */
bool safety_is_given(const struct checking *checking);

/* Whether the subject's executions are looked at: as the oracle is asked, or since others compare the
 * subjects of a kernel that must be control-flow consistent for that. */
bool safety_watches(const struct checking *checking, enum subject_id subject);

/* NULL: nothing that it looks at was run. */
static inline struct safety *safety_of(const struct checking *checking)
{
    return checking->own[ORACLE_SAFETY];
}

/* The hooks of oracle.h. A program that is not control-flow consistent means another thing to each of its
 * subjects: they are not compared then. */
const struct observer *safety_watch(struct checking *checking, enum subject_id subject,
                                    const struct observer *behind);
void safety_end(struct checking *checking, const struct execution *execution);
void safety_restrict(struct checking *checking);
void safety_judge(struct checking *checking);

/* Whether the branch-unit instructions are simtfuzz's own, all of them. */
bool safety_made_here(const struct checking *checking, const struct ptx_code *code);

/* safety_static.c: what is known of all paths (ptx_static.h) against what was seen of some. */
void safety_static_judge(struct checking *checking);

/* CHK.static (a), (b): why a program does not satisfy it, in the arena, or NULL. */
const char *safety_static(struct arena *arena, const struct ptx_code *code);

/* The mutant of a subject whose branch unit has other rules, "MUT.06"; "MUT" for all of the patent's; NULL:
 * the rules are the report's. */
const char *safety_switch(enum subject_id subject);

/* For tests: an observer on its own. */
struct safety *safety_new(struct arena *arena, const struct program *program, bool printed);
void safety_start(struct safety *safety, const struct machine *machine);

#endif
