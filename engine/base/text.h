/*
 * text.h - text that grows in an arena: in place as long as it stands at the arena's end, else by copying.
 *
 * `bytes` is zero-terminated from the first piece on; before it, NULL, unless the text came from
 * text_begin.
 */
#ifndef ENGINE_TEXT_H
#define ENGINE_TEXT_H

#include "engine/base/arena.h"

struct text {
    struct arena *arena;
    char *bytes;
    size_t length, capacity; /* capacity counts the final zero */
};

/* An empty text with some room. */
struct text text_begin(struct arena *arena);

void text_put_bytes(struct text *text, const char *bytes, size_t count);
void text_put(struct text *text, const char *piece);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
