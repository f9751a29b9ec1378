/*
 * reduce_result.h - what `simtfuzz reduce` says and writes at its end, whatever was to be kept.
 */
#ifndef FUZZ_REDUCE_RESULT_H
#define FUZZ_REDUCE_RESULT_H

#include "fuzz/case/example.h"
#include "fuzz/cli/cli.h"
#include "fuzz/minimise/reduce_bound.h"

struct reduce_outcome {
    const char *key;  /* of `kept` as JSON has it: "signature", "keeps", "test" */
    const char *kept; /* a signature; "hangs warps simt"; a command */
    enum reduce_ending ending;
    bool confirmed; /* the result was asked about once more, with everything */
    uint32_t size_before, size, tests, runs;
    const char *kernel;            /* text */
    const struct example *example; /* of a signature; NULL: of none, or it is not known */
};

/* Tells people. */
void reduce_report(const struct cli *cli, const struct reduce_outcome *outcome);
/* Writes the kernel to --output, or JSON. Returns the exit status. */
int reduce_write(const struct cli *cli, const struct reduce_outcome *outcome);
/* What a reduction ends with when all went well. */
int reduce_end_status(enum reduce_ending ending);

/* The end of a reduction that reduce_bound_run left alone: tells, writes, and ends the process. */
_Noreturn void reduce_abandon(const struct cli *cli, struct reduce_bound *bound, const char *key,
                              const char *kept);

#endif
