/*
 * cudart.h - the CUDA runtime's functions as `simtfuzz exec` provides them: a shared object that takes the place of
 * libcudart.so.13, or of the static runtime (static_link.c), in a program, and of the driver's libcuda.so.1 (driver.c).
 * It keeps what the host sees - allocations, streams, errors - and tells the rest to simtfuzz, which has the device
 * (device_protocol.h).
 *
 * The declarations are made from the published documentation of the CUDA runtime; nothing of the toolkit is needed.
 */
#ifndef FUZZ_CUDART_H
#define FUZZ_CUDART_H

#include "fuzz/cudart/device_link.h"

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

/* ---- modules and launches; all but launch_kernel between device_enter and _leave ---- */

struct kernel {
    const void *host; /* the address that stands for it in the program */
    char *name;
    uint32_t module;
    bool known;
    struct device_kernel device; /* when it was asked for */
    struct kernel *next;
};

/* A fat binary or a text in PTX becomes a module; its number. What is wrong with it is said when it is used. */
uint32_t module_new(const void *data, size_t bytes);
/* A module's variable gets its place and its initial value. NULL: no room. */
struct allocation *variable_new(uint32_t module, const char *name, size_t bytes, bool is_constant,
                                bool is_managed);
/* Whether the program uses the runtime, which makes a context current by itself. */
bool modules_are_registered(void);
/* Fills kernel->device. */
void ask_kernel(struct kernel *kernel);
/* Errors of the launch itself come at once; what goes wrong in the kernel comes with the next call. config: whose
 * attributes are looked at; or NULL. */
cudaError_t launch_kernel(struct kernel *kernel, dim3 grid, dim3 block, void **arguments,
                          size_t shared, cudaStream_t stream, bool cooperative, const void *config);

/* ---- memory, for both interfaces: `function` is the name in messages ---- */

cudaError_t allocate(void **pointer, size_t bytes, enum device_memory kind);
cudaError_t release(const char *function, void *pointer);
/* kind: enum cudaMemcpyKind. */
cudaError_t copy_of_kind(const char *function, void *to, const void *from, size_t bytes, int kind);

/* ---- what the driver has under another name ---- */

struct event;

EXPORT cudaError_t cudaDriverGetVersion(int *version);
EXPORT cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device);
EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
EXPORT cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                         void (*callback)(cudaStream_t, cudaError_t, void *),
                                         void *data, unsigned flags);
EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *data);
EXPORT cudaError_t cudaEventCreateWithFlags(struct event **event, unsigned flags);
EXPORT cudaError_t cudaEventDestroy(struct event *event);
EXPORT cudaError_t cudaEventRecord(struct event *event, cudaStream_t stream);
EXPORT cudaError_t cudaEventRecordWithFlags(struct event *event, cudaStream_t stream,
                                            unsigned flags);
EXPORT cudaError_t cudaEventSynchronize(const struct event *event);
EXPORT cudaError_t cudaEventQuery(const struct event *event);
EXPORT cudaError_t cudaEventElapsedTime(float *milliseconds, const struct event *start,
                                        const struct event *end);
EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                                 int threads, size_t shared);

#endif
