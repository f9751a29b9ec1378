#include "fuzz/outside/hunt.h"

#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/case/case.h"
#include "fuzz/outside/known.h"

#include <stdio.h>
#include <string.h>

enum { BATCH_MAX = 64, ARENA_BYTES_LOG = 32, KNOWN_MAX = 256, KNOWN_TEXT_MAX = 200 };

/* A fault that was reported: others like it are counted only. */
struct known {
    uint32_t subject;
    char signature[KNOWN_TEXT_MAX];
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
    void (*found)(void *context, const struct hunt_finding *finding);
    void *context;
    struct arena arena;  /* of the batch */
    struct arena trials; /* of one run */
    struct hunted items[BATCH_MAX];
    uint32_t count;
    uint64_t started_ms;
    struct known known[KNOWN_MAX];
    uint32_t known_count;
};

/* ---- what is wrong with a kernel ---- */

static void count_reason(struct hunt_summary *summary, const char *reason)
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
    summary->reasons[i].count++;
}

/* Adds a case to the batch if it is valid. */
static void add_case(struct hunt *h, uint64_t number)
{
    struct hunted *item = &h->items[h->count];
    uint64_t started = clock_monotonic_us();
    size_t mark = arena_mark(&h->arena);
    item->number = number;
    item->knobs =
        h->options->fixed_knobs ? h->options->knobs : emit_draw_knobs(h->options->seed, number);
    item->kernel = h->options->kernel
                       ? ast_kernel_copy(&h->arena, h->options->kernel)
                       : gen_case(&h->arena, h->options->seed, number, &h->options->gen);
    const char *reason = outside_validate(&h->arena, item->kernel, &item->expected);
    h->summary->cases++;
    if (reason) {
        count_reason(h->summary, reason);
        arena_release(&h->arena, mark);
    } else {
        h->summary->valid++;
        h->count++;
    }
    h->summary->our_us += clock_monotonic_us() - started;
}

/* ---- findings ---- */

/* Those of the command line stay as they are. */
static uint32_t knobs_of(const struct hunt *h, uint32_t subject, const struct hunted *item)
{
    return h->options->fixed_knobs
               ? item->knobs
               : known_avoid(h->options->subjects[subject], item->knobs, item->number);
}

static const char *second_opinion(struct hunt *h, const struct hunt_finding *f)
{
    const char *text = "";
    for (uint32_t s = 0; s < h->options->subject_count; s++) {
        const struct outside_subject *other = h->options->subjects[s];
        if (other == f->subject)
            continue;
        struct trial trial =
            trial_run(&h->trials, other, &h->options->settings, f->expected, f->knobs, NULL);
        text = arena_printf(&h->trials, "%s%s%s: %s", text, *text ? "; " : "", other->name,
                            trial_verdict_names[trial.verdict]);
    }
    return text;
}

/* "compiler:clang-14:-O2" is of the family "compiler:clang-14": faults of one are filed together. */
static size_t family_length(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon ? (size_t)(colon - name) + 1 + strcspn(colon + 1, ": ") : strlen(name);
}

static const char *signature_of(struct hunt *h, const struct hunt_finding *f)
{
    const char *what =
        *f->trial.cause ? f->trial.cause : attribution_print(&h->trials, &f->attribution, f->knobs);
    return arena_printf(&h->trials, "outside|%s|%.*s|%s", trial_verdict_names[f->trial.verdict],
                        (int)family_length(f->subject->name), f->subject->name, what);
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
        .until_ms = h->options->time_ms ? h->started_ms + h->options->time_ms : 0};
    const char *text;
    minimise_finding(&h->trials, f->kernel, &options, &f->minimised);
    if (!f->minimised.kernel || outside_validate(&h->trials, f->minimised.kernel, expected))
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

/* Whether one like it was reported; from now on it was. */
static bool is_repeated(struct hunt *h, uint32_t subject, const char *signature)
{
    char text[KNOWN_TEXT_MAX];
    snprintf(text, sizeof text, "%s", signature);
    for (uint32_t i = 0; i < h->known_count; i++)
        if (h->known[i].subject == subject && strcmp(h->known[i].signature, text) == 0) {
            h->summary->counts[subject].repeated++;
            return true;
        }
    if (h->known_count < KNOWN_MAX) {
        struct known *known = &h->known[h->known_count++];
        known->subject = subject;
        memcpy(known->signature, text, sizeof text);
    }
    return false;
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
                             .knobs = knobs_of(h, subject, item)};
    f.trial = trial_run(&h->trials, f.subject, &o->settings, &item->expected, f.knobs, &f.text);
    struct outside_expected small;
    struct trial again =
        trial_run(&h->trials, f.subject, &o->settings, &item->expected, f.knobs, NULL);
    if (!trial_is_finding(&f.trial) || !trial_is_same(&f.trial, &again)) {
        count->unconfirmed++;
        arena_release(&h->trials, mark);
        return;
    }
    /* A wrong value is named by what it is attributed to, everything else by its cause. */
    bool by_cause = *f.trial.cause != '\0';
    bool repeated = by_cause && is_repeated(h, subject, signature_of(h, &f));
    const char *known = NULL;
    if (!repeated)
        f.attribution = trial_attribute(&h->trials, f.subject, &o->settings, &item->expected,
                                        f.knobs, &f.trial);
    known = known_find(f.subject, f.knobs, &f.trial, &f.attribution);
    count->known += known != NULL;
    f.signature = signature_of(h, &f);
    repeated = repeated || known || (!by_cause && is_repeated(h, subject, f.signature));
    if (!repeated) {
        if (o->minimise)
            make_small(h, &f, &small);
        f.second = second_opinion(h, &f);
        h->summary->findings++;
        h->found(h->context, &f);
    }
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
    struct trial trial = trial_judge(&item->expected, result);
    size_t mark = arena_mark(&h->trials);
    bool whole = fails_as_a_whole(trial.verdict);
    if (whole && *alike < ALONE_MOST) {
        struct trial alone =
            trial_run(&h->trials, h->options->subjects[subject], &h->options->settings,
                      &item->expected, knobs_of(h, subject, item), NULL);
        *alike = trial_is_same(&alone, &trial) ? *alike + 1 : 0;
        trial = alone;
    }
    count_trial(&h->summary->counts[subject], &trial);
    if (trial_is_finding(&trial) && !(whole && *alike == ALONE_MOST))
        confirm(h, subject, item);
    arena_release(&h->trials, mark);
}

/* The batch's text for one subject: what its language cannot express is left out. */
static void run_subject(struct hunt *h, uint32_t s)
{
    const struct outside_subject *subject = h->options->subjects[s];
    size_t mark = arena_mark(&h->arena);
    uint64_t started = clock_monotonic_us();
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
    h->summary->counts[s].us += clock_monotonic_us() - started;
    arena_release(&h->arena, mark);
}

static bool is_over(const struct hunt *h, uint64_t done)
{
    const struct hunt_options *o = h->options;
    return interrupted || (o->cases && done >= o->cases) ||
           (o->time_ms && clock_monotonic_ms() - h->started_ms >= o->time_ms);
}

void hunt_run(const struct hunt_options *options, struct hunt_summary *summary,
              void (*found)(void *context, const struct hunt_finding *finding), void *context)
{
    struct hunt h = {.options = options,
                     .summary = summary,
                     .found = found,
                     .context = context,
                     .started_ms = clock_monotonic_ms()};
    *summary = (struct hunt_summary){.cases = 0};
    if (arena_init(&h.arena, (size_t)1 << ARENA_BYTES_LOG) != 0 ||
        arena_init(&h.trials, (size_t)1 << ARENA_BYTES_LOG) != 0)
        return;
    for (uint64_t done = 0; !is_over(&h, done);) {
        while (h.count < options->batch && !is_over(&h, done))
            add_case(&h, options->first + done++);
        for (uint32_t s = 0; s < options->subject_count && !interrupted && h.count; s++)
            run_subject(&h, s);
        h.count = 0;
        arena_release(&h.arena, 0);
    }
    arena_destroy(&h.trials);
    arena_destroy(&h.arena);
}
