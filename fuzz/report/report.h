/*
 * report.h - what a database says, read once, written in any format: a page for people (html.h), files
 * for CI systems (JUnit, SARIF, Markdown), JSON for programs.
 *
 *     report_read    database -> struct report, in an arena: counts of all findings, the most
 *                    important ones whole
 *     report_write_* struct report -> bytes
 *
 * The bytes are a function of the database (and of the program): times come from the database alone,
 * lists have an order of their own. Text from kernels and notes is anybody's: every writer escapes it.
 *
 * "Last night" is the newest campaign, the one that started last, with all its shards. A finding is new when
 * no other campaign saw it; a regression when it was seen after somebody marked it fixed (where the database
 * does not know when: when the newest campaign saw it).
 */
#ifndef FUZZ_REPORT_REPORT_H
#define FUZZ_REPORT_REPORT_H

#include "db/db.h"
#include "engine/machine/rules.h"
#include "fuzz/report/compare.h"
#include "fuzz/report/outside.h"
#include "oracle/check/verdict.h"
#include "oracle/matrix/matrix.h"

#include <stdio.h>

enum { REPORT_VERSION = 1 }; /* of the JSON document */

struct report_options {
    const char *db_name;     /* as it is written in commands */
    uint32_t findings;       /* shown at most */
    uint32_t traces;         /* of these, run again for a picture at most */
    const char *grade_table; /* text of a grade's table, or NULL */
    const char *views;       /* as the page calls the folder of findings' views, or NULL */
};

struct report_campaign {
    struct db_campaign campaign; /* strings in the arena */
    bool newest;
    double seconds; /* of all sessions: shards add up */
    /* How things stood when it ended (html_trends.c). */
    uint64_t found;          /* findings that it was the first to see */
    uint64_t first_found_ms; /* when it stored the first of them; 0: not known, or none */
    uint64_t open, fixed;    /* findings so far that nobody had settled, that were marked fixed */
    uint64_t rules;          /* that fired in it */
};

/* The order is that of importance. */
enum report_class {
    REPORT_REGRESSION, /* marked fixed, seen since */
    REPORT_NEW,        /* open, seen by the newest campaign alone */
    REPORT_OPEN,       /* open, seen before */
    REPORT_SUPPRESSED,
    REPORT_KNOWN,
    REPORT_INVALID,
    REPORT_FIXED,
    REPORT_CLASS_COUNT
};
extern const char *const report_class_names[REPORT_CLASS_COUNT]; /* "regression", "new", ... */

/* Whether a finding of this class is something to do. */
static inline bool report_class_counts(enum report_class class)
{
    return class <= REPORT_OPEN;
}

struct report_finding {
    const struct db_finding *finding; /* strings in the arena */
    enum report_class class;
    bool seen;                           /* by the newest campaign */
    bool minimised;                      /* `kernel` is the minimised one */
    const char *kernel;                  /* text; NULL: the database has none */
    uint32_t line;                       /* at which the divergence shows; 0 = not known */
    const struct comparison *comparison; /* the two executions; NULL: see no_comparison */
    const char *no_comparison;
    const char *no_view; /* why it has no page of its own among the views; NULL: it has one */
};

struct report_reason {
    uint64_t count;
    const char *verdict, *text;
};

enum { REPORT_REASONS = 4 };

struct report_oracle {
    const char *name;
    const struct oracle_info *info; /* NULL: an oracle that this program does not know */
    uint64_t verdicts[VERDICT_COUNT];
    struct report_reason reasons[REPORT_REASONS]; /* the most frequent; count 0: none */
    uint64_t other_reasons;
};

struct report {
    struct report_options options;
    const char *program_version;

    uint32_t campaign_count;
    const struct report_campaign *campaigns; /* by id */
    const struct report_campaign *newest;    /* NULL: there is none */
    struct db_counts total;

    uint64_t finding_count; /* all */
    uint64_t classes[REPORT_CLASS_COUNT];
    uint64_t unseen_open; /* open ones that the newest campaign did not see */
    uint32_t shown_count;
    struct report_finding *shown; /* the most important first */

    uint32_t oracle_count;
    const struct report_oracle *oracles;
    /* Cases whose termination depends on the execution model, of those that were searched exhaustively. */
    uint64_t differences[MATRIX_CLASS_COUNT];

    struct report_implementation *outside; /* the first of those that are not ours; NULL: none */

    uint64_t hits[RULE_COUNT];         /* over all campaigns */
    uint32_t rules_fired, rules_asked; /* of the semantics that ran */

    uint32_t growth_count; /* of the newest campaign */
    const struct db_statistics *growth;
};

/* Negative: enum db_error. Everything lives in `arena`; `scratch` is used and released. */
DB_MUST_CHECK int report_read(struct arena *arena, struct arena *scratch, struct db *db,
                              const struct report_options *options, struct report *report);

/* "simtfuzz replay 7 --db nightly.db", in the arena. */
const char *report_replay_command(struct arena *arena, const struct report *report,
                                  const struct db_finding *finding);
/* "simtfuzz view 7 --db nightly.db", in the arena. */
const char *report_view_command(struct arena *arena, const struct report *report,
                                const struct db_finding *finding);
/* Cases a second; 0: not known. */
double report_rate(const struct report_campaign *campaign);
/* Whether any of `differences` is not 0. */
bool report_has_differences(const struct report *report);
/* "3 new findings, 1 regression" */
const char *report_headline(struct arena *arena, const struct report *report);

void report_write_html(struct arena *arena, const struct report *report, FILE *out);
void report_write_json(struct arena *arena, const struct report *report, FILE *out);
void report_write_junit(struct arena *arena, const struct report *report, FILE *out);
void report_write_sarif(struct arena *arena, const struct report *report, FILE *out);
void report_write_markdown(struct arena *arena, const struct report *report, FILE *out);

#endif
