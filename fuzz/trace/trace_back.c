#define _GNU_SOURCE /* fopencookie */
#include "fuzz/trace/trace_back.h"

#include "engine/schedule/tape.h"
#include "fuzz/case/read_back.h"
#include "fuzz/trace/trace.h"
#include "oracle/check/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 100, EVENTS = 4 * STEPS };

/* ---- the stream ---- */

static ssize_t put(void *cookie, const char *bytes, size_t length)
{
    struct trace_back *back = cookie;
    size_t room = TRACE_BACK_KEPT - 1 - back->kept;
    size_t kept = length < room ? length : room;
    memcpy(back->bytes + back->kept, bytes, kept);
    back->kept += kept;
    back->bytes[back->kept] = '\0';
    for (size_t i = 0; i < length; i++)
        back->hash = (back->hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return (ssize_t)length;
}

bool trace_back_open(struct trace_back *back)
{
    back->out = fopencookie(back, "w", (cookie_io_functions_t){.write = put});
    return back->out && arena_init(&back->arena, TRACE_BACK_KEPT) == 0 &&
           (back->bytes = arena_room(&back->arena, TRACE_BACK_KEPT));
}

void trace_back_close(struct trace_back *back)
{
    if (back->out)
        fclose(back->out);
    arena_destroy(&back->arena);
    *back = (struct trace_back){.out = NULL};
}

/* ---- what was done ---- */

struct taken {
    struct observer observer;
    uint32_t count; /* a step of the machine may be more than one: a barrier's, too */
    struct step_event steps[EVENTS];
};

static void see_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct taken *taken = context;
    (void)machine;
    if (taken->count < EVENTS)
        taken->steps[taken->count] = *event;
    taken->count++;
}

static struct tape *record(struct arena *arena, const struct read_back_subject *s, uint64_t seed,
                           struct taken *taken)
{
    struct machine *machine = machine_new(arena, s->info->vtable, s->program, &s->info->options);
    struct sched_spec spec = sched_portfolio(seed, (uint32_t)(seed % 16), machine->actor_count, 0);
    struct tape *tape = tape_new(arena, 0);
    struct scheduler scheduler;
    struct recorder recorder;
    taken->observer = (struct observer){.context = taken, .step = see_step};
    machine_observe(machine, &taken->observer);
    machine_reset(machine);
    sched_start(&scheduler, &spec, machine, arena);
    recorder_start(&recorder, &scheduler.choices, tape, arena);
    (void)machine_run(machine, &recorder.choices, STEPS, NULL);
    machine_observe(machine, NULL);
    return tape;
}

/* ---- the trace as text ---- */

/* Returns what tells it from other traces; its beginning is in back->bytes. */
static uint64_t print(struct trace_back *back, struct arena *arena,
                      const struct read_back_subject *s, const struct tape *tape)
{
    const struct trace_options options = {.subject = s->subject,
                                          .schedule = {.kind = SCHED_TAPE, .tape = tape},
                                          .max_steps = STEPS,
                                          .json = true};
    back->kept = 0;
    back->bytes[0] = '\0';
    back->hash = UINT64_C(0xcbf29ce484222325);
    (void)trace_run(arena, s->program, &options, back->out);
    fflush(back->out);
    return back->hash;
}

/* Behind `word`, where the line has it; NULL: it has not. */
static const char *behind(const char *at, const char *word)
{
    size_t length = strlen(word);
    return at && strncmp(at, word, length) == 0 ? at + length : NULL;
}

/* Whether the line begins with the step's number, rule and actor. */
static bool names_step(const char *line, uint32_t number, const struct step_event *event)
{
    char *end;
    const char *at = behind(line, "{\"step\": ");
    if (!at || strtoul(at, &end, 10) != number)
        return false;
    at = behind(behind(end, ", \"rule\": \""), rule_table[event->rule].name);
    at = behind(at, "\", \"");
    if (!at)
        return false;
    const char *actor = behind(at, "thread\": ");
    if (!actor)
        actor = behind(at, "actor\": \"warp ");
    if (!actor)
        actor = behind(at, "actor\": \"block ");
    return actor && strtoul(actor, &end, 10) == event->actor && end > actor;
}

/* As far as the text was kept. */
static bool names_all(const struct trace_back *back, const struct taken *taken)
{
    const char *text = back->bytes;
    for (uint32_t i = 0; i < taken->count && i < EVENTS; i++) {
        const char *end = strchr(text, '\n');
        if (!end)
            return back->kept == TRACE_BACK_KEPT - 1;
        if (!names_step(text, i + 1, &taken->steps[i]))
            return false;
        text = end + 1;
    }
    return taken->count > EVENTS || *text == '\0';
}

const char *trace_back(struct trace_back *back, struct arena *arena,
                       const struct ast_kernel *kernel, uint64_t seed)
{
    size_t column;
    struct read_back_subject subject;
    if (!read_back_choose(arena, kernel, seed, &subject))
        return NULL;
    struct taken *taken = ARENA_NEW(arena, struct taken);
    const struct tape *tape = record(arena, &subject, seed, taken);
    uint64_t first = print(back, arena, &subject, tape);
    if (!names_all(back, taken))
        return "trace text";
    const struct tape *parsed = tape_parse(arena, tape_print(arena, tape), &column);
    return parsed && print(back, arena, &subject, parsed) == first ? NULL : "trace";
}
