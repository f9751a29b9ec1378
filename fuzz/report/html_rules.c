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

static void put_catalogue(struct page *page, uint32_t first, uint32_t end, uint64_t most)
{
    const struct report *r = page->report;
    uint32_t fired = 0;
    for (uint32_t i = first; i < end; i++)
        fired += r->hits[i] > 0;
    fputs("<div class=\"catalogue\"><h3>", page->out);
    markup_text(page->out, rule_table[first].semantics);
    fprintf(page->out, "<span>%" PRIu32 " of %" PRIu32 " fired</span></h3>\n<ul class=\"map\">\n",
            fired, end - first);
    for (uint32_t i = first; i < end; i++)
        put_cell(page, &rule_table[i], r->hits[i], most);
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
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
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
        "the papers: %" PRIu32 " of %d have fired</h2>\n<div class=\"panel\">\n",
        r->rules_fired, RULE_COUNT);
    put_legend(page);
    for (uint32_t first = 0, end; first < RULE_COUNT; first = end) {
        for (end = first + 1; end < RULE_COUNT &&
                              strcmp(rule_table[end].semantics, rule_table[first].semantics) == 0;)
            end++;
        put_catalogue(page, first, end, most);
    }
    put_table(page);
    fputs("</div>\n</section>\n", page->out);
    arena_release(page->arena, mark);
}
