/*
 * cli_lower.c - `simtfuzz lower` and `simtfuzz gen`: kernels as text.
 */
#include "engine/lower.h"
#include "engine/print.h"
#include "fuzz/case.h"
#include "fuzz/cli.h"
#include "fuzz/json.h"

#include <inttypes.h>
#include <string.h>

int command_lower(struct cli *cli)
{
    const char *path = cli->arguments[0];
    if (strcmp(cli->options.to, "core") != 0)
        return cli_misuse(cli, "--to: there is no form '%s' (there is: core)", cli->options.to);
    struct ast_kernel *kernel = cli_read_kernel(&cli->arena, path);
    if (!kernel)
        return CLI_USAGE;
    if (kernel->form != FORM_STRUCTURED) {
        cli_message(cli, "%s: a block program has no core form", path);
        return CLI_USAGE;
    }
    const char *text = print_kernel(&cli->arena, lower_core(&cli->arena, kernel));
    if (cli->options.json) {
        struct json json;
        json_start(&json, stdout);
        json_object_begin(&json);
        json_key_string(&json, "file", path);
        json_key_string(&json, "form", cli->options.to);
        json_key_string(&json, "text", text);
        json_object_end(&json);
        json_end_line(&json);
    } else {
        fputs(text, stdout);
    }
    return CLI_OK;
}

int command_gen(struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    struct gen_options gen = GEN_DEFAULTS;
    gen.features = o->features;
    const char *command = case_gen_command(&cli->arena, o->seed, &gen);
    for (uint64_t i = 0; i < o->count && !ferror(stdout); i++) {
        uint64_t number = o->first_case + i;
        size_t mark = arena_mark(&cli->arena);
        const char *text = print_kernel(&cli->arena, gen_case(&cli->arena, o->seed, number, &gen));
        if (o->json) {
            struct json json;
            json_start(&json, stdout);
            json_object_begin(&json);
            json_key_hex(&json, "seed", o->seed);
            json_key_u64(&json, "case", number);
            json_key_string(&json, "text", text);
            json_object_end(&json);
            json_end_line(&json);
        } else {
            printf("%s// %s %" PRIu64 "\n%s", i > 0 ? "\n" : "", command, number, text);
        }
        arena_release(&cli->arena, mark);
    }
    return CLI_OK;
}
