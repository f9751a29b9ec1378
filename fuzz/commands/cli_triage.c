/* cli_triage.c - `simtfuzz triage`: what was found, and what people say about it. */
#include "fuzz/triage/triage.h"

#include <string.h>

static const struct action {
    const char *name;
    int least, most;     /* arguments behind its name; -1: any number */
    const char *options; /* that it takes beside --db, --json, --help; a blank around each */
    int (*run)(struct triage *t);
} actions[] = {
    {"list", 0, 1, " status oracle since new limit ", triage_list},
    {"search", 1, -1, " status oracle since new limit ", triage_search},
    {"bugs", 0, 0, " status oracle since new limit ", triage_bugs},
    {"show", 1, -1, "", triage_show},
    {"note", 2, -1, "", triage_note},
    {"status", 2, -1, "", triage_status},
    {"suppress", 1, 2, " until for ", triage_suppress},
    {"unsuppress", 1, 1, "", triage_unsuppress},
    {"suppressions", 0, 0, "", triage_suppressions},
    {"export", 1, 1, " raw output ", triage_export},
    {"bundle", 1, 1, " raw output ", triage_bundle},
    {"bisect", 1, -1, " builds all runs time ", triage_bisect},
};

enum { ACTIONS = sizeof actions / sizeof actions[0] };

static const struct action *find_action(struct cli *cli)
{
    const char *names = "";
    for (size_t i = 0; i < ACTIONS; i++) {
        if (strcmp(actions[i].name, cli->arguments[0]) == 0)
            return &actions[i];
        names = arena_printf(&cli->arena, "%s%s%s", names, i ? ", " : "", actions[i].name);
    }
    cli_misuse(cli, "there is no action '%s' (%s)", cli->arguments[0], names);
    return NULL;
}

/* Options of other actions are refused: what they ask for would not happen. */
static bool takes_options(struct cli *cli, const struct action *action)
{
    for (uint32_t i = 0; i < cli->given_count; i++) {
        const char *name = cli->given[i];
        if (strcmp(name, "db") != 0 && strcmp(name, "json") != 0 &&
            !strstr(action->options, arena_printf(&cli->arena, " %s ", name))) {
            cli_misuse(cli, "%s takes no --%s", action->name, name);
            return false;
        }
    }
    return true;
}

int command_triage(struct cli *cli)
{
    const struct action *action = find_action(cli);
    int count = cli->argument_count - 1;
    if (!action || !takes_options(cli, action))
        return CLI_USAGE;
    if (count < action->least || (action->most >= 0 && count > action->most))
        return cli_misuse(cli, "wrong number of arguments for %s", action->name);
    if (action->least > 0 && !*cli->arguments[1])
        return cli_misuse(cli, "%s wants a finding or a signature, not ''", action->name);
    struct triage t = {.cli = cli, .arguments = cli->arguments + 1, .count = count};
    int status = action->run(&t);
    db_close(t.db);
    return status;
}
