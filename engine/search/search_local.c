/*
 * search_local.c - local steps, taken at once with the step before them.
 *
 * A step of an actor is local if it reads and writes nothing but what is the actor's own - registers, private memory,
 * its stack -, has no choice inside, and is no error; and either the actor can step again after it, or it was its
 * last and the program has no barriers. A transition of the merged graph is one step of an actor, of any kind, and
 * the local ones that follow it, some or all. So a first step is never merged with what is before it, and a loop of
 * local steps stays a cycle, as each transition takes a bounded number of them.
 *
 * A local step a of an actor and any step b of another one can change places: ba leads where ab does, a can be taken
 * as soon as the step before it, b neither needs nor prevents it. Take an infinite execution r of the whole graph,
 * and move each local step to the front of what others did since its actor's last step; add those that r never takes.
 * That is a path r' of the merged graph: whatever starts a transition finds shared memory and its own actor as in r.
 * Actors that step for ever in r do so in r'. And every path of the merged graph is one of the whole graph, of the
 * same actors. From that (F as in progress.h; a unit that stays unfinished stays in F under every model once it is
 * there, and every local step has a unit that has begun):
 *
 *   weakly fair  r' is fair iff r is, with the same F in the end. Who has begun is the same, since first steps are not
 *                moved. Who has finished, too, but for last steps that r never takes; their unit can step for ever
 *                in r and does not, so it is not in F. It is unfinished and has begun, so the model is UNFAIR, where F
 *                is empty, or HSA, where F is a lower unit: without it F is the same. Who waits at a barrier is
 *                the same, as local steps make nobody wait, and release nobody.
 *   ends         an execution that ends does so by a step that is in r', too, or by last steps.
 *   strongly     (=>) a good path of steps of units of F from a state of the merged graph, moved likewise, is one
 *                of the merged graph: F loses only units that are done. (<=) let s be any state, s' the one with
 *                its local steps taken. Under OBE, HSA_OBE, LOBE, FAIR their units are in F at s, so s' can be
 *                reached by steps of F, and what is good for s' is for s. Under HSA take the good path of s' from s;
 *                when a unit with local steps to take becomes the lowest, it takes them. Where units wait at barriers,
 *                r as above takes every chance that comes again and again iff r' does: what a step of F leads to
 *                does not depend on the local steps of others.
 *   finished     steps behind the text (past_text) are local, of units that are not in F, and lead nowhere else: an
 *                execution has ended when all have finished their text.
 *   random       in warps of one thread each: whether the end can be reached from every state, as for FAIR.
 *
 * A unit may be a warp or a block of several actors, or an actor a warp: nothing above says otherwise. Shortest
 * stems and loops are shortest in transitions; the local steps in them come on top.
 */
#include "engine/base/invariant.h"
#include "engine/machine/live.h"
#include "engine/program/ptx_code.h"
#include "engine/search/search_internal.h"

/* Hears of what others could see. */
struct watch {
    bool heard;
};

static void hear_access(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)thread;
    (void)address;
    (void)stm;
    ((struct watch *)context)->heard = true;
}

static void hear_write(void *context, uint32_t thread, uint32_t address, int32_t value,
                       uint32_t stm)
{
    (void)value;
    hear_access(context, thread, address, stm);
}

static void hear_barrier(void *context, const struct machine *machine,
                         const struct barrier_event *event)
{
    (void)machine;
    (void)event;
    ((struct watch *)context)->heard = true;
}

static void hear_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    (void)machine;
    (void)use;
    ((struct watch *)context)->heard = true;
}

static bool has_barriers(const struct program *program)
{
    return program->form == FORM_PTX ? program->ptx->barriers : program->barrier_count > 0;
}

/* Whether the actor's step was its last, and no error. */
static bool has_finished(const struct machine *machine, uint32_t actor)
{
    enum status status = machine_status(machine);
    return (status == STATUS_RUNNING || status == STATUS_TERMINATED) && !is_live(machine, actor);
}

/* Whether what was logged since `mark` lies in private memory and in what semantics keep of their actors; or
 * the actor has finished, and nobody can wait for that. */
static bool changes_own_words(const struct machine *machine, uint32_t actor, uint32_t mark)
{
    const uint32_t *block = machine->block;
    uint32_t memory = (uint32_t)((const uint32_t *)machine->memory - block);
    uint32_t own = memory + machine->program->private_base;
    uint32_t groups = (uint32_t)((const uint32_t *)machine->groups - block);
    uint32_t group_words =
        machine->program->launch.blocks * (uint32_t)(sizeof(struct machine_group) / 4);
    bool control = false;
    for (uint32_t i = mark; i < machine->track.log_count; i++) {
        uint32_t word = machine->track.log[i].word;
        if (word >= memory && word < own)
            return false;
        control |= word < memory || (word >= groups && word < groups + group_words);
    }
    return !control || (!has_barriers(machine->program) && has_finished(machine, actor));
}

/* Takes the step if it is local; otherwise nothing has happened. */
static bool step_locally(struct search *search, uint32_t actor, const struct watch *watch)
{
    struct machine *machine = search->machine;
    struct script *script = &search->script;
    uint64_t reads, writes;
    uint32_t mark = machine->track.log_count, choices = script->count;
    machine->semantics->footprint(machine, actor, &reads, &writes);
    if (reads | writes)
        return false;
    machine_step(machine, actor, &script->choices);
    if (!watch->heard && script->count == choices && changes_own_words(machine, actor, mark))
        return true;
    machine_undo(machine, mark);
    script->count = script->at = choices;
    return false;
}

uint32_t search_local_steps(struct search *search, uint32_t actor)
{
    enum { STEPS_MAX = 64 };
    struct machine *machine = search->machine;
    const struct track *track = &machine->track;
    if (machine_status(machine) != STATUS_RUNNING || !is_live(machine, actor))
        return 0;
    struct watch watch = {false};
    const struct observer observer = {.context = &watch,
                                      .read = hear_access,
                                      .write = hear_write,
                                      .atomic = hear_write,
                                      .barrier = hear_barrier,
                                      .use = hear_use};
    const struct observer *observers = machine->options.observers;
    uint64_t first = track->hash;
    uint32_t count = 0;
    machine_observe(machine, &observer);
    while (count < STEPS_MAX && track->log_count + search->step_entries <= track->log_capacity &&
           step_locally(search, actor, &watch)) {
        count++;
        if (track->hash == first || /* most likely in a loop: once around is enough */
            !is_live(machine, actor))
            break;
    }
    machine_observe(machine, observers);
    return count;
}
