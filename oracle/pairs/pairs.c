#include "oracle/pairs/pairs.h"

#include "engine/base/pcg.h"
#include "engine/machine/live.h"
#include "engine/pairs/tutorial.h"
#include "oracle/check/evidence.h"
#include "oracle/check/record.h"
#include "oracle/pairs/pairs_account.h"

#include <string.h>

/* The stores of P after its barriers, and their use as havocs. */
struct stores {
    struct observer observer;
    struct arena *arena;
    const int32_t **list; /* private_base words each */
    uint32_t count, capacity;
    struct barrier_havoc havoc;
    uint32_t next; /* of the execution of a pair */
};

struct guided {
    struct arena *arena;
    const struct pairs_case *given;
    enum oracle_id oracle;
    enum subject_id subject;
    struct answer answer;
    struct stores stores;
    struct race_detector *detector; /* of the execution at hand */

    /* The execution of P, up to its defect. */
    struct machine *machine;
    struct tape *tape;
    uint64_t inner_choices;
    enum status status;
    bool race;
    bool clean; /* terminated, no race */
    struct race_witness witness;
    uint32_t fault_thread, fault_stm; /* of an error */
    uint32_t pair[2];                 /* s, t */
};

/* ---- stores ---- */

static void keep_store(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct stores *stores = context;
    uint32_t words = machine->program->private_base;
    if (!event->all)
        return;
    if (stores->count == stores->capacity) {
        uint32_t capacity = 2 * stores->capacity + 8;
        const int32_t **grown = ARENA_ARRAY(stores->arena, const int32_t *, capacity);
        if (stores->count)
            memcpy(grown, stores->list, stores->count * sizeof *grown);
        stores->list = grown;
        stores->capacity = capacity;
    }
    int32_t *copy = ARENA_ARRAY(stores->arena, int32_t, words);
    memcpy(copy, machine->memory, words * sizeof *copy);
    stores->list[stores->count++] = copy;
}

static void put_store(void *context, struct machine *machine, uint32_t block)
{
    struct stores *stores = context;
    (void)block;
    if (stores->next == stores->count)
        return; /* beyond the defect */
    const int32_t *store = stores->list[stores->next++];
    for (uint32_t i = 0; i < machine->program->private_base; i++)
        if (machine->memory[i] != store[i])
            machine_poke(machine, i, store[i]);
}

/* ---- the execution of P ---- */

/* Runs P until its first race, its end, or the budget. */
static void run_whole(struct guided *g)
{
    const struct machine_options options = {0};
    struct scheduler scheduler;
    struct recorder recorder;
    g->machine = machine_new(g->arena, g->given->semantics, g->given->program, &options);
    g->detector = race_new(g->arena, g->given->program);
    g->detector->observer.next = &g->stores.observer;
    race_begin(g->detector);
    race_watch(g->detector, g->machine);
    machine_observe(g->machine, &g->detector->observer);
    sched_start(&scheduler, &g->given->schedule, g->machine, g->arena);
    g->tape = tape_new(g->arena, 0);
    recorder_start(&recorder, &scheduler.choices, g->tape, g->arena);
    while (machine_status(g->machine) == STATUS_RUNNING && !g->detector->found &&
           g->machine->steps < g->given->budget_steps) {
        uint32_t index = recorder.choices.pick(&recorder.choices, g->machine);
        machine_step(g->machine, g->machine->head->live[index], &recorder.choices);
    }
    g->status = machine_status(g->machine);
    g->race = g->detector->found;
    g->clean = g->status == STATUS_TERMINATED && !g->race;
    g->witness = g->detector->witness;
    g->fault_thread = g->machine->head->fault_thread;
    g->fault_stm = g->machine->head->fault_stm;
    g->inner_choices = recorder.inner_choices;
}

/* Two threads that are not at one barrier: of a block that cannot go on there must be such. */
static void divided_pair(struct guided *g)
{
    const struct machine *machine = g->machine;
    const struct semantics *semantics = machine->semantics;
    uint32_t first = 0;
    while (first + 1 < machine->actor_count && semantics->next_stm(machine, first) == CODE_NONE)
        first++; /* the bound: for faults planted into machines */
    for (uint32_t other = 0; other < machine->actor_count; other++)
        if (other != first && (semantics->next_stm(machine, other) == CODE_NONE ||
                               !semantics->same_barrier(machine, first, other))) {
            g->pair[0] = first;
            g->pair[1] = other;
        }
}

/* Any two; often neighbours, who communicate more than others. */
static void any_pair(struct guided *g)
{
    enum { NEAR = 4 };
    uint32_t threads = g->given->program->total_threads;
    uint64_t draw = pcg_splitmix(g->given->seed);
    uint32_t others = draw >> 63 && threads > NEAR ? NEAR - 1 : threads - 1;
    g->pair[0] = (uint32_t)(draw % threads);
    g->pair[1] = (g->pair[0] + 1 + (uint32_t)((draw >> 32 & 0xffff) % others)) % threads;
}

/* The pair that the proof of Thm. C.2 takes. */
static void choose_pair(struct guided *g)
{
    if (g->clean) {
        any_pair(g);
    } else if (g->race) {
        g->pair[0] = g->witness.first.thread;
        g->pair[1] = g->witness.second.thread;
    } else if (g->status == STATUS_BARRIER_DIVERGENCE) {
        divided_pair(g);
    } else {
        g->pair[0] = g->fault_thread;
        g->pair[1] = (g->pair[0] + 1) % g->given->program->total_threads;
    }
}

/* Why there is nothing to ask; NULL: there is a defect, or the execution is clean. */
static const char *says_nothing(const struct guided *g)
{
    if (g->inner_choices > 0)
        return "choices of the scheduler inside steps";
    if (g->race || g->status == STATUS_TERMINATED || pairs_is_defect(g->status))
        return NULL;
    if (g->status == STATUS_RUNNING)
        return "the execution spent its budget";
    return "the execution ends neither well nor with a defect";
}

/* ---- divergences ---- */

static const char *end_sentence(const struct guided *g)
{
    if (g->clean)
        return "terminates without a race";
    if (g->race)
        return evidence_race_sentence(g->arena, g->given->program, &g->witness);
    return arena_printf(g->arena, "thread %u: %s at %s", g->fault_thread, status_names[g->status],
                        evidence_statement(g->arena, g->given->program, g->fault_stm));
}

static void diverge(struct guided *g, const char *class_name, const char *observable,
                    enum rule rule, const char *what)
{
    struct evidence e;
    struct divergence *d = ARENA_NEW(g->arena, struct divergence);
    evidence_open(&e, g->arena);
    evidence_string(&e, "end", end_sentence(g));
    evidence_number(&e, "s", g->pair[0]);
    evidence_number(&e, "t", g->pair[1]);
    evidence_number(&e, "barriers", g->stores.count);
    evidence_string(&e, "pair", what);
    *d = (struct divergence){.oracle = g->oracle,
                             .class_name = class_name,
                             .rule = rule,
                             .observable = observable,
                             .subject = g->subject,
                             .evidence = evidence_close(&e),
                             .tape = g->tape};
    d->line = evidence_line(g->given->program, g->race ? g->witness.second.stm : g->fault_stm);
    d->summary = arena_printf(g->arena, "%s, but not so the pair (%u, %u) alone: %s",
                              end_sentence(g), g->pair[0], g->pair[1], what);
    g->answer.verdict = VERDICT_DIVERGE;
    answer_diverge(&g->answer, d);
}

/* ---- C.2: P_{s,t}, step by step ---- */

static struct machine *pair_machine(struct guided *g, const struct semantics *semantics,
                                    const struct program *program)
{
    struct machine_options options = {.pair_count = 2, .barrier_havoc = &g->stores.havoc};
    options.pair[0] = g->pair[0] < g->pair[1] ? g->pair[0] : g->pair[1];
    options.pair[1] = g->pair[0] < g->pair[1] ? g->pair[1] : g->pair[0];
    struct machine *machine = machine_new(g->arena, semantics, program, &options);
    g->stores.next = 0;
    g->detector = race_new(g->arena, program);
    race_begin(g->detector);
    race_watch(g->detector, machine);
    machine_observe(machine, &g->detector->observer);
    g->answer.checked++;
    return machine;
}

static bool same_race(const struct race_witness *a, const struct race_witness *b)
{
    return a->address == b->address && a->first.thread == b->first.thread &&
           a->first.kind == b->first.kind && a->second.thread == b->second.thread &&
           a->second.kind == b->second.kind && a->second.stm == b->second.stm;
}

static bool same_words(const struct guided *g, const struct machine *pair, uint32_t from,
                       uint32_t words)
{
    return memcmp(g->machine->memory + from, pair->memory + from, words * sizeof(int32_t)) == 0;
}

/* Both have terminated: what is private to s and t. */
static bool same_privates(const struct guided *g, const struct machine *pair)
{
    const uint32_t *words = pair->program->words;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t *base = pair->threads[g->pair[i]].base;
        if (!same_words(g, pair, base[SPACE_PRIVATE], words[SPACE_PRIVATE]))
            return false;
    }
    return true;
}

/* A race is one, a status another. */
static const char *end_name(const struct guided *g, const struct machine *pair)
{
    return g->detector->found ? "race" : status_names[machine_status(pair)];
}

static void compare_clean(struct guided *g, const struct machine *pair)
{
    if (g->detector->found || machine_status(pair) != STATUS_TERMINATED)
        diverge(g, "C.2", end_name(g, pair), RULE_NONE, end_name(g, pair));
    else if (!same_privates(g, pair))
        diverge(g, "C.2", "private memory", RULE_NONE, "its private memory is another");
}

/* Whether the pair, at the end of its steps, has P's defect. */
static void compare_end(struct guided *g, const struct machine *pair)
{
    const struct machine_head *head = pair->head;
    if (g->clean)
        compare_clean(g, pair);
    else if (g->race && !g->detector->found)
        diverge(g, "C.2", "race", RULE_NONE, "it has no race");
    else if (g->race && !same_race(&g->witness, &g->detector->witness))
        diverge(g, "C.2", "race", RULE_NONE,
                evidence_race_sentence(g->arena, g->given->program, &g->detector->witness));
    else if (!g->race && head->status != (uint32_t)g->status)
        diverge(g, "C.2", "status", RULE_NONE, status_names[head->status]);
    else if (!g->race && g->status != STATUS_BARRIER_DIVERGENCE &&
             (head->fault_thread != g->fault_thread || head->fault_stm != g->fault_stm))
        diverge(g, "C.2", "status", RULE_NONE, "the error is another thread's or statement's");
}

/* The execution of P again, the pair beside it. */
static void follow(struct guided *g)
{
    struct machine *whole = g->machine;
    struct machine *pair = pair_machine(g, g->given->semantics, g->given->program);
    struct scheduler nobody;
    sched_start(&nobody, &(struct sched_spec){.kind = SCHED_SEQUENTIAL}, whole, g->arena);
    machine_observe(whole, NULL);
    machine_reset(whole);
    for (uint32_t i = 0; i < g->tape->count; i++) {
        uint32_t actor = g->tape->entries[i];
        enum rule rule = machine_step(whole, actor, &nobody.choices);
        if (actor != g->pair[0] && actor != g->pair[1])
            continue;
        if (machine_status(pair) != STATUS_RUNNING || !is_live(pair, actor)) {
            diverge(g, "C.2", "rule", rule,
                    arena_printf(g->arena, "after %llu steps thread %u cannot step",
                                 (unsigned long long)pair->steps, actor));
            return;
        }
        enum rule taken = machine_step(pair, actor, &nobody.choices);
        if (taken != rule) {
            diverge(
                g, "C.2", "rule", rule,
                arena_printf(g->arena, "thread %u takes rule %s", actor, rule_table[taken].name));
            return;
        }
    }
    compare_end(g, pair);
}

/* ---- C.3: phi(P_{s,t}) ---- */

static bool follow_lockstep(struct guided *g)
{
    const struct pairs_case *given = g->given;
    if (!given->lockstep)
        return true;
    struct machine *pair = pair_machine(g, given->lockstep_semantics, given->lockstep);
    struct scheduler scheduler;
    sched_start(&scheduler, &(struct sched_spec){.kind = SCHED_SEQUENTIAL}, pair, g->arena);
    enum status status = machine_run(pair, &scheduler.choices, given->budget_steps, NULL);
    bool clean = status == STATUS_TERMINATED && !g->detector->found;
    if (g->clean && !clean && status != STATUS_STEP_LIMIT)
        diverge(g, "C.3", end_name(g, pair), RULE_NONE,
                arena_printf(g->arena, "in lock-step: %s", end_name(g, pair)));
    if (g->detector->found)
        return true;
    if (clean && !g->clean)
        diverge(g, "C.3", "status", RULE_NONE, "in lock-step it is clean");
    return status != STATUS_STEP_LIMIT && status != STATUS_INFEASIBLE;
}

/* ---- the tutorial's translation ---- */

/* What the runs of the translation have found: LOG_1; CHECK_2 in both orders, and s before t. */
static void judge_tutorial(struct guided *g, const struct tutorial_result *results)
{
    bool clean[PAIRS_RUNS];
    for (uint32_t i = 0; i < PAIRS_RUNS; i++) {
        clean[i] = results[i].verdict == TUTORIAL_CLEAN;
        if (!clean[i] && results[i].verdict != TUTORIAL_BUDGET && g->clean)
            diverge(g, "tutorial", tutorial_verdict_names[results[i].verdict], RULE_NONE,
                    arena_printf(g->arena, "the translation finds: %s",
                                 tutorial_verdict_names[results[i].verdict]));
    }
    if (!g->clean && ((clean[0] && clean[1]) || clean[2]))
        diverge(g, "tutorial", "status", RULE_NONE,
                clean[2] ? "the translation finds it clean, s before t"
                         : "the translation finds it clean in both orders");
}

static bool follow_tutorial(struct guided *g)
{
    const struct program *core = g->given->core;
    struct tutorial_result kept[PAIRS_RUNS], results[PAIRS_RUNS];
    const char *reason;
    bool ended = true, found = false;
    if (!core || core->private_base != g->given->program->private_base ||
        !tutorial_applies(g->arena, core, &reason))
        return true;
    struct pairs_account account = {.core = core,
                                    .s = g->pair[0],
                                    .t = g->pair[1],
                                    .stores = g->stores.list,
                                    .store_count = g->stores.count,
                                    .budget_steps = g->given->budget_steps,
                                    .hits = g->given->hits};
    const char *difference = pairs_account(g->arena, &account, results);
    account.stores = NULL;
    if (!difference)
        difference = pairs_account(g->arena, &account, kept);
    if (difference)
        diverge(g, "account", "end", RULE_NONE, difference);
    judge_tutorial(g, results);
    for (uint32_t i = 0; i < PAIRS_RUNS; i++) {
        ended &= results[i].verdict != TUTORIAL_BUDGET;
        found |= results[i].verdict != TUTORIAL_BUDGET && results[i].verdict != TUTORIAL_CLEAN;
    }
    g->answer.checked += PAIRS_RUNS;
    return ended || found;
}

/* ---- */

static const char *not_applicable(const struct program *program)
{
    if (program->launch.blocks > 1)
        return "several blocks: the theorem is about the threads of one";
    if (program->total_threads < 2)
        return "one thread: there is no pair (the theorem needs TS >= 2)";
    if (program_chooses_by_memory(program))
        return "choices depend on memory that is read unseen";
    return program->has_atomics ? "atomics: their order decides values without a race" : NULL;
}

struct answer pairs_guided(struct arena *arena, const struct pairs_case *given,
                           enum oracle_id oracle, enum subject_id subject)
{
    struct guided g = {.arena = arena, .given = given, .oracle = oracle, .subject = subject};
    g.answer.verdict = VERDICT_NOT_APPLICABLE;
    g.answer.reason = not_applicable(given->program);
    if (g.answer.reason)
        return g.answer;
    g.stores = (struct stores){.observer = {.context = &g.stores, .barrier = keep_store},
                               .arena = arena,
                               .havoc = {put_store, &g.stores}};
    run_whole(&g);
    g.answer.reason = says_nothing(&g);
    if (g.answer.reason)
        return g.answer;
    g.answer.verdict = VERDICT_AGREE;
    choose_pair(&g);
    follow(&g);
    bool decided = follow_lockstep(&g);
    decided &= follow_tutorial(&g);
    if (g.answer.verdict == VERDICT_DIVERGE)
        return g.answer;
    g.answer.verdict = decided ? VERDICT_AGREE : VERDICT_INCONCLUSIVE;
    g.answer.reason =
        decided ? arena_printf(arena, "%s: so %llu runs of the pair (%u, %u)", end_sentence(&g),
                               (unsigned long long)g.answer.checked, g.pair[0], g.pair[1])
                : "a run of the pair spent its budget, or is infeasible";
    return g.answer;
}
