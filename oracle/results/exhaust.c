#include "oracle/results/exhaust.h"

#include "engine/progress/progress.h"
#include "oracle/check/evidence.h"
#include "oracle/check/expect.h"
#include "oracle/ends/implications.h"
#include "oracle/ends/liveness.h"
#include "oracle/results/methods.h"
#include "oracle/results/result.h"
#include "oracle/searches/searches_bounds.h"

#include <string.h>

/* ---- searching ---- */

/* An outcome is an execution like the others: its tape replays it. */
static void keep_outcome(struct checking *c, enum subject_id subject,
                         const struct search_outcome *outcome)
{
    const struct sched_spec spec = {.kind = SCHED_TAPE, .tape = outcome->tape};
    struct execution *execution = explore_add(c, subject, &spec);
    execution->status = outcome->status;
    execution->searched = true;
    explore_keep_store(c, execution, outcome->store);
}

/* Whoever gives up has come to the bound that it names, and takes the method that it is asked for. */
static struct search_result *search_within(struct checking *c, enum subject_id subject,
                                           struct machine *machine,
                                           const struct search_options *options)
{
    size_t free_bytes = c->arena->size - c->arena->used;
    struct search_result *found = search_run(c->arena, machine, options);
    const char *differs = searches_gave_up(found, options, machine, free_bytes);
    if (!differs)
        return found;
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "method", search_method_names[found->method]);
    evidence_string(&e, "cut", found->cut ? found->cut : "");
    evidence_number(&e, "states", (int64_t)found->states);
    evidence_number(&e, "steps", (int64_t)found->steps);
    evidence_number(&e, "bytes", (int64_t)found->cut_bytes);
    *d = (struct divergence){.oracle = ORACLE_RESULT,
                             .class_name = "bounds",
                             .rule = RULE_NONE,
                             .observable = search_method_names[found->method],
                             .subject = subject,
                             .evidence = evidence_close(&e)};
    d->part = d->observable;
    d->summary = arena_printf(c->arena, "the search of all executions of %s: %s (%s)",
                              subject_table[subject].name, differs, found->cut ? found->cut : "-");
    answer_diverge(&c->result->answers[ORACLE_RESULT], d);
    return found;
}

/* Over caches: outcomes alone, where races and lassos, which need every state, were too many to look for. R2 is the
 * subject's own. */
static void search_reduced(struct checking *c, enum subject_id subject, struct search_options how)
{
    const struct subject_info *info = &subject_table[subject];
    struct check_run *run = &c->result->runs[subject];
    struct machine_options options = info->options;
    if (!info->vtable->plain || run->search->complete ||
        strcmp(run->search->cut, "interrupted") == 0)
        return;
    options.memory.eager = true;
    options.memory.flush = false;
    how.method = SEARCH_SLEEP;
    how.max_states *= 4; /* they are smaller */
    how.no_races = how.no_lasso = true;
    how.progress = NULL;
    struct machine *machine =
        search_machine_with(c->arena, info->vtable, c->subjects[subject].program, &options);
    run->reduced = search_within(c, subject, machine, &how);
    if (c->options->searched && !c->alone)
        c->options->searched(c->options->searched_context, run);
    for (uint32_t i = 0; i < run->reduced->outcome_count; i++)
        keep_outcome(c, subject, &run->reduced->outcomes[i]);
}

static void search_subject(struct checking *c, enum subject_id subject)
{
    const struct subject_info *info = &subject_table[subject];
    struct check_run *run = &c->result->runs[subject];
    struct search_options options =
        c->options->search.max_states ? c->options->search : SEARCH_DEFAULTS;
    struct machine *machine =
        search_machine_with(c->arena, info->vtable, c->subjects[subject].program, &info->options);
    progress_ask(&options, implications_ask(c, subject));
    struct search_result *found = search_within(c, subject, machine, &options);
    run->search = found;
    if (c->options->searched && !c->alone)
        c->options->searched(c->options->searched_context, run);
    for (uint32_t i = 0; i < found->outcome_count; i++)
        keep_outcome(c, subject, &found->outcomes[i]);
    if (found->liveness == LIVENESS_FAIR_LASSO) {
        bool before = run->fair_lasso;
        probe_found(c, subject, found->lasso_stem, found->lasso_loop);
        if (!before)
            explore_add_lasso(run);
    }
    c->all_fair_end[subject] = found->complete && (found->liveness == LIVENESS_ALL_TERMINATE ||
                                                   found->liveness == LIVENESS_UNFAIR_LASSO);
    search_reduced(c, subject, options);
}

/* pi(P) takes every thread through every block: its interleavings are too many, and P's are the same
 * (Thm. 5.5). */
static bool is_searched(enum subject_id subject)
{
    return !forms_is_predicated(subject_table[subject].program) && subject_table[subject].vtable;
}

void exhaust_search(struct checking *c)
{
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (explore_runs(c, (enum subject_id)s) && is_searched((enum subject_id)s))
            search_subject(c, (enum subject_id)s);
}

void exhaust_explored(struct checking *c)
{
    if (c->options->exhaustive)
        exhaust_search(c);
}

/* ---- sets of outcomes ---- */

/* All outcomes are known, and kept. */
static bool is_whole(const struct search_result *search)
{
    return search && search->complete && !search->cut;
}

static bool in_set(const struct checking *c, const struct search_result *search, enum status status,
                   const int32_t *store)
{
    const struct search_outcome outcome = {.status = status, .store = store};
    return search_has(c->result->program, search, &outcome);
}

static void report_outcome(struct checking *c, const struct execution *execution,
                           const char *class_name, const char *what)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "subject", subject_table[execution->subject].name);
    evidence_string(&e, "schedule", explore_name(c, execution));
    evidence_string(&e, "status", status_names[execution->status]);
    *d = (struct divergence){.oracle = ORACLE_RESULT,
                             .class_name = class_name,
                             .rule = RULE_NONE,
                             .observable = execution->status == STATUS_TERMINATED
                                               ? "store"
                                               : status_names[execution->status],
                             .subject = execution->subject,
                             .evidence = evidence_close(&e)};
    d->tape = explore_record(c, execution);
    d->summary =
        arena_printf(c->arena, "%s ends with %s: %s", subject_table[execution->subject].name,
                     status_names[execution->status], what);
    answer_diverge(&c->result->answers[ORACLE_RESULT], d);
}

/* ---- what was sampled is among all ---- */

/* A subject's own executions are among those that its search has found; a spent budget is none. */
static void judge_sampled(struct checking *c, const struct execution *execution)
{
    const struct search_result *search = c->result->runs[execution->subject].search;
    if (execution->searched || !is_whole(search) || execution->status == STATUS_STEP_LIMIT ||
        execution->status == STATUS_NONTERMINATING)
        return;
    if (execution->status == STATUS_TERMINATED)
        (void)explore_record(c, execution);
    c->result->answers[ORACLE_RESULT].checked++;
    if (!in_set(c, search, execution->status, c->subjects[execution->subject].machine->memory))
        report_outcome(c, execution, "sampled-set",
                       "a sampled execution is none of those that the search has found");
}

/* ---- CFG.goto_guarded ---- */

static const struct search_result *search_choices(struct checking *c, enum subject_id variant)
{
    const struct explored *p = &c->subjects[SUBJECT_INTERLEAVE];
    const struct search_options *options =
        c->options->search.max_states ? &c->options->search : &SEARCH_DEFAULTS;
    struct machine *machine = search_machine_with(c->arena, p->machine->semantics, p->program,
                                                  &subject_table[variant].options);
    return search_within(c, variant, machine, options);
}

static void report_choices(struct checking *c, const struct search_outcome *outcome,
                           enum subject_id of, enum subject_id missing)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "subject", subject_table[of].name);
    evidence_string(&e, "other_subject", subject_table[missing].name);
    evidence_string(&e, "status", status_names[outcome->status]);
    evidence_string(&e, "choices", tape_print(c->arena, outcome->tape));
    *d = (struct divergence){.oracle = ORACLE_RESULT,
                             .class_name = "goto-set",
                             .rule = RULE_NONE,
                             .observable = outcome->status == STATUS_TERMINATED
                                               ? "store"
                                               : status_names[outcome->status],
                             .subject = SUBJECT_INTERLEAVE,
                             .evidence = evidence_close(&e)};
    d->summary =
        arena_printf(c->arena, "%s can end with %s as %s never does", subject_table[of].name,
                     status_names[outcome->status], subject_table[missing].name);
    answer_diverge(&c->result->answers[ORACLE_RESULT], d);
}

/* The first feasible outcome of `of` that `in` does not have. */
static void judge_subset(struct checking *c, const struct search_result *of, enum subject_id of_id,
                         const struct search_result *in, enum subject_id in_id)
{
    for (uint32_t i = 0; i < of->outcome_count; i++) {
        const struct search_outcome *outcome = &of->outcomes[i];
        if (outcome->status == STATUS_INFEASIBLE || in_set(c, in, outcome->status, outcome->store))
            continue;
        report_choices(c, outcome, of_id, in_id);
        return;
    }
}

/* A goto that takes feasible targets only, and one that takes any and ends at its guard, reach the same
 * ends but for `infeasible`; guards read what nobody else writes (WF.1). */
static void judge_choices(struct checking *c)
{
    const char *reason;
    if (!explore_runs(c, SUBJECT_INTERLEAVE) ||
        !c->subjects[SUBJECT_INTERLEAVE].program->has_choices ||
        forms_well_formed(c->forms, &reason) != WELL_FORMED)
        return;
    const struct search_result *guarded = search_choices(c, SUBJECT_INTERLEAVE_LITERAL);
    if (!is_whole(guarded))
        return;
    const struct search_result *raw = search_choices(c, SUBJECT_INTERLEAVE_RAW);
    if (!is_whole(raw))
        return;
    c->result->answers[ORACLE_RESULT].checked++;
    judge_subset(c, raw, SUBJECT_INTERLEAVE_RAW, guarded, SUBJECT_INTERLEAVE_LITERAL);
    judge_subset(c, guarded, SUBJECT_INTERLEAVE_LITERAL, raw, SUBJECT_INTERLEAVE_RAW);
}

/* ---- SIM.mem, Theorem 1 ---- */

/* Every execution terminates. */
static bool ends_well(const struct search_result *search)
{
    for (uint32_t i = 0; i < search->outcome_count; i++)
        if (search->outcomes[i].status != STATUS_TERMINATED)
            return false;
    return search->liveness == LIVENESS_ALL_TERMINATE;
}

/* Whether every execution of the subject is one of the interleavings of the structured threads: a warp's
 * (Theorem 1); without barriers also one of blocks, whose assignments read and write in one step
 * (X.gran). */
static bool is_included(const struct checking *c, enum subject_id subject)
{
    const struct subject_info *info = &subject_table[subject];
    bool blocks = info->vtable && info->vtable->form == FORM_BLOCKS;
    return info->role == SUBJECT_ORDINARY && subject != SUBJECT_THREADS &&
           (info->program == PROGRAM_CORE || (blocks && c->program->barrier_count == 0));
}

/* Runs an execution again for its store. A warp ends with barrier_divergence as soon as a lane is
 * missing. Its threads cannot end well from there - the missing one cannot come to that execution of the
 * barrier any more - but they may meet another error first, or never get so far. */
static void judge_outcome(struct checking *c, const struct execution *execution)
{
    enum status status = execution->status;
    bool inlined = subject_table[execution->subject].program != PROGRAM_CORE;
    if (status == STATUS_STEP_LIMIT || status == STATUS_NONTERMINATING ||
        (status == STATUS_CALL_DEPTH && inlined))
        return;
    if (status == STATUS_TERMINATED)
        (void)explore_record(c, execution);
    c->result->answers[ORACLE_RESULT].checked++;
    if (status == STATUS_BARRIER_DIVERGENCE) {
        if (ends_well(c->result->runs[SUBJECT_THREADS].search))
            report_outcome(c, execution, "outcome-set", "no interleaving of the threads does");
        return;
    }
    if (!in_set(c, c->result->runs[SUBJECT_THREADS].search, status,
                c->subjects[execution->subject].machine->memory))
        report_outcome(c, execution, "outcome-set", "no interleaving of the threads does");
}

/* ---- race ---- */

/* Whether an execution that the detector watched terminates; of those that the search found nothing is known. */
static bool some_watched_terminates(const struct checking *c, enum subject_id subject)
{
    for (uint32_t i = 0; i < c->execution_count; i++)
        if (c->executions[i]->subject == subject && !c->executions[i]->searched &&
            c->executions[i]->status == STATUS_TERMINATED)
            return true;
    return false;
}

/* Where some execution terminates, either all executions race or none does (result.h): so the search,
 * which looks at all executions, and the detector must agree. */
static void judge_race(struct checking *c)
{
    const struct search_result *search = c->result->runs[SUBJECT_THREADS].search;
    const struct check_run *run = &c->result->runs[SUBJECT_THREADS];
    if (!search->complete || run->statuses[STATUS_TERMINATED] == 0 || search->race == run->race)
        return;
    if (search->race && (c->incomparable || !some_watched_terminates(c, SUBJECT_THREADS)))
        return; /* the schedules run are not all there are, or were cut before the race */
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_number(&e, "states", (int64_t)search->states);
    evidence_number(&e, "executions", (int64_t)search->executions);
    if (run->race)
        evidence_race(&e, "race", c->program, &run->witness);
    *d = (struct divergence){.oracle = ORACLE_RACE,
                             .class_name = "race-search",
                             .rule = RULE_NONE,
                             .observable = search->race ? "race missed" : "race that is none",
                             .subject = SUBJECT_THREADS,
                             .evidence = evidence_close(&e)};
    d->summary = search->race ? "the search has seen a race, the detector none"
                              : "the detector has seen a race, the search none";
    answer_diverge(&c->result->answers[ORACLE_RACE], d);
}

static void judge_included(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_RESULT];
    for (uint32_t i = 0; i < c->execution_count; i++)
        if (is_included(c, c->executions[i]->subject))
            judge_outcome(c, c->executions[i]);
    if (answer->checked && answer->verdict != VERDICT_DIVERGE)
        answer->reason =
            arena_printf(c->arena, "every outcome is one of the %u of the interleaved threads",
                         c->result->runs[SUBJECT_THREADS].search->outcome_count);
}

void exhaust_judge(struct checking *c)
{
    bool whole = is_whole(c->result->runs[SUBJECT_THREADS].search);
    if (c->options->oracles & (1u << ORACLE_RESULT)) {
        if (whole)
            judge_included(c);
        for (uint32_t i = 0; i < c->execution_count; i++)
            judge_sampled(c, c->executions[i]);
        if (c->options->exhaustive) {
            judge_choices(c);
            methods_judge(c);
        }
    }
    if (whole && c->options->oracles & (1u << ORACLE_RACE))
        judge_race(c);
}
