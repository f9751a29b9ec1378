/* searches_internal.h - all executions of a kernel, and what is said of them. For oracle/searches only. */
#ifndef ORACLE_SEARCHES_INTERNAL_H
#define ORACLE_SEARCHES_INTERNAL_H

#include "engine/progress/progress.h"
#include "engine/reference/ref_all.h"
#include "engine/subjects/subject.h"

/* What a scheduler treats as one: an actor, or several. Bit u of unit u. */
struct searched_units {
    uint32_t count, unit_of[REF_ALL_ACTORS];
    const uint8_t *final, *live; /* of a state: whose actors all are, of whose some is */
    struct searched_ends *ends;  /* what is so by definition; NULL: nobody has asked yet */
};

struct searched {
    struct arena *arena;
    enum subject_id subject;
    const struct program *program;
    struct ref_all all;
    uint32_t actors;
    struct searched_units each,
        units; /* each actor by itself; and those that progress models are asked about */
    struct progress progress;
};

/* ---- searches.c ---- */

/* An outcome that the search has not, or that only it has; NULL: none. */
const char *searches_missed(const struct ref_all *all, const struct search_result *found);
const char *searches_made_up(const struct ref_all *all, const struct search_result *found);
bool searches_of_threads(enum subject_id subject);
/* Where threads may change places, states are searched up to that; of others' actors the orders of their threads. */
void searches_use_symmetry(struct arena *arena, struct machine *machine,
                           struct search_options *how);

/* ---- searches_machines.c, searches_ptx_text.c, searches_wide_text.c, searches_cluster_text.c ---- */

/* NULL: nothing. `of_threads`: all executions of a kernel whose threads have the same ones, or NULL. */
const char *searches_machines_differ(struct arena *arena, enum subject_id subject, const char *text,
                                     const struct ref_all *of_threads, const char **unknown);
void searches_access_texts(struct arena *arena, uint64_t number, const char **of_threads,
                           const char **of_ptx);
const char *searches_wide_text(struct arena *arena, uint64_t number);
void searches_cluster_texts(struct arena *arena, uint64_t number, const char **of_threads,
                            const char **of_ptx);

/* ---- searches_ends.c ---- */

/* Whether executions end, by definition, on the graph of all states. */
enum search_liveness searches_liveness(const struct searched *s);
/* Whether the model treats the unit fairly in a state to which units of these bits have stepped (progress.def). */
bool searches_treats_fairly(const struct searched *s, enum progress_model model, uint32_t state,
                            uint32_t begun, uint32_t unit);
/* "progress under lobe": the first model of which something else is said; NULL: none. No verdict may be left open, as
 * no bound is near; nor, if `all`, those of strong fairness and of groups at random. */
const char *searches_progress(struct searched *s, const struct progress *said, bool all);

/* ---- searches_bounds.c ---- */

/* What a search says otherwise with a bound that is just enough, or one too few; NULL: nothing. */
const char *searches_bounds(const struct searched *s, const struct search_options *enough);

/* ---- searches_ways.c ---- */

enum { SEARCHES_WAY = 96 /* steps at most */ };

/* A way through the graph: the states it comes to, the first included, and who steps. */
struct searched_way {
    uint32_t count; /* of steps; UINT32_MAX: too long, or with a choice within a step */
    uint32_t actors[SEARCHES_WAY], states[SEARCHES_WAY + 1];
    bool wrong; /* somebody should step who cannot */
};

/* The one state that the actor's step leads to; REF_ALL_NONE: there is none, or a choice within the step. */
uint32_t searches_step(const struct searched *s, uint32_t state, uint32_t actor);
/* False: it has no room, or the actor's step does not lead to one state. */
bool searches_add_step(const struct searched *s, struct searched_way *way, uint32_t actor);
struct searched_way searches_way_of(const struct searched *s, const struct tape *stem,
                                    const struct tape *loop);
/* Whether the way, from its step `stem` on again and again, is an infinite execution of the model. */
bool searches_is_execution(const struct searched *s, enum progress_model model,
                           const struct searched_way *way, uint32_t stem);
/* What a search says and its tapes do not show: its outcomes, its lasso, hangs under models. NULL: nothing. */
const char *searches_witnesses(const struct searched *s, const struct search_result *found);

/* ---- searches_traces.c ---- */

/* How many traces there are, and states where local steps are merged. False: it is not said, or not counted. */
bool searches_trace_count(const struct searched *s, uint64_t *count);
bool searches_merged_states(const struct searched *s, uint64_t *count);

/* ---- searches_short.c ---- */

/* What is wrong with what becomes of an infinite execution of the model when it is made shorter; NULL: nothing. */
const char *searches_shorten(const struct searched *s, struct machine *machine,
                             enum progress_model model, const struct tape *stem,
                             const struct tape *loop);

/* ---- searches_tapes.c ---- */

/* What is otherwise when an execution is recorded and replayed, and when its tape is changed; NULL: nothing. */
const char *searches_tapes(const struct searched *s);

/* ---- searches_lassos.c ---- */

/* What searches for lassos say otherwise than the definition; NULL: nothing. */
const char *searches_lassos(const struct searched *s);

#endif
