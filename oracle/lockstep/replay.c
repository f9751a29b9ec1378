#include "oracle/lockstep/replay_internal.h"

#include "engine/base/invariant.h"
#include "engine/schedule/sched.h"
#include "oracle/check/record.h"

#include <string.h>

enum {
    PERIOD = 64, /* steps of F between two comparisons of everything */
    CLAIM_STEPS_A_THREAD = 512,
    TAPE_CAPACITY = 256
};

struct replay *replay_new(struct arena *arena, struct machine *phi, struct machine *p)
{
    struct replay *r = ARENA_NEW(arena, struct replay);
    const struct program *program = phi->program;
    INVARIANT(program->form == FORM_LOCKSTEP);
    r->arena = arena;
    r->phi = phi;
    r->p = p;
    r->phi_races = race_new(arena, program);
    r->p_races = race_new(arena, p->program);
    image_accesses_start(&r->phi_accesses, arena, &r->phi_races->observer);
    image_accesses_start(&r->p_accesses, arena, &r->p_races->observer);
    r->enabled = ARENA_ARRAY(arena, uint8_t, program->launch.threads);
    r->outs_pending = ARENA_ARRAY(arena, uint8_t, program->launch.blocks);
    r->record = tape_new(arena, TAPE_CAPACITY);
    image_start(&r->image, arena, phi, p);
    r->loops = loops_new(arena, p->program, program->launch.blocks);
    return r;
}

/* ---- steps of P ---- */

static bool has_error(const struct machine *machine)
{
    enum status status = machine_status(machine);
    return status != STATUS_RUNNING && status != STATUS_TERMINATED;
}

/* The thread's next step, which must be at `pc`; false: it is not, or P's execution has ended. */
static bool step_thread(struct replay *r, const struct replay_move *m, uint32_t thread, uint32_t pc)
{
    const struct block_thread *T = interleave_state(r->p, thread);
    if (T->ended || T->waiting || T->pc != pc) {
        report_control(r, m, thread, pc & PC_BLOCK ? "block" : "statement");
        return false;
    }
    machine_step(r->p, thread, NULL);
    r->p_steps++;
    r->idle = 0;
    return !has_error(r->p);
}

/* The same where P must not end with an error. */
static bool follow_thread(struct replay *r, const struct replay_move *m, uint32_t thread,
                          uint32_t pc)
{
    if (step_thread(r, m, thread, pc))
        return true;
    if (!r->lost)
        report_status(r, m);
    return false;
}

/* Where an enabled thread of P stands before the step. */
static uint32_t expected_pc(const struct replay *r, const struct replay_move *m)
{
    if (m->stm == CODE_NONE)
        return m->pc == PC_END ? PC_END : PC_BLOCK | m->number;
    if (m->role != ROLE_LEAVE && m->role != ROLE_EARLY && m->role != ROLE_RETURN)
        return m->origin;
    uint32_t stm = r->p->program->blocks[m->number].first;
    while (!r->p->program->stms[stm].last)
        stm++;
    return stm;
}

static bool follow_enabled(struct replay *r, const struct replay_move *m)
{
    uint32_t pc = expected_pc(r, m);
    for (uint32_t i = 0; i < m->count; i++)
        if (r->enabled[i] && !follow_thread(r, m, m->first + i, pc))
            return false;
    return true;
}

/* A statement: those that write in F's order, those that write nothing before them. */
static bool follow_statement(struct replay *r, const struct replay_move *m)
{
    const uint32_t *order;
    uint32_t count = lockstep_last_write_order(r->phi, &order);
    for (uint32_t i = 0; i < count; i++)
        if (r->enabled[order[i] - m->first])
            r->enabled[order[i] - m->first] = 2;
    for (uint32_t i = 0; i < m->count; i++)
        if (r->enabled[i] == 1 && !follow_thread(r, m, m->first + i, m->origin))
            return false;
    for (uint32_t i = 0; i < count; i++)
        if (r->enabled[order[i] - m->first] == 2 && !follow_thread(r, m, order[i], m->origin))
            return false;
    return true;
}

/* ---- barriers ---- */

static uint32_t count_waiting(const struct replay *r, const struct replay_move *m)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < m->count; i++)
        waiting += interleave_state(r->p, m->first + i)->waiting;
    return waiting;
}

static bool follow_sync(struct replay *r, const struct replay_move *m)
{
    if (!follow_enabled(r, m))
        return false;
    if (count_waiting(r, m) == 0)
        return true;
    report_sync(r, m, "still waiting", "the sync holds, but the threads of P wait at the barrier");
    return false;
}

/* The claim about a false sync: those that take part wait, and whatever the others do, they are not
 * released. */
static void follow_divergence(struct replay *r, const struct replay_move *m)
{
    uint64_t budget = (uint64_t)CLAIM_STEPS_A_THREAD * m->count;
    if (!follow_enabled(r, m))
        return;
    uint32_t waiting = count_waiting(r, m), wait;
    if (waiting == 0) {
        report_sync(r, m, "nobody waits",
                    "the sync does not hold, but no thread of P waits at the barrier");
        return;
    }
    while (machine_status(r->p) == STATUS_RUNNING && budget > 0) {
        for (uint32_t i = 0; i < m->count; i++) {
            const struct block_thread *T = interleave_state(r->p, m->first + i);
            if (T->ended || T->waiting || machine_status(r->p) != STATUS_RUNNING)
                continue;
            machine_step(r->p, m->first + i, NULL);
            budget -= budget > 0;
            wait = count_waiting(r, m);
            if (wait < waiting && machine_status(r->p) == STATUS_RUNNING) {
                report_sync(r, m, "released",
                            "the sync does not hold, but the barrier of P was passed");
                return;
            }
            waiting = wait;
        }
    }
    if (machine_status(r->p) == STATUS_TERMINATED)
        report_status(r, m);
    r->sync_claims += machine_status(r->p) == STATUS_BARRIER_DIVERGENCE;
}

/* ---- errors ---- */

static uint32_t first_enabled(const struct replay *r, const struct replay_move *m)
{
    uint32_t i = 0;
    while (i < m->count && !r->enabled[i])
        i++;
    return m->first + i;
}

/* What an early assume decides, P decides in the block that v_next names. */
static void step_into_target(struct replay *r, const struct replay_move *m, uint32_t thread)
{
    if (!step_thread(r, m, thread, expected_pc(r, m)))
        return;
    for (uint32_t n = 0; n < 2 && machine_status(r->p) == STATUS_RUNNING; n++) {
        if (interleave_state(r->p, thread)->ended || interleave_state(r->p, thread)->waiting)
            return;
        machine_step(r->p, thread, NULL);
        r->p_steps++;
    }
}

/* F ends with an error within the step: the thread that is named must have it in P, too. It steps
 * first, in the store in which F has evaluated its component. */
static void follow_error(struct replay *r, const struct replay_move *m)
{
    const struct machine_head *phi = r->phi->head, *p = r->p->head;
    bool deep = phi->status == STATUS_CALL_DEPTH;
    uint32_t thread = deep ? first_enabled(r, m) : phi->fault_thread;
    if (m->role == ROLE_BARRIER && phi->status == STATUS_BARRIER_DIVERGENCE) {
        follow_divergence(r, m);
        return;
    }
    if (m->role == ROLE_NOTHING || thread - m->first >= m->count ||
        !r->enabled[thread - m->first]) {
        report_status(r, m);
        return;
    }
    if (m->role == ROLE_EARLY)
        step_into_target(r, m, thread);
    else
        step_thread(r, m, thread, expected_pc(r, m));
    bool same = p->status == phi->status && p->fault_thread == thread &&
                (m->role == ROLE_EARLY || p->fault_stm == m->origin);
    if (!r->lost && !same)
        report_status(r, m);
}

/* ---- races ---- */

/* The two threads of F's first race, the later access first: its thread accesses in P what it does in F,
 * and so does the other, or it has read what that one wrote. */
static void follow_race(struct replay *r, const struct replay_move *m)
{
    const struct race_witness *witness = &r->phi_races->witness;
    const uint32_t threads[] = {witness->second.thread, witness->first.thread};
    for (uint32_t k = 0; k < 2 && !r->p_races->found && !r->lost; k++) {
        uint32_t i = threads[k] - m->first;
        if (i < m->count && r->enabled[i] && machine_status(r->p) == STATUS_RUNNING)
            step_thread(r, m, threads[k], expected_pc(r, m));
    }
    if (!r->p_races->found && !r->lost)
        report_race(r, m);
    r->raced = true;
}

/* ---- one step ---- */

static void find_enabled(struct replay *r, const struct replay_move *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        r->enabled[i] = m->pc == PC_END ||
                        (m->number != CODE_NONE && replay_semi_active(r, m->first + i, m->frames) &&
                         image_active(&r->image, m->first + i, m->function) == m->number + 1);
}

static struct replay_move start_move(struct replay *r, uint32_t block)
{
    const struct program *phi = r->phi->program;
    struct lockstep_state F = lockstep_state(r->phi, block);
    struct replay_move m = {.block = block,
                            .first = block * phi->launch.threads,
                            .count = phi->launch.threads,
                            .frames = F.frames,
                            .pc = F.pc,
                            .stm = CODE_NONE,
                            .number = CODE_NONE,
                            .origin = CODE_NONE,
                            .rule = RULE_NONE};
    uint32_t at = F.pc & ~PC_BLOCK;
    if (F.pc == PC_END)
        return m;
    if (!(F.pc & PC_BLOCK)) {
        const struct code_stm *stm = &phi->stms[F.pc];
        m.stm = F.pc;
        m.role = r->image.roles[F.pc];
        const struct code_stm *of = m.role == ROLE_DRAW ? stm + 1 : stm;
        m.origin = of->origin ? of->origin - 1 : CODE_NONE;
        at = stm->block;
    }
    m.function = phi->blocks[at].function;
    if (m.stm != CODE_NONE || r->image.enters[at])
        m.number = r->image.stands_for[at];
    return m;
}

static bool is_own(const struct replay_move *m)
{
    return m->stm == CODE_NONE ? m->pc != PC_END && m->number == CODE_NONE
                               : m->role == ROLE_NOTHING || m->role == ROLE_DRAW ||
                                     m->role == ROLE_PICK || m->role == ROLE_EARLY;
}

/* The steps of P that a step of F without an error stands for. */
static bool follow(struct replay *r, const struct replay_move *m)
{
    if (is_own(m))
        return true;
    if (m->stm == CODE_NONE)
        return follow_enabled(r, m) && (m->pc == PC_END || loops_enter(r, m));
    switch (m->role) {
    case ROLE_NOTHING:
    case ROLE_DRAW:
    case ROLE_PICK:
    case ROLE_EARLY:
        break;
    case ROLE_STATEMENT:
        return follow_statement(r, m);
    case ROLE_BARRIER:
        return follow_sync(r, m);
    case ROLE_CALL:
        loops_call(r, m);
        return follow_enabled(r, m);
    case ROLE_RETURN:
        r->outs_pending[m->block] = 1;
        return follow_enabled(r, m);
    case ROLE_LEAVE:
        r->outs_pending[m->block] = 0;
        return follow_enabled(r, m) && compare_control(r, m, m->function);
    }
    return true;
}

static void compare(struct replay *r, const struct replay_move *m)
{
    bool ended = machine_status(r->phi) == STATUS_TERMINATED;
    if (!is_own(m) && (!compare_accesses(r, m) || !compare_step(r, m)))
        return;
    if (r->p_races->found)
        report_race(r, m);
    else if (m->pc == PC_END && ended != (machine_status(r->p) == STATUS_TERMINATED))
        report_status(r, m);
    else if (m->pc == PC_END || r->phi_steps % PERIOD == 0)
        compare_all(r, m);
}

void replay_step(struct replay *r, uint32_t block, struct choices *choices)
{
    bool replays = !r->lost && !r->raced;
    struct replay_move m = {.rule = RULE_NONE};
    if (replays) {
        m = start_move(r, block);
        if (m.stm == CODE_NONE || m.role != ROLE_NOTHING)
            find_enabled(r, &m);
        image_accesses_clear(&r->phi_accesses);
        image_accesses_clear(&r->p_accesses);
    }
    m.rule = machine_step(r->phi, block, choices);
    r->phi_steps++;
    r->idle++;
    if (!replays)
        return;
    if (r->phi_races->found)
        follow_race(r, &m);
    else if (has_error(r->phi))
        follow_error(r, &m);
    else if (follow(r, &m))
        compare(r, &m);
}

/* ---- executions ---- */

void replay_begin(struct replay *r)
{
    machine_reset(r->phi);
    machine_reset(r->p);
    machine_observe(r->phi, &r->phi_accesses.observer);
    machine_observe(r->p, &r->p_accesses.observer);
    race_begin(r->phi_races);
    race_begin(r->p_races);
    race_watch(r->phi_races, r->phi);
    race_watch(r->p_races, r->p);
    memset(r->outs_pending, 0, r->phi->program->launch.blocks);
    loops_begin(r);
    r->record->count = 0;
    r->record->truncated = false;
    r->phi_steps = r->p_steps = r->idle = r->inner_choices = 0;
    r->lost = r->raced = false;
    for (uint32_t block = 0; block < r->phi->actor_count && !r->lost; block++) {
        struct replay_move m = start_move(r, block);
        compare_all(r, &m);
    }
}

enum status replay_run(struct replay *r, struct choices *choices, uint64_t budget_steps)
{
    struct recorder recorder;
    recorder_start(&recorder, choices, r->record, r->arena);
    while (machine_status(r->phi) == STATUS_RUNNING && r->phi_steps + r->p_steps < budget_steps) {
        uint32_t index = recorder.choices.pick(&recorder.choices, r->phi);
        replay_step(r, r->phi->head->live[index], &recorder.choices);
    }
    r->inner_choices += recorder.inner_choices;
    if (r->answer)
        r->answer->checked += r->phi_steps;
    enum status status = machine_status(r->phi);
    return status == STATUS_RUNNING ? STATUS_STEP_LIMIT : status;
}

static uint32_t pick_lowest(struct choices *choices, const struct machine *machine)
{
    (void)choices;
    (void)machine;
    return 0;
}

static uint32_t choose_plain(struct choices *choices, uint32_t n)
{
    const struct machine *phi = ((struct replay_choices *)choices)->phi;
    uint32_t pc = lockstep_state(phi, phi->head->live[0]).pc;
    return phi->program->stms[pc].kind == CODE_ATOMIC ? 0 : n - 1;
}

void replay_plain_choices(struct replay_choices *choices, const struct machine *phi)
{
    *choices = (struct replay_choices){{pick_lowest, choose_plain, NULL}, phi};
}
