/*
 * cli_trace.c - `simtfuzz trace`.
 */
#include "engine/subjects/forms.h"
#include "fuzz/cli/cli.h"
#include "fuzz/trace/trace.h"

#include <inttypes.h>
#include <string.h>

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
    const char *path = text + strlen("tape:");
    spec->tape = cli_read_tape(cli, path);
    if (!spec->tape || spec->tape->count > 0)
        return spec->tape != NULL;
    cli_message(cli, "%s: is empty, not a tape", path);
    return false;
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
    if (!reason && options.schedule.kind == SCHED_STACKLESS)
        reason = stackless_refuses(subject->vtable);
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
