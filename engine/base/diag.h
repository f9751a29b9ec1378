/*
 * diag.h - what is wrong with an input, as compilers say it:
 *
 *     file:line:column: error: message
 *         source line
 *            ^
 *
 * Several errors are collected in one go; a bounded number is kept.
 */
#ifndef ENGINE_DIAG_H
#define ENGINE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct location {
    uint32_t line;   /* from 1; 0 = nowhere (generated) */
    uint32_t column; /* from 1, in bytes */
};

enum { DIAG_MAX = 20, DIAG_TEXT_MAX = 400 };

struct diag_entry {
    struct location at;
    char text[DIAG_TEXT_MAX];
};

struct diag {
    const char *file;   /* name to print; not owned */
    const char *source; /* the text, for the quoted line; may be NULL; not owned */
    size_t source_length;
    uint32_t count; /* errors reported, may exceed DIAG_MAX */
    struct diag_entry entries[DIAG_MAX];
};

void diag_init(struct diag *diag, const char *file, const char *source, size_t source_length);

/* Adds an error; those beyond DIAG_MAX are counted, not kept. */
void diag_error(struct diag *diag, struct location at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints all errors with source line and caret (control bytes shown as '?', long lines cut around
 * the caret), and "... and N more errors" when some were not kept. */
void diag_print(const struct diag *diag, FILE *out);

#endif
