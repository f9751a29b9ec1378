/*
 * run.c - tests that are texts: tests/cases/ROOM/NAME.case.
 *
 *     # What the file is about.
 *     === in                        from here on, each input stands in the place of the @
 *     kernel k() { @ }
 *     === COMMAND OPTION...: title
 *     the input
 *     ---
 *     what the command prints
 *
 *     === COMMAND OPTION... each: title
 *     the input => what the command prints        of one line each
 *
 * Blank lines at the end of a text do not count. In the input of a case with the option `bytes`, \xNN is a byte.
 *
 *     run_cases FILE...             a case each is a test
 *     run_cases --bless FILE...     writes what the commands print into the files
 */
#include "tests/cases/cases.h"

#include <stdlib.h>

enum { CASES_MAX = 4096, FILE_MAX = 1 << 20, NAME_BYTES = 200 };

struct one_case {
    char name[NAME_BYTES];
    const struct cases_command *command;
    const char *options;
    const char *frame; /* the `in` above it, or NULL */
    const char *input, *expected;
    const char *begin, *rest; /* its expected lines in the file: [begin, rest) */
    bool each;                /* one line */
};

static struct arena arena;
static struct one_case cases[CASES_MAX];
static struct CMUnitTest tests[CASES_MAX];
static size_t case_count;

static const struct cases_command *const tables[] = {cases_language, cases_forms,   cases_ptx,
                                                     cases_run_ptx,  cases_program, cases_reduce,
                                                     cases_config};

bool cases_option(const char *options, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = options; (at = strstr(at, word)); at += length)
        if ((at == options || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static const struct cases_command *find_command(const char *name)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct cases_command *c = tables[t]; c->name; c++)
            if (strcmp(c->name, name) == 0)
                return c;
    fprintf(stderr, "there is no command '%s'\n", name);
    exit(2);
}

/* ---- a file ---- */

/* [from, to) without the newlines at its end. */
static const char *trimmed(const char *from, const char *to)
{
    while (to > from && to[-1] == '\n')
        to--;
    return arena_strndup(&arena, from, (size_t)(to - from));
}

static const char *next_line(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

/* The next line from `at` on that begins like this, or the end. */
static const char *find_line(const char *at, const char *beginning)
{
    while (*at && strncmp(at, beginning, strlen(beginning)) != 0)
        at = next_line(at);
    return at;
}

static const char *unescaped(const char *text)
{
    char *bytes = arena_strndup(&arena, text, strlen(text)), *to = bytes;
    for (const char *c = text; *c; c++)
        if (c[0] == '\\' && c[1] == 'x') {
            char digits[] = {c[2], c[3], 0};
            *to++ = (char)strtoul(digits, NULL, 16);
            c += 3;
        } else {
            *to++ = *c;
        }
    *to = 0;
    return bytes;
}

/* The first case of a head "=== COMMAND OPTION...: title"; its texts are not there yet. */
static struct one_case head_of(const char *path, size_t number, const char *at, const char *frame)
{
    struct one_case c = {.frame = frame, .options = ""};
    char *head = arena_strndup(&arena, at + 4, strcspn(at + 4, "\n"));
    char *title = strstr(head, ": ");
    if (title)
        *title = 0;
    char *blank = strchr(head, ' ');
    if (blank) {
        *blank = 0;
        c.options = blank + 1;
    }
    c.command = find_command(head);
    snprintf(c.name, sizeof c.name, "%s:%zu %s%s%s", path, number, head, title ? ": " : "",
             title ? title + 2 : "");
    return c;
}

static void add(struct one_case c, const char *path)
{
    if (case_count == CASES_MAX) {
        fprintf(stderr, "%s: too many cases\n", path);
        exit(2);
    }
    if (cases_option(c.options, "bytes"))
        c.input = unescaped(c.input);
    c.expected = trimmed(c.begin, c.rest);
    cases[case_count++] = c;
}

/* Lines "input => expected", from `at` on. */
static void add_each(struct one_case c, const char *path, const char *at)
{
    const char *end = find_line(at, "===");
    for (; at < end; at = next_line(at)) {
        const char *arrow = strstr(at, " => ");
        if (!arrow || arrow > next_line(at))
            continue;
        while (arrow[-1] == ' ' && arrow > at)
            arrow--;
        c.input = arena_strndup(&arena, at, (size_t)(arrow - at));
        c.begin = strstr(arrow, " => ") + 4;
        c.rest = next_line(at);
        c.each = true;
        add(c, path);
    }
}

static void add_case(struct one_case c, const char *path, const char *at)
{
    const char *line = find_line(at, "---\n");
    if (!*line) {
        fprintf(stderr, "%s: a case without a line ---\n", c.name);
        exit(2);
    }
    c.input = trimmed(at, line);
    c.begin = next_line(line);
    c.rest = find_line(c.begin, "===");
    add(c, path);
}

static const char *read_file(const char *path)
{
    char *text = arena_alloc(&arena, FILE_MAX, 1);
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(2);
    }
    size_t length = fread(text, 1, FILE_MAX - 1, file);
    text[length] = 0;
    fclose(file);
    return text;
}

static void read_cases(const char *path, const char *text)
{
    const char *frame = NULL;
    size_t number = 1, first = case_count;
    for (const char *at = text; *at; at = next_line(at), number++) {
        if (strncmp(at, "=== in\n", 7) == 0) {
            frame = trimmed(next_line(at), find_line(next_line(at), "==="));
        } else if (strncmp(at, "=== ", 4) == 0) {
            struct one_case c = head_of(path, number, at, frame);
            if (cases_option(c.options, "each"))
                add_each(c, path, next_line(at));
            else
                add_case(c, path, next_line(at));
        }
    }
    if (case_count == first) {
        fprintf(stderr, "%s: no cases\n", path);
        exit(2);
    }
}

/* ---- cases ---- */

static const char *outcome(const struct one_case *c)
{
    struct text out = text_begin(&arena);
    const char *place = c->frame ? strchr(c->frame, '@') : NULL;
    const char *input = c->input;
    if (place)
        input =
            arena_printf(&arena, "%.*s%s%s", (int)(place - c->frame), c->frame, input, place + 1);
    c->command->run(c->options, input, &out);
    text_put(&out, "");
    return trimmed(out.bytes, out.bytes + out.length);
}

static void test_case(void **state)
{
    const struct one_case *c = *state;
    size_t mark = arena_mark(&arena);
    const char *is = outcome(c);
    if (strcmp(is, c->expected) != 0)
        fail_msg("%s\nprints\n%s\n--- and not\n%s", c->name, is, c->expected);
    arena_release(&arena, mark);
}

/* All of it is known before the file is written. */
static void bless(const char *path, const char *text, size_t first)
{
    struct text all = text_begin(&arena);
    for (size_t i = first; i < case_count; i++) {
        const char *is = outcome(&cases[i]);
        if (cases[i].each && strchr(is, '\n'))
            fprintf(stderr, "%s: more than one line\n", cases[i].name);
        /* The blank lines that there were stay. */
        const char *blank = cases[i].begin + strlen(cases[i].expected);
        text_put_bytes(&all, text, (size_t)(cases[i].begin - text));
        text_put(&all, is);
        text_put(&all, *blank ? "" : "\n");
        text_put_bytes(&all, blank, (size_t)(cases[i].rest - blank));
        text = cases[i].rest;
    }
    text_put(&all, text);
    FILE *file = fopen(path, "w");
    if (!file || fputs(all.bytes, file) == EOF || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    bool blesses = argc > 1 && strcmp(argv[1], "--bless") == 0;
    if (argc < 2 + blesses || arena_init(&arena, (size_t)1 << 30) != 0)
        return 2;
    for (int i = 1 + blesses; i < argc; i++) {
        const char *text = read_file(argv[i]);
        size_t first = case_count;
        read_cases(argv[i], text);
        if (blesses)
            bless(argv[i], text, first);
    }
    for (size_t i = 0; i < case_count; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, test_case, NULL, NULL, &cases[i]};
    return blesses ? 0 : _cmocka_run_group_tests("cases", tests, case_count, NULL, NULL);
}
