/*
 * headline.h - what happens to a kernel, for a person who wrote it: one line that says it is clean, or that it
 * races, faults or hangs, in which subjects, with who, which element and which line.
 */
#ifndef FUZZ_HEADLINE_H
#define FUZZ_HEADLINE_H

#include "fuzz/check/suppress.h"
#include "oracle/check/check.h"

#include <stdio.h>

enum { HAPPENING_PLACES = 2 };

/* A line of the kernel's text, or of the source that it was compiled from. */
struct source_place {
    uint32_t line;      /* 0: none */
    const char *source; /* "warpsum.cu:13"; NULL: the line is the kernel's own */
    const char *path;   /* the same with its folders */
};

/* The file of "warpsum.cu:13", and the line. NULL and 0: nothing, or no line, is known. */
const char *source_file(struct arena *arena, const char *source, uint32_t *line);

/* A source, to be quoted. NULL: it cannot be read, or is no regular file: kernels name it, and may name a device that
 * never ends. */
FILE *source_open(const char *path);

/* One kind of what should not happen. */
struct happening {
    enum outcome outcome;
    subject_set shown,
        clean;               /* subjects that were run: in which it happens, in which it does not */
    enum subject_id subject; /* the first that shows it */
    const char *sentence;    /* "s[1] written by thread 2 at line 6, ...", without the subjects */
    struct source_place places[HAPPENING_PLACES];
};

struct headline {
    /* "clean", "RACY", "FAULT", "HANG"; "unknown": no execution ended; "vacuous": none came to a store;
     * "suppressed": what happens is (headline_suppress) */
    const char *word;
    const char *scope; /* what that rests on: "16 executions of 9 subjects, sampled" */
    bool
        met_by_threads; /* warps with one pc do not get lanes of a mask together, threads with their own do: no fault */
    uint32_t count;
    struct happening
        happenings[OUTCOME_COUNT]; /* the gravest first; behind them what is suppressed */
    uint32_t suppressed;
};

void headline_of(struct arena *arena, const struct check_result *result, struct headline *headline);

/* "RACY in block, clean in crs: ...", "FAULT out_of_bounds: ..." */
const char *headline_text(struct arena *arena, const struct happening *happening);

/* "threads, simt": names of the set. */
const char *headline_subjects(struct arena *arena, subject_set subjects);

/* Which outcomes are failures: what --fail-on says. */
struct fail_on {
    uint32_t outcomes;      /* bits 1u << outcome */
    subject_set race_where; /* where a race counts, though `outcomes` does not have it */
    const char *path;       /* of the kernel: lines without a source are its own */
    const struct suppressions *suppressions; /* or NULL */
};

/* What --suppress names happens no more: the word is that of what is left, or "suppressed". */
void headline_suppress(struct headline *headline, const struct fail_on *fail_on);

/* Of a launch that does not fit the kernel: an access out of bounds, and all that comes with it, is no finding. */
void headline_unfit(struct arena *arena, struct headline *headline);

/* Whether it is one; whether one of them happens. */
bool headline_counts(const struct happening *happening, const struct fail_on *fail_on);
bool headline_fails(const struct headline *headline, const struct fail_on *fail_on);

#endif
