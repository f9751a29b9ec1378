/*
 * terminal.h - the person's terminal while a whole screen is shown on it: the alternate screen, keys without
 * echo, and everything as it was at the end, whatever the end is.
 *
 * There is one terminal, standard error's; keys come from standard input if that is a terminal, too. Who
 * calls terminal_open before it forks shares it with the child: any process of them may leave the screen,
 * also for one that died. In the background nothing is written and nothing read.
 */
#ifndef FUZZ_UI_TERMINAL_H
#define FUZZ_UI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether standard error is a terminal that understands more than plain lines (TERM=dumb does not). */
bool terminal_is_able(void);

/* Remembers how the terminal is; signals that end this process restore it from now on. False: there is none, or it is
 * not able. */
bool terminal_open(void);

/* Shows the screen, if this process is in the foreground and it is not shown. False: it is not shown.
 * *entered: it was not, before. */
bool terminal_enter(bool *entered);

/* Puts the terminal back as it was. For signal handlers, too; harmless when no screen is shown. */
void terminal_leave(void);

/* The same, and no other thread of this process brings the screen back: for one that dies. A process that goes
 * on after it calls terminal_leave. */
void terminal_close(void);

/* Rows and columns, at least 1. */
void terminal_size(uint32_t *rows, uint32_t *columns);

/* All of it; false: the terminal takes nothing now, nothing was written. */
bool terminal_write(const char *bytes, size_t length);

/* A key that was pressed, 0: none. */
char terminal_key(void);

/* Whether the terminal shows UTF-8, by the environment; and colours (NO_COLOR). */
bool terminal_has_utf8(void);
bool terminal_has_color(void);

#endif
