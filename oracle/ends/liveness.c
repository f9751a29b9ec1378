#include "oracle/ends/liveness.h"

#include "engine/crs/crs.h"
#include "engine/progress/lasso.h"
#include "oracle/check/evidence.h"
#include "oracle/ends/implications.h"
#include "oracle/ends/matrix_judge.h"

/* ---- lassos ---- */

static bool continues(enum rule rule)
{
    return rule == RULE_SIMT_WHILE_CONT || rule == RULE_THR_WHILE_CONT_TT ||
           rule == RULE_CRS_BRA_UNI || rule == RULE_CRS_BRA_GUARD || rule == RULE_CRS_BRA_TARGET ||
           rule == RULE_NB_BRA;
}

/* LIV.check: the lowest token stack of each warp that steps, over the loop; 0: of some warp that steps it is
 * empty now and then, or all are. */
struct depths {
    uint32_t *lowest; /* a warp, + 1; 0: has not stepped */
};

static void see_depth(struct depths *depths, const struct machine *machine, uint32_t warp)
{
    uint32_t depth = crs_warp(machine, warp).state->depth + 1;
    if (depths->lowest[warp] == 0 || depths->lowest[warp] > depth)
        depths->lowest[warp] = depth;
}

static uint32_t deepest(const struct depths *depths, uint32_t warps)
{
    uint32_t depth = 0;
    for (uint32_t warp = 0; warp < warps; warp++)
        if (depths->lowest[warp] > depth + 1)
            depth = depths->lowest[warp] - 1;
    return depth;
}

/* Walks the lasso once. The rule that names a loop is that of a continuing loop, which every infinite
 * execution fires: recursion is bounded. */
static void walk(struct checking *c, struct machine *machine, struct lasso_probe *probe)
{
    struct sched_spec spec = {.kind = SCHED_TAPE, .tape = probe->tape};
    struct scheduler scheduler;
    struct depths depths = {ARENA_ARRAY(c->arena, uint32_t, machine->actor_count)};
    probe->has_stacks =
        machine->semantics == &semantics_crs || machine->semantics == &semantics_thread_pc;
    machine_reset(machine);
    sched_start(&scheduler, &spec, machine, c->arena);
    while (scheduler.reader.next < probe->tape->count &&
           machine_status(machine) == STATUS_RUNNING) {
        bool in_loop = scheduler.reader.next >= probe->loop_start;
        uint32_t index = scheduler.choices.pick(&scheduler.choices, machine);
        uint32_t actor = machine->head->live[index];
        uint32_t stm = machine->semantics->next_stm(machine, actor);
        enum rule rule = machine_step(machine, actor, &scheduler.choices);
        probe->stem_steps += !in_loop;
        probe->loop_steps += in_loop;
        if (in_loop && probe->has_stacks)
            see_depth(&depths, machine, actor);
        if (in_loop && continues(rule) && probe->rule == RULE_NONE) {
            probe->rule = rule;
            probe->stm = stm;
        }
    }
    if (probe->has_stacks)
        probe->depth = deepest(&depths, machine->actor_count);
}

static void keep_lasso(struct checking *c, enum subject_id subject, struct machine *machine,
                       const char *schedule, const struct tape *stem, const struct tape *loop)
{
    struct lasso_probe *probe = c->probes[subject];
    struct tape *tape = tape_new(c->arena, stem->count + loop->count);
    for (uint32_t i = 0; i < stem->count; i++)
        tape_add(tape, stem->entries[i]);
    for (uint32_t i = 0; i < loop->count; i++)
        tape_add(tape, loop->entries[i]);
    probe->proven = true;
    probe->schedule = schedule;
    probe->rule = RULE_NONE;
    probe->stm = CODE_NONE;
    probe->tape = tape;
    probe->loop_start = stem->count;
    walk(c, machine, probe);
    c->result->runs[subject].fair_lasso = true;
}

static struct machine *new_machine(struct checking *c, enum subject_id subject, bool track)
{
    const struct subject_info *info = &subject_table[subject];
    struct machine_options options = info->options;
    options.track = track;
    return machine_new(c->arena, info->vtable, c->subjects[subject].program, &options);
}

/* Lassos are short: of 144 of generated kernels (1,000 cases) the longest took 451 steps. Where there is none,
 * looking for it would take longer than all other executions of the case. This part of the budget finds all
 * that the corpus states; an eighth does not. */
enum { LASSO_SHARE = 4 };

bool liveness_probe(struct checking *c, enum subject_id subject)
{
    if (!c->probes[subject]) {
        const struct sched_spec policy = {.kind = SCHED_ROUND_ROBIN, .quantum = 1};
        struct machine *machine = new_machine(c, subject, true);
        c->probes[subject] = ARENA_NEW(c->arena, struct lasso_probe);
        struct lasso lasso =
            lasso_run(c->arena, machine, &policy, c->options->budget_steps / LASSO_SHARE);
        if (lasso.kind == LASSO_FAIR) {
            lasso_tapes(c->arena, machine, &policy, &lasso);
            keep_lasso(c, subject, machine, "round robin", lasso.stem_tape, lasso.loop_tape);
        }
    }
    return c->probes[subject]->proven;
}

void liveness_found(struct checking *c, enum subject_id subject, const struct tape *stem,
                    const struct tape *loop)
{
    if (c->probes[subject] && c->probes[subject]->proven)
        return;
    c->probes[subject] = ARENA_NEW(c->arena, struct lasso_probe);
    keep_lasso(c, subject, new_machine(c, subject, false), "exhaustive search", stem, loop);
}

/* ---- the oracle ---- */

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
