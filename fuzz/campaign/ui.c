#include "fuzz/campaign/ui.h"

#include "fuzz/base/version.h"

#include <inttypes.h>
#include <string.h>

enum {
    LABEL = 11, /* columns of what stands before a line */
    ORACLE_WIDTH = 40,
    WORKER_WIDTH = 38,
    SPARK_MAX = 40,
    WORKER_ROWS_LEAST = 2,
    SLOW_MS = 5000, /* a worker that is at one case for so long stands out */
};

struct picture {
    struct arena *arena;
    struct screen *screen;
    const struct view *view;
    uint32_t row;
};

/* ---- texts ---- */

static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};

/* What is left below 1000 when a unit is chosen. */
static double in_unit(uint64_t number, size_t *unit)
{
    double value = (double)number;
    for (*unit = 0; value >= 999.5; (*unit)++)
        value /= 1000;
    return value;
}

const char *ui_number(struct arena *arena, uint64_t number)
{
    size_t unit;
    double value = in_unit(number, &unit);
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    if (number < 10000)
        return arena_printf(arena, "%" PRIu64, number);
    return arena_printf(arena, "%.*f%s", digits, value, units[unit]);
}

/* In at most five characters. */
static const char *short_number(struct arena *arena, uint64_t number)
{
    size_t unit;
    double value = in_unit(number, &unit);
    if (number < 10000)
        return arena_printf(arena, "%" PRIu64, number);
    return arena_printf(arena, "%.*f%s", value < 9.95 ? 1 : 0, value, units[unit]);
}

const char *ui_duration(struct arena *arena, uint64_t milliseconds)
{
    uint64_t seconds = milliseconds / 1000;
    if (seconds >= 24 * 3600)
        return arena_printf(arena, "%" PRIu64 " d %" PRIu64 " h", seconds / 86400,
                            seconds / 3600 % 24);
    if (seconds >= 3600)
        return arena_printf(arena, "%" PRIu64 " h %02" PRIu64 " min", seconds / 3600,
                            seconds / 60 % 60);
    if (seconds >= 60)
        return arena_printf(arena, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60, seconds % 60);
    return arena_printf(arena, "%" PRIu64 " s", seconds);
}

static const char *rate(struct arena *arena, double per_second)
{
    if (per_second < 100)
        return arena_printf(arena, "%.1f/s", per_second);
    return arena_printf(arena, "%s/s", ui_number(arena, (uint64_t)per_second));
}

/* ---- lines ---- */

/* Not in the last row, which is for messages. */
static void put(struct picture *p, uint32_t column, enum screen_style style, const char *text)
{
    if (p->row == 0 || p->row + 1 < p->screen->rows)
        screen_put(p->screen, p->row, column, style, text);
}

/* "label      text", and the next line. */
static void line(struct picture *p, const char *label, enum screen_style style, const char *text)
{
    put(p, 0, STYLE_DIM, label);
    put(p, LABEL, style, text);
    p->row++;
}

static void draw_title(struct picture *p)
{
    const struct view *v = p->view;
    const struct campaign_options *o = v->options;
    struct arena *arena = p->arena;
    char *left = arena_printf(arena, " simtfuzz " SIMTFUZZ_VERSION "  campaign %" PRIu64,
                              v->summary->campaign);
    if (o->shard_count > 1)
        left = arena_printf(arena, "%s  shard %" PRIu64 "/%" PRIu64, left, o->shard_index,
                            o->shard_count);
    left = arena_printf(arena, "%s  seed 0x%" PRIx64 "  %s", left, o->seed, v->state);
    uint32_t width = p->screen->columns > 0 ? p->screen->columns - 1 : 0;
    put(p, 0, STYLE_REVERSE, arena_printf(arena, "%-*s", (int)width, left));
    p->row++;
}

static void draw_rates(struct picture *p)
{
    const struct view *v = p->view;
    struct arena *arena = p->arena;
    const char *of =
        v->shard_cases > 0 ? arena_printf(arena, " of %s", ui_number(arena, v->shard_cases)) : "";
    const char *left =
        v->left_known ? arena_printf(arena, "   %s left", ui_duration(arena, v->left_ms)) : "";
    line(p, "time", STYLE_PLAIN,
         arena_printf(arena, "%s%s", ui_duration(arena, v->elapsed_ms), left));
    line(p, "cases", STYLE_BOLD,
         arena_printf(arena, "%s%s   %s now   %s over all", ui_number(arena, v->cases), of,
                      rate(arena, v->rate_now), rate(arena, v->rate_all)));
    line(p, "steps", STYLE_PLAIN,
         arena_printf(arena, "%s of threads   %s of warps   %s now",
                      ui_number(arena, v->summary->thread_steps),
                      ui_number(arena, v->summary->warp_steps), rate(arena, v->steps_now)));
}

static void draw_findings(struct picture *p)
{
    const struct view *v = p->view;
    struct arena *arena = p->arena;
    bool bad = v->new_findings + v->open_findings + v->regressed_findings > 0;
    char *text =
        arena_printf(arena, "%" PRIu32 " new   %" PRIu32 " open before   %" PRIu32 " known",
                     v->new_findings, v->open_findings, v->known_findings);
    if (v->regressed_findings > 0)
        text = arena_printf(arena, "%s   %" PRIu32 " CAME BACK", text, v->regressed_findings);
    if (v->summary->flaky > 0)
        text = arena_printf(arena, "%s   %" PRIu32 " FLAKY", text, v->summary->flaky);
    if (v->summary->skipped > 0)
        text = arena_printf(arena, "%s   %" PRIu64 " cases left out", text, v->summary->skipped);
    line(p, "findings", bad ? STYLE_BAD : STYLE_GOOD, text);
    line(p, "last", STYLE_PLAIN,
         v->last ? arena_printf(arena, "%s ago: %" PRIu64 " %s", ui_duration(arena, v->last_age_ms),
                                v->last->id, v->last->signature)
                 : "none yet");
}

static void draw_coverage(struct picture *p)
{
    const struct view *v = p->view;
    uint32_t width = p->screen->columns > LABEL + 30 ? p->screen->columns - LABEL - 30 : 0;
    const char *spark = screen_spark(p->arena, p->screen, v->growth, v->growth_count,
                                     width < SPARK_MAX ? width : SPARK_MAX, false);
    line(p, "rules", STYLE_PLAIN,
         arena_printf(p->arena, "%" PRIu32 " of %d fired   %s", v->rules, RULE_COUNT, spark));
}

static void draw_database(struct picture *p)
{
    const struct campaign_summary *s = p->view->summary;
    double share =
        p->view->elapsed_ms > 0 ? (double)s->commit_us / 10 / (double)p->view->elapsed_ms : 0;
    line(p, "database", STYLE_PLAIN,
         arena_printf(p->arena, "%s   %" PRIu64 " writes, %.2f %% of the time",
                      p->view->options->db_path, s->commits, share));
}

/* ---- oracles ---- */

static uint32_t asked_oracles(const struct view *v)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        count += v->options->check.oracles >> i & 1;
    return count;
}

static const char *oracle_text(struct arena *arena, const char *name, const char *const counts[4])
{
    return arena_printf(arena, "%-11s%6s%8s%6s%8s", name, counts[0], counts[1], counts[2],
                        counts[3]);
}

/* `says`: with the theorem, which a list of one column has room for. */
static void draw_oracle(struct picture *p, uint32_t column, uint32_t oracle, bool says)
{
    const uint64_t *verdicts = p->view->summary->verdicts[oracle];
    const char *counts[VERDICT_COUNT];
    for (uint32_t i = 0; i < VERDICT_COUNT; i++)
        counts[i] = short_number(p->arena, verdicts[i]);
    put(p, column, verdicts[VERDICT_DIVERGE] > 0 ? STYLE_BAD : STYLE_PLAIN,
        oracle_text(p->arena, oracle_table[oracle].name, counts));
    if (says)
        put(p, column + ORACLE_WIDTH + 1, STYLE_DIM, oracle_table[oracle].theorem);
}

static void draw_oracles(struct picture *p, uint32_t rows)
{
    static const char *const titles[4] = {"agree", "diverge", "n/a", "unknown"};
    uint32_t columns = p->screen->columns / ORACLE_WIDTH, count = asked_oracles(p->view);
    columns = columns > 0 && count + 1 > rows ? columns : 1;
    uint32_t needed = (count + columns - 1) / columns;
    if (rows < 2 || count == 0)
        return;
    uint32_t shown = needed < rows - 1 ? needed : rows - 1, index = 0;
    for (uint32_t i = 0; i < columns && i * shown < count; i++)
        put(p, i * ORACLE_WIDTH, STYLE_DIM, oracle_text(p->arena, "oracle", titles));
    uint32_t first = ++p->row;
    for (uint32_t i = 0; i < ORACLE_COUNT && index < columns * shown; i++) {
        if (!(p->view->options->check.oracles >> i & 1))
            continue;
        p->row = first + index % shown;
        draw_oracle(p, index / shown * ORACLE_WIDTH, i, columns == 1);
        index++;
    }
    p->row = first + shown;
    if (index < count)
        screen_put(p->screen, first - 1, ORACLE_WIDTH * columns, STYLE_DIM,
                   arena_printf(p->arena, "%" PRIu32 " more", count - index));
}

/* ---- workers ---- */

static void draw_worker(struct picture *p, uint32_t column, uint32_t index)
{
    const struct view_worker *w = &p->view->workers[index];
    const char *text;
    if (w->phase == WATCH_IDLE)
        text = arena_printf(p->arena, "%3" PRIu32 "  waits", index);
    else
        text = arena_printf(p->arena, "%3" PRIu32 "  %-10s %10" PRIu64 "  %s", index,
                            watch_phase_name(w->phase), w->number,
                            w->still_ms < 1000 ? "" : ui_duration(p->arena, w->still_ms));
    put(p, column, w->still_ms >= SLOW_MS && w->phase != WATCH_IDLE ? STYLE_BOLD : STYLE_PLAIN,
        text);
}

static uint32_t worker_columns(const struct picture *p)
{
    uint32_t columns = p->screen->columns / WORKER_WIDTH;
    return columns > 0 ? columns : 1;
}

/* Those that have been at their case for longest come first when there is no room for all. */
static uint32_t next_worker(const struct view *v, bool *shown)
{
    uint32_t next = UINT32_MAX;
    for (uint32_t i = 0; i < v->worker_count; i++)
        if (!shown[i] && (next == UINT32_MAX || v->workers[i].still_ms > v->workers[next].still_ms))
            next = i;
    shown[next] = true;
    return next;
}

static void draw_workers(struct picture *p, uint32_t rows)
{
    const struct view *v = p->view;
    uint32_t columns = worker_columns(p), count = v->worker_count;
    if (rows < 2 || count == 0)
        return;
    uint32_t needed = (count + columns - 1) / columns;
    uint32_t used = needed < rows - 1 ? needed : rows - 1;
    bool all = used == needed;
    uint32_t room = all ? count : used * columns;
    bool *shown = ARENA_ARRAY(p->arena, bool, count);
    const char *title =
        all ? "workers: what they do, at which case, since when"
            : arena_printf(p->arena, "the slowest %" PRIu32 " of %" PRIu32 " workers", room, count);
    put(p, 0, STYLE_DIM, title);
    uint32_t first = ++p->row;
    for (uint32_t i = 0; i < room; i++) {
        p->row = first + i % used;
        draw_worker(p, i / used * WORKER_WIDTH, all ? i : next_worker(v, shown));
    }
    p->row = first + used;
}

/* ---- what a large window has room for ---- */

/* The newest findings, the newest first. */
static void draw_list(struct picture *p, uint32_t rows)
{
    const struct campaign_summary *s = p->view->summary;
    if (rows < 3 || s->finding_count == 0)
        return;
    uint32_t shown = s->finding_count < rows - 2 ? s->finding_count : rows - 2;
    put(p, 0, STYLE_DIM,
        arena_printf(p->arena, "%6s %8s  %-8s finding, the newest of %" PRIu32 " first", "id",
                     "times", "status", s->finding_count));
    p->row++;
    for (uint32_t i = 0; i < shown; i++, p->row++) {
        const struct campaign_finding *f = &s->findings[s->finding_count - 1 - i];
        bool known = campaign_finding_kind(f) == CAMPAIGN_KNOWN;
        put(p, 0, known ? STYLE_PLAIN : STYLE_BAD,
            arena_printf(p->arena, "%6" PRIu64 " %8s  %-8s %s", f->id,
                         short_number(p->arena, f->occurrences),
                         known && *f->reference ? f->reference
                         : known                ? "known"
                                                : "open",
                         f->signature));
    }
    p->row++;
}

/* Which rules of each semantics that ran have not fired. */
static void draw_rules(struct picture *p, uint32_t rows)
{
    const uint64_t *hits = p->view->summary->hits;
    uint32_t end = p->row + rows;
    for (uint32_t first = 0, next; first < RULE_COUNT && p->row < end; first = next) {
        const char *semantics = rule_table[first].semantics, *never = "";
        uint32_t fired = 0;
        for (next = first; next < RULE_COUNT && strcmp(rule_table[next].semantics, semantics) == 0;
             next++) {
            fired += hits[next] > 0;
            if (hits[next] == 0)
                never = arena_printf(p->arena, "%s%s%s", never,
                                     *never ? ", " : "   not yet: ", rule_table[next].name);
        }
        if (fired > 0)
            line(p, semantics, STYLE_PLAIN,
                 arena_printf(p->arena, "%" PRIu32 " of %" PRIu32 " rules%s", fired, next - first,
                              never));
    }
}

/* ---- the whole ---- */

static void draw_help(struct picture *p)
{
    static const char *const lines[] = {
        "",
        "q         end the campaign: running cases are finished, everything is stored",
        "Ctrl-C    the same; once more ends at once",
        "Ctrl-Z    stop, fg goes on",
        "?         this help; again, back to the campaign",
        "",
        "now       over the last few seconds; over all: since the start",
        "new       findings that the database did not have before this campaign",
        "n/a       the oracle does not apply to the kernel",
        "unknown   it could not conclude within its budget",
        "rules     rules of the papers that fired, and how that grew",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++, p->row++)
        put(p, 0, STYLE_PLAIN, lines[i]);
}

static void draw_campaign(struct picture *p)
{
    uint32_t rows = p->screen->rows;
    draw_rates(p);
    draw_findings(p);
    draw_coverage(p);
    draw_database(p);
    p->row++;
    /* The rest is shared: workers get what they need, up to a third. */
    uint32_t left = rows > p->row + 1 ? rows - p->row - 1 : 0;
    uint32_t columns = worker_columns(p);
    uint32_t workers = (p->view->worker_count + columns - 1) / columns + 2; /* title, blank line */
    uint32_t most = left / 3 > WORKER_ROWS_LEAST + 1 ? left / 3 : WORKER_ROWS_LEAST + 1;
    uint32_t oracle_columns = p->screen->columns / ORACLE_WIDTH;
    uint32_t oracles = asked_oracles(p->view) / (oracle_columns > 0 ? oracle_columns : 1) + 2;
    if (left > oracles + most)
        most = left - oracles;
    workers = workers < most ? workers : most;
    draw_oracles(p, left > workers ? left - workers : left);
    p->row++;
    draw_workers(p, rows > p->row + 1 ? rows - p->row - 1 : 0);
    p->row++;
    draw_list(p, rows > p->row + 1 ? (rows - p->row - 1) / 2 : 0);
    draw_rules(p, rows > p->row + 1 ? rows - p->row - 1 : 0);
}

void ui_draw(struct arena *arena, struct screen *screen, const struct view *view, bool help)
{
    struct picture p = {.arena = arena, .screen = screen, .view = view};
    draw_title(&p);
    if (help)
        draw_help(&p);
    else
        draw_campaign(&p);
    if (screen->rows > 1)
        screen_put(screen, screen->rows - 1, 0, STYLE_DIM,
                   *view->message ? view->message : "q ends   ? help");
}
