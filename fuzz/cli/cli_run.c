/*
 * cli_run.c - `simtfuzz run`.
 */
#include "fuzz/campaign.h"
#include "fuzz/cli/config.h"
#include "fuzz/clock.h"
#include "fuzz/ui/terminal.h"

#include "engine/pcg.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

enum { DEFAULT_MS = 60 * 1000 };

static uint32_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1)
        return 1;
    return count > CAMPAIGN_JOBS_MAX ? CAMPAIGN_JOBS_MAX : (uint32_t)count;
}

/* A campaign without a seed gets a new one; it is printed and stored, so nothing is lost. */
static uint64_t fresh_seed(void)
{
    return pcg_splitmix(clock_unix_ms() ^ pcg_splitmix((uint64_t)getpid())) & UINT32_MAX;
}

int command_run(struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    struct campaign_options options = {
        .seed = o->seed_given ? o->seed : fresh_seed(),
        .cases = o->cases,
        .time_ms = o->time_ms == 0 && o->cases == 0 && !o->enumerate ? DEFAULT_MS : o->time_ms,
        .jobs = o->jobs > 0 ? o->jobs : processors(),
        .shard_index = o->shard_index,
        .shard_count = o->shard_count,
        .stop_on_finding = o->stop_on_finding,
        .no_minimise = o->no_minimise,
        .minimise_tests = o->minimise_tests,
        .config = o->config_text,
        .gen = GEN_DEFAULTS,
        .check = cli_check_options(cli),
        .feedback = o->feedback,
        .corpus_dir = o->corpus,
        .db_path = o->db,
        .quiet = ~o->fail_on,
        .on_finding = o->on_finding,
        .on_end = o->on_end,
        .stats_path = o->stats,
        .live = terminal_is_able(),
        .log = stderr,
    };
    struct campaign_summary summary;
    struct db_message message;
    options.gen.features = o->features;
    options.gen.weights = o->weights;
    options.gen.mutate = o->mutate;
    options.gen.small = options.gen.enumerate = o->enumerate;
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
    options.screen = o->screen && terminal_open();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away does not end the hunt */
    int status = campaign_run(&cli->arena, &options, &summary, &message);
    if (summary.campaign > 0 && o->json)
        campaign_print_json(&options, &summary, stdout);
    else if (summary.campaign > 0)
        campaign_print(&cli->arena, &options, &summary, stdout);
    if (status == CLI_FAULT)
        cli_message(cli, "%s", message.text);
    else if (status == CLI_OK && summary.open_findings > 0)
        cli_message(cli, "%" PRIu32 " open findings do not count: exit status 0 (--fail-on)",
                    summary.open_findings);
    return status;
}
