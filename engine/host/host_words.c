/*
 * host_words.c - lines of a host program, and their words.
 */
#include "engine/host/host_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool host_fail(struct host_reader *r, const char *format, ...)
{
    char text[DIAG_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(r->diag, host_here(r), "%s", text);
    return false;
}

struct location host_here(const struct host_reader *r)
{
    uint32_t column = 1;
    if (r->next < r->word_count) {
        column = r->words[r->next].column;
    } else if (r->word_count > 0) {
        const struct host_word *last = &r->words[r->word_count - 1];
        column = last->column + (uint32_t)strlen(last->text) + 2 * last->quoted;
    }
    return (struct location){r->line, column};
}

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '%';
}

/* How long the word is that starts there: a name or number, "..", -> or ==, one character of any other kind. */
static size_t word_length(const char *at, const char *end)
{
    size_t n = 0;
    if (*at == '"') {
        for (n = 1; at + n < end && at[n] != '"' && at[n] != '\n';)
            n++;
        return at + n < end && at[n] == '"' ? n + 1 : 0;
    }
    if (end - at > 1 && ((at[0] == '-' && at[1] == '>') || (at[0] == '=' && at[1] == '=')))
        return 2;
    if (*at == '-')
        n = 1;
    while (at + n < end && is_part(at[n]))
        n++;
    return n ? n : 1;
}

static bool is_comment(const char *at, const char *end)
{
    return *at == '#' || (end - at > 1 && at[0] == '/' && at[1] == '/');
}

static bool add_word(struct host_reader *r, const char *line, const char *at, size_t length)
{
    bool quoted = *at == '"';
    if (r->word_count == HOST_WORDS)
        return host_fail(r, "more than %d words in a line", HOST_WORDS);
    r->words[r->word_count++] =
        (struct host_word){.text = arena_strndup(r->arena, at + quoted, length - 2 * quoted),
                           .column = (uint32_t)(at - line) + 1,
                           .quoted = quoted};
    return true;
}

static bool split_line(struct host_reader *r, const char *line, const char *end)
{
    r->word_count = r->next = 0;
    for (const char *at = line; at < end;) {
        if (*at == ' ' || *at == '\t' || *at == '\r') {
            at++;
            continue;
        }
        if (is_comment(at, end))
            break;
        size_t length = word_length(at, end);
        if (length == 0 || *at < 0x20 || *at > 0x7e) {
            diag_error(r->diag, (struct location){r->line, (uint32_t)(at - line) + 1},
                       length == 0 ? "the text in quotes does not end in this line"
                                   : "a byte that is no character of a host program");
            return false;
        }
        if (!add_word(r, line, at, length))
            return false;
        at += length;
    }
    return true;
}

static const char *line_end(const struct host_reader *r, const char *line)
{
    const char *newline = memchr(line, '\n', (size_t)(r->end - line));
    return newline ? newline : r->end;
}

bool host_read_line(struct host_reader *r)
{
    while (r->at < r->end) {
        const char *line = r->at, *end = line_end(r, line);
        r->at = end < r->end ? end + 1 : end;
        r->line++;
        if (!split_line(r, line, end))
            return false;
        if (r->word_count > 0)
            return true;
    }
    r->word_count = r->next = 0;
    return false;
}

const char *host_read_block(struct host_reader *r, size_t *length)
{
    const char *first = r->at;
    while (r->at < r->end) {
        const char *line = r->at, *end = line_end(r, line);
        r->at = end < r->end ? end + 1 : end;
        r->line++;
        while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
            end--;
        if (end - line == 3 && memcmp(line, "end", 3) == 0) {
            *length = (size_t)(line - first);
            return first;
        }
    }
    return NULL;
}

bool host_at_end(const struct host_reader *r)
{
    return r->next == r->word_count;
}

bool host_take(struct host_reader *r, const char *text)
{
    if (host_at_end(r) || r->words[r->next].quoted || strcmp(r->words[r->next].text, text) != 0)
        return false;
    r->next++;
    return true;
}

const char *host_next(struct host_reader *r)
{
    return host_at_end(r) ? NULL : r->words[r->next++].text;
}

const char *host_take_name(struct host_reader *r, const char *what)
{
    const char *text = host_at_end(r) ? "" : r->words[r->next].text;
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    if (n == 0 || text[n] || isdigit((unsigned char)text[0]) || n > LIMIT_NAME) {
        host_fail(r, "%s is expected, not `%.40s`", what, host_at_end(r) ? "the line's end" : text);
        return NULL;
    }
    r->next++;
    return text;
}

bool host_number(struct host_reader *r, const char *what, uint64_t most, uint32_t *value)
{
    const char *text = host_at_end(r) ? "" : r->words[r->next].text;
    char *end;
    unsigned long long number = strtoull(text, &end, 0);
    if (!isdigit((unsigned char)*text) || *end || number > most)
        return host_fail(r, "%s is a number up to %llu, not `%.40s`", what,
                         (unsigned long long)most, text);
    *value = (uint32_t)number;
    r->next++;
    return true;
}

bool host_signed(struct host_reader *r, int32_t *value)
{
    const char *text = host_at_end(r) ? "" : r->words[r->next].text;
    char *end;
    long long number = strtoll(text, &end, 0);
    if (!(isdigit((unsigned char)*text) || *text == '-') || end == text || *end ||
        number < INT32_MIN || number > (long long)UINT32_MAX)
        return host_fail(r, "a number of 32 bits is expected, not `%.40s`", text);
    *value = (int32_t)(uint32_t)number;
    r->next++;
    return true;
}

static bool read_list(struct host_reader *r, struct host_values *values)
{
    uint32_t capacity = r->word_count;
    values->list = ARENA_ARRAY(r->arena, int32_t, capacity);
    while (!host_take(r, "}")) {
        if (values->count > 0 && !host_take(r, ","))
            return host_fail(r, "a list is {1, 2, 3}");
        if (!host_signed(r, &values->list[values->count]))
            return false;
        values->count++;
    }
    return values->count > 0 ? true : host_fail(r, "a list has one value at least");
}

/* zero, iota, random SEED, all VALUE, {1, 2}, VALUE */
bool host_values_read(struct host_reader *r, struct host_values *values)
{
    *values = (struct host_values){.fill = HOST_ZERO};
    if (host_take(r, "zero"))
        return true;
    if (host_take(r, "iota")) {
        values->fill = HOST_IOTA;
        return true;
    }
    if (host_take(r, "all")) {
        values->fill = HOST_SAME;
        return host_signed(r, &values->value);
    }
    if (host_take(r, "random")) {
        values->fill = HOST_RANDOM;
        return host_signed(r, &values->value);
    }
    if (host_take(r, "{"))
        return read_list(r, values);
    values->list = ARENA_ARRAY(r->arena, int32_t, 1);
    values->count = 1;
    return host_signed(r, values->list);
}
