#include "oracle/ends/implications.h"

#include "engine/progress/fair_lasso.h"
#include "engine/progress/lasso.h"
#include "oracle/check/evidence.h"
#include "oracle/ends/liveness.h"
#include "oracle/lemma6/own_loops.h"
#include "oracle/matrix/matrix.h"

struct progress *implications_ask(struct checking *c, enum subject_id subject)
{
    const struct machine *machine = c->subjects[subject].machine;
    if (!(c->options->oracles >> ORACLE_LIVENESS & 1) || !machine || !machine->semantics->same_pc ||
        machine->semantics->environment || machine->actor_count > PROGRESS_UNITS_MAX)
        return NULL;
    struct progress *progress = ARENA_NEW(c->arena, struct progress);
    uint32_t *unit_of = ARENA_ARRAY(c->arena, uint32_t, machine->actor_count);
    for (uint32_t i = 0; i < machine->actor_count; i++)
        unit_of[i] = i;
    *progress = (struct progress){.unit_of = unit_of,
                                  .unit_count = machine->actor_count,
                                  .quick_states = IMPLICATIONS_STATES};
    c->progress[subject] = progress;
    return progress;
}

void implications_report(struct checking *c, struct answer *answer, enum subject_id subject,
                         const char *class_name, const char *observable, const char *summary)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "subject", subject_table[subject].name);
    evidence_string(&e, "seen", summary);
    *d = (struct divergence){.oracle = ORACLE_LIVENESS,
                             .class_name = class_name,
                             .rule = RULE_NONE,
                             .observable = observable,
                             .subject = subject,
                             .summary = summary,
                             .evidence = evidence_close(&e)};
    answer_diverge(answer, d);
}

static enum progress_verdict verdict_of(const struct progress *progress, enum progress_model model)
{
    return progress->answers[model].verdict;
}

static void judge_models(struct checking *c, struct answer *answer, enum subject_id subject)
{
    const struct progress *progress = c->progress[subject];
    for (uint32_t i = 0; i < PROGRESS_INCLUSIONS; i++) {
        enum progress_model less = progress_inclusions[i][0], more = progress_inclusions[i][1];
        if (verdict_of(progress, less) == PROGRESS_ENDS &&
            verdict_of(progress, more) >= PROGRESS_MAY_HANG)
            implications_report(
                c, answer, subject, "model-order", progress_table[more].name,
                arena_printf(c->arena, "%s ends under %s, but not under %s, which lets more run",
                             subject_table[subject].name, progress_table[less].name,
                             progress_table[more].name));
    }
}

static void differ(struct checking *c, enum matrix_class class)
{
    c->result->differences |= 1u << class;
}

static void compare_models(struct checking *c, const struct progress *progress)
{
    bool ends = false, hangs = false;
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        enum progress_verdict verdict = verdict_of(progress, (enum progress_model)m);
        ends |= verdict == PROGRESS_ENDS;
        hangs |= verdict >= PROGRESS_MAY_HANG;
    }
    if (ends && hangs)
        differ(c, MATRIX_CLASS_MODEL_DEPENDENT);
}

/* Every fair execution ends. */
static void judge_policies(struct checking *c, struct answer *answer, enum subject_id subject)
{
    const struct subject_info *info = &subject_table[subject];
    const struct program *program = c->subjects[subject].program;
    struct machine_options options = info->options;
    options.track = true;
    for (int p = 0; p < STACKLESS_POLICY_COUNT; p++) {
        const struct sched_spec policy = {.kind = SCHED_STACKLESS,
                                          .stackless = {.policy = (enum stackless_policy)p}};
        /* dws-none is a warp with a stack. */
        if (p == STACKLESS_DWS_NONE || stackless_refuses(info->vtable) || !lasso_policy(&policy))
            continue;
        size_t mark = arena_mark(c->arena);
        struct machine *machine = machine_new(c->arena, info->vtable, program, &options);
        struct lasso lasso = lasso_run(c->arena, machine, &policy, c->options->budget_steps);
        arena_release(c->arena, mark);
        if (lasso.kind != LASSO_FAIR && lasso.kind != LASSO_UNFAIR)
            continue;
        differ(c, MATRIX_CLASS_POLICY_UNFAIR);
        if (!stackless_is_fair(policy.stackless.policy))
            continue;
        const char *name = sched_name(c->arena, &policy);
        implications_report(c, answer, subject, "policy-unfair", name,
                            arena_printf(c->arena,
                                         "%s runs for ever under %s, but ends if it is let run",
                                         info->name, name));
    }
}

/* Sampled schedules find no hang where the graph of all states knows that there is none. */
static void judge_samples(struct checking *c, struct answer *answer, enum subject_id subject)
{
    enum { SAMPLE_STEPS = 3000 };
    const struct subject_info *info = &subject_table[subject];
    const struct progress *progress = c->progress[subject];
    const struct fair_units units = {progress->unit_of, progress->unit_count};
    const struct fair_options options = {.seed = c->options->seed, .budget_steps = SAMPLE_STEPS};
    struct machine_options machine_options = info->options;
    uint32_t models = 0;
    machine_options.track = true;
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        models |= verdict_of(progress, (enum progress_model)m) == PROGRESS_ENDS ? 1u << m : 0;
    size_t mark = arena_mark(c->arena);
    struct machine *machine =
        machine_new(c->arena, info->vtable, c->subjects[subject].program, &machine_options);
    struct fair_result result = fair_lasso_search(c->arena, machine, &units, models, &options);
    arena_release(c->arena, mark); /* whether it was found is all that is asked */
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        if (result.answers[m].found)
            implications_report(c, answer, subject, "sampled-hang", progress_table[m].name,
                                arena_printf(c->arena,
                                             "a sampled schedule of %s hangs under %s, and the "
                                             "graph of all states has no such execution",
                                             info->name, progress_table[m].name));
}

/* A warp's infinite execution is one of its threads. */
static void judge_warp(struct checking *c, struct answer *answer, enum subject_id warp,
                       enum subject_id threads)
{
    const struct search_result *search = c->result->runs[threads].search;
    const struct progress *progress = c->progress[threads];
    if (c->result->runs[warp].fair_lasso && progress &&
        verdict_of(progress, PROGRESS_FAIR) == PROGRESS_ENDS)
        differ(c, MATRIX_CLASS_STACK_UNFAIR);
    if (c->incomparable || !c->result->runs[warp].fair_lasso || !search ||
        search->liveness != LIVENESS_ALL_TERMINATE || !search->complete)
        return;
    if (warp == SUBJECT_LOCKSTEP && c->result->runs[warp].race)
        return; /* all read before any of them writes: with a race that is no interleaving of single steps */
    implications_report(c, answer, warp, "lasso-missed", subject_table[threads].name,
                        arena_printf(c->arena, "%s runs for ever, and no execution of %s does",
                                     subject_table[warp].name, subject_table[threads].name));
}

/* Which of two subjects has executions that run for ever, and the other one that terminates; or neither. */
static void judge_own(struct checking *c, struct answer *answer, enum subject_id a,
                      enum subject_id b)
{
    const struct check_run *runs = c->result->runs;
    for (uint32_t swapped = 0; swapped < 2; swapped++) {
        enum subject_id hangs = swapped ? b : a, ends = swapped ? a : b;
        if (runs[hangs].fair_lasso && runs[ends].statuses[STATUS_TERMINATED] > 0)
            implications_report(c, answer, hangs, "own-loops", subject_table[ends].name,
                                arena_printf(c->arena,
                                             "%s runs for ever and %s terminates, though every "
                                             "thread's loops are its own business",
                                             subject_table[hangs].name, subject_table[ends].name));
    }
}

static void judge_own_loops(struct checking *c, struct answer *answer)
{
    static const enum subject_id subjects[] = {SUBJECT_SIMT, SUBJECT_SIMT_THEN, SUBJECT_THREADS};
    bool any = false;
    for (uint32_t i = 0; i < 3; i++)
        any |= c->result->runs[subjects[i]].fair_lasso;
    if (!any || !own_loops(c->kernel))
        return;
    judge_own(c, answer, SUBJECT_SIMT, SUBJECT_SIMT_THEN);
    judge_own(c, answer, SUBJECT_SIMT, SUBJECT_THREADS);
    judge_own(c, answer, SUBJECT_SIMT_THEN, SUBJECT_THREADS);
}

void implications_judge(struct checking *c, struct answer *answer)
{
    bool ptx = c->kernel->form == FORM_PTX;
    judge_warp(c, answer, SUBJECT_SIMT, SUBJECT_THREADS);
    judge_warp(c, answer, SUBJECT_SIMT_THEN, SUBJECT_THREADS);
    judge_warp(c, answer, SUBJECT_LOCKSTEP, SUBJECT_INTERLEAVE);
    lemma6_judge(c, answer);
    /* A barrier of PTX counts warps: it lets pass what ends in barrier_divergence elsewhere. */
    if (ptx || (c->program && c->program->barrier_count == 0))
        judge_warp(c, answer, SUBJECT_CRS, ptx ? SUBJECT_BLOCK : SUBJECT_THREADS);
    judge_own_loops(c, answer);
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        if (!c->progress[s])
            continue;
        judge_models(c, answer, (enum subject_id)s);
        compare_models(c, c->progress[s]);
        /* A graph without a cycle was judged before any schedule: there is nothing to refute. */
        if (verdict_of(c->progress[s], PROGRESS_FAIR) == PROGRESS_ENDS &&
            verdict_of(c->progress[s], PROGRESS_UNFAIR) != PROGRESS_ENDS)
            judge_policies(c, answer, (enum subject_id)s);
        if (verdict_of(c->progress[s], PROGRESS_UNFAIR) >= PROGRESS_MAY_HANG)
            judge_samples(c, answer, (enum subject_id)s);
    }
}
