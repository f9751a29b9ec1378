/*
 * litmus.h - small programs of several threads, and all results that a memory can give them.
 *
 * A test has at most four threads. Two readers make it, of the text of docs/memory.md (litmus_parse.c) and of the
 * field's text for PTX (litmus_ptx.c). Four words are global; in the first text s0 to s3 belong to a block (the threads
 * of one SM), l0 and l1 to a thread. The models: `sc` takes whole instructions in turn; `printed`, `llh` and `coherent`
 * run the memory programs of cuda-crs, chapter 4, in micro steps (litmus_memory.c); the others are axioms
 * (engine/axiom).
 */
#ifndef ENGINE_LITMUS_H
#define ENGINE_LITMUS_H

#include "engine/base/arena.h"
#include "engine/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LITMUS_THREADS = 4,
    LITMUS_CODE = 32,
    LITMUS_REGISTERS = 8,
    LITMUS_LANES = 2,
    LITMUS_GLOBALS = 4,
    LITMUS_WORDS = LITMUS_GLOBALS + 4 * LITMUS_THREADS + 2 * LITMUS_THREADS,
    LITMUS_OBSERVED = 8,
    LITMUS_NAME = 64,
    LITMUS_BARRIERS = 4, /* different numbers of barriers */
    LITMUS_TERMS = 32,   /* of a condition */
};

enum litmus_op {
    LITMUS_LD,
    LITMUS_ST,
    LITMUS_ADD_ATOM,
    LITMUS_SUB,
    LITMUS_EXCH,
    LITMUS_AND,
    LITMUS_OR,
    LITMUS_XOR,
    LITMUS_MIN,
    LITMUS_MAX,
    LITMUS_CAS, /* the last that touches memory */
    LITMUS_MEMBAR,
    LITMUS_WAIT,
    LITMUS_BAR,
    LITMUS_ARRIVE,
    LITMUS_USE, /* from here on registers only */
    LITMUS_MOV,
    LITMUS_ADD,
    LITMUS_BZ, /* from here on branches */
    LITMUS_BNZ,
    LITMUS_BEQ,
    LITMUS_BNE,
    LITMUS_JUMP,
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

/* What PTX says of an operation since 6.0; of a membar, a fence of this order. */
enum litmus_order {
    ORDER_WEAK,
    ORDER_RELAXED,
    ORDER_ACQUIRE,
    ORDER_RELEASE,
    ORDER_ACQ_REL,
    ORDER_SC
};
enum litmus_space { WORD_GLOBAL, WORD_SHARED, WORD_LOCAL };

struct litmus_operand {
    bool is_register;
    int16_t value; /* or the register's number */
};

struct litmus_instruction {
    enum litmus_op op;
    enum litmus_cache cache;
    enum litmus_scope scope;
    enum litmus_order order;
    bool no_result;                     /* an atomic operation without a register: red */
    uint8_t barrier, arrivals, threads; /* of a barrier: which, how many arrivals, or else whose */
    uint8_t lanes;
    uint8_t reg[LITMUS_LANES];  /* destinations; of use, bz and bnz the register that is read */
    uint8_t word[LITMUS_LANES]; /* as a number below LITMUS_WORDS */
    struct litmus_operand a[LITMUS_LANES], b;
    uint8_t target;
};

struct litmus_thread {
    uint8_t sm, cta, gpu, length, registers;
    char names[LITMUS_REGISTERS][8];
    int16_t first[LITMUS_REGISTERS]; /* values at the beginning */
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

/* A condition on an outcome, operands before what combines them. */
enum litmus_term_kind { TERM_EQUAL, TERM_DIFFERENT, TERM_NOT, TERM_AND, TERM_OR, TERM_TRUE };
struct litmus_term {
    enum litmus_term_kind kind;
    uint8_t left, right; /* places in `observe` */
    bool is_value;       /* compared with `value` and not with `right` */
    int16_t value;
};
enum litmus_quantifier { ASKS_NOTHING, ASKS_EXISTS, ASKS_NEVER, ASKS_FORALL };
struct litmus_condition {
    enum litmus_quantifier asks;
    uint8_t count;
    struct litmus_term terms[LITMUS_TERMS];
};

/* Models beside each other. Those up to LITMUS_COHERENT are run in steps; the others are axioms. */
enum litmus_model {
    LITMUS_SC,
    LITMUS_PRINTED,
    LITMUS_LLH,
    LITMUS_COHERENT,
    LITMUS_ASPLOS15,
    LITMUS_PTX60,
    LITMUS_PTX75,
    LITMUS_MODELS
};
extern const char *const litmus_model_names[LITMUS_MODELS];

enum litmus_model litmus_model_named(const char *name); /* LITMUS_MODELS: none */

enum litmus_stated { STATED_NOTHING, STATED_YES, STATED_NO };

struct litmus_test {
    char name[LITMUS_NAME];
    bool is_ptx; /* from the field's text */
    uint32_t line;
    char words[LITMUS_GLOBALS][8]; /* their names */
    struct litmus_condition condition;
    enum litmus_stated
        verdict[LITMUS_MODELS]; /* what the text says of the condition, or of the weak outcome */
    uint8_t count, observed;
    struct litmus_thread threads[LITMUS_THREADS];
    struct litmus_observed observe[LITMUS_OBSERVED];
    int16_t init[LITMUS_WORDS];
    uint16_t warm[LITMUS_THREADS]; /* global words in the L1 of an SM, a bit each */
    struct litmus_options options;
    const char *sc,
        *more; /* what is expected: outcomes with spaces between, or `count N`; NULL: nothing said */
};

struct litmus_result {
    char **outcomes; /* in order, each once */
    int16_t (*values)[LITMUS_OBSERVED];
    uint32_t count;
    uint32_t states, dead; /* dead: states without a step whose threads have not ended */
    const char *silent;    /* why the model says nothing about the test; NULL: it does */
    bool cut;              /* loops that went round too often were left out */
};

static inline bool litmus_is_barrier(const struct litmus_instruction *in)
{
    return in->op == LITMUS_BAR || in->op == LITMUS_ARRIVE;
}

/* What an atomic operation leaves: `value` is its operand, `other` that which cas writes. */
int16_t litmus_atom(enum litmus_op op, int16_t old, int16_t value, int16_t other);
bool litmus_writes(const struct litmus_instruction *in); /* a register, if it touches memory */
bool litmus_branches(const struct litmus_instruction *in, int16_t left, int16_t right);

/* The next test of a text; false at its end or at an error, which stands in `diag`. */
struct litmus_reader {
    const char *at;
    uint32_t line;
};
bool litmus_next(struct arena *arena, struct litmus_reader *reader, struct litmus_test *test,
                 struct diag *diag);

/* All outcomes under a model that is run in steps. False: more than `limit` states. */
bool litmus_run(struct arena *arena, const struct litmus_test *test, enum litmus_model model,
                uint32_t limit, struct litmus_result *result);

void litmus_add_outcome(struct arena *arena, const struct litmus_test *test,
                        struct litmus_result *result, const int16_t *values);

/* Is the condition true of these outcomes? */
bool litmus_holds(const struct litmus_test *test, const struct litmus_result *result);

/* Does a model allow the weak outcome: one of `more`, or, where that is empty, any that sc has not? */
bool litmus_weak(const struct litmus_test *test, const struct litmus_result *sc,
                 const struct litmus_result *model);

/* Does the test's text expect exactly these sets? */
bool litmus_expected(const struct litmus_test *test, const struct litmus_result *sc,
                     const struct litmus_result *model);

#endif
