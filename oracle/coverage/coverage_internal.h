/* coverage_internal.h - how the counters of a domain are laid out: for coverage.c and their names. */
#ifndef ORACLE_COVERAGE_INTERNAL_H
#define ORACLE_COVERAGE_INTERNAL_H

#include "oracle/coverage/coverage.h"

/* The first and the last counter of each domain. */
enum {
#define COVERAGE(id, name, count, sentence)                                                        \
    COVERAGE_FIRST_##id, COVERAGE_LAST_##id = COVERAGE_FIRST_##id + (int)(count)-1,
#include "oracle/coverage/coverage.def"
#undef COVERAGE
};

/* How the mask of the topmost token stands to the active mask. */
enum { COVERAGE_TOKEN_SAME, COVERAGE_TOKEN_WIDER, COVERAGE_TOKEN_APART, COVERAGE_TOKEN_OTHER };

/* How two threads stand to each other. */
enum { COVERAGE_SAME_WARP, COVERAGE_SAME_BLOCK, COVERAGE_OTHER_BLOCK };

#endif
