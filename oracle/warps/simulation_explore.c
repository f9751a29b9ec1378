#include "oracle/warps/simulation_explore.h"

#include "engine/warps/simt.h"
#include "engine/warps/threads.h"

enum {
    CONFLICT_SCHEDULES = 4, /* of a single warp whose lanes write to the same place */
    LIVENESS_SHARE = 8      /* a warp that has spent this part of its budget may spin: look */
};

void simulation_prepare(struct checking *c)
{
    const struct machine_options untracked = {0};
    if (!c->warps || c->alone)
        return;
    if (!c->threads && machine_refuses(c->arena, &semantics_threads, c->program))
        return;
    if (!c->threads)
        c->threads = machine_new(c->arena, &semantics_threads, c->program, &untracked);
    struct simulation *s = simulation_new(c->arena, c->warps, c->threads);
    if (c->options->oracles & (1u << ORACLE_SIMULATION))
        s->answer = &c->result->answers[ORACLE_SIMULATION];
    if (c->options->oracles & (1u << ORACLE_LEMMAS))
        s->lemmas = &c->result->answers[ORACLE_LEMMAS];
    s->strict = c->options->modes & ORACLE_MODE_LEMMAS_STRICT;
    c->own[ORACLE_SIMULATION] = s;
}

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
        simulation_of(c)->inner_choices == 0 &&
        (c->program->warp_count == 1 || execution->spec.kind == SCHED_ROUND_ROBIN);
    bool tried = c->probes[execution->subject] != NULL;
    if (execution->fair && probe_lasso(c, execution->subject)) {
        if (same_execution)
            return STATUS_NONTERMINATING;
        if (!tried)
            explore_add_lasso(&c->result->runs[execution->subject]);
    }
    return simulation_run(simulation_of(c), choices, explore_budget(c, execution));
}

static void run_simt(struct checking *c, struct execution *execution)
{
    struct simulation *s = simulation_of(c);
    explore_begin(c, execution);
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
    c->result->warp_steps += s->warp_steps;
    c->result->thread_steps += s->thread_steps;
    explore_end(c, execution);
}

bool simulation_explore(struct checking *c, enum subject_id subject)
{
    const struct semantics *vtable = subject_table[subject].vtable;
    if (!vtable || vtable->stack != STACK_SIMT || !simulation_of(c))
        return false;
    struct check_run *run = &c->result->runs[subject];
    bool conflicts = false;
    for (uint32_t index = 0; index < simt_schedules(c, subject, conflicts); index++) {
        struct sched_spec spec;
        if (!explore_next(c, subject, index, simt_portfolio_number(c, index), &spec))
            break;
        if (!explore_worth(run, explore_fair(&spec, c->warps)))
            continue;
        run_simt(c, explore_add(c, subject, &spec));
        conflicts |= simulation_of(c)->inner_choices > 0;
    }
    machine_observe(c->warps, NULL);
    return true;
}

/* ---- the answers ---- */

/* They diverge along the way, if at all. */
static void judge(struct checking *c, enum oracle_id oracle)
{
    struct answer *answer = &c->result->answers[oracle];
    const struct simulation *s = simulation_of(c);
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    if (!s || s->total_warp_steps == 0) {
        answer->reason = "no warp subject was run";
        return;
    }
    if (s->refused && oracle == ORACLE_SIMULATION) {
        answer->reason = s->refused;
        return;
    }
    answer->verdict = VERDICT_AGREE;
    answer->reason = arena_printf(
        c->arena, "%llu warp steps replayed by %llu thread steps in %u executions",
        (unsigned long long)s->total_warp_steps, (unsigned long long)s->total_thread_steps,
        c->result->runs[SUBJECT_SIMT].schedules + c->result->runs[SUBJECT_SIMT_THEN].schedules);
}

void simulation_judge(struct checking *c)
{
    judge(c, ORACLE_SIMULATION);
}

void simulation_judge_lemmas(struct checking *c)
{
    judge(c, ORACLE_LEMMAS);
}
