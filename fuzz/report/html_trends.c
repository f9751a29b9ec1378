/*
 * html_trends.c - charts: how campaigns follow each other. What findings, rules and cases were at the end of each, from
 * the database alone.
 */
#include "fuzz/report/html.h"

#include <inttypes.h>

enum { WIDTH = 480, HEIGHT = 200, LEFT = 64, RIGHT = 12, TOP = 14, BOTTOM = 34, BARS_MAX = 30 };

/* 1, 2 or 5 times a power of ten, not less than the value. */
double chart_top(double value)
{
    double unit = 1;
    while (unit * 10 <= value)
        unit *= 10;
    return value <= unit       ? unit
           : value <= 2 * unit ? 2 * unit
           : value <= 5 * unit ? 5 * unit
                               : 10 * unit;
}

double chart_x(double value, double top)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * value / top;
}

double chart_y(double value, double top)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top;
}

void chart_open(struct page *page, const char *title, const char *label, double top)
{
    fprintf(page->out,
            "<figure class=\"panel\"><figcaption><b>%s</b></figcaption>\n<svg viewBox=\"0 0 %d "
            "%d\" role=\"img\" aria-label=\"%s\">\n",
            title, WIDTH, HEIGHT, label);
    for (int i = 0; i <= 2; i++) {
        double value = top * i / 2, y = chart_y(value, top);
        fprintf(page->out,
                "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text class=\"m e\" x=\"%d\" y=\"%.1f\">%s</text>\n",
                LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4,
                value < 10 && value != (double)(uint64_t)value
                    ? arena_printf(page->arena, "%.1f", value)
                    : markup_brief(page->arena, (uint64_t)value));
    }
}

void chart_close(struct page *page, const char *below)
{
    fprintf(page->out, "<text class=\"m mid\" x=\"%d\" y=\"%d\">%s</text>\n</svg></figure>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, below);
}

/* ---- a bar a campaign ---- */

static const char *figure(struct page *page, double value)
{
    return value < 10 && value != (double)(uint64_t)value
               ? arena_printf(page->arena, "%.1f", value)
               : arena_printf(page->arena, "%.0f", value);
}

void html_bars(struct page *page, const char *title, const char *unit,
               double (*value_of)(const struct report_campaign *))
{
    const struct report *r = page->report;
    uint32_t first = r->campaign_count > BARS_MAX ? r->campaign_count - BARS_MAX : 0;
    uint32_t count = r->campaign_count - first;
    double top = 1;
    for (uint32_t i = first; i < r->campaign_count; i++)
        if (value_of(&r->campaigns[i]) > top)
            top = value_of(&r->campaigns[i]);
    top = chart_top(top);
    chart_open(page, title, arena_printf(page->arena, "%s, a bar a campaign", title), top);
    double slot = (double)(WIDTH - LEFT - RIGHT) / (count > 0 ? count : 1);
    double width = slot * 0.7 > 40 ? 40 : slot * 0.7;
    for (uint32_t i = 0; i < count; i++) {
        const struct report_campaign *c = &r->campaigns[first + i];
        double value = value_of(c), x = LEFT + slot * i + (slot - width) / 2;
        if (value < 0)
            continue;
        double y = chart_y(value, top);
        fprintf(page->out,
                "<rect class=\"bar%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                "<title>campaign %" PRIu64 ": %s %s</title></rect>\n",
                c->newest ? " now" : "", x, y, width, HEIGHT - BOTTOM - y, c->campaign.id,
                figure(page, value), unit);
    }
    chart_close(page, first > 0 ? "the last 30 campaigns, the newest in another colour"
                                : "campaigns, the newest in another colour");
}

/* ---- over nights ---- */

static double found_of(const struct report_campaign *c)
{
    return (double)c->found;
}

static double open_of(const struct report_campaign *c)
{
    return (double)c->open;
}

static double fixed_of(const struct report_campaign *c)
{
    return (double)c->fixed;
}

static double cases_of(const struct report_campaign *c)
{
    return (double)c->campaign.counts.cases;
}

static double rules_of(const struct report_campaign *c)
{
    return (double)c->rules;
}

/* Until the first finding that was new; -1: it found none. */
static double seconds_of(const struct report_campaign *c)
{
    if (c->first_found_ms < c->campaign.started_ms || c->first_found_ms == 0)
        return -1;
    return (double)(c->first_found_ms - c->campaign.started_ms) / 1000;
}

void html_trends(struct page *page)
{
    if (page->report->campaign_count < 2)
        return;
    html_bars(page, "New findings", "findings seen first", found_of);
    html_bars(page, "Open findings afterwards", "findings open", open_of);
    html_bars(page, "Fixed findings afterwards", "findings marked fixed", fixed_of);
    html_bars(page, "Cases", "cases", cases_of);
    html_bars(page, "Rules that fired", "rules", rules_of);
    html_bars(page, "Time to the first new finding, in seconds", "s", seconds_of);
}
