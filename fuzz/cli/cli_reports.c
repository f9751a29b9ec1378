/*
 * cli_reports.c - what is said of checked kernels and of programs' launches, in the files that the command line names.
 */
#include "fuzz/check/check_report.h"
#include "fuzz/cli/cli.h"

#include <stdlib.h>

enum { FORMATS = 4 };

static const char *file_of(const struct cli *cli, int format)
{
    const struct cli_options *o = &cli->options;
    const char *const files[FORMATS] = {o->html, o->junit, o->sarif, o->markdown};
    return files[format];
}

bool cli_wants_reports(const struct cli *cli)
{
    bool wanted = false;
    for (int i = 0; i < FORMATS; i++)
        wanted |= file_of(cli, i) != NULL;
    return wanted;
}

int cli_write_reports(const struct cli *cli, const struct check_report *report)
{
    void (*const writers[FORMATS])(const struct check_report *, FILE *) = {
        check_report_html, check_report_junit, check_report_sarif, check_report_markdown};
    int status = CLI_OK;
    for (int i = 0; i < FORMATS; i++) {
        char *text = NULL;
        size_t length = 0;
        if (!file_of(cli, i))
            continue;
        FILE *out = open_memstream(&text, &length);
        if (!out)
            return CLI_FAULT;
        writers[i](report, out);
        const int written =
            fclose(out) == 0 ? cli_write_output(cli, file_of(cli, i), text) : CLI_FAULT;
        status = status ? status : written;
        free(text);
    }
    return status;
}
