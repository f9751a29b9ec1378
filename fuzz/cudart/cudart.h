/*
 * cudart.h - the CUDA runtime's functions as `simtfuzz exec` provides them: a shared object that takes the place of
 * libcudart.so.13 in a program built with `nvcc -cudart shared`. It keeps what the host sees - allocations, streams,
 * errors - and tells the rest to simtfuzz, which has the device (device_protocol.h).
 *
 * The declarations are made from the published documentation of the CUDA runtime; nothing of the toolkit is needed.
 */
#ifndef FUZZ_CUDART_H
#define FUZZ_CUDART_H

#include "fuzz/cudart/device_protocol.h"

#include <stdbool.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

typedef int cudaError_t;
enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotSupported = 801
};

typedef struct {
    unsigned x, y, z;
} dim3;

typedef void *cudaStream_t; /* a number; 0, 1, 2: the default ones */

/* ---- the device ---- */

/* Locks what follows; false: there is no device (the program does not run under simtfuzz exec, or has forked). */
bool device_enter(void);
void device_leave(void);

void device_tell(enum device_message kind, const void *head, size_t head_bytes, const void *tail,
                 size_t tail_bytes);
bool device_hear(void *answer, size_t bytes);
void device_say(enum device_message kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- errors ---- */

/* Keeps an error for cudaGetLastError; one of a kernel stays. */
cudaError_t give(cudaError_t error);
cudaError_t give_lasting(cudaError_t error); /* of a launch: every later call returns it */
cudaError_t lasting_error(void);

/* ---- memory ---- */

struct allocation {
    uint64_t address, bytes, offset;
    enum device_memory kind;
    uint32_t number;
    void *mapped; /* where the host reads and writes it; NULL: not at all */
    struct allocation *next;
};

/* The allocation that an address lies in; NULL: it is the host's own memory. Between device_enter and _leave. */
struct allocation *allocation_of(const void *address);
/* *address is where it lies. NULL: no room. The message is the caller's. */
struct allocation *allocation_new(uint64_t bytes, enum device_memory kind);
void allocation_end(struct allocation *allocation);

/* Bytes between the host and a place in device memory. */
bool device_read(const struct allocation *from, uint64_t at, void *to, size_t bytes);
bool device_write(const struct allocation *to, uint64_t at, const void *from, size_t bytes);

/* cudaMemcpy, with its name for messages. */
cudaError_t copy_memory(const char *function, void *to, const void *from, size_t bytes);

#endif
