#include "fuzz/campaign/display.h"

#include "fuzz/base/clock.h"
#include "fuzz/campaign/pool.h"
#include "fuzz/campaign/stats_file.h"
#include "fuzz/campaign/ui.h"
#include "fuzz/out/door.h"
#include "fuzz/out/terminal.h"
#include "fuzz/supervise/watch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIVE_MS = 1000,
    LINE_MS = 60 * 1000,
    FRAME_MS = 200,
    STATS_MS = 1000,
    RATE_MS = 500,    /* distance of the samples that "now" is measured by */
    RATE_SAMPLES = 9, /* so the last four seconds */
    GROWTH_MS = 500,  /* at first */
};

struct sample {
    uint64_t at_ms, cases, steps;
};

struct display {
    const struct campaign_options *options;
    const struct campaign_summary *summary;  /* of what the collector has taken */
    struct campaign_summary before, counted; /* at the start; with what workers have done since */
    struct arena texts;                      /* of one frame */
    struct view view;
    uint64_t started_ms, session_ms; /* less the time of earlier processes; and of --time */
    /* A line now and then. */
    uint64_t line_ms;                /* when the next one is due */
    uint64_t line_cases, line_at_ms; /* at the last one */
    bool line_open;                  /* the cursor stands behind a live line */
    /* The screen. */
    struct screen *screen; /* NULL: none */
    bool shown, help;
    uint64_t frame_ms;
    FILE *kept;  /* the log, while there is a screen */
    char *words; /* of it */
    size_t words_length;
    /* What is measured over time. */
    struct sample samples[RATE_SAMPLES];
    uint32_t sample_count;
    uint64_t growth_ms, growth_step_ms; /* of the next value, and between two */
    uint32_t findings;                  /* at the last look */
    uint64_t finding_ms;
    uint64_t beats[CAMPAIGN_JOBS_MAX], beat_ms[CAMPAIGN_JOBS_MAX];
    uint64_t stats_ms; /* when the file is due */
    bool stats_failed; /* said */
};

/* ---- start ---- */

static void open_screen(struct display *p, struct arena *arena)
{
    if (!p->options->screen)
        return;
    p->kept = open_memstream(&p->words, &p->words_length);
    if (p->kept)
        p->screen = screen_new(arena, terminal_has_utf8(), terminal_has_color());
}

struct display *display_open(struct arena *arena, const struct campaign_options *options,
                             const struct campaign_summary *summary)
{
    struct display *p = ARENA_NEW(arena, struct display);
    uint64_t now = clock_monotonic_ms();
    p->options = options;
    p->summary = summary;
    p->before = *summary;
    uint64_t earlier_ms = (uint64_t)(summary->seconds * 1000);
    p->started_ms = earlier_ms < now ? now - earlier_ms : 0;
    p->session_ms = options->watch ? options->watch->started_ms : now;
    p->line_at_ms = p->growth_ms = now;
    p->line_cases = summary->cases;
    p->line_ms = now + (options->live ? LIVE_MS : LINE_MS);
    p->growth_step_ms = GROWTH_MS;
    p->view.options = options;
    p->view.summary = &p->counted;
    if ((options->screen || options->stats_path) && arena_init(&p->texts, (size_t)16 << 20) == 0)
        open_screen(p, arena);
    return p;
}

FILE *display_log(const struct display *p)
{
    return p->screen ? p->kept : p->options->log;
}

/* ---- measuring ---- */

static void measure_rates(struct display *p, uint64_t now)
{
    struct view *v = &p->view;
    uint64_t steps = p->counted.thread_steps + p->counted.warp_steps;
    struct sample sample = {now, v->cases, steps};
    struct sample *last = p->sample_count > 0 ? &p->samples[p->sample_count - 1] : NULL;
    if (!last || now - last->at_ms >= RATE_MS) {
        if (p->sample_count == RATE_SAMPLES)
            memmove(p->samples, p->samples + 1, --p->sample_count * sizeof sample);
        p->samples[p->sample_count++] = sample;
    }
    double seconds = (double)(now - p->samples[0].at_ms) / 1000;
    if (seconds > 0) {
        v->rate_now = (double)(v->cases - p->samples[0].cases) / seconds;
        v->steps_now = (double)(steps - p->samples[0].steps) / seconds;
    }
    v->rate_all = v->elapsed_ms > 0 ? (double)v->cases * 1000 / (double)v->elapsed_ms : 0;
}

/* Twice as long a time between two values when there are too many. */
static void measure_growth(struct display *p, uint64_t now)
{
    struct view *v = &p->view;
    v->rules = 0;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        v->rules += p->counted.hits[i] > 0;
    if (now < p->growth_ms)
        return;
    if (v->growth_count == VIEW_GROWTH_MAX) {
        v->growth_count /= 2;
        for (uint32_t i = 0; i < v->growth_count; i++)
            v->growth[i] = v->growth[2 * i + 1];
        p->growth_step_ms *= 2;
    }
    v->growth[v->growth_count++] = v->rules;
    p->growth_ms = now + p->growth_step_ms;
}

static void measure_findings(struct display *p, uint64_t now)
{
    struct view *v = &p->view;
    const struct campaign_summary *s = p->summary;
    uint32_t counts[CAMPAIGN_KINDS] = {0};
    for (uint32_t i = 0; i < s->finding_count; i++)
        counts[campaign_finding_kind(&s->findings[i])]++;
    v->new_findings = counts[CAMPAIGN_NEW];
    v->open_findings = counts[CAMPAIGN_OPEN];
    v->regressed_findings = counts[CAMPAIGN_REGRESSED];
    v->known_findings = counts[CAMPAIGN_KNOWN];
    if (s->finding_count > p->findings) {
        p->findings = s->finding_count;
        p->finding_ms = now;
    }
    v->last = s->finding_count > 0 ? &s->findings[s->finding_count - 1] : NULL;
    v->last_age_ms = now - p->finding_ms;
}

static void measure_workers(struct display *p, const struct pool *pool, uint64_t now)
{
    struct view *v = &p->view;
    v->worker_count = p->options->jobs;
    for (uint32_t i = 0; i < v->worker_count; i++) {
        const struct watch_slot *slot = pool_slot(pool, i);
        /* Relaxed: these numbers order nothing, they are shown. */
        uint64_t beat = atomic_load_explicit(&slot->beat, memory_order_relaxed);
        enum watch_phase phase = atomic_load_explicit(&slot->phase, memory_order_relaxed);
        if (beat != p->beats[i] || p->beat_ms[i] == 0)
            p->beat_ms[i] = now;
        p->beats[i] = beat;
        v->workers[i] = (struct view_worker){
            .number = atomic_load_explicit(&slot->number, memory_order_relaxed),
            .phase = phase,
            .still_ms = now - p->beat_ms[i]};
    }
}

static void measure_left(struct display *p, uint64_t now)
{
    struct view *v = &p->view;
    uint64_t time_ms = p->options->time_ms;
    v->left_known = time_ms > 0;
    v->left_ms = time_ms > now - p->session_ms ? time_ms - (now - p->session_ms) : 0;
    if (v->shard_cases == 0 || v->rate_all <= 0)
        return;
    uint64_t cases = v->shard_cases > v->cases ? v->shard_cases - v->cases : 0;
    uint64_t left = (uint64_t)((double)cases * 1000 / v->rate_all);
    if (!v->left_known || left < v->left_ms)
        v->left_ms = left;
    v->left_known = true;
}

static void count(struct display *p, const struct pool *pool)
{
    p->counted = *p->summary;
    pool_show_counts(pool, &p->before, &p->counted);
}

static void measure(struct display *p, const struct pool *pool, const char *state, uint64_t now)
{
    struct view *v = &p->view;
    v->state = state;
    v->elapsed_ms = now - p->started_ms;
    count(p, pool);
    v->cases = pool_cases_done(pool);
    v->shard_cases = pool_shard_cases(pool);
    measure_rates(p, now);
    measure_growth(p, now);
    measure_findings(p, now);
    measure_workers(p, pool, now);
    measure_left(p, now);
}

/* ---- lines ---- */

static void print_line(struct display *p, const struct pool *pool, uint64_t now)
{
    const struct campaign_summary *s = &p->counted;
    count(p, pool);
    uint64_t cases = pool_cases_done(pool);
    double since = (double)(now - p->line_at_ms) / 1000;
    double rate = since > 0 ? (double)(cases - p->line_cases) / since : 0;
    bool live = p->options->live;
    uint32_t fired = 0;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        fired += s->hits[i] > 0;
    if (live)
        door_control(p->options->log, "\r");
    fprintf(p->options->log,
            "%.0f s  %" PRIu64 " cases  %.0f/s  %" PRIu32 " findings (%" PRIu32
            " known)  rules %" PRIu32 "/%d%s",
            (double)(now - p->started_ms) / 1000, cases, rate, s->finding_count, s->known_findings,
            fired, RULE_COUNT, live ? "" : "\n");
    if (live)
        door_control(p->options->log, "\033[K");
    fflush(p->options->log);
    p->line_open = live;
    p->line_cases = cases;
    p->line_at_ms = now;
    p->line_ms = now + (live ? LIVE_MS : LINE_MS);
}

void display_clear_line(struct display *p)
{
    if (p->line_open)
        door_control(p->options->log, "\r\033[K");
    p->line_open = false;
}

/* ---- the screen ---- */

/* The last line of the log. */
static const char *last_words(struct display *p)
{
    fflush(p->kept);
    const char *text = p->words;
    size_t length = p->words_length;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    size_t first = length;
    while (first > 0 && text[first - 1] != '\n')
        first--;
    return arena_strndup(&p->texts, text + first, length - first);
}

static void draw(struct display *p)
{
    bool entered;
    uint32_t rows, columns;
    if (!terminal_enter(&entered))
        return;
    terminal_size(&rows, &columns);
    p->shown = true;
    p->view.message = last_words(p);
    screen_begin(p->screen, rows, columns, entered);
    ui_draw(&p->texts, p->screen, &p->view, p->help);
    screen_end(p->screen);
    if (p->screen->length > 0 && !terminal_write(p->screen->bytes, p->screen->length))
        p->screen->whole = true;
}

static bool read_keys(struct display *p)
{
    bool ends = false;
    for (char key; (key = terminal_key()) != 0;) {
        ends |= key == 'q' || key == 'Q';
        if (key == '?' || key == 'h')
            p->help = !p->help;
        p->frame_ms = 0;
    }
    return ends;
}

/* What was kept while the screen was there. */
static void close_screen(struct display *p)
{
    terminal_leave();
    fflush(p->kept);
    fwrite(p->words, 1, p->words_length, p->options->log);
    fflush(p->options->log);
    fclose(p->kept);
    free(p->words);
    p->screen = NULL;
}

/* ---- the file ---- */

static void write_stats(struct display *p)
{
    const char *why;
    if (stats_file_write(p->options->stats_path, &p->view, &why)) {
        p->stats_failed = false;
    } else if (!p->stats_failed) {
        display_clear_line(p);
        fprintf(display_log(p), "simtfuzz: cannot write %s: %s\n", p->options->stats_path, why);
        p->stats_failed = true;
    }
}

/* ---- ticks ---- */

static void show(struct display *p, const struct pool *pool, const char *state, uint64_t now,
                 bool at_once)
{
    bool frame = p->screen && (at_once || now >= p->frame_ms);
    bool stats = p->options->stats_path && (at_once || now >= p->stats_ms);
    if (frame || stats) {
        measure(p, pool, state, now);
        p->texts.used = 0;
    }
    if (frame) {
        draw(p);
        p->frame_ms = now + FRAME_MS;
    }
    if (stats) {
        write_stats(p);
        p->stats_ms = now + STATS_MS;
    }
}

bool display_tick(struct display *p, const struct pool *pool, const char *state)
{
    uint64_t now = clock_monotonic_ms();
    bool ends = p->screen && read_keys(p);
    show(p, pool, state, now, false);
    if (!p->screen && now >= p->line_ms)
        print_line(p, pool, now);
    return ends;
}

void display_end(struct display *p, const struct pool *pool, const char *state)
{
    display_clear_line(p);
    show(p, pool, state, clock_monotonic_ms(), true);
    if (p->screen)
        close_screen(p);
    if (p->texts.base)
        arena_destroy(&p->texts);
}
