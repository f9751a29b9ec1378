#include "fuzz/host/host_alarm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct host_finding *telling(const struct host_verdict *v, bool races)
{
    for (const struct host_finding *f = v->findings; f && !races; f = f->next)
        if (f->kind != FINDING_FORWARD)
            return f;
    return NULL;
}

static bool tells_race(const struct host_verdict *v)
{
    for (const struct host_finding *f = v->findings; f; f = f->next)
        if (f->kind == FINDING_RACE)
            return true;
    return false;
}

struct host_alarm host_alarm_of(struct arena *arena, const char *program, bool races, bool read,
                                const struct host_verdict *verdict)
{
    const struct host_finding *f = read ? telling(verdict, races) : NULL;
    struct host_alarm alarm = {.word = "", .text = ""};
    if (!read) {
        alarm.class = "unreadable";
        alarm.text = "the program cannot be read";
    } else if (f) {
        alarm.class = host_finding_names[f->kind];
        alarm.word = host_word_of_line(arena, program, f->line);
        alarm.line = f->line;
        alarm.text = f->text;
    } else if (races && !tells_race(verdict)) {
        alarm.class = "missed";
        alarm.text = "no race is told, although one is known";
    } else if (!verdict->ended) {
        alarm.class = "endless";
        alarm.text = "the program does not end";
    }
    if (alarm.class)
        alarm.signature = arena_printf(arena, "host|%s|%s|", alarm.class, alarm.word);
    return alarm;
}

const char *host_case_print(struct arena *arena, const struct host_case *c)
{
    return arena_printf(
        arena, "host seed=0x%" PRIx64 " case=%" PRIu64 " schedules=%" PRIu32 " races=%d device=%s",
        c->seed, c->number, c->schedules, c->races, c->device);
}

bool host_case_parse(struct arena *arena, const char *text, struct host_case *c)
{
    int races = 0, at = 0;
    *c = (struct host_case){.seed = 0};
    if (sscanf(text,
               "host seed=%" SCNx64 " case=%" SCNu64 " schedules=%" SCNu32 " races=%d device=%n",
               &c->seed, &c->number, &c->schedules, &races, &at) != 4 ||
        at == 0)
        return false;
    c->races = races;
    c->device = arena_strndup(arena, text + at, strlen(text + at));
    return true;
}
