/*
 * ini.h - the text of a configuration file: sections, and keys with values.
 *
 *     # a comment stands on a line of its own; so does ; one
 *     [section]
 *     key = value
 *
 * Blanks around names and values do not count, blank lines neither. A line ends at LF or CR LF; the text may
 * begin with a byte order mark. A value ends with its line: there are no continuation lines, no quotes and no
 * comments behind values (" #" in a value is refused, since it is most often meant as one). Text is UTF-8
 * without control characters. Nothing is included from other files.
 *
 * libinih (Debian) was looked at: it cuts lines at 200 bytes and names at 50, and says of the first bad line
 * only where it is.
 */
#ifndef FUZZ_CLI_INI_H
#define FUZZ_CLI_INI_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    INI_TEXT_MAX = 1 << 20, /* bytes of a file */
    INI_LINE_MAX = 4096,
    INI_NAME_MAX = 64,
    INI_VALUE_MAX = 4000, /* so that a line has room for its key */
    INI_ENTRIES_MAX = 4096,
    INI_ERRORS_MAX = 100, /* that are kept; further ones are counted */
};

/* A section's head (key NULL), or a key with its value in the section above it. */
struct ini_entry {
    uint32_t line; /* from 1 */
    const char *section, *key, *value;
    struct ini_entry *next;
};

struct ini_error {
    uint32_t line;
    const char *text;
    struct ini_error *next;
};

struct ini {
    struct arena *arena;
    struct ini_entry *entries; /* in the order of the text */
    struct ini_error *errors;  /* by line */
    uint32_t entry_count;
    uint32_t error_count; /* also of those that were not kept */
};

/* Reads the whole text, whatever is wrong with it. Everything lives in the arena. */
struct ini *ini_read(struct arena *arena, const char *text, size_t length);

/* One more error, from whoever makes sense of the entries. */
void ini_refuse(struct ini *ini, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
