/*
 * html_campaigns.c - the campaigns: how fast they were, and whether the hunt still finds anything.
 */
#include "fuzz/out/table.h"
#include "fuzz/report/html.h"

#include <inttypes.h>

enum { ROWS_MAX = 50, POINTS_MAX = 400 /* of a curve */ };

/* ---- growth: distinct findings over cases ---- */

static void put_growth(struct page *page)
{
    const struct report *r = page->report;
    double right = 1, top = 1;
    uint32_t step = r->growth_count / POINTS_MAX + 1;
    for (uint32_t i = 0; i < r->growth_count; i++) {
        if ((double)r->growth[i].counts.cases > right)
            right = (double)r->growth[i].counts.cases;
        if ((double)r->growth[i].findings > top)
            top = (double)r->growth[i].findings;
    }
    chart_open(page, "Growth: distinct findings last night",
               arena_printf(page->arena, "Distinct findings over cases: %.0f in the end", top),
               chart_top(top));
    fprintf(page->out, "<polyline class=\"curve\" points=\"%.1f,%.1f", chart_x(0, 1),
            chart_y(0, 1));
    for (uint32_t i = 0; i < r->growth_count; i++)
        if (i % step == 0 || i + 1 == r->growth_count)
            fprintf(page->out, " %.1f,%.1f",
                    chart_x((double)r->growth[i].counts.cases, chart_top(right)),
                    chart_y((double)r->growth[i].findings, chart_top(top)));
    fputs("\"/>\n", page->out);
    chart_close(page, arena_printf(page->arena, "cases, 0 to %s",
                                   markup_brief(page->arena, (uint64_t)chart_top(right))));
}

/* ---- throughput: cases a second, a bar a campaign ---- */

static double rate_of(const struct report_campaign *campaign)
{
    return report_rate(campaign);
}

static void put_throughput(struct page *page)
{
    html_bars(page, "Throughput: cases a second", "cases/s", rate_of);
}

/* ---- the table ---- */

static void put_row(struct page *page, const struct report_campaign *row)
{
    const struct db_campaign *c = &row->campaign;
    struct arena *arena = page->arena;
    size_t mark = arena_mark(arena);
    fprintf(page->out,
            "<tr><td class=\"r\">%" PRIu64 "</td><td>%s%s</td><td>%s</td>"
            "<td class=\"mono\">0x%" PRIx64 "</td><td class=\"r\">%" PRIu64 "/%" PRIu64
            "</td><td class=\"r\">%s</td><td class=\"r\">%s</td><td class=\"r\">%.1f</td>"
            "<td class=\"r\">%s</td><td class=\"r\">%s</td><td class=\"r\">%" PRIu64 "</td><td>",
            c->id, db_campaign_state_name(c->state), row->newest ? ", last night" : "",
            markup_time(arena, c->started_ms), c->seed, c->shards, c->shard_count,
            table_grouped(arena, c->counts.cases), markup_duration(arena, row->seconds),
            report_rate(row), markup_brief(arena, c->counts.thread_steps),
            markup_brief(arena, c->counts.warp_steps), c->jobs);
    markup_text(page->out, c->version);
    fputs("</td></tr>\n", page->out);
    arena_release(arena, mark);
}

static void put_table(struct page *page)
{
    static const char *const titles[] = {"id",           "state",      "started", "seed",
                                         "shard",        "cases",      "time",    "cases/s",
                                         "thread steps", "warp steps", "workers", "version"};
    static const char right[] = "r...rrrrrrr.";
    const struct report *r = page->report;
    uint32_t first = r->campaign_count > ROWS_MAX ? r->campaign_count - ROWS_MAX : 0;
    fputs("<div class=\"panel scroll\"><table>\n<thead><tr>", page->out);
    for (uint32_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        fprintf(page->out, "<th%s scope=\"col\">%s</th>", right[i] == 'r' ? " class=\"r\"" : "",
                titles[i]);
    fputs("</tr></thead>\n<tbody>\n", page->out);
    for (uint32_t i = r->campaign_count; i-- > first;)
        put_row(page, &r->campaigns[i]);
    fputs("</tbody></table></div>\n", page->out);
    if (first > 0)
        fprintf(page->out, "<p class=\"muted\">%" PRIu32 " earlier campaigns are not shown.</p>\n",
                first);
}

void html_campaigns(struct page *page)
{
    size_t mark = arena_mark(page->arena);
    fputs("<section id=\"campaigns\" aria-labelledby=\"campaigns-title\">\n"
          "<h2 id=\"campaigns-title\">Campaigns</h2>\n",
          page->out);
    if (page->report->campaign_count > 0) {
        fputs("<div class=\"charts\">\n", page->out);
        put_growth(page);
        put_throughput(page);
        html_trends(page);
        fputs("</div>\n<h3>All campaigns</h3>\n", page->out);
        put_table(page);
    } else {
        fputs("<p class=\"panel\">None.</p>\n", page->out);
    }
    fputs("</section>\n", page->out);
    arena_release(page->arena, mark);
}
