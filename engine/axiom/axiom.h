/*
 * axiom.h - memory models that are sets of axioms: all outcomes of a litmus test.
 *
 * A candidate execution is a way through each thread, with a write (or the first value) for each read (rf), an order of
 * the writes to a word (co) and of the sc fences (sc). A model is what it asks of these relations. Every candidate
 * is tried, so that an outcome that is not found cannot happen in the model.
 */
#ifndef ENGINE_AXIOM_H
#define ENGINE_AXIOM_H

#include "engine/axiom/relation.h"
#include "engine/litmus/litmus.h"

enum {
    AXIOM_EVENTS = RELATION_EVENTS,
    AXIOM_NONE = 255,
    AXIOM_ROUNDS = 2, /* how often a branch backwards is taken */
};

/* `AXIOM_SC` is a second account of what litmus_run() finds by steps. */
enum axiom_model { AXIOM_SC, AXIOM_ASPLOS15, AXIOM_PTX60, AXIOM_PTX75 };
/* Of a model that is no cache. */
enum axiom_model axiom_model_of(enum litmus_model m);

enum axiom_kind { EVENT_READ, EVENT_WRITE, EVENT_FENCE, EVENT_BARRIER };

struct axiom_event {
    enum axiom_kind kind;
    enum litmus_order order;
    enum litmus_scope scope;
    uint8_t thread, pc, word;
    uint8_t partner; /* the other half of an atomic operation, or AXIOM_NONE */
    bool waits;      /* a barrier that is not arrive */
    int16_t value;
    uint32_t needs; /* reads that it depends on, by data, by address or by a branch */
};

struct axiom_execution {
    const struct litmus_test *test;
    uint32_t count;
    struct axiom_event events[AXIOM_EVENTS];
    int16_t regs[LITMUS_THREADS][LITMUS_REGISTERS];
    uint8_t from[AXIOM_EVENTS]; /* of a read: its write, or AXIOM_NONE for the first value */
    uint8_t turn[AXIOM_EVENTS]; /* of a barrier: how often it had been used up before */
    struct relation po, loc, rf, rmw, dep, strong; /* strong: morally */
    struct relation barriers, order, sc, observed, sync, base, cause, forced, co, fr;
};

/* Why an outcome is none: of the candidates that end so the one with the shortest circle, and what the model says. */
struct axiom_edge {
    const char *name; /* po rf co fr sync sc bar obs rmw dep fence: docs/view.md */
    uint8_t from, to;
};
struct axiom_refusal {
    const char *axiom; /* NULL: no candidate ends so */
    const char *says;
    uint32_t candidates, length;
    struct axiom_edge circle[AXIOM_EVENTS];
    struct axiom_execution execution;
};

/* What shows an outcome: the first execution that makes the condition true, or has the values wanted; and what stands
 * against it. */
struct axiom_witness {
    const int16_t *wanted; /* LITMUS_OBSERVED values */
    bool found;
    struct axiom_execution execution;
    struct axiom_refusal *refusal; /* NULL: nobody asks */
    struct litmus_result *refused; /* NULL, or all outcomes of executions that are not allowed */
};

/* False: more than `limit` candidates. `witness` may be NULL. */
bool axiom_run(struct arena *arena, const struct litmus_test *test, enum axiom_model model,
               uint32_t limit, struct litmus_result *result, struct axiom_witness *witness);

#endif
