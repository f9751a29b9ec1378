/*
 * host_reduce.h - a host program made small: lines are left out as long as check's first finding stays of its kind,
 * and, where `word` says so, is about a statement of that name; or the first of the reference, if that alone counts.
 * What is clean on the usual device, and is not on that
 * of options->settings, stays so.
 */
#ifndef FUZZ_HOST_REDUCE_H
#define FUZZ_HOST_REDUCE_H

#include "oracle/device/host_judge.h"

struct host_reduced {
    const char *text; /* NULL: there is nothing to keep, or the text cannot be read */
    enum host_kind_of_finding kind;
    uint32_t lines, left, tests;
};

/* `path` is where the program stands, for the files of its kernels. `most`: tests. */
struct host_reduced host_reduce(struct arena *arena, const char *path, const char *text,
                                size_t length, const struct host_judge_options *options,
                                const char *word, bool reference, uint32_t most);

/* The same for what is no finding of the judge: lines are left out as long as the text shows it. */
struct host_reduced host_reduce_showing(struct arena *arena, const char *text,
                                        bool (*shows)(void *context, const char *text),
                                        void *context, uint32_t most);

/* The first word of a line of a text, numbered from 1; "" if there is none. */
const char *host_word_of_line(struct arena *arena, const char *text, uint32_t line);

/* The judgement of a text. False: it cannot be read, or the device refuses it. */
bool host_judge_text(struct arena *arena, const char *path, const char *text, size_t length,
                     const struct host_judge_options *options, struct host_verdict *verdict);

#endif
