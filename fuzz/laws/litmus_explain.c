#include "fuzz/laws/litmus_explain.h"

#include <string.h>

static struct ref_operation operation_of(const struct axiom_execution *x, uint32_t i)
{
    static const uint8_t kinds[] = {[EVENT_READ] = REF_READ,
                                    [EVENT_WRITE] = REF_WRITE,
                                    [EVENT_FENCE] = REF_FENCE,
                                    [EVENT_BARRIER] = REF_BARRIER};
    const struct axiom_event *e = &x->events[i];
    return (struct ref_operation){.kind = kinds[e->kind],
                                  .order = e->order,
                                  .scope = e->scope,
                                  .text = &x->test->threads[e->thread].code[e->pc],
                                  .thread = e->thread,
                                  .word = e->word,
                                  .source = x->from[i] == AXIOM_NONE ? REF_FIRST : x->from[i],
                                  .other = e->partner == AXIOM_NONE ? REF_FIRST : e->partner,
                                  .turn = x->turn[i],
                                  .known = true,
                                  .value = e->value};
}

/* What the execution is, and nothing that follows from it. False: it is none of the test. */
static bool candidate_of(const struct axiom_execution *x, enum ref_axioms axioms,
                         struct ref_candidate *c)
{
    memset(c, 0, sizeof *c);
    c->test = x->test;
    c->count = x->count;
    memcpy(c->registers, x->regs, sizeof c->registers);
    for (uint32_t a = 0; a < c->count; a++)
        c->of[a] = operation_of(x, a);
    for (uint32_t a = 0; a < c->count; a++)
        for (uint32_t b = 0; b < c->count; b++) {
            c->fence_sc[a][b] = related(&x->sc, a, b);
            c->coherence[a][b] = related(&x->co, a, b);
        }
    if (!ref_axiom_is_execution(c))
        return false;
    ref_axiom_causality(c, axioms);
    return true;
}

/* ---- relations: each pair of each, by the two accounts ---- */

/* Those that stand before anything is ordered, and those that causality is made of (of PTX). */
enum { BEFORE_ORDER = 4, RELATIONS = 8 };

static bool are_related(const struct axiom_execution *x, enum ref_axioms axioms, uint32_t relation,
                        uint32_t a, uint32_t b)
{
    const struct axiom_event *e = &x->events[a];
    const struct relation *const of[RELATIONS] = {axioms == REF_SC ? &x->order : &x->po,
                                                  &x->rf,
                                                  NULL,
                                                  NULL,
                                                  &x->observed,
                                                  &x->sc,
                                                  &x->barriers,
                                                  &x->sync};
    if (relation == 2)
        return x->events[b].needs >> a & 1;
    if (relation == 3) /* from the write to its read */
        return e->kind == EVENT_WRITE && e->partner == b && related(&x->rmw, b, a);
    return related(of[relation], a, b);
}

static const char *const relations[RELATIONS] = {"po",  "rf", "dep", "rmw",
                                                 "obs", "sc", "bar", "sync"};

static bool same_relations(const struct axiom_execution *x, enum ref_axioms axioms,
                           const struct ref_candidate *c, bool is_ordered)
{
    const bool ptx = ref_axiom_is_ptx(axioms) && is_ordered;
    for (uint32_t a = 0; a < c->count; a++)
        for (uint32_t b = 0; b < c->count; b++) {
            /* In sequence the first one is an order, too. */
            for (uint32_t i = axioms == REF_SC && !is_ordered; i < (ptx ? RELATIONS : BEFORE_ORDER);
                 i++)
                if (are_related(x, axioms, i, a, b) !=
                    ref_axiom_related(c, axioms, relations[i], a, b))
                    return false;
            if (is_ordered && related(&x->fr, a, b) != ref_axiom_related(c, axioms, "fr", a, b))
                return false;
            if (ptx && (related(&x->base, a, b) != c->base[a][b] ||
                        related(&x->cause, a, b) != c->causality[a][b]))
                return false;
        }
    return true;
}

/* Writes have no order that goes round, and those that the model orders have one. */
static bool is_coherent(const struct ref_candidate *c, enum ref_axioms axioms)
{
    ref_pairs order;
    memcpy(order, c->coherence, sizeof order);
    for (uint32_t a = 0; a < c->count; a++)
        for (uint32_t b = 0; b < a; b++)
            if (ref_axiom_ordered(c, axioms, a, b) && !order[a][b] && !order[b][a])
                return false;
    return ref_axiom_acyclic(c->count, order);
}

/* Whether the second account says of an execution what the first one does. `is_ordered`: it is no value's own cause,
 * so that more was looked at. */
static bool is_judged_so(const struct axiom_execution *x, enum ref_axioms axioms, bool is_ordered,
                         bool allowed, struct ref_candidate *c)
{
    return candidate_of(x, axioms, c) && same_relations(x, axioms, c, is_ordered) &&
           (is_coherent(c, axioms) && ref_axiom_allows(c, axioms)) == allowed;
}

/* ---- explanations ---- */

/* Steps of which one leads elsewhere, or is of a relation that it is not in. */
static bool takes_others(const struct axiom_refusal *r, enum ref_axioms axioms,
                         const struct ref_candidate *c, const struct ref_step *of)
{
    struct ref_step other[AXIOM_EVENTS];
    const uint32_t k = r->candidates % r->length;
    memcpy(other, of, r->length * sizeof *of);
    for (uint32_t to = 0; to < c->count; to++) {
        other[k].to = (uint8_t)to;
        if (to != of[k].to && ref_axiom_breaks(c, axioms, r->axiom, other, r->length))
            return true;
    }
    other[k] = of[k];
    for (uint32_t i = 0; i < RELATIONS; i++) {
        other[k].name = relations[i];
        bool is_in = i < BEFORE_ORDER || ref_axiom_is_ptx(axioms)
                         ? are_related(&r->execution, axioms, i, of[k].from, of[k].to)
                         : false;
        if (!is_in && ref_axiom_breaks(c, axioms, r->axiom, other, r->length))
            return true;
    }
    return ref_axiom_breaks(c, axioms, r->axiom, of, r->length - 1);
}

static bool is_explained(struct arena *arena, const struct axiom_refusal *r, enum ref_axioms axioms)
{
    struct ref_candidate *c = ARENA_NEW(arena, struct ref_candidate);
    struct ref_step of[AXIOM_EVENTS];
    if (!r->axiom)
        return r->candidates == 0;
    if (r->execution.count > REF_OPERATIONS)
        return true;
    if (!is_judged_so(&r->execution, axioms, strcmp(r->axiom, "No thin air") != 0, false, c))
        return false;
    for (uint32_t i = 0; i < r->length; i++)
        of[i] = (struct ref_step){r->circle[i].name, r->circle[i].from, r->circle[i].to};
    return ref_axiom_breaks(c, axioms, r->axiom, of, r->length) && !takes_others(r, axioms, c, of);
}

bool litmus_explains(struct arena *arena, const struct litmus_test *test, enum axiom_model model,
                     enum ref_axioms axioms, uint32_t limit, const struct litmus_result *allowed)
{
    struct litmus_result refused = {.count = 0}, again;
    struct axiom_refusal *refusal = ARENA_NEW(arena, struct axiom_refusal);
    struct axiom_witness *witness = ARENA_NEW(arena, struct axiom_witness);
    *witness = (struct axiom_witness){.refused = &refused};
    if (allowed->count > 0)
        witness->wanted = allowed->values[allowed->states % allowed->count];
    if (!axiom_run(arena, test, model, limit, &again, witness) || again.silent)
        return true;
    if (witness->found != (allowed->count > 0))
        return false;
    if (witness->found && witness->execution.count <= REF_OPERATIONS &&
        !is_judged_so(&witness->execution, axioms, true, true,
                      ARENA_NEW(arena, struct ref_candidate)))
        return false;
    if (refused.count == 0)
        return true;
    *refusal = (struct axiom_refusal){.axiom = NULL};
    *witness = (struct axiom_witness){.wanted = refused.values[allowed->states % refused.count],
                                      .refusal = refusal};
    return !axiom_run(arena, test, model, limit, &again, witness) || witness->found ||
           is_explained(arena, refusal, axioms);
}
