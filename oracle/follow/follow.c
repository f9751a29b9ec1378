#include "oracle/follow/follow.h"

#include "engine/base/invariant.h"
#include "engine/blocks/lockstep.h"
#include "engine/convergence/convergence.h"
#include "engine/warps/simt.h"
#include "oracle/follow/follow_caches.h"
#include "oracle/steps/follow_ptx.h"

#include <stdio.h>
#include <string.h>

/* ---- which subjects ---- */

/* Which of the reference's semantics follows a subject; false: none does, and why. */
static bool kind_of(enum subject_id subject, enum ref_kind *kind, const char **why)
{
    const struct subject_info *info = &subject_table[subject];
    if (info->vtable && ref_find(info->vtable->name, kind))
        return true;
    *why = "the reference has no rules for it";
    return false;
}

static bool is_ptx(enum subject_id subject)
{
    return subject_table[subject].vtable->form == FORM_PTX;
}

/* ---- what the machine tells its observers ---- */

static void hear(struct follower *f, enum ref_access_kind kind, uint32_t thread, uint32_t address,
                 int32_t value, uint32_t stm)
{
    if (f->state != FOLLOW_ALONG)
        return;
    if (f->heard_count == FOLLOW_ACCESSES) { /* a warp's wait for its copies may make as many */
        f->state = FOLLOW_LOST;
        f->unknown = "a step with more accesses than are kept";
        return;
    }
    if (f->heard_count == 0 || stm < f->heard_stm[0])
        f->heard_stm[0] = stm;
    if (f->heard_count == 0 || stm > f->heard_stm[1])
        f->heard_stm[1] = stm;
    f->heard[f->heard_count++] = (struct ref_access){kind, thread, address, value};
}

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    hear(context, REF_READ, thread, address, 0, stm);
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    hear(context, REF_WRITE, thread, address, value, stm);
}

static void on_atomic(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    hear(context, REF_ATOMIC, thread, address, value, stm);
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct follower *f = context;
    (void)machine;
    f->barrier = *event;
    f->barrier_count++;
}

static void on_pick(void *context, const struct machine *machine, uint32_t actor)
{
    (void)machine;
    (void)actor;
    follow_promise_pick(context);
}

static void on_choice(void *context, uint32_t n, uint32_t choice)
{
    struct follower *f = context;
    f->hears_choices = true;
    follow_promise_choice(f, n, choice);
    if (n > 1 && f->choice_count < FOLLOW_CHOICES)
        f->choices[f->choice_count++] = choice;
    if (f->offered < (uint64_t)1 << 32)
        f->offered *= n;
}

/* The end of a barrier interval is told once: when barrier_S fires, when sync_T does. Of PTX: follow_told.c. */
static void compare_barrier_told(struct follower *f, uint32_t block, bool ends, bool all)
{
    if (f->barrier_count != (ends ? 1u : 0u))
        follow_part_numbers(f, "barrier told", f->barrier_count, ends);
    else if (ends && (f->barrier.block != block || f->barrier.all != all))
        follow_part_numbers(f, "barrier told", f->barrier.block, block);
}

/* The order in which the threads of the last step wrote. */
static struct ref_told what_is_told(const struct follower *f, uint32_t actor,
                                    uint32_t threads[LIMIT_WARP])
{
    struct ref_told told = {
        .order = threads, .choices = f->choices, .choice_count = f->choice_count};
    uint8_t lanes[LIMIT_WARP];
    if (f->reference->kind == REF_LOCKSTEP) {
        told.count = lockstep_last_write_order(f->machine, &told.order);
    } else if (f->reference->kind == REF_SIMT || f->reference->kind == REF_SPLITS) {
        uint32_t first = f->reference->actors[actor].first_thread;
        told.count = simt_last_write_order(f->machine, lanes);
        for (uint32_t i = 0; i < told.count; i++)
            threads[i] = first + lanes[i];
    }
    return told;
}

/* ---- one step ---- */

static void compare_end(struct follower *f, enum status status)
{
    const struct ref *r = f->reference;
    if (status == STATUS_RUNNING && r->end == REF_RUNNING)
        return;
    if (strcmp(status_names[status], ref_end_names[r->end]) != 0)
        follow_part(f, "status", status_names[status], ref_end_names[r->end]);
    else if (r->end > REF_TERMINATED && r->kind != REF_LOCKSTEP &&
             f->machine->head->fault_thread != r->end_thread)
        follow_part_numbers(f, "thread at fault", f->machine->head->fault_thread, r->end_thread);
}

static void compare_accesses(struct follower *f)
{
    const struct ref *r = f->reference;
    if (!f->hears_all)
        return;
    for (uint32_t i = 0; i < f->heard_count && i < r->access_count; i++) {
        const struct ref_access *a = &f->heard[i], *b = &r->accesses[i];
        if (a->kind != b->kind || a->thread != b->thread || a->address != b->address ||
            a->value != b->value) {
            follow_part_numbers(f, "access", a->address, b->address);
            return;
        }
    }
    if (f->heard_count != r->access_count)
        follow_part_numbers(f, "number of accesses", f->heard_count, r->access_count);
}

/* The barrier rule of a block: the reference has it coming since the step before. */
static void follow_barrier(struct follower *f, const struct step_event *event)
{
    struct ref *r = f->reference;
    uint32_t first = f->awaited_block * r->actors_a_block;
    if (event->rule != f->awaited) {
        f->reference_rule = f->awaited;
        follow_part(f, "rule", rule_table[event->rule].name, rule_table[f->awaited].name);
        return;
    }
    compare_barrier_told(f, f->awaited_block, event->rule == f->machine->semantics->barrier_rule,
                         true);
    ref_barrier(r, f->awaited_block);
    f->awaited = RULE_NONE;
    f->live = ref_live_count(r);
    if (f->state == FOLLOW_ALONG)
        compare_end(f, machine_status(f->machine));
    for (uint32_t i = first; i < first + r->actors_a_block && f->state == FOLLOW_ALONG; i++)
        follow_compare_actor(f, i);
}

static void compare_step(struct follower *f, const struct step_event *event)
{
    if (f->reference_rule != event->rule) {
        follow_part(f, "rule", rule_table[event->rule].name, rule_table[f->reference_rule].name);
        return;
    }
    compare_end(f, machine_status(f->machine));
    if (f->state == FOLLOW_ALONG)
        compare_barrier_told(f, event->actor, event->rule == RULE_LOCK_SYNC_T,
                             !f->reference->nobody || f->reference->options.vacuous_sync);
    if (f->state == FOLLOW_ALONG)
        compare_accesses(f);
    if (f->state == FOLLOW_ALONG)
        follow_compare_memory(f, f->machine->memory);
    if (f->state == FOLLOW_ALONG)
        follow_compare_actor(f, event->actor);
    if (f->state == FOLLOW_ALONG && f->live != f->machine->head->live_count)
        follow_part_numbers(f, "live actors", f->machine->head->live_count, f->live);
    f->ways = f->reference->ways;
    if (f->state == FOLLOW_ALONG)
        follow_compare_ways(f);
}

/* What must come next, if anything must; where they have parted it says nothing of the step at which they did. */
static void await(struct follower *f, uint32_t actor)
{
    const struct ref *r = f->reference;
    const struct ref_actor *x = &r->actors[actor];
    if (f->state != FOLLOW_ALONG)
        return;
    f->awaited_block = actor / r->actors_a_block;
    f->awaited = ref_barrier_rule(r, f->awaited_block);
    for (uint32_t t = x->first_thread; r->kind == REF_SPLITS && t < x->first_thread + x->lanes; t++)
        if (r->end == REF_RUNNING && ref_splits_complete(r, t))
            f->awaited = RULE_CONV_JOIN;
}

static void follow_step(struct follower *f, const struct step_event *event)
{
    struct ref *r = f->reference;
    uint32_t threads[LIMIT_WARP];
    if (!ref_is_live(r, event->actor)) {
        follow_part_early(f, "actor that cannot step");
        return;
    }
    follow_compare_choice(f, event->actor);
    if (f->state == FOLLOW_ALONG)
        follow_compare_event(f, event);
    if (f->state != FOLLOW_ALONG)
        return;
    const struct ref_told told = what_is_told(f, event->actor, threads);
    f->reference_rule = ref_step(r, event->actor, &told);
    if (r->unknown) {
        f->state = FOLLOW_LOST;
        f->unknown = r->unknown;
        return;
    }
    if (r->misled) {
        follow_part(f, "order of writes", rule_table[event->rule].name, r->misled);
        return;
    }
    if (r->kind == REF_SPLITS)
        f->live = ref_live_count(r);
    else
        f->live -= !ref_is_live(r, event->actor);
    compare_step(f, event);
    await(f, event->actor);
}

/* join^c: of a barrier of the warp that has everybody, in the order in which it is told. */
static void follow_join(struct follower *f, const struct step_event *event)
{
    struct ref *r = f->reference;
    if (event->rule != RULE_CONV_JOIN || !ref_splits_complete(r, event->actor)) {
        f->reference_rule = f->awaited;
        follow_part(f, "rule", rule_table[event->rule].name, rule_table[f->awaited].name);
        return;
    }
    f->reference_rule = RULE_CONV_JOIN;
    ref_splits_join(r, event->actor);
    f->live = ref_live_count(r);
    follow_compare_event(f, event);
    if (f->state == FOLLOW_ALONG)
        compare_step(f, event);
    await(f, event->actor);
}

/* False: it is not followed. */
static bool begin_step(struct follower *f, const struct step_event *event)
{
    if (f->state != FOLLOW_ALONG)
        return false;
    if (f->steps++ == f->limit) {
        f->state = FOLLOW_CUT;
        return false;
    }
    f->rule = event->rule;
    f->turn_known = false;
    f->reference_rule = RULE_NONE;
    f->actor = event->actor;
    f->stm = event->stm;
    return true;
}

/* An access is of the statement that is executed: a race's report says where it is. Not of PTX: an access of a copy is
 * of the instruction that began it, and threads of one step may stand at different ones. */
static void compare_told_at(struct follower *f, uint32_t stm)
{
    if (f->program->ptx)
        return;
    for (uint32_t i = 0; i < 2 && f->heard_count > 0; i++)
        if (f->heard_stm[i] != stm) {
            follow_part_numbers(f, "statement of an access", f->heard_stm[i], stm);
            return;
        }
}

static void on_environment(void *context, const struct machine *machine,
                           const struct step_event *event)
{
    struct follower *f = context;
    (void)machine;
    if (begin_step(f, event))
        follow_caches_environment(f, event);
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct follower *f = context;
    if (!begin_step(f, event))
        return;
    if (f->caches)
        follow_caches_step(f, event);
    else if (f->ptx)
        follow_ptx_step(f, event);
    else if (f->awaited == RULE_CONV_JOIN || event->rule == RULE_CONV_JOIN)
        follow_join(f, event);
    else if (f->awaited != RULE_NONE || event->rule == machine->semantics->barrier_rule ||
             event->rule == machine->semantics->divergence_rule)
        follow_barrier(f, event);
    else
        follow_step(f, event);
    if (f->state == FOLLOW_ALONG)
        compare_told_at(f, event->stm);
    f->heard_count = f->heard_at = f->barrier_count = f->use_count = f->choice_count = 0;
    f->offered = f->ways = 1;
}

/* ---- an execution ---- */

static struct ref *reference_of(struct arena *arena, struct ref_room *room, enum subject_id subject,
                                const struct machine *machine, const char **why)
{
    const struct machine_options *asked = &subject_table[subject].options;
    const struct ref_options options = {.then_first = asked->then_first,
                                        .barrier_f1 = asked->barrier_f1,
                                        .vacuous_sync = asked->vacuous_sync,
                                        .literal = asked->literal,
                                        .raw_goto = asked->raw_goto,
                                        .appendix = machine->program->appendix_loops};
    enum ref_kind kind;
    if (!kind_of(subject, &kind, why))
        return NULL;
    return ref_new(arena, room, machine->program->core, kind, &options, why);
}

struct follower *follow_new(struct arena *arena, struct ref_room *room, enum subject_id subject,
                            const struct machine *machine, const char **why)
{
    struct follower *f = ARENA_NEW(arena, struct follower);
    bool caches = subject_table[subject].vtable->environment != NULL;
    *f = (struct follower){.subject = subject,
                           .program = machine->program,
                           .machine = machine,
                           .hears_all = !forms_is_predicated(subject_table[subject].program)};
    f->heard = arena_room(arena, FOLLOW_ACCESSES * sizeof *f->heard);
    f->observer = (struct observer){.context = f, .step = on_step};
    if (f->hears_all) {
        f->observer.read = on_read;
        f->observer.write = on_write;
        f->observer.atomic = on_atomic;
    }
    if (caches) {
        f->observer.environment = on_environment;
        return follow_caches_new(arena, f, why) ? f : NULL;
    }
    if (is_ptx(subject) ? !follow_ptx_new(arena, f, why)
                        : !(f->reference = reference_of(arena, room, subject, machine, why)))
        return NULL;
    f->observer.barrier = on_barrier;
    f->observer.picked = on_pick;
    f->observer.chosen = on_choice;
    if (f->ptx) {
        f->uses = arena_room(arena, FOLLOW_USES * sizeof *f->uses);
        f->observer.use = follow_ptx_hear_use;
    }
    return f;
}

/* Memory as every execution of the machine finds it. */
static const int32_t *initial_memory(const struct machine *machine)
{
    return (const int32_t *)machine->initial + (machine->memory - (const int32_t *)machine->block);
}

void follow_begin(struct follower *f, uint64_t limit)
{
    f->state = FOLLOW_ALONG;
    f->steps = f->trusted = 0;
    f->limit = limit;
    f->awaited = f->rule = f->reference_rule = RULE_NONE;
    f->heard_count = f->heard_at = f->barrier_count = f->use_count = f->choice_count = 0;
    f->offered = f->ways = 1;
    f->hears_choices = f->lost = f->against_policy = f->at_start = f->too_early = false;
    follow_policy_leave(f);
    if (f->caches) {
        follow_caches_begin(f);
        return;
    }
    if (f->ptx) {
        follow_ptx_begin(f);
        return;
    }
    ref_start(f->reference, initial_memory(f->machine));
    f->live = ref_live_count(f->reference);
    f->unknown = f->reference->unknown;
    if (f->unknown) {
        f->state = FOLLOW_LOST;
        return;
    }
    follow_compare_memory(f, initial_memory(f->machine));
    f->at_start = f->state != FOLLOW_ALONG;
}

/* CFG.barrier_F1 as printed is a state without a rule: nothing is told, the execution has ended. */
void follow_end(struct follower *f, enum status status)
{
    bool cut = status == STATUS_STEP_LIMIT || status == STATUS_NONTERMINATING;
    if (f->caches)
        follow_caches_end(f, status);
    if (f->ptx)
        follow_ptx_end(f, status);
    if (f->caches || f->ptx || f->state != FOLLOW_ALONG)
        return;
    if (f->awaited != RULE_NONE && f->reference->options.barrier_f1)
        ref_barrier(f->reference, f->awaited_block);
    else if (f->awaited != RULE_NONE && !cut)
        follow_part(f, "rule", "none", rule_table[f->awaited].name);
    if (!cut && f->state == FOLLOW_ALONG)
        compare_end(f, status);
}
