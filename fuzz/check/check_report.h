/*
 * check_report.h - what `check` says of its kernels, for others: SARIF for code scanning, JUnit for CI, a page and a
 * summary for people. Kernels are added one after another and written when all have been checked.
 */
#ifndef FUZZ_CHECK_REPORT_H
#define FUZZ_CHECK_REPORT_H

#include "fuzz/check/headline.h"

#include <stdio.h>

struct check_report;

/* What is added lives in `arena`. */
struct check_report *check_report_new(struct arena *arena);

/* One problem of a kernel. */
struct check_problem {
    const char *rule; /* "race", "oob", ..., "expectation", "oracle simulation", "refused" */
    const char *text;
    const char *path; /* of the file with the line; NULL: the kernel's */
    uint32_t line;    /* of the file; 0: none */
    bool fails;       /* it counts for the exit status */
};

/* A kernel was checked; its problems are added behind it. `word` is what the first line about it begins with ("clean",
 * "RACY", ..), `path` its file, maybe with ": " and the kernel's name behind it. All strings are copied. */
void check_report_kernel(struct check_report *report, const char *word, const char *path,
                         const char *kernel);
void check_report_problem(struct check_report *report, const struct check_problem *problem);

/* So many could not be judged, of which nothing may have been added: they cannot be read or run, or were cut off. */
void check_report_unjudged(struct check_report *report, uint32_t count);

void check_report_sarif(const struct check_report *report, FILE *out);
void check_report_junit(const struct check_report *report, FILE *out);
/* check_report_page.c */
void check_report_html(const struct check_report *report, FILE *out);
void check_report_markdown(const struct check_report *report, FILE *out);

#endif
