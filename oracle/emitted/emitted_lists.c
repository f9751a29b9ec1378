/*
 * emitted_lists.c - lists as they are written on command lines and in the database: of steps of transformations
 * (docs/metamorphic.md), and of the knobs of emitted texts (docs/outside.md).
 */
#include "engine/emit/emit.h"
#include "engine/rewrite/transform.h"
#include "oracle/drawn/drawn.h"
#include "oracle/emitted/emitted.h"

#include <inttypes.h>
#include <string.h>

enum { STEPS_MOST = TRANSFORM_STEPS_MAX + 1, BROKENS = 6 };

struct list {
    struct drawn *d;
    uint32_t count, starts[STEPS_MOST]; /* of items, in the text */
    uint32_t ids[STEPS_MOST], numbers[STEPS_MOST];
    uint32_t broken; /* this item is no step; `count`: none is */
};

/* What no step is: another name, no number, one that is too large or none, a name that ends early, nothing. */
static void put_broken(struct list *l, const char *name)
{
    switch (drawn_below(l->d, BROKENS)) {
    case 0:
        text_format(&l->d->text, "%sx:1", name);
        break;
    case 1:
        text_format(&l->d->text, "%s:", name);
        break;
    case 2:
        text_format(&l->d->text, "%s:4294967296", name);
        break;
    case 3:
        text_format(&l->d->text, "%s:1x", name);
        break;
    case 4:
        text_format(&l->d->text, "%.*s:2", (int)strlen(name) - 1, name);
        break;
    default:
        break;
    }
}

static void draw_steps(struct list *l)
{
    l->count = 1 + drawn_below(l->d, STEPS_MOST);
    l->broken = drawn_once_in(l->d, 2) ? l->count : drawn_below(l->d, l->count);
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t id = drawn_below(l->d, TRANSFORM_COUNT), any = pcg_next(&l->d->rng),
                       number = any % 3 ? any / 3 % 12 : any;
        const bool says = drawn_below(l->d, 4) > 0;
        text_put(&l->d->text, i ? "," : "");
        l->starts[i] = (uint32_t)l->d->text.length;
        l->ids[i] = id;
        l->numbers[i] = says ? number : 0;
        if (i == l->broken)
            put_broken(l, transform_table[id].name);
        else if (says)
            text_format(&l->d->text, "%s:%" PRIu32, transform_table[id].name, number);
        else
            text_put(&l->d->text, transform_table[id].name);
    }
    if (l->broken == l->count && l->count > TRANSFORM_STEPS_MAX)
        l->broken = TRANSFORM_STEPS_MAX;
}

static const char *steps(struct drawn *d)
{
    struct list l = {.d = d};
    struct transform_list is, again;
    const char *at;
    draw_steps(&l);
    const char *text = d->text.bytes;
    const bool is_taken = transform_parse_list(text, &is, &at);
    if (is_taken != (l.broken == l.count))
        return is_taken ? "lists: steps are taken" : "lists: steps are refused";
    if (!is_taken)
        return at == text + l.starts[l.broken] ? NULL : "lists: another step is refused";
    if (is.count != l.count || is.broken)
        return "lists: another number of steps";
    for (uint32_t i = 0; i < l.count; i++)
        if (is.steps[i].id != (enum transform_id)l.ids[i] || is.steps[i].number != l.numbers[i])
            return arena_printf(d->arena, "lists: step %u is another", (unsigned)i);
    return transform_parse_list(transform_print_list(d->arena, &is), &again, &at) &&
                   again.count == is.count &&
                   memcmp(again.steps, is.steps, is.count * sizeof *is.steps) == 0
               ? NULL
               : "lists: steps are printed as others";
}

static const char *knobs(struct drawn *d)
{
    uint32_t meant = 0, is, again, count = drawn_below(d, 5),
             broken = drawn_below(d, 2 * count + 1);
    uint32_t start = 0;
    const char *at;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t knob = drawn_below(d, EMIT_KNOB_COUNT);
        const char *name = emit_knob_names[knob];
        text_put(&d->text, i ? "," : "");
        if (i == broken)
            start = (uint32_t)d->text.length;
        else
            meant |= 1u << knob;
        const bool cut = i == broken && drawn_once_in(d, 2);
        text_put_bytes(&d->text, name, strlen(name) - cut);
        text_put(&d->text, i == broken && !cut ? "s" : "");
    }
    text_put(&d->text, count == 0 ? "none" : "");
    const bool is_taken = emit_parse_knobs(d->text.bytes, &is, &at);
    if (is_taken != (broken >= count))
        return is_taken ? "lists: knobs are taken" : "lists: knobs are refused";
    if (!is_taken)
        return at == d->text.bytes + start ? NULL : "lists: another knob is refused";
    if (is != meant)
        return "lists: other knobs";
    return emit_parse_knobs(emit_print_knobs(d->arena, is), &again, &at) && again == is
               ? NULL
               : "lists: knobs are printed as others";
}

/* Each language by its name, and no other name. */
static const char *languages(struct drawn *d)
{
    const enum emit_language meant = (enum emit_language)drawn_below(d, EMIT_LANGUAGE_COUNT);
    enum emit_language is;
    text_put(&d->text, emit_language_names[meant]);
    if (!emit_find_language(d->text.bytes, &is) || is != meant)
        return "lists: a language is another";
    text_put(&d->text, "s");
    return emit_find_language(d->text.bytes, &is) ? "lists: a language is taken" : NULL;
}

const char *emitted_lists(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_LISTS);
    const char *differs = number % 4 ? steps(&d) : number % 16 ? knobs(&d) : languages(&d);
    *text = d.text.bytes;
    return differs;
}
