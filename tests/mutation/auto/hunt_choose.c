/*
 * hunt_choose.c - which mutants are hunted.
 */
#include "tests/mutation/auto/hunt.h"

#include "engine/base/pcg.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_name(const char *text, uint32_t draw)
{
    uint64_t hash = 0xcbf29ce484222325u ^ (uint64_t)draw << 32;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

struct ranked {
    int mutant;
    const char *file, *operator_name;
    uint64_t hash;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    if (order == 0)
        order = strcmp(x->operator_name, y->operator_name);
    if (order == 0)
        order = x->hash < y->hash ? -1 : x->hash > y->hash;
    return order;
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool is_asked(const struct options *options, const char *name)
{
    for (uint32_t i = 0; i < options->only_count; i++)
        if (fnmatch(options->only[i], name, 0) == 0)
            return true;
    return options->only_count == 0;
}

/* The names in the output so far. */
static bool is_written(const struct options *options, const char *name)
{
    static char **names;
    static size_t count;
    static bool read;
    if (!read && options->output) {
        char line[4096];
        FILE *in = fopen(options->output, "r");
        while (in && fgets(line, sizeof line, in)) {
            char *field = strchr(line, '\t');
            field = field ? strchr(field + 1, '\t') : NULL;
            if (!field || strncmp(line, "auto\t", 5) != 0)
                continue;
            field[1 + strcspn(field + 1, "\t")] = '\0';
            if (count > 0 && strcmp(names[count - 1], field + 1) == 0)
                continue;
            names = realloc(names, (count + 1) * sizeof *names);
            if (!names || !(names[count++] = strdup(field + 1)))
                exit(3);
        }
        if (in)
            fclose(in);
    }
    read = true;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The mutants that a file names, a line each. False: reported. */
static bool read_names(struct hunt *hunt)
{
    char line[1024];
    FILE *in = fopen(hunt->options.names, "r");
    hunt->mutants = calloc((size_t)mutant_count + 1, sizeof *hunt->mutants);
    while (in && hunt->mutants && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        int mutant = line[0] == '#' || line[0] == '\0' ? -1 : mutant_find(line);
        if (mutant < 0 && line[0] != '#' && line[0] != '\0')
            fprintf(stderr, "hunt: there is no mutant %s (any more)\n", line);
        if (mutant >= 0 && is_asked(&hunt->options, line) && !is_written(&hunt->options, line) &&
            hunt->count < (size_t)mutant_count)
            hunt->mutants[hunt->count++] = mutant;
    }
    if (!in)
        perror(hunt->options.names);
    else
        fclose(in);
    return in && hunt->mutants;
}

/* Every so-many-th of all mutants in the order of files, operators and a hash of the name. Another draw has
 * other hashes and begins elsewhere: any mutant is as likely as any other. */
static void choose_mutants(struct hunt *hunt)
{
    const struct options *o = &hunt->options;
    struct ranked *all = calloc((size_t)mutant_count + 1, sizeof *all);
    hunt->mutants = calloc((size_t)mutant_count + 1, sizeof *hunt->mutants);
    size_t count = 0;
    if (!all || !hunt->mutants)
        exit(3);
    for (int m = 0; m < mutant_count; m++) {
        const struct mutant_point *p = &mutant_points[mutant_point_of(m)];
        char name[NAME_BYTES];
        mutant_name(m, name, sizeof name);
        if (is_asked(&hunt->options, name))
            all[count++] = (struct ranked){m, p->file, p->operator_name, hash_name(name, o->draw)};
    }
    qsort(all, count, sizeof *all, compare_ranked);
    size_t wanted = hunt->options.sample;
    if (wanted == 0 || wanted > count)
        wanted = count;
    size_t start = o->draw ? pcg_splitmix(o->draw) % (count + !count) : count / 2;
    for (size_t i = 0; i < wanted; i++) {
        char name[NAME_BYTES];
        int mutant = all[(i * count + start) / wanted].mutant;
        mutant_name(mutant, name, sizeof name);
        if (!is_written(&hunt->options, name))
            hunt->mutants[hunt->count++] = mutant;
    }
    qsort(hunt->mutants, hunt->count, sizeof *hunt->mutants, compare_ints);
    free(all);
}

bool hunt_choose(struct hunt *hunt)
{
    if (hunt->options.names)
        return read_names(hunt);
    choose_mutants(hunt);
    return true;
}
