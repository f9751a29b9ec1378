/*
 * limits.c - the limits that somebody counts anew: of how much memory there is, of names, of tapes.
 */
#include "oracle/refusals/limits.h"

#include "engine/input/input.h"
#include "oracle/texts/texts.h"

#include <string.h>

const char *limits_is_taken(struct drawn *d, struct ast_kernel **kernel)
{
    const char *why;
    *kernel = drawn_read(d->arena, d->text.bytes, &why);
    if (!*kernel)
        return arena_printf(d->arena, "refused: %s, though it is no more than there may be", why);
    const char *text = print_kernel(d->arena, *kernel);
    const struct ast_kernel *again = drawn_read(d->arena, text, &why);
    if (!again)
        return arena_printf(d->arena, "refused: what is printed of it, %s", why);
    return strcmp(print_kernel(d->arena, again), text) == 0 ? NULL : "printed: another kernel";
}

const char *limits_is_refused(struct drawn *d, const char *says, size_t at)
{
    const struct location place = texts_place(d->text.bytes, at);
    struct diag *diag = ARENA_NEW(d->arena, struct diag);
    diag_init(diag, "text", d->text.bytes, d->text.length);
    if (parse_kernel(d->arena, d->text.bytes, d->text.length, diag))
        return arena_printf(d->arena, "taken: '%s' was to be told", says);
    if (diag->count == 1 && strcmp(diag->entries[0].text, says) == 0 &&
        diag->entries[0].at.line == place.line && diag->entries[0].at.column == place.column)
        return NULL;
    return arena_printf(d->arena, "refused: %u errors, %u:%u: '%s', not %u:%u: '%s'",
                        (unsigned)diag->count, (unsigned)diag->entries[0].at.line,
                        (unsigned)diag->entries[0].at.column, diag->entries[0].text,
                        (unsigned)place.line, (unsigned)place.column, says);
}

static const char *(*const kinds[])(struct drawn *) = {limits_nested_expression,
                                                       limits_nested_statement};

const char *limits_ask(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_LIMITS);
    const char *differs = kinds[drawn_below(&d, sizeof kinds / sizeof *kinds)](&d);
    *text = d.text.bytes;
    return differs;
}
