/*
 * html_oracles.c - what each oracle said, and why it could not.
 */
#include "fuzz/out/table.h"
#include "fuzz/report/html.h"

#include <inttypes.h>

enum { BAR_WIDTH = 240, BAR_HEIGHT = 12 };

static const char *const bar_classes[VERDICT_COUNT] = {
    [VERDICT_AGREE] = "agree",
    [VERDICT_DIVERGE] = "diverge",
    [VERDICT_NOT_APPLICABLE] = "skipped",
    [VERDICT_INCONCLUSIVE] = "unsure",
};

static const char *const verdict_words[VERDICT_COUNT] = {
    [VERDICT_AGREE] = "agree",
    [VERDICT_DIVERGE] = "diverge",
    [VERDICT_NOT_APPLICABLE] = "not applicable",
    [VERDICT_INCONCLUSIVE] = "inconclusive",
};

/* Agree, diverge, inconclusive, not applicable from left to right; what is there is seen. */
static void put_bar(struct page *page, const struct report_oracle *oracle, uint64_t sum)
{
    static const enum verdict order[] = {VERDICT_AGREE, VERDICT_DIVERGE, VERDICT_INCONCLUSIVE,
                                         VERDICT_NOT_APPLICABLE};
    double at = 0;
    fprintf(page->out,
            "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">",
            BAR_WIDTH, BAR_HEIGHT, BAR_WIDTH, BAR_HEIGHT);
    for (uint32_t i = 0; i < VERDICT_COUNT; i++) {
        double share = (double)oracle->verdicts[order[i]] / (double)sum;
        double width = BAR_WIDTH * share;
        if (order[i] == VERDICT_NOT_APPLICABLE)
            width = BAR_WIDTH - at;
        else if (share > 0 && width < 2)
            width = 2;
        fprintf(page->out, "<rect class=\"%s\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\"/>",
                bar_classes[order[i]], at, width > 0 ? width : 0, BAR_HEIGHT);
        at += width;
    }
    fputs("</svg>", page->out);
}

static void put_reasons(struct page *page, const struct report_oracle *oracle)
{
    if (oracle->reasons[0].count == 0)
        return;
    fputs("<details class=\"more\"><summary>why not</summary><ul>\n", page->out);
    for (uint32_t i = 0; i < REPORT_REASONS && oracle->reasons[i].count > 0; i++) {
        fprintf(page->out, "<li>%s: ", table_grouped(page->arena, oracle->reasons[i].count));
        markup_text(page->out, oracle->reasons[i].text);
        fputs("</li>\n", page->out);
    }
    if (oracle->other_reasons > 0)
        fprintf(page->out, "<li>%s for other reasons</li>\n",
                table_grouped(page->arena, oracle->other_reasons));
    fputs("</ul></details>", page->out);
}

static void put_oracle(struct page *page, const struct report_oracle *oracle)
{
    uint64_t sum = 0;
    for (uint32_t v = 0; v < VERDICT_COUNT; v++)
        sum += oracle->verdicts[v];
    fputs("<tr><th scope=\"row\">", page->out);
    markup_text(page->out, oracle->name);
    fputs("</th>", page->out);
    for (uint32_t v = 0; v < VERDICT_COUNT; v++)
        fprintf(page->out, "<td class=\"r\">%s</td>",
                table_grouped(page->arena, oracle->verdicts[v]));
    fputs("<td>", page->out);
    if (sum > 0)
        put_bar(page, oracle, sum);
    else
        fputs("<span class=\"muted\">not asked</span>", page->out);
    fputs("</td><td class=\"wide\">", page->out);
    if (oracle->info)
        markup_text(page->out, oracle->info->theorem);
    put_reasons(page, oracle);
    fputs("</td></tr>\n", page->out);
}

/* A kernel that ends under one model and hangs under another is no fault: it is what the models are about. */
static void put_differences(struct page *page)
{
    const struct report *r = page->report;
    if (!report_has_differences(r))
        return;
    fputs("<h3>Whether it ends depends on the execution model</h3>\n<p class=\"muted\">Cases that "
          "were searched exhaustively; no faults: <code>simtfuzz progress</code> says of a kernel "
          "who waits for whom.</p>\n<ul>\n",
          page->out);
    for (uint32_t i = 0; i < MATRIX_CLASS_COUNT; i++)
        fprintf(page->out, "<li>%s %s: %s</li>\n", table_grouped(page->arena, r->differences[i]),
                matrix_class_table[i].name, matrix_class_table[i].sentence);
    fputs("</ul>\n", page->out);
}

void html_oracles(struct page *page)
{
    const struct report *r = page->report;
    size_t mark = arena_mark(page->arena);
    fputs(
        "<section id=\"oracles\" aria-labelledby=\"oracles-title\">\n<h2 id=\"oracles-title\">What "
        "the oracles said</h2>\n<div class=\"panel\">\n<ul class=\"legend\">",
        page->out);
    for (uint32_t v = 0; v < VERDICT_COUNT; v++)
        fprintf(page->out, "<li><i class=\"%s\"></i>%s</li>", bar_classes[v], verdict_words[v]);
    fputs("</ul>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">oracle</th>",
          page->out);
    for (uint32_t v = 0; v < VERDICT_COUNT; v++)
        fprintf(page->out, "<th class=\"r\" scope=\"col\">%s</th>", verdict_words[v]);
    fputs("<th scope=\"col\">share</th><th scope=\"col\">theorem</th></tr></thead>\n<tbody>\n",
          page->out);
    for (uint32_t i = 0; i < r->oracle_count; i++)
        put_oracle(page, &r->oracles[i]);
    fputs("</tbody></table></div>\n", page->out);
    put_differences(page);
    fputs("</div>\n</section>\n", page->out);
    arena_release(page->arena, mark);
}
