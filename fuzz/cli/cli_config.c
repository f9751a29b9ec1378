/*
 * cli_config.c - `simtfuzz config`: what a configuration says, and whether it can be read.
 */
#include "fuzz/cli/config.h"
#include "fuzz/out/json.h"

#include <string.h>

/* The first line of a preset's text, without the mark of a comment and the name. */
static const char *sentence_of(struct arena *arena, const struct config_preset *preset)
{
    const char *text = preset->text + strcspn(preset->text, ":") + 1;
    text += strspn(text, " ");
    return arena_strndup(arena, text, strcspn(text, "\n"));
}

static int list_presets(struct cli *cli)
{
    struct json json;
    for (const struct config_preset *preset = config_presets; preset->name; preset++) {
        const char *sentence = sentence_of(&cli->arena, preset);
        if (!cli->options.json) {
            printf("%-10s%s\n", preset->name, sentence);
            continue;
        }
        json_line_begin(&json, stdout);
        json_key_string(&json, "preset", preset->name);
        json_key_string(&json, "sentence", sentence);
        json_key_string(&json, "text", preset->text);
        json_line_end(&json);
    }
    return CLI_OK;
}

int command_config(struct cli *cli)
{
    const char *name = cli->argument_count > 0 ? cli->arguments[0] : NULL;
    if (cli->options.list_presets)
        return list_presets(cli);
    if (cli->options.plain_text && !name)
        return cli_misuse(cli, "--text of what?");
    if (name && !config_load(cli, name))
        return CLI_USAGE;
    const char *conflict = config_conflict(&cli->options);
    if (conflict) {
        cli_message(cli, "%s: %s", name, conflict);
        return CLI_USAGE;
    }
    if (cli->options.plain_text)
        fputs(cli->options.config_text, stdout);
    else if (cli->options.json)
        config_print_json(&cli->arena, &cli->options, stdout);
    else
        fputs(config_print(&cli->arena, &cli->options), stdout);
    return CLI_OK;
}
