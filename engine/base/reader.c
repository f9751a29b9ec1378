#include "engine/base/reader.h"

#include <string.h>

void reader_init(struct reader *reader, const char *source, size_t length, struct diag *diag)
{
    static const char mark[] = "\xef\xbb\xbf"; /* what some editors put before UTF-8 */
    size_t skipped = length >= 3 && memcmp(source, mark, 3) == 0 ? 3 : 0;
    *reader = (struct reader){.end = source + length,
                              .next = source + skipped,
                              .line_start = source + skipped,
                              .line = 1,
                              .diag = diag};
}

struct location reader_at(const struct reader *reader)
{
    return (struct location){reader->line, (uint32_t)(reader->next - reader->line_start) + 1};
}

void reader_error(const struct reader *reader, struct location at, const char *format, ...)
{
    struct location nowhere = {0, 0};
    va_list args;
    va_start(args, format);
    if (reader->diag)
        reader_error_once(reader->diag, &nowhere, at, format, args);
    va_end(args);
}

static void step(struct reader *reader)
{
    if (*reader->next++ == '\n') {
        reader->line++;
        reader->line_start = reader->next;
    }
}

static void skip_comment(struct reader *reader)
{
    struct location start = reader_at(reader);
    for (reader->next += 2; reader->next < reader->end; step(reader))
        if (reader_peek(reader, 0) == '*' && reader_peek(reader, 1) == '/') {
            reader->next += 2;
            return;
        }
    reader_error(reader, start, "this comment is not closed");
}

static void skip_line(struct reader *reader)
{
    const char *stop = memchr(reader->next, '\n', (size_t)(reader->end - reader->next));
    reader->next = stop ? stop : reader->end;
}

void reader_skip_blank(struct reader *reader)
{
    while (reader->next < reader->end) {
        if (is_blank(*reader->next))
            step(reader);
        else if (reader_peek(reader, 0) == '/' && reader_peek(reader, 1) == '/')
            skip_line(reader);
        else if (reader_peek(reader, 0) == '/' && reader_peek(reader, 1) == '*')
            skip_comment(reader);
        else
            return;
    }
}

void reader_skip_unknown(struct reader *reader, bool (*is_known)(char))
{
    struct location at = reader_at(reader);
    unsigned char byte = (unsigned char)*reader->next;
    while (reader->next < reader->end && !is_known(*reader->next))
        reader->next++;
    if (byte > 0x20 && byte < 0x7f)
        reader_error(reader, at, "unexpected character '%c'", byte);
    else
        reader_error(reader, at, "unexpected byte 0x%02x", byte);
}

uint32_t reader_digit(char c)
{
    if (is_digit(c))
        return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (uint32_t)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (uint32_t)(c - 'A') + 10;
    return 99;
}

void reader_error_once(struct diag *diag, struct location *last, struct location at,
                       const char *format, va_list args)
{
    if (at.line == last->line && at.column == last->column)
        return;
    *last = at;
    char text[DIAG_TEXT_MAX];
    vsnprintf(text, sizeof text, format, args);
    diag_error(diag, at, "%s", text);
}
