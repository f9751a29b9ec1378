#include "fuzz/out/screen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    CELLS_MAX = SCREEN_ROWS_MAX * SCREEN_COLUMNS_MAX,
    CELL_BYTES_MAX = 32, /* of one cell with a move and a style */
    GAP = 4,             /* unchanged cells that cost less than a move */
    LEVELS = 8,
};

struct screen *screen_new(struct arena *arena, bool utf8, bool color)
{
    struct screen *screen = ARENA_NEW(arena, struct screen);
    screen->utf8 = utf8;
    screen->color = color;
    screen->now = ARENA_ARRAY(arena, struct screen_cell, CELLS_MAX);
    screen->before = ARENA_ARRAY(arena, struct screen_cell, CELLS_MAX);
    screen->bytes = ARENA_ARRAY(arena, char, (size_t)CELLS_MAX *CELL_BYTES_MAX);
    screen->whole = true;
    return screen;
}

static struct screen_cell *cell_at(struct screen_cell *cells, uint32_t row, uint32_t column)
{
    return &cells[row * SCREEN_COLUMNS_MAX + column];
}

static void clear(const struct screen *screen, struct screen_cell *cells)
{
    for (uint32_t row = 0; row < screen->rows; row++)
        for (uint32_t column = 0; column < screen->columns; column++)
            *cell_at(cells, row, column) = (struct screen_cell){.bytes = " ", .style = STYLE_PLAIN};
}

void screen_begin(struct screen *screen, uint32_t rows, uint32_t columns, bool whole)
{
    rows = rows < SCREEN_ROWS_MAX ? rows : SCREEN_ROWS_MAX;
    columns = columns < SCREEN_COLUMNS_MAX ? columns : SCREEN_COLUMNS_MAX;
    screen->whole |= whole || rows != screen->rows || columns != screen->columns;
    screen->rows = rows;
    screen->columns = columns;
    clear(screen, screen->now);
}

/* Length of the character, 1 for what is shown as '?'. */
static size_t take_character(const struct screen *screen, const char *text, char bytes[3])
{
    const unsigned char *at = (const unsigned char *)text;
    bool block = at[0] == 0xe2 && at[1] == 0x96 && at[2] >= 0x81 && at[2] <= 0x88;
    memset(bytes, 0, 3);
    if (block && screen->utf8) {
        memcpy(bytes, text, 3);
        return 3;
    }
    bytes[0] = at[0] >= ' ' && at[0] < 0x7f ? *text : '?';
    return 1;
}

void screen_put(struct screen *screen, uint32_t row, uint32_t column, enum screen_style style,
                const char *text)
{
    if (row >= screen->rows)
        return;
    while (*text && column + 1 < screen->columns) {
        struct screen_cell *cell = cell_at(screen->now, row, column++);
        text += take_character(screen, text, cell->bytes);
        cell->style = (uint8_t)style;
    }
}

/* ---- drawing ---- */

__attribute__((format(printf, 2, 3))) static void add(struct screen *screen, const char *format,
                                                      ...)
{
    va_list args;
    va_start(args, format);
    screen->length +=
        (size_t)vsnprintf(screen->bytes + screen->length, CELL_BYTES_MAX, format, args);
    va_end(args);
}

static const char *style_sequence(const struct screen *screen, uint8_t style)
{
    switch ((enum screen_style)style) {
    case STYLE_PLAIN:
        break;
    case STYLE_BOLD:
        return "\033[0;1m";
    case STYLE_DIM:
        return screen->color ? "\033[0;2m" : "\033[0m";
    case STYLE_GOOD:
        return screen->color ? "\033[0;32m" : "\033[0m";
    case STYLE_BAD:
        return screen->color ? "\033[0;1;31m" : "\033[0;1m";
    case STYLE_REVERSE:
        return "\033[0;7m";
    }
    return "\033[0m";
}

static bool differs(struct screen *screen, uint32_t row, uint32_t column)
{
    return memcmp(cell_at(screen->now, row, column), cell_at(screen->before, row, column),
                  sizeof(struct screen_cell)) != 0;
}

/* Draws cells first .. end - 1 of a row. */
static void draw_run(struct screen *screen, uint32_t row, uint32_t first, uint32_t end)
{
    uint8_t style = STYLE_PLAIN;
    add(screen, "\033[%" PRIu32 ";%" PRIu32 "H", row + 1, first + 1);
    for (uint32_t column = first; column < end; column++) {
        const struct screen_cell *cell = cell_at(screen->now, row, column);
        if (cell->style != style)
            add(screen, "%s", style_sequence(screen, cell->style));
        style = cell->style;
        add(screen, "%.3s", cell->bytes);
    }
    if (style != STYLE_PLAIN)
        add(screen, "\033[0m");
}

static void draw_row(struct screen *screen, uint32_t row)
{
    for (uint32_t column = 0; column < screen->columns; column++) {
        if (!differs(screen, row, column))
            continue;
        uint32_t end = column + 1;
        for (uint32_t at = end; at < screen->columns && at < end + GAP; at++)
            if (differs(screen, row, at))
                end = at + 1;
        draw_run(screen, row, column, end);
        column = end - 1;
    }
}

void screen_end(struct screen *screen)
{
    screen->length = 0;
    if (screen->whole) {
        add(screen, "\033[0m\033[2J");
        clear(screen, screen->before);
    }
    for (uint32_t row = 0; row < screen->rows; row++)
        draw_row(screen, row);
    struct screen_cell *drawn = screen->now;
    screen->now = screen->before;
    screen->before = drawn;
    screen->whole = false;
}

/* ---- text ---- */

char *screen_text(struct arena *arena, const struct screen *screen)
{
    char *text = ARENA_ARRAY(arena, char, (size_t)screen->rows *(screen->columns * 3 + 1) + 1);
    size_t length = 0;
    for (uint32_t row = 0; row < screen->rows; row++) {
        size_t end = length;
        for (uint32_t column = 0; column < screen->columns; column++) {
            const struct screen_cell *cell = cell_at(screen->before, row, column);
            size_t bytes = strnlen(cell->bytes, 3);
            memcpy(text + length, cell->bytes, bytes);
            length += bytes;
            if (cell->bytes[0] != ' ')
                end = length;
        }
        length = end;
        text[length++] = '\n';
    }
    text[length] = '\0';
    return text;
}

char *screen_spark(struct arena *arena, const struct screen *screen, const uint32_t *values,
                   uint32_t count, uint32_t width, bool from_least)
{
    static const char ascii[LEVELS] = "_.-:=+*#";
    char *text = ARENA_ARRAY(arena, char, (size_t)width * 3 + 1);
    uint32_t shown = count < width ? count : width, least = UINT32_MAX, most = 0;
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    least = from_least ? least : 0;
    for (uint32_t i = 0; i < shown; i++) {
        /* The last value of each share. */
        uint32_t value = values[(uint64_t)(i + 1) * count / shown - 1];
        uint32_t level = most > least
                             ? (uint32_t)((uint64_t)(value - least) * (LEVELS - 1) / (most - least))
                             : 0;
        if (screen->utf8) {
            memcpy(text + length, "\xe2\x96\x81", 3);
            text[length + 2] = (char)(text[length + 2] + (char)level);
            length += 3;
        } else {
            text[length++] = ascii[level];
        }
    }
    text[length] = '\0';
    return text;
}
