#include "fuzz/report/side.h"

#include "engine/blocks/lockstep.h"
#include "engine/crs/crs.h"
#include "engine/machine/live.h"
#include "engine/warps/threads.h"
#include "fuzz/trace/trace_blocks.h"
#include "fuzz/trace/trace_crs.h"
#include "fuzz/trace/trace_text.h"
#include "oracle/check/evidence.h"

#include <inttypes.h>
#include <string.h>

enum { WRITES_SHOWN = 4 };

struct recorder {
    struct observer observer;
    struct arena *arena;
    const struct machine *machine;
    struct trace_text text;
    struct side *side;
    struct side_step *steps;
    const char **tops; /* an actor: what its next step executes */
    const char *writes;
    uint32_t write_count;
    uint32_t leader; /* the step that is followed */
};

static void see_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    struct recorder *r = context;
    (void)thread;
    (void)stm;
    if (r->side->step_count == SIDE_STEPS_MAX)
        return;
    if (r->write_count++ < WRITES_SHOWN)
        r->writes =
            arena_printf(r->arena, "%s%s%s = %" PRId32, r->writes, *r->writes ? ", " : "",
                         program_location_name(r->arena, r->machine->program, address), value);
}

/* ---- lanes ---- */

static void put_lane(struct side_step *step, uint32_t thread, char state, bool ran)
{
    if (thread >= SIDE_LANES_MAX)
        return;
    step->lanes[thread] = state;
    if (ran)
        step->ran |= (uint64_t)1 << thread;
}

static char lane_state(char disabled, bool active)
{
    return disabled != '0' ? disabled : active ? 'a' : '.';
}

static void see_lanes(struct recorder *r, const struct step_event *event, struct side_step *step)
{
    memset(step->lanes, ' ', side_lanes(r->side));
    switch (r->text.view) {
    case TRACE_THREADS:
    case TRACE_BLOCKS:
    case TRACE_CTA:
        put_lane(step, event->actor, 'a', true);
        break;
    case TRACE_WARPS: {
        struct warp_state warp = simt_state(r->machine, event->actor);
        for (uint32_t i = 0; i < warp.lanes; i++)
            put_lane(step, warp.first_thread + i,
                     lane_state(simt_disable_state(&warp, i), warp.theta >> i & 1),
                     event->active >> i & 1);
        break;
    }
    case TRACE_CRS: {
        struct crs_warp warp = crs_warp(r->machine, event->actor);
        const char *disabled = trace_crs_disabled(&r->text, event->actor);
        for (uint32_t i = 0; i < warp.lanes->count; i++)
            put_lane(step, warp.lanes->first_thread + i,
                     lane_state(disabled[i], warp.state->active >> i & 1), event->active >> i & 1);
        break;
    }
    case TRACE_VECTORS: {
        const uint32_t *threads;
        uint32_t count = lockstep_threads(r->machine, event->actor, &threads);
        const uint8_t *enabled = lockstep_enabled(r->machine);
        for (uint32_t i = 0; i < count; i++)
            put_lane(step, threads[i], enabled[i] ? 'a' : '.', enabled[i]);
        break;
    }
    }
}

/* ---- steps ---- */

static const char *actor_name(const struct recorder *r, uint32_t actor)
{
    const char *what = r->text.view == TRACE_WARPS || r->text.view == TRACE_CRS ? "warp"
                       : r->text.view == TRACE_VECTORS                          ? "block"
                                                                                : "thread";
    return arena_printf(r->arena, "%s %" PRIu32, what, actor);
}

static const char *state_text(struct recorder *r, uint32_t actor)
{
    const char *stack = trace_stack(&r->text, actor);
    const char *pcs = r->text.view == TRACE_CRS ? trace_crs_pcs(&r->text, actor) : NULL;
    return pcs ? arena_printf(r->arena, "%s, pcs %s", stack, pcs) : stack;
}

/* The end of a barrier is no step of the actor: the barrier instruction then. */
static const char *executed(const struct recorder *r, const struct step_event *event)
{
    if (event->rule != r->machine->semantics->barrier_rule || !trace_is_ptx(r->text.view))
        return r->tops[event->actor];
    return event->stm == CODE_NONE ? "" : r->text.heads[event->stm];
}

static void keep_step(struct recorder *r, const struct step_event *event)
{
    struct side_step *step = &r->steps[r->side->step_count++];
    *step = (struct side_step){.number = r->side->total,
                               .actor = actor_name(r, event->actor),
                               .rule = rule_table[event->rule].name,
                               .executed = executed(r, event),
                               .writes = r->writes,
                               .stack = state_text(r, event->actor),
                               .stm = event->stm,
                               .leader = r->leader,
                               .line = evidence_line(r->machine->program, event->stm)};
    see_lanes(r, event, step);
}

static void see_tops(struct recorder *r, const struct step_event *event)
{
    bool all = event->rule == r->machine->semantics->barrier_rule;
    for (uint32_t i = all ? 0 : event->actor;
         i < (all ? r->machine->actor_count : event->actor + 1); i++)
        r->tops[i] = trace_top(&r->text, i);
}

static void see_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct recorder *r = context;
    (void)machine;
    r->side->total++;
    if (r->side->step_count < SIDE_STEPS_MAX) {
        keep_step(r, event);
        see_tops(r, event);
    }
    r->writes = "";
    r->write_count = 0;
}

static struct machine *start(struct arena *arena, const struct program *program,
                             enum subject_id subject, struct recorder *r, struct side *side)
{
    const struct subject_info *info = &subject_table[subject];
    struct machine_options options = info->options;
    struct machine *machine = machine_new(arena, info->vtable, program, &options);
    *side = (struct side){.subject = info->name,
                          .threads = program->total_threads,
                          .warp = program->launch.warp,
                          .block = program->launch.threads};
    r->steps = ARENA_ARRAY(arena, struct side_step, SIDE_STEPS_MAX);
    side->steps = r->steps;
    *r = (struct recorder){
        .observer = {.context = r, .write = see_write, .atomic = see_write, .step = see_step},
        .arena = arena,
        .machine = machine,
        .side = side,
        .steps = r->steps,
        .tops = ARENA_ARRAY(arena, const char *, machine->actor_count),
        .writes = ""};
    trace_text_start(&r->text, arena, machine, trace_view_of(machine));
    for (uint32_t i = 0; i < machine->actor_count; i++)
        r->tops[i] = trace_top(&r->text, i);
    machine_observe(machine, &r->observer);
    return machine;
}

static void finish(struct recorder *r, enum status status)
{
    const struct machine_head *head = r->machine->head;
    const char *name = status == STATUS_STEP_LIMIT ? "still running" : status_names[status];
    bool fault = status != STATUS_TERMINATED && status != STATUS_STEP_LIMIT &&
                 status != STATUS_RUNNING && head->fault_stm != CODE_NONE;
    r->side->ended = fault ? arena_printf(r->arena, "%s: thread %" PRIu32 ", line %" PRIu32, name,
                                          head->fault_thread,
                                          evidence_line(r->machine->program, head->fault_stm))
                           : name;
    r->side->parts = r->side->step_count;
}

void side_run(struct arena *arena, const struct program *program, enum subject_id subject,
              const struct sched_spec *schedule, const char *name, struct side *side)
{
    struct recorder r;
    struct scheduler scheduler;
    struct machine *machine = start(arena, program, subject, &r, side);
    side->schedule = name;
    sched_start(&scheduler, schedule, machine, arena);
    finish(&r, machine_run(machine, &scheduler.choices, SIDE_BUDGET, NULL));
}

/* ---- threads that follow a warp ---- */

/* The thread's steps up to and with the one that executes the statement: contexts that end before it, and
 * both steps of an assignment. */
static bool follow_statement(struct machine *machine, struct choices *choices, uint32_t thread,
                             uint32_t stm, struct tape *tape)
{
    while (machine_status(machine) == STATUS_RUNNING && is_live(machine, thread)) {
        uint32_t next = machine->semantics->next_stm(machine, thread);
        if (next != stm && next != CODE_NONE)
            return false;
        tape_add(tape, thread);
        machine_step(machine, thread, choices);
        if (next == stm && !threads_state(machine, thread)->pending)
            return true;
    }
    return false;
}

bool side_follow(struct arena *arena, const struct program *program, enum subject_id subject,
                 struct side *leader, struct side *side, struct tape *tape)
{
    struct recorder r;
    struct scheduler scheduler;
    struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    struct machine *machine = start(arena, program, subject, &r, side);
    bool parted = false;
    side->schedule = "after the warp, thread by thread";
    sched_start(&scheduler, &spec, machine, arena);
    for (uint32_t i = 0; i < leader->step_count && !parted; i++) {
        const struct side_step *step = &leader->steps[i];
        r.leader = i;
        for (uint32_t t = 0; t < side_lanes(side) && step->stm != CODE_NONE && !parted; t++) {
            if (!(step->ran >> t & 1))
                continue;
            parted = !follow_statement(machine, &scheduler.choices, t, step->stm, tape);
            if (parted)
                leader->parts = i;
        }
        if (side->step_count == SIDE_STEPS_MAX)
            break;
    }
    /* What is left at the end are contexts, which no step of a warp executes. */
    if (!parted && leader->total == leader->step_count)
        machine_run(machine, &scheduler.choices, SIDE_BUDGET, NULL);
    finish(&r, machine_status(machine));
    if (parted && side->step_count > 0)
        side->parts = side->step_count - 1;
    return parted;
}
