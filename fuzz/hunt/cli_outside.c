/*
 * cli_outside.c - `simtfuzz outside`, also as `run` calls it, and `simtfuzz subjects`.
 */
#include "engine/base/inline.h"
#include "engine/base/pcg.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/case/signature.h"
#include "fuzz/cli/cli.h"
#include "fuzz/hunt/bundle.h"
#include "fuzz/hunt/campaign.h"
#include "fuzz/out/json.h"
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

/* Of address space: our own arenas, of which most stays untouched, take 10 GiB of it. Sanitizers take more than any
 * limit allows. */
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

/* Options that campaigns try beside the usual ones: of an implementation whose name begins so, this instead. */
static const struct {
    const char *begin, *replaced, *by;
} variants[] = {{"compiler:", ":-O2", ":-O1"},
                {"compiler:", ":-O2", ":-O3"},
                {"compiler:nvcc", ":-O3", ":-O1"},
                {"compiler:nvcc", ":-O3", ":-O2"},
                {"compiler:nvcc", ":-O3", ":-O3:sm_100"},
                {"compiler:opt-", ":structurize", ":irreducible"},
                {"compiler:opt-", ":structurize", ":threading"},
                {"compiler:opt-", ":structurize", ":loops"},
                {"compiler:opt-", ":structurize", ":vectors"},
                {"compiler:opt-", ":structurize", ":values"},
                {"compiler:opt-", ":structurize", ":returns"},
                {"vulkan:", "", ":-spirv-opt"},
                {"opencl:pocl", "", ":POCL_WORK_GROUP_METHOD=loops"},
                {"opencl:pocl", "", ":POCL_WORK_GROUP_METHOD=loopvec"}};

static void add_variants(struct subjects *s)
{
    uint32_t count = s->count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
            const char *name = s->list[i]->name, *behind = strstr(name, variants[v].replaced);
            if (strncmp(name, variants[v].begin, strlen(variants[v].begin)) != 0 || !behind)
                continue;
            behind = *variants[v].replaced ? behind : name + strlen(name);
            (void)add_subject(s, arena_printf(&s->cli->arena, "%.*s%s", (int)(behind - name), name,
                                              variants[v].by));
        }
}

static void find_all(struct subjects *s)
{
    for (uint32_t i = 0; i < outside_kind_count; i++)
        if (outside_kinds[i]->find)
            outside_kinds[i]->find(&s->cli->arena, add_found, s);
    if (s->cli->id == COMMAND_RUN)
        add_variants(s);
}

static void choose(struct subjects *s)
{
    const struct cli_outside_options *o = &s->cli->options.outside;
    for (uint32_t i = 0; i < o->count; i++)
        (void)add_subject(s, o->subjects[i]);
    if (o->count == 0)
        find_all(s);
}

/* Where one implementation is hunted in, another one is asked about what is found: the first of these that is here. */
static const struct outside_subject *find_second(const struct subjects *s)
{
    static const char *const names[] = {"opencl:oclgrind:-cl-opt-disable", "compiler:clang-19:-O1",
                                        "compiler:clang-16:-O1", "compiler:clang-14:-O1",
                                        "vulkan:swiftshader"};
    const char *reason;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && s->count == 1; i++) {
        const size_t family = signature_family_length(names[i]);
        if (strncmp(names[i], s->list[0]->name, family) == 0)
            continue;
        const struct outside_subject *second = outside_open(&s->cli->arena, names[i], &reason);
        if (second)
            return second;
    }
    return NULL;
}

/* ---- findings ---- */

struct findings {
    struct cli *cli;
    const struct hunt_options *options;
};

static void print_finding_json(FILE *out, const struct hunt_finding *f, const struct bundle *bundle,
                               const struct db_upserted *stored)
{
    struct json json;
    json_line_begin(&json, out);
    json_key_string(&json, "signature", f->signature);
    json_key_string(&json, "subject", f->subject->name);
    json_key_u64(&json, "case", f->number);
    json_key_string(&json, "verdict", trial_verdict_names[f->trial.verdict]);
    if (stored)
        json_key_u64(&json, "finding", stored->id);
    if (bundle->folder) {
        json_key_string(&json, "folder", bundle->folder);
        json_key_string(&json, "shown", bundle->shown);
    }
    json_line_end(&json);
}

static void print_finding(FILE *out, const struct hunt_finding *f, const struct bundle *bundle,
                          const struct db_upserted *stored)
{
    fprintf(out, "%s: case %" PRIu64 ": %s\n  %s\n", f->subject->name, f->number,
            trial_verdict_names[f->trial.verdict], f->signature);
    if (stored)
        fprintf(out, "  finding %" PRIu64 " of the database\n", stored->id);
    if (f->trial.verdict == TRIAL_WRONG)
        fprintf(out, "  word %u under %s: %d instead of %d\n", (unsigned)f->trial.word,
                f->trial.way, (int)f->trial.actual, (int)f->trial.expected);
    fprintf(out, "  %s\n", f->second);
    if (bundle->folder)
        fprintf(out, "  %s (its program shows the finding: %s)\n", bundle->folder, bundle->shown);
}

/* In the process of a worker: all of it in one write, so that workers do not mix their lines. */
static void found(void *context, const struct hunt_finding *f, const struct db_upserted *stored)
{
    struct findings *findings = context;
    struct cli *cli = findings->cli;
    struct bundle bundle = {.folder = NULL};
    char *text = NULL;
    size_t length = 0;
    if (cli->options.output)
        bundle = bundle_write_below(&cli->arena, cli->options.output, findings->options->seed, f);
    if (cli->options.output && !bundle.folder)
        cli_message(cli, "%s: a finding cannot be written there", cli->options.output);
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    if (cli->options.json)
        print_finding_json(out, f, &bundle, stored);
    else
        print_finding(out, f, &bundle, stored);
    fclose(out);
    (void)fwrite(text, 1, length, stdout);
    (void)fflush(stdout);
    free(text);
}

/* ---- the summary ---- */

static void print_summary(const struct hunt_options *options, const struct hunt_summary *sum)
{
    printf("%" PRIu64 " cases, %" PRIu64 " valid (%.1f %%), %.1f ms of our own each\n", sum->cases,
           sum->valid, sum->cases ? 100.0 * (double)sum->valid / (double)sum->cases : 0,
           sum->cases ? (double)sum->our_cpu_us / 1000 / (double)sum->cases : 0);
    for (uint32_t i = 0; i < sum->reason_count; i++)
        printf("  not valid: %-40s %" PRIu64 "\n", sum->reasons[i].text, sum->reasons[i].count);
    for (uint32_t s = 0; s < options->subject_count; s++) {
        const struct hunt_count *c = &sum->counts[s];
        printf("%s: %" PRIu64 " kernels, %.1f ms each:", options->subjects[s]->name, c->kernels,
               c->kernels ? (double)c->us / 1000 / (double)c->kernels : 0);
        if (c->cpu_us + c->own_us > 0)
            printf(" %.1f a CPU second, %.0f %% of it ours,",
                   (double)c->kernels * 1e6 / (double)(c->cpu_us + c->own_us),
                   100.0 * (double)c->own_us / (double)(c->cpu_us + c->own_us));
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

static void print_summary_json(const struct hunt_options *options,
                               const struct outside_totals *totals)
{
    const struct hunt_summary *sum = &totals->summary;
    struct json json;
    json_line_begin(&json, stdout);
    json_key_u64(&json, "cases", sum->cases);
    json_key_u64(&json, "valid", sum->valid);
    json_key_u64(&json, "findings", sum->findings);
    if (totals->campaign) {
        json_key_u64(&json, "campaign", totals->campaign);
        json_key_hex(&json, "seed", options->seed);
        json_key_u64(&json, "new", totals->kinds[OUTSIDE_NEW]);
        json_key_u64(&json, "open", totals->kinds[OUTSIDE_OPEN]);
        json_key_u64(&json, "regressed", totals->kinds[OUTSIDE_BACK]);
    }
    json_key_array_begin(&json, "subjects");
    for (uint32_t s = 0; s < options->subject_count; s++) {
        json_object_begin(&json);
        json_key_string(&json, "name", options->subjects[s]->name);
        json_key_string(&json, "version", options->subjects[s]->version);
        json_key_u64(&json, "kernels", sum->counts[s].kernels);
        for (uint32_t v = 0; v < TRIAL_VERDICT_COUNT; v++)
            json_key_u64(&json, trial_verdict_names[v], sum->counts[s].trials[v]);
        json_key_u64(&json, "known", sum->counts[s].known);
        json_key_u64(&json, "unconfirmed", sum->counts[s].unconfirmed);
        json_key_u64(&json, "cpu_us", sum->counts[s].cpu_us);
        json_key_u64(&json, "our_cpu_us", sum->counts[s].own_us);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_line_end(&json);
}

/* ---- the commands ---- */

/* `run` without a seed makes one; it is printed and stored. */
static uint64_t fresh_seed(void)
{
    return pcg_splitmix(clock_unix_ms() ^ pcg_splitmix((uint64_t)getpid())) & UINT32_MAX;
}

/* What `run` takes, and a hunt outside does not have; NULL: nothing of that is asked for. */
static const char *foreign_option(const struct cli_options *o)
{
    const struct {
        bool given;
        const char *name;
    } foreign[] = {{o->shard_count > 1, "--shard"},
                   {o->mutate > 0, "--mutate"},
                   {o->enumerate, "--enumerate"},
                   {o->spin, "--spin"},
                   {o->screen, "--ui"},
                   {o->stats != NULL, "--stats"},
                   {o->on_finding != NULL, "--on-finding"},
                   {o->on_end != NULL, "--on-end"},
                   {o->stop_on_finding, "--stop-on-finding"}};
    for (uint32_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (foreign[i].given)
            return foreign[i].name;
    return NULL;
}

static uint32_t minimise_tests(const struct cli_options *o)
{
    if (o->no_minimise)
        return 0;
    return o->outside.tests_given ? o->outside.tests
           : o->minimise_tests    ? o->minimise_tests
                                  : DEFAULT_TESTS;
}

static struct hunt_options make_options(const struct cli *cli, const struct subjects *subjects)
{
    const struct cli_options *o = &cli->options;
    bool by_time = o->cases == 0;
    struct hunt_options options = {
        .seed = o->seed_given || cli->id != COMMAND_RUN ? o->seed : fresh_seed(),
        .first = o->first_case,
        .cases = o->cases,
        .time_ms = o->time_ms == 0 && by_time ? DEFAULT_MS : o->time_ms,
        .by_time = by_time,
        .gen = GEN_DEFAULTS,
        .batch = o->outside.batch ? o->outside.batch : DEFAULT_BATCH,
        .workers = o->jobs ? o->jobs : 1,
        .fixed_knobs = o->knobs_given,
        .knobs = o->knobs,
        .as_it_is = o->outside.as_it_is,
        .ignore_known = o->outside.ignore_known,
        .subjects = subjects->list,
        .subject_count = subjects->count,
        .second = find_second(subjects),
        .settings = {.cpu_seconds =
                         o->outside.cpu_seconds ? o->outside.cpu_seconds : DEFAULT_CPU_SECONDS,
                     .memory = memory_limit},
        .minimise = minimise_tests(o),
    };
    const char *error_at;
    options.gen.features = o->features;
    options.gen.weights = o->weights;
    if (!o->features_given)
        (void)gen_parse_features("portable", &options.gen.features, &error_at);
    return options;
}

static void print_totals(const struct cli *cli, const struct hunt_options *options,
                         const struct outside_totals *totals)
{
    if (cli->options.json) {
        print_summary_json(options, totals);
        return;
    }
    print_summary(options, &totals->summary);
    if (totals->campaign)
        printf("campaign %" PRIu64 " of %s, seed 0x%" PRIx64 ": %" PRIu64 " new findings, %" PRIu64
               " open since before, %" PRIu64 " regressions\n",
               totals->campaign, cli->options.db, options->seed, totals->kinds[OUTSIDE_NEW],
               totals->kinds[OUTSIDE_OPEN], totals->kinds[OUTSIDE_BACK]);
}

static int exit_status(const struct cli *cli, const struct outside_totals *totals)
{
    static const enum campaign_kind kinds[OUTSIDE_KINDS] = {[OUTSIDE_NEW] = CAMPAIGN_NEW,
                                                            [OUTSIDE_OPEN] = CAMPAIGN_OPEN,
                                                            [OUTSIDE_BACK] = CAMPAIGN_REGRESSED};
    if (interrupted)
        return CLI_INTERRUPTED;
    for (uint32_t k = 0; k < OUTSIDE_KINDS; k++)
        if (totals->kinds[k] && cli->options.fail_on >> kinds[k] & 1u)
            return CLI_DIVERGENCE;
    return CLI_OK;
}

static int hunt(struct cli *cli, struct hunt_options *options)
{
    const struct cli_options *o = &cli->options;
    struct findings findings = {.cli = cli, .options = options};
    bool stores = o->db_given || cli->id == COMMAND_RUN;
    const struct outside_campaign campaign = {.hunt = options,
                                              .db = stores ? o->db : NULL,
                                              .resume = o->resume,
                                              .seed_given = o->seed_given,
                                              .found = found,
                                              .context = &findings};
    struct outside_totals *totals = ARENA_NEW(&cli->arena, struct outside_totals);
    interrupt_catch();
    switch (outside_campaign_run(&cli->arena, &campaign, totals)) {
    case OUTSIDE_NOTHING:
        cli_message(cli, "%s: there is no unfinished campaign with these options", o->db);
        return CLI_USAGE;
    case OUTSIDE_FAULT:
        cli_message(cli, "%s", totals->message.text);
        return CLI_FAULT;
    case OUTSIDE_DONE:
        break;
    }
    print_totals(cli, options, totals);
    return exit_status(cli, totals);
}

int command_outside(struct cli *cli)
{
    struct subjects subjects = {.cli = cli};
    const struct cli_options *o = &cli->options;
    const char *foreign = foreign_option(o);
    if (foreign)
        return cli_misuse(cli, "%s is not for outside implementations", foreign);
    if (o->outside.batch > BATCH_MOST)
        return cli_misuse(cli, "--batch is %d at most", BATCH_MOST);
    if (o->jobs > OUTSIDE_WORKERS_MOST)
        return cli_misuse(cli, "--jobs is %d at most", OUTSIDE_WORKERS_MOST);
    if (o->resume && !o->db_given && cli->id != COMMAND_RUN)
        return cli_misuse(cli, "--resume goes on with a campaign of a --db");
    choose(&subjects);
    struct hunt_options options = make_options(cli, &subjects);
    if (o->outside.kernel) {
        options.kernel = cli_read_kernel(&cli->arena, o->outside.kernel);
        options.cases = o->cases ? o->cases : 1;
        if (!options.kernel)
            return CLI_USAGE;
    }
    return hunt(cli, &options);
}

static void print_found(void *context, const char *name, const char *version)
{
    struct cli *cli = context;
    if (!cli->options.json) {
        printf("%-32s %s\n", name, version);
        return;
    }
    struct json json;
    json_line_begin(&json, stdout);
    json_key_string(&json, "subject", name);
    json_key_string(&json, "version", version);
    json_line_end(&json);
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
