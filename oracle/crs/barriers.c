#include "oracle/crs/barriers.h"

#include "engine/program/ptx_code.h"
#include "oracle/check/evidence.h"

#include <string.h>

/* ---- evidence ---- */

static const char *command_text(struct arena *arena, const struct program *program,
                                const struct nb_event *e)
{
    const char *verb = e->kind == NB_ARRIVE ? "arrive" : "sync";
    return arena_printf(arena, "%s of barrier %u by thread %u at line %u", verb, e->at % 16,
                        e->thread, evidence_line(program, e->stm));
}

static void add_analysis(struct evidence *e, const char *key, const struct nb_analysis *a)
{
    evidence_enter(e, key);
    evidence_number(e, "uses", a->uses);
    evidence_number(e, "generations", a->generations);
    evidence_number(e, "racy_pairs", a->pair_count);
    evidence_leave(e);
}

static void diverge(struct checking *c, const struct execution *execution, const char *class_name,
                    const char *observable, const char *summary)
{
    const struct barriers *x = barriers_of(c);
    struct answer *answer = &c->result->answers[ORACLE_BARRIERS];
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    *d = (struct divergence){.oracle = ORACLE_BARRIERS,
                             .class_name = class_name,
                             .rule = RULE_NONE,
                             .observable = observable,
                             .subject = execution->subject,
                             .summary = summary};
    if (!answer_wants(answer, d))
        return;
    evidence_open(&e, c->arena);
    evidence_string(&e, "schedule", explore_name(c, execution));
    evidence_string(&e, "status", status_names[execution->status]);
    if (x->reference) {
        evidence_string(&e, "reference_schedule", explore_name(c, x->reference));
        add_analysis(&e, "reference", &x->first);
    }
    if (execution != x->reference)
        add_analysis(&e, "execution", &x->again);
    d->evidence = evidence_close(&e);
    d->tape = explore_record(c, execution);
    if (x->reference && x->reference != execution)
        d->other_tape = explore_record(c, x->reference);
    answer_diverge(answer, d);
}

/* ---- one execution ---- */

/* Why an execution that ended well is none of a well-synchronised program; NULL: it is one. */
static const char *ill_synchronised(struct checking *c, const struct nb_analysis *a)
{
    const struct nb_log *log = barriers_of(c)->log;
    if (a->dangling)
        return "not well-synchronised: a barrier is half-filled at the end (dangling)";
    if (a->recycled)
        return NULL;
    return arena_printf(c->arena, "not well-synchronised: %s need not come before the %s",
                        command_text(c->arena, log->program, &log->events[a->first]),
                        command_text(c->arena, log->program, &log->events[a->second]));
}

/* ORA.NB.bar, and the detector for named barriers: two accounts of one execution. */
static void compare_races(struct checking *c, const struct execution *execution,
                          const struct nb_analysis *a)
{
    bool named = c->subjects[execution->subject].hb != NULL;
    if (c->options->same_value || c->options->atomics_sync || c->scoped ||
        (!named && !a->whole_blocks) || c->result->runs[execution->subject].race_unknown)
        return;
    if (execution->race == (a->pair_count > 0))
        return;
    diverge(c, execution, named ? "race" : "bar",
            execution->race ? "only the detector" : "only the log",
            "the race detector and happens-before between the commands disagree");
}

/* ORA.NB.ws */
static void compare_encoding(struct checking *c, const struct execution *execution)
{
    struct barriers *x = barriers_of(c);
    switch (nb_encode(x->room, x->log, &x->first)) {
    case NB_ENCODED:
    case NB_ENCODING_STUCK:
        break;
    case NB_ENCODING_RACES:
        diverge(c, execution, "ws", "races", "the warp-synchronous encoding adds a race");
        break;
    case NB_ENCODING_GENERATION:
        diverge(c, execution, "ws", "generations",
                "the warp-synchronous encoding changes the generation of a command");
        break;
    }
}

/* Whether all executions do the same: no race, and nobody sees the order of atomics. */
static bool deterministic(const struct checking *c)
{
    const struct nb_analysis *a = &barriers_of(c)->first;
    return a->complete && a->pair_count == 0 &&
           program_atomics_commute(barriers_of(c)->log->program);
}

static bool same_pairs(const struct nb_analysis *a, const struct nb_analysis *b)
{
    return a->pair_count == b->pair_count &&
           memcmp(a->pairs, b->pairs, a->pair_count * sizeof *a->pairs) == 0;
}

/* ORA.NB.det: an execution against that of a well-synchronised program. */
static void compare_maps(struct checking *c, const struct execution *execution)
{
    struct barriers *x = barriers_of(c);
    const struct nb_analysis *a = &x->first, *b = &x->again;
    if (a->commands != b->commands || (deterministic(c) && a->accesses != b->accesses)) {
        if (deterministic(c))
            diverge(c, execution, "det", "commands",
                    "a race-free, well-synchronised kernel gives other commands");
        else
            x->unknown = "what it does depends on a race, or on the order of atomics";
        return;
    }
    x->compared++;
    if (a->map != b->map)
        diverge(c, execution, "det", "generations",
                "well-synchronised in one execution, other generations in another");
    else if (a->accesses == b->accesses && !same_pairs(a, b))
        diverge(c, execution, "det", "races",
                "well-synchronised, but another execution has other races");
}

static void compare_status(struct checking *c, const struct execution *execution)
{
    struct barriers *x = barriers_of(c);
    if (!deterministic(c)) {
        x->unknown = "what it does depends on a race, or on the order of atomics";
        return;
    }
    diverge(c, execution, "det", status_names[execution->status],
            arena_printf(c->arena, "well-synchronised and race-free, but an execution ends as %s",
                         status_names[execution->status]));
}

static bool ends_badly(enum status status)
{
    return status == STATUS_DEADLOCK || status == STATUS_BARRIER_ERROR;
}

bool barriers_watches(const struct checking *c, enum subject_id subject)
{
    return subject == SUBJECT_BLOCK && (c->options->oracles & (1u << ORACLE_BARRIERS)) &&
           c->subjects[subject].program->ptx->barriers != 0;
}

static struct barriers *barriers_new(struct checking *c, const struct program *program)
{
    struct barriers *x = ARENA_NEW(c->arena, struct barriers);
    x->log = nb_log_new(c->arena, program);
    if (x->log) {
        x->room = nb_room_new(c->arena, program);
        x->first.pairs = ARENA_ARRAY(c->arena, uint64_t, NB_PAIRS);
        x->again.pairs = ARENA_ARRAY(c->arena, uint64_t, NB_PAIRS);
    } else {
        x->unknown = "too many threads";
        x->large = true;
    }
    return x;
}

const struct observer *barriers_watch(struct checking *c, enum subject_id subject,
                                      const struct observer *behind)
{
    if (!barriers_watches(c, subject))
        return behind;
    if (!barriers_of(c))
        c->own[ORACLE_BARRIERS] = barriers_new(c, c->subjects[subject].program);
    struct nb_log *log = barriers_of(c)->log;
    if (!log)
        return behind;
    nb_log_begin(log);
    log->observer.next = behind;
    return &log->observer;
}

void barriers_end(struct checking *c, const struct execution *execution)
{
    if (!barriers_watches(c, execution->subject))
        return;
    struct barriers *x = barriers_of(c);
    bool done = execution->status == STATUS_TERMINATED, first = done && !x->reference;
    struct nb_analysis *a = first ? &x->first : &x->again;
    if (!x->log || (!done && !ends_badly(execution->status)))
        return;
    nb_analyse(x->room, x->log, a);
    if (!a->complete) {
        x->unknown = "an execution has too many commands, or races";
        x->large = true;
        return;
    }
    compare_races(c, execution, a);
    if (first) {
        x->reference = execution;
        x->ill = ill_synchronised(c, a);
        if (!x->ill)
            compare_encoding(c, execution);
    } else if (done && !x->ill) {
        compare_maps(c, execution);
    } else if (!done && !x->bad) {
        x->bad = execution;
    }
}

/* ---- the answer ---- */

/* ORA.NB.modes: errors at a full barrier before its recycling (C-7) are not reached. */
static void try_eager(struct checking *c)
{
    struct barriers *x = barriers_of(c);
    const struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = c->options->seed, .index = 1};
    struct machine_options options = subject_table[SUBJECT_BLOCK_EAGER].options;
    struct scheduler scheduler;
    options.observers = &x->log->observer;
    struct machine *machine = machine_new(c->arena, &semantics_block, x->log->program, &options);
    x->log->observer.next = NULL;
    nb_log_begin(x->log);
    sched_start(&scheduler, &spec, machine, c->arena);
    enum status status = machine_run(machine, &scheduler.choices, c->options->budget_steps, NULL);
    if (status == STATUS_STEP_LIMIT)
        return;
    nb_analyse(x->room, x->log, &x->again);
    if (status != STATUS_TERMINATED)
        diverge(c, x->reference, "modes", status_names[status],
                arena_printf(c->arena,
                             "well-synchronised and race-free, but `block:eager` ends as %s",
                             status_names[status]));
    else if (x->again.complete && x->again.map != x->first.map)
        diverge(c, x->reference, "modes", "generations",
                "`block:eager` puts a command into another generation");
    x->compared++;
}

void barriers_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_BARRIERS];
    struct barriers *x = barriers_of(c);
    if (!x) {
        answer->reason =
            explore_runs(c, SUBJECT_BLOCK) ? "the kernel uses no barriers" : "`block` was not run";
        return;
    }
    bool well = x->reference && !x->ill && !x->unknown;
    if (well && x->bad)
        compare_status(c, x->bad);
    if (well && x->first.syncs && deterministic(c))
        try_eager(c);
    answer->checked = x->compared + (x->reference != NULL);
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    answer->reason = x->unknown ? x->unknown : x->ill;
    if (!x->reference && !x->unknown)
        answer->reason = x->bad ? arena_printf(c->arena, "every explored execution fails: %s",
                                               status_names[x->bad->status])
                                : "no explored execution of `block` ends";
    if (x->large)
        answer->verdict = VERDICT_INCONCLUSIVE;
    if (answer->reason)
        return;
    answer->verdict = VERDICT_AGREE;
    answer->reason = arena_printf(
        c->arena,
        "well-synchronised: %u uses of barriers in %u generations, %u racy pairs; %u more "
        "executions alike",
        x->first.uses, x->first.generations, x->first.pair_count, x->compared);
}
