/*
 * config_keys.c - one row a key of a configuration.
 */
#include "fuzz/cli/config.h"

#include "engine/base/invariant.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/case/case.h"

#include <inttypes.h>
#include <string.h>

static const char *print_shard(struct arena *arena, const struct cli_options *o)
{
    return o->shard_count == 1
               ? NULL
               : arena_printf(arena, "%" PRIu64 "/%" PRIu64, o->shard_index, o->shard_count);
}

static const char *print_features(struct arena *arena, const struct cli_options *o)
{
    return gen_print_features(arena, o->features);
}

static const char *print_mutate(struct arena *arena, const struct cli_options *o)
{
    return arena_printf(arena, "%" PRIu32, o->mutate);
}

static const char *print_memory(struct arena *arena, const struct cli_options *o)
{
    const uint64_t megabytes = o->memory >> 20;
    if (megabytes == 0)
        return NULL;
    return megabytes % 1024 == 0 ? arena_printf(arena, "%" PRIu64 "G", megabytes / 1024)
                                 : arena_printf(arena, "%" PRIu64 "M", megabytes);
}

static const char *print_subjects(struct arena *arena, const struct cli_options *o)
{
    return case_subjects(arena, o->subjects);
}

static const char *print_caches(struct arena *arena, const struct cli_options *o)
{
    const char *text = cache_sizes_print(arena, &o->launch.caches, ",");
    return *text ? text : NULL;
}

static const char *print_oracles(struct arena *arena, const struct cli_options *o)
{
    return case_oracles(arena, o->oracles, o->oracle_modes);
}

static const char *print_fail_on(struct arena *arena, const struct cli_options *o)
{
    char *text = arena_strndup(arena, "", 0);
    for (uint32_t i = 0; i < CAMPAIGN_KNOWN; i++)
        if (o->fail_on >> i & 1)
            text = arena_printf(arena, "%s%s%s", text, *text ? "," : "", campaign_kind_names[i]);
    return *text ? text : "none";
}

static const char *print_on_finding(struct arena *arena, const struct cli_options *o)
{
    (void)arena;
    return o->on_finding;
}

static const char *print_on_end(struct arena *arena, const struct cli_options *o)
{
    (void)arena;
    return o->on_end;
}

static const char *print_outside(struct arena *arena, const struct cli_options *o)
{
    const char *text = o->outside.all ? "all" : NULL;
    for (uint32_t i = 0; i < o->outside.count; i++)
        text = arena_printf(arena, "%s%s%s", text ? text : "", text ? "," : "",
                            o->outside.subjects[i]);
    return text;
}

const struct config_key config_keys[] = {
    {.section = "campaign", .key = "seed", .option = "seed", .hexadecimal = true},
    {.section = "campaign", .key = "shard", .option = "shard", .print = print_shard},
    {.section = "campaign", .key = "jobs", .option = "jobs"},
    {.section = "campaign", .key = "memory", .option = "memory", .print = print_memory},
    {.section = "campaign", .key = "supervisor", .option = "no-supervisor", .negated = true},
    {.section = "campaign", .key = "db", .option = "db"},
    {.section = "campaign", .key = "stats", .option = "stats"},
    {.section = "campaign", .key = "serve", .option = "serve"},
    {.section = "budget", .key = "time", .option = "time"},
    {.section = "budget", .key = "cases", .option = "cases"},
    {.section = "budget", .key = "stop-on-finding", .option = "stop-on-finding"},
    {.section = "budget", .key = "schedules", .option = "schedules"},
    {.section = "budget", .key = "steps", .option = "budget"},
    {.section = "budget", .key = "case-timeout", .option = "case-timeout"},
    {.section = "budget", .key = "minimise", .option = "no-minimise", .negated = true},
    {.section = "budget", .key = "minimise-tests", .option = "tests"},
    {.section = "generate", .key = "features", .option = "features", .print = print_features},
    {.section = "generate", .key = "enumerate", .option = "enumerate"},
    {.section = "generate", .key = "spin", .option = "spin"},
    {.section = "generate", .key = "mutate", .option = "mutate", .print = print_mutate},
    {.section = "check", .key = "subjects", .option = "subjects", .print = print_subjects},
    {.section = "check", .key = "oracles", .option = "oracles", .print = print_oracles},
    {.section = "check", .key = "caches", .option = "caches", .print = print_caches},
    {.section = "check", .key = "same-value", .option = "same-value"},
    {.section = "check", .key = "atomics-sync", .option = "atomics-sync"},
    {.section = "check", .key = "unscoped", .option = "unscoped"},
    {.section = "outside", .key = "subject", .option = "subject", .print = print_outside},
    {.section = "notify", .key = "fail-on", .option = "fail-on", .print = print_fail_on},
    {.section = "notify", .key = "on-finding", .option = "on-finding", .print = print_on_finding},
    {.section = "notify", .key = "on-end", .option = "on-end", .print = print_on_end},
};

const uint32_t config_key_count = sizeof config_keys / sizeof config_keys[0];

const struct cli_option *config_option(const struct config_key *key)
{
    const struct cli_option *found = NULL;
    for (size_t i = 0; i < option_count && !found; i++)
        if (option_is_on(&option_table[i], COMMAND_RUN) &&
            strcmp(option_table[i].name, key->option) == 0)
            found = &option_table[i];
    INVARIANT(found);
    return found;
}

const char *config_conflict(const struct cli_options *o)
{
    if (o->jobs > CAMPAIGN_JOBS_MAX)
        return "--jobs: at most 256";
    if (o->mutate > 0 && o->enumerate)
        return "--mutate is for random kernels, not for --enumerate";
    return NULL;
}

_Static_assert(CAMPAIGN_JOBS_MAX == 256, "a sentence names it");
