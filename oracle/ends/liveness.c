#include "oracle/ends/liveness.h"

#include "oracle/check/evidence.h"
#include "oracle/ends/implications.h"
#include "oracle/ends/matrix_judge.h"

static struct divergence *new_divergence(struct checking *c, enum subject_id subject,
                                         const char *class_name, struct evidence *e)
{
    const struct lasso_probe *probe = c->probes[subject];
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    evidence_open(e, c->arena);
    evidence_string(e, "subject", subject_table[subject].name);
    evidence_string(e, "schedule", probe->schedule);
    evidence_number(e, "stem_steps", (int64_t)probe->stem_steps);
    evidence_number(e, "loop_steps", (int64_t)probe->loop_steps);
    evidence_number(e, "loop_start_in_tape", probe->loop_start);
    evidence_number(e, "loop_line", evidence_line(c->subjects[subject].program, probe->stm));
    if (probe->has_stacks)
        evidence_number(e, "stack_depth_at_least", probe->depth);
    d->oracle = ORACLE_LIVENESS;
    d->class_name = class_name;
    d->rule = probe->rule;
    d->observable = "termination";
    d->subject = subject;
    d->line = evidence_line(c->subjects[subject].program, probe->stm);
    d->tape = probe->tape;
    return d;
}

/* A warp's infinite execution against an execution that terminated without a race: then all
 * executions, the warp's included, take the same thread steps and end (docs/oracles.md, race). */
static void contradict(struct checking *c, struct answer *answer, enum subject_id subject)
{
    const struct execution *reference = c->groups[explore_group(c, subject)].reference;
    struct evidence e;
    struct divergence *d = new_divergence(c, subject, "termination", &e);
    evidence_string(&e, "terminates_race_free", subject_table[reference->subject].name);
    evidence_string(&e, "its_schedule", explore_name(c, reference));
    d->other_tape = explore_record(c, reference);
    d->evidence = evidence_close(&e);
    d->summary =
        arena_printf(c->arena, "%s runs for ever although an execution terminates without a race",
                     subject_table[subject].name);
    answer_diverge(answer, d);
}

/* Who runs the threads of a warp subject one by one. */
static enum subject_id threads_of(const struct checking *c, enum subject_id subject)
{
    bool ptx = subject_table[subject].vtable->form == FORM_PTX;
    return ptx && c->kernel->form == FORM_PTX ? SUBJECT_BLOCK : SUBJECT_THREADS;
}

static void report_unfair(struct checking *c, struct answer *answer, enum subject_id subject)
{
    enum subject_id other = threads_of(c, subject);
    const struct check_run *threads = &c->result->runs[other];
    const struct lasso_probe *probe = c->probes[subject];
    bool all = c->all_fair_end[other];
    struct evidence e;
    struct divergence *d = new_divergence(c, subject, "unfair", &e);
    evidence_string(&e, "threads", subject_table[other].name);
    evidence_number(&e, "fair_schedules_that_end", threads->fair);
    evidence_string(&e, "explored",
                    all ? "every fair schedule of the threads (exhaustive search)"
                        : "round robin, uniform walks and starving prefixes with a "
                          "fair rest: not every fair schedule");
    d->known = "UNF";
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(
        c->arena, "%s spins for ever at line %u%s; %s of the threads end",
        subject_table[subject].name, d->line,
        probe->depth ? arena_printf(c->arena, ", its token stack never below %u", probe->depth)
                     : "",
        all ? "all fair schedules"
            : arena_printf(c->arena, "all %u fair schedules explored", threads->fair));
    c->unfair[subject] = true;
    answer_diverge(answer, d);
}

/* The answer is no better than the weakest of its subjects: what cannot be told stays said. */
static void weaken(struct answer *answer, enum verdict verdict, const char *reason)
{
    static const uint32_t strength[VERDICT_COUNT] = {[VERDICT_NOT_APPLICABLE] = 0,
                                                     [VERDICT_AGREE] = 1,
                                                     [VERDICT_INCONCLUSIVE] = 2,
                                                     [VERDICT_DIVERGE] = 3};
    if (strength[verdict] < strength[answer->verdict])
        return;
    answer->verdict = verdict;
    answer->reason = reason;
}

/* An execution that is compared with the subject's terminates, and none of them races. */
static bool race_free_end(const struct checking *c, enum subject_id subject)
{
    enum group_id group = explore_group(c, subject);
    return group != GROUP_NONE && c->groups[group].reference && !c->groups[group].any_race;
}

static void judge_subject(struct checking *c, struct answer *answer, enum subject_id subject)
{
    const struct check_run *run = &c->result->runs[subject];
    enum subject_id other = threads_of(c, subject);
    const struct check_run *threads = &c->result->runs[other];
    const struct lasso_probe *probe = c->probes[subject];
    if (run->schedules == 0)
        return;
    answer->checked += run->schedules;
    if (!probe || !probe->proven) {
        if (run->fair_cut)
            weaken(answer, VERDICT_INCONCLUSIVE,
                   "a warp execution spent its budget, and no lasso was found");
        return;
    }
    if (race_free_end(c, subject))
        contradict(c, answer, subject);
    else if (threads->schedules == 0)
        weaken(answer, VERDICT_INCONCLUSIVE,
               arena_printf(c->arena, "a warp runs for ever; `%s` was not run",
                            subject_table[other].name));
    else if (threads->fair_lasso)
        weaken(answer, VERDICT_AGREE,
               arena_printf(c->arena,
                            "a warp runs for ever%s, and so does a fair schedule of the threads",
                            probe->depth ? ", its token stack never empty" : ""));
    else if (threads->fair_cut && !c->all_fair_end[other])
        weaken(answer, VERDICT_INCONCLUSIVE,
               "a warp runs for ever; a fair schedule of the threads spent its budget");
    else if (threads->fair == 0 && !c->all_fair_end[other])
        weaken(answer, VERDICT_INCONCLUSIVE,
               "a warp runs for ever; no fair schedule of the threads was explored");
    else
        report_unfair(c, answer, subject);
}

static const enum subject_id warps[] = {SUBJECT_SIMT, SUBJECT_SIMT_THEN, SUBJECT_CRS,
                                        SUBJECT_THREAD_PC};

enum { WARPS = sizeof warps / sizeof *warps };

void liveness_explore(struct checking *c)
{
    bool wanted[SUBJECT_COUNT] = {false};
    for (uint32_t i = 0; i < WARPS; i++)
        if (explore_runs(c, warps[i]) && c->result->runs[warps[i]].fair_lasso)
            wanted[threads_of(c, warps[i])] = true;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (wanted[s] && explore_runs(c, (enum subject_id)s))
            explore_more_fair(c, (enum subject_id)s);
}

void liveness_judge(struct checking *c)
{
    struct answer answer = {.verdict = VERDICT_NOT_APPLICABLE,
                            .reason = "every explored warp execution that starves no warp ends"};
    for (uint32_t i = 0; i < WARPS; i++)
        judge_subject(c, &answer, warps[i]);
    implications_judge(c, &answer);
    matrix_judge(c, &answer);
    if (answer.verdict == VERDICT_NOT_APPLICABLE)
        answer.checked = 0;
    if (c->options->oracles & (1u << ORACLE_LIVENESS))
        c->result->answers[ORACLE_LIVENESS] = answer;
}
