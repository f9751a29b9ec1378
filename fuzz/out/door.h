/*
 * door.h - the one door through which every text reaches a terminal.
 *
 * Kernels, notes, file names and databases come from others: a text of theirs could colour the screen, move the
 * cursor, name the window, write to the clipboard, or show a kernel's lines in another order than they run. Once
 * door_open was called, standard output and standard error show such characters as words:
 *
 *     control characters but \t and \n, and \r before \n      \x1b
 *     U+007F to U+009F, marks of direction, line separators    \u202e    (in JSON the same string)
 *     bytes that are no UTF-8                                  \x9b
 *
 * whatever stands behind them: what goes to a file or a pager may reach a terminal later. Only door_control lets
 * simtfuzz's own sequences pass.
 */
#ifndef FUZZ_DOOR_H
#define FUZZ_DOOR_H

#include <stdio.h>

/* Puts the door before standard output and standard error. Once, before anything is written. */
void door_open(void);

/* What is written so far, and this as it is: a sequence of simtfuzz's own. */
void door_control(FILE *out, const char *sequence);

/* What is still to be written, at the end of the program. */
void door_close(void);

#endif
