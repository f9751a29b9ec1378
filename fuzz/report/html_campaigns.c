/*
 * html_campaigns.c - the campaigns: how fast they were, and whether the hunt still finds anything.
 */
#include "fuzz/out/table.h"
#include "fuzz/report/html.h"

#include <inttypes.h>

enum {
    WIDTH = 480,
    HEIGHT = 200,
    LEFT = 64,
    RIGHT = 12,
    TOP = 14,
    BOTTOM = 34,
    BARS_MAX = 30,
    ROWS_MAX = 50,
    POINTS_MAX = 400 /* of a curve */
};

/* 1, 2 or 5 times a power of ten, not less than the value. */
static double nice(double value)
{
    double unit = 1;
    while (unit * 10 <= value)
        unit *= 10;
    return value <= unit       ? unit
           : value <= 2 * unit ? 2 * unit
           : value <= 5 * unit ? 5 * unit
                               : 10 * unit;
}

static double x_of(double value, double top)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * value / top;
}

static double y_of(double value, double top)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top;
}

static void open_chart(struct page *page, const char *title, const char *label, double top)
{
    fprintf(page->out,
            "<figure class=\"panel\"><figcaption><b>%s</b></figcaption>\n<svg viewBox=\"0 0 %d "
            "%d\" role=\"img\" aria-label=\"%s\">\n",
            title, WIDTH, HEIGHT, label);
    for (int i = 0; i <= 2; i++) {
        double value = top * i / 2, y = y_of(value, top);
        fprintf(page->out,
                "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text class=\"m e\" x=\"%d\" y=\"%.1f\">%s</text>\n",
                LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4,
                value < 10 && value != (double)(uint64_t)value
                    ? arena_printf(page->arena, "%.1f", value)
                    : markup_brief(page->arena, (uint64_t)value));
    }
}

static void close_chart(struct page *page, const char *below)
{
    fprintf(page->out, "<text class=\"m mid\" x=\"%d\" y=\"%d\">%s</text>\n</svg></figure>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, below);
}

/* ---- growth: distinct findings over cases ---- */

static void put_growth(struct page *page)
{
    const struct report *r = page->report;
    double right = 1, top = 1;
    uint32_t step = r->growth_count / POINTS_MAX + 1;
    for (uint32_t i = 0; i < r->growth_count; i++) {
        if ((double)r->growth[i].progress.kernels > right)
            right = (double)r->growth[i].progress.kernels;
        if ((double)r->growth[i].findings > top)
            top = (double)r->growth[i].findings;
    }
    open_chart(page, "Growth: distinct findings last night",
               arena_printf(page->arena, "Distinct findings over cases: %.0f in the end", top),
               nice(top));
    fprintf(page->out, "<polyline class=\"curve\" points=\"%.1f,%.1f", x_of(0, 1), y_of(0, 1));
    for (uint32_t i = 0; i < r->growth_count; i++)
        if (i % step == 0 || i + 1 == r->growth_count)
            fprintf(page->out, " %.1f,%.1f",
                    x_of((double)r->growth[i].progress.kernels, nice(right)),
                    y_of((double)r->growth[i].findings, nice(top)));
    fputs("\"/>\n", page->out);
    close_chart(page, arena_printf(page->arena, "cases, 0 to %s",
                                   markup_brief(page->arena, (uint64_t)nice(right))));
}

/* ---- throughput: cases a second, a bar a campaign ---- */

static void put_throughput(struct page *page)
{
    const struct report *r = page->report;
    uint32_t first = r->campaign_count > BARS_MAX ? r->campaign_count - BARS_MAX : 0;
    uint32_t count = r->campaign_count - first;
    double top = 1;
    for (uint32_t i = first; i < r->campaign_count; i++)
        if (report_rate(&r->campaigns[i]) > top)
            top = report_rate(&r->campaigns[i]);
    top = nice(top);
    open_chart(page, "Throughput: cases a second",
               "Cases a second of each campaign; the table "
               "below has the figures",
               top);
    double slot = (double)(WIDTH - LEFT - RIGHT) / (count > 0 ? count : 1);
    double width = slot * 0.7 > 40 ? 40 : slot * 0.7;
    for (uint32_t i = 0; i < count; i++) {
        const struct report_campaign *c = &r->campaigns[first + i];
        double y = y_of(report_rate(c), top), x = LEFT + slot * i + (slot - width) / 2;
        fprintf(page->out,
                "<rect class=\"bar%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                "<title>campaign %" PRIu64 ": %.1f cases/s</title></rect>\n",
                c->newest ? " now" : "", x, y, width, HEIGHT - BOTTOM - y, c->campaign.id,
                report_rate(c));
    }
    close_chart(page, count < r->campaign_count
                          ? "the last 30 campaigns, the newest in another colour"
                          : "campaigns, the newest in another colour");
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
            table_grouped(arena, c->progress.kernels), markup_duration(arena, row->seconds),
            report_rate(row), markup_brief(arena, c->progress.thread_steps),
            markup_brief(arena, c->progress.warp_steps), c->jobs);
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
        fputs("</div>\n<h3>All campaigns</h3>\n", page->out);
        put_table(page);
    } else {
        fputs("<p class=\"panel\">None.</p>\n", page->out);
    }
    fputs("</section>\n", page->out);
    arena_release(page->arena, mark);
}
