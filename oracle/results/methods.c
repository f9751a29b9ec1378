#include "oracle/results/methods.h"

#include "engine/base/pcg.h"
#include "oracle/check/evidence.h"

enum {
    METHODS_SEED = 7, /* tells this draw from others */
    STEPS = 8 /* times those of the first search: reduction takes each execution by itself */
};

/* All outcomes are known, and kept. */
static bool is_whole(const struct search_result *search)
{
    return search && search->complete && !search->cut;
}

static const char *missing(const struct program *program, const struct search_result *of,
                           const struct search_result *in)
{
    const struct search_outcome *o = search_missing(program, of, in);
    return !o ? NULL : o->status == STATUS_TERMINATED ? "store" : status_names[o->status];
}

const char *methods_differ(const struct program *program, const struct search_result *a,
                           const struct search_result *b)
{
    const char *only = missing(program, a, b);
    if (!only)
        only = missing(program, b, a);
    return only ? only : a->race != b->race ? "race" : NULL;
}

static void diverge(struct checking *c, enum subject_id subject, const struct search_result *first,
                    const struct search_result *second, const char *observable)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "method", search_method_names[first->method]);
    evidence_number(&e, "outcomes", first->outcome_count);
    evidence_number(&e, "race", first->race);
    evidence_string(&e, "other_method", search_method_names[second->method]);
    evidence_number(&e, "other_outcomes", second->outcome_count);
    evidence_number(&e, "other_race", second->race);
    *d = (struct divergence){.oracle = ORACLE_RESULT,
                             .class_name = "method-set",
                             .rule = RULE_NONE,
                             .observable = observable,
                             .subject = subject,
                             .evidence = evidence_close(&e)};
    d->summary = arena_printf(c->arena, "all executions of %s by `%s` and by `%s` differ in: %s",
                              subject_table[subject].name, search_method_names[first->method],
                              search_method_names[second->method], observable);
    answer_diverge(&c->result->answers[ORACLE_RESULT], d);
}

static void compare(struct checking *c, enum subject_id subject)
{
    const struct search_result *first = c->result->runs[subject].search;
    const struct program *program = c->subjects[subject].program;
    struct search_options how =
        c->options->search.max_states ? c->options->search : SEARCH_DEFAULTS;
    if (!is_whole(first) || program->form == FORM_PTX)
        return;
    how.max_steps *= STEPS;
    how.method = first->method == SEARCH_STATES ? SEARCH_DPOR : SEARCH_STATES;
    how.progress = NULL;
    how.no_lasso = true;
    struct machine *machine = search_machine_with(c->arena, subject_table[subject].vtable, program,
                                                  &subject_table[subject].options);
    const struct search_result *second = search_run(c->arena, machine, &how);
    if (!is_whole(second) || second->method != how.method)
        return;
    c->result->answers[ORACLE_RESULT].checked++;
    const char *observable = methods_differ(program, first, second);
    if (observable)
        diverge(c, subject, first, second, observable);
}

void methods_judge(struct checking *c)
{
    static const enum subject_id subjects[] = {SUBJECT_THREADS, SUBJECT_INTERLEAVE, SUBJECT_SIMT};
    const uint32_t count = sizeof subjects / sizeof *subjects;
    uint64_t draw = c->options->seed ? pcg_splitmix(c->options->seed + METHODS_SEED) % count : 0;
    for (uint32_t i = 0; i < (c->options->seed ? 1 : count); i++) {
        enum subject_id subject = subjects[draw + i];
        if (explore_runs(c, subject))
            compare(c, subject);
    }
}
