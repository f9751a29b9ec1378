/*
 * host_reduce.h - a host program made small: lines are left out as long as check's first finding stays of its kind.
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
                                uint32_t most);

/* The judgement of a text. False: it cannot be read, or the device refuses it. */
bool host_judge_text(struct arena *arena, const char *path, const char *text, size_t length,
                     const struct host_judge_options *options, struct host_verdict *verdict);

#endif
