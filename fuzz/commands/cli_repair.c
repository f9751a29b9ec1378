/*
 * cli_repair.c - `simtfuzz check --outcomes` and `--repair`.
 */
#include "fuzz/commands/cli_check.h"

#include "fuzz/repair/repair.h"

#include <inttypes.h>

static int repair(struct cli *cli, const char *path, const struct ast_kernel *kernel,
                  const struct search_options *bounds)
{
    struct repair_sums sums;
    const char *why;
    if (!repair_barrier(&cli->arena, kernel, bounds, &sums, stdout, &why)) {
        cli_message(cli, "%s: %s", path, why);
        return CLI_USAGE;
    }
    if (!sums.racy)
        printf("    no race was found: nothing to repair\n");
    else if (sums.repairs == 0)
        printf("    no single barrier%s makes it race-free and correct; %" PRIu32
               " places were tried\n",
               sums.fences ? " or fence" : "", sums.tried);
    return sums.racy && sums.repairs == 0 ? CLI_DIVERGENCE : CLI_OK;
}

int cli_repair_file(struct cli *cli, const char *path, const struct search_options *bounds)
{
    size_t mark = arena_mark(&cli->arena);
    int status = CLI_OK;
    const char *why;
    const struct ast_kernel *kernel = cli_read_launched(cli, path);
    if (!kernel)
        return CLI_USAGE;
    printf("%s\n", path);
    if (cli->options.outcomes && !repair_outcomes(&cli->arena, kernel, bounds, stdout, &why)) {
        cli_message(cli, "%s: %s", path, why);
        status = CLI_USAGE;
    }
    if (cli->options.repair && status == CLI_OK)
        status = repair(cli, path, kernel, bounds);
    arena_release(&cli->arena, mark);
    return status;
}
