/*
 * ref_explain.c - what stands against a candidate, by the definitions: a circle whose steps are in the relations that
 * they name, and which is one of those that the axiom forbids.
 */
#include "engine/reference_axiom/ref_axiom.h"

#include <string.h>

/* Steps, of which each begins where the one before ends. */
struct steps {
    const struct ref_candidate *c;
    enum ref_axioms axioms;
    const struct ref_step *of;
    uint32_t count;
};

static bool named(const struct ref_step *step, const char *name)
{
    return strcmp(step->name, name) == 0;
}

static bool named_one_of(const struct steps *s, uint32_t i, const char *list)
{
    const char *at = strstr(list, s->of[i].name);
    size_t length = strlen(s->of[i].name);
    return at && (at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0);
}

static bool all_named(const struct steps *s, const char *list)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!named_one_of(s, i, list))
            return false;
    return true;
}

static bool is_circle(const struct steps *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->of[i].to != s->of[(i + 1) % s->count].from)
            return false;
    return s->count > 0;
}

static bool related(const struct steps *s, uint32_t i)
{
    return ref_axiom_related(s->c, s->axioms, s->of[i].name, s->of[i].from, s->of[i].to);
}

static bool all_related(const struct steps *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!related(s, i))
            return false;
    return true;
}

static bool overlap(const struct ref_candidate *c, uint32_t a, uint32_t b)
{
    const struct ref_operation *x = &c->of[a], *y = &c->of[b];
    return (x->kind == REF_READ || x->kind == REF_WRITE) &&
           (y->kind == REF_READ || y->kind == REF_WRITE) && x->word == y->word;
}

/* From a step on: base causality order, which is program order alone since 7.5 only. */
static bool is_base(const struct steps *s, uint32_t from)
{
    bool synchronizes = s->axioms == REF_PTX75;
    for (uint32_t i = from; i < s->count; i++) {
        if (!named_one_of(s, i, "po sync bar sc"))
            return false;
        synchronizes |= !named(&s->of[i], "po");
    }
    return from < s->count && synchronizes;
}

/* From a step on: causality order, perhaps behind observation order; of 7.5, and of program order, of what overlaps. */
static bool is_causality(const struct steps *s, uint32_t from)
{
    bool observed = from < s->count && named(&s->of[from], "obs");
    uint32_t base = from + observed;
    if (base >= s->count)
        return false;
    bool ends_overlap = overlap(s->c, s->of[base].from, s->of[s->count - 1].to);
    if (s->axioms == REF_PTX75)
        return is_base(s, base) && ends_overlap;
    return is_base(s, base) ||
           (observed && base + 1 == s->count && named(&s->of[base], "po") && ends_overlap);
}

static bool within_a_scope(const struct steps *s)
{
    for (uint32_t scope = SCOPE_CTA; scope <= SCOPE_SYS; scope++) {
        bool all = true;
        for (uint32_t i = 0; i < s->count; i++)
            all &= ref_axiom_in_scope(s->c, (enum litmus_scope)scope, s->of[i].name, s->of[i].from,
                                      s->of[i].to);
        if (all)
            return true;
    }
    return false;
}

/* Each step counts for the axiom about one word (ref_axiom_per_location). */
static bool each_per_location(const struct steps *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!ref_axiom_per_location(s->c, s->axioms, s->of[i].from, s->of[i].to))
            return false;
    return all_named(s, "rf co fr po") && all_related(s);
}

static bool is_atomicity(const struct steps *s)
{
    if (s->count != 3 || !named(&s->of[0], "fr") || !named(&s->of[1], "co") ||
        !named(&s->of[2], "rmw") || !all_related(s))
        return false;
    return !ref_axiom_is_ptx(s->axioms) ||
           (ref_axiom_per_location(s->c, s->axioms, s->of[0].from, s->of[0].to) &&
            ref_axiom_per_location(s->c, s->axioms, s->of[1].from, s->of[1].to));
}

bool ref_axiom_breaks(const struct ref_candidate *c, enum ref_axioms axioms, const char *axiom,
                      const struct ref_step *of, uint32_t count)
{
    const struct steps s = {c, axioms, of, count};
    bool ptx = ref_axiom_is_ptx(axioms);
    if (!is_circle(&s))
        return false;
    if (strcmp(axiom, "No thin air") == 0)
        return all_named(&s, "rf dep") && all_related(&s);
    if (strcmp(axiom, "Atomicity") == 0)
        return is_atomicity(&s);
    if (axioms == REF_SC)
        return strcmp(axiom, "Sequential consistency") == 0 && all_named(&s, "rf co fr po") &&
               all_related(&s);
    if (strcmp(axiom, "SC per location") == 0)
        return each_per_location(&s);
    if (strcmp(axiom, "Scoped order") == 0)
        return !ptx && all_named(&s, "rf co fr dep fence") && within_a_scope(&s);
    if (!ptx || !all_related(&s))
        return false;
    if (strcmp(axiom, "Fence-SC") == 0)
        return named(&of[0], "sc") && is_base(&s, 1);
    if (strcmp(axiom, "Coherence") == 0)
        return named(&of[0], "co") && is_causality(&s, 1);
    return strcmp(axiom, "Causality") == 0 && named_one_of(&s, 0, "rf fr") && is_causality(&s, 1);
}
