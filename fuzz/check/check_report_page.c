/*
 * check_report_page.c - what `check` says of its kernels, for people: a page like that of a database, and a summary of
 * what was checked for GitHub. Each problem has the lines of the source around it.
 */
#include "fuzz/base/version.h"
#include "fuzz/check/check_report_internal.h"
#include "fuzz/check/headline.h"
#include "fuzz/out/markup.h"
#include "fuzz/report/html.h"

#include <inttypes.h>
#include <string.h>

enum { AROUND = 4, LINE_MAX_BYTES = 400, MARKDOWN_MAX = 1 << 20 };

static bool is_bad(const struct kernel *k)
{
    for (const struct problem *p = k->first; p; p = p->next)
        if (p->said.fails)
            return true;
    return false;
}

static uint32_t count_bad(const struct check_report *report)
{
    uint32_t bad = 0;
    for (const struct kernel *k = report->first; k; k = k->next)
        for (const struct problem *p = k->first; p; p = p->next)
            bad += p->said.fails;
    return bad;
}

static const char *headline(const struct check_report *report)
{
    const uint32_t bad = count_bad(report), unjudged = report->unjudged;
    const char *text = unjudged > 0 ? "No finding" : "Nothing is wrong";
    if (bad > 0)
        text = arena_printf(report->arena, "%" PRIu32 " finding%s", bad, bad == 1 ? "" : "s");
    if (unjudged > 0)
        text = arena_printf(report->arena, "%s; %" PRIu32 " could not be judged", text, unjudged);
    return text;
}

/* Lines around this one of a file, each with its number; the line itself has a mark. Nothing, if there is no file. */
static void put_lines(const char *path, uint32_t here, FILE *out, void (*put)(FILE *, const char *))
{
    char line[LINE_MAX_BYTES];
    bool starts = true;
    FILE *in = here > 0 ? source_open(path) : NULL;
    for (uint32_t number = 1; in && number <= here + AROUND && fgets(line, sizeof line, in);) {
        const bool ends = strchr(line, '\n') != NULL;
        line[strcspn(line, "\n")] = '\0';
        if (starts && number + AROUND >= here) {
            fprintf(out, "%s%6" PRIu32 " | ", number == here ? "*" : " ", number);
            put(out, line);
            fputc('\n', out);
        }
        number += ends;
        starts = ends;
    }
    if (in)
        fclose(in);
}

static void put_problem(const struct problem *p, FILE *out)
{
    fprintf(out, "<p class=\"says\"><span class=\"badge%s\">", p->said.fails ? " regression" : "");
    markup_text(out, p->said.rule);
    fputs("</span> ", out);
    markup_text(out, p->said.text);
    fputs("</p>\n<pre class=\"raw\">", out);
    put_lines(p->said.path, p->said.line, out, markup_text);
    fputs("</pre>\n", out);
}

static bool can_be_viewed(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".ptx") == 0 || strcmp(dot, ".simt") == 0);
}

static const char *badge_of(const struct kernel *k)
{
    const bool is_judged = strcmp(k->word, "refused") != 0 && strcmp(k->word, "unknown") != 0;
    return is_bad(k) ? " regression" : is_judged ? " fixed" : "";
}

static void put_kernel(const struct kernel *k, FILE *out)
{
    fprintf(out, "<details class=\"finding\"%s><summary><span class=\"badge%s\">",
            is_bad(k) ? " open" : "", badge_of(k));
    markup_text(out, k->word);
    fputs("</span><span class=\"what\">", out);
    markup_text(out, k->name);
    fputs(" <code>", out);
    markup_text(out, k->path);
    fputs("</code></span></summary>\n<div class=\"body\">\n", out);
    for (const struct problem *p = k->first; p; p = p->next)
        put_problem(p, out);
    if (!k->first)
        fputs("<p>Nothing was found.</p>\n", out);
    if (can_be_viewed(k->path)) {
        fputs("<p>Step by step: <code>simtfuzz view ", out);
        markup_text(out, k->path);
        fputs("</code></p>\n", out);
    }
    fputs("</div></details>\n", out);
}

void check_report_html(const struct check_report *report, FILE *out)
{
    const char *title = headline(report);
    html_head(out, arena_printf(report->arena, "%s - simtfuzz", title));
    fprintf(
        out,
        "<body>\n<header class=\"top\"><div class=\"wrap\"><h1>simtfuzz check</h1></div></header>\n"
        "<main class=\"wrap\">\n<div class=\"verdict%s\"><h2>%s</h2></div>\n<section>\n",
        count_bad(report) > 0  ? " bad"
        : report->unjudged > 0 ? " warn"
                               : "",
        title);
    for (const struct kernel *k = report->first; k; k = k->next)
        put_kernel(k, out);
    fputs("</section>\n</main>\n<footer><div class=\"wrap\">Made by simtfuzz " SIMTFUZZ_VERSION
          ". Nothing here is loaded from elsewhere.</div></footer>\n</body>\n</html>\n",
          out);
}

/* What a summary may have, with room for one problem more. */
static bool is_full(FILE *out)
{
    return ftell(out) > MARKDOWN_MAX / 2;
}

void check_report_markdown(const struct check_report *report, FILE *out)
{
    fprintf(out, "## simtfuzz: %s\n\n", headline(report));
    for (const struct kernel *k = report->first; k; k = k->next) {
        if (is_full(out)) {
            fputs("Further kernels do not fit in here.\n", out);
            break;
        }
        fprintf(out, "<details%s><summary>", is_bad(k) ? " open" : "");
        markup_text(out, k->word);
        fputs(" <code>", out);
        markup_text(out, k->name);
        fputs("</code> ", out);
        markup_text(out, k->path);
        fputs("</summary>\n\n<pre>", out);
        for (const struct problem *p = k->first; p; p = p->next) {
            if (is_full(out)) {
                fputs("Further problems do not fit in here.\n", out);
                break;
            }
            markup_text(out, p->said.text);
            fputc('\n', out);
            put_lines(p->said.path, p->said.line, out, markup_text);
        }
        fputs("</pre>\n</details>\n\n", out);
    }
}
