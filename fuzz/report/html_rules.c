/*
 * html_rules.c - the rules of the papers as a map: a catalogue a row, a rule a cell, the darker the more
 * often it has fired; what never fired stands out.
 */
#include "fuzz/out/table.h"
#include "fuzz/report/html.h"

#include <inttypes.h>
#include <string.h>

enum { LEVELS = 5 };

static uint64_t most_hits(const struct report *r)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        if (r->hits[i] > most)
            most = r->hits[i];
    return most;
}

/* 1 to LEVELS by orders of magnitude below the most frequent rule; 0: never. */
static uint32_t level(uint64_t hits, uint64_t most)
{
    if (hits == 0)
        return 0;
    uint32_t below = 0;
    for (; hits <= most / 10; hits *= 10)
        below++;
    return below >= 2 * (LEVELS - 1) ? 1 : LEVELS - below / 2;
}

static void put_cell(struct page *page, const struct rule_info *rule, uint64_t hits, uint64_t most)
{
    fprintf(page->out, "<li class=\"h%" PRIu32 "\" title=\"", level(hits, most));
    markup_text(page->out, rule->source);
    fputs("\">", page->out);
    markup_text(page->out, rule->name);
    fprintf(page->out, " <span>%s</span></li>\n", hits ? markup_brief(page->arena, hits) : "never");
}

/* The rules of one semantics: [first, end). */
struct catalogue {
    uint32_t first, end, fired;
};

static struct catalogue catalogue_at(const struct report *r, uint32_t first)
{
    struct catalogue c = {.first = first, .end = first};
    const char *semantics = rule_table[first].semantics;
    for (; c.end < RULE_COUNT && strcmp(rule_table[c.end].semantics, semantics) == 0; c.end++)
        c.fired += r->hits[c.end] > 0;
    return c;
}

static void put_catalogue(struct page *page, const struct catalogue *c, uint64_t most)
{
    fputs("<div class=\"catalogue\"><h3>", page->out);
    markup_text(page->out, rule_table[c->first].semantics);
    fprintf(page->out, "<span>%" PRIu32 " of %" PRIu32 " fired</span></h3>\n<ul class=\"map\">\n",
            c->fired, c->end - c->first);
    for (uint32_t i = c->first; i < c->end; i++)
        put_cell(page, &rule_table[i], page->report->hits[i], most);
    fputs("</ul></div>\n", page->out);
}

static void put_legend(struct page *page)
{
    fputs("<ul class=\"legend\"><li><i class=\"h0\"></i>never</li>", page->out);
    static const char *const texts[] = {"rarest", "", "", "", "most frequent"};
    for (uint32_t i = 1; i <= LEVELS; i++)
        fprintf(page->out, "<li><i class=\"h%" PRIu32 "\"></i>%s</li>", i, texts[i - 1]);
    fputs("<li>a shade is two orders of magnitude</li></ul>\n", page->out);
}

static void put_table(struct page *page)
{
    fputs("<details class=\"more\"><summary>The same as a table, with the places in the papers"
          "</summary>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">semantics</th>"
          "<th scope=\"col\">rule</th><th class=\"r\" scope=\"col\">hits</th>"
          "<th scope=\"col\">source</th></tr></thead>\n<tbody>\n",
          page->out);
    for (uint32_t i = 0, end = 0, fired = 0; i < RULE_COUNT; i++) {
        if (i == end) {
            struct catalogue c = catalogue_at(page->report, i);
            end = c.end;
            fired = c.fired;
        }
        if (fired == 0)
            continue;
        fprintf(page->out, "<tr><td>%s</td><td>%s</td><td class=\"r\">%s</td><td class=\"wide\">",
                rule_table[i].semantics, rule_table[i].name,
                table_grouped(page->arena, page->report->hits[i]));
        markup_text(page->out, rule_table[i].source);
        fputs("</td></tr>\n", page->out);
    }
    fputs("</tbody></table></div></details>\n", page->out);
}

void html_rules(struct page *page)
{
    const struct report *r = page->report;
    uint64_t most = most_hits(r);
    size_t mark = arena_mark(page->arena);
    fprintf(
        page->out,
        "<section id=\"rules\" aria-labelledby=\"rules-title\">\n<h2 id=\"rules-title\">Rules of "
        "the papers: %" PRIu32 " of %" PRIu32 " have fired</h2>\n<div class=\"panel\">\n",
        r->rules_fired, r->rules_asked);
    put_legend(page);
    const char *others = "";
    for (uint32_t first = 0; first < RULE_COUNT;) {
        struct catalogue c = catalogue_at(r, first);
        if (c.fired > 0)
            put_catalogue(page, &c, most);
        else
            others = arena_printf(page->arena, "%s%s%s", others, *others ? ", " : "",
                                  rule_table[first].semantics);
        first = c.end;
    }
    if (*others) {
        fputs("<p>No campaign here ran ", page->out);
        markup_text(page->out, others);
        fputs(".</p>\n", page->out);
    }
    put_table(page);
    fputs("</div>\n</section>\n", page->out);
    arena_release(page->arena, mark);
}
