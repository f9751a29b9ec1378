/*
 * lockstep_internal.h - the lock-step machine's parts: lockstep.c selects rules and evaluates
 * conditions, lockstep_vector.c has the statements on vectors, lockstep_control.c what moves the pc.
 *
 * In the rules: sigma is the store of all variables, v_t the component of thread t of the private
 * variable v, b the rest of the block, act_t that a statement's guard holds for t (without a guard:
 * always). Everything is read before anything is written; a component that is not enabled is not
 * evaluated (B-9). A block of threads is one actor, whose steps are long: so these files
 * are compiled once, and ask the machine whether it is observed and tracked.
 */
#ifndef ENGINE_LOCKSTEP_INTERNAL_H
#define ENGINE_LOCKSTEP_INTERNAL_H

#include "engine/blocks/interleave.h"
#include "engine/blocks/lockstep.h"
#include "engine/machine/semantics.h"

/* One actor's state. */
struct actor_state {
    uint32_t pc, ended, frames, unused;
    uint32_t calls[LIMIT_CALL_DEPTH]; /* of frame i > 0: the call statement */
};

enum { CONFLICT_SLOTS = 2 * LIMIT_THREADS };

/* What a step needs beside the state. Indexed by component, but for order and threads. */
struct lockstep_scratch {
    uint32_t address[LIMIT_THREADS];
    int32_t value[LIMIT_THREADS];
    struct atomic_operands operands[LIMIT_THREADS];
    uint8_t acts[LIMIT_THREADS];    /* the statement's guard holds */
    uint8_t enabled[LIMIT_THREADS]; /* lockstep_enabled */
    uint32_t order[LIMIT_THREADS];  /* threads, as the last statement wrote */
    uint32_t order_count;
    uint16_t next[LIMIT_THREADS];  /* component + 1 of the next with the same address, 0 = none */
    uint16_t last[LIMIT_THREADS];  /* of a chain that starts here: its end */
    uint16_t slot[CONFLICT_SLOTS]; /* component + 1 of the first with an address, 0 = free */
    /* Of the reductions that the statement has evaluated. */
    uint32_t fault;  /* thread whose operand read outside of an array, CODE_NONE */
    uint32_t breaks; /* first thread for which the operand of an all is false, CODE_NONE */
    bool nobody;     /* the operand of an any was false for everybody */
    /* What is evaluated is no access, and no part of the statement: reductions say none of this. */
    bool quiet;
    int32_t arguments[LIMIT_THREADS][LIMIT_PARAMETERS]; /* of a call */
    /* act of a block, cached: expression of the guard of its last pick, CODE_NONE: it has none. */
    uint32_t act_block, act;
    uint32_t threads[LIMIT_TOTAL_THREADS]; /* components of all blocks, one block after another */
};

/* What a rule works on. */
struct lockstep_step {
    struct machine *m;
    struct actor_state *L;
    struct lockstep_scratch *scratch;
    const uint32_t *threads; /* of the components */
    uint32_t count;
    const struct code_stm *s; /* statement at pc, if any */
    uint32_t number;          /* its number */
    uint32_t block;           /* the actor: a block of threads */
    struct choices *choices;
};

/* Values of the expression for threads[0 .. count), from `from` on, up to the first whose index lies
 * outside of an array; how many are known. */
uint32_t lockstep_values(struct machine *machine, const uint32_t *threads, uint32_t count,
                         uint32_t expr, uint32_t stm, int32_t *values);

/* The component's value. False: the execution has ended, an index lies outside its array. */
bool lockstep_component(struct lockstep_step *x, uint32_t i, uint32_t expr, int32_t *v);
/* The execution ends with the component's error. */
void lockstep_component_fault(struct lockstep_step *x, uint32_t i);

enum truth { TRUTH_FALSE, TRUTH_TRUE, TRUTH_FAULT };

/* A condition of the vector program: one value, or, for an expression over private variables outside
 * of all and any, its conjunction. TRUTH_FAULT: the execution has ended. */
enum truth lockstep_condition(struct lockstep_step *x, uint32_t expr);

/* Whether a guard holds, so that what it guards may be chosen: for a component; for the vector
 * program. Choosing accesses nothing (CFG.access); a guard whose index is outside is chosen, and
 * faults where it stands. */
bool lockstep_feasible(struct lockstep_step *x, uint32_t i, uint32_t guard);
bool lockstep_holds(struct lockstep_step *x, uint32_t guard);

/* The thread to name for a condition that is false. */
uint32_t lockstep_breaking_thread(const struct lockstep_step *x);

/* One of n >= 2: the next choice of a thread; in literal mode the scheduler's. */
uint32_t lockstep_choose(struct lockstep_step *x, uint32_t thread, uint32_t n);

static inline void lockstep_fault(struct lockstep_step *x, enum status status, uint32_t thread)
{
    machine_fault(x->m, status, thread, x->number);
}

static inline void lockstep_advance(struct lockstep_step *x)
{
    put(x->m, &x->L->pc, x->number + 1);
}

/* ---- rules: lockstep_vector.c; of those that have a guard scratch->acts says for whom it holds ---- */

enum rule lock_vec_assign(struct lockstep_step *x);
enum rule lock_psi_t(struct lockstep_step *x);
enum rule lock_psi_f(struct lockstep_step *x);
enum rule lock_vec_havoc(struct lockstep_step *x);
enum rule lock_pick(struct lockstep_step *x);
enum rule lock_atomic(struct lockstep_step *x);

/* ---- rules: lockstep_control.c ---- */

enum rule lock_goto(struct lockstep_step *x);
enum rule lock_block(struct lockstep_step *x);
enum rule lock_end(struct lockstep_step *x);
enum rule lock_call(struct lockstep_step *x);
enum rule lock_return(struct lockstep_step *x);

#endif
