#include "fuzz/campaign/campaign.h"

#include "fuzz/base/clock.h"
#include "fuzz/base/exit_status.h"
#include "fuzz/campaign/collector.h"
#include "fuzz/campaign/display.h"
#include "fuzz/campaign/hook.h"
#include "fuzz/campaign/pool.h"
#include "fuzz/out/terminal.h"
#include "fuzz/supervise/crash.h"
#include "fuzz/supervise/watch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

enum {
    GRACE_MS = 500,          /* after a stop, workers may finish their chunk for so long */
    MINIMISE_MS = 10 * 1000, /* and minimise the finding that a campaign was to end at */
    GIVE_UP_MS = 2000,       /* after a stop, for a worker that hangs: it has had its time */
};

/* How often the process was asked to end: the one thing that a signal handler can reach. A process
 * that is watched over is asked by the other one. */
static volatile sig_atomic_t asked_to_end;

struct campaign {
    const struct campaign_options *options;
    struct campaign_summary *summary;
    struct pool *pool;
    struct collector *collector;
    struct display *display;
    struct hooks *hooks;
    bool between_chunks; /* the collector waits for the next one: a good moment to commit */
    int db_error;        /* of such a commit */
    uint64_t next_chunk; /* to be taken */
    uint64_t session_ms; /* when this process began */
    uint64_t started_ms; /* the first one that was watched over */
    uint64_t stopped_ms; /* 0 = not yet */
};

/* ---- signals ---- */

static void ask_to_end(int signal_number)
{
    if (asked_to_end) {
        terminal_close();
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    asked_to_end = 1;
}

static bool is_asked_to_end(const struct campaign *c)
{
    const struct watch *watch = c->options->watch;
    /* Relaxed: it does not matter when exactly it is seen. */
    return asked_to_end ||
           (watch && atomic_load_explicit(&watch->asked_to_end, memory_order_relaxed) > 0);
}

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { END_SIGNALS = sizeof end_signals / sizeof end_signals[0] };

static void catch_signals(struct sigaction *before)
{
    struct sigaction action = {.sa_handler = ask_to_end};
    sigemptyset(&action.sa_mask);
    asked_to_end = 0;
    for (int i = 0; i < END_SIGNALS; i++)
        sigaction(end_signals[i], &action, &before[i]);
}

static void release_signals(const struct sigaction *before)
{
    for (int i = 0; i < END_SIGNALS; i++)
        sigaction(end_signals[i], &before[i], NULL);
}

/* Workers inherit this mask: the collector's thread is the one that hears of signals. */
static void block_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < END_SIGNALS; i++)
        sigaddset(&set, end_signals[i]);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

/* ---- the end ---- */

static void stop(struct campaign *c, uint64_t now)
{
    if (c->stopped_ms == 0)
        c->stopped_ms = now;
    pool_stop(c->pool, false);
}

/* `since`: the stop, in milliseconds. Whoever wants one finding wants it small. */
static void hurry(struct campaign *c, uint64_t since)
{
    pool_stop(c->pool, true);
    if (c->summary->interrupted || !c->options->stop_on_finding || since >= MINIMISE_MS)
        pool_stop_minimising(c->pool);
}

/* Everything that depends on time; false: waiting is over, since a worker hangs or the database can
 * no longer be written. */
static bool tick(void *context)
{
    struct campaign *c = context;
    uint64_t now = clock_monotonic_ms();
    const struct watch *watch = c->options->watch;
    uint32_t hanging = watch ? 0 : pool_watch(c->pool, now, display_log(c->display));
    const char *state = c->stopped_ms > 0 ? "ending" : "running";
    hooks_tick(c->hooks, display_log(c->display));
    if (display_tick(c->display, c->pool, state))
        asked_to_end = 1;
    if (is_asked_to_end(c) && c->stopped_ms == 0) {
        display_clear_line(c->display);
        fputs("simtfuzz: ending; once more ends at once\n", display_log(c->display));
        c->summary->interrupted = true;
        c->summary->ending = "interrupted";
        stop(c, now);
    }
    /* What may be fatal is told apart before the end, or it would be forgotten. */
    bool time_is_over = c->options->time_ms > 0 && now - c->started_ms >= c->options->time_ms;
    if (time_is_over && !(watch && c->next_chunk < watch->go_on_until))
        stop(c, now);
    if (c->stopped_ms > 0 && now - c->stopped_ms >= GRACE_MS)
        hurry(c, now - c->stopped_ms);
    if (c->between_chunks)
        c->db_error = collector_commit(c->collector, false);
    bool give_up = hanging > 0 && c->stopped_ms > 0 && now - c->stopped_ms >= GIVE_UP_MS;
    c->summary->hanging |= give_up;
    return !give_up && c->db_error == DB_OK;
}

/* Consumes chunks in order until there are no more. DB_OK; a database error; 1: gave up waiting in
 * the middle of a chunk. */
static int collect(struct campaign *c)
{
    for (uint64_t number = c->next_chunk;; number++) {
        c->next_chunk = number;
        c->between_chunks = true;
        const struct chunk *chunk = pool_wait_chunk(c->pool, number);
        c->between_chunks = false;
        if (!chunk)
            return c->db_error;
        bool enough = false;
        bool partial = chunk->cases < pool_chunk_cases(c->pool, number);
        if (partial && c->summary->interrupted) /* whoever resumes begins at a chunk's border */
            return c->db_error;
        int error = collector_take(c->collector, c->pool, number, chunk, &enough);
        if (error == DB_OK)
            error = collector_commit(c->collector, false);
        if (enough) {
            c->summary->interrupted = true;
            c->summary->ending = "stopped at a finding";
        }
        if (error != DB_OK || enough || partial)
            return error;
        pool_release(c->pool, number);
        tick(c);
    }
}

static int exit_status(const struct campaign_options *options,
                       const struct campaign_summary *summary, struct db_message *message)
{
    if (summary->hanging) {
        snprintf(
            message->text, sizeof message->text,
            "a worker hangs; the cases before it are stored, and the one it is at as a finding");
        return CLI_FAULT;
    }
    if (summary->flaky > 0 && !(options->quiet >> CAMPAIGN_FLAKY & 1)) {
        snprintf(message->text, sizeof message->text,
                 "%" PRIu32
                 " divergences did not show again when their case was run again: a fault "
                 "of simtfuzz",
                 summary->flaky);
        return CLI_FAULT;
    }
    return summary->failing > 0 ? CLI_DIVERGENCE : CLI_OK;
}

/* What is known of fatal cases in chunks that will not be stored now. */
static int keep_known(struct campaign *c)
{
    struct incident hanging[WATCH_JOBS_MAX];
    const struct watch *watch = c->options->watch;
    if (watch && !c->summary->interrupted)
        return DB_OK;
    int error = collector_commit(c->collector, true);
    if (error != DB_OK)
        return error;
    if (!watch)
        return collector_keep_incidents(c->collector, hanging, pool_hanging(c->pool, hanging), 0);
    return collector_keep_incidents(c->collector, watch->incidents, watch->incident_count,
                                    atomic_load_explicit(&watch->committed, memory_order_relaxed));
}

/* With the database open: the hunt itself. */
static int hunt(struct campaign *c, struct db_message *message)
{
    sigset_t mask;
    const char *refused;
    block_signals(&mask);
    crash_install(c->options->watch);
    uint64_t first = (c->summary->cases + CAMPAIGN_CHUNK - 1) / CAMPAIGN_CHUNK;
    c->next_chunk = first;
    c->pool = pool_start(c->options, first, tick, c, &refused);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (!c->pool) {
        collector_close(c->collector, true);
        snprintf(message->text, sizeof message->text, "cannot start workers: %s", refused);
        return CLI_FAULT;
    }
    if (c->options->no_minimise)
        pool_stop_minimising(c->pool);
    int error = collect(c);
    stop(c, clock_monotonic_ms());
    c->summary->seconds += (double)(clock_monotonic_ms() - c->session_ms) / 1000;
    if (c->summary->hanging) {
        c->summary->interrupted = true;
        c->summary->ending = "given up, since a worker hangs";
    }
    /* Whoever asks for an end after the last case gets it anyway. */
    if (error == DB_OK && c->summary->cases == pool_shard_cases(c->pool) && c->summary->cases > 0) {
        c->summary->interrupted = false;
        c->summary->ending = "finished";
    }
    if (error >= 0 && (c->summary->hanging || c->options->watch) && keep_known(c) != DB_OK)
        error = c->db_error = DB_ERROR_IO;
    int closed = collector_close(c->collector, error != DB_OK);
    if (error < 0 || closed < 0)
        c->summary->ending = "stopped by an error of the database";
    display_end(c->display, c->pool, c->summary->ending);
    if (!pool_finish(c->pool))
        c->summary->hanging = true;
    if (error < 0 || closed < 0)
        return CLI_FAULT;
    return exit_status(c->options, c->summary, message);
}

/* A program that could not be told is a fault, but the smaller one. */
static int tell_end(struct campaign *c, int status, struct db_message *message)
{
    uint32_t failures = hooks_close(c->hooks, status, c->options->log);
    if (failures == 0 || status != CLI_OK)
        return status;
    snprintf(message->text, sizeof message->text,
             "%" PRIu32 " programs that were to be told of findings or of the end failed",
             failures);
    return CLI_FAULT;
}

/* There is nothing to run: the campaign is finished, or asked to end before it begins. */
static int end_at_once(struct campaign *c, struct db_message *message)
{
    if (!c->options->report_only) {
        c->summary->interrupted = true;
        c->summary->ending = "interrupted";
    }
    if (c->options->watch && keep_known(c) != DB_OK)
        return CLI_FAULT;
    return collector_close(c->collector, false) < 0 ? CLI_FAULT
                                                    : exit_status(c->options, c->summary, message);
}

/* The engine is too broken to go on; what is known of it is stored. */
static int give_up(struct campaign *c)
{
    const struct watch *watch = c->options->watch;
    int error = collector_keep_incidents(c->collector, watch->incidents, watch->incident_count, 0);
    c->summary->interrupted = true;
    c->summary->ending = "given up: the engine dies at one case after the other";
    int closed = collector_close(c->collector, error != DB_OK);
    return error < 0 || closed < 0 ? CLI_FAULT : CLI_OK;
}

int campaign_run(struct arena *arena, const struct campaign_options *options,
                 struct campaign_summary *summary, struct db_message *message)
{
    struct sigaction before[END_SIGNALS];
    struct campaign c = {.options = options, .summary = summary};
    *summary = (struct campaign_summary){.ending = "finished"};
    message->text[0] = '\0';
    c.collector = collector_open(arena, options, summary, message);
    if (!c.collector)
        return CLI_FAULT;
    c.session_ms = c.started_ms = clock_monotonic_ms();
    if (options->watch)
        c.started_ms = options->watch->started_ms;
    c.display = display_open(arena, options, summary);
    c.hooks = hooks_open(arena, options, summary);
    int status;
    if (options->watch && options->watch->last_resort) {
        status = give_up(&c);
    } else if (options->report_only || is_asked_to_end(&c)) {
        status = end_at_once(&c, message);
    } else if (options->watch) { /* who hears the signals */
        status = hunt(&c, message);
    } else {
        catch_signals(before);
        status = hunt(&c, message);
        release_signals(before);
    }
    return tell_end(&c, status, message);
}
