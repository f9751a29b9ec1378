/*
 * litmus_internal.h - how states of litmus programs are made from each other.
 */
#ifndef ENGINE_LITMUS_INTERNAL_H
#define ENGINE_LITMUS_INTERNAL_H

#include "engine/litmus/litmus_path.h"

struct litmus_run {
    struct arena *arena;
    const struct litmus_test *test;
    struct litmus_options o;
};

/* The test that the caches run; else why they say nothing. */
const char *litmus_lower(const struct litmus_test *test, struct litmus_test *lowered);

/* The field's text for PTX, one test a text (litmus_ptx.c). */
bool litmus_is_ptx(struct arena *arena, const char *text);
bool litmus_read_ptx(struct arena *arena, struct litmus_reader *reader, struct litmus_test *test,
                     struct diag *diag);

/* What the search calls for each successor, with what leads to it. */
struct litmus_walk;
void litmus_found(struct litmus_walk *walk, const struct litmus_state *state,
                  struct litmus_move move);

void litmus_start(const struct litmus_run *run, struct litmus_state *state);
void litmus_settle(const struct litmus_run *run, struct litmus_state *state);
/* A thread comes to a barrier for which others race. */
void litmus_arrival(const struct litmus_run *run, const struct litmus_state *state, uint32_t thread,
                    struct litmus_walk *walk);
void litmus_steps(const struct litmus_run *run, const struct litmus_state *state,
                  struct litmus_walk *walk);
void litmus_sc_steps(const struct litmus_run *run, const struct litmus_state *state,
                     struct litmus_walk *walk);
bool litmus_done(const struct litmus_run *run, const struct litmus_state *state);

/* Which lanes go together, and the order in which they count: see `choice`. */
enum { TOGETHER, BACKWARDS, APART };
uint32_t litmus_grouping(const struct litmus_run *run, const struct litmus_state *state,
                         uint32_t thread, uint32_t pc);
int16_t litmus_value(const struct litmus_actor *actor, struct litmus_operand operand);

int16_t litmus_lane_atom(const struct litmus_actor *actor, const struct litmus_instruction *in,
                         uint32_t lane, int16_t old);
bool litmus_local_step(struct litmus_actor *actor, const struct litmus_instruction *in);
enum litmus_space litmus_space(uint32_t word);

#endif
