/*
 * litmus_path.h - states of litmus programs, and the shortest way to each outcome of a model that is run in steps.
 *
 * Unused fields of a state are zero, so that equal states have equal bytes.
 */
#ifndef ENGINE_LITMUS_PATH_H
#define ENGINE_LITMUS_PATH_H

#include "engine/litmus/litmus.h"

enum { LITMUS_SLOTS = 4, LITMUS_LINES = LITMUS_GLOBALS + LITMUS_THREADS };

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
    struct litmus_slot slots[LITMUS_SLOTS];
};

struct litmus_state {
    uint32_t
        choice; /* two bits an instruction of several lanes: together, together the other way, apart */
    uint32_t lock;                                    /* a bit a block */
    uint8_t arrived[LITMUS_THREADS][LITMUS_BARRIERS]; /* a bit a thread, of each block */
    int16_t words[LITMUS_WORDS];
    struct litmus_actor actors[LITMUS_THREADS];
    struct litmus_line l1[LITMUS_THREADS][LITMUS_LINES];
};

/* What leads to a state: a whole instruction of a thread (sc; coming to a barrier), a step of an operation that is
 * under way, a membar that empties the L1 of its SM, a line that leaves the L1 of an SM, one that is written back. */
enum litmus_move_kind { MOVE_START, MOVE_INSTRUCTION, MOVE_STEP, MOVE_EMPTY, MOVE_DROP, MOVE_BACK };
struct litmus_move {
    uint8_t kind, who, place; /* a thread and a slot, or an SM and a line */
};

struct litmus_moment {
    struct litmus_move move;
    struct litmus_state state; /* after it; instructions that can be issued are */
};

struct litmus_path {
    int16_t values[LITMUS_OBSERVED];
    uint32_t count;
    struct litmus_moment *moments;
};

/* `test`: as the model runs it, with the membars that stand for orders of PTX. */
struct litmus_paths {
    const struct litmus_test *test;
    uint32_t words_a_line, count, most;
    struct litmus_path *of;
};

/* litmus_run(), and the ways to the first paths->most outcomes that the search comes to. */
bool litmus_run_paths(struct arena *arena, const struct litmus_test *test, enum litmus_model model,
                      uint32_t limit, struct litmus_result *result, struct litmus_paths *paths);

/* The line of an L1 in which a word stands that is not shared, and where in it. */
uint32_t litmus_line_of(uint32_t words_a_line, uint32_t word, uint32_t *offset);

/* A word's name, and an instruction as one writes it: `ld.ca r1 x`. */
const char *litmus_word_name(struct arena *arena, const struct litmus_test *test, uint32_t word);
const char *litmus_text(struct arena *arena, const struct litmus_test *test, uint32_t thread,
                        uint32_t pc);

#endif
