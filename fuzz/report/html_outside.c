/*
 * html_outside.c - a part for each implementation that is not ours: versions, cases, rate, findings, and known faults
 * that did not show.
 */
#include "fuzz/out/table.h"
#include "fuzz/report/html.h"

#include <inttypes.h>

enum { MANY = 100 }; /* kernels, one of which should have shown a fault that is still there */

static void put_cell(struct page *page, uint64_t count)
{
    fprintf(page->out, "<td class=\"r\">%s</td>", count ? table_grouped(page->arena, count) : "");
}

static void put_run(struct page *page, const struct report_run *run)
{
    fputs("<tr><th scope=\"row\">", page->out);
    markup_text(page->out, run->subject);
    fputs("</th><td>", page->out);
    markup_text(page->out, run->version);
    fputs("</td>", page->out);
    put_cell(page, run->kernels);
    fprintf(page->out, "<td class=\"r\">%.1f</td><td class=\"r\">%.0f %%</td>",
            report_run_rate(run), report_run_share(run));
    const uint64_t counts[] = {run->wrong,      run->crashes, run->hangs, run->refusals,
                               run->run_errors, run->unknown, run->known, run->unconfirmed};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        put_cell(page, counts[i]);
    fputs("</tr>\n", page->out);
}

static void put_runs(struct page *page, const struct report_implementation *i)
{
    static const char *const titles[] = {"kernels", "a CPU second",   "ours",       "wrong",
                                         "crash",   "hang",           "refused",    "error at run",
                                         "unknown", "of these known", "unconfirmed"};
    fputs("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">with options</th>"
          "<th scope=\"col\">version</th>",
          page->out);
    for (size_t t = 0; t < sizeof titles / sizeof titles[0]; t++)
        fprintf(page->out, "<th class=\"r\" scope=\"col\">%s</th>", titles[t]);
    fputs("</tr></thead>\n<tbody>\n", page->out);
    for (uint32_t k = 0; k < i->run_count; k++)
        put_run(page, &i->runs[k]);
    fputs("</tbody></table></div>\n", page->out);
}

static void put_findings(struct page *page, const struct report_implementation *i)
{
    if (i->finding_count == 0) {
        fputs("<p>No findings.</p>\n", page->out);
        return;
    }
    fputs("<ul>\n", page->out);
    for (uint32_t k = 0; k < i->finding_count; k++) {
        const struct report_outside_finding *f = &i->findings[k];
        fprintf(page->out,
                "<li><a href=\"#finding-%" PRIu64 "\">finding %" PRIu64 "</a>, %s: ", f->id, f->id,
                db_state_name(f->state));
        markup_text(page->out, f->class);
        fputs(", ", page->out);
        markup_text(page->out, f->observable);
        fprintf(page->out, " (%s times)</li>\n", table_grouped(page->arena, f->occurrences));
    }
    fputs("</ul>\n", page->out);
}

/* A fault that a new version has no longer is told by what should have shown it. */
static void put_known(struct page *page, const struct report_implementation *i)
{
    for (uint32_t k = 0; k < i->known_count; k++) {
        const struct report_known_fault *known = &i->known[k];
        fputs("<p>Known fault <code>", page->out);
        markup_text(page->out, known->id);
        fprintf(page->out, "</code>: %s in %s kernels that ran without its avoidance%s.</p>\n",
                known->seen ? table_grouped(page->arena, known->seen) : "not seen",
                table_grouped(page->arena, known->chances),
                known->seen == 0 && known->chances >= MANY
                    ? ": perhaps this version has it no longer"
                    : "");
    }
}

void html_outside(struct page *page)
{
    size_t mark = arena_mark(page->arena);
    if (!page->report->outside)
        return;
    fputs("<section id=\"outside\" aria-labelledby=\"outside-title\">\n<h2 id=\"outside-title\">"
          "Outside implementations</h2>\n",
          page->out);
    for (const struct report_implementation *i = page->report->outside; i; i = i->next) {
        fputs("<div class=\"panel\">\n<h3>", page->out);
        markup_text(page->out, i->name);
        fputs("</h3>\n", page->out);
        put_runs(page, i);
        put_findings(page, i);
        put_known(page, i);
        fputs("</div>\n", page->out);
    }
    fputs("</section>\n", page->out);
    arena_release(page->arena, mark);
}
