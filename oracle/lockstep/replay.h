/*
 * replay.h - ORA.replay: the construction in the proof of lockstep-cfg Thm. B.20. A machine F runs
 * phi(P); beside it a machine I runs P and takes, for each step of F, exactly the steps that the proof
 * names, where t is enabled if v_active,t = B:
 *
 *     statement s of B           each enabled thread its s, in F's order of writes (psi-winners last)
 *     entering B                 each enabled thread CFG.block
 *     v_active := v_next         each enabled thread its goto; its own choice, which must be F's: so a
 *                                goto of phi alone has one feasible target (ORA.B9), or choices are lost
 *     call, return               each enabled thread its call, its return
 *     sync, all take part        every thread reaches its barrier, and is released there
 *     sync, nobody takes part    nothing
 *     sync false                 those that take part wait; the others of the block run on, and
 *                                barrier_S never applies (the claim in the proof)
 *     End                        every thread ends
 *     v_next := .., assumes that phi adds, gotos and blocks of phi alone    nothing
 *
 * After each step: the shared store, the private variables of P and the control points (v_active
 * against I's block) are equal, and both have accessed the same locations. That holds up to the first
 * racy step of F, of which the accesses still agree but no longer the stores (CK14): I then has a race
 * too (ORA.B20), and the replay ends. An error of F must be the same error of the same thread in I.
 *
 * ORA.semi: a thread outside of a loop that F runs, or of a procedure, is not in it before F has left it.
 */
#ifndef ORACLE_REPLAY_H
#define ORACLE_REPLAY_H

#include "engine/blocks/interleave.h"
#include "engine/blocks/lockstep.h"
#include "engine/schedule/tape.h"
#include "oracle/check/verdict.h"
#include "oracle/lockstep/image.h"
#include "oracle/race/race.h"

struct replay {
    struct arena *arena;
    struct machine *phi, *p; /* F, I */
    struct answer *answer;   /* NULL: not asked */
    struct race_detector *phi_races, *p_races;
    struct image_accesses phi_accesses, p_accesses;

    struct image image; /* phi(P) of P */
    struct replay_loops *loops;

    /* Of this execution. */
    bool lost;             /* a divergence was found: I no longer follows */
    bool raced;            /* F has had a race: the replay has ended */
    uint8_t *enabled;      /* a component of the step at hand */
    uint8_t *outs_pending; /* a thread block: I has the results of a call, F not yet */
    uint64_t phi_steps, p_steps;
    uint64_t idle; /* steps of F since I's last one */
    uint64_t inner_choices;
    uint32_t sync_claims; /* false syncs after which P was seen to diverge */
    struct tape *record;  /* F's choices */
};

/* F runs phi(P), I runs P; both untracked. Statements of phi(P) say by `origin` what they stand for. */
struct replay *replay_new(struct arena *arena, struct machine *phi, struct machine *p);

/* Both machines back to the start, with the replay's observers. */
void replay_begin(struct replay *replay);

/* One step of F's thread block, its replay and all comparisons. */
void replay_step(struct replay *replay, uint32_t block, struct choices *choices);

/* Steps until F is no longer running, or both have taken `budget_steps` together
 * (STATUS_STEP_LIMIT). Where the replay has ended, F goes on alone. */
enum status replay_run(struct replay *replay, struct choices *choices, uint64_t budget_steps);

/* Choices as F makes them alone: the lowest thread block first; the highest component wins; atomics in
 * ascending order. */
struct replay_choices {
    struct choices choices; /* first member */
    const struct machine *phi;
};
void replay_plain_choices(struct replay_choices *choices, const struct machine *phi);

#endif
