/*
 * litmus_draw.h - litmus tests that are drawn, each for one law of the memories (litmus_laws.def).
 */
#ifndef FUZZ_LITMUS_DRAW_H
#define FUZZ_LITMUS_DRAW_H

#include "engine/base/arena.h"
#include "engine/base/pcg.h"
#include "engine/litmus/litmus.h"

#include <stdbool.h>
#include <stdint.h>

enum { DRAWN_THREADS = 4, DRAWN_LENGTH = 8 };

enum litmus_law {
#define LAW(id, ...) LAW_##id,
#include "fuzz/laws/litmus_laws.def"
#undef LAW
    LITMUS_LAWS
};

struct drawn_instruction {
    const char *name; /* "ld.cg" */
    bool reads, writes, is_fence;
    uint8_t word, value;
    uint8_t second; /* the word of a second lane, and 1, which writes value + 1; 0: there is none */
    bool is_used;   /* a dependency behind it, */
    uint8_t branch; /* which is a branch to the thread's end: 1: bz, 2: bnz; 0: use */
    uint8_t from;   /* it writes what this instruction before it read, and 1; 0: value */
};

enum { COUNT_ALL = 255 }; /* a barrier's count is that of the threads that name it */

struct drawn_test {
    enum litmus_law law;
    uint32_t threads;
    uint8_t sm[DRAWN_THREADS], length[DRAWN_THREADS];
    bool lines, strong, before, inval; /* lines of two words; repairs */
    uint8_t warm[DRAWN_THREADS];       /* words in the L1 of an SM, a bit each */
    uint8_t split, first[2];           /* enum litmus_split; first values of x and y */
    struct drawn_instruction code[DRAWN_THREADS][DRAWN_LENGTH];
    /* Of PTX, and of any text: what it means, and nothing of the above. */
    struct litmus_test meant;
    uint8_t counts[LITMUS_BARRIERS]; /* that barriers state; 0: none */
    uint64_t spelling;               /* how a text says what can be said in several ways */
};

struct drawn_test litmus_draw(uint64_t seed, uint64_t number);

/* Its text (docs/memory.md); NULL: there is nothing to observe. */
const char *litmus_draw_text(struct arena *arena, const struct drawn_test *test);

/* Whether what was read of its text is what it was drawn to say; of a test about caches. */
bool litmus_draw_is(const struct drawn_test *test, const struct litmus_test *read);

/* How many instructions a thread has; the test without one of them. */
uint32_t litmus_draw_length(const struct drawn_test *test, uint32_t thread);
void litmus_draw_drop(struct drawn_test *test, uint32_t thread, uint32_t at);

#endif
