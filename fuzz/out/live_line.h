/*
 * live_line.h - one line on a terminal, written anew now and then, that says how far a command is.
 */
#ifndef FUZZ_CLI_LIVE_LINE_H
#define FUZZ_CLI_LIVE_LINE_H

#include <stdbool.h>
#include <stdint.h>

enum { LIVE_LINE_MS = 200 };

struct live_line {
    uint64_t started_ms, due_ms; /* clock_monotonic_ms; due: the next one */
    bool live, open;             /* standard error is a terminal; the cursor stands behind a line */
};

/* `started_ms` is what lines count from; the first one is due at once. */
struct live_line live_line_new(uint64_t started_ms);

/* True: a line is due on a terminal, and begins with the time; the caller prints the rest to standard error, then
 * calls live_line_end. */
bool live_line_begin(struct live_line *line);
void live_line_end(void);

/* Takes the line away. */
void live_line_close(const struct live_line *line);

#endif
