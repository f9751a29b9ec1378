/*
 * state.h - what a machine is made of: the state, which is one block of memory, and what stands beside it.
 */
#ifndef ENGINE_MACHINE_STATE_H
#define ENGINE_MACHINE_STATE_H

#include "engine/base/arena.h"
#include "engine/machine/memory_options.h"
#include "engine/machine/observer.h"
#include "engine/program/program.h"

struct choices;   /* machine.h */
struct semantics; /* traits.h */
struct symmetry;  /* symmetry.h */

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

#endif
