#include "oracle/matrix/matrix_witness.h"

#include "engine/base/pcg.h"
#include "engine/machine/live.h"
#include "engine/progress/fair_lasso.h"
#include "engine/schedule/sched.h"

#include <string.h>

/* ---- a machine that follows the tapes ---- */

/* Sets of units: a byte each. */
struct units {
    uint32_t count;
    uint32_t *unit_of; /* an actor */
    uint8_t *begun, *unfinished, *enabled;
};

struct replay {
    struct choices choices; /* first member: choices inside a step, from the tape */
    struct arena *arena;
    const struct matrix_row *row;
    struct machine *machine;
    const struct tape *tape;
    uint32_t next;
    bool drifted;   /* the tape does not fit */
    bool miscounts; /* others have finished than the machine counts */
    struct units units;
};

static uint32_t choose_from_tape(struct choices *choices, uint32_t n)
{
    struct replay *r = (struct replay *)choices;
    uint32_t entry = r->next < r->tape->count ? r->tape->entries[r->next] : 0;
    uint32_t value = entry & ~(uint32_t)TAPE_INNER;
    if (!(entry & TAPE_INNER) || value >= n) {
        r->drifted = true;
        return 0;
    }
    r->next++;
    return value;
}

/* The next step of the tape. False: it cannot be taken. */
static bool take_step(struct replay *r)
{
    struct machine *machine = r->machine;
    uint32_t actor = r->tape->entries[r->next++];
    if (actor & TAPE_INNER || machine_status(machine) != STATUS_RUNNING || !is_live(machine, actor))
        return false;
    machine_step(machine, actor, &r->choices);
    machine->track.log_count = 0;
    r->units.begun[r->units.unit_of[actor]] = 1;
    return !r->drifted;
}

static void use_tape(struct replay *r, const struct tape *tape)
{
    r->tape = tape;
    r->next = 0;
}

static bool take_tape(struct replay *r, const struct tape *tape)
{
    use_tape(r, tape);
    while (r->next < tape->count)
        if (!take_step(r))
            return false;
    return true;
}

/* ---- units ---- */

/* The thread that an actor is, or begins with: actors are threads, warps, or blocks. */
static uint32_t first_thread(const struct machine *machine, uint32_t actor)
{
    const struct program *program = machine->program;
    const struct ast_launch *launch = &program->launch;
    if (machine->actor_count == program->total_threads)
        return actor;
    if (machine->actor_count == launch->blocks)
        return actor * launch->threads;
    return actor / program->warps_per_block * launch->threads +
           actor % program->warps_per_block * launch->warp;
}

static uint32_t unit_of_thread(const struct program *program, uint32_t thread,
                               enum matrix_unit unit)
{
    uint32_t block = thread / program->launch.threads, within = thread % program->launch.threads;
    switch (unit) {
    case MATRIX_THREADS:
    case MATRIX_UNITS:
        return thread;
    case MATRIX_WARPS:
        return block * program->warps_per_block + within / program->launch.warp;
    case MATRIX_BLOCKS:
        return block;
    }
    return thread;
}

static void start_units(struct replay *r)
{
    struct units *units = &r->units;
    const struct machine *machine = r->machine;
    units->unit_of = ARENA_ARRAY(r->arena, uint32_t, machine->actor_count);
    for (uint32_t a = 0; a < machine->actor_count; a++) {
        uint32_t thread = first_thread(machine, a);
        units->unit_of[a] = unit_of_thread(machine->program, thread, r->row->unit);
        if (units->unit_of[a] >= units->count)
            units->count = units->unit_of[a] + 1;
    }
    units->begun = ARENA_ARRAY(r->arena, uint8_t, units->count);
    units->unfinished = ARENA_ARRAY(r->arena, uint8_t, units->count);
    units->enabled = ARENA_ARRAY(r->arena, uint8_t, units->count);
}

/* Live, or at a barrier. */
static bool is_there(const struct machine *machine, uint32_t actor)
{
    return is_live(machine, actor) || machine->semantics->next_stm(machine, actor) != CODE_NONE;
}

/* The same, and at a place that is in the text. */
static bool is_unfinished(const struct machine *machine, uint32_t actor)
{
    const struct program *program = machine->program;
    if (program->form != FORM_BLOCKS)
        return is_there(machine, actor);
    uint32_t at = machine->semantics->control(machine, actor);
    return at != CODE_NONE && !program->blocks[program->stms[at].block].added;
}

static void look_at_units(struct replay *r)
{
    struct units *units = &r->units;
    uint32_t unfinished = 0;
    memset(units->enabled, 0, units->count);
    memset(units->unfinished, 0, units->count);
    for (uint32_t a = 0; a < r->machine->actor_count; a++) {
        units->enabled[units->unit_of[a]] |= is_live(r->machine, a);
        units->unfinished[units->unit_of[a]] |= is_unfinished(r->machine, a);
        unfinished += is_there(r->machine, a);
    }
    r->miscounts |= unfinished != r->machine->head->unfinished;
}

/* Whether the unit must be let run, in the state that was looked at (engine/kernel/progress.def). */
static bool must_run(const struct units *units, enum progress_model model, uint32_t unit)
{
    bool lowest = true, above = false;
    for (uint32_t u = 0; u < unit; u++)
        lowest &= !units->unfinished[u];
    for (uint32_t u = unit; u < units->count; u++)
        above |= units->begun[u];
    if (!units->unfinished[unit])
        return false;
    switch (model) {
    case PROGRESS_UNFAIR:
        return false;
    case PROGRESS_HSA:
        return lowest;
    case PROGRESS_OBE:
        return units->begun[unit];
    case PROGRESS_HSA_OBE:
        return lowest || units->begun[unit];
    case PROGRESS_LOBE:
        return above;
    case PROGRESS_FAIR:
    case PROGRESS_MODEL_COUNT:
        return true;
    }
    return true;
}

/* ---- the loop ---- */

/* The loop is fair if F stays what it is and each of its units is settled: steps, or cannot step. */
struct fairness {
    enum progress_model model;
    uint8_t *F, *settled;
    bool same;
};

static void see_state(struct replay *r, struct fairness *f, bool first)
{
    look_at_units(r);
    for (uint32_t u = 0; u < r->units.count; u++) {
        bool in_F = must_run(&r->units, f->model, u);
        f->same &= first || f->F[u] == in_F;
        f->F[u] = in_F;
        f->settled[u] |= !r->units.enabled[u];
    }
}

static const char *judge_fairness(const struct replay *r, const struct fairness *f)
{
    bool any = false;
    if (!f->same)
        return "who must be let run changes in the loop";
    for (uint32_t u = 0; u < r->units.count; u++) {
        any |= f->F[u];
        if (f->F[u] && !f->settled[u])
            return arena_printf(r->arena, "unit %u must be let run, and does not step", u);
    }
    return any || f->model == PROGRESS_UNFAIR ? NULL : "nobody must be let run";
}

/* The model whose fairness the row's loop has: warps and blocks under a stack are let run, all of them. */
static enum progress_model model_of(const struct matrix_row *row)
{
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++)
        if (strcmp(row->model, progress_table[m].name) == 0)
            return (enum progress_model)m;
    return PROGRESS_FAIR;
}

static struct witness_fault fault(const char *observable, const char *text)
{
    return (struct witness_fault){observable, text};
}

static struct replay start_replay(struct arena *arena, const struct matrix_row *row)
{
    const struct subject_info *info = &subject_table[row->subject];
    struct machine_options options = info->options;
    struct replay r = {.choices = {NULL, choose_from_tape, NULL}, .arena = arena, .row = row};
    options.track = true;
    r.machine = machine_new(arena, info->vtable, row->program, &options);
    start_units(&r);
    return r;
}

static struct witness_fault replay_loop(struct replay *r)
{
    const struct matrix_row *row = r->row;
    struct machine *machine = r->machine;
    struct fairness f = {.model = model_of(row),
                         .F = ARENA_ARRAY(r->arena, uint8_t, r->units.count),
                         .settled = ARENA_ARRAY(r->arena, uint8_t, r->units.count),
                         .same = true};
    if (!take_tape(r, row->stem))
        return fault("tape", "a step of the stem cannot be taken");
    uint32_t *words = ARENA_ARRAY(r->arena, uint32_t, machine->block_words);
    machine_save(machine, words);
    see_state(r, &f, true);
    use_tape(r, row->loop);
    while (r->next < row->loop->count) {
        uint32_t unit = r->units.unit_of[row->loop->entries[r->next] % machine->actor_count];
        if (!take_step(r))
            return fault("tape", "a step of the loop cannot be taken");
        f.settled[unit] = 1;
        see_state(r, &f, false);
    }
    if (row->loop->count == 0 || machine_status(machine) != STATUS_RUNNING ||
        !machine_equals(machine, words))
        return fault("state", "the loop does not come back to its first state");
    if (r->miscounts)
        return fault("fairness", "others have finished than the machine counts");
    const char *unfair = matrix_is_policy(row) ? NULL : judge_fairness(r, &f);
    return unfair ? fault("fairness", unfair) : fault(NULL, NULL);
}

struct witness_fault matrix_witness_of(struct arena *arena, const struct matrix_row *row)
{
    size_t mark = arena_mark(arena);
    struct replay r = start_replay(arena, row);
    struct witness_fault found = replay_loop(&r);
    if (found.observable)
        return found;
    arena_release(arena, mark);
    return found;
}

/* ---- the other definition ---- */

static const struct tape *without_last(struct arena *arena, const struct tape *tape)
{
    struct tape *shorter = ARENA_NEW(arena, struct tape);
    *shorter = *tape;
    while (shorter->count > 0 && shorter->entries[--shorter->count] & TAPE_INNER)
        continue;
    return shorter;
}

struct witness_fault matrix_definition(struct arena *arena, const struct matrix_row *row)
{
    struct replay r = start_replay(arena, row);
    const struct fair_units units = {r.units.unit_of, r.units.count};
    struct matrix_row asked = *row;
    for (int m = 0; m < 2 * PROGRESS_MODEL_COUNT; m++) {
        size_t mark = arena_mark(arena);
        enum progress_model model = (enum progress_model)(m / 2);
        asked.model = progress_table[model].name;
        asked.loop = m % 2 ? without_last(arena, row->loop) : row->loop;
        bool other = fair_lasso_is(arena, r.machine, &units, model, row->stem, asked.loop);
        bool own = !matrix_witness_of(arena, &asked).observable;
        if (own != other)
            return fault("definition",
                         arena_printf(arena, "it %s an execution of %s%s by fair_lasso.h",
                                      other ? "is" : "is not", asked.model,
                                      m % 2 ? ", without its last step," : ""));
        arena_release(arena, mark);
    }
    return fault(NULL, NULL);
}

/* ---- policies without a stack ---- */

/* The policy chooses the threads of the tape, from where it is. */
static bool follows(struct replay *r, struct scheduler *scheduler, const struct tape *tape)
{
    use_tape(r, tape);
    while (r->next < tape->count) {
        const struct machine_head *head = r->machine->head;
        if (machine_status(r->machine) != STATUS_RUNNING)
            return false;
        uint32_t index = scheduler->choices.pick(&scheduler->choices, r->machine);
        if (head->live[index] != tape->entries[r->next] || !take_step(r))
            return false;
    }
    return true;
}

static struct witness_fault judge_policy(struct arena *arena, const struct matrix_row *row)
{
    struct replay r = start_replay(arena, row);
    struct sched_spec spec;
    struct scheduler scheduler;
    if (!sched_parse(row->model, &spec))
        return fault("policy", "there is no such policy");
    sched_start(&scheduler, &spec, r.machine, arena);
    bool is = follows(&r, &scheduler, row->stem) && follows(&r, &scheduler, row->loop) &&
              follows(&r, &scheduler, row->loop);
    return is ? fault(NULL, NULL) : fault("policy", "the policy does not choose these threads");
}

/* A group of some live thread, drawn: all of its warp at its program counter. */
static void step_group(struct replay *r, struct pcg *rng)
{
    struct machine *machine = r->machine;
    const struct ast_launch *launch = &machine->program->launch;
    uint32_t threads = machine->actor_count;
    uint8_t *group = ARENA_ARRAY(r->arena, uint8_t, threads);
    uint32_t leader = machine->head->live[pcg_below(rng, machine->head->live_count)];
    for (uint32_t t = 0; t < threads; t++)
        group[t] = is_live(machine, t) && t / launch->threads == leader / launch->threads &&
                   t % launch->threads / launch->warp == leader % launch->threads / launch->warp &&
                   machine->semantics->same_pc(machine, leader, t, false);
    for (uint32_t t = 0; t < threads; t++)
        if (group[t] && machine_status(machine) == STATUS_RUNNING && is_live(machine, t)) {
            machine_step(machine, t, &r->choices);
            machine->track.log_count = 0;
        }
}

static struct witness_fault judge_random(struct arena *arena, const struct matrix_row *row,
                                         uint64_t seed)
{
    enum { GROUPS = 96 };
    static const struct tape no_choices = {.count = 0};
    struct replay r = start_replay(arena, row);
    struct pcg rng = pcg_derive(seed, PCG_SCHEDULE, row->loop->count);
    (void)take_tape(&r, row->stem);
    use_tape(&r, &no_choices);
    for (uint32_t i = 0; i < GROUPS && machine_status(r.machine) == STATUS_RUNNING; i++) {
        size_t mark = arena_mark(arena);
        step_group(&r, &rng);
        arena_release(arena, mark);
    }
    if (machine_status(r.machine) != STATUS_RUNNING && !r.drifted)
        return fault("policy", "the end is reached from the loop");
    return fault(NULL, NULL);
}

/* ---- */

struct witness_fault matrix_witness(struct arena *arena, const struct matrix_row *row,
                                    uint64_t seed)
{
    size_t mark = arena_mark(arena);
    struct witness_fault found = matrix_witness_of(arena, row);
    if (!found.observable && matrix_is_policy(row))
        found = strcmp(row->model, "stackless:random") == 0 ? judge_random(arena, row, seed)
                                                            : judge_policy(arena, row);
    if (!found.observable)
        found = matrix_judge_sentence(arena, row);
    if (!found.observable)
        arena_release(arena, mark);
    return found;
}
