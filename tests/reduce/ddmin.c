/*
 * ddmin FILE COMMAND - a plain delta debugger, to compare the reducer with: Zeller and Hildebrandt's ddmin
 * (IEEE TSE 2002), over lines first, over tokens then. FILE is rewritten until no part of it can go; COMMAND
 * is run by the shell and ends with status 0 while FILE still shows what it is to show; the smallest FILE so
 * far is FILE.best. Prints how often COMMAND was run.
 */
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 1 << 14, TEXT_MAX = 1 << 20 };

static const char *path, *command;
static char text[TEXT_MAX], best[PATH_MAX];
static struct part {
    const char *start;
    size_t length;
} parts[PARTS_MAX];
static size_t part_count;
static bool kept[PARTS_MAX];
static unsigned long runs;

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static void write_kept(const char *name)
{
    FILE *file = fopen(name, "w");
    if (!file)
        fail(name);
    for (size_t i = 0; i < part_count; i++)
        if (kept[i])
            fwrite(parts[i].start, 1, parts[i].length, file);
    if (fclose(file) != 0)
        fail(name);
}

static bool shows(void)
{
    write_kept(path);
    runs++;
    bool shown = system(command) == 0;
    if (shown)
        write_kept(best);
    return shown;
}

static void read_text(void)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail(path);
    text[fread(text, 1, TEXT_MAX - 1, file)] = '\0';
    fclose(file);
}

static void add_part(const char *start, size_t length)
{
    if (part_count == PARTS_MAX) {
        fputs("ddmin: too many parts\n", stderr);
        exit(2);
    }
    kept[part_count] = true;
    parts[part_count++] = (struct part){start, length};
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '%';
}

/* The end of a line, or of a token with the blanks behind it. */
static const char *part_end(const char *at, bool lines)
{
    if (lines)
        return at + strcspn(at, "\n") + (at[strcspn(at, "\n")] != '\0');
    if (is_word(*at))
        while (is_word(*at))
            at++;
    else
        at++;
    return at + strspn(at, " \t\n");
}

static void split(bool lines)
{
    read_text();
    part_count = 0;
    for (const char *at = text; *at;) {
        const char *end = part_end(at, lines);
        add_part(at, (size_t)(end - at));
        at = end;
    }
}

/* Of the parts in `base`, those numbered [from, to) alone, or all but these. */
static void choose(const size_t *base, size_t count, size_t from, size_t to, bool complement)
{
    memset(kept, 0, sizeof kept);
    for (size_t i = 0; i < count; i++)
        kept[base[i]] = (i >= from && i < to) != complement;
}

static size_t collect(size_t *base)
{
    size_t count = 0;
    for (size_t i = 0; i < part_count; i++)
        if (kept[i])
            base[count++] = i;
    return count;
}

/* One of n subsets, or of their complements, that shows it: chosen. */
static bool try_subsets(const size_t *base, size_t count, size_t n, bool complement)
{
    for (size_t i = 0; i < n; i++) {
        choose(base, count, count * i / n, count * (i + 1) / n, complement);
        if (shows())
            return true;
    }
    return false;
}

static void ddmin(bool lines)
{
    static size_t base[PARTS_MAX];
    split(lines);
    size_t count = collect(base), n = 2;
    while (count >= 2) {
        if (try_subsets(base, count, n, false)) {
            n = 2;
        } else if (n > 2 && try_subsets(base, count, n, true)) {
            n--;
        } else {
            if (n >= count)
                break;
            n = 2 * n < count ? 2 * n : count;
            continue;
        }
        count = collect(base);
        n = n < count ? n : count;
    }
    choose(base, count, 0, count, false);
    write_kept(path);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: ddmin FILE COMMAND\n", stderr);
        return 2;
    }
    path = argv[1];
    command = argv[2];
    snprintf(best, sizeof best, "%s.best", path);
    ddmin(true);
    ddmin(false);
    printf("%lu\n", runs);
    return 0;
}
