/*
 * exit_status.h - how a command ends, the same for all of them (docs: the manual, EXIT STATUS).
 */
#ifndef FUZZ_EXIT_STATUS_H
#define FUZZ_EXIT_STATUS_H

enum cli_exit {
    CLI_OK = 0,
    CLI_DIVERGENCE = 1, /* not marked known; or a failed expectation */
    CLI_USAGE = 2,      /* wrong usage, bad input */
    CLI_FAULT = 3,      /* of simtfuzz or of its surroundings */
    CLI_INTERRUPTED =
        4, /* by a signal; reduce: the best so far was written; triage bisect: nothing */
};

#endif
