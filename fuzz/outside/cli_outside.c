/*
 * cli_outside.c - `simtfuzz outside` and `simtfuzz subjects`.
 */
#include "engine/base/inline.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"
#include "fuzz/outside/bundle.h"
#include "fuzz/outside/hunt.h"
#include "fuzz/serve/serve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEFAULT_MS = 60 * 1000,
    DEFAULT_BATCH = 16,
    BATCH_MOST = 64,
    DEFAULT_CPU_SECONDS = 30,
    DEFAULT_TESTS = 400
};

/* Of address space: our own arenas, of which most stays untouched, take 10 GiB of it. Sanitizers take more than any limit allows. */
#ifdef SIMTFUZZ_SANITIZED
static const uint64_t memory_limit = 0;
#else
static const uint64_t memory_limit = (uint64_t)32 << 30;
#endif

/* ---- which implementations ---- */

struct subjects {
    struct cli *cli;
    struct outside_subject *list[HUNT_SUBJECTS_MAX];
    uint32_t count;
};

/* False: it cannot be used, and that was said. */
static bool add_subject(struct subjects *s, const char *name)
{
    const char *reason = NULL;
    struct outside_subject *subject = outside_open(&s->cli->arena, name, &reason);
    if (!subject) {
        cli_message(s->cli, "%s: left out: %s", name, reason);
        return false;
    }
    if (s->count < HUNT_SUBJECTS_MAX)
        s->list[s->count++] = subject;
    return true;
}

static void add_found(void *context, const char *name, const char *version)
{
    (void)version;
    (void)add_subject(context, name);
}

static void find_all(struct subjects *s)
{
    for (uint32_t i = 0; i < outside_kind_count; i++)
        if (outside_kinds[i]->find)
            outside_kinds[i]->find(&s->cli->arena, add_found, s);
}

static void choose(struct subjects *s)
{
    const struct cli_outside_options *o = &s->cli->options.outside;
    for (uint32_t i = 0; i < o->count; i++)
        (void)add_subject(s, o->subjects[i]);
    if (o->count == 0)
        find_all(s);
}

/* ---- findings ---- */

struct findings {
    struct cli *cli;
    const struct hunt_options *options;
    uint64_t count;
};

static void print_finding_json(const struct hunt_finding *f, const char *folder)
{
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_string(&json, "signature", f->signature);
    json_key_string(&json, "subject", f->subject->name);
    json_key_u64(&json, "case", f->number);
    json_key_string(&json, "verdict", trial_verdict_names[f->trial.verdict]);
    if (folder)
        json_key_string(&json, "folder", folder);
    json_object_end(&json);
    json_end_line(&json);
}

static void found(void *context, const struct hunt_finding *f)
{
    struct findings *findings = context;
    struct cli *cli = findings->cli;
    const char *folder = NULL;
    findings->count++;
    if (cli->options.output)
        folder = bundle_write(&cli->arena, cli->options.output, findings->options->seed, f);
    if (cli->options.output && !folder)
        cli_message(cli, "%s: a finding cannot be written there", cli->options.output);
    if (cli->options.json) {
        print_finding_json(f, folder);
        return;
    }
    printf("%s: case %" PRIu64 ": %s\n  %s\n", f->subject->name, f->number,
           trial_verdict_names[f->trial.verdict], f->signature);
    if (f->trial.verdict == TRIAL_WRONG)
        printf("  word %u under %s: %d instead of %d\n", (unsigned)f->trial.word, f->trial.way,
               (int)f->trial.actual, (int)f->trial.expected);
    printf("  %s%s%s\n", f->second, folder ? "\n  " : "", folder ? folder : "");
    (void)fflush(stdout);
}

/* ---- the summary ---- */

static void print_summary(const struct hunt_options *options, const struct hunt_summary *sum)
{
    printf("%" PRIu64 " cases, %" PRIu64 " valid (%.1f %%), %.1f ms of our own each\n", sum->cases,
           sum->valid, sum->cases ? 100.0 * (double)sum->valid / (double)sum->cases : 0,
           sum->cases ? (double)sum->our_us / 1000 / (double)sum->cases : 0);
    for (uint32_t i = 0; i < sum->reason_count; i++)
        printf("  not valid: %-40s %" PRIu64 "\n", sum->reasons[i].text, sum->reasons[i].count);
    for (uint32_t s = 0; s < options->subject_count; s++) {
        const struct hunt_count *c = &sum->counts[s];
        printf("%s: %" PRIu64 " kernels, %.1f ms each:", options->subjects[s]->name, c->kernels,
               c->kernels ? (double)c->us / 1000 / (double)c->kernels : 0);
        for (uint32_t v = 0; v < TRIAL_VERDICT_COUNT; v++)
            if (c->trials[v])
                printf(" %s %" PRIu64, trial_verdict_names[v], c->trials[v]);
        if (c->known)
            printf(" (%" PRIu64 " known)", c->known);
        if (c->repeated)
            printf(" (%" PRIu64 " like an earlier one)", c->repeated);
        if (c->unconfirmed)
            printf(" (%" PRIu64 " not confirmed)", c->unconfirmed);
        printf("\n");
        if (*c->unknown)
            printf("  unknown: %s\n", c->unknown);
    }
}

static void print_summary_json(const struct hunt_options *options, const struct hunt_summary *sum)
{
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_u64(&json, "cases", sum->cases);
    json_key_u64(&json, "valid", sum->valid);
    json_key_u64(&json, "findings", sum->findings);
    json_key(&json, "subjects");
    json_array_begin(&json);
    for (uint32_t s = 0; s < options->subject_count; s++) {
        json_object_begin(&json);
        json_key_string(&json, "name", options->subjects[s]->name);
        json_key_string(&json, "version", options->subjects[s]->version);
        json_key_u64(&json, "kernels", sum->counts[s].kernels);
        for (uint32_t v = 0; v < TRIAL_VERDICT_COUNT; v++)
            json_key_u64(&json, trial_verdict_names[v], sum->counts[s].trials[v]);
        json_key_u64(&json, "known", sum->counts[s].known);
        json_key_u64(&json, "unconfirmed", sum->counts[s].unconfirmed);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    json_end_line(&json);
}

/* ---- the commands ---- */

static struct hunt_options make_options(const struct cli *cli, const struct subjects *subjects)
{
    const struct cli_options *o = &cli->options;
    struct hunt_options options = {
        .seed = o->seed,
        .first = o->first_case,
        .cases = o->cases,
        .time_ms = o->time_ms == 0 && o->cases == 0 ? DEFAULT_MS : o->time_ms,
        .gen = GEN_DEFAULTS,
        .batch = o->outside.batch ? o->outside.batch : DEFAULT_BATCH,
        .fixed_knobs = o->knobs_given,
        .knobs = o->knobs,
        .subjects = subjects->list,
        .subject_count = subjects->count,
        .settings = {.cpu_seconds =
                         o->outside.cpu_seconds ? o->outside.cpu_seconds : DEFAULT_CPU_SECONDS,
                     .memory = memory_limit},
        .minimise = o->outside.tests_given ? o->outside.tests : DEFAULT_TESTS,
    };
    const char *error_at;
    options.gen.features = o->features;
    if (!o->features_given)
        (void)gen_parse_features("portable", &options.gen.features, &error_at);
    return options;
}

int command_outside(struct cli *cli)
{
    struct subjects subjects = {.cli = cli};
    char folder[] = "/tmp/simtfuzz-outside-XXXXXX";
    if (cli->options.outside.batch > BATCH_MOST)
        return cli_misuse(cli, "--batch is %d at most", BATCH_MOST);
    choose(&subjects);
    struct hunt_options options = make_options(cli, &subjects);
    if (cli->options.outside.kernel) {
        options.kernel = cli_read_kernel(&cli->arena, cli->options.outside.kernel);
        options.cases = 1;
        if (!options.kernel)
            return CLI_USAGE;
    }
    struct findings findings = {.cli = cli, .options = &options};
    struct hunt_summary *summary = ARENA_NEW(&cli->arena, struct hunt_summary);
    if (!mkdtemp(folder)) {
        cli_message(cli, "no temporary folder can be made");
        return CLI_FAULT;
    }
    options.settings.folder = folder;
    interrupt_catch();
    hunt_run(&options, summary, found, &findings);
    bundle_remove_folder(folder);
    if (cli->options.json)
        print_summary_json(&options, summary);
    else
        print_summary(&options, summary);
    return interrupted ? CLI_INTERRUPTED : summary->findings ? CLI_DIVERGENCE : CLI_OK;
}

static void print_found(void *context, const char *name, const char *version)
{
    struct cli *cli = context;
    if (!cli->options.json) {
        printf("%-32s %s\n", name, version);
        return;
    }
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_string(&json, "subject", name);
    json_key_string(&json, "version", version);
    json_object_end(&json);
    json_end_line(&json);
}

int command_subjects(struct cli *cli)
{
    if (!cli->options.outside.list) {
        for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
            print_found(cli, subject_table[s].name, subject_table[s].sentence);
        return CLI_OK;
    }
    for (uint32_t i = 0; i < outside_kind_count; i++)
        if (outside_kinds[i]->find)
            outside_kinds[i]->find(&cli->arena, print_found, cli);
    return CLI_OK;
}

int command_serve(struct cli *cli)
{
    return serve(cli->arguments[0]);
}
