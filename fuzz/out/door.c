/* door.c - see door.h. */
#define _GNU_SOURCE /* fopencookie */
#include "fuzz/out/door.h"

#include "fuzz/out/json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { CHARACTER_BYTES = 4, PIECE_BYTES = 4096, WORD_BYTES = 6 };

struct door {
    int fd;
    FILE *stream;
    char rest[CHARACTER_BYTES]; /* the beginning of a character whose end was not written yet */
    size_t rest_length;
};

static struct door doors[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};

/* ---- what may pass ---- */

static uint32_t code_point(const char *bytes, size_t length)
{
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t value = (unsigned char)bytes[0] & lead_bits[length];
    for (size_t i = 1; i < length; i++)
        value = value << 6 | ((unsigned char)bytes[i] & 0x3f);
    return value;
}

/* Controls of a terminal, and what changes the order in which characters are shown. */
static bool is_hostile(uint32_t c)
{
    return (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static bool is_control(const char *at, size_t available)
{
    unsigned char c = (unsigned char)*at;
    if (c == '\r')
        return available < 2 || at[1] != '\n';
    return c < 0x20 && c != '\n' && c != '\t';
}

/* How many bytes the character has that begins like this. */
static size_t announced(unsigned char lead)
{
    if (lead == '\r')
        return 2; /* it depends on what follows */
    return lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
}

/* Appends the character at `at`, or a word for it; returns how many bytes of `at` that are. */
static size_t pass(const char *at, size_t available, char **out)
{
    size_t length = json_utf8_length(at, available);
    if (length == 0 || is_control(at, available)) {
        *out += sprintf(*out, "\\x%02x", (unsigned)(unsigned char)*at);
        return 1;
    }
    uint32_t c = code_point(at, length);
    if (is_hostile(c)) {
        *out += sprintf(*out, "\\u%04x", (unsigned)c);
        return length;
    }
    memcpy(*out, at, length);
    *out += length;
    return length;
}

/* ---- the streams ---- */

static bool write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

/* All whole characters of the piece behind what was left; the beginning of one is left for the next time. */
static bool write_piece(struct door *door, const char *text, size_t length)
{
    char in[CHARACTER_BYTES + PIECE_BYTES], out[sizeof in * WORD_BYTES], *end = out;
    memcpy(in, door->rest, door->rest_length);
    memcpy(in + door->rest_length, text, length);
    length += door->rest_length;
    size_t at = 0;
    while (at < length && announced((unsigned char)in[at]) <= length - at)
        at += pass(in + at, length - at, &end);
    /* A character that is cut off needs no more than it announces: what stands behind its first byte decides. */
    door->rest_length = length - at;
    memcpy(door->rest, in + at, door->rest_length);
    return write_all(door->fd, out, (size_t)(end - out));
}

static ssize_t write_through(void *cookie, const char *text, size_t length)
{
    for (size_t at = 0; at < length; at += PIECE_BYTES) {
        size_t piece = length - at < PIECE_BYTES ? length - at : PIECE_BYTES;
        if (!write_piece(cookie, text + at, piece))
            return 0;
    }
    return (ssize_t)length;
}

static FILE *open_stream(struct door *door, int buffering)
{
    door->stream = fopencookie(door, "w", (cookie_io_functions_t){.write = write_through});
    if (door->stream)
        setvbuf(door->stream, NULL, buffering, BUFSIZ);
    return door->stream;
}

void door_open(void)
{
    FILE *out = open_stream(&doors[0], isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    FILE *err = open_stream(&doors[1], _IOLBF);
    if (out)
        stdout = out;
    if (err)
        stderr = err;
}

static void close_stream(struct door *door)
{
    char out[CHARACTER_BYTES * WORD_BYTES], *end = out;
    if (!door->stream || fflush(door->stream) != 0)
        return;
    for (size_t at = 0; at < door->rest_length;)
        at += pass(door->rest + at, door->rest_length - at, &end);
    door->rest_length = 0;
    write_all(door->fd, out, (size_t)(end - out));
}

void door_close(void)
{
    close_stream(&doors[0]);
    close_stream(&doors[1]);
}

void door_control(FILE *out, const char *sequence)
{
    fflush(out);
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++) {
        if (doors[i].stream == out) {
            write_all(doors[i].fd, sequence, strlen(sequence));
            return;
        }
    }
    fputs(sequence, out);
}
