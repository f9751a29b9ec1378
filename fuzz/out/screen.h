/*
 * screen.h - a grid of characters that is drawn anew again and again: only what changed goes to the terminal,
 * so nothing flickers.
 *
 * The last column stays empty, so that no terminal ever wraps. Whatever is put outside of the grid is cut.
 */
#ifndef FUZZ_UI_SCREEN_H
#define FUZZ_UI_SCREEN_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { SCREEN_ROWS_MAX = 200, SCREEN_COLUMNS_MAX = 400 };

enum screen_style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_BAD, STYLE_REVERSE };

struct screen_cell {
    char bytes[3]; /* one character in UTF-8; unused ones are 0 */
    uint8_t style;
};

struct screen {
    uint32_t rows, columns; /* of the terminal */
    bool whole;             /* nothing is known of what it shows */
    bool utf8, color;
    struct screen_cell *now, *before;
    char *bytes; /* that draw what changed */
    size_t length;
};

struct screen *screen_new(struct arena *arena, bool utf8, bool color);

/* A new picture, empty. Another size than before, or `whole`: everything is drawn. */
void screen_begin(struct screen *screen, uint32_t rows, uint32_t columns, bool whole);

/* Text of printable ASCII and, if the terminal shows UTF-8, block elements; anything else becomes '?'. */
void screen_put(struct screen *screen, uint32_t row, uint32_t column, enum screen_style style,
                const char *text);

/* bytes and length: what makes the terminal show the picture. */
void screen_end(struct screen *screen);

/* The picture as lines of text, without blanks at their ends. */
char *screen_text(struct arena *arena, const struct screen *screen);

/* A curve in `width` characters, from the least value (0 unless `from_least`) to the largest. */
char *screen_spark(struct arena *arena, const struct screen *screen, const uint32_t *values,
                   uint32_t count, uint32_t width, bool from_least);

#endif
