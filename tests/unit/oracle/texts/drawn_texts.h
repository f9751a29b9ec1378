/*
 * drawn_texts.h - texts that are drawn by numbers, each asked what it says otherwise. TEXTS=N: so many.
 */
#ifndef TESTS_UNIT_DRAWN_TEXTS_H
#define TESTS_UNIT_DRAWN_TEXTS_H

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/shared/support.h"

static inline void drawn_texts_ask(const char *(*texts)(struct arena *, uint64_t, const char **))
{
    uint32_t count = getenv("TEXTS") ? (uint32_t)atoi(getenv("TEXTS")) : 400;
    for (uint64_t number = 0; number < count; number++) {
        test_arena.used = 0;
        const char *text, *differs = texts(&test_arena, number, &text);
        if (!differs)
            continue;
        fprintf(stderr, "%s\n", text); /* the library cuts messages off */
        fail_msg("number %llu: %s", (unsigned long long)number, differs);
    }
}

#endif
