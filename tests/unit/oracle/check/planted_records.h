/*
 * planted_records.h - faults in what a check has written down, when its oracles come to judge it: an execution is said
 * to have ended in another way, to race, to have taken other steps; a search to have found another set, a probe no loop
 * ...
 *
 * A program that includes this is linked with --wrap=exhaust_judge,--wrap=barriers_end: between what is explored and
 * what is judged; and with --wrap=search_run,--wrap=lasso_run,--wrap=lemma6_holds: what these say.
 */
#ifndef TESTS_UNIT_PLANTED_RECORDS_H
#define TESTS_UNIT_PLANTED_RECORDS_H

#include "tests/unit/shared/support.h"

#include "engine/progress/lasso.h"
#include "engine/progress/progress.h"
#include "oracle/check/explore.h"
#include "oracle/crs/barriers.h"
#include "oracle/crs/safety.h"
#include "oracle/ends/liveness.h"
#include "oracle/lemma6/lemma6.h"
#include "oracle/results/exhaust.h"
#include "oracle/warps/simulation_explore.h"

#include <stdio.h>

#define PLANTED_RECORDS(X)                                                                         \
    X(STATUS, "status") /* of an execution */                                                      \
    X(RACE, "race")                                                                                \
    X(STEPS, "steps")                                                                              \
    X(KNOWN, "known") /* whether its steps are */                                                  \
    X(FAIR, "fair")                                                                                \
    X(SEARCHED, "searched")                                                                        \
    X(APART, "apart")                                                                              \
    X(SPEC, "spec")                                                                                \
    X(LOCATION, "location") /* of its race */                                                      \
    X(RUN_FAIR, "run-fair") /* of a subject */                                                     \
    X(RUN_CUT, "run-cut")                                                                          \
    X(RUN_LASSO, "run-lasso")                                                                      \
    X(RUN_RACE, "run-race")                                                                        \
    X(RUN_STATUS, "run-status")                                                                    \
    X(RUN_NONE, "run-none")                                                                        \
    X(RUN_INCOMPLETE, "run-incomplete")                                                            \
    X(SEARCH_COMPLETE, "search-complete")                                                          \
    X(SEARCH_CUT, "search-cut")                                                                    \
    X(SEARCH_LIVENESS, "search-liveness")                                                          \
    X(SEARCH_RACE, "search-race")                                                                  \
    X(SEARCH_FEWER, "search-fewer")                                                                \
    X(SEARCH_STATUS, "search-status")                                                              \
    X(SEARCH_STORE, "search-store")                                                                \
    X(SEARCH_NONE, "search-none")                                                                  \
    X(GROUP_RACE, "group-race")                                                                    \
    X(GROUP_REFERENCE, "group-reference")                                                          \
    X(GROUP_STORE, "group-store")                                                                  \
    X(GROUP_MISMATCH, "group-mismatch")                                                            \
    X(PROBE_PROVEN, "probe-proven")                                                                \
    X(PROBE_DEPTH, "probe-depth")                                                                  \
    X(PROBE_NONE, "probe-none")                                                                    \
    X(FAIR_END, "fair-end")                                                                        \
    X(INCOMPARABLE, "incomparable")                                                                \
    X(NOT_ASKED, "not-asked") /* an oracle */                                                      \
    X(OPTION, "option")                                                                            \
    X(PROGRESS, "progress")                                                                        \
    X(SIMULATION, "simulation")                                                                    \
    X(SAFETY, "safety")                                                                            \
    X(BARRIERS, "barriers")                                                                        \
    X(BARRIERS_FIRST, "barriers-first") /* what later executions are compared with */              \
    X(NOTHING, "nothing")               /* is wrong */                                             \
    X(VERDICT, "verdict")               /* what a search says of termination under one model */    \
    X(STRONG, "strong")                                                                            \
    X(RANDOM, "random")                                                                            \
    X(CUT_OFF, "cut-off")                                                                          \
    X(LASSO, "lasso")     /* one execution that runs for ever does not */                          \
    X(LEMMA_6, "lemma-6") /* the hypothesis of Lemma 6 is proven, or is not */                     \
    X(LEMMA_BOUND, "lemma-bound")

enum planted_record_kind {
#define X(id, name) RECORD_##id,
    PLANTED_RECORDS(X)
#undef X
        RECORD_KIND_COUNT
};

static const char *const planted_record_names[RECORD_KIND_COUNT] = {
#define X(id, name) name,
    PLANTED_RECORDS(X)
#undef X
};

struct planted_record {
    bool is_set;
    enum planted_record_kind kind;
    uint32_t which, value; /* of many: modulo how many there are */
};

static struct planted_record planted_record;
static uint32_t planted_asked; /* how often what is wrong was asked so far */

/* The fault is of this kind and in this answer: one of the first few, or in all. */
static bool planted_answer(enum planted_record_kind kind)
{
    return planted_record.is_set && planted_record.kind == kind &&
           (planted_record.which % 6 == 0 || planted_record.which % 6 == ++planted_asked);
}

static struct execution *planted_execution(struct checking *c, uint32_t number)
{
    return c->execution_count > 0 ? c->executions[number % c->execution_count] : NULL;
}

/* The which-th subject that ran, or was searched, or has a probe. */
enum planted_subjects { SUBJECTS_RAN, SUBJECTS_SEARCHED, SUBJECTS_PROBED, SUBJECTS_ASKED };

static int planted_subject(const struct checking *c, enum planted_subjects which)
{
    uint32_t found[SUBJECT_COUNT], count = 0;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const bool is[] = {c->result->runs[s].schedules > 0, c->result->runs[s].search != NULL,
                           c->probes[s] != NULL, c->progress[s] != NULL};
        if (is[which])
            found[count++] = s;
    }
    return count > 0 ? (int)found[planted_record.which % count] : -1;
}

static void planted_in_execution(struct checking *c)
{
    struct execution *e = planted_execution(c, planted_record.which);
    uint32_t value = planted_record.value;
    if (!e)
        return;
    switch ((uint32_t)planted_record.kind) {
    case RECORD_STATUS:
        e->status = (enum status)(1 + value % (STATUS_COUNT - 1));
        break;
    case RECORD_RACE:
        e->race = !e->race;
        break;
    case RECORD_STEPS:
        e->thread_steps += value % 2 ? 1 : (uint64_t)-1;
        break;
    case RECORD_KNOWN:
        e->thread_steps_known = !e->thread_steps_known;
        break;
    case RECORD_FAIR:
        e->fair = !e->fair;
        break;
    case RECORD_SEARCHED:
        e->searched = !e->searched;
        break;
    case RECORD_APART:
        e->apart = !e->apart;
        break;
    case RECORD_SPEC:
        e->spec.kind = value % 2 ? SCHED_ROUND_ROBIN : SCHED_REVERSE;
        break;
    case RECORD_LOCATION:
        if (c->result->program->private_base > 0)
            e->witness.address = value % c->result->program->private_base;
        break;
    }
}

static void planted_in_run(struct checking *c)
{
    int subject = planted_subject(c, SUBJECTS_RAN);
    uint32_t value = planted_record.value;
    if (subject < 0)
        return;
    struct check_run *run = &c->result->runs[subject];
    switch ((uint32_t)planted_record.kind) {
    case RECORD_RUN_FAIR:
        run->fair = value % 3;
        break;
    case RECORD_RUN_CUT:
        run->fair_cut = value % 3;
        break;
    case RECORD_RUN_LASSO:
        run->fair_lasso = !run->fair_lasso;
        break;
    case RECORD_RUN_RACE:
        run->race = !run->race;
        break;
    case RECORD_RUN_STATUS:
        run->statuses[value % STATUS_COUNT] += 1;
        break;
    case RECORD_RUN_NONE:
        run->schedules = 0;
        break;
    case RECORD_RUN_INCOMPLETE:
        run->race_incomplete = !run->race_incomplete;
        break;
    }
}

static void planted_in_search(struct checking *c)
{
    int subject = planted_subject(c, SUBJECTS_SEARCHED);
    uint32_t value = planted_record.value, words = c->result->program->private_base;
    if (subject < 0)
        return;
    struct search_result *s = (struct search_result *)(uintptr_t)c->result->runs[subject].search;
    struct search_outcome *o = s->outcome_count > 0 ? &s->outcomes[value % s->outcome_count] : NULL;
    switch ((uint32_t)planted_record.kind) {
    case RECORD_SEARCH_COMPLETE:
        s->complete = !s->complete;
        break;
    case RECORD_SEARCH_CUT:
        s->cut = s->cut ? NULL : "a bound";
        break;
    case RECORD_SEARCH_LIVENESS:
        s->liveness = (enum search_liveness)(value % (LIVENESS_UNKNOWN + 1));
        break;
    case RECORD_SEARCH_RACE:
        s->race = !s->race;
        break;
    case RECORD_SEARCH_FEWER:
        s->outcome_count -= s->outcome_count > 0;
        break;
    case RECORD_SEARCH_STATUS:
        if (o)
            o->status = (enum status)(1 + value % (STATUS_COUNT - 1));
        break;
    case RECORD_SEARCH_STORE:
        if (o && o->store && words > 0)
            ((int32_t *)(uintptr_t)o->store)[value % words]++;
        break;
    case RECORD_SEARCH_NONE:
        c->result->runs[subject].search = NULL;
        break;
    }
}

static void planted_in_group(struct checking *c)
{
    struct group *group = &c->groups[planted_record.which % GROUP_COUNT];
    uint32_t value = planted_record.value, words = c->result->program->private_base;
    switch ((uint32_t)planted_record.kind) {
    case RECORD_GROUP_RACE:
        group->any_race = !group->any_race;
        break;
    case RECORD_GROUP_REFERENCE:
        group->reference = NULL;
        break;
    case RECORD_GROUP_STORE:
        if (group->reference_store && words > 0)
            group->reference_store[value % words]++;
        break;
    case RECORD_GROUP_MISMATCH:
        if (group->reference && words > 0)
            group->mismatch =
                (struct store_mismatch){planted_execution(c, value), value % words, 7, -7};
        break;
    }
}

static void planted_in_probe(struct checking *c)
{
    int subject = planted_subject(c, SUBJECTS_PROBED);
    if (subject < 0)
        return;
    struct lasso_probe *probe = c->probes[subject];
    if (planted_record.kind == RECORD_PROBE_PROVEN)
        probe->proven = !probe->proven;
    else if (planted_record.kind == RECORD_PROBE_DEPTH)
        probe->depth = probe->depth ? 0 : 2;
    else
        c->probes[subject] = NULL;
}

static void planted_in_options(struct checking *c)
{
    struct check_options *options = (struct check_options *)(uintptr_t)c->options;
    if (planted_record.kind == RECORD_NOT_ASKED)
        options->oracles &= ~(1u << planted_record.which % ORACLE_PROVE);
    else if (planted_record.which % 3 == 0)
        options->exhaustive = !options->exhaustive;
    else if (planted_record.which % 3 == 1)
        options->same_value = !options->same_value;
    else
        options->atomics_sync = !options->atomics_sync;
}

static void planted_in_progress(struct checking *c)
{
    int subject = planted_subject(c, SUBJECTS_ASKED);
    if (subject < 0)
        return;
    struct progress *progress = (struct progress *)(uintptr_t)c->progress[subject];
    progress->answers[planted_record.value / 4 % PROGRESS_MODEL_COUNT].verdict =
        (enum progress_verdict)(planted_record.value % 4);
}

static void planted_in_simulation(struct checking *c)
{
    if (simulation_of(c) && planted_record.value % 2)
        simulation_of(c)->refused = simulation_of(c)->refused ? NULL : "said so";
    else if (simulation_of(c))
        simulation_of(c)->total_warp_steps = 0;
}

static void planted_in_safety(struct checking *c)
{
    struct safety *s = safety_of(c);
    if (!s)
        return;
    switch (planted_record.value % 9) {
    case 0:
        s->steps = 0;
        break;
    case 1:
        s->consistent = !s->consistent;
        break;
    case 2:
        s->inconsistent = s->inconsistent ? NULL : "said so";
        break;
    case 3:
        s->not_static = s->not_static ? NULL : "said so";
        break;
    case 4:
        s->rules_broken = s->rules_broken ? NULL : "said so";
        break;
    case 5:
        s->goes_anywhere = !s->goes_anywhere;
        break;
    case 6:
        s->weaker = !s->weaker;
        break;
    case 7:
        s->unwinds++;
        break;
    case 8:
        s->printed = !s->printed;
        break;
    }
}

static void planted_in_analysis(struct nb_analysis *a, uint32_t value)
{
    switch (value % 11) {
    case 0:
        a->complete = !a->complete;
        break;
    case 1:
        a->commands++;
        break;
    case 2:
        a->accesses++;
        break;
    case 3:
        a->map++;
        break;
    case 4:
        a->uses++;
        break;
    case 5:
        a->generations++;
        break;
    case 6:
        a->dangling = !a->dangling;
        break;
    case 7:
        a->syncs = !a->syncs;
        break;
    case 8:
        a->recycled = !a->recycled;
        break;
    case 9:
        a->pair_count ^= 1;
        break;
    case 10:
        a->pairs[0]++;
        break;
    }
}

static void planted_in_barriers(struct checking *c)
{
    struct barriers *x = barriers_of(c);
    uint32_t value = planted_record.value;
    if (!x)
        return;
    switch (planted_record.which % 7) {
    case 0:
        planted_in_analysis(&x->first, value);
        break;
    case 1:
        x->unknown = x->unknown ? NULL : "said so";
        break;
    case 2:
        x->large = !x->large;
        break;
    case 3:
        x->ill = x->ill ? NULL : "said so";
        break;
    case 4:
        x->bad = x->bad ? NULL : planted_execution(c, value);
        break;
    case 5:
        x->compared++;
        break;
    case 6:
        x->reference = NULL;
        break;
    }
}

void __real_exhaust_judge(struct checking *);
void __wrap_exhaust_judge(struct checking *);
void __real_barriers_end(struct checking *, const struct execution *);
void __wrap_barriers_end(struct checking *, const struct execution *);

void __wrap_exhaust_judge(struct checking *c)
{
    if (planted_record.is_set) {
        enum planted_record_kind kind = planted_record.kind;
        if (kind <= RECORD_LOCATION)
            planted_in_execution(c);
        else if (kind <= RECORD_RUN_INCOMPLETE)
            planted_in_run(c);
        else if (kind <= RECORD_SEARCH_NONE)
            planted_in_search(c);
        else if (kind <= RECORD_GROUP_MISMATCH)
            planted_in_group(c);
        else if (kind <= RECORD_PROBE_NONE)
            planted_in_probe(c);
        else if (kind == RECORD_FAIR_END)
            c->all_fair_end[planted_record.which % SUBJECT_COUNT] ^= true;
        else if (kind == RECORD_INCOMPARABLE) {
            c->incomparable = c->incomparable ? NULL : "said so";
            c->incomparable_as = LONE_ATOMICS;
        } else if (kind <= RECORD_OPTION)
            planted_in_options(c);
        else if (kind == RECORD_PROGRESS)
            planted_in_progress(c);
        else if (kind == RECORD_SIMULATION)
            planted_in_simulation(c);
        else if (kind == RECORD_SAFETY)
            planted_in_safety(c);
        else if (kind == RECORD_BARRIERS)
            planted_in_barriers(c);
    }
    __real_exhaust_judge(c);
}

void __wrap_barriers_end(struct checking *c, const struct execution *execution)
{
    if (planted_record.is_set && planted_record.kind == RECORD_BARRIERS_FIRST && barriers_of(c) &&
        barriers_of(c)->reference)
        planted_in_analysis(&barriers_of(c)->first, planted_record.value);
    __real_barriers_end(c, execution);
}

/* ---- what searches say ---- */

struct search_result *__real_search_run(struct arena *, struct machine *,
                                        const struct search_options *);
struct search_result *__wrap_search_run(struct arena *, struct machine *,
                                        const struct search_options *);
struct lasso __real_lasso_run(struct arena *, struct machine *, const struct sched_spec *,
                              uint64_t);
struct lasso __wrap_lasso_run(struct arena *, struct machine *, const struct sched_spec *,
                              uint64_t);
struct lemma6 __real_lemma6_holds(struct arena *, const struct program *, uint64_t);
struct lemma6 __wrap_lemma6_holds(struct arena *, const struct program *, uint64_t);

struct search_result *__wrap_search_run(struct arena *arena, struct machine *machine,
                                        const struct search_options *options)
{
    struct search_result *result = __real_search_run(arena, machine, options);
    uint32_t value = planted_record.value, model = value / 4 % PROGRESS_MODEL_COUNT;
    for (struct progress *p = options->progress; p; p = p->next) {
        if (planted_answer(RECORD_VERDICT))
            p->answers[model].verdict = (enum progress_verdict)(value % 4);
        if (planted_answer(RECORD_STRONG))
            p->answers[model].strong = !p->answers[model].strong;
        if (planted_answer(RECORD_RANDOM) && p->ask_random)
            p->random.verdict = (enum progress_verdict)(value % 4);
    }
    if (planted_answer(RECORD_CUT_OFF)) {
        result->complete = false;
        result->cut = "states";
        result->liveness = LIVENESS_UNKNOWN;
    }
    return result;
}

struct lasso __wrap_lasso_run(struct arena *arena, struct machine *machine,
                              const struct sched_spec *spec, uint64_t budget)
{
    struct lasso lasso = __real_lasso_run(arena, machine, spec, budget);
    if (planted_answer(RECORD_LASSO))
        lasso.kind = planted_record.value % 2 ? LASSO_UNKNOWN : LASSO_NONE;
    return lasso;
}

struct lemma6 __wrap_lemma6_holds(struct arena *arena, const struct program *program, uint64_t max)
{
    struct lemma6 lemma = __real_lemma6_holds(arena, program, max);
    if (planted_answer(RECORD_LEMMA_6)) {
        lemma.holds = !lemma.holds;
        if (!lemma.holds)
            lemma.why_not = "said so";
    }
    if (planted_answer(RECORD_LEMMA_BOUND) && lemma.holds) {
        uint64_t *const bounds[] = {&lemma.warp_steps, &lemma.all_warp_steps, &lemma.thread_steps,
                                    &lemma.all_thread_steps};
        uint64_t *bound = bounds[planted_record.value % 4];
        *bound = planted_record.value & 4 ? *bound / 2 : *bound - (*bound > 0);
    }
    return lemma;
}

/* "record/status@3/5" */
static void planted_record_print(const struct planted_record *record, char *text, size_t size)
{
    snprintf(text, size, "record/%s@%u/%u", planted_record_names[record->kind], record->which,
             record->value);
}

static bool planted_record_parse(const char *text, struct planted_record *record)
{
    char kind[32];
    if (sscanf(text, "record/%31[^@]@%u/%u", kind, &record->which, &record->value) != 3)
        return false;
    for (uint32_t k = 0; k < RECORD_KIND_COUNT; k++)
        if (strcmp(planted_record_names[k], kind) == 0) {
            record->kind = (enum planted_record_kind)k;
            record->is_set = true;
            planted_asked = 0;
            return true;
        }
    return false;
}

#endif
