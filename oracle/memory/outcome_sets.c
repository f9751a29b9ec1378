#include "oracle/memory/outcome_sets.h"

/* The same over caches; NULL: no subject is. */
static const struct semantics *cached_of(const struct semantics *plain)
{
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (subject_table[s].vtable && subject_table[s].vtable->plain == plain)
            return subject_table[s].vtable;
    return NULL;
}

const struct outcome_base *outcome_base(struct checking *checking, const enum subject_id *among,
                                        uint32_t count, const char **why)
{
    *why = "no subject of PTX that it is about was run";
    for (uint32_t i = 0; i < count; i++) {
        if (!explore_runs(checking, among[i]))
            continue;
        struct outcome_base *base = ARENA_NEW(checking->arena, struct outcome_base);
        base->subject = among[i];
        base->program = checking->subjects[among[i]].program;
        base->plain = subject_table[among[i]].vtable;
        base->cached = cached_of(base->plain);
        *why = machine_refuses(checking->arena, base->cached, base->program);
        if (!*why && base->program->total_threads > OUTCOME_THREADS)
            *why = "it has more than 16 threads";
        if (!*why)
            return base;
    }
    return NULL;
}

const struct search_result *outcome_search(struct checking *checking,
                                           const struct semantics *semantics,
                                           const struct program *program,
                                           const struct memory_options *memory,
                                           enum search_method method)
{
    const struct machine_options options = {.memory = *memory};
    struct search_options how = SEARCH_DEFAULTS;
    how.method = method;
    how.max_states = OUTCOME_STATES;
    how.max_steps = 4 * OUTCOME_STATES;
    how.no_races = how.no_lasso = true;
    return search_run(checking->arena,
                      search_machine_with(checking->arena, semantics, program, &options), &how);
}

const struct search_outcome *outcome_end_missing(const struct program *program,
                                                 const struct search_result *of,
                                                 const struct search_result *in)
{
    for (uint32_t i = 0; i < of->outcome_count; i++)
        if (of->outcomes[i].status == STATUS_TERMINATED &&
            !search_has(program, in, &of->outcomes[i]))
            return &of->outcomes[i];
    return NULL;
}
