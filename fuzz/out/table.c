#include "fuzz/out/table.h"

#include "engine/base/invariant.h"

#include <inttypes.h>
#include <string.h>

void table_start(struct table *table, struct arena *arena, const char *const *titles,
                 const char *alignment)
{
    *table = (struct table){.arena = arena,
                            .titles = titles,
                            .alignment = alignment,
                            .columns = (uint32_t)strlen(alignment)};
    INVARIANT(table->columns <= TABLE_COLUMNS_MAX);
    table->last = &table->first;
}

struct table_row *table_add(struct table *table)
{
    struct table_row *row = ARENA_NEW(table->arena, struct table_row);
    *table->last = row;
    table->last = &row->next;
    return row;
}

/* Columns on the terminal: code points, as long as none is wide or combining. */
static size_t display_width(const char *text)
{
    size_t width = 0;
    for (; text && *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void pad(size_t count, FILE *out)
{
    for (; count > 0; count--)
        fputc(' ', out);
}

static void print_row(const struct table *table, const char *const *cells, const size_t *widths,
                      FILE *out)
{
    size_t owed = 0; /* spaces not yet printed, so that no line ends with any */
    bool first = true;
    for (uint32_t i = 0; i < table->columns; i++) {
        if (table->hidden & 1u << i)
            continue;
        size_t width = display_width(cells[i]);
        size_t space = widths[i] - width;
        bool right = table->alignment[i] == 'r';
        owed += first ? 0 : 2;
        first = false;
        if (right)
            owed += space;
        if (width > 0) {
            pad(owed, out);
            fputs(cells[i], out);
            owed = 0;
        }
        if (!right)
            owed += space;
    }
    fputc('\n', out);
}

static void measure(const struct table *table, size_t *widths)
{
    for (uint32_t i = 0; i < table->columns; i++) {
        widths[i] = table->titles ? display_width(table->titles[i]) : 0;
        for (const struct table_row *row = table->first; row; row = row->next) {
            size_t width = display_width(row->cells[i]);
            if (width > widths[i])
                widths[i] = width;
        }
    }
}

static size_t line_width(const struct table *table, const size_t *widths)
{
    size_t total = 0;
    for (uint32_t i = 0; i < table->columns; i++)
        if (!(table->hidden & 1u << i))
            total += widths[i] + (total > 0 ? 2 : 0);
    return total;
}

size_t table_width(const struct table *table)
{
    size_t widths[TABLE_COLUMNS_MAX];
    measure(table, widths);
    return line_width(table, widths);
}

/* The first `width` characters of a cell, the last an ellipsis. */
static const char *cut(struct arena *arena, const char *cell, size_t width)
{
    size_t bytes = 0;
    for (size_t seen = 0; cell[bytes]; bytes++) {
        seen += ((unsigned char)cell[bytes] & 0xc0) != 0x80;
        if (seen == width)
            break;
    }
    return arena_printf(arena, "%.*s\u2026", (int)bytes, cell);
}

void table_fit(struct table *table, size_t width, const uint8_t *least)
{
    size_t widths[TABLE_COLUMNS_MAX];
    measure(table, widths);
    while (line_width(table, widths) > width) {
        uint32_t longest = TABLE_COLUMNS_MAX;
        for (uint32_t i = 0; i < table->columns; i++)
            if (!(table->hidden & 1u << i) && least[i] > 0 && widths[i] > least[i] &&
                (longest == TABLE_COLUMNS_MAX || widths[i] > widths[longest]))
                longest = i;
        if (longest == TABLE_COLUMNS_MAX)
            break;
        widths[longest]--;
    }
    for (struct table_row *row = table->first; row; row = row->next)
        for (uint32_t i = 0; i < table->columns; i++)
            if (display_width(row->cells[i]) > widths[i])
                row->cells[i] = cut(table->arena, row->cells[i], widths[i]);
}

void table_print(const struct table *table, FILE *out)
{
    size_t widths[TABLE_COLUMNS_MAX];
    measure(table, widths);
    if (table->titles)
        print_row(table, table->titles, widths, out);
    for (const struct table_row *row = table->first; row; row = row->next)
        print_row(table, row->cells, widths, out);
}

const char *table_grouped(struct arena *arena, uint64_t number)
{
    const char *text = arena_printf(arena, "%" PRIu64, number);
    size_t length = strlen(text);
    char *out = ARENA_ARRAY(arena, char, length + length / 3 + 1);
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = text[i];
    }
    return out;
}
