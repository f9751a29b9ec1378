/*
 * ref_axiom.h - the axioms of memory models once more, to be read beside the definitions: of PTX 6.0 and 7.5 (PTX ISA,
 * memory consistency model, without proxies; ptx.als of NVlabs/ptxmemorymodel) and of ASPLOS'15 (Alglave et al.,
 * section 5); and of sequential consistency (Lamport: all operations have one order, in which those of a thread are in
 * theirs).
 *
 * A relation is a table of pairs, a closure is what comes of adding pairs until there is none to add, and every
 * candidate is made, also those that cannot be: each way of each branch, each turn of each use of a barrier. Of a test
 * whose branches go forward; nothing is taken from engine/axiom.
 */
#ifndef ENGINE_REF_AXIOM_H
#define ENGINE_REF_AXIOM_H

#include "engine/litmus/litmus.h"

enum {
    REF_OPERATIONS = 20,
    REF_OUTCOMES = 512,
    REF_CANDIDATES = 4096, /* that are judged */
    REF_MOMENTS = 4096,    /* of sequential consistency */
    REF_FIRST = 255,       /* a read's source: the word's first value */
};

enum ref_axioms { REF_ASPLOS15, REF_PTX60, REF_PTX75, REF_SC };

/* Whether they are of PTX: the others know neither causality order nor morally strong accesses. */
static inline bool ref_axiom_is_ptx(enum ref_axioms axioms)
{
    return axioms == REF_PTX60 || axioms == REF_PTX75;
}

struct ref_operation {
    enum {
        REF_READ,
        REF_WRITE,
        REF_FENCE,
        REF_BARRIER,
        REF_ABSENT
    } kind; /* absent: of a cas that failed */
    enum litmus_order order;
    enum litmus_scope scope;
    const struct litmus_instruction *text;
    uint8_t thread, word, source;
    uint8_t other; /* the other half of an atomic operation, or REF_FIRST */
    uint8_t turn;  /* of a barrier: in which of its turns this use is */
    bool known;
    int16_t value;
};

typedef bool ref_pairs[REF_OPERATIONS][REF_OPERATIONS];

struct ref_candidate {
    const struct litmus_test *test;
    uint32_t count;
    struct ref_operation of[REF_OPERATIONS];
    int16_t registers[LITMUS_THREADS][LITMUS_REGISTERS];
    bool taken[LITMUS_THREADS][LITMUS_CODE]; /* what is supposed of a branch */
    ref_pairs depends, fence_sc, coherence, observation, synchronizes, base, causality;
};

struct ref_outcomes {
    uint32_t count;
    bool stuck; /* by steps: in some moment nobody can go on, and not all have ended */
    int16_t values[REF_OUTCOMES][LITMUS_OBSERVED];
};

/* All outcomes that the axioms allow. False: the test has a branch backwards, or lanes, or is too large. */
bool ref_axiom_outcomes(struct arena *arena, const struct litmus_test *test, enum ref_axioms axioms,
                        struct ref_outcomes *outcomes);

/* ref_steps.c. All outcomes by steps, of any test; branches may go back. False: it is too large. */
bool ref_steps_outcomes(struct arena *arena, const struct litmus_test *test,
                        struct ref_outcomes *outcomes);

/* What an atomic operation leaves; a cas, where it writes. */
int16_t ref_axiom_combine(enum litmus_op op, int old, int value, int other);
bool ref_outcomes_add(struct ref_outcomes *outcomes, const int16_t *values); /* false: no room */

/* Of sequential consistency: along threads, from turn to turn of a barrier, and from whoever comes to it to whatever
 * stands behind one who waits. */
bool ref_axiom_before(const struct ref_candidate *c, uint32_t a, uint32_t b);

/* ref_axiom_models.c. What must be ordered in coherence, and whether the axioms allow a candidate. */
void ref_axiom_causality(struct ref_candidate *c, enum ref_axioms axioms);
bool ref_axiom_ordered(const struct ref_candidate *c, enum ref_axioms axioms, uint32_t a,
                       uint32_t b);
bool ref_axiom_fences(const struct ref_candidate *c, uint32_t a, uint32_t b);
bool ref_axiom_allows(const struct ref_candidate *c, enum ref_axioms axioms);

/* By their names (docs/view.md), for explanations: whether two operations are related; of ASPLOS'15 in the order of a
 * scope; and whether the axiom about one word counts them. */
bool ref_axiom_related(const struct ref_candidate *c, enum ref_axioms axioms, const char *name,
                       uint32_t a, uint32_t b);
bool ref_axiom_in_scope(const struct ref_candidate *c, enum litmus_scope scope, const char *name,
                        uint32_t a, uint32_t b);
bool ref_axiom_per_location(const struct ref_candidate *c, enum ref_axioms axioms, uint32_t a,
                            uint32_t b);

/* ref_execution.c. Whether the operations are an execution of the test, with these registers at the end and these
 * sources, whatever the order of writes; then its dependencies are filled in. */
bool ref_axiom_is_execution(struct ref_candidate *c);

/* ref_explain.c. Whether these steps are a circle that the axiom forbids; ref_axiom_causality() has been called. */
struct ref_step {
    const char *name;
    uint8_t from, to;
};
bool ref_axiom_breaks(const struct ref_candidate *c, enum ref_axioms axioms, const char *axiom,
                      const struct ref_step *of, uint32_t count);

void ref_axiom_close(uint32_t count, ref_pairs r);
bool ref_axiom_acyclic(uint32_t count, ref_pairs r); /* r is closed by it */

#endif
