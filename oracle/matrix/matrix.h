/*
 * matrix.h - the termination matrix of a kernel: does it always end, under each execution model, and if not,
 * who waits for whom?
 *
 * A row is an execution model: warps with a reconvergence stack, whose order is fixed by the hardware and
 * which are scheduled fairly among each other; warps without a stack under each policy; single threads,
 * warps or blocks under each progress model. A verdict is exact or none: from all reachable states, or from the
 * one execution of a deterministic model, ended or proven to come back to a state. Where there are too many
 * states a sampled search (engine/progress/fair_lasso.h) may refute. "May hang" has a witness that replays. A bound
 * gives "unknown", never "ends".
 */
#ifndef ORACLE_MATRIX_H
#define ORACLE_MATRIX_H

#include "engine/kernel/matrix_rows.h"
#include "engine/progress/progress.h"
#include "engine/subjects/forms.h"
#include "oracle/matrix/matrix_lemma6.h"

#include <signal.h>

enum { MATRIX_FORMS = 3 };

struct matrix_row {
    const char *model; /* "simt", "stackless:oldest", "obe" */
    enum subject_id subject;
    const struct program *program;
    enum matrix_unit unit; /* whom the model is about */
    enum progress_verdict verdict;
    bool almost_surely;      /* "ends": with probability 1 */
    bool has_strong, strong; /* passes under strong fairness */
    bool sampled;            /* "may hang": no search of all states has shown it */
    uint64_t states;         /* that it rests on; 0: of one execution, or none */
    /* How its executions end that do: bits 1u << enum status, of all of them, or of those that were looked at. */
    uint32_t ends_in;
    bool ends_in_all;
    const char *why; /* what the verdict rests on, or why there is none */
    /* Of a hang. */
    const struct tape *stem, *loop;
    const char *sentence; /* who waits for whom */
};

struct matrix {
    struct arena *arena;
    const char *refused; /* why there are no rows of single threads; NULL: there are */
    uint32_t count;
    struct matrix_row *rows;
    const struct matrix_lemma6 *lemma6; /* NULL: the kernel is not structured */
    /* An implication that must hold and does not: a fault of simtfuzz, or of its theory. NULL: none. */
    const char *broken;
};

/* How verdicts differ: MATRIX_CLASS(id, name, sentence). No faults: what the models are about. */
#define MATRIX_CLASSES(X)                                                                          \
    X(STACK_UNFAIR, "stack-unfair", "ends if every thread is let run, and hangs under a stack")    \
    X(POLICY_UNFAIR, "policy-unfair",                                                              \
      "ends if every thread is let run, and hangs under a policy without a stack")                 \
    X(MODEL_DEPENDENT, "model-dependent",                                                          \
      "ends under one progress model, and may hang under another")

enum matrix_class {
#define X(id, name, sentence) MATRIX_CLASS_##id,
    MATRIX_CLASSES(X)
#undef X
        MATRIX_CLASS_COUNT
};

struct matrix_class_info {
    const char *name, *sentence;
};

extern const struct matrix_class_info matrix_class_table[MATRIX_CLASS_COUNT];

/* Hears of a matrix while it is made; calls may be NULL. */
struct matrix_listener {
    void *context;
    /* Before each part that may take long: a search of all states, its samples, an execution. */
    void (*part)(void *context);
    /* A row that is known, in the order of matrix.rows; an implication among rows may still be broken. */
    void (*row)(void *context, const struct matrix_row *row);
};

/* Which searches are of states up to permutations of threads that are alike (engine/machine/symmetry.h). */
enum matrix_symmetry { MATRIX_SYMMETRY_NONE, MATRIX_SYMMETRY_LARGE, MATRIX_SYMMETRY_ALL };

struct matrix_options {
    uint64_t max_states; /* of one search */
    uint64_t max_bytes;
    uint64_t steps_a_state; /* steps of one search, for each of max_states; 0: many */
    uint64_t budget_steps;  /* of one execution */
    uint64_t sample_steps;  /* of a sampled search; 0: none */
    uint64_t refute_steps;  /* of a search for what refutes Lemma 6; 0: many */
    uint64_t seed;          /* of its schedules */
    bool no_merging;        /* the graphs are those of all single steps (search_local.c) */
    bool endings; /* how executions end is looked for also where no search says that they do */
    enum matrix_symmetry symmetry;
    /* NULL, or a matrix of the same kernel, which is made again: without policies, whose executions are the
     * same, and with what it knows of Lemma 6. */
    const struct matrix *again;
    const volatile sig_atomic_t *stop; /* NULL, or: not 0 ends all searches, with what was found */
    const struct matrix_listener *listener; /* or NULL */
};

extern const struct matrix_options MATRIX_DEFAULTS;

/* The verdict in words. */
const char *matrix_verdict(const struct matrix_row *row);

/* The same with all that there is to say: "may hang, ends if strongly fair", "ends always: deadlock". In the arena. */
const char *matrix_verdict_text(struct arena *arena, const struct matrix_row *row);
enum matrix_ending matrix_ending_of(const struct matrix_row *row);

/* The classes of the differences among its rows: bit 1 << class. */
unsigned matrix_classes(const struct matrix *matrix);

/* Of warps without a stack, as a policy schedules them. */
bool matrix_is_policy(const struct matrix_row *row);

/* The subject whose actors are single threads. */
enum subject_id matrix_thread_subject(enum ast_form form);

/* The row of a model and unit; NULL: there is none. */
const struct matrix_row *matrix_find(const struct matrix *matrix, const char *model,
                                     enum matrix_unit unit);

/* All rows that there are for the kernel, in the arena of its forms. */
struct matrix matrix_of(struct forms *forms, const struct matrix_options *options);

/* The implication among its rows that must hold and does not; NULL: all hold. matrix_of asks it. */
const char *matrix_broken(struct arena *arena, struct forms *forms, const struct matrix *matrix);

/* Subjects whose actors are single threads, each of another form of a kernel. */
extern const enum subject_id matrix_thread_subjects[MATRIX_FORMS];

/* The rows of progress models, as this one of matrix_thread_subjects has them; none where the kernel has no such
 * form. */
struct matrix matrix_of_form(struct forms *forms, enum subject_id subject,
                             const struct matrix_options *options);

/* Whether the rows of progress models of two such subjects must be the same: all that a thread may see of another one
 * happens in the same steps (docs/progress.md, One kernel, one matrix). */
bool matrix_forms_agree(struct forms *forms, enum subject_id subject, enum subject_id other);

#endif
