/*
 * cli_reduce.c - `simtfuzz reduce`: what is asked for, and whether it makes sense; fuzz/minimise
 * does it.
 */
#include "engine/host/host.h"
#include "fuzz/host/cli_host.h"
#include "fuzz/minimise/minimise.h"

#include <string.h>

static bool is_file(const char *name)
{
    size_t length = strlen(name);
    return cli_is_ptx(name) || (length > 5 && strcmp(name + length - 5, ".simt") == 0);
}

static bool is_number(const char *name)
{
    return name[strspn(name, "0123456789")] == '\0';
}

/* NULL: what was asked makes sense. */
static const char *misuse(const struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    const char *name = cli->argument_count > 0 ? cli->arguments[0] : "";
    int wishes =
        (o->signature != NULL) + (o->keep != NULL) + (o->keep_progress != NULL) + (o->test != NULL);
    if (o->all_pending != (cli->argument_count == 0))
        return o->all_pending ? "--all stands for the finding" : "which finding?";
    if (wishes > 1)
        return "--signature, --keep, --keep-progress and --test say what is to be kept: only one "
               "of them";
    if (o->test_time_ms && !o->test)
        return "--test-timeout is how long a --test may take";
    if (o->raw && (wishes > 0 || o->all_pending))
        return "--raw is for a finding";
    if (o->all_pending && wishes > 0)
        return "--all keeps the signatures of its findings";
    if (wishes == 0 && is_file(name))
        return "a kernel file needs --signature, --keep or --test";
    if (is_number(name) && (o->keep || o->keep_progress || o->test))
        return "--keep and --test are for a kernel file (*.simt, *.ptx); triage export makes one "
               "of a finding";
    return NULL;
}

int command_reduce(struct cli *cli)
{
    if (cli->argument_count == 1 && host_is_path(cli->arguments[0]))
        return cli_host_reduce(cli, cli->arguments[0]);
    if (cli->options.device)
        return cli_misuse(cli, "--device is for host programs (*.host)");
    const char *name = cli->arguments[0], *wrong = misuse(cli);
    if (wrong)
        return cli_misuse(cli, "%s", wrong);
    const char *keep = cli->options.keep;
    if (keep && !reduce_keeps(cli))
        return cli_misuse(cli,
                          "--keep: there is nothing called '%s' (race, race:VARIABLE, oob, "
                          "deadlock, divergence, assert, hang, "
                          "expect, progress:MODELS, status:STATUS)",
                          keep);
    if (keep || cli->options.keep_progress || cli->options.test)
        return reduce_kept(cli, name);
    if (cli->options.signature && !cli->options.all_pending)
        return reduce_signature(cli, name);
    return reduce_stored(cli, cli->options.all_pending ? NULL : name);
}
