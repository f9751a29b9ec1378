#include "fuzz/check/headline.h"

#include "oracle/check/evidence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PLACE_BYTES = 4096 };

/* Faults first: a kernel that leaves an array may race for that reason. */
static const enum outcome gravity[OUTCOME_COUNT] = {
    OUTCOME_OOB,   OUTCOME_ASSERT, OUTCOME_DIVERGENCE, OUTCOME_DEADLOCK,
    OUTCOME_ERROR, OUTCOME_RACE,   OUTCOME_HANG};

static bool shows(const struct check_run *run, enum outcome outcome)
{
    if (outcome == OUTCOME_RACE)
        return run->race;
    if (outcome == OUTCOME_HANG)
        return run->fair_lasso || run->statuses[STATUS_NONTERMINATING] > 0;
    for (uint32_t s = 0; s < STATUS_COUNT; s++)
        if (run->statuses[s] > 0 && outcome_of((enum status)s) == outcome)
            return true;
    return false;
}

/* What does not show it speaks for the kernel only where executions ended. */
static bool is_clean(const struct check_run *run, enum outcome outcome)
{
    if (outcome == OUTCOME_RACE)
        return !run->race_unknown && !run->race_incomplete && run->schedules > 0;
    return run->statuses[STATUS_TERMINATED] > 0;
}

const char *source_file(struct arena *arena, const char *source, uint32_t *line)
{
    const char *colon = source ? strrchr(source, ':') : NULL;
    *line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
    return colon ? arena_strndup(arena, source, (size_t)(colon - source)) : NULL;
}

FILE *source_open(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "r") : NULL;
}

static struct source_place place_of(struct arena *arena, const struct program *program,
                                    uint32_t stm)
{
    return (struct source_place){.line = evidence_line(program, stm),
                                 .source = evidence_source(arena, program, stm),
                                 .path = evidence_source_path(arena, program, stm)};
}

static void describe(struct arena *arena, const struct check_run *run, struct happening *h)
{
    const struct check_fault *fault = run->faults[h->outcome];
    if (h->outcome == OUTCOME_RACE) {
        h->sentence = evidence_race_sentence(arena, run->program, &run->witness);
        h->places[0] = place_of(arena, run->program, run->witness.first.stm);
        h->places[1] = place_of(arena, run->program, run->witness.second.stm);
        if (h->places[0].line == h->places[1].line)
            h->places[1].line = 0;
        return;
    }
    if (!fault) { /* an execution that an exhaustive search has found: only its end is kept */
        h->sentence = "found by the exhaustive search";
        return;
    }
    h->places[0] = place_of(arena, run->program, fault->stm);
    h->sentence =
        h->outcome != OUTCOME_HANG ? fault_sentence(arena, run->program, fault)
        : fault->line
            ? arena_printf(arena, "it comes back to a state that it has been in, in the loop at %s",
                           evidence_statement(arena, run->program, fault->stm))
            : "it comes back to a state that it has been in";
}

/* Of a mask's lanes that `crs` cannot bring together: stuck, and nothing else. Since sm_70 lanes wait for each
 * other. */
static bool is_stuck_by_mask(const struct check_run *run)
{
    const struct check_fault *fault = run->faults[OUTCOME_ERROR];
    return subject_table[run->subject].vtable->actors == ACTORS_WARPS && fault &&
           fault->status == STATUS_STUCK && fault->text && strstr(fault->text, "mask");
}

static bool is_met_by_threads(const struct check_result *result)
{
    const struct check_run *its = &result->runs[SUBJECT_ITS];
    if (its->reason || its->schedules == 0 ||
        its->statuses[STATUS_TERMINATED] + its->statuses[STATUS_STEP_LIMIT] < its->schedules)
        return false;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct check_run *run = &result->runs[s];
        bool ran = !run->reason && run->program && run->schedules > 0;
        if (ran && shows(run, OUTCOME_ERROR) && !is_stuck_by_mask(run))
            return false;
    }
    return true;
}

static void add_happening(struct arena *arena, const struct check_result *result,
                          struct headline *headline, enum outcome outcome)
{
    struct happening h = {.outcome = outcome};
    const struct check_run *first = NULL;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct check_run *run = &result->runs[s];
        if (run->reason || !run->program || run->schedules == 0)
            continue;
        if (shows(run, outcome)) {
            h.shown |= SUBJECT_BIT(s);
            if (!first || (!first->faults[outcome] && run->faults[outcome]))
                first = run;
        } else if (is_clean(run, outcome)) {
            h.clean |= SUBJECT_BIT(s);
        }
    }
    if (!first)
        return;
    h.subject = first->subject;
    describe(arena, first, &h);
    headline->happenings[headline->count++] = h;
}

/* How many executions of how many subjects; of which subjects these are all. */
static const char *scope_of(struct arena *arena, const struct check_result *result)
{
    uint32_t executions = 0, subjects = 0, all = 0, cut = 0, beyond = 0;
    const char *why = NULL;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct check_run *run = &result->runs[s];
        if (run->reason || !run->program || run->schedules == 0)
            continue;
        subjects++;
        executions += run->schedules;
        cut += run->statuses[STATUS_STEP_LIMIT];
        beyond += run->statuses[STATUS_UNSUPPORTED];
        why = why ? why : run->beyond;
        all += run->search && run->search->complete;
    }
    const char *text =
        all == subjects && all > 0
            ? arena_printf(arena, "all executions of %u subject%s", all, all == 1 ? "" : "s")
        : all > 0 ? arena_printf(arena, "all executions of %u subjects, %u more sampled", all,
                                 subjects - all)
                  : arena_printf(arena, "%u execution%s of %u subject%s, sampled", executions,
                                 executions == 1 ? "" : "s", subjects, subjects == 1 ? "" : "s");
    if (beyond)
        text = arena_printf(arena, "%s; %u ended, which proves nothing: %s", text, beyond, why);
    return cut ? arena_printf(arena, "%s; %u spent their budget of steps, which proves nothing",
                              text, cut)
               : text;
}

static bool any_ended(const struct check_result *result)
{
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (result->runs[s].statuses[STATUS_TERMINATED] > 0)
            return true;
    return false;
}

/* A kernel that has stores or atomics, in memory that others see, of which no execution came to one. */
static bool is_vacuous(const struct check_result *result)
{
    const struct program *program = NULL;
    for (uint32_t s = 0; s < SUBJECT_COUNT && !program; s++)
        if (!result->runs[s].reason && result->runs[s].schedules > 0)
            program = result->runs[s].program;
    if (!program || program->form != FORM_PTX ||
        result->hits[RULE_PTX_ST] + result->hits[RULE_PTX_ATOM] + result->hits[RULE_PTX_RED] +
                result->hits[RULE_ASYNC_COPY] + result->hits[RULE_MATRIX_STORE] +
                result->hits[RULE_MATRIX_STMATRIX] + result->hits[RULE_TEXTURE_SUST] >
            0)
        return false;
    for (uint32_t stm = 0; stm < program->stm_count; stm++)
        if (program->stms[stm].writes)
            return true;
    return false;
}

static const char *word_of(enum outcome outcome)
{
    return outcome == OUTCOME_RACE ? "RACY" : outcome == OUTCOME_HANG ? "HANG" : "FAULT";
}

void headline_of(struct arena *arena, const struct check_result *result, struct headline *headline)
{
    *headline = (struct headline){.scope = scope_of(arena, result)};
    for (uint32_t i = 0; i < OUTCOME_COUNT; i++)
        add_happening(arena, result, headline, gravity[i]);
    for (uint32_t i = 0; i < headline->count && is_met_by_threads(result); i++)
        if (headline->happenings[i].outcome == OUTCOME_ERROR) {
            headline->met_by_threads = true;
            headline->count--;
            for (uint32_t k = i; k < headline->count; k++)
                headline->happenings[k] = headline->happenings[k + 1];
        }
    headline->word = headline->count > 0  ? word_of(headline->happenings[0].outcome)
                     : !any_ended(result) ? "unknown"
                     : is_vacuous(result) ? "vacuous"
                                          : "clean";
}

const char *headline_subjects(struct arena *arena, subject_set subjects)
{
    const char *text = "";
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (subjects & SUBJECT_BIT(s))
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", subject_table[s].name);
    return text;
}

const char *headline_text(struct arena *arena, const struct happening *h)
{
    const char *word = word_of(h->outcome);
    const char *other = h->outcome == OUTCOME_HANG ? "can end" : "clean";
    const char *where =
        h->clean ? arena_printf(arena, " in %s, %s in %s", headline_subjects(arena, h->shown),
                                other, headline_subjects(arena, h->clean))
                 : "";
    return arena_printf(arena, "%s%s: %s", word, where, h->sentence);
}

static bool is_suppressed(const struct happening *h, const struct fail_on *fail_on)
{
    char texts[HAPPENING_PLACES][PLACE_BYTES];
    const char *sources[HAPPENING_PLACES] = {NULL, NULL};
    for (uint32_t i = 0; i < HAPPENING_PLACES && fail_on->suppressions; i++) {
        const struct source_place *place = &h->places[i];
        sources[i] = place->source;
        if (place->source || place->line == 0)
            continue;
        snprintf(texts[i], PLACE_BYTES, "%s:%" PRIu32, fail_on->path, place->line);
        sources[i] = texts[i];
    }
    return suppress_matches(fail_on->suppressions, outcome_names[h->outcome], sources,
                            HAPPENING_PLACES);
}

void headline_suppress(struct headline *headline, const struct fail_on *fail_on)
{
    struct happening sorted[OUTCOME_COUNT];
    uint32_t kept = 0, behind = headline->count;
    for (uint32_t i = headline->count; i-- > 0;)
        if (is_suppressed(&headline->happenings[i], fail_on))
            sorted[--behind] = headline->happenings[i];
    for (uint32_t i = 0; i < headline->count; i++)
        if (!is_suppressed(&headline->happenings[i], fail_on))
            sorted[kept++] = headline->happenings[i];
    memcpy(headline->happenings, sorted, headline->count * sizeof *sorted);
    headline->suppressed = headline->count - kept;
    headline->count = kept;
    if (headline->suppressed > 0)
        headline->word = kept > 0 ? word_of(headline->happenings[0].outcome) : "suppressed";
}

void headline_unfit(struct arena *arena, struct headline *headline)
{
    if (headline->count == 0 || headline->happenings[0].outcome != OUTCOME_OOB)
        return;
    headline->scope = arena_printf(
        arena, "no launch that was made up fits it; of this one: %s; give it another, or --bind",
        headline->happenings[0].sentence);
    headline->word = "unknown";
    headline->count = 0;
}

bool headline_counts(const struct happening *h, const struct fail_on *fail_on)
{
    if (h->outcome == OUTCOME_RACE && (h->shown & fail_on->race_where))
        return true;
    return fail_on->outcomes >> h->outcome & 1;
}

bool headline_fails(const struct headline *headline, const struct fail_on *fail_on)
{
    for (uint32_t i = 0; i < headline->count; i++)
        if (headline_counts(&headline->happenings[i], fail_on))
            return true;
    return false;
}
