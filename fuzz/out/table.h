/*
 * table.h - aligned columns of text, as traces and summaries print them.
 */
#ifndef FUZZ_TABLE_H
#define FUZZ_TABLE_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { TABLE_COLUMNS_MAX = 12 };

struct table_row {
    const char *cells[TABLE_COLUMNS_MAX]; /* NULL = empty */
    struct table_row *next;
};

struct table {
    struct arena *arena; /* rows live here; cells must live as long */
    const char *const *titles;
    const char *alignment; /* a letter a column: 'l', 'r' */
    uint32_t columns;
    uint32_t hidden; /* bits: columns that are not printed */
    struct table_row *first, **last;
};

/* `alignment` has one letter a column, which also gives their number. */
void table_start(struct table *table, struct arena *arena, const char *const *titles,
                 const char *alignment);
/* A new row of empty cells at the end. */
struct table_row *table_add(struct table *table);
/* Titles, then rows; columns as wide as their widest cell, two spaces between, no trailing spaces. */
void table_print(const struct table *table, FILE *out);

/* Characters of its longest line. */
size_t table_width(const struct table *table);
/* Cuts cells until no line is longer than `width`, the longest columns first, none below least[column] characters (0:
 * it is never cut). What is cut ends with an ellipsis. */
void table_fit(struct table *table, size_t width, const uint8_t *least);

/* "1,234,567", in the arena. */
const char *table_grouped(struct arena *arena, uint64_t number);

#endif
