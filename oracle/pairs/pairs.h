/*
 * pairs.h - two threads against all: lockstep-cfg App. C (Thms. C.2, C.3) and the tutorial's
 * translation, on a witness (ORA.C2.guided, ORA.TT.sound of docs/catalogue.md).
 *
 * Thm. C.2: if P_{s,t} is clean for every pair of threads, whatever its barriers make of the shared
 * store, P is clean. So for an execution of P with a defect - its first race, or the error that it ends
 * with - there is a pair and there are havocs with which the pair has it too, and the proof says which:
 * the two threads of the race, two threads of a block that cannot pass their barrier, the failing thread
 * and any other; and as havoc at barrier number i, the store that P had after its barrier number i. Both
 * runs of a pair below are determined by that, so nothing is sampled and both sides are decided:
 *
 *     C.2       P_{s,t} takes the steps of s and t in the order of the execution: the same rules, then
 *               the same race or error
 *     C.3       phi(P_{s,t}) is not clean: a race, or an error (Thm. 5.2 for P_{s,t})
 *     tutorial  one of the ordered pairs (s,t), (t,s) is not clean
 *
 * And the other way round, for an execution that terminates without a race, and any pair: with these
 * havocs each of the two reads between two barriers what it read in P - what nobody else writes there -
 * so P_{s,t} takes the same steps to the same private stores, and all three are clean. (With other havocs
 * a pair that is not clean says nothing about P: C.2 is not complete, CK12, CK13.)
 */
#ifndef ORACLE_PAIRS_H
#define ORACLE_PAIRS_H

#include "engine/schedule/sched.h"
#include "oracle/check/verdict.h"
#include "oracle/race/race.h"

/* An error that two threads can have, too. */
static inline bool pairs_is_defect(enum status status)
{
    return status == STATUS_ASSERT_FAILS || status == STATUS_BARRIER_DIVERGENCE ||
           status == STATUS_OUT_OF_BOUNDS || status == STATUS_CALL_DEPTH;
}

struct pairs_case {
    const struct program *program;     /* P */
    const struct semantics *semantics; /* whose actors are threads: interleave, threads */
    const struct program *lockstep;    /* phi(P); NULL: C.3 is left out */
    const struct semantics *lockstep_semantics;
    const struct program *core; /* the structured kernel that P comes from; NULL, or one that the
                                   translation does not apply to: it is left out */
    struct sched_spec schedule; /* of the execution of P */
    uint64_t budget_steps;      /* of each execution */
    uint64_t seed;              /* draws the pair when P is clean */
    uint64_t *hits;             /* of the tutorial's rules: RULE_COUNT + 1 counters, or NULL */
};

/* Runs P under the schedule, then the pairs. Divergences carry `oracle` and `subject`, classes "C.2",
 * "C.3", "tutorial"; `checked` counts the executions of pairs. Not applicable, with the reason: one
 * thread only, several blocks, atomics (their order is no race, and decides values), choices of the
 * scheduler inside steps, an execution that ends neither well nor with a defect. */
struct answer pairs_guided(struct arena *arena, const struct pairs_case *given,
                           enum oracle_id oracle, enum subject_id subject);

#endif
