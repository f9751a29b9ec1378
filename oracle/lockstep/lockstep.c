#include "oracle/lockstep/lockstep.h"

#include "oracle/check/evidence.h"
#include "oracle/lockstep/replay.h"
#include "oracle/results/result.h"

#include <string.h>

enum { OTHER_SCHEDULES = 15 }; /* of the portfolio, one of which P runs with */

struct lockstep_case {
    struct checking *c;
    struct answer *answer;
    struct replay *replay;
    const struct program *phi, *p;
    /* phi(P), highest lanes win, one thread block after another. */
    enum status status;
    bool race;
    /* Of P, in a schedule of its own. */
    struct sched_spec p_spec;
    enum status p_status;
    bool p_race;
    const char *undecided; /* why there is no verdict; NULL: there is one */
};

static const char *end_name(enum status status, bool race)
{
    return race ? "race" : status_names[status];
}

static void diverge(struct lockstep_case *k, const char *class_name, const char *observable,
                    struct evidence *e, const char *summary)
{
    struct divergence *d = ARENA_NEW(k->c->arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_LOCKSTEP,
                             .class_name = class_name,
                             .rule = RULE_NONE,
                             .observable = observable,
                             .subject = SUBJECT_LOCKSTEP,
                             .evidence = evidence_close(e),
                             .summary = summary};
    answer_diverge(k->answer, d);
}

static void open_evidence(const struct lockstep_case *k, struct evidence *e)
{
    evidence_open(e, k->c->arena);
    evidence_string(e, "lockstep_end", end_name(k->status, k->race));
    if (k->race)
        evidence_race(e, "lockstep_race", k->phi, &k->replay->phi_races->witness);
}

/* ---- the replay ---- */

static void run_phi(struct lockstep_case *k)
{
    struct replay_choices plain;
    replay_plain_choices(&plain, k->replay->phi);
    replay_begin(k->replay);
    k->status = replay_run(k->replay, &plain.choices, k->c->options->budget_steps);
    k->race = k->replay->phi_races->found;
}

/* Where blocks interleave or atomics meet, another schedule of phi is another execution. */
static void run_phi_again(struct lockstep_case *k)
{
    struct scheduler scheduler;
    struct sched_spec spec =
        sched_portfolio(k->c->options->seed, 3, k->replay->phi->actor_count, 0);
    if (k->phi->launch.blocks == 1 && !k->p->has_atomics)
        return;
    replay_begin(k->replay);
    sched_start(&scheduler, &spec, k->replay->phi, k->c->arena);
    (void)replay_run(k->replay, &scheduler.choices, k->c->options->budget_steps);
}

/* ---- verdicts ---- */

static void run_p(struct lockstep_case *k)
{
    struct machine *p = k->replay->p;
    uint64_t seed = k->c->options->seed;
    struct scheduler scheduler;
    k->p_spec = sched_portfolio(seed, 1 + pcg_splitmix(seed) % OTHER_SCHEDULES, p->actor_count, 0);
    machine_reset(p);
    machine_observe(p, &k->replay->p_races->observer);
    race_begin(k->replay->p_races);
    race_watch(k->replay->p_races, p);
    sched_start(&scheduler, &k->p_spec, p, k->c->arena);
    k->p_status = machine_run(p, &scheduler.choices, k->c->options->budget_steps, NULL);
    k->p_race = k->replay->p_races->found;
}

static void report_verdict(struct lockstep_case *k, const char *class_name)
{
    const char *phi = end_name(k->status, k->race), *p = end_name(k->p_status, k->p_race);
    const char *schedule = sched_name(k->c->arena, &k->p_spec);
    bool clean = result_clean_of(k->status, k->race) == CLEAN;
    struct evidence e;
    open_evidence(k, &e);
    evidence_string(&e, "interleave_end", p);
    evidence_string(&e, "interleave_schedule", schedule);
    if (k->p_race)
        evidence_race(&e, "interleave_race", k->p, &k->replay->p_races->witness);
    diverge(k, class_name, clean ? p : phi, &e,
            arena_printf(k->c->arena, "in lock-step: %s; P, schedule %s: %s", phi, schedule, p));
}

static void compare_clean_stores(struct lockstep_case *k)
{
    const int32_t *phi = k->replay->phi->memory, *p = k->replay->p->memory;
    uint32_t address = 0;
    while (address < k->p->private_base && phi[address] == p[address])
        address++;
    if (address == k->p->private_base)
        return;
    const char *name = program_location_name(k->c->arena, k->p, address);
    struct evidence e;
    open_evidence(k, &e);
    evidence_string(&e, "interleave_schedule", sched_name(k->c->arena, &k->p_spec));
    evidence_string(&e, "location", name);
    evidence_number(&e, "lockstep_value", phi[address]);
    evidence_number(&e, "interleave_value", p[address]);
    diverge(k, "result", result_space(k->p, address), &e,
            arena_printf(k->c->arena, "both clean: %s ends as %d in lock-step, %d in P", name,
                         phi[address], p[address]));
}

/* phi(P) has spent its budget where P is clean. Its replay, race free so far, is an execution of P, so
 * it takes no more steps of P than that one; and phi takes none of P in one pass through its blocks at
 * most. */
static void judge_unending(struct lockstep_case *k, uint64_t replayed, uint64_t idle)
{
    bool too_many = replayed > k->replay->p->steps;
    if (too_many || idle > 2 * (uint64_t)k->phi->stm_count)
        report_verdict(k, "termination");
    else
        k->undecided = "the lock-step program has spent its budget";
}

/* The replay of phi(P) has been an execution of P: so P ends as phi(P) does in that one, and if it is
 * clean in another it is in all, with the same number of steps. */
static void judge_ends(struct lockstep_case *k, uint64_t replayed, uint64_t idle)
{
    enum clean phi = result_clean_of(k->status, k->race),
               p = result_clean_of(k->p_status, k->p_race);
    if (phi == CLEAN_UNKNOWN && k->status == STATUS_STEP_LIMIT && p == CLEAN)
        judge_unending(k, replayed, idle);
    else if (phi == CLEAN && k->p_status == STATUS_STEP_LIMIT && !k->p_race)
        report_verdict(k, "termination");
    else if ((phi == CLEAN) != (p == CLEAN))
        report_verdict(k, "verdict");
    else if (phi == CLEAN && k->replay->p->steps != replayed)
        report_verdict(k, "steps");
    else if (phi == CLEAN)
        compare_clean_stores(k);
    else if (phi == CLEAN_UNKNOWN)
        k->undecided = arena_printf(k->c->arena, "%s in lock-step, P: %s",
                                    end_name(k->status, k->race), end_name(k->p_status, k->p_race));
}

/* The machine of phi is where its first execution ended. */
static void judge_verdicts(struct lockstep_case *k)
{
    uint64_t replayed = k->replay->p_steps, idle = k->replay->idle;
    if (k->replay->lost)
        return;
    if (k->p->has_atomics) {
        k->undecided = "replayed; no verdicts: atomics that come in another order end otherwise";
        return;
    }
    if (program_chooses_by_memory(k->p)) {
        k->undecided = "replayed; no verdicts: choices depend on memory that is read unseen";
        return;
    }
    run_p(k);
    judge_ends(k, replayed, idle);
}

/* ---- the oracle ---- */

/* NULL: it applies. */
static const char *refuse(struct checking *c)
{
    const enum subject_id needed[] = {SUBJECT_LOCKSTEP, SUBJECT_INTERLEAVE};
    const char *reason;
    for (uint32_t i = 0; i < 2; i++)
        if (!explore_runs(c, needed[i]))
            return c->result->runs[needed[i]].reason;
    if (forms_well_formed(c->forms, &reason) == ILL_FORMED)
        return reason;
    if (!forms_get(c->forms, PROGRAM_BLOCKS)->program)
        return forms_get(c->forms, PROGRAM_BLOCKS)->reason;
    return NULL;
}

void lockstep_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_LOCKSTEP];
    struct lockstep_case k = {.c = c, .answer = answer};
    answer->reason = refuse(c);
    if (answer->reason)
        return;
    k.replay = replay_new(c->arena, c->subjects[SUBJECT_LOCKSTEP].machine,
                          c->subjects[SUBJECT_INTERLEAVE].machine);
    k.phi = k.replay->phi->program;
    k.p = k.replay->p->program;
    k.replay->answer = answer;
    run_phi(&k);
    judge_verdicts(&k);
    if (!k.replay->lost)
        run_phi_again(&k);
    machine_observe(k.replay->phi, NULL);
    machine_observe(k.replay->p, NULL);
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    answer->verdict = k.undecided && !k.p->has_atomics ? VERDICT_INCONCLUSIVE : VERDICT_AGREE;
    answer->reason = k.undecided ? k.undecided : "replayed; the same verdict and store";
}
