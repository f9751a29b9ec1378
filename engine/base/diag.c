#include "engine/base/diag.h"

#include <stdarg.h>
#include <string.h>

enum { QUOTE_WIDTH = 100 };

void diag_init(struct diag *diag, const char *file, const char *source, size_t source_length)
{
    diag->file = file;
    diag->source = source;
    diag->source_length = source_length;
    diag->count = 0;
}

void diag_error(struct diag *diag, struct location at, const char *format, ...)
{
    if (diag->count < DIAG_MAX) {
        struct diag_entry *entry = &diag->entries[diag->count];
        entry->at = at;
        va_list args;
        va_start(args, format);
        vsnprintf(entry->text, sizeof entry->text, format, args);
        va_end(args);
    }
    diag->count++;
}

/* The bytes of line `line` of the source: from *begin, *length bytes; false when it has no such. */
static bool source_line(const struct diag *diag, uint32_t line, const char **begin, size_t *length)
{
    const char *at = diag->source;
    if (!at || line == 0)
        return false;
    const char *end = at + diag->source_length;
    for (uint32_t n = 1; n < line; n++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at)
            return false;
        at++;
    }
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    *begin = at;
    *length = (size_t)((newline ? newline : end) - at);
    return true;
}

static void print_quote(const struct diag *diag, struct location at, FILE *out)
{
    const char *line;
    size_t length;
    if (at.column == 0 || !source_line(diag, at.line, &line, &length))
        return;
    size_t caret = at.column - 1;
    size_t first = caret > QUOTE_WIDTH / 2 ? caret - QUOTE_WIDTH / 2 : 0;
    fputs("    ", out);
    for (size_t i = first; i < length && i < first + QUOTE_WIDTH; i++) {
        unsigned char c = (unsigned char)line[i];
        fputc(c == '\t' ? ' ' : (c < 0x20 || c == 0x7f) ? '?' : c, out);
    }
    fprintf(out, "\n    %*s^\n", (int)(caret - first), "");
}

void diag_print(const struct diag *diag, FILE *out)
{
    uint32_t kept = diag->count < DIAG_MAX ? diag->count : DIAG_MAX;
    for (uint32_t i = 0; i < kept; i++) {
        const struct diag_entry *entry = &diag->entries[i];
        if (entry->at.line == 0)
            fprintf(out, "%s: error: %s\n", diag->file, entry->text);
        else
            fprintf(out, "%s:%u:%u: error: %s\n", diag->file, entry->at.line, entry->at.column,
                    entry->text);
        print_quote(diag, entry->at, out);
    }
    if (diag->count > kept)
        fprintf(out, "%s: ... and %u more errors\n", diag->file, diag->count - kept);
}
