#include "tests/mutation/auto/mutate.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void edit_add(struct edits *edits, uint32_t offset, uint32_t length, enum edit_rank rank,
              uint32_t order, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (edits->off)
        return;
    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (edits->count == edits->capacity) {
        edits->capacity = edits->capacity ? 2 * edits->capacity : 1024;
        edits->items = realloc(edits->items, edits->capacity * sizeof *edits->items);
    }
    char *copy = size >= 0 && size < (int)sizeof text ? strdup(text) : NULL;
    if (!copy || !edits->items) {
        fprintf(stderr, "mutate: no room for an edit\n");
        exit(3);
    }
    edits->items[edits->count++] = (struct edit){offset, length, rank, order, copy};
}

/* Points nest: of those that start at one place the outermost comes first, of those that end the innermost. */
static int compare(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->order == y->order)
        return 0;
    return (x->order < y->order) == (x->rank == EDIT_OPEN) ? -1 : 1;
}

void edit_write(struct edits *edits, const char *text, size_t length, FILE *out)
{
    size_t at = 0;
    qsort(edits->items, edits->count, sizeof *edits->items, compare);
    for (uint32_t i = 0; i < edits->count; i++) {
        const struct edit *e = &edits->items[i];
        if (e->offset > at) {
            fwrite(text + at, 1, e->offset - at, out);
            at = e->offset;
        }
        fputs(e->text, out);
        at += e->length;
    }
    fwrite(text + at, 1, length - at, out);
}

void edit_clear(struct edits *edits)
{
    for (uint32_t i = 0; i < edits->count; i++)
        free(edits->items[i].text);
    edits->count = 0;
}
