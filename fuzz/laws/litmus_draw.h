/*
 * litmus_draw.h - litmus tests that are drawn, each for one law of the memories (litmus_laws.def).
 */
#ifndef FUZZ_LITMUS_DRAW_H
#define FUZZ_LITMUS_DRAW_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { DRAWN_THREADS = 3, DRAWN_LENGTH = 6 };

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
    bool is_used; /* a dependency behind it */
};

struct drawn_test {
    enum litmus_law law;
    uint32_t threads;
    uint8_t sm[DRAWN_THREADS], length[DRAWN_THREADS];
    struct drawn_instruction code[DRAWN_THREADS][DRAWN_LENGTH];
};

struct drawn_test litmus_draw(uint64_t seed, uint64_t number);

/* Its text (docs/memory.md); NULL: there is nothing to observe. */
const char *litmus_draw_text(struct arena *arena, const struct drawn_test *test);

/* Without the instruction. */
void litmus_draw_drop(struct drawn_test *test, uint32_t thread, uint32_t at);

#endif
