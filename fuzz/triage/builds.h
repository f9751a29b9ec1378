/*
 * builds.h - other builds of simtfuzz, asked whether they show a finding.
 *
 * A build is a program that knows `check FILE --json`; nothing else of it is needed, and no database. What it
 * understands is read from its own `check --help`: with `--case` it runs the very case; an older one is given
 * the case's oracle, subjects, seed and schedules one by one, and follows no tape.
 */
#ifndef FUZZ_BUILDS_H
#define FUZZ_BUILDS_H

#include "fuzz/case/case.h"

struct build {
    const char *path;
    const char *version; /* as it says itself; "" = it does not run */
    const char *why;     /* why it does not run, or NULL */
    bool takes_case, takes_budget, takes_transforms;
};

/* A kernel in a file, the case, and what it must show. */
struct build_question {
    const char *kernel;        /* a file */
    const char *tape;          /* a file, for c->has_tape */
    const struct fuzz_case *c; /* its oracles: all that it was found with */
    const char *oracle;        /* that speaks */
    const char *signature;     /* K2 */
    uint32_t runs;             /* ask up to so often, until it shows */
    uint64_t time_ms;          /* for each */
};

enum build_says { BUILD_SHOWS, BUILD_SHOWS_OTHER, BUILD_GONE, BUILD_CANNOT_SAY };

struct build_reply {
    enum build_says says;
    const char
        *signature;  /* that it shows; SHOWS_OTHER: another one of the same oracle and class */
    const char *why; /* CANNOT_SAY, in a sentence */
    uint32_t runs;
};

/* "shows", "shows another", "gone", "cannot say" */
const char *build_says_name(enum build_says says);

/* Looks at the program at `path`; `folder` takes files of ours. */
struct build build_open(struct arena *arena, const char *path, const char *folder);

struct build_reply build_ask(struct arena *arena, const struct build *build, const char *folder,
                             const struct build_question *question);

#endif
