/*
 * side.h - one execution for a picture: its steps with what every lane did.
 */
#ifndef FUZZ_REPORT_SIDE_H
#define FUZZ_REPORT_SIDE_H

#include "engine/schedule/sched.h"
#include "engine/subjects/subject.h"

enum {
    SIDE_LANES_MAX = 64,  /* threads shown */
    SIDE_STEPS_MAX = 400, /* steps kept of an execution */
    SIDE_BUDGET = 4000,   /* steps taken */
    SIDE_TAPE = 1 << 14   /* of those that follow: their choices that are kept */
};

struct side_step {
    uint64_t number;   /* from 1 */
    const char *actor; /* "warp 0", "thread 3", "block 0" */
    const char *rule;
    const char *executed;
    const char *writes; /* "": none */
    const char *stack;  /* of the actor, after the step */
    uint32_t stm;       /* of the program; CODE_NONE */
    uint32_t leader;    /* side_follow: the index of the leader's step */
    uint32_t line;      /* 0 = none */
    uint64_t ran;       /* threads that took part, a bit each */
    /* The threads after the step, a letter each: 'a' active, 'b', 'r', 'e' disabled, '.' not active, ' ' of
     * another actor. */
    char lanes[SIDE_LANES_MAX + 1];
};

struct side {
    const char *subject;
    const char *schedule; /* how the choices were made */
    uint32_t threads;     /* that there are; the first SIDE_LANES_MAX are shown */
    uint32_t warp;        /* threads of a warp: where a line is ruled between columns */
    uint32_t block;       /* threads of a block */
    uint32_t step_count;
    const struct side_step *steps;
    uint64_t total; /* steps that were taken */
    const char *ended;
    uint32_t parts; /* index of the step at which they part; step_count: not known */
};

static inline uint32_t side_lanes(const struct side *side)
{
    return side->threads < SIDE_LANES_MAX ? side->threads : SIDE_LANES_MAX;
}

/* Runs the program under the subject's semantics; *schedule is shown as `name`. */
void side_run(struct arena *arena, const struct program *program, enum subject_id subject,
              const struct sched_spec *schedule, const char *name, struct side *side);

/* Runs single threads of the same program after a warp: each thread that a step of `leader` ran takes the
 * steps that execute the same statement; it ends when a thread cannot follow, and parts there. False: it
 * followed to the leader's end (or to where its steps are no longer kept). Who stepped is recorded. */
bool side_follow(struct arena *arena, const struct program *program, enum subject_id subject,
                 struct side *leader, struct side *side, struct tape *tape);

#endif
