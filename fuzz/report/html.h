/*
 * html.h - the parts of the page, each in a file of its own. report_html.c puts them together.
 *
 * One file without scripts, with its own style sheet (report.css, whose SHA-256 stands in the content
 * security policy) and pictures as SVG inside. No style attributes: the policy forbids them.
 */
#ifndef FUZZ_REPORT_HTML_H
#define FUZZ_REPORT_HTML_H

#include "fuzz/report/report_internal.h"

struct page {
    struct arena *arena; /* for texts; released by who marks it */
    const struct report *report;
    FILE *out;
    const struct report_finding **by_cause; /* html_findings.c */
};

/* Of any page of this kind, up to its body. */
void html_head(FILE *out, const char *title); /* report_html.c */

void html_findings(struct page *page);                                     /* html_findings.c */
void html_traces(struct page *page, const struct report_finding *finding); /* html_trace.c */
void html_rules(struct page *page);                                        /* html_rules.c */
void html_oracles(struct page *page);                                      /* html_oracles.c */
void html_outside(struct page *page);                                      /* html_outside.c */
void html_grade(struct page *page);                                        /* html_grade.c */
void html_campaigns(struct page *page);                                    /* html_campaigns.c */
void html_trends(struct page *page);                                       /* html_trends.c */

/* A chart: its frame with figures up to `top` (chart_top: a round figure), its end with what stands below it. */
double chart_top(double value);
double chart_x(double value, double top);
double chart_y(double value, double top);
void chart_open(struct page *page, const char *title, const char *label, double top);
void chart_close(struct page *page, const char *below);
/* A bar for each of the last campaigns; a value below 0: none. */
void html_bars(struct page *page, const char *title, const char *unit,
               double (*value_of)(const struct report_campaign *campaign));

/* A kernel's source: a line an element, keywords, numbers and comments told apart; `here` marks a line
 * (0: none). html_source.c */
void html_source(FILE *out, const char *text, uint32_t here);

/* report.css, and its digest in base64 (report_css.c, made by CMake). */
extern const char report_css[];
extern const char report_css_sha256[];

#endif
