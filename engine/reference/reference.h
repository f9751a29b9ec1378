/*
 * reference.h - the semantics once more, to be read beside the papers and for nothing else.
 *
 * The engine is written to be fast: statements are numbers, stacks hold slices, masks are bits, expressions are code,
 * and one evaluator serves all. Here a statement is a node of the kernel's tree, a stack is a list of statements, a
 * mask is a table of lanes, an expression is walked; each rule is one small function. Nothing is shared with the
 * engine but the tree, the launch, and the names of the rules (tests/structure/reference.sh holds it to that).
 *
 * The reference chooses nothing. It follows somebody else's execution: the actor that steps, and the order in which
 * lanes write, are told to it (struct ref_told); everything else follows. oracle/follow does that for the engine.
 *
 *     kind            actors     papers
 *     REF_THREADS     threads    simt-correctness Table 4                         ref_threads.c
 *     REF_SIMT        warps      simt-correctness Table 2                         ref_warps.c
 *     REF_INTERLEAVE  threads    lockstep-cfg Figs. 4, 8, section 4               ref_blocks.c
 *     REF_LOCKSTEP    blocks     lockstep-cfg Tables 3, 6, Fig. 6                 ref_lockstep.c
 *     REF_SPLITS      lanes      docs/semantics.md, convergence barriers          ref_splits.c
 */
#ifndef ENGINE_REFERENCE_H
#define ENGINE_REFERENCE_H

#include "engine/base/arena.h"
#include "engine/language/ast.h"
#include "engine/machine/rules.h"

enum ref_kind { REF_THREADS, REF_SIMT, REF_INTERLEAVE, REF_LOCKSTEP, REF_SPLITS };

/* How an execution ends: an error, or every actor at its end. */
enum ref_end {
    REF_RUNNING,
    REF_TERMINATED,
    REF_ASSERT_FAILS,
    REF_BARRIER_DIVERGENCE,
    REF_OUT_OF_BOUNDS,
    REF_CALL_DEPTH,
    REF_INFEASIBLE,
    REF_STUCK,
    REF_ENDS
};

extern const char *const ref_end_names[REF_ENDS]; /* "running", "terminated", "assert_fails" ... */

struct ref_options {
    bool then_first;   /* REF_SIMT: if_then^w instead of if^w */
    bool barrier_f1;   /* CFG.barrier_F1 as printed */
    bool vacuous_sync; /* REF_LOCKSTEP: B-13 */
    bool literal;      /* REF_INTERLEAVE: choices are told, not drawn; */
    bool raw_goto;     /* any target is one, and its guard ends the run */
    bool appendix;     /* loops as App. A reads literally (B-2) */
};

/* Some lanes of a warp. */
struct ref_lanes {
    bool has[LIMIT_WARP];
};

/* A place that holds a value. `address` where others see it: global memory first, then the shared memory of block 0,
 * 1, ...; a private place has REF_PRIVATE. */
#define REF_PRIVATE UINT32_MAX
struct ref_cell {
    int32_t *word; /* NULL: there is none, an index is outside of its array */
    uint32_t address;
};

/* What a step did to memory that others see, in this order. */
enum ref_access_kind { REF_READ, REF_WRITE, REF_ATOMIC };
struct ref_access {
    enum ref_access_kind kind;
    uint32_t thread, address;
    int32_t value; /* written; of a read 0 */
};

/* An activation of a function: its parameters and variables in order of declaration. */
struct ref_frame {
    const struct ast_function *function;
    const struct ast_stm *call; /* in the caller; NULL: the kernel's own */
    int32_t *values;            /* one variable's elements after another's, so many: */
    uint32_t words;
    uint32_t *trips; /* of each loop of the graph (REF_INTERLEAVE) */
    struct ref_frame *below;
};

/* ---- stacks of Tables 2 and 4: lists, topmost first ---- */

enum ref_item_kind {
    REF_STM,
    REF_CONT, /* while^o, the continuing loop */
    REF_BRK,  /* from here on: contexts, tokens */
    REF_CALL,
    REF_DIV,
    REF_SYNC,
    REF_EVALUATED, /* x := v, between assign_rd and assign_wr */
};

struct ref_item {
    enum ref_item_kind kind;
    const struct ast_stm *stm; /* also of REF_CALL: where the call stands; NULL: the kernel's own */
    const void *empty;     /* REF_THREADS: of ref_skip, where the list that it stands for is kept */
    struct ref_lanes mask; /* of a token */
    struct ref_cell cell;  /* REF_EVALUATED */
    int32_t value;
    uint32_t trips; /* REF_CONT: since the loop was entered */
    uint32_t name;  /* REF_SPLITS: of a barrier, unlike all others; of a statement 0 */
    struct ref_item *rest;
};

/* An empty list of statements is one `;`. */
extern const struct ast_stm ref_skip;

/* ---- actors ---- */

struct ref_thread {
    struct ref_frame *frames; /* topmost first */
    uint32_t depth;           /* how many frames */
    uint32_t choices;         /* made so far */
};

struct ref_actor {
    struct ref_item *stack; /* REF_THREADS, REF_SIMT; NULL: final */
    /* REF_SIMT; REF_SPLITS: of the lane's warp */
    uint32_t first_thread, lanes;
    /* REF_SPLITS: the number of the lane's split; it waits at the barrier on top of its stack */
    uint32_t together;
    bool arrived;
    /* REF_SIMT */
    struct ref_lanes theta;
    char delta[LIMIT_WARP]; /* '0' 'b' 'r' 'e' */
    /* REF_INTERLEAVE, REF_LOCKSTEP: in a block, `next` is left of it (NULL: its goto or return); about to enter it;
     * block NULL: at End */
    const struct ast_block *block;
    const struct ast_stm *next;
    bool inside;
    bool waits, ended;
};

struct ref_graphs;

struct ref {
    enum ref_kind kind;
    struct ref_options options;
    const struct ast_kernel *kernel;
    uint32_t thread_count, actor_count, actors_a_block, warps_a_block;
    uint32_t shared_base, private_base, words; /* of memory: global, shared, private */
    int32_t *memory;
    struct ref_thread *threads;
    struct ref_actor *actors;
    struct ref_graphs *graphs;
    uint32_t names_given; /* REF_SPLITS: to splits and barriers; none is 0 */
    enum ref_end end;
    uint32_t end_thread;
    const char *unknown; /* what it does not know, or has no room for; then nothing more is said */
    const char *misled;  /* what it was told cannot be */
    bool nobody;         /* an any(..) of the last step held for no thread: of sync, B-13 */
    struct ref_access *accesses; /* of the last step */
    uint32_t access_count;
    uint64_t ways;               /* in which the last step might have ended, at least */
    const struct ref_told *told; /* of the step at hand */
    uint32_t choices_taken;      /* of those told */
    struct ref_room *room;
    struct ref_walk *walk; /* ref_source.h: who tells what is read */
};

/* ---- in how many ways a step may end (ref_statements.c) ---- */

/* What threads write together; places are told apart by a number. */
struct ref_one_write {
    uint64_t place, value;
};

struct ref_one_atomic {
    uint64_t place, before; /* what lies there before all of them */
    uint64_t b, c;
};

struct ref_atomics {
    bool shows_found; /* each keeps what it found */
    const void *what;
    uint64_t (*after)(const void *what, uint64_t before, uint64_t b, uint64_t c);
};

uint64_t ref_ways_of_writes(const struct ref_one_write *x, uint32_t count);
uint64_t ref_ways_of_atomics(const struct ref_one_atomic *x, uint32_t count,
                             const struct ref_atomics *all);

/* What the reference is told of a step: threads, in the order in which they wrote, did their atomics; with literal
 * choices the numbers of what was chosen. */
struct ref_told {
    const uint32_t *order;
    uint32_t count;
    const uint32_t *choices;
    uint32_t choice_count;
};

/* Room for the stacks of one execution at a time; shared by all references of a case. */
struct ref_room *ref_room_new(struct arena *arena);

/* The kind that has a second account of the semantics of this name; false: none has. */
bool ref_find(const char *semantics, enum ref_kind *kind);

/* A reference for the kernel's tree, in the form that `kind` runs: core, blocks, lock-step. NULL: too large, *why. */
struct ref *ref_new(struct arena *arena, struct ref_room *room, const struct ast_kernel *kernel,
                    enum ref_kind kind, const struct ref_options *options, const char **why);

/* At the start. `inputs`: memory as the launch drew it; of variables that are no `input`, nothing is taken. */
void ref_start(struct ref *r, const int32_t *inputs);

/* One step of an actor: the rule that applies. RULE_NONE: none, or r->unknown. */
enum rule ref_step(struct ref *r, uint32_t actor, const struct ref_told *told);

/* Stacks of Table 4: whether two threads are at one program counter, which in literal mode has evaluated values, too
 * (5.2, A-7). */
bool ref_at_one_place(const struct ref_item *a, const struct ref_item *b, bool literal);

/* How many calls are on the stack, the kernel's own included. */
uint32_t ref_calls_on(const struct ref_item *stack);

/* Whether the actor can step; how many can. */
bool ref_is_live(const struct ref *r, uint32_t actor);
uint32_t ref_live_count(const struct ref *r);

/* REF_SPLITS, of a lane that is not final: the lanes of its split, and the lowest. Whether it waits at a barrier that
 * now has everybody; join^c: those that wait there go on as one. */
struct ref_lanes ref_splits_lanes(const struct ref *r, uint32_t thread);
uint32_t ref_splits_leader(const struct ref *r, uint32_t thread);
bool ref_splits_complete(const struct ref *r, uint32_t thread);
void ref_splits_join(struct ref *r, uint32_t thread);

/* Lock-step: whether the thread takes part in the block's next step. */
bool ref_lockstep_enabled(struct ref *r, uint32_t block, uint32_t thread);

/* The barrier rule of a block, when none of its actors can step and some wait: barrier_S, barrier_F, RULE_NONE. */
enum rule ref_barrier_rule(const struct ref *r, uint32_t block);
void ref_barrier(struct ref *r, uint32_t block);

/* ---- ref_expr.c ---- */

/* What operators make of words (docs/kernel-language.md); && and || of two that have been evaluated. */
int32_t ref_unary(enum ast_unary op, int32_t a);
int32_t ref_binary(enum ast_binary op, int32_t a, int32_t b);

#endif
