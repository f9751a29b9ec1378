/*
 * golden_table.h - a table of golden digests: a line a kernel of the corpus, a column a part of what is made of it.
 * SIMTFUZZ_BLESS=1 writes it anew; with SIMTFUZZ_FIRST=1 all lines are looked at until one differs, otherwise every
 * eighth by day and all every night (many.h).
 */
#ifndef TESTS_UNIT_GOLDEN_TABLE_H
#define TESTS_UNIT_GOLDEN_TABLE_H

#include "tests/unit/shared/corpus_kernel.h"
#include "tests/unit/shared/digests.h"
#include "tests/unit/shared/many.h"

#include <glob.h>
#include <stdlib.h>

enum { GOLDEN_COLUMNS_MAX = 64, GOLDEN_LINE_BYTES = 2048 };

static const char GOLDEN_CORPUS[] = SIMTFUZZ_SOURCE_DIR "/corpus/";

/* Kernels that were written for something. */
static const char *const GOLDEN_WRITTEN[] = {
    "papers/*.simt",  "papers/*/*.simt", "papers/*/*.ptx", "progress/*.simt", "progress/*.ptx",
    "regress/*.simt", "regress/*.ptx",   "rules/*.simt",   "rules/*.ptx",     NULL};

struct golden_columns {
    uint32_t count;
    char names[GOLDEN_COLUMNS_MAX][40];
    uint32_t digests[GOLDEN_COLUMNS_MAX]; /* 0: there is nothing */
};

struct golden_table {
    const char *file;
    const char *const *patterns; /* below corpus/; NULL behind the last */
    /* The columns of a kernel, by its path. False: it is not of the table. */
    bool (*make)(struct golden_columns *columns, const char *path);
};

/* The kernel of a path that `make` is given. */
static inline struct ast_kernel *golden_kernel(const char *path)
{
    return corpus_kernel(path + sizeof SIMTFUZZ_SOURCE_DIR);
}

static inline void golden_put(struct golden_columns *columns, const char *name, uint64_t digest)
{
    assert_true(columns->count < GOLDEN_COLUMNS_MAX);
    snprintf(columns->names[columns->count], sizeof columns->names[0], "%s", name);
    columns->digests[columns->count++] = (uint32_t)(digest >> 32 ^ digest);
}

static inline void golden_bless_pattern(const struct golden_table *table, const char *pattern,
                                        FILE *file)
{
    static struct golden_columns columns;
    glob_t paths;
    assert_int_equal(glob(pattern, 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        size_t mark = arena_mark(&test_arena);
        columns.count = 0;
        if (table->make(&columns, paths.gl_pathv[i])) {
            fputs(paths.gl_pathv[i] + sizeof GOLDEN_CORPUS - 1, file);
            for (uint32_t c = 0; c < columns.count; c++)
                fprintf(file, " %08x", columns.digests[c]);
            fputc('\n', file);
        }
        arena_release(&test_arena, mark);
    }
    globfree(&paths);
}

static inline void golden_bless(const struct golden_table *table)
{
    char pattern[GOLDEN_LINE_BYTES];
    FILE *file = fopen(table->file, "w");
    assert_non_null(file);
    for (size_t i = 0; table->patterns[i]; i++) {
        snprintf(pattern, sizeof pattern, "%s%s", GOLDEN_CORPUS, table->patterns[i]);
        golden_bless_pattern(table, pattern, file);
    }
    assert_int_equal(fclose(file), 0);
}

/* A line of the file against what is made now; how many columns differ. */
static inline uint32_t golden_compare(const struct golden_table *table, char *line)
{
    static struct golden_columns columns;
    char path[GOLDEN_LINE_BYTES], *rest, *name = strtok_r(line, " \n", &rest);
    uint32_t differ = 0, c = 0;
    size_t mark = arena_mark(&test_arena);
    assert_non_null(name);
    snprintf(path, sizeof path, "%s%s", GOLDEN_CORPUS, name);
    columns.count = 0;
    assert_true(table->make(&columns, path));
    for (char *word; (word = strtok_r(NULL, " \n", &rest)); c++) {
        assert_true(c < columns.count);
        if (strtoul(word, NULL, 16) == columns.digests[c])
            continue;
        print_error("%s: %s is not what it was\n", name, columns.names[c]);
        differ++;
    }
    assert_int_equal(c, columns.count);
    arena_release(&test_arena, mark);
    return differ;
}

/* At least `least` kernels are in the table, and all show what they showed. */
static inline void golden_check(const struct golden_table *table, uint32_t least)
{
    char line[GOLDEN_LINE_BYTES];
    uint32_t differ = 0, kernels = 0;
    if (getenv("SIMTFUZZ_BLESS"))
        golden_bless(table);
    FILE *file = fopen(table->file, "r");
    assert_non_null(file);
    while ((differ == 0 || !getenv("SIMTFUZZ_FIRST")) && fgets(line, sizeof line, file)) {
        if (getenv("SIMTFUZZ_FIRST") || many_has(kernels))
            differ += golden_compare(table, line);
        kernels++;
    }
    fclose(file);
    if (differ > 0)
        fail_msg("%u digests of %u kernels are not what they were. If that is meant: "
                 "tests/golden/bless.sh BUILD/simtfuzz",
                 differ, kernels);
    assert_true(kernels >= least);
}

#endif
