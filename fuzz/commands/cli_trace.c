/*
 * cli_trace.c - `simtfuzz trace`.
 */
#include "engine/subjects/forms.h"
#include "fuzz/cli/cli.h"
#include "fuzz/out/terminal.h"
#include "fuzz/trace/trace.h"
#include "fuzz/triage/stored.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

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

/* What is to be traced. */
struct traced {
    const char *name; /* for messages */
    struct ast_kernel *kernel;
    enum subject_id subject;
};

/* A file, and its usual subject. False: reported. */
static bool read_file(struct cli *cli, struct traced *traced)
{
    traced->name = cli->arguments[0];
    traced->kernel = cli_read_launched(cli, traced->name);
    if (traced->kernel)
        traced->subject = default_subject(traced->kernel->form);
    return traced->kernel != NULL;
}

static bool is_given(const struct cli *cli, const char *option)
{
    for (uint32_t i = 0; i < cli->given_count; i++)
        if (strcmp(cli->given[i], option) == 0)
            return true;
    return false;
}

/* A finding's kernel, and the execution that is stored of it, unless another is asked for. False:
 * *status, after a message. */
static bool read_finding(struct replayer *r, struct traced *traced, struct sched_spec *spec,
                         int *status)
{
    struct cli *cli = r->cli;
    struct stored stored;
    struct fuzz_case c;
    const char *text, *name = cli->options.finding;
    size_t column;
    struct db_finding *f = cli_get_finding(cli, r->db, &r->message, name, status);
    if (!f)
        return false;
    *status = CLI_FAULT;
    if (!stored_choose(r, f, cli->options.raw, &stored) || !stored_case(r, &stored, &c))
        return false;
    traced->name = arena_printf(&cli->arena, "finding %" PRIu64, f->id);
    traced->kernel = stored_kernel(r, stored.kernel, &text);
    if (!traced->kernel)
        return false;
    if (!subject_parse(f->subject, strlen(f->subject), &traced->subject))
        traced->subject = default_subject(traced->kernel->form);
    const struct tape *tape =
        c.has_tape ? c.check.tape : tape_parse(&cli->arena, stored.tape, &column);
    if (!is_given(cli, "schedule") && tape && tape->count > 0)
        *spec = (struct sched_spec){.kind = SCHED_TAPE, .tape = tape};
    return true;
}

static int trace(struct cli *cli, const struct traced *traced, struct trace_options *options)
{
    const struct subject_info *subject = &subject_table[options->subject];
    const struct form *form = forms_get(forms_new(&cli->arena, traced->kernel), subject->program);
    const struct program *program = form->program;
    const char *reason = form->reason;
    if (program)
        reason = machine_refuses(&cli->arena, subject->vtable, program);
    if (!reason && options->schedule.kind == SCHED_STACKLESS)
        reason = stackless_refuses(subject->vtable);
    if (reason) {
        cli_message(cli, "%s: %s", traced->name, reason);
        return CLI_USAGE;
    }
    const char *wrong = trace_filter_refuses(&options->filter, &cli->arena, program);
    if (wrong)
        return cli_misuse(cli, "%s", wrong);
    uint32_t actors = subject->vtable->actor_count(program);
    if (options->schedule.kind == SCHED_STARVE && options->schedule.victim >= actors)
        return cli_misuse(cli,
                          "--schedule: there is no actor %" PRIu32 " to starve, only 0 to %" PRIu32,
                          options->schedule.victim, actors - 1);
    trace_run(&cli->arena, program, options, stdout);
    return CLI_OK;
}

/* Lines fit the terminal; what does not go to one is not cut. */
static uint32_t width(const struct cli *cli)
{
    uint32_t rows, columns;
    if (cli->options.width_given || !isatty(STDOUT_FILENO))
        return (uint32_t)cli->options.width;
    terminal_size(&rows, &columns);
    return columns;
}

int command_trace(struct cli *cli)
{
    const struct cli_options *given = &cli->options;
    struct trace_options options = {
        .max_steps = given->max_steps,
        .json = given->json,
        .width = width(cli),
        .filter = {given->warp, given->lines, given->rules, given->watched}};
    struct traced traced;
    struct replayer r;
    int status = CLI_USAGE;
    const char *finding = cli->options.finding, *against = cli->options.against;
    if (against && strcmp(against, "reference") != 0)
        return cli_misuse(cli, "--against: there is no '%s', only the reference", against);
    options.against_reference = against != NULL;
    if ((finding != NULL) != (cli->argument_count == 0))
        return cli_misuse(cli,
                          finding ? "--finding stands for the file" : "which file, or --finding?");
    if (cli->options.raw && !finding)
        return cli_misuse(cli, "--raw is for a --finding");
    if (!schedule(cli, &options.schedule))
        return CLI_USAGE;
    bool read = false;
    if (finding) {
        read = replayer_open(&r, cli, DB_READONLY) &&
               read_finding(&r, &traced, &options.schedule, &status);
        replayer_close(&r);
    } else {
        read = read_file(cli, &traced);
    }
    if (!read)
        return status;
    options.subject = cli->options.subject_given ? cli->options.subject : traced.subject;
    return trace(cli, &traced, &options);
}
