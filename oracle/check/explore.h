/*
 * explore.h - the executions of one check: what the oracles that compare whole executions share.
 *
 * The machines are made once a case and reset for each schedule; every execution is kept as the
 * schedule that gives it, so that one that turns out to matter is run again with its tape recorded.
 */
#ifndef ORACLE_EXPLORE_H
#define ORACLE_EXPLORE_H

#include "engine/subjects/forms.h"
#include "oracle/check/check.h"
#include "oracle/check/probe.h"
#include "oracle/race/race_hb.h"
#include "oracle/scoped/scoped.h"

/* One explored execution. */
struct execution {
    enum subject_id subject;
    struct sched_spec spec;
    enum status status;
    bool race;
    bool searched; /* an outcome of the exhaustive search: races and steps unknown */
    /* A warp came to a barrier without some of its lanes, or when another had completed, or chose which of
     * several targets of a branch comes first. */
    bool apart;
    bool accounted; /* an oracle has followed it to its end by other rules than its subject's */
    bool fair;      /* its scheduler starves nobody, whatever the kernel does */
    uint64_t steps; /* of its machine; 0: unknown (searched) */
    uint64_t thread_steps; /* simt: those of the co-simulation; otherwise those of its machine */
    bool thread_steps_known;
    struct race_witness witness; /* of its first race */
};

/* How an execution contradicts the one that the others are compared with. */
struct store_mismatch {
    const struct execution *execution; /* NULL: none */
    uint32_t address;
    int32_t value, reference_value;
};

/* One subject of a check. */
struct explored {
    const struct program *program;  /* NULL: it does not run; runs[].reason says why */
    struct machine *machine;        /* the two orders of `simt` share one */
    uint8_t *racy_stms, *racy_vars; /* of the program: raced in any execution so far */
    struct race_hb *hb;             /* what tells its races; NULL: checking->detector ... */
    struct scoped *scoped;          /* ... or, not NULL, this */
    uint64_t length;                /* steps of the first execution */
    uint64_t several_targets;       /* branches with several targets so far */
};

/*
 * Subjects whose executions are compared: where one of them terminates without a race, all executions
 * of the group end so, with the same store (result.h). A structured kernel with barriers and with
 * jumps out of its loops is another kernel in block form (S2C.anchor: a barrier's loop counters have
 * other scopes), so there are two groups then.
 *
 * A barrier of PTX does not ask where the others wait: where a structured kernel has barriers, the subjects
 * of FORM_PTX follow (explore_follows). Of a kernel given as PTX, warps and threads are groups apart: in
 * lock-step a kernel may be race-free that is not thread by thread (result.c compares the two where the
 * threads do not race).
 */
enum group_id { GROUP_FIRST, GROUP_BLOCKS, GROUP_PTX, GROUP_COUNT, GROUP_NONE = GROUP_COUNT };

struct group {
    /* The first execution that terminated, its store (frame_base words; private_base if it was
     * searched), and the first later one whose store is another. */
    const struct execution *reference;
    bool any_race; /* some execution had a race */
    int32_t *reference_store;
    uint32_t reference_words;
    struct store_mismatch mismatch;
};

struct checking {
    struct arena *arena;
    const struct check_options *options;
    const struct ast_kernel *kernel;
    struct forms *forms;
    struct check_result *result;

    /* The core program and its machines; NULL when the kernel has no core form that runs. */
    const struct program *program;
    struct machine *threads, *warps;

    struct explored subjects[SUBJECT_COUNT];
    struct race_detector *detector;        /* of all subjects that have no `hb`: explore_watch */
    struct race_hb *hb_warps, *hb_threads; /* of FORM_PTX, where they are needed */
    bool scoped; /* a kernel given as PTX that says what orders: its subjects have `scoped` */
    /* What oracles say of the execution at hand: one writes it down, so that nothing else is counted in it; and
     * execution->accounted. And of subjects: executions that an oracle has held against those of others. */
    bool logged, accounted;
    subject_set held;
    struct active_filter *filter; /* explore_observe */
    struct counting *counting;
    struct parting *parting;     /* whether a barrier was reached in parts */
    struct final_claims *finals; /* expect.h */
    void *own[ORACLE_COUNT + 1]; /* what each oracle keeps (oracle.h); the last: who is no row */
    void *contexts;              /* likewise, of contexts.h */

    struct execution **executions;
    uint32_t execution_count, execution_capacity;

    struct group groups[GROUP_COUNT];
    bool alone;             /* subjects are explored without oracles that have a way of their own */
    bool scopes_differ;     /* two groups */
    const char *ill_formed; /* why P is (Def. 5.1): phi(P) is in no group then; or NULL */
    const char *incomparable; /* why no group of this kernel is compared ("atomics"), or NULL */
    enum lone incomparable_as;

    struct lasso_probe *probes[SUBJECT_COUNT]; /* probe.h; NULL: not tried */
    bool unfair[SUBJECT_COUNT];
    /* An exhaustive search of the subject found no fair infinite execution. */
    bool all_fair_end[SUBJECT_COUNT];
    const struct progress *progress[SUBJECT_COUNT]; /* implications.h; NULL: not asked */

    const uint8_t
        *selected; /* SURW of `threads`: racy statements, and how many steps at them ... */
    const uint32_t *selected_counts; /* ... each thread took; NULL until both are known */
};

/* Whether every live actor steps again and again (with probability 1). */
bool explore_fair(const struct sched_spec *spec, const struct machine *machine);

/* Whether the subject was asked for and its program runs. */
bool explore_runs(const struct checking *checking, enum subject_id subject);

/* The group of a subject that runs; GROUP_NONE: it is compared with no other. */
enum group_id explore_group(const struct checking *checking, enum subject_id subject);

/* Why that is none; LONE_NOT: it is compared, or its executions say themselves whether they are. */
enum lone explore_lone(const struct checking *checking, enum subject_id subject);

/* Of one execution: none, too, for warps of PTX where a structured kernel has barriers and one was reached by
 * a warp in parts, or may have been: such a barrier counts whole warps, each time. Nor where a kernel given as
 * PTX has branches with several targets at once: in lock-step their order decides results, and is no race. */
enum group_id explore_execution_group(const struct checking *checking,
                                      const struct execution *execution);

/* Why that is none. */
enum lone explore_execution_lone(const struct checking *checking,
                                 const struct execution *execution);

/* All executions are there: result->lone, result->unseen. */
void explore_count_lone(struct checking *checking);

/* Barriers of PTX see no divergence: what ends well on such a machine need not do so elsewhere. So the
 * executions of a subject that follows are held to those of the others, and never the other way round. */
bool explore_follows(const struct checking *checking, enum subject_id subject);

/* Programs, machines, detector, co-simulation. */
void explore_prepare(struct checking *checking);

/* The executions of a subject that runs. */
void explore_subject(struct checking *checking, enum subject_id subject);

/* The detector - by intervals, or by happens-before - ready for an execution of the subject: in its
 * machine's chain, `behind` after it. */
void explore_watch(struct checking *checking, enum subject_id subject,
                   const struct observer *behind);

/* The observers put into a machine's chain; of pi(P) they see what active threads access. */
void explore_observe(struct checking *checking, struct machine *machine, enum subject_id subject,
                     const struct observer *observers);

/* One execution of a subject that runs, under this schedule; its machine is left as it ends. */
const struct execution *explore_once(struct checking *checking, enum subject_id subject,
                                     const struct sched_spec *spec);

/* More fair executions of a subject, so that at least EXPLORE_FAIR_MIN have been seen. */
enum { EXPLORE_FAIR_MIN = 8 };
void explore_more_fair(struct checking *checking, enum subject_id subject);

/* ---- for oracles that explore a subject in their own way ---- */

/* Which schedule comes as number `index` of the subject, `number` of the portfolio; the tape given replaces all
 * but the first. False: there is none. */
bool explore_next(const struct checking *checking, enum subject_id subject, uint32_t index,
                  uint32_t number, struct sched_spec *spec);

/* A fair execution that spent its budget says that the kernel may run for ever, and probe_lasso
 * whether it does: more schedules would only spend more. Starving ones may leave others yet to try. */
bool explore_worth(const struct check_run *run, bool fair);

/* Steps that an execution may take: those that starve others may never end, whatever the kernel is, and get less. */
uint64_t explore_budget(const struct checking *checking, const struct execution *execution);

/* All who watch it, in the chain of the subject's machine; and when it has ended so: what it leaves behind. */
void explore_begin(struct checking *checking, const struct execution *execution);
void explore_end(struct checking *checking, struct execution *execution);

/* One more execution to be filled in; there is room for any number. */
struct execution *explore_add(struct checking *checking, enum subject_id subject,
                              const struct sched_spec *spec);
/* Counts it, by its status, and looks at its store (private_base words; terminated only). */
void explore_keep_store(struct checking *checking, const struct execution *execution,
                        const int32_t *store);
/* The infinite execution of a proven lasso counts as one that was explored. */
void explore_add_lasso(struct check_run *run);

/* Runs an execution again; its choices. Its machine is left as the execution ends. */
const struct tape *explore_record(struct checking *checking, const struct execution *execution);

/* Runs an execution again for who did not watch it. Its machine is left as the execution ends, and has counted no rule
 * twice. */
void explore_again(struct checking *checking, const struct execution *execution,
                   const struct observer *observer);

/* "uniform", "tape", ...: the name of an execution's schedule with its number. */
const char *explore_name(const struct checking *checking, const struct execution *execution);

#endif
