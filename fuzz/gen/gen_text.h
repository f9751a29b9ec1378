/*
 * gen_text.h - text in an arena that grows at its end.
 */
#ifndef FUZZ_GEN_TEXT_H
#define FUZZ_GEN_TEXT_H

#include "engine/arena.h"

#include <string.h>

struct gen_text {
    struct arena *arena;
    char *bytes;
    size_t length, capacity;
};

static inline void gen_text_put(struct gen_text *text, const char *piece)
{
    size_t length = strlen(piece);
    if (text->length + length + 1 > text->capacity) {
        size_t capacity = 2 * (text->length + length) + 256;
        char *grown = ARENA_ARRAY(text->arena, char, capacity);
        memcpy(grown, text->bytes ? text->bytes : "", text->length);
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->length, piece, length + 1);
    text->length += length;
}

#define GEN_PUT(text, ...) gen_text_put(text, arena_printf((text)->arena, __VA_ARGS__))

#endif
