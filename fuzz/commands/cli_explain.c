/*
 * cli_explain.c - `simtfuzz explain`.
 */
#include "fuzz/explain/explain.h"

#include "fuzz/cli/cli.h"

#include <inttypes.h>
#include <string.h>

/* What the database has of a finding, and what one does with it. */
static void put_finding(struct cli *cli, const struct db_finding *f)
{
    const char *db = cli->options.db;
    printf("finding %" PRIu64 ": %s\n", f->id, f->signature);
    printf("    %s, seen %" PRIu64 " times, first by case %" PRIu64 "%s%s\n",
           db_status_name(f->status), f->occurrences, f->first_case, *f->cause ? "; cause: " : "",
           f->cause);
    if (*f->reference)
        printf("    known: %s (`simtfuzz explain %s`)\n", f->reference, f->reference);
    printf("\n    simtfuzz view %" PRIu64 " --db %s     both executions, where they part\n"
           "    simtfuzz step %" PRIu64 " --db %s     the same in the terminal\n"
           "    simtfuzz triage show %" PRIu64 " --db %s\n"
           "    simtfuzz replay %" PRIu64 " --db %s   does it still show?\n\n----\n\n",
           f->id, db, f->id, db, f->id, db, f->id, db);
}

static int explain_finding(struct cli *cli, const char *name)
{
    struct db_message message;
    int status = CLI_FAULT;
    struct db *db = cli_open_db(cli, DB_READONLY, &message);
    if (!db)
        return CLI_FAULT;
    const struct db_finding *finding = cli_get_finding(cli, db, &message, name, &status);
    db_close(db);
    if (!finding)
        return status;
    put_finding(cli, finding);
    explain_signature(&cli->arena, finding->signature, stdout);
    return CLI_OK;
}

static int explain_one(struct cli *cli, const char *name)
{
    if (*name && strspn(name, "0123456789") == strlen(name))
        return explain_finding(cli, name);
    if (strchr(name, '|') && explain_signature(&cli->arena, name, stdout))
        return CLI_OK;
    if (explain(&cli->arena, name, stdout))
        return CLI_OK;
    const char *near = explain_near(&cli->arena, name);
    return cli_misuse(
        cli,
        "there is no rule, subject, oracle, erratum or word '%s'%s%s (`simtfuzz rules`, "
        "`rules --subjects`, `rules --oracles` list the first three)",
        name, *near ? "; rules like it: " : "", near);
}

int command_explain(struct cli *cli)
{
    int status = CLI_OK;
    for (int i = 0; i < cli->argument_count && status == CLI_OK; i++) {
        if (i > 0)
            puts("\n----\n");
        status = explain_one(cli, cli->arguments[i]);
    }
    return status;
}
