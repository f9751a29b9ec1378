#include "oracle/check/probe.h"

#include "engine/crs/crs.h"
#include "engine/progress/lasso.h"
#include "oracle/check/evidence.h"
#include "oracle/check/explore.h"

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
    probe->has_stacks = machine->semantics->stack == STACK_CRS;
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
        if (in_loop && probe->has_stacks && actor < machine->actor_count) /* a cache has no stack */
            see_depth(&depths, machine, actor);
        if (in_loop && continues(rule) && probe->rule == RULE_NONE) {
            probe->rule = rule;
            probe->stm = stm;
        }
    }
    if (probe->has_stacks)
        probe->depth = deepest(&depths, machine->actor_count);
}

/* What a person is told: the statement at which the loop goes round. */
static void keep_hang(struct checking *c, struct check_run *run, const struct lasso_probe *probe)
{
    struct check_fault *fault = ARENA_NEW(c->arena, struct check_fault);
    fault->status = STATUS_NONTERMINATING;
    fault->stm = probe->stm;
    fault->line = evidence_line(run->program, probe->stm);
    run->faults[OUTCOME_HANG] = fault;
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
    keep_hang(c, &c->result->runs[subject], probe);
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

bool probe_lasso(struct checking *c, enum subject_id subject)
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

void probe_found(struct checking *c, enum subject_id subject, const struct tape *stem,
                 const struct tape *loop)
{
    if (c->probes[subject] && c->probes[subject]->proven)
        return;
    c->probes[subject] = ARENA_NEW(c->arena, struct lasso_probe);
    keep_lasso(c, subject, new_machine(c, subject, false), "exhaustive search", stem, loop);
}
