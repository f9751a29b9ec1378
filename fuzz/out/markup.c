#include "fuzz/out/markup.h"
#include "fuzz/out/table.h"

#include "fuzz/out/json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

size_t markup_step(const char *text, size_t length)
{
    size_t step = json_utf8_length(text, length);
    return step == 0 ? 1 : step;
}

/* The character that stands at `at`, in `length` well-formed bytes. */
static uint32_t decode(const char *at, size_t length)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)*at & first_bits[length];
    for (size_t i = 1; i < length; i++)
        c = c << 6 | ((unsigned char)at[i] & 0x3fu);
    return c;
}

/* Marks and overrides of direction: text that contains them does not read as it is written. */
static bool turns_around(uint32_t c)
{
    return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
           c == 0x200f || c == 0x061c;
}

static bool allowed(uint32_t c)
{
    if (c < 0x20)
        return c == '\t' || c == '\n';
    return c < 0x7f || (c > 0x9f && c != 0xfffe && c != 0xffff);
}

static void put_character(FILE *out, const char *at, size_t length, uint32_t c)
{
    switch (c) {
    case '&':
        fputs("&amp;", out);
        break;
    case '<':
        fputs("&lt;", out);
        break;
    case '>':
        fputs("&gt;", out);
        break;
    case '"':
        fputs("&quot;", out);
        break;
    case '\'':
        fputs("&#39;", out);
        break;
    default:
        fwrite(at, 1, length, out);
    }
}

static size_t put_one(FILE *out, const char *at, size_t left)
{
    size_t length = json_utf8_length(at, left);
    if (length == 0) {
        fputs("\xef\xbf\xbd", out);
        return 1;
    }
    uint32_t c = decode(at, length);
    if (turns_around(c))
        fprintf(out, "[U+%04" PRIX32 "]", c);
    else if (!allowed(c))
        fputs("\xef\xbf\xbd", out);
    else
        put_character(out, at, length, c);
    return length;
}

void markup_bytes(FILE *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length;)
        at += put_one(out, text + at, length - at);
}

void markup_text(FILE *out, const char *text)
{
    markup_bytes(out, text, strlen(text));
}

void markup_short(FILE *out, const char *text, size_t characters)
{
    size_t length = strlen(text), count = 0, last = 0, at = 0;
    while (at < length && count < characters) {
        last = at;
        at += markup_step(text + at, length - at);
        count++;
    }
    markup_bytes(out, text, at < length ? last : at);
    if (at < length)
        fputs("\u2026", out);
}

const char *markup_brief(struct arena *arena, uint64_t number)
{
    static const struct {
        double unit;
        const char *letter;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    if (number < 10000)
        return table_grouped(arena, number);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if ((double)number >= units[i].unit) {
            double value = (double)number / units[i].unit;
            return arena_printf(arena, value < 100 ? "%.1f %s" : "%.0f %s", value, units[i].letter);
        }
    return table_grouped(arena, number);
}

const char *markup_time(struct arena *arena, uint64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm utc;
    char text[64];
    if (unix_ms == 0 || !gmtime_r(&seconds, &utc) ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc) == 0)
        return "";
    return arena_strndup(arena, text, strlen(text));
}

const char *markup_duration(struct arena *arena, double seconds)
{
    if (seconds < 120)
        return arena_printf(arena, "%.1f s", seconds);
    uint64_t minutes = (uint64_t)(seconds / 60 + 0.5);
    if (minutes < 120)
        return arena_printf(arena, "%" PRIu64 " min", minutes);
    return arena_printf(arena, "%" PRIu64 " h %" PRIu64 " min", minutes / 60, minutes % 60);
}

void markup_base64(FILE *out, const char *hex)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char digits[] = "0123456789abcdef";
    uint32_t bits = 0, count = 0;
    for (; *hex; hex++) {
        bits = bits << 4 | (uint32_t)(strchr(digits, *hex) - digits);
        count += 4;
        if (count >= 6) {
            count -= 6;
            fputc(letters[bits >> count & 63], out);
        }
    }
    if (count > 0)
        fputc(letters[bits << (6 - count) & 63], out);
    fputs(count == 4 ? "=" : count == 2 ? "==" : "", out);
}
