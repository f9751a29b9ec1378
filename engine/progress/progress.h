/*
 * progress.h - progress models: does every execution end, if only these units are treated fairly?
 *
 * A unit is what a scheduler treats: a thread, a warp, a block. A model (progress.def) says of each point of
 * an execution which units F must be treated fairly from there on; the F of a step is that before it. All
 * is judged on the graph of all reachable states (search.h), with what a model remembers beside them: who has
 * begun. Finished units are out of F at once: a termination step of its own, which every unit may take
 * at any time, would come between and change no verdict.
 *
 *   ends (weakly fair)    no reachable strongly connected component has a constant F =/= {} in which every
 *                         unit of F steps, or cannot step in some of its states (it waits at a barrier)
 *   ends (strongly fair)  no reachable component holds a trap: states that are strongly connected, with a cycle,
 *                         that no step of a unit of F leaves. Where nobody waits at a barrier: from every reachable
 *                         state the end is reached by steps of units of F only (progress_strong.c)
 *   hangs always          weakly fair infinite executions exist, and no execution ends
 *
 * Who has nothing left to do that its text says has finished (is_finished), though the barrier that normal form adds
 * is before it. A unit of F that waits at a barrier cannot step, and does not make those step for which it waits [EXT:
 * the paper's programs have no barriers].
 */
#ifndef ENGINE_PROGRESS_H
#define ENGINE_PROGRESS_H

#include "engine/search/search.h"

enum progress_model {
#define MODEL(id, name, sentence) PROGRESS_##id,
#include "engine/kernel/progress.def"
#undef MODEL
    PROGRESS_MODEL_COUNT
};

struct progress_info {
    const char *name;
    const char *sentence;
};

extern const struct progress_info progress_table[PROGRESS_MODEL_COUNT];

/* Pairs of models: the fair set of the first is within the second's at each step, so what ends under the first
 * ends under the second. */
enum { PROGRESS_INCLUSIONS = 7 };
extern const enum progress_model progress_inclusions[PROGRESS_INCLUSIONS][2];

enum { PROGRESS_UNITS_MAX = 64 };

/* Sets of units: bit u of unit u. */
typedef uint64_t unit_set;

enum progress_verdict {
    PROGRESS_UNKNOWN, /* a bound of the search, or more than 64 units */
    PROGRESS_ENDS,
    PROGRESS_MAY_HANG,
    PROGRESS_HANGS
};

extern const char *const progress_verdict_names[]; /* "unknown at bound", "ends always", ... */

/* Under one model. */
struct progress_answer {
    enum progress_verdict verdict; /* weakly fair */
    bool strong;         /* passes under strong fairness; only where the verdict is known */
    bool strong_unknown; /* .. and it is known (progress_quotient.c) */
    uint64_t states;     /* with what the model remembers */
    /* Of a hang: the shortest way to a loop, and the shortest loop from there that is an execution of the
     * model; whom the model treats fairly in it, who steps in it, who has not finished. */
    const struct tape *stem, *loop;
    unit_set fair, stepped, unfinished;
};

/* Warps without a stack whose groups are chosen at random (SL.pol.rand): an execution ends with probability 1
 * iff from every state that groups lead to the end is reached; otherwise some state is reached from which
 * it is not. */
struct progress_random {
    enum progress_verdict verdict; /* UNKNOWN also where steps have choices inside */
    uint64_t states;               /* between the steps of groups */
    const struct tape *stem,
        *loop; /* of a hang: to such a state, and a loop of groups from there */
};

/* What search_run fills in beside its result: search_options.progress. */
struct progress {
    const uint32_t *unit_of; /* an actor: its unit, below unit_count */
    uint32_t unit_count;
    uint32_t
        quick_states; /* > 0: verdicts only, under weak fairness, of graphs with at most so many */
    uint32_t models;  /* that are asked, bit 1 << model; 0: all */
    bool ask_random;  /* the machine's actors are threads */
    struct progress *next; /* asked of the same graph: other units; or NULL */
    struct progress_answer answers[PROGRESS_MODEL_COUNT];
    struct progress_random random;
};

/* Answers search_options.progress. */
void graph_progress(struct graph *graph);

/* A search with these options answers what is asked (NULL: nothing). */
static inline void progress_ask(struct search_options *options, struct progress *progress)
{
    options->progress = progress;
    options->judge = graph_progress;
}

#endif
