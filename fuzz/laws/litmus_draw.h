/*
 * litmus_draw.h - litmus tests that are drawn, each for one law of the memories (litmus_laws.def).
 */
#ifndef FUZZ_LITMUS_DRAW_H
#define FUZZ_LITMUS_DRAW_H

#include "engine/base/arena.h"
#include "engine/base/pcg.h"

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
    const char *name;          /* "ld.cg" */
    const char *order, *scope; /* of PTX: ".release", ".gpu"; "" */
    bool reads, writes, is_fence;
    uint8_t word, value;
    bool
        is_used; /* a dependency behind it; of a store of PTX, its value is what the thread read last */
};

struct drawn_test {
    enum litmus_law law;
    uint32_t threads;
    uint8_t sm[DRAWN_THREADS], length[DRAWN_THREADS];
    bool far;                          /* of PTX: the last block is on another GPU */
    bool lines, strong, before, inval; /* lines of two words; repairs */
    uint8_t warm[DRAWN_THREADS];       /* words in the L1 of an SM, a bit each */
    struct drawn_instruction code[DRAWN_THREADS][DRAWN_LENGTH];
};

struct drawn_test litmus_draw(uint64_t seed, uint64_t number);

/* Its text (docs/memory.md); NULL: there is nothing to observe. */
const char *litmus_draw_text(struct arena *arena, const struct drawn_test *test);

/* Without the instruction. */
void litmus_draw_drop(struct drawn_test *test, uint32_t thread, uint32_t at);

/* Those of PTX (ptx_draw.c). */
void litmus_draw_ptx(struct pcg *rng, struct drawn_test *test);
const char *litmus_draw_ptx_text(struct arena *arena, const struct drawn_test *test);

#endif
