#include "tests/mutation/auto/mutate.h"

#include <stdlib.h>
#include <string.h>

/* Names: FILE:FUNCTION:OPERATOR:OLD:ORDINAL, the ordinal among equal texts of a function. */
struct kept {
    char *name;
    struct point point;
    int64_t number;   /* or POINT_NOT_KEPT: it is only counted */
    uint32_t seen_in; /* the latest file that it came up in */
};

static struct kept *kept;
static uint32_t kept_count, kept_capacity, numbers, mutants, file_number;

/* Open addressing: index + 1 by the hash of the name. */
enum { SLOTS = 1 << 18 };
static uint32_t slots[SLOTS];

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, "mutate: out of memory\n");
        exit(3);
    }
    return memory;
}

static uint32_t *slot_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    uint32_t slot = (uint32_t)(hash >> 20) % SLOTS;
    while (slots[slot] && strcmp(kept[slots[slot] - 1].name, name) != 0)
        slot = (slot + 1) % SLOTS;
    return &slots[slot];
}

void table_new_file(void)
{
    file_number++;
}

/* ---- only some ---- */

static char **wanted;
static size_t wanted_count;
static bool only_wanted;

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool table_only(const char *path)
{
    char line[1024];
    FILE *in = fopen(path, "r");
    only_wanted = true;
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        wanted = need(realloc(wanted, (wanted_count + 1) * sizeof *wanted));
        wanted[wanted_count++] = need(strdup(line));
    }
    if (wanted_count > 0)
        qsort(wanted, wanted_count, sizeof *wanted, compare_names);
    return in && fclose(in) == 0;
}

static bool is_wanted(const char *name, const struct point *point)
{
    bool found = !only_wanted;
    for (uint32_t i = 0; i < point->count && wanted_count > 0 && !found; i++) {
        char mutant[2 * NAME_MAX_BYTES + 64];
        const char *key = mutant;
        snprintf(mutant, sizeof mutant, "%s->%s", name, point->new[i]);
        found = bsearch(&key, wanted, wanted_count, sizeof *wanted, compare_names) != NULL;
    }
    return found;
}

/* ---- all ---- */

static int64_t keep(uint32_t *slot, const char *name, const struct point *point)
{
    if (kept_count == kept_capacity) {
        kept_capacity = kept_capacity ? 2 * kept_capacity : 4096;
        kept = need(realloc(kept, kept_capacity * sizeof *kept));
    }
    if (kept_count >= SLOTS / 2) {
        fprintf(stderr, "mutate: more than %d points\n", SLOTS / 2);
        exit(3);
    }
    struct kept *k = &kept[kept_count];
    bool asked = is_wanted(name, point);
    *k = (struct kept){need(strdup(name)), *point, POINT_NOT_KEPT, file_number};
    if (asked)
        k->number = numbers++;
    k->point.file = need(strdup(point->file));
    k->point.part = need(strdup(point->part));
    k->point.function = need(strdup(point->function));
    k->point.old = need(strdup(point->old));
    for (uint32_t i = 0; i < point->count; i++)
        k->point.new[i] = need(strdup(point->new[i]));
    mutants += asked ? point->count : 0;
    *slot = ++kept_count;
    return k->number;
}

static bool same_mutants(const struct point *a, const struct point *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; i < a->count && same; i++)
        same = strcmp(a->new[i], b->new[i]) == 0;
    return same;
}

int64_t table_point(const struct point *point)
{
    char name[NAME_MAX_BYTES + 64];
    for (uint32_t ordinal = 1;; ordinal++) {
        snprintf(name, sizeof name, "%s:%s:%s:%.60s:%u", point->file, point->function,
                 point->operator_name, point->old, ordinal);
        uint32_t *slot = slot_of(name);
        if (!*slot)
            return keep(slot, name, point);
        struct kept *k = &kept[*slot - 1];
        /* Of another file: the same text of a header - unless macros make it another one there. */
        if (k->seen_in != file_number && same_mutants(&k->point, point)) {
            k->seen_in = file_number;
            return k->number;
        }
    }
}

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

uint32_t table_mutants(void)
{
    return mutants;
}

void table_write(FILE *out)
{
    fprintf(out, "/* Written by mutate: all points and mutants. */\n"
                 "#include \"tests/mutation/auto/mutant.h\"\n\n"
                 "const struct mutant_point mutant_points[] = {\n");
    uint32_t first = 0;
    for (uint32_t i = 0; i < kept_count; i++) {
        const struct point *p = &kept[i].point;
        if (kept[i].number == POINT_NOT_KEPT)
            continue;
        fputs("    {", out);
        write_string(out, kept[i].name);
        fputs(", ", out);
        write_string(out, p->file);
        fprintf(out, ", \"%s\", \"%s\", ", p->part, p->operator_name);
        write_string(out, p->old);
        fprintf(out, ", %u, %u, %u, {", p->line, first, p->count);
        for (uint32_t k = 0; k < p->count; k++) {
            write_string(out, p->new[k]);
            fputs(k + 1 < p->count ? ", " : "", out);
        }
        fputs("}},\n", out);
        first += p->count;
    }
    fprintf(out,
            "};\nconst int mutant_point_count = %u, mutant_count = %u;\n"
            "short mutant_probe[%u];\nsigned char mutant_choice[%u];\n",
            numbers, first, numbers + 1, numbers + 1);
}

void table_list(FILE *out)
{
    for (uint32_t i = 0; i < kept_count; i++)
        for (uint32_t k = 0; k < kept[i].point.count; k++)
            fprintf(out, "%s->%s\n", kept[i].name, kept[i].point.new[k]);
}
