/*
 * cli_shard.c - which shard a process is when it is one of a job array and --shard does not say.
 */
#include "fuzz/cli/options.h"

#include <inttypes.h>
#include <stdlib.h>

enum environment { ENVIRONMENT_NONE, ENVIRONMENT_GOOD, ENVIRONMENT_BAD };

/* A number of the environment; NULL in *text: it is not there. */
static bool read_number(const char *name, const char **text, uint64_t *value)
{
    *text = getenv(name);
    return *text && cli_parse_u64(*text, value);
}

/* Slurm counts an array as its user wrote it: --array=3-9:2 has the tasks 3, 5, 7, 9. One without a step,
 * --array=1,5,6, does not tell which of them a task is. */
static enum environment slurm_shard(struct cli *cli, uint64_t *index, uint64_t *count)
{
    const char *id_text, *text;
    uint64_t id, least = 0, step = 1;
    if (!read_number("SLURM_ARRAY_TASK_ID", &id_text, &id) && !id_text)
        return ENVIRONMENT_NONE;
    bool good = cli_parse_u64(id_text, &id) && read_number("SLURM_ARRAY_TASK_COUNT", &text, count);
    good = good && (read_number("SLURM_ARRAY_TASK_MIN", &text, &least) || !text) &&
           (read_number("SLURM_ARRAY_TASK_STEP", &text, &step) || !text);
    good = good && step > 0 && id >= least && (id - least) % step == 0;
    *index = good ? (id - least) / step : 0;
    if (good && *index < *count)
        return ENVIRONMENT_GOOD;
    cli_misuse(cli,
               "cannot tell the shard from SLURM_ARRAY_TASK_ID=%s, _COUNT, _MIN and _STEP: give "
               "--shard I/N, or an array from 0, such as --array=0-15",
               id_text);
    return ENVIRONMENT_BAD;
}

/* Kubernetes tells a Pod of an indexed Job its index, but not how many there are. */
static enum environment kubernetes_shard(struct cli *cli, uint64_t *index, uint64_t *count)
{
    const char *index_text, *text;
    if (!read_number("JOB_COMPLETION_INDEX", &index_text, index) && !index_text)
        return ENVIRONMENT_NONE;
    if (cli_parse_u64(index_text, index) && read_number("JOB_COMPLETIONS", &text, count) &&
        *index < *count)
        return ENVIRONMENT_GOOD;
    cli_misuse(cli,
               "cannot tell the shard from JOB_COMPLETION_INDEX=%s: set JOB_COMPLETIONS to the "
               "number of completions, or give --shard I/N",
               index_text);
    return ENVIRONMENT_BAD;
}

bool cli_default_shard(struct cli *cli)
{
    struct cli_options *o = &cli->options;
    uint64_t index, count;
    if (!o->shard_given) {
        enum environment found = slurm_shard(cli, &index, &count);
        if (found == ENVIRONMENT_NONE)
            found = kubernetes_shard(cli, &index, &count);
        if (found == ENVIRONMENT_BAD)
            return false;
        if (found == ENVIRONMENT_GOOD) {
            o->shard_index = index;
            o->shard_count = count;
            o->shard_given = true;
        }
    }
    if (o->shard_count == 1 || o->seed_given || o->resume)
        return true;
    cli_misuse(cli, "the shards of a campaign have one --seed: give it to each of them");
    return false;
}
