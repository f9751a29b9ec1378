#include "fuzz/look/chosen.h"

#include "engine/input/input.h"
#include "engine/schedule/stackless.h"
#include "engine/subjects/forms.h"
#include "fuzz/beside/beside.h"
#include "fuzz/triage/stored.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

bool chosen_schedule(struct cli *cli, struct chosen *chosen)
{
    const char *text = cli->options.schedule;
    struct sched_spec *spec = &chosen->schedule;
    *spec = (struct sched_spec){.kind = SCHED_SEQUENTIAL};
    if (!sched_parse(text, spec)) {
        cli_misuse(cli, "--schedule: there is no '%s'", text);
        return false;
    }
    spec->seed = cli->options.seed;
    chosen->schedule_name = sched_name(&cli->arena, spec);
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

bool chosen_file(struct cli *cli, const char *path, struct chosen *chosen)
{
    size_t length;
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    chosen->name = path;
    chosen->kernel = cli_read_launched(cli, path);
    if (!chosen->kernel)
        return false;
    chosen->subject = default_subject(chosen->kernel->form);
    diag_init(diag, path, NULL, 0);
    chosen->text = parse_read_file(&cli->arena, path, &length, diag);
    if (!chosen->text)
        chosen->text = "";
    return true;
}

bool chosen_gives(const struct cli *cli, const char *option)
{
    for (uint32_t i = 0; i < cli->given_count; i++)
        if (strcmp(cli->given[i], option) == 0)
            return true;
    return false;
}

static void take_tape(const struct cli *cli, struct chosen *chosen, const struct tape *tape)
{
    if (chosen_gives(cli, "schedule") || !tape || tape->count == 0)
        return;
    chosen->schedule = (struct sched_spec){.kind = SCHED_TAPE, .tape = tape};
    chosen->schedule_name = "its tape";
}

/* False: *status, after a message. */
static bool read_finding(struct replayer *r, const char *name, struct chosen *chosen, int *status)
{
    struct cli *cli = r->cli;
    struct stored stored;
    struct fuzz_case c;
    size_t column;
    struct db_finding *f = cli_get_finding(cli, r->db, &r->message, name, status);
    if (!f)
        return false;
    const struct beside_kind *beside = beside_of(f->oracle);
    if (beside) {
        cli_message(cli,
                    "finding %" PRIu64 " is %s: `simtfuzz triage export` makes a file of "
                    "it, and `simtfuzz %s` shows its steps",
                    f->id, beside->what, beside->showing);
        *status = CLI_USAGE;
        return false;
    }
    *status = CLI_FAULT;
    if (!stored_choose(r, f, cli->options.raw, &stored) || !stored_case(r, &stored, &c))
        return false;
    chosen->name = arena_printf(&cli->arena, "finding %" PRIu64, f->id);
    chosen->note = f->signature;
    chosen->finding = f;
    chosen->minimised = !cli->options.raw && stored_is_minimised(f);
    chosen->kernel = stored_kernel(r, stored.kernel, &chosen->text);
    if (!chosen->kernel)
        return false;
    if (!subject_parse(f->subject, strlen(f->subject), &chosen->subject))
        chosen->subject = default_subject(chosen->kernel->form);
    take_tape(cli, chosen,
              c.has_tape ? c.check.tape : tape_parse(&cli->arena, stored.tape, &column));
    return true;
}

int chosen_finding(struct cli *cli, const char *name, struct chosen *chosen)
{
    struct replayer r;
    int status = CLI_USAGE;
    bool read = replayer_open(&r, cli, DB_READONLY) && read_finding(&r, name, chosen, &status);
    replayer_close(&r);
    return read ? CLI_OK : status;
}

bool chosen_case(struct cli *cli, const char *text, struct chosen *chosen)
{
    struct fuzz_case c;
    const char *error;
    if (!case_parse(&cli->arena, text, &c, &error)) {
        cli_misuse(cli, "the case: %s", error);
        return false;
    }
    chosen->kernel = c.generated ? example_kernel(&cli->arena, &c, &chosen->text) : NULL;
    if (!chosen->kernel) {
        cli_misuse(cli, "the case says no kernel: only one that is generated does");
        return false;
    }
    chosen->name = arena_printf(&cli->arena, "case %" PRIu64, c.number);
    chosen->subject = default_subject(chosen->kernel->form);
    return true;
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

int chosen_any(struct cli *cli, const char *text, struct chosen *chosen)
{
    if (access(text, F_OK) == 0)
        return chosen_file(cli, text, chosen) ? CLI_OK : CLI_USAGE;
    if (strncmp(text, "gen=", 4) == 0)
        return chosen_case(cli, text, chosen) ? CLI_OK : CLI_USAGE;
    if (is_number(text) || strchr(text, '|'))
        return chosen_finding(cli, text, chosen);
    return chosen_file(cli, text, chosen) ? CLI_OK : CLI_USAGE;
}

const struct program *chosen_program(struct cli *cli, const struct chosen *chosen,
                                     enum subject_id subject)
{
    const struct subject_info *info = &subject_table[subject];
    const struct sched_spec *schedule = &chosen->schedule;
    const struct form *form = forms_get(forms_new(&cli->arena, chosen->kernel), info->program);
    const struct program *program = form->program;
    const char *reason = form->reason;
    if (!info->vtable)
        reason =
            arena_printf(&cli->arena, "%s has no machine whose steps could be shown", info->name);
    else if (program)
        reason = machine_refuses(&cli->arena, info->vtable, program);
    if (!reason && schedule->kind == SCHED_STACKLESS)
        reason = stackless_refuses(info->vtable);
    if (reason) {
        cli_message(cli, "%s: %s", chosen->name, reason);
        return NULL;
    }
    uint32_t actors = info->vtable->actor_count(program);
    if (info->vtable->environment) /* operations and caches behind the warps or threads */
        actors += info->vtable->environment(program, &info->options).alternatives;
    if (schedule->kind != SCHED_STARVE || schedule->victim < actors)
        return program;
    cli_misuse(cli, "--schedule: there is no actor %" PRIu32 " to starve, only 0 to %" PRIu32,
               schedule->victim, actors - 1);
    return NULL;
}
