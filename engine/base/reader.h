/*
 * reader.h - what the readers of all languages share: the bytes of a text and where they stand, blanks and
 * comments as C has them, digits, and errors that are said once.
 */
#ifndef ENGINE_READER_H
#define ENGINE_READER_H

#include "engine/base/diag.h"

#include <stdarg.h>

struct reader {
    const char *end, *next;
    const char *line_start;
    uint32_t line;
    struct diag *diag; /* NULL: errors are not reported (a look ahead, by a copy of the reader) */
};

/* The text must outlive the reader; it may hold any bytes and need not be terminated. A byte order mark before
 * it is passed over. */
void reader_init(struct reader *reader, const char *source, size_t length, struct diag *diag);

/* Past blanks, comments to the end of a line, and comments between marks; one that is not closed is reported. */
void reader_skip_blank(struct reader *reader);

/* The place of the next byte. */
struct location reader_at(const struct reader *reader);

/* An error, unless nobody wants to know. */
void reader_error(const struct reader *reader, struct location at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A run of bytes that the language does not know is one error, which this reports at the run's first byte. */
void reader_skip_unknown(struct reader *reader, bool (*is_known)(char));

/* 0 to 15, by either case; 99: no digit of any base. */
uint32_t reader_digit(char c);

/* What a parser reports: silent where the last error was, which *last holds, for then it is the same one. */
void reader_error_once(struct diag *diag, struct location *last, struct location at,
                       const char *format, va_list args) __attribute__((format(printf, 4, 0)));

/* The byte `ahead` places on, 0 behind the end. */
static inline char reader_peek(const struct reader *reader, size_t ahead)
{
    return (size_t)(reader->end - reader->next) > ahead ? reader->next[ahead] : '\0';
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
