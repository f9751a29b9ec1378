#include "oracle/result.h"

#include "oracle/evidence.h"

#include <string.h>

/* ---- executions, thread by thread ---- */

enum { STEP_LOG_MAX = 1 << 16 };

struct step_entry {
    uint32_t thread, stm;
    enum rule rule;
    uint32_t address; /* CODE_NONE: wrote nothing that others see */
    int32_t value;
};

struct step_log {
    struct observer observer;
    struct step_entry *entries;
    uint32_t count;
    uint32_t address; /* of the step under way */
    int32_t value;
};

static void log_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    struct step_log *log = context;
    (void)thread;
    (void)stm;
    log->address = address;
    log->value = value;
}

static void log_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct step_log *log = context;
    (void)machine;
    if (log->count < STEP_LOG_MAX)
        log->entries[log->count++] =
            (struct step_entry){event->actor, event->stm, event->rule, log->address, log->value};
    log->address = CODE_NONE;
    log->value = 0;
}

/* Runs it again and writes down all thread steps: for a warp's, those of its co-simulation. */
static struct step_log *log_execution(struct checking *c, const struct execution *execution)
{
    struct step_log *log = ARENA_NEW(c->arena, struct step_log);
    struct scheduler scheduler;
    uint64_t budget = execution->steps ? execution->steps : c->options->budget_steps;
    log->observer = (struct observer){.context = log, .write = log_write, .step = log_step};
    log->entries = ARENA_ARRAY(c->arena, struct step_entry, STEP_LOG_MAX);
    log->address = CODE_NONE;
    machine_observe(c->threads, &log->observer);
    if (execution->subject == SUBJECT_THREADS) {
        machine_reset(c->threads);
        sched_start(&scheduler, &execution->spec, c->threads, c->arena);
        (void)machine_run(c->threads, &scheduler.choices, budget, NULL);
    } else {
        struct simulation quiet = *c->simulation;
        quiet.answer = quiet.lemmas = NULL;
        machine_observe(c->warps, NULL);
        simulation_begin(&quiet, execution->subject);
        sched_start(&scheduler, &execution->spec, c->warps, c->arena);
        (void)simulation_run(&quiet, &scheduler.choices, budget + execution->thread_steps);
    }
    machine_observe(c->threads, NULL);
    return log;
}

/* For each thread the place of its steps in the log, one after the other. */
static uint32_t *index_by_thread(struct checking *c, const struct step_log *log, uint32_t *starts)
{
    uint32_t threads = c->program->total_threads;
    uint32_t *next = ARENA_ARRAY(c->arena, uint32_t, threads + 1);
    uint32_t *order = ARENA_ARRAY(c->arena, uint32_t, log->count + 1);
    for (uint32_t i = 0; i < log->count; i++)
        next[log->entries[i].thread + 1]++;
    for (uint32_t t = 0; t < threads; t++)
        next[t + 1] += next[t];
    memcpy(starts, next, (threads + 1) * sizeof *starts);
    for (uint32_t i = 0; i < log->count; i++)
        order[next[log->entries[i].thread]++] = i;
    return order;
}

static bool same_step(const struct step_entry *a, const struct step_entry *b)
{
    return a->rule == b->rule && a->stm == b->stm && a->address == b->address &&
           a->value == b->value;
}

struct first_difference result_first_difference(struct checking *c,
                                                const struct execution *reference,
                                                const struct execution *execution)
{
    uint32_t threads = c->program->total_threads;
    const struct step_log *a = log_execution(c, reference), *b = log_execution(c, execution);
    uint32_t *starts = ARENA_ARRAY(c->arena, uint32_t, threads + 1);
    uint32_t *taken = ARENA_ARRAY(c->arena, uint32_t, threads);
    const uint32_t *order = index_by_thread(c, a, starts);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct step_entry *step = &b->entries[i];
        uint32_t instance = taken[step->thread]++;
        uint32_t at = starts[step->thread] + instance;
        if (at >= starts[step->thread + 1] || !same_step(step, &a->entries[order[at]]))
            return (struct first_difference){step->rule, step->thread, step->stm, instance};
    }
    for (uint32_t t = 0; t < threads; t++) {
        if (starts[t] + taken[t] == starts[t + 1])
            continue;
        const struct step_entry *step = &a->entries[order[starts[t] + taken[t]]];
        return (struct first_difference){step->rule, t, step->stm, taken[t]};
    }
    return (struct first_difference){.rule = RULE_NONE, .stm = CODE_NONE};
}

/* ---- reports ---- */

static struct divergence *compare_executions(struct checking *c, enum oracle_id oracle,
                                             const struct execution *reference,
                                             const struct execution *other, struct evidence *e)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct first_difference first = result_first_difference(c, reference, other);
    d->oracle = oracle;
    d->rule = first.rule;
    d->subject = other->subject;
    d->line = evidence_line(c->program, first.stm);
    d->tape = explore_record(c, other);
    d->other_tape = explore_record(c, reference);
    evidence_open(e, c->arena);
    evidence_string(e, "subject", subject_table[other->subject].name);
    evidence_string(e, "schedule", explore_name(c, other));
    evidence_string(e, "reference_subject", subject_table[reference->subject].name);
    evidence_string(e, "reference_schedule", explore_name(c, reference));
    if (first.rule == RULE_NONE)
        return d;
    evidence_enter(e, "first_difference");
    evidence_string(e, "rule", rule_table[first.rule].name);
    evidence_number(e, "thread", first.thread);
    evidence_number(e, "instance", (int64_t)first.instance);
    evidence_number(e, "line", d->line);
    evidence_leave(e);
    return d;
}

static const char *space_name(const struct program *p, uint32_t address)
{
    return address < p->shared_base    ? "global memory"
           : address < p->private_base ? "shared memory"
                                       : "private memory";
}

/* ---- race ---- */

static const struct execution *find_race(const struct checking *c)
{
    for (uint32_t i = 0; i < c->execution_count; i++)
        if (c->executions[i]->race)
            return c->executions[i];
    return NULL;
}

/* The first execution that terminated without a race. */
static const struct execution *find_clean(const struct checking *c)
{
    for (uint32_t i = 0; i < c->execution_count; i++)
        if (c->executions[i]->status == STATUS_TERMINATED && !c->executions[i]->race &&
            !c->executions[i]->searched)
            return c->executions[i];
    return NULL;
}

static void report_race_verdict(struct checking *c, struct answer *answer,
                                const struct execution *clean, const struct execution *racy)
{
    struct evidence e;
    struct divergence *d = compare_executions(c, ORACLE_RACE, clean, racy, &e);
    evidence_race(&e, "race", c->program, &racy->witness);
    d->class_name = "race-verdict";
    d->observable = space_name(c->program, racy->witness.address);
    if (!d->line)
        d->line = evidence_line(c->program, racy->witness.second.stm);
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(c->arena, "%s, although an execution terminates without a race",
                              evidence_race_sentence(c->arena, c->program, &racy->witness));
    answer_diverge(answer, d);
}

void race_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_RACE];
    const struct execution *clean = find_clean(c), *racy = find_race(c);
    uint32_t races = 0, complete = 0, watched = 0;
    for (uint32_t i = 0; i < c->execution_count; i++) {
        if (c->executions[i]->searched)
            continue; /* the search answers for itself: judge_race of exhaust.c */
        watched++;
        races += c->executions[i]->race;
        complete += c->executions[i]->status == STATUS_TERMINATED;
    }
    answer->checked += watched;
    if (clean && racy)
        report_race_verdict(c, answer, clean, racy);
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    answer->verdict = watched ? VERDICT_AGREE : VERDICT_NOT_APPLICABLE;
    answer->reason = arena_printf(c->arena, "%u of %u watched executions race; %u complete", races,
                                  watched, complete);
}

/* ---- result ---- */

static void report_store(struct checking *c, struct answer *answer)
{
    const struct store_mismatch *m = &c->mismatch;
    struct evidence e;
    struct divergence *d = compare_executions(c, ORACLE_RESULT, c->reference, m->execution, &e);
    const char *name = m->address < c->program->private_base
                           ? program_location_name(c->arena, c->program, m->address)
                           : arena_printf(c->arena, "word %u", m->address);
    evidence_string(&e, "location", name);
    evidence_number(&e, "value", m->value);
    evidence_number(&e, "reference_value", m->reference_value);
    d->class_name = "store";
    d->observable = space_name(c->program, m->address);
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(c->arena, "race-free, but %s ends with %s == %d, %s with %d",
                              subject_table[m->execution->subject].name, name, m->value,
                              subject_table[c->reference->subject].name, m->reference_value);
    answer_diverge(answer, d);
}

static void report_end(struct checking *c, struct answer *answer, const struct execution *execution,
                       const char *class_name)
{
    struct evidence e;
    struct divergence *d = compare_executions(c, ORACLE_RESULT, c->reference, execution, &e);
    evidence_string(&e, "status", status_names[execution->status]);
    evidence_number(&e, "thread_steps", (int64_t)execution->thread_steps);
    evidence_number(&e, "reference_thread_steps", (int64_t)c->reference->thread_steps);
    d->class_name = class_name;
    d->observable = status_names[execution->status];
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(
        c->arena,
        "race-free, but %s ends as %s after %llu thread steps, %s as terminated after %llu",
        subject_table[execution->subject].name, status_names[execution->status],
        (unsigned long long)execution->thread_steps, subject_table[c->reference->subject].name,
        (unsigned long long)c->reference->thread_steps);
    answer_diverge(answer, d);
}

/* How an execution ended, against the reference. False: it cannot be told. */
static bool judge_end(struct checking *c, struct answer *answer, const struct execution *execution)
{
    const struct execution *r = c->reference;
    bool known = execution->thread_steps_known && r->thread_steps_known;
    if (execution->status == STATUS_TERMINATED) {
        if (known && execution->thread_steps != r->thread_steps)
            report_end(c, answer, execution, "steps");
        return true;
    }
    bool cut = execution->status == STATUS_STEP_LIMIT;
    if (cut && known && execution->thread_steps <= r->thread_steps)
        return false;
    bool endless = cut || execution->status == STATUS_NONTERMINATING;
    report_end(c, answer, execution, endless ? "termination" : "status");
    return true;
}

/* SIM.mem, which needs no race freedom, may have been judged before (exhaust.c). */
static void not_applicable(struct answer *answer, const char *reason)
{
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    if (answer->checked)
        answer->verdict = VERDICT_AGREE;
    else
        answer->reason = reason;
}

/* A racy kernel needs the whole set of the interleavings' outcomes. */
static void judge_racy(struct checking *c, struct answer *answer, const struct execution *racy)
{
    const struct search_result *search = c->result->runs[SUBJECT_THREADS].search;
    const char *race = evidence_race_sentence(c->arena, c->program, &racy->witness);
    if (!search || search->complete || answer->verdict == VERDICT_DIVERGE) {
        not_applicable(answer, arena_printf(c->arena, "racy: %s", race));
        return;
    }
    answer->verdict = VERDICT_INCONCLUSIVE;
    answer->reason = arena_printf(
        c->arena, "racy: %s; the search of all interleavings was cut off (bound on %s)", race,
        search->cut);
}

void result_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_RESULT];
    const struct execution *racy = find_race(c);
    bool complete = true;
    if (!c->reference) {
        not_applicable(answer, "no explored execution terminates");
        return;
    }
    if (racy) {
        judge_racy(c, answer, racy);
        return;
    }
    for (uint32_t i = 0; i < c->execution_count; i++)
        complete &= judge_end(c, answer, c->executions[i]);
    if (c->mismatch.execution)
        report_store(c, answer);
    answer->checked += c->execution_count;
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    answer->verdict = complete ? VERDICT_AGREE : VERDICT_INCONCLUSIVE;
    answer->reason = complete ? arena_printf(c->arena, "%u executions end with the same store",
                                             c->execution_count)
                              : "a warp execution spent its budget";
}
