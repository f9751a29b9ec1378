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

/* What the execution is, and nothing that follows from it. */
static void candidate_of(const struct axiom_execution *x, enum ref_axioms axioms,
                         struct ref_candidate *c)
{
    memset(c, 0, sizeof *c);
    c->test = x->test;
    c->count = x->count;
    for (uint32_t a = 0; a < c->count; a++)
        c->of[a] = operation_of(x, a);
    for (uint32_t a = 0; a < c->count; a++)
        for (uint32_t b = 0; b < c->count; b++) {
            c->depends[a][b] = x->events[b].needs >> a & 1;
            c->fence_sc[a][b] = related(&x->sc, a, b);
            c->coherence[a][b] = related(&x->co, a, b);
        }
    ref_axiom_causality(c, axioms);
}

static bool is_explained(struct arena *arena, const struct axiom_refusal *r, enum ref_axioms axioms)
{
    struct ref_candidate *c = ARENA_NEW(arena, struct ref_candidate);
    struct ref_step of[AXIOM_EVENTS];
    if (!r->axiom)
        return r->candidates == 0;
    if (r->execution.count > REF_OPERATIONS)
        return true;
    candidate_of(&r->execution, axioms, c);
    for (uint32_t i = 0; i < r->length; i++)
        of[i] = (struct ref_step){r->circle[i].name, r->circle[i].from, r->circle[i].to};
    return ref_axiom_breaks(c, axioms, r->axiom, of, r->length);
}

bool litmus_explains(struct arena *arena, const struct litmus_test *test, enum axiom_model model,
                     enum ref_axioms axioms, uint32_t limit)
{
    struct litmus_result allowed, refused = {.count = 0}, again;
    struct axiom_refusal *refusal = ARENA_NEW(arena, struct axiom_refusal);
    struct axiom_witness *witness = ARENA_NEW(arena, struct axiom_witness);
    *witness = (struct axiom_witness){.refused = &refused};
    if (!axiom_run(arena, test, model, limit, &allowed, witness) || allowed.silent ||
        refused.count == 0)
        return true;
    *refusal = (struct axiom_refusal){.axiom = NULL};
    *witness = (struct axiom_witness){.wanted = refused.values[allowed.states % refused.count],
                                      .refusal = refusal};
    return !axiom_run(arena, test, model, limit, &again, witness) || witness->found ||
           is_explained(arena, refusal, axioms);
}
