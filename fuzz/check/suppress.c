#include "fuzz/check/suppress.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

struct suppression {
    const char *kind, *place;
    const struct suppression *next;
};

struct suppressions {
    const struct suppression *first;
};

static const char blanks[] = " \t\r\n";

/* The next word of a line; "": there is none. */
static const char *word(struct arena *arena, const char **at)
{
    *at += strspn(*at, blanks);
    size_t length = strcspn(*at, blanks);
    const char *text = arena_strndup(arena, *at, length);
    *at += length;
    return text;
}

const struct suppressions *suppress_read(struct arena *arena, const char *path, FILE *complain)
{
    struct suppressions *all = ARENA_NEW(arena, struct suppressions);
    char line[4096];
    unsigned number = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(complain, "simtfuzz: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    while (fgets(line, sizeof line, file)) {
        const char *at = line;
        struct suppression *s = ARENA_NEW(arena, struct suppression);
        number++;
        s->kind = word(arena, &at);
        s->place = word(arena, &at);
        s->next = all->first;
        if (*s->kind == '\0' || *s->kind == '#')
            continue;
        if (*s->place == '\0' || *word(arena, &at) != '\0') {
            fprintf(complain,
                    "simtfuzz: %s:%u: a kind and a place are wanted, such as 'race "
                    "sum.cu:12'\n",
                    path, number);
            fclose(file);
            return NULL;
        }
        all->first = s;
    }
    fclose(file);
    return all;
}

static bool is_place(struct suppression const *s, const char *source)
{
    if (fnmatch(s->place, source, 0) == 0)
        return true;
    for (const char *slash = strchr(source, '/'); slash; slash = strchr(slash + 1, '/'))
        if (fnmatch(s->place, slash + 1, 0) == 0)
            return true;
    return false;
}

bool suppress_matches(const struct suppressions *suppressions, const char *kind,
                      const char *const *sources, uint32_t count)
{
    const struct suppression *s = suppressions ? suppressions->first : NULL;
    for (; s; s = s->next) {
        if (fnmatch(s->kind, kind, 0) != 0)
            continue;
        if (strcmp(s->place, "*") == 0)
            return true;
        for (uint32_t i = 0; i < count; i++)
            if (sources[i] && is_place(s, sources[i]))
                return true;
    }
    return false;
}
