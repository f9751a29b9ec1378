#include "engine/machine/barrier.h"

void barrier_wait(struct machine *machine, uint32_t actor)
{
    struct machine_group *group = machine_group_of(machine, actor);
    machine_unlive(machine, actor);
    put(machine, &group->waiting, group->waiting + 1);
}

/* Actors of P_{s,t}'s block that are not of the pair do not exist. */
static bool exists(const struct machine *machine, uint32_t actor)
{
    const struct machine_options *options = &machine->options;
    return options->pair_count == 0 || actor == options->pair[0] || actor == options->pair[1];
}

/* Puts the group's actors back among the live ones, in their place. */
static void revive(struct machine *machine, struct machine_group *group)
{
    struct machine_head *head = machine->head;
    uint32_t count = group->waiting, old = head->live_count, at = old;
    while (at > 0 && head->live[at - 1] >= group->first)
        at--;
    for (uint32_t i = old; i > at; i--)
        put(machine, &head->live[i - 1 + count], head->live[i - 1]);
    for (uint32_t actor = group->first; actor < group->first + group->count; actor++)
        if (exists(machine, actor))
            put(machine, &head->live[at++], actor);
    put(machine, &head->live_count, old + count);
    put(machine, &group->live, count);
    put(machine, &group->waiting, 0);
}

static uint32_t first_actor(const struct machine *machine, const struct machine_group *group)
{
    uint32_t actor = group->first;
    while (!exists(machine, actor))
        actor++;
    return actor;
}

static bool all_at_one_barrier(const struct machine *machine, const struct machine_group *group)
{
    uint32_t first = first_actor(machine, group);
    for (uint32_t actor = first + 1; actor < group->first + group->count; actor++)
        if (exists(machine, actor) && !machine->semantics->same_barrier(machine, first, actor))
            return false;
    return true;
}

static void fire(struct machine *machine, enum rule rule, uint32_t actor, uint32_t stm)
{
    machine->hits[rule]++;
    if (is_observed(machine)) {
        struct step_event event = {.rule = rule, .actor = actor, .stm = stm};
        observe_step(machine, &event);
    }
}

/*  CFG.barrier_S     all threads at a barrier with true condition and identical beta
 *      <sigma, (.., <sigma_t, barrier e_t; b_t>, ..)>  ==>  <sigma, (.., <sigma_t, b_t>, ..)>
 */
static void barrier_s(struct machine *machine, struct machine_group *group, uint32_t stm)
{
    uint32_t block = (uint32_t)(group - machine->groups), first = first_actor(machine, group);
    const struct barrier_havoc *havoc = machine->options.barrier_havoc;
    for (uint32_t actor = first; actor < group->first + group->count; actor++)
        if (exists(machine, actor))
            machine->semantics->pass_barrier(machine, actor);
    revive(machine, group);
    if (havoc)
        havoc->havoc(havoc->context, machine, block);
    if (is_observed(machine)) {
        struct barrier_event event = {.block = block, .stm = stm, .all = true};
        observe_barrier(machine, &event);
    }
    fire(machine, machine->semantics->barrier_rule, first, stm);
}

/*  CFG.barrier_F     (B-7) no thread or SKIP step possible, not all ended, barrier_S does not apply
 *      <sigma, T>  ==>  E
 *
 *  With CFG.barrier_F1 as printed (main text) a thread that has ended makes the state stuck instead.
 */
static void barrier_f(struct machine *machine, struct machine_group *group, uint32_t stm)
{
    const struct program *program = machine->program;
    uint32_t first = first_actor(machine, group);
    uint32_t thread = machine->actor_count == program->total_threads
                          ? first
                          : (uint32_t)(group - machine->groups) * program->launch.threads;
    bool silent = machine->options.barrier_f1 && group->finished > 0;
    machine_fault(machine, silent ? STATUS_STUCK : STATUS_BARRIER_DIVERGENCE, thread, stm);
    if (!silent)
        fire(machine, machine->semantics->divergence_rule, first, stm);
}

/* The statement at which the group's first waiting actor waits. */
static uint32_t waiting_stm(const struct machine *machine, const struct machine_group *group)
{
    for (uint32_t actor = group->first; actor < group->first + group->count; actor++) {
        uint32_t stm =
            exists(machine, actor) ? machine->semantics->next_stm(machine, actor) : CODE_NONE;
        if (stm != CODE_NONE)
            return stm;
    }
    return CODE_NONE;
}

void barrier_settle(struct machine *machine, uint32_t actor)
{
    struct machine_group *group = machine_group_of(machine, actor);
    if (machine->head->status != STATUS_RUNNING || group->live > 0 || group->waiting == 0)
        return;
    uint32_t stm = waiting_stm(machine, group);
    if (group->finished == 0 && all_at_one_barrier(machine, group))
        barrier_s(machine, group, stm);
    else
        barrier_f(machine, group, stm);
}
