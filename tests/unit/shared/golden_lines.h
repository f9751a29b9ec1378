/*
 * golden_lines.h - a table of golden digests of random programs: a line is the number of the first of some of them, and
 * what they show together. SIMTFUZZ_BLESS=1 writes it anew; with SIMTFUZZ_FIRST=1 the first line that differs ends the
 * look.
 */
#ifndef TESTS_UNIT_GOLDEN_LINES_H
#define TESTS_UNIT_GOLDEN_LINES_H

#include "tests/unit/shared/support.h"

#include <stdio.h>
#include <stdlib.h>

enum { GOLDEN_LINES_BYTES = 200 };

struct golden_lines {
    const char *file;
    uint32_t count, together; /* lines, and programs in each */
    /* The line of the programs from `first` on; how many of them there was something to see of. */
    uint32_t (*make)(char line[GOLDEN_LINES_BYTES], uint64_t first);
};

static inline void golden_bless_lines(const struct golden_lines *lines)
{
    char line[GOLDEN_LINES_BYTES];
    FILE *file = fopen(lines->file, "w");
    assert_non_null(file);
    for (uint64_t i = 0; i < lines->count; i++) {
        (void)lines->make(line, lines->together * i);
        fputs(line, file);
    }
    assert_int_equal(fclose(file), 0);
}

/* All lines are there and show what they showed. How many programs there was something to see of. */
static inline uint32_t golden_check_lines(const struct golden_lines *lines)
{
    char expected[GOLDEN_LINES_BYTES], line[GOLDEN_LINES_BYTES];
    uint32_t count = 0, seen = 0, differ = 0;
    if (getenv("SIMTFUZZ_BLESS"))
        golden_bless_lines(lines);
    FILE *file = fopen(lines->file, "r");
    assert_non_null(file);
    while ((differ == 0 || !getenv("SIMTFUZZ_FIRST")) && fgets(expected, sizeof expected, file)) {
        seen += lines->make(line, strtoull(expected, NULL, 10));
        count++;
        if (strcmp(expected, line) == 0)
            continue;
        print_error("was %sis  %s", expected, line);
        differ++;
    }
    fclose(file);
    if (differ > 0)
        fail_msg("%u lines of %u are not what they were. If that is meant: "
                 "tests/golden/bless.sh BUILD/simtfuzz",
                 differ, count);
    assert_int_equal(count, lines->count);
    return seen;
}

#endif
