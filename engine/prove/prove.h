/*
 * prove.h - whether a kernel is free of races and of barrier divergence for every input and every schedule:
 * two arbitrary threads are run symbolically, and a solver says whether they can conflict.
 *
 * The two threads run P (blocks, normalised, anchored where the kernel is structured) as the lock-step
 * program phi(P) of two threads runs it (lockstep-cfg Tables 3 and 6, App. C; gpuverify-tutorial): block
 * after block in the sort order, each for the threads that are in it. Thread 1 logs its accesses, thread 2
 * checks its own against the log; which of the two comes first does not matter, since both are arbitrary.
 *
 * What a proof means and assumes: docs/prove.md. Whatever cannot be proved is said with its reason.
 */
#ifndef ENGINE_PROVE_H
#define ENGINE_PROVE_H

#include "engine/duo/goals.h"
#include "engine/smt/solver.h"

enum proof_verdict {
    PROOF_PROVED,
    PROOF_MODEL, /* the solver gave values with which it goes wrong: nothing is believed before a replay */
    PROOF_BOUNDED, /* not within `unroll` trips of each loop; nothing is known beyond */
    PROOF_UNKNOWN
};
extern const char *const proof_verdict_names[];

/* A value of the model, for a replay or a reader. */
struct proof_value {
    const char *name; /* "havoc at line 7", "A after the barrier at line 9" */
    uint32_t value;
};

/* An input variable's values in the model. */
struct proof_input {
    const struct ast_var *var; /* of the kernel given */
    int32_t *values;           /* var->length of them */
};

/* What the threads find in memory behind a barrier that both of them pass. */
struct proof_interval {
    uint32_t var_count;
    struct proof_input *vars; /* that somebody writes */
};

/* How it goes wrong. */
struct proof_model {
    enum proof_goal goal;
    struct location at; /* race: thread 2's access; otherwise where it goes wrong */
    const char *var;    /* race, bounds; or NULL */
    uint32_t element;   /* race */
    const char *kind;   /* race: "read", "write", "atomic", by thread 2 */
    uint32_t threads;   /* of a block */
    uint32_t tid[2], bid[2];
    uint32_t input_count;
    struct proof_input *inputs;
    uint32_t guess_count; /* values made up: what was read after a barrier, havoc .. */
    struct proof_value *guesses;
    bool private_inputs; /* the threads' own inputs differ, which no initialiser can say */
    bool assumes;        /* an assume ends threads, of which an execution knows nothing */
    bool ordered;        /* of PTX that says something of order, of which proofs know nothing */
    bool by_unrolling;   /* no loop was cut: only the guesses are made up */
    /* Of a model by unrolling in which nothing but memory behind barriers is made up: all that is. */
    bool guided;
    uint32_t interval_count;
    struct proof_interval *intervals;
};

struct proof_answer {
    enum proof_verdict verdict;
    const char *method; /* "no loop", "unrolled 3", "invariants"; NULL: none */
    const char *reason; /* PROOF_UNKNOWN */
    /* PROOF_MODEL; of the others, when not NULL: values that the invariants found do not exclude. */
    const struct proof_model *model;
};

/* What is known at a loop's head, as text in the kernel's words. */
struct proof_loop {
    struct location at;
    uint32_t candidate_count, kept_count;
    const char **kept;
};

struct duo;

struct proof_result {
    const char *refused; /* not NULL: nothing was tried, because .. */
    struct proof_answer answers[GOAL_COUNT];
    uint32_t unroll; /* trips that were tried */
    uint32_t loop_count;
    struct proof_loop *loops;
    uint32_t terms, rounds; /* of Houdini */
    struct duo *cut;        /* the walk whose loops' invariants were found, or NULL (duo.h) */
    struct duo *unrolled;   /* the walk of a few trips, or NULL */
    uint32_t unreachable;   /* barriers that no pair of threads reaches */
};

/* The Horn clauses of the kernel, all goals: NULL, *reason: outside of what is done. */
const char *prove_horn_text(struct arena *arena, struct forms *forms,
                            const struct proof_options *options, const char **reason);

/* Of a kernel that ast_check accepts. All that the result points to lives in the arena. */
void prove_kernel(struct arena *arena, struct forms *forms, const struct proof_options *options,
                  struct solver *solver, struct proof_result *result);

#endif
