/*
 * convergence_oracle.c - what a stack of tokens does one path after the other, splits do in some order.
 *
 * Both machines part the lanes of a warp at the same statements and gather them at the same places, so by induction
 * over the steps of the stack: whenever its topmost statement s is executed by the lanes Theta, there is a split of the
 * same warp, with the lanes Theta, at s - once the splits at barriers have arrived - and stepping it does the same to
 * memory. The stack's order of paths is thus one of the schedules of the splits, for each kernel, racy or not. That is
 * replayed, step by step (`follow`). And if no execution has a race, an order of paths cannot matter: all executions
 * end, with one store (`compare_stores`).
 */
#include "oracle/convergence/convergence_oracle.h"

#include "engine/base/pcg.h"
#include "engine/convergence/convergence.h"
#include "engine/machine/live.h"
#include "engine/warps/simt.h"
#include "oracle/check/evidence.h"

#include <string.h>

static const uint32_t NOBODY = UINT32_MAX;

enum {
    SHARE = 8, /* of the budget: a replay takes no more */
    HASH_STEP = 64
};

/* The same choices for both machines: a function of the step and of how many came before in it. */
struct echo {
    struct choices choices; /* first member */
    uint64_t seed;
    uint64_t step;
    uint32_t made;
};

struct pairing {
    struct checking *c;
    enum subject_id stack_subject; /* whose order of paths is followed */
    struct machine *stack, *splits;
    struct echo echo;
    struct answer *answer;
};

static uint32_t echo_choose(struct choices *choices, uint32_t n)
{
    struct echo *echo = (struct echo *)choices;
    return (uint32_t)(pcg_splitmix(echo->seed ^ (echo->step * HASH_STEP + ++echo->made)) % n);
}

/* ---- what is said of a difference ---- */

static void diverge(struct checking *c, struct divergence *d, struct evidence *e)
{
    d->oracle = ORACLE_CONVERGENCE;
    d->subject = SUBJECT_CONVERGENCE;
    d->evidence = evidence_close(e);
    answer_diverge(&c->result->answers[ORACLE_CONVERGENCE], d);
}

static struct divergence *new_divergence(struct checking *c, struct evidence *e, const char *class,
                                         const char *observable)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    *d = (struct divergence){.class_name = class, .rule = RULE_NONE, .observable = observable};
    evidence_open(e, c->arena);
    return d;
}

/* Of a replay: the rule of the stack at which they part, and where the thread's split is. */
static bool part_at(struct pairing *p, const char *observable, enum rule rule, uint32_t stm,
                    uint32_t thread)
{
    struct evidence e;
    struct divergence *d = new_divergence(p->c, &e, "replay", observable);
    struct convergence_split split = convergence_split(p->splits, thread);
    const struct program *program = p->stack->program;
    d->rule = rule;
    d->line = evidence_line(program, stm);
    evidence_string(&e, "other_subject", subject_table[p->stack_subject].name);
    evidence_number(&e, "step", (int64_t)p->stack->steps);
    evidence_string(&e, "statement", evidence_statement(p->c->arena, program, stm));
    evidence_string(&e, "status of the stack", status_names[machine_status(p->stack)]);
    evidence_string(&e, "status of the splits", status_names[machine_status(p->splits)]);
    evidence_mask(&e, "split", split.theta, program->launch.warp);
    evidence_stack(&e, "stack of the split", program, split.stack, split.masks, split.depth,
                   program->launch.warp);
    d->summary = arena_printf(p->c->arena, "the splits cannot follow %s at %s: %s",
                              subject_table[p->stack_subject].name,
                              evidence_statement(p->c->arena, program, stm), observable);
    diverge(p->c, d, &e);
    return false;
}

/* ---- the replay ---- */

static bool runs(const struct machine *machine)
{
    return machine_status(machine) == STATUS_RUNNING;
}

/* An actor whose next step is no statement's; NOBODY when there is none. */
static uint32_t at_token(const struct machine *machine)
{
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        if (machine->semantics->next_stm(machine, machine->head->live[i]) == CODE_NONE)
            return machine->head->live[i];
    return NOBODY;
}

/* Takes all steps that are no statement's: tokens of the stack, arrivals of splits. */
static void settle(struct pairing *p, struct machine *machine)
{
    for (uint32_t actor; runs(machine) && (actor = at_token(machine)) != NOBODY;)
        machine_step(machine, actor, &p->echo.choices);
}

static bool same_memory(const struct pairing *p)
{
    return memcmp(p->stack->memory, p->splits->memory,
                  (size_t)p->stack->program->private_base * sizeof *p->stack->memory) == 0;
}

/* The warp executes its topmost statement, and the split of the same lanes that stands there does. */
static bool follow_statement(struct pairing *p, uint32_t warp, uint32_t stm)
{
    struct warp_state w = simt_state(p->stack, warp);
    uint32_t thread = w.first_thread + (uint32_t)__builtin_ctzll(w.theta);
    struct convergence_split split = convergence_split(p->splits, thread);
    bool there = split.theta == w.theta && is_live(p->splits, split.leader) &&
                 p->splits->semantics->next_stm(p->splits, split.leader) == stm;
    p->echo.step++;
    p->echo.made = 0;
    enum rule rule = machine_step(p->stack, warp, &p->echo.choices);
    if (!there)
        return part_at(p, "no split", rule, stm, thread);
    p->echo.made = 0;
    machine_step(p->splits, split.leader, &p->echo.choices);
    p->answer->checked++;
    if (!same_memory(p))
        return part_at(p, "memory", rule, stm, thread);
    settle(p, p->stack);
    settle(p, p->splits);
    if (machine_status(p->stack) != machine_status(p->splits))
        return part_at(p, "status", rule, stm, thread);
    return true;
}

static void follow(struct checking *c, enum subject_id order)
{
    const struct machine_options options = {.then_first = subject_table[order].options.then_first};
    const struct program *program = c->subjects[SUBJECT_CONVERGENCE].program;
    struct pairing p = {
        .c = c, .stack_subject = order, .answer = &c->result->answers[ORACLE_CONVERGENCE]};
    p.stack = machine_new(c->arena, subject_table[order].vtable, program, &options);
    p.splits = machine_new(c->arena, subject_table[SUBJECT_CONVERGENCE].vtable, program, &options);
    p.echo = (struct echo){.choices = {.choose = echo_choose}, .seed = c->options->seed};
    uint64_t budget = c->options->budget_steps / SHARE;
    while (runs(p.stack) && p.stack->steps < budget) {
        uint64_t draw = pcg_splitmix(p.echo.seed + p.stack->steps);
        uint32_t warp = p.stack->head->live[draw % p.stack->head->live_count];
        if (!follow_statement(&p, warp, p.stack->semantics->next_stm(p.stack, warp)))
            return;
    }
}

/* ---- the results ---- */

static void differ(struct checking *c, const char *class, const char *observable)
{
    struct evidence e;
    const struct execution *reference = c->groups[GROUP_FIRST].reference;
    struct divergence *d = new_divergence(c, &e, class, observable);
    evidence_string(&e, "other_subject", subject_table[reference->subject].name);
    d->summary = arena_printf(c->arena, "no execution has a race, and %s ends well, but %s",
                              subject_table[reference->subject].name, observable);
    diverge(c, d, &e);
}

/* Where an execution of the others terminates and none races. */
static void compare_stores(struct checking *c)
{
    const struct group *group = &c->groups[GROUP_FIRST];
    const struct check_run *run = &c->result->runs[SUBJECT_CONVERGENCE];
    const size_t bytes =
        (size_t)c->subjects[SUBJECT_CONVERGENCE].program->private_base * sizeof(int32_t);
    if (!group->reference || group->any_race || c->incomparable || run->race_unknown)
        return;
    if (run->race) {
        differ(c, "race", "convergence races");
        return;
    }
    for (uint32_t s = 0; s < STATUS_COUNT; s++)
        if (s != STATUS_TERMINATED && s != STATUS_STEP_LIMIT && run->statuses[s] > 0)
            differ(c, "end", "convergence does not");
    for (uint32_t i = 0; i < run->final_count;
         i++, c->result->answers[ORACLE_CONVERGENCE].checked++)
        if (memcmp(run->finals[i], group->reference_store, bytes) != 0)
            differ(c, "store", "convergence ends with another store");
}

/* A kernel that hangs under a stack and ends here: the class of difference that the barriers are for. */
static void name_difference(struct checking *c, enum subject_id order)
{
    const struct check_run *stack = &c->result->runs[order];
    const struct check_run *splits = &c->result->runs[SUBJECT_CONVERGENCE];
    struct evidence e;
    if (stack->statuses[STATUS_NONTERMINATING] == 0 || splits->statuses[STATUS_TERMINATED] == 0)
        return;
    struct divergence *d = new_divergence(c, &e, "independent", "termination");
    evidence_string(&e, "other_subject", subject_table[order].name);
    d->known = "CNV";
    d->summary = arena_printf(c->arena,
                              "%s hangs: a path waits for one that comes later; with convergence "
                              "barriers the paths run side by side, and an execution ends",
                              subject_table[order].name);
    diverge(c, d, &e);
}

/* ---- the answer ---- */

void convergence_judge(struct checking *c)
{
    static const enum subject_id orders[] = {SUBJECT_SIMT, SUBJECT_SIMT_THEN};
    struct answer *answer = &c->result->answers[ORACLE_CONVERGENCE];
    answer->verdict = VERDICT_NOT_APPLICABLE;
    answer->reason = "the subject `convergence` was not run";
    if (!explore_runs(c, SUBJECT_CONVERGENCE))
        return;
    answer->verdict = VERDICT_AGREE;
    answer->reason = "the stack's order of paths is one of the schedules of the splits";
    for (uint32_t i = 0; i < 2; i++) {
        follow(c, orders[i]);
        name_difference(c, orders[i]);
    }
    compare_stores(c);
    if (answer->verdict == VERDICT_AGREE || answer->verdict == VERDICT_DIVERGE)
        c->held |= SUBJECT_BIT(SUBJECT_CONVERGENCE);
}
