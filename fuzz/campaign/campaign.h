/*
 * campaign.h - a budgeted hunt: a pool of workers, one writer.
 *
 * Workers take chunks of consecutive cases from one atomic counter. Each has its own arena, reset per
 * case; the case loop allocates nothing, locks nothing and makes no system call. A finished chunk -
 * counters and which cases diverged - goes to the collector, which handles chunks in order. So
 * everything that it decides, and the content of the database, is a function of the cases alone,
 * whatever the number of workers.
 */
#ifndef FUZZ_CAMPAIGN_H
#define FUZZ_CAMPAIGN_H

#include "db/db.h"
#include "fuzz/case/case.h"
#include "fuzz/gen/gen.h"
#include "fuzz/supervise/watch.h"
#include "oracle/check/check.h"
#include "oracle/coverage/contexts.h"

#include <stdio.h>

enum { CAMPAIGN_JOBS_MAX = WATCH_JOBS_MAX, CAMPAIGN_CHUNK = 64, REASON_MAX = 120 };

struct watch;

struct campaign_options {
    uint64_t seed;
    uint64_t cases;   /* numbers 0 .. cases - 1 (of all shards); 0 = until the time is over */
    uint64_t time_ms; /* 0 = no limit (cases must then be given) */
    uint32_t jobs;    /* 1..CAMPAIGN_JOBS_MAX */
    uint64_t shard_index, shard_count; /* chunks whose number is shard_index modulo shard_count */
    bool stop_on_finding;              /* stop at the first one that is not known */
    uint64_t case_timeout_ms; /* without `watch`: a case that takes longer hangs; 0: a minute */
    bool no_minimise;         /* findings are kept as they were found */
    bool verbose;             /* the final table has everything, however long */
    uint64_t example_steps;   /* allowance for minimising (collector.h); 0 = the usual one */
    uint32_t
        minimise_tests; /* candidates that a minimisation tries at most; 0 = EXAMPLE_REDUCE_TESTS */
    const char *config; /* the text of the configuration file, or NULL */
    struct gen_options gen;
    struct check_options check;
    const char *db_path;
    struct db_shard resume; /* goes on with this one of the database; campaign 0: a new one */
    bool report_only;       /* of that one: it is finished */
    struct watch *watch;    /* of the process that watches over this one (watch.h); NULL: none */
    /* Kinds of findings (bits 1u << campaign_kind) that leave the exit status as it is, and of which no
     * program is told. Known ones always do. */
    uint32_t quiet;
    const char *on_finding, *on_end; /* programs (hook.h), or NULL */
    bool screen;            /* the status screen instead of lines: terminal_open succeeded */
    const char *stats_path; /* a file that is replaced once a second (ui/stats_file.h), or NULL */
    bool live; /* a status line a second to `log`, rewritten in place; otherwise one a minute */
    FILE *log; /* progress */
};

/* A signature that the campaign saw. */
struct campaign_finding {
    uint64_t id; /* in the database */
    const char *signature;
    uint64_t occurrences, first_case;
    enum db_status status; /* as the database has it: a person may have said something before */
    const char *reference; /* of a known one */
    bool created;          /* not in the database before */
    bool suppressed;
    bool flaky;
    const char *cause; /* findings with one cause are taken for one bug */
    bool pending;      /* its first example here was not minimised for want of time */
};

/* What a finding is to whoever watches the campaign. */
enum campaign_kind {
    CAMPAIGN_NEW,       /* open, and the database did not have it before */
    CAMPAIGN_OPEN,      /* open since before */
    CAMPAIGN_REGRESSED, /* said to be fixed */
    CAMPAIGN_FLAKY,     /* a run of its own case did not show it again: a fault of simtfuzz */
    CAMPAIGN_KNOWN,     /* known, invalid or suppressed */
    CAMPAIGN_KINDS
};
extern const char *const campaign_kind_names[CAMPAIGN_KINDS];
enum campaign_kind campaign_finding_kind(const struct campaign_finding *finding);

/* Why an oracle did not conclude. */
struct campaign_reason {
    enum oracle_id oracle;
    enum verdict verdict;
    uint64_t count, stored; /* of those, already in the database */
    char text[REASON_MAX];
};

/* The reason under which cases are counted that have any execution that is compared with no other (lone.def). */
#define CAMPAIGN_LONE_ANY "any"

/* What a person wants to know afterwards. */
struct campaign_summary {
    uint64_t campaign; /* its number in the database */
    uint64_t cases, refused, thread_steps, warp_steps;
    uint64_t skipped;            /* of the cases: the engine crashes or hangs there */
    uint64_t commits, commit_us; /* of the database: how many, and the time that they took */
    double seconds;
    uint64_t hits[RULE_COUNT];
    uint64_t pairs[RULE_COUNT][CONTEXT_COUNT]; /* since the process began (contexts.h) */
    uint64_t verdicts[ORACLE_COUNT][VERDICT_COUNT];
    uint64_t beside[BESIDE_COUNT][VERDICT_COUNT]; /* of what is judged beside kernels */
    uint64_t occurrences;                         /* divergences in all */
    uint32_t finding_count;
    struct campaign_finding *findings;
    uint32_t reason_count;
    struct campaign_reason *reasons;
    uint32_t stored_findings; /* of them: committed */
    uint32_t open_findings;   /* open or fixed before, not suppressed */
    uint32_t failing;         /* of them: not quiet; exit status 1 */
    uint32_t known_findings;  /* marked known or invalid, or suppressed */
    uint32_t flaky;           /* divergences that a re-run from the case did not show: our fault */
    bool hanging;             /* a worker did not come back */
    bool interrupted;
    const char *ending; /* "finished", "interrupted", ... */
};

/* Runs a campaign into the database. SIGINT, SIGTERM and SIGHUP end it cleanly; a second one at
 * once. Returns the exit status of the command line (0, 1, 3); for 3, `message` says why. What the
 * summary points to lives in `arena`. */
int campaign_run(struct arena *arena, const struct campaign_options *options,
                 struct campaign_summary *summary, struct db_message *message);

/* The final table, and the same as one line of JSON. */
void campaign_print(struct arena *arena, const struct campaign_options *options,
                    const struct campaign_summary *summary, FILE *out);
void campaign_print_json(const struct campaign_options *options,
                         const struct campaign_summary *summary, FILE *out);

#endif
