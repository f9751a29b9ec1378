/*
 * reductions.c - R1 to R4 against the engine that has none of them (memory-device, A.4, I, G.10; MEM.inv.10).
 *
 *  walk       An execution without R1, R2, R3, by chance: MEM.inv.* in each state, MEM.inv.10 over each micro step and
 *             silent rule. R2 rests on it.
 *  diamonds   An execution with R2 and R3, by chance: diamonds.h. R4 rests on it.
 *  R1 .. R4   All outcomes of a small kernel, with all four and without one of them: the sets are equal.
 */
#include "oracle/memory/reductions.h"

#include "engine/base/pcg.h"
#include "engine/caches/caches.h"
#include "oracle/check/evidence.h"
#include "oracle/memory/outcome_sets.h"
#include "oracle/searches/diamonds.h"

enum { WALK_STEPS = 2048, DIAMOND_STEPS = 256, MEMORY_WORDS = 1024 };

struct judging {
    struct choices choices; /* first member: by chance */
    struct observer observer;
    struct checking *c;
    struct answer *answer;
    const struct outcome_base *base;
    uint8_t profile;
    struct pcg rng;
    /* walk */
    uint32_t *before, *after;
    uint64_t agreed_step;
    const char *broken;
    uint32_t stm;
    enum rule rule;
};

static uint32_t choose(struct choices *choices, uint32_t n)
{
    struct judging *j = (struct judging *)choices;
    return pcg_below(&j->rng, n);
}

static uint32_t pick(struct judging *j, const struct machine *machine)
{
    return machine->head->live[pcg_below(&j->rng, machine->head->live_count)];
}

static void diverge(struct judging *j, const char *class, const char *observable, uint32_t stm,
                    enum rule rule, const char *summary)
{
    struct evidence e;
    struct divergence *d = ARENA_NEW(j->c->arena, struct divergence);
    static const char *const profiles[] = {
        [MEMORY_PRINTED] = "printed", [MEMORY_LLH] = "llh", [MEMORY_COHERENT] = "coherent"};
    evidence_open(&e, j->c->arena);
    evidence_string(&e, "profile", profiles[j->profile]);
    *d = (struct divergence){.oracle = ORACLE_REDUCTIONS,
                             .class_name = class,
                             .rule = rule,
                             .observable = observable,
                             .subject = j->base->subject,
                             .line = evidence_line(j->base->program, stm),
                             .summary = summary};
    d->evidence = evidence_close(&e);
    answer_diverge(j->answer, d);
}

static struct memory_options reduced(const struct judging *j)
{
    return (struct memory_options){.profile = j->profile, .eager = true};
}

/* ---- the walk ---- */

static void see(void *context, const struct machine *machine, const struct step_event *event)
{
    struct judging *j = context;
    const struct program *program = machine->program;
    bool next = j->agreed_step && j->agreed_step + 1 == machine->steps;
    uint32_t *swap = j->before;
    if (j->broken || machine_status(machine) != STATUS_RUNNING)
        return;
    j->broken = caches_broken(machine);
    caches_agreed(machine, j->after);
    if (!j->broken && j->agreed_step)
        j->broken =
            caches_moved(machine, event, next ? program->memory_words : program->private_base,
                         j->before, j->after);
    j->before = j->after;
    j->after = swap;
    j->agreed_step = machine->steps;
    j->stm = event->stm;
    j->rule = event->rule;
    j->answer->checked++;
}

static void walk(struct judging *j)
{
    const struct outcome_base *base = j->base;
    struct memory_options memory = {
        .profile = j->profile, .full = true, .lazy = true, .flush = true};
    memory.l2_lines = (uint8_t)(1u << pcg_below(&j->rng, 4));
    j->observer = (struct observer){.context = j, .environment = see};
    const struct machine_options options = {.memory = memory, .observers = &j->observer};
    struct machine *machine = machine_new(j->c->arena, base->cached, base->program, &options);
    j->before = ARENA_ARRAY(j->c->arena, uint32_t, base->program->memory_words);
    j->after = ARENA_ARRAY(j->c->arena, uint32_t, base->program->memory_words);
    while (machine_status(machine) == STATUS_RUNNING && machine->steps < WALK_STEPS && !j->broken)
        machine_step(machine, pick(j, machine), &j->choices);
    if (j->broken)
        diverge(j, "invariant", j->broken, j->stm, j->rule, j->broken);
}

/* ---- diamonds ---- */

static void diamonds(struct judging *j)
{
    const struct outcome_base *base = j->base;
    const struct machine_options options = {.track = true, .memory = {.profile = j->profile}};
    uint32_t stm = CODE_NONE;
    struct machine *machine = machine_new(j->c->arena, base->cached, base->program, &options);
    const char *broken =
        diamonds_broken(j->c->arena, machine, &j->rng, DIAMOND_STEPS, &stm, &j->answer->checked);
    if (broken)
        diverge(j, "R4", "diamond", stm, RULE_NONE, broken);
}

/* ---- R1 to R4 ---- */

static const struct reduction {
    const char *name;
    bool lazy, full, flush, waking;
} reductions[] = {{.name = "R1", .lazy = true},
                  {.name = "R2", .full = true},
                  {.name = "R3", .flush = true},
                  {.name = "R4", .waking = true}};

static void told_apart(struct judging *j, const struct reduction *reduction, const char *observable)
{
    diverge(j, reduction->name, observable, CODE_NONE, RULE_NONE,
            arena_printf(j->c->arena, "with %s %s that all executions have", reduction->name,
                         observable));
}

/* False: too many states. */
static bool without(struct judging *j, const struct search_result *with,
                    const struct reduction *reduction)
{
    const struct outcome_base *base = j->base;
    struct memory_options memory = reduced(j);
    memory.lazy = reduction->lazy;
    memory.eager = !reduction->lazy;
    memory.full = reduction->full;
    memory.flush = reduction->flush;
    const struct search_result *all =
        outcome_search(j->c, base->cached, base->program, &memory,
                       reduction->waking ? SEARCH_STATES : SEARCH_SLEEP);
    if (!all->complete)
        return false;
    j->answer->checked++;
    if (search_missing(base->program, all, with))
        told_apart(j, reduction, "an outcome is missing");
    if (search_missing(base->program, with, all))
        told_apart(j, reduction, "an outcome is none");
    return true;
}

static void sets(struct judging *j)
{
    struct memory_options memory = reduced(j);
    const struct search_result *with =
        outcome_search(j->c, j->base->cached, j->base->program, &memory, SEARCH_SLEEP);
    uint32_t done = 0;
    for (uint32_t i = 0; with->complete && i < sizeof reductions / sizeof *reductions; i++)
        done += without(j, with, &reductions[i]);
    j->answer->reason =
        arena_printf(j->c->arena,
                     "an execution without R1 to R3 keeps the invariants, independent steps "
                     "commute; sets of outcomes without one of R1 to R4 compared: %u",
                     (unsigned)done);
}

void reductions_judge(struct checking *c)
{
    static const enum subject_id bases[] = {SUBJECT_BLOCK, SUBJECT_CRS};
    struct judging j = {.choices = {.choose = choose}, .c = c};
    bool second = pcg_splitmix(c->options->seed + 23) & 1;
    j.answer = &c->result->answers[ORACLE_REDUCTIONS];
    j.answer->verdict = VERDICT_NOT_APPLICABLE;
    j.base = outcome_base(c, bases + second, 2 - second, &j.answer->reason);
    if (!j.base && second)
        j.base = outcome_base(c, bases, 1, &j.answer->reason);
    if (!j.base)
        return;
    if (j.base->program->memory_words > MEMORY_WORDS) {
        j.answer->reason = "it has more than 1,024 words of memory";
        return;
    }
    pcg_seed(&j.rng, pcg_splitmix(c->options->seed), 23);
    j.profile = (uint8_t)(MEMORY_PRINTED + pcg_below(&j.rng, 3));
    j.answer->verdict = VERDICT_AGREE;
    walk(&j);
    diamonds(&j);
    sets(&j);
}
