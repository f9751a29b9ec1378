/*
 * mutate - mutated versions of the files that a scope names, and the table of all mutants.
 *
 *     mutate SOURCES COMPILE_COMMANDS SCOPE OUTPUT-FOLDER [FILE]...
 *     mutate --list SOURCES COMPILE_COMMANDS SCOPE
 *     mutate --names NAMES SOURCES COMPILE_COMMANDS SCOPE OUTPUT-FOLDER
 *
 * Writes OUTPUT-FOLDER/PATH of each .c in scope (or of the given ones) and OUTPUT-FOLDER/mutants.c. The text of a file
 * is what its own compiler, with its own options, makes of it before it compiles. --list: nothing is written but the
 * names of all mutants. --names: there are only those that a file names, and files without one are not written: such a
 * program is nearly as fast as the original.
 */
#include "tests/mutation/auto/mutate.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { SCOPE_MAX = 800 };

/* ---- the scope ---- */

struct scope_line {
    char word[16], path[128];
};

static struct scope_line scope[SCOPE_MAX];
static uint32_t scope_count;
static bool guards = true;
static char **only;
static int only_count;

static bool read_scope(const char *path)
{
    char line[1024];
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in)) {
        struct scope_line *s = &scope[scope_count];
        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (scope_count == SCOPE_MAX - 1 || sscanf(line, "%15s %127s", s->word, s->path) != 2) {
            fprintf(stderr, "mutate: %s: %s", path, line);
            return false;
        }
        scope_count++;
    }
    if (in)
        fclose(in);
    return in != NULL;
}

static bool is_part(const char *word)
{
    return strcmp(word, "out") != 0 && strcmp(word, "quiet") != 0 && strcmp(word, "switch") != 0;
}

static const char *part_of(const char *file)
{
    bool asked = only_count == 0;
    for (int i = 0; i < only_count; i++)
        asked |= strcmp(only[i], file) == 0;
    for (uint32_t i = 0; i < scope_count && asked; i++)
        if (is_part(scope[i].word) && strcmp(scope[i].path, file) == 0)
            return scope[i].word;
    return NULL;
}

static bool is_quiet(const char *function)
{
    for (uint32_t i = 0; i < scope_count; i++)
        if (strcmp(scope[i].word, "quiet") == 0 && fnmatch(scope[i].path, function, 0) == 0)
            return true;
    return false;
}

static bool is_switch(const char *text)
{
    for (uint32_t i = 0; i < scope_count; i++)
        if (strcmp(scope[i].word, "switch") == 0 && strstr(text, scope[i].path))
            return true;
    return false;
}

/* ---- files ---- */

static char *read_stream(FILE *in, size_t *length)
{
    size_t capacity = 1 << 20;
    char *text = malloc(capacity);
    *length = 0;
    for (size_t got; text && (got = fread(text + *length, 1, capacity - *length - 1, in)) > 0;) {
        *length += got;
        if (capacity - *length < 2)
            text = realloc(text, capacity *= 2);
    }
    if (text)
        text[*length] = '\0';
    return text;
}

static char *read_file(const char *path, size_t *length)
{
    FILE *in = fopen(path, "r");
    char *text = in ? read_stream(in, length) : NULL;
    if (in)
        fclose(in);
    return text;
}

/* The value of the JSON string behind "KEY": at or after *at. */
static bool json_string(const char *text, const char *key, const char **at, char *value,
                        size_t size)
{
    const char *found = strstr(*at, key);
    if (!found || !(found = strchr(found + strlen(key), '"')))
        return false;
    size_t length = 0;
    (void)text;
    for (found++; *found && *found != '"' && length < size - 1; found++) {
        if (*found == '\\')
            found++;
        value[length++] = *found;
    }
    value[length] = '\0';
    *at = found;
    return true;
}

/* The command that compiles the file, with -E, from its folder. Nothing is inlined by force (engine/base/inline.h):
 * mutants make functions long. Arenas have guards (engine/base/arena.h), but where a few mutants are hunted as by a
 * campaign. */
static bool preprocess_command(const char *database, const char *path, char *command, size_t size)
{
    char folder[1024], compile[8192], file[1024];
    for (const char *at = database;
         json_string(database, "\"directory\":", &at, folder, sizeof folder);) {
        if (!json_string(database, "\"command\":", &at, compile, sizeof compile) ||
            !json_string(database, "\"file\":", &at, file, sizeof file))
            break;
        char *output = strstr(compile, " -o ");
        if (strcmp(file, path) != 0 || !output)
            continue;
        *output = '\0';
        return snprintf(command, size,
                        "cd '%s' && %s -DSIMTFUZZ_SANITIZED %s -USTEP_VARIANT -E '%s'", folder,
                        compile, guards ? "-DSIMTFUZZ_ARENA_GUARDS" : "", path) < (int)size;
    }
    fprintf(stderr, "mutate: no command compiles %s\n", path);
    return false;
}

static FILE *create(const char *folder, const char *path)
{
    char full[1200];
    snprintf(full, sizeof full, "%s/%s", folder, path);
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0777);
        *slash = '/';
    }
    FILE *out = fopen(full, "w");
    if (!out)
        fprintf(stderr, "mutate: %s: %s\n", full, strerror(errno));
    return out;
}

static bool close_output(FILE *out)
{
    bool good = out && !ferror(out);
    return out && fclose(out) == 0 && good;
}

static bool mutate_file(const struct points_options *options, const char *database,
                        const char *file, const char *folder)
{
    char path[1200], command[10000];
    size_t length;
    snprintf(path, sizeof path, "%s%s", options->root, file);
    if (!preprocess_command(database, path, command, sizeof command))
        return false;
    FILE *in = popen(command, "r");
    char *text = in ? read_stream(in, &length) : NULL;
    if (!text || pclose(in) != 0) {
        fprintf(stderr, "mutate: failed: %s\n", command);
        return false;
    }
    struct edits edits = {0};
    bool good = points_find(file, text, length, options, &edits);
    if (good && folder && edits.count > 0) {
        FILE *out = create(folder, file);
        if (out)
            edit_write(&edits, text, length, out);
        good = close_output(out);
    }
    edit_clear(&edits);
    free(edits.items);
    free(text);
    return good;
}

/* All of the scope, or of the files that are given; folder: NULL: nothing is written. */
static bool mutate_all(const char *root, const char *database, const char *folder)
{
    const struct points_options options = {root, part_of, is_quiet, is_switch};
    bool good = true;
    for (uint32_t i = 0; i < scope_count && good; i++) {
        size_t end = strlen(scope[i].path);
        bool source = end > 2 && strcmp(scope[i].path + end - 2, ".c") == 0;
        if (source && part_of(scope[i].path))
            good = mutate_file(&options, database, scope[i].path, folder);
    }
    return good;
}

int main(int argc, char **argv)
{
    bool list = argc == 5 && strcmp(argv[1], "--list") == 0;
    const char *names = argc == 7 && strcmp(argv[1], "--names") == 0 ? argv[2] : NULL;
    char **given = argv + (list ? 2 : names ? 3 : 1);
    if (argc < 5) {
        fputs("usage: mutate [--list | --names NAMES] SOURCES COMPILE_COMMANDS SCOPE OUTPUT-FOLDER "
              "[FILE]...\n",
              stderr);
        return 2;
    }
    char root[1024];
    size_t length;
    const char *folder = list ? NULL : given[3];
    snprintf(root, sizeof root, "%s/", given[0]);
    only = given + 4;
    only_count = list || names ? 0 : argc - 5;
    guards = !names;
    char *database = read_file(given[1], &length);
    if (!database || !read_scope(given[2]) || (names && !table_only(names))) {
        fprintf(stderr, "mutate: cannot read %s\n",
                !database ? given[1]
                : names   ? names
                          : given[2]);
        return 2;
    }
    bool good = mutate_all(root, database, folder);
    if (list)
        table_list(stdout);
    FILE *out = good && !list ? create(folder, "mutants.c") : NULL;
    if (out)
        table_write(out);
    good = list ? good && fflush(stdout) == 0 : close_output(out);
    free(database);
    if (good && !list)
        printf("%u mutants\n", table_mutants());
    return good ? 0 : 3;
}
