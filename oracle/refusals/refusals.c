#include "oracle/refusals/refusals.h"

#include "engine/base/invariant.h"
#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "oracle/drawn/drawn.h"
#include "oracle/refusals/limits.h"
#include "oracle/texts/texts.h"

#include <stdlib.h>
#include <string.h>

#define HOLE "<>"
enum { MARKS = DIAG_MAX, ASKED = 6 /* rows of a case */, LONG_NAMES_SHARE = 12 };

static const char alone[] = "alone: ";

const struct refusals *const refusals_tables[] = {&refusals_language,
                                                  &refusals_assumptions,
                                                  &refusals_ptx,
                                                  &refusals_settings,
                                                  &refusals_litmus,
                                                  &refusals_litmus_ptx,
                                                  &refusals_host,
                                                  &refusals_forms,
                                                  &refusals_largest,
                                                  &refusals_programs,
                                                  &refusals_largest_programs,
                                                  &refusals_emitted,
                                                  &refusals_requirements,
                                                  &refusals_places};
const uint32_t refusals_table_count = sizeof refusals_tables / sizeof *refusals_tables;

/* A text as it is read, and its marks. */
struct composed {
    struct text text;
    size_t marks[MARKS];
    uint32_t mark_count;
};

/* ---- a text ---- */

static void put_copy(struct composed *c, const char *from, const char *to, unsigned number)
{
    for (; from < to; from++)
        if (*from == '#')
            text_format(&c->text, "%u", number);
        else
            text_put_bytes(&c->text, from, 1);
}

/* `*65 (`; returns what stands behind it. */
static const char *put_copies(struct composed *c, const char *at)
{
    char *from;
    unsigned long count = strtoul(at, &from, 10);
    const char *to = strchr(++from, '`');
    for (unsigned i = 0; i < count; i++)
        put_copy(c, from, to, i);
    return to + 1;
}

static void put(struct composed *c, const char *at, const char *end)
{
    while (at < end) {
        if (*at != '`') {
            text_put_bytes(&c->text, at++, 1);
        } else if (at[1] == '*' && at[2] >= '0' && at[2] <= '9') {
            at = put_copies(c, at + 2);
        } else {
            INVARIANT(c->mark_count < MARKS);
            c->marks[c->mark_count++] = c->text.length;
            at++;
        }
    }
}

/* The frame of a row: the last above it. */
static const char *frame_of(const struct refusals *table, uint32_t row)
{
    while (table->rows[row].told && row > 0)
        row--;
    return table->rows[row].told ? HOLE : table->rows[row].broken;
}

static struct composed compose(struct arena *arena, const char *before, const char *frame,
                               const char *text)
{
    struct composed c = {.text = text_begin(arena)};
    const char *at = strstr(frame, HOLE);
    text_put(&c.text, before);
    put(&c, frame, at);
    put(&c, text, text + strlen(text));
    at += sizeof HOLE - 1;
    put(&c, at, at + strlen(at));
    return c;
}

/* ---- what is told ---- */

/* A line of `told`, in which lines of the text are `more` further down. */
static const char *message(struct arena *arena, const char *line, size_t length, uint32_t more)
{
    static const char before[] = " line ";
    struct text text = text_begin(arena);
    for (const char *at = line; at < line + length;) {
        const bool is_line = strncmp(at, before, sizeof before - 1) == 0;
        const char *number = at + sizeof before - 1;
        if (is_line && *number >= '0' && *number <= '9') {
            char *rest;
            text_format(&text, "%s%lu", before, strtoul(number, &rest, 10) + more);
            at = rest;
        } else {
            text_put_bytes(&text, at++, 1);
        }
    }
    return text.bytes;
}

/* Errors that have a place are told in the order of the text, but for settings: first those that are read wrongly. */
static const char *out_of_order(struct arena *arena, const struct refusals *table,
                                const struct diag *diag)
{
    for (uint32_t i = 1; i < diag->count && i < DIAG_MAX; i++) {
        const struct location a = diag->entries[i - 1].at, b = diag->entries[i].at;
        if (b.line > 0 && (a.line > b.line || (a.line == b.line && a.column > b.column)))
            return arena_printf(arena, "refused: %s, %u:%u is told of behind %u:%u", table->name,
                                (unsigned)b.line, (unsigned)b.column, (unsigned)a.line,
                                (unsigned)a.column);
    }
    return NULL;
}

/* The entry of an error at this place that says so. */
static bool is_told(const struct diag *diag, struct location at, const char *says)
{
    for (uint32_t i = 0; i < diag->count && i < DIAG_MAX; i++)
        if (diag->entries[i].at.line == at.line && diag->entries[i].at.column == at.column &&
            strcmp(diag->entries[i].text, says) == 0)
            return true;
    return false;
}

static const char *compare(struct arena *arena, const struct refusals *table,
                           const struct composed *c, const char *told, uint32_t more,
                           const struct diag *diag)
{
    static const char nowhere[] = "nowhere: ";
    uint32_t count = 0, mark = 0;
    for (const char *line = told; *line; count++) {
        size_t length = strcspn(line, "\n");
        bool placed = strncmp(line, nowhere, sizeof nowhere - 1) != 0;
        struct location at = {0, 0};
        if (placed) {
            INVARIANT(mark < c->mark_count);
            at = texts_place(c->text.bytes, c->marks[mark++]);
            at.column = table->lines_only ? 1 : at.column;
        }
        size_t skipped = placed ? 0 : sizeof nowhere - 1;
        const char *says = message(arena, line + skipped, length - skipped, more);
        if (!is_told(diag, at, says))
            return arena_printf(arena, "refused: %s, line %u:%u: '%s' is not told, but %u:%u: '%s'",
                                table->name, (unsigned)at.line, (unsigned)at.column, says,
                                (unsigned)diag->entries[0].at.line,
                                (unsigned)diag->entries[0].at.column, diag->entries[0].text);
        line += length + (line[length] == '\n');
    }
    if (count == diag->count)
        return table == &refusals_settings ? NULL : out_of_order(arena, table, diag);
    return arena_printf(arena, "refused: %s, %u errors are told, and %u are there", table->name,
                        (unsigned)diag->count, (unsigned)count);
}

/* ---- a row ---- */

static bool is_taken(struct arena *arena, const struct refusals *table, const struct composed *c,
                     struct diag *diag)
{
    diag_init(diag, "text", c->text.bytes, c->text.length);
    return table->read(arena, c->text.bytes, c->text.length, diag);
}

static uint32_t lines_in(const char *text)
{
    uint32_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* The broken text behind what is right, where that may stand twice: who looks only at the first takes it. NULL: it may
 * not. */
static const char *behind(struct arena *arena, const struct refusals *table,
                          const struct refusal *r, const char *frame, uint64_t draw)
{
    const bool listed = strstr(frame, HOLE ";") != NULL;
    const char *separator = listed ? "; " : draw % 2 ? " " : "\n";
    struct diag *diag = ARENA_NEW(arena, struct diag);
    if (!r->right || strchr(r->right, '`') || strncmp(r->told, alone, sizeof alone - 1) == 0)
        return NULL;
    struct composed twice =
        compose(arena, "", frame, arena_printf(arena, "%s%s%s", r->right, separator, r->right));
    return is_taken(arena, table, &twice, diag)
               ? arena_printf(arena, "%s%s%s", r->right, separator, r->broken)
               : NULL;
}

const char *const refusals_blanks[REFUSALS_BEFORES] = {"",       "\n",           "  ",
                                                       "\n\n\t", "// if (x {\n", " // end\n   "};

const char *refusals_ask(struct arena *arena, const struct refusals *table, uint32_t row,
                         uint64_t draw, const char **text)
{
    static const char *const in_c[REFUSALS_BEFORES] = {
        "", "\n", "  ", "/*\n\n*/\t", "// if (x {\n", " // end\n   "};
    const struct refusal *r = &table->rows[row];
    const char *const *befores = table->befores ? table->befores : in_c;
    const char *before = befores[draw % REFUSALS_BEFORES], *frame = frame_of(table, row);
    struct diag *diag = ARENA_NEW(arena, struct diag);
    if (!r->told)
        return NULL;
    if (r->right) {
        struct composed right = compose(arena, before, frame, r->right);
        *text = right.text.bytes;
        if (!is_taken(arena, table, &right, diag))
            return arena_printf(arena, "refused: %s, though nothing is wrong: %u:%u: '%s'",
                                table->name, (unsigned)diag->entries[0].at.line,
                                (unsigned)diag->entries[0].at.column, diag->entries[0].text);
    }
    const char *told = r->told + (strncmp(r->told, alone, sizeof alone - 1) ? 0 : sizeof alone - 1),
               *second = draw >> 32 & 1 ? behind(arena, table, r, frame, draw >> 33) : NULL;
    struct composed broken = compose(arena, before, frame, second ? second : r->broken);
    *text = broken.text.bytes;
    if (is_taken(arena, table, &broken, diag))
        return arena_printf(arena, "taken: %s, '%s' was to be told", table->name, told);
    return compare(arena, table, &broken, told,
                   lines_in(before) + (second ? lines_in(second) - lines_in(r->broken) : 0), diag);
}

void refusals_judge(struct checking *c)
{
    const uint64_t number = texts_number(c);
    struct pcg rng = pcg_derive(number, PCG_TRANSFORM, DRAWN_REFUSALS);
    const size_t mark = arena_mark(c->arena);
    uint32_t all = 0;
    const char *text, *differs = limits_ask(c->arena, number, &text);
    if (!differs && number / 67108864 % LONG_NAMES_SHARE == 0)
        differs = refusals_long_names(c->arena, c->kernel, number & 3, &text);
    if (differs) {
        texts_report(c, text, differs, true);
        return;
    }
    arena_release(c->arena, mark);
    for (uint32_t t = 0; t < refusals_table_count; t++)
        all += refusals_tables[t]->count;
    for (uint32_t i = 0; i < ASKED; i++) {
        uint32_t row = pcg_below(&rng, all), t = 0;
        const uint64_t draw = pcg_next(&rng);
        for (; row >= refusals_tables[t]->count; t++)
            row -= refusals_tables[t]->count;
        if (refusals_tables[t]->rare && draw / REFUSALS_BEFORES % refusals_tables[t]->rare)
            continue;
        differs = refusals_ask(c->arena, refusals_tables[t], row, draw, &text);
        if (differs) {
            texts_report(c, text, differs, true);
            return;
        }
        arena_release(c->arena, mark);
    }
}
