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

/* Into `folder`, which is made if need be, and is the result; NULL: it cannot be written. */
const char *bundle_write(struct arena *arena, const char *folder, uint64_t seed,
                         const struct hunt_finding *finding);
/* Into a folder of its own in `parent`, likewise. */
const char *bundle_write_below(struct arena *arena, const char *parent, uint64_t seed,
                               const struct hunt_finding *finding);

/* Removes a folder and the files in it. */
void bundle_remove_folder(const char *folder);

#endif
