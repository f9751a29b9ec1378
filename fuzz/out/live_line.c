/* live_line.c - see live_line.h. */
#include "fuzz/out/live_line.h"

#include "fuzz/base/clock.h"
#include "fuzz/out/door.h"

#include <stdio.h>
#include <unistd.h>

struct live_line live_line_new(uint64_t started_ms)
{
    return (struct live_line){.started_ms = started_ms, .live = isatty(STDERR_FILENO)};
}

bool live_line_begin(struct live_line *line)
{
    if (!line->live)
        return false;
    uint64_t now = clock_monotonic_ms();
    if (now < line->due_ms)
        return false;
    door_control(stderr, "\r");
    fprintf(stderr, "%.1f s  ", (double)(now - line->started_ms) / 1000);
    line->open = true;
    line->due_ms = now + LIVE_LINE_MS;
    return true;
}

void live_line_end(void)
{
    door_control(stderr, "\033[K");
}

void live_line_close(const struct live_line *line)
{
    if (line->open)
        door_control(stderr, "\r\033[K");
}
