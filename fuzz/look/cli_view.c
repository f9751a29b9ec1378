/*
 * cli_view.c - `simtfuzz view`.
 */
#include "fuzz/look/chosen.h"
#include "fuzz/look/finding_view.h"
#include "fuzz/look/litmus_view.h"
#include "fuzz/look/witness.h"
#include "fuzz/out/output.h"
#include "fuzz/view/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The page as it was written to `text`, which is freed. */
static int put_page(struct cli *cli, const char *path, char *text, size_t length)
{
    const char *why;
    bool standard = strcmp(path, "-") == 0;
    bool good = standard || output_write(path, text, length, &why);
    if (standard)
        fwrite(text, 1, length, stdout);
    free(text);
    if (!good) {
        cli_message(cli, "%s: %s", path, why);
        return CLI_FAULT;
    }
    if (cli->options.open_page && !standard)
        open_browser(cli, path);
    return CLI_OK;
}

static int write_page(struct cli *cli, const struct chosen *chosen, const struct view_side *sides,
                      uint32_t count)
{
    const char *path = output_name(cli, chosen);
    struct view_page page = {.name = chosen->name,
                             .source = chosen->text,
                             .note = chosen->note,
                             .kernel = chosen->kernel,
                             .sides = sides,
                             .side_count = count};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return CLI_FAULT;
    view_write(&page, out);
    fclose(out);
    int status = put_page(cli, path, text, length);
    for (uint32_t i = 0; i < count && status == CLI_OK && strcmp(path, "-") != 0; i++)
        say(&sides[i], path);
    return status;
}

/* A finding as its report shows it: both executions, where they part, and what the oracle says. Without what the
 * person asked for instead. */
static bool shows_both(const struct cli *cli, const struct chosen *chosen)
{
    return chosen->finding && !cli->options.subject_given && !cli->options.against &&
           !chosen_gives(cli, "schedule") && !cli->options.from_step;
}

/* False: there is no comparison; *why. */
static bool view_finding(struct cli *cli, const struct chosen *chosen, struct arena *scratch,
                         int *status, const char **why)
{
    const char *path = output_name(cli, chosen);
    const struct comparison *comparison = compare_finding(&cli->arena, scratch, chosen->finding,
                                                          chosen->text, chosen->minimised, why);
    char *text = NULL;
    size_t length = 0;
    FILE *out = comparison ? open_memstream(&text, &length) : NULL;
    if (!out)
        return false;
    bool good =
        finding_view_write(&cli->arena, scratch, chosen->name, comparison, chosen->text, out, why);
    fclose(out);
    if (!good) {
        free(text);
        return false;
    }
    *status = put_page(cli, path, text, length);
    if (*status == CLI_OK && strcmp(path, "-") != 0)
        printf("%s: %s%s%s\n", path, comparison->sides[0].subject,
               comparison->sides[1].subject ? " beside " : "",
               comparison->sides[1].subject ? comparison->sides[1].subject : "");
    return true;
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
    if (subject == chosen->subject) {
        options.stem = chosen->stem;
        options.round = chosen->round;
    }
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
    int status = CLI_OK;
    const char *why = "";
    if (shows_both(cli, chosen)) {
        if (view_finding(cli, chosen, scratch, &status, &why))
            return status;
        cli_message(cli, "%s: its stored execution alone: %s", chosen->name, why);
    }
    struct view_side sides[2] = {{.json = NULL}, {.json = NULL}};
    enum subject_id subjects[2] = {given->subject_given ? given->subject : chosen->subject};
    uint32_t count = given->against ? 2 : 1;
    if (given->against && !subject_parse(given->against, strlen(given->against), &subjects[1]))
        return cli_misuse(cli, "--against: there is no subject '%s'", given->against);
    for (uint32_t i = 0; i < count && status == CLI_OK; i++)
        if (!run_side(cli, scratch, chosen, subjects[i], count, &sides[i]))
            status = CLI_USAGE;
    if (status == CLI_OK)
        status = write_page(cli, chosen, sides, count);
    for (uint32_t i = 0; i < count; i++)
        view_free(&sides[i]);
    return status;
}

/* A litmus test: no execution is chosen, the page has those that show each outcome. */
static int view_litmus(struct cli *cli, const char *path)
{
    char *text = NULL;
    const char *name = "";
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return CLI_FAULT;
    int status = litmus_view(cli, path, out, &name);
    fclose(out);
    if (status != CLI_OK) {
        free(text);
        return status;
    }
    const char *file =
        cli->options.output ? cli->options.output : arena_printf(&cli->arena, "%s.html", name);
    status = put_page(cli, file, text, length);
    if (status == CLI_OK && strcmp(file, "-") != 0)
        printf("%s: the outcomes of %s under each memory\n", file, name);
    return status;
}

int command_view(struct cli *cli)
{
    struct chosen chosen = {.name = NULL};
    struct arena scratch;
    if (is_litmus(cli->arguments[0]))
        return view_litmus(cli, cli->arguments[0]);
    if (!choose_schedule(cli, &chosen))
        return CLI_USAGE;
    int status = chosen_any(cli, cli->arguments[0], &chosen);
    if (status != CLI_OK)
        return status;
    if (cli->options.witness && !witness_choose(cli, &chosen))
        return CLI_USAGE;
    if (arena_init(&scratch, (size_t)1 << 30) != 0) {
        cli_message(cli, "cannot reserve memory");
        return CLI_FAULT;
    }
    status = view(cli, &chosen, &scratch);
    arena_destroy(&scratch);
    return status;
}
