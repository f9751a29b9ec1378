/*
 * bundle.h - a finding as a folder that somebody who maintains the implementation can use.
 *
 *     README.md       what is wrong, where, how to see it
 *     kernel.simt     the kernel in our language
 *     kernel.cl (.cu) in theirs; the buffer at first and at the end stand in memory.txt
 *     host.c          OpenCL: a program that runs it on every device and says which words are wrong
 *     log.txt         what the implementation printed
 */
#ifndef FUZZ_HUNT_BUNDLE_H
#define FUZZ_HUNT_BUNDLE_H

#include "fuzz/hunt/hunt.h"

/* The folder that was made in `parent`, which is made if need be; NULL: it cannot be written. */
const char *bundle_write(struct arena *arena, const char *parent, uint64_t seed,
                         const struct hunt_finding *finding);

/* Removes a folder and the files in it. */
void bundle_remove_folder(const char *folder);

#endif
