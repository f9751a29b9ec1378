/*
 * follower.h - what follows an execution, and what its parts say when the two part: threads and warps (follow_state.c),
 * PTX (follow_ptx.h), who steps (follow_policy.c), what schedules promise (follow_promise.c, follow_walks.c). Its door
 * is oracle/follow/follow.h.
 */
#ifndef ORACLE_FOLLOWER_H
#define ORACLE_FOLLOWER_H

#include "engine/reference/reference.h"
#include "engine/subjects/subject.h"
#include "oracle/check/explore.h"

enum follow_state {
    FOLLOW_ALONG,
    FOLLOW_PARTED,
    FOLLOW_LOST, /* the reference met what it does not know: follower.unknown */
    FOLLOW_CUT   /* the execution has more steps than are followed */
};

/* An observable: what an instruction of PTX puts into a register. */
#define FOLLOW_RESULT "result"

enum { FOLLOW_ACCESSES = 1 << 15, FOLLOW_USES = LIMIT_THREADS, FOLLOW_CHOICES = 8 };

struct follower {
    struct observer observer;
    enum subject_id subject;
    const struct program *program;
    const struct machine *machine;
    struct ref *reference;          /* NULL: a machine of PTX, */
    struct follow_ptx *ptx;         /* then this (follow_ptx.h), ... */
    struct follow_caches *caches;   /* ... or this, over caches (follow_caches.h) */
    struct follow_policy *policy;   /* who steps next, where a policy chooses; NULL: none has yet */
    struct follow_promise *promise; /* what the schedule promises; NULL: none was asked yet */
    struct follow_walk *walk;       /* and, if it draws, what; NULL likewise */
    const char *unknown;            /* FOLLOW_LOST: what the reference does not know */
    bool hears_all; /* accesses reach it as the machine makes them: not those of pi(P) */
    enum follow_state state;
    uint64_t steps, limit;
    uint64_t trusted; /* of these, with parts that were not compared (follow_ptx.h) */
    uint32_t live;    /* actors that can step, as the reference has it */
    /* Possibilities of the choices inside the step, all of them together, and in how many ways the reference says that
     * it may end. */
    uint64_t offered, ways;
    uint32_t choices[FOLLOW_CHOICES], choice_count; /* inside the step, as they were made */
    bool hears_choices, lost; /* lost: they part, as something that may happen cannot */
    bool against_policy;      /* they part, as somebody steps whom the policy does not choose */
    bool turn_known;          /* whose turn the last step was is known */
    bool at_start;            /* they part, as memory differs before anybody has stepped */
    bool too_early;           /* they part, as somebody steps who must wait */
    /* The barrier rule that must come next, and of which block; RULE_NONE: none. */
    enum rule awaited;
    uint32_t awaited_block;
    struct ref_access *heard;       /* since the last step */
    uint32_t heard_count, heard_at; /* heard_at: of these, what has been compared */
    uint32_t heard_stm[2];        /* the statements that they were told to be of: lowest, highest */
    struct barrier_event barrier; /* the last one of these, since the last step; */
    uint32_t barrier_count;       /* how many */
    struct barrier_use *uses; /* of PTX: who registered, who was released, since the last step */
    uint32_t use_count;
    /* Where they part: what differs, after which step, and what each has. */
    const char *observable;
    enum rule rule, reference_rule;
    uint32_t actor, stm;
    char engine_has[64], reference_has[64];
};

/* It is a schedule of this kind: a policy of warps without a stack says who steps, others promise something. */
void follow_obey(struct follower *f, struct arena *arena, const struct sched_spec *spec);
/* ---- follow_state.c ---- */

/* Notes that the two part; what each has is printed. */
void follow_part(struct follower *f, const char *observable, const char *engine,
                 const char *reference);
void follow_part_numbers(struct follower *f, const char *observable, int64_t engine,
                         int64_t reference);
/* As somebody steps who must wait for what `observable` says. */
void follow_part_early(struct follower *f, const char *observable);

/* Whether the machine chose among as many ways as there are. */
void follow_compare_ways(struct follower *f);

/* follow_policy.c: whether the actor is whom the policy chooses; no more is asked in this execution. */
void follow_compare_choice(struct follower *f, uint32_t actor);
void follow_policy_leave(struct follower *f);

/* follow_promise.c: likewise, whether the step is one that the schedule promises. */
void follow_promise_start(struct follower *f, struct arena *arena, const struct sched_spec *spec);
void follow_promise_step(struct follower *f, uint32_t actor);
void follow_promise_leave(struct follower *f);
/* Somebody is going to step; a choice within the step, of so many. */
void follow_promise_pick(struct follower *f);
void follow_promise_choice(struct follower *f, uint32_t n, uint32_t choice);
/* Whether the actor can step, as the reference has it. */
bool follow_can_step(const struct follower *f, uint32_t actor);

/* ---- follow_walks.c: schedules that draw ---- */

void follow_walk_start(struct follower *f, struct arena *arena, const struct sched_spec *spec);
/* Whom it takes, before the step; which of n it chooses within. UINT32_MAX: that is not known. */
uint32_t follow_walk_next(struct follower *f);
uint32_t follow_walk_choice(struct follower *f, uint32_t n);

/* What the event says of the step that is to come: the statement, who is active. */
void follow_compare_event(struct follower *f, const struct step_event *event);
/* Compares an actor's state after its step; the engine's memory, and the frames of a thread. */
void follow_compare_actor(struct follower *f, uint32_t actor);
void follow_compare_memory(struct follower *f, const int32_t *memory);

#endif
