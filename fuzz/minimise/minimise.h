/*
 * minimise.h - what `simtfuzz reduce` does, for kernel files and for findings.
 *
 * Ctrl-C and SIGTERM end it with the best so far and CLI_INTERRUPTED; a second one ends at once.
 */
#ifndef FUZZ_MINIMISE_H
#define FUZZ_MINIMISE_H

#include "fuzz/minimise/reduce_result.h"

/* A file that shows --signature. */
int reduce_signature(struct cli *cli, const char *path);
/* A file that does what --keep or --keep-progress names, or that --test finds interesting. */
int reduce_kept(struct cli *cli, const char *path);
/* Whether there is such a thing to keep as --keep names. */
bool reduce_keeps(const struct cli *cli);
/* The execution models that are named; NULL: it is about something else. */
const char *reduce_models_of(const struct cli *cli);

/* A kernel that shows a signature, minimised on a thread of its own with --time, --jobs and the
 * line that says how far it is. */
struct reduce_minimising {
    struct cli *cli;
    const struct ast_kernel *kernel;
    const char *signature;
    struct reduce_options options;
    uint64_t started_ms; /* of the time */
    struct db *db;       /* closed when the process has to end; or NULL */
    bool
        silent; /* one of many, as a campaign would do it; at the end of the time nothing is printed */
};

/* False: the kernel does not show the signature, or *status, after a message. */
bool reduce_minimise(const struct reduce_minimising *asked, struct example *example, int *status);
/* Tells and writes. */
int reduce_example(const struct cli *cli, const struct example *example, const char *signature);
void reduce_tell_example(const struct cli *cli, const struct example *example,
                         const char *signature);

/* A finding, by its number or the beginning of its signature; NULL: all whose minimisation is
 * pending. */
int reduce_stored(struct cli *cli, const char *name);

#endif
