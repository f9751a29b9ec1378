#include "fuzz/step/stepper.h"

#include "engine/caches/caches.h"
#include "fuzz/trace/trace.h"
#include "fuzz/view/view_letters.h"
#include "oracle/check/evidence.h"
#include "oracle/race/race.h"

#include <inttypes.h>
#include <string.h>

enum {
    MARKS_BYTES = 64 << 20, /* that kept states take at most */
    INTERVAL = 256,         /* steps between two of them, at least */
    CHOICES = 4             /* of a step on average, at most: what the tape has room for */
};

struct step_mark {
    uint32_t *words;
    struct scheduler scheduler;
};

uint32_t stepper_line(const struct stepper *stepper, uint32_t stm)
{
    return stm == CODE_NONE || stm >= stepper->program->stm_count
               ? 0
               : stepper->program->stms[stm].line;
}

/* ---- the first time ---- */

struct first_run {
    struct observer observer;
    struct stepper *stepper;
    const struct race_detector *race;
    uint32_t racy; /* locations, before the step */
};

/* Whether the condition of a branch holds for some threads of the warp and not for others. */
static bool parts(const struct stepper *s, const struct step_event *event)
{
    if (event->stm == CODE_NONE || event->truth == 0 || event->truth == event->active)
        return false;
    const struct code_stm *stm = &s->program->stms[event->stm];
    return event->active != 0 && event->actor < s->machine->actor_count &&
           (stm->kind == CODE_IF || stm->kind == CODE_WHILE ||
            (stm->kind == CODE_PTX && s->program->ptx->ops[event->stm].exec == PTX_EXEC_BRA));
}

static void note_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct first_run *run = context;
    struct stepper *s = run->stepper;
    uint8_t flags = parts(s, event) ? STEP_PARTS : 0;
    (void)machine;
    if (run->race->racy_locations > run->racy)
        flags |= STEP_RACES;
    run->racy = run->race->racy_locations;
    s->records[s->count++] = (struct step_record){
        .actor = event->actor, .stm = event->stm, .rule = (uint16_t)event->rule, .flags = flags};
}

/* More about how it ends: who, where, why; NULL: that it ends so says all. */
static const char *fault_text(struct stepper *s)
{
    const struct machine_head *head = s->machine->head;
    uint32_t line = stepper_line(s, head->fault_stm);
    const char *why = s->machine->fault_text;
    if (s->status == STATUS_TERMINATED || s->status == STATUS_STEP_LIMIT || line == 0)
        return NULL;
    return arena_printf(s->arena, "thread %" PRIu32 " at line %" PRIu32 "%s%s", head->fault_thread,
                        line, why ? ", " : "", why ? why : "");
}

static void run_first(struct stepper *s, struct sched_spec schedule, uint64_t steps)
{
    struct tape *tape = tape_new(s->arena, (uint32_t)steps * CHOICES);
    struct race_detector *race = race_new(s->arena, s->program);
    struct first_run run = {.stepper = s, .race = race};
    struct scheduler scheduler;
    trace_survey(s->arena, s->machine, &schedule, steps);
    race_begin(race);
    race_watch(race, s->machine);
    run.observer = (struct observer){.context = &run, .step = note_step, .environment = note_step};
    race->observer.next = &run.observer;
    s->records = ARENA_ARRAY(s->arena, struct step_record, steps + 1);
    machine_observe(s->machine, &race->observer);
    sched_start(&scheduler, &schedule, s->machine, s->arena);
    s->status = machine_run(s->machine, &scheduler.choices, steps, tape);
    s->schedule = (struct sched_spec){.kind = SCHED_TAPE, .tape = tape};
    s->fault = fault_text(s);
    if (race->found)
        s->race_says = evidence_race_sentence(s->arena, s->program, &race->witness);
}

/* ---- again ---- */

/* The second run keeps states on the way. */
static void keep_marks(struct stepper *s)
{
    size_t bytes = s->machine->block_words * sizeof(uint32_t);
    uint64_t most = MARKS_BYTES / bytes + 1;
    struct scheduler scheduler;
    s->interval = s->count / most + 1;
    if (s->interval < INTERVAL)
        s->interval = INTERVAL;
    uint64_t count = s->count / s->interval + 1;
    s->marks = ARENA_ARRAY(s->arena, struct step_mark, count);
    machine_reset(s->machine);
    machine_observe(s->machine, NULL);
    sched_start(&scheduler, &s->schedule, s->machine, s->arena);
    for (uint64_t i = 0; i < count; i++) {
        s->marks[i].words = ARENA_ARRAY(s->arena, uint32_t, s->machine->block_words);
        machine_save(s->machine, s->marks[i].words);
        s->marks[i].scheduler = scheduler;
        if (i + 1 < count)
            machine_run(s->machine, &scheduler.choices, s->interval, NULL);
    }
}

/* The state after so many steps, without looking. */
static void reach(struct stepper *s, uint64_t step, struct scheduler *scheduler)
{
    uint64_t mark = step / s->interval;
    machine_observe(s->machine, NULL);
    machine_restore(s->machine, s->marks[mark].words, 0);
    s->machine->steps = mark * s->interval;
    *scheduler = s->marks[mark].scheduler;
    if (step % s->interval > 0)
        machine_run(s->machine, &scheduler->choices, step % s->interval, NULL);
}

/* ---- one step, looked at ---- */

struct look {
    struct observer observer;
    struct stepper *stepper;
    const struct step_watcher *watcher;
    uint64_t step;
};

static void see_access(struct look *look, struct step_access access)
{
    struct stepper *s = look->stepper;
    if (s->access_count == STEP_ACCESSES)
        s->more_accesses++;
    else
        s->accesses[s->access_count++] = access;
}

static void see_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)stm;
    see_access(context,
               (struct step_access){.kind = ACCESS_READ, .thread = thread, .address = address});
}

static void see_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)stm;
    see_access(context, (struct step_access){ACCESS_WRITE, thread, address, value});
}

static void see_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                       uint32_t stm)
{
    (void)stm;
    see_access(context, (struct step_access){ACCESS_ATOMIC, thread, address, value});
}

static void see_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct look *look = context;
    struct stepper *s = look->stepper;
    (void)machine;
    look->step++;
    trace_private_see(&s->own, &s->text, event);
    look->watcher->see(look->watcher->context, s, look->step, event);
    s->access_count = s->more_accesses = 0;
}

void stepper_run(struct stepper *s, uint64_t from, uint64_t to, const struct step_watcher *watcher)
{
    struct scheduler scheduler;
    struct look look = {.stepper = s, .watcher = watcher, .step = from};
    reach(s, from, &scheduler);
    if (from >= to)
        return;
    s->access_count = s->more_accesses = 0;
    trace_private_start(&s->own, s->scratch, s->machine);
    look.observer = (struct observer){.context = &look,
                                      .read = see_read,
                                      .write = see_write,
                                      .atomic = see_atomic,
                                      .step = see_step,
                                      .environment = see_step};
    machine_observe(s->machine, &look.observer);
    machine_run(s->machine, &scheduler.choices, to - from, NULL);
    machine_observe(s->machine, NULL);
}

/* ---- where it is ---- */

struct last {
    struct step_access accesses[STEP_ACCESSES];
    uint32_t count, more;
};

static void keep_step(void *context, struct stepper *s, uint64_t step,
                      const struct step_event *event)
{
    struct last *last = context;
    (void)step;
    s->ran = view_ran(&s->text, event, &s->ran_first);
    memcpy(last->accesses, s->accesses, sizeof last->accesses);
    last->count = s->access_count;
    last->more = s->more_accesses;
}

/* A statement says what was executed; of a token, or the second half of an assignment, what lay on top does. */
static const char *executed(const struct stepper *s, const struct step_record *record,
                            const char *top)
{
    const struct semantics *semantics = s->machine->semantics;
    if (record->actor >= s->machine->actor_count && record->stm == CODE_NONE)
        return semantics->environment_name(s->scratch, s->machine, record->actor);
    bool barrier = record->rule == semantics->barrier_rule;
    if (record->stm != CODE_NONE && (barrier || trace_is_ptx(s->text.view) || semantics->stack_of))
        return s->text.heads[record->stm];
    return barrier ? "" : top;
}

bool stepper_is_environment(const struct stepper *s)
{
    return s->at > 0 && s->records[s->at - 1].actor >= s->machine->actor_count;
}

/* Of an operation its actor; of a cache's step the first one, for want of another. */
static uint32_t actor_of(const struct stepper *s, uint32_t number)
{
    uint32_t actor = number, place;
    if (number < s->machine->actor_count)
        return number;
    return caches_is_operation(s->machine, number, &actor, &place) ? actor : 0;
}

static const int32_t *memory_before(struct stepper *s)
{
    size_t words = s->program->private_base;
    if (!s->machine->semantics->environment)
        return NULL;
    int32_t *copy = ARENA_ARRAY(s->scratch, int32_t, words + 1);
    memcpy(copy, s->machine->memory, words * sizeof *copy);
    return copy;
}

void stepper_go(struct stepper *s, uint64_t step)
{
    struct last *last;
    struct scheduler scheduler;
    s->at = step < s->count ? step : s->count;
    arena_release(s->scratch, 0);
    last = ARENA_NEW(s->scratch, struct last);
    s->access_count = s->more_accesses = s->own.count = 0;
    s->executed = s->ran = "";
    s->actor = 0;
    s->before = NULL;
    reach(s, s->at > 0 ? s->at - 1 : 0, &scheduler);
    if (s->at == 0)
        return;
    const struct step_record *record = &s->records[s->at - 1];
    const struct step_watcher watcher = {last, keep_step};
    s->actor = actor_of(s, record->actor);
    s->before = memory_before(s);
    const char *top = trace_top(&s->text, s->actor);
    stepper_run(s, s->at - 1, s->at, &watcher);
    s->executed = executed(s, record, top);
    memcpy(s->accesses, last->accesses, sizeof s->accesses);
    s->access_count = last->count;
    s->more_accesses = last->more;
}

void stepper_look_back(struct stepper *s, uint64_t steps, const struct step_watcher *watcher)
{
    struct trace_private own = s->own;
    struct last *last = ARENA_NEW(s->scratch, struct last);
    last->count = s->access_count;
    last->more = s->more_accesses;
    memcpy(last->accesses, s->accesses, sizeof last->accesses);
    stepper_run(s, s->at > steps ? s->at - steps : 0, s->at, watcher);
    memcpy(s->accesses, last->accesses, sizeof s->accesses);
    s->access_count = last->count;
    s->more_accesses = last->more;
    s->own = own;
}

/* ---- all of it ---- */

static void split_source(struct stepper *s, const char *text)
{
    uint32_t count = 1;
    for (const char *c = text; *c; c++)
        count += *c == '\n';
    s->source = ARENA_ARRAY(s->arena, const char *, count);
    for (uint32_t i = 0; i < count && *text; i++) {
        size_t length = strcspn(text, "\n");
        s->source[s->source_count++] = arena_strndup(s->arena, text, length);
        text += length + (text[length] != '\0');
    }
}

struct stepper *stepper_new(struct arena *arena, struct arena *scratch,
                            const struct stepper_options *options)
{
    struct stepper *s = ARENA_NEW(arena, struct stepper);
    struct machine_options machine_options = options->subject->options;
    struct sched_spec schedule = options->schedule;
    s->arena = arena;
    s->scratch = scratch;
    s->subject = options->subject;
    s->program = options->program;
    s->name = options->name;
    split_source(s, options->source);
    bool loops =
        view_loop_find(arena, s->subject, s->program, &schedule, options->max_steps, &s->loop);
    uint64_t steps = view_loop_steps(&s->loop, options->max_steps);
    if (loops)
        schedule = view_loop_schedule(arena, &s->loop, steps);
    s->machine = machine_new(arena, s->subject->vtable, s->program, &machine_options);
    run_first(s, schedule, steps);
    if (loops)
        s->status = STATUS_NONTERMINATING;
    keep_marks(s);
    trace_text_start(&s->text, arena, s->machine, trace_view_of(s->machine));
    s->text.arena = scratch;
    stepper_go(s, 0);
    return s;
}
