#include "fuzz/serve/protocol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void message_put(struct text *message, const char *name, const void *bytes, size_t length)
{
    text_format(message, "%s %zu\n", name, length);
    text_put_bytes(message, bytes, length);
    text_put(message, "\n");
}

void message_put_text(struct text *message, const char *name, const char *text)
{
    message_put(message, name, text, strlen(text));
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

bool message_send(int fd, const struct text *message)
{
    const char *head = arena_printf(message->arena, "%zu\n", message->length);
    return write_all(fd, head, strlen(head)) && write_all(fd, message->bytes, message->length);
}

bool message_length(const char *line, size_t *length)
{
    char *end;
    if (*line < '0' || *line > '9')
        return false;
    errno = 0;
    unsigned long long number = strtoull(line, &end, 10);
    *length = (size_t)number;
    return errno == 0 && *end == '\n' && number <= MESSAGE_BYTES_MAX;
}

/* `name length newline bytes newline` at the front of what is left. */
static bool parse_field(struct arena *arena, const char **at, const char *end,
                        struct message_field *field)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    const char *blank = newline ? memchr(*at, ' ', (size_t)(newline - *at)) : NULL;
    size_t length;
    if (!blank || blank - *at > MESSAGE_NAME_MAX || !message_length(blank + 1, &length) ||
        (size_t)(end - newline) < length + 2 || newline[1 + length] != '\n')
        return false;
    field->name = arena_strndup(arena, *at, (size_t)(blank - *at));
    field->bytes = arena_strndup(arena, newline + 1, length);
    field->length = length;
    *at = newline + length + 2;
    return true;
}

bool message_parse(struct arena *arena, const char *bytes, size_t length, struct message *message)
{
    enum { FIELDS_MAX = 1024 };
    struct message_field *fields = ARENA_ARRAY(arena, struct message_field, FIELDS_MAX);
    const char *end = bytes + length;
    *message = (struct message){.fields = fields};
    while (bytes < end)
        if (message->count == FIELDS_MAX ||
            !parse_field(arena, &bytes, end, &fields[message->count++]))
            return false;
    return true;
}

const struct message_field *message_field(const struct message *message, const char *name,
                                          uint32_t n)
{
    for (uint32_t i = 0; i < message->count; i++)
        if (strcmp(message->fields[i].name, name) == 0 && n-- == 0)
            return &message->fields[i];
    return NULL;
}

const char *message_text(const struct message *message, const char *name, uint32_t n)
{
    const struct message_field *field = message_field(message, name, n);
    return field ? field->bytes : "";
}
