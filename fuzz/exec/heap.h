/*
 * heap.h - the heap from which kernels take memory by malloc, new and cudaMalloc of theirs: a buffer of the device that
 * the program does not know of, and malloc and free as functions in PTX. What is accessed is watched by
 * oracle/launch/launch_heap.h.
 */
#ifndef FUZZ_EXEC_HEAP_H
#define FUZZ_EXEC_HEAP_H

#include "fuzz/exec/device.h"

/* A module that calls malloc or free, with both behind its text; NULL: it calls neither. */
const char *heap_with_functions(struct arena *arena, const struct ptx_module *ptx,
                                const char *text);

/* So many bytes from now on. A cudaError_t: it is in use. */
uint32_t heap_set_limit(struct device *device, uint64_t bytes);

/* It is there, for a launch that needs it. False: no memory. */
bool heap_ready(struct device *device);

/* Of its bytes, from the first on, that may hold something: what a launch begins with, or what it left. */
uint64_t heap_used(const struct device_buffer *heap, const void *bytes);

/* Tells what kernels allocated and did not free, by the line that did. */
void heap_tell_leaks(struct device *device);

#endif
