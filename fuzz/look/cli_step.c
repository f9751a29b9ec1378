/*
 * cli_step.c - `simtfuzz step`.
 */
#include "fuzz/look/chosen.h"
#include "fuzz/step/step_screen.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All of standard input, in the arena; cut at a megabyte. */
static const char *read_commands(struct cli *cli)
{
    enum { MOST = 1 << 20 };
    char *text = ARENA_ARRAY(&cli->arena, char, MOST + 1);
    text[fread(text, 1, MOST, stdin)] = '\0';
    return text;
}

static int step(struct cli *cli, const struct chosen *chosen, struct arena *scratch)
{
    const struct cli_options *given = &cli->options;
    enum subject_id subject = given->subject_given ? given->subject : chosen->subject;
    const struct stepper_options options = {.subject = &subject_table[subject],
                                            .program = chosen_program(cli, chosen, subject),
                                            .schedule = chosen->schedule,
                                            .name = chosen->name,
                                            .source = chosen->text,
                                            .max_steps = given->view_steps};
    if (!options.program)
        return CLI_USAGE;
    struct step_session session = {.stepper = stepper_new(&cli->arena, scratch, &options)};
    const char *commands = given->commands;
    if (commands && strcmp(commands, "-") == 0)
        commands = read_commands(cli);
    if (commands)
        return step_commands(&session, commands, stdout) ? CLI_OK : CLI_USAGE;
    if (step_screen(&session))
        return CLI_OK;
    return cli_misuse(cli, "there is no terminal to show it on; --commands needs none");
}

int command_step(struct cli *cli)
{
    struct chosen chosen = {.name = NULL};
    struct arena scratch;
    if (!chosen_gives(cli, "schedule"))
        cli->options.schedule = "rr";
    if (!chosen_schedule(cli, &chosen))
        return CLI_USAGE;
    int status = chosen_any(cli, cli->arguments[0], &chosen);
    if (status != CLI_OK)
        return status;
    if (arena_init(&scratch, (size_t)1 << 30) != 0) {
        cli_message(cli, "cannot reserve memory");
        return CLI_FAULT;
    }
    status = step(cli, &chosen, &scratch);
    arena_destroy(&scratch);
    return status;
}
