#include "fuzz/programs/host_divergence.h"

#include "engine/base/pcg.h"
#include "engine/host/host.h"
#include "oracle/check/evidence.h"
#include "oracle/check/verdict.h"
#include "oracle/device/host_tiny.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct host_finding *telling(const struct host_verdict *v, bool races)
{
    for (const struct host_finding *f = v->findings; f; f = f->next)
        if (races ? f->kind == FINDING_REFERENCE : f->kind != FINDING_FORWARD)
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

struct host_divergence host_divergence_of(struct arena *arena, const char *program, bool races,
                                          bool read, const struct host_verdict *verdict)
{
    const struct host_finding *f = read ? telling(verdict, races) : NULL;
    struct host_divergence d = {.word = "", .text = ""};
    if (!read) {
        d.class = "unreadable";
        d.text = "the program cannot be read";
    } else if (f) {
        d.class = host_finding_names[f->kind];
        d.word = host_word_of_line(arena, program, f->line);
        d.line = f->line;
        d.text = f->text;
    } else if (races && !tells_race(verdict)) {
        d.class = "missed";
        d.text = "no race is told, although one is known";
    } else if (!verdict->ended) {
        d.class = "endless";
        d.text = "the program does not end";
    }
    if (d.class)
        d.signature = arena_printf(arena, "host|%s|%s|", d.class, d.word);
    return d;
}

void host_follow_drawn(struct host_judge_options *options, uint64_t seed, uint64_t number)
{
    options->followed = FOLLOW_DRAWN;
    options->follow_seed = pcg_splitmix(seed ^ pcg_splitmix(number));
}

static bool judge(struct arena *arena, const struct host_case *c, const char *program, bool all,
                  struct host_verdict *verdict)
{
    struct host_judge_options options = HOST_JUDGE_DEFAULTS;
    options.schedules = c->schedules;
    options.settings = *c->device && !c->tiny ? c->device : NULL;
    if (!all)
        host_follow_drawn(&options, c->seed, c->number);
    return host_judge_text(arena, "generated.host", program, strlen(program), &options, verdict);
}

/* The reference follows its executions; its searches are compared. */
static struct host_divergence tiny_divergence(struct arena *arena, const struct host_case *c,
                                              const char *program,
                                              const struct host_divergence *followed,
                                              uint64_t *steps)
{
    struct host_divergence d = {.word = "", .text = ""};
    if (followed->class && strcmp(followed->class, "missed") != 0 &&
        strcmp(followed->class, "endless") != 0)
        return *followed;
    d.text = host_tiny_differs(arena, program, c->device, c->seed ^ c->number, steps);
    if (d.text) {
        d.class = "search";
        d.signature = "host|search||";
    }
    return d;
}

struct host_divergence host_case_divergence(struct arena *arena, const struct host_case *c,
                                            const char *program, uint64_t *steps)
{
    struct host_verdict *verdict = ARENA_NEW(arena, struct host_verdict);
    bool read = judge(arena, c, program, false, verdict);
    *steps = verdict->steps;
    const struct host_divergence d =
        host_divergence_of(arena, program, c->races || c->tiny, read, verdict);
    return c->tiny ? tiny_divergence(arena, c, program, &d, steps) : d;
}

/* A text that is refused, whoever reads it. */
static const char *refusal(struct arena *arena, const char *program)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    struct divergence d = {.part = NULL};
    diag_init(diag, "generated.host", program, strlen(program));
    (void)host_parse(arena, "generated.host", program, strlen(program), diag);
    if (diag->count > 0)
        divergence_of_part(arena, &d,
                           arena_printf(arena, "refused, line 1: %s", diag->entries[0].text));
    return d.like ? arena_printf(arena, "part|%s||%s", d.like, d.part) : NULL;
}

const char *host_case_cause(struct arena *arena, const struct host_case *c, const char *program,
                            const char *class)
{
    const char *refused = strcmp(class, "unreadable") == 0 ? refusal(arena, program) : NULL;
    if (refused)
        return refused;
    struct host_verdict *verdict = ARENA_NEW(arena, struct host_verdict);
    const struct host_finding *f =
        judge(arena, c, program, true, verdict) ? telling(verdict, true) : NULL;
    return f ? arena_printf(arena, "host|%s|%s|", host_finding_names[f->kind],
                            host_word_of_line(arena, program, f->line))
             : arena_printf(arena, "host|%s||", class);
}

const char *host_divergence_evidence(struct arena *arena, const struct host_divergence *d,
                                     const struct host_case *c)
{
    struct evidence e;
    evidence_open(&e, arena);
    evidence_string(&e, "kind", d->class);
    evidence_number(&e, "line", d->line);
    evidence_string(&e, "text", d->text);
    evidence_string(&e, "device", c->device);
    return evidence_close(&e);
}

bool host_can_be_small(const char *class, const struct host_case *c)
{
    bool expects = strcmp(class, "expectation") == 0 && !*c->device;
    return !expects && strcmp(class, "missed") != 0 && strcmp(class, "unreadable") != 0 &&
           strcmp(class, "endless") != 0;
}

uint32_t host_lines(const char *program)
{
    uint32_t lines = 0;
    for (; *program; program++)
        lines += *program == '\n';
    return lines;
}

const char *host_case_print(struct arena *arena, const struct host_case *c)
{
    return arena_printf(
        arena, "host seed=0x%" PRIx64 " case=%" PRIu64 " schedules=%" PRIu32 " races=%d device=%s",
        c->seed, c->number, c->schedules, c->tiny ? 2 : c->races, c->device);
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
    c->races = races == 1;
    c->tiny = races == 2;
    c->device = arena_strndup(arena, text + at, strlen(text + at));
    return true;
}
