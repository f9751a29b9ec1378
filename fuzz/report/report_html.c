#include "fuzz/out/table.h"
#include "fuzz/report/html.h"

#include <inttypes.h>
#include <string.h>

void html_head(FILE *out, const char *title)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'sha256-",
          out);
    markup_base64(out, report_css_sha256);
    fputs("'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
          out);
    markup_text(out, title);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n", report_css);
}

static void put_top(struct page *page)
{
    const struct report *r = page->report;
    fputs("<body>\n<a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n"
          "<header class=\"top\"><div class=\"wrap\">\n<h1>simtfuzz report</h1>\n<p>",
          page->out);
    markup_text(page->out, r->options.db_name);
    if (r->newest)
        fprintf(page->out, ", last written %s",
                markup_time(page->arena, r->newest->campaign.seen_ms));
    fputs("</p>\n<nav aria-label=\"Sections\"><ul>"
          "<li><a href=\"#findings\">Findings</a></li><li><a href=\"#rules\">Rules</a></li>"
          "<li><a href=\"#oracles\">Oracles</a></li><li><a href=\"#campaigns\">Campaigns</a></li>",
          page->out);
    if (r->outside)
        fputs("<li><a href=\"#outside\">Outside</a></li>", page->out);
    if (r->options.grade_table)
        fputs("<li><a href=\"#grade\">Grade</a></li>", page->out);
    fputs("</ul></nav>\n</div></header>\n<main class=\"wrap\">\n", page->out);
}

static void put_tile(struct page *page, const char *class, const char *value, const char *what)
{
    fprintf(page->out, "<li%s%s%s><b>%s</b><span>%s</span></li>\n", *class ? " class=\"" : "",
            class, *class ? "\"" : "", value, what);
}

static void put_tiles(struct page *page)
{
    const struct report *r = page->report;
    struct arena *arena = page->arena;
    const uint64_t *classes = r->classes;
    fputs("<ul class=\"tiles\">\n", page->out);
    put_tile(page, classes[REPORT_REGRESSION] ? "bad" : "",
             table_grouped(arena, classes[REPORT_REGRESSION]), "regressions");
    put_tile(page, classes[REPORT_NEW] ? "new" : "", table_grouped(arena, classes[REPORT_NEW]),
             "new, open");
    put_tile(page, classes[REPORT_OPEN] ? "warn" : "", table_grouped(arena, classes[REPORT_OPEN]),
             "open since before");
    put_tile(page, "", table_grouped(arena, classes[REPORT_KNOWN]), "known");
    if (r->newest)
        put_tile(page, "", markup_brief(arena, r->newest->campaign.counts.cases),
                 "cases last night");
    if (r->newest && r->newest->seconds > 0)
        put_tile(page, "", markup_brief(arena, (uint64_t)report_rate(r->newest)),
                 r->newest->campaign.shards > 1 ? "cases a second and shard" : "cases a second");
    put_tile(page, "",
             arena_printf(arena, "%" PRIu32 " / %" PRIu32, r->rules_fired, r->rules_asked),
             "rules fired");
    fputs("</ul>\n", page->out);
}

/* What the newest campaign was. */
static void put_newest(struct page *page)
{
    const struct report *r = page->report;
    if (!r->newest) {
        fputs("<p>The database holds no campaign: <code>simtfuzz run</code> makes one.</p>\n",
              page->out);
        return;
    }
    const struct db_campaign *c = &r->newest->campaign;
    fprintf(page->out, "<p>Last night: campaign %" PRIu64, c->id);
    if (c->shard_count > 1)
        fprintf(page->out, ", %" PRIu64 " of %" PRIu64 " shards", c->shards, c->shard_count);
    fprintf(page->out, ", seed 0x%" PRIx64 ", simtfuzz ", c->seed);
    markup_text(page->out, c->version);
    fprintf(page->out, ", started %s, %s of work%s.", markup_time(page->arena, c->started_ms),
            markup_duration(page->arena, r->newest->seconds),
            c->state == DB_CAMPAIGN_FINISHED  ? ""
            : c->state == DB_CAMPAIGN_RUNNING ? "; it says that it is running"
                                              : "; it was interrupted");
    if (r->campaign_count == 1)
        fputs(" It is the only one in this database: with nothing to compare it with, all "
              "that is open counts as new.",
              page->out);
    else if (r->unseen_open > 0)
        fprintf(page->out, " %s of the findings that are open since before did not show again.",
                table_grouped(page->arena, r->unseen_open));
    fputs("</p>\n", page->out);
}

static void put_night(struct page *page)
{
    const struct report *r = page->report;
    const char *class = r->classes[REPORT_REGRESSION] + r->classes[REPORT_NEW] > 0 ? " bad"
                        : r->classes[REPORT_OPEN] > 0                              ? " warn"
                        : r->classes[REPORT_KNOWN] > 0                             ? " known"
                                                                                   : "";
    fprintf(page->out,
            "<section aria-labelledby=\"headline\">\n<div class=\"verdict%s\">\n"
            "<h2 id=\"headline\">",
            class);
    markup_text(page->out, report_headline(page->arena, r));
    fputs("</h2>\n", page->out);
    put_newest(page);
    fputs("</div>\n", page->out);
    put_tiles(page);
    fputs("</section>\n", page->out);
}

void report_write_html(struct arena *arena, const struct report *report, FILE *out)
{
    struct page page = {.arena = arena, .report = report, .out = out};
    size_t mark = arena_mark(arena);
    html_head(out, arena_printf(arena, "%s - simtfuzz report of %s", report_headline(arena, report),
                                report->options.db_name));
    put_top(&page);
    put_night(&page);
    html_findings(&page);
    html_rules(&page);
    html_oracles(&page);
    html_outside(&page);
    html_campaigns(&page);
    if (report->options.grade_table)
        html_grade(&page);
    fputs("</main>\n<footer><div class=\"wrap\">Made by simtfuzz ", out);
    markup_text(out, report->program_version);
    fputs(" from the database alone: the same database gives the same bytes. Nothing here is "
          "loaded from elsewhere.</div></footer>\n</body>\n</html>\n",
          out);
    arena_release(arena, mark);
}
