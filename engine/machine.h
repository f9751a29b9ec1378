/*
 * machine.h - the transition-system interface (design.md, "One idea carries the engine").
 *
 *     start -> state;   alternatives(state) -> n;   step(state, i) -> rule fired;   status(state)
 *
 * The actors of a machine are the threads (`threads`) or the warps (`simt`) of the grid, numbered
 * through it. The alternatives of a state are its live actors in ascending order; a scheduler picks
 * one. A choice inside a step (which lane wins a conflicting write) goes through `struct choices`
 * too, so a tape of all choices replays an execution byte for byte. Nothing else is
 * nondeterministic.
 *
 * All mutable state of a machine lies in one block of memory, so a snapshot is a copy. A machine
 * started with `track` keeps an undo log and an incremental hash of the block, and clears what is
 * popped, so that equal states have equal bytes.
 */
#ifndef ENGINE_MACHINE_H
#define ENGINE_MACHINE_H

#include "engine/arena.h"
#include "engine/observer.h"
#include "engine/program.h"

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
    STATUS_COUNT
};

extern const char
    *const status_names[STATUS_COUNT]; /* "terminated", ... as command-line.md has them */

/* ---- choices ---- */

struct choices {
    /* Index into machine->head->live of the actor to step next. */
    uint32_t (*pick)(struct choices *choices, const struct machine *machine);
    /* One of n >= 2 possibilities inside the step of an actor. */
    uint32_t (*choose)(struct choices *choices, uint32_t n);
};

/* ---- state ---- */

/* Start of every machine's block. */
struct machine_head {
    uint32_t status;       /* enum status: RUNNING, TERMINATED, or an error kind */
    uint32_t fault_thread; /* of an error */
    uint32_t fault_stm;
    uint32_t live_count; /* actors that are not final */
    uint32_t live[];     /* their numbers, ascending */
};

/* What the evaluator needs of a thread; lies in the block, since the frame moves. */
struct thread_context {
    uint32_t base[SPACE_COUNT]; /* word in memory where each space of this thread starts */
    int32_t builtin[BUILTIN_COUNT];
    uint32_t number; /* in the grid */
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
    bool then_first;                  /* simt: which path of an if runs first */
    bool track;                       /* keep hash and undo log */
    uint32_t undo_entries;            /* capacity of the log; 0 = the log is dropped (hash only) */
    const struct observer *observers; /* chain, may be NULL */
};

struct semantics; /* a vtable, one instance each: semantics_threads, semantics_simt */

struct machine {
    const struct semantics *semantics;
    const struct program *program;
    enum rule (*step)(struct machine *machine, uint32_t actor, struct choices *choices);
    struct machine_head *head;
    struct thread_context *threads; /* total_threads */
    int32_t *memory;                /* program.memory_words */
    uint32_t *block;                /* all of the state: head, memory, threads, stacks */
    uint32_t block_words;
    uint32_t actor_count;
    struct machine_options options;
    struct track track;
    uint64_t steps;                /* since the start; not part of the state */
    uint64_t hits[RULE_COUNT + 1]; /* since the machine was made */
    void *extra;                   /* of the semantics: its actors' state, inside the block */
    void *scratch;                 /* of the semantics, not part of the state */
    uint32_t *initial;             /* the block as it was at the start */
    uint64_t initial_hash;
};

struct semantics {
    const char *name;
    /* Words of state beyond head, memory and thread contexts. */
    uint32_t (*extra_words)(const struct program *program);
    uint32_t (*actor_count)(const struct program *program);
    size_t scratch_bytes;                  /* room that a step needs beside the state */
    void (*init)(struct machine *machine); /* extra state; head and memory are ready */
    enum rule (*step[4])(struct machine *, uint32_t, struct choices *); /* by MACHINE_* mode bits */
    /* Variables of global and shared memory that the actor's next step may read and write, as in
     * code_stm. */
    void (*footprint)(const struct machine *machine, uint32_t actor, uint64_t *reads,
                      uint64_t *writes);
    /* Statement that the actor's next step executes; CODE_NONE for tokens, contexts, inact. */
    uint32_t (*next_stm)(const struct machine *machine, uint32_t actor);
};

enum { MACHINE_OBSERVED = 1, MACHINE_TRACKED = 2 }; /* bits of the step variants */

extern const struct semantics semantics_threads; /* threads.h */
extern const struct semantics semantics_simt;    /* simt.h */

/* A machine in its initial state, in the arena. */
struct machine *machine_new(struct arena *arena, const struct semantics *semantics,
                            const struct program *program, const struct machine_options *options);

/* Back to the initial state (hits and options are kept, steps and log cleared). */
void machine_reset(struct machine *machine);

/* Replaces the observers; the chain must outlive their use. NULL: none (the fast variant). */
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

/* Undoes everything logged since the log had `mark` entries (track only). */
void machine_undo(struct machine *machine, uint32_t mark);

/* Hash and bytes of the final store: global and shared memory (private_base words). */
uint64_t machine_store_hash(const struct machine *machine);

#endif
