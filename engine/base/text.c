#include "engine/base/text.h"

#include "engine/base/invariant.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 }; /* like every capacity, a multiple of what the arena aligns to */

/* Room for `count` more bytes and the final zero. */
static void reserve(struct text *text, size_t count)
{
    size_t capacity = text->capacity ? text->capacity : FIRST_CAPACITY;
    while (capacity - text->length <= count)
        capacity *= 2;
    if (capacity == text->capacity)
        return;
    struct arena *arena = text->arena;
    if (!text->bytes ||
        !arena_extend(arena, text->bytes, text->capacity, capacity - text->capacity)) {
        char *bytes = arena_alloc(arena, capacity, 1);
        memcpy(bytes, text->bytes ? text->bytes : "", text->length);
        text->bytes = bytes;
    }
    text->capacity = capacity;
}

struct text text_begin(struct arena *arena)
{
    struct text text = {.arena = arena};
    reserve(&text, 0);
    return text;
}

void text_put_bytes(struct text *text, const char *bytes, size_t count)
{
    reserve(text, count);
    memcpy(text->bytes + text->length, bytes, count);
    text->length += count;
    text->bytes[text->length] = '\0';
}

void text_put(struct text *text, const char *piece)
{
    text_put_bytes(text, piece, strlen(piece));
}

void text_format(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    reserve(text, 0);
    size_t room = text->capacity - text->length;
    int length = vsnprintf(text->bytes + text->length, room, format, arguments);
    INVARIANT(length >= 0);
    if ((size_t)length >= room) {
        reserve(text, (size_t)length);
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    }
    text->length += (size_t)length;
    va_end(again);
    va_end(arguments);
}
