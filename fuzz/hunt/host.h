/*
 * host.h - what runs a finding without simtfuzz: a program in C, or the command line of a compiler.
 *
 * OpenCL, Vulkan and `exec:`: host.c, a page or two; it says which words are wrong, and then its exit status is 1.
 */
#ifndef FUZZ_HUNT_HOST_H
#define FUZZ_HUNT_HOST_H

#include "fuzz/hunt/hunt.h"

/* The name of the file; NULL: there is none for this kind of implementation. */
const char *host_name(const struct hunt_finding *finding);
const char *host_text(struct arena *arena, const struct hunt_finding *finding,
                      const struct emitted *emitted);
/* How to build it, and to run it, as lines of a shell; both together. Build NULL: there is nothing to build. */
const char *host_build_command(const struct hunt_finding *finding);
const char *host_run_command(struct arena *arena, const struct hunt_finding *finding);
const char *host_command(struct arena *arena, const struct hunt_finding *finding);

/* host_vulkan.c: what stands behind THREADS, BLOCKS, FLAGS (of the pipeline), initial and expected; NULL ends it. */
extern const char *const host_vulkan_texts[];

/* Of a browser: a page with the text in it, and what shows it. */
extern const char host_page_options[];
const char *host_page(struct arena *arena, const struct hunt_finding *f,
                      const struct emitted *emitted, const char *kernel);

#endif
