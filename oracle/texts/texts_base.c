/*
 * texts_base.c - what engine/base does for all others, by its headers: errors as they are told of a text that is drawn,
 * and objects of an arena, which lie beside each other, begin as zeros and stay as they are.
 */
#include "oracle/drawn/drawn.h"
#include "oracle/texts/texts.h"

#include <stdio.h>
#include <string.h>

enum { ERRORS = DIAG_MAX + 4, LINES = 5, QUOTED = 100, TOLD = 1 << 15, OBJECTS = 24 };

/* ---- errors ---- */

static void draw_source(struct drawn *d)
{
    static const char bytes[] = "abc {}=;\t\x01\x7f\xc3";
    for (uint32_t line = drawn_below(d, LINES); line > 0; line--) {
        for (uint32_t n = drawn_below(d, drawn_below(d, 3) ? 12 : 260); n > 0; n--)
            text_put_bytes(&d->text, &bytes[drawn_below(d, sizeof bytes - 1)], 1);
        if (line > 1 || drawn_below(d, 2))
            text_put(&d->text, "\n");
    }
}

/* Line number `line` of the text, from 1; NULL: it has none. */
static const char *line_of(const char *text, uint32_t line)
{
    for (; line > 1; line--) {
        const char *end = strchr(text, '\n');
        if (!end)
            return NULL;
        text = end + 1;
    }
    return line == 0 ? NULL : text;
}

/* The line, and a caret below its byte; of a long one what is around the caret. */
static void quote(struct drawn *d, struct location at)
{
    const char *line = line_of(d->text.bytes, at.line);
    if (!line || at.column == 0)
        return;
    const uint32_t length = (uint32_t)strcspn(line, "\n"), caret = at.column - 1,
                   from = caret > QUOTED / 2 ? caret - QUOTED / 2 : 0;
    text_put(&d->words, "    ");
    for (uint32_t i = from; i < length && i < from + QUOTED; i++) {
        const bool is_control = (line[i] >= 0 && line[i] < ' ') || line[i] == 0x7f;
        text_put_bytes(&d->words, line[i] == '\t' ? " " : is_control ? "?" : &line[i], 1);
    }
    text_put(&d->words, "\n    ");
    for (uint32_t i = from; i < caret; i++)
        text_put(&d->words, " ");
    text_put(&d->words, "^\n");
}

static void add_error(struct drawn *d, struct diag *diag, uint32_t number)
{
    const struct location at = {.line = drawn_below(d, LINES + 2),
                                .column = drawn_below(d, drawn_below(d, 3) ? 12 : 300)};
    char what[2 * DIAG_TEXT_MAX];
    const int padding = drawn_below(d, 8) ? 0 : (int)(DIAG_TEXT_MAX - 12 + drawn_below(d, 20));
    snprintf(what, sizeof what, "number %u%*s", (unsigned)number, padding, "x");
    diag_error(diag, at, "%s", what);
    if (number >= DIAG_MAX)
        return;
    what[DIAG_TEXT_MAX - 1] = '\0';
    if (at.line == 0)
        text_format(&d->words, "file: error: %s\n", what);
    else
        text_format(&d->words, "file:%u:%u: error: %s\n", (unsigned)at.line, (unsigned)at.column,
                    what);
    quote(d, at);
}

static const char *of_errors(struct drawn *d)
{
    struct diag *diag = ARENA_NEW(d->arena, struct diag);
    char *told = arena_alloc(d->arena, TOLD, 1);
    FILE *file = fmemopen(told, TOLD, "w");
    draw_source(d);
    diag_init(diag, "file", d->text.bytes, d->text.length);
    const uint32_t count = drawn_below(d, 3) ? drawn_below(d, 3) : drawn_below(d, ERRORS);
    for (uint32_t i = 0; i < count; i++)
        add_error(d, diag, i);
    if (count > DIAG_MAX)
        text_format(&d->words, "file: ... and %u more errors\n", (unsigned)(count - DIAG_MAX));
    if (!file)
        return NULL;
    diag_print(diag, file);
    fclose(file);
    if (diag->count != count)
        return "errors: another number of them";
    return drawn_differ(d->arena, "errors", told, d->words.bytes);
}

/* ---- arenas ---- */

struct object {
    unsigned char *at, filled;
    size_t bytes;
};

static bool is_whole(const struct object *o, size_t from, size_t to, unsigned char byte)
{
    for (size_t i = from; i < to; i++)
        if (o->at[i] != byte)
            return false;
    return true;
}

static size_t rounded(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

static void fill(struct object *o, uint32_t number)
{
    o->filled = (unsigned char)(number + 1);
    memset(o->at, o->filled, o->bytes);
}

/* A new object begins as zeros, or as what it copies; it lies on a multiple of 16, and takes no more than that. */
static const char *add_object(struct drawn *d, struct arena *arena, struct object *o)
{
    const size_t before = arena->used;
    const uint32_t kind = drawn_below(d, 3), count = 1 + drawn_below(d, 40),
                   size = 1 + drawn_below(d, 9);
    char copied[48];
    memset(copied, 'c', sizeof copied);
    o->bytes = kind == 1 ? count + 1 : kind == 2 ? size : count * size;
    o->at = kind == 0   ? arena_alloc(arena, count, size)
            : kind == 1 ? (unsigned char *)arena_strndup(arena, copied, count)
                        : (unsigned char *)arena_room(arena, size);
    if ((uintptr_t)o->at % 16 != 0 || arena->used != before + rounded(o->bytes))
        return "arena: an object lies elsewhere";
    if (kind == 0 && !is_whole(o, 0, o->bytes, 0))
        return "arena: an object does not begin as zeros";
    if (kind == 1 && (!is_whole(o, 0, count, 'c') || o->at[count] != 0))
        return "arena: a copy is another text";
    return NULL;
}

static const char *change_last(struct drawn *d, struct arena *arena, struct object *o)
{
    const size_t start = arena->used - rounded(o->bytes), more = 1 + drawn_below(d, 60),
                 kept = 1 + drawn_below(d, (uint32_t)o->bytes);
    if (drawn_below(d, 2)) {
        arena_trim(arena, o->at, o->bytes, kept);
        o->bytes = kept;
    } else if (o->bytes % 16 == 0) {
        if (!arena_extend(arena, o->at, o->bytes, more) ||
            !is_whole(o, o->bytes, o->bytes + more, 0))
            return "arena: the last object is not extended by zeros";
        o->bytes += more;
        memset(o->at, o->filled, o->bytes);
    }
    return arena->used == start + rounded(o->bytes) ? NULL : "arena: more is given back, or less";
}

static const char *of_arenas(struct drawn *d)
{
    struct arena *arena = d->arena;
    struct object *o = ARENA_ARRAY(arena, struct object, OBJECTS + 1);
    uint32_t count = 0;
    const char *why = NULL;
    for (uint32_t n = 0; n < OBJECTS && !why; n++) {
        const uint32_t kind = drawn_below(d, 6);
        if (kind == 0 && count > 1) { /* all from one of them on are released */
            const uint32_t from = 1 + drawn_below(d, count - 1);
            size_t bytes = 0;
            for (uint32_t i = from; i < count; i++)
                bytes += rounded(o[i].bytes);
            arena_release(arena, arena->used - bytes);
            count = from;
        } else if (kind == 1 && count > 0) {
            why = change_last(d, arena, &o[count - 1]);
        } else {
            why = add_object(d, arena, &o[count]);
            fill(&o[count++], n);
        }
        if (count > 1 && arena_extend(arena, o[count - 2].at, rounded(o[count - 2].bytes), 16))
            why = "arena: an object is extended that is not the last one";
    }
    for (uint32_t i = 0; i < count && !why; i++)
        if (!is_whole(&o[i], 0, o[i].bytes, o[i].filled))
            why = "arena: an object is written by another one";
    return why;
}

const char *texts_of_base(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_BASE);
    d.text = text_begin(arena);
    d.words = text_begin(arena);
    const char *differs = of_errors(&d);
    *text = d.text.bytes;
    return differs ? differs : of_arenas(&d);
}
