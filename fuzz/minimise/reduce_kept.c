/*
 * reduce_kept.c - a kernel file, minimised as long as it does what --keep names, or what --test
 * says of it stays so.
 */
#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/keep/keep_models.h"
#include "fuzz/keep/keep_seen.h"
#include "fuzz/keep/keep_test.h"
#include "fuzz/minimise/minimise.h"

#include <inttypes.h>
#include <string.h>

enum { TEST_RUNS = 3, TEST_TIME_MS = 60000 };

struct keeping {
    struct cli *cli;
    struct ast_kernel *kernel;
    const char *key, *kept; /* as of reduce_outcome; kept: NULL until it is known */
    struct reduce_options options;
    struct interest interest;
    struct keep_models models;
    struct keep_seen seen;
    struct keep_test *test;
    struct reduce_result result;
    const char *error;     /* why nothing was tried */
    const char *flaky;     /* what the command said of one kernel, more than once */
    const char *flaky_end; /* ... of the result */
};

static bool prepare_models(struct keeping *k, const char *models)
{
    if (!keep_models_of(&k->cli->arena, k->kernel, models, &k->models, &k->error))
        return false;
    k->interest = keep_models_interest(&k->models);
    k->kept = keep_models_print(&k->cli->arena, &k->models);
    return true;
}

static bool prepare_seen(struct keeping *k, const char *name)
{
    if (!keep_seen_of(&k->cli->arena, k->kernel, &k->options.check, name, &k->seen, &k->error))
        return false;
    k->interest = keep_seen_interest(&k->seen);
    k->kept = k->seen.words;
    return true;
}

/* How often of TEST_RUNS the command finds the kernel interesting; *why not, the first time that it
 * does not. */
static uint32_t ask_again(struct keeping *k, const struct ast_kernel *kernel, const char **why)
{
    uint32_t interesting = 0;
    *why = NULL;
    for (int i = 0; i < TEST_RUNS && (i == 0 || !interrupted); i++) {
        struct keep_test_run run = keep_test_ask(k->test, &k->cli->arena, kernel);
        interesting += run.end == KEEP_TEST_INTERESTING;
        if (!*why && run.end != KEEP_TEST_CUT)
            *why = run.why;
        if (interesting == 0 || run.end == KEEP_TEST_CUT)
            break;
    }
    return interesting;
}

/* The kernel as it is given must be interesting, and be so again and again. */
static bool prepare_test(struct keeping *k)
{
    const char *why;
    k->interest = keep_test_interest(k->test);
    k->kept = k->cli->options.test;
    uint32_t interesting = ask_again(k, k->kernel, &why);
    if (interesting == 0)
        k->error =
            arena_printf(&k->cli->arena, "the command does not find the kernel interesting: %s",
                         why ? why : "there was no time to ask it");
    else if (why)
        k->flaky = why;
    return interesting > 0;
}

static bool prepare(struct keeping *k)
{
    if (k->test)
        return prepare_test(k);
    const char *models = reduce_models_of(k->cli);
    return models ? prepare_models(k, models) : prepare_seen(k, k->cli->options.keep);
}

static void keep(void *context)
{
    struct keeping *k = context;
    if (!prepare(k))
        return;
    k->options.interest = &k->interest;
    reduce_kernel(&k->cli->arena, k->kernel, &k->options, &k->result);
    if (!k->result.reproduced)
        k->error = "the kernel shows it once, and then no more";
    else if (k->test && k->result.ending != REDUCE_STOPPED)
        (void)ask_again(k, k->result.kernel, &k->flaky_end);
}

static int tell_kept(struct keeping *k)
{
    struct cli *cli = k->cli;
    if (k->error) {
        cli_message(cli, "%s: %s", cli->arguments[0], k->error);
        return CLI_USAGE;
    }
    const struct reduce_result *r = &k->result;
    const struct reduce_outcome outcome = {.key = k->key,
                                           .kept = k->kept,
                                           .ending = r->ending,
                                           .confirmed = true,
                                           .size_before = r->size_before,
                                           .size = r->size_after,
                                           .tests = r->tests,
                                           .runs = r->runs,
                                           .kernel = print_kernel(&cli->arena, r->kernel)};
    reduce_report(cli, &outcome);
    if (k->flaky)
        cli_message(cli,
                    "the command is not reliable: asked again about the kernel as it is given, %s",
                    k->flaky);
    if (k->flaky_end)
        cli_message(cli, "the command is not reliable: asked again about the result, %s",
                    k->flaky_end);
    struct keep_test_counts counts = {.runs = 0};
    if (k->test)
        counts = keep_test_counted(k->test);
    if (counts.late + counts.killed > 0)
        cli_message(cli,
                    "of %" PRIu32 " runs of the command %" PRIu32 " took too long and %" PRIu32
                    " were ended by a signal: not interesting",
                    counts.runs, counts.late, counts.killed);
    int status = reduce_write(cli, &outcome);
    return status == CLI_OK ? reduce_end_status(r->ending) : status;
}

static bool open_test(struct keeping *k, const struct reduce_bound *bound, const char *path)
{
    struct cli *cli = k->cli;
    const struct keep_test_options options = {
        .command = cli->options.test,
        .file = cli_is_ptx(path) ? "kernel.ptx" : "kernel.simt",
        .time_ms = cli->options.test_time_ms ? cli->options.test_time_ms : TEST_TIME_MS,
        .deadline_ms = bound->deadline_ms,
        .runs = k->options.jobs};
    k->test = keep_test_open(&cli->arena, &options, &k->error);
    return k->test != NULL;
}

/* As it was typed. */
static const char *asked_for(const struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    return o->test ? o->test : o->keep ? o->keep : o->keep_progress;
}

int reduce_kept(struct cli *cli, const char *path)
{
    struct reduce_bound bound;
    struct ast_kernel *kernel = cli_read_launched(cli, path);
    if (!kernel)
        return CLI_USAGE;
    kernel->progress = NULL; /* it is about this kernel */
    struct keeping k = {
        .cli = cli,
        .kernel = kernel,
        .key = cli->options.test ? "test" : "keeps",
        .options = {.check = cli_check_options(cli),
                    .max_tests = cli->options.max_tests,
                    /* Whether a command may run beside itself only its owner knows. */
                    .jobs = cli->options.test && cli->options.jobs == 0 ? 1 : cli_jobs(cli),
                    .hurried = cli->options.time_ms > 0,
                    .go_on = reduce_bound_go_on,
                    .go_on_context = &bound}};
    interrupt_catch();
    if (!reduce_bound_open(&bound, clock_monotonic_ms(), cli->options.time_ms,
                           cli->options.keep != NULL, kernel) ||
        (cli->options.test && !open_test(&k, &bound, path))) {
        cli_message(cli, "%s", k.error ? k.error : "cannot reserve memory");
        reduce_bound_close(&bound);
        return CLI_FAULT;
    }
    bool ended = reduce_bound_run(&bound, keep, &k);
    if (k.test)
        keep_test_close(k.test);
    if (!ended)
        reduce_abandon(cli, &bound, k.key, asked_for(cli));
    reduce_bound_close(&bound);
    return tell_kept(&k);
}

/* ---- what --keep names ---- */

const char *reduce_models_of(const struct cli *cli)
{
    static const char prefix[] = "progress:";
    const char *keep = cli->options.keep;
    if (cli->options.keep_progress)
        return cli->options.keep_progress;
    return keep && strncmp(keep, prefix, sizeof prefix - 1) == 0 ? keep + sizeof prefix - 1 : NULL;
}

bool reduce_keeps(const struct cli *cli)
{
    return reduce_models_of(cli) || keep_seen_is_known(cli->options.keep);
}
