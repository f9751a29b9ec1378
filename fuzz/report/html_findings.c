/*
 * html_findings.c - the findings: what is new first, each with its kernel, its two executions and the
 * command that runs it again.
 */
#include "fuzz/out/table.h"
#include "fuzz/report/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPENED = 3,      /* findings whose details are unfolded at first */
    SAME_BUG_MAX = 8 /* findings that are listed as the same bug */
};

static void put_fact(struct page *page, const char *what, const char *value)
{
    if (!value || !*value)
        return;
    fprintf(page->out, "<dt>%s</dt><dd>", what);
    markup_text(page->out, value);
    fputs("</dd>\n", page->out);
}

/* "case 43 of campaign 1, 2026-11-22 03:01 UTC" */
static const char *place_text(struct arena *arena, uint64_t number, uint64_t campaign,
                              uint64_t seen_ms)
{
    const char *time = markup_time(arena, seen_ms);
    return arena_printf(arena, "case %" PRIu64 " of campaign %" PRIu64 "%s%s", number, campaign,
                        *time ? ", " : "", time);
}

static const char *size_text(struct arena *arena, const struct report_finding *shown)
{
    const struct db_finding *f = shown->finding;
    if (!shown->minimised)
        return arena_printf(arena, "%" PRIu64 " statements, not minimised%s", f->raw_statements,
                            f->minimisation == DB_MINIMISATION_PENDING ? " yet" : "");
    return arena_printf(arena,
                        "%" PRIu64 " statements, of %" PRIu64 "; %" PRIu64 " candidates tried",
                        f->minimised.statements, f->raw_statements, f->minimised.tests);
}

/* The shown findings by cause, then by importance. */
static int compare_causes(const void *left, const void *right)
{
    const struct report_finding *const *a = left, *const *b = right;
    int order = strcmp((*a)->finding->cause, (*b)->finding->cause);
    return order != 0 ? order : *a < *b ? -1 : *a > *b;
}

static void sort_by_cause(struct page *page)
{
    const struct report *r = page->report;
    page->by_cause = ARENA_ARRAY(page->arena, const struct report_finding *, r->shown_count + 1);
    for (uint32_t i = 0; i < r->shown_count; i++)
        page->by_cause[i] = &r->shown[i];
    qsort(page->by_cause, r->shown_count, sizeof *page->by_cause, compare_causes);
}

/* Findings with one cause are taken for one bug (docs/signatures.md): "#3, #4 and more". */
static const char *same_bug(struct page *page, const struct report_finding *shown)
{
    uint32_t low = 0, high = page->report->shown_count, others = 0;
    const char *cause = shown->finding->cause, *list = "";
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(page->by_cause[middle]->finding->cause, cause) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; *cause && low < page->report->shown_count; low++) {
        const struct report_finding *other = page->by_cause[low];
        if (strcmp(other->finding->cause, cause) != 0 || others > SAME_BUG_MAX)
            break;
        if (other != shown && others++ < SAME_BUG_MAX)
            list = arena_printf(page->arena, "%s%s#%" PRIu64, list, *list ? ", " : "",
                                other->finding->id);
    }
    return others <= SAME_BUG_MAX ? list : arena_printf(page->arena, "%s and more", list);
}

static void put_facts(struct page *page, const struct report_finding *shown)
{
    const struct db_finding *f = shown->finding;
    fputs("<dl class=\"facts\">\n", page->out);
    put_fact(page, "subject", f->subject);
    put_fact(page, "launch", f->minimised.launch);
    put_fact(page, "size", size_text(page->arena, shown));
    put_fact(page, "first seen",
             place_text(page->arena, f->first_case, f->first_campaign, f->first_seen_ms));
    put_fact(page, "last seen",
             place_text(page->arena, f->last_case, f->last_campaign, f->last_seen_ms));
    put_fact(page, "last night", shown->seen ? NULL : "not met again");
    if (strcmp(f->cause, f->signature) != 0)
        put_fact(page, "cause", f->cause);
    put_fact(page, "same bug", same_bug(page, shown));
    put_fact(page, "reference", f->reference);
    put_fact(page, "note", f->note);
    put_fact(page, "schedule",
             shown->minimised ? *f->minimised.tape ? f->minimised.tape : "sequential" : NULL);
    fputs("</dl>\n", page->out);
}

static void put_kernel(struct page *page, const struct report_finding *shown)
{
    fputs("<figure><figcaption>", page->out);
    if (!shown->kernel) {
        fputs("The database holds no kernel of this finding.</figcaption></figure>\n", page->out);
        return;
    }
    fprintf(page->out, "<b>%s kernel</b>", shown->minimised ? "Minimised" : "Raw");
    if (shown->line > 0)
        fprintf(page->out, ", the divergence shows at line %" PRIu32, shown->line);
    fputs("</figcaption>\n", page->out);
    html_source(page->out, shown->kernel, shown->line);
    fputs("</figure>\n", page->out);
}

static void put_more(struct page *page, const char *title, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(page->out, "<details class=\"more\"><summary>%s</summary><pre class=\"raw\">", title);
    markup_text(page->out, text);
    fputs("</pre></details>\n", page->out);
}

/* "safety: act-cons at crs.brk_uni, Lemma 1" */
static void put_name(struct page *page, const struct db_finding *f)
{
    markup_text(page->out, f->oracle);
    fputs(": ", page->out);
    markup_text(page->out, f->class);
    if (*f->rule && strcmp(f->rule, "none") != 0) {
        fputs(" <code>", page->out);
        markup_text(page->out, f->rule);
        fputs("</code>", page->out);
    }
    if (*f->observable) {
        fputs(" (", page->out);
        markup_text(page->out, f->observable);
        fputs(")", page->out);
    }
}

static void put_badge(struct page *page, const struct report_finding *shown)
{
    const char *name = report_class_names[shown->class];
    fprintf(page->out, "<span class=\"badge %s\">%s", name, name);
    if (shown->class == REPORT_KNOWN && *shown->finding->reference) {
        fputc(' ', page->out);
        markup_short(page->out, shown->finding->reference, 12);
    }
    fputs("</span>", page->out);
}

static void put_finding(struct page *page, const struct report_finding *shown, bool opened)
{
    const struct db_finding *f = shown->finding;
    size_t mark = arena_mark(page->arena);
    fprintf(page->out, "<details class=\"finding\" id=\"finding-%" PRIu64 "\"%s>\n<summary>", f->id,
            opened ? " open" : "");
    put_badge(page, shown);
    fputs("<span class=\"what\">", page->out);
    put_name(page, f);
    fprintf(page->out,
            "</span><span class=\"count\">#%" PRIu64 ", %s time%s</span></summary>\n"
            "<div class=\"body\">\n",
            f->id, table_grouped(page->arena, f->occurrences), f->occurrences == 1 ? "" : "s");
    if (shown->comparison) {
        fputs("<p class=\"says\">", page->out);
        markup_text(page->out, shown->comparison->summary);
        fputs("</p>\n", page->out);
    }
    fputs("<div class=\"cols\">\n", page->out);
    put_kernel(page, shown);
    put_facts(page, shown);
    fputs("</div>\n<h4>Run it again</h4>\n<pre class=\"command\">", page->out);
    markup_text(page->out, report_replay_command(page->arena, page->report, f));
    fputs("</pre>\n", page->out);
    html_traces(page, shown);
    put_more(page, "Evidence, as the oracle gave it", f->evidence);
    put_more(page, "Signature and case",
             arena_printf(page->arena, "%s\n\n%s", f->signature,
                          shown->minimised ? f->minimised.case_text : f->raw_case));
    fputs("</div></details>\n", page->out);
    arena_release(page->arena, mark);
}

static void put_row(struct page *page, const struct report_finding *shown)
{
    const struct db_finding *f = shown->finding;
    fprintf(page->out, "<tr><td class=\"r\">%" PRIu64 "</td><td>", f->id);
    put_badge(page, shown);
    fprintf(page->out, "</td><td class=\"r\">%s</td><td class=\"wide\">",
            table_grouped(page->arena, f->occurrences));
    put_name(page, f);
    fputs("</td><td class=\"wide\">", page->out);
    markup_text(page->out, f->note);
    fputs("</td></tr>\n", page->out);
}

/* What is known and was run again for a picture: with its executions, folded. */
static void put_known(struct page *page, uint32_t first)
{
    const struct report *r = page->report;
    for (uint32_t i = first; i < r->shown_count; i++)
        if (r->shown[i].comparison)
            put_finding(page, &r->shown[i], false);
}

/* What nobody has to do anything about: a table. */
static void put_settled(struct page *page, uint32_t first)
{
    const struct report *r = page->report;
    if (first == r->shown_count)
        return;
    put_known(page, first);
    fputs("<details class=\"more\"><summary>Known, suppressed, invalid and fixed findings: ",
          page->out);
    fprintf(page->out,
            "%" PRIu32 " shown</summary>\n<div class=\"scroll\"><table>\n<thead><tr>"
            "<th class=\"r\" scope=\"col\">id</th><th scope=\"col\">status</th>"
            "<th class=\"r\" scope=\"col\">times</th><th scope=\"col\">finding</th>"
            "<th scope=\"col\">note</th></tr></thead>\n<tbody>\n",
            r->shown_count - first);
    for (uint32_t i = first; i < r->shown_count; i++) {
        size_t mark = arena_mark(page->arena);
        put_row(page, &r->shown[i]);
        arena_release(page->arena, mark);
    }
    fputs("</tbody></table></div>\n<p class=\"small\">To step through one of them: <code>simtfuzz "
          "view ID --db ",
          page->out);
    markup_text(page->out, report_shell_word(page->arena, r->options.db_name));
    fputs("</code></p></details>\n", page->out);
}

void html_findings(struct page *page)
{
    const struct report *r = page->report;
    uint32_t settled = 0;
    size_t mark = arena_mark(page->arena);
    sort_by_cause(page);
    while (settled < r->shown_count && report_class_counts(r->shown[settled].class))
        settled++;
    fputs("<section id=\"findings\" aria-labelledby=\"findings-title\">\n"
          "<h2 id=\"findings-title\">Findings</h2>\n",
          page->out);
    if (settled == 0)
        fputs("<p class=\"panel\">Nothing is open.</p>\n", page->out);
    for (uint32_t i = 0; i < settled; i++)
        put_finding(page, &r->shown[i], i < OPENED);
    put_settled(page, settled);
    if (r->finding_count > r->shown_count)
        fprintf(page->out,
                "<p class=\"muted\">%s more findings, of less importance, are not shown: "
                "<code>simtfuzz triage list</code> lists all %s; <code>--findings N</code> shows "
                "more here.</p>\n",
                table_grouped(page->arena, r->finding_count - r->shown_count),
                table_grouped(page->arena, r->finding_count));
    fputs("</section>\n", page->out);
    arena_release(page->arena, mark);
}
