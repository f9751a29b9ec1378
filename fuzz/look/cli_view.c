/*
 * cli_view.c - `simtfuzz view`.
 */
#include "fuzz/look/chosen.h"
#include "fuzz/out/output.h"
#include "fuzz/view/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what is looked at ---- */

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* A file; the number or signature of a finding; a case. */
static int choose(struct cli *cli, const char *name, struct chosen *chosen)
{
    if (access(name, F_OK) == 0)
        return chosen_file(cli, name, chosen) ? CLI_OK : CLI_USAGE;
    if (strncmp(name, "gen=", 4) == 0)
        return chosen_case(cli, name, chosen) ? CLI_OK : CLI_USAGE;
    if (is_number(name) || strchr(name, '|'))
        return chosen_finding(cli, name, chosen);
    return chosen_file(cli, name, chosen) ? CLI_OK : CLI_USAGE;
}

/* ---- the page ---- */

/* Steps are taken by warps one after the other, or, if nobody says how, by all that can in turn: so that what one does
 * is seen beside what the others do, and a wait that others could end ends. */
static bool choose_schedule(struct cli *cli, struct chosen *chosen)
{
    if (!chosen_gives(cli, "schedule"))
        cli->options.schedule = "rr";
    return chosen_schedule(cli, chosen);
}

static const char *output_name(struct cli *cli, const struct chosen *chosen)
{
    if (cli->options.output)
        return cli->options.output;
    return arena_printf(&cli->arena, "%s.html", chosen->kernel->name);
}

static void open_browser(const struct cli *cli, const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        cli_message(cli, "no browser opens it; %s is for any that you have", path);
}

static void say(const struct view_side *side, const char *path)
{
    printf("%s: %s, ", path, side->subject);
    if (side->status == STATUS_NONTERMINATING)
        printf("never ends");
    else
        printf("%s after %" PRIu64 " steps", status_names[side->status], side->taken);
    if (side->kept + side->first - 1 < side->taken || side->first > 1)
        printf(", of which the page has %" PRIu64 " to %" PRIu64, side->first,
               side->first + side->kept - 1);
    putchar('\n');
}

static int write_page(struct cli *cli, const struct chosen *chosen, const struct view_side *sides,
                      uint32_t count)
{
    const char *path = output_name(cli, chosen), *why = "no memory for it";
    struct view_page page = {.name = chosen->name,
                             .source = chosen->text,
                             .note = chosen->note,
                             .kernel = chosen->kernel,
                             .sides = sides,
                             .side_count = count};
    if (strcmp(path, "-") == 0) {
        view_write(&page, stdout);
        return CLI_OK;
    }
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out)
        view_write(&page, out);
    bool good = out && fclose(out) == 0 && output_write(path, text, length, &why);
    free(text);
    if (!good) {
        cli_message(cli, "%s: %s", path, why);
        return CLI_FAULT;
    }
    for (uint32_t i = 0; i < count; i++)
        say(&sides[i], path);
    if (cli->options.open_page)
        open_browser(cli, path);
    return CLI_OK;
}

static bool run_side(struct cli *cli, struct arena *scratch, const struct chosen *chosen,
                     enum subject_id subject, uint32_t count, struct view_side *side)
{
    const char *why;
    const struct program *program = chosen_program(cli, chosen, subject);
    struct view_options options = {.subject = subject,
                                   .schedule = chosen->schedule,
                                   .schedule_name = chosen->schedule_name,
                                   .max_steps = cli->options.view_steps,
                                   .first = cli->options.from_step,
                                   .kept = cli->options.kept_steps,
                                   .bytes = VIEW_BYTES / count};
    if (!program)
        return false;
    if (view_run(&cli->arena, scratch, program, &options, side, &why))
        return true;
    cli_message(cli, "%s: %s", chosen->name, why);
    return false;
}

static int view(struct cli *cli, const struct chosen *chosen, struct arena *scratch)
{
    const struct cli_options *given = &cli->options;
    struct view_side sides[2] = {{.json = NULL}, {.json = NULL}};
    enum subject_id subjects[2] = {given->subject_given ? given->subject : chosen->subject};
    uint32_t count = given->against ? 2 : 1;
    if (given->against && !subject_parse(given->against, strlen(given->against), &subjects[1]))
        return cli_misuse(cli, "--against: there is no subject '%s'", given->against);
    int status = CLI_OK;
    for (uint32_t i = 0; i < count && status == CLI_OK; i++)
        if (!run_side(cli, scratch, chosen, subjects[i], count, &sides[i]))
            status = CLI_USAGE;
    if (status == CLI_OK)
        status = write_page(cli, chosen, sides, count);
    for (uint32_t i = 0; i < count; i++)
        view_free(&sides[i]);
    return status;
}

int command_view(struct cli *cli)
{
    struct chosen chosen = {.name = NULL};
    struct arena scratch;
    if (!choose_schedule(cli, &chosen))
        return CLI_USAGE;
    int status = choose(cli, cli->arguments[0], &chosen);
    if (status != CLI_OK)
        return status;
    if (arena_init(&scratch, (size_t)1 << 30) != 0) {
        cli_message(cli, "cannot reserve memory");
        return CLI_FAULT;
    }
    status = view(cli, &chosen, &scratch);
    arena_destroy(&scratch);
    return status;
}
