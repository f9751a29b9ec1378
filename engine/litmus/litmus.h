/*
 * litmus.h - small programs of several threads, and all results that a memory can give them.
 *
 * A test has at most four threads and eight instructions a thread. Words x, y, z, w are global, s0 to s3 belong to
 * a block (the threads of one SM), l0 and l1 to a thread. The models: `sc` takes whole instructions in turn; the
 * others run the memory programs of cuda-crs, chapter 4, in micro steps (litmus_memory.c).
 */
#ifndef ENGINE_LITMUS_H
#define ENGINE_LITMUS_H

#include "engine/base/arena.h"
#include "engine/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LITMUS_THREADS = 4,
    LITMUS_CODE = 8,
    LITMUS_REGISTERS = 8,
    LITMUS_LANES = 2,
    LITMUS_GLOBALS = 4,
    LITMUS_WORDS = LITMUS_GLOBALS + 4 * LITMUS_THREADS + 2 * LITMUS_THREADS,
    LITMUS_OBSERVED = 8,
    LITMUS_NAME = 64,
};

enum litmus_op {
    LITMUS_LD,
    LITMUS_ST,
    LITMUS_ADD_ATOM,
    LITMUS_EXCH,
    LITMUS_CAS,
    LITMUS_MEMBAR,
    LITMUS_WAIT,
    LITMUS_BAR,
    LITMUS_USE,
    LITMUS_MOV,
    LITMUS_ADD,
    LITMUS_BZ,
    LITMUS_BNZ,
};

enum litmus_cache {
    CACHE_CA,
    CACHE_CG,
    CACHE_CS,
    CACHE_CV,
    CACHE_LU,
    CACHE_WB,
    CACHE_WT,
    CACHE_VOL
};
enum litmus_scope { SCOPE_CTA, SCOPE_GL, SCOPE_SYS };
enum litmus_space { WORD_GLOBAL, WORD_SHARED, WORD_LOCAL };

struct litmus_operand {
    bool is_register;
    int16_t value; /* or the register's number */
};

struct litmus_instruction {
    enum litmus_op op;
    enum litmus_cache cache;
    enum litmus_scope scope;
    uint8_t lanes;
    uint8_t reg[LITMUS_LANES];  /* destinations; of use, bz and bnz the register that is read */
    uint8_t word[LITMUS_LANES]; /* as a number below LITMUS_WORDS */
    struct litmus_operand a[LITMUS_LANES], b;
    uint8_t target;
};

struct litmus_thread {
    uint8_t sm, length, registers;
    char names[LITMUS_REGISTERS][8];
    struct litmus_instruction code[LITMUS_CODE];
};

struct litmus_observed {
    bool is_register;
    uint8_t thread, number; /* number: a register or a word */
};

/* How lanes of one instruction are put together; the reading of `split` in docs/memory.md. */
enum litmus_split { SPLIT_MAX, SPLIT_NONE, SPLIT_ALL };

struct litmus_options {
    uint8_t words_a_line;
    enum litmus_split split;
    bool strong, before, inval, poloc, loads_free;
};

struct litmus_test {
    char name[LITMUS_NAME];
    uint32_t line;
    uint8_t count, observed;
    struct litmus_thread threads[LITMUS_THREADS];
    struct litmus_observed observe[LITMUS_OBSERVED];
    int16_t init[LITMUS_WORDS];
    uint16_t warm[LITMUS_THREADS]; /* global words in the L1 of an SM, a bit each */
    struct litmus_options options;
    const char *sc,
        *more; /* what is expected: outcomes with spaces between, or `count N`; NULL: nothing said */
};

enum litmus_model { LITMUS_SC, LITMUS_PRINTED, LITMUS_LLH, LITMUS_COHERENT, LITMUS_MODELS };
extern const char *const litmus_model_names[LITMUS_MODELS];

struct litmus_result {
    char **outcomes; /* in order, each once */
    uint32_t count;
    uint32_t states, dead; /* dead: states without a step whose threads have not ended */
};

/* The next test of a text; false at its end or at an error, which stands in `diag`. */
struct litmus_reader {
    const char *at;
    uint32_t line;
};
bool litmus_next(struct arena *arena, struct litmus_reader *reader, struct litmus_test *test,
                 struct diag *diag);

/* All outcomes. False: more than `limit` states. */
bool litmus_run(struct arena *arena, const struct litmus_test *test, enum litmus_model model,
                uint32_t limit, struct litmus_result *result);

/* Does the test's text expect exactly these sets? */
bool litmus_expected(const struct litmus_test *test, const struct litmus_result *sc,
                     const struct litmus_result *model);

#endif
