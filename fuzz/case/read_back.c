#include "fuzz/case/read_back.h"

#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/schedule/sched.h"
#include "engine/schedule/tape.h"
#include "engine/subjects/forms.h"
#include "engine/subjects/subject.h"
#include "oracle/check/record.h"

#include <string.h>

enum { STEPS = 2000 };

/* An execution in one number: every step and every access, in their order. */
struct seen {
    struct observer observer;
    uint64_t hash;
};

static void mix(struct seen *seen, uint64_t value)
{
    seen->hash = pcg_splitmix(seen->hash ^ value);
}

static void see_step(void *context, const struct machine *machine, const struct step_event *event)
{
    (void)machine;
    mix(context, (uint64_t)event->rule << 32 | event->actor);
    mix(context, event->stm);
}

static void see_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)stm;
    mix(context, (uint64_t)thread << 32 | address);
    mix(context, (uint32_t)value);
}

/* Runs it under the schedule; tape: what it chose is added, or NULL. What was seen, with the end and the memory. */
static uint64_t play(struct arena *arena, struct machine *machine, const struct sched_spec *spec,
                     struct tape *tape)
{
    struct seen seen = {.hash = 0};
    struct scheduler scheduler;
    struct recorder recorder;
    seen.observer = (struct observer){
        .context = &seen, .step = see_step, .write = see_write, .atomic = see_write};
    machine_observe(machine, &seen.observer);
    machine_reset(machine);
    sched_start(&scheduler, spec, machine, arena);
    if (tape)
        recorder_start(&recorder, &scheduler.choices, tape, arena);
    enum status status =
        machine_run(machine, tape ? &recorder.choices : &scheduler.choices, STEPS, NULL);
    machine_observe(machine, NULL);
    mix(&seen, (uint64_t)status);
    mix(&seen, machine_store_hash(machine));
    return seen.hash;
}

bool read_back_choose(struct arena *arena, const struct ast_kernel *kernel, uint64_t seed,
                      struct read_back_subject *chosen)
{
    struct forms *forms = forms_new(arena, kernel);
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        enum subject_id subject = (enum subject_id)((seed + i) % SUBJECT_COUNT);
        const struct subject_info *info = &subject_table[subject];
        const struct form *form = NULL;
        if (info->role == SUBJECT_ORDINARY && info->vtable)
            form = forms_get(forms, info->program);
        if (!form || !form->program || machine_refuses(arena, info->vtable, form->program))
            continue;
        *chosen = (struct read_back_subject){subject, info, form->program};
        return true;
    }
    return false;
}

static const char *tape_reads_back(struct arena *arena, struct machine *machine, uint64_t seed)
{
    size_t column;
    struct sched_spec spec = sched_portfolio(seed, (uint32_t)(seed % 16), machine->actor_count, 0);
    struct tape *tape = tape_new(arena, 0);
    uint64_t first = play(arena, machine, &spec, tape);
    const char *text = tape_print(arena, tape);
    struct tape *parsed = tape_parse(arena, text, &column);
    if (!parsed || strcmp(tape_print(arena, parsed), text) != 0)
        return "tape text";
    const struct sched_spec again = {.kind = SCHED_TAPE, .tape = parsed};
    return play(arena, machine, &again, NULL) == first ? NULL : "tape";
}

const char *read_back(struct arena *arena, const struct ast_kernel *kernel, uint64_t seed)
{
    const char *text = print_kernel(arena, kernel);
    if (strcmp(print_kernel(arena, parse_printed(arena, text)), text) != 0)
        return "kernel text";
    struct read_back_subject s;
    if (!read_back_choose(arena, kernel, seed, &s))
        return NULL;
    return tape_reads_back(arena, machine_new(arena, s.info->vtable, s.program, &s.info->options),
                           seed);
}
