/*
 * litmus_condition.c - the text of a condition: exists, ~exists or forall, and what an outcome must be.
 *
 *     either := all { \/ all }      all := one { /\ one }      one := ~ one | ( either ) | true | item == item
 *
 * `not`, `and` and `or` stand in the terms behind what they combine. Each register and word that is named is observed.
 */
#include "engine/litmus/litmus_ptx.h"

#include <ctype.h>
#include <string.h>

enum { NAME = 32, DEPTH = 16 };

static bool either(struct litmus_ptx *p, uint32_t depth);

static bool add_term(struct litmus_ptx *p, struct litmus_term term)
{
    struct litmus_condition *c = &p->test->condition;
    if (c->count == LITMUS_TERMS)
        return PTX_FAIL(p, "a condition has at most %d parts", LITMUS_TERMS);
    c->terms[c->count++] = term;
    return true;
}

static bool take_text(struct litmus_ptx *p, const char *text)
{
    litmus_ptx_skip(p);
    if (strncmp(p->at, text, strlen(text)) != 0)
        return false;
    p->at += strlen(text);
    return true;
}

static bool observe(struct litmus_ptx *p, struct litmus_observed o, uint8_t *place)
{
    struct litmus_test *test = p->test;
    for (uint32_t i = 0; i < test->observed; i++)
        if (test->observe[i].is_register == o.is_register && test->observe[i].thread == o.thread &&
            test->observe[i].number == o.number) {
            *place = (uint8_t)i;
            return true;
        }
    if (test->observed == LITMUS_OBSERVED)
        return PTX_FAIL(p, "a condition names at most %d registers and words", LITMUS_OBSERVED);
    *place = test->observed;
    test->observe[test->observed++] = o;
    return true;
}

static bool take_register(struct litmus_ptx *p, const char *thread, const char *name,
                          uint8_t *place)
{
    int16_t number;
    if (!litmus_ptx_number(thread + (*thread == 'P'), &number) || number < 0 ||
        number >= p->test->count)
        return PTX_FAIL(p, "there is no thread `%s`", thread);
    int reg = litmus_ptx_register(&p->test->threads[number], name, false);
    if (reg < 0)
        return PTX_FAIL(p, "P%d has no register `%s`", number, name);
    return observe(p, (struct litmus_observed){true, (uint8_t)number, (uint8_t)reg}, place);
}

static bool take_word(struct litmus_ptx *p, const char *name, uint8_t *place)
{
    for (uint32_t i = 0; i < p->words; i++)
        if (!strcmp(p->test->words[i], name))
            return observe(p, (struct litmus_observed){false, 0, (uint8_t)i}, place);
    return PTX_FAIL(p, "the test has no word `%s`", name);
}

/* P0:r1, x, [x], or a number where `value` is not NULL. */
static bool item(struct litmus_ptx *p, uint8_t *place, bool *is_value, int16_t *value)
{
    char name[NAME], reg[NAME];
    bool bracket = take_text(p, "[");
    litmus_ptx_name(p, name, sizeof name);
    if (bracket && !take_text(p, "]"))
        return PTX_FAIL(p, "a bracket is missing behind `%s`", name);
    if (take_text(p, ":")) {
        litmus_ptx_name(p, reg, sizeof reg);
        return take_register(p, name, reg, place);
    }
    if (value && litmus_ptx_number(name, value)) {
        *is_value = true;
        return true;
    }
    return take_word(p, name, place);
}

static bool comparison(struct litmus_ptx *p)
{
    struct litmus_term term = {.kind = TERM_EQUAL};
    if (take_text(p, "true"))
        return add_term(p, (struct litmus_term){.kind = TERM_TRUE});
    if (!item(p, &term.left, NULL, NULL))
        return false;
    if (take_text(p, "!="))
        term.kind = TERM_DIFFERENT;
    else if (!take_text(p, "==") && !take_text(p, "="))
        return PTX_FAIL(p, "== or != is expected in the condition");
    return item(p, &term.right, &term.is_value, &term.value) && add_term(p, term);
}

static bool one(struct litmus_ptx *p, uint32_t depth)
{
    if (depth == DEPTH)
        return PTX_FAIL(p, "the condition is nested too deeply");
    if (take_text(p, "~") || take_text(p, "not "))
        return one(p, depth + 1) && add_term(p, (struct litmus_term){.kind = TERM_NOT});
    if (!take_text(p, "("))
        return comparison(p);
    return either(p, depth + 1) &&
           (take_text(p, ")") || PTX_FAIL(p, "a parenthesis is missing in the condition"));
}

static bool all(struct litmus_ptx *p, uint32_t depth)
{
    if (!one(p, depth))
        return false;
    while (take_text(p, "/\\"))
        if (!one(p, depth) || !add_term(p, (struct litmus_term){.kind = TERM_AND}))
            return false;
    return true;
}

static bool either(struct litmus_ptx *p, uint32_t depth)
{
    if (!all(p, depth))
        return false;
    while (take_text(p, "\\/"))
        if (!all(p, depth) || !add_term(p, (struct litmus_term){.kind = TERM_OR}))
            return false;
    return true;
}

bool litmus_ptx_condition(struct litmus_ptx *p)
{
    struct litmus_condition *c = &p->test->condition;
    if (take_text(p, "exists"))
        c->asks = ASKS_EXISTS;
    else if (take_text(p, "~exists") || take_text(p, "~ exists"))
        c->asks = ASKS_NEVER;
    else if (take_text(p, "forall"))
        c->asks = ASKS_FORALL;
    else
        return PTX_FAIL(p, "exists, ~exists or forall is expected here");
    if (!either(p, 0))
        return false;
    if (litmus_ptx_skip(p))
        return PTX_FAIL(p, "the test ends with its condition; something stands behind it");
    return p->test->observed || PTX_FAIL(p, "the condition names no register and no word");
}
