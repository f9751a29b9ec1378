#include "oracle/explore.h"

#include "engine/invariant.h"
#include "oracle/evidence.h"
#include "oracle/expect.h"
#include "oracle/liveness.h"
#include "oracle/record.h"

#include <string.h>

enum {
    UNFAIR_CUT_MAX = 4, /* executions of a subject that may spend their budget, starving others */
    CUT_SHARE = 8,      /* after the first, such executions get this part of the budget */
    CONFLICT_SCHEDULES = 4, /* of a single warp whose lanes write to the same place */
    LOG_CAPACITY = 2048,    /* accesses */
    LIVENESS_SHARE = 8      /* a warp that has spent this part of its budget may spin: look */
};

bool explore_fair(enum sched_kind kind, const struct machine *machine)
{
    return machine->actor_count == 1 || kind == SCHED_ROUND_ROBIN || kind == SCHED_UNIFORM ||
           kind == SCHED_UNFAIR_FAIR;
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
    memcpy(selected, c->detector->racy_stms, c->program->stm_count);
    counting->observer = (struct observer){.context = counting, .step = count_step};
    counting->selected = selected;
    counting->counts = ARENA_ARRAY(c->arena, uint32_t, c->program->total_threads);
    c->counting = counting;
}

/* ---- what an execution leaves behind ---- */

static void keep_final(struct checking *c, struct check_run *run, const int32_t *memory)
{
    size_t bytes = (size_t)c->program->private_base * sizeof *memory;
    for (uint32_t i = 0; i < run->final_count; i++)
        if (memcmp(run->finals[i], memory, bytes) == 0)
            return;
    if (run->final_count == CHECK_FINALS_MAX) {
        run->more_finals = true;
        return;
    }
    int32_t *copy = ARENA_ARRAY(c->arena, int32_t, c->program->private_base);
    memcpy(copy, memory, bytes);
    run->finals[run->final_count++] = copy;
}

static void compare_with_reference(struct checking *c, const struct execution *execution,
                                   const int32_t *memory, uint32_t words)
{
    if (!c->reference) {
        c->reference = execution;
        c->reference_words = words;
        c->reference_store = ARENA_ARRAY(c->arena, int32_t, words);
        memcpy(c->reference_store, memory, (size_t)words * sizeof *memory);
        return;
    }
    if (words > c->reference_words)
        words = c->reference_words;
    if (c->mismatch.execution ||
        memcmp(c->reference_store, memory, (size_t)words * sizeof *memory) == 0)
        return;
    uint32_t address = 0;
    while (memory[address] == c->reference_store[address])
        address++;
    c->mismatch =
        (struct store_mismatch){execution, address, memory[address], c->reference_store[address]};
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
    count_execution(c, execution, store, c->program->private_base);
}

static void keep_race(struct checking *c, struct check_run *run, struct execution *execution)
{
    execution->race = c->detector->found;
    if (!execution->race)
        return;
    c->any_race = true;
    execution->witness = c->detector->witness;
    if (!run->race)
        run->witness = c->detector->witness;
    run->race = true;
}

/* An execution of `machine` has ended so. */
static void keep_execution(struct checking *c, struct execution *execution,
                           const struct machine *machine)
{
    struct check_run *run = &c->result->runs[execution->subject];
    execution->steps = machine->steps;
    run->steps += machine->steps;
    run->fair += execution->fair;
    run->fair_cut += execution->fair && execution->status == STATUS_STEP_LIMIT;
    keep_race(c, run, execution);
    count_execution(c, execution, machine->memory, c->program->frame_base);
}

struct execution *explore_add(struct checking *c, enum subject_id subject,
                              const struct sched_spec *spec)
{
    const struct machine *machine = subject == SUBJECT_THREADS ? c->threads : c->warps;
    struct execution *execution = ARENA_NEW(c->arena, struct execution);
    if (c->execution_count == c->execution_capacity) {
        uint32_t capacity = 2 * c->execution_capacity + 64;
        struct execution **grown = ARENA_ARRAY(c->arena, struct execution *, capacity);
        if (c->execution_count)
            memcpy(grown, c->executions, c->execution_count * sizeof *grown);
        c->executions = grown;
        c->execution_capacity = capacity;
    }
    *execution = (struct execution){
        .subject = subject, .spec = *spec, .fair = explore_fair(spec->kind, machine)};
    c->executions[c->execution_count++] = execution;
    return execution;
}

/* Which schedule comes as number `index`; the tape given replaces all but the first. */
static bool next_spec(const struct checking *c, enum subject_id subject, uint32_t index,
                      uint32_t number, const struct machine *machine, struct sched_spec *spec)
{
    if (c->options->tape && c->options->tape_subject == subject && index > 0) {
        *spec = (struct sched_spec){.kind = SCHED_TAPE, .tape = c->options->tape};
        return index == 1;
    }
    *spec = sched_portfolio(c->options->seed, number, machine->actor_count,
                            subject == SUBJECT_THREADS && c->selected);
    return true;
}

/* The detector in the machine's chain, and behind it the log of the race oracle or a counter. */
static void observe(struct checking *c, struct machine *machine, const struct observer *behind)
{
    c->detector->observer.next = behind;
    race_begin(c->detector);
    race_watch(c->detector, machine);
    machine_observe(machine, &c->detector->observer);
}

/* The detector against the definition, for the execution just logged. */
static void judge_log(struct checking *c, const struct execution *execution)
{
    struct answer *answer = &c->result->answers[ORACLE_RACE];
    struct race_log_result expected = race_log_search(c->log);
    const char *what = "";
    if (!expected.complete)
        return;
    answer->checked++;
    if (race_log_agrees(c->log, &expected, c->detector, &what))
        return;
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "subject", subject_table[execution->subject].name);
    evidence_string(&e, "schedule", explore_name(c, execution));
    evidence_number(&e, "detector_locations", c->detector->racy_locations);
    evidence_number(&e, "log_locations", expected.racy_locations);
    if (c->detector->found)
        evidence_race(&e, "detector_race", c->program, &c->detector->witness);
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_RACE,
                             .class_name = "race-log",
                             .rule = RULE_NONE,
                             .observable = what,
                             .subject = execution->subject,
                             .evidence = evidence_close(&e),
                             .summary = "the race detector and the log of all accesses disagree"};
    d->tape = explore_record(c, execution);
    answer_diverge(answer, d);
}

void explore_add_lasso(struct check_run *run)
{
    run->schedules++;
    run->fair++;
    run->statuses[STATUS_NONTERMINATING]++;
}

/* ---- threads ---- */

/* A fair execution that spent its budget says that the kernel may run for ever, and liveness_probe
 * whether it does: more schedules would only spend more. Starving ones may leave others yet to try. */
static bool worth_running(const struct check_run *run, bool fair)
{
    uint32_t unfair_cut = run->statuses[STATUS_STEP_LIMIT] - run->fair_cut;
    return run->fair_cut == 0 && !run->fair_lasso && (fair || unfair_cut < UNFAIR_CUT_MAX);
}

static uint64_t budget_of(const struct checking *c, const struct execution *execution)
{
    bool again = c->result->runs[execution->subject].statuses[STATUS_STEP_LIMIT] > 0;
    return c->options->budget_steps / (again && !execution->fair ? CUT_SHARE : 1);
}

static void run_threads(struct checking *c, struct execution *execution)
{
    struct machine *machine = c->threads;
    bool logged = c->log && c->execution_count == 1;
    bool counted = !c->counting && c->result->runs[SUBJECT_THREADS].race;
    const struct observer *behind = NULL;
    if (logged) {
        race_log_begin(c->log);
        behind = &c->log->observer;
    } else if (counted) {
        start_counting(c);
        behind = &c->counting->observer;
    }
    observe(c, machine, behind);
    machine_reset(machine);
    size_t mark = arena_mark(c->arena);
    struct scheduler scheduler;
    sched_start(&scheduler, &execution->spec, machine, c->arena);
    execution->status = machine_run(machine, &scheduler.choices, budget_of(c, execution), NULL);
    arena_release(c->arena, mark);
    execution->thread_steps = machine->steps;
    execution->thread_steps_known = true;
    keep_execution(c, execution, machine);
    c->result->thread_steps += machine->steps;
    if (counted && !logged) {
        c->selected = c->counting->selected;
        c->selected_counts = c->counting->counts;
    }
    if (logged)
        judge_log(c, execution);
}

void explore_threads(struct checking *c)
{
    struct check_run *run = &c->result->runs[SUBJECT_THREADS];
    for (uint32_t index = 0; index < c->options->schedules; index++) {
        struct sched_spec spec;
        if (!next_spec(c, SUBJECT_THREADS, index, index, c->threads, &spec))
            break;
        if (!worth_running(run, explore_fair(spec.kind, c->threads)))
            continue;
        spec.length_estimate = c->length_estimate;
        spec.selected = c->selected;
        spec.selected_counts = c->selected_counts;
        struct execution *execution = explore_add(c, SUBJECT_THREADS, &spec);
        run_threads(c, execution);
        if (index == 0)
            c->length_estimate = c->threads->steps;
    }
    machine_observe(c->threads, NULL);
    if (run->fair_cut && liveness_probe(c, SUBJECT_THREADS))
        explore_add_lasso(run);
}

/* Round robin with growing quanta, uniform walks, and starving prefixes with a fair rest. */
void explore_more_fair(struct checking *c)
{
    static const enum sched_kind kinds[] = {SCHED_ROUND_ROBIN, SCHED_UNFAIR_FAIR, SCHED_UNIFORM};
    struct check_run *run = &c->result->runs[SUBJECT_THREADS];
    for (uint32_t i = 0; run->fair < EXPLORE_FAIR_MIN && run->fair_cut == 0; i++) {
        struct sched_spec spec = {.kind = kinds[i % 3],
                                  .seed = c->options->seed,
                                  .index = c->options->schedules + i,
                                  .quantum = 1 + i,
                                  .prefix = 16u << (i % EXPLORE_FAIR_MIN)};
        run_threads(c, explore_add(c, SUBJECT_THREADS, &spec));
    }
    machine_observe(c->threads, NULL);
    if (run->fair_cut && !c->probes[SUBJECT_THREADS] && liveness_probe(c, SUBJECT_THREADS))
        explore_add_lasso(run);
}

/* ---- warps ---- */

/* How many schedules of warps: one if there is no choice between warps, nor inside a step. */
static uint32_t simt_schedules(const struct checking *c, enum subject_id subject, bool conflicts)
{
    uint32_t share = c->options->schedules / 8;
    if (c->options->tape && c->options->tape_subject == subject)
        return 2;
    if (c->program->warp_count > 1)
        return share > 1 ? share : 2;
    if (!conflicts)
        return 1;
    return share < CONFLICT_SCHEDULES ? CONFLICT_SCHEDULES : share;
}

/* Round robin comes second: it is the one fair order without which a spin on another warp says
 * little. */
static uint32_t simt_portfolio_number(const struct checking *c, uint32_t index)
{
    static const uint32_t first[] = {0, 2, 3, 1};
    uint32_t number = index < 4 ? first[index] : index;
    /* A single warp has one order; what differs are the winners of its conflicting writes. */
    return c->program->warp_count > 1 ? number : index;
}

/* A warp that has spent a part of its budget may never end. If that is proven, what is left of the
 * budget would be spent for nothing. */
static enum status go_on(struct checking *c, struct execution *execution, struct choices *choices)
{
    bool same_execution =
        c->simulation->inner_choices == 0 &&
        (c->program->warp_count == 1 || execution->spec.kind == SCHED_ROUND_ROBIN);
    bool tried = c->probes[execution->subject] != NULL;
    if (execution->fair && liveness_probe(c, execution->subject)) {
        if (same_execution)
            return STATUS_NONTERMINATING;
        if (!tried)
            explore_add_lasso(&c->result->runs[execution->subject]);
    }
    return simulation_run(c->simulation, choices, budget_of(c, execution));
}

static void run_simt(struct checking *c, struct execution *execution, bool logged)
{
    struct simulation *s = c->simulation;
    if (logged)
        race_log_begin(c->log);
    observe(c, c->warps, logged ? &c->log->observer : NULL);
    simulation_begin(s, execution->subject);
    struct scheduler scheduler;
    sched_start(&scheduler, &execution->spec, c->warps, c->arena);
    enum status status =
        simulation_run(s, &scheduler.choices, c->options->budget_steps / LIVENESS_SHARE);
    if (status == STATUS_STEP_LIMIT)
        status = go_on(c, execution, &scheduler.choices);
    execution->status = status;
    execution->thread_steps = s->thread_steps;
    execution->thread_steps_known = !s->lost;
    keep_execution(c, execution, c->warps);
    c->result->warp_steps += s->warp_steps;
    c->result->thread_steps += s->thread_steps;
    if (logged)
        judge_log(c, execution);
}

void explore_simt(struct checking *c, enum subject_id subject)
{
    struct check_run *run = &c->result->runs[subject];
    bool conflicts = false;
    bool first_of_all = c->result->runs[SUBJECT_SIMT].schedules == 0;
    for (uint32_t index = 0; index < simt_schedules(c, subject, conflicts); index++) {
        struct sched_spec spec;
        if (!next_spec(c, subject, index, simt_portfolio_number(c, index), c->warps, &spec))
            break;
        if (!worth_running(run, explore_fair(spec.kind, c->warps)))
            continue;
        run_simt(c, explore_add(c, subject, &spec), c->log && first_of_all && index == 0);
        conflicts |= c->simulation->inner_choices > 0;
    }
    machine_observe(c->warps, NULL);
}

/* ---- the same again ---- */

const struct tape *explore_record(struct checking *c, const struct execution *execution)
{
    struct machine *machine = execution->subject == SUBJECT_THREADS ? c->threads : c->warps;
    const struct observer *observers = machine->options.observers;
    struct scheduler scheduler;
    struct recorder recorder;
    struct tape *tape = tape_new(c->arena, 0);
    machine_observe(machine, NULL);
    machine->options.then_first = subject_table[execution->subject].then_first;
    machine_reset(machine);
    sched_start(&scheduler, &execution->spec, machine, c->arena);
    recorder_start(&recorder, &scheduler.choices, tape, c->arena);
    uint64_t budget = execution->steps ? execution->steps : c->options->budget_steps;
    (void)machine_run(machine, &recorder.choices, budget, NULL);
    machine_observe(machine, observers);
    return tape;
}

const char *explore_name(const struct checking *c, const struct execution *execution)
{
    if (execution->spec.kind == SCHED_TAPE)
        return "the tape given";
    return arena_printf(c->arena, "%s, number %llu", sched_name(c->arena, &execution->spec),
                        (unsigned long long)execution->spec.index);
}

void explore_prepare(struct checking *c)
{
    const struct machine_options untracked = {0};
    const struct check_options *o = c->options;
    c->threads = machine_new(c->arena, &semantics_threads, c->program, &untracked);
    c->warps = machine_new(c->arena, &semantics_simt, c->program, &untracked);
    c->detector = race_new(c->arena, c->program);
    if (o->oracles & (1u << ORACLE_RACE))
        c->log = race_log_new(c->arena, c->program, LOG_CAPACITY);
    c->simulation = simulation_new(c->arena, c->warps, c->threads);
    if (o->oracles & (1u << ORACLE_SIMULATION))
        c->simulation->answer = &c->result->answers[ORACLE_SIMULATION];
    if (o->oracles & (1u << ORACLE_LEMMAS))
        c->simulation->lemmas = &c->result->answers[ORACLE_LEMMAS];
    c->simulation->strict = o->strict_lemmas;
}
