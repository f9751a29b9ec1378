/*
 * html_trace.c - two executions side by side: time runs down, a row a step; a column a thread; the row at
 * which they part stands at the same height on both sides.
 */
#include "fuzz/out/table.h"
#include "fuzz/report/html.h"

#include <inttypes.h>
#include <string.h>

enum {
    ROW = 19,
    HEAD = 24,    /* of the picture: the numbers of the threads */
    NUMBERS = 44, /* width of the column of step numbers */
    BEFORE = 14,  /* rows shown before the parting, and after it */
    AFTER = 12,
    UNPARTED = 40, /* rows shown where no parting is known */
    REPEATS = 3,   /* a loop is one whose steps are seen so often, to the end of what is kept */
    RULE_MAX = 16, /* characters */
    EXECUTED_MAX = 30,
    STACK_MAX = 60,
    GAP = 14
};

static const double character = 7.3; /* width in the pictures' font */

/* The rows of one side. */
struct window {
    const struct side *side;
    uint32_t first, end; /* steps shown */
    uint32_t pad;        /* empty rows above, so that both sides part at one height */
    uint32_t loop,
        period; /* a lasso: the loop's first step, and how many it has; period 0: there is none */
    bool parts;
};

static bool same_step(const struct side_step *a, const struct side_step *b)
{
    return a->ran == b->ran && strcmp(a->lanes, b->lanes) == 0 && strcmp(a->rule, b->rule) == 0 &&
           strcmp(a->executed, b->executed) == 0 && strcmp(a->actor, b->actor) == 0 &&
           strcmp(a->stack, b->stack) == 0 && strcmp(a->writes, b->writes) == 0;
}

/* An execution that has not ended, whose last steps that are kept are the same few again and again. */
static void find_lasso(struct window *w)
{
    const struct side *side = w->side;
    uint32_t count = side->step_count;
    if (!strstr(side->ended, "running"))
        return;
    for (uint32_t period = 1; period * REPEATS <= count && w->period == 0; period++) {
        uint32_t same = 0;
        while (same < count - period &&
               same_step(&side->steps[count - 1 - same], &side->steps[count - 1 - same - period]))
            same++;
        if (same < period * (REPEATS - 1))
            continue;
        w->period = period;
        w->loop = count - period - same;
    }
}

static struct window window_of(const struct side *side)
{
    struct window w = {.side = side, .end = side->step_count};
    w.parts = side->parts < side->step_count;
    if (w.parts) {
        w.first = side->parts > BEFORE ? side->parts - BEFORE : 0;
        w.end = side->parts + AFTER + 1;
    } else {
        find_lasso(&w);
        w.end = w.period > 0 && w.period <= UNPARTED ? w.loop + w.period : UNPARTED;
        w.first = w.end > UNPARTED ? w.end - UNPARTED : 0;
    }
    if (w.end > side->step_count)
        w.end = side->step_count;
    return w;
}

static void align(struct window *a, struct window *b)
{
    if (!a->parts || !b->parts)
        return;
    uint32_t above_a = a->side->parts - a->first + (a->first > 0);
    uint32_t above_b = b->side->parts - b->first + (b->first > 0);
    if (above_a < above_b)
        a->pad = above_b - above_a;
    else
        b->pad = above_a - above_b;
}

static uint32_t lane_width(uint32_t lanes)
{
    return lanes <= 8 ? 20 : lanes <= 16 ? 16 : lanes <= 32 ? 10 : 7;
}

static size_t longest(const struct window *w, size_t offset, size_t most)
{
    size_t length = 0;
    for (uint32_t i = w->first; i < w->end; i++) {
        const char *text =
            *(const char *const *)(const void *)((const char *)&w->side->steps[i] + offset);
        size_t here = strlen(text) > most ? most : strlen(text);
        length = here > length ? here : length;
    }
    return length;
}

struct columns {
    uint32_t lane; /* width of one */
    double rule, executed, stack, width;
};

static struct columns columns_of(const struct window *w)
{
    uint32_t lanes = side_lanes(w->side);
    struct columns c = {.lane = lane_width(lanes)};
    c.rule = NUMBERS + lanes * c.lane + GAP;
    size_t rule = longest(w, offsetof(struct side_step, rule), RULE_MAX);
    size_t executed = longest(w, offsetof(struct side_step, executed), EXECUTED_MAX);
    size_t stack = longest(w, offsetof(struct side_step, stack), STACK_MAX);
    c.executed = c.rule + (double)(rule < 5 ? 5 : rule) * character + GAP;
    c.stack = c.executed + (double)(executed < 8 ? 8 : executed) * character + GAP;
    c.width = c.stack + (double)(stack < 16 ? 16 : stack) * character + GAP;
    return c;
}

static void put_text(FILE *out, const char *class, double x, double y, const char *text,
                     size_t most)
{
    fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    markup_short(out, text, most);
    fputs("</text>", out);
}

static void put_cell(FILE *out, double x, double y, uint32_t width, char state, bool ran)
{
    const char *class = ran ? "x" : state == 'a' ? "a" : "o";
    if (state == ' ' && !ran)
        return;
    fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%" PRIu32 "\" height=\"%d\"/>",
            class, x + 1, y + 2, width - 2, ROW - 4);
    if ((state == 'b' || state == 'r' || state == 'e') && width >= 10)
        fprintf(out, "<text class=\"mid %s\" x=\"%.1f\" y=\"%.1f\">%c</text>", ran ? "xt" : "m",
                x + width / 2.0, y + ROW - 5, state);
}

static void put_step(FILE *out, const struct window *w, const struct columns *c, uint32_t i,
                     double y)
{
    const struct side_step *step = &w->side->steps[i];
    bool parts = w->parts && i == w->side->parts;
    if (parts)
        fprintf(out,
                "<rect class=\"band\" x=\"0\" y=\"%.1f\" width=\"%.0f\" height=\"%d\"/>"
                "<line class=\"cut\" x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text class=\"cutt\" x=\"2\" y=\"%.1f\">&#9654;</text>",
                y, c->width, ROW, c->width, y, y, y + ROW - 5);
    fprintf(out, "<text class=\"e %s\" x=\"%d\" y=\"%.1f\">%" PRIu64 "</text>",
            parts ? "cutt" : "m", NUMBERS - 8, y + ROW - 5, step->number);
    for (uint32_t t = 0; t < side_lanes(w->side); t++)
        put_cell(out, NUMBERS + t * c->lane, y, c->lane, step->lanes[t], step->ran >> t & 1);
    put_text(out, "r", c->rule, y + ROW - 5, step->rule, RULE_MAX);
    put_text(out, "t", c->executed, y + ROW - 5, step->executed, EXECUTED_MAX);
    put_text(out, "m", c->stack, y + ROW - 5, step->stack, STACK_MAX);
    fputc('\n', out);
}

/* Numbers of the threads, and lines between warps. */
static void put_header(FILE *out, const struct window *w, const struct columns *c, double height)
{
    uint32_t lanes = side_lanes(w->side);
    uint32_t every = c->lane >= 16 ? 1 : 8;
    put_text(out, "e m", NUMBERS - 8, HEAD - 9, "step", 4);
    for (uint32_t t = 0; t < lanes; t += every)
        fprintf(out, "<text class=\"mid m\" x=\"%.1f\" y=\"%d\">%" PRIu32 "</text>",
                NUMBERS + (t + 0.5) * c->lane, HEAD - 9, t);
    put_text(out, "m", c->rule, HEAD - 9, "rule", 4);
    put_text(out, "m", c->executed, HEAD - 9, "executed", 8);
    put_text(out, "m", c->stack, HEAD - 9, "stack afterwards", 20);
    for (uint32_t t = 1; t < lanes; t++)
        if (t % w->side->block % w->side->warp == 0)
            fprintf(out,
                    "<line class=\"warp\" x1=\"%" PRIu32 "\" x2=\"%" PRIu32
                    "\" y1=\"%d\" y2=\"%.0f\"/>",
                    NUMBERS + t * c->lane, NUMBERS + t * c->lane, HEAD - 4, height - 2);
    fprintf(out, "<line class=\"grid\" x1=\"0\" x2=\"%.0f\" y1=\"%d\" y2=\"%d\"/>\n", c->width,
            HEAD - 3, HEAD - 3);
}

/* The loop of a lasso, whose last row ends at y: a bracket that leads back to its first step. */
static void put_loop(struct page *page, const struct window *w, const struct columns *c, double y)
{
    double top = y - w->period * ROW + ROW / 2.0, bottom = y - ROW / 2.0;
    fprintf(page->out,
            "<line class=\"grid\" x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>"
            "<path class=\"loop\" d=\"M12 %.1f H4 V%.1f H12\"/><path class=\"loophead\" d=\"M9 "
            "%.1f l6 4 l-6 4 z\"/>",
            c->width, y - w->period * ROW, y - w->period * ROW, bottom, top, top - 4);
    put_text(page->out, "looptext", NUMBERS, y + ROW - 5,
             w->period == 1
                 ? "this step again and again"
                 : arena_printf(page->arena, "these %" PRIu32 " steps again and again", w->period),
             40);
}

static void put_picture(struct page *page, const struct window *w)
{
    FILE *out = page->out;
    struct columns c = columns_of(w);
    uint64_t after = w->side->total - w->end;
    uint32_t rows = w->pad + (w->first > 0) + (w->end - w->first) + (after > 0);
    double height = HEAD + rows * ROW + 4, y = HEAD + w->pad * ROW;
    fprintf(
        out,
        "<div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"Picture of the steps "
        "of %s\"><svg width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
        "aria-label=\"Lane by time picture of %s; the table below says the same\">\n",
        w->side->subject, c.width, height, c.width, height, w->side->subject);
    put_header(out, w, &c, height);
    if (w->first > 0) {
        put_text(out, "m", NUMBERS, y + ROW - 5,
                 arena_printf(page->arena, "%" PRIu32 " steps before", w->first), 40);
        y += ROW;
    }
    for (uint32_t i = w->first; i < w->end; i++, y += ROW)
        put_step(out, w, &c, i, y);
    if (w->period > 0 && w->end == w->loop + w->period)
        put_loop(page, w, &c, y);
    else if (after > 0)
        put_text(out, "m", NUMBERS, y + ROW - 5,
                 arena_printf(page->arena, "%" PRIu64 " steps behind", after), 40);
    fputs("</svg></div>\n", out);
}

/* ---- the same as a table ---- */

static void put_mask(FILE *out, const struct side *side, const struct side_step *step)
{
    fputs("<td class=\"mono\">", out);
    for (uint32_t t = 0; t < side_lanes(side); t++)
        fputc(step->ran >> t & 1                               ? '1'
              : step->lanes[t] == '.' || step->lanes[t] == ' ' ? '-'
                                                               : step->lanes[t],
              out);
    fputs("</td>", out);
}

static void put_table(struct page *page, const struct window *w)
{
    FILE *out = page->out;
    const struct side *side = w->side;
    fprintf(
        out,
        "<details class=\"more\"><summary>The steps of %s as a table</summary>\n"
        "<p class=\"small muted\">Threads: 1 took part in the step, a active, b r e disabled, - "
        "neither or of another actor.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
        "aria-label=\"Steps of %s\"><table>\n<thead><tr><th class=\"r\" scope=\"col\">step</th>"
        "<th scope=\"col\">actor</th><th scope=\"col\">threads</th><th scope=\"col\">rule</th>"
        "<th class=\"r\" scope=\"col\">line</th><th scope=\"col\">executed</th>"
        "<th scope=\"col\">writes</th><th scope=\"col\">stack</th></tr></thead>\n<tbody>\n",
        side->subject, side->subject);
    for (uint32_t i = w->first; i < w->end; i++) {
        const struct side_step *step = &side->steps[i];
        bool parts = w->parts && i == side->parts;
        fprintf(out, "<tr%s><td class=\"r\">%s%" PRIu64 "</td><td>%s</td>",
                parts ? " class=\"parts\"" : "", parts ? "parts here: " : "", step->number,
                step->actor);
        put_mask(out, side, step);
        fprintf(out, "<td>%s</td><td class=\"r\">", step->rule);
        if (step->line > 0)
            fprintf(out, "%" PRIu32, step->line);
        fputs("</td><td class=\"mono\">", out);
        markup_text(out, step->executed);
        fputs("</td><td class=\"mono\">", out);
        markup_text(out, step->writes);
        fputs("</td><td class=\"mono\">", out);
        markup_text(out, step->stack);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div></details>\n", out);
}

static void put_side(struct page *page, const struct window *w)
{
    fprintf(page->out, "<figure><figcaption><b>%s</b>, %s: ", w->side->subject, w->side->schedule);
    markup_text(page->out, w->side->ended);
    fprintf(page->out, " after %s steps", table_grouped(page->arena, w->side->total));
    if (w->period > 0)
        fprintf(page->out,
                "; a lasso: a stem of %" PRIu32 " step%s, then a loop of %" PRIu32
                ", as far as was looked",
                w->loop, w->loop == 1 ? "" : "s", w->period);
    if (w->side->threads > side_lanes(w->side))
        fprintf(page->out, "; the first %" PRIu32 " of %" PRIu32 " threads", side_lanes(w->side),
                w->side->threads);
    fputs("</figcaption>\n", page->out);
    put_picture(page, w);
    put_table(page, w);
    fputs("</figure>\n", page->out);
}

/* It explains the red line only where one is drawn. */
static void put_legend(struct page *page, bool parts)
{
    fputs("<ul class=\"legend\"><li><i class=\"x\"></i>takes part in the step</li>"
          "<li><i class=\"a\"></i>active afterwards</li><li><i class=\"o\"></i>not active "
          "(b, r, e: disabled by break, return, exit)</li><li>time runs down, a column is a thread",
          page->out);
    fputs(parts ? "; the red line is where they part</li></ul>\n" : "</li></ul>\n", page->out);
}

/* A folder's name in a link: what is no letter and no digit is written by its number. */
static void put_link(FILE *out, const char *name)
{
    for (; *name; name++)
        if (strchr("/.-_~", *name) || (*name >= '0' && *name <= '9') ||
            (*name >= 'A' && *name <= 'Z') || (*name >= 'a' && *name <= 'z'))
            fputc(*name, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*name);
}

static void put_view_command(struct page *page, const struct report_finding *shown)
{
    fputs("<p class=\"small\">To step through them: <code>", page->out);
    markup_text(page->out, report_view_command(page->arena, page->report, shown->finding));
    fputs("</code></p>\n", page->out);
}

/* The same to be stepped: a page of its own, or the command that makes it. */
static void put_view(struct page *page, const struct report_finding *shown)
{
    const struct report_options *options = &page->report->options;
    if (options->views && shown->no_view) {
        fputs("<p class=\"muted\">They cannot be stepped through: ", page->out);
        markup_text(page->out, shown->no_view);
        fputs(".</p>\n", page->out);
        return;
    }
    if (!options->views) {
        put_view_command(page, shown);
        return;
    }
    fputs("<p><a class=\"view\" href=\"", page->out);
    put_link(page->out, options->views);
    fprintf(page->out, "/finding-%" PRIu64 ".html\">Step through them</a></p>\n",
            shown->finding->id);
}

void html_traces(struct page *page, const struct report_finding *shown)
{
    const struct comparison *c = shown->comparison;
    fputs("<h4>The executions</h4>\n", page->out);
    if (!c) {
        fputs("<p class=\"muted\">Not shown: ", page->out);
        markup_text(page->out, shown->no_comparison);
        fputs(".</p>\n", page->out);
        if (shown->kernel)
            put_view_command(page, shown);
        return;
    }
    put_view(page, shown);
    if (*c->parting) {
        fputs("<p>", page->out);
        markup_text(page->out, c->parting);
        fputs("</p>\n", page->out);
    }
    struct window windows[2] = {window_of(&c->sides[0]), {.side = NULL}};
    if (c->sides[1].subject)
        windows[1] = window_of(&c->sides[1]);
    put_legend(page, windows[0].parts || windows[1].parts);
    if (!c->sides[1].subject) {
        put_side(page, &windows[0]);
        return;
    }
    align(&windows[0], &windows[1]);
    fputs("<div class=\"sides\">\n", page->out);
    put_side(page, &windows[0]);
    put_side(page, &windows[1]);
    fputs("</div>\n", page->out);
}
