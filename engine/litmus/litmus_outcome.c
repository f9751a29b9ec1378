/*
 * litmus_outcome.c - sets of outcomes, conditions on them, and the sets that a text states.
 */
#include "engine/base/text.h"
#include "engine/litmus/litmus.h"

#include <stdlib.h>
#include <string.h>

const char *const litmus_model_names[LITMUS_MODELS] = {"sc",       "printed", "llh",  "coherent",
                                                       "asplos15", "ptx60",   "ptx75"};

enum litmus_model litmus_model_named(const char *name)
{
    uint32_t m = 0;
    while (m < LITMUS_MODELS && strcmp(name, litmus_model_names[m]) != 0)
        m++;
    return (enum litmus_model)m;
}

/* One digit a value that is below ten; longer ones in parentheses. */
static char *outcome(struct arena *arena, const struct litmus_test *test, const int16_t *values)
{
    struct text text = text_begin(arena);
    for (uint32_t i = 0; i < test->observed; i++)
        text_format(&text, values[i] >= 0 && values[i] < 10 ? "%d" : "(%d)", values[i]);
    return text.bytes;
}

/* The place of an outcome in the set, or where it belongs. */
static uint32_t place_of(const struct litmus_result *r, const char *made)
{
    uint32_t low = 0, high = r->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (strcmp(r->outcomes[middle], made) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool known(const struct litmus_result *r, const int16_t *values)
{
    for (uint32_t i = r->count; i-- > 0;)
        if (!memcmp(r->values[i], values, sizeof r->values[i]))
            return true;
    return false;
}

void litmus_add_outcome(struct arena *arena, const struct litmus_test *test,
                        struct litmus_result *r, const int16_t *values)
{
    if (known(r, values))
        return;
    char *made = outcome(arena, test, values);
    uint32_t at = place_of(r, made);
    char **texts = arena_alloc(arena, r->count + 1, sizeof *texts);
    int16_t(*all)[LITMUS_OBSERVED] = arena_alloc(arena, r->count + 1, sizeof *all);
    for (uint32_t i = 0; i <= r->count; i++) {
        texts[i] = i < at ? r->outcomes[i] : i == at ? made : r->outcomes[i - 1];
        memcpy(all[i], i < at ? r->values[i] : i == at ? values : r->values[i - 1], sizeof all[i]);
    }
    r->outcomes = texts;
    r->values = all;
    r->count++;
}

static bool compares(const struct litmus_term *term, const int16_t *values)
{
    int16_t right = term->is_value ? term->value : values[term->right];
    return (values[term->left] == right) == (term->kind == TERM_EQUAL);
}

static bool true_of(const struct litmus_condition *c, const int16_t *values)
{
    bool stack[LITMUS_TERMS + 1] = {false};
    uint32_t depth = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        enum litmus_term_kind kind = c->terms[i].kind;
        if (kind == TERM_NOT) {
            stack[depth - 1] = !stack[depth - 1];
        } else if (kind == TERM_AND || kind == TERM_OR) {
            depth--;
            bool left = stack[depth - 1], right = stack[depth];
            stack[depth - 1] = kind == TERM_AND ? left && right : left || right;
        } else {
            stack[depth++] = kind == TERM_TRUE || compares(&c->terms[i], values);
        }
    }
    return stack[0];
}

bool litmus_holds(const struct litmus_test *test, const struct litmus_result *result)
{
    const struct litmus_condition *c = &test->condition;
    uint32_t count = 0;
    for (uint32_t i = 0; i < result->count; i++)
        count += true_of(c, result->values[i]);
    if (c->asks == ASKS_FORALL)
        return count == result->count;
    return (count > 0) == (c->asks == ASKS_EXISTS);
}

static uint32_t words_in(const char *text)
{
    uint32_t count = 0;
    for (const char *p = text; *p; p++)
        count += *p != ' ' && (p == text || p[-1] == ' ');
    return count;
}

static bool among(const char *outcome, const char *list)
{
    size_t length = strlen(outcome);
    for (const char *p = list; (p = strstr(p, outcome)); p++)
        if ((p == list || p[-1] == ' ') && (p[length] == ' ' || !p[length]))
            return true;
    return false;
}

static bool has(const struct litmus_result *set, const char *outcome)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (!strcmp(set->outcomes[i], outcome))
            return true;
    return false;
}

static bool sc_expected(const char *list, const struct litmus_result *sc)
{
    if (!strncmp(list, "count ", 6))
        return strtoul(list + 6, NULL, 10) == sc->count;
    for (uint32_t i = 0; i < sc->count; i++)
        if (!among(sc->outcomes[i], list))
            return false;
    return words_in(list) == sc->count;
}

bool litmus_weak(const struct litmus_test *test, const struct litmus_result *sc,
                 const struct litmus_result *model)
{
    const char *more = test->more ? test->more : "";
    for (uint32_t i = 0; i < model->count; i++)
        if (*more ? among(model->outcomes[i], more) : !has(sc, model->outcomes[i]))
            return true;
    return false;
}

bool litmus_expected(const struct litmus_test *test, const struct litmus_result *sc,
                     const struct litmus_result *model)
{
    const char *more = test->more ? test->more : "";
    uint32_t extra = 0;
    if (test->sc && !sc_expected(test->sc, sc))
        return false;
    for (uint32_t i = 0; i < sc->count; i++)
        if (!has(model, sc->outcomes[i]))
            return false;
    for (uint32_t i = 0; i < model->count; i++)
        if (!has(sc, model->outcomes[i])) {
            extra++;
            if (!among(model->outcomes[i], more))
                return false;
        }
    return extra == words_in(more) && !sc->dead && !model->dead;
}
