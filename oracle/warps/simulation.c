#include "oracle/warps/simulation.h"

#include "engine/base/invariant.h"
#include "engine/machine/live.h"
#include "oracle/check/evidence.h"
#include "oracle/check/record.h"
#include "oracle/warps/projection.h"

#include <string.h>

enum {
    TAPE_CAPACITY = 512,     /* to begin with */
    WORDS_EVERY_STEP = 1024, /* memories up to this size are compared whole after each step */
    PERIOD = 64,             /* larger ones, and frames, after so many */
    EXTRA_STEPS = 4 /* tried when a stack differs: whether it is only late goes into the evidence */
};

/* One step of a warp, while it is replayed and compared. */
struct move {
    uint32_t warp;
    struct lemma_before before;
    struct warp_state after;
    enum rule rule;
    uint32_t stm;         /* CODE_NONE for tokens and inact */
    uint32_t total, most; /* thread steps: of all lanes, of one lane */
};

/* The thread rules that match a warp rule: for a lane whose guard holds, and for the others (or for
 * all, where there is no guard). */
static const struct {
    enum rule tt, ff;
} replay_rules[RULE_COUNT] = {
    [RULE_SIMT_SKIP] = {RULE_THR_SKIP, RULE_THR_SKIP},
    [RULE_SIMT_CALL] = {RULE_THR_CALL, RULE_THR_CALL},
    [RULE_SIMT_RETURN] = {RULE_THR_RETURN, RULE_THR_RETURN},
    [RULE_SIMT_BREAK] = {RULE_THR_BREAK, RULE_THR_BREAK},
    [RULE_SIMT_EXIT] = {RULE_THR_EXIT, RULE_THR_EXIT},
    [RULE_SIMT_ASSERT] = {RULE_THR_ASSERT, RULE_THR_ASSERT},
    [RULE_SIMT_ASSUME] = {RULE_THR_ASSUME, RULE_THR_ASSUME},
    [RULE_SIMT_BARRIER_REACH] = {RULE_THR_BARRIER_REACH, RULE_THR_BARRIER_REACH},
    [RULE_SIMT_BARRIER_DIV] = {RULE_THR_BARRIER_REACH, RULE_THR_BARRIER_REACH},
    [RULE_SIMT_IF] = {RULE_THR_IF_TT, RULE_THR_IF_FF},
    [RULE_SIMT_IF_THEN] = {RULE_THR_IF_TT, RULE_THR_IF_FF},
    [RULE_SIMT_WHILE] = {RULE_THR_WHILE_TT, RULE_THR_WHILE_FF},
    [RULE_SIMT_WHILE_CONT] = {RULE_THR_WHILE_CONT_TT, RULE_THR_WHILE_CONT_FF},
};

static uint32_t lowest_lane(lane_mask mask)
{
    return (uint32_t)__builtin_ctzll(mask);
}

/* ---- reports ---- */

static void open_evidence(const struct simulation *s, const struct move *m, struct evidence *e)
{
    evidence_open(e, s->arena);
    evidence_string(e, "subject", subject_table[s->subject].name);
    evidence_number(e, "step", (int64_t)s->warp_steps);
    evidence_number(e, "warp", m->warp);
    evidence_string(e, "rule", rule_table[m->rule].name);
    evidence_number(e, "line", evidence_line(s->program, m->stm));
    evidence_mask(e, "active_before", m->before.warp.theta, m->after.lanes);
    evidence_warp(e, "warp_after", s->program, &m->after);
}

/* What the signature consists of. */
static struct divergence describe(const struct simulation *s, const struct move *m,
                                  enum oracle_id oracle, const char *class_name,
                                  const char *observable)
{
    return (struct divergence){
        .oracle = oracle,
        .class_name = class_name,
        .rule = m->rule,
        .observable = observable,
        .subject = s->subject,
        .line = evidence_line(s->program, m->stm),
    };
}

static struct divergence *with_tape(const struct simulation *s, const struct divergence *described)
{
    struct divergence *d = ARENA_NEW(s->arena, struct divergence);
    *d = *described;
    d->tape = simulation_tape(s);
    return d;
}

static const char *where(const struct simulation *s, const struct move *m)
{
    return arena_printf(s->arena, "%s step %llu (%s%s%s)", subject_table[s->subject].name,
                        (unsigned long long)s->warp_steps, rule_table[m->rule].name,
                        m->stm == CODE_NONE ? "" : ", ",
                        m->stm == CODE_NONE ? ""
                                            : evidence_statement(s->arena, s->program, m->stm));
}

/* A contradiction to Theorem 1: from here on I no longer follows W. */
static void report(struct simulation *s, const struct move *m, const char *class_name,
                   const char *observable, struct evidence *e, const char *summary)
{
    s->lost = true;
    if (!s->answer)
        return;
    struct divergence described = describe(s, m, ORACLE_SIMULATION, class_name, observable);
    struct divergence *d = with_tape(s, &described);
    d->evidence = evidence_close(e);
    d->summary = summary;
    answer_diverge(s->answer, d);
}

static void report_lemma(struct simulation *s, const struct move *m, enum lemma lemma)
{
    if (lemma == LEMMA_NONE)
        return;
    struct divergence described =
        describe(s, m, ORACLE_LEMMAS, lemma_table[lemma].name,
                 lemma == LEMMA_4 || lemma == LEMMA_5 ? "thread steps" : "configuration");
    if (lemma == LEMMA_5 && s->strict && m->rule == RULE_SIMT_WHILE_CONT && m->most == 2)
        described.known = "A-4";
    if (!answer_wants(s->lemmas, &described))
        return;
    struct evidence e;
    open_evidence(s, m, &e);
    evidence_string(&e, "lemma", lemma_table[lemma].sentence);
    evidence_number(&e, "thread_steps", m->total);
    evidence_number(&e, "most_of_one_lane", m->most);
    struct divergence *d = with_tape(s, &described);
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(s->arena, "after %s it does not hold that %s", where(s, m),
                              lemma_table[lemma].sentence);
    answer_diverge(s->lemmas, d);
}

static void report_rule(struct simulation *s, const struct move *m, uint32_t lane,
                        enum rule expected, enum rule fired)
{
    struct evidence e;
    open_evidence(s, m, &e);
    evidence_number(&e, "lane", lane);
    evidence_string(&e, "expected_rule", rule_table[expected].name);
    evidence_string(&e, "fired_rule", rule_table[fired].name);
    report(s, m, "rule", "rule of an active lane", &e,
           arena_printf(s->arena, "at %s lane %u should take %s as a thread, but takes %s",
                        where(s, m), lane, rule_table[expected].name, rule_table[fired].name));
}

static void report_memory(struct simulation *s, const struct move *m, uint32_t address)
{
    static const char *const spaces[] = {"global memory", "shared memory", "private memory",
                                         "local memory"};
    const struct program *p = s->program;
    uint32_t space = address < p->shared_base    ? SPACE_GLOBAL
                     : address < p->private_base ? SPACE_SHARED
                     : address < p->frame_base   ? SPACE_PRIVATE
                                                 : SPACE_LOCAL;
    const char *name = space <= SPACE_SHARED ? program_location_name(s->arena, p, address)
                                             : arena_printf(s->arena, "word %u", address);
    struct evidence e;
    open_evidence(s, m, &e);
    evidence_string(&e, "location", name);
    evidence_number(&e, "warp_value", s->warps->memory[address]);
    evidence_number(&e, "threads_value", s->threads->memory[address]);
    report(s, m, "memory", spaces[space], &e,
           arena_printf(s->arena, "after %s %s is %d for the warp, %d for the threads", where(s, m),
                        name, s->warps->memory[address], s->threads->memory[address]));
}

static void report_status(struct simulation *s, const struct move *m)
{
    const struct machine_head *w = s->warps->head, *i = s->threads->head;
    struct evidence e;
    open_evidence(s, m, &e);
    evidence_string(&e, "warp_status", status_names[w->status]);
    evidence_number(&e, "warp_thread", w->fault_thread);
    evidence_string(&e, "threads_status", status_names[i->status]);
    evidence_number(&e, "threads_thread", i->fault_thread);
    report(s, m, "status", status_names[w->status == STATUS_RUNNING ? i->status : w->status], &e,
           arena_printf(s->arena, "after %s the warp's status is %s, the threads' %s", where(s, m),
                        status_names[w->status], status_names[i->status]));
}

/* Would the thread reach the projection with a few steps more? */
static uint32_t extra_steps_needed(struct simulation *s, const struct move *m, uint32_t lane)
{
    uint32_t thread = m->after.first_thread + lane;
    for (uint32_t extra = 1; extra <= EXTRA_STEPS; extra++) {
        if (!is_live(s->threads, thread) || machine_status(s->threads) != STATUS_RUNNING)
            return 0;
        machine_step(s->threads, thread, NULL);
        if (((projection_compare(&m->after, s->threads) >> lane) & 1) == 0)
            return extra;
    }
    return 0;
}

static void report_stack(struct simulation *s, const struct move *m, lane_mask differ)
{
    lane_mask active = differ & m->before.warp.theta;
    uint32_t lane = lowest_lane(active ? active : differ);
    const struct thread_state *T = threads_state(s->threads, m->after.first_thread + lane);
    stack_entry *projected = ARENA_ARRAY(s->arena, stack_entry, m->after.depth + 1);
    uint32_t depth = projection_lane(&m->after, lane, projected);
    struct evidence e;
    open_evidence(s, m, &e);
    evidence_number(&e, "lane", lane);
    evidence_mask(&e, "lanes_that_differ", differ, m->after.lanes);
    evidence_stack(&e, "projection", s->program, projected, NULL, depth, 0);
    evidence_stack(&e, "thread", s->program, T->stack, NULL, T->depth, 0);
    uint32_t extra = active ? extra_steps_needed(s, m, lane) : 0;
    if (extra)
        evidence_number(&e, "more_steps_needed", extra);
    const char *what = active ? "stack of an active lane" : "stack of an inactive lane";
    report(s, m, "stack", what, &e,
           arena_printf(s->arena, "after %s the projection of lane %u is not its thread's stack",
                        where(s, m), lane));
}

/* ---- the thread steps that the proof names ---- */

static bool ended_with_error(const struct machine *machine)
{
    enum status status = machine_status(machine);
    return status != STATUS_RUNNING && status != STATUS_TERMINATED;
}

/* Of I, barrier_divergence is judged when the step is complete: see follow_divergence. */
static bool thread_step(struct simulation *s, struct move *m, uint32_t lane, enum rule expected)
{
    uint32_t thread = m->after.first_thread + lane;
    enum rule fired = RULE_NONE;
    if (is_live(s->threads, thread) && machine_status(s->threads) == STATUS_RUNNING) {
        fired = machine_step(s->threads, thread, NULL);
        s->thread_steps++;
        m->total++;
    }
    if (fired != expected)
        report_rule(s, m, lane, expected, fired);
    else if (ended_with_error(s->threads) &&
             machine_status(s->threads) != STATUS_BARRIER_DIVERGENCE)
        report_status(s, m);
    return !s->lost;
}

static bool replay_assign(struct simulation *s, struct move *m)
{
    uint8_t order[LIMIT_WARP];
    uint32_t count = simt_last_write_order(s->warps, order);
    lane_mask written = 0;
    for (lane_mask rest = m->before.warp.theta; rest; rest &= rest - 1)
        if (!thread_step(s, m, lowest_lane(rest), RULE_THR_ASSIGN_RD))
            return false;
    for (uint32_t i = 0; i < count; i++) {
        written |= (lane_mask)1 << order[i];
        if (!thread_step(s, m, order[i], RULE_THR_ASSIGN_WR))
            return false;
    }
    /* The order was a permutation of the active lanes: otherwise a thread is left at its write, and
     * its stack differs. */
    m->most = written == m->before.warp.theta ? 2 : 1;
    return true;
}

/* One step of each active lane, in W's order. Were it no permutation of them, a thread would be left
 * where it is, and its stack differ. */
static bool replay_in_order(struct simulation *s, struct move *m, enum rule rule)
{
    uint8_t order[LIMIT_WARP];
    uint32_t count = simt_last_write_order(s->warps, order);
    m->most = 1;
    for (uint32_t i = 0; i < count; i++)
        if (!thread_step(s, m, order[i], rule))
            return false;
    return true;
}

/* The lanes of the active ones whose guard holds, as the state after the step tells. */
static lane_mask guard_holds(const struct move *m)
{
    if (m->rule == RULE_SIMT_IF)
        return m->before.warp.theta & ~m->after.theta;
    return m->after.theta;
}

static bool replay_lanes(struct simulation *s, struct move *m)
{
    lane_mask truth = guard_holds(m);
    m->most = m->before.warp.theta ? 1 : 0;
    for (lane_mask rest = m->before.warp.theta; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        bool tt = (truth >> lane) & 1;
        enum rule expected = tt ? replay_rules[m->rule].tt : replay_rules[m->rule].ff;
        if (!thread_step(s, m, lane, expected))
            return false;
        if (m->rule == RULE_SIMT_WHILE_CONT && !tt) {
            m->most = 2;
            if (!thread_step(s, m, lane, RULE_THR_CONTEXT))
                return false;
        }
    }
    return true;
}

static bool replay_token(struct simulation *s, struct move *m)
{
    enum entry_kind token = entry_kind(m->before.top);
    if (token == ENTRY_DIV || token == ENTRY_SYNC)
        return true;
    m->most = m->before.warp.theta ? 1 : 0;
    for (lane_mask rest = m->before.warp.theta; rest; rest &= rest - 1)
        if (!thread_step(s, m, lowest_lane(rest), RULE_THR_CONTEXT))
            return false;
    return true;
}

static bool replay(struct simulation *s, struct move *m)
{
    if (m->rule == RULE_SIMT_ASSIGN)
        return replay_assign(s, m);
    if (m->rule == RULE_SIMT_HAVOC)
        return replay_in_order(s, m, RULE_THR_HAVOC);
    if (m->rule == RULE_SIMT_ATOMIC)
        return replay_in_order(s, m, RULE_THR_ATOMIC);
    if (m->rule == RULE_SIMT_TOKEN)
        return replay_token(s, m);
    if (m->rule == RULE_SIMT_INACT)
        return true;
    if (m->rule < RULE_COUNT && replay_rules[m->rule].tt != replay_rules[RULE_SIMT_INACT].tt)
        return replay_lanes(s, m);
    report_rule(s, m, 0, RULE_NONE, m->rule); /* W is stuck, or took no rule of Table 2 */
    return false;
}

/* Both have an error in the same place. */
static bool same_fault(const struct simulation *s)
{
    const struct machine_head *w = s->warps->head, *i = s->threads->head;
    return i->status == w->status && i->fault_thread == w->fault_thread &&
           i->fault_stm == w->fault_stm;
}

/*
 * W ended with barrier_divergence. In the rule barrier_div some lanes are not there: the active threads
 * reach the barrier; the others are still on their way, so nothing else is claimed. Otherwise the last
 * warp of the block has stopped, and with it the last of the block's threads: I ends likewise.
 */
static void replay_divergence(struct simulation *s, struct move *m)
{
    if (!replay(s, m))
        return;
    if (m->rule == RULE_SIMT_BARRIER_DIV
            ? ended_with_error(s->threads) &&
                  machine_status(s->threads) != STATUS_BARRIER_DIVERGENCE
            : !same_fault(s))
        report_status(s, m);
    s->lost = true;
}

/* I ended with barrier_divergence while W goes on: threads that exit or return are final at once, but
 * their warp only when its tokens are gone. Then W cannot end well. */
static void follow_divergence(struct simulation *s, const struct move *m)
{
    if (machine_status(s->warps) == STATUS_TERMINATED)
        report_status(s, m);
}

/* W ended with an error: the thread that it names must end I with the same one, in the same place. */
static void replay_fault(struct simulation *s, struct move *m)
{
    uint32_t thread = s->warps->head->fault_thread, lane = thread - m->after.first_thread;
    bool active = lane < m->after.lanes && ((m->before.warp.theta >> lane) & 1);
    if (active && is_live(s->threads, thread)) {
        machine_step(s->threads, thread, NULL);
        s->thread_steps++;
    }
    if (!active || !same_fault(s))
        report_status(s, m);
    s->lost = true; /* I has ended too */
}

/* ---- comparisons ---- */

static bool compare_words(struct simulation *s, const struct move *m, uint32_t first, uint32_t end)
{
    const int32_t *w = s->warps->memory, *i = s->threads->memory;
    if (memcmp(w + first, i + first, (size_t)(end - first) * sizeof *w) == 0)
        return true;
    while (w[first] == i[first])
        first++;
    report_memory(s, m, first);
    return false;
}

/* The live frames of one thread: up to the end of that of the function it is in. A lane that has
 * returned keeps its frame in W until the call token goes. */
static bool compare_frames(struct simulation *s, const struct move *m, uint32_t thread)
{
    const struct program *p = s->program;
    const struct thread_state *T = threads_state(s->threads, thread);
    uint32_t function = 0;
    for (uint32_t i = T->depth; i-- > 0;)
        if (entry_kind(T->stack[i]) == ENTRY_CALL) {
            function = entry_callee(T->stack[i]);
            break;
        }
    uint32_t end = s->threads->threads[thread].base[SPACE_LOCAL];
    return compare_words(s, m, p->frame_base + thread * p->words[SPACE_LOCAL],
                         end + p->functions[function].frame_words);
}

static bool compare_active_frames(struct simulation *s, const struct move *m)
{
    for (lane_mask rest = m->before.warp.theta; rest; rest &= rest - 1)
        if (!compare_frames(s, m, m->after.first_thread + lowest_lane(rest)))
            return false;
    return true;
}

static bool compare_all(struct simulation *s, const struct move *m)
{
    if (!compare_words(s, m, 0, s->program->frame_base))
        return false;
    for (uint32_t thread = 0; thread < s->program->total_threads; thread++)
        if (!compare_frames(s, m, thread))
            return false;
    return true;
}

/* An active lane's frame begins at the same place in both. */
static bool compare_bases(struct simulation *s, const struct move *m)
{
    for (lane_mask rest = m->after.theta; rest; rest &= rest - 1) {
        uint32_t thread = m->after.first_thread + lowest_lane(rest);
        uint32_t w = s->warps->threads[thread].base[SPACE_LOCAL];
        uint32_t i = s->threads->threads[thread].base[SPACE_LOCAL];
        if (w == i)
            continue;
        struct evidence e;
        open_evidence(s, m, &e);
        evidence_number(&e, "thread", thread);
        evidence_number(&e, "warp_frame", w);
        evidence_number(&e, "thread_frame", i);
        report(s, m, "memory", "frame", &e,
               arena_printf(s->arena, "after %s thread %u is in another frame than its lane",
                            where(s, m), thread));
        return false;
    }
    return true;
}

static bool writes_local(const struct program *program, const struct move *m)
{
    if (m->rule != RULE_SIMT_ASSIGN && m->rule != RULE_SIMT_HAVOC && m->rule != RULE_SIMT_ATOMIC)
        return false;
    const struct code_stm *stm = &program->stms[m->stm];
    return stm->place.space == SPACE_LOCAL ||
           (stm->target.length > 0 && stm->target.space == SPACE_LOCAL);
}

static bool compare_memory(struct simulation *s, const struct move *m)
{
    bool local = writes_local(s->program, m);
    if (s->warp_steps % PERIOD == 0 || s->warps->head->live_count == 0)
        return compare_all(s, m);
    if (s->program->frame_base <= WORDS_EVERY_STEP &&
        !compare_words(s, m, 0, s->program->frame_base))
        return false;
    if ((local || m->rule == RULE_SIMT_CALL) && !compare_active_frames(s, m))
        return false;
    if (m->rule == RULE_SIMT_CALL || m->rule == RULE_SIMT_TOKEN)
        return compare_bases(s, m);
    return true;
}

static void compare(struct simulation *s, const struct move *m)
{
    lane_mask differ = projection_compare(&m->after, s->threads);
    if (differ) {
        if (s->lemmas && (differ & ~m->before.warp.theta))
            report_lemma(s, m, LEMMA_3);
        report_stack(s, m, differ);
        return;
    }
    if (!compare_memory(s, m))
        return;
    if (s->warps->head->live_count == 0 && machine_status(s->threads) != STATUS_TERMINATED) {
        struct evidence e;
        open_evidence(s, m, &e);
        evidence_number(&e, "live_threads", s->threads->head->live_count);
        report(s, m, "termination", "live threads", &e,
               arena_printf(s->arena, "%s has ended with %u threads still live",
                            subject_table[s->subject].name, s->threads->head->live_count));
    }
}

/* ---- one step ---- */

static void check_lemmas(struct simulation *s, const struct move *m, bool replayed)
{
    enum rule expected =
        lemmas_rule(s->program, &m->before, subject_table[s->subject].options.then_first);
    s->lemmas->checked++;
    if (expected != m->rule)
        report_lemma(s, m, LEMMA_DET);
    if (machine_status(s->warps) != STATUS_RUNNING && machine_status(s->warps) != STATUS_TERMINATED)
        return; /* an error ends the execution within the step */
    report_lemma(s, m, lemmas_state(&m->after));
    if (m->rule == RULE_SIMT_TOKEN)
        report_lemma(s, m, lemmas_token(&m->before, &m->after));
    if (replayed && m->rule != RULE_SIMT_INACT)
        report_lemma(s, m, lemmas_step_count(m->rule, m->total, m->most, s->strict));
}

void simulation_step(struct simulation *s, uint32_t warp, struct choices *choices)
{
    struct move m = {.warp = warp, .after = simt_state(s->warps, warp), .stm = CODE_NONE};
    m.before = lemmas_before(&m.after);
    if (entry_kind(m.before.top) <= ENTRY_CONT && m.after.theta)
        m.stm = entry_number(m.before.top);
    m.rule = machine_step(s->warps, warp, choices);
    m.after = simt_state(s->warps, warp);
    s->warp_steps++;

    bool replayed = false;
    if (!s->lost && ended_with_error(s->threads)) {
        follow_divergence(s, &m);
    } else if (!s->lost && machine_status(s->warps) == STATUS_BARRIER_DIVERGENCE) {
        replay_divergence(s, &m);
    } else if (!s->lost && ended_with_error(s->warps)) {
        replay_fault(s, &m);
    } else if (!s->lost && replay(s, &m)) {
        replayed = true;
        compare(s, &m);
    }
    if (s->lemmas)
        check_lemmas(s, &m, replayed);
}

/* ---- executions ---- */

struct simulation *simulation_new(struct arena *arena, struct machine *warps,
                                  struct machine *threads)
{
    struct simulation *s = ARENA_NEW(arena, struct simulation);
    INVARIANT(warps->program == threads->program);
    s->arena = arena;
    s->program = warps->program;
    s->warps = warps;
    s->threads = threads;
    s->record = tape_new(arena, TAPE_CAPACITY);
    if (s->program->has_votes)
        s->refused = "votes ask the lanes of a warp, which the threads do not have";
    return s;
}

/* The projection of the initial configuration is P call for every lane, and Lemma 1 holds in it. */
static void check_initial(struct simulation *s, uint32_t warp)
{
    struct move m = {.warp = warp, .after = simt_state(s->warps, warp), .rule = RULE_NONE};
    m.stm = CODE_NONE;
    m.before = lemmas_before(&m.after);
    if (!s->lost) {
        lane_mask differ = projection_compare(&m.after, s->threads);
        if (differ)
            report_stack(s, &m, differ);
    }
    if (s->lemmas)
        report_lemma(s, &m, lemmas_state(&m.after));
}

void simulation_begin(struct simulation *s, enum subject_id subject)
{
    s->subject = subject;
    s->warps->options.then_first = subject_table[subject].options.then_first;
    machine_reset(s->warps);
    machine_reset(s->threads);
    s->record->count = 0;
    s->record->truncated = false;
    s->warp_steps = s->thread_steps = s->inner_choices = 0;
    s->lost = s->refused != NULL;
    for (uint32_t warp = 0; warp < s->warps->actor_count; warp++)
        check_initial(s, warp);
    if (!s->lost && memcmp(s->warps->memory, s->threads->memory,
                           (size_t)s->program->memory_words * sizeof(int32_t)) != 0) {
        struct move m = {.after = simt_state(s->warps, 0), .rule = RULE_NONE, .stm = CODE_NONE};
        compare_all(s, &m);
    }
}

enum status simulation_run(struct simulation *s, struct choices *choices, uint64_t budget_steps)
{
    struct recorder recorder;
    uint64_t warp_before = s->warp_steps, thread_before = s->thread_steps;
    recorder_start(&recorder, choices, s->record, s->arena);
    while (machine_status(s->warps) == STATUS_RUNNING &&
           s->warp_steps + s->thread_steps < budget_steps) {
        uint32_t index = recorder.choices.pick(&recorder.choices, s->warps);
        simulation_step(s, s->warps->head->live[index], &recorder.choices);
    }
    s->inner_choices += recorder.inner_choices;
    s->total_warp_steps += s->warp_steps - warp_before;
    s->total_thread_steps += s->thread_steps - thread_before;
    if (s->answer && !s->refused)
        s->answer->checked += s->warp_steps - warp_before;
    enum status status = machine_status(s->warps);
    return status == STATUS_RUNNING ? STATUS_STEP_LIMIT : status;
}

const struct tape *simulation_tape(const struct simulation *s)
{
    return record_copy(s->arena, s->record);
}
