#include "fuzz/hunt/hunt.h"

#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/case/case.h"
#include "fuzz/case/signature.h"
#include "fuzz/outside/known.h"
#include "fuzz/outside/worker.h"
#include "fuzz/serve/child.h"

#include <stdio.h>
#include <string.h>

enum { BATCH_MAX = 64, ARENA_BYTES_LOG = 32, MET_MAX = 256, MET_TEXT_MAX = 200, KNOWN_AGAIN = 3 };

/* A fault that was met: others like it are counted only. `known`: how often one like it became a known fault when it
 * was small, so that the next one may still be another fault; after a few times that is no longer worth the
 * minimising. */
struct met {
    uint32_t subject, known;
    char signature[MET_TEXT_MAX];
};

struct hunted {
    uint64_t number;
    uint32_t knobs;
    const struct ast_kernel *kernel;
    struct outside_expected expected;
};

struct hunt {
    const struct hunt_options *options;
    struct hunt_summary *summary;
    const struct hunt_listener *listener;
    struct arena arena;  /* of the batch */
    struct arena trials; /* of one run */
    struct hunted items[BATCH_MAX];
    uint32_t count;
    uint64_t started_ms;
    struct met met[MET_MAX];
    uint32_t met_count;
};

/* ---- what is wrong with a kernel ---- */

static void count_reason(struct hunt_summary *summary, const char *reason, uint64_t count)
{
    uint32_t i = 0;
    const uint32_t room = sizeof summary->reasons / sizeof summary->reasons[0];
    while (i < summary->reason_count &&
           strncmp(summary->reasons[i].text, reason, sizeof summary->reasons[i].text - 1) != 0)
        i++;
    if (i == room)
        return;
    if (i == summary->reason_count) {
        snprintf(summary->reasons[i].text, sizeof summary->reasons[i].text, "%s", reason);
        summary->reason_count++;
    }
    summary->reasons[i].count += count;
}

static uint64_t own_cpu_us(void)
{
    return clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

/* Adds a case to the batch if it is valid. */
static void add_case(struct hunt *h, uint64_t number)
{
    struct hunted *item = &h->items[h->count];
    uint64_t started = clock_monotonic_us(), cpu = own_cpu_us();
    size_t mark = arena_mark(&h->arena);
    item->number = number;
    item->knobs =
        h->options->fixed_knobs ? h->options->knobs : emit_draw_knobs(h->options->seed, number);
    item->kernel = h->options->kernel
                       ? ast_kernel_copy(&h->arena, h->options->kernel)
                       : gen_case(&h->arena, h->options->seed, number, &h->options->gen);
    const char *reason =
        outside_validate(&h->arena, item->kernel, !h->options->as_it_is, &item->expected);
    h->summary->cases++;
    if (reason) {
        count_reason(h->summary, reason, 1);
        arena_release(&h->arena, mark);
    } else {
        h->summary->valid++;
        h->count++;
    }
    h->summary->our_us += clock_monotonic_us() - started;
    h->summary->our_cpu_us += own_cpu_us() - cpu;
}

/* ---- findings ---- */

/* Those of the command line stay as they are. */
static uint32_t knobs_of(const struct hunt *h, uint32_t subject, const struct hunted *item)
{
    const struct outside_subject *s = h->options->subjects[subject];
    if (h->options->fixed_knobs)
        return item->knobs;
    return ~s->lacks &
           (h->options->ignore_known ? item->knobs : known_avoid(s, item->knobs, item->number));
}

/* Whether another implementation leaves the memory that we call wrong. */
static bool is_wrong_alike(const struct hunt_finding *f, const struct trial *other)
{
    return f->trial.verdict == TRIAL_WRONG && other->verdict == TRIAL_WRONG &&
           memcmp(f->trial.memory, other->memory, f->expected->words * sizeof(int32_t)) == 0;
}

/* Words of verdicts, and one more. */
enum { OPINION_ALIKE = TRIAL_VERDICT_COUNT, OPINIONS };

static void ask_other(struct hunt *h, const struct hunt_finding *f,
                      const struct outside_subject *other, const char **names)
{
    struct trial trial = trial_run(&h->trials, other, &h->options->settings, f->expected,
                                   f->knobs & ~other->lacks, NULL);
    const char **list = &names[is_wrong_alike(f, &trial) ? OPINION_ALIKE : (int)trial.verdict];
    *list = arena_printf(&h->trials, "%s%s%s", *list ? *list : "", *list ? ", " : "", other->name);
}

/* "agrees: a, b; wrong-value: c" */
static const char *second_opinion(struct hunt *h, const struct hunt_finding *f)
{
    const struct hunt_options *o = h->options;
    const char *names[OPINIONS] = {NULL}, *text = "";
    for (uint32_t s = 0; s < o->subject_count && !interrupted; s++)
        if (o->subjects[s] != f->subject)
            ask_other(h, f, o->subjects[s], names);
    if (o->second && !interrupted)
        ask_other(h, f, o->second, names);
    for (uint32_t v = 0; v < OPINIONS; v++)
        if (names[v])
            text = arena_printf(
                &h->trials, "%s%s%s: %s", text, *text ? "; " : "",
                v == OPINION_ALIKE ? "the same wrong memory" : trial_verdict_names[v], names[v]);
    return text;
}

/* A known fault is named by the register, a wrong value by what it is attributed to, all else by its cause. */
static void sign(struct hunt *h, struct hunt_finding *f)
{
    f->vanishes = attribution_print(&h->trials, &f->attribution, f->knobs);
    f->observable = f->known ? f->known : trial_has_cause(&f->trial) ? f->trial.cause : f->vanishes;
    f->signature = arena_printf(
        &h->trials, "outside|%s|%.*s|%s", trial_verdict_names[f->trial.verdict],
        (int)signature_family_length(f->subject->name), f->subject->name, f->observable);
}

/* The finding becomes one of the small kernel, if that still shows it. */
static void make_small(struct hunt *h, struct hunt_finding *f, struct outside_expected *expected)
{
    const struct minimise_options options = {
        .subject = f->subject,
        .settings = &h->options->settings,
        .knobs = f->knobs,
        .trial = &f->trial,
        .attribution = &f->attribution,
        .most = h->options->minimise,
        .as_it_is = h->options->as_it_is,
        .until_ms = h->options->time_ms ? h->started_ms + h->options->time_ms : 0};
    const char *text;
    minimise_finding(&h->trials, f->kernel, &options, &f->minimised);
    if (!f->minimised.kernel ||
        outside_validate(&h->trials, f->minimised.kernel, !f->minimised.as_it_is, expected))
        return;
    struct trial trial =
        trial_run(&h->trials, f->subject, &h->options->settings, expected, f->knobs, &text);
    if (!trial_is_same(&trial, &f->trial))
        return;
    f->kernel = f->minimised.kernel;
    f->expected = expected;
    f->trial = trial;
    f->text = text;
}

static struct met *find_met(struct hunt *h, uint32_t subject, const char *signature)
{
    char text[MET_TEXT_MAX];
    snprintf(text, sizeof text, "%s", signature);
    for (uint32_t i = 0; i < h->met_count; i++)
        if (h->met[i].subject == subject && strcmp(h->met[i].signature, text) == 0)
            return &h->met[i];
    return NULL;
}

/* Whether one like it was met before in this process, and was what it looked like; from now on it was met. */
static bool was_met(struct hunt *h, uint32_t subject, const char *signature)
{
    struct met *met = find_met(h, subject, signature);
    if (met)
        return met->known == 0 || met->known >= KNOWN_AGAIN;
    if (h->met_count < MET_MAX) {
        met = &h->met[h->met_count++];
        met->subject = subject;
        snprintf(met->signature, sizeof met->signature, "%s", signature);
    }
    return false;
}

/* What becomes of a finding with a signature. True: it is to be reported. */
static bool is_new(struct hunt *h, uint32_t subject, const struct hunt_finding *f)
{
    const struct hunt_listener *l = h->listener;
    struct hunt_count *count = &h->summary->counts[subject];
    bool met = was_met(h, subject, f->signature);
    enum hunt_had had = met ? HUNT_HERE : l->had ? l->had(l->context, f) : HUNT_NEW;
    if (f->known) {
        count->known++;
        count->known_seen[known_number(f->known)]++;
    } else if (had == HUNT_NEW) {
        return true;
    } else {
        count->repeated++;
    }
    if (l->seen)
        l->seen(l->context, f, had);
    return false;
}

/* Without a knob that avoids a known fault, a new one may become that. */
static bool lets_known_in(const struct hunt_finding *f, uint32_t without)
{
    for (uint32_t k = 0; k < known_count(); k++)
        if (known_may_show(k, f->subject, without) && !known_may_show(k, f->subject, f->knobs))
            return true;
    return false;
}

/* Knobs that the fault does not need are taken away, and what is left is asked again under what it vanishes. */
static void drop_knobs(struct hunt *h, struct hunt_finding *f)
{
    const struct outside_settings *settings = &h->options->settings;
    for (uint32_t i = 0; i < EMIT_KNOB_COUNT && !interrupted; i++) {
        uint32_t without = f->knobs & ~(1u << i);
        const char *text;
        if (without == f->knobs || (!h->options->ignore_known && lets_known_in(f, without)))
            continue;
        struct trial trial =
            trial_run(&h->trials, f->subject, settings, f->expected, without, &text);
        if (!trial_is_same(&trial, &f->trial))
            continue;
        f->knobs = without;
        f->trial = trial;
        f->text = text;
    }
    f->attribution =
        trial_attribute(&h->trials, f->subject, settings, f->expected, f->knobs, &f->trial);
    f->vanishes = attribution_print(&h->trials, &f->attribution, f->knobs);
}

/* What needed several avoidances at once while it was large may need only that of a known fault where it is small: then
 * it is that one, and is counted. */
static bool became_known(struct hunt *h, uint32_t subject, struct hunt_finding *f)
{
    if (h->options->ignore_known)
        return false;
    f->known = known_find(f->subject, f->knobs, &f->trial, &f->attribution);
    if (!f->known)
        return false;
    struct met *met = find_met(h, subject, f->signature);
    if (met)
        met->known++;
    sign(h, f);
    return !is_new(h, subject, f);
}

static void report(struct hunt *h, uint32_t subject, struct hunt_finding *f)
{
    struct outside_expected small;
    if (h->options->minimise)
        make_small(h, f, &small);
    if (f->minimised.kernel && !h->options->fixed_knobs && f->trial.verdict != TRIAL_HANG) {
        drop_knobs(h, f);
        if (became_known(h, subject, f))
            return;
    }
    f->second = second_opinion(h, f);
    h->summary->findings++;
    if (h->listener->found)
        h->listener->found(h->listener->context, f);
}

static const char *command_of(struct hunt *h, const struct outside_subject *subject)
{
    const struct outside_kind *kind = subject->kind;
    return kind->command ? kind->command(&h->trials, subject) : "";
}

/* Alone, twice: what shows the same both times counts. */
static void confirm(struct hunt *h, uint32_t subject, const struct hunted *item)
{
    const struct hunt_options *o = h->options;
    struct hunt_count *count = &h->summary->counts[subject];
    size_t mark = arena_mark(&h->trials);
    struct hunt_finding f = {.number = item->number,
                             .subject = o->subjects[subject],
                             .expected = &item->expected,
                             .kernel = item->kernel,
                             .raw = item->kernel,
                             .command = command_of(h, o->subjects[subject]),
                             .knobs = knobs_of(h, subject, item)};
    f.trial = trial_run(&h->trials, f.subject, &o->settings, &item->expected, f.knobs, &f.text);
    struct trial again =
        trial_run(&h->trials, f.subject, &o->settings, &item->expected, f.knobs, NULL);
    if (!trial_is_finding(&f.trial) || !trial_is_same(&f.trial, &again)) {
        count->unconfirmed++;
        arena_release(&h->trials, mark);
        return;
    }
    /* What has a cause needs no attribution to be named, unless a known fault has it, too. */
    bool by_cause =
        trial_has_cause(&f.trial) && (o->ignore_known || !known_has_cause(f.subject, &f.trial));
    sign(h, &f);
    bool reported = !by_cause || is_new(h, subject, &f);
    if (reported) {
        f.attribution = trial_attribute(&h->trials, f.subject, &o->settings, &item->expected,
                                        f.knobs, &f.trial);
        if (!o->ignore_known)
            f.known = known_find(f.subject, f.knobs, &f.trial, &f.attribution);
        sign(h, &f);
        reported = by_cause || is_new(h, subject, &f);
    }
    if (reported)
        report(h, subject, &f);
    arena_release(&h->trials, mark);
}

/* ---- batches ---- */

/* A batch that fails as a whole says nothing about which kernel is to blame: each is run alone, until so many in a row
 * have failed like the batch that the others will, too. */
enum { ALONE_MOST = 3 };

static bool fails_as_a_whole(enum trial_verdict verdict)
{
    return verdict == TRIAL_CRASH || verdict == TRIAL_HANG || verdict == TRIAL_COMPILE_ERROR ||
           verdict == TRIAL_RUN_ERROR;
}

static void count_chances(struct hunt *h, uint32_t s, const struct hunted *item)
{
    for (uint32_t k = 0; k < known_count(); k++)
        h->summary->counts[s].known_chances[k] +=
            known_may_show(k, h->options->subjects[s], knobs_of(h, s, item));
}

static void count_trial(struct hunt_count *count, const struct trial *trial)
{
    count->kernels++;
    count->trials[trial->verdict]++;
    if (trial->verdict == TRIAL_UNKNOWN && !*count->unknown)
        snprintf(count->unknown, sizeof count->unknown, "%s", trial->cause);
}

static void judge_item(struct hunt *h, uint32_t subject, const struct hunted *item,
                       const struct outside_result *result, uint32_t *alike)
{
    size_t mark = arena_mark(&h->trials);
    struct trial trial = trial_judge(&h->trials, &item->expected, result);
    bool whole = fails_as_a_whole(trial.verdict);
    if (whole && *alike < ALONE_MOST) {
        struct trial alone =
            trial_run(&h->trials, h->options->subjects[subject], &h->options->settings,
                      &item->expected, knobs_of(h, subject, item), NULL);
        *alike = trial_is_same(&alone, &trial) ? *alike + 1 : 0;
        trial = alone;
    }
    count_trial(&h->summary->counts[subject], &trial);
    count_chances(h, subject, item);
    if (trial_is_finding(&trial) && !(whole && *alike == ALONE_MOST))
        confirm(h, subject, item);
    arena_release(&h->trials, mark);
}

/* The batch's text for one subject: what its language cannot express is left out. */
static void run_subject(struct hunt *h, uint32_t s)
{
    const struct outside_subject *subject = h->options->subjects[s];
    struct hunt_count *count = &h->summary->counts[s];
    size_t mark = arena_mark(&h->arena);
    uint64_t started = clock_monotonic_us(), own = own_cpu_us(), cpu = child_cpu_us();
    struct emitted emitted[BATCH_MAX];
    const struct hunted *items[BATCH_MAX];
    struct outside_result results[BATCH_MAX];
    struct outside_batch batch = {.language = subject->language, .kernels = emitted};
    struct text text = text_begin(&h->arena);
    const char *reason;
    for (uint32_t i = 0; i < h->count; i++)
        if (emit_kernel(&text, ast_kernel_copy(&h->arena, h->items[i].expected.kernel),
                        subject->language, knobs_of(h, s, &h->items[i]), batch.count,
                        &emitted[batch.count], &reason))
            items[batch.count++] = &h->items[i];
    batch.text = emit_text(&h->arena, subject->language, text.bytes);
    subject->kind->run(&h->arena, subject, &h->options->settings, &batch, results);
    for (uint32_t i = 0, alike = 0; i < batch.count && !interrupted; i++)
        judge_item(h, s, items[i], &results[i], &alike);
    count->us += clock_monotonic_us() - started;
    count->own_us += own_cpu_us() - own;
    count->cpu_us += child_cpu_us() - cpu;
    arena_release(&h->arena, mark);
}

/* Whether an implementation has had no more CPU time than the others have, on average. At least one has. */
static bool has_turn(const struct hunt *h, uint32_t s)
{
    const struct hunt_count *counts = h->summary->counts;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < h->options->subject_count; i++)
        sum += counts[i].cpu_us + counts[i].own_us;
    return !h->options->by_time ||
           (counts[s].cpu_us + counts[s].own_us) * h->options->subject_count <= sum;
}

static void run_batch(struct hunt *h)
{
    bool turns[HUNT_SUBJECTS_MAX];
    for (uint32_t s = 0; s < h->options->subject_count; s++)
        turns[s] = has_turn(h, s);
    for (uint32_t s = 0; s < h->options->subject_count && !interrupted && h->count; s++)
        if (turns[s])
            run_subject(h, s);
    h->count = 0;
    arena_release(&h->arena, 0);
}

/* Which case is this worker's with this number: the workers take batches in turn. */
static uint64_t case_of(const struct hunt_options *o, uint64_t done)
{
    uint64_t workers = o->workers ? o->workers : 1;
    return (done / o->batch * workers + o->worker) * o->batch + done % o->batch;
}

static bool is_over(const struct hunt *h, uint64_t done)
{
    const struct hunt_options *o = h->options;
    return interrupted || (o->cases && case_of(o, done) >= o->cases) ||
           (o->time_ms && clock_monotonic_ms() - h->started_ms >= o->time_ms);
}

void hunt_run(const struct hunt_options *options, struct hunt_summary *summary,
              const struct hunt_listener *listener)
{
    struct hunt h = {.options = options,
                     .summary = summary,
                     .listener = listener,
                     .started_ms = clock_monotonic_ms()};
    *summary = (struct hunt_summary){.cases = 0};
    if (arena_init(&h.arena, (size_t)1 << ARENA_BYTES_LOG) != 0 ||
        arena_init(&h.trials, (size_t)1 << ARENA_BYTES_LOG) != 0)
        return;
    for (uint64_t done = options->done; !is_over(&h, done);) {
        /* At least one: a batch that was begun is filled, so that --resume finds whole ones. */
        do
            add_case(&h, options->first + case_of(options, done++));
        while (done % options->batch &&
               (!options->cases || case_of(options, done) < options->cases));
        run_batch(&h);
        if (!interrupted && listener->batch)
            listener->batch(listener->context, summary, done);
    }
    worker_stop_all();
    arena_destroy(&h.trials);
    arena_destroy(&h.arena);
}

/* ---- sums ---- */

static void add_count(struct hunt_count *sum, const struct hunt_count *more)
{
    sum->kernels += more->kernels;
    for (uint32_t v = 0; v < TRIAL_VERDICT_COUNT; v++)
        sum->trials[v] += more->trials[v];
    sum->repeated += more->repeated;
    sum->known += more->known;
    sum->unconfirmed += more->unconfirmed;
    sum->us += more->us;
    sum->cpu_us += more->cpu_us;
    sum->own_us += more->own_us;
    for (uint32_t k = 0; k < KNOWN_MOST; k++) {
        sum->known_seen[k] += more->known_seen[k];
        sum->known_chances[k] += more->known_chances[k];
    }
    if (!*sum->unknown)
        memcpy(sum->unknown, more->unknown, sizeof sum->unknown);
}

void hunt_add_summary(struct hunt_summary *sum, const struct hunt_summary *more)
{
    sum->cases += more->cases;
    sum->valid += more->valid;
    sum->our_us += more->our_us;
    sum->our_cpu_us += more->our_cpu_us;
    sum->findings += more->findings;
    for (uint32_t i = 0; i < more->reason_count; i++)
        count_reason(sum, more->reasons[i].text, more->reasons[i].count);
    for (uint32_t s = 0; s < HUNT_SUBJECTS_MAX; s++)
        add_count(&sum->counts[s], &more->counts[s]);
}
