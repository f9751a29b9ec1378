#include "fuzz/status/status.h"

#include "fuzz/base/clock.h"
#include "fuzz/out/screen.h"
#include "fuzz/out/terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 1000, KEY_MS = 50, SEEN_MAX = 1024 };

static volatile sig_atomic_t asked_to_end;

/* The cases of each campaign at the last look. */
struct looks {
    uint64_t at_ms;
    uint32_t count;
    uint64_t id[SEEN_MAX], cases[SEEN_MAX];
};

static void ask_to_end(int signal_number)
{
    (void)signal_number;
    asked_to_end = 1;
}

static void measure(struct looks *looks, struct overview *status)
{
    double seconds = (double)(status->now_ms - looks->at_ms) / 1000;
    for (uint32_t i = 0; i < status->count; i++) {
        struct status_campaign *c = &status->campaigns[i];
        for (uint32_t k = 0; k < looks->count && seconds > 0; k++)
            if (looks->id[k] == c->campaign.id && c->state == LIFE_RUNNING)
                c->rate_now = (double)(c->campaign.counts.cases - looks->cases[k]) / seconds;
    }
    looks->at_ms = status->now_ms;
    looks->count = status->count < SEEN_MAX ? status->count : SEEN_MAX;
    for (uint32_t i = 0; i < looks->count; i++) {
        looks->id[i] = status->campaigns[i].campaign.id;
        looks->cases[i] = status->campaigns[i].campaign.counts.cases;
    }
}

static bool any_runs(const struct overview *status)
{
    for (uint32_t i = 0; i < status->count; i++)
        if (status->campaigns[i].state == LIFE_RUNNING)
            return true;
    return false;
}

/* The same text as without a screen, cut at its edges. */
static void draw(struct cli *cli, struct screen *screen, const struct overview *status)
{
    char *text = NULL;
    size_t length = 0;
    bool entered;
    uint32_t rows, columns;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    status_print(cli, status, out);
    fclose(out);
    if (terminal_enter(&entered)) {
        terminal_size(&rows, &columns);
        screen_begin(screen, rows, columns, entered);
        char *line = text;
        for (uint32_t row = 0; *line; row++) {
            char *end = line + strcspn(line, "\n");
            bool last = !*end;
            *end = '\0';
            screen_put(screen, row, 0, row == 0 ? STYLE_DIM : STYLE_PLAIN, line);
            line = last ? end : end + 1;
        }
        screen_put(screen, screen->rows - 1, 0, STYLE_DIM, "q ends");
        screen_end(screen);
        if (screen->length > 0 && !terminal_write(screen->bytes, screen->length))
            screen->whole = true;
    }
    free(text);
}

/* Until the next look. */
static void pause_or_end(void)
{
    const struct timespec pause = {.tv_nsec = KEY_MS * 1000000};
    uint64_t start = clock_monotonic_ms();
    while (!asked_to_end && clock_monotonic_ms() - start < LOOK_MS) {
        char key = terminal_key();
        asked_to_end |= key == 'q' || key == 'Q';
        nanosleep(&pause, NULL);
    }
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = ask_to_end};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

int status_watch(struct cli *cli, struct db *db, const struct db_message *message,
                 uint64_t campaign)
{
    struct arena *arena = &cli->arena;
    struct looks *looks = ARENA_NEW(arena, struct looks);
    struct screen *screen = NULL;
    int error = DB_OK;
    if (!cli->options.json && isatty(STDOUT_FILENO) && terminal_open())
        screen = screen_new(arena, terminal_has_utf8(), terminal_has_color());
    catch_signals();
    for (bool more = true; more && error == DB_OK;) {
        size_t mark = arena_mark(arena);
        struct overview status;
        error = status_read(arena, db, campaign, &status);
        if (error == DB_OK) {
            measure(looks, &status);
            more = any_runs(&status) && !asked_to_end;
            if (screen && more)
                draw(cli, screen, &status);
            else
                terminal_leave();
            if (!screen || !more) {
                status_print(cli, &status, stdout);
                more = fflush(stdout) == 0 && more;
            }
        }
        arena_release(arena, mark);
        if (more && error == DB_OK)
            pause_or_end();
    }
    terminal_leave();
    return error == DB_OK ? CLI_OK : cli_db_failed(cli, message, error);
}
