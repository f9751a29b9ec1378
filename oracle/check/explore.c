#include "oracle/check/explore_internal.h"

#include "engine/base/invariant.h"
#include "engine/program/ptx_code.h"
#include "oracle/check/active.h"
#include "oracle/check/evidence.h"
#include "oracle/check/expect.h"
#include "oracle/check/oracle.h"
#include "oracle/check/record.h"

#include <string.h>

enum {
    UNFAIR_CUT_MAX = 4, /* executions of a subject that may spend their budget, starving others */
    CUT_SHARE = 8,      /* after the first, such executions get this part of the budget */
    PROBE_SHARE = 2,    /* one that has spent this part of its budget may never end: look */
    PTX_SHARE = 4 /* of a kernel given as PTX: of 1,000 cases, none that ended took half of it */
};

bool explore_fair(const struct sched_spec *spec, const struct machine *machine)
{
    return machine->actor_count == 1 || sched_is_fair(spec);
}

/* ---- steps at racy statements, for SURW ---- */

struct counting {
    struct observer observer;
    const uint8_t *selected;
    uint32_t *counts;
};

static void count_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct counting *counting = context;
    (void)machine;
    if (event->stm != CODE_NONE && counting->selected[event->stm])
        counting->counts[event->actor]++;
}

static void start_counting(struct checking *c)
{
    struct counting *counting = ARENA_NEW(c->arena, struct counting);
    uint8_t *selected = ARENA_ARRAY(c->arena, uint8_t, c->program->stm_count);
    memcpy(selected, c->subjects[SUBJECT_THREADS].racy_stms, c->program->stm_count);
    counting->observer = (struct observer){.context = counting, .step = count_step};
    counting->selected = selected;
    counting->counts = ARENA_ARRAY(c->arena, uint32_t, c->program->total_threads);
    c->counting = counting;
}

/* ---- what an execution leaves behind ---- */

static void keep_final(struct checking *c, struct check_run *run, const int32_t *memory)
{
    size_t bytes = (size_t)c->result->program->private_base * sizeof *memory;
    for (uint32_t i = 0; i < run->final_count; i++)
        if (memcmp(run->finals[i], memory, bytes) == 0)
            return;
    if (run->final_count == CHECK_FINALS_MAX) {
        run->more_finals = true;
        return;
    }
    int32_t *copy = ARENA_ARRAY(c->arena, int32_t, c->result->program->private_base);
    memcpy(copy, memory, bytes);
    run->finals[run->final_count++] = copy;
}

static const struct program *program_of(const struct checking *c, const struct execution *execution)
{
    return c->subjects[execution->subject].program;
}

static void compare_with_reference(struct checking *c, const struct execution *execution,
                                   const int32_t *memory, uint32_t words)
{
    enum group_id id = explore_execution_group(c, execution);
    if (id == GROUP_NONE)
        return;
    struct group *group = &c->groups[id];
    if (!group->reference && explore_follows(c, execution->subject))
        return;
    if (!group->reference) {
        group->reference = execution;
        group->reference_words = words;
        group->reference_store = ARENA_ARRAY(c->arena, int32_t, words);
        memcpy(group->reference_store, memory, (size_t)words * sizeof *memory);
        return;
    }
    if (program_of(c, execution) != program_of(c, group->reference))
        words = c->result->program->private_base;
    if (words > group->reference_words)
        words = group->reference_words;
    if (group->mismatch.execution ||
        memcmp(group->reference_store, memory, (size_t)words * sizeof *memory) == 0)
        return;
    uint32_t address = 0;
    while (memory[address] == group->reference_store[address])
        address++;
    group->mismatch = (struct store_mismatch){execution, address, memory[address],
                                              group->reference_store[address]};
}

static void count_execution(struct checking *c, const struct execution *execution,
                            const int32_t *memory, uint32_t words)
{
    struct check_run *run = &c->result->runs[execution->subject];
    run->schedules++;
    run->statuses[execution->status]++;
    if (execution->status != STATUS_TERMINATED)
        return;
    keep_final(c, run, memory);
    compare_with_reference(c, execution, memory, words);
    expect_observe(c->finals, execution->subject, memory);
}

void explore_keep_store(struct checking *c, const struct execution *execution, const int32_t *store)
{
    count_execution(c, execution, store, c->result->program->private_base);
}

static void keep_race(struct checking *c, struct check_run *run, struct execution *execution)
{
    const struct race_hb *hb = c->subjects[execution->subject].hb;
    const struct scoped *scoped = c->subjects[execution->subject].scoped;
    const struct race_witness *witness = scoped ? &scoped->witness
                                         : hb   ? &hb->witness
                                                : &c->detector->witness;
    execution->race = scoped ? scoped->found : hb ? hb->found : c->detector->found;
    if (run->race_unknown)
        execution->race = false;
    run->race_incomplete |= scoped ? scoped->incomplete : hb && hb->incomplete;
    if (!execution->race)
        return;
    enum group_id group = explore_execution_group(c, execution);
    if (group != GROUP_NONE)
        c->groups[group].any_race = true;
    execution->witness = *witness;
    if (!run->race)
        run->witness = *witness;
    run->race = true;
}

/* The first execution of the subject that ended in an error of its kind. */
static void keep_fault(struct checking *c, struct check_run *run, enum status status,
                       const struct machine *machine)
{
    enum outcome outcome = outcome_of(status);
    bool ended = machine_status(machine) == status;
    if (!ended || outcome == OUTCOME_NONE || run->faults[outcome])
        return;
    run->faults[outcome] = fault_of(c->arena, machine);
    if (!run->error)
        run->error = fault_sentence(c->arena, machine->program, run->faults[outcome]);
}

/* An execution of `machine` has ended so. */
static void keep_execution(struct checking *c, struct execution *execution,
                           const struct machine *machine)
{
    struct check_run *run = &c->result->runs[execution->subject];
    execution->steps = machine->steps;
    run->steps += machine->steps;
    if (execution->status == STATUS_TERMINATED && machine->steps > run->longest)
        run->longest = machine->steps;
    run->fair += execution->fair;
    run->fair_cut += execution->fair && execution->status == STATUS_STEP_LIMIT;
    if (execution->status == STATUS_UNSUPPORTED && !run->beyond)
        run->beyond = arena_printf(c->arena, "%s", machine->fault_text);
    uint64_t *before = &c->subjects[execution->subject].several_targets;
    uint64_t several = machine->hits[RULE_CRS_BRA_TARGET] + machine->hits[RULE_CRS_CALL_TARGET];
    execution->apart = c->parting && c->parting->apart;
    for (uint32_t b = 0;
         execution->status == STATUS_DEADLOCK && b < machine->program->launch.blocks; b++)
        execution->apart |= explore_some_completed(machine, b);
    execution->apart |= c->kernel->form == FORM_PTX && several > *before;
    *before = several;
    keep_race(c, run, execution);
    keep_fault(c, run, execution->status, machine);
    count_execution(c, execution, machine->memory, machine->program->frame_base);
}

struct execution *explore_add(struct checking *c, enum subject_id subject,
                              const struct sched_spec *spec)
{
    const struct machine *machine = c->subjects[subject].machine;
    struct execution *execution = ARENA_NEW(c->arena, struct execution);
    if (c->execution_count == c->execution_capacity) {
        uint32_t capacity = 2 * c->execution_capacity + 64;
        struct execution **grown = ARENA_ARRAY(c->arena, struct execution *, capacity);
        if (c->execution_count)
            memcpy(grown, c->executions, c->execution_count * sizeof *grown);
        c->executions = grown;
        c->execution_capacity = capacity;
    }
    *execution =
        (struct execution){.subject = subject, .spec = *spec, .fair = explore_fair(spec, machine)};
    c->executions[c->execution_count++] = execution;
    return execution;
}

bool explore_next(const struct checking *c, enum subject_id subject, uint32_t index,
                  uint32_t number, struct sched_spec *spec)
{
    const struct machine *machine = c->subjects[subject].machine;
    if (c->options->tape && c->options->tape_subject == subject && index > 0) {
        *spec = (struct sched_spec){.kind = SCHED_TAPE, .tape = c->options->tape};
        return index == 1;
    }
    unsigned selected = subject == SUBJECT_THREADS && c->selected ? PORTFOLIO_SURW : 0;
    unsigned threads = stackless_refuses(machine->semantics) ? 0 : PORTFOLIO_STACKLESS;
    unsigned policies = c->options->policies ? PORTFOLIO_POLICIES : 0;
    *spec = sched_portfolio(c->options->seed, number, machine->actor_count,
                            selected | threads | policies);
    return true;
}

void explore_observe(struct checking *c, struct machine *machine, enum subject_id subject,
                     const struct observer *observers)
{
    if (forms_is_predicated(subject_table[subject].program)) {
        active_filter_start(c->filter, machine, observers);
        observers = &c->filter->observer;
    }
    machine_observe(machine, observers);
}

void explore_watch(struct checking *c, enum subject_id subject, const struct observer *behind)
{
    const struct explored *explored = &c->subjects[subject];
    if (explored->scoped) {
        struct scoped *scoped = explored->scoped;
        scoped->racy_stms = explored->racy_stms;
        scoped->racy_vars = explored->racy_vars;
        scoped->observer.next = behind;
        scoped_begin(scoped, &explored->machine->steps);
        machine_observe(explored->machine, &scoped->observer);
        return;
    }
    if (explored->hb) {
        struct race_hb *hb = explored->hb;
        hb->racy_stms = explored->racy_stms;
        hb->racy_vars = explored->racy_vars;
        hb->observer.next = behind;
        race_hb_begin(hb, &explored->machine->steps);
        machine_observe(explored->machine, &hb->observer);
        return;
    }
    INVARIANT(c->detector->program->units == explored->program->units); /* its cells are so many */
    c->detector->program = explored->program;
    c->detector->racy_stms = explored->racy_stms;
    c->detector->racy_vars = explored->racy_vars;
    c->detector->observer.next = behind;
    race_begin(c->detector);
    race_watch(c->detector, explored->machine);
    explore_observe(c, explored->machine, subject, &c->detector->observer);
}

void explore_add_lasso(struct check_run *run)
{
    run->schedules++;
    run->fair++;
    run->statuses[STATUS_NONTERMINATING]++;
}

/* ---- machines on their own ---- */

bool explore_worth(const struct check_run *run, bool fair)
{
    uint32_t unfair_cut = run->statuses[STATUS_STEP_LIMIT] - run->fair_cut;
    return run->fair_cut == 0 && !run->fair_lasso && (fair || unfair_cut < UNFAIR_CUT_MAX);
}

uint64_t explore_budget(const struct checking *c, const struct execution *execution)
{
    bool again = c->result->runs[execution->subject].statuses[STATUS_STEP_LIMIT] > 0;
    uint32_t share = again ? CUT_SHARE : c->kernel->form == FORM_PTX ? PTX_SHARE : 1;
    return c->options->budget_steps / (execution->fair ? 1 : share);
}

/* Counts the choices inside steps. */
struct inner_counter {
    struct choices choices; /* first member */
    struct choices *inner;
    uint64_t count;
};

static uint32_t counter_pick(struct choices *choices, const struct machine *machine)
{
    struct inner_counter *counter = (struct inner_counter *)choices;
    return counter->inner->pick(counter->inner, machine);
}

static uint32_t counter_choose(struct choices *choices, uint32_t n)
{
    struct inner_counter *counter = (struct inner_counter *)choices;
    counter->count++;
    return counter->inner->choose(counter->inner, n);
}

/* Where executions are few, one that has spent a part of its budget may never end. If that is proven,
 * what is left of the budget would be spent for nothing. */
static enum status run_or_prove(struct checking *c, const struct execution *execution,
                                struct machine *machine, struct choices *choices)
{
    enum subject_id subject = execution->subject;
    uint64_t budget = explore_budget(c, execution);
    if (subject_table[subject].share == 1 || !execution->fair)
        return machine_run(machine, choices, budget, NULL);
    uint64_t first = budget / (c->kernel->form == FORM_PTX ? PTX_SHARE : PROBE_SHARE);
    enum status status = machine_run(machine, choices, first, NULL);
    if (status != STATUS_STEP_LIMIT || probe_lasso(c, subject))
        return status;
    return machine_run(machine, choices, budget - first, NULL);
}

/* Runs it; how many choices there were inside its steps (counted where no other choices are). */
static uint64_t run_alone(struct checking *c, struct execution *execution)
{
    struct machine *machine = c->subjects[execution->subject].machine;
    struct inner_counter counter = {.choices = {counter_pick, counter_choose, NULL}};
    struct scheduler scheduler;
    const struct lasso_probe *probe = c->probes[execution->subject];
    bool proven = c->result->runs[execution->subject].fair_lasso;
    size_t mark = arena_mark(c->arena);
    machine_reset(machine);
    sched_start(&scheduler, &execution->spec, machine, c->arena);
    counter.inner = &scheduler.choices;
    execution->status = run_or_prove(c, execution, machine,
                                     machine->actor_count == 1 ? &counter.choices : counter.inner);
    if (c->result->runs[execution->subject].fair_lasso && !proven)
        execution->status = STATUS_NONTERMINATING;
    if (c->probes[execution->subject] == probe)
        arena_release(c->arena, mark);
    execution->thread_steps = machine->steps;
    execution->thread_steps_known = true;
    c->result->thread_steps += machine->steps;
    return counter.count;
}

/* The first execution of `threads` after a race was seen counts the steps at racy statements. */
void explore_begin(struct checking *c, const struct execution *execution)
{
    enum subject_id subject = execution->subject;
    const struct check_run *run = &c->result->runs[subject];
    const struct observer *behind = NULL;
    c->accounted = c->logged = false;
    for (uint32_t i = 0; i < oracle_door_count; i++)
        if (oracle_doors[i].watch)
            behind = oracle_doors[i].watch(c, subject, behind);
    if (c->parting)
        c->parting->apart = false;
    if (explore_is_ptx(subject) && c->subjects[subject].program->ptx->barriers &&
        subject_table[subject].vtable->actors == ACTORS_WARPS)
        behind = explore_watch_parts(c, behind);
    if (subject == SUBJECT_THREADS && !c->counting && run->race && !c->logged) {
        start_counting(c);
        c->counting->observer.next = behind;
        behind = &c->counting->observer;
    }
    explore_watch(c, subject, behind);
}

void explore_end(struct checking *c, struct execution *execution)
{
    keep_execution(c, execution, c->subjects[execution->subject].machine);
    if (c->counting && !c->selected) {
        c->selected = c->counting->selected;
        c->selected_counts = c->counting->counts;
    }
    for (uint32_t i = 0; i < oracle_door_count; i++)
        if (oracle_doors[i].ended)
            oracle_doors[i].ended(c, execution);
    execution->accounted = c->accounted;
}

static uint64_t run_one(struct checking *c, struct execution *execution)
{
    explore_begin(c, execution);
    uint64_t inner = run_alone(c, execution);
    explore_end(c, execution);
    return inner;
}

/* How many schedules of a subject: its share, or fewer where there is no choice between actors, nor
 * inside a step. */
static uint32_t share_of(const struct checking *c, enum subject_id subject)
{
    enum { COMPILED = 16 }; /* not given as PTX: many steps, and others execute it too */
    uint32_t share = subject_table[subject].share;
    return explore_is_ptx(subject) && c->kernel->form != FORM_PTX ? COMPILED : share;
}

static uint32_t schedules_of(const struct checking *c, enum subject_id subject, bool inner)
{
    uint32_t share = c->options->schedules / share_of(c, subject);
    if (c->options->tape && c->options->tape_subject == subject)
        return 2;
    if (subject_table[subject].share == 1)
        return share;
    if (c->subjects[subject].machine->actor_count == 1 && !inner)
        return 1;
    return share > 1 ? share : 1;
}

/* Sequential, then round robin; what else a subject has little room for differs from case to case. No number comes
 * twice: it would be the same execution again. */
static uint32_t portfolio_number(const struct checking *c, enum subject_id subject, uint32_t index)
{
    static const uint32_t first[] = {0, 2};
    enum { KINDS = 13 };
    if (subject_table[subject].share == 1)
        return index;
    if (c->options->schedules / share_of(c, subject) <= 1)
        index += 2;
    if (index < 2)
        return first[index];
    uint32_t cycle = (index - 2) / KINDS * KINDS;
    return 3 + cycle + (uint32_t)((pcg_splitmix(c->options->seed) + index) % KINDS);
}

static void explore_schedules(struct checking *c, enum subject_id subject)
{
    struct machine *machine = c->subjects[subject].machine;
    struct check_run *run = &c->result->runs[subject];
    bool inner = false;
    for (uint32_t index = 0; index < schedules_of(c, subject, inner); index++) {
        struct sched_spec spec;
        if (!explore_next(c, subject, index, portfolio_number(c, subject, index), &spec))
            break;
        if (!explore_worth(run, explore_fair(&spec, machine)))
            continue;
        spec.length_estimate = c->subjects[subject].length;
        if (subject == SUBJECT_THREADS) {
            spec.selected = c->selected;
            spec.selected_counts = c->selected_counts;
        }
        inner |= run_one(c, explore_add(c, subject, &spec)) > 0;
        if (index == 0)
            c->subjects[subject].length = machine->steps;
    }
    machine_observe(machine, NULL);
    if (run->fair_cut && probe_lasso(c, subject))
        explore_add_lasso(run);
}

const struct execution *explore_once(struct checking *c, enum subject_id subject,
                                     const struct sched_spec *spec)
{
    struct machine *machine = c->subjects[subject].machine;
    struct execution *execution = explore_add(c, subject, spec);
    machine->options.then_first = subject_table[subject].options.then_first;
    (void)run_one(c, execution);
    machine_observe(machine, NULL);
    return execution;
}

/* Round robin with growing quanta, uniform walks, and starving prefixes with a fair rest. */
void explore_more_fair(struct checking *c, enum subject_id subject)
{
    static const enum sched_kind kinds[] = {SCHED_ROUND_ROBIN, SCHED_UNFAIR_FAIR, SCHED_UNIFORM};
    struct check_run *run = &c->result->runs[subject];
    for (uint32_t i = 0; run->fair < EXPLORE_FAIR_MIN && run->fair_cut == 0; i++) {
        struct sched_spec spec = {.kind = kinds[i % 3],
                                  .seed = c->options->seed,
                                  .index = c->options->schedules + i,
                                  .quantum = 1 + i,
                                  .prefix = 16u << (i % EXPLORE_FAIR_MIN)};
        (void)run_one(c, explore_add(c, subject, &spec));
    }
    machine_observe(c->subjects[subject].machine, NULL);
    if (run->fair_cut && !c->probes[subject] && probe_lasso(c, subject))
        explore_add_lasso(run);
}

void explore_subject(struct checking *c, enum subject_id subject)
{
    struct machine *machine = c->subjects[subject].machine;
    if (machine)
        machine->options.then_first = subject_table[subject].options.then_first;
    for (uint32_t i = 0; i < oracle_door_count; i++)
        if (oracle_doors[i].explore && oracle_doors[i].explore(c, subject))
            return;
    explore_schedules(c, subject);
}

/* ---- the same again ---- */

const struct tape *explore_record(struct checking *c, const struct execution *execution)
{
    struct machine *machine = c->subjects[execution->subject].machine;
    const struct observer *observers = machine->options.observers;
    struct scheduler scheduler;
    struct recorder recorder;
    struct tape *tape = tape_new(c->arena, 0);
    machine_observe(machine, NULL);
    machine->options.then_first = subject_table[execution->subject].options.then_first;
    machine_reset(machine);
    sched_start(&scheduler, &execution->spec, machine, c->arena);
    recorder_start(&recorder, &scheduler.choices, tape, c->arena);
    uint64_t budget = execution->steps ? execution->steps : c->options->budget_steps;
    (void)machine_run(machine, &recorder.choices, budget, NULL);
    machine_observe(machine, observers);
    return tape;
}

void explore_again(struct checking *c, const struct execution *execution,
                   const struct observer *observer)
{
    struct machine *machine = c->subjects[execution->subject].machine;
    const struct observer *observers = machine->options.observers;
    struct scheduler scheduler;
    uint64_t hits[RULE_COUNT + 1];
    size_t mark = arena_mark(c->arena);
    memcpy(hits, machine->hits, sizeof hits);
    machine->options.then_first = subject_table[execution->subject].options.then_first;
    machine_observe(machine, observer);
    machine_reset(machine);
    sched_start(&scheduler, &execution->spec, machine, c->arena);
    (void)machine_run(machine, &scheduler.choices, execution->steps, NULL);
    machine_observe(machine, observers);
    memcpy(machine->hits, hits, sizeof hits);
    arena_release(c->arena, mark);
}

const char *explore_name(const struct checking *c, const struct execution *execution)
{
    if (execution->spec.kind == SCHED_TAPE)
        return "the tape given";
    return arena_printf(c->arena, "%s, number %llu", sched_name(c->arena, &execution->spec),
                        (unsigned long long)execution->spec.index);
}
