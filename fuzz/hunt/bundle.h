/*
 * bundle.h - a finding as a folder that somebody who maintains the implementation can use.
 *
 *     README.md       what is wrong, where, how to see it
 *     kernel.simt     the kernel in our language
 *     kernel.cl (.cu) in theirs; the buffer at first and at the end stand in memory.txt
 *     host.c          OpenCL, exec: a program that runs it and says which words are wrong (host.h)
 *     run.sh          compilers: the command line
 *     request         exec: what host.c sends to the program
 *     log.txt         what the implementation printed
 */
#ifndef FUZZ_HUNT_BUNDLE_H
#define FUZZ_HUNT_BUNDLE_H

#include "fuzz/hunt/hunt.h"

struct bundle {
    const char *folder; /* NULL: it cannot be written */
    const char *
        shown; /* whether its program, run once, shows the finding: "yes", "no", "not run", "not judged" */
};

/* Into `folder`, which is made if need be. */
struct bundle bundle_write(struct arena *arena, const char *folder, uint64_t seed,
                           const struct hunt_finding *finding);
/* Into a folder of its own in `parent`, likewise. */
struct bundle bundle_write_below(struct arena *arena, const char *parent, uint64_t seed,
                                 const struct hunt_finding *finding);
/* What runs the finding alone: the text, its program, and what that reads; into a folder that is there. */
bool bundle_write_program(struct arena *arena, const char *folder,
                          const struct hunt_finding *finding, const struct emitted *emitted,
                          const char *kernel);

/* Removes a folder and the files in it. */
void bundle_remove_folder(const char *folder);

#endif
