/*
 * lift.h - kernels given as PTX, for two symbolic threads: the laid-out program's instructions, in blocks.
 *
 * A register is a private variable of 32 or 64 bits. Memory are the kernel's variables in global and shared
 * memory, arrays of words. An address is a number, as it is in executions (ptx_code.h): an access is one of each
 * variable that it may lie in, where it does, and who lies in none is out of bounds. What floating-point
 * instructions, votes, shuffles and a few others give is anything.
 */
#ifndef ENGINE_DUO_LIFT_H
#define ENGINE_DUO_LIFT_H

#include "engine/duo/duo.h"
#include "engine/program/ptx_code.h"

enum { LIFT_PLACES = 64 };

/* Where an access may lie. */
struct lift_place {
    const struct ptx_region *region;
    enum ptx_word space;
    uint64_t address; /* of its first byte, in its space */
    uint64_t window;  /* what a generic address has more */
    struct ast_var *var;
    uint32_t word; /* of `var`, where it starts */
};

struct lift {
    const struct program *program;
    const struct ptx_code *code;
    uint32_t *first, *end; /* a block: its instructions code->ops[first .. end) */
    uint32_t *block_at; /* an instruction that a block starts with: its number; else UINT32_MAX */
    struct ast_var **narrow, **wide; /* registers, by row */
    struct ast_var *local, *constants;
    uint32_t place_count;
    struct lift_place places[LIFT_PLACES];
    /* An instruction: the places that it may access, a bit each; NULL: all of its space. */
    const uint64_t *allowed;
    uint64_t *touched;   /* that it may have accessed in this run, as ranges of addresses say */
    uint64_t **live;     /* a block: registers read before they are written, from its start on */
    uint32_t live_words; /* of such a set */
    term tid[2][3], bid[2][3];
    bool ordered;          /* somebody says something of order (docs/races.md) */
    uint32_t strong_sizes; /* bytes of strong accesses and atomics, all sizes or-ed */
};

/* Fills in duo->lift, duo->kernel. False: *reason. */
bool lift_new(struct duo *duo, struct forms *forms, const char **reason);

/* What each instruction may access, of an earlier run; NULL: all of its space. */
void lift_settle(struct duo *duo, const uint64_t *touched);

/* After the variables have numbers: which are wide, what is written. */
void lift_note_variables(struct duo *duo);

/* The launch's threads and blocks by dimensions. */
void lift_launch(struct duo *duo);

/* What a variable holds at first for thread k. */
term lift_initial(struct duo *duo, const struct ast_var *var, uint32_t k);

/* An access in the log: strong ones of the whole device, all of one size, race with each other as little as atomics. */
uint32_t lift_log_kind(const struct lift *lift, const struct ptx_op *op);

/* Whether an access of the instruction may lie there. */
bool lift_allows(const struct lift *lift, uint32_t pc, uint32_t place);

/* Whether anybody reads it from the start of the block on, before it is written. */
bool lift_is_live(const struct duo *duo, uint32_t block, const struct ast_var *var);

/* duo_block, of instructions. */
void lift_block(struct duo *duo, term *state, uint32_t block);

/* Slots that the block may change. */
void lift_mark_changes(struct duo *duo, uint32_t block, uint8_t *changed);

/* ---- between the files of lift_*.c ---- */

/* What a value stands for that an instruction makes up: a result, by number; .. */
enum lift_made {
    LIFT_LEFT = PTX_CODE_RESULTS, /* what an atomic leaves in memory */
    LIFT_MET,                     /* a strong read meets another thread's write: a Boolean */
    LIFT_SPECIAL                  /* a special register of which nothing is known */
};

/* An instruction of thread k. */
struct lifting {
    struct duo *duo;
    struct lift *lift;
    term *state;
    uint32_t k, pc;
    const struct ptx_op *op;
    struct location at;
    term active;                   /* the thread executes it */
    term loaded[PTX_CODE_RESULTS]; /* ld, atom: what it gives so far */
};

/* The value of an operand, of its size. */
term lift_value(struct lifting *x, const struct ptx_place *place);
void lift_set(struct lifting *x, const struct ptx_place *place, term value);
/* Anything, of a result's size; what an atomic leaves, of a place that is no result. */
term lift_anything(struct lifting *x, const struct ptx_place *place);
/* A value that is made up. */
term lift_make(struct lifting *x, enum term_sort sort, const char *what, uint32_t as);

/* ld, st, atom, red. What is left of x->active: who was not out of bounds. */
term lift_access(struct lifting *x);

/* An instruction that computes. */
void lift_compute(struct lifting *x);

/* A barrier of all threads changes memory and log. */
void duo_mark_barrier(struct duo *duo, uint8_t *changed);

#endif
