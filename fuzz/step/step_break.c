#include "fuzz/step/step_break.h"

#include "fuzz/trace/trace_filter.h"
#include "fuzz/view/view_letters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {[STEP_BREAK_LINE] = "line",
                                    [STEP_BREAK_RULE] = "rule",
                                    [STEP_BREAK_THREAD] = "thread",
                                    [STEP_BREAK_RACE] = "race",
                                    [STEP_BREAK_DIVERGENCE] = "divergence",
                                    [STEP_BREAK_WATCH] = "watch"};

/* ---- steps that are known only by running ---- */

struct survey {
    const struct step_break *wanted;
    struct trace_filter filter;
    uint8_t *hits;
};

static bool writes(struct stepper *s, const struct trace_filter *filter)
{
    for (uint32_t i = 0; i < s->own.count; i++)
        if (trace_filter_watches(filter, s->own.places[i].name))
            return true;
    for (uint32_t i = 0; i < s->access_count; i++)
        if (s->accesses[i].kind != ACCESS_READ &&
            trace_filter_watches(
                filter, program_location_name(s->scratch, s->program, s->accesses[i].address)))
            return true;
    return false;
}

static void survey_step(void *context, struct stepper *s, uint64_t step,
                        const struct step_event *event)
{
    struct survey *survey = context;
    size_t mark = arena_mark(s->scratch);
    uint32_t first, thread = survey->wanted->number;
    const char *ran = view_ran(&s->text, event, &first);
    if (survey->wanted->kind == STEP_BREAK_WATCH)
        survey->hits[step - 1] = writes(s, &survey->filter);
    else
        survey->hits[step - 1] =
            thread >= first && thread - first < strlen(ran) && ran[thread - first] == '1';
    arena_release(s->scratch, mark);
}

/* NULL, or: there is no such step at all. */
static const char *survey(struct stepper *s, struct step_break *made)
{
    struct survey survey = {.wanted = made, .filter = {.watch = made->name}};
    const struct step_watcher watcher = {&survey, survey_step};
    uint64_t at = s->at;
    survey.hits = ARENA_ARRAY(s->arena, uint8_t, s->count + 1);
    stepper_run(s, 0, s->count, &watcher);
    made->hits = survey.hits;
    stepper_go(s, at);
    if (memchr(survey.hits, 1, s->count))
        return NULL;
    return arena_printf(
        s->arena, made->kind == STEP_BREAK_WATCH ? "no step writes %s" : "no step is by %s",
        made->kind == STEP_BREAK_WATCH ? made->name : step_break_text(s->arena, made));
}

/* ---- as text ---- */

static const char *parse_number(struct stepper *s, const char *rest, uint32_t most,
                                struct step_break *made)
{
    char *end;
    unsigned long number = strtoul(rest, &end, 10);
    if (!*rest || *end || *rest == '-')
        return arena_printf(s->arena, "%s: a number, please", names[made->kind]);
    if (number > most)
        return arena_printf(s->arena, "%s %lu: the last one is %" PRIu32, names[made->kind], number,
                            most);
    made->number = (uint32_t)number;
    return NULL;
}

static const char *parse_rule(struct stepper *s, const char *rest)
{
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        if (strcmp(rule_table[i].name, rest) == 0)
            return NULL;
    return arena_printf(s->arena, "there is no rule '%s'; `simtfuzz rules` lists them", rest);
}

static const char *parse_rest(struct stepper *s, const char *rest, struct step_break *made)
{
    const struct trace_filter filter = {.watch = rest};
    made->name = arena_strndup(s->arena, rest, strlen(rest));
    switch (made->kind) {
    case STEP_BREAK_LINE:
        return parse_number(s, rest, s->source_count, made);
    case STEP_BREAK_THREAD:
        return parse_number(s, rest, s->program->total_threads - 1, made);
    case STEP_BREAK_RULE:
        return parse_rule(s, rest);
    case STEP_BREAK_WATCH:
        return *rest ? trace_filter_refuses(&filter, s->arena, s->program)
                     : "watch: which variable?";
    case STEP_BREAK_RACE:
    case STEP_BREAK_DIVERGENCE:
        break;
    }
    return *rest ? arena_printf(s->arena, "%s takes nothing more", names[made->kind]) : NULL;
}

const char *step_break_parse(struct stepper *s, const char *text, struct step_break *made)
{
    size_t length = strcspn(text, " ");
    const char *rest = text + length + strspn(text + length, " ");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (strlen(names[k]) != length || strncmp(names[k], text, length) != 0)
            continue;
        *made = (struct step_break){.kind = (enum step_break_kind)k};
        const char *wrong = parse_rest(s, rest, made);
        if (!wrong && (made->kind == STEP_BREAK_WATCH || made->kind == STEP_BREAK_THREAD))
            return survey(s, made);
        return wrong;
    }
    return arena_printf(
        s->arena,
        "'%s' is no place to stop: line N, rule NAME, thread N, race, divergence, watch VARIABLE",
        text);
}

const char *step_break_text(struct arena *arena, const struct step_break *it)
{
    if (it->kind == STEP_BREAK_LINE || it->kind == STEP_BREAK_THREAD)
        return arena_printf(arena, "%s %" PRIu32, names[it->kind], it->number);
    return *it->name ? arena_printf(arena, "%s %s", names[it->kind], it->name) : names[it->kind];
}

/* ---- looking for one ---- */

static bool stops(const struct stepper *s, const struct step_break *it, uint64_t step)
{
    const struct step_record *record = &s->records[step - 1];
    switch (it->kind) {
    case STEP_BREAK_LINE:
        return stepper_line(s, record->stm) == it->number;
    case STEP_BREAK_RULE:
        return strcmp(rule_table[record->rule].name, it->name) == 0;
    case STEP_BREAK_RACE:
        return record->flags & STEP_RACES;
    case STEP_BREAK_DIVERGENCE:
        return record->flags & STEP_PARTS;
    case STEP_BREAK_THREAD:
    case STEP_BREAK_WATCH:
        break;
    }
    return it->hits[step - 1];
}

uint64_t step_break_find(const struct stepper *s, const struct step_breaks *breaks, int way)
{
    for (uint64_t step = way > 0 ? s->at + 1 : s->at - 1; step >= 1 && step <= s->count;
         step = way > 0 ? step + 1 : step - 1)
        for (uint32_t i = 0; i < breaks->count; i++)
            if (stops(s, &breaks->all[i], step))
                return step;
    return 0;
}
