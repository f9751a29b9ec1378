#include "oracle/results/result.h"

#include "engine/program/ptx_code.h"
#include "oracle/warps/simulation_explore.h"

#include "oracle/check/evidence.h"
#include "oracle/crs/safety.h"

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
    const uint32_t *addresses; /* of a visible write, as another program has it; NULL: the same */
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

/* For executions of different programs: what each thread writes to memory that others see. */
static void log_visible(void *context, uint32_t thread, uint32_t address, int32_t value,
                        uint32_t stm)
{
    struct step_log *log = context;
    if (log->addresses)
        address = log->addresses[address];
    if (log->count < STEP_LOG_MAX)
        log->entries[log->count++] = (struct step_entry){thread, stm, RULE_NONE, address, value};
}

/* The writes of a step get its rule. */
static void log_rule(void *context, const struct machine *machine, const struct step_event *event)
{
    struct step_log *log = context;
    (void)machine;
    for (uint32_t i = log->count; i-- > 0 && log->entries[i].rule == RULE_NONE;)
        log->entries[i].rule = event->rule;
}

static struct step_log *new_log(struct checking *c, bool visible)
{
    struct step_log *log = ARENA_NEW(c->arena, struct step_log);
    log->observer = (struct observer){.context = log, .write = log_write, .step = log_step};
    if (visible)
        log->observer = (struct observer){
            .context = log, .write = log_visible, .atomic = log_visible, .step = log_rule};
    log->entries = ARENA_ARRAY(c->arena, struct step_entry, STEP_LOG_MAX);
    log->address = CODE_NONE;
    return log;
}

/* Runs a machine under the log. */
static void log_machine(struct checking *c, struct machine *machine, enum subject_id subject,
                        const struct sched_spec *spec, uint64_t budget, struct step_log *log)
{
    struct scheduler scheduler;
    explore_observe(c, machine, subject, &log->observer);
    machine_reset(machine);
    sched_start(&scheduler, spec, machine, c->arena);
    (void)machine_run(machine, &scheduler.choices, budget, NULL);
    machine_observe(machine, NULL);
}

static uint64_t budget_of(const struct checking *c, const struct execution *execution)
{
    return execution->steps ? execution->steps : c->options->budget_steps;
}

/* Runs the subject's machine again under the log. */
static void log_alone(struct checking *c, const struct execution *execution, struct step_log *log)
{
    struct machine *machine = c->subjects[execution->subject].machine;
    machine->options.then_first = subject_table[execution->subject].options.then_first;
    log_machine(c, machine, execution->subject, &execution->spec, budget_of(c, execution), log);
}

/* A warp's steps are those of its co-simulation. */
static void log_simulated(struct checking *c, const struct execution *execution,
                          struct step_log *log)
{
    struct scheduler scheduler;
    struct simulation quiet = *simulation_of(c);
    quiet.answer = quiet.lemmas = NULL;
    machine_observe(c->threads, &log->observer);
    machine_observe(c->warps, NULL);
    simulation_begin(&quiet, execution->subject);
    sched_start(&scheduler, &execution->spec, c->warps, c->arena);
    (void)simulation_run(&quiet, &scheduler.choices,
                         budget_of(c, execution) + execution->thread_steps);
    machine_observe(c->threads, NULL);
}

static bool is_simulated(const struct checking *c, const struct execution *execution)
{
    return simulation_of(c) && c->subjects[execution->subject].machine == c->warps;
}

/* Runs it again and writes down all thread steps, or what they write. */
static struct step_log *log_execution(struct checking *c, const struct execution *execution,
                                      bool visible)
{
    struct step_log *log = new_log(c, visible);
    if (!visible && is_simulated(c, execution))
        log_simulated(c, execution, log);
    else
        log_alone(c, execution, log);
    return log;
}

/* Whether each thread takes the same steps in both, where neither races: one program, and no warp
 * without its co-simulation. */
static bool same_steps(const struct checking *c, const struct execution *a,
                       const struct execution *b)
{
    const struct explored *x = &c->subjects[a->subject], *y = &c->subjects[b->subject];
    bool steps_of_threads = a->subject == b->subject || is_simulated(c, a) || is_simulated(c, b);
    return x->program == y->program && steps_of_threads;
}

/* For each thread the place of its steps in the log, one after the other. */
static uint32_t *index_by_thread(struct checking *c, const struct step_log *log, uint32_t *starts)
{
    uint32_t threads = c->result->program->total_threads;
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

static bool same_step(const struct step_entry *a, const struct step_entry *b, bool visible)
{
    return (visible || (a->rule == b->rule && a->stm == b->stm)) && a->address == b->address &&
           a->value == b->value;
}

static struct first_difference compare_logs(struct checking *c, const struct step_log *a,
                                            const struct step_log *b, bool visible)
{
    uint32_t threads = c->result->program->total_threads;
    uint32_t *starts = ARENA_ARRAY(c->arena, uint32_t, threads + 1);
    uint32_t *taken = ARENA_ARRAY(c->arena, uint32_t, threads);
    const uint32_t *order = index_by_thread(c, a, starts);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct step_entry *step = &b->entries[i];
        uint32_t instance = taken[step->thread]++;
        uint32_t at = starts[step->thread] + instance;
        if (at >= starts[step->thread + 1] || !same_step(step, &a->entries[order[at]], visible))
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

struct first_difference result_first_difference(struct checking *c,
                                                const struct execution *reference,
                                                const struct execution *execution)
{
    bool visible = !same_steps(c, reference, execution);
    const struct step_log *a = log_execution(c, reference, visible);
    const struct step_log *b = log_execution(c, execution, visible);
    return compare_logs(c, a, b, visible);
}

struct first_difference result_first_write(struct checking *c, const struct execution *reference,
                                           enum subject_id subject, struct machine *machine,
                                           const struct sched_spec *spec, uint64_t budget,
                                           const uint32_t *addresses)
{
    const struct step_log *a = log_execution(c, reference, true);
    struct step_log *b = new_log(c, true);
    b->addresses = addresses;
    log_machine(c, machine, subject, spec, budget, b);
    return compare_logs(c, a, b, true);
}

/* ---- ends ---- */

enum clean result_clean_of(enum status status, bool race)
{
    if (race || status == STATUS_ASSERT_FAILS || status == STATUS_BARRIER_DIVERGENCE ||
        status == STATUS_OUT_OF_BOUNDS)
        return DIRTY;
    return status == STATUS_TERMINATED ? CLEAN : CLEAN_UNKNOWN;
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
    d->line = evidence_line(c->subjects[other->subject].program, first.stm);
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

const char *result_space(const struct program *p, uint32_t address)
{
    return address < p->shared_base    ? "global memory"
           : address < p->private_base ? "shared memory"
                                       : "private memory";
}

/* The answer is no better than the weakest of its parts: what cannot be told stays said. */
static void add_part(struct answer *answer, const struct answer *part)
{
    static const uint32_t strength[VERDICT_COUNT] = {[VERDICT_NOT_APPLICABLE] = 0,
                                                     [VERDICT_AGREE] = 1,
                                                     [VERDICT_INCONCLUSIVE] = 2,
                                                     [VERDICT_DIVERGE] = 3};
    answer->checked += part->checked;
    if (answer->reason && strength[part->verdict] <= strength[answer->verdict])
        return;
    answer->verdict = part->verdict;
    answer->reason = part->reason;
}

/* ---- race ---- */

static bool is_in(const struct checking *c, const struct execution *execution, enum group_id group)
{
    return explore_execution_group(c, execution) == group;
}

static const struct execution *find_race(const struct checking *c, enum group_id group)
{
    for (uint32_t i = 0; i < c->execution_count; i++)
        if (c->executions[i]->race && is_in(c, c->executions[i], group))
            return c->executions[i];
    return NULL;
}

const struct execution *result_find_clean(const struct checking *c, enum group_id group)
{
    for (uint32_t i = 0; i < c->execution_count; i++)
        if (c->executions[i]->status == STATUS_TERMINATED && !c->executions[i]->race &&
            !c->executions[i]->searched && is_in(c, c->executions[i], group) &&
            !explore_follows(c, c->executions[i]->subject))
            return c->executions[i];
    return NULL;
}

static void report_race_verdict(struct checking *c, struct answer *answer,
                                const struct execution *clean, const struct execution *racy)
{
    const struct program *program = c->subjects[racy->subject].program;
    struct evidence e;
    struct divergence *d = compare_executions(c, ORACLE_RACE, clean, racy, &e);
    evidence_race(&e, "race", program, &racy->witness);
    d->class_name = "race-verdict";
    d->observable = result_space(program, racy->witness.address);
    if (!d->line)
        d->line = evidence_line(program, racy->witness.second.stm);
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(c->arena, "%s: %s, although %s terminates without a race",
                              subject_table[racy->subject].name,
                              evidence_race_sentence(c->arena, program, &racy->witness),
                              subject_table[clean->subject].name);
    answer_diverge(answer, d);
}

void race_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_RACE];
    uint32_t races = 0, complete = 0, watched = 0;
    for (uint32_t i = 0; i < c->execution_count; i++) {
        if (c->executions[i]->searched)
            continue; /* the search answers for itself: judge_race of exhaust.c */
        watched++;
        races += c->executions[i]->race;
        complete += c->executions[i]->status == STATUS_TERMINATED;
    }
    answer->checked += watched;
    for (uint32_t g = 0; g < GROUP_COUNT; g++) {
        const struct execution *clean = result_find_clean(c, (enum group_id)g);
        const struct execution *racy = find_race(c, (enum group_id)g);
        if (clean && racy)
            report_race_verdict(c, answer, clean, racy);
    }
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    answer->verdict = watched ? VERDICT_AGREE : VERDICT_NOT_APPLICABLE;
    answer->reason =
        arena_printf(c->arena, "%u of %u watched executions race; %u complete%s%s", races, watched,
                     complete, c->incomparable ? "; not compared with each other: " : "",
                     c->incomparable ? c->incomparable : "");
}

/* ---- result ---- */

static void report_store(struct checking *c, struct answer *answer, const struct group *group)
{
    const struct store_mismatch *m = &group->mismatch;
    const struct program *p = c->result->program;
    struct evidence e;
    struct divergence *d = compare_executions(c, ORACLE_RESULT, group->reference, m->execution, &e);
    const char *name = m->address < p->private_base ? program_location_name(c->arena, p, m->address)
                                                    : arena_printf(c->arena, "word %u", m->address);
    evidence_string(&e, "location", name);
    evidence_number(&e, "value", m->value);
    evidence_number(&e, "reference_value", m->reference_value);
    d->class_name = "store";
    d->observable = result_space(p, m->address);
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(c->arena, "race-free, but %s ends with %s == %d, %s with %d",
                              subject_table[m->execution->subject].name, name, m->value,
                              subject_table[group->reference->subject].name, m->reference_value);
    answer_diverge(answer, d);
}

static void report_end(struct checking *c, struct answer *answer, const struct execution *reference,
                       const struct execution *execution, const char *class_name)
{
    struct evidence e;
    struct divergence *d = compare_executions(c, ORACLE_RESULT, reference, execution, &e);
    evidence_string(&e, "status", status_names[execution->status]);
    evidence_number(&e, "thread_steps", (int64_t)execution->thread_steps);
    evidence_number(&e, "reference_thread_steps", (int64_t)reference->thread_steps);
    d->class_name = class_name;
    d->observable = status_names[execution->status];
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(
        c->arena, "race-free, but %s ends as %s after %llu steps, %s as %s after %llu",
        subject_table[execution->subject].name, status_names[execution->status],
        (unsigned long long)execution->thread_steps, subject_table[reference->subject].name,
        status_names[reference->status], (unsigned long long)reference->thread_steps);
    answer_diverge(answer, d);
}

/* How an execution ended, against the reference. NULL, or why it cannot be told. */
static const char *judge_end(struct checking *c, struct answer *answer,
                             const struct execution *reference, const struct execution *execution)
{
    bool same = same_steps(c, reference, execution);
    bool known = same && execution->thread_steps_known && reference->thread_steps_known;
    if (execution->status == STATUS_TERMINATED) {
        if (known && execution->thread_steps != reference->thread_steps)
            report_end(c, answer, reference, execution, "steps");
        return NULL;
    }
    bool cut = execution->status == STATUS_STEP_LIMIT;
    if (cut && !(known && execution->thread_steps > reference->thread_steps))
        return "an execution spent its budget";
    if (execution->status == STATUS_CALL_DEPTH && !same)
        return "the bound on calls: inlining makes fewer of them";
    if (execution->status == STATUS_UNSUPPORTED)
        return "an execution met something unsupported";
    if (execution->status == STATUS_DEADLOCK && c->kernel->form == FORM_PTX)
        return "a deadlock of PTX: a barrier waits for who has not ended yet (BAR.2, BAR.4)";
    bool endless = cut || execution->status == STATUS_NONTERMINATING;
    report_end(c, answer, reference, execution, endless ? "termination" : "status");
    return NULL;
}

/* A racy kernel needs the whole set of the interleavings' outcomes. */
static void judge_racy(struct checking *c, struct answer *part, const struct execution *racy)
{
    const struct search_result *search = c->result->runs[SUBJECT_THREADS].search;
    const struct program *program = c->subjects[racy->subject].program;
    const char *race = evidence_race_sentence(c->arena, program, &racy->witness);
    part->reason = arena_printf(c->arena, "racy: %s", race);
    if (!search || search->complete)
        return;
    part->verdict = VERDICT_INCONCLUSIVE;
    part->reason = arena_printf(
        c->arena, "racy: %s; the search of all interleavings was cut off (bound on %s)", race,
        search->cut);
}

/* Divergences go to the answer; what else there is to say is returned. */
static struct answer judge_group(struct checking *c, struct answer *answer, enum group_id id)
{
    const struct group *group = &c->groups[id];
    const struct execution *racy = find_race(c, id);
    struct answer part = {.verdict = VERDICT_NOT_APPLICABLE,
                          .reason = "no explored execution terminates"};
    const char *unknown = NULL;
    if (!group->reference)
        return part;
    if (racy) {
        judge_racy(c, &part, racy);
        return part;
    }
    for (uint32_t i = 0; i < c->execution_count; i++) {
        if (!is_in(c, c->executions[i], id))
            continue;
        const char *why = judge_end(c, answer, group->reference, c->executions[i]);
        unknown = unknown ? unknown : why;
        part.checked++;
    }
    if (group->mismatch.execution)
        report_store(c, answer, group);
    part.verdict = unknown ? VERDICT_INCONCLUSIVE : VERDICT_AGREE;
    part.reason = unknown ? unknown
                          : arena_printf(c->arena, "%u executions end with the same store",
                                         (uint32_t)part.checked);
    return part;
}

/* Addresses of instructions, which injection changes, may be data. */
static bool moves_addresses(const struct checking *c)
{
    const struct ptx_code *warps =
        c->subjects[c->groups[GROUP_FIRST].reference->subject].program->ptx;
    const struct ptx_code *threads =
        c->subjects[c->groups[GROUP_PTX].reference->subject].program->ptx;
    for (uint32_t pc = 1; warps->module != threads->module && pc < threads->count; pc++) {
        const struct ptx_op *op = &threads->ops[pc];
        bool branches = op->exec == PTX_EXEC_CALL || op->exec == PTX_EXEC_BRA;
        if (branches && op->target == 0 && op->table_count == 0)
            return true;
    }
    return false;
}

/* A kernel given as PTX. An execution of warps is one of its threads, too: where these do not race, it ends
 * with their store. (The other way round says nothing: lock-step orders what threads do not.) */
static void judge_warps(struct checking *c, struct answer *answer)
{
    const struct group *warps = &c->groups[GROUP_FIRST], *threads = &c->groups[GROUP_PTX];
    uint32_t words = c->result->program->private_base, address = 0;
    if (c->kernel->form != FORM_PTX || !warps->reference || !threads->reference ||
        threads->mismatch.execution || find_race(c, GROUP_PTX) || moves_addresses(c))
        return;
    while (address < words && warps->reference_store[address] == threads->reference_store[address])
        address++;
    if (address == words)
        return;
    struct group pair = *threads;
    pair.mismatch =
        (struct store_mismatch){warps->reference, address, warps->reference_store[address],
                                threads->reference_store[address]};
    report_store(c, answer, &pair);
}

static const struct execution *first_of(const struct checking *c, enum subject_id subject)
{
    for (uint32_t i = 0; i < c->execution_count; i++)
        if (c->executions[i]->subject == subject && !c->executions[i]->searched)
            return c->executions[i];
    return NULL;
}

/* Other rules of the branch unit: the first executions make the same choices. That they end in different
 * ways is known; it is all that ill-formed programs show (MUT.06). */
static void judge_switch(struct checking *c, struct answer *answer, enum subject_id subject)
{
    const struct execution *report = first_of(c, SUBJECT_CRS), *other = first_of(c, subject);
    struct evidence e;
    if (!report || !other || report->status == other->status ||
        report->status == STATUS_STEP_LIMIT || other->status == STATUS_STEP_LIMIT)
        return;
    struct divergence *d = compare_executions(c, ORACLE_RESULT, report, other, &e);
    evidence_string(&e, "status", status_names[other->status]);
    evidence_string(&e, "reference_status", status_names[report->status]);
    d->class_name = "status";
    d->observable = status_names[other->status];
    d->known = safety_switch(subject);
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(c->arena, "%s ends as %s, crs as %s", subject_table[subject].name,
                              status_names[other->status], status_names[report->status]);
    answer_diverge(answer, d);
}

static bool is_empty(const struct checking *c, enum group_id group)
{
    for (uint32_t i = 0; i < c->execution_count; i++)
        if (is_in(c, c->executions[i], group))
            return false;
    return true;
}

/* Warps at one pc with other rules of the branch unit. */
static bool has_switches(enum subject_id subject)
{
    const struct semantics *vtable = subject_table[subject].vtable;
    return vtable && vtable->stack == STACK_CRS && !vtable->has_pcs && safety_switch(subject);
}

void result_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_RESULT];
    struct answer sum = {.verdict = VERDICT_NOT_APPLICABLE};
    for (uint32_t g = 0; g < GROUP_COUNT; g++) {
        if (is_empty(c, (enum group_id)g))
            continue;
        struct answer part = judge_group(c, answer, (enum group_id)g);
        add_part(&sum, &part);
    }
    if (!c->incomparable)
        judge_warps(c, answer);
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (has_switches((enum subject_id)s))
            judge_switch(c, answer, (enum subject_id)s);
    if (c->incomparable)
        sum.reason = c->incomparable;
    else if (!sum.reason)
        sum.reason = "only variants were run";
    /* SIM.mem, which needs no race freedom, may have been judged before (exhaust.c). */
    bool judged = answer->checked > 0;
    answer->checked += sum.checked;
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    if (judged && sum.verdict == VERDICT_NOT_APPLICABLE) {
        answer->verdict = VERDICT_AGREE;
        return;
    }
    answer->verdict = sum.verdict;
    answer->reason = sum.reason;
}
