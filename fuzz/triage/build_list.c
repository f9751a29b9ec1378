#include "fuzz/triage/build_list.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILDS_MAX = 4096, LINE_MAX_BYTES = 4096 };

static bool add_path(struct cli *cli, struct build_list *list, const char *path)
{
    if (list->count == BUILDS_MAX) {
        cli_message(cli, "more than %d builds", BUILDS_MAX);
        return false;
    }
    list->paths[list->count++] = arena_strndup(&cli->arena, path, strlen(path));
    return true;
}

/* Runs of digits by their value, the rest by bytes. */
static int compare_names(const void *left, const void *right)
{
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, "0");
            b += strspn(b, "0");
            size_t m = strspn(a, "0123456789"), n = strspn(b, "0123456789");
            int order = m == n ? strncmp(a, b, m) : m < n ? -1 : 1;
            if (order != 0)
                return order;
            a += m;
            b += n;
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static bool add_pattern(struct cli *cli, struct build_list *list, const char *pattern)
{
    glob_t found;
    bool good = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
    if (!good) {
        cli_message(cli, "no file fits '%s'", pattern);
        return false;
    }
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_names);
    for (size_t i = 0; i < found.gl_pathc && good; i++)
        good = add_path(cli, list, found.gl_pathv[i]);
    globfree(&found);
    return good;
}

static bool add_build(struct cli *cli, struct build_list *list, const char *text, bool in_file);

static bool add_file(struct cli *cli, struct build_list *list, const char *path)
{
    char line[LINE_MAX_BYTES];
    FILE *file = fopen(path, "r");
    bool good = file != NULL;
    if (!file)
        cli_message(cli, "%s: %s", path, strerror(errno));
    while (good && fgets(line, sizeof line, file)) {
        char *start = line + strspn(line, " \t");
        size_t length = strcspn(start, "#\r\n");
        while (length > 0 && strchr(" \t", start[length - 1]))
            length--;
        start[length] = '\0';
        good = length == 0 || add_build(cli, list, start, true);
    }
    if (file)
        fclose(file);
    return good;
}

static bool add_build(struct cli *cli, struct build_list *list, const char *text, bool in_file)
{
    struct stat info;
    if (stat(text, &info) != 0) {
        if (strpbrk(text, "*?["))
            return add_pattern(cli, list, text);
        cli_message(cli, "%s: %s", text, strerror(errno));
        return false;
    }
    if (S_ISREG(info.st_mode) && access(text, X_OK) == 0)
        return add_path(cli, list, text);
    if (S_ISREG(info.st_mode) && !in_file)
        return add_file(cli, list, text);
    cli_message(cli, "%s: is no program", text);
    return false;
}

bool build_list_find(struct cli *cli, char **arguments, int count, struct build_list *list)
{
    uint32_t given = 0;
    for (uint32_t i = 0; i < cli->given_count; i++)
        given += strcmp(cli->given[i], "builds") == 0;
    if (given != 1) {
        cli_misuse(cli, "bisect wants --builds%s", given ? " once, with all builds behind it" : "");
        return false;
    }
    *list = (struct build_list){.paths = ARENA_ARRAY(&cli->arena, const char *, BUILDS_MAX)};
    bool good = add_build(cli, list, cli->options.triage.builds, false);
    for (int i = 0; i < count && good; i++)
        good = add_build(cli, list, arguments[i], false);
    if (good && list->count == 0)
        cli_message(cli, "%s names no build", cli->options.triage.builds);
    return good && list->count > 0;
}
