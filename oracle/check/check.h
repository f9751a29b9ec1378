/*
 * check.h - one case: a kernel under all subjects, asked about by all oracles.
 *
 *     forms.h     the kernel's programs: core, blocks, predicated, lock-step ...
 *     explore.h   the executions of each subject, watched by one race detector
 *     oracle.h    the door of the oracles: each gets `struct checking` - the forms, what was explored - and fills
 *                 in result->answers[ORACLE_NAME]; oracles.def lists them
 *     expect.h    the kernel's own claims
 *
 * The heart of every command: the campaign, `check`, `replay`, the reducer and the libFuzzer
 * harnesses all call check_kernel. It is a function of (kernel, options): same arguments, same
 * result, byte for byte.
 */
#ifndef ORACLE_CHECK_H
#define ORACLE_CHECK_H

#include "engine/language/ast.h"
#include "engine/rewrite/transform.h"
#include "engine/schedule/sched.h"
#include "engine/search/search.h"
#include "oracle/check/fault.h"
#include "oracle/check/verdict.h"
#include "oracle/race/race.h"

enum { CHECK_FINALS_MAX = 8 };

struct check_run;

struct check_options {
    uint64_t seed;      /* of schedules; the inputs' is in the kernel's launch */
    uint32_t schedules; /* of `threads`; of warps, where they have a choice, an eighth of it */
    /* Of one execution of `threads`; simt: warp and lane steps together. The default grows with the
     * grid: at least 512 for each thread. */
    uint64_t budget_steps;
    /* When these are all the ordinary ones (SUBJECTS_DEFAULT), a variant that an
     * expectation of the kernel names runs too. */
    subject_set subjects;
    uint32_t oracles; /* bits 1u << oracle_id */
    uint32_t modes;   /* bits of enum oracle_mode */
    uint32_t
        reference_steps; /* that the oracle `reference` follows; 0: as many as it has time for */
    bool exhaustive;     /* search all executions of `threads`, within `search` */
    subject_set also;    /* variants that run, too, where the kernel has their form */
    bool policies;       /* executions of threads are those of warps without a stack */
    uint32_t always;     /* of `oracles`: those that answer whatever the seed draws */
    /* What a race is, for kernels of FORM_PTX: two writes of one value are none; atomics on one location
     * order what is before and behind them. */
    bool same_value, atomics_sync;
    bool unscoped; /* barriers alone order, whatever scopes accesses and fences have */
    struct search_options search;
    /* What the oracle `metamorphic` does to the kernel; empty: drawn by the seed, in one case of
     * METAMORPHIC_SHARE, or in each (oracle/results/metamorphic.h). */
    struct transform_list transforms;
    /* When not NULL: the executions of `tape_subject` after the first (sequential) one are replaced by
     * one that follows this tape. */
    const struct tape *tape;
    enum subject_id tape_subject;
    struct coverage *coverage;     /* what happened is added here (coverage.h); NULL: to nothing */
    struct contexts *contexts;     /* and here what fired in which context (contexts.h) */
    struct solver_keeper *solvers; /* kept from kernel to kernel (solver.h), or NULL */
    /* Who is told of a subject as soon as all its executions are searched (`exhaustive`), or NULL. */
    void (*searched)(void *context, const struct check_run *run);
    void *searched_context;
};

extern const struct check_options CHECK_DEFAULTS;

/* What was seen of one subject. */
struct check_run {
    enum subject_id subject;
    const char *reason;                 /* why it did not run, or NULL */
    const struct program *program;      /* that its statements and variables are of; NULL: none */
    uint32_t schedules;                 /* executions */
    const struct search_result *search; /* of all executions; NULL: not asked for */
    /* Over caches, where that one was cut off: outcomes alone, with R1, R3 and R4 (docs/memory.md); or NULL. */
    const struct search_result *reduced;
    uint32_t statuses[STATUS_COUNT]; /* executions that ended so; `nonterminating`: proven lassos */
    const char *error, *beyond;      /* of the first that ended in one, as `unsupported`; or NULL */
    const struct check_fault *faults[OUTCOME_COUNT]; /* the first that ended so; NULL: none did */
    uint32_t fair;     /* executions under a scheduler that starves nobody */
    uint32_t fair_cut; /* of these: the budget was spent */
    bool fair_lasso;   /* an infinite execution that starves nobody was proven */
    uint64_t steps;
    uint64_t longest; /* steps of the longest execution that terminated */
    bool race;
    struct race_witness witness;
    bool race_incomplete;     /* the detector ran out of room: there may be more races */
    const char *race_unknown; /* why nothing is said about races of FORM_PTX, or NULL */
    const uint8_t *racy_vars; /* a file-level variable of the program: 1 = raced */
    uint32_t final_count;     /* distinct final stores kept, at most CHECK_FINALS_MAX */
    bool more_finals;
    const int32_t *finals[CHECK_FINALS_MAX]; /* program.private_base words each */
};

/* One `expect` claim, judged over all subjects that it is about. */
struct check_claim {
    const struct ast_expect *expect;
    bool met;
    const char *why; /* what was seen instead, when not met */
};

/* Why an execution is compared with no other; `lone` is a bit 1u << one of these. */
enum lone {
    LONE_NOT,
#define LONE(id, name, sentence) LONE_##id,
#include "oracle/check/lone.def"
#undef LONE
    LONE_COUNT
};

struct lone_info {
    const char *name, *sentence;
};
extern const struct lone_info lone_table[LONE_COUNT];

struct check_result {
    const struct ast_kernel *kernel; /* as given */
    subject_set subjects;            /* that were asked: also variants that an expectation names */
    /* Of the first subject that runs: for the layout of stores, which is that of all. NULL: the kernel
     * was refused by all of them, see reason. */
    const struct program *program;
    const char *reason; /* of the first subject that is of the kernel's form */
    struct check_run runs[SUBJECT_COUNT];
    struct answer answers[ORACLE_COUNT];
    uint32_t claim_count;
    struct check_claim *claims;
    uint64_t thread_steps, warp_steps;
    uint64_t hits[RULE_COUNT + 1];
    unsigned differences; /* of termination under different models (matrix.h): bit 1 << class */
    /* Why executions were compared with no other; and why such that, in addition, no oracle followed to their end:
     * nothing has a second account of these. */
    unsigned lone, unseen;
};

/* Of one execution of this program: what the options say, the default for so many threads. */
uint64_t check_budget(const struct check_options *options, const struct program *program);

/* The result and all that it points to live in `arena`. */
void check_kernel(struct arena *arena, const struct ast_kernel *kernel,
                  const struct check_options *options, struct check_result *result);

/* Number of answers that diverge; those with `known` are counted only if `with_known`. */
uint32_t check_divergences(const struct check_result *result, bool with_known);

/* Whether `result` shows a divergence with this K2 signature (or, k1_only, this K1 key). NULL: no. */
const struct divergence *check_find(struct arena *arena, const struct check_result *result,
                                    const char *signature, bool k1_only);

#endif
