/*
 * litmus_sets.c - what a litmus test may state of its outcomes (docs/memory.md: `sc`, `more`), written of sets that are
 * known, and lists that say one outcome too many or too few: engine/litmus/litmus_outcome.c must take the ones and not
 * the others.
 */
#include "engine/base/text.h"
#include "fuzz/laws/litmus_words.h"

#include <string.h>

static bool in(const struct litmus_result *set, const int16_t *values, uint32_t observed)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (memcmp(set->values[i], values, observed * sizeof *values) == 0)
            return true;
    return false;
}

static void put_outcome(struct text *out, const int16_t *values, uint32_t observed)
{
    if (out->length > 0)
        text_put(out, " ");
    for (uint32_t i = 0; i < observed; i++)
        if (values[i] < 0 || values[i] > 9)
            text_format(out, "(%d)", (int)values[i]);
        else
            text_format(out, "%c", (char)('0' + values[i]));
}

/* Those that `lacking` (NULL: no set) has not, from number `first` on; the last first, as no list is in order. */
static const char *list_of(struct arena *arena, const struct litmus_result *set,
                           const struct litmus_result *lacking, uint32_t first, uint32_t observed)
{
    struct text out = text_begin(arena);
    for (uint32_t i = set->count; i-- > 0;)
        if (lacking && in(lacking, set->values[i], observed))
            continue;
        else if (first > 0)
            first--;
        else
            put_outcome(&out, set->values[i], observed);
    return out.bytes;
}

static bool is_expected(struct litmus_test *test, const char *of_sc, const char *more,
                        const struct litmus_result *sc, const struct litmus_result *model)
{
    test->sc = of_sc;
    test->more = more;
    return litmus_expected(test, sc, model);
}

static bool is_weak(struct litmus_test *test, const char *more, const struct litmus_result *sc,
                    const struct litmus_result *model)
{
    test->more = more;
    return litmus_weak(test, sc, model);
}

bool litmus_sets_state_themselves(struct arena *arena, const struct litmus_test *given,
                                  const struct litmus_result *sc, const struct litmus_result *model)
{
    static const char strange[] = "(77)(-8)";
    struct litmus_test *test = ARENA_NEW(arena, struct litmus_test);
    const uint32_t n = given->observed;
    const char *of_sc = list_of(arena, sc, NULL, 0, n), *more = list_of(arena, model, sc, 0, n);
    const char *count = arena_printf(arena, "count %u", (unsigned)sc->count);
    const char *other = arena_printf(arena, "count %u", (unsigned)sc->count + 1);
    bool within = true, wider = false;
    *test = *given;
    for (uint32_t i = 0; i < sc->count; i++)
        within &= in(model, sc->values[i], n);
    for (uint32_t i = 0; i < model->count; i++)
        wider |= !in(sc, model->values[i], n);
    bool right = is_expected(test, of_sc, more, sc, model) == within &&
                 is_expected(test, count, more, sc, model) == within &&
                 is_expected(test, NULL, more, sc, model) == within;
    right &= !is_expected(test, other, more, sc, model) &&
             !is_expected(test, list_of(arena, sc, NULL, 1, n), more, sc, model) &&
             !is_expected(test, arena_printf(arena, "%s %s", of_sc, strange), more, sc, model) &&
             !is_expected(test, of_sc, arena_printf(arena, "%s %s", strange, more), sc, model);
    if (wider)
        right &= !is_expected(test, of_sc, list_of(arena, model, sc, 1, n), sc, model) &&
                 is_weak(test, more, sc, model);
    return right && is_weak(test, NULL, sc, model) == wider &&
           is_weak(test, "", sc, model) == wider && !is_weak(test, strange, sc, model);
}
