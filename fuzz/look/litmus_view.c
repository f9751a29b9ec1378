#include "fuzz/look/litmus_view.h"

#include "engine/input/input.h"
#include "engine/litmus/litmus.h"
#include "fuzz/litmus/litmus_page.h"

#include <ctype.h>
#include <string.h>

bool is_litmus(const char *path)
{
    size_t length = strlen(path);
    return length > 7 && strcmp(path + length - 7, ".litmus") == 0;
}

/* A test's own lines: without what stands between it and the one before. */
static const char *own_text(struct arena *arena, const char *from, const char *to)
{
    while (from < to && (isspace((unsigned char)*from) || *from == '#')) {
        bool remark = *from == '#';
        while (remark && from < to && *from != '\n')
            from++;
        from += from < to;
    }
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return arena_printf(arena, "%.*s", (int)(to - from), from);
}

/* The test that --test names, or the only one. NULL: a message was given. */
static const char *find_test(struct cli *cli, const char *path, struct litmus_test *test)
{
    struct diag diag;
    size_t length;
    uint32_t count = 0;
    const char *wanted = cli->options.litmus_test, *found = NULL;
    diag_init(&diag, path, NULL, 0);
    const char *text = parse_read_file(&cli->arena, path, &length, &diag);
    struct litmus_reader reader = {.at = text};
    struct litmus_test *one = ARENA_NEW(&cli->arena, struct litmus_test);
    const char *from = text;
    while (text && litmus_next(&cli->arena, &reader, one, &diag)) {
        count++;
        if (!found && (!wanted || strcmp(wanted, one->name) == 0)) {
            *test = *one;
            found = own_text(&cli->arena, from, reader.at);
        }
        from = reader.at;
    }
    diag_print(&diag, stderr);
    if (diag.count)
        return NULL;
    if (!found && wanted)
        cli_message(cli, "%s: there is no test '%s'", path, wanted);
    else if (count != 1 && !wanted)
        cli_message(cli, "%s: %u tests; --test NAME chooses one, e.g. --test '%s'", path, count,
                    count ? test->name : "");
    return count == 1 || wanted ? found : NULL;
}

int litmus_view(struct cli *cli, const char *path, FILE *out, const char **name)
{
    enum litmus_model model;
    struct litmus_test *test = ARENA_NEW(&cli->arena, struct litmus_test);
    const char *text = find_test(cli, path, test);
    if (!text)
        return CLI_USAGE;
    *name = arena_printf(&cli->arena, "%s", test->name);
    if (litmus_page_write(&cli->arena, test, text, out, &model))
        return CLI_OK;
    cli_message(cli, "%s: %s has more than %d states under %s, or memory ran out", path, test->name,
                model <= LITMUS_COHERENT ? LITMUS_STATES_MAX : LITMUS_CANDIDATES_MAX,
                litmus_model_names[model]);
    return CLI_USAGE;
}
