#include "oracle/liveness.h"

#include "oracle/evidence.h"
#include "oracle/record.h"

/* ---- lassos ---- */

/* Brent's checkpoint: the state that a later one is compared with. */
struct checkpoint {
    uint32_t *words;
    uint64_t hash;
    uint64_t at, power; /* step it was taken; steps until the next */
    uint32_t tape_at;
    uint8_t *ran;   /* an actor: stepped since */
    uint64_t rules; /* bits of those that fired since */
};

static void take(struct checkpoint *k, const struct machine *machine, const struct tape *tape)
{
    machine_save(machine, k->words);
    k->hash = machine->track.hash;
    k->at = machine->steps;
    k->tape_at = tape->count;
    k->rules = 0;
    for (uint32_t i = 0; i < machine->actor_count; i++)
        k->ran[i] = 0;
}

/* The state is that of the checkpoint, and no live actor was starved since. */
static bool closes(const struct checkpoint *k, const struct machine *machine)
{
    if (machine->track.hash != k->hash || machine_status(machine) != STATUS_RUNNING)
        return false;
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        if (!k->ran[machine->head->live[i]])
            return false;
    return machine_equals(machine, k->words);
}

/* The rule that names a loop: that of a continuing loop, which every infinite execution fires
 * (recursion is bounded). */
static enum rule loop_rule(uint64_t rules)
{
    static const enum rule continuing[] = {RULE_SIMT_WHILE_CONT, RULE_THR_WHILE_CONT_TT};
    for (uint32_t i = 0; i < 2; i++)
        if ((rules >> continuing[i]) & 1)
            return continuing[i];
    return RULE_NONE;
}

static void search_lasso(struct checking *c, struct machine *machine, struct lasso_probe *probe)
{
    struct sched_spec spec = {.kind = SCHED_ROUND_ROBIN, .seed = c->options->seed, .quantum = 1};
    struct tape *tape = tape_new(c->arena, 0);
    struct scheduler scheduler;
    struct recorder recorder;
    struct checkpoint k = {.words = ARENA_ARRAY(c->arena, uint32_t, machine->block_words),
                           .ran = ARENA_ARRAY(c->arena, uint8_t, machine->actor_count),
                           .power = 1};
    sched_start(&scheduler, &spec, machine, c->arena);
    recorder_start(&recorder, &scheduler.choices, tape, c->arena);
    take(&k, machine, tape);
    while (machine_status(machine) == STATUS_RUNNING && machine->steps < c->options->budget_steps) {
        if (machine->steps - k.at == k.power) {
            take(&k, machine, tape);
            k.power *= 2;
        }
        uint32_t actor = machine->head->live[recorder.choices.pick(&recorder.choices, machine)];
        uint32_t stm = machine->semantics->next_stm(machine, actor);
        enum rule rule = machine_step(machine, actor, &recorder.choices);
        k.rules |= (uint64_t)1 << rule;
        k.ran[actor] = 1;
        if (rule == RULE_SIMT_WHILE_CONT || rule == RULE_THR_WHILE_CONT_TT)
            probe->stm = stm;
        if (!closes(&k, machine))
            continue;
        probe->proven = true;
        probe->stem_steps = k.at;
        probe->loop_steps = machine->steps - k.at;
        probe->rule = loop_rule(k.rules);
        probe->tape = tape;
        probe->loop_start = k.tape_at;
        return;
    }
    enum status status = machine_status(machine);
    probe->status = status == STATUS_RUNNING ? STATUS_STEP_LIMIT : status;
}

bool liveness_probe(struct checking *c, enum subject_id subject)
{
    struct lasso_probe *probe = c->probes[subject];
    if (!probe) {
        const struct subject_info *info = &subject_table[subject];
        const struct machine_options tracked = {.then_first = info->then_first, .track = true};
        probe = c->probes[subject] = ARENA_NEW(c->arena, struct lasso_probe);
        probe->stm = CODE_NONE;
        probe->status = STATUS_NONTERMINATING;
        search_lasso(c, machine_new(c->arena, info->vtable, c->program, &tracked), probe);
        c->result->runs[subject].fair_lasso |= probe->proven;
    }
    return probe->proven;
}

/* ---- the oracle ---- */

static struct divergence *new_divergence(struct checking *c, enum subject_id subject,
                                         const char *class_name, struct evidence *e)
{
    const struct lasso_probe *probe = c->probes[subject];
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    evidence_open(e, c->arena);
    evidence_string(e, "subject", subject_table[subject].name);
    evidence_string(e, "schedule", "round robin over the warps");
    evidence_number(e, "stem_steps", (int64_t)probe->stem_steps);
    evidence_number(e, "loop_steps", (int64_t)probe->loop_steps);
    evidence_number(e, "loop_start_in_tape", probe->loop_start);
    evidence_number(e, "loop_line", evidence_line(c->program, probe->stm));
    d->oracle = ORACLE_LIVENESS;
    d->class_name = class_name;
    d->rule = probe->rule;
    d->observable = "termination";
    d->subject = subject;
    d->line = evidence_line(c->program, probe->stm);
    d->tape = probe->tape;
    return d;
}

/* A warp's infinite execution against an execution that terminated without a race: then all
 * executions, the warp's included, take the same thread steps and end (docs/oracles.md, race). */
static void contradict(struct checking *c, struct answer *answer, enum subject_id subject)
{
    struct evidence e;
    struct divergence *d = new_divergence(c, subject, "termination", &e);
    evidence_string(&e, "terminates_race_free", subject_table[c->reference->subject].name);
    evidence_string(&e, "its_schedule", explore_name(c, c->reference));
    d->other_tape = explore_record(c, c->reference);
    d->evidence = evidence_close(&e);
    d->summary =
        arena_printf(c->arena, "%s runs for ever although an execution terminates without a race",
                     subject_table[subject].name);
    answer_diverge(answer, d);
}

static void report_unfair(struct checking *c, struct answer *answer, enum subject_id subject)
{
    const struct check_run *threads = &c->result->runs[SUBJECT_THREADS];
    struct evidence e;
    struct divergence *d = new_divergence(c, subject, "unfair", &e);
    evidence_number(&e, "fair_schedules_that_end", threads->fair);
    evidence_string(&e, "explored",
                    c->all_fair_end ? "every fair schedule of the threads (exhaustive search)"
                                    : "round robin, uniform walks and starving prefixes with a "
                                      "fair rest: not every fair schedule");
    d->known = "UNF";
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(
        c->arena, "%s spins for ever at line %u; %s of the threads end",
        subject_table[subject].name, d->line,
        c->all_fair_end ? "all fair schedules"
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

static void judge_subject(struct checking *c, struct answer *answer, enum subject_id subject)
{
    const struct check_run *run = &c->result->runs[subject];
    const struct check_run *threads = &c->result->runs[SUBJECT_THREADS];
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
    if (c->reference && !c->any_race)
        contradict(c, answer, subject);
    else if (threads->schedules == 0)
        weaken(answer, VERDICT_INCONCLUSIVE, "a warp runs for ever; `threads` was not run");
    else if (threads->fair_lasso)
        weaken(answer, VERDICT_AGREE,
               "a warp runs for ever, and so does a fair schedule of the threads");
    else if (threads->fair_cut && !c->all_fair_end)
        weaken(answer, VERDICT_INCONCLUSIVE,
               "a warp runs for ever; a fair schedule of the threads spent its budget");
    else if (threads->fair == 0 && !c->all_fair_end)
        weaken(answer, VERDICT_INCONCLUSIVE,
               "a warp runs for ever; no fair schedule of the threads was explored");
    else
        report_unfair(c, answer, subject);
}

void liveness_judge(struct checking *c)
{
    struct answer answer = {.verdict = VERDICT_NOT_APPLICABLE,
                            .reason = "every explored warp execution that starves no warp ends"};
    judge_subject(c, &answer, SUBJECT_SIMT);
    judge_subject(c, &answer, SUBJECT_SIMT_THEN);
    if (answer.verdict == VERDICT_NOT_APPLICABLE)
        answer.checked = 0;
    if (c->options->oracles & (1u << ORACLE_LIVENESS))
        c->result->answers[ORACLE_LIVENESS] = answer;
}
