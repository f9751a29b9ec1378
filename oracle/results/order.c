#include "oracle/results/order.h"

#include "oracle/check/evidence.h"
#include "oracle/results/result.h"

#include <string.h>

/* What a program is compared with: an execution of a subject. */
struct alternative {
    enum program_id program;
    enum subject_id subject;
    bool needs_well_formed; /* Thm. 5.2, on which ORA.perm of phi rests */
    const char *what;
};

static const struct alternative alternatives[] = {
    {PROGRAM_LOCKSTEP_ORDER, SUBJECT_LOCKSTEP, true, "another sort order"},
    {PROGRAM_PREDICATED_ORDER, SUBJECT_PREDICATED, false, "another sort order"},
    {PROGRAM_BLOCKS_LOGIC, SUBJECT_INTERLEAVE, false, "&& || ?: as blocks"},
};

enum { ALTERNATIVES = sizeof alternatives / sizeof *alternatives };

/* A race in an execution that says nothing else is left out. */
static enum clean clean_of(enum status status, bool race)
{
    return result_clean_of(status, false) == CLEAN_UNKNOWN ? CLEAN_UNKNOWN
                                                           : result_clean_of(status, race);
}

/* The first execution of the subject that says something; NULL: none does. */
static const struct execution *base_of(const struct checking *c, enum subject_id subject)
{
    for (uint32_t i = 0; i < c->execution_count; i++) {
        const struct execution *e = c->executions[i];
        if (e->subject == subject && !e->searched && clean_of(e->status, e->race) != CLEAN_UNKNOWN)
            return e;
    }
    return NULL;
}

/* An alternative, run. */
struct other_run {
    const struct alternative *alternative;
    const struct execution *base;
    struct machine *machine;
    struct sched_spec spec;
    enum status status;
    bool race;
    struct race_witness witness;
};

static void run_other(struct checking *c, const struct form *form, struct other_run *run)
{
    const struct subject_info *info = &subject_table[run->alternative->subject];
    const struct program *program = form->program;
    struct scheduler scheduler;
    run->machine = machine_new(c->arena, info->vtable, program, &info->options);
    run->spec = sched_portfolio(c->options->seed, 3, run->machine->actor_count, 0);
    c->detector->program = program;
    c->detector->racy_stms = ARENA_ARRAY(c->arena, uint8_t, program->stm_count);
    c->detector->racy_vars = ARENA_ARRAY(c->arena, uint8_t, program->var_count);
    c->detector->observer.next = NULL;
    race_begin(c->detector);
    race_watch(c->detector, run->machine);
    explore_observe(c, run->machine, run->alternative->subject, &c->detector->observer);
    sched_start(&scheduler, &run->spec, run->machine, c->arena);
    run->status = machine_run(run->machine, &scheduler.choices, c->options->budget_steps, NULL);
    run->race = c->detector->found;
    run->witness = c->detector->witness;
}

/* ---- reports ---- */

static struct divergence *new_divergence(struct checking *c, const struct other_run *run,
                                         struct evidence *e)
{
    const struct alternative *a = run->alternative;
    uint64_t budget = run->machine->steps;
    struct first_difference first =
        result_first_write(c, run->base, a->subject, run->machine, &run->spec, budget, NULL);
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    const struct program *program = run->machine->program;
    *d = (struct divergence){.oracle = ORACLE_ORDER,
                             .rule = first.rule,
                             .subject = a->subject,
                             .line = evidence_line(program, first.stm),
                             .tape = explore_record(c, run->base)};
    evidence_open(e, c->arena);
    evidence_string(e, "subject", subject_table[a->subject].name);
    evidence_string(e, "schedule", explore_name(c, run->base));
    evidence_string(e, "status", status_names[run->base->status]);
    evidence_string(e, "other_program", program_id_names[a->program]);
    evidence_string(e, "other_schedule", sched_name(c->arena, &run->spec));
    evidence_string(e, "other_status", status_names[run->status]);
    if (run->base->race)
        evidence_race(e, "race", c->subjects[a->subject].program, &run->base->witness);
    if (run->race)
        evidence_race(e, "other_race", program, &run->witness);
    return d;
}

static const char *end_name(enum status status, bool race)
{
    return race ? "race" : status_names[status];
}

static void report_clean(struct checking *c, struct answer *answer, const struct other_run *run)
{
    bool clean = clean_of(run->base->status, run->base->race) == CLEAN;
    const char *base = end_name(run->base->status, run->base->race);
    const char *other = end_name(run->status, run->race);
    struct evidence e;
    struct divergence *d = new_divergence(c, run, &e);
    d->class_name = "clean";
    d->observable = clean ? other : base;
    d->evidence = evidence_close(&e);
    d->summary =
        arena_printf(c->arena, "%s: %s; with %s: %s", subject_table[run->alternative->subject].name,
                     base, run->alternative->what, other);
    answer_diverge(answer, d);
}

static void report_store(struct checking *c, struct answer *answer, const struct other_run *run,
                         uint32_t address, int32_t value, int32_t other)
{
    const struct program *p = c->result->program;
    const char *name = program_location_name(c->arena, p, address);
    struct evidence e;
    struct divergence *d = new_divergence(c, run, &e);
    evidence_string(&e, "location", name);
    evidence_number(&e, "value", value);
    evidence_number(&e, "other_value", other);
    d->class_name = "store";
    d->observable = result_space(p, address);
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(c->arena, "%s ends with %s == %d; with %s: %d",
                              subject_table[run->alternative->subject].name, name, value,
                              run->alternative->what, other);
    answer_diverge(answer, d);
}

/* ---- the oracle ---- */

/* The store that a clean execution ended with: kept, unless it is one of several. */
static const int32_t *store_of(struct checking *c, const struct execution *base)
{
    const struct check_run *run = &c->result->runs[base->subject];
    if (run->final_count == 1 && !run->more_finals)
        return run->finals[0];
    (void)explore_record(c, base);
    return c->subjects[base->subject].machine->memory;
}

/* Both are clean: their stores. */
static void compare_stores(struct checking *c, struct answer *answer, const struct other_run *run)
{
    const int32_t *store = store_of(c, run->base);
    const int32_t *other = run->machine->memory;
    for (uint32_t i = 0; i < c->result->program->private_base; i++)
        if (store[i] != other[i]) {
            report_store(c, answer, run, i, store[i], other[i]);
            return;
        }
}

/* NULL: compared; or why not. */
static const char *judge_alternative(struct checking *c, struct answer *answer,
                                     const struct alternative *a, enum verdict *otherwise)
{
    struct other_run run = {.alternative = a};
    *otherwise = VERDICT_NOT_APPLICABLE;
    if (!explore_runs(c, a->subject))
        return "no subject that has an alternative was run";
    if (a->needs_well_formed && c->ill_formed)
        return c->ill_formed;
    const struct form *form = forms_get(c->forms, a->program);
    if (!form->program)
        return form->reason;
    *otherwise = VERDICT_INCONCLUSIVE;
    run.base = base_of(c, a->subject);
    if (!run.base)
        return "no execution ends, or none says whether the kernel is clean";
    run_other(c, form, &run);
    enum clean clean = clean_of(run.status, run.race);
    if (clean == CLEAN_UNKNOWN)
        return arena_printf(c->arena, "with %s: %s", a->what, status_names[run.status]);
    answer->checked++;
    if (clean != clean_of(run.base->status, run.base->race))
        report_clean(c, answer, &run);
    else if (clean == CLEAN)
        compare_stores(c, answer, &run);
    return NULL;
}

void order_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_ORDER];
    const char *why_not = NULL;
    enum verdict verdict = VERDICT_NOT_APPLICABLE;
    if (c->incomparable) {
        answer->reason = c->incomparable;
        return;
    }
    uint64_t seed = c->options->seed, start = pcg_splitmix(seed) % ALTERNATIVES;
    for (uint32_t i = 0; i < ALTERNATIVES && (seed == 0 || answer->checked == 0); i++) {
        const struct alternative *a = &alternatives[(start + i) % ALTERNATIVES];
        enum verdict otherwise;
        const char *why = judge_alternative(c, answer, a, &otherwise);
        if (why && (!why_not || otherwise == VERDICT_INCONCLUSIVE)) {
            why_not = why;
            verdict = otherwise;
        }
    }
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    if (answer->checked > 0 && verdict != VERDICT_INCONCLUSIVE) {
        answer->verdict = VERDICT_AGREE;
        answer->reason = "another sort order, another lowering: the same verdict and store";
        return;
    }
    answer->verdict = verdict;
    answer->reason = why_not;
}
