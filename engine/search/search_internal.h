/*
 * search_internal.h - what the two searches share: scripted inner choices, the set of
 * outcomes.
 */
#ifndef ENGINE_SEARCH_INTERNAL_H
#define ENGINE_SEARCH_INTERNAL_H

#include "engine/base/pool.h"
#include "engine/search/search.h"

enum { SEARCH_NONE = INT32_MAX };

/* ---- inner choices ---- */

enum { SCRIPT_MAX = 256 }; /* choices inside one step: at most one a lane */

struct script_choice {
    uint32_t index, radix; /* which of how many values */
    uint32_t value;        /* which that is */
};

/* The choices of one step, as an odometer: start with count 0, step, script_next, step again ... */
struct script {
    struct choices choices; /* first member; picks nobody */
    uint32_t count, at;
    struct script_choice list[SCRIPT_MAX];
};

void script_start(struct script *script);
/* The next combination; false when all have been. */
bool script_next(struct script *script);

/* ---- a search ---- */

struct search {
    struct arena *arena;
    struct machine *machine;
    const struct search_options *options;
    struct search_result *result;
    uint64_t step_limit;   /* of result->steps */
    size_t byte_limit;     /* of arena->used */
    size_t bytes_before;   /* arena->used at the start */
    uint32_t step_entries; /* of the undo log: the most that one step logs */
    bool outcomes_dropped;
    uint32_t *outcome_table; /* open addressing: number of the outcome + 1 */
    uint32_t outcome_mask, outcome_room;
    struct script script;
};

/* The number of the outcome that the machine is in (its status is not RUNNING), a new one if need be;
 * SEARCH_NONE when there is no room for it. A new one has no tape yet. */
uint32_t search_outcome(struct search *search, bool *is_new);

/* Notes how much memory the search has now: before scratch memory is given back. */
static inline void search_note_bytes(const struct search *search)
{
    uint64_t bytes = search->arena->used - search->bytes_before;
    if (bytes > search->result->bytes)
        search->result->bytes = bytes;
}

void search_cut(struct search *search, const char *cut);

/* ---- local steps (search_local.c) ---- */

/* Steps of the actor that follow its last one and are local, taken now: how many. */
uint32_t search_local_steps(struct search *search, uint32_t actor);

/* The state says that the actor has stepped. */
void search_note_begun(struct search *search, uint32_t actor);

/* One step by the script, and where search_options.merge_local says so the local ones after it: how many. Not after
 * one with choices inside: many of them lead to one state, and the local steps from there are taken once. */
static inline uint32_t search_step(struct search *search, uint32_t actor)
{
    machine_step(search->machine, actor, &search->script.choices);
    if (search->machine->begun)
        search_note_begun(search, actor);
    if (!search->options->merge_local || search->script.count > 0)
        return 0;
    return search_local_steps(search, actor);
}

/* From the machine's initial state; outcomes are added to those there are. */
void search_states(struct search *search);
void search_dpor(struct search *search);
void search_sleep(struct search *search);

/* Addresses of observed accesses are below it. */
static inline uint32_t search_locations(const struct program *program)
{
    return program->private_base * program->units + 1;
}

#endif
