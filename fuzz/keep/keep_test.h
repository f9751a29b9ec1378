/*
 * keep_test.h - a reduction that keeps what a command of the user's says: exit status 0 is
 * interesting, as C-Reduce has it.
 *
 * Each run is a session of its own with a process group of its own, so that what the command sends
 * to its group or its parent does not meet us; when it ends, by itself or because it took too long,
 * its whole group is killed. It reads nothing, what it prints is dropped. It gets the kernel's path
 * as $SIMTFUZZ_KERNEL and as $1, which is put behind the command where that names neither. Kernels
 * that were asked about are not asked about again.
 */
#ifndef FUZZ_KEEP_TEST_H
#define FUZZ_KEEP_TEST_H

#include "fuzz/reduce/interest.h"

struct keep_test_options {
    const char *command;  /* of a shell */
    const char *file;     /* the kernel's file name, in a folder of our own: "kernel.simt" */
    uint64_t time_ms;     /* that a run may take */
    uint64_t deadline_ms; /* clock_monotonic_ms at which any run ends; 0: none */
    uint32_t runs;        /* at once, at most */
};

/* How one run ended. */
enum keep_test_end {
    KEEP_TEST_INTERESTING, /* with status 0 */
    KEEP_TEST_STATUS,      /* with another */
    KEEP_TEST_SIGNAL,
    KEEP_TEST_LATE, /* killed after its time */
    KEEP_TEST_CUT,  /* killed since all is to end */
    KEEP_TEST_FAULT /* it could not be run */
};

struct keep_test_run {
    enum keep_test_end end;
    const char *why; /* it is not interesting: "it ended with status 1" */
};

struct keep_test_counts {
    uint32_t runs, late, killed; /* those that took too long; that a signal ended */
};

struct keep_test;

/* NULL: *error says why. keep_test_close takes the folder away. */
struct keep_test *keep_test_open(struct arena *arena, const struct keep_test_options *options,
                                 const char **error);
void keep_test_close(struct keep_test *test);

/* A run in any case; the words live in the arena. */
struct keep_test_run keep_test_ask(struct keep_test *test, struct arena *arena,
                                   const struct ast_kernel *kernel);

struct interest keep_test_interest(struct keep_test *test);
struct keep_test_counts keep_test_counted(struct keep_test *test);

#endif
