#include "oracle/lockstep/phi.h"

#include "engine/base/invariant.h"
#include "engine/blocks/lockstep.h"
#include "engine/input/input.h"
#include "engine/warps/simt.h"
#include "oracle/check/evidence.h"

#include <string.h>

enum { WORDS_EVERY_EVENT = 256, PERIOD = 64 };

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct phi_trace *t = context;
    (void)machine;
    t->enabled = event->active;
}

struct phi_trace *phi_trace_new(struct arena *arena, struct machine *warp, struct machine *phi,
                                const struct program *p)
{
    struct phi_trace *t = ARENA_NEW(arena, struct phi_trace);
    const struct program *program = phi->program;
    uint32_t *core_of = ARENA_ARRAY(arena, uint32_t, program->stm_count);
    INVARIANT(warp->program->warps_per_block == 1);
    for (uint32_t stm = 0; stm < program->stm_count; stm++) {
        uint32_t in_p = program->stms[stm].origin;
        uint32_t in_core = in_p ? p->stms[in_p - 1].origin : 0;
        core_of[stm] = in_core ? in_core - 1 : CODE_NONE;
    }
    t->arena = arena;
    t->warp = warp;
    t->phi = phi;
    t->core_of = core_of;
    image_accesses_start(&t->warp_accesses, arena, NULL);
    t->enabling = (struct observer){.context = t, .step = on_step};
    image_accesses_start(&t->phi_accesses, arena, &t->enabling);
    return t;
}

/* ---- events ---- */

static bool is_event(enum code_kind kind)
{
    const uint32_t kinds = 1u << CODE_SKIP | 1u << CODE_ASSIGN | 1u << CODE_IF | 1u << CODE_WHILE |
                           1u << CODE_ASSERT | 1u << CODE_ASSUME | 1u << CODE_HAVOC |
                           1u << CODE_ATOMIC | 1u << CODE_VOTE | 1u << CODE_BARRIER;
    return kinds >> kind & 1;
}

/* The steps of a warp up to and including its next event. */
static struct phi_event next_of_warp(struct phi_trace *t, uint32_t block, uint64_t budget)
{
    struct phi_event event = {.stm = CODE_NONE, .rule = RULE_NONE};
    while (machine_status(t->warp) == STATUS_RUNNING && simt_state(t->warp, block).depth > 0 &&
           t->steps < budget) {
        uint32_t stm = t->warp->semantics->next_stm(t->warp, block);
        event.lanes = simt_state(t->warp, block).theta;
        image_accesses_clear(&t->warp_accesses);
        event.rule = machine_step(t->warp, block, NULL);
        t->steps++;
        if (stm == CODE_NONE || !is_event(t->warp->program->stms[stm].kind))
            continue;
        event.stm = stm;
        return event;
    }
    return event;
}

/* The same of the lock-step program. */
static struct phi_event next_of_phi(struct phi_trace *t, uint32_t block, uint64_t budget)
{
    struct phi_event event = {.stm = CODE_NONE, .rule = RULE_NONE};
    while (machine_status(t->phi) == STATUS_RUNNING && !lockstep_state(t->phi, block).ended &&
           t->steps < budget) {
        uint32_t stm = t->phi->semantics->next_stm(t->phi, block);
        image_accesses_clear(&t->phi_accesses);
        event.rule = machine_step(t->phi, block, NULL);
        t->steps++;
        if (stm == CODE_NONE || t->core_of[stm] == CODE_NONE)
            continue;
        event.lanes = t->enabled;
        event.stm = t->core_of[stm];
        if (event.lanes != 0)
            return event;
        event.stm = CODE_NONE;
    }
    return event;
}

/* ---- reports ---- */

struct phi_pair {
    uint32_t block;
    struct phi_event warp, phi;
};

static const char *statement(struct phi_trace *t, uint32_t stm)
{
    return stm == CODE_NONE ? "no further event"
                            : evidence_statement(t->arena, t->warp->program, stm);
}

static void open_evidence(struct phi_trace *t, const struct phi_pair *pair, struct evidence *e)
{
    uint32_t lanes = t->warp->program->launch.threads;
    evidence_open(e, t->arena);
    evidence_number(e, "event", (int64_t)t->events);
    evidence_number(e, "block", pair->block);
    evidence_string(e, "warp_at", statement(t, pair->warp.stm));
    evidence_string(e, "lockstep_at", statement(t, pair->phi.stm));
    evidence_mask(e, "warp_active", pair->warp.lanes, lanes);
    evidence_mask(e, "lockstep_enabled", pair->phi.lanes, lanes);
    evidence_string(e, "warp_status", status_names[t->warp->head->status]);
    evidence_string(e, "lockstep_status", status_names[t->phi->head->status]);
}

static void report(struct phi_trace *t, const struct phi_pair *pair, const char *class_name,
                   const char *observable, struct evidence *e, const char *summary)
{
    uint32_t stm = pair->warp.stm != CODE_NONE ? pair->warp.stm : pair->phi.stm;
    t->lost = true;
    if (!t->answer)
        return;
    struct divergence *d = ARENA_NEW(t->arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_PHI,
                             .class_name = class_name,
                             .rule = pair->warp.rule,
                             .observable = observable,
                             .subject = t->subject,
                             .line = evidence_line(t->warp->program, stm),
                             .evidence = evidence_close(e),
                             .summary = summary};
    answer_diverge(t->answer, d);
}

static void report_event(struct phi_trace *t, const struct phi_pair *pair, const char *observable)
{
    struct evidence e;
    open_evidence(t, pair, &e);
    report(t, pair, "event", observable, &e,
           arena_printf(t->arena, "event %llu: the warp is at %s, the lock-step program at %s",
                        (unsigned long long)t->events, statement(t, pair->warp.stm),
                        statement(t, pair->phi.stm)));
}

static void report_status(struct phi_trace *t, const struct phi_pair *pair)
{
    const struct machine_head *w = t->warp->head, *phi = t->phi->head;
    struct evidence e;
    open_evidence(t, pair, &e);
    evidence_number(&e, "warp_thread", w->fault_thread);
    evidence_number(&e, "lockstep_thread", phi->fault_thread);
    report(t, pair, "status", status_names[w->status == STATUS_RUNNING ? phi->status : w->status],
           &e,
           arena_printf(t->arena, "at %s the warp is %s, the lock-step program %s",
                        statement(t, pair->warp.stm), status_names[w->status],
                        status_names[phi->status]));
}

static void report_accesses(struct phi_trace *t, const struct phi_pair *pair)
{
    const struct image_access *a = image_missing_access(&t->warp_accesses, &t->phi_accesses);
    const char *who = a ? "of the warp" : "of lock-step";
    struct evidence e;
    if (!a)
        a = image_missing_access(&t->phi_accesses, &t->warp_accesses);
    open_evidence(t, pair, &e);
    if (a) {
        evidence_number(&e, "thread", a->thread);
        evidence_string(&e, "access", race_access_names[a->kind]);
        evidence_string(&e, "location",
                        program_location_name(t->arena, t->warp->program, a->address));
    }
    report(t, pair, "accesses", who, &e,
           arena_printf(t->arena, "at %s the warp and the lock-step program access other locations",
                        statement(t, pair->warp.stm)));
}

static void report_word(struct phi_trace *t, const struct phi_pair *pair, const char *space,
                        uint32_t warp_address, uint32_t phi_address)
{
    const struct program *p = t->warp->program;
    const char *name = warp_address < p->private_base
                           ? program_location_name(t->arena, p, warp_address)
                           : arena_printf(t->arena, "word %u", warp_address);
    int32_t w = t->warp->memory[warp_address], phi = t->phi->memory[phi_address];
    struct evidence e;
    open_evidence(t, pair, &e);
    evidence_string(&e, "location", name);
    evidence_number(&e, "warp_value", w);
    evidence_number(&e, "lockstep_value", phi);
    report(t, pair, "store", space, &e,
           arena_printf(t->arena, "after %s %s is %d for the warp, %d in lock-step",
                        statement(t, pair->warp.stm), name, w, phi));
}

/* ---- comparisons ---- */

static bool same_words(struct phi_trace *t, const struct phi_pair *pair, const char *space,
                       uint32_t warp_first, uint32_t phi_first, uint32_t count)
{
    const int32_t *w = t->warp->memory + warp_first, *phi = t->phi->memory + phi_first;
    uint32_t i = 0;
    if (memcmp(w, phi, count * sizeof *w) == 0)
        return true;
    while (w[i] == phi[i])
        i++;
    report_word(t, pair, space, warp_first + i, phi_first + i);
    return false;
}

static bool same_shared(struct phi_trace *t, const struct phi_pair *pair)
{
    const struct program *p = t->warp->program;
    return same_words(t, pair, "global memory", 0, 0, p->shared_base) &&
           same_words(t, pair, "shared memory", p->shared_base, p->shared_base,
                      p->private_base - p->shared_base);
}

static bool same_written(struct phi_trace *t, const struct phi_pair *pair)
{
    const struct image_accesses *a = &t->warp_accesses;
    const struct program *p = t->warp->program;
    if (!a->writes)
        return true;
    if (p->private_base <= WORDS_EVERY_EVENT || a->count > IMAGE_ACCESSES)
        return same_shared(t, pair);
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t address = a->entries[i].address;
        const char *space = address < p->shared_base ? "global memory" : "shared memory";
        if (a->entries[i].kind != ACCESS_READ && !same_words(t, pair, space, address, address, 1))
            return false;
    }
    return true;
}

/* A private variable of file level, or one of the kernel's own: those of functions that are inlined lie
 * elsewhere, or nowhere. */
static bool same_private(struct phi_trace *t, const struct phi_pair *pair,
                         const struct code_place *place, uint32_t function)
{
    const struct program *p = t->warp->program, *phi = t->phi->program;
    uint32_t first = pair->block * p->launch.threads;
    bool local = place->space == SPACE_LOCAL;
    if (place->length == 0 || place->space <= SPACE_SHARED || (local && function != 0))
        return true;
    for (lane_mask rest = pair->warp.lanes; rest; rest &= rest - 1) {
        uint32_t thread = first + (uint32_t)__builtin_ctzll(rest);
        uint32_t base = local ? p->frame_base : p->private_base;
        uint32_t phi_base = local ? phi->frame_base : base;
        uint32_t at = base + thread * p->words[place->space] + place->offset;
        uint32_t phi_at = phi_base + thread * phi->words[place->space] + place->offset;
        if (!same_words(t, pair, local ? "local memory" : "private memory", at, phi_at,
                        place->length))
            return false;
    }
    return true;
}

static bool same_places(struct phi_trace *t, const struct phi_pair *pair)
{
    const struct code_stm *stm = &t->warp->program->stms[pair->warp.stm];
    bool assigns = stm->kind == CODE_ASSIGN || stm->kind == CODE_HAVOC;
    return (!assigns || same_private(t, pair, &stm->place, stm->function)) &&
           (stm->kind != CODE_ATOMIC || (same_private(t, pair, &stm->target, stm->function) &&
                                         same_private(t, pair, &stm->place, stm->function)));
}

/* All but frames. */
static bool same_memory(struct phi_trace *t, const struct phi_pair *pair)
{
    const struct program *p = t->warp->program;
    return same_shared(t, pair) && same_words(t, pair, "private memory", p->private_base,
                                              p->private_base, p->frame_base - p->private_base);
}

/* A false sync names the first thread that is elsewhere, a warp the first that is there. */
static bool same_status(const struct phi_trace *t)
{
    const struct machine_head *w = t->warp->head, *phi = t->phi->head;
    if (w->status != phi->status)
        return false;
    return w->status == STATUS_RUNNING || w->status == STATUS_TERMINATED ||
           w->status == STATUS_BARRIER_DIVERGENCE || w->fault_thread == phi->fault_thread;
}

/* Whether there is more to compare. */
static bool compare(struct phi_trace *t, const struct phi_pair *pair)
{
    bool error =
        machine_status(t->warp) != STATUS_RUNNING && machine_status(t->warp) != STATUS_TERMINATED;
    if (pair->warp.stm != pair->phi.stm)
        report_event(t, pair,
                     pair->warp.stm == CODE_NONE || pair->phi.stm == CODE_NONE ? "end"
                                                                               : "statement");
    else if (pair->warp.stm != CODE_NONE && pair->warp.lanes != pair->phi.lanes)
        report_event(t, pair, "lanes");
    else if (pair->warp.stm != CODE_NONE && (error || machine_status(t->phi) != STATUS_RUNNING)) {
        if (!same_status(t))
            report_status(t, pair);
        return false;
    } else if (pair->warp.stm == CODE_NONE) {
        same_memory(t, pair);
        return false;
    } else if (!image_same_accesses(&t->warp_accesses, &t->phi_accesses)) {
        report_accesses(t, pair);
    } else if (same_written(t, pair) && same_places(t, pair) && t->events % PERIOD == 0) {
        same_memory(t, pair);
    }
    return !t->lost;
}

/* ---- executions ---- */

static void begin(struct phi_trace *t)
{
    machine_reset(t->warp);
    machine_reset(t->phi);
    machine_observe(t->warp, &t->warp_accesses.observer);
    machine_observe(t->phi, &t->phi_accesses.observer);
    t->events = t->steps = 0;
    t->lost = false;
}

enum status phi_trace_run(struct phi_trace *t, uint64_t budget_steps)
{
    begin(t);
    for (uint32_t block = 0; block < t->warp->actor_count && !t->lost; block++) {
        struct phi_pair pair = {.block = block};
        do {
            pair.warp = next_of_warp(t, block, budget_steps);
            pair.phi = next_of_phi(t, block, budget_steps);
            if (t->steps >= budget_steps)
                return STATUS_STEP_LIMIT;
            if (machine_status(t->warp) == STATUS_CALL_DEPTH)
                return STATUS_CALL_DEPTH; /* where there are no calls, they cannot be too deep */
            t->events++;
        } while (compare(t, &pair));
        if (machine_status(t->warp) != STATUS_RUNNING)
            break;
    }
    if (!t->lost && !same_status(t)) {
        const struct phi_pair end = {.warp = {.stm = CODE_NONE, .rule = RULE_NONE},
                                     .phi = {.stm = CODE_NONE}};
        report_status(t, &end);
    }
    return machine_status(t->warp);
}

/* ---- the oracle ---- */

struct phi_order {
    enum subject_id subject;
    enum program_id p, phi;
};

static const struct phi_order orders[] = {
    {SUBJECT_SIMT, PROGRAM_ANCHORED, PROGRAM_LOCKSTEP_ANCHORED},
    {SUBJECT_SIMT_THEN, PROGRAM_ANCHORED_THEN, PROGRAM_LOCKSTEP_ANCHORED_THEN},
};

struct ast_kernel *phi_besides(struct arena *arena, const struct ast_kernel *kernel,
                               const struct check_options *options)
{
    (void)options;
    if (kernel->launch.warp >= kernel->launch.threads)
        return NULL;
    struct ast_kernel *copy = ast_kernel_copy(arena, kernel);
    copy->launch.warp = copy->launch.threads;
    return copy;
}

static struct forms *forms_of_one_warp(struct checking *c)
{
    struct ast_kernel *kernel = phi_besides(c->arena, c->kernel, c->options);
    return kernel ? forms_new(c->arena, kernel) : c->forms;
}

/* NULL: compared; or why not. */
static const char *judge_order(struct checking *c, struct forms *forms,
                               const struct phi_order *order)
{
    const struct subject_info *info = &subject_table[order->subject];
    const struct machine_options untracked = {0};
    if (!explore_runs(c, order->subject))
        return c->result->runs[order->subject].reason;
    const struct form *core = forms_get(forms, PROGRAM_CORE), *p = forms_get(forms, order->p);
    const struct form *phi = forms_get(forms, order->phi);
    if (!core->program || !phi->program)
        return core->program ? phi->reason : core->reason;
    if (phi->program->function_count > 1)
        return "recursion: a call is a step of its own there";
    struct phi_trace *t = phi_trace_new(
        c->arena, machine_new(c->arena, info->vtable, core->program, &info->options),
        machine_new(c->arena, &semantics_lockstep, phi->program, &untracked), p->program);
    t->answer = &c->result->answers[ORACLE_PHI];
    t->subject = order->subject;
    (void)phi_trace_run(t, c->options->budget_steps);
    t->answer->checked += t->events;
    return NULL;
}

/* With a seed (of schedules) other than 0, as campaigns have, one of the two orders, as the seed says. */
void phi_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_PHI];
    uint64_t seed = c->options->seed, draw = pcg_splitmix(seed);
    if (c->kernel->form != FORM_STRUCTURED) {
        answer->reason = "a block program, which no warp executes";
        return;
    }
    if (c->kernel->launch.threads > LIMIT_WARP) {
        answer->reason = "more threads than a warp can have";
        return;
    }
    struct forms *forms = forms_of_one_warp(c);
    const char *reason = NULL;
    for (uint32_t i = 0; i < 2 && !reason && answer->verdict != VERDICT_DIVERGE; i++)
        if (seed == 0 || draw % 2 == i)
            reason = judge_order(c, forms, &orders[i]);
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    answer->verdict = reason ? VERDICT_NOT_APPLICABLE : VERDICT_AGREE;
    answer->reason = reason ? reason : "the same events, with the same memory after each";
}
