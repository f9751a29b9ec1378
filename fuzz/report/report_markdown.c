/*
 * report_markdown.c - the summary of a job on GitHub: Markdown with tables and foldings, at most 1 MiB.
 *
 * Text of others stands in <code> and <pre>, where names of people and issues are no links, and is escaped for
 * Markdown and for HTML.
 */
#include "fuzz/out/table.h"
#include "fuzz/report/report_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1000 * 1000, ROWS_MAX = 50 };

struct summary {
    struct arena *arena;
    const struct report *report;
    FILE *out;
    size_t used;
    bool full;
};

/* Escaped for a cell of a table and for text: no character of Markdown is left to mean anything. */
static void put_text(FILE *out, const char *text)
{
    static const char special[] = "|*_`[]#~\\@!\n\r\t{}$:";
    while (*text) {
        size_t length = strcspn(text, special);
        markup_bytes(out, text, length);
        text += length;
        if (*text)
            fprintf(out, "&#%d;", *text == '\n' || *text == '\r' || *text == '\t' ? ' ' : *text);
        text += *text != '\0';
    }
}

static void put_code(FILE *out, const char *text)
{
    fputs("<code>", out);
    put_text(out, text);
    fputs("</code>", out);
}

/* A line that starts with <pre> starts a block in which nothing but HTML means anything, to its </pre>. */
static void put_pre(FILE *out, const char *text)
{
    fputs("<pre><code>", out);
    markup_text(out, text);
    fputs("</code></pre>\n\n", out);
}

static void put_name(FILE *out, const struct db_finding *f)
{
    put_text(out, f->oracle);
    fputs(": ", out);
    put_text(out, f->class);
    fputc(' ', out);
    put_code(out, f->signature);
}

/* ---- the parts ---- */

static void put_top(struct summary *s, FILE *out, uint32_t unused)
{
    const struct report *r = s->report;
    (void)unused;
    bool bad = r->classes[REPORT_NEW] + r->classes[REPORT_REGRESSION] > 0;
    fprintf(out, "## simtfuzz: %s%s\n\n", report_headline(s->arena, r), bad ? " :red_circle:" : "");
    fputs("| regressions | new | open since before | known | cases last night | cases/s | rules "
          "fired |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
          out);
    fprintf(out, "| %s | %s | %s | %s | %s | %.1f | %" PRIu32 " of %" PRIu32 " |\n\n",
            table_grouped(s->arena, r->classes[REPORT_REGRESSION]),
            table_grouped(s->arena, r->classes[REPORT_NEW]),
            table_grouped(s->arena, r->classes[REPORT_OPEN]),
            table_grouped(s->arena, r->classes[REPORT_KNOWN]),
            table_grouped(s->arena, r->newest ? r->newest->campaign.counts.cases : 0),
            r->newest ? report_rate(r->newest) : 0, r->rules_fired, r->rules_asked);
}

static void put_finding(struct summary *s, FILE *out, uint32_t index)
{
    const struct report_finding *shown = &s->report->shown[index];
    const struct db_finding *f = shown->finding;
    fprintf(out, "<details%s><summary><b>%s</b> #%" PRIu64 " ", index < 3 ? " open" : "",
            report_class_names[shown->class], f->id);
    put_name(out, f);
    fprintf(out, ", %s time%s</summary>\n\n", table_grouped(s->arena, f->occurrences),
            f->occurrences == 1 ? "" : "s");
    if (shown->comparison) {
        put_text(out, shown->comparison->summary);
        fputs("\n\n", out);
        if (*shown->comparison->parting) {
            put_text(out, shown->comparison->parting);
            fputs("\n\n", out);
        }
    }
    if (*f->note) {
        fputs("Note: ", out);
        put_code(out, f->note);
        fputs("\n\n", out);
    }
    fputs("Run it again: ", out);
    put_code(out, report_replay_command(s->arena, s->report, f));
    fprintf(out, "\n\n%s kernel, ", shown->minimised ? "Minimised" : "Raw");
    put_code(out, *f->minimised.launch ? f->minimised.launch : f->subject);
    fputs(":\n\n", out);
    put_pre(out, shown->kernel ? shown->kernel : "not stored");
    fputs("</details>\n\n", out);
}

static void put_settled(struct summary *s, FILE *out, uint32_t first)
{
    const struct report *r = s->report;
    uint32_t end = r->shown_count - first > ROWS_MAX ? first + ROWS_MAX : r->shown_count;
    fprintf(out,
            "<details><summary>Known, suppressed, invalid and fixed: %" PRIu32
            " shown</summary>\n\n"
            "| id | status | times | finding |\n| ---: | --- | ---: | --- |\n",
            end - first);
    for (uint32_t i = first; i < end; i++) {
        const struct db_finding *f = r->shown[i].finding;
        fprintf(out, "| %" PRIu64 " | %s ", f->id, report_class_names[r->shown[i].class]);
        put_text(out, f->reference);
        fprintf(out, " | %s | ", table_grouped(s->arena, f->occurrences));
        put_code(out, f->signature);
        fputs(" |\n", out);
    }
    fputs("\n</details>\n\n", out);
}

static void put_oracles(struct summary *s, FILE *out, uint32_t unused)
{
    const struct report *r = s->report;
    (void)unused;
    fputs("<details><summary>Oracles</summary>\n\n| oracle | agree | diverge | not applicable | "
          "inconclusive |\n| --- | ---: | ---: | ---: | ---: |\n",
          out);
    for (uint32_t i = 0; i < r->oracle_count; i++) {
        fputs("| ", out);
        put_text(out, r->oracles[i].name);
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            fprintf(out, " | %s", table_grouped(s->arena, r->oracles[i].verdicts[v]));
        fputs(" |\n", out);
    }
    if (report_has_differences(r))
        fputs("\nWhether it ends depends on the execution model (small cases; no fault):\n\n", out);
    for (uint32_t i = 0; i < MATRIX_CLASS_COUNT && report_has_differences(r); i++)
        fprintf(out, "- %s %s: %s\n", table_grouped(s->arena, r->differences[i]),
                matrix_class_table[i].name, matrix_class_table[i].sentence);
    fputs("\n</details>\n\n", out);
}

static void put_outside(struct summary *s, FILE *out, uint32_t unused)
{
    (void)unused;
    fputs(
        "<details><summary>Outside implementations</summary>\n\n| with options | version | kernels "
        "| a CPU second | wrong | crash | hang | refused | known |\n| --- | --- | ---: | ---: | "
        "---: | ---: | ---: | ---: | ---: |\n",
        out);
    for (const struct report_implementation *i = s->report->outside; i; i = i->next)
        for (uint32_t k = 0; k < i->run_count; k++) {
            const struct report_run *run = &i->runs[k];
            fputs("| ", out);
            put_text(out, run->subject);
            fputs(" | ", out);
            put_text(out, run->version);
            fprintf(out, " | %s | %.1f", table_grouped(s->arena, run->kernels),
                    report_run_rate(run));
            fprintf(out,
                    " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |\n",
                    run->wrong, run->crashes, run->hangs, run->refusals, run->known);
        }
    fputs("\n</details>\n\n", out);
}

static void put_rules(struct summary *s, FILE *out, uint32_t unused)
{
    const struct report *r = s->report;
    (void)unused;
    fprintf(out, "<details><summary>Rules that never fired: %" PRIu32 "</summary>\n\n",
            (uint32_t)RULE_COUNT - r->rules_fired);
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        if (r->hits[i] == 0)
            fprintf(out, "<code>%s.%s</code> ", rule_table[i].semantics, rule_table[i].name);
    fputs("\n\n</details>\n\n", out);
}

/* A part is written whole or not at all. */
static void put_part(struct summary *s, void (*write)(struct summary *, FILE *, uint32_t),
                     uint32_t argument)
{
    char *bytes = NULL;
    size_t size = 0, mark = arena_mark(s->arena);
    FILE *part = open_memstream(&bytes, &size);
    if (part) {
        write(s, part, argument);
        s->full |= fclose(part) != 0;
    }
    s->full |= !part || s->used + size > LIMIT;
    if (!s->full) {
        fwrite(bytes, 1, size, s->out);
        s->used += size;
    }
    free(bytes);
    arena_release(s->arena, mark);
}

void report_write_markdown(struct arena *arena, const struct report *r, FILE *out)
{
    struct summary s = {.arena = arena, .report = r, .out = out};
    uint32_t settled = 0, left_out = 0;
    put_part(&s, put_top, 0);
    for (; settled < r->shown_count && report_class_counts(r->shown[settled].class); settled++) {
        put_part(&s, put_finding, settled);
        left_out += s.full;
    }
    bool cut = s.full;
    if (cut)
        fprintf(out, "%" PRIu32 " more findings do not fit into this summary.\n\n", left_out);
    if (r->finding_count > r->shown_count)
        fprintf(out, "%s findings of less importance are not shown.\n\n",
                table_grouped(arena, r->finding_count - r->shown_count));
    if (settled < r->shown_count && !cut)
        put_part(&s, put_settled, settled);
    if (!cut) {
        put_part(&s, put_oracles, 0);
        if (r->outside)
            put_part(&s, put_outside, 0);
        put_part(&s, put_rules, 0);
    }
}
