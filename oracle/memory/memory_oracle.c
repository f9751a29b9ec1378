/*
 * memory_oracle.c - what caches may do to a kernel, and what not.
 *
 *  inclusion   A sequentially consistent execution is one of the caches': take its steps, let each instruction's
 *              operations run to their ends at once, and let clean lines go. After each step memory is the same,
 *              whatever the kernel does. Any profile; racy or not.
 *  memory      If no sequentially consistent execution has a race, and all end with one memory, then those with caches
 *              end, with that memory. Profile coherent only: as printed a thread's own accesses get out of order.
 *              Not where fences or releases are what orders: an L1 does not see them (docs/memory.md).
 *  invariant   MEM.inv.1 to 8, 11, 12 after every step, 10 over every micro step and silent rule of small memories
 *              (engine/caches/caches_invariant.c).
 */
#include "oracle/memory/memory_oracle.h"

#include "engine/base/pcg.h"
#include "engine/caches/caches.h"
#include "engine/program/ptx_code.h"
#include "oracle/check/evidence.h"

#include <string.h>

enum {
    AMPLE = 64,
    SHARE = 8,          /* of the budget: a replay takes no more */
    INVARIANTS = 20000, /* steps of a case after which they are asked */
    SMALL = 4096, /* words of memory that are compared after each step; larger ones at the end */
    AGREED = 256  /* the same of what all SMs agree on; of larger ones never */
};

struct memory_watching {
    struct observer observer;
    struct checking *c;
    enum subject_id subject;
    uint64_t steps, left;
    const char *broken; /* of the execution at hand */
    enum rule rule;
    uint32_t stm;
    uint32_t *agreed,
        *now; /* of small memories: what all SMs agreed on before the step, and agree on */
    uint64_t
        agreed_step; /* of the machine, behind which `agreed` is; 0: of no step of this execution */
};

static bool has_caches(enum subject_id subject)
{
    const struct semantics *vtable = subject_table[subject].vtable;
    return vtable && vtable->plain;
}

static bool is_coherent(enum subject_id subject)
{
    return subject_table[subject].options.memory.profile == MEMORY_COHERENT;
}

/* The ordinary subject with the same rules. */
static enum subject_id plain_of(enum subject_id subject)
{
    enum subject_id plain = 0;
    while (subject_table[plain].vtable != subject_table[subject].vtable->plain)
        plain++;
    return plain;
}

static struct divergence *new_divergence(struct checking *c, struct evidence *e,
                                         enum subject_id subject, const char *class,
                                         const char *observable)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_MEMORY,
                             .class_name = class,
                             .rule = RULE_NONE,
                             .observable = observable,
                             .subject = subject};
    evidence_open(e, c->arena);
    return d;
}

static void diverge(struct checking *c, struct divergence *d, struct evidence *e)
{
    d->evidence = evidence_close(e);
    answer_diverge(&c->result->answers[ORACLE_MEMORY], d);
}

/* ---- invariants ---- */

/* MEM.inv.10. Steps of warps in between write frames and parameters, in memory itself, and nothing else. */
static const char *look_at_agreed(struct memory_watching *w, const struct machine *machine,
                                  const struct step_event *event)
{
    const struct program *program = machine->program;
    uint32_t *before = w->agreed;
    const char *moved = NULL;
    bool next = w->agreed_step + 1 == machine->steps;
    caches_agreed(machine, w->now);
    if (w->agreed_step)
        moved = caches_moved(machine, event, next ? program->memory_words : program->private_base,
                             before, w->now);
    w->agreed = w->now;
    w->now = before;
    w->agreed_step = machine->steps;
    return moved;
}

static void look(struct memory_watching *w, const struct machine *machine,
                 const struct step_event *event)
{
    w->steps++;
    if (w->broken || w->left == 0 || machine_status(machine) != STATUS_RUNNING)
        return;
    w->left--;
    w->broken = caches_broken(machine);
    if (!w->broken && w->agreed)
        w->broken = look_at_agreed(w, machine, event);
    w->rule = event->rule;
    w->stm = event->stm;
}

static void see(void *context, const struct machine *machine, const struct step_event *event)
{
    look(context, machine, event);
}

const struct observer *memory_watch(struct checking *c, enum subject_id subject,
                                    const struct observer *behind)
{
    if (!oracle_asked(c, ORACLE_MEMORY) || !has_caches(subject))
        return behind;
    struct memory_watching *w = c->own[ORACLE_MEMORY];
    if (!w) {
        w = c->own[ORACLE_MEMORY] = ARENA_NEW(c->arena, struct memory_watching);
        w->left = INVARIANTS;
    }
    uint32_t words = c->subjects[subject].program->memory_words;
    w->c = c;
    w->subject = subject;
    w->broken = NULL;
    w->agreed_step = 0;
    w->agreed = words <= AGREED ? ARENA_ARRAY(c->arena, uint32_t, words) : NULL;
    w->now = words <= AGREED ? ARENA_ARRAY(c->arena, uint32_t, words) : NULL;
    w->observer = (struct observer){.context = w, .environment = see, .next = behind};
    return &w->observer;
}

void memory_ended(struct checking *c, const struct execution *execution)
{
    struct memory_watching *w = c->own[ORACLE_MEMORY];
    struct evidence e;
    if (!w || !w->broken || w->subject != execution->subject)
        return;
    struct divergence *d = new_divergence(c, &e, execution->subject, "invariant", w->broken);
    d->rule = w->rule;
    d->line = evidence_line(c->subjects[execution->subject].program, w->stm);
    evidence_number(&e, "step", (int64_t)w->steps);
    d->summary = w->broken;
    diverge(c, d, &e);
}

/* ---- inclusion ---- */

struct replay {
    struct choices choices; /* first member */
    struct checking *c;
    enum subject_id subject;
    struct machine *plain, *cached;
};

/* Of several lanes the first, on both sides. */
static uint32_t choose_first(struct choices *choices, uint32_t n)
{
    (void)choices;
    (void)n;
    return 0;
}

static bool is_live(const struct machine *machine, uint32_t actor)
{
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        if (machine->head->live[i] == actor)
            return true;
    return false;
}

/* Everything that is under way ends, and clean lines go. */
static void settle(struct replay *r)
{
    struct machine *m = r->cached;
    while (machine_status(m) == STATUS_RUNNING) {
        uint32_t i = 0;
        while (i < m->head->live_count && m->head->live[i] < m->actor_count)
            i++;
        if (i == m->head->live_count)
            return;
        machine_step(m, m->head->live[i], &r->choices);
    }
}

static bool same_memory(const struct replay *r)
{
    return memcmp(r->plain->memory, r->cached->memory,
                  (size_t)r->plain->program->private_base * sizeof(int32_t)) == 0;
}

static void excluded(struct replay *r, uint32_t actor, uint32_t stm, const char *observable)
{
    struct evidence e;
    struct divergence *d = new_divergence(r->c, &e, r->subject, "inclusion", observable);
    const struct program *program = r->plain->program;
    d->line = evidence_line(program, stm);
    evidence_number(&e, "step", (int64_t)r->plain->steps);
    evidence_number(&e, "actor", actor);
    evidence_string(&e, "status", status_names[machine_status(r->plain)]);
    evidence_string(&e, "status with caches", status_names[machine_status(r->cached)]);
    d->summary = arena_printf(
        r->c->arena, "a sequentially consistent execution is none of %s: at %s they differ in: %s",
        subject_table[r->subject].name, evidence_statement(r->c->arena, program, stm), observable);
    diverge(r->c, d, &e);
}

static void replay(struct checking *c, enum subject_id subject)
{
    const struct subject_info *info = &subject_table[subject];
    const struct program *program = c->subjects[subject].program;
    struct machine_options plain = {.block_options = info->options.block_options};
    struct replay r = {.choices = {.choose = choose_first}, .c = c, .subject = subject};
    r.plain = machine_new(c->arena, info->vtable->plain, program, &plain);
    r.cached = machine_new(c->arena, info->vtable, program, &info->options);
    uint64_t budget = c->options->budget_steps / SHARE;
    bool small = program->private_base <= SMALL;
    uint32_t actor = 0, stm = CODE_NONE;
    while (machine_status(r.plain) == STATUS_RUNNING && r.plain->steps < budget) {
        uint64_t draw = pcg_splitmix(c->options->seed + 7 + r.plain->steps);
        actor = r.plain->head->live[draw % r.plain->head->live_count];
        stm = r.plain->semantics->next_stm(r.plain, actor);
        if (!is_live(r.cached, actor)) {
            excluded(&r, actor, stm, "who can step");
            return;
        }
        machine_step(r.plain, actor, &r.choices);
        machine_step(r.cached, actor, &r.choices);
        settle(&r);
        c->result->answers[ORACLE_MEMORY].checked++;
        if (machine_status(r.plain) != machine_status(r.cached)) {
            excluded(&r, actor, stm, "status");
            return;
        }
        if (small && !same_memory(&r)) {
            excluded(&r, actor, stm, "memory");
            return;
        }
    }
    if (!same_memory(&r))
        excluded(&r, actor, stm, "memory");
}

/* ---- race-free kernels ---- */

/* Why nothing follows for the caches; NULL: something does. */
static const char *no_hypothesis(const struct checking *c, enum subject_id plain)
{
    const struct check_run *run = &c->result->runs[plain];
    if (c->incomparable)
        return c->incomparable;
    if (c->scoped)
        return "fences, releases or scopes order its accesses, which an L1 does not see";
    if (run->race || run->race_unknown || run->race_incomplete)
        return run->race ? "it has a race" : "nothing is known of its races";
    if (run->statuses[STATUS_TERMINATED] != run->schedules || run->schedules == 0)
        return "not every sequentially consistent execution ends well";
    if (run->final_count != 1 || run->more_finals)
        return "its sequentially consistent executions have several ends";
    return NULL;
}

/* Whether an execution's barriers were reached in parts, or a branch's targets were chosen: lock-step decides then. */
static const char *is_apart(const struct checking *c, enum subject_id subject)
{
    for (uint32_t i = 0; i < c->execution_count; i++)
        if (c->executions[i]->subject == subject && c->executions[i]->apart)
            return "a warp comes to a barrier in parts, or to several targets";
    return NULL;
}

static void differ(struct checking *c, enum subject_id subject, const char *class,
                   const char *observable)
{
    struct evidence e;
    enum subject_id plain = plain_of(subject);
    struct divergence *d = new_divergence(c, &e, subject, class, observable);
    evidence_string(&e, "other_subject", subject_table[plain].name);
    d->summary = arena_printf(
        c->arena, "no sequentially consistent execution has a race, and %s ends well, but %s",
        subject_table[plain].name, observable);
    diverge(c, d, &e);
}

static void compare_ends(struct checking *c, enum subject_id subject)
{
    const struct check_run *plain = &c->result->runs[plain_of(subject)];
    const struct check_run *run = &c->result->runs[subject];
    const size_t bytes = (size_t)c->subjects[subject].program->private_base * sizeof(int32_t);
    for (uint32_t s = 0; s < STATUS_COUNT; s++)
        if (s != STATUS_TERMINATED && s != STATUS_STEP_LIMIT && run->statuses[s] > 0)
            differ(c, subject, "memory",
                   arena_printf(c->arena, "an execution with caches ends %s", status_names[s]));
    for (uint32_t i = 0; i < run->final_count; i++) {
        c->result->answers[ORACLE_MEMORY].checked++;
        if (memcmp(run->finals[i], plain->finals[0], bytes) != 0)
            differ(c, subject, "memory", "caches end with another memory");
    }
}

/* Whether a load may be of an L1: of global memory. */
static bool reads_lines(const struct program *program)
{
    for (uint32_t pc = 1; pc < program->ptx->count; pc++) {
        const struct ptx_op *op = &program->ptx->ops[pc];
        if (op->exec == PTX_EXEC_LD && (op->space == PTX_W_GLOBAL || op->space == PTX_W_NONE))
            return true;
    }
    return false;
}

/* A kernel that waits for a value by plain loads: it may be the L1's old one, for as long as the line stays. Where no
 * load is of an L1, accesses that change places are all that is left. */
static void name_spin(struct checking *c, enum subject_id subject)
{
    const struct check_run *plain = &c->result->runs[plain_of(subject)];
    const struct check_run *run = &c->result->runs[subject];
    uint32_t endless = run->statuses[STATUS_NONTERMINATING] + run->statuses[STATUS_STEP_LIMIT];
    struct evidence e;
    /* The budget is the same, though caches take more steps for the same: it must be ample. */
    bool ample =
        plain->schedules && AMPLE * plain->steps / plain->schedules < c->options->budget_steps;
    if (endless == 0 || !ample || plain->statuses[STATUS_TERMINATED] != plain->schedules ||
        !plain->race)
        return;
    bool lines = reads_lines(c->subjects[subject].program);
    struct divergence *d = new_divergence(c, &e, subject, "stale-spin",
                                          lines ? "termination" : "termination without an L1");
    evidence_string(&e, "other_subject", subject_table[plain_of(subject)].name);
    evidence_number(&e, "executions", endless);
    d->known = "STALE";
    d->summary =
        arena_printf(c->arena,
                     "%s ends in all executions that were explored; with caches %u do not within "
                     "their budget: %s",
                     subject_table[plain_of(subject)].name, (unsigned)endless,
                     lines ? "a line that is read again and again may stay old"
                           : "accesses of a thread change places again and again");
    diverge(c, d, &e);
}

/* ---- the answer ---- */

static void judge_subject(struct checking *c, enum subject_id subject, const char **why)
{
    enum subject_id plain = plain_of(subject);
    replay(c, subject);
    if (!explore_runs(c, plain))
        return;
    name_spin(c, subject);
    if (!is_coherent(subject))
        return;
    const char *reason = no_hypothesis(c, plain);
    if (!reason)
        reason = is_apart(c, plain);
    if (!reason)
        reason = is_apart(c, subject);
    if (reason)
        *why = reason;
    else
        compare_ends(c, subject);
}

void memory_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_MEMORY];
    const char *why = NULL;
    bool any = false;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        any |= has_caches((enum subject_id)s) && explore_runs(c, (enum subject_id)s);
    if (!any && answer->verdict != VERDICT_DIVERGE) {
        answer->verdict = VERDICT_NOT_APPLICABLE;
        answer->reason = "no subject with caches was run";
        return;
    }
    if (answer->verdict != VERDICT_DIVERGE)
        answer->verdict = VERDICT_AGREE;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (has_caches((enum subject_id)s) && explore_runs(c, (enum subject_id)s))
            judge_subject(c, (enum subject_id)s, &why);
    answer->reason = why ? arena_printf(c->arena,
                                        "sequentially consistent executions are among those of "
                                        "caches; ends are not compared: %s",
                                        why)
                         : "caches end as sequentially consistent memory does";
}
