#include "oracle/lockstep/stutter_internal.h"

#include "engine/base/invariant.h"
#include "oracle/check/record.h"

#include <string.h>

enum {
    PERIOD = 256, /* steps of both between two comparisons of everything */
    WORDS_EVERY_STEP = 64,
    TAPE_CAPACITY = 256,
    SCHEDULES = 16 /* of the portfolio, from which each run draws one */
};

/* ---- making ---- */

/* v := act ? e : v writes v where act is false (ORA.55r): that is no change. */
static void on_silent_write(void *context, uint32_t thread, uint32_t address, int32_t value,
                            uint32_t stm)
{
    struct stutter *s = context;
    (void)thread;
    (void)stm;
    s->spoilt |= value != s->p->memory[address];
}

static void on_silent_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                             uint32_t stm)
{
    struct stutter *s = context;
    (void)thread;
    (void)address;
    (void)value;
    (void)stm;
    s->spoilt = true;
}

struct stutter *stutter_new(struct arena *arena, struct machine *p, struct machine *pi)
{
    struct stutter *s = ARENA_NEW(arena, struct stutter);
    s->arena = arena;
    s->p = p;
    s->pi = pi;
    image_start(&s->image, arena, pi, p);
    s->p_races = race_new(arena, p->program);
    s->pi_races = race_new(arena, pi->program);
    image_accesses_start(&s->p_accesses, arena, &s->p_races->observer);
    image_accesses_start(&s->pi_accesses, arena, &s->pi_races->observer);
    s->silent =
        (struct observer){.context = s, .write = on_silent_write, .atomic = on_silent_atomic};
    s->record = tape_new(arena, TAPE_CAPACITY);
    return s;
}

/* ---- where a thread is ---- */

static bool has_error(const struct machine *machine)
{
    enum status status = machine_status(machine);
    return status != STATUS_RUNNING && status != STATUS_TERMINATED;
}

static bool can_step(const struct machine *machine, uint32_t thread)
{
    const struct block_thread *T = interleave_state(machine, thread);
    return !T->ended && !T->waiting && machine_status(machine) == STATUS_RUNNING;
}

static uint32_t pi_block(const struct stutter *s, uint32_t thread)
{
    return interleave_block(s->pi, thread);
}

/* act: v_active = B. */
static bool acts(const struct stutter *s, uint32_t thread)
{
    uint32_t block = pi_block(s, thread);
    uint32_t number = s->image.stands_for[block];
    return number != CODE_NONE &&
           image_active(&s->image, thread, s->pi->program->blocks[block].function) == number + 1;
}

/* Whether the next step of pi's thread stands for a step of P's. */
static bool at_point(const struct stutter *s, uint32_t thread)
{
    uint32_t pc = interleave_state(s->pi, thread)->pc;
    if (pc & PC_BLOCK)
        return pc == PC_END;
    enum image_role role = s->image.roles[pc];
    return role != ROLE_NOTHING && role != ROLE_DRAW && role != ROLE_EARLY && role != ROLE_LEAVE &&
           acts(s, thread);
}

static struct stutter_move move_of(const struct stutter *s, uint32_t thread)
{
    struct stutter_move m = {.thread = thread, .rule = RULE_NONE};
    uint32_t block = interleave_block(s->p, thread);
    m.p_pc = interleave_state(s->p, thread)->pc;
    m.pi_pc = interleave_state(s->pi, thread)->pc;
    m.function = block == CODE_NONE ? 0 : s->p->program->blocks[block].function;
    m.role = m.pi_pc & PC_BLOCK ? ROLE_NOTHING : s->image.roles[m.pi_pc];
    return m;
}

/* The statement of P at which a thread must be whose image is at a point. */
static bool at_same_point(const struct stutter *s, const struct stutter_move *m)
{
    if (m->p_pc == PC_END || m->pi_pc == PC_END)
        return m->p_pc == m->pi_pc;
    if (m->p_pc & PC_BLOCK)
        return false;
    const struct code_stm *p = &s->p->program->stms[m->p_pc];
    if (m->role != ROLE_PICK && m->role != ROLE_RETURN)
        return s->pi->program->stms[m->pi_pc].origin == m->p_pc + 1;
    return p->block == s->image.stands_for[pi_block(s, m->thread)] &&
           p->kind == (m->role == ROLE_PICK ? CODE_GOTO : CODE_END_CALL);
}

/* ---- comparisons ---- */

static bool compared(struct stutter *s, const struct stutter_move *m, bool same,
                     const struct image_word *word)
{
    if (!same)
        stutter_report_word(s, m, word);
    return same;
}

static bool compare_written(struct stutter *s, const struct stutter_move *m)
{
    const struct image_accesses *a = &s->p_accesses;
    struct image_word word;
    bool same = true;
    if (s->p->program->private_base <= WORDS_EVERY_STEP || a->count > IMAGE_ACCESSES)
        same = image_same_shared(&s->image, s->arena, &word);
    else
        for (uint32_t i = 0; i < a->count && same; i++)
            same = a->entries[i].kind == ACCESS_READ ||
                   image_same_word(&s->image, s->arena, a->entries[i].address, &word);
    return compared(s, m, same, &word);
}

/* The thread's private variables and topmost frame. */
static bool compare_thread(struct stutter *s, const struct stutter_move *m, uint32_t thread)
{
    const struct program *p = s->p->program;
    uint32_t block = interleave_block(s->p, thread);
    uint32_t function = block == CODE_NONE ? 0 : p->blocks[block].function;
    struct image_word word;
    return compared(s, m,
                    image_same_private(&s->image, thread, 0, p->words[SPACE_PRIVATE], &word) &&
                        image_same_frame(&s->image, thread, function, 0,
                                         p->functions[function].frame_words, &word),
                    &word);
}

static bool compare_place(struct stutter *s, const struct stutter_move *m,
                          const struct code_place *place)
{
    struct image_word word;
    return compared(s, m, image_same_place(&s->image, m->thread, m->function, place, &word), &word);
}

static bool compare_statement(struct stutter *s, const struct stutter_move *m)
{
    const struct code_stm *stm = &s->p->program->stms[m->p_pc];
    if (stm->kind == CODE_ATOMIC)
        return compare_place(s, m, &stm->target) && compare_place(s, m, &stm->place);
    bool assigns = stm->kind == CODE_ASSIGN || stm->kind == CODE_HAVOC || stm->kind == CODE_PICK;
    return !assigns || compare_place(s, m, &stm->place);
}

static bool compare_waiting(struct stutter *s, const struct stutter_move *m)
{
    uint32_t each = s->p->program->launch.threads, first = m->thread / each * each;
    for (uint32_t t = first; t < first + each; t++)
        if (interleave_state(s->p, t)->waiting != interleave_state(s->pi, t)->waiting) {
            stutter_report_control(s, m, "waiting");
            return false;
        }
    return true;
}

static bool compare_all(struct stutter *s, const struct stutter_move *m)
{
    struct image_word word;
    if (!compared(s, m, image_same_shared(&s->image, s->arena, &word), &word))
        return false;
    for (uint32_t t = 0; t < s->p->program->total_threads; t++)
        if (interleave_state(s->p, t)->frames == interleave_state(s->pi, t)->frames &&
            !compare_thread(s, m, t))
            return false;
    return true;
}

static bool same_status(const struct stutter *s, const struct stutter_move *m)
{
    const struct machine_head *p = s->p->head, *pi = s->pi->head;
    if (p->status != pi->status)
        return false;
    if (!has_error(s->p))
        return true;
    bool divergence = p->status == STATUS_BARRIER_DIVERGENCE;
    return p->fault_thread == pi->fault_thread && (divergence || p->fault_stm == m->p_pc);
}

static void compare(struct stutter *s, const struct stutter_move *m)
{
    bool ended = machine_status(s->p) != STATUS_RUNNING;
    if (!same_status(s, m)) {
        stutter_report_status(s, m);
    } else if (!image_same_accesses(&s->p_accesses, &s->pi_accesses)) {
        stutter_report_accesses(s, m);
    } else if (s->p_races->found != s->pi_races->found) {
        stutter_report_race(s, m);
    } else if (!compare_written(s, m) || has_error(s->p)) {
        return;
    } else if (m->role == ROLE_BARRIER && !compare_waiting(s, m)) {
        return;
    } else if (m->role == ROLE_STATEMENT && !compare_statement(s, m)) {
        return;
    } else if (m->role == ROLE_RETURN && !compare_thread(s, m, m->thread)) {
        return;
    } else if (ended || (s->p_steps + s->pi_steps) % PERIOD == 0) {
        compare_all(s, m);
    }
}

/* Behind a goto: v_active against the block of P's thread. */
static void compare_control(struct stutter *s, const struct stutter_move *m)
{
    uint32_t pc = interleave_state(s->p, m->thread)->pc;
    uint32_t active = image_active(&s->image, m->thread, m->function);
    if (pc != (active ? PC_BLOCK | (active - 1) : PC_END))
        stutter_report_control(s, m, "v_active");
    else if (s->p->threads[m->thread].choices != s->pi->threads[m->thread].choices)
        stutter_report_control(s, m, "choices"); /* ORA.B9: pi's own gotos have none */
    else
        compare_thread(s, m, m->thread);
}

/* ---- steps ---- */

static void step_p(struct stutter *s, struct stutter_move *m)
{
    m->rule = machine_step(s->p, m->thread, NULL);
    s->p_steps++;
}

static void step_pi(struct stutter *s, uint32_t thread, const struct observer *observer)
{
    machine_observe(s->pi, observer);
    machine_step(s->pi, thread, NULL);
    s->pi_steps++;
}

/* The early assume of a goto decides what P decides in the block that it enters. */
static void follow_early_error(struct stutter *s, struct stutter_move *m)
{
    for (uint32_t i = 0; i < 2 && can_step(s->p, m->thread); i++) {
        m->p_pc = interleave_state(s->p, m->thread)->pc;
        step_p(s, m);
    }
    if (!same_status(s, m))
        stutter_report_status(s, m);
}

/* A silent step of pi's thread; false: an error, or a change. */
static bool step_silently(struct stutter *s, uint32_t thread)
{
    struct stutter_move m = move_of(s, thread);
    bool act = m.role != ROLE_NOTHING && acts(s, thread);
    step_pi(s, thread, &s->silent);
    if (act && m.role == ROLE_EARLY && has_error(s->pi))
        follow_early_error(s, &m);
    else if (has_error(s->pi))
        stutter_report_status(s, &m);
    else if (s->spoilt)
        stutter_report_control(s, &m, "silent write");
    else if (act && m.role == ROLE_LEAVE)
        compare_control(s, &m);
    return !s->lost && !has_error(s->pi);
}

/* Both take the step that pi's thread stands at. */
static void step_both(struct stutter *s, uint32_t thread)
{
    struct stutter_move m = move_of(s, thread);
    if (!can_step(s->p, thread) || !can_step(s->pi, thread) || !at_same_point(s, &m)) {
        stutter_report_control(s, &m, "statement");
        return;
    }
    image_accesses_clear(&s->p_accesses);
    image_accesses_clear(&s->pi_accesses);
    step_p(s, &m);
    step_pi(s, thread, &s->pi_accesses.observer);
    compare(s, &m);
}

static void enter_block(struct stutter *s, uint32_t thread)
{
    uint32_t pc = interleave_state(s->p, thread)->pc;
    struct stutter_move m = move_of(s, thread);
    if (pc != PC_END && (pc & PC_BLOCK) && can_step(s->p, thread))
        step_p(s, &m);
}

/* One pass through pi's blocks reaches every point. */
static void walk(struct stutter *s, uint32_t thread)
{
    const struct program *pi = s->pi->program;
    uint64_t left = 2 * ((uint64_t)pi->stm_count + pi->block_count);
    struct stutter_move m = move_of(s, thread);
    while (left-- > 0 && can_step(s->pi, thread)) {
        if (at_point(s, thread))
            return;
        if (!step_silently(s, thread))
            return;
    }
    stutter_report_control(s, &m, "walk");
}

/* P's thread steps. */
static void lead_p(struct stutter *s, uint32_t thread)
{
    uint32_t pc = interleave_state(s->p, thread)->pc;
    if (pc != PC_END && (pc & PC_BLOCK)) {
        enter_block(s, thread);
        return;
    }
    bool is_goto = pc != PC_END && s->p->program->stms[pc].kind == CODE_GOTO;
    walk(s, thread);
    if (s->lost || has_error(s->pi))
        return;
    step_both(s, thread);
    while (is_goto && !s->lost && can_step(s->pi, thread)) {
        enum image_role role = s->image.roles[interleave_state(s->pi, thread)->pc];
        if (!step_silently(s, thread) || role == ROLE_LEAVE)
            return;
    }
}

/* pi's thread steps. */
static void lead_pi(struct stutter *s, uint32_t thread)
{
    if (!at_point(s, thread)) {
        (void)step_silently(s, thread);
        return;
    }
    enter_block(s, thread);
    step_both(s, thread);
}

/* ---- executions ---- */

static void begin(struct stutter *s, enum subject_id leader)
{
    machine_reset(s->p);
    machine_reset(s->pi);
    machine_observe(s->p, &s->p_accesses.observer);
    race_begin(s->p_races);
    race_begin(s->pi_races);
    race_watch(s->p_races, s->p);
    race_watch(s->pi_races, s->pi);
    s->leader = leader;
    s->lost = s->spoilt = false;
    s->p_steps = s->pi_steps = 0;
    s->record->count = 0;
    s->record->truncated = false;
}

enum status stutter_run(struct stutter *s, enum subject_id leader, const struct sched_spec *spec,
                        uint64_t budget_steps)
{
    struct machine *led = leader == SUBJECT_INTERLEAVE ? s->p : s->pi;
    struct scheduler scheduler;
    struct recorder recorder;
    begin(s, leader);
    sched_start(&scheduler, spec, led, s->arena);
    recorder_start(&recorder, &scheduler.choices, s->record, s->arena);
    while (!s->lost && machine_status(led) == STATUS_RUNNING && !has_error(s->pi) &&
           s->p_steps + s->pi_steps < budget_steps) {
        uint32_t thread = led->head->live[recorder.choices.pick(&recorder.choices, led)];
        if (leader == SUBJECT_INTERLEAVE)
            lead_p(s, thread);
        else
            lead_pi(s, thread);
    }
    if (s->answer)
        s->answer->checked += s->p_steps;
    enum status status = machine_status(led);
    return status == STATUS_RUNNING ? STATUS_STEP_LIMIT : status;
}

/* ---- the oracle ---- */

/* With a seed (of schedules) other than 0, as campaigns have, one of the two leads, as the seed says. */
static void judge_leaders(struct checking *c, struct stutter *s)
{
    uint64_t seed = c->options->seed, draw = pcg_splitmix(seed);
    static const enum subject_id leaders[] = {SUBJECT_INTERLEAVE, SUBJECT_PREDICATED};
    for (uint32_t i = 0; i < 2 && !s->lost; i++) {
        if (seed != 0 && draw % 2 != i)
            continue;
        struct sched_spec spec = sched_portfolio(seed, draw / 2 % SCHEDULES, s->p->actor_count, 0);
        (void)stutter_run(s, leaders[i], &spec, c->options->budget_steps);
    }
}

void stutter_judge(struct checking *c)
{
    static const enum subject_id needed[] = {SUBJECT_INTERLEAVE, SUBJECT_PREDICATED};
    struct answer *answer = &c->result->answers[ORACLE_STUTTER];
    for (uint32_t i = 0; i < 2; i++)
        if (!explore_runs(c, needed[i])) {
            answer->reason = c->result->runs[needed[i]].reason;
            return;
        }
    struct stutter *s = stutter_new(c->arena, c->subjects[SUBJECT_INTERLEAVE].machine,
                                    c->subjects[SUBJECT_PREDICATED].machine);
    s->answer = answer;
    judge_leaders(c, s);
    machine_observe(s->p, NULL);
    machine_observe(s->pi, NULL);
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    answer->verdict = VERDICT_AGREE;
    answer->reason = "the steps that act, of P and of pi(P), are the same";
}
