/*
 * fault.h - what went wrong in an execution, as facts: who, where, which index of which array, who waits for whom.
 * Of each subject the first execution that ended so is kept; a person, a program and the reducer read the same.
 */
#ifndef ORACLE_FAULT_H
#define ORACLE_FAULT_H

#include "engine/machine/machine.h"

/* What may happen to a kernel that nobody wants: the words of --fail-on. */
enum outcome {
    OUTCOME_RACE,
    OUTCOME_OOB,        /* out_of_bounds */
    OUTCOME_DEADLOCK,   /* also what named barriers call an error */
    OUTCOME_DIVERGENCE, /* barrier_divergence */
    OUTCOME_ASSERT,     /* assert_fails */
    OUTCOME_HANG,       /* proven not to end: a state that comes back */
    OUTCOME_ERROR,      /* any other end that is none: stuck, call_depth */
    OUTCOME_COUNT,
    OUTCOME_NONE = OUTCOME_COUNT
};

extern const char *const outcome_names[OUTCOME_COUNT]; /* "race", "oob", ... */

/* What a status is; OUTCOME_NONE: nothing bad, or nothing known (step_limit, infeasible, unsupported). */
enum outcome outcome_of(enum status status);

struct check_fault {
    enum status status;
    uint32_t thread; /* in the grid */
    uint32_t stm;    /* CODE_NONE: none */
    uint32_t line;   /* of the kernel's text; 0: none */
    /* out_of_bounds of a structured kernel, or one in blocks: the array's element that there is none of. */
    const struct ast_var *var; /* NULL: not known */
    uint32_t length;
    int32_t index;
    /* out_of_bounds of PTX: the access, and the variable that it was meant for. */
    uint64_t address, size; /* size: bytes of the variable */
    uint32_t bytes;         /* of the access; 0: not known */
    const char *variable;   /* NULL: it is near none */
    int64_t offset;         /* bytes from the variable's start */
    const char *text;       /* what the machine says, or NULL: "read of 4 bytes at 0x7000 ..." */
    uint32_t thread_count;  /* in `waits`; 0: nobody waits */
    const uint32_t *
        waits_at; /* a thread of the grid: the statement at which it, or its warp, waits; FAULT_ENDED */
};

static const uint32_t FAULT_ENDED = CODE_NONE - 1, FAULT_RUNS = CODE_NONE;

/* Of a machine whose execution has ended in an error. */
const struct check_fault *fault_of(struct arena *arena, const struct machine *machine);

/* "out_of_bounds: s[8] of 8 by thread 7 at line 3", "deadlock: threads 0 to 2 wait at line 7, thread 3 has ended" */
const char *fault_sentence(struct arena *arena, const struct program *program,
                           const struct check_fault *fault);

/* "thread 3", "thread 1 of block 2": as a CUDA programmer counts. */
const char *fault_thread(struct arena *arena, const struct program *program, uint32_t thread);

#endif
