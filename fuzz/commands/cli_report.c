/*
 * cli_report.c - `simtfuzz report`: one reading of the database, any number of formats.
 */
#include "engine/input/input.h"
#include "fuzz/cli/cli.h"
#include "fuzz/look/finding_view.h"
#include "fuzz/out/output.h"
#include "fuzz/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct format {
    size_t field; /* in struct cli_options: the file, NULL = not asked for */
    void (*write)(struct arena *arena, const struct report *report, FILE *out);
} formats[] = {
    {offsetof(struct cli_options, html), report_write_html},
    {offsetof(struct cli_options, junit), report_write_junit},
    {offsetof(struct cli_options, sarif), report_write_sarif},
    {offsetof(struct cli_options, markdown), report_write_markdown},
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

static const char *file_of(const struct cli *cli, const struct format *format)
{
    const char *const *field =
        (const char *const *)(const void *)((const char *)&cli->options + format->field);
    return *field;
}

/* The whole of it, and then the file: a former one stays until then. What cannot be written goes to standard output, if
 * nothing else does: *standard. */
static bool write_file(struct cli *cli, const struct format *format, const struct report *report,
                       bool *standard)
{
    const char *path = file_of(cli, format), *why = "no memory for it";
    if (strcmp(path, "-") == 0) {
        format->write(&cli->arena, report, stdout);
        return true; /* main looks whether all of standard output could be written */
    }
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out)
        format->write(&cli->arena, report, out);
    bool good = out && fclose(out) == 0 && output_write(path, text, length, &why);
    bool instead = !good && text && !*standard;
    if (!good)
        cli_message(cli, "%s: %s%s", path, why,
                    instead ? "; what should have been in it is printed instead" : "");
    if (instead)
        fwrite(text, 1, length, stdout);
    *standard |= instead;
    free(text);
    return good;
}

static int write_formats(struct cli *cli, struct report *report)
{
    int status = CLI_OK;
    bool standard = cli->options.json;
    for (size_t i = 0; i < FORMATS; i++)
        standard |= file_of(cli, &formats[i]) && strcmp(file_of(cli, &formats[i]), "-") == 0;
    for (size_t i = 0; i < FORMATS; i++)
        if (file_of(cli, &formats[i]) && !write_file(cli, &formats[i], report, &standard))
            status = CLI_FAULT;
    if (cli->options.json)
        report_write_json(&cli->arena, report, stdout);
    return status;
}

/* ---- views of findings ---- */

/* "night.html.views" of "out/night.html": beside it, so that the page can call it by its last name. */
static const char *views_folder(struct cli *cli)
{
    return arena_printf(&cli->arena, "%s.views", cli->options.html);
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A view that there is none of is said on the page; false: one that could not be written. */
static bool write_view(struct cli *cli, struct arena *scratch, struct report_finding *shown)
{
    const char *why = "no memory for it";
    const char *name = arena_printf(&cli->arena, "finding %" PRIu64, shown->finding->id);
    const char *path = arena_printf(&cli->arena, "%s/finding-%" PRIu64 ".html", views_folder(cli),
                                    shown->finding->id);
    char *text = NULL;
    size_t length = 0, mark = arena_mark(&cli->arena);
    FILE *out = open_memstream(&text, &length);
    bool made = out && finding_view_write(&cli->arena, scratch, name, shown->comparison,
                                          shown->kernel, out, &why);
    if (out)
        fclose(out);
    bool good = !made || output_write(path, text, length, &why);
    if (!good)
        cli_message(cli, "%s: %s", path, why);
    arena_release(&cli->arena, mark);
    if (!made || !good)
        shown->no_view = arena_printf(&cli->arena, "%s", why);
    free(text);
    return good;
}

/* They stand beside a page that is a file. */
static bool wants_views(const struct cli *cli)
{
    struct stat info;
    const char *html = cli->options.html;
    if (!html || strcmp(html, "-") == 0 || cli->options.no_views)
        return false;
    return stat(html, &info) != 0 || S_ISREG(info.st_mode);
}

static bool any_comparison(const struct report *report)
{
    for (uint32_t i = 0; i < report->shown_count; i++)
        if (report->shown[i].comparison)
            return true;
    return false;
}

static int write_views(struct cli *cli, struct arena *scratch, struct report *report)
{
    const char *folder = views_folder(cli);
    int status = CLI_OK;
    if (any_comparison(report) && mkdir(folder, 0777) != 0 && errno != EEXIST) {
        cli_message(cli, "%s: %s", folder, strerror(errno));
        return CLI_FAULT;
    }
    for (uint32_t i = 0; i < report->shown_count; i++)
        if (report->shown[i].comparison && !write_view(cli, scratch, &report->shown[i]))
            status = CLI_FAULT;
    return status;
}

static int make_report(struct cli *cli, struct arena *scratch)
{
    struct db_message message;
    struct report *report = ARENA_NEW(&cli->arena, struct report);
    struct report_options options = {.db_name = cli->options.db,
                                     .findings = cli->options.report_findings,
                                     .traces = cli->options.report_traces};
    if (cli->options.grade) {
        size_t length;
        struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
        diag_init(diag, cli->options.grade, NULL, 0);
        options.grade_table = parse_read_file(&cli->arena, cli->options.grade, &length, diag);
        if (!options.grade_table) {
            diag_print(diag, stderr);
            return CLI_USAGE;
        }
    }
    if (wants_views(cli))
        options.views = last_name(views_folder(cli));
    struct db *db = cli_open_db(cli, DB_READONLY, &message);
    if (!db)
        return CLI_FAULT;
    int error = report_read(&cli->arena, scratch, db, &options, report);
    db_close(db);
    if (error != DB_OK)
        return cli_db_failed(cli, &message, error);
    if (!wants_views(cli))
        return write_formats(cli, report);
    int status = write_views(cli, scratch, report);
    int formats_status = write_formats(cli, report);
    return status == CLI_OK ? formats_status : status;
}

/* Options that are about a database. */
static const char *given_of_databases(const struct cli *cli)
{
    static const char *const names[] = {"db", "findings", "traces", "grade", "no-views"};
    for (uint32_t i = 0; i < cli->given_count; i++)
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
            if (strcmp(cli->given[i], names[k]) == 0)
                return names[k];
    return NULL;
}

/* Of kernels, such as `exec --capture` keeps: they are checked. What is wrong with them is told, and is no failure. */
static int report_files(struct cli *cli, bool to_standard)
{
    if (to_standard)
        return cli_misuse(cli,
                          "what `check` prints goes to standard output: a format needs a file");
    if (given_of_databases(cli))
        return cli_misuse(cli, "--%s is about a database, not about files",
                          given_of_databases(cli));
    const int status = command_check(cli);
    return status == CLI_DIVERGENCE ? CLI_OK : status;
}

int command_report(struct cli *cli)
{
    struct arena scratch;
    uint32_t wanted = 0, standard = cli->options.json;
    for (size_t i = 0; i < FORMATS; i++) {
        const char *file = file_of(cli, &formats[i]);
        wanted += file != NULL;
        standard += file && strcmp(file, "-") == 0;
    }
    if (wanted == 0 && !cli->options.json)
        return cli_misuse(cli, "which format? --html, --junit, --sarif, --markdown FILE, --json");
    if (cli->options.no_views && !cli->options.html)
        return cli_misuse(cli, "--no-views is about the page's folder: --html FILE");
    if (standard > 1)
        return cli_misuse(cli, "only one format can go to standard output");
    if (cli->argument_count > 0)
        return report_files(cli, standard > cli->options.json);
    if (arena_init(&scratch, (size_t)4 << 30) != 0) {
        cli_message(cli, "cannot reserve memory");
        return CLI_FAULT;
    }
    int status = make_report(cli, &scratch);
    arena_destroy(&scratch);
    return status;
}
