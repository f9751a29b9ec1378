/*
 * serve.h - the other side of the protocol (docs/protocol.md), in a process of its own: `simtfuzz serve NAME` reads
 * requests from standard input and runs them on an implementation that it has loaded.
 */
#ifndef FUZZ_SERVE_SERVE_H
#define FUZZ_SERVE_SERVE_H

#include "fuzz/serve/protocol.h"

/* An implementation that a serving process has loaded. */
struct served {
    /* Loads it: `rest` is what stands behind the name. NULL: *reason. */
    void *(*load)(struct arena *arena, const char *rest, const char **reason);
    const char *name;
    /* Fields name and version of the answer to `hello`. */
    void (*hello)(struct arena *arena, void *own, struct text *answer);
    void (*run)(struct arena *arena, void *own, const struct message *request, struct text *answer);
};

/* One kernel of a request. */
struct served_kernel {
    const char *entry;
    uint32_t threads, blocks;
    const void *memory;
    size_t bytes;
};

/* The n-th kernel of a request; false: there is none, or it is not well-formed. */
bool served_kernel(const struct message *request, uint32_t n, struct served_kernel *kernel);

/* Fields end, cause and memory of one kernel; bytes 0: none. */
void served_answer(struct text *answer, const char *end, const char *cause, const void *memory,
                   size_t bytes);

extern const struct served served_opencl, served_cuda, served_vulkan, served_webgpu;

/* Until standard input ends. An exit status. */
int serve(const char *name);

#endif
