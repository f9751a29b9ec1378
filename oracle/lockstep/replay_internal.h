/*
 * replay_internal.h - the replay's parts: replay.c says what steps, replay_compare.c what must be equal
 * then, replay_loops.c ORA.semi, replay_report.c what a person is shown.
 */
#ifndef ORACLE_REPLAY_INTERNAL_H
#define ORACLE_REPLAY_INTERNAL_H

#include "oracle/lockstep/replay.h"

/* A step of F. */
struct replay_move {
    uint32_t block;        /* of threads: F's actor */
    uint32_t first, count; /* its threads */
    uint32_t frames;       /* F's, before the step */
    uint32_t pc;           /* F's, before the step */
    uint32_t stm;          /* CODE_NONE: a block or End is entered */
    uint32_t function;     /* that pc is in */
    uint32_t number;       /* block of P that F's block stands for; CODE_NONE */
    enum image_role role;  /* of stm */
    uint32_t origin;       /* statement of P; CODE_NONE */
    enum rule rule;
};

/* Whether the thread takes part in F's topmost frame. */
static inline bool replay_semi_active(const struct replay *r, uint32_t thread, uint32_t frames)
{
    return interleave_state(r->p, thread)->frames == frames;
}

/* ---- replay_compare.c ---- each false: reported ---- */

bool compare_accesses(struct replay *r, const struct replay_move *m);
/* The control points of all threads of the block, between two blocks of P. */
bool compare_control(struct replay *r, const struct replay_move *m, uint32_t function);
/* What the step has written. */
bool compare_step(struct replay *r, const struct replay_move *m);
/* Everything, of one block of threads. */
bool compare_all(struct replay *r, const struct replay_move *m);

/* ---- replay_loops.c ---- */

struct replay_loops *loops_new(struct arena *arena, const struct program *p, uint32_t blocks);
void loops_begin(struct replay *r);
void loops_call(struct replay *r, const struct replay_move *m);
/* F enters a block of P. */
bool loops_enter(struct replay *r, const struct replay_move *m);

/* ---- replay_report.c ---- each: the replay is lost */

void report_status(struct replay *r, const struct replay_move *m);
void report_control(struct replay *r, const struct replay_move *m, uint32_t thread,
                    const char *observable);
void report_word(struct replay *r, const struct replay_move *m, const struct image_word *word);
void report_access(struct replay *r, const struct replay_move *m, const struct image_access *phi,
                   const struct image_access *p);
void report_race(struct replay *r, const struct replay_move *m);
void report_sync(struct replay *r, const struct replay_move *m, const char *observable,
                 const char *sentence);
void report_loop(struct replay *r, const struct replay_move *m, uint32_t thread, const char *head);

#endif
