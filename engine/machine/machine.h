/*
 * machine.h - the transition-system interface.
 *
 *     start -> state;   alternatives(state) -> n;   step(state, i) -> rule fired;   status(state)
 *
 * The actors of a machine are the threads (`threads`) or the warps (`simt`) of the grid, numbered
 * through it. The alternatives of a state are its live actors in ascending order; a scheduler picks
 * one. A choice inside a step (which lane wins a conflicting write) goes through `struct choices`
 * too, so a tape of all choices replays an execution byte for byte. Nothing else is
 * nondeterministic.
 *
 * An actor that waits at a barrier cannot step and is not among the live ones until its block is
 * released. When the last live actor of a block stops - it reaches a barrier, or is final - the
 * barrier rule fires within the same step (barrier.h): it touches nothing outside the block and
 * nothing else can happen there, so taking it at once loses no behaviour of the others. Named barriers
 * (PTX: crs_barrier.h, cta_internal.h) release whom they have, as soon as they are full; when no actor is
 * live and some wait, that is a deadlock.
 *
 * All mutable state of a machine lies in one block of memory, so a snapshot is a copy. A machine
 * started with `track` keeps an undo log and an incremental hash of the block, and clears what is
 * popped, so that equal states have equal bytes.
 */
#ifndef ENGINE_MACHINE_H
#define ENGINE_MACHINE_H

#include "engine/base/arena.h"
#include "engine/machine/memory_options.h"
#include "engine/machine/observer.h"
#include "engine/program/program.h"

enum status {
    STATUS_RUNNING,
    STATUS_TERMINATED,
    STATUS_ASSERT_FAILS,
    STATUS_BARRIER_DIVERGENCE,
    STATUS_OUT_OF_BOUNDS,
    STATUS_CALL_DEPTH,
    STATUS_INFEASIBLE,
    STATUS_DEADLOCK,
    STATUS_NONTERMINATING, /* a proven lasso: given by oracles and searches, never by a step */
    STATUS_STEP_LIMIT,     /* budget spent: proves nothing; given by the run loop */
    STATUS_STUCK,
    STATUS_UNSUPPORTED,
    STATUS_BARRIER_ERROR, /* named barriers: counts differ, or a full barrier (NB.cta_err) */
    STATUS_COUNT
};

extern const char
    *const status_names[STATUS_COUNT]; /* "terminated", ... as docs/oracles.md has them */

/* ---- choices ---- */

struct choices {
    /* Index into machine->head->live of the actor to step next. */
    uint32_t (*pick)(struct choices *choices, const struct machine *machine);
    /* One of n >= 2 possibilities inside the step of an actor. */
    uint32_t (*choose)(struct choices *choices, uint32_t n);
    /* NULL, or: likewise, but one of these `count` >= 1 values, which are enough (machine_options.symmetry). */
    uint32_t (*choose_of)(struct choices *choices, uint32_t n, const uint32_t *values,
                          uint32_t count);
};

/* ---- state ---- */

/* Start of every machine's block. */
struct machine_head {
    uint32_t status;       /* enum status: RUNNING, TERMINATED, or an error kind */
    uint32_t fault_thread; /* of an error */
    uint32_t fault_stm;
    uint32_t unfinished; /* actors that are not final: live or waiting */
    uint32_t live_count; /* actors that can step */
    uint32_t live[];     /* their numbers, ascending */
};

/* What the evaluator needs of a thread; lies in the block, since the frame moves. */
struct thread_context {
    uint32_t base[SPACE_COUNT]; /* word in memory where each space of this thread starts */
    int32_t builtin[BUILTIN_COUNT];
    uint32_t number;  /* in the grid */
    uint32_t choices; /* that it has made (choice.h) */
};

/* The actors of one thread block. */
struct machine_group {
    uint32_t first, count; /* its actors: [first, first + count) */
    uint32_t live, waiting, finished;
};

/* What becomes of shared memory at a barrier of P_{s,t} (C2.def). */
struct barrier_havoc {
    /* Called when a barrier of `block` releases: may change global and shared memory through
     * machine_poke. */
    void (*havoc)(void *context, struct machine *machine, uint32_t block);
    void *context;
};

struct undo_entry {
    uint32_t word; /* index into the block */
    uint32_t old;
};

struct track {
    uint64_t hash; /* of the block: XOR over its words of a mix of (index, value) */
    struct undo_entry *log;
    uint32_t log_count, log_capacity; /* INVARIANT when full: see machine_options.undo_entries */
};

struct machine_options {
    bool then_first;        /* simt: which path of an if runs first */
    bool literal;           /* havoc and goto ask struct choices, not the thread's stream */
    bool raw_goto;          /* a goto takes any target, also one whose guard is false */
    bool barrier_f1;        /* CFG.barrier_F1 as printed instead of the stuck rule (B-7) */
    bool vacuous_sync;      /* lock-step: a sync that nobody takes part in also separates
                                         intervals (B-13) */
    uint32_t crs_switches;  /* crs: 1u << CRS_SWITCH_... (crs.h) */
    uint32_t block_options; /* crs, block: BLOCK_... (crs.h) */
    uint32_t havoc_values;  /* literal: havoc picks one of 0 .. havoc_values - 1; 0 = 2 */
    /* P_{s,t}: only these two threads of the block exist (lock-step form: the vector has these two
     * components). pair_count 0: all of them. */
    uint32_t pair_count;
    uint32_t pair[2];
    const struct barrier_havoc *barrier_havoc; /* NULL: barriers change nothing */
    bool track;                                /* keep hash and undo log */
    uint32_t undo_entries;            /* capacity of the log; 0 = the log is dropped (hash only) */
    const struct observer *observers; /* chain, may be NULL */
    bool note_begun;                  /* the state says which actors have stepped: of searches */
    struct memory_options memory;
    const struct symmetry *symmetry; /* NULL, or: lanes that are alike need only one order */
};

/* An index outside of its array: where the array lies (code_place), its elements, the index. */
struct machine_outside {
    enum ast_space space;
    uint32_t offset, length;
    int32_t index;
};

struct lane_layout; /* symmetry.h */
struct symmetry;
struct semantics; /* a vtable, one instance each: semantics_threads, semantics_simt */

/* An access that leads nowhere: what it was, and which variable it was meant for. */
struct machine_fault {
    uint64_t address;
    uint32_t bytes;       /* of the access */
    const char *variable; /* NULL: it is near none */
    int64_t offset;       /* from the variable's start */
    uint64_t size;        /* bytes of the variable */
};

struct machine {
    const struct semantics *semantics;
    const struct program *program;
    enum rule (*step)(struct machine *machine, uint32_t actor, struct choices *choices);
    struct machine_head *head;
    struct thread_context *threads; /* total_threads */
    struct machine_group *groups;   /* a thread block of the grid each */
    int32_t *memory;                /* program.memory_words */
    uint32_t *block;                /* all of the state: head, memory, threads, stacks */
    uint32_t block_words;
    uint32_t actor_count;
    uint32_t
        alternatives; /* actor_count, and behind them those of the environment: they may be live too */
    struct machine_options options;
    bool sees_steps; /* an observer of the chain has `step` */
    struct track track;
    uint64_t steps;                 /* since the start; not part of the state */
    uint64_t hits[RULE_COUNT + 1];  /* since the machine was made */
    struct machine_outside outside; /* of the last evaluation that failed; length 0: of none */
    const char *fault_text; /* of FORM_PTX: more about the error, or the premise that is missing */
    struct machine_fault fault; /* out_of_bounds of FORM_PTX */
    void *extra;                /* of the semantics: its actors' state, inside the block */
    const struct ptx_memory
        *memory_model; /* crs/ptx_exec.h; NULL: memory is sequentially consistent */
    uint32_t *begun;   /* options.note_begun: an actor: 1 = a search let it step; or NULL */
    void *scratch;     /* of the semantics, not part of the state */
    uint32_t *initial; /* the block as it was at the start */
    uint64_t initial_hash;
};

/* ---- a semantics ---- */

/* What steps. */
enum actors {
    ACTORS_THREADS,
    ACTORS_WARPS,
    ACTORS_BLOCKS /* the threads of a block as one vector */
};

/* What a warp keeps of its lanes that wait. */
enum warp_stack {
    STACK_NONE, /* nothing that others look into */
    STACK_SIMT, /* tokens among the statements, simt-correctness Table 2: simt.h says them */
    STACK_CRS   /* the branch unit's token stack, cuda-crs 5.4: crs.h says them */
};

/* Entries as engine/warps/stack.h has them, topmost last; masks: of the tokens among them, for so many lanes; or NULL. */
struct actor_stack {
    uint32_t depth;
    const uint32_t *stack;
    const lane_mask *masks;
    uint32_t lanes;
};

/* What steps beside the actors: alternatives, with numbers from actor_count on, and the words of their state, which lie
 * behind the extra words. */
struct machine_environment {
    uint32_t alternatives, words;
};

struct semantics {
    const char *name;
    enum ast_form form; /* of the programs that it runs */
    enum actors actors;
    enum warp_stack stack;
    bool has_pcs;   /* warps whose lanes have a program counter each */
    uint32_t kinds; /* statements that it has rules for: bits 1u << enum code_kind */
    /* Why it does not run the program, although it has a rule for each statement; NULL: it does. The function may be
     * NULL. */
    const char *(*refuses)(struct arena *arena, const struct program *program);
    /* An actor's state in a line, for traces, in the arena. NULL: fuzz/trace knows how. */
    const char *(*describe)(struct arena *arena, const struct machine *machine, uint32_t actor);
    /* An actor's stack, of structured programs, for those who look into it. NULL: they know where it lies. */
    struct actor_stack (*stack_of)(const struct machine *machine, uint32_t actor);
    /* The same with a memory that is sequentially consistent; NULL: it is this one. */
    const struct semantics *plain;
    /* What steps beside the actors, by its number ("operation of warp 3", "L1 of SM 0"), in the arena. */
    const char *(*environment_name)(struct arena *arena, const struct machine *machine,
                                    uint32_t number);
    /* Words of state beyond head, memory and thread contexts. */
    uint32_t (*extra_words)(const struct program *program);
    uint32_t (*actor_count)(const struct program *program);
    /* NULL: nothing steps but the actors. */
    struct machine_environment (*environment)(const struct program *program,
                                              const struct machine_options *options);
    size_t scratch_bytes;                  /* room that a step needs beside the state */
    void (*init)(struct machine *machine); /* extra state; head and memory are ready */
    /* What of the extra state belongs to one thread (symmetry.h); NULL: it is not known. */
    void (*layout)(const struct machine *machine, struct lane_layout *layout);
    enum rule (*step[4])(struct machine *, uint32_t, struct choices *); /* by MACHINE_* bits */
    /* Of the lock-step form: all(e), any(e) over the components of the thread's block, 0 or 1. False: a fault. */
    bool (*reduce)(struct machine *machine, uint32_t thread, const struct code_expr_op *op,
                   uint32_t stm, int32_t *result);
    /* Variables of global and shared memory that the actor's next step may read and write, as in
     * code_stm. */
    void (*footprint)(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes);
    /* Statement that the actor's next step executes; CODE_NONE for tokens, contexts, inact. */
    uint32_t (*next_stm)(const struct machine *machine, uint32_t actor);
    /* Whether the actor has finished its text, though it may have steps left that are not in it: a barrier that the
     * normal form adds (CFG.final), and what stands behind it. NULL: there are none (live.h, is_finished). */
    bool (*past_text)(const struct machine *machine, uint32_t actor);
    /* Threads (NULL: the actors are warps). The statement that control is at, below contexts; CODE_NONE
     * at the end. Whether two threads are at one program counter: equal stacks, or pcs and frames
     * (simt-correctness, 5.2); not literal: whatever value an evaluated assignment holds. */
    uint32_t (*control)(const struct machine *machine, uint32_t actor);
    bool (*same_pc)(const struct machine *machine, uint32_t actor, uint32_t other, bool literal);
    /* Entries on its stack, or frames. */
    uint32_t (*level)(const struct machine *machine, uint32_t actor);
    /* Barriers. Whether two waiting actors of one block are at the same barrier with the same barrier
     * variables (CFG.bv.*); NULL: the semantics has no waiting actors. */
    bool (*same_barrier)(const struct machine *machine, uint32_t actor, uint32_t other);
    /* The actor goes past the barrier at which it waits; barrier variables count from 0 again, in all
     * frames: they were equal in all threads, and only differences are ever looked at, so states that
     * differ in them alone are the same. */
    void (*pass_barrier)(struct machine *machine, uint32_t actor);
    enum rule barrier_rule;    /* what fires when a block is released */
    enum rule divergence_rule; /* and when it cannot be: the execution ends */
};

enum { MACHINE_OBSERVED = 1, MACHINE_TRACKED = 2 }; /* bits of the step variants */

extern const struct semantics semantics_threads;     /* threads.h */
extern const struct semantics semantics_simt;        /* simt.h */
extern const struct semantics semantics_interleave;  /* interleave.h: FORM_BLOCKS */
extern const struct semantics semantics_lockstep;    /* lockstep.h: FORM_LOCKSTEP */
extern const struct semantics semantics_crs;         /* crs.h: FORM_PTX */
extern const struct semantics semantics_thread_pc;   /* crs.h: FORM_PTX */
extern const struct semantics semantics_block;       /* crs.h: FORM_PTX */
extern const struct semantics semantics_its;         /* crs.h: FORM_PTX */
extern const struct semantics semantics_convergence; /* convergence.h */
extern const struct semantics semantics_crs_caches, semantics_thread_pc_caches,
    semantics_block_caches; /* caches.h */

/* Why the semantics cannot run the program - its form, or a statement that it has no rule for
 * ("unsupported statement 'barrier' at line 3", in the arena) - or NULL: it can. */
const char *machine_refuses(struct arena *arena, const struct semantics *semantics,
                            const struct program *program);

/* A machine in its initial state, in the arena. */
struct machine *machine_new(struct arena *arena, const struct semantics *semantics,
                            const struct program *program, const struct machine_options *options);

/* Back to the initial state (hits and options are kept, steps and log cleared). */
void machine_reset(struct machine *machine);

/* Back to the initial state but for the memory of all blocks, which stays as it is: the next blocks of a grid. */
void machine_restart(struct machine *machine);

/* Replaces the observers; the chain must outlive their use, and who hears of steps must not change in it.
 * NULL: none (the fast variant). */
void machine_observe(struct machine *machine, const struct observer *observers);

static inline enum status machine_status(const struct machine *machine)
{
    return (enum status)machine->head->status;
}

/* One step of a live actor. */
static inline enum rule machine_step(struct machine *machine, uint32_t actor,
                                     struct choices *choices)
{
    return machine->step(machine, actor, choices);
}

/* Copies of the whole state: block_words words. Restoring recomputes nothing but the hash given. */
void machine_save(const struct machine *machine, uint32_t *words);
void machine_restore(struct machine *machine, const uint32_t *words, uint64_t hash);
bool machine_equals(const struct machine *machine, const uint32_t *words);

/* Writes global or shared memory from outside of a step (barrier havoc); logged, not observed. */
void machine_poke(struct machine *machine, uint32_t address, int32_t value);

/* Undoes everything logged since the log had `mark` entries (track only). */
void machine_undo(struct machine *machine, uint32_t mark);

/* Hash and bytes of the final store: global and shared memory (private_base words). */
uint64_t machine_store_hash(const struct machine *machine);

#endif
