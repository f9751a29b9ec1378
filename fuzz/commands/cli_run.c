/*
 * cli_run.c - `simtfuzz run`.
 */
#include "fuzz/base/clock.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/resume.h"
#include "fuzz/cli/config.h"
#include "fuzz/host/cli_host.h"
#include "fuzz/out/terminal.h"
#include "fuzz/status/live_serve.h"
#include "fuzz/supervise/supervisor.h"

#include "engine/base/pcg.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_MS = 60 * 1000 };

/* A campaign without a seed gets a new one; it is printed and stored, so nothing is lost. */
static uint64_t fresh_seed(void)
{
    return pcg_splitmix(clock_unix_ms() ^ pcg_splitmix((uint64_t)getpid())) & UINT32_MAX;
}

static struct campaign_options make_options(const struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    struct campaign_options options = {
        .seed = o->seed_given ? o->seed : fresh_seed(),
        .cases = o->cases,
        .time_ms = o->time_ms == 0 && o->cases == 0 && !o->enumerate ? DEFAULT_MS : o->time_ms,
        .jobs = cli_jobs(cli),
        .shard_index = o->shard_index,
        .shard_count = o->shard_count,
        .stop_on_finding = o->stop_on_finding,
        .no_minimise = o->no_minimise,
        .case_timeout_ms = o->case_timeout_ms,
        .verbose = o->verbose,
        .minimise_tests = o->minimise_tests,
        .config = o->config_text,
        .gen = GEN_DEFAULTS,
        .check = cli_check_options(cli),
        .db_path = o->db,
        .quiet = ~o->fail_on,
        .on_finding = o->on_finding,
        .on_end = o->on_end,
        .stats_path = o->stats,
        .live = terminal_is_able(),
        .log = stderr,
    };
    options.gen.features = o->features;
    options.gen.weights = o->weights;
    options.gen.mutate = o->mutate;
    options.gen.small = options.gen.enumerate = o->enumerate;
    options.gen.spin = o->spin;
    options.gen.caches = o->launch.caches;
    return options;
}

/* ---- --resume ---- */

/* Whether something is asked for that decides what the cases are. */
static bool wants_other_cases(struct cli *cli, const struct campaign_options *options)
{
    struct cli plain = {.command = cli->command, .id = cli->id};
    options_default(&plain.options);
    struct campaign_options usual = make_options(&plain);
    return strcmp(resume_print_options(&cli->arena, options),
                  resume_print_options(&cli->arena, &usual)) != 0;
}

/* False: *status is the exit status. */
static bool find_campaign(struct cli *cli, struct campaign_options *options, int *status)
{
    struct db_message message;
    const struct cli_options *o = &cli->options;
    const struct resume_wish wish = {.seed = o->seed_given,
                                     .cases_options = wants_other_cases(cli, options),
                                     .shard = o->shard_given,
                                     .budget = o->cases > 0 || o->time_ms > 0};
    *status = CLI_FAULT;
    switch (resume_find(&cli->arena, options, &wish, &message)) {
    case RESUME_FOUND:
        return true;
    case RESUME_NOTHING:
        if (o->seed_given) /* it did not come so far as to be stored */
            return true;
        *status = CLI_USAGE;
        cli_message(cli, "%s: there is no unfinished campaign%s", o->db,
                    wish.cases_options || wish.shard ? " with these options" : "");
        return false;
    case RESUME_FAULT:
        break;
    }
    cli_message(cli, "%s", message.text);
    return false;
}

/* ---- the campaign ---- */

struct run {
    struct cli *cli;
    struct campaign_options options;
};

/* In the process that is watched over, if there is one. */
static int run_campaign(void *context, struct watch *watch)
{
    struct run *run = context;
    struct campaign_summary summary;
    struct db_message message;
    run->options.watch = watch;
    int status = campaign_run(&run->cli->arena, &run->options, &summary, &message);
    if (summary.campaign > 0 && run->cli->options.json)
        campaign_print_json(&run->options, &summary, stdout);
    else if (summary.campaign > 0)
        campaign_print(&run->cli->arena, &run->options, &summary, stdout);
    if (status == CLI_FAULT)
        cli_message(run->cli, "%s", message.text);
    else if (status == CLI_OK && summary.open_findings > 0)
        cli_message(run->cli, "%" PRIu32 " open findings do not count: exit status 0 (--fail-on)",
                    summary.open_findings);
    return status;
}

static int run_watched(struct run *run)
{
    const struct cli_options *o = &run->cli->options;
    run->options.screen = o->screen && terminal_open();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away does not end the hunt */
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of the database */
    if (o->no_supervisor || supervisor_is_in_the_way())
        return run_campaign(run, NULL);
    const struct supervisor supervisor = {
        .case_timeout_ms = o->case_timeout_ms > 0 ? o->case_timeout_ms : SUPERVISOR_CASE_TIMEOUT_MS,
        .log = stderr,
    };
    return supervise(&supervisor, run_campaign, run);
}

/* With --serve somebody else answers a browser meanwhile. */
static int run_served(struct run *run)
{
    const char *address = run->cli->options.serve;
    pid_t server;
    if (!address)
        return run_watched(run);
    int status = live_serve_start(run->cli, address, &server);
    if (status != CLI_OK)
        return status;
    status = run_watched(run);
    live_serve_stop(server);
    return status;
}

int command_run(struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    if (o->host)
        return cli_host_run(cli);
    if (o->device)
        return cli_misuse(cli, "--device is for host programs: run --host");
    if (!cli_default_shard(cli))
        return CLI_USAGE;
    struct run run = {.cli = cli, .options = make_options(cli)};
    int status;
    const char *conflict = config_conflict(o);
    if (conflict)
        return cli_misuse(cli, "%s", conflict);
    if (o->check_config) {
        if (o->json)
            config_print_json(&cli->arena, o, stdout);
        else
            fputs(config_print(&cli->arena, o), stdout);
        return CLI_OK;
    }
    if (o->outside.all || o->outside.count > 0)
        return command_outside(cli);
    if (o->resume && !find_campaign(cli, &run.options, &status))
        return status;
    return run_served(&run);
}
