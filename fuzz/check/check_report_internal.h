/*
 * check_report_internal.h - the kernels of a report, as its writers walk them.
 */
#ifndef FUZZ_CHECK_REPORT_INTERNAL_H
#define FUZZ_CHECK_REPORT_INTERNAL_H

#include "fuzz/check/check_report.h"

struct problem {
    struct check_problem said;
    struct problem *next;
};

struct kernel {
    const char *word, *path, *name;
    struct problem *first, **end;
    struct kernel *next;
};

struct check_report {
    struct arena *arena;
    struct kernel *first, **end, *last;
    uint32_t unjudged;
};

#endif
