/*
 * view_loop.h - a proof that an execution never ends, made into an execution that can be shown: its stem, and the loop
 * some times.
 */
#ifndef FUZZ_VIEW_LOOP_H
#define FUZZ_VIEW_LOOP_H

#include "engine/progress/lasso.h"
#include "engine/subjects/subject.h"

enum { VIEW_LASSO_STEPS = 1 << 18 }; /* in which a loop is looked for */

struct view_loop {
    uint64_t stem, length; /* length 0: none was proven */
    bool fair;
    struct lasso lasso;
};

/* Looks for one, if the schedule's future follows from the state. False: none, *loop is all zero. */
bool view_loop_find(struct arena *arena, const struct subject_info *subject,
                    const struct program *program, const struct sched_spec *schedule,
                    uint64_t max_steps, struct view_loop *loop);
/* The loop that a witness has: tapes of its stem and of one round. */
void view_loop_take(struct arena *arena, const struct subject_info *subject,
                    const struct program *program, const struct tape *stem,
                    const struct tape *round, struct view_loop *loop);
/* How many steps of it are shown: its stem and some rounds; without a loop max_steps. */
uint64_t view_loop_steps(const struct view_loop *loop, uint64_t max_steps);
/* So many steps of the proof's execution. Choices inside of steps are the proof's, too. */
struct sched_spec view_loop_schedule(struct arena *arena, const struct view_loop *loop,
                                     uint64_t steps);

#endif
