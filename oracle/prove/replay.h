/*
 * replay.h - a model of a solver, run: the kernel with the model's inputs as initialisers, under the
 * subjects that `check` asks. A model is believed only when an execution shows what it says.
 */
#ifndef ORACLE_PROVE_REPLAY_H
#define ORACLE_PROVE_REPLAY_H

#include "engine/prove/prove.h"
#include "oracle/check/check.h"

struct proof_replay {
    bool shown;
    bool
        cut; /* an execution ended by another thread's index, assertion, assume or barrier before it could show it */
    const char *how;                 /* shown: which subject saw what */
    const struct ast_kernel *kernel; /* with the inputs; to be printed for `check` */
};

/* Of the goal that the model is about. */
struct proof_replay proof_replay(struct arena *arena, const struct ast_kernel *kernel,
                                 const struct proof_model *model, bool file_inputs);

/* Executions of the subjects, thread by thread, that the goals are about: an array over all subjects. Barriers of PTX
 * see no divergence: who waits for one that has ended, or for nobody, is deadlocked. */
const struct check_run *proof_executions(struct arena *arena, const struct ast_kernel *kernel,
                                         uint32_t schedules);

/* Which of them shows that the goal is missed, and how; NULL: none does. */
const char *proof_shown(struct arena *arena, const struct check_run *runs, enum proof_goal goal);

#endif
