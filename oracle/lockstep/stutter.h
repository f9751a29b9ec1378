/*
 * stutter.h - the oracle `stutter`: lockstep-cfg Thm. 5.5 (B.11, B.17, B.18) by co-simulation. P and
 * pi(P) have the same traces of labels up to stuttering, and the same races between statements that act.
 *
 *     P leads      P runs with a schedule; for each step of a thread, its thread of pi(P) walks silently
 *                  - act is false, or it is the image's own statement - to the statement that stands for
 *                  that step, and takes it; for a goto on until v_active is set
 *     pi(P) leads  pi(P) runs with a schedule; P's thread takes the steps of those that act, no others
 *
 *     entering a block, in P    nothing          in pi(P)    silent
 *     silent                    changes no variable of P, fails never
 *     any other step            of both: the same accesses, the same variables of P, the same status, the
 *                               same threads wait; v_active is the block where P's thread is
 *
 * As silent steps change nothing of P's, the traces collapse (TR.delta, restricted to the variables of P)
 * to the same one. Nothing is sampled but the schedule; executions that do not end compare as prefixes.
 */
#ifndef ORACLE_STUTTER_H
#define ORACLE_STUTTER_H

#include "engine/blocks/interleave.h"
#include "oracle/check/explore.h"
#include "oracle/lockstep/image.h"

struct stutter {
    struct arena *arena;
    struct machine *p, *pi;
    struct image image;
    struct answer *answer; /* NULL: not asked */
    struct race_detector *p_races, *pi_races;
    struct image_accesses p_accesses, pi_accesses;
    struct observer silent; /* of pi's silent steps */
    bool lost;              /* a divergence was found */
    bool spoilt;            /* a silent step has changed a variable of P */
    enum subject_id leader; /* interleave or predicated */
    uint64_t p_steps, pi_steps;
    struct tape *record; /* of the leader */
};

struct stutter *stutter_new(struct arena *arena, struct machine *p, struct machine *pi);

/* One execution from the start, led by `leader` (SUBJECT_INTERLEAVE or SUBJECT_PREDICATED), until it ends
 * or both have taken `budget_steps` together (STATUS_STEP_LIMIT). */
enum status stutter_run(struct stutter *stutter, enum subject_id leader,
                        const struct sched_spec *spec, uint64_t budget_steps);

void stutter_judge(struct checking *checking);

#endif
