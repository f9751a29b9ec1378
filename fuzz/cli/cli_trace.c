/*
 * cli_trace.c - `simtfuzz trace`.
 */
#include "engine/parse.h"
#include "fuzz/cli/cli.h"
#include "fuzz/trace/trace.h"
#include "oracle/forms.h"

#include <inttypes.h>
#include <string.h>

/* A tape file: as triage shows tapes, with white space around. */
static struct tape *read_tape(struct cli *cli, const char *path)
{
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    size_t length, column;
    diag_init(diag, path, NULL, 0);
    char *text = parse_read_file(&cli->arena, path, &length, diag);
    if (!text) {
        diag_print(diag, stderr);
        return NULL;
    }
    while (length > 0 && strchr(" \n\r\t", text[length - 1]))
        text[--length] = '\0';
    if (length == 0) {
        cli_message(cli, "%s: is empty, not a tape", path);
        return NULL;
    }
    struct tape *tape = tape_parse(&cli->arena, text, &column);
    if (!tape)
        cli_message(cli, "%s:1:%zu: not a tape", path, column);
    return tape;
}

static bool schedule(struct cli *cli, struct sched_spec *spec)
{
    const char *text = cli->options.schedule;
    *spec = (struct sched_spec){.kind = SCHED_SEQUENTIAL};
    if (!sched_parse(text, spec)) {
        cli_misuse(cli, "--schedule: there is no '%s'", text);
        return false;
    }
    spec->seed = cli->options.seed;
    if (spec->kind != SCHED_TAPE)
        return true;
    spec->tape = read_tape(cli, text + strlen("tape:"));
    return spec->tape != NULL;
}

static enum subject_id default_subject(enum ast_form form)
{
    switch (form) {
    case FORM_STRUCTURED:
        return SUBJECT_SIMT;
    case FORM_BLOCKS:
        return SUBJECT_INTERLEAVE;
    case FORM_LOCKSTEP:
        return SUBJECT_LOCKSTEP;
    case FORM_PTX:
        return SUBJECT_CRS;
    }
    return SUBJECT_SIMT;
}

int command_trace(struct cli *cli)
{
    const char *path = cli->arguments[0];
    struct trace_options options = {.subject = cli->options.subject,
                                    .max_steps = cli->options.max_steps,
                                    .json = cli->options.json};
    if (!schedule(cli, &options.schedule))
        return CLI_USAGE;
    struct ast_kernel *kernel = cli_read_launched(cli, path);
    if (!kernel)
        return CLI_USAGE;
    if (!cli->options.subject_given)
        options.subject = default_subject(kernel->form);
    const struct subject_info *subject = &subject_table[options.subject];
    const struct form *form = forms_get(forms_new(&cli->arena, kernel), subject->program);
    const struct program *program = form->program;
    const char *reason = form->reason;
    if (program)
        reason = machine_refuses(&cli->arena, subject->vtable, program);
    if (reason) {
        cli_message(cli, "%s: %s", path, reason);
        return CLI_USAGE;
    }
    uint32_t actors = subject->vtable->actor_count(program);
    if (options.schedule.kind == SCHED_STARVE && options.schedule.victim >= actors)
        return cli_misuse(cli,
                          "--schedule: there is no actor %" PRIu32 " to starve, only 0 to %" PRIu32,
                          options.schedule.victim, actors - 1);
    trace_run(&cli->arena, program, &options, stdout);
    return CLI_OK;
}
