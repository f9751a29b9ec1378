/*
 * litmus_internal.h - states of litmus programs. Unused fields are zero, so that equal states have equal bytes.
 */
#ifndef ENGINE_LITMUS_INTERNAL_H
#define ENGINE_LITMUS_INTERNAL_H

#include "engine/litmus/litmus.h"

enum { SLOTS = 4, LINES = LITMUS_GLOBALS + LITMUS_THREADS, ALL_SLOTS = SLOTS * LITMUS_THREADS };

struct litmus_line {
    int16_t vals[2];
    uint16_t pins; /* a bit an operation that waits for the line */
    uint8_t vmask, dmask, pending, used;
};

struct litmus_slot {
    uint8_t used, ip, pc, lanes; /* lanes: a bit each */
    int16_t fill[2];
};

enum { BAR_NONE, BAR_ARRIVED, BAR_PASSED };

struct litmus_actor {
    uint8_t pc, bar;
    uint8_t blocked[LITMUS_REGISTERS];
    int16_t regs[LITMUS_REGISTERS];
    struct litmus_slot slots[SLOTS];
};

struct litmus_state {
    uint32_t
        choice; /* two bits an instruction of several lanes: together, together the other way, apart */
    uint32_t lock;                                    /* a bit a block */
    uint8_t arrived[LITMUS_THREADS][LITMUS_BARRIERS]; /* a bit a thread, of each block */
    int16_t words[LITMUS_WORDS];
    struct litmus_actor actors[LITMUS_THREADS];
    struct litmus_line l1[LITMUS_THREADS][LINES];
};

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

/* What the search calls for each successor. */
struct litmus_walk;
void litmus_found(struct litmus_walk *walk, const struct litmus_state *state);

void litmus_start(const struct litmus_run *run, struct litmus_state *state);
void litmus_settle(const struct litmus_run *run, struct litmus_state *state);
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
